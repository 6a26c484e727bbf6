/* Operations that are done as a whole: products of matrices, transforms and the first of a sorted
 * line by instructions; scatter and sort by loops of one lane. */
#include "hlo/axes.h"
#include "graph/graph.h"
#include <stdio.h>
#include <string.h>

static const mlir_type TRUTH = {.element = HG_TYPE_U8, .truth = true};

/* ---- statements of a graph ---- */

/* A name for a value of the graph in a statement: it gets one by a view of that shape. */
static const char *named(mlir_lower *w, mlir_tensor *t, const uint64_t *dims, uint32_t rank) {
    const char *name = mlir_text(w, "value%u", (unsigned)w->names++);
    hg_dim shape[MLIR_MAX_RANK + 1];
    hg_value view;
    if (w->status != HG_OK) return name;
    for (uint32_t i = 0; i < rank; i++) shape[i] = hg_dim_of(dims[i]);
    hg_status status = hg_graph_view(w->g, name, t->storage->value, hg_dim_of(0), shape, rank,
                                     &view);
    mlir_refuse_call(w, status, "");
    return name;
}

/* "NAME TYPE [dims] = REST"; the result as an array of that type. */
static mlir_storage *state_call(mlir_lower *w, const mlir_type *type, const uint64_t *dims,
                                uint32_t rank, const char *rest) {
    mlir_storage *s = mlir_make(w, sizeof *s);
    const char *name = mlir_text(w, "value%u", (unsigned)w->names++);
    hg_text text = {0};
    if (!s || w->status != HG_OK) return s;
    hg_text_addf(&text, "%s %s [", name, mlir_type_name(type));
    for (uint32_t i = 0; i < rank; i++)
        hg_text_addf(&text, "%s%llu", i ? ", " : "", (unsigned long long)dims[i]);
    hg_text_addf(&text, "] = %s\n", rest);
    *s = (mlir_storage){.number = w->storages++, .type = *type};
    s->type.rank = (uint8_t)(rank - type->complex);
    for (uint32_t i = 0; i < s->type.rank; i++) s->type.dims[i] = dims[i];
    hg_status status = text.failed ? hg_fail_memory()
                                   : hg_graph_add_text(w->g, text.data, text.length, NULL, NULL);
    if (status == HG_OK) status = hg_graph_find(w->g, name, &s->value);
    mlir_refuse_call(w, status, "");
    hg_text_free(&text);
    return s;
}

/* ---- dot_general as gemm ---- */

/* Whether the axes of one side lie as batches, first, second. */
static bool lies(const mlir_dot *d, int s, const uint32_t *first, uint32_t n,
                 const uint32_t *second, uint32_t m) {
    for (uint32_t i = 0; i < d->batch_count; i++)
        if (d->batch[s][i] != i) return false;
    for (uint32_t i = 0; i < n; i++)
        if (first[i] != d->batch_count + i) return false;
    for (uint32_t i = 0; i < m; i++)
        if (second[i] != d->batch_count + n + i) return false;
    return true;
}

static uint64_t extent(const mlir_type *t, const uint32_t *axes, uint32_t count) {
    uint64_t product = 1;
    for (uint32_t i = 0; i < count; i++) product *= t->dims[axes[i]];
    return product;
}

