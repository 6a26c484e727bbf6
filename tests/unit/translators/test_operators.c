/* The operator table: all 288 kernels run on the CPU against ordinary arithmetic (tests/oracle and
 * plain loops here), their records, and the page docs/reference/operators.md. `test_operators
 * BACKEND` runs them there. */
#include "support/runtime_support.h"
#include "base/base.h"
#include "oracle/oracle.h"
#include <hologram/dispatch.h>
#include <hologram/operators.h>
#include <math.h>

enum { MAX_BYTES = 32768, MAX_ARRAYS = 3 };

static hg_backend *backend;
static uint64_t random_state = 1;

static uint64_t next_random(void) { /* SplitMix64 */
    uint64_t z = random_state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

/* ---- running a kernel ---- */

typedef struct array {
    const char *name;
    void *data;
    uint64_t count;
    hg_type type;
} array;
typedef struct scalar {
    const char *name;
    uint64_t value;
} scalar; /* u64 */

/* alpha and beta: elements of the kernel's type, or NULL. Arrays are written back. */
static hg_status run(const hg_operator *r, const array *arrays, int array_count,
                     const scalar *scalars, int scalar_count, const void *alpha, const void *beta) {
    hg_program *program = NULL;
    hg_params *params = hg_params_create();
    hg_buffer buffers[MAX_ARRAYS];
    CHECK_OK(hg_operator_program(r, &program));
    for (int i = 0; i < array_count; i++) {
        buffers[i] = make_buffer(backend, arrays[i].data,
                                 arrays[i].count * hg_type_size_bytes(arrays[i].type));
        CHECK_OK(hg_params_set_buffer(params, arrays[i].name, buffers[i]));
    }
    for (int i = 0; i < scalar_count; i++)
        CHECK_OK(hg_params_set_scalar(params, scalars[i].name, HG_TYPE_U64, &scalars[i].value));
    if (alpha) CHECK_OK(hg_params_set_scalar(params, "alpha", r->type, alpha));
    if (beta) CHECK_OK(hg_params_set_scalar(params, "beta", r->type, beta));
    hg_status status = hg_backend_execute_program_with_params(backend, program, NULL, params);
    if (status != HG_OK && strcmp(hg_last_error()->code, "F02") != 0) {
        CHECK_MESSAGE(false, "%s.%s: %s", r->operation, hg_type_name(r->type),
                      hg_last_error_text());
    }
    for (int i = 0; i < array_count; i++) {
        CHECK_OK(hg_backend_copy_from_buffer(backend, buffers[i], arrays[i].data,
                                             arrays[i].count * hg_type_size_bytes(arrays[i].type)));
        CHECK_OK(hg_backend_free_buffer(backend, buffers[i]));
    }
    hg_params_destroy(params);
    hg_program_release(program);
    return status;
}

/* ---- elements ---- */

static void put_f64(hg_type type, double value, uint8_t *to) {
    oracle_convert(type, HG_TYPE_F64, (const uint8_t *)&value, to);
}

/* Integers: any bits, or small where asked; floats: in -4 … 4. */
static void fill(hg_type type, uint8_t *to, uint64_t count, bool small) {
    uint64_t bytes = hg_type_size_bytes(type);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = next_random();
        if (hg_type_is_float(type)) {
            put_f64(type, (double)(int64_t)bits * 0x1p-61, to + i * bytes);
        } else if (small) {
            put_f64(type, (double)(bits % 41) - (hg_type_is_signed(type) ? 20 : 0), to + i * bytes);
        } else {
            memcpy(to + i * bytes, &bits, bytes);
        }
    }
}

/* Zeros of both signs, ones, infinities, NaN; least and largest integers. */
static void add_specials(hg_type type, uint8_t *to) {
    uint64_t bytes = hg_type_size_bytes(type);
    static const double floats[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 65504, 1e-7};
    static const uint64_t integers[] = {0, 1, UINT64_MAX, 2, 0x7F7F7F7F7F7F7F7F};
    if (hg_type_is_float(type)) {
        for (uint64_t i = 0; i < HG_COUNT_OF(floats); i++) put_f64(type, floats[i], to + i * bytes);
        return;
    }
    for (uint64_t i = 0; i < HG_COUNT_OF(integers); i++)
        memcpy(to + i * bytes, &integers[i], bytes);
    uint64_t least = (uint64_t)1 << (8 * bytes - 1), largest = least - 1;
    memcpy(to + 5 * bytes, &least, bytes);
    memcpy(to + 6 * bytes, &largest, bytes);
}

