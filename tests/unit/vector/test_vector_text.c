/* The vector form of the operators and programs that are there reads back as itself: as it is
 * written, and with what passes say of it. Passes run alone, and in random orders; what they say
 * does not depend on the order. Errors in texts are found and say where. */
#include "io/io.h"
#include "isa/cfg.h"
#include "kir/pipeline/pipeline.h"
#include "plan/plan.h"
#include "support/vector_text.h"
#include "test.h"
#include "vector/parse.h"
#include <dirent.h>
#include <hologram/operators.h>
#include <hologram/program.h>

static uint32_t forms;

static hg_text text_of(vec_kernel *k) {
    hg_text text = {0};
    vec_print(&text, k);
    return text;
}

/* Each pass alone, then all of them in an order that the seed chooses, twice. */
static void check_orders(const kir_module *low, const vec_options *options, const char *expected,
                         const char *what, uint64_t seed) {
    for (int alone = 0; alone <= VEC_PASS_COUNT; alone++) {
        vec_kernel *k = NULL;
        const vec_options plain = {
            .lanes = options->lanes, .blocks = options->blocks, .plain = true};
        CHECK(vec_form(low, &plain, &k) == HG_OK);
        if (!k) return;
        for (int i = 0; i < 4 * VEC_PASS_COUNT && alone == VEC_PASS_COUNT;
             i++, seed = seed * 6364136223846793005u + 1442695040888963407u)
            CHECK(vec_pass_run(k, (vec_pass_id)((seed >> 33) % VEC_PASS_COUNT)) == HG_OK);
        for (int i = 0; i < VEC_PASS_COUNT && alone == VEC_PASS_COUNT; i++)
            CHECK(vec_pass_run(k, (vec_pass_id)i) == HG_OK);
        if (alone < VEC_PASS_COUNT) CHECK(vec_pass_run(k, (vec_pass_id)alone) == HG_OK);
        CHECK_MESSAGE(vec_verify(k) == HG_OK, "%s: %s", what, hg_last_error_text());
        CHECK(vec_reads_back(k, what));
        if (alone == VEC_PASS_COUNT) {
            hg_text text = text_of(k);
            CHECK_MESSAGE(text.data && strcmp(text.data, expected) == 0,
                          "%s: another order of passes makes another form", what);
            hg_text_free(&text);
        }
        vec_kernel_destroy(k);
    }
}

static void check_kernel(const kir_module *kernel, const char *what) {
    kir_caps caps;
    kir_module *low = NULL;
    vec_caps(&caps);
    const hg_status status = kir_pipeline_run(&(kir_compilation){.caps = &caps}, KIR_STAGE_KERNEL,
                                              KIR_STAGE_LOW, (kir_module *)(uintptr_t)kernel, &low);
    CHECK_MESSAGE(status == HG_OK, "%s: %s", what, hg_last_error_text());
    if (status != HG_OK) return;
    hg_text first = {0};
    /* Without blocks, by blocks, and without again: the same as before. */
    for (uint32_t i = 0; i < 3; i++) {
        const vec_options options = {.lanes = i == 1 ? 32 : 8, .blocks = i == 1};
        vec_kernel *k = NULL;
        if (vec_form(low, &options, &k) != HG_OK) continue; /* a kernel that has no form */
        CHECK_MESSAGE(vec_verify(k) == HG_OK, "%s: %s", what, hg_last_error_text());
        CHECK(vec_reads_back(k, what));
        hg_text text = text_of(k);
        if (text.data && i < 2) check_orders(low, &options, text.data, what, ++forms);
        if (i == 2)
            CHECK_MESSAGE(first.data && text.data && strcmp(first.data, text.data) == 0,
                          "%s: a form by blocks changes what comes behind it", what);
        if (i == 0)
            first = text;
        else
            hg_text_free(&text);
        vec_kernel_destroy(k);
    }
    hg_text_free(&first);
    if (low != kernel) kir_module_destroy(low);
}

static void check_program(const hg_program *program, const char *what) {
    hg_cfg *cfg = NULL;
    kir_module *module = NULL;
    hg_plan *plan = NULL;
    hg_status status = hg_verify(program, NULL, NULL, &cfg);
    if (status == HG_OK)
        status = kir_pipeline_run(&(kir_compilation){.program = cfg}, KIR_STAGE_PROGRAM,
                                  KIR_STAGE_PROGRAM, NULL, &module);
    if (status == HG_OK) status = plan_build(module, PLAN_READS_INPUTS, &plan);
    hg_cfg_destroy(cfg);
    if (status != HG_OK) {
        kir_module_destroy(module);
        return; /* a program for whole arrays, or one that is wrong on purpose */
    }
    for (uint64_t i = 0; i < plan->kernels.count; i++)
        check_kernel(plan->kernels.data[i].module, what);
    plan_destroy(plan);
}

