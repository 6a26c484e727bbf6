/* The assembler and canonical text: every form of the grammar, every diagnostic with its place,
 * identity of text -> program -> text and of binary, limits, hostile input, failing allocations.
 * test: labels=slow */
#include "isa/program.h"
#include "support/failing_allocator.h"
#include "support/sanitized.h"
#include "test.h"

#include <stdarg.h>
#include <stdlib.h>

/* ---- helpers ---- */

static const char HEAD[] = ".atlas 1\n.program t\n"; /* snippets begin on line 3 */

static char *with_head(const char *body) {
    size_t length = strlen(HEAD) + strlen(body) + 1;
    char *text = malloc(length);
    if (!text) exit(2);
    snprintf(text, length, "%s%s", HEAD, body);
    return text;
}

static char *print(const hg_program *p) {
    char *text = NULL;
    size_t length = 0;
    CHECK(hg_program_print(p, &text, &length) == HG_OK);
    CHECK(text && strlen(text) == length);
    return text;
}

static hg_program *assemble(const char *text, size_t length) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_program *p = NULL;
    hg_status status = hg_program_assemble(text, length, d, &p);
    if (status != HG_OK) {
        char *errors = hg_diagnostics_print(d, "test", text, length);
        CHECK_MESSAGE(false, "does not assemble: %s\n%s", hg_last_error_text(),
                      errors ? errors : "");
        hg_string_free(errors);
    } else {
        CHECK(hg_diagnostics_errors(d) == 0);
    }
    hg_diagnostics_destroy(d);
    return p;
}

/* Canonical text of p assembles to the same program and prints the same; so does the binary. */
static void check_identity(const hg_program *p) {
    char *first = print(p);
    hg_program *again = first ? assemble(first, strlen(first)) : NULL;
    if (again) {
        char *second = print(again);
        CHECK_TEXT(second, first);
        CHECK(memcmp(hg_program_hash(p), hg_program_hash(again), 32) == 0);
        uint8_t *a = NULL, *b = NULL;
        size_t a_length = 0, b_length = 0;
        CHECK(hg_program_encode(p, 0, &a, &a_length) == HG_OK);
        CHECK(hg_program_encode(again, 0, &b, &b_length) == HG_OK);
        CHECK(a && b && a_length == b_length && memcmp(a, b, a_length) == 0);
        hg_string_free((char *)a);
        hg_string_free((char *)b);
        hg_string_free(second);
    }
    hg_program_release(again);
    hg_string_free(first);
}

/* The whole program prints as `expected`. */
static void expect_text(const char *source, const char *expected) {
    hg_program *p = assemble(source, strlen(source));
    if (!p) return;
    char *text = print(p);
    CHECK_MESSAGE(text && strcmp(text, expected) == 0, "expected\n%s\ngot\n%s", expected,
                  text ? text : "(null)");
    check_identity(p);
    hg_string_free(text);
    hg_program_release(p);
}

/* A body under HEAD prints as `expected` under HEAD. */
static void expect_body(const char *body, const char *expected) {
    char *source = with_head(body), *wanted = with_head(expected);
    expect_text(source, wanted);
    free(source);
    free(wanted);
}

typedef struct expected_error {
    const char *code;
    uint32_t line, column, length;
} expected_error;

static void expect_errors_in(const char *source, size_t length, const expected_error *wanted,
                             size_t count) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_program *p = NULL;
    hg_status status = hg_program_assemble(source, length, d, &p);
    CHECK_MESSAGE(status == HG_ERROR_ISA && !p, "assembles: %.200s", source);
    CHECK_MESSAGE(hg_diagnostics_errors(d) == count,
                  "%zu errors instead of %zu, first %s in: %.300s", hg_diagnostics_errors(d), count,
                  hg_last_error()->message, source);
    for (size_t i = 0; i < count && i < hg_diagnostics_count(d); i++) {
        const hg_diagnostic *g = hg_diagnostics_get(d, i);
        const expected_error *e = &wanted[i];
        CHECK_MESSAGE(strcmp(g->code, e->code) == 0 && g->line == e->line &&
                          g->column == e->column && g->length == e->length,
                      "expected %s at %u:%u+%u, got %s at %u:%u+%u (%s) in: %.200s", e->code,
                      e->line, e->column, e->length, g->code, g->line, g->column, g->length,
                      g->message, source);
    }
    const hg_error *last = hg_last_error();
    if (status == HG_ERROR_ISA && count)
        CHECK_MESSAGE(strcmp(last->code, wanted[0].code) == 0 && last->line == wanted[0].line &&
                          last->column == wanted[0].column,
                      "last error is %s at %u:%u: %s", last->code, last->line, last->column,
                      last->message);
    hg_program_release(p);
    hg_diagnostics_destroy(d);
}

/* One error in a body under HEAD; line 1 is the body's first. */
static void expect_error(const char *body, const char *code, uint32_t line, uint32_t column,
                         uint32_t length) {
    char *source = with_head(body);
    expect_errors_in(source, strlen(source), &(expected_error){code, line + 2, column, length}, 1);
    free(source);
}

static void expect_message(const char *body, const char *message, const char *hint) {
    char *source = with_head(body);
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_program *p = NULL;
    CHECK(hg_program_assemble(source, strlen(source), d, &p) == HG_ERROR_ISA);
    const hg_diagnostic *g = hg_diagnostics_get(d, 0);
    CHECK_TEXT(g ? g->message : NULL, message);
    if (hint) CHECK_TEXT(g && g->hint ? g->hint : "", hint);
    hg_program_release(p);
    hg_diagnostics_destroy(d);
    free(source);
}

/* ---- programs of the reference ---- */

static void test_example_programs(void) {
    static const char *const names[] = {"axpy", "collatz", "block_reverse",
                                        "gcd3", "center",  "wide"};
    for (size_t i = 0; i < HG_COUNT_OF(names); i++) {
        char path[512], text[8192];
        snprintf(path, sizeof path, "%s/examples/programs/%s.atlas", HG_SOURCE_DIR, names[i]);
        FILE *f = fopen(path, "rb");
        CHECK_MESSAGE(f != NULL, "%s: not found", path);
        if (!f) continue;
        size_t length = fread(text, 1, sizeof text, f);
        fclose(f);
        hg_program *p = assemble(text, length);
        if (!p) continue;
        CHECK_TEXT(hg_program_name(p), names[i]);
        check_identity(p);
        hg_diagnostics *d = hg_diagnostics_create(0);
        CHECK_MESSAGE(hg_program_verify(p, d) == HG_OK && hg_diagnostics_count(d) == 0, "%s: %s",
                      path, hg_last_error_text());
        hg_diagnostics_destroy(d);
        hg_program_release(p);
    }
}

/* ---- grammar ---- */

