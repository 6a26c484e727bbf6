/* Arrays that are larger than what the device binds, or than its buffers: launches give the bits
 * of the CPU where each range of lanes reaches parts that the device binds, faults tell the same
 * lane, and everything else is refused with both numbers. The limits are pretended
 * (HOLOGRAM_PRETEND largest-binding, largest-buffer). */
/* test: timeout=300 */
#include "base/base.h"
#include "support/runtime_support.h"
#include <stdlib.h>
#include <string.h>

/* Elements: about three bindings of f32; no multiple of anything. */
enum { N = 1500007, MOST = 2 << 20, ARRAYS = 5, ROWS = 2000, COLUMNS = 750 };

/* What a case's launch does on a device whose bindings, or whose buffers, are small. */
typedef enum outcome { RUNS, FAULTS, REFUSED } outcome;
typedef struct example {
    const char *name;
    const char *text;
    struct {
        const char *name;
        uint64_t bytes;
    } arrays[ARRAYS];
    outcome binding, buffer;
    uint64_t m, n; /* its parameters; n 0: N */
} example;

#define LANES ".param n u64\n.lanes n\n"
static const example EXAMPLES[] = {
    {"an element of each",
     ".param x buffer f32 in [n]\n.param y buffer f32 inout [n]\n.param a f32 = 1.5\n" LANES
     "    y[global] = a * x[global] + y[global]\n",
     {{"x", N * 4}, {"y", N * 4}},
     RUNS,
     RUNS,
     0,
     0},
    {"types of different sizes",
     ".param x buffer u8 in [n]\n.param z buffer i16 in [n]\n.param y buffer u64 out [n]\n" LANES
     "    y[global] = u64(x[global]) * 1000003 + u64(u16(z[global])) + global\n",
     {{"x", N}, {"z", N * 2}, {"y", N * 8}},
     RUNS,
     RUNS,
     0,
     0},
    {"narrow stores",
     ".param x buffer u32 in [n]\n.param y buffer u8 out [n]\n.param z buffer u16 out [n]\n" LANES
     "    y[global] = u8(x[global] >> 7)\n    z[global] = u16(x[global] * 3)\n",
     {{"x", N * 4}, {"y", N}, {"z", N * 2}},
     RUNS,
     RUNS,
     0,
     0},
    {"neighbours",
     ".param x buffer f32 in [n]\n.param y buffer f32 out [n]\n" LANES "    let v = x[global]\n"
     "    if global > 0 {\n    v = v + x[global - 1]\n    }\n"
     "    if global + 1 < n {\n    v = v + x[global + 1]\n    }\n"
     "    y[global] = v\n",
     {{"x", N * 4}, {"y", N * 4}},
     RUNS,
     REFUSED,
     0,
     0},
    {"three numbers a lane, in a loop",
     ".param x buffer f32 in [n, 3]\n.param y buffer f32 out [n]\n" LANES
     "    let v = f32(0)\n    let k = u64(0)\n"
     "    while k < 3 {\n    v = v * 0.5 + x[global, k]\n    k = k + 1\n    }\n"
     "    y[global] = v\n",
     {{"x", N * 12}, {"y", N * 4}},
     RUNS,
     RUNS,
     0,
     0},
    {"rows and columns",
     ".param x buffer f32 in [m, n]\n.param r buffer f32 in [n]\n.param y buffer f32 out [m, n]\n"
     ".param m u64\n.param n u64\n.lanes [i < m, j < n]\n"
     "    y[i, j] = x[i, j] * r[j] + f32(i)\n",
     {{"x", ROWS *COLUMNS * 4}, {"r", COLUMNS * 4}, {"y", ROWS *COLUMNS * 4}},
     RUNS,
     RUNS,
     ROWS,
     COLUMNS},
    {"a small table and a count",
     ".param x buffer u32 in [n]\n.param t buffer u32 in [16]\n.param c buffer u32 inout [16]\n"
     ".param y buffer u32 out [n]\n" LANES "    let k = u64(x[global] % 16)\n    y[global] = t[k]\n"
     "    let before = atom.add(c[k], 1)\n",
     {{"x", N * 4}, {"t", 64}, {"c", 64}, {"y", N * 4}},
     RUNS,
     RUNS,
     0,
     0},
    {"a part of the array",
     ".param x buffer u32 in [n]\n.param y buffer u32 out [n]\n.param n u64\n.lanes 1000\n"
     "    y[global + 900000] = x[global + 700000]\n",
     {{"x", N * 4}, {"y", N * 4}},
     RUNS,
     RUNS,
     0,
     0},
    {"a lane outside",
     ".param x buffer u32 in [n]\n.param y buffer u32 out\n" LANES
     "    y[global + 1] = x[global]\n",
     {{"x", N * 4}, {"y", N * 4}},
     FAULTS,
     FAULTS,
     0,
     0},
    {"a neighbour that the first lane has not",
     ".param x buffer u32 in [n]\n.param y buffer u32 out [n]\n" LANES
     "    y[global] = x[global - 1]\n",
     {{"x", N * 4}, {"y", N * 4}},
     FAULTS,
     FAULTS,
     0,
     0},
    {"any element",
     ".param x buffer u32 in [n]\n.param y buffer u32 out [n]\n" LANES
     "    y[global] = x[u64(x[global]) % n]\n",
     {{"x", N * 4}, {"y", N * 4}},
     REFUSED,
     REFUSED,
     0,
     0},
    {"from behind",
     ".param x buffer u32 in [n]\n.param y buffer u32 out [n]\n" LANES
     "    y[global] = x[n - 1 - global]\n",
     {{"x", N * 4}, {"y", N * 4}},
     RUNS,
     RUNS,
     0,
     0},
};

