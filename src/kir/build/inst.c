/* One Atlas instruction as kernel IR: moves, arithmetic, logic, comparisons, functions, register
 * reductions.
 * Must not know: control flow. */
#include "kir/build/build_internal.h"
#include "kir/builder.h"
#include "kir/define/define.h"

#include <string.h>

/* ---- register reductions, left to right; halves in f32 with one rounding at the end ---- */

static void reduce(build *x, const hg_inst *in, const hg_operand *o) {
    hg_op op = hg_op_folds_with((hg_op)in->op);
    hg_type type = (hg_type)in->type, wide = kir_is_half(type) ? HG_TYPE_F32 : type;
    kir_value *sum = NULL;
    for (uint32_t i = 0; i < o[2].value; i++) {
        kir_value *v = build_get(x, (uint8_t)(o[1].reg + i), kir_type_of(type));
        if (kir_is_half(type)) v = kir_widen_half(&x->b, type, v);
        sum = sum ? kir_operate(&x->b, (uint16_t)op, wide, (kir_value *[]){sum, v}) : v;
    }
    if (!sum) {
        uint8_t identity[512];
        kir_identity(op, wide, identity);
        sum = kir_const_bytes(&x->b, kir_type_of(wide), identity);
    }
    build_set(x, o[0].reg, kir_is_half(type) ? kir_narrow_half(&x->b, type, sum) : sum);
}

/* ---- comparison ---- */

static kir_value *compare(build *x, hg_condition c, hg_type type, kir_value *l, kir_value *r) {
    kir_builder *b = &x->b;
    if (kir_is_half(type)) {
        l = kir_widen_half(b, type, l);
        r = kir_widen_half(b, type, r);
    }
    bool real = hg_type_is_float(type);
    bool is_signed = hg_type_is_signed(type) && !hg_condition_is_unsigned(c);
    kir_op equal = real ? KIR_FCMP_EQ : KIR_CMP_EQ, less = real        ? KIR_FCMP_LT
                                                           : is_signed ? KIR_CMP_SLT
                                                                       : KIR_CMP_ULT;
    switch (c) {
    case HG_COND_EQ: return kir_binary(b, equal, l, r);
    case HG_COND_NE: return kir_not(b, kir_binary(b, equal, l, r));
    case HG_COND_LT:
    case HG_COND_LTU: return kir_binary(b, less, l, r);
    case HG_COND_GT:
    case HG_COND_GTU: return kir_binary(b, less, r, l);
    case HG_COND_LE:
    case HG_COND_LEU:
        return real ? kir_binary(b, KIR_FCMP_LE, l, r) : kir_not(b, kir_binary(b, less, r, l));
    default: return real ? kir_binary(b, KIR_FCMP_LE, r, l) : kir_not(b, kir_binary(b, less, l, r));
    }
}

/* ---- dispatch ---- */

static void plain(build *x, const hg_inst *in, const hg_operand *o) {
    uint8_t type = kir_type_of((hg_type)in->type);
    kir_value *a[4] = {0};
    uint32_t count = hg_op_get((hg_op)in->op)->operand_count;
    for (uint32_t i = 1; i < count && i <= HG_COUNT_OF(a); i++)
        a[i - 1] = build_get(x, o[i].reg, type);
    build_set(x, o[0].reg, kir_operate(&x->b, in->op, (hg_type)in->type, a));
}

static void shift(build *x, const hg_inst *in, const hg_operand *o) {
    kir_op op = in->op == HG_OP_SHL                    ? KIR_SHL
                : hg_type_is_signed((hg_type)in->type) ? KIR_ASHR
                                                       : KIR_LSHR;
    kir_value *v = build_get(x, o[1].reg, kir_type_of((hg_type)in->type));
    build_set(x, o[0].reg, kir_binary(&x->b, op, v, build_get(x, o[2].reg, HG_TYPE_U32)));
}

