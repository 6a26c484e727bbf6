/* One element of what an operation makes, as lines of a lane program, from elements of its
 * operands.
 * Must not know: how many programs there are. */
#include "hlo/axes.h"
#include "hlo/operations.h"
#include <stdio.h>
#include <string.h>

static const mlir_scalar NOTHING = {"0", "0"};

/* ---- maps ---- */

static int class_of(const mlir_type *t) {
    const char *name = mlir_type_name(t);
    return t->truth ? 3 : *name == 'u' ? 2 : *name == 'i' ? 1 : 0;
}

static mlir_scalar select_complex(mlir_lower *w, const char *type, const mlir_scalar *x) {
    mlir_scalar c = {.re = mlir_let(w, type, "%s != 0 ? %s : %s", x[0].re, x[1].re, x[2].re)};
    c.im = mlir_let(w, type, "%s != 0 ? %s : %s", x[0].re, x[1].im, x[2].im);
    return c;
}

/* in: the type whose column counts. */
static mlir_scalar map_scalars(mlir_lower *w, const mlir_row *row, const mlir_type *in,
                               const mlir_type *out, const mlir_scalar *args) {
    bool select = strcmp(row->name, "stablehlo.select") == 0;
    if (in->complex && select) return select_complex(w, mlir_type_name(in), args);
    if (in->complex) return mlir_map_complex(w, row->name, in, args);
    const char *text = row->text[class_of(in)];
    if (!*text) {
        mlir_refuse(w, "not for elements of type %s", in->truth ? "i1" : mlir_type_name(in));
        return NOTHING;
    }
    return (mlir_scalar){
        mlir_let(w, mlir_type_name(out), "%s", mlir_expand(w, text, in, out, args)), NULL};
}

/* The type that says which column: of select that of its branches. */
static const mlir_type *column_type(const mlir_tensor *t) {
    uint32_t last = t->op->row->least - 1;
    return &t->in[strcmp(t->op->row->name, "stablehlo.select") ? 0 : last]->type;
}

mlir_scalar mlir_element_of_map(mlir_lower *w, const mlir_tensor *t, const char *const *at) {
    mlir_scalar args[3] = {{0}};
    const mlir_type *type = column_type(t);
    uint32_t count = t->op->row->least;
    for (uint32_t i = 0; i < count; i++) args[i] = mlir_element(w, t->in[i], at);
    return map_scalars(w, t->op->row, type, &t->type, args);
}

/* ---- comparisons and conversions ---- */

const char *mlir_total_order(mlir_lower *w, const mlir_type *t, const char *x) {
    size_t bits = hg_type_size_bytes((hg_type)t->element) * 8;
    const char *whole = mlir_text(w, "i%zu", bits);
    const char *b = mlir_let(w, whole, "bits.%s.%s(%s)", whole, mlir_type_name(t), x);
    return mlir_let(w, whole, "%s < 0 ? %s ^ %llu : %s", b, b,
                    (unsigned long long)((UINT64_C(1) << (bits - 1)) - 1), b);
}