static void expect(const hg_operator *r, hg_type type, uint64_t index, uint64_t ulp,
                   const uint8_t *expected, const uint8_t *actual) {
    if (oracle_agrees(type, ulp, expected, actual)) {
        test_passed++;
        return;
    }
    uint64_t e = 0, a = 0;
    memcpy(&e, expected, hg_type_size_bytes(type));
    memcpy(&a, actual, hg_type_size_bytes(type));
    CHECK_MESSAGE(false, "%s.%s: element %" PRIu64 ": expected %#" PRIx64 ", got %#" PRIx64,
                  r->operation, hg_type_name(r->type), index, e, a);
}

static hg_opname opname_of(const char *operation) {
    static const struct {
        const char *operation;
        hg_opname name;
    } names[] = {
        {"Add", HG_OPNAME_ADD},       {"Sub", HG_OPNAME_SUB},      {"Mul", HG_OPNAME_MUL},
        {"Div", HG_OPNAME_DIV},       {"ReLU", HG_OPNAME_RELU},    {"Sigmoid", HG_OPNAME_SIGMOID},
        {"Tanh", HG_OPNAME_TANH},     {"Exp", HG_OPNAME_EXP},      {"Log", HG_OPNAME_LOG},
        {"Sin", HG_OPNAME_SIN},       {"Cos", HG_OPNAME_COS},      {"ReduceSum", HG_OPNAME_SUM},
        {"ReduceMax", HG_OPNAME_MAX}, {"ReduceMin", HG_OPNAME_MIN}};
    for (size_t i = 0; i < HG_COUNT_OF(names); i++) {
        if (strcmp(names[i].operation, operation) == 0) return names[i].name;
    }
    return HG_OPNAME_COUNT;
}

/* ---- element-wise ---- */

enum { COUNT = 100 };

static void test_binary(const hg_operator *r) {
    static uint8_t a[MAX_BYTES], b[MAX_BYTES], output[MAX_BYTES];
    uint64_t bytes = hg_type_size_bytes(r->type), count = COUNT;
    hg_opname name = opname_of(r->operation);
    bool divides = name == HG_OPNAME_DIV && !hg_type_is_float(r->type);
    fill(r->type, a, COUNT, false);
    fill(r->type, b, COUNT, false);
    add_specials(r->type, a);
    if (!divides) add_specials(r->type, b + 3 * bytes);
    for (int i = 0; divides && i < COUNT; i++) {
        b[(uint64_t)i * bytes] |= 1;
        if (i == 5) memset(b + 5 * bytes, 0xFF, bytes); /* MIN / -1 */
    }
    array arrays[] = {
        {"a", a, COUNT, r->type}, {"b", b, COUNT, r->type}, {"output", output, COUNT, r->type}};
    CHECK_OK(run(r, arrays, 3, &(scalar){"n", count}, 1, NULL, NULL));
    for (uint64_t i = 0; i < COUNT; i++) {
        uint8_t expected[8];
        const uint8_t *args[] = {a + i * bytes, b + i * bytes};
        CHECK(oracle_opname(name, r->type, args, expected) == ORACLE_OK);
        expect(r, r->type, i, 0, expected, output + i * bytes);
    }
    if (divides) {
        memset(b + 7 * bytes, 0, bytes);
        CHECK_FAILS(run(r, arrays, 3, &(scalar){"n", count}, 1, NULL, NULL),
                    HG_ERROR_EXECUTION_FAILED, "F02", "division by zero");
    }
}

/* Integers: what F64 gives, for a function value that may be off by its tolerance. */
static void expect_through_f64(const hg_operator *r, hg_opname name, uint64_t i,
                               const uint8_t *input, const uint8_t *actual) {
    double x, value, low, high;
    uint8_t expected[3][8];
    oracle_convert(HG_TYPE_F64, r->type, input, (uint8_t *)&x);
    const uint8_t *args[] = {(const uint8_t *)&x};
    CHECK(oracle_opname(name, HG_TYPE_F64, args, (uint8_t *)&value) == ORACLE_OK);
    low = high = value;
    uint64_t ulp = oracle_opname_tolerance(name, HG_TYPE_F64, args, (const uint8_t *)&value);
    if (ulp == ORACLE_UNCHECKED) ulp = 2; /* semantics 0.3 */
    for (; ulp && isfinite(value); ulp--) {
        low = nextafter(low, -INFINITY);
        high = nextafter(high, INFINITY);
    }
    oracle_convert(r->type, HG_TYPE_F64, (const uint8_t *)&value, expected[0]);
    oracle_convert(r->type, HG_TYPE_F64, (const uint8_t *)&low, expected[1]);
    oracle_convert(r->type, HG_TYPE_F64, (const uint8_t *)&high, expected[2]);
    uint64_t bytes = hg_type_size_bytes(r->type);
    uint64_t least = 0, largest = 0, given = 0; /* the values between low and high are consecutive:
                                                   exp of 64-bit types has many */
    memcpy(&least, expected[1], bytes);
    memcpy(&largest, expected[2], bytes);
    memcpy(&given, actual, bytes);
    if (given - least <= largest - least) {
        test_passed++;
    } else {
        expect(r, r->type, i, 0, expected[0], actual);
    }
}

