/* The reference interpreter itself: the programs of examples/programs with the outputs printed
 * there, the vectors of semantics that need a program, and the rules of 0.3 about barriers,
 * whole-array instructions and faults. */
#include "oracle/oracle.h"
#include "reference/case.h"
#include "test.h"
#include <math.h>
#include <stdlib.h>

static hg_program *assemble(const char *text) {
    hg_program *program = NULL;
    hg_status status = hg_program_assemble(text, strlen(text), NULL, &program);
    if (status == HG_OK) status = hg_program_verify(program, NULL);
    CHECK_MESSAGE(status == HG_OK, "%s in: %.60s", hg_last_error_text(), text);
    return program;
}

static run_result run(const char *text, run_case *c) {
    run_result result = {.outcome = RUN_ERROR};
    hg_program *program = assemble(text);
    if (program) case_run_reference(program, c, &result);
    hg_program_release(program);
    return result;
}

static void run_ok(const char *text, run_case *c) {
    run_result r = run(text, c);
    CHECK_MESSAGE(r.outcome == RUN_OK, "%s (instruction %" PRIu64 ") in: %.60s", r.message,
                  r.instruction, text);
}

#define HEADER(name) ".atlas 1\n.program " name "\n"

static const char AXPY[] = HEADER(
    "axpy") ".param r1 x buffer f32 in [n]\n.param r2 y buffer f32 inout [n]\n.param r5 alpha "
            "f32\n.param r4 n u64\n.lanes n\n"
            " setgeu.u64 p0, r255, r4\n bra.p0 @done\n mov_imm.u32 r250, 2\n shl.u64 r0, r255, "
            "r250\n ldg.f32 r10, [r1 + r0]\n"
            " ldg.f32 r11, [r2 + r0]\n fma.f32 r12, r5, r10, r11\n stg.f32 [r2 + r0], r12\ndone:\n "
            "exit\n";

static void test_axpy(void) {
    run_case c = {0};
    const float x[] = {1, 2, 3}, y[] = {10, 20, 30}, expected[] = {12, 24, 36};
    case_add_array(&c, "x", HG_TYPE_F32, x, sizeof x);
    case_add_array(&c, "y", HG_TYPE_F32, y, sizeof y);
    case_add_scalar(&c, "alpha", HG_TYPE_F32, 0x40000000);
    case_add_scalar(&c, "n", HG_TYPE_U64, 3);
    case_set_lanes(&c, 3);
    run_ok(AXPY, &c);
    CHECK(memcmp(c.arrays[1].bytes, expected, sizeof expected) == 0);
    case_free(&c);
}

static const char COLLATZ[] = HEADER(
    "collatz") ".param r1 start buffer u64 in [n]\n.param r2 steps buffer u32 out [n]\n.param r4 n "
               "u64\n.lanes n\n"
               " setgeu.u64 p0, r255, r4\n bra.p0 @done\n mov_imm.u32 r250, 3\n shl.u64 r0, r255, "
               "r250\n ldg.u64 r10, [r1 + r0]\n"
               " mov_imm.u64 r11, 1\n mov_imm.u64 r12, 3\n mov_imm.u64 r13, 0\n mov_imm.u32 r14, "
               "1\n mov_imm.u32 r20, 0\n"
               "next:\n setleu.u64 p1, r10, r11\n bra.p1 @store\n add.u32 r20, r20, r14\n and.u64 "
               "r15, r10, r11\n seteq.u64 p2, r15, r13\n"
               " bra.p2 @even\n mad.u64 r10, r10, r12, r11\n bra @next\neven:\n shr.u64 r10, r10, "
               "r14\n bra @next\n"
               "store:\n mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n stg.u32 [r2 + r0], "
               "r20\ndone:\n exit\n";

