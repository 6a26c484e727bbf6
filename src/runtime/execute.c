/* The plan machine: a state machine over plan code (done | waiting | failed) that goes on whenever
 * somebody polls it. All state is in hg_run; it never waits for the device itself.
 * Must not know: who polls, which driver it runs on. */
#include "kir/fault_text.h"
#include "runtime/chain.h"
#include "runtime/execute_internal.h"
#include <stdio.h>
#include <string.h>

/* ---- kernels ---- */

static uint64_t env_input(const hg_binding *binding, const kir_input *input) {
    uint64_t value = 0, size = input->limb_bytes ? input->limb_bytes : kir_type_bytes(input->type);
    const uint8_t *bytes = binding->env.bytes + input->index +
                           (uint64_t)input->limb * input->limb_bytes;
    memcpy(&value, bytes, size < 8 ? (size_t)size : 8);
    return value;
}

static hg_status prepare_launch(hg_run *run, uint32_t index, hg_driver_launch *launch) {
    hg_binding *binding = run->binding;
    const hg_kernel *kernel = &binding->executable->kernels[index];
    hg_bound_kernel *bound = &binding->kernels[index];
    bool found = false, changed = false;
    if (bound->has_classes || bound->has_state)
        HG_TRY(hg_binding_use_context(binding, index, run->context, &changed));
    for (uint32_t i = 0; i < kernel->input_count; i++)
        if (kernel->inputs[i].kind == KIR_INPUT_ENV)
            bound->inputs[i] = env_input(binding, &kernel->inputs[i]);
    for (uint32_t i = 0; i < kernel->slot_count; i++) {
        const kir_slot *slot = &kernel->slots[i];
        uint64_t handle = slot->constant ? slot->handle : bound->inputs[slot->input];
        if (bound->when[i] != HG_SLOT_LATE) continue;
        found = true;
        if (slot->space != KIR_POOL && hg_handle_is_class(handle))
            HG_TRY(hg_context_class_memory(run->context, &bound->slots[i]));
        bound->slots[i] = slot->space == KIR_POOL ? hg_run_pool(run, handle)
                                                  : hg_run_buffer(run, handle);
    }
    if (found && bound->aliases)
        hg_alias_signature(run->context->backend, bound->slots, kernel->slot_count, bound->aliases);
    hg_binding_fill_launch(binding, index, launch);
    launch->resolve.call = hg_run_resolve;
    launch->resolve.user = run;
    if (kernel->uses_class || kernel->has_open)
        HG_TRY(hg_context_class_memory(run->context, &launch->class_memory));
    bool tabled = kernel->prover || run->context->backend->caps->compiler.open_table;
    if (!kernel->has_open || !tabled) return HG_OK;
    HG_TRY(hg_table_update(run));
    const hg_dispatch_queue *queue = &run->stream->dispatch;
    launch->resolve.table.words = queue->table;
    memcpy(launch->resolve.table.counts, queue->table_counts, sizeof launch->resolve.table.counts);
    launch->resolve.table.arenas = queue->arenas;
    launch->resolve.table.arena_count = queue->arena_count;
    return HG_OK;
}

static hg_status add_launch(hg_run *run, uint32_t index, hg_driver_launch *launch) {
    hg_binding *binding = run->binding;
    const hg_kernel *kernel = &binding->executable->kernels[index];
    hg_driver_command command = {.kind = HG_CMD_LAUNCH, .launch = launch, .fault = &binding->fault};
    if (!hg_code_in_device_form(kernel->code)) return hg_run_add_launch(run, kernel, &command);
    hg_submission *d = &binding->kernels[index].dispatch;
    bool proven = hg_launch_proven(binding, index, launch);
    if (!run->context->backend->caps->scheduling.asynchronous)
        return hg_launch_wait(run->stream, d, kernel, launch, proven, false, &binding->fault);
    hg_run_item *item = hg_vec_push(&run->work.items);
    if (!item) return hg_fail_memory();
    *item = (hg_run_item){.kernel = kernel, .launch = launch, .dispatch = d, .proven = proven};
    return HG_OK;
}

