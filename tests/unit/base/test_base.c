/* Memory, text, errors, types, diagnostics, BLAKE3, handles, JSON. */
#include "base/base.h"
#include "base/handles.h"
#include "base/host.h"
#include "base/json.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

/* ---- an allocator that fails at will and counts what is not given back ---- */

static long allocations_left = -1, blocks_live; /* -1: no limit */

static void *counting_reallocate(void *user, void *memory, size_t bytes) {
    (void)user;
    if (allocations_left == 0) return NULL;
    if (allocations_left > 0) allocations_left--;
    void *result = realloc(memory, bytes);
    if (result && !memory) blocks_live++;
    return result;
}

static void counting_release(void *user, void *memory) {
    (void)user;
    if (memory) blocks_live--;
    free(memory);
}

static const hg_allocator counting = {sizeof(hg_allocator), NULL, counting_reallocate,
                                      counting_release};

/* Runs body with the n-th allocation failing, for all n, until it needs no more; nothing may leak.
 */
static void fail_each_allocation(const char *name, bool (*body)(void)) {
    CHECK(hg_set_allocator(&counting) == HG_OK);
    long n = 0;
    for (bool done = false; !done; n++) {
        allocations_left = n;
        bool success = body();
        done = allocations_left > 0;
        CHECK_MESSAGE(blocks_live == 0, "%s: %ld blocks leak when allocation %ld fails", name,
                      blocks_live, n);
        CHECK_MESSAGE(success || !done, "%s: fails without a failing allocation", name);
        blocks_live = 0;
        if (n > 10000) break;
    }
    CHECK_MESSAGE(n > 1 && n <= 10000, "%s: %ld allocations", name, n);
    allocations_left = -1;
    CHECK(hg_set_allocator(NULL) == HG_OK);
}

/* ---- memory ---- */