static void test_directives(void) {
    expect_text(
        "\xEF\xBB\xBF\r\n; comment \xC3\xA9\r\n.atlas 1\r\n.program  x_1.y$ ; name\r\n.flag "
        "relaxed\r\n.entry go\r\n.lanes n*0x10 "
        "* m\r\n.block 8,2,1\r\n"
        ".shared 1_024\r\n.meta zz \"a\\\"b\\\\c\\n\\t\\x01\\x7f \xC3\xA9\"\r\n.meta aa \"\"\r\n"
        ".param r1 x buffer f32 in [n, 3 ,m]\r\n.param r200 one buffer u8 out []\r\n.param r3 any "
        "buffer i4096 inout\r\n"
        ".param r4 n u64=5\r\n.param r5 m u32\r\n.param r6 tmp pool 36864\r\n.param r7 f f16 = - "
        "1.5\r\n.param r8 w i128 = -1\r\n"
        "exit\r\ngo : exit\r\n",
        ".atlas 1\n.program x_1.y$\n.param r1 x buffer f32 in [n, 3, m]\n.param r200 one buffer u8 "
        "out []\n.param r3 any buffer "
        "i4096 inout\n"
        ".param r4 n u64 = 5\n.param r5 m u32\n.param r6 tmp pool 36864\n.param r7 f f16 = "
        "-1.5\n.param r8 w i128 = "
        "0xffffffffffffffffffffffffffffffff\n"
        ".shared 1024\n.block 8, 2\n.lanes n * 16 * m\n.entry go\n.flag relaxed\n.meta aa "
        "\"\"\n.meta zz "
        "\"a\\\"b\\\\c\\n\\t\\x01\\x7f \xC3\xA9\"\n"
        "    exit\ngo:\n    exit\n");
    expect_text(".atlas 1\n.program t\n.block 1,1,1\n.lanes 7\n.shared 0",
                ".atlas 1\n.program t\n.block 1\n.lanes 7\n");
    expect_text(".atlas 1\n.program t\n.block 1,1,4\n", ".atlas 1\n.program t\n.block 1, 1, 4\n");
    expect_text(".atlas 0b1\n.program t\n.entry end\nexit\nend:",
                ".atlas 1\n.program t\n.entry end\n    exit\nend:\n");
    expect_text(".atlas 1\n.program t\n.entry first\nfirst: exit",
                ".atlas 1\n.program t\nfirst:\n    exit\n");
    expect_text(".atlas 1\n.program t\n.meta k \"\\xff\\xc3\\xa9\\x00z\"",
                ".atlas 1\n.program t\n.meta k \"\\xff\xC3\xA9\\x00z\"\n");
    expect_text(
        ".atlas 1\n.program t\n.param r1 buffer buffer f32 in [pool]\n.param r2 pool u32\n",
        ".atlas 1\n.program t\n.param r1 buffer buffer f32 in [pool]\n.param r2 pool u32\n");
    char *source = with_head(".meta key \"a\\x00b\"");
    hg_program *p = assemble(source, strlen(source));
    CHECK(p && p->meta_count == 1 && p->meta[0].value_length == 3 &&
          memcmp(p->meta[0].value, "a\0b", 3) == 0);
    CHECK(p && hg_program_meta(p, "key") && !hg_program_meta(p, "other"));
    hg_program_release(p);
    free(source);
}

static void test_addresses(void) {
    static const char *const rows[][2] = {
        {"[buf42+128]", "[buf42 + 128]"},
        {"[buf42]", "[buf42 + 0]"},
        {"[ buf42 + r0 ]", "[buf42 + r0]"},
        {"[buf42+r0+16]", "[buf42 + r0 + 16]"},
        {"[buf42 - 4]", "[buf42 - 4]"},
        {"[buf42 + r0 - 0x10]", "[buf42 + r0 - 16]"},
        {"[buf42 + r0 + 0]", "[buf42 + r0]"},
        {"[buf0xffffffffffffffa5 + 0]", "[buf18446744073709551525 + 0]"},
        {"[pool3 + 0]", "[pool3 + 0]"},
        {"[pool3+r0]", "[pool3 + r0]"},
        {"[shared+16]", "[shared + 16]"},
        {"[shared]", "[shared + 0]"},
        {"[shared + r5]", "[shared + r5]"},
        {"[shared + r5 - 4]", "[shared + r5 - 4]"},
        {"[class21 + 64]", "[class21 + 64]"},
        {"[class95 + r0]", "[class95 + r0]"},
        {"[class0]", "[class0 + 0]"},
        {"[phi(5, 12, 200)]", "[phi(5, 12, 200)]"},
        {"[phi ( 95,47,\n 255 )]", "[phi(95, 47, 255)]"},
        {"[r1 + r0]", "[r1 + r0]"},
        {"[r1 + r0 + 16]", "[r1 + r0 + 16]"},
        {"[buf(r1) + r0]", "[r1 + r0]"},
        {"[buf(r1) + 16]", "[buf(r1) + 16]"},
        {"[buf ( r1 )]", "[buf(r1)]"},
        {"[pool(r6) + r0]", "[pool(r6) + r0]"},
        {"[pool(r6)]", "[pool(r6)]"},
        {"[pool(r6) - 1]", "[pool(r6) - 1]"},
        {"[r10]", "[r10]"},
        {"[r10 + 32]", "[r10 + 32]"},
        {"[r10 - 32]", "[r10 - 32]"},
        {"[r10 + 0]", "[r10]"},
        {"[r10 - 0]", "[r10]"},
        {"[r10 + 9223372036854775807]", "[r10 + 9223372036854775807]"},
        {"[r255 - 9_223_372_036_854_775_807]", "[r255 - 9223372036854775807]"}};
    for (size_t i = 0; i < HG_COUNT_OF(rows); i++) {
        char source[128], expected[128];
        snprintf(source, sizeof source, "ldg.f32 r0, %s\n", rows[i][0]);
        snprintf(expected, sizeof expected, "    ldg.f32 r0, %s\n", rows[i][1]);
        expect_body(source, expected);
    }
}

