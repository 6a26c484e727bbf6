/* Loops of a few rounds are written out: a counter that starts and ends at constants, as the two
 * loops around the nine places of a window have. What a round loads is then a place that is known,
 * and nobody counts.
 * Requires: simplified module. Provides: the same meaning, simplified. */
#include "kir/copy.h"
#include "kir/passes/passes.h"
#include "kir/analysis/range.h"
#include "kir/walk.h"

/* Rounds of a loop; operations that one becomes, and all of a kernel do. */
enum { MOST_ROUNDS = 4, MOST_OF_LOOP = 192, MOST_OF_KERNEL = 512 };

/* ---- which loops ---- */

static bool is_number(const kir_value *v) {
    return v->op == KIR_CONST && (v->type == HG_TYPE_U32 || v->type == HG_TYPE_U64);
}

static bool is_break(const kir_region *r) {
    return r->first && r->first == r->last && r->first->op == KIR_BREAK;
}

/* The branch at its end, where the loop is left and nowhere else; NULL: another loop. */
static const kir_value *exit_of(const kir_value *loop) {
    const kir_value *v = loop->body[0]->last;
    if (!v || v->op != KIR_IF) return NULL;
    if (is_break(v->body[0])) return v->body[1]->first ? NULL : v;
    return is_break(v->body[1]) && !v->body[0]->first ? v : NULL;
}

static const kir_value *loop_around(const kir_value *v) {
    while (v->parent->owner && v->parent->owner->op != KIR_LOOP) v = v->parent->owner;
    return v->parent->owner;
}

/* Operations inside; 0: one that is left elsewhere, that reaches no memory, or that lanes are in
 * together. */
static uint64_t size_of(const kir_value *loop, const kir_value *leave) {
    uint64_t size = 0;
    bool reaches = false;
    for (const kir_value *v = kir_walk(NULL, loop->body[0]); v; v = kir_walk(v, loop->body[0])) {
        const bool jumps = v->op == KIR_BREAK || v->op == KIR_CONTINUE;
        if (jumps && v->parent->owner != leave && loop_around(v) == loop) return 0;
        if (v->op == KIR_BARRIER || v->op == KIR_BLOCK || v->op == KIR_STEP || v->op == KIR_TRACE ||
            v->op == KIR_ATOMIC)
            return 0;
        reaches = reaches || v->op == KIR_LOAD || v->op == KIR_STORE;
        size++;
    }
    return reaches ? size : 0;
}

/* The only set of the counter in the loop: a sum of what it was and a constant. */
static bool counts(const kir_value *loop, const kir_value *set) {
    const kir_value *sum = set->args[0], *get = sum->nargs ? sum->args[0] : NULL;
    if ((sum->op != KIR_ADD && sum->op != KIR_SUB) || !is_number(sum->args[1]) ||
        get->op != KIR_VAR_GET || get->u.var != set->u.var || get->parent != loop->body[0] ||
        sum->parent != loop->body[0] || !set->u.var->function)
        return false;
    for (const kir_value *v = kir_walk(NULL, loop->body[0]); v; v = kir_walk(v, loop->body[0]))
        if (v->op == KIR_VAR_SET && v != set && v->u.var == set->u.var) return false;
    return true;
}

/* What the variable is set to in front of the loop; NULL: unknown. */
static const kir_value *start_of(const kir_value *loop, const kir_var *var) {
    for (const kir_value *v = loop->prev; v; v = v->prev) {
        if (v->op == KIR_VAR_SET && v->u.var == var)
            return is_number(v->args[0]) ? v->args[0] : NULL;
        if (v->body[0] || v->op == KIR_ATOMIC) return NULL;
    }
    return NULL;
}

/* What a comparison of numbers gives. False: unknown. */
static bool compare(const kir_value *test, const kir_value *sum, uint64_t n, bool *truth) {
    uint64_t at[2];
    for (int i = 0; i < 2; i++) {
        if (test->args[i] != sum && !is_number(test->args[i])) return false;
        at[i] = test->args[i] == sum ? n : test->args[i]->u.imm;
    }
    if (test->op == KIR_CMP_SLT && (at[0] > INT32_MAX || at[1] > INT32_MAX)) return false;
    *truth = test->op == KIR_CMP_EQ ? at[0] == at[1] : at[0] < at[1];
    return test->op == KIR_CMP_EQ || test->op == KIR_CMP_ULT || test->op == KIR_CMP_SLT;
}

