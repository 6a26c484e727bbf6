/* The character table of the Monster, proven. The steps:
 *  1. Every irrational entry, a coefficient list Σ c_k·ζ^k with ζ = e^(2πi/n), is shown to be (a +
 * b·√-n)/2 for integers a, b: the polynomial Σ (2·c_k - b·(-n/k))·x^k - a is divisible by the n-th
 * cyclotomic polynomial, and Σ (-n/k)·ζ^k = √-n (Gauss).
 *  2. In a row or a column all irrational entries have one n. So the sum of an orthogonality
 * relation, times 4, is R + Σ_n I_n·√-n with integers R and I_n; the 13 roots are linearly
 * independent over the rationals, so it is the integer wanted, exactly if R is and all I_n are 0.
 *  3. R and I_n are computed modulo 7 pairwise coprime numbers above 2^61. With |a| < 2^90, |b| <
 * 8, n < 128, class sizes and centralisers at most 2^180 (all checked) and 194 terms, |R -
 * 4·wanted| and |I_n| are below 2^8·2^180·(2^180 + 2^13) + 2^182 < 2^369, less than the product of
 * the moduli: zero modulo all of them is zero.
 *
 * The plain listing, whose BLAKE3 was computed once from a printout of GAP's table by a separate
 * script; blanks separate fields: monster ORDER class NAME ELEMENT-ORDER CENTRALISER SIZE, then the
 * names of the classes of p-th powers for the 15 primes; 194 lines character INDICATOR, then 194
 * values: an integer, or a,b,-n for (a + b·√-n)/2; 194 lines `test_characters --listing` prints it;
 * tools/gen_characters --listing prints what GAP has to say. */
#include "test.h"
#include "atlas/characters.h"
#include "base/base.h"
#include <math.h>
#include <stdlib.h>

enum { N = HG_CHARACTER_COUNT, PRIMES = 15, MODULI = 7, MAX_DEGREE = 128 };
__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

static const char listing_hash[] =
    "616fb1123393c72463103caca02dfce4437c182b5306d00e1cab61fef72c7275";
static const uint32_t primes[PRIMES] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 41, 47, 59, 71};
static const uint64_t moduli[MODULI] = {(1ull << 62) - 57,  (1ull << 62) - 87,  (1ull << 62) - 117,
                                        (1ull << 62) - 143, (1ull << 62) - 153, (1ull << 62) - 167,
                                        (1ull << 61) - 1};

/* ---- unsigned integers of 256 bits ---- */

typedef struct big {
    uint32_t limb[8];
} big;

static big big_of(const uint8_t bytes[24]) {
    big r = {{0}};
    for (int k = 0; k < 24; k++) r.limb[k / 4] |= (uint32_t)bytes[k] << k % 4 * 8;
    return r;
}

/* sum + a·b; false where it does not fit */
static bool big_add_product(big *sum, const big *a, const big *b) {
    bool fits = true;
    for (int i = 0; i < 8; i++) {
        uint64_t carry = 0;
        for (int k = 0; k < 8; k++) {
            if (i + k >= 8) {
                fits = fits && (!a->limb[i] || !b->limb[k]) && !carry;
                continue;
            }
            carry += (uint64_t)a->limb[i] * b->limb[k] + sum->limb[i + k];
            sum->limb[i + k] = (uint32_t)carry;
            carry >>= 32;
        }
        fits = fits && !carry;
    }
    return fits;
}

static bool big_equal(const big *a, const big *b) { return memcmp(a, b, sizeof *a) == 0; }

static uint64_t big_mod(const big *a, uint64_t m) {
    u128 r = 0;
    for (int k = 7; k >= 0; k--) r = (r << 32 | a->limb[k]) % m;
    return (uint64_t)r;
}

static int big_bits(const big *a) {
    for (int k = 255; k >= 0; k--) {
        if (a->limb[k / 32] >> k % 32 & 1) return k + 1;
    }
    return 0;
}

