/* Copies operations from one module to another. */
#ifndef HG_KIR_CLONE_H
#define HG_KIR_CLONE_H

#include "kir/builder.h"

typedef struct kir_cloner {
    const kir_module *from;
    kir_builder to;           /* its region receives the copies */
    kir_var **vars;           /* by id of from */
    kir_function **functions; /* by id of from */
    kir_table **tables;
} kir_cloner;
/* Starts copying into the kernel function of an empty module that has no inputs yet; the inputs of
 * from are copied. */
hg_status kir_cloner_init(kir_cloner *c, const kir_module *from, kir_module *to,
                          kir_function *target) HG_NODISCARD;
/* The copy's variable of a variable of from. NULL when out of memory. */
kir_var *kir_clone_var(kir_cloner *c, const kir_var *var);
/* Copies first … last (siblings) with everything below them; their arguments are defined inside the
 * run. Uses scratch of the originals. */
void kir_clone_run(kir_cloner *c, kir_value *first, const kir_value *last);
/* Copies the bodies of all functions called so far; HG_ERROR_OUT_OF_MEMORY when anything failed.
 * Ends the copying. */
hg_status kir_cloner_finish(kir_cloner *c) HG_NODISCARD;

#endif
