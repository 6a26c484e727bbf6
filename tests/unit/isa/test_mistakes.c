/* One mistake, one message: a declaration that fails still declares its names, lines that are read
 * several times have their mistakes once, and what other languages write gets the hint that helps.
 */
#include "isa/program.h"
#include "test.h"

#include <stdlib.h>

#define HEAD                                                                                  \
    ".atlas 1\n.program t\n.param x buffer f32 inout [n]\n.param n u64\n.lanes n\n.reg a, b " \
    "f32\n.reg i u32\n"

static hg_diagnostics *diagnose(const char *text) {
    hg_program *p = NULL;
    hg_diagnostics *d = hg_diagnostics_create(0);
    if (hg_program_assemble(text, strlen(text), d, &p) == HG_OK) (void)!hg_program_verify(p, d);
    hg_program_release(p);
    return d;
}

static void show(const char *text, const hg_diagnostics *d) {
    char *said = hg_diagnostics_print(d, "t", text, strlen(text));
    fprintf(stderr, "%s\n%s\n", text, said ? said : "");
    hg_string_free(said);
}

/* Exactly these lines have errors, one each. */
static void errors(const char *text, const uint32_t *lines, size_t count) {
    hg_diagnostics *d = diagnose(text);
    bool ok = hg_diagnostics_errors(d) == count;
    size_t found = 0;
    for (size_t i = 0; i < hg_diagnostics_count(d); i++) {
        const hg_diagnostic *g = hg_diagnostics_get(d, i);
        if (g->severity != HG_SEVERITY_ERROR) continue;
        ok = ok && found < count && g->line == lines[found];
        found++;
    }
    CHECK_MESSAGE(ok && found == count, "%zu errors expected, %zu found", count,
                  hg_diagnostics_errors(d));
    if (!ok || found != count) show(text, d);
    hg_diagnostics_destroy(d);
}
#define ERRORS(text, ...)                                  \
    do {                                                   \
        const uint32_t lines[] = {__VA_ARGS__};            \
        errors(text, lines, sizeof lines / sizeof *lines); \
    } while (0)

#define USES                                                                                      \
    " mov a, 1.0\n mul b, a, a\n add c, a, b\n stg [x[global]], c\n ldg c, [x[global]]\n sub a, " \
    "c, b\n"
#define PLAIN ".atlas 1\n.program t\n.param x buffer f32 inout [n]\n.param n u64\n.lanes n\n"

/* What stands in the line is declared all the same, for every directive that declares. */
static void test_declarations(void) {
    ERRORS(PLAIN ".reg a, r2, b, c f32\n" USES, 6);
    ERRORS(PLAIN ".reg a, p2, b, c f32\n" USES, 6);
    ERRORS(PLAIN ".reg f32, a, b, c f32\n" USES, 6);
    ERRORS(PLAIN ".reg a, u8, b, c f32\n" USES, 6);
    ERRORS(PLAIN ".reg a, nan, b, c f32\n" USES, 6);
    ERRORS(PLAIN ".reg a, b, pred, c f32\n" USES, 6);
    ERRORS(PLAIN ".reg a, b.c, b, c f32\n" USES, 6);
    ERRORS(PLAIN ".reg a, 5, b, c f32\n" USES, 6);
    ERRORS(PLAIN ".reg a, 5x, b, c f32\n" USES, 6);
    ERRORS(PLAIN ".reg a, b, c float\n" USES, 6);
    ERRORS(PLAIN ".reg a, b, c\n" USES, 6);
    ERRORS(PLAIN ".reg a, b, c f32 f32\n" USES, 6);
    ERRORS(PLAIN ".reg a, b[0], c f32\n mov a, 1.0\n add c, a, b[0]\n add a, b[1], c\n", 6);
    ERRORS(PLAIN ".reg a, b[2 f32\n mov a, 1.0\n add a, a, b[1]\n", 6);
    ERRORS(PLAIN ".reg a f32\n.reg a, b, c f32\n" USES, 7);
    ERRORS(PLAIN ".reg a, x, b, c f32\n mov a, 1.0\n add b, a, a\n mov c, b\n stg [x[global]], c\n",
           6);
    ERRORS(PLAIN ".reg a, r2, b, r3, c f32\n" USES, 6, 6);
    ERRORS(".atlas 1\n.program t\n.param x buffer float inout [n]\n.param n u64\n.lanes n\n.reg v "
           "f32\n ldg v, [x[global]]\n stg "
           "[x[global]], v\n",
           3);
    ERRORS(".atlas 1\n.program t\n.param x buffer f32 sideways [n]\n.param n u64\n.lanes n\n.reg v "
           "f32\n ldg v, [x[global]]\n add v, v, v\n",
           3);
    ERRORS(".atlas 1\n.program t\n.param x buffer f32 in [n]\n.param n u65\n.lanes n\n.reg v "
           "f32\n.reg i u64\n ldg v, [x[global]]\n"
           " sub i, n, 1\n",
           4);
    ERRORS(".atlas 1\n.program t\n.param x buffer f32 in [n, n]\n.lanes n\n.reg v f32\n ldg v, "
           "[x[global]]\n mov v, v\n",
           3);
    ERRORS(PLAIN ".param r1 s u32\n.param r1 t u32\n.reg i u32\n add i, s, t\n mul i, t, t\n", 7);
    ERRORS(PLAIN ".scratch t f32\n.reg v f32\n ldg v, [t[global]]\n stg [t[global]], v\n", 6);
    ERRORS(PLAIN ".data t f32 [2] 1.0, oops\n.reg v f32\n ldg v, [t[0]]\n ldg v, [t[1]]\n", 6);
    ERRORS(
        PLAIN
        ".const K = 1 +\n.const L = K * 2\n.reg i u32\n mov i, K\n add i, i, K + 1\n add i, i, L\n",
        6);
    ERRORS(PLAIN
           ".const K = oops\n.rept K\n exit\n.end\n.if K > 2\n exit\n.end\n.reg i u32\n mov i, K\n",
           6);
    ERRORS(PLAIN ".type T = float\n.reg v T\n.reg w f32\n mov.T v, 1.0\n add.T w, v, w\n cvt.T.u32 "
                 "v, r252\n",
           6);
    ERRORS(
        PLAIN
        ".macro M p, p\n add p, p, p\n.end\n.reg v f32\n mov v, 1.0\n M v, v\n M v\n add v, v, v\n",
        6);
    ERRORS(PLAIN ".include \"nothing.atlas\"\n.reg v f32\n mov v, HALF\n SQUARE v, v\n add.T v, v, "
                 "other\n bra @behind\n",
           6);
    ERRORS(PLAIN "r1:\n bra @r1\n bra @r1\n", 6);
}

