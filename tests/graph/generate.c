/* The generator writes text and knows of each value its type and extents, nothing else; it shares
 * no code with src/graph. */
#include "graph/generate.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 700, MOST_RANK = 5, MOST_ELEMENTS = 20000 };

typedef struct value {
    char name[16];
    hg_type type;
    uint32_t rank;
    uint64_t extents[MOST_RANK];
    bool strided; /* its elements may lie anywhere */
} value;

typedef struct generator {
    generated_graph *out;
    uint64_t state;
    size_t length, capacity;
    value values[MOST_VALUES];
    uint32_t count;
} generator;

uint64_t generate_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static uint32_t below(generator *r, uint32_t n) {
    return (uint32_t)(generate_random(&r->state) % n);
}
static bool chance(generator *r, uint32_t percent) { return below(r, 100) < percent; }

static void say(generator *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(generator *r, const char *format, ...) {
    va_list list;
    if (r->capacity - r->length < 4096) {
        r->capacity = 2 * r->capacity + 8192;
        r->out->text = realloc(r->out->text, r->capacity);
        if (!r->out->text) exit(1);
    }
    va_start(list, format);
    r->length += (size_t)vsnprintf(r->out->text + r->length, r->capacity - r->length, format, list);
    va_end(list);
}

/* ---- values ---- */

static uint64_t elements_of(const value *v) {
    uint64_t n = 1;
    for (uint32_t d = 0; d < v->rank; d++) n *= v->extents[d];
    return n;
}

static void say_extent(generator *r, uint64_t n) {
    for (uint32_t i = 0; i < r->out->symbol_count; i++)
        if (r->out->symbols[i] == n && chance(r, 70)) {
            say(r, "n%u", (unsigned)i);
            return;
        }
    say(r, "%llu", (unsigned long long)n);
}

static void say_shape(generator *r, const value *v) {
    say(r, "%s [", hg_type_name(v->type));
    for (uint32_t d = 0; d < v->rank; d++) {
        say(r, d ? ", " : "");
        say_extent(r, v->extents[d]);
    }
    say(r, "]");
}

static value *add(generator *r, hg_type type, uint32_t rank, const uint64_t *extents) {
    value *v = &r->values[r->count];
    *v = (value){.type = type, .rank = rank};
    if (rank) memcpy(v->extents, extents, rank * sizeof *extents);
    snprintf(v->name, sizeof v->name, "x%u", (unsigned)r->count++);
    return v;
}

static void add_array(generator *r, const char *name, const value *v, bool output, bool zeros) {
    generated_array *a = &r->out->arrays[r->out->array_count++];
    *a = (generated_array){
        .type = v->type, .elements = elements_of(v), .output = output, .zeros = zeros};
    snprintf(a->name, sizeof a->name, "%s", name);
}

static bool is_full(const generator *r) {
    return r->count + 16 > MOST_VALUES || r->out->array_count + 40 > GENERATE_MOST_ARRAYS;
}

static const value *new_input(generator *r, hg_type type, uint32_t rank, const uint64_t *extents,
                              bool zeros) {
    value *v = add(r, type, rank, extents);
    say(r, "%s %s ", chance(r, 30) ? ".constant" : ".input", v->name);
    say_shape(r, v);
    say(r, "\n");
    add_array(r, v->name, v, false, zeros);
    return v;
}

static const value *need(generator *r, hg_type type, uint32_t rank, const uint64_t *extents);

/* A view with the axes of another value in another order. */
static const value *permuted(generator *r, hg_type type, uint32_t rank, const uint64_t *extents) {
    uint32_t order[MOST_RANK];
    uint64_t before[MOST_RANK];
    char of[16];
    for (uint32_t d = 0; d < rank; d++) order[d] = d;
    for (uint32_t d = rank; d-- > 1;) {
        uint32_t other = chance(r, 50) ? d - 1 : below(r, d + 1), axis = order[d];
        order[d] = order[other];
        order[other] = axis;
    }
    for (uint32_t d = 0; d < rank; d++) before[order[d]] = extents[d];
    memcpy(of, need(r, type, rank, before)->name, sizeof of);
    value *view = add(r, type, rank, extents);
    view->strided = true;
    say(r, ".view %s = %s permuted (", view->name, of);
    for (uint32_t d = 0; d < rank; d++) say(r, d ? ", %u" : "%u", (unsigned)order[d]);
    say(r, ")\n");
    return view;
}

/* Any strides that stay within the value, 0 and overlapping ones too. */
static const value *strided(generator *r, const value *v, uint32_t rank, const uint64_t *extents) {
    uint64_t room = elements_of(v) - 1, strides[MOST_RANK];
    for (uint32_t d = 0; d < rank; d++) {
        uint64_t most = extents[d] > 1 ? room / (extents[d] - 1) : 9;
        strides[d] = chance(r, 25)               ? 0
                     : most > 6 && chance(r, 60) ? 1 + below(r, 6)
                                                 : generate_random(&r->state) % (most + 1);
        if (extents[d] > 1) room -= (extents[d] - 1) * strides[d];
    }
    char of[16];
    memcpy(of, v->name, sizeof of);
    value *view = add(r, v->type, rank, extents);
    view->strided = true;
    say(r, ".view %s = %s + %llu strides (", view->name, of,
        (unsigned long long)(generate_random(&r->state) % (room + 1)));
    for (uint32_t d = 0; d < rank; d++)
        say(r, d ? ", %llu" : "%llu", (unsigned long long)strides[d]);
    say(r, ") ");
    say_shape(r, view);
    say(r, "\n");
    return view;
}

/* A value of that type and shape: one that is there, a view of one that is large enough, or a new
 * input. */
static const value *need(generator *r, hg_type type, uint32_t rank, const uint64_t *extents) {
    value wanted = {.type = type, .rank = rank};
    if (rank > 1 && chance(r, 8) && !is_full(r)) return permuted(r, type, rank, extents);
    if (rank) memcpy(wanted.extents, extents, rank * sizeof *extents);
    uint64_t n = elements_of(&wanted);
    for (uint32_t tries = 0; tries < 12 && r->count; tries++) {
        uint32_t back = chance(r, 60) ? (r->count < 8 ? r->count : 8) : r->count;
        const value *v = &r->values[r->count - 1 - below(r, back)];
        if (v->type == type && !v->strided && n && elements_of(v) && chance(r, 8))
            return strided(r, v, rank, extents);
        if (v->type != type || elements_of(v) < n) continue;
        if (v->rank == rank && (!rank || memcmp(v->extents, extents, rank * sizeof *extents) == 0))
            return v;
        if (v->strided) continue;
        uint64_t room = elements_of(v) - n,
                 offset = chance(r, 50) ? 0 : generate_random(&r->state) % (room + 1);
        char of[16];
        memcpy(of, v->name, sizeof of);
        value *view = add(r, type, rank, extents);
        say(r, ".view %s = %s", view->name, of);
        if (offset) say(r, " + %llu", (unsigned long long)offset);
        say(r, " ");
        say_shape(r, view);
        say(r, "\n");
        return view;
    }
    return new_input(r, type, rank, extents, false);
}

static uint64_t extent(generator *r) {
    static const uint8_t small[] = {1, 1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 31, 32, 33, 48};
    if (r->out->symbol_count && chance(r, 35))
        return r->out->symbols[below(r, r->out->symbol_count)];
    if (chance(r, 2)) return 0;
    if (chance(r, 2)) return 97 + below(r, 200);
    return small[below(r, sizeof small)];
}

static hg_type float_type(generator *r) {
    static const hg_type types[] = {HG_TYPE_F32, HG_TYPE_F32, HG_TYPE_F32, HG_TYPE_F32,
                                    HG_TYPE_F64, HG_TYPE_F16, HG_TYPE_BF16};
    return types[below(r, 7)];
}

static hg_type any_type(generator *r) {
    static const hg_type types[] = {HG_TYPE_I32, HG_TYPE_U8,  HG_TYPE_I8,  HG_TYPE_U16,
                                    HG_TYPE_I64, HG_TYPE_U32, HG_TYPE_I128};
    return chance(r, 80) ? float_type(r) : types[below(r, 7)];
}

/* Any value of up to `rank` extents: an old one or a new input. */
static const value *any(generator *r) {
    if (r->count && chance(r, 85)) {
        uint32_t back = chance(r, 70) ? (r->count < 6 ? r->count : 6) : r->count;
        return &r->values[r->count - 1 - below(r, back)];
    }
    uint64_t extents[MOST_RANK];
    uint32_t rank = below(r, 4);
    for (uint32_t d = 0; d < rank; d++) extents[d] = extent(r);
    return new_input(r, any_type(r), rank, extents, false);
}

/* ---- calls ---- */

/* "xN = " or with its shape. */
static void begin(generator *r, const value *result, bool needs_shape) {
    say(r, "%s", result->name);
    if (needs_shape || chance(r, 10)) {
        say(r, " ");
        say_shape(r, result);
    }
    say(r, " = ");
    r->out->calls++;
}

static bool map(generator *r) {
    static const char *const names[] = {"abs",  "neg",      "sqrt",  "exp",   "log",
                                        "sin",  "cos",      "tan",   "relu",  "sigmoid",
                                        "tanh", "ceil",     "floor", "round", "reciprocal",
                                        "erf",  "identity", "gelu",  "swish"};
    static const char *const whole[] = {"abs", "relu", "identity", "neg"};
    const value *a = any(r);
    bool real = hg_type_is_float(a->type);
    const char *name = real ? names[below(r, 19)]
                            : whole[below(r, hg_type_is_signed(a->type) ? 4 : 3)];
    if (chance(r, a->strided ? 40 : 10)) name = "identity";
    value *y = add(r, a->type, a->rank, a->extents);
    begin(r, y, false);
    say(r, chance(r, 50) ? "parallel_map %s, in=%s\n" : "parallel_map op=%s, in=%s\n", name,
        a->name);
    return true;
}

/* Copies of a copy, and a view of the last one: what lies in memory as the first one does not. */
static bool copies(generator *r) {
    const value *a = any(r);
    uint64_t n = elements_of(a);
    uint32_t count = 1 + below(r, 3);
    for (uint32_t i = 0; i < count; i++) {
        char of[16];
        memcpy(of, a->name, sizeof of);
        value *y = add(r, a->type, a->rank, a->extents);
        begin(r, y, false);
        say(r, "parallel_map identity, in=%s\n", of);
        a = y;
    }
    char of[16];
    memcpy(of, a->name, sizeof of);
    value *view = add(r, a->type, 1, &n);
    say(r, ".view %s = %s ", view->name, of);
    say_shape(r, view);
    say(r, "\n");
    return true;
}

static bool map_binary(generator *r) {
    static const char *const names[] = {"add", "sub", "mul", "min", "max", "div", "pow", "atan2"};
    const value *a = any(r), *b = chance(r, 15) ? a : need(r, a->type, a->rank, a->extents);
    const char *name = names[below(r, hg_type_is_float(a->type) ? 8 : 5)];
    value *y = add(r, a->type, a->rank, a->extents);
    begin(r, y, false);
    say(r, "parallel_map_binary %s, a=%s, b=%s\n", name, a->name, b->name);
    return true;
}

static bool reduce(generator *r) {
    static const char *const names[] = {"sum", "product", "min", "max"}, *const words[] = {
                                                                             "add", "mul", "min",
                                                                             "max"};
    const value *a = any(r);
    uint32_t which = below(r, 4);
    if (elements_of(a) == 0 && which > 1) return false;
    value *y = add(r, a->type, 0, NULL);
    begin(r, y, false);
    if (chance(r, 50))
        say(r, "parallel_reduce %s, in=%s\n", names[which], a->name);
    else
        say(r, "reduce.%s address=%s\n", words[which], a->name);
    return true;
}

static void say_activation(generator *r) {
    static const char *const names[] = {"relu", "gelu", "sigmoid", "tanh", "swish"};
    if (chance(r, 40)) say(r, ", activation=%s", names[below(r, 5)]);
}

static bool gemm(generator *r) {
    bool mixed = chance(r, 15), trans_a = chance(r, 20), trans_b = chance(r, 30);
    hg_type type = mixed ? (chance(r, 50) ? HG_TYPE_F16 : HG_TYPE_BF16) : float_type(r),
            out = mixed ? HG_TYPE_F32 : type;
    uint64_t m = extent(r), n = extent(r), k = extent(r);
    const value *a = need(r, type, 2, trans_a ? (uint64_t[]){k, m} : (uint64_t[]){m, k});
    const value *b = need(r, type, 2, trans_b ? (uint64_t[]){n, k} : (uint64_t[]){k, n});
    const value *bias = chance(r, 50) ? need(r, out, 1, &n) : NULL;
    const value *c = chance(r, 25) ? need(r, out, 2, (uint64_t[]){m, n}) : NULL;
    value *y = add(r, out, 2, (uint64_t[]){m, n});
    begin(r, y, false);
    say(r, "%s a=%s, b=%s", mixed ? "mixed_precision_gemm" : "gemm", a->name, b->name);
    if (trans_a) say(r, ", trans_a=true");
    if (trans_b) say(r, ", trans_b=true");
    if (bias) say(r, ", bias=%s", bias->name);
    if (c) say(r, ", c=%s, beta=%s", c->name, chance(r, 50) ? "1.0" : "-0.5");
    if (chance(r, 20)) say(r, ", alpha=0.25");
    say_activation(r);
    say(r, "\n");
    return true;
}

static bool batched_gemm(generator *r) {
    hg_type type = float_type(r);
    uint64_t batch = 1 + below(r, 4), m = extent(r), n = extent(r), k = extent(r);
    const value *a = need(r, type, 3, (uint64_t[]){batch, m, k}),
                *b = need(r, type, 3, (uint64_t[]){batch, k, n});
    value *y = add(r, type, 3, (uint64_t[]){batch, m, n});
    begin(r, y, false);
    say(r, "batched_gemm a=%s, b=%s", a->name, b->name);
    say_activation(r);
    say(r, "\n");
    return true;
}

static bool conv2d(generator *r) {
    hg_type type = float_type(r);
    uint64_t groups = chance(r, 25) ? 2 : 1, batch = 1 + below(r, 2),
             in = groups * (1 + below(r, 3)), out = groups * (1 + below(r, 4));
    uint64_t h = 1 + below(r, 9), w = 1 + below(r, 9), kh = 1 + below(r, (uint32_t)(h < 3 ? h : 3)),
             kw = 1 + below(r, (uint32_t)(w < 3 ? w : 3));
    uint64_t sy = 1 + below(r, 2), sx = 1 + below(r, 2), py = below(r, 2), px = below(r, 2);
    const value *x = need(r, type, 4, (uint64_t[]){batch, in, h, w}),
                *k = need(r, type, 4, (uint64_t[]){out, in / groups, kh, kw});
    const value *bias = chance(r, 50) ? need(r, type, 1, &out) : NULL;
    value *y = add(
        r, type, 4,
        (uint64_t[]){batch, out, (h + 2 * py - kh) / sy + 1, (w + 2 * px - kw) / sx + 1});
    begin(r, y, false);
    say(r, "conv2d input=%s, kernel=%s, stride=(%d, %d), padding=(%d, %d)", x->name, k->name,
        (int)sy, (int)sx, (int)py, (int)px);
    if (groups > 1) say(r, ", groups=%d", (int)groups);
    if (bias) say(r, ", bias=%s", bias->name);
    say_activation(r);
    say(r, "\n");
    return true;
}

static const value *any_rows(generator *r) {
    for (uint32_t tries = 0; tries < 6 && r->count; tries++) {
        const value *v = any(r);
        if (hg_type_is_float(v->type) && v->rank && v->extents[v->rank - 1]) return v;
    }
    return new_input(r, float_type(r), 2, (uint64_t[]){1 + below(r, 9), 1 + below(r, 40)}, false);
}

static bool rows(generator *r) {
    const value *x = any_rows(r);
    uint64_t n = x->extents[x->rank - 1];
    uint32_t which = below(r, x->rank > 1 ? 4 : 3);
    const value *g = which == 1 || which == 2 ? need(r, x->type, 1, &n) : NULL,
                *h = which == 1 ? need(r, x->type, 1, &n) : NULL;
    value *y = add(r, x->type, x->rank, x->extents);
    begin(r, y, false);
    if (which == 0) {
        say(r, "%s input=%s", chance(r, 70) ? "softmax" : "log_softmax", x->name);
        if (x->rank > 1 && chance(r, 40)) say(r, ", inner=%d", (int)n);
        say(r, "\n");
    }
    if (which == 1)
        say(r, "layer_norm input=%s, gamma=%s, beta=%s, eps=0.00001\n", x->name, g->name, h->name);
    if (which == 2 && chance(r, 50))
        say(r, "layer_scale input=%s, scale=%s\n", x->name, g->name);
    else if (which == 2)
        say(r, "rms_norm input=%s, gamma=%s, eps=0.00001\n", x->name, g->name);
    if (which == 3)
        say(r, "scan input=%s, operation=%s, exclusive=%s, reverse=%s\n", x->name,
            chance(r, 50) ? "sum" : "max", chance(r, 30) ? "true" : "false",
            chance(r, 30) ? "true" : "false");
    return true;
}

static bool channels(generator *r) {
    hg_type type = float_type(r);
    uint64_t batch = 1 + below(r, 3), c = 2 * (1 + below(r, 3)), h = 1 + below(r, 5),
             w = 1 + below(r, 5);
    bool group = chance(r, 50);
    const value *x = need(r, type, 4, (uint64_t[]){batch, c, h, w}), *g = need(r, type, 1, &c),
                *b = need(r, type, 1, &c);
    const value *mean = group ? NULL : need(r, type, 1, &c),
                *variance = group ? NULL : need(r, type, 1, &c);
    value *y = add(r, type, 4, (uint64_t[]){batch, c, h, w});
    begin(r, y, false);
    say(r, "%s input=%s, gamma=%s, beta=%s, eps=0.001", group ? "group_norm" : "batch_norm",
        x->name, g->name, b->name);
    if (group) say(r, ", groups=2");
    if (!group) say(r, ", mean=%s, variance=%s", mean->name, variance->name);
    say_activation(r);
    say(r, "\n");
    return true;
}

static bool rope(generator *r) {
    hg_type type = float_type(r);
    uint64_t shape[4] = {1 + below(r, 2), 1 + below(r, 5), 1 + below(r, 3), 2 * (1 + below(r, 4))},
             half = shape[3] / 2;
    const value *x = need(r, type, 4, shape), *f = need(r, type, 1, &half);
    value *y = add(r, type, 4, shape);
    begin(r, y, false);
    say(r, "rope input=%s, freqs=%s, position=%d%s\n", x->name, f->name, (int)below(r, 9),
        chance(r, 50) ? ", halves=true" : "");
    return true;
}

static bool attention(generator *r) {
    hg_type type = float_type(r);
    uint64_t b = 1 + below(r, 2), kv = 1 + below(r, 2), heads = kv * (1 + below(r, 2)),
             s = 1 + below(r, 7), len = s + below(r, 4), d = 1 + below(r, 9);
    const value *q = need(r, type, 4, (uint64_t[]){b, heads, s, d}),
                *k = need(r, type, 4, (uint64_t[]){b, kv, len, d});
    const value *v = need(r, type, 4, (uint64_t[]){b, kv, len, d});
    value *y = add(r, type, 4, (uint64_t[]){b, heads, s, d});
    bool flash = chance(r, 40);
    begin(r, y, false);
    say(r, "%s query=%s, key=%s, value=%s%s%s\n", flash ? "flash_attention" : "attention", q->name,
        k->name, v->name, flash ? ", block_size=4" : "", chance(r, 30) ? ", causal=true" : "");
    return true;
}

static bool fft(generator *r) {
    static const uint8_t sizes[] = {1, 2, 3, 4, 5, 8, 12, 16, 17, 32};
    hg_type type = chance(r, 70) ? HG_TYPE_F32 : HG_TYPE_F64;
    uint64_t batch = 1 + below(r, 3), n = sizes[below(r, 10)];
    const value *x = need(r, type, 3, (uint64_t[]){batch, n, 2});
    value *y = add(r, type, 3, (uint64_t[]){batch, n, 2});
    begin(r, y, true);
    say(r, "fft input=%s, n=%d, inverse=%s, batch=%d\n", x->name, (int)n,
        chance(r, 50) ? "true" : "false", (int)batch);
    return true;
}

static bool cache(generator *r) {
    hg_type type = any_type(r);
    uint64_t batch = 1 + below(r, 2), heads = 1 + below(r, 3), d = 1 + below(r, 8),
             s = 1 + below(r, 3), position = below(r, 4);
    const value *c = need(r, type, 4, (uint64_t[]){position + s + below(r, 3), batch, heads, d}),
                *n = need(r, type, 4, (uint64_t[]){s, batch, heads, d});
    value *y = add(r, type, 4, c->extents);
    begin(r, y, false);
    say(r, "kv_cache_update cache=%s, new_kv=%s, position=%d\n", c->name, n->name, (int)position);
    return true;
}

static bool all(generator *r) {
    const value *x = any(r);
    value *y = add(r, x->type, x->rank, x->extents);
    bool gather = chance(r, 50);
    begin(r, y, gather);
    if (gather)
        say(r, "all_gather input=%s, devices=(0)\n", x->name);
    else
        say(r, "all_reduce buffer=%s, operation=sum, devices=(0)\n", x->name);
    return true;
}

static bool contract(generator *r) {
    hg_type type = float_type(r);
    uint64_t a[3] = {1 + below(r, 4), 1 + below(r, 5), 1 + below(r, 4)},
             b[2] = {a[1], 1 + below(r, 6)};
    const value *x = need(r, type, 3, a), *z = need(r, type, 2, b);
    value *y = add(r, type, 3, (uint64_t[]){a[0], a[2], b[1]});
    begin(r, y, true);
    say(r,
        "tensor_contract a=%s, b=%s, shape_a=(%d, %d, %d), shape_b=(%d, %d), contract_dims=((1, "
        "0))\n",
        x->name, z->name, (int)a[0], (int)a[1], (int)a[2], (int)b[0], (int)b[1]);
    return true;
}

static bool quantized(generator *r) {
    uint64_t m = extent(r), n = extent(r), k = extent(r);
    bool sums = chance(r, 40);
    const value *a = need(r, HG_TYPE_U8, 2, (uint64_t[]){m, k}),
                *b = need(r, HG_TYPE_I8, 2, (uint64_t[]){k, n});
    value *y = add(r, sums ? HG_TYPE_I32 : HG_TYPE_U8, 2, (uint64_t[]){m, n});
    begin(r, y, true);
    say(r, "quantized_gemm a=%s, b=%s, a_scale=0.02, b_scale=0.03, c_scale=0.5, a_zero=%d%s\n",
        a->name, b->name, (int)below(r, 200), sums ? ", sums=true" : "");
    return true;
}

static bool sparse(generator *r) {
    hg_type type = float_type(r);
    uint64_t m = 1 + below(r, 9), n = 1 + below(r, 9), k = 1 + below(r, 9), nnz = below(r, 12),
             ends = m + 1;
    const value *values = need(r, type, 1, &nnz),
                *indices = new_input(r, HG_TYPE_U32, 1, &nnz, true),
                *ptr = new_input(r, HG_TYPE_U32, 1, &ends, true);
    const value *b = need(r, type, 2, (uint64_t[]){k, n});
    value *y = add(r, type, 2, (uint64_t[]){m, n});
    begin(r, y, true);
    say(r, "sparse_gemm a_values=%s, a_indices=%s, a_ptr=%s, b=%s, m=%d, n=%d, k=%d\n",
        values->name, indices->name, ptr->name, b->name, (int)m, (int)n, (int)k);
    return true;
}

/* Programs of which each lane makes its own element: by its own elements of several types, with a
 * function and a branch; of rows and columns; of the array the other way round too. */
static bool formula(generator *r, const value *x, uint32_t which) {
    static const hg_type types[] = {HG_TYPE_F32, HG_TYPE_F32, HG_TYPE_U8, HG_TYPE_F32};
    static const char *const names[] = {"soft", "choose", "sign", "turn"};
    uint64_t shape[2] = {elements_of(x), 1};
    hg_type type = types[which];
    if (which == 1 && x->rank > 1) {
        shape[0] = x->extents[0];
        shape[1] = shape[0] ? elements_of(x) / shape[0] : 0;
    }
    uint32_t rank = which == 1 ? 2 : 1;
    char a[16], b[16] = "", c[16] = "";
    memcpy(a, need(r, HG_TYPE_F32, rank, shape)->name, sizeof a);
    if (which == 0) memcpy(b, need(r, HG_TYPE_F32, 1, shape)->name, sizeof b);
    if (which == 1) {
        memcpy(b, need(r, HG_TYPE_U8, 2, shape)->name, sizeof b);
        memcpy(c, need(r, HG_TYPE_F32, 1, &shape[1])->name, sizeof c);
    }
    value *y = add(r, type, rank, shape);
    begin(r, y, which == 1);
    say(r, "@%s x=%s", names[which], a);
    if (which == 3) say(r, ", n=%llu", (unsigned long long)shape[0]);
    if (*b) say(r, ", p=%s", b);
    if (*c)
        say(r, ", row=%s, rows=%llu, columns=%llu", c, (unsigned long long)shape[0],
            (unsigned long long)shape[1]);
    say(r, which == 0 ? ", alpha=%d.5\n" : "\n", (int)below(r, 3));
    return true;
}

static bool program(generator *r) {
    const value *x = NULL;
    uint32_t which = below(r, 8);
    for (uint32_t tries = 0; tries < 5 && !x; tries++) {
        const value *v = any(r);
        if (v->type == HG_TYPE_F32 && v->rank) x = v;
    }
    if (!x) return false;
    uint64_t n = elements_of(x);
    if (which == 0) {
        const value *a = need(r, HG_TYPE_F32, 1, &n), *b = need(r, HG_TYPE_F32, 1, &n);
        value *y = add(r, HG_TYPE_F32, 1, &n);
        begin(r, y, false);
        say(r, "@axpy x=%s, y=%s, alpha=0.75\n", a->name, b->name);
        return true;
    }
    if (which > 3) return formula(r, x, which - 4);
    const value *a = need(r, HG_TYPE_F32, 1, &n);
    if (which > 1) {
        uint64_t made = which == 2 ? 2 * n : n;
        value *y = add(r, HG_TYPE_F32, 1, &made);
        begin(r, y, false);
        say(r, "@%s x=%s\n", which == 2 ? "part" : "some", a->name);
        return true;
    }
    value *y = add(r, HG_TYPE_F32, 1, &n), *z = add(r, HG_TYPE_F32, 1, &n);
    say(r, "%s, ", y->name);
    begin(r, z, false);
    say(r, "@split x=%s\n", a->name);
    return true;
}

hg_status generated_program(void *user, const char *file, hg_diagnostics *d, hg_program **made) {
    static const char axpy[] = ".atlas 1\n.program axpy\n.param n u64\n.param x buffer f32 in "
                               "[n]\n.param y buffer f32 inout [n]\n.param alpha f32\n.lanes n\n"
                               ".reg a, b f32\n    ldg a, [x[global]]\n    ldg b, [y[global]]\n    "
                               "fma b, alpha, a, b\n    stg [y[global]], b\n";
    /* The first output is the input the other way round, the second its double: an element of the
     * input is read by two lanes. */
    static const char split[] = ".atlas 1\n.program split\n.param n u64\n.param x buffer f32 in "
                                "[n]\n.param y buffer f32 out [n]\n.param z buffer f32 out [n]\n"
                                ".lanes n\n.reg a, b f32\n.reg i u64\n    sub i, n, global\n    "
                                "sub i, i, 1\n    ldg a, [x[i]]\n    ldg b, [x[global]]\n"
                                "    add b, b, b\n    stg [y[global]], a\n    stg [z[global]], b\n";
    /* Every second element is written, or those of positive inputs. */
    static const char part[] = ".atlas 1\n.program part\n.param n u64\n.param x buffer f32 in "
                               "[n]\n.param y buffer f32 out [2 * n]\n.lanes n\n"
                               ".reg a f32\n.reg i u64\n    ldg a, [x[global]]\n    add i, global, "
                               "global\n    stg [y[i]], a\n";
    static const char some[] = ".atlas 1\n.program some\n.param n u64\n.param x buffer f32 in "
                               "[n]\n.param y buffer f32 out [n]\n.lanes n\n"
                               ".reg a, z f32\n    ldg a, [x[global]]\n    mov_imm.f32 z, 0\n    "
                               "setlt p0, a, z\n    bra.p0 @end\n"
                               "    stg [y[global]], a\nend:\n    exit\n";
    static const char soft[] =
        ".atlas 1\n.program soft\n.param n u64\n.param x buffer f32 in [n]\n.param p buffer f32 in "
        "[n]\n.param alpha f32\n.param y buffer f32 out [n]\n.lanes [i < n]\n"
        "    let a = x[i]\n    let m = larger(a, p[i])\n    if m > alpha {\n        m = m * alpha\n"
        "    }\n    y[i] = m + a\n\nfn larger(a f32, b f32) -> f32 {\n    if a != a {\n"
        "        return b\n    }\n    let s = a\n    for k in 0 .. 3 {\n        s = s * 0.5 + b\n"
        "    }\n    return max(a, s)\n}\n";
    static const char choose[] =
        ".atlas 1\n.program choose\n.param rows u64\n.param columns u64\n.param x buffer f32 in\n"
        ".param p buffer u8 in\n.param row buffer f32 in\n.param y buffer f32 out [rows, "
        "columns]\n.lanes [i < rows, k < columns]\n    let a = x[global_lane_id]\n"
        "    y[global_lane_id] = p[global_lane_id] != 0 ? a : row[k]\n";
    static const char sign[] =
        ".atlas 1\n.program sign\n.param n u64\n.param x buffer f32 in [n]\n.param y buffer u8 out "
        "[n]\n.lanes [i < n]\n    y[i] = u8(x[i] < 0 ? 1 : 0)\n";
    static const char turn[] =
        ".atlas 1\n.program turn\n.param n u64\n.param x buffer f32 in\n.param y buffer f32 out "
        "[n]\n.lanes [i < n]\n    y[i] = x[i] + x[n - 1 - i]\n";
    static const struct {
        const char *file, *text;
    } TEXTS[] = {{"soft.atlas", soft}, {"choose.atlas", choose}, {"sign.atlas", sign},
                 {"turn.atlas", turn}, {"axpy.atlas", axpy},     {"split.atlas", split},
                 {"part.atlas", part}, {"some.atlas", some}};
    size_t i = 0;
    while (i + 1 < sizeof TEXTS / sizeof *TEXTS && strcmp(file, TEXTS[i].file) != 0) i++;
    const char *text = TEXTS[i].text;
    (void)user;
    return hg_program_assemble(text, strlen(text), d, made);
}

/* ---- graphs ---- */

static void one_call(generator *r) {
    static bool (*const calls[])(generator *) = {
        copies,    map,    map,       map,          map_binary, map_binary, map_binary,
        reduce,    gemm,   gemm,      batched_gemm, conv2d,     rows,       rows,
        channels,  rope,   attention, fft,          cache,      all,        contract,
        quantized, sparse, program,   program,      program};
    bool maps = chance(r, 40);
    while (!calls[maps ? (chance(r, 20) ? sizeof calls / sizeof *calls - 1 : below(r, 6))
                       : below(r, sizeof calls / sizeof *calls)](r)) {}
}

static void add_outputs(generator *r) {
    uint32_t outputs = 1 + below(r, 4);
    char name[16];
    for (uint32_t i = 0; i < outputs; i++) {
        const value *v = &r->values[i ? below(r, r->count) : r->count - 1];
        snprintf(name, sizeof name, "out%u", (unsigned)i);
        say(r, ".output %s = %s\n", name, v->name);
        add_array(r, name, v, true, false);
    }
}

void generate_graph(uint64_t seed, uint32_t most_calls, generated_graph *graph) {
    generator *r = calloc(1, sizeof *r);
    if (!r) exit(1);
    memset(graph, 0, sizeof *graph);
    r->out = graph;
    r->state = seed * UINT64_C(0x2545F4914F6CDD1D);
    say(r, ".graph 1\n.program axpy \"axpy.atlas\"\n.program split \"split.atlas\"\n.program part "
           "\"part.atlas\"\n"
           ".program some \"some.atlas\"\n.program soft \"soft.atlas\"\n.program choose "
           "\"choose.atlas\"\n.program sign \"sign.atlas\"\n.program turn \"turn.atlas\"\n");
    graph->symbol_count = chance(r, 50) ? 1 + below(r, GENERATE_SYMBOLS) : 0;
    for (uint32_t i = 0; i < graph->symbol_count; i++) {
        graph->symbols[i] = chance(r, 8) ? 0 : 1 + below(r, 40);
        say(r, ".extent n%u\n", (unsigned)i);
    }
    uint32_t calls = 2 + below(r, most_calls - 1);
    if (chance(r, 30)) calls = 2 + below(r, 6);
    while (graph->calls < calls && !is_full(r)) one_call(r);
    add_outputs(r);
    free(r);
}

void generated_graph_free(generated_graph *graph) { free(graph->text); }

/* ---- contents of arrays ---- */

uint64_t generated_bytes(const generated_array *array) {
    return array->elements * hg_type_size_bytes(array->type);
}

void generate_elements(uint64_t *state, const generated_array *a, uint8_t *bytes) {
    uint64_t size = hg_type_size_bytes(a->type);
    for (uint64_t i = 0; i < a->elements; i++) {
        double x = (double)(int64_t)(generate_random(state) % 4001) / 1000.0 - 2.0;
        if (hg_type_is_integer(a->type))
            x = (double)(int64_t)(generate_random(state) % 100) -
                (hg_type_is_signed(a->type) ? 50 : 0);
        if (a->zeros) x = 0;
        (void)!hg_type_from_f64(a->type, x, bytes + i * size);
    }
}

static bool is_nan(hg_type type, const uint8_t *bytes) {
    double x;
    return hg_type_is_float(type) && hg_type_to_f64(type, bytes, &x) == HG_OK && x != x;
}

bool generated_equal(hg_type type, const uint8_t *x, const uint8_t *y, uint64_t count) {
    uint64_t size = hg_type_size_bytes(type);
    if (memcmp(x, y, (size_t)(count * size)) == 0) return true;
    for (uint64_t i = 0; i < count; i++)
        if (memcmp(x + i * size, y + i * size, (size_t)size) != 0 &&
            !(is_nan(type, x + i * size) && is_nan(type, y + i * size)))
            return false;
    return true;
}
