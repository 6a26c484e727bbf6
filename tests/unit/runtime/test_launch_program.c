/* HG_LAUNCH_PROGRAM: lanes and blocks as the program has them, with whatever else a launch says;
 * and what is refused. test_launch_program [BACKEND] */
#include "support/runtime_support.h"
#include <string.h>

enum { MOST = 1024 };

/* Each lane leaves 1 + the lanes of its block, in the first dimension, in its element. */
#define MARK                                                                                    \
    " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n rdid r12, block_dim_x\n mov_imm.u32 r13, " \
    "1\n add.u32 r12, r12, r13\n"                                                               \
    " stg.u32 [r1 + r0], r12\n"
#define ARRAY ".param r1 x buffer u32 inout [n]\n.param r4 n u64\n"
#define ENDLESS " mov_imm.u32 r20, 0\nagain:\n bra @again\n"
/* 10 rounds of a loop. */
#define ROUNDS " mov_imm.u32 r20, 10\nagain:\n loop r20, @again\n"

/* What a launch of the program leaves in n elements. */
static hg_status run(hg_backend *b, const hg_program *p, const hg_launch *launch, uint32_t *x,
                     uint64_t n) {
    hg_params *params = hg_params_create();
    memset(x, 0, n * sizeof *x);
    hg_buffer buffer = make_buffer(b, x, n * sizeof *x);
    CHECK_OK(hg_params_set_buffer(params, "x", buffer));
    hg_status status = hg_backend_execute_program_with_params(b, p, launch, params);
    CHECK_OK(hg_backend_copy_from_buffer(b, buffer, x, n * sizeof *x));
    CHECK_OK(hg_backend_free_buffer(b, buffer));
    hg_params_destroy(params);
    return status;
}

/* The same through a binding, which is launched until it has found its fast way. */
static hg_status run_bound(hg_backend *b, const hg_program *p, const hg_launch *launch, uint32_t *x,
                           uint64_t n) {
    hg_params *params = hg_params_create();
    hg_executable *executable;
    hg_binding *binding;
    memset(x, 0, n * sizeof *x);
    hg_buffer buffer = make_buffer(b, x, n * sizeof *x);
    CHECK_OK(hg_params_set_buffer(params, "x", buffer));
    CHECK_OK(hg_executable_create_for(b, p, launch, params, &executable));
    CHECK_OK(hg_binding_create(executable, launch, params, &binding));
    hg_status status = HG_OK;
    for (int i = 0; i < 6 && status == HG_OK; i++) status = hg_binding_launch(binding);
    CHECK_OK(hg_backend_copy_from_buffer(b, buffer, x, n * sizeof *x));
    hg_binding_destroy(binding);
    hg_executable_destroy(executable);
    CHECK_OK(hg_backend_free_buffer(b, buffer));
    hg_params_destroy(params);
    return status;
}

static const char *const SHAPES[] = {PROGRAM(ARRAY ".lanes n\n" MARK),
                                     PROGRAM(ARRAY ".lanes n\n.block 16\n" MARK),
                                     PROGRAM(ARRAY ".lanes 5\n" MARK),
                                     PROGRAM(ARRAY ".block 8\n.grid ceil(n / 8)\n" MARK),
                                     PROGRAM(ARRAY ".block 4\n.grid 3\n" MARK),
                                     PROGRAM(ARRAY MARK),
                                     PROGRAM(ARRAY ".lanes n\n.shared 64\n" MARK)};

/* Whatever else is set, it is what a launch of NULL leaves. */
static void test_shapes(hg_backend *b) {
    static const uint64_t sizes[] = {1, 8, 40, 1000};
    uint32_t expected[MOST], got[MOST];
    hg_launch launches[5] = {HG_LAUNCH_PROGRAM, HG_LAUNCH_PROGRAM, HG_LAUNCH_PROGRAM,
                             HG_LAUNCH_PROGRAM, HG_LAUNCH_PROGRAM};
    launches[1].timeout_ms = 60000;
    launches[2].max_steps = 1000;
    launches[3].shared_memory = 128;
    launches[4].timeout_ms = UINT64_MAX;
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        hg_program *p = assemble(SHAPES[i]);
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            hg_status status = run(b, p, NULL, expected, sizes[k]);
            for (size_t l = 0; l < 5; l++) {
                CHECK_STATUS(run(b, p, &launches[l], got, sizes[k]), status);
                CHECK(status != HG_OK || memcmp(expected, got, sizes[k] * sizeof *got) == 0);
                CHECK_STATUS(run_bound(b, p, &launches[l], got, sizes[k]), status);
                CHECK(status != HG_OK || memcmp(expected, got, sizes[k] * sizeof *got) == 0);
            }
        }
        hg_program_release(p);
    }
}

