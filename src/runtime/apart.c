/* Steps beside an exchange between ranks: those that touch none of its arrays.
 * Must not know: who carries it out. */
#include "runtime/execute_internal.h"
#include "runtime/step.h"

static bool overlap(const hg_run *run, const hg_range *a, const hg_range *b) {
    bool same;
    return hg_step_overlap(run->context->backend, a, b, &same);
}

/* Whether a step that is not placed yet touches what the exchange reads and writes. */
static bool touches(hg_run *run, hg_bound_step *s) {
    uint64_t scratch;
    if (!s->collective || s->collective->exchange || hg_step_call(run->binding, s) != HG_OK ||
        s->problem.found)
        return true;
    bool placed = s->state == HG_STEP_PLACED;
    if (placed ? !s->place.stays : hg_step_find_memory(run, s, &scratch) != HG_OK) return true;
    for (uint32_t i = 0; i < s->call.array_count; i++)
        if (overlap(run, &s->place.ranges[i], &run->exchange.to) ||
            (s->call.arrays[i].written && overlap(run, &s->place.ranges[i], &run->exchange.from)))
            return true;
    for (uint32_t i = 0; i < s->place.aside_count; i++) /* whose ranges may be the copies' */
        if (overlap(run, &s->place.asides[i].from, &run->exchange.to)) return true;
    return false;
}

/* The next instruction is a step that touches nothing of it, and knows its arguments; and whether
 * the steps that could be one kernel with it are such ones too. */
bool hg_exchange_is_apart(hg_run *run) {
    const hg_plan *plan = run->binding->executable->plan;
    const plan_inst *inst = &plan->code.data[run->pc];
    if (run->exchange.state != HG_EXCHANGE_FETCHES && run->exchange.state != HG_EXCHANGE_APART)
        return false;
    if (inst->op != PLAN_STEP || (run->binding->env.stale && hg_env_lacks(run, inst))) return false;
    uint32_t end = inst->index + plan->steps.data[inst->index].followers, i = inst->index;
    while (i <= end && i < plan->steps.count && !touches(run, &run->binding->steps.bound[i])) i++;
    run->exchange.parts_chain = i <= end;
    return i > inst->index;
}
