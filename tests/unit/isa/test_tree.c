/* The statement tree as callers fill it: programs equal to those of the text, floor division beside
 * C's own integers, every wrong use, deep trees, failing allocations. Random trees are in
 * test_statements_random. */
#include "base/base.h"
#include "support/runtime_support.h"
#include <hologram/tree.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- beside the text ---- */

static hg_expression element_of(hg_tree *t, hg_elements array, hg_expression index) {
    return hg_tree_element_of(t, array, &index, 1);
}

static void same_as(const char *what, hg_tree *t, const char *text) {
    hg_program *filled = NULL, *assembled = NULL;
    hg_status status = hg_tree_build(t, &filled);
    CHECK_MESSAGE(status == HG_OK, "%s: %s", what, hg_last_error_text());
    status = hg_program_assemble(text, strlen(text), NULL, &assembled);
    CHECK_MESSAGE(status == HG_OK, "%s: %s", what, hg_last_error_text());
    if (filled && assembled) {
        bool same = memcmp(hg_program_hash(filled), hg_program_hash(assembled), 32) == 0;
        CHECK_MESSAGE(same, "%s: tree and text differ", what);
        char *printed = NULL;
        if (!same && hg_program_print(filled, &printed, NULL) == HG_OK)
            fprintf(stderr, "%s", printed);
        hg_string_free(printed);
    }
    hg_program_release(filled);
    hg_program_release(assembled);
    hg_tree_destroy(t);
}

static hg_tree *histogram(void) {
    hg_dim n = hg_dim_param("n"), bins = hg_dim_of(64);
    hg_tree *t = hg_tree_create("histogram", NULL);
    hg_elements x = hg_tree_param_buffer(t, "x", HG_TYPE_U32, HG_PARAM_IN, &n, 1),
                y = hg_tree_param_buffer(t, "y", HG_TYPE_U32, HG_PARAM_INOUT, &bins, 1);
    hg_tree_param_scalar(t, "n", HG_TYPE_U64);
    hg_tree_lanes(t, &n, 1);
    hg_tree_block(t, 64, 1, 1);
    hg_elements s = hg_tree_shared(t, "s", HG_TYPE_U32, (const uint64_t[]){64}, 1);
    hg_expression lane = hg_tree_lane_id(t, "lane");
    hg_tree_store_element(t, element_of(t, s, lane), hg_tree_integer(t, 0));
    hg_tree_barrier(t);
    hg_expression value = element_of(t, x, hg_tree_lane_id(t, "global"));
    hg_variable v = hg_tree_let(t, "v", value);
    value = hg_tree_operate(t, HG_TREE_BIT_AND, hg_tree_read(t, v), hg_tree_integer(t, 63));
    hg_expression add[2] = {element_of(t, s, value), hg_tree_integer(t, 1)};
    hg_tree_evaluate(t, hg_tree_apply(t, "atom.add", add, 2));
    hg_tree_instruction(t, "bar.sync", (const hg_arg[]){hg_arg_number(0)}, 1);
    hg_expression place = element_of(t, y, hg_tree_lane_id(t, "lane")),
                  own = element_of(t, s, hg_tree_lane_id(t, "lane"));
    hg_tree_evaluate(t, hg_tree_apply(t, "atom.add", (const hg_expression[]){place, own}, 2));
    return t;
}

static const char HISTOGRAM[] = ".atlas 1\n.program histogram\n"
                                ".param x buffer u32 in [n]\n.param y buffer u32 inout [64]\n"
                                ".param n u64\n.lanes n\n.block 64\n.shared s u32 [64]\n"
                                "s[lane] = 0\nbar.sync 0\nlet v = x[global]\n"
                                "let a = atom.add(s[v & 63], 1)\nbar.sync 0\n"
                                "let b = atom.add(y[lane], s[lane])\n";

