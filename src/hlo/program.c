/* Lane programs as texts of the language: lines, variables, blocks, loads and stores. */
#include "hlo/lower.h"
#include <stdio.h>
#include <string.h>

void mlir_no_memory(mlir_lower *w) {
    if (w->status == HG_OK) w->status = hg_fail_memory();
}

void mlir_refuse(mlir_lower *w, const char *format, ...) {
    static const mlir_word START = {.text = "", .line = 1, .column = 1};
    char message[300];
    va_list args;
    if (w->status != HG_OK) return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const mlir_word *at = w->op ? &w->op->name : &START;
    w->status = mlir_mistake(w->d, "G01", at, "%.*s%s%s", at->length > 60 ? 60 : (int)at->length,
                             at->text, w->op ? ": " : "", message);
}

void mlir_refuse_call(mlir_lower *w, hg_status status, const char *what) {
    if (status == HG_ERROR_OUT_OF_MEMORY)
        mlir_no_memory(w);
    else if (status != HG_OK)
        mlir_refuse(w, "%s%.250s", what, hg_last_error_text());
}

void *mlir_make(mlir_lower *w, size_t bytes) {
    void *memory = hg_arena_alloc(w->arena, bytes);
    if (!memory) mlir_no_memory(w);
    return memory;
}

static const char *print(mlir_lower *w, const char *format, va_list args) {
    char buffer[1200];
    int length = vsnprintf(buffer, sizeof buffer, format, args);
    if (length < 0 || (size_t)length >= sizeof buffer) {
        mlir_refuse(w, "an expression of more than %zu bytes", sizeof buffer);
        return "0";
    }
    const char *text = hg_arena_text(w->arena, buffer, (size_t)length);
    if (!text) mlir_no_memory(w);
    return text ? text : "0";
}

const char *mlir_text(mlir_lower *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = print(w, format, args);
    va_end(args);
    return text;
}

static void add_line(mlir_lower *w, const char *text) {
    if (w->status != HG_OK) return;
    hg_text_addf(&w->k->body, "%*s%s\n", (int)w->k->indent * 2 + 4, "", text);
    if (w->k->body.failed) mlir_no_memory(w);
    if (w->k->body.length > 4 * HG_MAX_LINE_BYTES)
        mlir_refuse(w, "the program that it becomes is longer than %d bytes",
                    4 * HG_MAX_LINE_BYTES);
}

void mlir_line(mlir_lower *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_line(w, print(w, format, args));
    va_end(args);
}

const char *mlir_let(mlir_lower *w, const char *type, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *value = print(w, format, args), *name = mlir_text(w, "v%u", (unsigned)w->names++);
    va_end(args);
    mlir_line(w, "let %s %s = %s", name, type, value);
    return name;
}

uint64_t mlir_open(mlir_lower *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_line(w, mlir_text(w, "%s {", print(w, format, args)));
    va_end(args);
    w->k->indent++;
    return w->k->memo.count;
}

void mlir_close(mlir_lower *w, uint64_t known, const char *text) {
    w->k->memo.count = known;
    w->k->indent--;
    add_line(w, text);
    if (strchr(text, '{')) w->k->indent++;
}

uint64_t mlir_for(mlir_lower *w, const char **name, uint64_t extent) {
    *name = mlir_text(w, "k%u", (unsigned)w->names++);
    return mlir_open(w, "for %s in i64(0) .. %llu", *name, (unsigned long long)extent);
}

/* ---- memory ---- */

const char *mlir_type_name(const mlir_type *type) { return hg_type_name((hg_type)type->element); }

static bool is_lane(const mlir_kernel *k, const mlir_type *type, const char *const *at) {
    if (k->loops || type->rank != k->lanes.rank || !type->rank) return false;
    for (uint32_t i = 0; i < type->rank; i++)
        if (type->dims[i] != k->lanes.dims[i] || (type->dims[i] != 1 && at[i] != k->at[i]))
            return false;
    return true;
}

const char *mlir_place(mlir_lower *w, const mlir_type *type, const char *const *at) {
    const char *place = NULL;
    if (is_lane(w->k, type, at)) return "global";
    for (uint32_t i = 0; i < type->rank; i++) {
        if (type->dims[i] == 1) continue;
        place = place ? mlir_text(w, "(%s * %llu + %s)", place, (unsigned long long)type->dims[i],
                                  at[i])
                      : at[i];
    }
    return place ? place : "0";
}

