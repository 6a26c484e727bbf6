/* WebGPU as its user would call it by hand, through the C interface of the library that
 * HOLOGRAM_WEBGPU names: storage buffers, scalars in a uniform buffer, an encoder for each run. It
 * has a device of its own. */
#include "peer.h"
#include "backends/webgpu/webgpu_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCALARS = 256 }; /* from one pass's to the next one's */

struct peer {
    WGPUInstance instance;
    WGPUAdapter adapter;
    WGPUDevice device;
    WGPUQueue queue;
    int waits; /* for a callback */
    int failed;
    /* a workload's */
    WGPUBuffer buffers[PEER_BUFFERS], scalars;
    WGPUBindGroupLayout layout;
    WGPUPipelineLayout layouts;
    WGPUComputePipeline pipeline;
    WGPUBindGroup groups[PEER_PASSES];
    peer_workload work;
};

static void await(peer *p) {
    for (uint32_t i = 0; p->waits; i++) {
        hg_mutex_lock(&wg_lock);
        wg.InstanceProcessEvents(p->instance);
        hg_mutex_unlock(&wg_lock);
        if (p->waits) wg_rest(i);
    }
}

static void on_adapter(uint32_t status, WGPUAdapter adapter, WGPUStringView said, void *one,
                       void *two) {
    peer *p = one;
    (void)status, (void)said, (void)two;
    p->adapter = adapter;
    p->waits = 0;
}
static void on_device(uint32_t status, WGPUDevice device, WGPUStringView said, void *one,
                      void *two) {
    peer *p = one;
    (void)status, (void)said, (void)two;
    p->device = device;
    p->waits = 0;
}
static void on_error(const WGPUDevice *device, uint32_t type, WGPUStringView said, void *one,
                     void *two) {
    char text[WG_SAID];
    (void)device, (void)type, (void)two;
    wg_say(said, text, sizeof text);
    fprintf(stderr, "peer: %s\n", text);
    ((peer *)one)->failed = 1;
}
static void on_done(uint32_t status, WGPUStringView said, void *one, void *two) {
    (void)status, (void)said, (void)two;
    ((peer *)one)->waits = 0;
}

static peer *open_device(uint32_t index, char reason[256]) {
    WGPURequestAdapterOptions options = {.feature_level = WGPU_CORE,
                                         .power_preference = WGPU_HIGH_PERFORMANCE};
    WGPULimits limits = {0};
    peer *p = calloc(1, sizeof *p);
    if (!p || index || !wg_load(reason)) return NULL;
    p->instance = wg_instance();
    p->waits = 1;
    (void)wg.InstanceRequestAdapter(
        p->instance, &options,
        (WGPURequestAdapterCallbackInfo){
            .mode = WGPU_ALLOW_PROCESS_EVENTS, .callback = on_adapter, .one = p});
    await(p);
    snprintf(reason, 256, "no adapter");
    if (!p->adapter) return NULL;
    (void)wg.AdapterGetLimits(p->adapter, &limits);
    limits.next = NULL;
    WGPUDeviceDescriptor descriptor = {.limits = &limits,
                                       .error = {.callback = on_error, .one = p}};
    p->waits = 1;
    (void)wg.AdapterRequestDevice(p->adapter, &descriptor,
                                  (WGPURequestDeviceCallbackInfo){.mode = WGPU_ALLOW_PROCESS_EVENTS,
                                                                  .callback = on_device,
                                                                  .one = p});
    await(p);
    if (!p->device) return NULL;
    p->queue = wg.DeviceGetQueue(p->device);
    return p;
}

static void close_device(peer *p) {
    wg.QueueRelease(p->queue);
    wg.DeviceDestroy(p->device);
    wg.DeviceRelease(p->device);
    wg.AdapterRelease(p->adapter);
    free(p);
}

static WGPUBuffer make_buffer(peer *p, uint64_t bytes, uint64_t use, const void *data) {
    WGPUBufferDescriptor descriptor = {.usage = use | WGPU_USE_COPY_TO | WGPU_USE_COPY_FROM,
                                       .size = bytes};
    WGPUBuffer made = wg.DeviceCreateBuffer(p->device, &descriptor);
    if (made && data) wg.QueueWriteBuffer(p->queue, made, 0, data, bytes);
    return made;
}

static int make_pipeline(peer *p, const peer_workload *w, const char *folder) {
    char path[1024];
    static char text[16384];
    snprintf(path, sizeof path, "%s/%s.wgsl", folder, w->name);
    FILE *f = fopen(path, "rb");
    size_t size = f ? fread(text, 1, sizeof text, f) : 0;
    if (f) fclose(f);
    if (!size) return 0;
    WGPUBindGroupLayoutEntry entries[PEER_BUFFERS + 1];
    memset(entries, 0, sizeof entries);
    for (int i = 0; i <= w->pass_buffers; i++) {
        entries[i].binding = (uint32_t)i;
        entries[i].visibility = WGPU_STAGE_COMPUTE;
        entries[i].buffer.type = i < w->pass_buffers ? WGPU_BIND_STORAGE : WGPU_BIND_UNIFORM;
    }
    WGPUBindGroupLayoutDescriptor group = {.count = (size_t)w->pass_buffers + 1,
                                           .entries = entries};
    p->layout = wg.DeviceCreateBindGroupLayout(p->device, &group);
    WGPUPipelineLayoutDescriptor layouts = {.count = 1, .layouts = &p->layout};
    p->layouts = wg.DeviceCreatePipelineLayout(p->device, &layouts);
    WGPUShaderSourceWGSL source = {.chain = {NULL, WGPU_STYPE_WGSL}, .code = {text, size}};
    WGPUShaderModuleDescriptor module = {.next = &source.chain};
    WGPUComputePipelineDescriptor descriptor = {
        .layout = p->layouts,
        .compute = {.module = wg.DeviceCreateShaderModule(p->device, &module),
                    .entry = wg_text("main")}};
    p->pipeline = wg.DeviceCreateComputePipeline(p->device, &descriptor);
    wg.ShaderModuleRelease(descriptor.compute.module);
    return p->pipeline != NULL;
}

