/* Tensors of a module on their way to a graph. What is one element of another tensor's elements is
 * put off until it is asked for, so that a run of such operations becomes one lane program; arrays
 * are made where an operation reads many elements, or two operations read one result.
 * Must not know: the text. */
#ifndef HG_HLO_LOWER_H
#define HG_HLO_LOWER_H

#include "hlo/hlo.h"

/* A variable of the program that is being written; of complex elements two. */
typedef struct mlir_scalar {
    const char *re, *im;
} mlir_scalar;

typedef enum mlir_tensor_kind {
    MLIR_ARRAY,   /* in memory: storage */
    MLIR_PUT_OFF, /* op and its operands */
    MLIR_SPLAT,   /* one element for all: bytes */
    MLIR_VARIABLE /* of a region: a scalar */
} mlir_tensor_kind;

/* Elements in memory, in row order: a value of the graph, or scratch of the program. */
typedef struct mlir_storage {
    uint32_t number; /* name: aNUMBER */
    bool local;      /* scratch */
    hg_value value;
    mlir_type type;   /* as it is declared; another shape may be read of it */
    uint32_t program; /* the last one that declared it as a parameter */
    uint32_t parts;   /* of one that others are parts of (pack.c) */
} mlir_storage;
typedef HG_VEC(mlir_storage *) mlir_storages;

typedef struct mlir_tensor {
    mlir_type type;
    uint8_t kind;
    uint32_t block; /* of the program in which it was met: an array made in another is its own */
    uint32_t cost;  /* operations on numbers that an element takes */
    uint32_t chain; /* operations that were put off one behind the other */
    const mlir_op *op;
    struct mlir_tensor **in;
    uint32_t result; /* which of the operation's; they lie one behind the other */
    mlir_storage *storage;
    const uint8_t *bytes;
    bool one; /* an array that was MLIR_SPLAT: bytes are still those of one element */
    mlir_scalar variable;
} mlir_tensor;

typedef struct mlir_memo {
    const mlir_tensor *tensor;
    const char *at[MLIR_MAX_RANK];
    mlir_scalar value;
} mlir_memo;

/* The program that is being written. */
typedef struct mlir_kernel {
    hg_text head, body;
    HG_VEC(mlir_memo) memo; /* what the innermost block knows */
    mlir_storages inputs, outputs, scratches;
    mlir_type lanes; /* of a program with one lane an element: whose coordinates these are */
    const char *at[MLIR_MAX_RANK];
    bool loops; /* one lane does all, in loops */
    uint32_t indent;
} mlir_kernel;

typedef struct mlir_lower {
    mlir_module *m;
    hg_diagnostics *d;
    hg_graph *g;
    hg_arena *arena;
    mlir_tensor **env; /* of values */
    mlir_kernel *k;    /* NULL: between programs */
    bool scalars;      /* in a region of scalars: nothing becomes an array */
    bool endless;      /* a loop of which nobody knows that it ends soon: no driver's module */
    uint64_t rounds;   /* of the loops around, where they are known */
    uint32_t block, blocks, programs, storages, names;
    uint64_t budget;  /* operations that may still be met */
    uint64_t written; /* bytes of programs */
    uint32_t depth;
    void (*walk)(struct mlir_lower *w, const mlir_region *region, mlir_tensor **results,
                 uint32_t count); /* mlir_walk, for regions of scalars */
    const mlir_op *op;            /* for messages */
    hg_status status;
} mlir_lower;

/* ---- writing programs (program.c) ---- */

void mlir_refuse(mlir_lower *w, const char *format, ...) HG_PRINTF(2, 3);
void mlir_no_memory(mlir_lower *w);
/* What another room says, with that in front; nothing where it is HG_OK. */
void mlir_refuse_call(mlir_lower *w, hg_status status, const char *what);
void *mlir_make(mlir_lower *w, size_t bytes);
const char *mlir_text(mlir_lower *w, const char *format, ...) HG_PRINTF(2, 3);
/* A line of the program. */
void mlir_line(mlir_lower *w, const char *format, ...) HG_PRINTF(2, 3);
/* A variable of that type: its name. */
const char *mlir_let(mlir_lower *w, const char *type, const char *format, ...) HG_PRINTF(3, 4);
/* A row's expression with its operands, whose first parts are $a, $b, ... */
const char *mlir_expand(mlir_lower *w, const char *text, const mlir_type *in, const mlir_type *out,
                        const mlir_scalar *args);
/* "{": what is known in it is forgotten behind it. Returns what mlir_close takes. */
uint64_t mlir_open(mlir_lower *w, const char *format, ...) HG_PRINTF(2, 3);
void mlir_close(mlir_lower *w, uint64_t known, const char *text);
/* for NAME in 0 .. extent { */
uint64_t mlir_for(mlir_lower *w, const char **name, uint64_t extent);

/* A line for an array of the program: "in", "out" or, scratch, NULL. */
void mlir_declare(mlir_lower *w, const mlir_storage *s, const char *access);

