/* Interval arithmetic against the operations themselves on numbers of 8 bits: no result is outside
 * the range, a part of a range never gives more than the whole, and what is called exact does not
 * wrap. */
#include "kir/analysis/range.h"
#include "test.h"

static uint32_t state = 1;
static uint32_t next_random(uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % below;
}

static int signed_of(uint32_t x) { return x < 128 ? (int)x : (int)x - 256; }

/* What a, b of u8 give, without cutting the result to a type. Signed division is not asked. */
static uint32_t calculate(kir_op op, uint32_t a, uint32_t b, uint32_t c) {
    switch (op) {
    case KIR_ADD: return a + b;
    case KIR_SUB: return a - b;
    case KIR_MUL: return a * b;
    case KIR_UDIV: return b ? a / b : 0;
    case KIR_UREM: return b ? a % b : 0;
    case KIR_AND: return a & b;
    case KIR_OR: return a | b;
    case KIR_XOR: return a ^ b;
    case KIR_SHL: return a << b % 8;
    case KIR_LSHR: return a >> b % 8;
    case KIR_ASHR:
        return (uint32_t)(signed_of(a) < 0 ? ~(~signed_of(a) >> b % 8) : signed_of(a) >> b % 8);
    case KIR_CLZ: {
        uint32_t n = 0;
        while (n < 8 && !(a >> (7 - n) & 1)) n++;
        return n;
    }
    case KIR_CMP_EQ: return a == b;
    case KIR_CMP_ULT: return a < b;
    case KIR_CMP_SLT: return signed_of(a) < signed_of(b);
    case KIR_SELECT: return a ? b : c;
    case KIR_SEXT: return (uint32_t)signed_of(a);
    default: return a; /* ZEXT, TRUNC, BITCAST */
    }
}

static bool is_within(kir_range r, uint64_t x) { return r.low <= x && x <= r.high; }

static kir_range any_range(uint32_t most) {
    uint32_t a = next_random(most + 1), b = next_random(4) ? next_random(most + 1) : a;
    return a < b ? (kir_range){a, b} : (kir_range){b, a};
}
static uint32_t any_within(kir_range r) {
    return (uint32_t)r.low + next_random((uint32_t)(r.high - r.low + 1));
}
static kir_range part_of(kir_range r) {
    uint32_t a = any_within(r), b = any_within(r);
    return a < b ? (kir_range){a, b} : (kir_range){b, a};
}

static void try_operation(kir_op op, uint8_t type, const uint8_t *types, uint8_t nargs) {
    kir_value args[3] = {{.type = types[0]}, {.type = types[1]}, {.type = types[2]}};
    kir_value *list[3] = {&args[0], &args[1], &args[2]};
    kir_value v = {.op = (uint8_t)op, .type = type, .nargs = nargs, .args = list};
    uint32_t cut = (uint32_t)kir_range_full(type).high;
    for (int i = 0; i < 4000; i++) {
        kir_range r[3], part[3];
        for (int k = 0; k < 3; k++) {
            bool amount = k == 1 && kir_op_has(op, KIR_F_SHIFTS);
            r[k] = any_range(
                amount ? 12
                       : (uint32_t)(types[k] == HG_TYPE_U32 ? 255 : kir_range_full(types[k]).high));
            part[k] = part_of(r[k]);
        }
        kir_range of = kir_range_of(&v, r), less = kir_range_of(&v, part);
        bool exact = nargs == 2 && kir_range_is_exact(op, type, r[0], r[1]);
        CHECK_MESSAGE(is_within(of, less.low) && is_within(of, less.high),
                      "%s: a part of the range gives more", kir_op_name(op));
        for (int k = 0; k < 8; k++) {
            uint32_t x = calculate(op, any_within(r[0]), any_within(r[1]), any_within(r[2]));
            CHECK_MESSAGE(is_within(of, x & cut), "%s: %u is outside of %u..%u", kir_op_name(op),
                          (unsigned)(x & cut), (unsigned)of.low, (unsigned)of.high);
            CHECK_MESSAGE(!exact || x <= cut, "%s: wraps and is called exact", kir_op_name(op));
        }
    }
}

static void results_are_within(void) {
    static const uint8_t BYTES[3] = {HG_TYPE_U8, HG_TYPE_U8, HG_TYPE_U8},
                         SHIFT[3] = {HG_TYPE_U8, HG_TYPE_U32, HG_TYPE_U8},
                         CHOICE[3] = {KIR_BOOL, HG_TYPE_U8, HG_TYPE_U8},
                         WORDS[3] = {HG_TYPE_U32, HG_TYPE_U32, HG_TYPE_U32};
    static const kir_op TWO[] = {KIR_ADD,  KIR_SUB, KIR_MUL, KIR_UDIV,
                                 KIR_UREM, KIR_AND, KIR_OR,  KIR_XOR};
    static const kir_op SHIFTS[] = {KIR_SHL, KIR_LSHR, KIR_ASHR},
                        COMPARE[] = {KIR_CMP_EQ, KIR_CMP_ULT, KIR_CMP_SLT};
    for (size_t i = 0; i < HG_COUNT_OF(TWO); i++) try_operation(TWO[i], HG_TYPE_U8, BYTES, 2);
    for (size_t i = 0; i < HG_COUNT_OF(SHIFTS); i++) try_operation(SHIFTS[i], HG_TYPE_U8, SHIFT, 2);
    for (size_t i = 0; i < HG_COUNT_OF(COMPARE); i++) try_operation(COMPARE[i], KIR_BOOL, BYTES, 2);
    try_operation(KIR_CLZ, HG_TYPE_U8, BYTES, 1);
    try_operation(KIR_SELECT, HG_TYPE_U8, CHOICE, 3);
    try_operation(KIR_ZEXT, HG_TYPE_U32, BYTES, 1);
    try_operation(KIR_SEXT, HG_TYPE_U16, BYTES, 1);
    try_operation(KIR_BITCAST, HG_TYPE_U8, BYTES, 1);
    try_operation(KIR_TRUNC, HG_TYPE_U8, WORDS, 1);
}

/* Where a proof finds that a place is never reached, ranges are empty: any result will do, but
 * there is one. */
static void empty_ranges_do_no_harm(void) {
    kir_value a = {.type = HG_TYPE_U32}, *list[2] = {&a, &a};
    for (int op = 0; op < KIR_OP_COUNT; op++) {
        if (!kir_is_value(&(kir_value){.op = (uint8_t)op}) || kir_op_get((kir_op)op)->args != 2)
            continue;
        kir_value v = {.op = (uint8_t)op, .type = HG_TYPE_U32, .nargs = 2, .args = list};
        kir_range empty = {100, 0}, r[2] = {{5, 9}, empty};
        kir_range result = kir_range_of(&v, r);
        CHECK(result.low <= UINT32_MAX);
    }
}

int main(void) {
    results_are_within();
    empty_ranges_do_no_harm();
    return test_done();
}
