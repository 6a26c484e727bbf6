/* Rows on operands that a compiler knows: what the compiler of a device makes of them must be what
 * the device calculates. literal NAME   every operand is written in the program; also a division by
 * a zero that is known NAME     operands come from buffers, and the row stands where they are known
 * to equal a number (but for NaN and predicates) */
#include "base/base.h"
#include "rows.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_literal(hg_text *t, hg_type type, const char *to, uint32_t number,
                          const uint8_t *bytes) {
    hg_text_addf(t, "    mov_imm.%s %s%u, bits(0x", hg_type_name(type), to, number);
    for (uint32_t b = oracle_size(type); b-- > 0;) hg_text_addf(t, "%02x", bytes[b]);
    hg_text_addf(t, ")\n");
}

static bool equals_itself(hg_type type, const uint8_t *bytes) {
    uint8_t result[1] = {0};
    const uint8_t *args[2] = {bytes, bytes};
    return oracle_eval(HG_OP_SET, type, type, HG_COND_EQ, args, result) == ORACLE_OK && result[0];
}

/* Argument k of tuple i in r10 + k (a predicate in p10 + k too): a literal, or loaded and, past a
 * branch, known. */
static void write_argument(hg_text *t, const row_case *r, bool known, uint32_t k, uint64_t i,
                           const uint8_t *bytes) {
    hg_type type = r->types[k];
    const char *name = hg_type_name(type);
    if (!known)
        write_literal(t, type, "r", 10 + k, bytes);
    else
        hg_text_addf(t, "    ldg.%s r%u, [buf(r%u) + %u]\n", name, 10 + k, 2 + k,
                     (unsigned)(i * oracle_size(type)));
    if (r->predicate[k]) {
        hg_text_addf(t, "    mov_imm.u8 r42, 0\n    setne.u8 p%u, r%u, r42\n", 10 + k, 10 + k);
    } else if (known && equals_itself(type, bytes)) {
        write_literal(t, type, "r", 50, bytes);
        hg_text_addf(t, "    setne.%s p5, r%u, r50\n    bra.p5 @other%u\n", name, 10 + k,
                     (unsigned)i);
    }
}

static void write_program(hg_text *t, const row_case *r, bool known, uint8_t *const *arrays,
                          uint64_t n) {
    hg_text_addf(t, ".atlas 1\n.program cts\n.param r1 out buffer %s out\n",
                 hg_type_name(r->result));
    for (uint32_t k = 0; k < r->count && known; k++)
        hg_text_addf(t, ".param r%u a%u buffer %s in\n", 2 + k, k, hg_type_name(r->types[k]));
    for (uint64_t i = 0; i < n; i++) {
        char instruction[512];
        for (uint32_t k = 0; k < r->count; k++)
            write_argument(t, r, known, k, i, arrays[k] + i * oracle_size(r->types[k]));
        int length = cts_row_instruction(r, instruction, sizeof instruction);
        hg_text_add(t, instruction, (uint64_t)length);
        hg_text_addf(t, "    stg.%s [buf(r1) + %u], r30\n", hg_type_name(r->result),
                     (unsigned)(i * oracle_size(r->result)));
        if (known) hg_text_addf(t, "other%u:\n", (unsigned)i);
    }
}

/* Rows whose every use is long code: a driver's compiler takes seconds for some tens of them. */
static bool is_long(const row_case *r) {
    return hg_op_get(r->op)->numbers != HG_NUMBERS_EXACT || r->op == HG_OP_POWM ||
           (r->op == HG_OP_REM && oracle_is_float(r->type));
}

/* Tuples a program: all edges of one argument, else a sample of their combinations. */
static uint64_t tuples(const cts *s, const row_case *r) {
    uint32_t widest = oracle_size(r->result);
    for (uint32_t k = 0; k < r->count; k++)
        widest = oracle_size(r->types[k]) > widest ? oracle_size(r->types[k]) : widest;
    uint64_t n = widest <= 8 ? 96 : widest <= 32 ? 12 : 3;
    if (is_long(r)) return s->quick ? (n < 6 ? n : 6) : n / 3;
    if (r->count == 1 && widest <= 8) return cts_edge_count(r->types[0]);
    return s->quick && n > 32 ? 32 : n;
}

