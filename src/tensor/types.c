/* Types of elements: names, sizes, the common type.
 * Must not know: tensors. */
#include "tensor/types.h"
#include "base/base.h"
#include "base/fp.h"
#include <string.h>

static const struct {
    hg_element type;
    uint64_t bytes;
    const char *name;
} BEYOND[] = {{HG_ELEMENT_BOOL, 1, "bool"},
              {HG_ELEMENT_COMPLEX64, 8, "complex64"},
              {HG_ELEMENT_COMPLEX128, 16, "complex128"}};

const char *hg_element_name(hg_element type) {
    HG_ENTRY;
    for (size_t i = 0; i < HG_COUNT_OF(BEYOND); i++)
        if (BEYOND[i].type == type) return BEYOND[i].name;
    return hg_type_name((hg_type)type);
}

uint64_t hg_element_size(hg_element type) {
    HG_ENTRY;
    return tensor_size(type);
}

uint64_t tensor_size(hg_element type) {
    if (type < HG_TYPE_COUNT) return hg_type_size_bytes((hg_type)type);
    for (size_t i = 0; i < HG_COUNT_OF(BEYOND); i++)
        if (BEYOND[i].type == type) return BEYOND[i].bytes;
    return 0;
}

bool hg_element_from_name(const char *name, hg_element *type) {
    HG_ENTRY;
    hg_type own;
    if (!name || !type) return false;
    for (size_t i = 0; i < HG_COUNT_OF(BEYOND); i++)
        if (strcmp(BEYOND[i].name, name) == 0) {
            *type = BEYOND[i].type;
            return true;
        }
    if (!hg_type_from_name(name, strlen(name), &own)) return false;
    *type = own;
    return true;
}

/* ---- the common type ---- */

int tensor_kind(hg_element type) {
    if (type == HG_ELEMENT_BOOL) return 0;
    if (type == HG_ELEMENT_COMPLEX64 || type == HG_ELEMENT_COMPLEX128) return 4;
    if (hg_type_is_float((hg_type)type)) return 3;
    return hg_type_is_signed((hg_type)type) ? 2 : 1;
}

static hg_element of_kind(int kind, uint64_t bytes) {
    for (hg_element t = 0; t < HG_TYPE_COUNT; t++)
        if (tensor_kind(t) == kind && tensor_size(t) == bytes && t != HG_TYPE_BF16) return t;
    return HG_TYPE_COUNT;
}

/* What the parts of a complex number are, where the other is of a type. */
static hg_element part_of(hg_element type) {
    if (tensor_kind(type) == 4) return type == HG_ELEMENT_COMPLEX64 ? HG_TYPE_F32 : HG_TYPE_F64;
    return tensor_promote(HG_TYPE_F32, type);
}

hg_element hg_element_promote(hg_element a, hg_element b) {
    HG_ENTRY;
    return tensor_promote(a, b);
}

hg_element tensor_promote(hg_element a, hg_element b) {
    uint64_t x = tensor_size(a), y = tensor_size(b);
    if (!x || !y) return HG_TYPE_COUNT;
    if (a == b) return a;
    int p = tensor_kind(a), q = tensor_kind(b);
    if (p < q || (p == q && x < y)) return tensor_promote(b, a);
    if (q == 0) return a;
    if (p == 4) /* wide enough for the parts of both */
        return part_of(a) == HG_TYPE_F64 || part_of(b) == HG_TYPE_F64 ? HG_ELEMENT_COMPLEX128
                                                                      : HG_ELEMENT_COMPLEX64;
    if (p == q && x > y) return a;
    if (p == 3 && q == 3) return HG_TYPE_F32; /* f16 and bf16 */
    if (p == 3) {                             /* NumPy: wide enough for the integer */
        if (x >= 8 || y >= 4) return HG_TYPE_F64;
        if (a == HG_TYPE_BF16) return HG_TYPE_F32;
        return y == 2 ? (x > 4 ? a : HG_TYPE_F32) : a;
    }
    if (x > y) return a; /* a signed one that holds the unsigned one */
    return y == 8 ? HG_TYPE_F64 : of_kind(2, y * 2);
}
