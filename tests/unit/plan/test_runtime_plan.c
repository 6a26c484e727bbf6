/* Programs of several steps: whole-array instructions, pools, uniform loops around them, values
 * that live across, exits, faults. Every program runs on the independent reference and on the
 * library, at normal and poor capabilities, with whole-array steps done natively and as kernels:
 * same bytes or same fault. */
#include "reference/case.h"
#include "support/library.h"
#include "test.h"
#include <hologram/program.h>
#include <stdlib.h>

enum { N = 700 }; /* more than two blocks, no round number */

typedef struct program_case {
    const char *name, *body;
    const char *fault; /* expected code; NULL: none */
    uint64_t lanes;    /* 0: N */
    int64_t fault_instruction;
} program_case;

/* x, y: N floats in, z: N floats out, u: N u32 in/out, o: 64 bytes out, p: a pool of 256 bytes;
 * eps, count scalars. */
#define HEAD                                                                                  \
    ".atlas 1\n.program p\n.param r1 x buffer f32 inout [n]\n.param r2 y buffer f32 inout "   \
    "[n]\n.param r3 z buffer f32 inout [n]\n"                                                 \
    ".param r5 u buffer u32 inout [n]\n.param r6 o buffer u64 inout [64]\n.param r7 pl pool " \
    "256\n.param r8 eps f32\n.param r9 count "                                                \
    "u32\n.param r4 n u64\n"
/* r0: byte offset of this lane's element of 4 bytes; r20 a zero offset */
#define MINE " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n mov_imm.u64 r20, 0\n"

