/* Bindings whose launches follow each other in one run.
 * Must not know: what they do. */
#include "runtime/binding.h"
#include <string.h>

hg_status hg_binding_sequence(hg_binding *const *bindings, uint32_t count) {
    hg_binding *first = bindings[0];
    hg_touches all = {.binding = first};
    for (uint32_t i = 0; i < count; i++) {
        all.shares |= bindings[i]->touches.shares;
        all.count += bindings[i]->touches.count;
    }
    hg_touch *list = hg_arena_alloc(&first->arena, ((size_t)all.count + 1) * sizeof *list);
    if (!list) return hg_fail_memory();
    all.list = list;
    for (uint32_t i = 0; i < count; i++) {
        const hg_touches *own = &bindings[i]->touches;
        if (own->count) memcpy(list, own->list, own->count * sizeof *list);
        list += own->count;
    }
    for (uint32_t i = 0; i + 1 < count; i++) {
        bindings[i]->next = bindings[i + 1];
        hg_binding_retain(bindings[i + 1]);
    }
    first->touches = all;
    first->way.waited = first->way.submitted = HG_WAY_PLAN;
    first->way.ready.launches_left = 0; /* what it would make ready is of the first alone */
    return HG_OK;
}

void hg_binding_end_sequence(hg_binding *binding) {
    while (binding && binding->next) {
        hg_binding *next = binding->next;
        binding->next = NULL;
        hg_binding_destroy(next); /* whoever made it has it */
        binding = next;
    }
}
