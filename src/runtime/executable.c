/* Executables: verify, lower, plan, legalise and compile a program once for a backend. */
#include "kir/pipeline/pipeline.h"
#include "plan/steps/chain.h"
#include "runtime/backend.h"
#include "runtime/kernel.h"
#include <stdio.h>
#include <string.h>

/* A part of a compilation that ends now. */
static void record(const hg_backend *b, const char *what, const char *of, uint64_t start) {
    if (b->profile)
        hg_profile_end(b->profile, &(hg_profile_span){.kind = HG_PROFILE_COMPILE,
                                                      .name = what,
                                                      .detail = of,
                                                      .start_ns = start});
}

static void note_state(hg_executable *e, const hg_kernel *kernel) {
    for (uint32_t i = 0; i < kernel->slot_count; i++) {
        if (kernel->slots[i].plan != KIR_PLAN_STATE) continue;
        e->uses_state = true;
        e->writes_state |= kernel->slots[i].written;
    }
}

hg_status hg_executable_compile(hg_backend *b, hg_executable *e, uint64_t deadline_ns) {
    e->kernel_count = (uint32_t)e->plan->kernels.count;
    e->kernels = hg_calloc(e->kernel_count + 1, sizeof *e->kernels);
    if (!e->kernels) return hg_fail_memory();
    for (uint32_t i = 0; i < e->kernel_count; i++) {
        plan_kernel *k = &e->plan->kernels.data[i];
        kir_module *module = k->module;
        k->module = NULL; /* the kernel's now */
        HG_TRY(hg_kernel_compile(b, module, true, deadline_ns, &e->kernels[i]));
        note_state(e, &e->kernels[i]);
    }
    return HG_OK;
}

static hg_status lower(const hg_backend *b, const hg_cfg *cfg, uint64_t max_steps,
                       uint64_t deadline_ns, hg_plan **plan) {
    kir_compilation c = {.program = cfg,
                         .build = {.max_steps = max_steps, .trace = b->trace},
                         .deadline_ns = deadline_ns,
                         .verify = b->config.verify};
    kir_module *module = NULL;
    HG_TRY(kir_pipeline_run(&c, KIR_STAGE_PROGRAM, KIR_STAGE_PROGRAM, NULL, &module));
    plan_reads reads = b->caps->compiler.target.shown_uniform ? PLAN_READS_SHOWN
                                                              : PLAN_READS_MEMORY;
    hg_status status = plan_build(
        module, b->caps->memory.uniforms_in_memory ? reads : PLAN_READS_INPUTS, plan);
    if (status == HG_OK)
        plan_find_chains(*plan);
    else
        kir_module_destroy(module);
    return status;
}

static bool moves_pools(const hg_plan *plan) {
    for (uint64_t i = 0; i < plan->steps.count; i++) {
        uint16_t op = plan->steps.data[i].op;
        if (op == HG_OP_POOL_ALLOC_CONST || op == HG_OP_POOL_FREE || op == HG_OP_POOL_FREE_CONST)
            return true;
    }
    return false;
}

static uint32_t block_bytes(const hg_program *p) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        uint32_t bytes = hg_op_block_bytes((hg_op)p->insts[i].op, (hg_type)p->insts[i].type);
        if (bytes > most) most = bytes;
    }
    return most;
}

static hg_status build(hg_backend *b, hg_executable *e, uint64_t deadline_ns) {
    hg_cfg *cfg = NULL;
    uint64_t start = hg_profile_start(b->profile);
    HG_TRY(hg_verify(e->program, &e->signature, NULL, &cfg));
    record(b, "verify", e->program->name, start);
    e->uses_barrier = cfg->uses_barrier;
    e->uses_shared = cfg->uses_shared;
    e->block_bytes = block_bytes(cfg->program);
    start = hg_profile_start(b->profile);
    hg_status status = lower(b, cfg, e->max_steps, deadline_ns, &e->plan);
    hg_cfg_destroy(cfg);
    record(b, "lower", e->program->name, start);
    HG_TRY(status);
    e->moves_pools = moves_pools(e->plan);
    return hg_executable_compile(b, e, deadline_ns);
}

hg_executable *hg_executable_retain(hg_executable *e) {
    hg_atomic_fetch_add(&e->references, 1, HG_RELAXED);
    return e;
}

void hg_executable_destroy(hg_executable *e) {
    HG_ENTRY;
    if (!e || hg_atomic_sub_fetch(&e->references, 1, HG_ACQ_REL) != 0 || e->backend->fork.lost)
        return;
    for (uint32_t i = 0; i < e->kernel_count && e->kernels; i++) hg_kernel_free(&e->kernels[i]);
    hg_free(e->kernels);
    hg_expansions_free(&e->chains);
    plan_destroy(e->plan);
    hg_tables_release(e->backend, e->tables);
    hg_program_release(e->program);
    hg_child_remove(&e->backend->children, HG_CHILD_EXECUTABLE);
    hg_free(e);
}

hg_status hg_executable_make(hg_backend *b, const hg_program *program,
                             const hg_signature *signature, uint64_t max_steps,
                             uint64_t deadline_ns, hg_executable **executable) {
    hg_executable *e = hg_calloc(1, sizeof *e);
    if (!e) return hg_fail_memory();
    e->backend = b;
    hg_child_add(&b->children, HG_CHILD_EXECUTABLE);
    e->references = 1;
    e->max_steps = max_steps;
    e->signature = *signature;
    e->program = hg_program_retain((hg_program *)(uintptr_t)program);
    uint64_t start = hg_profile_start(b->profile);
    hg_status status = build(b, e, deadline_ns);
    if (status == HG_OK) status = hg_tables_get(b, program, &e->tables);
    record(b, program->name, NULL, start);
    if (status != HG_OK) {
        hg_executable_destroy(e);
        return status;
    }
    *executable = e;
    return HG_OK;
}
