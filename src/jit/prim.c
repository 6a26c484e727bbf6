/* Value primitives as LLVM IR. The same code makes one value and an element for each lane: LLVM's
 * operations work on both.
 * Must not know: memory, control flow. */
#include "jit/jit_internal.h"

#include <math.h>

static LLVMValueRef operand(jit_printer *p, const vec_value *v, uint8_t n) {
    return v->each ? jit_each(p, v->args[n]) : jit_one(p, v->args[n]);
}

/* The type of as many elements as the result has; a constant of it. */
static LLVMTypeRef as_many(const jit_printer *p, const vec_value *v, LLVMTypeRef element) {
    return v->each ? jit_vector(p, element) : element;
}
static LLVMValueRef number(jit_printer *p, const vec_value *v, LLVMTypeRef element, uint64_t x) {
    LLVMValueRef one = LLVMConstInt(element, x, false);
    return v->each ? jit_splat(p, one) : one;
}
static LLVMValueRef integer(jit_printer *p, const vec_value *v, uint32_t bytes, uint64_t x) {
    return number(p, v, jit_integer(p, bytes), x);
}
static LLVMValueRef of_f32(jit_printer *p, const vec_value *v, uint32_t bits) {
    LLVMValueRef one = LLVMConstBitCast(jit_u32(p, bits), p->t.f32);
    return v->each ? jit_splat(p, one) : one;
}

static uint32_t bytes_of(const vec_value *v) { return (uint32_t)kir_type_bytes(v->type); }

static LLVMValueRef call(jit_printer *p, const char *name, LLVMValueRef a, LLVMValueRef b,
                         LLVMValueRef c) {
    LLVMValueRef args[3] = {a, b, c};
    LLVMTypeRef type = LLVMTypeOf(a);
    return jit_intrinsic(p, name, &type, 1, args, c ? 3 : b ? 2 : 1);
}

/* ---- integers ---- */

/* Of integers of twice the width. */
static LLVMValueRef whole_product(jit_printer *p, const vec_value *v, LLVMValueRef a,
                                  LLVMValueRef b) {
    LLVMTypeRef wide = as_many(p, v, LLVMIntTypeInContext(p->context, bytes_of(v) * 16));
    return LLVMBuildMul(p->b, LLVMBuildZExt(p->b, a, wide, ""), LLVMBuildZExt(p->b, b, wide, ""),
                        "");
}

static LLVMValueRef high_product(jit_printer *p, const vec_value *v, LLVMValueRef a,
                                 LLVMValueRef b) {
    uint32_t bits = bytes_of(v) * 8;
    LLVMTypeRef element = LLVMIntTypeInContext(p->context, bits * 2);
    LLVMValueRef high = LLVMBuildLShr(p->b, whole_product(p, v, a, b), number(p, v, element, bits),
                                      "");
    return LLVMBuildTrunc(p->b, high, LLVMTypeOf(a), "");
}

/* Where the high half comes next, one instruction makes both. */
static LLVMValueRef low_product(jit_printer *p, const vec_value *v, LLVMValueRef a,
                                LLVMValueRef b) {
    const vec_value *next = v->next;
    bool both = bytes_of(v) == 8 && (!v->each || p->level.lanes == 1) && next &&
                next->op == VEC_PRIM && next->prim == KIR_MULHI_U && next->args[0] == v->args[0] &&
                next->args[1] == v->args[1];
    return both ? LLVMBuildTrunc(p->b, whole_product(p, v, a, b), LLVMTypeOf(a), "")
                : LLVMBuildMul(p->b, a, b, "");
}

/* Integers of up to 32 bits divide as floats that hold them, exactly: the quotient of two integers
 * below 2^n is no integer or at least 2^-n of itself away from one. Never 0 / 0: b is not 0. */
