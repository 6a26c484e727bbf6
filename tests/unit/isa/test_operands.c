/* Operands of every kind, in the rows of extra_rows.def: by name in any order, left out, tuples.
 * Text, binary, builder, printer, messages with their places, verifier; bytes by hand, random
 * programs and damaged files. */
#include "isa/cfg.h"
#include "isa/program.h"
#include "support/failing_allocator.h"
#include "support/sanitized.h"
#include "test.h"
#include <hologram/builder.h>

#include <stdlib.h>

#define HEAD ".atlas 1\n.program t\n" /* the next line is 3 */

/* ---- helpers ---- */

static hg_program *assemble(const char *text) {
    hg_program *p = NULL;
    hg_status status = hg_program_assemble(text, strlen(text), NULL, &p);
    CHECK_MESSAGE(status == HG_OK, "%u:%u: %s: %s\n%s", (unsigned)hg_last_error()->line,
                  (unsigned)hg_last_error()->column, hg_last_error()->code,
                  hg_last_error()->message, text);
    return p;
}

static char *print(const hg_program *p) {
    char *text = NULL;
    CHECK(hg_program_print(p, &text, NULL) == HG_OK);
    return text;
}

/* Text, binary and back give `canonical`, and the same binary. */
static void becomes(const char *text, const char *canonical) {
    hg_program *p = assemble(text), *again = NULL;
    if (!p) return;
    char *printed = print(p);
    CHECK_TEXT(printed, canonical);
    hg_string_free(printed);
    uint8_t *bytes = NULL, *same = NULL;
    size_t length = 0, same_length = 0;
    CHECK(hg_program_encode(p, 0, &bytes, &length) == HG_OK);
    hg_status status = hg_program_decode(bytes, length, NULL, &again);
    CHECK_MESSAGE(status == HG_OK, "%s: %s\n%s", hg_last_error()->code, hg_last_error()->message,
                  canonical);
    if (again) {
        printed = print(again);
        CHECK_TEXT(printed, canonical);
        hg_string_free(printed);
        CHECK(hg_program_encode(again, 0, &same, &same_length) == HG_OK);
        CHECK(length == same_length && memcmp(bytes, same, length) == 0);
        CHECK(memcmp(hg_program_hash(p), hg_program_hash(again), 32) == 0);
        hg_string_free((char *)same);
    }
    hg_program_release(again);
    hg_string_free((char *)bytes);
    hg_program_release(p);
    hg_program *q = assemble(canonical);
    if (q) {
        printed = print(q);
        CHECK_TEXT(printed, canonical);
        hg_string_free(printed);
    }
    hg_program_release(q);
}

#define ARRAYS_AND_SIZES                                                                          \
    "c=r1, a=r2, b=[buf(r3) + 16], d=[class5 + 0], e=[r1 + r4], f=[pool(r6)], g=r7, m=r4, n=64, " \
    "k=0, batch=1, height=2, width=3, "                                                           \
    "depth=4, heads=5, length=18446744073709551615"
#define WIDE                                    \
    HEAD "    extra.wide.f32 " ARRAYS_AND_SIZES \
         ", alpha=1.0, scale=0.1, eps=1e-09, inverse=true, operation=max, "

/* ---- text ---- */

static void test_text(void) {
    becomes(WIDE "stride=(1, r4), pairs=((2, 0), (), (r4))\n",
            WIDE "stride=(1, r4), pairs=((2, 0), (), (r4))\n");
    becomes(
        HEAD
        ".const K = 3\n.const sum = 2\n    extra.wide.f32 c=r1, a=r2, b=[buf(r3) + K * 5 + 1], "
        "d=[class5 + 0], e=[r1 + r4], "
        "f=[pool(r6)], g=r7, m=r4, "
        "n=K * 20 + 4, k=K - K, batch=K - sum, height=sum, width=(K), depth=(K - 1) * sum, heads=K "
        "+ sum, length=(1 << 64) - 1, "
        "alpha=1.0, scale=1.0 / 10, eps=1e-09, inverse=true, operation=max, stride=(K - sum, r4), "
        "pairs=((K - 1, sum - 2), (), (r4))\n",
        WIDE "stride=(1, r4), pairs=((2, 0), (), (r4))\n");
    /* any order, over several lines, defaults spelled out */
    becomes(HEAD "    extra.wide.f32 pairs=( ( 0x2, 0 ),\n (), (r4) ), stride=(1, r4), "
                 "operation=max, inverse=true, eps=1e-9, scale=.1,\n"
                 "  beta=-0x0.0p0, alpha=1, length=0xffff_ffff_ffff_ffff, heads=5, depth=4, "
                 "width=3, height=2, batch=1, k=0, n=64, m=r4,\n"
                 "  g=r7, f=[pool(r6)], e=[r1 + r4], d=[class5], b=[buf(r3) + 16], a=r2, c=r1, "
                 "groups=1, dilation=(1,1), more=(),\n"
                 "  causal=false, scaled=true, activation=relu\n",
            WIDE "stride=(1, r4), pairs=((2, 0), (), (r4)), beta=-0.0\n");
    becomes(WIDE "stride=(), pairs=(), bias=[buf2], more=((1)), dilation=(2, 1), activation=tanh, "
                 "scaled=false, causal=true, beta=0.5, "
                 "groups=r4\n",
            WIDE "stride=(), pairs=(), groups=r4, beta=0.5, causal=true, scaled=false, "
                 "activation=tanh, dilation=(2, 1), more=((1)), "
                 "bias=[buf2 + 0]\n");
    becomes(HEAD "    extra.mixed.f64 n=3, y=r1\n", HEAD "    extra.mixed.f64 y=r1, n=3\n");
    becomes(HEAD "    extra.mixed.f16 scale=1.5, eps=1e-5, n=3, y=r1, x=r2, axes=(7)\n",
            HEAD "    extra.mixed.f16 x=r2, y=r1, n=3, axes=(7)\n");
    becomes(HEAD "    extra.mixed.f16 scale=2, eps=0, n=3, y=r1\n",
            HEAD "    extra.mixed.f16 y=r1, eps=0.0, scale=2.0, n=3\n");
    becomes(
        HEAD
        "    extra.result.i4096 r5, r1, n=3\n    extra.result.i32 r5, [buf1 + 0], step=2, n=r5\n",
        HEAD
        "    extra.result.i4096 r5, r1, n=3\n    extra.result.i32 r5, [buf1 + 0], n=r5, step=2\n");
    becomes(HEAD "    extra.missing.f16 n=3, y=r1\n    extra.missing.f64 strides=(), alpha=1, n=3, "
                 "y=r1, last=false\n",
            HEAD "    extra.missing.f16 y=r1, n=3\n    extra.missing.f64 y=r1, n=3\n");
    becomes(HEAD "    extra.missing.f16 n=3, y=r1, ld=0, scale=0, strides=(0, 0), alpha=1e-12\n",
            HEAD "    extra.missing.f16 y=r1, n=3, alpha=1e-12, ld=0, scale=0.0, strides=(0, 0)\n");
    becomes(HEAD "    extra.none\n    extra.none y=r1\n    extra.none y=r1, x=[class1]\n",
            HEAD "    extra.none\n    extra.none y=r1\n    extra.none x=[class1 + 0], y=r1\n");
}

