/* The optimiser without memory: every allocation fails once; nothing is lost and the error says so.
 */
#include "support/failing_allocator.h"
#include "support/program_text.h"
#include "test.h"
#include <hologram/hologram.h>

static failing_allocator memory;

/* Every pass finds something in one of these. */
static const char *const TEXTS[] = {
    ".atlas 1\n.program p\n.param r1 x buffer f32 inout [n]\n.param r7 n u64\nparallel_map.f32 r1, "
    "r1, neg, r7\nparallel_map.f32 r1, r1, "
    "relu, r7\n",
    ".atlas 1\n.program q\n.param r4 y buffer u32 inout [64]\n.param r2 n u32\nmov_imm.u32 r9, "
    "3\nmov.u32 r12, r2\nmul.u32 r10, r9, "
    "r9\nseteq.u32 p0, r10, "
    "r9\n"
    "bra.p0 @e\nmul.u32 r11, r2, r10\nadd.u32 r11, r11, r2\nmov.u32 r12, r11\ncall @f\ne: stg.u32 "
    "[buf(r4)], r12\nexit\n"
    "f: xor.u32 r13, r2, r2\nret\n"};

/* Everything from text to the optimised program; counts the programs that were optimised. */
static hg_status optimise_something(const char *text, hg_optimizer *optimizer) {
    hg_program *source = NULL, *program = NULL;
    hg_status status = hg_program_assemble(text, strlen(text), NULL, &source);
    if (status == HG_OK)
        status = optimizer ? hg_optimizer_optimize(optimizer, source, &program)
                           : hg_program_optimize(source, NULL, NULL, &program);
    CHECK((status == HG_OK) == (program != NULL));
    CHECK(status != HG_OK || program != source);
    hg_program_release(program);
    hg_program_release(source);
    return status;
}

static void test_out_of_memory(const char *text) {
    const uint64_t live = memory.live;
    uint64_t k = 0;
    for (bool done = false; !done && k < 20000; k++) {
        allow_allocations(&memory, k);
        hg_status status = optimise_something(text, NULL);
        done = status == HG_OK;
        CHECK_MESSAGE(done || status == HG_ERROR_OUT_OF_MEMORY, "allocation %" PRIu64 ": %s", k,
                      hg_last_error_text());
        if (k > 60) CHECK_U64(memory.live, live); /* before, tables that are made once may be new */
    }
    CHECK(k > 60 && k < 20000);
    allow_allocations(&memory, UINT64_MAX);
}

static void test_remembering(void) {
    hg_optimizer *optimizer = NULL;
    for (uint64_t k = 0; k < 3; k++) {
        allow_allocations(&memory, k);
        hg_status status = hg_optimizer_create(&optimizer);
        CHECK((status == HG_OK) == (optimizer != NULL) &&
              (status == HG_OK || status == HG_ERROR_OUT_OF_MEMORY));
        if (status != HG_OK) continue;
        for (uint64_t i = 0; i < 20000; i += 7) {
            allow_allocations(&memory, i);
            if (optimise_something(TEXTS[1], optimizer) == HG_OK) break;
            CHECK_U64(hg_optimizer_len(optimizer), 0);
        }
        CHECK_U64(hg_optimizer_len(optimizer), 1);
        hg_optimizer_destroy(optimizer);
        optimizer = NULL;
    }
    allow_allocations(&memory, UINT64_MAX);
}

int main(void) {
    hg_allocator hooks = {.size = sizeof hooks,
                          .user = &memory,
                          .reallocate = failing_reallocate,
                          .release = failing_release};
    CHECK(hg_set_allocator(&hooks) == HG_OK);
    allow_allocations(&memory, UINT64_MAX);
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        CHECK(optimise_something(TEXTS[i], NULL) == HG_OK);
        test_out_of_memory(TEXTS[i]);
    }
    test_remembering();
    return test_done();
}
