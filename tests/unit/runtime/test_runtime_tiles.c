/* Sizes of tiles: no bit depends on them, and those of a file count where it is of this device and
 * well formed.
 * test: labels=slow */
#include "runtime/client.h"
#include "support/runtime_support.h"
#include <sys/mman.h>
#include <unistd.h>

/* Odd sizes on purpose: whole tiles and ends in every direction, panels of b, planes of several
 * phases, groups. */
static const char *const WORKS[] = {
    "gemm.f32 c=r1, a=r2, b=r3, m=67, n=130, k=75",
    "gemm.f32 c=r1, a=r2, b=r3, m=70, n=523, k=129",
    "gemm.f64 c=r1, a=r2, b=r3, m=33, n=45, k=40, trans_b=true",
    "gemm.f16 c=r1, a=r2, b=r3, m=21, n=77, k=31, alpha=0.75, activation=tanh",
    "batched_gemm.f32 c=r1, a=r2, b=r3, batch=3, m=19, n=37, k=23, trans_a=true",
    "mixed_precision_gemm.bf16 c=r1, a=r2, b=r3, m=18, n=70, k=65",
    "conv2d.f32 output=r1, input=r2, kernel=r3, batch=2, in_channels=6, out_channels=21, "
    "height=13, width=17, kernel_h=3, kernel_w=3, "
    "stride=(1, 1), padding=(1, 1)",
    "conv2d.f32 output=r1, input=r2, kernel=r3, batch=1, in_channels=8, out_channels=6, height=19, "
    "width=15, kernel_h=5, kernel_w=2, "
    "stride=(2, 3), padding=(0, 2), groups=2",
    "conv2d.f32 output=r1, input=r2, kernel=r3, batch=2, in_channels=5, out_channels=11, "
    "height=14, width=21, kernel_h=3, kernel_w=3, "
    "stride=(2, 2), padding=(1, 1)",
    "conv2d.f64 output=r1, input=r2, kernel=r3, batch=1, in_channels=7, out_channels=9, height=11, "
    "width=12, kernel_h=1, kernel_w=1, "
    "stride=(1, 1), padding=(0, 0)",
    "conv2d.f16 output=r1, input=r2, kernel=r3, batch=3, in_channels=4, out_channels=13, height=9, "
    "width=10, kernel_h=3, kernel_w=2, "
    "stride=(2, 1), padding=(1, 1)",
    "quantized_gemm.i8 c=r1, a=r2, b=r3, a_scale=0.5, b_scale=0.5, c_scale=64.0, m=37, n=41, k=29",
    "conv.f32 output=r1, input=r2, kernel=r3, batch=1, in_channels=3, out_channels=9, size=(4, 6, "
    "7), window=(2, 3, 3), stride=(1, 2, 1), padding=(1, 1, 1)",
    "conv_transpose.f32 output=r1, input=r2, kernel=r3, batch=2, in_channels=5, out_channels=7, "
    "size=(9, 8), window=(3, 4), stride=(2, 2), padding=(1, 1)",
    "sort.f32 output=r1, input=r2, n=1001, outer=3",
    "top_k.f64 indices=r1, input=r2, n=700, k=300, outer=2, inner=2",
    "scan.f32 output=r1, input=r2, n=9001, outer=2",
    "rms_norm.f32 output=r1, input=r2, gamma=r3, n=145, eps=0.001, rows=39",
    "softmax.f32 output=r1, input=r2, n=203, rows=27",
    "softmax.f16 output=r1, input=r2, n=300, rows=11",
    "layer_norm.f32 output=r1, input=r2, gamma=r3, beta=r3, n=145, eps=0.001, rows=39",
    "layer_norm.f64 output=r1, input=r2, gamma=r3, beta=r3, n=390, eps=0.001, rows=7",
    ("group_norm.f32 output=r1, input=r2, gamma=r3, beta=r3, batch=2, channels=6, groups=2, "
     "spatial=133, eps=0.001"),
};
enum { BYTES = 1 << 19, SETTINGS = 12 };

static uint32_t state = 12345;
static uint32_t random_below(uint32_t n) {
    state = state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)state * n) >> 32);
}

static library_tiles random_tiles(void) {
    library_tiles tiles;
    for (int i = 0; i < LIBRARY_TILE_COUNT; i++) {
        const library_tile_info *info = library_tile_get((library_tile)i);
        uint32_t most = info->most < 64 ? info->most : 64;
        tiles.sizes[i] = (uint16_t)(info->least + random_below(most - info->least + 1));
    }
    return tiles;
}

