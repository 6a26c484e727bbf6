/* See shim_driver.h. */
#include "support/shim_driver.h"
#include "base/thread.h"
#include "driver/capsets.h"
#include "emit/c_dialect.h"
#include "emit/emit.h"
#include "runtime/runtime.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

typedef struct language {
    const char *target, *caps, *suffix;
    const char *options; /* of the compiler */
    bool passes_ids;
} language;
static const language CUDA = {"cuda", "cuda", "cu.cpp", "-include shim_cuda.h", false};
static const language HIP = {"hip", "hip", "hip.cpp", "", false};
static const language MSL = {"msl", "metal", "metal.cpp", "", true};

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

/* As tests/shim/shim.h has it. */
typedef struct shim_id {
    unsigned x, y, z;
} shim_id;
typedef struct shim_state {
    shim_id lane, block, block_dim, grid_dim;
    void (*barrier)(void);
    unsigned long long *group_memory;
} shim_state;

struct hg_driver_kernel {
    void *library;
    shim_state *state;
    unsigned long long *group_memory; /* of a language that finds it by name; NULL: the driver's */
    void (*lane)(void *const *slots, const void *record);
    bool has_barriers;
};

enum { GROUP_BYTES = 32768 * 8, STACK_BYTES = 256 * 1024, MOST_LANES = 1024 };

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
    devices->max_block_lanes = MOST_LANES;
    devices->max_shared_bytes = 48 * 1024;
    return 1;
}

static void fill_caps(hg_device_caps *caps, const hg_capset *set) {
    *caps = (hg_device_caps){.tier_count = 1,
                             .host_memory = true,
                             .max_slots = set->max_slots ? set->max_slots : UINT32_MAX,
                             .max_block_lanes = MOST_LANES,
                             .max_shared_bytes = 48 * 1024,
                             .memory_bytes = UINT64_C(1) << 30,
                             .exact = true,
                             .target = set->target,
                             .max_groups = {INT32_MAX, 65535, 65535},
                             .max_group = {MOST_LANES, MOST_LANES, 64},
                             .flat_group = 128,
                             .max_arena_bytes = UINT64_C(1) << 30};
    caps->tiers[0] = (hg_tier_caps){.name = "shim", .kir = set->kir, .device_form = true, .by_aliases = !set->target.addressed};
}

static hg_status open_as(const language *l, hg_device **device) {
    hg_capset set;
    hg_device *d = hg_calloc(1, sizeof *d);
    if (!d) return hg_fail_memory();
    if (!hg_capset_find(l->caps, &set)) return hg_fail(HG_ERROR_INTERNAL, "no capabilities %s", l->caps);
    fill_caps(&d->caps, &set);
    d->language = l;
    d->dialect = emitter_find(l->target)->dialect;
    snprintf(d->folder, sizeof d->folder, "/tmp/hologram-shim-XXXXXX");
    if (!mkdtemp(d->folder)) return hg_fail(HG_ERROR_IO, "no folder in /tmp");
    *device = d;
    return HG_OK;
}

#define OPEN(name, language)                                                                                                       \
    static hg_status open_##name(uint32_t index, const hg_driver_options *options, hg_device **device) {                           \
        (void)options;                                                                                                             \
        return index == 0 ? open_as(&language, device) : hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "a shim has one device, number 0"); \
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
    return hg_fail(HG_ERROR_ALLOCATION_FAILED, "%llu bytes are not available", (unsigned long long)size);
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

