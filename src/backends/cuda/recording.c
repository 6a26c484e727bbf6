/* Commands recorded once and submitted often: a graph, captured from a stream.
 * Must not know: what the commands do. */
#include "backends/cuda/cuda_internal.h"

enum { NON_BLOCKING = 1, CAPTURE_THREAD_LOCAL = 1 };

struct hg_driver_recording {
    hg_device *device;
    CUgraph graph;
    CUgraphExec executable;
    void *kept; /* records that are no parameters */
};

/* In the device's context. A capture that was begun ends whatever happens. */
static hg_status capture(hg_driver_recording *p, CUstream stream, const hg_driver_command *commands,
                         uint32_t count) {
    CU_TRY(StreamBeginCapture, stream, CAPTURE_THREAD_LOCAL);
    hg_status status = HG_OK;
    for (uint32_t i = 0; i < count && status == HG_OK; i++)
        status = cuda_enqueue(p->device, stream, &commands[i], &p->kept);
    hg_error kept = *hg_error_record();
    CUresult ended = cuda.StreamEndCapture(stream, &p->graph);
    if (status != HG_OK) {
        *hg_error_record() = kept;
        return status;
    }
    HG_TRY(cuda_check("cuStreamEndCapture", ended));
    CU_TRY(GraphInstantiate, &p->executable, p->graph, 0);
    return HG_OK;
}

static hg_status record(hg_driver_recording *p, const hg_driver_command *commands, uint32_t count) {
    CUstream stream = NULL;
    HG_TRY(cuda_enter(p->device));
    hg_status status = cuda_check("cuStreamCreate", CU_CALL(StreamCreate, &stream, NON_BLOCKING));
    if (status == HG_OK) status = capture(p, stream, commands, count);
    if (stream) (void)cuda.StreamDestroy(stream);
    cuda_leave();
    return status;
}

hg_status cuda_recording_create(hg_device *d, const hg_driver_command *commands, uint32_t count,
                                hg_driver_recording **recording) {
    HG_TRY(hg_driver_check_recordable("cuda", &d->caps, commands, count));
    hg_driver_recording *p = hg_calloc(1, sizeof *p);
    if (!p) return hg_fail_memory();
    p->device = d;
    hg_status status = record(p, commands, count);
    if (status != HG_OK)
        cuda_recording_destroy(p);
    else
        *recording = p;
    return status;
}

hg_status cuda_recording_launch(hg_driver_queue *q, hg_driver_recording *p,
                                hg_driver_event *const *waits, uint32_t wait_count,
                                hg_driver_event *signal) {
    return cuda_submit_graph(q, p->executable, waits, wait_count, signal);
}

void cuda_recording_destroy(hg_driver_recording *p) {
    if (!p) return;
    if (cuda.CtxPushCurrent(p->device->context) == CUDA_SUCCESS) {
        if (p->executable) (void)cuda.GraphExecDestroy(p->executable);
        if (p->graph) (void)cuda.GraphDestroy(p->graph);
        cuda_leave();
    }
    cuda_staging_drop(&p->kept);
    hg_free(p);
}
