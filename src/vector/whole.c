/* Turns in which all goes well. Of many kernels what can end lanes follows from the first lane's
 * number alone: rows in bounds, a guard, sums that do not wrap. Such conditions rise with the lane,
 * so that they hold in all turns of a call if they hold in its first and in its last whole one. A
 * printer may ask them there and print the turns between without what they settle: no check, no
 * lane that ends.
 *
 * Requires: vec_verify, numbered operations. Must not know: targets. */
#include "vector/passes.h"
#include "kir/analysis/range.h"

enum { UNKNOWN = -1, MOST_VALUES = 512, MOST_STRIDE = 1 << 20 };

typedef struct finder {
    vec_whole *whole;
    int64_t *strides; /* by id, of values that are one: by how much a value grows from lane to lane,
                       * modulo its type; UNKNOWN. Of the arguments of a value that grows one grows.
                       */
    bool failed;      /* out of memory */
} finder;

static int64_t stride_of(const finder *s, const vec_value *v) { return s->strides[v->id]; }

static bool is_number(const vec_value *v) { return v->op == VEC_CONST; }

static int64_t scaled(int64_t stride, const vec_value *by) {
    return is_number(by) && by->u.imm <= MOST_STRIDE &&
                   stride <= MOST_STRIDE / (int64_t)(by->u.imm + 1)
               ? stride * (int64_t)by->u.imm
               : UNKNOWN;
}

static int64_t stride_of_prim(const finder *s, const vec_value *v) {
    int64_t n[3] = {0}, all = 0;
    if (v->nargs > 3) return UNKNOWN;
    for (uint8_t i = 0; i < v->nargs; i++) {
        n[i] = stride_of(s, v->args[i]);
        if (n[i] == UNKNOWN) return UNKNOWN;
        all |= n[i];
    }
    if (all == 0) return 0;
    switch ((kir_op)v->prim) {
    case KIR_ADD: return n[0] && n[1] ? UNKNOWN : n[0] + n[1];
    case KIR_SUB: return n[1] ? UNKNOWN : n[0];
    case KIR_MUL:
        return n[0] == 0   ? scaled(n[1], v->args[0])
               : n[1] == 0 ? scaled(n[0], v->args[1])
                           : UNKNOWN;
    case KIR_SHL:
        if (!is_number(v->args[1]) || v->args[1]->u.imm >= kir_type_bits(v->type)) return UNKNOWN;
        if (v->args[1]->u.imm > 20 || n[0] > MOST_STRIDE >> v->args[1]->u.imm) return UNKNOWN;
        return n[0] << v->args[1]->u.imm;
    case KIR_ZEXT:
    case KIR_TRUNC: return n[0];
    default: return UNKNOWN;
    }
}

static int64_t find_stride(const finder *s, const vec_value *v) {
    if (v->each || v->type == KIR_VOID) return UNKNOWN;
    switch ((vec_op)v->op) {
    case VEC_FIRST: return 1;
    case VEC_CONST:
    case VEC_INPUT:
    case VEC_ID: return 0;
    case VEC_PRIM: return stride_of_prim(s, v);
    default: return UNKNOWN;
    }
}

/* ---- conditions ---- */

static void add(finder *s, vec_condition c) {
    vec_condition *slot = hg_vec_push(&s->whole->conditions);
    if (slot)
        *slot = c;
    else
        s->failed = true;
}

static void rises(finder *s, const vec_value *v) {
    int64_t n = stride_of(s, v);
    if (n > 0) add(s, (vec_condition){VEC_RISES, v, kir_range_full(v->type).high / (uint64_t)n});
}

/* What is made of v is as exact as v itself, where these conditions hold. */
static void exact(finder *s, const vec_value *v) {
    for (; v->op == VEC_PRIM && v->nargs && stride_of(s, v) > 0;
         v = stride_of(s, v->args[0]) > 0 ? v->args[0] : v->args[1])
        if (v->prim == KIR_ZEXT) rises(s, v->args[0]);
}

/* Asks the first and the last turn whether a value is true. False: it cannot be asked. An AND of
 * ANDs that share arguments has more conditions than values, so it ends where there are too many.
 * Nesting is bounded by MOST_VALUES. */
