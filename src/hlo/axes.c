/* Lists of axes. */
#include "hlo/axes.h"
#include <string.h>

bool mlir_expect(mlir_lower *w, bool good, const char *what) {
    if (!good) mlir_refuse(w, "expected %s", what);
    return w->status == HG_OK;
}

mlir_axes mlir_axes_of(mlir_lower *w, const mlir_op *op, const char *key, const char *generic,
                       uint32_t n) {
    mlir_axes a = {.count = 0};
    const char *found = mlir_attribute_of(op, key, n) ? key : generic;
    uint32_t count = found ? mlir_item_count(op, found, n) : 0;
    if (count > HG_COUNT_OF(a.at)) mlir_refuse(w, "%s has %u items", key, (unsigned)count);
    for (uint32_t i = 0; i < count && i < HG_COUNT_OF(a.at); i++)
        a.at[a.count++] = mlir_item(op, found, n, i, 0);
    return a;
}

mlir_axes mlir_filled(mlir_lower *w, const mlir_op *op, const char *key, const char *generic,
                      uint32_t count, int64_t otherwise) {
    mlir_axes a = mlir_axes_of(w, op, key, generic, 0);
    if (a.count == 1)
        otherwise = a.at[0];
    else if (a.count && a.count != count)
        mlir_refuse(w, "%s has %u items, expected %u", key, (unsigned)a.count, (unsigned)count);
    for (uint32_t i = a.count <= 1 ? 0 : a.count; i < count && i < HG_COUNT_OF(a.at); i++)
        a.at[i] = otherwise;
    a.count = count;
    return a;
}

mlir_axes mlir_axes_of_operand(mlir_lower *w, const mlir_tensor *t, uint32_t count) {
    mlir_axes a = {.count = count};
    const mlir_type *type = &t->type;
    size_t size = hg_type_size_bytes((hg_type)type->element);
    bool is_signed = *hg_type_name((hg_type)type->element) == 'i';
    uint64_t there = 0;
    if (!mlir_expect(w, mlir_elements(type, &there) && there == count && count <= HG_COUNT_OF(a.at),
                     "a number for each axis") ||
        !mlir_expect(w,
                     (t->bytes || !count) && !type->truth && !type->complex && size <= 8 &&
                         strchr("iu", *hg_type_name((hg_type)type->element)),
                     "numbers that the text says"))
        return a;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *from = t->bytes + (t->kind == MLIR_SPLAT || t->one ? 0 : i * size);
        uint64_t bits = is_signed && from[size - 1] >> 7 ? UINT64_MAX : 0;
        for (size_t k = size; k-- > 0;) bits = bits << 8 | from[k];
        a.at[i] = (int64_t)bits;
    }
    return a;
}

int64_t mlir_find(const mlir_axes *a, int64_t axis) {
    for (uint32_t i = 0; i < a->count; i++)
        if (a->at[i] == axis) return i;
    return -1;
}

bool mlir_are_axes(mlir_lower *w, const mlir_axes *a, uint32_t rank, const char *what) {
    for (uint32_t i = 0; i < a->count; i++)
        if (a->at[i] < 0 || a->at[i] >= (int64_t)rank || mlir_find(a, a->at[i]) != i) {
            mlir_refuse(w, "%s: expected different axes below %u, got %lld", what, (unsigned)rank,
                        (long long)a->at[i]);
            return false;
        }
    return w->status == HG_OK;
}