static const program_case CASES[] = {
    {"map", " parallel_map.f32 r3, r1, relu, r4\n", NULL, 1, -1},
    {"map in many lanes", " parallel_map.f32 r3, r1, abs, r4\n", NULL, 0, -1},
    {"in place", " parallel_map.f32 r1, r1, neg, r4\n", NULL, 0, -1},
    {"binary, in place of the second", " parallel_map_binary.f32 r2, r1, r2, sub, r4\n", NULL, 0,
     -1},
    {"part of the arrays",
     MINE " parallel_map_binary.f32 [r3 + r20 + 40], [r1 + r20 + 4], [r2 + r20 + 8], add, 600\n",
     NULL, 0, -1},
    {"overlap to the right", MINE " parallel_map.f32 [r1 + r20 + 4], [r1 + r20], neg, 600\n", NULL,
     0, -1},
    {"overlap to the left", MINE " parallel_map.f32 [r1 + r20], [r1 + r20 + 4], neg, 600\n", NULL,
     0, -1},
    {"both inputs overlap",
     MINE " parallel_map_binary.f32 [r1 + r20 + 8], [r1 + r20], [r1 + r20 + 12], sub, 600\n", NULL,
     0, -1},
    {"reduce to a register of all lanes",
     MINE " parallel_reduce.f32 r10, r1, sum, r4\n stg.f32 [r3 + r0], r10\n", NULL, 0, -1},
    {"reduce to memory", MINE " parallel_reduce.f32 [r6 + r20 + 16], r1, max, r4\n", NULL, 0, -1},
    {"reduce.add of memory", MINE " reduce.add.u32 r10, [r5 + r20], r4\n stg.u32 [r5 + r0], r10\n",
     NULL, 0, -1},
    {"reduce nothing", MINE " reduce.min.f32 r10, [r1 + r20], 0\n stg.f32 [r3 + r0], r10\n", NULL,
     0, -1},
    {"value of every lane across a step",
     MINE " ldg.f32 r10, [r1 + r0]\n parallel_map.f32 r1, r1, neg, r4\n ldg.f32 r11, [r1 + r0]\n "
          "sub.f32 r12, r10, r11\n stg.f32 [r3 + "
          "r0], r12\n",
     NULL, 0, -1},
    {"values of all widths across a step",
     MINE " ldg.u32 r10, [r5 + r0]\n cvt.u8.u32 r11, r10\n cvt.u16.u32 r12, r10\n cvt.u64.u32 r13, "
          "r10\n mul.u64 r13, r13, r13\n"
          " cvt.u256.u64 r14, r13\n mul.u256 r14, r14, r14\n mul.u256 r14, r14, r14\n cvt.f64.u32 "
          "r15, r10\n cvt.f16.u32 r16, r10\n "
          "setgeu.u32 p3, r10, r9\n"
          " parallel_map.f32 r3, r1, abs, r4\n"
          " cvt.u64.u256 r17, r14\n cvt.u64.u8 r18, r11\n cvt.u64.u16 r19, r12\n cvt.u64.f64 r21, "
          "r15\n cvt.u64.f16 r22, r16\n add.u64 "
          "r17, r17, r18\n"
          " add.u64 r17, r17, r19\n add.u64 r17, r17, r13\n add.u64 r17, r17, r21\n add.u64 r17, "
          "r17, r22\n cvt.u32.u64 r23, r17\n sel.u32 "
          "r23, p3, r23, r10\n stg.u32 [r5 + r0], r23\n",
     NULL, 0, -1},
    {"wide uniform value across a step",
     MINE
     " mov_imm.u512 r10, 0x123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef55\n "
     "mul.u512 r10, r10, r10\n"
     " parallel_map.f32 r3, r1, abs, r4\n mul.u512 r10, r10, r10\n stg.u512 [r6 + r20], r10\n",
     NULL, 0, -1},
    {"while residual > eps",
     MINE "again:\n parallel_map_binary.f32 r1, r1, r2, mul, r4\n parallel_reduce.f32 r10, r1, "
          "max, r4\n setgt.f32 p0, r10, r8\n bra.p0 "
          "@again\n stg.f32 [r3 + r0], r10\n",
     NULL, 0, -1},
    {"lane work and a reduction in a uniform loop",
     MINE " mov_imm.f32 r12, 0.0\n mov_imm.u32 r13, 0\n mov_imm.u32 r14, 1\nagain:\n ldg.f32 r10, "
          "[r1 + r0]\n ldg.f32 r11, [r2 + r0]\n "
          "mul.f32 r10, r10, r11\n"
          " stg.f32 [r1 + r0], r10\n reduce.max.f32 r11, [r1 + r20], r4\n add.f32 r12, r12, r11\n "
          "add.u32 r13, r13, r14\n setgt.f32 p0, "
          "r11, r8\n bra.p0 @again\n"
          " stg.f32 [r3 + r0], r12\n stg.u32 [r5 + r0], r13\n",
     NULL, 0, -1},
    {"counted loop around a step, accumulator of every lane",
     MINE " ldg.f32 r10, [r2 + r0]\n mov_imm.u32 r13, 4\nagain:\n parallel_map.f32 r1, r1, abs, "
          "r4\n ldg.f32 r11, [r1 + r0]\n fma.f32 r10, "
          "r10, r11, r11\n loop r13, @again\n"
          " stg.f32 [r3 + r0], r10\n",
     NULL, 0, -1},
    {"nested uniform loops",
     MINE " mov_imm.u32 r13, 2\n mov_imm.u32 r16, 0\n mov_imm.u32 r17, 1\nouter:\n mov_imm.u32 "
          "r14, 3\ninner:\n reduce.add.u32 r15, [r5 + "
          "r20], 3\n add.u32 r16, r16, r15\n"
          " add.u32 r16, r16, r17\n loop r14, @inner\n loop r13, @outer\n stg.u32 [r5 + r0], r16\n",
     NULL, 0, -1},
    {"uniform branch around a step",
     MINE " reduce.add.u32 r10, [r5 + r20], r4\n mov_imm.u32 r11, 1\n and.u32 r10, r10, r11\n "
          "seteq.u32 p0, r10, r11\n bra.p0 @odd\n "
          "parallel_map.f32 r3, r1, neg, r4\n bra @end\nodd:\n"
          " parallel_map.f32 r3, r1, abs, r4\nend:\n stg.u32 [r5 + r0], r10\n",
     NULL, 0, -1},
    {"early uniform exit between steps",
     MINE " parallel_reduce.f32 r10, r1, sum, r4\n stg.f32 [r3 + r0], r10\n setgt.f32 p0, r10, "
          "r8\n bra.p0 @out\n parallel_map.f32 r3, r1, "
          "neg, r4\nout:\n exit\n",
     NULL, 0, -1},
    {"early uniform exit not taken",
     MINE " parallel_reduce.f32 r10, r1, sum, r4\n stg.f32 [r3 + r0], r10\n setlt.f32 p0, r10, "
          "r8\n bra.p0 @out\n parallel_map.f32 r3, r1, "
          "neg, r4\nout:\n exit\n",
     NULL, 0, -1},
    {"uniform exit out of a loop of steps",
     MINE " mov_imm.u32 r13, 9\n mov_imm.u32 r14, 0\n mov_imm.u32 r15, 1\nagain:\n "
          "parallel_map_binary.f32 r1, r1, r2, mul, r4\n add.u32 "
          "r14, r14, r15\n stg.u32 [r5 + r0], r14\n setgeu.u32 p0, r14, r9\n bra.p0 @out\n loop "
          "r13, @again\n"
          " stg.f32 [r3 + r0], r8\nout:\n exit\n",
     NULL, 0, -1},
    {"lanes that part after the last step",
     MINE " parallel_reduce.f32 r10, r1, sum, r4\n mov_imm.u64 r11, 300\n setgeu.u64 p0, r255, "
          "r11\n bra.p0 @done\n stg.f32 [r3 + r0], "
          "r10\ndone:\n exit\n",
     NULL, 0, -1},
    {"lanes that part and join before a step",
     MINE " ldg.u32 r10, [r5 + r0]\n mov_imm.u32 r12, 7\n setgtu.u32 p0, r10, r12\n bra.p0 @big\n "
          "add.u32 r10, r10, r12\n bra "
          "@join\nbig:\n mul.u32 r10, r10, r12\njoin:\n parallel_map.f32 r3, r1, relu, r4\n "
          "stg.u32 [r5 + r0], r10\n",
     NULL, 0, -1},
    {"loop of every lane's own length before a step",
     MINE " ldg.u32 r10, [r5 + r0]\n mov_imm.u32 r11, 31\n and.u32 r12, r10, r11\n mov_imm.u32 "
          "r13, 3\nmore:\n mul.u32 r10, r10, r13\n "
          "add.u32 r10, r10, r13\n loop r12, @more\n"
          " stg.u32 [r5 + r0], r10\n reduce.add.u32 r14, [r5 + r20], r4\n add.u32 r10, r10, r14\n "
          "stg.u32 [r5 + r0], r10\n",
     NULL, 0, -1},
    {"step in a function called twice",
     MINE " call @f\n add.f32 r12, r10, r8\n call @f\n add.f32 r12, r12, r10\n stg.f32 [r3 + r0], "
          "r12\n exit\nf:\n parallel_map.f32 r1, "
          "r1, abs, r4\n parallel_reduce.f32 r10, r1, sum, r4\n ret\n",
     NULL, 0, -1},
    {"function without a step, called on both sides",
     MINE " call @f\n parallel_map.f32 r1, r1, neg, r4\n call @f\n stg.f32 [r3 + r0], r10\n "
          "exit\nf:\n ldg.f32 r10, [r1 + r0]\n mul.f32 "
          "r10, r10, r8\n ret\n",
     NULL, 0, -1},
    {"shared memory lives across steps",
     ".shared 1024\n" MINE " rdid r10, lane_idx_x\n mov_imm.u32 r250, 2\n cvt.u64.u32 r11, r10\n "
     "shl.u64 r11, r11, r250\n ldg.u32 r12, [r5 "
     "+ r0]\n sts.u32 [shared + r11], r12\n mov_imm.u32 r13, 2\nagain:\n parallel_map.f32 r3, r1, "
     "abs, r4\n"
     " lds.u32 r14, [shared + r11]\n add.u32 r14, r14, r12\n sts.u32 [shared + r11], r14\n loop "
     "r13, @again\n"
     " lds.u32 r14, [shared + r11]\n stg.u32 [r5 + r0], r14\n",
     NULL, 0, -1},
    {"barrier in a program with steps",
     ".shared 1024\n" MINE " rdid r10, lane_idx_x\n mov_imm.u32 r250, 2\n cvt.u64.u32 r11, r10\n "
     "shl.u64 r11, r11, r250\n ldg.u32 r12, [r5 "
     "+ r0]\n sts.u32 [shared + r11], r12\n bar.sync 0\n"
     " mov_imm.u64 r13, 0\n lds.u32 r14, [shared + r13]\n parallel_map.f32 r3, r1, abs, r4\n "
     "add.u32 r12, r12, r14\n stg.u32 [r5 + r0], "
     "r12\n",
     NULL, 0, -1},
    {"lane ids and their number after a step",
     MINE " parallel_map.f32 r3, r1, abs, r4\n rdid r10, lane_count\n rdid r11, block_idx_x\n rdid "
          "r12, lane_idx_x\n rdid r13, "
          "grid_dim_x\n cvt.u32.u64 r10, r10\n mul.u32 r11, r11, r12\n add.u32 r10, r10, r11\n"
          " mul.u32 r10, r10, r13\n stg.u32 [r5 + r0], r10\n",
     NULL, 0, -1},
    {"lane_count decides uniformly",
     MINE " rdid r10, lane_count\n mov_imm.u64 r11, 1\n setgtu.u64 p0, r10, r11\n bra.p0 @many\n "
          "parallel_map.f32 r3, r1, neg, r4\n "
          "exit\nmany:\n parallel_map.f32 r3, r1, abs, r4\n",
     NULL, 0, -1},
    {"count from a computation",
     MINE " mov_imm.u64 r10, 3\n mul.u64 r11, r10, r10\n parallel_map.f32 r3, r1, neg, r11\n", NULL,
     0, -1},
    {"atomics, then a step reads them",
     MINE " mov_imm.u32 r10, 1\n mov_imm.u64 r11, 0\n atom.add.u32 r12, [r5 + r11], r10\n "
          "reduce.add.u32 r13, [r5 + r11], 1\n stg.u32 [r5 "
          "+ r0], r13\n",
     NULL, 0, -1},
    {"one lane", MINE " parallel_reduce.f32 r10, r1, sum, r4\n stg.f32 [r3 + r0], r10\n", NULL, 1,
     -1},
    {"wide elements in a step",
     MINE " parallel_map_binary.u128 r6, r6, r6, add, 4\n reduce.max.u128 r10, [r6 + r20], 4\n "
          "stg.u128 [r6 + r20 + 64], r10\n",
     NULL, 0, -1},
    {"u64 and f64 steps",
     MINE " parallel_map_binary.u64 r6, r6, r6, add, 8\n reduce.add.u64 r10, [r6 + r20], 8\n "
          "stg.u64 [r6 + r20], r10\n",
     NULL, 1, -1},
    {"f16 reduction", MINE " parallel_reduce.f16 r10, r1, max, 100\n stg.f16 [r6 + r20], r10\n",
     NULL, 1, -1},
    /* pools */
    {"pool of a parameter",
     MINE " pool.store.f32 r7, 8, r8\n pool.load.f32 r10, r7, 8\n stg.f32 [r3 + r0], r10\n", NULL,
     1, -1},
    {"pool made by the program",
     MINE " pool.alloc r10, 2800\n pool.store.f32 r10, r0, r8\n parallel_map.f32 [pool(r10) + 0], "
          "[pool(r10) + 0], neg, r4\n pool.load.f32 "
          "r11, r10, r0\n stg.f32 [r3 + r0], r11\n pool.free r10\n",
     NULL, 0, -1},
    {"pool under an id of the program",
     MINE " pool.alloc pool77, 2800\n pool.store.f32 pool77, r0, r8\n pool.load.f32 r11, pool77, "
          "r0\n stg.f32 [r3 + r0], r11\n pool.free "
          "pool77\n pool.alloc pool77, 16\n pool.load.f32 r11, pool77, 8\n mov_imm.u64 r12, 0\n "
          "stg.f32 [r6 + r12], r11\n",
     NULL, 0, -1},
    {"pools in a loop",
     MINE " mov_imm.u32 r13, 5\nagain:\n pool.alloc r10, 64\n pool.store.u32 r10, 4, r13\n "
          "pool.load.u32 r11, r10, 4\n stg.u32 [r5 + r0], "
          "r11\n pool.free r10\n loop r13, @again\n",
     NULL, 0, -1},
    {"pool id in use", " pool.alloc pool5, 16\n pool.alloc pool5, 16\n", "F05", 0, 1},
    {"free of nothing", " pool.free pool5\n", "F03", 0, 0},
    {"double free", " pool.alloc r10, 16\n pool.free r10\n pool.free r10\n", "F03", 0, 2},
    {"load after free", MINE " pool.alloc r10, 16\n pool.free r10\n pool.load.f32 r11, r10, 0\n",
     "F03", 0, 5},
    {"pool bounds", MINE " pool.alloc r10, 16\n pool.load.f32 r11, r10, 13\n", "F01", 0, 4},
    /* faults of steps: the whole instruction, nothing written */
    {"map out of bounds", " parallel_map.f32 r3, r1, neg, 701\n", "F01", 0, 0},
    {"input out of bounds", MINE " parallel_map.f32 r3, [r1 + r20 + 4], neg, 700\n", "F01", 0, 3},
    {"negative place", MINE " parallel_map.f32 r3, [r1 + r20 - 4], neg, 7\n", "F01", 0, 3},
    {"huge count", " mov_imm.u64 r10, 0xffffffffffffffff\n parallel_map.f32 r3, r1, neg, r10\n",
     "F01", 0, 1},
    {"unknown handle", " mov_imm.u64 r10, 4711\n parallel_map.f32 r10, r1, neg, 4\n", "F03", 0, 1},
    {"second input unknown",
     " mov_imm.u64 r10, 4711\n parallel_map_binary.f32 r3, r1, r10, add, 4\n", "F03", 0, 1},
    {"reduce of an unknown handle",
     " mov_imm.u64 r10, 4711\n parallel_reduce.f32 r11, r10, sum, 4\n", "F03", 0, 1},
    {"division in a map",
     " mov_imm.u32 r10, 0\n mov_imm.u64 r20, 2000\n stg.u32 [r5 + r20], r10\n "
     "parallel_map_binary.u32 r5, r5, r5, div, r4\n",
     "F02", 1, 3},
    {"fault of a lane after two steps",
     MINE " parallel_map.f32 r3, r1, abs, r4\n parallel_map.f32 r3, r1, neg, r4\n mov_imm.u64 r10, "
          "600\n setltu.u64 p0, r255, r10\n bra.p0 "
          "@fine\n ldg.f32 r11, [r1 + r0 + 400]\nfine:\n exit\n",
     "F01", 0, 8},
    {"fault of a lane before a step",
     MINE " ldg.u32 r10, [r5 + r0]\n mov_imm.u32 r11, 690\n mov_imm.u32 r12, 0\n cvt.u32.u64 r13, "
          "r255\n sub.u32 r13, r13, r11\n div.u32 "
          "r13, r10, r13\n parallel_map.f32 r3, r1, abs, r4\n stg.u32 [r5 + r0], r13\n",
     "F02", 0, 8},
    {"division by zero, uniform, between steps",
     " parallel_map.f32 r3, r1, abs, r4\n mov_imm.u32 r10, 0\n div.u32 r11, r9, r10\n "
     "parallel_map.f32 r3, r1, neg, r4\n",
     "F02", 0, 2},
};