static bool use_memory(void) {
    hg_arena arena = {0};
    bool good = true;
    size_t sizes[] = {1, 16, 100, 5000, 0, 1 << 21, 3, 4000, 1000, 1000, 1000, 1000, 1000};
    unsigned char *pieces[HG_COUNT_OF(sizes)];
    for (size_t i = 0; i < HG_COUNT_OF(sizes); i++) {
        pieces[i] = hg_arena_alloc(&arena, sizes[i]);
        if (!pieces[i]) {
            good = false;
            continue;
        }
        CHECK((uintptr_t)pieces[i] % 16 == 0);
        for (size_t k = 0; k < sizes[i]; k++)
            if (pieces[i][k]) CHECK_MESSAGE(false, "arena memory is not zero");
        memset(pieces[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < HG_COUNT_OF(sizes); i++)
        for (size_t k = 0; pieces[i] && k < sizes[i]; k++)
            if (pieces[i][k] != i + 1) CHECK_MESSAGE(false, "arena pieces overlap");
    CHECK(arena.failed == !good);
    char *text = hg_arena_text(&arena, "abcdef", 3);
    if (text)
        CHECK_TEXT(text, "abc");
    else
        good = false;
    hg_arena_free(&arena);
    HG_VEC(uint64_t) v = {0};
    for (uint64_t i = 0; i < 1000 && good; i++) {
        uint64_t *last = hg_vec_push(&v);
        if (!last)
            good = false;
        else
            *last = i * i;
    }
    for (uint64_t i = 0; i < v.count; i++) CHECK(v.data[i] == i * i);
    hg_vec_free(&v);
    CHECK(v.data == NULL && v.count == 0 && v.capacity == 0);
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        void *memory = hg_alloc_aligned(alignment + 5, alignment);
        if (memory) {
            CHECK((uintptr_t)memory % alignment == 0);
            memset(memory, 255, alignment + 5);
        } else
            good = false;
        hg_free_aligned(memory);
    }
    return good;
}

static void test_memory(void) {
    CHECK(use_memory());
    fail_each_allocation("memory", use_memory);
    CHECK(hg_calloc(SIZE_MAX / 2, 3) == NULL);
    CHECK(hg_alloc_aligned(SIZE_MAX - 8, 64) == NULL);
    CHECK(hg_alloc_aligned(8, 24) == NULL);
    hg_arena arena = {0};
    CHECK(hg_arena_alloc(&arena, SIZE_MAX) == NULL && arena.failed);
    CHECK(hg_arena_text(&arena, "", SIZE_MAX) == NULL);
    hg_arena_free(&arena);
    unsigned char *large = hg_arena_alloc(&arena, 100000); /* the first piece is a large one */
    if (large) memset(large, 255, 100000);
    unsigned char *small = hg_arena_alloc(&arena, 16);
    CHECK(small && large && small[0] == 0 && large[0] == 255 && large[99999] == 255);
    hg_arena_free(&arena);
    uint64_t x = 0;
    CHECK(hg_mul_u64(UINT64_C(1) << 32, (UINT64_C(1) << 32) - 1, &x) &&
          x == UINT64_MAX - UINT32_MAX);
    CHECK(!hg_mul_u64(UINT64_C(1) << 32, UINT64_C(1) << 32, &x));
    CHECK(hg_mul_u64(0, UINT64_MAX, &x) && x == 0);
    static const uint64_t corners[] = {0,
                                       1,
                                       2,
                                       3,
                                       5,
                                       10,
                                       UINT32_MAX - 1,
                                       UINT32_MAX,
                                       UINT64_C(1) << 32,
                                       (UINT64_C(1) << 32) + 1,
                                       UINT64_C(3) << 31,
                                       UINT64_C(6700417),
                                       UINT64_C(2753074036095),
                                       UINT64_C(1) << 63,
                                       UINT64_MAX / 3,
                                       UINT64_MAX - 1,
                                       UINT64_MAX};
    for (size_t i = 0; i < HG_COUNT_OF(corners); i++)
        for (size_t k = 0; k < HG_COUNT_OF(corners); k++) {
            __extension__ unsigned __int128 whole = (unsigned __int128)corners[i] * corners[k];
            CHECK(hg_mul_u64(corners[i], corners[k], &x) == (whole >> 64 == 0) &&
                  x == (uint64_t)whole);
        }
    CHECK(hg_add_u64(UINT64_MAX, 0, &x) && !hg_add_u64(UINT64_MAX, 1, &x));
    hg_allocator bad = {sizeof bad, NULL, counting_reallocate, NULL};
    CHECK(hg_set_allocator(&bad) == HG_ERROR_INVALID_ARGUMENT);
    bad.size = 3;
    CHECK(hg_set_allocator(&bad) == HG_ERROR_INVALID_ARGUMENT);
}

static bool use_text(void) {
    hg_text text = {0};
    for (int i = 0; i < 200; i++) {
        hg_text_addf(&text, "%d,", i);
        hg_text_add(&text, "xyz", 3);
    }
    hg_text_addf(&text, "%0500d", 7);
    bool good = !text.failed;
    if (good) {
        CHECK_U64(text.length, 10 * 5 + 90 * 6 + 100 * 7 + 500);
        CHECK(text.data[text.length] == 0 && text.data[text.length - 1] == '7');
        CHECK(strncmp(text.data, "0,xyz1,xyz", 10) == 0);
    }
    CHECK(!text.data || strlen(text.data) == text.length);
    hg_text_free(&text);
    return good;
}

/* ---- errors and types ---- */

static void test_errors(void) {
    CHECK(hg_last_error()->size == sizeof(hg_error));
    CHECK(hg_last_error()->lane == HG_NONE);
    CHECK(hg_fail(HG_ERROR_EXECUTION_FAILED, "division by zero in lane %d", 3) ==
          HG_ERROR_EXECUTION_FAILED);
    CHECK_TEXT(hg_last_error_text(), "Execution failed: division by zero in lane 3");
    hg_error_record()->lane = 3;
    CHECK_U64(hg_last_error()->lane, 3);
    hg_status status = hg_fail(HG_ERROR_ISA, "[%s]", hg_last_error()->message);
    CHECK(status == HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->message, "[division by zero in lane 3]");
    CHECK(hg_last_error()->lane == HG_NONE && hg_last_error()->step == HG_NONE &&
          hg_last_error()->line == 0);
    CHECK(hg_fail_memory() == HG_ERROR_OUT_OF_MEMORY && strlen(hg_last_error()->message) > 0);
    CHECK_TEXT(hg_status_name(HG_ERROR_ISA), "HG_ERROR_ISA");
    CHECK_TEXT(hg_status_name(HG_OK), "HG_OK");
    CHECK_TEXT(hg_status_name((hg_status)999), "?");
    /* a two-byte letter at each place around the cut */
    for (size_t shift = 0; shift < 4; shift++) {
        char text[600] = {0};
        for (size_t i = 0; i < shift; i++) text[i] = 'a';
        for (size_t i = shift; i + 2 < sizeof text; i += 2) memcpy(text + i, "\xC3\xA9", 2);
        status = hg_fail(HG_ERROR_IO, "%s", text);
        size_t length = strlen(hg_last_error()->message);
        CHECK_U64(length, shift % 2 ? 511 : 510);
        CHECK(memcmp(hg_last_error()->message, text, length) == 0);
        CHECK(strlen(hg_last_error_text()) == length + strlen("Input/output error: "));
    }
}

static void test_types(void) {
    static const struct {
        const char *name;
        uint64_t bytes;
        char kind;
    } expected[] = {
        {"f16", 2, 'f'},     {"bf16", 2, 'f'},    {"f32", 4, 'f'},     {"f64", 8, 'f'},
        {"i8", 1, 'i'},      {"i16", 2, 'i'},     {"i32", 4, 'i'},     {"i64", 8, 'i'},
        {"i128", 16, 'i'},   {"i256", 32, 'i'},   {"i512", 64, 'i'},   {"i1024", 128, 'i'},
        {"i2048", 256, 'i'}, {"i4096", 512, 'i'}, {"u8", 1, 'u'},      {"u16", 2, 'u'},
        {"u32", 4, 'u'},     {"u64", 8, 'u'},     {"u128", 16, 'u'},   {"u256", 32, 'u'},
        {"u512", 64, 'u'},   {"u1024", 128, 'u'}, {"u2048", 256, 'u'}, {"u4096", 512, 'u'}};
    CHECK_U64(HG_TYPE_COUNT, 24);
    for (unsigned i = 0; i < 24; i++) {
        hg_type type = (hg_type)i, read = HG_TYPE_COUNT;
        CHECK_TEXT(hg_type_name(type), expected[i].name);
        CHECK_U64(hg_type_size_bytes(type), expected[i].bytes);
        CHECK(hg_type_is_float(type) == (expected[i].kind == 'f'));
        CHECK(hg_type_is_integer(type) == (expected[i].kind != 'f'));
        CHECK(hg_type_is_signed(type) == (expected[i].kind != 'u'));
        CHECK(hg_type_is_unsigned(type) == (expected[i].kind == 'u'));
        CHECK(hg_type_from_name(expected[i].name, strlen(expected[i].name), &read) && read == type);
    }
    hg_type read = HG_TYPE_F64;
    CHECK(!hg_type_from_name("f3", 2, &read) && !hg_type_from_name("F32", 3, &read) &&
          !hg_type_from_name("", 0, &read) && read == HG_TYPE_F64);
    CHECK_TEXT(hg_type_name((hg_type)24), "?");
    CHECK_U64(hg_type_size_bytes((hg_type)99), 0);
}

/* ---- diagnostics ---- */

static const char source[] = ".atlas 1\n\tone\r\n    shl.u64     r0, r255, r4\nlast";

static void check_print(hg_diagnostics *d, const char *file, const char *expected) {
    char *text = hg_diagnostics_print(d, file, source, sizeof source - 1);
    CHECK_TEXT(text, expected);
    hg_string_free(text);
    hg_diagnostics_destroy(d);
}

static void test_diagnostics(void) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_diagnose(d, HG_SEVERITY_ERROR, "V03", (hg_place){3, 27, 2, 1, 3},
                "the shift amount is a u32 register; load it with mov_imm.u32",
                "type mismatch: expected %s, got %s", "u32", "u64");
    CHECK_U64(hg_diagnostics_count(d), 1);
    CHECK_U64(hg_diagnostics_errors(d), 1);
    const hg_diagnostic *g = hg_diagnostics_get(d, 0);
    CHECK(g && g->lane == HG_NONE && g->operand == 3 && g->severity == 0 &&
          strcmp(g->code, "V03") == 0);
    CHECK(hg_diagnostics_get(d, 1) == NULL);
    check_print(d, "axpy.atlas",
                "axpy.atlas:3:27: error[V03]: type mismatch: expected u32, got u64\n"
                "    3 |     shl.u64     r0, r255, r4\n"
                "      |                           ^~\n"
                "   hint: the shift amount is a u32 register; load it with mov_imm.u32\n"
                "axpy.atlas: 1 error\n");
    d = hg_diagnostics_create(0); /* order of place; tab one column; end of file; a line that does
                                     not exist; a whole-file error */
    hg_diagnose(d, HG_SEVERITY_ERROR, "S02", (hg_place){4, 5, 1, HG_NONE, 0}, NULL,
                "expected more");
    hg_diagnose(d, HG_SEVERITY_WARNING, "V13", (hg_place){2, 2, 3, HG_NONE, 0}, NULL,
                "code not reachable");
    hg_diagnose(d, HG_SEVERITY_ERROR, "L02", (hg_place){9, 1, 1, HG_NONE, 0}, NULL, "elsewhere");
    hg_diagnose(d, HG_SEVERITY_ERROR, "S02", (hg_place){0, 0, 0, HG_NONE, 0}, NULL, "no .program");
    check_print(d, "a",
                "a: error[S02]: no .program\n"
                "a:2:2: warning[V13]: code not reachable\n"
                "    2 |  one\n"
                "      |  ^~~\n"
                "a:4:5: error[S02]: expected more\n"
                "    4 | last\n"
                "      |     ^\n"
                "a:9:1: error[L02]: elsewhere\n"
                "a: 3 errors\n");
    d = hg_diagnostics_create(0); /* columns, then instructions, decide within a line */
    hg_diagnose(d, HG_SEVERITY_NOTE, "", (hg_place){4, 3, 0, 8, 0}, NULL, "third");
    hg_diagnose(d, HG_SEVERITY_NOTE, "", (hg_place){4, 3, 0, 7, 0}, NULL, "second");
    hg_diagnose(d, HG_SEVERITY_NOTE, "", (hg_place){4, 1, 0, 9, 0}, NULL, "first");
    check_print(d, "a",
                "a:4:1: note: first\n    4 | last\n      | ^\na:4:3: note: second\n    4 | last\n  "
                "    |   ^\n"
                "a:4:3: note: third\n    4 | last\n      |   ^\n");
    d = hg_diagnostics_create(0); /* binary and faults */
    hg_diagnose(d, HG_SEVERITY_ERROR, "V01", (hg_place){0, 0, 0, 7, 1}, NULL,
                "uninitialized register r3");
    hg_diagnose_fault(
        d, "F01", (hg_place){3, 5, 0, 4, 2}, 3,
        "in instruction 4 (ldg.f32 r10, [r1 + r0]), lane 3 (block 0, lane 3 of it), operand 2",
        "Execution failed: buffer access out of bounds: offset 12 + size 4 > buffer size 12");
    CHECK_U64(hg_diagnostics_get(d, 1)->lane, 3);
    CHECK_U64(hg_diagnostics_errors(d), 2);
    check_print(
        d, "axpy.atlas",
        "axpy.atlas#7: error[V01]: uninitialized register r3\n"
        "axpy.atlas:3:5: fault[F01]: Execution failed: buffer access out of bounds: offset 12 + "
        "size 4 > buffer size 12\n"
        "   in instruction 4 (ldg.f32 r10, [r1 + r0]), lane 3 (block 0, lane 3 of it), operand 2\n"
        "axpy.atlas: 1 error\n");
    check_print(hg_diagnostics_create(0), "x", "");
}

