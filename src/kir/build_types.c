/* Index registers, counts and flat addresses may be u32 or u64. The verifier proved that each has one type at each point, on every
 * path, so any one path from the function's start tells which: a walk of a spanning tree of the blocks.
 * A function may take such a register in either width; it gets u64 where callers differ, and callers with u32 widen. */
#include "kir/build_internal.h"

#include <string.h>

typedef struct undo { uint8_t reg, type; } undo;

typedef struct walk {
    build *x;
    bool final;             /* fill wide and notes; else the entries of callees */
    uint8_t types[256];     /* at the point of the walk */
    HG_VEC(undo) log;
    bool failed;
} walk;

static bool takes_either(uint8_t reads) { return reads != HG_TYPE_OMITTED && reads >= HG_TYPE_COUNT; }

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
    case HG_R_ID: return (uint8_t)hg_idname_type((hg_idname)o[1].value);
    default: return HG_TYPE_U64;
    }
}

static void add_note(walk *w, uint32_t block, build_note note) {
    build_note *n = hg_vec_push(&w->x->notes);
    if (!n) {
        w->failed = true;
        return;
    }
    *n = note;
    n->next = w->x->notes_at[block];
    w->x->notes_at[block] = (uint32_t)w->x->notes.count;
}

static void note_width(walk *w, uint32_t block, uint32_t operand, bool wide) {
    uint32_t *to = &w->x->wide[operand], now = w->x->source_number * 2 + 2 + wide;
    if ((*to & ~1u) != (now & ~1u)) *to = now;
    else if (*to != now) add_note(w, block, (build_note){.operand = operand, .wide = wide});
}

static void step(walk *w, uint32_t block, uint32_t inst) {
    const hg_program *p = w->x->program;
    const hg_inst *in = &p->insts[inst];
    const hg_op_info *row = hg_op_get((hg_op)in->op);
    const hg_operand *o = hg_inst_operands(p, inst);
    for (uint32_t i = 0; i < row->operand_count; i++) {
        bool address = row->operands[i].kind == HG_K_ADDRESS || row->operands[i].kind == HG_K_ARRAY;
        if (!address && !(row->operands[i].kind == HG_K_COUNT && o[i].is_reg)) continue;
        uint8_t reg = address && o[i].place != HG_PLACE_FLAT ? o[i].index : o[i].reg;
        if (w->final) note_width(w, block, in->operands + i, w->types[reg] != HG_TYPE_U32);
    }
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (row->operands[i].kind == HG_K_REG && (row->operands[i].access & HG_WRITE)) write_type(w, o[i].reg, written_type(in, &row->operands[i], o));
}

static void note_entry(walk *w, uint32_t callee, uint8_t reg) {
    uint8_t *entry = &w->x->entry[callee][reg], type = w->types[reg] == HG_TYPE_U32 ? HG_TYPE_U32 : HG_TYPE_U64;
    if (*entry == HG_TYPE_OMITTED) *entry = type;
    else if (*entry != type) *entry = HG_TYPE_U64;
}

static void call(walk *w, uint32_t block, uint32_t callee) {
    const hg_function *g = &w->x->cfg->functions[callee];
    for (uint32_t r = 0; r < 256; r++) {
        if (w->x->any_open_entry && takes_either(g->reads[r])) {
            if (!w->final) note_entry(w, callee, (uint8_t)r);
            else if (w->types[r] == HG_TYPE_U32 && w->x->entry[callee][r] == HG_TYPE_U64) add_note(w, block, (build_note){.reg = (uint8_t)r, .is_call = true});
        }
        uint8_t left = g->returns ? g->leaves[r] : HG_TYPE_OMITTED;
        if (left == HG_TYPE_OMITTED) continue;
        if (left < HG_TYPE_COUNT) write_type(w, (uint8_t)r, left);
        else if (left == HG_LEAVES_NOTHING || (left & ~HG_LEAVES_MAYBE) != w->types[r]) write_type(w, (uint8_t)r, HG_LEAVES_NOTHING);
    }
}

static void run_block(walk *w, uint32_t number) {
    const hg_block *block = &w->x->source->blocks[number];
    for (uint32_t i = block->first; i < block->last && !w->failed; i++) step(w, number, i);
    if (block->exit == HG_EXIT_CALL) call(w, number, block->callee);
}

typedef struct visit { uint32_t block, next; uint64_t mark; } visit;

/* Depth-first over the blocks; going back undoes what was learnt on the way. */
static hg_status walk_blocks(build *x, bool final) {
    const hg_function *f = x->source;
    walk w = {.x = x, .final = final};
    visit *stack = hg_calloc(f->block_count, sizeof *stack);
    bool *seen = hg_calloc(f->block_count, sizeof *seen);
    w.failed = !stack || !seen;
    for (uint32_t r = 0; r < 256; r++) {
        w.types[r] = x->source_number ? f->reads[r] : x->cfg->param_types[r];
        if (x->source_number && takes_either(f->reads[r])) w.types[r] = x->entry[x->source_number][r];
    }
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

hg_status build_entries(build *x) {
    const hg_cfg *cfg = x->cfg;
    for (uint32_t f = 1; f < cfg->function_count && !x->any_open_entry; f++)
        for (uint32_t r = 0; r < 256; r++) x->any_open_entry |= takes_either(cfg->functions[f].reads[r]);
    if (!x->any_open_entry) return HG_OK;
    x->entry = hg_alloc(cfg->function_count * sizeof *x->entry);
    if (!x->entry) return hg_fail_memory();
    memset(x->entry, HG_TYPE_OMITTED, cfg->function_count * sizeof *x->entry);
    for (uint32_t i = cfg->function_count; i-- > 0;) { /* callers first */
        x->source_number = cfg->bottom_up[i];
        x->source = &cfg->functions[x->source_number];
        HG_TRY(walk_blocks(x, false));
    }
    return HG_OK;
}

hg_status build_widths(build *x) {
    x->notes.count = 0;
    hg_free(x->notes_at);
    x->notes_at = hg_calloc(x->source->block_count, sizeof *x->notes_at);
    if (!x->notes_at) return hg_fail_memory();
    return walk_blocks(x, true);
}
