/* Queues, events, and the commands of a submission. A queue of ours is an in-order queue of OpenCL.
 * Must not know: how kernels are made. */
#include "backends/opencl/opencl_internal.h"
#include <string.h>

#if defined(HG_OPENCL_HEADERS)

struct hg_driver_queue {
    hg_device *device;
    cl_command_queue queue;
};
struct hg_driver_event {
    cl_event event; /* NULL: nothing was submitted with it yet */
};

hg_status opencl_queue_create(hg_device *device, hg_driver_queue **queue) {
    hg_driver_queue *q = hg_calloc(1, sizeof *q);
    cl_int error;
    if (!q) return hg_fail_memory();
    q->device = device;
    q->queue = CL_MAKE(error, CreateCommandQueue, device->context, device->id, 0);
    if (error == CL_SUCCESS) {
        *queue = q;
        return HG_OK;
    }
    hg_free(q);
    return opencl_check("clCreateCommandQueue", error);
}

void *opencl_queue_native(hg_driver_queue *q) { return q->queue; }

void opencl_queue_destroy(hg_driver_queue *q) {
    if (!q) return;
    opencl.Finish(q->queue);
    opencl.ReleaseCommandQueue(q->queue);
    hg_free(q);
}

/* ---- copies ---- */

static hg_status copy(hg_driver_queue *q, const hg_range *to, const hg_range *from,
                      cl_event *event) {
    size_t size = (size_t)to->size, at = (size_t)to->offset, source = (size_t)from->offset;
    bool overlap = to->arena == from->arena && at < source + size && source < at + size;
    if (overlap && at == source) return HG_OK;
    if (!overlap) {
        CL_TRY(EnqueueCopyBuffer, q->queue, from->arena->memory, to->arena->memory, source, at,
               size, 0, NULL, event);
        return HG_OK;
    }
    cl_int error;
    cl_mem between = CL_MAKE(error, CreateBuffer, q->device->context, CL_MEM_READ_WRITE, size,
                             NULL);
    HG_TRY(opencl_check("clCreateBuffer", error));
    error = CL_CALL(EnqueueCopyBuffer, q->queue, from->arena->memory, between, source, 0, size, 0,
                    NULL, NULL);
    if (error == CL_SUCCESS)
        error = CL_CALL(EnqueueCopyBuffer, q->queue, between, to->arena->memory, 0, at, size, 0,
                        NULL, event);
    opencl.ReleaseMemObject(between); /* it goes when the copies are over */
    return opencl_check("clEnqueueCopyBuffer", error);
}

static hg_status fill(hg_driver_queue *q, const hg_range *to, uint8_t value, cl_event *event) {
    uint8_t pattern[16];
    size_t size = to->offset % sizeof pattern || to->size % sizeof pattern ? 1 : sizeof pattern;
    memset(pattern, value, sizeof pattern);
    CL_TRY(EnqueueFillBuffer, q->queue, to->arena->memory, pattern, size, (size_t)to->offset,
           (size_t)to->size, 0, NULL, event);
    return HG_OK;
}

/* ---- submissions ---- */

/* Appends one command. event may be NULL; it stays NULL when the command has none of its own. */
static hg_status enqueue(hg_driver_queue *q, const hg_driver_command *c, cl_event *event) {
    cl_command_queue queue = q->queue;
    switch (c->kind) {
    case HG_CMD_COPY_IN:
        if (c->to.size)
            CL_TRY(EnqueueWriteBuffer, queue, c->to.arena->memory, CL_FALSE, (size_t)c->to.offset,
                   (size_t)c->to.size, c->host, 0, NULL, event);
        return HG_OK;
    case HG_CMD_COPY_OUT:
        if (c->from.size)
            CL_TRY(EnqueueReadBuffer, queue, c->from.arena->memory, CL_FALSE,
                   (size_t)c->from.offset, (size_t)c->from.size, c->host, 0, NULL, event);
        return HG_OK;
    case HG_CMD_COPY: return c->to.size ? copy(q, &c->to, &c->from, event) : HG_OK;
    case HG_CMD_FILL: return c->to.size ? fill(q, &c->to, c->value, event) : HG_OK;
    case HG_CMD_DISPATCH: return opencl_enqueue(q->device, queue, c->dispatch, event);
    case HG_CMD_LAUNCH:
    case HG_CMD_STEP: break;
    }
    return hg_fail(HG_ERROR_INTERNAL, "opencl runs dispatches only");
}

