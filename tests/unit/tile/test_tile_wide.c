/* The handlers of wide integers, each CPU level's, against the oracle's schoolbook limbs and
 * against GMP: random numbers, limbs at the edges of what a division guesses, divisors of every
 * length and position of the highest bit, the digit that has to be put back, all numbers of lanes
 * of a piece, and lanes that are not there. */
#include "oracle/oracle.h"
#include "test.h"
#include "tile/tile_internal.h"
#ifdef HG_HAVE_MPFR
#include <gmp.h>
#endif

enum { LANES = 19, WIDTH = 24, LIMBS = 64 };

static uint64_t seed = UINT64_C(0x9E3779B97F4A7C15);
static uint64_t next_random(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static void random_number(uint64_t *x, uint32_t n) {
    static const uint64_t EDGES[] = {0,
                                     1,
                                     2,
                                     UINT64_MAX,
                                     UINT64_MAX - 1,
                                     UINT64_C(1) << 63,
                                     (UINT64_C(1) << 63) - 1,
                                     (UINT64_C(1) << 63) + 1};
    uint64_t kind = next_random() % 4;
    uint32_t length = kind == 0 ? n : (uint32_t)(next_random() % (n + 1));
    for (uint32_t i = 0; i < n; i++) {
        bool edge = kind >= 2 || next_random() % 8 == 0;
        x[i] = i >= length ? 0 : edge ? EDGES[next_random() % HG_COUNT_OF(EDGES)] : next_random();
    }
    if (length && next_random() % 2) x[length - 1] >>= next_random() % 64;
    for (uint32_t i = 0; i < n && next_random() % 8 == 0; i++) x[i] = ~x[i];
}

/* Operands at i of a run: the cases that chance does not find, then chance. */
static void operands(uint32_t i, uint64_t *x, uint64_t *y, uint32_t n) {
    const uint64_t top = UINT64_C(1) << 63;
    random_number(x, n);
    random_number(y, n);
    if (i > 6) return;
    memset(x, 0, n * sizeof *x);
    memset(y, 0, n * sizeof *y);
    if (i == 0) { /* least number / -1 */
        x[n - 1] = top;
        memset(y, 0xFF, n * sizeof *y);
    } else if (i == 1) { /* by zero */
        random_number(x, n);
    } else if (i == 2 && n >= 4) { /* the first three limbs make the digit one too large:
                                      Knuth 4.3.1, exercise 21 */
        x[3] = top - 1, x[2] = top;
        y[2] = top, y[0] = 1;
    } else if (i == 3 && n >= 4) { /* the same, not normalised */
        x[3] = 1, x[2] = 1;
        y[2] = 1, y[1] = 0, y[0] = 1;
        x[2] = 0;
        x[1] = UINT64_MAX, x[0] = UINT64_MAX;
    } else if (i == 4 && n >= 4) { /* the highest limbs are equal: the digit is the largest */
        x[3] = y[2] = top + 5, x[2] = y[1] = 7;
        y[0] = 9;
    } else if (i == 5) { /* one limb */
        random_number(x, n);
        y[0] = next_random() | 1;
    } else if (i == 6) { /* as large as can be by one, and by itself */
        memset(x, 0xFF, n * sizeof *x);
        if (n % 4)
            y[0] = 1;
        else
            memset(y, 0xFF, n * sizeof *y);
    }
}

#ifdef HG_HAVE_MPFR
static void expect_gmp(kir_op op, const uint64_t *x, const uint64_t *y, const uint64_t *result,
                       uint32_t n, const char *what) {
    mpz_t a, b, r;
    uint64_t limbs[LIMBS] = {0};
    if (op != KIR_UDIV && op != KIR_UREM && op != KIR_MUL) return;
    mpz_inits(a, b, r, NULL);
    mpz_import(a, n, -1, 8, 0, 0, x);
    mpz_import(b, n, -1, 8, 0, 0, y);
    if (op == KIR_MUL) {
        mpz_mul(r, a, b);
        mpz_fdiv_r_2exp(r, r, (mp_bitcnt_t)n * 64);
    } else if (mpz_sgn(b) != 0) {
        if (op == KIR_UDIV)
            mpz_tdiv_q(r, a, b);
        else
            mpz_tdiv_r(r, a, b);
    }
    mpz_export(limbs, NULL, -1, 8, 0, 0, r);
    CHECK_MESSAGE(memcmp(limbs, result, n * sizeof *limbs) == 0,
                  "%s of %u limbs differs from GMP's", what, (unsigned)n);
    mpz_clears(a, b, r, NULL);
}
#endif

static void expect_lane(kir_op op, hg_op instruction, bool is_signed, const uint64_t *x,
                        const uint64_t *y, const uint64_t *result, uint32_t n, const char *what) {
    static const hg_type TYPES[2][6] = {
        {HG_TYPE_U128, HG_TYPE_U256, HG_TYPE_U512, HG_TYPE_U1024, HG_TYPE_U2048, HG_TYPE_U4096},
        {HG_TYPE_I128, HG_TYPE_I256, HG_TYPE_I512, HG_TYPE_I1024, HG_TYPE_I2048, HG_TYPE_I4096}};
    uint64_t wanted[LIMBS] = {0};
    int width = 0;
    while (2u << width < n) width++;
    const uint8_t *args[] = {(const uint8_t *)x, (const uint8_t *)y};
    oracle_outcome outcome = oracle_eval(instruction, TYPES[is_signed][width], HG_TYPE_U8, 0, args,
                                         (uint8_t *)wanted);
    if (outcome == ORACLE_DIVISION_BY_ZERO) memset(wanted, 0, sizeof wanted);
    CHECK_MESSAGE(memcmp(wanted, result, n * sizeof *wanted) == 0, "%s of %u limbs is wrong", what,
                  (unsigned)n);
#ifdef HG_HAVE_MPFR
    expect_gmp(op, x, y, result, n, what);
#endif
    (void)op;
}

/* x ^ e mod m, by zero 0. */
static void expect_powm(const uint64_t *x, const uint64_t *e, const uint64_t *m,
                        const uint64_t *result, uint32_t n) {
    uint64_t wanted[LIMBS] = {0};
#ifdef HG_HAVE_MPFR
    mpz_t a, b, c;
    mpz_inits(a, b, c, NULL);
    mpz_import(a, n, -1, 8, 0, 0, x);
    mpz_import(b, n, -1, 8, 0, 0, e);
    mpz_import(c, n, -1, 8, 0, 0, m);
    if (mpz_sgn(c) != 0) {
        mpz_powm(a, a, b, c);
        mpz_export(wanted, NULL, -1, 8, 0, 0, a);
    }
    mpz_clears(a, b, c, NULL);
#else /* square and multiply by the oracle's products and rests of twice the width; 4,096 bits are \
         the widest */
    static const hg_type TYPES[] = {HG_TYPE_U256, HG_TYPE_U512, HG_TYPE_U1024, HG_TYPE_U2048,
                                    HG_TYPE_U4096};
    uint64_t c[LIMBS] = {0}, base[LIMBS] = {0}, product[LIMBS];
    int width = 0;
    while (2u << width < n) width++;
    if (2 * n > LIMBS) return;
    memcpy(c, m, n * sizeof *c);
    memcpy(base, x, n * sizeof *base);
    wanted[0] = 1;
    bool zero = false;
    for (uint32_t at = 64 * n + 1; at-- > 0 && !zero;) { /* the first turn is 1 · 1 mod m */
        bool set = at < 64 * n && (e[at / 64] >> at % 64 & 1);
        for (int step = 0; step <= set; step++) {
            const uint64_t *by = step ? base : wanted;
            (void)oracle_eval(HG_OP_MUL, TYPES[width], HG_TYPE_U8, 0,
                              (const uint8_t *[]){(uint8_t *)wanted, (const uint8_t *)by},
                              (uint8_t *)product);
            zero = oracle_eval(HG_OP_REM, TYPES[width], HG_TYPE_U8, 0,
                               (const uint8_t *[]){(uint8_t *)product, (uint8_t *)c},
                               (uint8_t *)wanted) == ORACLE_DIVISION_BY_ZERO;
        }
    }
    if (zero) memset(wanted, 0, sizeof wanted);
#endif
    CHECK_MESSAGE(memcmp(wanted, result, n * sizeof *wanted) == 0, "powm of %u limbs is wrong",
                  (unsigned)n);
}

/* An exponent of any length up to all of a number's bits, mostly short: products of many limbs
 * take long. */
static void exponent(uint64_t *e, uint32_t n) {
    uint64_t most = next_random() % 16 == 0 ? 64 * n : next_random() % 2 ? 96 : 8;
    uint64_t bits = next_random() % (most + 1);
    for (uint32_t k = 0; k < n; k++) {
        uint64_t left = bits > 64 * k ? bits - 64 * k : 0;
        e[k] = left >= 64 ? e[k] : left ? e[k] & (UINT64_MAX >> (64 - left)) : 0;
    }
}

/* When a run of powers is stopped: after so many questions. */
static uint32_t asked, most_asked;
static bool go_on(void *fuel) {
    *(int64_t *)fuel = 0;
    return ++asked <= most_asked;
}

/* One run of a handler over some lanes of rows that hold more. */
static void run(tile_wide_fn *handler, kir_op op, hg_op instruction, bool is_signed, uint32_t n,
                uint32_t lanes, bool some, const char *what) {
    static uint64_t x[LANES][LIMBS], y[LANES][LIMBS], z[LANES][LIMBS], a[LIMBS * WIDTH],
        b[LIMBS * WIDTH], c[LIMBS * WIDTH];
    static uint64_t d[LIMBS * WIDTH], carry[WIDTH];
    uint8_t active[WIDTH];
    bool powm = op == KIR_DERIVED; /* x ^ z mod y: y is made for divisions */
    int64_t fuel = 0;
    for (uint32_t i = 0; i < lanes; i++) {
        operands(i, x[i], y[i], n);
        random_number(z[i], n);
        if (powm) exponent(z[i], n);
        if (powm && next_random() % 4) y[i][0] |= 1; /* odd moduli have a way of their own */
        active[i] = next_random() % 2;
        for (uint32_t k = 0; k < n; k++) {
            a[k * WIDTH + i] = x[i][k];
            b[k * WIDTH + i] = powm ? z[i][k] : y[i][k];
            c[k * WIDTH + i] = y[i][k];
        }
    }
    memset(d, 0x5A, sizeof d);
    handler(&(tile_wide){.d = d,
                         .a = a,
                         .b = b,
                         .c = c,
                         .carry = carry,
                         .active = some ? active : NULL,
                         .width = WIDTH,
                         .n = lanes,
                         .limbs = n,
                         .fuel = &fuel,
                         .go_on = go_on,
                         .user = &fuel});
    for (uint32_t i = 0; i < WIDTH; i++) {
        uint64_t result[LIMBS];
        bool untouched = true;
        for (uint32_t k = 0; k < n; k++) {
            result[k] = d[k * WIDTH + i];
            untouched = untouched && result[k] == UINT64_C(0x5A5A5A5A5A5A5A5A);
        }
        if (i >= lanes || (some && !active[i]))
            CHECK_MESSAGE(untouched, "%s of %u limbs writes a lane that is not there", what,
                          (unsigned)n);
        else if (powm)
            expect_powm(x[i], z[i], y[i], result, n);
        else
            expect_lane(op, instruction, is_signed, x[i], y[i], result, n, what);
    }
}

/* Lanes that take long are not stored when the question behind them says so. */
static void test_stop(tile_wide_fn *handler) {
    enum { N = 32 };
    static uint64_t a[N * WIDTH], d[N * WIDTH];
    int64_t fuel = 0;
    for (uint32_t i = 0; i < N * WIDTH; i++) a[i] = next_random() | 1;
    memset(d, 0x5A, sizeof d);
    asked = most_asked = 0;
    handler(&(tile_wide){.d = d,
                         .a = a,
                         .b = a,
                         .c = a,
                         .width = WIDTH,
                         .n = 8,
                         .limbs = N,
                         .fuel = &fuel,
                         .go_on = go_on,
                         .user = &fuel});
    CHECK(asked == 1);
    CHECK(d[0] == UINT64_C(0x5A5A5A5A5A5A5A5A));
    most_asked = UINT32_MAX;
}

int main(void) {
    most_asked = UINT32_MAX;
    static const struct {
        kir_op op;
        hg_op instruction;
        bool is_signed;
    } ROWS[] = {
        {KIR_ADD, HG_OP_ADD, false},  {KIR_SUB, HG_OP_SUB, false},     {KIR_MUL, HG_OP_MUL, false},
        {KIR_AND, HG_OP_AND, false},  {KIR_OR, HG_OP_OR, false},       {KIR_XOR, HG_OP_XOR, false},
        {KIR_UDIV, HG_OP_DIV, false}, {KIR_UREM, HG_OP_REM, false},    {KIR_SDIV, HG_OP_DIV, true},
        {KIR_SREM, HG_OP_REM, true},  {KIR_DERIVED, HG_OP_POWM, false}};
    for (tile_level level = TILE_LEVEL_BASELINE; level < TILE_LEVEL_COUNT; level++) {
        if (!tile_level_available(level)) continue;
        const tile_handlers *h = tile_handlers_of(level);
        test_stop(h->wide[KIR_DERIVED]);
        for (size_t r = 0; r < HG_COUNT_OF(ROWS); r++)
            for (uint32_t n = 2; n <= LIMBS; n *= 2)
                for (uint32_t round = 0; round < (n > 16 ? 8u : 40u); round++)
                    run(h->wide[ROWS[r].op], ROWS[r].op, ROWS[r].instruction, ROWS[r].is_signed, n,
                        1 + round % LANES, round % 3 == 2,
                        ROWS[r].op == KIR_DERIVED ? "powm" : kir_op_name(ROWS[r].op));
    }
    return test_done();
}
