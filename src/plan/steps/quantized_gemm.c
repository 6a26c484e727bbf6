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
    LDC,
    A_SCALES,
    B_SCALES,
    C_SCALES,
    A_ZEROS,
    B_ZEROS,
    C_ZEROS,
    STEPS,
    B_UNSIGNED,
    BATCH,
    BATCH_STRIDES
};
enum { A_STEP, B_STEP, C_ROW_STEP, C_COLUMN_STEP }; /* of STEPS */

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

static bool b_is_unsigned(const plan_call *call) { return number(call, B_UNSIGNED) != 0; }
static uint8_t type_of_b(const plan_call *call) {
    return b_is_unsigned(call) ? HG_TYPE_U8 : HG_TYPE_I8;
}
static bool is_there(const plan_call *call, uint32_t operand) {
    return plan_array_of(call, operand) != NULL;
}

/* Elements from the scale (zero point) of one row or column to the next. */
static uint64_t step_of(const plan_call *call, uint32_t which) {
    return plan_is_given(call, STEPS) ? plan_number(call, STEPS, which) : which != C_COLUMN_STEP;
}

static uint64_t batch_of(const plan_call *call) { return plan_named_or(call, "batch", 1); }

/* ---- shapes ---- */

/* How long the rows of a, b and c are, as they are stored. */
static uint64_t columns_of(const plan_call *call, uint32_t stride) {
    return number(call, stride == LDA ? K : stride == LDB && transposed(call) ? K : N);
}

static uint64_t row_of(const plan_call *call, uint32_t stride) {
    return plan_row_stride(call, stride, columns_of(call, stride));
}

enum { OF_A, OF_B, OF_C };

/* Elements from one matrix to the next: of a, b and c. */
static uint64_t matrix_of(const plan_call *call, uint32_t which) {
    const uint64_t rows[] = {number(call, M), number(call, transposed(call) ? N : K),
                             number(call, M)};
    return plan_is_given(call, BATCH_STRIDES) ? plan_number(call, BATCH_STRIDES, which)
                                              : plan_times(rows[which], row_of(call, LDA + which));
}

static void check(const plan_call *call, plan_problem *problem) {
    plan_check_strides(call, problem, "steps", 4,
                       "of a row of a, a column of b, a row and a column of c");
    plan_check_strides(call, problem, "batch_strides", 3, "of a, b and c");
    if (problem->found) return;
    for (uint32_t i = 0; i < 3; i++)
        if (is_there(call, A_ZEROS + i) && number(call, A_ZERO + i))
            plan_refuse(call, problem, KIR_FAULT_DOMAIN, A_ZEROS + i,
                        "in place of a number that is not 0");
    if (factor(call, C_SCALE) == 0 && !wants_sums(call))
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, C_SCALE, "0, another number expected");
    for (uint32_t i = LDA; i <= LDC; i++) plan_check_row(call, problem, i, columns_of(call, i));
    plan_check_apart(
        call, problem, BATCH_STRIDES, (const uint64_t[]){batch_of(call), number(call, M), 1},
        (const uint64_t[]){matrix_of(call, OF_C), row_of(call, LDC), 1}, number(call, N));
}

/* Of one matrix without a batch. */
static void matrix(plan_call *call, uint32_t operand, uint64_t rows, uint32_t stride) {
    bool one = !plan_is_given(call, BATCH);
    const uint64_t extents[] = {batch_of(call), rows, columns_of(call, stride)};
    const int64_t strides[] = {plan_stride(matrix_of(call, stride - LDA)),
                               plan_stride(row_of(call, stride)), 1};
    plan_array_strides(plan_array_of(call, operand), one ? 2 : 3, extents + one, strides + one);
}

/* Scales and zero points of rows and columns. */
static void lines(plan_call *call, uint32_t operand) {
    static const uint8_t SIZES[] = {M, N}, WHICH[] = {A_STEP, B_STEP};
    uint32_t of = (operand - A_SCALES) % 3;
    plan_array *a = plan_array_of(call, operand);
    if (!a) return;
    if (operand == B_ZEROS) a->type = type_of_b(call);
    if (of == 2)
        plan_array_strides(a, 2, (const uint64_t[]){number(call, M), number(call, N)},
                           (const int64_t[]){plan_stride(step_of(call, C_ROW_STEP)),
                                             plan_stride(step_of(call, C_COLUMN_STEP))});
    else
        plan_array_strides(a, 1, (const uint64_t[]){number(call, SIZES[of])},
                           (const int64_t[]){plan_stride(step_of(call, WHICH[of]))});
}

static void ranges(plan_call *call) {
    if (wants_sums(call)) plan_array_of(call, C)->type = HG_TYPE_I32;
    plan_array_of(call, B)->type = type_of_b(call);
    matrix(call, A, number(call, M), LDA);
    matrix(call, B, number(call, transposed(call) ? N : K), LDB);
    matrix(call, C, number(call, M), LDC);
    for (uint32_t i = A_SCALES; i <= C_ZEROS; i++) lines(call, i);
}

