/* Division of wide integers: Knuth, The Art of Computer Programming 2, section 4.3.1, algorithm D,
 * in digits of a limb.
 *
 * Two things differ from the book. Divisor and rest stay where they are: scaling both by 2^s does
 * not change a quotient, so only the two limbs that a digit is guessed from are shifted so that the
 * divisor's highest bit is set. And the guess divides three limbs by two, by a reciprocal of those
 * two that is found once a division (Möller, Granlund: Improved Division by Invariant Integers,
 * IEEE Transactions on Computers 60, 2011, algorithms 4, 6 and the two ways to a reciprocal of a
 * word in section 3): no step divides, and a digit is one too large about once in 2^bits.
 * Requires: called by the pass over wide integers. */
#include "kir/legalise/wide_function.h"

/* What a division works on. */
typedef struct divide_state {
    kir_var *quotient, *rest, *divisor;
    kir_value *count; /* of the divisor's limbs, from its highest that is not 0 */
    kir_value *shift; /* zero bits above its highest one */
    kir_value *d1, *d0, *reciprocal;
} divide_state;

/* x's limb i, or 0 below and above the array. */
static kir_value *limb_or_zero(wf *f, kir_var *x, kir_value *i) {
    kir_builder *b = &f->h.b;
    kir_value *inside = below(b, i, u32(b, f->n)),
              *value = at(f, x, kir_select(b, inside, i, u32(b, 0)));
    return kir_select(b, inside, value, limb(f, 0));
}

/* The upper limb of (high, low) · 2^shift. */
static kir_value *shifted(wf *f, kir_value *high, kir_value *low, kir_value *shift) {
    kir_builder *b = &f->h.b;
    kir_value *left = kir_binary(b, KIR_SHL, high, shift),
              *up = kir_sub(b, u32(b, f->bits - 1), shift);
    kir_value *right = kir_binary(b, KIR_LSHR, shift_by(b, KIR_LSHR, low, 1), up);
    return or_of(b, left, right);
}

#define high_of(b, x, y) kir_binary(b, KIR_MULHI_U, x, y)

/* floor((2^64 - 1, 2^64 - 1) / d) - 2^64 for a d of 64 bits: 11 bits of it from a division of
 * words, then 21, 34, 65, and the last. */
static kir_value *reciprocal_64(wf *f, kir_value *d) {
    kir_builder *b = &f->h.b;
    kir_value *d9 = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, shift_by(b, KIR_LSHR, d, 55));
    /* lanes that are not here divide by something too */
    kir_value *v0 = kir_convert(
        b, KIR_ZEXT, HG_TYPE_U64,
        kir_binary(b, KIR_UDIV, u32(b, (1 << 19) - 3 * (1 << 8)), or_of(b, d9, u32(b, 256))));
    kir_value *d40 = kir_add(b, shift_by(b, KIR_LSHR, d, 24), limb(f, 1)),
              *odd = kir_binary(b, KIR_AND, d, limb(f, 1));
    kir_value *d63 = kir_add(b, shift_by(b, KIR_LSHR, d, 1), odd);
    kir_value *square = kir_mul(b, kir_mul(b, v0, v0), d40);
    kir_value *v1 = kir_sub(
        b, kir_sub(b, shift_by(b, KIR_SHL, v0, 11), shift_by(b, KIR_LSHR, square, 40)), limb(f, 1));
    kir_value *miss = kir_sub(b, limb(f, UINT64_C(1) << 60), kir_mul(b, v1, d40));
    kir_value *v2 = kir_add(b, shift_by(b, KIR_SHL, v1, 13),
                            shift_by(b, KIR_LSHR, kir_mul(b, v1, miss), 47));
    kir_value *half = kir_mul(b, shift_by(b, KIR_LSHR, v2, 1), odd),
              *e = kir_sub(b, half, kir_mul(b, v2, d63));
    kir_value *v3 = kir_add(b, shift_by(b, KIR_SHL, v2, 31),
                            shift_by(b, KIR_LSHR, high_of(b, v2, e), 1));
    kir_value *low = kir_mul(b, v3, d), *carry = bit(f, below(b, kir_add(b, low, d), d));
    return kir_sub(b, v3, kir_add(b, kir_add(b, high_of(b, v3, d), d), carry));
}

