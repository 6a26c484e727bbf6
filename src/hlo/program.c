/* Lane programs as texts of the language: lines, variables, blocks, loads and stores. */
#include "hlo/lower.h"
#include <stdio.h>
#include <string.h>

void shlo_no_memory(shlo_lower *w) {
    if (w->status == HG_OK) w->status = hg_fail_memory();
}

void shlo_refuse(shlo_lower *w, const char *format, ...) {
    static const shlo_word START = {.text = "", .line = 1, .column = 1};
    char message[300];
    va_list args;
    if (w->status != HG_OK) return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const shlo_word *at = w->op ? &w->op->name : &START;
    w->status = shlo_mistake(w->d, "G01", at, "%.*s%s%s", at->length > 60 ? 60 : (int)at->length,
                             at->text, w->op ? ": " : "", message);
}

void shlo_refuse_call(shlo_lower *w, hg_status status, const char *what) {
    if (status == HG_ERROR_OUT_OF_MEMORY)
        shlo_no_memory(w);
    else if (status != HG_OK)
        shlo_refuse(w, "%s%.250s", what, hg_last_error_text());
}

void *shlo_make(shlo_lower *w, size_t bytes) {
    void *memory = hg_arena_alloc(w->arena, bytes);
    if (!memory) shlo_no_memory(w);
    return memory;
}

static const char *print(shlo_lower *w, const char *format, va_list args) {
    char buffer[1200];
    int length = vsnprintf(buffer, sizeof buffer, format, args);
    if (length < 0 || (size_t)length >= sizeof buffer) {
        shlo_refuse(w, "an expression of more than %zu bytes", sizeof buffer);
        return "0";
    }
    const char *text = hg_arena_text(w->arena, buffer, (size_t)length);
    if (!text) shlo_no_memory(w);
    return text ? text : "0";
}

const char *shlo_text(shlo_lower *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = print(w, format, args);
    va_end(args);
    return text;
}

static void add_line(shlo_lower *w, const char *text) {
    if (w->status != HG_OK) return;
    hg_text_addf(&w->k->body, "%*s%s\n", (int)w->k->indent * 2 + 4, "", text);
    if (w->k->body.failed) shlo_no_memory(w);
    if (w->k->body.length > 4 * HG_MAX_LINE_BYTES)
        shlo_refuse(w, "the program that it becomes is longer than %d bytes",
                    4 * HG_MAX_LINE_BYTES);
}

void shlo_line(shlo_lower *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_line(w, print(w, format, args));
    va_end(args);
}

const char *shlo_let(shlo_lower *w, const char *type, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *value = print(w, format, args), *name = shlo_text(w, "v%u", (unsigned)w->names++);
    va_end(args);
    shlo_line(w, "let %s %s = %s", name, type, value);
    return name;
}

uint64_t shlo_open(shlo_lower *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_line(w, shlo_text(w, "%s {", print(w, format, args)));
    va_end(args);
    w->k->indent++;
    return w->k->memo.count;
}

void shlo_close(shlo_lower *w, uint64_t known, const char *text) {
    w->k->memo.count = known;
    w->k->indent--;
    add_line(w, text);
    if (strchr(text, '{')) w->k->indent++;
}

uint64_t shlo_for(shlo_lower *w, const char **name, uint64_t extent) {
    *name = shlo_text(w, "k%u", (unsigned)w->names++);
    return shlo_open(w, "for %s in i64(0) .. %llu", *name, (unsigned long long)extent);
}

/* ---- memory ---- */

const char *shlo_type_name(const shlo_type *type) { return hg_type_name((hg_type)type->element); }

static bool is_lane(const shlo_kernel *k, const shlo_type *type, const char *const *at) {
    if (k->loops || type->rank != k->lanes.rank || !type->rank) return false;
    for (uint32_t i = 0; i < type->rank; i++)
        if (type->dims[i] != k->lanes.dims[i] || (type->dims[i] != 1 && at[i] != k->at[i]))
            return false;
    return true;
}

const char *shlo_place(shlo_lower *w, const shlo_type *type, const char *const *at) {
    const char *place = NULL;
    if (is_lane(w->k, type, at)) return "global";
    for (uint32_t i = 0; i < type->rank; i++) {
        if (type->dims[i] == 1) continue;
        place = place ? shlo_text(w, "(%s * %llu + %s)", place, (unsigned long long)type->dims[i],
                                  at[i])
                      : at[i];
    }
    return place ? place : "0";
}

/* The name of a storage; a value of the graph becomes a parameter of the program. */
static const char *array_name(shlo_lower *w, shlo_storage *s) {
    const char *name = shlo_text(w, "a%u", (unsigned)s->number);
    if (s->local || s->program == w->programs) return name;
    shlo_storage **input = hg_vec_push(&w->k->inputs);
    if (!input) {
        shlo_no_memory(w);
        return name;
    }
    *input = s;
    s->program = w->programs;
    hg_text_addf(&w->k->head, ".param %s buffer %s in [", name, shlo_type_name(&s->type));
    for (uint32_t i = 0; i < s->type.rank; i++)
        hg_text_addf(&w->k->head, "%s%llu", i ? ", " : "", (unsigned long long)s->type.dims[i]);
    hg_text_addf(&w->k->head, s->type.complex ? "%s2]\n" : "%s]\n",
                 s->type.complex && s->type.rank ? ", " : "");
    return name;
}

shlo_scalar shlo_load(shlo_lower *w, shlo_storage *s, const char *place) {
    const char *type = shlo_type_name(&s->type), *name = array_name(w, s);
    if (!s->type.complex) return (shlo_scalar){shlo_let(w, type, "%s[%s]", name, place), NULL};
    const char *at = shlo_let(w, "i64", "i64(%s)", place);
    shlo_scalar value = {.re = shlo_let(w, type, "%s[%s * 2]", name, at)};
    value.im = shlo_let(w, type, "%s[%s * 2 + 1]", name, at);
    return value;
}

void shlo_store(shlo_lower *w, shlo_storage *s, const char *place, shlo_scalar value) {
    const char *name = array_name(w, s);
    if (!s->type.complex) {
        shlo_line(w, "%s[%s] = %s", name, place, value.re);
        return;
    }
    const char *at = shlo_let(w, "i64", "i64(%s)", place);
    shlo_line(w, "%s[%s * 2] = %s", name, at, value.re);
    shlo_line(w, "%s[%s * 2 + 1] = %s", name, at, value.im);
}

shlo_scalar shlo_variable(shlo_lower *w, const shlo_type *type, shlo_scalar value) {
    shlo_scalar v = {.re = shlo_let(w, shlo_type_name(type), "%s", value.re)};
    if (type->complex) v.im = shlo_let(w, shlo_type_name(type), "%s", value.im);
    return v;
}

void shlo_assign(shlo_lower *w, shlo_scalar variable, shlo_scalar value) {
    shlo_line(w, "%s = %s", variable.re, value.re);
    if (variable.im) shlo_line(w, "%s = %s", variable.im, value.im);
}

shlo_scalar shlo_zero(const shlo_type *type) {
    const char *zero = type->element == HG_TYPE_F32 || type->element == HG_TYPE_F64 ||
                               type->element == HG_TYPE_F16 || type->element == HG_TYPE_BF16
                           ? "0.0"
                           : "0";
    return (shlo_scalar){zero, zero};
}
