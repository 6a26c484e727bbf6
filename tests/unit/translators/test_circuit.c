/* The circuit language: grammar, messages, transforms, words, bytes, calls, canonical forms and
 * programs, against the vectors of the semantics and against an evaluator of its own (below), which
 * shares nothing with the library. */
#include "support/runtime_support.h"
#include <math.h>

/* ---- helpers ---- */

static hg_circuit *parsed(const char *text, int variants) {
    hg_circuit_options o = {.size = sizeof o, .variants = variants};
    hg_circuit *c = NULL;
    CHECK_MESSAGE(hg_circuit_parse(text, strlen(text), &o, NULL, &c) == HG_OK, "%s: %s", text,
                  hg_last_error_text());
    return c;
}

static hg_circuit *compiled(const char *text, hg_canonicalise mode, int variants) {
    hg_circuit_options o = {.size = sizeof o, .variants = variants, .canonicalise = mode};
    hg_circuit *c = NULL;
    CHECK_MESSAGE(hg_circuit_compile(text, strlen(text), &o, NULL, &c) == HG_OK, "%s: %s", text,
                  hg_last_error_text());
    return c;
}

static hg_translated_program translated(const char *text, hg_canonicalise mode, int variants) {
    hg_circuit_options o = {.size = sizeof o, .variants = variants, .canonicalise = mode};
    hg_translated_program t = {.size = sizeof t};
    CHECK_MESSAGE(hg_circuit_to_isa_translate(text, strlen(text), &o, NULL, &t) == HG_OK, "%s: %s",
                  text, hg_last_error_text());
    return t;
}

/* ---- bytes and words (6.5, 6.8) ---- */

static void check_bytes(const char *text, const char *expected) {
    hg_circuit *c = parsed(text, 0);
    hg_circuit_byte *bytes = NULL;
    size_t count = 0;
    char got[512] = "";
    CHECK_OK(hg_circuit_bytes(c, &bytes, &count));
    for (size_t i = 0; i < count && i < 50; i++) {
        size_t at = strlen(got);
        snprintf(got + at, sizeof got - at, "%s%02X", i ? " " : "", bytes[i].byte);
        at = strlen(got);
        if (bytes[i].address >= 0) snprintf(got + at, sizeof got - at, "@%d", bytes[i].address);
    }
    CHECK_MESSAGE(strcmp(got, expected) == 0, "bytes of %s: expected %s, got %s", text, expected,
                  got);
    hg_string_free((char *)bytes);
    hg_circuit_destroy(c);
}

static void check_words(const char *text, const char *expected) {
    hg_circuit *c = parsed(text, 0);
    char *words = NULL;
    CHECK_OK(hg_circuit_words(c, &words, NULL));
    for (char *p = words; p && *p; p++)
        if (*p == '\n') *p = p[1] ? ' ' : '\0';
    CHECK_MESSAGE(words && strcmp(words, expected) == 0, "words of %s: expected %s, got %s", text,
                  expected, words ? words : "(none)");
    hg_string_free(words);
    hg_circuit_destroy(c);
}

static void test_bytes(void) {
    check_bytes("mark@c21", "2A");
    check_bytes("evaluate@c21 . copy@c05 || swap@c72", "2A 0A C0");
    check_bytes("R+1@(copy@c05 . evaluate@c21)", "4A 6A");
    check_bytes("mark@c42^+3~@17", "5A@4442");
    check_bytes("R+1 T-1 ~@mark@c01", "40");
    check_bytes("R+1@ (T-1 ~@ mark@c00)", "4E");
    check_bytes("R+1@mark@c00^+1", "42");
    check_bytes("R+2 T+3@mark@c07", "84");
    check_bytes("T+4@mark@c00", "08");
    check_bytes("~@mark@c13", "2A");
    check_bytes("mark@c21@5", "2A@1322");
    check_bytes("copy@c05->c06@1 . merge@c[0..2]", "0A 0C@268 00 02 04");
    check_bytes("R1 T2@mark@c5", "4E"); /* the compiler dialect: no sign, no leading zero */
    check_bytes("R+1 T-2 ~@ mark@c[0..1] // and a comment\n", "4C 4E");
}