static hg_status run_kernel(hg_run *run, uint32_t index) {
    run->last_step.plan = NULL;
    hg_binding *binding = run->binding;
    hg_driver_launch *launch = &binding->way.one.launch;
    HG_TRY(prepare_launch(run, index, launch));
    launch->deadline_ns = hg_run_deadline(run);
    launch->cancel = run->time.cancel;
    if (binding->executable->plan->kernels.data[index].single_lane && launch->lanes > 1)
        launch->lanes = 1;
    binding->fault.happened = false;
    uint64_t start = hg_profile_start(run->context->backend->profile);
    hg_status status = add_launch(run, index, launch);
    if (status == HG_OK) status = hg_env_after_kernel(run, index);
    if (start) hg_span_kernel(run, index, start);
    return status;
}

/* And the steps behind it that are done with it. */
static hg_status run_step(hg_run *run, const plan_step *step) {
    hg_profile *profile = run->context->backend->profile;
    uint64_t start = hg_profile_start(profile);
    uint32_t done = 0;
    run->last_step.bytes = 0;
    bool chains = (step->followers || step->long_map) && !run->exchange.parts_chain;
    hg_status status = chains ? hg_chain_run(run, step, &done) : HG_OK;
    if (status == HG_OK && !done) status = hg_run_step(run, step);
    if (start) hg_span_step(run, step, done, start);
    if (done > 1) run->pc += done - 1;
    if (done > 1 && status == HG_OK) run->step += 2 * ((uint64_t)done - 1);
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
    case PLAN_COMPUTE:
        run->pc++;
        hg_env_compute(run->binding, inst);
        break;
    case PLAN_JUMP: run->pc = inst->target; break;
    case PLAN_JUMP_UNLESS: {
        const plan_env *e = &run->binding->executable->plan->env.data[inst->index];
        run->pc = run->binding->env.bytes[e->offset] ? run->pc + 1 : inst->target;
        break;
    }
    case PLAN_END: break;
    }
    return HG_OK;
}

/* ---- launches that were added ---- */

/* Not the dispatches of kernels whose windows the host counts: those are submitted one by one. */
static hg_status add_dispatches(hg_run *run, hg_submission *d) {
    do {
        hg_driver_dispatch *dispatch = hg_run_alloc(run, sizeof *dispatch);
        uint64_t *record = hg_run_alloc(run, d->command.record_bytes);
        hg_range *slots = hg_run_alloc(run, d->command.slot_count * sizeof *slots);
        hg_driver_command *command = dispatch && record && slots ? hg_vec_push(&run->work.batch)
                                                                 : NULL;
        hg_kept_code *code = command ? hg_vec_push(&run->work.codes) : NULL;
        if (!code) return hg_fail_memory();
        *code = (hg_kept_code){d->set, d->code};
        hg_code_retain(d->code);
        hg_run_count(run, false, 1 + hg_dispatch_weight(d, HG_FULL_BATCH));
        hg_dispatch_cut(d, dispatch, record, slots);
        *command = (hg_driver_command){.kind = HG_CMD_DISPATCH, .dispatch = dispatch};
    } while (hg_dispatch_step(d));
    return HG_OK;
}

static hg_status submit_window(hg_run *run) {
    const hg_backend *b = run->context->backend;
    HG_TRY(hg_run_submit(run, false)); /* what comes before it */
    if (!run->event) HG_TRY(b->driver->event_create(b->device, &run->event));
    hg_status status = hg_dispatch_submit(run->work.dispatch, run->stream->queue, run->event);
    if (status == HG_OK) run->pending = HG_PENDING_EVENT;
    return status;
}

static void item_done(hg_run *run) {
    hg_run_item *item = &run->work.items.data[run->work.next_item++];
    if (item->owned) {
        hg_dispatch_free(item->dispatch);
        hg_free(item->dispatch);
    }
    item->dispatch = NULL;
    run->work.dispatch = NULL;
    if (run->work.next_item == run->work.items.count)
        run->work.items.count = run->work.next_item = 0;
}

/* *waits: its code is not there yet. */
static hg_status begin_item(hg_run *run, hg_run_item *item, bool *waits) {
    if (!item->dispatch) {
        item->dispatch = hg_calloc(1, sizeof *item->dispatch);
        if (!item->dispatch) return hg_fail_memory();
        item->owned = true;
    }
    HG_TRY(hg_dispatch_begin(item->dispatch, item->kernel->code, &run->stream->dispatch,
                             item->launch, item->proven, false, waits));
    if (*waits) return HG_OK;
    if (!item->launch->deadline_ns)
        hg_dispatch_watch(item->dispatch, hg_run_deadline(run)); /* a step's */
    item->state = HG_ITEM_BEGUN;
    run->work.dispatch = item->dispatch;
    return HG_OK;
}

