/* One line of StableHLO for each operation on tensors, in the form in which JAX prints it.
 * Must not know: instructions. */
#include "stablehlo/array.h"
#include "base/decimal.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ten_refuse(ten_module *m, const char *format, ...) {
    va_list list;
    if (m->unsupported[0]) return;
    va_start(list, format);
    vsnprintf(m->unsupported, sizeof m->unsupported, format, list);
    va_end(list);
}

/* ---- types ---- */

static const char *element(uint8_t type) {
    static const char *const NAMES[] = {[HG_TYPE_F16] = "f16",
                                        [HG_TYPE_BF16] = "bf16",
                                        [HG_TYPE_F32] = "f32",
                                        [HG_TYPE_F64] = "f64",
                                        [HG_TYPE_I8] = "i8",
                                        [HG_TYPE_I16] = "i16",
                                        [HG_TYPE_I32] = "i32",
                                        [HG_TYPE_I64] = "i64",
                                        [HG_TYPE_U8] = "ui8",
                                        [HG_TYPE_U16] = "ui16",
                                        [HG_TYPE_U32] = "ui32",
                                        [HG_TYPE_U64] = "ui64",
                                        [TEN_BOOL] = "i1",
                                        [TEN_COMPLEX_F32] = "complex<f32>",
                                        [TEN_COMPLEX_F64] = "complex<f64>"};
    return type < HG_COUNT_OF(NAMES) && NAMES[type] ? NAMES[type] : "i8";
}

bool ten_is_float(uint8_t type) { return type < HG_TYPE_COUNT && hg_type_is_float((hg_type)type); }
static bool is_signed(uint8_t type) {
    return type < HG_TYPE_COUNT && hg_type_is_signed((hg_type)type);
}
static uint64_t bytes_of(uint8_t type) {
    return type < HG_TYPE_COUNT ? hg_type_size_bytes((hg_type)type) : 1;
}
uint8_t ten_sum_type(uint8_t type) {
    return type == HG_TYPE_F16 || type == HG_TYPE_BF16 ? HG_TYPE_F32 : type;
}

ten ten_shape(uint8_t type, uint8_t rank, const uint64_t *extents) {
    ten t = {.type = type, .rank = rank};
    for (uint8_t i = 0; i < rank; i++) t.extents[i] = extents[i];
    return t;
}
ten ten_like(ten t, uint8_t type) {
    t.name = 0;
    t.type = type;
    return t;
}
static ten scalar_of(uint8_t type) { return ten_shape(type, 0, NULL); }

uint64_t ten_count(ten t) {
    uint64_t count = 1;
    for (uint8_t i = 0; i < t.rank; i++) count *= t.extents[i];
    return count;
}

void ten_print_type(hg_text *out, ten t) {
    hg_text_addf(out, "tensor<");
    for (uint8_t i = 0; i < t.rank; i++)
        hg_text_addf(out, "%llux", (unsigned long long)t.extents[i]);
    hg_text_addf(out, "%s>", element(t.type));
}

/* "[1, 2, 3]" */
typedef struct list {
    char text[TEN_MOST_RANK * 22 + 4];
} list;

static list list_of(uint32_t count, const int64_t *numbers) {
    list l = {"["};
    size_t at = 1;
    for (uint32_t i = 0; i < count; i++)
        at += (size_t)snprintf(l.text + at, sizeof l.text - at, "%s%lld", i ? ", " : "",
                               (long long)numbers[i]);
    snprintf(l.text + at, sizeof l.text - at, "]");
    return l;
}
static list sizes_of(uint32_t count, const uint64_t *numbers) {
    int64_t all[TEN_MOST_RANK] = {0};
    for (uint32_t i = 0; i < count && i < TEN_MOST_RANK; i++) all[i] = (int64_t)numbers[i];
    return list_of(count, all);
}
static list axes_of(uint32_t count, const uint32_t *numbers) {
    int64_t all[TEN_MOST_RANK] = {0};
    for (uint32_t i = 0; i < count && i < TEN_MOST_RANK; i++) all[i] = numbers[i];
    return list_of(count, all);
}
static list axes_from(uint32_t count, uint32_t first) {
    uint32_t all[TEN_MOST_RANK];
    for (uint32_t i = 0; i < count && i < TEN_MOST_RANK; i++) all[i] = first + i;
    return axes_of(count, all);
}

