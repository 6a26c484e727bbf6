/* The results of every instruction as hashes: docs/reference/bits.json, the same on every target.
 */
#ifndef HG_TESTS_BITS_H
#define HG_TESTS_BITS_H

#include "isa/isa.h"
#include <stdbool.h>
#include <stdint.h>

enum { BITS_ARGUMENTS = 4, BITS_CHUNK = 65536, BITS_FOLDS = 8, BITS_FOLD_INPUTS = 4097 };

/* An instruction, or an operation of whole arrays that no instruction has, with its types. */
typedef struct bits_case {
    char name[48]; /* add.i32, cvt.f32.f64, setlt.u8, erf.f32 */
    hg_op op;      /* or HG_OP_NONE: the map of this operation */
    hg_opname map;
    bool fold; /* map is a reduction; arguments are BITS_FOLD_INPUTS, results BITS_FOLDS of several
                  lengths */
    hg_type result;
    uint32_t count; /* of arguments */
    hg_type types[BITS_ARGUMENTS];
    bool predicate[BITS_ARGUMENTS];
    char text[2048]; /* the program: arguments a0, a1, ... and results out, a lane each */
} bits_case;

/* cases.c: all, in the order of the instruction table. The caller frees the list. */
bits_case *bits_cases(uint32_t *count);
/* How many results the file has of a case: 2^20, fewer for wide types. */
uint64_t bits_results(const bits_case *c);
/* How many of them the first hash is of: the 256th part. */
uint64_t bits_first(const bits_case *c);

/* inputs.c: the arguments of lanes first ... first + n - 1. */
void bits_fill(const bits_case *c, uint32_t argument, uint64_t first, uint64_t n, uint8_t *to);
/* FNV-1a of 64 bits over results, every NaN as the one with only its first fraction bit. */
uint64_t bits_hash(uint64_t hash, hg_type type, uint8_t *results, uint64_t n);
#define BITS_HASH_START UINT64_C(0xCBF29CE484222325)

#endif
