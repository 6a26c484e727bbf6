/* Types through registers: the fixed point (see flow.h).
 * Requires: hg_cfg_build. Provides: states at block starts; reads, leaves and predicates of every function. */
#include "isa/flow.h"

#include <string.h>

static bool is_type(uint8_t v) { return v < HG_TYPE_COUNT; }
static bool is_maybe(uint8_t v) { return v >= FLOW_MAYBE && v < FLOW_MAYBE + HG_TYPE_COUNT; }
static uint8_t plain(uint8_t v) { return (uint8_t)(v & ~FLOW_MAYBE); }

static uint8_t join(uint8_t a, uint8_t b) {
    if (a == b || b == FLOW_ANY) return a;
    if (a == FLOW_ANY) return b;
    if (a == FLOW_UNSET || b == FLOW_UNSET) return FLOW_UNSET;
    if (a == FLOW_MIXED || b == FLOW_MIXED) return FLOW_MIXED;
    if (a == FLOW_CALLER) return is_maybe(b) ? b : (uint8_t)(FLOW_MAYBE | b);
    if (b == FLOW_CALLER) return is_maybe(a) ? a : (uint8_t)(FLOW_MAYBE | a);
    if (plain(a) == plain(b)) return (uint8_t)(FLOW_MAYBE | a);
    return FLOW_MIXED;
}

static bool join_into(uint8_t *to, const uint8_t *from, uint32_t n) {
    if (memcmp(to, from, n) == 0) return false;
    bool changed = false;
    for (uint32_t i = 0; i < n; i++) {
        if (to[i] == from[i]) continue;
        uint8_t v = join(to[i], from[i]);
        changed |= v != to[i];
        to[i] = v;
    }
    return changed;
}

/* ---- registers in use ---- */

static void use(flow *x, uint8_t reg) {
    if (x->slot_of[reg] != 0 || (x->slots && x->reg_of[0] == reg)) return;
    x->slot_of[reg] = (uint8_t)x->slots;
    x->reg_of[x->slots++] = reg;
}

bool flow_begin(flow *x, hg_check *c, hg_cfg *cfg) {
    *x = (flow){.check = c, .cfg = cfg};
    hg_accesses a;
    for (uint32_t i = 0; i < c->program->inst_count; i++) {
        hg_inst_accesses(c->program, i, &a);
        for (uint32_t k = 0; k < a.reads; k++)
            if (!a.read[k].is_pred) use(x, a.read[k].reg);
        for (uint32_t k = 0; k < a.writes; k++)
            if (!a.write[k].is_pred) use(x, a.write[k].reg);
    }
    uint32_t largest = 0;
    for (uint32_t f = 0; f < cfg->function_count; f++)
        if (cfg->functions[f].block_count > largest) largest = cfg->functions[f].block_count;
    x->functions = hg_check_alloc(c, cfg->function_count, sizeof *x->functions);
    x->order = hg_check_alloc(c, largest, sizeof *x->order);
    x->position = hg_check_alloc(c, largest, sizeof *x->position);
    x->stack = hg_check_alloc(c, 2 * (uint64_t)largest, sizeof *x->stack);
    x->dirty = hg_check_alloc(c, largest, 1);
    return !c->out_of_memory;
}

/* ---- reads ---- */

/* The caller's register must have type `want`; the first exact type stands, later ones are compared
 * with it. */
static void need(uint8_t *reads, uint8_t want) {
    bool narrower = hg_is_want(*reads) &&
                    (hg_is_want(want) ? want < *reads : hg_want_allows(*reads, want));
    if (*reads == HG_TYPE_OMITTED || narrower) *reads = want;
}

static void note_read(flow *x, uint32_t f, uint8_t reg, uint8_t want, uint8_t state) {
    if (state == FLOW_CALLER)
        need(&x->cfg->functions[f].reads[reg], want);
    else if (is_maybe(state))
        need(&x->cfg->functions[f].reads[reg], hg_is_want(want) ? plain(state) : want);
}

uint8_t flow_known(const flow *x, uint32_t f, uint32_t slot, uint8_t state) {
    if (state != FLOW_CALLER && !is_maybe(state)) return state;
    uint8_t caller = FLOW_CALLER;
    if (x->target)
        caller = x->functions[f].hint[slot];
    else if (x->cfg->functions[f].reads[x->reg_of[slot]] != HG_TYPE_OMITTED)
        caller = x->cfg->functions[f].reads[x->reg_of[slot]];
    if (state == FLOW_CALLER) return caller;
    return x->target ? join(caller, plain(state)) : caller == plain(state) ? caller : FLOW_MIXED;
}

