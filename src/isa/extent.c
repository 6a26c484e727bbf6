/* Extents: numbers, parameters and expressions over both, with exact values. Every step of an
 * expression has a value from 0 to 2^64 - 1.
 * Must not know: text, the binary container, what a launch binds. */
#include "isa/program.h"

bool hg_program_add_extent_op(hg_program *p, hg_extent_op op) {
    if (p->extent_op_count == p->extent_op_capacity) {
        uint32_t capacity = p->extent_op_capacity ? 2 * p->extent_op_capacity : 16;
        hg_extent_op *grown = hg_arena_alloc(&p->arena, capacity * sizeof *grown);
        if (!grown) return false;
        for (uint32_t i = 0; i < p->extent_op_count; i++) grown[i] = p->extent_ops[i];
        p->extent_ops = grown;
        p->extent_op_capacity = capacity;
    }
    p->extent_ops[p->extent_op_count++] = op;
    return true;
}

hg_extent_status hg_extent_apply(hg_extent_op_kind kind, uint64_t a, uint64_t b, uint64_t *value) {
    switch (kind) {
    case HG_EXTENT_OP_ADD:
        *value = a + b;
        return *value < a ? HG_EXTENT_TOO_LARGE : HG_EXTENT_KNOWN;
    case HG_EXTENT_OP_SUB: *value = a - b; return a < b ? HG_EXTENT_BELOW_ZERO : HG_EXTENT_KNOWN;
    case HG_EXTENT_OP_MUL: return hg_mul_u64(a, b, value) ? HG_EXTENT_KNOWN : HG_EXTENT_TOO_LARGE;
    case HG_EXTENT_OP_DIV:
    case HG_EXTENT_OP_CEIL_DIV:
        if (b == 0) return HG_EXTENT_BY_ZERO;
        *value = a / b + (kind == HG_EXTENT_OP_CEIL_DIV && a % b != 0);
        return HG_EXTENT_KNOWN;
    case HG_EXTENT_OP_MIN: *value = a < b ? a : b; return HG_EXTENT_KNOWN;
    case HG_EXTENT_OP_MAX: *value = a > b ? a : b; return HG_EXTENT_KNOWN;
    default: return HG_EXTENT_UNKNOWN;
    }
}

/* ---- an expression as a tree: node i is the operation i ---- */

bool hg_extent_tree_make(const hg_program *p, const hg_extent *e, hg_extent_tree *tree) {
    uint8_t stack[HG_MAX_EXTENT_OPS];
    uint32_t height = 0;
    if (e->op_count == 0 || e->op_count > HG_MAX_EXTENT_OPS || e->value > p->extent_op_count ||
        p->extent_op_count - e->value < e->op_count)
        return false;
    tree->ops = &p->extent_ops[e->value];
    tree->root = (uint8_t)(e->op_count - 1);
    for (uint32_t i = 0; i < e->op_count; i++) {
        if (tree->ops[i].kind >= HG_EXTENT_OP_COUNT) return false;
        if (hg_extent_is_leaf(&tree->ops[i])) {
            stack[height++] = (uint8_t)i;
            continue;
        }
        if (height < 2) return false;
        tree->right[i] = stack[--height];
        tree->left[i] = stack[height - 1];
        stack[height - 1] = (uint8_t)i;
    }
    return height == 1;
}

/* Along the left side of products and quotients, which text writes without parentheses. */
bool hg_extent_is_quotient(const hg_extent_tree *tree, uint8_t node) {
    while (tree->ops[node].kind == HG_EXTENT_OP_MUL) node = tree->left[node];
    return tree->ops[node].kind == HG_EXTENT_OP_DIV;
}

bool hg_extent_is_product(const hg_extent_tree *tree) {
    uint8_t node = tree->root;
    while (tree->ops[node].kind == HG_EXTENT_OP_MUL &&
           hg_extent_is_leaf(&tree->ops[tree->right[node]]))
        node = tree->left[node];
    return hg_extent_is_leaf(&tree->ops[node]);
}

/* ---- values ---- */

/* The values of all nodes; a parameter without one is unknown, and what depends on it. parameter:
 * the first of those. */
typedef struct values {
    uint64_t of[HG_MAX_EXTENT_OPS];
    bool unknown[HG_MAX_EXTENT_OPS];
    uint32_t unknown_parameters;
    uint16_t parameter;
} values;

static hg_extent_status evaluate(const hg_extent_tree *tree, hg_extent_lookup *lookup, void *user,
                                 values *v) {
    v->unknown_parameters = 0;
    for (uint32_t i = 0; i <= tree->root; i++) {
        const hg_extent_op *op = &tree->ops[i];
        v->unknown[i] = false;
        v->of[i] = op->value;
        if (op->kind == HG_EXTENT_OP_PARAM && !lookup(user, op->param, &v->of[i])) {
            v->unknown[i] = true;
            if (v->unknown_parameters++ == 0) v->parameter = op->param;
        }
        if (hg_extent_is_leaf(op)) continue;
        v->unknown[i] = v->unknown[tree->left[i]] || v->unknown[tree->right[i]];
        if (v->unknown[i]) continue;
        hg_extent_status status = hg_extent_apply((hg_extent_op_kind)op->kind, v->of[tree->left[i]],
                                                  v->of[tree->right[i]], &v->of[i]);
        if (status != HG_EXTENT_KNOWN) return status;
    }
    return v->unknown[tree->root] ? HG_EXTENT_UNKNOWN : HG_EXTENT_KNOWN;
}