static void test_unary(const hg_operator *r) {
    static uint8_t input[MAX_BYTES], output[MAX_BYTES];
    uint64_t bytes = hg_type_size_bytes(r->type);
    hg_opname name = opname_of(r->operation);
    bool through = !hg_type_is_float(r->type) && name != HG_OPNAME_RELU;
    fill(r->type, input, COUNT, false);
    if (!hg_type_is_float(r->type)) fill(r->type, input, COUNT / 2, true);
    add_specials(r->type, input);
    array arrays[] = {{"input", input, COUNT, r->type}, {"output", output, COUNT, r->type}};
    CHECK_OK(run(r, arrays, 2, &(scalar){"n", COUNT}, 1, NULL, NULL));
    for (uint64_t i = 0; i < COUNT; i++) {
        const uint8_t *args[] = {input + i * bytes};
        if (through) {
            expect_through_f64(r, name, i, args[0], output + i * bytes);
            continue;
        }
        uint8_t expected[8];
        CHECK(oracle_opname(name, r->type, args, expected) == ORACLE_OK);
        expect(r, r->type, i, oracle_opname_tolerance(name, r->type, args, expected), expected,
               output + i * bytes);
    }
}

/* ---- matrices ---- */

/* Adds products in the type that the kernel does. */
typedef struct adder {
    hg_type type, inner;
    uint8_t sum[8];
} adder;

static void adder_start(adder *s, hg_type type) {
    s->type = type;
    s->inner = type == HG_TYPE_F16 || type == HG_TYPE_BF16 ? HG_TYPE_F32 : type;
    memset(s->sum, 0, 8);
}

/* sum = sum·factor, or sum + x·y */
static void adder_scale(adder *s, const uint8_t *factor) {
    uint8_t wide[8], result[8];
    oracle_convert(s->inner, s->type, factor, wide);
    CHECK(oracle_eval(HG_OP_MUL, s->inner, s->inner, 0, (const uint8_t *[]){s->sum, wide},
                      result) == ORACLE_OK);
    memcpy(s->sum, result, 8);
}
static void adder_add(adder *s, const uint8_t *x, const uint8_t *y) {
    uint8_t wide_x[8], wide_y[8], product[8], result[8];
    oracle_convert(s->inner, s->type, x, wide_x);
    oracle_convert(s->inner, s->type, y, wide_y);
    CHECK(oracle_eval(HG_OP_MUL, s->inner, s->inner, 0, (const uint8_t *[]){wide_x, wide_y},
                      product) == ORACLE_OK);
    CHECK(oracle_eval(HG_OP_ADD, s->inner, s->inner, 0, (const uint8_t *[]){s->sum, product},
                      result) == ORACLE_OK);
    memcpy(s->sum, result, 8);
}
static void adder_expect(adder *s, const hg_operator *r, uint64_t index, const uint8_t *actual) {
    uint8_t expected[8];
    oracle_convert(s->type, s->inner, s->sum, expected);
    expect(r, s->type, index, 0, expected, actual);
}

static void test_matrix(const hg_operator *r) {
    enum { M = 5, N = 7, K = 11 };
    static uint8_t a[MAX_BYTES], b[MAX_BYTES], c[MAX_BYTES], before[MAX_BYTES];
    uint64_t bytes = hg_type_size_bytes(r->type);
    bool gemm = strcmp(r->operation, "GEMM") == 0;
    uint8_t alpha[8], beta[8], zero[8] = {0}, one[8];
    put_f64(r->type, 3, alpha);
    put_f64(r->type, hg_type_is_float(r->type) ? -0.75 : 2, beta);
    put_f64(r->type, 1, one);
    for (int form = 0; form < (gemm ? 3 : 1); form++) { /* GEMM: all given; beta 0; defaults */
        fill(r->type, a, M * K, false);
        fill(r->type, b, K * N, false);
        fill(r->type, c, M * N, false);
        if (form == 1 && hg_type_is_float(r->type)) put_f64(r->type, NAN, c);
        memcpy(before, c, sizeof before);
        array arrays[] = {
            {"a", a, M * K, r->type}, {"b", b, K * N, r->type}, {"c", c, M * N, r->type}};
        scalar scalars[] = {{"m", M}, {"n", N}, {"k", K}};
        CHECK_OK(run(r, arrays, 3, scalars, 3, gemm && form < 2 ? alpha : NULL,
                     gemm && form < 2 ? form == 0 ? beta : zero : NULL));
        for (uint64_t i = 0; i < M; i++) {
            for (uint64_t j = 0; j < N; j++) {
                adder s;
                adder_start(&s, r->type);
                for (uint64_t k = 0; k < K; k++)
                    adder_add(&s, a + (i * K + k) * bytes, b + (k * N + j) * bytes);
                if (gemm) adder_scale(&s, form < 2 ? alpha : one);
                if (gemm && form == 0) adder_add(&s, beta, before + (i * N + j) * bytes);
                adder_expect(&s, r, i * N + j, c + (i * N + j) * bytes);
            }
        }
    }
}

