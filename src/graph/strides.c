/* Views with strides. Must not know: passes, text. */
#include "graph/strides.h"
#include <string.h>

static graph_extent times(hg_graph *g, graph_extent a, graph_extent b) {
    return graph_combine(g, HG_EXTENT_OP_MUL, a, b);
}
static graph_extent plus(hg_graph *g, graph_extent a, graph_extent b) {
    return graph_combine(g, HG_EXTENT_OP_ADD, a, b);
}

static bool is_one(const hg_graph *g, graph_extent e) {
    uint64_t value;
    return graph_is_number(g, e, &value) && value == 1;
}

/* Of a value without strides those of elements that lie one after another. */
static hg_status strides_of(hg_graph *g, uint32_t value, graph_extent *strides) {
    const graph_value v = g->values.data[value]; /* new extents move none of it, but values may be
                                                    added to */
    graph_extent stride = graph_number(g, 1);
    for (uint32_t d = v.rank; d-- > 0; stride = times(g, stride, v.extents[d])) {
        strides[d] = v.strided ? v.strides[d] : stride;
        if (strides[d] == GRAPH_NOT_SET) return hg_error_record()->status;
    }
    return stride == GRAPH_NOT_SET ? hg_error_record()->status : HG_OK;
}

/* ---- as loops ---- */

static hg_status offset_of(hg_graph *g, graph_axes *axes, uint32_t view) {
    axes->offset = graph_number(g, 0);
    for (axes->base = view; g->values.data[axes->base].source == GRAPH_VIEW;
         axes->base = g->values.data[axes->base].of)
        axes->offset = plus(g, axes->offset, g->values.data[axes->base].offset);
    return axes->offset == GRAPH_NOT_SET ? hg_error_record()->status : HG_OK;
}

hg_status graph_axes_of(hg_graph *g, uint32_t view, graph_axes *axes) {
    graph_extent strides[PLAN_MAX_RANK];
    uint32_t rank = g->values.data[view].rank;
    axes->rank = 0;
    HG_TRY(offset_of(g, axes, view));
    HG_TRY(strides_of(g, view, strides));
    for (uint32_t d = 0; d < rank; d++) {
        graph_extent extent = g->values.data[view].extents[d], inner = times(g, extent, strides[d]);
        if (inner == GRAPH_NOT_SET) return hg_error_record()->status;
        if (is_one(g, extent)) continue;
        bool one_loop = axes->rank && axes->strides[axes->rank - 1] == inner;
        if (!one_loop) axes->rank++;
        axes->extents[axes->rank - 1] = one_loop ? times(g, axes->extents[axes->rank - 1], extent)
                                                 : extent;
        axes->strides[axes->rank - 1] = strides[d];
        if (axes->extents[axes->rank - 1] == GRAPH_NOT_SET) return hg_error_record()->status;
    }
    return HG_OK;
}

/* ---- making them ---- */

hg_status graph_set_strides(hg_graph *g, graph_value *view) {
    graph_extent stride = graph_number(g, 1);
    view->strided = false;
    for (; g->values.data[view->of].strided; view->of = g->values.data[view->of].of)
        view->offset = plus(g, view->offset, g->values.data[view->of].offset);
    if (view->offset == GRAPH_NOT_SET) return hg_error_record()->status;
    for (uint32_t d = view->rank; d-- > 0; stride = times(g, stride, view->extents[d])) {
        if (view->strides[d] == GRAPH_NOT_SET || stride == GRAPH_NOT_SET)
            return hg_error_record()->status;
        view->strided |= view->strides[d] != stride && !is_one(g, view->extents[d]);
    }
    return stride == GRAPH_NOT_SET ? hg_error_record()->status : HG_OK;
}

static hg_status no_permutation(const hg_graph *g, uint32_t of, uint32_t count) {
    hg_text shape = {0};
    graph_print_shape(&shape, g, &g->values.data[of]);
    hg_status status = hg_fail(HG_ERROR_INVALID_ARGUMENT,
                               "permuted takes each axis once, 0 to %d: the value is %s, %u given",
                               (int)g->values.data[of].rank - 1, shape.data ? shape.data : "",
                               (unsigned)count);
    hg_text_free(&shape);
    return status;
}

