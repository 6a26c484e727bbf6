/* reduce_axis: folds along an axis, the library programs axis.atlas, a launch for each level of
 * the fixed tree. Where elements of a line lie apart, or are few, or too wide for memory of a
 * block, a lane has a chunk, else a block. */
#include "kir/define/define.h"
#include "plan/steps/lines.h"
#include "plan/steps/tree.h"
#include <string.h>

static void ranges(plan_call *call) {
    plan_lines lines = plan_named_lines(call);
    plan_shape_lines(call, "input", &lines);
    plan_array_shape(plan_array_of(call, plan_operand_named(call, "output")), 2,
                     (const uint64_t[]){lines.outer, lines.inner});
}

/* What changes no number that it is put together with. Of floats that is not what a fold of nothing
 * is: -0 for sums, and for the smallest and the largest a NaN, which gives the other. */
static void write_neutral(hg_op op, hg_type type, bool none, uint8_t *bytes) {
    kir_identity(op, type, bytes);
    if (none || !hg_type_is_float(type)) return;
    uint64_t size = hg_type_size_bytes(type);
    if (op == HG_OP_ADD) bytes[size - 1] = 0x80;
    if (op != HG_OP_MIN && op != HG_OP_MAX) return;
    memset(bytes, 0xFF, (size_t)size);
    bytes[size - 1] = 0x7F;
}

/* One level: lines of n elements of type `from`, chunks of each. */
typedef struct level {
    uint64_t n, chunks;
    hg_type from, to;
    plan_part in, out;
} level;

static void expand_level(const plan_call *call, plan_expansion *x, const plan_lines *lines,
                         plan_part nothing, const level *l) {
    hg_type type = (hg_type)call->type, left = library_left_type(library_sum_type(type));
    uint64_t size = hg_type_size_bytes(left), groups = plan_times(lines->outer, l->chunks);
    const plan_part parts[] = {l->in, nothing, l->out};
    library_lines way = library_lines_of(l->n, lines->inner, size,
                                         plan_tile(x, LIBRARY_TILE_COLUMN_LANES));
    if (way.by_block) {
        uint64_t each = library_lines_of_block(groups, plan_tile(x, LIBRARY_TILE_LINE_CHUNKS));
        plan_kernel_key key = plan_library_key(
            LIBRARY_REDUCE_ROWS, type, HG_OP_MOV,
            (int32_t[]){(int32_t)l->from, (int32_t)l->to, (int32_t)left, plan_fold_number(call->fn),
                        (int32_t)size, LIBRARY_LINE_LANES, (int32_t)each},
            3, 3);
        plan_expand_grid(x, &key, (uint64_t[]){(groups - 1) / each + 1, 1, 1},
                         (uint32_t[]){LIBRARY_LINE_LANES, 1, 1}, LIBRARY_LINE_LANES * each * size,
                         parts, (uint64_t[]){l->n, l->chunks, groups});
        return;
    }
    uint64_t count = plan_times(groups, way.lanes);
    plan_kernel_key key = plan_library_key(
        LIBRARY_REDUCE_COLUMNS, type, HG_OP_MOV,
        (int32_t[]){(int32_t)l->from, (int32_t)l->to, (int32_t)left, plan_fold_number(call->fn),
                    (int32_t)size, way.levels, way.made, (int32_t)way.width, way.wide, way.kept},
        3, 4);
    plan_expand_launch(x, &key, count, way.width, library_lines_shared(&way, size), parts,
                       (uint64_t[]){l->n, l->chunks, lines->inner, count});
}

static void expand(const plan_call *call, plan_expansion *x) {
    plan_lines lines = plan_named_lines(call);
    hg_type type = (hg_type)call->type, sum = library_sum_type(type);
    uint8_t bytes[512];
    bool last;
    if (lines.outer == 0 || lines.inner == 0) return;
    plan_part nothing = plan_scratch(x, 1, hg_type_size_bytes(sum));
    write_neutral((hg_op)call->fn, sum, lines.n == 0, bytes);
    plan_expand_write(x, nothing, bytes);
    level l = {.n = lines.n, .from = type, .in = plan_part_named(call, "input")};
    do {
        l.chunks = l.n ? (l.n - 1) / PLAN_CHUNK + 1 : 1;
        last = l.chunks == 1;
        l.to = last ? type : sum;
        l.out = last ? plan_part_named(call, "output")
                     : plan_scratch(x, plan_times(plan_times(lines.outer, l.chunks), lines.inner),
                                    hg_type_size_bytes(sum));
        expand_level(call, x, &lines, nothing, &l);
        l = (level){.n = l.chunks, .from = sum, .in = l.out};
    } while (!last);
}

static plan_cost cost(const plan_call *call) {
    plan_lines lines = plan_named_lines(call);
    return (plan_cost){plan_call_bytes(call),
                       plan_times(plan_times(lines.outer, lines.n), lines.inner)};
}

const plan_collective plan_collective_reduce_axis = {
    .ranges = ranges, .expand = expand, .cost = cost, .overlap = PLAN_OVERLAP_NEVER};