static void fill(run_case *c) {
    static float x[N], y[N], z[N];
    static uint32_t u[N];
    static uint8_t o[512], pool[256];
    uint32_t state = 1;
    for (int i = 0; i < N; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)((int)(state >> 20) - 2000) / 16.0f;
        y[i] = (float)(state >> 24) / 1024.0f;
        u[i] = state >> 19;
        z[i] = (float)i;
    }
    for (int i = 0; i < 512; i++) o[i] = (uint8_t)(i * 37);
    float eps = 0.25f;
    uint32_t bits;
    memcpy(&bits, &eps, 4);
    case_add_array(c, "x", HG_TYPE_F32, x, sizeof x);
    case_add_array(c, "y", HG_TYPE_F32, y, sizeof y);
    case_add_array(c, "z", HG_TYPE_F32, z, sizeof z);
    case_add_array(c, "u", HG_TYPE_U32, u, sizeof u);
    case_add_array(c, "o", HG_TYPE_U64, o, sizeof o);
    case_array *p = case_add_array(c, "pl", HG_TYPE_U8, pool, sizeof pool);
    if (p) p->pool = true;
    case_add_scalar(c, "eps", HG_TYPE_F32, bits);
    case_add_scalar(c, "count", HG_TYPE_U32, 4);
    case_add_scalar(c, "n", HG_TYPE_U64, N);
}

