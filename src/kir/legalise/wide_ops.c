/* Functions on arrays of limbs, one for each operation and width, each a loop (never unrolled: a
 * 4096-bit product is one body). Arrays are little-endian; the result never is one of the operands.
 * Requires: called by the pass over wide integers. */
#include "kir/legalise/wide_function.h"
#include <stdio.h>

/* array[from …] = value. */
static void fill_from(rewrite_pass *p, wf *f, uint8_t type, uint32_t from, kir_value *value,
                      kir_var *array) {
    kir_builder *b = &f->h.b;
    kir_value *args[] = {u32(b, from), value};
    kir_call(b, wide_fill(p, type), 2, args, &array);
}

/* r = a + b or a - b. */
static kir_function *add_sub(rewrite_pass *p, uint8_t type, bool sub) {
    BEGIN(sub ? "sub" : "add", KIR_VOID, 0, NULL, 3);
    kir_var *carry = local(f, f->limb, "carry");
    kir_set(b, carry, limb(f, 0));
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_value *x = at(f, f->a[1], i.i), *y = at(f, f->a[2], i.i), *c = kir_get(b, carry);
    kir_value *s = sub ? kir_sub(b, x, y) : kir_add(b, x, y);
    kir_value *first = sub ? below(b, x, y) : below(b, s, x);
    kir_value *t = sub ? kir_sub(b, s, c) : kir_add(b, s, c);
    kir_value *second = sub ? below(b, s, c) : below(b, t, s);
    kir_array_set(b, f->a[0], i.i, t);
    kir_set(b, carry, bit(f, or_of(b, first, second)));
    kir_for_end(b, &i);
    return wide_end(p, f);
}

static kir_function *bitwise(rewrite_pass *p, uint8_t type, kir_op op) {
    BEGIN(kir_op_name(op), KIR_VOID, 0, NULL, 3);
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_value *x = at(f, f->a[1], i.i), *y = at(f, f->a[2], i.i);
    kir_array_set(b, f->a[0], i.i, kir_binary(b, op, x, y));
    kir_for_end(b, &i);
    return wide_end(p, f);
}

/* The low half of a · b, schoolbook. */
static kir_function *multiply(rewrite_pass *p, uint8_t type) {
    BEGIN("mul", KIR_VOID, 0, NULL, 3);
    kir_var *carry = local(f, f->limb, "carry");
    fill_from(p, f, type, 0, limb(f, 0), f->a[0]);
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_value *x = at(f, f->a[1], i.i);
    kir_set(b, carry, limb(f, 0));
    kir_for j = kir_for_begin(b, kir_sub(b, u32(b, f->n), i.i));
    kir_value *y = at(f, f->a[2], j.i), *place = kir_add(b, i.i, j.i), *old = at(f, f->a[0], place),
              *c = kir_get(b, carry);
    kir_value *low = kir_mul(b, x, y), *high = kir_binary(b, KIR_MULHI_U, x, y);
    kir_value *s = kir_add(b, old, low), *t = kir_add(b, s, c);
    high = kir_add(b, high, bit(f, below(b, s, low)));
    high = kir_add(b, high, bit(f, below(b, t, s)));
    kir_array_set(b, f->a[0], place, t);
    kir_set(b, carry, high);
    kir_for_end(b, &j);
    kir_for_end(b, &i);
    return wide_end(p, f);
}

kir_function *wide_fill(rewrite_pass *p, uint8_t type) {
    const uint8_t types[] = {HG_TYPE_U32, wide(p)->limb};
    BEGIN("fill", KIR_VOID, 2, types, 1);
    kir_value *from = kir_param(b, 0), *value = kir_param(b, 1);
    kir_for i = kir_for_begin(b, kir_sub(b, u32(b, f->n), from));
    kir_array_set(b, f->a[0], kir_add(b, i.i, from), value);
    kir_for_end(b, &i);
    return wide_end(p, f);
}

kir_function *wide_copy(rewrite_pass *p, uint8_t type) {
    BEGIN("copy", KIR_VOID, 0, NULL, 2);
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_array_set(b, f->a[0], i.i, at(f, f->a[1], i.i));
    kir_for_end(b, &i);
    return wide_end(p, f);
}

