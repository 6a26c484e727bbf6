/* The public functions: text to one program, to the one of a name, to all.
 * Must not know: what kernels mean. */
#include "translators/json/kernel.h"

#include <stdio.h>
#include <string.h>

/* ---- the text ---- */

static hg_status report_fault(const hg_json_fault *f, const char *text, size_t length,
                              hg_diagnostics *d) {
    static const char *const codes[] = {"S02", "S01", "S03", "S02", "S05", "S05", "D02", "X01"};
    if (f->kind == HG_JSON_NO_MEMORY) return hg_fail_memory();
    hg_json_lines lines = {0};
    hg_place place = hg_json_place(&lines, text, length, f->offset, f->length);
    hg_diagnose(d, HG_SEVERITY_ERROR, codes[f->kind], place, f->hint, "%s", f->message);
    hg_status status = hg_fail(HG_ERROR_ISA, "%s", f->message);
    hg_error *record = hg_error_record();
    memcpy(record->code, codes[f->kind], 4);
    record->line = place.line;
    record->column = place.column;
    return status;
}

/* ---- one kernel ---- */

static void free_kernel(jk_kernel *k) {
    hg_arena_free(&k->arena);
    hg_free(k->name_table.all);
    hg_free(k->name_table.slots);
    hg_vec_free(&k->nodes);
    hg_vec_free(&k->tasks);
    hg_vec_free(&k->values);
    hg_vec_free(&k->blocks);
    hg_vec_free(&k->log);
    hg_free(k);
}

static jk_kernel *make_kernel(const hg_json_document *d, hg_diagnostics *diagnostics) {
    jk_kernel *k = hg_calloc(1, sizeof *k);
    if (!k) return NULL;
    k->document = d;
    k->diagnostics = diagnostics;
    k->name_table.all = hg_calloc(JK_MAX_NAMES, sizeof *k->name_table.all);
    k->name_table.slots = hg_calloc(JK_NAME_SLOTS, sizeof *k->name_table.slots);
    if (k->name_table.all && k->name_table.slots) return k;
    free_kernel(k);
    return NULL;
}

/* The kernel of the document at `root`; memory of the one before is used again. */
static hg_status translate_one(jk_kernel *k, uint32_t root, hg_program **program) {
    memset(k->name_table.slots, 0, JK_NAME_SLOTS * sizeof *k->name_table.slots);
    hg_arena_free(&k->arena);
    k->arena = (hg_arena){0};
    k->root = root;
    k->name = NULL;
    k->by_name = false;
    memset(&k->launch, 0, sizeof k->launch);
    k->name_table.count = k->name_table.params = 0;
    k->nodes.count = k->tasks.count = k->values.count = k->blocks.count = k->log.count = 0;
    k->errors = 0;
    jk_read_document(k);
    HG_TRY(jk_status(k));
    return k->by_name ? jk_lower_by_name(k, program) : jk_lower(k, program);
}

/* ---- documents ---- */

/* The kernel's name of a document, 0: it has none (translating it says why). */
static uint32_t name_of(const hg_json_document *d, uint32_t root) {
    uint32_t kernel = hg_json_member(d, root, "kernel"),
             name = kernel ? hg_json_member(d, kernel, "name") : 0;
    return name && hg_json_is_string(d, name) ? name : 0;
}

static hg_status report(jk_kernel *k, const char *code, uint32_t token, const char *hint,
                        const char *message) {
    jk_error(k, code, token, hint, "%s", message);
    return jk_status(k);
}

/* The document that is asked for; JK_NONE after an error. */
static uint32_t choose(jk_kernel *k, const char *wanted) {
    const hg_json_document *d = k->document;
    bool list = hg_json_kind_of(d, 0) == HG_JSON_ARRAY;
    uint32_t count = list ? hg_json_length(d, 0) : 1, found = JK_NONE;
    char names[512] = "kernels here:", message[300];
    size_t used = strlen(names);
    for (uint32_t at = list ? 1 : 0, i = 0; i < count; i++, at = hg_json_next(d, at)) {
        uint32_t name = name_of(d, at);
        if (!wanted && count == 1) return at;
        if (wanted && name && hg_json_string_is(d, name, wanted)) {
            if (found != JK_NONE) {
                (void)report(k, "D02", name, NULL, "two kernels have this name");
                return JK_NONE;
            }
            found = at;
        }
        if (name && used < sizeof names - 80)
            used += (size_t)snprintf(names + used, sizeof names - used, " %s",
                                     jk_show(k, name).text);
    }
    if (found != JK_NONE) return found;
    if (count == 0) {
        (void)report(k, "N03", 0, NULL, "there is no kernel in this array");
    } else if (wanted) {
        snprintf(message, sizeof message, "there is no kernel '%.200s'", wanted);
        (void)report(k, "D03", 0, names, message);
    } else {
        snprintf(message, sizeof message, "%u kernels: choose one by its name", (unsigned)count);
        (void)report(k, "N04", 0, names, message);
    }
    return JK_NONE;
}