hg_extent_status hg_extent_value(const hg_program *p, const hg_extent *e, hg_extent_lookup *lookup,
                                 void *user, uint64_t *value, uint16_t *param) {
    if (e->kind == HG_EXTENT_NUMBER) {
        *value = e->value;
        return HG_EXTENT_KNOWN;
    }
    if (e->kind == HG_EXTENT_PARAM) {
        if (param) *param = e->param;
        return lookup(user, e->param, value) ? HG_EXTENT_KNOWN : HG_EXTENT_UNKNOWN;
    }
    hg_extent_tree tree;
    values v;
    if (!hg_extent_tree_make(p, e, &tree)) return HG_EXTENT_UNKNOWN;
    hg_extent_status status = evaluate(&tree, lookup, user, &v);
    if (status == HG_EXTENT_KNOWN) *value = v.of[tree.root];
    if (status == HG_EXTENT_UNKNOWN && param) *param = v.parameter;
    return status;
}

/* What the unknown side of `left op right = value` must be. */
static hg_extent_status invert(hg_extent_op_kind kind, bool unknown_left, uint64_t known,
                               uint64_t value, uint64_t *side) {
    switch (kind) {
    case HG_EXTENT_OP_ADD:
        *side = value - known;
        return value < known ? HG_EXTENT_NO_VALUE : HG_EXTENT_KNOWN;
    case HG_EXTENT_OP_SUB:
        if (unknown_left) return hg_extent_apply(HG_EXTENT_OP_ADD, value, known, side);
        *side = known - value;
        return known < value ? HG_EXTENT_NO_VALUE : HG_EXTENT_KNOWN;
    case HG_EXTENT_OP_MUL:
        if (known == 0) return value ? HG_EXTENT_NO_VALUE : HG_EXTENT_UNKNOWN;
        *side = value / known;
        return value % known ? HG_EXTENT_NO_VALUE : HG_EXTENT_KNOWN;
    default: return HG_EXTENT_UNKNOWN;
    }
}

hg_extent_status hg_extent_solve(const hg_program *p, const hg_extent *e, uint64_t value,
                                 hg_extent_lookup *lookup, void *user, uint16_t *param,
                                 uint64_t *solved) {
    hg_extent_tree tree;
    values v;
    if (e->kind == HG_EXTENT_PARAM) {
        *param = e->param;
        *solved = value;
        return HG_EXTENT_KNOWN;
    }
    if (e->kind != HG_EXTENT_EXPRESSION || !hg_extent_tree_make(p, e, &tree))
        return HG_EXTENT_UNKNOWN;
    hg_extent_status status = evaluate(&tree, lookup, user, &v);
    if (status != HG_EXTENT_UNKNOWN) return status == HG_EXTENT_KNOWN ? HG_EXTENT_UNKNOWN : status;
    *param = v.parameter;
    if (v.unknown_parameters != 1) return HG_EXTENT_UNKNOWN;
    uint8_t node = tree.root;
    while (!hg_extent_is_leaf(&tree.ops[node])) {
        bool left = v.unknown[tree.left[node]];
        uint8_t known = left ? tree.right[node] : tree.left[node];
        status = invert((hg_extent_op_kind)tree.ops[node].kind, left, v.of[known], value, &value);
        if (status != HG_EXTENT_KNOWN) return status;
        node = left ? tree.left[node] : tree.right[node];
    }
    *solved = value;
    return HG_EXTENT_KNOWN;
}

const char *hg_extent_problem(hg_extent_status status) {
    switch (status) {
    case HG_EXTENT_TOO_LARGE: return "is 2^64 or more";
    case HG_EXTENT_BELOW_ZERO: return "is below 0";
    case HG_EXTENT_BY_ZERO: return "is a division by 0";
    case HG_EXTENT_NO_VALUE: return "has no value that fits";
    case HG_EXTENT_UNKNOWN: return "is not known";
    case HG_EXTENT_KNOWN: break;
    }
    return "is known";
}

bool hg_extent_names(const hg_program *p, const hg_extent *e, uint16_t param) {
    if (e->kind == HG_EXTENT_PARAM) return e->param == param;
    if (e->kind != HG_EXTENT_EXPRESSION) return false;
    for (uint32_t i = 0; i < e->op_count; i++)
        if (p->extent_ops[e->value + i].kind == HG_EXTENT_OP_PARAM &&
            p->extent_ops[e->value + i].param == param)
            return true;
    return false;
}
