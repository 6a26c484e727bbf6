/* How the functions on arrays of limbs are begun and written: wide_ops.c, wide_divide.c. */
#ifndef HG_KIR_LEGALISE_WIDE_FUNCTION_H
#define HG_KIR_LEGALISE_WIDE_FUNCTION_H

#include "kir/builder.h"
#include "kir/legalise/wide.h"
#include "kir/sugar.h"

typedef struct wf {
    rewrite_helper h;
    kir_builder *b;
    kir_var **a; /* the array parameters: r, a, b, c */
    uint32_t n;  /* limbs of an array */
    uint8_t limb;
    uint32_t bits; /* of a limb */
} wf;

/* Begins the function what_TYPE with that many parameters; false: it was made before, or memory is
 * out. */
bool wide_begin(rewrite_pass *p, wf *f, const char *what, uint8_t type, const char *more,
                uint8_t result, uint8_t scalars, const uint8_t *types, uint8_t arrays);
/* The same for arrays of so many limbs; more tells such a function from one on the type. */
bool wide_begin_limbs(rewrite_pass *p, wf *f, const char *what, uint8_t type, uint32_t limbs,
                      const char *more, uint8_t result, uint8_t scalars, const uint8_t *types,
                      uint8_t arrays);
kir_function *wide_end(rewrite_pass *p, wf *f);
#define BEGIN(what, result, scalars, types, arrays)                                              \
    wf f_, *f = &f_;                                                                             \
    if (!wide_begin(p, f, what, type, "", result, scalars, types, arrays)) return f->h.function; \
    kir_builder *b = f->b = &f->h.b

static inline void set_limbs_op(kir_function *f, kir_op op) { f->limbs_op = (uint8_t)(op + 1); }
static inline kir_value *limb(wf *f, uint64_t n) { return kir_const(&f->h.b, f->limb, n); }
static inline kir_value *bit(wf *f, kir_value *condition) {
    return kir_select(&f->h.b, condition, limb(f, 1), limb(f, 0));
}
#define or_of(b, x, y) kir_binary(b, KIR_OR, x, y)
static inline kir_var *local(wf *f, uint8_t type, const char *name) {
    return kir_var_create(f->h.b.module, f->h.function, type, 0, name);
}
static inline kir_var *local_array(wf *f, const char *name) {
    return kir_var_create(f->h.b.module, f->h.function, f->limb, f->n, name);
}
static inline kir_value *at(wf *f, kir_var *array, kir_value *i) {
    return kir_array_get(&f->h.b, array, i);
}

kir_function *wide_division(rewrite_pass *p, uint8_t type, kir_op op); /* UDIV UREM SDIV SREM: (r,
                                                                          a, b) */
kir_function *wide_mulmod(rewrite_pass *p, uint8_t type); /* (r, a, b, c): r = a * b mod c, by 0 0
                                                           */
kir_function *wide_negate_if(rewrite_pass *p, uint8_t type); /* (r, a; flag u32): r = flag ? -a : a
                                                              */

#endif
