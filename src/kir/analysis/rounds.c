/* Loops that end after few rounds whatever memory holds: a counter that one operation changes by a
 * constant in each round and that a test against a constant ends. Such loops need not look at the
 * clock. One walk of a function notes where each variable is set; all questions about a loop are
 * answered from that.
 * Requires: a simplified module. Provides: loop.rounds, loop.bounded. */
#include "kir/analysis/analysis.h"
#include "kir/walk.h"

enum { MOST_ROUNDS = 4096 /* of a loop and all around it that end too */ };

/* Of a variable of a function, by its id. */
typedef struct variable {
    uint32_t last_set;  /* id of the set seen last, + 1 */
    uint32_t unknown;   /* sets to something that is no constant */
    bool by_atomic;     /* an atomic operation sets it too */
    uint64_t low, high; /* of the constants it is set to; low > high: none */
} variable;

/* Of an operation, by its id. */
typedef union fact {
    struct {
        uint32_t before, after; /* VAR_SET: the sets of the same variable next to it in the text,
                                   their ids + 1; 0: none */
    };
    struct {
        uint32_t last;      /* LOOP: the last operation inside */
        uint32_t continues; /* a CONTINUE stands inside, of this loop or of one in it */
    };
} fact;

typedef struct finder {
    variable *variables;
    fact *facts; /* of the function at work */
} finder;

typedef struct counter {
    const kir_value *loop, *set;
    kir_var *var;
    uint64_t step; /* added in each round, or taken away */
    bool down;
    uint32_t last;      /* operation inside the loop */
    uint64_t low, high; /* of the values it has before the loop; low > high: unknown */
} counter;

static bool is_const(const kir_value *v) {
    return v->op == KIR_CONST && (v->type == HG_TYPE_U32 || v->type == HG_TYPE_U64);
}
static bool reads(const kir_value *v, const kir_var *var) {
    return v->op == KIR_VAR_GET && v->u.var == var;
}
static bool is_inside(const kir_value *v, const counter *c) {
    return v->id > c->loop->id && v->id <= c->last;
}

/* ---- one walk ---- */

static void note_set(finder *x, const kir_value *v) {
    variable *n = &x->variables[v->u.var->id];
    x->facts[v->id] = (fact){.before = n->last_set};
    if (n->last_set) x->facts[n->last_set - 1].after = v->id + 1;
    n->last_set = v->id + 1;
    if (!is_const(v->args[0])) {
        n->unknown++;
        return;
    }
    if (v->args[0]->u.imm < n->low) n->low = v->args[0]->u.imm;
    if (v->args[0]->u.imm > n->high) n->high = v->args[0]->u.imm;
}

static void look(finder *x, const kir_function *f) {
    uint32_t last = 0;
    uint64_t continues = 0; /* so far */
    for (kir_cursor c = kir_cursor_start(f->body);;) {
        const kir_value *v = c.v;
        if (v) {
            last = v->id;
            continues += v->op == KIR_CONTINUE;
            if (v->op == KIR_VAR_SET && v->u.var->function) note_set(x, v);
            if (v->op == KIR_ATOMIC && v->u.mem.high)
                x->variables[v->u.mem.high->id].by_atomic = true;
            if (v->op == KIR_LOOP) x->facts[v->id].continues = (uint32_t)continues;
        } else if (c.region->owner && c.region->owner->op == KIR_LOOP) {
            fact *loop = &x->facts[c.region->owner->id];
            *loop = (fact){.last = last, .continues = continues > loop->continues};
        }
        if (!kir_cursor_next(&c)) return;
    }
}

/* ---- counters ---- */

/* The set of a variable that stands in the loop itself and counts; NULL var: the set is no counter.
 */
