/* The binary container: bytes written out by hand from language.md 7, every refusal, the identity
 * decode → encode, damage. */
#include "support/failing_allocator.h"
#include "support/program_text.h"
#include "test.h"
#include "base/base.h"
#include "isa/program.h"
#include <hologram/builder.h>
#include <hologram/program.h>

#include <stdlib.h>

#define HEAD ".atlas 1\n.program t\n"

/* ---- bytes by hand ---- */

typedef struct bytes {
    uint8_t data[4096];
    size_t length;
} bytes;

static void le(bytes *b, uint64_t value, int count) {
    for (int i = 0; i < count; i++) b->data[b->length++] = (uint8_t)(value >> (8 * i));
}
static void text(bytes *b, const char *s) {
    memcpy(b->data + b->length, s, strlen(s));
    b->length += strlen(s);
}
static void name(bytes *b, const char *s) {
    le(b, strlen(s), 1);
    text(b, s);
}
static void align(bytes *b) {
    while (b->length % 8) le(b, 0, 1);
}
static void set(uint8_t *at, uint64_t value, int count) {
    for (int i = 0; i < count; i++) at[i] = (uint8_t)(value >> (8 * i));
}
static void seal(uint8_t *file, size_t length) {
    hg_blake3 h;
    memset(file + 24, 0, 32);
    hg_blake3_init(&h);
    hg_blake3_update(&h, file, length);
    hg_blake3_final(&h, file + 24);
}

static const char SOURCE[] = ".atlas 1\n.program axpy\n.param r1 x buffer f32 in [n, 3]\n.param r2 "
                             "y buffer i16 out []\n.param r3 z buffer "
                             "u8 inout\n.param r6 tmp pool 36864\n"
                             ".param r4 n u64 = 16\n.param r5 alpha f32\n.shared 32\n.block "
                             "8\n.lanes n * 2\n.entry start\n.flag "
                             "relaxed\n.meta author \"A\\n\\\"b\"\n.meta key \"\"\n"
                             "    mov_imm.i128 r9, -2\nstart:\nalias:\n    setgeu.u64 p3, r255, "
                             "r4\n    bra.p3 @done\n    bra @.L7\n.L7:\n "
                             "   ldg.f32 r10, [r1 + r255 - 4]\n"
                             "    ldg.f32 r10, [buf42 + 128]\n    stg.f32 [phi(5, 12, 200)], r10\n "
                             "   atom.cas.u32 r20, [class21 + r252], "
                             "r252, r253\n    rdid r8, lane_count\n"
                             "    memfence.device\n    parallel_map.f32 [buf(r2) + 16], r1, "
                             "reciprocal, 5\n    reduce.add.f32 r11, r10, "
                             "1\n    pool.alloc pool3, r4\ndone:\n    exit\n";

static void hand_code(bytes *b) {
    le(b, 1, 4), le(b, 14, 4); /* entry, count */
    le(b, 0x006, 2), le(b, 8, 1), le(b, 9, 1), le(b, (uint64_t)-2, 8),
        le(b, UINT64_MAX, 8); /* mov_imm.i128
                                 r9,
                                 -2
                               */
    le(b, 0x046, 2), le(b, 17, 1), le(b, 9, 1), le(b, 3, 1), le(b, 255, 1),
        le(b, 4, 1);                             /* setgeu.u64
                                                    p3,
                                                    r255, r4
                                                  */
    le(b, 0x060, 2), le(b, 3, 1), le(b, 13, 4);  /* bra.p3 @done */
    le(b, 0x060, 2), le(b, 255, 1), le(b, 4, 4); /* bra @.L7 */
    le(b, 0x001, 2), le(b, 2, 1), le(b, 10, 1), le(b, 6, 1), le(b, 1, 1), le(b, 1, 1),
        le(b, 255, 1), le(b, (uint64_t)-4, 8);
    le(b, 0x001, 2), le(b, 2, 1), le(b, 10, 1), le(b, 0, 1), le(b, 0, 1), le(b, 42, 8),
        le(b, 128, 8);
    le(b, 0x002, 2), le(b, 2, 1), le(b, 4, 1), le(b, 0, 1), le(b, 5, 1), le(b, 12, 1),
        le(b, 200, 1), le(b, 0, 8), le(b, 10, 1);
    le(b, 0x0D7, 2), le(b, 16, 1), le(b, 20, 1), le(b, 3, 1), le(b, 1, 1), le(b, 21, 1),
        le(b, 252, 1), le(b, 0, 8), le(b, 252, 1), le(b, 253, 1);
    le(b, 0x008, 2), le(b, 8, 1), le(b, 13, 1); /* rdid r8, lane_count */
    le(b, 0x071, 2), le(b, 2, 1);               /* memfence.device */
    le(b, 0x0C0, 2), le(b, 2, 1), le(b, 6, 1), le(b, 0, 1), le(b, 2, 1), le(b, 16, 8), le(b, 8, 1),
        le(b, 1, 1), le(b, 14, 1), le(b, 0, 1), le(b, 5, 8);
    le(b, 0x0A0, 2), le(b, 2, 1), le(b, 11, 1), le(b, 10, 1), le(b, 1, 1); /* reduce.add.f32 r11,
                                                                              r10, 1 */
    le(b, 0x0B1, 2), le(b, 3, 8), le(b, 1, 1), le(b, 4, 1); /* pool.alloc pool3, r4 */
    le(b, 0x064, 2);
}