/* Every form of section 4 that the table has, once as written by people, once canonical. */
static void test_forms(void) {
    static const char *const rows[][2] = {
        {"ldg.f32 r1,[r2]", "ldg.f32 r1, [r2]"},
        {"stg.u8 [r2], r1", NULL},
        {"lds.i128 r1, [shared+0]", "lds.i128 r1, [shared + 0]"},
        {"sts.bf16 [shared + r1], r2", NULL},
        {"mov.f64 r1, r2", NULL},
        {"mov_imm.u32 r250, 0x10", "mov_imm.u32 r250, 16"},
        {"mov_imm r1, 5", "mov_imm.i32 r1, 5"},
        {"mov_imm r1, -2147483648", "mov_imm.i32 r1, -2147483648"},
        {"mov_imm r1, 2147483648", "mov_imm.i64 r1, 2147483648"},
        {"mov_imm r1, 1.5", "mov_imm.f32 r1, 1.5"},
        {"mov_imm r1, -inf", "mov_imm.f32 r1, -inf"},
        {"mov_imm r1, nan", "mov_imm.f32 r1, nan"},
        {"mov_imm r1, 0x1p3", "mov_imm.f32 r1, 8.0"},
        {"mov_imm r1, 0xffffffff", "mov_imm.i32 r1, -1"},
        {"mov_imm.f64 r1, bits ( 0x7ff0_0000_0000_0001 )",
         "mov_imm.f64 r1, bits(0x7ff0000000000001)"},
        {"mov_imm.f32 r1, 3", "mov_imm.f32 r1, 3.0"},
        {"mov_imm.f16 r1, 1e-7", "mov_imm.f16 r1, 1e-07"},
        {"mov_imm.u128 r1, 18446744073709551616", "mov_imm.u128 r1, 0x10000000000000000"},
        {"mov_imm.i8 r1, - 128", "mov_imm.i8 r1, -128"},
        {"cvt.f32.i32 r1, r2", NULL},
        {"rdid r5, block_idx_y", NULL},
        {"rdid r5, global_lane_id", NULL},
        {"rdid r5, lane_count", NULL},
        {"add.f32 r1, r2, r3", NULL},
        {"sub.i8 r1, r2, r3", NULL},
        {"mul.u4096 r1, r2, r3", NULL},
        {"div.f16 r1, r2, r3", NULL},
        {"rem.i64 r1, r2, r3", NULL},
        {"min.f32 r1, r2, r3", NULL},
        {"max.f32 r1, r2, r3", NULL},
        {"fma.f32 r1, r2, r3, r4", NULL},
        {"mad.f32 r1, r2, r3, r4", NULL},
        {"fms.f32 r1, r2, r3, r4", NULL},
        {"abs.i32 r1, r2", NULL},
        {"neg.i32 r1, r2", NULL},
        {"and.u8 r1, r2, r3", NULL},
        {"or.u8 r1, r2, r3", NULL},
        {"xor.u8 r1, r2, r3", NULL},
        {"not.u8 r1, r2", NULL},
        {"shl.u64 r1, r2, r3", NULL},
        {"shr.i64 r1, r2, r3", NULL},
        {"seteq.f32 p0, r1, r2", NULL},
        {"setne.f32 p15, r1, r2", NULL},
        {"setlt.f32 p0, r1, r2", NULL},
        {"setle.f32 p0, r1, r2", NULL},
        {"setgt.f32 p0, r1, r2", NULL},
        {"setge.f32 p0, r1, r2", NULL},
        {"setltu.i32 p0, r1, r2", NULL},
        {"setleu.i32 p0, r1, r2", NULL},
        {"setgtu.u32 p0, r1, r2", NULL},
        {"setgeu.u32 p0, r1, r2", NULL},
        {"sel.f32 r1, p3, r4, r5", NULL},
        {"ret", NULL},
        {"exit", NULL},
        {"bar.sync 255", NULL},
        {"bar.sync 0", NULL},
        {"memfence.thread", NULL},
        {"memfence.block", NULL},
        {"memfence.device", NULL},
        {"memfence.system", NULL},
        {"atom.add.u32 r1, [r2], r3", NULL},
        {"atom.min.i32 r1, [shared + r2], r3", NULL},
        {"atom.max.i64 r1, [r2], r3", NULL},
        {"atom.and.u64 r1, [r2], r3", NULL},
        {"atom.or.u32 r1, [r2], r3", NULL},
        {"atom.xor.u32 r1, [r2], r3", NULL},
        {"atom.exch.u32 r1, [r2], r3", NULL},
        {"atom.cas.u32 r1, [r2], r3, r4", NULL},
        {"exp.f32 r1, r2", NULL},
        {"log.f32 r1, r2", NULL},
        {"log2.f32 r1, r2", NULL},
        {"log10.f32 r1, r2", NULL},
        {"sqrt.f32 r1, r2", NULL},
        {"rsqrt.f32 r1, r2", NULL},
        {"sin.f32 r1, r2", NULL},
        {"cos.f32 r1, r2", NULL},
        {"tan.f32 r1, r2", NULL},
        {"tanh.f32 r1, r2", NULL},
        {"sigmoid.f32 r1, r2", NULL},
        {"gelu.f32 r1, r2", NULL},
        {"swish.f32 r1, r2", NULL},
        {"pow.f32 r1, r2, r3", NULL},
        {"rcp.f32 r1, r2", NULL},
        {"sign.f32 r1, r2", NULL},
        {"floor.f32 r1, r2", NULL},
        {"ceil.f32 r1, r2", NULL},
        {"round.f32 r1, r2", NULL},
        {"trunc.f32 r1, r2", NULL},
        {"clamp.i32 r1, r2, r3, r4", NULL},
        {"lerp.f64 r1, r2, r3, r4", NULL},
        {"reduce.add.f32 r1, r2, 4", NULL},
        {"reduce.min.f32 r1, r255, 1", NULL},
        {"reduce.max.f32 r1, r2, 0", NULL},
        {"reduce.mul.f32 r1, r2, 254", NULL},
        {"reduce.add.f32 r1, [buf(r2)], r4", NULL},
        {"reduce.min.f32 r1, [buf(r2) + 4], 12", NULL},
        {"reduce.max.u8 r1, [r2 + r3], 12", NULL},
        {"reduce.mul.f32 r1, [r2], r4", NULL},
        {"pool.alloc r1, 4096", NULL},
        {"pool.alloc r1, r2", NULL},
        {"pool.alloc pool7, 4096", NULL},
        {"pool.alloc pool0x7, r2", "pool.alloc pool7, r2"},
        {"pool.free r1", NULL},
        {"pool.free pool7", NULL},
        {"pool.load.f32 r1, r2, 16", NULL},
        {"pool.load.f32 r1, r2, r3", NULL},
        {"pool.load.f32 r1, pool2, r3", NULL},
        {"pool.store.f32 r1, r2, r3", NULL},
        {"pool.store.f32 r1, 8, r3", NULL},
        {"pool.store.f32 pool1, r2, r3", NULL},
        {"parallel_map.f32 r1, r2, sqrt, r3", NULL},
        {"parallel_map.f32 [buf(r1) + 4], [r2 + r3], relu, 100", NULL},
        {"parallel_map_binary.f32 r1, r2, r3, atan2, 18446744073709551615", NULL},
        {"parallel_map_binary.i32 r1, r2, r3, max, r4", NULL},
        {"parallel_reduce.f32 r1, r2, sum, r3", NULL},
        {"parallel_reduce.f32 r1, [buf(r2) + 4], product, 7", NULL},
        {"parallel_reduce.f32 [buf(r1)], r2, min, 7", NULL}};
    for (size_t i = 0; i < HG_COUNT_OF(rows); i++) {
        char source[160], expected[160];
        snprintf(source, sizeof source, "\t%s ; comment", rows[i][0]);
        snprintf(expected, sizeof expected, "    %s\n", rows[i][1] ? rows[i][1] : rows[i][0]);
        expect_body(source, expected);
    }
    expect_body("fma.f32 r1,\n  r2, ; two\n\n r3,\r\n\tr4", "    fma.f32 r1, r2, r3, r4\n");
}

static void test_control(void) {
    expect_body("a: bra @b\n  b:\nc: bra.p3 @a\ncall @d\n.x.y:\nd: loop r1, @.x.y\nbra @end\nend:",
                "a:\n    bra @b\nb:\nc:\n    bra.p3 @a\n    call @.x.y\n.x.y:\nd:\n    loop r1, "
                "@.x.y\n    bra @end\nend:\n");
    expect_body(".L7: bra @.L7\n.L8:\nbra @.L9\n.L9:\nx.1: exit",
                ".L0:\n    bra @.L0\n    bra @x.1\nx.1:\n    exit\n");
    expect_body("z:\ny:\nx: exit\n.1: bra @.1\nbra @z",
                "x:\ny:\nz:\n    exit\n.1:\n    bra @.1\n    bra @x\n");
}

static void test_counted_loops(void) {
    expect_body(
        "loop r5, 10\nadd.u32 r2, r2, r3\nendloop\nexit",
        "    mov_imm.u32 r5, 9\n.L1:\n    add.u32 r2, r2, r3\n    loop r5, @.L1\n    exit\n");
    expect_body("loop r5, 0\nexit\nendloop", "    bra @.L2\n    exit\n.L2:\n");
    expect_body("loop r5, 4294967295\nendloop",
                "    mov_imm.u32 r5, 4294967294\n.L1:\n    loop r5, @.L1\n");
    expect_body("loop r5, 2\nin: loop r6, 3\nexit\nendloop\nout: endloop",
                "    mov_imm.u32 r5, 1\nin:\n    mov_imm.u32 r6, 2\n.L2:\n    exit\n    loop r6, "
                "@.L2\nout:\n    loop r5, @in\n");
}

