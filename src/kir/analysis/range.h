/* Unsigned ranges of integer values of at most 64 bits: what an operation makes of the ranges of
 * its arguments.
 * Must not know: control flow, where the arguments' ranges come from. */
#ifndef HG_KIR_ANALYSIS_RANGE_H
#define HG_KIR_ANALYSIS_RANGE_H

#include "kir/kir.h"

typedef struct kir_range {
    uint64_t low, high; /* unsigned; low > high: no value */
} kir_range;

/* Whether values of the type have ranges: bool and integers of at most 64 bits. */
static inline bool kir_range_exists(uint8_t type) {
    return type == KIR_BOOL || (type >= HG_TYPE_U8 && type <= HG_TYPE_U64);
}
/* All bit patterns of a type of at most 64 bits, else all of 64. */
static inline kir_range kir_range_full(uint8_t type) {
    if (type == KIR_BOOL) return (kir_range){0, 1};
    uint32_t bits = type == HG_TYPE_F32      ? 32
                    : kir_range_exists(type) ? 8u << (type - HG_TYPE_U8)
                                             : 64;
    return (kir_range){0, UINT64_MAX >> (64 - bits)};
}
static inline kir_range kir_range_exactly(uint64_t n) { return (kir_range){n, n}; }
static inline kir_range kir_range_join(kir_range a, kir_range b) {
    return (kir_range){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}
static inline kir_range kir_range_meet(kir_range a, kir_range b) {
    return (kir_range){a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}
/* The bit pattern of the least signed number; those below it are the same signed and unsigned. */
static inline uint64_t kir_range_sign_bit(uint8_t type) {
    return (kir_range_full(type).high >> 1) + 1;
}
/* Of an operation of kir_is_integer_value, from a range for each argument. A larger range of an
 * argument never gives a smaller result. */
kir_range kir_range_of(const kir_value *v, const kir_range *args);
/* Whether an ADD, SUB, MUL or SHL in a type gives the exact number, without wrap. False for all
 * other operations. */
bool kir_range_is_exact(kir_op op, uint8_t type, kir_range a, kir_range b);

#endif
