/* Bindings: a launch with its parameters, checked once and laid out for the driver. */
#include "runtime/client.h"
#include "runtime/execute_internal.h"
#include "runtime/step.h"
#include <stdio.h>
#include <string.h>

/* The value of an input, from the parameter registers; limbs of wide values too. */
static uint64_t param_input(const hg_binding *binding, const kir_input *input) {
    const uint8_t *bytes = binding->values[input->reg];
    uint64_t value = 0, size = input->limb_bytes ? input->limb_bytes : 8,
             start = (uint64_t)input->limb * input->limb_bytes;
    for (uint64_t i = 0; bytes && i < size; i++) value |= (uint64_t)bytes[start + i] << (8 * i);
    return value;
}

/* Behind the program's shared memory; halves where the device has no u64. */
static uint64_t scratch_input(const hg_binding *binding, const kir_input *input) {
    uint64_t at = (binding->launch.shared_bytes - binding->launch.shared_scratch + 15) &
                  ~UINT64_C(15);
    return input->limb_bytes && input->limb ? 0 : at;
}

static void *list(hg_binding *binding, uint32_t count, size_t size) {
    return hg_arena_alloc(&binding->arena, (count + (size_t)1) * size);
}

static hg_status lay_out_inputs(hg_binding *binding, const hg_kernel *kernel,
                                hg_bound_kernel *bound) {
    bound->inputs = list(binding, kernel->input_count, sizeof *bound->inputs);
    if (!bound->inputs) return hg_fail_memory();
    for (uint32_t i = 0; i < kernel->input_count; i++) {
        const kir_input *input = &kernel->inputs[i];
        if (input->kind == KIR_INPUT_PARAM) bound->inputs[i] = param_input(binding, input);
        if (input->kind == KIR_INPUT_SHARED) bound->inputs[i] = scratch_input(binding, input);
    }
    return HG_OK;
}

/* Finds the memory of a slot now if it cannot be another one later. */
static hg_status lay_out_slot(hg_binding *binding, const hg_kernel *kernel, const kir_slot *slot,
                              const uint64_t *inputs, hg_range *range, uint8_t *when) {
    const hg_executable *e = binding->executable;
    if (slot->plan == KIR_PLAN_STATE) {
        *when = HG_SLOT_STATE;
        return HG_OK;
    }
    if (!slot->constant && kernel->inputs[slot->input].kind != KIR_INPUT_PARAM) return HG_OK;
    uint64_t handle = slot->constant ? slot->handle : inputs[slot->input];
    bool pool = slot->space == KIR_POOL;
    *when = HG_SLOT_BINDING;
    if (slot->plan == KIR_PLAN_ENV)
        *range = binding->env.range;
    else if (slot->plan == KIR_PLAN_UNIFORMS)
        *range = binding->env.uniforms;
    else if (slot->plan == KIR_PLAN_SCRATCH)
        *range = binding->memory.scratch.range;
    else if (slot->plan == KIR_PLAN_CHARACTERS)
        HG_TRY(hg_backend_characters(e->backend, range));
    else if (!pool && hg_handle_is_class(handle)) {
        *when = HG_SLOT_CLASS;
        return HG_OK;
    } else if (!pool || !e->moves_pools)
        HG_TRY(hg_binding_hold(binding, pool, handle, range));
    if (!range->arena) *when = HG_SLOT_LATE;
    return HG_OK;
}

static uint64_t slot_handle(const kir_slot *slot, const uint64_t *inputs) {
    return slot->constant ? slot->handle : inputs[slot->input];
}

