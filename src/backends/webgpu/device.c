/* Devices: the adapter, opening in steps, and what they can do as they say it themselves (the
 * runtime's probe corrects that).
 * Must not know: commands, kernels. */
#include "backends/webgpu/webgpu_internal.h"
#include "base/host.h"
#include "base/library.h"
#include "library/tiles.h"
#include <stdio.h>
#include <string.h>

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* ---- the adapter ---- */

/* Where Dawn takes no driver of the machine, it gives an adapter of its own for tests. */
static const char COMPUTES_NOTHING[] = "the only adapter computes nothing";

typedef struct wg_asked_adapter {
    bool done;
    WGPUAdapter adapter;
    char said[WG_SAID];
} wg_asked_adapter;

static void on_listed(uint32_t status, WGPUAdapter adapter, WGPUStringView said, void *one,
                      void *two) {
    wg_asked_adapter *a = one;
    (void)two, (void)status;
    a->done = true;
    a->adapter = adapter;
    wg_say(said, a->said, sizeof a->said);
}

static void request_adapter(WGPUInstance instance, bool experimental,
                            WGPURequestAdapterCallback callback, void *one) {
    static const char *const EXPERIMENTAL[] = {"allow_unsafe_apis"}; /* for HostMappedPointer */
    WGPUDawnToggles toggles = {.chain = {NULL, WGPU_STYPE_DAWN_TOGGLES},
                               .on_count = HG_COUNT_OF(EXPERIMENTAL),
                               .on = EXPERIMENTAL};
    WGPURequestAdapterOptions options = {.next = experimental ? &toggles.chain : NULL,
                                         .feature_level = WGPU_CORE,
                                         .power_preference = WGPU_HIGH_PERFORMANCE};
    WGPURequestAdapterCallbackInfo info = {
        .mode = WGPU_ALLOW_PROCESS_EVENTS, .callback = callback, .one = one};
    (void)wg.InstanceRequestAdapter(instance, &options, info);
}

static const uint64_t MOST_BYTES = UINT64_C(0xffffff00); /* of an arena: offsets have 32 bits */

static uint64_t largest_buffer(const WGPULimits *limits) {
    return least(least(limits->buffer_bytes, limits->storage_bytes), MOST_BYTES) & ~UINT64_C(255);
}

static void describe(const WGPUAdapterInfo *a, const WGPULimits *limits, hg_device_info *info) {
    char device[80], about[48];
    memset(info, 0, sizeof *info);
    info->size = sizeof *info;
    snprintf(info->backend, sizeof info->backend, "%s", "webgpu");
    wg_say(a->device, device, sizeof device);
    wg_say(a->description, about, sizeof about);
    snprintf(info->name, sizeof info->name, "%s", device[0] ? device : "WebGPU adapter");
    info->available = info->exact = true;
    info->software = a->adapter_type == WGPU_ADAPTER_CPU;
    info->max_buffer_bytes = largest_buffer(limits);
    snprintf(info->driver, sizeof info->driver, "%s, %s", wg_library_name(), about);
    info->max_block_lanes = limits->group_lanes;
    info->max_shared_bytes = limits->shared_bytes;
}

static hg_mutex listing_lock = HG_MUTEX_INIT;
static hg_device_info listed; /* size 0: not asked for yet, or there was none */

static bool list(char reason[256]) {
    WGPUInstance instance = wg_instance();
    wg_asked_adapter asked = {0};
    WGPUAdapterInfo info = {0};
    WGPULimits limits = {0};
    if (!instance) {
        snprintf(reason, 256, "%s makes no instance", wg_library_name());
        return false;
    }
    HG_CALLS_OTHERS;
    hg_mutex_lock(&wg_lock);
    request_adapter(instance, false, on_listed, &asked);
    while (!asked.done) wg.InstanceProcessEvents(instance); /* a page has asked already */
    bool found = asked.adapter != NULL;
    if (asked.adapter) {
        (void)wg.AdapterGetInfo(asked.adapter, &info);
        (void)wg.AdapterGetLimits(asked.adapter, &limits);
        found = info.backend != WGPU_BACKEND_NULL;
        if (found)
            describe(&info, &limits, &listed);
        else
            snprintf(asked.said, sizeof asked.said, "%s", COMPUTES_NOTHING);
        wg.AdapterInfoFreeMembers(info);
        wg.AdapterRelease(asked.adapter);
    }
    hg_mutex_unlock(&wg_lock);
    if (!found)
        snprintf(reason, 256, "%s finds no adapter (%.140s): install a Vulkan driver that it takes",
                 wg_library_name(), asked.said);
    return found;
}