static void hand_params(bytes *b) {
    le(b, 6, 4);
    le(b, 1, 1), le(b, 1, 1), le(b, 2, 1), le(b, 1, 1), name(b, "x"), le(b, 2, 1), le(b, 1, 1),
        le(b, 4, 1), le(b, 0, 1), le(b, 3, 8);
    le(b, 2, 1), le(b, 1, 1), le(b, 5, 1), le(b, 2, 1), name(b, "y"), le(b, 0, 1);
    le(b, 3, 1), le(b, 1, 1), le(b, 14, 1), le(b, 3, 1), name(b, "z"), le(b, 255, 1);
    le(b, 6, 1), le(b, 2, 1), le(b, 0, 1), le(b, 0, 1), name(b, "tmp"), le(b, 36864, 8);
    le(b, 4, 1), le(b, 0, 1), le(b, 17, 1), le(b, 0, 1), name(b, "n"), le(b, 1, 1), le(b, 16, 8);
    le(b, 5, 1), le(b, 0, 1), le(b, 2, 1), le(b, 0, 1), name(b, "alpha"), le(b, 0, 1);
}

static void hand_rest(bytes *b, int kind) {
    if (kind == 3)
        le(b, 32, 8), le(b, 8, 4), le(b, 1, 4), le(b, 1, 4), le(b, 2, 1), le(b, 1, 1), le(b, 4, 1),
            le(b, 0, 1), le(b, 2, 8);
    if (kind == 4)
        name(b, "axpy"), le(b, 3, 4), le(b, 1, 4), name(b, "alias"), le(b, 1, 4), name(b, "start"),
            le(b, 13, 4), name(b, "done");
    if (kind == 5)
        le(b, 2, 4), name(b, "author"), le(b, 4, 4), text(b, "A\n\"b"), name(b, "key"), le(b, 0, 4);
}

