#include "kir/words.h"
#include "kir/access.h"
#include <string.h>

#define WORDS(...) \
    { (const char *const[]){__VA_ARGS__}, HG_COUNT_OF(((const char *[]){__VA_ARGS__})) }
const kir_words kir_space_words = WORDS("buffer", "pool", "shared", "class", "flat");
const kir_words kir_step_words = WORDS("", "count", "handle", "tuple", "scalar", "number");
const kir_words kir_memory_words = WORDS("", "env", "scratch", "state", "characters", "uniforms");
const kir_words kir_atomic_words = WORDS("add", "umin", "smin", "umax", "smax", "and", "or", "xor",
                                         "exch", "cas");
const kir_words kir_slot_words = WORDS("memory", "class", "fault", "table", "locks", "shared",
                                       "arena");
const kir_words kir_input_words = WORDS("param", "env", "shared", "field");
static const char *const DEVICE_IDS[] = {
#define KIR_DEVICE_ID(id, text, part, axis) text,
#include "kir/prim.def"
#undef KIR_DEVICE_ID
};
const kir_words kir_device_id_words = {DEVICE_IDS, HG_COUNT_OF(DEVICE_IDS)};
const kir_words kir_uniformity_words = WORDS("varying", "affine", "row", "block", "uniform");

const kir_words kir_fact_words = WORDS("simple", "slots", "legal", "uniformity", "device",
                                       "hoisted");

const char *kir_word(const kir_words *list, uint64_t i) {
    return i < list->count ? list->words[i] : "?";
}

uint32_t kir_word_find(const kir_words *list, const char *text, size_t length) {
    uint32_t i = 0;
    while (i < list->count &&
           (strlen(list->words[i]) != length || memcmp(list->words[i], text, length) != 0))
        i++;
    return i;
}

/* ---- functions of DERIVED and STEP ---- */

static char small(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

void kir_fn_print(hg_text *out, uint16_t fn) {
    if (fn >= HG_OP_COUNT) {
        hg_text_addf(out, "%s", fn < KIR_FN_COUNT ? kir_fn_name(fn) : "?");
        return;
    }
    for (const char *p = hg_op_get((hg_op)fn)->id; *p; p++)
        hg_text_add(out, (const char[]){small(*p)}, 1);
}

static bool is_id(const char *id, const char *text, size_t length) {
    size_t i = 0;
    while (i < length && id[i] && small(id[i]) == text[i]) i++;
    return i == length && !id[i];
}

bool kir_fn_find(const char *text, size_t length, uint16_t *fn) {
    for (*fn = 0; *fn < HG_OP_COUNT; ++*fn)
        if (is_id(hg_op_get((hg_op)*fn)->id, text, length)) return true;
    for (; *fn < KIR_FN_COUNT; ++*fn)
        if (is_id(kir_fn_name(*fn), text, length)) return true;
    return false;
}

/* ---- memory operations ---- */

kir_access_parts kir_access_divide(const kir_module *m, const kir_value *v) {
    if (kir_is_device_form(m)) return (kir_access_parts){kir_device_offset(v), v->u.mem.has_index};
    kir_access of = kir_access_of(v);
    return (kir_access_parts){of.handle_args, of.index_args};
}

uint8_t kir_access_bytes(kir_op op, uint8_t type) {
    uint64_t size = op == KIR_CHECK ? 0 : kir_type_bytes(type);
    return (uint8_t)(size <= 8 ? size : 0);
}

uint16_t kir_access_wide(const kir_module *m, kir_op op, uint8_t type, uint8_t bytes) {
    if (kir_is_device_form(m)) return 0;
    return (uint16_t)(bytes || op == KIR_CHECK ? bytes : kir_type_bytes(type));
}

uint8_t kir_access_type(const kir_value *v, uint8_t first) {
    if (v->op != KIR_STORE) return v->type;
    return first < v->nargs ? v->args[first]->type : KIR_VOID;
}

bool kir_is_plain_name(const char *name) {
    for (const char *p = name; *p; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_';
        if (!letter && !(p > name && *p >= '0' && *p <= '9')) return false;
    }
    return *name != 0;
}