static hg_tree *collatz(void) {
    hg_dim n = hg_dim_of(16);
    hg_tree *t = hg_tree_create("collatz", NULL);
    hg_elements y = hg_tree_param_buffer(t, "y", HG_TYPE_U32, HG_PARAM_OUT, &n, 1);
    hg_tree_lanes(t, &n, 1);
    hg_expression first = hg_tree_operate(t, HG_TREE_ADD, hg_tree_lane_id(t, "global"),
                                          hg_tree_integer(t, 1));
    hg_variable x = hg_tree_let(t, "x", first),
                steps = hg_tree_let(t, "steps",
                                    hg_tree_cast(t, HG_TYPE_U32, hg_tree_integer(t, 0)));
    hg_tree_begin_while(t,
                        hg_tree_operate(t, HG_TREE_NE, hg_tree_read(t, x), hg_tree_integer(t, 1)));
    hg_expression odd = hg_tree_operate(t, HG_TREE_BIT_AND, hg_tree_read(t, x),
                                        hg_tree_integer(t, 1));
    hg_tree_begin_if(t, hg_tree_operate(t, HG_TREE_EQ, odd, hg_tree_integer(t, 1)));
    hg_expression three = hg_tree_operate(t, HG_TREE_MUL, hg_tree_integer(t, 3),
                                          hg_tree_read(t, x));
    hg_tree_assign(t, x, hg_tree_operate(t, HG_TREE_ADD, three, hg_tree_integer(t, 1)));
    hg_expression big = hg_tree_operate(t, HG_TREE_GT, hg_tree_read(t, x), hg_tree_integer(t, 100));
    hg_tree_begin_else_if(t, big);
    hg_tree_break(t);
    hg_tree_begin_else(t);
    hg_tree_assign(t, x,
                   hg_tree_operate(t, HG_TREE_DIV, hg_tree_read(t, x), hg_tree_integer(t, 2)));
    hg_tree_end(t);
    hg_tree_assign(t, steps,
                   hg_tree_operate(t, HG_TREE_ADD, hg_tree_read(t, steps), hg_tree_integer(t, 1)));
    hg_tree_end(t);
    hg_tree_store_element(t, element_of(t, y, hg_tree_lane_id(t, "global")),
                          hg_tree_read(t, steps));
    return t;
}

static const char COLLATZ[] =
    ".atlas 1\n.program collatz\n.param y buffer u32 out [16]\n.lanes 16\n"
    "let x = global + 1\nlet steps u32 = 0\nwhile x != 1 {\n"
    "if x & 1 == 1 {\nx = 3 * x + 1\n} else if x > 100 {\nbreak\n} else {\n"
    "x = x / 2\n}\nsteps = steps + 1\n}\ny[global] = steps\n";

/* Instructions with operands of many kinds. */
static hg_tree *instructions(void) {
    hg_dim n = hg_dim_of(64), count = hg_dim_of(1);
    hg_tree *t = hg_tree_create("many", NULL);
    hg_elements x = hg_tree_param_buffer(t, "x", HG_TYPE_F32, HG_PARAM_IN, &n, 1),
                y = hg_tree_param_buffer(t, "y", HG_TYPE_F32, HG_PARAM_OUT, &n, 1),
                sum = hg_tree_param_buffer(t, "sum", HG_TYPE_F32, HG_PARAM_OUT, &count, 1);
    hg_variable m = hg_tree_param_scalar(t, "m", HG_TYPE_U64);
    hg_tree_lanes(t, &count, 1);
    hg_expression half = hg_tree_operate(t, HG_TREE_DIV, hg_tree_read(t, m), hg_tree_integer(t, 2));
    const hg_arg map[] = {hg_arg_of(y), hg_arg_of(x), hg_arg_name("neg"), hg_arg_of(half)},
                 reduce[] = {hg_arg_of(sum), hg_arg_of(y), hg_arg_name("sum"), hg_count(64)};
    hg_tree_instruction(t, "parallel_map", map, 4);
    hg_tree_instruction(t, "parallel_reduce", reduce, 4);
    return t;
}

static const char INSTRUCTIONS[] =
    ".atlas 1\n.program many\n.param x buffer f32 in [64]\n.param y buffer f32 out [64]\n"
    ".param sum buffer f32 out [1]\n.param m u64\n.lanes 1\n"
    "let half = m / 2\nparallel_map y, x, neg, half\nparallel_reduce [sum], y, sum, 64\n";

