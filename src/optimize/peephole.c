/* A few neighbouring instructions of a block as fewer: copies, mul and add, pairs that undo each
 * other, operations that change nothing, jumps.
 *
 * Within a block every register has a version, which counts its writes: a value that was seen is
 * still there when the version is the same. What reads a copy reads what was copied, which is at
 * least as uniform. Handles stay in their registers, as the verifier asks what they were declared
 * as.
 *
 * Requires: cfg. Provides: facts of the cfg stay true, but for what is dead now. */
#include "optimize/optimize.h"

#include <string.h>

enum { VALUES = 256 + 16, MOST_READS = 3 /* of a row whose pairs are looked at */, MOST_HOPS = 16 };

/* What wrote a register last in this block. */
typedef struct definition {
    uint32_t inst;                 /* + 1; 0: nothing did */
    uint32_t versions[MOST_READS]; /* of its operands 1, 2 and 3 when it read them */
    uint32_t reads;                /* of the result since */
} definition;

typedef struct peephole {
    optimize_edit *e;
    uint32_t version[VALUES];
    definition by[VALUES];
    uint16_t copy_of[VALUES]; /* itself: no copy */
    uint32_t copy_version[VALUES];
} peephole;

static uint32_t value_of(const hg_access *a) {
    return a->is_pred ? 256 + (uint32_t)a->reg : a->reg;
}

static void begin_block(peephole *x) {
    memset(x->by, 0, sizeof x->by);
    for (uint32_t v = 0; v < VALUES; v++) x->copy_of[v] = (uint16_t)v;
}

static uint32_t copied(const peephole *x, uint32_t v) {
    uint32_t from = x->copy_of[v];
    return from != v && x->version[from] == x->copy_version[v] ? from : v;
}

/* ---- copies ---- */

/* Registers and predicates that are only read, one at a time. */
static bool can_be_another(const hg_op_info *row, uint32_t operand, const hg_operand *o) {
    const hg_operand_info *info = &row->operands[operand];
    if (row->flags & HG_F_RUN) return false;
    if (info->kind == HG_K_REG)
        return (info->access & (HG_READ | HG_WRITE)) == HG_READ && !(row->flags & HG_F_POOL);
    if (info->kind == HG_K_PRED) return (info->access & HG_READ) && o->reg != 255;
    return info->kind == HG_K_COUNT && o->is_reg;
}

static void read_copied(peephole *x, uint32_t inst) {
    const hg_op_info *row = hg_op_get((hg_op)x->e->program->insts[inst].op);
    for (uint32_t i = 0; i < row->operand_count; i++) {
        hg_operand *o = &optimize_operands(x->e, inst)[i];
        if (!can_be_another(row, i, o)) continue;
        uint32_t base = row->operands[i].kind == HG_K_PRED ? 256 : 0,
                 from = copied(x, base + o->reg);
        if (from == base + o->reg) continue;
        o->reg = (uint8_t)(from - base);
        x->e->changes++;
    }
}

static void read_copied_index(peephole *x, uint32_t inst) {
    const hg_op_info *row = hg_op_get((hg_op)x->e->program->insts[inst].op);
    for (uint32_t i = 0; i < row->operand_count; i++) {
        hg_operand *o = &optimize_operands(x->e, inst)[i];
        if (row->operands[i].kind != HG_K_ADDRESS || !o->has_index ||
            copied(x, o->index) == o->index)
            continue;
        o->index = (uint8_t)copied(x, o->index);
        x->e->changes++;
    }
}

static bool is_move(uint16_t op) { return op == HG_OP_MOV || op == HG_OP_MOV_P; }

/* A move to itself, or of what is there already. */
static bool is_idle_move(const peephole *x, uint32_t inst) {
    uint16_t op = x->e->program->insts[inst].op;
    if (!is_move(op)) return false;
    const hg_operand *o = optimize_operands(x->e, inst);
    uint32_t base = op == HG_OP_MOV_P ? 256 : 0, d = base + o[0].reg, s = base + o[1].reg;
    return d == s || copied(x, d) == s;
}

/* ---- pairs ---- */

/* The definition of a register in this block, when it is of that operation and type and what it
 * read is still there. */
static const definition *made_by(const peephole *x, uint8_t reg, hg_op op, uint8_t type,
                                 uint32_t reads) {
    const definition *d = &x->by[reg];
    if (!d->inst || x->e->gone[d->inst - 1]) return NULL;
    const hg_inst *in = &x->e->program->insts[d->inst - 1];
    if (in->op != op || in->type != type) return NULL;
    const hg_operand *o = optimize_operands(x->e, d->inst - 1);
    for (uint32_t k = 0; k < reads; k++)
        if (x->version[o[1 + k].reg] != d->versions[k]) return NULL;
    return d;
}

/* mul t, a, b; add d, t, c where t is not read again: mad d, a, b, c, which rounds twice as well.
 * Sums of floats keep their order. */
