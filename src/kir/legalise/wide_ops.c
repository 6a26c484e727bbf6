/* Functions on arrays of limbs, one for each operation and width, each a loop (never unrolled: a 4096-bit product is one body).
 * Arrays are little-endian; the result never is one of the operands.
 * Requires: called by the pass over wide integers. */
#include "kir/legalise/wide.h"
#include "kir/builder.h"
#include "kir/sugar.h"
#include <stdio.h>

typedef struct wf {
    rewrite_helper h;
    kir_builder *b;
    kir_var **a;
    uint32_t n;
    uint8_t limb;
    uint32_t bits;
} wf;

static bool begin(rewrite_pass *p, wf *f, const char *what, uint8_t type, const char *more, uint8_t result, uint8_t scalars,
                  const uint8_t *types, uint8_t arrays) {
    char name[64];
    snprintf(name, sizeof name, "%s_%s%s", what, kir_type_name(type), more);
    f->h = rewrite_helper_begin(p, name, result, scalars, types);
    if (!f->h.fresh) return false;
    f->limb = wide(p)->limb;
    f->bits = wide(p)->limb_bits;
    f->n = wide_limbs(p, type);
    for (uint8_t i = 0; i < arrays; i++)
        if (!kir_array_param(f->h.function, f->limb, f->n, i == 0 ? "r" : i == 1 ? "a" : i == 2 ? "b" : "c")) f->h.b.failed = true;
    f->a = f->h.function->array_params;
    return true;
}
static kir_function *end(rewrite_pass *p, wf *f) {
    if (f->h.fresh) rewrite_helper_end(p, &f->h);
    return f->h.function;
}
#define BEGIN(what, result, scalars, types, arrays)                                         \
    wf f_, *f = &f_;                                                                        \
    if (!begin(p, f, what, type, "", result, scalars, types, arrays)) return f->h.function; \
    kir_builder *b = f->b = &f->h.b

static kir_value *limb(wf *f, uint64_t n) { return kir_const(&f->h.b, f->limb, n); }
static kir_value *bit(wf *f, kir_value *condition) { return kir_select(&f->h.b, condition, limb(f, 1), limb(f, 0)); }
#define or_of(b, x, y) kir_binary(b, KIR_OR, x, y)
static kir_var *local(wf *f, uint8_t type, const char *name) { return kir_var_create(f->h.b.module, f->h.function, type, 0, name); }
static kir_var *local_array(wf *f, const char *name) { return kir_var_create(f->h.b.module, f->h.function, f->limb, f->n, name); }
static kir_value *at(wf *f, kir_var *array, kir_value *i) { return kir_array_get(&f->h.b, array, i); }

/* array[from …] = value. */
static void fill_from(rewrite_pass *p, wf *f, uint8_t type, uint32_t from, kir_value *value, kir_var *array) {
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
    return end(p, f);
}

static kir_function *bitwise(rewrite_pass *p, uint8_t type, kir_op op) {
    BEGIN(kir_op_name(op), KIR_VOID, 0, NULL, 3);
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_value *x = at(f, f->a[1], i.i), *y = at(f, f->a[2], i.i);
    kir_array_set(b, f->a[0], i.i, kir_binary(b, op, x, y));
    kir_for_end(b, &i);
    return end(p, f);
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
    kir_value *y = at(f, f->a[2], j.i), *place = kir_add(b, i.i, j.i), *old = at(f, f->a[0], place), *c = kir_get(b, carry);
    kir_value *low = kir_mul(b, x, y), *high = kir_binary(b, KIR_MULHI_U, x, y);
    kir_value *s = kir_add(b, old, low), *t = kir_add(b, s, c);
    high = kir_add(b, high, bit(f, below(b, s, low)));
    high = kir_add(b, high, bit(f, below(b, t, s)));
    kir_array_set(b, f->a[0], place, t);
    kir_set(b, carry, high);
    kir_for_end(b, &j);
    kir_for_end(b, &i);
    return end(p, f);
}

