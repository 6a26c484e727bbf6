/* Functions of one argument of f16 and bf16 at all 65,536 arguments: the true value, rounded. The
 * reference in double says which number that is, and MPFR where two are as near to it as its error
 * allows. */
#include "accuracy.h"
#include "test.h"
#include <ctype.h>
#include <math.h>

typedef struct half {
    const char *name;
    int precision, least, most, fraction; /* bits; exponents of the least and of the least too large
                                             number; of the format's fraction */
} half;
static const half HALVES[] = {{"f16", 11, -24, 16, 10}, {"bf16", 8, -133, 128, 7}};

static double widened(const half *h, uint16_t bits) {
    int exponents = 15 - h->fraction, field = bits >> h->fraction & ((1 << exponents) - 1);
    double m = bits & ((1 << h->fraction) - 1), sign = bits >> 15 ? -1 : 1;
    if (field == (1 << exponents) - 1) return m > 0 ? (double)NAN : sign * (double)INFINITY;
    return sign *
           (field ? ldexp(m + (1 << h->fraction), field - 1 + h->least) : ldexp(m, h->least));
}

/* v to the nearest number of the format, halves to even. */
static double rounded(const half *h, double v) {
    int e;
    if (!isfinite(v) || v == 0) return v;
    (void)frexp(v, &e);
    int unit = e - h->precision < h->least ? h->least : e - h->precision;
    double r = ldexp(rint(ldexp(v, -unit)), unit);
    return fabs(r) >= ldexp(1, h->most) ? copysign((double)INFINITY, v) : r;
}

static bool same(double x, double y) {
    return (isnan(x) && isnan(y)) || (x == y && !signbit(x) == !signbit(y));
}

/* As define/halves.def has it. */
static void print_row(const function *f, const half *h, uint16_t x, double right) {
    uint32_t result = 0;
    while (result < CHUNK - 1 && !same(widened(h, (uint16_t)result), right)) result++;
    printf("HALF(");
    for (const char *c = f->name; *c; c++) putchar(toupper(*c));
    printf(", %s, 0x%04X, 0x%04X)\n", h->fraction == 10 ? "F16" : "BF16", (unsigned)x,
           (unsigned)result);
}

static void check(const function *f, const half *h, const library_choice *library, bool list) {
    static uint16_t x[CHUNK], got[CHUNK];
    static float single[CHUNK];
    static double reference[CHUNK];
    library_choice choice = *library;
    choice.half = h->name;
    subject *s = subject_open(0, f, false, &choice);
    for (uint32_t i = 0; i < CHUNK; i++) x[i] = (uint16_t)i, single[i] = (float)widened(h, x[i]);
    bool ran = s && subject_run(s, x, x, got, CHUNK);
    CHECK_MESSAGE(ran, "%s.%s cannot be run", f->name, h->name);
    filter_reference(f, false, single, NULL, reference, CHUNK);
    exact e;
    exact_begin(&e);
    uint32_t wrong = 0, decided = 0;
    for (uint32_t i = 0; i < CHUNK && ran; i++) {
        double low = rounded(h, reference[i] * (1 - 0x1p-43)),
               high = rounded(h, reference[i] * (1 + 0x1p-43)), result = widened(h, got[i]);
        if (same(low, high) && same(low, result)) continue;
        decided++;
        double right = rounded(h, exact_odd(&e, f, (double)single[i]));
        if (same(right, result)) continue;
        if (list) print_row(f, h, x[i], right);
        wrong++;
    }
    exact_end(&e);
    subject_close(s);
    CHECK_MESSAGE(wrong == 0, "%s.%s: %u results are not the true values, rounded", f->name,
                  h->name, (unsigned)wrong);
    printf("%s.%s: %u of 65,536 by MPFR, %u wrong\n", f->name, h->name, (unsigned)decided,
           (unsigned)wrong);
}

void check_halves(const function *only, const library_choice *library, bool list) {
    for (int id = 0; id < FN_COUNT; id++)
        for (int i = 0; i < 2; i++)
            if (FUNCTIONS[id].args == 1 && (!only || only == &FUNCTIONS[id]))
                check(&FUNCTIONS[id], &HALVES[i], library, list);
}
