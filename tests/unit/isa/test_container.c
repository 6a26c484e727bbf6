/* What container version 1.1 has: scaled addresses, extents that are expressions, grids, tables,
 * private memory, names of registers. Text to container and back, versions and hashes, what a
 * reader refuses, and values of extents against a second evaluator. */
#include "isa/codec.h"
#include "support/program_text.h"
#include "test.h"
#include <hologram/builder.h>
#include <stdio.h>
#include <stdlib.h>

#define HEAD ".atlas 1\n.program t\n"

/* ---- there and back ---- */

/* Text that is canonical: the same after every way. */
static void round_trip(const char *text, uint32_t minor) {
    hg_program *p = assemble(text), *q = NULL;
    uint8_t *bytes = NULL, *again = NULL;
    size_t length = 0, length_again = 0;
    if (!p) return;
    prints(p, text);
    CHECK(hg_program_encode(p, 0, &bytes, &length) == HG_OK);
    CHECK_MESSAGE(bytes[10] == minor, "minor %u, expected %u:\n%s", bytes[10], (unsigned)minor,
                  text);
    CHECK_MESSAGE(hg_program_decode(bytes, length, NULL, &q) == HG_OK, "%s\n%s",
                  hg_last_error()->message, text);
    if (q) {
        CHECK(memcmp(hg_program_hash(p), hg_program_hash(q), 32) == 0);
        prints(q, text);
        CHECK(hg_program_encode(q, 0, &again, &length_again) == HG_OK);
        CHECK(length == length_again && memcmp(bytes, again, length) == 0);
    }
    hg_string_free((char *)bytes);
    hg_string_free((char *)again);
    hg_program_release(q);
    hg_program_release(p);
}

static void test_round_trips(void) {
    round_trip(HEAD "    ldg.u32 r1, [r2 + r3*4]\n    ldg.u32 r1, [r2 + r3*65535 - 8]\n    lds.u32 "
                    "r1, [shared + r3*3 + 4]\n"
                    "    stg.u32 [pool(r2) + r3*2], r1\n    ldg.u32 r1, [class5 + r3*8]\n    "
                    "ldg.u32 r1, [buf7 + r3*16 + 1]\n"
                    "    reduce.add.f32 r1, [r2 + r3*4], 3\n",
               1);
    round_trip(HEAD "    ldg.u32 r1, [r2 + r3]\n    ldg.u32 r1, [phi(95, 47, 255)]\n", 0);
    round_trip(HEAD "    ldg.u32.u8 r1, [r2 + r3]\n", 3);
    round_trip(HEAD "    stg.bf16.f32 [r2 + r3*2], r1\n    bits.u32.f32 r4, r1\n", 3);
#define DIMS(dims) \
    HEAD ".param r1 x buffer f32 in [" dims "]\n.param r2 n u64\n.param r3 h u32\n    exit\n"
    static const char *const dims[] = {
        DIMS("n + 1"),
        DIMS("n - 1, h"),
        DIMS("n * 3 + h"),
        DIMS("(n + 1) * 3"),
        DIMS("n - (h - 1)"),
        DIMS("n - h - 1"),
        DIMS("n / 2 / h"),
        DIMS("n / (2 * h)"),
        DIMS("n / (2 / h)"),
        DIMS("n * (h / 2)"),
        DIMS("n * h / 2"),
        DIMS("ceil(n / 1024)"),
        DIMS("ceil((n + h) / 4), ceil(n * h / 4)"),
        DIMS("ceil((n / 2) / h)"),
        DIMS("ceil((n / 2 * h) / 3)"),
        DIMS("min(n, h + 1), max(n * 2, ceil(n / h))"),
        DIMS("ceil(min(n, 3) / max(h, 1)) - 18446744073709551615 * h")};
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) round_trip(dims[i], 1);
    round_trip(DIMS("n, h, 5"), 0);
    round_trip(HEAD ".param r2 n u64\n.lanes 4 * n * 2\n    exit\n", 0);
    round_trip(HEAD ".param r2 n u64\n.lanes ceil(n / 4)\n    exit\n", 1);
    round_trip(HEAD ".param r2 n u64\n.lanes n * 4 + 1\n    exit\n", 1);
    round_trip(HEAD ".param r2 n u64\n.scratch r3 s f32 [n + 1]\n.block 16, 16\n.grid ceil(n / "
                    "16), 4\n    exit\n",
               1);
    round_trip(HEAD ".grid 3\n    exit\n", 1);
    round_trip(HEAD ".data r1 k u32 [3] 1, 2, 4294967295\n.data r2 f f32 [2, 2] 0.5, -1.0, nan, "
                    "inf\n.data r3 none u8 [0]\n"
                    ".data r4 one i128 [] 0x5\n    exit\n",
               1);
}

