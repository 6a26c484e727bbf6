/* One element of what an operation makes, as lines of a lane program, from elements of its
 * operands.
 * Must not know: how many programs there are. */
#include "hlo/axes.h"
#include "hlo/operations.h"
#include <stdio.h>
#include <string.h>

static const shlo_scalar NOTHING = {"0", "0"};

/* ---- maps ---- */

static int class_of(const shlo_type *t) {
    const char *name = shlo_type_name(t);
    return t->truth ? 3 : *name == 'u' ? 2 : *name == 'i' ? 1 : 0;
}

/* The row's expression with its operands. */
static const char *expand(shlo_lower *w, const char *text, const shlo_type *in,
                          const shlo_type *out, const shlo_scalar *args) {
    char buffer[600];
    size_t at = 0, width = hg_type_size_bytes((hg_type)in->element) * 8;
    for (; *text && at < sizeof buffer - 64; text++) {
        char number[8];
        const char *piece = number;
        if (*text != '$') {
            buffer[at++] = *text;
            continue;
        }
        text++;
        snprintf(number, sizeof number, "%s%zu",
                 *text == 'S'   ? "i"
                 : *text == 'U' ? "u"
                                : "",
                 width);
        if (*text >= 'a') piece = args[*text - 'a'].re;
        if (*text == 'T') piece = shlo_type_name(out);
        size_t length = strlen(piece);
        if (length > 60) length = 60;
        memcpy(buffer + at, piece, length);
        at += length;
    }
    buffer[at] = 0;
    return shlo_text(w, "%s", buffer);
}

static shlo_scalar product(shlo_lower *w, const char *type, shlo_scalar a, shlo_scalar b) {
    shlo_scalar c = {.re = shlo_let(w, type, "%s * %s - %s * %s", a.re, b.re, a.im, b.im)};
    c.im = shlo_let(w, type, "%s * %s + %s * %s", a.re, b.im, a.im, b.re);
    return c;
}

static shlo_scalar quotient(shlo_lower *w, const char *type, shlo_scalar a, shlo_scalar b) {
    const char *norm = shlo_let(w, type, "%s * %s + %s * %s", b.re, b.re, b.im, b.im);
    shlo_scalar c = {
        .re = shlo_let(w, type, "(%s * %s + %s * %s) / %s", a.re, b.re, a.im, b.im, norm)};
    c.im = shlo_let(w, type, "(%s * %s - %s * %s) / %s", a.im, b.re, a.re, b.im, norm);
    return c;
}

/* The operations that complex numbers have. */
static shlo_scalar map_complex(shlo_lower *w, const char *name, const shlo_type *in,
                               const shlo_scalar *x) {
    const char *type = shlo_type_name(in);
    shlo_scalar a = x[0], b = x[1], c = {"0", "0"};
    name += strncmp(name, "stablehlo.", 10) == 0 ? 10 : 0;
    if (!strcmp(name, "add") || !strcmp(name, "subtract")) {
        char sign = *name == 'a' ? '+' : '-';
        c.re = shlo_let(w, type, "%s %c %s", a.re, sign, b.re);
        c.im = shlo_let(w, type, "%s %c %s", a.im, sign, b.im);
    } else if (!strcmp(name, "multiply")) {
        c = product(w, type, a, b);
    } else if (!strcmp(name, "divide")) {
        c = quotient(w, type, a, b);
    } else if (!strcmp(name, "negate")) {
        c.re = shlo_let(w, type, "-%s", a.re);
        c.im = shlo_let(w, type, "-%s", a.im);
    } else if (!strcmp(name, "abs")) {
        c.re = shlo_let(w, type, "hypot(%s, %s)", a.re, a.im);
    } else if (!strcmp(name, "exponential")) {
        const char *length = shlo_let(w, type, "exp(%s)", a.re);
        c.re = shlo_let(w, type, "%s * cos(%s)", length, a.im);
        c.im = shlo_let(w, type, "%s * sin(%s)", length, a.im);
    } else if (!strcmp(name, "log")) {
        c.re = shlo_let(w, type, "log(hypot(%s, %s))", a.re, a.im);
        c.im = shlo_let(w, type, "atan2(%s, %s)", a.im, a.re);
    } else if (!strcmp(name, "chlo.square")) {
        c = product(w, type, a, a);
    } else {
        shlo_refuse(w, "not read for complex elements");
    }
    return c;
}

static shlo_scalar select_complex(shlo_lower *w, const char *type, const shlo_scalar *x) {
    shlo_scalar c = {.re = shlo_let(w, type, "%s != 0 ? %s : %s", x[0].re, x[1].re, x[2].re)};
    c.im = shlo_let(w, type, "%s != 0 ? %s : %s", x[0].re, x[1].im, x[2].im);
    return c;
}

/* in: the type whose column counts. */
static shlo_scalar map_scalars(shlo_lower *w, const shlo_row *row, const shlo_type *in,
                               const shlo_type *out, const shlo_scalar *args) {
    bool select = strcmp(row->name, "stablehlo.select") == 0;
    if (in->complex && select) return select_complex(w, shlo_type_name(in), args);
    if (in->complex) return map_complex(w, row->name, in, args);
    const char *text = row->text[class_of(in)];
    if (!*text) {
        shlo_refuse(w, "not for elements of type %s", in->truth ? "i1" : shlo_type_name(in));
        return NOTHING;
    }
    return (shlo_scalar){shlo_let(w, shlo_type_name(out), "%s", expand(w, text, in, out, args)),
                         NULL};
}

/* The type that says which column: of select that of its branches. */
static const shlo_type *column_type(const shlo_tensor *t) {
    uint32_t last = t->op->row->least - 1;
    return &t->in[strcmp(t->op->row->name, "stablehlo.select") ? 0 : last]->type;
}

shlo_scalar shlo_element_of_map(shlo_lower *w, const shlo_tensor *t, const char *const *at) {
    shlo_scalar args[3] = {{0}};
    for (uint32_t i = 0; i < t->op->row->least; i++) args[i] = shlo_element(w, t->in[i], at);
    return map_scalars(w, t->op->row, column_type(t), &t->type, args);
}

/* ---- comparisons and conversions ---- */

/* Floats as integers in the order -NaN … -0, +0 … NaN. */
static const char *total_order(shlo_lower *w, const shlo_type *t, const char *x) {
    size_t bits = hg_type_size_bytes((hg_type)t->element) * 8;
    const char *whole = shlo_text(w, "i%zu", bits);
    const char *b = shlo_let(w, whole, "bits.%s.%s(%s)", whole, shlo_type_name(t), x);
    return shlo_let(w, whole, "%s < 0 ? %s ^ %llu : %s", b, b,
                    (unsigned long long)((UINT64_C(1) << (bits - 1)) - 1), b);
}