/* A function of one invocation, which calls the kernel with what a launch would give it. */
static void add_entry(hg_text *out, const hg_device *d, const hg_driver_code *code, const char *name) {
    emit_record record = emit_device_c_record(d->dialect, code->module, code->layout);
    const char *comma = "";
    hg_text_addf(
        out,
        "\nextern \"C\" void hg_shim_lane(void *const *slots, const void *record_bytes) {\n    (void)slots, (void)record_bytes;\n    %s(",
        name);
    for (uint32_t i = 0; !d->dialect->device->by_address && i < kir_device_binding_count(code->layout, code->module); i++, comma = ", ")
        hg_text_addf(out, "%shg_shim_pointer{(ulong)slots[%u]}", comma, (unsigned)i);
    if (code->layout->uses_group_memory && d->dialect->device->group_parameter)
        hg_text_addf(out, "%shg_shim_pointer{(ulong)hg_shim.group_memory}", comma), comma = ", ";
    if (record == EMIT_RECORD_VALUE) hg_text_addf(out, "%s*(const %s_record *)record_bytes", comma, name), comma = ", ";
    if (record == EMIT_RECORD_BUFFER && d->language->passes_ids)
        hg_text_addf(out, "%shg_shim_pointer{(ulong)record_bytes}", comma), comma = ", ";
    else if (record == EMIT_RECORD_BUFFER)
        hg_text_addf(out, "%s(const %s_record *)record_bytes", comma, name), comma = ", ";
    if (d->language->passes_ids) {
        static const char *const AXES[] = {"x", "y", "z"};
        hg_text_addf(out, "%suint3{", comma);
        for (int i = 0; i < 3; i++)
            hg_text_addf(out, "%shg_shim.block.%s * hg_shim.block_dim.%s + hg_shim.lane.%s", i ? ", " : "", AXES[i], AXES[i], AXES[i]);
        hg_text_addf(out,
                     "}, uint3{hg_shim.lane.x, hg_shim.lane.y, hg_shim.lane.z}, uint3{hg_shim.block.x, hg_shim.block.y, hg_shim.block.z}");
    }
    hg_text_addf(out, ");\n}\n");
}

/* "[[threadgroup(0)]]": the word is a qualifier too, which the shim makes an address space. */
static void blank_attribute(hg_text *text) {
    static const char ATTRIBUTE[] = " [[threadgroup(0)]]";
    for (char *at = text->data; at && (at = strstr(at, ATTRIBUTE)) != NULL;) memset(at, ' ', sizeof ATTRIBUTE - 1);
}

static hg_status compile(const hg_device *d, const char *source, const char *library, const char *log) {
    char command[1024];
    snprintf(
        command, sizeof command,
        "clang++-14 -std=c++17 -O1 -fPIC -shared -nostdinc++ -ffp-contract=off -fno-strict-aliasing -Wall -Wextra -Wno-unknown-attributes "
        "-Wno-unused-function -Wno-unknown-pragmas -Werror -I%s/tests/shim %s '%s' -o '%s' >'%s' 2>&1",
        HG_SOURCE_DIR, d->language->options, source, library, log);
    if (system(command) == 0) return HG_OK;
    char text[700] = "";
    FILE *f = fopen(log, "r");
    if (f) text[fread(text, 1, sizeof text - 1, f)] = 0, (void)fclose(f);
    return hg_fail(HG_ERROR_INTERNAL, "clang++-14 refuses a text in %s: %.600s", d->language->target, text);
}

static hg_status open_library(const char *path, hg_driver_kernel *k) {
    k->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!k->library) return hg_fail(HG_ERROR_INTERNAL, "dlopen: %s", dlerror());
    k->state = dlsym(k->library, "hg_shim");
    k->group_memory = dlsym(k->library, "group_memory");
    *(void **)&k->lane = dlsym(k->library, "hg_shim_lane");
    return k->state && k->lane ? HG_OK : hg_fail(HG_ERROR_INTERNAL, "the compiled text has no entry");
}

static void kernel_destroy(hg_driver_kernel *k) {
    if (!k) return;
    if (k->library) (void)dlclose(k->library);
    hg_free(k);
}

static bool has_barrier(const kir_module *m) {
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_BARRIER) return true;
    return false;
}