static void test_words(void) {
    check_words("copy@c05 . evaluate@c40", "phase[h₂=1] evaluate copy[d=0]");
    check_words("mark@c01 || mark@c02", "⊗_begin mark ⊗_sep mark ⊗_end");
    check_words("R+1@mark@c00", "→ρ[1] mark ←ρ[1]");
    check_words("merge@c13", "merge[d=1]");
    check_words("split@c20", "split[ℓ=4]");
    check_words("quote@c30", "quote[ℓ=6]");
    check_words("evaluate@c21", "phase[h₂=0] evaluate");
    /* what is left of an amount: R modulo 4 and T modulo 8 with its sign, D modulo 3 from 0 */
    check_words("R+4 D+3 T+8@mark@c01", "mark");
    check_words("R-5 D-1 T-3@mark@c01", "→ρ[-1] →δ[2] →τ[-3] mark ←ρ[-1] ←δ[2] ←τ[-3]");
    check_words("T+9@(T-17@mark@c01)", "→τ[1] mark ←τ[1]");
    /* nested transforms are combined: R+1 T+1 and D-1 inside R+2 ~ */
    check_words("R+2 ~@(R+1 D-1@mark@c00 . swap@c01)",
                "→ρ[2] →μ swap →ρ[3] →δ[2] →μ mark ←ρ[3] ←δ[2] ←μ ←ρ[2] ←μ");
    check_words(
        "mark@c00 . (T-1@(copy@c08 | quote@c01) . swap@c01) . evaluate@c95",
        "phase[h₂=3] evaluate swap →τ[-1] ⊗_begin copy[d=1] ⊗_sep quote[ℓ=0] ⊗_end ←τ[-1] mark");
}

/* ---- all transforms on all classes, against formulas written here ---- */

static int modulo(int a, int m) { return (a % m + m) % m; }

/* Amounts in any range; applied in the order R, D, T, ~ (semantics 5.4). */
static int own_transform(int r, int d, int t, int mirror, int cls) {
    int h2 = modulo(cls / 24 + r, 4), dd = modulo(cls % 24 / 8 + d, 3), l = modulo(cls % 8 + t, 8);
    if (mirror && dd) dd = 3 - dd;
    return 24 * h2 + 8 * dd + l;
}

static void check_class(const char *text, int expected) {
    hg_circuit *c = compiled(text, HG_CANONICALISE_OFF, 0);
    const hg_circuit_call *call = hg_circuit_call_at(c, 0);
    CHECK_MESSAGE(call && call->src == expected, "%s: expected class %d, got %d", text, expected,
                  call ? call->src : -1);
    hg_circuit_destroy(c);
}

static void test_transforms(void) {
    for (int r = -1; r < 3; r++)
        for (int d = -1; d < 2; d++)
            for (int t = -3; t < 5; t++)
                for (int m = 0; m < 2; m++)
                    for (int cls = 0; cls < 96; cls++) {
                        char text[96];
                        uint8_t there = hg_transform_apply((hg_transform){r, d, t, m != 0},
                                                           (uint8_t)cls);
                        CHECK_U64(there, own_transform(r, d, t, m, cls));
                        snprintf(text, sizeof text, "R%+d D%+d T%+d%s@mark@c%02d", r, d, t,
                                 m ? " ~" : "", cls);
                        check_class(text, own_transform(r, d, t, m, cls));
                        snprintf(text, sizeof text, "mark@c%02d^D%+d^T%+d^R%+d%s", cls, d, t, r,
                                 m ? "~" : "");
                        check_class(text, own_transform(r, d, t, m, cls));
                    }
    check_class("T+3@mark@c40^R+11^D+10^+100000000000000000000000001~",
                own_transform(0, 0, 3, 0, own_transform(11, 10, 1, 1, 40)));
    check_class("D+1@mark@c08~",
                own_transform(0, 1, 0, 0, own_transform(0, 0, 0, 1, 8))); /* the
                                                                             postfix
                                                                             is
                                                                             applied
                                                                             first
                                                                           */
}

/* ---- calls ---- */

