/* Streams: a driver's queue with its fault records, handle table and event.
 * Must not know: programs, plans. */
#include "runtime/runtime.h"

hg_status hg_stream_create(hg_context *context, hg_stream **stream) {
    hg_backend *b = context->backend;
    hg_stream *s = hg_calloc(1, sizeof *s);
    if (!s) return hg_fail_memory();
    s->context = context;
    s->dispatch.device = &b->dispatch_device;
    hg_status status = b->driver->queue_create(b->device, &s->queue);
    if (status != HG_OK) {
        hg_free(s);
        return status;
    }
    *stream = s;
    return HG_OK;
}

void hg_stream_destroy(hg_stream *s) {
    if (!s) return;
    hg_backend *b = s->context->backend;
    b->driver->queue_destroy(s->queue);
    if (s->event) b->driver->event_destroy(s->event);
    hg_dispatch_queue_close(&s->dispatch);
    hg_piece_free(&b->memory, &s->step_memory);
    hg_free(s);
}

hg_status hg_stream_run(hg_stream *s, const hg_driver_command *commands, uint32_t count) {
    const hg_backend *b = s->context->backend;
    if (!b->caps->asynchronous) return b->driver->queue_submit(s->queue, commands, count, NULL, 0, NULL);
    if (!hg_driver_can_wait(b->driver)) return hg_driver_would_block(b->driver, "a copy");
    if (!s->event) HG_TRY(b->driver->event_create(b->device, &s->event));
    HG_TRY(b->driver->queue_submit(s->queue, commands, count, NULL, 0, s->event));
    return hg_driver_wait(b->driver, b->device, s->event);
}
