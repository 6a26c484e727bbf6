/* The table of isa.def as an array, and its look-ups. */
#include "isa/isa.h"
#include <string.h>

/* clang-format off */
#define O_D {HG_K_REG, HG_WRITE, HG_R_T, 0, "d", NULL, 0}
#define O_R(n) {HG_K_REG, HG_READ, HG_R_T, 0, n, NULL, 0}
#define O_RN(n) {HG_K_COUNT, HG_READ, HG_R_U32_U64, 0, n, NULL, 0}
#define O_ARRAY(n, a) {HG_K_ARRAY, a, HG_R_T, 0, n, NULL, 0}
#define O_OP(names) {HG_K_OPNAME, 0, names, 0, "op", NULL, 0}
#define O_HANDLE(a) {HG_K_REG, a, HG_R_U64, 0, "handle", NULL, 0}
#define O_POOL {HG_K_POOL, 0, HG_R_NONE, 0, "pool", NULL, 0}

#define O_U8(n) {HG_K_REG, HG_READ, HG_R_U8, 0, n, NULL, 0}
#define O_INDEX(n) {HG_K_COUNT, HG_READ, HG_R_INDEX, 0, n, NULL, 0}
#define O_TO(rule) {HG_K_REG, HG_WRITE, rule, 0, "d", NULL, 0}
#define O_P {HG_K_PRED, HG_WRITE, HG_R_NONE, 0, "p", NULL, 0}
#define O_Q(n) {HG_K_PRED, HG_READ, HG_R_NONE, 0, n, NULL, 0}

/* A row may write its operands itself: OPERANDS(OUTPUT("c"), INPUT("a"), ...). Those of these macros are named, as in c=r3. */
#define OPERANDS(...) {__VA_ARGS__}
#define INPUT(name) {HG_K_ARRAY, HG_NAMED | HG_READ, HG_R_T, 0, name, NULL, 0}
#define OUTPUT(name) {HG_K_ARRAY, HG_NAMED | HG_WRITE, HG_R_T, 0, name, NULL, 0}
#define INOUT(name) {HG_K_ARRAY, HG_NAMED | HG_READ | HG_WRITE, HG_R_T, 0, name, NULL, 0}
/* Of arrays whose elements have another type than the instruction's; HG_R_NONE: that depends on other operands. */
#define INPUT_OF(rule, name) {HG_K_ARRAY, HG_NAMED | HG_READ, rule, 0, name, NULL, 0}
#define OUTPUT_OF(rule, name) {HG_K_ARRAY, HG_NAMED | HG_WRITE, rule, 0, name, NULL, 0}
#define INOUT_OF(rule, name) {HG_K_ARRAY, HG_NAMED | HG_READ | HG_WRITE, rule, 0, name, NULL, 0}
#define INPUT_OF_OR_NONE(rule, name, words) {HG_K_ARRAY, HG_NAMED | HG_READ, rule, HG_OR_NONE, name, words, 0}
#define OUTPUT_OF_OR_NONE(rule, name, words) {HG_K_ARRAY, HG_NAMED | HG_WRITE, rule, HG_OR_NONE, name, words, 0}
#define SIZE(name) {HG_K_COUNT, HG_NAMED | HG_READ, HG_R_U32_U64, 0, name, NULL, 0}
#define FACTOR(name) {HG_K_LITERAL, HG_NAMED, HG_R_WIDE, 0, name, NULL, 0}
#define FACTOR_F32(name) {HG_K_LITERAL, HG_NAMED, HG_R_F32, 0, name, NULL, 0}
#define FACTOR_F64(name) {HG_K_LITERAL, HG_NAMED, HG_R_F64, 0, name, NULL, 0}
#define FLAG(name) {HG_K_BOOL, HG_NAMED, HG_R_NONE, 0, name, NULL, 0}
#define OPERATION(name, names) {HG_K_OPNAME, HG_NAMED, names, 0, name, NULL, 0} /* names: HG_R_MAP, HG_R_BINARY, HG_R_REDUCE */
#define TUPLE(name, items) {HG_K_TUPLE, HG_NAMED | HG_READ, HG_R_U32_U64, 0, name, NULL, items} /* items: how many; 0: any number */
#define TUPLES(name, items) {HG_K_TUPLES, HG_NAMED | HG_READ, HG_R_U32_U64, 0, name, NULL, items} /* of each of the tuples */
/* And those that may be left out. With a value that they have then, as text: SIZE_OR("groups", "1"). Or with words for what is done then,
 * which no value says: SIZE_OR_NONE("kv_len", "seq_len"). */