static hg_backend *open_cpu(uint32_t threads, const char *jit) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    memcpy(config.backend, "cpu", 4);
    memcpy(config.vendor, "off", 4);
    memcpy(config.jit, jit, strlen(jit) + 1);
    config.num_threads = threads;
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    if (!b) exit(test_done());
    return b;
}

/* Values of about 1 in any type: what is added is rounded nearly always. */
static void fill(uint8_t *bytes, uint64_t size, const char *work) {
    bool wide = strstr(work, ".f64") != NULL, half = strstr(work, "f16") != NULL,
         brain = strstr(work, ".bf16") != NULL;
    uint64_t step = wide ? 8 : half ? 2 : 4;
    for (uint64_t i = 0; i < size; i++) bytes[i] = (uint8_t)random_below(256);
    for (uint64_t i = step; i <= size; i += step) {
        bytes[i - 1] = (uint8_t)(brain || step != 2 ? 0x3f : 0x38);
        if (wide) bytes[i - 2] |= 0xc0;
        if (random_below(2)) bytes[i - 1] |= 0x80;
    }
}

typedef struct work {
    hg_program *program;
    hg_buffer arrays[3];
    hg_params *params;
} work;

static work make_work(hg_backend *b, const char *instruction) {
    static const char *const names[] = {"x", "y", "z"};
    static uint8_t bytes[BYTES];
    char text[1024];
    snprintf(text, sizeof text,
             PROGRAM(".param r1 x buffer u8 inout\n.param r2 y buffer u8 in\n.param r3 z buffer u8 "
                     "in\n    %s\n"),
             instruction);
    work w = {.program = assemble(text), .params = hg_params_create()};
    for (int i = 0; i < 3; i++) {
        if (i) fill(bytes, BYTES, instruction);
        w.arrays[i] = make_buffer(b, i ? bytes : NULL, BYTES);
        CHECK_OK(hg_params_set_buffer(w.params, names[i], w.arrays[i]));
    }
    return w;
}

static void free_work(hg_backend *b, work *w) {
    for (int i = 0; i < 3; i++) CHECK_OK(hg_backend_free_buffer(b, w->arrays[i]));
    hg_params_destroy(w->params);
    hg_program_release(w->program);
}

static void calculate(hg_backend *b, const work *w, uint8_t *result) {
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    memset(result, 0xee, BYTES);
    CHECK_OK(hg_backend_copy_to_buffer(b, w->arrays[0], result, BYTES));
    CHECK_OK(hg_executable_create_for(b, w->program, NULL, w->params, &e));
    CHECK_OK(hg_binding_create(e, NULL, w->params, &binding));
    CHECK_OK(hg_binding_launch(binding));
    CHECK_OK(hg_backend_copy_from_buffer(b, w->arrays[0], result, BYTES));
    hg_binding_destroy(binding);
    hg_executable_destroy(e);
}

static void describe(const library_tiles *tiles, char *text, size_t size) {
    text[0] = 0;
    for (int i = 0; i < LIBRARY_TILE_COUNT; i++) {
        size_t length = strlen(text);
        snprintf(text + length, size - length, " %s %u", library_tile_get((library_tile)i)->name,
                 (unsigned)tiles->sizes[i]);
    }
}

static void random_settings(uint32_t threads, const char *jit, uint32_t settings) {
    static uint8_t expected[BYTES], got[BYTES];
    char text[1024];
    hg_backend *b = open_cpu(threads, jit);
    for (size_t i = 0; i < HG_COUNT_OF(WORKS); i++) {
        work w = make_work(b, WORKS[i]);
        *hg_backend_tiles(b) = hg_backend_tile_presets(b);
        calculate(b, &w, expected);
        CHECK_MESSAGE(expected[0] != 0xee || expected[1] != 0xee, "%s writes nothing", WORKS[i]);
        for (uint32_t k = 0; k < settings; k++) {
            *hg_backend_tiles(b) = random_tiles();
            calculate(b, &w, got);
            describe(hg_backend_tiles(b), text, sizeof text);
            CHECK_MESSAGE(memcmp(expected, got, BYTES) == 0, "%s: other bits with%s", WORKS[i],
                          text);
        }
        free_work(b, &w);
    }
    hg_backend_destroy(b);
}