shlo_scalar shlo_element_of_compare(shlo_lower *w, const shlo_tensor *t, const char *const *at) {
    static const char *const NAMES[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
    static const char *const SIGNS[] = {"==", "!=", "<", "<=", ">", ">="};
    const shlo_type *in = &t->in[0]->type;
    const char *sign = NULL;
    bool total = false;
    for (uint32_t i = 0; i < t->op->word_count; i++) {
        for (int k = 0; k < 6; k++)
            if (shlo_is(&t->op->word[i], NAMES[k])) sign = SIGNS[k];
        total |= shlo_is(&t->op->word[i], "TOTALORDER");
    }
    if (!shlo_expect(w, sign != NULL, "a direction: EQ, NE, LT, LE, GT or GE")) return NOTHING;
    shlo_scalar a = shlo_element(w, t->in[0], at), b = shlo_element(w, t->in[1], at);
    if (in->complex) {
        const char *word = *sign == '=' ? "&&" : "||";
        if (!shlo_expect(w, sign[1] == '=' && (*sign == '=' || *sign == '!'),
                         "EQ or NE of complex"))
            return NOTHING;
        return (shlo_scalar){
            shlo_let(w, "u8", "u8(%s %s %s %s %s %s %s)", a.re, sign, b.re, word, a.im, sign, b.im),
            NULL};
    }
    if (total && class_of(in) == 0)
        a.re = total_order(w, in, a.re), b.re = total_order(w, in, b.re);
    return (shlo_scalar){shlo_let(w, "u8", "u8(%s %s %s)", a.re, sign, b.re), NULL};
}

static const char *convert_number(shlo_lower *w, const shlo_type *from, const shlo_type *to,
                                  const char *x) {
    if (to->truth && !from->truth) return shlo_let(w, "u8", "u8(%s != 0)", x);
    if (from->element == to->element) return x;
    return shlo_let(w, shlo_type_name(to), "%s(%s)", shlo_type_name(to), x);
}

shlo_scalar shlo_element_of_convert(shlo_lower *w, const shlo_tensor *t, const char *const *at) {
    const shlo_type *in = &t->in[0]->type;
    shlo_scalar x = shlo_element(w, t->in[0], at), y = NOTHING;
    y.re = convert_number(w, in, &t->type, x.re);
    if (t->type.complex)
        y.im = in->complex ? convert_number(w, in, &t->type, x.im)
                           : shlo_let(w, shlo_type_name(&t->type), "0.0");
    return y;
}

shlo_scalar shlo_element_of_bitcast_convert(shlo_lower *w, const shlo_tensor *t,
                                            const char *const *at) {
    const shlo_type *in = &t->in[0]->type;
    const char *from = shlo_type_name(in), *to = shlo_type_name(&t->type);
    if (!shlo_expect(w,
                     hg_type_size_bytes((hg_type)in->element) ==
                             hg_type_size_bytes((hg_type)t->type.element) &&
                         !in->complex && !t->type.complex && in->truth == t->type.truth,
                     "elements of one width"))
        return NOTHING;
    const char *x = shlo_element(w, t->in[0], at).re;
    if (in->element == t->type.element) return (shlo_scalar){x, NULL};
    if (class_of(in) && class_of(&t->type))
        return (shlo_scalar){shlo_let(w, to, "%s(%s)", to, x), NULL};
    return (shlo_scalar){shlo_let(w, to, "bits.%s.%s(%s)", to, from, x), NULL};
}

shlo_scalar shlo_element_of_part_of(shlo_lower *w, const shlo_tensor *t, const char *const *at) {
    shlo_scalar x = shlo_element(w, t->in[0], at);
    bool imag = shlo_is(&t->op->name, "stablehlo.imag");
    if (!t->in[0]->type.complex && imag)
        return (shlo_scalar){shlo_let(w, shlo_type_name(&t->type), "0.0"), NULL};
    return (shlo_scalar){imag ? x.im : x.re, NULL};
}

shlo_scalar shlo_element_of_complex_of(shlo_lower *w, const shlo_tensor *t, const char *const *at) {
    shlo_scalar c = {.re = shlo_element(w, t->in[0], at).re};
    c.im = shlo_element(w, t->in[1], at).re;
    return c;
}

/* ---- other places of the same elements ---- */

shlo_scalar shlo_element_of_broadcast_in_dim(shlo_lower *w, const shlo_tensor *t,
                                             const char *const *at) {
    const shlo_type *in = &t->in[0]->type;
    shlo_axes dims = shlo_axes_of(w, t->op, "dims", "broadcast_dimensions", 0);
    const char *from[SHLO_MAX_RANK];
    if (!shlo_are_axes(w, &dims, t->type.rank, "dims") ||
        !shlo_expect(w, dims.count == in->rank, "as many dims as the operand has axes"))
        return NOTHING;
    for (uint32_t i = 0; i < in->rank; i++) {
        uint64_t extent = t->type.dims[dims.at[i]];
        if (!shlo_expect(w, in->dims[i] == 1 || in->dims[i] == extent, "equal extents or 1"))
            return NOTHING;
        from[i] = in->dims[i] == 1 ? "0" : at[dims.at[i]];
    }
    return shlo_element(w, t->in[0], from);
}

/* Where only extents of 1 differ, axes go along; else through the place in row order. */
shlo_scalar shlo_element_of_reshape(shlo_lower *w, const shlo_tensor *t, const char *const *at) {
    const shlo_type *in = &t->in[0]->type, *out = &t->type;
    const char *from[SHLO_MAX_RANK];
    uint32_t i = 0, o = 0;
    for (;; i++, o++) {
        while (i < in->rank && in->dims[i] == 1) from[i++] = "0";
        while (o < out->rank && out->dims[o] == 1) o++;
        if (i == in->rank || o == out->rank || in->dims[i] != out->dims[o]) break;
        from[i] = at[o];
    }
    if (i == in->rank && o == out->rank) return shlo_element(w, t->in[0], from);
    const char *place = shlo_let(w, "i64", "i64(%s)", shlo_place(w, out, at));
    for (uint32_t d = in->rank; d-- > 0;) {
        unsigned long long extent = in->dims[d];
        from[d] = d ? shlo_let(w, "i64", "%s %% %llu", place, extent) : place;
        if (d) place = shlo_let(w, "i64", "%s / %llu", place, extent);
    }
    return shlo_element(w, t->in[0], from);
}

shlo_scalar shlo_element_of_transpose(shlo_lower *w, const shlo_tensor *t, const char *const *at) {
    const shlo_type *in = &t->in[0]->type;
    shlo_axes dims = shlo_axes_of(w, t->op, "dims", "permutation", 0);
    const char *from[SHLO_MAX_RANK];
    if (!shlo_are_axes(w, &dims, in->rank, "dims") ||
        !shlo_expect(w, dims.count == in->rank && t->type.rank == in->rank, "all axes in dims"))
        return NOTHING;
    for (uint32_t i = 0; i < in->rank; i++) {
        if (!shlo_expect(w, t->type.dims[i] == in->dims[dims.at[i]],
                         "the operand's extents in dims' order"))
            return NOTHING;
        from[dims.at[i]] = at[i];
    }
    return shlo_element(w, t->in[0], from);
}

shlo_scalar shlo_element_of_slice(shlo_lower *w, const shlo_tensor *t, const char *const *at) {
    const shlo_type *in = &t->in[0]->type;
    const char *from[SHLO_MAX_RANK];
    bool pretty = shlo_attribute_of(t->op, "slice", 0) != NULL;
    shlo_axes all = shlo_axes_of(w, t->op, "slice", NULL, 0);
    shlo_axes starts = shlo_axes_of(w, t->op, "start_indices", NULL, 0);
    shlo_axes ends = shlo_axes_of(w, t->op, "limit_indices", NULL, 0);
    shlo_axes steps = shlo_filled(w, t->op, "strides", NULL, in->rank, 1);
    if (!shlo_expect(w,
                     pretty ? all.count == 3 * in->rank
                            : starts.count == in->rank && ends.count == in->rank,
                     "[start:end:step] of each axis") ||
        !shlo_expect(w, t->type.rank == in->rank, "as many axes as the operand has"))
        return NOTHING;
    for (uint32_t i = 0; i < in->rank; i++) {
        int64_t start = pretty ? all.at[3 * i] : starts.at[i];
        int64_t end = pretty ? all.at[3 * i + 1] : ends.at[i];
        int64_t step = pretty ? all.at[3 * i + 2] : steps.at[i];
        if (!shlo_expect(w,
                         start >= 0 && step > 0 && end >= start && (uint64_t)end <= in->dims[i] &&
                             t->type.dims[i] ==
                                 (uint64_t)((end - start) / step + ((end - start) % step != 0)),
                         "0 <= start <= end <= the operand's extent, and so many elements"))
            return NOTHING;
        from[i] = start == 0 && step == 1 ? at[i]
                                          : shlo_let(w, "i64", "%s * %lld + %lld", at[i],
                                                     (long long)step, (long long)start);
    }
    return shlo_element(w, t->in[0], from);
}

shlo_scalar shlo_element_of_reverse(shlo_lower *w, const shlo_tensor *t, const char *const *at) {
    shlo_axes dims = shlo_axes_of(w, t->op, "dims", "dimensions", 0);
    const char *from[SHLO_MAX_RANK];
    if (!shlo_are_axes(w, &dims, t->type.rank, "dims")) return NOTHING;
    for (uint32_t i = 0; i < t->type.rank; i++)
        from[i] = shlo_find(&dims, i) < 0
                      ? at[i]
                      : shlo_let(w, "i64", "%lld - %s", (long long)t->type.dims[i] - 1, at[i]);
    return shlo_element(w, t->in[0], from);
}

shlo_scalar shlo_element_of_iota(shlo_lower *w, const shlo_tensor *t, const char *const *at) {
    int64_t dim = shlo_item(t->op, shlo_attribute_of(t->op, "dim", 0) ? "dim" : "iota_dimension", 0,
                            0, -1);
    const char *type = shlo_type_name(&t->type);
    if (!shlo_expect(w, dim >= 0 && dim < t->type.rank, "dim: one of the result's axes"))
        return NOTHING;
    shlo_scalar x = {.re = shlo_let(w, type, "%s(i64(%s))", type, at[dim])};
    if (t->type.complex) x.im = shlo_let(w, type, "0.0");
    return x;
}

/* ---- parts of several ---- */

shlo_scalar shlo_element_of_concatenate(shlo_lower *w, const shlo_tensor *t,
                                        const char *const *at) {
    int64_t dim = shlo_item(t->op, shlo_attribute_of(t->op, "dim", 0) ? "dim" : "dimension", 0, 0,
                            0);
    if (!shlo_expect(w, dim >= 0 && dim < t->type.rank, "dim: one of the axes")) return NOTHING;
    shlo_scalar v = shlo_variable(w, &t->type, shlo_zero(&t->type));
    uint64_t start = 0;
    for (uint32_t p = 0; p < t->op->operand_count && w->status == HG_OK; p++) {
        const char *from[SHLO_MAX_RANK];
        uint64_t extent = t->in[p]->type.dims[dim];
        if (!extent) continue;
        memcpy(from, at, sizeof *at * t->type.rank);
        uint64_t known = shlo_open(w, "if %s >= %llu && %s < %llu", at[dim],
                                   (unsigned long long)start, at[dim],
                                   (unsigned long long)(start + extent));
        if (start) from[dim] = shlo_let(w, "i64", "%s - %llu", at[dim], (unsigned long long)start);
        shlo_assign(w, v, shlo_element(w, t->in[p], from));
        shlo_close(w, known, "}");
        start += extent;
    }
    shlo_expect(w, start == t->type.dims[dim], "parts that fill the result");
    return v;
}

/* "A && B"; NULL is none. */
static const char *both(shlo_lower *w, const char *a, const char *b) {
    return a ? shlo_text(w, "%s && %s", a, b) : b;
}

shlo_scalar shlo_element_of_pad(shlo_lower *w, const shlo_tensor *t, const char *const *at) {
    const shlo_type *in = &t->in[0]->type;
    const char *from[SHLO_MAX_RANK], *inside = NULL;
    shlo_axes low = shlo_filled(w, t->op, "low", "edge_padding_low", in->rank, 0);
    shlo_axes high = shlo_filled(w, t->op, "high", "edge_padding_high", in->rank, 0);
    shlo_axes interior = shlo_filled(w, t->op, "interior", "interior_padding", in->rank, 0);
    if (!shlo_expect(w, t->type.rank == in->rank && t->in[1]->type.rank == 0,
                     "a scalar to pad with"))
        return NOTHING;
    for (uint32_t i = 0; i < in->rank; i++) {
        int64_t step = interior.at[i] + 1, extent = (int64_t)in->dims[i];
        const int64_t most = INT64_C(1) << 40;
        if (!shlo_expect(w, step > 0 && step < most && low.at[i] < most && low.at[i] > -most,
                         "paddings within 2^40"))
            return NOTHING;
        from[i] = at[i];
        if (low.at[i] == 0 && high.at[i] <= 0 && step == 1) continue;
        const char *p = shlo_let(w, "i64", "%s - (%lld)", at[i], (long long)low.at[i]);
        from[i] = step == 1 ? p : shlo_let(w, "i64", "%s / %lld", p, (long long)step);
        inside = both(w, inside,
                      shlo_text(w, "%s >= 0 && %s < %lld", p, from[i], (long long)extent));
        if (step != 1) inside = shlo_text(w, "%s && %s %% %lld == 0", inside, p, (long long)step);
    }
    if (!inside) return shlo_element(w, t->in[0], from);
    shlo_scalar v = shlo_variable(w, &t->type, shlo_element(w, t->in[1], from));
    uint64_t known = shlo_open(w, "if %s", inside);
    shlo_assign(w, v, shlo_element(w, t->in[0], from));
    shlo_close(w, known, "}");
    return v;
}

/* A start index within 0 … most, which is not negative. */
static const char *start_of(shlo_lower *w, const shlo_tensor *t, int64_t most) {
    const char *none[SHLO_MAX_RANK] = {0};
    if (!shlo_expect(w, t->type.rank == 0 && class_of(&t->type) % 3 != 0, "integers as starts"))
        return "0";
    if (most <= 0) return "0";
    const char *s = shlo_element(w, t, none).re;
    return shlo_let(w, "i64", "min(max(i64(%s), 0), %lld)", s, (long long)most);
}

shlo_scalar shlo_element_of_dynamic_slice(shlo_lower *w, const shlo_tensor *t,
                                          const char *const *at) {
    const shlo_type *in = &t->in[0]->type;
    const char *from[SHLO_MAX_RANK];
    if (!shlo_expect(w, t->op->operand_count == in->rank + 1u && t->type.rank == in->rank,
                     "a start of each axis"))
        return NOTHING;
    for (uint32_t i = 0; i < in->rank; i++) {
        int64_t most = (int64_t)in->dims[i] - (int64_t)t->type.dims[i];
        if (!shlo_expect(w, most >= 0, "sizes within the operand's extents")) return NOTHING;
        const char *start = start_of(w, t->in[i + 1], most);
        from[i] = *start == '0' ? at[i] : shlo_let(w, "i64", "%s + %s", at[i], start);
    }
    return shlo_element(w, t->in[0], from);
}

shlo_scalar shlo_element_of_dynamic_update_slice(shlo_lower *w, const shlo_tensor *t,
                                                 const char *const *at) {
    const shlo_type *part = &t->in[1]->type;
    const char *from[SHLO_MAX_RANK], *inside = NULL;
    if (!shlo_expect(w, t->op->operand_count == t->type.rank + 2u && part->rank == t->type.rank,
                     "a start of each axis"))
        return NOTHING;
    for (uint32_t i = 0; i < t->type.rank; i++) {
        int64_t most = (int64_t)t->type.dims[i] - (int64_t)part->dims[i];
        if (!shlo_expect(w, most >= 0, "an update within the operand's extents")) return NOTHING;
        const char *start = start_of(w, t->in[i + 2], most);
        from[i] = *start == '0' ? at[i] : shlo_let(w, "i64", "%s - %s", at[i], start);
        if (most)
            inside = both(w, inside,
                          shlo_text(w, "%s >= 0 && %s < %llu", from[i], from[i],
                                    (unsigned long long)part->dims[i]));
    }
    if (!inside) return shlo_element(w, t->in[1], from);
    shlo_scalar v = shlo_variable(w, &t->type, shlo_zero(&t->type));
    uint64_t known = shlo_open(w, "if %s", inside);
    shlo_assign(w, v, shlo_element(w, t->in[1], from));
    shlo_close(w, known, "} else {");
    shlo_assign(w, v, shlo_element(w, t->in[0], at));
    shlo_close(w, known, "}");
    return v;
}

/* ---- indices that are data ---- */

static shlo_window_map gather_map(shlo_lower *w, const shlo_op *op) {
    return (shlo_window_map){shlo_axes_of(w, op, "offset_dims", NULL, 0),
                             shlo_axes_of(w, op, "collapsed_slice_dims", NULL, 0),
                             shlo_axes_of(w, op, "operand_batching_dims", NULL, 0),
                             shlo_axes_of(w, op, "start_indices_batching_dims", NULL, 0),
                             shlo_axes_of(w, op, "start_index_map", NULL, 0),
                             shlo_item(op, "index_vector_dim", 0, 0, 0)};
}

/* starts[d], offsets[d] of the operand's axes for the element `at` of the result of a gather or the
 * updates of a scatter (of type `wide`). */
bool shlo_look_up(shlo_lower *w, const shlo_window_map *m, const shlo_type *operand,
                  const shlo_type *wide, const shlo_tensor *indices, const char *const *at,
                  const char **starts, const char **offsets) {
    const char *in[SHLO_MAX_RANK] = {0};
    uint32_t rank = indices->type.rank, next = 0, window = 0;
    if (!shlo_are_axes(w, &m->window, wide->rank, "axes of windows") ||
        !shlo_are_axes(w, &m->gone, operand->rank, "axes without windows") ||
        !shlo_are_axes(w, &m->batching, operand->rank, "batching axes") ||
        !shlo_are_axes(w, &m->index_batching, rank, "batching axes of indices") ||
        !shlo_are_axes(w, &m->map, operand->rank, "axes that indices move") ||
        !shlo_expect(w, m->vector >= 0 && m->vector <= rank,
                     "index_vector_dim within the indices") ||
        !shlo_expect(w, m->batching.count == m->index_batching.count,
                     "as many batching axes of both") ||
        !shlo_expect(w, (m->vector == rank ? 1 : indices->type.dims[m->vector]) == m->map.count,
                     "an index for each axis that they move") ||
        !shlo_expect(w, m->window.count + m->gone.count + m->batching.count == operand->rank,
                     "each axis in the window or named as none") ||
        !shlo_expect(w, wide->rank == m->window.count + rank - (m->vector < rank),
                     "an axis of each index"))
        return false;
    for (uint32_t i = 0; i < wide->rank; i++)
        if (shlo_find(&m->window, i) < 0) {
            if (next == (uint32_t)m->vector) next++;
            in[next++] = at[i];
        }
    for (uint32_t d = 0; d < operand->rank; d++) {
        int64_t moved = shlo_find(&m->map, d), batch = shlo_find(&m->batching, d);
        starts[d] = offsets[d] = NULL;
        if (batch >= 0) starts[d] = in[m->index_batching.at[batch]];
        if (batch >= 0 &&
            !shlo_expect(w, starts[d] != NULL, "batching axes beside the index vector"))
            return false;
        if (moved >= 0) {
            if (m->vector < rank) in[m->vector] = shlo_text(w, "%lld", (long long)moved);
            starts[d] = shlo_let(w, "i64", "i64(%s)", shlo_element(w, indices, in).re);
        }
        if (shlo_find(&m->gone, d) < 0 && batch < 0) offsets[d] = at[m->window.at[window++]];
    }
    return w->status == HG_OK;
}

shlo_scalar shlo_element_of_gather(shlo_lower *w, const shlo_tensor *t, const char *const *at) {
    const shlo_type *in = &t->in[0]->type;
    const char *starts[SHLO_MAX_RANK], *offsets[SHLO_MAX_RANK], *from[SHLO_MAX_RANK];
    shlo_window_map m = gather_map(w, t->op);
    shlo_axes sizes = shlo_filled(w, t->op, "slice_sizes", NULL, in->rank, 1);
    if (!shlo_look_up(w, &m, in, &t->type, t->in[1], at, starts, offsets)) return NOTHING;
    for (uint32_t d = 0; d < in->rank; d++) {
        int64_t most = (int64_t)in->dims[d] - sizes.at[d];
        if (!shlo_expect(w, most >= 0 && sizes.at[d] >= 0,
                         "slice_sizes within the operand's extents"))
            return NOTHING;
        from[d] = starts[d] && shlo_find(&m.batching, d) < 0
                      ? shlo_let(w, "i64", "min(max(%s, 0), %lld)", starts[d], (long long)most)
                      : starts[d];
        if (offsets[d])
            from[d] = from[d] ? shlo_let(w, "i64", "%s + %s", from[d], offsets[d]) : offsets[d];
        if (!from[d]) from[d] = "0";
    }
    return shlo_element(w, t->in[0], from);
}

/* ---- sums over many ---- */

bool shlo_scalars(shlo_lower *w, const shlo_region *region, const shlo_scalar *args, uint32_t count,
                  shlo_scalar *results, uint32_t result_count) {
    shlo_tensor *tensors[130];
    const char *none[SHLO_MAX_RANK] = {0};
    bool before = w->scalars;
    if (!shlo_expect(w, region && region->arg_count == count && result_count <= 128,
                     "a region with two arguments for each operand"))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const shlo_type *type = &w->m->values.data[region->args[i]].type;
        shlo_tensor *t = shlo_make(w, sizeof *t);
        if (!t || !shlo_expect(w, type->rank == 0, "a region of scalars")) return false;
        *t = (shlo_tensor){.type = *type, .kind = SHLO_VARIABLE, .variable = args[i]};
        shlo_bind(w, region->args[i], t);
    }
    w->scalars = true;
    w->walk(w, region, tensors, result_count);
    w->scalars = before;
    for (uint32_t i = 0; i < result_count && w->status == HG_OK; i++)
        results[i] = shlo_element(w, tensors[i], none);
    return w->status == HG_OK;
}

