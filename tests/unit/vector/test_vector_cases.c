/* Passes of the vector form as text: each file of tests/vector has a form, the passes to run, and
 * the form that they make of it.
 *
 *     ; what the case shows
 *     ; run: whole, pressure           passes of src/vector/pipeline.def; none: the form is read,
 * verified and printed module … lanes 8 … ; gives module …                         or "; error: …"
 *
 *     test_vector_cases [--update] [FILE …]     --update writes what the passes make into the files
 */
#include "support/text_cases.h"
#include "support/vector_text.h"
#include "test.h"
#include "vector/parse.h"

static hg_status run_passes(const char *text, vec_kernel *k) {
    char names[256], *rest = names;
    if (!text_cases_find(text, "run", names, sizeof names)) return HG_OK;
    for (char *name; (name = strtok_r(rest, ", ", &rest)) != NULL;) {
        vec_pass_id id = vec_pass_find(name);
        if (id == VEC_PASS_COUNT)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT, "there is no pass '%s'", name);
        HG_TRY(vec_pass_run(k, id));
        HG_TRY(vec_verify(k));
    }
    return HG_OK;
}

static void run_case(const char *name, const char *text, size_t length, hg_text *out) {
    kir_module *m = NULL;
    vec_kernel *k = NULL;
    hg_status status = vec_parse(text, length, NULL, &m, &k);
    if (status == HG_OK) status = vec_verify(k);
    if (status == HG_OK) status = run_passes(text, k);
    if (status == HG_OK) {
        vec_print(out, k);
        CHECK(vec_reads_back(k, name));
    } else {
        hg_text_addf(out, "; error: %s\n", hg_last_error()->message);
    }
    vec_kernel_destroy(k);
    kir_module_destroy(m);
}

int main(int argc, char **argv) {
    const text_cases set = {.program = "test_vector_cases",
                            .folder = "tests/vector",
                            .ending = ".vec",
                            .least = 12,
                            .run = run_case};
    return text_cases_main(&set, argc, argv);
}
