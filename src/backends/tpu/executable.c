/* Executables of the TPU backend: compiled, run, freed.
 * Must not know: what they do. */
#include "backends/tpu/tpu_internal.h"

hg_status tpu_compile(hg_device *device, char *text, uint64_t length, pjrt_executable **code) {
    /* CompileOptionsProto: executable_build_options (3) with one replica (4), one partition (5) */
    static const char OPTIONS[] = {0x1a, 4, 0x20, 1, 0x28, 1};
    const pjrt_program program = {.head = {sizeof program, NULL},
                                  .code = text,
                                  .length = (size_t)length,
                                  .format = "mlir",
                                  .format_length = 4};
    pjrt_compile a = {.head = {sizeof a, NULL},
                      .client = tpu->client,
                      .program = &program,
                      .options = OPTIONS,
                      .options_length = sizeof OPTIONS};
    (void)device;
    HG_TRY(tpu_check("compile", tpu->compile(&a)));
    *code = a.executable;
    return HG_OK;
}

void tpu_free_executable(pjrt_executable *code) {
    if (code)
        (void)tpu->executable_destroy(
            &(pjrt_of_executable){{sizeof(pjrt_of_executable), NULL}, code});
}

hg_status tpu_execute(hg_device *device, pjrt_executable *code, pjrt_buffer *const *arguments,
                      size_t count, pjrt_buffer **results) {
    pjrt_buffer *const *lists[1] = {arguments};
    pjrt_buffer **outs[1] = {results};
    pjrt_event *events[1] = {NULL};
    pjrt_execute_options options = {.head = {sizeof options, NULL}};
    pjrt_execute a = {.head = {sizeof a, NULL},
                      .executable = code,
                      .options = &options,
                      .arguments = lists,
                      .device_count = 1,
                      .argument_count = count,
                      .results = outs,
                      .events = events,
                      .device = device->device};
    HG_TRY(tpu_check("execute", tpu->execute(&a)));
    return tpu_await("execute", events[0]);
}
