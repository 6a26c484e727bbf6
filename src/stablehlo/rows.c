/* Softmax, norms, attention, rotary embeddings: composites of operations. Halves are calculated in
 * f32 and rounded once.
 * Must not know: where arrays lie. */
#include "stablehlo/call_internal.h"
#include "kir/kir.h"
#include <math.h>
#include <string.h>

static ten everywhere(ten_module *m, ten like, double value) {
    return ten_number(m, ten_like(like, like.type), value);
}
static ten none_of(uint8_t type) { return ten_shape(type, 0, NULL); }

/* What a fold along an axis gave, in each place of that axis. */
static ten back(ten_module *m, ten a, ten shape, uint32_t axis) {
    uint32_t axes[TEN_MOST_RANK], at = 0;
    for (uint32_t i = 0; i < shape.rank; i++)
        if (i != axis) axes[at++] = i;
    return ten_broadcast(m, a, shape, axes);
}
static ten sum(ten_module *m, ten a, uint32_t axis) {
    return ten_reduce(m, "add", a, ten_number(m, none_of(a.type), 0), axis);
}
static ten mean(ten_module *m, ten a, uint32_t axis) {
    ten r = sum(m, a, axis);
    return ten_binary(m, "divide", r, everywhere(m, r, (double)a.extents[axis]));
}
static ten wide(shlo_call *c, const char *name) {
    ten a = shlo_in(c, name);
    return ten_convert(c->m, a, ten_sum_type(a.type));
}
static void out(shlo_call *c, const char *name, ten value) {
    shlo_out(c, name, ten_convert(c->m, value, shlo_shape_of(c, name).type));
}

/* ---- softmax, log_softmax: [rows, n] or [rows, n, inner] along n ---- */

void shlo_softmax(shlo_call *c) {
    ten_module *m = c->m;
    ten a = wide(c, "input"),
        top = ten_reduce(m, "maximum", a, ten_infinity(m, none_of(a.type), true), 1),
        less = ten_binary(m, "subtract", a, back(m, top, a, 1)),
        each = ten_unary(m, "exponential", less), all = sum(m, each, 1);
    out(c, "output",
        c->call->op == HG_OP_LOG_SOFTMAX
            ? ten_binary(m, "subtract", less, back(m, ten_unary(m, "log", all), a, 1))
            : ten_binary(m, "divide", each, back(m, all, a, 1)));
}

/* ---- norms ---- */

static ten inverse_deviation(shlo_call *c, ten variance) {
    ten eps = everywhere(c->m, variance, shlo_factor(c, "eps")),
        root = ten_unary(c->m, "sqrt", ten_binary(c->m, "add", variance, eps));
    return ten_binary(c->m, "divide", everywhere(c->m, root, 1), root);
}

/* gamma a + beta along an axis. */
static ten scaled(shlo_call *c, ten a, uint32_t axis) {
    ten r = ten_binary(c->m, "multiply", a, ten_along(c->m, wide(c, "gamma"), a, axis));
    if (c->call->op == HG_OP_RMS_NORM) return r;
    return ten_binary(c->m, "add", r, ten_along(c->m, wide(c, "beta"), a, axis));
}

/* layer_norm, rms_norm: along n of [rows, n] or [rows, n, inner]. */
void shlo_layer_norm(shlo_call *c) {
    ten_module *m = c->m;
    ten a = wide(c, "input"), less = a;
    if (c->call->op == HG_OP_LAYER_NORM) {
        ten middle = mean(m, a, 1);
        less = ten_binary(m, "subtract", a, back(m, middle, a, 1));
        if (shlo_has(c, "mean")) out(c, "mean", middle);
    }
    ten inverse = inverse_deviation(c, mean(m, ten_binary(m, "multiply", less, less), 1));
    if (shlo_has(c, "inverse_deviation")) out(c, "inverse_deviation", inverse);
    out(c, "output", scaled(c, ten_binary(m, "multiply", less, back(m, inverse, a, 1)), 1));
}

static ten activated(shlo_call *c, ten a) { return shlo_function(c->m, c->call->fn, a, (ten){0}); }

void shlo_group_norm(shlo_call *c) {
    ten_module *m = c->m;
    uint64_t channels = shlo_size(c, "channels"), groups = shlo_size(c, "groups"),
             spatial = shlo_size(c, "spatial"), batch = shlo_size(c, "batch");
    ten a = wide(c, "input"); /* [batch * groups, channels / groups * spatial] */
    ten less = ten_binary(m, "subtract", a, back(m, mean(m, a, 1), a, 1)),
        inverse = inverse_deviation(c, mean(m, ten_binary(m, "multiply", less, less), 1));
    less = ten_binary(m, "multiply", less, back(m, inverse, a, 1));
    less = ten_reshape(m, less, 3, (uint64_t[]){batch, channels, spatial});
    (void)groups;
    out(c, "output", activated(c, scaled(c, less, 1)));
}

