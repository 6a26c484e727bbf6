/* What stands between the text and the assembler: constants, expressions, macros, repetitions,
 * conditions, included files, several programs. A text with them is the program of the plain text.
 */
#include "isa/program.h"
#include "support/failing_allocator.h"
#include "test.h"

#include <stdlib.h>

/* ---- helpers ---- */

static const char HEAD[] = ".atlas 1\n.program t\n"; /* snippets begin on line 3 */

static hg_status assemble_with(const char *text, const char *const *defines, size_t count,
                               hg_diagnostics *d, hg_program **p) {
    const hg_assemble_options options = {
        .size = sizeof options, .defines = defines, .define_count = count};
    return hg_program_assemble_with(text, strlen(text), &options, d, p);
}

static hg_program *assemble(const char *text, const char *const *defines, size_t count) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_program *p = NULL;
    if (assemble_with(text, defines, count, d, &p) != HG_OK) {
        char *errors = hg_diagnostics_print(d, "test", text, strlen(text));
        CHECK_MESSAGE(false, "does not assemble: %s", errors ? errors : "");
        hg_string_free(errors);
    }
    hg_diagnostics_destroy(d);
    return p;
}

static char *with_head(const char *body) {
    size_t length = strlen(HEAD) + strlen(body) + 1;
    char *text = malloc(length);
    if (!text) exit(2);
    snprintf(text, length, "%s%s", HEAD, body);
    return text;
}

/* Two texts are one program: the same container. */
static void same_defined(const char *text, const char *plain, const char *const *defines,
                         size_t count) {
    hg_program *p = assemble(text, defines, count), *q = assemble(plain, NULL, 0);
    uint8_t *x = NULL, *y = NULL;
    size_t x_length = 0, y_length = 0;
    if (p && q && hg_program_encode(p, 0, &x, &x_length) == HG_OK &&
        hg_program_encode(q, 0, &y, &y_length) == HG_OK) {
        bool equal = x_length == y_length && memcmp(x, y, x_length) == 0;
        char *printed = NULL;
        CHECK(hg_program_print(p, &printed, NULL) == HG_OK);
        CHECK_MESSAGE(equal, "\n%s\nis not\n%s\nbut\n%s", text, plain, printed);
        hg_string_free(printed);
    }
    hg_string_free((char *)x);
    hg_string_free((char *)y);
    hg_program_release(p);
    hg_program_release(q);
}
static void same(const char *body, const char *plain_body) {
    char *text = with_head(body), *plain = with_head(plain_body);
    same_defined(text, plain, NULL, 0);
    free(text);
    free(plain);
}

/* One error in a body; line 1 is the body's first. */
static void error_at(const char *body, const char *code, uint32_t line, uint32_t column,
                     uint32_t length) {
    char *text = with_head(body);
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_program *p = NULL;
    CHECK_MESSAGE(assemble_with(text, NULL, 0, d, &p) == HG_ERROR_ISA, "assembles: %s", body);
    const hg_diagnostic *g = hg_diagnostics_get(d, 0);
    CHECK_MESSAGE(hg_diagnostics_errors(d) == 1, "%zu errors in %s", hg_diagnostics_errors(d),
                  body);
    if (g)
        CHECK_MESSAGE(strcmp(g->code, code) == 0 && g->line == line + 2 && g->column == column &&
                          g->length == length,
                      "expected %s at %u:%u+%u, got %s at %u:%u+%u (%s) in: %.200s", code, line,
                      column, length, g->code, g->line - 2, g->column, g->length, g->message, body);
    hg_program_release(p);
    hg_diagnostics_destroy(d);
    free(text);
}

/* ---- constants and expressions ---- */

static void integer_is(const char *expression, const char *value) {
    char body[512], plain[256];
    snprintf(body, sizeof body,
             ".const A = 12\n.const B 5\n.const C = A - B * 3\n.const D = C\nmov_imm.i128 r1, %s\n",
             expression);
    snprintf(plain, sizeof plain, "mov_imm.i128 r1, %s\n", value);
    same(body, plain);
}