mlir_storage *mlir_add_storage(mlir_lower *w, const mlir_type *type);
/* Scratch of the program that is being written. */
mlir_storage *mlir_scratch(mlir_lower *w, const mlir_type *type);
/* An output of it. */
mlir_storage *mlir_output(mlir_lower *w, const mlir_type *type);
/* Extents of the graph's value: rank of them, and 2 behind for complex elements. */
void mlir_dims(const mlir_type *type, hg_dim *dims);
/* A program, up to mlir_end, which makes it a call of the graph. lanes: one lane for each element
 * of such a tensor; NULL: one lane. */
void mlir_begin(mlir_lower *w, mlir_kernel *kernel, const mlir_type *lanes);
void mlir_finish(mlir_lower *w); /* mlir_end where it has few arrays */

/* ---- programs of many arrays (pack.c) ---- */

void mlir_end(mlir_lower *w);

/* ---- elements (element.c) ---- */

/* The element at these coordinates, i64 variables or numbers. */
mlir_scalar mlir_element(mlir_lower *w, const mlir_tensor *t, const char *const *at);
/* A float as an integer in the order -NaN … -0, +0 … NaN. */
const char *mlir_total_order(mlir_lower *w, const mlir_type *type, const char *x);
/* An expression: the place of the element in row order. */
const char *mlir_place(mlir_lower *w, const mlir_type *type, const char *const *at);
mlir_scalar mlir_load(mlir_lower *w, mlir_storage *s, const char *place);
void mlir_store(mlir_lower *w, mlir_storage *s, const char *place, mlir_scalar value);
const char *mlir_type_name(const mlir_type *type);
/* A variable that can be assigned, with that value; then its assignment. */
mlir_scalar mlir_variable(mlir_lower *w, const mlir_type *type, mlir_scalar value);
void mlir_assign(mlir_lower *w, mlir_scalar variable, mlir_scalar value);
mlir_scalar mlir_zero(const mlir_type *type);
/* The results of a region of scalars for these arguments, whose elements are of these types. */
bool mlir_scalars(mlir_lower *w, const mlir_region *region, const mlir_scalar *args,
                  const mlir_type *const *types, uint32_t count, mlir_scalar *results,
                  const mlir_type *const *wanted, uint32_t result_count);

/* ---- integers that the text says (fold.c) ---- */

bool mlir_known(const mlir_tensor *t, int64_t *value);
/* t, whose operands are known, becomes its value. False: it stays what it is. */
bool mlir_fold(mlir_lower *w, const mlir_op *op, mlir_tensor *t);
/* Rounds of a while that counts; 0: nobody knows. */
uint64_t mlir_rounds(mlir_lower *w, const mlir_region *cond, const mlir_region *body,
                     mlir_tensor *const *start, uint32_t count);
/* Operations of a region, calls as one. */
uint64_t mlir_count(const mlir_region *region);

/* Axes of a product of two arrays: those of batches, those that are summed over, and the rest. */
typedef struct mlir_dot {
    uint32_t batch[2][MLIR_MAX_RANK], sum[2][MLIR_MAX_RANK], free[2][MLIR_MAX_RANK];
    uint32_t batch_count, sum_count, free_count[2];
} mlir_dot;
bool mlir_dot_of(mlir_lower *w, const mlir_op *op, const mlir_type *const *side,
                 const mlir_type *out, mlir_dot *dot);

/* ---- the walk (lower.c) ---- */

/* The operations of a region; results: what it returns, as many as `count`. */
void mlir_walk(mlir_lower *w, const mlir_region *region, mlir_tensor **results, uint32_t count);
/* The tensor as an array. */
mlir_tensor *mlir_array(mlir_lower *w, mlir_tensor *t);
/* What is read more than once, and takes more than loads, is worked out once. */
void mlir_bind_shared(mlir_lower *w, uint32_t value, mlir_tensor *t);
/* Tensors for the results of an operation whose operands are `in`. */
mlir_tensor *mlir_results(mlir_lower *w, const mlir_op *op);
mlir_tensor *mlir_operand(mlir_lower *w, const mlir_op *op, uint32_t i);
mlir_tensor *mlir_stored(mlir_lower *w, const mlir_type *type, mlir_storage *s);
static inline void mlir_bind(mlir_lower *w, uint32_t value, mlir_tensor *t) { w->env[value] = t; }
/* Elements of t into s, whole. */
void mlir_copy(mlir_lower *w, mlir_storage *s, const mlir_tensor *t);
/* The body of an operation that is loops of one lane (control.c). */
void mlir_in_loops(mlir_lower *w, const mlir_op *op,
                   void (*body)(mlir_lower *w, const mlir_op *op));
/* A dot_general between programs as a product of matrices; false: in another way (whole.c). */
bool mlir_gemm(mlir_lower *w, const mlir_op *op);

/* Loops over all elements of a shape. */
typedef struct mlir_nest {
    const char *at[MLIR_MAX_RANK];
    uint64_t known[MLIR_MAX_RANK];
    uint32_t count;
} mlir_nest;
void mlir_open_nest(mlir_lower *w, const mlir_type *type, mlir_nest *n);
void mlir_close_nest(mlir_lower *w, mlir_nest *n);

#endif
