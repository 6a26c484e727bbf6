/* Shared by the parts of kir_simplify. */
#ifndef HG_KIR_PASSES_SIMPLIFY_INTERNAL_H
#define HG_KIR_PASSES_SIMPLIFY_INTERNAL_H

#include "kir/kir.h"

/* fold.c: the value of a pure operation whose arguments are constants, or one of its arguments (or
 * a part of one) where the operation changes nothing. *constant: the bits of a new constant of v's
 * type. */
typedef enum fold_result { FOLD_NONE, FOLD_CONSTANT, FOLD_VALUE } fold_result;
fold_result simplify_fold(const kir_value *v, uint64_t *constant, kir_value **value);
/* zext(x) << k of a u32, none of whose bits is lost in 32: zext(x << k), which is half as wide. */
bool simplify_shifts_half(const kir_value *v);

/* forward.c: one walk over a function: variables, constants, common subexpressions, constant
 * branches. */
hg_status simplify_forward(kir_module *m, kir_function *f, const uint32_t *setters, bool *changed);

/* dead.c: removes sets that are never read and operations that are never used. Both set *changed
 * where they changed something. */
hg_status simplify_dead(kir_module *m, kir_function *f, const uint32_t *readers, bool *changed);

/* sets.c: where a function sets variables. Zero before; freed also after a failure. */
typedef struct simplify_sets {
    uint32_t *first;        /* by variable: first of its sets in `at`; var_count + 1 */
    uint32_t *at;           /* ids, in order for each variable */
    HG_VEC(uint32_t) calls; /* ids of calls that may set module variables */
} simplify_sets;
bool simplify_sets_find(simplify_sets *s, const kir_module *m, const kir_function *f); /* false: out
                                                                                          of memory
                                                                                        */
void simplify_sets_free(simplify_sets *s);
/* Whether an operation with an id from first to last may set the variable. elsewhere: calls may
 * (simplify_elsewhere). */
bool simplify_sets_within(const simplify_sets *s, const kir_var *var, bool elsewhere,
                          uint32_t first, uint32_t last);
bool simplify_may_set_module(const kir_value *v); /* a call that may set module variables */

/* simplify.c: for each variable the functions that set it, and those that read it (may be NULL);
 * see simplify_elsewhere. */
void simplify_find_users(const kir_module *m, uint32_t *setters, uint32_t *readers);

/* Which functions set (read) a variable: 0 none, UINT32_MAX several, else the function's id + 1. By
 * variable id. */
static inline bool simplify_elsewhere(const uint32_t *who, const kir_var *var,
                                      const kir_function *f) {
    return who[var->id] != 0 && who[var->id] != f->id + 1;
}

#endif