kir_function *wide_fill(rewrite_pass *p, uint8_t type) {
    const uint8_t types[] = {HG_TYPE_U32, wide(p)->limb};
    BEGIN("fill", KIR_VOID, 2, types, 1);
    kir_value *from = kir_param(b, 0), *value = kir_param(b, 1);
    kir_for i = kir_for_begin(b, kir_sub(b, u32(b, f->n), from));
    kir_array_set(b, f->a[0], kir_add(b, i.i, from), value);
    kir_for_end(b, &i);
    return end(p, f);
}

kir_function *wide_copy(rewrite_pass *p, uint8_t type) {
    BEGIN("copy", KIR_VOID, 0, NULL, 2);
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_array_set(b, f->a[0], i.i, at(f, f->a[1], i.i));
    kir_for_end(b, &i);
    return end(p, f);
}

static kir_function *select_of(rewrite_pass *p, uint8_t type) {
    const uint8_t types[] = {HG_TYPE_U32};
    BEGIN("select", KIR_VOID, 1, types, 3);
    kir_value *first = kir_not(b, equal(b, kir_param(b, 0), u32(b, 0)));
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_value *x = at(f, f->a[1], i.i), *y = at(f, f->a[2], i.i);
    kir_array_set(b, f->a[0], i.i, kir_select(b, first, x, y));
    kir_for_end(b, &i);
    return end(p, f);
}

/* 1 or 0. The array parameters of comparisons are r = the left, a = the right operand. */
static kir_function *compare(rewrite_pass *p, uint8_t type, kir_op op) {
    BEGIN(kir_op_name(op), HG_TYPE_U32, 0, NULL, 2);
    kir_var *result = local(f, HG_TYPE_U32, "result");
    kir_set(b, result, u32(b, op == KIR_CMP_EQ));
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_value *x = at(f, f->a[0], i.i), *y = at(f, f->a[1], i.i), *old = kir_get(b, result), *same = equal(b, x, y);
    kir_value *now = op == KIR_CMP_EQ ? u32(b, 0) : kir_select(b, below(b, x, y), u32(b, 1), u32(b, 0));
    kir_set(b, result, kir_select(b, same, old, now));
    kir_for_end(b, &i);
    kir_value *r = kir_get(b, result);
    if (op == KIR_CMP_SLT) { /* signs decide where they differ */
        kir_value *top = u32(b, f->n - 1), *nx = kir_binary(b, KIR_CMP_SLT, at(f, f->a[0], top), limb(f, 0));
        kir_value *ny = kir_binary(b, KIR_CMP_SLT, at(f, f->a[1], top), limb(f, 0));
        kir_value *by_sign = kir_select(b, nx, u32(b, 1), u32(b, 0));
        r = kir_select(b, kir_binary(b, KIR_XOR, nx, ny), by_sign, r);
    }
    kir_return(b, r);
    return end(p, f);
}