/* Reads the text and runs `with` over it. */
static hg_status with_document(const char *text, size_t length, hg_diagnostics *diagnostics,
                               hg_status (*with)(jk_kernel *k, void *user), void *user) {
    hg_json_document document;
    hg_json_fault fault;
    if (!hg_json_read(&document, text, length, 0, &fault))
        return report_fault(&fault, text, length, diagnostics);
    jk_kernel *k = make_kernel(&document, diagnostics);
    hg_status status = k ? with(k, user) : hg_fail_memory();
    if (k) free_kernel(k);
    hg_json_document_free(&document);
    return status;
}

typedef struct wanted {
    const char *name;
    hg_program *program;
} wanted;

static hg_status translate_wanted(jk_kernel *k, void *user) {
    wanted *w = user;
    uint32_t root = choose(k, w->name);
    return root == JK_NONE ? jk_status(k) : translate_one(k, root, &w->program);
}

hg_status hg_json_to_isa_translate_named(const char *text, size_t length, const char *kernel,
                                         hg_diagnostics *diagnostics, hg_program **program) {
    HG_ENTRY;
    if (!program || (!text && length))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "translate: %s is NULL",
                       program ? "text" : "program");
    wanted w = {kernel, NULL};
    hg_status status = with_document(text, length, diagnostics, translate_wanted, &w);
    *program = status == HG_OK ? w.program : NULL;
    return status;
}

hg_status hg_json_to_isa_translate(const char *text, size_t length, hg_diagnostics *diagnostics,
                                   hg_program **program) {
    HG_ENTRY;
    return hg_json_to_isa_translate_named(text, length, NULL, diagnostics, program);
}

/* A document with an empty body is the same thing. */
hg_status hg_json_to_isa_translate_simple_op(const char *operation, hg_type type,
                                             hg_program **program) {
    HG_ENTRY;
    if (!operation || !program)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "translate: %s is NULL",
                       operation ? "program" : "operation");
    *program = NULL;
    hg_text text = {0};
    char name[JK_WORD_BYTES];
    hg_status status = jk_write_operation(operation, type, name, &text);
    bool known = status == HG_OK;
    if (known) status = hg_json_to_isa_translate(text.data, text.length, NULL, program);
    hg_text_free(&text);
    if (known && status == HG_ERROR_ISA) { /* the caller knows of no document */
        (void)hg_fail(status, "operation %s has no kernel for type %s", name, hg_type_name(type));
        memcpy(hg_error_record()->code, "N06", 4);
    }
    return status;
}

/* ---- all ---- */

typedef struct all {
    hg_program **programs;
    size_t count;
} all;

void hg_json_programs_free(hg_program **programs, size_t count) {
    HG_ENTRY;
    for (size_t i = 0; programs && i < count; i++) hg_program_release(programs[i]);
    hg_free(programs);
}

static hg_status translate_each(jk_kernel *k, void *user) {
    all *a = user;
    const hg_json_document *d = k->document;
    bool list = hg_json_kind_of(d, 0) == HG_JSON_ARRAY;
    a->count = list ? hg_json_length(d, 0) : 1;
    a->programs = hg_calloc(a->count + 1, sizeof(hg_program *));
    if (!a->programs) return hg_fail_memory();
    hg_status first = HG_OK;
    hg_error kept;
    uint64_t failed = 0;
    for (uint32_t at = list ? 1 : 0, i = 0; i < a->count; i++, at = hg_json_next(d, at)) {
        hg_status status = translate_one(k, at, &a->programs[i]);
        if (status == HG_ERROR_OUT_OF_MEMORY) return status;
        if (status == HG_OK) continue;
        if (!failed++) {
            first = status;
            kept = *hg_error_record();
        }
        if (failed == JK_MOST_ERRORS) break; /* a list of garbage: enough is said */
    }
    if (first != HG_OK) *hg_error_record() = kept;
    return first;
}

hg_status hg_json_to_isa_translate_all(const char *text, size_t length, hg_diagnostics *diagnostics,
                                       hg_program ***programs, size_t *count) {
    HG_ENTRY;
    if (!programs || !count || (!text && length))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "translate: a pointer is NULL");
    all a = {0};
    hg_status status = with_document(text, length, diagnostics, translate_each, &a);
    if (status != HG_OK) {
        hg_json_programs_free(a.programs, a.count);
        a = (all){0};
    }
    *programs = a.programs;
    *count = a.count;
    return status;
}
