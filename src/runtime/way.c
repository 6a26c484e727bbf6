/* The way in which launches of a binding are carried out: docs/design/launch-ways.md.
 * Must not know: how any of them is. */
#include "runtime/execute_internal.h"

/* Work below this needs no clock: it is over in some milliseconds. */
#define SHORT_WORK (UINT64_C(1) << 24)

/* On others the plan machine hands the launch over and waits for it. */
static bool may_launch_here(const hg_backend *b) {
    return b->caps->memory.host_memory ||
           (b->caps->compiler.device_form && hg_driver_can_block(b->driver, b->caps));
}

/* Whether the program is one kernel whose arguments are all known, on memory that nobody must clear
 * first. */
static bool is_one_known_kernel(const hg_binding *binding) {
    const hg_executable *e = binding->executable;
    return e->kernel_count == 1 && !e->plan->steps.count && !binding->guarded &&
           !binding->memory.own_pools.count && !binding->memory.own_buffers.count;
}

static bool uses_context(const hg_binding *binding) {
    const hg_bound_kernel *bound = &binding->kernels[0];
    return binding->executable->uses_state || bound->has_classes || bound->has_state;
}

bool hg_binding_needs_clock(const hg_binding *binding) {
    const hg_code_set *code = binding->executable->kernels[0].code;
    uint64_t work;
    if (!binding->launch.timeout_ms) return false;
    return code->facts.unbounded ||
           !hg_mul_u64(code->cost.work + 1, binding->launch.lanes, &work) || work > SHORT_WORK;
}

bool hg_binding_is_steady(const hg_binding *binding) {
    HG_ENTRY;
    if (!binding) return false;
    const hg_executable *e = binding->executable;
    const hg_plan *plan = e->plan;
    if (e->kernel_count == 1 && !plan->steps.count) return !e->kernels[0].code->facts.unbounded;
    if (e->kernel_count || plan->code.count != plan->steps.count + 1) return false;
    for (uint64_t i = 0; i < plan->steps.count; i++)
        if (plan->code.data[i].op != PLAN_STEP) return false;
    return true;
}

hg_launch_way hg_binding_choose_way(const hg_binding *binding) {
    const hg_device_caps *caps = binding->executable->backend->caps;
    if (!is_one_known_kernel(binding) || !may_launch_here(binding->executable->backend))
        return HG_WAY_PLAN;
    bool asks_for_code = caps->compiler.device_form ||
                         binding->executable->backend->driver->kernel_ready;
    if (caps->scheduling.asynchronous || asks_for_code || uses_context(binding) ||
        hg_binding_needs_clock(binding))
        return HG_WAY_KERNEL;
    return HG_WAY_COMMAND;
}
