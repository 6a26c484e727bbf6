/* Graphs as modules: text, buffers, runs.
 * Must not know: what calls do, StableHLO. */
#include "runtime/graph_module.h"
#include "stablehlo/graph.h"

struct hg_graph_module {
    hg_backend *backend;
    hg_driver_module *module;
    uint32_t count;    /* arguments and results */
    uint64_t *handles; /* of their buffers, as programs have them */
    hg_range *ranges;  /* of a run */
};

bool hg_graph_modules(const hg_backend *b) {
    return b->driver->module_create && !b->config.deterministic;
}

void hg_graph_module_destroy(hg_graph_module *m) {
    if (!m) return;
    if (m->module) m->backend->driver->module_destroy(m->module);
    hg_free(m->handles);
    hg_free(m->ranges);
    hg_free(m);
}

static void add(hg_graph_module *m, const hg_graph *g, const uint64_t *extents,
                hg_driver_shape *shapes, uint32_t value, hg_buffer buffer) {
    const graph_value *v = &g->values.data[value];
    hg_driver_shape *shape = &shapes[m->count];
    *shape = (hg_driver_shape){.type = v->type, .rank = v->rank};
    for (uint8_t d = 0; d < v->rank; d++) shape->extents[d] = (int64_t)extents[v->extents[d]];
    m->handles[m->count++] = hg_handle_plain(m->backend, buffer.handle);
}

static hg_status compile(hg_graph_module *m, const hg_graph *g, const uint64_t *extents,
                         hg_driver_module_text *text) {
    hg_text out = {0};
    shlo_numbers numbers = {0};
    const shlo_form form = {.driver = true, .flagged = &text->flagged, .numbers = &numbers};
    hg_status status = shlo_print_graph(g, extents, &form, &out);
    text->text = out.data;
    text->read = graph_has_source(g);
    text->length = out.length;
    text->numbers = numbers.data;
    text->number_count = (uint32_t)numbers.count;
    if (status == HG_OK)
        status = m->backend->driver->module_create(m->backend->device, text, &m->module);
    hg_text_free(&out);
    hg_vec_free(&numbers);
    return status;
}

static hg_status make(hg_graph_module *m, const hg_graph *g, const uint64_t *extents,
                      const hg_buffer *buffers, const hg_buffer *outputs) {
    const size_t most = (size_t)(g->values.count + g->outputs.count) + 1;
    hg_driver_shape *shapes = hg_calloc(most, sizeof *shapes);
    m->handles = hg_alloc(most * sizeof *m->handles);
    m->ranges = hg_alloc(most * sizeof *m->ranges);
    hg_status status = shapes && m->handles && m->ranges ? HG_OK : hg_fail_memory();
    hg_driver_module_text text = {.shapes = shapes};
    for (uint32_t i = 0; i < g->values.count && status == HG_OK; i++)
        if (shlo_takes(g, &(shlo_form){.driver = true}, i))
            add(m, g, extents, shapes, i, buffers[i]);
    text.argument_count = m->count;
    for (uint32_t i = 0; i < g->outputs.count && status == HG_OK; i++)
        add(m, g, extents, shapes, g->outputs.data[i].value, outputs[i]);
    text.result_count = m->count - text.argument_count;
    if (status == HG_OK) status = compile(m, g, extents, &text);
    hg_free(shapes);
    return status;
}

hg_graph_module *hg_graph_module_create(hg_backend *b, const hg_graph *g, const uint64_t *extents,
                                        const hg_buffer *buffers, const hg_buffer *outputs) {
    hg_error kept = *hg_error_record();
    hg_graph_module *m = hg_calloc(1, sizeof *m);
    if (!m) return NULL;
    m->backend = b;
    if (make(m, g, extents, buffers, outputs) == HG_OK) return m;
    hg_graph_module_destroy(m);
    *hg_error_record() = kept;
    return NULL;
}

hg_status hg_graph_module_run(hg_graph_module *m, bool *done) {
    bool bad = false;
    hg_status status = HG_OK;
    *done = false;
    hg_guard_begin(m->backend);
    for (uint32_t i = 0; i < m->count; i++) {
        m->ranges[i] = hg_buffer_range(m->backend, NULL, m->handles[i]);
        bad = bad || !m->ranges[i].arena;
    }
    if (!bad) status = m->backend->driver->module_run(m->module, m->ranges, &bad);
    hg_guard_end(m->backend);
    *done = status == HG_OK && !bad;
    return status;
}