/* Two functions, one of which calls the other; several results, and none. */
static hg_tree *functions(void) {
    static const uint32_t SPLIT[] = {HG_TYPE_U32, HG_TYPE_U32, HG_TYPE_U32, HG_TYPE_U32},
                          KEEP[] = {HG_TYPE_U32};
    hg_dim n = hg_dim_of(16);
    hg_tree *t = hg_tree_create("functions", NULL);
    hg_elements y = hg_tree_param_buffer(t, "y", HG_TYPE_U32, HG_PARAM_OUT, &n, 1);
    hg_tree_lanes(t, &n, 1);
    hg_routine split = hg_tree_declare_function(t, "split", SPLIT, 2, 2),
               keep = hg_tree_declare_function(t, "keep", KEEP, 1, 0);
    hg_expression lane = hg_tree_cast(t, HG_TYPE_U32, hg_tree_lane_id(t, "global"));
    hg_tree_evaluate(t, hg_tree_call_routine(t, keep, &lane, 1));
    hg_variable v[2];
    hg_tree_begin_function(t, keep, v);
    hg_variable q = hg_tree_variable(t, "q", HG_TYPE_U32),
                r = hg_tree_variable(t, "r", HG_TYPE_U32);
    hg_expression both[2] = {hg_tree_read(t, v[0]), hg_tree_integer(t, 3)};
    hg_tree_assign_results(t, (const hg_variable[]){q, r}, 2,
                           hg_tree_call_routine(t, split, both, 2));
    hg_expression sum = hg_tree_operate(t, HG_TREE_ADD, hg_tree_read(t, q), hg_tree_read(t, r));
    hg_tree_store_element(t, element_of(t, y, hg_tree_read(t, v[0])), sum);
    hg_tree_end(t);
    hg_tree_begin_function(t, split, v);
    for (int i = 0; i < 2; i++)
        both[i] = hg_tree_operate(t, i ? HG_TREE_REM : HG_TREE_DIV, hg_tree_read(t, v[0]),
                                  hg_tree_read(t, v[1]));
    hg_tree_return(t, both, 2);
    hg_tree_end(t);
    return t;
}

static const char FUNCTIONS[] =
    ".atlas 1\n.program functions\n.param y buffer u32 out [16]\n.lanes 16\n"
    "keep(u32(global))\n"
    "fn keep(v u32) {\nlet q, r = split(v, 3)\ny[v] = q + r\n}\n"
    "fn split(a u32, b u32) -> u32, u32 {\nreturn a / b, a % b\n}\n";

static void test_text(void) {
    same_as("histogram", histogram(), HISTOGRAM);
    same_as("collatz", collatz(), COLLATZ);
    same_as("instructions", instructions(), INSTRUCTIONS);
    same_as("functions", functions(), FUNCTIONS);
}

/* ---- floor division ---- */

enum { VALUES = 9 };
static const int32_t NUMBERS[VALUES] = {0, 1, -1, 2, -2, 7, -7, 100, INT32_MIN};

static int32_t floor_of(int32_t a, int32_t b, bool rest) {
    int64_t q = (int64_t)a / b, r = (int64_t)a - q * b;
    if (r != 0 && (r < 0) != (b < 0)) q--, r += b;
    return (int32_t)(uint32_t)(uint64_t)(rest ? r : q);
}

/* y[i] = a // b, y[n + i] = a % b; b in a register, or known. */
static hg_program *floor_program(hg_type type, bool known, int32_t b) {
    enum { N = VALUES * VALUES };
    hg_dim in = hg_dim_of(N), out = hg_dim_of(2 * N);
    hg_tree *t = hg_tree_create("floor", NULL);
    hg_elements x = hg_tree_param_buffer(t, "x", type, HG_PARAM_IN, &in, 1),
                z = hg_tree_param_buffer(t, "z", type, HG_PARAM_IN, &in, 1),
                y = hg_tree_param_buffer(t, "y", type, HG_PARAM_OUT, &out, 1);
    hg_tree_lanes(t, &in, 1);
    for (int rest = 0; rest < 2; rest++) {
        hg_expression left = element_of(t, x, hg_tree_lane_id(t, "global")),
                      right = known ? hg_tree_integer(t, b)
                                    : element_of(t, z, hg_tree_lane_id(t, "global")),
                      value = hg_tree_operate(t, rest ? HG_TREE_FLOOR_MOD : HG_TREE_FLOOR_DIV, left,
                                              right),
                      index = hg_tree_operate(t, HG_TREE_ADD, hg_tree_lane_id(t, "global"),
                                              hg_tree_integer(t, rest * N));
        hg_tree_store_element(t, element_of(t, y, index), value);
    }
    hg_program *p = NULL;
    CHECK_MESSAGE(hg_tree_build(t, &p) == HG_OK && hg_program_verify(p, NULL) == HG_OK, "%s",
                  hg_last_error_text());
    hg_tree_destroy(t);
    return p;
}