void shlo_batch_norm(shlo_call *c) {
    ten_module *m = c->m;
    uint64_t shape[] = {shlo_size(c, "batch"), shlo_size(c, "channels"), shlo_size(c, "spatial")};
    ten a = ten_reshape(m, wide(c, "input"), 3, shape),
        less = ten_binary(m, "subtract", a, ten_along(m, wide(c, "mean"), a, 1)),
        inverse = inverse_deviation(c, wide(c, "variance"));
    less = ten_binary(m, "multiply", less, ten_along(m, inverse, a, 1));
    out(c, "output", activated(c, scaled(c, less, 1)));
}

void shlo_layer_scale(shlo_call *c) {
    ten a = wide(c, "input");
    out(c, "output",
        ten_apart(c->m, ten_binary(c->m, "multiply", a, ten_along(c->m, wide(c, "scale"), a, 1))));
}

/* ---- rope ---- */

/* The angle's cosine or sine of each place and pair, [places, half], with what rounding the place
 * loses left out: places are below 2^24. */
static ten angles(shlo_call *c, uint64_t places, uint64_t half, uint8_t type) {
    ten_module *m = c->m;
    ten shape = ten_shape(HG_TYPE_I64, 2, (uint64_t[]){places, half}),
        place = ten_iota(m, shape, 0);
    uint64_t first = shlo_size(c, "position");
    if (first + places > UINT64_C(1) << 24) ten_refuse(m, "a position of 2^24 or more");
    place = ten_binary(m, "add", place,
                       c->o->position.name ? ten_everywhere(m, c->o->position, shape)
                                           : ten_integer(m, shape, first));
    place = ten_convert(m, place, type);
    return ten_binary(m, "multiply", place, ten_along(m, wide(c, "freqs"), place, 1));
}

/* (x, y) becomes (x cos - y sin, x sin + y cos). */
void shlo_rope(shlo_call *c) {
    ten_module *m = c->m;
    ten a = wide(c, "input"), cosine, sine; /* [batch, places, heads, size] */
    uint64_t size = a.extents[3], turned = plan_named_or(c->call, "rotary_dim", size),
             half = turned / 2;
    uint32_t table[] = {0, 1, 3}, line[] = {1, 3};
    bool tables = shlo_has(c, "sin"), halves = shlo_flag(c, "halves");
    if (!half) {
        out(c, "output", a);
        return;
    }
    if (tables) {
        cosine = wide(c, "freqs");
        sine = wide(c, "sin");
    } else {
        ten angle = angles(c, a.extents[1], half, a.type);
        cosine = ten_unary(m, "cosine", angle);
        sine = ten_unary(m, "sine", angle);
    }
    ten x = ten_slice(m, a, 3, 0, halves ? half : turned - 1, halves ? 1 : 2),
        y = ten_slice(m, a, 3, halves ? half : 1, turned, halves ? 1 : 2);
    cosine = ten_broadcast(m, cosine, x, tables ? table : line);
    sine = ten_broadcast(m, sine, x, tables ? table : line);
    ten first = ten_binary(m, "subtract", ten_binary(m, "multiply", x, cosine),
                           ten_binary(m, "multiply", y, sine)),
        second = ten_binary(m, "add", ten_binary(m, "multiply", x, sine),
                            ten_binary(m, "multiply", y, cosine)),
        r;
    if (halves) {
        r = ten_concat(m, first, second, 3);
    } else { /* side by side again */
        uint64_t pair[] = {a.extents[0], a.extents[1], a.extents[2], half, 1};
        r = ten_concat(m, ten_reshape(m, first, 5, pair), ten_reshape(m, second, 5, pair), 4);
        pair[3] = turned;
        r = ten_reshape(m, r, 4, pair);
    }
    if (turned < size) r = ten_concat(m, r, ten_slice(m, a, 3, turned, size, 1), 3);
    out(c, "output", r);
}

/* ---- attention ---- */

static double scale_of(const shlo_call *c) {
    uint32_t given = plan_operand_named(c->call, "scale");
    double scale;
    if (!plan_is_given(c->call, given)) return 1 / sqrt((double)shlo_size(c, "head_dim"));
    memcpy(&scale, c->call->operands[given].words, sizeof scale);
    return scale;
}