#define INPUT_OR_NONE(name, words) {HG_K_ARRAY, HG_NAMED | HG_READ, HG_R_T, HG_OR_NONE, name, words, 0}
#define OUTPUT_OR_NONE(name, words) {HG_K_ARRAY, HG_NAMED | HG_WRITE, HG_R_T, HG_OR_NONE, name, words, 0}
#define INOUT_OR_NONE(name, words) {HG_K_ARRAY, HG_NAMED | HG_READ | HG_WRITE, HG_R_T, HG_OR_NONE, name, words, 0}
#define SIZE_OR(name, text) {HG_K_COUNT, HG_NAMED | HG_READ, HG_R_U32_U64, HG_OR_VALUE, name, text, 0}
#define SIZE_OR_NONE(name, words) {HG_K_COUNT, HG_NAMED | HG_READ, HG_R_U32_U64, HG_OR_NONE, name, words, 0}
#define FACTOR_OR(name, text) {HG_K_LITERAL, HG_NAMED, HG_R_WIDE, HG_OR_VALUE, name, text, 0}
#define FACTOR_I8_OR(name, text) {HG_K_LITERAL, HG_NAMED, HG_R_I8, HG_OR_VALUE, name, text, 0}
#define FACTOR_F32_OR(name, text) {HG_K_LITERAL, HG_NAMED, HG_R_F32, HG_OR_VALUE, name, text, 0}
#define FACTOR_F64_OR(name, text) {HG_K_LITERAL, HG_NAMED, HG_R_F64, HG_OR_VALUE, name, text, 0}
#define FACTOR_F64_OR_NONE(name, words) {HG_K_LITERAL, HG_NAMED, HG_R_F64, HG_OR_NONE, name, words, 0}
#define FLAG_OR(name, text) {HG_K_BOOL, HG_NAMED, HG_R_NONE, HG_OR_VALUE, name, text, 0}
#define OPERATION_OR(name, names, text) {HG_K_OPNAME, HG_NAMED, names, HG_OR_VALUE, name, text, 0}
#define TUPLE_OR(name, items, text) {HG_K_TUPLE, HG_NAMED | HG_READ, HG_R_U32_U64, HG_OR_VALUE, name, text, items}
#define TUPLE_OR_NONE(name, items, words) {HG_K_TUPLE, HG_NAMED | HG_READ, HG_R_U32_U64, HG_OR_NONE, name, words, items}
#define TUPLES_OR(name, items, text) {HG_K_TUPLES, HG_NAMED | HG_READ, HG_R_U32_U64, HG_OR_VALUE, name, text, items}

#define SIG_NONE {{0}} /* an array needs one element; operand_count below says 0 */
#define SIG_D_S {O_D, O_R("s")}
#define SIG_D_V {O_D, {HG_K_LITERAL, 0, HG_R_T, 0, "value", NULL, 0}}
#define SIG_BSCAN {O_D, O_R("s"), FLAG_OR("exclusive", "false")}
#define SIG_SHUFFLE {O_D, O_R("s"), O_RN("lane")}
#define SIG_CVT {O_D, {HG_K_REG, HG_READ, HG_R_T2, 0, "s", NULL, 0}}
#define SIG_D_A_B {O_D, O_R("a"), O_R("b")}
#define SIG_D_A_B_C {O_D, O_R("a"), O_R("b"), O_R("c")}
#define SIG_D_A_B_T {O_D, O_R("a"), O_R("b"), O_R("t")}
#define SIG_CLAMP {O_D, O_R("s"), O_R("min"), O_R("max")}
#define SIG_SHIFT {O_D, O_R("s"), {HG_K_REG, HG_READ, HG_R_U32, 0, "amount", NULL, 0}}
#define SIG_COUNT_BITS {O_TO(HG_R_U32), O_R("s")}
#define SIG_MULW {O_D, {HG_K_REG, HG_READ, HG_R_T2, 0, "a", NULL, 0}, {HG_K_REG, HG_READ, HG_R_T2, 0, "b", NULL, 0}}
#define SIG_DOT2 {O_TO(HG_R_F32), {HG_K_REG, HG_READ, HG_R_U32, 0, "a", NULL, 0}, {HG_K_REG, HG_READ, HG_R_U32, 0, "b", NULL, 0}, \
                  {HG_K_REG, HG_READ, HG_R_F32, 0, "c", NULL, 0}}
#define SIG_POWM {O_D, O_R("base"), O_R("exponent"), O_R("modulus")}
#define SIG_CARRY {O_D, {HG_K_PRED, HG_WRITE, HG_R_NONE, 0, "carry", NULL, 0}, O_R("a"), O_R("b")}
#define SIG_CARRY_IN {O_D, {HG_K_PRED, HG_WRITE, HG_R_NONE, 0, "carry", NULL, 0}, O_R("a"), O_R("b"), O_Q("in")}
#define SIG_SET {{HG_K_COND, 0, HG_R_NONE, 0, "condition", NULL, 0}, {HG_K_PRED, HG_WRITE, HG_R_NONE, 0, "p", NULL, 0}, O_R("a"), O_R("b")}
#define SIG_SEL {O_D, {HG_K_PRED, HG_READ, HG_R_NONE, 0, "p", NULL, 0}, O_R("a"), O_R("b")}
#define SIG_LOAD {O_D, {HG_K_ADDRESS, HG_READ, HG_R_T, 0, "address", NULL, 0}}
#define SIG_STORE {{HG_K_ADDRESS, HG_WRITE, HG_R_T, 0, "address", NULL, 0}, O_R("s")}
#define SIG_LOAD_WIDE {O_D, {HG_K_ADDRESS, HG_READ, HG_R_T2, 0, "address", NULL, 0}}
#define SIG_STORE_NARROW {{HG_K_ADDRESS, HG_WRITE, HG_R_T, 0, "address", NULL, 0}, {HG_K_REG, HG_READ, HG_R_T2, 0, "s", NULL, 0}}
#define AXIS_END {HG_K_ADDRESS, 0, HG_R_NONE, 0, "array", NULL, 0}, {HG_K_U8, 0, HG_R_NONE, 0, "axis", NULL, 0}, \
                 SIZE_OR_NONE("extent", "that of the declaration")