static void test_integers(void) {
    static const char *const pairs[][2] = {
        {"A", "12"},
        {"C", "-3"},
        {"D + D", "-6"},
        {"A + B * 2", "22"},
        {"(A + B) * 2", "34"},
        {"2 * (A + B)", "34"},
        {"A - B - 1", "6"},
        {"A / B", "2"},
        {"C / 2", "-1"},
        {"C % 2", "-1"},
        {"A % B", "2"},
        {"-A", "-12"},
        {"--A", "12"},
        {"- A * 2", "-24"},
        {"-(0) % 7 + -(5)", "-5"},
        {"~A", "-13"},
        {"!A", "0"},
        {"!0", "1"},
        {"1 << A", "4096"},
        {"C >> 1", "-2"},
        {"A & B", "4"},
        {"A | B", "13"},
        {"A ^ B", "9"},
        {"A & 6 | 1 ^ 3", "6"},
        {"1 + 2 << 3", "24"},
        {"0xF0 & ~0x30", "192"},
        {"0b1_01 * 2", "10"},
        {"A == 12", "1"},
        {"A != 12", "0"},
        {"A < B", "0"},
        {"A > B && B >= 5", "1"},
        {"A <= B || 0", "0"},
        {"A & 3 == 0", "1"},
        {"A & (3 == 0)", "0"},
        {"min(A, B)", "5"},
        {"max(A, B, 100 / 7)", "14"},
        {"min(C, -4) + 1", "-3"},
        {"ceil(A / B)", "3"},
        {"ceil((A + B) / 17)", "1"},
        {"ceil(-7 / 2)", "-3"},
        {"ceil(2.5)", "3"},
        {"ceil(A * 100 / 1_000) << 2", "8"},
        {"170141183460469231731687303715884105727", "170141183460469231731687303715884105727"},
        {"(1 << 126) - 1 + (1 << 126)", "170141183460469231731687303715884105727"},
        {"-(1 << 126) * 2", "-170141183460469231731687303715884105728"},
        {"1.5 < A", "1"},
        {"defined(A) + defined(Z)", "1"},
    };
    for (size_t i = 0; i < HG_COUNT_OF(pairs); i++) integer_is(pairs[i][0], pairs[i][1]);
}

/* A literal alone keeps its exact value; what is computed is an f64. */
static void test_literals(void) {
    same(".const PI = 3.14159265358979323846264338327950288\nmov_imm.f32 r1, PI\nmov_imm.f64 r2, "
         "PI\nmov_imm.f32 r3, -PI\n",
         "mov_imm.f32 r1, 3.14159265358979323846264338327950288\nmov_imm.f64 r2, "
         "3.14159265358979323846264338327950288\n"
         "mov_imm.f32 r3, -3.14159265358979323846264338327950288\n");
    same(
        ".const T = 1.00000017881393432617187499\nmov_imm.f32 r1, T\nmov_imm.f32 r2, (T)\n", /* just
                                                                                                below
                                                                                                the
                                                                                                middle
                                                                                                of
                                                                                                two
                                                                                                f32
                                                                                              */
        "mov_imm.f32 r1, 1.00000017881393432617187499\nmov_imm.f32 r2, "
        "1.00000017881393432617187499\n");
    same(".const W = "
         "0x123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0\nmov_imm.u256 r1, "
         "W\nmov_imm.i256 r1, -W\n",
         "mov_imm.u256 r1, 0x123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0\n"
         "mov_imm.i256 r1, -0x123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0\n");
    same(".const M = 0xFFFFFFFF\nmov_imm.i32 r1, M\n", "mov_imm.i32 r1, -1\n");
    same(".const I = inf\n.const N = nan\n.const B = bits( 0x7fc00001 )\nmov_imm.f32 r1, "
         "-I\nmov_imm.f32 r2, N\nmov_imm.f32 r3, B\n",
         "mov_imm.f32 r1, -inf\nmov_imm.f32 r2, nan\nmov_imm.f32 r3, bits(0x7fc00001)\n");
    same("mov_imm.f64 r1, 1.0 / 3\nmov_imm.f32 r2, 0.1 + 0.2\nmov_imm.f32 r3, 2 * 1.5\nmov_imm.f64 "
         "r4, -(0.1 * 3)\n",
         "mov_imm.f64 r1, 0x1.5555555555555p-2\nmov_imm.f32 r2, 0x1.3333333333334p-2\nmov_imm.f32 "
         "r3, 3\nmov_imm.f64 r4, "
         "-0x1.3333333333334p-2\n");
    same("mov_imm.i32 r1, (-1)\nmov_imm.f32 r2, ((1.5))\nmov_imm.u8 r3, (((2)))\n.macro m d, "
         "v\nmov_imm.i32 d, (v)\n.end\nm r4, (2)\nm r5, "
         "-3\n",
         "mov_imm.i32 r1, -1\nmov_imm.f32 r2, 1.5\nmov_imm.u8 r3, 2\nmov_imm.i32 r4, "
         "2\nmov_imm.i32 r5, -3\n");
    same("mov_imm r1, 2 * 3\nmov_imm r2, 1 << 40\nmov_imm r3, 3 * 0.5\n",
         "mov_imm.i32 r1, 6\nmov_imm.i64 r2, 1099511627776\nmov_imm.f32 r3, 1.5\n");
}