/* "applies stablehlo.add", else the region: accumulators with elements. */
static void combine(shlo_lower *w, const shlo_tensor *t, shlo_scalar *sums,
                    const shlo_scalar *parts, uint32_t count) {
    shlo_scalar args[128], results[64];
    const shlo_row *row = t->op->applies;
    memcpy(args, sums, count * sizeof *args);
    memcpy(args + count, parts, count * sizeof *args);
    if (row && row->how == SHLO_MAPS && row->least == 2 && count == 1)
        results[0] = map_scalars(w, row, &t->type, &t->type, args);
    else if (!shlo_scalars(w, t->op->regions, args, 2 * count, results, count))
        return;
    for (uint32_t i = 0; i < count && count > 1; i++) /* they may be one another's sums */
        results[i] = shlo_variable(w, &t[(int64_t)i - t->result].type, results[i]);
    for (uint32_t i = 0; i < count; i++) shlo_assign(w, sums[i], results[i]);
}

/* All results of an operation with pairs (operand, first value): `sums` begin as these. */
static uint32_t start_sums(shlo_lower *w, const shlo_tensor *t, shlo_scalar *sums) {
    uint32_t count = t->op->operand_count / 2;
    const char *none[SHLO_MAX_RANK] = {0};
    if (!shlo_expect(
            w, count * 2 == t->op->operand_count && count == t->op->result_count && count <= 32,
            "a first value and a result for each operand"))
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!shlo_expect(w, t->in[count + i]->type.rank == 0, "scalars as first values")) return 0;
        const shlo_type *type = &t[(int64_t)i - t->result].type;
        if (!shlo_expect(w,
                         type->element == t->in[i]->type.element &&
                             type->element == t->in[count + i]->type.element &&
                             type->complex == t->in[i]->type.complex &&
                             type->complex == t->in[count + i]->type.complex,
                         "first values and results of the operands' types"))
            return 0;
        sums[i] = shlo_variable(w, type, shlo_element(w, t->in[count + i], none));
    }
    return count;
}

