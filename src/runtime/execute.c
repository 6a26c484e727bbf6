/* The plan machine: a state machine over plan code (done | waiting | failed). A blocking call drives it and waits on the host whenever the
 * machine waits; on a driver without event_wait that is an error. All state is in hg_run, so the machine could be polled, but nothing does.
 * Must not know: which driver it runs on. */
#include "kir/fault_text.h"
#include "runtime/execute_internal.h"
#include <stdio.h>
#include <string.h>

/* ---- kernels ---- */

static uint64_t env_input(const hg_binding *binding, const kir_input *input) {
    uint64_t value = 0, size = input->limb_bytes ? input->limb_bytes : kir_type_bytes(input->type);
    const uint8_t *bytes = binding->env + input->index + (uint64_t)input->limb * input->limb_bytes;
    memcpy(&value, bytes, size < 8 ? (size_t)size : 8);
    return value;
}

static hg_status prepare_launch(hg_run *run, uint32_t index, hg_driver_launch *launch) {
    hg_binding *binding = run->binding;
    const hg_kernel *kernel = &binding->executable->kernels[index];
    hg_bound_kernel *bound = &binding->kernels[index];
    bool found = false, changed = false;
    if (bound->has_classes || bound->has_state) HG_TRY(hg_binding_use_context(binding, index, run->context, &changed));
    for (uint32_t i = 0; i < kernel->input_count; i++)
        if (kernel->inputs[i].kind == KIR_INPUT_ENV) bound->inputs[i] = env_input(binding, &kernel->inputs[i]);
    for (uint32_t i = 0; i < kernel->slot_count; i++) {
        const kir_slot *slot = &kernel->slots[i];
        uint64_t handle = slot->constant ? slot->handle : bound->inputs[slot->input];
        if (bound->when[i] != HG_SLOT_LATE) continue;
        found = true;
        if (slot->space != KIR_POOL && hg_handle_is_class(handle)) HG_TRY(hg_context_class_memory(run->context, &bound->slots[i]));
        bound->slots[i] = slot->space == KIR_POOL ? hg_run_pool(run, handle) : hg_run_buffer(run, handle);
    }
    if (found && bound->aliases) hg_alias_signature(run->context->backend, bound->slots, kernel->slot_count, bound->aliases);
    hg_binding_fill_launch(binding, index, launch);
    launch->resolve = hg_run_resolve;
    launch->resolve_user = run;
    if (kernel->uses_class || kernel->has_open) HG_TRY(hg_context_class_memory(run->context, &launch->class_memory));
    return kernel->has_open && kernel->prover ? hg_table_update(run) : HG_OK;
}

/* Device forms: the next window of the launch. */
static hg_status next_window(hg_run *run) {
    const hg_binding *binding = run->binding;
    hg_driver_command copy = {.kind = HG_CMD_COPY_OUT, .from = binding->env_copy.range, .host = binding->env};
    bool writes_env = binding->executable->plan->kernels.data[run->kernel].writes.count != 0;
    hg_status status = run->context->backend->caps->asynchronous ? hg_run_new_event(run) : HG_OK;
    if (status == HG_OK) status = hg_dispatch_submit(run->dispatch, run->stream->queue, &copy, writes_env, run->event);
    if (status == HG_OK) return HG_OK;
    hg_dispatch_abandon(run->dispatch);
    run->dispatch = NULL;
    return status;
}

static hg_status start_dispatch(hg_run *run, uint32_t index, uint8_t tier, const hg_driver_launch *launch) {
    hg_submission *d = &run->binding->kernels[index].dispatch;
    bool proven = hg_launch_proven(run->binding, index, launch);
    HG_TRY(hg_dispatch_begin(d, run->binding->executable->kernels[index].code, tier, &run->stream->dispatch, launch, proven, false));
    run->dispatch = d;
    run->kernel = index;
    return next_window(run);
}

static hg_status submit_launch(hg_run *run, uint32_t index, hg_driver_launch *launch) {
    hg_binding *binding = run->binding;
    uint8_t tier;
    HG_TRY(hg_launch_tier(binding, index, run->stream, launch, &tier));
    if (hg_code_in_device_form(binding->executable->kernels[index].code, tier)) return start_dispatch(run, index, tier, launch);
    hg_driver_command commands[2] = {{.kind = HG_CMD_LAUNCH, .launch = launch, .fault = &binding->fault},
                                     {.kind = HG_CMD_COPY_OUT, .from = binding->env_copy.range, .host = binding->env}};
    return hg_run_submit(run, commands, binding->executable->plan->kernels.data[index].writes.count ? 2 : 1);
}

