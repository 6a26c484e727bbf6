/* Integers of 128 to 4096 bits, on the schoolbook limbs of wide.c. */
#include "oracle_internal.h"
#include <string.h>

static oracle_outcome store(const wide *value, hg_type type, uint8_t *result) {
    wide_store(value, result, oracle_size(type));
    return ORACLE_OK;
}

/* Signed order: flip both sign bits and compare as unsigned. */
static int order(const wide *a, const wide *b, uint32_t n, bool is_signed) {
    wide x = *a, y = *b;
    if (is_signed) {
        x.limb[n - 1] ^= 0x80000000u;
        y.limb[n - 1] ^= 0x80000000u;
    }
    return wide_compare(&x, &y, n);
}

static bool holds(hg_condition condition, int s, int u) {
    switch (condition) {
    case HG_COND_EQ: return s == 0;
    case HG_COND_NE: return s != 0;
    case HG_COND_LT: return s < 0;
    case HG_COND_LE: return s <= 0;
    case HG_COND_GT: return s > 0;
    case HG_COND_GE: return s >= 0;
    case HG_COND_LTU: return u < 0;
    case HG_COND_LEU: return u <= 0;
    case HG_COND_GTU: return u > 0;
    case HG_COND_GEU: return u >= 0;
    case HG_COND_COUNT: break;
    }
    return false;
}

/* Truncated division on magnitudes; -MIN is MIN, so MIN / -1 comes out as MIN and its remainder as
 * 0. */
static void divide(wide *quotient, wide *remainder, const wide *a, const wide *b, uint32_t n,
                   bool is_signed) {
    wide x = *a, y = *b;
    bool negative_a = is_signed && wide_is_negative(a, n),
         negative_b = is_signed && wide_is_negative(b, n);
    if (negative_a) wide_neg(&x, a, n);
    if (negative_b) wide_neg(&y, b, n);
    wide_divide(quotient, remainder, &x, &y, n);
    if (negative_a != negative_b) wide_neg(quotient, quotient, n);
    if (negative_a) wide_neg(remainder, remainder, n);
}

static oracle_outcome shift(hg_op op, hg_type type, const wide *a, const uint8_t *amount_bytes,
                            uint8_t *result) {
    uint32_t n = oracle_size(type) / 4;
    wide amount, r;
    wide_load(&amount, amount_bytes, 4, false);
    uint32_t by = amount.limb[0] % (32 * n);
    if (op == HG_OP_SHL)
        wide_shl(&r, a, by, n);
    else
        wide_shr(&r, a, by, n, oracle_is_signed(type) && wide_is_negative(a, n));
    return store(&r, type, result);
}

static oracle_outcome unary(hg_op op, hg_type type, const wide *a, uint8_t *result) {
    uint32_t n = oracle_size(type) / 4;
    bool negative = oracle_is_signed(type) && wide_is_negative(a, n);
    wide r = *a;
    switch (op) {
    case HG_OP_MOV:
    case HG_OP_FLOOR:
    case HG_OP_CEIL:
    case HG_OP_ROUND:
    case HG_OP_RINT:
    case HG_OP_TRUNC: break;
    case HG_OP_ABS:
        if (negative) wide_neg(&r, a, n);
        break;
    case HG_OP_NEG: wide_neg(&r, a, n); break;
    case HG_OP_NOT:
        for (uint32_t i = 0; i < n; i++) r.limb[i] = ~a->limb[i];
        break;
    case HG_OP_SIGN:
        memset(&r, negative ? 0xFF : 0, sizeof r);
        if (!negative && !wide_is_zero(a, n)) r.limb[0] = 1;
        break;
    default: return ORACLE_NONE;
    }
    return store(&r, type, result);
}

static oracle_outcome binary(hg_op op, hg_type type, int variant, const wide *a, const wide *b,
                             uint8_t *result) {
    uint32_t n = oracle_size(type) / 4;
    bool is_signed = oracle_is_signed(type);
    wide r = {{0}}, unused;
    switch (op) {
    case HG_OP_ADD: wide_add(&r, a, b, n); break;
    case HG_OP_SUB: wide_sub(&r, a, b, n); break;
    case HG_OP_MUL: wide_mul(&r, a, b, n); break;
    case HG_OP_DIV:
    case HG_OP_REM:
        if (wide_is_zero(b, n)) return ORACLE_DIVISION_BY_ZERO;
        if (op == HG_OP_DIV)
            divide(&r, &unused, a, b, n, is_signed);
        else
            divide(&unused, &r, a, b, n, is_signed);
        break;
    case HG_OP_MIN: r = order(a, b, n, is_signed) <= 0 ? *a : *b; break;
    case HG_OP_MAX: r = order(a, b, n, is_signed) >= 0 ? *a : *b; break;
    case HG_OP_AND:
        for (uint32_t i = 0; i < n; i++) r.limb[i] = a->limb[i] & b->limb[i];
        break;
    case HG_OP_OR:
        for (uint32_t i = 0; i < n; i++) r.limb[i] = a->limb[i] | b->limb[i];
        break;
    case HG_OP_XOR:
        for (uint32_t i = 0; i < n; i++) r.limb[i] = a->limb[i] ^ b->limb[i];
        break;
    case HG_OP_SET:
        result[0] = holds((hg_condition)variant, order(a, b, n, is_signed), wide_compare(a, b, n));
        return ORACLE_OK;
    default: return ORACLE_NONE;
    }
    return store(&r, type, result);
}

