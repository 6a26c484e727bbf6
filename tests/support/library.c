/* One case on one backend: buffers and pools in, launch, buffers and pools out. Where nobody can
 * wait (`no-wait`) all of it goes through a queue whose events are asked for.
 * Must not know: what the case is about. */
#include "library.h"
#include "base/thread.h"
#include "driver/driver.h"
#include <hologram/hologram.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if HG_HAS_THREADS
#include <sched.h>
#endif

struct library {
    hg_backend *backend;
    hg_queue *queue; /* of a run where nobody can wait; NULL: calls wait */
    bool asks;
};

/* ---- without waiting ---- */

/* What others do on threads goes on meanwhile. */
static void rest(void) {
#if HG_HAS_THREADS
    sched_yield();
#endif
}

static hg_status open_asking(const hg_config *config, hg_backend **backend) {
    hg_opening *opening = NULL;
    bool done = false;
    hg_status status = hg_backend_open_start(config, &opening);
    for (; status == HG_OK && !done; rest()) status = hg_opening_poll(opening, &done, backend);
    hg_opening_destroy(opening);
    return status;
}

static hg_status do_asking(library *l, const hg_command *command) {
    hg_event *event = NULL;
    bool done = false;
    hg_status status = hg_queue_submit(l->queue, command, 1, NULL, 0, &event);
    for (uint64_t asked = 0; status == HG_OK && !done; asked++) {
        status = hg_event_query(event, &done);
        if (asked > 1000) rest();
    }
    hg_event_destroy(event);
    return status;
}

static hg_status copy(library *l, bool out, hg_buffer buffer, void *bytes, uint64_t size) {
    if (!l->asks && out) return hg_backend_copy_from_buffer(l->backend, buffer, bytes, size);
    if (!l->asks) return hg_backend_copy_to_buffer(l->backend, buffer, bytes, size);
    hg_command command = {.size = sizeof command,
                          .kind = out ? HG_COMMAND_COPY_OUT : HG_COMMAND_COPY_IN,
                          .buffer = buffer,
                          .length = size,
                          .host = bytes};
    return size ? do_asking(l, &command) : HG_OK;
}

static hg_status execute(library *l, const hg_program *program, const hg_launch *launch,
                         const hg_params *params) {
    hg_executable *executable = NULL;
    hg_binding *binding = NULL;
    if (!l->asks)
        return hg_backend_execute_program_with_params(l->backend, program, launch, params);
    hg_status status = hg_executable_create_for(l->backend, program, launch, params, &executable);
    if (status == HG_OK) status = hg_binding_create(executable, launch, params, &binding);
    if (status == HG_OK)
        status = do_asking(l, &(hg_command){.size = sizeof(hg_command),
                                            .kind = HG_COMMAND_LAUNCH,
                                            .binding = binding});
    hg_error kept = *hg_last_error();
    hg_binding_destroy(binding);
    hg_executable_destroy(executable);
    *hg_error_record() = kept;
    return status;
}

/* Queues have no copies of pools: a program does it. */
static hg_status copy_pool_asking(library *l, bool out, hg_pool pool, void *bytes, uint64_t size) {
    static const char HEAD[] =
        ".atlas 1\n.program copy\n.param r1 b buffer u8 inout\n.param r2 p pool %llu\n";
    static const char IN[] = " ldg.u8 r10, [r1 + r255]\n stg.u8 [pool(r2) + r255], r10\n";
    static const char OUT[] = " ldg.u8 r10, [pool(r2) + r255]\n stg.u8 [r1 + r255], r10\n";
    char text[256];
    int head = snprintf(text, sizeof text, HEAD, (unsigned long long)size);
    snprintf(text + head, sizeof text - (size_t)head, "%s", out ? OUT : IN);
    hg_launch launch = HG_LAUNCH_INIT;
    hg_program *program = NULL;
    hg_buffer buffer = {0};
    hg_params *params = hg_params_create();
    hg_launch_set_linear(&launch, size);
    hg_status status = hg_program_assemble(text, strlen(text), NULL, &program);
    if (status == HG_OK) status = hg_backend_allocate_buffer(l->backend, size, &buffer);
    if (status == HG_OK && !out) status = copy(l, false, buffer, bytes, size);
    if (status == HG_OK) status = hg_params_set_buffer(params, "b", buffer);
    if (status == HG_OK) status = hg_params_set_pool(params, "p", pool);
    if (status == HG_OK) status = execute(l, program, &launch, params);
    if (status == HG_OK && out) status = copy(l, true, buffer, bytes, size);
    if (buffer.handle && status == HG_OK) status = hg_backend_free_buffer(l->backend, buffer);
    hg_program_release(program);
    hg_params_destroy(params);
    return status;
}

