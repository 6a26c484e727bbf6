/* OpenCL C 1.2 as a language of the C family. Must not know: drivers, devices by name. */
#include "emit/c_dialect.h"

/* OpenCL C 1.2 has mem_fence alone, which is nothing on some devices (PoCL 3.1 moves and removes
 * stores across it). */
#define FENCE_FUNCTION(order)                                                                    \
    "static inline void hg_fence_" order "(void) {\n"                                            \
    "#if __OPENCL_C_VERSION__ >= 300 ? defined(__opencl_c_atomic_order_" order                   \
    ") && defined(__opencl_c_atomic_scope_device) : __OPENCL_C_VERSION__ >= 200\n"               \
    "    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_order_" order \
    ", memory_scope_device);\n"                                                                  \
    "#else\n"                                                                                    \
    "    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"                               \
    "#endif\n"                                                                                   \
    "}\n"

/* clang-format off */
#define FENCE(order) {"hg_fence_" order "();", FENCE_FUNCTION(order)}
#define ATOMICS(prefix) {                                                                                                            \
    [KIR_ATOMIC_ADD]  = prefix "add", [KIR_ATOMIC_AND]  = prefix "and", [KIR_ATOMIC_OR]   = prefix "or",                             \
    [KIR_ATOMIC_XOR]  = prefix "xor", [KIR_ATOMIC_UMIN] = prefix "min", [KIR_ATOMIC_SMIN] = prefix "min",                            \
    [KIR_ATOMIC_UMAX] = prefix "max", [KIR_ATOMIC_SMAX] = prefix "max", [KIR_ATOMIC_EXCH] = prefix "xchg",                           \
    [KIR_ATOMIC_CAS]  = prefix "cmpxchg"}

/* Only of numbers with a fraction: PoCL 3.1 goes through integers, and where its compiler knows that the operand is NaN or too large (a
 * literal, or x in `if (x == INFINITY)`), the result is undefined and stores are lost. */
#define INTEGRAL_F32(name) "fabs($0) < 0x1p23f ? " name "($0) : $0"
#define INTEGRAL_F64(name) "fabs($0) < 0x1p52 ? " name "($0) : $0"

static const c_builtin BUILTINS[] = {
    {KIR_CLZ,     C_INTEGERS, "clz($0)"},
    {KIR_MULHI_U, C_INTEGERS & ~C_IN_U64, "mul_hi($0, $1)"},
    {KIR_FSQRT,   C_FLOATS,   "sqrt($0)"},
    {KIR_FFMA,    C_FLOATS,   "fma($0, $1, $2)"},
    {KIR_FMAD,    C_FLOATS,   "fma($0, $1, $2)"},
    {KIR_FMULERR, C_FLOATS,   "fma($0, $1, -($0 * $1))"},
    {KIR_FFLOOR,  C_IN_F32,   INTEGRAL_F32("floor")},
    {KIR_FFLOOR,  C_IN_F64,   INTEGRAL_F64("floor")},
    {KIR_FTRUNC,  C_IN_F32,   INTEGRAL_F32("trunc")},
    {KIR_FTRUNC,  C_IN_F64,   INTEGRAL_F64("trunc")},
    {KIR_FRINT,   C_IN_F32,   INTEGRAL_F32("rint")},
    {KIR_FRINT,   C_IN_F64,   INTEGRAL_F64("rint")},
    {KIR_DOT4_S,  C_IN_U32,   "(uint)dot_4x8packed_ss_int($0, $1) + $2"},
    {KIR_DOT4_U,  C_IN_U32,   "(uint)dot_4x8packed_us_int($0, $1) + $2"},
    {KIR_BITCAST, C_IN_U32,   "as_uint($0)"},
    {KIR_BITCAST, C_IN_U64,   "as_ulong($0)"},
    {KIR_BITCAST, C_IN_F32,   "as_float($0)"},
    {KIR_BITCAST, C_IN_F64,   "as_double($0)"},
    {0},
};
/* clang-format on */

static const c_device_words DEVICE = {
    .top.title = "OpenCL C 1.2; of later versions only fences",
    .top.head = "#pragma OPENCL FP_CONTRACT OFF\n",
    .top.head_f64 = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
    .top.head_atomic64 = "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
                         "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n",
    .kernel = "__kernel void ",
    .memory = "__global ",
    .group = "__local ",
    .distinct = "restrict ",
    .params.parameter_bytes = 1024, /* CL_DEVICE_MAX_PARAMETER_SIZE of the full profile is at least
                                       that */
    .params.group_parameter = "__local ulong *group_memory",
    .params.record = "%s_record record",
    .params.ids = {"get_global_id(0)", "get_local_id(0)", "get_local_id(1)", "get_local_id(2)",
                   "get_group_id(0)", "get_group_id(1)", "get_group_id(2)"},
    .atomic.atomics = {ATOMICS("atomic_"), ATOMICS("atom_")},
    .atomic.atomic_qualifier = "volatile ",
    .atomic.atomic_order = "",
    .fences = {[HG_SCOPE_BLOCK] = FENCE("acq_rel"),
               [HG_SCOPE_DEVICE] = FENCE("acq_rel"),
               [HG_SCOPE_SYSTEM] = FENCE("seq_cst")},
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .wide_offsets = true,
};

/* PoCL 3.1 writes mul_hi of ulong as four products of halves; a compiler that has 128-bit integers
 * makes it one instruction. */
static const char MULTIPLY_HIGH[] = "$Q$4 hg_mulhi_u64($4 a, $4 b) {\n"
                                    "#ifdef __SIZEOF_INT128__\n"
                                    "    return ($4)((unsigned __int128)a * b >> 64);\n"
                                    "#else\n"
                                    "    return mul_hi(a, b);\n"
                                    "#endif\n"
                                    "}\n";

const c_dialect emit_opencl_dialect = {
    .types = {"uchar", "ushort", "uint", "ulong", "float", "double"},
    .signed_types = {"char", "short", "int", "long", "float", "double"},
    .u64_small = "%lluul",
    .u64_large = "0x%llxul",
    .top_i64 = "LONG_MAX",
    .infinity = "INFINITY", /* NAN is any NaN: its bits are the program's */
    .builtins = BUILTINS,
    .multiply_high = MULTIPLY_HIGH,
    .logical_not = true,
    .function = "static inline ",
    .kept = "__attribute__((noinline)) static ",
    .table = "__constant ",
    .local = "__private ",
    .device = &DEVICE,
};
