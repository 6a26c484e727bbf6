/* The table of StableHLO's operations. */
#ifndef HG_HLO_OPERATIONS_H
#define HG_HLO_OPERATIONS_H

#include "hlo/lower.h"

typedef enum mlir_how { MLIR_MAPS, MLIR_ELEMENT, MLIR_HEAVY, MLIR_APPLY } mlir_how;

typedef struct mlir_row {
    const char *name;
    uint32_t least, most; /* operands */
    uint32_t alike;       /* how many have elements of the result's type */
    uint8_t how;
    const char *text[4]; /* MLIR_MAPS: of real, signed, unsigned elements and i1 */
    mlir_scalar (*element)(mlir_lower *w, const mlir_tensor *t, const char *const *at);
    void (*apply)(mlir_lower *w, const mlir_op *op);
    bool (*instead)(mlir_lower *w, const mlir_op *op); /* between programs; false: not of this one
                                                        */
} mlir_row;

/* NULL: an operation that is not read. */
const mlir_row *mlir_row_named(const mlir_word *name);

#define MLIR_MAP(name, operands, real, is_signed, is_unsigned, truth)
#define MLIR_OP(name, least, most, how, alike, function) MLIR_DECLARE_##how(function)
#define MLIR_DECLARE_ELEMENT(function)                                          \
    mlir_scalar mlir_element_of_##function(mlir_lower *w, const mlir_tensor *t, \
                                           const char *const *at);
#define MLIR_DECLARE_HEAVY(function) MLIR_DECLARE_ELEMENT(function)
#define MLIR_DECLARE_APPLY(function) void mlir_apply_##function(mlir_lower *w, const mlir_op *op);
#include "hlo/operations.def"
#undef MLIR_MAP
#undef MLIR_OP
mlir_scalar mlir_element_of_map(mlir_lower *w, const mlir_tensor *t, const char *const *at);

/* complex.c: an operation on each element. */
mlir_scalar mlir_map_complex(mlir_lower *w, const char *name, const mlir_type *in,
                             const mlir_scalar *x);
mlir_scalar mlir_complex_product(mlir_lower *w, const char *type, mlir_scalar a, mlir_scalar b);

#endif
