/* Loads whose lanes lie as far apart, by native code of each CPU level: of every type and step, for
 * numbers of lanes around those of a turn, from arrays whose last element ends where a page begins
 * that nobody may read. Alone, three of neighbours together as of pixels, and bytes in turns of
 * eight lanes. */
#include "support/runtime_support.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_LANES = 131, MOST_STEP = 11 };

static const char TEXT[] =
    ".atlas 1\n.program p\n.param x buffer u%u in [m]\n.param y buffer u%u out "
    "[n]\n.param m u64\n.param n u64\n.lanes n\n.reg at u64\n.reg v, s u%u\n"
    "    mul at, global, %u\n    ldg s, [x[at]]\n%s    stg [y[global]], s\n";
static const char TOGETHER[] = "    ldg v, [x[at + 1]]\n    mad s, s, 3, v\n"
                               "    ldg v, [x[at + 2]]\n    mad s, s, 5, v\n";

/* Blocks of eight lanes, whose turns are no longer. */
static const char EIGHT[] =
    ".atlas 1\n.program p\n.param x buffer u8 in [m]\n.param y buffer u32 out [n]\n.param m u64\n"
    ".param n u64\n.block 8\n.lanes n\n.reg at u64\n.reg v u8\n.reg s u32\n"
    "    mul at, global, %u\n    ldg v, [x[at]]\n    bar.sync 0\n    cvt s, v\n"
    "    stg [y[global]], s\n";

typedef struct work {
    hg_backend *backend;
    uint32_t bytes, step, reads; /* reads: neighbours that a lane loads */
    uint32_t out;                /* bytes of an element that it stores */
    uint8_t *end;                /* of memory that may be read */
    hg_program *program;
} work;

static uint64_t element(const uint8_t *x, uint64_t i, uint32_t bytes) {
    uint64_t value = 0;
    memcpy(&value, x + i * bytes, bytes);
    return value;
}

static void launch(const work *w, uint64_t lanes, const char *level) {
    uint64_t count = (lanes - 1) * w->step + w->reads;
    uint8_t *x = w->end - count * w->bytes, got[MOST_LANES * 8];
    uint64_t mask = w->bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * w->bytes) - 1;
    hg_buffer in, out;
    hg_params *params = hg_params_create();
    hg_launch at = HG_LAUNCH_PROGRAM;
    for (uint64_t i = 0; i < count * w->bytes; i++) x[i] = (uint8_t)(i * 167 + i / 251 + lanes);
    CHECK(params != NULL);
    CHECK_OK(hg_buffer_import(w->backend, x, count * w->bytes, &in));
    CHECK_OK(hg_backend_allocate_buffer(w->backend, lanes * w->out, &out));
    CHECK_OK(hg_params_set_buffer(params, "x", in));
    CHECK_OK(hg_params_set_buffer(params, "y", out));
    CHECK_OK(hg_params_set_scalar(params, "m", HG_TYPE_U64, &count));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &lanes));
    CHECK_OK(hg_backend_execute_program_with_params(w->backend, w->program, &at, params));
    CHECK_OK(hg_backend_copy_from_buffer(w->backend, out, got, lanes * w->out));
    for (uint64_t i = 0; i < lanes; i++) {
        uint64_t right = element(x, i * w->step, w->bytes), made = element(got, i, w->out);
        if (w->reads == 3) {
            right = right * 3 + element(x, i * w->step + 1, w->bytes);
            right = (right * 5 + element(x, i * w->step + 2, w->bytes)) & mask;
        }
        CHECK_MESSAGE(made == right,
                      "%s, u%u, step %u, %u of a lane, %u lanes: lane %u has %llx, not %llx", level,
                      8 * w->bytes, w->step, w->reads, (unsigned)lanes, (unsigned)i,
                      (unsigned long long)made, (unsigned long long)right);
    }
    CHECK_OK(hg_backend_free_buffer(w->backend, in));
    CHECK_OK(hg_backend_free_buffer(w->backend, out));
    hg_params_destroy(params);
}

static void runs(work *w, const char *level, const char *text) {
    static const uint64_t LANES[] = {1,  7,  8,  15, 16,  17,  31,  32,
                                     33, 63, 64, 65, 127, 128, 129, MOST_LANES};
    CHECK_OK(hg_program_assemble(text, strlen(text), NULL, &w->program));
    for (size_t i = 0; i < sizeof LANES / sizeof *LANES; i++) launch(w, LANES[i], level);
    hg_program_release(w->program);
}

static void steps(work *w, const char *level) {
    char text[600];
    uint32_t bits = 8 * w->bytes;
    snprintf(text, sizeof text, TEXT, bits, bits, bits, w->step, w->reads == 3 ? TOGETHER : "");
    w->out = w->bytes;
    runs(w, level, text);
    if (w->bytes > 1 || w->reads > 1) return;
    snprintf(text, sizeof text, EIGHT, w->step);
    w->out = 4;
    runs(w, level, text);
}

static void test_level(const char *level, uint8_t *end) {
    hg_config config = hg_config_default();
    work w = {.end = end};
    snprintf(config.backend, sizeof config.backend, "cpu");
    snprintf(config.cpu_level, sizeof config.cpu_level, "%s", level);
    snprintf(config.jit, sizeof config.jit, "on");
    if (hg_backend_create_with_config(&config, &w.backend) != HG_OK) {
        SKIP(hg_last_error_text());
        return;
    }
    for (w.bytes = 1; w.bytes <= 8; w.bytes *= 2)
        for (w.step = 2; w.step <= MOST_STEP; w.step += w.step < 5 || w.bytes == 1 ? 1 : 2) {
            w.reads = 1;
            steps(&w, level);
            w.reads = 3;
            if (w.step >= 3 && w.step <= 4) steps(&w, level);
        }
    hg_backend_destroy(w.backend);
}

int main(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 16 * page;
    uint8_t *memory = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                           -1, 0);
    CHECK(memory != MAP_FAILED);
    if (memory == MAP_FAILED) return test_done();
    CHECK(mprotect(memory + bytes, page, PROT_NONE) == 0);
    test_level("baseline", memory + bytes);
    test_level("v3", memory + bytes);
    test_level("", memory + bytes); /* what this CPU has */
    CHECK(munmap(memory, bytes + page) == 0);
    return test_done();
}