static void test_in_memory(void) {
    hg_program *p = assemble(WIDE "stride=(1, r4), pairs=((2, 0), (), (r4))\n");
    if (!p) return;
    const hg_op_info *row = hg_op_get((hg_op)p->insts[0].op);
    const hg_operand *o = hg_inst_operands(p, 0);
    CHECK_U64(row->operand_count, 31);
    CHECK(o[0].kind == HG_K_ARRAY && o[0].place == HG_PLACE_BARE && o[0].reg == 1);
    CHECK(o[2].kind == HG_K_ADDRESS && o[2].place == HG_PLACE_BUF_REG && o[2].reg == 3 &&
          o[2].disp == 16);
    CHECK(o[7].kind == HG_K_COUNT && o[7].is_reg && o[7].reg == 4 && !o[8].is_reg &&
          o[8].value == 64);
    CHECK(memcmp(hg_literal(p, &o[16]), "\x00\x00\x80\x3f", 4) == 0); /* alpha: the instruction's
                                                                         type */
    CHECK(memcmp(hg_literal(p, &o[17]), "\xcd\xcc\xcc\x3d", 4) == 0);
    CHECK(hg_literal_type(&p->insts[0], &row->operands[18]) == HG_TYPE_F64);
    CHECK(o[19].kind == HG_K_BOOL && o[19].value == 1 && o[20].value == HG_OPNAME_MAX);
    const hg_tuple_item *stride = hg_tuple(p, &o[21]), *pairs = hg_tuple(p, &o[22]);
    CHECK(o[21].kind == HG_K_TUPLE && o[21].item_count == 2 && stride[0].value == 1 &&
          stride[1].is_reg && stride[1].reg == 4);
    CHECK(o[22].kind == HG_K_TUPLES && o[22].item_count == 3 && pairs[0].item_count == 2 &&
          pairs[1].item_count == 0);
    CHECK(hg_tuple_inside(p, &pairs[0])[0].value == 2 && hg_tuple_inside(p, &pairs[2])[0].reg == 4);
    CHECK(o[23].value == 1 && o[25].value == 0 && o[26].value == 1 &&
          o[27].value == HG_OPNAME_RELU);
    CHECK(memcmp(hg_literal(p, &o[24]), "\0\0\0\0", 4) == 0);
    CHECK(o[28].item_count == 2 && hg_tuple(p, &o[28])[1].value == 1 && o[29].item_count == 0 &&
          hg_operand_is_missing(&o[30]));
    hg_program_release(p);
}

/* Every value of what is left out, in every row, is a value of its kind, in every type. */
static void test_defaults(void) {
    for (int op = 0; op < HG_OP_COUNT; op++)
        for (uint32_t i = 0; i < hg_op_get((hg_op)op)->operand_count; i++) {
            const hg_operand_info *info = &hg_op_get((hg_op)op)->operands[i];
            if (!hg_operand_can_be_left_out(info)) continue;
            CHECK_MESSAGE(info->otherwise != NULL,
                          "%s: %s does not say what it is where it is left out",
                          hg_op_get((hg_op)op)->text, info->name);
            CHECK(info->kind != HG_K_ARRAY || info->optional == HG_OR_NONE);
            for (int t = 0;
                 info->optional == HG_OR_VALUE && info->kind == HG_K_LITERAL && t < HG_TYPE_COUNT;
                 t++) {
                hg_inst in = {.type = (uint8_t)t};
                uint8_t bytes[HG_MAX_LITERAL_BYTES];
                char message[160];
                const char *hint;
                if (!hg_op_allows_type((hg_op)op, (hg_type)t)) continue;
                const char *code = hg_parse_literal(info->otherwise, strlen(info->otherwise),
                                                    hg_literal_type(&in, info), bytes, message,
                                                    &hint);
                CHECK_MESSAGE(!code, "%s.%s: %s=%s: %s", hg_op_get((hg_op)op)->text,
                              hg_type_name((hg_type)t), info->name, info->otherwise, message);
            }
        }
}

/* ---- messages ---- */