static void describe_calls(const hg_circuit *c, char *out, size_t size) {
    out[0] = 0;
    for (size_t i = 0; i < hg_circuit_call_count(c); i++) {
        const hg_circuit_call *k = hg_circuit_call_at(c, i);
        size_t at = strlen(out);
        snprintf(out + at, size - at, "%s%s %u %u %u", i ? "; " : "", hg_circuit_kind_name(k->kind),
                 k->src, k->context, k->dst);
    }
}

static void check_calls(const char *text, const char *expected) {
    hg_circuit *c = compiled(text, HG_CANONICALISE_OFF, 0);
    char got[512];
    describe_calls(c, got, sizeof got);
    CHECK_MESSAGE(strcmp(got, expected) == 0, "%s: expected %s, got %s", text, expected, got);
    hg_circuit_destroy(c);
}

static void test_calls(void) {
    check_calls("merge@c00[c01,c02]", "Merge 0 1 2");
    check_calls("split@c00^+1[c01@3,c02~] || copy@c05->c06", "Split 1 1 2; Copy 5 0 6");
    check_calls("swap@c01<->c02 . quote@c01 . evaluate@c02",
                "Swap 1 0 2; Quote 1 0 0; Evaluate 2 0 0");
    check_calls("mark@c[0..9] . quote@c[3..4] . evaluate@c[90..95]",
                "MarkRange 0 0 9; QuoteRange 3 0 4; EvaluateRange 90 0 95");
    /* members are transformed one by one: the boundary of ~ on 9 is 17, R+2 takes 10 … 15 to 58 …
     * 63 */
    check_calls("~@merge@c[0..9]", "MergeRange 0 0 7; MergeRange 16 0 17");
    check_calls("~@merge@c[7..8]", "Merge 7 7 7; Merge 16 16 16");
    check_calls("R+2@mark@c[10..15]", "MarkRange 58 0 63");
    check_calls("mark@c[6..8]^+1", "Mark 7 0 0; Mark 0 0 0; Mark 9 0 0");
    check_calls("R+3@mark@c[20..25]", "MarkRange 92 0 95; MarkRange 0 0 1");
    /* members keep their order: each is a class of its own */
    check_calls("T+1@(R+1@mark@c00 . (mark@c07 || D+1@mark@c01)) . mark@c02",
                "Mark 25 0 0; Mark 0 0 0; Mark 10 0 0; Mark 3 0 0");
}

/* ---- messages (6.3) ---- */

