/* test: timeout=600
 * Programs with more rounds of loops than some devices run: Mesa's llvmpipe leaves all loops of
 * lanes that run in step after 65,535 of them together. On every device the result is the CPU's:
 * what lanes hold in registers and private memory goes on in another dispatch. Only loops around
 * barriers or shared memory may be refused, with an error that says so; it is never another number.
 */
#include "support/runtime_support.h"

typedef struct job {
    const char *name, *text;
    uint64_t bytes, lanes, a;
    uint32_t shared;
} job;

#define HEAD ".atlas 1\n.program p\n.param r1 b buffer u8 inout\n.param r2 a u32\n"
#define WORD \
    " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n mov_imm.u32 r31, 1\n mov_imm.u32 r10, 0\n"
#define END " stg.u32 [r1 + r0], r10\n"

static const job JOBS[] = {
    {"one loop of 60,000",
     HEAD WORD " mov.u32 r5, r2\nx:\n add.u32 r10, r10, r31\n loop r5, @x\n" END, 32, 8, 59999, 0},
    {"one loop of 65,535",
     HEAD WORD " mov.u32 r5, r2\nx:\n add.u32 r10, r10, r31\n loop r5, @x\n" END, 32, 8, 65534, 0},
    {"one loop of 65,536",
     HEAD WORD " mov.u32 r5, r2\nx:\n add.u32 r10, r10, r31\n loop r5, @x\n" END, 32, 8, 65535, 0},
    {"one loop of 300,000",
     HEAD WORD " mov.u32 r5, r2\nx:\n add.u32 r10, r10, r31\n loop r5, @x\n" END, 32, 8, 299999, 0},
    {"two loops of 400, one in the other",
     HEAD WORD " mov.u32 r5, r2\nx:\n mov.u32 r6, r2\ny:\n add.u32 r10, r10, r31\n loop r6, @y\n "
               "loop r5, @x\n" END,
     32, 8, 399, 0},
    {"an inner loop of one round",
     HEAD WORD " mov.u32 r5, r2\nx:\n shr.u32 r6, r5, r5\n sub.u32 r6, r6, r6\ny:\n add.u32 r10, "
               "r10, r31\n loop r6, @y\n loop r5, @x\n" END,
     32, 8, 22000, 0},
    {"the same, without end for the device",
     HEAD WORD " mov.u32 r5, r2\nx:\n ldg.u32 r6, [r1 + r0]\n and.u32 r6, r6, r10\n xor.u32 r6, "
               "r6, r6\ny:\n add.u32 r10, r10, r31\n"
               " loop r6, @y\n loop r5, @x\n" END,
     32, 8, 200000, 0},
    {"the inner loop in a function",
     HEAD WORD " mov.u32 r5, r2\nx:\n call @f\n loop r5, @x\n" END
               " exit\nf:\n mov_imm.u32 r6, 2\ny:\n add.u32 r10, r10, r31\n"
               " loop r6, @y\n ret\n",
     32, 8, 40000, 0},
    {"a barrier in the outer loop",
     HEAD ".shared 64\n" WORD " mov.u32 r5, r2\nx:\n mov_imm.u32 r6, 3\ny:\n add.u32 r10, r10, "
          "r31\n loop r6, @y\n bar.sync 0\n"
          " loop r5, @x\n" END,
     256, 64, 30000, 0},
    {"loops of different lengths side by side",
     HEAD WORD " cvt.u32.u64 r11, r255\n mov_imm.u32 r12, 7\n and.u32 r13, r11, r12\n mov_imm.u32 "
               "r14, 0\n mov.u32 r5, r2\n"
               " seteq.u32 p0, r13, r14\n bra.p0 @one\n seteq.u32 p0, r13, r31\n bra.p0 @two\n"
               "three:\n add.u32 r10, r10, r11\n loop r5, @three\n bra @out\n"
               "one:\n add.u32 r10, r10, r31\n loop r5, @one\n bra @out\n"
               "two:\n sub.u32 r10, r10, r31\n loop r5, @two\nout:\n" END,
     256, 64, 30000, 0},
    {"each lane its own number of rounds",
     HEAD WORD " cvt.u32.u64 r11, r255\n mul.u32 r5, r11, r2\nx:\n mul.u32 r10, r10, r2\n add.u32 "
               "r10, r10, r5\n loop r5, @x\n" END,
     256, 64, 2500, 0},
    {"two long loops, one behind the other",
     HEAD WORD " mov.u32 r5, r2\nx:\n add.u32 r10, r10, r31\n loop r5, @x\n mov.u32 r5, r2\ny:\n "
               "sub.u32 r10, r10, r5\n loop r5, @y\n" END,
     32, 8, 40000, 0},
    {"4,096 bits times 4,096 bits, 40 times",
     HEAD " mov_imm.u4096 r9, 3\n mov_imm.u4096 r8, 0x1234567\n loop r5, 40\n mul.u4096 r9, r9, "
          "r8\n endloop\n stg.u4096 [buf(r1)], r9\n",
     512, 1, 0, 0},
    {"a sum of 4,096 bits, 1,000 times",
     HEAD " mov_imm.u4096 r9, 0\n mov_imm.u4096 r8, 1\n loop r5, 1000\n add.u4096 r9, r9, r8\n "
          "endloop\n stg.u4096 [buf(r1)], r9\n",
     512, 1, 0, 0},
    {"256 bits times 256 bits, 8,000 times",
     HEAD " mov_imm.u256 r9, 3\n mov_imm.u256 r8, 0x1234567\n loop r5, 8000\n mul.u256 r9, r9, "
          "r8\n endloop\n stg.u256 [buf(r1)], r9\n",
     32, 1, 0, 0},
    {"resonance, 400 times",
     HEAD " mov_imm.f64 r9, 0.1\n loop r5, 400\n res.accum r6, r9, 3\n endloop\n stg.f64 "
          "[buf(r1)], r6\n",
     8, 1, 0, 0},
    {"narrow stores to shared memory, 40,000 times",
     HEAD ".shared 8\n mov_imm.u16 r6, 0\n mov_imm.u16 r9, 1\n loop r7, 40000\n add.u16 r6, r6, "
          "r9\n sts.u16 [shared+0], r6\n endloop\n"
          " lds.u16 r6, [shared+0]\n stg.u16 [buf(r1)], r6\n",
     2, 1, 0, 0},
    {"64-bit atomics on shared memory, 30,000 times",
     HEAD ".shared 8\n mov_imm.u64 r9, 1\n loop r7, 30000\n atom.add.u64 r6, [shared+0], r9\n "
          "endloop\n bar.sync 0\n"
          " lds.u64 r6, [shared+0]\n stg.u64 [buf(r1)], r6\n",
     8, 8, 0, 0},
    {"2^22 rounds in one lane",
     HEAD " mov_imm.u32 r31, 1664525\n mov_imm.u32 r30, 1013904223\n mov_imm.u32 r10, 1\n mov.u32 "
          "r5, r2\nx:\n mul.u32 r10, r10, r31\n"
          " xor.u32 r10, r10, r5\n add.u32 r10, r10, r30\n loop r5, @x\n stg.u32 [buf(r1)], r10\n",
     4, 1, (1 << 22) - 1, 0},
    {"private memory over 100,000 rounds",
     HEAD ".private 256\n" WORD " mov_imm.u32 r20, 63\n mov.u32 r5, r2\nx:\n and.u32 r21, r5, "
          "r20\n ldp.u32 r22, [private + r21*4]\n"
          " mul.u32 r22, r22, r5\n add.u32 r22, r22, r31\n stp.u32 [private + r21*4], r22\n "
          "xor.u32 r10, r10, r22\n loop r5, @x\n" END,
     256, 64, 99999, 0},
    {"three loops, one in the other, that lanes leave apart",
     HEAD WORD " cvt.u32.u64 r11, r255\n mov_imm.u32 r12, 7\n and.u32 r13, r11, r12\n mul.u32 r13, "
               "r13, r12\n mov.u32 r5, r2\nx:\n mov.u32 r6, r13\n"
               "y:\n mov.u32 r7, r12\nz:\n mul.u32 r10, r10, r12\n add.u32 r10, r10, r7\n loop r7, "
               "@z\n add.u32 r10, r10, r6\n loop r6, @y\n"
               " xor.u32 r10, r10, r5\n loop r5, @x\n" END,
     256, 64, 700, 0},
    {"a function with a long loop, called from a long loop, and code between",
     HEAD WORD " mov_imm.u32 r12, 300\n mov_imm.u64 r40, 0\n mov.u32 r5, r2\nx:\n mov_imm.u32 r14, "
               "3\n and.u32 r15, r5, r14\n"
               " seteq.u32 p1, r15, r14\n bra.p1 @skip\n call @f\nskip:\n cvt.u64.u32 r41, r10\n "
               "add.u64 r40, r40, r41\n loop r5, @x\n"
               " cvt.u32.u64 r10, r40\n" END
               " exit\nf:\n mov.u32 r6, r12\ny:\n mul.u32 r10, r10, r12\n add.u32 r10, r10, r6\n"
               " loop r6, @y\n ret\n",
     256, 64, 900, 0},
    {"a fault in a late round, of one lane of many",
     HEAD WORD " cvt.u32.u64 r11, r255\n mov_imm.u32 r12, 37\n mov_imm.u32 r13, 1000\n mov_imm.u32 "
               "r16, 3\n mov.u32 r5, r2\nx:\n"
               " mul.u32 r10, r10, r16\n add.u32 r10, r10, r5\n seteq.u32 p1, r11, r12\n "
               "setltu.u32 p2, r5, r13\n and.u32 r15, r5, r5\n"
               " bra.p1 @mine\n bra @next\nmine:\n bra.p2 @bad\n bra @next\nbad:\n stg.u32 [r1 + "
               "r0 + 4000], r10\nnext:\n loop r5, @x\n" END,
     256, 64, 80000, 0},
    {"sums of f64 and u64 that live across dispatches",
     HEAD " mov_imm.f64 r9, 0.1\n mov_imm.f64 r8, 0.0\n mov_imm.u64 r7, 1\n mov_imm.u64 r17, "
          "6364136223846793005\n mov.u32 r5, r2\nx:\n "
          "add.f64 r8, r8, r9\n"
          " mul.u64 r7, r7, r17\n add.u64 r7, r7, r17\n loop r5, @x\n stg.f64 [buf(r1)], r8\n "
          "stg.u64 [buf(r1) + 8], r7\n",
     16, 1, 200000, 0},
    {"a fault behind a long loop",
     HEAD WORD
     " mov.u32 r5, r2\nx:\n add.u32 r10, r10, r31\n loop r5, @x\n stg.u32 [r1 + r0 + 4000], r10\n",
     32, 8, 100000, 0},
    {"an index that only a long loop brings into bounds",
     HEAD WORD " mov.u32 r5, r2\nx:\n add.u32 r10, r10, r31\n loop r5, @x\n sub.u32 r11, r2, r10\n "
               "add.u32 r11, r11, r31\n"
               " cvt.u64.u32 r12, r11\n stg.u32 [r1 + r12], r10\n",
     4, 1, 100000, 0},
};

