/* Bindings: a launch with its parameters, checked once and laid out for the driver. */
#include "runtime/execute_internal.h"
#include <string.h>

/* The value of an input, from the parameter registers; limbs of wide values too. */
static uint64_t param_input(const hg_binding *binding, const kir_input *input) {
    const uint8_t *bytes = binding->values[input->reg];
    uint64_t value = 0, size = input->limb_bytes ? input->limb_bytes : 8, start = (uint64_t)input->limb * input->limb_bytes;
    for (uint64_t i = 0; bytes && i < size; i++) value |= (uint64_t)bytes[start + i] << (8 * i);
    return value;
}

static hg_status lay_out_kernel(hg_binding *binding, const hg_kernel *kernel, hg_bound_kernel *bound) {
    bound->inputs = hg_arena_alloc(&binding->arena, (kernel->input_count + 1) * sizeof *bound->inputs);
    bound->slots = hg_arena_alloc(&binding->arena, (kernel->slot_count + 1) * sizeof *bound->slots);
    if (!bound->inputs || !bound->slots) return hg_fail_memory();
    for (uint32_t i = 0; i < kernel->input_count; i++)
        if (kernel->inputs[i].kind == KIR_INPUT_PARAM) bound->inputs[i] = param_input(binding, &kernel->inputs[i]);
    return HG_OK;
}

void hg_binding_reset_env(hg_binding *binding) {
    const hg_plan *plan = binding->executable->plan;
    memset(binding->env, 0, (size_t)plan->env_bytes);
    for (uint64_t i = 0; i < plan->env.count; i++) {
        const plan_env *e = &plan->env.data[i];
        uint8_t *to = binding->env + e->offset;
        size_t size = (size_t)kir_type_bytes(e->type);
        if (e->init == PLAN_INIT_CONST) memcpy(to, &e->value, size < 8 ? size : 8);
        if (e->init == PLAN_INIT_PARAM && binding->values[e->reg]) memcpy(to, binding->values[e->reg], size);
    }
}

static hg_status lay_out(hg_binding *binding) {
    const hg_executable *e = binding->executable;
    hg_backend *b = e->backend;
    binding->kernels = hg_arena_alloc(&binding->arena, (e->kernel_count + 1) * sizeof *binding->kernels);
    if (!binding->kernels) return hg_fail_memory();
    for (uint32_t i = 0; i < e->kernel_count; i++) HG_TRY(lay_out_kernel(binding, &e->kernels[i], &binding->kernels[i]));
    if (e->plan->env_bytes) {
        binding->env = hg_arena_alloc(&binding->arena, (size_t)e->plan->env_bytes);
        if (!binding->env) return hg_fail_memory();
        HG_TRY(b->driver->arena_alloc(b->device, e->plan->env_bytes, &binding->env_arena));
    }
    uint64_t scratch;
    if (!hg_mul_u64(e->plan->scratch_lane_bytes, binding->launch.lanes, &scratch))
        return hg_fail(HG_ERROR_OUT_OF_MEMORY, "values that live across steps need %llu bytes a lane for %llu lanes", (unsigned long long)e->plan->scratch_lane_bytes, (unsigned long long)binding->launch.lanes);
    if (scratch) HG_TRY(b->driver->arena_alloc(b->device, scratch, &binding->scratch_arena));
    return HG_OK;
}

hg_status hg_binding_create(hg_executable *executable, const hg_launch *launch, const hg_params *params, hg_binding **result) {
    hg_binding *binding = hg_calloc(1, sizeof *binding);
    if (!binding) return hg_fail_memory();
    binding->executable = hg_executable_retain(executable);
    binding->simple = executable->kernel_count == 1 && executable->plan->steps.count == 0;
    hg_status status = hg_binding_resolve(binding, launch, params);
    if (status == HG_OK) status = lay_out(binding);
    if (status != HG_OK) {
        hg_binding_destroy(binding);
        return status;
    }
    *result = binding;
    return HG_OK;
}

void hg_binding_destroy(hg_binding *binding) {
    if (!binding) return;
    hg_error kept = *hg_error_record(); /* freeing must not hide why a creation failed */
    hg_backend *b = binding->executable->backend;
    for (uint64_t i = 0; i < binding->held_buffers.count; i++) hg_handles_release(&b->buffers, binding->held_buffers.data[i]);
    for (uint64_t i = 0; i < binding->held_pools.count; i++) hg_handles_release(&b->pools, binding->held_pools.data[i]);
    for (uint64_t i = 0; i < binding->own_pools.count; i++) (void)!hg_backend_free_pool(b, (hg_pool){binding->own_pools.data[i]});
    if (binding->env_arena) b->driver->arena_free(b->device, binding->env_arena);
    if (binding->scratch_arena) b->driver->arena_free(b->device, binding->scratch_arena);
    hg_vec_free(&binding->held_buffers);
    hg_vec_free(&binding->held_pools);
    hg_vec_free(&binding->own_pools);
    hg_arena_free(&binding->arena);
    hg_executable_destroy(binding->executable);
    hg_free(binding);
    *hg_error_record() = kept;
}

hg_status hg_binding_launch(hg_binding *binding) { return hg_run_binding(binding, binding->executable->backend->context); }

hg_status hg_binding_launch_in(hg_binding *binding, hg_context *context) {
    if (context->backend != binding->executable->backend) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the context belongs to another backend");
    return hg_run_binding(binding, context);
}
