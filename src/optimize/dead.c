/* Dead code: instructions that no lane reaches, and those that do nothing but write what nobody
 * reads and cannot fault.
 *
 * Loops stay, whatever they compute: whether they end is not asked. Loads stay, because they check
 * bounds. What only dead instructions read is dead too, also round a loop.
 *
 * Requires: cfg. Provides: no pure instruction whose results are never read. */
#include "optimize/optimize.h"

#include <string.h>

enum {
    EFFECTS = HG_F_COLLECTIVE | HG_F_POOL | HG_F_CONTROL | HG_F_BARRIER | HG_F_BLOCK | HG_F_ATOMIC
};

bool optimize_cannot_fault(const hg_program *p, uint32_t inst) {
    const hg_inst *in = &p->insts[inst];
    if (!(hg_op_get((hg_op)in->op)->flags & HG_F_MAY_FAULT)) return true;
    return (in->op == HG_OP_DIV || in->op == HG_OP_REM) && in->type < HG_TYPE_COUNT &&
           hg_type_is_float((hg_type)in->type);
}

bool optimize_is_pure(const hg_program *p, uint32_t inst) {
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    bool writes = false;
    if (row->flags & (EFFECTS | HG_F_STATE | HG_F_SHARED | HG_F_PRIVATE) ||
        p->insts[inst].op == HG_OP_RDID)
        return false;
    for (uint32_t i = 0; i < row->operand_count; i++) {
        if (row->operands[i].kind == HG_K_ADDRESS || row->operands[i].kind == HG_K_ARRAY)
            return false;
        writes |= (row->operands[i].access & HG_WRITE) != 0;
    }
    return writes;
}

/* Removing it changes nothing but the registers it writes; those that write none are there for
 * something else. */
static bool is_removable(const hg_program *p, uint32_t inst) {
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    if (row->flags & EFFECTS || !optimize_cannot_fault(p, inst)) return false;
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (row->operands[i].access & HG_WRITE)
            return row->operands[i].kind == HG_K_REG || row->operands[i].kind == HG_K_PRED;
    return false;
}

static bool writes_live(const hg_program *p, uint32_t inst, const hg_live_set *after) {
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    const hg_operand *o = hg_inst_operands(p, inst);
    for (uint32_t i = 0; i < row->operand_count; i++) {
        if (!(row->operands[i].access & HG_WRITE)) continue;
        if (hg_live_has(
                after,
                o[i].reg + (row->operands[i].kind == HG_K_PRED ? (uint32_t)HG_LIVE_PREDICATES : 0)))
            return true;
    }
    return false;
}

/* gone[i] is 2 while an instruction is known to stay. */
enum { STAYS = 2 };

static bool needs(void *user, uint32_t inst, const hg_live_set *after) {
    const optimize_edit *e = user;
    return e->gone[inst] == STAYS || !is_removable(e->program, inst) ||
           writes_live(e->program, inst, after);
}

/* More instructions are known to stay. */
static bool mark_live(optimize_edit *e) {
    bool more = false;
    for (uint32_t i = 0; i < e->program->inst_count; i++) {
        if (e->gone[i] == STAYS || !e->reached[i] || !needs(e, i, &e->after[i])) continue;
        e->gone[i] = STAYS;
        more = true;
    }
    return more;
}

/* An instruction that several functions share is live where one of them needs it, and what it reads
 * is live in all. */
hg_status optimize_dead(optimize_edit *e) {
    do HG_TRY(optimize_live(e, needs));
    while (mark_live(e) && e->cfg->function_count > 1);
    for (uint32_t i = 0; i < e->program->inst_count; i++) {
        bool stays = e->gone[i] == STAYS;
        e->gone[i] = 0;
        if (!stays) optimize_remove(e, i);
    }
    return HG_OK;
}