static void test_messages(void) {
#define REST ARRAYS_AND_SIZES ", alpha=1, scale=1, eps=1, inverse=true, operation=max"
    static const struct {
        const char *text, *code;
        uint32_t column, length;
        const char *message;
    } cases[] = {
        {"extra.mixed.f32 y=r1, n=2, y=r3", "N05", 28, 1,
         "operand 'y=' of 'extra.mixed' is given twice"},
        {"extra.mixed.f32 y=r1", "N05", 1, 15, "'extra.mixed' without n="},
        {"extra.mixed.f32", "N05", 1, 15, "'extra.mixed' without y=, n="},
        {"extra.mixed.f32 y=r1, n=2, axis=(1)", "N03", 28, 4,
         "'extra.mixed' has no operand 'axis='"},
        {"extra.mixed.f32 y=r1, n=@l", "N03", 25, 2,
         "operand 'n' of 'extra.mixed': expected an unsigned number or a register, got label '@l'"},
        {"extra.mixed.f32 y=7, n=1", "N03", 19, 1,
         "operand 'y' of 'extra.mixed': expected an array (a register holding a buffer, or an "
         "address), got literal '7'"},
        {"extra.mixed.f32 y=r1, n=-1", "S04", 25, 2,
         "-1 is out of range: 0 to 18446744073709551615"},
        {"extra.mixed.f32 y=r1, n=1.5", "N03", 25, 3,
         "expected an unsigned integer, got a real number"},
        {"extra.mixed.f32 y=r1, n=1, axes=1", "N03", 33, 1,
         "operand 'axes' of 'extra.mixed': expected a tuple of numbers and registers, got literal "
         "'1'"},
        {"extra.mixed.f32 y=r1, n=1, axes=((1))", "N03", 33, 5,
         "operand 'axes' of 'extra.mixed': expected a tuple of numbers and registers, got tuple of "
         "tuples '((1))'"},
        {"extra.mixed.f32 y=r1, n=1, axes=(1, (2))", "S02", 37, 1,
         "expected an unsigned number or a register, got '('"},
        {"extra.mixed.f32 y=r1, n=1, axes=((1), 2)", "S02", 39, 1, "expected '(', got '2'"},
        {"extra.mixed.f32 y=r1, n=1, axes=(((1)))", "S02", 35, 1,
         "expected an unsigned number or a register, got '('"},
        {"extra.mixed.f32 y=r1, n=1, axes=(1 2)", "S02", 36, 1, "expected ',' or ')', got '2'"},
        {"extra.mixed.f32 y=r1, n=1, axes=(-1)", "S02", 34, 1,
         "expected an unsigned number or a register, got '-'"},
        {"extra.mixed.f32 y=r1, n=1, axes=(1.5)", "S03", 34, 3,
         "malformed number '1.5': expected an unsigned integer"},
        {"extra.mixed.f32 y=r1, n=1, axes=(18446744073709551616)", "S04", 34, 20,
         "number '18446744073709551616' is out of range: it must be below 2^64"},
        {"extra.mixed.f32 y=r1, n=1, axes=(r256)", "N07", 34, 4,
         "'r256' is out of range: r0 to r255"},
        {"extra.mixed.f32 y=r1, n=1, axes=(p1)", "S02", 34, 2,
         "expected an unsigned number or a register, got 'p1'"},
        {"extra.mixed.f32 y=r1, n=1, axes=(1", "S02", 35, 1,
         "expected ',' or ')', got end of line"},
        {"extra.mixed.f32 y=r1, r2", "N03", 23, 2,
         "operand 2 of 'extra.mixed': expected NAME=VALUE, got register 'r2'"},
        {"extra.mixed.f32 r1, n=1", "N03", 17, 2,
         "operand 1 of 'extra.mixed': expected NAME=VALUE, got register 'r1'"},
        {"extra.mixed.f32 y=r1, n=1, eps=r3", "N03", 32, 2,
         "operand 'eps' of 'extra.mixed': expected a literal, got register 'r3'"},
        {"extra.mixed.f32 y=r1, n=1, scale=1e39", "S04", 34, 4,
         "literal 1e39 is out of range for f32"},
        {"extra.mixed.i32 y=r1, n=1", "N06", 13, 3,
         "unsupported operation: EXTRA_MIXED for type i32"},
        {"extra.mixed y=r1, n=1", "V05", 1, 11,
         "type of 'extra.mixed' cannot be inferred here: write extra.mixed.TYPE"},
        {"extra.result.f32 r1, n=1", "N03", 24, 1,
         "operand 2 of 'extra.result': expected an array (a register holding a buffer, or an "
         "address), got 'n='"},
        {"extra.result.f32 r1", "N04", 1, 16, "'extra.result' takes 4 operands, got 1"},
        {"extra.result.f32 r1, r2", "N05", 1, 16, "'extra.result' without n="},
        {"extra.result.f32 r1, r2, r3", "N03", 26, 2,
         "operand 3 of 'extra.result': expected NAME=VALUE, got register 'r3'"},
        {"extra.none x", "N03", 12, 1,
         "operand 1 of 'extra.none': expected NAME=VALUE, got word 'x'"},
        {"extra.none x=y=r1", "S02", 15, 1, "expected ',' or end of line, got '='"},
        {"extra.none x=", "S02", 14, 1, "expected an operand, got end of line"},
        {"extra.none x=[shared]", "N03", 14, 8,
         "'extra.none' runs once for all blocks and cannot use shared memory"},
        {"extra.wide.f32 " REST ", stride=(1), pairs=(1)", "N03", 259, 3,
         "operand 'pairs' of 'extra.wide': expected a tuple of tuples, got tuple '(1)'"},
        {"extra.wide.f32 " REST ", stride=(1), pairs=(), causal=maybe", "N03", 270, 5,
         "expected true or false, got 'maybe'"},
        {"extra.wide.f32 " REST ", stride=(1), pairs=(), causal=1", "N03", 270, 1,
         "operand 'causal' of 'extra.wide': expected true or false, got literal '1'"},
        {"extra.wide.f32 " REST ", stride=(1), pairs=(), activation=sum", "N03", 274, 3,
         "'sum' is no operation of 'extra.wide'"},
        {"extra.wide.i32 " REST ", stride=(1), pairs=(), activation=erf", "N06", 274, 3,
         "unsupported operation: EXTRA_WIDE erf for type i32"},
    };
    for (size_t i = 0; i < HG_COUNT_OF(cases); i++) {
        char text[1000];
        hg_program *p = NULL;
        hg_diagnostics *d = hg_diagnostics_create(0);
        snprintf(text, sizeof text, HEAD "%s\n", cases[i].text);
        hg_status status = hg_program_assemble(text, strlen(text), d, &p);
        if (status == HG_OK) status = hg_verify(p, NULL, d, NULL);
        const hg_error *e = hg_last_error();
        CHECK_MESSAGE(status == HG_ERROR_ISA && strcmp(e->code, cases[i].code) == 0 &&
                          strcmp(e->message, cases[i].message) == 0 && e->line == 3 &&
                          e->column == cases[i].column,
                      "%s\n  expected %s 3:%u %s\n  got %s %u:%u %s", cases[i].text, cases[i].code,
                      (unsigned)cases[i].column, cases[i].message, e->code, (unsigned)e->line,
                      (unsigned)e->column, e->message);
        CHECK_U64(hg_diagnostics_errors(d), 1);
        hg_diagnostics_destroy(d);
        hg_program_release(p);
    }
}