/* One launch over x and z; z is bound where the program has it. */
static void run(hg_backend *b, const hg_program *p, const void *x, const void *z, uint64_t in,
                void *y, uint64_t out) {
    hg_params *params = hg_params_create();
    hg_buffer bx = make_buffer(b, x, in), bz = make_buffer(b, z, in), by = make_buffer(b, y, out);
    CHECK_OK(hg_params_set_buffer(params, "x", bx));
    CHECK_OK(hg_params_set_buffer(params, "z", bz));
    CHECK_OK(hg_params_set_buffer(params, "y", by));
    CHECK_OK(hg_backend_execute_program_with_params(b, p, NULL, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, by, y, out));
    CHECK_OK(hg_backend_free_buffer(b, bx));
    CHECK_OK(hg_backend_free_buffer(b, bz));
    CHECK_OK(hg_backend_free_buffer(b, by));
    hg_params_destroy(params);
}

static void test_floor_integers(hg_backend *b) {
    static int32_t x[VALUES * VALUES], z[VALUES * VALUES], y[2 * VALUES * VALUES];
    for (int known = 0; known < VALUES; known++) { /* NUMBERS[0]: in a register */
        hg_program *p = floor_program(HG_TYPE_I32, known != 0, NUMBERS[known]);
        for (int i = 0; i < VALUES * VALUES; i++) {
            x[i] = NUMBERS[i % VALUES];
            z[i] = known ? NUMBERS[known] : i / VALUES ? NUMBERS[i / VALUES] : 3;
        }
        run(b, p, x, z, sizeof x, y, sizeof y);
        for (int i = 0; i < VALUES * VALUES; i++)
            for (int rest = 0; rest < 2; rest++) {
                int32_t got = y[rest * VALUES * VALUES + i], right = floor_of(x[i], z[i], rest);
                CHECK_MESSAGE(got == right, "%d %s %d = %d, not %d", (int)x[i], rest ? "%%" : "//",
                              (int)z[i], (int)got, (int)right);
            }
        hg_program_release(p);
    }
}

static void test_floor_reals(hg_backend *b) {
    static const double SOME[VALUES] = {0.5, 1, -1, 2.5, -2.5, 7, -7.25, 1e9, -3};
    static double x[VALUES * VALUES], z[VALUES * VALUES], y[2 * VALUES * VALUES];
    hg_program *p = floor_program(HG_TYPE_F64, false, 0);
    for (int i = 0; i < VALUES * VALUES; i++) x[i] = SOME[i % VALUES], z[i] = SOME[i / VALUES];
    run(b, p, x, z, sizeof x, y, sizeof y);
    for (int i = 0; i < VALUES * VALUES; i++) {
        double rest = fmod(x[i], z[i]);
        if (rest != 0 && (rest < 0) != (z[i] < 0)) rest += z[i];
        CHECK(y[i] == floor(x[i] / z[i]) && y[VALUES * VALUES + i] == rest);
    }
    hg_program_release(p);
}

/* ---- wrong uses ---- */

typedef struct wrong {
    hg_tree *t, *other;
    hg_elements x;    /* f32 */
    hg_variable i, p; /* i32, predicate */
} wrong;

static hg_expression two(wrong *w) { return hg_tree_integer(w->t, 2); }
static hg_expression read_i(wrong *w) { return hg_tree_read(w->t, w->i); }

