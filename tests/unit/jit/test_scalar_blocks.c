/* Kernels of blocks in which no value differs between lanes, by native code of each CPU level, in
 * blocks that are no whole turns: each block adds a run of an array, whose last element ends where
 * a page begins that nobody may read. Beside it the same with an atomic addition of each lane, an
 * addition of each lane at its own place, or a store of the sum there, which must know how many
 * lanes there are: nothing behind the last one's place changes. */
#include "base/base.h"
#include "support/runtime_support.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCKS = 37, MOST_LANES = 70, RUN = 5, BEHIND = 64, ROOM = BLOCKS * MOST_LANES + BEHIND };

static const char TEXT[] =
    ".atlas 1\n.program p\n.param x buffer u32 in [m]\n.param y buffer u32 inout [n]\n"
    ".param m u64\n.param n u64\n.block %u\n.grid %u\n.reg at u64\n.reg v, s u32\n"
    "    bar.sync 0\n    cvt at, block_idx_x\n    mul at, at, %u\n    mov s, 0\n.for j, 0, %u\n"
    "    ldg v, [x[at + j]]\n    mad s, s, 3, v\n.end\n    cvt at, %s\n%s";
/* what a block of so many lanes makes of its sum: one place, or one for each lane */
enum { STORED, ADDED, OF_LANES, FILLED, WAYS };
static const char *const PLACES[WAYS] = {"block_idx_x", "block_idx_x", "global", "global"};
static const char *const ENDS[WAYS] = {
    "    stg [y[at]], s\n", "    atom.add v, [y[at]], s\n",
    "    add s, s, lane_idx_x\n    ldg v, [y[at]]\n    add s, s, v\n    stg [y[at]], s\n",
    "    stg [y[at]], s\n"};

static void launch(hg_backend *backend, const char *level, uint32_t lanes, int way, uint8_t *end) {
    const bool own = way == OF_LANES || way == FILLED;
    const uint64_t count = BLOCKS * RUN, places = own ? BLOCKS * lanes : BLOCKS,
                   room = places + BEHIND;
    static uint32_t got[ROOM];
    uint32_t *x = (uint32_t *)(void *)(end - count * 4);
    char text[900];
    hg_program *program = NULL;
    hg_params *params = hg_params_create();
    hg_launch at = HG_LAUNCH_PROGRAM;
    hg_buffer in, out;
    snprintf(text, sizeof text, TEXT, lanes, (unsigned)BLOCKS, (unsigned)RUN, (unsigned)RUN,
             PLACES[way], ENDS[way]);
    for (uint64_t i = 0; i < count; i++) x[i] = (uint32_t)(i * 2654435761u + lanes);
    memset(got, 0, sizeof got);
    CHECK(params != NULL);
    CHECK_OK(hg_program_assemble(text, strlen(text), NULL, &program));
    CHECK_OK(hg_buffer_import(backend, x, count * 4, &in));
    CHECK_OK(hg_backend_allocate_buffer(backend, room * 4, &out));
    CHECK_OK(hg_backend_copy_to_buffer(backend, out, got, room * 4));
    CHECK_OK(hg_params_set_buffer(params, "x", in));
    CHECK_OK(hg_params_set_buffer(params, "y", out));
    CHECK_OK(hg_params_set_scalar(params, "m", HG_TYPE_U64, &count));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &room));
    CHECK_OK(hg_backend_execute_program_with_params(backend, program, &at, params));
    CHECK_OK(hg_backend_copy_from_buffer(backend, out, got, room * 4));
    for (uint64_t i = 0; i < room; i++) {
        uint64_t block = own ? i / lanes : i;
        uint32_t sum = 0;
        for (uint64_t j = block * RUN; i < places && j < (block + 1) * RUN; j++)
            sum = sum * 3 + x[j];
        if (way == ADDED) sum *= lanes;
        if (way == OF_LANES && i < places) sum += (uint32_t)(i % lanes);
        CHECK_MESSAGE(got[i] == sum, "%s, blocks of %u, way %d: place %u has %u, not %u", level,
                      lanes, way, (unsigned)i, got[i], sum);
    }
    CHECK_OK(hg_backend_free_buffer(backend, in));
    CHECK_OK(hg_backend_free_buffer(backend, out));
    hg_params_destroy(params);
    hg_program_release(program);
}

static void test_level(const char *level, uint8_t *end) {
    static const uint32_t LANES[] = {1, 2, 5, 8, 16, 31, 33, MOST_LANES};
    hg_config config = hg_config_default();
    hg_backend *backend = NULL;
    snprintf(config.backend, sizeof config.backend, "cpu");
    snprintf(config.cpu_level, sizeof config.cpu_level, "%s", level);
    snprintf(config.jit, sizeof config.jit, "on");
    if (hg_backend_create_with_config(&config, &backend) != HG_OK) {
        SKIP(hg_last_error_text());
        return;
    }
    for (size_t i = 0; i < HG_COUNT_OF(LANES); i++)
        for (int way = 0; way < WAYS; way++) launch(backend, level, LANES[i], way, end);
    hg_backend_destroy(backend);
}

int main(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                           0);
    CHECK(memory != MAP_FAILED);
    if (memory == MAP_FAILED) return test_done();
    CHECK(mprotect(memory + page, page, PROT_NONE) == 0);
    test_level("baseline", memory + page);
    test_level("v3", memory + page);
    test_level("", memory + page); /* what this CPU has */
    CHECK(munmap(memory, 2 * page) == 0);
    return test_done();
}