/* The results beside t are known too. */
static shlo_scalar know_all(shlo_lower *w, const shlo_tensor *t, const char *const *at,
                            const shlo_scalar *sums, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        shlo_memo *memo = i == t->result ? NULL : hg_vec_push(&w->k->memo);
        if (!memo) continue;
        memo->tensor = t + i - t->result;
        memo->value = sums[i];
        for (uint32_t d = 0; d < t->type.rank; d++) memo->at[d] = at[d];
    }
    return count ? sums[t->result] : NOTHING;
}

shlo_scalar shlo_element_of_reduce(shlo_lower *w, const shlo_tensor *t, const char *const *at) {
    const shlo_type *in = &t->in[0]->type;
    shlo_axes dims = shlo_axes_of(w, t->op, "dimensions", NULL, 0);
    const char *from[SHLO_MAX_RANK];
    shlo_scalar sums[64], parts[64];
    uint64_t known[SHLO_MAX_RANK];
    if (!shlo_are_axes(w, &dims, in->rank, "dimensions") ||
        !shlo_expect(w, t->type.rank + dims.count == in->rank, "a result without these axes"))
        return NOTHING;
    uint32_t count = start_sums(w, t, sums), kept = 0, loops = 0;
    for (uint32_t i = 0; i < in->rank; i++) {
        bool gone = shlo_find(&dims, i) >= 0;
        if (!shlo_expect(w, gone || in->dims[i] == t->type.dims[kept], "the extents that are left"))
            return NOTHING;
        if (gone)
            known[loops++] = shlo_for(w, &from[i], in->dims[i]);
        else
            from[i] = at[kept++];
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!shlo_expect(w,
                         t->in[i]->type.rank == in->rank &&
                             !memcmp(t->in[i]->type.dims, in->dims, sizeof in->dims),
                         "operands of one shape"))
            return NOTHING;
        parts[i] = shlo_element(w, t->in[i], from);
    }
    combine(w, t, sums, parts, count);
    while (loops) shlo_close(w, known[--loops], "}");
    return know_all(w, t, at, sums, count);
}