/* Amount u32, taken modulo the width: whole limbs, then bits from two neighbours. */
static kir_function *shift(rewrite_pass *p, uint8_t type, kir_op op) {
    const uint8_t types[] = {HG_TYPE_U32};
    BEGIN(kir_op_name(op), KIR_VOID, 1, types, 2);
    bool left = op == KIR_SHL;
    uint32_t log = f->bits == 64 ? 6 : 5;
    kir_value *amount = kir_binary(b, KIR_AND, kir_param(b, 0), u32(b, kir_type_bits(type) - 1));
    kir_value *whole = kir_binary(b, KIR_LSHR, amount, u32(b, log)), *part = kir_binary(b, KIR_AND, amount, u32(b, f->bits - 1));
    kir_value *rest = kir_sub(b, u32(b, f->bits), part), *no_part = equal(b, part, u32(b, 0)), *last = u32(b, f->n - 1);
    kir_value *fill = limb(f, 0);
    if (op == KIR_ASHR) fill = kir_binary(b, KIR_ASHR, at(f, f->a[1], last), u32(b, f->bits - 1));
    kir_for i = kir_for_begin(b, u32(b, f->n));
    /* sources near and far; outside the array they are the fill (indices are kept inside by select) */
    kir_value *near_i = left ? kir_sub(b, i.i, whole) : kir_add(b, i.i, whole);
    kir_value *far_i = left ? kir_sub(b, near_i, u32(b, 1)) : kir_add(b, near_i, u32(b, 1));
    kir_value *count = u32(b, f->n), *near_in = below(b, near_i, count), *far_in = below(b, far_i, count);
    kir_value *near_value = at(f, f->a[1], kir_select(b, near_in, near_i, u32(b, 0)));
    kir_value *far_value = at(f, f->a[1], kir_select(b, far_in, far_i, u32(b, 0)));
    near_value = kir_select(b, near_in, near_value, fill);
    far_value = kir_select(b, far_in, far_value, fill);
    kir_value *main_part = kir_binary(b, left ? KIR_SHL : KIR_LSHR, near_value, part);
    kir_value *other = kir_binary(b, left ? KIR_LSHR : KIR_SHL, far_value, rest);
    kir_array_set(b, f->a[0], i.i, or_of(b, main_part, kir_select(b, no_part, limb(f, 0), other)));
    kir_for_end(b, &i);
    return end(p, f);
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
    return end(p, f);
}

/* ---- division ----
 * Knuth, The Art of Computer Programming 2, section 4.3.1, algorithm D, in digits of half a limb. */

/* Digit i of an array of limbs. */
static kir_value *digit_of(wf *f, kir_var *limbs, kir_value *i) {
    kir_builder *b = &f->h.b;
    kir_value *one = u32(b, 1), *place = kir_mul(b, kir_binary(b, KIR_AND, i, one), u32(b, f->bits / 2));
    kir_value *word = at(f, limbs, kir_binary(b, KIR_LSHR, i, one));
    return kir_binary(b, KIR_AND, kir_binary(b, KIR_LSHR, word, place), limb(f, (UINT64_C(1) << f->bits / 2) - 1));
}

/* digits[0 … 2n] = limbs · 2^by, a digit an element; by is less than a digit has bits. */
static void unpack(wf *f, kir_var *digits, kir_var *limbs, kir_value *by) {
    kir_builder *b = &f->h.b;
    kir_var *carry = local(f, f->limb, "carry");
    kir_set(b, carry, limb(f, 0));
    kir_for i = kir_for_begin(b, u32(b, 2 * f->n));
    kir_value *t = or_of(b, kir_binary(b, KIR_SHL, digit_of(f, limbs, i.i), by), kir_get(b, carry));
    kir_array_set(b, digits, i.i, kir_binary(b, KIR_AND, t, limb(f, (UINT64_C(1) << f->bits / 2) - 1)));
    kir_set(b, carry, kir_binary(b, KIR_LSHR, t, u32(b, f->bits / 2)));
    kir_for_end(b, &i);
    kir_array_set(b, digits, u32(b, 2 * f->n), kir_get(b, carry));
}

/* limbs = digits / 2^by. */
static void pack(wf *f, kir_var *limbs, kir_var *digits, kir_value *by) {
    kir_builder *b = &f->h.b;
    uint32_t half = f->bits / 2;
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_value *place = kir_mul(b, i.i, u32(b, 2)), *d[3], *up = kir_sub(b, u32(b, half), by), *mask = limb(f, (UINT64_C(1) << half) - 1);
    for (uint32_t k = 0; k < 3; k++) d[k] = at(f, digits, kir_add(b, place, u32(b, k)));
    for (uint32_t k = 0; k < 2; k++)
        d[k] = or_of(b, kir_binary(b, KIR_LSHR, d[k], by), kir_binary(b, KIR_AND, kir_binary(b, KIR_SHL, d[k + 1], up), mask));
    kir_array_set(b, limbs, i.i, or_of(b, d[0], kir_binary(b, KIR_SHL, d[1], u32(b, half))));
    kir_for_end(b, &i);
}