static void bind_pass(peer *p, const peer_workload *w, int pass) {
    WGPUBindGroupEntry entries[PEER_BUFFERS + 1];
    memset(entries, 0, sizeof entries);
    for (int i = 0; i < w->pass_buffers; i++) {
        int buffer = w->passes[pass].buffers[i];
        entries[i] = (WGPUBindGroupEntry){
            .binding = (uint32_t)i, .buffer = p->buffers[buffer], .size = w->bytes[buffer]};
    }
    entries[w->pass_buffers] = (WGPUBindGroupEntry){.binding = (uint32_t)w->pass_buffers,
                                                    .buffer = p->scalars,
                                                    .offset = (uint64_t)pass * SCALARS,
                                                    .size = 16};
    WGPUBindGroupDescriptor descriptor = {
        .layout = p->layout, .count = (size_t)w->pass_buffers + 1, .entries = entries};
    p->groups[pass] = wg.DeviceCreateBindGroup(p->device, &descriptor);
}

static void wait_for_all(peer *p) {
    p->waits = 1;
    (void)wg.QueueOnSubmittedWorkDone(
        p->queue, (WGPUQueueWorkDoneCallbackInfo){
                      .mode = WGPU_ALLOW_PROCESS_EVENTS, .callback = on_done, .one = p});
    await(p);
}

static int prepare(peer *p, const peer_workload *w, const char *folder) {
    p->work = *w;
    p->failed = 0;
    for (int i = 0; i < w->buffer_count; i++)
        p->buffers[i] = make_buffer(p, w->bytes[i], WGPU_USE_STORAGE, w->data[i]);
    p->scalars = make_buffer(p, PEER_PASSES * SCALARS, WGPU_USE_UNIFORM, NULL);
    if (!make_pipeline(p, w, folder)) return 0;
    for (int k = 0; k < w->pass_count; k++) {
        wg.QueueWriteBuffer(p->queue, p->scalars, (uint64_t)k * SCALARS, w->passes[k].scalars, 16);
        bind_pass(p, w, k);
    }
    wait_for_all(p);
    return !p->failed;
}

static void run(peer *p) {
    const peer_workload *w = &p->work;
    WGPUCommandEncoder encoder = wg.DeviceCreateCommandEncoder(p->device, NULL);
    WGPUComputePassEncoder pass = wg.CommandEncoderBeginComputePass(encoder, NULL);
    wg.ComputePassEncoderSetPipeline(pass, p->pipeline);
    for (int k = 0; k < w->pass_count; k++) {
        wg.ComputePassEncoderSetBindGroup(pass, 0, p->groups[k], 0, NULL);
        wg.ComputePassEncoderDispatchWorkgroups(pass, w->passes[k].groups[0],
                                                w->passes[k].groups[1], 1);
    }
    wg.ComputePassEncoderEnd(pass);
    wg.ComputePassEncoderRelease(pass);
    WGPUCommandBuffer commands = wg.CommandEncoderFinish(encoder, NULL);
    wg.CommandEncoderRelease(encoder);
    wg.QueueSubmit(p->queue, 1, &commands);
    wg.CommandBufferRelease(commands);
    wait_for_all(p);
}

static void read_buffer(peer *p, int buffer, void *to, size_t bytes) {
    WGPUBufferDescriptor descriptor = {.usage = WGPU_USE_MAP_READ | WGPU_USE_COPY_TO,
                                       .size = bytes};
    WGPUBuffer landing = wg.DeviceCreateBuffer(p->device, &descriptor);
    WGPUCommandEncoder encoder = wg.DeviceCreateCommandEncoder(p->device, NULL);
    wg.CommandEncoderCopyBufferToBuffer(encoder, p->buffers[buffer], 0, landing, 0, bytes);
    WGPUCommandBuffer commands = wg.CommandEncoderFinish(encoder, NULL);
    wg.CommandEncoderRelease(encoder);
    wg.QueueSubmit(p->queue, 1, &commands);
    wg.CommandBufferRelease(commands);
    p->waits = 1;
    (void)wg.BufferMapAsync(landing, WGPU_MAP_READ, 0, bytes,
                            (WGPUBufferMapCallbackInfo){
                                .mode = WGPU_ALLOW_PROCESS_EVENTS, .callback = on_done, .one = p});
    await(p);
    memcpy(to, wg.BufferGetConstMappedRange(landing, 0, bytes), bytes);
    wg.BufferDestroy(landing);
    wg.BufferRelease(landing);
}

static void release(peer *p) {
    for (int k = 0; k < p->work.pass_count; k++) wg.BindGroupRelease(p->groups[k]);
    wg.ComputePipelineRelease(p->pipeline);
    wg.PipelineLayoutRelease(p->layouts);
    wg.BindGroupLayoutRelease(p->layout);
    for (int i = 0; i < p->work.buffer_count; i++) {
        wg.BufferDestroy(p->buffers[i]);
        wg.BufferRelease(p->buffers[i]);
    }
    wg.BufferDestroy(p->scalars);
    wg.BufferRelease(p->scalars);
}

const peer_api peer_webgpu = {"webgpu", open_device, close_device, prepare,
                              run,      read_buffer, release,      NULL};
