/* Programs as C text: plans, names, the two files. */
#include "offline/build_internal.h"
#include "isa/cfg.h"
#include "kir/pipeline/pipeline.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- programs ---- */

/* A program's own plan: its kernels, then those of its steps. */
static hg_status add_kernels(build_job *job, build_program *p) {
    hg_plan *plan = p->plan;
    uint32_t launches = 0, number;
    p->first_kernel = (uint32_t)job->kernels.count;
    for (uint32_t i = 0; i < p->program->inst_count; i++) {
        const hg_inst *inst = &p->program->insts[i];
        uint32_t bytes = hg_op_block_bytes((hg_op)inst->op, (hg_type)inst->type);
        if (bytes > p->block_bytes) p->block_bytes = bytes;
    }
    for (uint64_t i = 0; i < plan->kernels.count; i++)
        HG_TRY(build_add_kernel(job, p, plan->kernels.data[i].module, false, &number));
    p->steps = hg_calloc(plan->steps.count + 1, sizeof *p->steps);
    if (!p->steps) return hg_fail_memory();
    for (uint64_t i = 0; i < plan->steps.count; i++)
        HG_TRY(build_plan_step(job, p, &plan->steps.data[i], &p->steps[i]));
    build_plan_work(p);
    for (uint64_t i = 0; i < plan->code.count; i++) launches += plan->code.data[i].op != PLAN_END;
    p->parts = launches <= 1 && plan->steps.count == 0 && plan->env_bytes == 0 && p->spans == 0;
    return HG_OK;
}

/* The values of scalars that are known when the text is made. */
static hg_status find_values(const build_job *job, build_program *p) {
    const hg_build_request *r = job->request;
    p->fixed = hg_calloc(p->program->param_count + (size_t)1, sizeof *p->fixed);
    if (!p->fixed) return hg_fail_memory();
    for (uint32_t i = 0; i < p->program->param_count; i++)
        for (uint32_t k = 0; k < r->value_count && p->program->params[i].kind == HG_PARAM_SCALAR;
             k++)
            if (r->values[k].program == p - job->programs &&
                strcmp(p->program->params[i].name, r->values[k].name) == 0)
                p->fixed[i] = &r->values[k];
    return HG_OK;
}

static const hg_build_value *value_of(const build_program *p, const kir_input *input) {
    for (uint32_t i = 0; i < p->program->param_count && input->kind == KIR_INPUT_PARAM; i++)
        if (p->fixed[i] && p->program->params[i].reg == input->reg) return p->fixed[i];
    return NULL;
}

/* Puts them in the places of inputs. */
static hg_status put_values(const build_program *p, kir_module **m) {
    bool changed = false, owned = true;
    for (const kir_function *f = (*m)->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            const hg_build_value *value = v->op == KIR_INPUT
                                              ? value_of(p, &(*m)->inputs.data[v->u.imm])
                                              : NULL;
            if (!value) continue;
            v->op = KIR_CONST;
            v->u.imm = value->bits;
            changed = true;
        }
    if (!changed) return HG_OK;
    (*m)->facts &= ~(uint32_t)KIR_FACT_SIMPLE;
    return kir_pass_run(&(kir_compilation){0}, KIR_STAGE_PROGRAM, KIR_PASS_SIMPLIFY, m, &owned);
}

/* A module of WebAssembly looks at the extents of arrays when it is called. */
static hg_status plan_program(const build_job *job, build_program *p) {
    hg_cfg *cfg = NULL;
    kir_module *module = NULL;
    HG_TRY(hg_verify(p->program, NULL, NULL, &cfg));
    hg_status status = kir_pipeline_run(
        &(kir_compilation){.program = cfg, .build.short_arrays = !job->wasm}, KIR_STAGE_PROGRAM,
        KIR_STAGE_PROGRAM, NULL, &module);
    if (status == HG_OK) status = put_values(p, &module);
    if (status == HG_OK) status = plan_build(module, PLAN_READS_INPUTS, &p->plan);
    if (status != HG_OK) kir_module_destroy(module);
    hg_cfg_destroy(cfg);
    return status;
}

/* ---- names ---- */

