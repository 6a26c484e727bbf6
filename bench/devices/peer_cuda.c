/* CUDA as its user would call it by hand: the driver API and NVRTC, whose functions the library has
 * opened; several passes are a graph. A kernel takes one record: the addresses of its buffers, then
 * its scalars. A .cu file whose first comment begins with "shared: N" wants N bytes of shared
 * memory. */
#include "backends/cuda/cuda_internal.h"
#include "emit/nvrtc.h"
#include "peer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct peer {
    CUcontext context;
    CUdevice device;
    CUstream stream;
    CUmodule module;
    CUfunction function;
    CUgraph graph;
    CUgraphExec passes; /* NULL: there is one */
    uint32_t architecture;
    CUdeviceptr buffers[PEER_BUFFERS];
    unsigned shared;
    peer_workload work;
};

static int tried(const char *call, CUresult error) {
    if (error) fprintf(stderr, "%s: error %d\n", call, error);
    return error == CUDA_SUCCESS;
}
#define TRY(name, ...) tried("cu" #name, cuda.name(__VA_ARGS__))

static peer *open_device(uint32_t index, char reason[256]) {
    int major = 0, minor = 0;
    if (!cuda_load(reason) || !emit_nvrtc_load(reason)) return NULL;
    peer *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    if (TRY(DeviceGet, &p->device, (int)index) && TRY(DeviceGetAttribute, &major, 75, p->device) &&
        TRY(DeviceGetAttribute, &minor, 76, p->device) &&
        TRY(DevicePrimaryCtxRetain, &p->context, p->device) && TRY(CtxPushCurrent, p->context) &&
        TRY(StreamCreate, &p->stream, 1)) {
        p->architecture = emit_nvrtc_architecture((uint32_t)(major * 10 + minor));
        return p;
    }
    snprintf(reason, 256, "no CUDA device %u", (unsigned)index);
    free(p);
    return NULL;
}

static void close_device(peer *p) {
    CUcontext context;
    (void)cuda.StreamDestroy(p->stream);
    (void)cuda.CtxPopCurrent(&context);
    (void)cuda.DevicePrimaryCtxRelease(p->device);
    free(p);
}

static char *read_text(const char *folder, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.cu", folder, name);
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 65536);
    if (!f || !text || fread(text, 1, 65535, f) == 0) {
        free(text);
        text = NULL;
    }
    if (f) fclose(f);
    return text;
}

static int compile(peer *p, const char *name, const char *folder) {
    hg_bytes code = {0};
    char *text = read_text(folder, name);
    if (!text) return 0;
    const emit_nvrtc_request request = {
        .text = text, .name = name, .architecture = p->architecture, .full_language = true};
    hg_status status = emit_nvrtc_compile(&request, &code, NULL);
    if (status != HG_OK) fprintf(stderr, "%s: %s\n", name, hg_last_error_text());
    int ok = status == HG_OK && TRY(ModuleLoadDataEx, &p->module, code.data, 0, NULL, NULL) &&
             TRY(ModuleGetFunction, &p->function, p->module, name);
    p->shared = 0;
    (void)sscanf(text, "/* shared: %u", &p->shared);
    hg_bytes_free(&code);
    free(text);
    return ok;
}

static void launch(peer *p) {
    const peer_workload *w = &p->work;
    for (int k = 0; k < w->pass_count; k++) {
        const peer_pass *pass = &w->passes[k];
        uint64_t record[PEER_BUFFERS + 2];
        void *parameters[] = {record};
        for (int i = 0; i < w->pass_buffers; i++) record[i] = p->buffers[pass->buffers[i]];
        memcpy(record + w->pass_buffers, pass->scalars, sizeof pass->scalars);
        (void)TRY(LaunchKernel, p->function, pass->groups[0], pass->groups[1], 1, pass->group[0],
                  pass->group[1], 1, p->shared, p->stream, parameters, NULL);
    }
}

static int record(peer *p) {
    if (!TRY(StreamBeginCapture, p->stream, 1)) return 0;
    launch(p);
    return TRY(StreamEndCapture, p->stream, &p->graph) &&
           TRY(GraphInstantiate, &p->passes, p->graph, 0);
}

static int prepare(peer *p, const peer_workload *w, const char *folder) {
    p->work = *w;
    if (!compile(p, w->name, folder)) return 0;
    for (int i = 0; i < w->buffer_count; i++) {
        if (!TRY(MemAlloc, &p->buffers[i], w->bytes[i])) return 0;
        if (w->data[i] && !TRY(MemcpyHtoDAsync, p->buffers[i], w->data[i], w->bytes[i], p->stream))
            return 0;
        if (!w->data[i] && !TRY(MemsetD8Async, p->buffers[i], 0, w->bytes[i], p->stream)) return 0;
    }
    return TRY(StreamSynchronize, p->stream) && (w->pass_count == 1 || record(p));
}

static void run(peer *p) {
    if (p->passes)
        (void)TRY(GraphLaunch, p->passes, p->stream);
    else
        launch(p);
    (void)cuda.StreamSynchronize(p->stream);
}

static void copy(peer *p) {
    size_t half = p->work.bytes[0] / 2;
    (void)TRY(MemcpyDtoDAsync, p->buffers[0] + half, p->buffers[0], half, p->stream);
    (void)cuda.StreamSynchronize(p->stream);
}

static void read_buffer(peer *p, int buffer, void *to, size_t bytes) {
    (void)TRY(MemcpyDtoHAsync, to, p->buffers[buffer], bytes, p->stream);
    (void)cuda.StreamSynchronize(p->stream);
}

static void release(peer *p) {
    for (int i = 0; i < p->work.buffer_count; i++)
        if (p->buffers[i]) (void)cuda.MemFree(p->buffers[i]);
    if (p->passes) (void)cuda.GraphExecDestroy(p->passes);
    if (p->graph) (void)cuda.GraphDestroy(p->graph);
    p->passes = NULL;
    p->graph = NULL;
    if (p->module) (void)cuda.ModuleUnload(p->module);
    memset(p->buffers, 0, sizeof p->buffers);
    p->module = NULL;
}

const peer_api peer_cuda = {"cuda", open_device, close_device, prepare,
                            run,    read_buffer, release,      copy};
