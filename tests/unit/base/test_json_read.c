/* The JSON reader: grammar, places, strings, numbers, keys that stand twice, depth, hostile
 * documents, failing allocations. */
#include "base/json_read.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

static hg_json_document document;
static hg_json_fault fault;

static bool reads_bytes(const char *text, size_t length, uint32_t depth) {
    hg_json_document_free(&document);
    /* exactly as many bytes as the text has, so that a sanitizer sees a read behind them */
    static char *copy;
    free(copy);
    copy = malloc(length ? length : 1);
    memcpy(copy, text, length);
    return hg_json_read(&document, copy, length, depth, &fault);
}
static bool reads(const char *text) { return reads_bytes(text, strlen(text), 0); }

static void check_good(const char *text, uint32_t tokens) {
    bool good = reads(text);
    CHECK_MESSAGE(good, "%s: %s", text, fault.message);
    if (good)
        CHECK_MESSAGE(document.count == tokens, "%s: %u tokens, expected %u", text, document.count,
                      tokens);
}

static void check_bad(const char *text, hg_json_fault_kind kind, size_t offset,
                      const char *message) {
    bool good = reads(text);
    CHECK_MESSAGE(!good, "%s is read", text);
    if (good) return;
    CHECK_MESSAGE(fault.kind == kind && fault.offset == offset,
                  "%s: kind %d at %zu, expected %d at %zu", text, (int)fault.kind, fault.offset,
                  (int)kind, offset);
    CHECK_TEXT(fault.message, message);
    CHECK(document.count == 0 && !document.tokens);
}

static void check_grammar(void) {
    check_good("null", 1);
    check_good(" true ", 1);
    check_good("\t\r\n false\n", 1);
    check_good("0", 1);
    check_good("-0", 1);
    check_good("-12.5e+3", 1);
    check_good("1E9", 1);
    check_good("\"\"", 1);
    check_good("[]", 1);
    check_good("{}", 1);
    check_good("[ ]", 1);
    check_good("{ }", 1);
    check_good("[1, 2,3]", 4);
    check_good("[[],[{}]]", 4);
    check_good("{\"a\":1,\"b\":[true,null]}", 7);
    check_good("                                  {\n        \"a\" :\n                         1 }",
               3);
    check_bad("", HG_JSON_BAD_SYNTAX, 0, "expected a value, got the end of the text");
    check_bad("  ", HG_JSON_BAD_SYNTAX, 2, "expected a value, got the end of the text");
    check_bad("nul", HG_JSON_BAD_SYNTAX, 0, "expected a value, got 'nul'");
    check_bad("nulls", HG_JSON_BAD_SYNTAX, 0, "expected a value, got 'nulls'");
    check_bad("True", HG_JSON_BAD_SYNTAX, 0, "expected a value, got 'True'");
    CHECK_TEXT(fault.hint, "write true");
    check_bad("[1,]", HG_JSON_BAD_SYNTAX, 3, "expected a value, got ']'");
    CHECK_TEXT(fault.hint, "JSON has no comma after the last item");
    check_bad("{\"a\":1,}", HG_JSON_BAD_SYNTAX, 7, "expected a key in double quotes, got '}'");
    check_bad("{a:1}", HG_JSON_BAD_SYNTAX, 1, "expected a key in double quotes, got 'a'");
    check_bad("{\"a\" 1}", HG_JSON_BAD_SYNTAX, 5, "expected ':', got '1'");
    check_bad("[1 2]", HG_JSON_BAD_SYNTAX, 3, "expected ',' or ']', got '2'");
    check_bad("[1}", HG_JSON_BAD_SYNTAX, 2, "expected ',' or ']', got '}'");
    check_bad("{\"a\":1]", HG_JSON_BAD_SYNTAX, 6, "expected ',' or '}', got ']'");
    check_bad("[", HG_JSON_BAD_SYNTAX, 1, "expected a value, got the end of the text");
    check_bad("[1", HG_JSON_BAD_SYNTAX, 2, "expected ',' or ']', got the end of the text");
    check_bad("{", HG_JSON_BAD_SYNTAX, 1,
              "expected a key in double quotes, got the end of the text");
    check_bad("1 2", HG_JSON_BAD_SYNTAX, 2, "expected the end of the text, got '2'");
    check_bad("[] // x", HG_JSON_BAD_SYNTAX, 3, "expected the end of the text, got '/'");
    CHECK_TEXT(fault.hint, "JSON has no comments");
    check_bad(" \xEF\xBB\xBF{}", HG_JSON_BAD_SYNTAX, 1, "expected a value, got '\xEF\xBB\xBF'");
    CHECK_TEXT(fault.hint, "a byte-order mark stands at the start of the text alone");
    check_bad("\xEF\xBB\xBF\xEF\xBB\xBF{}", HG_JSON_BAD_SYNTAX, 3,
              "expected a value, got '\xEF\xBB\xBF'");
    check_bad("\xEF\xBB\xBF", HG_JSON_BAD_SYNTAX, 3, "expected a value, got the end of the text");
    check_bad("\xEF\xBB{}", HG_JSON_BAD_UTF8, 0, "byte 0xef is not UTF-8");
    CHECK(reads_bytes("\xEF\xBB\xBF{}", 5, 0));
    CHECK(reads_bytes("\xEF\xBB\xBF 12", 6, 0));
    check_bad("\xC3\x28", HG_JSON_BAD_UTF8, 0, "byte 0xc3 is not UTF-8");
    check_bad("\x01", HG_JSON_BAD_SYNTAX, 0, "expected a value, got byte 0x01");
    check_bad("'a'", HG_JSON_BAD_SYNTAX, 0, "expected a value, got '''");
    CHECK(!reads_bytes("1\0", 2, 0));
    CHECK_U64(fault.offset, 1);
}