static hg_status copy_pool(library *l, bool out, hg_pool pool, void *bytes, uint64_t size) {
    if (l->asks) return size ? copy_pool_asking(l, out, pool, bytes, size) : HG_OK;
    return out ? hg_backend_copy_from_pool(l->backend, pool, 0, bytes, size)
               : hg_backend_copy_to_pool(l->backend, pool, 0, bytes, size);
}

/* ---- a backend ---- */

library *library_open(const char *backend, const char *level, const char *pretend,
                      char reason[256]) {
    hg_config config = hg_config_default();
    const char *colon = strchr(backend, ':');
    snprintf(config.backend, sizeof config.backend, "%.*s",
             (int)(colon ? colon - backend : (ptrdiff_t)strlen(backend)), backend);
    for (const char *c = colon ? colon + 1 : ""; *c >= '0' && *c <= '9'; c++)
        config.device_id = config.device_id * 10 + (uint32_t)(*c - '0');
    snprintf(config.cpu_level, sizeof config.cpu_level, "%s", level);
    snprintf(config.pretend, sizeof config.pretend, "%s", pretend);
    config.timeout_ms = 60000; /* compilers of devices may be slow, and two tests run at a time */
    const char *jit = getenv("HOLOGRAM_JIT");
    if (jit && *jit) snprintf(config.jit, sizeof config.jit, "%s", jit);
    library *l = calloc(1, sizeof *l);
    if (l) l->asks = hg_pretends(config.pretend, "no-wait");
    if (l && (l->asks ? open_asking(&config, &l->backend)
                      : hg_backend_create_with_config(&config, &l->backend)) == HG_OK)
        return l;
    snprintf(reason, 256, "%.255s", l ? hg_last_error_text() : "out of memory");
    free(l);
    return NULL;
}

void library_close(library *l) {
    if (l) hg_backend_destroy(l->backend);
    free(l);
}

bool library_limits_rounds(const library *l) {
    hg_device_info info = {0};
    return hg_backend_device(l->backend, &info) == HG_OK && strstr(info.capabilities, "loops<=");
}

typedef struct bound {
    hg_buffer buffer;
    hg_pool pool;
    bool live;
} bound;

static hg_status put(library *l, const case_array *a, hg_params *params, bound *b) {
    hg_status status;
    if (a->pool) {
        status = hg_backend_allocate_pool(l->backend, a->size, &b->pool);
        b->live = status == HG_OK;
        if (status == HG_OK) status = copy_pool(l, false, b->pool, a->bytes, a->size);
        return status == HG_OK ? hg_params_set_pool(params, a->name, b->pool) : status;
    }
    status = hg_backend_allocate_buffer(l->backend, a->size, &b->buffer);
    b->live = status == HG_OK;
    if (status == HG_OK) status = copy(l, false, b->buffer, a->bytes, a->size);
    return status == HG_OK ? hg_params_set_buffer(params, a->name, b->buffer) : status;
}

static hg_status take(library *l, const case_array *a, const bound *b) {
    if (a->pool) return copy_pool(l, true, b->pool, a->bytes, a->size);
    return copy(l, true, b->buffer, a->bytes, a->size);
}

static hg_status clear_class(library *l, uint32_t number) {
    static uint8_t zeros[12288];
    hg_buffer one = {(uint64_t)-96 + number};
    return number < 96 ? copy(l, false, one, zeros, sizeof zeros) : HG_OK;
}