static bool join_mul_add(peephole *x, uint32_t inst) {
    optimize_edit *e = x->e;
    const hg_inst in = e->program->insts[inst];
    if (in.op != HG_OP_ADD) return true;
    for (uint32_t side = 0; side < (hg_type_is_integer((hg_type)in.type) ? 2 : 1); side++) {
        const hg_operand *o = optimize_operands(e, inst);
        uint8_t d = o[0].reg, t = o[1 + side].reg, c = o[2 - side].reg;
        const definition *mul = made_by(x, t, HG_OP_MUL, in.type, 2);
        if (!mul || mul->reads || c == t || (d != t && hg_live_has(&e->after[inst], t))) continue;
        const hg_operand *factors = optimize_operands(e, mul->inst - 1);
        const hg_operand operands[] = {optimize_reg(d), optimize_reg(factors[1].reg),
                                       optimize_reg(factors[2].reg), optimize_reg(c)};
        if (factors[1].reg == t || factors[2].reg == t) continue;
        optimize_remove(e, mul->inst - 1);
        return optimize_replace(e, inst, HG_OP_MAD, in.type, operands);
    }
    return true;
}

/* not not, neg neg: the second gives what the first was given. */
static bool join_twice(peephole *x, uint32_t inst) {
    const hg_inst in = x->e->program->insts[inst];
    if (in.op != HG_OP_NOT && in.op != HG_OP_NEG && in.op != HG_OP_BREV && in.op != HG_OP_BSWAP)
        return true;
    const hg_operand *o = optimize_operands(x->e, inst);
    const definition *first = made_by(x, o[1].reg, (hg_op)in.op, in.type, 1);
    return !first || optimize_to_mov(x->e, inst, in.type, o[0].reg,
                                     optimize_operands(x->e, first->inst - 1)[1].reg);
}

/* A literal of this block. */
static const uint8_t *known_here(void *user, uint8_t reg, uint8_t type) {
    const peephole *x = user;
    const definition *d = made_by(x, reg, HG_OP_MOV_IMM, type, 0);
    return d ? hg_literal(x->e->program, &optimize_operands(x->e, d->inst - 1)[1]) : NULL;
}

/* ---- a block ---- */

static void note(peephole *x, uint32_t inst) {
    hg_accesses what;
    hg_inst_accesses(x->e->program, inst, &what);
    const hg_inst *in = &x->e->program->insts[inst];
    const hg_op_info *row = hg_op_get((hg_op)in->op);
    const hg_operand *o = optimize_operands(x->e, inst);
    definition made = {.inst = inst + 1};
    for (uint32_t k = 0; k < MOST_READS && k + 1 < row->operand_count; k++)
        if (row->operands[1 + k].kind == HG_K_REG) made.versions[k] = x->version[o[1 + k].reg];
    for (uint32_t k = 0; k < what.reads; k++) x->by[value_of(&what.read[k])].reads++;
    for (uint32_t k = 0; k < what.writes; k++) {
        uint32_t v = value_of(&what.write[k]);
        x->version[v]++;
        x->by[v] = made;
        x->copy_of[v] = (uint16_t)v;
    }
    if (!is_move(in->op)) return;
    uint32_t base = in->op == HG_OP_MOV_P ? 256 : 0, d = base + o[0].reg, s = base + o[1].reg;
    x->copy_of[d] = (uint16_t)s;
    x->copy_version[d] = x->version[s];
}

static bool look_at(peephole *x, uint32_t inst) {
    read_copied(x, inst);
    read_copied_index(x, inst);
    if (is_idle_move(x, inst)) {
        optimize_remove(x->e, inst);
        return true;
    }
    if (!optimize_identity(x->e, inst, known_here, x) || !join_mul_add(x, inst) ||
        !join_twice(x, inst))
        return false;
    note(x, inst);
    return true;
}

/* ---- jumps ---- */

/* A jump to a jump, both forward, goes where that goes. */
static void follow_jumps(optimize_edit *e, uint32_t inst) {
    for (int hops = 0; hops < MOST_HOPS; hops++) {
        hg_operand *o = optimize_operands(e, inst);
        uint32_t to = (uint32_t)o[1].value;
        if (to <= inst || to >= e->program->inst_count || e->program->insts[to].op != HG_OP_BRA)
            return;
        const hg_operand *next = optimize_operands(e, to);
        if (next[0].reg != 255 || next[1].value <= to) return;
        o[1].value = next[1].value;
        e->changes++;
    }
}

static bool goes_to_next(const optimize_edit *e, uint32_t inst) {
    uint64_t to = hg_inst_operands(e->program, inst)[1].value;
    if (to <= inst) return false;
    for (uint32_t i = inst + 1; i < to; i++)
        if (!e->gone[i]) return false;
    return true;
}

hg_status optimize_peephole(optimize_edit *e) {
    uint32_t n = e->program->inst_count;
    HG_TRY(optimize_live(e, NULL));
    peephole *x = hg_calloc(1, sizeof *x);
    if (!x) return hg_fail_memory();
    x->e = e;
    bool fine = true;
    for (uint32_t i = 0; i < n && fine; i++) {
        if (e->leader[i]) begin_block(x);
        if (e->reached[i]) fine = look_at(x, i);
    }
    hg_free(x);
    for (uint32_t i = n; i-- > 0 && !e->keep_jumps;) {
        if (!e->reached[i] || e->program->insts[i].op != HG_OP_BRA) continue;
        follow_jumps(e, i);
        if (goes_to_next(e, i)) optimize_remove(e, i);
    }
    return fine ? HG_OK : hg_fail_memory();
}