/* Types left out are those the verifier infers. */
static void test_inferred_types(void) {
    expect_body(".param r1 x buffer f32 in\n.param r2 n u64\nldg.f64 r5, [r1 + r2]\nadd r6, r5, "
                "r5\nmov r7, r6\nsetlt p0, r2, r2\nsel r8, "
                "p0, r7, r6\nstg [r1 + r2], r8\n",
                ".param r1 x buffer f32 in\n.param r2 n u64\n    ldg.f64 r5, [r1 + r2]\n    "
                "add.f64 r6, r5, r5\n    mov.f64 r7, r6\n    "
                "setlt.u64 p0, r2, r2\n"
                "    sel.f64 r8, p0, r7, r6\n    stg.f64 [r1 + r2], r8\n");
}

/* ---- errors ---- */

static void test_syntax_errors(void) {
    expect_error("; caf\xC3(\n", "S01", 1, 6, 1);
    expect_error("exit ; \xFF", "S01", 1, 8, 1);
    expect_error("add\xFF r1, r2, r3", "S01", 1, 4, 1);
    expect_error(".meta k \"\xED\xA0\x80\"", "S01", 1, 10, 1);
    expect_error("\xC3\xA9 exit", "S02", 1, 1, 2);
    expect_error("exit %", "S02", 1, 6, 1);
    expect_error("exit\rexit", "S02", 1, 5, 1);
    expect_error("5", "S02", 1, 1, 1);
    expect_error("add.f32 r1 r2, r3", "S02", 1, 12, 2);
    expect_error("add.f32 r1, , r3", "S02", 1, 13, 1);
    expect_error("add.f32 r1, r2,", "S02", 1, 16, 1);
    expect_error("ldg.f32 r1, [r2", "S02", 1, 16, 1);
    expect_error("ldg.f32 r1, [r2 + ]", "S02", 1, 19, 1);
    expect_error("ldg.f32 r1, [r2 + r3 + r4]", "S02", 1, 24, 2);
    expect_error("ldg.f32 r1, [r2 - r3]", "S02", 1, 19, 2);
    expect_error("ldg.f32 r1, [x + 4]", "S02", 1, 14, 1);
    expect_error("ldg.f32 r1, [phi(1, 2, 3) + 4]", "S02", 1, 27, 1);
    expect_error("ldg.f32 r1, [buf(5)]", "S02", 1, 18, 1);
    expect_error("bra @", "S02", 1, 6, 1);
    expect_error("bra @ x\nx:", "S02", 1, 7, 1);
    expect_error("bra @r5", "S02", 1, 6, 2);
    expect_error("mov.f32 r07, r1", "S02", 1, 9, 3);
    expect_error("r3: exit", "S02", 1, 1, 2);
    expect_error("f32: exit", "S02", 1, 1, 3);
    expect_error("a: b: exit", "S02", 1, 5, 1);
    expect_error("exit\n.lanes 5", "S02", 2, 1, 6);
    expect_error(".meta k \"abc", "S02", 1, 9, 1);
    expect_error(".meta k \"a\\q\"", "S02", 1, 11, 1);
    expect_error(".meta k \"a\\x4\"", "S02", 1, 11, 1);
    expect_error(".meta k \"a\x01\"", "S02", 1, 11, 1);
    expect_error(".meta k", "S02", 1, 8, 1);
    expect_error(".flag strict", "S02", 1, 7, 6);
    expect_error(".param 5 x f32", "S02", 1, 8, 1);
    expect_error(".param p0 x f32", "S02", 1, 8, 2);
    expect_error(".param r1 f32 f32", "S02", 1, 11, 3);
    expect_error(".param r1 a.b f32", "S02", 1, 11, 3);
    expect_error(".param r1 x f33", "S02", 1, 13, 3);
    expect_error(".param r1 x buffer f32", "S02", 1, 23, 1);
    expect_error(".param r1 x buffer f32 in [1", "S02", 1, 29, 1);
    expect_error(".block", "S02", 1, 7, 1);
    expect_error(".lanes r4", "S02", 1, 8, 2);
    expect_error("bar.sync 1_", "S03", 1, 10, 2);
    expect_error("mov_imm.i32 r1, 12ab", "S03", 1, 17, 4);
    expect_error("ldg.f32 r1, [r2 + 0x]", "S03", 1, 19, 2);
    expect_error("ldg.f32 r1, [buf1x]", "S03", 1, 14, 5);
    expect_error(".shared 0b2", "S03", 1, 9, 3);
    expect_error("mov_imm.u8 r1, 256", "S04", 1, 16, 3);
    expect_error("mov_imm.u8 r1, - 1", "S04", 1, 16, 3);
    expect_error("mov_imm.f16 r1, 65520", "S04", 1, 17, 5);
    expect_error("mov_imm.f32 r1, 0x10", "S04", 1, 17, 4);
    expect_error("mov_imm r1, 9223372036854775808", "S04", 1, 13, 19);
    expect_error("loop r1, 4294967296\nendloop", "S04", 1, 10, 10);
    expect_error("pool.alloc r1, 18446744073709551616", "S04", 1, 16, 20);
    expect_error(".block 0", "S04", 1, 8, 1);
    expect_error(".block 8, 4294967296", "S04", 1, 11, 10);
    expect_error(".param r1 x u8 = 300", "S04", 1, 18, 3);
    expect_error("ldg.f32 r1, [buf18446744073709551616]", "S04", 1, 14, 23);
    expect_errors_in("", 0, &(expected_error){"S02", 1, 1, 1}, 1); /* and no second one about
                                                                      .program */
}

static void test_limit_errors(void) {
    expect_error(".shared 65537", "S05", 1, 9, 5);
    expect_error("ldg.f32 r1, [r2 + 9223372036854775808]", "S05", 1, 19, 19);
    expect_error(".param r1 x buffer f32 in [1,2,3,4,5,6,7,8,9]", "S05", 1, 44, 1);
    expect_error(".lanes 1*2*3*4*5*6*7*8*9", "S05", 1, 24, 1);
    expect_errors_in(".atlas 2\nnonsense", 17, &(expected_error){"S06", 1, 8, 1}, 1);
    char name[300];
    memset(name, 'a', 256);
    memcpy(name + 256, ": exit", 7);
    expect_error(name, "S05", 1, 1, 256);
    memmove(name, name + 1, 262);
    char *source = with_head(name);
    hg_program *p = assemble(source, strlen(source));
    check_identity(p);
    hg_program_release(p);
    free(source);
}