/* ---- steps ---- */

/* An omitted type becomes that of the first source register as soon as that is known. */
static void infer(flow *x, uint32_t f, uint32_t inst, const uint8_t *state) {
    hg_inst *in = &x->target->insts[inst];
    uint32_t source = hg_first_source((hg_op)in->op);
    if (source == UINT32_MAX) return;
    uint32_t slot = x->slot_of[hg_inst_operands(x->target, inst)[source].reg];
    uint8_t known = flow_known(x, f, slot, state[slot]);
    if (!is_type(known)) return;
    in->type = known;
    x->inferred = true;
}

void flow_step(flow *x, uint32_t f, uint32_t inst, uint8_t *state, uint16_t *preds) {
    hg_function *fn = &x->cfg->functions[f];
    hg_accesses a;
    if (x->target && x->target->insts[inst].type == HG_TYPE_OMITTED) infer(x, f, inst, state);
    hg_inst_accesses(x->check->program, inst, &a);
    for (uint32_t k = 0; k < a.reads; k++) {
        if (a.read[k].is_pred)
            fn->pred_reads |= (uint16_t)((1u << a.read[k].reg) & ~(uint32_t)*preds);
        else
            note_read(x, f, a.read[k].reg, a.read[k].want, state[x->slot_of[a.read[k].reg]]);
    }
    for (uint32_t k = 0; k < a.writes; k++) {
        if (a.write[k].is_pred) {
            *preds |= (uint16_t)(1u << a.write[k].reg);
            fn->pred_writes |= (uint16_t)(1u << a.write[k].reg);
            continue;
        }
        uint8_t *to = &state[x->slot_of[a.write[k].reg]];
        if (hg_op_is_loop(x->check->program->insts[inst].op) && is_type(*to))
            continue; /* a counter of a wrong type stays wrong: V03, not V04 */
        *to = a.write[k].want == HG_TYPE_OMITTED ? (uint8_t)FLOW_ANY : a.write[k].want;
    }
}

/* State of a register after a call that leaves `left` of it. */
static uint8_t after_call(uint8_t before, uint8_t left) {
    if (left == FLOW_CALLER) return before;
    if (!is_maybe(left)) return left;
    if (before == FLOW_CALLER || before == left) return left;
    if (before == plain(left) || before == FLOW_ANY || before == FLOW_UNSET) return before;
    return FLOW_MIXED;
}

void flow_call(flow *x, uint32_t f, uint32_t callee, uint8_t *state, uint16_t *preds) {
    hg_function *fn = &x->cfg->functions[f], *g = &x->cfg->functions[callee];
    const uint8_t *out = x->functions[callee].out;
    fn->pred_reads |= (uint16_t)(g->pred_reads & ~*preds);
    fn->pred_writes |= g->pred_writes;
    if (out) *preds |= g->pred_sets;
    for (uint32_t s = 0; s < x->slots; s++) {
        uint8_t reg = x->reg_of[s];
        if (g->reads[reg] != HG_TYPE_OMITTED) note_read(x, f, reg, g->reads[reg], state[s]);
        if (x->target) {
            uint8_t *hint = &x->functions[callee].hint[s],
                    joined = join(*hint, flow_known(x, f, s, state[s]));
            x->inferred |= joined != *hint;
            *hint = joined;
        }
        uint8_t left = out ? x->target ? out[s] : g->leaves[reg] : FLOW_CALLER;
        state[s] = after_call(state[s], left);
    }
}

/* ---- the fixed point ---- */

/* Reverse postorder, so that a block comes after those that lead to it, loops aside. */
static void order_blocks(flow *x, const hg_function *fn) {
    uint32_t depth = 0, left = fn->block_count, *stack = x->stack,
             *next = x->stack + fn->block_count;
    memset(x->dirty, 0, fn->block_count);
    stack[depth++] = 0;
    x->dirty[0] = 1;
    next[0] = 0;
    while (depth) {
        uint32_t b = stack[depth - 1];
        if (next[depth - 1] < 2) {
            uint32_t to = fn->blocks[b].succ[next[depth - 1]++];
            if (to == HG_NO_BLOCK || x->dirty[to]) continue;
            x->dirty[to] = 1;
            next[depth] = 0;
            stack[depth++] = to;
            continue;
        }
        depth--;
        x->order[--left] = b;
        x->position[b] = left;
    }
    memset(x->dirty, 0, fn->block_count);
}