/* Blocks that turn their elements round in shared memory. */
static const example BLOCKS = {
    "blocks with a barrier",
    ".param x buffer u32 in [n]\n.param y buffer u32 out [n]\n.param n u64\n"
    ".shared s u32 [64]\n.block 64\n.grid 23437\n"
    "    s[lane_idx_x] = x[global]\n    bar.sync 0\n    y[global] = s[63 - lane_idx_x] + "
    "u32(global)\n",
    {{"x", 23437 * 64 * 4}, {"y", 23437 * 64 * 4}},
    RUNS,
    RUNS,
    0,
    23437 * 64};

/* Each lane is a range, of which there are more than may be: looking for them takes thousands of
 * walks. */
static const example SCATTERED = {"elements far apart",
                                  ".param x buffer u32 in [n]\n.param y buffer u32 out [n]\n" LANES
                                  "    y[global] = x[global * 600011 % n]\n",
                                  {{"x", N * 4}, {"y", N * 4}},
                                  REFUSED,
                                  REFUSED,
                                  0,
                                  0};

typedef struct memory {
    hg_buffer buffers[ARRAYS];
    uint8_t *bytes[ARRAYS]; /* of them afterwards */
} memory;

static void fill(uint8_t *bytes, uint64_t size, uint32_t seed) {
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)((i * 2654435761u + seed * 40503u) >> 21);
    for (uint64_t i = 3; i < size; i += 4) bytes[i] = 0x3f + (bytes[i] & 1); /* floats about 1 */
}

