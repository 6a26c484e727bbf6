/* Kernels of integers with many whole products of 64 bits run in turns of one lane: the values and
 * the first fault are those of the tile interpreter, for numbers of lanes around those of other
 * turns. */
#include "base/base.h"
#include "native/compilers.h"
#include "native/native.h"
#include "runtime/binding.h"
#include "support/runtime_support.h"
#include "tile/tile_internal.h"
#include <string.h>

enum { MOST = 5000, BINS = 40 };

/* A gather, neighbours, a loop that lanes leave one by one, a branch, a division, a function that
 * may fault, lanes that end, a histogram. */
static const char TEXT[] = PROGRAM(
    ".param x buffer u64 in [n]\n.param k buffer u32 in [n]\n.param t buffer u16 in [m]\n"
    ".param y buffer u64 inout [n]\n.param h buffer u32 inout [40]\n.param n u64\n"
    ".param m u64\n.lanes n\n.reg a, b, c, s, at u64\n.reg i, r, old u32\n.reg e u16\n"
    " ldg a, [x[global]]\n ldg i, [k[global]]\n mul at, global, 3\n"
    " ldg e, [t[at]]\n cvt s, e\n ldg e, [t[at + 2]]\n cvt b, e\n mad s, b, 65536, s\n"
    " mul c, a, a\n mulhi.u64 b, a, a\n xor s, s, c\n and r, i, 7\n"
    "again:\n bra.eq r, 0, @out\n mul c, s, b\n mulhi.u64 s, s, b\n add s, s, c\n"
    " mul c, b, a\n mulhi.u64 b, b, a\n add b, b, c\n sub r, r, 1\n bra @again\n"
    "out:\n bra.ge i, 4000000000, @gone\n ldg c, [x[i]]\n call @divide\n xor s, s, c\n"
    " rem r, i, 40\n atom.add.u32 old, [h[r]], 1\n stg [y[global]], s\n"
    "gone:\n exit\n"
    "divide:\n cvt at, i\n add at, at, 3\n mulhi.u64 at, at, a\n add at, at, a\n"
    " div c, c, at\n ret\n");

/* A high half without the low one, of which vectors have as much as of the rest. */
static const char HALVES[] = PROGRAM(
    ".param y buffer u32 out [n]\n.param n u64\n.param bound u64\n.lanes n\n.reg a, b u64\n"
    ".reg r u32\n mul a, global, 0x9e3779b97f4a7c15\n shr b, a, 30\n xor a, a, b\n"
    " mul a, a, 0xbf58476d1ce4e5b9\n shr b, a, 27\n xor a, a, b\n mulhi a, a, bound\n"
    " cvt r, a\n stg [y[global]], r\n");

static uint64_t x[MOST];
static uint32_t k[MOST];
static uint16_t t[3 * MOST];

typedef struct side {
    hg_backend *b;
    hg_program *program;
    hg_executable *executable;
    uint64_t y[MOST];
    uint32_t h[BINS];
    char error[256];
} side;

static side interpreted, native;

static void open_side(side *s, const char *jit, const char *text) {
    hg_config config = hg_config_default();
    memcpy(config.backend, "cpu", 4);
    snprintf(config.jit, sizeof config.jit, "%s", jit);
    config.cache_dir = "off";
    CHECK_OK(hg_backend_create_with_config(&config, &s->b));
    if (!s->b) exit(test_done());
    s->program = assemble(text);
    CHECK_OK(hg_executable_create(s->b, s->program, &s->executable));
}

static void close_side(side *s) {
    hg_executable_destroy(s->executable);
    hg_program_release(s->program);
    hg_backend_destroy(s->b);
}

static uint32_t lanes_of_turn(const side *s) {
    const hg_driver_kernel *kernel = s->executable->kernels[0].code->kernel;
    const tile_kernel *code;
    memcpy(&code, kernel, sizeof code);
    return tile_native_of(code) ? tile_native_of(code)->lanes : 0;
}

