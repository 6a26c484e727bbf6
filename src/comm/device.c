/* Collectives whose arrays stay on the device: where the provider reaches its memory, and every
 * rank's arrays lie there. What is combined is combined by programs of the backend, whose bits are
 * those of the host's.
 * Must not know: what a collective is made of. */
#include "comm/comm.h"
#include <stdio.h>
#include <string.h>

enum { OPERATIONS = HG_COMM_XOR + 1 };

struct comm_device {
    hg_buffer window, result; /* the ranks' values, one after another, and what comes of them */
    uint8_t *window_at, *result_at;
    hg_executable *folds[OPERATIONS][HG_TYPE_COUNT];
};

/* ---- arrays ---- */

/* The device's address of the array, if the provider reaches it. */
static bool find_on_device(const comm_op *op, comm_array *a, const void *host, hg_buffer buffer,
                           uint64_t offset) {
    const hg_comm *c = op->comm;
    hg_native_buffer native = {.size = sizeof native};
    uint64_t unit = op->size < 8 ? op->size : 8;
    if (!a->bytes) return true;
    if (host || hg_buffer_native(c->backend, buffer, &native) != HG_OK) return false;
    if (!c->provider->reaches(c->group, &native) || offset > native.bytes ||
        a->bytes > native.bytes - offset || (native.memory + offset) % unit != 0)
        return false; /* what is wrong with it is said where it is copied */
    a->memory = (uint8_t *)(uintptr_t)(native.memory + native.offset + offset);
    return true;
}

/* ---- what waits to be combined ---- */

static hg_status make_buffer(hg_comm *c, uint64_t bytes, hg_buffer *buffer, uint8_t **at) {
    hg_native_buffer native = {.size = sizeof native};
    HG_TRY(hg_backend_allocate_buffer(c->backend, bytes, buffer));
    HG_TRY(hg_buffer_native(c->backend, *buffer, &native));
    *at = (uint8_t *)(uintptr_t)(native.memory + native.offset);
    return HG_OK;
}

hg_status comm_device_window(hg_comm *c, uint8_t **window) {
    struct comm_device *d = c->memory.device;
    if (!d) d = c->memory.device = hg_calloc(1, sizeof *d);
    if (!d) return hg_fail_memory();
    if (!d->window_at)
        HG_TRY(make_buffer(c, c->size * comm_limit.device_window, &d->window, &d->window_at));
    if (!d->result_at) HG_TRY(make_buffer(c, comm_limit.device_window, &d->result, &d->result_at));
    *window = d->window_at;
    return HG_OK;
}

/* ---- arrays that stay there ---- */

bool comm_device_find(comm_op *op) {
    const hg_comm_call *c = &op->call;
    comm_array in = {0}, out = {0};
    uint8_t *window;
    hg_error kept = *hg_error_record();
    if (!comm_op_bytes(op, &in.bytes, &out.bytes) || comm_op_is_small(op)) return false;
    bool parts = c->kind == HG_COMM_ALL_TO_ALL || c->kind == HG_COMM_REDUCE_SCATTER,
         may = op->comm->provider->reaches && comm_is_collective(c->kind) && op->among.count > 1 &&
               find_on_device(op, &in, c->input, c->input_buffer, c->input_offset) &&
               find_on_device(op, &out, c->output, c->output_buffer, c->output_offset) &&
               !(parts && in.memory == out.memory) &&
               (!comm_combines(c->kind) || comm_device_window(op->comm, &window) == HG_OK);
    *hg_error_record() = kept;
    if (!may) return false;
    op->in = in;
    op->out = out;
    return true;
}

/* ---- what is combined ---- */

/* The bits of semantics 0.3 are those of reduce_axis over the ranks; those of and, or, xor are the
 * same in any order. */
static void fold_text(hg_comm_operation operation, hg_type type, char *text, size_t size) {
    static const char *const folds[OPERATIONS] = {"sum", "min", "max", "product", "&", "|", "^"};
    const char *name = hg_type_name(type);
    int at = snprintf(text, size,
                      ".atlas 1\n.program ranks\n.param x buffer %s in\n.param y buffer %s out\n"
                      ".param ranks u64\n.param count u64\n",
                      name, name);
    if (operation < HG_COMM_AND)
        snprintf(text + at, size - (size_t)at,
                 "reduce_axis.%s output=y, input=x, n=ranks, inner=count, operation=%s\n", name,
                 folds[operation]);
    else
        snprintf(text + at, size - (size_t)at,
                 ".lanes count\n    let v = x[global]\n    for r in 1 .. ranks {\n"
                 "        v = v %s x[r * count + global]\n    }\n    y[global] = v\n",
                 folds[operation]);
}

static hg_status make_fold(hg_comm *c, hg_comm_operation operation, hg_type type,
                           hg_executable **fold) {
    char text[512];
    hg_program *program;
    if (*fold) return HG_OK;
    fold_text(operation, type, text, sizeof text);
    HG_TRY(hg_program_assemble(text, strlen(text), NULL, &program));
    hg_status status = hg_executable_create(c->backend, program, fold);
    hg_program_release(program);
    return status;
}

static hg_status set_params(const struct comm_device *d, hg_params *params, uint64_t ranks,
                            uint64_t count) {
    if (!params) return hg_fail_memory();
    HG_TRY(hg_params_set_buffer(params, "x", d->window));
    HG_TRY(hg_params_set_buffer(params, "y", d->result));
    HG_TRY(hg_params_set_scalar(params, "ranks", HG_TYPE_U64, &ranks));
    return hg_params_set_scalar(params, "count", HG_TYPE_U64, &count);
}

static hg_status run_fold(const struct comm_device *d, hg_executable *fold, uint64_t ranks,
                          uint64_t count) {
    hg_launch launch = HG_LAUNCH_PROGRAM;
    hg_binding *binding = NULL;
    hg_params *params = hg_params_create();
    hg_status status = set_params(d, params, ranks, count);
    if (status == HG_OK) status = hg_binding_create(fold, &launch, params, &binding);
    if (status == HG_OK) status = hg_binding_launch(binding);
    hg_binding_destroy(binding);
    hg_params_destroy(params);
    return status;
}

hg_status comm_device_fold(comm_op *op, uint64_t count, void *out) {
    hg_comm *c = op->comm;
    struct comm_device *d = c->memory.device;
    hg_executable **fold = &d->folds[op->call.operation][op->call.type];
    HG_TRY(make_fold(c, op->call.operation, op->call.type, fold));
    HG_TRY(run_fold(d, *fold, op->among.count, count));
    return c->provider->copy(c->group, out, d->result_at, count * op->size);
}

void comm_device_free(hg_comm *c) {
    struct comm_device *d = c->memory.device;
    if (!d) return;
    for (int o = 0; o < OPERATIONS; o++)
        for (int t = 0; t < HG_TYPE_COUNT; t++) hg_executable_destroy(d->folds[o][t]);
    if (d->window.handle) HG_IGNORE(hg_backend_free_buffer(c->backend, d->window));
    if (d->result.handle) HG_IGNORE(hg_backend_free_buffer(c->backend, d->result));
    hg_free(d);
    c->memory.device = NULL;
}
