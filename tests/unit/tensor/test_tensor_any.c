/* Every operation with inputs, layouts and options at random, sensible ones and others, and
 * expressions of many operations, eager and in a scope: both refuse, or both give the same bits;
 * nothing crashes (under AddressSanitizer too).
 * test_tensor_any [--rounds N] [--seed N] [--operation NAME] [--expressions N] */
/* test: timeout=600 */
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include <hologram/ops.h>
#include <math.h>

static uint64_t random_state;
static uint64_t rnd(uint64_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

enum { MOST_INPUTS = 8, MOST_RESULTS = 4, MOST_BYTES = 1 << 16, MOST_SIZES = 9 };
static hg_executor *executor;
static char bytes[2][MOST_BYTES];

/* ---- inputs ---- */

static hg_element any_type(void) {
    static const hg_element usual[] = {HG_TYPE_F32, HG_TYPE_F32,    HG_TYPE_F64, HG_TYPE_I32,
                                       HG_TYPE_I64, HG_TYPE_BF16,   HG_TYPE_F16, HG_TYPE_U8,
                                       HG_TYPE_U64, HG_ELEMENT_BOOL};
    if (rnd(5)) return usual[rnd(sizeof usual / sizeof *usual)];
    return rnd(8) ? (hg_element)rnd(HG_TYPE_COUNT) : HG_ELEMENT_BOOL;
}

static void fill(hg_element type, char *data, uint64_t count) {
    uint64_t size = hg_element_size(type);
    for (uint64_t i = 0; i < count; i++) {
        double value = (double)rnd(13) - 4;
        if (!rnd(3)) value += 0.5;
        if (!rnd(40)) value = rnd(2) ? INFINITY : NAN;
        if (type == HG_ELEMENT_BOOL)
            data[i] = (char)rnd(2);
        else if (hg_type_from_f64((hg_type)type, value, data + i * size) != HG_OK)
            memset(data + i * size, (int)rnd(256), size);
    }
}

/* Another view of it, or itself. */
static hg_tensor *any_view(hg_tensor *t) {
    hg_tensor *view = NULL;
    uint32_t rank = hg_tensor_ndim(t);
    int32_t order[HG_TENSOR_AXES], axis = rank ? (int32_t)rnd(rank) : 0;
    for (uint32_t d = 0; d < rank; d++) order[d] = (int32_t)d;
    hg_status status = HG_ERROR_INVALID_ARGUMENT;
    switch (rnd(5)) {
    case 0: status = hg_tensor_slice(t, axis, -1, INT64_MIN, -1, &view); break;
    case 1: status = hg_tensor_slice(t, axis, (int64_t)rnd(2), INT64_MAX, 2, &view); break;
    case 2:
        if (rank > 1) order[0] = axis, order[axis] = 0;
        status = hg_tensor_permute(t, order, rank, &view);
        break;
    case 3: status = hg_tensor_unsqueeze(t, axis, &view); break;
    default: break;
    }
    if (status != HG_OK) return t;
    hg_tensor_release(t);
    return view;
}

static hg_tensor *any_input(hg_element type, const uint64_t *like, uint32_t like_rank) {
    static char data[MOST_BYTES];
    uint64_t shape[HG_TENSOR_AXES], count = 1;
    uint32_t rank = rnd(20) ? (uint32_t)rnd(5) : HG_TENSOR_AXES;
    bool same = like && rnd(3);
    if (same) rank = like_rank;
    for (uint32_t d = 0; d < rank; d++) {
        shape[d] = same ? like[d] : rnd(12) ? 1 + rnd(rank > 4 ? 2 : 3) : 0;
        if (same && !rnd(12)) shape[d] = 1;
        count *= shape[d];
    }
    hg_tensor *t = NULL;
    fill(type, data, count);
    CHECK_OK(hg_tensor_from_host(rnd(8) ? executor : NULL, type, data, count, shape, rank, &t));
    while (t && rnd(2)) t = any_view(t);
    return t;
}

/* ---- one call ---- */

typedef struct call {
    hg_operation operation;
    uint32_t input_count, result_count;
    hg_tensor *inputs[MOST_INPUTS];
    hg_ops_options options;
    int64_t axes[3];
    uint64_t sizes[MOST_SIZES];
} call;

static void any_options(call *c) {
    hg_ops_options *o = &c->options;
    *o = hg_ops_defaults();
    if (!rnd(3)) o->type = any_type();
    if (rnd(2)) {
        o->axes = c->axes;
        o->axis_count = rnd(4) ? 1 : (uint32_t)rnd(4);
        for (int i = 0; i < 3; i++) c->axes[i] = (int64_t)rnd(6) - 3;
    }
    if (rnd(3)) {
        o->sizes = c->sizes;
        o->size_count = (uint32_t)rnd(MOST_SIZES);
        for (int i = 0; i < MOST_SIZES; i++) c->sizes[i] = rnd(3);
        if (!rnd(20)) c->sizes[rnd(MOST_SIZES)] = rnd(2) ? UINT64_MAX - rnd(3) : UINT64_C(1) << 62;
    }
    o->keepdims = rnd(2);
    o->flag = rnd(2);
    for (int i = 0; i < HG_OPS_NUMBERS; i++)
        if (!rnd(3)) o->numbers[i] = rnd(12) ? (double)rnd(7) - 3 : rnd(2) ? INFINITY : NAN;
}

static hg_status try_call(const call *c, bool in_scope, hg_tensor **results) {
    hg_tensor_scope *scope = NULL;
    if (in_scope) CHECK_OK(hg_scope_begin(executor, &scope));
    hg_status status = hg_ops_call(executor, c->operation, (const hg_tensor *const *)c->inputs,
                                   c->input_count, &c->options, results, c->result_count);
    hg_status ended = hg_scope_end(scope);
    return status == HG_OK ? ended : status;
}

static void compare(const call *c, const char *what, hg_tensor *const *a, hg_tensor *const *b) {
    for (uint32_t i = 0; i < c->result_count; i++) {
        uint64_t n = hg_tensor_numel(a[i]), size = hg_element_size(hg_tensor_type(a[i]));
        bool same = hg_tensor_type(a[i]) == hg_tensor_type(b[i]) &&
                    hg_tensor_ndim(a[i]) == hg_tensor_ndim(b[i]) &&
                    memcmp(hg_tensor_shape(a[i]), hg_tensor_shape(b[i]),
                           hg_tensor_ndim(a[i]) * sizeof(uint64_t)) == 0;
        CHECK_MESSAGE(same, "%s: other shapes or types", what);
        if (!same || n > MOST_BYTES / 512) continue;
        CHECK_OK(hg_tensor_to_host(a[i], bytes[0], n));
        CHECK_OK(hg_tensor_to_host(b[i], bytes[1], n));
        CHECK_MESSAGE(memcmp(bytes[0], bytes[1], n * size) == 0, "%s: other bits", what);
    }
}

static const struct {
    uint32_t least, most, results;
} ROWS[] = {
#define OPERATION(id, name, least, most, results, function, about) {least, most, results},
#include <hologram/operations.def>
#undef OPERATION
};

static bool one(uint64_t seed, hg_operation operation) {
    call c = {.operation = operation};
    hg_tensor *eager[MOST_RESULTS] = {NULL}, *recorded[MOST_RESULTS] = {NULL};
    char what[120];
    random_state = seed * 0x9E3779B97F4A7C15u + 1;
    for (int i = 0; i < 4; i++) rnd(2);
    snprintf(what, sizeof what, "%s (--operation %s --seed %" PRIu64 " --rounds 1)",
             hg_ops_name(operation), hg_ops_name(operation), seed);
    uint32_t least = ROWS[operation].least, most = ROWS[operation].most;
    c.input_count = least + (uint32_t)rnd((most < 4 ? most : least > 4 ? least : 4) - least + 1);
    c.result_count = ROWS[operation].results;
    hg_element type = any_type();
    for (uint32_t i = 0; i < c.input_count; i++) {
        const hg_tensor *first = c.inputs[0];
        c.inputs[i] = any_input(rnd(4) ? type : any_type(), i ? hg_tensor_shape(first) : NULL,
                                i ? hg_tensor_ndim(first) : 0);
    }
    any_options(&c);
    hg_status a = try_call(&c, false, eager), b = try_call(&c, true, recorded);
    CHECK_MESSAGE((a == HG_OK) == (b == HG_OK), "%s: eager %s, in a scope %s: %s", what,
                  hg_status_name(a), hg_status_name(b), hg_last_error_text());
    CHECK_MESSAGE(a != HG_ERROR_INTERNAL && b != HG_ERROR_INTERNAL, "%s: %s", what,
                  hg_last_error_text());
    if (a == HG_OK && b == HG_OK) compare(&c, what, eager, recorded);
    for (uint32_t i = 0; i < MOST_RESULTS; i++)
        hg_tensor_release(eager[i]), hg_tensor_release(recorded[i]);
    for (uint32_t i = 0; i < c.input_count; i++) hg_tensor_release(c.inputs[i]);
    return a == HG_OK;
}

/* ---- expressions ---- */

enum { INPUTS = 4, STEPS = 20, MOST_VALUES = INPUTS + STEPS };
typedef struct expression {
    hg_tensor *values[MOST_VALUES];
    uint32_t count;
    uint64_t refused; /* bit k: step k was */
} expression;

/* Broadcasts with the others. */
static hg_tensor *small_input(void) {
    static const uint64_t shapes[][2] = {{3, 4}, {1, 4}, {3, 1}, {4, 3}};
    float data[12];
    const uint64_t *shape = shapes[rnd(4)];
    hg_tensor *t = NULL;
    for (int i = 0; i < 12; i++) data[i] = (float)rnd(17) / 4 - 2;
    CHECK_OK(hg_tensor_from_host(executor, HG_TYPE_F32, data, shape[0] * shape[1], shape, 2, &t));
    return t;
}

static hg_status any_step(const expression *x, hg_tensor **result) {
    static const hg_operation pairs[] = {HG_OPS_ADD, HG_OPS_ADD,     HG_OPS_SUB,     HG_OPS_MUL,
                                         HG_OPS_MUL, HG_OPS_DIV,     HG_OPS_MAXIMUM, HG_OPS_LESS,
                                         HG_OPS_POW, HG_OPS_MINIMUM, HG_OPS_MATMUL,  HG_OPS_OUTER};
    static const hg_operation singles[] = {
        HG_OPS_NEG,  HG_OPS_RELU,    HG_OPS_EXP, HG_OPS_ABS, HG_OPS_SQUARE,         HG_OPS_TANH,
        HG_OPS_GELU, HG_OPS_SOFTMAX, HG_OPS_SUM, HG_OPS_MAX, HG_OPS_CUMULATIVE_SUM, HG_OPS_SORT,
        HG_OPS_FLOOR};
    int64_t axis = (int64_t)rnd(2);
    hg_ops_options o = hg_ops_defaults();
    o.axes = &axis;
    o.axis_count = 1;
    const hg_tensor *in[3];
    for (int i = 0; i < 3; i++) in[i] = x->values[rnd(x->count)];
    uint32_t kind = (uint32_t)rnd(8);
    if (kind < 4)
        return hg_ops_call(executor, pairs[rnd(sizeof pairs / sizeof *pairs)], in, 2, NULL, result,
                           1);
    if (kind == 4) return hg_ops_call(executor, HG_OPS_WHERE, in, 3, NULL, result, 1);
    if (kind == 5 && hg_tensor_ndim(in[0]) == 2) {
        hg_status status = rnd(2) ? hg_tensor_transpose(in[0], result)
                                  : hg_tensor_slice(in[0], 0, -1, INT64_MIN, -1, result);
        return status;
    }
    o.keepdims = kind != 7;
    return hg_ops_call(executor, singles[rnd(sizeof singles / sizeof *singles)], in, 1, &o, result,
                       1);
}

/* The same with the same seed. Some of what it made is let go of, as users do. */
static void work_out(expression *x, uint64_t seed, bool in_scope) {
    hg_tensor_scope *scope = NULL;
    random_state = seed * 0x9E3779B97F4A7C15u + 1;
    *x = (expression){.count = 0};
    while (x->count < INPUTS) x->values[x->count++] = small_input();
    if (in_scope) CHECK_OK(hg_scope_begin(executor, &scope));
    for (uint32_t k = 0; k < STEPS; k++) {
        hg_tensor *made = NULL;
        if (any_step(x, &made) == HG_OK)
            x->values[x->count++] = made;
        else
            x->refused |= UINT64_C(1) << k;
        const hg_tensor *last = x->values[x->count - 1];
        if (!rnd(30)) CHECK_OK(hg_tensor_to_host(last, bytes[0], hg_tensor_numel(last)));
    }
    for (uint32_t k = INPUTS; k + 1 < x->count; k++)
        if (rnd(2)) hg_tensor_release(x->values[k]), x->values[k] = NULL;
    CHECK_OK(hg_scope_end(scope));
}

static void express(uint64_t seed) {
    expression ways[2];
    char what[80];
    snprintf(what, sizeof what, "--seed %" PRIu64 " --expressions 1", seed);
    for (int way = 0; way < 2; way++) work_out(&ways[way], seed, way);
    CHECK_MESSAGE(ways[0].refused == ways[1].refused, "%s: other steps are refused", what);
    const call one = {.result_count = 1};
    for (uint32_t k = 0; k < ways[0].count && ways[0].refused == ways[1].refused; k++)
        if (ways[0].values[k]) compare(&one, what, &ways[0].values[k], &ways[1].values[k]);
    for (int way = 0; way < 2; way++)
        for (uint32_t k = 0; k < ways[way].count; k++) hg_tensor_release(ways[way].values[k]);
}

int main(int count, char **arguments) {
    uint64_t rounds = rounds_here(4, 1), seed = 1, done = 0, all = 0;
    uint64_t expressions = rounds_here(1000, 60);
    hg_operation only = HG_OPS_COUNT;
    hg_config config = hg_config_default();
    memcpy(config.backend, "cpu", 4);
    memcpy(config.jit, "off", 4);
    config.max_memory = 64 << 20; /* large results are refused */
    CHECK_OK(hg_executor_create_from_config(&config, &executor));
    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(arguments[i], "--rounds") == 0) rounds = strtoull(arguments[i + 1], NULL, 10);
        if (strcmp(arguments[i], "--expressions") == 0) {
            expressions = strtoull(arguments[i + 1], NULL, 10);
            rounds = 0;
        }
        if (strcmp(arguments[i], "--seed") == 0) seed = strtoull(arguments[i + 1], NULL, 10);
        if (strcmp(arguments[i], "--operation") == 0)
            CHECK_OK(hg_ops_find(arguments[i + 1], &only));
    }
    for (uint64_t r = 0; r < rounds && test_failed < 20; r++)
        for (int o = 0; o < HG_OPS_COUNT && test_failed < 20; o++) {
            if (only != HG_OPS_COUNT && (int)only != o) continue;
            done += one(seed + r, (hg_operation)o);
            all++;
        }
    for (uint64_t k = 0; k < expressions && only == HG_OPS_COUNT && test_failed < 20; k++)
        express(seed + k);
    CHECK_MESSAGE(only != HG_OPS_COUNT || !all || done * 10 > all,
                  "only %d of %d calls are sensible", (int)done, (int)all);
    hg_executor_destroy(executor);
    return test_done();
}
