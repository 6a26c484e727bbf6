/* Functions of elements, folds and scans of arrays, pools.
 * Must not know: where arrays lie. */
#include "stablehlo/call_internal.h"
#include "kir/kir.h"
#include "plan/steps/tree.h"
#include "plan/steps/windows.h"

/* ---- functions ---- */

static ten number(ten_module *m, ten like, double value) {
    return ten_number(m, ten_like(like, like.type), value);
}
static bool is_unsigned(uint8_t type) {
    return type < HG_TYPE_COUNT && hg_type_is_unsigned((hg_type)type);
}

/* The smaller or larger; one NaN gives the other operand, and -0 is below 0. */
static ten ordered(ten_module *m, bool smaller, ten a, ten b) {
    ten r = ten_binary(m, smaller ? "minimum" : "maximum", a, b);
    if (!ten_is_float(a.type)) return r;
    uint8_t bits = a.type == HG_TYPE_F64 ? HG_TYPE_U64 : HG_TYPE_U32; /* halves are f32 here */
    ten same = ten_compare(m, "EQ", a, b),
        both = ten_bits(
            m, ten_binary(m, smaller ? "or" : "and", ten_bits(m, a, bits), ten_bits(m, b, bits)),
            a.type);
    r = ten_select(m, same, both, r);
    r = ten_select(m, ten_is_nan(m, a), b, r);
    return ten_select(m, ten_is_nan(m, b), a, r);
}

/* Half away from zero. */
static ten rounded(ten_module *m, ten a) { return ten_unary(m, "round_nearest_afz", a); }

/* Division by zero is a fault; MIN / -1 is MIN. */
static ten divided(ten_module *m, ten a, ten b) {
    if (ten_is_float(a.type)) return ten_apart(m, ten_binary(m, "divide", a, b));
    ten zero = ten_integer(m, ten_like(b, b.type), 0), one = ten_integer(m, ten_like(b, b.type), 1),
        none = ten_compare(m, "EQ", b, zero);
    shlo_note_bad(m, none);
    ten by = ten_select(m, none, one, b);
    if (is_unsigned(a.type)) return ten_binary(m, "divide", a, by);
    ten minus = ten_compare(m, "EQ", by, ten_number(m, ten_like(b, b.type), -1)),
        safe = ten_select(m, minus, one, by), quotient = ten_binary(m, "divide", a, safe);
    return ten_select(m, minus, ten_unary(m, "negate", a), quotient);
}

static ten gelu(ten_module *m, ten a) { /* a/2 erfc(-a / sqrt 2): right in the left tail too */
    ten scaled = ten_binary(m, "multiply", a, number(m, a, -0.70710678118654752440)),
        tail = ten_chlo(m, "erfc", scaled);
    return ten_binary(m, "multiply", ten_binary(m, "multiply", a, number(m, a, 0.5)), tail);
}

static ten relu(ten_module *m, ten a) { /* of NaN 0 */
    ten zero = ten_number(m, ten_like(a, a.type), 0);
    return ten_select(m, ten_compare(m, "GT", a, zero), a, zero);
}

static ten of_one(ten_module *m, uint16_t fn, ten a) {
    bool real = ten_is_float(a.type);
    switch (fn) {
    case HG_OP_MOV: return a;
    case HG_OP_ABS: return is_unsigned(a.type) ? a : ten_unary(m, "abs", a);
    case HG_OP_NEG:
        return real ? ten_unary(m, "negate", a)
                    : ten_binary(m, "subtract", ten_integer(m, ten_like(a, a.type), 0), a);
    case HG_OP_SQRT: return ten_apart(m, ten_unary(m, "sqrt", a));
    case HG_OP_EXP: return ten_unary(m, "exponential", a);
    case HG_OP_LOG: return ten_unary(m, "log", a);
    case HG_OP_SIN: return ten_unary(m, "sine", a);
    case HG_OP_COS: return ten_unary(m, "cosine", a);
    case HG_OP_TAN:
        return ten_binary(m, "divide", ten_unary(m, "sine", a), ten_unary(m, "cosine", a));
    case KIR_FN_RELU: return relu(m, a);
    case HG_OP_SIGMOID: return ten_unary(m, "logistic", a);
    case HG_OP_TANH: return ten_unary(m, "tanh", a);
    case HG_OP_CEIL: return real ? ten_unary(m, "ceil", a) : a;
    case HG_OP_FLOOR: return real ? ten_unary(m, "floor", a) : a;
    case HG_OP_ROUND: return real ? rounded(m, a) : a;
    case HG_OP_RCP: return ten_apart(m, ten_binary(m, "divide", number(m, a, 1), a));
    case HG_OP_ERF: return ten_chlo(m, "erf", a);
    case HG_OP_GELU: return gelu(m, a);
    case HG_OP_SWISH: return ten_binary(m, "multiply", a, ten_unary(m, "logistic", a));
    default: ten_refuse(m, "the function %s", kir_fn_name(fn)); return a;
    }
}

