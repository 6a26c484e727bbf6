/* Views with strides: which element of which array each of their elements is. Must not know:
 * passes, text. */
#ifndef HG_GRAPH_STRIDES_H
#define HG_GRAPH_STRIDES_H

#include "graph/graph.h"
#include <hologram/builder.h>

/* A view as loops over the array that it lies in, the outermost first; loops that one loop can be
 * are one. */
typedef struct graph_axes {
    uint32_t base; /* the array; no view */
    graph_extent offset;
    uint32_t rank;
    graph_extent extents[PLAN_MAX_RANK], strides[PLAN_MAX_RANK];
} graph_axes;
hg_status graph_axes_of(hg_graph *g, uint32_t view, graph_axes *axes) HG_NODISCARD;

/* Fills extents and strides of a view of `of`: its axes in another order; the shape that the view
 * has, with extents of 1 and axes that are not there repeated as NumPy repeats them.
 * HG_ERROR_INVALID_ARGUMENT: they do not fit, with both shapes. */
hg_status graph_permute(hg_graph *g, uint32_t of, const graph_extent *order, uint32_t count,
                        graph_value *view) HG_NODISCARD;
hg_status graph_broadcast(hg_graph *g, uint32_t of, graph_value *view) HG_NODISCARD;
/* The strides of a view that is given as it is. One whose elements lie one after another becomes a
 * view without strides; what it is a view of is then no view with strides. */
hg_status graph_set_strides(hg_graph *g, graph_value *view) HG_NODISCARD;
/* A view without strides can be made of a value whose elements lie one after another. */
hg_status graph_check_view(const hg_graph *g, uint32_t of) HG_NODISCARD;

/* ---- lanes that read views ---- */

/* Numbers that a program which reads views is given, beside its arrays. */
enum { GRAPH_MOST_STRIDE_PARAMS = 52 };
typedef struct graph_stride_params {
    graph_extent extents[GRAPH_MOST_STRIDE_PARAMS];
    uint32_t count;
    uint8_t first; /* register of the first one */
} graph_stride_params;
/* One more, unless it is among them, or known. */
bool graph_add_number(const hg_graph *g, graph_extent e, graph_stride_params *params);
/* The register of one of them. */
uint8_t graph_number_register(graph_extent e, const graph_stride_params *params);
/* Numbers that the view needs and that are not among them are added; false: there is no room. */
bool graph_add_stride_params(const hg_graph *g, const graph_axes *axes,
                             graph_stride_params *params);
/* A view whose loops are a grid of blocks: a lane's place in each loop is known without a division.
 */
typedef struct graph_grid {
    const graph_axes *axes;
    uint32_t block; /* lanes: a part of the innermost loop, */
    uint32_t parts; /* and how many parts it has */
} graph_grid;
/* False: its innermost extent is no number, has no part of a good size, or there are too few loops
 * for it to pay or more than directions. */
bool graph_find_grid(const hg_graph *g, const graph_axes *axes, graph_grid *grid);
/* Numbers that the grid needs; false: there is no room. */
bool graph_add_grid_params(const hg_graph *g, const graph_grid *grid, graph_stride_params *params);
/* Block and grid of the program. names: of the numbers, in their order. */
void graph_write_grid(hg_builder *b, const hg_graph *g, const graph_grid *grid,
                      const graph_stride_params *params, char (*names)[16]);
/* The places in the loops to registers from `places` on, at most GRAPH_MOST_PLACES. */
enum { GRAPH_MOST_PLACES = 4 };
void graph_write_places(hg_builder *b, const graph_grid *grid, uint8_t places);
/* Whether another view has the same loops. */
bool graph_same_loops(const graph_axes *a, const graph_axes *b);
/* As graph_write_index, by places. */
void graph_write_index_by_places(hg_builder *b, const hg_graph *g, const graph_axes *axes,
                                 const graph_stride_params *params, uint8_t places, uint8_t index);
/* The element's number in the array to register `index`, from the lane's number in `lane`. The
 * three registers behind index are used too. */
void graph_write_index(hg_builder *b, const hg_graph *g, const graph_axes *axes,
                       const graph_stride_params *params, uint8_t lane, uint8_t index);

#endif