static const char *big_text(big a, char text[96]) {
    char *at = text + 95;
    *at = 0;
    do {
        uint64_t rest = 0;
        for (int k = 7; k >= 0; k--) {
            rest = rest << 32 | a.limb[k];
            a.limb[k] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        *--at = (char)('0' + rest);
    } while (big_bits(&a));
    return at;
}

/* ---- the table as the library gives it ---- */

/* (a + b·√-n)/2; rational entries have b = 0 and n = 1. */
typedef struct value {
    i128 a;
    int b, n;
} value;
static value table[N][N];
static big order, sizes[N], centralizers[N];
static hg_monster_class classes[N];
static uint32_t powers[N][PRIMES];

static int kronecker_prime(int a, int p) {
    if (p == 2) return a % 2 == 0 ? 0 : (a & 7) == 1 || (a & 7) == 7 ? 1 : -1;
    int residue = (a % p + p) % p, r = residue ? -1 : 0;
    for (int x = 1; residue && x < p; x++) {
        if (x * x % p == residue) r = 1;
    }
    return r;
}

static int kronecker(int a, int n) {
    int r = n ? 1 : 0;
    for (int p = 2; n > 1; p++) {
        for (; n % p == 0; n /= p) r *= kronecker_prime(a, p);
    }
    return r;
}

/* Divides in place by a monic polynomial: the remainder stays below its degree, the quotient above.
 * Lowest coefficient first. */
static void divide(int64_t *poly, int degree, const int64_t *by, int by_degree) {
    for (int i = degree; i >= by_degree; i--) {
        for (int k = 0; k < by_degree; k++) poly[i - by_degree + k] -= poly[i] * by[k];
    }
}

/* The n-th cyclotomic polynomial; its degree. */
static int cyclotomic(int n, int64_t poly[MAX_DEGREE]) {
    static int64_t known[MAX_DEGREE][MAX_DEGREE];
    static int degrees[MAX_DEGREE];
    for (int m = 1; m <= n; m++) {
        if (degrees[m]) continue;
        int64_t *p = known[m];
        int degree = m;
        memset(p, 0, sizeof known[m]);
        p[0] = -1, p[m] = 1;
        for (int d = 1; d < m; d++) {
            if (m % d) continue;
            divide(p, degree, known[d], degrees[d]);
            memmove(p, p + degrees[d], (size_t)(degree - degrees[d] + 1) * sizeof *p);
            degree -= degrees[d];
            memset(p + degree + 1, 0, (size_t)(MAX_DEGREE - degree - 1) * sizeof *p);
        }
        degrees[m] = degree;
    }
    memcpy(poly, known[n], sizeof known[n]);
    return degrees[n];
}

/* a and b are guessed from the F64 form and proven. */
static bool read_irrational(const hg_character_value *c, double real, double imaginary, value *v) {
    int n = (int)c->conductor;
    int64_t poly[MAX_DEGREE] = {0}, phi[MAX_DEGREE];
    *v = (value){(i128)lround(2 * real), (int)lround(2 * imaginary / sqrt(n)), n};
    for (int k = 0; k < n; k++) poly[k] = 2 * c->coefficient[k] - (int64_t)v->b * kronecker(-n, k);
    poly[0] -= (int64_t)v->a;
    int degree = cyclotomic(n, phi);
    divide(poly, n - 1, phi, degree);
    for (int k = 0; k < degree; k++) {
        if (poly[k]) return false;
    }
    return v->b != 0;
}

static void read_entry(uint64_t i, uint64_t j) {
    hg_character_value c;
    uint8_t bytes[16];
    double real = NAN, imaginary = NAN;
    CHECK(hg_character(i, j, &c) == HG_OK && hg_character_f64(i, j, &real, &imaginary) == HG_OK);
    if (c.conductor == 1) {
        i128 v;
        memcpy(&v, c.rational, 16);
        table[i][j] = (value){2 * v, 0, 1};
        CHECK(hg_character_i128(i, j, bytes) == HG_OK && memcmp(bytes, c.rational, 16) == 0);
        CHECK_MESSAGE(real == (double)v && imaginary == 0, "f64 of (%" PRIu64 ", %" PRIu64 ")", i,
                      j);
    } else {
        CHECK_MESSAGE(read_irrational(&c, real, imaginary, &table[i][j]),
                      "(%" PRIu64 ", %" PRIu64 "): not quadratic", i, j);
        CHECK(hg_character_i128(i, j, bytes) == HG_ERROR_ISA);
        long double exact = sqrtl((long double)(table[i][j].b * table[i][j].b * table[i][j].n)) / 2;
        CHECK(2 * real == (double)table[i][j].a &&
              fabsl(fabsl((long double)imaginary) - exact) < exact * 0x1p-53L);
    }
    double alone;
    CHECK(hg_character_f64(i, j, &alone, NULL) == HG_OK && alone == real);
}

static void read_table(void) {
    uint8_t bytes[24];
    hg_monster_order(bytes);
    order = big_of(bytes);
    for (uint64_t j = 0; j < N; j++) {
        CHECK(hg_monster_class_get(j, &classes[j]) == HG_OK);
        sizes[j] = big_of(classes[j].size);
        centralizers[j] = big_of(classes[j].centralizer);
        CHECK(big_bits(&sizes[j]) <= 180 && big_bits(&centralizers[j]) <= 180);
        for (int p = 0; p < PRIMES; p++)
            CHECK(hg_monster_power(j, primes[p], &powers[j][p]) == HG_OK && powers[j][p] < N);
    }
    int irrational = 0, wide = 0;
    for (uint64_t i = 0; i < N; i++) {
        for (uint64_t j = 0; j < N; j++) {
            read_entry(i, j);
            value v = table[i][j];
            CHECK(v.a < (i128)1 << 90 && v.a > -((i128)1 << 90) && abs(v.b) < 8 && v.n < 128);
            irrational += v.b != 0;
            wide += v.b == 0 && v.a / 2 != (int64_t)(v.a / 2);
        }
    }
    CHECK_U64(irrational, 196);
    CHECK_U64(wide, 164);
}

/* ---- orthogonality ---- */

static uint64_t residue(i128 a, uint64_t m) {
    return (uint64_t)((a % (i128)m + (i128)m) % (i128)m);
}

/* One modulus: 4·Σ weight·v·conj(w) = 4·wanted for all pairs v, w of the 194 vectors; wanted is 0
 * off the diagonal. The number of wrong pairs. */
static uint64_t wrong_pairs(value (*v)[N], const big *weights, const big *diagonal, uint64_t m) {
    static uint64_t a[N][N], weighted[N][N], special[N][N];
    static uint32_t specials[N];
    uint64_t weight[N], wrong = 0;
    for (int k = 0; k < N; k++) weight[k] = big_mod(&weights[k], m);
    for (int i = 0; i < N; i++) {
        specials[i] = 0;
        for (int k = 0; k < N; k++) {
            a[i][k] = residue(v[i][k].a, m);
            weighted[i][k] = (uint64_t)((u128)a[i][k] * weight[k] % m);
            if (v[i][k].b) special[i][specials[i]++] = (uint64_t)k;
        }
    }
    for (int i = 0; i < N; i++) {
        for (int j = i; j < N; j++) {
            u128 sum = 0;
            for (int k = 0; k < N; k++) { /* products are below 2^124 */
                sum += (u128)weighted[i][k] * a[j][k];
                if (k % 8 == 7) sum %= m;
            }
            uint64_t roots[128] = {0};
            for (uint32_t s = 0; s < specials[i]; s++) { /* b·b'·n, and b·a'·√-n */
                uint64_t k = special[i][s];
                value x = v[i][k], y = v[j][k];
                sum = (sum % m) + (u128)weight[k] * residue((i128)x.b * y.b * x.n, m);
                roots[x.n] = (uint64_t)((roots[x.n] + (u128)weight[k] * residue(x.b * y.a, m)) % m);
            }
            for (uint32_t s = 0; s < specials[j]; s++) { /* -a·b'·√-n */
                uint64_t k = special[j][s];
                value x = v[i][k], y = v[j][k];
                roots[y.n] = (uint64_t)((roots[y.n] + (u128)weight[k] * residue(-x.a * y.b, m)) %
                                        m);
            }
            uint64_t wanted = i == j ? (uint64_t)((u128)4 * big_mod(&diagonal[i], m) % m) : 0;
            bool right = (uint64_t)(sum % m) == wanted;
            for (int n = 0; n < 128; n++) right = right && !roots[n];
            wrong += !right;
        }
    }
    return wrong;
}

/* The one n of each vector's irrational entries, for step 2. */
static bool one_field(value (*v)[N]) {
    for (int i = 0; i < N; i++) {
        int n = 0;
        for (int k = 0; k < N; k++) {
            if (!v[i][k].b) continue;
            if (n && n != v[i][k].n) return false;
            n = v[i][k].n;
        }
    }
    return true;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t r = a % b;
        a = b, b = r;
    }
    return a;
}