static void test_collatz(void) {
    run_case c = {0};
    const uint64_t start[] = {1, 2, 3, 6, 7, 9, 27, 97, 871};
    const uint32_t expected[] = {0, 1, 7, 8, 16, 19, 111, 118, 178};
    case_add_array(&c, "start", HG_TYPE_U64, start, sizeof start);
    case_add_array(&c, "steps", HG_TYPE_U32, NULL, sizeof expected);
    case_add_scalar(&c, "n", HG_TYPE_U64, 9);
    case_set_lanes(&c, 9);
    run_ok(COLLATZ, &c);
    CHECK(memcmp(c.arrays[1].bytes, expected, sizeof expected) == 0);
    case_free(&c);
    /* the same with a limit on steps: the first lane that needs more than 20 backward branches is
     * lane 6 (27) */
    memset(&c, 0, sizeof c);
    case_add_array(&c, "start", HG_TYPE_U64, start, sizeof start);
    case_add_array(&c, "steps", HG_TYPE_U32, NULL, sizeof expected);
    case_add_scalar(&c, "n", HG_TYPE_U64, 9);
    case_set_lanes(&c, 9);
    c.launch.max_steps = 20;
    run_result r = run(COLLATZ, &c);
    CHECK(r.outcome == RUN_FAULT);
    CHECK_TEXT(r.code, "F07");
    CHECK_TEXT(r.message, "step limit exceeded");
    CHECK_U64(r.lane, 6);
    case_free(&c);
}

static const char REVERSE[] = HEADER(
    "block_reverse") ".param r1 x buffer i32 inout [n]\n.param r4 n u64\n.shared 32\n.block "
                     "8\n.lanes n\n"
                     " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n ldg.i32 r10, [r1 + r0]\n "
                     "shl.u32 r5, r252, r250\n sts.i32 [shared + "
                     "r5], r10\n"
                     " bar.sync 0\n mov_imm.u32 r6, 1\n sub.u32 r7, r254, r6\n sub.u32 r7, r7, "
                     "r252\n shl.u32 r7, r7, r250\n"
                     " lds.i32 r11, [shared + r7]\n stg.i32 [r1 + r0], r11\n exit\n";

static void test_reverse(void) {
    run_case c = {0};
    int32_t x[16], expected[16];
    for (int i = 0; i < 16; i++) x[i] = i, expected[i] = i / 8 * 8 + 7 - i % 8;
    case_add_array(&c, "x", HG_TYPE_I32, x, sizeof x);
    case_add_scalar(&c, "n", HG_TYPE_U64, 16);
    c.launch = (ref_launch){.grid = {2, 1, 1}, .block = {8, 1, 1}, .lanes = 16};
    run_ok(REVERSE, &c);
    CHECK(memcmp(c.arrays[0].bytes, expected, sizeof expected) == 0);
    case_free(&c);
}

static const char GCD3[] = HEADER(
    "gcd3") ".param r1 a buffer u32 in [n]\n.param r2 b buffer u32 in [n]\n.param r3 c buffer u32 "
            "in [n]\n.param r6 out buffer u32 out "
            "[n]\n"
            ".param r4 n u64\n.lanes n\n setgeu.u64 p0, r255, r4\n bra.p0 @done\n mov_imm.u32 "
            "r250, 2\n shl.u64 r0, r255, r250\n"
            " ldg.u32 r20, [r1 + r0]\n ldg.u32 r21, [r2 + r0]\n call @gcd\n ldg.u32 r21, [r3 + "
            "r0]\n call @gcd\n stg.u32 [r6 + r0], r20\n"
            "done:\n exit\ngcd:\n mov_imm.u32 r22, 0\ngcd_next:\n seteq.u32 p1, r21, r22\n bra.p1 "
            "@gcd_end\n rem.u32 r23, r20, r21\n"
            " mov.u32 r20, r21\n mov.u32 r21, r23\n bra @gcd_next\ngcd_end:\n ret\n";

