/* Notes that stay with a program (.meta).
 * Must not know: other directives. */
#include "isa/text_internal.h"

/* Keeps the list sorted by key. */
bool hg_asm_add_meta(hg_assembler *a, const hg_token *name, const char *key, const char *value,
                     uint32_t length) {
    uint64_t at = 0;
    while (at < a->head.meta.count && strcmp(a->head.meta.data[at].key, key) < 0) at++;
    if (at < a->head.meta.count && strcmp(a->head.meta.data[at].key, key) == 0) {
        hg_asm_error(a, "D02", name, NULL, "metadata key '%s' declared twice", key);
        return false;
    }
    if (a->head.meta.count == HG_MAX_META_ENTRIES) {
        hg_asm_error(a, "S05", name, NULL, "more than %d metadata entries", HG_MAX_META_ENTRIES);
        return false;
    }
    if (!hg_vec_push(&a->head.meta)) return hg_asm_no_memory(a);
    memmove(&a->head.meta.data[at + 1], &a->head.meta.data[at],
            (size_t)(a->head.meta.count - 1 - at) * sizeof *a->head.meta.data);
    a->head.meta.data[at] = (hg_meta){key, value, length};
    return true;
}

bool hg_asm_read_meta(hg_assembler *a) {
    hg_token name, string;
    if (!hg_asm_identifier(a, "a metadata key", &name)) return false;
    string = a->token;
    if (!hg_asm_expect(a, HG_TOKEN_STRING, "a string")) return false;
    size_t length;
    const char *value = hg_asm_string(a, &string, &length);
    char *key_copy = hg_arena_text(&a->program->arena, name.text, name.length);
    char *value_copy = value ? hg_arena_text(&a->program->arena, value, length) : NULL;
    if (!key_copy || !value_copy) return hg_asm_no_memory(a);
    if (length > HG_MAX_META_BYTES) {
        hg_asm_error(a, "S05", &string, NULL, "metadata value of %zu bytes: at most %d are allowed",
                     length, HG_MAX_META_BYTES);
        return false;
    }
    return hg_asm_add_meta(a, &name, key_copy, value_copy, (uint32_t)length);
}
