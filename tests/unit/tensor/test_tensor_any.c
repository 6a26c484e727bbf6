/* Every operation with inputs, layouts and options at random, sensible ones and others, and
 * expressions of many operations, eager and in a scope: both refuse, or both give the same bits;
 * nothing crashes (under AddressSanitizer too). Products of views of views, against sums in C.
 * test_tensor_any [--rounds N] [--seed N] [--operation NAME] [--expressions N] [--products N]
 *                 [--backend NAME] [--steps N]
 * --expressions, --products: only these; --steps: operations of an expression, 20 unless told. */
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
static uint32_t steps = STEPS; /* fewer where compilers take long */
typedef struct expression {
    hg_tensor *values[MOST_VALUES];
    uint32_t count;
    uint64_t refused; /* bit k: step k was */
    bool too_long;    /* for the device's compiler: a scope refuses that when it ends */
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

static const char TOO_LONG[] = "operations, this device's compiler takes";

/* The same with the same seed. Some of what it made is let go of, as users do. */
static void work_out(expression *x, uint64_t seed, bool in_scope) {
    hg_tensor_scope *scope = NULL;
    random_state = seed * 0x9E3779B97F4A7C15u + 1;
    *x = (expression){.count = 0};
    while (x->count < INPUTS) x->values[x->count++] = small_input();
    if (in_scope) CHECK_OK(hg_scope_begin(executor, &scope));
    for (uint32_t k = 0; k < steps; k++) {
        hg_tensor *made = NULL;
        if (any_step(x, &made) == HG_OK) {
            x->values[x->count++] = made;
        } else {
            x->refused |= UINT64_C(1) << k;
            x->too_long = x->too_long || strstr(hg_last_error_text(), TOO_LONG);
        }
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
    work_out(&ways[0], seed, false);
    const int done = ways[0].too_long ? 1 : 2;
    if (done == 1)
        SKIP("a step is too long for the device's compiler");
    else
        work_out(&ways[1], seed, true);
    bool alike = done == 2 && ways[0].refused == ways[1].refused;
    CHECK_MESSAGE(alike || done == 1, "%s: other steps are refused", what);
    const call one = {.result_count = 1};
    for (uint32_t k = 0; k < ways[0].count && alike; k++)
        if (ways[0].values[k]) compare(&one, what, &ways[0].values[k], &ways[1].values[k]);
    for (int way = 0; way < done; way++)
        for (uint32_t k = 0; k < ways[way].count; k++) hg_tensor_release(ways[way].values[k]);
}

/* ---- products of views ---- */

/* How a matrix, or several, lies in memory: axes in another order, each as it is, backwards, every
 * second element, or the same element again. */
typedef struct layout {
    uint32_t rank;
    int32_t order[HG_TENSOR_AXES]; /* axis of the memory for each axis of the view */
    uint64_t memory[HG_TENSOR_AXES], shape[HG_TENSOR_AXES];
    int kinds[HG_TENSOR_AXES];
} layout;
enum { AS_IT_IS, BACKWARDS, EVERY_SECOND, REPEATED, LAYOUT_KINDS };
enum { MOST_MEMORY = 1 << 19 };

static layout any_layout(const uint64_t *shape, uint32_t rank) {
    layout l = {.rank = rank};
    bool plain = !rnd(3), matrix = rnd(2); /* all, or the last two axes, as they are */
    for (uint32_t d = 0; d < rank; d++) l.order[d] = (int32_t)d;
    if (rnd(2)) { /* matrices the other way round, and nothing else */
        l.order[rank - 1]--;
        l.order[rank - 2]++;
    } else {
        for (uint32_t d = rank; d-- > 1;) {
            uint32_t other = (uint32_t)rnd(d + 1);
            int32_t axis = l.order[d];
            l.order[d] = l.order[other];
            l.order[other] = axis;
        }
    }
    for (uint32_t d = 0; d < rank; d++) {
        l.shape[d] = shape[d];
        l.kinds[d] = plain || (matrix && d + 2 >= rank) || rnd(2) ? AS_IT_IS
                                                                  : (int)rnd(LAYOUT_KINDS);
        uint64_t *memory = &l.memory[l.order[d]];
        *memory = l.kinds[d] == EVERY_SECOND ? 2 * shape[d] + 1
                  : l.kinds[d] == REPEATED   ? 1
                                             : shape[d];
    }
    return l;
}

static hg_status step_of(hg_tensor **t, hg_status status, hg_tensor *view) {
    if (status != HG_OK) return status;
    hg_tensor_release(*t);
    *t = view;
    return HG_OK;
}

/* `memory` seen through the layout; it stays the caller's. */
static hg_tensor *seen_through(const layout *l, const hg_tensor *memory) {
    hg_tensor *t = NULL, *view = NULL;
    hg_status status = hg_tensor_permute(memory, l->order, l->rank, &t);
    for (uint32_t d = 0; d < l->rank && status == HG_OK; d++) {
        if (l->kinds[d] == BACKWARDS)
            status = hg_tensor_slice(t, (int32_t)d, -1, INT64_MIN, -1, &view);
        else if (l->kinds[d] == EVERY_SECOND)
            status = hg_tensor_slice(t, (int32_t)d, 1, INT64_MAX, 2, &view);
        else
            continue;
        status = step_of(&t, status, view);
    }
    if (status == HG_OK) {
        status = hg_tensor_broadcast_to(t, l->shape, l->rank, &view);
        status = step_of(&t, status, view);
    }
    CHECK_OK(status);
    return t;
}

/* Small whole numbers, so that floats sum exactly. */
static hg_tensor *whole_numbers(hg_element type, const layout *l) {
    static char data[MOST_MEMORY];
    uint64_t count = 1, size = hg_element_size(type);
    hg_tensor *t = NULL;
    bool good = true;
    for (uint32_t d = 0; d < l->rank; d++) count *= l->memory[d];
    for (uint64_t i = 0; i < count; i++) {
        double number = (double)rnd(9) - (type == HG_TYPE_U8 ? 0 : 4);
        good &= hg_type_from_f64((hg_type)type, number, data + i * size) == HG_OK;
    }
    CHECK(good);
    CHECK_OK(hg_tensor_from_host(executor, type, data, count, l->memory, l->rank, &t));
    return t;
}

static double number_at(hg_element type, const char *data, uint64_t at) {
    double number = NAN;
    return hg_type_to_f64((hg_type)type, data + at * hg_element_size(type), &number) == HG_OK
               ? number
               : NAN;
}

/* a times b, of `matrices` of each, elements of their types on the host. */
static void multiply(hg_element type, hg_element result, const char *a, const char *b, char *c,
                     const uint64_t *extents, uint64_t matrices) {
    uint64_t m = extents[0], k = extents[1], n = extents[2];
    bool good = true;
    for (uint64_t at = 0; at < matrices * m * n; at++) {
        uint64_t row = at / n, column = at % n, z = row / m;
        double sum = 0;
        for (uint64_t l = 0; l < k; l++)
            sum += number_at(type, a, row * k + l) * number_at(type, b, (z * k + l) * n + column);
        good &= hg_type_from_f64((hg_type)result, sum, c + at * hg_element_size(result)) == HG_OK;
    }
    CHECK(good);
}

/* The views as they are; in a scope, of memory that is made there: both as the sums say. */
static void product(uint64_t seed) {
    static const hg_element TYPES[] = {HG_TYPE_F32, HG_TYPE_F64, HG_TYPE_F16, HG_TYPE_I32,
                                       HG_TYPE_I8,  HG_TYPE_U8,  HG_TYPE_F32, HG_TYPE_BF16};
    static const uint64_t MOST[] = {40, 16, 6, 6}; /* by the axes of the batch */
    static char sides[2][MOST_BYTES], want[MOST_BYTES];
    random_state = seed * 0x9E3779B97F4A7C15u + 1;
    for (int i = 0; i < 4; i++) rnd(2);
    hg_element type = TYPES[rnd(sizeof TYPES / sizeof *TYPES)];
    bool is_byte = type == HG_TYPE_I8 || type == HG_TYPE_U8;
    hg_element result = is_byte ? HG_TYPE_I32 : type;
    uint64_t extents[3], shapes[2][HG_TENSOR_AXES], matrices = 1;
    uint32_t batch = (uint32_t)rnd(4);
    for (int i = 0; i < 3; i++) extents[i] = 1 + rnd(rnd(4) ? 6 : MOST[batch]);
    for (uint32_t d = 0; d < batch; d++) matrices *= shapes[0][d] = shapes[1][d] = 1 + rnd(3);
    for (int i = 0; i < 2; i++)
        shapes[i][batch] = extents[i], shapes[i][batch + 1] = extents[i + 1];
    layout of[2] = {any_layout(shapes[0], batch + 2), any_layout(shapes[1], batch + 2)};
    hg_tensor *memory[2] = {whole_numbers(type, &of[0]), whole_numbers(type, &of[1])};
    for (int way = 0; way < 2; way++) {
        hg_tensor *in[2] = {NULL}, *made[2] = {NULL}, *own = NULL;
        hg_tensor_scope *scope = NULL;
        hg_operation operation = is_byte ? HG_OPS_MATMUL_INTEGER : HG_OPS_MATMUL;
        if (way) CHECK_OK(hg_scope_begin(executor, &scope));
        for (int i = 0; i < 2; i++) {
            if (way) CHECK_OK(hg_ops_positive(executor, memory[i], &made[i]));
            in[i] = seen_through(&of[i], way ? made[i] : memory[i]);
        }
        hg_status status = hg_ops_call(executor, operation, (const hg_tensor *const *)in, 2, NULL,
                                       &own, 1);
        hg_status ended = hg_scope_end(scope);
        for (int i = 0; i < 2 && !way; i++)
            CHECK_OK(hg_tensor_to_host(in[i], sides[i], hg_tensor_numel(in[i])));
        if (!way) multiply(type, result, sides[0], sides[1], want, extents, matrices);
        uint64_t count = matrices * extents[0] * extents[2];
        CHECK_MESSAGE(status == HG_OK && ended == HG_OK, "--seed %" PRIu64 " --products 1: %s",
                      seed, hg_last_error_text());
        if (status == HG_OK && ended == HG_OK) {
            CHECK_OK(hg_tensor_to_host(own, bytes[0], count));
            CHECK_MESSAGE(memcmp(bytes[0], want, count * hg_element_size(result)) == 0,
                          "--seed %" PRIu64 " --products 1: %s other sums than by hand", seed,
                          way ? "in a scope" : "at once");
        }
        hg_tensor_release(own);
        for (int i = 0; i < 2; i++) hg_tensor_release(in[i]), hg_tensor_release(made[i]);
    }
    for (int i = 0; i < 2; i++) hg_tensor_release(memory[i]);
}

int main(int count, char **arguments) {
    uint64_t rounds = rounds_here(4, 1), seed = 1, done = 0, all = 0;
    uint64_t expressions = rounds_here(1000, 60), products = rounds_here(600, 40);
    hg_operation only = HG_OPS_COUNT;
    hg_config config = hg_config_default();
    memcpy(config.backend, "cpu", 4);
    memcpy(config.jit, "off", 4);
    config.max_memory = 64 << 20; /* large results are refused */
    for (int i = 1; i + 1 < count; i += 2)
        if (strcmp(arguments[i], "--backend") == 0)
            snprintf(config.backend, sizeof config.backend, "%s", arguments[i + 1]);
    hg_status there = hg_executor_create_from_config(&config, &executor);
    if (there == HG_ERROR_BACKEND_UNAVAILABLE) {
        SKIP(hg_last_error_text());
        return test_done();
    }
    CHECK_OK(there);
    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(arguments[i], "--rounds") == 0) rounds = strtoull(arguments[i + 1], NULL, 10);
        if (strcmp(arguments[i], "--expressions") == 0) {
            expressions = strtoull(arguments[i + 1], NULL, 10);
            rounds = products = 0;
        }
        if (strcmp(arguments[i], "--steps") == 0) {
            uint64_t given = strtoull(arguments[i + 1], NULL, 10);
            steps = given < STEPS ? (uint32_t)given : STEPS;
        }
        if (strcmp(arguments[i], "--products") == 0) {
            products = strtoull(arguments[i + 1], NULL, 10);
            rounds = expressions = 0;
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
    for (uint64_t k = 0; k < products && only == HG_OPS_COUNT && test_failed < 20; k++)
        product(seed + k);
    CHECK_MESSAGE(only != HG_OPS_COUNT || !all || done * 10 > all,
                  "only %d of %d calls are sensible", (int)done, (int)all);
    hg_executor_destroy(executor);
    return test_done();
}