/* A command, or a launch that is one. */
static hg_status take_command(hg_run *run, const hg_run_item *item) {
    hg_driver_command *command = hg_vec_push(&run->work.batch);
    if (!command) return hg_fail_memory();
    *command = item->command;
    item_done(run);
    return HG_OK;
}

/* The next item becomes a part of the batch, or a window that is waited for. *waits: the run waits
 * for its code. */
static hg_status take_item(hg_run *run, bool *waits) {
    hg_run_item *item = &run->work.items.data[run->work.next_item];
    if (item->kernel && !hg_code_in_device_form(item->kernel->code)) {
        hg_code_state state = hg_code_look_at_all(item->kernel->code);
        *waits = state == HG_CODE_PENDING;
        if (state == HG_CODE_FAILED) return hg_error_record()->status;
        return *waits ? HG_OK : take_command(run, item);
    }
    if (!item->kernel) return take_command(run, item);
    if (item->state == HG_ITEM_ADDED) HG_TRY(begin_item(run, item, waits));
    if (!*waits) HG_TRY(hg_dispatch_prepare(item->dispatch, waits));
    if (*waits) return HG_OK;
    if (item->state == HG_ITEM_COUNTED || hg_dispatch_needs_wait(item->dispatch)) {
        item->state = HG_ITEM_COUNTED;
        return submit_window(run);
    }
    HG_TRY(add_dispatches(run, item->dispatch));
    item_done(run);
    return HG_OK;
}

/* ---- the end ---- */

/* Nothing of the run is under way any more. drain: the events cannot say so, and it is waited for.
 */
static void nothing_is_pending(hg_run *run, bool drain) {
    if (drain) hg_stream_drain(run->stream);
    if (run->pending == HG_PENDING_PLAN) hg_recorded_done(&run->binding->recorded);
    run->pending = HG_PENDING_NOTHING;
}

/* The run fails with the error of this thread, once nothing of it is under way any more. */
static void fail(hg_run *run, hg_status status) {
    if (run->phase == HG_PHASE_FAILING) return;
    run->phase = HG_PHASE_FAILING;
    run->status = status;
    hg_binding_error_origin(run->binding);
    run->error = *hg_error_record();
    if (run->work.dispatch) hg_dispatch_abandon(run->work.dispatch);
    if (run->fold == HG_FOLD_DONE)
        run->context->state_pending = true; /* nobody knows whether it came back */
    while (hg_run_has_work(run)) item_done(run);
    run->work.batch.count = 0;
    if (run->pending == HG_PENDING_UNSIGNALLED && hg_run_submit(run, true) != HG_OK)
        nothing_is_pending(run, true);
}

/* The event is done: what came of it. */
static void look(hg_run *run) {
    nothing_is_pending(run, false);
    run->time.others_ns = 0;
    if (run->work.dispatch && !hg_dispatch_done(run->work.dispatch, &run->binding->fault))
        item_done(run);
    if (hg_run_has_work(run)) return; /* values that the host must see may still come behind it */
    run->work.look = false;
    run->work.weight = 0;
    hg_run_recycle(run);
}

static hg_status check_fault(const hg_run *run) {
    hg_driver_fault *fault = &run->binding->fault;
    if (!fault->happened || run->work.dispatch) return HG_OK;
    if (!run->last_step.plan) return hg_report_fault(run->binding->executable, fault, run->step);
    fault->inst = run->last_step.plan->inst;
    fault->phase = fault->lane = HG_NONE;
    return hg_report_fault(run->binding->executable, fault, run->last_step.number);
}

static hg_status fold_state(hg_run *run) {
    hg_driver_command copy = hg_state_fold_fetched(run->context,
                                                   run->binding->executable->writes_state);
    run->fold = HG_FOLD_DONE;
    return hg_run_add(run, &copy);
}

/* ---- the begin of a binding ---- */