static void fill(cts *s, const row_case *r, uint8_t *const *arrays, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < r->count; k++) {
            uint32_t edges = cts_edge_count(r->types[k]),
                     edge = r->count == 1 && n >= edges ? (uint32_t)(i % edges)
                                                        : (uint32_t)(cts_random(s) % edges);
            uint8_t *to = arrays[k] + i * oracle_size(r->types[k]);
            cts_edge(r->types[k], edge, to);
            if (r->predicate[k]) *to &= 1;
        }
    if (r->op == HG_OP_POWM) cts_shorten_exponents(r->type, arrays[1], n);
}

static void run_values(cts *s, const row_case *r, const char *row, bool known) {
    uint64_t n = tuples(s, r);
    uint8_t *arrays[CTS_ARGUMENTS] = {NULL};
    run_case c = {.cleared_class = 96};
    uint32_t size = oracle_size(r->result);
    char name[128];
    snprintf(name, sizeof name, "%s %s", known ? "known" : "literal", row);
    case_add_array(&c, "out", r->result, NULL, n * size);
    for (uint32_t k = 0; k < r->count; k++) arrays[k] = calloc(n, oracle_size(r->types[k]));
    uint8_t *expected = calloc(n, size);
    uint32_t *tolerance = calloc(n, sizeof *tolerance);
    bool ok = expected && tolerance, runs = cts_runs(s, name);
    for (uint32_t k = 0; k < r->count; k++) ok = ok && arrays[k];
    if (ok) fill(s, r, arrays, n);
    for (uint64_t i = 0; ok && runs && i < n; i++) {
        uint8_t *args[CTS_ARGUMENTS];
        for (uint32_t k = 0; k < r->count; k++) args[k] = arrays[k] + i * oracle_size(r->types[k]);
        ok = cts_row_result(r, args, expected + i * size, &tolerance[i]);
    }
    hg_text text = {0};
    if (ok && runs) write_program(&text, r, known, arrays, n);
    for (uint32_t k = 0; k < r->count && known && ok; k++) {
        char array[16];
        snprintf(array, sizeof array, "a%u", k);
        case_add_array(&c, array, r->types[k], arrays[k], n * oracle_size(r->types[k]));
    }
    c.text = text.data, c.length = text.length;
    case_set_lanes(&c, 1);
    if (ok)
        cts_check(s, name, r->result, &c, expected, tolerance);
    else
        cts_fail(s, NULL, name, "the oracle does not know this row"), case_free(&c);
    for (uint32_t k = 0; k < r->count; k++) free(arrays[k]);
    free(expected);
    free(tolerance);
}

/* A divisor that is a written zero: the fault, and what was stored before it. */
static void run_division_fault(cts *s, const row_case *r, const char *row) {
    run_case c = {.cleared_class = 96};
    hg_text text = {0};
    uint8_t arrays[CTS_ARGUMENTS][2 * ORACLE_MAX_BYTES] = {{0}}, *pointers[CTS_ARGUMENTS];
    uint32_t size = oracle_size(r->type);
    char name[128];
    for (uint32_t k = 0; k < r->count; k++) {
        arrays[k][0] = (uint8_t)(k + 3);
        arrays[k][size] = k + 1 < r->count ? 5 : 0;
        pointers[k] = arrays[k];
    }
    write_program(&text, r, false, pointers, 2);
    c.text = text.data, c.length = text.length;
    case_add_array(&c, "out", r->result, NULL, 2 * size);
    case_set_lanes(&c, 1);
    snprintf(name, sizeof name, "literal %s", row);
    cts_compare(s, name, &c);
}

static void run_row(cts *s, const row_case *r, const char *name) {
    run_values(s, r, name, false);
    if (oracle_size(r->type) <= 8 && oracle_size(r->type2) <= 8) run_values(s, r, name, true);
    if ((r->op == HG_OP_DIV || r->op == HG_OP_REM || r->op == HG_OP_POWM) &&
        !oracle_is_float(r->type))
        run_division_fault(s, r, name);
}

void cts_known_rows(cts *s) { cts_each_row(s, run_row); }
