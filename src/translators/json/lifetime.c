/* How long each variable of a kernel is needed: from the node that first names it to the last one
 * that does, and to the end of every loop that holds the last one but not the first, as its next
 * round may need it again. A variable that a loop's body gives its first value has none in the next
 * round before the body gives it one (statement.c), so it needs no longer than the body.
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
    uint64_t low = 0, high = l->loops.count; /* the outermost loop that begins behind the name's
                                                first node */
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
        if (nodes[i].kind == JK_READ && l->kernel->names[nodes[i].a].last < end)
            l->kernel->names[nodes[i].a].last = end;
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

/* Values wait for their statement: a variable is needed until the statement that its last reader
 * belongs to. */
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

/* ---- whether a variable is read before it gets another value ---- */

typedef enum fate {
    FATE_READ,
    FATE_SET,
    FATE_OPEN /* neither, up to the end of the part that was looked at */
} fate;

enum { MOST_NODES = 4096 /* looked at for one loop; behind that the variable counts as read */ };

static bool opens(const jk_node *n) {
    return n->kind == JK_IF || n->kind == JK_FOR || n->kind == JK_WHILE;
}
static bool closes(const jk_node *n) {
    return n->kind == JK_END_IF || n->kind == JK_END_FOR || n->kind == JK_END_WHILE;
}

/* What the nodes from *at to `end` do with the name, in order: what stands under a condition or in
 * a loop may not happen, so only its reads count. Stops behind the end of a statement that holds
 * *at, with *at there. */
static fate look_on(const jk_kernel *k, uint32_t name, uint32_t *at, uint32_t end, uint32_t *left) {
    uint32_t depth = 0;
    for (; *at < end; ++*at) {
        const jk_node *n = &k->nodes.data[*at];
        if ((*left)-- == 0 || (n->kind == JK_READ && n->a == name)) return FATE_READ;
        if ((n->kind == JK_SET || n->kind == JK_FOR) && n->a == name && depth == 0) return FATE_SET;
        if (n->kind == JK_ELSE && depth == 0)
            *at = n->b - 1; /* the other side does not come behind this one */
        if (closes(n) && depth-- == 0) return FATE_OPEN;
        if (opens(n)) depth++;
    }
    return FATE_OPEN;
}

bool jk_needed_behind(const jk_kernel *k, uint32_t loop) {
    const jk_node *nodes = k->nodes.data;
    uint32_t name = nodes[loop].a, at = nodes[loop].end + 1, end = (uint32_t)k->nodes.count,
             left = MOST_NODES;
    if (k->names[name].kind != JK_LOCAL) return true;
    if (k->names[name].last <= nodes[loop].end) return false;
    for (;; at++) {
        fate f = look_on(k, name, &at, end, &left);
        if (f != FATE_OPEN || at >= end) return f == FATE_READ;
        if (nodes[at].kind == JK_END_IF) continue;
        uint32_t again = nodes[at].a + 1; /* the next round of a loop around it, up to this one */
        f = look_on(k, name, &again, loop, &left);
        if (f == FATE_READ) return true;
    }
}