/* Pools of .param lines without a value, and scratch, are zeros at every launch. */
static hg_status clear_memory(hg_run *run) {
    const hg_binding *binding = run->binding;
    for (uint64_t i = 0; i < binding->memory.own_pools.count; i++) {
        hg_driver_command fill = {
            .kind = HG_CMD_FILL,
            .to = hg_pool_range(run->context->backend, binding->memory.own_pools.data[i])};
        if (fill.to.arena && fill.to.size) HG_TRY(hg_run_add(run, &fill));
    }
    for (uint64_t i = 0; i < binding->memory.own_buffers.count; i++) {
        hg_driver_command fill = {
            .kind = HG_CMD_FILL,
            .to = hg_binding_held(binding, false, binding->memory.own_buffers.data[i], false)};
        if (fill.to.arena && fill.to.size) HG_TRY(hg_run_add(run, &fill));
    }
    hg_driver_command shared = {.kind = HG_CMD_FILL, .to = binding->memory.shared.range};
    return binding->memory.shared.range.arena ? hg_run_add(run, &shared) : HG_OK;
}

static hg_status add_upload(hg_run *run, hg_range to, const void *bytes, uint64_t size) {
    hg_driver_command copy = {.kind = HG_CMD_COPY_IN, .to = to, .host = (void *)(uintptr_t)bytes};
    if (!to.arena || !size) return HG_OK;
    copy.to.size = size;
    return hg_run_add(run, &copy);
}

static bool lacks_characters(const hg_backend *b) {
    return hg_atomic_load(&b->characters.left, HG_ACQUIRE) &&
           !hg_atomic_load(&b->characters.there, HG_ACQUIRE);
}

/* Bytes that stay as they are, and that nobody could wait for when their memory was made. */
static hg_status add_uploads(hg_run *run) {
    hg_backend *b = run->context->backend;
    const hg_executable *e = run->binding->executable;
    uint32_t number = 0;
    if (lacks_characters(b)) {
        run->fills.characters = true;
        HG_TRY(add_upload(run, b->characters.piece.range, b->characters.left,
                          b->characters.piece.range.size));
    }
    if (hg_tables_are_filled(e->tables)) return HG_OK;
    run->fills.tables = true;
    for (uint32_t i = 0; i < e->program->param_count; i++) {
        const hg_param *a = &e->program->params[i];
        if (a->kind != HG_PARAM_DATA) continue;
        HG_TRY(add_upload(run, hg_run_buffer(run, hg_tables_handle(e->tables, number++)), a->data,
                          a->data_bytes));
    }
    return HG_OK;
}

/* The device has them: of several programs in a run those of the last. */
static void note_uploads(const hg_run *run) {
    hg_tables *tables = run->binding->executable->tables;
    if (run->fills.characters)
        hg_atomic_store(&run->context->backend->characters.there, 1, HG_RELEASE);
    if (run->fills.tables && tables) hg_tables_note_filled(tables);
}

/* The run comes to the binding's program. */
static hg_status begin(hg_run *run) {
    hg_binding *binding = run->binding;
    binding->fault.happened = false;
    bool clears = binding->launched &&
                  (binding->memory.own_pools.count || binding->memory.own_buffers.count ||
                   binding->memory.shared.range.arena);
    if (binding->guarded || binding->memory.own_pools.count) hg_run_guard(run);
    if (clears) HG_TRY(clear_memory(run));
    if (HG_UNLIKELY(lacks_characters(run->context->backend) ||
                    !hg_tables_are_filled(binding->executable->tables)))
        HG_TRY(add_uploads(run));
    binding->launched = true;
    return hg_env_begin(run);
}

/* Behind the end of a program: the next one of the run, which has as much time again. */
static hg_status begin_next(hg_run *run) {
    run->binding = run->binding->next;
    run->pc = 0;
    run->step = run->last_step.number = 0;
    run->last_step.plan = NULL;
    if (run->time.deadline_ns)
        run->time.deadline_ns += run->binding->launch.timeout_ms * UINT64_C(1000000);
    return begin(run);
}

/* ---- the machine's moves ---- */

/* Commands that no event tells the end of, submitted or not. */
static bool has_unfinished_work(const hg_run *run) {
    return run->work.batch.count || run->pending == HG_PENDING_UNSIGNALLED;
}

static bool is_cancelled(const hg_run *run) {
    return run->time.cancel && hg_atomic_load(run->time.cancel, HG_SEQ_CST);
}