static void check_case(const program_case *pc, library *const *targets, int target_count) {
    char text[4096], reason[512];
    hg_program *program = NULL;
    snprintf(text, sizeof text, HEAD "%s", pc->body);
    if (hg_program_assemble(text, strlen(text), NULL, &program) != HG_OK) {
        CHECK_MESSAGE(false, "%s: %u:%u: %s", pc->name, hg_last_error()->line,
                      hg_last_error()->column, hg_last_error_text());
        return;
    }
    run_case expected = {.cleared_class = 96, .text = calloc(1, 1)};
    run_result er, ar;
    fill(&expected);
    case_set_lanes(&expected, pc->lanes ? pc->lanes : N);
    run_case start;
    if (!case_copy(&start, &expected)) exit(1);
    case_run_reference(program, &expected, &er);
    CHECK_MESSAGE((er.outcome == RUN_FAULT) == (pc->fault != NULL) && er.outcome != RUN_ERROR,
                  "%s: reference: %s", pc->name, er.message);
    if (pc->fault) {
        CHECK_TEXT(er.code, pc->fault);
        CHECK_U64(er.instruction, (uint64_t)pc->fault_instruction);
    }
    for (int i = 0; i < target_count; i++) {
        run_case actual;
        if (!case_copy(&actual, &start)) exit(1);
        library_run(targets[i], program, &actual, &ar);
        CHECK_MESSAGE(case_same(&expected, &er, &actual, &ar, reason), "%s (target %d): %s",
                      pc->name, i, reason);
        case_free(&actual);
    }
    case_free(&start);
    case_free(&expected);
    hg_program_release(program);
}

/* test_runtime_plan [NAME [BACKEND]]: cases with a part of a name, on another device. */
int main(int argc, char **argv) {
    setenv("HOLOGRAM_JIT", "off", 1); /* what is allocated is counted */
    static const char *const PRETEND[] = {"", "poor", "expand", "expand,poor"};
    enum { COUNT = sizeof PRETEND / sizeof *PRETEND };
    char reason[256] = "";
    library *targets[COUNT];
    const char *backend = argc > 2 ? argv[2] : "cpu";
    int count = argc > 2 ? 1 : COUNT;
    for (int i = 0; i < count; i++) {
        targets[i] = library_open(backend, "", PRETEND[i], reason);
        CHECK_MESSAGE(targets[i], "%s", reason);
        if (!targets[i]) return test_done();
    }
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        if (argc < 2 || strstr(CASES[i].name, argv[1])) check_case(&CASES[i], targets, count);
    for (int i = 0; i < count; i++) library_close(targets[i]);
    return test_done();
}
