/* What an arithmetic, logic or function instruction does to values: the same in lane code and in
 * whole-array instructions. Of f16 and bf16 see operate_half.
 * Must not know: registers, memory. */
#include "kir/kir.h"
#include "kir/builder.h"
#include "kir/define/define.h"
#include <string.h>

/* Division that was checked: the primitive gives 0 for a zero divisor, so that it is defined where
 * the lane has stopped. */
static kir_value *divide(kir_builder *b, uint16_t fn, hg_type type, kir_value *const *a) {
    bool is_signed = hg_type_is_signed(type);
    kir_fault_if(b, kir_binary(b, KIR_CMP_EQ, a[1], kir_const(b, a[1]->type, 0)),
                 KIR_FAULT_DIVISION, 3, "division by zero");
    if (fn == HG_OP_DIV) return kir_binary(b, is_signed ? KIR_SDIV : KIR_UDIV, a[0], a[1]);
    return kir_binary(b, is_signed ? KIR_SREM : KIR_UREM, a[0], a[1]);
}

static bool is_zero(const kir_value *v) {
    return v->op == KIR_CONST && v->u.imm == 0;
} /* of a float: +0 */

/* A definition over primitives: inline when small, else one function a module. */
static kir_value *define(kir_builder *b, uint16_t fn, hg_type type, kir_value *const *a) {
    if (kir_define_is_small(fn, type)) return kir_define(b, fn, type, a);
    return kir_derived(b, fn, type, kir_define_args(fn), a);
}

enum { NONE = KIR_OP_COUNT, ITSELF = KIR_OP_COUNT + 1 };

typedef struct instruction {
    uint16_t fn;
    uint8_t integers, floats; /* kir_op, NONE or ITSELF */
} instruction;

static const instruction *find_instruction(uint16_t fn) {
    enum { KIR_NONE = NONE, KIR_ITSELF = ITSELF };
    static const instruction INSTRUCTIONS[] = {
#define KIR_INSTRUCTION(op, integers, floats) {HG_OP_##op, KIR_##integers, KIR_##floats},
#include "kir/prim.def"
#undef KIR_INSTRUCTION
    };
    for (size_t i = 0; i < HG_COUNT_OF(INSTRUCTIONS); i++)
        if (INSTRUCTIONS[i].fn == fn) return &INSTRUCTIONS[i];
    return NULL;
}

static int primitive_of(uint16_t fn, hg_type type) {
    const instruction *row = find_instruction(fn);
    return !row ? NONE : hg_type_is_float(type) ? row->floats : row->integers;
}

kir_op kir_operate_primitive(uint16_t fn, hg_type type) {
    int op = primitive_of(fn, type);
    return op == ITSELF ? KIR_OP_COUNT : (kir_op)op;
}

bool kir_operate_exists(uint16_t fn, hg_type type) {
    if (kir_is_half(type)) type = HG_TYPE_F32;
    bool checked_or_two = !hg_type_is_float(type) &&
                          (fn == HG_OP_DIV || fn == HG_OP_REM || fn == HG_OP_FMA);
    return checked_or_two || primitive_of(fn, type) != NONE || kir_define_exists(fn, type);
}

static kir_value *operate(kir_builder *b, uint16_t fn, hg_type type, kir_value *const *a) {
    int op = primitive_of(fn, type);
    if (op == ITSELF) return a[0];
    if (op == KIR_FFMA) return kir_ffma(b, a[0], a[1], a[2]);
    if (op != NONE)
        return kir_op_get((kir_op)op)->args == 1 ? kir_unary(b, (kir_op)op, a[0])
                                                 : kir_binary(b, (kir_op)op, a[0], a[1]);
    bool integer = !hg_type_is_float(type);
    if (integer && (fn == HG_OP_DIV || fn == HG_OP_REM)) return divide(b, fn, type, a);
    if (integer && fn == HG_OP_FMA) return kir_add(b, kir_mul(b, a[0], a[1]), a[2]);
    if (fn == HG_OP_MAX && !integer && (is_zero(a[0]) || is_zero(a[1]))) /* what a target may have
                                                                            at once */
        return kir_derived(b, KIR_FN_RELU, type, 1, is_zero(a[1]) ? &a[0] : &a[1]);
    if (fn == HG_OP_DOT4) return kir_derived(b, fn, type, 3, a); /* the same */
    if (fn == HG_OP_POWM)
        kir_fault_if(b, kir_binary(b, KIR_CMP_EQ, a[2], kir_const(b, a[2]->type, 0)),
                     KIR_FAULT_DIVISION, 4, "division by zero");
    if (fn == HG_OP_POWM && hg_type_size_bytes(type) > 8) return kir_derived(b, fn, type, 3, a);
    return define(b, fn, type, a);
}

