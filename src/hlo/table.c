/* The table of operations, with the functions that carry them out. */
#include "hlo/operations.h"

#define MLIR_MAP(name, operands, real, is_signed, is_unsigned, truth) \
    {name,                                                            \
     operands,                                                        \
     operands,                                                        \
     MLIR_MAPS,                                                       \
     {real, is_signed, is_unsigned, truth},                           \
     mlir_element_of_map,                                             \
     NULL,                                                            \
     NULL},
#define MLIR_OP(name, least, most, how, function) MLIR_ROW_##how(name, least, most, function)
#define MLIR_ROW_ELEMENT(name, least, most, function) \
    {name, least, most, MLIR_ELEMENT, {0}, mlir_element_of_##function, NULL, NULL},
#define MLIR_ROW_HEAVY(name, least, most, function) \
    {name, least, most, MLIR_HEAVY, {0}, mlir_element_of_##function, NULL, MLIR_INSTEAD_##function},
#define MLIR_ROW_APPLY(name, least, most, function) \
    {name, least, most, MLIR_APPLY, {0}, NULL, mlir_apply_##function, NULL},

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