/* Opens the loops over a window, then one `if` for what is inside. from: places in the operand.
 * known has rank + 1 entries; *closes: how many blocks are open. */
void shlo_slide_windows(shlo_lower *w, const shlo_type *in, const shlo_slide *s,
                        const char *const *at, const char **from, uint64_t *known,
                        uint32_t *closes) {
    const char *inside = NULL, *k[SHLO_MAX_RANK];
    *closes = 0;
    for (uint32_t i = 0; i < in->rank; i++) {
        k[i] = "0";
        if (s[i].size != 1) known[(*closes)++] = shlo_for(w, &k[i], (uint64_t)s[i].size);
    }
    for (uint32_t i = 0; i < in->rank; i++) {
        from[i] = at[i];
        if (s[i].size == 1 && s[i].stride == 1 && s[i].base == 1 && s[i].low == 0) continue;
        const char *p = shlo_let(w, "i64", "%s * %lld + %s * %lld - (%lld)", at[i],
                                 (long long)s[i].stride, k[i], (long long)s[i].dilation,
                                 (long long)s[i].low);
        from[i] = s[i].base == 1 ? p : shlo_let(w, "i64", "%s / %lld", p, (long long)s[i].base);
        inside = both(
            w, inside,
            shlo_text(w, "%s >= 0 && %s < %llu", p, from[i], (unsigned long long)in->dims[i]));
        if (s[i].base != 1)
            inside = shlo_text(w, "%s && %s %% %lld == 0", inside, p, (long long)s[i].base);
    }
    if (inside) known[(*closes)++] = shlo_open(w, "if %s", inside);
}