/* ---- a line ---- */

ten ten_new(ten_module *m, ten t) {
    t.name = m->next++;
    t.made_rank = t.rank;
    memcpy(t.made, t.extents, sizeof t.made);
    return t;
}

/* "    %7 = stablehlo.FORMAT : (types of the count arguments) -> type of the result" */
static ten line(ten_module *m, ten result, uint32_t count, const ten *arguments, const char *format,
                ...) HG_PRINTF(5, 6);

static ten line(ten_module *m, ten result, uint32_t count, const ten *arguments, const char *format,
                ...) {
    char text[1024];
    va_list given;
    va_start(given, format);
    int length = vsnprintf(text, sizeof text, format, given);
    va_end(given);
    if (length < 0 || length >= (int)sizeof text) ten_refuse(m, "an operation of too many axes");
    result = ten_new(m, result);
    hg_text_addf(m->out, "    %%%u = %s%s : ", (unsigned)result.name,
                 text[0] == '"' ? "" : "stablehlo.", text);
    if (count) hg_text_addf(m->out, "(");
    for (uint32_t i = 0; i < count; i++) {
        if (i) hg_text_addf(m->out, ", ");
        ten_print_type(m->out, arguments[i]);
    }
    if (count) hg_text_addf(m->out, ") -> ");
    ten_print_type(m->out, result);
    hg_text_addf(m->out, "\n");
    return result;
}
#define ARGUMENTS(...) \
    (uint32_t)(sizeof((ten[]){__VA_ARGS__}) / sizeof(ten)), (ten[]) { __VA_ARGS__ }
#define N(t) ((unsigned)(t).name)

/* ---- constants ---- */

/* A finite number, the same in every locale: "1.25e-1". */
typedef struct real {
    char text[32];
} real;

static real real_of(double value) {
    real r;
    uint64_t bits;
    char digits[20] = "0";
    int point = 1, count = 1;
    memcpy(&bits, &value, sizeof bits);
    if (value != 0)
        count = hg_float_digits(bits & INT64_MAX, hg_float_format_of(HG_TYPE_F64), digits, &point);
    snprintf(r.text, sizeof r.text, "%s%c.%.*se%d", bits >> 63 ? "-" : "", digits[0],
             count > 1 ? count - 1 : 1, count > 1 ? digits + 1 : "0", point - 1);
    return r;
}

ten ten_number(ten_module *m, ten shape, double value) {
    if (!ten_is_float(shape.type))
        return line(m, shape, 0, NULL, "constant dense<%lld>", (long long)value);
    if (shape.type != HG_TYPE_F64) value = (float)value;
    if (value != value) return ten_nan(m, shape);
    if (value - value != 0) return ten_infinity(m, shape, value < 0);
    return line(m, shape, 0, NULL, "constant dense<%s>", real_of(value).text);
}

ten ten_integer(ten_module *m, ten shape, uint64_t bits) {
    if (shape.type == TEN_BOOL)
        return line(m, shape, 0, NULL, "constant dense<%s>", bits ? "true" : "false");
    if (is_signed(shape.type))
        return line(m, shape, 0, NULL, "constant dense<%lld>", (long long)(int64_t)bits);
    return line(m, shape, 0, NULL, "constant dense<%llu>", (unsigned long long)bits);
}

static ten pattern(ten_module *m, ten shape, const char *const texts[4]) {
    const char *text = shape.type == HG_TYPE_F16    ? texts[0]
                       : shape.type == HG_TYPE_BF16 ? texts[1]
                       : shape.type == HG_TYPE_F32  ? texts[2]
                                                    : texts[3];
    return line(m, shape, 0, NULL, "constant dense<%s>", text);
}
ten ten_infinity(ten_module *m, ten shape, bool negative) {
    static const char *const TEXTS[2][4] = {
        {"0x7C00", "0x7F80", "0x7F800000", "0x7FF0000000000000"},
        {"0xFC00", "0xFF80", "0xFF800000", "0xFFF0000000000000"}};
    return pattern(m, shape, TEXTS[negative]);
}
ten ten_nan(ten_module *m, ten shape) {
    static const char *const TEXTS[4] = {"0x7E00", "0x7FC0", "0x7FC00000", "0x7FF8000000000000"};
    return pattern(m, shape, TEXTS);
}
ten ten_lowest(ten_module *m, ten shape) {
    uint64_t bits = bytes_of(shape.type) * 8;
    if (ten_is_float(shape.type)) return ten_infinity(m, shape, true);
    return ten_integer(m, shape, is_signed(shape.type) ? UINT64_MAX << (bits - 1) : 0);
}
ten ten_highest(ten_module *m, ten shape) {
    uint64_t bits = bytes_of(shape.type) * 8;
    if (ten_is_float(shape.type)) return ten_infinity(m, shape, false);
    return ten_integer(m, shape, UINT64_MAX >> (64 - bits + (is_signed(shape.type) ? 1 : 0)));
}