static hg_status code_create(hg_device *d, const hg_driver_code *code, hg_driver_kernel **kernel) {
    char name[96], source[128], library[128], log[128];
    hg_text text = {0};
    unsigned long long number = hg_atomic_add_fetch(&d->kernels, 1, HG_RELAXED);
    hg_driver_kernel *k = hg_calloc(1, sizeof *k);
    if (!k) return hg_fail_memory();
    emit_kernel_name(code->module, name);
    hg_status status = emit_device_c(d->dialect, code->module, code->layout, "", &text);
    snprintf(source, sizeof source, "%s/%llu.%s", d->folder, number, d->language->suffix);
    snprintf(library, sizeof library, "%s/%llu.so", d->folder, number);
    snprintf(log, sizeof log, "%s/%llu.log", d->folder, number);
    if (status == HG_OK) {
        blank_attribute(&text);
        add_entry(&text, d, code, name);
        FILE *f = fopen(source, "w");
        if (!f || fwrite(text.data, 1, text.length, f) != text.length || fclose(f) != 0)
            status = hg_fail(HG_ERROR_IO, "%s cannot be written", source);
    }
    if (status == HG_OK) status = compile(d, source, library, log);
    if (status == HG_OK) status = open_library(library, k);
    k->has_barriers = has_barrier(code->module);
    if (!getenv("HG_SHIM_KEEP")) (void)unlink(source);
    (void)unlink(library);
    (void)unlink(log);
    hg_text_free(&text);
    if (status == HG_OK)
        *kernel = k;
    else
        kernel_destroy(k);
    return status;
}

/* ---- running: one dispatch of the process at a time ---- */

static struct {
    hg_mutex lock;
    ucontext_t main, lanes[MOST_LANES];
    shim_id ids[MOST_LANES];
    bool ended[MOST_LANES];
    uint32_t now; /* the invocation that runs */
    uint8_t *stacks;
    hg_driver_kernel *kernel;
    void *const *slots;
    const void *record;
} world;
static hg_once_flag once = HG_ONCE_INIT;