/* Wherever a number stands. */
static void test_places(void) {
    same(".const T 16\n.param r1 x buffer f32 in [T, (T * 2)]\n.param r2 k f32 = -T * 1.5\n.param "
         "r3 p pool T * 1024\n.scratch r4 s u8 [T]\n"
         ".block T, T / 2, T - 15\n.shared T * T * 4\n.lanes T * (T / 4)\n",
         ".param r1 x buffer f32 in [16, 32]\n.param r2 k f32 = -24\n.param r3 p pool "
         "16384\n.scratch r4 s u8 [16]\n"
         ".block 16, 8, 1\n.shared 1024\n.lanes 64\n");
    same(".const T 16\n.param r1 x buffer f32 inout [64]\n.shared 64\nldg.f32 r2, [buf(r1) + T * 4 "
         "- 4]\nsts.f32 [shared + r3 + T - T / "
         "4], r2\n"
         "lds.f32 r2, [shared - T + T * 2]\nstg.f32 [r1 + r3 - T - 2 + 20], r2\nldg.u8 r4, [phi(T "
         "/ 4, T + 1, T * 2)]\nbar.sync T / 16\n"
         "loop r5, T * 2\nloop r6, T - 16\nendloop\nendloop\npool.alloc r7, T * T\nreduce.add.f32 "
         "r8, r9, T / 4\n",
         ".param r1 x buffer f32 inout [64]\n.shared 64\nldg.f32 r2, [buf(r1) + 60]\nsts.f32 "
         "[shared + r3 + 12], r2\n"
         "lds.f32 r2, [shared + 16]\nstg.f32 [r1 + r3 + 2], r2\nldg.u8 r4, [phi(4, 17, "
         "32)]\nbar.sync 1\n"
         "loop r5, 32\nloop r6, 0\nendloop\nendloop\npool.alloc r7, 256\nreduce.add.f32 r8, r9, "
         "4\n");
    same(".const sum = 3\nadd: mov_imm.u32 r1, sum\n.const late = sum + 1\nmov_imm.u32 r1, late\n",
         "add: mov_imm.u32 r1, 3\nmov_imm.u32 r1, 4\n");
}

static void test_constant_errors(void) {
    error_at(".const A = 1\n.const A = 2", "D02", 2, 8, 1);
    error_at(".const r1 = 1", "S02", 1, 8, 2);
    error_at(".const", "S02", 1, 7, 1);
    error_at(".const A", "S02", 1, 9, 1);
    error_at(".const A = B", "S02", 1, 12, 1);
    error_at(".const A = 1 2", "S02", 1, 14, 1);
    error_at(".const A = (1", "S02", 1, 14, 1);
    error_at(".const A = 1 +", "S02", 1, 15, 1);
    error_at(".const A = min(1, 2", "S02", 1, 20, 1);
    error_at(".const A = 1 / 0", "S04", 1, 14, 1);
    error_at(".const A = 1 % 0", "S04", 1, 14, 1);
    error_at(".const A = 1.0 / 0", "S04", 1, 16, 1);
    error_at(".const A = 1 << 127", "S04", 1, 14, 2);
    error_at(".const A = 1 << -1", "S04", 1, 14, 2);
    error_at(".const A = (1 << 126) * 2", "S04", 1, 23, 1);
    error_at(".const A = (1 << 126) + (1 << 126)", "S04", 1, 23, 1);
    error_at(".const A = -(1 << 126) - (1 << 126) - 1", "S04", 1, 37, 1);
    error_at(".const A = 1.5 & 1", "S04", 1, 16, 1);
    error_at(".const A = ~1.5", "S04", 1, 12, 1);
    error_at(".const A = 1e308 * 10", "S04", 1, 18, 1);
    error_at(".const A = inf + 1", "S04", 1, 12, 3);
    error_at(".const A = 340282366920938463463374607431768211456 + 1", "S04", 1, 12, 39);
    error_at(".const A = ceil(5)", "S04", 1, 12, 4);
    error_at(".const A = 5x + 1", "S03", 1, 12, 2);
    error_at(".const A = 1 / 0\nmov_imm.u8 r1, A", "S04", 1, 14, 1);
    error_at("mov_imm.u8 r1, 16 * 16", "S04", 1, 16, 7);
    error_at(".const T = 16\nmov_imm.u8 r1, T * T", "S04", 2, 16, 5);
    error_at(".const T = 256\nmov_imm.u8 r1, T", "S04", 2, 16, 1);
    error_at(".const T = 1.5\nbar.sync T", "N03", 2, 10, 1);
    error_at(".const T = 1.5\n.shared T", "S03", 2, 9, 1);
    error_at(".const T = 3\n.shared T - 4", "S04", 2, 9, 5);
    error_at(".shared 256 * 256 + 1", "S05", 1, 9, 13);
    error_at("bar.sync 128 * 2", "N07", 1, 10, 7);
    error_at(".const T = 1 << 62\nldg.u8 r1, [buf(r2) + T * 2]", "S05", 2, 23, 5);
    char deep[400] = ".const A = ";
    for (int i = 0; i < HG_MAX_EXPRESSION_NESTING + 1; i++) strcat(deep, i % 2 ? "(" : "-");
    error_at(deep, "S05", 1, 13 + HG_MAX_EXPRESSION_NESTING, 1);
}

