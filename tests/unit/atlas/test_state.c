/* Exact sums of doubles and the folding of a context's state, against MPFR with a precision that
 * holds every sum, and against binary128 where that is wide enough. */
#include "atlas/state.h"
#include "test.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#ifdef HG_HAVE_MPFR
#include <mpfr.h>
#endif

enum { WORDS = HG_RESONANCE_WORDS, CLASSES = HG_MAX_CLASSES };

static uint64_t seed = 1;
static uint64_t next_random(void) {
    seed += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = seed;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static double from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t to_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* All NaNs are one. */
static void check_double(const char *what, double actual, double expected) {
    bool same = isnan(expected) ? isnan(actual) : to_bits(actual) == to_bits(expected);
    CHECK_MESSAGE(same, "%s: expected %a, got %a (seed %" PRIu64 ")", what, expected, actual, seed);
}

/* Finite numbers of every kind. */
static double some_double(void) {
    static const double corners[] = {0.0,     -0.0,     DBL_MAX,      -DBL_MAX,
                                     DBL_MIN, -DBL_MIN, DBL_TRUE_MIN, -DBL_TRUE_MIN,
                                     1,       -1,       0.5,          DBL_EPSILON};
    uint64_t bits = next_random(), kind = next_random() % 8;
    if (kind == 0) return corners[bits % HG_COUNT_OF(corners)];
    if (kind == 1) return from_bits(bits & ~(UINT64_C(0x7FF) << 52)); /* subnormal */
    if (kind == 2)
        return from_bits((bits & ~(UINT64_C(0x7FF) << 52)) | (UINT64_C(0x7FE) - bits % 3)
                                                                 << 52); /* near the end */
    if (kind == 3)
        return from_bits((bits & UINT64_C(0x8000000000000000)) | (bits % 0x7FF) << 52); /* powers of
                                                                                           two */
    if (kind == 4) return (double)(int64_t)bits;
    return (bits >> 52 & 0x7FF) == 0x7FF ? 1.5 : from_bits(bits);
}

static double rounded_sum(const double *values, size_t count) {
    uint32_t words[WORDS] = {0}, flags = 0;
    for (size_t i = 0; i < count; i++) hg_resonance_add(words, &flags, values[i]);
    return hg_resonance_round(words, flags);
}

static void shuffle(double *values, size_t count) {
    for (size_t i = count; i > 1; i--) {
        size_t j = next_random() % i;
        double kept = values[i - 1];
        values[i - 1] = values[j];
        values[j] = kept;
    }
}

/* ---- sums that can be said ---- */

static void test_plain(void) {
    const double half_ulp = DBL_EPSILON / 2;
    struct {
        const char *what;
        double values[6], expected;
    } cases[] = {
        {"nothing", {0}, 0.0},
        {"minus zero", {-0.0, -0.0}, 0.0},
        {"what cancels is plus zero", {-1e300, 1e300}, 0.0},
        {"the smallest", {DBL_TRUE_MIN}, DBL_TRUE_MIN},
        {"subnormals become normal", {DBL_MIN - DBL_TRUE_MIN, DBL_TRUE_MIN}, DBL_MIN},
        {"the largest", {DBL_MAX}, DBL_MAX},
        {"a tie to even, down", {1, half_ulp}, 1},
        {"a tie to even, up", {1, DBL_EPSILON, half_ulp}, 1 + 2 * DBL_EPSILON},
        {"just above a tie", {1, half_ulp, DBL_TRUE_MIN}, 1 + DBL_EPSILON},
        {"just below a tie", {1, DBL_EPSILON, half_ulp, -DBL_TRUE_MIN}, 1 + DBL_EPSILON},
        {"a carry into the exponent", {2 - DBL_EPSILON, half_ulp}, 2},
        {"negative, a tie", {-1, -half_ulp}, -1},
        {"cancellation of the large", {1e300, 3.5, -1e300, 1e-300, -3.5}, 1e-300},
        {"half an ULP below infinity", {DBL_MAX, ldexp(1, 969)}, DBL_MAX},
        {"a tie with infinity", {DBL_MAX, ldexp(1, 970)}, INFINITY},
        {"a tie with minus infinity", {-DBL_MAX, -ldexp(1, 970)}, -INFINITY},
        {"just below that tie", {DBL_MAX, ldexp(1, 970), -DBL_TRUE_MIN}, DBL_MAX},
        {"over and back", {DBL_MAX, DBL_MAX, DBL_MAX, -DBL_MAX, -DBL_MAX, 1}, DBL_MAX},
        {"infinity", {1, INFINITY, -DBL_MAX}, INFINITY},
        {"minus infinity", {-INFINITY, 1e308}, -INFINITY},
        {"both", {-INFINITY, 1, INFINITY}, NAN},
        {"not a number", {1, NAN, INFINITY}, NAN},
    };
    for (size_t i = 0; i < HG_COUNT_OF(cases); i++)
        check_double(cases[i].what, rounded_sum(cases[i].values, 6), cases[i].expected);
}

/* One value and its opposite are what they were; every exponent, both signs. */
static void test_each_exponent(void) {
    for (uint64_t e = 0; e < 0x7FF; e++)
        for (int s = 0; s < 2; s++) {
            double value = from_bits((uint64_t)s << 63 | e << 52 |
                                     (next_random() & ((UINT64_C(1) << 52) - 1)));
            uint32_t words[WORDS] = {0}, flags = 0, any = 0;
            hg_resonance_add(words, &flags, value);
            check_double("one value", hg_resonance_round(words, flags), value);
            hg_resonance_add(words, &flags, -value);
            for (int i = 0; i < WORDS; i++) any |= words[i];
            CHECK_U64(any, 0);
        }
}

/* Numbers that are near each other: binary128 adds them exactly. */
static void test_against_binary128(void) {
#ifdef __SIZEOF_FLOAT128__
    for (int n = 0; n < 2000; n++) {
        double values[32];
        __extension__ __float128 sum = 0;
        size_t count = 1 + next_random() % 32;
        int around = (int)(next_random() % 1900) - 950;
        for (size_t i = 0; i < count; i++) {
            values[i] = ldexp((double)(int64_t)(next_random() >> 11),
                              around - (int)(next_random() % 40)) *
                        (next_random() & 1 ? 1 : -1);
            sum += values[i];
        }
        check_double("binary128", rounded_sum(values, count), sum == 0 ? 0.0 : (double)sum);
    }
#else
    SKIP("no binary128");
#endif
}

/* ---- MPFR ---- */

#ifdef HG_HAVE_MPFR
/* From 2^-1074 to 2^1200. */
enum { PRECISION = 2400 };

static double exact_sum(const double *values, size_t count) {
    mpfr_t sum;
    mpfr_init2(sum, PRECISION);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < count; i++)
        if (mpfr_add_d(sum, sum, values[i], MPFR_RNDN) != 0)
            CHECK_MESSAGE(false, "the oracle rounds");
    double result = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clear(sum);
    return result == 0 ? 0.0 : result;
}

