/* How long each variable of a kernel is needed: from the node that first names it to the last one that does, and to the end of every loop
 * that holds the last one but not the first, as its next round may need it again. A variable that a loop's body gives its first value has
 * none in the next round before the body gives it one (statement.c), so it needs no longer than the body.
 * Requires: a tape without errors. Must not know: registers. */
#include "translators/json/kernel.h"

typedef struct lifetimes {
    jk_kernel *kernel;
    uint32_t *first;        /* of each name; JK_NONE: not seen yet */
    HG_VEC(uint32_t) loops; /* open ones, by their first nodes */
} lifetimes;

static void needs(lifetimes *l, uint32_t name, uint32_t node) {
    jk_name *n = &l->kernel->names[name];
    if (l->first[name] == JK_NONE) l->first[name] = node;
    if (n->last == JK_NONE || n->last < node) n->last = node;
    uint64_t low = 0, high = l->loops.count; /* the outermost loop that begins behind the name's first node */
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (l->loops.data[middle] > l->first[name])
            high = middle;
        else
            low = middle + 1;
    }
    if (low == l->loops.count) return;
    uint32_t end = l->kernel->nodes.data[l->loops.data[low]].end;
    if (n->last < end) n->last = end;
}

/* A bound may be a variable's own register: the test at the end of the loop reads it. */
static void needs_bound(lifetimes *l, uint32_t bound, uint32_t end) {
    const jk_node *nodes = l->kernel->nodes.data;
    for (uint32_t i = nodes[bound].first; i <= bound; i++)
        if (nodes[i].kind == JK_READ && l->kernel->names[nodes[i].a].last < end) l->kernel->names[nodes[i].a].last = end;
}

static void open_loop(lifetimes *l, uint32_t node) {
    uint32_t *loop = hg_vec_push(&l->loops);
    if (loop)
        *loop = node;
    else
        l->kernel->out_of_memory = true;
}

static void visit(lifetimes *l, uint32_t node) {
    const jk_node *n = &l->kernel->nodes.data[node];
    switch ((jk_node_kind)n->kind) {
    case JK_READ:
    case JK_SET: needs(l, n->a, node); break;
    case JK_FOR:
        needs(l, n->a, node);
        if (l->kernel->names[n->a].last < n->end) l->kernel->names[n->a].last = n->end;
        needs_bound(l, n->c, n->end);
        needs_bound(l, (uint32_t)n->bits, n->end);
        open_loop(l, node);
        break;
    case JK_WHILE: open_loop(l, node); break;
    case JK_END_FOR:
    case JK_END_WHILE:
        if (l->loops.count) l->loops.count--;
        break;
    default: break;
    }
}

/* Values wait for their statement: a variable is needed until the statement that its last reader belongs to. */
static bool is_statement(const jk_node *n) { return n->kind >= JK_SET && n->kind != JK_SKIP; }

void jk_find_lifetimes(jk_kernel *k) {
    lifetimes l = {.kernel = k, .first = hg_alloc(((size_t)k->name_count + 1) * sizeof *l.first)};
    uint32_t *statement = hg_alloc(((size_t)k->nodes.count + 1) * sizeof *statement);
    if (!l.first || !statement) k->out_of_memory = true;
    for (uint32_t i = 0; i < k->name_count && !k->out_of_memory; i++) {
        l.first[i] = JK_NONE;
        k->names[i].last = JK_NONE;
    }
    for (uint32_t i = 0; i < k->nodes.count && !k->out_of_memory; i++) visit(&l, i);
    uint32_t next = JK_NONE;
    for (uint64_t i = k->nodes.count; i-- > 0 && !k->out_of_memory;) {
        if (is_statement(&k->nodes.data[i])) next = (uint32_t)i;
        statement[i] = next;
    }
    for (uint32_t i = 0; i < k->name_count && !k->out_of_memory; i++)
        if (k->names[i].last != JK_NONE) k->names[i].last = statement[k->names[i].last];
    hg_vec_free(&l.loops);
    hg_free(l.first);
    hg_free(statement);
}
