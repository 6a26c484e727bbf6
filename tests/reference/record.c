/* Cases as bytes, for machines that cannot run the oracle: `cts --record FILE` and
 * `differential --record FILE` write every case with what it must give, and tests/npm/replay.mjs
 * runs and compares them. All numbers are little-endian. A file is "HGCASES1", then for each case:
 *
 *     u32 n, name; u32 n, program text; u32 class to clear; u32 grid[3], block[3];
 *     u64 lanes, shared, max_steps
 *     u32 arrays, each: 32 bytes name, u32 pool, u32 type, u64 n, bytes
 *     u32 scalars, each: 32 bytes name, u32 type, u64 bits
 *     u32 kind:
 *     0: the first array must become: its bytes, u32 given, given x u32 ULPs an element may be off
 *     1: every array must become: its bytes, u32 stride (0: all of it counts), u32 fields of each
 *        stride that count, each: u32 offset, u32 type
 *     2: a fault: 4 bytes code, u64 instruction, u64 lane (HG_NONE: any) */
#include "reference/record.h"
#include "oracle/oracle.h"
#include <string.h>

static void put_number(FILE *f, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) putc((int)(value >> (8 * i) & 0xFF), f);
}

static void put_bytes(FILE *f, const void *bytes, uint64_t n) { fwrite(bytes, 1, n, f); }

static void put_case(FILE *f, const char *name, const run_case *c) {
    put_number(f, strlen(name), 4);
    put_bytes(f, name, strlen(name));
    put_number(f, c->length, 4);
    put_bytes(f, c->text, c->length);
    put_number(f, c->cleared_class, 4);
    for (int i = 0; i < 3; i++) put_number(f, c->launch.grid[i], 4);
    for (int i = 0; i < 3; i++) put_number(f, c->launch.block[i], 4);
    put_number(f, c->launch.lanes, 8);
    put_number(f, c->launch.shared, 8);
    put_number(f, c->launch.max_steps, 8);
    put_number(f, c->array_count, 4);
    for (uint32_t i = 0; i < c->array_count; i++) {
        const case_array *a = &c->arrays[i];
        put_bytes(f, a->name, sizeof a->name);
        put_number(f, a->pool, 4);
        put_number(f, a->type, 4);
        put_number(f, a->size, 8);
        put_bytes(f, a->bytes, a->size);
    }
    put_number(f, c->scalar_count, 4);
    for (uint32_t i = 0; i < c->scalar_count; i++) {
        put_bytes(f, c->scalars[i].name, sizeof c->scalars[i].name);
        put_number(f, c->scalars[i].type, 4);
        put_number(f, c->scalars[i].bits, 8);
    }
}

void record_values(FILE *f, const char *name, const run_case *c, const uint8_t *expected,
                   const uint32_t *tolerance) {
    uint64_t n = c->arrays[0].size / oracle_size(c->arrays[0].type);
    put_case(f, name, c);
    put_number(f, 0, 4);
    put_bytes(f, expected, c->arrays[0].size);
    put_number(f, tolerance ? n : 0, 4);
    for (uint64_t i = 0; i < n && tolerance; i++) put_number(f, tolerance[i], 4);
}

void record_run(FILE *f, const char *name, const run_case *c, const run_case *after,
                const run_result *result) {
    put_case(f, name, c);
    if (result->outcome == RUN_FAULT) {
        put_number(f, 2, 4);
        put_bytes(f, result->code, 4);
        put_number(f, result->instruction, 8);
        put_number(f, result->lane, 8);
        return;
    }
    put_number(f, 1, 4);
    for (uint32_t i = 0; i < after->array_count; i++) {
        const case_array *a = &after->arrays[i];
        put_bytes(f, /* the library makes scratch arrays itself: nothing comes back */
                  c->arrays[i].scratch ? c->arrays[i].bytes : a->bytes, a->size);
        put_number(f, a->stride, 4);
        put_number(f, a->stride ? a->field_count : 0, 4);
        for (uint32_t k = 0; a->stride && k < a->field_count; k++) {
            put_number(f, a->fields[k].offset, 4);
            put_number(f, (uint64_t)a->fields[k].type, 4);
        }
    }
}

FILE *record_open(const char *path) {
    FILE *f = fopen(path, "wb");
    if (f) put_bytes(f, "HGCASES1", 8);
    return f;
}

bool record_close(FILE *f) {
    bool failed = ferror(f);
    return fclose(f) == 0 && !failed;
}