hg_status hg_binding_use_context(hg_binding *binding, uint32_t index, hg_context *context,
                                 bool *changed) {
    const hg_kernel *kernel = &binding->executable->kernels[index];
    const hg_bound_kernel *bound = &binding->kernels[index];
    hg_range all = {NULL, 0, 0};
    *changed = false;
    if (bound->has_classes) HG_TRY(hg_context_class_memory(context, &all));
    for (uint32_t i = 0; i < kernel->slot_count; i++) {
        if (bound->when[i] != HG_SLOT_CLASS && bound->when[i] != HG_SLOT_STATE) continue;
        bool is_class = bound->when[i] == HG_SLOT_CLASS;
        hg_range range = is_class
                             ? hg_class_range(&all, slot_handle(&kernel->slots[i], bound->inputs))
                             : context->state.range;
        hg_range *slot = &bound->slots[i];
        if (slot->arena == range.arena && slot->offset == range.offset) continue;
        *slot = range;
        *changed = true;
    }
    if (*changed && bound->aliases)
        hg_alias_signature(context->backend, bound->slots, kernel->slot_count, bound->aliases);
    return HG_OK;
}

static hg_status lay_out_kernel(hg_binding *binding, const hg_kernel *kernel,
                                hg_bound_kernel *bound) {
    HG_TRY(lay_out_inputs(binding, kernel, bound));
    bound->slots = list(binding, kernel->slot_count, sizeof *bound->slots);
    bound->when = list(binding, kernel->slot_count, sizeof *bound->when);
    if (!bound->slots || !bound->when) return hg_fail_memory();
    bound->has_classes = kernel->uses_class;
    for (uint32_t i = 0; i < kernel->slot_count; i++) {
        HG_TRY(lay_out_slot(binding, kernel, &kernel->slots[i], bound->inputs, &bound->slots[i],
                            &bound->when[i]));
        bound->has_classes |= bound->when[i] == HG_SLOT_CLASS;
        bound->has_state |= bound->when[i] == HG_SLOT_STATE;
        binding->guarded |= bound->when[i] == HG_SLOT_LATE;
    }
    binding->guarded |= kernel->has_open;
    if (kernel->slot_count < 2) return HG_OK;
    bound->aliases = list(binding, (uint32_t)hg_alias_pair(0, kernel->slot_count), 1);
    if (!bound->aliases) return hg_fail_memory();
    hg_alias_signature(binding->executable->backend, bound->slots, kernel->slot_count,
                       bound->aliases);
    return HG_OK;
}

/* Shared memory belongs to a block for the whole program: with whole-array steps in between it
 * needs a place of its own. After bar.grid it is zero, as in a kernel's own. */
static hg_status lay_out_shared(hg_binding *binding) {
    const hg_executable *e = binding->executable;
    const hg_resolved *l = &binding->launch;
    uint64_t block = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    if (!e->uses_shared || !e->plan->keeps_shared || !block || !l->lanes || !l->shared_bytes)
        return HG_OK;
    uint64_t blocks = (l->lanes - 1) / block + 1;
    uint64_t all;
    if (!hg_mul_u64(blocks, l->shared_bytes, &all))
        return hg_fail(
            HG_ERROR_OUT_OF_MEMORY,
            "shared memory that lives across steps needs %llu bytes for each of %llu blocks",
            (unsigned long long)l->shared_bytes, (unsigned long long)blocks);
    return hg_piece_alloc(&e->backend->memory, all, &binding->memory.shared);
}

static hg_status lay_out(hg_binding *binding) {
    const hg_executable *e = binding->executable;
    hg_backend *b = e->backend;
    binding->kernels = hg_arena_alloc(&binding->arena,
                                      (e->kernel_count + 1) * sizeof *binding->kernels);
    if (!binding->kernels) return hg_fail_memory();
    HG_TRY(hg_env_lay_out(binding));
    uint64_t scratch;
    if (!hg_mul_u64(e->plan->scratch_lane_bytes, binding->launch.lanes, &scratch))
        return hg_fail(HG_ERROR_OUT_OF_MEMORY,
                       "values that live across steps need %llu bytes a lane for %llu lanes",
                       (unsigned long long)e->plan->scratch_lane_bytes,
                       (unsigned long long)binding->launch.lanes);
    if (scratch) HG_TRY(hg_piece_alloc(&b->memory, scratch, &binding->memory.scratch));
    HG_TRY(lay_out_shared(binding));
    for (uint32_t i = 0; i < e->kernel_count; i++)
        HG_TRY(lay_out_kernel(binding, &e->kernels[i], &binding->kernels[i]));
    return hg_steps_bind(binding);
}