static void test_tuple_limit(void) {
    char text[4000];
    for (int nested = 0; nested < 2; nested++)
        for (int count = 64; count <= 65; count++) {
            int n = snprintf(text, sizeof text, HEAD "%s",
                             nested ? "    extra.wide.f32 " REST ", stride=(1), pairs=((1), ("
                                    : "    extra.mixed.f32 y=r1, n=1, axes=(");
            for (int i = 0; i < count; i++)
                n += snprintf(text + n, sizeof text - (size_t)n, i ? ", %d" : "%d", i);
            snprintf(text + n, sizeof text - (size_t)n, nested ? "))\n" : ")\n");
            hg_program *p = NULL;
            hg_status status = hg_program_assemble(text, strlen(text), NULL, &p);
            CHECK_MESSAGE(status == (count == 64 ? HG_OK : HG_ERROR_ISA), "%d items: %s", count,
                          hg_last_error()->message);
            if (count == 65)
                CHECK(strcmp(hg_last_error()->code, "S05") == 0 &&
                      strcmp(hg_last_error()->message, "more than 64 items in a tuple") == 0);
            hg_program_release(p);
        }
}

/* ---- the verifier ---- */

static void verified(const char *text, const char *code, const char *message) {
    hg_program *p = assemble(text);
    if (!p) return;
    hg_status status = hg_verify(p, NULL, NULL, NULL);
    if (!code)
        CHECK_MESSAGE(status == HG_OK, "%s: %s\n%s", hg_last_error()->code,
                      hg_last_error()->message, text);
    else
        CHECK_MESSAGE(status == HG_ERROR_ISA && strcmp(hg_last_error()->code, code) == 0 &&
                          strcmp(hg_last_error()->message, message) == 0,
                      "expected %s %s, got %s %s\n%s", code, message, hg_last_error()->code,
                      hg_last_error()->message, text);
    hg_program_release(p);
}

#define PARAMS                                                                                  \
    HEAD ".param r1 x buffer f32 in\n.param r2 y buffer f32 out\n.param r4 n u64\n.param r5 f " \
         "f32\n.param r6 s u32\n"
#define TUPLES_OF(inner)                                                                     \
    PARAMS "    extra.wide.f32 c=r2, a=r1, b=r1, d=r1, e=r1, f=r1, g=r2, m=r4, n=r6, k=1, "  \
           "batch=1, height=1, width=1, depth=1, "                                           \
           "heads=1, length=1, alpha=1, scale=1, eps=1, inverse=true, operation=max, " inner \
           "\n    exit\n"

static void test_verifier(void) {
    verified(TUPLES_OF("stride=(r4, r6, 1), pairs=((r4, r4), (r6))"), NULL, NULL);
    verified(TUPLES_OF("stride=(r4, r5), pairs=()"), "V03",
             "type mismatch: expected u32 or u64, got f32");
    verified(TUPLES_OF("stride=(), pairs=((1), (2, r5))"), "V03",
             "type mismatch: expected u32 or u64, got f32");
    verified(TUPLES_OF("stride=(), pairs=((1), (2, r9))"), "V01", "uninitialized register: r9");
    verified(TUPLES_OF("stride=(), pairs=(), groups=r9"), "V01", "uninitialized register: r9");
    verified(TUPLES_OF("stride=(), pairs=(), bias=r9"), "V01", "uninitialized register: r9");
    verified(TUPLES_OF("stride=(1, r255), pairs=()"), "V10",
             "operand 'stride' of 'extra.wide' must be the same in all lanes: r255 is not");
    verified(TUPLES_OF("stride=(), pairs=((r4), (r252))"), "V10",
             "operand 'pairs' of 'extra.wide' must be the same in all lanes: r252 is not");
    verified(TUPLES_OF("stride=(), pairs=(), groups=r253"), "V10",
             "operand 'groups' of 'extra.wide' must be the same in all lanes: r253 is not");
    verified(PARAMS "    extra.none y=r1\n    exit\n", "V11", "store to 'x', an 'in' parameter");
    verified(PARAMS "    extra.none x=r1\n    exit\n", "V11", "store to 'x', an 'in' parameter");
    verified(PARAMS "    extra.none x=r2, y=[buf(r2) + 4]\n    exit\n", NULL, NULL);
    verified(
        PARAMS
        "    extra.none\n    extra.result.f32 r8, r1, n=r4\n    add.f32 r9, r8, r5\n    exit\n",
        NULL, NULL);
    verified(PARAMS "    extra.result.f32 r8, r1, n=r4, step=r8\n    exit\n", "V01",
             "uninitialized register: r8");
    verified(PARAMS "    setne.u64 p0, r255, r4\n    bra.p0 @l\n    extra.none\nl:\n    exit\n",
             "V08", "collective 'extra.none' at line 10 is under the per-lane branch at line 9");
}

/* Every register in the tuples of one instruction, many times: all are looked at, none is too many.
 */
static void test_many_registers(void) {
    size_t capacity = 200000;
    char *text = malloc(capacity);
    if (!text) return;
    int n = snprintf(text, capacity, HEAD);
    for (int r = 0; r < 252; r++)
        n += snprintf(text + n, capacity - (size_t)n, ".param r%d v_%d u64\n", r, r);
    n += snprintf(
        text + n, capacity - (size_t)n,
        "    extra.wide.f32 c=r2, a=r1, b=r1, d=r1, e=r1, f=r1, g=r2, m=r4, n=r6, k=r7, batch=r8, "
        "height=r9, width=r10, depth=r11, heads=r12, length=r13, alpha=1.0, scale=1.0, eps=1.0, "
        "inverse=true, operation=max, "
        "stride=(1), pairs=(");
    for (int i = 0; i < 64; i++) {
        n += snprintf(text + n, capacity - (size_t)n, i ? ", (" : "(");
        for (int k = 0; k < 64; k++)
            n += snprintf(text + n, capacity - (size_t)n, k ? ", r%d" : "r%d", (i * 64 + k) % 252);
        n += snprintf(text + n, capacity - (size_t)n, ")");
    }
    snprintf(text + n, capacity - (size_t)n, ")\n    exit\n");
    verified(text, NULL, NULL);
    becomes(text, text);
    free(text);
}