uint32_t wg_enumerate(hg_device_info *devices, uint32_t capacity, char reason[256]) {
    if (!wg_load(reason)) return 0;
    hg_mutex_lock(&listing_lock);
    bool there = listed.size || list(reason);
    if (there && devices && capacity) devices[0] = listed;
    hg_mutex_unlock(&listing_lock);
    return there ? 1 : 0;
}

/* ---- capabilities ---- */

/* A binding is an arena, and most slots of a kernel lie in few: a kernel may have as many slots as
 * a form can have, and one whose arenas are more than the device binds is refused (wg_layout_get).
 */
static void fill_bindings(const WGPULimits *limits, hg_compiler_caps *compiler) {
    kir_device_target *target = &compiler->target;
    target->bind_arenas = target->bind_parts = target->whole_atomics = target->shown_uniform = true;
    target->rewrites = true; /* WGSL lets compilers fuse and reorder */
    target->max_arenas = (uint32_t)least(8, limits->storage_buffers - 2);
    compiler->max_slots = KIR_BOUND_SLOTS;
    compiler->max_bindings = (uint32_t)least(limits->storage_buffers, WG_LAYOUTS - 1);
}

/* A driver on the CPU is another device on another CPU. Dawn has no number: its file is one. */
static void fill_identity(hg_device *d) {
    static const char *const SETTINGS[] = {"LP_NATIVE_VECTOR_WIDTH", "GALLIUM_OVERRIDE_CPU_CAPS"};
    hg_device_caps *caps = &d->caps;
    char device[64], about[64], file[48];
    wg_say(d->info.device, device, sizeof device);
    wg_say(d->info.description, about, sizeof about);
    if (!d->info.vendor_id && !device[0]) return; /* an adapter that nobody names */
    hg_library_mark((void *)&wg.CreateInstance, file, sizeof file);
    snprintf(caps->identity, sizeof caps->identity, "webgpu %s %s %x:%x %s %s", wg_library_name(),
             file, (unsigned)d->info.vendor_id, (unsigned)d->info.device_id, device, about);
    if (!d->cpu) return;
    size_t length = strlen(caps->identity);
    char host[HG_HOST_TEXT];
    hg_host_text(SETTINGS, HG_COUNT_OF(SETTINGS), host);
    snprintf(caps->identity + length, sizeof caps->identity - length, " %s", host);
}

/* shader-f16 was another number in Dawn of 2025, and each of the two is some other feature of the
 * other, which does no harm. So what is offered is asked for, and a text is tried. */
static const uint32_t F16_NUMBERS[] = {WGPU_SHADER_F16, WGPU_SHADER_F16_OLD};
static uint32_t f16_numbers(void) { return wg_is_native() ? 1 : HG_COUNT_OF(F16_NUMBERS); }

static const char F16[] = "enable f16;\n"
                          "@compute @workgroup_size(1)\n"
                          "fn main() { }\n";

/* Bits of a bf16 are those of an f32, so that its conversions are integer code here too. */
static void fill_halves(kir_caps *kir) {
    kir->half = true;
    kir->inexact[KIR_B2F][0] = kir->inexact[KIR_F2B][0] = true;
}

/* What is longer than a buffer is cut where elements of up to 256 bytes, or of three or five
 * times a power of two, end. */
static void fill_memory(hg_device *d) {
    enum { WHOLE_ELEMENTS = 256 * 3 * 5 };
    hg_memory_caps *m = &d->caps.memory;
    uint64_t buffer = d->limits.buffer_bytes, binding = d->limits.storage_bytes;
    if (d->opening.most_buffer) buffer = least(buffer, d->opening.most_buffer);
    if (d->opening.most_binding) binding = least(binding, d->opening.most_binding);
    m->cut_bytes = least(buffer, MOST_BYTES) / WHOLE_ELEMENTS * WHOLE_ELEMENTS;
    m->bound_bytes = least(binding, m->cut_bytes) & ~UINT64_C(255);
    m->max_arena_bytes = MOST_BYTES;
    m->arena_bytes = least(UINT64_C(16) << 20, m->bound_bytes);
}