/* A string between every blank offset, so that the eight-byte steps end at each of their bytes. */
static void check_alignment(void) {
    static const char bad[] = "\x1f\x7f\x80\"\\";
    for (size_t before = 0; before < 20; before++)
        for (size_t inside = 0; inside < 20; inside++) {
            char text[64];
            memset(text, ' ', before);
            text[before] = '"';
            memset(text + before + 1, 'x', inside);
            text[before + 1 + inside] = '"';
            CHECK(reads_bytes(text, before + inside + 2, 0) &&
                  document.tokens[0].offset == before && document.tokens[0].size == inside);
            for (size_t i = 0; i < inside; i++) {
                for (size_t b = 0; b < sizeof bad - 1; b++) {
                    text[before + 1 + i] = bad[b];
                    bool good = reads_bytes(text, before + inside + 2, 0);
                    CHECK_MESSAGE(good == (bad[b] == '\x7f'), "byte %02x at %zu of %zu behind %zu",
                                  (unsigned char)bad[b], i, inside, before);
                }
                text[before + 1 + i] = 'x';
            }
        }
}

static void check_string(const char *text, const char *bytes, size_t length) {
    hg_arena arena = {0};
    size_t n = 0;
    bool good = reads(text);
    CHECK_MESSAGE(good, "%s: %s", text, fault.message);
    if (!good) return;
    const char *decoded = hg_json_decode(&document, 0, &arena, &n);
    CHECK_MESSAGE(decoded && n == length && memcmp(decoded, bytes, n) == 0, "%s decodes to %.*s",
                  text, (int)n, decoded);
    if (!memchr(bytes, 0, length)) CHECK(hg_json_string_is(&document, 0, bytes));
    CHECK(!hg_json_string_is(&document, 0, "something else"));
    hg_arena_free(&arena);
}

static void check_strings(void) {
    check_string("\"plain\"", "plain", 5);
    check_string("\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\"", "a\"\\/\b\f\n\r\tz", 10);
    check_string("\"\\u0041\\u00e9\\u20AC\\ud834\\udd1e\"", "A\xC3\xA9\xE2\x82\xAC\xF0\x9D\x84\x9E",
                 10);
    check_string("\"\\u0000\"", "\0", 1);
    check_string("\"\\uD7FF\\uE000\\uFFFF\"", "\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF", 9);
    check_string("\"\\uDBFF\\uDFFF\"", "\xF4\x8F\xBF\xBF", 4);
    check_string("\"\xC3\xA9\xE2\x82\xAC\xF0\x9D\x84\x9E\"", "\xC3\xA9\xE2\x82\xAC\xF0\x9D\x84\x9E",
                 9);
    check_bad("\"a", HG_JSON_BAD_SYNTAX, 0, "the string that begins here has no end");
    check_bad("\"a\\", HG_JSON_BAD_SYNTAX, 3, "expected '\"', got the end of the text");
    check_bad("\"\\x\"", HG_JSON_BAD_STRING, 1, "unknown escape in a string");
    check_bad("\"\\u12g4\"", HG_JSON_BAD_STRING, 1, "\\u needs four hexadecimal digits");
    check_bad("\"\\u12", HG_JSON_BAD_STRING, 1, "\\u needs four hexadecimal digits");
    check_bad("\"\\ud800\"", HG_JSON_BAD_STRING, 1, "half of a surrogate pair");
    check_bad("\"\\udc00\"", HG_JSON_BAD_STRING, 1, "half of a surrogate pair");
    check_bad("\"\\ud800\\u0041\"", HG_JSON_BAD_STRING, 1, "half of a surrogate pair");
    check_bad("\"\\ud800\\ud800\"", HG_JSON_BAD_STRING, 1, "half of a surrogate pair");
    check_bad("\"a\nb\"", HG_JSON_BAD_STRING, 2, "control character 0x0a in a string");
    static const char *const wrong[] = {"\"\x80\"",
                                        "\"\xC0\xAF\"",
                                        "\"\xE0\x80\xAF\"",
                                        "\"\xED\xA0\x80\"",
                                        "\"\xF0\x80\x80\xAF\"",
                                        "\"\xF4\x90\x80\x80\"",
                                        "\"\xF5\x80\x80\x80\"",
                                        "\"\xE2\x82\"",
                                        "\"\xE2\x82\xFF\""};
    for (size_t i = 0; i < HG_COUNT_OF(wrong); i++) {
        CHECK(!reads(wrong[i]) && fault.kind == HG_JSON_BAD_UTF8);
        CHECK_U64(fault.offset, 1);
    }
}