hg_status graph_permute(hg_graph *g, uint32_t of, const graph_extent *order, uint32_t count,
                        graph_value *view) {
    graph_extent strides[PLAN_MAX_RANK];
    uint32_t seen = 0, rank = g->values.data[of].rank;
    HG_TRY(strides_of(g, of, strides));
    for (uint32_t d = 0; d < count && d < PLAN_MAX_RANK; d++) {
        uint64_t axis;
        if (!graph_is_number(g, order[d], &axis) || axis >= rank)
            return no_permutation(g, of, count);
        seen |= 1u << axis;
        view->extents[d] = g->values.data[of].extents[axis];
        view->strides[d] = strides[axis];
    }
    if (count != rank || seen != (1u << rank) - 1) return no_permutation(g, of, count);
    view->rank = (uint8_t)rank;
    return graph_set_strides(g, view);
}

hg_status graph_broadcast(hg_graph *g, uint32_t of, graph_value *view) {
    graph_extent strides[PLAN_MAX_RANK], none = graph_number(g, 0);
    HG_TRY(strides_of(g, of, strides));
    const graph_value v = g->values.data[of];
    uint32_t more = view->rank >= v.rank ? (uint32_t)view->rank - v.rank : 0;
    bool fits = view->rank >= v.rank && none != GRAPH_NOT_SET;
    for (uint32_t d = 0; d < view->rank && fits; d++) {
        bool same = d >= more && v.extents[d - more] == view->extents[d];
        fits = d < more || same || is_one(g, v.extents[d - more]);
        view->strides[d] = same ? strides[d - more] : none;
    }
    if (none == GRAPH_NOT_SET) return hg_error_record()->status;
    if (fits) return graph_set_strides(g, view);
    hg_text from = {0}, to = {0};
    graph_print_shape(&from, g, &v);
    graph_print_shape(&to, g, view);
    hg_status status = hg_fail(HG_ERROR_INVALID_ARGUMENT,
                               "%s is not repeated to %s: an extent is the same or 1",
                               from.data ? from.data : "", to.data ? to.data : "");
    hg_text_free(&from);
    hg_text_free(&to);
    return status;
}

hg_status graph_check_view(const hg_graph *g, uint32_t of) {
    const graph_value *v = &g->values.data[of];
    if (!v->strided) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "the elements of %s do not lie one after another: a view of it has strides, or "
                   "is permuted or broadcast",
                   v->name ? v->name : "the value");
}

/* ---- lanes that read views ---- */

bool graph_add_number(const hg_graph *g, graph_extent e, graph_stride_params *params) {
    uint64_t value;
    if (graph_is_number(g, e, &value)) return true;
    for (uint32_t i = 0; i < params->count; i++)
        if (params->extents[i] == e) return true;
    if (params->count == GRAPH_MOST_STRIDE_PARAMS) return false;
    params->extents[params->count++] = e;
    return true;
}

bool graph_add_stride_params(const hg_graph *g, const graph_axes *axes,
                             graph_stride_params *params) {
    bool room = graph_add_number(g, axes->offset, params);
    for (uint32_t i = 0; i < axes->rank && room; i++)
        room = (i == 0 || graph_add_number(g, axes->extents[i], params)) &&
               graph_add_number(g, axes->strides[i], params);
    return room;
}

uint8_t graph_number_register(graph_extent e, const graph_stride_params *params) {
    uint32_t i = 0;
    while (i < params->count && params->extents[i] != e) i++;
    return (uint8_t)(params->first + i);
}

/* The register that has an extent: a parameter, or `spare` with the number. */
static uint8_t in_register(hg_builder *b, const hg_graph *g, graph_extent e,
                           const graph_stride_params *params, uint8_t spare) {
    uint64_t value;
    if (!graph_is_number(g, e, &value)) return graph_number_register(e, params);
    hg_build_mov_imm(b, HG_TYPE_U64, spare, hg_imm_bits(&value));
    return spare;
}

/* index += at * stride */
static void add_axis(hg_builder *b, const hg_graph *g, graph_extent stride,
                     const graph_stride_params *params, uint8_t at, uint8_t index) {
    uint64_t value;
    bool number = graph_is_number(g, stride, &value);
    if (number && value == 0) return;
    if (number && value == 1)
        hg_build_add(b, HG_TYPE_U64, index, index, at);
    else
        hg_build_mad(b, HG_TYPE_U64, index, at,
                     in_register(b, g, stride, params, (uint8_t)(index + 3)), index);
}

void graph_write_index(hg_builder *b, const hg_graph *g, const graph_axes *axes,
                       const graph_stride_params *params, uint8_t lane, uint8_t index) {
    uint8_t rest = (uint8_t)(index + 1), at = (uint8_t)(index + 2), spare = (uint8_t)(index + 3);
    hg_build_mov(b, HG_TYPE_U64, rest, lane);
    hg_build_mov(b, HG_TYPE_U64, index, in_register(b, g, axes->offset, params, spare));
    for (uint32_t i = axes->rank; i-- > 1;) {
        uint8_t extent = in_register(b, g, axes->extents[i], params, spare);
        hg_build_rem(b, HG_TYPE_U64, at, rest, extent);
        hg_build_div(b, HG_TYPE_U64, rest, rest, extent);
        add_axis(b, g, axes->strides[i], params, at, index);
    }
    if (axes->rank) add_axis(b, g, axes->strides[0], params, rest, index);
}

