/* The Metal Shading Language as a language of the C family. f64 and 64-bit atomics are not in it.
 * Must not know: drivers, devices by name. */
#include "emit/c_dialect.h"

/* clang-format off */
#define FETCH(name) "atomic_fetch_" name "_explicit"
static const c_builtin BUILTINS[] = {
    {KIR_CLZ,     C_INTEGERS,            "clz($0)"},
    {KIR_MULHI_U, C_INTEGERS,            "mulhi($0, $1)"},
    {KIR_FSQRT,   C_IN_F32,              "precise::sqrt($0)"},
    {KIR_FFMA,    C_IN_F32,              "fma($0, $1, $2)"},
    {KIR_FMULERR, C_IN_F32,              "fma($0, $1, -($0 * $1))"},
    {KIR_FFLOOR,  C_IN_F32,              "floor($0)"},
    {KIR_FTRUNC,  C_IN_F32,              "trunc($0)"},
    {KIR_FRINT,   C_IN_F32,              "rint($0)"},
    {KIR_BITCAST, C_IN_U32,              "as_type<uint>($0)"},
    {KIR_BITCAST, C_IN_F32,              "as_type<float>($0)"},
    {0},
};
/* clang-format on */

/* Metal has a weak compare and exchange alone, of device and of threadgroup memory. */
#define COMPARE_EXCHANGE(space)                                                  \
    "static inline uint hg_atomic_cas(volatile " space                           \
    " atomic_uint *p, uint expected, uint wanted, memory_order order) {\n"       \
    "    for (;;) {\n"                                                           \
    "        uint old = expected;\n"                                             \
    "        if (atomic_compare_exchange_weak_explicit(p, &old, wanted, order, " \
    "memory_order_relaxed)) return expected;\n"                                  \
    "        if (old != expected) return old;\n"                                 \
    "    }\n"                                                                    \
    "}\n"

#define FENCE(order, scope)                                                                       \
    "atomic_thread_fence(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_" order \
    ", thread_scope_" scope ");"

static const c_device_words DEVICE = {
    .top.title = "Metal Shading Language 3.2; compile with the safe math mode",
    .top.head = "#include <metal_stdlib>\n"
                "using namespace metal;\n"
                "#pragma METAL fp math_mode(safe)\n"
                "#pragma METAL fp contract(off)\n",
    .top.head_cas = "\n" COMPARE_EXCHANGE("device") COMPARE_EXCHANGE("threadgroup"),
    .kernel = "kernel void ",
    .memory = "device ",
    .group = "threadgroup ",
    .distinct = NULL,
    .params.parameter_bytes = UINT32_MAX, /* it is a buffer */
    .params.attribute = " [[buffer(%u)]]",
    .params.group_parameter = "threadgroup ulong *group_memory [[threadgroup(0)]]",
    .params.record = "constant %s_record &record",
    .params.id_parameters = "uint3 thread_id [[thread_position_in_grid]], uint3 local_id "
                            "[[thread_position_in_threadgroup]], "
                            "uint3 group_id [[threadgroup_position_in_grid]]",
    .params.ids_unused = "(void)thread_id, (void)local_id, (void)group_id;",
    .params.ids = {"thread_id.x", "local_id.x", "local_id.y", "local_id.z", "group_id.x",
                   "group_id.y", "group_id.z"},
    .atomic.atomics = {{[KIR_ATOMIC_ADD] = FETCH("add"),
                        [KIR_ATOMIC_AND] = FETCH("and"),
                        [KIR_ATOMIC_OR] = FETCH("or"),
                        [KIR_ATOMIC_XOR] = FETCH("xor"),
                        [KIR_ATOMIC_UMIN] = FETCH("min"),
                        [KIR_ATOMIC_SMIN] = FETCH("min"),
                        [KIR_ATOMIC_UMAX] = FETCH("max"),
                        [KIR_ATOMIC_SMAX] = FETCH("max"),
                        [KIR_ATOMIC_EXCH] = "atomic_exchange_explicit",
                        [KIR_ATOMIC_CAS] = "hg_atomic_cas"}},
    .atomic.atomic_types = {{"atomic_uint", "atomic_int"}},
    .atomic.atomic_qualifier = "volatile ",
    .atomic.atomic_order = ", memory_order_relaxed",
    .fences = {[HG_SCOPE_BLOCK] = {FENCE("acq_rel", "threadgroup"), NULL},
               [HG_SCOPE_DEVICE] = {FENCE("acq_rel", "device"), NULL},
               [HG_SCOPE_SYSTEM] = {FENCE("seq_cst", "device"), NULL}},
    .barrier = "threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);",
};

const c_dialect emit_msl_dialect = {
    .types = {"uchar", "ushort", "uint", "ulong", "float", "double"},
    .signed_types = {"char", "short", "int", "long", "float", "double"},
    .u64_small = "%lluul",
    .u64_large = "0x%llxul",
    .top_i64 = "LONG_MAX",
    .infinity = "INFINITY",
    .builtins = BUILTINS,
    .logical_not = true,
    .function = "static inline ",
    .kept = "__attribute__((noinline)) static ",
    .table = "constant ",
    .local = "thread ",
    .no_designators = true,
    .device = &DEVICE,
};
