/* Windows that move along axes: how calls tell them, and which cannot be. */
#include "plan/steps/windows.h"

uint64_t plan_reach(const plan_window *w) {
    return plan_plus(plan_times(w->window - 1, w->dilation), 1);
}
uint64_t plan_padded(const plan_window *w) {
    return plan_plus(plan_plus(w->size, w->before), w->after);
}

static uint32_t axes_of(const plan_call *call) {
    return call->operands[plan_operand_named(call, "size")].count;
}

uint64_t plan_axis_number(const plan_call *call, const char *name, uint32_t axis,
                          uint64_t missing) {
    uint32_t operand = plan_operand_named(call, name), lacking = PLAN_AXES - axes_of(call);
    if (axis < lacking || !plan_is_given(call, operand)) return missing;
    return plan_number(call, operand, axis - lacking);
}

void plan_named_windows(const plan_call *call, plan_window windows[PLAN_AXES]) {
    for (uint32_t i = 0; i < PLAN_AXES; i++) {
        plan_window *w = &windows[i];
        w->size = plan_axis_number(call, "size", i, 1);
        w->window = plan_axis_number(call, "window", i, 1);
        w->stride = plan_axis_number(call, "stride", i, 1);
        w->before = plan_axis_number(call, "padding", i, 0);
        w->after = plan_axis_number(call, "padding_end", i, w->before);
        w->dilation = plan_axis_number(call, "dilation", i, 1);
        uint64_t reach = plan_reach(w), padded = plan_padded(w);
        w->out = reach <= padded ? (padded - reach) / w->stride + 1 : 0;
    }
}

bool plan_check_axis_numbers(const plan_call *call, plan_problem *problem, const char *name,
                             uint64_t least) {
    uint32_t operand = plan_operand_named(call, name), count = call->operands[operand].count,
             axes = axes_of(call);
    if (count != axes && count != 0) {
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, operand,
                    "%u numbers, %u expected: one for each of size", (unsigned)count,
                    (unsigned)axes);
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        if (plan_number(call, operand, i) < least || plan_number(call, operand, i) > INT64_MAX / 8)
            plan_refuse(call, problem, KIR_FAULT_DOMAIN, operand, "%llu, %llu to 2^60 - 1 expected",
                        (unsigned long long)plan_number(call, operand, i),
                        (unsigned long long)least);
    return !problem->found;
}

bool plan_check_axes(const plan_call *call, plan_problem *problem) {
    uint32_t axes = axes_of(call), window = plan_operand_named(call, "window");
    if (axes < 1 || axes > PLAN_AXES) {
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "size"),
                    "%u numbers, 1 to 3 expected", (unsigned)axes);
        return false;
    }
    if (call->operands[window].count == 0) {
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, window,
                    "0 numbers, %u expected: one for each of size", (unsigned)axes);
        return false;
    }
    return plan_check_axis_numbers(call, problem, "size", 0) &&
           plan_check_axis_numbers(call, problem, "window", 1) &&
           plan_check_axis_numbers(call, problem, "stride", 1) &&
           plan_check_axis_numbers(call, problem, "padding", 0) &&
           plan_check_axis_numbers(call, problem, "padding_end", 0) &&
           plan_check_axis_numbers(call, problem, "dilation", 1);
}

void plan_check_windows(const plan_call *call, plan_problem *problem) {
    plan_window windows[PLAN_AXES];
    if (!plan_check_axes(call, problem)) return;
    plan_named_windows(call, windows);
    for (uint32_t i = 0; i < PLAN_AXES; i++)
        if (plan_reach(&windows[i]) > plan_padded(&windows[i]))
            plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "window"),
                        "covers %llu of an axis that has %llu with its padding",
                        (unsigned long long)plan_reach(&windows[i]),
                        (unsigned long long)plan_padded(&windows[i]));
}

void plan_shape_windows(const plan_call *call, const char *name, uint64_t first, uint64_t second,
                        const plan_window windows[PLAN_AXES], plan_window_extent which) {
    uint64_t extents[2 + PLAN_AXES] = {first, second};
    uint8_t rank = second == UINT64_MAX ? 1 : 2;
    plan_array *a = plan_array_of(call, plan_operand_named(call, name));
    if (!a) return;
    for (uint32_t i = PLAN_AXES - axes_of(call); i < PLAN_AXES; i++)
        extents[rank++] = which == PLAN_SIZES     ? windows[i].size
                          : which == PLAN_WINDOWS ? windows[i].window
                                                  : windows[i].out;
    plan_array_shape(a, rank, extents);
}