static LLVMValueRef quotient_of_floats(jit_printer *p, const vec_value *v, LLVMValueRef a,
                                       LLVMValueRef b, bool is_signed) {
    LLVMTypeRef type = LLVMTypeOf(a), of = as_many(p, v, bytes_of(v) == 4 ? p->t.f64 : p->t.f32);
    LLVMTypeRef whole = as_many(p, v, p->t.i32);
    if (bytes_of(v) < 4) {
        a = is_signed ? LLVMBuildSExt(p->b, a, whole, "") : LLVMBuildZExt(p->b, a, whole, "");
        b = is_signed ? LLVMBuildSExt(p->b, b, whole, "") : LLVMBuildZExt(p->b, b, whole, "");
    }
    bool as_signed = is_signed || bytes_of(v) < 4;
    LLVMValueRef fa = as_signed ? LLVMBuildSIToFP(p->b, a, of, "")
                                : LLVMBuildUIToFP(p->b, a, of, "");
    LLVMValueRef fb = as_signed ? LLVMBuildSIToFP(p->b, b, of, "")
                                : LLVMBuildUIToFP(p->b, b, of, "");
    LLVMValueRef q = LLVMBuildFDiv(p->b, fa, fb, "");
    q = as_signed ? LLVMBuildFPToSI(p->b, q, whole, "") : LLVMBuildFPToUI(p->b, q, whole, "");
    return bytes_of(v) < 4 ? LLVMBuildTrunc(p->b, q, type, "") : q;
}

/* Total: x / 0 and x % 0 are 0; MIN / -1 is MIN, MIN % -1 is 0. */
static LLVMValueRef divide(jit_printer *p, const vec_value *v, LLVMValueRef a, LLVMValueRef b) {
    bool is_signed = v->prim == KIR_SDIV || v->prim == KIR_SREM,
         rest = v->prim == KIR_UREM || v->prim == KIR_SREM;
    LLVMTypeRef element = jit_scalar(p, v->type);
    LLVMValueRef zero = number(p, v, element, 0), one = number(p, v, element, 1),
                 minus = number(p, v, element, ~UINT64_C(0)), q = NULL;
    LLVMValueRef none = LLVMBuildICmp(p->b, LLVMIntEQ, b, zero, ""), negate = NULL;
    if (is_signed) negate = LLVMBuildICmp(p->b, LLVMIntEQ, b, minus, "");
    LLVMValueRef odd = is_signed ? LLVMBuildOr(p->b, none, negate, "") : none;
    LLVMValueRef d = LLVMBuildSelect(p->b, odd, one, b, "");
    if (v->each && bytes_of(v) <= 4)
        q = quotient_of_floats(p, v, a, d, is_signed);
    else
        q = is_signed ? LLVMBuildSDiv(p->b, a, d, "") : LLVMBuildUDiv(p->b, a, d, "");
    if (rest) {
        LLVMValueRef r = LLVMBuildSub(p->b, a, LLVMBuildMul(p->b, q, d, ""), "");
        return LLVMBuildSelect(p->b, odd, zero, r, "");
    }
    if (is_signed) q = LLVMBuildSelect(p->b, negate, LLVMBuildSub(p->b, zero, a, ""), q, "");
    return LLVMBuildSelect(p->b, none, zero, q, "");
}

/* What divides by an input of 32 bits without a division: with m = 2^64 / d, rounded up, the
 * quotient is the upper half of m * x (Lemire, Kaser, Kurz: exact for 32 bits). For d = 1 m has no
 * room: `is_one` adds x. Where the input is 0 m is, and `is_some` makes the remainder 0. */
static const jit_divisor *divisor_of(jit_printer *p, const vec_value *input) {
    jit_divisor *made = &p->by.divisors[input->u.imm];
    if (made->m) return made;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(p->b);
    LLVMValueRef d = p->by.values[input->id];
    jit_go_behind(p, d);
    LLVMValueRef none = LLVMBuildICmp(p->b, LLVMIntEQ, d, jit_u32(p, 0), ""),
                 one = LLVMBuildICmp(p->b, LLVMIntEQ, d, jit_u32(p, 1), ""),
                 by = LLVMBuildSelect(p->b, none, jit_u32(p, 1), d, ""),
                 q = LLVMBuildUDiv(p->b, jit_u64(p, UINT64_MAX),
                                   LLVMBuildZExt(p->b, by, p->t.i64, ""), ""),
                 m = LLVMBuildAdd(p->b, q, jit_u64(p, 1), "");
    made->m = LLVMBuildSelect(p->b, none, jit_u64(p, 0), m, "");
    made->is_one = LLVMBuildSExt(p->b, one, p->t.i32, "");
    made->is_some = LLVMBuildSExt(p->b, LLVMBuildNot(p->b, none, ""), p->t.i32, "");
    LLVMPositionBuilderAtEnd(p->b, here);
    return made;
}