/* Step D3: a digit of the quotient, at most one too large, from the first three digits of the rest at j and two of the divisor. */
static kir_value *guess_digit(wf *f, kir_var *u, kir_var *v, kir_value *j, kir_value *count) {
    kir_builder *b = &f->h.b;
    kir_value *half = u32(b, f->bits / 2), *base = limb(f, UINT64_C(1) << f->bits / 2), *end = kir_add(b, j, count), *none = limb(f, 0);
    kir_value *more = kir_not(b, below(b, count, u32(b, 2))), *back = kir_select(b, more, u32(b, 2), u32(b, 1));
    /* the highest bit of v's first digit is set; said again, so that lanes that are not here divide by something */
    kir_value *first = or_of(b, at(f, v, kir_sub(b, count, u32(b, 1))), limb(f, UINT64_C(1) << (f->bits / 2 - 1)));
    kir_value *second = kir_select(b, more, at(f, v, kir_sub(b, count, back)), none);
    kir_value *third = kir_select(b, more, at(f, u, kir_sub(b, end, back)), none);
    kir_value *top = or_of(b, kir_binary(b, KIR_SHL, at(f, u, end), half), at(f, u, kir_sub(b, end, u32(b, 1))));
    kir_value *q = kir_binary(b, KIR_UDIV, top, first), *r = kir_sub(b, top, kir_mul(b, q, first));
    for (int round = 0; round < 2; round++) {
        kir_value *next = or_of(b, kir_binary(b, KIR_SHL, r, half), third);
        kir_value *large = or_of(b, kir_not(b, below(b, q, base)), below(b, next, kir_mul(b, q, second)));
        large = kir_binary(b, KIR_AND, large, below(b, r, base));
        q = kir_sub(b, q, bit(f, large));
        r = kir_add(b, r, kir_select(b, large, first, none));
    }
    return q;
}

/* Steps D4 to D6: u[j …] -= q · v, and once more v if q was too large; the right q. */
static kir_value *subtract_product(wf *f, kir_var *u, kir_var *v, kir_value *j, kir_value *count, kir_value *guess) {
    kir_builder *b = &f->h.b;
    kir_value *half = u32(b, f->bits / 2), *mask = limb(f, (UINT64_C(1) << f->bits / 2) - 1), *sign = u32(b, f->bits - 1);
    kir_var *carry = local(f, f->limb, "carry"), *borrow = local(f, f->limb, "borrow"), *q = local(f, f->limb, "digit");
    kir_set(b, q, guess);
    kir_set(b, carry, limb(f, 0));
    kir_set(b, borrow, limb(f, 0));
    kir_for i = kir_for_begin(b, count);
    kir_value *place = kir_add(b, i.i, j), *p = kir_add(b, kir_mul(b, kir_get(b, q), at(f, v, i.i)), kir_get(b, carry));
    kir_value *t = kir_sub(b, kir_sub(b, at(f, u, place), kir_binary(b, KIR_AND, p, mask)), kir_get(b, borrow));
    kir_set(b, carry, kir_binary(b, KIR_LSHR, p, half));
    kir_set(b, borrow, kir_binary(b, KIR_LSHR, t, sign));
    kir_array_set(b, u, place, kir_binary(b, KIR_AND, t, mask));
    kir_for_end(b, &i);
    kir_value *end = kir_add(b, j, count);
    kir_value *last = kir_sub(b, kir_sub(b, at(f, u, end), kir_get(b, carry)), kir_get(b, borrow));
    kir_array_set(b, u, end, kir_binary(b, KIR_AND, last, mask));
    kir_value *too_large = kir_if_begin(b, kir_not(b, equal(b, kir_binary(b, KIR_LSHR, last, sign), limb(f, 0))));
    kir_set(b, q, kir_sub(b, kir_get(b, q), limb(f, 1)));
    kir_set(b, carry, limb(f, 0));
    i = kir_for_begin(b, count);
    place = kir_add(b, i.i, j);
    t = kir_add(b, kir_add(b, at(f, u, place), at(f, v, i.i)), kir_get(b, carry));
    kir_set(b, carry, kir_binary(b, KIR_LSHR, t, half));
    kir_array_set(b, u, place, kir_binary(b, KIR_AND, t, mask));
    kir_for_end(b, &i);
    kir_array_set(b, u, end, kir_binary(b, KIR_AND, kir_add(b, at(f, u, end), kir_get(b, carry)), mask));
    kir_if_end(b, too_large);
    return kir_get(b, q);
}

