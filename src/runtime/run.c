/* What the plan machine and its steps share of a run: submissions, the memory that handles name,
 * and how a fault is reported.
 * Must not know: plan code, steps. */
#include "kir/fault_text.h"
#include "runtime/execute_internal.h"
#include <stdio.h>
#include <string.h>

/* ---- faults ---- */

/* " (instructions at 6:5 and 7:5)", of the lane that came first and of this one. */
static void place_of_race(const hg_program *p, const hg_driver_fault *fault, char *text,
                          size_t size) {
    uint32_t first = fault->other_inst, second = fault->inst;
    text[0] = 0;
    if (first >= p->inst_count || second >= p->inst_count) return;
    if (p->lines)
        snprintf(text, size, " (instructions at %u:%u and %u:%u)", (unsigned)p->lines[first],
                 (unsigned)p->columns[first], (unsigned)p->lines[second],
                 (unsigned)p->columns[second]);
    else
        snprintf(text, size, " (instructions %u and %u)", (unsigned)first, (unsigned)second);
}

void hg_report_place(const hg_executable *e, uint32_t inst, uint64_t step) {
    const hg_program *p = e->program;
    hg_error *record = hg_error_record();
    record->step = step;
    if (inst >= p->inst_count) return;
    record->instruction = inst;
    if (!p->lines) return;
    record->line = p->lines[inst];
    record->column = p->columns[inst];
    if (p->lengths) record->length = p->lengths[inst];
}

hg_status hg_report_fault(const hg_executable *e, const hg_driver_fault *fault, uint64_t step) {
    const hg_program *p = e->program;
    char place[80] = "";
    if (fault->code == KIR_FAULT_RACE) place_of_race(p, fault, place, sizeof place);
    hg_status status = hg_fail(HG_ERROR_EXECUTION_FAILED, "%s%s", fault->message, place);
    hg_error *record = hg_error_record();
    snprintf(record->code, sizeof record->code, "F%02u", (unsigned)(fault->code % 100));
    record->step = step;
    if (kir_fault_is_launch(fault->code)) return status;
    record->phase = fault->phase;
    record->lane = fault->lane;
    record->operand = fault->operand ? fault->operand : HG_NONE;
    if (fault->code == KIR_FAULT_BOUNDS) {
        record->offset = fault->offset;
        record->limit = fault->limit;
    }
    hg_report_place(e, fault->inst, step);
    return status;
}

/* ---- time ---- */

uint64_t hg_run_deadline(const hg_run *run) {
    return run->time.deadline_ns
               ? run->time.deadline_ns + (run->stream->dispatch.compile_ns - run->time.compile_ns)
               : 0;
}

hg_limit hg_run_limit(const hg_run *run) {
    return (hg_limit){.deadline_ns = hg_run_deadline(run),
                      .timeout_ms = run->binding->launch.timeout_ms,
                      .cancel = run->time.cancel};
}

void hg_run_limit_launch(const hg_run *run, hg_driver_launch *launch) {
    launch->deadline_ns = hg_run_is_immediate(run) ? hg_run_deadline(run) : 0;
    launch->timeout_ms = run->binding->launch.timeout_ms;
    launch->cancel = run->time.cancel;
}

hg_status hg_run_look(const hg_run *run) {
    hg_limit limit = hg_run_limit(run);
    hg_driver_fault fault = {.happened = true, .code = KIR_FAULT_CANCELLED, .message = "cancelled"};
    if (!hg_limit_look(&limit)) return HG_OK;
    if (limit.reached == HG_LIMIT_TIME) {
        fault.code = KIR_FAULT_TIMEOUT;
        kir_fault_text_timeout(fault.message, sizeof fault.message, limit.timeout_ms);
    }
    return hg_report_fault(run->binding->executable, &fault, run->step);
}

/* ---- work ---- */

void *hg_run_alloc(hg_run *run, size_t bytes) {
    return hg_arena_alloc(&run->memory.host, bytes ? bytes : 1);
}

