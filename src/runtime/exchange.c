/* Whole-array steps between ranks: what came before is done, the host has the arrays, the context's
 * communicator carries the call out while the run waits, and the device has the result. Where the
 * steps behind it touch none of its arrays, the run goes on with them meanwhile.
 * Must not know: communicators, what a collective does beside its kind. */
#include "runtime/execute_internal.h"
#include "runtime/step.h"
#include <string.h>

static const hg_comm_kind KINDS[] = {[PLAN_ALL_REDUCE] = HG_COMM_ALL_REDUCE,
                                     [PLAN_ALL_GATHER] = HG_COMM_ALL_GATHER,
                                     [PLAN_REDUCE_SCATTER] = HG_COMM_REDUCE_SCATTER,
                                     [PLAN_BROADCAST] = HG_COMM_BROADCAST};

uint64_t hg_exchange_least_apart = 4096;

static hg_comm_operation operation_of(const plan_call *call) {
    switch ((hg_op)call->fn) {
    case HG_OP_MIN: return HG_COMM_MIN;
    case HG_OP_MAX: return HG_COMM_MAX;
    case HG_OP_MUL: return HG_COMM_MUL;
    default: return HG_COMM_ADD;
    }
}

uint32_t hg_step_ranks(const hg_context *c, const hg_bound_step *s) {
    return s->collective->exchange && c->ranks.size ? c->ranks.size : 1;
}

/* A call of rank `self` with members that are not all ranks may be one that it has no part in. */
static bool takes_part(const hg_exchange *x, uint32_t self) {
    uint32_t i = 0;
    while (i < x->count && x->members[i] != self) i++;
    return !x->count || i < x->count;
}

/* Where the call's arrays are what the host does not see, they are copied: outputs behind inputs.
 */
static hg_status find_arrays(hg_run *run, hg_bound_step *s) {
    const hg_backend *b = run->context->backend;
    const hg_range *out = &s->place.ranges[0], *in = &s->place.ranges[s->call.array_count - 1];
    hg_comm_call *call = &run->exchange.what.call;
    bool same = in == out;
    call->input = hg_host_address(b, in);
    call->output = hg_host_address(b, out);
    if ((call->input || !in->size) && (call->output || !out->size)) return HG_OK;
    uint8_t *memory = hg_alloc_aligned((size_t)(in->size + (same ? 0 : out->size)), 64);
    if (!memory) return hg_fail_memory();
    run->exchange.memory = memory;
    call->input = memory;
    call->output = same ? memory : memory + in->size;
    hg_driver_command fetch = {.kind = HG_CMD_COPY_OUT, .from = *in, .host = memory};
    return in->size ? hg_run_add(run, &fetch) : HG_OK;
}

hg_status hg_exchange_begin(hg_run *run, hg_bound_step *s) {
    const hg_backend *b = run->context->backend;
    if (!hg_driver_can_block(b->driver, b->caps))
        return hg_driver_would_block(b->driver, "a step between ranks");
    const plan_operand *devices = &s->call.operands[plan_operand_named(&s->call, "devices")];
    run->exchange.what = (hg_exchange){.call = {.size = sizeof(hg_comm_call),
                                                .kind = KINDS[s->collective->exchange],
                                                .operation = operation_of(&s->call),
                                                .type = (hg_type)s->call.type,
                                                .count = plan_named(&s->call, "n")},
                                       .members = devices->words,
                                       .count = devices->count};
    if (s->collective->exchange == PLAN_BROADCAST)
        run->exchange.what.call.peer = (uint32_t)plan_named(&s->call, "root");
    if (!takes_part(&run->exchange.what, run->context->ranks.rank)) return HG_OK;
    HG_TRY(find_arrays(run, s));
    run->exchange.step = s->step;
    run->exchange.number = run->step;
    run->exchange.from = s->place.ranges[s->call.array_count - 1];
    run->exchange.to = s->place.ranges[0];
    run->exchange.may_part = !s->place.aside_count &&
                             run->exchange.to.size >= hg_exchange_least_apart;
    run->exchange.state = HG_EXCHANGE_FETCHES;
    run->work.look = true;
    return HG_OK;
}

/* ---- beside other steps ---- */

/* Without an event the run waits, as for every other exchange. */
static hg_exchange_state begin_apart(hg_run *run, bool apart) {
    const hg_ranks *ranks = &run->context->ranks;
    if (!run->exchange.may_part || !ranks->start || !apart) return HG_EXCHANGE_RUNS;
    run->exchange.what.limit = hg_run_limit(run);
    run->exchange.since_ns = hg_profile_start(run->context->backend->profile);
    return ranks->start(ranks->comm, &run->exchange.what, &run->exchange.event) == HG_OK
               ? HG_EXCHANGE_APART
               : HG_EXCHANGE_RUNS;
}

static hg_status join(hg_run *run) {
    hg_status status = hg_event_wait(run->exchange.event);
    hg_event_release(run->exchange.event);
    run->exchange.event = NULL;
    if (run->exchange.since_ns)
        hg_span_wait(run->context->backend, "ranks, beside others", run->exchange.since_ns);
    return status;
}

/* ---- waiting ---- */

void hg_exchange_wait(hg_run *run) {
    const hg_ranks *ranks = &run->context->ranks;
    if (!run->exchange.event) run->exchange.what.limit = hg_run_limit(run);
    run->exchange.status = run->exchange.event ? join(run)
                                               : ranks->exchange(ranks->comm, &run->exchange.what);
    run->exchange.state = HG_EXCHANGE_STORES;
    if (run->exchange.status == HG_OK) return;
    hg_report_place(run->binding->executable, run->exchange.step->inst, run->exchange.number);
    run->error = *hg_error_record();
}

static hg_status store(hg_run *run) {
    hg_driver_command copy = {
        .kind = HG_CMD_COPY_IN, .to = run->exchange.to, .host = run->exchange.memory};
    run->exchange.state = HG_EXCHANGE_ENDS;
    if (run->exchange.status != HG_OK) {
        *hg_error_record() = run->error;
        return run->exchange.status;
    }
    if (!run->exchange.memory || !copy.to.size) return HG_OK;
    copy.host = run->exchange.what.call.output;
    run->work.look = true;
    return hg_run_add(run, &copy);
}

hg_status hg_exchange_move(hg_run *run, bool apart, bool *waits) {
    switch (run->exchange.state) {
    case HG_EXCHANGE_FETCHES:
        run->exchange.state = begin_apart(run, apart);
        if (run->exchange.state == HG_EXCHANGE_APART) return HG_OK;
        break;
    case HG_EXCHANGE_APART: run->exchange.state = HG_EXCHANGE_JOINS; break;
    case HG_EXCHANGE_RUNS:
    case HG_EXCHANGE_JOINS: break;
    case HG_EXCHANGE_STORES: return store(run);
    case HG_EXCHANGE_ENDS:
    case HG_EXCHANGE_NONE: hg_exchange_end(run); return HG_OK;
    }
    *waits = true;
    return HG_OK;
}

/* Of a run that failed meanwhile too: the others have come to it, and it has a deadline. */
void hg_exchange_end(hg_run *run) {
    if (run->exchange.event) {
        hg_error kept = *hg_error_record();
        HG_IGNORE(join(run));
        *hg_error_record() = kept;
    }
    hg_free_aligned(run->exchange.memory);
    run->exchange.memory = NULL;
    run->exchange.parts_chain = false;
    run->exchange.state = HG_EXCHANGE_NONE;
}