/* The same for 32 bits: 15 bits, 33, and the last. */
static kir_value *reciprocal_32(wf *f, kir_value *d) {
    kir_builder *b = &f->h.b;
    kir_value *d10 = or_of(b, shift_by(b, KIR_LSHR, d, 22), u32(b, 512));
    kir_value *v0 = kir_binary(b, KIR_UDIV, u32(b, (1 << 24) - (1 << 14) + (1 << 9)), d10);
    kir_value *d21 = kir_add(b, shift_by(b, KIR_LSHR, d, 11), limb(f, 1)),
              *odd = kir_binary(b, KIR_AND, d, limb(f, 1));
    kir_value *d31 = kir_add(b, shift_by(b, KIR_LSHR, d, 1), odd);
    kir_value *v1 = kir_sub(
        b, kir_sub(b, shift_by(b, KIR_SHL, v0, 4), high_of(b, kir_mul(b, v0, v0), d21)),
        limb(f, 1));
    kir_value *half = kir_mul(b, shift_by(b, KIR_LSHR, v1, 1), odd),
              *e = kir_sub(b, half, kir_mul(b, v1, d31));
    kir_value *v2 = kir_add(b, shift_by(b, KIR_SHL, v1, 15),
                            shift_by(b, KIR_LSHR, high_of(b, v1, e), 1));
    kir_value *low = kir_mul(b, v2, d), *carry = bit(f, below(b, kir_add(b, low, d), d));
    return kir_sub(b, v2, kir_add(b, kir_add(b, high_of(b, v2, d), d), carry));
}

/* -1 where a condition is true, else 0. */
#define mask_of(f, condition) \
    kir_select(&(f)->h.b, condition, limb(f, UINT64_MAX >> (64 - (f)->bits)), limb(f, 0))

/* floor((B^3 - 1) / (d1, d0)) - B, for limbs of B numbers. */
static kir_value *reciprocal(wf *f, kir_value *d1, kir_value *d0) {
    kir_builder *b = &f->h.b;
    kir_value *v = f->bits == 64 ? reciprocal_64(f, d1) : reciprocal_32(f, d1);
    kir_value *rest = kir_add(b, kir_mul(b, d1, v), d0), *over = mask_of(f, below(b, rest, d0));
    kir_value *more = kir_binary(b, KIR_AND, over,
                                 mask_of(f, kir_not(b, below(b, rest, d1)))); /* d1 goes off once
                                                                                 more */
    v = kir_add(b, kir_add(b, v, over), more);
    rest = kir_sub(b, rest, kir_binary(b, KIR_AND, more, d1));
    rest = kir_sub(b, rest, kir_binary(b, KIR_AND, over, d1));
    kir_value *t1 = high_of(b, v, d0), *t0 = kir_mul(b, v, d0), *sum = kir_add(b, rest, t1),
              *carry = mask_of(f, below(b, sum, t1));
    kir_value *above = or_of(
        b, below(b, d1, sum),
        kir_binary(b, KIR_AND, equal(b, sum, d1), kir_not(b, below(b, t0, d0))));
    return kir_add(b, v, kir_add(b, carry, kir_binary(b, KIR_AND, carry, mask_of(f, above))));
}