static oracle_outcome ternary(hg_op op, hg_type type, const wide *a, const wide *b, const wide *c,
                              uint8_t *result) {
    uint32_t n = oracle_size(type) / 4;
    bool is_signed = oracle_is_signed(type);
    wide r;
    if (op == HG_OP_CLAMP) {
        r = order(a, b, n, is_signed) >= 0 ? *a : *b;
        if (order(&r, c, n, is_signed) > 0) r = *c;
    } else {
        wide_mul(&r, a, b, n);
        if (op == HG_OP_FMS)
            wide_sub(&r, &r, c, n);
        else
            wide_add(&r, &r, c, n);
    }
    return store(&r, type, result);
}

static oracle_outcome fold(hg_op op, hg_type type, int count, const uint8_t *const *args,
                           uint8_t *result) {
    static const struct {
        hg_op reduce, step;
    } STEPS[] = {{HG_OP_REDUCE_ADD, HG_OP_ADD},
                 {HG_OP_REDUCE_MUL, HG_OP_MUL},
                 {HG_OP_REDUCE_MIN, HG_OP_MIN},
                 {HG_OP_REDUCE_MAX, HG_OP_MAX}};
    uint32_t size = oracle_size(type);
    bool is_signed = oracle_is_signed(type);
    hg_op step = HG_OP_NONE;
    for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++)
        if (STEPS[i].reduce == op) step = STEPS[i].step;
    memset(result, op == HG_OP_REDUCE_MIN ? 0xFF : 0, size); /* the identity */
    if (op == HG_OP_REDUCE_MUL) result[0] = 1;
    if (op == HG_OP_REDUCE_MIN && is_signed) result[size - 1] = 0x7F;
    if (op == HG_OP_REDUCE_MAX && is_signed) result[size - 1] = 0x80;
    for (int i = 0; i < count; i++) {
        wide a, b;
        wide_load(&a, result, size, is_signed);
        wide_load(&b, args[i], size, is_signed);
        binary(step, type, 0, &a, &b, result);
    }
    return ORACLE_OK;
}

oracle_outcome oracle_wide(hg_op op, hg_type type, int variant, const uint8_t *const *args,
                           uint8_t *result) {
    uint32_t size = oracle_size(type);
    bool is_signed = oracle_is_signed(type);
    wide a, b, c;
    switch (op) {
    case HG_OP_REDUCE_ADD:
    case HG_OP_REDUCE_MIN:
    case HG_OP_REDUCE_MAX:
    case HG_OP_REDUCE_MUL: return fold(op, type, variant, args, result);
    default: break;
    }
    wide_load(&a, args[0], size, is_signed);
    switch (op) {
    case HG_OP_SHL:
    case HG_OP_SHR: return shift(op, type, &a, args[1], result);
    case HG_OP_MOV:
    case HG_OP_FLOOR:
    case HG_OP_CEIL:
    case HG_OP_ROUND:
    case HG_OP_RINT:
    case HG_OP_TRUNC:
    case HG_OP_ABS:
    case HG_OP_NEG:
    case HG_OP_NOT:
    case HG_OP_SIGN: return unary(op, type, &a, result);
    case HG_OP_FMA:
    case HG_OP_MAD:
    case HG_OP_FMS:
    case HG_OP_CLAMP:
        wide_load(&b, args[1], size, is_signed);
        wide_load(&c, args[2], size, is_signed);
        return ternary(op, type, &a, &b, &c, result);
    case HG_OP_ADD:
    case HG_OP_SUB:
    case HG_OP_MUL:
    case HG_OP_DIV:
    case HG_OP_REM:
    case HG_OP_MIN:
    case HG_OP_MAX:
    case HG_OP_AND:
    case HG_OP_OR:
    case HG_OP_XOR:
    case HG_OP_SET:
        wide_load(&b, args[1], size, is_signed);
        return binary(op, type, variant, &a, &b, result);
    default: return ORACLE_NONE;
    }
}
