/* Uniform values that live across steps: where they are on the device, which of them the host
 * knows, and how a value gets from one to the other. Where the host sees the device's memory and no
 * work goes on behind its back, both are the same bytes and nothing is copied. Else values stay on
 * the device until the host needs one.
 * Must not know: plan code, steps. */
#include "runtime/execute_internal.h"
#include <string.h>

enum { HALF_ALIGN = 256 }; /* as pieces of arenas */

/* ---- places ---- */

static bool reads_memory(const hg_binding *binding) {
    return binding->executable->plan->reads != PLAN_READS_INPUTS;
}

static hg_range part(const hg_range *of, const plan_env *first, uint64_t end) {
    return (hg_range){of->arena, of->offset + first->offset, end - first->offset};
}

static uint64_t end_of(const plan_env *e) {
    return e->offset + ((kir_type_bytes(e->type) + 7) & ~UINT64_C(7));
}

static bool has_written(const hg_plan *plan, plan_writer writer) {
    for (uint64_t i = 0; i < plan->env.count; i++)
        if (plan->env.data[i].writer == writer) return true;
    return false;
}

/* ---- values ---- */

static void set_initial(hg_binding *binding) {
    const hg_plan *plan = binding->executable->plan;
    memset(binding->env.bytes, 0, (size_t)plan->env_bytes);
    if (binding->env.stale)
        memset(binding->env.stale, 0, (size_t)plan->env_bytes / 8 * sizeof *binding->env.stale);
    for (uint64_t i = 0; i < plan->env.count; i++) {
        const plan_env *e = &plan->env.data[i];
        uint8_t *to = binding->env.bytes + e->offset;
        size_t size = (size_t)kir_type_bytes(e->type);
        if (e->init == PLAN_INIT_CONST)
            memcpy(to, e->bytes ? (const void *)e->bytes : &e->value, size);
        if (e->init == PLAN_INIT_PARAM && binding->values[e->reg])
            memcpy(to, binding->values[e->reg], size);
    }
}

hg_status hg_env_lay_out(hg_binding *binding) {
    const hg_plan *plan = binding->executable->plan;
    hg_backend *b = binding->executable->backend;
    uint64_t bytes = plan->env_bytes, half = (bytes + HALF_ALIGN - 1) / HALF_ALIGN * HALF_ALIGN;
    if (!bytes) return HG_OK;
    bool on_device = has_written(plan, PLAN_BY_KERNEL);
    binding->env.changes = on_device || has_written(plan, PLAN_BY_HOST);
    if (on_device) {
        HG_TRY(hg_piece_alloc(&b->memory, reads_memory(binding) ? half + bytes : bytes,
                              &binding->env.memory));
        binding->env.range = binding->env.uniforms = binding->env.memory.range;
        binding->env.range.size = binding->env.uniforms.size = bytes;
        if (reads_memory(binding)) binding->env.uniforms.offset += half;
        if (b->caps->memory.host_memory && !b->caps->scheduling.asynchronous)
            binding->env.bytes = hg_host_address(b, &binding->env.range);
        binding->env.is_memory = binding->env.bytes != NULL;
    }
    if (on_device && !binding->env.bytes) {
        binding->env.stale = hg_arena_alloc(&binding->arena,
                                            (size_t)bytes / 8 * sizeof *binding->env.stale);
        if (!binding->env.stale) return hg_fail_memory();
    }
    if (!binding->env.bytes) binding->env.bytes = hg_arena_alloc(&binding->arena, (size_t)bytes);
    binding->env.computed = hg_arena_alloc(&binding->arena, (plan->most_operations + (size_t)1) *
                                                                sizeof *binding->env.computed);
    if (!binding->env.bytes || !binding->env.computed) return hg_fail_memory();
    set_initial(binding); /* what steps are bound to */
    return HG_OK;
}

hg_status hg_env_begin(hg_run *run) {
    hg_binding *binding = run->binding;
    if (!binding->env.changes) return HG_OK;
    set_initial(binding);
    if (!binding->env.range.arena) return HG_OK;
    hg_driver_command clear = {.kind = HG_CMD_FILL, .to = binding->env.range};
    if (!binding->env.is_memory) HG_TRY(hg_run_add(run, &clear));
    clear.to = binding->env.uniforms;
    return reads_memory(binding) ? hg_run_add(run, &clear) : HG_OK;
}

