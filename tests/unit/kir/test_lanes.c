/* How values live in neighbouring lanes (kir/analysis/lanes.h), by rules that know nothing but lane
 * numbers: forms, where lanes part, and the order of functions. */
#include "kir/analysis/analysis.h"
#include "kir/analysis/lanes.h"
#include "kir/parse.h"
#include "kir/walk.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* ---- rules ---- */

static uint8_t form_of(kir_lane_analysis *a, const kir_value *v) {
    switch ((kir_op)v->op) {
    case KIR_CONST:
    case KIR_INPUT: return KIR_LANES_ONE;
    case KIR_ID: return v->uniformity == KIR_AFFINE ? KIR_LANES_AFFINE : KIR_LANES_EACH;
    case KIR_PARAM:
        return kir_lanes_of_function(a->f)->param_each[v->u.imm] ? KIR_LANES_EACH : KIR_LANES_ONE;
    case KIR_CALL:
        return kir_lanes_of_function(v->u.call.function)->result_each ? KIR_LANES_EACH
                                                                      : KIR_LANES_ONE;
    default: return kir_is_value(v) ? kir_pure_form(v) : KIR_LANES_EACH;
    }
}
static void part(kir_lane_analysis *a, kir_value *v) {
    kir_lane_set(a, &kir_lanes_of(v)->divergent);
}
static void visit(kir_lane_analysis *a, kir_value *v) { (void)a, (void)v; }
static bool begin_round(kir_lane_analysis *a, uint32_t round) {
    *(uint32_t *)a->user = round;
    return true;
}
static const kir_lane_rules RULES = {form_of, part, visit, begin_round};

/* ---- a module with its records ---- */

typedef struct analysed {
    kir_module *m;
    kir_function_list order;
    hg_arena arena;
    uint32_t rounds;
} analysed;

static bool make(analysed *a, const char *text) {
    memset(a, 0, sizeof *a);
    CHECK_MESSAGE(kir_parse(text, strlen(text), NULL, &a->m) == HG_OK, "%s\n%s",
                  hg_last_error_text(), text);
    if (!a->m) return false;
    kir_find_uniformity(a->m, false);
    for (kir_function *f = a->m->functions; f; f = f->next) {
        f->scratch = hg_arena_alloc(&a->arena, sizeof(kir_function_lanes));
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            v->scratch = hg_arena_alloc(&a->arena, sizeof(kir_lanes));
    }
    return true;
}

static void analyse(analysed *a) {
    CHECK(kir_list_callers_first(a->m, NULL, NULL, &a->order));
    kir_lane_analyse(
        &(kir_lane_analysis){.rules = &RULES, .user = &a->rounds, .m = a->m, .order = &a->order});
}

static void release(analysed *a) {
    hg_vec_free(&a->order);
    hg_arena_free(&a->arena);
    kir_module_destroy(a->m);
}

/* The n-th operation of a kind, from 0. */
static const kir_value *find(const kir_function *f, kir_op op, int n) {
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
        if (v->op == op && n-- == 0) return v;
    CHECK_MESSAGE(false, "no %s", kir_op_name(op));
    exit(test_done());
}
static uint8_t form_at(const kir_function *f, kir_op op, int n) {
    return kir_lanes_of(find(f, op, n))->form;
}

static kir_function *function(const analysed *a, const char *name) {
    for (kir_function *f = a->m->functions; f; f = f->next)
        if (strcmp(f->name, name) == 0) return f;
    CHECK_MESSAGE(false, "no %s", name);
    exit(test_done());
}

static uint64_t place_of(const analysed *a, const char *name) {
    for (uint64_t i = 0; i < a->order.count; i++)
        if (strcmp(a->order.data[i]->name, name) == 0) return i;
    return UINT64_MAX;
}

/* ---- tests ---- */

static const char CALLS[] =
    "module t\n"
    "function @main() -> void {\n"
    "  %lane = id global_lane_id\n  %one: u64 = const 1\n"
    "  %x = call @right %one\n  %y = call @left %lane\n"
    "}\n"
    "function @left(u64) -> u64 pure {\n  %a = param 0\n  %r = call @leaf %a\n  return %r\n}\n"
    "function @right(u64) -> u64 pure {\n  %a = param 0\n  %s = add %a, %a\n  %r = call @same %s\n "
    " return %r\n}\n"
    "function @leaf(u64) -> u64 pure {\n  %a = param 0\n  %r = call @same %a\n  return %a\n}\n"
    "function @same(u64) -> u64 pure {\n  %a = param 0\n  %c: u64 = const 7\n  return %c\n}\n"
    "function @never(u64) -> u64 pure {\n  %a = param 0\n  return %a\n}\n";

/* Callers stand before callees, whoever else calls them; what is not called is not there. */
static void test_order(void) {
    analysed a;
    if (!make(&a, CALLS)) return;
    analyse(&a);
    CHECK_U64(a.order.count, 5);
    CHECK_U64(place_of(&a, "main"), 0);
    CHECK(place_of(&a, "left") < place_of(&a, "leaf") &&
          place_of(&a, "leaf") < place_of(&a, "same"));
    CHECK(place_of(&a, "right") < place_of(&a, "same"));
    CHECK(place_of(&a, "never") == UINT64_MAX &&
          !kir_lanes_of_function(function(&a, "never"))->reached);
    release(&a);
}