/* A deadline and a limit of steps hold for all lanes, and HG_LAUNCH_INIT is one lane. */
static void test_limits(hg_backend *b) {
    uint32_t x[MOST];
    hg_program *endless = assemble(PROGRAM(ARRAY ".lanes n\n" ENDLESS)),
               *rounds = assemble(PROGRAM(ARRAY ".lanes n\n" ROUNDS MARK));
    hg_launch launch = HG_LAUNCH_PROGRAM, one = HG_LAUNCH_INIT;
    launch.timeout_ms = 50;
    CHECK_STATUS(run(b, endless, &launch, x, 100), HG_ERROR_EXECUTION_FAILED);
    CHECK_TEXT(hg_last_error()->code, "F08");
    launch = (hg_launch)HG_LAUNCH_PROGRAM;
    launch.max_steps = 5;
    CHECK_STATUS(run(b, rounds, &launch, x, 100), HG_ERROR_EXECUTION_FAILED);
    launch.max_steps = 20;
    CHECK_OK(run(b, rounds, &launch, x, 100));
    CHECK(x[0] == 101 && x[99] == 101);
    one.max_steps = 20;
    CHECK_OK(run(b, rounds, &one, x, 100));
    CHECK(x[0] == 2 && x[1] == 0 && x[99] == 0);
    hg_program_release(endless);
    hg_program_release(rounds);
}

/* A number of lanes beside "as the program has them", and a word that there is not. */
static void test_refused(hg_backend *b) {
    hg_program *p = assemble(PROGRAM(".lanes 3\n exit\n"));
    hg_launch wrong[8] = {HG_LAUNCH_PROGRAM, HG_LAUNCH_PROGRAM, HG_LAUNCH_PROGRAM,
                          HG_LAUNCH_PROGRAM, HG_LAUNCH_PROGRAM, HG_LAUNCH_PROGRAM,
                          HG_LAUNCH_PROGRAM, HG_LAUNCH_INIT};
    for (int i = 0; i < 3; i++) wrong[i].grid[i] = wrong[3 + i].block[i] = 1;
    wrong[6].lanes = 100;
    wrong[7].extents = 2;
    for (size_t i = 0; i < 8; i++)
        CHECK_STATUS(hg_backend_execute_program(b, p, &wrong[i]), HG_ERROR_INVALID_ARGUMENT);
    CHECK_TEXT(hg_last_error()->message,
               "hg_launch.extents is 2, expected HG_EXTENTS_GIVEN (0) or HG_EXTENTS_PROGRAM (1)");
    CHECK_STATUS(hg_backend_execute_program(b, p, &wrong[6]), HG_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(
        hg_last_error()->message,
        "hg_launch.lanes is 100, expected 0, because the program says how many lanes there are"));
    hg_program_release(p);
}

/* Helpers that say how many lanes there are take the word back; one of an older header, which has
 * no such field, is not written behind its end. */
static void test_helpers(hg_backend *b) {
    uint32_t x[MOST];
    hg_program *p = assemble(PROGRAM(ARRAY ".lanes n\n" MARK));
    hg_launch launch = HG_LAUNCH_PROGRAM;
    CHECK_U64(hg_launch_total_threads(&launch), 0);
    hg_launch_set_linear(&launch, 2);
    CHECK(launch.extents == HG_EXTENTS_GIVEN && launch.lanes == 2);
    CHECK_OK(run(b, p, &launch, x, 4));
    CHECK(x[1] && !x[2]);
    launch = (hg_launch)HG_LAUNCH_PROGRAM;
    hg_launch_set_grid_2d(&launch, 16, 16);
    CHECK(launch.extents == HG_EXTENTS_GIVEN && hg_launch_total_threads(&launch) == 256);
    launch = (hg_launch)HG_LAUNCH_INIT;
    launch.size = offsetof(hg_launch, extents);
    launch.extents = UINT64_MAX;
    hg_launch_set_linear(&launch, 3);
    CHECK(launch.extents == UINT64_MAX && launch.lanes == 3);
    CHECK_OK(run(b, p, &launch, x, 4));
    CHECK(x[2] && !x[3]);
    hg_program_release(p);
}

int main(int argc, char **argv) {
    hg_backend *b = open_backend(argc > 1 ? argv[1] : "cpu");
    test_shapes(b);
    test_limits(b);
    test_refused(b);
    test_helpers(b);
    hg_backend_destroy(b);
    return test_done();
}