static counter counter_of(const finder *x, const kir_value *loop, const kir_value *set) {
    counter c = {.loop = loop, .set = set, .last = x->facts[loop->id].last, .low = 1};
    const kir_value *sum = set->args[0];
    if (!set->u.var->function || (sum->op != KIR_ADD && sum->op != KIR_SUB) ||
        !is_const(sum->args[1]) || !reads(sum->args[0], set->u.var))
        return c;
    if (!is_inside(sum->args[0], &c) || sum->args[1]->u.imm == 0) return c;
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
static bool counts_each_round(const finder *x, counter *c) {
    const variable *n = &x->variables[c->var->id];
    const fact *set = &x->facts[c->set->id];
    if (x->facts[c->loop->id].continues || n->by_atomic) return false;
    if (set->before > c->loop->id + 1 || (set->after && set->after - 1 <= c->last)) return false;
    if (n->unknown == 1) { /* this one */
        c->low = n->low;
        c->high = n->high;
    } else {
        c->low = 1;
        c->high = 0;
    }
    return true;
}

/* Its value before the round's change. */
static bool is_old(const counter *c, const kir_value *v) {
    return reads(v, c->var) && is_inside(v, c) && v->id < c->set->id;
}
/* The counter, or what becomes of it in this round. */
static bool is_count(const counter *c, const kir_value *v) {
    return (reads(v, c->var) && is_inside(v, c)) || v == c->set->args[0];
}

/* What a value is at most, as far as its own operations show it. */
static uint64_t upper(const kir_value *v, int depth) {
    if (is_const(v)) return v->u.imm;
    if (depth == 0) return UINT64_MAX;
    if (v->op == KIR_TRUNC || v->op == KIR_ZEXT) return upper(v->args[0], depth - 1);
    if (v->op == KIR_AND) {
        uint64_t x = upper(v->args[0], depth - 1), y = upper(v->args[1], depth - 1);
        return x < y ? x : y;
    }
    if (v->op != KIR_SELECT) return UINT64_MAX;
    const kir_value *c = v->args[0];
    uint64_t x = upper(v->args[1], depth - 1), y = upper(v->args[2], depth - 1);
    bool least = c->op == KIR_CMP_ULT && c->args[0] == v->args[1] && c->args[1] == v->args[2];
    return (x < y) == least ? x : y;
}

/* Rounds until the condition `stay` fails; 0: unknown. */
static uint64_t rounds_of(const counter *c, const kir_value *test, bool stay) {
    const kir_value *x = test->args[0], *y = test->args[1];
    bool known = c->low <= c->high, start_small = known && c->high <= INT32_MAX;
    if (c->down) { /* until it is zero */
        bool zero = test->op == KIR_CMP_EQ && !stay && is_count(c, x) && is_const(y) &&
                    y->u.imm == 0;
        bool positive = test->op == KIR_CMP_ULT && stay && is_const(x) && x->u.imm == 0 &&
                        is_count(c, y);
        bool passes = c->low == 0 && !is_old(c, zero ? x : y); /* from 0 down it starts again at the
                                                                  top */
        return (zero || positive) && c->step == 1 && known && !passes ? c->high + 1 : 0;
    }
    bool below = is_count(c, x) && stay, above = is_const(x) && is_count(c, y) && !stay;
    if (!below && !above) return 0;
    uint64_t limit = below ? upper(y, 6) : x->u.imm;
    if (limit > INT32_MAX - UINT16_MAX) return 0;
    if (test->op == KIR_CMP_ULT) return limit / c->step + 3;
    return test->op == KIR_CMP_SLT && start_small && is_const(below ? y : x) ? limit / c->step + 3
                                                                             : 0;
}

static bool breaks(const kir_region *r) { return r->last && r->last->op == KIR_BREAK; }

static uint64_t loop_rounds(const finder *x, const kir_value *loop) {
    for (const kir_value *set = loop->body[0]->first; set; set = set->next) {
        if (set->op != KIR_VAR_SET) continue;
        counter c = counter_of(x, loop, set);
        if (!c.var || !counts_each_round(x, &c)) continue;
        for (const kir_value *v = loop->body[0]->first; v; v = v->next) {
            if (v->op != KIR_IF || breaks(v->body[0]) == breaks(v->body[1])) continue;
            const kir_value *test = v->args[0];
            bool stay = breaks(v->body[1]);
            if (test->op == KIR_XOR && test->type == KIR_BOOL && test->args[1]->op == KIR_CONST &&
                test->args[1]->u.imm) {
                test = test->args[0];
                stay = !stay;
            }
            if (test->op != KIR_CMP_ULT && test->op != KIR_CMP_SLT && test->op != KIR_CMP_EQ)
                continue;
            uint64_t rounds = rounds_of(&c, test, stay);
            if (rounds) return rounds;
        }
    }
    return 0;
}

/* ---- all loops ---- */

void kir_find_rounds(const kir_module *m) {
    finder x = {.variables = hg_calloc((size_t)m->var_count + 1, sizeof *x.variables)};
    uint32_t most = 0;
    for (kir_function *f = m->functions; f; f = f->next)
        if (kir_number(f) > most) most = f->value_count;
    x.facts = hg_calloc((size_t)most + 1, sizeof *x.facts);
    for (uint32_t i = 0; i < m->var_count && x.variables; i++) x.variables[i].low = UINT64_MAX;
    for (const kir_function *f = m->functions; f; f = f->next) {
        bool known = x.variables && x.facts;
        if (known) look(&x, f);
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (v->op != KIR_LOOP) continue;
            uint64_t rounds = known ? loop_rounds(&x, v) : 0;
            if (v->u.loop.rounds != rounds)
                v->u.loop.rounds = rounds; /* threads may read what is known already */
        }
    }
    hg_free(x.variables);
    hg_free(x.facts);
}

