/* Questions whether all goes well in a stretch of turns, as operations on 64-bit scalars. What an
 * index can be there follows from what it is made of: sums and products of where a lane is grow
 * with each of those numbers, so that the largest index is that of the last lane, if nothing wraps
 * there. That is asked once for all turns, and answers for everything that is `settled` in them.
 *
 * A pass says which values are `same` in all those turns and which are `bounded`, marks what can be
 * asked as settled, and has the question written. Must not know: targets. */
#ifndef HG_VECTOR_QUESTION_H
#define HG_VECTOR_QUESTION_H

#include "vector/vector.h"

/* What a value can be: u64s, operations of the question. */
typedef struct vec_bounds {
    vec_value *low, *high;
} vec_bounds;

typedef struct vec_question {
    vec_kernel *k;
    vec_region *into;  /* where operations are put, */
    vec_value *before; /* in front of this one; NULL: at the end */
    uint32_t inst;
    bool tested;          /* what is put is marked so */
    bool failed;          /* out of memory */
    bool *same;           /* by id: of one value in all turns */
    bool *bounded;        /* by id: the least and the largest value can be said, if nothing wraps */
    bool *wanted;         /* by id: the question is made of it */
    bool *asked;          /* by id, of truth values and CHECKs: is asked already */
    vec_value **known;    /* by id, of those that are the same: the value where the question is */
    vec_bounds *of;       /* by id, of those that are bounded and wanted */
    vec_value *all, *bad; /* the answer so far: `all` is true, `bad` is not; NULL: nothing is asked
                           */
} vec_question;

bool vec_question_open(vec_question *q, vec_kernel *k); /* false: out of memory */
void vec_question_close(vec_question *q);

bool vec_has_bounds(const vec_question *q, const vec_value *v);
/* Whether an operation on values that have bounds has some. */
bool vec_is_bounded_prim(const vec_question *q, const vec_value *v);
/* Whether a CHECK can be asked for all turns at once. */
bool vec_can_ask_check(const vec_question *q, const vec_value *v);
/* Whether w is a settled CHECK of the memory and index of v: they are asked as one. */
bool vec_asks_same(const vec_value *v, const vec_value *w);
/* Whether a truth value that is one can be asked to be true in all turns: comparisons of what is
 * bounded, what is the same, and ANDs of them. */
bool vec_can_ask_truth(const vec_question *q, const vec_value *v);
/* Whether an IF has an access as a row, or of one place, where its condition is true, and the same
 * one with an index for each lane where it is not, or divides there for each lane: nobody ends
 * there, but it takes long. */
bool vec_is_guess(const vec_value *v);
/* The RAMP that an operation is, or widens; NULL: none. */
vec_value *vec_ramp_of(const vec_value *v);

vec_value *vec_question_put(vec_question *q, vec_op op, uint8_t type, uint8_t nargs,
                            vec_value *const *args);
/* Asks for all that is settled in a region whose operations come behind `from` (NULL: that begins
 * the function): `all` is the answer then, and what it was before. CHECKs are in bounds; of
 * FAULT_IFs the condition is false, of IFs it is true; other values are comparisons of a ramp, or
 * of one value, that hold for all lanes. */
void vec_question_write(vec_question *q, const vec_region *body, const vec_value *from);

#endif
