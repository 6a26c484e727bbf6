/* Measurements of tile sizes: the same launches with one size after another, in rounds, so that
 * what else the machine does meets all of them. */
#include "clients/tune.h"
#include "base/disk.h"
#include "base/thread.h"
#include "io/io.h"
#include "runtime/client.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    ARRAYS = 3,
    ARRAY_BYTES = 4 << 20,
    ROUNDS = 9,
    MOST_SIZES = LIBRARY_MOST_TRIES + 1,
    LEAST_GAIN = 32
};

void hg_tune_configure(hg_config *config) {
    if (strcmp(config->jit, "off") != 0) snprintf(config->jit, sizeof config->jit, "on");
    snprintf(config->vendor, sizeof config->vendor, "off");
}

/* ---- one instruction ---- */

typedef struct tune_work {
    hg_backend *backend;
    const hg_tune_calls *calls;
    hg_program *program;
    hg_params *params;
    hg_buffer arrays[ARRAYS];
    uint32_t array_count;
    hg_binding *bindings[MOST_SIZES];
    hg_executable *executables[MOST_SIZES];
    uint64_t least[MOST_SIZES]; /* nanoseconds */
} tune_work;

static void close_work(tune_work *w) {
    for (int i = 0; i < MOST_SIZES; i++) {
        hg_binding_destroy(w->bindings[i]);
        hg_executable_destroy(w->executables[i]);
    }
    for (uint32_t i = 0; i < w->array_count; i++)
        HG_IGNORE(hg_backend_free_buffer(w->backend, w->arrays[i])); /* it is there */
    hg_params_destroy(w->params);
    hg_program_release(w->program);
}

/* Every element of any type is a small number, and no subnormal one. */
static hg_status make_array(tune_work *w, const char *name, uint8_t *bytes) {
    HG_TRY(hg_backend_allocate_buffer(w->backend, ARRAY_BYTES, &w->arrays[w->array_count]));
    w->array_count++;
    memset(bytes, 0x3c, ARRAY_BYTES);
    HG_TRY(w->calls->write(w->backend, w->arrays[w->array_count - 1], bytes, ARRAY_BYTES));
    return hg_params_set_buffer(w->params, name, w->arrays[w->array_count - 1]);
}

static hg_status open_work(tune_work *w, const char *instruction) {
    static const char *const names[ARRAYS] = {"x", "y", "z"};
    hg_text text = {0};
    hg_text_addf(&text,
                 ".atlas 1\n.program tune\n.param r1 x buffer u8 inout\n.param r2 y buffer u8 "
                 "in\n.param r3 z buffer u8 in\n    %s\n",
                 instruction);
    hg_status status = text.failed ? hg_fail_memory()
                                   : hg_program_assemble(text.data, text.length, NULL, &w->program);
    hg_text_free(&text);
    HG_TRY(status);
    uint8_t *bytes = hg_alloc(ARRAY_BYTES);
    w->params = hg_params_create();
    status = bytes && w->params ? HG_OK : hg_fail_memory();
    for (int i = 0; i < ARRAYS && status == HG_OK; i++) status = make_array(w, names[i], bytes);
    hg_free(bytes);
    return status;
}

/* A binding keeps the sizes that it was made with. */
static hg_status bind(tune_work *w, uint32_t number) {
    HG_TRY(
        hg_executable_create_for(w->backend, w->program, NULL, w->params, &w->executables[number]));
    HG_TRY(hg_binding_create(w->executables[number], NULL, w->params, &w->bindings[number]));
    return w->calls->launch(w->backend, w->bindings[number]);
}

static hg_status measure(tune_work *w, uint32_t count) {
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < count; i++) {
            uint64_t start = hg_clock_ns();
            HG_TRY(w->calls->launch(w->backend, w->bindings[i]));
            uint64_t time = hg_clock_ns() - start;
            if (round == 0 || time < w->least[i]) w->least[i] = time;
        }
    }
    return HG_OK;
}

/* Adds to the results what the work took with each size. */
static hg_status measure_work(hg_backend *b, const hg_tune_calls *calls, const char *instruction,
                              uint32_t works, hg_tune_result *r) {
    tune_work w = {.backend = b, .calls = calls};
    hg_status status = open_work(&w, instruction);
    for (uint32_t i = 0; i < r->count && status == HG_OK; i++) {
        hg_backend_tiles(b)->sizes[r->tile] = r->tries[i].size;
        status = bind(&w, i);
    }
    if (status == HG_OK) status = measure(&w, r->count);
    for (uint32_t i = 0; i < r->count && status == HG_OK; i++)
        r->tries[i].relative += (double)w.least[i] / (double)(w.least[0] ? w.least[0] : 1) / works;
    r->ms += (double)w.least[0] / 1e6;
    close_work(&w);
    return status;
}

/* ---- a tile ---- */

static uint32_t works_of(const library_tile_info *info) {
    uint32_t count = 0;
    while (info->works[count]) count++;
    return count;
}

static void list_sizes(const library_tile_info *info, hg_tune_result *r) {
    r->tries[r->count++].size = r->before;
    for (int i = 0; info->tries[i]; i++)
        if (info->tries[i] != r->before) r->tries[r->count++].size = info->tries[i];
}

static uint16_t best_of(const hg_tune_result *r) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < r->count; i++)
        if (r->tries[i].relative < r->tries[best].relative) best = i;
    return r->tries[best].relative * LEAST_GAIN < LEAST_GAIN - 1 ? r->tries[best].size : r->before;
}

hg_status hg_tune(hg_backend *b, const hg_tune_calls *calls, library_tile tile,
                  hg_tune_result *result) {
    const library_tile_info *info = library_tile_get(tile);
    uint16_t *size = &hg_backend_tiles(b)->sizes[tile];
    hg_status status = HG_OK;
    memset(result, 0, sizeof *result);
    result->tile = tile;
    result->before = *size;
    list_sizes(info, result);
    for (int i = 0; info->works[i] && status == HG_OK; i++)
        status = measure_work(b, calls, info->works[i], works_of(info), result);
    *size = result->after = status == HG_OK ? best_of(result) : result->before;
    return status;
}

/* ---- the file ---- */

hg_status hg_tune_write(hg_backend *b, char **path) {
    char *device = NULL;
    hg_text text = {0};
    HG_TRY(hg_backend_tile_file(b, path));
    if (!**path) return HG_OK;
    hg_status status = hg_backend_tile_device(b, &device);
    if (status == HG_OK) {
        library_tiles_print(hg_backend_tiles(b), device, &text);
        const char *name = strrchr(*path, '/');
        if (name) hg_folder_make(*path, (size_t)(name - *path));
        status = text.failed ? hg_fail_memory() : hg_file_write(*path, text.data, text.length);
    }
    hg_text_free(&text);
    hg_free(device);
    if (status != HG_OK) {
        hg_free(*path);
        *path = NULL;
    }
    return status;
}

hg_status hg_tune_reset(hg_backend *b, char **path) {
    HG_TRY(hg_backend_tile_file(b, path));
    *hg_backend_tiles(b) = hg_backend_tile_presets(b);
    if (!**path || remove(*path) == 0 || errno == ENOENT) return HG_OK;
    int error = errno;
    hg_status status = hg_fail(HG_ERROR_IO, "cannot remove '%s': %s", *path, strerror(error));
    hg_free(*path);
    *path = NULL;
    return status;
}