mlir_scalar mlir_element_of_compare(mlir_lower *w, const mlir_tensor *t, const char *const *at) {
    static const char *const NAMES[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
    static const char *const SIGNS[] = {"==", "!=", "<", "<=", ">", ">="};
    const mlir_type *in = &t->in[0]->type;
    const char *sign = NULL;
    bool total = false;
    for (uint32_t i = 0; i < t->op->word_count; i++) {
        for (int k = 0; k < 6; k++)
            if (mlir_is(&t->op->word[i], NAMES[k])) sign = SIGNS[k];
        total |= mlir_is(&t->op->word[i], "TOTALORDER");
    }
    if (!mlir_expect(w, sign != NULL, "a direction: EQ, NE, LT, LE, GT or GE") ||
        !mlir_expect(w, t->type.truth && mlir_same_elements(in, &t->in[1]->type),
                     "operands of one type and a result of i1"))
        return NOTHING;
    mlir_scalar a = mlir_element(w, t->in[0], at), b = mlir_element(w, t->in[1], at);
    if (in->complex) {
        const char *word = *sign == '=' ? "&&" : "||";
        if (!mlir_expect(w, sign[1] == '=' && (*sign == '=' || *sign == '!'),
                         "EQ or NE of complex"))
            return NOTHING;
        return (mlir_scalar){
            mlir_let(w, "u8", "u8(%s %s %s %s %s %s %s)", a.re, sign, b.re, word, a.im, sign, b.im),
            NULL};
    }
    if (total && class_of(in) == 0)
        a.re = mlir_total_order(w, in, a.re), b.re = mlir_total_order(w, in, b.re);
    return (mlir_scalar){mlir_let(w, "u8", "u8(%s %s %s)", a.re, sign, b.re), NULL};
}

static const char *convert_number(mlir_lower *w, const mlir_type *from, const mlir_type *to,
                                  const char *x) {
    if (to->truth && !from->truth) return mlir_let(w, "u8", "u8(%s != 0)", x);
    if (from->element == to->element) return x;
    return mlir_let(w, mlir_type_name(to), "%s(%s)", mlir_type_name(to), x);
}

mlir_scalar mlir_element_of_convert(mlir_lower *w, const mlir_tensor *t, const char *const *at) {
    const mlir_type *in = &t->in[0]->type;
    mlir_scalar x = mlir_element(w, t->in[0], at), y = NOTHING;
    y.re = convert_number(w, in, &t->type, x.re);
    if (t->type.complex)
        y.im = in->complex ? convert_number(w, in, &t->type, x.im)
                           : mlir_let(w, mlir_type_name(&t->type), "0.0");
    return y;
}

/* The region's result for the elements. */
mlir_scalar mlir_element_of_map_of(mlir_lower *w, const mlir_tensor *t, const char *const *at) {
    mlir_scalar args[64], result = NOTHING;
    const mlir_type *types[64], *wanted = &t->type;
    for (uint32_t i = 0; i < t->op->operand_count; i++) {
        args[i] = mlir_element(w, t->in[i], at);
        types[i] = &t->in[i]->type;
    }
    if (mlir_expect(w, t->op->regions && t->op->result_count == 1, "a region and a result"))
        mlir_scalars(w, t->op->regions, args, types, t->op->operand_count, &result, &wanted, 1);
    return result;
}

mlir_scalar mlir_element_of_part_of(mlir_lower *w, const mlir_tensor *t, const char *const *at) {
    mlir_scalar x = mlir_element(w, t->in[0], at);
    mlir_type part = t->in[0]->type;
    bool imag = mlir_is(&t->op->name, "stablehlo.imag");
    part.complex = false;
    if (!mlir_expect(w, mlir_same_elements(&part, &t->type), "a result of the parts' type"))
        return NOTHING;
    if (!t->in[0]->type.complex && imag)
        return (mlir_scalar){mlir_let(w, mlir_type_name(&t->type), "0.0"), NULL};
    return (mlir_scalar){imag ? x.im : x.re, NULL};
}

mlir_scalar mlir_element_of_complex_of(mlir_lower *w, const mlir_tensor *t, const char *const *at) {
    mlir_type part = t->type;
    part.complex = false;
    if (!mlir_expect(w,
                     t->type.complex && mlir_same_elements(&part, &t->in[0]->type) &&
                         mlir_same_elements(&part, &t->in[1]->type),
                     "two parts of the result's"))
        return NOTHING;
    mlir_scalar c = {.re = mlir_element(w, t->in[0], at).re};
    c.im = mlir_element(w, t->in[1], at).re;
    return c;
}

/* ---- other places of the same elements ---- */

mlir_scalar mlir_element_of_broadcast_in_dim(mlir_lower *w, const mlir_tensor *t,
                                             const char *const *at) {
    const mlir_type *in = &t->in[0]->type;
    mlir_axes dims = mlir_axes_of(w, t->op, "dims", "broadcast_dimensions", 0);
    const char *from[MLIR_MAX_RANK];
    if (!mlir_are_axes(w, &dims, t->type.rank, "dims") ||
        !mlir_expect(w, dims.count == in->rank, "as many dims as the operand has axes"))
        return NOTHING;
    for (uint32_t i = 0; i < in->rank; i++) {
        uint64_t extent = t->type.dims[dims.at[i]];
        if (!mlir_expect(w, in->dims[i] == 1 || in->dims[i] == extent, "equal extents or 1"))
            return NOTHING;
        from[i] = in->dims[i] == 1 ? "0" : at[dims.at[i]];
    }
    return mlir_element(w, t->in[0], from);
}

/* Where only extents of 1 differ, axes go along; else through the place in row order. */
mlir_scalar mlir_element_of_reshape(mlir_lower *w, const mlir_tensor *t, const char *const *at) {
    const mlir_type *in = &t->in[0]->type, *out = &t->type;
    const char *from[MLIR_MAX_RANK];
    uint32_t i = 0, o = 0;
    for (;; i++, o++) {
        while (i < in->rank && in->dims[i] == 1) from[i++] = "0";
        while (o < out->rank && out->dims[o] == 1) o++;
        if (i == in->rank || o == out->rank || in->dims[i] != out->dims[o]) break;
        from[i] = at[o];
    }
    if (i == in->rank && o == out->rank) return mlir_element(w, t->in[0], from);
    const char *place = mlir_let(w, "i64", "i64(%s)", mlir_place(w, out, at));
    for (uint32_t d = in->rank; d-- > 0;) {
        unsigned long long extent = in->dims[d];
        from[d] = d ? mlir_let(w, "i64", "%s %% %llu", place, extent) : place;
        if (d) place = mlir_let(w, "i64", "%s / %llu", place, extent);
    }
    return mlir_element(w, t->in[0], from);
}

mlir_scalar mlir_element_of_transpose(mlir_lower *w, const mlir_tensor *t, const char *const *at) {
    const mlir_type *in = &t->in[0]->type;
    mlir_axes dims = mlir_axes_of(w, t->op, "dims", "permutation", 0);
    const char *from[MLIR_MAX_RANK];
    if (!mlir_are_axes(w, &dims, in->rank, "dims") ||
        !mlir_expect(w, dims.count == in->rank && t->type.rank == in->rank, "all axes in dims"))
        return NOTHING;
    for (uint32_t i = 0; i < in->rank; i++) {
        if (!mlir_expect(w, t->type.dims[i] == in->dims[dims.at[i]],
                         "the operand's extents in dims' order"))
            return NOTHING;
        from[dims.at[i]] = at[i];
    }
    return mlir_element(w, t->in[0], from);
}

mlir_scalar mlir_element_of_slice(mlir_lower *w, const mlir_tensor *t, const char *const *at) {
    const mlir_type *in = &t->in[0]->type;
    const char *from[MLIR_MAX_RANK];
    bool pretty = mlir_attribute_of(t->op, "slice", 0) != NULL;
    mlir_axes all = mlir_axes_of(w, t->op, "slice", NULL, 0);
    mlir_axes starts = mlir_axes_of(w, t->op, "start_indices", NULL, 0);
    mlir_axes ends = mlir_axes_of(w, t->op, "limit_indices", NULL, 0);
    mlir_axes steps = mlir_filled(w, t->op, "strides", NULL, in->rank, 1);
    if (!mlir_expect(w,
                     pretty ? all.count == 3 * in->rank
                            : starts.count == in->rank && ends.count == in->rank,
                     "[start:end:step] of each axis") ||
        !mlir_expect(w, t->type.rank == in->rank, "as many axes as the operand has"))
        return NOTHING;
    for (uint32_t i = 0; i < in->rank; i++) {
        int64_t start = pretty ? all.at[3 * i] : starts.at[i];
        int64_t end = pretty ? all.at[3 * i + 1] : ends.at[i];
        int64_t step = pretty ? all.at[3 * i + 2] : steps.at[i];
        if (!mlir_expect(w,
                         start >= 0 && step > 0 && end >= start && (uint64_t)end <= in->dims[i] &&
                             t->type.dims[i] ==
                                 (uint64_t)((end - start) / step + ((end - start) % step != 0)),
                         "0 <= start <= end <= the operand's extent, and so many elements"))
            return NOTHING;
        from[i] = start == 0 && step == 1 ? at[i]
                                          : mlir_let(w, "i64", "%s * %lld + %lld", at[i],
                                                     (long long)step, (long long)start);
    }
    return mlir_element(w, t->in[0], from);
}

mlir_scalar mlir_element_of_reverse(mlir_lower *w, const mlir_tensor *t, const char *const *at) {
    mlir_axes dims = mlir_axes_of(w, t->op, "dims", "dimensions", 0);
    const char *from[MLIR_MAX_RANK];
    if (!mlir_are_axes(w, &dims, t->type.rank, "dims")) return NOTHING;
    for (uint32_t i = 0; i < t->type.rank; i++)
        from[i] = mlir_find(&dims, i) < 0
                      ? at[i]
                      : mlir_let(w, "i64", "%lld - %s", (long long)t->type.dims[i] - 1, at[i]);
    return mlir_element(w, t->in[0], from);
}

mlir_scalar mlir_element_of_iota(mlir_lower *w, const mlir_tensor *t, const char *const *at) {
    int64_t dim = mlir_item(t->op, mlir_attribute_of(t->op, "dim", 0) ? "dim" : "iota_dimension", 0,
                            0, -1);
    const char *type = mlir_type_name(&t->type);
    if (!mlir_expect(w, dim >= 0 && dim < t->type.rank && !t->type.truth,
                     "dim: one of the result's axes, and numbers"))
        return NOTHING;
    mlir_scalar x = {.re = mlir_let(w, type, "%s(i64(%s))", type, at[dim])};
    if (t->type.complex) x.im = mlir_let(w, type, "0.0");
    return x;
}

/* ---- parts of several ---- */

mlir_scalar mlir_element_of_concatenate(mlir_lower *w, const mlir_tensor *t,
                                        const char *const *at) {
    int64_t dim = mlir_item(t->op, mlir_attribute_of(t->op, "dim", 0) ? "dim" : "dimension", 0, 0,
                            0);
    if (!mlir_expect(w, dim >= 0 && dim < t->type.rank, "dim: one of the axes")) return NOTHING;
    mlir_scalar v = mlir_variable(w, &t->type, mlir_zero(&t->type));
    uint64_t start = 0;
    for (uint32_t p = 0; p < t->op->operand_count && w->status == HG_OK; p++) {
        const char *from[MLIR_MAX_RANK];
        uint64_t extent = t->in[p]->type.dims[dim];
        mlir_type rest = t->in[p]->type;
        rest.dims[dim] = t->type.dims[dim];
        if (!mlir_expect(w, mlir_same_dims(&rest, &t->type), "parts that differ along dim alone"))
            return NOTHING;
        if (!extent) continue;
        memcpy(from, at, sizeof *at * t->type.rank);
        uint64_t known = mlir_open(w, "if %s >= %llu && %s < %llu", at[dim],
                                   (unsigned long long)start, at[dim],
                                   (unsigned long long)(start + extent));
        if (start) from[dim] = mlir_let(w, "i64", "%s - %llu", at[dim], (unsigned long long)start);
        mlir_assign(w, v, mlir_element(w, t->in[p], from));
        mlir_close(w, known, "}");
        start += extent;
    }
    mlir_expect(w, start == t->type.dims[dim], "parts that fill the result");
    return v;
}

/* "A && B"; NULL is none. */
static const char *both(mlir_lower *w, const char *a, const char *b) {
    return a ? mlir_text(w, "%s && %s", a, b) : b;
}

mlir_scalar mlir_element_of_pad(mlir_lower *w, const mlir_tensor *t, const char *const *at) {
    const mlir_type *in = &t->in[0]->type;
    const char *from[MLIR_MAX_RANK], *inside = NULL;
    const bool told = t->op->operand_count == 5; /* dynamic_pad */
    mlir_axes low = told ? mlir_axes_of_operand(w, t->in[2], in->rank)
                         : mlir_filled(w, t->op, "low", "edge_padding_low", in->rank, 0);
    mlir_axes high = told ? mlir_axes_of_operand(w, t->in[3], in->rank)
                          : mlir_filled(w, t->op, "high", "edge_padding_high", in->rank, 0);
    mlir_axes interior = told ? mlir_axes_of_operand(w, t->in[4], in->rank)
                              : mlir_filled(w, t->op, "interior", "interior_padding", in->rank, 0);
    if (!mlir_expect(w, t->type.rank == in->rank && t->in[1]->type.rank == 0,
                     "a scalar to pad with"))
        return NOTHING;
    for (uint32_t i = 0; i < in->rank; i++) {
        int64_t extent = (int64_t)in->dims[i], between = extent ? extent - 1 : 0, step;
        const int64_t most = INT64_C(1) << 40;
        if (!mlir_expect(w,
                         interior.at[i] >= 0 && interior.at[i] < most && low.at[i] < most &&
                             low.at[i] > -most && high.at[i] < most && high.at[i] > -most &&
                             interior.at[i] <= 4 * most / (between + 1),
                         "paddings within 2^40") ||
            !mlir_expect(w,
                         (int64_t)t->type.dims[i] ==
                             low.at[i] + extent + between * interior.at[i] + high.at[i],
                         "the operand's extents with the paddings"))
            return NOTHING;
        step = interior.at[i] + 1;
        from[i] = at[i];
        if (low.at[i] == 0 && high.at[i] <= 0 && step == 1) continue;
        const char *p = mlir_let(w, "i64", "%s - (%lld)", at[i], (long long)low.at[i]);
        from[i] = step == 1 ? p : mlir_let(w, "i64", "%s / %lld", p, (long long)step);
        inside = both(w, inside,
                      mlir_text(w, "%s >= 0 && %s < %lld", p, from[i], (long long)extent));
        if (step != 1) inside = mlir_text(w, "%s && %s %% %lld == 0", inside, p, (long long)step);
    }
    if (!inside) return mlir_element(w, t->in[0], from);
    mlir_scalar v = mlir_variable(w, &t->type, mlir_element(w, t->in[1], from));
    uint64_t known = mlir_open(w, "if %s", inside);
    mlir_assign(w, v, mlir_element(w, t->in[0], from));
    mlir_close(w, known, "}");
    return v;
}

/* An index of any type; of u64 those beyond i64 are its greatest. */
static const char *index_of(mlir_lower *w, const mlir_type *type, const char *x) {
    if (type->element != HG_TYPE_U64) return mlir_text(w, "i64(%s)", x);
    return mlir_text(w, "i64(min(%s, %lld))", x, (long long)INT64_MAX);
}

/* A start index within 0 … most, which is not negative. */
static const char *start_of(mlir_lower *w, const mlir_tensor *t, int64_t most) {
    const char *none[MLIR_MAX_RANK] = {0};
    if (!mlir_expect(w, t->type.rank == 0 && class_of(&t->type) % 3 != 0, "integers as starts"))
        return "0";
    if (most <= 0) return "0";
    const char *s = mlir_element(w, t, none).re;
    return mlir_let(w, "i64", "min(max(%s, 0), %lld)", index_of(w, &t->type, s), (long long)most);
}

mlir_scalar mlir_element_of_dynamic_slice(mlir_lower *w, const mlir_tensor *t,
                                          const char *const *at) {
    const mlir_type *in = &t->in[0]->type;
    const char *from[MLIR_MAX_RANK];
    mlir_axes sizes = mlir_filled(w, t->op, "sizes", "slice_sizes", in->rank, -1);
    if (!mlir_expect(w, t->op->operand_count == in->rank + 1u && t->type.rank == in->rank,
                     "a start of each axis"))
        return NOTHING;
    for (uint32_t i = 0; i < in->rank; i++) {
        int64_t extent = (int64_t)in->dims[i], size = (int64_t)t->type.dims[i];
        if (!mlir_expect(w, size <= extent && sizes.at[i] == size,
                         "sizes within the operand's extents, which are the result's"))
            return NOTHING;
        const char *start = start_of(w, t->in[i + 1], extent - size);
        from[i] = *start == '0' ? at[i] : mlir_let(w, "i64", "%s + %s", at[i], start);
    }
    return mlir_element(w, t->in[0], from);
}

mlir_scalar mlir_element_of_dynamic_update_slice(mlir_lower *w, const mlir_tensor *t,
                                                 const char *const *at) {
    const mlir_type *part = &t->in[1]->type;
    const char *from[MLIR_MAX_RANK], *inside = NULL;
    if (!mlir_expect(w, t->op->operand_count == t->type.rank + 2u && part->rank == t->type.rank,
                     "a start of each axis") ||
        !mlir_expect(w, mlir_same_dims(&t->in[0]->type, &t->type), "the operand's extents"))
        return NOTHING;
    for (uint32_t i = 0; i < t->type.rank; i++) {
        int64_t most = (int64_t)t->type.dims[i] - (int64_t)part->dims[i];
        if (!mlir_expect(w, most >= 0, "an update within the operand's extents")) return NOTHING;
        const char *start = start_of(w, t->in[i + 2], most);
        from[i] = *start == '0' ? at[i] : mlir_let(w, "i64", "%s - %s", at[i], start);
        if (most)
            inside = both(w, inside,
                          mlir_text(w, "%s >= 0 && %s < %llu", from[i], from[i],
                                    (unsigned long long)part->dims[i]));
    }
    if (!inside) return mlir_element(w, t->in[1], from);
    mlir_scalar v = mlir_variable(w, &t->type, mlir_zero(&t->type));
    uint64_t known = mlir_open(w, "if %s", inside);
    mlir_assign(w, v, mlir_element(w, t->in[1], from));
    mlir_close(w, known, "} else {");
    mlir_assign(w, v, mlir_element(w, t->in[0], at));
    mlir_close(w, known, "}");
    return v;
}

/* ---- indices that are data ---- */

static mlir_window_map gather_map(mlir_lower *w, const mlir_op *op) {
    return (mlir_window_map){mlir_axes_of(w, op, "offset_dims", NULL, 0),
                             mlir_axes_of(w, op, "collapsed_slice_dims", NULL, 0),
                             mlir_axes_of(w, op, "operand_batching_dims", NULL, 0),
                             mlir_axes_of(w, op, "start_indices_batching_dims", NULL, 0),
                             mlir_axes_of(w, op, "start_index_map", NULL, 0),
                             mlir_item(op, "index_vector_dim", 0, 0, 0)};
}

/* starts[d], offsets[d] of the operand's axes for the element `at` of the result of a gather or the
 * updates of a scatter (of type `wide`). */
bool mlir_look_up(mlir_lower *w, const mlir_window_map *m, const mlir_type *operand,
                  const mlir_type *wide, const mlir_tensor *indices, const char *const *at,
                  const char **starts, const char **offsets) {
    const char *in[MLIR_MAX_RANK] = {0};
    uint32_t rank = indices->type.rank, next = 0, window = 0;
    if (!mlir_are_axes(w, &m->window, wide->rank, "axes of windows") ||
        !mlir_are_axes(w, &m->gone, operand->rank, "axes without windows") ||
        !mlir_are_axes(w, &m->batching, operand->rank, "batching axes") ||
        !mlir_are_axes(w, &m->index_batching, rank, "batching axes of indices") ||
        !mlir_are_axes(w, &m->map, operand->rank, "axes that indices move") ||
        !mlir_expect(w, m->vector >= 0 && m->vector <= rank,
                     "index_vector_dim within the indices") ||
        !mlir_expect(w, m->batching.count == m->index_batching.count,
                     "as many batching axes of both") ||
        !mlir_expect(w, (m->vector == rank ? 1 : indices->type.dims[m->vector]) == m->map.count,
                     "an index for each axis that they move") ||
        !mlir_expect(w, m->window.count + m->gone.count + m->batching.count == operand->rank,
                     "each axis in the window or named as none") ||
        !mlir_expect(w, wide->rank == m->window.count + rank - (m->vector < rank),
                     "an axis of each index"))
        return false;
    for (uint32_t i = 0; i < wide->rank; i++)
        if (mlir_find(&m->window, i) < 0) {
            if (next == (uint32_t)m->vector) next++;
            if (!mlir_expect(w, wide->dims[i] == indices->type.dims[next],
                             "the extents of the indices"))
                return false;
            in[next++] = at[i];
        }
    for (uint32_t d = 0; d < operand->rank; d++) {
        int64_t moved = mlir_find(&m->map, d), batch = mlir_find(&m->batching, d);
        starts[d] = offsets[d] = NULL;
        if (!mlir_expect(w, batch < 0 || mlir_find(&m->gone, d) < 0, "each axis named once"))
            return false;
        if (batch >= 0) starts[d] = in[m->index_batching.at[batch]];
        if (batch >= 0 &&
            !mlir_expect(w, starts[d] != NULL, "batching axes beside the index vector"))
            return false;
        if (moved >= 0) {
            if (m->vector < rank) in[m->vector] = mlir_text(w, "%lld", (long long)moved);
            const char *x = mlir_element(w, indices, in).re;
            starts[d] = mlir_let(w, "i64", "%s", index_of(w, &indices->type, x));
        }
        if (mlir_find(&m->gone, d) < 0 && batch < 0) offsets[d] = at[m->window.at[window++]];
    }
    return w->status == HG_OK;
}

mlir_scalar mlir_element_of_gather(mlir_lower *w, const mlir_tensor *t, const char *const *at) {
    const mlir_type *in = &t->in[0]->type;
    const char *starts[MLIR_MAX_RANK], *offsets[MLIR_MAX_RANK], *from[MLIR_MAX_RANK];
    mlir_window_map m = gather_map(w, t->op);
    mlir_axes sizes = t->op->operand_count == 3 /* dynamic_gather */
                          ? mlir_axes_of_operand(w, t->in[2], in->rank)
                          : mlir_filled(w, t->op, "slice_sizes", NULL, in->rank, 1);
    uint32_t window = 0;
    if (!mlir_look_up(w, &m, in, &t->type, t->in[1], at, starts, offsets)) return NOTHING;
    for (uint32_t d = 0; d < in->rank; d++) {
        int64_t extent = (int64_t)in->dims[d], size = sizes.at[d];
        if (!mlir_expect(w, size >= 0 && size <= extent,
                         "slice_sizes within the operand's extents"))
            return NOTHING;
        from[d] = starts[d] && mlir_find(&m.batching, d) < 0
                      ? mlir_let(w, "i64", "min(max(%s, 0), %lld)", starts[d],
                                 (long long)(extent - size))
                      : starts[d];
        if (offsets[d] &&
            !mlir_expect(w, t->type.dims[m.window.at[window++]] == (uint64_t)sizes.at[d],
                         "slice_sizes as the result's extents"))
            return NOTHING;
        if (offsets[d])
            from[d] = from[d] ? mlir_let(w, "i64", "%s + %s", from[d], offsets[d]) : offsets[d];
        if (!from[d]) from[d] = "0";
    }
    return mlir_element(w, t->in[0], from);
}

/* ---- sums over many ---- */

bool mlir_scalars(mlir_lower *w, const mlir_region *region, const mlir_scalar *args,
                  const mlir_type *const *types, uint32_t count, mlir_scalar *results,
                  const mlir_type *const *wanted, uint32_t result_count) {
    mlir_tensor *tensors[130];
    const char *none[MLIR_MAX_RANK] = {0};
    bool before = w->scalars;
    if (!mlir_expect(w, region && region->arg_count == count && result_count <= 128,
                     "a region with two arguments for each operand"))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const mlir_type *type = &w->m->values.data[region->args[i]].type;
        mlir_tensor *t = mlir_make(w, sizeof *t);
        if (!t || !mlir_expect(w, type->rank == 0 && mlir_same_elements(type, types[i]),
                               "a region of scalars of the operands' types"))
            return false;
        *t = (mlir_tensor){.type = *type, .kind = MLIR_VARIABLE, .variable = args[i]};
        mlir_bind(w, region->args[i], t);
    }
    w->scalars = true;
    w->walk(w, region, tensors, result_count);
    w->scalars = before;
    for (uint32_t i = 0; i < result_count && w->status == HG_OK; i++)
        if (mlir_expect(
                w, tensors[i]->type.rank == 0 && mlir_same_elements(&tensors[i]->type, wanted[i]),
                "a region that returns scalars of the results' types"))
            results[i] = mlir_element(w, tensors[i], none);
    return w->status == HG_OK;
}