static void test_against_mpfr(void) {
    for (int n = 0; n < 4000; n++) {
        double values[64];
        size_t count = 1 + next_random() % 48;
        for (size_t i = 0; i < count; i++) values[i] = some_double();
        size_t again = next_random() % 3 == 0 ? count / 2 : 0; /* some go again: what is left is
                                                                  small beside what was added */
        for (size_t i = 0; i < again && count < 64; i++) values[count++] = -values[i];
        double expected = exact_sum(values, count);
        check_double("MPFR", rounded_sum(values, count), expected);
        shuffle(values, count);
        check_double("MPFR, in another order", rounded_sum(values, count), expected);
    }
}

/* Sums that lie at ties of every exponent, and next to them. */
static void test_ties(void) {
    for (int e = -1074; e <= 1023; e++)
        for (int k = 0; k < 3; k++) {
            double unit = ldexp(1, e < -1021 ? -1074 : e - 52),
                   value = ldexp(1, e) + (k & 1 ? unit : 0);
            double values[4] = {value, unit / 2, k == 2 ? DBL_TRUE_MIN : 0,
                                next_random() & 1 ? -DBL_TRUE_MIN : 0};
            if (!isfinite(value)) continue;
            check_double("a tie", rounded_sum(values, 4), exact_sum(values, 4));
        }
}