static void test_conv(const hg_operator *r) {
    enum {
        BATCH = 2,
        IN = 3,
        H = 6,
        W = 5,
        OUT = 2,
        KH = 3,
        KW = 2,
        SH = 2,
        SW = 1,
        PH = 1,
        PW = 2,
        OH = 3,
        OW = 8
    };
    static uint8_t input[MAX_BYTES], kernel[MAX_BYTES], output[MAX_BYTES];
    uint64_t bytes = hg_type_size_bytes(r->type);
    fill(r->type, input, BATCH * IN * H * W, false);
    fill(r->type, kernel, OUT * IN * KH * KW, false);
    array arrays[] = {{"input", input, BATCH * IN * H * W, r->type},
                      {"kernel", kernel, OUT * IN * KH * KW, r->type},
                      {"output", output, BATCH * OUT * OH * OW, r->type}};
    scalar scalars[] = {{"batch", BATCH}, {"in_channels", IN},   {"height", H},
                        {"width", W},     {"out_channels", OUT}, {"kernel_h", KH},
                        {"kernel_w", KW}, {"out_h", OH},         {"out_w", OW},
                        {"stride_h", SH}, {"stride_w", SW},      {"padding_h", PH},
                        {"padding_w", PW}};
    CHECK((H + 2 * PH - KH) / SH + 1 == OH && (W + 2 * PW - KW) / SW + 1 == OW);
    CHECK_OK(run(r, arrays, 3, scalars, 13, NULL, NULL));
    for (uint64_t e = 0; e < BATCH * OUT * OH * OW; e++) {
        int x = (int)(e % OW) * SW - PW, y = (int)(e / OW % OH) * SH - PH;
        uint64_t out = e / OW / OH % OUT, batch = e / OW / OH / OUT;
        adder s;
        adder_start(&s, r->type);
        for (uint64_t in = 0; in < IN; in++) {
            for (int ky = 0; ky < KH; ky++) {
                for (int kx = 0; kx < KW; kx++) {
                    if (y + ky < 0 || y + ky >= H || x + kx < 0 || x + kx >= W) continue;
                    uint64_t at = ((batch * IN + in) * H + (uint64_t)(y + ky)) * W +
                                  (uint64_t)(x + kx);
                    adder_add(&s, input + at * bytes,
                              kernel + (((out * IN + in) * KH + (uint64_t)ky) * KW + (uint64_t)kx) *
                                           bytes);
                }
            }
        }
        adder_expect(&s, r, e, output + e * bytes);
    }
    scalars[10].value = 0;
    CHECK_FAILS(run(r, arrays, 3, scalars, 13, NULL, NULL), HG_ERROR_EXECUTION_FAILED, "F02",
                "division by zero");
}

/* ---- reductions ---- */

static const uint64_t lengths[] = {1, 2, 255, 256, 257, 1000, 0};

static void test_reduce(const hg_operator *r) {
    static uint8_t input[MAX_BYTES];
    for (size_t l = 0; l < HG_COUNT_OF(lengths); l++) {
        uint8_t output[8] = {0}, expected[8] = {0};
        fill(r->type, input, lengths[l], false);
        array arrays[] = {{"input", input, lengths[l], r->type}, {"output", output, 1, r->type}};
        CHECK_OK(run(r, arrays, 2, &(scalar){"n", lengths[l]}, 1, NULL, NULL));
        CHECK(oracle_reduce(opname_of(r->operation), r->type, input, lengths[l], expected) ==
              ORACLE_OK);
        expect(r, r->type, lengths[l], 0, expected, output);
    }
}

static void integer_mean(hg_type type, const uint8_t *input, uint64_t n, uint8_t *mean) {
    uint64_t bytes = hg_type_size_bytes(type), sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t x = 0;
        memcpy(&x, input + i * bytes, bytes);
        if (hg_type_is_signed(type) && x >> (8 * bytes - 1))
            x |= bytes == 8 ? 0 : UINT64_MAX << 8 * bytes;
        sum += x;
    }
    uint64_t quotient = hg_type_is_signed(type) ? (uint64_t)((int64_t)sum / (int64_t)n) : sum / n;
    memcpy(mean, &quotient, bytes);
}

