/* threefold: out = factor * (activation(x w v) + bias) + offset * skip, last = the last column of x
 * w v; x has strides, bias serves `every` columns. Two products through scratch memory and what
 * comes after them. */
#include "kir/define/define.h"
#include "kir/sugar.h"
#include "plan/steps/steps.h"
#include "plan/steps/writer.h"

enum {
    X,
    W,
    V,
    BIAS,
    SKIP,
    OUT,
    LAST,
    M,
    N,
    K,
    P,
    LDW,
    LDV,
    LDS,
    LDO,
    EVERY,
    STRIDES,
    FACTOR,
    OFFSET,
    ACTIVATION,
    NEGATE
};

static uint64_t size_of(const plan_call *call, uint32_t operand) {
    return plan_number(call, operand, 0);
}

static void at_least(const plan_call *call, plan_problem *problem, uint32_t operand,
                     uint64_t least) {
    if (size_of(call, operand) < least)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, operand, "%llu, at least %llu expected",
                    (unsigned long long)size_of(call, operand), (unsigned long long)least);
}

static void check(const plan_call *call, plan_problem *problem) {
    for (uint32_t i = M; i <= P; i++) at_least(call, problem, i, 1);
    at_least(call, problem, LDW, size_of(call, N));
    at_least(call, problem, LDV, size_of(call, P));
    at_least(call, problem, LDS, size_of(call, P));
    at_least(call, problem, LDO, size_of(call, P));
    at_least(call, problem, EVERY, 1);
    if (call->operands[STRIDES].count != 2)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, STRIDES,
                    "%u strides for an array of 2 dimensions",
                    (unsigned)call->operands[STRIDES].count);
}

static void matrix(const plan_call *call, uint32_t operand, uint64_t rows, uint64_t columns,
                   uint64_t row, uint64_t column) {
    plan_array *a = plan_array_of(call, operand);
    if (a)
        plan_array_strides(a, 2, (const uint64_t[]){rows, columns},
                           (const int64_t[]){(int64_t)row, (int64_t)column});
}

static void ranges(plan_call *call) {
    uint64_t m = size_of(call, M), n = size_of(call, N), k = size_of(call, K), p = size_of(call, P),
             every = size_of(call, EVERY);
    uint64_t biases = p ? (p - 1) / every + 1 : 0;
    matrix(call, X, m, k, plan_number(call, STRIDES, 0), plan_number(call, STRIDES, 1));
    matrix(call, W, k, n, size_of(call, LDW), 1);
    matrix(call, V, n, p, size_of(call, LDV), 1);
    matrix(call, BIAS, 1, biases, biases, 1);
    matrix(call, SKIP, m, p, size_of(call, LDS), 1);
    matrix(call, OUT, m, p, size_of(call, LDO), 1);
    matrix(call, LAST, 1, m, m, 1);
}

/* ---- a product: c[i, j] = sum of a[i, l] b[l, j], a lane an element ---- */

enum { COLUMNS, INNER, A_ROW, A_COLUMN, B_ROW, PRODUCT_VALUES };

static kir_value *element(expand_kernel *w, uint32_t array, kir_value *index) {
    hg_type type = (hg_type)w->key->type;
    return expand_load(w, kir_type_of(type), array,
                       by(&w->b, KIR_MUL, index, hg_type_size_bytes(type)));
}

static void set_element(expand_kernel *w, uint32_t array, kir_value *index, kir_value *value) {
    expand_store(w, array, by(&w->b, KIR_MUL, index, hg_type_size_bytes((hg_type)w->key->type)),
                 value);
}

static kir_value *operate(expand_kernel *w, uint16_t fn, kir_value *x, kir_value *y) {
    return kir_operate(&w->b, fn, (hg_type)w->key->type, (kir_value *[]){x, y});
}

static kir_module *make_product(const plan_kernel_key *key) {
    expand_kernel w;
    expand_begin(&w, key, "threefold_product");
    kir_builder *b = &w.b;
    if (b->failed) return expand_end(&w);
    uint8_t type = kir_type_of((hg_type)key->type);
    kir_value *lane = expand_id(&w, HG_ID_GLOBAL_LANE_ID, HG_TYPE_U64),
              *columns = expand_value(&w, COLUMNS);
    kir_value *i = kir_binary(b, KIR_UDIV, lane, columns),
              *j = kir_binary(b, KIR_UREM, lane, columns);
    kir_var *sum = kir_var_create(b->module, b->function, type, 0, "sum"),
            *at = kir_var_create(b->module, b->function, HG_TYPE_U64, 0, "at");
    kir_set(b, sum, kir_const(b, type, 0));
    kir_set(b, at, u64(b, 0));
    kir_value *loop = kir_loop_begin(b, true), *l = kir_get(b, at);
    kir_value *done = kir_if_begin(b, kir_not(b, below(b, l, expand_value(&w, INNER))));
    kir_break(b);
    kir_if_end(b, done);
    kir_value *row = kir_mul(b, i, expand_value(&w, A_ROW)),
              *column = kir_mul(b, l, expand_value(&w, A_COLUMN));
    kir_value *x = element(&w, 0, kir_add(b, row, column));
    kir_value *y = element(&w, 1, kir_add(b, kir_mul(b, l, expand_value(&w, B_ROW)), j));
    kir_value *so_far = kir_get(b, sum);
    kir_set(b, sum, operate(&w, HG_OP_ADD, so_far, operate(&w, HG_OP_MUL, x, y)));
    kir_set(b, at, by(b, KIR_ADD, l, 1));
    kir_loop_end(b, loop);
    set_element(&w, 2, lane, kir_get(b, sum));
    return expand_end(&w);
}

