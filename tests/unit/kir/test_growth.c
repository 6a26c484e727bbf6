/* Programs of few bytes that become much kernel IR: what is above the bound ends in S05, by value
 * and before memory does. */
#include "test.h"

#include "isa/cfg.h"
#include "kir/build/build.h"
#include <hologram/program.h>

/* A program that the verifier takes; the text is freed. */
static hg_status lower(hg_text *text) {
    hg_program *program = NULL;
    hg_cfg *cfg = NULL;
    kir_module *m = NULL;
    hg_status status = hg_program_assemble(text->data, text->length, NULL, &program);
    if (status == HG_OK) status = hg_verify(program, NULL, NULL, &cfg);
    CHECK(status == HG_OK);
    if (status == HG_OK) status = kir_build(cfg, NULL, &m);
    CHECK((m != NULL) == (status == HG_OK));
    kir_module_destroy(m);
    hg_cfg_destroy(cfg);
    hg_program_release(program);
    hg_text_free(text);
    return status;
}

/* That many sums of 230 registers. */
static hg_status lower_sums(uint32_t count) {
    hg_text text = {0};
    hg_text_addf(&text, ".atlas 1\n.program t\n");
    for (uint32_t i = 10; i < 240; i++)
        hg_text_addf(&text, "    mov_imm.u32 r%u, 1\n", (unsigned)i);
    for (uint32_t i = 0; i < count; i++)
        hg_text_addf(&text, "    reduce.add.u32 r%u, r10, 230\n", (unsigned)(10 + i % 230));
    return lower(&text);
}

/* Functions that call the next one twice, the last one with a step: that many steps of the plan,
 * two to the power of height - 1. */
static hg_status lower_doubling(uint32_t height) {
    hg_text text = {0};
    hg_text_addf(&text,
                 ".atlas 1\n.program t\n.param r1 x buffer f32 in [8]\n    call @fn1\n    exit\n");
    for (uint32_t i = 1; i < height; i++)
        hg_text_addf(&text, "fn%u:\n    call @fn%u\n    call @fn%u\n    ret\n", i, i + 1, i + 1);
    hg_text_addf(&text, "fn%u:\n    parallel_reduce.f32 r13, r1, sum, 8\n    ret\n", height);
    return lower(&text);
}

/* 32 operations an instruction and 524,288 more. */
static void test_bound(void) {
    CHECK(lower_sums(2000) == HG_OK);
    CHECK(lower_sums(3000) == HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "S05");
    CHECK_TEXT(hg_last_error()->message,
               "'t' is too large when it is lowered: more than 627648 operations");
    CHECK(lower_doubling(8) == HG_OK);
    CHECK(lower_doubling(30) == HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "S05");
}

int main(void) {
    test_bound();
    return test_done();
}
