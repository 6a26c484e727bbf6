/* When the launches of a graph are noted, and for how long the note is good.
 * Must not know: what the commands do. */
#include "runtime/graph_noted.h"
#include "runtime/step.h"

enum { LAUNCHES_BEFORE = 2, FREE_TRIES = 2 };

bool hg_graph_noted_wanted(const hg_graph_noted *n, const hg_backend *b) {
    return b->driver->note_begin && !b->profile && !n->noted && n->launches >= LAUNCHES_BEFORE &&
           n->made < FREE_TRIES + n->runs / 2;
}

hg_status hg_graph_noted_begin(hg_graph_noted *n, hg_backend *b) {
    n->made++;
    n->gone = hg_driver_gone();
    return b->driver->note_begin(b->device);
}

void hg_graph_noted_end(hg_graph_noted *n, hg_backend *b, hg_buffer workspace, hg_status status) {
    const hg_range scratch = hg_buffer_range(b, NULL, hg_handle_plain(b, workspace.handle));
    hg_error kept = *hg_error_record();
    if (b->driver->note_end(b->device, &scratch, status == HG_OK ? &n->noted : NULL) != HG_OK ||
        status != HG_OK)
        n->launches = 0;
    *hg_error_record() = kept;
}

void hg_graph_noted_drop(hg_graph_noted *n, hg_backend *b) {
    if (n->noted) b->driver->noted_destroy(n->noted);
    n->noted = NULL;
    n->launches = 0;
}

hg_status hg_graph_noted_run(hg_graph_noted *n, hg_backend *b, bool *done) {
    bool bad = true;
    hg_status status = HG_OK;
    *done = false;
    if (!n->noted) return HG_OK;
    hg_guard_begin(b);
    bool good = n->gone == hg_driver_gone();
    if (good) status = b->driver->noted_run(n->noted, &bad);
    hg_guard_end(b);
    *done = status == HG_OK && !bad;
    n->runs += *done;
    if (!good) hg_graph_noted_drop(n, b);
    return status;
}