/* As in vulkan/device.c. */
enum { SWIFTSHADER_MOST = 30000, SWIFTSHADER_CHOICES = 500 };

static void fill_caps(hg_device *d) {
    hg_device_caps *caps = &d->caps;
    const WGPULimits *limits = &d->limits;
    char architecture[32];
    caps->compiler.device_form = caps->scheduling.asynchronous = caps->memory.uniforms_in_memory =
        caps->compiler.static_groups = caps->exact = true;
    caps->compiler.kir.name = "webgpu";
    caps->compiler.kir.subnormals = caps->compiler.kir.fma32 = true; /* the probe sees */
    fill_halves(&caps->compiler.kir);
    fill_bindings(limits, &caps->compiler);
    fill_memory(d);
    caps->memory.max_shared_bytes = limits->shared_bytes;
    caps->scheduling.look_ns = 1000;
    caps->scheduling.max_block_lanes = limits->group_lanes;
    for (int i = 0; i < 3; i++) caps->scheduling.max_groups[i] = limits->groups;
    caps->scheduling.max_group[0] = limits->group_x;
    caps->scheduling.max_group[1] = limits->group_y;
    caps->scheduling.max_group[2] = limits->group_z;
    caps->hints.on_cpu = d->cpu;
    /* whether a device has them itself nobody says */
    caps->hints.dot4 = caps->compiler.kir.dot4 && !d->cpu;
    caps->hints.flat_group = (uint32_t)least(d->cpu ? 1024 : 128, limits->group_lanes);
    fill_identity(d);
    wg_say(d->info.architecture, architecture, sizeof architecture);
    if (strcmp(architecture, "swiftshader") == 0) {
        caps->compiler.max_operations = SWIFTSHADER_MOST;
        caps->compiler.max_choices = SWIFTSHADER_CHOICES;
        caps->scheduling.look_ns = 4000; /* the shortest round was seen to take 10.5 ns */
        caps->hints.tile_kind = LIBRARY_TILES_BASELINE;
    }
}

/* ---- opening: an adapter is asked for, then its device ---- */

static void on_device(uint32_t status, WGPUDevice device, WGPUStringView said, void *one,
                      void *two) {
    hg_device *d = one;
    (void)two;
    d->asked--;
    d->handle = device;
    if (d->opening.state == WG_CLOSED) return;
    if (status != WGPU_STATUS_SUCCESS || !device) {
        wg_note(d, said);
        d->opening.state = WG_FAILED;
        return;
    }
    d->queue = wg.DeviceGetQueue(device);
    d->opening.state = WG_OPEN;
}

static void on_lost(const WGPUDevice *device, uint32_t reason, WGPUStringView said, void *one,
                    void *two) {
    hg_device *d = one;
    (void)device, (void)two;
    if (reason == WGPU_LOST_DESTROYED) return; /* by wg_device_close */
    wg_note(d, said);
    hg_atomic_store(&d->lost, 1, HG_RELEASE);
}

static void on_error(const WGPUDevice *device, uint32_t type, WGPUStringView said, void *one,
                     void *two) {
    (void)device, (void)type, (void)two;
    wg_note_error(one, said);
}

/* Dawn's, whose numbers differ in the same way. A driver on the CPU runs an endless lane for ever
 * unless the host can write where it looks; other devices have a limit of their own. */
static const uint32_t HOST_MEMORY_NUMBERS[] = {WGPU_HOST_MEMORY, WGPU_HOST_MEMORY_OLD};

