/* The public function: reading and making on a stack that is deep enough for what nests. */
#include "hlo/hlo.h"
#include "hlo/origin.h"
#include "base/deep.h"

typedef struct work {
    const char *text;
    size_t length;
    hg_diagnostics *d;
    hg_graph *graph;
} work;

static hg_status carry_out(void *user) {
    work *w = user;
    mlir_module module;
    hg_status status = mlir_read(w->text, w->length, &module, w->d);
    if (status == HG_OK) status = mlir_to_graph(&module, w->d, &w->graph);
    mlir_module_free(&module);
    return status;
}

HG_API hg_status hg_graph_read_stablehlo(const char *text, size_t length, hg_diagnostics *d,
                                         hg_graph **graph) {
    HG_ENTRY;
    if (!graph) return hg_null_argument("graph");
    *graph = NULL;
    if (!text && length) return hg_null_argument("text");
    if (length > HG_MAX_SOURCE_BYTES)
        return hg_fail(HG_ERROR_ISA, "a text of %zu bytes, at most %d are read", length,
                       HG_MAX_SOURCE_BYTES);
    hg_text origin = {0};
    if (text && hlo_origin_find(text, length, &origin)) {
        hg_status status = origin.failed
                               ? hg_fail_memory()
                               : hg_graph_read_text(origin.data ? origin.data : "",
                                                    (size_t)origin.length, NULL, NULL, graph);
        hg_text_free(&origin);
        if (status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY) return status;
    }
    work w = {text ? text : "", length, d, NULL};
    hg_status status = hg_call_deep(carry_out, &w, "reading StableHLO");
    *graph = w.graph;
    return status;
}