static ten of_two(ten_module *m, uint16_t fn, ten a, ten b) {
    switch (fn) {
    case HG_OP_ADD: return ten_binary(m, "add", a, b);
    case HG_OP_SUB: return ten_binary(m, "subtract", a, b);
    case HG_OP_MUL: return ten_apart(m, ten_binary(m, "multiply", a, b));
    case HG_OP_DIV: return divided(m, a, b);
    case HG_OP_MIN: return ordered(m, true, a, b);
    case HG_OP_MAX: return ordered(m, false, a, b);
    case HG_OP_POW: return ten_binary(m, "power", a, b);
    case HG_OP_ATAN2: return ten_binary(m, "atan2", a, b);
    default: ten_refuse(m, "the function %s", kir_fn_name(fn)); return a;
    }
}

/* Halves: the function of f32, rounded once. */
ten shlo_function(ten_module *m, uint16_t fn, ten a, ten b) {
    uint8_t type = a.type, sum = ten_sum_type(type);
    if (fn == HG_OP_MOV) return a;
    a = ten_convert(m, a, sum);
    if (b.name) b = ten_convert(m, b, sum);
    ten r = b.name ? of_two(m, fn, a, b) : of_one(m, fn, a);
    return ten_convert(m, r, type);
}

bool shlo_function_is_exact(uint16_t fn, uint8_t type) {
    switch (fn) {
    case HG_OP_EXP:
    case HG_OP_LOG:
    case HG_OP_SIN:
    case HG_OP_COS:
    case HG_OP_TAN:
    case HG_OP_SIGMOID:
    case HG_OP_TANH:
    case HG_OP_ERF:
    case HG_OP_GELU:
    case HG_OP_SWISH:
    case HG_OP_POW:
    case HG_OP_ATAN2: return !ten_is_float(type);
    default: return true;
    }
}

/* In the shape that the first operand has. */
void shlo_map(shlo_call *c) {
    shlo_out(c, "out", shlo_function(c->m, c->call->fn, shlo_all(c, "in"), (ten){0}));
}
void shlo_map_binary(shlo_call *c) {
    ten a = shlo_all(c, "a"), b = shlo_all(c, "b");
    b = ten_reshape(c->m, b, a.rank, a.extents);
    shlo_out(c, "out", shlo_function(c->m, c->call->fn, a, b));
}

/* ---- folds ---- */

ten shlo_neutral(ten_module *m, uint16_t fn, ten shape) {
    return fn == HG_OP_ADD   ? ten_number(m, shape, ten_is_float(shape.type) ? -0.0 : 0)
           : fn == HG_OP_MUL ? ten_number(m, shape, 1)
           : fn == HG_OP_MIN ? ten_highest(m, shape)
                             : ten_lowest(m, shape);
}

static const char *op_of(uint16_t fn) {
    return fn == HG_OP_ADD   ? "add"
           : fn == HG_OP_MUL ? "multiply"
           : fn == HG_OP_MIN ? "minimum"
                             : "maximum";
}

ten shlo_in_order(ten_module *m, ten bits) {
    ten below = ten_compare(m, "LT", bits, ten_integer(m, ten_like(bits, bits.type), 0)),
        most = ten_highest(m, ten_like(bits, bits.type));
    return ten_select(m, below, ten_binary(m, "xor", bits, most), bits);
}

/* The smallest or largest of what is no NaN, by the floats' bits: a compiler may order -0 and 0 as
 * it likes. What changes nothing there are the bits of a NaN, which is the fold of NaNs. */
