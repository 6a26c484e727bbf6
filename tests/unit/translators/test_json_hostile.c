/* Documents made to hurt: a hundred megabytes, nesting bombs, a million keys, numbers of a million
 * digits, bytes that are not UTF-8 at the very end. The answer must be right, say where, and take
 * memory in proportion to the text: allocations are counted. Time has no assertion; who hangs is
 * ended by a signal. Documents are made here, none is stored. */
/* test: labels=unit timeout=300 */
#include "base/json_read.h"
#include "isa/program.h"
#include "support/sanitized.h"
#include "test.h"
#include <hologram/hologram.h>
#include <hologram/json_kernel.h>

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { MEGABYTES = SANITIZED ? 10 : 100, THOUSANDS = SANITIZED ? 100 : 1000 };
#define LENGTH ((size_t)MEGABYTES << 20)

/* ---- counted memory: a header of 16 bytes holds the size ---- */

static size_t in_use, peak;

static void *reallocate(void *user, void *memory, size_t bytes) {
    (void)user;
    size_t *old = memory ? (size_t *)memory - 2 : NULL;
    size_t before = old ? old[0] : 0;
    size_t *block = realloc(old, bytes + 16);
    if (!block) return NULL;
    block[0] = bytes;
    in_use += bytes - before;
    if (in_use > peak) peak = in_use;
    return block + 2;
}

static void release(void *user, void *memory) {
    (void)user;
    if (!memory) return;
    in_use -= ((size_t *)memory)[-2];
    free((size_t *)memory - 2);
}

/* ---- texts ---- */

typedef struct text {
    char *data;
    size_t length, capacity;
} text;

static void add(text *t, const char *piece, size_t length) {
    if (t->length + length > t->capacity) {
        t->capacity = (t->length + length) * 2;
        t->data = realloc(t->data, t->capacity);
        if (!t->data) exit(2);
    }
    memcpy(t->data + t->length, piece, length);
    t->length += length;
}

static void put(text *t, const char *piece) { add(t, piece, strlen(piece)); }

static void fill(text *t, char c, size_t count) {
    char block[4096];
    memset(block, c, sizeof block);
    for (; count > sizeof block; count -= sizeof block) add(t, block, sizeof block);
    add(t, block, count);
}

static void repeat(text *t, const char *piece, size_t count) {
    while (count--) put(t, piece);
}

static void done(text *t) {
    free(t->data);
    *t = (text){0};
}

/* ---- the reader ---- */

/* Reads, frees, and holds the memory to `most` bytes. */
static bool reads(const char *what, const text *t, size_t most, hg_json_fault *fault) {
    hg_json_document d;
    size_t before = in_use;
    peak = in_use;
    *fault = (hg_json_fault){0};
    bool good = hg_json_read(&d, t->data, t->length, 0, fault);
    CHECK_MESSAGE(peak - before <= most, "%s: %zu bytes of memory for %zu of text", what,
                  peak - before, t->length);
    hg_json_document_free(&d);
    CHECK_MESSAGE(in_use == before, "%s: %zu bytes are lost", what, in_use - before);
    return good;
}

static void refused(const char *what, const text *t, size_t most, hg_json_fault_kind kind,
                    size_t offset) {
    hg_json_fault fault;
    CHECK_MESSAGE(!reads(what, t, most, &fault), "%s is accepted", what);
    CHECK_MESSAGE(fault.kind == kind && fault.offset == offset,
                  "%s: kind %d at %zu, expected %d at %zu: %s", what, (int)fault.kind, fault.offset,
                  (int)kind, offset, fault.message);
}

static void accepted(const char *what, const text *t, size_t most) {
    hg_json_fault fault;
    CHECK_MESSAGE(reads(what, t, most, &fault), "%s: %s at %zu", what, fault.message, fault.offset);
}

#define ONCE \
    (t.length + t.length / 8 + (1 << 16)) /* the tape is made for one token in eight bytes */