typedef struct outcome {
    hg_status status;
    hg_error error;
    uint8_t *bytes;
} outcome;

static outcome run(hg_backend *b, const job *j) {
    outcome o = {.bytes = calloc(1, j->bytes)};
    uint32_t a = (uint32_t)j->a;
    hg_program *p = assemble(j->text);
    hg_params *params = hg_params_create();
    hg_buffer buffer = make_buffer(b, o.bytes, j->bytes);
    hg_launch launch = hg_launch_linear(j->lanes);
    if (j->lanes == 64) {
        launch.grid[0] = 1;
        launch.block[0] = 64;
    }
    CHECK_OK(hg_params_set_buffer(params, "b", buffer));
    CHECK_OK(hg_params_set_scalar(params, "a", HG_TYPE_U32, &a));
    o.status = hg_backend_execute_program_with_params(b, p, &launch, params);
    if (o.status != HG_OK) o.error = *hg_last_error();
    CHECK_OK(hg_buffer_read(b, buffer, 0, o.bytes, j->bytes));
    CHECK_OK(hg_backend_free_buffer(b, buffer));
    hg_params_destroy(params);
    hg_program_release(p);
    return o;
}

static bool is_refusal(const outcome *o) {
    static const char HEAD_OF_TEXT[] = "the device cannot run more than ",
                      TAIL[] = " rounds of loops around barriers or shared memory in a lane";
    const char *at = o->error.message;
    if (o->status != HG_ERROR_EXECUTION_FAILED || strcmp(o->error.code, "F12") != 0) return false;
    return strncmp(at, HEAD_OF_TEXT, sizeof HEAD_OF_TEXT - 1) == 0 &&
           strcmp(at + strlen(at) - (sizeof TAIL - 1), TAIL) == 0;
}