static void test_orthogonality(void) {
    static value columns[N][N];
    static big ones[N], orders[N];
    for (int i = 0; i < N; i++) {
        ones[i].limb[0] = 1;
        orders[i] = order;
        for (int j = 0; j < N; j++) columns[j][i] = table[i][j];
    }
    CHECK(one_field(table) && one_field(columns));
    for (int m = 0; m < MODULI; m++) {
        CHECK(moduli[m] >= (1ull << 61) - 1 && moduli[m] < 1ull << 62);
        for (int k = 0; k < m; k++) CHECK_U64(common_divisor(moduli[m], moduli[k]), 1);
        CHECK_MESSAGE(wrong_pairs(table, sizes, orders, moduli[m]) == 0, "rows are not orthogonal");
        CHECK_MESSAGE(wrong_pairs(columns, ones, centralizers, moduli[m]) == 0,
                      "columns are not orthogonal");
    }
}

/* ---- the rest ---- */

static void test_sums(void) {
    big degrees = {{0}}, elements = {{0}}, one = {{1}};
    for (int i = 0; i < N; i++) {
        big degree = {{0}}, product = {{0}};
        i128 d = table[i][0].a / 2;
        CHECK(d > 0);
        memcpy(degree.limb, &d, 16);
        CHECK(big_add_product(&degrees, &degree, &degree) &&
              big_add_product(&elements, &sizes[i], &one));
        CHECK(big_add_product(&product, &sizes[i], &centralizers[i]) &&
              big_equal(&product, &order));
    }
    CHECK(big_equal(&degrees, &order) && big_equal(&elements, &order) &&
          big_equal(&centralizers[0], &order));
    char text[96];
    CHECK_TEXT(big_text(order, text), "808017424794512875886459904961710757005754368000000000");
    /* OEIS A001379 */
    static const uint64_t first[] = {1,
                                     196883,
                                     21296876,
                                     842609326,
                                     18538750076,
                                     19360062527,
                                     293553734298,
                                     3879214937598,
                                     36173193327999,
                                     125510727015275,
                                     190292345709543,
                                     222879856734249,
                                     1044868466775133,
                                     1109944460516150,
                                     2374124840062976};
    for (int i = 0; i < 15; i++) CHECK_U64(table[i][0].a / 2, first[i]);
    static const int row1[] = {196883, 4371, 275, 782, 53, -1, 275, 51},
                     row2[] = {21296876, 91884, -2324, 7889, -130, 248};
    for (int k = 0; k < 8; k++) CHECK(table[1][k].a == 2 * row1[k]);
    for (int k = 0; k < 6; k++) CHECK(table[2][k].a == 2 * row2[k]);
    i128 largest = 0;
    for (int i = 0; i < N; i++) largest = table[i][0].a > largest ? table[i][0].a : largest;
    CHECK(largest / 2 == (i128)258823477531055ll * 1000000000000ll + 64045234375ll);
}