static LLVMValueRef divide_by_input(jit_printer *p, const vec_value *v, LLVMValueRef a) {
    const jit_divisor *d = divisor_of(p, v->args[1]);
    LLVMValueRef product = LLVMBuildMul(p->b, LLVMBuildZExt(p->b, d->m, p->t.i128, ""),
                                        LLVMBuildZExt(p->b, a, p->t.i128, ""), ""),
                 upper = LLVMBuildLShr(p->b, product, LLVMConstInt(p->t.i128, 64, false), ""),
                 q = LLVMBuildAdd(p->b, LLVMBuildTrunc(p->b, upper, p->t.i32, ""),
                                  LLVMBuildAnd(p->b, a, d->is_one, ""), "");
    if (v->prim == KIR_UDIV) return q;
    LLVMValueRef whole = LLVMBuildMul(p->b, q, p->by.values[v->args[1]->id], "");
    return LLVMBuildAnd(p->b, LLVMBuildSub(p->b, a, whole, ""), d->is_some, "");
}

static bool is_by_input(const vec_value *v) {
    return !v->each && (v->prim == KIR_UDIV || v->prim == KIR_UREM) && v->type == HG_TYPE_U32 &&
           v->args[1]->op == VEC_INPUT;
}

static LLVMValueRef shift(jit_printer *p, const vec_value *v, LLVMValueRef a, LLVMValueRef amount) {
    LLVMTypeRef type = LLVMTypeOf(a);
    amount = LLVMBuildAnd(p->b, amount, number(p, v, p->t.i32, bytes_of(v) * 8 - 1), "");
    if (bytes_of(v) < 4) amount = LLVMBuildTrunc(p->b, amount, type, "");
    if (bytes_of(v) > 4) amount = LLVMBuildZExt(p->b, amount, type, "");
    if (v->prim == KIR_SHL) return LLVMBuildShl(p->b, a, amount, "");
    return v->prim == KIR_LSHR ? LLVMBuildLShr(p->b, a, amount, "")
                               : LLVMBuildAShr(p->b, a, amount, "");
}

/* ---- sums of products of bytes ---- */

/* Elements of a vector. */
static LLVMValueRef piece(jit_printer *p, LLVMValueRef whole, uint32_t first, uint32_t count) {
    LLVMValueRef places[64];
    for (uint32_t i = 0; i < count; i++) places[i] = jit_u32(p, first + i);
    return LLVMBuildShuffleVector(p->b, whole, LLVMGetUndef(LLVMTypeOf(whole)),
                                  LLVMConstVector(places, count), "");
}

static LLVMValueRef join(jit_printer *p, LLVMValueRef low, LLVMValueRef high, uint32_t count) {
    LLVMValueRef places[64];
    for (uint32_t i = 0; i < 2 * count; i++) places[i] = jit_u32(p, i);
    return LLVMBuildShuffleVector(p->b, low, high, LLVMConstVector(places, 2 * count), "");
}

/* vpdpbusd of a native vector of 4, 8 or 16: unsigned bytes by signed ones. A signed byte is the
 * unsigned one that is 128 more, less 128. */
static LLVMValueRef native_dot4(jit_printer *p, const vec_value *v, uint32_t count, LLVMValueRef a,
                                LLVMValueRef b, LLVMValueRef c) {
    const char *name = count == 16  ? "llvm.x86.avx512.vpdpbusd.512"
                       : count == 8 ? "llvm.x86.avx512.vpdpbusd.256"
                                    : "llvm.x86.avx512.vpdpbusd.128";
    if (v->prim == KIR_DOT4_U) return jit_intrinsic(p, name, NULL, 0, (LLVMValueRef[]){c, a, b}, 3);
    LLVMValueRef tops[16];
    for (uint32_t i = 0; i < count; i++) tops[i] = jit_u32(p, 0x80808080);
    LLVMValueRef top = LLVMConstVector(tops, count), none = LLVMConstNull(LLVMTypeOf(c));
    LLVMValueRef more = jit_intrinsic(p, name, NULL, 0, (LLVMValueRef[]){none, top, b}, 3);
    a = LLVMBuildXor(p->b, a, top, "");
    return LLVMBuildSub(p->b, jit_intrinsic(p, name, NULL, 0, (LLVMValueRef[]){c, a, b}, 3), more,
                        "");
}

