/* What a step becomes, without a launch: for those who only look at programs. */
#include "plan/steps/steps.h"
#include <string.h>

/* What an argument is in the example. */
static void fill(const hg_plan *plan, const plan_step *step, const kir_step_operand *o,
                 uint64_t number, uint64_t **words) {
    for (uint32_t i = 0; i < o->arg_count; i++) {
        const plan_env *e = &plan->env.data[step->args[o->first_arg + i]];
        uint64_t size = kir_type_bytes(e->type);
        if (e->init == PLAN_INIT_CONST)
            memcpy(*words, e->bytes ? (const void *)e->bytes : &e->value, (size_t)size);
        else if (o->kind == KIR_STEP_COUNT || o->kind == KIR_STEP_TUPLE)
            **words = number;
        *words += (size + 7) / 8;
    }
}

static hg_status expand_with(const hg_plan *plan, const plan_step *step, uint64_t number,
                             plan_expansion *x, plan_problem *problem) {
    uint64_t constants[HG_MAX_OPERANDS];
    plan_operand operands[HG_MAX_OPERANDS];
    plan_array arrays[HG_MAX_OPERANDS];
    plan_call call;
    uint64_t *words = hg_calloc(plan_step_words(plan, step) + (size_t)1, sizeof *words),
             *at = words;
    if (!words) return hg_fail_memory();
    for (uint32_t i = 0; i < step->info->count; i++)
        fill(plan, step, &step->info->operands[i], number, &at);
    plan_call_make(plan, step, words, constants, operands, arrays, 1, &call, problem);
    if (!problem->found) plan_collective_of((hg_op)step->op)->expand(&call, x);
    hg_free(words);
    return x->failed ? hg_fail_memory() : HG_OK;
}

hg_status plan_expand_example(const hg_plan *plan, const plan_step *step, plan_expansion *x,
                              plan_problem *problem) {
    enum { SEVERAL_LEVELS = 4097 };
    HG_TRY(expand_with(plan, step, SEVERAL_LEVELS, x, problem));
    return problem->found ? expand_with(plan, step, 1, x, problem) : HG_OK;
}