/* What the device does has not ended long after the run's time: since the first look behind it, as
 * a page that has slept has yet to hear what ended meanwhile. */
static bool is_overdue(hg_run *run) {
    enum { LEAVE_AFTER_NS = 1000000000 };
    const uint64_t deadline = hg_run_deadline(run), now = hg_clock_ns();
    if (!deadline || now < deadline)
        run->time.late_ns = 0;
    else if (!run->time.late_ns)
        run->time.late_ns = now;
    return run->time.late_ns && now - run->time.late_ns >= LEAVE_AFTER_NS;
}

/* A device that runs in one order what all queues submit: while it is at others' work, the run's
 * time stands still. */
static void skip_others(hg_run *run) {
    const uint64_t now = hg_clock_ns(),
                   began = run->context->backend->driver->event_began(run->event),
                   until = began && began < now ? began : now;
    if (!run->time.others_ns) run->time.others_ns = now;
    if (until <= run->time.others_ns) return;
    run->stream->dispatch.compile_ns += until - run->time.others_ns;
    run->time.others_ns = until;
    if (run->work.dispatch) hg_dispatch_watch(run->work.dispatch, hg_run_deadline(run));
}

/* One move. *waits: it must wait for the event, or for code. */
static hg_status move(hg_run *run, bool *waits) {
    const hg_driver *driver = run->context->backend->driver;
    const hg_plan *plan = run->binding->executable->plan;
    if (hg_run_awaits_event(run)) {
        bool done = false;
        hg_status status = driver->event_query(run->event, &done);
        if (driver->event_began && status == HG_OK) skip_others(run);
        *waits = status == HG_OK && !done;
        if (*waits && (!driver->device_leave || !is_overdue(run))) return HG_OK;
        if (*waits) {
            driver->device_leave(run->context->backend->device);
            *waits = false;
            status = hg_run_look(run);
        }
        if (status != HG_OK) { /* nobody knows whether it is over */
            hg_error kept = *hg_error_record();
            nothing_is_pending(run, true);
            *hg_error_record() = kept;
            return status;
        }
        look(run);
    }
    if (run->phase == HG_PHASE_FAILING) return HG_OK;
    if (run->phase == HG_PHASE_GOING)
        HG_TRY(check_fault(run)); /* afterwards the binding may be in its next launch */
    if (hg_run_has_work(run)) {
        HG_TRY(take_item(run, waits));
        if (!*waits || !is_cancelled(run)) return HG_OK;
        *waits = false;
        return hg_run_look(run);
    }
    if (run->work.look && has_unfinished_work(run)) return hg_run_submit(run, true);
    if (run->span.start_ns) hg_profile_end(run->context->backend->profile, &run->span);
    run->span.start_ns = 0;
    run->work.look = false;
    if (run->fold == HG_FOLD_FETCHES) return fold_state(run);
    bool apart = run->exchange.state && hg_exchange_is_apart(run);
    if (run->exchange.state && !(apart && run->exchange.state == HG_EXCHANGE_APART))
        return hg_exchange_move(run, apart, waits);
    const plan_inst *inst = &plan->code.data[run->pc];
    if (inst->op == PLAN_END && run->binding->next) {
        HG_TRY(hg_run_look(run));
        return begin_next(run);
    }
    if (inst->op == PLAN_END) {
        run->phase = HG_PHASE_ENDED;
        return has_unfinished_work(run) ? hg_run_submit(run, true) : HG_OK;
    }
    HG_TRY(hg_run_look(run));
    return run->binding->env.stale && hg_env_lacks(run, inst) ? hg_env_fetch(run)
                                                              : execute(run, inst);
}

bool hg_run_is_issued(const hg_run *run) {
    if (run->phase == HG_PHASE_ENDED) return true;
    bool last = hg_run_awaits_event(run) && run->work.dispatch &&
                hg_dispatch_is_last(run->work.dispatch) &&
                run->work.next_item + 1 == run->work.items.count;
    return last && run->phase == HG_PHASE_GOING && !run->binding->next && !run->exchange.state &&
           run->binding->executable->plan->code.data[run->pc].op == PLAN_END;
}

