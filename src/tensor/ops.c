/* Operations by their numbers: checks, the common type, and into tensors that are given.
 * Must not know: what single operations do. */
#include "tensor/ops.h"
#include "base/limit.h"
#include "base/nearest.h"
#include "base/sized.h"
#include <string.h>

static const ops_row ROWS[] = {
#define OPERATION(id, name, least, most, results, function, about) \
    {#name, about, least, most, results, ops_##function},
#include <hologram/operations.def>
#undef OPERATION
};

const char *hg_ops_name(hg_operation operation) {
    HG_ENTRY;
    return (size_t)operation < HG_COUNT_OF(ROWS) ? ROWS[operation].name : NULL;
}

const char *hg_ops_about(hg_operation operation) {
    HG_ENTRY;
    return (size_t)operation < HG_COUNT_OF(ROWS) ? ROWS[operation].about : NULL;
}

hg_status hg_ops_find(const char *name, hg_operation *operation) {
    HG_ENTRY;
    if (!name || !operation) return hg_null_argument(name ? "operation" : "name");
    hg_nearest nearest;
    for (size_t i = 0; i < HG_COUNT_OF(ROWS); i++)
        if (strcmp(ROWS[i].name, name) == 0) {
            *operation = (hg_operation)i;
            return HG_OK;
        }
    hg_nearest_init(&nearest, name, strlen(name));
    for (size_t i = 0; i < HG_COUNT_OF(ROWS); i++) hg_nearest_try(&nearest, ROWS[i].name);
    const char *hint = hg_nearest_hint(&nearest);
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "'%.60s' is no operation on tensors%s%s", name,
                   hint ? "; " : "", hint ? hint : "");
}

static const hg_sized OPTIONS = HG_SIZED(hg_ops_options, numbers, "zero it and set size");

/* There is the operation, and it has as many results. */
static hg_status check_results(hg_operation operation, uint32_t count) {
    if ((size_t)operation >= HG_COUNT_OF(ROWS))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%d is no operation on tensors", (int)operation);
    if (count == ROWS[operation].results) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %u results are asked for, it has %u",
                   ROWS[operation].name, (unsigned)count, (unsigned)ROWS[operation].results);
}

static hg_status begin(ops_call *c, hg_executor *executor, hg_operation operation,
                       const hg_tensor *const *inputs, uint32_t count,
                       const hg_ops_options *options) {
    const ops_row *row = &ROWS[operation];
    if (!executor || (count && !inputs)) return hg_null_argument(executor ? "inputs" : "executor");
    if (count < row->least || count > row->most)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: %u inputs, %u expected", row->name,
                       (unsigned)count, (unsigned)row->least);
    for (uint32_t i = 0; i < count; i++)
        if (!inputs[i])
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: input %u is NULL", row->name,
                           (unsigned)i);
    c->operation = operation; /* member by member: clearing it all first took as long as a check */
    c->name = row->name;
    c->run = NULL;
    c->in = inputs;
    c->in_count = count;
    c->options = hg_ops_defaults();
    for (uint32_t i = 0; i < OPS_RESULTS; i++) c->out[i] = NULL;
    if (options) HG_TRY(hg_sized_take(&OPTIONS, options, &c->options));
    const hg_ops_options *o = &c->options;
    if ((o->axes || !o->axis_count) && (o->sizes || !o->size_count)) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s: options.%s is NULL, and its count is %u",
                   row->name, o->axes || !o->axis_count ? "sizes" : "axes",
                   (unsigned)(o->axes || !o->axis_count ? o->size_count : o->axis_count));
}

static bool any_complex(const ops_call *c) {
    bool any = tensor_is_complex(c->options.type);
    for (uint32_t i = 0; i < c->in_count; i++) any |= tensor_is_complex(c->in[i]->type);
    return any;
}