/* ---- bytes ---- */

typedef struct bytes {
    uint8_t data[1024];
    size_t length;
} bytes;

static void le(bytes *b, uint64_t value, int count) {
    for (int i = 0; i < count; i++) b->data[b->length++] = (uint8_t)(value >> (8 * i));
}
static void number(bytes *b, uint64_t value) { le(b, 0, 1), le(b, value, 8); }
static void in_register(bytes *b, uint8_t reg) { le(b, 1, 1), le(b, reg, 1); }
static void array(bytes *b, uint8_t reg) { le(b, 8, 1), le(b, reg, 1); }

static uint8_t *encode(const char *text, size_t *length) {
    hg_program *p = assemble(text);
    uint8_t *file = NULL;
    CHECK(hg_program_encode(p, 0, &file, length) == HG_OK);
    hg_program_release(p);
    return file;
}

enum { CODE = 64 + 2 * 24 }; /* of a program without parameters: header, two sections */

/* The instructions' bytes, behind entry and count. */
static void encodes(const char *text, const bytes *expected) {
    size_t length = 0;
    uint8_t *file = encode(text, &length);
    CHECK(length > CODE + 8 + expected->length && file[64 + 16] == (uint8_t)(8 + expected->length));
    for (size_t i = 0; i < expected->length; i++)
        if (file[CODE + 8 + i] != expected->data[i]) {
            CHECK_MESSAGE(false, "%s: byte %zu is %02x, expected %02x", text, i, file[CODE + 8 + i],
                          expected->data[i]);
            break;
        }
    hg_string_free((char *)file);
}

static void test_bytes(void) {
    bytes b = {.length = 0};
    le(&b, 0x3F1, 2), le(&b, HG_TYPE_F16, 1); /* required ones, bits, the others */
    array(&b, 1), number(&b, 3), le(&b, 9, 4), array(&b, 2), le(&b, 1, 4), number(&b, 7);
    encodes(HEAD "    extra.mixed.f16 axes=(7), x=r2, eps=0.00001, y=r1, n=3\n", &b);
    b.length = 0;
    le(&b, 0x3F2, 2), le(&b, HG_TYPE_I32, 1), le(&b, 5, 1), array(&b, 1), in_register(&b, 7),
        le(&b, 0, 4);
    encodes(HEAD "    extra.result.i32 r5, r1, step=1, n=r7\n", &b);
    b.length = 0;
    le(&b, 0x3F3, 2), le(&b, 0, 4);
    encodes(HEAD "    extra.none\n", &b);
    b.length = 0;
    le(&b, 0x3F0, 2), le(&b, HG_TYPE_I16, 1);
    for (uint8_t r = 1; r <= 7; r++) array(&b, r);
    for (uint64_t n = 1; n <= 9; n++) number(&b, n);
    le(&b, (uint64_t)-2, 2), le(&b, 0x3F000000, 4), le(&b, 0x3FD0000000000000, 8), le(&b, 1, 1),
        le(&b, HG_OPNAME_SUM, 1);
    le(&b, 2, 4), in_register(&b, 9), number(&b, 8);
    le(&b, 2, 4), le(&b, 1, 4), number(&b, 3), le(&b, 2, 4), number(&b, 4), in_register(&b, 5);
    le(&b, 1 | 4 | 16 | 32 | 64, 4), number(&b, 2), le(&b, 1, 1), le(&b, HG_OPNAME_NEG, 1),
        le(&b, 2, 4), number(&b, 2), number(&b, 1);
    le(&b, 1, 4), le(&b, 0, 4);
    encodes(HEAD "    extra.wide.i16 c=r1, a=r2, b=r3, d=r4, e=r5, f=r6, g=r7, m=1, n=2, k=3, "
                 "batch=4, height=5, width=6, depth=7, heads=8, "
                 "length=9, alpha=-2, scale=0.5, eps=0.25, inverse=true, operation=sum, "
                 "stride=(r9, 8), pairs=((3), (4, r5)), groups=2, "
                 "causal=true, activation=neg, dilation=(2, 1), more=(())\n",
            &b);
}

/* ---- what a reader refuses ---- */

static void seal(uint8_t *file, size_t length) {
    hg_blake3 h;
    memset(file + 24, 0, 32);
    hg_blake3_init(&h);
    hg_blake3_update(&h, file, length);
    hg_blake3_final(&h, file + 24);
}

/* `count` bytes at `at` of the instructions set to value. */
static void refused(const char *what, const char *text, size_t at, uint64_t value, int count,
                    const char *code) {
    size_t length = 0;
    uint8_t *file = encode(text, &length);
    for (int i = 0; i < count; i++) file[CODE + 8 + at + (size_t)i] = (uint8_t)(value >> (8 * i));
    seal(file, length);
    hg_program *p = NULL;
    hg_status status = hg_program_decode(file, length, NULL, &p);
    CHECK_MESSAGE(status == HG_ERROR_ISA && strcmp(hg_last_error()->code, code) == 0,
                  "%s: expected %s, got %s %s", what, code,
                  status == HG_OK ? "" : hg_last_error()->code,
                  status == HG_OK ? "a program" : hg_last_error()->message);
    hg_program_release(p);
    hg_string_free((char *)file);
}

