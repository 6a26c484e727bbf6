/* Passes on kernel IR as text: each file of tests/kir has a module, the passes to run, and the
 * module that they make of it.
 *
 *     ; what the case shows
 *     ; run: simplify, uniformity      passes and stages of the pipeline, and bound_loops,
 * zero_bits (shown as comments); vector: the result is shown in vector form ; caps: i64 f64 what
 * the target has, for the passes of legalisation; all: everything ; device: block i64 memory8
 * options of the device form module … ; gives module …                         or "; error: …"
 *
 *     test_kir_cases [--update] [FILE …]     --update writes what the passes make into the files */
#include "kir/analysis/analysis.h"
#include "kir/parse.h"
#include "kir/pipeline/pipeline.h"
#include "support/kir_text.h"
#include "support/text_cases.h"
#include "support/vector_text.h"
#include "test.h"
#include "vector/vector.h"
#include <stdlib.h>

/* ---- options ---- */

typedef struct option {
    const char *word;
    bool *flag;
} option;

static bool set_options(const char *words, const option *options, size_t count, char *error,
                        size_t size) {
    char copy[256], *rest = copy;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
        size_t i = 0;
        while (i < count && strcmp(options[i].word, word) != 0) i++;
        if (i < count)
            *options[i].flag = true;
        else if (strcmp(word, "all") == 0)
            for (size_t k = 0; k < count; k++) *options[k].flag = true;
        else
            snprintf(error, size, "no option '%s'", word);
    }
    return !*error;
}

static bool read_options(const char *text, kir_caps *caps, kir_device_options *device, char *error,
                         size_t size) {
    char words[256];
    bool block = false, flat = false, distinct = false, written = false;
    const option of_caps[] = {{"i8", &caps->i8},
                              {"i16", &caps->i16},
                              {"i64", &caps->i64},
                              {"f64", &caps->f64},
                              {"fma32", &caps->fma32},
                              {"fma64", &caps->fma64},
                              {"half", &caps->half},
                              {"subnormals", &caps->subnormals},
                              {"dot4", &caps->dot4},
                              {"inlines", &caps->inlines},
                              {"long_code", &caps->long_code}};
    kir_device_target *t = &device->target;
    const option of_device[] = {{"block", &block},
                                {"flat", &flat},
                                {"addressed", &t->addressed},
                                {"i64", &t->i64},
                                {"memory8", &t->memory8},
                                {"memory16", &t->memory16},
                                {"memory64", &t->memory64},
                                {"shared8", &t->shared8},
                                {"shared16", &t->shared16},
                                {"shared64", &t->shared64},
                                {"atomic64", &t->atomic64},
                                {"shared_atomic64", &t->shared_atomic64},
                                {"small", &device->small},
                                {"proven", &device->proven},
                                {"whole_blocks", &device->whole_blocks},
                                {"at_origin", &device->at_origin},
                                {"written", &written},
                                {"hide_zeros", &device->hide_zeros},
                                {"hide_results", &device->hide_results},
                                {"alone", &device->alone},
                                {"distinct", &distinct}};
    caps->name = "case";
    t->max_arenas = 2;
    if (text_cases_find(text, "caps", words, sizeof words) &&
        !set_options(words, of_caps, HG_COUNT_OF(of_caps), error, size))
        return false;
    if (text_cases_find(text, "device", words, sizeof words) &&
        !set_options(words, of_device, HG_COUNT_OF(of_device), error, size))
        return false;
    device->distinct = distinct ? UINT64_MAX : 0;
    t->written_rounds = written ? 4 : 0;
    device->form = block ? KIR_FORM_BLOCK : KIR_FORM_FLAT;
    return true;
}

/* ---- passes ---- */

static void add_zero_bits(hg_text *out, const kir_module *m, const kir_side_table *zeros) {
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->type != KIR_VOID && v->op != KIR_CONST && kir_side_of(zeros, f)[v->id])
                hg_text_addf(out, "; @%s %%%u: %u zero bits\n", f->name, (unsigned)v->id,
                             (unsigned)kir_side_of(zeros, f)[v->id]);
}

static hg_status add_vector_form(hg_text *out, const kir_module *m) {
    vec_kernel *k;
    HG_TRY(vec_form(m, &(vec_options){.lanes = 8}, &k));
    hg_status status = vec_verify(k);
    vec_print(out, k);
    CHECK(vec_reads_back(k, "the vector form"));
    vec_kernel_destroy(k);
    return status;
}

static hg_status run_one(const char *name, const kir_compilation *c, kir_module **m,
                         hg_text *notes) {
    kir_pass_id id = kir_pass_find(name);
    bool owned = true;
    if (id < KIR_PASS_COUNT) return kir_pass_run(c, KIR_STAGE_COUNT, id, m, &owned);
    for (int stage = KIR_STAGE_KERNEL; stage < KIR_STAGE_COUNT; stage++) {
        if (strcmp(kir_stage_name((kir_stage)stage), name) != 0) continue;
        kir_module *made = NULL;
        HG_TRY(kir_pipeline_run(c, (kir_stage)stage, (kir_stage)stage, *m, &made));
        if (made != *m) kir_module_destroy(*m);
        *m = made;
        return HG_OK;
    }
    if (strcmp(name, "bound_loops") == 0) {
        kir_bound_loops(*m);
        return HG_OK;
    }
    if (strcmp(name, "zero_bits") == 0) {
        for (kir_function *f = (*m)->functions; f; f = f->next) kir_number(f);
        kir_side_table zeros;
        HG_TRY(kir_find_zero_bits(*m, &zeros));
        add_zero_bits(notes, *m, &zeros);
        kir_side_free(&zeros);
        return HG_OK;
    }
    if (strcmp(name, "vector") == 0) return add_vector_form(notes, *m);
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "there is no pass '%s'", name);
}

static hg_status run_passes(const char *text, kir_module **m, hg_text *notes) {
    kir_caps caps = {0};
    kir_device_options device = {0};
    kir_device_layout layout = {0};
    char names[256], error[128] = "";
    if (!read_options(text, &caps, &device, error, sizeof error))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s", error);
    kir_compilation c = {.caps = &caps, .device = &device, .layout = &layout, .verify = true};
    HG_TRY(kir_verify(*m));
    if (!text_cases_find(text, "run", names, sizeof names)) return HG_OK;
    hg_status status = HG_OK;
    char *rest = names;
    for (char *name; status == HG_OK && (name = strtok_r(rest, ", ", &rest)) != NULL;)
        status = run_one(name, &c, m, notes);
    kir_device_layout_free(&layout);
    return status;
}

/* What a case gives: a module, or the line of an error. */
static void run_case(const char *name, const char *text, size_t length, hg_text *out) {
    kir_module *m = NULL;
    hg_text notes = {0};
    hg_status status = kir_parse(text, length, NULL, &m);
    if (status == HG_OK) status = run_passes(text, &m, &notes);
    if (status == HG_OK) {
        if (!strstr(text, ", vector\n") && !strstr(text, ": vector\n")) kir_print(out, m);
        if (notes.length) hg_text_add(out, notes.data, notes.length);
        CHECK_MESSAGE(kir_reads_back(m, name), "%s: the result does not read back", name);
    } else {
        hg_text_addf(out, "; error: %s\n", hg_last_error()->message);
    }
    hg_text_free(&notes);
    kir_module_destroy(m);
}

int main(int argc, char **argv) {
    const text_cases set = {.program = "test_kir_cases",
                            .folder = "tests/kir",
                            .ending = ".kir",
                            .least = 30,
                            .run = run_case};
    return text_cases_main(&set, argc, argv);
}