/* On halves: bits where the meaning is about bits, else the operation of f32, rounded once more.
 * That is one rounding in all for add, sub, mul, div and sqrt (Figueroa 1995) and for what is exact
 * in f32; fma and fms have one by their own way, mad has two by definition. Functions are rounded
 * correctly: those of two arguments have definitions of their own, and of one argument a list has
 * the result where twice is not once. */
static kir_value *operate_half(kir_builder *b, uint16_t fn, hg_type type, kir_value *const *a) {
    if (fn == HG_OP_MOV) return a[0];
    if (fn == HG_OP_ABS) return kir_binary(b, KIR_AND, a[0], kir_const(b, HG_TYPE_U16, 0x7FFF));
    if (fn == HG_OP_NEG) return kir_binary(b, KIR_XOR, a[0], kir_const(b, HG_TYPE_U16, 0x8000));
    if (kir_define_exists(fn, type)) return define(b, fn, type, a);
    kir_value *w[4] = {0};
    uint8_t count = kir_operate_args(fn);
    for (uint8_t i = 0; i < count; i++) w[i] = kir_widen_half(b, type, a[i]);
    if (fn == HG_OP_MAD) {
        kir_value *product = kir_narrow_half(b, type, kir_mul(b, w[0], w[1]));
        return kir_narrow_half(b, type, kir_add(b, kir_widen_half(b, type, product), w[2]));
    }
    if (fn == HG_OP_FMS)
        w[2] = kir_widen_half(b, type,
                              kir_binary(b, KIR_XOR, a[2], kir_const(b, HG_TYPE_U16, 0x8000)));
    if (fn == HG_OP_FMA || fn == HG_OP_FMS) return kir_fma_half(b, type, w);
    kir_value *r = kir_narrow_half(b, type, operate(b, fn, HG_TYPE_F32, w));
    return kir_correct_half(b, fn, type, a[0], r);
}

kir_value *kir_operate(kir_builder *b, uint16_t fn, hg_type type, kir_value *const *args) {
    return kir_is_half(type) ? operate_half(b, fn, type, args) : operate(b, fn, type, args);
}

static kir_value *half_of(kir_builder *b, hg_type half, kir_value *word, uint32_t from) {
    kir_value *bits = from ? kir_binary(b, KIR_LSHR, word, kir_const(b, HG_TYPE_U32, from)) : word;
    return kir_widen_half(b, half, kir_convert(b, KIR_TRUNC, HG_TYPE_U16, bits));
}

kir_value *kir_pair_product(kir_builder *b, hg_type half, kir_value *x, kir_value *y,
                            kir_value *c) {
    c = kir_ffma(b, half_of(b, half, x, 16), half_of(b, half, y, 16), c);
    return kir_ffma(b, half_of(b, half, x, 0), half_of(b, half, y, 0), c);
}

/* Of words the count has their type; of wide integers it is a u32 already. */
kir_value *kir_count_bits(kir_builder *b, uint16_t fn, hg_type type, kir_value *v) {
    kir_value *count = define(b, fn, type, &v);
    if (count->type == HG_TYPE_U32) return count;
    return kir_convert(b, kir_type_bits(count->type) < 32 ? KIR_ZEXT : KIR_TRUNC, HG_TYPE_U32,
                       count);
}

uint8_t kir_operate_args(uint16_t fn) {
    return fn < HG_OP_COUNT ? (uint8_t)(hg_op_get((hg_op)fn)->operand_count - 1)
                            : kir_define_args(fn);
}

void kir_identity(hg_op op, hg_type type, uint8_t *bytes) {
    static const uint64_t ONE[] = {[HG_TYPE_F16] = 0x3C00,
                                   [HG_TYPE_BF16] = 0x3F80,
                                   [HG_TYPE_F32] = 0x3F800000,
                                   [HG_TYPE_F64] = 0x3FF0000000000000};
    static const uint64_t INFINITE[] = {[HG_TYPE_F16] = 0x7C00,
                                        [HG_TYPE_BF16] = 0x7F80,
                                        [HG_TYPE_F32] = 0x7F800000,
                                        [HG_TYPE_F64] = 0x7FF0000000000000};
    uint64_t size = hg_type_size_bytes(type), bits = 0;
    bool top = op == HG_OP_MIN, bottom = op == HG_OP_MAX;
    memset(bytes, 0, (size_t)size);
    if (hg_type_is_float(type)) {
        if (op == HG_OP_MUL) bits = ONE[type];
        if (top || bottom) bits = INFINITE[type];
        if (bottom) bits |= UINT64_C(1) << (8 * size - 1);
        for (uint64_t i = 0; i < size; i++) bytes[i] = (uint8_t)(bits >> (8 * i));
        return;
    }
    if (op == HG_OP_MUL) bytes[0] = 1;
    if (top) memset(bytes, 0xFF, (size_t)size);
    if (top && hg_type_is_signed(type)) bytes[size - 1] = 0x7F;
    if (bottom && hg_type_is_signed(type)) bytes[size - 1] = 0x80;
}
