/* Uniform values on their way from kernel to kernel, from whole-array steps to kernels and back, to
 * counts and branches, wide and narrow ones, over many blocks: each program runs on the independent
 * reference and on the library, with values read as inputs and in memory. Then how often the host
 * copies the environment out. test_runtime_uniforms [NAME [BACKEND]]: cases with a part of a name,
 * on another device.
 * test: labels=slow */
#include "plan/plan.h"
#include "reference/case.h"
#include "runtime/step.h"
#include "support/library.h"
#include "support/runtime_support.h"

enum { N = 6000 }; /* 24 blocks of 256 */

typedef struct program_case {
    const char *name, *body;
    const char *fault; /* expected code; NULL: none */
    /* Times that the host copies values out on a device that keeps them in memory; -1: not looked
     * at. */
    int fetches;
} program_case;

#define HEAD                                                                                \
    ".atlas 1\n.program p\n.param r1 x buffer f32 inout [n]\n.param r3 z buffer f32 inout " \
    "[n]\n.param r5 u buffer u32 inout [n]\n.param "                                        \
    "r6 o buffer u64 inout [64]\n.param r8 eps f32\n.param r9 count u32\n.param r4 n u64\n"
/* r0: byte offset of this lane's element of 4 bytes; r20 a zero offset */
#define MINE " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n mov_imm.u64 r20, 0\n"
/* Every lane adds a u32 register to its element of u. */
#define ADD(reg) \
    " ldg.u32 r100, [r5 + r0]\n add.u32 r100, r100, " reg "\n stg.u32 [r5 + r0], r100\n"
#define STEP " parallel_map.f32 r3, r3, neg, 4\n"
/* A loop whose rounds the device counts: the host does no arithmetic on floats. */
#define ROUNDS(n) " mov_imm.f32 r90, " #n "\n mov_imm.f32 r91, 1\nagain:\n"
#define NEXT " sub.f32 r90, r90, r91\n setge.f32 p5, r90, r91\n bra.p5 @again\n"