bool mlir_gemm(mlir_lower *w, const mlir_op *op) {
    mlir_tensor *in[2] = {mlir_operand(w, op, 0), mlir_operand(w, op, 1)};
    mlir_dot d;
    bool turned[2];
    if (w->status != HG_OK || op->result_count != 1) return false;
    const mlir_type *side[2] = {&in[0]->type, &in[1]->type}, *out = &op->types[0];
    if (!mlir_dot_of(w, op, side, out, &d)) return true;
    for (int s = 0; s < 2; s++) {
        bool first = lies(&d, s, d.free[s], d.free_count[s], d.sum[s], d.sum_count);
        bool last = lies(&d, s, d.sum[s], d.sum_count, d.free[s], d.free_count[s]);
        if (side[s]->element != out->element || side[s]->complex || (!first && !last)) return false;
        turned[s] = s ? !last : !first;
    }
    uint64_t b = extent(side[0], d.batch[0], d.batch_count),
             k = extent(side[0], d.sum[0], d.sum_count);
    uint64_t m = extent(side[0], d.free[0], d.free_count[0]),
             n = extent(side[1], d.free[1], d.free_count[1]);
    bool is_float = out->element == HG_TYPE_F32 || out->element == HG_TYPE_F64 ||
                    out->element == HG_TYPE_F16 || out->element == HG_TYPE_BF16;
    if (!is_float || out->complex || !b || !m || !n || !k) return false;
    uint64_t shape[3][3] = {{b, turned[0] ? k : m, turned[0] ? m : k},
                            {b, turned[1] ? n : k, turned[1] ? k : n},
                            {b, m, n}};
    uint32_t skip = b == 1 ? 1 : 0;
    const char *name[2];
    for (int s = 0; s < 2; s++) {
        in[s] = mlir_array(w, in[s]);
        if (w->status != HG_OK) return true;
        name[s] = named(w, in[s], shape[s] + skip, 3 - skip);
    }
    mlir_storage *s = state_call(
        w, out, shape[2] + skip, 3 - skip,
        mlir_text(w, "%s a=%s, b=%s, trans_a=%s, trans_b=%s", skip ? "gemm" : "batched_gemm",
                  name[0], name[1], turned[0] ? "true" : "false", turned[1] ? "true" : "false"));
    if (w->status == HG_OK) mlir_bind(w, op->results, mlir_stored(w, out, s));
    return true;
}

/* ---- fft ---- */

/* One axis of transforms of [batch, n, inner] complex numbers; real: the last axis is one of real
 * numbers. */
static mlir_tensor *transform(mlir_lower *w, mlir_tensor *t, const mlir_type *out, uint32_t axis,
                              bool inverse, bool real) {
    uint64_t dims[MLIR_MAX_RANK + 1], given[MLIR_MAX_RANK + 1], batch = 1, inner = 1;
    for (uint32_t i = 0; i < out->rank; i++) {
        dims[i] = out->dims[i];
        given[i] = t->type.dims[i];
        if (i < axis) batch *= dims[i];
        if (i > axis) inner *= dims[i];
    }
    dims[out->rank] = given[out->rank] = 2;
    uint64_t n = real && inverse ? out->dims[axis] : t->type.dims[axis];
    const char *name = named(w, t, given, t->type.rank + t->type.complex);
    mlir_storage *s = state_call(
        w, out, dims, out->rank + out->complex,
        mlir_text(w, "fft input=%s, n=%llu, inverse=%s, batch=%llu, real=%s, inner=%llu", name,
                  (unsigned long long)n, inverse ? "true" : "false", (unsigned long long)batch,
                  real ? "true" : "false", (unsigned long long)inner));
    return w->status == HG_OK ? mlir_stored(w, out, s) : NULL;
}