static void test_refusals(void) {
    static const char mixed[] = HEAD
        "    extra.mixed.f64 y=r1, n=3, eps=2.0, scale=0.5, axes=(7)\n";
    enum { BITS = 3 + 2 + 9, EPS = BITS + 4, SCALE = EPS + 8, AXES = SCALE + 4 };
    refused("a bit too many", mixed, BITS, 14 | 16, 4, "B06");
    refused("the last bit", mixed, BITS, 14 | 1u << 31, 4, "B06");
    refused("an operand less", mixed, BITS, 6, 4, "B06");
    refused("an operand more", mixed, BITS, 15, 4, "B03");
    refused("a literal that is the default", mixed, EPS, 0x3EE4F8B588E368F1, 8, "B06");
    refused("another literal that is", mixed, SCALE, 0x3FC00000, 4, "B06");
    refused("65 items", mixed, AXES, 65, 4, "S05");
    refused("very many items", mixed, AXES, UINT32_MAX, 4, "S05");
    refused("64 items", mixed, AXES, 64, 4, "B03");
    refused("a tag of an item", mixed, AXES + 4, 2, 1, "B06");
    refused("a place of no array", mixed, 3, 9, 1, "B08");
    static const char wide[] = HEAD
        "    extra.wide.i8 c=r1, a=r2, b=r3, d=r4, e=r5, f=r6, g=r7, m=1, n=2, k=3, batch=4, "
        "height=5, width=6, depth=7, heads=8, "
        "length=9, alpha=1, scale=0.5, eps=0.25, inverse=true, operation=sum, stride=(), "
        "pairs=((3)), groups=2, beta=1, "
        "causal=true, scaled=false, activation=neg, dilation=(2, 1), more=(()), bias=r1\n";
    enum {
        INVERSE = 3 + 7 * 2 + 9 * 9 + 1 + 4 + 8,
        OPERATION = INVERSE + 1,
        PAIRS = OPERATION + 1 + 4,
        GROUPS = PAIRS + 4 + 4 + 9 + 4,
        BETA = GROUPS + 9,
        CAUSAL = BETA + 1,
        SCALED = CAUSAL + 1,
        ACTIVATION = SCALED + 1,
        DILATION = ACTIVATION + 1,
        MORE = DILATION + 4 + 18,
        BIAS = MORE + 8
    };
    refused("neither true nor false", wide, INVERSE, 2, 1, "B06");
    refused("an operation of another kind", wide, OPERATION, HG_OPNAME_TANH, 1, "B08");
    refused("no operation", wide, OPERATION, HG_OPNAME_COUNT, 1, "B08");
    refused("65 tuples", wide, PAIRS, 65, 4, "S05");
    refused("65 items in a tuple", wide, PAIRS + 4, 65, 4, "S05");
    refused("a count that is the default", wide, GROUPS + 1, 1, 8, "B06");
    refused("a factor that is", wide, BETA, 0, 1, "B06");
    refused("false that is", wide, CAUSAL, 0, 1, "B06");
    refused("true that is", wide, SCALED, 1, 1, "B06");
    refused("an operation that is", wide, ACTIVATION, HG_OPNAME_RELU, 1, "B06");
    refused("a tuple that is", wide, DILATION + 5, 1, 8, "B06");
    refused("no array where one is", wide, BIAS, 9, 1, "B08");
}

/* ---- random programs ---- */

static uint64_t random_state = 88172645463325252u;
static uint64_t random_below(uint64_t n) { /* xorshift64 (Marsaglia 2003) */
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 11) % n;
}

static void put_tuple(hg_text *out, bool nested, uint64_t count) {
    hg_text_addf(out, "(");
    for (uint64_t i = 0; i < count; i++) {
        if (i) hg_text_addf(out, ", ");
        if (nested)
            put_tuple(out, false, random_below(4));
        else
            hg_text_addf(out, random_below(2) ? "r%u" : "%u", (unsigned)random_below(3));
    }
    hg_text_addf(out, ")");
}

/* A value as canonical text has it. */
static void put_value(hg_text *out, const hg_operand_info *o, hg_type type) {
    static const char *const arrays[] = {
        "r3",   "[buf2 + 0]",    "[buf(r4) + 16]", "[r4 + r5 - 8]", "[class21 + r0]",
        "[r9]", "[phi(1, 2, 3)]"};
    uint8_t literal[512];
    hg_inst in = {.type = (uint8_t)type};
    hg_opname name;
    switch ((hg_operand_kind)o->kind) {
    case HG_K_REG: hg_text_addf(out, "r%u", (unsigned)random_below(256)); break;
    case HG_K_ARRAY: hg_text_addf(out, "%s", arrays[random_below(HG_COUNT_OF(arrays))]); break;
    case HG_K_COUNT:
        hg_text_addf(out, random_below(2) ? "r%u" : "%u", (unsigned)random_below(3));
        break;
    case HG_K_LITERAL:
        for (size_t i = 0; i < sizeof literal; i++)
            literal[i] = random_below(4) ? (uint8_t)random_below(256) : 0;
        hg_print_literal(out, hg_literal_type(&in, o), literal);
        break;
    case HG_K_BOOL: hg_text_addf(out, random_below(2) ? "true" : "false"); break;
    case HG_K_OPNAME:
        do name = (hg_opname)random_below(HG_OPNAME_COUNT);
        while (!hg_opname_fits(name, (hg_type_rule)o->rule) || !hg_opname_allows_type(name, type));
        hg_text_addf(out, "%s", hg_opname_name(name));
        break;
    default:
        put_tuple(out, o->kind == HG_K_TUPLES,
                  o->items ? o->items * random_below(2) : random_below(4));
    }
}

static bool is_default(const hg_operand_info *o, hg_type type, const char *value) {
    hg_text text = {0};
    hg_inst in = {.type = (uint8_t)type};
    if (o->optional == HG_OR_NONE) return o->kind == HG_K_TUPLE && strcmp(value, "()") == 0;
    if (!o->optional) return false;
    if (o->kind == HG_K_LITERAL) {
        uint8_t literal[512];
        char message[160];
        const char *hint;
        CHECK(!hg_parse_literal(o->otherwise, strlen(o->otherwise), hg_literal_type(&in, o),
                                literal, message, &hint));
        hg_print_literal(&text, hg_literal_type(&in, o), literal);
    } else {
        hg_text_addf(&text, "%s", o->otherwise);
    }
    bool same = strcmp(text.data, value) == 0;
    hg_text_free(&text);
    return same;
}

