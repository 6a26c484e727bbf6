/* Kernels in device form run to their end: begin, windows, wait. What the fast path and expanded steps use; the plan machine goes through
 * windows by itself.
 * Must not know: plans, handles. */
#include "runtime/execute_internal.h"

static hg_status run_window(hg_context *context, hg_dispatch *d) {
    const hg_backend *b = context->backend;
    if (!b->caps->asynchronous) return hg_dispatch_submit(d, context->queue, NULL, 0, NULL);
    if (!context->event) HG_TRY(b->driver->event_create(b->device, &context->event));
    HG_TRY(hg_dispatch_submit(d, context->queue, NULL, 0, context->event));
    if (b->driver->event_wait) return b->driver->event_wait(context->event);
    return hg_fail(HG_ERROR_WOULD_BLOCK, "%s cannot wait: use a queue and poll its event", b->driver->name);
}

hg_status hg_launch_wait(hg_context *context, hg_dispatch *d, const hg_kernel *kernel, const hg_driver_launch *launch, bool unchanged,
                         hg_driver_fault *fault) {
    HG_TRY(hg_dispatch_begin(d, kernel->variants, &context->room, launch, false, unchanged));
    do {
        hg_status status = run_window(context, d);
        if (status == HG_OK) continue;
        hg_dispatch_abandon(d);
        return status;
    } while (hg_dispatch_done(d, fault));
    return HG_OK;
}

hg_status hg_launch_only(hg_context *context, const hg_kernel *kernel, const hg_driver_launch *launch, hg_driver_fault *fault) {
    hg_dispatch d = {0};
    hg_status status = hg_dispatch_begin(&d, kernel->variants, &context->room, launch, false, false);
    if (status == HG_OK && !hg_dispatch_needs_wait(&d)) {
        status = hg_dispatch_submit(&d, context->queue, NULL, 0, NULL);
        if (status != HG_OK) hg_dispatch_abandon(&d);
    } else if (status == HG_OK) {
        status = hg_launch_wait(context, &d, kernel, launch, true, fault);
    }
    hg_dispatch_free(&d);
    return status;
}

hg_status hg_launch_kernel(hg_context *context, const hg_kernel *kernel, const hg_driver_launch *launch, hg_driver_fault *fault) {
    hg_driver_command command = {.kind = HG_CMD_LAUNCH, .launch = launch, .fault = fault};
    if (kernel->variants) return hg_launch_only(context, kernel, launch, fault);
    return context->backend->driver->queue_submit(context->queue, &command, 1, NULL, 0, NULL);
}