static void run(side *s, uint64_t n) {
    static const char *const NAMES[] = {"x", "k", "t", "y", "h"};
    const uint64_t m = 3 * n;
    hg_params *params = hg_params_create();
    hg_binding *binding = NULL;
    memset(s->y, 0, sizeof s->y);
    memset(s->h, 0, sizeof s->h);
    hg_buffer buffers[] = {make_buffer(s->b, x, n * 8), make_buffer(s->b, k, n * 4),
                           make_buffer(s->b, t, m * 2), make_buffer(s->b, s->y, n * 8),
                           make_buffer(s->b, s->h, sizeof s->h)};
    for (size_t i = 0; i < HG_COUNT_OF(buffers); i++)
        CHECK_OK(hg_params_set_buffer(params, NAMES[i], buffers[i]));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    CHECK_OK(hg_params_set_scalar(params, "m", HG_TYPE_U64, &m));
    CHECK_OK(hg_binding_create(s->executable, NULL, params, &binding));
    s->error[0] = 0;
    if (hg_binding_launch(binding) != HG_OK)
        snprintf(s->error, sizeof s->error, "%s", hg_last_error_text());
    CHECK_OK(hg_buffer_read(s->b, buffers[3], 0, s->y, n * 8));
    CHECK_OK(hg_buffer_read(s->b, buffers[4], 0, s->h, sizeof s->h));
    hg_binding_destroy(binding);
    for (size_t i = 0; i < HG_COUNT_OF(buffers); i++)
        CHECK_OK(hg_backend_free_buffer(s->b, buffers[i]));
    hg_params_destroy(params);
}

static void same(uint64_t n, bool faults) {
    run(&interpreted, n);
    run(&native, n);
    CHECK_MESSAGE(strcmp(interpreted.error, native.error) == 0, "'%s', not '%s'", native.error,
                  interpreted.error);
    CHECK_MESSAGE((native.error[0] != 0) == faults, "%u lanes: %s", (unsigned)n, native.error);
    if (faults) return; /* what other lanes did by then is not said */
    CHECK_MESSAGE(memcmp(native.y, interpreted.y, n * 8) == 0, "%u lanes: values", (unsigned)n);
    CHECK_MESSAGE(memcmp(native.h, interpreted.h, sizeof native.h) == 0, "%u lanes: histogram",
                  (unsigned)n);
}

/* Lanes that end, lanes out of bounds, lanes that divide by zero. */
static void fill(uint64_t n) {
    uint64_t state = n;
    for (uint32_t i = 0; i < MOST; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        x[i] = state ^ state >> 31;
        if (i % 50 == 49) x[i] = 1;
        k[i] = i % 11 == 10 ? 4000000000u + i : (uint32_t)(state >> 33) % (uint32_t)n;
    }
    for (uint32_t i = 0; i < 3 * MOST; i++) t[i] = (uint16_t)(i * 40503u >> 3);
}

static void all_sizes(void) {
    static const uint64_t LANES[] = {1, 2, 15, 16, 17, 63, 64, 65, 255, 256, 257, 4999, MOST};
    for (size_t i = 0; i < HG_COUNT_OF(LANES); i++) {
        const uint64_t n = LANES[i];
        fill(n);
        same(n, false);
        for (uint64_t at = n - 1; at < n; at = at ? at / 2 : n) {
            const uint32_t kept = k[at];
            const uint64_t number = x[at];
            k[at] = (uint32_t)n + 5;
            same(n, true);
            k[at] = kept % 4000000000u % (uint32_t)n;
            x[at] = 0;
            same(n, true);
            x[at] = number;
            k[at] = kept;
        }
    }
}

int main(void) {
    char reason[256];
    if (!native_by(reason)) {
        SKIP(reason);
        return test_done();
    }
    open_side(&native, "on", HALVES);
    CHECK(lanes_of_turn(&native) > 1);
    close_side(&native);
    open_side(&interpreted, "off", TEXT);
    open_side(&native, "on", TEXT);
    CHECK_U64(lanes_of_turn(&interpreted), 0);
    CHECK_U64(lanes_of_turn(&native), 1);
    all_sizes();
    close_side(&interpreted);
    close_side(&native);
    return test_done();
}
