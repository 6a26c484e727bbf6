/* Index registers, counts and flat addresses may be u32 or u64, some operands of Atlas instructions
 * of any type. The verifier proved that each has one type at each point, on every path, so any one
 * path from the function's start shows which: a walk of a spanning tree of the blocks. */
#include "kir/build/build_internal.h"

#include <string.h>

typedef struct undo {
    uint8_t reg, type;
} undo;

typedef struct walk {
    build *x;
    uint8_t types[256]; /* at the point of the walk */
    HG_VEC(undo) log;
    bool failed;
} walk;

static void write_type(walk *w, uint8_t reg, uint8_t type) {
    if (w->types[reg] == type) return;
    undo *u = hg_vec_push(&w->log);
    if (!u) {
        w->failed = true;
        return;
    }
    *u = (undo){reg, w->types[reg]};
    w->types[reg] = type;
}

static uint8_t written_type(const hg_inst *in, const hg_operand_info *info, const hg_operand *o) {
    switch ((hg_type_rule)info->rule) {
    case HG_R_T: return in->type;
    case HG_R_U32: return HG_TYPE_U32;
    case HG_R_U8: return HG_TYPE_U8;
    case HG_R_F32: return HG_TYPE_F32;
    case HG_R_F64: return HG_TYPE_F64;
    case HG_R_ID: return (uint8_t)hg_idname_type((hg_idname)o[1].value);
    default: return HG_TYPE_U64;
    }
}

static void note_items(walk *w, const hg_program *p, const hg_operand *o) {
    for (uint64_t i = 0; i < o->item_count; i++) {
        uint32_t count;
        const hg_tuple_item *counts = hg_tuple_counts(p, &hg_tuple(p, o)[i], &count);
        for (uint32_t k = 0; k < count; k++)
            if (counts[k].is_reg) w->x->item_types[&counts[k] - p->items] = w->types[counts[k].reg];
    }
}

static void step(walk *w, uint32_t inst) {
    const hg_program *p = w->x->program;
    const hg_inst *in = &p->insts[inst];
    const hg_op_info *row = hg_op_get((hg_op)in->op);
    const hg_operand *o = hg_inst_operands(p, inst);
    for (uint32_t i = 0; i < row->operand_count; i++) {
        if (row->operands[i].kind == HG_K_TUPLE || row->operands[i].kind == HG_K_TUPLES)
            note_items(w, p, &o[i]);
        bool address = row->operands[i].kind == HG_K_ADDRESS || row->operands[i].kind == HG_K_ARRAY;
        bool open = row->operands[i].rule == HG_R_ANY || row->operands[i].rule == HG_R_INTEGER;
        if (!address && !open && !(row->operands[i].kind == HG_K_COUNT && o[i].is_reg)) continue;
        uint8_t reg = address && o[i].place != HG_PLACE_FLAT ? o[i].index : o[i].reg;
        w->x->types[in->operands + i] = w->types[reg];
    }
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (row->operands[i].kind == HG_K_REG && (row->operands[i].access & HG_WRITE))
            write_type(w, o[i].reg, written_type(in, &row->operands[i], o));
}

static void call(walk *w, uint32_t callee) {
    const hg_function *g = &w->x->cfg->functions[callee];
    for (uint32_t r = 0; r < 256; r++) {
        uint8_t left = g->returns ? g->leaves[r] : HG_TYPE_OMITTED;
        if (left == HG_TYPE_OMITTED) continue;
        if (left < HG_TYPE_COUNT)
            write_type(w, (uint8_t)r, left);
        else if (left == HG_LEAVES_NOTHING || (left & ~HG_LEAVES_MAYBE) != w->types[r])
            write_type(w, (uint8_t)r, HG_LEAVES_NOTHING);
    }
}

static void run_block(walk *w, uint32_t number) {
    const hg_block *block = &w->x->source->blocks[number];
    for (uint32_t i = block->first; i < block->last && !w->failed; i++) step(w, i);
    if (block->exit == HG_EXIT_CALL) call(w, block->callee);
}

typedef struct visit {
    uint32_t block, next;
    uint64_t mark;
} visit;

/* Depth-first over the blocks; going back undoes what was learnt on the way. */
hg_status build_widths(build *x) {
    const hg_function *f = x->source;
    walk w = {.x = x};
    visit *stack = hg_calloc(f->block_count, sizeof *stack);
    bool *seen = hg_calloc(f->block_count, sizeof *seen);
    w.failed = !stack || !seen;
    memcpy(w.types, x->source_number ? f->reads : x->cfg->param_types, sizeof w.types);
    uint32_t depth = 0;
    if (!w.failed) {
        seen[0] = true;
        run_block(&w, 0);
        stack[depth++] = (visit){0, 0, 0};
    }
    while (depth && !w.failed) {
        visit *v = &stack[depth - 1];
        if (v->next < 2) {
            uint32_t to = f->blocks[v->block].succ[v->next++];
            if (to == HG_NO_BLOCK || seen[to]) continue;
            seen[to] = true;
            stack[depth++] = (visit){to, 0, w.log.count};
            run_block(&w, to);
            continue;
        }
        while (w.log.count > v->mark) {
            undo *u = &w.log.data[--w.log.count];
            w.types[u->reg] = u->type;
        }
        depth--;
    }
    hg_free(stack);
    hg_free(seen);
    hg_vec_free(&w.log);
    return w.failed ? hg_fail_memory() : HG_OK;
}
