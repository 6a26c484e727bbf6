/* The JSON reader against jansson: which texts are JSON, and what they hold. Edge cases of RFC 8259
 * written down one by one, each with what it must be, then random changes of larger texts. Where
 * the two may differ: jansson refuses numbers beyond i64 and f64 and keys with U+0000, the reader
 * keeps them; jansson drops a NUL behind a number. */
/* test: labels=unit */
#include "base/json_read.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

#define TEXT(s) s, sizeof(s) - 1

/* good: a JSON text. */
static const struct {
    const char *text;
    size_t length;
    bool good;
} cases[] = {
    /* numbers */
    {TEXT("0"), true},
    {TEXT("-0"), true},
    {TEXT("-0.0"), true},
    {TEXT("0.0"), true},
    {TEXT("1"), true},
    {TEXT("-1"), true},
    {TEXT("10"), true},
    {TEXT("1.5"), true},
    {TEXT("1e5"), true},
    {TEXT("1E5"), true},
    {TEXT("1e+5"), true},
    {TEXT("1e-5"), true},
    {TEXT("0e0"), true},
    {TEXT("0E+00"), true},
    {TEXT("1.0e00005"), true},
    {TEXT("1e-400"), true},
    {TEXT("0e999999999999"), true},
    {TEXT("4.9406564584124654e-324"), true},
    {TEXT("2.4703282292062328e-324"), true},
    {TEXT("2.2250738585072011e-308"), true},
    {TEXT("1.7976931348623157e308"), true},
    {TEXT("9007199254740993"), true},
    {TEXT("9007199254740993.0"), true},
    {TEXT("9223372036854775807"), true},
    {TEXT("-9223372036854775808"), true},
    {TEXT("9223372036854775808"), true},
    {TEXT("18446744073709551615"), true},
    {TEXT("18446744073709551616"), true},
    {TEXT("-9223372036854775809"), true},
    {TEXT("100000000000000000000000000000000000000000000000000"), true},
    {TEXT("1e400"), true},
    {TEXT("-1e400"), true},
    {TEXT("0.1"), true},
    {TEXT("0.30000000000000004"), true},
    {TEXT("1.00000005960464477540"), true},
    {TEXT("123456789012345678901.5e-21"), true},
    {TEXT("00"), false},
    {TEXT("01"), false},
    {TEXT("-01"), false},
    {TEXT("-"), false},
    {TEXT("+1"), false},
    {TEXT("1."), false},
    {TEXT(".5"), false},
    {TEXT("1.e5"), false},
    {TEXT("1e"), false},
    {TEXT("1e+"), false},
    {TEXT("1ee5"), false},
    {TEXT("0x10"), false},
    {TEXT("1_000"), false},
    {TEXT("- 1"), false},
    {TEXT("1 2"), false},
    {TEXT("NaN"), false},
    {TEXT("Infinity"), false},
    {TEXT("-Infinity"), false},
    {TEXT("1.5.2"), false},
    {TEXT("--1"), false},
    {TEXT("1e5.5"), false},
    {TEXT("1a"), false},
    {TEXT("1\0"), false},
    {TEXT("\xEF\xBC\x91"), false} /* a wide digit */,
    /* words */
    {TEXT("true"), true},
    {TEXT("false"), true},
    {TEXT("null"), true},
    {TEXT("True"), false},
    {TEXT("TRUE"), false},
    {TEXT("tru"), false},
    {TEXT("truee"), false},
    {TEXT("nul"), false},
    {TEXT("nullnull"), false},
    {TEXT("t"), false},
    {TEXT("undefined"), false},
    /* strings */
    {TEXT("\"\""), true},
    {TEXT("\"a\""), true},
    {TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), true},
    {TEXT("\"\\u0041\""), true},
    {TEXT("\"\\u00e9\\u00E9\""), true},
    {TEXT("\"\\uD834\\uDD1E\""), true},
    {TEXT("\"\\uDBFF\\uDFFF\""), true},
    {TEXT("\"\\uFFFF\""), true},
    {TEXT("\"\\u0000\""), true},
    {TEXT("\"\\ud83d\\ude00\""), true},
    {TEXT("\"\xC3\xA9\""), true},
    {TEXT("\"\xE2\x82\xAC\""), true},
    {TEXT("\"\xF0\x9D\x84\x9E\""), true},
    {TEXT("\"\xF4\x8F\xBF\xBF\""), true},
    {TEXT("\"\x7F\""), true},
    {TEXT("\"\xEF\xBB\xBF\""), true},
    {TEXT("\"\xE2\x80\xA8\""), true},
    {TEXT("\"/\""), true},
    {TEXT("\"'\""), true},
    {TEXT("\"\xEF\xBF\xBE\""), true},
    {TEXT("\"0123456\""), true},
    {TEXT("\"01234567\""), true},
    {TEXT("\"012345678\""), true},
    {TEXT("\"01234567\\n\""), true},
    {TEXT("\"0123456789abcde\xC3\xA9\""), true},
    {TEXT("\""), false},
    {TEXT("\"a"), false},
    {TEXT("'a'"), false},
    {TEXT("\"\\\""), false},
    {TEXT("\"\\x41\""), false},
    {TEXT("\"\\a\""), false},
    {TEXT("\"\\v\""), false},
    {TEXT("\"\\0\""), false},
    {TEXT("\"\\'\""), false},
    {TEXT("\"\\U0041\""), false},
    {TEXT("\"\\u004\""), false},
    {TEXT("\"\\u004g\""), false},
    {TEXT("\"\\u\""), false},
    {TEXT("\"\\uD834\""), false},
    {TEXT("\"\\uDD1E\""), false},
    {TEXT("\"\\uD834\\u0041\""), false},
    {TEXT("\"\\uDD1E\\uD834\""), false},
    {TEXT("\"\\uD834x\""), false},
    {TEXT("\"\\uD834\\n\""), false},
    {TEXT("\"\\uD834\\uD834\\uDD1E\""), false},
    {TEXT("\"a\nb\""), false},
    {TEXT("\"a\tb\""), false},
    {TEXT("\"\x1F\""), false},
    {TEXT("\"a\0b\""), false},
    {TEXT("\"a\" \"b\""), false},
    {TEXT("\"a\"b"), false},
    /* UTF-8 */
    {TEXT("\"\x80\""), false},
    {TEXT("\"\xBF\""), false},
    {TEXT("\"\xC0\x80\""), false},
    {TEXT("\"\xC1\xBF\""), false},
    {TEXT("\"\xC3\""), false},
    {TEXT("\"\xC3(\""), false},
    {TEXT("\"\xE0\x80\x80\""), false},
    {TEXT("\"\xE0\x9F\xBF\""), false},
    {TEXT("\"\xED\xA0\x80\""), false},
    {TEXT("\"\xED\xBF\xBF\""), false},
    {TEXT("\"\xE2\x82\""), false},
    {TEXT("\"\xF0\x80\x80\x80\""), false},
    {TEXT("\"\xF0\x8F\xBF\xBF\""), false},
    {TEXT("\"\xF4\x90\x80\x80\""), false},
    {TEXT("\"\xF5\x80\x80\x80\""), false},
    {TEXT("\"\xF0\x9D\x84\""), false},
    {TEXT("\"\xFE\""), false},
    {TEXT("\"\xFF\""), false},
    {TEXT("\"\xF8\x88\x80\x80\x80\""), false},
    {TEXT("\xC3\xA9"), false},
    {TEXT("[1,\xA0 2]"), false},
    {TEXT("\"0123456789\xE2\x82\""), false},
    /* arrays */
    {TEXT("[]"), true},
    {TEXT("[ ]"), true},
    {TEXT("[1]"), true},
    {TEXT("[1,2]"), true},
    {TEXT("[[],[[]]]"), true},
    {TEXT(" [\n1\t,\r2 ] "), true},
    {TEXT("[null,true,false,0,\"\",{},[]]"), true},
    {TEXT("["), false},
    {TEXT("]"), false},
    {TEXT("[1"), false},
    {TEXT("[1,"), false},
    {TEXT("[1,]"), false},
    {TEXT("[,1]"), false},
    {TEXT("[,]"), false},
    {TEXT("[1 2]"), false},
    {TEXT("[1,,2]"), false},
    {TEXT("[1}"), false},
    {TEXT("[]]"), false},
    {TEXT("[][]"), false},
    {TEXT("[1:2]"), false},
    {TEXT("[\"a\":1]"), false},
    {TEXT("[1];"), false},
    {TEXT("[\f1]"), false},
    {TEXT("[\v1]"), false},
    {TEXT("[1,\0]"), false},
    {TEXT("[ , ]"), false},
    /* objects */
    {TEXT("{}"), true},
    {TEXT("{ }"), true},
    {TEXT("{\"a\":1}"), true},
    {TEXT("{\"a\":1,\"b\":2}"), true},
    {TEXT("{\"\":0}"), true},
    {TEXT("{\"a\":{\"a\":{\"a\":[]}}}"), true},
    {TEXT("{ \"a\" : 1 , \"b\" : [ ] }"), true},
    {TEXT("{\"a\\u0000b\":1}"), true},
    {TEXT("{\"A\":1,\"a\":2}"), true},
    {TEXT("{\"a\":1,\"a \":2}"), true},
    {TEXT("[{\"a\":1},{\"a\":1}]"), true},
    {TEXT("{\"\xC3\xA9\":1,\"e\xCC\x81\":2}"), true}, /* composed and decomposed are different keys
                                                       */
    {TEXT("{\"a\":1,\"a\":1}"), false},
    {TEXT("{\"a\":1,\"b\":2,\"a\":3}"), false},
    {TEXT("{\"a\":1,\"\\u0061\":2}"), false},
    {TEXT("{\"\":1,\"\":2}"), false},
    {TEXT("{\"\xC3\xA9\":1,\"\\u00e9\":2}"), false},
    {TEXT("{\"x\":{\"a\":1,\"a\":1}}"), false},
    {TEXT("{\"/\":1,\"\\/\":2}"), false},
    {TEXT("{"), false},
    {TEXT("}"), false},
    {TEXT("{\"a\"}"), false},
    {TEXT("{\"a\":}"), false},
    {TEXT("{\"a\":1,}"), false},
    {TEXT("{,\"a\":1}"), false},
    {TEXT("{a:1}"), false},
    {TEXT("{'a':1}"), false},
    {TEXT("{1:1}"), false},
    {TEXT("{\"a\" 1}"), false},
    {TEXT("{\"a\":1 \"b\":2}"), false},
    {TEXT("{\"a\":1]"), false},
    {TEXT("{\"a\"::1}"), false},
    {TEXT("{\"a\":1,,\"b\":2}"), false},
    {TEXT("{\"a\",1}"), false},
    {TEXT("{null:1}"), false},
    {TEXT("{\"a\":1}x"), false},
    {TEXT("{[]:1}"), false},
    /* the whole text */
    {TEXT(""), false},
    {TEXT(" "), false},
    {TEXT("\n\n"), false},
    {TEXT(" 1 "), true},
    {TEXT("\t\r\n 1\t\r\n "), true},
    {TEXT("\xEF\xBB\xBF"), false},
    {TEXT("\xEF\xBB\xBF{}"), true}, /* a byte-order mark, which jansson refuses */
    {TEXT("{}\xEF\xBB\xBF"), false},
    {TEXT("// a\n1"), false},
    {TEXT("1 /* a */"), false},
    {TEXT("# a\n1"), false},
    {TEXT("\xC2\xA0"
          "1"),
     false},
    {TEXT("\xE2\x80\xA8"
          "1"),
     false},
    {TEXT("\xFE\xFF\0"
          "1"),
     false},
    {TEXT("1\0\0\0"), false},
    {TEXT("\0"), false},
    {TEXT("{}{}"), false},
    {TEXT("1,2"), false},
    {TEXT("\f1"), false},
    {TEXT("1\x1A"), false},
};

