/* Devices that commands open, write, run and read. */
#include "device.h"
#include "runtime/backend.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ASK_AGAIN_NS = 50000, SOON = 1000 };

/* Before the same is asked again: what others do on threads goes on meanwhile. A question is often
 * what the work goes on by, so the first ones come at once. */
static void rest(uint64_t asked) {
    if (asked > SOON) nanosleep(&(struct timespec){.tv_nsec = ASK_AGAIN_NS}, NULL);
}

hg_status cli_device_open(const hg_config *config, hg_backend **backend) {
    hg_opening *opening = NULL;
    bool done = false;
    *backend = NULL;
    HG_TRY(hg_backend_open_start(config, &opening));
    hg_status status = hg_opening_poll(opening, &done, backend);
    for (; status == HG_OK && !done; status = hg_opening_poll(opening, &done, backend))
        rest(SOON + 1); /* a thread is at work */
    hg_error kept = *hg_error_record();
    hg_opening_destroy(opening);
    *hg_error_record() = kept;
    return status;
}

/* ---- without waiting ---- */

static bool can_wait(const hg_backend *b) { return hg_driver_can_block(b->driver, b->caps); }

/* Takes the event over. */
static hg_status ask(hg_event *event) {
    bool done = false;
    hg_status status = hg_event_query(event, &done);
    for (uint64_t asked = 0; status == HG_OK && !done; asked++) {
        rest(asked);
        status = hg_event_query(event, &done);
    }
    hg_error kept = *hg_error_record();
    hg_event_destroy(event);
    *hg_error_record() = kept;
    return status;
}

/* One piece of work of the default context: a copy, or a graph. */
static hg_status queue_and_ask(hg_backend *b, const hg_command *copy, hg_graph_binding *graph) {
    hg_queue *queue = NULL;
    hg_event *event = NULL;
    HG_TRY(hg_queue_create(b, b->context, &queue));
    hg_status status = graph ? hg_graph_binding_submit(graph, queue, NULL, 0, &event)
                             : hg_queue_submit(queue, copy, 1, NULL, 0, &event);
    if (status == HG_OK) status = ask(event);
    hg_error kept = *hg_error_record();
    hg_queue_destroy(queue);
    *hg_error_record() = kept;
    return status;
}

static hg_status copy(hg_backend *b, hg_command_kind kind, hg_buffer buffer, uint64_t offset,
                      void *host, uint64_t length) {
    const hg_command command = {.size = sizeof command,
                                .kind = kind,
                                .buffer = buffer,
                                .offset = offset,
                                .length = length,
                                .host = host};
    return length ? queue_and_ask(b, &command, NULL) : HG_OK;
}

/* Queues have no copies of pools: a program makes one. */
static hg_status read_pool(hg_backend *b, hg_pool pool, void *data, uint64_t length) {
    char text[256];
    int size = snprintf(text, sizeof text,
                        ".atlas 1\n.program read_pool\n.param r1 b buffer u8 inout\n"
                        ".param r2 p pool %llu\n ldg.u8 r10, [pool(r2) + r255]\n"
                        " stg.u8 [r1 + r255], r10\n",
                        (unsigned long long)length);
    const hg_launch launch = hg_launch_linear(length);
    hg_program *program = NULL;
    hg_buffer buffer = {0};
    hg_params *params = hg_params_create();
    hg_status status = params ? hg_program_assemble(text, (size_t)size, NULL, &program)
                              : hg_fail_memory();
    if (status == HG_OK) status = hg_backend_allocate_buffer(b, length, &buffer);
    if (status == HG_OK) status = hg_params_set_buffer(params, "b", buffer);
    if (status == HG_OK) status = hg_params_set_pool(params, "p", pool);
    if (status == HG_OK) status = cli_device_execute(b, program, &launch, params);
    if (status == HG_OK) status = cli_device_read(b, buffer, 0, data, length);
    hg_error kept = *hg_error_record();
    if (buffer.handle) HG_IGNORE(hg_backend_free_buffer(b, buffer)); /* it is there */
    hg_program_release(program);
    hg_params_destroy(params);
    *hg_error_record() = kept;
    return status;
}

/* ---- to the end ---- */

hg_status cli_device_write(hg_backend *b, hg_buffer buffer, const void *data, uint64_t length) {
    if (can_wait(b)) return hg_buffer_write(b, buffer, 0, data, length);
    return copy(b, HG_COMMAND_COPY_IN, buffer, 0, (void *)(uintptr_t)data, length);
}

hg_status cli_device_read(hg_backend *b, hg_buffer buffer, uint64_t offset, void *data,
                          uint64_t length) {
    if (can_wait(b)) return hg_buffer_read(b, buffer, offset, data, length);
    return copy(b, HG_COMMAND_COPY_OUT, buffer, offset, data, length);
}

hg_status cli_device_read_pool(hg_backend *b, hg_pool pool, void *data, uint64_t length) {
    if (can_wait(b)) return hg_backend_copy_from_pool(b, pool, 0, data, length);
    return length ? read_pool(b, pool, data, length) : HG_OK;
}

hg_status cli_device_launch(hg_backend *b, hg_binding *binding) {
    hg_event *event;
    if (can_wait(b)) return hg_binding_launch(binding);
    HG_TRY(hg_binding_start(binding, NULL, &event));
    return ask(event);
}

hg_status cli_device_launch_graph(hg_backend *b, hg_graph_binding *binding) {
    if (can_wait(b)) return hg_graph_binding_launch(binding);
    return queue_and_ask(b, NULL, binding);
}

hg_status cli_device_execute(hg_backend *b, const hg_program *program, const hg_launch *launch,
                             const hg_params *params) {
    hg_executable *executable = NULL;
    hg_binding *binding = NULL;
    if (can_wait(b)) return hg_backend_execute_program_with_params(b, program, launch, params);
    hg_status status = hg_executable_create_for(b, program, launch, params, &executable);
    if (status == HG_OK) status = hg_binding_create(executable, launch, params, &binding);
    if (status == HG_OK) status = cli_device_launch(b, binding);
    hg_error kept = *hg_error_record();
    hg_binding_destroy(binding);
    hg_executable_destroy(executable);
    *hg_error_record() = kept;
    return status;
}
