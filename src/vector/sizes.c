/* Sizes that a printer of the vector form gives its values, and what memory an operation reaches:
 * the same whatever the target.
 * Requires: vec_number (vec_count_uses). */
#include "vector/vector.h"

uint32_t vec_common_size(const vec_function *f) {
    uint32_t counts[9] = {0}, best = 4;
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
        if (v->each && v->type != KIR_BOOL && v->type != KIR_VOID && kir_kind_of(v->type) >= 0)
            counts[kir_type_bytes(v->type)]++;
    for (uint32_t size = 1; size <= 8; size *= 2)
        if (counts[size] > counts[best]) best = size;
    return best;
}

uint32_t vec_var_size(const vec_var *v, uint32_t mask_bytes) {
    if (v->type != KIR_BOOL) return (uint32_t)kir_type_bytes(v->type);
    return v->shared || v->by_reference ? VEC_SHARED_MASK_BYTES : mask_bytes;
}

static uint32_t width_of(const vec_value *v, uint32_t mask_bytes, const uint8_t *widths) {
    if (v->op == VEC_GET || v->op == VEC_ARRAY_GET) return vec_var_size(v->u.var, mask_bytes);
    if (v->op == VEC_CALL || v->op == VEC_PARAM) return VEC_SHARED_MASK_BYTES;
    if (v->op != VEC_PRIM) return mask_bytes;
    if (v->args[0]->type != KIR_BOOL) return (uint32_t)kir_type_bytes(v->args[0]->type);
    for (uint8_t i = 0; i < v->nargs; i++) { /* of a select the values come before the condition */
        const vec_value *a = v->args[v->prim == KIR_SELECT ? v->nargs - 1 - i : i];
        if (a->each && a->type == KIR_BOOL) return widths[a->id];
    }
    return mask_bytes;
}

uint8_t *vec_find_widths(const vec_function *f, uint32_t mask_bytes) {
    uint8_t *widths = hg_calloc((size_t)f->value_count + 1, 1);
    for (const vec_value *v = vec_walk(NULL, f->body); v && widths; v = vec_walk(v, f->body))
        if (v->type == KIR_BOOL && v->each)
            widths[v->id] = (uint8_t)width_of(v, mask_bytes, widths);
    return widths;
}

const kir_slot *vec_slot_of(const vec_kernel *k, const vec_value *v) {
    bool direct = (v->u.mem.space == KIR_BUFFER || v->u.mem.space == KIR_POOL) && !v->u.mem.open;
    return direct ? &k->module->slots.data[v->u.mem.slot] : NULL;
}

bool vec_reach_of(const vec_kernel *k, const vec_value *v, int64_t *low, int64_t *high) {
    int64_t stride = v->u.mem.reach == VEC_REACH_ROW      ? (int64_t)v->u.mem.bytes
                     : v->u.mem.reach == VEC_REACH_STRIDE ? v->u.mem.stride
                                                          : 0;
    const int64_t most = INT64_C(1) << 52;
    if (stride > most / 64 || stride < -most / 64 || v->u.mem.disp > most || v->u.mem.disp < -most)
        return false;
    int64_t last = stride * (int64_t)(k->lanes - 1);
    *low = v->u.mem.disp + (last < 0 ? last : 0);
    *high = v->u.mem.disp + (last > 0 ? last : 0) + v->u.mem.size;
    return true;
}

/* Sets the variable for all lanes of the turn, whatever comes before in the block. */
static bool sets_first(const vec_function *f, const vec_value *v) {
    const vec_value *owner = v->parent->owner;
    return v->op == VEC_SET && !v->mask && owner && owner->op == VEC_TURNS &&
           owner->parent == f->body;
}

bool vec_reads_unset(const vec_function *f) {
    bool found = false, *seen = hg_calloc((size_t)f->var_count + 1, sizeof *seen);
    if (!seen) return true;
    for (const vec_var *var = f->vars; var; var = var->next)
        found = found || (var->kept && var->length);
    for (const vec_value *v = vec_walk(NULL, f->body); v && !found; v = vec_walk(v, f->body)) {
        bool names = v->op == VEC_GET || v->op == VEC_SET;
        for (uint8_t i = 0; i < v->loses.count; i++)
            found = found || (v->loses.vars[i]->kept && !seen[v->loses.vars[i]->id]);
        if (!names || !v->u.var->kept || v->u.var->shared || seen[v->u.var->id]) continue;
        seen[v->u.var->id] = true;
        found = found || !sets_first(f, v);
    }
    hg_free(seen);
    return found;
}
