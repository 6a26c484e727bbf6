/* Calls: a step with the values of one execution.
 * Must not know: what a collective does. */
#include "plan/steps/steps.h"
#include "kir/fault_text.h"
#include <string.h>

static uint32_t words_of(const hg_plan *plan, const plan_step *step, uint32_t arg) {
    return (uint32_t)((kir_type_bytes(plan->env.data[step->args[arg]].type) + 7) / 8);
}

uint32_t plan_step_words(const hg_plan *plan, const plan_step *step) {
    uint32_t words = 0;
    for (uint32_t i = 0; i < step->arg_count; i++) words += words_of(plan, step, i);
    return words;
}

static uint16_t function_of(const plan_step *step) {
    hg_op fold = hg_op_folds_with((hg_op)step->op);
    hg_opname name = kir_step_name(step->info);
    if (fold != HG_OP_NONE) return (uint16_t)fold;
    return name == HG_OPNAME_COUNT ? (uint16_t)HG_OP_NONE : kir_fn_of_name(name);
}

static void add_array(plan_call *call, uint32_t operand, uint8_t access,
                      const kir_step_operand *place) {
    hg_type type = hg_element_type(call->type, HG_TYPE_COUNT,
                                   &hg_op_get((hg_op)call->op)->operands[operand]);
    call->arrays[call->array_count++] = (plan_array){.operand = (uint8_t)operand,
                                                     .type = type < HG_TYPE_COUNT ? (uint8_t)type
                                                                                  : call->type,
                                                     .read = (access & HG_READ) != 0,
                                                     .written = (access & HG_WRITE) != 0,
                                                     .place = place};
}

/* The operands' words and the arrays; shapes are still to come. */
static void add_operands(const hg_plan *plan, const plan_step *step, const uint64_t *words,
                         uint64_t *constants, plan_operand *operands, plan_call *call) {
    const hg_op_info *row = hg_op_get((hg_op)step->op);
    const kir_step_operand *given[HG_MAX_OPERANDS] = {NULL};
    memset(operands, 0, row->operand_count * sizeof *operands);
    for (uint32_t i = 0; i < step->info->count; i++) {
        const kir_step_operand *o = &step->info->operands[i];
        plan_operand *to = &operands[o->operand - 1];
        given[o->operand - 1] = o;
        to->words = words;
        for (uint32_t a = 0; a < o->arg_count; a++)
            to->count += words_of(plan, step, o->first_arg + a);
        words += to->count;
        if (o->kind != KIR_STEP_NUMBER && o->kind != KIR_STEP_NAME) continue;
        constants[o->operand - 1] = o->value;
        *to = (plan_operand){&constants[o->operand - 1], 1};
    }
    for (uint32_t i = 0; i < row->operand_count; i++) {
        bool result = i == 0 && step->result != HG_PLAN_NO_ENV;
        if (given[i] ? given[i]->kind == KIR_STEP_ARRAY : result)
            add_array(call, i, row->operands[i].access, given[i]);
    }
}

void plan_call_make(const hg_plan *plan, const plan_step *step, const uint64_t *words,
                    uint64_t *constants, plan_operand *operands, plan_array *arrays, uint32_t ranks,
                    plan_call *call, plan_problem *problem) {
    const plan_collective *of = plan_collective_of((hg_op)step->op);
    *call = (plan_call){.op = step->op,
                        .fn = function_of(step),
                        .type = step->atlas_type,
                        .relaxed = plan->relaxed,
                        .ranks = ranks,
                        .operands = operands,
                        .arrays = arrays};
    add_operands(plan, step, words, constants, operands, call);
    plan_call_shape(of, call, problem);
}