/* ---- definitions from outside ---- */

static void define_fails(const char *text, const char *define, const char *message) {
    hg_program *p = NULL;
    hg_diagnostics *d = hg_diagnostics_create(0);
    CHECK(assemble_with(text, &define, 1, d, &p) == HG_ERROR_ISA && !p);
    const hg_diagnostic *g = hg_diagnostics_get(d, 0);
    CHECK(g && strcmp(g->code, "D04") == 0 && !g->line);
    if (g) CHECK_TEXT(g->message, message);
    hg_diagnostics_destroy(d);
}

static void test_defines(void) {
    static const char text[] = ".atlas 1\n.program t\n.const N = 4\n.const M = N * 2\n.const F = "
                               "1.5\nmov_imm.u32 r1, N\nmov_imm.u32 r2, M\n"
                               "mov_imm.f32 r3, F\n";
    static const char *const defines[] = {"N=(1 << 4) - 1", "F=0.1"};
    same_defined(
        text, ".atlas 1\n.program t\nmov_imm.u32 r1, 15\nmov_imm.u32 r2, 30\nmov_imm.f32 r3, 0.1\n",
        defines, 2);
    same_defined(
        text, ".atlas 1\n.program t\nmov_imm.u32 r1, 1\nmov_imm.u32 r2, 2\nmov_imm.f32 r3, 1.5\n",
        &(const char *){"N"}, 1);
    static const char *const twice[] = {"N=7", "N=8"};
    same_defined(
        text, ".atlas 1\n.program t\nmov_imm.u32 r1, 8\nmov_imm.u32 r2, 16\nmov_imm.f32 r3, 1.5\n",
        twice, 2);
    define_fails(text, "K=1", "definition K=1: the program has no constant of that name");
    define_fails(text, "N=", "definition N=: its value is no number");
    define_fails(text, "N=x", "definition N=x: its value is no number");
    define_fails(text, "N=1 2", "definition N=1 2: its value is no number");
    define_fails(text, "=1", "definition =1: no name of a constant");
    define_fails(text, "r1=1", "definition r1=1: no name of a constant");
    const hg_assemble_options missing = {.size = sizeof missing, .define_count = 1};
    hg_program *p;
    CHECK(hg_program_assemble_with(text, strlen(text), &missing, NULL, &p) ==
          HG_ERROR_INVALID_ARGUMENT);
}

/* ---- macros, repetitions, conditions ---- */