/* χ(g^p) is congruent to χ(g)^p modulo p, and x^p to the Frobenius image of x where p does not
 * divide n. */
static bool congruent(value x, value power, uint32_t prime) {
    int p = (int)prime;
    if (x.b && x.n % p == 0) return true; /* ramified: says less */
    int b = x.b * (x.b ? kronecker_prime(-x.n, p) : 1);
    if (power.b && x.b && power.n != x.n) return false;
    i128 da = power.a - x.a, db = power.b - b; /* (da + db·√-n)/2 must be p times an integer (a' +
                                                  b'·√-n)/2 with a' = n·b' modulo 2 */
    if (da % p || db % p) return false;
    int n = power.b ? power.n : x.n;
    if (!db) return da / p % 2 == 0;
    return n % 4 == 3 ? (da / p - db / p) % 2 == 0 : da / p % 2 == 0;
}

static void test_powers(void) {
    uint32_t power;
    for (uint32_t j = 0; j < N; j++) {
        for (int p = 0; p < PRIMES; p++) {
            uint32_t to = powers[j][p], whole = classes[j].element_order;
            CHECK_U64(classes[to].element_order, whole % primes[p] ? whole : whole / primes[p]);
            for (int q = 0; q < p; q++) CHECK_U64(powers[to][q], powers[powers[j][q]][p]);
            int wrong = 0;
            for (int i = 0; i < N; i++) wrong += !congruent(table[i][j], table[i][to], primes[p]);
            CHECK_MESSAGE(wrong == 0, "%d characters disagree with power %u of class %s", wrong,
                          primes[p], classes[j].name);
        }
    }
    CHECK(hg_monster_power(0, 4, &power) == HG_ERROR_ISA);
    CHECK_TEXT(
        hg_last_error()->message,
        "invalid prime: 4 (must be 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 41, 47, 59 or 71)");
}

