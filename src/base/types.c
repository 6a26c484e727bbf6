/* Properties of the element types, all from types.def. Must not know: values. */
#include "base/base.h"

#include <string.h>

enum { KIND_FLOAT, KIND_SIGNED, KIND_UNSIGNED };

static const struct {
    const char *name;
    uint16_t bytes;
    uint8_t kind;
} types[HG_TYPE_COUNT] = {
#define HG_TYPE(id, text, bytes, kind) {text, bytes, KIND_##kind},
#include <hologram/types.def>
#undef HG_TYPE
};

static bool is_type(hg_type type) { return (unsigned)type < HG_TYPE_COUNT; }

uint64_t hg_type_size_bytes(hg_type type) { return is_type(type) ? types[type].bytes : 0; }
bool hg_type_is_float(hg_type type) { return is_type(type) && types[type].kind == KIND_FLOAT; }
bool hg_type_is_integer(hg_type type) { return is_type(type) && types[type].kind != KIND_FLOAT; }
bool hg_type_is_signed(hg_type type) { return is_type(type) && types[type].kind != KIND_UNSIGNED; }
bool hg_type_is_unsigned(hg_type type) {
    return is_type(type) && types[type].kind == KIND_UNSIGNED;
}
uint8_t hg_uint_of_bytes(uint64_t bytes) {
    return bytes == 1   ? HG_TYPE_U8
           : bytes == 2 ? HG_TYPE_U16
           : bytes == 4 ? HG_TYPE_U32
                        : HG_TYPE_U64;
}
const char *hg_type_name(hg_type type) { return is_type(type) ? types[type].name : "?"; }

bool hg_type_from_name(const char *name, size_t length, hg_type *type) {
    for (int i = 0; i < HG_TYPE_COUNT; i++) {
        if (strlen(types[i].name) == length && memcmp(types[i].name, name, length) == 0) {
            *type = (hg_type)i;
            return true;
        }
    }
    return false;
}
