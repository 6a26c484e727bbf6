/* Constants: what follows from literals is worked out once (evaluate.c), and branches on known
 * predicates go one way.
 *
 * Conditional constant propagation after Wegman and Zadeck: a block counts only once an edge to it
 * can be taken, a register has one known value where all such edges agree. A function is looked at
 * by itself, with nothing known where it begins. Code that several functions have is left as it is.
 *
 * Not known: what may be NaN (its bits are a device's own), wide integers beyond
 * OPTIMIZE_VALUE_BYTES, results of instructions that would fault.
 *
 * Requires: cfg. Provides: nothing that other passes need. */
#include "optimize/optimize.h"

#include <string.h>

enum {
    VALUES = 256 + 16,
    MOST_STATES = 20000, /* blocks of a function whose states are kept; larger ones know only their
                            own block */
    MOST_EVALUATIONS = 5000, /* of a run of the pass */
    MOST_OPERANDS = 16,
    BUCKETS = 4096
};
/* A known value is the number of a constant. */
enum { UNKNOWN = 0, FALSE_VALUE = 1, TRUE_VALUE = 2, FIRST_CONSTANT = 3 };

typedef struct constant {
    optimize_value value;
    uint32_t chained; /* the next of its bucket, 0: none */
} constant;

/* What an instruction gave for the operands that it had last. */
typedef struct memory {
    uint32_t operands[MOST_OPERANDS], results[2];
    uint8_t count; /* + 1; 0: nothing yet */
} memory;

typedef struct state {
    uint32_t values[VALUES];
} state;

typedef struct propagation {
    optimize_edit *e;
    HG_VEC(constant) constants; /* from FIRST_CONSTANT on */
    uint32_t buckets[BUCKETS];
    memory *memories;
    uint8_t *owners; /* functions that have the instruction, up to 2 */
    uint32_t evaluations;
    hg_status status;
    /* of the function at work */
    const hg_function *function;
    state *in; /* a block each; NULL: nothing is known where a block begins */
    uint8_t *seen, *waiting;
    uint32_t *queue, queue_count;
    hg_accesses what;
} propagation;

/* ---- constants ---- */

static uint32_t bucket_of(const optimize_value *v) {
    uint32_t hash = 2166136261u ^ v->type;
    for (size_t i = 0; i < sizeof v->bytes; i++) hash = (hash ^ v->bytes[i]) * 16777619u;
    return (hash ^ hash >> 16) % BUCKETS;
}

static uint32_t intern(propagation *x, const optimize_value *v) {
    if (v->type == OPTIMIZE_PREDICATE) return v->bytes[0] ? TRUE_VALUE : FALSE_VALUE;
    uint32_t bucket = bucket_of(v);
    for (uint32_t i = x->buckets[bucket]; i; i = x->constants.data[i - FIRST_CONSTANT].chained)
        if (memcmp(&x->constants.data[i - FIRST_CONSTANT].value, v, sizeof *v) == 0) return i;
    constant *c = hg_vec_push(&x->constants);
    if (!c) {
        x->status = hg_fail_memory();
        return UNKNOWN;
    }
    *c = (constant){*v, x->buckets[bucket]};
    x->buckets[bucket] = (uint32_t)x->constants.count - 1 + FIRST_CONSTANT;
    return x->buckets[bucket];
}

static optimize_value value_of(const propagation *x, uint32_t number) {
    if (number >= FIRST_CONSTANT) return x->constants.data[number - FIRST_CONSTANT].value;
    return (optimize_value){.type = OPTIMIZE_PREDICATE, .bytes = {number == TRUE_VALUE}};
}

static uint32_t *place(state *s, const hg_access *a) {
    return &s->values[a->is_pred ? 256 + (uint32_t)a->reg : a->reg];
}

/* ---- one instruction ---- */

static uint32_t literal_of(propagation *x, uint32_t inst) {
    const hg_inst *in = &x->e->program->insts[inst];
    uint64_t size = hg_type_size_bytes((hg_type)in->type);
    optimize_value v = {.type = in->type};
    if (size > sizeof v.bytes) return UNKNOWN;
    memcpy(v.bytes, hg_literal(x->e->program, &hg_inst_operands(x->e->program, inst)[1]),
           (size_t)size);
    return intern(x, &v);
}

