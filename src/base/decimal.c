/* Decimal and hexadecimal text to floating point, rounded once, and the shortest text back, for
 * every binary format. Exact integers throughout; nothing here depends on the host's floating
 * point. Reading: the quotient of two integers, rounded to nearest even. Writing: free-format digit
 * generation after Steele & White, "How to Print Floating-Point Numbers Accurately" (1990).
 * Must not know: which language the text is in. */
#include "base/decimal.h"

#include <string.h>

/* The largest number is below 10^801 · 5^400 or 2^6000 (see read_decimal): 9,216 bits hold every
 * step. */
enum { LIMBS = 288 };
typedef struct big {
    uint32_t limb[LIMBS];
    int count; /* without leading zeros; 0 is zero */
} big;

static void big_set(big *b, uint64_t value) {
    b->limb[0] = (uint32_t)value;
    b->limb[1] = (uint32_t)(value >> 32);
    b->count = b->limb[1] ? 2 : b->limb[0] ? 1 : 0;
}

/* b = b * factor + addend. */
static void big_scale(big *b, uint32_t factor, uint32_t addend) {
    uint64_t carry = addend;
    for (int i = 0; i < b->count; i++) {
        carry += (uint64_t)b->limb[i] * factor;
        b->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry && b->count < LIMBS) b->limb[b->count++] = (uint32_t)carry;
}

static void big_scale_power5(big *b, int exponent) {
    for (; exponent >= 13; exponent -= 13) big_scale(b, 1220703125u, 0); /* 5^13 */
    uint32_t rest = 1;
    for (; exponent > 0; exponent--) rest *= 5;
    big_scale(b, rest, 0);
}

static void big_shift(big *b, int bits) {
    if (!b->count || !bits) return;
    int limbs = bits / 32, low = bits % 32;
    if (b->count + limbs + 1 > LIMBS) return; /* beyond every number that occurs */
    b->limb[b->count] = 0;
    for (int i = b->count; i >= 0; i--) {
        uint32_t below = i ? b->limb[i - 1] : 0;
        b->limb[i + limbs] = low ? b->limb[i] << low | below >> (32 - low) : b->limb[i];
    }
    memset(b->limb, 0, (size_t)limbs * sizeof b->limb[0]);
    b->count += limbs + 1;
    while (b->count && !b->limb[b->count - 1]) b->count--;
}

/* b /= 2. */
static void big_halve(big *b) {
    for (int i = 0; i < b->count; i++)
        b->limb[i] = b->limb[i] >> 1 | (i + 1 < b->count ? b->limb[i + 1] << 31 : 0);
    if (b->count && !b->limb[b->count - 1]) b->count--;
}

static int big_bits(const big *b) {
    if (!b->count) return 0;
    int bits = (b->count - 1) * 32;
    for (uint32_t top = b->limb[b->count - 1]; top; top >>= 1) bits++;
    return bits;
}