/* Of a loop that this set counts; 0: more than a few, or unknown. */
static uint32_t rounds_by(const kir_value *loop, const kir_value *leave, const kir_value *set) {
    const kir_value *test = leave->args[0], *start = start_of(loop, set->u.var),
                    *sum = set->args[0];
    bool leaves = is_break(leave->body[0]), truth = false;
    if (!start || !counts(loop, set)) return 0;
    if (test->op == KIR_XOR && test->type == KIR_BOOL && test->args[1]->op == KIR_CONST) {
        if (test->args[1]->u.imm) leaves = !leaves;
        test = test->args[0];
    }
    if (test->nargs != 2) return 0;
    uint64_t n = start->u.imm;
    for (uint32_t round = 1; round <= MOST_ROUNDS; round++) {
        n = sum->op == KIR_ADD ? n + sum->args[1]->u.imm : n - sum->args[1]->u.imm;
        n &= kir_range_full(sum->type).high;
        if (!compare(test, sum, n, &truth)) return 0;
        if (truth == leaves) return round;
    }
    return 0;
}

static uint32_t rounds_of(const kir_value *loop, const kir_value *leave) {
    for (const kir_value *v = loop->body[0]->first; v; v = v->next) {
        const uint32_t rounds = v->op == KIR_VAR_SET ? rounds_by(loop, leave, v) : 0;
        if (rounds) return rounds;
    }
    return 0;
}

/* The last one in the text, which has no other inside. */
static kir_value *find(const kir_function *f, uint64_t left, uint32_t *rounds, uint64_t *size) {
    kir_value *found = NULL;
    for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        const kir_value *leave = v->op == KIR_LOOP && !v->u.loop.once ? exit_of(v) : NULL;
        const uint32_t times = leave ? rounds_of(v, leave) : 0;
        const uint64_t once = times ? size_of(v, leave) : 0;
        if (!once || once * times > MOST_OF_LOOP || once * times > left) continue;
        found = v;
        *rounds = times;
        *size = once * times;
    }
    return found;
}

/* ---- writing one out ---- */

typedef struct copier {
    kir_builder b;
    kir_value **copies; /* by id: of the round at work; NULL: what stands outside of the loop */
} copier;

/* Nesting is bounded, as that of the kernel IR is. */
static void copy_run(copier *c, const kir_value *v, const kir_value *end) {
    const kir_renaming same = {.same_module = true};
    for (; v != end && !c->b.failed; v = v->next) {
        kir_value *copy = kir_emit(&c->b, (kir_op)v->op, v->type, v->nargs, v->args);
        if (c->b.failed) return;
        for (uint8_t i = 0; i < v->nargs; i++)
            if (c->copies[v->args[i]->id]) copy->args[i] = c->copies[v->args[i]->id];
        kir_copy_fields(&c->b, v, copy, &same);
        c->copies[v->id] = copy;
        for (int i = 0; i < 2 && v->body[i] && !c->b.failed; i++) {
            kir_region *outside = c->b.region;
            if (!copy->body[i]) {
                kir_region *r = hg_arena_alloc(&c->b.module->arena, sizeof *r);
                c->b.failed = !r;
                if (!r) return;
                *r = (kir_region){.owner = copy};
                copy->body[i] = r;
            }
            c->b.region = copy->body[i];
            copy_run(c, v->body[i]->first, NULL);
            c->b.region = outside;
        }
    }
}

static bool write_out(kir_module *m, kir_function *f, kir_value *loop, uint32_t rounds) {
    copier c = {.copies = hg_calloc((size_t)kir_number(f) + 1, sizeof *c.copies)};
    kir_region all = {NULL, NULL, NULL};
    if (!c.copies) return false;
    kir_builder_init(&c.b, m, f);
    c.b.region = &all;
    for (uint32_t i = 0; i < rounds; i++) copy_run(&c, loop->body[0]->first, loop->body[0]->last);
    const bool ok = !c.b.failed;
    if (ok && all.first) kir_insert(loop->parent, loop, all.first, all.last);
    if (ok) kir_remove(loop);
    hg_free(c.copies);
    return ok;
}

hg_status kir_unroll(kir_module *m) {
    kir_function *f = m->functions;
    uint64_t left = MOST_OF_KERNEL, size = 0;
    uint32_t rounds = 0;
    if (m->most && m->most < m->made + 2 * left) return HG_OK; /* a module that may not grow */
    for (kir_value *loop; (loop = find(f, left, &rounds, &size)) != NULL; left -= size)
        if (!write_out(m, f, loop, rounds)) return hg_fail_memory();
    return left == MOST_OF_KERNEL ? HG_OK : kir_simplify(m);
}
