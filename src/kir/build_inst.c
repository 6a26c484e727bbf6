/* One Atlas instruction as kernel IR: moves, arithmetic, logic, comparisons, functions, register reductions.
 * f16 and bf16 are widened to f32, computed and rounded once (semantics 0.3). Must not know: control flow. */
#include "kir/build_internal.h"

#include <string.h>

static bool is_half(hg_type type) { return type == HG_TYPE_F16 || type == HG_TYPE_BF16; }

static kir_value *widen(build *x, hg_type half, kir_value *v) {
    return kir_convert(&x->b, half == HG_TYPE_F16 ? KIR_H2F : KIR_B2F, HG_TYPE_F32, v);
}

static kir_value *narrow(build *x, hg_type half, kir_value *v) {
    return kir_convert(&x->b, half == HG_TYPE_F16 ? KIR_F2H : KIR_F2B, HG_TYPE_U16, v);
}

/* A definition over primitives: inline when small, else one function a module. */
static kir_value *define(build *x, uint16_t fn, hg_type type, kir_value *const *args) {
    if (kir_define_is_small(fn, type)) return kir_define(&x->b, fn, type, args);
    return kir_derived(&x->b, fn, type, kir_define_args(fn), args);
}


/* Division that was checked: the primitive gives 0 for a zero divisor, so that it is defined where the lane has stopped. */
static kir_value *divide(build *x, hg_op op, hg_type type, kir_value *a, kir_value *c) {
    bool is_signed = hg_type_is_signed(type);
    kir_fault_if(&x->b, kir_binary(&x->b, KIR_CMP_EQ, c, kir_const(&x->b, c->type, 0)), KIR_FAULT_DIVISION, 3, "division by zero");
    if (op == HG_OP_DIV) return kir_binary(&x->b, is_signed ? KIR_SDIV : KIR_UDIV, a, c);
    return kir_binary(&x->b, is_signed ? KIR_SREM : KIR_UREM, a, c);
}

/* An operation on operands of one type that is not half. */
static kir_value *operate(build *x, hg_op op, hg_type type, kir_value *const *a) {
    kir_builder *b = &x->b;
    bool real = hg_type_is_float(type);
    switch (op) {
    case HG_OP_ADD: return kir_add(b, a[0], a[1]);
    case HG_OP_SUB: return kir_sub(b, a[0], a[1]);
    case HG_OP_MUL: return kir_mul(b, a[0], a[1]);
    case HG_OP_DIV: return real ? kir_binary(b, KIR_FDIV, a[0], a[1]) : divide(x, op, type, a[0], a[1]);
    case HG_OP_REM: return real ? define(x, HG_OP_REM, type, a) : divide(x, op, type, a[0], a[1]);
    case HG_OP_FMA: return real ? kir_ffma(b, a[0], a[1], a[2]) : kir_add(b, kir_mul(b, a[0], a[1]), a[2]);
    case HG_OP_AND: return kir_binary(b, KIR_AND, a[0], a[1]);
    case HG_OP_OR: return kir_binary(b, KIR_OR, a[0], a[1]);
    case HG_OP_XOR: return kir_binary(b, KIR_XOR, a[0], a[1]);
    case HG_OP_SQRT: return kir_unary(b, KIR_FSQRT, a[0]);
    case HG_OP_FLOOR: return real ? kir_unary(b, KIR_FFLOOR, a[0]) : a[0];
    case HG_OP_TRUNC: return real ? kir_unary(b, KIR_FTRUNC, a[0]) : a[0];
    default: return define(x, (uint16_t)op, type, a);
    }
}

/* The same on halves: bits where the meaning is about bits, else through f32 with one rounding; mad has two by definition. */
static kir_value *operate_half(build *x, hg_op op, hg_type type, kir_value *const *a) {
    kir_builder *b = &x->b;
    if (op == HG_OP_ABS) return kir_binary(b, KIR_AND, a[0], kir_const(b, HG_TYPE_U16, 0x7FFF));
    if (op == HG_OP_NEG) return kir_binary(b, KIR_XOR, a[0], kir_const(b, HG_TYPE_U16, 0x8000));
    kir_value *w[4];
    uint32_t count = hg_op_get(op)->operand_count - 1u;
    for (uint32_t i = 0; i < count; i++) w[i] = widen(x, type, a[i]);
    if (op == HG_OP_MAD) {
        kir_value *product = narrow(x, type, kir_mul(b, w[0], w[1]));
        return narrow(x, type, kir_add(b, widen(x, type, product), w[2]));
    }
    return narrow(x, type, operate(x, op, HG_TYPE_F32, w));
}

