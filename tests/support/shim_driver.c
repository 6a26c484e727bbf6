/* See shim_driver.h. */
#include "support/shim_driver.h"
#include "driver/capsets.h"
#include "emit/c_dialect.h"
#include "emit/emit.h"
#include "library/tiles.h"
#include "runtime/backend.h"
#include "support/shim_run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct language {
    const char *target, *caps, *suffix;
    const char *options; /* of the compiler */
} language;
static const language CUDA = {"cuda", "cuda", "cu.cpp", "-include shim_cuda.h"};
static const language HIP = {"hip", "hip", "hip.cpp", ""};
static const language MSL = {"msl", "metal", "metal.cpp", ""};

struct hg_device {
    hg_device_caps caps;
    const language *language;
    const c_dialect *dialect;
    char folder[64];
    uint64_t kernels; /* atomic: texts in the folder */
};
struct hg_driver_arena {
    uint8_t *bytes;
};
struct hg_driver_queue {
    hg_device *device;
};
struct hg_driver_event {
    int unused;
};

struct hg_driver_kernel {
    shim_code code;
};

/* ---- devices ---- */

static uint32_t enumerate(hg_device_info *devices, uint32_t capacity, char reason[256]) {
    if (system("clang++-14 --version >/dev/null 2>&1") != 0) {
        snprintf(reason, 256, "clang++-14 is not installed");
        return 0;
    }
    if (!devices || capacity == 0) return 1;
    memset(devices, 0, sizeof *devices);
    devices->size = sizeof *devices;
    snprintf(devices->backend, sizeof devices->backend, "%s", "shim");
    snprintf(devices->name, sizeof devices->name, "%s", "texts for GPUs on the CPU");
    devices->available = true;
    devices->max_block_lanes = SHIM_MOST_LANES;
    devices->max_shared_bytes = SHIM_MOST_SHARED - KIR_SHARED_RESERVED;
    return 1;
}

static void fill_caps(hg_device_caps *caps, const hg_capset *set) {
    *caps = (hg_device_caps){.compiler.kir = set->kir,
                             .compiler.device_form = true,
                             .compiler.by_aliases = !set->target.addressed,
                             .memory.host_memory = true,
                             .compiler.max_slots = set->max_slots ? set->max_slots : UINT32_MAX,
                             .scheduling.max_block_lanes = SHIM_MOST_LANES,
                             .memory.max_shared_bytes = SHIM_MOST_SHARED - KIR_SHARED_RESERVED,
                             .memory.total_bytes = UINT64_C(1) << 30,
                             .exact = true,
                             .hints.tile_kind = set->target.addressed ? LIBRARY_TILES_JOINING
                                                                      : LIBRARY_TILES_DEVICE,
                             .compiler.target = set->target,
                             .scheduling.max_groups = {INT32_MAX, 65535, 65535},
                             .scheduling.max_group = {SHIM_MOST_LANES, SHIM_MOST_LANES, 64},
                             .hints.flat_group = 128,
                             .memory.max_arena_bytes = UINT64_C(1) << 30};
}

static hg_status open_as(const language *l, hg_device **device) {
    hg_capset set;
    hg_device *d = hg_calloc(1, sizeof *d);
    if (!d) return hg_fail_memory();
    if (!hg_capset_find(l->caps, &set))
        return hg_fail(HG_ERROR_INTERNAL, "no capabilities %s", l->caps);
    fill_caps(&d->caps, &set);
    d->language = l;
    d->dialect = emitter_find(l->target)->dialect;
    snprintf(d->folder, sizeof d->folder, "/tmp/hologram-shim-XXXXXX");
    if (!mkdtemp(d->folder)) return hg_fail(HG_ERROR_IO, "no folder in /tmp");
    *device = d;
    return HG_OK;
}

#define OPEN(name, language)                                                                   \
    static hg_status open_##name(uint32_t index, const hg_driver_options *options,             \
                                 hg_device **device) {                                         \
        (void)options;                                                                         \
        return index == 0                                                                      \
                   ? open_as(&language, device)                                                \
                   : hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "a shim has one device, number 0"); \
    }
OPEN(cuda, CUDA)
OPEN(hip, HIP)
OPEN(msl, MSL)

static void device_close(hg_device *device) {
    if (!device) return;
    if (rmdir(device->folder) != 0) fprintf(stderr, "left behind: %s\n", device->folder);
    hg_free(device);
}
static const hg_device_caps *device_caps(const hg_device *device) { return &device->caps; }

/* ---- memory ---- */