static const program_case CASES[] = {
    {"the next value is written while others read this one",
     MINE " mov_imm.u32 r10, 7\n mov_imm.u32 r13, 5\n mov_imm.u32 r15, 3\nagain:\n" ADD(
         "r10") " mul.u32 r10, r10, r15\n" STEP " loop r13, @again\n" ADD("r10"),
     NULL, 0},
    {"the next value is written while others read this one, in rounds that the device "
     "counts",
     MINE " mov_imm.f32 r10, 7\n mov_imm.f32 r15, 3\n" ROUNDS(6) " cvt.u32.f32 r11, r10\n" ADD(
         "r11") " mul.f32 r10, r10, r15\n" STEP NEXT " cvt.u32.f32 r11, r10\n" ADD("r11"),
     NULL, 6},
    {"integers that the host computes",
     MINE
     " mov_imm.u32 r10, 1\n mov_imm.u32 r12, 1\n mov_imm.u32 r250, 3\nouter:\n "
     "mov.u32 r11, r10\ninner:\n bar.grid\n cvt.i8.u32 r13, "
     "r11\n neg.i8 r13, r13\n cvt.i64.i8 r14, r13\n shr.i64 r14, r14, r12\n "
     "cvt.u32.i64 r14, r14\n" ADD(
         "r14") " rdid r16, grid_dim_x\n div.u32 r15, r16, r250\n and.u32 r16, "
                "r9, r11\n setgtu.u32 p2, r16, r15\n sel.u32 r17, p2, "
                "r15, r16\n"
                " bar.grid\n" ADD("r17") " shr.u32 r11, r11, r12\n setgeu.u32 p0, r11, r12\n "
                                         "bra.p0 @inner\n shl.u32 r10, r10, r12\n"
                                         " setltu.u32 p1, r10, r9\n bra.p1 @outer\n" ADD("r10"),
     NULL, 0},
    {"reduction to kernel to reduction",
     MINE " parallel_reduce.u32 r10, r5, max, r4\n" ADD(
         "r10") " parallel_reduce.u32 r11, r5, sum, r4\n" ADD("r11") " reduce.min.u32 "
                                                                     "r12, [r5 + r20], "
                                                                     "r4\n add.u32 "
                                                                     "r12, r12, "
                                                                     "r10\n" ADD("r12"),
     NULL, 0},
    {"a result that nobody reads", MINE " parallel_reduce.u32 r10, r5, max, r4\n" STEP ADD("r9"),
     NULL, 0},
    {"ten reductions, all used at the end",
     MINE " parallel_reduce.f32 r30, r1, sum, 10\n parallel_reduce.f32 r31, r1, sum, "
          "20\n parallel_reduce.f32 r32, r1, sum, 30\n"
          " parallel_reduce.f32 r33, r1, max, 40\n parallel_reduce.f32 r34, r1, max, "
          "50\n parallel_reduce.f32 r35, r1, min, 60\n"
          " parallel_reduce.f32 r36, r1, sum, 70\n parallel_reduce.f32 r37, r1, max, "
          "80\n parallel_reduce.f32 r38, r1, min, 90\n"
          " parallel_reduce.f32 r39, r1, sum, 100\n fma.f32 r30, r30, r31, r32\n "
          "fma.f32 r33, r33, r34, r35\n fma.f32 r36, r36, r37, r38\n"
          " add.f32 r30, r30, r33\n add.f32 r36, r36, r39\n add.f32 r30, r30, r36\n "
          "stg.f32 [r3 + r0], r30\n",
     NULL, 0},
    {"kernel to the count of a step",
     MINE " mov_imm.f32 r12, 6400\n mul.f32 r10, r8, r12\n cvt.u64.f32 r10, r10\n "
          "parallel_map.f32 r1, r1, neg, r10\n"
          " parallel_reduce.f32 r11, r1, sum, r10\n stg.f32 [r3 + r0], r11\n",
     NULL, 1},
    {"parameter to the count of a step",
     MINE " cvt.u64.u32 r10, r9\n mul.u64 r10, r10, r10\n parallel_map.f32 r1, r1, "
          "neg, r10\n parallel_reduce.f32 r11, r1, sum, r10\n"
          " stg.f32 [r3 + r0], r11\n",
     NULL, 0},
    {"reduction to the count of a step",
     MINE " mov_imm.u32 r12, 4000\n parallel_reduce.u32 r10, r5, max, 16\n rem.u32 "
          "r10, r10, r12\n cvt.u64.u32 r10, r10\n"
          " parallel_map.f32 r1, r1, neg, r10\n",
     NULL, 1},
    {"a count of 0 from the device",
     MINE " sub.u32 r10, r9, r9\n reduce.add.u32 r11, [r5 + r20], r10\n cvt.u64.u32 "
          "r11, r11\n"
          " parallel_map.f32 r1, r1, neg, r11\n",
     NULL, -1},
    {"a branch of the plan by a reduction",
     MINE " parallel_reduce.u32 r10, r5, sum, r4\n mov_imm.u32 r11, 1\n and.u32 r12, "
          "r10, r11\n seteq.u32 p0, r12, r11\n bra.p0 @odd\n" STEP
          "odd:\n add.u32 r10, r10, r12\n" STEP ADD("r10"),
     NULL, 1},
    {"a loop of the plan until a reduction says so",
     MINE " mov_imm.u32 r13, 0\n mov_imm.u32 r14, 1\n mov_imm.u32 r15, 4\nagain:\n" ADD(
         "r13") " add.u32 r13, r13, r14\n"
                " reduce.max.u32 r10, [r5 + r20], r4\n setltu.u32 p0, r13, r15\n "
                "bra.p0 @again\n" ADD("r10"),
     NULL, 0},
    {"rounds that the device counts, and a reduction in each",
     MINE " mov_imm.u32 r13, 0\n mov_imm.u32 r14, 1\n" ROUNDS(4)
         ADD("r13") " add.u32 r13, r13, r14\n reduce.max.u32 r10, [r5 + r20], r4\n" NEXT ADD("r10"),
     NULL, 4},
    {"written under conditions, or not",
     MINE " mov_imm.u32 r10, 5\n mov_imm.u32 r11, 1\n mov_imm.u32 r12, 2\n mov_imm.u32 "
          "r13, 6\nagain:\n" STEP
          " and.u32 r14, r13, r11\n seteq.u32 p0, r14, r11\n bra.p0 @odd\n mul.u32 "
          "r10, r10, r12\nodd:\n" ADD("r10") " loop r13, @again\n" STEP ADD("r10"),
     NULL, 0},
    {"written in an arm of the plan's branch alone",
     MINE " mov_imm.u32 r10, 5\n mov_imm.u32 r11, 1\n mov_imm.u32 r13, 5\nagain:\n" STEP
          " and.u32 r14, r13, r11\n seteq.u32 p0, r14, r11\n bra.p0 @odd\n add.u32 "
          "r10, r10, r13\n reduce.add.u32 r16, [r5 + r20], 3\n"
          " add.u32 r10, r10, r16\nodd:\n" ADD("r10") " loop r13, @again\n",
     NULL, -1},
    {"values of all narrow types",
     MINE " reduce.add.u32 r10, [r5 + r20], r4\n cvt.u8.u32 r11, r10\n cvt.u16.u32 r12, "
          "r10\n cvt.f16.u32 r13, r9\n cvt.f64.u32 r14, "
          "r10\n"
          " cvt.u64.u32 r15, r10\n setgeu.u32 p3, r10, r9\n setltu.u32 p4, r10, r9\n" STEP ADD(
              "r10") STEP
     " cvt.u32.u8 r16, r11\n" ADD("r16") " cvt.u32.u16 r16, r12\n" ADD(
         "r1"
         "6") " cvt.u32.f16 r16, r13\n" ADD("r16") " cvt.u32.f64 r16, r14\n" ADD("r16") " cvt.u32."
                                                                                        "u64 r16, "
                                                                                        "r15\n" ADD(
                                                                                            "r16") " sel."
                                                                                                   "u32 "
                                                                                                   "r16, "
                                                                                                   "p3, "
                                                                                                   "r9, "
                                                                                                   "r10"
                                                                                                   "\n" ADD(
                                                                                                       "r1"
                                                                                                       "6") " sel.u32 "
                                                                                                            "r16, p4, "
                                                                                                            "r9, "
                                                                                                            "r10\n" ADD(
                                                                                                                "r16"),
     NULL, 0},
    {"results of narrow and wide reductions",
     MINE " parallel_reduce.u8 r10, r6, max, 100\n parallel_reduce.u16 r11, r6, min, "
          "50\n parallel_reduce.f16 r12, r6, max, 100\n"
          " parallel_reduce.u128 r13, r6, max, 4\n parallel_reduce.u64 r14, r6, sum, "
          "8\n cvt.u32.u8 r16, r10\n" ADD(
              "r16") " cvt.u32.u16 r16, "
                     "r11\n" ADD("r16") " cvt.f32.f16 r17, r12\n stg.f32 [r3 + r0], "
                                        "r17\n cvt.u32.u128 r16, r13\n" ADD(
                                            "r16") " cvt.u32.u64 r16, r14\n" ADD("r16"),
     NULL, 0},
    {"a wide value that changes from round to round",
     MINE " mov_imm.u256 r10, 0x123456789abcdef0fedcba9876543210f1e2d3c4\n mov_imm.u32 "
          "r13, 4\nagain:\n cvt.u32.u256 r11, r10\n" ADD("r11") STEP
     " mul.u256 r10, r10, r10\n loop r13, @again\n cvt.u32.u256 r11, r10\n" ADD("r11"),
     NULL, 0},
    {"a wide value that changes in rounds that the device counts",
     MINE " mov_imm.u256 r10, 0x123456789abcdef0fedcba9876543210f1e2d3c4\n" ROUNDS(
         5) " cvt.u32.u256 r11, r10\n" ADD("r11") STEP " mul.u256 r10, r10, r10\n" NEXT
                                                       " cvt.u32.u256 r11, r10\n" ADD("r11"),
     NULL, 5},
    {"a barrier under a condition from a reduction",
     ".shared 1024\n" MINE " rdid r10, lane_idx_x\n cvt.u64.u32 r11, r10\n mov_imm.u32 "
     "r250, 2\n shl.u64 r11, r11, r250\n mov_imm.u64 r12, 4\n"
     " parallel_reduce.u32 r13, r5, max, r4\n ldg.u32 r14, [r5 + r0]\n setgtu.u32 p0, "
     "r9, r13\n bra.p0 @out\n sts.u32 [shared + r11], "
     "r14\n bar.sync "
     "0\n"
     " lds.u32 r14, [shared + r12]\n add.u32 r14, r14, r13\nout:\n stg.u32 [r5 + r0], "
     "r14\n",
     NULL, 0},
    {"a pool's handle beside values of kernels",
     MINE " pool.alloc r10, 24000\n mov_imm.u32 r13, 3\n mov_imm.u32 r12, 1\nagain:\n "
          "cvt.f32.u32 r14, r12\n pool.store.f32 r10, r0, r14\n"
          " parallel_map.f32 [pool(r10) + 0], [pool(r10) + 0], neg, r4\n pool.load.f32 "
          "r11, r10, r0\n stg.f32 [r3 + r0], r11\n"
          " add.u32 r12, r12, r12\n loop r13, @again\n pool.free r10\n",
     NULL, -1},
    {"a pool's handle in rounds that the device counts",
     MINE " pool.alloc r10, 24000\n mov_imm.u32 r12, 1\n" ROUNDS(
         4) " cvt.f32.u32 r14, r12\n pool.store.f32 r10, r0, r14\n"
            " parallel_map.f32 [pool(r10) + 0], [pool(r10) + 0], neg, r4\n "
            "pool.load.f32 r11, r10, r0\n stg.f32 [r3 + r0], r11\n"
            " add.u32 r12, r12, r12\n" NEXT " pool.free r10\n",
     NULL, 4},
    {"a handle that a kernel chose",
     MINE " parallel_reduce.u32 r10, r5, max, r4\n mov r11, r1\n setltu.u32 p0, r10, "
          "r9\n bra.p0 @first\n mov r11, r3\nfirst:\n" STEP " ldg.f32 r12, [r11 + r0]\n" STEP
          " add.f32 r12, r12, r12\n stg.f32 [r11 + r0], r12\n",
     NULL, -1},
    {"count from a kernel, out of bounds",
     MINE " cvt.u64.u32 r10, r9\n add.u64 r10, r10, r4\n parallel_map.f32 r1, r1, neg, "
          "r10\n",
     "F01", -1},
    {"division by a value of a reduction",
     MINE " reduce.mul.u32 r10, [r5 + r20], r4\n sub.u32 r10, r10, r10\n" STEP
          " ldg.u32 r11, [r5 + r0]\n div.u32 r11, r11, r10\n stg.u32 [r5 + "
          "r0], r11\n",
     "F02", -1},
};