/* [batch, kv_heads, …] with each head as often as queries share it. */
static ten shared(ten_module *m, ten a, uint64_t heads) {
    uint64_t each = heads / a.extents[1];
    if (each == 1) return a;
    uint64_t shape[] = {a.extents[0], a.extents[1], each, a.extents[2], a.extents[3]};
    static const uint32_t AXES[] = {0, 1, 3, 4};
    ten r = ten_broadcast(m, a, ten_shape(a.type, 5, shape), AXES);
    return ten_reshape(m, r, 4, (uint64_t[]){a.extents[0], heads, a.extents[2], a.extents[3]});
}

/* Keys that a query sees, of the shape of scores; name 0: all. */
static ten seen_keys(shlo_call *c, ten scores) {
    ten_module *m = c->m;
    ten key = ten_like(scores, HG_TYPE_I64), all = {0}, lengths = {0};
    bool causal = shlo_flag(c, "causal"), has_lengths = shlo_has(c, "lengths");
    if (causal || has_lengths) key = ten_iota(m, key, 3);
    if (has_lengths) {
        lengths = ten_along(m, ten_convert(m, shlo_in(c, "lengths"), HG_TYPE_I64), key, 0);
        ten keys = everywhere(m, key, (double)scores.extents[3]), none = everywhere(m, key, 0);
        lengths = ten_binary(m, "minimum", lengths, keys);
        lengths = ten_binary(m, "maximum", lengths, none);
        all = ten_compare(m, "LT", key, lengths);
    }
    if (causal) {
        ten query = ten_iota(m, ten_like(key, HG_TYPE_I64), 2), limit = query;
        if (!shlo_flag(c, "from_start")) {
            ten keys = has_lengths ? lengths : everywhere(m, key, (double)scores.extents[3]),
                queries = everywhere(m, key, (double)scores.extents[2]);
            limit = ten_binary(m, "add", query, ten_binary(m, "subtract", keys, queries));
        }
        ten sees = ten_compare(m, "LE", key, limit);
        all = all.name ? ten_binary(m, "and", all, sees) : sees;
    }
    if (shlo_has(c, "seen")) {
        ten byte = shlo_in(c, "seen"), sees = ten_compare(m, "NE", byte, everywhere(m, byte, 0));
        all = all.name ? ten_binary(m, "and", all, sees) : sees;
    }
    return all;
}

void shlo_attention(shlo_call *c) {
    ten_module *m = c->m;
    ten query = wide(c, "query"), key = shared(m, wide(c, "key"), query.extents[1]),
        value = shared(m, wide(c, "value"), query.extents[1]);
    static const uint32_t ORDER[] = {0, 1, 3, 2};
    double softcap = shlo_factor(c, "softcap");
    query = ten_binary(m, "multiply", query, everywhere(m, query, scale_of(c)));
    ten products = ten_dot(m, query, ten_transpose(m, key, ORDER), 2, query.type),
        scores = products;
    if (softcap != 0) {
        ten cap = everywhere(m, scores, softcap),
            part = ten_unary(m, "tanh", ten_binary(m, "divide", scores, cap));
        scores = ten_binary(m, "multiply", part, cap);
    }
    if (shlo_has(c, "mask")) scores = ten_binary(m, "add", scores, wide(c, "mask"));
    ten lowest = ten_infinity(m, ten_like(scores, scores.type), true), sees = seen_keys(c, scores);
    if (sees.name) scores = ten_select(m, sees, scores, lowest);
    ten top = ten_reduce(m, "maximum", scores, ten_infinity(m, none_of(scores.type), true), 3),
        none = ten_compare(m, "EQ", top, ten_infinity(m, ten_like(top, top.type), true)),
        zero = everywhere(m, top, 0), from = ten_select(m, none, zero, top),
        weights = ten_unary(m, "exponential",
                            ten_binary(m, "subtract", scores, back(m, from, scores, 3))),
        all = sum(m, weights, 3), by = ten_select(m, none, everywhere(m, all, 1), all);
    weights = ten_binary(m, "divide", weights, back(m, by, weights, 3));
    if (sees.name && m->unsupported[0] == 0) { /* values that nobody sees do not count, NaN too */
        ten kept = ten_reduce(m, "or", sees, ten_integer(m, none_of(TEN_BOOL), 0), 2);
        kept = back(m, kept, ten_like(value, TEN_BOOL), 3);
        value = ten_select(m, kept, value, everywhere(m, value, 0));
    }
    out(c, "output", ten_dot(m, weights, value, 2, weights.type));
    if (shlo_has(c, "scores"))
        out(c, "scores",
            shlo_flag(c, "products") ? products
            : shlo_flag(c, "masked") ? scores
                                     : weights);
}
