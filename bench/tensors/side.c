/* The library's side of measurements with tensors, which side.py opens: steps that are repeated,
 * without Python between them. */
#include <hologram/hologram.h>
#include <time.h>

enum { MOST_INPUTS = 3, MOST_TENSORS = 64 };

enum { RESHAPE = -1, PERMUTE = -2 }; /* views: shape or order are options' sizes */

/* One operation, or a view. Inputs are numbers of tensors: of those given, then of the steps'
 * results. */
typedef struct side_step {
    int32_t operation;
    uint32_t inputs[MOST_INPUTS], input_count;
    const hg_ops_options *options;
} side_step;

typedef struct side_work {
    hg_executor *executor;
    hg_tensor *const *given;
    uint32_t given_count;
    const side_step *steps;
    uint32_t step_count;
    bool in_scope, own_clock; /* own_clock: seconds are the thread's processor time */
} side_work;

static double now(const side_work *w) {
    struct timespec t;
    clock_gettime(w->own_clock ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static hg_status step(hg_executor *executor, const side_step *s, const hg_tensor *const *inputs,
                      hg_tensor **result) {
    const hg_ops_options *o = s->options;
    int32_t order[8];
    if (s->operation >= 0)
        return hg_ops_call(executor, (hg_operation)s->operation, inputs, s->input_count, o, result,
                           1);
    if (s->operation == RESHAPE)
        return hg_tensor_reshape(inputs[0], o->sizes, o->size_count, result);
    if (s->operation != PERMUTE || o->size_count > 8) return HG_ERROR_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < o->size_count; i++) order[i] = (int32_t)o->sizes[i];
    return hg_tensor_permute(inputs[0], order, o->size_count, result);
}

/* All steps once; the result of the last one is the caller's. */
static hg_status once(const side_work *w, hg_tensor **result) {
    hg_tensor *tensors[MOST_TENSORS] = {NULL};
    hg_tensor_scope *scope = NULL;
    hg_status status = w->in_scope ? hg_scope_begin(w->executor, &scope) : HG_OK;
    for (uint32_t i = 0; i < w->given_count; i++) tensors[i] = w->given[i];
    for (uint32_t k = 0; k < w->step_count && status == HG_OK; k++) {
        const side_step *s = &w->steps[k];
        const hg_tensor *inputs[MOST_INPUTS];
        for (uint32_t i = 0; i < s->input_count; i++) inputs[i] = tensors[s->inputs[i]];
        status = step(w->executor, s, inputs, &tensors[w->given_count + k]);
    }
    for (uint32_t k = 0; k + 1 < w->step_count; k++) hg_tensor_release(tensors[w->given_count + k]);
    *result = tensors[w->given_count + w->step_count - 1];
    hg_status ended = hg_scope_end(scope);
    return status == HG_OK ? ended : status;
}

HG_API hg_status side_executor(hg_executor **executor);
/* As the environment configures it, which is read now. */
hg_status side_executor(hg_executor **executor) {
    hg_config config;
    hg_status status = hg_config_from_env(&config);
    return status == HG_OK ? hg_executor_create_from_config(&config, executor) : status;
}

HG_API hg_status side_repeat(const side_work *work, uint64_t times, double *seconds,
                             hg_tensor **result);
/* Does the steps `times` times; the last result is the caller's, of an error too. */
hg_status side_repeat(const side_work *work, uint64_t times, double *seconds, hg_tensor **result) {
    hg_status status = HG_OK;
    *result = NULL;
    if (!work->step_count || work->given_count + work->step_count > MOST_TENSORS)
        return HG_ERROR_INVALID_ARGUMENT;
    double from = now(work);
    for (uint64_t i = 0; i < times && status == HG_OK; i++) {
        hg_tensor_release(*result);
        status = once(work, result);
    }
    *seconds = now(work) - from;
    return status;
}