static void test_diagnostic_maximum(void) {
    hg_diagnostics *d = hg_diagnostics_create(3);
    for (uint32_t i = 0; i < 10; i++) { /* the three first in place stay, whatever order they come
                                           in */
        uint32_t line = i * 7 % 10 + 1;
        hg_diagnose(d, HG_SEVERITY_ERROR, "V01", (hg_place){line, 1, 1, HG_NONE, 0}, NULL, "e%u",
                    line);
        hg_diagnose(d, HG_SEVERITY_WARNING, "V13", (hg_place){line, 1, 1, HG_NONE, 0}, NULL, "w%u",
                    line);
    }
    CHECK_U64(hg_diagnostics_errors(d), 10);
    CHECK_U64(hg_diagnostics_count(d), 13);
    uint32_t errors = 0;
    for (size_t i = 0; i < hg_diagnostics_count(d); i++) {
        const hg_diagnostic *g = hg_diagnostics_get(d, i);
        if (g->severity == HG_SEVERITY_ERROR) CHECK_U64(g->line, ++errors);
        if (i) CHECK(hg_diagnostics_get(d, i - 1)->line <= g->line);
    }
    CHECK_U64(errors, 3);
    char *text = hg_diagnostics_print(d, "f", NULL, 0);
    CHECK(text && strstr(text, "f: 10 errors\n"));
    hg_string_free(text);
    hg_diagnostics_destroy(d);
    hg_diagnose(NULL, HG_SEVERITY_ERROR, "V01", (hg_place){1, 1, 1, HG_NONE, 0}, NULL, "dropped");
    hg_diagnostics_destroy(NULL);
    CHECK_U64(hg_diagnostics_count(NULL), 0);
}

