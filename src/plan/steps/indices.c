/* gather, scatter, scatter_add, segment_reduce: the library programs of indices.atlas, behind a
 * check of the indices. */
#include "plan/steps/indices.h"
#include "kir/define/define.h"
#include "plan/steps/lines.h"
#include "plan/steps/tree.h"

/* Of a block; fewer lanes than FEW_LANES are one a block, as scalar code. CHECKED: indices of a
 * block. */
enum {
    LANES = 64,
    FEW_WIDE_LANES = 16,
    MANY_LANES = 256,
    BLOCK_LANES = 32,
    FEW_LANES = 8,
    CHECKED = 4096
};

static bool is_wide(const plan_call *call) { return plan_named(call, "wide") != 0; }
/* The constants I and WIDE. */
static int32_t index_type(const plan_call *call) {
    return is_wide(call) ? HG_TYPE_U64 : HG_TYPE_U32;
}

static void shape_indices(plan_call *call, const char *name, uint64_t count) {
    plan_array *a = plan_array_of(call, plan_operand_named(call, name));
    a->type = is_wide(call) ? HG_TYPE_I64 : HG_TYPE_U32;
    plan_array_shape(a, 1, &count);
}

/* Where the check leaves its mark. */
static plan_part expand_check(const plan_call *call, plan_expansion *x, const char *name,
                              uint64_t count, uint64_t limit, uint32_t choice) {
    static const uint32_t zero = 0;
    plan_part bad = plan_scratch(x, 1, sizeof zero);
    plan_expand_write(x, bad, &zero);
    if (count == 0) return bad;
    plan_kernel_key key = {.make = plan_index_check,
                           .type = call->type,
                           .arrays = PLAN_INDEX_ARRAYS,
                           .values = PLAN_INDEX_NUMBERS,
                           .choice = choice | (is_wide(call) ? (uint32_t)PLAN_INDEX_WIDE : 0) |
                                     PLAN_INDEX_OPERAND * plan_operand_named(call, name)};
    plan_expand_launch(x, &key, ((count - 1) / CHECKED + 1) * PLAN_INDEX_LANES, PLAN_INDEX_LANES, 0,
                       (plan_part[]){plan_part_named(call, name), bad},
                       (uint64_t[]){count, limit, CHECKED});
    return bad;
}

static plan_cost cost(const plan_call *call) {
    uint64_t bytes = plan_call_bytes(call);
    return (plan_cost){bytes, bytes / hg_type_size_bytes((hg_type)call->type)};
}

/* ---- gather, scatter, scatter_add ---- */

/* Lines of the array that indices point into, and of the other one. */
static plan_lines indexed_lines(const plan_call *call) {
    plan_lines lines = plan_named_lines(call);
    lines.n = plan_named(call, "count");
    return lines;
}

static void ranges(plan_call *call) {
    bool gathers = call->op == HG_OP_GATHER;
    plan_lines lines = plan_named_lines(call), indexed = indexed_lines(call);
    plan_shape_lines(call, "output", gathers ? &indexed : &lines);
    plan_shape_lines(call, "input", gathers ? &lines : &indexed);
    shape_indices(call, "indices", indexed.n);
}

static void expand_gather(const plan_call *call, plan_expansion *x) {
    plan_lines lines = plan_named_lines(call), made = indexed_lines(call);
    plan_part bad = expand_check(call, x, "indices", made.n, lines.n, 0);
    if (plan_lines_are_none(&made) || lines.n == 0) return;
    bool blocks = made.inner >= FEW_WIDE_LANES;
    uint32_t block = made.inner >= MANY_LANES         ? MANY_LANES
                     : made.inner >= LANES || !blocks ? LANES
                                                      : FEW_WIDE_LANES;
    plan_kernel_key key = plan_library_key(LIBRARY_INDICES_GATHER, (hg_type)call->type, HG_OP_MOV,
                                           (int32_t[]){index_type(call), is_wide(call),
                                                       lines.outer == 1 && lines.inner == 1, blocks,
                                                       (int32_t)block},
                                           4, 4);
    const plan_part parts[] = {plan_part_named(call, "input"), plan_part_named(call, "indices"),
                               bad, plan_part_named(call, "output")};
    uint64_t rows = plan_times(made.outer, made.n), lanes = plan_times(rows, made.inner),
             groups = plan_times(rows, (made.inner - 1) / block + 1);
    const uint64_t values[] = {lines.n, made.n, made.inner, blocks ? groups : lanes};
    if (blocks)
        plan_expand_grid(x, &key, (uint64_t[]){groups, 1, 1}, (uint32_t[]){block, 1, 1}, 0, parts,
                         values);
    else
        plan_expand_launch(x, &key, lanes, block, 0, parts, values);
}

/* A lane goes through all indices for a part of the places of a line, so that sums are in their
 * order: as many parts as the device wants lanes. */
static void expand_places(const plan_call *call, plan_expansion *x, plan_part bad, plan_part to,
                          bool wide_sums) {
    plan_lines lines = plan_named_lines(call);
    uint64_t lines_count = lines.outer * lines.inner,
             wanted = plan_tile(x, LIBRARY_TILE_SCATTER_LANES) / lines_count,
             parts = wanted < 1         ? 1
                     : wanted > lines.n ? lines.n
                                        : wanted,
             width = (lines.n - 1) / parts + 1, lanes = lines_count * parts;
    hg_type type = (hg_type)call->type;
    uint32_t block = lanes < FEW_LANES ? 1 : BLOCK_LANES;
    plan_kernel_key key = plan_library_key(
        LIBRARY_INDICES_SCATTER, type, HG_OP_MOV,
        (int32_t[]){index_type(call), is_wide(call), call->op == HG_OP_SCATTER_ADD,
                    (int32_t)(wide_sums ? library_sum_type(type) : type), (int32_t)block},
        4, 6);
    x->work = plan_times(lanes, plan_named(call, "count"));
    plan_expand_launch(
        x, &key, lanes, block, 0,
        (plan_part[]){plan_part_named(call, "input"), plan_part_named(call, "indices"), bad, to},
        (uint64_t[]){lines.n, plan_named(call, "count"), lines.inner, parts, width, lanes});
}

