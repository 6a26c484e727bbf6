/* Shared by the files that print whole-array instructions as StableHLO. */
#ifndef HG_STABLEHLO_CALL_INTERNAL_H
#define HG_STABLEHLO_CALL_INTERNAL_H

#include "stablehlo/call.h"

typedef struct shlo_call {
    ten_module *m;
    const plan_call *call;
    shlo_operands *o;
} shlo_call;

/* ---- operands.c ---- */
bool shlo_has(const shlo_call *c, const char *name);
/* The array in the shape that the instruction gives it. */
ten shlo_in(shlo_call *c, const char *name);
/* The same of one without gaps, in the shape that its memory has. */
ten shlo_all(shlo_call *c, const char *name);
/* The elements of an array that is written, in any shape of as many. */
void shlo_out(shlo_call *c, const char *name, ten value);
/* All elements of the memory that it lies in. */
void shlo_out_memory(shlo_call *c, const char *name, ten value);
ten shlo_memory_of(const shlo_call *c, const char *name);
static inline uint64_t shlo_size(const shlo_call *c, const char *name) {
    return plan_named(c->call, name);
}
static inline bool shlo_flag(const shlo_call *c, const char *name) {
    return plan_named(c->call, name) != 0;
}
/* A literal of f32 or f64; halves have theirs as f32. */
double shlo_factor(const shlo_call *c, const char *name);
/* Of halves their bits as u16: a compiler may take them through f32, which changes NaNs, and with
 * them what somebody else keeps beside an array. */
ten shlo_pattern(ten_module *m, ten a);
/* What is a fault where an element of it is true. */
void shlo_note_bad(ten_module *m, ten bad);
/* Extents of an array. */
ten shlo_shape_of(const shlo_call *c, const char *name);

/* ---- map.c ---- */
/* fn of one operand or two (b.name 0: one), an hg_op or KIR_FN_*, on elements of one type. */
ten shlo_function(ten_module *m, uint16_t fn, ten a, ten b);
bool shlo_function_is_exact(uint16_t fn, uint8_t type);
/* The fold along an axis: fn is HG_OP_ADD, MUL, MIN or MAX. Halves in f32, rounded at the end. */
ten shlo_fold(ten_module *m, uint16_t fn, ten a, uint32_t axis);
/* The bits of floats, as signed numbers, as others that have their order, -0 below 0; and back. */
ten shlo_in_order(ten_module *m, ten bits);
/* What changes nothing in a fold. */
ten shlo_neutral(ten_module *m, uint16_t fn, ten shape);

/* ---- index.c ---- */
/* Of each of n places how many of the offsets, which rise, stand at it or before, less one; as many
 * as there are less one where none does. */
ten shlo_begun(ten_module *m, ten offsets, uint64_t n);

/* ---- by what they do; each returns after shlo_out ---- */
typedef void shlo_printer(shlo_call *c);
/* map.c */
shlo_printer shlo_map, shlo_map_binary, shlo_reduce, shlo_reduce_axis, shlo_scan, shlo_arg,
    shlo_pool;
/* product.c */
shlo_printer shlo_gemm, shlo_quantized_gemm, shlo_tensor_contract, shlo_conv, shlo_conv_transpose,
    shlo_sparse_gemm, shlo_fft;
/* rows.c */
shlo_printer shlo_softmax, shlo_layer_norm, shlo_group_norm, shlo_batch_norm, shlo_layer_scale,
    shlo_rope, shlo_attention;
/* index.c */
shlo_printer shlo_gather, shlo_scatter, shlo_segment_reduce, shlo_sort, shlo_kv_cache,
    shlo_all_reduce, shlo_all_gather;

#endif
