/* Integers that the text says: scalars that are worked out of constants, and the rounds of loops
 * that count them. */
#include "hlo/operations.h"
#include <string.h>

static bool is_integer(const mlir_type *t) {
    const char *name = mlir_type_name(t);
    return t->rank == 0 && !t->complex && (*name == 'i' || *name == 'u');
}

bool mlir_known(const mlir_tensor *t, int64_t *value) {
    if (!t || t->kind != MLIR_SPLAT || !is_integer(&t->type) || !t->bytes) return false;
    size_t size = hg_type_size_bytes((hg_type)t->type.element);
    uint64_t bits = 0;
    for (size_t i = size; i-- > 0;) bits = bits << 8 | t->bytes[i];
    bool negative = *mlir_type_name(&t->type) == 'i' && size < 8 && bits >> (8 * size - 1) & 1;
    *value = (int64_t)(negative ? bits | ~UINT64_C(0) << 8 * size : bits);
    return size < 8 || *mlir_type_name(&t->type) == 'i' || bits <= INT64_MAX;
}

static bool compare(const mlir_op *op, int64_t a, int64_t b, int64_t *value) {
    static const char *const NAMES[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
    const bool answers[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
    bool found = false;
    for (uint32_t i = 0; i < op->word_count; i++)
        for (int k = 0; k < 6; k++)
            if (mlir_is(&op->word[i], NAMES[k])) *value = answers[k], found = true;
    return found;
}

static bool is_signed(const mlir_type *t) { return *mlir_type_name(t) == 'i'; }

/* The greatest integer of the type; of 64 bits that of i64. */
static int64_t greatest(const mlir_type *t) {
    size_t size = hg_type_size_bytes((hg_type)t->element);
    return size == 8 ? INT64_MAX : (INT64_C(1) << (8 * size - is_signed(t))) - 1;
}

/* Of numbers that are near enough to 0 that nothing wraps. */
static bool fold(const mlir_op *op, const int64_t *x, uint32_t count, int64_t *value) {
    const mlir_word *name = &op->name;
    for (uint32_t i = 0; i < count; i++)
        if (x[i] > INT32_MAX || x[i] < INT32_MIN) return false;
    if (mlir_is(name, "stablehlo.compare") && count == 2) return compare(op, x[0], x[1], value);
    if (mlir_is(name, "stablehlo.convert") && count == 1) return *value = x[0], true;
    if (mlir_is(name, "stablehlo.select") && count == 3) return *value = x[0] ? x[1] : x[2], true;
    if (count != 2) return false;
    if (mlir_is(name, "stablehlo.add")) return *value = x[0] + x[1], true;
    if (mlir_is(name, "stablehlo.subtract")) return *value = x[0] - x[1], true;
    if (mlir_is(name, "stablehlo.multiply")) return *value = x[0] * x[1], true;
    if (mlir_is(name, "stablehlo.minimum")) return *value = x[0] < x[1] ? x[0] : x[1], true;
    if (mlir_is(name, "stablehlo.maximum")) return *value = x[0] > x[1] ? x[0] : x[1], true;
    return false;
}

bool mlir_fold(mlir_lower *w, const mlir_op *op, mlir_tensor *t) {
    int64_t x[3], value = 0, least, most;
    if (op->operand_count == 0 || op->operand_count > 3 || op->result_count != 1 ||
        !is_integer(&t->type))
        return false;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (!mlir_known(t->in[i], &x[i])) return false;
    size_t size = hg_type_size_bytes((hg_type)t->type.element);
    most = greatest(&t->type);
    least = is_signed(&t->type) ? -most - 1 : 0;
    bool compares = mlir_is(&op->name, "stablehlo.compare");
    if (compares != t->type.truth ||
        (compares && !mlir_same_elements(&t->in[0]->type, &t->in[1]->type)) ||
        !fold(op, x, op->operand_count, &value) || value < least || value > most)
        return false;
    uint8_t *bytes = mlir_make(w, size);
    for (size_t i = 0; bytes && i < size; i++) bytes[i] = (uint8_t)((uint64_t)value >> 8 * i);
    t->kind = MLIR_SPLAT;
    t->bytes = bytes;
    t->cost = 0;
    return bytes != NULL;
}

/* ---- rounds ---- */

static const mlir_op *maker(const mlir_region *region, uint32_t value) {
    for (const mlir_op *op = region->first; op; op = op->next)
        if (value >= op->results && value < op->results + op->result_count) return op;
    return NULL;
}

/* A constant of the region, or a value that is known outside. Its own arguments are another round's
 * or another call's. */
static bool constant(mlir_lower *w, const mlir_region *region, uint32_t value, int64_t *x) {
    const mlir_op *op = maker(region, value);
    for (uint32_t i = 0; i < region->arg_count; i++)
        if (region->args[i] == value) return false;
    if (!op) return mlir_known(w->env[value], x);
    mlir_tensor t = {.kind = MLIR_SPLAT, .bytes = op->constant.bytes};
    if (!op->types || op->result_count != 1) return false;
    t.type = op->types[0];
    return mlir_is(&op->name, "stablehlo.constant") && mlir_known(&t, x);
}

static const mlir_op *last_of(const mlir_region *region) {
    const mlir_op *op = region->first;
    while (op && op->next) op = op->next;
    return op;
}

/* Rounds of "while (argument k < limit) argument k += step"; 0: it is another loop. */
uint64_t mlir_rounds(mlir_lower *w, const mlir_region *cond, const mlir_region *body,
                     mlir_tensor *const *start, uint32_t count) {
    const mlir_op *end = last_of(cond), *next = last_of(body), *test, *add;
    int64_t first, limit, step, yes = 0;
    uint32_t k = 0;
    if (!end || end->operand_count != 1 || !next || next->operand_count != count) return 0;
    test = maker(cond, end->operands[0]);
    if (!test || !mlir_is(&test->name, "stablehlo.compare") || test->operand_count != 2 ||
        !compare(test, 0, 1, &yes) || !yes || !compare(test, 1, 1, &yes) || yes ||
        !compare(test, 2, 1, &yes) || yes)
        return 0;
    while (k < count && cond->args[k] != test->operands[0]) k++;
    if (k == count || !mlir_known(start[k], &first) ||
        !constant(w, cond, test->operands[1], &limit))
        return 0;
    add = maker(body, next->operands[k]);
    if (!add || !mlir_is(&add->name, "stablehlo.add") || add->operand_count != 2) return 0;
    bool left = add->operands[0] == body->args[k];
    if (!constant(w, body, add->operands[left ? 1 : 0], &step) ||
        add->operands[left ? 0 : 1] != body->args[k])
        return 0;
    if (step <= 0 || step > INT32_MAX || limit > INT32_MAX || first < INT32_MIN || first >= limit ||
        limit - 1 + step > greatest(&start[k]->type))
        return 0;
    return (uint64_t)((limit - first + step - 1) / step);
}

uint64_t mlir_count(const mlir_region *region) {
    uint64_t count = 0;
    for (const mlir_op *op = region->first; op; op = op->next) count++;
    return count;
}
