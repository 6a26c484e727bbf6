/* The TPU backend: any device that a PJRT plugin offers, through StableHLO.
 * Must not know: programs, handles. */
#include "backends/tpu/tpu_internal.h"
#include "base/host.h"
#include "base/library.h"
#include "driver/at_once.h"
#include <stdio.h>
#include <string.h>

/* ---- devices ---- */

static void describe(pjrt_device *device, char *text, size_t size) {
    pjrt_device_description d = {.head = {sizeof d, NULL}, .device = device};
    pjrt_description_text t = {.head = {sizeof t, NULL}};
    if (tpu_check("description", tpu->device_description(&d)) != HG_OK) return;
    t.description = d.description;
    if (tpu_check("description", tpu->description_kind(&t)) != HG_OK) return;
    snprintf(text, size, "%.*s, PJRT %d.%d, %.60s", (int)(t.length < 60 ? t.length : 60), t.text,
             tpu->major, tpu->minor, tpu->version);
}

static uint32_t enumerate(hg_device_info *devices, uint32_t capacity, char reason[256]) {
    if (!tpu_open(reason)) return 0;
    uint32_t count = (uint32_t)tpu->device_count;
    for (uint32_t i = 0; devices && i < count && i < capacity; i++) {
        memset(&devices[i], 0, sizeof devices[i]);
        devices[i].size = sizeof devices[i];
        memcpy(devices[i].backend, "tpu", 4);
        devices[i].device = i;
        describe(tpu->devices[i], devices[i].name, sizeof devices[i].name);
        devices[i].available = true;
        devices[i].max_block_lanes = HG_MAX_BLOCK_LANES;
        devices[i].max_shared_bytes = HG_MAX_SHARED_BYTES;
    }
    return count;
}

static void device_close(hg_device *device) {
    tpu_free_codes(device);
    hg_blob_cache_close(device->cache);
    hg_mutex_destroy(&device->lock);
    hg_free(device);
}

static hg_status device_open(uint32_t index, const hg_driver_options *options, hg_device **device) {
    char reason[256];
    if (!tpu_open(reason))
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "TPU backend not available: %s", reason);
    if (index >= tpu->device_count)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "tpu has %u devices; asked for number %u",
                       (unsigned)tpu->device_count, (unsigned)index);
    hg_device *d = hg_calloc(1, sizeof *d);
    if (!d) return hg_fail_memory();
    d->device = tpu->devices[index];
    d->expands = options->vendor && strcmp(options->vendor, "off") == 0;
    hg_mutex_init(&d->lock);
    emit_stablehlo_caps(&d->caps.compiler.kir);
    d->caps.compiler.probed = true;
    d->caps.compiler.max_slots = UINT32_MAX;
    d->caps.compiler.open_table = true;
    d->caps.scheduling.max_block_lanes = HG_MAX_BLOCK_LANES;
    d->caps.memory.max_shared_bytes = HG_MAX_SHARED_BYTES;
    char host[HG_HOST_TEXT] = "", mark[48]; /* a version may be "cpu" alone */
    static const char *const SETTINGS[] = {"XLA_FLAGS"};
    hg_host_text(SETTINGS, HG_COUNT_OF(SETTINGS), host);
    hg_library_mark(&tpu->execute, mark, sizeof mark);
    snprintf(d->caps.identity, sizeof d->caps.identity, "%.40s %.80s PJRT %d.%d %s %s", tpu->name,
             tpu->version, tpu->major, tpu->minor, mark, host);
    hg_status status = hg_blob_cache_open(options->cache_dir, options->cache_bytes, &d->cache);
    if (status == HG_OK)
        *device = d;
    else
        device_close(d);
    return status;
}

static const hg_device_caps *device_caps(const hg_device *device) { return &device->caps; }

/* ---- memory ---- */

