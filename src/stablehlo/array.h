/* Operations on whole arrays as StableHLO: each prints one line and returns the tensor that it
 * makes. Whole-array instructions (call.h) are written with them.
 * Must not know: instructions, graphs. */
#ifndef HG_STABLEHLO_ARRAY_H
#define HG_STABLEHLO_ARRAY_H

#include "base/base.h"
#include <hologram/type.h>

enum { TEN_MOST_RANK = 12 };
/* Element types beside hg_type. */
enum { TEN_BOOL = HG_TYPE_COUNT, TEN_COMPLEX_F32, TEN_COMPLEX_F64 };

/* A tensor. Where it was only given another shape so far, the text has it in the one that it was
 * made in; ten_made is printed when an operation reads it. */
typedef struct ten {
    uint32_t name; /* 0: none */
    uint8_t type, rank, made_rank;
    uint64_t extents[TEN_MOST_RANK], made[TEN_MOST_RANK];
} ten;

typedef struct ten_module {
    hg_text *out;
    uint32_t next;         /* number of the next name, from 1 */
    char unsupported[160]; /* what StableHLO cannot say; "": nothing so far */
    ten bad;  /* a tensor<i1>: whether an index was outside. name 0: none is looked at */
    ten zero; /* a tensor<1xui64> that is 0, which the compiler cannot know; name 0: none */
} ten_module;

/* The first reason stays. */
void ten_refuse(ten_module *m, const char *format, ...) HG_PRINTF(2, 3);

/* ---- shapes ---- */
ten ten_shape(uint8_t type, uint8_t rank, const uint64_t *extents); /* without a name */
ten ten_like(ten t, uint8_t type);                                  /* the same with that type */
uint64_t ten_count(ten t);
void ten_print_type(hg_text *out, ten t); /* "tensor<2x3xf32>" */
bool ten_is_float(uint8_t type);
uint8_t ten_sum_type(uint8_t type); /* in which halves are summed: f32; else the type */

/* ---- constants: everywhere in the shape of a tensor ---- */
ten ten_number(ten_module *m, ten shape, double value);
ten ten_integer(ten_module *m, ten shape, uint64_t bits); /* of integers; TEN_BOOL: 0 or 1 */
ten ten_infinity(ten_module *m, ten shape, bool negative);
ten ten_nan(ten_module *m, ten shape);
ten ten_lowest(ten_module *m, ten shape); /* of the type; -inf of floats */
ten ten_highest(ten_module *m, ten shape);
/* A constant with one axis: begin, add each in turn, end. */
ten ten_list_begin(ten_module *m, uint8_t type, uint64_t count);
void ten_list_add(ten_module *m, uint64_t at, double value);
void ten_list_end(ten_module *m, ten list);
ten ten_bytes(ten_module *m, ten shape, const void *elements); /* as they lie in memory */
ten ten_iota(ten_module *m, ten shape, uint32_t axis);

/* ---- element by element ---- */
ten ten_unary(ten_module *m, const char *op, ten a);
ten ten_chlo(ten_module *m, const char *op, ten a); /* of StableHLO's second dialect */
ten ten_binary(ten_module *m, const char *op, ten a, ten b);
ten ten_compare(ten_module *m, const char *direction, ten a, ten b);
ten ten_select(ten_module *m, ten condition, ten a, ten b);
ten ten_convert(ten_module *m, ten a, uint8_t type); /* rounds once; a float to an integer truncates
                                                      */
ten ten_bits(ten_module *m, ten a, uint8_t type);    /* bitcast_convert of the same width */
ten ten_is_nan(ten_module *m, ten a);
/* A product, quotient or root of floats that the compiler joins with nothing (ten_module.zero). */
ten ten_apart(ten_module *m, ten r);