/* Predicates, and moves: no arithmetic. True: *result is what it writes. */
static bool is_choice(const propagation *x, uint32_t inst, const state *s, uint32_t *result) {
    const hg_operand *o = hg_inst_operands(x->e->program, inst);
    const uint32_t *r = s->values, *p = &s->values[256];
    uint32_t a, b;
    switch ((hg_op)x->e->program->insts[inst].op) {
    case HG_OP_MOV: *result = r[o[1].reg]; return true;
    case HG_OP_MOV_P: *result = p[o[1].reg]; return true;
    case HG_OP_NOT_P:
        *result = p[o[1].reg] ? FALSE_VALUE + TRUE_VALUE - p[o[1].reg] : UNKNOWN;
        return true;
    case HG_OP_SEL:
        a = r[o[2].reg], b = r[o[3].reg];
        *result = p[o[1].reg] ? (p[o[1].reg] == TRUE_VALUE ? a : b) : a == b ? a : UNKNOWN;
        return true;
    case HG_OP_SEL_P:
        a = p[o[2].reg], b = p[o[3].reg];
        *result = p[o[1].reg] ? (p[o[1].reg] == TRUE_VALUE ? a : b) : a == b ? a : UNKNOWN;
        return true;
    case HG_OP_AND_P:
    case HG_OP_OR_P:
        a = p[o[1].reg], b = p[o[2].reg];
        uint32_t decides = x->e->program->insts[inst].op == HG_OP_AND_P ? FALSE_VALUE : TRUE_VALUE;
        *result = a == decides || b == decides ? decides
                  : a && b                     ? FALSE_VALUE + TRUE_VALUE - decides
                                               : UNKNOWN;
        return true;
    default: return false;
    }
}

/* What a pure instruction writes, from known operands. */
static void evaluate(propagation *x, uint32_t inst, const state *s, uint32_t results[4]) {
    memory *m = &x->memories[inst];
    optimize_value values[MOST_OPERANDS], got[4];
    uint32_t operands[MOST_OPERANDS] = {0};
    bool done = false;
    if (x->what.reads > MOST_OPERANDS || x->what.writes > HG_COUNT_OF(m->results)) return;
    for (uint32_t k = 0; k < x->what.reads; k++) {
        operands[k] = *place((state *)(uintptr_t)s, &x->what.read[k]);
        if (!operands[k]) return;
    }
    if (m->count != x->what.reads + 1 || memcmp(m->operands, operands, sizeof operands) != 0) {
        if (++x->evaluations > MOST_EVALUATIONS) return;
        for (uint32_t k = 0; k < x->what.reads; k++) values[k] = value_of(x, operands[k]);
        hg_status status = optimize_evaluate(x->e->program, inst, &x->what, values, got, &done);
        if (status != HG_OK) x->status = status;
        memcpy(m->operands, operands, sizeof operands);
        m->count = (uint8_t)(x->what.reads + 1);
        for (uint32_t k = 0; k < x->what.writes; k++)
            m->results[k] = done ? intern(x, &got[k]) : UNKNOWN;
    }
    for (uint32_t k = 0; k < x->what.writes; k++) results[k] = m->results[k];
}

/* Leaves what the instruction writes in results, and the accesses in x->what. */
static void results_of(propagation *x, uint32_t inst, const state *s, uint32_t results[4]) {
    memset(results, 0, 4 * sizeof *results);
    hg_inst_accesses(x->e->program, inst, &x->what);
    if (x->what.writes == 0) return;
    if (x->e->program->insts[inst].op == HG_OP_MOV_IMM)
        results[0] = literal_of(x, inst);
    else if (!is_choice(x, inst, s, &results[0]) && optimize_is_pure(x->e->program, inst))
        evaluate(x, inst, s, results);
}

static void step(propagation *x, uint32_t inst, state *s) {
    uint32_t results[4];
    results_of(x, inst, s, results);
    for (uint32_t k = 0; k < x->what.writes; k++) *place(s, &x->what.write[k]) = results[k];
}