ten ten_list_begin(ten_module *m, uint8_t type, uint64_t count) {
    ten t = ten_new(m, ten_shape(type, 1, &count));
    hg_text_addf(m->out, "    %%%u = stablehlo.constant dense<[", N(t));
    return t;
}
void ten_list_add(ten_module *m, uint64_t at, double value) {
    hg_text_addf(m->out, "%s%s", at ? ", " : "", real_of(value).text);
}
void ten_list_end(ten_module *m, ten t) {
    hg_text_addf(m->out, "]> : ");
    ten_print_type(m->out, t);
    hg_text_addf(m->out, "\n");
}

/* A constant's elements as bytes, which is how MLIR reads them. */
ten ten_bytes(ten_module *m, ten shape, const void *elements) {
    static const char DIGITS[] = "0123456789ABCDEF";
    const uint8_t *bytes = elements;
    ten t = ten_new(m, shape);
    uint64_t size = ten_count(t) * bytes_of(t.type);
    hg_text_addf(m->out, "    %%%u = stablehlo.constant dense<\"0x", N(t));
    for (uint64_t i = 0; i < size; i++) {
        const char pair[2] = {DIGITS[bytes[i] >> 4], DIGITS[bytes[i] & 15]};
        hg_text_add(m->out, pair, 2);
    }
    hg_text_addf(m->out, "\"> : ");
    ten_print_type(m->out, t);
    hg_text_addf(m->out, "\n");
    return t;
}
ten ten_iota(ten_module *m, ten shape, uint32_t axis) {
    return line(m, shape, 0, NULL, "iota dim = %u", (unsigned)axis);
}

/* ---- element by element ---- */

ten ten_unary(ten_module *m, const char *op, ten a) {
    a = ten_made(m, a);
    return line(m, a, 0, NULL, "%s %%%u", op, N(a));
}
ten ten_chlo(ten_module *m, const char *op, ten a) {
    a = ten_made(m, a);
    return line(m, a, ARGUMENTS(a), "\"chlo.%s\"(%%%u)", op, N(a));
}
ten ten_binary(ten_module *m, const char *op, ten a, ten b) {
    a = ten_made(m, a);
    b = ten_made(m, b);
    return line(m, a, 0, NULL, "%s %%%u, %%%u", op, N(a), N(b));
}
ten ten_compare(ten_module *m, const char *direction, ten a, ten b) {
    a = ten_made(m, a);
    b = ten_made(m, b);
    const char *how = ten_is_float(a.type) ? "FLOAT" : is_signed(a.type) ? "SIGNED" : "UNSIGNED";
    return line(m, ten_like(a, TEN_BOOL), ARGUMENTS(a, b), "compare %s, %%%u, %%%u, %s", direction,
                N(a), N(b), how);
}
ten ten_select(ten_module *m, ten condition, ten a, ten b) {
    condition = ten_made(m, condition);
    a = ten_made(m, a);
    b = ten_made(m, b);
    ten r = ten_new(m, ten_like(a, a.type));
    hg_text_addf(m->out, "    %%%u = stablehlo.select %%%u, %%%u, %%%u : ", N(r), N(condition),
                 N(a), N(b));
    ten_print_type(m->out, condition);
    hg_text_addf(m->out, ", ");
    ten_print_type(m->out, a);
    hg_text_addf(m->out, "\n");
    return r;
}
ten ten_convert(ten_module *m, ten a, uint8_t type) {
    if (a.type == type) return a;
    a = ten_made(m, a);
    return line(m, ten_like(a, type), ARGUMENTS(a), "convert %%%u", N(a));
}
ten ten_bits(ten_module *m, ten a, uint8_t type) {
    if (a.type == type) return a;
    a = ten_made(m, a);
    return line(m, ten_like(a, type), ARGUMENTS(a), "bitcast_convert %%%u", N(a));
}
ten ten_is_nan(ten_module *m, ten a) { return ten_compare(m, "NE", a, a); }