/* An accumulator as an integer in units of 2^-1074. */
static void set_words(mpfr_t sum, const uint32_t *words) {
    mpz_t z;
    mpz_init(z);
    mpz_import(z, WORDS, -1, sizeof *words, 0, 0, words);
    if (words[WORDS - 1] >> 31) {
        mpz_t all;
        mpz_init_set_ui(all, 1);
        mpz_mul_2exp(all, all, 32 * WORDS);
        mpz_sub(z, z, all);
        mpz_clear(all);
    }
    mpfr_set_z_2exp(sum, z, -1074, MPFR_RNDN);
    mpz_clear(z);
}

/* value · 2^64, as if a launch had added it that often. */
static void add_2_64_times(uint32_t *magnitude, double value) {
    uint32_t one[WORDS] = {0}, flags = 0;
    uint64_t carry = 0;
    hg_resonance_add(one, &flags, value);
    for (int i = 2; i < WORDS; i++) {
        carry += (uint64_t)magnitude[i] + one[i - 2];
        magnitude[i] = (uint32_t)carry;
        carry >>= 32;
    }
    CHECK_U64(carry | one[WORDS - 1] | one[WORDS - 2], 0);
}
#endif

/* ---- the state ---- */

typedef struct image {
    _Alignas(8) uint8_t bytes[HG_STATE_BYTES];
} image;

static uint32_t *words_at(image *s, int offset, int index, int each) {
    return (uint32_t *)(void *)(s->bytes + offset) + (size_t)index * (size_t)each;
}
static uint32_t *resonance(image *s, int cls) {
    return words_at(s, HG_STATE_RESONANCE, cls, WORDS);
}
static double resonance_of(image *s, int cls) {
    return hg_resonance_round(resonance(s, cls), *words_at(s, HG_STATE_FLAGS, cls, 1));
}

static void add_pending(image *s, int cls, double value) {
    hg_resonance_add(
        words_at(s, signbit(value) ? HG_STATE_PENDING_SUB : HG_STATE_PENDING_ADD, cls, WORDS),
        words_at(s, HG_STATE_PENDING_FLAGS, cls, 1), isfinite(value) ? fabs(value) : value);
}

static void write_phase(image *s, int cls, uint64_t lane, uint32_t phase) {
    uint64_t *at = (uint64_t *)(void *)(s->bytes + HG_STATE_PENDING_PHASE) + cls,
             value = (lane + 1) << HG_PENDING_PHASE_BITS | phase;
    if (value > *at) *at = value;
}

static bool pending_is_empty(const image *s) {
    for (int i = HG_STATE_PENDING_FLAGS; i < HG_STATE_BYTES; i++)
        if (s->bytes[i]) return false;
    return true;
}

static void test_layout(void) {
    CHECK_U64(HG_STATE_PENDING_PHASE % 8, 0);
    CHECK_U64(HG_STATE_FLAGS, 96 * 4);
    CHECK_U64(HG_STATE_RESONANCE, HG_STATE_FLAGS + 97 * 4);
    CHECK_U64(HG_STATE_PENDING_FLAGS, HG_STATE_RESONANCE + 97 * 68 * 4);
    CHECK_U64(HG_STATE_BYTES, HG_STATE_PENDING_PHASE + 96 * 8);
}

static void test_phases(void) {
    static image s, before;
    memset(&s, 0, sizeof s);
    write_phase(&s, 0, 0, 767);
    write_phase(&s, 3, 7, 5);
    write_phase(&s, 3, 2, 700);
    write_phase(&s, 95, (UINT64_C(1) << 40) - 1, 0);
    *words_at(&s, HG_STATE_PHASE, 95, 1) = 9;
    *words_at(&s, HG_STATE_PHASE, 4, 1) = 11;
    hg_state_fold(&s);
    CHECK_U64(*words_at(&s, HG_STATE_PHASE, 0, 1), 767);
    CHECK_U64(*words_at(&s, HG_STATE_PHASE, 3, 1), 5);
    CHECK_U64(*words_at(&s, HG_STATE_PHASE, 95, 1), 0);
    CHECK_U64(*words_at(&s, HG_STATE_PHASE, 4, 1), 11);
    CHECK(pending_is_empty(&s));
    before = s;
    hg_state_fold(&s);
    CHECK(memcmp(&s, &before, sizeof s) == 0);
}