static bool is_over(const hg_run *run) {
    if (hg_run_awaits_event(run) || run->phase == HG_PHASE_GOING) return false;
    return run->phase == HG_PHASE_FAILING || !(has_unfinished_work(run) || hg_run_has_work(run));
}

hg_run_state hg_run_poll(hg_run *run) {
    while (!is_over(run)) {
        bool waits = false;
        hg_status status = move(run, &waits);
        if (waits) return HG_RUN_WAITING;
        if (status != HG_OK) fail(run, status);
    }
    if (run->phase != HG_PHASE_FAILING) return HG_RUN_DONE;
    *hg_error_record() = run->error;
    return HG_RUN_FAILED;
}

/* ---- from start to end ---- */

static hg_status begin_state(hg_run *run) {
    const hg_executable *e = run->binding->executable;
    hg_driver_command copy;
    if (hg_run_is_immediate(run)) return hg_state_begin(run->stream, e->writes_state);
    bool away;
    HG_TRY(hg_state_fetch(run->context, e->writes_state, &copy, &away));
    if (!away) return HG_OK;
    run->fold = HG_FOLD_FETCHES;
    run->work.look = true;
    return hg_run_add(run, &copy);
}

static void start_clock(hg_run *run) {
    run->time.compile_ns = run->stream->dispatch.compile_ns;
    run->time.deadline_ns = hg_binding_deadline(run->binding);
}

void hg_run_start_clock(hg_run *run) {
    if (!run->time.behind) return;
    run->time.behind = false;
    start_clock(run);
    if (run->work.dispatch) hg_dispatch_watch(run->work.dispatch, hg_run_deadline(run));
}

hg_status hg_run_start(hg_run *run, hg_binding *binding, hg_stream *stream) {
    run->binding = binding;
    run->stream = stream;
    run->context = stream->context;
    if (!run->time.behind) start_clock(run);
    hg_status status = binding->executable->uses_state ? begin_state(run) : HG_OK;
    if (status == HG_OK) status = begin(run);
    if (status != HG_OK) fail(run, status);
    return status;
}

static void free_work(hg_run *run) {
    const hg_backend *b = run->context->backend;
    hg_error kept = *hg_error_record();
    if (run->event) b->driver->event_destroy(run->event);
    hg_run_recycle(run);
    hg_vec_free(&run->work.batch);
    hg_vec_free(&run->work.items);
    hg_vec_free(&run->memory.pieces);
    hg_vec_free(&run->work.codes);
    hg_vec_free(&run->fills.made);
    *hg_error_record() = kept;
}

void hg_run_end(hg_run *run) {
    bool failed = run->phase == HG_PHASE_FAILING;
    nothing_is_pending(run, false);
    hg_exchange_end(run);
    if (!failed) note_uploads(run);
    for (uint64_t i = 0; !failed && i < run->fills.made.count; i++)
        hg_atomic_store(&run->fills.made.data[i]->tables_made, 1, HG_RELEASE);
    if (run->event || run->memory.host.chunk || run->work.batch.data || run->work.items.data ||
        run->memory.pieces.data || run->memory.wanted)
        free_work(run);
    hg_run_end_pools(run, failed);
    if (run->guarded) hg_guard_end(run->context->backend);
}

/* Somebody may cancel it while it waits for code. */
enum { LOOK_AGAIN_NS = 5000000 };

void hg_run_wait(hg_run *run) {
    const hg_backend *b = run->context->backend;
    if (hg_run_awaits_ranks(run)) {
        hg_exchange_wait(run);
        return;
    }
    if (hg_run_awaits_event(run)) {
        HG_IGNORE(hg_driver_wait(b->driver, b->device, run->event)); /* the poll sees it */
        return;
    }
    const hg_run_item *item = &run->work.items.data[run->work.next_item];
    uint64_t until = run->time.cancel ? hg_clock_ns() + LOOK_AGAIN_NS : UINT64_MAX;
    if (hg_code_in_device_form(item->kernel->code))
        hg_dispatch_wait(item->dispatch, until);
    else
        HG_IGNORE(hg_code_await_all(item->kernel->code));
}

void hg_run_abandon(hg_run *run) {
    if (!is_over(run)) {
        nothing_is_pending(run, true);
        fail(run, kir_fail_launch(KIR_FAULT_CANCELLED, "cancelled"));
    }
    hg_run_end(run);
}