static void test_bytes(void) {
    bytes file = {.length = 0};
    bytes hashed = {.length = 0};
    text(&file, "\x89"
                "ATLASB\n");
    le(&file, 1, 2), le(&file, 0, 2), le(&file, 5, 4), le(&file, 0, 8), le(&file, 0, 8),
        le(&file, 0, 8), le(&file, 0, 8), le(&file, 0, 8), le(&file, 1, 4), le(&file, 0, 4);
    size_t table = file.length;
    CHECK_U64(table, 64);
    for (int i = 0; i < 5 * 3; i++) le(&file, 0, 8);
    memcpy(hashed.data, "ATLASB\0\1", 8);
    hashed.length = 8;
    le(&hashed, 1, 4);
    for (int kind = 1; kind <= 5; kind++) {
        align(&file);
        size_t start = file.length;
        if (kind == 1) hand_code(&file);
        if (kind == 2) hand_params(&file);
        hand_rest(&file, kind);
        set(file.data + table, (uint64_t)kind, 4);
        set(file.data + table + 8, start, 8);
        set(file.data + table + 16, file.length - start, 8);
        table += 24;
        if (kind > 3) continue;
        le(&hashed, (uint64_t)kind, 4), le(&hashed, file.length - start, 8);
        memcpy(hashed.data + hashed.length, file.data + start, file.length - start);
        hashed.length += file.length - start;
    }
    set(file.data + 16, file.length, 8);
    seal(file.data, file.length);

    hg_program *p = assemble(SOURCE);
    uint8_t *encoded = NULL, hash[32];
    size_t length = 0;
    CHECK(hg_program_encode(p, 0, &encoded, &length) == HG_OK);
    CHECK_U64(length, file.length);
    for (size_t i = 0; i < length && i < file.length; i++)
        if (encoded[i] != file.data[i] && (i < 24 || i >= 56)) {
            CHECK_MESSAGE(false, "byte %zu: expected %02x, got %02x", i, file.data[i], encoded[i]);
            break;
        }
    CHECK(length == file.length && memcmp(encoded, file.data, length) == 0);
    hg_string_free((char *)encoded);
    hg_blake3 h;
    hg_blake3_init(&h);
    hg_blake3_update(&h, hashed.data, hashed.length);
    hg_blake3_final(&h, hash);
    CHECK(memcmp(hg_program_hash(p), hash, 32) == 0);
    hg_program *q = NULL;
    CHECK(hg_program_decode(file.data, file.length, NULL, &q) == HG_OK);
    if (q) {
        CHECK(memcmp(hg_program_hash(q), hash, 32) == 0);
        CHECK_TEXT(hg_program_name(q), "axpy");
        CHECK_U64(hg_program_len(q), 14);
        CHECK_U64(hg_program_param_count(q), 6);
        CHECK_TEXT(hg_program_param_name(q, 3), "tmp");
        CHECK(hg_program_param_name(q, 6) == NULL);
        CHECK_TEXT(hg_program_meta(q, "author"), "A\n\"b");
        CHECK(hg_program_meta(q, "nothing") == NULL);
        hg_program_release(hg_program_retain(q));
    }
    hg_program_release(q);
    hg_program_release(p);
}

/* Names, metadata and debug data are not in the program hash; anything else is. */
static void test_hash(void) {
    hg_program *a = assemble(HEAD "    mov_imm.u32 r1, 1\nl:\n    exit\n");
    hg_program *b = assemble(
        ".atlas 1\n.program other\n.meta k \"v\"\n    mov_imm.u32 r1, 1 ; comment\nm:\n    exit\n");
    hg_program *c = assemble(HEAD "    mov_imm.u32 r1, 2\n    exit\n");
    hg_program *d = assemble(HEAD ".shared 4\n    mov_imm.u32 r1, 1\n    exit\n");
    CHECK(memcmp(hg_program_hash(a), hg_program_hash(b), 32) == 0);
    CHECK(memcmp(hg_program_hash(a), hg_program_hash(c), 32) != 0);
    CHECK(memcmp(hg_program_hash(a), hg_program_hash(d), 32) != 0);
    hg_program_release(a);
    hg_program_release(b);
    hg_program_release(c);
    hg_program_release(d);
}

/* ---- refusals ---- */

static uint8_t *encode(const char *source, uint32_t flags, size_t *length) {
    hg_program *p = assemble(source);
    uint8_t *b = NULL;
    CHECK(hg_program_encode(p, flags, &b, length) == HG_OK);
    hg_program_release(p);
    return b;
}

static void refused(const char *what, const void *file, size_t length, const char *code) {
    hg_program *p = NULL;
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_status status = hg_program_decode(file, length, d, &p);
    CHECK_MESSAGE(status == HG_ERROR_ISA && strcmp(hg_last_error()->code, code) == 0,
                  "%s: expected %s, got %s %s: %s", what, code, hg_status_name(status),
                  hg_last_error()->code, hg_last_error()->message);
    CHECK_U64(hg_diagnostics_errors(d), 1);
    hg_diagnostics_destroy(d);
    hg_program_release(p);
}

/* The file with `count` bytes at `at` set to value and its checksum made good again. */
static void refused_with(const char *what, const uint8_t *file, size_t length, size_t at,
                         uint64_t value, int count, const char *code) {
    uint8_t *copy = malloc(length);
    memcpy(copy, file, length);
    set(copy + at, value, count);
    seal(copy, length);
    refused(what, copy, length, code);
    free(copy);
}

