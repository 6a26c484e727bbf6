/* The table of operations, with the functions that carry them out. */
#include "hlo/operations.h"

#define SHLO_MAP(name, operands, real, is_signed, is_unsigned, truth) \
    {name,                                                            \
     operands,                                                        \
     operands,                                                        \
     SHLO_MAPS,                                                       \
     {real, is_signed, is_unsigned, truth},                           \
     shlo_element_of_map,                                             \
     NULL,                                                            \
     NULL},
#define SHLO_OP(name, least, most, how, function) SHLO_ROW_##how(name, least, most, function)
#define SHLO_ROW_ELEMENT(name, least, most, function) \
    {name, least, most, SHLO_ELEMENT, {0}, shlo_element_of_##function, NULL, NULL},
#define SHLO_ROW_HEAVY(name, least, most, function) \
    {name, least, most, SHLO_HEAVY, {0}, shlo_element_of_##function, NULL, SHLO_INSTEAD_##function},
#define SHLO_ROW_APPLY(name, least, most, function) \
    {name, least, most, SHLO_APPLY, {0}, NULL, shlo_apply_##function, NULL},

/* Instructions that do an operation between programs. */
#define SHLO_INSTEAD_convolution NULL
#define SHLO_INSTEAD_dot_general shlo_gemm
#define SHLO_INSTEAD_reduce NULL
#define SHLO_INSTEAD_reduce_window NULL

static const shlo_row ROWS[] = {
#include "hlo/operations.def"
};

const shlo_row *shlo_row_named(const shlo_word *name) {
    for (size_t i = 0; i < HG_COUNT_OF(ROWS); i++)
        if (shlo_is(name, ROWS[i].name)) return &ROWS[i];
    return NULL;
}