ten ten_apart(ten_module *m, ten r) {
    if (!m->zero.name || !ten_is_float(r.type)) return r;
    uint8_t type = hg_uint_of_bytes(bytes_of(r.type));
    ten one = ten_reshape(m, m->zero, 0, NULL),
        zero = ten_everywhere(m, ten_convert(m, one, type), ten_like(r, type));
    return ten_bits(m, ten_binary(m, "or", ten_bits(m, r, type), zero), r.type);
}

/* ---- shapes of tensors ---- */

static bool same_shape(ten a, uint8_t rank, const uint64_t *extents) {
    return a.rank == rank && (rank == 0 || !memcmp(a.extents, extents, rank * sizeof *extents));
}

ten ten_reshape(ten_module *m, ten a, uint8_t rank, const uint64_t *extents) {
    ten r = ten_shape(a.type, rank, extents);
    (void)m;
    r.name = a.name;
    r.made_rank = a.made_rank;
    memcpy(r.made, a.made, sizeof r.made);
    return r;
}

ten ten_made(ten_module *m, ten a) {
    ten before = ten_shape(a.type, a.made_rank, a.made);
    before.name = a.name;
    if (same_shape(a, a.made_rank, a.made)) return a;
    return line(m, ten_shape(a.type, a.rank, a.extents), ARGUMENTS(before), "reshape %%%u",
                N(before));
}

ten ten_broadcast(ten_module *m, ten a, ten shape, const uint32_t *axes) {
    a = ten_made(m, a);
    return line(m, ten_like(shape, a.type), ARGUMENTS(a), "broadcast_in_dim %%%u, dims = %s", N(a),
                axes_of(a.rank, axes).text);
}
ten ten_along(ten_module *m, ten a, ten shape, uint32_t axis) {
    return ten_broadcast(m, a, shape, &axis);
}
ten ten_everywhere(ten_module *m, ten a, ten shape) { return ten_broadcast(m, a, shape, NULL); }

ten ten_transpose(ten_module *m, ten a, const uint32_t *order) {
    ten r = ten_like(a, a.type);
    bool moves = false;
    for (uint8_t i = 0; i < a.rank; i++) {
        r.extents[i] = a.extents[order[i]];
        moves = moves || order[i] != i;
    }
    if (!moves) return a;
    a = ten_made(m, a);
    return line(m, r, ARGUMENTS(a), "transpose %%%u, dims = %s", N(a), axes_of(a.rank, order).text);
}

ten ten_slice(ten_module *m, ten a, uint32_t axis, uint64_t from, uint64_t to, uint64_t step) {
    char text[TEN_MOST_RANK * 66 + 4];
    size_t at = 0;
    ten r = ten_like(a, a.type);
    if (from == 0 && to == a.extents[axis] && step == 1) return a;
    a = ten_made(m, a);
    for (uint32_t i = 0; i < a.rank; i++) {
        bool here = i == axis;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%llu:%llu", i ? ", " : "",
                               here ? (unsigned long long)from : 0,
                               (unsigned long long)(here ? to : a.extents[i]));
        if (here && step != 1)
            at += (size_t)snprintf(text + at, sizeof text - at, ":%llu", (unsigned long long)step);
    }
    r.extents[axis] = (to - from + step - 1) / step;
    return line(m, r, ARGUMENTS(a), "slice %%%u [%s]", N(a), text);
}

ten ten_pad(ten_module *m, ten a, ten value, const int64_t *low, const int64_t *high,
            const int64_t *inside) {
    a = ten_made(m, a);
    value = ten_made(m, value);
    ten r = ten_like(a, a.type);
    for (uint8_t i = 0; i < a.rank; i++) {
        int64_t own = (int64_t)a.extents[i];
        r.extents[i] = (uint64_t)(own + (own > 0 ? (own - 1) * inside[i] : 0) + low[i] + high[i]);
    }
    return line(m, r, ARGUMENTS(a, value), "pad %%%u, %%%u, low = %s, high = %s, interior = %s",
                N(a), N(value), list_of(a.rank, low).text, list_of(a.rank, high).text,
                list_of(a.rank, inside).text);
}
ten ten_pad_axis(ten_module *m, ten a, ten value, uint32_t axis, uint64_t low, uint64_t high) {
    int64_t lows[TEN_MOST_RANK] = {0}, highs[TEN_MOST_RANK] = {0}, none[TEN_MOST_RANK] = {0};
    if (!low && !high) return a;
    lows[axis] = (int64_t)low;
    highs[axis] = (int64_t)high;
    return ten_pad(m, a, value, lows, highs, none);
}