static hg_status arena_alloc(hg_device *device, uint64_t size, hg_driver_arena **arena) {
    (void)device;
    *arena = hg_calloc(1, sizeof **arena);
    if (!*arena) return hg_fail_memory();
    (*arena)->bytes = size <= PTRDIFF_MAX ? hg_calloc(1, size ? (size_t)size : 1) : NULL;
    if ((*arena)->bytes) return HG_OK;
    hg_free(*arena);
    return hg_fail(HG_ERROR_ALLOCATION_FAILED, "%llu bytes are not available",
                   (unsigned long long)size);
}
static void arena_free(hg_device *device, hg_driver_arena *arena) {
    (void)device;
    if (!arena) return;
    hg_free(arena->bytes);
    hg_free(arena);
}
static void *arena_map(hg_driver_arena *arena) { return arena->bytes; }
static void arena_unmap(hg_driver_arena *arena) { (void)arena; }
static uint64_t arena_address(hg_driver_arena *arena) { return (uint64_t)(uintptr_t)arena->bytes; }

/* ---- compiling ---- */

static bool has_barrier(const kir_module *m) {
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_BARRIER) return true;
    return false;
}

/* A function of one invocation, which calls a kernel of Metal with what a launch would give it. */
static void add_metal_entry(hg_text *out, const hg_driver_code *code, const char *name,
                            bool has_record) {
    static const char *const AXES[] = {"x", "y", "z"};
    hg_text_addf(
        out, "extern \"C\" void hg_shim_lane(void *const *slots, const void *record_bytes) {\n");
    hg_text_addf(out, "    (void)slots, (void)record_bytes;\n    %s(", name);
    for (uint32_t i = 0; i < kir_device_binding_count(code->layout, code->module); i++)
        hg_text_addf(out, "hg_shim_pointer{(ulong)slots[%u]}, ", (unsigned)i);
    if (code->layout->uses_group_memory)
        hg_text_addf(out, "hg_shim_pointer{(ulong)hg_shim.group_memory}, ");
    if (has_record) hg_text_addf(out, "*(const %s_record *)record_bytes, ", name);
    hg_text_addf(out, "uint3{");
    for (int i = 0; i < 3; i++)
        hg_text_addf(out, "%shg_shim.block.%s * hg_shim.block_dim.%s + hg_shim.lane.%s",
                     i ? ", " : "", AXES[i], AXES[i], AXES[i]);
    hg_text_addf(out, "}, uint3{hg_shim.lane.x, hg_shim.lane.y, hg_shim.lane.z}, ");
    hg_text_addf(out, "uint3{hg_shim.block.x, hg_shim.block.y, hg_shim.block.z});\n}\n");
}

static void add_entry(hg_text *out, const hg_device *d, const hg_driver_code *code) {
    static const shim_record RECORDS[] = {[EMIT_RECORD_NONE] = SHIM_RECORD_NONE,
                                          [EMIT_RECORD_VALUE] = SHIM_RECORD_VALUE,
                                          [EMIT_RECORD_BUFFER] = SHIM_RECORD_POINTER};
    char name[96], text[2048];
    shim_record record = RECORDS[emit_device_c_record(d->dialect, code->module, code->layout)];
    emit_kernel_name(code->module, name);
    shim_print_facts(text, sizeof text, name, record, has_barrier(code->module));
    hg_text_addf(out, "%s", text);
    if (d->dialect->device->params.by_address) {
        shim_print_entry(text, sizeof text, name, record);
        hg_text_addf(out, "%s", text);
    } else {
        add_metal_entry(out, code, name, record != SHIM_RECORD_NONE);
    }
}

/* "[[threadgroup(0)]]": the word is a qualifier too, which the shim makes an address space. */
static void blank_attribute(hg_text *text) {
    static const char ATTRIBUTE[] = " [[threadgroup(0)]]";
    for (char *at = text->data; at && (at = strstr(at, ATTRIBUTE)) != NULL;)
        memset(at, ' ', sizeof ATTRIBUTE - 1);
}

static void kernel_destroy(hg_driver_kernel *k) {
    if (!k) return;
    shim_close(&k->code);
    hg_free(k);
}

static hg_status code_create(hg_device *d, const hg_driver_code *code, hg_driver_kernel **kernel) {
    char source[128], library[128], message[700] = "";
    hg_text text = {0}, entry = {0};
    unsigned long long number = hg_atomic_add_fetch(&d->kernels, 1, HG_RELAXED);
    hg_driver_kernel *k = hg_calloc(1, sizeof *k);
    if (!k) return hg_fail_memory();
    hg_status status = emit_device_c(d->dialect, code->module, code->layout, "", &text);
    snprintf(source, sizeof source, "%s/%llu.%s", d->folder, number, d->language->suffix);
    snprintf(library, sizeof library, "%s/%llu.so", d->folder, number);
    if (status == HG_OK) {
        blank_attribute(&text);
        add_entry(&entry, d, code);
        bool ok = shim_compile(text.data, entry.data, d->language->options, source, library,
                               message, sizeof message) &&
                  shim_open(library, &k->code, message, sizeof message);
        if (!ok)
            status = hg_fail(HG_ERROR_INTERNAL, "a text in %s: %s", d->language->target, message);
    }
    (void)unlink(library);
    hg_text_free(&text);
    hg_text_free(&entry);
    if (status == HG_OK)
        *kernel = k;
    else
        kernel_destroy(k);
    return status;
}

