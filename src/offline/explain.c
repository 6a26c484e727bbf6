/* Lowers a program as a launch does, and reads what the analysis of uniformity found at the
 * accesses and branches of each instruction, before types and operations are made those of a
 * target: what holds there holds on every device. */
#include "offline/explain.h"
#include "isa/cfg.h"
#include "isa/live.h"
#include "kir/access.h"
#include "kir/analysis/analysis.h"
#include "kir/pipeline/pipeline.h"
#include "plan/plan.h"
#include "vector/vector.h"

#include <stdio.h>

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
    if (v->u.mem.space == KIR_BUFFER && v->u.mem.class_id != KIR_PLAN_NONE)
        return; /* the plan's own memory */
    if (e->reach == HG_REACH_NONE) e->unchecked = true;
    if ((uint8_t)reach > e->reach) {
        e->reach = (uint8_t)reach;
        e->stride = stride;
    }
    e->unchecked = e->unchecked && v->u.mem.unchecked;
    e->open = e->open ||
              ((v->u.mem.space == KIR_BUFFER || v->u.mem.space == KIR_POOL) &&
               v->u.mem.slot == KIR_OPEN) ||
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

static void note_value(const kir_value *v, const hg_program *p, uint32_t kernel,
                       hg_explained *list) {
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

static hg_status explain_kernel(kir_module *m, const hg_program *p, uint32_t kernel,
                                hg_explained *list) {
    kir_compilation c = {0};
    kir_module *low = NULL;
    HG_TRY(kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_KERNEL, m, &low));
    bool owned = low != m;
    hg_status status = kir_pass_run(&c, KIR_STAGE_LOW, KIR_PASS_UNIFORMITY, &low, &owned);
    if (status == HG_OK) kir_find_rounds(low);
    for (kir_function *f = low->functions; f && status == HG_OK; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            note_value(v, p, kernel, list);
    if (owned) kir_module_destroy(low);
    return status;
}

/* ---- native code ---- */

typedef struct native {
    tile_level level;
    const hg_explain_native *by;
    uint32_t kernel; /* that is looked at */
} native;

static hg_reach native_reach(const vec_value *v) {
    switch ((vec_reach)v->u.mem.reach) {
    case VEC_REACH_ONE: return HG_REACH_UNIFORM;
    case VEC_REACH_ROW: return HG_REACH_CONTIGUOUS;
    case VEC_REACH_STRIDE: return HG_REACH_STRIDED;
    default: return HG_REACH_GATHERED;
    }
}

/* Of two forms of one access the dearer is the one behind a failed guess. */
static void note_native_access(const vec_value *v, hg_explained *e) {
    uint8_t reach = (uint8_t)native_reach(v), old = e->native_reach;
    e->native_masked = e->native_masked || v->mask;
    if (old == HG_REACH_NONE || reach == old) {
        e->native_reach = reach;
        return;
    }
    e->native_reach = reach > old ? reach : old;
    e->native_guess = reach > old ? old : reach;
}

static void note_native(const vec_value *v, const hg_program *p, hg_explained *list) {
    if (!v->inst || v->inst > p->inst_count) return;
    hg_explained *e = &list[v->inst - 1];
    if (v->op == VEC_LOAD || v->op == VEC_STORE || v->op == VEC_ATOMIC) note_native_access(v, e);
    if (e->way != HG_WAY_DIVERGENT) return;
    uint8_t way = HG_NATIVE_MASKED;
    if (v->op == VEC_IF && v->args[0]->op == VEC_ANY) way = HG_NATIVE_SKIPPED;
    if (v->op == VEC_LEAVE && v->leave.ends) way = HG_NATIVE_ENDS;
    if (way > e->native_way) e->native_way = way;
}

/* Of the kernel's instructions, and in the kernel their sum. Those of a function that kernels share
 * are the first one's. */
static hg_status add_costs(vec_kernel *k, const vec_turn_size *turns, const hg_program *p,
                           uint32_t kernel, hg_explained *list, vec_costs *sum) {
    uint32_t *rounds = hg_calloc((size_t)p->inst_count + 1, sizeof *rounds);
    vec_costs *costs = hg_calloc((size_t)p->inst_count + 1, sizeof *costs);
    hg_status status = rounds && costs ? HG_OK : hg_fail_memory();
    for (uint32_t i = 0; i < p->inst_count && status == HG_OK; i++)
        rounds[i + 1] = list[i].rounds < UINT32_MAX ? (uint32_t)list[i].rounds : UINT32_MAX;
    if (status == HG_OK) status = vec_find_costs(k, turns, rounds, costs);
    for (uint32_t i = 0; i <= p->inst_count && status == HG_OK; i++)
        for (int kind = 0; kind < VEC_COST_COUNT; kind++) {
            sum->steps[kind] += costs[i].steps[kind];
            if (i && list[i - 1].kernel == kernel)
                list[i - 1].costs.steps[kind] += costs[i].steps[kind];
        }
    hg_free(rounds);
    hg_free(costs);
    return status;
}

static hg_status explain_form(const kir_module *low, const hg_program *p, const native *of,
                              hg_explained *list, hg_explained_kernel *kernel) {
    vec_kernel *k = NULL;
    vec_turn_size turns;
    kernel->level = tile_level_name(of->level);
    hg_status status = of->by->form(of->level, low, &k, &turns);
    if (status == HG_ERROR_ISA) {
        snprintf(kernel->reason, sizeof kernel->reason, "%s", hg_last_error_text());
        return HG_OK;
    }
    if (status == HG_OK && vec_is_too_much(k, turns.bytes, kernel->reason)) {
        vec_kernel_destroy(k);
        return HG_OK;
    }
    if (status == HG_OK) {
        *kernel = (hg_explained_kernel){.level = kernel->level,
                                        .native = true,
                                        .lanes = turns.lanes,
                                        .live = k->pressure.bytes,
                                        .live_inst = k->pressure.inst,
                                        .most_live = turns.registers * turns.bytes / turns.lanes};
        /* of a lane alone there is nothing to say: its elements are its own, its branches jumps */
        for (const vec_function *f = turns.lanes > 1 ? k->functions : NULL; f; f = f->next)
            for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
                note_native(v, p, list);
        status = add_costs(k, &turns, p, of->kernel, list, &kernel->costs);
    }
    vec_kernel_destroy(k);
    return status;
}

/* The module is not used any more afterwards. */
static hg_status explain_native(kir_module *m, const hg_program *p, const native *of,
                                hg_explained *list, hg_explained_kernel *kernel) {
    kir_caps caps;
    kir_module *low = NULL;
    of->by->caps(&caps);
    kir_compilation c = {.caps = &caps};
    HG_TRY(kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_LOW, m, &low));
    hg_status status = explain_form(low, p, of, list, kernel);
    if (low != m) kir_module_destroy(low);
    return status;
}

