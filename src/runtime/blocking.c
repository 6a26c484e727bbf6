/* Launches that are waited for: their ticket in the context, then the one command that the driver
 * has ready, the fast way of a binding with one kernel whose arguments are all known, or the plan
 * machine.
 * Must not know: plan code. */
#include "runtime/chain.h"
#include "runtime/execute_internal.h"

/* ---- ending what is waited for ---- */

static HG_THREAD_LOCAL const volatile int *cancel_word;

const int *hg_thread_cancel_word(const int *word) {
    HG_ENTRY;
    const int *before = (const int *)cancel_word;
    cancel_word = word;
    return before;
}

/* ---- launches that are commands of the driver ---- */

/* Whether the launch that just ended is the one after which the binding is made ready. */
static bool repeats(hg_binding *binding) {
    return binding->way.ready.launches_left && --binding->way.ready.launches_left == 0;
}

/* step: of the plan; of no matter where it has a kernel instead. */
HG_NOINLINE static hg_status report_fault(hg_binding *binding, uint32_t step) {
    const hg_executable *e = binding->executable;
    if (e->kernel_count) return hg_report_fault(e, &binding->fault, 0);
    binding->fault.inst = e->plan->steps.data[step].inst;
    binding->fault.phase = binding->fault.lane = HG_NONE;
    return hg_report_fault(e, &binding->fault, 2 * (uint64_t)step + 1);
}

static hg_status run_ready(hg_binding *binding) {
    const hg_ready_commands *ready = &binding->way.ready;
    binding->fault.happened = false;
    uint8_t i = 0;
    do {
        HG_TRY(ready->commands[i].prepared->run(ready->commands[i].prepared));
        if (HG_UNLIKELY(binding->fault.happened))
            return report_fault(binding, ready->commands[i].step);
    } while (++i < ready->count);
    return HG_OK;
}

HG_NOINLINE static hg_status run_command(hg_binding *binding, hg_stream *stream) {
    hg_one_launch *one = &binding->way.one;
    binding->fault.happened = false;
    one->launch.cancel = cancel_word; /* a launch of a queue had another */
    one->launch.deadline_ns = 0;
    HG_TRY(stream->context->backend->driver->queue_submit(stream->queue, &one->command, 1, NULL, 0,
                                                          NULL));
    if (HG_UNLIKELY(binding->fault.happened)) return report_fault(binding, 0);
    if (repeats(binding)) hg_binding_prepare(binding, &one->command, NULL, 1);
    return HG_OK;
}

/* ---- others ---- */

HG_NOINLINE static hg_status run_kernel(hg_binding *binding, hg_stream *stream) {
    hg_context *context = stream->context;
    const hg_kernel *kernel = &binding->executable->kernels[0];
    hg_bound_kernel *bound = &binding->kernels[0];
    hg_driver_launch *launch = &binding->way.one.launch;
    bool changed = false;
    binding->fault.happened = false;
    launch->cancel = cancel_word;
    if (binding->executable->uses_state)
        HG_TRY(hg_state_begin(stream, binding->executable->writes_state));
    if (bound->has_classes || bound->has_state)
        HG_TRY(hg_binding_use_context(binding, 0, context, &changed));
    if (kernel->uses_class) HG_TRY(hg_context_class_memory(context, &launch->class_memory));
    if (changed && kernel->prover) (void)hg_launch_proven(binding, 0, launch);
    /* A launch of a queue had one. */
    launch->deadline_ns = binding->way.one.needs_clock ? hg_binding_deadline(binding) : 0;
    if (hg_code_in_device_form(kernel->code))
        HG_TRY(hg_launch_wait(stream, &bound->dispatch, kernel, launch, bound->proven,
                              !changed && !kernel->uses_class, &binding->fault));
    else {
        HG_TRY(hg_code_await_all(kernel->code));
        HG_TRY(hg_stream_run(stream, &binding->way.one.command, 1));
    }
    return binding->fault.happened ? hg_report_fault(binding->executable, &binding->fault, 0)
                                   : HG_OK;
}

HG_NOINLINE static hg_status run_plan(hg_binding *binding, hg_stream *stream) {
    const hg_backend *b = stream->context->backend;
    hg_run run;
    hg_run_state state;
    hg_run_init(&run);
    run.time.cancel = cancel_word;
    HG_IGNORE(hg_run_start(&run, binding, stream)); /* a failure is the run's */
    while ((state = hg_run_poll(&run)) == HG_RUN_WAITING) {
        uint64_t start = hg_profile_start(b->profile);
        const char *what = hg_run_awaits_ranks(&run) ? "ranks" : "device";
        hg_run_wait(&run);
        if (start) hg_span_wait(b, what, start);
    }
    hg_run_end(&run);
    if (state == HG_RUN_DONE && repeats(binding)) hg_binding_make_ready(binding);
    return state == HG_RUN_DONE ? HG_OK : run.status;
}

static inline hg_status with_origin(const hg_binding *binding, hg_status status) {
    if (HG_UNLIKELY(status != HG_OK)) hg_binding_error_origin(binding);
    return status;
}

static hg_status submit(hg_binding *binding, hg_stream *stream) {
    switch (binding->way.submitted) {
    case HG_WAY_COMMAND: return with_origin(binding, run_command(binding, stream));
    case HG_WAY_KERNEL: return with_origin(binding, run_kernel(binding, stream));
    case HG_WAY_PLAN:
    case HG_WAY_READY: break;
    }
    return run_plan(binding, stream); /* the run does so */
}

hg_status hg_launch_bound(hg_binding *binding, hg_context *context) {
    if (!binding) return hg_null_argument("binding");
    if (!context) return hg_null_argument("context");
    hg_backend *b = context->backend;
    if (b != binding->executable->backend)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the context belongs to another backend");
    if (binding->launch.lanes == 0) return HG_OK;
    if (!hg_driver_can_block(b->driver, b->caps))
        return hg_driver_would_block(b->driver, "the launch");
    hg_ticket ticket = {.touches = &binding->touches};
    hg_stream *stream;
    uint64_t start = hg_profile_start(b->profile);
    HG_TRY(hg_context_enter(context, &ticket, &stream));
    hg_status status = hg_binding_own(binding, stream);
    if (status == HG_OK) {
        status = HG_LIKELY(binding->way.waited == HG_WAY_READY && !start && !cancel_word)
                     ? with_origin(binding, run_ready(binding))
                     : submit(binding, stream);
        if (start) hg_span_program(binding, start);
        hg_binding_disown(binding);
    }
    hg_context_leave(context, &ticket, stream);
    return status;
}

hg_status hg_binding_launch_in(hg_binding *binding, hg_context *context) {
    HG_ENTRY;
    return hg_launch_bound(binding, context);
}

hg_status hg_binding_launch(hg_binding *binding) {
    HG_ENTRY;
    if (!binding) return hg_null_argument("binding");
    return hg_launch_bound(binding, binding->executable->backend->context);
}