/* The mean of equal halves is that number, however large the sum is: nothing is rounded before the
 * division. */
static void test_mean_of_equal(const hg_operator *r) {
    static uint8_t input[MAX_BYTES];
    static const uint16_t numbers[][4] = {{0x7BFF, 0x7B53, 0x3C00, 0x8001},
                                          {0x7880, 0xC380, 0x3F80, 0x0001}};
    static const uint64_t counts[] = {1, 2, 4, 257, 2049, 4097, 8191};
    for (size_t k = 0; k < 4 && (r->type == HG_TYPE_F16 || r->type == HG_TYPE_BF16); k++)
        for (size_t l = 0; l < HG_COUNT_OF(counts); l++) {
            uint16_t number = numbers[r->type == HG_TYPE_BF16][k];
            uint8_t bytes[2] = {(uint8_t)number, (uint8_t)(number >> 8)}, output[2] = {0};
            for (uint64_t i = 0; i < counts[l]; i++) memcpy(input + 2 * i, bytes, 2);
            array arrays[] = {{"input", input, counts[l], r->type}, {"output", output, 1, r->type}};
            CHECK_OK(run(r, arrays, 2, &(scalar){"n", counts[l]}, 1, NULL, NULL));
            expect(r, r->type, counts[l], 0, bytes, output);
        }
}

static void test_mean(const hg_operator *r) {
    static uint8_t input[MAX_BYTES];
    static const uint64_t shorter[] = {1, 2, 127, 128, 129, 255, 256, 257, 1000, 4095, 4096, 0},
                          longer[] = {4097, 8191};
    test_mean_of_equal(r);
    for (size_t l = 0;
         l < HG_COUNT_OF(shorter) + (oracle_size(r->type) <= 4 ? HG_COUNT_OF(longer) : 0); l++) {
        uint64_t n = l < HG_COUNT_OF(shorter) ? shorter[l] : longer[l - HG_COUNT_OF(shorter)];
        uint8_t output[8] = {0}, expected[8] = {0};
        fill(r->type, input, n, false);
        array arrays[] = {{"input", input, n, r->type}, {"output", output, 1, r->type}};
        hg_status status = run(r, arrays, 2, &(scalar){"n", n}, 1, NULL, NULL);
        if (!hg_type_is_float(r->type)) {
            CHECK(status == (n ? HG_OK : HG_ERROR_EXECUTION_FAILED));
            if (!n) continue;
            integer_mean(r->type, input, n, expected);
        } else { /* the quotient in the type that the kernel adds products in */
            adder s;
            uint8_t sum[8], count[8];
            static uint8_t wide[MAX_BYTES];
            CHECK_OK(status);
            adder_start(&s, r->type);
            for (uint64_t i = 0; i < n; i++)
                oracle_convert(s.inner, r->type, input + i * oracle_size(r->type),
                               wide + i * oracle_size(s.inner));
            CHECK(oracle_reduce(HG_OPNAME_SUM, s.inner, wide, n, s.sum) == ORACLE_OK);
            oracle_convert(s.inner, HG_TYPE_U64, (const uint8_t *)&n, count);
            CHECK(oracle_eval(HG_OP_DIV, s.inner, s.inner, 0, (const uint8_t *[]){s.sum, count},
                              sum) == ORACLE_OK);
            oracle_convert(r->type, s.inner, sum, expected);
        }
        expect(r, r->type, n, 0, expected, output);
    }
}

/* As a number to compare; 64-bit integers keep their order to the last bit. */
static long double number_of(hg_type type, const uint8_t *element) {
    double value;
    if (type == HG_TYPE_U64 || type == HG_TYPE_I64) {
        uint64_t bits;
        memcpy(&bits, element, 8);
        return type == HG_TYPE_U64 ? (long double)bits : (long double)(int64_t)bits;
    }
    oracle_convert(HG_TYPE_F64, type, element, (uint8_t *)&value);
    return (long double)value;
}

static void check_argument(const hg_operator *r, uint8_t *input, uint64_t n) {
    uint64_t bytes = hg_type_size_bytes(r->type), output = 99, best = n;
    array arrays[] = {{"input", input, n, r->type}, {"output", &output, 1, HG_TYPE_U64}};
    CHECK_OK(run(r, arrays, 2, &(scalar){"n", n}, 1, NULL, NULL));
    for (uint64_t i = 0; i < n; i++) {
        long double x = number_of(r->type, input + i * bytes);
        if (isnan(x)) continue;
        long double y = best < n ? number_of(r->type, input + best * bytes) : 0;
        if (best == n || (strcmp(r->operation, "ArgMax") == 0 ? x > y : x < y)) best = i;
    }
    CHECK_MESSAGE(output == (best < n ? best : 0),
                  "%s.%s of %" PRIu64 ": expected %" PRIu64 ", got %" PRIu64, r->operation,
                  hg_type_name(r->type), n, best, output);
}

