/* How the loads or stores of a stretch are done together: rows of memory, and what is picked of
 * vectors to make the lanes' elements of them. What printers share.
 * Must not know: text of any language. */
#ifndef HG_VECTOR_STRETCH_H
#define HG_VECTOR_STRETCH_H

#include "vector/vector.h"

enum { VEC_MOST_PICKS = 5 * VEC_MOST_STRETCH, VEC_MOST_PICKED = 64 };

/* A vector of elements of two others: those of the second are numbered behind those of the first.
 */
typedef struct vec_pick {
    uint8_t a, b, numbers[VEC_MOST_PICKED];
} vec_pick;

/* Members are moved `count` at a time in each of `rounds`; the value of each is `pieces` vectors.
 * For a piece of a round there are `count` rows in memory. Vectors are numbered: the first `count`
 * are rows for loads, the members' pieces for stores; each pick makes the next; the last `count`
 * are then the members' pieces, or the rows. */
typedef struct vec_stretch {
    uint32_t length; /* elements of a vector */
    uint32_t count, rounds, pieces, pick_count;
    uint64_t rows[VEC_MOST_STRETCH]; /* bytes from the place of the first member */
    uint64_t by_piece, by_round;     /* to the rows of the next */
    vec_pick picks[VEC_MOST_PICKS];
} vec_stretch;

/* first: an operation with u.mem.may.stretch. bytes: of a native vector. */
void vec_plan_stretch(const vec_kernel *k, const vec_value *first, uint32_t bytes,
                      vec_stretch *stretch);

#endif