/* ---- the expansion ---- */

enum { LANES = 32, PART = 256, PIECE = 256, STEPS_OF_LANE = 64 };

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

/* Matrices of a, and of b, that are different. */
static uint64_t different(const plan_call *call, uint32_t which) {
    return matrix_of(call, which) ? batch_of(call) : 1;
}

/* a - a_zero as floats, row after row without a gap. */
static plan_part rows_of_a(const plan_call *call, plan_expansion *x) {
    uint64_t m = number(call, M), k = number(call, K), batch = batch_of(call);
    plan_given g = {.parts = {plan_part_of(call, A)}, .arrays = 1};
    bool zeros = plan_give_array(&g, call, "a_zeros");
    plan_part rows = plan_scratch(x, plan_times(batch, m), plan_times(k, sizeof(float)));
    g.parts[g.arrays++] = rows;
    plan_kernel_key key = plan_library_key(LIBRARY_QUANTIZED_ROWS, (hg_type)call->type, HG_OP_MOV,
                                           (int32_t[]){PIECE, zeros}, g.arrays, 5);
    x->work = plan_times(plan_times(batch, m), k);
    if (k)
        plan_expand_grid(x, &key, (uint64_t[]){(k - 1) / PIECE + 1, m, batch},
                         (uint32_t[]){LANES, 1, 1}, 0, g.parts,
                         (uint64_t[]){k, row_of(call, LDA), m, matrix_of(call, OF_A),
                                      zeros ? step_of(call, A_STEP) : zero_point(call, A_ZERO)});
    return rows;
}

/* b - b_zero as floats, in panels of LANES columns. */
static plan_part panels_of_b(const plan_call *call, plan_expansion *x) {
    uint64_t n = number(call, N), k = number(call, K), ldb = row_of(call, LDB),
             panel = (n - 1) / LANES + 1, batch = different(call, OF_B),
             zero = zero_point(call, B_ZERO) + (b_is_unsigned(call) ? 128 : 0);
    plan_given g = {.parts = {plan_part_of(call, B)}, .arrays = 1};
    bool zeros = plan_give_array(&g, call, "b_zeros");
    plan_part panels = plan_scratch(x, plan_times(plan_times(batch, panel), LANES),
                                    plan_times(k, sizeof(float)));
    g.parts[g.arrays++] = panels;
    plan_kernel_key key = plan_library_key(LIBRARY_QUANTIZED_PANELS, (hg_type)call->type, HG_OP_MOV,
                                           (int32_t[]){type_of_b(call), STEPS_OF_LANE, zeros},
                                           g.arrays, 7);
    x->work = plan_times(plan_times(batch, n), k);
    if (k)
        plan_expand_grid(x, &key, (uint64_t[]){(k - 1) / STEPS_OF_LANE + 1, panel, batch},
                         (uint32_t[]){LANES, 1, 1}, 0, g.parts,
                         (uint64_t[]){n, k, transposed(call) ? 1 : ldb, transposed(call) ? ldb : 1,
                                      matrix_of(call, OF_B), panel,
                                      zeros ? step_of(call, B_STEP) : (uint32_t)zero});
    return panels;
}

static int32_t flip_of(const plan_call *call) { return call->type == HG_TYPE_I8 ? 0x80 : 0; }

/* The bytes of a in words, without their signs, and what b_zero takes from the sums. Rows without
 * gaps are one where they end with a word. */
static plan_part words_of_a(const plan_call *call, plan_expansion *x) {
    uint64_t m = number(call, M), k = number(call, K), words = word_count(k),
             batch = batch_of(call), zero = zero_point(call, B_ZERO), all = plan_times(batch, m);
    plan_part to = plan_scratch(x, all, plan_times(words + (zero != 0), sizeof(uint32_t)));
    plan_kernel_key pack = plan_library_key(LIBRARY_QUANTIZED_WORDS, (hg_type)call->type, HG_OP_MOV,
                                            (int32_t[]){flip_of(call), PIECE, zero != 0}, 2, 4);
    plan_kernel_key sum = plan_library_key(LIBRARY_QUANTIZED_WORD_SUMS, (hg_type)call->type,
                                           HG_OP_MOV, (int32_t[]){LANES}, 1, 3);
    bool one = !zero && k % 4 == 0 && row_of(call, LDA) == k;
    uint64_t rows = one ? 1 : m, columns = one ? m * k : k;
    x->work = plan_times(all, words);
    if (k)
        plan_expand_grid(x, &pack,
                         (uint64_t[]){columns < 4 ? 1 : (columns / 4 - 1) / PIECE + 1, rows, batch},
                         (uint32_t[]){LANES, 1, 1}, 0, (plan_part[]){plan_part_of(call, A), to},
                         (uint64_t[]){columns, row_of(call, LDA), rows, matrix_of(call, OF_A)});
    x->work = plan_times(all, words);
    if (zero)
        plan_expand_grid(x, &sum, (uint64_t[]){(all - 1) / LANES + 1, 1, 1},
                         (uint32_t[]){LANES, 1, 1}, 0, (plan_part[]){to},
                         (uint64_t[]){all, words, zero});
    return to;
}

