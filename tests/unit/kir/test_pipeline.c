/* The table of passes: every need is given by a pass before, facts are kept, a broken module is
 * found after the pass that broke it, and whoever looks on sees each pass once. */
#include "kir/pipeline/pipeline.h"
#include "isa/cfg.h"
#include "kir/builder.h"
#include "test.h"
#include <hologram/program.h>
#include <string.h>

static const char TEXT[] =
    ".atlas 1\n.program p\n.param r1 x buffer f32 inout [n]\n.param r4 n u64\n.lanes n\n"
    "    mov_imm.u32 r250, 2\n    shl.u64 r0, r255, r250\n    ldg.f32 r10, [r1 + r0]\n    exp.f32 "
    "r10, r10\n"
    "    stg.f32 [r1 + r0], r10\n    exit\n";

typedef struct seen {
    kir_stage stages[32];
    const char *names[32];
    uint32_t count;
} seen;

static void note(void *user, kir_stage stage, const kir_pass *pass, const kir_module *m,
                 uint64_t ns) {
    seen *s = user;
    (void)ns;
    CHECK(m != NULL && s->count < 32);
    s->stages[s->count] = stage;
    s->names[s->count++] = pass->name;
}

static void order_gives_what_passes_need(void) {
    uint32_t facts = 0, i;
    kir_stage stage = KIR_STAGE_PROGRAM, before = KIR_STAGE_PROGRAM;
    kir_pass_id id;
    bool used[KIR_PASS_COUNT] = {false};
    for (i = 0; kir_order_get(i, &stage, &id); i++) {
        const kir_pass *pass = kir_pass_get(id);
        CHECK(stage >= before);
        CHECK((pass->needs & ~facts) == 0);
        facts = (facts & ~pass->drops) | pass->gives;
        before = stage;
        used[id] = true;
    }
    CHECK(i > 0 && before == KIR_STAGE_DEVICE);
    for (int p = 0; p < KIR_PASS_COUNT; p++) {
        CHECK(used[p]);
        CHECK(kir_pass_find(kir_pass_get((kir_pass_id)p)->name) == (kir_pass_id)p);
    }
    CHECK(kir_pass_find("") == KIR_PASS_COUNT && kir_pass_find("nothing") == KIR_PASS_COUNT);
}

static kir_caps everything(void) {
    return (kir_caps){.i8 = true,
                      .i16 = true,
                      .i64 = true,
                      .f64 = true,
                      .fma32 = true,
                      .fma64 = true,
                      .subnormals = true,
                      .half = true};
}

static void a_program_goes_through_all_stages(void) {
    hg_program *program = NULL;
    hg_cfg *cfg = NULL;
    seen s = {.count = 0};
    kir_pass_watch watch = {note, &s};
    kir_caps caps = everything();
    kir_device_options device = {
        .target = {
            .addressed = true, .i64 = true, .memory8 = true, .memory16 = true, .memory64 = true}};
    kir_device_layout layout;
    kir_compilation c = {
        .caps = &caps, .device = &device, .layout = &layout, .verify = true, .watch = &watch};
    CHECK(hg_program_assemble(TEXT, sizeof TEXT - 1, NULL, &program) == HG_OK);
    CHECK(hg_verify(program, NULL, NULL, &cfg) == HG_OK);
    c.program = cfg;
    kir_module *high = NULL, *low = NULL, *form = NULL, *again = NULL;
    CHECK(kir_pipeline_run(&c, KIR_STAGE_PROGRAM, KIR_STAGE_PROGRAM, NULL, &high) == HG_OK);
    CHECK(kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_LOW, high, &low) == HG_OK &&
          low != high);
    CHECK(high->facts == (KIR_FACT_SIMPLE | KIR_FACT_HOISTED | KIR_FACT_SLOTS)); /* what works in
                                                                                    place works on
                                                                                    the module it
                                                                                    was given */
    CHECK(low->facts == (KIR_FACT_SIMPLE | KIR_FACT_SLOTS | KIR_FACT_LEGAL | KIR_FACT_HOISTED |
                         KIR_FACT_UNIFORMITY));
    CHECK(kir_pipeline_run(&c, KIR_STAGE_DEVICE, KIR_STAGE_DEVICE, low, &form) == HG_OK &&
          form != low);
    kir_device_layout_free(&layout);
    /* one line of the order a pass, but for what the module has already: the kernel of a program
     * without steps is simplified */
    uint32_t k = 0;
    kir_stage stage;
    kir_pass_id id;
    for (uint32_t i = 0; kir_order_get(i, &stage, &id); i++) {
        if (stage == KIR_STAGE_KERNEL && id == KIR_PASS_SIMPLIFY) continue;
        CHECK(k < s.count && s.stages[k] == stage &&
              strcmp(s.names[k], kir_pass_get(id)->name) == 0);
        k++;
    }
    CHECK(k == s.count);
    /* what a module has is not made again */
    s.count = 0;
    CHECK(kir_pipeline_run(&c, KIR_STAGE_KERNEL, KIR_STAGE_KERNEL, high, &again) == HG_OK &&
          again == high && s.count == 0);
    /* the device form of what is not legalised is refused */
    CHECK(kir_pipeline_run(&c, KIR_STAGE_DEVICE, KIR_STAGE_DEVICE, high, &again) ==
              HG_ERROR_INTERNAL &&
          again == NULL);
    CHECK(strstr(hg_last_error()->message, "'device'") != NULL);
    kir_module_destroy(form);
    kir_module_destroy(low);
    kir_module_destroy(high);
    hg_cfg_destroy(cfg);
    hg_program_release(program);
}

static void a_broken_module_is_found(void) {
    kir_caps caps = everything();
    kir_compilation c = {.caps = &caps, .verify = true};
    kir_module *m = kir_module_create("broken"), *out = NULL;
    kir_function *f = kir_function_create(m, "main", KIR_VOID);
    kir_builder b;
    kir_builder_init(&b, m, f);
    kir_var *x = kir_var_create(m, NULL, HG_TYPE_U32, 0, "x");
    kir_value *one = kir_const(&b, HG_TYPE_U64, 1), *two = kir_const(&b, HG_TYPE_U32, 2);
    kir_value *sum = kir_binary(&b, KIR_ADD, two, two);
    sum->args[1] = one; /* u32 + u64 */
    kir_set(&b, x, sum);
    CHECK(!b.failed);
    CHECK(kir_pipeline_run(&c, KIR_STAGE_LEGAL, KIR_STAGE_LEGAL, m, &out) == HG_ERROR_INTERNAL &&
          out == NULL);
    CHECK(strstr(hg_last_error()->message, "after pass 'inline'") != NULL);
    kir_module_destroy(m);
}

int main(void) {
    order_gives_what_passes_need();
    a_program_goes_through_all_stages();
    a_broken_module_is_found();
    return test_done();
}