static int big_compare(const big *a, const big *b) {
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* a -= b, a ≥ b. */
static void big_subtract(big *a, const big *b) {
    uint32_t borrow = 0;
    for (int i = 0; i < a->count; i++) {
        uint64_t take = (uint64_t)(i < b->count ? b->limb[i] : 0) + borrow;
        borrow = a->limb[i] < take;
        a->limb[i] = (uint32_t)(a->limb[i] - take);
    }
    while (a->count && !a->limb[a->count - 1]) a->count--;
}

/* a + b compared with c. */
static int big_compare_sum(const big *a, const big *b, const big *c) {
    big sum = *a;
    uint64_t carry = 0;
    int count = a->count > b->count ? a->count : b->count;
    for (int i = 0; i < count; i++) {
        carry += (uint64_t)(i < a->count ? a->limb[i] : 0) + (i < b->count ? b->limb[i] : 0);
        sum.limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    sum.count = count;
    if (carry && count < LIMBS) sum.limb[sum.count++] = (uint32_t)carry;
    return big_compare(&sum, c);
}

/* ---- formats ---- */

static const hg_float_format FORMATS[] = {{11, -24, 0x7C00},
                                          {8, -133, 0x7F80},
                                          {24, -149, 0x7F800000},
                                          {53, -1074, UINT64_C(0x7FF0000000000000)}};

const hg_float_format *hg_float_format_of(hg_type type) {
    switch (type) {
    case HG_TYPE_F16: return &FORMATS[0];
    case HG_TYPE_BF16: return &FORMATS[1];
    case HG_TYPE_F32: return &FORMATS[2];
    default: return &FORMATS[3];
    }
}

/* ---- reading ---- */

/* n / d · 2^scale to nearest even; n and d are used up, n > 0. False when that is infinity. */
static bool round_ratio(big *n, big *d, int scale, const hg_float_format *f, uint64_t *bits) {
    int exponent = big_bits(n) - big_bits(d); /* n/d is in (2^(exponent-1), 2^(exponent+1)) */
    big *low = exponent >= 0 ? d : n;
    big shifted = *low;
    big_shift(&shifted, exponent >= 0 ? exponent : -exponent);
    if (exponent >= 0 ? big_compare(n, &shifted) < 0 : big_compare(&shifted, d) < 0) exponent--;
    exponent += scale; /* floor(log2(value)) */
    int last = exponent - (f->precision - 1);
    if (last < f->last_exponent) last = f->last_exponent;
    *bits = 0;
    if (exponent < f->last_exponent - 1) return true; /* below half of the smallest */
    if (last - f->last_exponent > (int)(f->infinity >> (f->precision - 1))) return false;
    if (scale >= last)
        big_shift(n, scale - last);
    else
        big_shift(d, last - scale);
    uint64_t quotient = 0;
    big_shift(d, f->precision);
    for (int i = 0; i < f->precision; i++) {
        big_halve(d);
        quotient <<= 1;
        if (big_compare(n, d) >= 0) {
            big_subtract(n, d);
            quotient |= 1;
        }
    }
    big_shift(n, 1); /* d has come back to its own size: the rest is n/d of a unit */
    int half = big_compare(n, d);
    if (half > 0 || (half == 0 && (quotient & 1))) quotient++;
    /* The implicit bit adds one to the exponent field, a carry out of the significand another one.
     */
    *bits = quotient + ((uint64_t)(last - f->last_exponent) << (f->precision - 1));
    return *bits < f->infinity;
}

/* Decimal digits that decide: the longest tie of f64 has 767 (2^-1074 · (2^53 + 1/2)); whatever
 * follows only breaks ties. */
enum { DECIMAL_DIGITS = 800, HEX_DIGITS = 40, EXPONENT_BOUND = 1000000000 };

/* Digits with the point taken out: value = significand · base^exponent, trailing digits folded into
 * a sticky last one. */
typedef struct scanned {
    big significand;
    int digits;       /* kept, without leading zeros */
    int64_t exponent; /* of the last kept digit */
    bool sticky;      /* something not zero was dropped */
    size_t end;       /* where the digits stop */
} scanned;

static void scan_digits(const char *text, size_t length, size_t start, uint32_t base, int most,
                        scanned *s) {
    bool fraction = false;
    size_t i = start;
    big_set(&s->significand, 0);
    for (; i < length; i++) {
        if (text[i] == '_') continue;
        if (text[i] == '.') {
            fraction = true;
            continue;
        }
        int digit = hex_digit(text[i]);
        if (digit < 0 || (uint32_t)digit >= base) break;
        if (fraction) s->exponent--;
        if (s->digits < most) {
            if (!s->digits && !digit) continue;
            s->digits++;
            big_scale(&s->significand, base, (uint32_t)digit);
        } else {
            s->exponent++;
            s->sticky |= digit != 0;
        }
    }
    s->end = i;
    if (s->sticky) { /* one more digit: never a tie, never the next value */
        big_scale(&s->significand, base, 1);
        s->exponent--;
        s->digits++;
    }
}

/* The exponent after e or p, saturated. */
static int64_t scan_exponent(const char *text, size_t length, size_t at) {
    if (at >= length) return 0;
    at++;
    bool negative = at < length && text[at] == '-';
    if (at < length && (text[at] == '-' || text[at] == '+')) at++;
    int64_t value = 0;
    for (; at < length; at++)
        if (is_digit(text[at]) && value < EXPONENT_BOUND) value = value * 10 + (text[at] - '0');
    return negative ? -value : value;
}

static bool read_decimal(const char *text, size_t length, const hg_float_format *f,
                         uint64_t *bits) {
    scanned s = {.digits = 0};
    scan_digits(text, length, 0, 10, DECIMAL_DIGITS, &s);
    *bits = 0;
    if (!s.significand.count) return true;
    int64_t exponent = s.exponent + scan_exponent(text, length, s.end);
    int64_t lead = exponent + s.digits; /* value < 10^lead */
    if (lead > 400) return false;
    if (lead < -400) return true;
    big denominator;
    big_set(&denominator, 1);
    if (exponent >= 0)
        big_scale_power5(&s.significand, (int)exponent);
    else
        big_scale_power5(&denominator, (int)-exponent);
    return round_ratio(&s.significand, &denominator, (int)exponent, f, bits);
}

static bool read_hex(const char *text, size_t length, const hg_float_format *f, uint64_t *bits) {
    scanned s = {.digits = 0};
    scan_digits(text, length, 2, 16, HEX_DIGITS, &s);
    *bits = 0;
    if (!s.significand.count) return true;
    int64_t exponent = 4 * s.exponent + scan_exponent(text, length, s.end);
    int64_t lead = exponent + big_bits(&s.significand);
    if (lead > 2000) return false;
    if (lead < -2000) return true;
    big one;
    big_set(&one, 1);
    return round_ratio(&s.significand, &one, (int)exponent, f, bits);
}

bool hg_float_from_text(const char *text, size_t length, hg_number_kind kind,
                        const hg_float_format *format, uint64_t *bits) {
    return kind == HG_NUMBER_HEXREAL ? read_hex(text, length, format, bits)
                                     : read_decimal(text, length, format, bits);
}

/* ---- writing ---- */

/* The interval around a value that rounds to it, over a common denominator: value = r/s, half gaps
 * below/s and above/s. */
typedef struct interval {
    big r, s, below, above;
} interval;

static void interval_of(interval *v, uint64_t significand, int exponent, bool narrow_below) {
    int extra = narrow_below ? 2 : 1; /* at a power of two the gap below is half as wide */
    big_set(&v->r, significand);
    big_set(&v->s, 1);
    big_set(&v->below, 1);
    big_shift(&v->r, extra + (exponent > 0 ? exponent : 0));
    big_shift(&v->s, extra + (exponent < 0 ? -exponent : 0));
    big_shift(&v->below, exponent > 0 ? exponent : 0);
    v->above = v->below;
    if (narrow_below) big_shift(&v->above, 1);
}

static void scale_up(interval *v, uint32_t factor) {
    big_scale(&v->r, factor, 0);
    big_scale(&v->below, factor, 0);
    big_scale(&v->above, factor, 0);
}

/* Scales so that the value is 0.d1d2…: returns the point. value ≥ 2^log2. */
static int find_point(interval *v, int log2, bool even) {
    int scaled = log2 * 30103; /* log10(2) = 0.30103; the guess is never too high */
    int point = scaled >= 0 ? scaled / 100000 : -((99999 - scaled) / 100000);
    for (int i = 0; i < point; i++) big_scale(&v->s, 10, 0);
    for (int i = 0; i < -point; i++) scale_up(v, 10);
    for (;; point++) {
        int top = big_compare_sum(&v->r, &v->above, &v->s);
        if (top < 0 || (top == 0 && !even)) return point;
        big_scale(&v->s, 10, 0);
    }
}

static int top_bit(uint64_t value) {
    int bit = -1;
    for (; value; value >>= 1) bit++;
    return bit;
}

int hg_float_digits(uint64_t bits, const hg_float_format *f, char digits[20], int *point) {
    uint64_t implicit = UINT64_C(1) << (f->precision - 1);
    uint64_t significand = bits & (implicit - 1);
    int field = (int)(bits >> (f->precision - 1));
    int exponent = f->last_exponent + (field > 1 ? field - 1 : 0);
    bool narrow = field > 1 && significand == 0;
    if (field) significand |= implicit;
    bool even = (significand & 1) == 0;
    interval v;
    interval_of(&v, significand, exponent, narrow);
    *point = find_point(&v, top_bit(significand) + exponent, even);
    for (int n = 0;;) {
        scale_up(&v, 10);
        int digit = 0;
        while (big_compare(&v.r, &v.s) >= 0) {
            big_subtract(&v.r, &v.s);
            digit++;
        }
        int below = big_compare(&v.r, &v.below), above = big_compare_sum(&v.r, &v.above, &v.s);
        bool low = below < 0 || (below == 0 && even), high = above > 0 || (above == 0 && even);
        if (low || high) {
            big_shift(&v.r, 1);
            int half = big_compare(&v.r, &v.s);
            if (!low || (high && (half > 0 || (half == 0 && (digit & 1))))) digit++;
            digits[n++] = (char)('0' + digit);
            return n;
        }
        digits[n++] = (char)('0' + digit);
    }
}