/* A value for all lanes is the first of a vector. */
static LLVMValueRef dot4(jit_printer *p, const vec_value *v) {
    LLVMValueRef args[3], made[16];
    for (uint8_t i = 0; i < 3; i++) {
        args[i] = operand(p, v, i);
        if (!v->each)
            args[i] = LLVMBuildInsertElement(p->b, LLVMConstNull(LLVMVectorType(p->t.i32, 4)),
                                             args[i], jit_u32(p, 0), "");
    }
    uint32_t lanes = v->each ? p->level.lanes : 4,
             count = p->level.bytes / 4 < lanes ? p->level.bytes / 4 : lanes,
             pieces = lanes / count;
    for (uint32_t i = 0; i < pieces; i++) {
        LLVMValueRef of[3];
        for (uint8_t k = 0; k < 3; k++)
            of[k] = pieces == 1 ? args[k] : piece(p, args[k], i * count, count);
        made[i] = native_dot4(p, v, count, of[0], of[1], of[2]);
    }
    for (; pieces > 1; pieces /= 2, count *= 2)
        for (uint32_t i = 0; i < pieces / 2; i++)
            made[i] = join(p, made[2 * i], made[2 * i + 1], count);
    return v->each ? made[0] : LLVMBuildExtractElement(p->b, made[0], jit_u32(p, 0), "");
}

/* ---- floats ---- */

static LLVMValueRef and_bits(jit_printer *p, const vec_value *v, LLVMValueRef a, uint64_t add,
                             uint64_t mask) {
    LLVMTypeRef type = LLVMTypeOf(a), whole = as_many(p, v, jit_integer(p, bytes_of(v)));
    LLVMValueRef bits = LLVMBuildBitCast(p->b, a, whole, "");
    if (add) bits = LLVMBuildAdd(p->b, bits, integer(p, v, bytes_of(v), add), "");
    return LLVMBuildBitCast(p->b, LLVMBuildAnd(p->b, bits, integer(p, v, bytes_of(v), mask), ""),
                            type, "");
}

/* a * b less its rounding: fused, or by halves whose products are exact. */
static LLVMValueRef product_error(jit_printer *p, const vec_value *v, LLVMValueRef a,
                                  LLVMValueRef b) {
    LLVMValueRef product = LLVMBuildFMul(p->b, a, b, "");
    if (p->level.fused || !v->each)
        return call(p, "llvm.fma", a, b, LLVMBuildFNeg(p->b, product, ""));
    bool wide = bytes_of(v) == 8;
    uint64_t cut = wide ? UINT64_C(0xfffffffff8000000) : 0xfffff000u;
    LLVMValueRef ha = and_bits(p, v, a, wide ? 0x4000000u : 0, cut),
                 la = LLVMBuildFSub(p->b, a, ha, "");
    LLVMValueRef hb = and_bits(p, v, b, 0, cut), lb = LLVMBuildFSub(p->b, b, hb, "");
    LLVMValueRef sum = LLVMBuildFSub(p->b, LLVMBuildFMul(p->b, ha, hb, ""), product, "");
    sum = LLVMBuildFAdd(p->b, sum, LLVMBuildFMul(p->b, ha, lb, ""), "");
    sum = LLVMBuildFAdd(p->b, sum, LLVMBuildFMul(p->b, la, hb, ""), "");
    return LLVMBuildFAdd(p->b, sum, LLVMBuildFMul(p->b, la, lb, ""), "");
}

/* ---- halves ---- */

static LLVMValueRef half_to_float(jit_printer *p, const vec_value *v, LLVMValueRef h) {
    LLVMTypeRef f32 = as_many(p, v, p->t.f32), i32 = as_many(p, v, p->t.i32);
    if (p->level.halves)
        return LLVMBuildFPExt(p->b, LLVMBuildBitCast(p->b, h, as_many(p, v, p->t.f16), ""), f32,
                              "");
    LLVMValueRef word = LLVMBuildZExt(p->b, h, i32, ""),
                 m = LLVMBuildAnd(p->b, word, number(p, v, p->t.i32, 0x7fff), "");
    LLVMValueRef infinite = LLVMBuildICmp(p->b, LLVMIntUGE, m, number(p, v, p->t.i32, 0x7c00), "");
    LLVMValueRef bias = LLVMBuildSelect(p->b, infinite, number(p, v, p->t.i32, 0x70000000),
                                        number(p, v, p->t.i32, 0x38000000), "");
    LLVMValueRef normal = LLVMBuildAdd(p->b, LLVMBuildShl(p->b, m, number(p, v, p->t.i32, 13), ""),
                                       bias, "");
    LLVMValueRef tiny = LLVMBuildFMul(p->b, LLVMBuildSIToFP(p->b, m, f32, ""),
                                      of_f32(p, v, 0x33800000), "");
    LLVMValueRef subnormal = LLVMBuildICmp(p->b, LLVMIntULT, m, number(p, v, p->t.i32, 0x400), "");
    LLVMValueRef bits = LLVMBuildSelect(p->b, subnormal, LLVMBuildBitCast(p->b, tiny, i32, ""),
                                        normal, "");
    LLVMValueRef sign = LLVMBuildAnd(p->b, word, number(p, v, p->t.i32, 0x8000), "");
    bits = LLVMBuildOr(p->b, bits, LLVMBuildShl(p->b, sign, number(p, v, p->t.i32, 16), ""), "");
    return LLVMBuildBitCast(p->b, bits, f32, "");
}