static void cross_call(const hg_function *callee, state *s) {
    for (uint32_t r = 0; r < 256; r++)
        if (callee->leaves[r] != HG_TYPE_OMITTED) s->values[r] = UNKNOWN;
    for (uint32_t p = 0; p < 16; p++)
        if (callee->pred_writes >> p & 1) s->values[256 + p] = UNKNOWN;
}

/* ---- a function ---- */

/* Which way the block's last instruction goes when it goes one way only: 0, 1; -1: not known. Where
 * that will be written down, that is. */
static int way_of(const propagation *x, const hg_block *b, const state *s) {
    if (x->e->keep_jumps || (b->exit != HG_EXIT_BRANCH && b->exit != HG_EXIT_LOOP)) return -1;
    uint32_t inst = b->last - 1;
    if (x->owners[inst] != 1) return -1;
    const hg_operand *o = hg_inst_operands(x->e->program, inst);
    if (b->exit == HG_EXIT_BRANCH) {
        uint32_t known = s->values[256 + o[0].reg];
        return known ? known == TRUE_VALUE ? 0 : 1 : -1;
    }
    uint32_t counter = s->values[o[0].reg];
    if (!counter) return -1;
    optimize_value v = value_of(x, counter);
    for (uint64_t i = 0; i < hg_type_size_bytes((hg_type)v.type); i++)
        if (v.bytes[i]) return -1;
    return 1;
}

static void wait_for(propagation *x, uint32_t block) {
    if (x->waiting[block]) return;
    x->waiting[block] = 1;
    x->queue[x->queue_count++] = block;
}

static void flow_to(propagation *x, uint32_t block, const state *s) {
    bool changed = !x->seen[block];
    if (block == HG_NO_BLOCK) return;
    if (x->in && !x->seen[block]) x->in[block] = *s;
    for (uint32_t v = 0; x->in && x->seen[block] && v < VALUES; v++) {
        if (x->in[block].values[v] == UNKNOWN || x->in[block].values[v] == s->values[v]) continue;
        x->in[block].values[v] = UNKNOWN;
        changed = true;
    }
    x->seen[block] = 1;
    if (changed) wait_for(x, block);
}

static state begin_of(const propagation *x, uint32_t block) {
    state nothing = {{UNKNOWN}};
    return x->in ? x->in[block] : nothing;
}

/* The state before the last instruction, where that decides the way. */
static void visit_block(propagation *x, uint32_t number) {
    const hg_block *b = &x->function->blocks[number];
    state s = begin_of(x, number);
    uint32_t end = b->last - (b->exit == HG_EXIT_BRANCH || b->exit == HG_EXIT_LOOP);
    for (uint32_t i = b->first; i < end && x->status == HG_OK; i++) step(x, i, &s);
    int way = way_of(x, b, &s);
    if (end < b->last && way != 1) step(x, end, &s); /* a loop counts down */
    if (b->exit == HG_EXIT_CALL) cross_call(&x->e->cfg->functions[b->callee], &s);
    for (int k = 0; k < 2; k++)
        if (b->succ[k] != HG_NO_BLOCK && (way < 0 || way == k)) flow_to(x, b->succ[k], &s);
}

/* ---- what is known, written down ---- */

typedef struct here {
    propagation *x;
    const state *s;
} here;

static const uint8_t *known_here(void *user, uint8_t reg, uint8_t type) {
    const here *h = user;
    uint32_t number = h->s->values[reg];
    if (number < FIRST_CONSTANT) return NULL;
    const optimize_value *v = &h->x->constants.data[number - FIRST_CONSTANT].value;
    return v->type == type ? v->bytes : NULL;
}

static bool write_branch(propagation *x, const hg_block *b, int way) {
    uint32_t inst = b->last - 1;
    if (way == 1) {
        optimize_remove(x->e, inst);
    } else if (way == 0) {
        optimize_operands(x->e, inst)[0].reg = 255;
        x->e->changes++;
    }
    return true;
}