/* The excerpt of one long line, its columns counted in characters. */
static void test_long_lines(void) {
    enum { BYTES = 5000 };
    static char line[BYTES + 1];
    for (int i = 0; i < BYTES; i++) line[i] = (char)('a' + i % 26);
    for (uint32_t column = 1; column <= BYTES; column += 123) {
        hg_diagnostics *d = hg_diagnostics_create(0);
        hg_diagnose(d, HG_SEVERITY_ERROR, "S02", (hg_place){1, column, 300, HG_NONE, 0}, NULL, "m");
        char *text = hg_diagnostics_print(d, "f", line, BYTES);
        const char *excerpt = text ? strchr(text, '\n') + 1 : NULL,
                   *caret = excerpt ? strchr(excerpt, '^') : NULL;
        const char *second = excerpt ? strchr(excerpt, '\n') + 1 : NULL;
        CHECK(excerpt && second - excerpt - 1 == 8 + 120);
        CHECK(caret && excerpt[caret - second] == line[column - 1]); /* the caret stands under its
                                                                        character */
        CHECK(second && strchr(second, '\n') - second <= 8 + 120);
        hg_string_free(text);
        hg_diagnostics_destroy(d);
    }
    static const char words[] =
        "\xEF\xBB\xBF; \xC3\xA9\xC3\xA9\xFF\x1B r1 \xE2\x82\xAC!"; /* a
                                                                      mark,
                                                                      wide
                                                                      letters,
                                                                      a bad
                                                                      byte,
                                                                      an
                                                                      escape
                                                                    */
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_diagnose(d, HG_SEVERITY_ERROR, "S01", (hg_place){1, 10, 2, HG_NONE, 0}, NULL, "m");
    char *text = hg_diagnostics_print(d, "f", words, sizeof words - 1);
    CHECK_TEXT(text, "f:1:10: error[S01]: m\n"
                     "    1 | ; \xC3\xA9\xC3\xA9?? r1 \xE2\x82\xAC!\n"
                     "      |        ^~\n"
                     "f: 1 error\n");
    hg_string_free(text);
    hg_diagnostics_destroy(d);
    d = hg_diagnostics_create(0);
    hg_diagnose(d, HG_SEVERITY_ERROR, "S01", (hg_place){1234567, 1, 1, HG_NONE, 0}, NULL, "m");
    size_t many = 1234567;
    char *newlines = malloc(many);
    if (newlines) {
        memset(newlines, '\n', many);
        newlines[many - 1] = 'z';
        text = hg_diagnostics_print(d, "f", newlines, many);
        CHECK_TEXT(text, "f:1234567:1: error[S01]: m\n1234567 | z\n        | ^\nf: 1 error\n");
        hg_string_free(text);
    }
    free(newlines);
    hg_diagnostics_destroy(d);
}

