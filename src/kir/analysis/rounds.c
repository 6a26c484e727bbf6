/* Loops that end after few rounds whatever memory holds: a counter that one operation changes by a constant in each round and that a
 * test against a constant ends. Such loops need not look at the clock.
 * Requires: a simplified module. Provides: loop.bounded. */
#include "kir/analysis/analysis.h"

enum { MOST_ROUNDS = 4096 /* of a loop and all around it that end too */ };

typedef struct counter {
    const kir_value *loop, *set;
    kir_var *var;
    uint64_t step; /* added in each round, or taken away */
    bool down;
    uint64_t low, high; /* of the values it has before the loop; low > high: unknown */
} counter;

static bool is_const(const kir_value *v) { return v->op == KIR_CONST && (v->type == HG_TYPE_U32 || v->type == HG_TYPE_U64); }
static bool reads(const kir_value *v, const kir_var *var) { return v->op == KIR_VAR_GET && v->u.var == var; }

static bool is_inside(const kir_value *v, const kir_value *loop) {
    for (const kir_region *r = v->parent; r->owner; r = r->owner->parent)
        if (r->owner == loop) return true;
    return false;
}

/* The set of a variable that stands in the loop itself and counts; NULL var: the set is no counter. */
static counter counter_of(const kir_value *loop, const kir_value *set) {
    counter c = {.loop = loop, .set = set, .low = 1};
    const kir_value *sum = set->args[0];
    if (!set->u.var->function || (sum->op != KIR_ADD && sum->op != KIR_SUB) || !is_const(sum->args[1]) || !reads(sum->args[0], set->u.var))
        return c;
    if (!is_inside(sum->args[0], loop) || sum->args[1]->u.imm == 0) return c;
    c.var = set->u.var;
    c.step = sum->args[1]->u.imm;
    c.down = sum->op == KIR_SUB;
    uint64_t top = c.var->type == HG_TYPE_U32 ? UINT32_MAX : UINT64_MAX;
    if (!c.down && c.step > top / 2) { /* adding a negative number */
        c.step = top - c.step + 1;
        c.down = true;
    }
    if (c.step > UINT16_MAX) c.var = NULL;
    return c;
}

/* No other set in the loop, no way around this one; and what is set outside of it. */
static bool counts_each_round(counter *c, const kir_region *body) {
    bool known = true;
    c->low = UINT64_MAX;
    c->high = 0;
    for (const kir_value *v = kir_walk(NULL, body); v; v = kir_walk(v, body)) {
        bool inside = is_inside(v, c->loop);
        if (inside && v->op == KIR_CONTINUE) return false;
        if (v->op == KIR_ATOMIC && v->u.mem.high == c->var) return false;
        if (v->op != KIR_VAR_SET || v->u.var != c->var || v == c->set) continue;
        if (inside) return false;
        known = known && is_const(v->args[0]);
        if (!known) continue;
        if (v->args[0]->u.imm < c->low) c->low = v->args[0]->u.imm;
        if (v->args[0]->u.imm > c->high) c->high = v->args[0]->u.imm;
    }
    if (!known) {
        c->low = 1;
        c->high = 0;
    }
    return true;
}

/* Its value before the round's change. */
static bool is_old(const counter *c, const kir_value *v) { return reads(v, c->var) && is_inside(v, c->loop) && v->id < c->set->id; }
/* The counter, or what becomes of it in this round. */
static bool is_count(const counter *c, const kir_value *v) { return (reads(v, c->var) && is_inside(v, c->loop)) || v == c->set->args[0]; }

/* Rounds until the condition `stay` fails; 0: unknown. */
static uint64_t rounds_of(const counter *c, const kir_value *test, bool stay) {
    const kir_value *x = test->args[0], *y = test->args[1];
    bool known = c->low <= c->high, start_small = known && c->high <= INT32_MAX;
    if (c->down) { /* until it is zero */
        bool zero = test->op == KIR_CMP_EQ && !stay && is_count(c, x) && is_const(y) && y->u.imm == 0;
        bool positive = test->op == KIR_CMP_ULT && stay && is_const(x) && x->u.imm == 0 && is_count(c, y);
        bool passes = c->low == 0 && !is_old(c, zero ? x : y); /* from 0 down it starts again at the top */
        return (zero || positive) && c->step == 1 && known && !passes ? c->high + 2 : 0;
    }
    bool below = is_count(c, x) && is_const(y) && stay, above = is_const(x) && is_count(c, y) && !stay;
    if (!below && !above) return 0;
    uint64_t limit = below ? y->u.imm : x->u.imm;
    if (limit > INT32_MAX - UINT16_MAX) return 0;
    if (test->op == KIR_CMP_ULT) return limit / c->step + 3;
    return test->op == KIR_CMP_SLT && start_small ? limit / c->step + 3 : 0;
}

static bool breaks(const kir_region *r) { return r->last && r->last->op == KIR_BREAK; }

static uint64_t loop_rounds(const kir_function *f, const kir_value *loop) {
    for (const kir_value *set = loop->body[0]->first; set; set = set->next) {
        if (set->op != KIR_VAR_SET) continue;
        counter c = counter_of(loop, set);
        if (!c.var || !counts_each_round(&c, f->body)) continue;
        for (const kir_value *v = loop->body[0]->first; v; v = v->next) {
            if (v->op != KIR_IF || breaks(v->body[0]) == breaks(v->body[1])) continue;
            const kir_value *test = v->args[0];
            bool stay = breaks(v->body[1]);
            if (test->op == KIR_XOR && test->type == KIR_BOOL && test->args[1]->op == KIR_CONST && test->args[1]->u.imm) {
                test = test->args[0];
                stay = !stay;
            }
            if (test->op != KIR_CMP_ULT && test->op != KIR_CMP_SLT && test->op != KIR_CMP_EQ) continue;
            uint64_t rounds = rounds_of(&c, test, stay);
            if (rounds) return rounds;
        }
    }
    return 0;
}

void kir_bound_loops(const kir_module *m) {
    for (kir_function *f = m->functions; f; f = f->next) kir_number(f);
    for (const kir_function *f = m->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (v->op != KIR_LOOP || v->u.loop.bounded) continue;
            uint64_t all = loop_rounds(f, v);
            for (const kir_region *r = v->parent; r->owner && all && all <= MOST_ROUNDS; r = r->owner->parent)
                if (r->owner->op == KIR_LOOP && r->owner->u.loop.bounded) {
                    uint64_t more = loop_rounds(f, r->owner);
                    all *= more ? more : 1;
                }
            v->u.loop.bounded = all && all <= MOST_ROUNDS;
        }
}