static hg_json_number number(const char *text) {
    bool good = reads(text);
    CHECK_MESSAGE(good, "%s: %s", text, fault.message);
    return good ? hg_json_number_of(&document, 0) : (hg_json_number){0};
}

static void check_numbers(void) {
    CHECK_U64(number("0").kind, HG_JSON_U64);
    CHECK_U64(number("18446744073709551615").u64, UINT64_MAX);
    CHECK_U64(number("18446744073709551615").kind, HG_JSON_U64);
    CHECK_U64(number("18446744073709551616").kind, HG_JSON_F64);
    CHECK(number("18446744073709551616").f64 == 18446744073709551616.0);
    CHECK(number("-9223372036854775808").kind == HG_JSON_I64 &&
          number("-9223372036854775808").i64 == INT64_MIN);
    CHECK_U64(number("-9223372036854775809").kind, HG_JSON_F64);
    CHECK(number("-0").kind == HG_JSON_I64 && number("-0").i64 == 0 && signbit(number("-0").f64));
    CHECK(number("-1").i64 == -1 && number("-1").f64 == -1.0);
    CHECK_U64(number("1.0").kind, HG_JSON_F64);
    CHECK_U64(number("1e0").kind, HG_JSON_F64);
    CHECK(isinf(number("1e309").f64) && number("-1e309").f64 < 0);
    CHECK(isinf(number("1e99999999999999999999").f64) &&
          number("1e-99999999999999999999").f64 == 0);
    /* The C library of the test machine rounds correctly: glibc's strtod is the oracle. */
    static const char *const texts[] = {"0.1",
                                        "0.3",
                                        "1e22",
                                        "1e23",
                                        "9007199254740993",
                                        "9007199254740993.0",
                                        "5e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "1.7976931348623157e308",
                                        "1.7976931348623158e308",
                                        "2.2250738585072011e-308",
                                        "123456789012345678901234567890",
                                        "3.14159265358979323846264338327950288",
                                        "1.5e-10",
                                        "6.02214076e23",
                                        "0.000000000000000000000000001e27",
                                        "100000000000000000000000000000e-29",
                                        "8.5",
                                        "4503599627370496.5",
                                        "4503599627370497.5",
                                        "1e-22",
                                        "9007199254740992e22",
                                        "1000000000000000000000e-21"};
    for (size_t i = 0; i < HG_COUNT_OF(texts); i++) {
        double mine = number(texts[i]).f64, theirs = strtod(texts[i], NULL);
        CHECK_MESSAGE(memcmp(&mine, &theirs, sizeof mine) == 0, "%s: %a, strtod %a", texts[i], mine,
                      theirs);
        float f = strtof(texts[i], NULL), g;
        uint64_t bits = 0;
        bool finite = hg_json_float(&document, 0, HG_TYPE_F32, &bits);
        uint32_t low = (uint32_t)bits;
        memcpy(&g, &low, sizeof g);
        CHECK_MESSAGE(isinf(f) ? !finite : f == g, "%s: %a, strtof %a", texts[i], (double)g,
                      (double)f);
    }
    uint64_t bits = 0;
    CHECK(reads("-1.5") && hg_json_float(&document, 0, HG_TYPE_F32, &bits) && bits == 0xBFC00000);
    CHECK(reads("-1.5") && hg_json_float(&document, 0, HG_TYPE_F64, &bits) &&
          bits == UINT64_C(0xBFF8000000000000));
    CHECK(reads("-0.0") && hg_json_float(&document, 0, HG_TYPE_F16, &bits) && bits == 0x8000);
    check_bad("01", HG_JSON_BAD_NUMBER, 0, "a number has no leading zeros");
    check_bad("-01", HG_JSON_BAD_NUMBER, 0, "a number has no leading zeros");
    check_bad("-", HG_JSON_BAD_NUMBER, 0, "expected a digit after '-'");
    check_bad("1.", HG_JSON_BAD_NUMBER, 0, "expected a digit after '.'");
    check_bad("1.e5", HG_JSON_BAD_NUMBER, 0, "expected a digit after '.'");
    check_bad("1e", HG_JSON_BAD_NUMBER, 0, "expected a digit in the exponent");
    check_bad("1e+", HG_JSON_BAD_NUMBER, 0, "expected a digit in the exponent");
    check_bad("+1", HG_JSON_BAD_SYNTAX, 0, "expected a value, got '+'");
    check_bad(".5", HG_JSON_BAD_SYNTAX, 0, "expected a value, got '.'");
    check_bad("NaN", HG_JSON_BAD_SYNTAX, 0, "expected a value, got 'NaN'");
    check_bad("0x10", HG_JSON_BAD_SYNTAX, 1, "expected the end of the text, got 'x10'");
    char *huge = malloc(1000003);
    memset(huge, '9', 1000000);
    memcpy(huge + 1000000, "e1", 3);
    CHECK(isinf(number(huge).f64));
    free(huge);
}