static void fill(run_case *c) {
    static float x[N], z[N];
    static uint32_t u[N];
    static uint8_t o[512];
    uint32_t state = 1;
    for (int i = 0; i < N; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)((int)(state >> 20) - 2000) / 16.0f;
        u[i] = state >> 19;
        z[i] = (float)i;
    }
    for (int i = 0; i < 512; i++) o[i] = (uint8_t)(i * 37);
    float eps = 0.25f;
    uint32_t bits;
    memcpy(&bits, &eps, 4);
    case_add_array(c, "x", HG_TYPE_F32, x, sizeof x);
    case_add_array(c, "z", HG_TYPE_F32, z, sizeof z);
    case_add_array(c, "u", HG_TYPE_U32, u, sizeof u);
    case_add_array(c, "o", HG_TYPE_U64, o, sizeof o);
    case_add_scalar(c, "eps", HG_TYPE_F32, bits);
    case_add_scalar(c, "count", HG_TYPE_U32, 40);
    case_add_scalar(c, "n", HG_TYPE_U64, N);
}

static hg_program *program_of(const program_case *pc) {
    char text[4096];
    snprintf(text, sizeof text, HEAD "%s", pc->body);
    hg_program *program = NULL;
    if (hg_program_assemble(text, strlen(text), NULL, &program) != HG_OK)
        CHECK_MESSAGE(false, "%s: %u:%u: %s", pc->name, hg_last_error()->line,
                      hg_last_error()->column, hg_last_error_text());
    return program;
}

