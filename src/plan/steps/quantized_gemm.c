/* quantized_gemm: products of bytes with sums of 32 bits, library/quantized.atlas: by words of four
 * bytes where the device has dot4, else by floats, of which PART products add up to less than 2^24.
 * The sums are exact modulo 2^32 in both. The factor of all sums is worked out here, in f32, as the
 * row of isa.def says: a_scale * b_scale, rounded, and that divided by c_scale, rounded. */
#include "plan/steps/chain.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum {
    C,
    A,
    B,
    A_SCALE,
    B_SCALE,
    C_SCALE,
    M,
    N,
    K,
    A_ZERO,
    B_ZERO,
    C_ZERO,
    SUMS,
    TRANS_B,
    LDA,
    LDB,
    LDC
};

static uint64_t number(const plan_call *call, uint32_t operand) {
    return plan_number(call, operand, 0);
}
static bool transposed(const plan_call *call) { return number(call, TRANS_B) != 0; }
static bool wants_sums(const plan_call *call) { return number(call, SUMS) != 0; }

static float factor(const plan_call *call, uint32_t operand) {
    uint32_t bits = (uint32_t)number(call, operand);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- shapes ---- */

/* How long the rows of a, b and c are, as they are stored. */
static uint64_t columns_of(const plan_call *call, uint32_t stride) {
    return number(call, stride == LDA ? K : stride == LDB && transposed(call) ? K : N);
}

static uint64_t row_of(const plan_call *call, uint32_t stride) {
    return plan_row_stride(call, stride, columns_of(call, stride));
}

static void check(const plan_call *call, plan_problem *problem) {
    if (factor(call, C_SCALE) == 0 && !wants_sums(call))
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, C_SCALE, "0, another number expected");
    for (uint32_t i = LDA; i <= LDC; i++) plan_check_row(call, problem, i, columns_of(call, i));
}

static void matrix(plan_call *call, uint32_t operand, uint64_t rows, uint32_t stride) {
    uint64_t row = row_of(call, stride);
    plan_array_strides(plan_array_of(call, operand), 2,
                       (const uint64_t[]){rows, columns_of(call, stride)},
                       (const int64_t[]){row > INT64_MAX ? INT64_MAX : (int64_t)row, 1});
}

static void ranges(plan_call *call) {
    if (wants_sums(call)) plan_array_of(call, C)->type = HG_TYPE_I32;
    matrix(call, A, number(call, M), LDA);
    matrix(call, B, number(call, transposed(call) ? N : K), LDB);
    matrix(call, C, number(call, M), LDC);
}

/* ---- the expansion ---- */

enum { LANES = 32, PART = 256, PIECE = 256, STEPS = 64 };

static uint64_t word_count(uint64_t k) { return k / 4 + (k % 4 != 0); }

/* A zero point as the bits of an i32. */
static uint64_t zero_point(const plan_call *call, uint32_t operand) {
    uint8_t byte = (uint8_t)number(call, operand);
    bool is_signed = operand == B_ZERO || call->type == HG_TYPE_I8;
    return is_signed && byte >= 128 ? (uint32_t)byte - 256 : byte;
}

/* The factor of the sums, both steps rounded as f32 but with no end of the range: what is between
 * them may lie beyond it. A factor that does is the largest number, with which all sums but 0 are
 * out of the range of bytes too. */
static uint64_t scale_bits(const plan_call *call) {
    double product = (double)factor(call, A_SCALE) * factor(call, B_SCALE); /* exact */
    int exponent = 0;
    uint32_t bits;
    if (isfinite(product)) {
        float fraction = (float)frexp(product, &exponent);
        product = ldexp((double)fraction, exponent);
    }
    product /= factor(call, C_SCALE); /* rounded to f32 behind this it is as if it was divided in
                                         f32 */
    float scale = isfinite(product) && fabs(product) > FLT_MAX ? copysignf(FLT_MAX, (float)product)
                                                               : (float)product;
    memcpy(&bits, &scale, sizeof bits);
    return bits;
}

/* a - a_zero as floats, row after row without a gap. */
static plan_part rows_of_a(const plan_call *call, plan_expansion *x) {
    uint64_t m = number(call, M), k = number(call, K);
    plan_part rows = plan_scratch(x, m, plan_times(k, sizeof(float)));
    plan_kernel_key key = plan_library_key(LIBRARY_QUANTIZED_ROWS, (hg_type)call->type, HG_OP_MOV,
                                           (int32_t[]){PIECE}, 2, 3);
    x->work = plan_times(m, k);
    if (k)
        plan_expand_grid(x, &key, (uint64_t[]){(k - 1) / PIECE + 1, m, 1},
                         (uint32_t[]){LANES, 1, 1}, 0, (plan_part[]){plan_part_of(call, A), rows},
                         (uint64_t[]){k, row_of(call, LDA), zero_point(call, A_ZERO)});
    return rows;
}

/* b - b_zero as floats, in panels of LANES columns. */
static plan_part panels_of_b(const plan_call *call, plan_expansion *x) {
    uint64_t n = number(call, N), k = number(call, K), ldb = row_of(call, LDB),
             panel = (n - 1) / LANES + 1;
    plan_part panels = plan_scratch(x, plan_times(panel, LANES), plan_times(k, sizeof(float)));
    plan_kernel_key key = plan_library_key(LIBRARY_QUANTIZED_PANELS, (hg_type)call->type, HG_OP_MOV,
                                           (int32_t[]){STEPS}, 2, 5);
    x->work = plan_times(n, k);
    if (k)
        plan_expand_grid(x, &key, (uint64_t[]){(k - 1) / STEPS + 1, panel, 1},
                         (uint32_t[]){LANES, 1, 1}, 0, (plan_part[]){plan_part_of(call, B), panels},
                         (uint64_t[]){n, k, transposed(call) ? 1 : ldb, transposed(call) ? ldb : 1,
                                      zero_point(call, B_ZERO)});
    return panels;
}

