/* Passes on kernel IR as text: each file of tests/kir has a module, the passes to run, and the module that they make of it.
 *
 *     ; what the case shows
 *     ; run: simplify, uniformity      passes and stages of the pipeline, and bound_loops, zero_bits (shown as comments); vector: the
 *                                      result is shown in vector form
 *     ; caps: i64 f64                  what the target has, for the passes of legalisation; all: everything
 *     ; device: block i64 memory8      options of the device form
 *     module …
 *     ; gives
 *     module …                         or "; error: …"
 *
 *     test_kir_cases [--update] [FILE …]     --update writes what the passes make into the files */
#include "kir/analysis/analysis.h"
#include "kir/parse.h"
#include "kir/pipeline/pipeline.h"
#include "support/kir_text.h"
#include "test.h"
#include "vector/vector.h"
#include <dirent.h>
#include <stdlib.h>

static const char GIVES[] = "\n; gives\n";

/* ---- options ---- */

typedef struct option {
    const char *word;
    bool *flag;
} option;

/* The rest of the line that begins with "; KEY:", in buffer; false: there is none. */
static bool find_line(const char *text, const char *key, char *buffer, size_t size) {
    char head[32];
    snprintf(head, sizeof head, "; %s:", key);
    const char *at = strstr(text, head);
    if (!at) return false;
    at += strlen(head);
    snprintf(buffer, size, "%.*s", (int)strcspn(at, "\n"), at);
    return true;
}

static bool set_options(const char *words, const option *options, size_t count, char *error, size_t size) {
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

static bool read_options(const char *text, kir_caps *caps, kir_device_options *device, char *error, size_t size) {
    char words[256];
    bool block = false, flat = false, distinct = false, written = false;
    const option of_caps[] = {{"i8", &caps->i8},       {"i16", &caps->i16},     {"i64", &caps->i64},   {"f64", &caps->f64},
                              {"fma32", &caps->fma32}, {"fma64", &caps->fma64}, {"half", &caps->half}, {"subnormals", &caps->subnormals},
                              {"dot4", &caps->dot4}};
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
                                {"alone", &device->alone},
                                {"distinct", &distinct}};
    caps->name = "case";
    t->max_arenas = 2;
    if (find_line(text, "caps", words, sizeof words) && !set_options(words, of_caps, HG_COUNT_OF(of_caps), error, size)) return false;
    if (find_line(text, "device", words, sizeof words) && !set_options(words, of_device, HG_COUNT_OF(of_device), error, size)) return false;
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
                hg_text_addf(out, "; @%s %%%u: %u zero bits\n", f->name, (unsigned)v->id, (unsigned)kir_side_of(zeros, f)[v->id]);
}

static hg_status add_vector_form(hg_text *out, const kir_module *m) {
    vec_kernel *k;
    HG_TRY(vec_form(m, &(vec_options){.lanes = 8}, &k));
    hg_status status = vec_verify(k);
    vec_print(out, k);
    vec_kernel_destroy(k);
    return status;
}

static hg_status run_one(const char *name, const kir_compilation *c, kir_module **m, hg_text *notes) {
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
    if (!read_options(text, &caps, &device, error, sizeof error)) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s", error);
    kir_compilation c = {.caps = &caps, .device = &device, .layout = &layout, .verify = true};
    HG_TRY(kir_verify(*m));
    if (!find_line(text, "run", names, sizeof names)) return HG_OK;
    hg_status status = HG_OK;
    char *rest = names;
    for (char *name; status == HG_OK && (name = strtok_r(rest, ", ", &rest)) != NULL;) status = run_one(name, &c, m, notes);
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
        if (!notes.length || strncmp(notes.data, "vector form", 11) != 0) kir_print(out, m);
        if (notes.length) hg_text_add(out, notes.data, notes.length);
        CHECK_MESSAGE(kir_reads_back(m, name), "%s: the result does not read back", name);
    } else {
        hg_text_addf(out, "; error: %s\n", hg_last_error()->message);
    }
    hg_text_free(&notes);
    kir_module_destroy(m);
}

/* ---- differences ---- */

enum { MOST_LINES = 2000 };
typedef struct lines {
    const char *at[MOST_LINES + 1];
    uint32_t count;
} lines;