static void check_case(const program_case *pc, library *const *targets, int target_count) {
    char reason[512];
    hg_program *program = program_of(pc);
    if (!program) return;
    run_case expected = {.cleared_class = 96, .text = calloc(1, 1)}, start;
    run_result er, ar;
    fill(&expected);
    case_set_lanes(&expected, N);
    if (!case_copy(&start, &expected)) exit(1);
    case_run_reference(program, &expected, &er);
    CHECK_MESSAGE((er.outcome == RUN_FAULT) == (pc->fault != NULL) && er.outcome != RUN_ERROR,
                  "%s: reference: %s", pc->name, er.message);
    if (pc->fault) CHECK_TEXT(er.code, pc->fault);
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

/* ---- what the host copies out ---- */

static hg_driver counting;
static hg_status (*real_submit)(hg_driver_queue *, const hg_driver_command *, uint32_t,
                                hg_driver_event *const *, uint32_t, hg_driver_event *);
static const hg_binding *watched;
static int fetches, submissions;

/* Several pieces in one submission are one fetch: the host waits once. */
static hg_status counting_submit(hg_driver_queue *queue, const hg_driver_command *commands,
                                 uint32_t count, hg_driver_event *const *waits, uint32_t wait_count,
                                 hg_driver_event *signal) {
    bool fetch = false;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *host = commands[i].host;
        fetch |= commands[i].kind == HG_CMD_COPY_OUT && host >= watched->env.bytes &&
                 host < watched->env.bytes + watched->executable->plan->env_bytes;
    }
    fetches += fetch;
    submissions++;
    return real_submit(queue, commands, count, waits, wait_count, signal);
}