static LLVMValueRef float_to_half(jit_printer *p, const vec_value *v, LLVMValueRef a) {
    LLVMTypeRef f32 = as_many(p, v, p->t.f32), i32 = as_many(p, v, p->t.i32),
                i16 = as_many(p, v, p->t.i16);
    if (p->level.halves)
        return LLVMBuildBitCast(p->b, LLVMBuildFPTrunc(p->b, a, as_many(p, v, p->t.f16), ""), i16,
                                "");
    LLVMValueRef bits = LLVMBuildBitCast(p->b, a, i32, ""),
                 m = LLVMBuildAnd(p->b, bits, number(p, v, p->t.i32, 0x7fffffff), "");
    LLVMValueRef last = LLVMBuildAnd(p->b, LLVMBuildLShr(p->b, m, number(p, v, p->t.i32, 13), ""),
                                     number(p, v, p->t.i32, 1), "");
    LLVMValueRef normal = LLVMBuildAdd(
        p->b, LLVMBuildAdd(p->b, m, number(p, v, p->t.i32, 0xc8000fff), ""), last, "");
    normal = LLVMBuildLShr(p->b, normal, number(p, v, p->t.i32, 13), "");
    LLVMValueRef tiny = LLVMBuildFAdd(p->b, LLVMBuildBitCast(p->b, m, f32, ""),
                                      of_f32(p, v, 0x3f000000), "");
    tiny = LLVMBuildSub(p->b, LLVMBuildBitCast(p->b, tiny, i32, ""),
                        number(p, v, p->t.i32, 0x3f000000), "");
    LLVMValueRef is_nan = LLVMBuildICmp(p->b, LLVMIntUGT, m, number(p, v, p->t.i32, 0x7f800000),
                                        "");
    LLVMValueRef big = LLVMBuildSelect(p->b, is_nan, number(p, v, p->t.i32, 0x7e00),
                                       number(p, v, p->t.i32, 0x7c00), "");
    LLVMValueRef small = LLVMBuildICmp(p->b, LLVMIntULT, m, number(p, v, p->t.i32, 0x38800000), "");
    LLVMValueRef over = LLVMBuildICmp(p->b, LLVMIntUGE, m, number(p, v, p->t.i32, 0x47800000), "");
    LLVMValueRef h = LLVMBuildSelect(p->b, over, big,
                                     LLVMBuildSelect(p->b, small, tiny, normal, ""), "");
    LLVMValueRef sign = LLVMBuildAnd(p->b,
                                     LLVMBuildLShr(p->b, bits, number(p, v, p->t.i32, 16), ""),
                                     number(p, v, p->t.i32, 0x8000), "");
    return LLVMBuildTrunc(p->b, LLVMBuildOr(p->b, h, sign, ""), i16, "");
}

static LLVMValueRef bfloat_to_float(jit_printer *p, const vec_value *v, LLVMValueRef h) {
    LLVMValueRef word = LLVMBuildZExt(p->b, h, as_many(p, v, p->t.i32), "");
    return LLVMBuildBitCast(p->b, LLVMBuildShl(p->b, word, number(p, v, p->t.i32, 16), ""),
                            as_many(p, v, p->t.f32), "");
}