#define SIG_AXIS_FIRST {O_TO(HG_R_U64), O_R("index"), AXIS_END}
#define SIG_AXIS {O_TO(HG_R_U64), {HG_K_REG, HG_READ, HG_R_U64, 0, "before", NULL, 0}, O_R("index"), AXIS_END}
#define SIG_RDID {{HG_K_REG, HG_WRITE, HG_R_ID, 0, "d", NULL, 0}, {HG_K_IDNAME, 0, HG_R_NONE, 0, "id", NULL, 0}}
#define SIG_BRA {{HG_K_PRED, HG_READ, HG_R_NONE, HG_OR_NONE, "p", NULL, 0}, {HG_K_LABEL, 0, HG_R_NONE, 0, "target", NULL, 0}}
#define SIG_TARGET {{HG_K_LABEL, 0, HG_R_NONE, 0, "target", NULL, 0}}
#define SIG_LOOP {{HG_K_REG, HG_READ | HG_WRITE, HG_R_U32, 0, "counter", NULL, 0}, {HG_K_LABEL, 0, HG_R_NONE, 0, "target", NULL, 0}}
#define SIG_LOOP64 {{HG_K_REG, HG_READ | HG_WRITE, HG_R_U64, 0, "counter", NULL, 0}, {HG_K_LABEL, 0, HG_R_NONE, 0, "target", NULL, 0}}
#define SIG_P_S {O_P, O_Q("s")}
#define SIG_P_A_B {O_P, O_Q("a"), O_Q("b")}
#define SIG_GRID {O_P, O_Q("s"), {HG_K_ADDRESS, HG_READ | HG_WRITE, HG_R_U32, 0, "flag", NULL, 0}}
#define SIG_SEL_P {O_P, O_Q("q"), O_Q("a"), O_Q("b")}
#define SIG_BARRIER {{HG_K_U8, 0, HG_R_NONE, 0, "id", NULL, 0}}
#define SIG_MEMFENCE {{HG_K_SCOPE, 0, HG_R_NONE, 0, "scope", NULL, 0}}
#define SIG_REDUCE_REGS {O_D, O_R("first"), {HG_K_U8, 0, HG_R_NONE, 0, "count", NULL, 0}}
#define SIG_REDUCE_MEM {O_D, {HG_K_ADDRESS, HG_READ, HG_R_T, 0, "address", NULL, 0}, O_RN("count")}
#define SIG_POOL_ALLOC {O_HANDLE(HG_WRITE), O_RN("size")}
#define SIG_POOL_ALLOC_CONST {O_POOL, O_RN("size")}
#define SIG_POOL_FREE {O_HANDLE(HG_READ)}
#define SIG_POOL_FREE_CONST {O_POOL}
#define SIG_POOL_LOAD {O_D, O_HANDLE(HG_READ), O_RN("offset")}
#define SIG_POOL_LOAD_CONST {O_D, O_POOL, O_RN("offset")}
#define SIG_POOL_STORE {O_HANDLE(HG_READ), O_RN("offset"), O_R("s")}
#define SIG_POOL_STORE_CONST {O_POOL, O_RN("offset"), O_R("s")}
#define SIG_MAP {O_ARRAY("out", HG_WRITE), O_ARRAY("in", HG_READ), O_OP(HG_R_MAP), O_RN("count")}
#define SIG_MAP_BINARY {O_ARRAY("out", HG_WRITE), O_ARRAY("a", HG_READ), O_ARRAY("b", HG_READ), O_OP(HG_R_BINARY), O_RN("count")}
#define SIG_PREDUCE {O_D, O_ARRAY("in", HG_READ), O_OP(HG_R_REDUCE), O_RN("count")}
#define SIG_PREDUCE_MEM {{HG_K_ADDRESS, HG_WRITE, HG_R_T, 0, "out", NULL, 0}, O_ARRAY("in", HG_READ), O_OP(HG_R_REDUCE), O_RN("count")}
#define SIG_ATOMIC {O_D, {HG_K_ADDRESS, HG_READ | HG_WRITE, HG_R_T, 0, "address", NULL, 0}, O_R("s")}
#define SIG_ATOMIC_CAS {O_D, {HG_K_ADDRESS, HG_READ | HG_WRITE, HG_R_T, 0, "address", NULL, 0}, O_R("expected"), O_R("desired")}
#define SIG_CLS_GET {O_TO(HG_R_U8), {HG_K_REG, HG_READ, HG_R_ANY, 0, "s", NULL, 0}}
#define SIG_CLS_GET_LANE {O_TO(HG_R_U8)}
#define SIG_MIRROR {O_TO(HG_R_U8), O_U8("s")}
#define SIG_UNITY {O_P, O_U8("s")}
#define SIG_UNITY_EPS {O_P, FACTOR_F64("eps")}
#define SIG_NBR_LOAD {O_D, O_U8("cls"), {HG_K_I8, 0, HG_R_NONE, 0, "offset", NULL, 0}}
#define SIG_NBR_STORE {O_U8("cls"), O_R("s"), {HG_K_I8, 0, HG_R_NONE, 0, "offset", NULL, 0}}
#define SIG_NBR_COUNT {O_TO(HG_R_U32), O_U8("s")}
#define SIG_NBR_GET {O_TO(HG_R_U8), O_U8("s"), O_INDEX("index")}
#define SIG_RES_ACCUM {O_TO(HG_R_F64), {HG_K_REG, HG_READ, HG_R_ANY, 0, "s", NULL, 0}, O_INDEX("cls")}
#define SIG_PHASE_READ {O_TO(HG_R_U32), O_INDEX("cls")}
#define SIG_PHASE_WRITE {{HG_K_REG, HG_READ, HG_R_INTEGER, 0, "s", NULL, 0}, O_INDEX("cls")}
#define SIG_PHASE_GET {O_TO(HG_R_U32)}
#define SIG_PHASE_ADV {O_INDEX("delta")}
#define SIG_BOUND_MAP {O_TO(HG_R_U64), {HG_K_REG, HG_READ, HG_R_INTEGER, 0, "s", NULL, 0}}
#define SIG_BOUND_MAP_PARTS {O_TO(HG_R_U64), O_INDEX("cls"), O_INDEX("page"), O_INDEX("byte")}
#define SIG_CHARACTER {O_D, O_INDEX("character"), O_INDEX("cls")}
#define SIG_ORBIT_CLASSIFY {O_TO(HG_R_U8), O_INDEX("coordinate"), O_INDEX("torus")}
#define SIG_ORBIT_REPRESENTATIVE {O_TO(HG_R_U32), O_INDEX("orbit"), O_INDEX("torus")}
#define SIG_MULT_INVERSE {O_TO(HG_R_U32), O_INDEX("unit"), O_INDEX("modulus")}

