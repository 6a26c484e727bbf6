/* The ordinary character table of the Monster group, exact: 194 irreducible characters on 194
 * conjugacy classes. Facts of the ATLAS of Finite Groups (Conway, Curtis, Norton, Parker, Wilson,
 * 1985). Pure functions: thread-safe, they allocate nothing. An index that is out of range gives
 * HG_ERROR_ISA: `invalid character index: 194 (must be < 194)`. */
#ifndef HOLOGRAM_CHARACTERS_H
#define HOLOGRAM_CHARACTERS_H

#include <hologram/status.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HG_CHARACTER_COUNT = 194, HG_CONDUCTOR_MAX = 119 };

/* ---- the Monster's character table (5.12); characters and classes count from 0 here, χ1 of the
 * literature is 0 ---- */
/** An algebraic integer of the table: Σ coefficient[k]·ζ^k, ζ = e^(2πi/conductor), k < conductor.
 * Rational: conductor 1. Irrational entries all lie in the field of √-conductor; the 13 conductors
 * are 11 20 23 31 39 47 56 59 71 87 95 104 119. */
typedef struct hg_character_value {
    uint32_t conductor;
    uint8_t rational[16];                 /* i128, little-endian; conductor 1 only */
    int8_t coefficient[HG_CONDUCTOR_MAX]; /* conductor above 1 only */
} hg_character_value;
HG_API hg_status hg_character(uint64_t character, uint64_t cls,
                              hg_character_value *value) HG_NODISCARD;
/** Real and imaginary part, each the exact value rounded once to nearest. Either may be NULL. */
HG_API hg_status hg_character_f64(uint64_t character, uint64_t cls, double *real,
                                  double *imaginary) HG_NODISCARD;
/** i128, little-endian; of an irrational entry `character value not rational: character 17, class
 * 23A`, where characters count from 1. */
HG_API hg_status hg_character_i128(uint64_t character, uint64_t cls,
                                   uint8_t value[16]) HG_NODISCARD;
typedef struct hg_monster_class {
    const char *name; /* of the ATLAS: "1A", "2A", … static */
    uint32_t element_order;
    uint8_t size[24], centralizer[24]; /* unsigned, little-endian */
} hg_monster_class;
HG_API hg_status hg_monster_class_get(uint64_t cls, hg_monster_class *info) HG_NODISCARD;
/** Index of a class by its name; false when there is none. */
HG_API bool hg_monster_class_find(const char *name, uint32_t *cls);
/** The class of the prime-th powers of its elements; prime: one of the 15 that divide the group's
 * order, else `invalid prime: 4 (must be 2, 3, …)`. */
HG_API hg_status hg_monster_power(uint64_t cls, uint32_t prime, uint32_t *power) HG_NODISCARD;
HG_API hg_status hg_monster_indicator(uint64_t character,
                                      int *indicator) HG_NODISCARD; /* Frobenius–Schur:
                                                                       1, 0 or
                                                                       -1 */
HG_API void hg_monster_order(uint8_t order[24]);

#ifdef __cplusplus
}
#endif
#endif