static void w_types(wrong *w) {
    hg_tree_operate(w->t, HG_TREE_ADD, read_i(w), element_of(w->t, w->x, two(w)));
}
static void w_assign(wrong *w) { hg_tree_assign(w->t, w->i, element_of(w->t, w->x, two(w))); }
static void w_store(wrong *w) {
    hg_tree_store_element(w->t, element_of(w->t, w->x, two(w)), read_i(w));
}
static void w_condition(wrong *w) {
    hg_tree_begin_if(w->t, read_i(w));
    hg_tree_begin_else(w->t);
    hg_tree_end(w->t);
}
static void w_real(wrong *w) { hg_tree_assign(w->t, w->i, hg_tree_real(w->t, 0.5)); }
static void w_range(wrong *w) { hg_tree_assign(w->t, w->i, hg_tree_number(w->t, "3000000000")); }
static void w_number(wrong *w) { hg_tree_number(w->t, "0x"); }
static void w_predicate(wrong *w) {
    hg_tree_operate(w->t, HG_TREE_ADD, hg_tree_read(w->t, w->p), two(w));
}
static void w_index(wrong *w) { element_of(w->t, w->x, element_of(w->t, w->x, two(w))); }
static void w_again(wrong *w) {
    hg_expression x = read_i(w);
    hg_tree_operate(w->t, HG_TREE_ADD, x, x);
}
static void w_over(wrong *w) {
    hg_expression x = read_i(w);
    hg_tree_evaluate(w->t, x);
    hg_tree_evaluate(w->t, x);
}
static void w_foreign(wrong *w) { hg_tree_evaluate(w->t, hg_tree_integer(w->other, 1)); }
static void w_kind(wrong *w) { hg_tree_evaluate(w->t, w->i); }
static void w_array(wrong *w) { element_of(w->t, w->i, two(w)); }
static void w_made_up(wrong *w) { hg_tree_read(w->t, w->i + 1000); }
static void w_break(wrong *w) {
    hg_tree_begin_if(w->t, hg_tree_read(w->t, w->p));
    hg_tree_break(w->t);
    hg_tree_end(w->t);
}
static void w_continue(wrong *w) { hg_tree_continue(w->t); }
static void w_end(wrong *w) { hg_tree_end(w->t); }
static void w_open(wrong *w) { hg_tree_begin_loop(w->t); }
static void w_else(wrong *w) {
    hg_tree_begin_loop(w->t);
    hg_tree_begin_else(w->t);
    hg_tree_end(w->t);
}
static void w_else_twice(wrong *w) {
    hg_tree_begin_if(w->t, hg_tree_read(w->t, w->p));
    hg_tree_begin_else(w->t);
    hg_tree_begin_else_if(w->t, hg_tree_read(w->t, w->p));
    hg_tree_end(w->t);
}
static void w_variable_of_for(wrong *w) {
    hg_variable k = hg_tree_begin_for(w->t, "k", hg_tree_integer(w->t, 0), read_i(w), 0, 0);
    hg_tree_assign(w->t, k, two(w));
    hg_tree_end(w->t);
}
static void w_bounds(wrong *w) {
    hg_tree_begin_for(w->t, "k", element_of(w->t, w->x, two(w)), hg_tree_real(w->t, 1), 0, 0);
    hg_tree_end(w->t);
}
static void w_step(wrong *w) {
    hg_tree_begin_for(w->t, "k", hg_tree_integer(w->t, 0), read_i(w), hg_tree_integer(w->t, 0), 0);
    hg_tree_end(w->t);
}
static void w_mnemonic(wrong *w) {
    hg_expression x = read_i(w);
    hg_tree_apply(w->t, "sqr", &x, 1);
}
static void w_count(wrong *w) {
    hg_expression x = read_i(w);
    hg_tree_apply(w->t, "min", &x, 1);
}
static void w_operand(wrong *w) {
    hg_expression x[2] = {read_i(w), read_i(w)};
    hg_tree_apply(w->t, "atom.add", x, 2);
}
static void w_type(wrong *w) { hg_tree_cast(w->t, (hg_type)99, read_i(w)); }
static void w_operator(wrong *w) { hg_tree_operate(w->t, HG_TREE_NEG, read_i(w), two(w)); }
static void w_jump(wrong *w) { hg_tree_instruction(w->t, "exit", NULL, 0); }
static void w_instruction(wrong *w) {
    const hg_arg arguments[] = {hg_arg_of(w->x), hg_count(1)};
    hg_tree_instruction(w->t, "parallel_map.f32", arguments, 2);
}
static void w_id(wrong *w) { hg_tree_lane_id(w->t, "thread"); }
static void w_memory(wrong *w) {
    hg_tree_shared(w->t, "s", HG_TYPE_F32, (const uint64_t[]){UINT64_MAX, 2}, 2);
}
static void w_name(wrong *w) { hg_tree_shared(w->t, "a b", HG_TYPE_F32, (const uint64_t[]){4}, 1); }
/* The call says it, not only the whole program. */
static void refused(hg_status status) { CHECK(status == HG_ERROR_ISA); }
static void w_lanes(wrong *w) { refused(hg_tree_lanes(w->t, NULL, 2)); }
static void w_grid(wrong *w) { refused(hg_tree_grid(w->t, NULL, 0)); }
static void w_meta(wrong *w) { refused(hg_tree_meta(w->t, NULL, "text")); }
static void w_block(wrong *w) { refused(hg_tree_block(w->t, 8, 0, 1)); }
static void w_shift(wrong *w) { hg_tree_operate(w->t, HG_TREE_SHL, read_i(w), read_i(w)); }
static void w_two(wrong *w) {
    hg_tree_assign_results(w->t, (const hg_variable[]){w->i, w->p}, 2, two(w));
}

