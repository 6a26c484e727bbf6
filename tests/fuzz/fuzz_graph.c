/* Any bytes as .graph text: diagnostics, or a graph whose text is that of the same graph, that can
 * be copied and optimised, and whose calls are checked with numbers for its symbols. Statements
 * that are added to a graph leave one that prints. Seeds: seeds/fuzz_graph. */
#include "fuzz.h"
#include "graph/graph.h"
#include "graph/memory.h"
#include "graph/passes.h"

static const char SCALE[] =
    ".atlas 1\n.program scale\n.param r1 x buffer f32 in [n]\n.param r2 y buffer f32 out [n]\n"
    ".param r3 k f32\n.param r4 n u64\n.lanes n\n exit\n";

static hg_status read_program(void *user, const char *file, hg_diagnostics *d, hg_program **p) {
    (void)user;
    (void)file;
    (void)d;
    return hg_program_assemble(SCALE, sizeof SCALE - 1, NULL, p);
}
static const hg_graph_read_options OPTIONS = {.size = sizeof OPTIONS, .program = read_program};

static void check_graph_text(const hg_graph *g) {
    char *text = NULL, *again = NULL;
    size_t length = 0, again_length = 0;
    hg_graph *second = NULL;
    require(hg_graph_print(g, &text, &length) == HG_OK);
    require(hg_graph_read_text(text, length, &OPTIONS, NULL, &second) == HG_OK);
    require(hg_graph_print(second, &again, &again_length) == HG_OK);
    require(length == again_length && memcmp(text, again, length) == 0);
    hg_graph_release(second);
    hg_string_free(text);
    hg_string_free(again);
}

/* With numbers that most shapes fit, and some that few fit. */
static void check_numbers(const hg_graph *g, uint64_t number) {
    uint64_t symbols[HG_MAX_GRAPH_EXTENTS],
        *extents = malloc((size_t)(g->terms.count + 1) * sizeof *extents);
    graph_memory memory;
    for (int i = 0; i < HG_MAX_GRAPH_EXTENTS; i++) symbols[i] = number;
    graph_extent_values(g, symbols, extents);
    if (graph_check(g, extents) == HG_OK && graph_plan_memory(g, extents, true, &memory) == HG_OK) {
        require(memory.bytes >= memory.least);
        graph_memory_free(&memory);
    }
    free(extents);
}

static void check_passes(const hg_graph *g) {
    hg_graph *done = NULL;
    graph_pass_list all;
    const graph_watch watch = {.verify = true};
    require(graph_passes_named(NULL, &all) == HG_OK);
    hg_status status = graph_optimize(g, &all, &watch, &done);
    require(status != HG_ERROR_INTERNAL);
    if (status != HG_OK) return;
    check_numbers(done, 4);
    hg_graph_release(done);
}

static void check_added(const char *data, size_t size) {
    static const char START[] = ".graph 1\n.extent n\n.input x f32 [n, 4]\n.input w f32 [4, 4]\n";
    hg_graph *g = NULL;
    require(hg_graph_read_text(START, sizeof START - 1, NULL, NULL, &g) == HG_OK);
    hg_status status = hg_graph_add_text(g, data, size, &OPTIONS, NULL);
    require(status == HG_OK || status == HG_ERROR_ISA);
    check_graph_text(g);
    hg_graph_release(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hg_diagnostics *d = hg_diagnostics_create(0);
    hg_graph *g = NULL;
    hg_status status = hg_graph_read_text((const char *)data, size, &OPTIONS, d, &g);
    require((status == HG_OK) == (g != NULL) && (status == HG_OK || status == HG_ERROR_ISA));
    check_diagnostics(d, status != HG_OK);
    hg_string_free(hg_diagnostics_print(d, "fuzz", (const char *)data, size));
    hg_diagnostics_destroy(d);
    check_added((const char *)data, size);
    if (!g) return 0;
    check_graph_text(g);
    check_numbers(g, 4);
    check_numbers(g, 0);
    check_numbers(g, UINT64_MAX - 1);
    check_passes(g);
    hg_graph_release(g);
    return 0;
}