static void test_refusals(void) {
    size_t n;
    uint8_t *f = encode(HEAD "    mov_imm.u32 r1, 7\n    bra @l\nl:\n    exit\n", 0, &n); /* code at
                                                                                             112:
                                                                                             entry,
                                                                                             count,
                                                                                             mov_imm
                                                                                             at 120
                                                                                           */
    uint64_t code = 112, names = 0;
    for (int i = 0; i < 8; i++) names |= (uint64_t)f[64 + 24 + 8 + i] << (8 * i);
    refused("empty", f, 0, "B01");
    refused("text", ".atlas 1\n", 9, "B01");
    refused("a beginning", f, 7, "B03");
    refused("only a header", f, 64, "B03");
    for (size_t k = 8; k < n; k++) refused("truncated", f, k, "B03");
    refused_with("other major", f, n, 8, 2, 2, "B02");
    refused_with("higher minor", f, n, 10, 4, 2, "B02");
    refused_with("a minor that it does not need", f, n, 10, 1, 2, "B06");
    refused_with("another minor that it does not need", f, n, 10, 2, 2, "B06");
    refused_with("size too large", f, n, 16, n + 1, 8, "B03");
    refused_with("size too small", f, n, 16, n - 1, 8, "B06");
    for (size_t k = 24; k < n; k++) {
        f[k] ^= 0x40;
        refused("damaged", f, n, "B04");
        f[k] ^= 0x40;
    }
    refused_with("unknown flag", f, n, 56, 2, 4, "B06");
    refused_with("reserved word", f, n, 60, 1, 4, "B06");
    refused_with("no sections", f, n, 12, 0, 4, "B05");
    refused_with("too many sections", f, n, 12, 7, 4, "B05");
    refused_with("very many sections", f, n, 12, UINT32_MAX, 4, "B05");
    refused_with("one section", f, n, 12, 1, 4, "B05");
    refused_with("a kind twice", f, n, 64 + 24, 1, 4, "B05");
    refused_with("unknown kind", f, n, 64 + 24, 9, 4, "B05");
    refused_with("reserved word of an entry", f, n, 64 + 4, 1, 4, "B05");
    refused_with("a gap", f, n, 64 + 8, code + 8, 8, "B05");
    refused_with("a section behind the end", f, n, 64 + 16, UINT64_MAX - 4, 8, "B05");
    refused_with("a section too small", f, n, 64 + 16, 4, 8, "B05");
    refused_with("entry too large", f, n, code, 4, 4, "B08");
    refused_with("one instruction more", f, n, code + 4, 4, 4, "B03");
    refused_with("one instruction less", f, n, code + 4, 2, 4, "B06");
    refused_with("very many instructions", f, n, code + 4, UINT32_MAX, 4, "S05");
    refused_with("unknown opcode", f, n, code + 8, 0x3FF, 2, "B07");
    refused_with("opcode out of the table", f, n, code + 8, 0xFFFF, 2, "B07");
    refused_with("unknown type", f, n, code + 10, 24, 1, "B08");
    refused_with("predicate 16", f, n, code + 18, 16, 1, "B08");
    refused_with("target behind the end", f, n, code + 19, 4, 4, "B08");
    refused_with("program without a name", f, n, names, 0, 1, "B08");
    refused_with("a digit as name", f, n, names + 1, '7', 1, "B08");
    refused_with("a zero byte in a name", f, n, names + 1, 0, 1, "B08");
    refused_with("very many labels", f, n, names + 2, UINT32_MAX, 4, "S05");
    refused_with("many labels", f, n, names + 2, 1048576, 4, "B03");
    refused_with("label behind the end", f, n, names + 6, 4, 4, "B08");
    uint8_t *longer = calloc(n + 8, 1);
    memcpy(longer, f, n);
    refused("bytes after the end", longer, n + 8, "B06");
    free(longer);
    hg_string_free((char *)f);
}

