/* Simplification of a whole module: a small fixed number of rounds over each function.
 * Requires: verified module. Provides: the same meaning with fewer variables and operations; ids are those of kir_number. */
#include "kir/passes/simplify_internal.h"
#include "kir/passes/passes.h"

enum { ROUNDS = 2 }; /* the second sees what the first made constant or unread */

static void note(uint32_t *who, const kir_var *var, const kir_function *f) {
    if (who[var->id] == 0)
        who[var->id] = f->id + 1;
    else if (who[var->id] != f->id + 1)
        who[var->id] = UINT32_MAX;
}

void simplify_find_users(const kir_module *m, uint32_t *setters, uint32_t *readers) {
    for (uint32_t i = 0; i < m->var_count; i++) setters[i] = 0;
    for (uint32_t i = 0; i < m->var_count && readers; i++) readers[i] = 0;
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (v->op == KIR_VAR_SET) note(setters, v->u.var, f);
            if (v->op == KIR_ATOMIC && v->u.mem.high) note(setters, v->u.mem.high, f);
            if (v->op == KIR_VAR_GET && readers) note(readers, v->u.var, f);
        }
}

hg_status kir_simplify(kir_module *m) {
    uint32_t *setters = hg_calloc(2 * ((size_t)m->var_count + 1), sizeof *setters);
    if (!setters) return hg_fail_memory();
    uint32_t *readers = setters + m->var_count + 1;
    hg_status status = HG_OK;
    bool changed = true;
    for (int round = 0; round < ROUNDS && changed && status == HG_OK; round++) {
        changed = false;
        simplify_find_users(m, setters, readers);
        for (kir_function *f = m->functions; f && status == HG_OK; f = f->next) {
            status = simplify_forward(m, f, setters, &changed);
            if (status == HG_OK) status = simplify_dead(m, f, readers, &changed);
            kir_number(f);
        }
    }
    hg_free(setters);
    return status;
}
