/* What stands between the text and the assembler: constants and expressions. A text with them is the program of the plain text. */
#include "isa/program.h"
#include "test.h"

#include <stdlib.h>

/* ---- helpers ---- */

static const char HEAD[] = ".atlas 1\n.program t\n"; /* snippets begin on line 3 */

static hg_status assemble_with(const char *text, const char *const *defines, size_t count, hg_diagnostics *d, hg_program **p) {
    const hg_assemble_options options = {.size = sizeof options, .defines = defines, .define_count = count};
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
static void same_defined(const char *text, const char *plain, const char *const *defines, size_t count) {
    hg_program *p = assemble(text, defines, count), *q = assemble(plain, NULL, 0);
    uint8_t *x = NULL, *y = NULL;
    size_t x_length = 0, y_length = 0;
    if (p && q && hg_program_encode(p, 0, &x, &x_length) == HG_OK && hg_program_encode(q, 0, &y, &y_length) == HG_OK) {
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
static void error_at(const char *body, const char *code, uint32_t line, uint32_t column, uint32_t length) {
    char *text = with_head(body);
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_program *p = NULL;
    CHECK_MESSAGE(assemble_with(text, NULL, 0, d, &p) == HG_ERROR_ISA, "assembles: %s", body);
    const hg_diagnostic *g = hg_diagnostics_get(d, 0);
    CHECK_MESSAGE(hg_diagnostics_errors(d) == 1, "%zu errors in %s", hg_diagnostics_errors(d), body);
    if (g)
        CHECK_MESSAGE(strcmp(g->code, code) == 0 && g->line == line + 2 && g->column == column && g->length == length,
                      "expected %s at %u:%u+%u, got %s at %u:%u+%u (%s) in: %.200s", code, line, column, length, g->code, g->line - 2,
                      g->column, g->length, g->message, body);
    hg_program_release(p);
    hg_diagnostics_destroy(d);
    free(text);
}

/* ---- constants and expressions ---- */

static void integer_is(const char *expression, const char *value) {
    char body[512], plain[256];
    snprintf(body, sizeof body, ".const A = 12\n.const B 5\n.const C = A - B * 3\n.const D = C\nmov_imm.i128 r1, %s\n", expression);
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
    same(".const PI = 3.14159265358979323846264338327950288\nmov_imm.f32 r1, PI\nmov_imm.f64 r2, PI\nmov_imm.f32 r3, -PI\n",
         "mov_imm.f32 r1, 3.14159265358979323846264338327950288\nmov_imm.f64 r2, 3.14159265358979323846264338327950288\n"
         "mov_imm.f32 r3, -3.14159265358979323846264338327950288\n");
    same(".const T = 1.00000017881393432617187499\nmov_imm.f32 r1, T\nmov_imm.f32 r2, (T)\n", /* just below the middle of two f32 */
         "mov_imm.f32 r1, 1.00000017881393432617187499\nmov_imm.f32 r2, 1.00000017881393432617187499\n");
    same(".const W = 0x123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0\nmov_imm.u256 r1, W\nmov_imm.i256 r1, -W\n",
         "mov_imm.u256 r1, 0x123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0\n"
         "mov_imm.i256 r1, -0x123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0\n");
    same(".const M = 0xFFFFFFFF\nmov_imm.i32 r1, M\n", "mov_imm.i32 r1, -1\n");
    same(".const I = inf\n.const N = nan\n.const B = bits( 0x7fc00001 )\nmov_imm.f32 r1, -I\nmov_imm.f32 r2, N\nmov_imm.f32 r3, B\n",
         "mov_imm.f32 r1, -inf\nmov_imm.f32 r2, nan\nmov_imm.f32 r3, bits(0x7fc00001)\n");
    same("mov_imm.f64 r1, 1.0 / 3\nmov_imm.f32 r2, 0.1 + 0.2\nmov_imm.f32 r3, 2 * 1.5\nmov_imm.f64 r4, -(0.1 * 3)\n",
         "mov_imm.f64 r1, 0x1.5555555555555p-2\nmov_imm.f32 r2, 0x1.3333333333334p-2\nmov_imm.f32 r3, 3\nmov_imm.f64 r4, "
         "-0x1.3333333333334p-2\n");
    same("mov_imm r1, 2 * 3\nmov_imm r2, 1 << 40\nmov_imm r3, 3 * 0.5\n",
         "mov_imm.i32 r1, 6\nmov_imm.i64 r2, 1099511627776\nmov_imm.f32 r3, 1.5\n");
}

/* Wherever a number stands. */
static void test_places(void) {
    same(
        ".const T 16\n.param r1 x buffer f32 in [T, (T * 2)]\n.param r2 k f32 = -T * 1.5\n.param r3 p pool T * 1024\n.scratch r4 s u8 [T]\n"
        ".block T, T / 2, T - 15\n.shared T * T * 4\n.lanes T * (T / 4)\n",
        ".param r1 x buffer f32 in [16, 32]\n.param r2 k f32 = -24\n.param r3 p pool 16384\n.scratch r4 s u8 [16]\n"
        ".block 16, 8, 1\n.shared 1024\n.lanes 16 * 4\n");
    same(".const T 16\n.param r1 x buffer f32 inout [64]\n.shared 64\nldg.f32 r2, [buf(r1) + T * 4 - 4]\nsts.f32 [shared + r3 + T - T / "
         "4], r2\n"
         "lds.f32 r2, [shared - T + T * 2]\nstg.f32 [r1 + r3 - T - 2 + 20], r2\nldg.u8 r4, [phi(T / 4, T + 1, T * 2)]\nbar.sync T / 16\n"
         "loop r5, T * 2\nloop r6, T - 16\nendloop\nendloop\npool.alloc r7, T * T\nreduce.add.f32 r8, r9, T / 4\n",
         ".param r1 x buffer f32 inout [64]\n.shared 64\nldg.f32 r2, [buf(r1) + 60]\nsts.f32 [shared + r3 + 12], r2\n"
         "lds.f32 r2, [shared + 16]\nstg.f32 [r1 + r3 + 2], r2\nldg.u8 r4, [phi(4, 17, 32)]\nbar.sync 1\n"
         "loop r5, 32\nloop r6, 0\nendloop\nendloop\npool.alloc r7, 256\nreduce.add.f32 r8, r9, 4\n");
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
    static const char text[] =
        ".atlas 1\n.program t\n.const N = 4\n.const M = N * 2\n.const F = 1.5\nmov_imm.u32 r1, N\nmov_imm.u32 r2, M\n"
        "mov_imm.f32 r3, F\n";
    static const char *const defines[] = {"N=(1 << 4) - 1", "F=0.1"};
    same_defined(text, ".atlas 1\n.program t\nmov_imm.u32 r1, 15\nmov_imm.u32 r2, 30\nmov_imm.f32 r3, 0.1\n", defines, 2);
    same_defined(text, ".atlas 1\n.program t\nmov_imm.u32 r1, 1\nmov_imm.u32 r2, 2\nmov_imm.f32 r3, 1.5\n", &(const char *){"N"}, 1);
    static const char *const twice[] = {"N=7", "N=8"};
    same_defined(text, ".atlas 1\n.program t\nmov_imm.u32 r1, 8\nmov_imm.u32 r2, 16\nmov_imm.f32 r3, 1.5\n", twice, 2);
    define_fails(text, "K=1", "definition K=1: the program has no constant of that name");
    define_fails(text, "N=", "definition N=: its value is no number");
    define_fails(text, "N=x", "definition N=x: its value is no number");
    define_fails(text, "N=1 2", "definition N=1 2: its value is no number");
    define_fails(text, "=1", "definition =1: no name of a constant");
    define_fails(text, "r1=1", "definition r1=1: no name of a constant");
    const hg_assemble_options missing = {.size = sizeof missing, .define_count = 1};
    hg_program *p;
    CHECK(hg_program_assemble_with(text, strlen(text), &missing, NULL, &p) == HG_ERROR_INVALID_ARGUMENT);
}

int main(void) {
    test_integers();
    test_literals();
    test_places();
    test_constant_errors();
    test_defines();
    return test_done();
}