/* (q, a, b, c = rest). By zero both are zero. */
static kir_function *divide(rewrite_pass *p, uint8_t type) {
    BEGIN("divide", KIR_VOID, 0, NULL, 4);
    kir_var *quotient = f->a[0], *dividend = f->a[1], *divisor = f->a[2], *rest = f->a[3];
    kir_var *u = kir_var_create(b->module, f->h.function, f->limb, 2 * f->n + 1, "u"),
            *v = kir_var_create(b->module, f->h.function, f->limb, 2 * f->n + 1, "v");
    kir_var *left = local(f, HG_TYPE_U32, "left");
    uint32_t width = kir_type_bits(type), half = f->bits / 2, log = half == 32 ? 5 : 4;
    kir_value *zero = limb(f, 0), *one = u32(b, 1), *round = u32(b, half - 1);
    fill_from(p, f, type, 0, zero, quotient);
    fill_from(p, f, type, 0, zero, rest);
    kir_value *zeros = kir_call(b, count_zeros(p, type), 0, NULL, &divisor);
    kir_value *valid = kir_if_begin(b, below(b, zeros, u32(b, width)));
    kir_value *bits = kir_sub(b, u32(b, width), zeros), *count = kir_binary(b, KIR_LSHR, kir_add(b, bits, round), u32(b, log));
    kir_value *by = kir_sub(b, kir_mul(b, count, u32(b, half)), bits);
    kir_value *a_bits = kir_sub(b, u32(b, width), kir_call(b, count_zeros(p, type), 0, NULL, &dividend));
    kir_value *a_count = kir_binary(b, KIR_LSHR, kir_add(b, a_bits, round), u32(b, log));
    kir_value *shorter = below(b, a_count, count);
    unpack(f, u, dividend, by);
    unpack(f, v, divisor, by);
    kir_set(b, left, kir_select(b, shorter, u32(b, 0), kir_add(b, kir_sub(b, a_count, count), one)));
    kir_value *loop = kir_loop_begin(b, true);
    kir_value *n = kir_get(b, left), *done = kir_if_begin(b, equal(b, n, u32(b, 0)));
    kir_break(b);
    kir_if_end(b, done);
    kir_value *j = kir_sub(b, n, one), *word = kir_binary(b, KIR_LSHR, j, one);
    kir_set(b, left, j);
    kir_value *digit = subtract_product(f, u, v, j, count, guess_digit(f, u, v, j, count));
    digit = kir_binary(b, KIR_SHL, digit, kir_mul(b, kir_binary(b, KIR_AND, j, one), u32(b, half)));
    kir_array_set(b, quotient, word, or_of(b, at(f, quotient, word), digit));
    kir_loop_end(b, loop);
    pack(f, rest, u, by);
    kir_if_end(b, valid);
    return end(p, f);
}