/* The results are new tensors, with their elements or recorded. */
static hg_status call(ops_call *c, hg_executor *executor) {
    tensor_run run;
    bool lazy = false;
    for (uint32_t i = 0; i < c->in_count; i++) lazy = lazy || c->in[i]->lazy;
    HG_TRY(lazy ? tensor_run_begin_lazy(&run, executor) : tensor_run_begin(&run, executor));
    c->run = &run;
    hg_status status = HG_OK;
    for (uint32_t i = 0; i < c->in_count && status == HG_OK; i++)
        status = tensor_place(c->in[i]->storage, run.state);
    ops_function *function = ROWS[c->operation].function;
    if (status == HG_OK) status = any_complex(c) ? ops_call_complex(c, function) : function(c);
    status = tensor_run_end(&run, status);
    for (uint32_t i = 0; i < OPS_RESULTS; i++)
        if (c->out[i]) c->out[i]->lazy = lazy;
    if (status == HG_OK) return HG_OK;
    hg_error kept = *hg_error_record();
    for (uint32_t i = 0; i < OPS_RESULTS; i++) {
        hg_tensor_release(c->out[i]);
        c->out[i] = NULL;
    }
    *hg_error_record() = kept;
    return status;
}

hg_status hg_ops_call(hg_executor *executor, hg_operation operation, const hg_tensor *const *inputs,
                      uint32_t input_count, const hg_ops_options *options, hg_tensor **results,
                      uint32_t result_count) {
    HG_ENTRY;
    ops_call c;
    if (!results) return hg_null_argument("results");
    HG_TRY(check_results(operation, result_count));
    for (uint32_t i = 0; i < result_count; i++) results[i] = NULL;
    HG_TRY(begin(&c, executor, operation, inputs, input_count, options));
    HG_TRY(call(&c, executor));
    memcpy(results, c.out, result_count * sizeof *results);
    return HG_OK;
}

static hg_status check_target(const ops_call *c, const hg_tensor *result, const hg_tensor *target) {
    char a[220], b[220];
    bool fits = result->type == target->type && result->rank == target->rank &&
                memcmp(result->shape, target->shape, target->rank * sizeof *target->shape) == 0;
    if (fits) return HG_OK;
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "Tensor shape mismatch: %s gives %s, the target is %s", c->name,
                   tensor_text(result, a), tensor_text(target, b));
}

hg_status hg_ops_call_into(hg_executor *executor, hg_operation operation,
                           const hg_tensor *const *inputs, uint32_t input_count,
                           const hg_ops_options *options, hg_tensor *const *targets,
                           uint32_t target_count) {
    HG_ENTRY;
    ops_call c;
    tensor_state *state;
    if (!targets) return hg_null_argument("targets");
    HG_TRY(check_results(operation, target_count));
    for (uint32_t i = 0; i < target_count; i++)
        if (!targets[i]) return hg_null_argument("a target");
    HG_TRY(begin(&c, executor, operation, inputs, input_count, options));
    HG_TRY(tensor_state_of(executor, &state));
    tensor_formula formula;
    if (ops_formula(&c, &formula, targets[0])) /* no array between */
        return tensor_map_into(state, &formula, inputs, input_count, targets[0]);
    HG_TRY(call(&c, executor));
    hg_status status = HG_OK;
    for (uint32_t i = 0; i < target_count && status == HG_OK; i++)
        status = check_target(&c, c.out[i], targets[i]);
    for (uint32_t i = 0; i < target_count && status == HG_OK; i++) {
        const hg_tensor *from = c.out[i];
        hg_element type = tensor_copied(from->type);
        tensor_formula copy = {.name = "copy", .expression = "a", .computes = type, .gives = type};
        status = tensor_map_into(state, &copy, &from, 1, targets[i]);
    }
    hg_error kept = *hg_error_record();
    for (uint32_t i = 0; i < OPS_RESULTS; i++) hg_tensor_release(c.out[i]);
    *hg_error_record() = kept;
    return status;
}
