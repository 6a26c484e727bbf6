/* Programs and array graphs as a module of WebAssembly that stands alone: memory of its own, a
 * function for each, and what kernels call when a lane faults.
 * Must not know: what kernels compute. */
#include "offline/build_wasm_internal.h"
#include <string.h>

enum { BELOW = 1024 /* nothing lies there */, STACK = 65536, DEFAULT_BLOCK = 256 };

/* ---- the module ---- */

/* What lanes of a block keep from barrier to barrier, at most. */
static uint64_t kept_of(const build_wasm *k, const build_program *p) {
    const uint32_t *own = p->program->block, one_row[] = {DEFAULT_BLOCK, 1, 1};
    uint64_t most = 0;
    for (uint64_t i = 0; i < p->plan->kernels.count; i++) {
        const uint64_t bytes = build_wasm_keeps(&k->made[p->first_kernel + i],
                                                own[0] ? own : one_row);
        if (bytes > most) most = bytes;
    }
    for (uint64_t i = 0; i < p->plan->steps.count; i++) {
        const uint64_t bytes = build_wasm_step_keeps(k, &p->steps[i]);
        if (bytes > most) most = bytes;
    }
    return most;
}

static hg_status lay_out_memory(build_wasm *k) {
    wasm_module *m = k->m;
    bool shares = false;
    for (uint32_t i = 0; i < k->job->count; i++) {
        const uint64_t bytes = kept_of(k, &k->job->programs[i]);
        if (bytes > k->kept_bytes) k->kept_bytes = bytes;
    }
    for (uint64_t i = 0; i < k->job->kernels.count; i++) shares |= k->job->kernels.data[i].blocks;
    if (k->kept_bytes >= UINT32_C(1) << 30)
        return hg_fail(HG_ERROR_ISA, "the lanes of a block keep %llu bytes from barrier to barrier",
                       (unsigned long long)k->kept_bytes);
    m->alone.base = m->alone.stack = BELOW + STACK;
    k->kept = bw_take_memory(k, k->kept_bytes);
    k->shared = bw_take_memory(k, shares ? MOST_SHARED : 0);
    build_wasm_lay_out_tree(k);
    if (k->job->graph) build_wasm_lay_out_extents(k);
    return HG_OK;
}

/* Records of the launch at work, and of the arrays of a whole-array instruction. */
static bool add_records(build_wasm *k) {
    uint64_t inputs = 0, slots = 0;
    bool steps = false;
    for (uint64_t i = 0; i < k->job->kernels.count; i++) {
        const kir_module *m = k->job->kernels.data[i].low;
        if (m->inputs.count > inputs) inputs = m->inputs.count;
        if (m->slots.count > slots) slots = m->slots.count;
    }
    for (uint32_t i = 0; i < k->job->count; i++) {
        const hg_plan *plan = k->job->programs[i].plan;
        for (uint64_t n = 0; n < plan->steps.count; n++)
            steps |= plan_collective_of((hg_op)plan->steps.data[n].op) != NULL;
    }
    if (steps && inputs < HG_MAX_OPERANDS) inputs = HG_MAX_OPERANDS;
    if (steps && slots < HG_MAX_OPERANDS) slots = HG_MAX_OPERANDS;
    k->run = build_wasm_room(k, RUN_BYTES, 16);
    k->at.inputs = build_wasm_room(k, 8 * ((uint32_t)inputs + 1), 8);
    k->at.slots = build_wasm_room(k, WA_MEMORY_BYTES * ((uint32_t)slots + 1), 8);
    if (!steps) return false;
    k->at.arrays = build_wasm_room(k, WA_MEMORY_BYTES * HG_MAX_OPERANDS, 8);
    k->at.launch = build_wasm_room(k, WA_LAUNCH_FAULT - WA_LAUNCH_LANES, 8);
    return true;
}

static hg_status add_functions(build_wasm *k) {
    k->functions = hg_calloc(k->job->count + (size_t)1, sizeof *k->functions);
    hg_status status = k->functions ? HG_OK : hg_fail_memory();
    for (uint32_t i = 0; i < k->job->count && status == HG_OK; i++) {
        status = build_wasm_add_function(k, i);
        if (status == HG_OK) status = wa_check_limits(k->m, k->job->programs[i].program->name);
    }
    if (status == HG_OK && k->job->graph) status = build_wasm_add_graph(k);
    if (status == HG_OK) status = wa_check_limits(k->m, k->job->name);
    hg_free(k->functions);
    return status;
}

static hg_status write_module(void *user, wasm_module *m, const emit_wasm_made *made) {
    build_wasm *k = user;
    k->m = m;
    k->made = made;
    HG_TRY(lay_out_memory(k));
    build_wasm_add_calls(k, add_records(k));
    HG_TRY(add_functions(k));
    if (m->failed || m->data.failed) return hg_fail_memory();
    if (m->data.length > (UINT32_C(1) << 31) - m->alone.base)
        return hg_fail(HG_ERROR_ISA, "the tables of the programs have more than 2 GiB");
    m->alone.end = (m->alone.base + (uint32_t)m->data.length + 63) & ~UINT32_C(63);
    wasm_constant_named(m, "__heap_base", m->alone.end);
    wasm_constant_named(m, k->job->fault_name, k->run + FOUND);
    return m->failed ? hg_fail_memory() : HG_OK;
}

/* ---- what cannot be ---- */

hg_status build_check_wasm(const build_program *p) {
    const bool asked = p->program->lanes_count || p->program->grid_count;
    if (strcmp(p->function, "memory") == 0)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "'memory' is the name of the module's memory, not of a program");
    if (!asked && p->plan->kernels.count)
        return build_refuse(p, 0,
                            "how many lanes there are nobody says: give it a .lanes or .grid");
    return HG_OK;
}

/* Twice the lanes where little lives at a time: what a turn costs for itself is divided. */
static hg_status form_of(const build_kernel *k, vec_kernel **form) {
    enum { LITTLE = 8 * EMIT_WASM_BYTES };
    vec_options options = {.lanes = EMIT_WASM_LANES, .blocks = k->blocks || k->places};
    HG_TRY(vec_form(k->low, &options, form));
    if (options.blocks || (*form)->pressure.bytes * 2 * EMIT_WASM_LANES > LITTLE) return HG_OK;
    vec_kernel_destroy(*form);
    *form = NULL;
    options.lanes *= 2;
    return vec_form(k->low, &options, form);
}

hg_status build_add_wasm(build_job *job, hg_text *out) {
    const uint64_t count = job->kernels.count;
    vec_kernel **forms = hg_calloc(count + 1, sizeof *forms);
    const char **names = hg_calloc(count + 1, sizeof *names);
    hg_status status = forms && names ? HG_OK : hg_fail_memory();
    if (status == HG_OK && job->graph && strcmp(job->name, "memory") == 0)
        status = hg_fail(HG_ERROR_INVALID_ARGUMENT,
                         "'memory' is the name of the module's memory, not of a graph");
    for (uint64_t i = 0; i < count && status == HG_OK; i++) {
        const build_kernel *k = &job->kernels.data[i];
        names[i] = k->name;
        status = form_of(k, &forms[i]);
    }
    build_wasm k = {.job = job};
    if (status == HG_OK)
        status = emit_wasm_alone(forms, (uint32_t)count, names, write_module, &k,
                                 "Written by `hologram build --target wasm`.\n", out);
    for (uint64_t i = 0; forms && i < count; i++)
        if (forms[i]) vec_kernel_destroy(forms[i]);
    hg_free(forms);
    hg_free(names);
    return status;
}