static void test_gcd(void) {
    run_case k = {0};
    const uint32_t a[] = {12, 17, 100, 0}, b[] = {18, 5, 75, 0}, c[] = {27, 34, 10, 9},
                   expected[] = {3, 1, 5, 9};
    case_add_array(&k, "a", HG_TYPE_U32, a, sizeof a);
    case_add_array(&k, "b", HG_TYPE_U32, b, sizeof b);
    case_add_array(&k, "c", HG_TYPE_U32, c, sizeof c);
    case_add_array(&k, "out", HG_TYPE_U32, NULL, sizeof expected);
    case_add_scalar(&k, "n", HG_TYPE_U64, 4);
    case_set_lanes(&k, 4);
    run_ok(GCD3, &k);
    CHECK(memcmp(k.arrays[3].bytes, expected, sizeof expected) == 0);
    case_free(&k);
}

static const char CENTER[] = HEADER(
    "center") ".param r1 x buffer f32 in [n]\n.param r2 y buffer f32 out [n]\n.param r4 n "
              "u64\n.lanes n\n"
              " parallel_reduce.f32 r10, r1, sum, r4\n cvt.f32.u64 r11, r4\n div.f32 r12, r10, "
              "r11\n setgeu.u64 p0, r255, r4\n bra.p0 "
              "@done\n"
              " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n ldg.f32 r13, [r1 + r0]\n sub.f32 "
              "r14, r13, r12\n stg.f32 [r2 + r0], r14\n"
              "done:\n exit\n";

static void test_center(void) {
    run_case c = {0};
    const float x[] = {1, 2, 3, 4, 10}, expected[] = {-3, -2, -1, 0, 6};
    case_add_array(&c, "x", HG_TYPE_F32, x, sizeof x);
    case_add_array(&c, "y", HG_TYPE_F32, NULL, sizeof x);
    case_add_scalar(&c, "n", HG_TYPE_U64, 5);
    case_set_lanes(&c, 5);
    run_ok(CENTER, &c);
    CHECK(memcmp(c.arrays[1].bytes, expected, sizeof expected) == 0);
    case_free(&c);
}

static const char WIDE[] = HEADER(
    "wide") ".param r1 a buffer i256 in [n]\n.param r2 b buffer i256 in [n]\n.param r3 q buffer "
            "i256 out [n]\n.param r5 m buffer i256 out "
            "[n]\n"
            ".param r4 n u64\n.lanes n\n setgeu.u64 p0, r255, r4\n bra.p0 @done\n mov_imm.u32 "
            "r250, 5\n shl.u64 r0, r255, r250\n"
            " ldg.i256 r10, [r1 + r0]\n ldg.i256 r11, [r2 + r0]\n mul.i256 r12, r10, r11\n"
            " mov_imm.i256 r13, -170141183460469231731687303715884105727\n div.i256 r14, r12, "
            "r13\n rem.i256 r15, r12, r13\n"
            " stg.i256 [r3 + r0], r14\n stg.i256 [r5 + r0], r15\ndone:\n exit\n";

/* Decimal to 32 little-endian bytes, two's complement. */
static void from_decimal(const char *text, uint8_t bytes[32]) {
    bool negative = text[0] == '-';
    memset(bytes, 0, 32);
    for (text += negative; *text; text++) {
        uint32_t carry = (uint32_t)(*text - '0');
        for (int i = 0; i < 32; i++)
            carry += bytes[i] * 10u, bytes[i] = (uint8_t)carry, carry >>= 8;
    }
    uint32_t carry = negative;
    for (int i = 0; negative && i < 32; i++)
        carry += (uint8_t)~bytes[i], bytes[i] = (uint8_t)carry, carry >>= 8;
}

