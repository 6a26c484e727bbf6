/* Runs many programs of one instruction, one after the other, for tests/tensor/run.py: batch IN OUT
 * [GUARD [races]].
 *
 * IN, little-endian, for each program:  u32 bytes of the text, the text; u32 arrays, for each
 *     u8 bytes of the name, the name, u8 whether it comes back, u64 bytes, the data
 * OUT for each program:  u32 bytes of the message (0: it ran), the message; the data of each array
 * that comes back, also where it did not run; u8 whether the bytes behind all arrays are as they
 * were Behind each array lie GUARD bytes that are all ones, which a program neither writes nor
 * (they are NaNs, and -1) uses. With `races` two lanes that touch one byte, one of them writing,
 * are an error (--check-races). The backend is the CPU with the settings of the environment. It
 * must not know: what programs compute. */
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

enum { MOST_GUARD = 65536 };
static uint64_t guard;
static unsigned char ones[MOST_GUARD];

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

static hg_status run(hg_backend *backend, const char *text, size_t length, array *a,
                     uint32_t count) {
    hg_program *program = NULL;
    hg_params *params = hg_params_create();
    hg_status status = hg_program_assemble(text, length, NULL, &program);
    for (uint32_t i = 0; i < count && status == HG_OK; i++)
        status = hg_params_set_buffer(params, a[i].name, a[i].buffer);
    if (status == HG_OK)
        status = hg_backend_execute_program_with_params(backend, program, NULL, params);
    hg_program_release(program);
    hg_params_destroy(params);
    return status;
}

static void read_array(input *in, hg_backend *backend, array *a) {
    size_t name = (size_t)number(in, 1);
    memcpy(a->name, take(in, name), name);
    a->back = number(in, 1) != 0;
    a->bytes = number(in, 8);
    a->data = take(in, a->bytes);
    uint64_t bytes = a->bytes + guard;
    unsigned char *data = malloc(bytes + 1);
    if (!data) die("out of memory");
    memcpy(data, a->data, a->bytes);
    memcpy(data + a->bytes, ones, guard);
    if (hg_backend_allocate_buffer(backend, bytes ? bytes : 1, &a->buffer) != HG_OK ||
        (bytes && hg_backend_copy_to_buffer(backend, a->buffer, data, bytes) != HG_OK))
        die(hg_last_error_text());
    free(data);
}

/* The array's bytes after the run; false: those behind it were written. */
static bool write_array(hg_backend *backend, array *a, FILE *out) {
    uint64_t bytes = a->bytes + guard;
    unsigned char *data = malloc(bytes + 1);
    if (!data || (bytes && hg_backend_copy_from_buffer(backend, a->buffer, data, bytes) != HG_OK))
        die("reading an array");
    if (a->back) put(out, data, a->bytes);
    bool kept = memcmp(data + a->bytes, ones, guard) == 0;
    free(data);
    if (hg_backend_free_buffer(backend, a->buffer) != HG_OK) die(hg_last_error_text());
    return kept;
}

static void run_next(hg_backend *backend, input *in, FILE *out) {
    array a[MOST] = {0};
    size_t length = (size_t)number(in, 4);
    const char *text = (const char *)take(in, length);
    uint32_t count = (uint32_t)number(in, 4);
    if (count > MOST) die("too many arrays");
    for (uint32_t i = 0; i < count; i++) read_array(in, backend, &a[i]);
    const char *message = run(backend, text, length, a, count) == HG_OK ? "" : hg_last_error_text();
    uint32_t size = (uint32_t)strlen(message);
    put(out, &size, 4);
    put(out, message, size);
    unsigned char kept = 1;
    for (uint32_t i = 0; i < count; i++)
        if (!write_array(backend, &a[i], out)) kept = 0;
    put(out, &kept, 1);
}

int main(int argc, char **argv) {
    hg_config config;
    hg_backend *backend = NULL;
    if (argc < 3 || argc > 5 || (argc == 5 && strcmp(argv[4], "races") != 0))
        die("expected IN OUT [GUARD [races]]");
    guard = argc >= 4 ? strtoull(argv[3], NULL, 10) : 0;
    if (guard > MOST_GUARD) die("expected at most 65536 bytes behind arrays");
    memset(ones, 255, sizeof ones);
    FILE *f = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
    if (!f || !out || fseek(f, 0, SEEK_END) != 0) die("opening the files");
    long size = ftell(f);
    unsigned char *all = size >= 0 ? malloc((size_t)size + 1) : NULL;
    rewind(f);
    if (!all || fread(all, 1, (size_t)size, f) != (size_t)size) die("reading the problems");
    fclose(f);
    if (hg_config_from_env(&config) != HG_OK) die(hg_last_error_text());
    config.check_races = argc == 5;
    if (!config.backend[0]) snprintf(config.backend, sizeof config.backend, "cpu");
    if (hg_backend_create_with_config(&config, &backend) != HG_OK) die(hg_last_error_text());
    for (input in = {all, all + size}; in.at < in.end;) run_next(backend, &in, out);
    hg_backend_destroy(backend);
    if (fclose(out) != 0) die("writing");
    free(all);
    return 0;
}
