/* Which buffer or pool each memory operation names: a parameter's, a constant one, or any (open).
 * Requires: verified module. Provides: mem.slot, module->slots, has_open.
 * Handles go through variables by a flow-insensitive join: a variable that two different handles
 * reach is open. */
#include "kir/kir.h"
#include "kir/access.h"
#include "kir/analysis/analysis.h"

typedef enum origin_kind { ORIGIN_NONE, ORIGIN_INPUT, ORIGIN_CONST, ORIGIN_OPEN } origin_kind;
typedef struct origin {
    uint8_t kind;
    uint64_t value;
} origin; /* value: input or handle */

/* More different handles than this are open: every binding would cost all launches of the kernel.
 */
enum { MAX_SLOTS = 256 };

static origin join(origin a, origin b) {
    if (a.kind == ORIGIN_NONE) return b;
    if (b.kind == ORIGIN_NONE || (a.kind == b.kind && a.value == b.value)) return a;
    return (origin){ORIGIN_OPEN, 0};
}

static origin origin_of(const kir_value *v, const origin *vars) {
    switch ((kir_op)v->op) {
    case KIR_INPUT: return (origin){ORIGIN_INPUT, v->u.imm};
    case KIR_CONST: return (origin){ORIGIN_CONST, v->u.imm};
    case KIR_VAR_GET: return vars[v->u.var->id];
    default: return (origin){ORIGIN_OPEN, 0};
    }
}

/* Sets of handle variables to a fixed point; a variable changes at most twice. */
static void follow_variables(const kir_module *m, origin *vars) {
    for (bool changed = true; changed;) {
        changed = false;
        for (kir_function *f = m->functions; f; f = f->next)
            for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
                if (v->op != KIR_VAR_SET || v->u.var->type != HG_TYPE_U64) continue;
                origin *to = &vars[v->u.var->id],
                       now = join(*to, origin_of(v->args[kir_access_of(v).handle], vars));
                changed |= now.kind != to->kind;
                *to = now;
            }
    }
}

/* The slot of an origin, made when new. False: out of memory. */
static bool slot_of(kir_module *m, uint8_t space, uint8_t plan, origin o, uint32_t most,
                    int16_t *slot) {
    *slot = KIR_OPEN;
    if (o.kind != ORIGIN_INPUT && o.kind != ORIGIN_CONST) return true;
    bool constant = o.kind == ORIGIN_CONST;
    for (uint64_t i = 0; i < m->slots.count; i++) {
        const kir_slot *s = &m->slots.data[i];
        if (s->space != space || s->plan != plan || s->constant != constant ||
            (constant ? s->handle != o.value : s->input != o.value))
            continue;
        *slot = (int16_t)i;
        return true;
    }
    if (m->slots.count >= most && !plan) return true;
    kir_slot *s = hg_vec_push(&m->slots);
    if (!s) return false;
    *s = (kir_slot){.space = space,
                    .plan = plan,
                    .constant = constant,
                    .input = constant ? 0 : (uint32_t)o.value,
                    .handle = constant ? o.value : 0};
    *slot = (int16_t)(m->slots.count - 1);
    return true;
}

static bool place_access(kir_module *m, kir_value *v, const origin *vars, uint32_t most) {
    v->u.mem.slot = KIR_OPEN;
    if (v->u.mem.space == KIR_SHARED || v->u.mem.space == KIR_CLASS) return true;
    uint8_t plan = v->u.mem.space == KIR_BUFFER ? v->u.mem.class_id : 0;
    bool named = v->u.mem.space != KIR_FLAT && !v->u.mem.split;
    if (named && !slot_of(m, v->u.mem.space, plan,
                          origin_of(v->args[kir_access_of(v).handle], vars), most, &v->u.mem.slot))
        return false;
    if (v->u.mem.slot == KIR_OPEN) {
        m->has_open = true;
        return true;
    }
    kir_slot *s = &m->slots.data[v->u.mem.slot];
    s->read |= v->op != KIR_STORE;
    s->written |= v->op == KIR_STORE || v->op == KIR_ATOMIC;
    return true;
}

hg_status kir_provenance(kir_module *m, uint32_t most) {
    if (most > MAX_SLOTS) most = MAX_SLOTS;
    origin *vars = hg_calloc((size_t)m->var_count + 1, sizeof *vars);
    if (!vars) return hg_fail_memory();
    m->slots.count = 0;
    m->has_open = false;
    follow_variables(m, vars);
    bool ok = true;
    for (kir_function *f = m->functions; f && ok; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v && ok; v = kir_walk(v, f->body))
            if (kir_is_access(v)) ok = place_access(m, v, vars, most);
    hg_free(vars);
    return ok ? HG_OK : hg_fail_memory();
}