ten ten_concat(ten_module *m, ten a, ten b, uint32_t axis) {
    a = ten_made(m, a);
    b = ten_made(m, b);
    ten r = ten_like(a, a.type);
    r.extents[axis] += b.extents[axis];
    return line(m, r, ARGUMENTS(a, b), "concatenate %%%u, %%%u, dim = %u", N(a), N(b),
                (unsigned)axis);
}
ten ten_reverse(ten_module *m, ten a, uint32_t axis) {
    a = ten_made(m, a);
    return line(m, a, 0, NULL, "reverse %%%u, dims = [%u]", N(a), (unsigned)axis);
}

ten ten_recast(ten_module *m, ten a, uint8_t type, uint64_t count) {
    uint64_t from = bytes_of(a.type), to = bytes_of(type), have = a.extents[0];
    if (from == to) {
        ten part = ten_slice(m, a, 0, 0, count, 1);
        return ten_bits(m, part, type);
    }
    if (from < to) { /* words side by side are one */
        uint64_t each = to / from, need = count * each;
        if (need > have)
            a = ten_pad_axis(m, a, ten_integer(m, scalar_of(a.type), 0), 0, 0, need - have);
        else
            a = ten_slice(m, a, 0, 0, need, 1);
        a = ten_made(m, ten_reshape(m, a, 2, (uint64_t[]){count, each}));
        return line(m, ten_shape(type, 1, &count), ARGUMENTS(a), "bitcast_convert %%%u", N(a));
    }
    uint64_t each = from / to, pair[2] = {have, each}, all = have * each;
    a = ten_made(m, a);
    a = line(m, ten_shape(type, 2, pair), ARGUMENTS(a), "bitcast_convert %%%u", N(a));
    return ten_slice(m, ten_reshape(m, a, 1, &all), 0, 0, count, 1);
}

/* ---- folds ---- */

ten ten_reduce(ten_module *m, const char *op, ten a, ten start, uint32_t axis) {
    a = ten_made(m, a);
    ten r = {.type = a.type};
    for (uint8_t i = 0; i < a.rank; i++)
        if (i != axis) r.extents[r.rank++] = a.extents[i];
    return line(m, r, ARGUMENTS(a, start),
                "reduce(%%%u init: %%%u) applies stablehlo.%s across dimensions = [%u]", N(a),
                N(start), op, (unsigned)axis);
}

ten ten_any(ten_module *m, ten a) {
    ten none = ten_integer(m, scalar_of(TEN_BOOL), 0);
    while (a.rank) a = ten_reduce(m, "or", a, none, 0);
    return a;
}

/* The body of an operation with a region: one operation on two numbers of the type. */
static void body(ten_module *m, const char *op, uint8_t type) {
    uint32_t a = m->next++, b = m->next++, r = m->next++;
    const char *e = element(type);
    hg_text_addf(m->out,
                 " ({\n    ^bb0(%%%u: tensor<%s>, %%%u: tensor<%s>):\n      %%%u = stablehlo.%s "
                 "%%%u, %%%u : tensor<%s>\n      stablehlo.return %%%u : tensor<%s>\n    })",
                 (unsigned)a, e, (unsigned)b, e, (unsigned)r, op, (unsigned)a, (unsigned)b, e,
                 (unsigned)r, e);
}

static void signature(ten_module *m, uint32_t count, const ten *arguments, ten result) {
    hg_text_addf(m->out, " : (");
    for (uint32_t i = 0; i < count; i++) {
        if (i) hg_text_addf(m->out, ", ");
        ten_print_type(m->out, arguments[i]);
    }
    hg_text_addf(m->out, ") -> ");
    ten_print_type(m->out, result);
    hg_text_addf(m->out, "\n");
}