static bool reads(const char *text, size_t length, hg_json_document *d) {
    hg_json_fault fault = {0};
    bool good = hg_json_read(d, text, length, 0, &fault);
    if (!good) {
        CHECK_MESSAGE(fault.offset <= length && fault.length <= length - fault.offset,
                      "place %zu + %zu in a text of %zu bytes", fault.offset, fault.length, length);
        CHECK_MESSAGE(fault.message[0] && d->tokens == NULL,
                      "a refusal says why and gives nothing: '%s'", fault.message);
    }
    return good;
}

#ifdef HG_HAVE_JANSSON
#include <jansson.h>

/* What jansson may refuse and the reader may not. */
static bool allowed(const json_error_t *error) {
    enum json_error_code code = json_error_code(error);
    return code == json_error_numeric_overflow || code == json_error_null_byte_in_key;
}

static bool same_string(const hg_json_document *d, uint32_t token, hg_arena *arena,
                        const char *text, size_t length) {
    size_t n;
    const char *own = hg_json_decode(d, token, arena, &n);
    return own && n == length && memcmp(own, text, n) == 0;
}

static bool same(const hg_json_document *d, uint32_t token, hg_arena *arena, json_t *peer) {
    hg_json_number n;
    switch (hg_json_kind_of(d, token)) {
    case HG_JSON_NULL: return json_is_null(peer);
    case HG_JSON_TRUE: return json_is_true(peer);
    case HG_JSON_FALSE: return json_is_false(peer);
    case HG_JSON_INTEGER:
        n = hg_json_number_of(d, token);
        if (json_is_real(peer))
            return n.f64 == json_real_value(peer) &&
                   !signbit(n.f64) == !signbit(json_real_value(peer));
        if (!json_is_integer(peer) || n.f64 != (double)json_integer_value(peer)) return false;
        if (n.kind == HG_JSON_I64) return n.i64 == json_integer_value(peer);
        return n.kind == HG_JSON_U64 && n.u64 <= INT64_MAX &&
               (json_int_t)n.u64 == json_integer_value(peer);
    case HG_JSON_REAL: {
        uint64_t bits, expected;
        double value = json_real_value(peer);
        n = hg_json_number_of(d, token);
        if (!json_is_real(peer) || n.kind != HG_JSON_F64 ||
            !hg_json_float(d, token, HG_TYPE_F64, &bits))
            return false;
        memcpy(&expected, &value, sizeof value);
        return bits == expected && memcmp(&n.f64, &value, sizeof value) == 0;
    }
    case HG_JSON_STRING:
    case HG_JSON_ESCAPED:
        return json_is_string(peer) &&
               same_string(d, token, arena, json_string_value(peer), json_string_length(peer));
    case HG_JSON_ARRAY: {
        if (!json_is_array(peer) || json_array_size(peer) != hg_json_length(d, token)) return false;
        size_t i = 0;
        for (uint32_t item = token + 1; item < hg_json_next(d, token); item = hg_json_next(d, item))
            if (!same(d, item, arena, json_array_get(peer, i++))) return false;
        return true;
    }
    case HG_JSON_OBJECT: {
        if (!json_is_object(peer) || json_object_size(peer) != hg_json_length(d, token))
            return false;
        for (uint32_t key = token + 1; key < hg_json_next(d, token);
             key = hg_json_next(d, key + 1)) {
            size_t length;
            const char *name = hg_json_decode(d, key, arena, &length);
            json_t *value = name ? json_object_getn(peer, name, length) : NULL;
            if (!value || !same(d, key + 1, arena, value)) return false;
        }
        return true;
    }
    default: return false;
    }
}