/* A device that leaves long loops by itself has to be asked how a kernel ended whose loops have no
 * bound that shows. */
static bool may_be_cut(const hg_executable *e) {
    for (uint32_t i = 0; i < e->kernel_count; i++)
        if (e->kernels[i].code->facts.cuts_loops) return true;
    return false;
}

/* How the host submits depends on how long a lane took. A machine that is busy must not look like a
 * slow device. */
static void set_fast(const hg_code_set *code) {
    hg_atomic_store(&((hg_code_set *)(uintptr_t)code)->cost.lane_ps, 1, HG_RELAXED);
}

/* Of the program's kernels, and of those that its steps ran as. */
static void pretend_fast(const hg_binding *binding) {
    const hg_executable *e = binding->executable;
    for (uint32_t i = 0; i < e->kernel_count; i++) set_fast(e->kernels[i].code);
    for (uint64_t i = 0; i < e->plan->steps.count; i++)
        for (uint32_t k = 0; k < binding->steps.bound[i].expansion.action_count; k++)
            if (binding->steps.bound[i].expansion.actions[k].kernel)
                set_fast(binding->steps.bound[i].expansion.actions[k].kernel->code);
}

static void count_fetches(const program_case *pc, hg_backend *b) {
    hg_program *program = program_of(pc);
    hg_params *params = hg_params_create();
    hg_launch launch = hg_launch_linear(N);
    hg_executable *e = NULL;
    hg_binding *binding = NULL;
    run_case data = {.cleared_class = 96, .text = calloc(1, 1)};
    hg_buffer buffers[4];
    fill(&data);
    for (int i = 0; i < 4; i++) {
        buffers[i] = make_buffer(b, data.arrays[i].bytes, data.arrays[i].size);
        CHECK_OK(hg_params_set_buffer(params, data.arrays[i].name, buffers[i]));
    }
    for (uint32_t i = 0; i < data.scalar_count; i++)
        CHECK_OK(hg_params_set_scalar(params, data.scalars[i].name, data.scalars[i].type,
                                      &data.scalars[i].bits));
    CHECK_OK(hg_executable_create_for(b, program, &launch, params, &e));
    CHECK_OK(hg_binding_create(e, &launch, params, &binding));
    for (int round = 0; round < 2; round++) {
        watched = binding;
        fetches = submissions = 0;
        const hg_driver *kept = b->driver;
        counting = *kept;
        real_submit = kept->queue_submit;
        counting.queue_submit = counting_submit;
        b->driver = &counting;
        if (round) pretend_fast(binding);
        CHECK_OK(hg_binding_launch(binding));
        b->driver = kept;
        CHECK_MESSAGE(fetches == pc->fetches,
                      "%s: the host copied values out %d times, expected %d", pc->name, fetches,
                      pc->fetches);
        /* Code that ran before and is proven to stay in bounds is not looked at after each launch.
         */
        CHECK_MESSAGE(!round || !b->caps->compiler.device_form || may_be_cut(e) ||
                          submissions <= pc->fetches + 1,
                      "%s: %d submissions, of which %d fetch values", pc->name, submissions,
                      fetches);
    }
    hg_binding_destroy(binding);
    hg_executable_destroy(e);
    for (int i = 0; i < 4; i++) CHECK_OK(hg_backend_free_buffer(b, buffers[i]));
    case_free(&data);
    hg_params_destroy(params);
    hg_program_release(program);
}