static void test_sizes(void) {
    text t = {0};
    put(&t, "{\"a\":\"");
    fill(&t, 'x', LENGTH);
    put(&t, "\"}");
    accepted("one long string", &t, ONCE);
    t.data[LENGTH / 2] = '\n';
    refused("a line feed in the middle of a long string", &t, ONCE, HG_JSON_BAD_STRING, LENGTH / 2);
    t.data[LENGTH / 2] = 'x';
    t.data[t.length - 3] = (char)0xC3;
    refused("half a character at its end", &t, ONCE, HG_JSON_BAD_UTF8, t.length - 3);
    t.length -= 2;
    t.data[t.length - 1] = 'x';
    refused("its end missing", &t, ONCE, HG_JSON_BAD_SYNTAX, 5);
    done(&t);

    fill(&t, ' ', LENGTH);
    refused("nothing but blanks", &t, ONCE, HG_JSON_BAD_SYNTAX, t.length);
    put(&t, "0");
    fill(&t, '\n', LENGTH / 2);
    accepted("blanks around a number", &t, ONCE);
    done(&t);

    put(&t, "[1");
    repeat(&t, ",1", LENGTH / 8);
    put(&t, "]");
    accepted("as many tokens as fit", &t, t.length * 16);
    t.data[t.length - 1] = ',';
    refused("one comma too many", &t, t.length * 16, HG_JSON_BAD_SYNTAX, t.length);
    done(&t);

    put(&t, "\"");
    repeat(&t, "\\uD834\\uDD1E", LENGTH / 24);
    put(&t, "\"");
    accepted("a string of escapes", &t, ONCE);
    done(&t);

    fill(&t, ' ', (size_t)HG_MAX_SOURCE_BYTES + 1);
    t.data[0] = '1';
    refused("a text above the limit", &t, 4096, HG_JSON_TOO_LONG, 0);
    done(&t);
}

static void test_nesting(void) {
    text t = {0};
    fill(&t, '[', LENGTH);
    refused("nothing but brackets", &t, ONCE, HG_JSON_TOO_DEEP, HG_JSON_DEPTH);
    done(&t);
    repeat(&t, "{\"a\":[", LENGTH / 8);
    refused("objects in arrays", &t, ONCE, HG_JSON_TOO_DEEP, HG_JSON_DEPTH / 2 * 6);
    done(&t);
    fill(&t, '[', HG_JSON_DEPTH);
    fill(&t, ']', HG_JSON_DEPTH);
    accepted("as deep as allowed", &t, 1 << 20);
    done(&t);
    put(&t, "[");
    repeat(&t, "[[[]]],{\"a\":{}},", 200 * THOUSANDS);
    put(&t, "0]");
    accepted("up and down", &t, t.length * 16);
    done(&t);
}

static void test_keys(void) {
    text t = {0};
    char key[64];
    put(&t, "{\"k0\":0");
    for (int i = 1; i < THOUSANDS * 500; i++) {
        snprintf(key, sizeof key, ",\"k%d\":0", i);
        put(&t, key);
    }
    size_t end = t.length;
    put(&t, "}");
    accepted("half a million keys", &t, t.length * 16);
    t.length = end;
    put(&t, ",\"\\u006b1\":0}");
    refused("the second key again, escaped, at the end", &t, t.length * 16, HG_JSON_DUPLICATE_KEY,
            end + 1);
    done(&t);
    put(&t, "{\"\":0");
    for (size_t i = 1; i < 3000; i++) { /* long keys that differ in their last byte only */
        put(&t, ",\"");
        fill(&t, 'x', 3000);
        snprintf(key, sizeof key, "%zu\":0", i);
        put(&t, key);
    }
    put(&t, "}");
    accepted("long keys that look alike", &t, ONCE);
    done(&t);
    put(&t, "[");
    repeat(&t, "{\"a\":1,\"b\":2,\"c\":3},", 100 * THOUSANDS);
    put(&t, "{\"a\":1,\"b\":2,\"a\":3}]");
    refused("a repeated key in the last of many objects", &t, t.length * 16, HG_JSON_DUPLICATE_KEY,
            t.length - 7);
    done(&t);
}

/* The number that is the whole text. */
static double number_of(const char *what, const text *t) {
    hg_json_document d;
    hg_json_fault fault;
    double value = NAN;
    peak = in_use;
    size_t before = in_use;
    if (hg_json_read(&d, t->data, t->length, 0, &fault)) {
        hg_json_number n = hg_json_number_of(&d, 0);
        CHECK_MESSAGE(n.kind == HG_JSON_F64, "%s is kept as an integer", what);
        value = n.f64;
    }
    hg_json_document_free(&d);
    CHECK_MESSAGE(peak - before <= t->length * 4 + (1 << 16),
                  "%s: %zu bytes of memory for %zu of text", what, peak - before, t->length);
    return value;
}