/* True where both agree on a text. */
static bool compare(const char *text, size_t length) {
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* RFC 8259, 8.1: a reader may ignore
                                                                  the mark; jansson does not */
        text += 3;
        length -= 3;
    }
    hg_json_document d = {0};
    hg_arena arena = {0};
    bool own = reads(text, length, &d), equal = true;
    for (int pass = 0; pass < 2 && equal; pass++) { /* integers as such, then as floats of any size
                                                     */
        size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES |
                       (pass ? JSON_DECODE_INT_AS_REAL : 0);
        json_error_t error;
        json_t *peer = json_loadb(text, length, flags, &error);
        if (peer && own)
            equal = same(&d, 0, &arena, peer);
        else if (peer)
            equal = memchr(text, '\0', length) != NULL;
        else if (own)
            equal = allowed(&error);
        json_decref(peer);
    }
    hg_arena_free(&arena);
    hg_json_document_free(&d);
    return equal;
}

static uint64_t random_state = 88172645463325252u;
static uint32_t below(uint32_t n) { /* xorshift64 of G. Marsaglia (2003) */
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 33) % n;
}

static void put(char *text, size_t *length, size_t most, const char *piece) {
    size_t n = strlen(piece);
    if (*length + n > most) return;
    memcpy(text + *length, piece, n);
    *length += n;
}

