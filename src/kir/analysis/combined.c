/* Memory that a kernel does nothing with but combine numbers into it, by one integer operation
 * whose old value nobody asks for: in which order, and how many at a time, nobody can tell.
 * Requires: kir_provenance, kir_count_uses. */
#include "kir/access.h"
#include "kir/analysis/analysis.h"

bool kir_combines(const kir_value *v) {
    return v->op == KIR_ATOMIC && v->uses == 0 && !v->u.mem.high &&
           v->u.mem.atomic < KIR_ATOMIC_EXCH;
}

static void note(kir_combined *slot, const kir_value *v) {
    if (v->op == KIR_CHECK) return; /* looks at its size alone */
    bool same = slot->bytes == 0 ||
                (slot->atomic == v->u.mem.atomic && slot->bytes == v->u.mem.bytes);
    if (kir_combines(v) && same)
        *slot = (kir_combined){v->u.mem.atomic, v->u.mem.bytes, slot->other};
    else
        slot->other = true;
}

void kir_find_combined(const kir_module *m, kir_combined *slots) {
    for (uint64_t i = 0; i < m->slots.count; i++) slots[i] = (kir_combined){0};
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (kir_is_access(v) && kir_access_is_direct(v)) note(&slots[v->u.mem.slot], v);
    for (uint64_t i = 0; i < m->slots.count; i++)
        if (slots[i].other || m->has_open) slots[i].bytes = 0;
}
