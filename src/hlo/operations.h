/* The table of StableHLO's operations. */
#ifndef HG_HLO_OPERATIONS_H
#define HG_HLO_OPERATIONS_H

#include "hlo/lower.h"

typedef enum shlo_how { SHLO_MAPS, SHLO_ELEMENT, SHLO_HEAVY, SHLO_APPLY } shlo_how;

typedef struct shlo_row {
    const char *name;
    uint32_t least, most; /* operands */
    uint8_t how;
    const char *text[4]; /* SHLO_MAPS: of real, signed, unsigned elements and i1 */
    shlo_scalar (*element)(shlo_lower *w, const shlo_tensor *t, const char *const *at);
    void (*apply)(shlo_lower *w, const shlo_op *op);
    bool (*instead)(shlo_lower *w, const shlo_op *op); /* between programs; false: not of this one
                                                        */
} shlo_row;

/* NULL: an operation that is not read. */
const shlo_row *shlo_row_named(const shlo_word *name);

#define SHLO_MAP(name, operands, real, is_signed, is_unsigned, truth)
#define SHLO_OP(name, least, most, how, function) SHLO_DECLARE_##how(function)
#define SHLO_DECLARE_ELEMENT(function)                                          \
    shlo_scalar shlo_element_of_##function(shlo_lower *w, const shlo_tensor *t, \
                                           const char *const *at);
#define SHLO_DECLARE_HEAVY(function) SHLO_DECLARE_ELEMENT(function)
#define SHLO_DECLARE_APPLY(function) void shlo_apply_##function(shlo_lower *w, const shlo_op *op);
#include "hlo/operations.def"
#undef SHLO_MAP
#undef SHLO_OP
shlo_scalar shlo_element_of_map(shlo_lower *w, const shlo_tensor *t, const char *const *at);

#endif