static void test_expansion(void) {
    same(".for k, 0, 3\nmov_imm.u32 r{10 + k}, k * k\n.end\n",
         "mov_imm.u32 r10, 0\nmov_imm.u32 r11, 1\nmov_imm.u32 r12, 4\n");
    same(".for k, 6, 0, -2\nmov_imm.u32 r{k}, k\n.end\n.for k, 3, 3\nbad\n.end\n.for i, -1, "
         "1\nmov_imm.i32 r1, i\n.end",
         "mov_imm.u32 r6, 6\nmov_imm.u32 r4, 4\nmov_imm.u32 r2, 2\nmov_imm.i32 r1, -1\nmov_imm.i32 "
         "r1, 0\n");
    same(".rept 3\nexit\n.end\n.rept 0\nbad\n.end\n.rept 2\n.end\n", "exit\nexit\nexit\n");
    same(
        ".for i, 0, 2\n.for j, 0, 2\nldg.f32 r{i * 2 + j}, [buf(r9) + i * 8 + j * 4]\n.end\n.end\n",
        "ldg.f32 r0, [buf(r9)]\nldg.f32 r1, [buf(r9) + 4]\nldg.f32 r2, [buf(r9) + 8]\nldg.f32 r3, "
        "[buf(r9) + 12]\n");
    same(".macro mac d, a, b\nmul.f32 r99, a, b\nadd.f32 d, d, r99\n.end\nmac r1, r2, r3\nhere: "
         "mac r4, r5, r6\nbra @here\n",
         "mul.f32 r99, r2, r3\nadd.f32 r1, r1, r99\nhere: mul.f32 r99, r5, r6\nadd.f32 r4, r4, "
         "r99\nbra @here\n");
    same(".macro ld d, place\nldg.f32 d, place\n.end\n.const K = 3\nld r1, [r2 + r3 + K * 4]\nld "
         "r2, [phi(1, K, min(4, 2))]\n",
         "ldg.f32 r1, [r2 + r3 + 12]\nldg.f32 r2, [phi(1, 3, 2)]\n");
    same(".macro inner a, b\nadd.u32 a, b, b\n.end\n.macro outer b, a\ninner a, b\ninner b, "
         "a\n.end\nouter r1, r2\n",
         "add.u32 r2, r1, r1\nadd.u32 r1, r2, r2\n");
    same(
        ".macro twice op, a\nop a, a, a\nop a, a, r7\n.end\ntwice add.f32, r1\ntwice mul.f64, r2\n",
        "add.f32 r1, r1, r1\nadd.f32 r1, r1, r7\nmul.f64 r2, r2, r2\nmul.f64 r2, r2, r7\n");
    same(
        ".macro go op, T, p, l\nop.T r1, r1, r1\nbra.p @l\n.end\ngo add, f32, p3, end\nend: exit\n",
        "add.f32 r1, r1, r1\nbra.p3 @end\nend: exit\n");
    same(".macro sum a, n\n.if n > 0\nadd.u32 a, a, a\nsum a, n - 1\n.end\n.end\nsum r1, 3\n",
         "add.u32 r1, r1, r1\nadd.u32 r1, r1, r1\nadd.u32 r1, r1, r1\n");
    same(".macro store n\n.for k, 0, n\nmov_imm.u32 r{n + k}, n\n.end\n.end\nstore 2\nstore 1\n",
         "mov_imm.u32 r2, 2\nmov_imm.u32 r3, 2\nmov_imm.u32 r1, 1\n");
    same(".macro outer d\n.macro inner d\nadd.u32 d, d, d\n.end\ninner r9\ninner d\n.end\nouter "
         "r1\n",
         "add.u32 r9, r9, r9\nadd.u32 r1, r1, r1\n");
    same(".type T = f32\n.macro m\n.type U = T\nadd.U r1, r1, r1\n.end\nm\n.type V f64\nadd.V r2, "
         "r2, r2\ncvt.V.T r3, r4\n",
         "add.f32 r1, r1, r1\nadd.f64 r2, r2, r2\ncvt.f64.f32 r3, r4\n");
    same(".const A = 2\n.if A == 1\nbad\n.elif A == 2\nexit\n.elif bad\nbad\n.else\nbad\n.end\n.if "
         "A == 3\n.if "
         "1\nbad\n.else\n.end\n.else\nexit\n.if 0\n.end\n.end",
         "exit\nexit\n");
    same(".macro m q\n.if q == 1\nexit\n.elif q == 2\nexit\n.elif q == 3\n.for i, 0, "
         "q\nexit\n.end\n.else\n.end\n.end\nm 1\nm 2\nm 3\nm 4",
         "exit\nexit\nexit\nexit\nexit\n");
    same(".if 0\nb{ad \\ \n.macro x\n.rept\n.end\n.end\n.end\nexit", "exit\n");
    same(".if defined(A)\nbad\n.else\n.const A = 1\n.end\n.if defined(A)\nexit\n.end\n", "exit\n");
}