/* ---- register reductions, left to right; halves in f32 with one rounding at the end ---- */

static hg_op reduce_op(hg_op op) {
    return op == HG_OP_REDUCE_ADD ? HG_OP_ADD : op == HG_OP_REDUCE_MUL ? HG_OP_MUL : op == HG_OP_REDUCE_MIN ? HG_OP_MIN : HG_OP_MAX;
}

/* The value that changes nothing: 0, 1, +inf or MAX, -inf or MIN. */
static kir_value *identity(build *x, hg_op op, hg_type type) {
    kir_builder *b = &x->b;
    uint8_t kind = kir_type_of(type);
    if (op == HG_OP_ADD) return kir_const(b, kind, 0);
    if (op == HG_OP_MUL && type == HG_TYPE_F32) return kir_f32(b, 1);
    if (op == HG_OP_MUL && type == HG_TYPE_F64) return kir_f64(b, 1);
    if (op == HG_OP_MUL) return kir_const(b, kind, 1);
    bool least = op == HG_OP_MAX; /* the smallest value of the type */
    if (type == HG_TYPE_F32) return kir_const(b, kind, least ? UINT64_C(0xFF800000) : UINT64_C(0x7F800000));
    if (type == HG_TYPE_F64) return kir_const(b, kind, least ? UINT64_C(0xFFF0000000000000) : UINT64_C(0x7FF0000000000000));
    uint8_t bytes[512];
    uint64_t size = hg_type_size_bytes(type);
    memset(bytes, least ? 0 : 0xFF, sizeof bytes);
    if (hg_type_is_signed(type)) bytes[size - 1] = least ? 0x80 : 0x7F;
    return kir_const_bytes(b, kind, bytes);
}

static void reduce(build *x, const hg_inst *in, const hg_operand *o) {
    hg_op op = reduce_op((hg_op)in->op);
    hg_type type = (hg_type)in->type, wide = is_half(type) ? HG_TYPE_F32 : type;
    kir_value *sum = NULL;
    for (uint32_t i = 0; i < o[2].value; i++) {
        kir_value *v = build_get(x, (uint8_t)(o[1].reg + i), kir_type_of(type));
        if (is_half(type)) v = widen(x, type, v);
        sum = sum ? operate(x, op, wide, (kir_value *[]){sum, v}) : v;
    }
    if (!sum) sum = identity(x, op, wide);
    build_set(x, o[0].reg, is_half(type) ? narrow(x, type, sum) : sum);
}

/* ---- comparison ---- */

static kir_value *compare(build *x, hg_condition c, hg_type type, kir_value *l, kir_value *r) {
    kir_builder *b = &x->b;
    if (is_half(type)) {
        l = widen(x, type, l);
        r = widen(x, type, r);
    }
    bool real = hg_type_is_float(type);
    bool is_signed = hg_type_is_signed(type) && c < HG_COND_LTU;
    kir_op equal = real ? KIR_FCMP_EQ : KIR_CMP_EQ, less = real ? KIR_FCMP_LT : is_signed ? KIR_CMP_SLT : KIR_CMP_ULT;
    switch (c) {
    case HG_COND_EQ: return kir_binary(b, equal, l, r);
    case HG_COND_NE: return kir_not(b, kir_binary(b, equal, l, r));
    case HG_COND_LT: case HG_COND_LTU: return kir_binary(b, less, l, r);
    case HG_COND_GT: case HG_COND_GTU: return kir_binary(b, less, r, l);
    case HG_COND_LE: case HG_COND_LEU: return real ? kir_binary(b, KIR_FCMP_LE, l, r) : kir_not(b, kir_binary(b, less, r, l));
    default: return real ? kir_binary(b, KIR_FCMP_LE, r, l) : kir_not(b, kir_binary(b, less, l, r));
    }
}

/* ---- dispatch ---- */