/* "applies stablehlo.add", else the region: accumulators with elements. */
static void combine(mlir_lower *w, const mlir_tensor *t, mlir_scalar *sums,
                    const mlir_scalar *parts, uint32_t count) {
    mlir_scalar args[128], results[64];
    const mlir_type *types[128];
    const mlir_row *row = t->op->applies;
    memcpy(args, sums, count * sizeof *args);
    memcpy(args + count, parts, count * sizeof *args);
    for (uint32_t i = 0; i < 2 * count; i++) types[i] = &t->in[i]->type;
    if (row && row->how == MLIR_MAPS && row->least == 2 && count == 1)
        results[0] = map_scalars(w, row, &t->type, &t->type, args);
    else if (!mlir_scalars(w, t->op->regions, args, types, 2 * count, results, types, count))
        return;
    for (uint32_t i = 0; i < count && count > 1; i++) /* they may be one another's sums */
        results[i] = mlir_variable(w, &t[(int64_t)i - t->result].type, results[i]);
    for (uint32_t i = 0; i < count; i++) mlir_assign(w, sums[i], results[i]);
}

/* All results of an operation with pairs (operand, first value): `sums` begin as these. */
static uint32_t start_sums(mlir_lower *w, const mlir_tensor *t, mlir_scalar *sums) {
    uint32_t count = t->op->operand_count / 2;
    const char *none[MLIR_MAX_RANK] = {0};
    if (!mlir_expect(
            w, count * 2 == t->op->operand_count && count == t->op->result_count && count <= 32,
            "a first value and a result for each operand"))
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!mlir_expect(w, t->in[count + i]->type.rank == 0, "scalars as first values")) return 0;
        const mlir_type *type = &t[(int64_t)i - t->result].type;
        if (!mlir_expect(w,
                         mlir_same_elements(type, &t->in[i]->type) &&
                             mlir_same_elements(type, &t->in[count + i]->type),
                         "first values and results of the operands' types"))
            return 0;
        sums[i] = mlir_variable(w, type, mlir_element(w, t->in[count + i], none));
    }
    return count;
}