static hg_status take_state(library *l, run_case *c) {
    for (uint32_t i = 0; i <= 96; i++) {
        double value;
        hg_status status = i < 96 ? hg_backend_resonance(l->backend, i, &value)
                                  : hg_backend_resonance_total(l->backend, &value);
        if (status == HG_OK && i < 96) status = hg_backend_phase(l->backend, i, &c->phase[i]);
        if (status != HG_OK) return status;
        memcpy(&c->resonance[i], &value, sizeof value);
    }
    return HG_OK;
}

static bool has_param(const hg_program *program, const char *name) {
    for (size_t i = 0; i < hg_program_param_count(program); i++)
        if (strcmp(hg_program_param_name(program, i), name) == 0) return true;
    return false;
}

static void report(hg_status status, run_result *result) {
    const hg_error *e = hg_last_error();
    bool fault = status == HG_ERROR_EXECUTION_FAILED && e->code[0] == 'F';
    *result = (run_result){.outcome = fault ? RUN_FAULT : RUN_ERROR};
    memcpy(result->code, e->code, sizeof result->code);
    snprintf(result->message, sizeof result->message, "%.500s",
             fault ? e->message : hg_last_error_text());
    result->step = e->step;
    result->phase = e->phase;
    result->lane = e->lane;
    result->instruction = e->instruction;
    result->offset = e->offset;
    result->limit = e->limit;
    result->operand = e->operand;
}

void library_run(library *l, const hg_program *program, run_case *c, run_result *result) {
    bound arrays[CASE_ARRAYS];
    memset(arrays, 0, sizeof arrays);
    *result = (run_result){.outcome = RUN_OK};
    hg_launch launch = HG_LAUNCH_INIT;
    memcpy(launch.grid, c->launch.grid, sizeof launch.grid);
    memcpy(launch.block, c->launch.block, sizeof launch.block);
    launch.lanes = c->launch.lanes;
    launch.shared_memory = c->launch.shared;
    launch.max_steps = c->launch.max_steps;
    hg_params *params = hg_params_create();
    bool state = case_uses_state(program) && !l->asks;
    c->state_unknown = l->asks; /* who looks at it waits. A queue has a context of its own, whose
                                   state is new */
    hg_status opened = l->asks ? hg_queue_create(l->backend, NULL, &l->queue) : HG_OK;
    hg_status status = opened != HG_OK ? opened
                       : params        ? clear_class(l, c->cleared_class)
                                       : HG_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; status == HG_OK && c->all_classes && i < 96; i++)
        status = clear_class(l, i);
    if (status == HG_OK && state) status = hg_backend_reset_state(l->backend);
    for (uint32_t i = 0; status == HG_OK && i < c->array_count; i++)
        if (has_param(program, c->arrays[i].name))
            status = put(l, &c->arrays[i], params, &arrays[i]);
    for (uint32_t i = 0; status == HG_OK && i < c->scalar_count; i++)
        if (has_param(program, c->scalars[i].name))
            status = hg_params_set_scalar(params, c->scalars[i].name, c->scalars[i].type,
                                          &c->scalars[i].bits);
    if (status == HG_OK) status = execute(l, program, &launch, params);
    if (status == HG_OK && state) status = take_state(l, c);
    if (status != HG_OK) report(status, result);
    for (uint32_t i = 0; i < c->array_count; i++) {
        if (!arrays[i].live) continue;
        if (result->outcome != RUN_ERROR && take(l, &c->arrays[i], &arrays[i]) != HG_OK)
            report(HG_ERROR_INTERNAL, result);
        hg_status freed = c->arrays[i].pool ? hg_backend_free_pool(l->backend, arrays[i].pool)
                                            : hg_backend_free_buffer(l->backend, arrays[i].buffer);
        if (freed != HG_OK && result->outcome != RUN_ERROR) report(freed, result);
    }
    hg_params_destroy(params);
    hg_queue_destroy(l->queue);
    l->queue = NULL;
}