void mlir_apply_fft(mlir_lower *w, const mlir_op *op) {
    static const char *const KINDS[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
    const mlir_attribute *type = mlir_attribute_of(op, "type", 0);
    if (!type) type = mlir_attribute_of(op, "fft_type", 0);
    mlir_axes length = mlir_axes_of(w, op, "length", "fft_length", 0);
    mlir_tensor *t = mlir_operand(w, op, 0);
    int kind = -1;
    for (int i = 0; i < 4 && type; i++)
        if (mlir_is(&type->word, KINDS[i])) kind = i;
    if (!mlir_expect(w, kind >= 0, "type = FFT, IFFT, RFFT or IRFFT") ||
        !mlir_expect(w, !w->k && !w->scalars, "no fft inside a while, a case or a region") ||
        !mlir_expect(w,
                     length.count && length.count <= t->type.rank && op->result_count == 1 &&
                         op->types[0].rank == t->type.rank,
                     "a length for each of the last axes") ||
        !mlir_expect(w,
                     t->type.complex == (kind != 2) && op->types[0].complex == (kind != 3) &&
                         t->type.element == op->types[0].element && !t->type.truth,
                     "complex elements where the type has them"))
        return;
    uint64_t elements = 0;
    uint32_t last = t->type.rank - 1u, first = t->type.rank - length.count;
    const mlir_type *wide = kind == 3 ? &op->types[0] : &t->type;
    for (uint32_t i = 0; i < t->type.rank; i++) {
        uint64_t narrow = kind >= 2 && i == last ? wide->dims[i] / 2 + 1 : wide->dims[i];
        const mlir_type *other = kind == 3 ? &t->type : &op->types[0];
        if (!mlir_expect(w,
                         other->dims[i] == narrow &&
                             (i < first ||
                              (wide->dims[i] && (uint64_t)length.at[i - first] == wide->dims[i])),
                         "extents as the lengths say"))
            return;
    }
    if (mlir_elements(&op->types[0], &elements) && !elements) {
        mlir_tensor *empty = mlir_results(w, op);
        if (empty) empty->kind = MLIR_SPLAT;
        if (empty) mlir_bind(w, op->results, empty);
        return;
    }
    t = mlir_array(w, t);
    if (kind == 2 && t && w->status == HG_OK) t = transform(w, t, &op->types[0], last, false, true);
    for (uint32_t axis = kind >= 2 ? last : last + 1; axis-- > first && t && w->status == HG_OK;) {
        mlir_type same = t->type;
        t = transform(w, t, &same, axis, kind == 1 || kind == 3, false);
    }
    if (kind == 3 && t && w->status == HG_OK) t = transform(w, t, &op->types[0], last, true, true);
    if (t) mlir_bind(w, op->results, t);
}

/* ---- sort ---- */

/* Where the lines of an array lie. */
typedef struct lines {
    uint32_t axis;
    uint64_t n;
    const char *at[MLIR_MAX_RANK];
    mlir_storage *order[2]; /* numbers of elements, before and behind a merge */
} lines;

static mlir_scalar line_element(mlir_lower *w, const mlir_tensor *t, lines *l, const char *i) {
    l->at[l->axis] = i;
    return mlir_element(w, t, l->at);
}

static void put_order(mlir_lower *w, lines *l, int to, const char *i, const char *number) {
    mlir_store(w, l->order[to], mlir_text(w, "%s", i), (mlir_scalar){number, NULL});
}

/* Whether element y of the line stands before element x. The region says so. */
static const char *stands_before(mlir_lower *w, const mlir_op *op, mlir_tensor **in, lines *l,
                                 const char *y, const char *x) {
    const mlir_type *types[128], *wanted = &TRUTH;
    mlir_scalar args[128], result;
    if (!op->regions) { /* top_k: from the greatest on */
        const mlir_type *type = &in[0]->type;
        const char *a = line_element(w, in[0], l, y).re, *b = line_element(w, in[0], l, x).re;
        if (*mlir_type_name(type) == 'f' || *mlir_type_name(type) == 'b')
            a = mlir_total_order(w, type, a), b = mlir_total_order(w, type, b);
        return mlir_let(w, "u8", "u8(%s > %s)", a, b);
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        args[2 * i] = line_element(w, in[i], l, y);
        args[2 * i + 1] = line_element(w, in[i], l, x);
        types[2 * i] = types[2 * i + 1] = &in[i]->type;
    }
    if (!mlir_scalars(w, op->regions, args, types, 2 * op->operand_count, &result, &wanted, 1))
        return "0";
    return result.re;
}

/* Merges of lines that are sorted in runs of `width`, from the bottom up: stable. */
static void sort_line(mlir_lower *w, const mlir_op *op, mlir_tensor **in, lines *l) {
    const char *i, *o;
    unsigned long long n = l->n;
    uint64_t known = mlir_for(w, &i, l->n);
    put_order(w, l, 0, i, mlir_text(w, "u32(%s)", i));
    mlir_close(w, known, "}");
    const char *width = mlir_let(w, "i64", "1");
    uint64_t rounds = mlir_open(w, "while %s < %llu", width, n);
    const char *low = mlir_let(w, "i64", "0");
    uint64_t runs = mlir_open(w, "while %s < %llu", low, n);
    const char *middle = mlir_let(w, "i64", "min(%s + %s, %llu)", low, width, n);
    const char *high = mlir_let(w, "i64", "min(%s + %s * 2, %llu)", low, width, n);
    const char *x = mlir_let(w, "i64", "%s", low), *y = mlir_let(w, "i64", "%s", middle);
    o = mlir_text(w, "k%u", (unsigned)w->names++);
    uint64_t out = mlir_open(w, "for %s in %s .. %s", o, low, high);
    const char *left = mlir_let(w, "u8", "u8(%s < %s)", x, middle);
    uint64_t both = mlir_open(w, "if %s < %s && %s < %s", x, middle, y, high);
    const char *a = mlir_let(w, "i64", "i64(%s)", mlir_load(w, l->order[0], y).re);
    const char *b = mlir_let(w, "i64", "i64(%s)", mlir_load(w, l->order[0], x).re);
    mlir_line(w, "%s = %s ^ 1", left, stands_before(w, op, in, l, a, b));
    mlir_close(w, both, "}");
    uint64_t take = mlir_open(w, "if %s != 0", left);
    put_order(w, l, 1, o, mlir_load(w, l->order[0], x).re);
    mlir_line(w, "%s = %s + 1", x, x);
    mlir_close(w, take, "} else {");
    put_order(w, l, 1, o, mlir_load(w, l->order[0], y).re);
    mlir_line(w, "%s = %s + 1", y, y);
    mlir_close(w, take, "}");
    mlir_close(w, out, "}");
    mlir_line(w, "%s = %s", low, high);
    mlir_close(w, runs, "}");
    uint64_t back = mlir_for(w, &i, l->n);
    put_order(w, l, 0, i, mlir_load(w, l->order[1], i).re);
    mlir_close(w, back, "}");
    mlir_line(w, "%s = %s * 2", width, width);
    mlir_close(w, rounds, "}");
}

/* Each line along an axis in order; the first `kept` elements of it into the results. numbers: the
 * last result has where they were. */
static void sort_lines(mlir_lower *w, const mlir_op *op, uint32_t axis, bool numbers) {
    mlir_type type = mlir_operand(w, op, 0)->type, rows = type,
              order = {.element = HG_TYPE_U32, .rank = 1};
    mlir_tensor **in = mlir_make(w, op->operand_count * sizeof *in);
    mlir_storage **to = mlir_make(w, op->result_count * sizeof *to);
    lines l = {.axis = axis, .n = type.dims[axis]};
    mlir_nest n;
    const char *o;
    uint64_t kept = op->types[0].dims[axis];
    rows.dims[axis] = 1;
    order.dims[0] = l.n;
    for (int i = 0; i < 2; i++) l.order[i] = mlir_scratch(w, &order);
    for (uint32_t i = 0; i < op->result_count && to; i++) to[i] = mlir_scratch(w, &op->types[i]);
    for (uint32_t i = 0; i < op->operand_count && in; i++) in[i] = mlir_operand(w, op, i);
    if (w->status != HG_OK) return;
    mlir_open_nest(w, &rows, &n);
    memcpy(l.at, n.at, sizeof l.at);
    sort_line(w, op, in, &l);
    uint64_t known = mlir_for(w, &o, kept);
    const char *from = mlir_let(w, "i64", "i64(%s)", mlir_load(w, l.order[0], o).re);
    for (uint32_t i = 0; i < op->result_count && w->status == HG_OK; i++) {
        bool number = numbers && i + 1 == op->result_count;
        mlir_scalar value = {.re = from};
        if (number)
            value.re = mlir_text(w, "%s(%s)", mlir_type_name(&op->types[i]), from);
        else
            value = line_element(w, in[i], &l, from);
        l.at[axis] = o;
        mlir_store(w, to[i], mlir_place(w, &op->types[i], l.at), value);
    }
    mlir_close(w, known, "}");
    mlir_close_nest(w, &n);
    for (uint32_t i = 0; i < op->result_count && w->status == HG_OK; i++)
        mlir_bind(w, op->results + i, mlir_stored(w, &op->types[i], to[i]));
}

static void sort_loops(mlir_lower *w, const mlir_op *op) {
    const mlir_type *type = &mlir_operand(w, op, 0)->type;
    int64_t axis = mlir_item(op, "dimension", 0, 0, type->rank - 1);
    if (axis < 0) axis += type->rank;
    bool good = op->result_count == op->operand_count && op->regions && axis >= 0 &&
                axis < type->rank && type->dims[axis] < UINT32_MAX;
    for (uint32_t i = 0; i < op->operand_count && good; i++) {
        const mlir_tensor *t = mlir_operand(w, op, i);
        good = t && mlir_same_dims(&t->type, type) && mlir_same_type(&op->types[i], &t->type);
    }
    if (mlir_expect(w, good, "arrays of one shape, an axis of them and a comparison"))
        sort_lines(w, op, (uint32_t)axis, false);
}

void mlir_apply_sort(mlir_lower *w, const mlir_op *op) { mlir_in_loops(w, op, sort_loops); }

static void top_k_loops(mlir_lower *w, const mlir_op *op) {
    const mlir_type *type = &mlir_operand(w, op, 0)->type;
    bool good = type->rank && op->result_count == 2 && !type->complex && !op->regions;
    for (uint32_t i = 0; i < 2 && good; i++) {
        mlir_type wide = op->types[i];
        good = wide.rank == type->rank && wide.dims[wide.rank - 1] <= type->dims[type->rank - 1] &&
               !wide.complex;
        wide.dims[type->rank - 1] = type->dims[type->rank - 1];
        good = good && mlir_same_dims(&wide, type) && mlir_same_dims(&op->types[0], &op->types[i]);
    }
    if (mlir_expect(w,
                    good && mlir_same_elements(&op->types[0], type) &&
                        op->types[1].element == HG_TYPE_I32 &&
                        type->dims[type->rank - 1] < UINT32_MAX,
                    "values and numbers of the first k along the last axis"))
        sort_lines(w, op, type->rank - 1u, true);
}

void mlir_apply_top_k(mlir_lower *w, const mlir_op *op) { mlir_in_loops(w, op, top_k_loops); }

/* ---- scatter ---- */

static mlir_window_map scatter_map(mlir_lower *w, const mlir_op *op) {
    return (mlir_window_map){mlir_axes_of(w, op, "update_window_dims", NULL, 0),
                             mlir_axes_of(w, op, "inserted_window_dims", NULL, 0),
                             mlir_axes_of(w, op, "input_batching_dims", NULL, 0),
                             mlir_axes_of(w, op, "scatter_indices_batching_dims", NULL, 0),
                             mlir_axes_of(w, op, "scatter_dims_to_operand_dims", NULL, 0),
                             mlir_item(op, "index_vector_dim", 0, 0, 0)};
}

/* Each update in its order: what lies outside is left out. */
static void scatter_loops(mlir_lower *w, const mlir_op *op) {
    uint32_t count = (op->operand_count - 1) / 2;
    const char *starts[MLIR_MAX_RANK], *offsets[MLIR_MAX_RANK], *to[MLIR_MAX_RANK], *inside = NULL;
    mlir_tensor *in[65];
    mlir_storage *out[32];
    mlir_scalar args[64], results[32];
    const mlir_type *types[64];
    mlir_nest n;
    bool good = op->operand_count == 2 * count + 1 && op->result_count == count && count <= 31 &&
                op->regions;
    for (uint32_t i = 0; i < op->operand_count && good; i++) in[i] = mlir_operand(w, op, i);
    for (uint32_t i = 0; i < count && good; i++)
        good = mlir_same_type(&in[i]->type, &op->types[i]) &&
               mlir_same_dims(&in[i]->type, &in[0]->type) &&
               mlir_same_elements(&in[i]->type, &in[count + 1 + i]->type) &&
               mlir_same_dims(&in[count + 1 + i]->type, &in[count + 1]->type);
    if (!mlir_expect(w, good, "operands, indices, updates and a region")) return;
    const mlir_type *type = &in[0]->type, *wide = &in[count + 1]->type;
    mlir_window_map m = scatter_map(w, op);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = mlir_scratch(w, &op->types[i]);
        mlir_copy(w, out[i], in[i]);
    }
    mlir_open_nest(w, wide, &n);
    if (!mlir_look_up(w, &m, type, wide, in[count], n.at, starts, offsets)) return;
    for (uint32_t d = 0; d < type->rank; d++) {
        to[d] = starts[d] ? starts[d] : "0";
        if (offsets[d])
            to[d] = starts[d] ? mlir_let(w, "i64", "%s + %s", starts[d], offsets[d]) : offsets[d];
        const char *within = mlir_text(w, "%s >= 0 && %s < %llu", to[d], to[d],
                                       (unsigned long long)type->dims[d]);
        if (starts[d] || offsets[d])
            inside = inside ? mlir_text(w, "%s && %s", inside, within) : within;
    }
    uint64_t known = inside ? mlir_open(w, "if %s", inside) : w->k->memo.count;
    const char *place = mlir_let(w, "i64", "%s", mlir_place(w, type, to));
    for (uint32_t i = 0; i < count; i++) {
        args[i] = mlir_load(w, out[i], place);
        args[count + i] = mlir_element(w, in[count + 1 + i], n.at);
        types[i] = types[count + i] = &in[i]->type;
    }
    if (mlir_scalars(w, op->regions, args, types, 2 * count, results, types, count))
        for (uint32_t i = 0; i < count; i++) mlir_store(w, out[i], place, results[i]);
    if (inside) mlir_close(w, known, "}");
    mlir_close_nest(w, &n);
    for (uint32_t i = 0; i < count && w->status == HG_OK; i++)
        mlir_bind(w, op->results + i, mlir_stored(w, &op->types[i], out[i]));
}