/* A scan is shared out by threads: each number of them gives the same bits. */
static void thread_counts(void) {
    static const char *const SCANS[] = {
        "scan.f32 output=r1, input=r2, n=70001", "scan.f64 output=r1, input=r2, n=20480, outer=3",
        "scan.u32 output=r1, input=r2, n=70001, exclusive=true, reverse=true",
        "scan.i16 output=r1, input=r2, n=40963, operation=max, outer=2",
        "scan.f16 output=r1, input=r2, n=40963, exclusive=true"};
    static uint8_t expected[HG_COUNT_OF(SCANS)][BYTES], got[BYTES];
    for (uint32_t threads = 1; threads <= 7; threads += 2) {
        hg_backend *b = open_cpu(threads, "off");
        for (size_t i = 0; i < HG_COUNT_OF(SCANS); i++) {
            state = (uint32_t)i; /* the same arrays */
            work w = make_work(b, SCANS[i]);
            calculate(b, &w, threads == 1 ? expected[i] : got);
            CHECK_MESSAGE(threads == 1 || memcmp(expected[i], got, BYTES) == 0,
                          "%s: other bits with %u threads", SCANS[i], (unsigned)threads);
            free_work(b, &w);
        }
        hg_backend_destroy(b);
    }
}

/* Where a row of several chunks begins and ends nothing else is read: beyond are pages that nobody
 * may read. */
static void scan_between_pages(void) {
    enum { N = 5000, ROWS = 2, COUNT = N * ROWS };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (COUNT * 4 + page - 1) / page * page;
    uint8_t *memory = mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static uint32_t got[COUNT];
    CHECK(memory != MAP_FAILED && mprotect(memory + page, room, PROT_READ | PROT_WRITE) == 0);
    for (int reverse = 0; reverse < 2; reverse++)
        for (uint32_t threads = 1; threads <= 4; threads += 3) {
            uint32_t *x = (uint32_t *)(void *)(memory + page + (reverse ? 0 : room - COUNT * 4));
            hg_backend *b = open_cpu(threads, "off");
            char text[256];
            uint32_t wrong = 0;
            snprintf(text, sizeof text,
                     PROGRAM(".param r1 y buffer u32 out\n.param r2 x buffer u32 in\n    scan.u32 "
                             "output=r1, input=r2, n=%d, outer=%d, reverse=%s\n"),
                     N, ROWS, reverse ? "true" : "false");
            for (uint32_t i = 0; i < COUNT; i++) x[i] = i * 2654435761u;
            hg_program *program = assemble(text);
            hg_params *params = hg_params_create();
            hg_executable *e = NULL;
            hg_binding *binding = NULL;
            hg_buffer in, out = make_buffer(b, NULL, sizeof got);
            CHECK_OK(hg_buffer_import(b, x, COUNT * 4, &in));
            CHECK_OK(hg_params_set_buffer(params, "y", out));
            CHECK_OK(hg_params_set_buffer(params, "x", in));
            CHECK_OK(hg_executable_create(b, program, &e));
            CHECK_OK(hg_binding_create(e, NULL, params, &binding));
            CHECK_OK(hg_binding_launch(binding));
            CHECK_OK(hg_backend_copy_from_buffer(b, out, got, sizeof got));
            for (uint32_t i = 0, sum = 0; i < COUNT; i++) {
                const uint32_t at = reverse ? COUNT - 1 - i : i;
                sum = (i % N ? sum : 0) + x[at];
                wrong += got[at] != sum;
            }
            CHECK_U64(wrong, 0);
            hg_binding_destroy(binding);
            hg_executable_destroy(e);
            CHECK_OK(hg_backend_free_buffer(b, in));
            CHECK_OK(hg_backend_free_buffer(b, out));
            hg_params_destroy(params);
            hg_program_release(program);
            hg_backend_destroy(b);
        }
    CHECK(munmap(memory, room + 2 * page) == 0);
}

/* ---- the table and the file ---- */

static void table(void) {
    for (int i = 0; i < LIBRARY_TILE_COUNT; i++) {
        const library_tile_info *info = library_tile_get((library_tile)i);
        for (int kind = 0; kind < LIBRARY_TILES_KINDS; kind++) {
            uint16_t size = library_tiles_of((library_tile_kind)kind).sizes[i];
            CHECK_MESSAGE(size >= info->least && size <= info->most, "preset of %s", info->name);
        }
        CHECK(info->works[0] && info->tries[0] && info->tries[1]);
        for (int k = 0; info->tries[k]; k++)
            CHECK_MESSAGE(info->tries[k] >= info->least && info->tries[k] <= info->most,
                          "what is tried for %s", info->name);
    }
}

