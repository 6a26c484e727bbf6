/* What the plan machine and its steps share of a run: submissions, the environment on the device, the memory that handles name, and how a
 * fault is reported.
 * Must not know: plan code, steps. */
#include "runtime/run.h"
#include <stdio.h>
#include <string.h>

/* ---- faults ---- */

hg_status hg_report_fault(const hg_executable *e, const hg_driver_fault *fault, uint64_t step) {
    const hg_program *p = e->program;
    hg_status status = hg_fail(HG_ERROR_EXECUTION_FAILED, "%s", fault->message);
    hg_error *record = hg_error_record();
    snprintf(record->code, sizeof record->code, "F%02u", (unsigned)(fault->code % 100));
    record->step = step;
    if (fault->code == HG_FAULT_TIMEOUT) return status;
    record->phase = fault->phase;
    record->lane = fault->lane;
    record->operand = fault->operand ? fault->operand : HG_NONE;
    if (fault->code == KIR_FAULT_BOUNDS) {
        record->offset = fault->offset;
        record->limit = fault->limit;
    }
    if (fault->inst >= p->inst_count) return status;
    record->instruction = fault->inst;
    if (p->lines) {
        record->line = p->lines[fault->inst];
        record->column = p->columns[fault->inst];
    }
    return status;
}

/* ---- submissions ---- */

/* An event for the next submission. One that is still there signals a submission that was not the instruction's last: the queue runs
 * in order, but host memory of copies may change only after them. */
hg_status hg_run_new_event(hg_run *run) {
    const hg_driver *driver = run->context->backend->driver;
    if (!run->event) return driver->event_create(run->context->backend->device, &run->event);
    return hg_driver_wait(driver, run->context->backend->device, run->event);
}

/* Hands commands to the driver. With an event the machine waits for it before the next instruction. */
hg_status hg_run_submit(hg_run *run, const hg_driver_command *commands, uint32_t count) {
    const hg_backend *b = run->context->backend;
    if (b->caps->asynchronous) HG_TRY(hg_run_new_event(run));
    return b->driver->queue_submit(run->stream->queue, commands, count, NULL, 0, run->event);
}

hg_status hg_run_write_env(hg_run *run) {
    hg_binding *binding = run->binding;
    if (!binding->executable->plan->env_bytes || !binding->executable->kernel_count) return HG_OK; /* only kernels read the device's copy */
    hg_driver_command copy = {.kind = HG_CMD_COPY_IN, .to = binding->env_copy.range, .host = binding->env};
    return hg_run_submit(run, &copy, 1);
}

/* ---- memory ---- */

hg_range hg_run_pool(hg_run *run, uint64_t id) {
    for (uint64_t i = 0; i < run->aliases.count; i++)
        if (run->aliases.data[i].id == id) return hg_pool_range(run->context->backend, run->aliases.data[i].handle);
    hg_range held = {NULL, 0, 0};
    if (!run->binding->executable->moves_pools) held = hg_binding_held(run->binding, true, id, false);
    return held.arena ? held : hg_pool_range(run->context->backend, id);
}

/* A buffer that the binding holds is there even when its handle was freed meanwhile. */
hg_range hg_run_buffer(hg_run *run, uint64_t handle) {
    hg_range held = hg_binding_held(run->binding, false, handle, false);
    return held.arena ? held : hg_buffer_range(run->context->backend, run->context, handle);
}

hg_range hg_run_flat(hg_run *run, bool pool, uint64_t index) {
    hg_backend *b = run->context->backend;
    if (index == 0) return pool ? (hg_range){NULL, 0, 0} : hg_buffer_range(b, run->context, 0);
    hg_range held = {NULL, 0, 0};
    if (!pool || !run->binding->executable->moves_pools) held = hg_binding_held(run->binding, pool, index, true);
    if (held.arena) return held;
    return pool ? hg_run_pool(run, hg_handles_at(&b->pools, index)) : hg_buffer_range(b, NULL, hg_handles_at(&b->buffers, index));
}

hg_range hg_run_resolve(void *user, uint64_t handle, bool pool, bool flat) {
    hg_run *run = user;
    if (flat) return hg_run_flat(run, pool, handle);
    return pool ? hg_run_pool(run, handle) : hg_run_buffer(run, handle);
}