/* The results beside t are known too. */
static mlir_scalar know_all(mlir_lower *w, const mlir_tensor *t, const char *const *at,
                            const mlir_scalar *sums, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        mlir_memo *memo = i == t->result ? NULL : hg_vec_push(&w->k->memo);
        if (!memo) continue;
        memo->tensor = t + i - t->result;
        memo->value = sums[i];
        for (uint32_t d = 0; d < t->type.rank; d++) memo->at[d] = at[d];
    }
    return count ? sums[t->result] : NOTHING;
}

mlir_scalar mlir_element_of_reduce(mlir_lower *w, const mlir_tensor *t, const char *const *at) {
    const mlir_type *in = &t->in[0]->type;
    mlir_axes dims = mlir_axes_of(w, t->op, "dimensions", NULL, 0);
    const char *from[MLIR_MAX_RANK];
    mlir_scalar sums[64], parts[64];
    uint64_t known[MLIR_MAX_RANK];
    if (!mlir_are_axes(w, &dims, in->rank, "dimensions") ||
        !mlir_expect(w, t->type.rank + dims.count == in->rank, "a result without these axes"))
        return NOTHING;
    uint32_t count = start_sums(w, t, sums), kept = 0, loops = 0;
    for (uint32_t i = 0; i < in->rank; i++) {
        bool gone = mlir_find(&dims, i) >= 0;
        if (!mlir_expect(w, gone || in->dims[i] == t->type.dims[kept], "the extents that are left"))
            return NOTHING;
        if (gone)
            known[loops++] = mlir_for(w, &from[i], in->dims[i]);
        else
            from[i] = at[kept++];
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!mlir_expect(w,
                         t->in[i]->type.rank == in->rank &&
                             !memcmp(t->in[i]->type.dims, in->dims, sizeof in->dims),
                         "operands of one shape"))
            return NOTHING;
        parts[i] = mlir_element(w, t->in[i], from);
    }
    combine(w, t, sums, parts, count);
    while (loops) mlir_close(w, known[--loops], "}");
    return know_all(w, t, at, sums, count);
}