static void test_numbers(void) {
    text t = {0};
    fill(&t, '9', THOUSANDS * 1000);
    CHECK(isinf(number_of("a million nines", &t)));
    put(&t, "e-1000000");
    if (THOUSANDS == 1000) CHECK(number_of("a million nines, scaled down", &t) == 1.0);
    done(&t);
    put(&t, "0.");
    fill(&t, '0', THOUSANDS * 1000);
    put(&t, "1");
    CHECK(number_of("a million zeros behind the point", &t) == 0.0);
    if (THOUSANDS == 1000) {
        put(&t, "e1000001");
        CHECK(number_of("a million zeros, scaled up", &t) == 1.0);
    }
    done(&t);
    put(&t, "1e");
    fill(&t, '9', THOUSANDS * 1000);
    CHECK(isinf(number_of("an exponent of a million digits", &t)));
    done(&t);
    put(&t, "-1e-");
    fill(&t, '9', THOUSANDS * 1000);
    double zero = number_of("a negative exponent of a million digits", &t);
    CHECK(zero == 0 && signbit(zero));
    done(&t);
    put(&t, "1.5");
    fill(&t, '0', THOUSANDS * 1000);
    CHECK(number_of("zeros at the end", &t) == 1.5);
    t.length -= 1;
    put(&t, "1e0");
    CHECK(number_of("a last digit that does not matter", &t) == 1.5);
    done(&t);
    put(&t, "1.00000000000000011102230246251565404236316680908203125"); /* 1 + 2^-53: a tie, unless
                                                                           something follows */
    CHECK(number_of("a tie", &t) == 1.0);
    fill(&t, '0', THOUSANDS * 100);
    put(&t, "1");
    CHECK(number_of("a tie broken after many zeros", &t) == 1.0 + ldexp(1.0, -52));
    done(&t);
}

/* ---- the translator ---- */

static const char HEAD[] = "{\"version\":\"1.0\",\"kernel\":{\"name\":\"k\",\"params\":[{\"name\":"
                           "\"y\",\"type\":{\"kind\":\"device_array\",\"element_type\":"
                           "{\"kind\":\"scalar\",\"type\":\"i32\"}}}],\"body\":[";
static const char TAIL[] = "]}}";
static const char STORE[] = "{\"type\":\"assign\",\"target\":{\"type\":\"index\",\"array\":{"
                            "\"type\":\"var\",\"name\":\"y\"},\"index\":{"
                            "\"type\":\"literal\",\"value\":0}},"
                            "\"value\":";

/* Translates and verifies. code NULL: it must work. most: bytes of memory. */
static void translates(const char *what, const text *t, const char *code, size_t most) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_program *program = NULL;
    size_t before = in_use;
    peak = in_use;
    hg_status status = hg_json_to_isa_translate(t->data, t->length, d, &program);
    CHECK_MESSAGE(peak - before <= most, "%s: %zu bytes of memory for %zu of text", what,
                  peak - before, t->length);
    if (!code) {
        CHECK_MESSAGE(status == HG_OK, "%s: %s", what, hg_last_error_text());
        if (status == HG_OK)
            CHECK_MESSAGE(hg_program_verify(program, d) == HG_OK, "%s: %s", what,
                          hg_last_error_text());
    } else {
        const hg_diagnostic *first = hg_diagnostics_get(d, 0);
        CHECK_MESSAGE(status == HG_ERROR_ISA && !program, "%s is translated", what);
        CHECK_MESSAGE(first && strcmp(first->code, code) == 0 && first->line > 0,
                      "%s: expected %s, got %s %s", what, code, first ? first->code : "nothing",
                      first ? first->message : "");
        CHECK_MESSAGE(hg_diagnostics_count(d) <= 21, "%s: %zu messages are kept", what,
                      hg_diagnostics_count(d));
    }
    hg_program_release(program);
    hg_diagnostics_destroy(d);
}