enum { PREPARE_AFTER = 3 }; /* launches: what is made ready may take memory */

static void fill_one_launch(hg_binding *binding) {
    const hg_bound_kernel *bound = &binding->kernels[0];
    hg_binding_fill_launch(binding, 0, &binding->way.one.launch);
    binding->way.one.needs_clock = hg_binding_needs_clock(binding);
    if (binding->executable->kernels[0].prover && !bound->has_classes && !bound->has_state)
        (void)hg_launch_proven(binding, 0, &binding->way.one.launch);
    binding->way.one.command = (hg_driver_command){
        .kind = HG_CMD_LAUNCH, .launch = &binding->way.one.launch, .fault = &binding->fault};
}

static void set_way(hg_binding *binding) {
    bool first = binding->executable->backend->prepares_first;
    binding->way.waited = binding->way.submitted = hg_binding_choose_way(binding);
    if (binding->way.waited != HG_WAY_PLAN) fill_one_launch(binding);
    binding->way.ready.launches_left = first ? 1 : PREPARE_AFTER;
    if (binding->way.waited == HG_WAY_COMMAND && first)
        hg_binding_prepare(binding, &binding->way.one.command, NULL, 1);
}

void hg_binding_fill_launch(const hg_binding *binding, uint32_t index, hg_driver_launch *launch) {
    const hg_kernel *kernel = &binding->executable->kernels[index];
    memset(launch, 0, sizeof *launch);
    launch->kernel = kernel->code->kernel;
    memcpy(launch->grid, binding->launch.grid, sizeof launch->grid);
    memcpy(launch->block, binding->launch.block, sizeof launch->block);
    launch->lanes = binding->launch.lanes;
    launch->shared_bytes = binding->launch.shared_bytes;
    launch->shared_scratch = binding->launch.shared_scratch;
    launch->shared_memory = binding->memory.shared.range;
    launch->inputs = binding->kernels[index].inputs;
    launch->slots = binding->kernels[index].slots;
    launch->aliases = binding->kernels[index].aliases;
    launch->slot_count = kernel->slot_count;
    launch->uniforms.bytes = binding->env.bytes;
    launch->uniforms.unknown = binding->env.stale;
    launch->timeout_ms = binding->launch.timeout_ms;
    launch->max_threads = binding->executable->backend->config.num_threads;
}

/* The executable given, or the one for the registers and the step limit of this launch. */
static hg_status choose_executable(hg_executable *given, const hg_launch *launch,
                                   const hg_params *params, hg_executable **chosen) {
    uint64_t max_steps = launch ? launch->max_steps : given->max_steps;
    hg_signature signature;
    hg_params_signature(params, &signature);
    if (given->program->param_count) memset(signature.types, HG_TYPE_OMITTED, HG_FIRST_SPECIAL);
    *chosen = hg_executable_retain(given);
    if (max_steps == given->max_steps &&
        memcmp(&signature, &given->signature, sizeof signature) == 0)
        return HG_OK;
    hg_status status = hg_executable_get(given->backend, given->program, &signature, max_steps,
                                         hg_timeout_of(given->backend, launch), chosen);
    hg_executable_destroy(given);
    return status;
}

hg_status hg_binding_create(hg_executable *executable, const hg_launch *given,
                            const hg_params *params, hg_binding **result) {
    HG_ENTRY;
    hg_launch own, *launch = given ? &own : NULL;
    if (!executable) return hg_null_argument("executable");
    if (!result) return hg_null_argument("binding");
    if (given) HG_TRY(hg_launch_take(given, &own));
    HG_TRY(hg_backend_alive(executable->backend));
    hg_executable *chosen = NULL;
    HG_TRY(choose_executable(executable, launch, params, &chosen));
    hg_binding *binding = hg_calloc(1, sizeof *binding);
    if (!binding) {
        hg_executable_destroy(chosen);
        return hg_fail_memory();
    }
    binding->executable = chosen;
    binding->references = 1;
    hg_child_add(&chosen->backend->children, HG_CHILD_BINDING);
    hg_status status = hg_binding_resolve(binding, launch, params);
    if (status == HG_OK) status = lay_out(binding);
    if (status == HG_OK) status = hg_binding_find_touches(binding);
    if (status != HG_OK) {
        hg_binding_destroy(binding);
        return status;
    }
    set_way(binding);
    *result = binding;
    return HG_OK;
}