/* Where a window's step lies along an axis of that extent, and that it lies inside. */
static const char *slide(mlir_lower *w, const mlir_slide *s, const char *at, const char *step,
                         uint64_t extent, const char **inside) {
    const char *p = mlir_let(w, "i64", "%s * %lld + %s * %lld - (%lld)", at, (long long)s->stride,
                             step, (long long)s->dilation, (long long)s->low);
    const char *place = s->base == 1 ? p : mlir_let(w, "i64", "%s / %lld", p, (long long)s->base);
    *inside = both(w, *inside,
                   mlir_text(w, "%s >= 0 && %s < %llu", p, place, (unsigned long long)extent));
    if (s->base != 1)
        *inside = mlir_text(w, "%s && %s %% %lld == 0", *inside, p, (long long)s->base);
    return place;
}

/* Whether numbers are within bounds, and the window has so many places along the axis. */
static bool slides(mlir_lower *w, const mlir_slide *s, uint64_t in, uint64_t out) {
    const int64_t most = INT64_C(1) << 40;
    const int64_t counts[] = {s->size, s->stride, s->base, s->dilation};
    bool fits = s->low < most && s->low > -most && s->high < most && s->high > -most;
    for (size_t i = 0; i < HG_COUNT_OF(counts); i++)
        fits = fits && counts[i] > 0 && counts[i] < most;
    if (!mlir_expect(w, fits, "sizes, strides and dilations from 1 to 2^40")) return false;
    double span = (double)(s->low + s->high) + (in ? ((double)in - 1) * (double)s->base + 1 : 0),
           window = ((double)s->size - 1) * (double)s->dilation + 1;
    if (!mlir_expect(w, span < 0x1p52 && window < 0x1p52, "windows within 2^52")) return false;
    int64_t room = (int64_t)span - (int64_t)window;
    uint64_t places = span <= 0 || room < 0 ? 0 : (uint64_t)(room / s->stride) + 1;
    return mlir_expect(w, places == out, "as many places as the window has along each axis");
}