static void numbers(ten_module *m, const char *name, uint32_t count, const uint64_t *values) {
    hg_text_addf(m->out, "%s = array<i64: ", name);
    for (uint32_t i = 0; i < count; i++)
        hg_text_addf(m->out, "%s%llu", i ? ", " : "", (unsigned long long)values[i]);
    hg_text_addf(m->out, ">");
}

ten ten_window(ten_module *m, const char *op, ten a, ten start, const uint64_t *window,
               const uint64_t *stride, const uint64_t *dilation, const uint64_t *low,
               const uint64_t *high) {
    a = ten_made(m, a);
    ten r = ten_like(a, a.type);
    for (uint8_t i = 0; i < a.rank; i++)
        r.extents[i] = (a.extents[i] + low[i] + high[i] - ((window[i] - 1) * dilation[i] + 1)) /
                           stride[i] +
                       1;
    r = ten_new(m, r);
    hg_text_addf(m->out, "    %%%u = \"stablehlo.reduce_window\"(%%%u, %%%u) <{", N(r), N(a),
                 N(start));
    hg_text_addf(m->out, "padding = dense<[");
    for (uint8_t i = 0; i < a.rank; i++)
        hg_text_addf(m->out, "%s[%llu, %llu]", i ? ", " : "", (unsigned long long)low[i],
                     (unsigned long long)high[i]);
    hg_text_addf(m->out, "]> : tensor<%ux2xi64>, ", (unsigned)a.rank);
    numbers(m, "window_dilations", a.rank, dilation);
    hg_text_addf(m->out, ", ");
    numbers(m, "window_dimensions", a.rank, window);
    hg_text_addf(m->out, ", ");
    numbers(m, "window_strides", a.rank, stride);
    hg_text_addf(m->out, "}>");
    body(m, op, a.type);
    signature(m, ARGUMENTS(a, start), r);
    return r;
}

/* Sums in full precision: a TPU would take bf16 for f32. */
#define FULL "precision = [HIGHEST, HIGHEST]"

ten ten_dot(ten_module *m, ten a, ten b, uint32_t batch, uint8_t type) {
    a = ten_made(m, a);
    b = ten_made(m, b);
    ten r = ten_like(a, type);
    r.extents[batch + 1] = b.extents[batch + 1];
    if (!batch)
        return line(m, r, ARGUMENTS(a, b),
                    "dot_general %%%u, %%%u, contracting_dims = [1] x [0], " FULL, N(a), N(b));
    list axes = axes_from(batch, 0);
    return line(
        m, r, ARGUMENTS(a, b),
        "dot_general %%%u, %%%u, batching_dims = %s x %s, contracting_dims = [%u] x [%u], " FULL,
        N(a), N(b), axes.text, axes.text, (unsigned)batch + 1, (unsigned)batch);
}

ten ten_contract(ten_module *m, ten a, ten b, const uint32_t *left, const uint32_t *right,
                 uint32_t count, uint8_t type) {
    a = ten_made(m, a);
    b = ten_made(m, b);
    ten r = {.type = type};
    for (uint32_t side = 0; side < 2; side++) {
        ten t = side ? b : a;
        const uint32_t *paired = side ? right : left;
        for (uint32_t i = 0; i < t.rank; i++) {
            bool free = true;
            for (uint32_t k = 0; k < count; k++) free = free && paired[k] != i;
            if (!free) continue;
            if (r.rank < TEN_MOST_RANK) r.extents[r.rank++] = t.extents[i];
        }
    }
    return line(m, r, ARGUMENTS(a, b), "dot_general %%%u, %%%u, contracting_dims = %s x %s, " FULL,
                N(a), N(b), axes_of(count, left).text, axes_of(count, right).text);
}

ten ten_convolve(ten_module *m, ten a, ten kernel, const ten_convolution *c, uint8_t type) {
    a = ten_made(m, a);
    kernel = ten_made(m, kernel);
    static const char *const AXES[] = {"", "0", "0, 1", "0, 1, 2"};
    const char *axes = AXES[c->axes];
    char pads[160] = "";
    size_t at = 0;
    ten r = ten_like(a, type);
    r.extents[1] = kernel.extents[0];
    for (uint32_t i = 0; i < c->axes; i++) {
        r.extents[2 + i] = c->out[i];
        at += (size_t)snprintf(pads + at, sizeof pads - at, "%s[%lld, %lld]", i ? ", " : "",
                               (long long)c->low[i], (long long)c->high[i]);
    }
    return line(m, r, ARGUMENTS(a, kernel),
                "convolution(%%%u, %%%u) dim_numbers = [b, f, %s]x[o, i, %s]->[b, f, %s], window = "
                "{stride = %s, pad = [%s], lhs_dilate = %s, rhs_dilate = %s} {batch_group_count = "
                "1 : i64, feature_group_count = %llu : i64, precision_config = "
                "[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}",
                N(a), N(kernel), axes, axes, axes, sizes_of(c->axes, c->stride).text, pads,
                sizes_of(c->axes, c->before_dilation).text, sizes_of(c->axes, c->dilation).text,
                (unsigned long long)c->groups);
}

