/* Programs of few bytes that become much kernel IR: what is above the bound ends in S05, by value and before memory does. */
#include "test.h"

#include "isa/cfg.h"
#include "kir/build/build.h"
#include <hologram/program.h>

/* That many sums of 230 registers. */
static hg_status lower_sums(uint32_t count) {
    hg_text text = {0};
    hg_program *program = NULL;
    hg_cfg *cfg = NULL;
    kir_module *m = NULL;
    hg_text_addf(&text, ".atlas 1\n.program t\n");
    for (uint32_t i = 10; i < 240; i++) hg_text_addf(&text, "    mov_imm.u32 r%u, 1\n", (unsigned)i);
    for (uint32_t i = 0; i < count; i++) hg_text_addf(&text, "    reduce.add.u32 r%u, r10, 230\n", (unsigned)(10 + i % 230));
    hg_status status = hg_program_assemble(text.data, text.length, NULL, &program);
    if (status == HG_OK) status = hg_verify(program, NULL, NULL, &cfg);
    CHECK(status == HG_OK);
    if (status == HG_OK) status = kir_build(cfg, NULL, &m);
    CHECK((m != NULL) == (status == HG_OK));
    kir_module_destroy(m);
    hg_cfg_destroy(cfg);
    hg_program_release(program);
    hg_text_free(&text);
    return status;
}

/* 32 operations an instruction and 524,288 more. */
static void test_bound(void) {
    CHECK(lower_sums(2000) == HG_OK);
    CHECK(lower_sums(3000) == HG_ERROR_ISA);
    CHECK_TEXT(hg_last_error()->code, "S05");
    CHECK_TEXT(hg_last_error()->message, "'t' is too large when it is lowered: more than 627648 operations");
}

int main(void) {
    test_bound();
    return test_done();
}
