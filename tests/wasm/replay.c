/* Reading, running and comparing recorded cases. The layout is in tests/cts/record.c. */
#include "wasm/replay.h"
#include "support/library.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNCHECKED = 0x7FFFFFFF, MAX_FAILURES = 50 };

typedef struct reader {
    const uint8_t *at, *end;
    bool failed;
} reader;

typedef struct replay {
    reader in;
    library *library;
    const char *pretend;
    void (*print)(const char *line);
    replay_count *count;
    char name[160];
} replay;

/* ---- reading ---- */

static const uint8_t *take(reader *r, uint64_t n) {
    if (n > (uint64_t)(r->end - r->at)) {
        r->failed = true;
        r->at = r->end;
        return NULL;
    }
    const uint8_t *bytes = r->at;
    r->at += n;
    return bytes;
}

static uint64_t take_number(reader *r, uint32_t bytes) {
    const uint8_t *p = take(r, bytes);
    uint64_t value = 0;
    for (uint32_t i = 0; p && i < bytes; i++) value |= (uint64_t)p[i] << (8 * i);
    return value;
}

static uint32_t take_u32(reader *r) { return (uint32_t)take_number(r, 4); }

/* A copy with a final NUL, owned by the caller. */
static char *take_copy(reader *r, uint64_t n) {
    const uint8_t *bytes = take(r, n);
    char *copy = bytes ? malloc((size_t)n + 1) : NULL;
    if (!copy) {
        r->failed = true;
        return NULL;
    }
    memcpy(copy, bytes, (size_t)n);
    copy[n] = 0;
    return copy;
}

static void take_name(reader *r, char name[32]) {
    const uint8_t *bytes = take(r, 32);
    if (bytes) memcpy(name, bytes, 31);
    name[31] = 0;
}

static void read_case(replay *p, run_case *c) {
    reader *r = &p->in;
    uint64_t n = take_u32(r);
    const uint8_t *name = take(r, n);
    snprintf(p->name, sizeof p->name, "%.*s", name ? (int)n : 0, name ? (const char *)name : "");
    c->length = take_u32(r);
    c->text = take_copy(r, c->length);
    c->cleared_class = take_u32(r);
    for (int i = 0; i < 3; i++) c->launch.grid[i] = take_u32(r);
    for (int i = 0; i < 3; i++) c->launch.block[i] = take_u32(r);
    c->launch.lanes = take_number(r, 8);
    c->launch.shared = take_number(r, 8);
    c->launch.max_steps = take_number(r, 8);
    for (uint32_t i = take_u32(r); i > 0 && c->array_count < CASE_ARRAYS && !r->failed; i--) {
        case_array *a = &c->arrays[c->array_count++];
        take_name(r, a->name);
        a->pool = take_u32(r);
        a->type = (hg_type)take_u32(r);
        a->size = take_number(r, 8);
        a->bytes = (uint8_t *)take_copy(r, a->size);
    }
    for (uint32_t i = take_u32(r); i > 0 && c->scalar_count < CASE_SCALARS && !r->failed; i--) {
        case_scalar *s = &c->scalars[c->scalar_count++];
        take_name(r, s->name);
        s->type = (hg_type)take_u32(r);
        s->bits = take_number(r, 8);
    }
}

/* ---- comparing ---- */

static uint64_t magnitude(hg_type type, const uint8_t *bytes, bool *negative) {
    uint32_t size = (uint32_t)hg_type_size_bytes(type);
    uint64_t bits = 0;
    for (uint32_t i = 0; i < size; i++) bits |= (uint64_t)bytes[i] << (8 * i);
    *negative = bits >> (8 * size - 1) & 1;
    return bits & (((uint64_t)1 << (8 * size - 1)) - 1);
}

/* Equal bits, both NaN, or at most ulp representable values apart. */
static bool agrees(hg_type type, uint32_t ulp, const uint8_t *expected, const uint8_t *actual) {
    static const uint64_t INFINITIES[] = {[HG_TYPE_F16] = 0x7C00,
                                          [HG_TYPE_BF16] = 0x7F80,
                                          [HG_TYPE_F32] = 0x7F800000,
                                          [HG_TYPE_F64] = UINT64_C(0x7FF) << 52};
    if (ulp == UNCHECKED || memcmp(expected, actual, (size_t)hg_type_size_bytes(type)) == 0)
        return true;
    if (type > HG_TYPE_F64) return false;
    bool expected_negative, actual_negative;
    uint64_t e = magnitude(type, expected, &expected_negative),
             a = magnitude(type, actual, &actual_negative), infinity = INFINITIES[type];
    if (e > infinity || a > infinity) return e > infinity && a > infinity;
    if (ulp == 0) return false;
    return (expected_negative == actual_negative ? e > a ? e - a : a - e : e + a) <= ulp;
}

