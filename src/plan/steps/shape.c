/* Shapes of arrays, and how a call that cannot be is refused: what collectives are written with.
 * Must not know: what a collective does. */
#include "plan/steps/expansion.h"
#include "kir/fault_text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void plan_refuse(const plan_call *call, plan_problem *problem, uint8_t code, uint32_t operand,
                 const char *format, ...) {
    const hg_op_info *row = hg_op_get((hg_op)call->op);
    const hg_operand_info *info = operand < row->operand_count ? &row->operands[operand] : NULL;
    va_list list;
    int used = 0;
    if (problem->found) return;
    problem->found = true;
    problem->code = code;
    problem->operand = info ? (uint8_t)(operand + 1) : 0;
    if (info && (info->access & HG_NAMED))
        used = snprintf(problem->message, sizeof problem->message, "%s: ", info->name);
    if (used < 0 || used >= (int)sizeof problem->message) used = 0;
    va_start(list, format);
    vsnprintf(problem->message + used, sizeof problem->message - (size_t)used, format, list);
    va_end(list);
}

/* ---- arrays ---- */

uint32_t plan_operand_named(const plan_call *call, const char *name) {
    const hg_op_info *row = hg_op_get((hg_op)call->op);
    uint32_t i = 0;
    while (i < row->operand_count && strcmp(row->operands[i].name, name) != 0) i++;
    return i;
}

uint64_t plan_named(const plan_call *call, const char *name) {
    return plan_number(call, plan_operand_named(call, name), 0);
}

uint64_t plan_named_or(const plan_call *call, const char *name, uint64_t missing) {
    uint32_t operand = plan_operand_named(call, name);
    return plan_is_given(call, operand) ? plan_number(call, operand, 0) : missing;
}

uint64_t plan_row_stride(const plan_call *call, uint32_t operand, uint64_t columns) {
    return plan_is_given(call, operand) ? plan_number(call, operand, 0) : columns;
}

void plan_check_row(const plan_call *call, plan_problem *problem, uint32_t operand,
                    uint64_t columns) {
    uint64_t stride = plan_row_stride(call, operand, columns);
    if (stride < columns)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, operand,
                    "%llu elements from one row to the next, at least %llu expected",
                    (unsigned long long)stride, (unsigned long long)columns);
}

void plan_strides_of(const plan_call *call, const char *name, uint32_t count,
                     const uint64_t *inside, uint64_t *strides) {
    uint32_t operand = plan_operand_named(call, name);
    bool given = call->operands[operand].count == count;
    for (uint32_t i = count; i-- > 0;)
        strides[i] = given            ? plan_number(call, operand, i)
                     : i + 1 == count ? inside[i]
                                      : plan_times(strides[i + 1], inside[i]);
}

void plan_check_strides(const plan_call *call, plan_problem *problem, const char *name,
                        uint32_t count, const char *what) {
    uint32_t operand = plan_operand_named(call, name), found = call->operands[operand].count;
    if (found != 0 && found != count)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, operand, "%u strides, %u expected: %s",
                    (unsigned)found, (unsigned)count, what);
}

void plan_check_apart(const plan_call *call, plan_problem *problem, uint32_t operand,
                      const uint64_t extents[3], const uint64_t strides[3], uint64_t inside) {
    uint64_t left[3] = {extents[0], extents[1], extents[2]};
    if (!left[0] || !left[1] || !left[2] || !inside) return;
    for (uint32_t done = 0; done < 3; done++) {
        uint32_t least = 3;
        for (uint32_t i = 0; i < 3; i++)
            if (left[i] && (least == 3 || strides[i] < strides[least])) least = i;
        if (left[least] > 1) {
            if (strides[least] < inside) {
                plan_refuse(call, problem, KIR_FAULT_DOMAIN, operand,
                            "a stride of %llu, at least %llu expected: elements lie on others",
                            (unsigned long long)strides[least], (unsigned long long)inside);
                return;
            }
            uint64_t span = plan_times(left[least] - 1, strides[least]);
            inside = span > UINT64_MAX - inside ? UINT64_MAX : span + inside;
        }
        left[least] = 0;
    }
}

uint64_t plan_times(uint64_t x, uint64_t y) {
    uint64_t result;
    return hg_mul_u64(x, y, &result) ? result : UINT64_MAX;
}