static void cut(lines *l, const char *text) {
    for (l->count = 0; *text && l->count < MOST_LINES; l->count++) {
        l->at[l->count] = text;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    l->at[l->count] = text;
}

static size_t bytes_of(const lines *l, uint32_t i) { return (size_t)(l->at[i + 1] - l->at[i]); }
static bool equal(const lines *a, uint32_t i, const lines *b, uint32_t k) {
    return bytes_of(a, i) == bytes_of(b, k) && memcmp(a->at[i], b->at[k], bytes_of(a, i)) == 0;
}

/* Lines that only one of the texts has, by a longest common subsequence. */
static void show_difference(const char *expected, const char *got) {
    static lines a, b;
    cut(&a, expected);
    cut(&b, got);
    uint32_t width = b.count + 1;
    uint16_t *common = calloc((size_t)(a.count + 1) * width, sizeof *common);
    if (!common) return;
    for (uint32_t i = a.count; i-- > 0;)
        for (uint32_t k = b.count; k-- > 0;) {
            uint16_t down = common[(i + 1) * width + k], right = common[i * width + k + 1];
            common[i * width + k] = equal(&a, i, &b, k) ? (uint16_t)(common[(i + 1) * width + k + 1] + 1) : down > right ? down : right;
        }
    for (uint32_t i = 0, k = 0; i < a.count || k < b.count;) {
        if (i < a.count && k < b.count && equal(&a, i, &b, k)) {
            i++;
            k++;
        } else if (i < a.count && (k == b.count || common[(i + 1) * width + k] >= common[i * width + k + 1])) {
            fprintf(stderr, "  -%.*s", (int)bytes_of(&a, i), a.at[i]);
            i++;
        } else {
            fprintf(stderr, "  +%.*s", (int)bytes_of(&b, k), b.at[k]);
            k++;
        }
    }
    free(common);
}

/* ---- other compilers ---- */

#ifdef __clang__
static int by_line(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The lines of a text without numbers, which follow the order, sorted. */
static char *bag_of(const char *text) {
    static lines l;
    char *copies[MOST_LINES];
    hg_text bag = {0};
    cut(&l, text);
    for (uint32_t i = 0; i < l.count; i++) {
        char *to = copies[i] = calloc(1, bytes_of(&l, i) + 1);
        for (const char *from = l.at[i]; from < l.at[i + 1]; from++)
            if (*from < '0' || *from > '9') *to++ = *from;
    }
    qsort(copies, l.count, sizeof *copies, by_line);
    for (uint32_t i = 0; i < l.count; i++) {
        hg_text_add(&bag, copies[i], strlen(copies[i]));
        free(copies[i]);
    }
    return bag.data;
}
#endif

/* C leaves the order open in which arguments are evaluated, so that passes built by another compiler than the one of the files write
 * independent operations in another order. */
static bool is_same(const char *expected, const char *got) {
    if (strcmp(expected, got) == 0) return true;
#ifdef __clang__
    char *a = bag_of(expected), *b = bag_of(got);
    bool same = a && b && strcmp(a, b) == 0;
    hg_free(a);
    hg_free(b);
    return same;
#else
    return false;
#endif
}

/* ---- files ---- */

static char *read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    hg_text text = {0};
    char buffer[4096];
    hg_text_add(&text, "", 0);
    for (size_t n; f && (n = fread(buffer, 1, sizeof buffer, f)) > 0;) hg_text_add(&text, buffer, n);
    if (f) fclose(f);
    return f ? text.data : NULL;
}

static void write_file(const char *path, const char *given, size_t length, const hg_text *got) {
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(given, 1, length, f) == length && fwrite(GIVES, 1, sizeof GIVES - 1, f) == sizeof GIVES - 1 &&
              fwrite(got->data, 1, got->length, f) == got->length;
    if (f && fclose(f)) ok = false;
    CHECK_MESSAGE(ok, "cannot write %s", path);
}

static void check_file(const char *path, bool update) {
    char *text = read_file(path);
    CHECK_MESSAGE(text, "cannot read %s", path);
    if (!text) return;
    char *gives = strstr(text, GIVES);
    const char *expected = gives ? gives + sizeof GIVES - 1 : "";
    if (gives) *gives = 0;
    size_t length = strlen(text);
    while (!gives && length && text[length - 1] == '\n') text[--length] = 0;
    hg_text got = {0};
    run_case(path, text, length, &got);
    bool same = got.data && is_same(expected, got.data);
    if (update && !same && got.data) {
        write_file(path, text, length, &got);
    } else {
        CHECK_MESSAGE(same, "%s: another result (build/release/tests/test_kir_cases %s)", path, path);
        if (!same && got.data) show_difference(expected, got.data);
    }
    hg_text_free(&got);
    hg_free(text);
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void check_folder(const char *folder, bool update) {
    char *names[1024];
    size_t count = 0;
    DIR *dir = opendir(folder);
    CHECK_MESSAGE(dir, "cannot read %s", folder);
    for (const struct dirent *e; dir && count < HG_COUNT_OF(names) && (e = readdir(dir)) != NULL;) {
        const char *end = strrchr(e->d_name, '.');
        if (end && strcmp(end, ".kir") == 0) names[count++] = strdup(e->d_name);
    }
    if (dir) closedir(dir);
    CHECK_MESSAGE(count >= 30, "%zu cases in %s", count, folder);
    qsort(names, count, sizeof *names, by_text);
    for (size_t i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        check_file(path, update);
        free(names[i]);
    }
}

int main(int argc, char **argv) {
    bool update = argc > 1 && strcmp(argv[1], "--update") == 0;
    int files = update ? 2 : 1;
    for (int i = files; i < argc; i++) check_file(argv[i], update);
    if (files == argc) check_folder("tests/kir", update);
    return test_done();
}
