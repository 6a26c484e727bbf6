/* The graph that a module was printed from, as a comment in front of it. It counts as long as
 * nothing of the text has changed, which a hash of it says, and it can be read: what the operations
 * leave out (names, calls, views) is then read back too.
 * Must not know: operations. */
#ifndef HG_HLO_ORIGIN_H
#define HG_HLO_ORIGIN_H

#include "base/base.h"
#include <hologram/graph.h>

/* The comment, then the module. graph: lines of a .graph text. */
void hlo_origin_print(hg_text *out, const hg_text *graph, const hg_text *module);
/* The lines of the .graph text; false: there are none, or the text has changed since. */
bool hlo_origin_find(const char *text, size_t length, hg_text *graph);

#endif