static void test_name_errors(void) {
    expect_error("ad.f32 r1, r2, r3", "N01", 1, 1, 6);
    expect_error("set.f32 p0, r2, r3", "N01", 1, 1, 7);
    expect_error("memfence", "N01", 1, 1, 8);
    expect_error("memfence.grid", "N01", 1, 1, 13);
    expect_error("add.f32.x r1, r2, r3", "N01", 1, 1, 9);
    expect_error("bra.q0 @x\nx:", "N01", 1, 1, 6);
    expect_error("x: ADD.f32 r1, r2, r3", "N01", 1, 4, 7);
    expect_error("add..f32 r1, r2, r3", "N01", 1, 1, 8);
    expect_error(".parm r1 x f32", "N02", 1, 1, 5);
    expect_error("add.f32 r1, p2, r3", "N03", 1, 13, 2);
    expect_error("add.f32 5, r2, r3", "N03", 1, 9, 1);
    expect_error("add.f32 r1, [r2 + 4], r3", "N03", 1, 13, 8);
    expect_error("bra r5", "N03", 1, 5, 2);
    expect_error("sel.f32 r1, r2, r3, r4", "N03", 1, 13, 2);
    expect_error("lds.f32 r1, [r2 + r3]", "N03", 1, 13, 9);
    expect_error("reduce.add.f32 r1, r2, r3", "N03", 1, 24, 2);
    expect_error("reduce.add.f32 r1, @x, 3\nx:", "N03", 1, 20, 2);
    expect_error("parallel_map.f32 r1, r2, sum, r3", "N03", 1, 26, 3);
    expect_error("parallel_map.f32 r1, r2, foo, r3", "N03", 1, 26, 3);
    expect_error("parallel_reduce.f32 r1, r2, abs, r3", "N03", 1, 29, 3);
    expect_error("rdid r1, lane_idx", "N03", 1, 10, 8);
    expect_error("bar.sync 1.5", "N03", 1, 10, 3);
    expect_error("add.f32 r1, b=r2, r3", "N03", 1, 13, 1);
    expect_error("pool.free @a", "N03", 1, 11, 2);
    expect_error("add.f32 r1, r2", "N04", 1, 1, 7);
    expect_error("add.f32 r1, r2, r3, r4", "N04", 1, 21, 2);
    expect_error("exit r1", "N04", 1, 6, 2);
    expect_error("add.f32", "N04", 1, 1, 7);
    expect_error("and.f32 r1, r2, r3", "N06", 1, 5, 3);
    expect_error("exp.i32 r1, r2", "N06", 1, 5, 3);
    expect_error("atom.add.u8 r1, [r2], r3", "N06", 1, 10, 2);
    expect_error("setltu.f32 p0, r2, r3", "N06", 1, 8, 3);
    expect_error("exit.f32", "N06", 1, 6, 3);
    expect_error("add.f33 r1, r2, r3", "N06", 1, 5, 3);
    expect_error("add.f32.f32 r1, r2, r3", "N06", 1, 9, 3);
    expect_error("parallel_map.i32 r1, r2, sqrt, r3", "N06", 1, 26, 4);
    expect_error("mov.f32 r256, r1", "N07", 1, 9, 4);
    expect_error("mov.f32 r99999999999999999999, r1", "N07", 1, 9, 21);
    expect_error("seteq.f32 p16, r1, r1", "N07", 1, 11, 3);
    expect_error("bra.p16 @x\nx:", "N07", 1, 5, 3);
    expect_error("bar.sync 256", "N07", 1, 10, 3);
    expect_error("bar.sync -1", "N07", 1, 10, 2);
    expect_error("ldg.f32 r1, [class96]", "N07", 1, 14, 7);
    expect_error("ldg.f32 r1, [phi(96, 0, 0)]", "N07", 1, 18, 2);
    expect_error("ldg.f32 r1, [phi(95, 48, 0)]", "N07", 1, 22, 2);
    expect_error("ldg.f32 r1, [phi(95, 47, 256)]", "N07", 1, 26, 3);
    expect_error("reduce.add.f32 r1, r250, 7", "N07", 1, 26, 1);
    expect_error(".param r256 x f32", "N07", 1, 8, 4);
}

static void test_label_errors(void) {
    expect_error("a: exit\nb:\na: exit", "L01", 3, 1, 1);
    expect_error("exit\nbra @nowhere\ncall @nowhere", "L02", 2, 5, 8);
    expect_error(".entry go\nexit", "L02", 1, 8, 2);
    expect_error(".entry 5\nexit", "S02", 1, 8, 1);
    expect_error(".entry", "S02", 1, 7, 1); /* the end of the text is no name */
    expect_error("exit\nendloop", "L03", 2, 1, 7);
    expect_error("x: loop r1, 5\nexit", "L04", 1, 4, 4);
    expect_error(".shared 1\n.shared 2", "D01", 2, 1, 7);
    expect_error(".program u", "D01", 1, 1, 8);
    expect_error(".atlas 1", "D01", 1, 1, 6);
    expect_error(".param r1 x f32\n.param r1 y f32", "D02", 2, 8, 2);
    expect_error(".param r1 x f32\n.param r2 x f32", "D02", 2, 11, 1);
    expect_error(".meta k \"\"\n.meta k \"\"", "D02", 2, 7, 1);
    expect_error(".param r1 x buffer f32 in [n]", "D03", 1, 28, 1);
    expect_error(".param r1 x buffer f32 in [n]\n.param r2 n f32", "D03", 1, 28, 1);
    expect_error(".param r1 x buffer f32 in [x]", "D03", 1, 28, 1);
    expect_error(".lanes 5 * m", "D03", 1, 12, 1);
    expect_error("ldg r1, [r2]", "V05", 1, 1, 3);
    expect_error("cvt.f32 r1, r2", "V05", 1, 1, 7);
    expect_error("mov_imm r1, bits(0x5)", "V05", 1, 13, 9);
    expect_error("exit\nadd r1, r2, r3", "V05", 2, 1, 0); /* not reached: nothing to infer from */
}

static void test_messages(void) {
    expect_message("ad.f32 r1, r2, r3", "unknown mnemonic 'ad.f32'", "did you mean 'add'?");
    expect_message("SETLT.f32 p1, r2, r3", "unknown mnemonic 'SETLT.f32'", "did you mean 'setlt'?");
    expect_message("reduc.add.f32 r1, r2, 3", "unknown mnemonic 'reduc.add.f32'",
                   "did you mean 'reduce.add'?");
    expect_message(".lane 5", "unknown directive '.lane'", "did you mean '.lanes'?");
    expect_message("and.f16 r1, r2, r3", "unsupported operation: AND for type f16",
                   "'and' is for integers");
    expect_message("atom.add.f32 r1, [buf(r2) + 0], r3",
                   "unsupported operation: ATOM_ADD for type f32",
                   "'atom.add' is for i32, u32, i64 and u64");
    expect_message("exit\na:\na:", "duplicate label 'a' at instruction 1", NULL);
    expect_message("exit\nbra @a", "undefined label 'a' referenced in instruction 1", NULL);
    expect_message("ad\nexit\nbra @a", "unknown mnemonic 'ad'", NULL);
    expect_message("ldg r1, [r2]", "type of 'ldg' cannot be inferred here: write ldg.TYPE", NULL);
    expect_message("mov_imm.f32 r1, 0x10",
                   "use bits(0x\xE2\x80\xA6) for a bit pattern, or 0x\xE2\x80\xA6p0",
                   "0x\xE2\x80\xA6 and 0b\xE2\x80\xA6 alone are literals of integer types");
    expect_message("ldg.f32 r1, [phi(3, 48, 7)]",
                   "invalid boundary coordinates: page=48 (must be < 48), byte=7 (must be < 256)",
                   NULL);
    expect_message("ldg.f32 r1, [phi(3, 47, 256)]",
                   "invalid boundary coordinates: page=47 (must be < 48), byte=256 (must be < 256)",
                   NULL);
    expect_message("ldg.f32 r1, [phi(96, 48, 7)]", "invalid class index: 96 (must be < 96)", NULL);
    expect_message("add.f32 r1, p2, r3",
                   "operand 2 of 'add': expected a register, got predicate 'p2'", NULL);
    expect_message("add.f32 r1, r2", "'add' takes 3 operands, got 2", NULL);
    expect_message("mov.f32 r1 5", "expected ',' or end of line, got '5'", NULL);
}