static void test_canonical(void) {
    size_t n;
    uint8_t *f = encode(HEAD ".meta a \"1\"\n.meta b \"2\"\n    bra @b\na:\nb:\n    exit\n", 0, &n);
    uint64_t meta = 0, names = 0;
    for (int i = 0; i < 8; i++)
        names |= (uint64_t)f[64 + 24 + 8 + i] << (8 * i),
            meta |= (uint64_t)f[64 + 48 + 8 + i] << (8 * i);
    refused_with("metadata out of order", f, n, meta + 5, 'c', 1, "B06");
    refused_with("metadata twice", f, n, meta + 5, 'b', 1, "B06");
    refused_with("metadata empty", f, n, meta, 0, 4, "B06");
    refused_with("labels out of order", f, n, names + 11, 'c', 1, "B06");
    refused_with("a label twice", f, n, names + 11, 'b', 1, "B06");
    refused_with("a bad label", f, n, names + 11, '-', 1, "B08");
    hg_string_free((char *)f);
    f = encode(HEAD "    bra @aL0\naL0:\n    exit\n", 0, &n);
    for (int i = 0; i < 8; i++)
        names = i ? names | (uint64_t)f[64 + 24 + 8 + i] << (8 * i) : f[64 + 24 + 8];
    refused_with("a local label", f, n, names + 11, '.', 1, "B06");
    hg_string_free((char *)f);
}

static void check_identity(const uint8_t *file, size_t length);

/* Where expressions of statements end: a section of its own, of minor version 3, outside the hash;
 * a text without statements has none. */
static void test_expressions(void) {
    static const char TEXT[] = ".atlas 1\n.program e\n.param x buffer u32 inout\n"
                               ".param n u64\n.lanes n\n    x[global] = x[global] + 3 * n_of\n";
    char text[256];
    size_t n, m, k;
    snprintf(text, sizeof text, "%s", TEXT);
    memcpy(strstr(text, "n_of"), "lane", 4);
    uint8_t *plain = encode(text, 0, &n), *debug = encode(text, HG_PROGRAM_DEBUG, &m),
            *again = NULL;
    hg_program *p = NULL;
    CHECK(plain[10] < 3 && debug[10] == 3);
    CHECK(hg_program_decode(debug, m, NULL, &p) == HG_OK);
    CHECK(p->lengths && p->lines[0] == 6 && p->columns[0] == 17 && p->lengths[0] == 9);
    uint32_t last = p->inst_count - 1;
    CHECK(p->columns[last] == 5 && p->lengths[last] == 9);
    CHECK(p->columns[last - 1] == 17 && p->lengths[last - 1] == strlen("x[global] + 3 * lane"));
    CHECK(hg_program_encode(p, HG_PROGRAM_DEBUG, &again, &k) == HG_OK);
    CHECK(k == m && memcmp(again, debug, m) == 0);
    hg_program *without = NULL;
    CHECK(hg_program_decode(plain, n, NULL, &without) == HG_OK);
    CHECK(!without->lengths && memcmp(hg_program_hash(p), hg_program_hash(without), 32) == 0);
    hg_program_release(p);
    hg_program_release(without);
    hg_string_free((char *)again);
    hg_string_free((char *)plain);
    hg_string_free((char *)debug);
}

static void test_debug(void) {
    size_t n, m;
    uint8_t *plain = encode(SOURCE, 0, &n), *debug = encode(SOURCE, HG_PROGRAM_DEBUG, &m);
    CHECK(m > n);
    check_identity(plain, n);
    check_identity(debug, m);
    hg_program *p = NULL;
    hg_diagnostics *d = hg_diagnostics_create(0);
    uint8_t *wrong = encode(HEAD "\n    mov_imm.u32 r1, 1\n    add.f32 r2, r1, r1\n",
                            HG_PROGRAM_DEBUG, &n);
    hg_string_free((char *)plain);
    CHECK(hg_program_decode(wrong, n, NULL, &p) == HG_OK);
    CHECK(hg_program_verify(p, d) == HG_ERROR_ISA);
    CHECK_U64(hg_last_error()->line, 5);
    CHECK_U64(hg_last_error()->column, 5);
    CHECK_U64(hg_last_error()->instruction, 1);
    CHECK_U64(hg_last_error()->operand, 2);
    hg_diagnostics_destroy(d);
    hg_program_release(p);
    hg_string_free((char *)wrong);
    hg_string_free((char *)debug);
}

/* ---- identity and damage ---- */

