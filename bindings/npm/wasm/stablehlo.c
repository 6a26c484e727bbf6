/* In place of src/stablehlo: no page has a device that takes its texts. */
#include "stablehlo/graph.h"

bool shlo_takes(const hg_graph *g, const shlo_form *form, uint32_t value) {
    (void)g;
    (void)form;
    (void)value;
    return false;
}

hg_status shlo_print_graph(const hg_graph *g, const uint64_t *extents, const shlo_form *form,
                           hg_text *out) {
    (void)g;
    (void)extents;
    (void)form;
    (void)out;
    return hg_fail(HG_ERROR_ISA, "StableHLO is printed by the command, not in a page");
}