static LLVMValueRef float_to_bfloat(jit_printer *p, const vec_value *v, LLVMValueRef a) {
    LLVMTypeRef i32 = as_many(p, v, p->t.i32);
    LLVMValueRef bits = LLVMBuildBitCast(p->b, a, i32, ""),
                 high = LLVMBuildLShr(p->b, bits, number(p, v, p->t.i32, 16), "");
    LLVMValueRef last = LLVMBuildAnd(p->b, high, number(p, v, p->t.i32, 1), "");
    LLVMValueRef rounded = LLVMBuildAdd(
        p->b, LLVMBuildAdd(p->b, bits, number(p, v, p->t.i32, 0x7fff), ""), last, "");
    rounded = LLVMBuildLShr(p->b, rounded, number(p, v, p->t.i32, 16), "");
    LLVMValueRef quiet = LLVMBuildOr(p->b, high, number(p, v, p->t.i32, 0x40), "");
    LLVMValueRef m = LLVMBuildAnd(p->b, bits, number(p, v, p->t.i32, 0x7fffffff), "");
    LLVMValueRef is_nan = LLVMBuildICmp(p->b, LLVMIntUGT, m, number(p, v, p->t.i32, 0x7f800000),
                                        "");
    return LLVMBuildTrunc(p->b, LLVMBuildSelect(p->b, is_nan, quiet, rounded, ""),
                          as_many(p, v, p->t.i16), "");
}

/* ---- truth values ---- */

static LLVMValueRef compare(jit_printer *p, const vec_value *v) {
    if (v->nargs != 2) return NULL;
    LLVMValueRef a = operand(p, v, 0), b = operand(p, v, 1), made = NULL;
    switch ((kir_op)v->prim) {
    case KIR_CMP_EQ: made = LLVMBuildICmp(p->b, LLVMIntEQ, a, b, ""); break;
    case KIR_CMP_ULT: made = LLVMBuildICmp(p->b, LLVMIntULT, a, b, ""); break;
    case KIR_CMP_SLT: made = LLVMBuildICmp(p->b, LLVMIntSLT, a, b, ""); break;
    case KIR_FCMP_EQ: made = LLVMBuildFCmp(p->b, LLVMRealOEQ, a, b, ""); break;
    case KIR_FCMP_LT: made = LLVMBuildFCmp(p->b, LLVMRealOLT, a, b, ""); break;
    case KIR_FCMP_LE: made = LLVMBuildFCmp(p->b, LLVMRealOLE, a, b, ""); break;
    default: return NULL;
    }
    return v->each ? jit_mask_of_i1(p, made, p->by.widths[v->id]) : made;
}

/* AND, OR, XOR, CMP_EQ, SELECT of masks, in elements as wide as the result's. */
static LLVMValueRef logic(jit_printer *p, const vec_value *v) {
    uint32_t bytes = p->by.widths[v->id];
    LLVMValueRef a = jit_mask(p, v->args[0], bytes), b = jit_mask(p, v->args[1], bytes);
    switch ((kir_op)v->prim) {
    case KIR_AND: return LLVMBuildAnd(p->b, a, b, "");
    case KIR_OR: return LLVMBuildOr(p->b, a, b, "");
    case KIR_XOR: return LLVMBuildXor(p->b, a, b, "");
    case KIR_CMP_EQ: return LLVMBuildNot(p->b, LLVMBuildXor(p->b, a, b, ""), "");
    default: {
        LLVMValueRef c = jit_mask(p, v->args[2], bytes);
        return LLVMBuildOr(p->b, LLVMBuildAnd(p->b, a, b, ""),
                           LLVMBuildAnd(p->b, LLVMBuildNot(p->b, a, ""), c, ""), "");
    }
    }
}

static LLVMValueRef choose(jit_printer *p, const vec_value *v) {
    LLVMValueRef condition = v->args[0]->each ? jit_mask_i1(p, v->args[0]) : jit_one(p, v->args[0]);
    return LLVMBuildSelect(p->b, condition, operand(p, v, 1), operand(p, v, 2), "");
}

/* ---- conversions ---- */

static LLVMValueRef extend(jit_printer *p, const vec_value *v, LLVMTypeRef type) {
    const vec_value *from = v->args[0];
    if (from->type == KIR_BOOL && v->each && !p->level.mask_registers) {
        LLVMValueRef mask = jit_mask(p, from, bytes_of(v));
        return v->prim == KIR_SEXT ? mask
                                   : LLVMBuildAnd(p->b, mask, integer(p, v, bytes_of(v), 1), "");
    }
    LLVMValueRef a = operand(p, v, 0);
    if (LLVMTypeOf(a) == type) return a;
    return v->prim == KIR_SEXT ? LLVMBuildSExt(p->b, a, type, "")
                               : LLVMBuildZExt(p->b, a, type, "");
}