static void check_members(void) {
    CHECK(reads("{\"a\":[1,[2,3],{}],\"\\u0062\":{\"c\":4},\"d\":5}"));
    CHECK_U64(hg_json_length(&document, 0), 3);
    uint32_t a = hg_json_member(&document, 0, "a"), b = hg_json_member(&document, 0, "b"),
             d = hg_json_member(&document, 0, "d");
    CHECK_U64(hg_json_length(&document, a), 3);
    CHECK_U64(hg_json_kind_of(&document, a), HG_JSON_ARRAY);
    CHECK_U64(hg_json_number_of(&document, hg_json_member(&document, b, "c")).u64, 4);
    CHECK_U64(hg_json_number_of(&document, d).u64, 5);
    CHECK_U64(hg_json_member(&document, 0, "e"), 0);
    CHECK_U64(hg_json_member(&document, a, "a"), 0);
    uint32_t items = 0, sum = 0;
    for (uint32_t item = a + 1; item < hg_json_next(&document, a);
         item = hg_json_next(&document, item), items++)
        if (hg_json_is_number(&document, item))
            sum += (uint32_t)hg_json_number_of(&document, item).u64;
    CHECK(items == 3 && sum == 1);
}

static void check_places(void) {
    static const char text[] = "[\n  1,\n\n\"x\" ]";
    hg_json_lines lines = {0};
    static const struct {
        size_t offset;
        uint32_t line, column;
    } cases[] = {{0, 1, 1},  {4, 2, 3}, {8, 4, 1}, {5, 2, 4}, {1, 1, 2},
                 {12, 4, 5}, {7, 3, 1}, {0, 1, 1}, {99, 4, 6}};
    for (size_t i = 0; i < HG_COUNT_OF(cases); i++) {
        hg_place p = hg_json_place(&lines, text, strlen(text), cases[i].offset, 1);
        CHECK_MESSAGE(p.line == cases[i].line && p.column == cases[i].column, "offset %zu: %u:%u",
                      cases[i].offset, p.line, p.column);
    }
    /* columns of the first line count from behind a byte-order mark */
    static const char marked[] = "\xEF\xBB\xBF{\n {";
    hg_json_lines more = {0};
    CHECK_U64(hg_json_place(&more, marked, 7, 0, 1).column, 1);
    CHECK_U64(hg_json_place(&more, marked, 7, 3, 1).column, 1);
    CHECK_U64(hg_json_place(&more, marked, 7, 4, 1).column, 2);
    CHECK_U64(hg_json_place(&more, marked, 7, 6, 1).column, 2);
}

/* An object of n keys k0 … and one more that repeats key `again` (n: none does). */
static char *many_keys(unsigned n, unsigned again, const char *format) {
    char *text = malloc((size_t)n * 48 + 64), *at = text;
    *at++ = '{';
    for (unsigned i = 0; i < n; i++) {
        at += sprintf(at, "\"");
        at += sprintf(at, format, i);
        at += sprintf(at, "\":%u,", i);
    }
    at += sprintf(at, "\"");
    at += sprintf(at, format, again);
    sprintf(at, "\":{}}");
    return text;
}

