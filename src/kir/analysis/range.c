/* Interval arithmetic on the operations of kernel IR.
 * Must not know: control flow. */
#include "kir/analysis/range.h"

static uint64_t ones(uint64_t x) { /* the smallest 2^k - 1 that is not below x */
    for (int s = 1; s < 64; s *= 2) x |= x >> s;
    return x;
}

bool kir_range_is_exact(kir_op op, uint8_t type, kir_range a, kir_range b) {
    uint64_t top = kir_range_full(type).high, product;
    switch (op) {
    case KIR_ADD: return a.high <= top - b.high;
    case KIR_SUB: return a.low >= b.high;
    case KIR_MUL: return hg_mul_u64(a.high, b.high, &product) && product <= top;
    case KIR_SHL: return b.low == b.high && b.high < kir_type_bits(type) && a.high <= top >> b.high;
    default: return false;
    }
}

/* Whether no pair of the operands, or each of them, leaves the type, so that results lie as their
 * operands do. */
static bool wraps_alike(kir_op op, uint64_t top, kir_range a, kir_range b) {
    if (op == KIR_ADD) return a.low > top - b.low;
    if (op == KIR_SUB) return a.high < b.low;
    return a.low == a.high && b.low == b.high;
}

static kir_range arithmetic(const kir_value *v, kir_range a, kir_range b) {
    kir_range top = kir_range_full(v->type);
    const kir_op op = (kir_op)v->op;
    const bool known = kir_range_is_exact(op, v->type, a, b) || wraps_alike(op, top.high, a, b);
    const uint64_t mask = top.high, bits = kir_type_bits(v->type);
    switch (op) {
    case KIR_ADD:
        return known ? (kir_range){(a.low + b.low) & mask, (a.high + b.high) & mask} : top;
    case KIR_SUB:
        return known ? (kir_range){(a.low - b.high) & mask, (a.high - b.low) & mask} : top;
    case KIR_MUL:
        return known ? (kir_range){(a.low * b.low) & mask, (a.high * b.high) & mask} : top;
    case KIR_SHL:
        return known && b.high < bits
                   ? (kir_range){(a.low << b.high) & mask, (a.high << b.high) & mask}
                   : top;
    case KIR_UDIV:
        return b.low && b.high ? (kir_range){a.low / b.high, a.high / b.low}
                               : (kir_range){0, a.high};
    case KIR_UREM:
        if (b.low > a.high) return a;
        if (b.low && b.low == b.high && a.low / b.low == a.high / b.low)
            return (kir_range){a.low % b.low, a.high % b.low};
        return (kir_range){0, b.high && b.high - 1 < a.high ? b.high - 1 : a.high};
    case KIR_AND: return (kir_range){0, a.high < b.high ? a.high : b.high};
    case KIR_OR: return (kir_range){a.low > b.low ? a.low : b.low, ones(a.high | b.high)};
    case KIR_XOR: return (kir_range){0, ones(a.high | b.high)};
    case KIR_LSHR:
        if (b.high >= kir_type_bits(v->type) || b.low > b.high) return (kir_range){0, a.high};
        return (kir_range){a.low >> b.high, a.high >> b.low};
    default: return top;
    }
}

/* 1, 0, or -1: unknown. */
static int compare(const kir_value *v, kir_range a, kir_range b) {
    if (v->op == KIR_CMP_EQ) {
        if (a.low == a.high && b.low == b.high && a.low == b.low) return 1;
        return a.high < b.low || b.high < a.low ? 0 : -1;
    }
    if (v->op == KIR_CMP_SLT && (a.high >= kir_range_sign_bit(v->args[0]->type) ||
                                 b.high >= kir_range_sign_bit(v->args[0]->type)))
        return -1;
    if (a.high < b.low) return 1;
    return a.low >= b.high ? 0 : -1;
}

static kir_range converted(const kir_value *v, kir_range a) {
    kir_range top = kir_range_full(v->type);
    switch ((kir_op)v->op) {
    case KIR_ZEXT:
    case KIR_BITCAST: return a;
    case KIR_TRUNC: return a.high <= top.high ? a : top;
    case KIR_SEXT: return a.high < kir_range_sign_bit(v->args[0]->type) ? a : top;
    case KIR_CLZ: return (kir_range){0, kir_type_bits(v->args[0]->type)};
    default: return top;
    }
}

kir_range kir_range_of(const kir_value *v, const kir_range *r) {
    if (!kir_range_exists(v->type)) return kir_range_full(v->type);
    for (uint8_t i = 0; i < v->nargs; i++)
        if (!kir_range_exists(v->args[i]->type)) return kir_range_full(v->type);
    switch ((kir_op)v->op) {
    case KIR_CMP_EQ:
    case KIR_CMP_ULT:
    case KIR_CMP_SLT: {
        int known = compare(v, r[0], r[1]);
        return known < 0 ? (kir_range){0, 1} : kir_range_exactly((uint64_t)known);
    }
    case KIR_SELECT:
        if (r[0].low == r[0].high) return r[0].low ? r[1] : r[2];
        return kir_range_join(r[1], r[2]);
    default:
        return v->nargs == 2   ? arithmetic(v, r[0], r[1])
               : v->nargs == 1 ? converted(v, r[0])
                               : kir_range_full(v->type);
    }
}