static bool no_call(void *user, const kir_value *call) { return (void)call, *(bool *)user; }

static void test_refused_calls(void) {
    analysed a;
    bool enters = false;
    if (!make(&a, CALLS)) return;
    CHECK(kir_list_callers_first(a.m, no_call, &enters, &a.order));
    CHECK_U64(a.order.count, 1);
    release(&a);
}

/* A parameter has an element for each lane when some caller gives one; what a function returns does
 * not depend on that alone. */
static void test_calls(void) {
    analysed a;
    if (!make(&a, CALLS)) return;
    analyse(&a);
    CHECK(kir_lanes_of_function(function(&a, "left"))->param_each[0] &&
          !kir_lanes_of_function(function(&a, "right"))->param_each[0]);
    CHECK(kir_lanes_of_function(function(&a, "same"))->param_each[0] &&
          !kir_lanes_of_function(function(&a, "same"))->result_each);
    CHECK(kir_lanes_of_function(function(&a, "leaf"))->result_each &&
          !kir_lanes_of_function(function(&a, "right"))->result_each);
    CHECK_U64(form_at(function(&a, "main"), KIR_CALL, 0), KIR_LANES_ONE);
    CHECK_U64(form_at(function(&a, "main"), KIR_CALL, 1), KIR_LANES_EACH);
    CHECK_U64(form_at(function(&a, "right"), KIR_ADD, 0), KIR_LANES_ONE);
    release(&a);
}

static void test_forms(void) {
    analysed a;
    if (!make(&a, "module t\nfunction @main() -> void {\n  %lane = id global_lane_id\n  %four: u64 "
                  "= const 4\n"
                  "  %row = mul %lane, %four\n  %square = mul %lane, %lane\n  %eight = mul %four, "
                  "%four\n}\n"))
        return;
    analyse(&a);
    const kir_function *f = a.m->functions;
    CHECK_U64(form_at(f, KIR_ID, 0), KIR_LANES_AFFINE);
    CHECK_U64(form_at(f, KIR_MUL, 0),
              find(f, KIR_MUL, 0)->uniformity == KIR_AFFINE ? KIR_LANES_AFFINE : KIR_LANES_EACH);
    CHECK_U64(form_at(f, KIR_MUL, 1), KIR_LANES_EACH);
    CHECK_U64(form_at(f, KIR_MUL, 2), KIR_LANES_ONE);
    CHECK_U64(kir_worst_form(find(f, KIR_MUL, 0), 0, 2), KIR_LANES_AFFINE);
    CHECK_U64(kir_worst_form(find(f, KIR_MUL, 0), 1, 2), KIR_LANES_ONE);
    release(&a);
}

/* A BREAK where only some lanes are makes its own loop divergent; the loop around it is not, and
 * lanes are apart inside it no more. */
static void test_loops(void) {
    analysed a;
    if (!make(&a, "module t\nfunction @main() -> void {\n  %lane = id global_lane_id\n  %c: u64 = "
                  "const 9\n"
                  "  loop {\n    loop {\n      %some = cmp_ult %lane, %c\n      if %some {\n       "
                  " break\n      }\n    }\n"
                  "    %all = cmp_ult %c, %c\n    if %all {\n      break\n    }\n  }\n}\n"))
        return;
    analyse(&a);
    const kir_function *f = a.m->functions;
    const kir_lanes *outer = kir_lanes_of(find(f, KIR_LOOP, 0)),
                    *inner = kir_lanes_of(find(f, KIR_LOOP, 1));
    const kir_lanes *some = kir_lanes_of(find(f, KIR_IF, 0)),
                    *all = kir_lanes_of(find(f, KIR_IF, 1));
    CHECK(!outer->divergent && !outer->apart);
    CHECK(inner->divergent && inner->apart && !inner->apart_in_loop);
    CHECK(some->divergent && some->apart && some->apart_in_loop &&
          some->loop == find(f, KIR_LOOP, 1));
    CHECK(!all->divergent && !all->apart && all->loop == find(f, KIR_LOOP, 0));
    CHECK(kir_is_apart(find(f, KIR_BREAK, 0)->parent) &&
          !kir_is_apart(find(f, KIR_BREAK, 1)->parent));
    CHECK_U64(a.rounds, 2); /* the inner loop is known to be divergent after the first; the last one
                               changes nothing */
    release(&a);
}

/* A return where only some lanes are gives each lane a result of its own, though each of the
 * results is one value. */
static void test_return(void) {
    analysed a;
    if (!make(&a, "module t\nfunction @main() -> void {\n  %lane = id global_lane_id\n  %x = call "
                  "@f %lane\n}\n"
                  "function @f(u64) -> u64 pure {\n  %a = param 0\n  %c: u64 = const 3\n  %d: u64 "
                  "= const 4\n  %some = cmp_ult %a, %c\n"
                  "  if %some {\n    return %c\n  }\n  return %d\n}\n"))
        return;
    analyse(&a);
    const kir_function_lanes *f = kir_lanes_of_function(function(&a, "f"));
    CHECK(f->divergent_return && f->result_each);
    CHECK_U64(form_at(function(&a, "main"), KIR_CALL, 0), KIR_LANES_EACH);
    release(&a);
}

int main(void) {
    test_order();
    test_refused_calls();
    test_calls();
    test_forms();
    test_loops();
    test_return();
    return test_done();
}