bool shlo_slides_of(shlo_lower *w, const shlo_op *op, uint32_t rank, shlo_slide *s) {
    const int64_t most = INT64_C(1) << 40;
    shlo_axes sizes = shlo_filled(w, op, "window_dimensions", NULL, rank, 1);
    shlo_axes strides = shlo_filled(w, op, "window_strides", NULL, rank, 1);
    shlo_axes bases = shlo_filled(w, op, "base_dilations", NULL, rank, 1);
    shlo_axes dilations = shlo_filled(w, op, "window_dilations", NULL, rank, 1);
    shlo_axes pads = shlo_filled(w, op, "padding", NULL, 2 * rank, 0);
    for (uint32_t i = 0; i < rank && w->status == HG_OK; i++) {
        s[i] = (shlo_slide){sizes.at[i], strides.at[i], pads.at[2 * i], bases.at[i],
                            dilations.at[i]};
        shlo_expect(w,
                    s[i].size > 0 && s[i].stride > 0 && s[i].base > 0 && s[i].dilation > 0 &&
                        s[i].size < most && s[i].stride < most && s[i].base < most &&
                        s[i].dilation < most && s[i].low < most && s[i].low > -most,
                    "sizes, strides and dilations from 1 to 2^40");
    }
    return w->status == HG_OK;
}

shlo_scalar shlo_element_of_reduce_window(shlo_lower *w, const shlo_tensor *t,
                                          const char *const *at) {
    const shlo_type *in = &t->in[0]->type;
    const char *from[SHLO_MAX_RANK];
    shlo_slide s[SHLO_MAX_RANK];
    shlo_scalar sums[64], parts[64];
    uint64_t known[SHLO_MAX_RANK + 1];
    uint32_t closes;
    if (!shlo_expect(w, in->rank == t->type.rank, "a result of the operand's rank") ||
        !shlo_slides_of(w, t->op, in->rank, s))
        return NOTHING;
    uint32_t count = start_sums(w, t, sums);
    for (uint32_t i = 1; i < count; i++)
        if (!shlo_expect(w,
                         !memcmp(t->in[i]->type.dims, in->dims, sizeof in->dims) &&
                             t->in[i]->type.rank == in->rank,
                         "operands of one shape"))
            return NOTHING;
    shlo_slide_windows(w, in, s, at, from, known, &closes);
    for (uint32_t i = 0; i < count; i++) parts[i] = shlo_element(w, t->in[i], from);
    combine(w, t, sums, parts, count);
    while (closes) shlo_close(w, known[--closes], "}");
    return know_all(w, t, at, sums, count);
}

/* Sums of products are kept in the type of the result, of f16 and bf16 in f32. */
static shlo_type sum_type(const shlo_type *result) {
    shlo_type type = *result;
    if (type.element == HG_TYPE_F16 || type.element == HG_TYPE_BF16) type.element = HG_TYPE_F32;
    return type;
}

static void add_product(shlo_lower *w, const shlo_type *sum_type, shlo_scalar sum,
                        const shlo_tensor *a, const char *const *at_a, const shlo_tensor *b,
                        const char *const *at_b) {
    shlo_scalar x = shlo_element(w, a, at_a), y = shlo_element(w, b, at_b);
    const char *type = shlo_type_name(sum_type);
    if (!shlo_expect(w,
                     a->type.complex == sum_type->complex && b->type.complex == sum_type->complex &&
                         !sum_type->truth,
                     "numbers, complex ones or none"))
        return;
    if (sum_type->complex) {
        shlo_scalar p = product(w, type, x, y);
        shlo_line(w, "%s = %s + %s", sum.re, sum.re, p.re);
        shlo_line(w, "%s = %s + %s", sum.im, sum.im, p.im);
        return;
    }
    x.re = convert_number(w, &a->type, sum_type, x.re);
    y.re = convert_number(w, &b->type, sum_type, y.re);
    if (class_of(sum_type) == 0)
        shlo_line(w, "%s = fma(%s, %s, %s)", sum.re, x.re, y.re, sum.re);
    else
        shlo_line(w, "%s = %s + %s * %s", sum.re, sum.re, x.re, y.re);
}