static void test_flags(void) {
    static image s;
    memset(&s, 0, sizeof s);
    add_pending(&s, 0, INFINITY);
    add_pending(&s, 1, -INFINITY);
    add_pending(&s, 2, NAN);
    add_pending(&s, 3, 1);
    hg_state_fold(&s);
    check_double("class with infinity", resonance_of(&s, 0), INFINITY);
    check_double("class with minus infinity", resonance_of(&s, 1), -INFINITY);
    check_double("class with a NaN", resonance_of(&s, 2), NAN);
    check_double("class beside them", resonance_of(&s, 3), 1);
    check_double("their sum", resonance_of(&s, HG_RESONANCE_TOTAL), NAN);
    CHECK(pending_is_empty(&s));
    add_pending(&s, 0, -INFINITY);
    hg_state_fold(&s);
    check_double("flags stay", resonance_of(&s, 0), NAN);
}

/* Launches that add to many classes, each folded: every class and their sum are the sums of all
 * that was ever added. */
static void test_folds(void) {
    enum { LAUNCHES = 12, VALUES = 400 };
    static image s;
    static double added[CLASSES][LAUNCHES * VALUES], all[LAUNCHES * VALUES];
    size_t count[CLASSES] = {0}, total = 0;
    memset(&s, 0, sizeof s);
    for (int launch = 0; launch < LAUNCHES; launch++) {
        for (int i = 0; i < VALUES; i++) {
            int cls = (int)(next_random() % (launch % 2 ? 4 : CLASSES));
            double value = some_double();
            add_pending(&s, cls, value);
            added[cls][count[cls]++] = all[total++] = value;
        }
        hg_state_fold(&s);
        CHECK(pending_is_empty(&s));
    }
    for (int c = 0; c <= CLASSES; c++) {
        const double *values = c < CLASSES ? added[c] : all;
        size_t n = c < CLASSES ? count[c] : total;
        check_double("a class", resonance_of(&s, c), rounded_sum(values, n));
#ifdef HG_HAVE_MPFR
        check_double("a class by MPFR", resonance_of(&s, c), exact_sum(values, n));
#endif
    }
}

#ifdef HG_HAVE_MPFR
/* 2^64 additions of the largest number to every class in one launch, of both signs: nothing is
 * lost, what is taken away again is gone. */
static void test_headroom(void) {
    static image s;
    mpfr_t sum, expected;
    mpfr_init2(sum, PRECISION);
    mpfr_init2(expected, PRECISION);
    memset(&s, 0, sizeof s);
    for (int sign = 0; sign < 2; sign++) {
        int offset = sign ? HG_STATE_PENDING_SUB : HG_STATE_PENDING_ADD;
        for (int twice = 0; twice < 1 + sign; twice++) { /* so the second time ends at the other
                                                            side */
            for (int c = 0; c < CLASSES; c++)
                add_2_64_times(words_at(&s, offset, c, WORDS), DBL_MAX);
            hg_state_fold(&s);
        }
        for (int c = 0; c <= CLASSES; c++) {
            set_words(sum, resonance(&s, c));
            mpfr_set_d(expected, sign ? -DBL_MAX : DBL_MAX, MPFR_RNDN);
            mpfr_mul_2ui(expected, expected, 64, MPFR_RNDN);
            if (c == CLASSES) mpfr_mul_ui(expected, expected, CLASSES, MPFR_RNDN);
            CHECK(mpfr_equal_p(sum, expected));
            check_double("beyond the largest", resonance_of(&s, c), sign ? -INFINITY : INFINITY);
        }
    }
    for (int c = 0; c < CLASSES; c++) {
        add_2_64_times(words_at(&s, HG_STATE_PENDING_ADD, c, WORDS), DBL_MAX);
        add_pending(&s, c, c + 0.5);
    }
    hg_state_fold(&s);
    for (int c = 0; c < CLASSES; c++) check_double("back again", resonance_of(&s, c), c + 0.5);
    check_double("the sum back again", resonance_of(&s, CLASSES), 95 * 96 / 2 + 48);
    mpfr_clear(sum);
    mpfr_clear(expected);
}
#endif

int main(void) {
    test_plain();
    test_each_exponent();
    test_against_binary128();
    test_layout();
    test_phases();
    test_flags();
    test_folds();
#ifdef HG_HAVE_MPFR
    test_against_mpfr();
    test_ties();
    test_headroom();
    mpfr_free_cache();
#else
    SKIP("MPFR is not installed");
#endif
    return test_done();
}