static void test_wide(void) {
    static const char *const A[] = {"3", "-5", "340282366920938463463374607431768211456"};
    static const char *const B[] = {"7",
                                    "1606938044258990275541962092341162602522202993782792835301376",
                                    "170141183460469231731687303715884105728"};
    static const char *const Q[] = {"0", "47223664828696452136960",
                                    "340282366920938463463374607431768211458"};
    static const char *const M[] = {"21", "-47223664828696452136960", "-2"};
    uint8_t a[96], b[96], q[96], m[96];
    for (int i = 0; i < 3; i++) {
        from_decimal(A[i], a + 32 * i);
        from_decimal(B[i], b + 32 * i);
        from_decimal(Q[i], q + 32 * i);
        from_decimal(M[i], m + 32 * i);
    }
    run_case c = {0};
    case_add_array(&c, "a", HG_TYPE_I256, a, sizeof a);
    case_add_array(&c, "b", HG_TYPE_I256, b, sizeof b);
    case_add_array(&c, "q", HG_TYPE_I256, NULL, sizeof q);
    case_add_array(&c, "m", HG_TYPE_I256, NULL, sizeof m);
    case_add_scalar(&c, "n", HG_TYPE_U64, 3);
    case_set_lanes(&c, 3);
    run_ok(WIDE, &c);
    CHECK(memcmp(c.arrays[2].bytes, q, sizeof q) == 0);
    CHECK(memcmp(c.arrays[3].bytes, m, sizeof m) == 0);
    case_free(&c);
}

/* Runs a program with one lane and one u32 output array of eight elements. */
static run_result run_out(const char *body, uint32_t out[8], uint64_t lanes) {
    char text[4096];
    snprintf(text, sizeof text,
             HEADER("t") ".param r1 out buffer u32 inout\n.param r2 x buffer u32 inout\n.param r3 "
                         "p pool 64\n.shared 64\n%s",
             body);
    run_case c = {0};
    const uint32_t x[8] = {5, 1, 7, 3, 2, 8, 6, 4};
    case_add_array(&c, "out", HG_TYPE_U32, NULL, 32);
    case_add_array(&c, "x", HG_TYPE_U32, x, sizeof x);
    case_array *pool = case_add_array(&c, "p", HG_TYPE_U8, NULL, 64);
    pool->pool = true;
    case_set_lanes(&c, lanes);
    run_result r = run(text, &c);
    memcpy(out, c.arrays[0].bytes, 32);
    case_free(&c);
    return r;
}

/* semantics 1.6 */
static void test_loops(void) {
    uint32_t out[8];
    run_result r = run_out(" mov_imm.u32 r4, 0\n mov_imm.u32 r5, 2\n loop r6, 5\n add.u32 r4, r4, "
                           "r5\n endloop\n stg.u32 [buf(r1) + 0], r4\n"
                           " mov_imm.u32 r4, 0\n loop r6, 0\n add.u32 r4, r4, r5\n endloop\n "
                           "stg.u32 [buf(r1) + 4], r4\n"
                           " mov_imm.u32 r4, 0\n mov_imm.u32 r6, 4\nbody:\n add.u32 r4, r4, r5\n "
                           "loop r6, @body\n stg.u32 [buf(r1) + 8], r4\n"
                           " stg.u32 [buf(r1) + 12], r6\n",
                           out, 1);
    CHECK_TEXT(r.message, "");
    CHECK_U64(out[0], 10);
    CHECK_U64(out[1], 0);
    CHECK_U64(out[2], 10);
    CHECK_U64(out[3], 0);
}

/* Addresses: flat, class, phi, pool by handle, shared. */
static void test_addresses(void) {
    uint32_t out[8];
    run_result r = run_out(
        " mov_imm.u32 r20, 40\n shl.u64 r21, r1, r20\n mov_imm.u32 r22, 11\n stg.u32 [r21 + 4], "
        "r22\n"
        " mov_imm.u64 r23, 512\n stg.u32 [class2 + r23], r22\n ldg.u32 r24, [phi(2, 2, 0)]\n "
        "stg.u32 [buf(r1) + 8], r24\n"
        " mov_imm.u64 r25, 25088\n ldg.u32 r26, [r25]\n stg.u32 [buf(r1) + 12], r26\n" /* 2 * 12288
                                                                                          + 512 */
        " pool.store.u32 r3, 60, r22\n ldg.u32 r27, [pool(r3) + 60]\n stg.u32 [buf(r1) + 16], r27\n"
        " sts.u32 [shared + 60], r22\n lds.u32 r28, [shared + 60]\n stg.u32 [buf(r1) + 20], r28\n"
        " ldg.u32 r29, [buf0xffffffffffffffa2 + 512]\n stg.u32 [buf(r1) + 24], r29\n",
        out, 1);
    CHECK_TEXT(r.message, "");
    for (int i = 1; i <= 6; i++) CHECK_U64(out[i], 11);
}