static bool name_instruction(void *user, uint64_t index, hg_text *out) {
    (void)user;
    hg_text_addf(out, "mov.u32 r%llu", (unsigned long long)index);
    return index != 9;
}

static void test_binary_excerpt(void) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_diagnose(d, HG_SEVERITY_ERROR, "V01", (hg_place){0, 0, 0, 7, 1}, "h", "m");
    hg_diagnose(d, HG_SEVERITY_ERROR, "V01", (hg_place){0, 0, 0, 9, 1}, NULL, "m");
    char *text = hg_diagnostics_print_with(d, "f", NULL, 0, name_instruction, NULL);
    CHECK_TEXT(
        text,
        "f#7: error[V01]: m\n    7 | mov.u32 r7\n   hint: h\nf#9: error[V01]: m\nf: 2 errors\n");
    hg_string_free(text);
    hg_diagnostics_destroy(d);
}

static bool use_diagnostics(void) {
    hg_diagnostics *d = hg_diagnostics_create(4);
    if (!d) return false;
    for (uint32_t i = 0; i < 30; i++)
        hg_diagnose(d, i % 3 ? HG_SEVERITY_ERROR : HG_SEVERITY_WARNING, "V01",
                    (hg_place){30 - i, 1, 1, HG_NONE, 0}, i & 1 ? "hint" : NULL, "message %u", i);
    CHECK_U64(hg_diagnostics_errors(d), 20); /* counted even when there is no memory to keep it */
    char *text = hg_diagnostics_print(d, "f", source, sizeof source - 1);
    bool good = text && hg_diagnostics_count(d) == 14;
    hg_string_free(text);
    hg_diagnostics_destroy(d);
    return good;
}

/* ---- BLAKE3 ---- */

/* Input byte i is i mod 251. The published test vectors (test_vectors.json of the BLAKE3 team), and
 * from b3sum 1.2.0 those of 2 … 129 and 1,000,003 bytes. */