static kir_function *select_of(rewrite_pass *p, uint8_t type) {
    const uint8_t types[] = {HG_TYPE_U32};
    BEGIN("select", KIR_VOID, 1, types, 3);
    kir_value *first = kir_not(b, equal(b, kir_param(b, 0), u32(b, 0)));
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_value *x = at(f, f->a[1], i.i), *y = at(f, f->a[2], i.i);
    kir_array_set(b, f->a[0], i.i, kir_select(b, first, x, y));
    kir_for_end(b, &i);
    return wide_end(p, f);
}

/* 1 or 0. The array parameters of comparisons are r = the left, a = the right operand. */
static kir_function *compare(rewrite_pass *p, uint8_t type, kir_op op) {
    BEGIN(kir_op_name(op), HG_TYPE_U32, 0, NULL, 2);
    kir_var *result = local(f, HG_TYPE_U32, "result");
    kir_set(b, result, u32(b, op == KIR_CMP_EQ));
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_value *x = at(f, f->a[0], i.i), *y = at(f, f->a[1], i.i), *old = kir_get(b, result),
              *same = equal(b, x, y);
    kir_value *now = op == KIR_CMP_EQ ? u32(b, 0)
                                      : kir_select(b, below(b, x, y), u32(b, 1), u32(b, 0));
    kir_set(b, result, kir_select(b, same, old, now));
    kir_for_end(b, &i);
    kir_value *r = kir_get(b, result);
    if (op == KIR_CMP_SLT) { /* signs decide where they differ */
        kir_value *top = u32(b, f->n - 1),
                  *nx = kir_binary(b, KIR_CMP_SLT, at(f, f->a[0], top), limb(f, 0));
        kir_value *ny = kir_binary(b, KIR_CMP_SLT, at(f, f->a[1], top), limb(f, 0));
        kir_value *by_sign = kir_select(b, nx, u32(b, 1), u32(b, 0));
        r = kir_select(b, kir_binary(b, KIR_XOR, nx, ny), by_sign, r);
    }
    kir_return(b, r);
    return wide_end(p, f);
}

/* Amount u32, taken modulo the width: whole limbs, then bits from two neighbours. */
static kir_function *shift(rewrite_pass *p, uint8_t type, kir_op op) {
    const uint8_t types[] = {HG_TYPE_U32};
    BEGIN(kir_op_name(op), KIR_VOID, 1, types, 2);
    bool left = op == KIR_SHL;
    uint32_t log = f->bits == 64 ? 6 : 5;
    kir_value *amount = kir_binary(b, KIR_AND, kir_param(b, 0), u32(b, kir_type_bits(type) - 1));
    kir_value *whole = kir_binary(b, KIR_LSHR, amount, u32(b, log)),
              *part = kir_binary(b, KIR_AND, amount, u32(b, f->bits - 1));
    kir_value *rest = kir_sub(b, u32(b, f->bits), part), *no_part = equal(b, part, u32(b, 0)),
              *last = u32(b, f->n - 1);
    kir_value *fill = limb(f, 0);
    if (op == KIR_ASHR) fill = kir_binary(b, KIR_ASHR, at(f, f->a[1], last), u32(b, f->bits - 1));
    kir_for i = kir_for_begin(b, u32(b, f->n));
    /* sources near and far; outside the array they are the fill (indices are kept inside by select)
     */
    kir_value *near_i = left ? kir_sub(b, i.i, whole) : kir_add(b, i.i, whole);
    kir_value *far_i = left ? kir_sub(b, near_i, u32(b, 1)) : kir_add(b, near_i, u32(b, 1));
    kir_value *count = u32(b, f->n), *near_in = below(b, near_i, count),
              *far_in = below(b, far_i, count);
    kir_value *near_value = at(f, f->a[1], kir_select(b, near_in, near_i, u32(b, 0)));
    kir_value *far_value = at(f, f->a[1], kir_select(b, far_in, far_i, u32(b, 0)));
    near_value = kir_select(b, near_in, near_value, fill);
    far_value = kir_select(b, far_in, far_value, fill);
    kir_value *main_part = kir_binary(b, left ? KIR_SHL : KIR_LSHR, near_value, part);
    kir_value *other = kir_binary(b, left ? KIR_LSHR : KIR_SHL, far_value, rest);
    kir_array_set(b, f->a[0], i.i, or_of(b, main_part, kir_select(b, no_part, limb(f, 0), other)));
    kir_for_end(b, &i);
    return wide_end(p, f);
}

