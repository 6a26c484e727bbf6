/* The rules of the vector form: a form that breaks one is refused, with the operation and why. */
#include "kir/analysis/analysis.h"
#include "kir/parse.h"
#include "test.h"
#include "vector/vector.h"

static const char TEXT[] = "module t\n"
                           "input 0: u64 param 1 buffer \"x\"\n"
                           "slot 0: buffer input 0 read written\n"
                           "\n"
                           "function @main() -> void {\n"
                           "  var a: u32\n"
                           "  %x = input 0\n"
                           "  %i: u64 = id global_lane_id\n"
                           "  %two: u32 = const 2\n"
                           "  %at: u64 = shl %i, %two\n"
                           "  %v: u32 = load buffer slot 0 %x [%at]\n"
                           "  %c: bool = cmp_ult %v, %two\n"
                           "  loop {\n"
                           "    %far: u64 = zext %v\n"
                           "    if %c {\n"
                           "      %w: u32 = load buffer slot 0 %x [%far]\n"
                           "      set a %w\n"
                           "      break\n"
                           "    }\n"
                           "  }\n"
                           "  %r = get a\n"
                           "  store buffer slot 0 %x [%at], %r\n"
                           "}\n";

static vec_kernel *make_of(const char *text, kir_module **m) {
    vec_kernel *k = NULL;
    CHECK(kir_parse(text, strlen(text), NULL, m) == HG_OK);
    kir_find_uniformity(*m, false);
    CHECK(vec_form(*m, &(vec_options){.lanes = 8}, &k) == HG_OK);
    CHECK(vec_verify(k) == HG_OK);
    return k;
}

static vec_kernel *make(kir_module **m) { return make_of(TEXT, m); }

/* The n-th operation of a kind, from 0. */
static vec_value *find(const vec_kernel *k, vec_op op, uint32_t n) {
    for (vec_value *v = vec_walk(NULL, k->functions->body); v; v = vec_walk(v, k->functions->body))
        if (v->op == op && n-- == 0) return v;
    return NULL;
}

static void refused(vec_kernel *k, const char *why) {
    CHECK(vec_verify(k) == HG_ERROR_INTERNAL);
    CHECK_MESSAGE(strstr(hg_last_error_text(), why) != NULL, "'%s' does not say '%s'",
                  hg_last_error_text(), why);
}

/* Changes a field, looks at what the rules say, changes it back. */
#define BROKEN(field, value, why)      \
    do {                               \
        HG_TYPEOF(field) kept = field; \
        field = value;                 \
        refused(k, why);               \
        field = kept;                  \
        CHECK(vec_verify(k) == HG_OK); \
    } while (0)

/* A scan of a block is slides within a turn, and what all lanes before it come to. */
static void test_lanes(void) {
    static const char SCAN[] = "module t barrier shared\n"
                               "input 0: u64 param 1 buffer \"x\"\n"
                               "slot 0: buffer input 0 read written\n"
                               "\n"
                               "function @main() -> void {\n"
                               "  %x = input 0\n"
                               "  %i: u64 = id global_lane_id\n"
                               "  %two: u32 = const 2\n"
                               "  %at: u64 = shl %i, %two\n"
                               "  %v: u32 = load buffer slot 0 %x [%at]\n"
                               "  barrier 0\n"
                               "  %s: u32 = block bscan_add.u32 whole %v\n"
                               "  store buffer slot 0 %x [%at], %s\n"
                               "}\n";
    kir_module *m = NULL;
    vec_kernel *k = make_of(SCAN, &m);
    vec_value *slide = find(k, VEC_SLIDE, 0), *pick = find(k, VEC_PICK, 0);
    CHECK(slide && pick && find(k, VEC_SLIDE, 2) && !find(k, VEC_SLIDE, 3));
    CHECK(slide->u.imm == 1 && pick->u.imm == 7);
    BROKEN(slide->u.imm, 8, "a lane that a turn has not");
    BROKEN(pick->u.imm, 8, "a lane that a turn has not");
    BROKEN(slide->args[0], slide->args[1], "lanes of another value");
    BROKEN(slide->nargs, 1, "wrong number of arguments");
    BROKEN(pick->type, HG_TYPE_U64, "lanes of another value");
    vec_kernel_destroy(k);
    kir_module_destroy(m);
}

