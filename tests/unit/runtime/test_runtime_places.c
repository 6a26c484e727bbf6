/* Kernels that ask where a lane is in its block and which block it is, without barriers: by a C
 * compiler's code, which runs a block at a time, and by the interpreter. Blocks of many shapes, and
 * launches that end within one. */
#include "support/c_vectors.h"
#include "support/runtime_support.h"
#include <stdio.h>
#include <string.h>

enum { LANES = 6000, IDS = 6 };

/* out[global] = its six coordinates; far[global] = what a row of x has there; lanes of odd rows
 * leave early. */
static const char PLACES[] = PROGRAM(
    ".param x buffer u32 in [n]\n.param out buffer u32 out [n, 6]\n.param far buffer u32 out "
    "[n]\n.param n u64\n.lanes n\n.reg at, row "
    "u64\n.reg v u32\n"
    " mul at, global, 6\n stg [out[at]], lane_idx_x\n stg [out[at + 1]], lane_idx_y\n stg [out[at "
    "+ 2]], lane_idx_z\n"
    " stg [out[at + 3]], block_idx_x\n stg [out[at + 4]], block_idx_y\n stg [out[at + 5]], "
    "block_idx_z\n"
    " mad row, block_idx_x, block_dim_x, lane_idx_x\n and v, lane_idx_y, 1\n bra.ne v, 0, @end\n "
    "ldg v, [x[row]]\n stg [far[global]], "
    "v\nend:\n");

typedef struct shape {
    uint32_t block[3], grid[3];
    uint64_t lanes; /* 0: all */
} shape;
static const shape SHAPES[] = {{{256, 1, 1}, {20, 1, 1}, 0},    {{16, 16, 1}, {3, 4, 1}, 0},
                               {{8, 4, 2}, {5, 3, 2}, 0},       {{24, 3, 1}, {4, 4, 1}, 1000},
                               {{5, 3, 2}, {7, 2, 3}, 0},       {{100, 2, 1}, {9, 2, 1}, 3333},
                               {{1, 1, 1}, {70, 2, 1}, 0},      {{1, 64, 1}, {3, 2, 1}, 0},
                               {{1000, 1, 1}, {5, 1, 1}, 4999}, {{33, 1, 1}, {40, 2, 1}, 0}};

static uint64_t lanes_of(const shape *s) {
    uint64_t all = 1;
    for (int i = 0; i < 3; i++) all *= (uint64_t)s->block[i] * s->grid[i];
    return s->lanes ? s->lanes : all;
}

static void expect(const shape *s, uint64_t lane, uint32_t ids[IDS]) {
    uint64_t in = lane % ((uint64_t)s->block[0] * s->block[1] * s->block[2]),
             block = lane / ((uint64_t)s->block[0] * s->block[1] * s->block[2]);
    for (int i = 0; i < 3; i++) {
        ids[i] = (uint32_t)(in % s->block[i]);
        ids[i + 3] = (uint32_t)(block % s->grid[i]);
        in /= s->block[i];
        block /= s->grid[i];
    }
}

static void check(hg_backend *b, hg_program *p, const shape *s) {
    static uint32_t x[LANES], out[LANES * IDS], far[LANES];
    uint64_t n = lanes_of(s);
    uint32_t wrong = 0;
    hg_launch launch = HG_LAUNCH_INIT;
    hg_params *params = hg_params_create();
    CHECK(n <= LANES);
    for (uint32_t i = 0; i < LANES; i++) x[i] = i * 2654435761u;
    hg_buffer buffers[] = {make_buffer(b, x, sizeof x), make_buffer(b, NULL, n * 4 * IDS),
                           make_buffer(b, NULL, n * 4)};
    memcpy(launch.block, s->block, sizeof launch.block);
    memcpy(launch.grid, s->grid, sizeof launch.grid);
    launch.lanes = s->lanes;
    CHECK_OK(hg_params_set_buffer(params, "x", buffers[0]));
    CHECK_OK(hg_params_set_buffer(params, "out", buffers[1]));
    CHECK_OK(hg_params_set_buffer(params, "far", buffers[2]));
    CHECK_OK(hg_params_set_scalar(params, "n", HG_TYPE_U64, &n));
    CHECK_OK(hg_backend_execute_program_with_params(b, p, &launch, params));
    CHECK_OK(hg_backend_copy_from_buffer(b, buffers[1], out, n * 4 * IDS));
    CHECK_OK(hg_backend_copy_from_buffer(b, buffers[2], far, n * 4));
    for (uint64_t i = 0; i < n; i++) {
        uint32_t ids[IDS];
        expect(s, i, ids);
        wrong += memcmp(ids, out + i * IDS, sizeof ids) != 0;
        wrong += far[i] != (ids[1] & 1 ? 0 : x[ids[3] * s->block[0] + ids[0]]);
    }
    CHECK_MESSAGE(wrong == 0, "%u wrong in blocks of %u x %u x %u", (unsigned)wrong,
                  (unsigned)s->block[0], (unsigned)s->block[1], (unsigned)s->block[2]);
    hg_params_destroy(params);
    for (int i = 0; i < 3; i++) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
}

static void check_all(void) {
    hg_backend *b = open_backend("cpu");
    hg_program *p = assemble(PLACES);
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) check(b, p, &SHAPES[i]);
    hg_program_release(p);
    hg_backend_destroy(b);
}

static const char *const COMPILERS[] = {"16:8:gcc -O1", "32:16:llvm"};

int main(void) {
    char reason[256];
    check_all();
    for (size_t i = 0; i < sizeof COMPILERS / sizeof *COMPILERS; i++) {
        if (!c_vectors_use(COMPILERS[i], reason)) {
            SKIP(reason);
            continue;
        }
        check_all();
        CHECK_U64(c_vectors_end(), 0);
    }
    return test_done();
}