static ten fold_ordered(ten_module *m, uint16_t fn, ten a, uint32_t axis) {
    uint8_t type = !ten_is_float(a.type)   ? a.type
                   : a.type == HG_TYPE_F64 ? HG_TYPE_I64
                                           : HG_TYPE_I32;
    ten none = shlo_neutral(m, fn, ten_shape(type, 0, NULL));
    if (!ten_is_float(a.type)) return ten_reduce(m, op_of(fn), a, none, axis);
    ten places = shlo_in_order(m, ten_bits(m, a, type)),
        skipped = shlo_neutral(m, fn, ten_like(a, type)),
        r = ten_reduce(m, op_of(fn), ten_select(m, ten_is_nan(m, a), skipped, places), none, axis);
    return ten_bits(m, shlo_in_order(m, r), a.type);
}

ten shlo_fold(ten_module *m, uint16_t fn, ten a, uint32_t axis) {
    uint8_t type = a.type;
    a = ten_convert(m, a, ten_sum_type(type));
    ten r = fn == HG_OP_MIN || fn == HG_OP_MAX
                ? fold_ordered(m, fn, a, axis)
                : ten_reduce(m, op_of(fn), a, shlo_neutral(m, fn, ten_shape(a.type, 0, NULL)),
                             axis);
    return ten_convert(m, r, type);
}

void shlo_reduce(shlo_call *c) {
    const char *in = shlo_has(c, "in") ? "in" : "address";
    ten r = shlo_fold(c->m, c->call->fn, shlo_in(c, in), 0);
    shlo_out(c, hg_op_get((hg_op)c->call->op)->operands[c->call->arrays[0].operand].name, r);
}

void shlo_reduce_axis(shlo_call *c) {
    shlo_out(c, "output", shlo_fold(c->m, c->call->fn, shlo_in(c, "input"), 1));
}

/* ---- scans: each step adds what is twice as far away ---- */

/* What a fold skips: of the smallest and the largest float a NaN, which gives the other one. */
static ten nothing(ten_module *m, uint16_t fn, ten shape) {
    bool order = fn == HG_OP_MIN || fn == HG_OP_MAX;
    return order && ten_is_float(shape.type) ? ten_nan(m, shape) : shlo_neutral(m, fn, shape);
}

/* The elements `by` places further along axis 1, with nothing in front. */
static ten shifted(ten_module *m, uint16_t fn, ten a, uint64_t by) {
    uint64_t n = a.extents[1];
    if (by >= n) return nothing(m, fn, ten_like(a, a.type));
    return ten_pad_axis(m, ten_slice(m, a, 1, 0, n - by, 1),
                        nothing(m, fn, ten_shape(a.type, 0, NULL)), 1, by, 0);
}

/* The fold of no elements, where a line begins. */
static ten with_identity(ten_module *m, uint16_t fn, ten a) {
    ten place = ten_iota(m, ten_like(a, HG_TYPE_I64), 1), shape = ten_like(a, a.type),
        first = ten_compare(m, "EQ", place, ten_integer(m, ten_like(place, HG_TYPE_I64), 0)),
        none = fn == HG_OP_ADD ? ten_number(m, shape, 0) : shlo_neutral(m, fn, shape);
    return ten_select(m, first, none, a);
}

void shlo_scan(shlo_call *c) {
    ten_module *m = c->m;
    ten a = shlo_in(c, "input");
    uint16_t fn = c->call->fn;
    uint8_t type = a.type;
    bool reverse = shlo_flag(c, "reverse"), exclusive = shlo_flag(c, "exclusive");
    a = ten_convert(m, a, ten_sum_type(type));
    if (reverse) a = ten_reverse(m, a, 1);
    if (exclusive) a = shifted(m, fn, a, 1);
    for (uint64_t by = 1; by < a.extents[1]; by *= 2) a = of_two(m, fn, shifted(m, fn, a, by), a);
    if (exclusive) a = with_identity(m, fn, a);
    if (reverse) a = ten_reverse(m, a, 1);
    shlo_out(c, "output", ten_convert(m, a, type));
}

/* ---- the place of the largest ---- */