/* A name that nothing declares is said where it stands first. */
static void test_unknown(void) {
    ERRORS(PLAIN ".reg v f32\n mov w, 1.0\n add v, w, w\n add w, v, w\n stg [x[global]], w\n", 7);
    ERRORS(PLAIN ".reg v f32\n mov v, 1.0\n ldg v, [x[at]]\n ldg v, [x[at + 1]]\n add v, v, u\n", 8,
           10);
    ERRORS(".atlas 1\n.program t\n.param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.lanes "
           "n\n exit\n",
           3);
    ERRORS(PLAIN ".reg i u32\n mov i, K + 1\n mov i, K + 2\n mov i, L + 1\n", 7, 9);
    ERRORS(PLAIN " bra @on\n bra @on\n bra @off\n", 6, 8);
    ERRORS(PLAIN " frob r1\n frob r1\n", 6, 7); /* two lines that are wrong */
}

/* Lines that are read several times, and what stands behind them. */
static void test_repeated(void) {
    ERRORS(PLAIN ".reg at i32\n.reg v f32\n mov at, 1\n.for k, 0, 30\n add at, at, 1\n ldg v, "
                 "[x[at]]\n.end\n stg [x[global]], v\n"
                 " ldg v, [x[at]]\n add.u32 r1, r2, r2\n",
           11, 15);
    ERRORS(PLAIN ".for k, 0, 30000\n frob r{k}\n.end\n frob r1\n", 7, 9); /* more rounds than errors
                                                                             are kept */
    ERRORS(PLAIN ".rept 50\n add.f32 r1, r1\n add.u32 r2, r2\n.end\n add.f32 r1, r1\n", 7, 8, 10);
    ERRORS(PLAIN ".for k, 0, 5\n.for j, 0, 5\n mov.f32 r{k + j}, nothing{k}\n.end\n.end\n exit 5\n",
           8, 11);
    ERRORS(PLAIN ".macro M d\n.reg t f32\n frob t\n add.f32 d, d, d\n.end\n.reg v f32\n mov v, "
                 "1.0\n M v\n M v\n M v\n frob v\n",
           8, 16);
    ERRORS(PLAIN ".macro M d, s\n add.f32 d, s, s\n.end\n.reg v f32\n mov v, 1.0\n M v, v\n M v, "
                 "one\n M v, two\n",
           12, 13); /* in arguments */
    ERRORS(PLAIN ".reg v f32\n.rept 40\n ldg v, [x[v]]\n.end\n add.u32 r1, r2, r2\n", 8,
           10); /* V03,
                   then
                   V01
                 */
    ERRORS(PLAIN ".rept 30\n.const K = 1\n.const K = 2\n.end\n exit 1\n", 8, 10);
}