static void test_argument(const hg_operator *r) {
    static uint8_t input[MAX_BYTES];
    uint64_t bytes = hg_type_size_bytes(r->type);
    for (size_t l = 0; l < HG_COUNT_OF(lengths); l++) {
        fill(r->type, input, lengths[l], false);
        check_argument(r, input, lengths[l]);
        fill(r->type, input, lengths[l], true); /* equal elements */
        if (lengths[l] > 20) add_specials(r->type, input + 10 * bytes);
        check_argument(r, input, lengths[l]);
    }
    memset(input, 0, sizeof input); /* all equal; then all but one, at a place of a late lane */
    check_argument(r, input, 1000);
    put_f64(r->type, 1, input + 767 * bytes);
    check_argument(r, input, 1000);
    for (uint64_t i = 0; hg_type_is_float(r->type) && i < 300; i++)
        put_f64(r->type, i == 299 ? -INFINITY : NAN, input + i * bytes);
    check_argument(r, input, 300);
    check_argument(r, input, 299);
}

/* ---- shapes ---- */

static void test_transpose(const hg_operator *r) {
    enum { ROWS = 9, COLUMNS = 14 };
    static uint8_t input[MAX_BYTES], output[MAX_BYTES];
    uint64_t bytes = hg_type_size_bytes(r->type);
    fill(r->type, input, ROWS * COLUMNS, false);
    array arrays[] = {{"input", input, ROWS * COLUMNS, r->type},
                      {"output", output, ROWS * COLUMNS, r->type}};
    scalar scalars[] = {{"rows", ROWS}, {"columns", COLUMNS}};
    CHECK_OK(run(r, arrays, 2, scalars, 2, NULL, NULL));
    for (uint64_t i = 0; i < ROWS; i++) {
        for (uint64_t j = 0; j < COLUMNS; j++)
            CHECK(memcmp(output + (j * ROWS + i) * bytes, input + (i * COLUMNS + j) * bytes,
                         bytes) == 0);
    }
}

static void test_reshape(const hg_operator *r) {
    static uint8_t input[MAX_BYTES], output[MAX_BYTES];
    fill(r->type, input, COUNT, false);
    array arrays[] = {{"input", input, COUNT, r->type}, {"output", output, COUNT, r->type}};
    CHECK_OK(run(r, arrays, 2, &(scalar){"n", COUNT}, 1, NULL, NULL));
    CHECK(memcmp(input, output, COUNT * hg_type_size_bytes(r->type)) == 0);
}

/* Concat, and Split as its inverse. */
static void test_parts(const hg_operator *r) {
    enum { ROWS = 6, A = 5, B = 8 };
    static uint8_t a[MAX_BYTES], b[MAX_BYTES], whole[MAX_BYTES];
    uint64_t bytes = hg_type_size_bytes(r->type);
    bool split = strcmp(r->operation, "Split") == 0;
    fill(r->type, a, ROWS * A, false);
    fill(r->type, b, ROWS * B, false);
    fill(r->type, whole, ROWS * (A + B), false);
    array arrays[] = {{"a", a, ROWS * A, r->type},
                      {"b", b, ROWS * B, r->type},
                      {split ? "input" : "output", whole, ROWS * (A + B), r->type}};
    scalar scalars[] = {{"rows", ROWS}, {"a_columns", A}, {"b_columns", B}, {"columns", A + B}};
    static uint8_t sources[3][MAX_BYTES];
    memcpy(sources[0], a, MAX_BYTES), memcpy(sources[1], b, MAX_BYTES),
        memcpy(sources[2], whole, MAX_BYTES);
    CHECK_OK(run(r, arrays, 3, scalars, 4, NULL, NULL));
    CHECK(split ? memcmp(whole, sources[2], MAX_BYTES) == 0
                : memcmp(a, sources[0], MAX_BYTES) == 0 && memcmp(b, sources[1], MAX_BYTES) == 0);
    for (uint64_t i = 0; i < ROWS; i++) {
        CHECK(memcmp(whole + i * (A + B) * bytes, a + i * A * bytes, A * bytes) == 0);
        CHECK(memcmp(whole + (i * (A + B) + A) * bytes, b + i * B * bytes, B * bytes) == 0);
    }
}

/* ---- records ---- */

