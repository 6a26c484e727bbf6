/* The verification that callers ask for: the rules of the language (isa), and that the program can
 * be lowered as every backend lowers it, so that a limit of lowering is known before a launch. What
 * a device refuses is not known here. */
#include "isa/cfg.h"
#include "kir/pipeline/pipeline.h"
#include "plan/plan.h"

/* Whether a limit of lowering could stop the program: they allow for 32 operations an instruction
 * and hundreds of thousands more. Calls of functions with whole-array instructions multiply, and
 * one instruction over a run of registers becomes an operation for each. */
static bool may_grow(const hg_program *program) {
    bool calls = false, steps = false;
    for (uint32_t i = 0; i < program->inst_count; i++) {
        const hg_op_info *row = hg_op_get((hg_op)program->insts[i].op);
        if (row->flags & HG_F_RUN) return true;
        calls = calls || program->insts[i].op == HG_OP_CALL;
        steps = steps || (row->flags & (HG_F_COLLECTIVE | HG_F_POOL));
    }
    return calls && steps;
}

static hg_status lower(const hg_cfg *cfg) {
    kir_compilation c = {.program = cfg};
    kir_module *module = NULL;
    hg_plan *plan = NULL;
    HG_TRY(kir_pipeline_run(&c, KIR_STAGE_PROGRAM, KIR_STAGE_PROGRAM, NULL, &module));
    hg_status status = plan_build(module, PLAN_READS_INPUTS, &plan);
    if (status == HG_OK)
        plan_destroy(plan);
    else
        kir_module_destroy(module);
    return status;
}

hg_status hg_program_verify(const hg_program *program, hg_diagnostics *diagnostics) {
    HG_ENTRY;
    hg_cfg *cfg = NULL;
    if (!program) return hg_null_argument("program");
    if (!may_grow(program)) return hg_verify(program, NULL, diagnostics, NULL);
    HG_TRY(hg_verify(program, NULL, diagnostics, &cfg));
    hg_status status = lower(cfg);
    hg_cfg_destroy(cfg);
    if (status == HG_ERROR_ISA) { /* a limit: the program keeps the rules */
        hg_place place = {.instruction = HG_NONE};
        hg_diagnose(diagnostics, HG_SEVERITY_ERROR, "S05", place, NULL, "%s",
                    hg_last_error()->message);
    }
    return status;
}