/* Of [outer, n, inner] the first place along n that has the best, a NaN before all. */
void shlo_arg(shlo_call *c) {
    ten_module *m = c->m;
    ten a = shlo_in(c, "input");
    uint16_t fn = c->call->op == HG_OP_ARG_MIN ? HG_OP_MIN : HG_OP_MAX;
    static const uint32_t AXES[] = {0, 2};
    a = ten_convert(m, a, ten_sum_type(a.type));
    ten best = ten_broadcast(m, shlo_fold(m, fn, a, 1), ten_like(a, a.type), AXES),
        is = ten_compare(m, "EQ", a, best), places = ten_iota(m, ten_like(a, HG_TYPE_I64), 1),
        none = ten_integer(m, ten_like(a, HG_TYPE_I64), a.extents[1]);
    if (ten_is_float(a.type)) {
        ten nan = ten_is_nan(m, a),
            some = ten_reduce(m, "or", nan, ten_integer(m, ten_shape(TEN_BOOL, 0, NULL), 0), 1);
        is = ten_select(m, ten_broadcast(m, some, ten_like(a, TEN_BOOL), AXES), nan, is);
    }
    ten found = ten_select(m, is, places, none);
    shlo_out(c, "output", shlo_fold(m, HG_OP_MIN, found, 1));
}

/* ---- pools ---- */

enum { MOST_PLACES = 256 }; /* of a window, where their numbers are wanted: each is an operation */

typedef struct pool {
    uint32_t axes, rank; /* rank: with the planes in front */
    uint64_t window[TEN_MOST_RANK], stride[TEN_MOST_RANK], dilation[TEN_MOST_RANK],
        low[TEN_MOST_RANK], high[TEN_MOST_RANK], out[TEN_MOST_RANK];
    int64_t lows[TEN_MOST_RANK], highs[TEN_MOST_RANK], none[TEN_MOST_RANK];
    plan_window w[PLAN_AXES];
} pool;

static pool pool_of(const shlo_call *c) {
    pool p = {.axes = c->call->operands[plan_operand_named(c->call, "size")].count};
    plan_named_windows(c->call, p.w);
    p.rank = p.axes + 1;
    p.window[0] = p.stride[0] = p.dilation[0] = 1;
    for (uint32_t i = 0; i < p.axes; i++) {
        uint32_t at = PLAN_AXES - p.axes + i;
        plan_window *w = &p.w[at];
        w->out = plan_axis_number(c->call, "out", at, w->out);
        p.window[i + 1] = w->window;
        p.stride[i + 1] = w->stride;
        p.dilation[i + 1] = w->dilation;
        p.out[i + 1] = w->out;
        p.lows[i + 1] = (int64_t)w->before;
        p.highs[i + 1] = (int64_t)((w->out - 1) * w->stride + plan_reach(w)) -
                         (int64_t)(w->before + w->size);
    }
    return p;
}

/* The array with the padding that its windows reach, and no more. */
static ten padded(ten_module *m, const pool *p, ten a, ten value) {
    return ten_pad(m, a, value, p->lows, p->highs, p->none);
}

/* How many places of window number o along an axis lie in front of `end`. */
static uint64_t places_before(const plan_window *w, uint64_t o, uint64_t end) {
    uint64_t first = o * w->stride, all = end > first ? (end - first - 1) / w->dilation + 1 : 0;
    return all < w->window ? all : w->window;
}

/* Elements of it; counted: those of the padding too. */
static uint64_t count_of(const plan_window *w, uint64_t o, bool counted) {
    return counted ? places_before(w, o, plan_padded(w))
                   : places_before(w, o, w->before + w->size) - places_before(w, o, w->before);
}

/* How many elements each window has: a number for each place of each axis. */
static ten counts(ten_module *m, const pool *p, ten shape, bool counted) {
    ten all = {0};
    for (uint32_t i = 0; i < p->axes; i++) {
        const plan_window *w = &p->w[PLAN_AXES - p->axes + i];
        ten one = ten_list_begin(m, shape.type, w->out);
        for (uint64_t o = 0; o < w->out; o++) ten_list_add(m, o, (double)count_of(w, o, counted));
        ten_list_end(m, one);
        ten here = ten_along(m, one, ten_like(shape, shape.type), i + 1);
        all = all.name ? ten_binary(m, "multiply", all, here) : here;
    }
    return all;
}

/* Of integers a window without an element is 0. */
static ten without_empty(ten_module *m, const pool *p, ten r) {
    bool empty = false;
    for (uint32_t i = PLAN_AXES - p->axes; i < PLAN_AXES; i++)
        for (uint64_t o = 0; o < p->w[i].out; o++)
            empty = empty || count_of(&p->w[i], o, false) == 0;
    if (!empty) return r;
    ten count = counts(m, p, ten_like(r, HG_TYPE_F32), false),
        none = ten_compare(m, "EQ", count, number(m, count, 0));
    return ten_select(m, none, number(m, r, 0), r);
}