/* Other ways to write the same. */
static void test_spellings(void) {
    static const struct {
        const char *text, *canonical;
    } rows[] = {{HEAD ".param r2 n u64\n.lanes (2 * 2) * n\n    exit\n",
                 HEAD ".param r2 n u64\n.lanes 2 * 2 * n\n    exit\n"},
                {HEAD ".param r2 n u64\n.lanes ((n))\n    exit\n",
                 HEAD ".param r2 n u64\n.lanes n\n    exit\n"},
                {HEAD ".param r2 n u64\n.lanes n + (2 + 3) * 2\n    exit\n",
                 HEAD ".param r2 n u64\n.lanes n + 10\n    exit\n"},
                {HEAD ".lanes ceil(7 / 2) + min(4, 5)\n    exit\n", HEAD ".lanes 8\n    exit\n"},
                {HEAD "    ldg.u32 r1, [r2 + r3*1]\n", HEAD "    ldg.u32 r1, [r2 + r3]\n"},
                {HEAD ".data r1 k u32 7, 8,\n  9\n    exit\n",
                 HEAD ".data r1 k u32 [3] 7, 8, 9\n    exit\n"},
                {HEAD ".data r1 k u32 [3] 7, 8\n.data + 9\n    exit\n",
                 HEAD ".data r1 k u32 [3] 7, 8, 9\n    exit\n"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hg_program *p = assemble(rows[i].text);
        if (p) prints(p, rows[i].canonical);
        hg_program_release(p);
    }
}

static void fails(const char *text, const char *code, const char *message) {
    hg_program *p = NULL;
    CHECK_MESSAGE(hg_program_assemble(text, strlen(text), NULL, &p) == HG_ERROR_ISA, "%s", text);
    CHECK_TEXT(hg_last_error()->code, code);
    CHECK_MESSAGE(strstr(hg_last_error()->message, message) != NULL, "'%s' is not in: %s", message,
                  hg_last_error()->message);
    hg_program_release(p);
}

static void test_mistakes(void) {
    fails(HEAD "    ldg.u32 r1, [r2 + r3*0]\n", "N07", "1 to 65535");
    fails(HEAD "    ldg.u32 r1, [r2 + r3*65536]\n", "N07", "1 to 65535");
    fails(DIMS("n + m"), "D03", "extent 'm'");
    fails(DIMS("ceil(n + 1)"), "S02", "ceil is of one division");
    fails(DIMS("ceil(n / 2 / h)"), "S02", "ceil is of one division");
    fails(DIMS("n / 0 + 3 / 0"), "S04", "division by 0");
    fails(DIMS("3 - 5"), "S04", "below 0");
    fails(DIMS("18446744073709551615 + 1"), "S04", "2^64 or more");
    fails(DIMS("(n"), "S02", "')'");
    fails(HEAD ".grid 1, 2, 3, 4\n    exit\n", "S02", "3 extents");
    fails(HEAD ".grid 1\n.lanes 2\n    exit\n", "D03", "both say");
    fails(HEAD ".lanes 2\n.grid 1\n    exit\n", "D03", "both say");
    fails(HEAD ".data r1 k u32 [2] 1, 2, 3\n    exit\n", "D03", "say 2 elements, there are 3");
    fails(HEAD ".data r1 k u8 256\n    exit\n", "S04", "");
    fails(HEAD ".param r2 n u64\n.data r1 k u8 [n] 5\n    exit\n", "D03", "a number");
    fails(HEAD ".data + 5\n    exit\n", "S02", "none before");
    fails(HEAD ".data r1 k u32 \"x.npy\"\n    exit\n", "P06", "");
    hg_program *p = assemble(
        HEAD ".data r1 k u32 1\n    mov_imm.u32 r2, 3\n    stg.u32 [buf(r1)], r2\n    exit\n");
    CHECK(hg_program_verify(p, NULL) == HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "V11");
    hg_program_release(p);
}

/* ---- tables from files ---- */

typedef struct npy_file {
    uint8_t bytes[128 + 64];
    size_t length;
    int given, released;
} npy_file;

static hg_status give(void *user, const char *from, const char *name, hg_source *source) {
    npy_file *file = user;
    (void)from;
    if (strcmp(name, "taps.npy") != 0) return hg_fail(HG_ERROR_IO, "there is no such file");
    source->name = name;
    source->bytes = file->bytes;
    source->length = file->length;
    file->given++;
    return HG_OK;
}
static void take_back(void *user, hg_source *source) {
    (void)source;
    ((npy_file *)user)->released++;
}

static hg_status assemble_file(const char *text, npy_file *file, hg_program **p) {
    hg_assemble_options options = {
        .size = sizeof options, .resolve = give, .release = take_back, .user = file};
    *p = NULL;
    return hg_program_assemble_with(text, strlen(text), &options, NULL, p);
}

static void test_files(void) {
    static const float taps[6] = {1, 2, 3, 4, 5, 6};
    npy_file file = {.length = 128 + sizeof taps};
    hg_program *p;
    snprintf((char *)file.bytes, 129, "\x93NUMPY\1%c\x76%c%-117s\n", 0, 0,
             "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
    memcpy(file.bytes + 128, taps, sizeof taps);
    CHECK_MESSAGE(assemble_file(HEAD ".data r1 t f32 \"taps.npy\"\n    exit\n", &file, &p) == HG_OK,
                  "%s", hg_last_error()->message);
    if (p) prints(p, HEAD ".data r1 t f32 [2, 3] 1.0, 2.0, 3.0, 4.0, 5.0, 6.0\n    exit\n");
    hg_program_release(p);
    CHECK(assemble_file(HEAD ".data r1 t f32 [2, 3] \"taps.npy\"\n    exit\n", &file, &p) == HG_OK);
    hg_program_release(p);
    CHECK(file.given == 2 && file.released == 2);
    static const struct {
        const char *line, *code;
    } bad[] = {{".data r1 t f32 [3, 2] \"taps.npy\"", "D03"},
               {".data r1 t f64 \"taps.npy\"", "P03"},
               {".data r1 t f32 \"other.npy\"", "P06"},
               {".data r1 t f32 \"taps.npy\", 4", "S02"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, HEAD "%s\n    exit\n", bad[i].line);
        CHECK_MESSAGE(assemble_file(text, &file, &p) == HG_ERROR_ISA, "%s", text);
        CHECK_TEXT(hg_last_error()->code, bad[i].code);
    }
    file.length -= 4;
    CHECK(assemble_file(HEAD ".data r1 t f32 \"taps.npy\"\n    exit\n", &file, &p) == HG_ERROR_ISA);
}

/* Deep parentheses end in a message. */
static void test_depth(void) {
    char text[4096];
    size_t at = (size_t)snprintf(text, sizeof text, HEAD ".param r2 n u64\n.lanes ");
    for (int i = 0; i < 500; i++) text[at++] = '(';
    snprintf(text + at, sizeof text - at, "n\n    exit\n");
    fails(text, "S05", "parentheses");
    at = (size_t)snprintf(text, sizeof text, HEAD ".param r2 n u64\n.lanes n");
    for (int i = 0; i < 400; i++) at += (size_t)snprintf(text + at, sizeof text - at, "+n");
    snprintf(text + at, sizeof text - at, "\n    exit\n");
    fails(text, "S05", "255");
}

/* ---- names of registers, private memory ---- */

static void test_names(void) {
    hg_program *p = assemble(HEAD "    mov_imm.u32 r1, 1\n    mov_imm.u32 r2, 2\n    exit\n"),
               *q = NULL;
    hg_register_name names[] = {{0, 1, 0, 1, "i"}, {0, 3, 1, 0, "done"}, {1, 3, 0, 1, "acc[2, 1]"}};
    uint8_t hash[32], *bytes = NULL;
    size_t length = 0;
    memcpy(hash, hg_program_hash(p), 32);
    p->register_names = names;
    p->register_name_count = 3;
    CHECK(hg_program_encode(p, 0, &bytes, &length) == HG_OK && bytes[10] == 1);
    CHECK_MESSAGE(hg_program_decode(bytes, length, NULL, &q) == HG_OK, "%s",
                  hg_last_error()->message);
    CHECK(memcmp(hash, hg_program_hash(q), 32) == 0);
    CHECK_TEXT(hg_program_register_name(q, 0, false, 1), "i");
    CHECK_TEXT(hg_program_register_name(q, 1, false, 1), "acc[2, 1]");
    CHECK_TEXT(hg_program_register_name(q, 2, true, 0), "done");
    CHECK(hg_program_register_name(q, 0, false, 2) == NULL &&
          hg_program_register_name(q, 3, false, 1) == NULL);
    hg_program_release(q);
    hg_string_free((char *)bytes);
    static const hg_register_name bad[] = {
        {0, 4, 0, 1, "i"}, {1, 1, 0, 1, "i"}, {0, 1, 1, 16, "p"}, {0, 1, 0, 1, "a\tb"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        names[0] = bad[i];
        p->register_name_count = 1;
        CHECK(hg_program_encode(p, 0, &bytes, &length) == HG_OK);
        CHECK(hg_program_decode(bytes, length, NULL, &q) == HG_ERROR_ISA &&
              strcmp(hg_last_error()->code, "B08") == 0);
        hg_string_free((char *)bytes);
    }
    p->register_names = NULL;
    p->register_name_count = 0;
    hg_program_release(p);
}

/* ---- refusals ---- */

static uint8_t *encode(const char *text, size_t *length) {
    hg_program *p = assemble(text);
    uint8_t *bytes = NULL;
    CHECK(hg_program_encode(p, 0, &bytes, length) == HG_OK);
    hg_program_release(p);
    return bytes;
}

/* Where a section begins. */
static uint64_t section(const uint8_t *file, uint32_t kind) {
    for (uint32_t i = 0; i < file[12]; i++) {
        const uint8_t *entry = file + 64 + 24 * i;
        uint64_t at = 0;
        for (int k = 0; k < 8; k++) at |= (uint64_t)entry[8 + k] << (8 * k);
        if (entry[0] == kind) return at;
    }
    CHECK_MESSAGE(false, "no section %u", (unsigned)kind);
    return 0;
}

/* The file with bytes set at a place of a section, its checksum made good again. */
static void refused(const char *what, const uint8_t *file, size_t length, uint32_t kind,
                    uint64_t at, const void *with, size_t count, const char *code) {
    uint8_t *copy = malloc(length);
    hg_program *p = NULL;
    hg_blake3 h;
    memcpy(copy, file, length);
    memcpy(copy + (kind ? section(file, kind) : 0) + at, with, count);
    memset(copy + 24, 0, 32);
    hg_blake3_init(&h);
    hg_blake3_update(&h, copy, length);
    hg_blake3_final(&h, copy + 24);
    hg_status status = hg_program_decode(copy, length, NULL, &p);
    CHECK_MESSAGE(status == HG_ERROR_ISA && strcmp(hg_last_error()->code, code) == 0,
                  "%s: expected %s, got %s %s: %s", what, code, hg_status_name(status),
                  hg_last_error()->code, hg_last_error()->message);
    hg_program_release(p);
    free(copy);
}

static void test_refusals(void) {
    size_t n;
    /* entry, count; then opcode u16, type, register, place, bits, handle register, index, scale u16
     */
    uint8_t *f = encode(HEAD "    ldg.u32 r1, [r2 + r3*4]\n", &n);
    refused("minor 0", f, n, 0, 10, "\0", 1, "B06");
    refused("minor 2", f, n, 0, 10, "\2", 1, "B06");
    refused("minor 3", f, n, 0, 10, "\3", 1, "B06");
    refused("minor 4", f, n, 0, 10, "\4", 1, "B02");
    refused("scale without an index", f, n, HG_SECTION_CODE, 8 + 5, "\2", 1, "B06");
    refused("a third bit", f, n, HG_SECTION_CODE, 8 + 5, "\7", 1, "B06");
    refused("scale 1", f, n, HG_SECTION_CODE, 8 + 8, "\1\0", 2, "B06");
    refused("scale 0", f, n, HG_SECTION_CODE, 8 + 8, "\0\0", 2, "B06");
    hg_string_free((char *)f);
    /* u8 count, then extents: 2, 3 ops: param 0, number 4, ceil-div */
    f = encode(HEAD ".param r2 n u64\n.param r3 f f32\n.grid ceil(n / 4)\n    exit\n", &n);
    refused("no extents", f, n, HG_SECTION_GRID, 0, "\0", 1, "B08");
    refused("four extents", f, n, HG_SECTION_GRID, 0, "\4", 1, "B08");
    refused("tag", f, n, HG_SECTION_GRID, 1, "\3", 1, "B06");
    refused("no operations", f, n, HG_SECTION_GRID, 2, "\0", 1, "B06"); /* bytes are left */
    refused("an operation", f, n, HG_SECTION_GRID, 3 + 2 + 9, "\11", 1, "B08");
    refused("no scalar of u32 or u64", f, n, HG_SECTION_GRID, 3 + 1, "\1", 1, "B08");
    refused("no parameter", f, n, HG_SECTION_GRID, 3 + 1, "\2", 1, "B08");
    hg_string_free((char *)f);
    f = encode(HEAD ".param r2 n u64\n.lanes n - 4\n    exit\n", &n);
    uint64_t lanes = 8 + 12 + 1; /* shared, block, count */
    refused("a product of extents", f, n, HG_SECTION_LAUNCH, lanes + 2 + 2 + 9, "\4", 1, "B08");
    refused("operands missing", f, n, HG_SECTION_LAUNCH, lanes + 1, "\3\2\2\2", 4, "B06");
    hg_string_free((char *)f);
    f = encode(HEAD ".param r2 n u64\n.lanes n - 4 + 3\n    exit\n", &n); /* param, number, sub,
                                                                             number, add */
    refused("an operation of two numbers", f, n, HG_SECTION_LAUNCH, lanes + 2,
            "\0\1\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\1\0\3", 22, "B08");
    hg_string_free((char *)f);
    f = encode(HEAD ".data r1 k u16 [2] 1, 2\n    exit\n", &n);
    refused("more bytes than there are", f, n, HG_SECTION_DATA, 0, "\5", 1, "B03");
    refused("fewer", f, n, HG_SECTION_DATA, 0, "\3", 1, "B06");
    refused("no data behind a section", f, n, HG_SECTION_PARAM, 4 + 1, "\3", 1, "B06");
    refused("extents of another size", f, n, HG_SECTION_PARAM, 4 + 4 + 2 + 1 + 1, "\3", 1, "B08");
    hg_string_free((char *)f);
}

/* ---- values ---- */

static uint64_t random_state = 1;
static uint64_t random_below(uint64_t n) {
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (random_state >> 33) % n;
}

/* A random expression as text, with parentheses everywhere, and its value worked out beside it; -1:
 * it has none. */
enum { PARAMS = 3 };
static const char *const NAMES[PARAMS] = {"n", "h", "w"};
static hg_i128 write_random(char *text, size_t room, int depth, const uint64_t *of, bool *bad) {
    char left[1024], right[1024];
    uint64_t kind = depth == 0 ? random_below(2) : random_below(9);
    if (kind == 0) {
        uint64_t number = random_below(4) ? random_below(20) : (uint64_t)1 << random_below(64);
        snprintf(text, room, "%llu", (unsigned long long)number);
        return (hg_i128)number;
    }
    if (kind == 1) {
        uint64_t which = random_below(PARAMS);
        snprintf(text, room, "%s", NAMES[which]);
        return (hg_i128)of[which];
    }
    hg_i128 a = write_random(left, sizeof left, depth - 1, of, bad),
            b = write_random(right, sizeof right, depth - 1, of, bad), r = 0;
    static const char *const forms[] = {"(%s + %s)",       "(%s - %s)",   "(%s * %s)",  "(%s / %s)",
                                        "ceil((%s) / %s)", "min(%s, %s)", "max(%s, %s)"};
    snprintf(text, room, forms[kind - 2], left, right);
    if (*bad) return 0;
    switch (kind) {
    case 2: r = a + b; break;
    case 3: r = a - b; break;
    case 4:
        *bad = a && b > ((hg_i128)1 << 64) / a;
        r = *bad ? 0 : a * b;
        break;
    case 5:
    case 6:
        *bad = b == 0;
        r = *bad ? 0 : kind == 5 ? a / b : (a + b - 1) / b;
        break;
    case 7: r = a < b ? a : b; break;
    default: r = a > b ? a : b; break;
    }
    *bad = *bad || r < 0 || r >= (hg_i128)1 << 64;
    return *bad ? 0 : r;
}

static bool value_of(void *user, uint16_t param, uint64_t *value) {
    *value = ((const uint64_t *)user)[param];
    return true;
}

static void test_values(void) {
    for (int round = 0; round < 3000; round++) {
        char text[2048], source[2400];
        uint64_t of[PARAMS], value = 0;
        bool bad = false;
        for (int i = 0; i < PARAMS; i++)
            of[i] = random_below(3) ? random_below(50) : (uint64_t)-1 - random_below(5);
        hg_i128 expected = write_random(text, sizeof text, (int)random_below(4), of, &bad);
        snprintf(source, sizeof source,
                 HEAD ".param r1 n u64\n.param r2 h u64\n.param r3 w u64\n.grid %s\n    exit\n",
                 text);
        hg_program *p = NULL;
        hg_status status = hg_program_assemble(source, strlen(source), NULL, &p);
        if (status != HG_OK) { /* numbers alone that have no value */
            CHECK_MESSAGE(strcmp(hg_last_error()->code, "S04") == 0, "%s\n%s",
                          hg_last_error()->message, source);
            continue;
        }
        hg_extent_status found = hg_extent_value(p, &p->grid[0], value_of, of, &value, NULL);
        CHECK_MESSAGE(bad ? found != HG_EXTENT_KNOWN && found != HG_EXTENT_UNKNOWN
                          : found == HG_EXTENT_KNOWN && (hg_i128)value == expected,
                      "%s: %d %llu", text, (int)found, (unsigned long long)value);
        char *canonical = NULL;
        CHECK(hg_program_print(p, &canonical, NULL) == HG_OK);
        round_trip(canonical, 1);
        hg_string_free(canonical);
        hg_program_release(p);
    }
}

/* ---- solving ---- */

/* Only the first parameter has no value. */
static bool but_first(void *user, uint16_t param, uint64_t *value) {
    *value = ((const uint64_t *)user)[param];
    return param != 0;
}

static void test_solving(void) {
    static const struct {
        const char *text;
        uint64_t extent;
        hg_extent_status status;
        uint64_t solved;
    } rows[] = {{"n", 7, HG_EXTENT_KNOWN, 7},
                {"n + 2", 7, HG_EXTENT_KNOWN, 5},
                {"2 + n", 1, HG_EXTENT_NO_VALUE, 0},
                {"n - 2", 7, HG_EXTENT_KNOWN, 9},
                {"20 - n", 7, HG_EXTENT_KNOWN, 13},
                {"20 - n", 21, HG_EXTENT_NO_VALUE, 0},
                {"n * 4", 8, HG_EXTENT_KNOWN, 2},
                {"4 * n", 9, HG_EXTENT_NO_VALUE, 0},
                {"(n + h) * w", 60, HG_EXTENT_KNOWN, 7}, /* h 3, w 6 */
                {"n * (h - 3)", 0, HG_EXTENT_UNKNOWN, 0},
                {"n - 1", UINT64_MAX, HG_EXTENT_TOO_LARGE, 0},
                {"ceil(n / 4)", 3, HG_EXTENT_UNKNOWN, 0},
                {"min(n, 5)", 3, HG_EXTENT_UNKNOWN, 0},
                {"n + n", 4, HG_EXTENT_UNKNOWN, 0},
                {"n + (h - w)", 4, HG_EXTENT_BELOW_ZERO, 0}};
    uint64_t of[PARAMS] = {0, 3, 6};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char source[256];
        uint16_t param = 9;
        uint64_t solved = 0;
        snprintf(source, sizeof source,
                 HEAD ".param r1 n u64\n.param r2 h u64\n.param r3 w u64\n.grid %s\n    exit\n",
                 rows[i].text);
        hg_program *p = assemble(source);
        hg_extent_status status = hg_extent_solve(p, &p->grid[0], rows[i].extent, but_first, of,
                                                  &param, &solved);
        CHECK_MESSAGE(status == rows[i].status &&
                          (status != HG_EXTENT_KNOWN || (solved == rows[i].solved && param == 0)),
                      "%s: %d %llu", rows[i].text, (int)status, (unsigned long long)solved);
        hg_program_release(p);
    }
}

/* ---- the builder ---- */

static void test_builder(void) {
    static const uint32_t k[] = {1, 2, 3};
    hg_builder *b = hg_builder_create("t");
    hg_dim three = hg_dim_of(3), grid[] = {hg_dim_expression("ceil(n / 16)"), hg_dim_of(2)},
           rows = hg_dim_expression("n + 2");
    hg_builder_param_scalar(b, 2, "n", HG_TYPE_U64);
    hg_builder_param_buffer(b, 3, "x", HG_TYPE_U32, HG_PARAM_INOUT, &rows, 1);
    hg_builder_data(b, 1, "k", HG_TYPE_U32, &three, 1, k);
    hg_builder_block(b, 16, 16, 1);
    hg_builder_grid(b, grid, 2);
    hg_build_ldg(b, HG_TYPE_U32, 4, hg_addr_disp(hg_addr_scale(hg_addr_buffer(1, 252), 4), 4));
    hg_build_stg(b, HG_TYPE_U32, hg_addr_scale(hg_addr_buffer(3, 252), 300), 4);
    hg_program *p = NULL;
    CHECK_MESSAGE(hg_builder_build(b, NULL, &p) == HG_OK, "%s", hg_last_error()->message);
    if (p)
        prints(p, HEAD ".param r2 n u64\n.param r3 x buffer u32 inout [n + 2]\n.data r1 k u32 [3] "
                       "1, 2, 3\n.block 16, 16\n"
                       ".grid ceil(n / 16), 2\n    ldg.u32 r4, [r1 + r252*4 + 4]\n    stg.u32 [r3 "
                       "+ r252*300], r4\n");
    hg_program_release(p);
    hg_builder_destroy(b);
    b = hg_builder_create("t");
    hg_dim lanes[] = {hg_dim_expression("ceil(n / 4)"), hg_dim_param("n")};
    hg_builder_param_scalar(b, 2, "n", HG_TYPE_U64);
    hg_builder_lanes(b, lanes, 2);
    hg_build_exit(b);
    p = NULL;
    CHECK(hg_builder_build(b, NULL, &p) == HG_OK);
    if (p) prints(p, HEAD ".param r2 n u64\n.lanes ceil(n / 4) * n\n    exit\n");
    hg_program_release(p);
    hg_builder_destroy(b);
    static const char *const wrong[] = {"n +", "m + 1", "ceil(n)", "1 / 0", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        hg_dim dim = hg_dim_expression(wrong[i]);
        b = hg_builder_create("t");
        hg_builder_param_scalar(b, 2, "n", HG_TYPE_U64);
        hg_builder_lanes(b, &dim, 1);
        CHECK_MESSAGE(hg_builder_build(b, NULL, &p) == HG_ERROR_ISA, "'%s'", wrong[i]);
        CHECK(hg_last_error()->code[0] != 0);
        hg_builder_destroy(b);
    }
}

int main(void) {
    test_round_trips();
    test_spellings();
    test_mistakes();
    test_depth();
    test_files();
    test_names();
    test_refusals();
    test_values();
    test_solving();
    test_builder();
    return test_done();
}