/* r = flag ? -a : a. */
static kir_function *negate_if(rewrite_pass *p, uint8_t type) {
    const uint8_t types[] = {HG_TYPE_U32};
    BEGIN("negate_if", KIR_VOID, 1, types, 2);
    kir_value *flag = kir_not(b, equal(b, kir_param(b, 0), u32(b, 0)));
    kir_value *mask = kir_select(b, flag, kir_sub(b, limb(f, 0), limb(f, 1)), limb(f, 0));
    kir_var *carry = local(f, f->limb, "carry");
    kir_set(b, carry, bit(f, flag));
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_value *x = kir_binary(b, KIR_XOR, at(f, f->a[1], i.i), mask), *c = kir_get(b, carry), *t = kir_add(b, x, c);
    kir_array_set(b, f->a[0], i.i, t);
    kir_set(b, carry, bit(f, below(b, t, c)));
    kir_for_end(b, &i);
    return end(p, f);
}

/* UDIV UREM SDIV SREM on top of divide: (r, a, b). */
static kir_function *division(rewrite_pass *p, uint8_t type, kir_op op) {
    BEGIN(kir_op_name(op), KIR_VOID, 0, NULL, 3);
    bool rest = op == KIR_UREM || op == KIR_SREM, is_signed = op == KIR_SDIV || op == KIR_SREM;
    kir_var *q = local_array(f, "q"), *r = local_array(f, "rest"), *x = f->a[1], *y = f->a[2];
    kir_value *top = u32(b, f->n - 1), *one = u32(b, 1), *none = u32(b, 0), *nx = none, *ny = none;
    if (is_signed) {
        nx = kir_select(b, kir_binary(b, KIR_CMP_SLT, at(f, x, top), limb(f, 0)), one, none);
        ny = kir_select(b, kir_binary(b, KIR_CMP_SLT, at(f, y, top), limb(f, 0)), one, none);
        kir_var *ux = local_array(f, "x"), *uy = local_array(f, "y");
        kir_call(b, negate_if(p, type), 1, &nx, (kir_var *[]){ux, x});
        kir_call(b, negate_if(p, type), 1, &ny, (kir_var *[]){uy, y});
        x = ux;
        y = uy;
    }
    kir_call(b, divide(p, type), 0, NULL, (kir_var *[]){q, x, y, r});
    kir_value *flip = rest ? nx : kir_binary(b, KIR_XOR, nx, ny);
    kir_call(b, negate_if(p, type), 1, &flip, (kir_var *[]){f->a[0], rest ? r : q});
    return end(p, f);
}

kir_function *wide_function(rewrite_pass *p, kir_op op, uint8_t type) {
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
    case KIR_SREM: return division(p, type, op);
    case KIR_CMP_EQ:
    case KIR_CMP_ULT:
    case KIR_CMP_SLT: return compare(p, type, op);
    case KIR_CLZ: return count_zeros(p, type);
    case KIR_SELECT: return select_of(p, type);
    default: return NULL;
    }
}

/* ---- conversions ---- */

/* r (limbs of `to`) = a (limbs of `from`), cut or extended. */
static kir_function *resize(rewrite_pass *p, kir_op op, uint8_t type, uint8_t from) {
    char more[32];
    snprintf(more, sizeof more, "_%s", kir_type_name(from));
    wf f_, *f = &f_;
    if (!begin(p, f, kir_op_name(op), type, more, KIR_VOID, 0, NULL, 1)) return f->h.function;
    kir_builder *b = &f->h.b;
    uint32_t n = wide_limbs(p, from), kept = n < f->n ? n : f->n;
    kir_var *source = kir_array_param(f->h.function, f->limb, n, "a");
    kir_for i = kir_for_begin(b, u32(b, kept));
    kir_array_set(b, f->a[0], i.i, at(f, source, i.i));
    kir_for_end(b, &i);
    if (kept < f->n) {
        kir_value *fill = limb(f, 0);
        if (op == KIR_SEXT) fill = kir_binary(b, KIR_ASHR, at(f, source, u32(b, n - 1)), u32(b, f->bits - 1));
        fill_from(p, f, type, kept, fill, f->a[0]);
    }
    return end(p, f);
}