/* What a body declares is its own, round by round; what comes in as an argument is the caller's. */
static void test_scopes(void) {
    same(".macro wait p\nagain:\nbra.p @again\n.end\nagain: wait p0\nwait p1\nbra @again\n",
         "again:\n.L0: bra.p0 @.L0\n.L1: bra.p1 @.L1\nbra @again\n");
    same(".rept 2\nl: bra @l\n.end\n", ".L0: bra @.L0\n.L1: bra @.L1\n");
    same(".rept 2\nbra @out\n.end\nout: exit\n", "bra @out\nbra @out\nout: exit\n");
    same(".macro mark name\nname: exit\n.end\nmark here\nbra @here\n", "here: exit\nbra @here\n");
    same(".const K = 1\n.macro m a\n.const K = 5\nmov_imm.u32 r1, K\nmov_imm.u32 r2, a\n.end\nm "
         "K\nmov_imm.u32 r3, K\n",
         "mov_imm.u32 r1, 5\nmov_imm.u32 r2, 1\nmov_imm.u32 r3, 1\n");
    same(".for k, 0, 2\n.const S = k * 10\nmov_imm.u32 r1, S\n.macro m\nmov_imm.u32 r2, "
         "S\n.end\nm\n.end\n",
         "mov_imm.u32 r1, 0\nmov_imm.u32 r2, 0\nmov_imm.u32 r1, 10\nmov_imm.u32 r2, 10\n");
    same(".for k, 0, 2\nl{k}: bra @l{k}\n.for j, 0, 1\nbra @l{k}\n.end\n.end\n",
         ".L0: bra @.L0\nbra @.L0\n.L2: bra @.L2\nbra @.L2\n");
    error_at(".macro m\nmov_imm.u32 r1, k\n.end\n.for k, 0, 1\nm\n.end", "N03", 2, 17, 1);
    error_at(".rept 1\nl: exit\n.end\nbra @l", "L02", 4, 5, 2);
}

static void test_expansion_errors(void) {
    error_at(".rept 2\nexit\n", "L04", 1, 1, 5);
    error_at("exit\n.if 1\nexit\n", "L04", 2, 1, 3);
    error_at(".if 0\nexit\n", "L04", 1, 1, 3);
    error_at(".if 1\n.else\nexit", "L04", 1, 1, 3);
    error_at(".macro m\n.if 1\n.end", "L04", 1, 1, 6);
    error_at("exit\n.end", "L03", 2, 1, 4);
    error_at(".else", "L03", 1, 1, 5);
    error_at(".if 1\n.else\n.else\n.end", "L03", 3, 1, 5);
    error_at(".rept\nexit\n.end", "S02", 1, 6, 1);
    error_at(".rept 2\nexit\n.end 5", "S02", 3, 6, 1);
    error_at(".rept -1\nexit\n.end", "S04", 1, 7, 2);
    error_at(".rept 1.5\nexit\n.end", "S03", 1, 7, 3);
    error_at(".rept 1048577\n.end", "S05", 1, 1, 5);
    error_at(".for k, 0\n.end", "S02", 1, 10, 1);
    error_at(".for k, 0, 4, 0\n.end", "S04", 1, 15, 1);
    error_at(".for r1, 0, 4\n.end", "S02", 1, 6, 2);
    error_at(".if foo\nexit\n.end", "S02", 1, 5, 3);
    error_at(".macro add.x a, a\n.end", "D02", 1, 17, 1);
    error_at(".macro m a\n.end\nm", "N04", 3, 1, 1);
    error_at(".macro m a\n.end\nm r1, r2", "N04", 3, 1, 1);
    error_at(".macro m a\n.end\nm ,", "S02", 3, 3, 1);
    error_at(".macro m a, b\nadd.u32 a, b, r999\n.end\nm r1, r2", "N07", 2, 15, 4);
    error_at(".macro m a, b\nadd.u32 a, b, r9\n.end\nm r1, r999", "N07", 4, 7, 4);
    error_at(".macro m\nm\n.end\nm", "S05", 2, 1, 1);
    error_at("mov_imm.u32 r{1.5}, 1", "S03", 1, 15, 3);
    error_at("mov_imm.u32 r{1, 1", "S02", 1, 16, 1);
    error_at("mov_imm.u32 r{300}, 1", "N07", 1, 13, 6);
    error_at(".rept 2000\n.rept 2000\n.end\n.end", "S05", 2, 1, 5);
    error_at(".type T = f33", "S02", 1, 11, 3);
    error_at(".type f32 = f64", "S02", 1, 7, 3);
    error_at(".include \"x\"", "P06", 1, 10, 3);
}

