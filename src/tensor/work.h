/* What functions of operations share that call instructions and library programs: temporaries,
 * operands of one type, axes, and arguments by their names. */
#ifndef HG_TENSOR_WORK_H
#define HG_TENSOR_WORK_H

#include "tensor/ops.h"

enum { OPS_KEPT = 192, OPS_ARGUMENTS = 32 };

/* Temporaries, released when the operation's function is over. No operation has as many, nor as
 * many arguments. */
typedef struct ops_kept {
    hg_tensor *tensors[OPS_KEPT];
    uint32_t count;
} ops_kept;
typedef hg_status ops_body(ops_call *c, ops_kept *k);
/* Calls the body and releases what it kept. */
hg_status ops_with_kept(ops_call *c, ops_body *body) HG_NODISCARD;
void ops_release(ops_kept *k);
/* Room for one more, NULL so far. */
hg_tensor **ops_keep(ops_kept *k);

/* ---- operands ---- */

/* The common type of the first `count` inputs; of `real` ones, integers as floats first. */
hg_status ops_common(const ops_call *c, uint32_t count, bool real, hg_element *type) HG_NODISCARD;
/* x in that type. */
hg_status ops_as(ops_call *c, ops_kept *k, const hg_tensor *x, hg_element type,
                 const hg_tensor **as) HG_NODISCARD;
/* x in C order; `whole`: from the first element of its memory on. */
hg_status ops_packed(ops_call *c, ops_kept *k, const hg_tensor *x, bool whole,
                     hg_tensor **packed) HG_NODISCARD;
/* A contiguous tensor's elements in another shape. */
hg_status ops_shaped(ops_kept *k, const hg_tensor *x, const uint64_t *shape, uint32_t rank,
                     hg_tensor **view) HG_NODISCARD;
hg_status ops_broadcast(ops_kept *k, const hg_tensor *x, const uint64_t *shape, uint32_t rank,
                        hg_tensor **view) HG_NODISCARD;
/* With that axis as the last one, the others in their order. */
hg_status ops_axis_last(ops_kept *k, const hg_tensor *x, uint32_t axis,
                        hg_tensor **view) HG_NODISCARD;
/* The result's last axis goes back to where `axis` is. */
hg_status ops_axis_back(ops_call *c, uint32_t axis) HG_NODISCARD;
/* options.axes[0], else `otherwise`, of that many axes. */
hg_status ops_one_axis(const ops_call *c, int64_t otherwise, uint32_t rank,
                       uint32_t *axis) HG_NODISCARD;
/* A tensor of one number, "0" or "1". */
hg_status ops_filled(ops_call *c, hg_element type, const char *value, const uint64_t *shape,
                     uint32_t rank, hg_tensor **result) HG_NODISCARD;
/* options.sizes[at], else `otherwise`. */
uint64_t ops_size_or(const ops_call *c, uint32_t at, uint64_t otherwise);
/* options.numbers[at], where it is 0 `otherwise`. */
double ops_number_or(const ops_call *c, uint32_t at, double otherwise);
/* `Tensor shape mismatch: name: f32 [2] and f32 [3]: why`. */
hg_status ops_mismatch(const ops_call *c, const char *why);

/* ---- calls ---- */

typedef struct ops_arguments {
    tensor_arg args[OPS_ARGUMENTS];
    uint32_t count;
} ops_arguments;
void ops_array(ops_arguments *a, const char *name, const hg_tensor *x);
void ops_size(ops_arguments *a, const char *name, uint64_t value);
void ops_flag(ops_arguments *a, const char *name, bool value);
void ops_word(ops_arguments *a, const char *name, const char *word);
void ops_tuple(ops_arguments *a, const char *name, const uint64_t *items, uint32_t count);
void ops_sizes(ops_arguments *a, const char *name, const uint64_t *items, uint32_t count);
void ops_number(ops_arguments *a, const char *name, hg_type type, double value);
/* An instruction whose operand `operand` is the result. */
hg_status ops_instruction(ops_call *c, const char *instruction, const ops_arguments *a,
                          const char *operand, hg_element type, const uint64_t *shape,
                          uint32_t rank, hg_tensor **result) HG_NODISCARD;
/* Results of a program, in their order. */
hg_status ops_launch(ops_call *c, hg_program *program, const ops_arguments *a,
                     tensor_result *results, uint32_t count) HG_NODISCARD;
/* The program `name` of a text of src/library, with T and A for that type of elements, and
 * `constants`, lines of text (NULL: none). It is the state's. */
hg_status ops_program(ops_call *c, const char *text, const char *name, hg_element type,
                      const char *constants, hg_program **program) HG_NODISCARD;

/* ---- operations that others are made of ---- */

/* Of a times b, of at least 2 axes each: the batch that both broadcast to, with the product's rows
 * and columns behind it. */
hg_status ops_product_shape(const ops_call *c, const hg_tensor *a, const hg_tensor *b,
                            uint64_t *shape, uint32_t *rank) HG_NODISCARD;
/* a times b of at least 2 axes each, whose inner extents are equal, and b's columns. bias: NULL, or
 * added to rows, of floats. */
hg_status ops_product(ops_call *c, ops_kept *k, const hg_tensor *a, const hg_tensor *b,
                      const hg_tensor *bias, hg_tensor **result) HG_NODISCARD;

#endif
