/* What the files of the probe share: probe.c on top of tests.c, kernel.c, operands.c, rounds.c and
 * compare.c. */
#ifndef HG_PROBE_INTERNAL_H
#define HG_PROBE_INTERNAL_H

#include "probe/probe.h"

enum {
    PROBE_VERSION = 12, /* of the tests and of what results mean: part of the cache key */
    PROBE_LANES = 4096,
    PROBE_OPERANDS = 6, /* of a lane, eight bytes each: three u64 or f64, three u32 or f32 */
    PROBE_GROUP = 64
};
/* Operands: a column of PROBE_LANES cells of eight bytes for each. Results: the same for each test;
 * what has up to four bytes takes the lower half. */

/* ---- tests.c ---- */
typedef enum probe_test {
    T_ADD,
    T_SUB,
    T_MUL,
    T_DIV,
    T_SQRT,
    T_FMA,
    T_MUL_ERROR,
    T_FLOOR,
    T_TRUNC,
    T_RINT,
    T_EQ,
    T_LT,
    T_LE,
    T_SELECT,
    T_FROM_U32,
    T_FROM_S32,
    T_TO_U32,
    T_TO_S32,
    T_FROM_U64,
    T_FROM_S64,
    T_TO_U64,
    T_TO_S64,
    T_CONVERT,
    T_HALF_WIDEN,
    T_HALF_NARROW,
    T_BRAIN_WIDEN,
    T_BRAIN_NARROW,
    T_DOT4_S,
    T_DOT4_U,
    /* several operations: each must round by itself and in the order written */
    T_MUL_ADD,
    T_MUL_SUB,
    T_SUB_MUL,
    T_SUM,
    T_CANCEL,
    T_PRODUCT,
    T_SUM_CONSTANTS,
    T_PRODUCT_CONSTANTS,
    T_DISTRIBUTED,
    T_ROOT_SQUARED,
    T_DIV_CONSTANT,
    T_RECIPROCAL,
    T_RECIPROCAL_ROOT,
    T_DIV_MUL,
    T_COMMON_DIVISOR,
    T_SELF_EQUAL,
    T_SELF_DIV,
    /* zeros that a compiler can see, and a number less itself */
    T_SELF_SUB,
    T_TIMES_ZERO,
    T_PLUS_ZERO,
    T_ZERO_MINUS,
    T_ZERO_DIV,
    T_DIV_ZERO,
    PROBE_TEST_COUNT,
    PROBE_FIRST_COMBINED = T_MUL_ADD,
    PROBE_FIRST_ZERO = T_SELF_SUB
} probe_test;

enum { PROBE_NONE = KIR_OP_COUNT };
/* ops: what is lowered when a result of the test differs. part: what else the test is made of. */
typedef struct probe_row {
    uint8_t ops[2], part; /* PROBE_NONE: no other */
} probe_row;
extern const probe_row PROBE_TESTS[PROBE_TEST_COUNT];
/* Whether the device has what a test asks about; the rest is integer code already. */
bool hg_probe_wants(const kir_caps *caps, probe_test id, bool f64);
/* The format of a result; 0: an integer. */
uint8_t hg_probe_result_format(probe_test id, bool f64);

/* ---- kernel.c ---- */
/* The kernel: inputs are the operands' and the results' buffer. columns: of each test and format,
 * -1: not wanted. */
kir_module *hg_probe_kernel(const kir_caps *caps, int columns[2][PROBE_TEST_COUNT],
                            uint32_t *count);

/* ---- operands.c ---- */
void hg_probe_operands(uint8_t *bytes);

/* ---- rounds.c ---- */
enum {
    PROBE_ROUNDS_BYTES = PROBE_GROUP * 16, /* what its lanes read, and what they write */
    PROBE_PART_GROUP = 12                  /* lanes of a group that is no whole vectors */
};
void hg_probe_rounds_operands(uint32_t lanes, uint8_t operands[PROBE_ROUNDS_BYTES]);
kir_module *hg_probe_rounds_kernel(void); /* NULL: no memory */
/* Whether all loops came to their end. *most: else the rounds after which the device seems to leave
 * them. */
bool hg_probe_rounds_right(const uint8_t results[PROBE_ROUNDS_BYTES], uint32_t *most);
/* One group of PROBE_PART_GROUP lanes that leave a loop by what they read, and then run another. */
kir_module *hg_probe_group_kernel(void); /* NULL: no memory */
bool hg_probe_group_right(const uint8_t results[PROBE_ROUNDS_BYTES]);

/* ---- compare.c ---- */
typedef struct probe_comparison {
    const uint8_t *operands, *expected, *actual;
    int (*columns)[PROBE_TEST_COUNT];
    hg_probe_result *result;
} probe_comparison;
/* True: of operations that are right by themselves some are not where they meet. */
bool hg_probe_compare(probe_comparison *c);

#endif