/* ---- shapes of tensors ---- */
/* A name for a tensor of that shape that the caller prints, an argument of @main for instance. */
ten ten_new(ten_module *m, ten shape);
/* The same tensor in the shape in which the text has it: for those who print its name. */
ten ten_made(ten_module *m, ten a);
ten ten_reshape(ten_module *m, ten a, uint8_t rank, const uint64_t *extents);
/* Axis i of a is axis axes[i] of the result, which has that shape. */
ten ten_broadcast(ten_module *m, ten a, ten shape, const uint32_t *axes);
ten ten_along(ten_module *m, ten a, ten shape, uint32_t axis);  /* a has one axis */
ten ten_everywhere(ten_module *m, ten a, ten shape);            /* a has none */
ten ten_transpose(ten_module *m, ten a, const uint32_t *order); /* axis i is axis order[i] of a */
ten ten_slice(ten_module *m, ten a, uint32_t axis, uint64_t from, uint64_t to, uint64_t step);
/* value: of no axes. Negative numbers cut. */
ten ten_pad(ten_module *m, ten a, ten value, const int64_t *low, const int64_t *high,
            const int64_t *inside);
ten ten_pad_axis(ten_module *m, ten a, ten value, uint32_t axis, uint64_t low, uint64_t high);
ten ten_concat(ten_module *m, ten a, ten b, uint32_t axis);
ten ten_reverse(ten_module *m, ten a, uint32_t axis);
/* Two arrays of bytes or words seen as others: a has one axis. The result has `count` elements of
 * the type, from the first on. */
ten ten_recast(ten_module *m, ten a, uint8_t type, uint64_t count);

/* ---- folds ---- */
/* op: "add". The axis goes. start: of no axes. */
ten ten_reduce(ten_module *m, const char *op, ten a, ten start, uint32_t axis);
ten ten_any(ten_module *m, ten a); /* of TEN_BOOL: a tensor of no axes */
/* low, high, dilation of each axis of a. */
ten ten_window(ten_module *m, const char *op, ten a, ten start, const uint64_t *window,
               const uint64_t *stride, const uint64_t *dilation, const uint64_t *low,
               const uint64_t *high);
/* a [batch..., m, k] and b [batch..., k, n], `batch` axes: [batch..., m, n] of the type. */
ten ten_dot(ten_module *m, ten a, ten b, uint32_t batch, uint8_t type);
/* The axes left and right[i] of each are summed over. */
ten ten_contract(ten_module *m, ten a, ten b, const uint32_t *left, const uint32_t *right,
                 uint32_t count, uint8_t type);
typedef struct ten_convolution {
    uint32_t axes;
    uint64_t stride[3], before_dilation[3], dilation[3], out[3], groups;
    int64_t low[3], high[3];
} ten_convolution;
/* a [batch, in, axes...], kernel [out, in / groups, axes...] -> [batch, out, axes...] */
ten ten_convolve(ten_module *m, ten a, ten kernel, const ten_convolution *c, uint8_t type);

/* ---- by indices; they count in i64 ---- */
/* a [outer, n, inner], indices [count]: [outer, count, inner] */
ten ten_gather(ten_module *m, ten a, ten indices);
/* The same backwards: `into` with updates [outer, count, inner] stored or, op "add", added. Indices
 * beyond n are left out. unique: no two are the same. */
ten ten_scatter(ten_module *m, ten into, ten indices, ten updates, const char *op, bool unique);
/* Elements of a with one axis at indices of any shape. */
ten ten_take(ten_module *m, ten a, ten indices);
/* Operands along an axis by the first, of integers; equal ones stay in order. */
void ten_sort(ten_module *m, uint32_t count, ten *operands, uint32_t axis, bool descending);
/* kind: "FFT", "IFFT", "RFFT", "IRFFT", along the last axis of n. */
ten ten_fft(ten_module *m, ten a, const char *kind, uint64_t n, ten shape);
ten ten_complex(ten_module *m, ten re, ten im);
ten ten_part(ten_module *m, ten a, bool imaginary);
ten ten_update(ten_module *m, ten into, ten part, const uint64_t *at); /* a part is replaced */
/* Of tensors with one axis, from an element whose number, an i64 of no axes, the run tells. */
ten ten_slice_at(ten_module *m, ten a, ten at, uint64_t count);
ten ten_update_at(ten_module *m, ten into, ten part, ten at);

#endif