static int32_t flip_of(const plan_call *call) { return call->type == HG_TYPE_I8 ? 0x80 : 0; }

/* The bytes of a in words, without their signs, and what b_zero takes from the sums. Rows without
 * gaps are one where they end with a word. */
static plan_part words_of_a(const plan_call *call, plan_expansion *x) {
    uint64_t m = number(call, M), k = number(call, K), words = word_count(k),
             zero = zero_point(call, B_ZERO);
    plan_part to = plan_scratch(x, m, plan_times(words + (zero != 0), sizeof(uint32_t)));
    plan_kernel_key pack = plan_library_key(LIBRARY_QUANTIZED_WORDS, (hg_type)call->type, HG_OP_MOV,
                                            (int32_t[]){flip_of(call), PIECE, zero != 0}, 2, 2);
    plan_kernel_key sum = plan_library_key(LIBRARY_QUANTIZED_WORD_SUMS, (hg_type)call->type,
                                           HG_OP_MOV, (int32_t[]){LANES}, 1, 3);
    bool one = !zero && k % 4 == 0 && row_of(call, LDA) == k;
    uint64_t rows = one ? 1 : m, columns = one ? m * k : k;
    x->work = plan_times(m, words);
    if (k)
        plan_expand_grid(x, &pack,
                         (uint64_t[]){columns < 4 ? 1 : (columns / 4 - 1) / PIECE + 1, rows, 1},
                         (uint32_t[]){LANES, 1, 1}, 0, (plan_part[]){plan_part_of(call, A), to},
                         (uint64_t[]){columns, row_of(call, LDA)});
    x->work = plan_times(m, words);
    if (zero)
        plan_expand_grid(x, &sum, (uint64_t[]){(m - 1) / LANES + 1, 1, 1},
                         (uint32_t[]){LANES, 1, 1}, 0, (plan_part[]){to},
                         (uint64_t[]){m, words, zero});
    return to;
}

static plan_part word_panels_of_b(const plan_call *call, plan_expansion *x) {
    uint64_t n = number(call, N), k = number(call, K), ldb = row_of(call, LDB),
             panel = (n - 1) / LANES + 1, words = word_count(k);
    plan_part to = plan_scratch(x, plan_times(panel, LANES),
                                plan_times(words + 1, sizeof(uint32_t)));
    plan_kernel_key key = plan_library_key(LIBRARY_QUANTIZED_WORD_PANELS, (hg_type)call->type,
                                           HG_OP_MOV, (int32_t[]){flip_of(call), transposed(call)},
                                           2, 5);
    x->work = plan_times(n, k);
    plan_expand_grid(x, &key, (uint64_t[]){panel, 1, 1}, (uint32_t[]){LANES, 1, 1}, 0,
                     (plan_part[]){plan_part_of(call, B), to},
                     (uint64_t[]){n, k, ldb, zero_point(call, A_ZERO), zero_point(call, B_ZERO)});
    return to;
}

static void expand(const plan_call *call, plan_expansion *x) {
    uint64_t m = number(call, M), n = number(call, N), k = number(call, K);
    bool bytes = call->type == HG_TYPE_U8, sums = wants_sums(call), dot = x->dot4;
    if (m == 0 || n == 0) return;
    plan_part a = dot ? words_of_a(call, x) : rows_of_a(call, x),
              b = dot ? word_panels_of_b(call, x) : panels_of_b(call, x);
    uint32_t rows = plan_tile(x, LIBRARY_TILE_QUANTIZED_ROWS);
    int32_t constants[] = {sums ? HG_TYPE_I32 : call->type,
                           dot ? HG_TYPE_U32 : HG_TYPE_F32,
                           dot,
                           dot && zero_point(call, B_ZERO),
                           PART,
                           (int32_t)rows,
                           sums,
                           bytes ? 0 : -128,
                           bytes ? 255 : 127};
    plan_kernel_key key = plan_library_key(LIBRARY_QUANTIZED_TILE, (hg_type)call->type, HG_OP_MOV,
                                           constants, 3, 6);
    plan_part parts[3 + PLAN_CHAIN_ARRAYS] = {a, b, plan_part_of(call, C)};
    plan_fuse(x, &key, parts, PLAN_BEHIND);
    x->work = plan_times(plan_times(m, n), k);
    plan_expand_grid(x, &key, (uint64_t[]){(m - 1) / rows + 1, (n - 1) / LANES + 1, 1},
                     (uint32_t[]){LANES, 1, 1}, 0, parts,
                     (uint64_t[]){m, n, dot ? word_count(k) : k, row_of(call, LDC),
                                  zero_point(call, C_ZERO), scale_bits(call)});
}

static plan_cost cost(const plan_call *call) {
    return (plan_cost){plan_call_bytes(call),
                       plan_times(plan_times(number(call, M), number(call, N)), number(call, K))};
}

const plan_collective plan_collective_quantized_gemm = {.check = check,
                                                        .ranges = ranges,
                                                        .expand = expand,
                                                        .cost = cost,
                                                        .overlap = PLAN_OVERLAP_REFUSED,
                                                        .fuses = true};
