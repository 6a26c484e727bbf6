/* The null backend: a device that keeps memory and computes nothing. It is the template for a new
 * backend (README.md here) and the measure of the runtime's own cost. Copies work; launches and
 * steps succeed without touching memory. */
#include "driver/at_once.h"
#include <stdio.h>
#include <string.h>

struct hg_device {
    hg_device_caps caps;
};
struct hg_driver_arena {
    uint8_t *bytes;
    bool imported;
};
struct hg_driver_kernel {
    int unused;
};

static uint32_t enumerate(hg_device_info *devices, uint32_t capacity, char reason[256]) {
    (void)reason; /* a real backend says here what is missing and what to install, and returns 0 */
    if (!devices || capacity == 0) return 1;
    memset(devices, 0, sizeof *devices);
    devices->size = sizeof *devices;
    snprintf(devices->backend, sizeof devices->backend, "%s", "null");
    snprintf(devices->name, sizeof devices->name, "%s", "keeps memory, computes nothing");
    devices->available = true;
    devices->max_block_lanes = HG_MAX_BLOCK_LANES;
    devices->max_shared_bytes = HG_MAX_SHARED_BYTES;
    return 1;
}

/* What the device does natively. All true: kernels arrive as high-level as they can. */
static void fill_caps(hg_device_caps *caps) {
    memset(caps, 0, sizeof *caps);
    caps->compiler.kir.i8 = caps->compiler.kir.i16 = caps->compiler.kir.i64 =
        caps->compiler.kir.f64 = caps->compiler.kir.fma32 = caps->compiler.kir.fma64 = true;
    caps->compiler.kir.subnormals = caps->compiler.kir.half = true;
    caps->compiler.kir.name = "null";
    caps->memory.can_import = true;
    caps->compiler.max_slots = UINT32_MAX;
    caps->scheduling.max_block_lanes = HG_MAX_BLOCK_LANES;
    caps->memory.max_shared_bytes = HG_MAX_SHARED_BYTES;
}

static hg_status device_open(uint32_t index, const hg_driver_options *options, hg_device **device) {
    (void)options;
    if (index != 0)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "null has one device, number 0; asked for %u",
                       (unsigned)index);
    *device = hg_calloc(1, sizeof **device);
    if (!*device) return hg_fail_memory();
    fill_caps(&(*device)->caps);
    return HG_OK;
}

static void device_close(hg_device *device) { hg_free(device); }
static const hg_device_caps *device_caps(const hg_device *device) { return &device->caps; }

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

static hg_status arena_import(hg_device *device, void *host, uint64_t size,
                              hg_driver_arena **arena) {
    (void)device;
    (void)size;
    *arena = hg_calloc(1, sizeof **arena);
    if (!*arena) return hg_fail_memory();
    **arena = (hg_driver_arena){host, true};
    return HG_OK;
}

static void arena_free(hg_device *device, hg_driver_arena *arena) {
    (void)device;
    if (!arena) return;
    if (!arena->imported) hg_free(arena->bytes);
    hg_free(arena);
}

static hg_status run_command(hg_device *device, const hg_driver_command *c) {
    (void)device;
    switch (c->kind) {
    case HG_CMD_COPY_IN:
        memcpy(c->to.arena->bytes + c->to.offset, c->host, (size_t)c->to.size);
        break;
    case HG_CMD_COPY_OUT:
        memcpy(c->host, c->from.arena->bytes + c->from.offset, (size_t)c->from.size);
        break;
    case HG_CMD_COPY:
        memmove(c->to.arena->bytes + c->to.offset, c->from.arena->bytes + c->from.offset,
                (size_t)c->to.size);
        break;
    case HG_CMD_FILL:
        memset(c->to.arena->bytes + c->to.offset, c->value, (size_t)c->to.size);
        break;
    case HG_CMD_LAUNCH:
    case HG_CMD_STEP:
    case HG_CMD_DISPATCH: break;
    }
    return HG_OK;
}

static hg_status queue_submit(hg_driver_queue *queue, const hg_driver_command *commands,
                              uint32_t count, hg_driver_event *const *waits, uint32_t wait_count,
                              hg_driver_event *signal) {
    return hg_at_once_submit(queue, commands, count, waits, wait_count, signal, run_command);
}

static hg_status kernel_create(hg_device *device, const kir_module *module,
                               hg_driver_kernel **kernel) {
    (void)device;
    HG_TRY(kir_verify(module));
    *kernel = hg_calloc(1, sizeof **kernel);
    return *kernel ? HG_OK : hg_fail_memory();
}

static void kernel_destroy(hg_driver_kernel *kernel) { hg_free(kernel); }

static bool step_supported(const hg_device *device, const plan_call *call, uint64_t *scratch) {
    (void)device;
    (void)call;
    (void)scratch;
    return true;
}

/* Commands that come again as they are; without these two they are submitted each time. */
static hg_status run_prepared(hg_driver_prepared *self) {
    (void)self;
    return HG_OK;
}

static hg_driver_prepared *prepare(hg_device *device, const hg_driver_command *command) {
    (void)device;
    (void)command;
    hg_driver_prepared *p = hg_alloc(sizeof *p);
    if (p) p->run = run_prepared;
    return p;
}

static void prepared_destroy(hg_driver_prepared *prepared) { hg_free(prepared); }

const hg_driver hg_driver_null = {
    .name = "null",
    .forks = true, /* not where a library or a device belongs to the process that opened it */
    .enumerate = enumerate,
    .device_open = device_open,
    .device_close = device_close,
    .device_caps = device_caps,
    .arena_alloc = arena_alloc,
    .arena_import = arena_import,
    .arena_free = arena_free,
    .queue_create = hg_at_once_queue_create,
    .queue_destroy = hg_at_once_queue_destroy,
    .queue_submit = queue_submit,
    .event_create = hg_at_once_event_create,
    .event_destroy = hg_at_once_event_destroy,
    .event_query = hg_at_once_event_query,
    .event_wait = hg_at_once_event_wait,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
    .step_supported = step_supported,
    .prepare = prepare,
    .prepared_destroy = prepared_destroy,
};
