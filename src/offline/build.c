/* Programs as C text: plans, kernels, what plain C has not. */
#include "offline/build_internal.h"
#include "isa/cfg.h"
#include "kir/define/define.h"
#include "kir/pipeline/pipeline.h"
#include "plan/steps/tree.h"
#include "vector/vector.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- what cannot be ---- */

/* HG_ERROR_ISA: "PROGRAM: TEXT", with the instruction where inst is not 0. inst: number + 1. */
HG_PRINTF(3, 4)
static hg_status refuse(const build_program *p, uint32_t inst, const char *format, ...) {
    char words[256];
    hg_text source = {0};
    va_list list;
    va_start(list, format);
    (void)vsnprintf(words, sizeof words, format, list);
    va_end(list);
    if (inst) {
        hg_text_addf(&source, "instruction %u (", (unsigned)inst - 1);
        hg_print_named_instruction(&source, p->program, inst - 1);
        hg_text_addf(&source, "): ");
    }
    hg_status status = hg_fail(HG_ERROR_ISA, "%s: %s%s", p->program->name, source.data ? source.data : "", words);
    hg_text_free(&source);
    return status;
}

/* The first instruction of a module that reaches a slot, + 1. */
static uint32_t user_of(const kir_module *m, uint64_t slot) {
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (kir_is_access(v) && v->inst && v->u.mem.slot >= 0 && (uint64_t)v->u.mem.slot == slot) return v->inst;
    return 0;
}

static uint32_t user_of_classes(const kir_module *m) {
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (kir_is_access(v) && v->inst && v->u.mem.space == KIR_CLASS) return v->inst;
    return 0;
}

static hg_status check_slots(const build_program *p, const kir_module *m) {
    static const char *const own[KIR_PLAN_MEMORY_COUNT] = {
        [KIR_PLAN_STATE] = "it works on the state of a context, which plain C has not",
        [KIR_PLAN_CHARACTERS] = "it reads the table of characters, which plain C has not",
    };
    for (uint64_t i = 0; i < m->slots.count; i++) {
        const kir_slot *s = &m->slots.data[i];
        if (own[s->plan]) return refuse(p, user_of(m, i), "%s", own[s->plan]);
        if (s->constant && s->plan == KIR_PLAN_NONE)
            return refuse(p, user_of(m, i), "it names the memory %llu by number: give it a .param", (unsigned long long)s->handle);
    }
    return m->uses_class ? refuse(p, user_of_classes(m), "class memory is a context's, which plain C has not") : HG_OK;
}

static hg_status check_inputs(const build_program *p, const kir_module *m) {
    for (uint64_t i = 0; i < m->inputs.count; i++) {
        const kir_input *input = &m->inputs.data[i];
        bool found = input->kind != KIR_INPUT_PARAM;
        for (uint32_t n = 0; n < p->program->param_count; n++) found |= p->program->params[n].reg == input->reg;
        if (!found) return refuse(p, 0, "register r%u has no value: give it a .param", (unsigned)input->reg);
    }
    return HG_OK;
}

/* ---- kernels ---- */

/* Whether a call of a kernel runs blocks. HG_ERROR_ISA: it has no vector form. */
static hg_status look_at_form(const build_program *p, const kir_module *low, bool *blocks) {
    vec_kernel *form = NULL;
    hg_status status = vec_form(low, &(vec_options){.lanes = BUILD_LEVEL[0].lanes}, &form);
    *blocks = status == HG_OK && form->blocks;
    if (status == HG_OK) vec_kernel_destroy(form);
    if (*blocks && low->uses_shared && p->plan->keeps_shared)
        return refuse(p, 0, "shared memory of blocks lives on over whole-array instructions, which the C text has not");
    return status;
}

