/* Copying operations: the one place that knows which fields of an operation name something of its
 * module. */
#ifndef HG_KIR_COPY_H
#define HG_KIR_COPY_H

#include "kir/builder.h"

/* What the names in a copied operation stand for. A rule that is NULL leaves them as they are; one
 * that returns NULL is out of memory. */
typedef struct kir_renaming {
    kir_var *(*var)(void *user, kir_var *var);
    kir_function *(*function)(void *user, kir_function *f);
    kir_table *(*table)(void *user, kir_table *table);
    void *user;
    bool same_module; /* bytes and texts are shared with the original */
} kir_renaming;

/* Gives an operation that the builder has just made, of the same kind as v, the fields and the
 * source instruction of v. Not copied: type, arguments, regions, what analyses found. */
void kir_copy_fields(kir_builder *b, const kir_value *v, kir_value *copy,
                     const kir_renaming *names);

/* Gives the builder's module, which has no inputs yet, those of `from`, its program, and what it
 * says of memory and barriers. */
void kir_copy_head(kir_builder *b, const kir_module *from);

#endif