static hg_status run(hg_backend *b, const example *e, uint64_t timeout_ms, memory *m,
                     char error[512]) {
    hg_launch launch = HG_LAUNCH_PROGRAM;
    char text[1024];
    hg_params *params = hg_params_create();
    const uint64_t n = e->n ? e->n : N;
    snprintf(text, sizeof text, PROGRAM("%s"), e->text);
    hg_program *p = assemble(text);
    for (uint32_t i = 0; i < ARRAYS && e->arrays[i].name; i++) {
        uint64_t size = e->arrays[i].bytes;
        m->bytes[i] = malloc(size);
        fill(m->bytes[i], size, i);
        m->buffers[i] = make_buffer(b, m->bytes[i], size);
        CHECK_OK(hg_params_set_buffer(params, e->arrays[i].name, m->buffers[i]));
    }
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    if (e->m) CHECK_OK(hg_params_set_scalar(params, "m", HG_TYPE_U64, &e->m));
    launch.timeout_ms = timeout_ms;
    hg_status status = hg_backend_execute_program_with_params(b, p, &launch, params);
    snprintf(error, 512, "%s", status == HG_OK ? "" : hg_last_error_text());
    for (uint32_t i = 0; i < ARRAYS && e->arrays[i].name; i++) {
        CHECK_OK(hg_buffer_read(b, m->buffers[i], 0, m->bytes[i], e->arrays[i].bytes));
        CHECK_OK(hg_backend_free_buffer(b, m->buffers[i]));
    }
    hg_params_destroy(params);
    hg_program_release(p);
    return status;
}

static void release(const example *e, memory *m) {
    for (uint32_t i = 0; i < ARRAYS && e->arrays[i].name; i++) free(m->bytes[i]);
}

static void compare(hg_backend *b, hg_backend *cpu, const example *e, outcome wanted,
                    const char *pretend) {
    char error[512], right[512];
    memory own, other;
    hg_status status = run(b, e, 0, &own, error), good = run(cpu, e, 0, &other, right);
    if (wanted == REFUSED) {
        CHECK_MESSAGE(status == HG_ERROR_ALLOCATION_FAILED && strstr(error, "binds at most") &&
                          strstr(error, "6000028"),
                      "%s, %s: %d %s", e->name, pretend, (int)status, error);
    } else {
        CHECK_MESSAGE(status == good && strcmp(error, right) == 0, "%s, %s: %s, wanted %s", e->name,
                      pretend, error, right);
        CHECK_MESSAGE((wanted == RUNS) == (good == HG_OK), "%s: %s", e->name, right);
        for (uint32_t i = 0; wanted == RUNS && i < ARRAYS && e->arrays[i].name; i++)
            CHECK_MESSAGE(memcmp(own.bytes[i], other.bytes[i], e->arrays[i].bytes) == 0,
                          "%s, %s: array %s", e->name, pretend, e->arrays[i].name);
    }
    release(e, &own);
    release(e, &other);
}

static void test_search(hg_backend *b, hg_backend *cpu, const char *pretend) {
    char error[512];
    memory own;
    compare(b, cpu, &SCATTERED, REFUSED, pretend);
    CHECK_STATUS(run(b, &SCATTERED, 1, &own, error), HG_ERROR_EXECUTION_FAILED);
    CHECK_MESSAGE(strstr(error, "timeout after 1 ms"), "%s", error);
    release(&SCATTERED, &own);
}

static void test_limits(const char *name, hg_backend *cpu, const char *word, bool buffers) {
    char pretend[64];
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    snprintf(pretend, sizeof pretend, "%s=%d", word, (int)MOST);
    snprintf(config.backend, sizeof config.backend, "%s", name);
    set_pretend(&config, pretend);
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    if (!b) return;
    const bool binds = strcmp(name, "cpu") != 0; /* the CPU has no bindings: nothing is refused */
    for (size_t i = 0; i < HG_COUNT_OF(EXAMPLES); i++) {
        outcome wanted = buffers ? EXAMPLES[i].buffer : EXAMPLES[i].binding;
        compare(b, cpu, &EXAMPLES[i], wanted == REFUSED && !binds ? RUNS : wanted, pretend);
    }
    compare(b, cpu, &BLOCKS, RUNS, pretend);
    if (binds) test_search(b, cpu, pretend);
    hg_backend_destroy(b);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "cpu";
    hg_backend *cpu = open_backend("cpu");
    test_limits(name, cpu, "largest-binding", false);
    test_limits(name, cpu, "largest-buffer", true);
    hg_backend_destroy(cpu);
    return test_done();
}