/* The name of a storage; a value of the graph becomes a parameter of the program. */
static const char *array_name(mlir_lower *w, mlir_storage *s) {
    const char *name = mlir_text(w, "a%u", (unsigned)s->number);
    if (s->local || s->program == w->programs) return name;
    mlir_storage **input = hg_vec_push(&w->k->inputs);
    if (!input) {
        mlir_no_memory(w);
        return name;
    }
    *input = s;
    s->program = w->programs;
    hg_text_addf(&w->k->head, ".param %s buffer %s in [", name, mlir_type_name(&s->type));
    for (uint32_t i = 0; i < s->type.rank; i++)
        hg_text_addf(&w->k->head, "%s%llu", i ? ", " : "", (unsigned long long)s->type.dims[i]);
    hg_text_addf(&w->k->head, s->type.complex ? "%s2]\n" : "%s]\n",
                 s->type.complex && s->type.rank ? ", " : "");
    return name;
}

mlir_scalar mlir_load(mlir_lower *w, mlir_storage *s, const char *place) {
    const char *type = mlir_type_name(&s->type), *name = array_name(w, s);
    if (!s->type.complex) return (mlir_scalar){mlir_let(w, type, "%s[%s]", name, place), NULL};
    const char *at = mlir_let(w, "i64", "i64(%s)", place);
    mlir_scalar value = {.re = mlir_let(w, type, "%s[%s * 2]", name, at)};
    value.im = mlir_let(w, type, "%s[%s * 2 + 1]", name, at);
    return value;
}

/* The second part of a complex element. */
static const char *imaginary(mlir_lower *w, mlir_scalar value) {
    if (!value.im) mlir_refuse(w, "expected complex elements");
    return value.im ? value.im : "0";
}

void mlir_store(mlir_lower *w, mlir_storage *s, const char *place, mlir_scalar value) {
    const char *name = array_name(w, s);
    if (!s->type.complex) {
        mlir_line(w, "%s[%s] = %s", name, place, value.re);
        return;
    }
    const char *at = mlir_let(w, "i64", "i64(%s)", place);
    mlir_line(w, "%s[%s * 2] = %s", name, at, value.re);
    mlir_line(w, "%s[%s * 2 + 1] = %s", name, at, imaginary(w, value));
}

mlir_scalar mlir_variable(mlir_lower *w, const mlir_type *type, mlir_scalar value) {
    mlir_scalar v = {.re = mlir_let(w, mlir_type_name(type), "%s", value.re)};
    if (type->complex) v.im = mlir_let(w, mlir_type_name(type), "%s", imaginary(w, value));
    return v;
}

void mlir_assign(mlir_lower *w, mlir_scalar variable, mlir_scalar value) {
    mlir_line(w, "%s = %s", variable.re, value.re);
    if (variable.im) mlir_line(w, "%s = %s", variable.im, imaginary(w, value));
}

mlir_scalar mlir_zero(const mlir_type *type) {
    const char *zero = type->element == HG_TYPE_F32 || type->element == HG_TYPE_F64 ||
                               type->element == HG_TYPE_F16 || type->element == HG_TYPE_BF16
                           ? "0.0"
                           : "0";
    return (mlir_scalar){zero, zero};
}

/* The row's expression with its operands. */
const char *mlir_expand(mlir_lower *w, const char *text, const mlir_type *in, const mlir_type *out,
                        const mlir_scalar *args) {
    char buffer[600];
    size_t at = 0, width = hg_type_size_bytes((hg_type)in->element) * 8;
    for (; *text && at < sizeof buffer - 64; text++) {
        char number[8];
        const char *piece = number;
        if (*text != '$') {
            buffer[at++] = *text;
            continue;
        }
        text++;
        snprintf(number, sizeof number, "%s%zu",
                 *text == 'S'   ? "i"
                 : *text == 'U' ? "u"
                                : "",
                 width);
        if (*text >= 'a') piece = args[*text - 'a'].re;
        if (*text == 'T') piece = mlir_type_name(out);
        size_t length = strlen(piece);
        if (length > 60) length = 60;
        memcpy(buffer + at, piece, length);
        at += length;
    }
    buffer[at] = 0;
    return mlir_text(w, "%s", buffer);
}
