/* See helpers.h. What kernels do rarely, once for all objects instead of in each: faults, handles,
 * time, the order of blocks. Most are functions of include/hologram/vector.h, as objects call them.
 *
 * Those that keep registers leave all as they are but the result's and r11, so that no vector goes
 * to memory for the sake of a call that hardly happens. Objects enter them through native_keep. */
#include "native/helpers.h"
#include "base/base.h"
#include "base/compat.h"
#include "base/thread.h"
#include "native/compilers.def"

#if NATIVE_ELF_X86_64

#define HGV_LANES 8 /* its functions, which ask for some vectors */
#define HGV_BYTES 16
#include <hologram/vector.h>

#include <cpuid.h>

/* ---- time, faults ---- */

uint64_t native_go_on(hgv_launch *launch, uint64_t run) {
    if (launch->stopped || !launch->go_on(launch)) launch->stopped = true;
    return launch->stopped || !run;
}

uint64_t native_fault(hgv_launch *launch, const hgv_site *site, uint64_t lane,
                      const uint64_t *values) {
    launch->fault(launch, site, lane, values);
    return 0;
}

/* index: of each lane; NULL: lane i's is start + i * stride. */
uint64_t native_check(hgv_launch *launch, const hgv_site *site, const hgv_memory *m, uint64_t first,
                      const uint64_t *index, uint64_t start, uint64_t stride, int64_t disp,
                      uint64_t bits) {
    uint64_t places[64];
    for (uint32_t i = 0; !index && i < HG_COUNT_OF(places); i++) places[i] = start + i * stride;
    return hgv_check(launch, site, m, first, index ? index : places, disp, bits);
}

/* ---- handles ---- */

static uint8_t *base(hgv_launch *launch, uint64_t handle, uint32_t in_pool, uint32_t flat,
                     uint64_t *at) {
    return hgv_base(launch, handle, in_pool != 0, flat != 0, at);
}

static uint64_t check_open(hgv_launch *launch, const hgv_site *site, uint32_t flat, uint64_t first,
                           const uint64_t *handles, const uint64_t *index, int64_t disp,
                           uint64_t bits) {
    return hgv_check_open(launch, site, flat != 0, first, handles, index, disp, bits);
}

/* ---- blocks ---- */

static uint32_t coordinate(const hgv_launch *launch, uint32_t id, uint64_t lane) {
    return hgv_coordinate(launch, id, lane);
}

typedef void block_function(hgv_launch *launch, uint64_t begin, uint64_t end, uint32_t x,
                            uint32_t y, uint32_t z);

/* Whether the block that ran lets others follow. */
static bool goes_on(const hgv_launch *launch) {
    return !launch->stopped && !(launch->faulted && launch->phase == 0);
}

/* Runs the blocks of lanes begin to end - 1. Memory of a block that none of them reaches is not
 * cleared. */
static void blocks(hgv_launch *launch, uint64_t begin, uint64_t end, block_function *run,
                   uint64_t reaches_shared) {
    if (begin >= end) return;
    if (!reaches_shared) launch->shared.size = 0;
    for (hgv_block at = hgv_first_block(launch, begin, end);; hgv_next_block(launch, &at, end)) {
        hgv_begin_block(launch);
        run(launch, at.begin, at.end, at.x, at.y, at.z);
        if (at.end >= end || !goes_on(launch)) return;
    }
}

/* Turns of n lanes, a power of two, of a block of which `lanes` lanes start. */
static uint64_t turns(const hgv_launch *launch, uint64_t lanes, uint64_t n) {
    const uint64_t x = launch->block[0], shift = hg_ctz64(n);
    return lanes / x * ((x + n - 1) >> shift) + ((lanes % x + n - 1) >> shift);
}

/* The lanes of each turn that start, as the first word of what it keeps, which are `size` bytes. */
static void start_turns(const hgv_launch *launch, uint8_t *all, uint64_t size, uint64_t begin,
                        uint64_t end, uint64_t turns, uint64_t n) {
    uint64_t x = launch->block[0], first = begin, at = 0;
    for (uint64_t number = 0; number < turns; number++) {
        uint64_t row = x - at, left = end - first, lanes = row < left ? row : left;
        uint64_t run = lanes == 0 ? 0 : UINT64_MAX >> (64 - (lanes < n ? lanes : n));
        memcpy(all + number * size, &run, sizeof run);
        first += n < row ? n : row;
        at = n < row ? at + n : 0;
    }
}

/* ---- what keeps registers ---- */