/* Opens the loops over a window, then one `if` for what is inside. from: places in the operand.
 * known has rank + 1 entries; *closes: how many blocks are open. */
void mlir_slide_windows(mlir_lower *w, const mlir_type *in, const mlir_slide *s,
                        const char *const *at, const char **from, uint64_t *known,
                        uint32_t *closes) {
    const char *inside = NULL, *k[MLIR_MAX_RANK];
    *closes = 0;
    for (uint32_t i = 0; i < in->rank; i++) {
        k[i] = "0";
        if (s[i].size != 1) known[(*closes)++] = mlir_for(w, &k[i], (uint64_t)s[i].size);
    }
    for (uint32_t i = 0; i < in->rank; i++) {
        from[i] = at[i];
        if (s[i].size == 1 && s[i].stride == 1 && s[i].base == 1 && s[i].low == 0) continue;
        from[i] = slide(w, &s[i], at[i], k[i], in->dims[i], &inside);
    }
    if (inside) known[(*closes)++] = mlir_open(w, "if %s", inside);
}

bool mlir_slides_of(mlir_lower *w, const mlir_op *op, const mlir_type *in, const mlir_type *out,
                    mlir_slide *s) {
    const uint32_t rank = in->rank;
    if (!mlir_expect(w, rank == out->rank, "as many axes as the operand has")) return false;
    mlir_axes sizes = mlir_filled(w, op, "window_dimensions", NULL, rank, 1);
    mlir_axes strides = mlir_filled(w, op, "window_strides", NULL, rank, 1);
    mlir_axes bases = mlir_filled(w, op, "base_dilations", NULL, rank, 1);
    mlir_axes dilations = mlir_filled(w, op, "window_dilations", NULL, rank, 1);
    mlir_axes pads = mlir_filled(w, op, "padding", NULL, 2 * rank, 0);
    for (uint32_t i = 0; i < rank && w->status == HG_OK; i++) {
        s[i] = (mlir_slide){sizes.at[i],        strides.at[i], pads.at[2 * i],
                            pads.at[2 * i + 1], bases.at[i],   dilations.at[i]};
        slides(w, &s[i], in->dims[i], out->dims[i]);
    }
    return w->status == HG_OK;
}

mlir_scalar mlir_element_of_reduce_window(mlir_lower *w, const mlir_tensor *t,
                                          const char *const *at) {
    const mlir_type *in = &t->in[0]->type;
    const char *from[MLIR_MAX_RANK];
    mlir_slide s[MLIR_MAX_RANK];
    mlir_scalar sums[64], parts[64];
    uint64_t known[MLIR_MAX_RANK + 1];
    uint32_t closes;
    if (!mlir_slides_of(w, t->op, in, &t->type, s)) return NOTHING;
    uint32_t count = start_sums(w, t, sums);
    for (uint32_t i = 1; i < count; i++)
        if (!mlir_expect(w,
                         !memcmp(t->in[i]->type.dims, in->dims, sizeof in->dims) &&
                             t->in[i]->type.rank == in->rank,
                         "operands of one shape"))
            return NOTHING;
    mlir_slide_windows(w, in, s, at, from, known, &closes);
    for (uint32_t i = 0; i < count; i++) parts[i] = mlir_element(w, t->in[i], from);
    combine(w, t, sums, parts, count);
    while (closes) mlir_close(w, known[--closes], "}");
    return know_all(w, t, at, sums, count);
}

/* Sums of products are kept in the type of the result, of f16 and bf16 in f32. */
static mlir_type sum_type(const mlir_type *result) {
    mlir_type type = *result;
    if (type.element == HG_TYPE_F16 || type.element == HG_TYPE_BF16) type.element = HG_TYPE_F32;
    return type;
}