static uint64_t deadline_of(const hg_run *run) {
    return run->deadline_ns ? run->deadline_ns + (run->stream->dispatch.compile_ns - run->compile_ns) : 0;
}

static hg_status run_kernel(hg_run *run, uint32_t index) {
    hg_binding *binding = run->binding;
    hg_driver_launch *launch = &binding->ready;
    HG_TRY(prepare_launch(run, index, launch));
    launch->deadline_ns = deadline_of(run);
    if (binding->executable->plan->kernels.data[index].single_lane && launch->lanes > 1) launch->lanes = 1;
    binding->fault.happened = false;
    uint64_t start = hg_profile_start(run->context->backend->profile);
    hg_status status = submit_launch(run, index, launch);
    if (start) hg_span_kernel(run, index, start);
    return status;
}

static hg_status run_step(hg_run *run, const plan_step *step) {
    hg_profile *profile = run->context->backend->profile;
    uint64_t start = hg_profile_start(profile);
    run->step_bytes = 0;
    hg_status status = hg_run_step(run, step);
    if (start) hg_span_step(run, step, start);
    return status;
}

/* ---- the machine ---- */

static hg_status execute(hg_run *run, const plan_inst *inst) {
    switch ((plan_op)inst->op) {
    case PLAN_KERNEL: run->pc++; return run_kernel(run, inst->index);
    case PLAN_STEP:
        run->pc++;
        run->step++;
        HG_TRY(run_step(run, &run->binding->executable->plan->steps.data[inst->index]));
        run->step++;
        return HG_OK;
    case PLAN_JUMP: run->pc = inst->target; break;
    case PLAN_JUMP_UNLESS: {
        const plan_env *e = &run->binding->executable->plan->env.data[inst->index];
        run->pc = run->binding->env[e->offset] ? run->pc + 1 : inst->target;
        break;
    }
    case PLAN_END: break;
    }
    return HG_OK;
}

static bool over_time(const hg_run *run) { return run->deadline_ns && hg_clock_ns() > deadline_of(run); }

static hg_status timed_out(const hg_run *run) {
    hg_driver_fault fault = {.happened = true, .code = HG_FAULT_TIMEOUT};
    kir_fault_text_timeout(fault.message, sizeof fault.message, run->binding->launch.timeout_ms);
    return hg_report_fault(run->binding->executable, &fault, run->step);
}

/* Goes on until the program ends, fails, or waits for run->event. */
static hg_run_state advance(hg_run *run) {
    const hg_backend *b = run->context->backend;
    const hg_plan *plan = run->binding->executable->plan;
    for (;;) {
        if (run->event) {
            bool done = false;
            run->status = b->driver->event_query(run->event, &done);
            if (run->status != HG_OK) return HG_RUN_FAILED;
            if (!done) return HG_RUN_WAITING;
            b->driver->event_destroy(run->event);
            run->event = NULL;
        }
        if (run->dispatch && hg_dispatch_done(run->dispatch, &run->binding->fault)) {
            run->status = next_window(run);
            if (run->status != HG_OK) return HG_RUN_FAILED;
            continue;
        }
        run->dispatch = NULL;
        if (run->span.start_ns) hg_profile_end(b->profile, &run->span);
        run->span.start_ns = 0;
        if (run->binding->fault.happened) {
            run->status = hg_report_fault(run->binding->executable, &run->binding->fault, run->step);
            return HG_RUN_FAILED;
        }
        const plan_inst *inst = &plan->code.data[run->pc];
        if (inst->op == PLAN_END) return HG_RUN_DONE;
        if (inst->op == PLAN_JUMP && inst->target <= run->pc && over_time(run))
            run->status = timed_out(run);
        else
            run->status = execute(run, inst);
        if (run->status != HG_OK) return HG_RUN_FAILED;
    }
}

static hg_status drive(hg_run *run) {
    const hg_driver *driver = run->context->backend->driver;
    hg_run_state state;
    while ((state = advance(run)) == HG_RUN_WAITING) {
        uint64_t start = hg_profile_start(run->context->backend->profile);
        HG_TRY(hg_driver_wait(driver, run->context->backend->device, run->event));
        if (start) hg_span_wait(run->context->backend, "device", start);
    }
    return state == HG_RUN_DONE ? HG_OK : run->status;
}

/* The deadline of a launch that starts now; 0: none. */
static uint64_t deadline(uint64_t timeout_ms) {
    uint64_t now, span;
    if (!timeout_ms || !hg_mul_u64(timeout_ms, 1000000, &span)) return 0;
    now = hg_clock_ns();
    return span > UINT64_MAX - now ? 0 : now + span;
}

