/* Names of types, and the names of a kernel: parameters and locals, looked up by hash.
 * Must not know: where they are declared. */
#include "translators/json/kernel.h"

#include <string.h>

static const struct {
    const char *name;
    jk_type type;
} SCALARS[] = {{"u8", HG_TYPE_U8},   {"u16", HG_TYPE_U16}, {"u32", HG_TYPE_U32},
               {"u64", HG_TYPE_U64}, {"i8", HG_TYPE_I8},   {"i16", HG_TYPE_I16},
               {"i32", HG_TYPE_I32}, {"i64", HG_TYPE_I64}, {"f32", HG_TYPE_F32},
               {"f64", HG_TYPE_F64}, {"bool", JK_BOOL},    {"usize", HG_TYPE_U64}};

bool jk_scalar_from_name(const char *name, size_t length, jk_type *type) {
    for (size_t i = 0; i < HG_COUNT_OF(SCALARS); i++)
        if (strlen(SCALARS[i].name) == length && memcmp(SCALARS[i].name, name, length) == 0) {
            *type = SCALARS[i].type;
            return true;
        }
    return false;
}

const char *jk_type_name(jk_type t) {
    switch (t) {
    case JK_BOOL: return "bool";
    case JK_POINTER: return "device_ptr";
    case JK_WHOLE: return "an integer literal";
    case JK_REAL: return "a real literal";
    case JK_ERROR: return "nothing";
    default: return hg_type_name((hg_type)t);
    }
}

static uint32_t slot_of(const jk_kernel *k, const char *text, size_t length) {
    uint32_t h = 2166136261u; /* FNV-1a (Fowler, Noll, Vo); names are few, so collisions cost little
                               */
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * 16777619u;
    uint32_t slot = (h ^ h >> 15) & (JK_NAME_SLOTS - 1);
    for (; k->name_table.slots[slot]; slot = (slot + 1) & (JK_NAME_SLOTS - 1)) {
        const jk_name *n = &k->name_table.all[k->name_table.slots[slot] - 1];
        if (n->length == length && memcmp(n->text, text, length) == 0) break;
    }
    return slot;
}

uint32_t jk_find_name(const jk_kernel *k, const char *text, size_t length) {
    uint32_t found = k->name_table.slots[slot_of(k, text, length)];
    return found ? found - 1 : JK_NONE;
}

uint32_t jk_add_name(jk_kernel *k, uint32_t token, jk_name_kind kind, jk_type type) {
    size_t length;
    const char *text = hg_json_decode(k->document, token, &k->arena, &length);
    if (!text) {
        k->out_of_memory = true;
        return JK_NONE;
    }
    if (k->name_table.count == JK_MAX_NAMES) {
        jk_error(k, "S05", token, NULL, "more than %d names", JK_MAX_NAMES);
        return JK_NONE;
    }
    uint32_t slot = slot_of(k, text, length);
    k->name_table.all[k->name_table.count] = (jk_name){.text = text,
                                                       .length = (uint32_t)length,
                                                       .token = token,
                                                       .kind = (uint8_t)kind,
                                                       .type = type};
    k->name_table.slots[slot] = (uint16_t)++k->name_table.count;
    return k->name_table.count - 1;
}
