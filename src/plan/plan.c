/* Builds and frees plans. A module without steps is a plan of one kernel.
 * Requires: verified, simplified module. Provides: see plan.h. */
#include "plan/plan_internal.h"

static hg_status single_kernel(kir_module *module, hg_plan *plan) {
    plan_kernel *kernel = hg_vec_push(&plan->kernels);
    plan_inst *run = hg_vec_push(&plan->code);
    if (!kernel || !run) return hg_fail_memory();
    *run = (plan_inst){PLAN_KERNEL, 0, 0};
    plan_inst *end = hg_vec_push(&plan->code);
    if (!end) return hg_fail_memory();
    *end = (plan_inst){PLAN_END, 0, 0};
    kernel->module = module;
    plan->is_static = true;
    return HG_OK;
}

static bool has_jumps(const hg_plan *plan) {
    for (uint64_t i = 0; i < plan->code.count; i++)
        if (plan->code.data[i].op == PLAN_JUMP || plan->code.data[i].op == PLAN_JUMP_UNLESS)
            return true;
    return false;
}

uint32_t plan_needs(const hg_plan *plan, const plan_inst *inst, const uint32_t **entries) {
    switch ((plan_op)inst->op) {
    case PLAN_KERNEL: {
        const plan_list *inputs = &plan->kernels.data[inst->index].inputs;
        *entries = inputs->count ? &plan->refs.data[inputs->first] : NULL;
        return inputs->count;
    }
    case PLAN_STEP:
        *entries = plan->steps.data[inst->index].args;
        return plan->steps.data[inst->index].arg_count;
    case PLAN_JUMP_UNLESS: *entries = &inst->index; return 1;
    case PLAN_COMPUTE: /* what it reads it made itself */
    case PLAN_JUMP:
    case PLAN_END: break;
    }
    *entries = NULL;
    return 0;
}

bool plan_waits(const hg_plan *plan, const plan_inst *inst) {
    const uint32_t *entries;
    for (uint32_t i = 0, count = plan_needs(plan, inst, &entries); i < count; i++)
        if (plan->env.data[entries[i]].writer == PLAN_BY_KERNEL) return true;
    return false;
}

static bool is_static(const hg_plan *plan) {
    for (uint64_t i = 0; i < plan->code.count; i++)
        if (plan_waits(plan, &plan->code.data[i])) return false;
    return !has_jumps(plan);
}

hg_status plan_build(kir_module *module, plan_reads reads, hg_plan **result) {
    hg_plan *plan = hg_calloc(1, sizeof *plan);
    hg_status status = HG_OK;
    if (!plan) return hg_fail_memory();
    plan->reads = reads;
    plan->relaxed = module->relaxed;
    if (!module->has_step) {
        status = single_kernel(module, plan);
        if (status != HG_OK) plan->kernels.count = 0; /* the module stays the caller's */
    } else {
        plan_splitter s = {.plan = plan, .module = module, .main = module->functions};
        plan_split(&s);
        if (!s.failed) plan_find_host(&s);
        if (!s.failed) plan_emit(&s);
        if (!s.failed) plan_make_kernels(&s);
        hg_vec_free(&s.segments);
        hg_vec_free(&s.carriers);
        hg_vec_free(&s.variables);
        hg_vec_free(&s.marks);
        if (s.failed) status = hg_fail_memory();
        plan->is_static = !s.failed && is_static(plan);
    }
    if (status != HG_OK) {
        plan_destroy(plan);
        return status;
    }
    if (module->has_step) kir_module_destroy(module);
    *result = plan;
    return HG_OK;
}

void plan_destroy(hg_plan *plan) {
    if (!plan) return;
    for (uint64_t i = 0; i < plan->kernels.count; i++)
        kir_module_destroy(plan->kernels.data[i].module);
    hg_vec_free(&plan->code);
    hg_vec_free(&plan->kernels);
    hg_vec_free(&plan->steps);
    hg_vec_free(&plan->env);
    hg_vec_free(&plan->operations);
    hg_vec_free(&plan->refs);
    hg_arena_free(&plan->arena);
    hg_free(plan);
}