static LLVMValueRef truncate_to(jit_printer *p, const vec_value *v, LLVMTypeRef type) {
    LLVMValueRef a = operand(p, v, 0);
    if (v->type != KIR_BOOL) return LLVMTypeOf(a) == type ? a : LLVMBuildTrunc(p->b, a, type, "");
    LLVMValueRef last = LLVMBuildAnd(p->b, a, number(p, v, jit_scalar(p, v->args[0]->type), 1), "");
    LLVMValueRef made = LLVMBuildICmp(p->b, LLVMIntNE, last, LLVMConstNull(LLVMTypeOf(a)), "");
    return v->each ? jit_mask_of_i1(p, made, p->by.widths[v->id]) : made;
}

/* ---- floats as integers: cut off at the ends of the range, NaN is 0 ---- */

static LLVMValueRef real(jit_printer *p, const vec_value *v, double x) {
    return jit_splat(p, LLVMConstReal(jit_scalar(p, v->args[0]->type), x));
}

/* a where the comparison with b holds, else b. */
static LLVMValueRef a_or(jit_printer *p, LLVMRealPredicate holds, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(p->b, LLVMBuildFCmp(p->b, holds, a, b, ""), a, b, "");
}

/* Of all lanes: LLVM takes vectors of the intrinsics apart into scalars. What is out of range when
 * it is converted is not selected. */
static LLVMValueRef to_integers(jit_printer *p, const vec_value *v, LLVMTypeRef type) {
    const bool is_signed = v->prim == KIR_F2S;
    const uint32_t bits = bytes_of(v) * 8, magnitude = is_signed ? bits - 1 : bits;
    const uint64_t most = UINT64_MAX >> (64 - magnitude);
    LLVMTypeRef wide = bits < 32 ? as_many(p, v, p->t.i32) : type;
    LLVMValueRef a = operand(p, v, 0), zero = real(p, v, 0), fits = NULL;
    if (is_signed) {
        a = LLVMBuildSelect(p->b, LLVMBuildFCmp(p->b, LLVMRealORD, a, a, ""), a, zero, "");
        zero = real(p, v, -ldexp(1, (int)magnitude));
    }
    a = a_or(p, LLVMRealOGT, a, zero);
    if (magnitude <= (v->args[0]->type == HG_TYPE_F64 ? 53u : 24u))
        a = a_or(p, LLVMRealOLT, a, real(p, v, (double)most));
    else
        fits = LLVMBuildFCmp(p->b, LLVMRealOLT, a, real(p, v, ldexp(1, (int)magnitude)), "");
    LLVMValueRef made = is_signed || bits < 32 ? LLVMBuildFPToSI(p->b, a, wide, "")
                                               : LLVMBuildFPToUI(p->b, a, wide, "");
    if (bits < 32) return LLVMBuildTrunc(p->b, made, type, "");
    return fits ? LLVMBuildSelect(p->b, fits, made, integer(p, v, bytes_of(v), most), "") : made;
}

static LLVMValueRef to_integer(jit_printer *p, const vec_value *v, LLVMTypeRef type) {
    if (v->each && p->level.lanes > 1) return to_integers(p, v, type);
    LLVMValueRef a = operand(p, v, 0);
    LLVMTypeRef types[2] = {type, LLVMTypeOf(a)};
    return jit_intrinsic(p, v->prim == KIR_F2U ? "llvm.fptoui.sat" : "llvm.fptosi.sat", types, 2,
                         &a, 1);
}

