/* The algebra behind Atlas ISA: 96 classes of bytes, their transforms and graph, tori, orbits, unit
 * groups. Pure functions of their arguments: thread-safe, they allocate nothing unless said. Where
 * an argument is out of range a function that returns hg_status gives HG_ERROR_ISA with the
 * instruction set's text (`invalid class index: 96 (must be < 96)`); every other function takes a
 * class modulo 96 and never fails. Source: semantics, sections 4.3 to 5.15. */
#ifndef HOLOGRAM_ATLAS_H
#define HOLOGRAM_ATLAS_H

#include <hologram/status.h>
#include <hologram/type.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HG_CLASS_COUNT = 96,
    HG_CLASS_PAGES = 48, /* pages of class memory a class */
    HG_CLASS_PAGE_BYTES = 256,
    HG_CLASS_NEIGHBOURS = 6, /* most neighbours in the graph; 5 where the modality is not 0 */
    HG_PHASE_MODULUS = 768,
    HG_ORBIT_COUNT = 32,
    HG_AUTOMORPHISM_INDICES = 2048,
    HG_AUTOMORPHISM_COUNT = 192, /* distinct permutations among them */
    HG_LIFT_LENGTH = 196884
};

/* ---- classes (5.1, 5.2) ---- */
/** Coordinates of a class: c = 24·scope + 8·modality + context. */
typedef struct hg_class_parts {
    uint8_t scope /* h2, 0…3 */, modality /* d, 0…2 */, context /* l, 0…7 */;
} hg_class_parts;
/** The labels e1, e2, e3, e6, e7 (0 or 1) and d45 (-1, 0, +1). */
typedef struct hg_class_label {
    uint8_t e1, e2, e3, e6, e7;
    int8_t d45;
} hg_class_label;
HG_API uint8_t hg_class_of_byte(uint8_t byte);
/** classes[i] = class of bytes[i]; the two may be the same array, not overlap otherwise. */
HG_API void hg_class_of_bytes(const uint8_t *bytes, uint8_t *classes, uint64_t count);
HG_API uint8_t hg_class_byte(uint8_t cls); /* canonical byte */
/** The bytes of a class in rising order; returns their number, 2 or 4. */
HG_API uint32_t hg_class_bytes(uint8_t cls, uint8_t bytes[4]);
HG_API hg_class_parts hg_class_split(uint8_t cls);
HG_API uint8_t hg_class_join(hg_class_parts parts); /* each part modulo its range */
HG_API hg_class_label hg_class_get_label(uint8_t cls);
HG_API uint8_t hg_class_from_label(hg_class_label label);
HG_API uint8_t hg_class_to_vertex(uint8_t cls); /* numbering of the Atlas of 96 vertices used by
                                                   atlas-embeddings */
HG_API uint8_t hg_class_from_vertex(uint8_t vertex);

/* ---- transforms (5.4, 5.9) ---- */
/** Rotation, triality, twist and mirror of one target, applied in that order; amounts are taken
 * modulo 4, 3 and 8. */
typedef struct hg_transform {
    int32_t rotate /* R */, triality /* D */, twist /* T */;
    bool mirror /* ~ */;
} hg_transform;
HG_API uint8_t hg_transform_apply(hg_transform t, uint8_t cls);
/** The transform that does first, then second, as a function of classes. */
HG_API hg_transform hg_transform_compose(hg_transform second, hg_transform first);
HG_API hg_transform hg_transform_inverse(hg_transform t);
/** As circuits combine prefixes around each other (5.4): amounts add, mirrors cancel. */
HG_API hg_transform hg_transform_combine(hg_transform outer, hg_transform inner);
HG_API uint8_t hg_class_scope(uint8_t cls, uint32_t s); /* S^s, s modulo 16 */
HG_API uint8_t hg_class_mirror(uint8_t cls);            /* the mirror of the graph: c + 48 mod 96 */
HG_API bool hg_class_is_unity(uint8_t cls);             /* 0 and 48 */
/** The action of index i = (rot + 8·flip)·128 + twist·16 + scope, taken modulo 2048. */
HG_API uint8_t hg_automorphism_apply(uint32_t index, uint8_t cls);
/** The least index that acts as first, then second. */
HG_API uint32_t hg_automorphism_compose(uint32_t second, uint32_t first);
HG_API uint32_t hg_automorphism_inverse(uint32_t index);
HG_API uint32_t hg_automorphism_canonical(uint32_t index); /* least index with the same action */

