/* The table of operations, with the functions that carry them out. */
#include "hlo/operations.h"

#define MLIR_MAP(name, operands, real, is_signed, is_unsigned, truth) \
    {name,                                                            \
     operands,                                                        \
     operands,                                                        \
     operands,                                                        \
     MLIR_MAPS,                                                       \
     {real, is_signed, is_unsigned, truth},                           \
     mlir_element_of_map,                                             \
     NULL,                                                            \
     NULL},
#define MLIR_OP(name, least, most, how, alike, function) \
    {name, least, most, alike, MLIR_##how, {0}, MLIR_FUNCTIONS_##how(function)},
#define MLIR_FUNCTIONS_ELEMENT(function) mlir_element_of_##function, NULL, NULL
#define MLIR_FUNCTIONS_HEAVY(function) mlir_element_of_##function, NULL, MLIR_INSTEAD_##function
#define MLIR_FUNCTIONS_APPLY(function) NULL, mlir_apply_##function, NULL

/* Instructions that do an operation between programs. */
#define MLIR_INSTEAD_convolution NULL
#define MLIR_INSTEAD_dot_general mlir_gemm
#define MLIR_INSTEAD_reduce NULL
#define MLIR_INSTEAD_reduce_window NULL

static const mlir_row ROWS[] = {
#include "hlo/operations.def"
};

const mlir_row *mlir_row_named(const mlir_word *name) {
    for (size_t i = 0; i < HG_COUNT_OF(ROWS); i++)
        if (mlir_is(name, ROWS[i].name)) return &ROWS[i];
    return NULL;
}