static void test_collectives(void) {
    uint32_t out[8];
    /* in place; and overlapping: every element becomes its left neighbour plus nothing, as if read
     * first */
    run_result r = run_out(
        " parallel_map.u32 r2, r2, neg, 8\n parallel_map.u32 r2, r2, neg, 8\n"
        " parallel_map.u32 [buf(r2) + 4], [buf(r2) + 0], abs, 7\n parallel_reduce.u32 r10, r2, "
        "sum, 8\n"
        " reduce.max.u32 r11, [buf(r2) + 0], 8\n parallel_map_binary.u32 r2, r2, r2, add, 8\n "
        "ldg.u32 r12, [buf(r2) + 4]\n"
        " stg.u32 [buf(r1) + 0], r10\n stg.u32 [buf(r1) + 4], r11\n stg.u32 [buf(r1) + 8], r12\n"
        " pool.alloc r13, 16\n mov_imm.u32 r14, 9\n pool.store.u32 r13, 12, r14\n pool.load.u32 "
        "r15, r13, 12\n"
        " stg.u32 [buf(r1) + 12], r15\n pool.free r13\n",
        out, 1);
    CHECK_TEXT(r.message, "");
    CHECK_U64(out[0], 5 + 5 + 1 + 7 + 3 + 2 + 8 + 6);
    CHECK_U64(out[1], 8);
    CHECK_U64(out[2], 10);
    CHECK_U64(out[3], 9);
    /* once a launch, not once a lane: eight lanes double eight elements once */
    r = run_out(" parallel_map_binary.u32 r2, r2, r2, add, 8\n mov_imm.u32 r4, 2\n shl.u64 r5, "
                "r255, r4\n ldg.u32 r6, [r2 + r5]\n"
                " stg.u32 [r1 + r5], r6\n",
                out, 8);
    CHECK_TEXT(r.message, "");
    CHECK_U64(out[0], 10);
    CHECK_U64(out[7], 8);
}

static void expect_fault(const char *body, uint64_t lanes, const char *code, const char *message,
                         uint64_t lane, uint64_t instruction) {
    uint32_t out[8];
    run_result r = run_out(body, out, lanes);
    CHECK_MESSAGE(r.outcome == RUN_FAULT && strcmp(r.code, code) == 0 &&
                      strcmp(r.message, message) == 0,
                  "expected %s %s, got %s %s", code, message, r.code, r.message);
    CHECK_U64(r.lane, lane);
    CHECK_U64(r.instruction, instruction);
}