static void test_rules(void) {
    kir_module *m = NULL;
    vec_kernel *k = make(&m);
    vec_value *load = find(k, VEC_LOAD, 0), *far = find(k, VEC_LOAD, 1),
              *leave = find(k, VEC_LEAVE, 0), *branch = find(k, VEC_IF, 0),
              *any = find(k, VEC_ANY, 0), *set = find(k, VEC_SET, 0), *get = find(k, VEC_GET, 0),
              *store = find(k, VEC_STORE, 0), *prim = find(k, VEC_PRIM, 0),
              *check = find(k, VEC_CHECK, 1), *jump = find(k, VEC_BREAK, 0);
    CHECK(load && far && leave && branch && any && set && get && store && prim && check && jump);
    BROKEN(k->lanes, 12, "no power of two");
    BROKEN(load->op, VEC_OP_COUNT, "unknown operation");
    BROKEN(load->u.mem.may.stretch, 2, "no stretch begins here");
    BROKEN(load->each, false, "from one place");
    BROKEN(load->type, HG_TYPE_U64, "a result of another size");
    BROKEN(load->u.mem.reach, VEC_REACH_EACH, "does not fit the reach");
    BROKEN(far->u.mem.reach, VEC_REACH_ROW, "does not fit the reach");
    BROKEN(store->u.mem.bytes, 8, "a value of another size");
    BROKEN(store->nargs, 1, "a value of another size");
    BROKEN(far->mask, load, "a mask that is none");
    BROKEN(far->mask, store, "not known here");
    BROKEN(leave->mask, NULL, "a mask is missing");
    BROKEN(any->args[0], prim, "a mask is missing");
    BROKEN(branch->args[0], load, "not one bool");
    BROKEN(branch->nargs, 0, "wrong number of arguments");
    BROKEN(set->u.var->type, HG_TYPE_F64, "another type");
    BROKEN(get->each, !get->each, "not what the variable is");
    BROKEN(prim->prim, KIR_LOAD, "no value primitive");
    BROKEN(prim->each, !prim->each, "one and each mixed up");
    BROKEN(prim->args[0], store, "not known here");
    BROKEN(check->loses.vars[0]->mask, false, "what is no mask");
    vec_kernel_destroy(k);
    kir_module_destroy(m);
}

/* A branch on an AND of ANDs, each of the two before it: the ways through it are many, and nobody
 * walks them. What is asked of whole turns is no more than what is there. */
static void test_many_conditions(void) {
    enum { ANDS = 30 };
    hg_text text = {0};
    kir_module *m = NULL;
    vec_kernel *k = NULL;
    hg_text_addf(&text, "module t\ninput 0: u64 param 1 buffer \"x\"\ninput 1: u32 param 2 "
                        "\"n\"\nslot 0: buffer input 0 read written\n\n"
                        "function @main() -> void {\n  %%x = input 0\n  %%n: u32 = input 1\n  %%i: "
                        "u64 = id global_lane_id\n"
                        "  %%five: u32 = const 5\n  %%c0: bool = cmp_ult %%n, %%five\n  %%c1: bool "
                        "= cmp_ult %%five, %%n\n");
    for (int i = 2; i < ANDS; i++)
        hg_text_addf(&text, "  %%c%d: bool = and %%c%d, %%c%d\n", i, i - 1, i - 2);
    hg_text_addf(&text,
                 "  if %%c%d {\n  } else {\n    %%far: u64 = mul %%i, %%i\n    store buffer slot 0 "
                 "%%x [%%far], %%n\n  }\n}\n",
                 ANDS - 1);
    CHECK_MESSAGE(kir_parse(text.data, text.length, NULL, &m) == HG_OK, "%s", hg_last_error_text());
    kir_find_uniformity(m, false);
    CHECK(vec_form(m, &(vec_options){.lanes = 8}, &k) == HG_OK);
    CHECK_MESSAGE(vec_verify(k) == HG_OK, "%s", hg_last_error_text());
    CHECK(vec_whole_of(k));
    CHECK_MESSAGE(k->functions->value_count <= 3 * ANDS, "%u operations",
                  (unsigned)k->functions->value_count);
    vec_kernel_destroy(k);
    kir_module_destroy(m);
    hg_text_free(&text);
}

/* A loop whose body runs once: some lanes leave it early, all others at its end. Nothing stands
 * behind the last jump. */
static void test_left_at_the_end(void) {
    static const char text[] = "module t\n"
                               "input 0: u64 param 1 buffer \"x\"\n"
                               "slot 0: buffer input 0 read written\n"
                               "\n"
                               "function @main() -> void {\n"
                               "  var a: u32\n"
                               "  %x = input 0\n"
                               "  %i: u64 = id global_lane_id\n"
                               "  %two: u32 = const 2\n"
                               "  %at: u64 = shl %i, %two\n"
                               "  %v: u32 = load buffer slot 0 %x [%at]\n"
                               "  %c: bool = cmp_ult %v, %two\n"
                               "  loop {\n"
                               "    if %c {\n"
                               "      break\n"
                               "    }\n"
                               "    set a %v\n"
                               "    break\n"
                               "  }\n"
                               "  %r = get a\n"
                               "  store buffer slot 0 %x [%at], %r\n"
                               "}\n";
    kir_module *m = NULL;
    vec_kernel *k = NULL;
    CHECK(kir_parse(text, sizeof text - 1, NULL, &m) == HG_OK);
    kir_find_uniformity(m, false);
    CHECK(vec_form(m, &(vec_options){.lanes = 8}, &k) == HG_OK);
    CHECK_MESSAGE(vec_verify(k) == HG_OK, "%s", hg_last_error_text());
    vec_kernel_destroy(k);
    kir_module_destroy(m);
}

int main(void) {
    test_left_at_the_end();
    test_rules();
    test_lanes();
    test_many_conditions();
    return test_done();
}