/* The low 64 bits of an array, and the other way round. */
static kir_value *low_u64(wf *f, kir_var *array) {
    kir_builder *b = &f->h.b;
    kir_value *low = at(f, array, u32(b, 0));
    if (f->bits == 64) return low;
    kir_value *high = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, at(f, array, u32(b, 1)));
    return or_of(b, kir_binary(b, KIR_SHL, high, u32(b, 32)), kir_convert(b, KIR_ZEXT, HG_TYPE_U64, low));
}
static void set_low_u64(wf *f, kir_var *array, kir_value *v) {
    kir_builder *b = &f->h.b;
    if (f->bits == 64) {
        kir_array_set(b, array, u32(b, 0), v);
        return;
    }
    kir_array_set(b, array, u32(b, 0), kir_convert(b, KIR_TRUNC, HG_TYPE_U32, v));
    kir_array_set(b, array, u32(b, 1), kir_convert(b, KIR_TRUNC, HG_TYPE_U32, kir_binary(b, KIR_LSHR, v, u32(b, 32))));
}

/* The operand (array r) rounded once: its top 64 bits, the last one set when a lower bit was, then the 64-bit conversion. */
static kir_function *to_float(rewrite_pass *p, kir_op op, uint8_t to, uint8_t type) {
    char more[32];
    snprintf(more, sizeof more, "_%s", kir_type_name(to));
    wf f_, *f = &f_;
    if (!begin(p, f, kir_op_name(op), type, more, to, 0, NULL, 1)) return f->h.function;
    kir_builder *b = &f->h.b;
    kir_var *value = f->a[0], *shifted = local_array(f, "s"), *back = local_array(f, "t");
    kir_value *negative = u32(b, 0);
    if (op == KIR_S2F) {
        kir_value *sign = kir_binary(b, KIR_CMP_SLT, at(f, value, u32(b, f->n - 1)), limb(f, 0));
        negative = kir_select(b, sign, u32(b, 1), u32(b, 0));
        value = local_array(f, "m");
        kir_call(b, negate_if(p, type), 1, &negative, (kir_var *[]){value, f->a[0]});
    }
    kir_value *zeros = kir_call(b, count_zeros(p, type), 0, NULL, &value), *most = u32(b, kir_type_bits(type) - 64);
    kir_value *cut = kir_select(b, below(b, zeros, most), kir_sub(b, most, zeros), u32(b, 0));
    kir_call(b, shift(p, type, KIR_LSHR), 1, &cut, (kir_var *[]){shifted, value});
    kir_call(b, shift(p, type, KIR_SHL), 1, &cut, (kir_var *[]){back, shifted});
    kir_value *exact = equal(b, kir_call(b, compare(p, type, KIR_CMP_EQ), 0, NULL, (kir_var *[]){back, value}), u32(b, 1));
    kir_value *sticky = kir_select(b, exact, kir_const(b, HG_TYPE_U64, 0), kir_const(b, HG_TYPE_U64, 1));
    kir_value *real = kir_convert(b, KIR_U2F, to, or_of(b, low_u64(f, shifted), sticky));
    bool f64 = to == HG_TYPE_F64;
    kir_value *limit = u32(b, f64 ? 1023 : 127); /* beyond it the product is infinite anyway */
    kir_value *e = kir_add(b, kir_select(b, below(b, cut, limit), cut, limit), limit);
    if (f64) e = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, e);
    real = kir_mul(b, real, kir_convert(b, KIR_BITCAST, to, kir_binary(b, KIR_SHL, e, u32(b, f64 ? 52 : 23))));
    if (op == KIR_S2F) {
        kir_value *minus = kir_sub(b, kir_const(b, to, f64 ? UINT64_C(1) << 63 : UINT64_C(1) << 31), real);
        real = kir_select(b, equal(b, negative, u32(b, 1)), minus, real);
    }
    kir_return(b, real);
    return end(p, f);
}

