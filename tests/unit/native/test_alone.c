/* Kernels whose lanes leave a loop one by one have native code in turns of many lanes and in turns
 * of one, which are timed in turns: whichever runs, the values are those of C, the fault is that of
 * the tile interpreter, and time is asked for.
 * test: labels=slow */
#include "native/compilers.h"
#include "native/native.h"
#include "runtime/binding.h"
#include "support/runtime_support.h"
#include "test.h"
#include "tile/tile_internal.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LANES = 3000, NODES = 20000, LAUNCHES = 60 };

/* Lanes go along lists of their own and add up the nodes; 0 ends a list. */
static const char WALK[] =
    ".atlas 1\n.program walk\n.param next buffer u32 in [m]\n.param y buffer u32 inout [n]\n"
    ".param m u64\n.param n u64\n.lanes n\n.reg at, sum u32\n"
    " ldg at, [y[global]]\n mov sum, 0\n"
    "again:\n bra.eq at, 0, @out\n add sum, sum, at\n ldg at, [next[at]]\n bra @again\n"
    "out:\n stg [y[global]], sum\n";

static uint32_t next[NODES], start[LANES], made[LANES];
static char error[256];

/* Lists of 0 to 63 nodes, the lengths of neighbours unlike each other. */
static void make_lists(void) {
    uint64_t state = 1;
    uint32_t node = 1;
    for (uint32_t i = 0; i < LANES; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint32_t length = (uint32_t)(state >> 33) & (state >> 60 ? 3 : 63);
        start[i] = length && node + length < NODES ? node : 0;
        for (uint32_t k = 0; start[i] && k < length; k++, node++)
            next[node] = k + 1 < length ? node + 1 : 0;
    }
}

typedef struct side {
    hg_backend *b;
    hg_program *program;
    hg_executable *executable;
    hg_buffer next, y;
} side;

static void open_side(side *s, const char *jit, const char *cache, uint64_t timeout_ms) {
    hg_config config = hg_config_default();
    *s = (side){0};
    memcpy(config.backend, "cpu", 4);
    snprintf(config.jit, sizeof config.jit, "%s", jit);
    config.cache_dir = cache;
    config.timeout_ms = timeout_ms;
    CHECK_OK(hg_backend_create_with_config(&config, &s->b));
    if (!s->b) exit(test_done());
    s->program = assemble(WALK);
    CHECK_OK(hg_executable_create(s->b, s->program, &s->executable));
    CHECK_OK(hg_backend_allocate_buffer(s->b, sizeof next, &s->next));
    CHECK_OK(hg_backend_allocate_buffer(s->b, sizeof start, &s->y));
}

static void close_side(side *s) {
    CHECK_OK(hg_backend_free_buffer(s->b, s->next));
    CHECK_OK(hg_backend_free_buffer(s->b, s->y));
    hg_executable_destroy(s->executable);
    hg_program_release(s->program);
    hg_backend_destroy(s->b);
}

static const tile_kernel *kernel_of(const side *s) {
    const hg_driver_kernel *kernel = s->executable->kernels[0].code->kernel;
    const tile_kernel *code;
    memcpy(&code, kernel, sizeof code);
    return code;
}

static hg_status walk(side *s) {
    hg_params *params = hg_params_create();
    CHECK_OK(hg_buffer_write(s->b, s->next, 0, next, sizeof next));
    CHECK_OK(hg_buffer_write(s->b, s->y, 0, start, sizeof start));
    CHECK_OK(hg_params_set_buffer(params, "next", s->next));
    CHECK_OK(hg_params_set_buffer(params, "y", s->y));
    error[0] = 0;
    hg_binding *binding = NULL;
    CHECK_OK(hg_binding_create(s->executable, NULL, params, &binding));
    hg_status status = hg_binding_launch(binding);
    if (status != HG_OK) snprintf(error, sizeof error, "%s", hg_last_error_text());
    CHECK_OK(hg_buffer_read(s->b, s->y, 0, made, sizeof made));
    hg_binding_destroy(binding);
    hg_params_destroy(params);
    return status;
}

static void values(side *s) {
    uint32_t wrong = 0;
    for (int n = 0; n < LAUNCHES; n++) {
        CHECK_OK(walk(s));
        for (uint32_t i = 0; i < LANES; i++) {
            uint32_t sum = 0;
            for (uint32_t at = start[i]; at; at = next[at]) sum += at;
            wrong += made[i] != sum;
        }
    }
    CHECK_U64(wrong, 0);
}

/* The first lane that leaves the list, whatever code it meets. */
static void faults(side *interpreted, side *s) {
    static const uint32_t LANES_OUT[] = {1, 31, 32, 700, 2999};
    for (size_t i = 0; i < HG_COUNT_OF(LANES_OUT); i++) {
        const uint32_t kept = start[LANES_OUT[i]], after = start[LANES_OUT[i] - 1];
        char expected[256];
        start[LANES_OUT[i]] = NODES + (uint32_t)i;
        if (LANES_OUT[i] + 1 < LANES) start[LANES_OUT[i] + 1] = UINT32_MAX;
        CHECK(walk(interpreted) != HG_OK);
        memcpy(expected, error, sizeof expected);
        for (int n = 0; n < LAUNCHES / 2; n++) {
            CHECK(walk(s) != HG_OK);
            CHECK_MESSAGE(strcmp(error, expected) == 0, "'%s', not '%s'", error, expected);
        }
        start[LANES_OUT[i]] = kept;
        start[LANES_OUT[i] - 1] = after;
        make_lists();
    }
}

static void time_ends(side *s) {
    next[start[5] ? start[5] : start[6]] = start[5] ? start[5] : start[6];
    for (int n = 0; n < 2; n++) {
        CHECK(walk(s) != HG_OK);
        CHECK_MESSAGE(strstr(error, "100 ms"), "%s", error);
    }
    make_lists();
}

int main(void) {
    char folder[] = "/tmp/hologram-alone-XXXXXX", reason[256];
    side interpreted, s;
    make_lists();
    if (!native_by(reason)) {
        SKIP(reason);
        return test_done();
    }
    CHECK(mkdtemp(folder) != NULL);
    open_side(&interpreted, "off", "off", 0);
    for (int kept = 0; kept < 2; kept++) { /* made, then from the cache */
        open_side(&s, "on", folder, 0);
        const tile_kernel *kernel = kernel_of(&s);
        CHECK(tile_native_of(kernel) && kernel->native.alone.now);
        CHECK(tile_native_of(kernel)->lanes > 1);
        values(&s);
        CHECK(kernel->native.alone.trials != 0);
        faults(&interpreted, &s);
        close_side(&s);
    }
    close_side(&interpreted);
    open_side(&s, "on", folder, 100);
    time_ends(&s);
    close_side(&s);
    snprintf(reason, sizeof reason, "rm -r %s", folder);
    CHECK(system(reason) == 0);
    return test_done();
}
