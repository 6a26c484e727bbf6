/* Integers of 8 to 64 bits in __int128, where no step can overflow before it is cut to the width.
 */
#include "oracle_internal.h"

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

static int128 load(hg_type type, const uint8_t *bytes) {
    uint64_t bits = 0;
    uint32_t size = oracle_size(type);
    for (uint32_t i = 0; i < size; i++) bits |= (uint64_t)bytes[i] << (8 * i);
    if (!oracle_is_signed(type)) return (int128)bits;
    uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return bits & sign ? (int128)bits - ((int128)sign << 1) : (int128)bits;
}

static oracle_outcome store(hg_type type, int128 value, uint8_t *bytes) {
    for (uint32_t i = 0; i < oracle_size(type); i++)
        bytes[i] = (uint8_t)((uint128)value >> (8 * i));
    return ORACLE_OK;
}

/* Products and sums are taken modulo 2^128, unsigned, since only the low bits are kept. */
static int128 mul(int128 a, int128 b) { return (int128)((uint128)a * (uint128)b); }
static int128 add(int128 a, int128 b) { return (int128)((uint128)a + (uint128)b); }
static int128 smaller(int128 a, int128 b) { return a < b ? a : b; }
static int128 larger(int128 a, int128 b) { return a > b ? a : b; }

static bool holds(hg_condition condition, int128 a, int128 b, int128 ua, int128 ub) {
    switch (condition) {
    case HG_COND_EQ: return a == b;
    case HG_COND_NE: return a != b;
    case HG_COND_LT: return a < b;
    case HG_COND_LE: return a <= b;
    case HG_COND_GT: return a > b;
    case HG_COND_GE: return a >= b;
    case HG_COND_LTU: return ua < ub;
    case HG_COND_LEU: return ua <= ub;
    case HG_COND_GTU: return ua > ub;
    case HG_COND_GEU: return ua >= ub;
    case HG_COND_COUNT: break;
    }
    return false;
}

static oracle_outcome shift(hg_op op, hg_type type, const uint8_t *const *args, uint8_t *result) {
    uint32_t width = 8 * oracle_size(type);
    uint32_t amount = (uint32_t)load(HG_TYPE_U32, args[1]) % width;
    int128 value = load(type, args[0]);
    /* An arithmetic shift of a signed value as floor division by 2^amount, without relying on >> of
     * negatives. */
    int128 divisor = (int128)1 << amount;
    int128 floor = value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor);
    return store(type, op == HG_OP_SHL ? mul(value, divisor) : floor, result);
}

static oracle_outcome fold(hg_op op, hg_type type, int count, const uint8_t *const *args,
                           uint8_t *result) {
    uint32_t width = 8 * oracle_size(type);
    bool is_signed = oracle_is_signed(type);
    int128 top = (int128)1 << (is_signed ? width - 1 : width);
    int128 value = op == HG_OP_REDUCE_MUL                ? 1
                   : op == HG_OP_REDUCE_MIN              ? top - 1
                   : op == HG_OP_REDUCE_MAX && is_signed ? -top
                                                         : 0;
    for (int i = 0; i < count; i++) {
        int128 next = load(type, args[i]);
        value = op == HG_OP_REDUCE_ADD   ? add(value, next)
                : op == HG_OP_REDUCE_MUL ? mul(value, next)
                : op == HG_OP_REDUCE_MIN ? smaller(value, next)
                                         : larger(value, next);
    }
    return store(type, value, result);
}

static oracle_outcome unary(hg_op op, hg_type type, const uint8_t *const *args, uint8_t *result) {
    int128 a = load(type, args[0]);
    switch (op) {
    case HG_OP_MOV:
    case HG_OP_FLOOR:
    case HG_OP_CEIL:
    case HG_OP_ROUND:
    case HG_OP_RINT:
    case HG_OP_TRUNC: return store(type, a, result);
    case HG_OP_ABS: return store(type, a < 0 ? -a : a, result);
    case HG_OP_NEG: return store(type, -a, result);
    case HG_OP_NOT: return store(type, -a - 1, result);
    case HG_OP_SIGN: return store(type, (a > 0) - (a < 0), result);
    default: return ORACLE_NONE;
    }
}

static oracle_outcome binary(hg_op op, hg_type type, int variant, const uint8_t *const *args,
                             uint8_t *result) {
    int128 a = load(type, args[0]), b = load(type, args[1]);
    switch (op) {
    case HG_OP_ADD:
    case HG_OP_ATOM_ADD: return store(type, add(a, b), result);
    case HG_OP_SUB: return store(type, a - b, result);
    case HG_OP_MUL: return store(type, mul(a, b), result);
    case HG_OP_DIV: return b == 0 ? ORACLE_DIVISION_BY_ZERO : store(type, a / b, result);
    case HG_OP_REM: return b == 0 ? ORACLE_DIVISION_BY_ZERO : store(type, a % b, result);
    case HG_OP_MIN:
    case HG_OP_ATOM_MIN: return store(type, smaller(a, b), result);
    case HG_OP_MAX:
    case HG_OP_ATOM_MAX: return store(type, larger(a, b), result);
    case HG_OP_AND:
    case HG_OP_ATOM_AND: return store(type, a & b, result);
    case HG_OP_OR:
    case HG_OP_ATOM_OR: return store(type, a | b, result);
    case HG_OP_XOR:
    case HG_OP_ATOM_XOR: return store(type, a ^ b, result);
    case HG_OP_ATOM_EXCH: return store(type, b, result);
    case HG_OP_SET: {
        int128 mask = ((int128)1 << 8 * oracle_size(type)) - 1;
        result[0] = holds((hg_condition)variant, a, b, a & mask, b & mask);
        return ORACLE_OK;
    }
    default: return ORACLE_NONE;
    }
}

static oracle_outcome ternary(hg_op op, hg_type type, const uint8_t *const *args, uint8_t *result) {
    int128 a = load(type, args[0]), b = load(type, args[1]), c = load(type, args[2]);
    switch (op) {
    case HG_OP_FMA:
    case HG_OP_MAD: return store(type, add(mul(a, b), c), result);
    case HG_OP_FMS: return store(type, add(mul(a, b), -c), result);
    case HG_OP_CLAMP: return store(type, smaller(larger(a, b), c), result);
    case HG_OP_ATOM_CAS: return store(type, a == b ? c : a, result);
    default: return ORACLE_NONE;
    }
}

oracle_outcome oracle_int(hg_op op, hg_type type, int variant, const uint8_t *const *args,
                          uint8_t *result) {
    switch (op) {
    case HG_OP_SHL:
    case HG_OP_SHR: return shift(op, type, args, result);
    case HG_OP_REDUCE_ADD:
    case HG_OP_REDUCE_MIN:
    case HG_OP_REDUCE_MAX:
    case HG_OP_REDUCE_MUL: return fold(op, type, variant, args, result);
    case HG_OP_FMA:
    case HG_OP_MAD:
    case HG_OP_FMS:
    case HG_OP_CLAMP:
    case HG_OP_ATOM_CAS: return ternary(op, type, args, result);
    case HG_OP_MOV:
    case HG_OP_FLOOR:
    case HG_OP_CEIL:
    case HG_OP_ROUND:
    case HG_OP_RINT:
    case HG_OP_TRUNC:
    case HG_OP_ABS:
    case HG_OP_NEG:
    case HG_OP_NOT:
    case HG_OP_SIGN: return unary(op, type, args, result);
    default: return binary(op, type, variant, args, result);
    }
}