/* In the order of the text, so that of the loops around one all is known. */
static void bound_loops(const kir_function *f) {
    HG_VEC(uint64_t)
    around = {0}; /* of each loop around: its rounds and those of all around it that are bounded;
                     MOST_ROUNDS + 1: or more */
    for (kir_cursor c = kir_cursor_start(f->body);;) {
        if (c.v && c.v->op == KIR_LOOP) {
            uint64_t outside = around.count ? around.data[around.count - 1] : 1,
                     rounds = c.v->u.loop.rounds;
            if (rounds && rounds <= MOST_ROUNDS && rounds * outside <= MOST_ROUNDS)
                c.v->u.loop.bounded = true;
            uint64_t *inside = hg_vec_push(&around);
            if (!inside) break; /* the rest stays unknown */
            *inside = c.v->u.loop.bounded && rounds
                          ? (rounds <= MOST_ROUNDS ? rounds : MOST_ROUNDS + 1) * outside
                          : outside;
            if (*inside > MOST_ROUNDS) *inside = MOST_ROUNDS + 1;
        } else if (!c.v && c.region->owner && c.region->owner->op == KIR_LOOP) {
            around.count--;
        }
        if (!kir_cursor_next(&c)) break;
    }
    hg_vec_free(&around);
}

void kir_bound_loops(const kir_module *m) {
    kir_find_rounds(m);
    for (const kir_function *f = m->functions; f; f = f->next) bound_loops(f);
}

/* ---- of a whole invocation ---- */

static uint64_t times(uint64_t x, uint64_t y) {
    uint64_t product;
    return hg_mul_u64(x, y, &product) ? product : UINT64_MAX;
}
static uint64_t plus(uint64_t x, uint64_t y) {
    uint64_t sum;
    return hg_add_u64(x, y, &sum) ? sum : UINT64_MAX;
}

/* Rounds of a loop; UINT64_MAX: unknown. */
static uint64_t most_of(const kir_value *loop) {
    uint64_t rounds = loop->u.loop.once   ? 1
                      : loop->u.loop.most ? loop->u.loop.most
                                          : loop->u.loop.rounds;
    return rounds ? rounds : UINT64_MAX;
}

/* of[]: of functions by id; UINT64_MAX: not known yet. */
static uint64_t function_rounds(const kir_function *f, const uint64_t *of) {
    uint64_t *often = hg_calloc((size_t)f->value_count + 1, sizeof *often), all = 0; /* by id: how
                                                                                        often what
                                                                                        an IF or
                                                                                        LOOP holds
                                                                                        runs */
    if (!often) return UINT64_MAX;
    for (const kir_value *v = kir_walk(NULL, f->body); v && all < UINT64_MAX;
         v = kir_walk(v, f->body)) {
        uint64_t here = v->parent->owner ? often[v->parent->owner->id] : 1;
        if (v->op == KIR_IF) often[v->id] = here;
        if (v->op == KIR_CALL) all = plus(all, times(here, of[v->u.call.function->id]));
        if (v->op != KIR_LOOP) continue;
        often[v->id] = times(here, most_of(v));
        all = plus(all, often[v->id]);
    }
    hg_free(often);
    return all;
}

uint64_t kir_most_rounds(const kir_module *m, const kir_function *without) {
    uint64_t *of = hg_alloc(((size_t)m->function_count + 1) * sizeof *of), all = UINT64_MAX;
    if (!of) return all;
    kir_find_rounds(m);
    for (uint32_t i = 0; i < m->function_count; i++) of[i] = UINT64_MAX;
    for (bool changed = true; changed;) { /* functions that call others know more each time */
        changed = false;
        for (kir_function *f = m->functions; f; f = f->next) {
            if (of[f->id] < UINT64_MAX) continue;
            of[f->id] = f == without ? 0 : function_rounds(f, of);
            changed = changed || of[f->id] < UINT64_MAX;
        }
    }
    all = of[m->functions->id];
    hg_free(of);
    return all;
}
