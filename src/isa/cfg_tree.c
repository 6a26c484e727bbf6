/* Postdominators, by Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph"
 * (1979), the simple version, on the reversed graph: near-linear however the program is built. Must
 * not know: instructions. */
#include "isa/verify_internal.h"

typedef struct tree {
    uint32_t count; /* blocks; the end is node `count` */
    const uint32_t (*succ)[2];
    uint32_t *head, *from; /* predecessors of each node */
    uint32_t *number;      /* node → order of visit + 1; 0: not visited */
    uint32_t *vertex;      /* the rest is indexed by order of visit */
    uint32_t *parent, *semi, *ancestor, *best, *idom, *bucket, *chain, *stack;
    uint8_t *to_end; /* node was given an edge to the end */
    uint32_t visited;
} tree;

static void list_predecessors(tree *t) {
    for (uint32_t b = 0; b < t->count; b++)
        for (int k = 0; k < 2; k++)
            if (t->succ[b][k] != HG_NO_BLOCK) t->head[t->succ[b][k] + 1]++;
    for (uint32_t b = 0; b <= t->count; b++) t->head[b + 1] += t->head[b];
    for (uint32_t b = 0; b < t->count; b++)
        for (int k = 0; k < 2; k++)
            if (t->succ[b][k] != HG_NO_BLOCK) t->from[t->head[t->succ[b][k]]++] = b;
    for (uint32_t b = t->count + 1; b > 0; b--)
        t->head[b] = t->head[b - 1]; /* the filling moved every start to the next one */
    t->head[0] = 0;
}

/* Depth-first over predecessors; `stack` holds nodes, `chain` the next edge to follow of each. */
static void visit(tree *t, uint32_t root, uint32_t parent) {
    uint32_t depth = 0;
    t->parent[t->visited] = parent;
    t->vertex[t->visited] = root;
    t->number[root] = ++t->visited;
    t->stack[depth] = root;
    t->chain[depth++] = t->head[root];
    while (depth) {
        uint32_t node = t->stack[depth - 1];
        if (t->chain[depth - 1] == t->head[node + 1]) {
            depth--;
            continue;
        }
        uint32_t next = t->from[t->chain[depth - 1]++];
        if (t->number[next]) continue;
        t->parent[t->visited] = t->number[node] - 1;
        t->vertex[t->visited] = next;
        t->number[next] = ++t->visited;
        t->stack[depth] = next;
        t->chain[depth++] = t->head[next];
    }
}

/* Node of least semidominator on the path above v, which is compressed on the way. */
static uint32_t evaluate(tree *t, uint32_t v) {
    if (t->ancestor[v] == UINT32_MAX) return v;
    uint32_t depth = 0;
    for (uint32_t u = v; t->ancestor[t->ancestor[u]] != UINT32_MAX; u = t->ancestor[u])
        t->stack[depth++] = u;
    while (depth) {
        uint32_t u = t->stack[--depth], a = t->ancestor[u];
        if (t->semi[t->best[a]] < t->semi[t->best[u]]) t->best[u] = t->best[a];
        t->ancestor[u] = t->ancestor[a];
    }
    return t->best[v];
}

static void find_dominators(tree *t) {
    for (uint32_t i = 0; i < t->visited; i++) {
        t->semi[i] = t->best[i] = i;
        t->ancestor[i] = t->bucket[i] = UINT32_MAX;
    }
    for (uint32_t w = t->visited; w-- > 1;) {
        uint32_t node = t->vertex[w];
        for (int k = 0; k < 3; k++) {
            uint32_t next = k < 2 ? t->succ[node][k] : t->to_end[node] ? t->count : HG_NO_BLOCK;
            if (next == HG_NO_BLOCK) continue;
            uint32_t u = evaluate(t, t->number[next] - 1);
            if (t->semi[u] < t->semi[w]) t->semi[w] = t->semi[u];
        }
        t->chain[w] = t->bucket[t->semi[w]];
        t->bucket[t->semi[w]] = w;
        t->ancestor[w] = t->parent[w];
        uint32_t p = t->parent[w];
        for (uint32_t v = t->bucket[p]; v != UINT32_MAX; v = t->chain[v]) {
            uint32_t u = evaluate(t, v);
            t->idom[v] = t->semi[u] < t->semi[v] ? u : p;
        }
        t->bucket[p] = UINT32_MAX;
    }
    for (uint32_t w = 1; w < t->visited; w++)
        if (t->idom[w] != t->semi[w]) t->idom[w] = t->idom[t->idom[w]];
}

bool hg_postdominators(hg_check *c, uint32_t count, const uint32_t (*succ)[2], uint32_t *parent,
                       uint32_t *depth) {
    uint64_t n = (uint64_t)count + 1;
    uint32_t *memory = hg_calloc((size_t)(14 * n + 4), sizeof *memory);
    uint8_t *to_end = hg_calloc((size_t)n, 1);
    if (!memory || !to_end) {
        hg_free(memory);
        hg_free(to_end);
        c->out_of_memory = true;
        return false;
    }
    tree t = {
        .count = count, .succ = succ, .head = memory, .from = memory + n + 2, .to_end = to_end};
    uint32_t **arrays[] = {&t.number, &t.vertex, &t.parent, &t.semi,  &t.ancestor,
                           &t.best,   &t.idom,   &t.bucket, &t.chain, &t.stack};
    for (uint32_t i = 0; i < HG_COUNT_OF(arrays); i++) *arrays[i] = memory + n + 2 + (i + 2) * n;
    list_predecessors(&t);
    visit(&t, count, 0);
    for (uint32_t b = count; b-- > 0;) {
        if (t.number[b]) continue;
        to_end[b] = 1;
        visit(&t, b, 0);
    }
    find_dominators(&t);
    parent[count] = count;
    depth[count] = 0;
    for (uint32_t w = 1; w < t.visited; w++) {
        parent[t.vertex[w]] = t.vertex[t.idom[w]];
        depth[t.vertex[w]] = depth[t.vertex[t.idom[w]]] + 1;
    }
    hg_free(memory);
    hg_free(to_end);
    return true;
}