/* Limits are asked for as they are offered, and of features shader-f16 and HostMappedPointer. */
static void request_device(hg_device *d) {
    uint32_t features[HG_COUNT_OF(F16_NUMBERS) + HG_COUNT_OF(HOST_MEMORY_NUMBERS)], count = 0;
    for (uint32_t i = 0; i < f16_numbers(); i++)
        if (wg.AdapterHasFeature(d->adapter, F16_NUMBERS[i])) features[count++] = F16_NUMBERS[i];
    d->own.f16.offered = count > 0;
    bool asks = d->opening.experimental && d->info.adapter_type == WGPU_ADAPTER_CPU;
    for (uint32_t i = 0; asks && i < HG_COUNT_OF(HOST_MEMORY_NUMBERS); i++) {
        if (!wg.AdapterHasFeature(d->adapter, HOST_MEMORY_NUMBERS[i])) continue;
        features[count++] = HOST_MEMORY_NUMBERS[i];
        d->opening.sees_host = true;
    }
    WGPUDeviceDescriptor descriptor = {
        .feature_count = count,
        .features = features,
        .limits = &d->limits,
        .lost = {.mode = WGPU_ALLOW_PROCESS_EVENTS, .callback = on_lost, .one = d},
        .error = {.callback = on_error, .one = d}};
    WGPURequestDeviceCallbackInfo info = {
        .mode = WGPU_ALLOW_PROCESS_EVENTS, .callback = on_device, .one = d};
    d->opening.state = WG_ASKS_DEVICE;
    d->asked++;
    (void)wg.AdapterRequestDevice(d->adapter, &descriptor, info);
}

static void ask_adapter(hg_device *d, bool experimental);

static void on_adapter(uint32_t status, WGPUAdapter adapter, WGPUStringView said, void *one,
                       void *two) {
    hg_device *d = one;
    (void)two;
    d->asked--;
    d->adapter = adapter;
    if (d->opening.state == WG_CLOSED) return;
    if ((status != WGPU_STATUS_SUCCESS || !adapter) && d->opening.experimental) {
        ask_adapter(d, false); /* of a Dawn whose toggles have another number */
        return;
    }
    if (status != WGPU_STATUS_SUCCESS || !adapter) {
        wg_note(d, said);
        d->opening.state = WG_FAILED;
        return;
    }
    (void)wg.AdapterGetInfo(adapter, &d->info);
    if (d->info.backend == WGPU_BACKEND_NULL) {
        wg_note(d, wg_text(COMPUTES_NOTHING));
        d->opening.state = WG_FAILED;
        return;
    }
    (void)wg.AdapterGetLimits(adapter, &d->limits);
    d->limits.next = NULL;
    request_device(d);
}

static void ask_adapter(hg_device *d, bool experimental) {
    d->opening.state = WG_ASKS_ADAPTER;
    d->opening.experimental = experimental;
    d->asked++;
    request_adapter(d->instance, experimental, on_adapter, d);
}

/* Makes what queues and copies need. */
static hg_status finish_opening(hg_device *d) {
    hg_mutex_lock(&wg_lock);
    hg_status status = wg_buffer_create(d, WG_RECORDS, WGPU_USE_UNIFORM | WGPU_USE_COPY_TO,
                                        &d->own.records);
    hg_mutex_unlock(&wg_lock);
    HG_TRY(status);
    d->own.record_bytes = hg_alloc(2 * WG_RECORDS);
    if (!d->own.record_bytes) return hg_fail_memory();
    HG_TRY(wg_arena_alloc(d, WG_LAYOUTS * WG_NOTHING, &d->own.nothing));
    HG_TRY(wg_arena_alloc(d, WG_SCRATCH, &d->own.scratch));
    if (d->own.f16.offered)
        HG_TRY(wg_kernel_create(d, F16, sizeof F16 - 1, 0, 0, &d->own.f16.tried));
    return wg_merge_create(d, &d->own.merge);
}

/* *ready: it is known whether texts with f16 are taken. */
static hg_status try_f16(hg_device *d, bool *ready) {
    if (!d->own.f16.tried) return HG_OK;
    hg_error kept = *hg_error_record();
    d->own.f16.works = wg_kernel_ready(d->own.f16.tried, ready) == HG_OK;
    if (d->own.f16.works && !*ready) return HG_OK;
    if (!d->own.f16.works) *hg_error_record() = kept; /* a refusal is an answer */
    *ready = true;
    wg_kernel_destroy(d->own.f16.tried);
    d->own.f16.tried = NULL;
    size_t length = strlen(d->caps.identity);
    if (d->own.f16.works && length)
        snprintf(d->caps.identity + length, sizeof d->caps.identity - length, " f16");
    return wg_check_lost(d);
}

