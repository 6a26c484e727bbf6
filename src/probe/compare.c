/* What differences between the expected and a device's results mean: which operations are inexact,
 * or that subnormals are lost. */
#include "probe/probe_internal.h"
#include <string.h>

static uint64_t operand(const probe_comparison *c, uint32_t lane, bool f64, int k) {
    uint64_t bits;
    memcpy(&bits, c->operands + ((size_t)(f64 ? k : 3 + k) * PROBE_LANES + lane) * 8, 8);
    return bits;
}
static uint64_t cell(const uint8_t *results, int column, uint32_t lane) {
    uint64_t v;
    memcpy(&v, results + ((size_t)column * PROBE_LANES + lane) * 8, 8);
    return v;
}

static uint64_t magnitude(uint64_t bits, bool f64) {
    return f64 ? bits & (UINT64_MAX >> 1) : bits & 0x7FFFFFFF;
}
static bool is_nan(uint64_t bits, bool f64) {
    return magnitude(bits, f64) > (f64 ? UINT64_C(0x7FF0000000000000) : 0x7F800000);
}
/* Not zero, and not above the smallest normal number: what a device that flushes may lose. */
static bool is_tiny(uint64_t bits, bool f64) {
    uint64_t m = magnitude(bits, f64);
    return m && m <= (f64 ? UINT64_C(0x0010000000000000) : 0x00800000);
}

static bool same_result(uint8_t format, uint64_t x, uint64_t y) {
    if (x == y) return true;
    if (format == HG_TYPE_F32 || format == HG_TYPE_F64)
        return is_nan(x, format == HG_TYPE_F64) && is_nan(y, format == HG_TYPE_F64);
    if (format == HG_TYPE_F16) return (x & 0x7FFF) > 0x7C00 && (y & 0x7FFF) > 0x7C00;
    if (format == HG_TYPE_BF16) return (x & 0x7FFF) > 0x7F80 && (y & 0x7FFF) > 0x7F80;
    return false;
}

/* Whether a subnormal number has a part in this lane's result: as an operand, as the result, or on
 * the way. */
static bool touches_tiny(const probe_comparison *c, probe_test id, bool f64, uint32_t lane) {
    static const probe_test STEPS[] = {T_ADD, T_SUB, T_MUL, T_DIV, T_SQRT};
    uint8_t format = hg_probe_result_format(id, f64);
    uint64_t expected = cell(c->expected, c->columns[f64][id], lane);
    if (id == T_DOT4_S || id == T_DOT4_U) return false; /* of bytes */
    if ((format == HG_TYPE_F32 || format == HG_TYPE_F64) &&
        is_tiny(expected, format == HG_TYPE_F64))
        return true;
    for (int k = 0; k < 3; k++)
        if (is_tiny(operand(c, lane, f64, k), f64)) return true;
    if (id == T_BRAIN_WIDEN || id == T_BRAIN_NARROW)
        return true; /* a bf16 is subnormal where an f32 is */
    for (size_t i = 0; id >= PROBE_FIRST_COMBINED && i < HG_COUNT_OF(STEPS); i++)
        if (is_tiny(cell(c->expected, c->columns[f64][STEPS[i]], lane), f64)) return true;
    return false;
}

static void mark(const probe_comparison *c, probe_test id, bool f64) {
    hg_probe_result *r = c->result;
    if (id == T_FMA) {
        r->fma[f64] = true;
    } else if (id >= PROBE_FIRST_ZERO) {
        r->folds_zeros = true;
    } else if (id >= T_HALF_WIDEN && id <= T_BRAIN_NARROW) {
        r->half = true;
    } else if (id == T_DOT4_S || id == T_DOT4_U) {
        r->dot4 = true;
    } else {
        bool wide = f64 || id == T_CONVERT;
        for (int i = 0; i < 2 && PROBE_TESTS[id].ops[i] != PROBE_NONE; i++) {
            r->inexact[PROBE_TESTS[id].ops[i]][wide] = true;
            if (id >= PROBE_FIRST_COMBINED) r->inexact[PROBE_TESTS[id].ops[i]][1] = true;
        }
    }
}

/* Whether an operation of a test with several is lowered already, so that the test proves nothing
 * more. */
static bool explained(const probe_comparison *c, probe_test id, bool f64) {
    const uint8_t ops[] = {PROBE_TESTS[id].ops[0], PROBE_TESTS[id].ops[1], PROBE_TESTS[id].part};
    bool lowered = false;
    for (size_t i = 0; i < HG_COUNT_OF(ops); i++)
        lowered |= ops[i] != PROBE_NONE && c->result->inexact[ops[i]][f64];
    return id >= PROBE_FIRST_COMBINED && lowered;
}

/* Sums, products and comparisons that lose subnormals: then the whole format is handled as a
 * flushing one (kir_caps.subnormals), which costs less than integer code. */
static bool makes_flushing(probe_test id) {
    return id == T_ADD || id == T_SUB || id == T_MUL || id == T_EQ || id == T_LT || id == T_LE ||
           id == T_SELECT;
}

bool hg_probe_compare(probe_comparison *c) {
    bool rewrites = false, tiny[2][PROBE_TEST_COUNT] = {{false}};
    for (int f64 = 0; f64 < 2; f64++)
        for (int i = 0; i < PROBE_TEST_COUNT; i++) {
            probe_test id = (probe_test)i;
            bool plain = false;
            if (c->columns[f64][id] < 0 || explained(c, id, f64)) continue;
            for (uint32_t lane = 0; lane < PROBE_LANES; lane++) {
                uint64_t e = cell(c->expected, c->columns[f64][id], lane),
                         a = cell(c->actual, c->columns[f64][id], lane);
                if (same_result(hg_probe_result_format(id, f64), e, a)) continue;
                c->result->differences++;
                if (touches_tiny(c, id, f64, lane))
                    tiny[f64][id] = true;
                else
                    plain = true;
            }
            if (plain) mark(c, id, f64);
            rewrites |= plain && id >= PROBE_FIRST_COMBINED && id < PROBE_FIRST_ZERO;
            if (tiny[f64][id] && !f64 && makes_flushing(id)) c->result->flushes = true;
        }
    for (int f64 = 0; f64 < 2; f64++)
        for (int id = 0; id < PROBE_FIRST_COMBINED; id++)
            if (tiny[f64][id] && (f64 || !c->result->flushes)) mark(c, (probe_test)id, f64);
    return rewrites;
}