/* Several mistakes in one run, in order of place; numbers of instructions count the broken ones. */
static void test_many_errors(void) {
    static const char source[] = "exit\n.param r1 x buffer f32 in [n]\nfoo\nbra @none\nadd.f32 r1, "
                                 "r2\nloop r1, x\nendloop\na:\na:\nmov_imm.u8 r1, 999";
    static const expected_error wanted[] = {{"S02", 1, 1, 4}, {"S02", 2, 1, 6},  {"N01", 3, 1, 3},
                                            {"L02", 4, 5, 5}, {"N04", 5, 1, 7},  {"N03", 6, 10, 1},
                                            {"L01", 9, 1, 1}, {"S04", 10, 16, 3}};
    expect_errors_in(source, strlen(source), wanted, HG_COUNT_OF(wanted));
    hg_diagnostics *d = hg_diagnostics_create(3);
    hg_program *p;
    CHECK(hg_program_assemble(source, strlen(source), d, &p) == HG_ERROR_ISA);
    CHECK_U64(hg_diagnostics_count(d), 3);
    CHECK_U64(hg_diagnostics_errors(d), 8);
    CHECK_TEXT(hg_diagnostics_get(d, 2)->code, "N01");
    hg_diagnostics_destroy(d);
    CHECK(hg_program_assemble(source, strlen(source), NULL, &p) == HG_ERROR_ISA);
    CHECK(hg_program_assemble(source, strlen(source), NULL, NULL) == HG_ERROR_INVALID_ARGUMENT);
    CHECK(hg_program_assemble(NULL, 5, NULL, &p) == HG_ERROR_INVALID_ARGUMENT);
}

/* The verifier places its errors at operands. */
static void test_places(void) {
    char *source = with_head("x: setlt.f32 p0, r1, r22\nloop r5,\n  3\nendloop\n");
    hg_program *p = assemble(source, strlen(source));
    if (p) {
        CHECK(p->lines[0] == 3 && p->columns[0] == 4 && p->lines[1] == 4 && p->lines[2] == 6);
        const hg_span *s = &p->operand_spans[p->insts[0].operands];
        CHECK(s[1].line == 3 && s[1].column == 14 && s[1].length == 2);
        CHECK(s[3].line == 3 && s[3].column == 22 && s[3].length == 3);
        s = &p->operand_spans[p->insts[1].operands];
        CHECK(s[1].line == 5 && s[1].column == 3 && s[1].length == 1);
    }
    hg_program_release(p);
    free(source);
}

/* ---- random programs ---- */

static uint64_t random_state = 88172645463325252u;
static uint64_t random_below(uint64_t n) { /* xorshift64 (Marsaglia 2003) */
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 11) % n;
}

typedef struct writer {
    char *text;
    size_t length, capacity;
} writer;
static void put(writer *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    w->length += (size_t)vsnprintf(w->text + w->length, w->capacity - w->length, format, args);
    va_end(args);
}

typedef enum which_places { ANY_PLACE, ONLY_SHARED, NOT_SHARED, ONLY_PRIVATE } which_places;

static void put_address(writer *w, which_places which) {
    unsigned reg = (unsigned)random_below(256), index = (unsigned)random_below(256);
    unsigned long long number = random_below(3) ? random_below(100) : random_state,
                       bytes = 1 + random_below(1u << random_below(31));
    uint64_t place = which == ONLY_SHARED || which == ONLY_PRIVATE ? 2 : random_below(8);
    if (place == 2 && which == NOT_SHARED) place = 7;
    bool has_index = place != 4 && place != 5 && random_below(2), constant = place < 4;
    switch (place) {
    case 0: put(w, "[buf%llu", number); break;
    case 1: put(w, "[pool%llu", number); break;
    case 2: put(w, which == ONLY_PRIVATE ? "[private" : "[shared"); break;
    case 3: put(w, "[class%u", (unsigned)random_below(96)); break;
    case 4:
        put(w, "[phi(%u, %u, %u)]", (unsigned)random_below(96), (unsigned)random_below(48),
            (unsigned)random_below(256));
        return;
    case 5: put(w, "[r%u", reg); break;
    case 6: put(w, has_index ? "[r%u" : "[buf(r%u)", reg); break;
    default: put(w, "[pool(r%u)", reg); break;
    }
    if (has_index) put(w, " + r%u", index);
    if (has_index && random_below(2))
        put(w, "*%u", (unsigned)(2 + random_below(random_below(2) ? 8 : 65534)));
    uint64_t sign = random_below(3);
    if (sign)
        put(w, " %c %llu]", sign == 1 ? '+' : '-', bytes);
    else
        put(w, constant && !has_index ? " + 0]" : "]");
}

static void put_literal(writer *w, hg_type type) {
    uint8_t bytes[512];
    for (int i = 0; i < 512; i++) bytes[i] = (uint8_t)random_below(256);
    hg_text out = {0};
    hg_print_literal(&out, type, bytes);
    put(w, "%s", out.data);
    hg_text_free(&out);
}

static hg_opname random_opname(hg_op op, const hg_operand_info *o, hg_type type) {
    for (;;) {
        hg_opname name = (hg_opname)random_below(HG_OPNAME_COUNT);
        bool group = op == HG_OP_PARALLEL_MAP ? hg_opname_is_map(name)
                     : op == HG_OP_PARALLEL_MAP_BINARY
                         ? hg_opname_is_binary(name)
                         : hg_opname_fits(name, (hg_type_rule)o->rule);
        bool floats = name == HG_OPNAME_ERF || name == HG_OPNAME_ATAN2 ||
                      (hg_opname_op(name) != HG_OP_NONE &&
                       !hg_op_allows_type(hg_opname_op(name), type));
        if (group && (!floats || hg_type_is_float(type))) return name;
    }
}

/* A number that the verifier lets pass. */
static void put_atlas_number(writer *w, const hg_operand_info *o) {
    bool torus = strcmp(o->name, "torus") == 0 || strcmp(o->name, "modulus") == 0,
         unit = strcmp(o->name, "unit") == 0;
    put(w, "%u", torus ? 96 : unit ? 5 : (unsigned)random_below(24));
}

static void put_operand(writer *w, hg_op op, const hg_operand_info *o, hg_type type,
                        uint32_t labels) {
    unsigned reg = (unsigned)random_below(256);
    if (o->access & HG_NAMED) put(w, "%s=", o->name);
    switch ((hg_operand_kind)o->kind) {
    case HG_K_REG: put(w, "r%u", hg_op_get(op)->flags & HG_F_RUN ? reg / 2 : reg); break;
    case HG_K_PRED: put(w, "p%u", reg % 16); break;
    case HG_K_LABEL: put(w, "@l%u", (unsigned)random_below(labels)); break;
    case HG_K_ARRAY:
        if (random_below(2)) {
            put(w, "r%u", reg);
            break;
        }
        put_address(w, NOT_SHARED);
        break;
    case HG_K_ADDRESS:
        put_address(w, hg_op_get(op)->flags & HG_F_PRIVATE      ? ONLY_PRIVATE
                       : hg_op_get(op)->flags & HG_F_SHARED     ? ONLY_SHARED
                       : hg_op_get(op)->flags & HG_F_COLLECTIVE ? NOT_SHARED
                                                                : ANY_PLACE);
        break;
    case HG_K_LITERAL: put_literal(w, hg_literal_type(&(hg_inst){.type = (uint8_t)type}, o)); break;
    case HG_K_COUNT:
        if (hg_op_get(op)->flags & HG_F_ATLAS && random_below(2))
            put_atlas_number(w, o);
        else
            put(w, random_below(2) || hg_op_get(op)->flags & HG_F_ATLAS ? "r%u" : "%u", reg);
        break;
    case HG_K_I8: put(w, "%d", (int)(int8_t)reg); break;
    case HG_K_U8: put(w, "%u", reg / 2); break;
    case HG_K_POOL: put(w, "pool%u", reg); break;
    case HG_K_OPNAME: put(w, "%s", hg_opname_name(random_opname(op, o, type))); break;
    case HG_K_IDNAME: put(w, "%s", hg_idname_name((hg_idname)random_below(HG_ID_COUNT))); break;
    case HG_K_BOOL: put(w, random_below(2) ? "true" : "false"); break;
    case HG_K_TUPLE:
        if (o->optional == HG_OR_NONE || (!o->items && random_below(2)))
            put(w, "()");
        else
            put(w, o->items == 3 ? "(r%u, %u, 7)" : "(r%u, %u)", reg, reg);
        break;
    case HG_K_TUPLES:
        put(w,
            !random_below(2) ? "()"
            : o->items       ? "((r%u, 5), (1, %u))"
                             : "((r%u), (), (1, %u))",
            reg, reg);
        break;
    default: CHECK_MESSAGE(false, "operand kind %d needs a random form here", o->kind);
    }
}

