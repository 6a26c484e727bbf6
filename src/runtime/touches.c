/* What the launches of a binding touch: the memory of its kernels' slots and of its steps' arrays,
 * class memory, the state. Memory that is only found while the program runs may be any.
 * Must not know: the order of runs. */
#include "isa/isa.h"
#include "runtime/binding.h"
#include "runtime/memory.h"
#include <string.h>

typedef HG_VEC(hg_touch) touch_list;

static hg_status add(const hg_binding *binding, touch_list *list, const hg_range *range,
                     bool written) {
    if (!range->arena || !range->size) return HG_OK;
    hg_touch *touch = hg_vec_push(list);
    if (!touch) return hg_fail_memory();
    *touch = hg_touch_of(binding->executable->backend, range, written);
    return HG_OK;
}

static hg_status add_kernel(hg_binding *binding, touch_list *list, const hg_kernel *kernel,
                            const hg_bound_kernel *bound) {
    if (kernel->has_open) binding->touches.shares |= HG_SHARES_ALL;
    if (bound->has_classes || kernel->uses_class) binding->touches.shares |= HG_SHARES_CLASSES;
    for (uint32_t i = 0; i < kernel->slot_count; i++) {
        const kir_slot *slot = &kernel->slots[i];
        if (bound->when[i] == HG_SLOT_LATE) binding->touches.shares |= HG_SHARES_ALL;
        /* What is the binding's own or for reading only stands against nobody. */
        if (bound->when[i] == HG_SLOT_BINDING && slot->plan == KIR_PLAN_NONE)
            HG_TRY(add(binding, list, &bound->slots[i], slot->written));
    }
    return HG_OK;
}

/* An array named by a parameter is one of the buffers and pools that the binding holds. */
static hg_status add_array(hg_binding *binding, touch_list *list, const plan_step *step,
                           const kir_step_operand *a) {
    const hg_plan *plan = binding->executable->plan;
    if (a->space == KIR_CLASS) {
        binding->touches.shares |= HG_SHARES_CLASSES;
        return HG_OK;
    }
    const plan_env *handle = &plan->env.data[step->args[a->first_arg]];
    bool stays = handle->init == PLAN_INIT_PARAM && handle->writer == PLAN_BY_NOBODY;
    bool known = (a->space == KIR_BUFFER || a->space == KIR_POOL) && stays &&
                 binding->values[handle->reg];
    if (!known) {
        binding->touches.shares |= HG_SHARES_ALL;
        return HG_OK;
    }
    uint64_t value = 0;
    memcpy(&value, binding->values[handle->reg], sizeof value);
    if (a->space == KIR_BUFFER && hg_handle_is_class(value))
        binding->touches.shares |= HG_SHARES_CLASSES;
    hg_range range = hg_binding_held(binding, a->space == KIR_POOL, value, false);
    if (!range.arena) binding->touches.shares |= HG_SHARES_ALL;
    return add(binding, list, &range, (a->access & HG_WRITE) != 0);
}

void hg_binding_move_touches(hg_binding *binding) {
    const hg_kernel *kernel = &binding->executable->kernels[0];
    const hg_bound_kernel *bound = &binding->kernels[0];
    hg_touch *to = (hg_touch *)(uintptr_t)binding->touches.list; /* of the binding's arena */
    for (uint32_t i = 0; i < kernel->slot_count; i++)
        if (bound->slots[i].size)
            *to++ = hg_touch_of(binding->executable->backend, &bound->slots[i],
                                kernel->slots[i].written);
}

hg_status hg_binding_find_touches(hg_binding *binding) {
    const hg_executable *e = binding->executable;
    touch_list list = {0};
    hg_status status = HG_OK;
    binding->touches.binding = binding;
    if (e->uses_state) binding->touches.shares |= HG_SHARES_STATE;
    if (e->moves_pools) binding->touches.shares |= HG_SHARES_ALL;
    for (uint32_t i = 0; i < e->kernel_count && status == HG_OK; i++)
        status = add_kernel(binding, &list, &e->kernels[i], &binding->kernels[i]);
    for (uint64_t i = 0; i < e->plan->steps.count && status == HG_OK; i++) {
        const plan_step *step = &e->plan->steps.data[i];
        for (uint32_t k = 0; k < step->info->count && status == HG_OK; k++)
            if (step->info->operands[k].kind == KIR_STEP_ARRAY)
                status = add_array(binding, &list, step, &step->info->operands[k]);
    }
    if (status == HG_OK && list.count) {
        hg_touch *all = hg_arena_alloc(&binding->arena, (size_t)list.count * sizeof *all);
        if (all) memcpy(all, list.data, (size_t)list.count * sizeof *all);
        binding->touches.list = all;
        binding->touches.count = all ? (uint32_t)list.count : 0;
        if (!all) status = hg_fail_memory();
    }
    hg_vec_free(&list);
    return status;
}