void hg_binding_retain(hg_binding *binding) {
    hg_atomic_fetch_add(&binding->references, 1, HG_RELAXED);
}

void hg_error_set_origin(const hg_provenance *origin) {
    hg_error *error = hg_error_record();
    char where[40] = "", message[sizeof error->message];
    if (error->line)
        snprintf(where, sizeof where, " (line %u of the program)", (unsigned)error->line);
    snprintf(message, sizeof message, "%s: %.300s%s", origin->text, error->message, where);
    memcpy(error->message, message, sizeof message);
    error->line = origin->line;
    error->column = origin->line != 0;
}

void hg_binding_error_origin(const hg_binding *binding) {
    uint64_t inst = hg_error_record()->instruction;
    if (!binding->origins) return;
    if (inst >= binding->executable->program->inst_count) inst = 0;
    while (inst && !binding->origins[inst].text) inst--;
    hg_error_set_origin(&binding->origins[inst]);
}

/* Nobody has it any more. */
static void free_binding(hg_binding *binding) {
    hg_error kept = *hg_error_record(); /* freeing must not hide why a creation failed */
    hg_backend *b = binding->executable->backend;
    hg_recorded_free(&binding->recorded, b->driver);
    for (uint8_t i = 0; i < binding->way.ready.count; i++)
        b->driver->prepared_destroy(binding->way.ready.commands[i].prepared);
    for (uint64_t i = 0; i < binding->memory.held_buffers.count; i++)
        hg_handles_release(&b->buffers, binding->memory.held_buffers.data[i].handle);
    for (uint64_t i = 0; i < binding->memory.held_pools.count; i++)
        hg_handles_release(&b->pools, binding->memory.held_pools.data[i].handle);
    for (uint64_t i = 0; i < binding->memory.own_pools.count; i++) /* the program may have freed it
                                                                    */
        HG_IGNORE(hg_backend_free_pool(
            b, (hg_pool){hg_handle_public(b, binding->memory.own_pools.data[i])}));
    for (uint64_t i = 0; i < binding->memory.own_buffers.count; i++)
        HG_IGNORE(hg_backend_free_buffer(
            b, (hg_buffer){hg_handle_public(b, binding->memory.own_buffers.data[i])}));
    for (uint32_t i = 0; binding->kernels && i < binding->executable->kernel_count; i++)
        hg_dispatch_free(&binding->kernels[i].dispatch);
    hg_steps_unbind(binding);
    hg_piece_free(&b->memory, &binding->env.memory);
    hg_piece_free(&b->memory, &binding->memory.scratch);
    hg_piece_free(&b->memory, &binding->memory.shared);
    hg_vec_free(&binding->memory.held_buffers);
    hg_vec_free(&binding->memory.held_pools);
    hg_vec_free(&binding->memory.own_pools);
    hg_vec_free(&binding->memory.own_buffers);
    hg_arena_free(&binding->arena);
    hg_executable_destroy(binding->executable);
    hg_child_remove(&b->children, HG_CHILD_BINDING);
    hg_free(binding);
    *hg_error_record() = kept;
}

void hg_binding_destroy(hg_binding *binding) {
    HG_ENTRY;
    while (binding && !binding->executable->backend->fork.lost) {
        hg_binding *next = binding->next;
        if (hg_atomic_sub_fetch(&binding->references, 1, HG_ACQ_REL) != 0)
            return; /* a queue has it */
        free_binding(binding);
        binding = next;
    }
}