static void prepare(void) {
    hg_mutex_init(&world.lock);
    void *stacks = mmap(NULL, (size_t)MOST_LANES * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    world.stacks = stacks == MAP_FAILED ? NULL : stacks;
}

static void at_barrier(void) { (void)swapcontext(&world.lanes[world.now], &world.main); }
static void no_barrier(void) { abort(); }

static void run_lane(void) {
    world.kernel->lane(world.slots, world.record);
    world.ended[world.now] = true;
}

static void begin_fiber(uint32_t lane) {
    ucontext_t *c = &world.lanes[lane];
    (void)getcontext(c);
    c->uc_stack.ss_sp = world.stacks + (size_t)lane * STACK_BYTES;
    c->uc_stack.ss_size = STACK_BYTES;
    c->uc_link = &world.main;
    makecontext(c, run_lane, 0);
    world.ended[lane] = false;
}

/* All invocations up to the next barrier, again and again; odd rounds from the last to the first, since no order is promised. */
static void run_fibers(uint32_t lanes) {
    for (uint32_t i = 0; i < lanes; i++) begin_fiber(i);
    for (uint32_t round = 0, left = lanes; left; round++) {
        left = 0;
        for (uint32_t i = 0; i < lanes; i++) {
            world.now = round & 1 ? lanes - 1 - i : i;
            if (world.ended[world.now]) continue;
            world.kernel->state->lane = world.ids[world.now];
            (void)swapcontext(&world.main, &world.lanes[world.now]);
            left += !world.ended[world.now];
        }
    }
}

static void run_group(uint32_t lanes) {
    shim_state *s = world.kernel->state;
    unsigned long long *memory = s->group_memory;
    memset(memory, 0xA5, GROUP_BYTES / 4); /* group memory holds anything at first */
    if (world.kernel->has_barriers) {
        run_fibers(lanes);
        return;
    }
    for (uint32_t i = 0; i < lanes; i++) {
        s->lane = world.ids[i];
        world.kernel->lane(world.slots, world.record);
    }
}

static hg_status run_dispatch(const hg_driver_dispatch *c) {
    static unsigned long long own_memory[GROUP_BYTES / 8];
    hg_driver_kernel *k = c->kernel;
    shim_state *s = k->state;
    uint32_t lanes = c->group[0] * c->group[1] * c->group[2];
    void **slots = hg_calloc(c->slot_count + 1u, sizeof *slots);
    if (!slots || !world.stacks) return hg_fail_memory();
    if (lanes > MOST_LANES || c->group_memory > GROUP_BYTES / 4)
        return hg_fail(HG_ERROR_INTERNAL, "a group of %u invocations with %llu bytes", lanes, (unsigned long long)c->group_memory);
    for (uint32_t i = 0; i < c->slot_count; i++) slots[i] = c->slots[i].arena ? c->slots[i].arena->bytes : NULL;
    world.kernel = k;
    world.slots = slots;
    world.record = c->record;
    s->group_memory = k->group_memory ? k->group_memory : own_memory;
    s->block_dim = (shim_id){c->group[0], c->group[1], c->group[2]};
    s->grid_dim = (shim_id){c->groups[0], c->groups[1], c->groups[2]};
    s->barrier = k->has_barriers ? at_barrier : no_barrier;
    for (uint32_t i = 0; i < lanes; i++)
        world.ids[i] = (shim_id){i % c->group[0], i / c->group[0] % c->group[1], i / c->group[0] / c->group[1]};
    for (uint32_t z = 0; z < c->groups[2]; z++)
        for (uint32_t y = 0; y < c->groups[1]; y++)
            for (uint32_t x = 0; x < c->groups[0]; x++) {
                s->block = (shim_id){x, y, z};
                run_group(lanes);
            }
    hg_free(slots);
    return HG_OK;
}

static hg_status run_command(const hg_driver_command *c) {
    switch (c->kind) {
    case HG_CMD_COPY_IN: memcpy(c->to.arena->bytes + c->to.offset, c->host, (size_t)c->to.size); return HG_OK;
    case HG_CMD_COPY_OUT: memcpy(c->host, c->from.arena->bytes + c->from.offset, (size_t)c->from.size); return HG_OK;
    case HG_CMD_COPY: memmove(c->to.arena->bytes + c->to.offset, c->from.arena->bytes + c->from.offset, (size_t)c->to.size); return HG_OK;
    case HG_CMD_FILL: memset(c->to.arena->bytes + c->to.offset, c->value, (size_t)c->to.size); return HG_OK;
    case HG_CMD_DISPATCH: return run_dispatch(c->dispatch);
    case HG_CMD_LAUNCH:
    case HG_CMD_STEP: break;
    }
    return hg_fail(HG_ERROR_INTERNAL, "a command that a shim has not");
}

static hg_status queue_submit(hg_driver_queue *queue, const hg_driver_command *commands, uint32_t count, hg_driver_event *const *waits,
                              uint32_t wait_count, hg_driver_event *signal) {
    hg_status status = HG_OK;
    (void)queue;
    (void)waits;
    (void)wait_count;
    (void)signal;
    hg_once(&once, prepare);
    hg_mutex_lock(&world.lock);
    for (uint32_t i = 0; i < count && status == HG_OK; i++) status = run_command(&commands[i]);
    hg_mutex_unlock(&world.lock);
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

#define DRIVER(language)                                                         \
    const hg_driver hg_driver_shim_##language = {.name = "shim-" #language,      \
                                                 .enumerate = enumerate,         \
                                                 .device_open = open_##language, \
                                                 .device_close = device_close,   \
                                                 .device_caps = device_caps,     \
                                                 .arena_alloc = arena_alloc,     \
                                                 .arena_free = arena_free,       \
                                                 .arena_map = arena_map,         \
                                                 .arena_unmap = arena_unmap,     \
                                                 .arena_address = arena_address, \
                                                 .queue_create = queue_create,   \
                                                 .queue_destroy = queue_destroy, \
                                                 .queue_submit = queue_submit,   \
                                                 .event_create = event_create,   \
                                                 .event_destroy = event_destroy, \
                                                 .event_query = event_query,     \
                                                 .event_wait = event_wait,       \
                                                 .code_create = code_create,     \
                                                 .kernel_destroy = kernel_destroy}
DRIVER(cuda);
DRIVER(hip);
DRIVER(msl);

void shim_driver_bring(const char *name) {
    static const hg_driver *const SHIMS[] = {&hg_driver_shim_cuda, &hg_driver_shim_hip, &hg_driver_shim_msl};
    for (size_t i = 0; i < HG_COUNT_OF(SHIMS); i++)
        if (strcmp(SHIMS[i]->name, name) == 0) hg_select_guest(SHIMS[i]);
}