static void rotate(build *x, const hg_inst *in, const hg_operand *o) {
    kir_value *v = build_get(x, o[1].reg, kir_type_of((hg_type)in->type));
    build_set(x, o[0].reg,
              kir_rotate(&x->b, in->op == HG_OP_ROTL, v, build_get(x, o[2].reg, HG_TYPE_U32)));
}

static void count_bits(build *x, const hg_inst *in, const hg_operand *o) {
    kir_value *v = build_get(x, o[1].reg, kir_type_of((hg_type)in->type));
    build_set(x, o[0].reg, kir_count_bits(&x->b, in->op, (hg_type)in->type, v));
}

static void pair_product(build *x, const hg_inst *in, const hg_operand *o) {
    kir_value *a = build_get(x, o[1].reg, HG_TYPE_U32), *b = build_get(x, o[2].reg, HG_TYPE_U32),
              *c = build_get(x, o[3].reg, HG_TYPE_F32);
    build_set(x, o[0].reg, kir_pair_product(&x->b, (hg_type)in->type, a, b, c));
}

static void multiply_wide(build *x, const hg_inst *in, const hg_operand *o) {
    uint8_t type = kir_type_of((hg_type)in->type2);
    kir_value *l = build_get(x, o[1].reg, type), *r = build_get(x, o[2].reg, type);
    build_set(x, o[0].reg, kir_mul_wide(&x->b, (hg_type)in->type, l, r));
}

static void carry(build *x, const hg_inst *in, const hg_operand *o) {
    uint8_t type = kir_type_of((hg_type)in->type);
    bool first = in->op == HG_OP_ADDC_FIRST || in->op == HG_OP_SUBB_FIRST;
    kir_value *l = build_get(x, o[2].reg, type), *r = build_get(x, o[3].reg, type),
              *given = first ? NULL : build_pred(x, o[4].reg), *out;
    build_set(
        x, o[0].reg,
        kir_carry(&x->b, in->op == HG_OP_SUBB || in->op == HG_OP_SUBB_FIRST, l, r, given, &out));
    build_set_pred(x, o[1].reg, out);
}

/* Halves are integers already. */
static void take_pattern(build *x, const hg_inst *in, const hg_operand *o) {
    uint8_t to = kir_type_of((hg_type)in->type), from = kir_type_of((hg_type)in->type2);
    kir_value *v = build_get(x, o[1].reg, from);
    build_set(x, o[0].reg, to == from ? v : kir_convert(&x->b, KIR_BITCAST, to, v));
}

static void barrier(build *x, const hg_operand *o) {
    kir_emit(&x->b, KIR_BARRIER, KIR_VOID, 0, NULL)->u.imm = o[0].value;
    x->module->uses_barrier = true;
}

static void identify(build *x, const hg_operand *o) {
    kir_value *v = kir_emit(&x->b, KIR_ID, kir_type_of(hg_idname_type((hg_idname)o[1].value)), 0,
                            NULL);
    v->u.imm = o[1].value;
    build_set(x, o[0].reg, v);
}

static void compare_or_select(build *x, const hg_inst *in, const hg_operand *o) {
    uint8_t type = kir_type_of((hg_type)in->type);
    kir_value *l = build_get(x, o[2].reg, type), *r = build_get(x, o[3].reg, type);
    if (in->op == HG_OP_SET)
        build_set_pred(x, o[1].reg, compare(x, (hg_condition)o[0].value, (hg_type)in->type, l, r));
    else
        build_set(x, o[0].reg, kir_select(&x->b, build_pred(x, o[1].reg), l, r));
}

/* and.p … sel.p, by the logic of bools alone. */
static void predicates(build *x, const hg_inst *in, const hg_operand *o) {
    kir_builder *b = &x->b;
    kir_value *first = build_pred(x, o[1].reg);
    kir_op op = in->op == HG_OP_AND_P ? KIR_AND : in->op == HG_OP_OR_P ? KIR_OR : KIR_XOR;
    switch ((hg_op)in->op) {
    case HG_OP_MOV_P: break;
    case HG_OP_NOT_P: first = kir_not(b, first); break;
    case HG_OP_SEL_P: { /* b xor (q and (a xor b)) */
        kir_value *yes = build_pred(x, o[2].reg), *no = build_pred(x, o[3].reg);
        first = kir_binary(b, KIR_XOR, no,
                           kir_binary(b, KIR_AND, first, kir_binary(b, KIR_XOR, yes, no)));
        break;
    }
    default: first = kir_binary(b, op, first, build_pred(x, o[2].reg));
    }
    build_set_pred(x, o[0].reg, first);
}