static bool compare(const char *device, const job *j, const outcome *right, const outcome *o) {
    if (o->status != right->status) {
        bool may_be = strstr(j->text, "bar.sync") || strstr(j->text, ".shared");
        CHECK_MESSAGE(is_refusal(o) && may_be, "%s on %s: expected %s (%s), got %s (%s)", j->name,
                      device, hg_status_name(right->status), right->error.message,
                      hg_status_name(o->status), o->error.message);
        return false;
    }
    if (right->status == HG_OK)
        CHECK_MESSAGE(memcmp(o->bytes, right->bytes, j->bytes) == 0, "%s on %s: a wrong result",
                      j->name, device);
    else if (!is_refusal(o))
        CHECK_TEXT(o->error.message, right->error.message);
    return !is_refusal(o);
}

int main(int argc, char **argv) {
    static const char *const BACKENDS[] = {"opencl", "vulkan"};
    int found = 0;
    for (size_t k = 0; k < sizeof BACKENDS / sizeof *BACKENDS; k++) {
        hg_backend *b = NULL;
        if (argc > 1 && strcmp(argv[1], BACKENDS[k]) != 0) continue;
        if (hg_backend_create(BACKENDS[k], 0, &b) != HG_OK) continue;
        found++;
        hg_backend *cpu = open_backend("cpu"); /* a new one, since resonances stay from job to job
                                                */
        for (size_t i = 0; i < sizeof JOBS / sizeof *JOBS; i++) {
            if (argc > 2 && !strstr(JOBS[i].name, argv[2])) continue;
            outcome right = run(cpu, &JOBS[i]), o = run(b, &JOBS[i]);
            if (!compare(BACKENDS[k], &JOBS[i], &right, &o))
                printf("%s: refused: %s\n", BACKENDS[k], JOBS[i].name);
            free(right.bytes);
            free(o.bytes);
        }
        hg_backend_destroy(b);
        hg_backend_destroy(cpu);
    }
    if (!found) SKIP("no OpenCL and no Vulkan device");
    return test_done();
}