/* ---- graph (5.3) ---- */
HG_API uint32_t hg_class_degree(uint8_t cls); /* 5 or 6 */
/** Neighbours in rising order; returns the degree. */
HG_API uint32_t hg_class_neighbours(uint8_t cls, uint8_t neighbours[HG_CLASS_NEIGHBOURS]);
HG_API bool hg_class_adjacent(uint8_t a, uint8_t b);
/** Edges of a shortest path; -1 between the two components. */
HG_API int hg_class_distance(uint8_t a, uint8_t b);
/** Least number of moves R±1, T±1, D±1, ~ that take one class to another (5.15). */
HG_API uint32_t hg_class_moves(uint8_t from, uint8_t to);

/* ---- tori and coordinates (4.3, 4.5 to 4.7) ---- */
typedef struct hg_torus {
    uint32_t page_mod, res_mod, elements, units /* residues coprime to elements */;
    uint64_t total /* 96·elements */;
} hg_torus;
HG_API hg_torus hg_torus_of(hg_type type);
/** class·12288 + page·256 + byte. */
HG_API hg_status hg_bound_map(uint64_t cls, uint64_t page, uint64_t byte,
                              uint64_t *index) HG_NODISCARD;
/** The same of a packed class·2^16 + page·2^8 + byte. */
HG_API hg_status hg_bound_map_packed(uint64_t packed, uint64_t *index) HG_NODISCARD;
/** class·ELEMENTS + page·RES_MOD + byte of the type's torus. */
HG_API hg_status hg_bound_map_typed(hg_type type, uint64_t cls, uint64_t page, uint64_t byte,
                                    uint64_t *index) HG_NODISCARD;
HG_API uint32_t hg_phi_encode(uint8_t page, uint8_t byte); /* page·256 + byte */
HG_API void hg_phi_decode(uint32_t code, uint8_t *page, uint8_t *byte);
/** A point of the torus ℤ48 × ℤ96. */
typedef struct hg_point {
    uint8_t page, residue;
} hg_point;
HG_API hg_point hg_point_project(int64_t n);
HG_API hg_point hg_point_add(hg_point a, hg_point b);
HG_API hg_point hg_point_mul(hg_point a, hg_point b);
HG_API hg_point hg_point_scale(int64_t k, hg_point a);
HG_API int64_t hg_point_lift(hg_point a, int64_t hint); /* greatest integer ≤ hint that is a.residue
                                                           modulo 96; hint ≥ INT64_MIN + 95 */
/** The semiring ℤ96. */
HG_API uint8_t hg_class_add(uint8_t a, uint8_t b);
HG_API uint8_t hg_class_mul(uint8_t a, uint8_t b);

/* ---- orbits and units (5.10, 5.11) ---- */
/** torus_size: 96 or the elements of a type's torus, else `unknown torus size: N`. coordinate ≥
 * torus_size: orbit 0. */
HG_API hg_status hg_orbit_classify(uint64_t coordinate, uint64_t torus_size,
                                   uint8_t *orbit) HG_NODISCARD;
HG_API hg_status hg_orbit_representative(uint64_t orbit, uint64_t torus_size,
                                         uint32_t *coordinate) HG_NODISCARD;
HG_API bool hg_torus_size_known(uint64_t torus_size);
/** unit⁻¹ modulo modulus, in 1 … modulus-1, for any modulus; else `no multiplicative inverse: 2 mod
 * 96`. */
HG_API hg_status hg_mult_inverse(uint64_t unit, uint64_t modulus, uint64_t *inverse) HG_NODISCARD;
HG_API bool hg_class_is_unit(uint8_t cls); /* coprime to 96 */

/* ---- Lift, Resonate, Crush (5.13) ---- */
/** The unit vector of a class: HG_LIFT_LENGTH doubles, the same bits on every machine. They are
 * within 4 units in the last place of what the formulas give in plain double arithmetic with a C
 * library's sine, whose bits depend on it. */
HG_API void hg_class_lift(uint8_t cls, double *vector);
/** The class whose lift is nearest in L2, the lowest on ties. Takes about 0.1 s.
 * HG_ERROR_INVALID_ARGUMENT for a component that is not finite, or beyond 2^900. */
HG_API hg_status hg_class_resonate(const double *vector, uint8_t *cls) HG_NODISCARD;
HG_API uint8_t hg_class_crush(uint8_t cls); /* 1 for odd classes: turns ⊕ into exclusive or, ⊗ into
                                               and */

#ifdef __cplusplus
}
#endif
#endif
