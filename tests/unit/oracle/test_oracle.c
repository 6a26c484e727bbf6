/* The oracle itself, against the vectors of semantics 0.3, 2 and 3.3, exhaustive 8-bit identities
 * and long division by products: an oracle nobody checks proves nothing. */
#include "oracle/oracle.h"
#include "test.h"
#include <math.h>
#include <stdlib.h>

static uint64_t bits_of(hg_type type, const uint8_t *bytes) {
    uint64_t v = 0;
    for (uint32_t i = 0; i < oracle_size(type) && i < 8; i++) v |= (uint64_t)bytes[i] << (8 * i);
    return v;
}

static void put(hg_type type, uint64_t v, uint8_t *bytes) {
    memset(bytes, 0, ORACLE_MAX_BYTES);
    for (uint32_t i = 0; i < oracle_size(type) && i < 8; i++) bytes[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t f32(float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}
static uint64_t f64(double x) {
    uint64_t u;
    memcpy(&u, &x, 8);
    return u;
}

static uint64_t cvt(hg_type to, hg_type from, uint64_t source) {
    uint8_t s[ORACLE_MAX_BYTES], r[ORACLE_MAX_BYTES];
    put(from, source, s);
    oracle_convert(to, from, s, r);
    return bits_of(to, r);
}

static uint64_t eval3(hg_op op, hg_type type, uint64_t a, uint64_t b, uint64_t c) {
    uint8_t x[3][ORACLE_MAX_BYTES], r[ORACLE_MAX_BYTES] = {0};
    put(type, a, x[0]);
    put(type, b, x[1]);
    put(type, c, x[2]);
    const uint8_t *args[3] = {x[0], x[1], x[2]};
    return oracle_eval(op, type, type, 0, args, r) == ORACLE_OK ? bits_of(type, r) : UINT64_MAX;
}
static uint64_t eval(hg_op op, hg_type type, uint64_t a, uint64_t b) {
    return eval3(op, type, a, b, 0);
}

static bool compare(hg_condition c, hg_type type, uint64_t a, uint64_t b) {
    uint8_t x[2][ORACLE_MAX_BYTES], r[1] = {2};
    put(type, a, x[0]);
    put(type, b, x[1]);
    const uint8_t *args[2] = {x[0], x[1]};
    oracle_eval(HG_OP_SET, type, type, (int)c, args, r);
    return r[0] == 1;
}

/* semantics 3.3 and 0.3 */
static void test_conversion_vectors(void) {
    CHECK_U64(cvt(HG_TYPE_I32, HG_TYPE_F32, f32(3.9f)), 3);
    CHECK_U64(cvt(HG_TYPE_I32, HG_TYPE_F32, f32(-3.9f)), 0xFFFFFFFD);
    CHECK_U64(cvt(HG_TYPE_I32, HG_TYPE_F32, f32(1e20f)), 2147483647);
    CHECK_U64(cvt(HG_TYPE_I32, HG_TYPE_F32, f32(NAN)), 0);
    CHECK_U64(cvt(HG_TYPE_U8, HG_TYPE_F32, f32(-1.0f)), 0);
    CHECK_U64(cvt(HG_TYPE_U8, HG_TYPE_F32, f32(300.0f)), 255);
    CHECK_U64(cvt(HG_TYPE_U32, HG_TYPE_I32, 0xFFFFFFFF), 4294967295);
    CHECK_U64(cvt(HG_TYPE_I32, HG_TYPE_I64, 0x100000002), 2);
    CHECK_U64(cvt(HG_TYPE_I16, HG_TYPE_I8, 0xFF), 0xFFFF);
    CHECK_U64(cvt(HG_TYPE_I8, HG_TYPE_U8, 0xFF), 0xFF);
    CHECK_U64(cvt(HG_TYPE_F32, HG_TYPE_F64, f64(0.1)), 0x3DCCCCCD);
    CHECK_U64(cvt(HG_TYPE_BF16, HG_TYPE_F32, f32(1.0f)), 0x3F80);
    CHECK_U64(cvt(HG_TYPE_F16, HG_TYPE_F32, f32(1.0f)), 0x3C00);
    CHECK_U64(cvt(HG_TYPE_F16, HG_TYPE_F32, f32(65520.0f)), 0x7C00);
    CHECK_U64(cvt(HG_TYPE_F16, HG_TYPE_F32, f32(65519.0f)), 0x7BFF);
    CHECK_U64(cvt(HG_TYPE_F32, HG_TYPE_BF16, cvt(HG_TYPE_BF16, HG_TYPE_U32, 16842753)),
              f32(16908288.0f));
    CHECK_U64(cvt(HG_TYPE_F16, HG_TYPE_F64, f64(1 + 0x1p-11 + 0x1p-40)), 0x3C01); /* 1.0009766,
                                                                                     through f32 it
                                                                                     would be 1 */
    CHECK_U64(cvt(HG_TYPE_I64, HG_TYPE_F64, f64(-0x1p63)), (uint64_t)1 << 63);
    CHECK_U64(cvt(HG_TYPE_F16, HG_TYPE_F64, f64(0x1p-25)), 0);
    CHECK_U64(cvt(HG_TYPE_F16, HG_TYPE_F64, f64(0x1.8p-24)), 2);
    CHECK_U64(cvt(HG_TYPE_F32, HG_TYPE_F64, f64(0x1p-149)), 1);
}

/* The host converts these pairs itself; a second opinion over a spread of values. */
static void test_conversions_against_host(void) {
    uint64_t x = 88172645463325252u, differences = 0;
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        uint64_t v = x >> (x & 63);
        differences += cvt(HG_TYPE_F64, HG_TYPE_U64, v) != f64((double)v);
        differences += cvt(HG_TYPE_F32, HG_TYPE_U64, v) != f32((float)v);
        differences += cvt(HG_TYPE_F64, HG_TYPE_I64, v) != f64((double)(int64_t)v);
        differences += cvt(HG_TYPE_F32, HG_TYPE_I64, x) != f32((float)(int64_t)x);
        double d;
        memcpy(&d, &x, sizeof d);
        if (d == d) differences += cvt(HG_TYPE_F32, HG_TYPE_F64, x) != f32((float)d);
        if (fabs(d) < 9e18) differences += cvt(HG_TYPE_I64, HG_TYPE_F64, x) != (uint64_t)(int64_t)d;
        uint8_t wide[ORACLE_MAX_BYTES], narrow[ORACLE_MAX_BYTES];
        put(HG_TYPE_F64, x, wide);
        for (int t = HG_TYPE_I128; t <= HG_TYPE_I4096; t++) { /* exact there and back where it is an
                                                                 integer that fits */
            uint8_t back[ORACLE_MAX_BYTES];
            oracle_convert((hg_type)t, HG_TYPE_F64, wide, narrow);
            oracle_convert(HG_TYPE_F64, (hg_type)t, narrow, back);
            if (fabs(d) < 0x1p127 && fabs(d) >= 0x1p52) differences += memcmp(back, wide, 8) != 0;
        }
        if (i > 200) i += 40;
    }
    CHECK_U64(differences, 0);
    for (uint32_t h = 0; h < 65536; h++) { /* every half there and back */
        if ((h & 0x7C00) == 0x7C00 && (h & 0x3FF)) continue;
        differences += cvt(HG_TYPE_F16, HG_TYPE_F32, cvt(HG_TYPE_F32, HG_TYPE_F16, h)) != h;
        differences += cvt(HG_TYPE_F16, HG_TYPE_F64, cvt(HG_TYPE_F64, HG_TYPE_F16, h)) != h;
    }
    CHECK_U64(differences, 0);
}

static void test_corner_cases(void) {
    CHECK_U64(eval(HG_OP_DIV, HG_TYPE_I32, 0x80000000, 0xFFFFFFFF), 0x80000000);
    CHECK_U64(eval(HG_OP_REM, HG_TYPE_I32, 0x80000000, 0xFFFFFFFF), 0);
    CHECK_U64(eval(HG_OP_DIV, HG_TYPE_I64, (uint64_t)1 << 63, UINT64_MAX), (uint64_t)1 << 63);
    CHECK_U64(eval(HG_OP_DIV, HG_TYPE_I8, 0xF9, 2), 0xFD); /* -7 / 2 = -3 */
    CHECK_U64(eval(HG_OP_REM, HG_TYPE_I8, 0xF9, 2), 0xFF);
    CHECK_U64(eval(HG_OP_DIV, HG_TYPE_U8, 1, 0), UINT64_MAX); /* fault */
    CHECK_U64(eval(HG_OP_ABS, HG_TYPE_I8, 0x80, 0), 0x80);
    CHECK_U64(eval(HG_OP_NEG, HG_TYPE_I16, 0x8000, 0), 0x8000);
    CHECK_U64(eval(HG_OP_NEG, HG_TYPE_U16, 1, 0), 0xFFFF);
    CHECK_U64(eval(HG_OP_ADD, HG_TYPE_U8, 200, 100), 44);
    CHECK_U64(eval(HG_OP_SIGN, HG_TYPE_I32, (uint32_t)-5, 0), 0xFFFFFFFF);
    CHECK_U64(eval(HG_OP_SIGN, HG_TYPE_U32, (uint32_t)-5, 0), 1);
    CHECK_U64(eval(HG_OP_SIGN, HG_TYPE_F32, f32(-0.0f), 0), 0);
    CHECK_U64(eval(HG_OP_MIN, HG_TYPE_F32, f32(0.0f), f32(-0.0f)), f32(-0.0f));
    CHECK_U64(eval(HG_OP_MAX, HG_TYPE_F32, f32(-0.0f), f32(0.0f)), f32(0.0f));
    CHECK_U64(eval(HG_OP_MIN, HG_TYPE_F32, f32(NAN), f32(3)), f32(3));
    CHECK_U64(eval(HG_OP_MAX, HG_TYPE_F64, f64(3), f64(NAN)), f64(3));
    CHECK_U64(eval(HG_OP_REM, HG_TYPE_F32, f32(-5.5f), f32(2)), f32(-1.5f));
    CHECK_U64(eval(HG_OP_ROUND, HG_TYPE_F32, f32(-2.5f), 0), f32(-3));
    CHECK_U64(eval(HG_OP_ROUND, HG_TYPE_F32, f32(0.49999997f), 0), 0);
    CHECK_U64(eval(HG_OP_RINT, HG_TYPE_F32, f32(2.5f), 0), f32(2));
    CHECK_U64(eval(HG_OP_RINT, HG_TYPE_F64, f64(-3.5), 0), f64(-4));
    CHECK_U64(eval(HG_OP_RINT, HG_TYPE_I32, 7, 0), 7);
    CHECK_U64(eval(HG_OP_ROUND, HG_TYPE_F64, f64(4503599627370497.5 - 1), 0),
              f64(4503599627370497.0));
    CHECK_U64(eval3(HG_OP_CLAMP, HG_TYPE_I32, 5, 7, 3), 3); /* low > high gives high */
    CHECK_U64(eval3(HG_OP_FMA, HG_TYPE_F32, f32(1 + 0x1p-23f), f32(1 - 0x1p-23f), f32(-1)),
              f32(-0x1p-46f));
    CHECK_U64(eval3(HG_OP_MAD, HG_TYPE_F32, f32(1 + 0x1p-23f), f32(1 - 0x1p-23f), f32(-1)), 0);
    CHECK_U64(eval3(HG_OP_FMS, HG_TYPE_I8, 10, 20, 30), 170);
    CHECK_U64(eval(HG_OP_DIV, HG_TYPE_F32, f32(1), f32(-0.0f)), f32(-INFINITY));
    CHECK(compare(HG_COND_NE, HG_TYPE_F32, f32(NAN), f32(NAN)));
    CHECK(!compare(HG_COND_EQ, HG_TYPE_F32, f32(NAN), f32(NAN)));
    CHECK(compare(HG_COND_EQ, HG_TYPE_F64, f64(0.0), f64(-0.0)));
    CHECK(compare(HG_COND_LT, HG_TYPE_I8, 0xFF, 1));
    CHECK(compare(HG_COND_GTU, HG_TYPE_I8, 0xFF, 1));
    CHECK(compare(HG_COND_GT, HG_TYPE_U8, 0xFF, 1));
    uint8_t value[8] = {0x80}, amount[4] = {9, 0, 0, 0}, r[8];
    const uint8_t *args[2] = {value, amount};
    oracle_eval(HG_OP_SHR, HG_TYPE_I8, HG_TYPE_I8, 0, args, r);
    CHECK_U64(r[0], 0xC0); /* 9 mod 8 = 1, arithmetic */
    oracle_eval(HG_OP_SHR, HG_TYPE_U8, HG_TYPE_U8, 0, args, r);
    CHECK_U64(r[0], 0x40);
}

/* 8-bit results are the low byte of wide results of the sign-extended operands; division must
 * satisfy q b + r = a. */
static void test_wide_against_narrow(void) {
    static const hg_op OPS[] = {HG_OP_ADD, HG_OP_SUB, HG_OP_MUL, HG_OP_DIV, HG_OP_REM,
                                HG_OP_MIN, HG_OP_MAX, HG_OP_AND, HG_OP_OR,  HG_OP_XOR};
    uint64_t differences = 0;
    for (int is_signed = 0; is_signed < 2; is_signed++)
        for (size_t o = 0; o < sizeof OPS / sizeof OPS[0]; o++)
            for (uint32_t a = 0; a < 256; a += 3)
                for (uint32_t b = 0; b < 256; b += 5) {
                    hg_type small = is_signed ? HG_TYPE_I64 : HG_TYPE_U64,
                            big = is_signed ? HG_TYPE_I256 : HG_TYPE_U256;
                    uint64_t x = is_signed ? (uint64_t)(int64_t)(int8_t)a : a,
                             y = is_signed ? (uint64_t)(int64_t)(int8_t)b : b;
                    uint8_t s[2][ORACLE_MAX_BYTES], w[2][ORACLE_MAX_BYTES], r1[ORACLE_MAX_BYTES],
                        r2[ORACLE_MAX_BYTES], cut[ORACLE_MAX_BYTES];
                    put(small, x, s[0]);
                    put(small, y, s[1]);
                    oracle_convert(big, small, s[0], w[0]);
                    oracle_convert(big, small, s[1], w[1]);
                    const uint8_t *sa[2] = {s[0], s[1]}, *wa[2] = {w[0], w[1]};
                    oracle_outcome e1 = oracle_eval(OPS[o], small, small, 0, sa, r1),
                                   e2 = oracle_eval(OPS[o], big, big, 0, wa, r2);
                    if (e1 == ORACLE_OK) oracle_convert(small, big, r2, cut);
                    differences += e1 != e2 || (e1 == ORACLE_OK && memcmp(r1, cut, 8) != 0);
                }
    CHECK_U64(differences, 0);
}

static void test_long_division(void) {
    uint64_t x = 1234567;
    for (int t = 0; t < 2 * 6; t++) {
        hg_type type = (hg_type)(t < 6 ? HG_TYPE_I128 + t : HG_TYPE_U128 + t - 6);
        uint32_t size = oracle_size(type);
        for (int round = 0; round < 4; round++) {
            uint8_t a[ORACLE_MAX_BYTES], b[ORACLE_MAX_BYTES] = {0}, q[ORACLE_MAX_BYTES],
                                         r[ORACLE_MAX_BYTES], back[ORACLE_MAX_BYTES];
            for (uint32_t i = 0; i < size; i++) {
                x = x * 6364136223846793005u + 1442695040888963407u;
                a[i] = (uint8_t)(x >> 56);
                if (i < size >> round) b[i] = (uint8_t)(x >> 48);
            }
            const uint8_t *ab[2] = {a, b};
            CHECK(oracle_eval(HG_OP_DIV, type, type, 0, ab, q) == ORACLE_OK);
            CHECK(oracle_eval(HG_OP_REM, type, type, 0, ab, r) == ORACLE_OK);
            const uint8_t *fma_args[3] = {q, b, r};
            CHECK(oracle_eval(HG_OP_FMA, type, type, 0, fma_args, back) == ORACLE_OK);
            CHECK_MESSAGE(memcmp(back, a, size) == 0, "%u-byte division: q b + r is not a", size);
        }
    }
}

static void test_narrow_floats(void) {
    uint64_t one = 0x3C00, ulp = 0x3C01;                       /* f16: 1, 1 + 2^-10 */
    CHECK_U64(eval(HG_OP_ADD, HG_TYPE_F16, one, 0x1000), one); /* 1 + 2^-11: tie to even */
    CHECK_U64(eval(HG_OP_ADD, HG_TYPE_F16, ulp, 0x1000), 0x3C02);
    CHECK_U64(eval(HG_OP_MUL, HG_TYPE_F16, 0x7BFF, 0x4000), 0x7C00);  /* overflow */
    CHECK_U64(eval(HG_OP_ADD, HG_TYPE_BF16, 0x3F80, 0x3B80), 0x3F80); /* 1 + 2^-8: tie to even */
    CHECK_U64(eval3(HG_OP_MAD, HG_TYPE_F16, ulp, ulp, 0x8000 | 0x3C02), 0);      /* the product is
                                                                                    rounded first */
    CHECK_U64(eval3(HG_OP_FMA, HG_TYPE_F16, ulp, ulp, 0x8000 | 0x3C02), 0x0010); /* 2^-20 */
}

static float f32_of(uint64_t bits) {
    uint32_t u = (uint32_t)bits;
    float x;
    memcpy(&x, &u, 4);
    return x;
}
static double f64_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

/* Quad results rounded once are never more than one place from the host's own functions. */
static void test_functions(void) {
    for (double x = -20; x < 20; x += 0.37) {
        uint64_t b = f64(x);
        CHECK(fabs(f64_of(eval(HG_OP_EXP, HG_TYPE_F64, b, 0)) - exp(x)) <= 0x1p-51 * exp(x));
        CHECK(fabs(f64_of(eval(HG_OP_SIN, HG_TYPE_F64, b, 0)) - sin(x)) <= 0x1p-51);
        CHECK(fabs(f64_of(eval(HG_OP_TANH, HG_TYPE_F64, b, 0)) - tanh(x)) <= 0x1p-51);
        CHECK(fabs(f64_of(eval(HG_OP_EXP2, HG_TYPE_F64, b, 0)) - exp2(x)) <= 0x1p-51 * exp2(x));
        CHECK(fabs(f64_of(eval(HG_OP_EXP10, HG_TYPE_F64, b, 0)) - pow(10, x)) <=
              0x1p-51 * pow(10, x));
        CHECK(fabs(f64_of(eval(HG_OP_SINPI, HG_TYPE_F64, f64(x / 40), 0)) - sin(M_PI * x / 40)) <=
              0x1p-51);
        CHECK(fabs(f64_of(eval(HG_OP_COSPI, HG_TYPE_F64, b, 0)) - cos(M_PI * x)) <= 0x1p-46);
        CHECK(fabs(f64_of(eval(HG_OP_EXPM1, HG_TYPE_F64, b, 0)) - expm1(x)) <=
              0x1p-50 * fabs(expm1(x)));
        CHECK(fabs(f64_of(eval(HG_OP_LOG1P, HG_TYPE_F64, f64(fabs(x)), 0)) - log1p(fabs(x))) <=
              0x1p-51 * log1p(fabs(x)));
        CHECK(fabs(f64_of(eval(HG_OP_CBRT, HG_TYPE_F64, b, 0)) - cbrt(x)) <=
              0x1p-50 * fabs(cbrt(x)));
        CHECK(fabs(f64_of(eval(HG_OP_ERF, HG_TYPE_F64, b, 0)) - erf(x)) <= 0x1p-51);
        CHECK(fabs(f64_of(eval(HG_OP_ERFC, HG_TYPE_F64, b, 0)) - erfc(x)) <= 0x1p-48 * erfc(x));
        CHECK(fabs(f64_of(eval(HG_OP_ATAN, HG_TYPE_F64, b, 0)) - atan(x)) <= 0x1p-51);
        CHECK(fabs(f64_of(eval(HG_OP_ATAN2, HG_TYPE_F64, b, f64(-2))) - atan2(x, -2)) <= 0x1p-50);
        CHECK(fabs(f64_of(eval(HG_OP_ASIN, HG_TYPE_F64, f64(x / 20), 0)) - asin(x / 20)) <=
              0x1p-51);
        CHECK(fabs(f64_of(eval(HG_OP_ACOS, HG_TYPE_F64, f64(x / 20), 0)) - acos(x / 20)) <=
              0x1p-50);
        CHECK(fabs(f64_of(eval(HG_OP_SINH, HG_TYPE_F64, b, 0)) - sinh(x)) <=
              0x1p-50 * fabs(sinh(x)));
        CHECK(fabs(f64_of(eval(HG_OP_COSH, HG_TYPE_F64, b, 0)) - cosh(x)) <= 0x1p-50 * cosh(x));
        CHECK(fabs(f64_of(eval(HG_OP_ASINH, HG_TYPE_F64, b, 0)) - asinh(x)) <=
              0x1p-50 * fabs(asinh(x)));
        CHECK(fabs(f64_of(eval(HG_OP_ACOSH, HG_TYPE_F64, f64(1 + fabs(x)), 0)) -
                   acosh(1 + fabs(x))) <= 0x1p-50 * acosh(1 + fabs(x)));
        CHECK(fabs(f64_of(eval(HG_OP_ATANH, HG_TYPE_F64, f64(x / 21), 0)) - atanh(x / 21)) <=
              0x1p-50 * fabs(atanh(x / 21)));
        CHECK(fabs(f64_of(eval(HG_OP_HYPOT, HG_TYPE_F64, b, f64(3))) - hypot(x, 3)) <=
              0x1p-51 * hypot(x, 3));
    }
    CHECK_U64(eval(HG_OP_LOG, HG_TYPE_F32, 0, 0), f32(-INFINITY));
    CHECK(isnan(f32_of(eval(HG_OP_LOG, HG_TYPE_F32, f32(-1), 0))));
    CHECK_U64(eval(HG_OP_RSQRT, HG_TYPE_F32, 0, 0), f32(INFINITY));
    CHECK_U64(eval(HG_OP_SIGMOID, HG_TYPE_F32, 0, 0), f32(0.5f));
    CHECK(eval(HG_OP_SIGMOID, HG_TYPE_F32, f32(-100), 0) == f32((float)exp(-100.0)));
    CHECK(fabs(f64_of(eval(HG_OP_GELU, HG_TYPE_F64, f64(1), 0)) - 0.8413447460685429) < 1e-15);
    CHECK(fabs(f64_of(eval(HG_OP_TANH, HG_TYPE_F64, f64(1), 0)) - 0.7615941559557649) < 1e-15);
    CHECK_U64(eval(HG_OP_POW, HG_TYPE_F64, f64(2), f64(10)), f64(1024));
    uint8_t half[2] = {0, 0x3C}, r[8]; /* exp of f16 1 = 2.719 */
    const uint8_t *args[1] = {half};
    CHECK(oracle_eval(HG_OP_EXP, HG_TYPE_F16, HG_TYPE_F16, 0, args, r) == ORACLE_OK);
    CHECK_U64(r[0] | r[1] << 8, 0x4170);
}

static void test_reductions(void) {
    enum { N = 9000 };
    static uint8_t x[4 * N], r[ORACLE_MAX_BYTES];
    for (uint32_t i = 0; i < N; i++) {
        uint64_t b = f32((float)(i + 1));
        memcpy(&x[4 * i], &b, 4);
    }
    oracle_reduce(HG_OPNAME_SUM, HG_TYPE_F32, x, 1000, r);
    CHECK_U64(bits_of(HG_TYPE_F32, r), f32(500500));
    oracle_reduce(HG_OPNAME_MAX, HG_TYPE_F32, x, N, r);
    CHECK_U64(bits_of(HG_TYPE_F32, r), f32(N));
    oracle_reduce(HG_OPNAME_MIN, HG_TYPE_F32, x, 0, r);
    CHECK_U64(bits_of(HG_TYPE_F32, r), f32(INFINITY));
    oracle_reduce(HG_OPNAME_PRODUCT, HG_TYPE_I8, x, 0, r);
    CHECK_U64(r[0], 1);
    oracle_reduce(HG_OPNAME_MAX, HG_TYPE_I16, x, 0, r);
    CHECK_U64(bits_of(HG_TYPE_I16, r), 0x8000);
    /* Order matters: 2^24, then ones; 130 elements put the last two onto lanes 0 and 1 before the
     * tree starts. */
    for (uint32_t i = 0; i < 130; i++) {
        uint64_t b = f32(i == 0 ? 0x1p24f : 1);
        memcpy(&x[4 * i], &b, 4);
    }
    oracle_reduce(HG_OPNAME_SUM, HG_TYPE_F32, x, 130, r);
    CHECK_U64(bits_of(HG_TYPE_F32, r), f32(0x1p24f + 128)); /* lane 0 loses one 1, and 1 in its
                                                               first tree step */
    memset(x, 0, 4);
    x[3] = 0x80; /* the sum of one -0 is -0: missing elements are skipped, not replaced by +0 */
    oracle_reduce(HG_OPNAME_SUM, HG_TYPE_F32, x, 1, r);
    CHECK_U64(bits_of(HG_TYPE_F32, r), 0x80000000);
}

int main(void) {
    test_conversion_vectors();
    test_conversions_against_host();
    test_corner_cases();
    test_wide_against_narrow();
    test_long_division();
    test_narrow_floats();
    test_functions();
    test_reductions();
    return test_done();
}
