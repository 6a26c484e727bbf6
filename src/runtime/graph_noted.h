/* Launches of a bound graph that come again, as one program of the device's compiler
 * (hg_driver.note_begin).
 * Must not know: graphs. */
#ifndef HG_RUNTIME_GRAPH_NOTED_H
#define HG_RUNTIME_GRAPH_NOTED_H

#include "runtime/memory.h"

typedef struct hg_graph_noted {
    hg_driver_noted *noted; /* NULL: none is there */
    uint64_t gone;          /* hg_driver_gone when it was made */
    uint32_t launches;      /* call by call to their end, since */
    uint32_t made, runs;    /* how often one was made, and how often one ran */
} hg_graph_noted;

/* Whether the next launch is to be noted: after the second one, and after memory that it was made
 * for has gone, as long as that pays. */
bool hg_graph_noted_wanted(const hg_graph_noted *n, const hg_backend *b);
/* Between them launches of this thread are noted. workspace: whose contents are of no meaning
 * between launches. status: what became of them. Afterwards it is there, or not. */
hg_status hg_graph_noted_begin(hg_graph_noted *n, hg_backend *b) HG_NODISCARD;
void hg_graph_noted_end(hg_graph_noted *n, hg_backend *b, hg_buffer workspace, hg_status status);
/* *done false: it has done nothing, since it is not there or there is a fault. */
hg_status hg_graph_noted_run(hg_graph_noted *n, hg_backend *b, bool *done) HG_NODISCARD;
void hg_graph_noted_drop(hg_graph_noted *n, hg_backend *b);

#endif