/* Calls what r11 says with up to nine arguments and a result in rax. Of vectors the halves that the
 * calling convention promises are kept: xmm0 to xmm15, with AVX ymm0 to ymm15. Where no upper half
 * is in use (XGETBV of 1 tells: Intel 64 manual, volume 1, 13.6), they are clear again afterwards,
 * as code without AVX likes them. */
HG_ASSEMBLY(".text\n"
            ".p2align 4\n"
            ".type native_keep, @function\n"
            "native_keep:\n"
            "    pushq %rbp\n"
            "    movq %rsp, %rbp\n"
            "    pushq %rcx\n"
            "    pushq %rdx\n"
            "    pushq %rsi\n"
            "    pushq %rdi\n"
            "    pushq %r8\n"
            "    pushq %r9\n"
            "    pushq %r10\n"
            "    subq $544, %rsp\n" /* 16 vectors, and whether upper halves are kept */
            "    andq $-32, %rsp\n"
            "    movl native_keep_upper(%rip), %eax\n"
            "    cmpl $2, %eax\n"
            "    jne 1f\n"
            "    movl $1, %ecx\n"
            "    xgetbv\n"
            "    andl $4, %eax\n"
            "1:  movl %eax, 512(%rsp)\n"
            "    testl %eax, %eax\n"
            "    je 2f\n"
            "    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
            "    vmovups %ymm\\n, 32*\\n(%rsp)\n"
            "    .endr\n"
            "    vzeroupper\n"
            "    jmp 3f\n"
            "2:  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
            "    movups %xmm\\n, 32*\\n(%rsp)\n"
            "    .endr\n"
            "3:  movq -8(%rbp), %rcx\n"
            "    movq -16(%rbp), %rdx\n"
            "    subq $8, %rsp\n"
            "    pushq 32(%rbp)\n" /* the seventh to ninth argument; of functions with fewer
                                      whatever is there */
            "    pushq 24(%rbp)\n"
            "    pushq 16(%rbp)\n"
            "    callq *%r11\n"
            "    addq $32, %rsp\n"
            "    movq %rax, %r11\n"
            "    cmpl $0, 512(%rsp)\n"
            "    je 4f\n"
            "    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
            "    vmovups 32*\\n(%rsp), %ymm\\n\n"
            "    .endr\n"
            "    jmp 6f\n"
            "4:  cmpl $0, native_keep_upper(%rip)\n"
            "    je 5f\n"
            "    vzeroupper\n"
            "5:  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
            "    movups 32*\\n(%rsp), %xmm\\n\n"
            "    .endr\n"
            "6:  movq %r11, %rax\n"
            "    movq -8(%rbp), %rcx\n"
            "    movq -16(%rbp), %rdx\n"
            "    movq -24(%rbp), %rsi\n"
            "    movq -32(%rbp), %rdi\n"
            "    movq -40(%rbp), %r8\n"
            "    movq -48(%rbp), %r9\n"
            "    movq -56(%rbp), %r10\n"
            "    leave\n"
            "    ret\n"
            ".size native_keep, . - native_keep\n");

extern uint32_t native_keep_upper; /* 0: there are no upper halves; 1: they are kept always; 2:
                                      XGETBV tells whether they are in use */
uint32_t native_keep_upper;

static void measure(void) {
    unsigned a, b, c, d;
    if (!hg_cpu_supports("avx")) return;
    native_keep_upper = __get_cpuid_count(13, 1, &a, &b, &c, &d) && a & 4 ? 2 : 1;
}

/* The entry of a function for objects. */
#define KEEPING(name)                                                      \
    native_helper name##_keeping;                                          \
    HG_ASSEMBLY(".text\n"                                                  \
                ".p2align 4\n"                                             \
                ".type " #name "_keeping, @function\n" #name "_keeping:\n" \
                "    leaq " #name "(%rip), %r11\n"                         \
                "    jmp native_keep\n"                                    \
                ".size " #name "_keeping, . - " #name "_keeping\n")
KEEPING(native_go_on);
KEEPING(native_fault);
KEEPING(native_check);

const native_helper_row *native_helpers(void) {
    static const native_helper_row rows[] = {
        {"hgv_go_on", native_go_on_keeping},
        {"hgv_fault", native_fault_keeping},
        {"hgv_check", native_check_keeping},
        {"hgv_check_open", (native_helper *)check_open},
        {"hgv_base", (native_helper *)base},
        {"hgv_coordinate", (native_helper *)coordinate},
        {"hgv_blocks", (native_helper *)blocks},
        {"hgv_turns", (native_helper *)turns},
        {"hgv_start_turns", (native_helper *)start_turns},
        {NULL, NULL},
    };
    static hg_once_flag once = HG_ONCE_INIT;
    hg_once(&once, measure);
    return rows;
}

#endif
