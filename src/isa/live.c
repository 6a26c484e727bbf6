/* Liveness of registers: blocks backwards to a fixed point, functions from callers to callees,
 * since what a caller needs after a call is needed at the callee's returns. */
#include "isa/live.h"
#include "isa/verify_internal.h"
#include <string.h>

typedef hg_live_set set;

typedef struct liveness {
    const hg_cfg *cfg;
    uint16_t *live; /* what is kept: counts, */
    set *after;     /* or sets; NULL: not asked for */
    uint8_t *reached;
    hg_live_needs *needs;
    void *user;
    set *at_return;   /* by function */
    set *in;          /* by block of the function at work */
    hg_accesses what; /* of one instruction: large */
} liveness;

static void add(set *s, uint32_t bit) { s->bits[bit / 64] |= UINT64_C(1) << (bit % 64); }
static void drop(set *s, uint32_t bit) { s->bits[bit / 64] &= ~(UINT64_C(1) << (bit % 64)); }
static uint32_t bit_of(const hg_access *a) {
    return a->is_pred ? HG_LIVE_PREDICATES + (uint32_t)a->reg : a->reg;
}

static bool join(set *to, const set *from) {
    bool more = false;
    for (size_t i = 0; i < HG_COUNT_OF(to->bits); i++) {
        more |= (from->bits[i] & ~to->bits[i]) != 0;
        to->bits[i] |= from->bits[i];
    }
    return more;
}

/* Registers. */
static uint16_t count(const set *s) {
    uint32_t n = 0;
    for (size_t i = 0; i < HG_MAX_REGISTERS / 64; i++) n += (uint32_t)hg_popcount64(s->bits[i]);
    return (uint16_t)n;
}

/* In front of a call: what the callee reads, and what is needed behind and it may leave alone. */
static void cross_call(const hg_function *callee, set *s) {
    for (uint32_t r = 0; r < HG_MAX_REGISTERS; r++) {
        uint8_t leaves = callee->leaves[r];
        bool always = leaves != HG_TYPE_OMITTED && leaves != HG_LEAVES_NOTHING &&
                      !(leaves & HG_LEAVES_MAYBE);
        if (callee->reads[r] != HG_TYPE_OMITTED)
            add(s, r);
        else if (always)
            drop(s, r);
    }
    for (uint32_t p = 0; p < HG_MAX_PREDICATES; p++) {
        if (callee->pred_reads >> p & 1)
            add(s, HG_LIVE_PREDICATES + p);
        else if (callee->pred_sets >> p & 1)
            drop(s, HG_LIVE_PREDICATES + p);
    }
}

static set after_block(liveness *l, uint32_t function, const hg_block *b) {
    set s = {0};
    if (b->exit == HG_EXIT_RET) s = l->at_return[function];
    for (int k = 0; k < 2; k++)
        if (b->succ[k] != HG_NO_BLOCK) (void)join(&s, &l->in[b->succ[k]]);
    return s;
}

/* Over one instruction, backwards. */
static void walk_inst(liveness *l, uint32_t inst, set *s) {
    bool needed = !l->needs || l->needs(l->user, inst, s);
    hg_inst_accesses(l->cfg->program, inst, &l->what);
    for (uint32_t k = 0; k < l->what.writes; k++) drop(s, bit_of(&l->what.write[k]));
    for (uint32_t k = 0; k < l->what.reads && needed; k++) add(s, bit_of(&l->what.read[k]));
}

/* note: keep what is asked for, and tell callees what is needed at their returns. */
static void walk_block(liveness *l, const hg_block *b, set *s, bool note) {
    if (b->exit == HG_EXIT_CALL) {
        if (note) (void)join(&l->at_return[b->callee], s);
        cross_call(&l->cfg->functions[b->callee], s);
    }
    for (uint32_t i = b->last; i-- > b->first;) {
        if (note && l->after) {
            (void)join(&l->after[i], s);
            l->reached[i] = 1;
        }
        walk_inst(l, i, s);
        if (note && l->live && count(s) > l->live[i]) l->live[i] = count(s);
    }
}

static hg_status visit(liveness *l, uint32_t function) {
    const hg_function *f = &l->cfg->functions[function];
    l->in = hg_calloc((size_t)f->block_count + 1, sizeof *l->in);
    if (!l->in) return hg_fail_memory();
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = f->block_count; i-- > 0;) {
            set s = after_block(l, function, &f->blocks[i]);
            walk_block(l, &f->blocks[i], &s, false);
            more |= join(&l->in[i], &s);
        }
    }
    for (uint32_t i = 0; i < f->block_count; i++) {
        set s = after_block(l, function, &f->blocks[i]);
        walk_block(l, &f->blocks[i], &s, true);
    }
    hg_free(l->in);
    return HG_OK;
}

static hg_status run(liveness *l) {
    const hg_cfg *cfg = l->cfg;
    hg_status status = HG_OK;
    l->at_return = hg_calloc(cfg->function_count, sizeof *l->at_return);
    if (!l->at_return) return hg_fail_memory();
    for (uint32_t i = cfg->function_count; i-- > 0 && status == HG_OK;)
        status = visit(l, cfg->bottom_up[i]);
    hg_free(l->at_return);
    return status;
}

hg_status hg_live_registers(const hg_cfg *cfg, uint16_t *live) {
    liveness *l = hg_calloc(1, sizeof *l);
    if (!l) return hg_fail_memory();
    l->cfg = cfg;
    l->live = live;
    memset(live, 0, cfg->program->inst_count * sizeof *live);
    hg_status status = run(l);
    hg_free(l);
    return status;
}

hg_status hg_live_after(const hg_cfg *cfg, hg_live_needs *needs, void *user, hg_live_set *after,
                        uint8_t *reached) {
    liveness *l = hg_calloc(1, sizeof *l);
    if (!l) return hg_fail_memory();
    l->cfg = cfg;
    l->after = after;
    l->reached = reached;
    l->needs = needs;
    l->user = user;
    memset(after, 0, cfg->program->inst_count * sizeof *after);
    memset(reached, 0, cfg->program->inst_count);
    hg_status status = run(l);
    hg_free(l);
    return status;
}
