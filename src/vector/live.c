/* Which variables a lane may still read at the places where lanes wait for others: behind a branch
 * or loop, at the start of the other branch, at the start of a round. A SET whose old value nobody
 * reads there needs no mask. What a lane reads is a matter of its own path, so this is the kernel
 * IR's liveness, found backwards, round after round for loops. */
#include "vector/form_internal.h"

#include <string.h>

enum { MOST_BYTES = 64 << 20 }; /* of all sets; beyond, everything counts as read */

typedef struct live {
    former *x;
    uint32_t bytes; /* of a set */
    bool changed;
} live;

static uint8_t *new_set(live *s, uint8_t **place) {
    if (!*place) *place = hg_arena_alloc(&s->x->arena, s->bytes);
    if (!*place) s->x->failed = true;
    return *place;
}

static void keep(live *s, uint8_t **place, const uint8_t *set) {
    if (new_set(s, place)) memcpy(*place, set, s->bytes);
}

static void add_all(live *s, uint8_t *to, const uint8_t *from) {
    if (from)
        for (uint32_t i = 0; i < s->bytes; i++) to[i] |= from[i];
}

static void visit(live *s, const kir_region *r, uint8_t *set);

static void visit_if(live *s, const kir_value *v, uint8_t *set) {
    keep(s, &live_of(v)->after, set);
    for (int i = 0; i < 2 && !s->x->failed; i++) {
        if (!new_set(s, &live_of(v)->inside[i])) return;
        memcpy(live_of(v)->inside[i], live_of(v)->after, s->bytes);
        visit(s, v->body[i], live_of(v)->inside[i]);
    }
    if (s->x->failed) return;
    memcpy(set, live_of(v)->inside[0], s->bytes);
    add_all(s, set, live_of(v)->inside[1]);
}

static void visit_loop(live *s, const kir_value *v, uint8_t *set) {
    keep(s, &live_of(v)->after, set);
    if (s->x->failed || !new_set(s, &live_of(v)->inside[0]) || !new_set(s, &live_of(v)->inside[1]))
        return;
    memcpy(live_of(v)->inside[1], live_of(v)->inside[0], s->bytes); /* the end of a round is the
                                                                       start of the next */
    visit(s, v->body[0], live_of(v)->inside[1]);
    add_all(s, live_of(v)->inside[1], live_of(v)->inside[0]);
    if (memcmp(live_of(v)->inside[0], live_of(v)->inside[1], s->bytes) != 0) s->changed = true;
    memcpy(live_of(v)->inside[0], live_of(v)->inside[1], s->bytes);
    memcpy(set, live_of(v)->inside[0], s->bytes);
}

static void visit_jump(live *s, const kir_value *v, uint8_t *set) {
    const kir_value *loop = v->parent->owner ? kir_lanes_of(v->parent->owner)->loop : NULL;
    memset(set, 0, s->bytes);
    if (loop && v->op == KIR_BREAK) add_all(s, set, live_of(loop)->after);
    if (loop && v->op == KIR_CONTINUE) add_all(s, set, live_of(loop)->inside[0]);
}

/* set: what is read behind the region; then before it. Nesting is bounded (MOST_NESTED). */
static void visit(live *s, const kir_region *r, uint8_t *set) {
    for (const kir_value *v = r->last; v && !s->x->failed; v = v->prev) {
        switch ((kir_op)v->op) {
        case KIR_VAR_SET: set[v->u.var->id / 8] &= (uint8_t) ~(1u << v->u.var->id % 8); break;
        case KIR_VAR_GET:
            if (v->uses) set[v->u.var->id / 8] |= (uint8_t)(1u << v->u.var->id % 8);
            break;
        case KIR_CALL:
            if (!v->u.call.function->pure) /* reads what it likes of the variables that functions
                                              share */
                for (const kir_var *var = s->x->m->vars; var; var = var->next)
                    if (!var->function) set[var->id / 8] |= (uint8_t)(1u << var->id % 8);
            break;
        case KIR_IF: visit_if(s, v, set); break;
        case KIR_LOOP: visit_loop(s, v, set); break;
        default:
            if (kir_is_jump(v)) visit_jump(s, v, set);
        }
    }
}

/* Of one function. */
static void find_in(live *s, const kir_region *body) {
    uint64_t owners = 0;
    for (const kir_value *v = kir_walk(NULL, body); v; v = kir_walk(v, body))
        owners += v->body[0] != NULL;
    if (owners == 0 || owners * 3 * s->bytes > MOST_BYTES) return;
    uint8_t *set = hg_arena_alloc(&s->x->arena, s->bytes);
    s->x->failed = s->x->failed || !set;
    for (s->changed = true; s->changed && !s->x->failed;) {
        s->changed = false;
        memset(set, 0, s->bytes);
        visit(s, body, set);
    }
}

bool vec_find_live(former *x) {
    live s = {.x = x, .bytes = x->m->var_count / 8 + 1};
    for (uint64_t i = 0; i < x->order.count; i++) find_in(&s, x->order.data[i]->body);
    return !x->failed;
}

static bool has(const uint8_t *set, const kir_var *v) {
    return !set || (set[v->id / 8] >> v->id % 8 & 1);
}

bool vec_is_live_in_round(const kir_value *loop, const kir_var *v) {
    return has(live_of(loop)->inside[0], v);
}

bool vec_is_read_elsewhere(const kir_value *set) {
    const kir_var *v = set->u.var;
    for (const kir_region *r = set->parent; r->owner; r = r->owner->parent) {
        if (!kir_lanes_of(r->owner)->divergent) continue;
        if (r->owner->op == KIR_LOOP &&
            (has(live_of(r->owner)->after, v) ||
             (uniformity_of(r->owner)->continues && has(live_of(r->owner)->inside[0], v))))
            return true;
        if (r->owner->op == KIR_IF &&
            has(r == r->owner->body[0] ? live_of(r->owner)->inside[1] : live_of(r->owner)->after,
                v))
            return true;
    }
    return false;
}