hg_status hg_run_scratch(hg_run *run, uint64_t bytes, hg_range *range) {
    hg_stream *s = run->stream;
    hg_suballocator *memory = &run->context->backend->memory;
    uint64_t rounded = bytes <= UINT64_MAX - HG_PIECE_ALIGN
                           ? (bytes + HG_PIECE_ALIGN - 1) / HG_PIECE_ALIGN * HG_PIECE_ALIGN
                           : bytes;
    run->memory.wanted = run->memory.wanted <= UINT64_MAX - rounded ? run->memory.wanted + rounded
                                                                    : UINT64_MAX;
    if (!run->memory.scratch_used && s->step_memory.range.size < rounded) { /* nobody uses it */
        hg_piece_free(memory, &s->step_memory);
        HG_TRY(hg_piece_alloc(memory, rounded, &s->step_memory));
    }
    if (s->step_memory.range.size - run->memory.scratch_used >= rounded) {
        *range = (hg_range){s->step_memory.range.arena,
                            s->step_memory.range.offset + run->memory.scratch_used, bytes};
        run->memory.scratch_used += rounded;
        return HG_OK;
    }
    hg_piece *piece = hg_vec_push(&run->memory.pieces);
    if (!piece) return hg_fail_memory();
    hg_status status = hg_piece_alloc(memory, bytes, piece);
    if (status != HG_OK) run->memory.pieces.count--;
    *range = piece->range;
    return status;
}

void hg_run_recycle(hg_run *run) {
    hg_suballocator *memory = &run->context->backend->memory;
    if (run->memory.host.chunk) hg_arena_free(&run->memory.host);
    for (uint64_t i = 0; i < run->memory.pieces.count; i++)
        hg_piece_free(memory, &run->memory.pieces.data[i]);
    /* One piece for all of it next time; without it pieces serve again. */
    if (run->memory.wanted > run->stream->step_memory.range.size &&
        run->memory.wanted <= UINT32_MAX) {
        hg_error kept = *hg_error_record();
        hg_piece_free(memory, &run->stream->step_memory);
        if (hg_piece_alloc(memory, run->memory.wanted, &run->stream->step_memory) != HG_OK)
            *hg_error_record() = kept;
    }
    for (uint64_t i = 0; i < run->work.codes.count; i++)
        hg_code_release(run->work.codes.data[i].set, run->work.codes.data[i].code);
    run->memory.pieces.count = run->work.codes.count = 0;
    run->memory.scratch_used = run->memory.wanted = 0;
}

/* Whether a command only moves bytes, in any order. */
static bool is_plain_copy(const hg_driver_command *c) {
    const hg_range *to = &c->to, *from = &c->from;
    if (c->kind == HG_CMD_FILL) return true;
    return c->kind == HG_CMD_COPY &&
           (to->arena != from->arena || to->offset >= from->offset + to->size ||
            from->offset >= to->offset + to->size);
}

/* Done at once: of large copies one piece after another, as long as there is time. */
static hg_status do_now(hg_run *run, const hg_driver_command *c) {
    const uint64_t most = UINT64_C(16) << 20, size = c->to.size;
    const hg_driver *driver = run->context->backend->driver;
    if (size <= most || !is_plain_copy(c))
        return driver->queue_submit(run->stream->queue, c, 1, NULL, 0, NULL);
    for (uint64_t at = 0; at < size; at += most) {
        hg_driver_command piece = *c;
        piece.to.offset += at;
        piece.from.offset += at;
        piece.to.size = piece.from.size = size - at < most ? size - at : most;
        HG_TRY(hg_run_look(run));
        HG_TRY(driver->queue_submit(run->stream->queue, &piece, 1, NULL, 0, NULL));
    }
    return HG_OK;
}

hg_status hg_run_add(hg_run *run, const hg_driver_command *c) {
    if (hg_run_is_immediate(run)) return do_now(run, c);
    if (hg_run_has_work(run)) {
        hg_run_item *item = hg_vec_push(&run->work.items);
        if (!item) return hg_fail_memory();
        item->command = *c;
    } else {
        hg_driver_command *next = hg_vec_push(&run->work.batch);
        if (!next) return hg_fail_memory();
        *next = *c;
    }
    hg_run_count(run, c->fault != NULL, 1);
    return HG_OK;
}

hg_status hg_run_add_launch(hg_run *run, const hg_kernel *kernel,
                            const hg_driver_command *command) {
    if (hg_code_look_at_all(kernel->code) == HG_CODE_READY) return hg_run_add(run, command);
    if (hg_run_is_immediate(run)) {
        HG_TRY(hg_code_await_all(kernel->code));
        return hg_run_add(run, command);
    }
    hg_run_item *item = hg_vec_push(&run->work.items);
    if (!item) return hg_fail_memory();
    *item = (hg_run_item){.kernel = kernel, .command = *command};
    hg_run_count(run, command->fault != NULL, 1);
    return HG_OK;
}