static plan_part word_panels_of_b(const plan_call *call, plan_expansion *x) {
    uint64_t n = number(call, N), k = number(call, K), ldb = row_of(call, LDB),
             panel = (n - 1) / LANES + 1, words = word_count(k), batch = different(call, OF_B);
    plan_part to = plan_scratch(x, plan_times(plan_times(batch, panel), LANES),
                                plan_times(words + 1, sizeof(uint32_t)));
    plan_kernel_key key = plan_library_key(
        LIBRARY_QUANTIZED_WORD_PANELS, (hg_type)call->type, HG_OP_MOV,
        (int32_t[]){flip_of(call), transposed(call), b_is_unsigned(call) ? 0x80 : 0}, 2, 7);
    x->work = plan_times(plan_times(batch, n), k);
    plan_expand_grid(x, &key, (uint64_t[]){panel, 1, batch}, (uint32_t[]){LANES, 1, 1}, 0,
                     (plan_part[]){plan_part_of(call, B), to},
                     (uint64_t[]){n, k, ldb, zero_point(call, A_ZERO), zero_point(call, B_ZERO),
                                  matrix_of(call, OF_B), panel});
    return to;
}

/* Scales and zero points of what `tile` stores: its arrays behind a and b. */
static uint32_t add_lines(const plan_call *call, const bool *given, plan_part *parts,
                          uint32_t count) {
    static const uint8_t OPERANDS[] = {A_SCALES, B_SCALES, C_SCALES, C_ZEROS};
    for (uint32_t i = 0; i < HG_COUNT_OF(OPERANDS); i++)
        if (given[i]) parts[count++] = plan_part_of(call, OPERANDS[i]);
    return count;
}

static void expand(const plan_call *call, plan_expansion *x) {
    uint64_t m = number(call, M), n = number(call, N), k = number(call, K), batch = batch_of(call);
    bool bytes = call->type == HG_TYPE_U8, sums = wants_sums(call),
         dot = x->dot4 && !is_there(call, A_ZEROS) && !is_there(call, B_ZEROS);
    const bool given[] = {!sums && is_there(call, A_SCALES), !sums && is_there(call, B_SCALES),
                          !sums && is_there(call, C_SCALES), !sums && is_there(call, C_ZEROS)};
    if (m == 0 || n == 0 || batch == 0) return;
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
                           bytes ? 255 : 127,
                           given[0],
                           given[1],
                           given[2],
                           given[3]};
    plan_part parts[7 + PLAN_CHAIN_ARRAYS] = {a, b};
    uint32_t arrays = add_lines(call, given, parts, 2);
    parts[arrays++] = plan_part_of(call, C);
    uint64_t panel = (n - 1) / LANES + 1;
    uint64_t values[12] = {m,
                           n,
                           dot ? word_count(k) : k,
                           row_of(call, LDC),
                           zero_point(call, C_ZERO),
                           scale_bits(call),
                           matrix_of(call, OF_C),
                           different(call, OF_B) == batch ? panel : 0};
    uint32_t count = 8;
    if (given[0]) values[count++] = step_of(call, A_STEP);
    if (given[1]) values[count++] = step_of(call, B_STEP);
    if (given[2] || given[3]) {
        values[count++] = step_of(call, C_ROW_STEP);
        values[count++] = step_of(call, C_COLUMN_STEP);
    }
    plan_kernel_key key = plan_library_key(LIBRARY_QUANTIZED_TILE, (hg_type)call->type, HG_OP_MOV,
                                           constants, (uint8_t)arrays, (uint8_t)count);
    plan_fuse(x, &key, parts, PLAN_BEHIND);
    x->work = plan_times(plan_times(plan_times(batch, m), n), k);
    plan_expand_grid(x, &key, (uint64_t[]){(m - 1) / rows + 1, panel, batch},
                     (uint32_t[]){LANES, 1, 1}, 0, parts, values);
}

static plan_cost cost(const plan_call *call) {
    uint64_t rows = plan_times(batch_of(call), number(call, M));
    return (plan_cost){plan_call_bytes(call),
                       plan_times(plan_times(rows, number(call, N)), number(call, K))};
}

const plan_collective plan_collective_quantized_gemm = {.check = check,
                                                        .ranges = ranges,
                                                        .expand = expand,
                                                        .cost = cost,
                                                        .overlap = PLAN_OVERLAP_REFUSED,
                                                        .fuses = true};
