/* Operations inside: a call with its inputs, and the functions that do them (ops_*.c).
 * Must not know: devices. */
#ifndef HG_TENSOR_OPS_H
#define HG_TENSOR_OPS_H

#include "tensor/tensor.h"

enum { OPS_RESULTS = 8 };

/* One call. Functions check it, record what it is (tensor_call, tensor_map, other operations'
 * functions), and put results into `out`; after an error what stands there is released. */
typedef struct ops_call {
    hg_operation operation;
    const char *name;
    tensor_run *run;
    const hg_tensor *const *in; /* on the run's executor */
    uint32_t in_count;
    hg_ops_options options;
    hg_tensor *out[OPS_RESULTS];
} ops_call;
typedef hg_status ops_function(ops_call *c);
typedef struct ops_row {
    const char *name, *about;
    uint32_t least, most, results;
    ops_function *function;
} ops_row;

#define OPERATION(id, name, least, most, results, function, about) ops_function ops_##function;
#include <hologram/operations.def>
#undef OPERATION

/* The formula of an element-wise call whose result has the target's type and shape: true. */
bool ops_formula(const ops_call *c, tensor_formula *formula, const hg_tensor *target);
/* `name: f32 [2] and i32 [3]: why`. */
hg_status ops_refuse(const ops_call *c, const char *why);
/* The same of an operation that complex numbers have not. */
hg_status ops_refuse_complex(const ops_call *c);
/* options.axes of the first input as bits; NULL: all axes. */
hg_status ops_axes(const ops_call *c, uint32_t *axes) HG_NODISCARD;
/* What complex.def has of an element-wise operation; NULL: nothing. */
const char *ops_complex_formula(hg_operation operation);
/* A call with a complex tensor, or for one, by the way that complex.def says. */
hg_status ops_call_complex(ops_call *c, ops_function *function);
/* A complex tensor from its parts, which have one type and shape. */
hg_status ops_from_parts(ops_call *c, const hg_tensor *real, const hg_tensor *imaginary,
                         hg_tensor **result);
/* f32 of types of at most 16 bits but f16 and bf16, f64 of wider integers: what functions of
 * numbers that are no whole ones give for integers; a float itself. */
hg_element ops_real(hg_element type);

#endif
