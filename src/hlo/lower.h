/* Tensors of a module on their way to a graph. What is one element of another tensor's elements is
 * put off until it is asked for, so that a run of such operations becomes one lane program; arrays
 * are made where an operation reads many elements, or two operations read one result.
 * Must not know: the text. */
#ifndef HG_HLO_LOWER_H
#define HG_HLO_LOWER_H

#include "hlo/hlo.h"

/* A variable of the program that is being written; of complex elements two. */
typedef struct shlo_scalar {
    const char *re, *im;
} shlo_scalar;

typedef enum shlo_tensor_kind {
    SHLO_ARRAY,   /* in memory: storage */
    SHLO_PUT_OFF, /* op and its operands */
    SHLO_SPLAT,   /* one element for all: bytes */
    SHLO_VARIABLE /* of a region: a scalar */
} shlo_tensor_kind;

/* Elements in memory, in row order: a value of the graph, or scratch of the program. */
typedef struct shlo_storage {
    uint32_t number; /* name: aNUMBER */
    bool local;      /* scratch */
    hg_value value;
    shlo_type type;   /* as it is declared; another shape may be read of it */
    uint32_t program; /* the last one that declared it as a parameter */
} shlo_storage;

typedef struct shlo_tensor {
    shlo_type type;
    uint8_t kind;
    uint32_t block; /* of the program in which it was met: an array made in another is its own */
    uint32_t cost;  /* operations on numbers that an element takes */
    uint32_t chain; /* operations that were put off one behind the other */
    const shlo_op *op;
    struct shlo_tensor **in;
    uint32_t result; /* which of the operation's; they lie one behind the other */
    shlo_storage *storage;
    const uint8_t *bytes;
    shlo_scalar variable;
} shlo_tensor;

typedef struct shlo_memo {
    const shlo_tensor *tensor;
    const char *at[SHLO_MAX_RANK];
    shlo_scalar value;
} shlo_memo;

/* The program that is being written. */
typedef struct shlo_kernel {
    hg_text head, body;
    HG_VEC(shlo_memo) memo; /* what the innermost block knows */
    HG_VEC(shlo_storage *) outputs;
    HG_VEC(shlo_storage *) inputs;
    shlo_type lanes; /* of a program with one lane an element: whose coordinates these are */
    const char *at[SHLO_MAX_RANK];
    bool loops; /* one lane does all, in loops */
    uint32_t indent;
} shlo_kernel;

typedef struct shlo_lower {
    shlo_module *m;
    hg_diagnostics *d;
    hg_graph *g;
    hg_arena *arena;
    shlo_tensor **env; /* of values */
    shlo_kernel *k;    /* NULL: between programs */
    bool scalars;      /* in a region of scalars: nothing becomes an array */
    uint32_t block, blocks, programs, storages, names;
    uint64_t budget; /* operations that may still be met */
    uint32_t depth;
    void (*walk)(struct shlo_lower *w, const shlo_region *region, shlo_tensor **results,
                 uint32_t count); /* shlo_walk, for regions of scalars */
    const shlo_op *op;            /* for messages */
    hg_status status;
} shlo_lower;

/* ---- writing programs (program.c) ---- */

void shlo_refuse(shlo_lower *w, const char *format, ...) HG_PRINTF(2, 3);
void shlo_no_memory(shlo_lower *w);
/* What another room says, with that in front; nothing where it is HG_OK. */
void shlo_refuse_call(shlo_lower *w, hg_status status, const char *what);
void *shlo_make(shlo_lower *w, size_t bytes);
const char *shlo_text(shlo_lower *w, const char *format, ...) HG_PRINTF(2, 3);
/* A line of the program. */
void shlo_line(shlo_lower *w, const char *format, ...) HG_PRINTF(2, 3);
/* A variable of that type: its name. */
const char *shlo_let(shlo_lower *w, const char *type, const char *format, ...) HG_PRINTF(3, 4);
/* "{": what is known in it is forgotten behind it. Returns what shlo_close takes. */
uint64_t shlo_open(shlo_lower *w, const char *format, ...) HG_PRINTF(2, 3);
void shlo_close(shlo_lower *w, uint64_t known, const char *text);
/* for NAME in 0 .. extent { */
uint64_t shlo_for(shlo_lower *w, const char **name, uint64_t extent);