static void test_kernel(const hg_operator *r) {
    static const struct {
        const char *operation;
        void (*test)(const hg_operator *r);
    } tests[] = {
        {"Add", test_binary},      {"Sub", test_binary},       {"Mul", test_binary},
        {"Div", test_binary},      {"ReLU", test_unary},       {"Sigmoid", test_unary},
        {"Tanh", test_unary},      {"Exp", test_unary},        {"Log", test_unary},
        {"Sin", test_unary},       {"Cos", test_unary},        {"MatMul", test_matrix},
        {"GEMM", test_matrix},     {"Conv", test_conv},        {"ReduceSum", test_reduce},
        {"ReduceMean", test_mean}, {"ReduceMax", test_reduce}, {"ReduceMin", test_reduce},
        {"ArgMax", test_argument}, {"ArgMin", test_argument},  {"Transpose", test_transpose},
        {"Reshape", test_reshape}, {"Concat", test_parts},     {"Split", test_parts}};
    for (size_t i = 0; i < HG_COUNT_OF(tests); i++) {
        if (strcmp(tests[i].operation, r->operation) == 0) {
            tests[i].test(r);
            return;
        }
    }
    CHECK_MESSAGE(false, "operation %s has no test", r->operation);
}

static void list_generators(const hg_operator *r, const char *between, char *text, size_t size) {
    text[0] = 0;
    for (const char *const *g = r->generators; *g; g++) {
        size_t length = strlen(text);
        snprintf(text + length, size - length, "%s%s", g == r->generators ? "" : between, *g);
    }
}

/* Semantics 5.14 */
static void test_record(const hg_operator *r) {
    char generators[256];
    hg_program *program = NULL;
    bool reduction = strcmp(r->category, "reduction") == 0,
         matrix = strcmp(r->category, "linear algebra") == 0;
    CHECK(hg_operator_find(r->operation, r->type) == r &&
          hg_operator_supported(r->operation, r->type));
    CHECK_TEXT(r->embedding, reduction ? "Orbit" : matrix ? "CharacterBasis" : "ElementWise");
    CHECK_TEXT(r->lifting, reduction ? "Orbit" : matrix ? "CharacterBasis" : "Standard");
    CHECK_OK(hg_operator_program(r, &program));
    CHECK_TEXT(hg_program_meta(program, "operation"), r->operation);
    CHECK_TEXT(hg_program_meta(program, "type"), hg_type_name(r->type));
    CHECK_TEXT(hg_program_meta(program, "category"), r->category);
    CHECK_TEXT(hg_program_meta(program, "embedding"), r->embedding);
    CHECK_TEXT(hg_program_meta(program, "lifting"), r->lifting);
    list_generators(r, " ", generators, sizeof generators);
    CHECK_TEXT(hg_program_meta(program, "generators"), generators);
    hg_program *again = NULL;
    CHECK_OK(hg_operator_program(r, &again));
    CHECK(memcmp(hg_program_hash(program), hg_program_hash(again), 32) == 0);
    for (size_t i = 0; i < hg_program_param_count(program); i++) { /* each is named in the record */
        CHECK_MESSAGE(strstr(r->parameters, hg_program_param_name(program, i)), "%s: %s",
                      r->operation, hg_program_param_name(program, i));
    }
    hg_program_release(again);
    hg_program_release(program);
}

/* The tables of semantics 5.14; Sigmoid and Tanh are made of the generators listed there. */
static const struct {
    const char *operation, *category, *generators;
} operations[HG_OPERATOR_OPERATIONS] = {
    {"Add", "arithmetic", "TorusAdd"},
    {"Sub", "arithmetic", "TorusSub"},
    {"Mul", "arithmetic", "TorusMul"},
    {"Div", "arithmetic", "TorusDiv"},
    {"ReLU", "activation", "TorusReLU"},
    {"Sigmoid", "activation", "TorusNeg TorusExp TorusAdd TorusDiv"},
    {"Tanh", "activation", "TorusExp TorusSub TorusAdd TorusDiv"},
    {"Exp", "transcendental", "TorusExp"},
    {"Log", "transcendental", "TorusLog"},
    {"Sin", "transcendental", "TorusSin"},
    {"Cos", "transcendental", "TorusCos"},
    {"MatMul", "linear algebra", "CharProduct"},
    {"GEMM", "linear algebra", "CharProduct"},
    {"Conv", "linear algebra", "CharProduct"},
    {"ReduceSum", "reduction", "OrbitSum"},
    {"ReduceMean", "reduction", "OrbitMean"},
    {"ReduceMax", "reduction", "OrbitMax"},
    {"ReduceMin", "reduction", "OrbitMin"},
    {"ArgMax", "reduction", "OrbitArgMax"},
    {"ArgMin", "reduction", "OrbitArgMin"},
    {"Transpose", "shape", "PermuteAxes"},
    {"Reshape", "shape", "RemapIndices"},
    {"Concat", "shape", "ConcatIndices"},
    {"Split", "shape", "SplitIndices"},
};