static const uint32_t ONE[] = {HG_TYPE_I32, HG_TYPE_I32};
static void w_behind(wrong *w) {
    hg_tree_begin_function(w->t, hg_tree_declare_function(w->t, "f", ONE, 1, 0), NULL);
    hg_tree_end(w->t);
    hg_tree_assign(w->t, w->i, two(w));
}
static void w_function_open(wrong *w) {
    hg_tree_begin_function(w->t, hg_tree_declare_function(w->t, "f", ONE, 1, 0), NULL);
}
static void w_no_result(wrong *w) {
    hg_routine f = hg_tree_declare_function(w->t, "f", ONE, 1, 0);
    hg_expression x = read_i(w);
    hg_tree_cast(w->t, HG_TYPE_F32, hg_tree_call_routine(w->t, f, &x, 1));
}
static void w_arguments(wrong *w) {
    hg_tree_call_routine(w->t, hg_tree_declare_function(w->t, "f", ONE, 1, 1), NULL, 0);
}
static void w_called(wrong *w) {
    hg_expression x = read_i(w);
    hg_tree_evaluate(
        w->t, hg_tree_call_routine(w->t, hg_tree_declare_function(w->t, "f", ONE, 1, 1), &x, 1));
}

static const struct {
    void (*make)(wrong *w);
    const char *code, *message;
} WRONG[] = {
    {w_types, "V05", "operands of '+' are i32 and f32"},
    {w_assign, "V03", "type mismatch: 'here' is f32, the variable is i32"},
    {w_store, "V03", "type mismatch: 'here' is i32, the element is f32"},
    {w_condition, "V03", "type mismatch: 'here' is i32, a condition is a predicate"},
    {w_real, "V03", "type mismatch: 'here' is a real number, the variable is i32"},
    {w_range, "S04", "literal 3000000000 is out of range for i32: -2^31 to 2^31 - 1"},
    {w_number, "S03", "malformed number '0x'"},
    {w_predicate, "V03", "'+' takes numbers, not predicates"},
    {w_index, "V03", "type mismatch: an index is an integer of at most 64 bits, not f32"},
    {w_again, "N03",
     "the expression has been used: it is an operand of one expression or statement"},
    {w_over, "N03",
     "the expression has been used: it is an operand of one expression or statement"},
    {w_foreign, "N03", "expected an expression of this tree, got an id of another one"},
    {w_kind, "N03", "expected an expression, got a variable"},
    {w_array, "N03", "expected an array, got a variable"},
    {w_made_up, "N03", "expected a variable, got a variable that does not exist"},
    {w_break, "S02", "'break' outside a loop"},
    {w_continue, "S02", "'continue' outside a loop"},
    {w_end, "L03", "the end of a block where none is open"},
    {w_open, "L04", "the block of 'loop' is not ended"},
    {w_else, "L03", "'else' behind 'loop'"},
    {w_else_twice, "L03", "'else' behind 'else'"},
    {w_variable_of_for, "N03", "the variable of a 'for' is not assigned"},
    {w_bounds, "V03",
     "type mismatch: the bounds of 'for' are integers of at most 64 bits, not f32"},
    {w_step, "S04", "the step of 'for' is not 0"},
    {w_mnemonic, "N01", "unknown mnemonic 'sqr'"},
    {w_count, "N04", "'min' takes 2 operands, got 1"},
    {w_operand, "N03",
     "operand 1 of 'atom.add': expected an element of an array (x[i]), got 'here'"},
    {w_type, "N03", "99 is no type: expected a value of hg_type below 24"},
    {w_operator, "N03", "18 is no operator of two operands"},
    {w_jump, "N03", "'exit' is no instruction of a statement tree"},
    {w_instruction, "N03", "'parallel_map' with 2 operands: operand 2 is of another kind"},
    {w_id, "N03", "'thread' is no id of a lane"},
    {w_memory, "S05",
     "an array in shared memory has 1 to 8 extents and at least 1 element, and all arrays 65536 "
     "bytes at most"},
    {w_name, "N03", "'a b' cannot be the name of a parameter or array"},
    {w_lanes, "N03", "2 extents at NULL"},
    {w_grid, "S05", "0 extents of a grid: 1 to 3 are expected"},
    {w_meta, "N03", "metadata '' cannot be kept"},
    {w_block, "N03", "a block extent is 0"},
    {w_shift, "V03", "type mismatch: the amount of a shift is u32, not i32"},
    {w_behind, "L03", "statements of the program stand behind a function"},
    {w_function_open, "L04", "the function 'f' is not ended"},
    {w_no_result, "N03", "the function has no result"},
    {w_arguments, "N04", "'f' takes 1 arguments, got 0"},
    {w_called, "L02", "the function 'f' is called and has no statements"},
    {w_two, "N04", "2 variables for a value that has no so many results"},
};