static void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* What a backend has that finds this text. why: what it says about it. */
static library_tiles with_text(const char *path, const char *text, char why[LIBRARY_TILES_WHY]) {
    library_tiles read;
    write_text(path, text);
    hg_backend *b = open_cpu(1, "off");
    library_tiles tiles = *hg_backend_tiles(b);
    CHECK_OK(hg_backend_tiles_read(b, &read, why));
    CHECK(memcmp(&read, &tiles, sizeof tiles) == 0);
    hg_backend_destroy(b);
    return tiles;
}

static void files(void) {
    char folder[] = "/tmp/hologram-tiles-XXXXXX", path[64], why[LIBRARY_TILES_WHY], *device = NULL,
         *found = NULL, bad[600];
    if (!mkdtemp(folder)) exit(1);
    snprintf(path, sizeof path, "%s/tiles", folder);
    setenv("HOLOGRAM_TILES", path, 1);
    hg_backend *b = open_cpu(1, "off");
    library_tiles presets = hg_backend_tile_presets(b), mine = random_tiles(), got;
    CHECK(memcmp(hg_backend_tiles(b), &presets, sizeof presets) == 0); /* there is no file */
    CHECK_OK(hg_backend_tile_device(b, &device));
    CHECK_OK(hg_backend_tile_file(b, &found));
    CHECK_TEXT(found, path);
    hg_text text = {0};
    library_tiles_print(&mine, device, &text);
    got = with_text(path, text.data, why);
    CHECK_MESSAGE(memcmp(&got, &mine, sizeof mine) == 0, "a good file does not count: %s", why);
    CHECK_TEXT(why, "");
    const struct {
        const char *format, *why;
    } texts[] = {
        {"hologram tile sizes 9\ndevice %s\ngemm.rows 3\n",
         "its first line is not 'hologram tile sizes 1'"},
        {"hologram tile sizes 1\ndevice %s and more\ngemm.rows 3\n",
         "it is of another device or version"},
        {"hologram tile sizes 1\ndevice %s\ngemm.rows 3\ngemm.rows 0\n",
         "line 'gemm.rows 0' is no size of this library"},
        {"hologram tile sizes 1\ndevice %s\ngemm.rows 33\n",
         "line 'gemm.rows 33' is no size of this library"},
        {"hologram tile sizes 1\ndevice %s\ngemm.rows 3x\n",
         "line 'gemm.rows 3x' is no size of this library"},
        {"hologram tile sizes 1\ndevice %s\ngemm.lanes 3\n",
         "line 'gemm.lanes 3' is no size of this library"},
        {"hologram tile sizes 1\ndevice %s\ngemm.rows 3", "its last line has no end"},
        {"%s\n", "its first line is not 'hologram tile sizes 1'"},
    };
    for (size_t i = 0; i < HG_COUNT_OF(texts); i++) {
        snprintf(bad, sizeof bad, texts[i].format, device);
        got = with_text(path, bad, why);
        CHECK_MESSAGE(memcmp(&got, &presets, sizeof presets) == 0, "a bad file counts: %s", bad);
        CHECK_TEXT(why, texts[i].why);
    }
    snprintf(bad, sizeof bad, "hologram tile sizes 1\ndevice %s\ngemm.rows 3\n", device);
    got = with_text(path, bad, why);
    presets.sizes[LIBRARY_TILE_GEMM_ROWS] = 3;
    CHECK_MESSAGE(memcmp(&got, &presets, sizeof presets) == 0, "one size of a file: %s", why);
    setenv("HOLOGRAM_TILES", "off", 1);
    hg_string_free(found);
    CHECK_OK(hg_backend_tile_file(b, &found));
    CHECK_TEXT(found, "");
    hg_string_free(found);
    hg_string_free(device);
    hg_text_free(&text);
    hg_backend_destroy(b);
    unlink(path);
    rmdir(folder);
    unsetenv("HOLOGRAM_TILES");
}

int main(void) {
    setenv("HOLOGRAM_TILES", "off", 1);
    table();
    thread_counts();
    scan_between_pages();
    random_settings(1, "off", SETTINGS);
    random_settings(2, "off", SETTINGS / 2);
    random_settings(2, "on", 2);
    files();
    return test_done();
}
