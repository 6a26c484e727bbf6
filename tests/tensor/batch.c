/* Runs many programs of one instruction, one after the other, for tests/tensor/run.py: batch IN OUT.
 *
 * IN, little-endian, for each program:  u32 bytes of the text, the text; u32 arrays, for each
 *     u8 bytes of the name, the name, u8 whether it comes back, u64 bytes, the data
 * OUT for each program:  u32 bytes of the message (0: it ran), the message; the data of each array that comes back, also where it did not run
 * The backend is the CPU with the settings of the environment. It must not know: what programs compute. */
#include <hologram/hologram.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

typedef struct input {
    const unsigned char *at, *end;
} input;

typedef struct array {
    char name[256];
    bool back;
    uint64_t bytes;
    const unsigned char *data;
    hg_buffer buffer;
} array;

static void die(const char *what) {
    fprintf(stderr, "tensor batch: %s\n", what);
    exit(2);
}

static const unsigned char *take(input *in, uint64_t bytes) {
    if ((uint64_t)(in->end - in->at) < bytes) die("the input ends early");
    const unsigned char *p = in->at;
    in->at += bytes;
    return p;
}

static uint64_t number(input *in, size_t bytes) {
    uint64_t value = 0;
    memcpy(&value, take(in, bytes), bytes);
    return value;
}

static void put(FILE *out, const void *data, size_t bytes) {
    if (bytes && fwrite(data, 1, bytes, out) != bytes) die("writing");
}

static hg_status run(hg_backend *backend, const char *text, size_t length, array *a, uint32_t count) {
    hg_program *program = NULL;
    hg_params *params = hg_params_create();
    hg_status status = hg_program_assemble(text, length, NULL, &program);
    for (uint32_t i = 0; i < count && status == HG_OK; i++) status = hg_params_set_buffer(params, a[i].name, a[i].buffer);
    if (status == HG_OK) status = hg_backend_execute_program_with_params(backend, program, NULL, params);
    hg_program_release(program);
    hg_params_destroy(params);
    return status;
}

static void run_next(hg_backend *backend, input *in, FILE *out) {
    array a[MOST] = {0};
    size_t length = (size_t)number(in, 4);
    const char *text = (const char *)take(in, length);
    uint32_t count = (uint32_t)number(in, 4);
    if (count > MOST) die("too many arrays");
    for (uint32_t i = 0; i < count; i++) {
        size_t name = (size_t)number(in, 1);
        memcpy(a[i].name, take(in, name), name);
        a[i].back = number(in, 1) != 0;
        a[i].bytes = number(in, 8);
        a[i].data = take(in, a[i].bytes);
        if (hg_backend_allocate_buffer(backend, a[i].bytes ? a[i].bytes : 1, &a[i].buffer) != HG_OK ||
            (a[i].bytes && hg_backend_copy_to_buffer(backend, a[i].buffer, a[i].data, a[i].bytes) != HG_OK))
            die(hg_last_error_text());
    }
    const char *message = run(backend, text, length, a, count) == HG_OK ? "" : hg_last_error_text();
    uint32_t size = (uint32_t)strlen(message);
    put(out, &size, 4);
    put(out, message, size);
    for (uint32_t i = 0; i < count; i++) {
        unsigned char *data = a[i].back ? malloc(a[i].bytes + 1) : NULL;
        if (a[i].back) {
            if (!data || (a[i].bytes && hg_backend_copy_from_buffer(backend, a[i].buffer, data, a[i].bytes) != HG_OK))
                die("reading an array");
            put(out, data, a[i].bytes);
        }
        free(data);
        if (hg_backend_free_buffer(backend, a[i].buffer) != HG_OK) die(hg_last_error_text());
    }
}

int main(int argc, char **argv) {
    hg_config config;
    hg_backend *backend = NULL;
    if (argc != 3) die("expected IN OUT");
    FILE *f = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
    if (!f || !out || fseek(f, 0, SEEK_END) != 0) die("opening the files");
    long size = ftell(f);
    unsigned char *all = size >= 0 ? malloc((size_t)size + 1) : NULL;
    rewind(f);
    if (!all || fread(all, 1, (size_t)size, f) != (size_t)size) die("reading the problems");
    fclose(f);
    if (hg_config_from_env(&config) != HG_OK) die(hg_last_error_text());
    if (!config.backend[0]) snprintf(config.backend, sizeof config.backend, "cpu");
    if (hg_backend_create_with_config(&config, &backend) != HG_OK) die(hg_last_error_text());
    for (input in = {all, all + size}; in.at < in.end;) run_next(backend, &in, out);
    hg_backend_destroy(backend);
    if (fclose(out) != 0) die("writing");
    free(all);
    return 0;
}
