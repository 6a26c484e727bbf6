/* What a graph is given and gives, as the parameters of a program without code: whoever binds
 * arrays to programs by name binds them to graphs too.
 * Must not know: devices. */
#include "graph/graph.h"
#include <string.h>

typedef struct writer {
    const hg_graph *g;
    hg_program *p;
    uint32_t used; /* parameters so far */
} writer;

/* An extent's term as operations of a stack machine. */
static bool add_ops(writer *w, graph_extent e, uint16_t *count) {
    const graph_term *t = &w->g->terms.data[e];
    bool leaf = t->kind == HG_EXTENT_OP_NUMBER || t->kind == HG_EXTENT_OP_PARAM;
    if (!leaf && (!add_ops(w, t->left, count) || !add_ops(w, t->right, count))) return false;
    if (++*count > HG_MAX_EXTENT_OPS) return false;
    return hg_program_add_extent_op(w->p, (hg_extent_op){.kind = t->kind,
                                                         .param = leaf ? (uint16_t)t->value : 0,
                                                         .value = leaf ? t->value : 0});
}

static bool set_extent(writer *w, graph_extent e, hg_extent *to) {
    const graph_term *t = &w->g->terms.data[e];
    if (t->kind == HG_EXTENT_OP_NUMBER)
        *to = (hg_extent){.kind = HG_EXTENT_NUMBER, .value = t->value};
    if (t->kind == HG_EXTENT_OP_PARAM)
        *to = (hg_extent){.kind = HG_EXTENT_PARAM, .param = (uint16_t)t->value};
    if (t->kind == HG_EXTENT_OP_NUMBER || t->kind == HG_EXTENT_OP_PARAM) return true;
    *to = (hg_extent){.kind = HG_EXTENT_EXPRESSION, .value = w->p->extent_op_count};
    return add_ops(w, e, &to->op_count);
}

static bool add_buffer(writer *w, const char *name, const graph_value *v, hg_param_dir dir) {
    hg_param *to = &w->p->params[w->used++];
    *to = (hg_param){.kind = HG_PARAM_BUFFER,
                     .type = v->type,
                     .dir = (uint8_t)dir,
                     .rank = v->rank,
                     .name = name};
    for (uint8_t d = 0; d < v->rank; d++)
        if (!set_extent(w, v->extents[d], &to->dims[d])) return false;
    return true;
}

static bool is_given(const graph_value *v) {
    return v->source == GRAPH_INPUT || (v->source == GRAPH_CONSTANT && !v->bytes);
}

hg_status graph_interface(const hg_graph *g, hg_program **program) {
    uint64_t count = g->symbols.count + g->outputs.count;
    for (uint64_t i = 0; i < g->values.count; i++) count += is_given(&g->values.data[i]);
    hg_program *p = hg_calloc(1, sizeof *p);
    if (!p) return hg_fail_memory();
    p->references = 1;
    writer w = {g, p, 0};
    p->name = g->name; /* the graph outlives it */
    p->params = hg_arena_alloc(&p->arena, (size_t)(count + 1) * sizeof *p->params);
    bool done = p->params != NULL;
    for (uint64_t i = 0; i < g->symbols.count && done; i++)
        p->params[w.used++] = (hg_param){
            .kind = HG_PARAM_SCALAR, .type = HG_TYPE_U64, .name = g->symbols.data[i]};
    for (uint64_t i = 0; i < g->values.count && done; i++)
        if (is_given(&g->values.data[i]))
            done = add_buffer(&w, g->values.data[i].name, &g->values.data[i], HG_DIR_IN);
    for (uint64_t i = 0; i < g->outputs.count && done; i++)
        done = add_buffer(&w, g->outputs.data[i].name, &g->values.data[g->outputs.data[i].value],
                          HG_DIR_OUT);
    p->param_count = w.used;
    if (done) {
        *program = p;
        return HG_OK;
    }
    bool memory = p->arena.failed || !p->params;
    hg_program_release(p);
    return memory ? hg_fail_memory()
                  : hg_fail(HG_ERROR_INVALID_ARGUMENT,
                            "an extent of an input or output has more than %d operations",
                            HG_MAX_EXTENT_OPS);
}
