/* batch_norm and layer_scale: rows.atlas, batch_norm and scale, of each element alone. */
#include "plan/steps/chain.h"
#include "plan/steps/rows.h"

/* Rows of batch_norm are channels of a batch, or batches of channels where a channel has one
 * element. */
static plan_rows rows_of(const plan_call *call) {
    plan_rows rows = {.inner = 1};
    if (call->op == HG_OP_LAYER_SCALE) {
        rows.count = plan_named(call, "rows");
        rows.n = plan_named(call, "n");
    } else {
        uint64_t channels = plan_named(call, "channels"), spatial = plan_named(call, "spatial");
        rows.count = spatial == 1 ? plan_named(call, "batch")
                                  : plan_times(plan_named(call, "batch"), channels);
        rows.n = spatial == 1 ? channels : spatial;
    }
    rows.stride = rows.n;
    return rows;
}

static const char *const PARAMETERS[] = {"gamma", "beta", "mean", "variance"};

static void ranges(plan_call *call) {
    plan_rows rows = rows_of(call);
    plan_shape_rows(call, "output", &rows);
    plan_shape_rows(call, "input", &rows);
    if (call->op == HG_OP_LAYER_SCALE)
        plan_shape_line(call, "scale", rows.n);
    else
        for (uint32_t i = 0; i < HG_COUNT_OF(PARAMETERS); i++)
            plan_shape_line(call, PARAMETERS[i], plan_named(call, "channels"));
}

/* Blocks of 8 Ki elements or a little more, so that a thread has something to do and all of them
 * have some: rows, of columns where they are long. */
enum { BLOCK = 32, ELEMENTS = 8192 };

static void expand(const plan_call *call, plan_expansion *x) {
    plan_rows rows = rows_of(call);
    hg_type type = (hg_type)call->type;
    bool norm = call->op == HG_OP_BATCH_NORM;
    if (rows.count == 0 || rows.n == 0) return;
    uint64_t width = rows.n > ELEMENTS ? ELEMENTS : rows.n, step = (ELEMENTS - 1) / width + 1;
    uint64_t grid[3] = {(rows.count - 1) / step + 1, (rows.n - 1) / width + 1, 1};
    int32_t constants[] = {(int32_t)hg_type_size_bytes(library_sum_type(type)),
                           norm && plan_named(call, "spatial") == 1, norm && call->fn != HG_OP_MOV,
                           x->rolled};
    plan_kernel_key key = norm ? plan_library_key(LIBRARY_ROWS_BATCH_NORM, type, call->fn,
                                                  constants, 6, 6)
                               : plan_library_key(LIBRARY_ROWS_SCALE, type, HG_OP_MOV,
                                                  (int32_t[]){1}, 3, 4);
    uint64_t values[6] = {rows.count, step, rows.n, width};
    plan_part parts[6 + PLAN_CHAIN_ARRAYS] = {plan_part_named(call, "input")};
    uint32_t count = 1;
    if (norm) {
        values[4] = plan_named(call, "channels");
        values[5] = plan_named(call, "eps");
    }
    for (uint32_t i = 0; norm && i < HG_COUNT_OF(PARAMETERS); i++)
        parts[count++] = plan_part_named(call, PARAMETERS[i]);
    if (!norm) parts[count++] = plan_part_named(call, "scale");
    parts[count] = plan_part_named(call, "output");
    plan_fuse(x, &key, parts, PLAN_IN_FRONT | PLAN_BEHIND);
    plan_expand_grid(x, &key, grid, (uint32_t[]){BLOCK, 1, 1}, 0, parts, values);
}

static plan_cost cost(const plan_call *call) {
    plan_rows rows = rows_of(call);
    return (plan_cost){plan_call_bytes(call), plan_times(plan_times(rows.count, rows.n),
                                                         call->op == HG_OP_BATCH_NORM ? 3 : 1)};
}

const plan_collective plan_collective_batch_norm = {.ranges = ranges,
                                                    .expand = expand,
                                                    .cost = cost,
                                                    .overlap = PLAN_OVERLAP_SAME,
                                                    .fuses = true,
                                                    .loads = true};