static void test_fetches(const char *name, const char *part) {
    hg_backend *b = open_backend(name);
    b->own_caps.scheduling.asynchronous = b->own_caps.memory.uniforms_in_memory = true; /* of the
                                                                                           CPU too:
                                                                                           its
                                                                                           events
                                                                                           are done
                                                                                           at once
                                                                                         */
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        if (CASES[i].fetches >= 0 && strstr(CASES[i].name, part)) count_fetches(&CASES[i], b);
    hg_backend_destroy(b);
}

int main(int argc, char **argv) {
    static const char *const PRETEND[] = {"",
                                          "poor",
                                          "expand",
                                          "expand,poor",
                                          "polled=2,staging",
                                          "polled=3,expand",
                                          "polled=5,expand,poor"};
    enum { COUNT = sizeof PRETEND / sizeof *PRETEND };
    char reason[256] = "";
    library *targets[COUNT];
    const char *backend = argc > 2 ? argv[2] : "cpu",
               *part = argc > 1 && strcmp(argv[1], "all") != 0 ? argv[1] : "";
    int count = argc > 2 ? 1 : COUNT;
    for (int i = 0; i < count; i++) {
        targets[i] = library_open(backend, "", PRETEND[i], reason);
        CHECK_MESSAGE(targets[i], "%s", reason);
        if (!targets[i]) return test_done();
    }
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        if (strstr(CASES[i].name, part)) check_case(&CASES[i], targets, count);
    for (int i = 0; i < count; i++) library_close(targets[i]);
    test_fetches(backend, part);
    return test_done();
}