/* One instruction as it may be written, and as it is printed. */
static void put_instruction(hg_op op, hg_text *written, hg_text *canonical) {
    const hg_op_info *row = hg_op_get(op);
    hg_type type;
    do type = (hg_type)random_below(HG_TYPE_COUNT);
    while (row->type_count && !hg_op_allows_type(op, type));
    char values[HG_MAX_OPERANDS][1400];
    uint32_t order[HG_MAX_OPERANDS], count = 0, positions = 0;
    bool any = false;
    for (uint32_t i = 0; i < row->operand_count; i++) {
        const hg_operand_info *o = &row->operands[i];
        if (o->optional && random_below(2)) continue;
        hg_text value = {0};
        put_value(&value, o, type);
        snprintf(values[i], sizeof values[i], "%s", value.data);
        hg_text_free(&value);
        if (!hg_operand_is_named(o)) positions++;
        order[count++] = i;
    }
    for (int k = 0; k < 2; k++)
        hg_text_addf(k ? canonical : written, row->type_count ? "    %s.%s" : "    %s", row->text,
                     hg_type_name(type));
    for (uint32_t i = 0; i < count; i++) {
        const hg_operand_info *o = &row->operands[order[i]];
        if (is_default(o, type, values[order[i]])) continue;
        hg_text_addf(canonical, any ? ", %s%s%s" : " %s%s%s", hg_operand_is_named(o) ? o->name : "",
                     hg_operand_is_named(o) ? "=" : "", values[order[i]]);
        any = true;
    }
    for (uint32_t i = count; i-- > positions + 1u;) { /* those by name in any order */
        uint32_t k = positions + (uint32_t)random_below(i + 1 - positions), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    for (uint32_t i = 0; i < count; i++) {
        const hg_operand_info *o = &row->operands[order[i]];
        hg_text_addf(written, i ? ", %s%s%s" : " %s%s%s", hg_operand_is_named(o) ? o->name : "",
                     hg_operand_is_named(o) ? "=" : "", values[order[i]]);
    }
    hg_text_addf(written, "\n");
    hg_text_addf(canonical, "\n");
}

static void test_random_programs(void) {
    static const hg_op ops[] = {HG_OP_EXTRA_WIDE, HG_OP_EXTRA_MIXED, HG_OP_EXTRA_RESULT,
                                HG_OP_EXTRA_NONE, HG_OP_EXTRA_MISSING};
    for (int round = 0; round < 60; round++) {
        hg_text written = {0}, canonical = {0};
        hg_text_addf(&written, HEAD);
        hg_text_addf(&canonical, HEAD);
        for (int i = 0; i < 20; i++)
            put_instruction(ops[random_below(HG_COUNT_OF(ops))], &written, &canonical);
        becomes(written.data, canonical.data);
        hg_text_free(&written);
        hg_text_free(&canonical);
    }
}

/* Files with bytes changed: refused, or programs that are what their bytes say. */
static void test_damage(int rounds) {
    static const char text[] = WIDE "stride=(1, r4), pairs=((2, 0), (), (r4)), groups=r4, "
                                    "more=((1)), dilation=(2, 1), bias=[buf2]\n"
                                    "    extra.mixed.f64 n=3, y=r1, axes=(1, 2)\n    "
                                    "extra.result.i128 r5, r1, n=3\n    extra.none y=r1\n";
    size_t length = 0, accepted = 0;
    uint8_t *file = encode(text, &length), *copy = malloc(length);
    for (int round = 0; copy && round < rounds; round++) {
        memcpy(copy, file, length);
        for (uint64_t k = 1 + random_below(3); k > 0; k--)
            copy[CODE + random_below(length - CODE)] = (uint8_t)(random_below(4)
                                                                     ? random_below(16)
                                                                     : random_below(256));
        seal(copy, length);
        hg_program *p = NULL;
        if (hg_program_decode(copy, length, NULL, &p) == HG_OK) {
            uint8_t *again = NULL;
            size_t same = 0;
            accepted++;
            CHECK(hg_program_encode(p, 0, &again, &same) == HG_OK);
            CHECK(same == length && again && memcmp(again, copy, length) == 0);
            hg_string_free((char *)again);
            char *printed = print(p);
            hg_program *q = assemble(printed);
            if (q) CHECK(memcmp(hg_program_hash(p), hg_program_hash(q), 32) == 0);
            hg_program_release(q);
            hg_string_free(printed);
            CHECK(hg_verify(p, NULL, NULL, NULL) != HG_ERROR_INTERNAL);
        }
        hg_program_release(p);
    }
    CHECK_MESSAGE(accepted > (size_t)rounds / 20 && accepted < (size_t)rounds, "%zu of %d accepted",
                  accepted, rounds);
    free(copy);
    hg_string_free((char *)file);
}

/* ---- the builder ---- */

#ifdef HG_HAVE_EXTRA_BUILDER
static hg_builder *wide(hg_builder *b) {
    const hg_arg stride[] = {hg_count(1), hg_count_reg(4)}, first[] = {hg_count(2), hg_count(0)},
                 third[] = {hg_count_reg(4)};
    const hg_arg pairs[] = {hg_tuple_of(first, 2), hg_tuple_of(NULL, 0), hg_tuple_of(third, 1)};
    return hg_build_extra_wide(
        b, HG_TYPE_F32,
        (hg_extra_wide_operands){.c = hg_array(1),
                                 .a = hg_array(2),
                                 .b = hg_addr_disp(hg_addr_buffer_start(3), 16),
                                 .d = hg_addr_class(5),
                                 .e = hg_addr_buffer(1, 4),
                                 .f = hg_addr_pool(6),
                                 .g = hg_array(7),
                                 .m = hg_count_reg(4),
                                 .n = hg_count(64),
                                 .k = hg_count(0),
                                 .batch = hg_count(1),
                                 .height = hg_count(2),
                                 .width = hg_count(3),
                                 .depth = hg_count(4),
                                 .heads = hg_count(5),
                                 .length = hg_count(UINT64_MAX),
                                 .alpha = hg_imm_f64(1),
                                 .scale = hg_imm_f64(0.1),
                                 .eps = hg_imm_f64(1e-9),
                                 .inverse = hg_flag(1),
                                 .operation = hg_arg_name("max"),
                                 .stride = hg_tuple_of(stride, 2),
                                 .pairs = hg_tuple_of(pairs, 3)});
}

static void builds(hg_builder *b, const char *expected) {
    hg_program *p = NULL;
    CHECK_MESSAGE(hg_builder_build(b, NULL, &p) == HG_OK, "%s", hg_last_error()->message);
    if (p) {
        char *text = print(p);
        CHECK_TEXT(text, expected);
        hg_program *q = assemble(expected);
        if (q) CHECK(memcmp(hg_program_hash(p), hg_program_hash(q), 32) == 0);
        hg_program_release(q);
        hg_string_free(text);
    }
    hg_program_release(p);
    hg_builder_destroy(b);
}

static void build_fails(hg_builder *b, const char *code, const char *message) {
    hg_program *p = NULL;
    hg_status status = hg_builder_build(b, NULL, &p);
    CHECK_MESSAGE(status == HG_ERROR_ISA && strcmp(hg_last_error()->code, code) == 0 &&
                      strcmp(hg_last_error()->message, message) == 0,
                  "expected %s %s, got %s %s", code, message, hg_last_error()->code,
                  hg_last_error()->message);
    hg_builder_destroy(b);
}

#define MIXED(...)                                            \
    hg_build_extra_mixed(hg_builder_create("t"), HG_TYPE_F32, \
                         (hg_extra_mixed_operands){__VA_ARGS__})

static void test_builder(void) {
    const hg_arg axis[] = {hg_count(7)}, real[] = {hg_imm_f64(7)},
                 nested[] = {hg_tuple_of(axis, 1)};
    hg_arg many[65];
    for (int i = 0; i < 65; i++) many[i] = hg_count(1);
    builds(wide(hg_builder_create("t")), WIDE "stride=(1, r4), pairs=((2, 0), (), (r4))\n");
    builds(MIXED(.y = hg_array(1), .n = hg_count(3)), HEAD "    extra.mixed.f32 y=r1, n=3\n");
    builds(MIXED(.y = hg_array(1), .n = hg_count(3), .x = hg_array(0), .eps = hg_imm_f64(1e-5),
                 .scale = hg_imm_f64(2), .axes = hg_tuple_of(axis, 1)),
           HEAD "    extra.mixed.f32 x=r0, y=r1, scale=2.0, n=3, axes=(7)\n");
    builds(
        hg_build_extra_result(
            hg_build_extra_none(hg_builder_create("t"), (hg_extra_none_operands){.y = hg_array(1)}),
            HG_TYPE_U8, 5, hg_array(1),
            (hg_extra_result_operands){.n = hg_count(3), .step = hg_count_reg(2)}),
        HEAD "    extra.none y=r1\n    extra.result.u8 r5, r1, n=3, step=r2\n");
    build_fails(MIXED(.y = hg_array(1)), "N05", "'extra.mixed' without n=");
    build_fails(MIXED(.n = hg_count(1)), "N05", "'extra.mixed' without y=");
    build_fails(MIXED(.y = hg_array(1), .n = hg_arg_reg(4)), "N03",
                "operand 'n' of 'extra.mixed' is of another kind");
    build_fails(MIXED(.y = hg_array(1), .n = hg_count(3), .axes = hg_count(3)), "N03",
                "operand 'axes' of 'extra.mixed' is of another kind");
    build_fails(MIXED(.y = hg_array(1), .n = hg_count(3), .axes = hg_tuple_of(real, 1)), "N03",
                "operand 'axes' of 'extra.mixed' is of another kind");
    build_fails(MIXED(.y = hg_array(1), .n = hg_count(3), .axes = hg_tuple_of(nested, 1)), "N03",
                "operand 'axes' of 'extra.mixed' is of another kind");
    build_fails(MIXED(.y = hg_array(1), .n = hg_count(3), .axes = hg_tuple_of(many, 65)), "S05",
                "more than 64 items in a tuple");
    build_fails(hg_build_extra_mixed(hg_builder_create("t"), HG_TYPE_I32,
                                     (hg_extra_mixed_operands){.y = hg_array(1), .n = hg_count(3)}),
                "N06", "unsupported operation: EXTRA_MIXED for type i32");
    build_fails(hg_build_extra_wide(hg_builder_create("t"), HG_TYPE_F32,
                                    (hg_extra_wide_operands){.c = hg_array(1)}),
                "N05", "'extra.wide' without a=");
}
#else
static hg_builder *wide(hg_builder *b) { return b; }
static void test_builder(void) {
    SKIP("the builder functions of the test's rows are written by a native build only");
}
#endif

/* ---- out of memory at every allocation ---- */

static failing_allocator memory;

static hg_status all_ways(const char *text) {
    hg_program *p = NULL, *q = NULL;
    uint8_t *file = NULL;
    size_t length = 0;
    hg_status status = hg_program_assemble(text, strlen(text), NULL, &p);
    if (status == HG_OK) status = hg_program_encode(p, 0, &file, &length);
    if (status == HG_OK) status = hg_program_decode(file, length, NULL, &q);
    hg_program_release(q);
    q = NULL;
    if (status == HG_OK) {
        hg_builder *b = wide(hg_builder_create("t"));
        status = hg_builder_build(b, NULL, &q);
        hg_builder_destroy(b);
    }
    hg_program_release(q);
    hg_program_release(p);
    hg_string_free((char *)file);
    return status;
}

static void test_out_of_memory(void) {
    hg_allocator hooks = {.size = sizeof hooks,
                          .user = &memory,
                          .reallocate = failing_reallocate,
                          .release = failing_release};
    CHECK(hg_set_allocator(&hooks) == HG_OK);
    hg_status status = HG_ERROR_OUT_OF_MEMORY;
    uint64_t n = 0;
    for (; status == HG_ERROR_OUT_OF_MEMORY && n < 1000; n++) {
        allow_allocations(&memory, n);
        status = all_ways(WIDE "stride=(1, r4), pairs=((2, 0), (), (r4))\n");
        CHECK_U64(memory.live, 0);
    }
    CHECK_MESSAGE(status == HG_OK && n > 20, "%s after %u", hg_status_name(status), (unsigned)n);
    allow_allocations(&memory, UINT64_MAX);
    CHECK(hg_set_allocator(NULL) == HG_OK);
}

int main(int argc, char **argv) { /* argument: how many damaged files */
    test_out_of_memory();         /* first: the hooks are to be set before anything else */
    test_text();
    test_in_memory();
    test_defaults();
    test_messages();
    test_tuple_limit();
    test_verifier();
    test_many_registers();
    test_bytes();
    test_refusals();
    test_random_programs();
    test_damage(argc > 1 ? atoi(argv[1]) : (int)rounds_here(20000, 1000));
    test_builder();
    return test_done();
}
