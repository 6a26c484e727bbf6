/* Kernels: pipelines out of WGSL, made without waiting where the library does that, and what binds
 * their memory.
 * Must not know: queues. */
#include "backends/webgpu/webgpu_internal.h"
#include "emit/emit.h"
#include <stdio.h>
#include <string.h>

/* ---- layouts ---- */

hg_status wg_layout_get(hg_device *d, uint32_t slots, const wg_layout **layout) {
    WGPUBindGroupLayoutEntry entries[WG_LAYOUTS];
    if (slots > d->caps.compiler.max_bindings)
        return hg_fail(HG_ERROR_EXECUTION_FAILED,
                       "webgpu: a kernel uses %u buffers, the device binds at most %u at once",
                       (unsigned)slots, (unsigned)d->caps.compiler.max_bindings);
    wg_layout *l = &d->layouts[slots];
    *layout = l;
    if (l->pipeline) return HG_OK;
    memset(entries, 0, sizeof entries);
    for (uint32_t i = 0; i <= slots; i++) {
        entries[i].binding = i;
        entries[i].visibility = WGPU_STAGE_COMPUTE;
        entries[i].buffer.type = i < slots ? WGPU_BIND_STORAGE : WGPU_BIND_UNIFORM;
        entries[i].buffer.dynamic_offset = i == slots;
    }
    WGPUBindGroupLayoutDescriptor group = {.count = slots + 1, .entries = entries};
    l->group = wg.DeviceCreateBindGroupLayout(d->handle, &group);
    WGPUPipelineLayoutDescriptor pipeline = {.count = 1, .layouts = &l->group};
    l->pipeline = wg.DeviceCreatePipelineLayout(d->handle, &pipeline);
    return HG_OK;
}

/* ---- pipelines ---- */

static void free_kernel(hg_driver_kernel *k) {
    for (int i = 0; i < WG_BOUND; i++)
        if (k->bound[i].group) wg.BindGroupRelease(k->bound[i].group);
    if (k->pipeline) wg.ComputePipelineRelease(k->pipeline);
    hg_free(k->bound[0].memory); /* of all */
    hg_free(k);
}

/* One callback fewer to come; the last one frees a kernel that is gone. */
static void came(hg_driver_kernel *k) {
    k->device->asked--;
    if (--k->making.asked == 0 && k->making.destroyed) free_kernel(k);
}

static void refuse(hg_driver_kernel *k, WGPUStringView said) {
    if (!k->making.failed) wg_say(said, k->making.said, sizeof k->making.said);
    k->making.failed = true;
}

static void on_scope(uint32_t status, uint32_t type, WGPUStringView said, void *one, void *two) {
    hg_driver_kernel *k = one;
    (void)two;
    if (status != WGPU_STATUS_SUCCESS || type != WGPU_ERROR_NONE) refuse(k, said);
    came(k);
}

static void on_pipeline(uint32_t status, WGPUComputePipeline pipeline, WGPUStringView said,
                        void *one, void *two) {
    hg_driver_kernel *k = one;
    (void)two;
    k->pipeline = pipeline;
    if (status != WGPU_STATUS_SUCCESS || !pipeline) refuse(k, said);
    came(k);
}

static void ask(hg_driver_kernel *k) {
    k->making.asked++;
    k->device->asked++;
}

static void end_scope(hg_driver_kernel *k) {
    WGPUPopErrorScopeCallbackInfo info = {
        .mode = WGPU_ALLOW_PROCESS_EVENTS, .callback = on_scope, .one = k};
    ask(k);
    (void)wg.DevicePopErrorScope(k->device->handle, info);
}

/* Under the lock: what the library refuses, callbacks say. */
static hg_status start(hg_driver_kernel *k, const char *text, size_t length) {
    hg_device *d = k->device;
    const wg_layout *layout;
    WGPUShaderSourceWGSL source = {.chain = {NULL, WGPU_STYPE_WGSL}, .code = {text, length}};
    WGPUShaderModuleDescriptor module = {.next = &source.chain};
    HG_TRY(wg_check_lost(d));
    HG_TRY(wg_layout_get(d, k->slots, &layout));
    wg_scope_begin(d, WGPU_FILTER_VALIDATION);
    WGPUComputePipelineDescriptor descriptor = {
        .layout = layout->pipeline,
        .compute = {.module = wg.DeviceCreateShaderModule(d->handle, &module),
                    .entry = wg_text("main")}};
    if (!wg.DeviceCreateComputePipelineAsync) {
        k->pipeline = wg.DeviceCreateComputePipeline(d->handle, &descriptor);
        end_scope(k);
    } else {
        WGPUCreateComputePipelineAsyncCallbackInfo info = {
            .mode = WGPU_ALLOW_PROCESS_EVENTS, .callback = on_pipeline, .one = k};
        end_scope(k); /* the module's errors, which say where */
        ask(k);
        (void)wg.DeviceCreateComputePipelineAsync(d->handle, &descriptor, info);
    }
    wg.ShaderModuleRelease(descriptor.compute.module);
    return HG_OK;
}

