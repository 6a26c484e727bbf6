/* max_pool, avg_pool: the library program pool.atlas. A lane has an element of the output. */
#include "plan/steps/windows.h"

static void windows_of(const plan_call *call, plan_window w[PLAN_AXES]) {
    plan_named_windows(call, w);
    for (uint32_t i = 0; i < PLAN_AXES; i++) w[i].out = plan_axis_number(call, "out", i, w[i].out);
}

/* A lane looks at each place of its window, those of the padding too, and counts in 32 bits. */
static void check_places(const plan_call *call, plan_problem *problem) {
    enum { MOST = UINT32_MAX >> 1 };
    uint32_t window = plan_operand_named(call, "window");
    plan_window w[PLAN_AXES];
    uint64_t places = 1;
    plan_named_windows(call, w);
    for (uint32_t i = 0; i < PLAN_AXES; i++) {
        places = plan_times(places, w[i].window);
        if (plan_reach(&w[i]) > MOST)
            plan_refuse(call, problem, KIR_FAULT_DOMAIN, window,
                        "covers %llu of an axis, at most 2^31 - 1 expected",
                        (unsigned long long)plan_reach(&w[i]));
    }
    if (places > MOST)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, window,
                    "has %llu places, at most 2^31 - 1 expected", (unsigned long long)places);
}

/* Windows that are told may end behind the padding, but begin in front of its end. */
static void check(const plan_call *call, plan_problem *problem) {
    plan_window w[PLAN_AXES];
    if (!plan_is_given(call, plan_operand_named(call, "out"))) {
        plan_check_windows(call, problem);
        if (!problem->found) check_places(call, problem);
        return;
    }
    if (!plan_check_axes(call, problem) || !plan_check_axis_numbers(call, problem, "out", 0))
        return;
    check_places(call, problem);
    windows_of(call, w);
    for (uint32_t i = 0; i < PLAN_AXES; i++)
        if (w[i].out && plan_times(w[i].out - 1, w[i].stride) >= plan_padded(&w[i]))
            plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "out"),
                        "window %llu begins behind an axis that has %llu with its padding",
                        (unsigned long long)w[i].out, (unsigned long long)plan_padded(&w[i]));
}

static void ranges(plan_call *call) {
    plan_window w[PLAN_AXES];
    uint64_t planes = plan_named(call, "planes");
    windows_of(call, w);
    plan_shape_windows(call, "input", planes, UINT64_MAX, w, PLAN_SIZES);
    plan_shape_windows(call, "output", planes, UINT64_MAX, w, PLAN_OUTS);
    if (call->op != HG_OP_MAX_POOL) return;
    plan_array *places = plan_array_of(call, plan_operand_named(call, "places"));
    if (places) places->type = HG_TYPE_I64;
    plan_shape_windows(call, "places", planes, UINT64_MAX, w, PLAN_OUTS);
}

/* How many elements the output has. */
static uint64_t outputs(const plan_call *call, const plan_window w[PLAN_AXES]) {
    uint64_t all = plan_named(call, "planes");
    for (uint32_t i = 0; i < PLAN_AXES; i++) all = plan_times(all, w[i].out);
    return all;
}

/* Said here, as texts of hologram build have no more of types than their numbers and sizes. */
static bool is_float(uint8_t type) {
    return type == HG_TYPE_F16 || type == HG_TYPE_BF16 || type == HG_TYPE_F32 ||
           type == HG_TYPE_F64;
}

static void expand(const plan_call *call, plan_expansion *x) {
    enum { LANES = 32, SHORT = 24, VALUES = 2 + 7 * PLAN_AXES };
    plan_window w[PLAN_AXES];
    windows_of(call, w);
    uint64_t count = outputs(call, w), row = w[PLAN_AXES - 1].out, values[VALUES];
    bool largest = call->op == HG_OP_MAX_POOL, flat = x->open || row < SHORT,
         places = largest && plan_array_of(call, plan_operand_named(call, "places")),
         dilated = x->open ? plan_is_given(call, plan_operand_named(call, "dilation"))
                           : w[0].dilation != 1 || w[1].dilation != 1 || w[2].dilation != 1,
         counted = !largest && plan_named(call, "counted");
    plan_part parts[3] = {plan_part_named(call, "input"), plan_part_named(call, "output")};
    if (places) parts[2] = plan_part_named(call, "places");
    if (count == 0) return;
    uint64_t parts_of_row = (row - 1) / LANES + 1;
    values[0] = parts_of_row;
    values[1] = count;
    for (uint32_t i = 0; i < PLAN_AXES; i++) {
        values[2 + i] = w[i].size;
        values[5 + i] = w[i].out;
        values[8 + i] = w[i].window;
        values[11 + i] = w[i].stride;
        values[14 + i] = w[i].before;
        values[17 + i] = w[i].after;
        values[20 + i] = w[i].dilation;
    }
    plan_kernel_key key = plan_library_key(
        LIBRARY_POOL, (hg_type)call->type, HG_OP_MOV,
        (int32_t[]){largest, counted, is_float(call->type), places, flat, dilated}, places ? 3 : 2,
        VALUES);
    x->work = plan_times(plan_times(count, w[0].window), plan_times(w[1].window, w[2].window));
    if (flat)
        plan_expand_launch(x, &key, count, LANES, 0, parts, values);
    else
        plan_expand_grid(x, &key, (uint64_t[]){plan_times(count / row, parts_of_row), 1, 1},
                         (uint32_t[]){LANES, 1, 1}, 0, parts, values);
}

static plan_cost cost(const plan_call *call) {
    plan_window w[PLAN_AXES];
    windows_of(call, w);
    uint64_t work = outputs(call, w);
    for (uint32_t i = 0; i < PLAN_AXES; i++) work = plan_times(work, w[i].window);
    return (plan_cost){plan_call_bytes(call), work};
}

const plan_collective plan_collective_pool = {.check = check,
                                              .ranges = ranges,
                                              .expand = expand,
                                              .cost = cost,
                                              .overlap = PLAN_OVERLAP_NEVER};
