/* layer_norm and group_norm: the library program rows.atlas, norm; rms_norm: rows.atlas, rms_norm.
 */
#include "plan/steps/rows.h"

typedef struct norm {
    plan_rows rows;
    uint64_t groups, channels, spatial; /* of a batch, of a group, of a channel */
} norm;

static norm norm_of(const plan_call *call) {
    norm p = {.groups = 1, .spatial = 1};
    if (call->op != HG_OP_GROUP_NORM) {
        p.rows = plan_named_rows(call);
        return p;
    }
    p.groups = plan_named(call, "groups");
    p.channels = p.groups ? plan_named(call, "channels") / p.groups : 0;
    p.spatial = plan_named(call, "spatial");
    p.rows.count = plan_times(plan_named(call, "batch"), p.groups);
    p.rows.n = p.rows.stride = plan_times(p.channels, p.spatial);
    p.rows.inner = 1;
    return p;
}

static void check(const plan_call *call, plan_problem *problem) {
    if (call->op != HG_OP_GROUP_NORM) {
        plan_check_row_stride(call, problem);
        return;
    }
    uint64_t groups = plan_named(call, "groups"), channels = plan_named(call, "channels");
    if (groups == 0)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "groups"),
                    "0, at least 1 expected");
    else if (channels % groups)
        plan_refuse(call, problem, KIR_FAULT_DOMAIN, plan_operand_named(call, "groups"),
                    "num_channels (%llu) must be divisible by num_groups (%llu)",
                    (unsigned long long)channels, (unsigned long long)groups);
}

/* What is calculated of each row and given where it is wanted: [rows, inner] without gaps. */
static void shape_given(const plan_call *call, const char *name, const plan_rows *rows) {
    plan_array *array = plan_array_of(call, plan_operand_named(call, name));
    if (array) plan_array_shape(array, 2, (const uint64_t[]){rows->count, rows->inner});
}

static void ranges(plan_call *call) {
    norm p = norm_of(call);
    uint64_t parameters = call->op == HG_OP_GROUP_NORM ? plan_named(call, "channels") : p.rows.n;
    plan_shape_rows(call, "output", &p.rows);
    plan_shape_rows(call, "input", &p.rows);
    plan_shape_line(call, "gamma", parameters);
    if (call->op != HG_OP_RMS_NORM) plan_shape_line(call, "beta", parameters);
    if (call->op == HG_OP_LAYER_NORM) shape_given(call, "mean", &p.rows);
    if (call->op != HG_OP_GROUP_NORM) shape_given(call, "inverse_deviation", &p.rows);
}

enum { SHORT_ROW = 256, LANES = 32, FEW_LANES = 16 };

static uint32_t lanes_of(const plan_expansion *x) {
    return x->rolled || plan_tile(x, LIBRARY_TILE_NORM_LANES) >= LANES ? LANES : FEW_LANES;
}

static void expand(const plan_call *call, plan_expansion *x) {
    norm p = norm_of(call);
    hg_type type = (hg_type)call->type;
    uint64_t size = hg_type_size_bytes(library_sum_type(type));
    bool of_group = call->op == HG_OP_GROUP_NORM;
    plan_given g = {.parts = {plan_part_named(call, "input"), plan_part_named(call, "gamma"),
                              plan_part_named(call, "beta"), plan_part_named(call, "output")},
                    .arrays = 4};
    bool mean = !of_group && plan_give_array(&g, call, "mean"),
         inverse = !of_group && plan_give_array(&g, call, "inverse_deviation");
    plan_expand_rows(
        x, &(plan_row_program){
               .id = LIBRARY_ROWS_NORM,
               .type = type,
               .fn = of_group ? call->fn : HG_OP_MOV,
               .rows = p.rows,
               .lanes = lanes_of(x),
               .at_once = of_group || x->rolled   ? 1
                          : p.rows.n <= SHORT_ROW ? 4
                                                  : 2, /* beyond, 4 rows leave no registers */
               .shared_bytes = 80 * size,
               .constants = (int32_t[]){(int32_t)size, x->rolled, of_group && p.spatial > 1,
                                        of_group, of_group && call->fn != HG_OP_MOV, mean, inverse},
               .constant_count = 7,
               .parts = g.parts,
               .part_count = g.arrays,
               .values = (uint64_t[]){p.rows.n, p.rows.stride, plan_named(call, "eps"), p.groups,
                                      p.channels, p.spatial},
               .value_count = 6});
}

static void expand_rms(const plan_call *call, plan_expansion *x) {
    plan_rows rows = plan_named_rows(call);
    plan_given g = {.parts = {plan_part_named(call, "input"), plan_part_named(call, "gamma"),
                              plan_part_named(call, "output")},
                    .arrays = 3};
    bool inverse = plan_give_array(&g, call, "inverse_deviation");
    hg_type type = (hg_type)call->type;
    uint64_t size = hg_type_size_bytes(library_sum_type(type));
    plan_expand_rows(
        x, &(plan_row_program){.id = LIBRARY_ROWS_RMS_NORM,
                               .type = type,
                               .fn = HG_OP_MOV,
                               .rows = rows,
                               .lanes = lanes_of(x),
                               .at_once = x->rolled             ? 1
                                          : rows.n <= SHORT_ROW ? 4
                                                                : 2,
                               .shared_bytes = 80 * size,
                               .constants = (int32_t[]){(int32_t)size, x->rolled, inverse},
                               .constant_count = 3,
                               .parts = g.parts,
                               .part_count = g.arrays,
                               .values = (uint64_t[]){rows.n, rows.stride, plan_named(call, "eps")},
                               .value_count = 3});
}

/* A sum; a difference, a square, a sum; a difference, two products and a sum. */
static plan_cost cost(const plan_call *call) {
    norm p = norm_of(call);
    return (plan_cost){plan_call_bytes(call),
                       plan_times(plan_times(p.rows.count, plan_times(p.rows.n, p.rows.inner)), 8)};
}

const plan_collective plan_collective_norm = {.check = check,
                                              .ranges = ranges,
                                              .expand = expand,
                                              .cost = cost,
                                              .overlap = PLAN_OVERLAP_SAME,
                                              .fuses = true,
                                              .loads = true};
const plan_collective plan_collective_rms_norm = {.check = check,
                                                  .ranges = ranges,
                                                  .expand = expand_rms,
                                                  .cost = cost,
                                                  .overlap = PLAN_OVERLAP_SAME,
                                                  .fuses = true,
                                                  .loads = true};
