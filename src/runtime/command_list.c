/* Lists of driver commands that are the same in each launch.
 * Must not know: which steps, who makes them ready. */
#include "runtime/execute_internal.h"
#include "runtime/step.h"

bool hg_command_list_add(hg_command_list *list, const hg_driver_command *command, uint32_t step) {
    if (list->count == HG_MOST_PREPARED) return false;
    list->commands[list->count] = *command;
    list->steps[list->count++] = step;
    return true;
}

bool hg_command_list_add_expansion(hg_command_list *list, hg_binding *binding,
                                   hg_bound_expansion *x, uint32_t step) {
    if (x->keeps_tables && !hg_atomic_load(&x->tables_made, HG_ACQUIRE)) return false;
    for (uint32_t i = 0; i < x->action_count; i++) {
        if (x->keeps_tables && x->actions[i].once) continue;
        if (!x->actions[i].kernel) return false;
        hg_driver_command command = {
            .kind = HG_CMD_LAUNCH, .launch = &x->actions[i].launch, .fault = &binding->fault};
        if (!hg_command_list_add(list, &command, step)) return false;
    }
    return true;
}