static void start_state(flow *x, uint32_t f, uint8_t *state) {
    for (uint32_t s = 0; s < x->slots; s++) {
        uint8_t type = x->cfg->param_types[x->reg_of[s]];
        state[s] = f ? FLOW_CALLER : type == HG_TYPE_OMITTED ? FLOW_UNSET : type;
    }
}

/* True when the successor has to run again and stands before `from` in the order. */
static bool pass_on(flow *x, uint32_t f, uint32_t from, uint32_t to, const uint8_t *state,
                    uint16_t preds) {
    flow_function *w = &x->functions[f];
    uint8_t *in = w->in + (uint64_t)to * x->slots;
    bool changed;
    if (!w->seen[to]) {
        w->seen[to] = 1;
        memcpy(in, state, x->slots);
        w->pred_in[to] = preds;
        changed = true;
    } else {
        changed = join_into(in, state, x->slots);
        uint16_t both = w->pred_in[to] & preds;
        changed |= both != w->pred_in[to];
        w->pred_in[to] = both;
    }
    if (changed) x->dirty[to] = 1;
    return changed && x->position[to] <= x->position[from];
}

static void add_return(flow *x, uint32_t f, const uint8_t *state, uint16_t preds) {
    flow_function *w = &x->functions[f];
    hg_function *fn = &x->cfg->functions[f];
    if (!w->out) {
        w->out = hg_check_alloc(x->check, x->slots, 1);
        if (!w->out) return;
        memcpy(w->out, state, x->slots);
        fn->pred_sets = preds;
        return;
    }
    join_into(w->out, state, x->slots);
    fn->pred_sets &= preds;
}

static bool run_block(flow *x, uint32_t f, uint32_t b, uint8_t *state) {
    const hg_function *fn = &x->cfg->functions[f];
    const hg_block *block = &fn->blocks[b];
    flow_function *w = &x->functions[f];
    memcpy(state, w->in + (uint64_t)b * x->slots, x->slots);
    uint16_t preds = w->pred_in[b];
    for (uint32_t i = block->first; i < block->last; i++) flow_step(x, f, i, state, &preds);
    if (block->exit == HG_EXIT_CALL) flow_call(x, f, block->callee, state, &preds);
    if (block->exit == HG_EXIT_RET) add_return(x, f, state, preds);
    bool back = false;
    for (int k = 0; k < 2; k++)
        if (block->succ[k] != HG_NO_BLOCK) back |= pass_on(x, f, b, block->succ[k], state, preds);
    return back;
}

static uint8_t leaves(uint8_t out, uint8_t reads) {
    if (is_maybe(out) && reads < HG_TYPE_COUNT)
        return plain(out) == reads ? reads : (uint8_t)HG_LEAVES_NOTHING;
    return out;
}

void flow_run(flow *x, uint32_t f) {
    hg_function *fn = &x->cfg->functions[f];
    flow_function *w = &x->functions[f];
    if (!w->in) {
        w->in = hg_check_alloc(x->check, (uint64_t)fn->block_count * x->slots, 1);
        w->pred_in = hg_check_alloc(x->check, fn->block_count, sizeof *w->pred_in);
        w->seen = hg_check_alloc(x->check, fn->block_count, 1);
        if (x->check->out_of_memory) return;
    }
    memset(w->seen, 0, fn->block_count);
    if (w->out) memset(w->out, FLOW_ANY, x->slots);
    fn->pred_sets = w->out ? UINT16_MAX : 0;
    uint8_t state[256];
    order_blocks(x, fn);
    start_state(x, f, w->in);
    w->pred_in[0] = 0;
    w->seen[0] = x->dirty[0] = 1;
    for (bool again = true; again && !x->check->out_of_memory;) {
        again = false;
        for (uint32_t i = 0; i < fn->block_count; i++) {
            uint32_t b = x->order[i];
            if (!x->dirty[b]) continue;
            x->dirty[b] = 0;
            again |= run_block(x, f, b, state);
        }
    }
    for (uint32_t s = 0; f && w->out && s < x->slots; s++)
        fn->leaves[x->reg_of[s]] = leaves(w->out[s], fn->reads[x->reg_of[s]]);
}
