/* Nodes of a body and the stacks that reading one works with: tasks to do, values that wait for
 * their parent.
 * Must not know: what is read. */
#include "translators/json/kernel.h"

/* Operands that are nodes, for the flags and the range of their parent. */
static uint32_t operands_of(const jk_node *n, uint32_t out[3]) {
    switch ((jk_node_kind)n->kind) {
    case JK_CONVERT:
    case JK_UNARY:
    case JK_NOT: out[0] = n->a; return 1;
    case JK_BINARY:
    case JK_FLOOR_DIV:
    case JK_COMPARE:
    case JK_AND:
    case JK_OR:
        out[0] = n->a;
        out[1] = n->b;
        return 2;
    case JK_TERNARY:
    case JK_CHOOSE:
        out[0] = n->a;
        out[1] = n->b;
        out[2] = n->c;
        return 3;
    case JK_OTHERWISE:
    case JK_LOAD: out[0] = n->b; return 1;
    case JK_ATOMIC:
        out[0] = n->b;
        out[1] = n->c;
        return 2;
    default: return 0;
    }
}

uint32_t jk_add_node(jk_kernel *k, jk_node_kind kind, uint8_t op, jk_type type, uint32_t token,
                     uint32_t a, uint32_t b, uint32_t c) {
    uint32_t index = (uint32_t)k->nodes.count, operand[3];
    jk_node *n = hg_vec_push(&k->nodes);
    if (!n) { /* an earlier node stands for it until the translation ends; there is one:
                 jk_read_body */
        k->out_of_memory = true;
        return 0;
    }
    *n = (jk_node){.kind = (uint8_t)kind,
                   .op = op,
                   .type = type,
                   .token = token,
                   .a = a,
                   .b = b,
                   .c = c,
                   .first = index};
    for (uint32_t i = 0, count = operands_of(n, operand); i < count; i++) {
        const jk_node *of = &k->nodes.data[operand[i]];
        n->flags |= of->flags & JK_MAY_FAULT;
        if (of->first < n->first) n->first = of->first;
    }
    return index;
}

void jk_push(jk_kernel *k, uint8_t kind, uint32_t token, uint32_t extra) {
    jk_task *t = hg_vec_push(&k->tasks);
    if (t)
        *t = (jk_task){kind, token, extra};
    else
        k->out_of_memory = true;
}

void jk_push_value(jk_kernel *k, uint32_t node) {
    uint32_t *value = hg_vec_push(&k->values);
    if (value)
        *value = node;
    else
        k->out_of_memory = true;
}

uint32_t jk_pop(jk_kernel *k) { return k->values.count ? k->values.data[--k->values.count] : 0; }