static void test_table(void) {
    uint32_t supported = 0;
    for (size_t i = 0; i < HG_OPERATOR_OPERATIONS; i++) {
        const hg_operator *first = hg_operator_at(i * HG_OPERATOR_TYPES);
        char generators[256];
        list_generators(first, " ", generators, sizeof generators);
        CHECK_TEXT(first->operation, operations[i].operation);
        CHECK_TEXT(first->category, operations[i].category);
        CHECK_TEXT(generators, operations[i].generators);
        for (hg_type type = 0; type < HG_TYPE_COUNT; type++) {
            bool expected = hg_type_is_float(type) || hg_type_size_bytes(type) <= 8;
            CHECK(hg_operator_supported(operations[i].operation, type) == expected &&
                  (hg_operator_find(operations[i].operation, type) != NULL) == expected);
            supported += expected;
        }
    }
    CHECK_U64(supported, HG_OPERATOR_COUNT);
    CHECK(hg_operator_at(HG_OPERATOR_COUNT) == NULL);
    hg_program *program;
    CHECK_FAILS(hg_operator_program(hg_operator_at(0), NULL), HG_ERROR_INVALID_ARGUMENT, "",
                "hg_operator_program: program is NULL");
    CHECK_FAILS(hg_operator_program(hg_operator_find("add", HG_TYPE_F32), &program), HG_ERROR_ISA,
                "", "unknown operation: add");
    CHECK_FAILS(hg_operator_program(hg_operator_find("Add", HG_TYPE_I128), &program), HG_ERROR_ISA,
                "", "operation Add has no kernel for type i128");
    CHECK_FAILS(hg_operator_program(hg_operator_find(NULL, HG_TYPE_COUNT), &program), HG_ERROR_ISA,
                "", "unknown operation: (none)");
    CHECK(!program && !hg_operator_supported(NULL, HG_TYPE_F32) &&
          !hg_operator_supported("Add", HG_TYPE_COUNT));
}

/* The names of 0.1 mean the same. */
static void test_old_names(void) {
    hg_program *program = NULL;
    const hg_dispatch_record *add = hg_dispatch("Add", HG_TYPE_F32);
    CHECK(add && add == hg_operator_find("Add", HG_TYPE_F32) &&
          hg_dispatch_at(1) == hg_operator_at(1));
    CHECK((size_t)HG_DISPATCH_COUNT == HG_OPERATOR_COUNT &&
          (size_t)HG_DISPATCH_TYPES == HG_OPERATOR_TYPES);
    CHECK(hg_dispatch_supported("Add", HG_TYPE_F32) && !hg_dispatch_supported("add", HG_TYPE_F32));
    CHECK_OK(hg_dispatch_program(add, &program));
    CHECK(program != NULL);
    hg_program_release(program);
}

static void test_page(void) {
    static char page[65536];
    FILE *file = fopen(HG_SOURCE_DIR "/docs/reference/operators.md", "rb");
    CHECK(file != NULL);
    if (!file) return;
    page[fread(page, 1, sizeof page - 1, file)] = 0;
    fclose(file);
    for (size_t i = 0; i < HG_OPERATOR_COUNT; i += HG_OPERATOR_TYPES) {
        const hg_operator *r = hg_operator_at(i);
        char generators[256], row[1024];
        list_generators(r, ", ", generators, sizeof generators);
        snprintf(row, sizeof row, "\n| `%s` | %s | `%s` | %s | %s | %s |\n", r->operation,
                 r->category, r->parameters, r->embedding, generators, r->lifting);
        CHECK_MESSAGE(strstr(page, row), "docs/reference/operators.md: missing row:%s", row);
    }
}

/* Every allocation may fail, and nothing is left behind. */
static void test_memory(failing_allocator *a) {
    for (uint64_t n = 1; n < 1000; n++) {
        hg_program *program = NULL;
        a->allocations = 0;
        a->fail_at = n;
        hg_status status = hg_operator_program(hg_operator_find("Conv", HG_TYPE_F16), &program);
        hg_program_release(program);
        CHECK_U64(a->live, 0);
        if (status == HG_OK) {
            a->fail_at = 0;
            return;
        }
        CHECK(status == HG_ERROR_OUT_OF_MEMORY && !program);
    }
    CHECK_MESSAGE(false, "it never succeeds");
}

int main(int argc, char **argv) {
    static failing_allocator memory;
    hg_allocator hooks = {sizeof hooks, &memory, failing_reallocate, failing_release};
    CHECK_OK(hg_set_allocator(&hooks));
    test_memory(&memory);
    backend = open_backend(argc > 1 ? argv[1] : "cpu");
    test_table();
    test_old_names();
    test_page();
    for (size_t i = 0; i < HG_OPERATOR_COUNT; i++) {
        test_record(hg_operator_at(i));
        test_kernel(hg_operator_at(i));
    }
    hg_backend_destroy(backend);
    return test_done();
}
