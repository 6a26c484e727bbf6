/* Bindings whose buffers change from launch to launch. They are moved in place: what a new binding
 * would look up and check again is the same as long as the new buffers have the old ones' sizes and
 * lie to each other as these did.
 * Must not know: who has the buffers. */
#include "runtime/execute_internal.h"
#include <string.h>

static const hg_kernel *kernel_of(const hg_binding *binding) {
    return &binding->executable->kernels[0];
}

/* Whether memory and arguments of the kernel are those of parameters, and nothing else has them. */
static bool has_plain_slots(const hg_binding *binding) {
    const hg_kernel *kernel = kernel_of(binding);
    const hg_bound_kernel *bound = &binding->kernels[0];
    if (kernel->slot_count > HG_MOST_MOVED || kernel->prover) return false;
    for (uint32_t i = 0; i < kernel->slot_count; i++) {
        const kir_slot *slot = &kernel->slots[i];
        if (slot->constant || slot->space == KIR_POOL || slot->plan != KIR_PLAN_NONE ||
            bound->when[i] != HG_SLOT_BINDING)
            return false;
    }
    for (uint32_t i = 0; i < kernel->input_count; i++)
        if (kernel->inputs[i].kind != KIR_INPUT_PARAM || kernel->inputs[i].limb_bytes) return false;
    return true;
}

/* Nothing of its launch is anybody else's: no context's, no pool's. */
static bool stands_alone(const hg_binding *binding) {
    const hg_backend *b = binding->executable->backend;
    return !b->profile && !b->fork.lost && b->caps->memory.host_memory &&
           !b->caps->scheduling.asynchronous && !b->caps->compiler.device_form &&
           binding->way.submitted != HG_WAY_PLAN && !binding->executable->uses_state &&
           !binding->kernels[0].has_classes && !binding->memory.held_pools.count &&
           !binding->memory.has_constants && !binding->env.memory.range.arena &&
           !binding->memory.scratch.range.arena && !binding->memory.shared.range.arena;
}

bool hg_binding_loosen(hg_binding *binding) {
    if (!stands_alone(binding) || !has_plain_slots(binding)) return false;
    for (uint64_t i = 0; i < binding->memory.held_buffers.count; i++)
        hg_handles_release(&binding->executable->backend->buffers,
                           binding->memory.held_buffers.data[i].handle);
    binding->memory.held_buffers.count = 0;
    binding->spent_ns = 0;
    return true;
}

static uint64_t handle_at(const uint8_t *bytes) {
    uint64_t handle;
    memcpy(&handle, bytes, sizeof handle);
    return handle;
}

/* Slots of the parameter in that register are in the buffer's memory from now on. */
static bool find_memory(const hg_binding *binding, uint8_t reg, uint64_t handle, hg_range *slots) {
    const hg_kernel *kernel = kernel_of(binding);
    hg_reader *reader;
    const hg_memory *m = hg_handles_enter(&binding->executable->backend->buffers, handle, &reader);
    if (!m) return false;
    hg_range range = m->place.range;
    hg_reader_leave(reader);
    for (uint32_t i = 0; i < kernel->slot_count; i++) {
        if (kernel->inputs[kernel->slots[i].input].reg != reg) continue;
        if (slots[i].size != range.size) return false;
        slots[i] = range;
    }
    return true;
}

static bool lie_the_same(const hg_binding *binding, const hg_range *slots) {
    uint8_t aliases[HG_MOST_MOVED * HG_MOST_MOVED];
    const uint32_t count = kernel_of(binding)->slot_count;
    const size_t pairs = (size_t)hg_alias_pair(0, count);
    if (count < 2) return true;
    hg_alias_signature(binding->executable->backend, slots, count, aliases);
    return memcmp(aliases, binding->kernels[0].aliases, pairs) == 0 &&
           !memchr(aliases, HG_ALIAS_OVERLAPPING, pairs);
}

static void set_handle(hg_binding *binding, uint8_t reg, uint64_t handle) {
    const hg_kernel *kernel = kernel_of(binding);
    memcpy(binding->values[reg], &handle, sizeof handle);
    for (uint32_t i = 0; i < kernel->input_count; i++)
        if (kernel->inputs[i].reg == reg) binding->kernels[0].inputs[i] = handle;
}

HG_NOINLINE static bool move(hg_binding *binding, const uint8_t *regs, const hg_buffer *buffers,
                             uint32_t count) {
    const hg_backend *b = binding->executable->backend;
    const size_t bytes = kernel_of(binding)->slot_count * sizeof(hg_range);
    hg_bound_kernel *bound = &binding->kernels[0];
    hg_range slots[HG_MOST_MOVED];
    memcpy(slots, bound->slots, bytes);
    for (uint32_t i = 0; i < count; i++)
        if (!find_memory(binding, regs[i], hg_handle_plain(b, buffers[i].handle), slots))
            return false;
    if (!lie_the_same(binding, slots)) return false;
    memcpy(bound->slots, slots, bytes);
    for (uint32_t i = 0; i < count; i++)
        set_handle(binding, regs[i], hg_handle_plain(b, buffers[i].handle));
    hg_binding_move_touches(binding);
    if (binding->way.waited == HG_WAY_READY) hg_binding_move_ready(binding);
    return true;
}

bool hg_binding_move(hg_binding *binding, const uint8_t *regs, const hg_buffer *buffers,
                     uint32_t count) {
    const hg_backend *b = binding->executable->backend;
    if (HG_UNLIKELY(b->profile || b->fork.lost)) return false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t handle = hg_handle_plain(b, buffers[i].handle);
        if (handle_at(binding->values[regs[i]]) != handle ||
            HG_UNLIKELY(!hg_handles_is_live(&b->buffers, handle)))
            return move(binding, regs, buffers, count);
    }
    return true;
}