/* Step D3: floor((u2, u1, u0) / (d1, d0)), at most one more than the digit. */
static kir_value *guess_digit(wf *f, const divide_state *s, kir_value *u2, kir_value *u1,
                              kir_value *u0) {
    kir_builder *b = &f->h.b;
    kir_value *d1 = s->d1, *d0 = s->d0, *one = limb(f, 1),
              *all = limb(f, UINT64_MAX >> (64 - f->bits));
    kir_value *q0 = kir_add(b, kir_mul(b, s->reciprocal, u2), u1),
              *q1 = kir_add(b, high_of(b, s->reciprocal, u2), u2);
    q1 = kir_add(b, q1, bit(f, below(b, q0, u1)));
    /* (r1, r0) = (u2, u1, u0) - (q1 + 1)(d1, d0), of which two limbs are enough */
    kir_value *t1 = high_of(b, d0, q1), *t0 = kir_mul(b, d0, q1), *r0 = kir_sub(b, u0, t0);
    kir_value *r1 = kir_sub(b, kir_sub(b, kir_sub(b, u1, kir_mul(b, q1, d1)), t1),
                            bit(f, below(b, u0, t0)));
    r1 = kir_sub(b, kir_sub(b, r1, d1), bit(f, below(b, r0, d0)));
    r0 = kir_sub(b, r0, d0);
    q1 = kir_add(b, q1, one);
    kir_value *back = kir_not(b, below(b, r1, q0)), *sum = kir_add(b, r0, d0);
    kir_value *r1_back = kir_add(b, kir_add(b, r1, d1), bit(f, below(b, sum, r0)));
    q1 = kir_sub(b, q1, bit(f, back));
    r1 = kir_select(b, back, r1_back, r1);
    r0 = kir_select(b, back, sum, r0);
    kir_value *more = or_of(b, below(b, d1, r1),
                            kir_binary(b, KIR_AND, equal(b, r1, d1), kir_not(b, below(b, r0, d0))));
    q1 = kir_add(b, q1, bit(f, more));
    kir_value *equal_tops = kir_binary(b, KIR_AND, equal(b, u2, d1), equal(b, u1, d0)); /* the
                                                                                           quotient
                                                                                           would be
                                                                                           B: the
                                                                                           digit is
                                                                                           B - 1 */
    return kir_select(b, equal_tops, all, q1);
}

/* A loop whose number of rounds only the numbers tell. A compiler that writes it out as often as
 * the arrays are long makes it slower: Mesa 22.3 does up to 32 limbs, and then takes 0.4 to 0.9 of
 * the time of half as long digits instead of 0.2. */
static kir_for rolled_for(kir_builder *b, kir_value *n) {
    kir_for f = kir_for_begin(b, n);
    f.loop->u.loop.rolled = true;
    return f;
}

/* Steps D4 to D6: rest -= q · divisor · B^j, and once more the divisor if q was too large; the
 * right q. above: the limb over those. */
static kir_value *subtract_product(wf *f, const divide_state *s, kir_value *j, kir_value *above,
                                   kir_value *guess) {
    kir_builder *b = &f->h.b;
    kir_var *carry = local(f, f->limb, "carry"), *q = local(f, f->limb, "digit");
    kir_set(b, q, guess);
    kir_set(b, carry, limb(f, 0));
    kir_for i = rolled_for(b, s->count);
    kir_value *y = at(f, s->divisor, i.i), *place = kir_add(b, i.i, j), *x = at(f, s->rest, place),
              *c = kir_get(b, carry);
    kir_value *low = kir_add(b, kir_mul(b, guess, y), c),
              *high = kir_add(b, high_of(b, guess, y), bit(f, below(b, low, c)));
    kir_array_set(b, s->rest, place, kir_sub(b, x, low));
    kir_set(b, carry, kir_add(b, high, bit(f, below(b, x, low))));
    kir_for_end(b, &i);
    kir_value *too_large = kir_if_begin(b, below(b, above, kir_get(b, carry)));
    kir_set(b, q, kir_sub(b, guess, limb(f, 1)));
    kir_set(b, carry, limb(f, 0));
    i = rolled_for(b, s->count);
    place = kir_add(b, i.i, j);
    x = at(f, s->rest, place);
    y = kir_add(b, x, at(f, s->divisor, i.i));
    c = kir_get(b, carry);
    kir_value *sum = kir_add(b, y, c);
    kir_array_set(b, s->rest, place, sum);
    kir_set(b, carry, bit(f, or_of(b, below(b, y, x), below(b, sum, y))));
    kir_for_end(b, &i);
    kir_if_end(b, too_large);
    return kir_get(b, q);
}