/* ---- by indices ---- */

ten ten_gather(ten_module *m, ten a, ten indices) {
    a = ten_made(m, a);
    indices = ten_made(m, indices);
    uint64_t outer = a.extents[0], inner = a.extents[2], count = indices.extents[0];
    const uint64_t extents[] = {outer, count, inner};
    return line(m, ten_shape(a.type, 3, extents), ARGUMENTS(a, indices),
                "\"stablehlo.gather\"(%%%u, %%%u) <{dimension_numbers = #stablehlo.gather<"
                "offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], "
                "index_vector_dim = 1>, slice_sizes = array<i64: %llu, 1, %llu>}>",
                N(a), N(indices), (unsigned long long)outer, (unsigned long long)inner);
}

ten ten_scatter(ten_module *m, ten into, ten indices, ten updates, const char *op, bool unique) {
    into = ten_made(m, into);
    indices = ten_made(m, indices);
    updates = ten_made(m, updates);
    ten r = ten_new(m, ten_like(into, into.type));
    hg_text_addf(m->out,
                 "    %%%u = \"stablehlo.scatter\"(%%%u, %%%u, %%%u) <{scatter_dimension_numbers = "
                 "#stablehlo.scatter<update_window_dims = [0, 2], inserted_window_dims = [1], "
                 "scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = "
                 "%s}>",
                 N(r), N(into), N(indices), N(updates), unique ? "true" : "false");
    if (op) {
        body(m, op, into.type);
    } else {
        uint32_t a = m->next++, b = m->next++;
        const char *e = element(into.type);
        hg_text_addf(m->out,
                     " ({\n    ^bb0(%%%u: tensor<%s>, %%%u: tensor<%s>):\n      stablehlo.return "
                     "%%%u : tensor<%s>\n    })",
                     (unsigned)a, e, (unsigned)b, e, (unsigned)b, e);
    }
    signature(m, ARGUMENTS(into, indices, updates), r);
    return r;
}

ten ten_take(ten_module *m, ten a, ten indices) {
    a = ten_made(m, a);
    indices = ten_made(m, indices);
    ten r = ten_like(indices, a.type);
    return line(m, r, ARGUMENTS(a, indices),
                "\"stablehlo.gather\"(%%%u, %%%u) <{dimension_numbers = #stablehlo.gather<"
                "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = %u>, "
                "slice_sizes = array<i64: 1>}>",
                N(a), N(indices), (unsigned)indices.rank);
}

/* "(%1: tensor<i32>, %2: …)", two of each operand. */
static void sort_arguments(ten_module *m, uint32_t first, uint32_t count, const ten *operands) {
    hg_text_addf(m->out, "(");
    for (uint32_t i = 0; i < 2 * count; i++)
        hg_text_addf(m->out, "%s%%%u: tensor<%s>", i ? ", " : "", (unsigned)(first + i),
                     element(operands[i / 2].type));
    hg_text_addf(m->out, ")");
}

static void types(ten_module *m, uint32_t count, const ten *operands) {
    hg_text_addf(m->out, "(");
    for (uint32_t i = 0; i < count; i++) {
        if (i) hg_text_addf(m->out, ", ");
        ten_print_type(m->out, operands[i]);
    }
    hg_text_addf(m->out, ")");
}