static shlo_scalar finish_sum(shlo_lower *w, const shlo_type *from, const shlo_type *to,
                              shlo_scalar sum) {
    if (!to->complex) sum.re = convert_number(w, from, to, sum.re);
    return sum;
}

shlo_scalar shlo_element_of_dot_general(shlo_lower *w, const shlo_tensor *t,
                                        const char *const *at) {
    const shlo_type *side[2] = {&t->in[0]->type, &t->in[1]->type};
    const char *from[2][SHLO_MAX_RANK];
    uint64_t known[SHLO_MAX_RANK];
    shlo_dot dot;
    if (!shlo_dot_of(w, t->op, side, &t->type, &dot)) return NOTHING;
    shlo_type type = sum_type(&t->type);
    shlo_scalar sum = shlo_variable(w, &type, shlo_zero(&type));
    uint32_t next = dot.batch_count, loops = 0;
    for (uint32_t i = 0; i < dot.batch_count; i++)
        for (int s = 0; s < 2; s++) from[s][dot.batch[s][i]] = at[i];
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < dot.free_count[s]; i++) from[s][dot.free[s][i]] = at[next++];
    for (uint32_t i = 0; i < dot.sum_count; i++) {
        known[loops++] = shlo_for(w, &from[0][dot.sum[0][i]], side[0]->dims[dot.sum[0][i]]);
        from[1][dot.sum[1][i]] = from[0][dot.sum[0][i]];
    }
    add_product(w, &type, sum, t->in[0], from[0], t->in[1], from[1]);
    while (loops) shlo_close(w, known[--loops], "}");
    return finish_sum(w, &type, &t->type, sum);
}

bool shlo_dot_of(shlo_lower *w, const shlo_op *op, const shlo_type *const *side,
                 const shlo_type *out, shlo_dot *dot) {
    static const char *const GENERIC[2][2] = {
        {"lhs_batching_dimensions", "rhs_batching_dimensions"},
        {"lhs_contracting_dimensions", "rhs_contracting_dimensions"}};
    shlo_axes batch[2], sum[2];
    *dot = (shlo_dot){.batch_count = 0};
    for (uint32_t s = 0; s < 2; s++) {
        bool pretty = shlo_attribute_of(op, "contracting_dims", 0) ||
                      shlo_attribute_of(op, "batching_dims", 0);
        batch[s] = shlo_axes_of(w, op, pretty ? "batching_dims" : GENERIC[0][s], NULL,
                                pretty ? s : 0);
        sum[s] = shlo_axes_of(w, op, pretty ? "contracting_dims" : GENERIC[1][s], NULL,
                              pretty ? s : 0);
        if (!shlo_are_axes(w, &batch[s], side[s]->rank, "batching_dims") ||
            !shlo_are_axes(w, &sum[s], side[s]->rank, "contracting_dims"))
            return false;
        for (uint32_t i = 0; i < side[s]->rank; i++)
            if (shlo_find(&batch[s], i) < 0 && shlo_find(&sum[s], i) < 0)
                dot->free[s][dot->free_count[s]++] = i;
            else if (!shlo_expect(w, shlo_find(&batch[s], i) < 0 || shlo_find(&sum[s], i) < 0,
                                  "axes that are batching or contracting"))
                return false;
    }
    if (!shlo_expect(w, batch[0].count == batch[1].count && sum[0].count == sum[1].count,
                     "as many axes of both operands") ||
        !shlo_expect(w, out->rank == batch[0].count + dot->free_count[0] + dot->free_count[1],
                     "a result with the batching axes and those that are left"))
        return false;
    dot->batch_count = batch[0].count;
    dot->sum_count = sum[0].count;
    bool same = true;
    for (uint32_t s = 0; s < 2; s++) {
        for (uint32_t i = 0; i < dot->batch_count; i++) {
            dot->batch[s][i] = (uint32_t)batch[s].at[i];
            same &= side[s]->dims[batch[s].at[i]] == out->dims[i];
        }
        for (uint32_t i = 0; i < dot->sum_count; i++) {
            dot->sum[s][i] = (uint32_t)sum[s].at[i];
            same &= side[0]->dims[sum[0].at[i]] == side[s]->dims[sum[s].at[i]];
        }
        for (uint32_t i = 0; i < dot->free_count[s]; i++)
            same &= side[s]->dims[dot->free[s][i]] ==
                    out->dims[dot->batch_count + (s ? dot->free_count[0] : 0) + i];
    }
    return shlo_expect(w, same, "equal extents of the axes that belong together");
}

/* [b, 0, 1, f]: axis[-1] of batches or o, axis[-2] of features or i, then the windows' axes. */
typedef struct layout {
    uint32_t batch, feature, spatial[SHLO_MAX_RANK];
} layout;

static bool layout_of(shlo_lower *w, const shlo_op *op, uint32_t n, uint32_t rank, int64_t batch,
                      int64_t feature, layout *l) {
    shlo_axes a = shlo_axes_of(w, op, "dim_numbers", NULL, n);
    uint32_t found = 0;
    for (uint32_t i = 0; i < a.count && i < rank; i++) {
        if (a.at[i] == batch) l->batch = i, found++;
        if (a.at[i] == feature) l->feature = i, found++;
        if (a.at[i] >= 0 && a.at[i] + 2 < (int64_t)rank) l->spatial[a.at[i]] = i, found++;
        if (shlo_find(&a, a.at[i]) != i) found = SHLO_MAX_RANK + 1;
    }
    return shlo_expect(w, a.count == rank && found == rank && rank >= 2,
                       "dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f] with each axis once");
}