hg_status wg_device_ready(hg_device *d, bool *ready) {
    *ready = false;
    wg_poll(d);
    hg_mutex_lock(&wg_lock);
    wg_opening opening = d->opening.state;
    hg_mutex_unlock(&wg_lock);
    if (opening == WG_FAILED)
        return wg_fail_said(d, HG_ERROR_BACKEND_UNAVAILABLE, "the device does not open");
    if (opening != WG_OPEN) return HG_OK;
    if (!d->own.merge) {
        d->cpu = d->info.adapter_type == WGPU_ADAPTER_CPU;
        fill_caps(d);
        HG_TRY(finish_opening(d));
    }
    HG_TRY(wg_kernel_ready(d->own.merge, ready));
    return *ready ? try_f16(d, ready) : HG_OK;
}

/* ---- what is left of closed devices ---- */

static hg_device *all_closed; /* of which callbacks are still to come; under the lock */

static void release_handles(hg_device *d) {
    if (d->queue) wg.QueueRelease(d->queue);
    if (d->handle && !d->adopted) {
        wg.DeviceDestroy(d->handle);
        wg.DeviceRelease(d->handle);
    }
    if (d->adapter || d->adopted) wg.AdapterInfoFreeMembers(d->info);
    if (d->adapter) wg.AdapterRelease(d->adapter);
    d->queue = NULL;
    d->handle = NULL;
    d->adapter = NULL;
    d->info = (WGPUAdapterInfo){0};
}

static void free_device(hg_device *d) {
    wg_reads_free(d);
    if (d->handle || d->adapter) release_handles(d); /* that came late */
    hg_mutex_destroy(&d->said.lock);
    hg_free(d);
}

/* Under the lock: frees closed devices whose callbacks have come. */
static void sweep(void) {
    for (hg_device **at = &all_closed; *at;) {
        hg_device *d = *at;
        if (d->asked) {
            at = &d->closed;
            continue;
        }
        *at = d->closed;
        free_device(d);
    }
}

/* ---- opening one ---- */

/* Pretended limits are at least what the device needs for itself. */
static uint64_t pretended(const hg_driver_options *options, const char *word) {
    uint64_t most = hg_pretended_number(options->pretend, word, 0);
    return most && most < 2 * WG_SCRATCH ? 2 * WG_SCRATCH : most;
}

/* Products of four bytes are functions of the language; wgpu-native 29 has them and cannot be
 * asked.
 */
static bool has_dot4(WGPUInstance instance) {
    if (wg_is_native()) return true;
    HG_CALLS_OTHERS;
    hg_mutex_lock(&wg_lock);
    bool has = wg.InstanceHasWGSLLanguageFeature(instance, WGPU_PACKED_4X8);
    hg_mutex_unlock(&wg_lock);
    return has;
}

static hg_status new_device(WGPUInstance instance, const hg_driver_options *options,
                            hg_device **device) {
    hg_device *d = hg_calloc(1, sizeof *d);
    if (!d) return hg_fail_memory();
    d->instance = instance;
    d->opening.most_buffer = pretended(options, "largest-buffer");
    d->opening.most_binding = pretended(options, "largest-binding");
    d->caps.compiler.kir.dot4 = !hg_pretends(options->pretend, "no-dot4") && has_dot4(instance);
    hg_mutex_init(&d->said.lock);
    *device = d;
    return HG_OK;
}

hg_status wg_device_open(uint32_t index, const hg_driver_options *options, hg_device **device) {
    char reason[256] = "";
    hg_device *d = NULL;
    if (!wg_load(reason)) return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "webgpu: %s", reason);
    if (index)
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE,
                       "webgpu has one device, number 0; asked for %u", (unsigned)index);
    if (!wg_instance())
        return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "webgpu: %s makes no instance",
                       wg_library_name());
    HG_TRY(new_device(wg_instance(), options, &d));
    HG_CALLS_OTHERS;
    hg_mutex_lock(&wg_lock);
    sweep();
    ask_adapter(d, wg_is_dawn());
    hg_mutex_unlock(&wg_lock);
    *device = d;
    return HG_OK;
}