static bool is_stale(const hg_binding *binding, uint64_t entry) {
    return binding->env.stale[binding->executable->plan->env.data[entry].offset / 8];
}

bool hg_env_lacks(const hg_run *run, const plan_inst *inst) {
    const uint32_t *entries;
    const hg_binding *binding = run->binding;
    for (uint32_t i = 0, count = plan_needs(binding->executable->plan, inst, &entries); i < count;
         i++)
        if (is_stale(binding, entries[i])) return true;
    return false;
}

hg_status hg_env_fetch(hg_run *run) {
    hg_binding *binding = run->binding;
    const hg_plan *plan = binding->executable->plan;
    for (uint64_t i = 0; i < plan->env.count; i++) {
        if (!is_stale(binding, i)) continue;
        const plan_env *first = &plan->env.data[i];
        while (i + 1 < plan->env.count && is_stale(binding, i + 1)) i++;
        hg_driver_command copy = {
            .kind = HG_CMD_COPY_OUT,
            .from = part(&binding->env.range, first, end_of(&plan->env.data[i])),
            .host = binding->env.bytes + first->offset};
        HG_TRY(hg_run_add(run, &copy));
    }
    memset(binding->env.stale, 0, (size_t)plan->env_bytes / 8 * sizeof *binding->env.stale);
    run->work.look = true;
    return HG_OK;
}

static void note_written(hg_binding *binding, const plan_env *e) {
    if (binding->env.stale) binding->env.stale[e->offset / 8] = true;
}

/* From what kernels write to what they read; both are the same beside what was written. */
static hg_status hand_on(hg_run *run, const plan_env *first, uint64_t end) {
    const hg_binding *binding = run->binding;
    if (!reads_memory(binding)) return HG_OK;
    hg_driver_command copy = {.kind = HG_CMD_COPY,
                              .to = part(&binding->env.uniforms, first, end),
                              .from = part(&binding->env.range, first, end)};
    return hg_run_add(run, &copy);
}

hg_status hg_env_after_kernel(hg_run *run, uint32_t index) {
    hg_binding *binding = run->binding;
    const hg_plan *plan = binding->executable->plan;
    const plan_list *writes = &plan->kernels.data[index].writes;
    if (!writes->count) return HG_OK;
    const plan_env *first = NULL;
    uint64_t end = 0;
    for (uint32_t i = 0; i < writes->count; i++) {
        const plan_env *e = &plan->env.data[plan->refs.data[writes->first + i]];
        if (!first || e->offset < first->offset) first = e;
        if (end_of(e) > end) end = end_of(e);
        note_written(binding, e);
    }
    return hand_on(run, first, end);
}

void hg_env_compute(hg_binding *binding, const plan_inst *inst) {
    const hg_resolved *l = &binding->launch;
    plan_dims dims = {.lanes = l->lanes};
    memcpy(dims.grid, l->grid, sizeof dims.grid);
    memcpy(dims.block, l->block, sizeof dims.block);
    plan_compute(binding->executable->plan, inst->index, inst->target, &dims, binding->env.bytes,
                 binding->env.computed);
}

/* ---- results of steps ---- */

void hg_env_put(hg_binding *binding, const plan_step *step, uint64_t value) {
    if (step->result == HG_PLAN_NO_ENV) return;
    memcpy(binding->env.bytes + binding->executable->plan->env.data[step->result].offset, &value,
           sizeof value);
}

hg_range hg_env_result(const hg_binding *binding, const plan_step *step, uint64_t bytes) {
    if (step->result == HG_PLAN_NO_ENV) return (hg_range){NULL, 0, 0};
    const plan_env *e = &binding->executable->plan->env.data[step->result];
    return part(&binding->env.range, e, e->offset + bytes);
}

hg_status hg_env_after_step(hg_run *run, const plan_step *step) {
    hg_binding *binding = run->binding;
    if (step->result == HG_PLAN_NO_ENV) return HG_OK;
    const plan_env *e = &binding->executable->plan->env.data[step->result];
    note_written(binding, e);
    return hand_on(run, e, end_of(e));
}
