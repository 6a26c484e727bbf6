/* The table of shapes, read. Must not know: values, calls. */
#ifndef HG_GRAPH_SHAPES_H
#define HG_GRAPH_SHAPES_H

#include "graph/request.h"

typedef enum graph_shape_kind {
    GRAPH_SHAPE_ANY,
    GRAPH_SHAPE_SIZE,     /* the size */
    GRAPH_SHAPE_MANY,     /* extents whose product is the size */
    GRAPH_SHAPE_PART,     /* the size divided by the number `by` */
    GRAPH_SHAPE_QUOTIENT, /* by the size `by` */
    GRAPH_SHAPE_CONV,     /* what conv2d makes along axis `by` */
    GRAPH_SHAPE_OUTS      /* what windows make along each axis of the operand size */
} graph_shape_kind;
typedef struct graph_shape_extent {
    uint8_t kind;
    uint32_t operand, by;
} graph_shape_extent;
/* An array's shape. */
typedef struct graph_shape {
    uint32_t operand, flag; /* flag: HG_MAX_OPERANDS: none */
    uint32_t maybe; /* the size without which there is no extent `maybe_at`; HG_MAX_OPERANDS: none
                     */
    uint32_t maybe_at;
    uint32_t count;
    graph_shape_extent extents[PLAN_MAX_RANK];
} graph_shape;

/* "": the table has no line for it. */
const char *graph_shape_pattern(hg_op op);
/* The next array of a pattern; false: there is none. */
bool graph_shape_next(const hg_op_info *row, const char **pattern, graph_shape *shape);
/* That of an operand of a call, settled; false: the table has none for it. */
bool graph_shape_of(graph_request *request, uint32_t operand, graph_shape *shape);
/* As a call has it: flag: that is true, and the last two extents are the other way round; maybe:
 * the call has that size. */
void graph_shape_settle(graph_shape *shape, bool flag, bool maybe);
/* Whether some of a call's operands are leading dimensions (lda, …): its sizes are not its shapes
 * then. */
bool graph_has_leading(const hg_op_info *row, const graph_operand *operands, uint32_t count);
/* The operand with the name of another one and `suffix` behind it; HG_MAX_OPERANDS: there is none.
 */
uint32_t graph_operand_behind(const hg_op_info *row, uint32_t operand, const char *suffix);
/* How many extents of a value the `n*` of a shape is; negative: the value has another number of
 * extents. */
int graph_shape_many(const graph_shape *shape, uint8_t rank);

#endif
