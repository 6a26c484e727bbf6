/* Exact sums of doubles, and the state of a context between launches. Integers only: no rounding
 * but the one of hg_resonance_round.
 * Must not know: programs, devices, where a state image lives. */
#include "atlas/state.h"
#include <string.h>

enum { WORDS = HG_RESONANCE_WORDS, MANTISSA_BITS = 52, EXPONENT_MAX = 0x7FF };
static const uint64_t HIDDEN = UINT64_C(1) << MANTISSA_BITS,
                      INFINITE = UINT64_C(0x7FF0000000000000), QUIET = UINT64_C(0x7FF8000000000000),
                      NEGATIVE = UINT64_C(1) << 63;

/* ---- fixed point ---- */

static void add(uint32_t *words, const uint32_t *more) {
    uint64_t carry = 0;
    for (int i = 0; i < WORDS; i++) {
        carry += (uint64_t)words[i] + more[i];
        words[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void subtract(uint32_t *words, const uint32_t *less) {
    uint64_t borrow = 0;
    for (int i = 0; i < WORDS; i++) {
        uint64_t now = (uint64_t)words[i] - less[i] - borrow;
        words[i] = (uint32_t)now;
        borrow = now >> 63;
    }
}

static bool is_zero(const uint32_t *words) {
    uint32_t any = 0;
    for (int i = 0; i < WORDS; i++) any |= words[i];
    return any == 0;
}

static uint32_t bit(const uint32_t *words, uint32_t at) { return words[at / 32] >> at % 32 & 1; }

static uint32_t highest_bit(const uint32_t *words) {
    uint32_t i = WORDS - 1, b = 31;
    while (!words[i]) i--;
    while (!(words[i] >> b)) b--;
    return 32 * i + b;
}

static bool any_below(const uint32_t *words, uint32_t end) {
    for (uint32_t i = 0; i < end / 32; i++)
        if (words[i]) return true;
    return end % 32 && words[end / 32] << (32 - end % 32);
}

/* 64 bits from one that is at least 63 below the top. */
static uint64_t bits_from(const uint32_t *words, uint32_t at) {
    uint32_t i = at / 32, shift = at % 32;
    uint64_t low = words[i] | (uint64_t)words[i + 1] << 32;
    return shift ? low >> shift | (uint64_t)(i + 2 < WORDS ? words[i + 2] : 0) << (64 - shift)
                 : low;
}

/* ---- doubles ---- */

static double from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double hg_resonance_round(const uint32_t *words, uint32_t flags) {
    uint32_t magnitude[WORDS] = {0};
    if (flags & HG_RESONANCE_NAN || (flags & HG_RESONANCE_INF && flags & HG_RESONANCE_NEG_INF))
        return from_bits(QUIET);
    if (flags) return from_bits(INFINITE | (flags & HG_RESONANCE_NEG_INF ? NEGATIVE : 0));
    if (is_zero(words)) return 0;
    uint64_t sign = words[WORDS - 1] >> 31 ? NEGATIVE : 0;
    if (sign)
        subtract(magnitude, words);
    else
        memcpy(magnitude, words, sizeof magnitude);
    uint32_t top = highest_bit(magnitude);
    if (top <= MANTISSA_BITS)
        return from_bits(sign | bits_from(magnitude, 0)); /* subnormal, or the smallest exponent */
    uint32_t shift = top - MANTISSA_BITS;
    uint64_t mantissa = bits_from(magnitude, shift) & (2 * HIDDEN - 1);
    if (bit(magnitude, shift - 1) && (mantissa & 1 || any_below(magnitude, shift - 1))) mantissa++;
    uint64_t bits = ((uint64_t)shift << MANTISSA_BITS) + mantissa; /* the hidden bit adds 1 to the
                                                                      exponent, a carry another one
                                                                    */
    return from_bits(sign | (bits > INFINITE ? INFINITE : bits));
}

void hg_resonance_add(uint32_t *words, uint32_t *flags, double value) {
    uint32_t wide[WORDS] = {0};
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t mantissa = bits & (HIDDEN - 1);
    uint32_t exponent = (uint32_t)(bits >> MANTISSA_BITS) & EXPONENT_MAX;
    if (exponent == EXPONENT_MAX) {
        *flags |= mantissa          ? HG_RESONANCE_NAN
                  : bits & NEGATIVE ? HG_RESONANCE_NEG_INF
                                    : HG_RESONANCE_INF;
        return;
    }
    if (exponent) mantissa |= HIDDEN;
    uint32_t at = exponent ? exponent - 1 : 0, shift = at % 32;
    uint64_t low = mantissa << shift, high = shift ? mantissa >> (64 - shift) : 0;
    wide[at / 32] = (uint32_t)low;
    wide[at / 32 + 1] = (uint32_t)(low >> 32);
    wide[at / 32 + 2] = (uint32_t)high;
    if (bits & NEGATIVE)
        subtract(words, wide);
    else
        add(words, wide);
}

/* ---- the state ---- */

typedef struct state {
    uint32_t *phase, *flags, *pending_flags;
    uint32_t (*resonance)[WORDS], (*more)[WORDS], (*less)[WORDS];
    uint64_t *pending_phase;
} state;

/* A pending accumulator goes to its class and to the sum of all. */
static void move(const state *s, int cls, uint32_t *pending,
                 void (*apply)(uint32_t *, const uint32_t *)) {
    if (is_zero(pending)) return;
    apply(s->resonance[cls], pending);
    apply(s->resonance[HG_RESONANCE_TOTAL], pending);
    memset(pending, 0, WORDS * sizeof *pending);
}

void hg_state_fold(void *image) {
    uint8_t *at = image;
    state s = {.phase = (uint32_t *)(void *)(at + HG_STATE_PHASE),
               .flags = (uint32_t *)(void *)(at + HG_STATE_FLAGS),
               .pending_flags = (uint32_t *)(void *)(at + HG_STATE_PENDING_FLAGS),
               .resonance = (uint32_t(*)[WORDS])(void *)(at + HG_STATE_RESONANCE),
               .more = (uint32_t(*)[WORDS])(void *)(at + HG_STATE_PENDING_ADD),
               .less = (uint32_t(*)[WORDS])(void *)(at + HG_STATE_PENDING_SUB),
               .pending_phase = (uint64_t *)(void *)(at + HG_STATE_PENDING_PHASE)};
    for (int c = 0; c < HG_MAX_CLASSES; c++) {
        move(&s, c, s.more[c], add);
        move(&s, c, s.less[c], subtract);
        s.flags[c] |= s.pending_flags[c];
        s.flags[HG_RESONANCE_TOTAL] |= s.pending_flags[c];
        if (s.pending_phase[c])
            s.phase[c] = (uint32_t)(s.pending_phase[c] & ((1u << HG_PENDING_PHASE_BITS) - 1));
        s.pending_flags[c] = 0;
        s.pending_phase[c] = 0;
    }
}