/* u32: the number of zero bits above the highest one. The operand is r. */
static kir_function *count_zeros(rewrite_pass *p, uint8_t type) {
    BEGIN("clz", HG_TYPE_U32, 0, NULL, 1);
    kir_var *result = local(f, HG_TYPE_U32, "result");
    kir_set(b, result, u32(b, kir_type_bits(type)));
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_value *x = at(f, f->a[0], i.i), *z = kir_unary(b, KIR_CLZ, x), *old = kir_get(b, result);
    if (f->bits == 64) z = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, z);
    kir_value *above = kir_mul(b, kir_sub(b, u32(b, f->n - 1), i.i), u32(b, f->bits));
    kir_set(b, result, kir_select(b, equal(b, x, limb(f, 0)), old, kir_add(b, above, z)));
    kir_for_end(b, &i);
    kir_return(b, kir_get(b, result));
    return wide_end(p, f);
}

static kir_function *function_of(rewrite_pass *p, kir_op op, uint8_t type) {
    switch (op) {
    case KIR_ADD: return add_sub(p, type, false);
    case KIR_SUB: return add_sub(p, type, true);
    case KIR_MUL: return multiply(p, type);
    case KIR_AND:
    case KIR_OR:
    case KIR_XOR: return bitwise(p, type, op);
    case KIR_SHL:
    case KIR_LSHR:
    case KIR_ASHR: return shift(p, type, op);
    case KIR_UDIV:
    case KIR_UREM:
    case KIR_SDIV:
    case KIR_SREM: return wide_division(p, type, op);
    case KIR_CMP_EQ:
    case KIR_CMP_ULT:
    case KIR_CMP_SLT: return compare(p, type, op);
    case KIR_CLZ: return count_zeros(p, type);
    case KIR_SELECT: return select_of(p, type);
    default: return NULL;
    }
}

kir_function *wide_function(rewrite_pass *p, kir_op op, uint8_t type) {
    kir_function *f = function_of(p, op, type);
    bool plain = kir_op_get(op)->class == KIR_CLASS_INT && f && f->array_count == 3 &&
                 f->param_count == 0;
    if (plain && wide(p)->limb == HG_TYPE_U64) set_limbs_op(f, op);
    return f;
}

/* ---- conversions ---- */

/* r (limbs of `to`) = a (limbs of `from`), cut or extended. */
static kir_function *resize(rewrite_pass *p, kir_op op, uint8_t type, uint8_t from) {
    char more[32];
    snprintf(more, sizeof more, "_%s", kir_type_name(from));
    wf f_, *f = &f_;
    if (!wide_begin(p, f, kir_op_name(op), type, more, KIR_VOID, 0, NULL, 1)) return f->h.function;
    kir_builder *b = &f->h.b;
    uint32_t n = wide_limbs(p, from), kept = n < f->n ? n : f->n;
    kir_var *source = kir_array_param(f->h.function, f->limb, n, "a");
    kir_for i = kir_for_begin(b, u32(b, kept));
    kir_array_set(b, f->a[0], i.i, at(f, source, i.i));
    kir_for_end(b, &i);
    if (kept < f->n) {
        kir_value *fill = limb(f, 0);
        if (op == KIR_SEXT)
            fill = kir_binary(b, KIR_ASHR, at(f, source, u32(b, n - 1)), u32(b, f->bits - 1));
        fill_from(p, f, type, kept, fill, f->a[0]);
    }
    return wide_end(p, f);
}

