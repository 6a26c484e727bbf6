/* Liveness of registers: blocks backwards to a fixed point, functions from callers to callees, since what a caller needs after a call
 * is needed at the callee's returns. */
#include "isa/live.h"
#include "isa/verify_internal.h"
#include <string.h>

typedef struct set {
    uint64_t bits[HG_MAX_REGISTERS / 64];
} set;

typedef struct liveness {
    const hg_cfg *cfg;
    uint16_t *live;
    set *at_return;   /* by function */
    set *in;          /* by block of the function at work */
    hg_accesses what; /* of one instruction: large */
} liveness;

static void add(set *s, uint8_t reg) { s->bits[reg / 64] |= UINT64_C(1) << (reg % 64); }
static void drop(set *s, uint8_t reg) { s->bits[reg / 64] &= ~(UINT64_C(1) << (reg % 64)); }

static bool join(set *to, const set *from) {
    bool more = false;
    for (size_t i = 0; i < HG_COUNT_OF(to->bits); i++) {
        more |= (from->bits[i] & ~to->bits[i]) != 0;
        to->bits[i] |= from->bits[i];
    }
    return more;
}

static uint16_t count(const set *s) {
    uint32_t n = 0;
    for (size_t i = 0; i < HG_COUNT_OF(s->bits); i++) n += (uint32_t)hg_popcount64(s->bits[i]);
    return (uint16_t)n;
}

/* In front of a call: what the callee reads, and what is needed behind and it may leave alone. */
static void cross_call(const hg_function *callee, set *s) {
    for (uint32_t r = 0; r < HG_MAX_REGISTERS; r++) {
        uint8_t leaves = callee->leaves[r];
        bool always = leaves != HG_TYPE_OMITTED && leaves != HG_LEAVES_NOTHING && !(leaves & HG_LEAVES_MAYBE);
        if (callee->reads[r] != HG_TYPE_OMITTED)
            add(s, (uint8_t)r);
        else if (always)
            drop(s, (uint8_t)r);
    }
}

static set after_block(liveness *l, uint32_t function, const hg_block *b) {
    set s = {0};
    if (b->exit == HG_EXIT_RET) s = l->at_return[function];
    for (int k = 0; k < 2; k++)
        if (b->succ[k] != HG_NO_BLOCK) (void)join(&s, &l->in[b->succ[k]]);
    return s;
}

/* note: keep the counts, and tell callees what is needed at their returns. */
static void walk_block(liveness *l, const hg_block *b, set *s, bool note) {
    const hg_program *p = l->cfg->program;
    if (b->exit == HG_EXIT_CALL) {
        if (note) (void)join(&l->at_return[b->callee], s);
        cross_call(&l->cfg->functions[b->callee], s);
    }
    for (uint32_t i = b->last; i-- > b->first;) {
        hg_inst_accesses(p, i, &l->what);
        for (uint32_t k = 0; k < l->what.writes; k++)
            if (!l->what.write[k].is_pred) drop(s, l->what.write[k].reg);
        for (uint32_t k = 0; k < l->what.reads; k++)
            if (!l->what.read[k].is_pred) add(s, l->what.read[k].reg);
        if (note && count(s) > l->live[i]) l->live[i] = count(s);
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

hg_status hg_live_registers(const hg_cfg *cfg, uint16_t *live) {
    liveness *l = hg_calloc(1, sizeof *l);
    hg_status status = HG_OK;
    if (!l) return hg_fail_memory();
    l->cfg = cfg;
    l->live = live;
    memset(live, 0, cfg->program->inst_count * sizeof *live);
    l->at_return = hg_calloc(cfg->function_count, sizeof *l->at_return);
    if (!l->at_return) status = hg_fail_memory();
    for (uint32_t i = cfg->function_count; i-- > 0 && status == HG_OK;) status = visit(l, cfg->bottom_up[i]);
    hg_free(l->at_return);
    hg_free(l);
    return status;
}