enum { WAITS_ON_STACK = 16 };

static hg_status enqueue_waits(hg_driver_queue *q, hg_driver_event *const *waits, uint32_t count) {
    cl_event few[WAITS_ON_STACK],
        *events = count > WAITS_ON_STACK ? hg_calloc(count, sizeof(cl_event)) : few;
    cl_uint real = 0;
    if (!events) return hg_fail_memory();
    for (uint32_t i = 0; i < count; i++)
        if (waits[i]->event) events[real++] = waits[i]->event;
    cl_int error = real ? CL_CALL(EnqueueBarrierWithWaitList, q->queue, real, events, NULL)
                        : CL_SUCCESS;
    if (events != few) hg_free(events);
    return opencl_check("clEnqueueBarrierWithWaitList", error);
}

static hg_status enqueue_all(hg_driver_queue *q, const hg_driver_command *commands, uint32_t count,
                             hg_driver_event *const *waits, uint32_t wait_count,
                             hg_driver_event *signal) {
    cl_event last = NULL;
    hg_status status = enqueue_waits(q, waits, wait_count);
    for (uint32_t i = 0; i < count && status == HG_OK; i++)
        status = enqueue(q, &commands[i], signal && i + 1 == count ? &last : NULL);
    if (status == HG_OK && signal && !last)
        status = opencl_check("clEnqueueMarkerWithWaitList",
                              CL_CALL(EnqueueMarkerWithWaitList, q->queue, 0, NULL, &last));
    if (status == HG_OK) status = opencl_check("clFlush", CL_CALL(Flush, q->queue));
    if (status == HG_OK && signal) {
        if (signal->event) opencl.ReleaseEvent(signal->event);
        signal->event = last;
    } else if (last) {
        opencl.ReleaseEvent(last);
    }
    return status;
}

hg_status opencl_queue_submit(hg_driver_queue *q, const hg_driver_command *commands, uint32_t count,
                              hg_driver_event *const *waits, uint32_t wait_count,
                              hg_driver_event *signal) {
    hg_status status = enqueue_all(q, commands, count, waits, wait_count, signal);
    if (status == HG_OK) return HG_OK;
    hg_error kept = *hg_error_record(); /* what was begun must not run on in memory that the caller
                                           takes back */
    opencl.Finish(q->queue);
    *hg_error_record() = kept;
    return status;
}

/* ---- events ---- */

hg_status opencl_event_create(hg_device *device, hg_driver_event **event) {
    (void)device;
    *event = hg_calloc(1, sizeof **event);
    return *event ? HG_OK : hg_fail_memory();
}

void opencl_event_destroy(hg_driver_event *e) {
    if (!e) return;
    if (e->event) opencl.ReleaseEvent(e->event);
    hg_free(e);
}

hg_status opencl_event_query(hg_driver_event *e, bool *done) {
    cl_int state = CL_COMPLETE;
    *done = e->event != NULL;
    if (!e->event) return HG_OK;
    cl_int error = CL_CALL(GetEventInfo, e->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
                           &state, NULL);
    HG_TRY(opencl_check("clGetEventInfo", error));
    *done = state == CL_COMPLETE || state < 0;
    return state < 0 ? opencl_check("a command of the queue", state) : HG_OK;
}

hg_status opencl_event_wait(hg_driver_event *e) {
    bool done;
    if (!e->event) return HG_OK;
    cl_int error = CL_CALL(WaitForEvents, 1, &e->event);
    if (error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        return opencl_event_query(e, &done); /* which error */
    return opencl_check("clWaitForEvents", error);
}

#endif