shlo_scalar shlo_element_of_convolution(shlo_lower *w, const shlo_tensor *t,
                                        const char *const *at) {
    const shlo_type *in = &t->in[0]->type, *kernel = &t->in[1]->type, *out = &t->type;
    const int64_t most = INT64_C(1) << 40;
    layout a, k, o;
    uint32_t n = in->rank - 2u;
    const char *x[SHLO_MAX_RANK], *y[SHLO_MAX_RANK], *inside = NULL;
    uint64_t known[SHLO_MAX_RANK + 1];
    uint32_t closes = 0;
    if (!shlo_expect(w, in->rank >= 2 && kernel->rank == in->rank && out->rank == in->rank,
                     "arrays of one rank") ||
        !layout_of(w, t->op, 0, in->rank, -1, -2, &a) ||
        !layout_of(w, t->op, 1, in->rank, -4, -3, &k) ||
        !layout_of(w, t->op, 2, in->rank, -1, -2, &o))
        return NOTHING;
    shlo_axes stride = shlo_filled(w, t->op, "stride", "window_strides", n, 1);
    shlo_axes pads = shlo_filled(w, t->op, "pad", "padding", 2 * n, 0);
    shlo_axes base = shlo_filled(w, t->op, "lhs_dilate", "lhs_dilation", n, 1);
    shlo_axes dilation = shlo_filled(w, t->op, "rhs_dilate", "rhs_dilation", n, 1);
    shlo_axes reverse = shlo_filled(w, t->op, "reverse", "window_reversal", n, 0);
    int64_t groups = shlo_item(t->op, "feature_group_count", 0, 0, 1);
    int64_t batches = shlo_item(t->op, "batch_group_count", 0, 0, 1);
    uint64_t features = out->dims[o.feature], each = kernel->dims[k.feature];
    if (!shlo_expect(w,
                     groups > 0 && batches > 0 && features % (uint64_t)groups == 0 &&
                         features % (uint64_t)batches == 0 && kernel->dims[k.batch] == features &&
                         in->dims[a.feature] / (uint64_t)groups == each &&
                         in->dims[a.feature] % (uint64_t)groups == 0 &&
                         in->dims[a.batch] == out->dims[o.batch] * (uint64_t)batches,
                     "batches and features that fit the groups"))
        return NOTHING;
    shlo_type type = sum_type(out);
    shlo_scalar sum = shlo_variable(w, &type, shlo_zero(&type));
    y[k.batch] = at[o.feature];
    x[a.batch] = at[o.batch];
    if (batches > 1)
        x[a.batch] = shlo_let(w, "i64", "%s / %llu * %llu + %s", at[o.feature],
                              (unsigned long long)features / (unsigned long long)batches,
                              (unsigned long long)out->dims[o.batch], at[o.batch]);
    const char *group = groups > 1
                            ? shlo_let(w, "i64", "%s / %llu * %llu", at[o.feature],
                                       (unsigned long long)features / (unsigned long long)groups,
                                       (unsigned long long)each)
                            : NULL;
    for (uint32_t i = 0; i < n; i++) {
        const char *step;
        if (!shlo_expect(w,
                         stride.at[i] > 0 && base.at[i] > 0 && dilation.at[i] > 0 &&
                             stride.at[i] < most && base.at[i] < most && dilation.at[i] < most &&
                             pads.at[2 * i] < most && pads.at[2 * i] > -most,
                         "strides and dilations from 1 to 2^40"))
            return NOTHING;
        known[closes++] = shlo_for(w, &step, kernel->dims[k.spatial[i]]);
        y[k.spatial[i]] = reverse.at[i] ? shlo_let(w, "i64", "%lld - %s",
                                                   (long long)kernel->dims[k.spatial[i]] - 1, step)
                                        : step;
        const char *p = shlo_let(w, "i64", "%s * %lld + %s * %lld - (%lld)", at[o.spatial[i]],
                                 (long long)stride.at[i], step, (long long)dilation.at[i],
                                 (long long)pads.at[2 * i]);
        const char *q = base.at[i] == 1 ? p
                                        : shlo_let(w, "i64", "%s / %lld", p, (long long)base.at[i]);
        x[a.spatial[i]] = q;
        inside = both(
            w, inside,
            shlo_text(w, "%s >= 0 && %s < %llu", p, q, (unsigned long long)in->dims[a.spatial[i]]));
        if (base.at[i] != 1)
            inside = shlo_text(w, "%s && %s %% %lld == 0", inside, p, (long long)base.at[i]);
    }
    if (inside) known[closes++] = shlo_open(w, "if %s", inside);
    known[closes++] = shlo_for(w, &y[k.feature], each);
    x[a.feature] = group ? shlo_let(w, "i64", "%s + %s", group, y[k.feature]) : y[k.feature];
    add_product(w, &type, sum, t->in[0], x, t->in[1], y);
    while (closes) shlo_close(w, known[--closes], "}");
    return finish_sum(w, &type, out, sum);
}

/* ---- an element ---- */

static shlo_scalar splat(shlo_lower *w, const shlo_tensor *t) {
    const char *text[2] = {"0", NULL};
    size_t size = hg_type_size_bytes((hg_type)t->type.element);
    for (int part = 0; part <= t->type.complex; part++) {
        uint64_t bits = 0;
        for (size_t i = size; i-- > 0;)
            bits = bits << 8 | (t->bytes ? t->bytes[(size_t)part * size + i] : 0);
        text[part] = shlo_let(w, shlo_type_name(&t->type), "bits(0x%llx)",
                              (unsigned long long)bits);
    }
    return (shlo_scalar){text[0], text[1]};
}

static bool is_known(const shlo_memo *m, const shlo_tensor *t, const char *const *at) {
    if (m->tensor != t) return false;
    for (uint32_t i = 0; i < t->type.rank && t->kind != SHLO_SPLAT; i++)
        if (m->at[i] != at[i]) return false;
    return true;
}

shlo_scalar shlo_element(shlo_lower *w, const shlo_tensor *t, const char *const *at) {
    if (w->status != HG_OK || !t) return NOTHING;
    if (t->kind == SHLO_VARIABLE) return t->variable;
    for (uint64_t i = w->k->memo.count; i-- > 0;)
        if (is_known(&w->k->memo.data[i], t, at)) return w->k->memo.data[i].value;
    const shlo_op *before = w->op;
    shlo_scalar value;
    if (t->kind == SHLO_SPLAT) {
        value = splat(w, t);
    } else if (t->kind == SHLO_ARRAY) {
        value = shlo_load(w, t->storage, shlo_place(w, &t->type, at));
    } else {
        w->op = t->op;
        value = t->op->row->element(w, t, at);
        w->op = before;
    }
    shlo_memo *memo = w->status == HG_OK ? hg_vec_push(&w->k->memo) : NULL;
    if (!memo) return value;
    memo->tensor = t;
    memo->value = value;
    for (uint32_t i = 0; i < t->type.rank; i++) memo->at[i] = at[i];
    return value;
}
