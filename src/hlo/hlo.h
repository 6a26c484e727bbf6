/* StableHLO modules as text, and the array graphs that they become: docs/guide/stablehlo.md.
 * Must not know: devices, files. */
#ifndef HG_HLO_HLO_H
#define HG_HLO_HLO_H

#include "base/base.h"
#include <hologram/stablehlo.h>

enum { SHLO_MAX_RANK = 8, SHLO_NONE = -1, SHLO_MAX_DEPTH = 64 };

/* Where a word of the text stands. */
typedef struct shlo_word {
    const char *text;
    uint32_t length, line, column;
} shlo_word;

/* tensor<2x3xcomplex<f32>>: elements of a number or of two. */
typedef struct shlo_type {
    uint8_t element; /* hg_type; of i1 u8, 0 or 1 */
    bool truth;      /* i1 */
    bool complex;
    uint8_t rank;
    uint64_t dims[SHLO_MAX_RANK];
} shlo_type;

/* KEY = VALUE: the integers in it in their order, or a word. A key may stand more than once:
 * contracting_dims = [1] x [0]. */
typedef struct shlo_attribute {
    struct shlo_attribute *next;
    shlo_word key, word;
    int64_t *items;
    uint32_t count;
    bool list; /* not a number alone */
} shlo_attribute;

typedef struct shlo_value {
    shlo_type type;
    bool typed;
    uint32_t uses;
} shlo_value;

struct shlo_op;
typedef struct shlo_region {
    struct shlo_region *next; /* of the same operation */
    uint32_t *args;           /* values */
    uint32_t arg_count;
    struct shlo_op *first; /* the last is the return */
} shlo_region;

/* Of a constant: one element for all, or each. */
typedef struct shlo_constant {
    uint8_t *bytes; /* a complex one is two */
    bool splat;
} shlo_constant;

typedef struct shlo_op {
    struct shlo_op *next;
    const struct shlo_row *row;     /* NULL: an operation that is not read, or a return */
    const struct shlo_row *applies; /* of a reduce without a region */
    shlo_word name, symbol, word[4];
    uint32_t word_count;
    bool generic; /* "stablehlo.add"(%a, %b) : (T, T) -> T */
    uint32_t *operands, operand_count;
    shlo_type *types;               /* of the results */
    uint32_t results, result_count; /* the first value */
    shlo_attribute *attributes;
    shlo_region *regions;
    shlo_constant constant;
} shlo_op;

typedef struct shlo_function {
    struct shlo_function *next;
    shlo_word name;
    shlo_region body;
    shlo_type *types; /* of the results */
    uint32_t result_count;
    bool entered; /* while its operations are being made: it may not call itself */
} shlo_function;

typedef struct shlo_module {
    hg_arena arena;
    shlo_word name;
    shlo_function *functions;
    HG_VEC(shlo_value) values;
} shlo_module;

/* A text as operations. Mistakes are in d with line and column, the first is this thread's error.
 */
hg_status shlo_read(const char *text, size_t length, shlo_module *module,
                    hg_diagnostics *d) HG_NODISCARD;
void shlo_module_free(shlo_module *module);
/* The n-th attribute of that key; NULL: there is none. */
const shlo_attribute *shlo_attribute_of(const shlo_op *op, const char *key, uint32_t n);
/* Item i of it; of one that is a single item that one; without the attribute `otherwise`. */
int64_t shlo_item(const shlo_op *op, const char *key, uint32_t n, uint32_t i, int64_t otherwise);
uint32_t shlo_item_count(const shlo_op *op, const char *key, uint32_t n);
bool shlo_is(const shlo_word *word, const char *text);
/* False: more than 2^40. */
bool shlo_elements(const shlo_type *type, uint64_t *count);
/* "tensor<2x3xf32>" */
const char *shlo_type_text(const shlo_type *type, char buffer[240]);
/* A mistake at a word; returns HG_ERROR_ISA. */
hg_status shlo_mistake(hg_diagnostics *d, const char *code, const shlo_word *at, const char *format,
                       ...) HG_PRINTF(4, 5);

/* What a module's @main does, as a graph (lower.c). */
hg_status shlo_to_graph(shlo_module *module, hg_diagnostics *d, hg_graph **graph) HG_NODISCARD;

#endif