/* Σ size·χ(g²) = indicator·|M|: by the bound above, since it is smaller. */
static void test_indicators(void) {
    for (uint64_t i = 0; i < N; i++) {
        int indicator;
        CHECK(hg_monster_indicator(i, &indicator) == HG_OK);
        for (int m = 0; m < MODULI; m++) {
            uint64_t sum = 0, roots[128] = {0};
            for (int k = 0; k < N; k++) {
                value v = table[i][powers[k][0]];
                uint64_t size = big_mod(&sizes[k], moduli[m]);
                sum = (uint64_t)((sum + (u128)size * residue(v.a, moduli[m])) % moduli[m]);
                if (v.b)
                    roots[v.n] = (uint64_t)((roots[v.n] + (u128)size * residue(v.b, moduli[m])) %
                                            moduli[m]);
            }
            uint64_t wanted = (uint64_t)((u128)residue(2 * indicator, moduli[m]) *
                                         big_mod(&order, moduli[m]) % moduli[m]);
            bool right = sum == wanted;
            for (int n = 0; n < 128; n++) right = right && !roots[n];
            CHECK_MESSAGE(right, "indicator of character %" PRIu64, i);
        }
    }
}

static void test_kernel_tables(void) {
    static uint8_t bytes[HG_CHARACTER_ENTRIES][16];
    static double real[HG_CHARACTER_ENTRIES];
    hg_character_fill_i128(bytes);
    hg_character_fill_f64(real);
    static const uint8_t least[16] = {[15] = 0x80};
    for (uint64_t e = 0; e < HG_CHARACTER_ENTRIES; e++) {
        value v = table[e / N][e % N];
        i128 rational = v.a / 2;
        CHECK(memcmp(bytes[e], v.b ? (const void *)least : &rational, 16) == 0);
        CHECK(real[e] == (double)v.a / 2);
    }
}