/* Elements from one row to the next. */
#define LD(name) SIZE_OR_NONE(name, "rows without a gap")
#define FUSION OPERATION_OR("activation", HG_R_MAP, "identity")

/* Matrix products. */
#define GEMM_SIZES SIZE("m"), SIZE("n"), SIZE("k")
#define GEMM_ARRAYS INOUT("c"), INPUT("a"), INPUT("b")
#define GEMM_MATRICES FLAG_OR("trans_a", "false"), FLAG_OR("trans_b", "false"), LD("lda"), LD("ldb"), LD("ldc")
#define GEMM_END INPUT_OR_NONE("bias", "no bias"), FUSION
#define BIAS_STRIDES TUPLE_OR_NONE("bias_strides", 2, "(0, 1)")
#define ACCUMULATE FLAG_OR("accumulate", "false")
#define SIG_GEMM {GEMM_ARRAYS, GEMM_SIZES, FACTOR_OR("alpha", "1"), FACTOR_OR("beta", "0"), GEMM_MATRICES, GEMM_END, BIAS_STRIDES, ACCUMULATE}
#define SIG_BATCHED_GEMM {GEMM_ARRAYS, SIZE("batch"), GEMM_SIZES, FACTOR_OR("alpha", "1"), FACTOR_OR("beta", "0"), GEMM_MATRICES, \
                          TUPLE_OR_NONE("batch_strides", 3, "matrices without a gap"), GEMM_END, BIAS_STRIDES, ACCUMULATE}
#define SIG_MIXED_GEMM {INOUT_OF(HG_R_F32, "c"), INPUT("a"), INPUT("b"), GEMM_SIZES, FACTOR_F32_OR("alpha", "1"), FACTOR_F32_OR("beta", "0"), \
                        GEMM_MATRICES, INPUT_OF_OR_NONE(HG_R_F32, "bias", "no bias"), FUSION, BIAS_STRIDES, ACCUMULATE}
#define SIG_CONV2D {OUTPUT("output"), INPUT("input"), INPUT("kernel"), SIZE("batch"), SIZE("in_channels"), SIZE("out_channels"), SIZE("height"), \
                    SIZE("width"), SIZE("kernel_h"), SIZE("kernel_w"), TUPLE("stride", 2), TUPLE("padding", 2), TUPLE_OR("dilation", 2, "(1, 1)"), \
                    SIZE_OR("groups", "1"), TUPLE_OR_NONE("padding_end", 2, "as padding"), GEMM_END}
/* Along 1 to 3 axes: a number for each. */
#define AXES(name, words) TUPLE_OR_NONE(name, 0, words)
#define WINDOWS TUPLE("size", 0), TUPLE("window", 0), AXES("stride", "1s"), AXES("padding", "0s"), AXES("padding_end", "as padding"), AXES("dilation", "1s")
#define CONV_FIRST OUTPUT("output"), INPUT("input"), INPUT("kernel"), SIZE("batch"), SIZE("in_channels"), SIZE("out_channels"), WINDOWS, \
                   SIZE_OR("groups", "1")
#define SIG_QUANTIZED_GEMM {OUTPUT_OF(HG_R_NONE, "c"), INPUT("a"), INPUT_OF(HG_R_NONE, "b"), FACTOR_F32("a_scale"), FACTOR_F32("b_scale"), \
                            FACTOR_F32("c_scale"), GEMM_SIZES, FACTOR_OR("a_zero", "0"), FACTOR_I8_OR("b_zero", "0"), FACTOR_OR("c_zero", "0"), \
                            FLAG_OR("sums", "false"), FLAG_OR("trans_b", "false"), LD("lda"), LD("ldb"), LD("ldc"), \
                            INPUT_OF_OR_NONE(HG_R_F32, "a_scales", "1s"), INPUT_OF_OR_NONE(HG_R_F32, "b_scales", "1s"), \
                            INPUT_OF_OR_NONE(HG_R_F32, "c_scales", "1s"), INPUT_OR_NONE("a_zeros", "a_zero"), \
                            INPUT_OF_OR_NONE(HG_R_NONE, "b_zeros", "b_zero"), INPUT_OR_NONE("c_zeros", "c_zero"), \
                            TUPLE_OR_NONE("steps", 4, "(1, 1, 1, 0)"), FLAG_OR("b_unsigned", "false"), SIZE_OR_NONE("batch", "one matrix"), \
                            TUPLE_OR_NONE("batch_strides", 3, "matrices without a gap")}