/* ---- loops as a grid ---- */

/* One division by a number costs less than many blocks do. */
enum { MOST_LANES = 256, LEAST_LANES = 8, DIRECTIONS = 3, LEAST_LOOPS = 3 };

bool graph_find_grid(const hg_graph *g, const graph_axes *axes, graph_grid *grid) {
    uint64_t inner;
    if (axes->rank < LEAST_LOOPS || axes->rank > GRAPH_MOST_PLACES ||
        !graph_is_number(g, axes->extents[axes->rank - 1], &inner))
        return false;
    uint64_t block = inner < MOST_LANES ? inner : MOST_LANES;
    while (block >= LEAST_LANES && inner % block) block--;
    if (block < LEAST_LANES || inner / block > UINT32_MAX) return false;
    *grid = (graph_grid){
        .axes = axes, .block = (uint32_t)block, .parts = (uint32_t)(inner / block)};
    return axes->rank - 1 + (grid->parts > 1) <= (uint32_t)DIRECTIONS;
}

bool graph_add_grid_params(const hg_graph *g, const graph_grid *grid, graph_stride_params *params) {
    for (uint32_t i = 0; i + 1 < grid->axes->rank; i++)
        if (!graph_add_number(g, grid->axes->extents[i], params)) return false;
    return true;
}

static hg_dim dim_of(const hg_graph *g, graph_extent e, const graph_stride_params *params,
                     char (*names)[16]) {
    uint64_t value;
    uint32_t i = 0;
    if (graph_is_number(g, e, &value)) return hg_dim_of(value);
    while (params->extents[i] != e) i++;
    return hg_dim_param(names[i]);
}

void graph_write_grid(hg_builder *b, const hg_graph *g, const graph_grid *grid,
                      const graph_stride_params *params, char (*names)[16]) {
    hg_dim dims[DIRECTIONS];
    uint32_t count = 0;
    if (grid->parts > 1) dims[count++] = hg_dim_of(grid->parts);
    for (uint32_t i = grid->axes->rank - 1; i-- > 0;)
        dims[count++] = dim_of(g, grid->axes->extents[i], params, names);
    hg_builder_block(b, grid->block, 1, 1);
    hg_builder_grid(b, dims, count);
}

static void write_id(hg_builder *b, uint8_t reg, const char *name) {
    hg_build_rdid(b, reg, name);
    hg_build_cvt(b, HG_TYPE_U64, HG_TYPE_U32, reg, reg);
}

void graph_write_places(hg_builder *b, const graph_grid *grid, uint8_t places) {
    static const char *const NAMES[DIRECTIONS] = {"block_idx_x", "block_idx_y", "block_idx_z"};
    uint32_t last = grid->axes->rank - 1, direction = 0;
    write_id(b, (uint8_t)(places + last), "lane_idx_x");
    if (grid->parts > 1) { /* part * block + lane; the register of the loop around it is written
                              behind this */
        const uint64_t block = grid->block;
        uint8_t part = places, lanes = (uint8_t)(places + (last == 1 ? 2 : 1));
        write_id(b, part, NAMES[direction++]);
        hg_build_mov_imm(b, HG_TYPE_U64, lanes, hg_imm_bits(&block));
        hg_build_mad(b, HG_TYPE_U64, (uint8_t)(places + last), part, lanes,
                     (uint8_t)(places + last));
    }
    for (uint32_t i = last; i-- > 0;) write_id(b, (uint8_t)(places + i), NAMES[direction++]);
}

bool graph_same_loops(const graph_axes *a, const graph_axes *b) {
    return a->rank == b->rank && memcmp(a->extents, b->extents, a->rank * sizeof *a->extents) == 0;
}

void graph_write_index_by_places(hg_builder *b, const hg_graph *g, const graph_axes *axes,
                                 const graph_stride_params *params, uint8_t places, uint8_t index) {
    hg_build_mov(b, HG_TYPE_U64, index,
                 in_register(b, g, axes->offset, params, (uint8_t)(index + 3)));
    for (uint32_t i = axes->rank; i-- > 0;)
        add_axis(b, g, axes->strides[i], params, (uint8_t)(places + i), index);
}