static void hint(const char *line, const char *expected) {
    char text[512];
    snprintf(text, sizeof text,
             HEAD " ldg a, [x[global]]\n mov b, a\n mov i, 0\n%s\n stg [x[global]], a\n", line);
    hg_diagnostics *d = diagnose(text);
    const hg_diagnostic *g = NULL;
    for (size_t k = 0; !g && k < hg_diagnostics_count(d); k++)
        if (hg_diagnostics_get(d, k)->severity == HG_SEVERITY_ERROR) g = hg_diagnostics_get(d, k);
    CHECK_MESSAGE(g && g->hint && strstr(g->hint, expected),
                  "'%s': expected a hint with \"%s\", got %s", line, expected,
                  g && g->hint ? g->hint
                  : g          ? g->message
                               : "no error");
    hg_diagnostics_destroy(d);
}

static void test_foreign(void) {
    static const struct {
        const char *line, *hint;
    } cases[] = {
        {"i++", "i += 1"},
        {"i--", "i -= 1"},
        {"ldg b, x[global]", "[x[global]]"},
        {"ldg b, x[i + 1]", "[x[i + 1]]"},
        {"ldg b, x", "[x[global]]"},
        {"stg x, b", "[x[global]]"},
        {"ldg b, x + 4", "an address has brackets"},
        {"ldg b, *x", "ldg d, [x[i]]"},
        {"ldg b, &x", "ldg d, [x[i]]"},
        {"ldg b, [x[global, 1]]", "one index: mad"},
        {"ldg b, [x[i][1]]", ""},
        {"bra done", "@done"},
        {"bra.lt a, b, done", "@done"},
        {"call f", "@f"},
        {"add a b, b", "a comma stands between operands"},
        {"mov a 1.0", "a comma stands between operands"},
        {"if a < 0", "if a < b {"},
        {"else", "} else {"},
        {"while a > 0", "while a < b {"},
        {"while a {\n }", "a comparison gives one"},
        {"elif a < 0", "} else if"},
        {"for (i = 0; i < 5; i++)", "for i in 0 .. n {"},
        {"for i = 0, 5", "for i in 0 .. n {"},
        {"return a", "ends the lane"},
        {"break", "while, for or loop"},
        {"continue", "while, for or loop"},
        {"goto done", "bra @label"},
        {"jmp done", "bra @label"},
        {"load b, [x[0]]", "ldg"},
        {"load.f32 b, [x[0]]", "ldg"},
        {"ld.global.f32 b, [x[0]]", "ldg"},
        {"store [x[0]], a", "stg"},
        {"printf a", "hologram debug"},
        {"float c", "let v f32 = 0"},
        {"let c: f32 = 1", "behind the name"},
        {"a = get_global_id(0)", "global"},
        {"a = threadIdx.x", "lane"},
        {"a = b < a < b", "b < c"},
        {"a = b && b", "a comparison gives one"},
        {"i = 1.5", "no integer"},
        {"a = i", "f32("},
        {"c = a", "let c = "},
        {"let c = x", "x[global]"},
        {"f32 c", ".reg"},
        {"int c = 5", ".reg"},
        {"var c", ".reg"},
        {"const N = 5", ".const"},
        {"syncthreads", "bar.sync 0"},
        {"__syncthreads", "bar.sync 0"},
        {"barrier", "bar.sync 0"},
        {"fadd a, a, b", "add"},
        {"mod i, i, 7", "rem"},
        {"cmp a, b", "setlt"},
        {"select a, i, a, b", "sel"},
        {"atomicAdd x, 1", "atom.add"},
        {"// a comment", "';'"},
        {"@done:", "NAME:"},
        {"mov i, threadIdx.x", "lane"},
        {"mov i, blockIdx.x", "block"},
        {"mov i, tid", "global"},
        {"mov %r1, 5", "without a sign"},
        {"BarSync 0", "bar.sync"},
        {"BAR_SYNC 0", "bar.sync"},
        {"MovImm r1, 5", "mov_imm"},
        {"ParallelMap a, b", "parallel_map"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        if (*cases[k].hint) hint(cases[k].line, cases[k].hint);
}

/* No hint's word is a word of this language, or its line would not be wrong. */
static void test_words(void) {
    static const struct {
        const char *place, *word;
    } words[] = {
#define HG_FOREIGN(place, word, hint) {#place, word},
#include "isa/foreign.def"
#undef HG_FOREIGN
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        for (int op = 0; op < HG_OP_COUNT; op++)
            CHECK_MESSAGE(words[i].place[0] != 'S' ||
                              strcmp(words[i].word, hg_op_get((hg_op)op)->text) != 0,
                          "'%s' is an instruction", words[i].word);
        for (const char *c = words[i].word; *c; c++)
            CHECK_MESSAGE(*c < 'A' || *c > 'Z', "'%s': words stand in small letters",
                          words[i].word);
        for (size_t k = 0; k < i; k++)
            CHECK_MESSAGE(strcmp(words[i].place, words[k].place) != 0 ||
                              strcmp(words[i].word, words[k].word) != 0,
                          "'%s' stands twice", words[i].word);
    }
}

int main(void) {
    test_declarations();
    test_unknown();
    test_repeated();
    test_foreign();
    test_words();
    return test_done();
}
