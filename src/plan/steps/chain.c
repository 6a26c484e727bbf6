/* Which steps can be one kernel, and the launch of one of maps. */
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

static bool step_fits(const plan_step *step) {
    hg_opname name = kir_step_name(step->info);
    return plan_collective_of((hg_op)step->op) == &plan_collective_map && name != HG_OPNAME_COUNT &&
           plan_map_joins(kir_fn_of_name(name), (hg_type)step->atlas_type);
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

/* The number of an array: of the same one that is there, or a new one. False: it shares memory with
 * another one, or there are too many. */
static bool number_array(plan_group *g, const plan_member_array *a, uint8_t *number) {
    plan_chain *chain = &g->chain;
    for (uint8_t i = 0; i < chain->arrays; i++) {
        plan_relation relation = g->relation(g->owner, g->arrays[i], a->memory);
        *number = i;
        if (relation != PLAN_APART) return relation == PLAN_SAME;
    }
    if (chain->arrays == g->most_arrays) return false;
    g->arrays[chain->arrays] = a->memory;
    chain->types[chain->arrays] = a->type;
    *number = chain->arrays++;
    return true;
}

static bool add_map(plan_group *g, const plan_member *m) {
    plan_chain *chain = &g->chain;
    plan_link link = {.fn = m->fn, .type = m->type, .arrays = m->count};
    uint8_t numbers[1 + PLAN_LINK_INPUTS];
    if (!chain->count && !g->head.of) g->elements = m->arrays[0].elements;
    if (chain->count == PLAN_MOST_LINKS || !g->elements ||
        !plan_map_joins(m->fn, (hg_type)m->type) || m->count != kir_operate_args(m->fn) + 1u)
        return false;
    for (uint8_t i = 0; i < m->count; i++)
        if (m->arrays[i].elements != g->elements || !number_array(g, &m->arrays[i], &numbers[i]) ||
            kir_type_of((hg_type)chain->types[numbers[i]]) != kir_type_of((hg_type)m->type))
            return false;
    link.out = numbers[0];
    memcpy(link.in, numbers + 1, m->count - 1u);
    chain->links[chain->count++] = link;
    return true;
}

/* ---- an instruction among the maps ---- */

/* Which of its arrays the maps in front make, each of whose elements its kernels load once; without
 * maps in front, which they could make. 0: none of them. */
static uint32_t find_made(const plan_group *g, const plan_member *m) {
    if (!g->chain.count) return m->of->loads;
    for (uint32_t i = 1; i < m->count; i++)
        for (uint8_t k = 0; k < g->chain.count && m->arrays[i].once; k++)
            if (m->arrays[i].elements == g->elements &&
                g->relation(g->owner, g->arrays[g->chain.links[k].out], m->arrays[i].memory) ==
                    PLAN_SAME)
                return i;
    return 0;
}

static bool add_head(plan_group *g, const plan_member *m) {
    plan_chain *chain = &g->chain;
    if (g->head.of || !m->of->fuses || !m->arrays[0].elements) return false;
    g->made = find_made(g, m);
    chain->front = chain->count;
    chain->input = PLAN_NO_ARRAY;
    if (chain->count && !g->made) return false;
    if (g->made && (!number_array(g, &m->arrays[g->made], &chain->input) ||
                    chain->types[chain->input] != m->arrays[g->made].type))
        return false;
    if (!number_array(g, &m->arrays[0], &chain->output) ||
        chain->types[chain->output] != m->arrays[0].type)
        return false;
    g->head = *m;
    g->elements = m->arrays[0].elements;
    return true;
}

/* A library program has an array's element in one register, so it has one type for all maps. */
static bool has_types(const plan_chain *chain, const plan_link *link) {
    bool all = chain->types[link->out] == link->type;
    for (uint8_t k = 0; k + 1 < link->arrays; k++)
        all = all && chain->types[link->in[k]] == link->type;
    return all;
}

/* Whether a map writes nothing that the instruction reads, since other lanes may still be about to.
 * It may write an array whose element its lane alone reads: the input where the instruction loads
 * each element once, or where an output may be the same as it; and the output, which the
 * instruction writes anyway. */
static bool leaves_inputs(const plan_group *g, const plan_link *link, bool in_front) {
    const plan_chain *chain = &g->chain;
    bool alone = in_front || g->head.of->overlap == PLAN_OVERLAP_SAME;
    if (link->out == chain->output) return true;
    for (uint32_t i = 1; i < g->head.count; i++)
        if (!(i == g->made && link->out == chain->input && alone) &&
            g->relation(g->owner, g->arrays[link->out], g->head.arrays[i].memory) != PLAN_APART)
            return false;
    return true;
}

/* Whether a map reads nothing that the instruction writes beside its first array. */
static bool leaves_outputs(const plan_group *g, const plan_link *link) {
    for (uint32_t i = 1; i < g->head.count; i++)
        for (uint8_t k = 0; k + 1 < link->arrays && g->head.arrays[i].written; k++)
            if (g->relation(g->owner, g->arrays[link->in[k]], g->head.arrays[i].memory) !=
                PLAN_APART)
                return false;
    return true;
}

static bool goes_with(const plan_group *g, const plan_link *link, bool in_front) {
    bool is_long = plan_is_long(link->fn);
    if (g->takes != PLAN_TAKES_QUICK) return g->takes == PLAN_TAKES_ALL || !is_long;
    return hg_type_size_bytes((hg_type)link->type) > 1 &&
           !(is_long && (in_front || g->head.of->loads));
}

bool plan_group_add(plan_group *g, const plan_member *m) {
    const plan_group before = *g;
    bool is_map = m->of == &plan_collective_map, fits = is_map ? add_map(g, m) : add_head(g, m);
    uint32_t count = g->chain.count;
    for (uint32_t i = is_map ? count - 1u : 0; fits && g->head.of && i < count; i++) {
        const plan_link *link = &g->chain.links[i];
        bool in_front = i < g->chain.front;
        fits = has_types(&g->chain, link) && leaves_inputs(g, link, in_front) &&
               leaves_outputs(g, link) && goes_with(g, link, in_front);
    }
    if (!fits) *g = before;
    return fits;
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