void mlir_apply_scatter(mlir_lower *w, const mlir_op *op) { mlir_in_loops(w, op, scatter_loops); }

/* Of each window the element that the first region selects gets the source's. */
static void select_loops(mlir_lower *w, const mlir_op *op) {
    mlir_tensor *in = mlir_operand(w, op, 0), *source = mlir_operand(w, op, 1),
                *init = mlir_operand(w, op, 2);
    const mlir_region *select = op->regions, *scatter = select ? select->next : NULL;
    const char *from[MLIR_MAX_RANK], *none[MLIR_MAX_RANK] = {0};
    mlir_slide s[MLIR_MAX_RANK];
    uint64_t known[MLIR_MAX_RANK + 1];
    uint32_t closes;
    mlir_nest n;
    const mlir_type *types[2] = {&in->type, &in->type}, *selects = &TRUTH;
    mlir_scalar args[2], result = {"0", "0"};
    if (!mlir_expect(w,
                     op->result_count == 1 && scatter && init->type.rank == 0 &&
                         !in->type.complex && mlir_same_type(&op->types[0], &in->type) &&
                         mlir_same_elements(&source->type, &in->type) &&
                         mlir_same_elements(&init->type, &in->type),
                     "an operand, a source, a scalar and two regions") ||
        !mlir_slides_of(w, op, &in->type, &source->type, s))
        return;
    mlir_storage *out = mlir_scratch(w, &op->types[0]);
    mlir_open_nest(w, &in->type, &n);
    if (out) mlir_store(w, out, mlir_place(w, &in->type, n.at), mlir_element(w, init, none));
    mlir_close_nest(w, &n);
    mlir_open_nest(w, &source->type, &n);
    const char *best = mlir_let(w, mlir_type_name(&in->type), "%s", mlir_zero(&in->type).re);
    const char *place = mlir_let(w, "i64", "-1");
    mlir_slide_windows(w, &in->type, s, n.at, from, known, &closes);
    args[0] = (mlir_scalar){best, NULL};
    args[1] = mlir_element(w, in, from);
    const char *here = mlir_let(w, "i64", "i64(%s)", mlir_place(w, &in->type, from));
    const char *keeps = mlir_let(w, "u8", "0");
    uint64_t later = mlir_open(w, "if %s >= 0", place);
    if (mlir_scalars(w, select, args, types, 2, &result, &selects, 1))
        mlir_line(w, "%s = %s", keeps, result.re);
    mlir_close(w, later, "}");
    uint64_t taken = mlir_open(w, "if %s == 0", keeps);
    mlir_line(w, "%s = %s", best, args[1].re);
    mlir_line(w, "%s = %s", place, here);
    mlir_close(w, taken, "}");
    while (closes) mlir_close(w, known[--closes], "}");
    uint64_t found = mlir_open(w, "if %s >= 0", place);
    if (w->status != HG_OK) return;
    args[0] = mlir_load(w, out, place);
    args[1] = mlir_element(w, source, n.at);
    if (mlir_scalars(w, scatter, args, types, 2, &result, types, 1))
        mlir_store(w, out, place, result);
    mlir_close(w, found, "}");
    mlir_close_nest(w, &n);
    if (w->status == HG_OK) mlir_bind(w, op->results, mlir_stored(w, &op->types[0], out));
}

void mlir_apply_select_and_scatter(mlir_lower *w, const mlir_op *op) {
    mlir_in_loops(w, op, select_loops);
}