/* Of truths truths, of integers integers or floats, of floats floats, all complex or none; no fewer
 * bits than theirs. */
static bool sums_fit(mlir_lower *w, const mlir_tensor *t) {
    bool fit = true;
    for (int i = 0; i < 2; i++) {
        const mlir_type *in = &t->in[i]->type;
        fit = fit && in->truth == t->type.truth && in->complex == t->type.complex &&
              (class_of(in) != 0 || class_of(&t->type) == 0) &&
              hg_type_size_bytes((hg_type)in->element) <=
                  hg_type_size_bytes((hg_type)t->type.element);
    }
    return mlir_expect(w, fit, "elements that the result's type has room for");
}

static void add_product(mlir_lower *w, const mlir_type *sum_type, mlir_scalar sum,
                        const mlir_tensor *a, const char *const *at_a, const mlir_tensor *b,
                        const char *const *at_b) {
    mlir_scalar x = mlir_element(w, a, at_a), y = mlir_element(w, b, at_b);
    const char *type = mlir_type_name(sum_type);
    if (sum_type->complex) {
        mlir_scalar p = mlir_complex_product(w, type, x, y);
        mlir_line(w, "%s = %s + %s", sum.re, sum.re, p.re);
        mlir_line(w, "%s = %s + %s", sum.im, sum.im, p.im);
        return;
    }
    x.re = convert_number(w, &a->type, sum_type, x.re);
    y.re = convert_number(w, &b->type, sum_type, y.re);
    if (class_of(sum_type) == 0)
        mlir_line(w, "%s = fma(%s, %s, %s)", sum.re, x.re, y.re, sum.re);
    else
        mlir_line(w, sum_type->truth ? "%s = %s | (%s & %s)" : "%s = %s + %s * %s", sum.re, sum.re,
                  x.re, y.re);
}

static mlir_scalar finish_sum(mlir_lower *w, const mlir_type *from, const mlir_type *to,
                              mlir_scalar sum) {
    if (!to->complex) sum.re = convert_number(w, from, to, sum.re);
    return sum;
}

mlir_scalar mlir_element_of_dot_general(mlir_lower *w, const mlir_tensor *t,
                                        const char *const *at) {
    const mlir_type *side[2] = {&t->in[0]->type, &t->in[1]->type};
    const char *from[2][MLIR_MAX_RANK];
    uint64_t known[MLIR_MAX_RANK];
    mlir_dot dot;
    if (!sums_fit(w, t) || !mlir_dot_of(w, t->op, side, &t->type, &dot)) return NOTHING;
    mlir_type type = sum_type(&t->type);
    mlir_scalar sum = mlir_variable(w, &type, mlir_zero(&type));
    uint32_t next = dot.batch_count, loops = 0;
    for (uint32_t i = 0; i < dot.batch_count; i++)
        for (int s = 0; s < 2; s++) from[s][dot.batch[s][i]] = at[i];
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < dot.free_count[s]; i++) from[s][dot.free[s][i]] = at[next++];
    for (uint32_t i = 0; i < dot.sum_count; i++) {
        known[loops++] = mlir_for(w, &from[0][dot.sum[0][i]], side[0]->dims[dot.sum[0][i]]);
        from[1][dot.sum[1][i]] = from[0][dot.sum[0][i]];
    }
    add_product(w, &type, sum, t->in[0], from[0], t->in[1], from[1]);
    while (loops) mlir_close(w, known[--loops], "}");
    return finish_sum(w, &type, &t->type, sum);
}