static bool ask(finder *s, const vec_value *v) {
    if (v->op != VEC_PRIM || v->each || s->whole->conditions.count > VEC_MOST_CONDITIONS)
        return false;
    if (v->prim == KIR_AND) return ask(s, v->args[0]) && ask(s, v->args[1]);
    if (v->prim != KIR_CMP_ULT || stride_of(s, v->args[0]) == UNKNOWN ||
        stride_of(s, v->args[1]) != 0)
        return false;
    rises(s, v->args[0]);
    exact(s, v->args[0]);
    add(s, (vec_condition){VEC_HOLDS, v, 0});
    return true;
}

static bool check(finder *s, vec_value *v) {
    if (v->u.mem.open || v->u.mem.reach == VEC_REACH_EACH) return false;
    if (v->u.mem.has_index) {
        if (v->args[0]->each || stride_of(s, v->args[0]) == UNKNOWN) return false;
        rises(s, v->args[0]);
        exact(s, v->args[0]);
    }
    add(s, (vec_condition){VEC_IN_BOUNDS, v, 0});
    return v->settled = true;
}

static bool visit(finder *s, const vec_region *r);

/* A branch in which lanes may end is not taken, if that can be asked. */
static bool branch(finder *s, vec_value *v) {
    bool first = visit(s, v->body[0]);
    uint64_t count = s->whole->conditions.count;
    if (!first) return false;
    if (visit(s, v->body[1])) return true;
    s->whole->conditions.count = count;
    return v->settled = ask(s, v->args[0]);
}

static bool visit_value(finder *s, vec_value *v) {
    switch ((vec_op)v->op) {
    case VEC_CHECK: return check(s, v);
    case VEC_FAULT_IF:
        if (v->args[0]->each || stride_of(s, v->args[0]) != 0) return false;
        add(s, (vec_condition){VEC_HOLDS_NOT, v->args[0], 0});
        return v->settled = true;
    case VEC_IF: return branch(s, v);
    case VEC_LOOP: return visit(s, v->body[0]);
    case VEC_CALL: return !v->u.call.to->can_end;
    case VEC_ATOMIC:
    case VEC_LEAVE:
    case VEC_TURNS:
    case VEC_BARRIER: return false;
    default: return true;
    }
}

/* False: lanes may end inside. Nesting is bounded, as that of the kernel IR is. */
static bool visit(finder *s, const vec_region *r) {
    for (vec_value *v = r->first; v; v = v->next)
        if (!visit_value(s, v)) return false;
    return true;
}

/* ---- the whole ---- */

static void mark_tested(vec_value *v) {
    if (v) v->tested = true;
}

/* What the conditions are made of, in order of the text. */
static void mark_all(const vec_kernel *k, vec_whole *whole) {
    vec_value *last = NULL;
    for (uint64_t i = 0; i < whole->conditions.count; i++) {
        const vec_condition *c = &whole->conditions.data[i];
        if (c->kind != VEC_IN_BOUNDS) ((vec_value *)(uintptr_t)c->value)->tested = true;
        if (c->kind == VEC_IN_BOUNDS && c->value->u.mem.has_index) mark_tested(c->value->args[0]);
    }
    for (vec_value *v = vec_walk(NULL, k->functions->body); v; v = vec_walk(v, k->functions->body))
        last = v;
    for (; last; last = last->before)
        for (uint8_t i = 0; last->tested && i < last->nargs; i++) mark_tested(last->args[i]);
}

static void forget(const vec_function *f) {
    for (vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
        v->settled = v->tested = false;
}

hg_status vec_pass_whole(vec_kernel *kernel) {
    vec_function *f = kernel->functions;
    vec_whole *whole = &kernel->whole;
    whole->possible = false;
    whole->conditions.count = 0;
    if (kernel->blocks || !kernel->can_end || f->value_count > MOST_VALUES) return HG_OK;
    finder s = {.whole = whole,
                .strides = hg_calloc((size_t)f->value_count + 1, sizeof *s.strides)};
    if (!s.strides) return hg_fail_memory();
    forget(f);
    for (vec_value *v = vec_walk(NULL, f->body); v; v = vec_walk(v, f->body))
        s.strides[v->id] = find_stride(&s, v);
    whole->possible = visit(&s, f->body) && whole->conditions.count <= VEC_MOST_CONDITIONS;
    if (whole->possible)
        mark_all(kernel, whole);
    else
        forget(f);
    hg_free(s.strides);
    return s.failed ? hg_fail_memory() : HG_OK;
}
