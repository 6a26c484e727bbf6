/* Which maps can be one kernel, and that kernel's launch. */
#include "plan/steps/chain.h"
#include "kir/define/define.h"
#include "plan/steps/tree.h"
#include <string.h>

enum { MOST_BYTES = 8 /* of an element */ };

/* ---- in plans ---- */

bool plan_map_joins(uint16_t fn, hg_type type) {
    return kir_operate_exists(fn, type) && !plan_map_can_fault(fn, type) &&
           kir_operate_args(fn) <= PLAN_LINK_INPUTS && hg_type_size_bytes(type) <= MOST_BYTES;
}

static bool takes(uint16_t op, uint16_t fn, hg_type type) {
    return plan_collective_of((hg_op)op) == &plan_collective_map && plan_map_joins(fn, type);
}

bool plan_chain_takes(const plan_call *call) {
    return takes(call->op, call->fn, (hg_type)call->type) &&
           call->array_count == kir_operate_args(call->fn) + 1u;
}

static bool step_fits(const plan_step *step) {
    hg_opname name = kir_step_name(step->info);
    return name != HG_OPNAME_COUNT &&
           takes(step->op, kir_fn_of_name(name), (hg_type)step->atlas_type);
}

static bool fuses(const plan_step *step) {
    const plan_collective *of = plan_collective_of((hg_op)step->op);
    return of && of->fuses;
}

static bool loads(const plan_step *step) {
    const plan_collective *of = plan_collective_of((hg_op)step->op);
    return of && (of->loads || of->packs);
}

/* Whether a step may be done with the one in front of it. */
static bool may_follow(const plan_step *first, const plan_step *step) {
    if (step_fits(first)) return step_fits(step) || loads(step);
    return fuses(first) && step_fits(step);
}

static void mark_targets(const hg_plan *plan, bool *targets) {
    for (uint64_t i = 0; i < plan->code.count; i++)
        if (plan->code.data[i].op == PLAN_JUMP || plan->code.data[i].op == PLAN_JUMP_UNLESS)
            targets[plan->code.data[i].target] = true;
}

void plan_find_chains(hg_plan *plan) {
    for (uint64_t i = 0; i < plan->steps.count; i++) {
        plan_step *step = &plan->steps.data[i];
        step->long_map = step_fits(step) && plan_is_long(kir_fn_of_name(kir_step_name(step->info)));
    }
    if (plan->steps.count < 2) return;
    bool *targets = hg_calloc(plan->code.count + 1, sizeof *targets);
    if (!targets) return; /* then each is done alone */
    mark_targets(plan, targets);
    for (uint64_t i = plan->code.count; i-- > 1;) {
        const plan_inst *inst = &plan->code.data[i], *before = inst - 1;
        if (inst->op != PLAN_STEP || before->op != PLAN_STEP || targets[i] ||
            plan_waits(plan, inst))
            continue;
        plan_step *step = &plan->steps.data[inst->index], *first = &plan->steps.data[before->index];
        if (step == first + 1 && may_follow(first, step)) first->followers = step->followers + 1;
    }
    hg_free(targets);
}

/* ---- one of them ---- */

static uint8_t same_words(hg_type type) { return kir_type_of(type); }

bool plan_chain_add(plan_chain *chain, const plan_call *call, const uint8_t *numbers) {
    uint32_t inputs = call->array_count - 1u, arrays = chain->arrays;
    if (chain->count == PLAN_MOST_LINKS || inputs > PLAN_LINK_INPUTS) return false;
    for (uint32_t i = 0; i < call->array_count; i++) {
        if (numbers[i] >= PLAN_CHAIN_ARRAYS) return false;
        if (numbers[i] < chain->arrays &&
            same_words((hg_type)chain->types[numbers[i]]) != same_words((hg_type)call->type))
            return false;
        if (numbers[i] >= arrays) arrays = numbers[i] + 1u;
    }
    plan_link *link = &chain->links[chain->count++];
    *link = (plan_link){.fn = call->fn,
                        .type = call->type,
                        .arrays = (uint8_t)call->array_count,
                        .out = numbers[0]};
    for (uint32_t i = 0; i < inputs; i++) link->in[i] = numbers[i + 1];
    for (; chain->arrays < arrays; chain->arrays++) chain->types[chain->arrays] = call->type;
    return true;
}

static bool add_array(plan_chain *chain, uint8_t number, uint8_t type) {
    if (number >= PLAN_CHAIN_ARRAYS || number > chain->arrays) return false;
    if (number < chain->arrays) return chain->types[number] == type;
    chain->types[chain->arrays++] = type;
    return true;
}

bool plan_chain_has_types(const plan_chain *chain) {
    for (uint8_t i = 0; i < chain->count; i++) {
        const plan_link *link = &chain->links[i];
        if (chain->types[link->out] != link->type) return false;
        for (uint8_t k = 0; k + 1 < link->arrays; k++)
            if (chain->types[link->in[k]] != link->type) return false;
    }
    return true;
}

bool plan_chain_add_head(plan_chain *chain, const plan_call *call, uint8_t input, uint8_t output) {
    uint8_t arrays = chain->arrays;
    bool made = chain->count == 0;
    for (uint8_t i = 0; i < chain->count && input != PLAN_NO_ARRAY; i++)
        made = made || chain->links[i].out == input;
    if (!made || (input != PLAN_NO_ARRAY && !add_array(chain, input, call->arrays[1].type)) ||
        !add_array(chain, output, call->arrays[0].type)) {
        chain->arrays = arrays;
        return false;
    }
    chain->front = chain->count;
    chain->input = input;
    chain->output = output;
    return true;
}

void plan_chain_expand(const plan_chain *chain, uint64_t n, plan_expansion *x) {
    plan_kernel_key key = {
        .make = plan_maps_kernel, .type = chain->types[0], .arrays = chain->arrays, .chain = chain};
    plan_part parts[PLAN_CHAIN_ARRAYS];
    for (uint8_t i = 0; i < chain->arrays; i++)
        parts[i] = (plan_part){.array = i,
                               .bytes = n * hg_type_size_bytes((hg_type)chain->types[i])};
    plan_maps_launch(x, &key, chain, n, parts);
}
