/* Operations on the bits of elements. */
#include "hlo/axes.h"
#include "hlo/operations.h"
#include <string.h>

#define NOTHING \
    (mlir_scalar) { "0", "0" }

static uint32_t bytes_of(const mlir_type *type) {
    return (uint32_t)hg_type_size_bytes((hg_type)type->element);
}

/* Of i1 one, which stands in a byte here. */
static uint32_t bits_in(const mlir_type *type) { return type->truth ? 1 : 8 * bytes_of(type); }

/* The unsigned type of an element's width. */
static const char *unsigned_of(mlir_lower *w, const mlir_type *type) {
    return mlir_text(w, "u%u", (unsigned)(8 * bytes_of(type)));
}

static const char *bits_of(mlir_lower *w, const mlir_type *type, const char *x) {
    const char *to = unsigned_of(w, type), *from = mlir_type_name(type);
    bool is_number = *from == 'i' || *from == 'u';
    return is_number ? mlir_let(w, to, "%s(%s)", to, x)
                     : mlir_let(w, to, "bits.%s.%s(%s)", to, from, x);
}

static mlir_scalar of_bits(mlir_lower *w, const mlir_type *type, const char *bits) {
    const char *to = mlir_type_name(type), *from = unsigned_of(w, type);
    bool is_number = *to == 'i' || *to == 'u';
    return (mlir_scalar){is_number ? mlir_let(w, to, "%s(%s)", to, bits)
                                   : mlir_let(w, to, "bits.%s.%s(%s)", to, from, bits),
                         NULL};
}

/* Whether the shapes are equal but for a last axis of the narrow one, of so many. */
static bool is_split(const mlir_type *wide, const mlir_type *narrow) {
    return narrow->rank == wide->rank + 1 &&
           narrow->dims[wide->rank] == bits_in(wide) / bits_in(narrow) &&
           !memcmp(narrow->dims, wide->dims, wide->rank * sizeof *wide->dims);
}

/* Narrow elements are a wide one side by side along one more axis, low bits first. */
mlir_scalar mlir_element_of_bitcast_convert(mlir_lower *w, const mlir_tensor *t,
                                            const char *const *at) {
    const mlir_type *in = &t->in[0]->type, *out = &t->type;
    uint32_t from = bits_in(in), to = bits_in(out);
    const char *place[MLIR_MAX_RANK + 1] = {0}, *u = unsigned_of(w, out);
    bool fits = from == to  ? mlir_same_dims(in, out)
                : from < to ? is_split(out, in)
                            : is_split(in, out);
    if (mlir_same_type(in, out)) return mlir_element(w, t->in[0], at);
    if (!mlir_expect(w, !in->complex && !out->complex && fits,
                     "elements of one width, or one more axis of those that are parts"))
        return NOTHING;
    if (from >= to) {
        const char *bits = bits_of(w, in, mlir_element(w, t->in[0], at).re);
        if (from > to)
            bits = mlir_let(w, u, "%s(%s >> u32(%s * %u)%s)", u, bits, at[in->rank], (unsigned)to,
                            out->truth ? " & 1" : "");
        return of_bits(w, out, bits);
    }
    const char *all = NULL;
    memcpy(place, at, out->rank * sizeof *place);
    for (uint32_t i = 0; i < to / from; i++) {
        place[out->rank] = mlir_text(w, "%u", (unsigned)i);
        const char *bits = bits_of(w, in, mlir_element(w, t->in[0], place).re);
        bits = mlir_let(w, u, "%s(%s) << %u", u, bits, (unsigned)(from * i));
        all = all ? mlir_let(w, u, "%s | %s", all, bits) : bits;
    }
    return of_bits(w, out, all);
}

/* The digits behind a letter, up to `end`; -1: there is something else. */
static int64_t digits_behind(char letter, const char **at, const char *end) {
    uint64_t value = 0;
    if (*at == end || **at != letter) return -1;
    ++*at;
    size_t digits = hg_read_digits(*at, (size_t)(end - *at), &value);
    *at += digits;
    return digits && value < 64 ? (int64_t)value : -1;
}

/* e5m10: the bits of exponent and mantissa. */
static bool format_of(const mlir_op *op, uint32_t *exponent, uint32_t *mantissa) {
    const mlir_attribute *format = mlir_attribute_of(op, "format", 0);
    int64_t e = mlir_item(op, "exponent_bits", 0, 0, -1),
            m = mlir_item(op, "mantissa_bits", 0, 0, -1);
    if (format) {
        const char *at = format->word.text, *end = at + format->word.length;
        e = digits_behind('e', &at, end);
        m = e < 0 ? -1 : digits_behind('m', &at, end);
        if (at != end) m = -1;
    }
    *exponent = (uint32_t)e;
    *mantissa = (uint32_t)m;
    return e > 0 && e < 64 && m >= 0 && m < 64;
}

/* Rounded to so many bits, to even; what is too large is infinite, what is too small 0. A NaN stays
 * what it is. */
mlir_scalar mlir_element_of_reduce_precision(mlir_lower *w, const mlir_tensor *t,
                                             const char *const *at) {
    const mlir_type *type = &t->type;
    const char *u = unsigned_of(w, type), *name = mlir_type_name(type);
    uint32_t e, m, width = 8 * bytes_of(type),
                   own = type->element == HG_TYPE_F16   ? 5
                         : type->element == HG_TYPE_F64 ? 11
                                                        : 8,
                   low = width - 1 - own;
    if (!mlir_expect(w,
                     format_of(t->op, &e, &m) && !type->complex && (*name == 'f' || *name == 'b') &&
                         mlir_same_type(type, &t->in[0]->type),
                     "floats, bits of an exponent and of a mantissa"))
        return NOTHING;
    const char *x = mlir_element(w, t->in[0], at).re, *bits = bits_of(w, type, x);
    unsigned long long sign = 1ull << (width - 1), whole = ((1ull << own) - 1) << low;
    if (m < low) {
        unsigned long long last = 1ull << (low - m);
        bits = mlir_let(w, u, "(%s + (%s >> %u & 1) + %llu) & ~%s(%llu)", bits, bits,
                        (unsigned)(low - m), (last >> 1) - 1, u, last - 1);
    }
    if (e < own) {
        unsigned long long bias = (1ull << (own - 1)) - 1, less = (1ull << (e - 1)) - 1;
        const char *size = mlir_let(w, u, "%s & %llu", bits, whole),
                   *zero = mlir_let(w, u, "%s & %s(%llu)", bits, u, sign);
        bits = mlir_let(w, u, "%s > %llu ? %s | %llu : %s <= %llu ? %s : %s", size,
                        (bias + less) << low, zero, whole, size, (bias - less) << low, zero, bits);
    }
    const char *result = of_bits(w, type, bits).re, *nan = m ? x : "inf"; /* no bit is left for it
                                                                           */
    return (mlir_scalar){mlir_let(w, name, "%s == %s ? %s : %s", x, x, result, nan), NULL};
}
