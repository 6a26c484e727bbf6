/* Shared memory of a block and private memory of a lane (language.md 2, 4.6, 4.12): bytes, and
 * arrays by name behind them.
 * Must not know: instructions. */
#include "isa/text_internal.h"

#include <stdio.h>

static const char *word_of(uint8_t place) {
    return place == HG_PLACE_SHARED ? "shared" : "private";
}

static uint64_t *bytes_of(hg_assembler *a, uint8_t place) {
    return place == HG_PLACE_SHARED ? &a->program->shared : &a->program->private_bytes;
}

static bool check_bytes(hg_assembler *a, uint8_t place, uint64_t bytes, const hg_token *at) {
    if (bytes <= (place == HG_PLACE_SHARED ? HG_MAX_SHARED_BYTES : HG_MAX_PRIVATE_BYTES))
        return true;
    if (place == HG_PLACE_SHARED)
        hg_asm_error(a, "S05", at, NULL, "%llu bytes of shared memory: at most %d are allowed",
                     (unsigned long long)bytes, HG_MAX_SHARED_BYTES);
    else
        hg_asm_error(a, "S05", at, NULL, "%llu bytes of private memory: a lane has at most %d",
                     (unsigned long long)bytes, HG_MAX_PRIVATE_BYTES);
    return false;
}

static bool read_plain(hg_assembler *a, uint8_t place) {
    hg_token token;
    bool *sized = &a->head.sized[place == HG_PLACE_PRIVATE];
    uint64_t *bytes = bytes_of(a, place);
    if (*sized) {
        hg_asm_error(a, "D01", &a->head.word, NULL, "directive .%s repeated", word_of(place));
        return false;
    }
    *sized = true;
    if (!hg_asm_integer(a, "a number of bytes", bytes, &token)) return false;
    if (place == HG_PLACE_SHARED) a->program->shared_span = hg_asm_span(&token);
    return check_bytes(a, place, *bytes, &token);
}

/* [numbers]: their product in *elements. */
static bool read_extents(hg_assembler *a, hg_memory_array *array, uint64_t *elements) {
    *elements = 1;
    if (!hg_asm_expect(a, '[', "'['")) return false;
    do {
        hg_token number;
        uint64_t extent;
        if (array->rank == HG_MAX_EXTENTS) {
            hg_asm_error(a, "S05", &a->token, NULL, "more than %d extents", HG_MAX_EXTENTS);
            return false;
        }
        if (!hg_asm_integer(a, "a number of elements", &extent, &number)) return false;
        if (!extent || extent > HG_MAX_SHARED_BYTES || *elements * extent > HG_MAX_SHARED_BYTES) {
            hg_asm_error(a, "S05", &number, NULL, "an array of a block or a lane has 1 to %d bytes",
                         HG_MAX_SHARED_BYTES);
            return false;
        }
        *elements *= extent;
        array->extents[array->rank++] = extent;
    } while (hg_asm_accept(a, ','));
    return hg_asm_expect(a, ']', "',' or ']'");
}

static bool read_array(hg_assembler *a, uint8_t place) {
    hg_memory_array array = {.place = place};
    uint64_t elements;
    if (!hg_asm_register_name(a, &array.token)) return false;
    if (!hg_asm_expect_type(a, "an element type", &array.type) ||
        !read_extents(a, &array, &elements))
        return hg_asm_declare_broken(a, &array.token);
    array.bytes = elements * hg_type_size_bytes((hg_type)array.type);
    if (!hg_asm_declare(a, &array.token, HG_NAME_MEMORY, a->head.arrays.count)) return false;
    hg_memory_array *kept = hg_vec_push(&a->head.arrays);
    if (!kept) return hg_asm_no_memory(a);
    *kept = array;
    return true;
}

static bool read_memory(hg_assembler *a, uint8_t place) {
    const hg_lexer *l = &a->lexer;
    size_t at = l->at;
    while (at < l->length && (l->text[at] == ' ' || l->text[at] == '\t')) at++;
    bool named = a->token.kind == HG_TOKEN_NAME && at < l->length && is_letter(l->text[at]);
    return named ? read_array(a, place) : read_plain(a, place);
}

bool hg_asm_memory_extents(hg_assembler *a, hg_memory_array *array) {
    uint64_t elements;
    return read_extents(a, array, &elements);
}

bool hg_asm_read_shared(hg_assembler *a) { return read_memory(a, HG_PLACE_SHARED); }
bool hg_asm_read_private(hg_assembler *a) { return read_memory(a, HG_PLACE_PRIVATE); }

/* Directives stand before everything that uses an array. */
static void place_arrays(hg_assembler *a) {
    if (a->head.placed) return;
    a->head.placed = true;
    for (uint64_t i = 0; i < a->head.arrays.count; i++) {
        hg_memory_array *array = &a->head.arrays.data[i];
        uint64_t *bytes = bytes_of(a, array->place);
        array->offset = (*bytes + HG_ARRAY_ALIGNMENT - 1) / HG_ARRAY_ALIGNMENT * HG_ARRAY_ALIGNMENT;
        if (!check_bytes(a, array->place, array->offset + array->bytes, &array->token)) return;
        *bytes = array->offset + array->bytes;
        if (array->place == HG_PLACE_SHARED && !a->head.sized[0])
            a->program->shared_span = hg_asm_span(&array->token);
    }
}

const hg_memory_array *hg_asm_find_array(hg_assembler *a, const hg_token *token) {
    const hg_name *name = a->head.arrays.count ? hg_asm_find_name(a, token) : NULL;
    if (!name || name->kind != HG_NAME_MEMORY) return NULL;
    place_arrays(a);
    return &a->head.arrays.data[name->index];
}

void hg_asm_finish_arrays(hg_assembler *a) {
    place_arrays(a);
    for (uint64_t i = 0; i < a->head.arrays.count && !a->wrong.errors; i++) {
        const hg_memory_array *array = &a->head.arrays.data[i];
        char key[HG_MAX_IDENT_BYTES + 16], value[64];
        snprintf(key, sizeof key, "%s.%.*s", word_of(array->place), (int)array->token.length,
                 array->token.text);
        snprintf(value, sizeof value, "%s[%llu] at %llu", hg_type_name((hg_type)array->type),
                 (unsigned long long)(array->bytes / hg_type_size_bytes((hg_type)array->type)),
                 (unsigned long long)array->offset);
        char *kept_key = hg_arena_text(&a->program->arena, key, strlen(key)),
             *kept = hg_arena_text(&a->program->arena, value, strlen(value));
        if (!kept_key || !kept) {
            hg_asm_no_memory(a);
            return;
        }
        if (hg_is_identifier(key, strlen(key)) &&
            !hg_asm_add_meta(a, &array->token, kept_key, kept, (uint32_t)strlen(kept)))
            return;
    }
}