/* A random value in many spellings, mostly good. */
static void random_value(char *text, size_t *length, size_t most, int depth) {
    static const char *const blanks[] = {"", "", "", " ", "\n", "\t", "\r\n ", "        "};
    static const char *const pieces[] = {"a",
                                         "key",
                                         "\\n",
                                         "\\u00e9",
                                         "\xC3\xA9",
                                         "\\uD834\\uDD1E",
                                         "\xF0\x9D\x84\x9E",
                                         "\\\"",
                                         "\\/",
                                         "abcdefgh",
                                         "\\u0000",
                                         "0123456789abcdef",
                                         " ",
                                         "\xE2\x82\xAC"};
    static const char *const words[] = {"true",
                                        "false",
                                        "null",
                                        "{}",
                                        "[]",
                                        "-0",
                                        "0.1",
                                        "1e22",
                                        "1e23",
                                        "123456789012345678",
                                        "-9223372036854775808"};
    char number[64];
    put(text, length, most, blanks[below(8)]);
    uint32_t kind = below(depth > 0 ? 9 : 5);
    if (kind == 0) {
        put(text, length, most, words[below(11)]);
    } else if (kind <= 2) {
        uint64_t mantissa = below(1u << 31);
        mantissa <<= below(32);
        mantissa |= below(1000);
        uint32_t style = below(4), digits = below(300); /* drawn one after the other: arguments have
                                                           no order */
        if (style < 2)
            snprintf(number, sizeof number, "%s%" PRIu64, style ? "-" : "", mantissa);
        else
            snprintf(number, sizeof number, "%" PRIu64 "%s%u", mantissa, style == 2 ? "." : "e-",
                     digits);
        put(text, length, most, number);
    } else if (kind <= 4) {
        put(text, length, most, "\"");
        for (uint32_t n = below(5); n; n--) put(text, length, most, pieces[below(14)]);
        put(text, length, most, "\"");
    } else {
        bool object = kind >= 7;
        put(text, length, most, object ? "{" : "[");
        for (uint32_t i = 0, n = below(6); i < n; i++) {
            if (i) put(text, length, most, ",");
            if (object) {
                put(text, length, most, blanks[below(8)]);
                put(text, length, most, "\"");
                for (uint32_t k = below(3); k; k--) put(text, length, most, pieces[below(14)]);
                snprintf(number, sizeof number, "%u\":", below(30));
                put(text, length, most, number);
            }
            random_value(text, length, most, depth - 1);
        }
        put(text, length, most, blanks[below(8)]);
        put(text, length, most, object ? "}" : "]");
    }
    put(text, length, most, blanks[below(8)]);
}

