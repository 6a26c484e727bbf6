/* Passes over array graphs: the table is pipeline.def. Each changes a copy of the graph and no bit
 * of a result.
 * Must not know: devices, where memory lies. */
#ifndef HG_GRAPH_PASSES_H
#define HG_GRAPH_PASSES_H

#include "graph/graph.h"

typedef enum graph_pass {
#define GRAPH_PASS(id, name, what) GRAPH_PASS_##id,
#include "graph/pipeline.def"
#undef GRAPH_PASS
    GRAPH_PASS_COUNT
} graph_pass;

/* Passes in the order in which they are done. Those in front of GRAPH_PASS_CONSTANTS may come in
 * any order and more than once. */
enum { GRAPH_MOST_PASSES = 32 };
typedef struct graph_pass_list {
    uint8_t passes[GRAPH_MOST_PASSES]; /* graph_pass */
    uint32_t count;
} graph_pass_list;
/* Of their names with commas between them; "none"; NULL: all in the order of the table. */
hg_status graph_passes_named(const char *names, graph_pass_list *order) HG_NODISCARD;
bool graph_passes_have(const graph_pass_list *order, graph_pass pass);
/* Who looks at a graph between its passes; after may be NULL. */
typedef struct graph_watch {
    void (*after)(void *user, const char *pass, const hg_graph *g);
    void *user;
    bool verify; /* the rules of graphs after each pass */
} graph_watch;
/* A copy of the graph that is ready to be lowered, with the passes done. watch may be NULL. */
hg_status graph_optimize(const hg_graph *g, const graph_pass_list *order, const graph_watch *watch,
                         hg_graph **done) HG_NODISCARD;

/* The passes. Those that change the graph do it here; join and share write nothing into it:
 * lowering and the memory plan ask for them. */
#define GRAPH_PASS(id, name, what) hg_status graph_pass_##name(hg_graph *g) HG_NODISCARD;
#include "graph/pipeline.def"
#undef GRAPH_PASS

/* Views with strides. A map reads them as a lane program (maps.c); for other calls they are copied,
 * each once (views.c). */
bool graph_reads_views(const hg_graph *g, const graph_call *call);
hg_status graph_make_strided_maps(hg_graph *g) HG_NODISCARD;
hg_status graph_copy_views(hg_graph *g) HG_NODISCARD;
/* Appends a call that copies a value, for the call of that line (0: for none); *copy is its result.
 */
hg_status graph_append_copy(hg_graph *g, uint32_t value, uint32_t line,
                            uint32_t *copy) HG_NODISCARD;

/* Appends a call that makes zeros of the type and shape of `like`, which need be no value of the
 * graph; *made is its result. */
hg_status graph_append_zeros(hg_graph *g, const graph_value *like, uint32_t *made) HG_NODISCARD;

/* The calls of constants that a graph has behind its passes, as a graph with the output once_N for
 * each value N that is made once and that its other calls read. */
hg_status graph_once(const hg_graph *g, hg_graph **once) HG_NODISCARD;

/* For passes: the calls again, each behind those that `before` appends for it. After a failure the
 * list is not whole. */
hg_status graph_write_again(hg_graph *g,
                            hg_status (*before)(hg_graph *g, const graph_call *c, void *user),
                            void *user) HG_NODISCARD;

/* For passes: what a value is read as from now on. map: of each value another one, or itself; those
 * of earlier calls may not name later values. */
void graph_rename(hg_graph *g, const uint32_t *map);
/* For passes: removes the calls whose byte is set. */
void graph_remove_calls(hg_graph *g, const uint8_t *gone);
/* For passes that write the list of calls: which call makes each value, GRAPH_NOT_SET where none is
 * left. */
void graph_number_results(hg_graph *g);

#endif