/* The fold of each window; value: that of no element, which stands in the padding. */
static ten windows(ten_module *m, const char *op, const pool *p, ten a, ten value) {
    return ten_window(m, op, padded(m, p, a, value), value, p->window, p->stride, p->dilation,
                      p->low, p->high);
}

/* NaN where one is, which "maximum" may leave out. */
static ten largest_of(ten_module *m, const pool *p, ten a, ten value) {
    if (!ten_is_float(a.type)) return without_empty(m, p, windows(m, "maximum", p, a, value));
    ten nan = ten_is_nan(m, a), zero = ten_number(m, ten_shape(a.type, 0, NULL), 0),
        numbers = ten_select(m, nan, ten_lowest(m, ten_like(a, a.type)), a),
        r = windows(m, "maximum", p, numbers, value),
        marks = windows(m, "maximum", p, ten_convert(m, nan, a.type), zero),
        has = ten_compare(m, "GT", marks, number(m, marks, 0));
    return ten_select(m, has, ten_nan(m, ten_like(r, r.type)), r);
}

/* Each place of the windows in turn: the best so far, and where it is. */
static void places(shlo_call *c, const pool *p, ten a, ten value) {
    ten_module *m = c->m;
    uint64_t total = 1, size = 1;
    for (uint32_t i = 1; i < p->rank; i++) {
        total *= p->window[i];
        size *= a.extents[i];
    }
    if (total > MOST_PLACES) {
        ten_refuse(m, "places of windows of more than %d elements", (int)MOST_PLACES);
        return;
    }
    ten all = ten_iota(m, ten_shape(HG_TYPE_I64, 1, &size), 0);
    uint64_t plane[TEN_MOST_RANK] = {1};
    for (uint32_t i = 1; i < p->rank; i++) plane[i] = a.extents[i];
    all = ten_reshape(m, all, (uint8_t)p->rank, plane);
    all = padded(m, p, all, ten_integer(m, ten_shape(HG_TYPE_I64, 0, NULL), UINT64_MAX));
    ten numbers = padded(m, p, a, value), best = {0}, place = {0};
    for (uint64_t k = 0; k < total; k++) {
        ten v = numbers, at = all;
        uint64_t left = k;
        for (uint32_t i = p->rank - 1; i > 0; i--) {
            uint64_t from = left % p->window[i] * p->dilation[i],
                     to = from + (p->out[i] - 1) * p->stride[i] + 1;
            left /= p->window[i];
            v = ten_slice(m, v, i, from, to, p->stride[i]);
            at = ten_slice(m, at, i, from, to, p->stride[i]);
        }
        uint32_t axes[TEN_MOST_RANK] = {0};
        for (uint32_t i = 0; i < p->rank; i++) axes[i] = i;
        at = ten_broadcast(m, at, ten_like(v, HG_TYPE_I64), axes);
        if (!best.name) {
            best = v;
            place = at;
            continue;
        }
        ten zero = ten_integer(m, ten_like(at, HG_TYPE_I64), 0),
            inside = ten_compare(m, "GE", at, zero), none = ten_compare(m, "LT", place, zero),
            better = ten_binary(m, "or", none, ten_compare(m, "GT", v, best));
        if (ten_is_float(v.type)) {
            ten number = ten_unary(m, "not", ten_is_nan(m, best));
            better = ten_binary(m, "or", better, ten_binary(m, "and", ten_is_nan(m, v), number));
        }
        better = ten_binary(m, "and", inside, better);
        best = ten_select(m, better, v, best);
        place = ten_select(m, better, at, place);
    }
    shlo_out(c, "places", place);
}

void shlo_pool(shlo_call *c) {
    ten_module *m = c->m;
    bool largest = c->call->op == HG_OP_MAX_POOL;
    pool p = pool_of(c);
    ten a = shlo_in(c, "input"), none = ten_shape(ten_sum_type(a.type), 0, NULL);
    uint8_t type = a.type;
    a = ten_convert(m, a, none.type);
    ten start = shlo_neutral(m, largest ? HG_OP_MAX : HG_OP_ADD, none),
        r = largest ? largest_of(m, &p, a, start) : windows(m, "add", &p, a, start);
    if (!largest) r = ten_binary(m, "divide", r, counts(m, &p, r, shlo_flag(c, "counted")));
    shlo_out(c, "output", ten_convert(m, r, type));
    if (largest && shlo_has(c, "places")) places(c, &p, a, start);
}
