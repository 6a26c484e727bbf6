/* Instructions on the bits of integers: rotations, counts of bits, orders of bits and bytes.
 * Words (up to 64 bits) are worked on at once; a wide integer is taken apart into words, lowest
 * first, in one loop.
 * Must not know: targets. */
#include "kir/builder.h"
#include "kir/define/define.h"
#include "kir/define/define_internal.h"

enum { WORD = 64 };

static bool is_wide(const kir_value *v) { return kir_type_bits(v->type) > WORD; }

/* A constant of v's type, a word, whose bits repeat: n zeros above n ones. */
static kir_value *stripes(kir_builder *b, const kir_value *v, uint32_t n) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < WORD; i++)
        if (i / n % 2 == 0) bits |= UINT64_C(1) << i;
    return kir_const(b, v->type, bits);
}

static kir_value *to_u32(kir_builder *b, kir_value *v) {
    if (v->type == HG_TYPE_U32) return v;
    return kir_convert(b, kir_type_bits(v->type) < 32 ? KIR_ZEXT : KIR_TRUNC, HG_TYPE_U32, v);
}

/* ---- wide integers as words ---- */

typedef struct words {
    kir_for loop;
    kir_value *word; /* word number loop.i */
} words;

static words words_begin(kir_builder *b, kir_value *v) {
    words w = {.loop = kir_for_begin(b, kir_const(b, HG_TYPE_U32, kir_type_bits(v->type) / WORD))};
    kir_value *moved = kir_binary(
        b, KIR_LSHR, v, kir_binary(b, KIR_MUL, w.loop.i, kir_const(b, HG_TYPE_U32, WORD)));
    w.word = kir_convert(b, KIR_TRUNC, HG_TYPE_U64, moved);
    return w;
}

/* v's words in reverse order, each of them turned around by a function of words. */
static kir_value *reverse_words(kir_builder *b, kir_value *v,
                                kir_value *(*turn)(kir_builder *b, kir_value *word)) {
    kir_var *result = kir_var_create(b->module, b->function, v->type, 0, NULL);
    kir_set(b, result, kir_const(b, v->type, 0));
    words w = words_begin(b, v);
    kir_value *up = int_shl(b, kir_get(b, result), WORD);
    kir_set(b, result, int_or(b, up, kir_convert(b, KIR_ZEXT, v->type, turn(b, w.word))));
    kir_for_end(b, &w.loop);
    return kir_get(b, result);
}

/* ---- rotations ---- */

/* A shift's amount counts modulo the width, which is a power of two: 0 - amount is width - amount,
 * and nothing for 0. */
kir_value *kir_rotate(kir_builder *b, bool left, kir_value *v, kir_value *amount) {
    kir_value *rest = kir_sub(b, kir_const(b, HG_TYPE_U32, 0), amount);
    kir_value *up = kir_binary(b, KIR_SHL, v, left ? amount : rest);
    return int_or(b, up, kir_binary(b, KIR_LSHR, v, left ? rest : amount));
}

/* ---- counts ---- */

/* Pairs of bits, fours, bytes; then a product adds all bytes into the highest (Warren, Hacker's
 * Delight, section 5-1). */
static kir_value *popc_word(kir_builder *b, kir_value *x) {
    uint32_t bits = kir_type_bits(x->type);
    kir_value *pairs = stripes(b, x, 1), *fours = stripes(b, x, 2), *bytes = stripes(b, x, 4);
    x = kir_sub(b, x, kir_binary(b, KIR_AND, int_shr(b, x, 1), pairs));
    x = kir_add(b, kir_binary(b, KIR_AND, x, fours),
                kir_binary(b, KIR_AND, int_shr(b, x, 2), fours));
    x = kir_binary(b, KIR_AND, kir_add(b, x, int_shr(b, x, 4)), bytes);
    if (bits == 8) return x;
    return int_shr(b, kir_mul(b, x, kir_const(b, x->type, UINT64_C(0x0101010101010101))), bits - 8);
}

kir_value *define_popc(kir_builder *b, hg_type type, kir_value *const *arg) {
    (void)type;
    if (!is_wide(arg[0])) return popc_word(b, arg[0]);
    kir_var *sum = kir_var_create(b->module, b->function, HG_TYPE_U32, 0, NULL);
    kir_set(b, sum, kir_const(b, HG_TYPE_U32, 0));
    words w = words_begin(b, arg[0]);
    kir_set(b, sum, kir_add(b, kir_get(b, sum), to_u32(b, popc_word(b, w.word))));
    kir_for_end(b, &w.loop);
    return kir_get(b, sum);
}

kir_value *define_clz(kir_builder *b, hg_type type, kir_value *const *arg) {
    (void)type;
    kir_value *zeros = kir_unary(b, KIR_CLZ, arg[0]);
    return is_wide(arg[0]) ? to_u32(b, zeros) : zeros;
}

/* Ones in place of the lowest zeros, zeros above: their number is the width less the zeros above
 * them. Of 0 they are all bits. */
kir_value *define_ctz(kir_builder *b, hg_type type, kir_value *const *arg) {
    kir_value *x = arg[0];
    kir_value *none = kir_const(b, x->type, 0), *one = kir_const(b, x->type, 1);
    kir_value *below = kir_binary(b, KIR_AND, kir_sub(b, x, one),
                                  kir_binary(b, KIR_XOR, x, kir_sub(b, none, one)));
    kir_value *above = define_clz(b, type, &below);
    return kir_sub(b, kir_const(b, above->type, kir_type_bits(x->type)), above);
}

/* ---- orders ---- */

/* Neighbouring groups of n bits change places; then those of twice as many, up to both halves. */
static kir_value *swap_from(kir_builder *b, kir_value *x, uint32_t n) {
    uint32_t bits = kir_type_bits(x->type);
    for (; n < bits; n *= 2) {
        bool halves = 2 * n == bits; /* nothing else is left of the shifts */
        kir_value *low = halves ? x : kir_binary(b, KIR_AND, x, stripes(b, x, n)),
                  *high = int_shr(b, x, n);
        if (!halves) high = kir_binary(b, KIR_AND, high, stripes(b, x, n));
        x = int_or(b, int_shl(b, low, n), high);
    }
    return x;
}

static kir_value *brev_word(kir_builder *b, kir_value *x) { return swap_from(b, x, 1); }
static kir_value *bswap_word(kir_builder *b, kir_value *x) { return swap_from(b, x, 8); }

kir_value *define_brev(kir_builder *b, hg_type type, kir_value *const *arg) {
    (void)type;
    return is_wide(arg[0]) ? reverse_words(b, arg[0], brev_word) : brev_word(b, arg[0]);
}

kir_value *define_bswap(kir_builder *b, hg_type type, kir_value *const *arg) {
    (void)type;
    return is_wide(arg[0]) ? reverse_words(b, arg[0], bswap_word) : bswap_word(b, arg[0]);
}
