/* bar.grid, and instructions on the lanes of a block: where they may stand, what they order, and
 * what they cost in memory. What it computes is the conformance suite's. test_grid [BACKEND] */
#include "support/runtime_support.h"
#include <string.h>

#define HEAD                                                                                       \
    ".param r1 x buffer u32 inout [n]\n.param r4 n u64\n.lanes n\n mov_imm.u32 r250, 2\n shl.u64 " \
    "r0, r255, r250\n ldg.u32 r10, [r1 + "                                                         \
    "r0]\n"
/* The other half's element. */
#define OTHER                                                                                  \
    " mov_imm.u64 r14, 4\n sub.u64 r15, r4, r255\n mul.u64 r15, r15, r14\n sub.u64 r15, r15, " \
    "r14\n ldg.u32 r11, [r1 + r15]\n"

static hg_status verified(const char *text) {
    hg_program *program = assemble(text);
    hg_status status = hg_program_verify(program, NULL);
    hg_program_release(program);
    return status;
}

static void test_places(void) {
    CHECK_OK(verified(PROGRAM(HEAD " bar.grid\n stg.u32 [r1 + r0], r10\n")));
    CHECK_OK(verified(PROGRAM(HEAD " setlt.u32 p0, r10, r250\n bra.p0 @join\n add.u32 r10, r10, "
                                   "r250\njoin:\n bar.grid\n stg.u32 [r1 + r0], r10\n")));
    CHECK_STATUS(verified(PROGRAM(HEAD " setlt.u32 p0, r10, r250\n bra.p0 @join\n "
                                       "bar.grid\njoin:\n stg.u32 [r1 + r0], r10\n")),
                 HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "V08");
    CHECK_STATUS(verified(PROGRAM(HEAD " setlt.u32 p0, r10, r250\n bra.p0 @done\n bar.grid\n "
                                       "stg.u32 [r1 + r0], r10\ndone:\n exit\n")),
                 HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "V08");
    CHECK_STATUS(verified(PROGRAM(HEAD "again:\n bar.grid\n loop r10, @again\n")), HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "V08");
    CHECK_STATUS(
        verified(PROGRAM(HEAD " mov.u32 r20, r253\nagain:\n bar.grid\n loop r20, @again\n")),
        HG_ERROR_ISA); /* the same in a block alone */
    CHECK_TEXT(hg_last_error()->code, "V08");
}

static hg_status run(hg_backend *b, const char *text, uint32_t *x, uint64_t n) {
    hg_program *program = assemble(text);
    hg_params *params = hg_params_create();
    hg_buffer buffer = make_buffer(b, x, n * sizeof *x);
    CHECK_OK(hg_params_set_buffer(params, "x", buffer));
    hg_status status = hg_backend_execute_program_with_params(b, program, NULL, params);
    CHECK_OK(hg_backend_copy_from_buffer(b, buffer, x, n * sizeof *x));
    CHECK_OK(hg_backend_free_buffer(b, buffer));
    hg_params_destroy(params);
    hg_program_release(program);
    return status;
}

enum { N = 3000 };

/* Each lane reads an element that another block wrote, then writes one that another block reads. */
static void test_order(hg_backend *b) {
    static uint32_t x[N];
    for (uint32_t i = 0; i < N; i++) x[i] = i;
    CHECK_OK(run(b,
                 PROGRAM(HEAD " mov_imm.u32 r20, 49\nagain:\n" OTHER
                              " bar.grid\n add.u32 r11, r11, r10\n stg.u32 [r1 + r0], r11\n"
                              " mov.u32 r10, r11\n bar.grid\n loop r20, @again\n"),
                 x, N));
    static uint32_t expected[2][N];
    for (uint32_t i = 0; i < N; i++) expected[0][i] = i;
    for (int round = 0; round < 50; round++)
        for (uint32_t i = 0; i < N; i++)
            expected[(round + 1) % 2][i] = expected[round % 2][i] + expected[round % 2][N - 1 - i];
    CHECK(memcmp(x, expected[0], sizeof x) == 0);
}

static void test_races(void) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    static uint32_t x[N];
    snprintf(config.backend, sizeof config.backend, "cpu");
    config.check_races = true;
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    if (!b) return;
    CHECK_OK(run(b, PROGRAM(HEAD OTHER " bar.grid\n stg.u32 [r1 + r0], r11\n"), x, N));
    CHECK_STATUS(run(b, PROGRAM(HEAD OTHER " bar.sync 0\n stg.u32 [r1 + r0], r11\n"), x, N),
                 HG_ERROR_EXECUTION_FAILED);
    /* shared memory is new: nobody has written what is read */
    CHECK_STATUS(run(b,
                     PROGRAM(".shared 1024\n" HEAD
                             " shl.u32 r12, r252, r250\n sts.u32 [shared + r12], r10\n bar.grid\n"
                             " lds.u32 r10, [shared + r12]\n stg.u32 [r1 + r0], r10\n"),
                     x, N),
                 HG_ERROR_EXECUTION_FAILED);
    hg_backend_destroy(b);
}