/* The words that say where an error comes from. */
static void test_expansion_words(void) {
    static const char text[] =
        ".atlas 1\n.program t\n.macro m a\nadd.u32 a, r5, p0\n.end\n.for k, 0, 2\nm r{k}\n.end\n";
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_program *p = NULL;
    CHECK(assemble_with(text, NULL, 0, d, &p) == HG_ERROR_ISA && hg_diagnostics_count(d) == 1);
    const hg_diagnostic *g = hg_diagnostics_get(d, 0); /* the second round has the same mistake */
    CHECK(g && g->line == 4 && g->column == 16 && g->expansion);
    if (g && g->expansion)
        CHECK_TEXT(g->expansion, "in macro 'm', used at 7:1; in round 1 of the .for at 6:1");
    hg_diagnostics_destroy(d);
    static const char late[] = ".atlas 1\n.program t\n.macro m a\nadd.u32 r9, r9, "
                               "a\n.end\nmov_imm.u32 r9, 1\nm r1\n"; /* found by the verifier */
    p = assemble(late, NULL, 0);
    d = hg_diagnostics_create(0);
    CHECK(hg_program_verify(p, d) == HG_ERROR_ISA);
    g = hg_diagnostics_get(d, 0);
    CHECK(g && strcmp(g->code, "V01") == 0 && g->line == 7 && g->column == 3 && g->expansion);
    if (g && g->expansion) CHECK_TEXT(g->expansion, "in macro 'm', used at 7:1");
    hg_diagnostics_destroy(d);
    hg_program_release(p);
}

/* ---- several programs ---- */

static hg_status choose(const char *text, const char *name, hg_diagnostics *d, hg_program **p) {
    const hg_assemble_options options = {.size = sizeof options, .program = name};
    return hg_program_assemble_with(text, strlen(text), &options, d, p);
}

static void test_programs(void) {
    static const char text[] = ".atlas 1\n.const N = 3\n.program a\nbra @l\nl: exit\n.program "
                               "b\n.if 1\n.end\n.lanes N\nl: mov_imm.u32 r1, N\n"
                               ".program c\nl: bad\n";
    hg_program *p = NULL;
    CHECK(choose(text, "a", NULL, &p) == HG_OK);
    CHECK_U64(hg_program_len(p), 2);
    hg_program_release(p);
    CHECK(choose(text, "b", NULL, &p) == HG_OK);
    CHECK_U64(hg_program_len(p), 1);
    CHECK_TEXT(hg_program_name(p), "b");
    hg_program_release(p);
    CHECK(choose(text, "c", NULL, &p) == HG_ERROR_ISA && strcmp(hg_last_error()->code, "N01") == 0);
    CHECK(choose(text, NULL, NULL, &p) == HG_ERROR_ISA &&
          strcmp(hg_last_error()->code, "D01") == 0 && hg_last_error()->line == 6);
    CHECK(choose(text, "d", NULL, &p) == HG_ERROR_ISA && strcmp(hg_last_error()->code, "D04") == 0);
    CHECK_TEXT(hg_last_error()->message, "no program 'd' in the source: a, b, c");
    error_at(".rept 1\n.program x\n.end", "S02", 2, 1, 8);
}

/* ---- files ---- */

typedef struct library {
    const char *name, *text;
} library;
static const library LIBRARY[] = {
    {"const", ".const N = 4"},
    {"dir/outer", ".atlas 1\n.include \"inner\"\nouter_label: exit\n"},
    {"inner", "\xEF\xBB\xBFmov_imm.u32 r1, N"},
    {"self", ".include \"self\"\n"},
    {"bad", "exit\n  add.u32 r1, p0, r2\n"},
    {"open", "exit\n.if 1\nexit\n"},
    {"rept", "exit\n.rept 2"},
    {"macro", ".macro m a\nmov_imm.u32 a, 77\n.end\n"},
};
static int resolved, released;

static hg_status find(void *user, const char *from, const char *name, hg_source *source) {
    (void)user;
    (void)from;
    for (size_t i = 0; i < HG_COUNT_OF(LIBRARY); i++) {
        if (strcmp(LIBRARY[i].name, name) != 0) continue;
        resolved++;
        source->name = LIBRARY[i].name;
        source->bytes = LIBRARY[i].text;
        source->length = strlen(LIBRARY[i].text);
        return HG_OK;
    }
    return HG_ERROR_IO;
}
static void forget(void *user, hg_source *source) {
    (void)user;
    released += source->bytes != NULL;
}

static hg_status assemble_files(const char *body, hg_diagnostics *d, hg_program **p) {
    char *text = with_head(body);
    const hg_assemble_options options = {
        .size = sizeof options, .resolve = find, .release = forget, .source_name = "main"};
    hg_status status = hg_program_assemble_with(text, strlen(text), &options, d, p);
    CHECK(resolved == released);
    free(text);
    return status;
}

