/* The verification that callers ask for: the rules of the language (isa), and that the program can be lowered as every backend lowers it, so
 * that a limit of lowering is known before a launch. What a device refuses is not known here. */
#include "isa/cfg.h"
#include "kir/pipeline/pipeline.h"
#include "plan/plan.h"

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
    hg_cfg *cfg = NULL;
    if (!program) return hg_null_argument("program");
    HG_TRY(hg_verify(program, NULL, diagnostics, &cfg));
    hg_status status = lower(cfg);
    hg_cfg_destroy(cfg);
    if (status == HG_ERROR_ISA) { /* a limit: the program keeps the rules */
        hg_place place = {.instruction = HG_NONE};
        hg_diagnose(diagnostics, HG_SEVERITY_ERROR, "S05", place, NULL, "%s", hg_last_error()->message);
    }
    return status;
}
