/* Runs many JSON kernels, one after the other, for tests/json/run.py: batch IN OUT [BACKEND].
 *
 * IN, little-endian, for each kernel:  u32 bytes of the document, the document; u64 lanes; u32
 * parameters, for each u8 kind (0 scalar, 1 array), u8 bytes of the name, the name, u8 bytes of the
 * type's name, it (of scalars), u64 bytes, the data OUT for each kernel:  u8 result (0 ran, 1 not
 * translated, 2 not verified, 3 fault, 4 failed otherwise), u64 lane, char code[4], u32 bytes of
 * the message, it; u32 instructions; u32 arrays, for each u8 direction (1 in, 2 out, 3 inout), u64
 * bytes, the data It must not know: what kernels compute. */
#include "isa/program.h"
#include <hologram/backend.h>
#include <hologram/json_kernel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMS = 64 };

typedef struct input {
    const unsigned char *at, *end;
} input;

static void die(const char *what) {
    fprintf(stderr, "json batch: %s\n", what);
    exit(2);
}

static const unsigned char *take(input *in, size_t bytes) {
    if ((size_t)(in->end - in->at) < bytes) die("the input ends early");
    const unsigned char *p = in->at;
    in->at += bytes;
    return p;
}

static uint64_t number(input *in, size_t bytes) {
    uint64_t value = 0;
    memcpy(&value, take(in, bytes), bytes);
    return value;
}

typedef struct param {
    bool array;
    char name[256], type[256];
    uint64_t bytes;
    const unsigned char *data;
    hg_buffer buffer;
} param;

static void read_param(input *in, param *p) {
    p->array = number(in, 1) != 0;
    size_t length = (size_t)number(in, 1);
    memcpy(p->name, take(in, length), length);
    p->name[length] = '\0';
    length = (size_t)number(in, 1);
    memcpy(p->type, take(in, length), length);
    p->type[length] = '\0';
    p->bytes = number(in, 8);
    p->data = take(in, (size_t)p->bytes);
}

static hg_status bind(hg_backend *backend, hg_params *params, param *p) {
    if (p->array) {
        HG_TRY(hg_backend_allocate_buffer(backend, p->bytes, &p->buffer));
        if (p->bytes) HG_TRY(hg_backend_copy_to_buffer(backend, p->buffer, p->data, p->bytes));
        return hg_params_set_buffer(params, p->name, p->buffer);
    }
    hg_type type;
    if (!hg_type_from_name(p->type, strlen(p->type), &type) || hg_type_size_bytes(type) != p->bytes)
        die("the type of a scalar");
    return hg_params_set_scalar(params, p->name, type, p->data);
}

static void put(FILE *out, const void *data, size_t bytes) {
    if (bytes && fwrite(data, 1, bytes, out) != bytes) die("writing");
}

static uint8_t direction_of(const hg_program *program, const char *name) {
    for (uint32_t i = 0; program && i < program->param_count; i++)
        if (strcmp(program->params[i].name, name) == 0) return program->params[i].dir;
    return 0;
}

static uint8_t run(hg_backend *backend, const hg_program *program, uint64_t lanes, param *params,
                   uint32_t count) {
    hg_params *values = hg_params_create();
    if (!values) die("out of memory");
    for (uint32_t i = 0; i < count; i++)
        if (bind(backend, values, &params[i]) != HG_OK) die(hg_last_error_text());
    hg_launch launch = hg_launch_linear(lanes);
    if (program->block[0]) { /* what the document says of blocks */
        uint64_t block = (uint64_t)program->block[0] * program->block[1] * program->block[2];
        memcpy(launch.block, program->block, sizeof launch.block);
        launch.grid[0] = (uint32_t)((lanes + block - 1) / block);
        launch.lanes = lanes;
    }
    launch.timeout_ms = 60000;
    launch.max_steps = 10000000;
    hg_status status = hg_backend_execute_program_with_params(backend, program, &launch, values);
    hg_params_destroy(values);
    return status == HG_OK ? 0 : status == HG_ERROR_EXECUTION_FAILED ? 3 : 4;
}

static void kernel(input *in, FILE *out, hg_backend *backend) {
    size_t length = (size_t)number(in, 4);
    const char *text = (const char *)take(in, length);
    uint64_t lanes = number(in, 8);
    uint32_t count = (uint32_t)number(in, 4);
    static param params[MOST_PARAMS];
    if (count > MOST_PARAMS) die("too many parameters");
    for (uint32_t i = 0; i < count; i++) {
        params[i] = (param){0};
        read_param(in, &params[i]);
    }
    hg_diagnostics *diagnostics = hg_diagnostics_create(0);
    hg_program *program = NULL;
    uint8_t result = hg_json_to_isa_translate(text, length, diagnostics, &program) == HG_OK ? 0 : 1;
    if (!result && hg_program_verify(program, diagnostics) != HG_OK) result = 2;
    if (!result) result = run(backend, program, lanes, params, count);
    const hg_error *error = hg_last_error();
    char *message = result == 1 || result == 2
                        ? hg_diagnostics_print(diagnostics, "kernel", text, length)
                        : NULL;
    const char *shown = message ? message : result ? hg_last_error_text() : "";
    uint64_t lane = result ? error->lane : HG_NONE;
    uint32_t bytes = (uint32_t)strlen(shown),
             instructions = program ? (uint32_t)hg_program_len(program) : 0, arrays = 0;
    put(out, &result, 1);
    put(out, &lane, 8);
    put(out, error->code, 4);
    put(out, &bytes, 4);
    put(out, shown, bytes);
    put(out, &instructions, 4);
    for (uint32_t i = 0; i < count; i++) arrays += params[i].array;
    put(out, &arrays, 4);
    for (uint32_t i = 0; i < count; i++) {
        if (!params[i].array) continue;
        param *p = &params[i];
        uint8_t direction = direction_of(program, p->name);
        void *data = calloc(1, (size_t)p->bytes + 1);
        if (!data) die("out of memory");
        if (p->buffer.handle && p->bytes &&
            hg_backend_copy_from_buffer(backend, p->buffer, data, p->bytes) != HG_OK)
            die(hg_last_error_text());
        if (p->buffer.handle && hg_backend_free_buffer(backend, p->buffer) != HG_OK)
            die(hg_last_error_text());
        put(out, &direction, 1);
        put(out, &p->bytes, 8);
        put(out, data, (size_t)p->bytes);
        free(data);
    }
    hg_string_free(message);
    hg_diagnostics_destroy(diagnostics);
    hg_program_release(program);
}

int main(int argc, char **argv) {
    if (argc < 3) die("usage: batch IN OUT [BACKEND]");
    FILE *file = fopen(argv[1], "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) die("cannot open the input");
    long bytes = ftell(file);
    unsigned char *all = bytes > 0 ? malloc((size_t)bytes) : NULL;
    if (!all || fseek(file, 0, SEEK_SET) != 0 ||
        fread(all, 1, (size_t)bytes, file) != (size_t)bytes)
        die("cannot read the input");
    fclose(file);
    FILE *out = fopen(argv[2], "wb");
    if (!out) die("cannot open the output");
    hg_backend *backend = NULL;
    if (hg_backend_create(argc > 3 ? argv[3] : "cpu", 0, &backend) != HG_OK)
        die(hg_last_error_text());
    input in = {all, all + bytes};
    while (in.at < in.end) {
        kernel(&in, out, backend);
        fflush(out); /* a crash is charged to the right kernel */
    }
    hg_backend_destroy(backend);
    if (fclose(out) != 0) die("writing");
    free(all);
    return 0;
}