static void test_names_and_errors(void) {
    uint32_t cls;
    for (uint32_t j = 0; j < N; j++) {
        CHECK(hg_monster_class_find(classes[j].name, &cls) && cls == j);
        CHECK_U64(strtoul(classes[j].name, NULL, 10), classes[j].element_order);
    }
    CHECK(!hg_monster_class_find("1B", &cls) && !hg_monster_class_find("", &cls) &&
          !hg_monster_class_find("1a", &cls));
    CHECK(!hg_monster_class_find(NULL, &cls));
    hg_character_value c;
    uint8_t bytes[16];
    double real;
    int indicator;
    hg_monster_class info;
    CHECK(hg_character(N, 0, &c) == HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->message, "invalid character index: 194 (must be < 194)");
    CHECK(hg_character(0, UINT64_MAX, &c) == HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->message,
               "invalid character index: 18446744073709551615 (must be < 194)");
    CHECK(hg_character_f64(0, N, &real, NULL) == HG_ERROR_ISA &&
          hg_character_f64(N, 0, &real, NULL) == HG_ERROR_ISA);
    CHECK(hg_character_i128(N, 0, bytes) == HG_ERROR_ISA &&
          hg_character_i128(0, N, bytes) == HG_ERROR_ISA);
    CHECK(hg_monster_class_get(N, &info) == HG_ERROR_ISA &&
          hg_monster_power(N, 2, &cls) == HG_ERROR_ISA);
    CHECK(hg_monster_indicator(N, &indicator) == HG_ERROR_ISA);
    CHECK(hg_monster_class_find("23A", &cls) && hg_character_i128(16, cls, bytes) == HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->message, "character value not rational: character 17, class 23A");
}

/* ---- the listing ---- */

static void list_table(hg_text *out) {
    char text[96];
    hg_text_addf(out, "monster %s\n", big_text(order, text));
    for (int j = 0; j < N; j++) {
        hg_text_addf(out, "class %s %u", classes[j].name, classes[j].element_order);
        hg_text_addf(out, " %s", big_text(centralizers[j], text));
        hg_text_addf(out, " %s", big_text(sizes[j], text));
        for (int p = 0; p < PRIMES; p++) hg_text_addf(out, " %s", classes[powers[j][p]].name);
        hg_text_addf(out, "\n");
    }
    for (uint64_t i = 0; i < N; i++) {
        int indicator = 9;
        CHECK(hg_monster_indicator(i, &indicator) == HG_OK);
        hg_text_addf(out, "character %d", indicator);
        for (int j = 0; j < N; j++) {
            value v = table[i][j];
            if (v.b) {
                hg_text_addf(out, " %d,%d,%d", (int)v.a, v.b, -v.n);
                continue;
            }
            i128 integer = v.a / 2;
            u128 size = integer < 0 ? (u128)-integer : (u128)integer;
            big b = {{0}};
            memcpy(b.limb, &size, 16);
            hg_text_addf(out, " %s%s", integer < 0 ? "-" : "", big_text(b, text));
        }
        hg_text_addf(out, "\n");
    }
}

static void test_listing(const hg_text *listing) {
    hg_blake3 h;
    uint8_t hash[32];
    char text[65] = {0};
    hg_blake3_init(&h);
    hg_blake3_update(&h, listing->data, listing->length);
    hg_blake3_final(&h, hash);
    for (int k = 0; k < 32; k++) snprintf(text + 2 * k, 3, "%02x", hash[k]);
    CHECK_TEXT(text, listing_hash);
}

int main(int argc, char **argv) {
    read_table();
    hg_text listing = {0};
    list_table(&listing);
    if (argc == 2 && strcmp(argv[1], "--listing") == 0) {
        if (listing.data) fwrite(listing.data, 1, listing.length, stdout);
        hg_text_free(&listing);
        return test_failed ? 1 : 0;
    }
    test_listing(&listing);
    hg_text_free(&listing);
    test_sums();
    test_powers();
    test_indicators();
    test_kernel_tables();
    test_names_and_errors();
    test_orthogonality();
    return test_done();
}
