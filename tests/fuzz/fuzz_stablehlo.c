/* Any bytes as a module of StableHLO: one mistake inside the text, or a graph that the passes take.
 * Seeds: tests/hlo/functions. */
#include "fuzz.h"
#include "graph/passes.h"
#include <hologram/stablehlo.h>

static void check_passes(const hg_graph *g) {
    hg_graph *done = NULL;
    graph_pass_list all;
    const graph_watch watch = {.verify = true};
    require(graph_passes_named(NULL, &all) == HG_OK);
    require(graph_optimize(g, &all, &watch, &done) != HG_ERROR_INTERNAL);
    hg_graph_release(done);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_graph *g = NULL;
    hg_status status = hg_graph_read_stablehlo((const char *)data, size, d, &g);
    require((status == HG_OK) == (g != NULL) && (status == HG_OK || status == HG_ERROR_ISA));
    check_diagnostics(d, status != HG_OK);
    require(hg_diagnostics_errors(d) <= 1);
    hg_string_free(hg_diagnostics_print(d, "fuzz", (const char *)data, size));
    hg_diagnostics_destroy(d);
    if (g) check_passes(g);
    hg_graph_release(g);
    return 0;
}