/* A few bytes changed, dropped, doubled or moved. */
static void change(char *text, size_t *length, size_t most) {
    static const char bytes[] =
        "{}[]:,\"\\/-+.eE0123456789u \n\t\r\0\x01\x7F\x80\xBF\xC2\xE0\xED\xF0\xF4\xFF"
        "abtfn'#";
    for (uint32_t n = below(4); n; n--) {
        size_t at = *length ? below((uint32_t)*length) : 0;
        switch (below(4)) {
        case 0:
            if (*length) text[at] = bytes[below((uint32_t)sizeof bytes - 1)];
            break;
        case 1:
            if (!*length) break;
            memmove(text + at, text + at + 1, *length - at - 1);
            --*length;
            break;
        case 2:
            if (*length == most) break;
            memmove(text + at + 1, text + at, *length - at);
            text[at] = bytes[below(sizeof bytes - 1)];
            ++*length;
            break;
        default: *length = *length ? below((uint32_t)*length) + 1 : 0;
        }
    }
}

static void test_random(uint32_t count) {
    enum { MOST = 2000 };
    static char text[MOST];
    uint32_t accepted = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t length = 0;
        uint64_t seed = random_state;
        random_value(text, &length, MOST, 4);
        if (i % 3) change(text, &length, MOST);
        CHECK_MESSAGE(compare(text, length), "seed %" PRIu64 ", text %u differs: %.*s", seed, i,
                      (int)length, text);
        hg_json_document d;
        hg_json_fault fault;
        accepted += hg_json_read(&d, text, length, 0, &fault);
        hg_json_document_free(&d);
    }
    CHECK_MESSAGE(accepted > count / 5 && accepted < count - count / 5, "%u of %u texts are JSON",
                  accepted, count);
}

static void test_peer(void) {
    for (size_t i = 0; i < HG_COUNT_OF(cases); i++)
        CHECK_MESSAGE(compare(cases[i].text, cases[i].length),
                      "case %zu differs from jansson: %.*s", i, (int)cases[i].length,
                      cases[i].text);
    for (uint32_t depth = HG_JSON_DEPTH - 1; depth <= HG_JSON_DEPTH + 1; depth++) { /* the same
                                                                                       limit */
        static char text[2 * HG_JSON_DEPTH + 8];
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        CHECK_MESSAGE(compare(text, (size_t)depth * 2), "depth %u differs", depth);
    }
    test_random(30000);
}
#else
static void test_peer(void) {
    SKIP("jansson is not installed (libjansson-dev): nothing to compare the JSON reader with");
}
#endif

int main(void) {
    for (size_t i = 0; i < HG_COUNT_OF(cases); i++) {
        hg_json_document d = {0};
        bool good = reads(cases[i].text, cases[i].length, &d);
        CHECK_MESSAGE(good == cases[i].good, "case %zu: %.*s", i, (int)cases[i].length,
                      cases[i].text);
        hg_json_document_free(&d);
    }
    test_peer();
    return test_done();
}