/* Norms and what goes along rows. */
#define ROWS SIZE_OR("rows", "1"), LD("ld"), SIZE_OR("inner", "1")
#define NORM_ARRAYS OUTPUT("output"), INPUT("input"), INPUT("gamma"), INPUT("beta")
#define SIG_SOFTMAX {OUTPUT("output"), INPUT("input"), SIZE("n"), ROWS}
#define GIVES_DEVIATION OUTPUT_OF_OR_NONE(HG_R_WIDE, "inverse_deviation", "not wanted")
#define SIG_LAYER_NORM {NORM_ARRAYS, SIZE("n"), FACTOR("eps"), ROWS, OUTPUT_OF_OR_NONE(HG_R_WIDE, "mean", "not wanted"), GIVES_DEVIATION}
#define SIG_BATCH_NORM {NORM_ARRAYS, INPUT("mean"), INPUT("variance"), SIZE("batch"), SIZE("channels"), SIZE("spatial"), FACTOR("eps"), FUSION}
#define SIG_GROUP_NORM {NORM_ARRAYS, SIZE("batch"), SIZE("channels"), SIZE("groups"), SIZE("spatial"), FACTOR("eps"), FUSION}
#define SIG_LAYER_SCALE {OUTPUT("output"), INPUT("input"), INPUT("scale"), SIZE("n"), SIZE_OR("rows", "1")}
#define SIG_ROPE {OUTPUT("output"), INPUT("input"), INPUT("freqs"), SIZE("batch"), SIZE("seq_len"), SIZE("heads"), SIZE("head_dim"), \
                  SIZE_OR("position", "0"), FLAG_OR("halves", "false"), INPUT_OR_NONE("sin", "that of the angle"), SIZE_OR_NONE("rotary_dim", "head_dim"), \
                  TUPLE_OR_NONE("freqs_strides", 2, "no gaps"), TUPLE_OR_NONE("sin_strides", 2, "no gaps"), TUPLE_OR_NONE("input_strides", 3, "no gaps"), \
                  TUPLE_OR_NONE("output_strides", 3, "no gaps")}
#define SIG_KV_CACHE_UPDATE {INOUT("cache"), INPUT("new_kv"), SIZE("position"), SIZE("batch"), SIZE("heads"), SIZE("head_dim"), SIZE_OR("seq_len", "1")}
#define DEVICES TUPLE_OR_NONE("devices", 0, "all of the communicator")
#define SIG_ALL_REDUCE {INOUT("buffer"), SIZE("n"), OPERATION("operation", HG_R_REDUCE), DEVICES}
#define SIG_ALL_GATHER {OUTPUT("output"), INPUT("input"), SIZE("n"), DEVICES}
#define SIG_REDUCE_SCATTER {OUTPUT("output"), INPUT("input"), SIZE("n"), OPERATION("operation", HG_R_REDUCE), DEVICES}
#define SIG_BROADCAST {INOUT("buffer"), SIZE("n"), SIZE_OR("root", "0"), DEVICES}

/* Orders of rows. */
#define ORDERED_ARRAYS OUTPUT_OR_NONE("output", "indices alone"), OUTPUT_OF_OR_NONE(HG_R_NONE, "indices", "no indices"), INPUT("input")
#define ORDERED_ROWS SIZE_OR("outer", "1"), SIZE_OR("inner", "1")
#define SIG_SORT {ORDERED_ARRAYS, SIZE("n"), ORDERED_ROWS, FLAG_OR("descending", "false"), FLAG_OR("wide", "false")}
#define SIG_TOP_K {ORDERED_ARRAYS, SIZE("n"), SIZE("k"), ORDERED_ROWS, FLAG_OR("smallest", "false"), FLAG_OR("wide", "false")}

/* Attention. */
#define ATTENTION_FIRST OUTPUT("output"), INPUT("query"), INPUT("key"), INPUT("value"), SIZE("batch"), SIZE("heads"), SIZE("seq_len"), SIZE("head_dim")
#define ATTENTION_END SIZE_OR_NONE("kv_heads", "heads"), SIZE_OR_NONE("kv_len", "seq_len"), FLAG_OR("causal", "false"), INPUT_OR_NONE("mask", "no mask"), \
                      TUPLE_OR_NONE("mask_strides", 2, "the same mask for all"), FACTOR_F64_OR_NONE("scale", "1 / sqrt(head_dim)"), \
                      SIZE_OR_NONE("value_dim", "head_dim"), TUPLE_OR_NONE("query_strides", 3, "without gaps"), TUPLE_OR_NONE("key_strides", 3, "without gaps"), \
                      TUPLE_OR_NONE("value_strides", 3, "without gaps"), TUPLE_OR_NONE("output_strides", 3, "without gaps"), FLAG_OR("from_start", "false"), \
                      INPUT_OF_OR_NONE(HG_R_NONE, "lengths", "kv_len of each batch"), FLAG_OR("wide", "false"), SIZE_OR_NONE("mask_row", "kv_len"), \
                      INPUT_OF_OR_NONE(HG_R_U8, "seen", "all keys"), TUPLE_OR_NONE("seen_strides", 3, "without gaps"), FACTOR_F64_OR("softcap", "0"), \
                      OUTPUT_OR_NONE("scores", "no scores"), FLAG_OR("products", "false"), FLAG_OR("masked", "false")
#define SIG_ATTENTION {ATTENTION_FIRST, ATTENTION_END}
#define SIG_FLASH_ATTENTION {ATTENTION_FIRST, SIZE("block_size"), ATTENTION_END}

#define SIG_FFT {OUTPUT("output"), INPUT("input"), SIZE("n"), FLAG("inverse"), SIZE_OR("batch", "1"), FLAG_OR("real", "false"), SIZE_OR("inner", "1")}
/* clang-format on */