static const struct {
    const char *text;
    uint32_t column;
    const char *code, *message;
    bool compile; /* found by compiling, without the prefix */
} ERRORS[] = {
    {"mark#c00", 5, "S02", "Expected '@' but found '#' at position 4", false},
    {"mark@", 6, "S02", "Unexpected end of input, expected a class (c00 … c95)", false},
    {"", 1, "S02", "Unexpected end of input, expected an operation or '('", false},
    {"mark@c00 .", 11, "S02", "Unexpected end of input, expected an operation or '('", false},
    {"(mark@c00", 10, "S02", "Unexpected end of input, expected '.', '||' or ')'", false},
    {"mark@c00)", 9, "S02", "Expected '.', '||' or end of input but found ')' at position 8",
     false},
    {"mark@c00 mark@c01", 10, "S02",
     "Expected '.', '||' or end of input but found 'mark' at position 9", false},
    {"()", 2, "S02", "Expected an operation or '(' but found ')' at position 1", false},
    {"foo@c00", 1, "N01", "Invalid generator name: foo", false},
    {"marks@c00", 1, "N01", "Invalid generator name: marks", false},
    {"mark@c96", 7, "N07", "Class index 96 out of range [0..95]", false},
    {"mark@c100", 7, "N07", "Class index 100 out of range [0..95]", false},
    {"mark@c005", 7, "S02", "Expected a class index but found '005' at position 6", false},
    {"mark@c21+2", 9, "S02", "Expected '.', '||' or end of input but found '+' at position 8",
     false},
    {"mark@c21@48", 10, "N07", "Page 48 out of range [0..47]", false},
    {"mark@c[5..5]", 8, "N07", "Invalid range [5..5]: Start 5 must be less than end 5", false},
    {"mark@c[9..0]", 8, "N07", "Invalid range [9..0]: Start 9 must be less than end 0", false},
    {"mark@c[0.9]", 9, "S02", "Expected '..' but found '.' at position 8", false},
    {"mark@c00 .. mark@c01", 10, "S02",
     "Expected '.', '||' or end of input but found '..' at position 9", false},
    {"mark@c00^R1", 11, "S02", "Expected '+' or '-' but found '1' at position 10", false},
    {"mark@c00^X+1", 10, "S02", "Expected R, D, T, '+' or '-' but found 'X' at position 9", false},
    {"R+1 R+1@mark@c00", 5, "S02", "Expected '@' but found 'R' at position 4", false},
    {"R@mark@c00", 2, "S02", "Expected a number but found '@' at position 1", false},
    {"merge.mul@c00[c01,c02]", 6, "S02", "Expected '@' but found '.' at position 5", false},
    {"mark@c00 . \x01", 12, "S02",
     "Expected an operation or '(' but found byte 0x01 at position 11", false},
    {"mark@c00 . \xff", 12, "S01", "Expected UTF-8 text but found byte 0xFF at position 11", false},
    {"mark@c00 // \xc0\x80", 13, "S01", "Expected UTF-8 text but found byte 0xC0 at position 12",
     false},
    {"mark@c00 . é", 12, "S02", "Expected an operation or '(' but found 'é' at position 11", false},
    {"copy@c05", 1, "N04", "Copy requires explicit destination: use copy@c<src>->c<dst>", true},
    {"swap@c05", 1, "N04", "Swap requires explicit second class: use swap@c<a><->c<b>", true},
    {"mark@c00 . merge@c05", 12, "N04",
     "Merge requires explicit context/dst: use merge@c<src>[c<ctx>,c<dst>]", true},
    {"R+1@split@c05~", 5, "N04",
     "Split requires explicit context/dst: use split@c<src>[c<ctx>,c<dst>]", true},
    {"copy@c[0..3]", 1, "N03",
     "Copy generator not supported on ranges (requires explicit source/dest)", true},
    {"swap@c[0..3]", 1, "N03",
     "Swap generator not supported on ranges (requires explicit source/dest)", true},
    {"split@c[0..3]", 1, "N03",
     "Split generator not supported on ranges (requires explicit source/dest)", true},
    {"mark@c00[c01,c02]", 1, "N03", "Generator Mark does not support triple-class syntax", true},
    {"copy@c00[c01,c02]", 1, "N03", "Generator Copy does not support triple-class syntax", true},
    {"swap@c00[c01,c02]", 1, "N03", "Generator Swap does not support triple-class syntax", true},
    {"quote@c00[c01,c02]", 1, "N03", "Generator Quote does not support triple-class syntax", true},
    {"evaluate@c00[c01,c02]", 1, "N03", "Generator Evaluate does not support triple-class syntax",
     true},
    {"mark@c00->c01", 1, "N03", "Generator Mark does not support copy syntax", true},
    {"quote@c00<->c01", 1, "N03", "Generator Quote does not support swap syntax", true},
    {"merge@c00->c01", 1, "N04",
     "Merge requires explicit context/dst: use merge@c<src>[c<ctx>,c<dst>]", true},
};

static void check_error(const char *text, const char *code, const char *message, uint32_t line,
                        uint32_t column, bool compile, const char *prefix) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_circuit *c = NULL;
    char expected[256];
    snprintf(expected, sizeof expected, "%s%s", prefix, message);
    hg_status s = compile ? hg_circuit_compile(text, strlen(text), NULL, d, &c)
                          : hg_circuit_parse(text, strlen(text), NULL, d, &c);
    CHECK_MESSAGE(s == HG_ERROR_ISA && !c, "%s is accepted", text);
    if (s == HG_ERROR_ISA) {
        const hg_error *e = hg_last_error();
        CHECK_MESSAGE(strcmp(e->message, expected) == 0, "%s: expected \"%s\", got \"%s\"", text,
                      expected, e->message);
        CHECK_TEXT(e->code, code);
        CHECK_MESSAGE(e->line == line && e->column == column, "%s: expected %u:%u, got %u:%u", text,
                      line, column, e->line, e->column);
        CHECK_U64(hg_diagnostics_errors(d), 1);
        const hg_diagnostic *g = hg_diagnostics_get(d, 0);
        CHECK_TEXT(g ? g->message : NULL, expected);
        CHECK(g && g->line == line && g->column == column && strcmp(g->code, code) == 0);
    }
    hg_circuit_destroy(c);
    hg_diagnostics_destroy(d);
}