/* Whether a piece of the text has the name built_NAME. */
static bool is_of_text(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, "built_")) != NULL;) {
        at += strlen("built_");
        if (strncmp(at, name, length) == 0 && !isalnum((unsigned char)at[length]) &&
            at[length] != '_')
            return true;
    }
    return false;
}

/* A function of the header. */
static hg_status name_as(const build_job *job, build_program *p, const char *name) {
    bool same = strcmp(name, job->name) == 0;
    snprintf(p->function, sizeof p->function, "%s%s%s", job->name, same ? "" : "_",
             same ? "" : name);
    for (char *c = p->function; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '_';
    if (build_is_word_of_c(p->function) || build_is_function_of_c(p->function))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "'%s' is no name for a function in C",
                       p->function);
    return build_name_params(job, p);
}

static bool is_work_size(const char *name) {
    static const char end[] = "work_bytes";
    size_t length = strlen(name), own = sizeof end - 1;
    return length >= own && strcmp(name + length - own, end) == 0;
}

static hg_status name_function(build_job *job, build_program *p) {
    const char *name = p->program->name;
    bool same = strcmp(name, job->name) == 0;
    HG_TRY(name_as(job, p, name));
    if (is_work_size(name) || (!same && (is_of_text(hg_unpacked(&built_text_interface), name) ||
                                         is_of_text(hg_unpacked(&built_text_runtime), name))))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "a program called '%s': %s_%s is another function of the C text", name,
                       job->name, name);
    for (const build_program *other = job->programs; other < p; other++)
        if (strcmp(other->function, p->function) == 0)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "two programs called '%s': both would be the function %s", name,
                           p->function);
    return HG_OK;
}

/* A static one. */
static hg_status name_launch(build_job *job, build_program *p) {
    p->use = BUILD_LAUNCH;
    snprintf(p->function, sizeof p->function, "hgk_%u", (unsigned)(p - job->programs));
    HG_TRY(build_find_places(job, p));
    return build_name_params(job, p);
}

static bool is_c_name(const char *name) {
    if (!isalpha((unsigned char)*name) && *name != '_') return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_') return false;
    return strlen(name) <= HG_MAX_IDENT_BYTES;
}

/* ---- the two texts ---- */

static void add_declaration(const build_job *job, const build_program *p, hg_text *h) {
    bool graph = p->use == BUILD_GRAPH;
    hg_text_addf(h, "\n");
    if (graph)
        build_add_graph_comment(job, h);
    else
        build_add_comment(p, h);
    build_add_prototype(job, p, h);
    hg_text_addf(h, ";\n");
    if (!p->spans) return;
    if (graph)
        build_add_graph_size_prototype(job, h);
    else
        build_add_work_prototype(job, p, h);
    hg_text_addf(h, ";\n");
}