enum {
    T_NONE = HG_T_NONE,
    T_ALL = HG_T_ALL,
    T_INTEGER = HG_T_INTEGER,
    T_FLOAT = HG_T_FLOAT,
    T_ATOMIC = HG_T_ATOMIC,
    T_CHARACTER = HG_T_CHARACTER,
    T_UNSIGNED = HG_T_UNSIGNED,
    T_REAL = HG_T_REAL,
    T_HALF = HG_T_HALF,
    T_BYTE = HG_T_BYTE,
    T_WORD = HG_T_WORD,
    T_INDEX = HG_T_INDEX,
    T_ORDERED = HG_T_ORDERED,
    T_CONVERTED = HG_T_CONVERTED,
    T_TWICE = HG_T_TWICE,
    T_WIDER = HG_T_WIDER,
    T_NARROWER = HG_T_NARROWER,
    T_PATTERN = HG_T_PATTERN,
    EXACT = HG_NUMBERS_EXACT,
    ULP1 = HG_NUMBERS_ULP1,
    ULP2 = HG_NUMBERS_ULP2,
    BOUNDED = HG_NUMBERS_BOUNDED,
    F_TYPE_OPTIONAL = HG_F_TYPE_OPTIONAL,
    F_DERIVED = HG_F_DERIVED,
    F_COLLECTIVE = HG_F_COLLECTIVE,
    F_POOL = HG_F_POOL,
    F_MAY_FAULT = HG_F_MAY_FAULT,
    F_CONTROL = HG_F_CONTROL,
    F_BARRIER = HG_F_BARRIER,
    F_SHARED = HG_F_SHARED,
    F_PRIVATE = HG_F_PRIVATE,
    F_DEFAULT_F32 = HG_F_DEFAULT_F32,
    F_STATE = HG_F_STATE,
    F_NUMBER = HG_F_NUMBER,
    F_RUN = HG_F_RUN,
    F_ATOMIC = HG_F_ATOMIC,
    F_ATLAS = HG_F_ATLAS,
    F_BLOCK = HG_F_BLOCK
};