/* What is accepted is written back byte for byte, prints as text that assembles to the same, and
 * the verifier takes it. */
static void check_identity(const uint8_t *file, size_t length) {
    hg_program *p = NULL, *q = NULL;
    uint8_t *again = NULL;
    char *printed = NULL;
    size_t n = 0, characters = 0;
    if (hg_program_decode(file, length, NULL, &p) != HG_OK) return;
    CHECK(hg_program_encode(p, HG_PROGRAM_DEBUG, &again, &n) == HG_OK);
    CHECK_MESSAGE(n == length && memcmp(again, file, n) == 0,
                  "decode then encode changes the bytes");
    hg_status status = hg_program_verify(p, NULL);
    CHECK(status == HG_OK || status == HG_ERROR_ISA);
    CHECK(hg_program_print(p, &printed, &characters) == HG_OK);
    status = hg_program_assemble(printed, characters, NULL, &q);
    CHECK_MESSAGE(status == HG_OK, "%s\n%s", hg_last_error()->message, printed ? printed : "");
    if (q)
        CHECK_MESSAGE(memcmp(hg_program_hash(p), hg_program_hash(q), 32) == 0,
                      "print then assemble changes the program:\n%s", printed);
    hg_program_release(q);
    hg_string_free(printed);
    hg_string_free((char *)again);
    hg_program_release(p);
}

static uint64_t seed = 1;
static uint64_t random_u64(void) { /* splitmix64, Steele, Lea, Flood 2014 */
    uint64_t z = (seed += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void test_damage(uint32_t rounds) {
    size_t n, accepted = 0;
    uint8_t *file = encode(SOURCE, HG_PROGRAM_DEBUG, &n), *copy = malloc(n + 16);
    for (uint32_t i = 0; i < rounds; i++) {
        memcpy(copy, file, n);
        size_t length = n;
        for (uint64_t k = 1 + random_u64() % 3; k > 0; k--)
            copy[random_u64() % n] = (uint8_t)(random_u64() % 4 ? random_u64() % 32 : random_u64());
        if (i % 16 == 0) length = random_u64() % n;
        if (i % 16 == 1) length += random_u64() % 16;
        if (length >= 56) seal(copy, length);
        hg_program *p = NULL;
        accepted += hg_program_decode(copy, length, NULL, &p) == HG_OK;
        hg_program_release(p);
        check_identity(copy, length);
    }
    CHECK_MESSAGE(accepted > rounds / 20 && accepted < rounds, "%zu of %u accepted", accepted,
                  (unsigned)rounds);
    free(copy);
    hg_string_free((char *)file);
}

/* ---- out of memory at every allocation ---- */

static failing_allocator memory;

static void test_out_of_memory(void) {
    hg_allocator hooks = {.size = sizeof hooks,
                          .user = &memory,
                          .reallocate = failing_reallocate,
                          .release = failing_release};
    CHECK(hg_set_allocator(&hooks) == HG_OK);
    allow_allocations(&memory, UINT64_MAX);
    size_t n, m;
    uint8_t *file = encode(SOURCE, HG_PROGRAM_DEBUG, &n), *again = NULL;
    uint64_t before = memory.live, k = 0;
    for (bool done = false; !done && k < 1000; k++) {
        allow_allocations(&memory, k);
        hg_program *p = NULL;
        hg_status status = hg_program_decode(file, n, NULL, &p);
        if (status == HG_OK) status = hg_program_encode(p, 0, &again, &m);
        done = status == HG_OK;
        CHECK(done || status == HG_ERROR_OUT_OF_MEMORY);
        if (done) hg_string_free((char *)again);
        hg_program_release(p);
        CHECK_U64(memory.live, before);
    }
    CHECK(k > 5 && k < 1000);
    allow_allocations(&memory, UINT64_MAX);
    hg_string_free((char *)file);
    CHECK_U64(memory.live, 0);
    CHECK(hg_set_allocator(NULL) == HG_OK);
}

int main(int argc, char **argv) { /* argument: how many damaged files */
    test_out_of_memory();         /* first: the hooks are to be set before anything else */
    test_bytes();
    test_hash();
    test_refusals();
    test_canonical();
    test_debug();
    test_expressions();
    test_damage(argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 5000);
    return test_done();
}