static hg_status arena_alloc(hg_device *device, uint64_t size, hg_driver_arena **arena) {
    hg_driver_arena *a = hg_calloc(1, sizeof *a);
    if (!a) return hg_fail_memory();
    a->bytes = size <= PTRDIFF_MAX - 8 ? hg_calloc((size_t)size + 8, 1) : NULL; /* whole words */
    a->device = device;
    a->size = size;
    a->on_host = true;
    *arena = a;
    if (a->bytes) return HG_OK;
    hg_free(a);
    return hg_fail(HG_ERROR_ALLOCATION_FAILED, "%llu bytes are not available",
                   (unsigned long long)size);
}

static void arena_free(hg_device *device, hg_driver_arena *arena) {
    (void)device;
    if (!arena) return;
    tpu_free_buffer(arena->buffer);
    hg_free(arena->bytes);
    hg_free(arena);
}

/* The bytes of a range, which are then only on the host where they are to be written. */
static hg_status host_bytes(const hg_range *range, bool written, uint8_t **bytes) {
    hg_driver_arena *a = range->arena;
    HG_TRY(tpu_to_host(a));
    if (written) {
        tpu_free_buffer(a->buffer);
        a->buffer = NULL;
    }
    *bytes = a->bytes + range->offset;
    return HG_OK;
}

/* ---- queues: work is over when submit returns ---- */

static hg_status move_bytes(const hg_driver_command *c) {
    uint8_t *to = NULL, *from = NULL;
    if (c->kind == HG_CMD_COPY || c->kind == HG_CMD_COPY_OUT)
        HG_TRY(host_bytes(&c->from, false, &from));
    if (c->kind != HG_CMD_COPY_OUT) HG_TRY(host_bytes(&c->to, true, &to));
    switch (c->kind) {
    case HG_CMD_COPY_IN: memcpy(to, c->host, (size_t)c->to.size); return HG_OK;
    case HG_CMD_COPY_OUT: memcpy(c->host, from, (size_t)c->from.size); return HG_OK;
    case HG_CMD_COPY: memmove(to, from, (size_t)c->to.size); return HG_OK;
    case HG_CMD_FILL: memset(to, c->value, (size_t)c->to.size); return HG_OK;
    default: return hg_fail(HG_ERROR_INTERNAL, "tpu: unknown command %d", (int)c->kind);
    }
}

/* One at a time: ranges of one arena belong to several queues, and each command moves the whole
 * arena between host and device. */
static hg_status run_command(hg_device *device, const hg_driver_command *c) {
    if (tpu_is_noting(device)) return tpu_note_command(c);
    hg_mutex_lock(&device->lock);
    hg_status status = c->kind == HG_CMD_LAUNCH ? tpu_launch(device, c->launch, c->fault)
                       : c->kind == HG_CMD_STEP ? tpu_run_step(device, c->step)
                                                : move_bytes(c);
    hg_mutex_unlock(&device->lock);
    return status;
}

static hg_status queue_submit(hg_driver_queue *queue, const hg_driver_command *commands,
                              uint32_t count, hg_driver_event *const *waits, uint32_t wait_count,
                              hg_driver_event *signal) {
    return hg_at_once_submit(queue, commands, count, waits, wait_count, signal, run_command);
}

const hg_driver hg_driver_tpu = {
    .name = "tpu",
    .vendor = &tpu_vendor,
    .enumerate = enumerate,
    .device_open = device_open,
    .device_close = device_close,
    .device_caps = device_caps,
    .arena_alloc = arena_alloc,
    .arena_free = arena_free,
    .queue_create = hg_at_once_queue_create,
    .queue_destroy = hg_at_once_queue_destroy,
    .queue_submit = queue_submit,
    .event_create = hg_at_once_event_create,
    .event_destroy = hg_at_once_event_destroy,
    .event_query = hg_at_once_event_query,
    .event_wait = hg_at_once_event_wait,
    .kernel_create = tpu_kernel_create,
    .kernel_destroy = tpu_kernel_destroy,
    .step_supported = tpu_step_supported,
    .module_create = tpu_module_create,
    .module_destroy = tpu_module_destroy,
    .module_run = tpu_module_run,
    .note_begin = tpu_note_begin,
    .note_end = tpu_note_end,
    .noted_run = tpu_noted_run,
    .noted_destroy = tpu_noted_destroy,
};