bool mlir_dot_of(mlir_lower *w, const mlir_op *op, const mlir_type *const *side,
                 const mlir_type *out, mlir_dot *dot) {
    static const char *const GENERIC[2][2] = {
        {"lhs_batching_dimensions", "rhs_batching_dimensions"},
        {"lhs_contracting_dimensions", "rhs_contracting_dimensions"}};
    mlir_axes batch[2], sum[2];
    *dot = (mlir_dot){.batch_count = 0};
    for (uint32_t s = 0; s < 2; s++) {
        bool pretty = mlir_attribute_of(op, "contracting_dims", 0) ||
                      mlir_attribute_of(op, "batching_dims", 0);
        batch[s] = mlir_axes_of(w, op, pretty ? "batching_dims" : GENERIC[0][s], NULL,
                                pretty ? s : 0);
        sum[s] = mlir_axes_of(w, op, pretty ? "contracting_dims" : GENERIC[1][s], NULL,
                              pretty ? s : 0);
        if (!mlir_are_axes(w, &batch[s], side[s]->rank, "batching_dims") ||
            !mlir_are_axes(w, &sum[s], side[s]->rank, "contracting_dims"))
            return false;
        for (uint32_t i = 0; i < side[s]->rank; i++)
            if (mlir_find(&batch[s], i) < 0 && mlir_find(&sum[s], i) < 0)
                dot->free[s][dot->free_count[s]++] = i;
            else if (!mlir_expect(w, mlir_find(&batch[s], i) < 0 || mlir_find(&sum[s], i) < 0,
                                  "axes that are batching or contracting"))
                return false;
    }
    if (!mlir_expect(w, batch[0].count == batch[1].count && sum[0].count == sum[1].count,
                     "as many axes of both operands") ||
        !mlir_expect(w, out->rank == batch[0].count + dot->free_count[0] + dot->free_count[1],
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
    return mlir_expect(w, same, "equal extents of the axes that belong together");
}

/* [b, 0, 1, f]: axis[-1] of batches or o, axis[-2] of features or i, then the windows' axes. */
typedef struct layout {
    uint32_t batch, feature, spatial[MLIR_MAX_RANK];
} layout;

static bool layout_of(mlir_lower *w, const mlir_op *op, uint32_t n, uint32_t rank, int64_t batch,
                      int64_t feature, layout *l) {
    mlir_axes a = mlir_axes_of(w, op, "dim_numbers", NULL, n);
    uint32_t found = 0;
    for (uint32_t i = 0; i < a.count && i < rank; i++) {
        if (a.at[i] == batch) l->batch = i, found++;
        if (a.at[i] == feature) l->feature = i, found++;
        if (a.at[i] >= 0 && a.at[i] < (int64_t)rank - 2) l->spatial[a.at[i]] = i, found++;
        if (mlir_find(&a, a.at[i]) != i) found = MLIR_MAX_RANK + 1;
    }
    return mlir_expect(w, a.count == rank && found == rank && rank >= 2,
                       "dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f] with each axis once");
}

mlir_scalar mlir_element_of_convolution(mlir_lower *w, const mlir_tensor *t,
                                        const char *const *at) {
    const mlir_type *in = &t->in[0]->type, *kernel = &t->in[1]->type, *out = &t->type;
    layout a, k, o;
    uint32_t n = in->rank - 2u;
    const char *x[MLIR_MAX_RANK], *y[MLIR_MAX_RANK], *inside = NULL;
    uint64_t known[MLIR_MAX_RANK + 1];
    uint32_t closes = 0;
    if (!sums_fit(w, t) ||
        !mlir_expect(w, in->rank >= 2 && kernel->rank == in->rank && out->rank == in->rank,
                     "arrays of one rank") ||
        !layout_of(w, t->op, 0, in->rank, -1, -2, &a) ||
        !layout_of(w, t->op, 1, in->rank, -4, -3, &k) ||
        !layout_of(w, t->op, 2, in->rank, -1, -2, &o))
        return NOTHING;
    mlir_axes stride = mlir_filled(w, t->op, "stride", "window_strides", n, 1);
    mlir_axes pads = mlir_filled(w, t->op, "pad", "padding", 2 * n, 0);
    mlir_axes base = mlir_filled(w, t->op, "lhs_dilate", "lhs_dilation", n, 1);
    mlir_axes dilation = mlir_filled(w, t->op, "rhs_dilate", "rhs_dilation", n, 1);
    mlir_axes reverse = mlir_filled(w, t->op, "reverse", "window_reversal", n, 0);
    int64_t groups = mlir_item(t->op, "feature_group_count", 0, 0, 1);
    int64_t batches = mlir_item(t->op, "batch_group_count", 0, 0, 1);
    uint64_t features = out->dims[o.feature], each = kernel->dims[k.feature];
    if (!mlir_expect(w,
                     groups > 0 && batches > 0 && features % (uint64_t)groups == 0 &&
                         features % (uint64_t)batches == 0 && kernel->dims[k.batch] == features &&
                         in->dims[a.feature] / (uint64_t)groups == each &&
                         in->dims[a.feature] % (uint64_t)groups == 0 &&
                         in->dims[a.batch] == out->dims[o.batch] * (uint64_t)batches,
                     "batches and features that fit the groups"))
        return NOTHING;
    mlir_type type = sum_type(out);
    mlir_scalar sum = mlir_variable(w, &type, mlir_zero(&type));
    y[k.batch] = at[o.feature];
    x[a.batch] = at[o.batch];
    if (batches > 1)
        x[a.batch] = mlir_let(w, "i64", "%s / %llu * %llu + %s", at[o.feature],
                              (unsigned long long)features / (unsigned long long)batches,
                              (unsigned long long)out->dims[o.batch], at[o.batch]);
    const char *group = groups > 1
                            ? mlir_let(w, "i64", "%s / %llu * %llu", at[o.feature],
                                       (unsigned long long)features / (unsigned long long)groups,
                                       (unsigned long long)each)
                            : NULL;
    for (uint32_t i = 0; i < n; i++) {
        const char *step;
        const mlir_slide s = {(int64_t)kernel->dims[k.spatial[i]],
                              stride.at[i],
                              pads.at[2 * i],
                              pads.at[2 * i + 1],
                              base.at[i],
                              dilation.at[i]};
        if (!slides(w, &s, in->dims[a.spatial[i]], out->dims[o.spatial[i]])) return NOTHING;
        known[closes++] = mlir_for(w, &step, kernel->dims[k.spatial[i]]);
        y[k.spatial[i]] = reverse.at[i] ? mlir_let(w, "i64", "%lld - %s",
                                                   (long long)kernel->dims[k.spatial[i]] - 1, step)
                                        : step;
        x[a.spatial[i]] = slide(w, &s, at[o.spatial[i]], step, in->dims[a.spatial[i]], &inside);
    }
    if (inside) known[closes++] = mlir_open(w, "if %s", inside);
    known[closes++] = mlir_for(w, &y[k.feature], each);
    x[a.feature] = group ? mlir_let(w, "i64", "%s + %s", group, y[k.feature]) : y[k.feature];
    add_product(w, &type, sum, t->in[0], x, t->in[1], y);
    while (closes) mlir_close(w, known[--closes], "}");
    return finish_sum(w, &type, out, sum);
}

/* ---- an element ---- */

static mlir_scalar splat(mlir_lower *w, const mlir_tensor *t) {
    const char *text[2] = {"0", NULL};
    size_t size = hg_type_size_bytes((hg_type)t->type.element);
    for (int part = 0; part <= t->type.complex; part++) {
        uint64_t bits = 0;
        for (size_t i = size; i-- > 0;)
            bits = bits << 8 | (t->bytes ? t->bytes[(size_t)part * size + i] : 0);
        text[part] = mlir_let(w, mlir_type_name(&t->type), "bits(0x%llx)",
                              (unsigned long long)bits);
    }
    return (mlir_scalar){text[0], text[1]};
}

static bool is_known(const mlir_memo *m, const mlir_tensor *t, const char *const *at) {
    if (m->tensor != t) return false;
    for (uint32_t i = 0; i < t->type.rank && t->kind != MLIR_SPLAT; i++)
        if (m->at[i] != at[i]) return false;
    return true;
}

mlir_scalar mlir_element(mlir_lower *w, const mlir_tensor *t, const char *const *at) {
    if (w->status != HG_OK || !t) return NOTHING;
    if (t->kind == MLIR_VARIABLE) return t->variable;
    for (uint64_t i = w->k->memo.count; i-- > 0;)
        if (is_known(&w->k->memo.data[i], t, at)) return w->k->memo.data[i].value;
    const mlir_op *before = w->op;
    mlir_scalar value;
    if (t->kind == MLIR_SPLAT) {
        value = splat(w, t);
    } else if (t->kind == MLIR_ARRAY) {
        value = mlir_load(w, t->storage, mlir_place(w, &t->type, at));
    } else {
        w->op = t->op;
        value = t->op->row->element(w, t, at);
        w->op = before;
    }
    if (!t->type.complex) value.im = NULL;
    if (!mlir_expect(w, !t->type.complex || value.im, "a complex operand")) return NOTHING;
    mlir_memo *memo = hg_vec_push(&w->k->memo);
    if (!memo) return value;
    memo->tensor = t;
    memo->value = value;
    for (uint32_t i = 0; i < t->type.rank; i++) memo->at[i] = at[i];
    return value;
}