/* Of a host's device only a page can be told that it is lost. */
static void tell_lost(hg_device *d) {
#if defined(__wasm__)
    WGPUDeviceLostCallbackInfo lost = {
        .mode = WGPU_ALLOW_PROCESS_EVENTS, .callback = on_lost, .one = d};
    wg.DeviceTellLost(d->handle, lost);
#else
    (void)d;
#endif
}

hg_status wg_device_adopt(const hg_driver_options *options, hg_device **device) {
    const hg_host_device *host = options->host;
    const char *null = !host->context ? "context" : !host->device ? "device" : NULL;
    char reason[256] = "";
    hg_device *d = NULL;
    if (null)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "webgpu: hg_host_device.%s is NULL, expected WGPUInstance and WGPUDevice",
                       null);
    if (!wg_load(reason)) return hg_fail(HG_ERROR_BACKEND_UNAVAILABLE, "webgpu: %s", reason);
    HG_TRY(new_device(host->context, options, &d));
    d->adopted = true;
    d->handle = host->device;
    HG_CALLS_OTHERS;
    hg_mutex_lock(&wg_lock);
    sweep();
    if (host->physical)
        (void)wg.AdapterGetInfo(host->physical, &d->info);
    else if (wg.DeviceGetAdapterInfo)
        (void)wg.DeviceGetAdapterInfo(d->handle, &d->info);
    (void)wg.DeviceGetLimits(d->handle, &d->limits);
    for (uint32_t i = 0; i < f16_numbers(); i++)
        if (wg.DeviceHasFeature(d->handle, F16_NUMBERS[i])) d->own.f16.offered = true;
    d->limits.next = NULL;
    d->queue = wg.DeviceGetQueue(d->handle);
    tell_lost(d);
    d->opening.state = WG_OPEN;
    hg_mutex_unlock(&wg_lock);
    *device = d;
    return HG_OK;
}

/* ---- closing ---- */

static void release_layouts(hg_device *d) {
    for (uint32_t i = 0; i < WG_LAYOUTS; i++) {
        if (d->layouts[i].pipeline) wg.PipelineLayoutRelease(d->layouts[i].pipeline);
        if (d->layouts[i].group) wg.BindGroupLayoutRelease(d->layouts[i].group);
    }
}

/* Callbacks that are still to come lead to the device: all of them come, with a word that they are
 * cancelled at the latest. Until they do, its memory stays. */
static bool await_callbacks(hg_device *d) {
    const uint32_t most = WG_WAITS ? 4000 : 1;
    for (uint32_t i = 0; i < most; i++) {
        hg_mutex_lock(&wg_lock);
        wg.InstanceProcessEvents(d->instance);
        bool none = d->asked == 0;
        hg_mutex_unlock(&wg_lock);
        if (none) return true;
        wg_rest(i);
    }
    return false;
}

void wg_device_close(hg_device *d) {
    hg_error kept = *hg_error_record();
    HG_CALLS_OTHERS;
    wg_kernel_destroy(d->own.merge);
    wg_kernel_destroy(d->own.f16.tried);
    if (d->own.scratch) wg_arena_free(d, d->own.scratch);
    if (d->own.nothing) wg_arena_free(d, d->own.nothing);
    hg_mutex_lock(&wg_lock);
    d->opening.state = WG_CLOSED;
    hg_mutex_unlock(&wg_lock);
    bool quiet = await_callbacks(d);
    hg_mutex_lock(&wg_lock);
    if (d->own.records) {
        wg.BufferDestroy(d->own.records);
        wg.BufferRelease(d->own.records);
    }
    hg_free(d->own.record_bytes);
    wg_reads_free(d);
    release_layouts(d);
    if (quiet || WG_WAITS) { /* a browser's process for all pages would wait for its work */
        release_handles(d);
        wg.InstanceProcessEvents(d->instance); /* that it was destroyed */
    }
    sweep();
    if (quiet) {
        free_device(d);
    } else {
        d->closed = all_closed;
        all_closed = d;
    }
    hg_mutex_unlock(&wg_lock);
    *hg_error_record() = kept;
}
