/* The vector form as data: its table of operations, walks. */
#include "vector/vector.h"

#include <string.h>

enum {
    LANES = VEC_F_LANES,
    ONE = VEC_F_ONE,
    EFFECT = VEC_F_EFFECT,
    JUMP = VEC_F_JUMP,
    PLACE = VEC_F_PLACE,
    LOSES = VEC_F_LOSES,
    V = KIR_ARGS_ANY
};
const vec_op_info VEC_OPS[VEC_OP_COUNT] = {
#define VEC_OP(id, text, args, flags) [VEC_##id] = {text, args, flags},
#include "vector/vector.def"
#undef VEC_OP
};

void vec_caps(kir_caps *caps) {
    memset(caps, 0, sizeof *caps);
    caps->name = "vector";
    caps->i8 = caps->i16 = caps->i64 = caps->f64 = true;
    caps->fma32 = caps->fma64 = caps->mad = caps->subnormals = caps->half = true;
    caps->block = caps->inlines = caps->long_code = true;
}

vec_value *vec_turns_around(const vec_value *v) {
    vec_value *o = v->parent->owner;
    while (o && o->op != VEC_TURNS) o = o->parent->owner;
    return o;
}

static bool loses(const vec_value *v) {
    return vec_op_has((vec_op)v->op, VEC_F_LOSES) || v->op == VEC_RETURN;
}

bool vec_loses_lanes(const vec_region *body) {
    for (const vec_value *v = vec_walk(NULL, body); v; v = vec_walk(v, body))
        if (loses(v)) return true;
    return false;
}

bool vec_loses_unsettled(const vec_region *body) {
    for (const vec_value *v = vec_walk(NULL, body); v; v = vec_walk(v, body)) {
        bool left_out = v->settled;
        for (const vec_region *r = v->parent; r->owner && !left_out; r = r->owner->parent)
            left_out = r->owner->settled && r == r->owner->body[1];
        if (!left_out && loses(v)) return true;
    }
    return false;
}

bool vec_asks_time(const vec_function *f) {
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
        if (v->op == VEC_FUEL) return true;
    return false;
}

bool vec_reaches(const vec_function *f, uint8_t space) {
    for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
        if (vec_op_has((vec_op)v->op, VEC_F_PLACE) && v->u.mem.space == space) return true;
    return false;
}

vec_value *vec_whole_of(const vec_kernel *k) {
    vec_value *first = k->functions->body->first;
    return first && first->op == VEC_WHOLE ? first : NULL;
}

bool vec_asks_for_rows(const vec_value *whole) {
    for (const vec_value *v = whole->body[0]->first; v; v = v->next)
        if (v->op == VEC_PRIM && v->prim == KIR_OR && v->args[0]->op == VEC_BEGIN) return true;
    return false;
}

uint32_t vec_streams_from(const vec_kernel *k) {
    uint32_t least = 0;
    for (const vec_function *f = k->functions; f; f = f->next)
        for (const vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
            if (v->op == VEC_STORE && v->u.mem.may.streams &&
                (!least || v->u.mem.may.streams < least))
                least = v->u.mem.may.streams;
    return least;
}

bool vec_is_same_mask(const vec_value *a, const vec_value *b) {
    return a == b || (a && b && a->op == VEC_GET && b->op == VEC_GET && a->u.var == b->u.var);
}

bool vec_has_all_lanes(const vec_value *mask) {
    if (mask->op == VEC_RUNNING || (mask->op == VEC_PRIM && mask->settled)) return true;
    if (mask->op != VEC_PRIM || mask->prim != KIR_AND) return false;
    for (int i = 0; i < 2; i++) {
        const vec_value *a = mask->args[i];
        if (a->op != VEC_RUNNING && !(a->op == VEC_PRIM && a->settled)) return false;
    }
    return true;
}

void vec_kernel_destroy(vec_kernel *kernel) {
    if (!kernel) return;
    hg_arena_free(&kernel->arena);
    hg_free(kernel);
}

vec_value *vec_walk(const vec_value *v, const vec_region *root) {
    if (!v) return root->first;
    for (int i = 0; i < 2; i++)
        if (v->body[i] && v->body[i]->first) return v->body[i]->first;
    for (;;) {
        if (v->next) return v->next;
        const vec_region *r = v->parent;
        if (r == root || !r->owner) return NULL;
        const vec_value *owner = r->owner;
        if (r == owner->body[0] && owner->body[1] && owner->body[1]->first)
            return owner->body[1]->first;
        v = owner;
    }
}

bool vec_cursor_at_else(const vec_cursor *c) {
    const vec_value *owner = c->region->owner;
    return !c->v && owner && c->region == owner->body[0] && owner->body[1] && owner->body[1]->first;
}

bool vec_cursor_next(vec_cursor *c) {
    if (c->v && c->v->body[0]) {
        c->region = c->v->body[0];
        c->v = c->region->first;
    } else if (c->v) {
        c->v = c->v->next;
    } else if (c->region == c->root) {
        return false;
    } else if (vec_cursor_at_else(c)) {
        c->region = c->region->owner->body[1];
        c->v = c->region->first;
    } else {
        c->v = c->region->owner->next;
        c->region = c->region->owner->parent;
    }
    return true;
}

uint32_t vec_number(vec_function *f) {
    uint32_t id = 0;
    for (vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body)) v->id = id++;
    return f->value_count = id;
}

static bool is_needed(const vec_value *v) {
    return v->uses || vec_op_has((vec_op)v->op, VEC_F_EFFECT) || v->op == VEC_CALL;
}

/* From the end backwards, so that what only unused values read is unused too. */
void vec_count_uses(vec_function *f) {
    uint32_t count = vec_number(f);
    vec_value *last = NULL;
    for (vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body)) {
        v->uses = 0;
        v->before = last;
        last = v;
    }
    for (; count--; last = last->before) {
        if (!is_needed(last)) continue;
        for (uint8_t i = 0; i < last->nargs; i++) last->args[i]->uses++;
        if (last->mask) last->mask->uses++;
    }
}