/* A register of each lane that lives across it takes memory, which counts. */
static void test_memory(const char *name) {
    enum { LANES = 1 << 18 };
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    snprintf(config.backend, sizeof config.backend, "%s", name);
    config.max_memory = 6 << 20;
    set_pretend(&config, "");
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    uint32_t *x = calloc(LANES, sizeof *x);
    if (!b || !x) return;
    CHECK_OK(run(b, PROGRAM(HEAD " bar.grid\n add.u32 r10, r10, r250\n stg.u32 [r1 + r0], r10\n"),
                 x, LANES));
    CHECK_STATUS(run(b,
                     PROGRAM(HEAD " cvt.u256.u32 r12, r10\n mul.u256 r12, r12, r12\n bar.grid\n "
                                  "cvt.u32.u256 r10, r12\n stg.u32 [r1 + r0], r10\n"),
                     x, LANES),
                 HG_ERROR_ALLOCATION_FAILED);
    CHECK(strstr(hg_last_error()->message, "the limit is 6291456 (max_memory)"));
    CHECK(x[0] == 2 && x[LANES - 1] == 2);
    free(x);
    hg_backend_destroy(b);
}

/* ---- instructions on the lanes of a block ---- */

#define BLOCKS                                                                                     \
    ".param r1 x buffer u32 inout [n]\n.param r4 n u64\n.lanes n\n mov_imm.u32 r250, 2\n shl.u64 " \
    "r0, r255, r250\n ldg.u32 r10, [r1 + "                                                         \
    "r0]\n"

static void test_block_places(void) {
    CHECK_OK(verified(PROGRAM(BLOCKS " setlt.u32 p0, r10, r250\n bra.p0 @done\n breduce.add.u32 "
                                     "r11, r10\n stg.u32 [r1 + r0], r11\ndone:\n exit\n")));
    CHECK_OK(verified(PROGRAM(BLOCKS " setlt.u32 p0, r253, r250\n bra.p0 @join\n breduce.add.u32 "
                                     "r10, r10\njoin:\n stg.u32 [r1 + r0], r10\n")));
    CHECK_STATUS(verified(PROGRAM(BLOCKS " setlt.u32 p0, r10, r250\n bra.p0 @join\n shuffle.u32 "
                                         "r10, r10, 3\njoin:\n stg.u32 [r1 + r0], r10\n")),
                 HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "V09");
    CHECK(strstr(hg_last_error()->message, "'shuffle' at"));
    CHECK_STATUS(verified(PROGRAM(BLOCKS "again:\n bscan.add.u32 r10, r10\n loop r10, @again\n")),
                 HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "V09");
    CHECK_STATUS(verified(PROGRAM(".block 2048\n" BLOCKS
                                  " breduce.add.u32 r10, r10\n stg.u32 [r1 + r0], r10\n")),
                 HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "S05");
}

/* Their memory counts as the block's, and is none of the program's. */
static void test_block_memory(hg_backend *b) {
    static uint32_t x[1024];
    for (uint32_t i = 0; i < 1024; i++) x[i] = i;
    CHECK_OK(
        run(b, PROGRAM(".block 1024\n" BLOCKS " bscan.add.u32 r10, r10\n stg.u32 [r1 + r0], r10\n"),
            x, 1024));
    CHECK_U64(x[1023], 1023 * 512);
    CHECK_OK(run(
        b,
        PROGRAM(".block 63\n" BLOCKS
                " cvt.u4096.u32 r12, r10\n breduce.add.u4096 r12, r12\n cvt.u32.u4096 r10, r12\n"
                " stg.u32 [r1 + r0], r10\n"),
        x, 63));
    CHECK_STATUS(
        run(b,
            PROGRAM(
                ".block 64\n" BLOCKS
                " cvt.u4096.u32 r12, r10\n breduce.add.u4096 r12, r12\n cvt.u32.u4096 r10, r12\n"
                " stg.u32 [r1 + r0], r10\n"),
            x, 128),
        HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "P08");
    CHECK_TEXT(hg_last_error()->message, "launch too large: operations of the block need 65552 "
                                         "bytes of shared memory for its 64 lanes, beside the "
                                         "0 of the program; at most 65536 together");
    CHECK_STATUS(
        run(b,
            PROGRAM(
                ".shared 8\n" BLOCKS
                " breduce.add.u32 r10, r10\n sts.u32 [shared + 8], r10\n stg.u32 [r1 + r0], r10\n"),
            x, 128),
        HG_ERROR_EXECUTION_FAILED);
    CHECK_TEXT(hg_last_error()->code, "F01");
}

static void test_block_races(void) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    static uint32_t x[N];
    snprintf(config.backend, sizeof config.backend, "cpu");
    config.check_races = true;
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    if (!b) return;
    CHECK_OK(run(
        b,
        PROGRAM(".shared 1024\n" BLOCKS
                " shl.u32 r12, r252, r250\n sts.u32 [shared + r12], r10\n bscan.add.u32 r11, r10\n"
                " lds.u32 r10, [shared + 0]\n breduce.max.u32 r10, r10\n sts.u32 [shared + r12], "
                "r11\n shuffle.u32 r10, r10, r252\n"
                " stg.u32 [r1 + r0], r10\n"),
        x, N));
    CHECK_STATUS(run(b,
                     PROGRAM(".shared 1024\n" BLOCKS " shl.u32 r12, r252, r250\n sts.u32 [shared + "
                             "r12], r10\n lds.u32 r10, [shared + 0]\n"
                             " breduce.max.u32 r10, r10\n stg.u32 [r1 + r0], r10\n"),
                     x, N),
                 HG_ERROR_EXECUTION_FAILED);
    CHECK_TEXT(hg_last_error()->code, "F09");
    hg_backend_destroy(b);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "cpu";
    hg_backend *b = open_backend(name);
    test_places();
    test_order(b);
    test_block_places();
    test_block_memory(b);
    hg_backend_destroy(b);
    if (argc < 2) test_races();
    if (argc < 2) test_block_races();
    test_memory(name);
    return test_done();
}