static hg_status explain_plan(const hg_plan *plan, const hg_program *p, native *of,
                              hg_explained *list, hg_explained_kernel *kernels) {
    for (uint32_t i = 0; i < plan->kernels.count; i++) {
        of->kernel = i;
        HG_TRY(explain_kernel(plan->kernels.data[i].module, p, i, list));
        HG_TRY(explain_native(plan->kernels.data[i].module, p, of, list, &kernels[i]));
    }
    for (uint64_t i = 0; i < plan->steps.count; i++) list[plan->steps.data[i].inst].kept = true;
    return HG_OK;
}

hg_status hg_explain(const hg_program *program, const char *level, const hg_explain_native *by,
                     hg_explained *list, hg_explained_kernel *kernels, uint32_t *count) {
    native of = {.by = by};
    hg_cfg *cfg = NULL;
    kir_module *module = NULL;
    hg_plan *plan = NULL;
    HG_TRY(tile_level_find(level, &of.level));
    HG_TRY(hg_verify(program, NULL, NULL, &cfg));
    uint16_t *live = hg_calloc((size_t)program->inst_count + 1, sizeof *live);
    hg_status status = live ? hg_live_registers(cfg, live) : hg_fail_memory();
    for (uint32_t i = 0; i < program->inst_count && status == HG_OK; i++)
        list[i] = (hg_explained){.live = live[i], .kernel = UINT32_MAX};
    kir_compilation c = {.program = cfg};
    if (status == HG_OK)
        status = kir_pipeline_run(&c, KIR_STAGE_PROGRAM, KIR_STAGE_PROGRAM, NULL, &module);
    if (status == HG_OK) status = plan_build(module, PLAN_READS_INPUTS, &plan);
    if (status == HG_OK) {
        module = NULL; /* the plan's now */
        *count = (uint32_t)plan->kernels.count;
        status = explain_plan(plan, program, &of, list, kernels);
    }
    hg_free(live);
    plan_destroy(plan);
    kir_module_destroy(module);
    hg_cfg_destroy(cfg);
    return status;
}
