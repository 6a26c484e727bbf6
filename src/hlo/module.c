/* What is asked of a module's operations and types. */
#include "hlo/hlo.h"
#include <stdio.h>
#include <string.h>

bool mlir_is(const mlir_word *word, const char *text) {
    return word->length == strlen(text) && memcmp(word->text, text, word->length) == 0;
}

bool mlir_elements(const mlir_type *type, uint64_t *count) {
    *count = 1;
    for (uint32_t i = 0; i < type->rank; i++)
        if (type->dims[i] == 0) return *count = 0, true;
    for (uint32_t i = 0; i < type->rank; i++)
        if (!hg_mul_u64(*count, type->dims[i], count) || *count >> 40) return false;
    return true;
}

bool mlir_same_dims(const mlir_type *a, const mlir_type *b) {
    return a->rank == b->rank && !memcmp(a->dims, b->dims, sizeof a->dims);
}

bool mlir_same_elements(const mlir_type *a, const mlir_type *b) {
    return a->element == b->element && a->truth == b->truth && a->complex == b->complex;
}

bool mlir_same_type(const mlir_type *a, const mlir_type *b) {
    return mlir_same_dims(a, b) && mlir_same_elements(a, b);
}

const char *mlir_type_text(const mlir_type *t, char buffer[240]) {
    size_t at = (size_t)snprintf(buffer, 240, "tensor<");
    for (uint32_t i = 0; i < t->rank; i++)
        at += (size_t)snprintf(buffer + at, 240 - at, "%llux", (unsigned long long)t->dims[i]);
    const char *element = hg_type_name((hg_type)t->element);
    bool is_unsigned = *element == 'u' && !t->truth;
    snprintf(buffer + at, 240 - at, "%s%s%s%s>", t->complex ? "complex<" : "",
             t->truth      ? "i1"
             : is_unsigned ? "ui"
                           : element,
             is_unsigned ? element + 1 : "", t->complex ? ">" : "");
    return buffer;
}

const mlir_attribute *mlir_attribute_of(const mlir_op *op, const char *key, uint32_t n) {
    for (const mlir_attribute *a = op->attributes; a; a = a->next)
        if (mlir_is(&a->key, key) && n-- == 0) return a;
    return NULL;
}

int64_t mlir_item(const mlir_op *op, const char *key, uint32_t n, uint32_t i, int64_t otherwise) {
    const mlir_attribute *a = mlir_attribute_of(op, key, n);
    if (!a || !a->count) return otherwise;
    return a->count == 1 ? a->items[0] : i < a->count ? a->items[i] : otherwise;
}

uint32_t mlir_item_count(const mlir_op *op, const char *key, uint32_t n) {
    const mlir_attribute *a = mlir_attribute_of(op, key, n);
    return a ? a->count : 0;
}

hg_status mlir_mistake(hg_diagnostics *d, const char *code, const mlir_word *at, const char *format,
                       ...) {
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    hg_diagnose(d, HG_SEVERITY_ERROR, code,
                (hg_place){at->line, at->column, at->length ? at->length : 1, HG_NONE, 0}, NULL,
                "%s", message);
    return hg_fail(HG_ERROR_ISA, "line %u, column %u: %s", (unsigned)at->line, (unsigned)at->column,
                   message);
}

void mlir_module_free(mlir_module *module) {
    hg_vec_free(&module->values);
    hg_arena_free(&module->arena);
}