static bool write_choice(propagation *x, uint32_t inst, const state *s) {
    const hg_inst in = x->e->program->insts[inst];
    if (in.op != HG_OP_SEL && in.op != HG_OP_SEL_P) return true;
    const hg_operand *o = optimize_operands(x->e, inst);
    uint32_t known = s->values[256 + o[1].reg];
    if (!known) return true;
    uint8_t from = o[known == TRUE_VALUE ? 2 : 3].reg;
    if (in.op == HG_OP_SEL) return optimize_to_mov(x->e, inst, in.type, o[0].reg, from);
    const hg_operand operands[] = {optimize_pred(o[0].reg), optimize_pred(from)};
    return optimize_replace(x->e, inst, HG_OP_MOV_P, HG_TYPE_NOT_USED, operands);
}

static bool write_inst(propagation *x, uint32_t inst, const state *s) {
    uint32_t results[4];
    here h = {x, s};
    results_of(x, inst, s, results);
    bool one = x->what.writes == 1 && !x->what.write[0].is_pred && results[0] >= FIRST_CONSTANT;
    if (one && s->values[x->what.write[0].reg] == results[0]) { /* it is there already */
        optimize_remove(x->e, inst);
        return true;
    }
    if (x->e->program->insts[inst].op == HG_OP_MOV_IMM) return true;
    if (one) {
        optimize_value v = value_of(x, results[0]);
        return optimize_to_literal(x->e, inst, v.type, x->what.write[0].reg, v.bytes);
    }
    return optimize_is_pure(x->e->program, inst)
               ? write_choice(x, inst, s) && optimize_identity(x->e, inst, known_here, &h)
               : true;
}

static bool write_block(propagation *x, uint32_t number) {
    const hg_block *b = &x->function->blocks[number];
    state s = begin_of(x, number);
    uint32_t end = b->last - (b->exit == HG_EXIT_BRANCH || b->exit == HG_EXIT_LOOP);
    for (uint32_t i = b->first; i < end && x->status == HG_OK; i++) {
        state before = s;
        step(x, i, &s);
        if (x->owners[i] == 1 && !write_inst(x, i, &before)) return false;
    }
    return end == b->last || write_branch(x, b, way_of(x, b, &s));
}

static hg_status visit_function(propagation *x, const hg_function *f) {
    uint32_t n = f->block_count;
    x->function = f;
    x->in = n <= MOST_STATES ? hg_calloc(n, sizeof *x->in) : NULL;
    x->seen = hg_calloc(n, 1);
    x->waiting = hg_calloc(n, 1);
    x->queue = hg_calloc(n, sizeof *x->queue);
    x->queue_count = 0;
    if ((n <= MOST_STATES && !x->in) || !x->seen || !x->waiting || !x->queue)
        x->status = hg_fail_memory();
    if (x->status == HG_OK) {
        x->seen[0] = 1;
        wait_for(x, 0);
    }
    while (x->status == HG_OK && x->queue_count) {
        uint32_t block = x->queue[--x->queue_count];
        x->waiting[block] = 0;
        visit_block(x, block);
    }
    for (uint32_t b = 0; b < n && x->status == HG_OK; b++)
        if (x->seen[b] && !write_block(x, b)) x->status = hg_fail_memory();
    hg_free(x->in);
    hg_free(x->seen);
    hg_free(x->waiting);
    hg_free(x->queue);
    return x->status;
}

hg_status optimize_constants(optimize_edit *e) {
    size_t n = (size_t)e->program->inst_count + 1;
    propagation *x = hg_calloc(1, sizeof *x);
    if (!x) return hg_fail_memory();
    x->e = e;
    x->memories = hg_calloc(n, sizeof *x->memories);
    x->owners = hg_calloc(n, 1);
    hg_status status = x->memories && x->owners ? HG_OK : hg_fail_memory();
    if (status == HG_OK) optimize_count_owners(e, x->owners);
    for (uint32_t f = 0; f < e->cfg->function_count && status == HG_OK; f++)
        status = visit_function(x, &e->cfg->functions[f]);
    hg_vec_free(&x->constants);
    hg_free(x->memories);
    hg_free(x->owners);
    hg_free(x);
    return status;
}