/* ---- running ---- */

static hg_status run_dispatch(const hg_driver_dispatch *c) {
    void **slots = hg_calloc(c->slot_count + 1u, sizeof *slots);
    if (!slots) return hg_fail_memory();
    for (uint32_t i = 0; i < c->slot_count; i++)
        slots[i] = c->slots[i].arena ? c->slots[i].arena->bytes : NULL;
    bool ok = shim_run(&c->kernel->code, c->groups, c->group, c->group_memory, slots, c->record);
    hg_free(slots);
    return ok ? HG_OK : hg_fail(HG_ERROR_INTERNAL, "a group that a shim cannot run");
}

static hg_status run_command(const hg_driver_command *c) {
    switch (c->kind) {
    case HG_CMD_COPY_IN:
        memcpy(c->to.arena->bytes + c->to.offset, c->host, (size_t)c->to.size);
        return HG_OK;
    case HG_CMD_COPY_OUT:
        memcpy(c->host, c->from.arena->bytes + c->from.offset, (size_t)c->from.size);
        return HG_OK;
    case HG_CMD_COPY:
        memmove(c->to.arena->bytes + c->to.offset, c->from.arena->bytes + c->from.offset,
                (size_t)c->to.size);
        return HG_OK;
    case HG_CMD_FILL:
        memset(c->to.arena->bytes + c->to.offset, c->value, (size_t)c->to.size);
        return HG_OK;
    case HG_CMD_DISPATCH: return run_dispatch(c->dispatch);
    case HG_CMD_LAUNCH:
    case HG_CMD_STEP: break;
    }
    return hg_fail(HG_ERROR_INTERNAL, "a command that a shim has not");
}

static hg_status queue_submit(hg_driver_queue *queue, const hg_driver_command *commands,
                              uint32_t count, hg_driver_event *const *waits, uint32_t wait_count,
                              hg_driver_event *signal) {
    hg_status status = HG_OK;
    (void)queue;
    (void)waits;
    (void)wait_count;
    (void)signal;
    for (uint32_t i = 0; i < count && status == HG_OK; i++) status = run_command(&commands[i]);
    return status;
}

static hg_status queue_create(hg_device *device, hg_driver_queue **queue) {
    *queue = hg_calloc(1, sizeof **queue);
    if (!*queue) return hg_fail_memory();
    (*queue)->device = device;
    return HG_OK;
}
static void queue_destroy(hg_driver_queue *queue) { hg_free(queue); }
static hg_status event_create(hg_device *device, hg_driver_event **event) {
    (void)device;
    *event = hg_calloc(1, sizeof **event);
    return *event ? HG_OK : hg_fail_memory();
}
static void event_destroy(hg_driver_event *event) { hg_free(event); }
static hg_status event_query(hg_driver_event *event, bool *done) {
    (void)event;
    *done = true;
    return HG_OK;
}
static hg_status event_wait(hg_driver_event *event) {
    (void)event;
    return HG_OK;
}

#define DRIVER(language)                                                             \
    const hg_driver hg_driver_shim_##language = {.name = "shim-" #language,          \
                                                 .enumerate = enumerate,             \
                                                 .device_open = open_##language,     \
                                                 .device_close = device_close,       \
                                                 .device_caps = device_caps,         \
                                                 .arena_alloc = arena_alloc,         \
                                                 .arena_alloc_visible = arena_alloc, \
                                                 .arena_free = arena_free,           \
                                                 .arena_map = arena_map,             \
                                                 .arena_unmap = arena_unmap,         \
                                                 .arena_address = arena_address,     \
                                                 .queue_create = queue_create,       \
                                                 .queue_destroy = queue_destroy,     \
                                                 .queue_submit = queue_submit,       \
                                                 .event_create = event_create,       \
                                                 .event_destroy = event_destroy,     \
                                                 .event_query = event_query,         \
                                                 .event_wait = event_wait,           \
                                                 .code_create = code_create,         \
                                                 .kernel_destroy = kernel_destroy}
DRIVER(cuda);
DRIVER(hip);
DRIVER(msl);

void shim_driver_bring(const char *name) {
    static const hg_driver *const SHIMS[] = {&hg_driver_shim_cuda, &hg_driver_shim_hip,
                                             &hg_driver_shim_msl};
    for (size_t i = 0; i < HG_COUNT_OF(SHIMS); i++)
        if (strcmp(SHIMS[i]->name, name) == 0) hg_select_guest(SHIMS[i]);
}
