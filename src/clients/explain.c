/* Lowers a program as a launch does, and reads what the analysis of uniformity found at the accesses and branches of each
 * instruction, before types and operations are made those of a target: what holds there holds on every device. */
#include "clients/explain.h"
#include "isa/cfg.h"
#include "isa/live.h"
#include "kir/access.h"
#include "kir/analysis/analysis.h"
#include "kir/pipeline/pipeline.h"
#include "plan/plan.h"

static hg_reach reach_of(const kir_value *v, int64_t *stride) {
    kir_access at = kir_access_of(v);
    *stride = 0;
    if (!at.index_args) return HG_REACH_UNIFORM;
    const kir_value *index = v->args[at.index];
    if (index->op == KIR_CONST || index->uniformity == KIR_UNIFORM) return HG_REACH_UNIFORM;
    if (index->uniformity == KIR_BLOCK_UNIFORM) return HG_REACH_BLOCK;
    if (index->uniformity != KIR_AFFINE) return HG_REACH_GATHERED;
    *stride = index->op == KIR_ID ? 1 : index->stride;
    return *stride == (int64_t)kir_access_size(v) ? HG_REACH_CONTIGUOUS : HG_REACH_STRIDED;
}

static void note_access(const kir_value *v, hg_explained *e) {
    int64_t stride;
    hg_reach reach = reach_of(v, &stride);
    if (v->u.mem.space == KIR_BUFFER && v->u.mem.class_id != KIR_PLAN_NONE) return; /* the plan's own memory */
    if (e->reach == HG_REACH_NONE) e->unchecked = true;
    if ((uint8_t)reach > e->reach) {
        e->reach = (uint8_t)reach;
        e->stride = stride;
    }
    e->unchecked = e->unchecked && v->u.mem.unchecked;
    e->open = e->open || ((v->u.mem.space == KIR_BUFFER || v->u.mem.space == KIR_POOL) && v->u.mem.slot == KIR_OPEN) ||
              v->u.mem.space == KIR_FLAT;
}

static void note_branch(const kir_value *v, hg_explained *e) {
    uint8_t found = v->args[0]->uniformity == KIR_UNIFORM         ? HG_WAY_UNIFORM
                    : v->args[0]->uniformity == KIR_BLOCK_UNIFORM ? HG_WAY_BLOCK
                                                                  : HG_WAY_DIVERGENT;
    if (v->args[0]->op == KIR_CONST) found = HG_WAY_UNIFORM;
    if (found > e->way) e->way = found;
}

/* The loop that a branch out of it, or back to its start, belongs to. */
static const kir_value *loop_around(const kir_value *v) {
    const kir_region *r = v->parent;
    while (r->owner && r->owner->op != KIR_LOOP) r = r->owner->parent;
    return r->owner;
}

static void note_value(const kir_value *v, const hg_program *p, uint32_t kernel, hg_explained *list) {
    if (!v->inst || v->inst > p->inst_count) return;
    uint32_t inst = v->inst - 1;
    hg_explained *e = &list[inst];
    e->kept = true;
    if (e->kernel == UINT32_MAX) e->kernel = kernel;
    if (kir_is_access(v)) note_access(v, e);
    uint16_t op = p->insts[inst].op;
    if (v->op != KIR_IF || !(hg_op_get((hg_op)op)->flags & HG_F_CONTROL)) return;
    note_branch(v, e);
    const kir_value *loop = loop_around(v);
    if (op != HG_OP_BRA && loop && loop->u.loop.rounds > e->rounds) e->rounds = loop->u.loop.rounds;
}

static hg_status explain_kernel(kir_module *m, const hg_program *p, uint32_t kernel, hg_explained *list) {
    kir_compilation c = {0};
    kir_module *low = NULL;
    HG_TRY(kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_KERNEL, m, &low));
    bool owned = low != m;
    hg_status status = kir_pass_run(&c, KIR_STAGE_LOW, KIR_PASS_UNIFORMITY, &low, &owned);
    if (status == HG_OK) kir_find_rounds(low);
    for (kir_function *f = low->functions; f && status == HG_OK; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) note_value(v, p, kernel, list);
    if (owned) kir_module_destroy(low);
    return status;
}

static hg_status explain_plan(const hg_plan *plan, const hg_program *p, hg_explained *list) {
    for (uint32_t i = 0; i < plan->kernels.count; i++) HG_TRY(explain_kernel(plan->kernels.data[i].module, p, i, list));
    for (uint64_t i = 0; i < plan->steps.count; i++) list[plan->steps.data[i].inst].kept = true;
    return HG_OK;
}

hg_status hg_explain(const hg_program *program, hg_explained *list, uint32_t *kernels) {
    hg_cfg *cfg = NULL;
    kir_module *module = NULL;
    hg_plan *plan = NULL;
    HG_TRY(hg_verify(program, NULL, NULL, &cfg));
    uint16_t *live = hg_calloc((size_t)program->inst_count + 1, sizeof *live);
    hg_status status = live ? hg_live_registers(cfg, live) : hg_fail_memory();
    for (uint32_t i = 0; i < program->inst_count && status == HG_OK; i++) list[i] = (hg_explained){.live = live[i], .kernel = UINT32_MAX};
    kir_compilation c = {.program = cfg};
    if (status == HG_OK) status = kir_pipeline_run(&c, KIR_STAGE_PROGRAM, KIR_STAGE_PROGRAM, NULL, &module);
    if (status == HG_OK) status = plan_build(module, PLAN_READS_INPUTS, &plan);
    if (status == HG_OK) {
        module = NULL; /* the plan's now */
        *kernels = (uint32_t)plan->kernels.count;
        status = explain_plan(plan, program, list);
    }
    hg_free(live);
    plan_destroy(plan);
    kir_module_destroy(module);
    hg_cfg_destroy(cfg);
    return status;
}
