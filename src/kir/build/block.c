/* Instructions on the lanes of a block: a barrier, which counts as any other, and the operation
 * behind it. Halves are widened before and rounded once after it.
 * Must not know: how lanes exchange values. */
#include "kir/build/build_internal.h"
#include "kir/builder.h"
#include "kir/define/define.h"

/* The memory that the operation needs is found through an input of the launch. */
static void add_memory(build *x) {
    kir_module *m = x->module;
    m->uses_barrier = m->uses_shared = true;
    for (uint64_t i = 0; i < m->inputs.count; i++)
        if (m->inputs.data[i].kind == KIR_INPUT_SHARED) return;
    kir_input *input = hg_vec_push(&m->inputs);
    if (input)
        *input = (kir_input){.kind = KIR_INPUT_SHARED, .type = HG_TYPE_U64};
    else
        x->b.failed = true;
}

/* Of a predicate: 1 or 0 in each lane, which breduce.or or breduce.and makes one of. */
static void find_out_together(build *x, hg_op op, const hg_operand *o) {
    kir_builder *b = &x->b;
    kir_value *yes = kir_const(b, HG_TYPE_U32, 1), *no = kir_const(b, HG_TYPE_U32, 0),
              *own = kir_select(b, build_pred(x, o[1].reg), yes, no);
    kir_emit(b, KIR_BARRIER, KIR_VOID, 0, NULL);
    kir_value *v = kir_emit(b, KIR_BLOCK, HG_TYPE_U32, 1, &own);
    v->u.block.op = op == HG_OP_BLOCK_ANY ? HG_OP_BREDUCE_OR : HG_OP_BREDUCE_AND;
    v->u.block.atlas_type = HG_TYPE_U32;
    add_memory(x);
    build_set_pred(x, o[0].reg, kir_not(b, kir_binary(b, KIR_CMP_EQ, v, no)));
}

void build_block(build *x, uint32_t inst) {
    const hg_inst *in = &x->program->insts[inst];
    const hg_operand *o = hg_inst_operands(x->program, inst);
    if (in->op == HG_OP_BLOCK_ANY || in->op == HG_OP_BLOCK_ALL) {
        find_out_together(x, (hg_op)in->op, o);
        return;
    }
    bool shuffle = in->op == HG_OP_SHUFFLE, widens = kir_is_half((hg_type)in->type) && !shuffle;
    hg_type type = widens ? HG_TYPE_F32 : (hg_type)in->type;
    kir_value *args[2] = {build_get(x, o[1].reg, kir_type_of((hg_type)in->type)), NULL};
    if (widens) args[0] = kir_widen_half(&x->b, (hg_type)in->type, args[0]);
    if (shuffle) args[1] = build_resize(&x->b, HG_TYPE_U64, build_number(x, inst, 2));
    kir_emit(&x->b, KIR_BARRIER, KIR_VOID, 0, NULL);
    kir_value *v = kir_emit(&x->b, KIR_BLOCK, kir_type_of(type), (uint8_t)(1 + shuffle), args);
    v->u.block.op = in->op;
    v->u.block.atlas_type = (uint8_t)type;
    v->u.block.exclusive = hg_op_is_scan((hg_op)in->op) && o[2].value;
    add_memory(x);
    build_set(x, o[0].reg, widens ? kir_narrow_half(&x->b, (hg_type)in->type, v) : v);
}