void ten_sort(ten_module *m, uint32_t count, ten *operands, uint32_t axis, bool descending) {
    for (uint32_t i = 0; i < count; i++) operands[i] = ten_made(m, operands[i]);
    uint32_t results = m->next, first = results + 1, less = first + 2 * count;
    m->next = less + 1;
    hg_text_addf(m->out, "    %%%u:%u = \"stablehlo.sort\"(", (unsigned)results, (unsigned)count);
    for (uint32_t i = 0; i < count; i++)
        hg_text_addf(m->out, "%s%%%u", i ? ", " : "", N(operands[i]));
    hg_text_addf(m->out, ") <{dimension = %u : i64, is_stable = true}> ({\n    ^bb0",
                 (unsigned)axis);
    sort_arguments(m, first, count, operands);
    const char *e = element(operands[0].type);
    hg_text_addf(
        m->out,
        ":\n      %%%u = stablehlo.compare %s, %%%u, %%%u, %s : (tensor<%s>, tensor<%s>) -> "
        "tensor<i1>\n      stablehlo.return %%%u : tensor<i1>\n    }) : ",
        (unsigned)less, descending ? "GT" : "LT", (unsigned)first, (unsigned)first + 1,
        is_signed(operands[0].type) ? "SIGNED" : "UNSIGNED", e, e, (unsigned)less);
    types(m, count, operands);
    hg_text_addf(m->out, " -> ");
    types(m, count, operands);
    hg_text_addf(m->out, "\n");
    for (uint32_t i = 0; i < count; i++) { /* each gets a name of its own */
        ten r = operands[i];
        operands[i] = ten_new(m, operands[i]);
        hg_text_addf(m->out, "    %%%u = stablehlo.reshape %%%u#%u : (", N(operands[i]),
                     (unsigned)results, (unsigned)i);
        ten_print_type(m->out, r);
        hg_text_addf(m->out, ") -> ");
        ten_print_type(m->out, r);
        hg_text_addf(m->out, "\n");
    }
}

ten ten_fft(ten_module *m, ten a, const char *kind, uint64_t n, ten shape) {
    a = ten_made(m, a);
    return line(m, shape, ARGUMENTS(a), "fft %%%u, type = %s, length = [%llu]", N(a), kind,
                (unsigned long long)n);
}
ten ten_complex(ten_module *m, ten re, ten im) {
    re = ten_made(m, re);
    im = ten_made(m, im);
    uint8_t type = re.type == HG_TYPE_F64 ? TEN_COMPLEX_F64 : TEN_COMPLEX_F32;
    return line(m, ten_like(re, type), ARGUMENTS(re, im), "complex %%%u, %%%u", N(re), N(im));
}
ten ten_part(ten_module *m, ten a, bool imaginary) {
    a = ten_made(m, a);
    uint8_t type = a.type == TEN_COMPLEX_F64 ? HG_TYPE_F64 : HG_TYPE_F32;
    return line(m, ten_like(a, type), ARGUMENTS(a), "%s %%%u", imaginary ? "imag" : "real", N(a));
}

static ten update(ten_module *m, ten into, ten part, const ten *starts) {
    into = ten_made(m, into);
    part = ten_made(m, part);
    ten r = ten_new(m, ten_like(into, into.type));
    hg_text_addf(m->out, "    %%%u = stablehlo.dynamic_update_slice %%%u, %%%u", N(r), N(into),
                 N(part));
    for (uint8_t i = 0; i < into.rank; i++) hg_text_addf(m->out, ", %%%u", N(starts[i]));
    hg_text_addf(m->out, " : (");
    ten_print_type(m->out, into);
    hg_text_addf(m->out, ", ");
    ten_print_type(m->out, part);
    for (uint8_t i = 0; i < into.rank; i++) hg_text_addf(m->out, ", tensor<i64>");
    hg_text_addf(m->out, ") -> ");
    ten_print_type(m->out, r);
    hg_text_addf(m->out, "\n");
    return r;
}

ten ten_update(ten_module *m, ten into, ten part, const uint64_t *at) {
    ten starts[TEN_MOST_RANK];
    for (uint8_t i = 0; i < into.rank; i++)
        starts[i] = ten_integer(m, scalar_of(HG_TYPE_I64), at[i]);
    return update(m, into, part, starts);
}

ten ten_update_at(ten_module *m, ten into, ten part, ten at) {
    at = ten_made(m, at);
    return update(m, into, part, &at);
}

ten ten_slice_at(ten_module *m, ten a, ten at, uint64_t count) {
    a = ten_made(m, a);
    at = ten_made(m, at);
    return line(m, ten_shape(a.type, 1, &count), ARGUMENTS(a, at),
                "dynamic_slice %%%u, %%%u, sizes = [%llu]", N(a), N(at), (unsigned long long)count);
}