static hg_status run_simple(hg_binding *binding, hg_context *context) {
    const hg_kernel *kernel = &binding->executable->kernels[0];
    hg_bound_kernel *bound = &binding->kernels[0];
    bool changed = false;
    if (bound->has_classes || bound->has_state) HG_TRY(hg_binding_use_context(binding, 0, context, &changed));
    if (kernel->uses_class) HG_TRY(hg_context_class_memory(context, &binding->ready.class_memory));
    if (changed && kernel->prover) (void)hg_launch_proven(binding, 0, &binding->ready);
    uint8_t tier = 0;
    bool dispatches = binding->dispatches;
    if (binding->tiered) {
        HG_TRY(hg_launch_tier(binding, 0, context->main, &binding->ready, &tier));
        dispatches = hg_code_in_device_form(kernel->code, tier);
    }
    if (binding->timed) binding->ready.deadline_ns = deadline(binding->launch.timeout_ms);
    if (dispatches)
        HG_TRY(hg_launch_wait(context->main, &bound->dispatch, kernel, tier, &binding->ready, bound->proven,
                              !changed && !kernel->uses_class, &binding->fault));
    else
        HG_TRY(hg_stream_run(context->main, &binding->command, 1));
    return binding->fault.happened ? hg_report_fault(binding->executable, &binding->fault, 0) : HG_OK;
}

/* Pools of .param lines without a value are zeros at every launch. */
static hg_status clear_memory(hg_run *run) {
    const hg_binding *binding = run->binding;
    for (uint64_t i = 0; i < binding->own_pools.count; i++) {
        hg_driver_command fill = {.kind = HG_CMD_FILL, .to = hg_pool_range(run->context->backend, binding->own_pools.data[i])};
        if (fill.to.arena && fill.to.size) HG_TRY(hg_run_submit(run, &fill, 1));
    }
    hg_driver_command shared = {.kind = HG_CMD_FILL, .to = binding->shared.range};
    return binding->shared.range.arena ? hg_run_submit(run, &shared, 1) : HG_OK;
}

/* What a failure left under way. */
static void end_work(hg_run *run) {
    const hg_driver *driver = run->context->backend->driver;
    if (!run->event && !run->dispatch) return;
    hg_error kept = *hg_error_record();
    /* Copies still use host memory. The error of the run is the one that counts. */
    if (run->event) HG_IGNORE(hg_driver_wait(driver, run->context->backend->device, run->event));
    if (run->event) driver->event_destroy(run->event);
    if (run->dispatch) hg_dispatch_abandon(run->dispatch);
    *hg_error_record() = kept;
}

static hg_status run_plan(hg_binding *binding, hg_context *context) {
    hg_run run = {
        .binding = binding, .context = context, .stream = context->main, .compile_ns = context->main->dispatch.compile_ns, .status = HG_OK};
    const hg_executable *e = binding->executable;
    if (e->kernel_count || !e->plan->is_static) run.deadline_ns = deadline(binding->launch.timeout_ms); /* steps alone end by themselves */
    if (binding->guarded) hg_guard_begin(context->backend);
    if (binding->executable->plan->env_bytes) hg_binding_reset_env(binding);
    hg_status status = binding->launched ? clear_memory(&run) : HG_OK;
    binding->launched = true;
    if (status == HG_OK) status = hg_run_write_env(&run);
    if (status == HG_OK) status = drive(&run);
    end_work(&run);
    hg_run_end_pools(&run, status != HG_OK);
    if (binding->guarded) hg_guard_end(context->backend);
    return status;
}

static hg_status run_binding(hg_binding *binding, hg_context *context) {
    if (binding->launch.lanes == 0) return HG_OK;
    uint64_t start = hg_profile_start(context->backend->profile);
    hg_mutex_lock(&context->lock);
    hg_mutex_lock(&binding->lock);
    if (start) hg_span_wait(context->backend, "context", start);
    binding->fault.happened = false;
    const hg_executable *e = binding->executable;
    hg_status status = e->uses_state ? hg_state_begin(context, e->writes_state) : HG_OK;
    if (status == HG_OK) status = binding->simple ? run_simple(binding, context) : run_plan(binding, context);
    if (start) hg_span_program(binding, start);
    hg_mutex_unlock(&binding->lock);
    hg_mutex_unlock(&context->lock);
    return status;
}

hg_status hg_binding_launch(hg_binding *binding) {
    if (!binding) return hg_null_argument("binding");
    return run_binding(binding, binding->executable->backend->context);
}

hg_status hg_binding_launch_in(hg_binding *binding, hg_context *context) {
    if (!binding) return hg_null_argument("binding");
    if (!context) return hg_null_argument("context");
    if (context->backend != binding->executable->backend)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the context belongs to another backend");
    return run_binding(binding, context);
}
