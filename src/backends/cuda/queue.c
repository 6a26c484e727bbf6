/* Queues, events, and the commands of a submission. A queue is a stream, and an event an event of
 * CUDA.
 * Must not know: how kernels are made. */
#include "backends/cuda/cuda_internal.h"

enum { NON_BLOCKING = 1, BLOCKING_SYNC = 1, DISABLE_TIMING = 2 };

struct hg_driver_queue {
    hg_device *device;
    CUstream stream;
};
struct hg_driver_event {
    hg_device *device;
    CUevent event;
    bool used; /* something was submitted with it */
};

hg_status cuda_queue_create(hg_device *d, hg_driver_queue **queue) {
    hg_driver_queue *q = hg_calloc(1, sizeof *q);
    if (!q) return hg_fail_memory();
    q->device = d;
    hg_status status = cuda_enter(d);
    if (status == HG_OK) {
        status = cuda_check("cuStreamCreate", CU_CALL(StreamCreate, &q->stream, NON_BLOCKING));
        cuda_leave();
    }
    if (status != HG_OK)
        hg_free(q);
    else
        *queue = q;
    return status;
}

void *cuda_queue_native(hg_driver_queue *q) { return q->stream; }

void cuda_queue_destroy(hg_driver_queue *q) {
    if (!q) return;
    if (cuda.CtxPushCurrent(q->device->context) == CUDA_SUCCESS) {
        (void)cuda.StreamSynchronize(q->stream);
        (void)cuda.StreamDestroy(q->stream);
        cuda_leave();
    }
    hg_free(q);
}

/* ---- commands ---- */

/* Ranges of one arena may overlap; the driver's copies must not. */
static hg_status copy(hg_device *d, CUstream stream, const hg_range *to, const hg_range *from) {
    CUdeviceptr target = to->arena->address + to->offset,
                source = from->arena->address + from->offset, between;
    size_t size = (size_t)to->size;
    if (target == source) return HG_OK;
    if (target >= source + size || source >= target + size) {
        CU_TRY(MemcpyDtoDAsync, target, source, size, stream);
        return HG_OK;
    }
    HG_TRY(cuda_between_alloc(d, stream, size, &between));
    hg_status status = cuda_check("cuMemcpyDtoDAsync",
                                  CU_CALL(MemcpyDtoDAsync, between, source, size, stream));
    if (status == HG_OK)
        status = cuda_check("cuMemcpyDtoDAsync",
                            CU_CALL(MemcpyDtoDAsync, target, between, size, stream));
    cuda_between_free(d, stream, between);
    return status;
}

hg_status cuda_enqueue(hg_device *d, CUstream stream, const hg_driver_command *c, void **kept) {
    switch (c->kind) {
    case HG_CMD_COPY_IN:
        return c->to.size ? cuda_copy_in(d, stream, c->to.arena->address + c->to.offset, c->host,
                                         c->to.size)
                          : HG_OK;
    case HG_CMD_COPY_OUT:
        return c->from.size ? cuda_copy_out(d, stream, c->host,
                                            c->from.arena->address + c->from.offset, c->from.size)
                            : HG_OK;
    case HG_CMD_COPY: return c->to.size ? copy(d, stream, &c->to, &c->from) : HG_OK;
    case HG_CMD_FILL:
        if (c->to.size)
            CU_TRY(MemsetD8Async, c->to.arena->address + c->to.offset, c->value, (size_t)c->to.size,
                   stream);
        return HG_OK;
    case HG_CMD_DISPATCH: return cuda_launch(d, stream, c->dispatch, kept);
    case HG_CMD_STEP: return cuda_step(d, stream, c->step);
    case HG_CMD_LAUNCH: break;
    }
    return hg_fail(HG_ERROR_INTERNAL, "cuda runs dispatches only");
}

/* ---- submissions ---- */

static hg_status begin(hg_driver_queue *q, hg_driver_event *const *waits, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (waits[i]->used) CU_TRY(StreamWaitEvent, q->stream, waits[i]->event, 0);
    return HG_OK;
}

static hg_status end(hg_driver_queue *q, hg_driver_event *signal) {
    if (!signal) return HG_OK;
    CU_TRY(EventRecord, signal->event, q->stream);
    signal->used = true;
    return HG_OK;
}

/* What was begun must not run on in memory that the caller takes back. */
static hg_status finish(hg_driver_queue *q, hg_status status) {
    if (status != HG_OK) {
        hg_error kept = *hg_error_record();
        (void)cuda.StreamSynchronize(q->stream);
        *hg_error_record() = kept;
    }
    cuda_leave();
    return status;
}

hg_status cuda_queue_submit(hg_driver_queue *q, const hg_driver_command *commands, uint32_t count,
                            hg_driver_event *const *waits, uint32_t wait_count,
                            hg_driver_event *signal) {
    HG_TRY(cuda_enter(q->device));
    hg_status status = begin(q, waits, wait_count);
    for (uint32_t i = 0; i < count && status == HG_OK; i++)
        status = cuda_enqueue(q->device, q->stream, &commands[i], NULL);
    if (status == HG_OK) status = end(q, signal);
    return finish(q, status);
}

hg_status cuda_submit_graph(hg_driver_queue *q, CUgraphExec graph, hg_driver_event *const *waits,
                            uint32_t wait_count, hg_driver_event *signal) {
    HG_TRY(cuda_enter(q->device));
    hg_status status = begin(q, waits, wait_count);
    if (status == HG_OK)
        status = cuda_check("cuGraphLaunch", CU_CALL(GraphLaunch, graph, q->stream));
    if (status == HG_OK) status = end(q, signal);
    return finish(q, status);
}

/* ---- events ---- */

hg_status cuda_event_create(hg_device *d, hg_driver_event **event) {
    hg_driver_event *e = hg_calloc(1, sizeof *e);
    if (!e) return hg_fail_memory();
    e->device = d;
    hg_status status = cuda_enter(d);
    if (status == HG_OK) {
        status = cuda_check("cuEventCreate",
                            CU_CALL(EventCreate, &e->event, BLOCKING_SYNC | DISABLE_TIMING));
        cuda_leave();
    }
    if (status != HG_OK)
        hg_free(e);
    else
        *event = e;
    return status;
}

void cuda_event_destroy(hg_driver_event *e) {
    if (!e) return;
    if (cuda.CtxPushCurrent(e->device->context) == CUDA_SUCCESS) {
        (void)cuda.EventDestroy(e->event);
        cuda_leave();
    }
    hg_free(e);
}

hg_status cuda_event_query(hg_driver_event *e, bool *done) {
    *done = e->used;
    if (!e->used) return HG_OK;
    HG_TRY(cuda_enter(e->device));
    CUresult said = CU_CALL(EventQuery, e->event);
    cuda_leave();
    *done = said != CUDA_ERROR_NOT_READY;
    return *done ? cuda_check("cuEventQuery", said) : HG_OK;
}

/* A short launch is over before the system would have put the thread to sleep and woken it. */
enum { SPIN_NS = 100000 };

hg_status cuda_event_wait(hg_driver_event *e) {
    if (!e->used) return HG_OK;
    HG_TRY(cuda_enter(e->device));
    uint64_t until = hg_clock_ns() + SPIN_NS;
    CUresult said;
    do said = cuda.EventQuery(e->event);
    while (said == CUDA_ERROR_NOT_READY && hg_clock_ns() < until);
    hg_status status = said == CUDA_ERROR_NOT_READY
                           ? cuda_check("cuEventSynchronize", CU_CALL(EventSynchronize, e->event))
                           : cuda_check("cuEventQuery", said);
    cuda_leave();
    return status;
}