/* ---- what comes after them ---- */

enum { SUMS, TO_OUT, TO_LAST, FROM_SKIP, FROM_BIAS };
enum { WIDTH, OUT_ROW, SKIP_ROW, BIAS_EVERY, FACTOR_VALUE, OFFSET_VALUE, END_VALUES };
enum { NEGATED = 1 };

static kir_module *make_end(const plan_kernel_key *key) {
    expand_kernel w;
    expand_begin(&w, key, "threefold_end");
    kir_builder *b = &w.b;
    hg_type type = (hg_type)key->type;
    kir_value *lane = expand_id(&w, HG_ID_GLOBAL_LANE_ID, HG_TYPE_U64),
              *width = expand_value(&w, WIDTH);
    kir_value *i = kir_binary(b, KIR_UDIV, lane, width), *q = kir_binary(b, KIR_UREM, lane, width),
              *sum = element(&w, SUMS, lane);
    kir_value *value = kir_operate(b, key->fn, type, &sum);
    if (key->arrays > FROM_BIAS)
        value = operate(
            &w, HG_OP_ADD, value,
            element(&w, FROM_BIAS, kir_binary(b, KIR_UDIV, q, expand_value(&w, BIAS_EVERY))));
    value = operate(&w, HG_OP_MUL, expand_scalar(&w, FACTOR_VALUE, kir_type_of(type)), value);
    kir_value *skip = element(&w, FROM_SKIP,
                              kir_add(b, kir_mul(b, i, expand_value(&w, SKIP_ROW)), q));
    value = operate(
        &w, HG_OP_ADD, value,
        operate(&w, HG_OP_MUL, expand_scalar(&w, OFFSET_VALUE, kir_type_of(type)), skip));
    if (key->choice & NEGATED) value = kir_operate(b, HG_OP_NEG, type, &value);
    set_element(&w, TO_OUT, kir_add(b, kir_mul(b, i, expand_value(&w, OUT_ROW)), q), value);
    kir_value *branch = kir_if_begin(b, equal(b, by(b, KIR_ADD, q, 1), width));
    set_element(&w, TO_LAST, i, sum);
    kir_if_end(b, branch);
    return expand_end(&w);
}

static plan_part part_of(const plan_call *call, uint32_t operand) {
    return plan_whole(call, (uint32_t)(plan_array_of(call, operand) - call->arrays));
}

static void expand(const plan_call *call, plan_expansion *x) {
    uint64_t m = size_of(call, M), n = size_of(call, N), k = size_of(call, K), p = size_of(call, P),
             size = hg_type_size_bytes((hg_type)call->type);
    plan_part first = plan_scratch(x, m, n * size), second = plan_scratch(x, m, p * size);
    plan_kernel_key product = {
        .make = make_product, .type = call->type, .arrays = 3, .values = PRODUCT_VALUES};
    plan_expand_launch(x, &product, m * n, 64, 0,
                       (plan_part[]){part_of(call, X), part_of(call, W), first},
                       (uint64_t[]){n, k, plan_number(call, STRIDES, 0),
                                    plan_number(call, STRIDES, 1), size_of(call, LDW)});
    plan_expand_launch(x, &product, m * p, 64, 0, (plan_part[]){first, part_of(call, V), second},
                       (uint64_t[]){p, n, n, 1, size_of(call, LDV)});
    bool bias = plan_array_of(call, BIAS) != NULL;
    plan_kernel_key end = {.make = make_end,
                           .fn = call->fn,
                           .type = call->type,
                           .arrays = bias ? 5 : 4,
                           .values = END_VALUES};
    end.choice = size_of(call, NEGATE) ? NEGATED : 0;
    plan_part parts[5] = {second, part_of(call, OUT), part_of(call, LAST), part_of(call, SKIP)};
    if (bias) parts[4] = part_of(call, BIAS);
    plan_expand_launch(x, &end, m * p, 64, 0, parts,
                       (uint64_t[]){p, size_of(call, LDO), size_of(call, LDS), size_of(call, EVERY),
                                    size_of(call, FACTOR), size_of(call, OFFSET)});
}

static plan_cost cost(const plan_call *call) {
    uint64_t m = size_of(call, M), n = size_of(call, N);
    return (plan_cost){plan_call_bytes(call), 2 * m * n * (size_of(call, K) + size_of(call, P))};
}

const plan_collective plan_collective_threefold = {
    .check = check, .ranges = ranges, .expand = expand, .cost = cost};