/* One digit of the quotient, at limb j. */
static void divide_step(wf *f, const divide_state *s, kir_value *j) {
    kir_builder *b = &f->h.b;
    kir_value *end = kir_add(b, j, s->count), *x[4];
    for (uint32_t k = 0; k < 4; k++) x[k] = limb_or_zero(f, s->rest, kir_sub(b, end, u32(b, k)));
    kir_value *u2 = shifted(f, x[0], x[1], s->shift), *u1 = shifted(f, x[1], x[2], s->shift),
              *u0 = shifted(f, x[2], x[3], s->shift);
    kir_value *q = subtract_product(f, s, j, x[0], guess_digit(f, s, u2, u1, u0));
    kir_array_set(b, s->quotient, j, q);
    kir_value *inside = kir_if_begin(b, below(b, end, u32(b, f->n))); /* what was above is used up
                                                                       */
    kir_array_set(b, s->rest, end, limb(f, 0));
    kir_if_end(b, inside);
}

/* rest = dividend, quotient = 0; sets the counts of limbs that dividend and divisor have. */
static void divide_begin(wf *f, const divide_state *s, kir_var *dividend, kir_var *dividend_count,
                         kir_var *divisor_count) {
    kir_builder *b = &f->h.b;
    kir_value *zero = limb(f, 0);
    kir_set(b, dividend_count, u32(b, 0));
    kir_set(b, divisor_count, u32(b, 0));
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_value *x = at(f, dividend, i.i), *y = at(f, s->divisor, i.i),
              *next = kir_add(b, i.i, u32(b, 1));
    kir_array_set(b, s->quotient, i.i, zero);
    kir_array_set(b, s->rest, i.i, x);
    kir_set(b, dividend_count, kir_select(b, equal(b, x, zero), kir_get(b, dividend_count), next));
    kir_set(b, divisor_count, kir_select(b, equal(b, y, zero), kir_get(b, divisor_count), next));
    kir_for_end(b, &i);
}

/* (q, a, b, c = rest), of a type's limbs or twice as many. By zero both are zero. */
static kir_function *divide(rewrite_pass *p, uint8_t type, bool twice) {
    wf f_, *f = &f_;
    uint32_t limbs = wide_limbs(p, type) << twice;
    if (!wide_begin_limbs(p, f, "divide", type, limbs, twice ? "_twice" : "", KIR_VOID, 0, NULL, 4))
        return f->h.function;
    kir_builder *b = f->b = &f->h.b;
    divide_state s = {.quotient = f->a[0], .divisor = f->a[2], .rest = f->a[3]};
    kir_var *left = local(f, HG_TYPE_U32, "left"), *counts = local(f, HG_TYPE_U32, "count");
    kir_value *one = u32(b, 1);
    divide_begin(f, &s, f->a[1], left, counts);
    s.count = kir_get(b, counts);
    kir_value *valid = kir_if_begin(b, kir_not(b, equal(b, s.count, u32(b, 0)))), *x[3];
    for (uint32_t k = 0; k < 3; k++)
        x[k] = limb_or_zero(f, s.divisor, kir_sub(b, s.count, u32(b, k + 1)));
    s.shift = kir_unary(b, KIR_CLZ, x[0]);
    if (f->bits == 64) s.shift = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, s.shift);
    s.d1 = shifted(f, x[0], x[1], s.shift);
    s.d0 = shifted(f, x[1], x[2], s.shift);
    s.reciprocal = reciprocal(f, s.d1, s.d0);
    kir_value *all = kir_get(b, left), *shorter = below(b, all, s.count);
    kir_set(b, left, kir_select(b, shorter, u32(b, 0), kir_add(b, kir_sub(b, all, s.count), one)));
    kir_value *loop = kir_loop_begin(b, true);
    loop->u.loop.rolled = true;
    kir_value *n = kir_get(b, left), *done = kir_if_begin(b, equal(b, n, u32(b, 0)));
    kir_break(b);
    kir_if_end(b, done);
    kir_value *j = kir_sub(b, n, one);
    kir_set(b, left, j);
    divide_step(f, &s, j);
    kir_loop_end(b, loop);
    kir_if_else(b, valid);
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_array_set(b, s.rest, i.i, limb(f, 0));
    kir_for_end(b, &i);
    kir_if_end(b, valid);
    return wide_end(p, f);
}