void build_instruction(build *x, uint32_t inst) {
    const hg_inst *in = &x->program->insts[inst];
    const hg_operand *o = hg_inst_operands(x->program, inst);
    build_trace_point(x, inst);
    x->b.inst = inst + 1;
    uint8_t type = in->type < HG_TYPE_COUNT ? kir_type_of((hg_type)in->type) : (uint8_t)KIR_VOID;
    uint32_t flags = hg_op_get((hg_op)in->op)->flags;
    switch (hg_op_access((hg_op)in->op)) {
    case HG_OP_MOV: build_set(x, o[0].reg, build_get(x, o[1].reg, type)); break;
    case HG_OP_MOV_IMM:
        build_set(x, o[0].reg, kir_const_bytes(&x->b, type, hg_literal(x->program, &o[1])));
        break;
    case HG_OP_CVT:
        build_set(x, o[0].reg,
                  kir_cvt(&x->b, (hg_type)in->type, (hg_type)in->type2,
                          build_get(x, o[1].reg, kir_type_of((hg_type)in->type2))));
        break;
    case HG_OP_BITS: take_pattern(x, in, o); break;
    case HG_OP_AXIS_FIRST:
    case HG_OP_AXIS: build_axis(x, inst); break;
    case HG_OP_RDID: identify(x, o); break;
    case HG_OP_SHL:
    case HG_OP_SHR: shift(x, in, o); break;
    case HG_OP_SET:
    case HG_OP_SEL: compare_or_select(x, in, o); break;
    case HG_OP_ROTL:
    case HG_OP_ROTR: rotate(x, in, o); break;
    case HG_OP_POPC:
    case HG_OP_CLZ:
    case HG_OP_CTZ: count_bits(x, in, o); break;
    case HG_OP_DOT2: pair_product(x, in, o); break;
    case HG_OP_MULW: multiply_wide(x, in, o); break;
    case HG_OP_ADDC:
    case HG_OP_ADDC_FIRST:
    case HG_OP_SUBB:
    case HG_OP_SUBB_FIRST: carry(x, in, o); break;
    case HG_OP_AND_P:
    case HG_OP_OR_P:
    case HG_OP_XOR_P:
    case HG_OP_NOT_P:
    case HG_OP_SEL_P:
    case HG_OP_MOV_P: predicates(x, in, o); break;
    case HG_OP_BAR_SYNC: barrier(x, o); break;
    case HG_OP_MEMFENCE: kir_emit(&x->b, KIR_FENCE, KIR_VOID, 0, NULL)->u.imm = o[0].value; break;
    case HG_OP_LDP:
    case HG_OP_STP: build_private(x, inst); break;
    case HG_OP_LDG:
    case HG_OP_STG:
    case HG_OP_LDS:
    case HG_OP_STS:
    case HG_OP_POOL_LOAD:
    case HG_OP_POOL_LOAD_CONST:
    case HG_OP_POOL_STORE:
    case HG_OP_POOL_STORE_CONST: build_memory(x, inst); break;
    default:
        if (flags & HG_F_BLOCK)
            build_block(x, inst);
        else if (flags & HG_F_ATLAS)
            build_atlas(x, inst);
        else if (hg_op_asks_all(in->op))
            build_grid(x, inst);
        else if (flags & HG_F_COLLECTIVE)
            build_step(x, inst);
        else if (flags & HG_F_ATOMIC)
            build_memory(x, inst);
        else if (flags & HG_F_RUN)
            reduce(x, in, o);
        else if (!(flags & HG_F_CONTROL))
            plain(x, in, o);
    }
}
