/* Calls of single operations on tensors, included by ops.h: generated, written by tools/generate from operations.def. */
#ifndef HOLOGRAM_OPS_CALLS_H
#define HOLOGRAM_OPS_CALLS_H

#include <hologram/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A + b: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_add(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_ADD, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_add_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_ADD, inputs, 2, NULL, &target, 1);
}
/** A - b: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_sub(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_SUB, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_sub_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_SUB, inputs, 2, NULL, &target, 1);
}
/** A * b: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_mul(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_MUL, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_mul_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_MUL, inputs, 2, NULL, &target, 1);
}
/** A / b; of integers as floats: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_div(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_DIV, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_div_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_DIV, inputs, 2, NULL, &target, 1);
}
/** A / b toward minus infinity; integers divided by 0 are a fault: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_floor_divide(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_FLOOR_DIVIDE, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_floor_divide_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_FLOOR_DIVIDE, inputs, 2, NULL, &target, 1);
}
/** A - floor(a / b) * b, with the sign of b: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_remainder(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_REMAINDER, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_remainder_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_REMAINDER, inputs, 2, NULL, &target, 1);
}
/** A to the power b; integers wrap, and are 0 for a negative b unless a is 1 or -1: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_pow(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_POW, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_pow_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_POW, inputs, 2, NULL, &target, 1);
}
/** The larger; NaN where one is NaN: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_maximum(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_MAXIMUM, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_maximum_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_MAXIMUM, inputs, 2, NULL, &target, 1);
}
/** The smaller; NaN where one is NaN: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_minimum(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_MINIMUM, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_minimum_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_MINIMUM, inputs, 2, NULL, &target, 1);
}
/** Angle of the point (b, a) in radians: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_atan2(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_ATAN2, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_atan2_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_ATAN2, inputs, 2, NULL, &target, 1);
}
/** Square root of a * a + b * b without overflow: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_hypot(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_HYPOT, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_hypot_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_HYPOT, inputs, 2, NULL, &target, 1);
}
/** Log(exp(a) + exp(b)) without overflow: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_logaddexp(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_LOGADDEXP, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_logaddexp_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_LOGADDEXP, inputs, 2, NULL, &target, 1);
}
/** A with the sign of b: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_copysign(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_COPYSIGN, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_copysign_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_COPYSIGN, inputs, 2, NULL, &target, 1);
}
/** A == b, as bool: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_equal(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_EQUAL, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_equal_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_EQUAL, inputs, 2, NULL, &target, 1);
}
/** A != b, as bool: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_not_equal(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_NOT_EQUAL, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_not_equal_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_NOT_EQUAL, inputs, 2, NULL, &target, 1);
}
/** A < b, as bool: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_less(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_LESS, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_less_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_LESS, inputs, 2, NULL, &target, 1);
}
/** A <= b, as bool: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_less_equal(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_LESS_EQUAL, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_less_equal_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_LESS_EQUAL, inputs, 2, NULL, &target, 1);
}
/** A > b, as bool: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_greater(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_GREATER, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_greater_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_GREATER, inputs, 2, NULL, &target, 1);
}
/** A >= b, as bool: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_greater_equal(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_GREATER_EQUAL, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_greater_equal_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_GREATER_EQUAL, inputs, 2, NULL, &target, 1);
}
/** Whether both are not 0: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_logical_and(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_LOGICAL_AND, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_logical_and_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_LOGICAL_AND, inputs, 2, NULL, &target, 1);
}
/** Whether one is not 0: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_logical_or(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_LOGICAL_OR, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_logical_or_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_LOGICAL_OR, inputs, 2, NULL, &target, 1);
}
/** Whether exactly one is not 0: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_logical_xor(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_LOGICAL_XOR, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_logical_xor_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_LOGICAL_XOR, inputs, 2, NULL, &target, 1);
}
/** Whether it is 0: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_logical_not(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_LOGICAL_NOT, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_logical_not_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_LOGICAL_NOT, inputs, 1, NULL, &target, 1);
}
/** A & b: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_bitwise_and(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_BITWISE_AND, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_bitwise_and_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_BITWISE_AND, inputs, 2, NULL, &target, 1);
}
/** A | b: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_bitwise_or(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_BITWISE_OR, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_bitwise_or_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_BITWISE_OR, inputs, 2, NULL, &target, 1);
}
/** A ^ b: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_bitwise_xor(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_BITWISE_XOR, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_bitwise_xor_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_BITWISE_XOR, inputs, 2, NULL, &target, 1);
}
/** ~a: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_bitwise_invert(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_BITWISE_INVERT, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_bitwise_invert_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_BITWISE_INVERT, inputs, 1, NULL, &target, 1);
}
/** A << b; 0 where b is not below the width: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_bitwise_left_shift(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_BITWISE_LEFT_SHIFT, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_bitwise_left_shift_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_BITWISE_LEFT_SHIFT, inputs, 2, NULL, &target, 1);
}
/** A >> b, arithmetic for signed types: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_bitwise_right_shift(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_BITWISE_RIGHT_SHIFT, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_bitwise_right_shift_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_BITWISE_RIGHT_SHIFT, inputs, 2, NULL, &target, 1);
}
/** |a|: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_abs(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ABS, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_abs_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ABS, inputs, 1, NULL, &target, 1);
}
/** -a: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_neg(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_NEG, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_neg_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_NEG, inputs, 1, NULL, &target, 1);
}
/** A, copied: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_positive(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_POSITIVE, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_positive_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_POSITIVE, inputs, 1, NULL, &target, 1);
}
/** 1, 0 or -1; NaN of NaN: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_sign(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_SIGN, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_sign_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_SIGN, inputs, 1, NULL, &target, 1);
}
/** A * a: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_square(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_SQUARE, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_square_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_SQUARE, inputs, 1, NULL, &target, 1);
}
/** 1 / a: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_reciprocal(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_RECIPROCAL, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_reciprocal_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_RECIPROCAL, inputs, 1, NULL, &target, 1);
}
/** The least whole number not below a: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_ceil(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_CEIL, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_ceil_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_CEIL, inputs, 1, NULL, &target, 1);
}
/** The greatest whole number not above a: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_floor(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_FLOOR, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_floor_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_FLOOR, inputs, 1, NULL, &target, 1);
}
/** The nearest whole number, ties to even: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_round(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ROUND, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_round_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ROUND, inputs, 1, NULL, &target, 1);
}
/** A without its fraction: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_trunc(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_TRUNC, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_trunc_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_TRUNC, inputs, 1, NULL, &target, 1);
}
/** Whether the sign bit is set, of zeros and NaNs too: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_signbit(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_SIGNBIT, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_signbit_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_SIGNBIT, inputs, 1, NULL, &target, 1);
}
/** Whether it is NaN: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_isnan(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ISNAN, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_isnan_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ISNAN, inputs, 1, NULL, &target, 1);
}
/** Whether it is an infinity: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_isinf(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ISINF, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_isinf_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ISINF, inputs, 1, NULL, &target, 1);
}
/** Whether it is a number: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_isfinite(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ISFINITE, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_isfinite_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ISFINITE, inputs, 1, NULL, &target, 1);
}
/** Square root: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_sqrt(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_SQRT, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_sqrt_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_SQRT, inputs, 1, NULL, &target, 1);
}
/** 1 / square root: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_rsqrt(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_RSQRT, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_rsqrt_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_RSQRT, inputs, 1, NULL, &target, 1);
}
/** Cube root: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_cbrt(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_CBRT, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_cbrt_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_CBRT, inputs, 1, NULL, &target, 1);
}
/** E to the power a: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_exp(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_EXP, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_exp_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_EXP, inputs, 1, NULL, &target, 1);
}
/** 2 to the power a: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_exp2(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_EXP2, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_exp2_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_EXP2, inputs, 1, NULL, &target, 1);
}
/** 10 to the power a: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_exp10(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_EXP10, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_exp10_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_EXP10, inputs, 1, NULL, &target, 1);
}
/** Exp(a) - 1: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_expm1(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_EXPM1, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_expm1_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_EXPM1, inputs, 1, NULL, &target, 1);
}
/** Natural logarithm: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_log(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_LOG, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_log_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_LOG, inputs, 1, NULL, &target, 1);
}
/** Logarithm to base 2: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_log2(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_LOG2, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_log2_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_LOG2, inputs, 1, NULL, &target, 1);
}
/** Logarithm to base 10: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_log10(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_LOG10, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_log10_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_LOG10, inputs, 1, NULL, &target, 1);
}
/** Log(1 + a): hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_log1p(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_LOG1P, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_log1p_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_LOG1P, inputs, 1, NULL, &target, 1);
}
/** Sine of radians: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_sin(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_SIN, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_sin_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_SIN, inputs, 1, NULL, &target, 1);
}
/** Cosine of radians: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_cos(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_COS, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_cos_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_COS, inputs, 1, NULL, &target, 1);
}
/** Tangent of radians: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_tan(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_TAN, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_tan_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_TAN, inputs, 1, NULL, &target, 1);
}
/** Sine of pi a: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_sinpi(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_SINPI, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_sinpi_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_SINPI, inputs, 1, NULL, &target, 1);
}
/** Cosine of pi a: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_cospi(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_COSPI, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_cospi_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_COSPI, inputs, 1, NULL, &target, 1);
}
/** Arc sine: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_asin(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ASIN, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_asin_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ASIN, inputs, 1, NULL, &target, 1);
}
/** Arc cosine: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_acos(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ACOS, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_acos_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ACOS, inputs, 1, NULL, &target, 1);
}
/** Arc tangent: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_atan(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ATAN, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_atan_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ATAN, inputs, 1, NULL, &target, 1);
}
/** Hyperbolic sine: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_sinh(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_SINH, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_sinh_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_SINH, inputs, 1, NULL, &target, 1);
}
/** Hyperbolic cosine: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_cosh(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_COSH, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_cosh_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_COSH, inputs, 1, NULL, &target, 1);
}
/** Hyperbolic tangent: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_tanh(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_TANH, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_tanh_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_TANH, inputs, 1, NULL, &target, 1);
}
/** Inverse hyperbolic sine: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_asinh(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ASINH, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_asinh_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ASINH, inputs, 1, NULL, &target, 1);
}
/** Inverse hyperbolic cosine: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_acosh(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ACOSH, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_acosh_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ACOSH, inputs, 1, NULL, &target, 1);
}
/** Inverse hyperbolic tangent: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_atanh(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ATANH, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_atanh_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ATANH, inputs, 1, NULL, &target, 1);
}
/** Error function: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_erf(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ERF, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_erf_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ERF, inputs, 1, NULL, &target, 1);
}
/** 1 - erf(a): hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_erfc(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ERFC, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_erfc_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ERFC, inputs, 1, NULL, &target, 1);
}
/** 1 / (1 + exp(-a)): hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_sigmoid(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_SIGMOID, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_sigmoid_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_SIGMOID, inputs, 1, NULL, &target, 1);
}
/** A where it is above 0, else 0: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_relu(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_RELU, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_relu_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_RELU, inputs, 1, NULL, &target, 1);
}
/** A / 2 * (1 + erf(a / sqrt 2)): hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_gelu(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_GELU, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_gelu_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_GELU, inputs, 1, NULL, &target, 1);
}
/** Gelu by its formula with tanh: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_gelu_tanh(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_GELU_TANH, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_gelu_tanh_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_GELU_TANH, inputs, 1, NULL, &target, 1);
}
/** A * sigmoid(a): hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_silu(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_SILU, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_silu_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_SILU, inputs, 1, NULL, &target, 1);
}
/** Log(1 + exp(a)) without overflow: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_softplus(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_SOFTPLUS, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_softplus_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_SOFTPLUS, inputs, 1, NULL, &target, 1);
}
/** A, not below b and not above c: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_clip(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_tensor *c, hg_tensor **result) {
    const hg_tensor *inputs[3] = {a, b, c};
    return hg_ops_call(executor, HG_OPS_CLIP, inputs, 3, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_clip_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_tensor *c, hg_tensor *target) {
    const hg_tensor *inputs[3] = {a, b, c};
    return hg_ops_call_into(executor, HG_OPS_CLIP, inputs, 3, NULL, &target, 1);
}
/** Sum over axes, of halves in f32; of integers in i64 or u64, or options.type; 0 of nothing: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_sum(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_SUM, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_sum_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_SUM, inputs, 1, options, &target, 1);
}
/** Product over axes, with the types of sum; 1 of nothing: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_prod(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_PROD, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_prod_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_PROD, inputs, 1, options, &target, 1);
}
/** Sum over axes by the number of elements; f64 of integers; NaN of nothing: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_mean(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_MEAN, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_mean_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_MEAN, inputs, 1, options, &target, 1);
}
/** Mean square of what the mean leaves, over the number less numbers[0], the correction; f64 of integers: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_var(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_VAR, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_var_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_VAR, inputs, 1, options, &target, 1);
}
/** Square root of var: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_std(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_STD, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_std_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_STD, inputs, 1, options, &target, 1);
}
/** The largest over axes; NaN where one is NaN; refuses nothing: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_max(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_MAX, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_max_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_MAX, inputs, 1, options, &target, 1);
}
/** The smallest over axes; NaN where one is NaN; refuses nothing: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_min(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_MIN, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_min_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_MIN, inputs, 1, options, &target, 1);
}
/** Whether all over axes are not 0; true of nothing: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_all(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ALL, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_all_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ALL, inputs, 1, options, &target, 1);
}
/** Whether one over axes is not 0; false of nothing: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_any(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ANY, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_any_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ANY, inputs, 1, options, &target, 1);
}
/** How many over axes are not 0, as i64: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_count_nonzero(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_COUNT_NONZERO, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_count_nonzero_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_COUNT_NONZERO, inputs, 1, options, &target, 1);
}
/** Index of the first largest of an axis, or of all elements in C order, as i64; the first NaN where there is one: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_argmax(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ARGMAX, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_argmax_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ARGMAX, inputs, 1, options, &target, 1);
}
/** Index of the first smallest, as argmax: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_argmin(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ARGMIN, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_argmin_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ARGMIN, inputs, 1, options, &target, 1);
}
/** Logarithm of the sum of exp(a) over axes, without overflow: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_logsumexp(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_LOGSUMEXP, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_logsumexp_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_LOGSUMEXP, inputs, 1, options, &target, 1);
}
/** Over axes: square root of the sum of squares; flag: of the order numbers[0], which may be 0 and infinite: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_vector_norm(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_VECTOR_NORM, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_vector_norm_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_VECTOR_NORM, inputs, 1, options, &target, 1);
}
/** Running sums of an axis, with the types of sum; flag: 0 stands in front: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_cumulative_sum(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_CUMULATIVE_SUM, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_cumulative_sum_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_CUMULATIVE_SUM, inputs, 1, options, &target, 1);
}
/** Running products of an axis, with the types of sum; flag: 1 stands in front: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_cumulative_prod(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_CUMULATIVE_PROD, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_cumulative_prod_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_CUMULATIVE_PROD, inputs, 1, options, &target, 1);
}
/** Each element of an axis, the last by default, less the one before, sizes[0] times or once; of bool whether they differ: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_diff(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_DIFF, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_diff_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_DIFF, inputs, 1, options, &target, 1);
}
/** An axis, the last by default, in rising order, equal ones as they were, NaNs last; flag: descending, NaNs first: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_sort(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_SORT, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_sort_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_SORT, inputs, 1, options, &target, 1);
}
/** Where the elements of sort were in their axis, as i64: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_argsort(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ARGSORT, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_argsort_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ARGSORT, inputs, 1, options, &target, 1);
}
/** The sizes[0] largest of an axis, the last by default, the largest first, and where they were, as i64; flag: the smallest: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_top_k(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **results) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_TOP_K, inputs, 1, options, results, 2);
}
/** The same into tensors: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_top_k_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *const *targets) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_TOP_K, inputs, 1, options, targets, 2);
}
/** Where elements of the second would stand in the first, which has one axis and is sorted, as i64: in front of equal ones; flag: behind them: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_searchsorted(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_SEARCHSORTED, inputs, 2, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_searchsorted_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_SEARCHSORTED, inputs, 2, options, &target, 1);
}
/** Whether an element of the first is one of the second, as bool; NaN is none: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_isin(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_ISIN, inputs, 2, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_isin_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_ISIN, inputs, 2, options, &target, 1);
}
/** Indices of the elements that are not 0, in C order, as i64 [axes, how many]: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_nonzero(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_NONZERO, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_nonzero_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_NONZERO, inputs, 1, options, &target, 1);
}
/** Different elements in rising order, where each is first, of each element which it is, how many there are; each NaN is another: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_unique_all(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **results) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_UNIQUE_ALL, inputs, 1, options, results, 4);
}
/** The same into tensors: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_unique_all_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *const *targets) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_UNIQUE_ALL, inputs, 1, options, targets, 4);
}
/** Different elements, how many there are of each: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_unique_counts(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **results) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_UNIQUE_COUNTS, inputs, 1, options, results, 2);
}
/** The same into tensors: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_unique_counts_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *const *targets) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_UNIQUE_COUNTS, inputs, 1, options, targets, 2);
}
/** Different elements, of each element which it is: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_unique_inverse(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **results) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_UNIQUE_INVERSE, inputs, 1, options, results, 2);
}
/** The same into tensors: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_unique_inverse_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *const *targets) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_UNIQUE_INVERSE, inputs, 1, options, targets, 2);
}
/** Different elements in rising order: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_unique_values(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_UNIQUE_VALUES, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_unique_values_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_UNIQUE_VALUES, inputs, 1, options, &target, 1);
}
/** A times b over a's last axis and b's last but one, batches broadcast; integers wrap: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_matmul(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_MATMUL, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_matmul_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_MATMUL, inputs, 2, NULL, &target, 1);
}
/** Matmul of [batch, m, k] and [batch, k, n]: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_bmm(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_BMM, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_bmm_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_BMM, inputs, 2, NULL, &target, 1);
}
/** Matmul of [m, n] and [n]: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_matvec(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_MATVEC, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_matvec_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_MATVEC, inputs, 2, NULL, &target, 1);
}
/** The sum of a b over pairs of axes: the first half of options.axes of a, the second of b; without, the last sizes[0] (2) of a and the first of b: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_tensordot(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_TENSORDOT, inputs, 2, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_tensordot_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_TENSORDOT, inputs, 2, options, &target, 1);
}
/** The sum of a b along an axis, the last one unless told, both broadcast: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_vecdot(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_VECDOT, inputs, 2, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_vecdot_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_VECDOT, inputs, 2, options, &target, 1);
}
/** A[i] b[j] of vectors: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_outer(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_OUTER, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_outer_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_OUTER, inputs, 2, NULL, &target, 1);
}
/** Vector products along an axis of 3, the last one unless told: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_cross(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_CROSS, inputs, 2, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_cross_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_CROSS, inputs, 2, options, &target, 1);
}
/** The sum of the diagonal numbers[0] to the right of the main one; narrow integers as 64 bits: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_trace(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_TRACE, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_trace_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_TRACE, inputs, 1, options, &target, 1);
}
/** A view of the diagonal numbers[0] to the right of the main one, of the last two axes: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_diagonal(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_DIAGONAL, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_diagonal_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_DIAGONAL, inputs, 1, options, &target, 1);
}
/** A view with the last two axes swapped: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_matrix_transpose(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_MATRIX_TRANSPOSE, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_matrix_transpose_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_MATRIX_TRANSPOSE, inputs, 1, NULL, &target, 1);
}
/** Of the last two axes: numbers[0] 0 is Frobenius, 1, -1 the largest, least sum of a column, inf, -inf of a row: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_matrix_norm(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_MATRIX_NORM, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_matrix_norm_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_MATRIX_NORM, inputs, 1, options, &target, 1);
}
/** Square matrices to the whole power numbers[0]; negative: of the inverse: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_matrix_power(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_MATRIX_POWER, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_matrix_power_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_MATRIX_POWER, inputs, 1, options, &target, 1);
}
/** Determinant, by LU with partial pivoting, in f32 or f64: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_det(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_DET, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_det_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_DET, inputs, 1, NULL, &target, 1);
}
/** X of a x = b, by LU with partial pivoting, in f32 or f64; of a singular matrix infinities or NaN: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_solve(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_SOLVE, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_solve_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_SOLVE, inputs, 2, NULL, &target, 1);
}
/** The inverse: solve with the identity: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_inv(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_INV, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_inv_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_INV, inputs, 1, NULL, &target, 1);
}
/** The real parts, a view; a real tensor itself: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_real(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_REAL, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_real_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_REAL, inputs, 1, NULL, &target, 1);
}
/** The imaginary parts, a view; zeros of a real tensor: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_imag(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_IMAG, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_imag_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_IMAG, inputs, 1, NULL, &target, 1);
}
/** A + b i of real tensors: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_complex(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_COMPLEX, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_complex_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_COMPLEX, inputs, 2, NULL, &target, 1);
}
/** A with its imaginary part negated: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_conj(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_CONJ, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_conj_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_CONJ, inputs, 1, NULL, &target, 1);
}
/** Angle of a in radians: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_angle(hg_executor *executor, const hg_tensor *a, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_ANGLE, inputs, 1, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_angle_into(hg_executor *executor, const hg_tensor *a, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_ANGLE, inputs, 1, NULL, &target, 1);
}
/** Fourier transform along axes[0], usually the last, to complex elements; sizes[0]: of as many elements, cut or with zeros behind them; numbers[0]: hg_fft_norm: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_fft(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_FFT, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_fft_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_FFT, inputs, 1, options, &target, 1);
}
/** The inverse of fft: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_ifft(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_IFFT, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_ifft_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_IFFT, inputs, 1, options, &target, 1);
}
/** The first n / 2 + 1 elements of fft of n real numbers: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_rfft(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_RFFT, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_rfft_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_RFFT, inputs, 1, options, &target, 1);
}
/** The inverse of rfft: sizes[0] real numbers, 2 (n - 1) of n unless told: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_irfft(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_IRFFT, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_irfft_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_IRFFT, inputs, 1, options, &target, 1);
}
/** Fft along several axes, all unless told; sizes: of each: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_fftn(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_FFTN, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_fftn_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_FFTN, inputs, 1, options, &target, 1);
}
/** The inverse of fftn: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_ifftn(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_IFFTN, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_ifftn_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_IFFTN, inputs, 1, options, &target, 1);
}
/** Rfft along the last of several axes, then fft along the others: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_rfftn(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_RFFTN, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_rfftn_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_RFFTN, inputs, 1, options, &target, 1);
}
/** The inverse of rfftn; the last of sizes as sizes[0] of irfft: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_irfftn(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_IRFFTN, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_irfftn_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_IRFFTN, inputs, 1, options, &target, 1);
}
/** Fft of a signal that is its own conjugate backwards, of which the first n are given: sizes[0] real numbers, 2 (n - 1) unless told: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_hfft(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_HFFT, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_hfft_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_HFFT, inputs, 1, options, &target, 1);
}
/** The inverse of hfft: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_ihfft(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_IHFFT, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_ihfft_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_IHFFT, inputs, 1, options, &target, 1);
}
/** Frequencies of the sizes[0] elements of fft, 0 first, then rising and negative ones; numbers[0]: the distance of samples, 1 unless told; f64 or options.type: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_fftfreq(hg_executor *executor, const hg_ops_options *options, hg_tensor **result) {
    return hg_ops_call(executor, HG_OPS_FFTFREQ, NULL, 0, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_fftfreq_into(hg_executor *executor, const hg_ops_options *options, hg_tensor *target) {
    return hg_ops_call_into(executor, HG_OPS_FFTFREQ, NULL, 0, options, &target, 1);
}
/** Frequencies of the elements of rfft of sizes[0] numbers, as fftfreq: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_rfftfreq(hg_executor *executor, const hg_ops_options *options, hg_tensor **result) {
    return hg_ops_call(executor, HG_OPS_RFFTFREQ, NULL, 0, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_rfftfreq_into(hg_executor *executor, const hg_ops_options *options, hg_tensor *target) {
    return hg_ops_call_into(executor, HG_OPS_RFFTFREQ, NULL, 0, options, &target, 1);
}
/** The element of frequency 0 in the middle of axes, of all unless told: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_fftshift(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_FFTSHIFT, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_fftshift_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_FFTSHIFT, inputs, 1, options, &target, 1);
}
/** The inverse of fftshift: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_ifftshift(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_IFFTSHIFT, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_ifftshift_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_IFFTSHIFT, inputs, 1, options, &target, 1);
}
/** X W + b, W of [in, out]: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_fused_linear(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_tensor *c, hg_tensor **result) {
    const hg_tensor *inputs[3] = {a, b, c};
    return hg_ops_call(executor, HG_OPS_FUSED_LINEAR, inputs, 3, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_fused_linear_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_tensor *c, hg_tensor *target) {
    const hg_tensor *inputs[3] = {a, b, c};
    return hg_ops_call_into(executor, HG_OPS_FUSED_LINEAR, inputs, 3, NULL, &target, 1);
}
/** E^(x - m) / sum of e^(x - m) along an axis, m its largest; the last axis unless told: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_softmax(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_SOFTMAX, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_softmax_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_SOFTMAX, inputs, 1, options, &target, 1);
}
/** Log of softmax, without overflow: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_log_softmax(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_LOG_SOFTMAX, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_log_softmax_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_LOG_SOFTMAX, inputs, 1, options, &target, 1);
}
/** Gamma (x - mean) / sqrt(variance + eps) + beta, all but x of a channel, axis 1: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_batch_norm(hg_executor *executor,
    const hg_tensor *a, const hg_tensor *b, const hg_tensor *c, const hg_tensor *d, const hg_tensor *e, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[5] = {a, b, c, d, e};
    return hg_ops_call(executor, HG_OPS_BATCH_NORM, inputs, 5, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_batch_norm_into(hg_executor *executor,
    const hg_tensor *a, const hg_tensor *b, const hg_tensor *c, const hg_tensor *d, const hg_tensor *e, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[5] = {a, b, c, d, e};
    return hg_ops_call_into(executor, HG_OPS_BATCH_NORM, inputs, 5, options, &target, 1);
}
/** Layer_norm of each of sizes[0] groups of channels, axis 1, with gamma and beta of a channel: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_group_norm(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_tensor *c, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[3] = {a, b, c};
    return hg_ops_call(executor, HG_OPS_GROUP_NORM, inputs, 3, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_group_norm_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_tensor *c, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[3] = {a, b, c};
    return hg_ops_call_into(executor, HG_OPS_GROUP_NORM, inputs, 3, options, &target, 1);
}
/** The largest of each window of [batch, channels, size...]; sizes, n of n axes: window, stride (the window), padding, padding behind (the same), dilation, then extents of the result: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_max_pool(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_MAX_POOL, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_max_pool_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_MAX_POOL, inputs, 1, options, &target, 1);
}
/** Max_pool, and of each window where in its plane of size... the largest is, as i64: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_max_pool_places(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **results) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_MAX_POOL_PLACES, inputs, 1, options, results, 2);
}
/** The same into tensors: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_max_pool_places_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *const *targets) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_MAX_POOL_PLACES, inputs, 1, options, targets, 2);
}
/** The mean of each window, as max_pool; flag: padding counts as zeros: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_avg_pool(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_AVG_POOL, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_avg_pool_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_AVG_POOL, inputs, 1, options, &target, 1);
}
/** The largest of each window of the last two axes; sizes: window (2), stride (2; the window unless told), padding (2): hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_max_pool2d(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_MAX_POOL2D, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_max_pool2d_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_MAX_POOL2D, inputs, 1, options, &target, 1);
}
/** The mean of each window; flag: padding counts as zeros: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_avg_pool2d(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_AVG_POOL2D, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_avg_pool2d_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_AVG_POOL2D, inputs, 1, options, &target, 1);
}
/** Max_pool2d of the last axis; sizes: window, stride, padding: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_max_pool1d(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_MAX_POOL1D, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_max_pool1d_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_MAX_POOL1D, inputs, 1, options, &target, 1);
}
/** Avg_pool2d of the last axis; sizes: window, stride, padding: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_avg_pool1d(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call(executor, HG_OPS_AVG_POOL1D, inputs, 1, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_avg_pool1d_into(hg_executor *executor, const hg_tensor *a, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[1] = {a};
    return hg_ops_call_into(executor, HG_OPS_AVG_POOL1D, inputs, 1, options, &target, 1);
}
/** [batch, heads, seq_len, head_dim] whose pairs i and i + r turn by cosines b and sines c of [seq_len, r] or [batch, seq_len, r], 2 r <= head_dim; flag: pairs 2 i and 2 i + 1: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_rope(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_tensor *c, const hg_ops_options *options, hg_tensor **result) {
    const hg_tensor *inputs[3] = {a, b, c};
    return hg_ops_call(executor, HG_OPS_ROPE, inputs, 3, options, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_rope_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, const hg_tensor *c, const hg_ops_options *options, hg_tensor *target) {
    const hg_tensor *inputs[3] = {a, b, c};
    return hg_ops_call_into(executor, HG_OPS_ROPE, inputs, 3, options, &target, 1);
}
/** Rows of a table by their numbers, of which those below 0 count from the end; one that is not there is a fault: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_embedding(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_EMBEDDING, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_embedding_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_EMBEDDING, inputs, 2, NULL, &target, 1);
}
/** Mean of (p - t)^2: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_mse(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_MSE, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_mse_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_MSE, inputs, 2, NULL, &target, 1);
}
/** -mean of t ln p, over all elements: hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_cross_entropy(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_CROSS_ENTROPY, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_cross_entropy_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_CROSS_ENTROPY, inputs, 2, NULL, &target, 1);
}
/** -mean of t ln p + (1 - t) ln(1 - p): hg_ops_call. */
static inline HG_NODISCARD hg_status hg_ops_binary_cross_entropy(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor **result) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call(executor, HG_OPS_BINARY_CROSS_ENTROPY, inputs, 2, NULL, result, 1);
}
/** The same into a tensor: hg_ops_call_into. */
static inline HG_NODISCARD hg_status hg_ops_binary_cross_entropy_into(hg_executor *executor, const hg_tensor *a, const hg_tensor *b, hg_tensor *target) {
    const hg_tensor *inputs[2] = {a, b};
    return hg_ops_call_into(executor, HG_OPS_BINARY_CROSS_ENTROPY, inputs, 2, NULL, &target, 1);
}

#ifdef __cplusplus
}
#endif
#endif