static void test_wrong(void) {
    for (size_t i = 0; i < HG_COUNT_OF(WRONG); i++) {
        hg_diagnostics *d = hg_diagnostics_create(0);
        hg_dim n = hg_dim_of(4);
        hg_program *p = NULL;
        wrong w = {.t = hg_tree_create("wrong", d), .other = hg_tree_create("other", NULL)};
        w.x = hg_tree_param_buffer(w.t, "x", HG_TYPE_F32, HG_PARAM_INOUT, &n, 1);
        w.i = hg_tree_let(w.t, "i", hg_tree_cast(w.t, HG_TYPE_I32, hg_tree_integer(w.t, 1)));
        w.p = hg_tree_variable(w.t, "p", HG_TREE_PREDICATE);
        hg_tree_place(w.t, 7, 3, "here");
        WRONG[i].make(&w);
        hg_tree_place(w.t, 9, 1, NULL);
        hg_tree_assign(w.t, w.i, hg_tree_integer(w.t, 1)); /* it goes on */
        hg_status status = hg_tree_build(w.t, &p);
        const hg_diagnostic *first = hg_diagnostics_get(d, 0);
        CHECK_MESSAGE(status == HG_ERROR_ISA && !p && first, "mistake %u is accepted", (unsigned)i);
        CHECK_TEXT(hg_last_error()->message, WRONG[i].message);
        CHECK_TEXT(hg_last_error()->code, WRONG[i].code);
        CHECK_U64(hg_diagnostics_errors(d), 1);
        CHECK_MESSAGE(first && first->line == 7 && first->column == 3, "%s: at %u:%u",
                      WRONG[i].message, first ? (unsigned)first->line : 0,
                      first ? (unsigned)first->column : 0);
        hg_program_release(p);
        hg_tree_destroy(w.t);
        hg_tree_destroy(w.other);
        hg_diagnostics_destroy(d);
    }
}