static LLVMValueRef convert(jit_printer *p, const vec_value *v) {
    LLVMTypeRef type = as_many(p, v, jit_scalar(p, v->type));
    switch ((kir_op)v->prim) {
    case KIR_BITCAST:
        return v->type == KIR_BOOL ? p->by.values[v->args[0]->id]
                                   : LLVMBuildBitCast(p->b, operand(p, v, 0), type, "");
    case KIR_ZEXT:
    case KIR_SEXT: return extend(p, v, type);
    case KIR_TRUNC: return truncate_to(p, v, type);
    case KIR_U2F: return LLVMBuildUIToFP(p->b, operand(p, v, 0), type, "");
    case KIR_S2F: return LLVMBuildSIToFP(p->b, operand(p, v, 0), type, "");
    case KIR_F2U:
    case KIR_F2S: return to_integer(p, v, type);
    case KIR_F2F: {
        LLVMValueRef a = operand(p, v, 0);
        if (LLVMTypeOf(a) == type) return a;
        return v->type == HG_TYPE_F64 ? LLVMBuildFPExt(p->b, a, type, "")
                                      : LLVMBuildFPTrunc(p->b, a, type, "");
    }
    case KIR_H2F: return half_to_float(p, v, operand(p, v, 0));
    case KIR_F2H: return float_to_half(p, v, operand(p, v, 0));
    case KIR_B2F: return bfloat_to_float(p, v, operand(p, v, 0));
    case KIR_F2B: return float_to_bfloat(p, v, operand(p, v, 0));
    default: return NULL;
    }
}

/* ---- all ---- */

static LLVMValueRef arithmetic(jit_printer *p, const vec_value *v) {
    LLVMValueRef a = operand(p, v, 0), b = v->nargs > 1 ? operand(p, v, 1) : NULL;
    switch ((kir_op)v->prim) {
    case KIR_ADD: return LLVMBuildAdd(p->b, a, b, "");
    case KIR_SUB: return LLVMBuildSub(p->b, a, b, "");
    case KIR_MUL: return low_product(p, v, a, b);
    case KIR_MULHI_U: return high_product(p, v, a, b);
    case KIR_UDIV:
    case KIR_UREM:
    case KIR_SDIV:
    case KIR_SREM: return is_by_input(v) ? divide_by_input(p, v, a) : divide(p, v, a, b);
    case KIR_AND: return LLVMBuildAnd(p->b, a, b, "");
    case KIR_OR: return LLVMBuildOr(p->b, a, b, "");
    case KIR_XOR: return LLVMBuildXor(p->b, a, b, "");
    case KIR_SHL:
    case KIR_LSHR:
    case KIR_ASHR: return shift(p, v, a, b);
    case KIR_CLZ: return call(p, "llvm.ctlz", a, LLVMConstInt(p->t.i1, 0, false), NULL);
    case KIR_DOT4_S:
    case KIR_DOT4_U: return p->level.dot4 ? dot4(p, v) : NULL;
    case KIR_FADD: return LLVMBuildFAdd(p->b, a, b, "");
    case KIR_FSUB: return LLVMBuildFSub(p->b, a, b, "");
    case KIR_FMUL: return LLVMBuildFMul(p->b, a, b, "");
    case KIR_FDIV: return LLVMBuildFDiv(p->b, a, b, "");
    case KIR_FSQRT: return call(p, "llvm.sqrt", a, NULL, NULL);
    case KIR_FFMA: return call(p, "llvm.fma", a, b, operand(p, v, 2));
    case KIR_FMAD:
        if (p->level.fused) return call(p, "llvm.fma", a, b, operand(p, v, 2));
        return LLVMBuildFAdd(p->b, LLVMBuildFMul(p->b, a, b, ""), operand(p, v, 2), "");
    case KIR_FMULERR: return product_error(p, v, a, b);
    case KIR_FFLOOR: return call(p, "llvm.floor", a, NULL, NULL);
    case KIR_FTRUNC: return call(p, "llvm.trunc", a, NULL, NULL);
    case KIR_FRINT: return call(p, "llvm.rint", a, NULL, NULL);
    default: return NULL;
    }
}

static bool is_logic(const vec_value *v) {
    if (!v->each || v->args[0]->type != KIR_BOOL) return false;
    switch ((kir_op)v->prim) {
    case KIR_AND:
    case KIR_OR:
    case KIR_XOR:
    case KIR_CMP_EQ: return true;
    case KIR_SELECT: return v->type == KIR_BOOL;
    default: return false;
    }
}

void jit_prim(jit_printer *p, const vec_value *v) {
    LLVMValueRef made = is_logic(v) ? logic(p, v) : NULL;
    if (!made && v->prim == KIR_SELECT) made = choose(p, v);
    if (!made) made = compare(p, v);
    if (!made) made = convert(p, v);
    if (!made) made = arithmetic(p, v);
    if (made)
        jit_define(p, v, made);
    else
        p->unsupported = "an unknown primitive";
}