static const struct {
    size_t length;
    const char *hash;
} hashes[] = {
    {0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"},
    {1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"},
    {2, "7b7015bb92cf0b318037702a6cdd81dee41224f734684c2c122cd6359cb1ee63"},
    {63, "e9bc37a594daad83be9470df7f7b3798297c3d834ce80ba85d6e207627b7db7b"},
    {64, "4eed7141ea4a5cd4b788606bd23f46e212af9cacebacdc7d1f4c6dc7f2511b98"},
    {65, "de1e5fa0be70df6d2be8fffd0e99ceaa8eb6e8c93a63f2d8d1c30ecb6b263dee"},
    {127, "d81293fda863f008c09e92fc382a81f5a0b4a1251cba1634016a0f86a6bd640d"},
    {128, "f17e570564b26578c33bb7f44643f539624b05df1a76c81f30acd548c44b45ef"},
    {129, "683aaae9f3c5ba37eaaf072aed0f9e30bac0865137bae68b1fde4ca2aebdcb12"},
    {1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"},
    {1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"},
    {1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"},
    {2048, "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a"},
    {2049, "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030"},
    {3072, "b98cb0ff3623be03326b373de6b9095218513e64f1ee2edd2525c7ad1e5cffd2"},
    {3073, "7124b49501012f81cc7f11ca069ec9226cecb8a2c850cfe644e327d22d3e1cd3"},
    {4096, "015094013f57a5277b59d8475c0501042c0b642e531b0a1c8f58d2163229e969"},
    {4097, "9b4052b38f1c5fc8b1f9ff7ac7b27cd242487b3d890d15c96a1c25b8aa0fb995"},
    {5120, "9cadc15fed8b5d854562b26a9536d9707cadeda9b143978f319ab34230535833"},
    {5121, "628bd2cb2004694adaab7bbd778a25df25c47b9d4155a55f8fbd79f2fe154cff"},
    {6144, "3e2e5b74e048f3add6d21faab3f83aa44d3b2278afb83b80b3c35164ebeca205"},
    {6145, "f1323a8631446cc50536a9f705ee5cb619424d46887f3c376c695b70e0f0507f"},
    {7168, "61da957ec2499a95d6b8023e2b0e604ec7f6b50e80a9678b89d2628e99ada77a"},
    {7169, "a003fc7a51754a9b3c7fae0367ab3d782dccf28855a03d435f8cfe74605e7817"},
    {8192, "aae792484c8efe4f19e2ca7d371d8c467ffb10748d8a5a1ae579948f718a2a63"},
    {8193, "bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b"},
    {16384, "f875d6646de28985646f34ee13be9a576fd515f76b5b0a26bb324735041ddde4"},
    {31744, "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47"},
    {102400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"},
    {1000003, "cd5a3272e01b1a2f47bb4565d8d202db0f95704d32550a2da61a0fd363d4c90d"},
};

static void hex(const uint8_t bytes[32], char text[65]) {
    for (int i = 0; i < 32; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

static void test_blake3(void) {
    static uint8_t input[1000003];
    for (size_t i = 0; i < sizeof input; i++) input[i] = (uint8_t)(i % 251);
    static const size_t steps[] = {SIZE_MAX, 1, 63, 64, 65, 1024, 1025, 7777};
    for (size_t i = 0; i < HG_COUNT_OF(hashes); i++) {
        for (size_t k = 0; k < HG_COUNT_OF(steps); k++) {
            hg_blake3 h;
            uint8_t out[32];
            char text[65];
            hg_blake3_init(&h);
            for (size_t at = 0; at < hashes[i].length;) {
                size_t n = hashes[i].length - at < steps[k] ? hashes[i].length - at : steps[k];
                hg_blake3_update(&h, input + at, n);
                at += n;
                if (at == hashes[i].length / 2)
                    hg_blake3_final(&h, out); /* must not disturb what follows */
            }
            hg_blake3_final(&h, out);
            hex(out, text);
            CHECK_TEXT(text, hashes[i].hash);
        }
    }
}

/* ---- handles ---- */

static int destroyed;
static void count_destroyed(void *user, void *object) {
    destroyed += user == &destroyed ? *(int *)object : 0;
}

static void test_handles(void) {
    hg_handles table;
    int one = 1, ten = 10, hundred = 100;
    uint64_t a = 0, b = 0, c = 0, again = 0;
    hg_handles_init(&table, count_destroyed, &destroyed);
    CHECK(hg_handles_get(&table, 1) == NULL);
    CHECK(hg_handles_add(&table, &one, &a) == HG_OK && hg_handles_add(&table, &ten, &b) == HG_OK &&
          hg_handles_add(&table, &hundred, &c) == HG_OK);
    CHECK(a == 1 && b == 2 && c == 3);
    CHECK(hg_handles_get(&table, 2) == &ten && !hg_handles_get(&table, 0) &&
          !hg_handles_get(&table, 4) && !hg_handles_get(&table, UINT64_MAX - 90));
    CHECK(hg_handles_remove(&table, b) && destroyed == 10);
    CHECK(!hg_handles_remove(&table, b) && !hg_handles_get(&table, b) &&
          !hg_handles_retain(&table, b) && destroyed == 10);
    CHECK(hg_handles_add(&table, &ten, &again) == HG_OK);
    CHECK_U64(again, (UINT64_C(1) << 23) + 2);
    CHECK(hg_handles_get(&table, again) == &ten && !hg_handles_get(&table, b));
    CHECK_U64(hg_handles_at(&table, 2), again);
    CHECK_U64(hg_handles_at(&table, 9), 0);
    /* a free while in use is deferred: the handle is dead at once, the object lives on */
    CHECK(hg_handles_retain(&table, c) == &hundred && hg_handles_retain(&table, c) == &hundred);
    CHECK(hg_handles_remove(&table, c) && destroyed == 10 && !hg_handles_get(&table, c) &&
          !hg_handles_remove(&table, c));
    CHECK_U64(hg_handles_at(&table, 3), 0);
    CHECK_U64(hg_handles_count(&table), 2);
    hg_handles_release(&table, c);
    CHECK(destroyed == 10);
    hg_handles_release(&table, c);
    CHECK(destroyed == 110);
    hg_handles_release(&table, c); /* one too many changes nothing */
    CHECK(destroyed == 110);
    CHECK_U64(hg_handles_end(&table), 4);
    hg_handles_free(&table);
    CHECK(destroyed == 121);
}

static void test_handle_order(void) {
    hg_handles table;
    int object = 0;
    hg_handles_init(&table, NULL, NULL);
    uint64_t handles[100], next = 0;
    for (uint64_t i = 0; i < 100; i++)
        CHECK(hg_handles_add(&table, &object, &handles[i]) == HG_OK && handles[i] == i + 1);
    for (uint64_t i = 0; i < 100; i++) CHECK(hg_handles_remove(&table, handles[i]));
    for (uint64_t i = 0; i < 100; i++) { /* the slot that was freed first comes back first */
        CHECK(hg_handles_add(&table, &object, &next) == HG_OK);
        CHECK_U64(next, (UINT64_C(1) << 23) + i + 1);
    }
    for (uint64_t i = 0; i < 100; i++) CHECK(!hg_handles_get(&table, handles[i]));
    hg_handles_free(&table);
    /* the last generation of a slot: bit 63 stays 0 and the slot retires */
    hg_handles_init(&table, NULL, NULL);
    CHECK(hg_handles_add(&table, &object, &next) == HG_OK && hg_handles_remove(&table, next));
    table.pieces[0][1].generation = (UINT64_C(1) << 40) - 1;
    CHECK(hg_handles_add(&table, &object, &next) == HG_OK);
    CHECK_U64(next, (((UINT64_C(1) << 40) - 1) << 23) + 1);
    CHECK(hg_handles_remove(&table, next));
    CHECK(hg_handles_add(&table, &object, &next) == HG_OK && next == 2);
    hg_handles_free(&table);
}

static bool use_handles(void) {
    hg_handles table;
    int object = 1;
    bool good = true;
    hg_handles_init(&table, NULL, NULL);
    for (int i = 0; i < 100; i++) {
        uint64_t handle = 0;
        hg_status status = hg_handles_add(&table, &object, &handle);
        CHECK(status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY);
        good = good && status == HG_OK;
        if (status == HG_OK) CHECK(hg_handles_get(&table, handle) == &object);
    }
    hg_handles_free(&table);
    return good;
}

/* ---- JSON ---- */

static void test_json(void) {
    hg_text out = {0};
    hg_json json = {.out = &out};
    hg_json_begin_object(&json);
    hg_json_key(&json, "text");
    hg_json_text(&json, "a\"b\\c\n\t\x01\x7F \xC3\xA9 \xFF\xED\xA0\x80");
    hg_json_key(&json, "none");
    hg_json_text(&json, NULL);
    hg_json_key(&json, "list");
    hg_json_begin_array(&json);
    hg_json_u64(&json, UINT64_C(9007199254740992));
    hg_json_u64(&json, UINT64_C(9007199254740993));
    hg_json_i64(&json, INT64_MIN);
    hg_json_i64(&json, -5);
    hg_json_bool(&json, true);
    hg_json_begin_array(&json);
    hg_json_end_array(&json);
    hg_json_begin_object(&json);
    hg_json_end_object(&json);
    hg_json_f64(&json, 0.5);
    hg_json_f64(&json, (double)INFINITY);
    hg_json_f64(&json, -(double)INFINITY);
    hg_json_f64(&json, (double)NAN);
    hg_json_end_array(&json);
    hg_json_key(&json, "literals");
    hg_json_begin_array(&json);
    static const char *const literals[] = {"1",
                                           "-12.0",
                                           "1e30",
                                           "-0.0",
                                           "2.5E-7",
                                           "nan",
                                           "inf",
                                           "-inf",
                                           "9007199254740992",
                                           "9007199254740993",
                                           "-9007199254740993",
                                           "99999999999999999999999999999999999999",
                                           "0x1f",
                                           ".5",
                                           "1.",
                                           "007",
                                           "1e",
                                           "-",
                                           "",
                                           "bits(0x7fc00001)"};
    for (size_t i = 0; i < HG_COUNT_OF(literals); i++)
        hg_json_literal(&json, literals[i], strlen(literals[i]));
    hg_json_end_array(&json);
    hg_json_end_object(&json);
    CHECK_TEXT(out.data, "{\"text\":\"a\\\"b\\\\c\\n\\t\\u0001\\u007f \xC3\xA9 "
                         "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\",\"none\":null,"
                         "\"list\":[9007199254740992,\"9007199254740993\",\"-9223372036854775808\","
                         "-5,true,[],{},0.5,\"inf\",\"-inf\",\"nan\"],"
                         "\"literals\":[1,-12.0,1e30,-0.0,2.5E-7,\"nan\",\"inf\",\"-inf\","
                         "9007199254740992,\"9007199254740993\",\"-9007199254740993\","
                         "\"99999999999999999999999999999999999999\",\"0x1f\",\".5\",\"1.\","
                         "\"007\",\"1e\",\"-\",\"\",\"bits(0x7fc00001)\"]}");
    hg_text_free(&out);
}

/* The example of language.md 6.2. */
static void test_json_diagnostics(void) {
    hg_text out = {0};
    hg_json json = {.out = &out};
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_diagnose(d, HG_SEVERITY_ERROR, "V03", (hg_place){11, 27, 2, 3, 3},
                "the shift amount is a u32 register; load it with mov_imm.u32",
                "type mismatch: expected u32, got u64");
    hg_diagnose_fault(d, "F01", (hg_place){12, 5, 0, 4, 2}, 3, "in instruction 4",
                      "Execution failed: x");
    hg_json_diagnostics(&json, d, "axpy.atlas");
    CHECK_TEXT(
        out.data,
        "[{\"severity\":\"error\",\"code\":\"V03\",\"message\":\"type mismatch: expected u32, got "
        "u64\",\"file\":\"axpy.atlas\",\"line\":11,\"column\":27,"
        "\"length\":2,\"instruction\":3,\"hint\":\"the shift amount is a u32 register; load it "
        "with "
        "mov_imm.u32\",\"lane\":null,\"operand\":3,\"expansion\":null},"
        "{\"severity\":\"fault\",\"code\":\"F01\",\"message\":\"Execution failed: "
        "x\",\"file\":\"axpy.atlas\",\"line\":12,\"column\":5,"
        "\"length\":null,\"instruction\":4,\"hint\":null,\"lane\":3,\"operand\":2,\"expansion\":"
        "null}]");
    hg_text_free(&out);
    hg_diagnostics_destroy(d);
}

/* The same text for the same settings, another one when a setting comes, changes or goes to another
 * place. */
static void test_host(void) {
    static const char *const NAMES[] = {"HG_TEST_SETTING_A", "HG_TEST_SETTING_B"};
    static const char *const VALUES[][2] = {{NULL, NULL}, {"", NULL},   {"x", NULL}, {NULL, "x"},
                                            {"x", "x"},   {"x-", NULL}, {"-", "x"}};
    char text[HG_COUNT_OF(VALUES)][HG_HOST_TEXT], again[HG_HOST_TEXT];
    for (size_t i = 0; i < HG_COUNT_OF(VALUES); i++) {
        for (int k = 0; k < 2; k++) {
            if (VALUES[i][k])
                setenv(NAMES[k], VALUES[i][k], 1);
            else
                unsetenv(NAMES[k]);
        }
        hg_host_text(NAMES, 2, text[i]);
        hg_host_text(NAMES, 2, again);
        CHECK_TEXT(text[i], again);
        CHECK(strlen(text[i]) == 16 && strspn(text[i], "0123456789abcdef") == 16);
        for (size_t k = 0; k < i; k++) CHECK(strcmp(text[i], text[k]) != 0);
    }
}

int main(void) {
    test_host();
    test_memory();
    CHECK(use_text());
    fail_each_allocation("text", use_text);
    test_errors();
    test_types();
    test_diagnostics();
    test_diagnostic_maximum();
    test_long_lines();
    test_binary_excerpt();
    fail_each_allocation("diagnostics", use_diagnostics);
    test_blake3();
    test_handles();
    test_handle_order();
    fail_each_allocation("handles", use_handles);
    test_json();
    test_json_diagnostics();
    return test_done();
}
