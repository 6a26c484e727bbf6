/* Whether the text of a device form shows that all lanes of a group reach its barriers, as
 * compilers of WGSL must see it. Control flow is uniform where conditions follow from the launch
 * record, numbers of groups, constants and marked loads, and variables where all that is set does,
 * in uniform control flow. Behind a place where only some lanes leave the function nothing is.
 * Requires: a verified module in device form. Provides: uniformity of its values, for a group. */
#include "kir/device/device_internal.h"
#include "kir/analysis/analysis.h"

/* No condition around it, and no loop, that only some lanes pass. */
static bool is_together(const kir_value *v) {
    for (const kir_region *r = v->parent; r->owner; r = r->owner->parent)
        if ((r->owner->op == KIR_IF ? r->owner->args[0]->uniformity : r->owner->uniformity) <
            KIR_BLOCK_UNIFORM)
            return false;
    return true;
}

/* Functions that hold a barrier, by id; *any: there is one. */
static void find_barriers(const kir_module *m, bool *holds, bool *any) {
    for (bool changed = true; changed;) {
        changed = false;
        for (const kir_function *f = m->functions; f; f = f->next)
            for (const kir_value *v = kir_walk(NULL, f->body); v && !holds[f->id];
                 v = kir_walk(v, f->body))
                if (v->op == KIR_BARRIER || (v->op == KIR_CALL && holds[v->u.call.function->id]))
                    *any = changed = holds[f->id] = true;
    }
}

static bool must_meet(const kir_value *v, const bool *holds) {
    return v->op == KIR_BARRIER || (v->op == KIR_LOAD && v->u.mem.uniform) ||
           (v->op == KIR_CALL && holds[v->u.call.function->id]);
}

static bool leaves(const kir_value *v) { return v->op == KIR_EXIT || v->op == KIR_RETURN; }

/* The first operation that lanes must do together and that not all of them are seen to reach; NULL:
 * all of them are. */
static const kir_value *find_alone(const kir_function *f, const bool *holds) {
    uint32_t apart = UINT32_MAX; /* id from which on lanes may have left */
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        if (!leaves(v) || is_together(v)) continue;
        const kir_value *loop = kir_outermost_loop(v);
        uint32_t from = loop ? loop->id : v->id;
        if (from < apart) apart = from;
    }
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        bool same_place = v->op != KIR_LOAD || v->args[0]->uniformity >= KIR_BLOCK_UNIFORM;
        if (must_meet(v, holds) && !(is_together(v) && v->id < apart && same_place)) return v;
    }
    return NULL;
}

hg_status device_show_uniform(kir_module *m) {
    bool any = false, *holds = hg_calloc((size_t)m->function_count + 1, sizeof *holds);
    if (!holds) return hg_fail_memory();
    find_barriers(m, holds, &any);
    hg_status status = any ? kir_find_group_uniformity(m) : HG_OK;
    for (kir_function *f = m->functions; f && any && status == HG_OK; f = f->next) {
        const kir_value *alone = find_alone(f, holds);
        if (alone)
            status = hg_fail(HG_ERROR_ISA,
                             "'%s': the device's compiler must see that all lanes of a block reach "
                             "the barrier of instruction %u",
                             m->name, (unsigned)(alone->inst ? alone->inst - 1 : 0));
    }
    hg_free(holds);
    return status;
}
