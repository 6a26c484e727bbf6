/* Sums and scans of the lanes of a block, of integers, whose order changes no bit. Turns come one
 * after another: of a scan, what all lanes before a turn come to is one value of the block, and
 * within a turn log2(lanes) steps put lanes together. A sum has one for each place in a turn, and
 * puts these together behind the last. A sum's part of a turn stands in front of the barrier that
 * the operation begins with, where the values are made: nobody reads it before.
 * Must not know: what more the block does. */
#include "kir/analysis/analysis.h"
#include "kir/define/define.h"
#include "vector/form_internal.h"

#include <string.h>

static vec_value *number(former *x, uint8_t type, uint64_t bits) {
    vec_value *v = vec_add(x, VEC_CONST, type, false, 0, NULL);
    v->u.imm = bits;
    return v;
}

/* What changes nothing. */
static uint64_t identity(hg_op fold, hg_type type) {
    uint64_t bits = 0, size = hg_type_size_bytes(type);
    uint8_t bytes[8] = {0};
    if (fold == HG_OP_AND)
        memset(bytes, 0xFF, size);
    else
        kir_identity(fold, type, bytes);
    for (uint64_t i = 0; i < size; i++) bits |= (uint64_t)bytes[i] << (8 * i);
    return bits;
}

static vec_value *combine(former *x, const kir_value *sum, vec_value *a, vec_value *b) {
    const hg_op fold = hg_op_folds_with((hg_op)sum->u.block.op);
    const hg_type type = (hg_type)sum->u.block.atlas_type;
    if (fold != HG_OP_MIN && fold != HG_OP_MAX)
        return vec_prim(x, kir_operate_primitive((uint16_t)fold, type), sum->type, 2,
                        (vec_value *[]){a, b});
    vec_value *less = vec_prim(x, hg_type_is_signed(type) ? KIR_CMP_SLT : KIR_CMP_ULT, KIR_BOOL, 2,
                               (vec_value *[]){a, b});
    const bool min = fold == HG_OP_MIN;
    return vec_prim(x, KIR_SELECT, sum->type, 3, (vec_value *[]){less, min ? a : b, min ? b : a});
}

/* Of all lanes of the turn, in each of them. */
static vec_value *sum_of_turn(former *x, const kir_value *sum, vec_value *v) {
    for (uint32_t far = x->k->lanes / 2; far; far /= 2) {
        vec_value *args[] = {v, number(x, HG_TYPE_U32, far)};
        v = combine(x, sum, vec_add(x, VEC_EXCHANGE, sum->type, true, 2, args), v);
    }
    return v;
}

static vec_value *slide(former *x, vec_value *v, vec_value *before, uint32_t far) {
    vec_value *made = vec_add(x, VEC_SLIDE, v->type, true, 2, (vec_value *[]){v, before});
    made->u.imm = far;
    return made;
}

static vec_value *pick_last(former *x, vec_value *v) {
    vec_value *last = vec_add(x, VEC_PICK, v->type, false, 1, &v);
    last->u.imm = x->k->lanes - 1;
    return last;
}

/* In each lane, of those up to it in the turn. */
static vec_value *scan_of_turn(former *x, const kir_value *sum, vec_value *v, vec_value *none) {
    for (uint32_t far = 1; far < x->k->lanes; far *= 2)
        v = combine(x, sum, slide(x, v, none, far), v);
    return v;
}

static bool has_form(const former *x, const kir_value *v) {
    return x->block && (!x->region->owner || split_of(x->region->owner)->split) &&
           !kir_type_is_float(v->type);
}

/* The part of a turn: what all turns so far come to is in x->so_far, of a sum for each place. */
static void form_part(former *x, kir_value *v) {
    const bool scan = !kir_block_is_one((hg_op)v->u.block.op);
    const uint64_t nothing = identity(hg_op_folds_with((hg_op)v->u.block.op),
                                      (hg_type)v->u.block.atlas_type);
    vec_var *so_far = vec_new_var(x, v->type, !scan, NULL, false);
    so_far->turns = NULL;
    vec_value *mine = vec_each(x, v->args[0]);
    vec_place place = vec_to_level(x);
    vec_set(x, so_far, number(x, v->type, nothing), NULL);
    vec_back_to(x, place);
    vec_value *none = number(x, v->type, nothing), *here = vec_running(x);
    mine = vec_prim(x, KIR_SELECT, v->type, 3, (vec_value *[]){here, mine, none});
    vec_value *before = vec_get(x, so_far), *last = mine;
    if (scan) {
        mine = scan_of_turn(x, v, mine, none);
        last = pick_last(x, mine);
        vec_value *all = combine(x, v, before, mine);
        vec_is(x, v, v->u.block.exclusive ? slide(x, all, before, 1) : all);
    }
    vec_set(x, so_far, combine(x, v, before, last), NULL);
    x->so_far = so_far;
}

void vec_begin_sum(former *x, const kir_value *barrier) {
    kir_value *v = barrier->next;
    if (!v || v->op != KIR_BLOCK || !v->uses || !kir_block_is_one((hg_op)v->u.block.op) ||
        !has_form(x, v))
        return;
    const uint32_t inst = x->inst;
    x->inst = v->inst;
    form_part(x, v);
    x->inst = inst;
}

void vec_form_sum(former *x, kir_value *v) {
    if (!has_form(x, v)) {
        x->unsupported = kir_op_name(KIR_BLOCK);
        return;
    }
    if (!x->so_far) form_part(x, v);
    vec_var *so_far = x->so_far;
    x->so_far = NULL;
    if (!kir_block_is_one((hg_op)v->u.block.op)) return;
    vec_close_turns(x);
    vec_place place = vec_to_level(x);
    vec_is(x, v, pick_last(x, sum_of_turn(x, v, vec_get(x, so_far))));
    vec_back_to(x, place);
}