static void test_faults(void) {
    expect_fault(" mov_imm.u32 r4, 0\n div.u32 r4, r4, r4\n", 3, "F02", "division by zero", 0, 1);
    expect_fault(" ldg.u32 r4, [buf(r1) + 29]\n", 1, "F01",
                 "buffer access out of bounds: offset 29 + size 4 > buffer size 32", 0, 0);
    expect_fault(" ldg.u32 r4, [buf(r1) - 2]\n", 1, "F01",
                 "buffer access out of bounds: offset -2 + size 4 > buffer size 32", 0, 0);
    expect_fault(" pool.load.u64 r4, r3, 60\n", 1, "F01",
                 "pool access out of bounds: offset 60 + size 8 > pool size 64", 0, 0);
    expect_fault(" mov_imm.u64 r4, 99\n ldg.u8 r5, [buf(r4) + 0]\n", 1, "F03",
                 "invalid buffer handle: 99", 0, 1);
    expect_fault(" pool.free pool9\n", 1, "F03", "invalid pool handle: 9", HG_NONE, 0);
    expect_fault(" pool.alloc pool1, 8\n pool.alloc pool1, 8\n", 1, "F05",
                 "execution error: pool handle already in use", HG_NONE, 1);
    expect_fault(" mov_imm.u32 r4, 1\n atom.add.u32 r5, [buf(r1) + 2], r4\n", 1, "F04",
                 "misaligned atomic: offset 2", 0, 1);
    /* lane 5 faults in an earlier instruction, lane 2 in a later one: the lane comes first */
    expect_fault(" mov_imm.u64 r4, 5\n mov_imm.u64 r5, 2\n mov_imm.u64 r6, 0\n setne.u64 p0, r255, "
                 "r4\n bra.p0 @a\n div.u64 r7, r6, r6\n"
                 "a:\n setne.u64 p0, r255, r5\n bra.p0 @b\n rem.u64 r7, r6, r6\nb:\n exit\n",
                 8, "F02", "division by zero", 2, 8);
    /* lane 5 faults before the barrier, lane 2 would after it: the phase comes first */
    expect_fault(
        " mov_imm.u64 r4, 5\n mov_imm.u64 r5, 2\n mov_imm.u64 r6, 0\n setne.u64 p0, r255, r4\n "
        "bra.p0 @a\n div.u64 r7, r6, r6\n"
        "a:\n bar.sync 0\n setne.u64 p0, r255, r5\n bra.p0 @b\n rem.u64 r7, r6, r6\nb:\n exit\n",
        8, "F02", "division by zero", 5, 5);
}

/* Lanes that have exited count as arrived: lane 0 leaves, the others meet and read what lane 1
 * wrote. */
static void test_barrier_with_exits(void) {
    uint32_t out[8];
    run_result r = run_out(" mov_imm.u64 r4, 0\n mov_imm.u64 r5, 1\n seteq.u64 p0, r255, r4\n "
                           "bra.p0 @done\n setne.u64 p1, r255, r5\n bra.p1 @wait\n"
                           " mov_imm.u32 r6, 42\n sts.u32 [shared + 0], r6\nwait:\n bar.sync 3\n "
                           "lds.u32 r7, [shared + 0]\n mov_imm.u32 r8, 2\n"
                           " shl.u64 r9, r255, r8\n stg.u32 [r1 + r9], r7\ndone:\n exit\n",
                           out, 8);
    CHECK_TEXT(r.message, "");
    CHECK_U64(out[0], 0);
    for (int i = 1; i < 8; i++) CHECK_U64(out[i], 42);
}

static void test_ids(void) {
    run_case c = {0};
    case_add_array(&c, "out", HG_TYPE_U32, NULL, 4 * 24 * 4);
    c.launch = (ref_launch){.grid = {2, 2, 1}, .block = {3, 2, 1}, .lanes = 23};
    run_ok(HEADER("ids") ".param r1 out buffer u32 out\n mov_imm.u32 r4, 4\n shl.u64 r5, r255, "
                         "r4\n rdid r6, lane_idx_x\n"
                         " stg.u32 [r1 + r5], r6\n rdid r6, lane_idx_y\n stg.u32 [r1 + r5 + 4], "
                         "r6\n rdid r6, block_idx_y\n stg.u32 [r1 + "
                         "r5 + 8], r6\n"
                         " rdid r7, lane_count\n cvt.u32.u64 r6, r7\n stg.u32 [r1 + r5 + 12], r6\n",
           &c);
    uint32_t out[96];
    memcpy(out, c.arrays[0].bytes, sizeof out);
    CHECK_U64(out[4 * 4 + 0], 1); /* lane 4 of block 0: x 1, y 1 */
    CHECK_U64(out[4 * 4 + 1], 1);
    CHECK_U64(out[4 * 22 + 2], 1); /* block 3: y 1 */
    CHECK_U64(out[4 * 22 + 3], 23);
    CHECK_U64(out[4 * 23 + 3], 0); /* lane 23 never started */
    case_free(&c);
}

int main(void) {
    test_axpy();
    test_collatz();
    test_reverse();
    test_gcd();
    test_center();
    test_wide();
    test_loops();
    test_addresses();
    test_collectives();
    test_faults();
    test_barrier_with_exits();
    test_ids();
    return test_done();
}