uint64_t plan_plus(uint64_t x, uint64_t y) {
    uint64_t result;
    return hg_add_u64(x, y, &result) ? result : UINT64_MAX;
}

plan_array *plan_array_of(const plan_call *call, uint32_t operand) {
    for (uint32_t i = 0; i < call->array_count; i++)
        if (call->arrays[i].operand == operand) return &call->arrays[i];
    return NULL;
}

void plan_array_shape(plan_array *a, uint8_t rank, const uint64_t *extents) {
    uint64_t stride = hg_type_size_bytes((hg_type)a->type);
    a->rank = rank;
    for (uint8_t i = rank; i-- > 0;) {
        a->extents[i] = extents[i];
        a->strides[i] = stride > INT64_MAX ? INT64_MAX : (int64_t)stride;
        if (!hg_mul_u64(stride, extents[i], &stride))
            stride = UINT64_MAX; /* then the span is too large too, unless there is nothing */
    }
}

void plan_array_strides(plan_array *a, uint8_t rank, const uint64_t *extents,
                        const int64_t *strides) {
    int64_t size = (int64_t)hg_type_size_bytes((hg_type)a->type);
    a->rank = rank;
    for (uint8_t i = 0; i < rank; i++) {
        a->extents[i] = extents[i];
        a->strides[i] = strides[i] > INT64_MAX / size      ? INT64_MAX
                        : strides[i] < -(INT64_MAX / size) ? -INT64_MAX
                                                           : strides[i] * size;
    }
}

bool plan_array_span(plan_array *a) {
    uint64_t low = 0, high = hg_type_size_bytes((hg_type)a->type);
    bool fits = true;
    a->before = a->bytes = 0;
    for (uint8_t i = 0; i < a->rank; i++)
        if (a->extents[i] == 0) return true;
    for (uint8_t i = 0; i < a->rank && fits; i++) {
        uint64_t size = a->strides[i] < 0 ? 0 - (uint64_t)a->strides[i] : (uint64_t)a->strides[i],
                 way;
        uint64_t *side = a->strides[i] < 0 ? &low : &high;
        fits = hg_mul_u64(a->extents[i] - 1, size, &way) && hg_add_u64(*side, way, side);
    }
    fits = fits && high <= INT64_MAX && low <= INT64_MAX - high;
    a->before = fits ? low : 0;
    a->bytes = fits ? low + high : UINT64_MAX;
    return fits;
}

hg_u128 plan_array_exact_bytes(const plan_array *a) {
    const hg_u128 most = ~(hg_u128)0;
    hg_u128 bytes = hg_type_size_bytes((hg_type)a->type);
    for (uint8_t i = 0; i < a->rank; i++)
        if (a->extents[i] == 0) return 0;
    for (uint8_t i = 0; i < a->rank; i++) {
        uint64_t stride = a->strides[i] < 0 ? 0 - (uint64_t)a->strides[i] : (uint64_t)a->strides[i];
        hg_u128 way = (hg_u128)(a->extents[i] - 1) * stride;
        bytes = way > most - bytes ? most : bytes + way;
    }
    return bytes;
}

uint64_t plan_call_bytes(const plan_call *call) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < call->array_count; i++) all += call->arrays[i].bytes;
    return all;
}

bool plan_array_same_shape(const plan_array *x, const plan_array *y) {
    return x->type == y->type && x->rank == y->rank && x->before == y->before &&
           memcmp(x->extents, y->extents, x->rank * sizeof *x->extents) == 0 &&
           memcmp(x->strides, y->strides, x->rank * sizeof *x->strides) == 0;
}

/* ---- a call ---- */

void plan_call_shape(const plan_collective *of, plan_call *call, plan_problem *problem) {
    problem->found = problem->span = false;
    if (of->check) of->check(call, problem);
    if (problem->found) return;
    of->ranges(call);
    for (uint32_t i = 0; i < call->array_count; i++) {
        uint64_t elements = 1;
        plan_array *a = &call->arrays[i];
        if (plan_array_span(a)) continue;
        for (uint8_t d = 0; d < a->rank; d++)
            if (!hg_mul_u64(elements, a->extents[d], &elements)) elements = UINT64_MAX;
        plan_refuse(call, problem, KIR_FAULT_BOUNDS, a->operand,
                    "buffer access out of bounds: %llu elements of %s",
                    (unsigned long long)elements, hg_type_name((hg_type)a->type));
        problem->span = true;
        return;
    }
}