static void fail(replay *p, const char *what) {
    char line[1024];
    p->count->failed++;
    if (p->count->failed > MAX_FAILURES) return;
    snprintf(line, sizeof line, "%s%s%s: %s", p->name, *p->pretend ? " --pretend " : "", p->pretend,
             what);
    p->print(line);
}

static void print_bytes(char text[140], const uint8_t *bytes, uint64_t size) {
    int at = 0;
    for (uint64_t i = size; i-- > 0 && at < 128;)
        at += snprintf(text + at, (size_t)(140 - at), "%02x", bytes[i]);
}

/* True, or a failure has been reported. */
static bool same_array(replay *p, const case_array *a, const uint8_t *expected,
                       const uint8_t *tolerance) {
    uint64_t size = hg_type_size_bytes(a->type);
    for (uint64_t at = 0; at + size <= a->size; at += size) {
        reader r = {.at = tolerance ? tolerance + at / size * 4 : NULL};
        r.end = r.at ? r.at + 4 : NULL;
        uint32_t ulp = tolerance ? take_u32(&r) : 0;
        p->count->values += ulp != UNCHECKED;
        if (agrees(a->type, ulp, expected + at, a->bytes + at)) continue;
        char reason[400], e[140], g[140];
        print_bytes(e, expected + at, size);
        print_bytes(g, a->bytes + at, size);
        snprintf(reason, sizeof reason, "%s, element %llu: expected %s, got %s", a->name,
                 (unsigned long long)(at / size), e, g);
        fail(p, reason);
        return false;
    }
    return true;
}

/* Reads what is expected; all of it, whatever the run gave, to come to the next case. */
static bool compare(replay *p, const run_case *c, const run_result *result) {
    reader *r = &p->in;
    uint32_t kind = take_u32(r);
    const char *got = result->outcome == RUN_OK ? "success" : result->message;
    char reason[700];
    if (kind == 2) {
        const uint8_t *code = take(r, 4);
        uint64_t instruction = take_number(r, 8), lane = take_number(r, 8);
        if (!code) return false;
        if (result->outcome == RUN_FAULT && memcmp(code, result->code, 3) == 0 &&
            instruction == result->instruction && (lane == HG_NONE || lane == result->lane))
            return true;
        snprintf(reason, sizeof reason,
                 "expected %.3s at instruction %llu, lane %lld; got %.3s at %llu, %lld (%s)",
                 (const char *)code, (unsigned long long)instruction, (long long)lane, result->code,
                 (unsigned long long)result->instruction, (long long)result->lane, got);
        fail(p, reason);
        return false;
    }
    bool same = result->outcome == RUN_OK;
    if (!same) fail(p, got);
    for (uint32_t i = 0; i < (kind == 0 ? 1 : c->array_count); i++) {
        const uint8_t *expected = take(r, c->arrays[i].size), *tolerance = NULL;
        uint64_t given = kind == 0 ? take_u32(r) : 0;
        if (given) tolerance = take(r, 4 * given);
        if (!r->failed && same) same = same_array(p, &c->arrays[i], expected, tolerance);
    }
    return same;
}

static void run_one(replay *p) {
    run_case c = {0};
    run_result result = {.outcome = RUN_ERROR};
    hg_program *program = NULL;
    read_case(p, &c);
    if (!p->in.failed) {
        hg_status status = hg_program_assemble(c.text, (size_t)c.length, NULL, &program);
        if (status == HG_OK) status = hg_program_verify(program, NULL);
        if (status == HG_OK)
            library_run(p->library, program, &c, &result);
        else
            snprintf(result.message, sizeof result.message, "%.500s", hg_last_error_text());
        p->count->passed += compare(p, &c, &result);
        hg_program_release(program);
    }
    for (uint32_t i = 0; i < c.array_count; i++) free(c.arrays[i].bytes);
    free(c.text);
}

void replay_run(const uint8_t *file, uint64_t size, const char *pretend,
                void (*print)(const char *line), replay_count *count) {
    replay p = {.in = {.at = file, .end = file + size},
                .pretend = pretend,
                .print = print,
                .count = count,
                .name = "the file"};
    char reason[256];
    const uint8_t *magic = take(&p.in, 8);
    if (!magic || memcmp(magic, "HGCASES1", 8) != 0) {
        fail(&p, "not a file of cases");
        return;
    }
    p.library = library_open("cpu", "", pretend, reason);
    if (!p.library) {
        fail(&p, reason);
        return;
    }
    while (p.in.at < p.in.end) run_one(&p);
    if (p.in.failed) fail(&p, "the file ends early, or memory is used up");
    library_close(p.library);
}