/* ---- elements (element.c) ---- */

/* The element at these coordinates, i64 variables or numbers. */
shlo_scalar shlo_element(shlo_lower *w, const shlo_tensor *t, const char *const *at);
/* An expression: the place of the element in row order. */
const char *shlo_place(shlo_lower *w, const shlo_type *type, const char *const *at);
shlo_scalar shlo_load(shlo_lower *w, shlo_storage *s, const char *place);
void shlo_store(shlo_lower *w, shlo_storage *s, const char *place, shlo_scalar value);
const char *shlo_type_name(const shlo_type *type);
/* A variable that can be assigned, with that value; then its assignment. */
shlo_scalar shlo_variable(shlo_lower *w, const shlo_type *type, shlo_scalar value);
void shlo_assign(shlo_lower *w, shlo_scalar variable, shlo_scalar value);
shlo_scalar shlo_zero(const shlo_type *type);
/* The results of a region of scalars for these arguments. */
bool shlo_scalars(shlo_lower *w, const shlo_region *region, const shlo_scalar *args, uint32_t count,
                  shlo_scalar *results, uint32_t result_count);

/* Axes of a product of two arrays: those of batches, those that are summed over, and the rest. */
typedef struct shlo_dot {
    uint32_t batch[2][SHLO_MAX_RANK], sum[2][SHLO_MAX_RANK], free[2][SHLO_MAX_RANK];
    uint32_t batch_count, sum_count, free_count[2];
} shlo_dot;
bool shlo_dot_of(shlo_lower *w, const shlo_op *op, const shlo_type *const *side,
                 const shlo_type *out, shlo_dot *dot);

/* ---- the walk (lower.c) ---- */

/* The operations of a region; results: what it returns, as many as `count`. */
void shlo_walk(shlo_lower *w, const shlo_region *region, shlo_tensor **results, uint32_t count);
/* The tensor as an array. */
shlo_tensor *shlo_array(shlo_lower *w, shlo_tensor *t);
/* Tensors for the results of an operation whose operands are `in`. */
shlo_tensor *shlo_results(shlo_lower *w, const shlo_op *op);
shlo_tensor *shlo_operand(shlo_lower *w, const shlo_op *op, uint32_t i);
shlo_tensor *shlo_stored(shlo_lower *w, const shlo_type *type, shlo_storage *s);
static inline void shlo_bind(shlo_lower *w, uint32_t value, shlo_tensor *t) { w->env[value] = t; }
/* Scratch of the program that is being written. */
shlo_storage *shlo_scratch(shlo_lower *w, const shlo_type *type);
/* An output of it. */
shlo_storage *shlo_output(shlo_lower *w, const shlo_type *type);
/* Elements of t into s, whole. */
void shlo_copy(shlo_lower *w, shlo_storage *s, const shlo_tensor *t);
/* A program, up to shlo_end, which makes it a call of the graph. lanes: one lane for each element
 * of such a tensor; NULL: one lane. */
void shlo_begin(shlo_lower *w, shlo_kernel *kernel, const shlo_type *lanes);
void shlo_end(shlo_lower *w);
/* The body of an operation that is loops of one lane (control.c). */
void shlo_in_loops(shlo_lower *w, const shlo_op *op,
                   void (*body)(shlo_lower *w, const shlo_op *op));
/* Extents of the graph's value: rank of them, and 2 behind for complex elements. */
void shlo_dims(const shlo_type *type, hg_dim *dims);
/* A dot_general between programs as a product of matrices; false: in another way (whole.c). */
bool shlo_gemm(shlo_lower *w, const shlo_op *op);

/* Loops over all elements of a shape. */
typedef struct shlo_nest {
    const char *at[SHLO_MAX_RANK];
    uint64_t known[SHLO_MAX_RANK];
    uint32_t count;
} shlo_nest;
void shlo_open_nest(shlo_lower *w, const shlo_type *type, shlo_nest *n);
void shlo_close_nest(shlo_lower *w, shlo_nest *n);

#endif