/* The array of `axis` is a place without an index, which nothing declares here. */
static bool put_of_axis(writer *w, hg_op op, const hg_operand_info *o) {
    if (op != HG_OP_AXIS && op != HG_OP_AXIS_FIRST) return false;
    if (o->kind == HG_K_ADDRESS)
        put(w, "[shared + %u]", (unsigned)random_below(1000));
    else if (o->kind == HG_K_U8)
        put(w, "%u", random_below(4) ? (unsigned)random_below(HG_MAX_EXTENTS) : 255U);
    else
        return false;
    return true;
}

static void put_instruction(writer *w, hg_op op, uint32_t labels) {
    const hg_op_info *info = hg_op_get(op);
    hg_condition condition = (hg_condition)random_below(HG_COND_COUNT);
    hg_type type;
    do type = (hg_type)random_below(HG_TYPE_COUNT);
    while (info->type_count &&
           (!hg_op_allows_type(op, type) ||
            (op == HG_OP_SET && hg_condition_is_unsigned(condition) && hg_type_is_float(type))));
    put(w, "    %s", info->text);
    if (op == HG_OP_SET) put(w, "%s", hg_condition_name(condition));
    if (op == HG_OP_MEMFENCE) put(w, ".%s", hg_scope_name((hg_scope)random_below(HG_SCOPE_COUNT)));
    if (op == HG_OP_BRA && random_below(2)) put(w, ".p%u", (unsigned)random_below(16));
    if (info->type_count) put(w, ".%s", hg_type_name(type));
    hg_type from;
    do from = (hg_type)random_below(HG_TYPE_COUNT);
    while (info->type_count == 2 && !hg_op_allows_types(op, type, from));
    if (info->type_count == 2) put(w, ".%s", hg_type_name(from));
    const char *between = " ";
    for (uint32_t i = 0; i < info->operand_count; i++) {
        const hg_operand_info *o = &info->operands[i];
        if (o->kind == HG_K_COND || o->kind == HG_K_SCOPE || (o->kind == HG_K_PRED && o->optional))
            continue;
        bool axis = op == HG_OP_AXIS || op == HG_OP_AXIS_FIRST;
        if (hg_operand_can_be_left_out(o) && !axis) continue; /* unit/isa/test_operands.c */
        put(w, "%s", between);
        if (hg_operand_can_be_left_out(o))
            put(w, "%s=%u", o->name, 1 + (unsigned)random_below(1000));
        else if (!put_of_axis(w, op, o))
            put_operand(w, op, o, type, labels);
        between = ", ";
    }
    put(w, "\n");
}

/* Random canonical text assembles, prints as it was, and survives the binary. */
static void test_random_programs(void) {
    static char text[1 << 20];
    for (int round = 0; round < 40; round++) {
        writer w = {text, 0, sizeof text};
        uint32_t labels = 1 + (uint32_t)random_below(20), label = 0;
        put(&w, "%s.private 16384\n", HEAD);
        for (int op = 0; op < HG_OP_COUNT * 2; op++) {
            if (label < labels && random_below(6) == 0) put(&w, "l%u:\n", label++);
            put_instruction(
                &w, (hg_op)(random_below(3) ? op % HG_OP_COUNT : (int)random_below(HG_OP_COUNT)),
                labels);
        }
        for (char name[20] = "l99"; label < labels; label++) { /* labels of one place are sorted as
                                                                  bytes: one a place */
            snprintf(name, sizeof name, "l%u", label);
            put(&w, "%s:\n    exit\n", name);
        }
        hg_program *p = assemble(text, w.length);
        if (!p) return;
        char *printed = print(p);
        CHECK_TEXT(printed, text);
        check_identity(p);
        uint8_t *bytes = NULL;
        size_t length = 0;
        hg_program *decoded = NULL;
        CHECK(hg_program_encode(p, 0, &bytes, &length) == HG_OK);
        CHECK_MESSAGE(hg_program_decode(bytes, length, NULL, &decoded) == HG_OK, "decode: %s",
                      hg_last_error_text());
        if (decoded) {
            char *again = print(decoded);
            CHECK_TEXT(again, text);
            hg_string_free(again);
        }
        hg_program_release(decoded);
        hg_string_free((char *)bytes);
        hg_string_free(printed);
        hg_program_release(p);
    }
}

/* ---- limits and hostile input ---- */

static void test_line_limit(void) {
    size_t size = 10u << 20;
    char *text = malloc(size + 200);
    if (!text) return;
    int n = sprintf(text, "%sexit\nadd.f32 r1, ", HEAD);
    memset(text + n, ' ', size);
    strcpy(text + n + size, "r2, r3\nfoo");
    expect_errors_in(text, strlen(text),
                     (const expected_error[]){{"S05", 4, 1, 1}, {"N01", 5, 1, 3}}, 2);
    memset(text + n, 'x', size);
    expect_errors_in(text, strlen(text),
                     (const expected_error[]){{"S05", 4, 1, 1}, {"N01", 5, 1, 3}}, 2);
    text[n] = ';';
    expect_errors_in(text, strlen(text),
                     (const expected_error[]){{"S05", 4, 1, 1}, {"N01", 5, 1, 3}}, 2);
    for (size_t i = 0; i + 3 < size; i += 3) memcpy(text + n + i, "r2,", 3);
    memcpy(text + n + size - size % 3, "r3,", size % 3);
    expect_errors_in(text, strlen(text),
                     (const expected_error[]){{"S05", 4, 1, 1}, {"N01", 5, 1, 3}}, 2);
    for (size_t i = 0; i + 4 < size; i += 4)
        memcpy(text + n + i, "r2,\n", 4); /* one statement of ten million bytes */
    hg_program *p = NULL;
    CHECK(hg_program_assemble(text, strlen(text), NULL, &p) == HG_ERROR_ISA &&
          strcmp(hg_last_error()->code, "S05") == 0 && hg_last_error()->line == 4);
    n = sprintf(text, "%sexit ;", HEAD);
    memset(text + n, 'c', 1 << 20);
    text[strlen(HEAD) + (1 << 20)] = '\n';
    text[strlen(HEAD) + (1 << 20) + 1] = 0;
    p = assemble(text, strlen(text)); /* a line of exactly 1 MiB */
    CHECK(p != NULL);
    hg_program_release(p);
    free(text);
    CHECK(hg_program_assemble("", (size_t)HG_MAX_SOURCE_BYTES + 1, NULL, &p) == HG_ERROR_ISA &&
          strcmp(hg_last_error()->code, "S05") == 0);
}