static void add_header(const build_job *job, hg_text *h) {
    build_add_named(h, job->name, "/* Written by `hologram build`: kernels of ");
    if (job->graph) hg_text_addf(h, "%s", job->graph->g->name);
    for (uint32_t i = 0; i < job->count && !job->graph; i++)
        hg_text_addf(h, i ? ", %s" : "%s", job->programs[i].program->name);
    build_add_named(h, job->name,
                    ". For gcc 12 or clang 14 and later, on machines of 64 bits;\n * link with "
                    "-lm. */\n#ifndef BUILT_H\n#define BUILT_H\n\n#include "
                    "<stddef.h>\n#include <stdint.h>\n\n");
    build_add_named(h, job->name, hg_unpacked(&built_text_interface));
    for (uint32_t i = 0; i < job->count && !job->graph; i++)
        add_declaration(job, &job->programs[i], h);
    if (job->graph) add_declaration(job, &job->graph->face, h);
    hg_text_addf(h, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

static hg_status add_texts(const build_job *job, hg_text *c, hg_text *h) {
    add_header(job, h);
    HG_TRY(build_add_levels(job, c));
    build_add_open_sources(job, c);
    build_add_open_kernels(job, c);
    for (uint32_t i = 0; i < job->count; i++) HG_TRY(build_add_function(job, &job->programs[i], c));
    if (job->graph) HG_TRY(build_add_graph_function(job, c));
    hg_text_addf(
        c,
        "\n#if !defined(__clang__)\n#pragma GCC pop_options\n#endif\n#pragma GCC diagnostic pop\n");
    return c->failed || h->failed ? hg_fail_memory() : HG_OK;
}

/* The graph's function, as a program without code. */
static hg_status name_graph(build_job *job) {
    build_program *face = &job->graph->face;
    face->use = BUILD_GRAPH;
    face->spans = build_graph_works(job);
    HG_TRY(name_as(job, face, job->name));
    face->fixed = hg_calloc(face->program->param_count + (size_t)1, sizeof *face->fixed);
    for (uint32_t i = 0; face->fixed && i < face->program->param_count; i++)
        for (uint32_t k = 0; k < job->graph->symbol_count; k++)
            if (strcmp(face->program->params[i].name, job->graph->symbols[k].name) == 0 &&
                face->program->params[i].kind == HG_PARAM_SCALAR)
                face->fixed[i] = &job->graph->symbols[k];
    return face->fixed ? HG_OK : hg_fail_memory();
}

static hg_status build_all(build_job *job, hg_text *c, hg_text *h) {
    for (uint32_t i = 0; i < job->count; i++) {
        build_program *p = &job->programs[i];
        p->program = job->request->programs[i];
        HG_TRY(job->graph ? name_launch(job, p) : name_function(job, p));
        HG_TRY(find_values(job, p));
        HG_TRY(plan_program(job, p));
        if (job->wasm) HG_TRY(build_check_wasm(p));
        HG_TRY(add_kernels(job, p));
    }
    if (job->graph) HG_TRY(name_graph(job));
    return job->wasm ? build_add_wasm(job, c) : add_texts(job, c, h);
}

static hg_status check_name(const char *name) {
    if (!is_c_name(name))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "'%s' is no name in C: letters, digits and _, at most %d", name,
                       (int)HG_MAX_IDENT_BYTES);
    static const char *const own[] = {"hgd", "hgk", "hgs", "hgv"};
    for (size_t i = 0; i < HG_COUNT_OF(own); i++)
        if (strncmp(name, own[i], 3) == 0)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "'%s': what begins with hgd, hgk, hgs and hgv is the C text's own",
                           name);
    return HG_OK;
}

static void free_program(build_program *p) {
    for (uint64_t k = 0; p->steps && k < p->plan->steps.count; k++) build_free_step(&p->steps[k]);
    hg_free(p->names);
    hg_free(p->fixed);
    hg_free(p->places);
    hg_free(p->steps);
}

/* Kernels that no pass replaced are the plan's. */
static void free_kernels(build_job *job) {
    for (uint64_t i = 0; i < job->kernels.count; i++) {
        bool of_plan = false;
        for (uint32_t n = 0; n < job->count && job->programs[n].plan; n++)
            for (uint64_t k = 0; k < job->programs[n].plan->kernels.count; k++)
                of_plan |= job->programs[n].plan->kernels.data[k].module ==
                           job->kernels.data[i].low;
        if (!of_plan) kir_module_destroy(job->kernels.data[i].low);
    }
    hg_vec_free(&job->kernels);
}

hg_status build_run(const hg_build_request *r, build_graph *graph, hg_text *c, hg_text *h) {
    build_job job = {.request = r,
                     .graph = graph,
                     .name = r->name,
                     .wasm = !h,
                     .tiles = library_tiles_of(LIBRARY_TILES_V3),
                     .count = r->count,
                     .programs = hg_calloc(r->count + (size_t)1, sizeof *job.programs)};
    if (!job.programs) return hg_fail_memory();
    hg_status status = check_name(r->name);
    if (status == HG_OK) snprintf(job.fault_name, sizeof job.fault_name, "%s_fault", r->name);
    if (status == HG_OK) status = build_all(&job, c, h);
    free_kernels(&job);
    for (uint32_t i = 0; i < r->count; i++) {
        free_program(&job.programs[i]);
        plan_destroy(job.programs[i].plan);
    }
    if (graph) free_program(&graph->face);
    hg_free(job.programs);
    return status;
}

hg_status hg_build(const hg_build_request *r, hg_text *c, hg_text *h) {
    return build_run(r, NULL, c, h);
}

hg_status hg_build_wasm(const hg_build_request *r, hg_text *out) {
    return build_run(r, NULL, out, NULL);
}