static void expand_scatter(const plan_call *call, plan_expansion *x) {
    plan_lines lines = plan_named_lines(call), taken = indexed_lines(call);
    hg_type type = (hg_type)call->type, sum = library_sum_type(type);
    plan_part bad = expand_check(call, x, "indices", taken.n, lines.n, 0),
              output = plan_part_named(call, "output"), sums;
    uint64_t all = lines.outer * lines.n * lines.inner;
    if (plan_lines_are_none(&taken) || lines.n == 0) return;
    if (call->op == HG_OP_SCATTER || sum == type) {
        expand_places(call, x, bad, output, false);
        return;
    }
    sums = plan_scratch(x, all, hg_type_size_bytes(sum));
    plan_kernel_key widen = plan_library_key(LIBRARY_INDICES_WIDEN, type, HG_OP_MOV,
                                             (int32_t[]){HG_TYPE_U32}, 2, 1),
                    narrow = plan_library_key(LIBRARY_INDICES_NARROW, type, HG_OP_MOV,
                                              (int32_t[]){HG_TYPE_U32}, 3, 1);
    plan_expand_launch(x, &widen, all, LANES, 0, (plan_part[]){output, sums}, &all);
    expand_places(call, x, bad, sums, true);
    plan_expand_launch(x, &narrow, all, LANES, 0, (plan_part[]){bad, sums, output}, &all);
}

/* ---- segment_reduce ---- */

/* Folds of a lane that is a block of its own, where there are many. */
enum { MOST_LEVELS = 4, MOST_FOLDS = 64, SOME_LANES = 8 };

static void check_segments(const plan_call *call, plan_problem *problem) {
    uint64_t n = plan_named(call, "n"), segments = plan_named(call, "segments");
    if (n >> 48)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "n"),
                    "%llu, less than 2^48 expected", (unsigned long long)n);
    if (segments == UINT64_MAX)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "segments"),
                    "%llu, at most %llu expected", (unsigned long long)segments,
                    (unsigned long long)UINT64_MAX - 1);
}

static void segment_ranges(plan_call *call) {
    uint64_t segments = plan_named(call, "segments"), inner = plan_named(call, "inner");
    plan_lines input = {1, plan_named(call, "n"), inner}, output = {1, segments, inner};
    plan_shape_lines(call, "output", &output);
    plan_shape_lines(call, "input", &input);
    shape_indices(call, "offsets", segments + 1);
}

/* Sums and products of floats are rounded, so their order shows. */
static bool shows_order(const plan_call *call) {
    return hg_type_is_float((hg_type)call->type) &&
           (call->fn == HG_OP_ADD || call->fn == HG_OP_MUL);
}

static void expand_segments(const plan_call *call, plan_expansion *x) {
    uint64_t n = plan_named(call, "n"), inner = plan_named(call, "inner"),
             segments = plan_named(call, "segments"), folds = segments * inner;
    hg_type type = (hg_type)call->type, sum = library_sum_type(type);
    bool tree = shows_order(call);
    int32_t levels = 1;
    uint8_t identity[512];
    plan_part bad = expand_check(call, x, "offsets", segments, n, PLAN_INDEX_OFFSETS);
    if (folds == 0) return;
    uint32_t block = plan_tile(x, LIBRARY_TILE_SEGMENT_LANES);
    uint64_t step = block > 1 || folds < MOST_FOLDS * SOME_LANES ? 1 : MOST_FOLDS;
    plan_part nothing = plan_scratch(x, 1, hg_type_size_bytes(sum));
    kir_identity((hg_op)call->fn, sum, identity);
    plan_expand_write(x, nothing, identity);
    for (uint64_t covered = PLAN_CHUNK; tree && covered < n && levels < MOST_LEVELS;
         covered *= PLAN_CHUNK)
        levels++;
    plan_kernel_key key = plan_library_key(
        LIBRARY_INDICES_SEGMENTS, type, HG_OP_MOV,
        (int32_t[]){index_type(call), plan_fold_number(call->fn), tree, levels, (int32_t)block}, 5,
        3);
    plan_expand_launch(x, &key, (folds - 1) / step + 1, block, 0,
                       (plan_part[]){plan_part_named(call, "input"),
                                     plan_part_named(call, "offsets"), bad, nothing,
                                     plan_part_named(call, "output")},
                       (uint64_t[]){inner, folds, step});
}

const plan_collective plan_collective_gather = {
    .ranges = ranges, .expand = expand_gather, .cost = cost, .overlap = PLAN_OVERLAP_NEVER};
const plan_collective plan_collective_scatter = {
    .ranges = ranges, .expand = expand_scatter, .cost = cost, .overlap = PLAN_OVERLAP_NEVER};
const plan_collective plan_collective_segment_reduce = {.check = check_segments,
                                                        .ranges = segment_ranges,
                                                        .expand = expand_segments,
                                                        .cost = cost,
                                                        .overlap = PLAN_OVERLAP_NEVER};