static void test_instruction_limit(void) {
    size_t capacity = 40u << 20;
    writer w = {malloc(capacity), 0, capacity};
    if (!w.text) return;
    put(&w, "%s", HEAD);
    for (uint32_t i = 0; i < HG_MAX_INSTRUCTIONS; i++)
        w.length += (size_t)sprintf(w.text + w.length, "k%u: bra @k%u\n", i,
                                    HG_MAX_INSTRUCTIONS - 1 - i);
    hg_program *p = assemble(w.text, w.length);
    CHECK(p && hg_program_len(p) == HG_MAX_INSTRUCTIONS && p->label_count == HG_MAX_LABELS);
    if (p)
        for (uint32_t i = 0; i < HG_MAX_INSTRUCTIONS; i += 4099) {
            CHECK_U64(hg_inst_operands(p, i)[1].value, HG_MAX_INSTRUCTIONS - 1 - i);
            CHECK(p->labels[i].index == i &&
                  (uint32_t)strtoul(p->labels[i].name + 1, NULL, 10) == i);
        }
    hg_program_release(p);
    put(&w, "exit\nexit\n");
    expect_errors_in(w.text, w.length, &(expected_error){"S05", HG_MAX_INSTRUCTIONS + 3, 1, 4}, 1);
    w.length = strlen(HEAD);
    for (uint32_t i = 0; i <= HG_MAX_LABELS; i++)
        w.length += (size_t)sprintf(w.text + w.length, "%x_:\n", i | 0xA0000000u);
    expect_errors_in(w.text, w.length, &(expected_error){"S05", HG_MAX_LABELS + 3, 1, 9}, 1);
    w.length -= 11; /* without the last: all at one place, sorted by name */
    p = assemble(w.text, w.length);
    CHECK(p && p->label_count == HG_MAX_LABELS && strcmp(p->labels[0].name, "a0000000_") == 0);
    for (uint32_t i = 1; p && i < p->label_count; i += 1001)
        CHECK(strcmp(p->labels[i - 1].name, p->labels[i].name) < 0);
    hg_program_release(p);
    free(w.text);
}

static void test_counts(void) {
    static char text[400000];
    writer w = {text, 0, sizeof text};
    put(&w, "%s", HEAD);
    for (int i = 0; i < 252; i++) put(&w, ".param r%d p_%d u32\n", i, i);
    hg_program *p = assemble(text, w.length);
    CHECK(p && hg_program_param_count(p) == 252);
    hg_program_release(p);
    put(&w, ".param r253 more u32\n");
    expect_errors_in(text, w.length, &(expected_error){"S05", 255, 13, 4}, 1);
    w.length = 0;
    put(&w, "%s", HEAD);
    for (int i = 0; i < 1025; i++) put(&w, ".meta k%d \"\"\n", i);
    expect_errors_in(text, w.length, &(expected_error){"S05", 1027, 7, 5}, 1);
    w.length = 0;
    put(&w, "%s.meta k \"%065537d\"", HEAD, 0);
    expect_errors_in(text, w.length, &(expected_error){"S05", 3, 9, 65539}, 1);
    w.length = 0;
    put(&w, "%s.meta k \"%065536d\"", HEAD, 0);
    p = assemble(text, w.length);
    CHECK(p && strlen(hg_program_meta(p, "k")) == 65536);
    hg_program_release(p);
    w.length = 0;
    put(&w, "%s", HEAD);
    for (int i = 0; i < 256; i++) put(&w, "loop r1, 2\n");
    size_t at = w.length;
    for (int i = 0; i < 256; i++) put(&w, "endloop\n");
    p = assemble(text, w.length);
    CHECK(p && hg_program_len(p) == 512);
    hg_program_release(p);
    w.length = at;
    put(&w, "loop r1, 2\nloop r1, 2\nendloop\nendloop\n");
    for (int i = 0; i < 256; i++) put(&w, "endloop\n");
    expect_errors_in(text, w.length, &(expected_error){"S05", 259, 1, 4}, 1);
}

/* Bytes without sense, and sensible text with bytes changed: diagnostics or a program, nothing
 * else. */
static void test_garbage(void) {
    char text[2048];
    static const char sample[] =
        ".atlas 1\n.program t\n.param r1 x buffer f32 in [n]\n.param r4 n u64 = 0x1_0\n.meta k "
        "\"a\\x41\"\n.lanes "
        "n*4\na: mov_imm.f32 r2, -1.5e-3\n"
        "ldg.f32 r3, [r1 + r4 - 8] ; c\nloop r5, 3\nfma.f32 r3, r3,\n r2, r3\nendloop\nbra.p0 "
        "@a\nparallel_reduce.f32 [buf(r1)], r1, sum, r4\nexit\n";
    for (int round = 0; round < (SANITIZED ? 4000 : 20000); round++) {
        size_t length = sizeof sample - 1;
        memcpy(text, sample, length);
        if (round % 10 == 0) {
            length = (size_t)random_below(200);
            for (size_t i = 0; i < length; i++) text[i] = (char)random_below(256);
        }
        for (uint64_t k = random_below(4); round % 10 && k < 4; k++) {
            static const char bytes[] = "\0\n\r,;:\"\\[]()@=*+-._$ r0xp9f\xFF\xC3";
            size_t at = (size_t)random_below(length);
            if (random_below(3) == 0)
                memmove(text + at, text + at + 1, --length - at);
            else
                text[at] = bytes[random_below(sizeof bytes)];
        }
        hg_program *p = NULL;
        hg_status status = hg_program_assemble(text, length, NULL, &p);
        CHECK((status == HG_OK && p) || (status == HG_ERROR_ISA && !p && hg_last_error()->line));
        if (p && round % 8 == 0) check_identity(p);
        hg_program_release(p);
    }
}

/* ---- failing allocations ---- */

static void test_failing_allocations(void) {
    static const char text[] =
        ".atlas 1\n.program t\n.param r1 x buffer f32 in [n]\n.param r4 n u64 = 5\n.lanes n\n.meta "
        "k \"v\"\n.entry "
        "a\na: mov_imm.f32 r2, 1.5\n"
        "mov_imm r6, 0\nadd r3, r2, r2\nloop r5, 3\nfma.f32 r3, r3, r2, r3\nendloop\nb: bra @a\n";
    failing_allocator memory = {0};
    hg_allocator allocator = {.size = sizeof allocator,
                              .user = &memory,
                              .reallocate = failing_reallocate,
                              .release = failing_release};
    uint64_t n = 0;
    hg_program *p = NULL;
    hg_status status = HG_ERROR_OUT_OF_MEMORY;
    for (; status == HG_ERROR_OUT_OF_MEMORY && n < 10000; n++) {
        CHECK(hg_set_allocator(&allocator) == HG_OK);
        allow_allocations(&memory, n);
        status = hg_program_assemble(text, strlen(text), NULL, &p);
        CHECK(status == HG_OK ? p != NULL : status == HG_ERROR_OUT_OF_MEMORY && !p);
        if (p) {
            char *out = NULL;
            for (uint64_t k = 0; !out && k < 100; k++) {
                allow_allocations(&memory, k);
                hg_status printed = hg_program_print(p, &out, NULL);
                CHECK(printed == HG_OK ? out != NULL : printed == HG_ERROR_OUT_OF_MEMORY && !out);
            }
            CHECK(out != NULL);
            hg_string_free(out);
        }
        hg_program_release(p);
        CHECK(hg_set_allocator(NULL) == HG_OK);
    }
    CHECK_U64(memory.live, 0);
    CHECK_MESSAGE(status == HG_OK && n > 10, "%s after %" PRIu64 " allocations",
                  hg_last_error_text(), n);
}

int main(void) {
    test_example_programs();
    test_directives();
    test_addresses();
    test_forms();
    test_control();
    test_counted_loops();
    test_inferred_types();
    test_syntax_errors();
    test_limit_errors();
    test_name_errors();
    test_label_errors();
    test_messages();
    test_many_errors();
    test_places();
    test_random_programs();
    test_line_limit();
    test_instruction_limit();
    test_counts();
    test_garbage();
    test_failing_allocations();
    return test_done();
}