/* The low 64 bits of an array, and the other way round. */
static kir_value *low_u64(wf *f, kir_var *array) {
    kir_builder *b = &f->h.b;
    kir_value *low = at(f, array, u32(b, 0));
    if (f->bits == 64) return low;
    kir_value *high = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, at(f, array, u32(b, 1)));
    return or_of(b, kir_binary(b, KIR_SHL, high, u32(b, 32)),
                 kir_convert(b, KIR_ZEXT, HG_TYPE_U64, low));
}
static void set_low_u64(wf *f, kir_var *array, kir_value *v) {
    kir_builder *b = &f->h.b;
    if (f->bits == 64) {
        kir_array_set(b, array, u32(b, 0), v);
        return;
    }
    kir_array_set(b, array, u32(b, 0), kir_convert(b, KIR_TRUNC, HG_TYPE_U32, v));
    kir_array_set(b, array, u32(b, 1),
                  kir_convert(b, KIR_TRUNC, HG_TYPE_U32, kir_binary(b, KIR_LSHR, v, u32(b, 32))));
}

/* The operand (array r) rounded once: its top 64 bits, the last one set when a lower bit was, then
 * the 64-bit conversion. */
static kir_function *to_float(rewrite_pass *p, kir_op op, uint8_t to, uint8_t type) {
    char more[32];
    snprintf(more, sizeof more, "_%s", kir_type_name(to));
    wf f_, *f = &f_;
    if (!wide_begin(p, f, kir_op_name(op), type, more, to, 0, NULL, 1)) return f->h.function;
    kir_builder *b = &f->h.b;
    kir_var *value = f->a[0], *shifted = local_array(f, "s"), *back = local_array(f, "t");
    kir_value *negative = u32(b, 0);
    if (op == KIR_S2F) {
        kir_value *sign = kir_binary(b, KIR_CMP_SLT, at(f, value, u32(b, f->n - 1)), limb(f, 0));
        negative = kir_select(b, sign, u32(b, 1), u32(b, 0));
        value = local_array(f, "m");
        kir_call(b, wide_negate_if(p, type), 1, &negative, (kir_var *[]){value, f->a[0]});
    }
    kir_value *zeros = kir_call(b, count_zeros(p, type), 0, NULL, &value),
              *most = u32(b, kir_type_bits(type) - 64);
    kir_value *cut = kir_select(b, below(b, zeros, most), kir_sub(b, most, zeros), u32(b, 0));
    kir_call(b, shift(p, type, KIR_LSHR), 1, &cut, (kir_var *[]){shifted, value});
    kir_call(b, shift(p, type, KIR_SHL), 1, &cut, (kir_var *[]){back, shifted});
    kir_value *exact = equal(
        b, kir_call(b, compare(p, type, KIR_CMP_EQ), 0, NULL, (kir_var *[]){back, value}),
        u32(b, 1));
    kir_value *sticky = kir_select(b, exact, kir_const(b, HG_TYPE_U64, 0),
                                   kir_const(b, HG_TYPE_U64, 1));
    kir_value *real = kir_convert(b, KIR_U2F, to, or_of(b, low_u64(f, shifted), sticky));
    bool f64 = to == HG_TYPE_F64;
    kir_value *limit = u32(b, f64 ? 1023 : 127); /* beyond it the product is infinite anyway */
    kir_value *e = kir_add(b, kir_select(b, below(b, cut, limit), cut, limit), limit);
    if (f64) e = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, e);
    real = kir_mul(
        b, real, kir_convert(b, KIR_BITCAST, to, kir_binary(b, KIR_SHL, e, u32(b, f64 ? 52 : 23))));
    if (op == KIR_S2F) {
        kir_value *minus = kir_sub(b, kir_const(b, to, f64 ? UINT64_C(1) << 63 : UINT64_C(1) << 31),
                                   real);
        real = kir_select(b, equal(b, negative, u32(b, 1)), minus, real);
    }
    kir_return(b, real);
    return wide_end(p, f);
}

