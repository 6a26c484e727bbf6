/* The operator table: 24 operations on 12 types, each a program that is ready to run.
 *
 *   hg_program *add;
 *   hg_status s = hg_operator_program(hg_operator_find("Add", HG_TYPE_F32), &add);
 *
 * binds as any program does, through hg_params by the names of docs/reference/operators.md, and is
 * released with hg_program_release.
 *
 * Values. A program gives what the instructions give on its type (docs/reference/isa.md), so
 * integers wrap and a division by zero is a fault, and:
 *   - Sigmoid, Tanh, Exp, Log, Sin and Cos of integers are those of F64: converted to F64 (64-bit
 * ones are rounded once), computed, and converted back, which truncates toward zero, saturates, and
 * turns NaN into 0.
 *   - MatMul, GEMM and Conv add products in rising order of the summed index, each product and each
 * sum rounded; F16 and BF16 do all of it in F32 and round once at the end.
 *   - ReduceSum, ReduceMax, ReduceMin: the one tree of parallel_reduce. ReduceMean of floats: the
 * sum, divided by n; F16 and BF16 add and divide in F32 and round once. ReduceMean of integers: the
 * exact sum (modulo 2^64 for 64-bit types) divided by n, truncated. n = 0: NaN for floats, the
 * fault `division by zero` for integers.
 *   - ArgMax, ArgMin: the lowest index of an element that no other exceeds, as u64. NaNs count as
 * missing, -0 as 0. Nothing left: 0.
 *   - GEMM: beta 0 does not read c. Conv: cross-correlation; what lies outside of the input counts
 * as 0; a stride of 0 is a fault. */
#ifndef HOLOGRAM_OPERATORS_H
#define HOLOGRAM_OPERATORS_H

#include <hologram/program.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HG_OPERATOR_OPERATIONS = 24, HG_OPERATOR_TYPES = 12, HG_OPERATOR_COUNT = 288 };

/** A kernel of the table. Static. */
typedef struct hg_operator {
    const char *operation; /**< "Add", "ReduceSum", … */
    const char *category;  /**< "arithmetic", "activation", "transcendental", "linear algebra",
                              "reduction", "shape" */
    const char *embedding; /**< "ElementWise", "CharacterBasis", "Orbit" */
    const char *const *generators; /**< "TorusAdd", … in the order they are applied; NULL ends the
                                      list */
    const char *lifting;           /**< "Standard", "CharacterBasis", "Orbit" */
    const char *parameters; /**< "a[n], b[n] -> output[n]": arrays read -> arrays written; then
                               scalars */
    hg_type type;
} hg_operator;

/**
 * The kernel of an operation, spelled as in the table, on a type: f16, bf16, f32, f64, and the
 * integers of 8 to 64 bits.
 * @return NULL where there is none; hg_last_error says why: `unknown operation: add` or `operation
 * Add has no kernel for type i128` Constant time, thread-safe.
 */
HG_API const hg_operator *hg_operator_find(const char *operation, hg_type type);
/** True for the 288 pairs. Leaves hg_last_error alone. Thread-safe. */
HG_API bool hg_operator_supported(const char *operation, hg_type type);
/** The i-th kernel, operation by operation in the order of the table; NULL when i is not below
 * HG_OPERATOR_COUNT. */
HG_API const hg_operator *hg_operator_at(size_t i);
/**
 * The kernel's program, verified, its metadata the record. Programs of one kernel are equal, so
 * backends lower them once.
 * @param record  NULL is HG_ERROR_ISA with the message of hg_operator_find, so the two calls can be
 * nested
 * @return HG_OK and a program that the caller releases; HG_ERROR_INVALID_ARGUMENT: program is NULL;
 * HG_ERROR_OUT_OF_MEMORY
 * Thread-safe; takes some 50 microseconds: keep the program where that matters.
 */
HG_API hg_status hg_operator_program(const hg_operator *record, hg_program **program) HG_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
