/* Functions of f16 and bf16 at all 65,536 arguments, of two arguments at all 2^32 pairs: the true
 * value, rounded. The reference in double says which number that is, and MPFR where two are as near
 * to it as its error allows. */
#include "accuracy.h"
#include "test.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

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
        double right = rounded(h, exact_odd(&e, f, (double)single[i], 0));
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

/* ---- two arguments ---- */

/* Of magnitudes, by their bits: a number in between, less its error, is rounded to this one. */
typedef struct bounds {
    double low, high;
} bounds;
static void find_bounds(const half *h, bounds *of) {
    uint32_t infinite = ((1u << (15 - h->fraction)) - 1) << h->fraction;
    for (uint32_t i = 0; i <= infinite; i++) {
        double v = i < infinite ? widened(h, (uint16_t)i) : ldexp(1, h->most),
               before = i ? widened(h, (uint16_t)(i - 1)) : -v - 1,
               after = i + 1 < infinite ? widened(h, (uint16_t)(i + 1)) : ldexp(1, h->most);
        of[i] = (bounds){(before + v) / 2, i < infinite ? (v + after) / 2 : (double)INFINITY};
    }
    for (uint32_t i = infinite + 1; i < 32768; i++) of[i] = (bounds){1, 0}; /* NaN: none */
}
static bool is_certain(const bounds *of, double reference, uint16_t got) {
    double r = fabs(reference);
    const bounds *b = &of[got & 32767];
    return b->low < r * (1 - 0x1p-43) && r * (1 + 0x1p-43) <= b->high &&
           !signbit(reference) == !(got >> 15);
}

/* One first argument with all 65,536 second ones; the results that are wrong. */
typedef struct pairs {
    const function *f;
    const half *h;
    subject *s;
    bounds of[32768];
    double number[CHUNK];
    exact e;
    uint64_t decided;
} pairs;
static uint32_t check_row(pairs *p, uint16_t first, bool plant) {
    static uint16_t x[CHUNK], y[CHUNK], got[CHUNK];
    static float single[CHUNK], second[CHUNK];
    static double reference[CHUNK];
    for (uint32_t i = 0; i < CHUNK; i++) {
        x[i] = first;
        y[i] = (uint16_t)i;
        single[i] = (float)p->number[first];
        second[i] = (float)p->number[i];
    }
    CHECK_MESSAGE(subject_run(p->s, x, y, got, CHUNK), "%s.%s cannot be run", p->f->name,
                  p->h->name);
    filter_reference(p->f, false, single, second, reference, CHUNK);
    if (plant) got[0x3F80] ^= 1; /* a number in both formats */
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < CHUNK; i++) {
        double r = reference[i], result = p->number[got[i]];
        if (isnan(r) ? isnan(result) : is_certain(p->of, r, got[i])) continue;
        if ((r == 0 || isinf(r)) && same(r, result)) continue;
        p->decided++;
        double right = rounded(p->h, exact_odd(&p->e, p->f, (double)single[i], p->number[i]));
        if (same(right, result)) continue;
        if (wrong++ < 2 && !plant)
            fprintf(stderr, "%s.%s of %04x %04x is %04x, not %a\n", p->f->name, p->h->name,
                    (unsigned)first, (unsigned)i, (unsigned)got[i], right);
    }
    return wrong;
}

/* First arguments of the slice: zero, numbers of either sign, and those with second ones whose
 * results in f32, rounded once more, are wrong. */
static const uint16_t SLICE[] = {0x8000, 0x4287, 0x42F6, 0x4340, 0x3E7B, 0x3C2B, 0xC287};

/* At all pairs, of a part, or at those of the slice. */
static void check_pairs(const function *f, const half *h, const library_choice *library, bool all,
                        const uint64_t *part) {
    library_choice choice = *library;
    choice.half = h->name;
    pairs *p = calloc(1, sizeof *p);
    if (!p) return;
    p->f = f;
    p->h = h;
    p->s = subject_open(0, f, false, &choice);
    find_bounds(h, p->of);
    for (uint32_t i = 0; i < CHUNK; i++) p->number[i] = widened(h, (uint16_t)i);
    exact_begin(&p->e);
    uint64_t rows = all ? CHUNK : sizeof SLICE / sizeof *SLICE, from = rows * part[0] / part[2],
             to = rows * (part[1] + 1) / part[2], wrong = 0;
    for (uint64_t i = from; i < to && p->s; i++)
        wrong += check_row(p, all ? (uint16_t)i : SLICE[i], false);
    uint64_t decided = p->decided;
    CHECK_MESSAGE(p->s && check_row(p, 0x3F81, true) == check_row(p, 0x3F81, false) + 1,
                  "%s.%s: a result that was changed was not found", f->name, h->name);
    CHECK_MESSAGE(wrong == 0, "%s.%s: %" PRIu64 " results are not the true values, rounded",
                  f->name, h->name, wrong);
    printf("%s.%s: %" PRIu64 " of %" PRIu64 " pairs by MPFR, %" PRIu64 " wrong\n", f->name, h->name,
           decided, (to - from) * CHUNK, wrong);
    subject_close(p->s);
    exact_end(&p->e);
    free(p);
}

void check_halves(const function *only, const library_choice *library, bool all,
                  const uint64_t *part) {
    for (int id = 0; id < FN_COUNT; id++)
        for (int i = 0; i < 2; i++) {
            const function *f = &FUNCTIONS[id];
            if (only && only != f) continue;
            if (f->args == 1)
                check(f, &HALVES[i], library, all);
            else
                check_pairs(f, &HALVES[i], library, all, part);
        }
}
