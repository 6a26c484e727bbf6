/* What objects of kernels call in the library: those functions that keep registers do, whatever the
 * function of the launch does with them, and get their arguments, on the stack too. What they
 * answer: kernels that fault, on each level (tests/unit/jit, the random programs). */
#include "native/compilers.def"
#include "native/helpers.h"
#include "test.h"
#include <hologram/vector.h>

#if NATIVE_ELF_X86_64

enum { VECTORS = 16, BYTES = 32, WORDS = 8 };

typedef struct registers {
    uint8_t vectors[VECTORS][BYTES];
    uint64_t words[WORDS]; /* rcx, rdx, rsi, rdi, r8, r9, r10, rax */
} registers;

static native_helper *find(const char *name) {
    for (const native_helper_row *row = native_helpers(); row->name; row++)
        if (strcmp(row->name, name) == 0) return row->at;
    CHECK_MESSAGE(false, "no %s", name);
    return NULL;
}

static uint64_t seen_lanes, seen_offset, seen_limit;
static bool has_avx;

static void on_fault(hgv_launch *launch, const hgv_site *site, uint64_t lane,
                     const uint64_t *values) {
    (void)launch;
    seen_lanes |= UINT64_C(1) << lane;
    seen_offset = values[0];
    seen_limit = site->limit;
    if (has_avx)
        __asm__ volatile(
            "vpcmpeqd %%xmm0, %%xmm0, %%xmm0\n\tvpcmpeqd %%xmm9, %%xmm9, %%xmm9\n\tvzeroall" ::
                : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                  "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    else
        __asm__ volatile("pxor %%xmm0, %%xmm0\n\tpxor %%xmm9, %%xmm9" ::: "xmm0", "xmm9");
    __asm__ volatile(
        "xorl %%ecx, %%ecx\n\txorl %%r8d, %%r8d\n\txorl %%r9d, %%r9d\n\txorl %%r10d, %%r10d" ::
            : "rcx", "r8", "r9", "r10");
}

/* Calls `at` with the words (and three more on the stack) and the vectors in registers, and writes
 * what they are afterwards. */
void call_with(native_helper *at, registers *r, const uint64_t *stack, uint64_t avx);
__asm__(".text\n"
        "call_with:\n"
        "    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %rbp\n"
        "    movq %rdi, %rax\n    movq %rsi, %rbx\n    movq %rcx, %r12\n"
        "    pushq 16(%rdx)\n    pushq 8(%rdx)\n    pushq (%rdx)\n"
        "    testq %r12, %r12\n    je 1f\n"
        "    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n    vmovdqu "
        "32*\\n(%rbx), %ymm\\n\n    .endr\n    jmp 2f\n"
        "1:  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n    movdqu "
        "32*\\n(%rbx), %xmm\\n\n    .endr\n"
        "2:  movq 512(%rbx), %rcx\n    movq 520(%rbx), %rdx\n    movq 528(%rbx), %rsi\n    movq "
        "536(%rbx), %rdi\n"
        "    movq 544(%rbx), %r8\n    movq 552(%rbx), %r9\n    movq 560(%rbx), %r10\n"
        "    callq *%rax\n"
        "    movq %rcx, 512(%rbx)\n    movq %rdx, 520(%rbx)\n    movq %rsi, 528(%rbx)\n    movq "
        "%rdi, 536(%rbx)\n"
        "    movq %r8, 544(%rbx)\n    movq %r9, 552(%rbx)\n    movq %r10, 560(%rbx)\n    movq "
        "%rax, 568(%rbx)\n"
        "    testq %r12, %r12\n    je 3f\n"
        "    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n    vmovdqu %ymm\\n, "
        "32*\\n(%rbx)\n    .endr\n    vzeroupper\n  "
        "  jmp 4f\n"
        "3:  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n    movdqu %xmm\\n, "
        "32*\\n(%rbx)\n    .endr\n"
        "4:  addq $24, %rsp\n"
        "    popq %rbp\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    ret\n");

static uint64_t word_of(const void *p) { return (uint64_t)(uintptr_t)p; }

static void fill(registers *r) {
    for (int i = 0; i < VECTORS; i++)
        for (int n = 0; n < BYTES; n++) r->vectors[i][n] = (uint8_t)(i * BYTES + n + 1);
}

static void test_check(void) {
    static const uint64_t index[4] = {0, 90, 96, UINT64_MAX};
    hgv_memory memory = {.size = 100, .valid = true};
    hgv_site site = {.code = 1, .size = 4, .input = -1};
    hgv_launch launch = {.fault = on_fault};
    registers r, before;
    fill(&r);
    const uint64_t words[WORDS] =
        {7, word_of(&memory), word_of(&site), word_of(&launch), word_of(index), 0, 11, 0},
                   stack[3] = {0, 4, 15};
    memcpy(r.words, words, sizeof words);
    before = r;
    seen_lanes = 0;
    call_with(find("hgv_check"), &r, stack, has_avx); /* 4 bytes at 4, 94, 100 and just below 4 of
                                                         100 bytes */
    CHECK_U64(r.words[7], 3);
    CHECK_U64(seen_lanes, UINT64_C(3) << 9);
    CHECK_U64(seen_limit, 100);
    CHECK(memcmp(r.words, before.words, 7 * sizeof *words) == 0);
    for (int i = 0; i < VECTORS; i++)
        CHECK_MESSAGE(memcmp(r.vectors[i], before.vectors[i], has_avx ? BYTES : 16) == 0,
                      "vector %d", i);
}

static void test_fault(void) {
    static const uint64_t values[2] = {77, 0};
    hgv_site site = {.code = 2, .input = -1};
    hgv_launch launch = {.fault = on_fault};
    registers r, before;
    fill(&r);
    const uint64_t words[WORDS] =
        {word_of(values), 5, word_of(&site), word_of(&launch), 8, 9, 10, 0},
                   stack[3] = {0};
    memcpy(r.words, words, sizeof words);
    before = r;
    seen_lanes = 0;
    call_with(find("hgv_fault"), &r, stack, has_avx);
    CHECK_U64(seen_lanes, UINT64_C(1) << 5);
    CHECK_U64(seen_offset, 77);
    CHECK(memcmp(r.words, before.words, 7 * sizeof *words) == 0);
    for (int i = 0; i < VECTORS; i++)
        CHECK_MESSAGE(memcmp(r.vectors[i], before.vectors[i], has_avx ? BYTES : 16) == 0,
                      "vector %d", i);
}

int main(void) {
    has_avx = __builtin_cpu_supports("avx") != 0;
    test_check();
    test_fault();
    return test_done();
}

#else

int main(void) { return test_done(); }

#endif