/* r = the float truncated; beyond the range its nearest end, NaN 0. */
static kir_function *from_float(rewrite_pass *p, kir_op op, uint8_t type, uint8_t from) {
    char more[32];
    snprintf(more, sizeof more, "_%s", kir_type_name(from));
    wf f_, *f = &f_;
    if (!begin(p, f, kir_op_name(op), type, more, KIR_VOID, 1, &from, 1)) return f->h.function;
    kir_builder *b = &f->h.b;
    bool f64 = from == HG_TYPE_F64, is_signed = op == KIR_F2S;
    uint32_t fraction = f64 ? 52 : 23, bias = f64 ? 1023 : 127, width = kir_type_bits(type), room = is_signed ? width - 1 : width;
    kir_value *bits = kir_convert(b, KIR_BITCAST, f64 ? HG_TYPE_U64 : HG_TYPE_U32, kir_param(b, 0));
    if (!f64) bits = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, bits);
    kir_value *upper = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, kir_binary(b, KIR_LSHR, bits, u32(b, fraction)));
    kir_value *exponent = kir_binary(b, KIR_AND, upper, u32(b, 2 * bias + 1));
    kir_value *negative = kir_not(b, equal(b, kir_binary(b, KIR_AND, upper, u32(b, 2 * bias + 2)), u32(b, 0)));
    kir_value *low = kir_binary(b, KIR_AND, bits, kir_const(b, HG_TYPE_U64, (UINT64_C(1) << fraction) - 1));
    kir_value *special = equal(b, exponent, u32(b, 2 * bias + 1));
    kir_value *nan = kir_binary(b, KIR_AND, special, kir_not(b, equal(b, low, kir_const(b, HG_TYPE_U64, 0))));
    kir_value *small = below(b, exponent, u32(b, bias)), *wrong_sign = is_signed ? NULL : negative;
    kir_value *nothing = or_of(b, nan, small);
    if (wrong_sign) nothing = or_of(b, nothing, wrong_sign);
    kir_value *zero = limb(f, 0);
    fill_from(p, f, type, 0, zero, f->a[0]);
    kir_value *any = kir_if_begin(b, kir_not(b, nothing));
    kir_value *e = kir_sub(b, exponent, u32(b, bias)); /* |x| is in [2^e, 2^(e+1)) */
    kir_value *fits = kir_if_begin(b, kir_binary(b, KIR_AND, below(b, e, u32(b, room)), kir_not(b, special)));
    kir_var *m = local_array(f, "m"), *s = local_array(f, "s");
    fill_from(p, f, type, 0, zero, m);
    kir_value *significand = or_of(b, low, kir_const(b, HG_TYPE_U64, UINT64_C(1) << fraction));
    kir_value *down = below(b, e, u32(b, fraction));
    kir_value *right = kir_select(b, down, kir_sub(b, u32(b, fraction), e), u32(b, 0));
    kir_value *left = kir_select(b, down, u32(b, 0), kir_sub(b, e, u32(b, fraction)));
    set_low_u64(f, m, kir_binary(b, KIR_LSHR, significand, right));
    kir_call(b, shift(p, type, KIR_SHL), 1, &left, (kir_var *[]){s, m});
    kir_value *flag = is_signed ? kir_select(b, negative, u32(b, 1), u32(b, 0)) : u32(b, 0);
    kir_call(b, negate_if(p, type), 1, &flag, (kir_var *[]){f->a[0], s});
    kir_if_else(b, fits);
    kir_value *ones = kir_sub(b, limb(f, 0), limb(f, 1));
    if (is_signed) ones = kir_select(b, negative, limb(f, 0), ones);
    fill_from(p, f, type, 0, ones, f->a[0]);
    if (is_signed) kir_array_set(b, f->a[0], u32(b, f->n - 1), kir_binary(b, KIR_XOR, ones, limb(f, UINT64_C(1) << (f->bits - 1))));
    kir_if_end(b, fits);
    kir_if_end(b, any);
    return end(p, f);
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
