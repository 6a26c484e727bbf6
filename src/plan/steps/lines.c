#include "plan/steps/lines.h"

plan_lines plan_named_lines(const plan_call *call) {
    return (plan_lines){.outer = plan_named(call, "outer"),
                        .n = plan_named(call, "n"),
                        .inner = plan_named(call, "inner")};
}

void plan_shape_lines(const plan_call *call, const char *name, const plan_lines *lines) {
    plan_array_shape(plan_array_of(call, plan_operand_named(call, name)), 3,
                     (const uint64_t[]){lines->outer, lines->n, lines->inner});
}

bool plan_lines_are_none(const plan_lines *lines) {
    return lines->outer == 0 || lines->n == 0 || lines->inner == 0;
}

int32_t plan_fold_number(uint16_t fn) {
    return fn == HG_OP_ADD ? 0 : fn == HG_OP_MUL ? 1 : fn == HG_OP_MIN ? 2 : 3;
}