/* Every `every`-th operator: they are many, and much alike. */
static void test_operators(size_t every) {
    for (size_t i = 0; hg_operator_at(i); i += every) {
        hg_program *program = NULL;
        CHECK(hg_operator_program(hg_operator_at(i), &program) == HG_OK);
        if (program) check_program(program, hg_operator_at(i)->operation);
        hg_program_release(program);
    }
}

static void test_examples(void) {
    char path[600];
    DIR *dir = opendir(HG_SOURCE_DIR "/examples/programs");
    CHECK(dir);
    for (const struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        const char *end = strrchr(e->d_name, '.');
        hg_bytes bytes = {0};
        hg_program *program = NULL;
        if (!end || strcmp(end, ".atlas") != 0) continue;
        snprintf(path, sizeof path, "%s/examples/programs/%s", HG_SOURCE_DIR, e->d_name);
        CHECK(hg_file_read(path, 1 << 20, &bytes) == HG_OK);
        if (hg_program_assemble((const char *)bytes.data, bytes.length, NULL, &program) == HG_OK)
            check_program(program, e->d_name);
        hg_program_release(program);
        hg_bytes_free(&bytes);
    }
    if (dir) closedir(dir);
}

/* ---- errors ---- */

static const char FORM[] = "module t\n"
                           "input 0: u64 param 1 buffer \"x\"\n"
                           "slot 0: buffer input 0 read written\n"
                           "lanes 8\n"
                           "turn f0 \"main\" () {\n"
                           "  $0: u64 = first\n"
                           "  %1: u64 = ramp by 4 $0\n"
                           "  LINE\n"
                           "}\n";

static void refused(const char *line, const char *why) {
    hg_text text = {0};
    kir_module *m = NULL;
    vec_kernel *k = NULL;
    const char *at = strstr(FORM, "LINE");
    hg_text_addf(&text, "%.*s%s%s", (int)(at - FORM), FORM, line, at + 4);
    hg_status status = vec_parse(text.data, text.length, NULL, &m, &k);
    if (status == HG_OK) status = vec_verify(k);
    CHECK_MESSAGE(status != HG_OK, "'%s' is taken", line);
    CHECK_MESSAGE(status == HG_OK || strstr(hg_last_error_text(), why),
                  "'%s': '%s' does not say '%s'", line, hg_last_error_text(), why);
    CHECK((status == HG_ERROR_ISA) == (k == NULL));
    vec_kernel_destroy(k);
    kir_module_destroy(m);
    hg_text_free(&text);
}

static void test_errors(void) {
    refused("what", "line 8, column 3: expected an operation, var, inst or '}', got 'what'");
    refused("%2: u32 = what", "expected an operation, got 'what'");
    refused("%1: u64 = ramp by 4 $0", "a value of number 1 is there already");
    refused("%2: u64 = add %1, $7", "there is no value '$7' before this one");
    refused("%2: u64 = add %1, %0", "there is no value '%0' before this one");
    refused("%2: u64 = add %1", "wrong number of arguments");
    refused("$2: u64 = add %1, $0", "one and each mixed up");
    refused("%2: u32 = add %1, $0", "differs from the argument's type");
    refused("%2: u32 = load buffer 1 row [$0]", "no such slot");
    refused("%2: u32 = load buffer 0 row [%1]", "does not fit the reach");
    refused("%2: u32 = load buffer 0 row [$0] {bytes 2}", "another size");
    refused("%2: u32 = load buffer 0 row [$0] {what}", "a field of the operation");
    refused("%2: u32 = load flat each [%1]", "open, or not, where that cannot be");
    refused("store buffer 0 row [$0], %1 where $0", "a mask that is none");
    refused("set m0, %1", "there is no variable 'm0'");
    refused("var m1: each bool", "there is no variable of number 0");
    refused("var m0: each u32", "a mask of another type");
    refused("var v0: one u32", "'s' expected");
    refused("leave end", "a mask is missing");
    refused("break", "outside a loop");
    refused("turns {\n  }", "not in a kernel of blocks");
    refused("if $0 {\n  }", "not one bool");
    refused("if $0 {", "expected '}', got the end of the text");
    refused("call f1 %1", "there is no function f1");
    refused("fault_if F7 %1", "a fault");
    refused("fault_if F07 %1", "no bool");
    refused("%2: u64 = id lane_idx_q", "expected an id");
    refused("$2: u64 = const 99999999999999999999", "");
    refused("$2: u32 = atomic.add buffer 0 each [%1], %1", "");
    refused("var s0: one u64\n  $2: u64 = get s0\n  set s0, %1",
            "an element for each lane in a variable that is one");
    refused("break\n  $2: u64 = first", "something follows it");
}

int main(int argc, char **argv) {
    test_errors();
    test_examples();
    test_operators(argc > 1 && strcmp(argv[1], "--all") == 0 ? 1 : 9);
    CHECK_MESSAGE(forms >= 40, "%u forms", (unsigned)forms);
    return test_done();
}
