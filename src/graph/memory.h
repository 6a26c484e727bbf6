/* Which values share memory, and where each lies in one workspace. Must not know: devices, buffers.
 */
#ifndef HG_GRAPH_MEMORY_H
#define HG_GRAPH_MEMORY_H

#include "graph/graph.h"

enum {
    GRAPH_ALIGN = 256
}; /* of each value's first byte: what devices ask of an offset (runtime/suballoc.h) */

/* Sets graph_value.takes: a call whose instruction may work in place makes its result in memory of
 * an operand that nothing reads afterwards. */
hg_status graph_take_memory(hg_graph *g) HG_NODISCARD;

/* From which call on a value has contents, and up to which it is read; of all that take over its
 * memory. */
typedef struct graph_life {
    uint32_t first, last; /* first > last: it needs no memory of the workspace */
} graph_life;

typedef struct graph_memory {
    graph_life *lives; /* of each value that is an owner */
    uint32_t *owners;  /* of each value the one whose memory it lies in */
    uint64_t *offsets; /* in the workspace, of each value whose owner is a result of a call that
                          nothing outside sees */
    uint64_t bytes;    /* of the workspace */
    uint64_t least;    /* the largest sum of live values at any call: no plan needs less */
    uint32_t peak;     /* that call */
} graph_memory;
/* Places the values. shared: memory is used again; else each has its own. */
hg_status graph_plan_memory(const hg_graph *g, const uint64_t *extents, bool shared,
                            graph_memory *memory) HG_NODISCARD;
void graph_memory_free(graph_memory *memory);

#endif