/* r = the float truncated; beyond the range its nearest end, NaN 0. */
static kir_function *from_float(rewrite_pass *p, kir_op op, uint8_t type, uint8_t from) {
    char more[32];
    snprintf(more, sizeof more, "_%s", kir_type_name(from));
    wf f_, *f = &f_;
    if (!wide_begin(p, f, kir_op_name(op), type, more, KIR_VOID, 1, &from, 1)) return f->h.function;
    kir_builder *b = &f->h.b;
    bool f64 = from == HG_TYPE_F64, is_signed = op == KIR_F2S;
    uint32_t fraction = f64 ? 52 : 23, bias = f64 ? 1023 : 127, width = kir_type_bits(type),
             room = is_signed ? width - 1 : width;
    kir_value *bits = kir_convert(b, KIR_BITCAST, f64 ? HG_TYPE_U64 : HG_TYPE_U32, kir_param(b, 0));
    if (!f64) bits = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, bits);
    kir_value *upper = kir_convert(b, KIR_TRUNC, HG_TYPE_U32,
                                   kir_binary(b, KIR_LSHR, bits, u32(b, fraction)));
    kir_value *exponent = kir_binary(b, KIR_AND, upper, u32(b, 2 * bias + 1));
    kir_value *negative = kir_not(
        b, equal(b, kir_binary(b, KIR_AND, upper, u32(b, 2 * bias + 2)), u32(b, 0)));
    kir_value *low = kir_binary(b, KIR_AND, bits,
                                kir_const(b, HG_TYPE_U64, (UINT64_C(1) << fraction) - 1));
    kir_value *special = equal(b, exponent, u32(b, 2 * bias + 1));
    kir_value *nan = kir_binary(b, KIR_AND, special,
                                kir_not(b, equal(b, low, kir_const(b, HG_TYPE_U64, 0))));
    kir_value *small = below(b, exponent, u32(b, bias)), *wrong_sign = is_signed ? NULL : negative;
    kir_value *nothing = or_of(b, nan, small);
    if (wrong_sign) nothing = or_of(b, nothing, wrong_sign);
    kir_value *zero = limb(f, 0);
    fill_from(p, f, type, 0, zero, f->a[0]);
    kir_value *any = kir_if_begin(b, kir_not(b, nothing));
    kir_value *e = kir_sub(b, exponent, u32(b, bias)); /* |x| is in [2^e, 2^(e+1)) */
    kir_value *fits = kir_if_begin(
        b, kir_binary(b, KIR_AND, below(b, e, u32(b, room)), kir_not(b, special)));
    kir_var *m = local_array(f, "m"), *s = local_array(f, "s");
    fill_from(p, f, type, 0, zero, m);
    kir_value *significand = or_of(b, low, kir_const(b, HG_TYPE_U64, UINT64_C(1) << fraction));
    kir_value *down = below(b, e, u32(b, fraction));
    kir_value *right = kir_select(b, down, kir_sub(b, u32(b, fraction), e), u32(b, 0));
    kir_value *left = kir_select(b, down, u32(b, 0), kir_sub(b, e, u32(b, fraction)));
    set_low_u64(f, m, kir_binary(b, KIR_LSHR, significand, right));
    kir_call(b, shift(p, type, KIR_SHL), 1, &left, (kir_var *[]){s, m});
    kir_value *flag = is_signed ? kir_select(b, negative, u32(b, 1), u32(b, 0)) : u32(b, 0);
    kir_call(b, wide_negate_if(p, type), 1, &flag, (kir_var *[]){f->a[0], s});
    kir_if_else(b, fits);
    kir_value *ones = kir_sub(b, limb(f, 0), limb(f, 1));
    if (is_signed) ones = kir_select(b, negative, limb(f, 0), ones);
    fill_from(p, f, type, 0, ones, f->a[0]);
    if (is_signed)
        kir_array_set(b, f->a[0], u32(b, f->n - 1),
                      kir_binary(b, KIR_XOR, ones, limb(f, UINT64_C(1) << (f->bits - 1))));
    kir_if_end(b, fits);
    kir_if_end(b, any);
    return wide_end(p, f);
}

kir_function *wide_convert(rewrite_pass *p, kir_op op, uint8_t to, uint8_t from) {
    switch (op) {
    case KIR_U2F:
    case KIR_S2F: return to_float(p, op, to, from);
    case KIR_F2U:
    case KIR_F2S: return from_float(p, op, to, from);
    default: return resize(p, op, to, from);
    }
}