static void check_repeated_keys(void) {
    check_bad("{\"a\":1,\"a\":2}", HG_JSON_DUPLICATE_KEY, 7,
              "the key 'a' stands twice in this object");
    check_bad("{\"a\":{\"x\":1,\"x\":1},\"a\":2}", HG_JSON_DUPLICATE_KEY, 12,
              "the key 'x' stands twice in this object");
    check_bad("{\"a\":1,\"\\u0061\":2}", HG_JSON_DUPLICATE_KEY, 7,
              "the key '\\u0061' stands twice in this object");
    check_bad("{\"\":1,\"\":2}", HG_JSON_DUPLICATE_KEY, 6,
              "the key '' stands twice in this object");
    check_good("{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":1}}", 11);
    check_good("{\"\\u0061\":1,\"b\":2,\"A\":3}", 7);
    static const unsigned counts[] = {3, 20, 63, 64, 65, 300, 5000};
    for (size_t i = 0; i < HG_COUNT_OF(counts); i++)
        for (int form = 0; form < 2; form++) {
            const char *format = form ? "\\u006b%u" : "k%u";
            unsigned n = counts[i];
            char *text = many_keys(n, n, format);
            check_good(text, 2 * n + 3);
            free(text);
            text = many_keys(n, n / 2, format);
            CHECK_MESSAGE(!reads(text) && fault.kind == HG_JSON_DUPLICATE_KEY &&
                              fault.offset == (size_t)(strrchr(text, ',') - text) + 1,
                          "%u keys: place %zu", n, fault.offset);
            free(text);
        }
}

static void check_depth(void) {
    enum { DEEP = 3000 };
    static char text[2 * DEEP + 1];
    memset(text, '[', DEEP);
    memset(text + DEEP, ']', DEEP);
    CHECK(!reads_bytes(text, 2 * DEEP, 0) && fault.kind == HG_JSON_TOO_DEEP &&
          fault.offset == HG_JSON_DEPTH);
    CHECK_TEXT(fault.message, "nested deeper than 2048");
    CHECK(reads_bytes(text, 2 * DEEP, DEEP));
    CHECK_U64(document.count, DEEP);
    CHECK(reads_bytes(text + DEEP - HG_JSON_DEPTH, 2 * HG_JSON_DEPTH, 0));
    CHECK(!reads_bytes("[[]]", 4, 1) && reads_bytes("[]", 2, 1));
    char *bomb = malloc(20000000);
    memset(bomb, '[', 20000000);
    CHECK(!reads_bytes(bomb, 20000000, 0) && fault.kind == HG_JSON_TOO_DEEP);
    free(bomb);
}

/* ---- allocations that fail ---- */

static int64_t allowed = -1, live;
static void *reallocate(void *user, void *memory, size_t bytes) {
    (void)user;
    if (allowed == 0) return NULL;
    if (allowed > 0) allowed--;
    live += !memory;
    return realloc(memory, bytes);
}
static void release(void *user, void *memory) {
    (void)user;
    live -= memory != NULL;
    free(memory);
}

static void check_memory(void) {
    hg_json_document_free(&document);
    int64_t before = live;
    char *text = many_keys(200, 100, "k%u"), *deep = malloc(4001);
    memset(deep, '[', 2000);
    memset(deep + 2000, ']', 2000);
    deep[4000] = '\0';
    int failures = 0;
    for (int64_t n = 0; n < 40; n++) {
        allowed = n;
        hg_json_document d;
        bool good = hg_json_read(&d, text, strlen(text), 0, &fault);
        CHECK(!good && (fault.kind == HG_JSON_NO_MEMORY || fault.kind == HG_JSON_DUPLICATE_KEY));
        failures += fault.kind == HG_JSON_NO_MEMORY;
        allowed = n;
        good = hg_json_read(&d, deep, 4000, 0, &fault);
        CHECK(good || fault.kind == HG_JSON_NO_MEMORY);
        allowed = -1;
        hg_json_document_free(&d);
        CHECK(live == before);
    }
    CHECK(failures > 2);
    free(text);
    free(deep);
}

int main(void) {
    hg_allocator allocator = {sizeof allocator, NULL, reallocate, release};
    CHECK(hg_set_allocator(&allocator) == HG_OK);
    check_grammar();
    check_alignment();
    check_strings();
    check_numbers();
    check_members();
    check_places();
    check_repeated_keys();
    check_depth();
    check_memory();
    hg_json_document_free(&document);
    return test_done();
}