hg_status wg_kernel_create(hg_device *d, const char *text, size_t length, uint32_t slots,
                           uint32_t record_bytes, hg_driver_kernel **kernel) {
    hg_driver_kernel *k = hg_calloc(1, sizeof *k);
    if (!k) return hg_fail_memory();
    *k = (hg_driver_kernel){.device = d, .slots = slots, .record_bytes = record_bytes};
    wg_bound *memory = hg_calloc((slots + (size_t)1) * WG_BOUND, sizeof *memory);
    if (!memory) {
        hg_free(k);
        return hg_fail_memory();
    }
    for (uint32_t i = 0; i < WG_BOUND; i++)
        k->bound[i].memory = memory + (size_t)i * (slots + (size_t)1);
    HG_CALLS_OTHERS;
    hg_mutex_lock(&wg_lock);
    hg_status status = start(k, text, length);
    hg_mutex_unlock(&wg_lock);
    if (status != HG_OK)
        wg_kernel_destroy(k);
    else
        *kernel = k;
    return status;
}

hg_status wg_code_create(hg_device *d, const hg_driver_code *code, hg_driver_kernel **kernel) {
    emit_wgsl_options options = {.group_memory = code->group_memory, .f16 = d->own.f16.works};
    hg_text text = {0};
    memcpy(options.group, code->group, sizeof options.group);
    hg_status status = emit_wgsl(code->module, code->layout, &options, "", &text);
    if (status == HG_OK)
        status = wg_kernel_create(d, text.data, text.length,
                                  kir_device_binding_count(code->layout, code->module),
                                  code->layout->record_bytes, kernel);
    hg_text_free(&text);
    return status;
}

hg_status wg_kernel_ready(hg_driver_kernel *k, bool *ready) {
    wg_poll(k->device);
    hg_mutex_lock(&wg_lock);
    *ready = k->making.asked == 0;
    hg_mutex_unlock(&wg_lock);
    HG_TRY(wg_check_lost(k->device)); /* of which callbacks may stay away */
    if (!*ready) return HG_OK;
    return k->making.failed ? hg_fail(HG_ERROR_INTERNAL, "webgpu: %s refuses a kernel: %s",
                                      wg_library_name(), k->making.said)
                            : HG_OK;
}

void wg_kernel_destroy(hg_driver_kernel *k) {
    if (!k) return;
    HG_CALLS_OTHERS;
    hg_mutex_lock(&wg_lock);
    k->making.destroyed = true;
    if (k->making.asked == 0) free_kernel(k);
    hg_mutex_unlock(&wg_lock);
}

/* ---- what it is bound to ---- */

/* What a slot's binding is: memory of an arena, all of it where no size is given. Slots without
 * memory have a place of their own each, since none may be bound twice. */
static hg_status memory_of(const hg_driver_kernel *k, const hg_range *slots, uint32_t count,
                           uint32_t slot, wg_bound *bound, WGPUBuffer *buffer) {
    const hg_range none = {k->device->own.nothing, (uint64_t)slot * WG_NOTHING, WG_NOTHING};
    hg_range range = slot < count && slots[slot].arena ? slots[slot] : none;
    uint64_t most = k->device->caps.memory.bound_bytes, rest = range.arena->size - range.offset,
             size = range.size && range.size < rest ? range.size : rest, fits = size;
    range.size = size;
    range = wg_arena_part(&range, &fits);
    *bound = (wg_bound){range.arena->number, range.offset, size};
    *buffer = range.arena->buffer;
    if (fits == size && size <= most) return HG_OK;
    return hg_fail(HG_ERROR_ALLOCATION_FAILED,
                   "webgpu: a kernel reaches memory of %llu bytes, the device binds at most %llu "
                   "at once, in one buffer",
                   (unsigned long long)size, (unsigned long long)most);
}

static bool find_bound(hg_driver_kernel *k, const wg_bound *wanted, WGPUBindGroup *group) {
    for (int i = 0; i < WG_BOUND; i++) {
        *group = k->bound[i].group;
        if (*group && memcmp(k->bound[i].memory, wanted, k->slots * sizeof *wanted) == 0)
            return true;
    }
    return false;
}

hg_status wg_kernel_bind(hg_driver_kernel *k, const hg_range *slots, uint32_t count,
                         WGPUBindGroup *group) {
    hg_device *d = k->device;
    WGPUBindGroupEntry entries[WG_LAYOUTS];
    wg_bound memory[WG_LAYOUTS];
    const wg_layout *layout;
    HG_TRY(wg_layout_get(d, k->slots, &layout));
    memset(entries, 0, sizeof entries);
    for (uint32_t i = 0; i < k->slots; i++)
        HG_TRY(memory_of(k, slots, count, i, &memory[i], &entries[i].buffer));
    if (find_bound(k, memory, group)) return HG_OK;
    for (uint32_t i = 0; i < k->slots; i++) {
        entries[i].binding = i;
        entries[i].offset = memory[i].offset;
        entries[i].size = memory[i].size;
    }
    entries[k->slots] = (WGPUBindGroupEntry){
        .binding = k->slots, .buffer = d->own.records, .size = (k->record_bytes + 15) / 16 * 16};
    if (entries[k->slots].size == 0) entries[k->slots].size = 16;
    WGPUBindGroupDescriptor descriptor = {
        .layout = layout->group, .count = k->slots + 1, .entries = entries};
    uint32_t place = k->bound_next++ % WG_BOUND;
    if (k->bound[place].group) wg.BindGroupRelease(k->bound[place].group);
    *group = k->bound[place].group = wg.DeviceCreateBindGroup(d->handle, &descriptor);
    memcpy(k->bound[place].memory, memory, k->slots * sizeof *memory);
    return HG_OK;
}