static void plain(build *x, const hg_inst *in, const hg_operand *o) {
    uint8_t type = kir_type_of((hg_type)in->type);
    kir_value *a[4] = {0};
    uint32_t count = hg_op_get((hg_op)in->op)->operand_count;
    for (uint32_t i = 1; i < count && i <= HG_COUNT_OF(a); i++) a[i - 1] = build_get(x, o[i].reg, type);
    bool half = is_half((hg_type)in->type);
    build_set(x, o[0].reg, half ? operate_half(x, (hg_op)in->op, (hg_type)in->type, a) : operate(x, (hg_op)in->op, (hg_type)in->type, a));
}

static void shift(build *x, const hg_inst *in, const hg_operand *o) {
    kir_op op = in->op == HG_OP_SHL ? KIR_SHL : hg_type_is_signed((hg_type)in->type) ? KIR_ASHR : KIR_LSHR;
    kir_value *v = build_get(x, o[1].reg, kir_type_of((hg_type)in->type));
    build_set(x, o[0].reg, kir_binary(&x->b, op, v, build_get(x, o[2].reg, HG_TYPE_U32)));
}

static void barrier(build *x, const hg_operand *o) {
    kir_emit(&x->b, KIR_BARRIER, KIR_VOID, 0, NULL)->u.imm = o[0].value;
    x->module->uses_barrier = true;
}

static void identify(build *x, const hg_operand *o) {
    kir_value *v = kir_emit(&x->b, KIR_ID, kir_type_of(hg_idname_type((hg_idname)o[1].value)), 0, NULL);
    v->u.imm = o[1].value;
    build_set(x, o[0].reg, v);
}

static void compare_or_select(build *x, const hg_inst *in, const hg_operand *o) {
    uint8_t type = kir_type_of((hg_type)in->type);
    kir_value *l = build_get(x, o[2].reg, type), *r = build_get(x, o[3].reg, type);
    if (in->op == HG_OP_SET) build_set_pred(x, o[1].reg, compare(x, (hg_condition)o[0].value, (hg_type)in->type, l, r));
    else build_set(x, o[0].reg, kir_select(&x->b, build_pred(x, o[1].reg), l, r));
}

void build_instruction(build *x, uint32_t inst) {
    const hg_inst *in = &x->program->insts[inst];
    const hg_operand *o = hg_inst_operands(x->program, inst);
    x->b.inst = inst + 1;
    uint8_t type = in->type < HG_TYPE_COUNT ? kir_type_of((hg_type)in->type) : (uint8_t)KIR_VOID;
    switch ((hg_op)in->op) {
    case HG_OP_MOV: build_set(x, o[0].reg, build_get(x, o[1].reg, type)); break;
    case HG_OP_MOV_IMM: build_set(x, o[0].reg, kir_const_bytes(&x->b, type, hg_literal(x->program, &o[1]))); break;
    case HG_OP_CVT:
        build_set(x, o[0].reg, kir_cvt(&x->b, (hg_type)in->type, (hg_type)in->type2, build_get(x, o[1].reg, kir_type_of((hg_type)in->type2))));
        break;
    case HG_OP_RDID: identify(x, o); break;
    case HG_OP_SHL: case HG_OP_SHR: shift(x, in, o); break;
    case HG_OP_SET: case HG_OP_SEL: compare_or_select(x, in, o); break;
    case HG_OP_BAR_SYNC: barrier(x, o); break;
    case HG_OP_MEMFENCE: kir_emit(&x->b, KIR_FENCE, KIR_VOID, 0, NULL)->u.imm = o[0].value; break;
    case HG_OP_REDUCE_ADD: case HG_OP_REDUCE_MIN: case HG_OP_REDUCE_MAX: case HG_OP_REDUCE_MUL: reduce(x, in, o); break;
    case HG_OP_LDG: case HG_OP_STG: case HG_OP_LDS: case HG_OP_STS:
    case HG_OP_POOL_LOAD: case HG_OP_POOL_LOAD_CONST: case HG_OP_POOL_STORE: case HG_OP_POOL_STORE_CONST:
    case HG_OP_ATOM_ADD: case HG_OP_ATOM_MIN: case HG_OP_ATOM_MAX: case HG_OP_ATOM_AND: case HG_OP_ATOM_OR: case HG_OP_ATOM_XOR:
    case HG_OP_ATOM_EXCH: case HG_OP_ATOM_CAS: build_memory(x, inst); break;
    default:
        if (hg_op_get((hg_op)in->op)->flags & HG_F_COLLECTIVE) build_step(x, inst);
        else if (!(hg_op_get((hg_op)in->op)->flags & HG_F_CONTROL)) plain(x, in, o);
    }
}