/* Takes m; it is the caller's after a failure. */
static hg_status add_kernel(build_job *job, const build_program *p, kir_module *m, bool step) {
    kir_caps caps;
    kir_module *low = NULL;
    vec_caps(&caps);
    hg_status status = kir_pipeline_run(&(kir_compilation){.caps = &caps}, KIR_STAGE_KERNEL, KIR_STAGE_LOW, m, &low);
    build_kernel *k = NULL;
    if (status == HG_OK && !step) status = check_inputs(p, low);
    if (status == HG_OK && !step) status = check_slots(p, low);
    bool blocks = false;
    if (status == HG_OK) status = look_at_form(p, low, &blocks);
    if (status == HG_OK && !(k = hg_vec_push(&job->kernels))) status = hg_fail_memory();
    if (status != HG_OK) {
        if (low != m) kir_module_destroy(low);
        return status;
    }
    *k = (build_kernel){.low = low, .blocks = blocks};
    snprintf(k->name, sizeof k->name, "hgk%u_%.100s", (unsigned)job->kernels.count - 1, step ? m->name : p->program->name);
    for (char *c = k->name; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '_';
    if (step && low != m) kir_module_destroy(m);
    return HG_OK;
}

static hg_status add_step(build_job *job, build_program *p, const plan_step *step, uint32_t *kernel) {
    const plan_collective *of = plan_collective_of((hg_op)step->op);
    if (step->op == HG_OP_BAR_GRID) return HG_OK; /* one kernel ends before the next begins */
    if (!of) return refuse(p, step->inst + 1, "it works on the state of a context, which plain C has not");
    if (of != &plan_collective_map && of != &plan_collective_reduce)
        return refuse(p, step->inst + 1, "of the whole-array instructions the C text has maps and reductions alone");
    hg_type type = (hg_type)step->atlas_type;
    if (of == &plan_collective_reduce && (kir_is_half(type) || hg_type_size_bytes(type) > 8))
        return refuse(p, step->inst + 1, "reductions of %s are not in C text", hg_type_name(type));
    for (uint32_t i = 0; i < step->info->count; i++) {
        const kir_step_operand *o = &step->info->operands[i];
        if (o->kind == KIR_STEP_ARRAY && o->space != KIR_BUFFER && o->space != KIR_POOL)
            return refuse(p, step->inst + 1, "an array of a whole-array instruction is a buffer or a pool in C text");
    }
    kir_module *m = plan_map_kernel(build_step_function(step), type);
    if (!m) return hg_fail_memory();
    hg_status status = add_kernel(job, p, m, true);
    if (status != HG_OK) kir_module_destroy(m);
    *kernel = (uint32_t)job->kernels.count - 1;
    return status;
}

/* A program's own plan: its kernels, then those of its steps. */
static hg_status add_kernels(build_job *job, build_program *p) {
    hg_plan *plan = p->plan;
    uint32_t launches = 0;
    p->first_kernel = (uint32_t)job->kernels.count;
    for (uint32_t i = 0; i < p->program->inst_count; i++) {
        const hg_inst *inst = &p->program->insts[i];
        uint32_t bytes = hg_op_block_bytes((hg_op)inst->op, (hg_type)inst->type);
        if (bytes > p->block_bytes) p->block_bytes = bytes;
    }
    for (uint64_t i = 0; i < plan->kernels.count; i++) HG_TRY(add_kernel(job, p, plan->kernels.data[i].module, false));
    p->steps = hg_calloc(plan->steps.count + 1, sizeof *p->steps);
    if (!p->steps) return hg_fail_memory();
    for (uint64_t i = 0; i < plan->steps.count; i++) HG_TRY(add_step(job, p, &plan->steps.data[i], &p->steps[i]));
    for (uint64_t i = 0; i < plan->code.count; i++) launches += plan->code.data[i].op != PLAN_END;
    p->parts = launches <= 1 && plan->steps.count == 0 && plan->env_bytes == 0;
    return HG_OK;
}

static hg_status plan_program(build_program *p) {
    hg_cfg *cfg = NULL;
    kir_module *module = NULL;
    HG_TRY(hg_verify(p->program, NULL, NULL, &cfg));
    hg_status status = kir_pipeline_run(&(kir_compilation){.program = cfg}, KIR_STAGE_PROGRAM, KIR_STAGE_PROGRAM, NULL, &module);
    if (status == HG_OK) status = plan_build(module, PLAN_READS_INPUTS, &p->plan);
    if (status != HG_OK) kir_module_destroy(module);
    hg_cfg_destroy(cfg);
    return status;
}

/* ---- names ---- */

static hg_status name_function(build_job *job, build_program *p) {
    static const char *const own[] = {"check", "fault", "grid", "lanes", "launch", "level", "part", "problem", "use_level"};
    const char *name = p->program->name;
    bool same = strcmp(name, job->name) == 0;
    snprintf(p->function, sizeof p->function, "%s%s%s", job->name, same ? "" : "_", same ? "" : name);
    for (char *c = p->function; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '_';
    if (build_is_word_of_c(p->function) || build_is_function_of_c(p->function))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "'%s' is no name for a function in C", p->function);
    for (size_t i = 0; i < HG_COUNT_OF(own); i++)
        if (strcmp(own[i], name) == 0)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "a program called '%s': %s_%s is another function of the C text", name, job->name,
                           name);
    for (const build_program *other = job->programs; other < p; other++)
        if (strcmp(other->function, p->function) == 0)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "two programs called '%s': both would be the function %s", name, p->function);
    return build_name_params(job, p);
}