static void test_ends(void) {
    hg_program *p = NULL, *again = NULL;
    hg_tree *t = hg_tree_create("t", NULL);
    CHECK_U64(hg_tree_value_type(t, hg_tree_integer(t, 1)), HG_TYPE_COUNT);
    CHECK_U64(hg_tree_value_type(t, hg_tree_bits(t, HG_TYPE_F32, 0x3f800000)), HG_TYPE_F32);
    CHECK_U64(hg_tree_value_type(t, 0), HG_TYPE_COUNT);
    CHECK(hg_tree_build(t, &p) == HG_OK);
    CHECK(hg_tree_build(t, &again) == HG_ERROR_INVALID_ARGUMENT && !again);
    CHECK(hg_tree_return(t, NULL, 0) == HG_ERROR_INVALID_ARGUMENT && hg_tree_integer(t, 1) == 0);
    hg_program_release(p);
    hg_tree_destroy(t);
    t = hg_tree_create("no name", NULL);
    CHECK(hg_tree_build(t, &p) == HG_ERROR_ISA && !p);
    CHECK_TEXT(hg_last_error()->code, "N03");
    hg_tree_destroy(t);
    CHECK(hg_tree_integer(NULL, 1) == 0 && hg_tree_end(NULL) == HG_ERROR_OUT_OF_MEMORY);
    CHECK(hg_tree_build(NULL, &p) == HG_ERROR_OUT_OF_MEMORY);
    hg_tree_destroy(NULL);
}

/* ---- depth ---- */

enum { DEPTH = 20000 };

/* Predicates in each other, and one number in the next. */
static void test_deep(void) {
    hg_dim n = hg_dim_of(4);
    hg_program *p = NULL;
    hg_tree *t = hg_tree_create("deep", NULL);
    hg_elements y = hg_tree_param_buffer(t, "y", HG_TYPE_U64, HG_PARAM_OUT, &n, 1);
    hg_tree_lanes(t, &n, 1);
    hg_expression sum = hg_tree_lane_id(t, "global"),
                  inside = hg_tree_cast(t, HG_TYPE_U64, hg_tree_integer(t, 1));
    for (int i = 0; i < DEPTH; i++)
        sum = hg_tree_operate(t, HG_TREE_ADD, sum, hg_tree_integer(t, i));
    hg_tree_store_element(t, element_of(t, y, hg_tree_integer(t, 0)), sum);
    for (int i = 0; i < DEPTH / 10; i++) {
        hg_expression less = hg_tree_operate(t, HG_TREE_LT, hg_tree_lane_id(t, "global"),
                                             hg_tree_integer(t, i));
        inside = hg_tree_choose(t, less, hg_tree_lane_id(t, "global"), inside);
    }
    hg_tree_store_element(t, element_of(t, y, hg_tree_integer(t, 1)), inside);
    CHECK_MESSAGE(hg_tree_build(t, &p) == HG_OK && hg_program_verify(p, NULL) == HG_OK, "%s",
                  hg_last_error_text());
    hg_program_release(p);
    hg_tree_destroy(t);
}

/* ---- memory ---- */

static void test_failing_allocations(failing_allocator *failing) {
    hg_tree *(*const make[])(void) = {histogram, collatz, instructions, functions};
    for (size_t k = 0; k < HG_COUNT_OF(make); k++) {
        uint64_t live = failing->live;
        bool done = false;
        for (uint64_t i = 0; !done && i < 3000; i++) {
            hg_program *p = NULL;
            allow_allocations(failing, i);
            hg_tree *t = make[k]();
            hg_status status = hg_tree_build(t, &p);
            hg_tree_destroy(t);
            allow_allocations(failing, UINT64_MAX);
            done = status != HG_ERROR_OUT_OF_MEMORY;
            CHECK(done ? status == HG_OK : !p);
            hg_program_release(p);
            CHECK_U64(failing->live, live);
        }
    }
}

int main(void) {
    failing_allocator failing = {0};
    allow_allocations(&failing, UINT64_MAX);
    const hg_allocator allocator = {sizeof allocator, &failing, failing_reallocate,
                                    failing_release};
    CHECK_OK(hg_set_allocator(&allocator));
    test_text();
    test_wrong();
    test_ends();
    test_deep();
    test_failing_allocations(&failing);
    hg_backend *b = open_backend("cpu");
    test_floor_integers(b);
    test_floor_reals(b);
    hg_backend_destroy(b);
    return test_done();
}