static void file_error(const char *body, const char *code, const char *file, uint32_t line,
                       uint32_t column, uint32_t outer) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_program *p = NULL;
    CHECK(assemble_files(body, d, &p) == HG_ERROR_ISA);
    CHECK_U64(hg_last_error()->line, outer + 2);
    const hg_diagnostic *g = hg_diagnostics_get(d, 0);
    CHECK_MESSAGE(g && strcmp(g->code, code) == 0 && g->line == line && g->column == column &&
                      g->outer_line == outer + 2 &&
                      (file ? g->file && strcmp(g->file, file) == 0 : !g->file),
                  "%s: %s at %s:%u:%u", body, g ? g->message : "nothing",
                  g && g->file ? g->file : "main", g ? g->line : 0, g ? g->column : 0);
    hg_diagnostics_destroy(d);
}

static void test_files(void) {
    hg_program
        *p = NULL,
        *q = assemble(
            ".atlas 1\n.program t\nmov_imm.u32 r1, 4\nouter_label: exit\nmov_imm.u32 r2, 77\n",
            NULL, 0);
    CHECK(assemble_files(".include \"const\"\n.include \"dir/outer\"\n.include \"macro\"\nm r2",
                         NULL, &p) == HG_OK);
    CHECK(p && q && memcmp(hg_program_hash(p), hg_program_hash(q), 32) == 0 && p->label_count == 1);
    if (p)
        CHECK(p->lines[0] == 4 && p->lines[1] == 4 && p->lines[2] == 6); /* debug lines are of the
                                                                            source itself */
    hg_program_release(p);
    hg_program_release(q);
    file_error("exit\n.include \"bad\"", "N03", "bad", 2, 15, 2);
    file_error(".include \"self\"", "S05", "self", 1, 10, 1);
    file_error(".include \"none\"", "P06", NULL, 3, 10, 1);
    file_error(".include \"open\"\n.end", "L04", "open", 2, 1, 1);
    file_error(".include \"rept\"\n.end", "L04", "rept", 2, 1, 1);
    file_error(".include const", "S02", NULL, 3, 10, 1);
    hg_diagnostics *d = hg_diagnostics_create(0);
    CHECK(assemble_files("exit\n.include \"bad\"", d, &p) == HG_ERROR_ISA);
    char *printed = hg_diagnostics_print(d, "main", "", 0);
    CHECK_TEXT(printed,
               "bad:2:15: error[N03]: operand 2 of 'add': expected a register, got predicate 'p0'\n"
               "    2 |   add.u32 r1, p0, r2\n      |               ^~\n   included at 4:10\nmain: "
               "1 error\n");
    hg_string_free(printed);
    hg_diagnostics_destroy(d);
}

/* ---- failing allocations ---- */

/* Files are handed back, memory is freed, and the answer is that there is none, whichever
 * allocation fails. */
static void test_failing_allocations(void) {
    static const char text[] = ".include \"const\"\n.include \"macro\"\n.type T = f32\n.macro both "
                               "op, d\nop.T d, d, r{N}\nm d\n.end\n"
                               ".for k, 0, 2\nboth add, r{k}\nl{k}: bra @l{k}\n.end\n.if N == 4 && "
                               "-N < 0\n.include \"dir/outer\"\n.end\n";
    failing_allocator memory = {0};
    hg_allocator allocator = {.size = sizeof allocator,
                              .user = &memory,
                              .reallocate = failing_reallocate,
                              .release = failing_release};
    hg_status status = HG_ERROR_OUT_OF_MEMORY;
    uint64_t n = 0;
    for (; status == HG_ERROR_OUT_OF_MEMORY && n < 10000; n++) {
        hg_program *p = NULL;
        CHECK(hg_set_allocator(&allocator) == HG_OK);
        allow_allocations(&memory, n);
        status = assemble_files(text, NULL, &p);
        CHECK(status == HG_OK ? p != NULL : status == HG_ERROR_OUT_OF_MEMORY && !p);
        hg_program_release(p);
        CHECK(hg_set_allocator(NULL) == HG_OK);
    }
    CHECK_U64(memory.live, 0);
    CHECK_MESSAGE(status == HG_OK && n > 10, "%s after %llu allocations", hg_last_error_text(),
                  (unsigned long long)n);
}

int main(void) {
    test_expansion();
    test_scopes();
    test_expansion_errors();
    test_expansion_words();
    test_programs();
    test_files();
    test_failing_allocations();
    test_integers();
    test_literals();
    test_places();
    test_constant_errors();
    test_defines();
    return test_done();
}