#define HAS_NO_OPERANDS(op) ((op) == HG_OP_RET || (op) == HG_OP_EXIT || (op) == HG_OP_BAR_GRID)
#define OPERAND_COUNT(...) (sizeof((hg_operand_info[])__VA_ARGS__) / sizeof(hg_operand_info))
#define HG_OP(code, ident, mnemonic, sig, type_set, bits, accuracy, about)                       \
    [HG_OP_##ident] = {.opcode = (code),                                                         \
                       .flags = (bits),                                                          \
                       .types = (type_set),                                                      \
                       .type_count = (type_set) == T_NONE       ? 0                              \
                                     : (type_set) < T_CONVERTED ? 1                              \
                                                                : 2,                             \
                       .numbers = (accuracy),                                                    \
                       .operand_count = HAS_NO_OPERANDS(HG_OP_##ident) ? 0 : OPERAND_COUNT(sig), \
                       .id = #ident,                                                             \
                       .text = (mnemonic),                                                       \
                       .doc = (about),                                                           \
                       .operands = (const hg_operand_info[])sig},
static const hg_op_info TABLE[HG_OP_COUNT] = {
#include "isa.def"
};
#undef HG_OP
#define HG_OP(code, ident, mnemonic, sig, type_set, bits, accuracy, about) \
    _Static_assert(OPERAND_COUNT(sig) <= HG_MAX_OPERANDS, #ident " has too many operands");
#include "isa.def"
#undef HG_OP

enum { CONDITION_ANY = 0, CONDITION_UNSIGNED = 1 };
static const struct {
    const char *text;
    bool is_unsigned;
} CONDITIONS[] = {
#define HG_CONDITION(id, text, numbers) {text, CONDITION_##numbers},
#include "opname.def"
#undef HG_CONDITION
};
static const char *const SCOPES[] = {
#define HG_SCOPE(id, text) text,
#include "opname.def"
#undef HG_SCOPE
};
static const struct {
    const char *text;
    uint8_t type, part, axis, scope;
} IDNAMES[] = {
#define HG_IDNAME(id, text, type, part, axis, scope) \
    {text, HG_TYPE_##type, HG_PART_##part, axis, HG_SCOPE_##scope},
#include "opname.def"
#undef HG_IDNAME
};
enum { GROUP_MAP = 1, GROUP_BINARY = 2, GROUP_REDUCE = 4, GROUP_BOTH = 6 };
static const struct {
    const char *text;
    uint8_t group;
    uint8_t op;
} OPNAMES[] = {
#define HG_OPNAME(id, text, group, op) {text, GROUP_##group, HG_OP_##op},
#include "opname.def"
#undef HG_OPNAME
};

const hg_special hg_specials[HG_SPECIAL_COUNT] = {{"lane", 252, HG_ID_LANE_IDX_X},
                                                  {"block", 253, HG_ID_BLOCK_IDX_X},
                                                  {"lanes", 254, HG_ID_BLOCK_DIM_X},
                                                  {"global", 255, HG_ID_GLOBAL_LANE_ID}};

const hg_op_info *hg_op_get(hg_op op) { return &TABLE[op]; }

hg_op hg_op_from_opcode(uint16_t opcode) {
    for (int i = 0; i < HG_OP_COUNT; i++)
        if (TABLE[i].opcode == opcode) return (hg_op)i;
    return HG_OP_NONE;
}

static bool same(const char *word, const char *text, size_t length) {
    return strncmp(word, text, length) == 0 && word[length] == '\0';
}

hg_op hg_op_next_form(hg_op op) {
    for (int i = (int)op + 1; i < HG_OP_COUNT; i++)
        if (strcmp(TABLE[i].text, TABLE[op].text) == 0) return (hg_op)i;
    return HG_OP_NONE;
}

hg_op hg_op_folds_with(hg_op op) {
    switch (op) {
    case HG_OP_BREDUCE_ADD:
    case HG_OP_BSCAN_ADD:
    case HG_OP_REDUCE_ADD:
    case HG_OP_REDUCE_ADD_MEM: return HG_OP_ADD;
    case HG_OP_BREDUCE_MIN:
    case HG_OP_BSCAN_MIN:
    case HG_OP_REDUCE_MIN:
    case HG_OP_REDUCE_MIN_MEM: return HG_OP_MIN;
    case HG_OP_BREDUCE_MAX:
    case HG_OP_BSCAN_MAX:
    case HG_OP_REDUCE_MAX:
    case HG_OP_REDUCE_MAX_MEM: return HG_OP_MAX;
    case HG_OP_BREDUCE_MUL:
    case HG_OP_BSCAN_MUL:
    case HG_OP_REDUCE_MUL:
    case HG_OP_REDUCE_MUL_MEM: return HG_OP_MUL;
    case HG_OP_BREDUCE_AND:
    case HG_OP_BSCAN_AND: return HG_OP_AND;
    case HG_OP_BREDUCE_OR:
    case HG_OP_BSCAN_OR: return HG_OP_OR;
    case HG_OP_BREDUCE_XOR:
    case HG_OP_BSCAN_XOR: return HG_OP_XOR;
    default: return HG_OP_NONE;
    }
}

bool hg_op_is_scan(hg_op op) {
    return (TABLE[op].flags & HG_F_BLOCK) && TABLE[op].operand_count > 2 &&
           TABLE[op].operands[2].kind == HG_K_BOOL;
}

uint32_t hg_op_block_bytes(hg_op op, hg_type type) {
    if (!(TABLE[op].flags & HG_F_BLOCK)) return 0;
    bool of_predicates = op == HG_OP_BLOCK_ANY || op == HG_OP_BLOCK_ALL;
    uint32_t size = of_predicates ? 4 : (uint32_t)hg_type_size_bytes(type);
    return (size < 4 ? 4 : size) * (op == HG_OP_SHUFFLE ? 1 : 2);
}

static bool is_half(hg_type type) { return type == HG_TYPE_F16 || type == HG_TYPE_BF16; }

/* Of two types that are converted into each other. */
static bool is_wider(hg_type wide, hg_type narrow) {
    if (hg_type_is_integer(wide) && hg_type_is_integer(narrow))
        return hg_type_size_bytes(wide) > hg_type_size_bytes(narrow);
    return wide == HG_TYPE_F32 && is_half(narrow);
}

bool hg_op_allows_types(hg_op op, hg_type type, hg_type type2) {
    if (type >= HG_TYPE_COUNT || type2 >= HG_TYPE_COUNT) return false;
    switch ((hg_type_set)TABLE[op].types) {
    case HG_T_CONVERTED: return true;
    case HG_T_TWICE:
        return hg_type_is_integer(type) && hg_type_is_integer(type2) &&
               hg_type_is_signed(type2) == hg_type_is_signed(type) &&
               2 * hg_type_size_bytes(type2) == hg_type_size_bytes(type);
    case HG_T_WIDER: return is_wider(type, type2);
    case HG_T_NARROWER: return is_wider(type2, type);
    case HG_T_PATTERN:
        return hg_type_is_float(type) != hg_type_is_float(type2) &&
               hg_type_size_bytes(type) == hg_type_size_bytes(type2);
    default: return false;
    }
}

/* Whether any second type goes with a first one. */
static bool has_second(hg_op op, hg_type type) {
    for (int t = 0; t < HG_TYPE_COUNT; t++)
        if (hg_op_allows_types(op, type, (hg_type)t)) return true;
    return false;
}

bool hg_op_allows_type(hg_op op, hg_type type) {
    switch ((hg_type_set)TABLE[op].types) {
    case HG_T_NONE: return false;
    case HG_T_ALL: return type < HG_TYPE_COUNT;
    case HG_T_INTEGER: return hg_type_is_integer(type);
    case HG_T_FLOAT: return hg_type_is_float(type);
    case HG_T_ATOMIC:
        return type == HG_TYPE_I32 || type == HG_TYPE_U32 || type == HG_TYPE_I64 ||
               type == HG_TYPE_U64;
    case HG_T_CHARACTER: return type == HG_TYPE_I128 || type == HG_TYPE_F64;
    case HG_T_UNSIGNED: return hg_type_is_unsigned(type);
    case HG_T_REAL: return type == HG_TYPE_F32 || type == HG_TYPE_F64;
    case HG_T_HALF: return type == HG_TYPE_F16 || type == HG_TYPE_BF16;
    case HG_T_BYTE: return type == HG_TYPE_I8 || type == HG_TYPE_U8;
    case HG_T_WORD: return type == HG_TYPE_I32 || type == HG_TYPE_U32;
    case HG_T_INDEX: return hg_type_is_integer(type) && hg_type_size_bytes(type) <= 8;
    case HG_T_ORDERED: return hg_type_size_bytes(type) <= 8;
    case HG_T_CONVERTED: return type < HG_TYPE_COUNT;
    case HG_T_TWICE:
    case HG_T_WIDER:
    case HG_T_NARROWER:
    case HG_T_PATTERN: return has_second(op, type);
    }
    return false;
}

const char *hg_op_types_text(hg_op op) {
    switch ((hg_type_set)TABLE[op].types) {
    case HG_T_NONE: return "no type";
    case HG_T_ALL: return "all types";
    case HG_T_INTEGER: return "integers";
    case HG_T_FLOAT: return "f16, bf16, f32 and f64";
    case HG_T_ATOMIC: return "i32, u32, i64 and u64";
    case HG_T_CHARACTER: return "i128 and f64";
    case HG_T_UNSIGNED: return "unsigned integers";
    case HG_T_REAL: return "f32 and f64";
    case HG_T_HALF: return "f16 and bf16";
    case HG_T_BYTE: return "i8 and u8";
    case HG_T_WORD: return "i32 and u32";
    case HG_T_INDEX: return "integers of up to 64 bits";
    case HG_T_ORDERED: return "types of up to 64 bits";
    case HG_T_CONVERTED: return "all types";
    case HG_T_TWICE: return "integers of 16 bits and more, from the one of half the width";
    case HG_T_WIDER: return "integers of 16 bits and more, and f32";
    case HG_T_NARROWER: return "integers of up to 2,048 bits, f16 and bf16";
    case HG_T_PATTERN: return "floats and integers of 16, 32 and 64 bits";
    }
    return "";
}

const char *hg_op_second_text(hg_op op) {
    switch ((hg_type_set)TABLE[op].types) {
    case HG_T_TWICE:
        return "the first type has twice the width of the second, and both or neither are signed";
    case HG_T_WIDER:
        return "the first type is an integer and the second a narrower one, or f32 and f16 or bf16";
    case HG_T_NARROWER:
        return "the second type is an integer and the first a narrower one, or f32 and f16 or bf16";
    case HG_T_PATTERN: return "one type is a float, the other an integer of its width";
    default: return hg_op_types_text(op);
    }
}

hg_op hg_op_access(hg_op op) {
    switch (op) {
    case HG_OP_LDG_WIDE: return HG_OP_LDG;
    case HG_OP_STG_NARROW: return HG_OP_STG;
    case HG_OP_LDS_WIDE: return HG_OP_LDS;
    case HG_OP_STS_NARROW: return HG_OP_STS;
    case HG_OP_LDP_WIDE: return HG_OP_LDP;
    case HG_OP_STP_NARROW: return HG_OP_STP;
    default: return op;
    }
}

const char *hg_condition_name(hg_condition c) { return CONDITIONS[c].text; }
hg_condition hg_condition_plain(hg_condition c) {
    switch (c) {
    case HG_COND_LTU: return HG_COND_LT;
    case HG_COND_LEU: return HG_COND_LE;
    case HG_COND_GTU: return HG_COND_GT;
    case HG_COND_GEU: return HG_COND_GE;
    default: return c;
    }
}

hg_condition hg_condition_opposite(hg_condition c) {
    static const uint8_t OF[HG_COND_COUNT] = {
        [HG_COND_EQ] = HG_COND_NE,   [HG_COND_NE] = HG_COND_EQ,   [HG_COND_LT] = HG_COND_GE,
        [HG_COND_LE] = HG_COND_GT,   [HG_COND_GT] = HG_COND_LE,   [HG_COND_GE] = HG_COND_LT,
        [HG_COND_LTU] = HG_COND_GEU, [HG_COND_LEU] = HG_COND_GTU, [HG_COND_GTU] = HG_COND_LEU,
        [HG_COND_GEU] = HG_COND_LTU};
    return (hg_condition)OF[c];
}

bool hg_condition_is_unsigned(hg_condition c) { return CONDITIONS[c].is_unsigned; }
const char *hg_scope_name(hg_scope s) { return SCOPES[s]; }
const char *hg_opname_name(hg_opname o) { return OPNAMES[o].text; }
const char *hg_idname_name(hg_idname i) { return IDNAMES[i].text; }
hg_type hg_idname_type(hg_idname i) { return (hg_type)IDNAMES[i].type; }
hg_id_part hg_idname_part(hg_idname i) { return (hg_id_part)IDNAMES[i].part; }
uint32_t hg_idname_axis(hg_idname i) { return IDNAMES[i].axis; }
hg_scope hg_idname_scope(hg_idname i) { return (hg_scope)IDNAMES[i].scope; }

bool hg_condition_from_text(const char *text, size_t length, hg_condition *c) {
    for (int i = 0; i < HG_COND_COUNT; i++)
        if (same(CONDITIONS[i].text, text, length)) {
            *c = (hg_condition)i;
            return true;
        }
    return false;
}
bool hg_scope_from_text(const char *text, size_t length, hg_scope *s) {
    for (int i = 0; i < HG_SCOPE_COUNT; i++)
        if (same(SCOPES[i], text, length)) {
            *s = (hg_scope)i;
            return true;
        }
    return false;
}
bool hg_idname_from_text(const char *text, size_t length, hg_idname *i) {
    for (int k = 0; k < HG_ID_COUNT; k++)
        if (same(IDNAMES[k].text, text, length)) {
            *i = (hg_idname)k;
            return true;
        }
    return false;
}
bool hg_opname_from_text(const char *text, size_t length, hg_opname *o) {
    for (int i = 0; i < HG_OPNAME_COUNT; i++)
        if (same(OPNAMES[i].text, text, length)) {
            *o = (hg_opname)i;
            return true;
        }
    return false;
}

bool hg_opname_is_map(hg_opname o) { return (OPNAMES[o].group & GROUP_MAP) != 0; }
bool hg_opname_is_binary(hg_opname o) { return (OPNAMES[o].group & GROUP_BINARY) != 0; }
bool hg_opname_is_reduce(hg_opname o) { return (OPNAMES[o].group & GROUP_REDUCE) != 0; }
bool hg_opname_fits(hg_opname o, hg_type_rule rule) {
    return rule == HG_R_MAP      ? hg_opname_is_map(o)
           : rule == HG_R_BINARY ? hg_opname_is_binary(o)
                                 : hg_opname_is_reduce(o);
}
hg_op hg_opname_op(hg_opname o) { return (hg_op)OPNAMES[o].op; }

bool hg_opname_allows_type(hg_opname o, hg_type type) {
    hg_op op = hg_opname_op(o);
    return op != HG_OP_NONE ? hg_op_allows_type(op, type)
                            : o == HG_OPNAME_RELU || hg_type_is_float(type);
}
