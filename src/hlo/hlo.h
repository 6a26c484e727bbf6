/* StableHLO modules as text, and the array graphs that they become: docs/guide/stablehlo.md.
 * Must not know: devices, files. */
#ifndef HG_HLO_HLO_H
#define HG_HLO_HLO_H

#include "base/base.h"
#include <hologram/stablehlo.h>

enum { MLIR_MAX_RANK = 8, MLIR_NONE = -1, MLIR_MAX_DEPTH = 64, MLIR_MAX_FUNCTIONS = 10000 };

/* Where a word of the text stands. */
typedef struct mlir_word {
    const char *text;
    uint32_t length, line, column;
} mlir_word;

/* tensor<2x3xcomplex<f32>>: elements of a number or of two. */
typedef struct mlir_type {
    uint8_t element; /* hg_type; of i1 u8, 0 or 1 */
    bool truth;      /* i1 */
    bool complex;
    uint8_t rank;
    uint64_t dims[MLIR_MAX_RANK];
} mlir_type;

/* KEY = VALUE: the integers in it in their order, or a word. A key may stand more than once:
 * contracting_dims = [1] x [0]. */
typedef struct mlir_attribute {
    struct mlir_attribute *next;
    mlir_word key, word;
    int64_t *items;
    uint32_t count;
    bool list; /* not a number alone */
} mlir_attribute;

typedef struct mlir_value {
    mlir_type type;
    bool typed;
    uint32_t uses;
} mlir_value;

struct mlir_op;
typedef struct mlir_region {
    struct mlir_region *next; /* of the same operation */
    uint32_t *args;           /* values */
    uint32_t arg_count;
    struct mlir_op *first; /* the last is the return */
} mlir_region;

/* Of a constant: one element for all, or each. */
typedef struct mlir_constant {
    uint8_t *bytes; /* a complex one is two */
    bool splat;
} mlir_constant;

typedef struct mlir_op {
    struct mlir_op *next;
    const struct mlir_row *row;     /* NULL: an operation that is not read, or a return */
    const struct mlir_row *applies; /* of a reduce without a region */
    mlir_word name, symbol, word[4];
    uint32_t word_count;
    bool generic; /* "stablehlo.add"(%a, %b) : (T, T) -> T */
    uint32_t *operands, operand_count;
    mlir_type *types;               /* of the results */
    uint32_t results, result_count; /* the first value */
    mlir_attribute *attributes, *last_attribute;
    mlir_region *regions, *last_region;
    mlir_constant constant;
} mlir_op;

typedef struct mlir_function {
    struct mlir_function *next;
    mlir_word name;
    const char *start; /* "func.func" in the text */
    mlir_region body;
    mlir_type *types; /* of the results */
    uint32_t result_count;
    bool entered; /* while its operations are being made: it may not call itself */
} mlir_function;

typedef struct mlir_module {
    const char *text;
    size_t length;
    hg_arena arena;
    mlir_word name;
    mlir_function *functions;
    HG_VEC(mlir_value) values;
} mlir_module;

/* A text as operations. Mistakes are in d with line and column, the first is this thread's error.
 */
hg_status mlir_read(const char *text, size_t length, mlir_module *module,
                    hg_diagnostics *d) HG_NODISCARD;
void mlir_module_free(mlir_module *module);
/* The n-th attribute of that key; NULL: there is none. */
const mlir_attribute *mlir_attribute_of(const mlir_op *op, const char *key, uint32_t n);
/* Item i of it; of one that is a single item that one; without the attribute `otherwise`. */
int64_t mlir_item(const mlir_op *op, const char *key, uint32_t n, uint32_t i, int64_t otherwise);
uint32_t mlir_item_count(const mlir_op *op, const char *key, uint32_t n);
bool mlir_is(const mlir_word *word, const char *text);
/* False: more than 2^40. */
bool mlir_elements(const mlir_type *type, uint64_t *count);
bool mlir_same_elements(const mlir_type *a, const mlir_type *b);
bool mlir_same_dims(const mlir_type *a, const mlir_type *b);
bool mlir_same_type(const mlir_type *a, const mlir_type *b);
/* "tensor<2x3xf32>" */
const char *mlir_type_text(const mlir_type *type, char buffer[240]);
/* A mistake at a word; returns HG_ERROR_ISA. */
hg_status mlir_mistake(hg_diagnostics *d, const char *code, const mlir_word *at, const char *format,
                       ...) HG_PRINTF(4, 5);

/* What a module's @main does, as a graph (lower.c). */
hg_status mlir_to_graph(mlir_module *module, hg_diagnostics *d, hg_graph **graph) HG_NODISCARD;

/* The text itself, for drivers that take modules, with the graph of its function f (source.c). */
hg_status mlir_keep_source(const mlir_module *module, const mlir_function *f,
                           hg_graph *graph) HG_NODISCARD;

#endif