hg_status hg_run_launch(hg_run *run, const hg_kernel *kernel, const hg_driver_launch *launch) {
    hg_driver_command command = {
        .kind = HG_CMD_LAUNCH, .launch = launch, .fault = &run->binding->fault};
    if (!hg_code_in_device_form(kernel->code)) return hg_run_add_launch(run, kernel, &command);
    if (hg_run_is_immediate(run))
        return hg_launch_only(run->stream, kernel, launch, true, &run->binding->fault);
    hg_run_item *item = hg_vec_push(&run->work.items);
    if (!item) return hg_fail_memory();
    *item = (hg_run_item){.kernel = kernel, .launch = launch, .proven = true};
    return HG_OK;
}

/* What the host gives anew each time comes first, and the driver cannot record it. */
static uint32_t leading_copies(const hg_run *run) {
    uint32_t count = 0;
    while (count < run->work.batch.count && run->work.batch.data[count].kind == HG_CMD_COPY_IN)
        count++;
    return count;
}

static hg_status submit_commands(hg_run *run, bool signal) {
    const hg_driver *driver = run->context->backend->driver;
    HG_TRY(driver->queue_submit(run->stream->queue, run->work.batch.data,
                                (uint32_t)run->work.batch.count, NULL, 0,
                                signal ? run->event : NULL));
    run->pending = signal ? HG_PENDING_EVENT : HG_PENDING_UNSIGNALLED;
    return HG_OK;
}

/* One launch of a recording is in flight at a time: only what is waited for may be one. */
static hg_status hand_over(hg_run *run, bool signal) {
    const hg_backend *b = run->context->backend;
    hg_recorded *recorded = &run->binding->recorded;
    hg_driver_queue *queue = run->stream->queue;
    const hg_driver_command *commands = run->work.batch.data;
    uint32_t count = (uint32_t)run->work.batch.count, first = signal ? leading_copies(run) : 0;
    if (!signal ||
        !hg_recorded_find(recorded, b->driver, b->device, commands + first, count - first))
        return submit_commands(run, signal);
    if (first) {
        HG_TRY(b->driver->queue_submit(queue, commands, first, NULL, 0, NULL));
        run->pending = HG_PENDING_UNSIGNALLED;
    }
    HG_TRY(b->driver->recording_launch(queue, recorded->repeated.recording, NULL, 0, run->event));
    hg_recorded_launched(recorded);
    run->pending = HG_PENDING_PLAN;
    return HG_OK;
}

hg_status hg_run_submit(hg_run *run, bool signal) {
    const hg_backend *b = run->context->backend;
    if (hg_run_is_immediate(run)) return HG_OK;
    if (signal && !run->event) HG_TRY(b->driver->event_create(b->device, &run->event));
    if (!run->work.batch.count && !signal) return HG_OK;
    HG_TRY(hand_over(run, signal));
    run->work.batch.count = 0;
    return HG_OK;
}

/* ---- memory ---- */

hg_range hg_run_pool(hg_run *run, uint64_t id) {
    id = hg_handle_plain(run->context->backend, id);
    for (uint64_t i = 0; i < run->pools.aliases.count; i++)
        if (run->pools.aliases.data[i].id == id)
            return hg_pool_range(run->context->backend, run->pools.aliases.data[i].handle);
    hg_range held = {NULL, 0, 0};
    if (!run->binding->executable->moves_pools)
        held = hg_binding_held(run->binding, true, id, false);
    return held.arena ? held : hg_pool_range(run->context->backend, id);
}

/* A buffer that the binding holds is there even when its handle was freed meanwhile. */
hg_range hg_run_buffer(hg_run *run, uint64_t handle) {
    handle = hg_handle_plain(run->context->backend, handle);
    hg_range held = hg_binding_held(run->binding, false, handle, false);
    return held.arena ? held : hg_buffer_range(run->context->backend, run->context, handle);
}

hg_range hg_run_flat(hg_run *run, bool pool, uint64_t index) {
    hg_backend *b = run->context->backend;
    if (index == 0) return pool ? (hg_range){NULL, 0, 0} : hg_buffer_range(b, run->context, 0);
    hg_range held = {NULL, 0, 0};
    if (!pool || !run->binding->executable->moves_pools)
        held = hg_binding_held(run->binding, pool, index, true);
    if (held.arena) return held;
    return pool ? hg_run_pool(run, hg_handles_at(&b->pools, index))
                : hg_buffer_range(b, NULL, hg_handles_at(&b->buffers, index));
}

hg_range hg_run_resolve(void *user, uint64_t handle, bool pool, bool flat) {
    hg_run *run = user;
    if (flat) return hg_run_flat(run, pool, handle);
    return pool ? hg_run_pool(run, handle) : hg_run_buffer(run, handle);
}