static bool is_c_name(const char *name) {
    if (!isalpha((unsigned char)*name) && *name != '_') return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_') return false;
    return strlen(name) <= HG_MAX_IDENT_BYTES;
}

/* ---- the two texts ---- */

static void add_header(const build_job *job, hg_text *h) {
    build_add_named(h, job->name, "/* Written by `hologram build`: kernels of ");
    for (uint32_t i = 0; i < job->count; i++) hg_text_addf(h, i ? ", %s" : "%s", job->programs[i].program->name);
    build_add_named(
        h, job->name,
        ". For gcc 12 or clang 14 and later, on machines of 64 bits;\n * link with -lm. */\n#ifndef BUILT_H\n#define BUILT_H\n\n#include "
        "<stddef.h>\n#include <stdint.h>\n\n");
    build_add_named(h, job->name, built_text_interface);
    for (uint32_t i = 0; i < job->count; i++) {
        hg_text_addf(h, "\n");
        build_add_comment(&job->programs[i], h);
        build_add_prototype(job, &job->programs[i], h);
        hg_text_addf(h, ";\n");
    }
    hg_text_addf(h, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

static hg_status add_texts(const build_job *job, hg_text *c, hg_text *h) {
    add_header(job, h);
    HG_TRY(build_add_levels(job, c));
    for (uint32_t i = 0; i < job->count; i++) HG_TRY(build_add_function(job, &job->programs[i], c));
    hg_text_addf(c, "\n#if !defined(__clang__)\n#pragma GCC pop_options\n#endif\n#pragma GCC diagnostic pop\n");
    return c->failed || h->failed ? hg_fail_memory() : HG_OK;
}

static hg_status build_all(build_job *job, const hg_program *const *programs, hg_text *c, hg_text *h) {
    for (uint32_t i = 0; i < job->count; i++) {
        build_program *p = &job->programs[i];
        p->program = programs[i];
        HG_TRY(name_function(job, p));
        HG_TRY(plan_program(p));
        HG_TRY(add_kernels(job, p));
    }
    return add_texts(job, c, h);
}

hg_status hg_build(const hg_program *const *programs, uint32_t count, const char *name, hg_text *c, hg_text *h) {
    if (!is_c_name(name))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "'%s' is no name in C: letters, digits and _, at most %d", name, (int)HG_MAX_IDENT_BYTES);
    static const char *const own[] = {"hgd", "hgk", "hgs", "hgv"};
    for (size_t i = 0; i < HG_COUNT_OF(own); i++)
        if (strncmp(name, own[i], 3) == 0)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "'%s': what begins with hgd, hgk, hgs and hgv is the C text's own", name);
    build_job job = {.name = name, .count = count, .programs = hg_calloc(count + (size_t)1, sizeof *job.programs)};
    if (!job.programs) return hg_fail_memory();
    hg_status status = build_all(&job, programs, c, h);
    for (uint32_t i = 0; i < count; i++) {
        build_program *p = &job.programs[i];
        hg_free(p->names);
        hg_free(p->steps);
    }
    for (uint64_t i = 0; i < job.kernels.count; i++) {
        bool of_plan = false; /* the plan frees what no pass replaced */
        for (uint32_t n = 0; n < count && job.programs[n].plan; n++)
            for (uint64_t k = 0; k < job.programs[n].plan->kernels.count; k++)
                of_plan |= job.programs[n].plan->kernels.data[k].module == job.kernels.data[i].low;
        if (!of_plan) kir_module_destroy(job.kernels.data[i].low);
    }
    for (uint32_t i = 0; i < count; i++) plan_destroy(job.programs[i].plan);
    hg_vec_free(&job.kernels);
    hg_free(job.programs);
    return status;
}
