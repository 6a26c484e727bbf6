/* What CUDA C and HIP have in common as languages of the C family. Included by their dialects
 * alone. */
#ifndef HG_EMIT_DIALECT_CUDA_H
#define HG_EMIT_DIALECT_CUDA_H

#include "emit/c_dialect.h"

/* Short names of the number types; a device has no other headers. */
#define CUDA_TYPES                      \
    "typedef unsigned char u8;\n"       \
    "typedef unsigned short u16;\n"     \
    "typedef unsigned int u32;\n"       \
    "typedef unsigned long long u64;\n" \
    "typedef signed char i8;\n"         \
    "typedef short i16;\n"              \
    "typedef int i32;\n"                \
    "typedef long long i64;\n"

/* clang-format off */
#define CUDA_ATOMICS {                                                                                  \
    [KIR_ATOMIC_ADD]  = "atomicAdd", [KIR_ATOMIC_AND]  = "atomicAnd", [KIR_ATOMIC_OR]   = "atomicOr",   \
    [KIR_ATOMIC_XOR]  = "atomicXor", [KIR_ATOMIC_UMIN] = "atomicMin", [KIR_ATOMIC_SMIN] = "atomicMin",  \
    [KIR_ATOMIC_UMAX] = "atomicMax", [KIR_ATOMIC_SMAX] = "atomicMax", [KIR_ATOMIC_EXCH] = "atomicExch", \
    [KIR_ATOMIC_CAS]  = "atomicCAS"}

static const c_builtin CUDA_BUILTINS[] = {
    {KIR_CLZ,     C_IN_U8,    "(u8)(__clz((int)$0) - 24)"},
    {KIR_CLZ,     C_IN_U16,   "(u16)(__clz((int)$0) - 16)"},
    {KIR_CLZ,     C_IN_U32,   "(u32)__clz((int)$0)"},
    {KIR_CLZ,     C_IN_U64,   "(u64)__clzll((i64)$0)"},
    {KIR_MULHI_U, C_IN_U32,   "__umulhi($0, $1)"},
    {KIR_MULHI_U, C_IN_U64,   "__umul64hi($0, $1)"},
    {KIR_FSQRT,   C_IN_F32,   "__fsqrt_rn($0)"},
    {KIR_FSQRT,   C_IN_F64,   "__dsqrt_rn($0)"},
    {KIR_FFMA,    C_IN_F32,   "__fmaf_rn($0, $1, $2)"},
    {KIR_FFMA,    C_IN_F64,   "__fma_rn($0, $1, $2)"},
    {KIR_FMAD,    C_IN_F32,   "__fmaf_rn($0, $1, $2)"},
    {KIR_FMAD,    C_IN_F64,   "__fma_rn($0, $1, $2)"},
    {KIR_FMULERR, C_IN_F32,   "__fmaf_rn($0, $1, -($0 * $1))"},
    {KIR_FMULERR, C_IN_F64,   "__fma_rn($0, $1, -($0 * $1))"},
    {KIR_FFLOOR,  C_IN_F32,   "floorf($0)"},
    {KIR_FFLOOR,  C_IN_F64,   "floor($0)"},
    {KIR_FTRUNC,  C_IN_F32,   "truncf($0)"},
    {KIR_FTRUNC,  C_IN_F64,   "trunc($0)"},
    {KIR_FRINT,   C_IN_F32,   "rintf($0)"},
    {KIR_FRINT,   C_IN_F64,   "rint($0)"},
    {KIR_DOT4_S,  C_IN_U32,   "(u32)__dp4a((int)$0, (int)$1, (int)$2)"},
    {KIR_DOT4_U,  C_IN_U32,   "dp4a_mixed($0, $1, $2)"}, /* CUDA C alone */
    {KIR_BITCAST, C_IN_U32,   "__float_as_uint($0)"},
    {KIR_BITCAST, C_IN_U64,   "(u64)__double_as_longlong($0)"},
    {KIR_BITCAST, C_IN_F32,   "__uint_as_float($0)"},
    {KIR_BITCAST, C_IN_F64,   "__longlong_as_double((i64)$0)"},
    {0},
};

#define CUDA_DEVICE                                                                                                             \
    .kernel = "extern \"C\" __global__ void ", .memory = "", .group = "", .params.by_address = true,                                   \
    .params.group_variable = "extern __shared__ __attribute__((aligned(16))) u64 group_memory[];",                                                                  \
    .params.ids = {"(blockIdx.x * blockDim.x + threadIdx.x)", "threadIdx.x", "threadIdx.y", "threadIdx.z", "blockIdx.x", "blockIdx.y", \
            "blockIdx.z"},                                                                                                      \
    .atomic.atomics = {CUDA_ATOMICS, CUDA_ATOMICS}, .atomic.atomic_qualifier = "", .atomic.atomic_order = "",                                        \
    .fences = {[HG_SCOPE_BLOCK]  = {"__threadfence_block();", NULL},                                                            \
               [HG_SCOPE_DEVICE] = {"__threadfence();", NULL},                                                                  \
               [HG_SCOPE_SYSTEM] = {"__threadfence_system();", NULL}},                                                          \
    .barrier = "__syncthreads();"

#define CUDA_DIALECT                                                                                                         \
    .types = {"u8", "u16", "u32", "u64", "float", "double"}, .signed_types = {"i8", "i16", "i32", "i64", "float", "double"}, \
    .u64_small = "%lluull", .u64_large = "0x%llxull", .top_i64 = "0x7fffffffffffffffull", .builtins = CUDA_BUILTINS,         \
    .logical_not = true, .function = "static __device__ __forceinline__ ", .kept = "static __device__ __noinline__ ",        \
    .table = "static __device__ const ", .local = "", .no_designators = true, .write_out = "#pragma unroll"
/* clang-format on */

#endif