kir_function *wide_division(rewrite_pass *p, uint8_t type, kir_op op) {
    BEGIN(kir_op_name(op), KIR_VOID, 0, NULL, 3);
    bool rest = op == KIR_UREM || op == KIR_SREM, is_signed = op == KIR_SDIV || op == KIR_SREM;
    kir_var *other = local_array(f, rest ? "q" : "rest"), *x = f->a[1], *y = f->a[2],
            *result = f->a[0];
    if (!is_signed) {
        kir_call(b, divide(p, type, false), 0, NULL,
                 rest ? (kir_var *[]){other, x, y, result} : (kir_var *[]){result, x, y, other});
        return wide_end(p, f);
    }
    kir_var *ux = local_array(f, "x"), *uy = local_array(f, "y"),
            *unsigned_result = local_array(f, rest ? "rest" : "q");
    kir_value *top = u32(b, f->n - 1), *one = u32(b, 1), *none = u32(b, 0);
    kir_value *nx = kir_select(b, kir_binary(b, KIR_CMP_SLT, at(f, x, top), limb(f, 0)), one, none);
    kir_value *ny = kir_select(b, kir_binary(b, KIR_CMP_SLT, at(f, y, top), limb(f, 0)), one, none);
    kir_call(b, wide_negate_if(p, type), 1, &nx, (kir_var *[]){ux, x});
    kir_call(b, wide_negate_if(p, type), 1, &ny, (kir_var *[]){uy, y});
    kir_call(b, divide(p, type, false), 0, NULL,
             rest ? (kir_var *[]){other, ux, uy, unsigned_result}
                  : (kir_var *[]){unsigned_result, ux, uy, other});
    kir_value *flip = rest ? nx : kir_binary(b, KIR_XOR, nx, ny);
    kir_call(b, wide_negate_if(p, type), 1, &flip, (kir_var *[]){result, unsigned_result});
    return wide_end(p, f);
}

/* x = a * b with all limbs, schoolbook. */
static void full_product(wf *f, kir_var *x) {
    kir_builder *b = &f->h.b;
    kir_var *carry = local(f, f->limb, "carry");
    kir_for i = kir_for_begin(b, u32(b, 2 * f->n));
    kir_array_set(b, x, i.i, limb(f, 0));
    kir_for_end(b, &i);
    i = kir_for_begin(b, u32(b, f->n));
    kir_value *m = at(f, f->a[1], i.i);
    kir_set(b, carry, limb(f, 0));
    kir_for j = kir_for_begin(b, u32(b, f->n));
    kir_value *y = at(f, f->a[2], j.i), *place = kir_add(b, i.i, j.i), *c = kir_get(b, carry);
    kir_value *low = kir_mul(b, m, y), *high = high_of(b, m, y),
              *s = kir_add(b, at(f, x, place), low), *t = kir_add(b, s, c);
    high = kir_add(b, high, bit(f, below(b, s, low)));
    kir_array_set(b, x, place, t);
    kir_set(b, carry, kir_add(b, high, bit(f, below(b, t, s))));
    kir_for_end(b, &j);
    kir_array_set(b, x, kir_add(b, i.i, u32(b, f->n)), kir_get(b, carry));
    kir_for_end(b, &i);
}

kir_function *wide_mulmod(rewrite_pass *p, uint8_t type) {
    BEGIN("mulmod", KIR_VOID, 0, NULL, 4);
    kir_var *twice[4]; /* quotient, product, divisor, rest */
    for (int k = 0; k < 4; k++)
        twice[k] = kir_var_create(b->module, f->h.function, f->limb, 2 * f->n, NULL);
    full_product(f, twice[1]);
    kir_for i = kir_for_begin(b, u32(b, f->n));
    kir_array_set(b, twice[2], i.i, at(f, f->a[3], i.i));
    kir_array_set(b, twice[2], kir_add(b, i.i, u32(b, f->n)), limb(f, 0));
    kir_for_end(b, &i);
    kir_call(b, divide(p, type, true), 0, NULL, twice);
    i = kir_for_begin(b, u32(b, f->n));
    kir_array_set(b, f->a[0], i.i, at(f, twice[3], i.i));
    kir_for_end(b, &i);
    return wide_end(p, f);
}