static void test_errors(void) {
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++) {
        if (ERRORS[i].compile) {
            hg_circuit_destroy(parsed(ERRORS[i].text, 0)); /* the grammar has it */
            check_error(ERRORS[i].text, ERRORS[i].code, ERRORS[i].message, 1, ERRORS[i].column,
                        true, "");
        } else {
            check_error(ERRORS[i].text, ERRORS[i].code, ERRORS[i].message, 1, ERRORS[i].column,
                        false, "");
            check_error(ERRORS[i].text, ERRORS[i].code, ERRORS[i].message, 1, ERRORS[i].column,
                        true, "Parse error: ");
        }
    }
    check_error("// one\nmark@c00 . // two\n\tmark@c99", "N07",
                "Class index 99 out of range [0..95]", 3, 8, false, "");
    /* every number out of range and every wrong target is told, in order */
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_circuit *c = NULL;
    CHECK(hg_circuit_parse("mark@c96 . mark@c97@48 . mark@c[98..3]", 38, NULL, d, &c) ==
          HG_ERROR_ISA);
    CHECK_U64(hg_diagnostics_errors(d), 4);
    CHECK_U64(hg_last_error()->column, 7);
    CHECK(hg_circuit_compile("copy@c01 . mark@c00 . swap@c02", 30, NULL, d, &c) == HG_ERROR_ISA);
    CHECK_U64(hg_diagnostics_errors(d), 6);
    hg_diagnostics_destroy(d);
    CHECK_STATUS(hg_circuit_parse(NULL, 1, NULL, NULL, &c), HG_ERROR_INVALID_ARGUMENT);
    hg_circuit *mark = parsed("mark@c00", 0);
    hg_circuit_byte *bytes = NULL;
    CHECK_STATUS(hg_circuit_print(mark, NULL, NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_circuit_json(mark, NULL, NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_circuit_words(mark, NULL, NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_circuit_bytes(mark, &bytes, NULL), HG_ERROR_INVALID_ARGUMENT);
    hg_circuit_destroy(mark);
    hg_circuit_options o = {.size = sizeof o, .canonicalise = (hg_canonicalise)3};
    CHECK_STATUS(hg_circuit_parse("mark@c00", 8, &o, NULL, &c), HG_ERROR_INVALID_ARGUMENT);
    o = (hg_circuit_options){.variants = 1};
    CHECK_STATUS(hg_circuit_parse("mark@c00", 8, &o, NULL, &c), HG_ERROR_INVALID_ARGUMENT);
    o.size = sizeof o;
    CHECK_FAILS(hg_circuit_parse("merge.pow@c00[c01,c02]", 22, &o, NULL, &c), HG_ERROR_ISA, "N01",
                "Invalid variant name: pow");
    CHECK_FAILS(hg_circuit_parse("split.mul@c00[c01,c02]", 22, &o, NULL, &c), HG_ERROR_ISA, "N01",
                "Invalid variant name: mul");
    CHECK_FAILS(hg_circuit_parse("mark.mul@c00", 12, &o, NULL, &c), HG_ERROR_ISA, "S02",
                "Expected '@' but found '.' at position 4");
}

/* ---- canonical forms (6.9) ---- */

static void check_canonical(const char *text, hg_canonicalise mode, const char *expected,
                            uint64_t before, uint64_t after, double percent) {
    hg_circuit *c = compiled(text, mode, 0);
    CHECK_TEXT(hg_circuit_canonical_expr(c), expected);
    CHECK_TEXT(hg_circuit_original_expr(c), text);
    CHECK_U64(hg_circuit_original_ops(c), before);
    CHECK_U64(hg_circuit_canonical_ops(c), after);
    CHECK(fabs((double)hg_circuit_reduction_pct(c) - percent) < 1e-4);
    hg_circuit_destroy(c);
}

static void test_canonical(void) {
    const hg_canonicalise gates = HG_CANONICALISE_GATES, sound = HG_CANONICALISE_SOUND,
                          off = HG_CANONICALISE_OFF;
    check_canonical("copy@c05->c06 . mark@c21 . copy@c05->c06 . mark@c21", gates, "mark@c00", 4, 1,
                    75);
    check_canonical("copy@c05->c06.mark@c21.mark@c21.copy@c05->c06.mark@c21", gates, "mark@c42", 5,
                    1, 80);
    check_canonical("mark@c21 . mark@c21", gates, "mark@c00", 2, 1, 50);
    check_canonical("mark@c42 . mark@c42", gates, "mark@c00", 2, 1, 50);
    check_canonical("mark@c07 . mark@c07", gates, "mark@c42", 2, 1, 50);
    check_canonical("mark@c00 . mark@c00", gates, "mark@c00", 2, 1, 50);
    check_canonical("mark@c07 . mark@c07 . mark@c07 . mark@c07", gates, "mark@c00", 4, 1, 75); /* S⁴
                                                                                                  =
                                                                                                  Z²
                                                                                                  =
                                                                                                  I
                                                                                                */
    check_canonical("mark@c01 . (mark@c21 . (mark@c21)) . mark@c02", gates,
                    "mark@c01 . mark@c00 . mark@c02", 4, 3, 25);
    check_canonical("(mark@c21 . mark@c05) . mark@c01", off, "(mark@c21 . mark@c05) . mark@c01", 3,
                    3, 0); /* a group is what it holds */
    check_canonical("mark@c21 || mark@c21", gates, "mark@c21 || mark@c21", 2, 2, 0);
    check_canonical("mark@c01 . T+1@(mark@c02 . R+1@mark@c03)", gates,
                    "mark@c01 . T+1@mark@c02 . R+1 T+1@mark@c03", 3, 3, 0);
    /* matching does not see what data would: destinations, transforms */
    check_canonical("mark@c21~ . mark@c21", gates, "mark@c00", 2, 1, 50);
    check_canonical("copy@c05->c06 . mark@c21 . copy@c05->c06 . mark@c21", sound, "copy@c05->c06",
                    4, 1, 75);
    check_canonical("copy@c05->c06 . mark@c21 . copy@c05->c06 . mark@c21", off,
                    "copy@c05->c06 . mark@c21 . copy@c05->c06 . mark@c21", 4, 4, 0);
    check_canonical("mark@c21 . mark@c21", sound, "", 2, 0, 100);
    check_canonical("mark@c21 . mark@c22 . mark@c21", sound, "mark@c22", 3, 1, 200.0 / 3);
    check_canonical("mark@c21 . copy@c21->c05 . mark@c21", sound,
                    "mark@c21 . copy@c21->c05 . mark@c21", 3, 3, 0);
    check_canonical("swap@c01<->c02 . mark@c03 . mark@c03 . swap@c02<->c01", sound, "", 4, 0, 100);
    check_canonical("swap@c01<->c02 . swap@c02<->c03", sound, "swap@c01<->c02 . swap@c02<->c03", 2,
                    2, 0);
    check_canonical("copy@c01->c02 . copy@c01->c02 . quote@c01 . evaluate@c[0..95]", sound,
                    "copy@c01->c02", 4, 1, 75);
    check_canonical("copy@c01->c02 . mark@c01 . copy@c01->c02", sound,
                    "copy@c01->c02 . mark@c01 . copy@c01->c02", 3, 3, 0);
    check_canonical("mark@c[0..95] . mark@c[1..95]", sound, "mark@c00", 2, 1, 50);
    check_canonical("mark@c21 . swap@c21<->c02 . swap@c21<->c02 . mark@c21", sound, "", 4, 0, 100);
    check_canonical("R+1@(mark@c00 . mark@c01) || ~@copy@c08->c09", sound,
                    "mark@c[24..25] . copy@c40->c41", 3, 2, 100.0 / 3);
    check_canonical("~@merge@c[0..9]", sound, "~@merge@c[0..9]", 1, 1, 0); /* two ranges would be
                                                                              more */
}

static void test_canonical_variants(void) {
    hg_circuit *c = compiled("merge.mul@c01[c01,c01] . merge.mul@c02[c02,c02] . merge@c03[c03,c03]",
                             HG_CANONICALISE_SOUND, 1);
    CHECK_TEXT(hg_circuit_canonical_expr(c), "merge.mul@c[1..2] . merge@c03[c03,c03]");
    hg_circuit_destroy(c);
}

/* ---- printing: the canonical text means the same and is its own canonical text ---- */

static void check_fixed_point(const char *text, int variants) {
    hg_circuit *c = parsed(text, variants);
    char *once = NULL, *again = NULL, *words = NULL, *words2 = NULL, *json = NULL;
    CHECK_OK(hg_circuit_print(c, &once, NULL));
    hg_circuit *d = once ? parsed(once, variants) : NULL;
    CHECK_OK(hg_circuit_print(d, &again, NULL));
    CHECK_MESSAGE(once && again && strcmp(once, again) == 0, "%s prints as %s, then as %s", text,
                  once, again);
    CHECK_OK(hg_circuit_words(c, &words, NULL));
    CHECK_OK(hg_circuit_words(d, &words2, NULL));
    CHECK_MESSAGE(words && words2 && strcmp(words, words2) == 0, "%s and %s have other words", text,
                  once);
    CHECK_OK(hg_circuit_json(d, &json, NULL));
    hg_circuit_byte *a = NULL, *b = NULL;
    size_t m = 0, n = 0;
    CHECK_OK(hg_circuit_bytes(c, &a, &m));
    CHECK_OK(hg_circuit_bytes(d, &b, &n));
    CHECK(m == n && a && memcmp(a, b, n * sizeof *a) == 0);
    hg_string_free((char *)a);
    hg_string_free((char *)b);
    hg_string_free(once);
    hg_string_free(again);
    hg_string_free(words);
    hg_string_free(words2);
    hg_string_free(json);
    hg_circuit_destroy(c);
    hg_circuit_destroy(d);
}

static void check_print(const char *text, const char *expected) {
    hg_circuit *c = parsed(text, 1);
    char *out = NULL;
    CHECK_OK(hg_circuit_print(c, &out, NULL));
    CHECK_TEXT(out, expected);
    hg_string_free(out);
    hg_circuit_destroy(c);
    check_fixed_point(text, 1);
}

static void test_print(void) {
    check_print("mark@c5", "mark@c05");
    check_print("T3 ~ R-9@mark@c[0..9]^-1", "R-1 T+3 ~@mark@c[0..9]^-1");
    check_print("R0@T+1@mark@c00.mark@c01", "R+0@T+1@mark@c00 . mark@c01");
    check_print("R+4@ mark@c00", "mark@c00");
    check_print("merge.add@c00[c01@1,c02]|split.div@c0^R+1^T+2~@03[c1,c2]",
                "merge@c00[c01@01,c02] || split.div@c00^R+1^+2~@03[c01,c02]");
    check_print("((mark@c00)) . (swap@c00<->c01 || copy@c02->c03)",
                "((mark@c00)) . (swap@c00<->c01 || copy@c02->c03)");
    check_print("\xEF\xBB\xBFmark @ c 00 // x\n", "mark@c00");
    hg_circuit *c = parsed("~@(mark@c00)", 0);
    char *json = NULL;
    CHECK_OK(hg_circuit_json(c, &json, NULL));
    CHECK_TEXT(json, "{\"transform\":{\"R\":0,\"D\":0,\"T\":0,\"mirror\":true},\"parallel\":[[{"
                     "\"transform\":null,\"parallel\":[[{\"generator\":"
                     "\"mark\",\"variant\":null,\"transform\":null,\"target\":\"single\","
                     "\"classes\":[{\"class\":0,\"transform\":null,\"page\":"
                     "null}],\"line\":1,\"column\":4}]]}]]}");
    hg_string_free(json);
    hg_circuit_destroy(c);
}

/* ---- programs (6.10) ---- */

static hg_buffer class_buffer(uint32_t cls) { return (hg_buffer){HG_CIRCUIT_HANDLE(cls)}; }

static void check_instructions(const char *text, size_t count) {
    hg_translated_program t = translated(text, HG_CANONICALISE_OFF, 0);
    CHECK_MESSAGE(t.program && hg_program_len(t.program) == count,
                  "%s: expected %zu instructions, got %zu", text, count,
                  t.program ? hg_program_len(t.program) : 0);
    CHECK_OK(hg_program_verify(t.program, NULL));
    CHECK_U64(hg_program_param_count(t.program), 0);
    hg_translated_program_release(&t);
}

static void test_listing(void) {
    hg_translated_program t = translated("merge@c00[c01,c02]", HG_CANONICALISE_OFF, 0);
    hg_program *p = assemble(PROGRAM(
        " mov_imm.u64 r1, 0xFFFFFFFFFFFFFFA0\n mov_imm.u64 r2, 0xFFFFFFFFFFFFFFA1\n"
        " mov_imm.u64 r3, 0xFFFFFFFFFFFFFFA2\n mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n"
        " ldg.f32 r10, [r1 + r0]\n ldg.f32 r11, [r2 + r0]\n add.f32 r12, r10, r11\n"
        " stg.f32 [r3 + r0], r12\n exit\n"));
    CHECK(t.program && memcmp(hg_program_hash(t.program), hg_program_hash(p), 32) == 0);
    CHECK_U64(hg_program_len(t.program), 10);
    CHECK_TEXT(hg_program_name(t.program), "circuit");
    CHECK_TEXT(hg_program_meta(t.program, "circuit"), "merge@c00[c01,c02]");
    CHECK_U64(t.original_ops, 1);
    CHECK_U64(t.canonical_ops, 1);
    CHECK(t.reduction_pct == 0.0f && !t.whole_array);
    CHECK_TEXT(t.original_expr, "merge@c00[c01,c02]");
    CHECK_TEXT(t.canonical_expr, "merge@c00[c01,c02]");
    CHECK(t.class_use[0] == 3 && t.class_use[1] == 3 && t.class_use[2] == 5 && t.class_use[3] == 0);
    hg_translated_program_release(&t);
    CHECK(!t.program && !t.original_expr);
    hg_program_release(p);
    check_instructions("quote@c01", 1);
    check_instructions("copy@c00->c05", 7);
    /* 6 + 8 + 1 of the old translator, less the second prefix */
    check_instructions("copy@c00->c05 . swap@c01<->c02", 13);
    check_instructions("mark@c[0..3] . evaluate@c00", 4 * 4 + 3 + 1);
}

static void test_vectors(hg_backend *b) {
    const float c0[] = {1, 2, 3}, c1[] = {10, 20, 30};
    static const struct {
        const char *text;
        float expected[3];
    } CASES[] = {{"merge@c00[c01,c02]", {11, 22, 33}}, {"split@c00[c01,c02]", {-9, -18, -27}}};
    hg_launch launch = hg_launch_linear(3);
    for (size_t i = 0; i < 2; i++) {
        float c2[4] = {0, 0, 0, 7};
        CHECK_OK(hg_buffer_write(b, class_buffer(0), 0, c0, sizeof c0));
        CHECK_OK(hg_buffer_write(b, class_buffer(1), 0, c1, sizeof c1));
        CHECK_OK(hg_buffer_write(b, class_buffer(2), 0, c2, sizeof c2));
        hg_translated_program t = translated(CASES[i].text, HG_CANONICALISE_OFF, 0);
        CHECK_OK(hg_backend_execute_program(b, t.program, &launch));
        CHECK_OK(hg_buffer_read(b, class_buffer(2), 0, c2, sizeof c2));
        CHECK(memcmp(c2, CASES[i].expected, 12) == 0 && c2[3] == 7);
        hg_translated_program_release(&t);
    }
}

int main(void) {
    hg_backend *b = open_backend("cpu");
    test_listing();
    test_vectors(b);
    test_bytes();
    test_words();
    test_transforms();
    test_calls();
    test_errors();
    test_canonical();
    test_canonical_variants();
    test_print();
    hg_backend_destroy(b);
    return test_done();
}
