/* Launches that the driver makes ready (driver.h: prepare).
 * Must not know: who launches. */
#include "runtime/chain.h"
#include "runtime/execute_internal.h"

/* Kernels with loops are made ready when they have native code, which a thread may be making; and
 * maps around an instruction, when there is a kernel of them. */
enum {
    MOST_TRIES = 16,
    LAUNCHES_BETWEEN = 200 /* then twice as many each time: small launches are quicker than a
                              compiler */
};

/* ---- the commands ---- */

static bool add_step(hg_command_list *list, hg_binding *binding, uint32_t step) {
    hg_bound_step *s = &binding->steps.bound[step];
    if (!s->collective || !s->args.fixed || s->state != HG_STEP_PLACED || !s->place.stays ||
        s->place.aside_count)
        return false;
    if (!s->by_driver) return hg_command_list_add_expansion(list, binding, &s->expansion, step);
    hg_driver_command command = hg_step_by_driver(binding, s);
    return hg_command_list_add(list, &command, step);
}

bool hg_ready_find(hg_binding *binding, hg_command_list *list) {
    list->count = 0;
    list->later = false;
    if (!hg_steps_only(binding)) return false;
    for (uint32_t i = 0, done; i < binding->executable->plan->steps.count; i += done) {
        switch (hg_chain_ready(binding, i, list, &done)) {
        case HG_CHAIN_NOT_NOW: list->later = true; return false;
        case HG_CHAIN_NEVER: return false;
        case HG_CHAIN_ADDED: continue;
        case HG_CHAIN_NONE: break;
        }
        done = 1;
        if (!add_step(list, binding, i)) return false;
    }
    return list->count != 0;
}

/* ---- the driver's part ---- */

static void try_later(hg_binding *binding) {
    if (binding->way.ready.tries < MOST_TRIES)
        binding->way.ready.launches_left = (uint32_t)LAUNCHES_BETWEEN << binding->way.ready.tries++;
}

void hg_binding_prepare(hg_binding *binding, const hg_driver_command *commands,
                        const uint32_t *steps, uint32_t count) {
    const hg_backend *b = binding->executable->backend;
    hg_ready_commands *ready = &binding->way.ready;
    ready->launches_left = 0;
    if (!b->driver->prepare || b->caps->scheduling.asynchronous) return;
    hg_driver_prepared *made[HG_MOST_PREPARED];
    uint32_t done = 0;
    while (done < count && (made[done] = b->driver->prepare(b->device, &commands[done]))) done++;
    if (done == count)
        ready->commands = count == 1
                              ? &ready->one
                              : hg_arena_alloc(&binding->arena, count * sizeof *ready->commands);
    if (done == count && ready->commands) {
        for (uint32_t i = 0; i < count; i++)
            ready->commands[i] = (hg_ready_command){made[i], steps ? steps[i] : 0};
        ready->count = (uint8_t)count;
        binding->way.waited = HG_WAY_READY;
        return;
    }
    bool launch = done < count && commands[done].kind == HG_CMD_LAUNCH;
    while (done > 0) b->driver->prepared_destroy(made[--done]);
    if (launch && binding->steps.bound) try_later(binding);
}

void hg_binding_move_ready(hg_binding *binding) {
    const hg_driver *driver = binding->executable->backend->driver;
    hg_ready_commands *ready = &binding->way.ready;
    const hg_driver_launch *launch = &binding->way.one.launch;
    if (driver->prepared_move &&
        driver->prepared_move(ready->one.prepared, launch->slots, launch->slot_count))
        return;
    driver->prepared_destroy(ready->one.prepared);
    ready->count = 0;
    binding->way.waited = binding->way.submitted;
}

void hg_binding_make_ready(hg_binding *binding) {
    hg_command_list list;
    if (hg_ready_find(binding, &list))
        hg_binding_prepare(binding, list.commands, list.steps, list.count);
    else if (list.later)
        try_later(binding);
}