static void test_kernels(void) {
    text t = {0};
    put(&t, "{\"version\":\"1.0\",\"kernel\":\"");
    fill(&t, 'x', LENGTH);
    put(&t, "\"}");
    translates("a kernel that is a long string", &t, "N03", LENGTH / 8 * 9 + (1 << 20));
    done(&t);

    fill(&t, '[', LENGTH);
    translates("brackets", &t, "S05", LENGTH / 8 * 9 + (1 << 20));
    done(&t);

    const struct {
        const char *name, *open, *middle, *close;
        size_t depth;
    } nests[] = {
        {"sums on the left",
         "{\"type\":\"binary_op\",\"op\":\"add\",\"left\":", "{\"type\":\"literal\",\"value\":1}",
         ",\"right\":{\"type\":\"literal\",\"value\":1}}", 2040},
        {"sums on the right",
         "{\"type\":\"binary_op\",\"op\":\"add\",\"left\":{\"type\":\"literal\",\"value\":1},"
         "\"right\":",
         "{\"type\":\"literal\",\"value\":1}", "}", 2040},
        {"signs", "{\"type\":\"unary_op\",\"op\":\"inv\",\"operand\":",
         "{\"type\":\"literal\",\"value\":1}", "}", 2040},
        {"conversions", "{\"type\":\"call\",\"function\":\"i64\",\"args\":[",
         "{\"type\":\"literal\",\"value\":1}", "]}", 1020},
        {"choices",
         "{\"type\":\"if_expr\",\"condition\":{\"type\":\"literal\",\"value\":true},\"else\":{"
         "\"type\":\"literal\",\"value\":1},\"then\":",
         "{\"type\":\"literal\",\"value\":1}", "}", 2040},
        {"elements", "{\"type\":\"index\",\"array\":{\"type\":\"var\",\"name\":\"y\"},\"index\":",
         "{\"type\":\"literal\",\"value\":0}", "}", 2040},
    };
    for (size_t i = 0; i < HG_COUNT_OF(nests); i++) {
        put(&t, HEAD);
        put(&t, STORE);
        repeat(&t, nests[i].open, nests[i].depth);
        put(&t, nests[i].middle);
        repeat(&t, nests[i].close, nests[i].depth);
        put(&t, "}");
        put(&t, TAIL);
        translates(nests[i].name, &t, NULL, 64 << 20);
        done(&t);
    }

    put(&t, HEAD); /* ifs in ifs */
    repeat(&t,
           "{\"type\":\"if\",\"condition\":{\"type\":\"literal\",\"value\":true},\"then_body\":[",
           1000);
    put(&t, STORE);
    put(&t, "{\"type\":\"literal\",\"value\":1}}");
    repeat(&t, "],\"else_body\":null}", 1000);
    put(&t, TAIL);
    translates("ifs in ifs", &t, NULL, 64 << 20);
    done(&t);

    put(&t, HEAD);
    for (int i = 0; i < 20 * THOUSANDS; i++) {
        if (i) put(&t, ",");
        put(&t, STORE);
        put(&t, "{\"type\":\"literal\",\"value\":1}}");
    }
    put(&t, TAIL);
    translates("many statements", &t, NULL, t.length * 8);
    done(&t);

    put(&t, HEAD);
    for (int i = 0; i < 20 * THOUSANDS; i++)
        put(&t, i ? ",{\"type\":\"nonsense\"}" : "{\"type\":\"nonsense\"}");
    put(&t, TAIL);
    translates("many mistakes", &t, "N01", t.length * 16);
    done(&t);
}

/* What a kernel says of its launches is its own, in a list too. */
static void test_lists(void) {
    static const char TEXT[] =
        "[{\"version\":\"1.0\",\"kernel\":{\"name\":\"a\",\"params\":[],\"body\":[{\"type\":"
        "\"return\"}],\"lanes\":7,\"block\":4,"
        "\"shared\":[{\"name\":\"t\",\"element_type\":{\"type\":\"f32\"},\"length\":3}],"
        "\"private\":[{\"name\":\"o\",\"element_type\":{\"type\":\"u8\"},\"length\":3},"
        "{\"name\":\"p\",\"element_type\":{\"type\":\"i64\"},\"length\":2},{\"name\":\"q\","
        "\"element_type\":{\"type\":\"bool\"},\"length\":"
        "1}]}},"
        "{\"version\":\"1.0\",\"kernel\":{\"name\":\"b\",\"params\":[],\"body\":[{\"type\":"
        "\"return\"}]}}]";
    hg_program **programs = NULL;
    size_t count = 0;
    CHECK(hg_json_to_isa_translate_all(TEXT, strlen(TEXT), NULL, &programs, &count) == HG_OK &&
          count == 2);
    if (count == 2) {
        CHECK(programs[0]->lanes_count == 1 && programs[0]->block[0] == 4 &&
              programs[0]->shared == 12);
        CHECK(programs[0]->private_bytes == 32 && programs[0]->meta_count == 3); /* 3, 5 between,
                                                                                    16, 1, 7 behind
                                                                                  */
        CHECK(strcmp(programs[0]->meta[1].key, "private.p") == 0 &&
              strcmp(programs[0]->meta[1].value, "i64[2] at 8") == 0);
        CHECK(programs[1]->lanes_count == 0 && programs[1]->block[0] == 0 &&
              programs[1]->shared == 0);
        CHECK(programs[1]->private_bytes == 0 && programs[1]->meta_count == 0);
    }
    hg_json_programs_free(programs, count);
}

int main(void) {
    hg_allocator counting = {.size = sizeof counting, .reallocate = reallocate, .release = release};
    if (hg_set_allocator(&counting) != HG_OK) return 2;
    alarm(110);
    test_sizes();
    test_nesting();
    test_keys();
    test_numbers();
    test_kernels();
    test_lists();
    return test_done();
}
