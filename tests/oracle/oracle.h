/* What every instruction must give, computed by plain means that share nothing with the library:
 * host integers and floats,
 * __int128, schoolbook limbs, quad precision. Written from the semantics, never from a definition
 * of the library.
 * Must not know: kernel IR, devices, the runtime. */
#ifndef HG_TESTS_ORACLE_H
#define HG_TESTS_ORACLE_H

#include "isa/isa.h"

enum { ORACLE_MAX_BYTES = 512 }; /* of one element */

typedef enum oracle_outcome {
    ORACLE_OK,
    ORACLE_DIVISION_BY_ZERO, /* the lane stops with fault F02 */
    ORACLE_NONE              /* this instruction gives no value for this type */
} oracle_outcome;

/**
 * The value an instruction computes from its source operands.
 *
 * @param type     the instruction's type; cvt: the destination
 * @param type2    cvt: the source type; else ignored
 * @param variant  set: hg_condition; reduce on registers: their number; addc and subb: 1 asks for
 * the carry, one byte; else 0
 * @param args     little-endian bytes of the source operands in the order of the text; a shift
 * amount is a u32, the predicate of sel and of addc one byte; atomics: old value, then the register
 * operands
 * @param result   size(type) bytes; set: one byte, 0 or 1; atomics: the value left in memory. May
 * not overlap an argument
 */
oracle_outcome oracle_eval(hg_op op, hg_type type, hg_type type2, int variant,
                           const uint8_t *const *args, uint8_t *result);

/** One element of parallel_map (one argument) or parallel_map_binary (two). */
oracle_outcome oracle_opname(hg_opname name, hg_type type, const uint8_t *const *args,
                             uint8_t *result);

/** Sum, product, min or max of n consecutive elements by the fixed tree of semantics 0.3; n = 0
 * gives the identity. */
oracle_outcome oracle_reduce(hg_opname name, hg_type type, const uint8_t *elements, uint64_t n,
                             uint8_t *result);

/** A lane of a block: size(type) bytes, or NULL where the lane has stopped. */
typedef struct oracle_lane {
    const uint8_t *value;
} oracle_lane;
/** breduce and bscan over the n lanes of a block that started, in linear order; results are written
 * for lanes that have not stopped. */
bool oracle_block(hg_op op, hg_type type, bool exclusive, const oracle_lane *lanes, uint64_t n,
                  uint8_t *results);
void oracle_shuffle(hg_type type, const oracle_lane *lanes, uint64_t n, uint64_t from,
                    uint8_t *result);

/** cvt, all 24 x 24 pairs, rounded once. */
void oracle_convert(hg_type to, hg_type from, const uint8_t *source, uint8_t *result);

/** Atlas: semantics 4.5, 5.1 to 5.3, 5.5, 5.10, 5.11. Classes below 96. */
uint32_t oracle_class_of_byte(uint8_t byte);
uint32_t oracle_mirror(uint32_t cls);
uint32_t oracle_neighbours(uint32_t cls, uint32_t neighbours[6]); /* rising; returns their number */
void oracle_torus(hg_type type, uint64_t *pages, uint64_t *residues);
bool oracle_is_torus(uint64_t n);
uint32_t oracle_orbit(uint64_t coordinate, uint64_t n);
uint64_t oracle_representative(uint32_t orbit);           /* orbit below 32 */
uint64_t oracle_inverse(uint64_t unit, uint64_t modulus); /* 0: none below 2^32 */
/** An exact sum of doubles; all zero: nothing added. */
typedef struct oracle_sum {
    uint32_t limb[128];
    bool rises, falls, nan;
} oracle_sum;
void oracle_sum_add(oracle_sum *sum, const uint8_t *f64);
void oracle_sum_merge(oracle_sum *sum, const oracle_sum *more);
void oracle_sum_round(const oracle_sum *sum, uint8_t *f64); /* once, to nearest even */

/** Bytes of one element. */
uint32_t oracle_size(hg_type type);
bool oracle_is_float(hg_type type);
bool oracle_is_signed(hg_type type);
bool oracle_is_nan(hg_type type, const uint8_t *bytes);

enum {
    ORACLE_UNCHECKED = 0x7FFFFFFF
}; /* outside the arguments for which an accuracy is promised today */
/** Distance in ULP that a result may have from oracle_eval's for these arguments: 0 for exact
 * instructions and special values. */
uint64_t oracle_tolerance(hg_op op, hg_type type, const uint8_t *const *args,
                          const uint8_t *expected);
uint64_t oracle_opname_tolerance(hg_opname name, hg_type type, const uint8_t *const *args,
                                 const uint8_t *expected);
/** Equal bits, or both NaN, or floats at most ulp representable values apart. */
bool oracle_agrees(hg_type type, uint64_t ulp, const uint8_t *expected, const uint8_t *actual);

#endif
