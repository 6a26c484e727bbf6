/* Names of the user's: declared in scopes, looked up from inside to outside.
 * Must not know: what a name stands for. */
#include "isa/text_internal.h"

/* ---- the table ---- */

static uint64_t rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

static void sip_round(uint64_t v[4]) {
    v[0] += v[1], v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0], v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2], v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

/* SipHash-1-3 (Aumasson & Bernstein, "SipHash: a fast short-input PRF", 2012) with a fixed key:
 * colliding names cannot be made by algebra, so a hostile file cannot make the look-ups slow. Its
 * rounds take all registers: not in its callers. */
HG_NOINLINE static uint64_t hash(const char *text, uint32_t length, uint32_t scope) {
    uint64_t v[4] = {UINT64_C(0x736f6d6570736575), UINT64_C(0x646f72616e646f6d),
                     UINT64_C(0x6c7967656e657261), UINT64_C(0x7465646279746573) ^ scope};
    for (uint32_t at = 0; at <= length; at += 8) { /* the last word holds the rest and the length */
        uint64_t word = 0;
        bool last = length - at < 8;
        for (uint32_t i = 0; i < (last ? length - at : 8); i++)
            word |= (uint64_t)(unsigned char)text[at + i] << (i * 8);
        if (last) word |= (uint64_t)length << 56;
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xFF;
    for (int i = 0; i < 3; i++) sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Where the name is, or would be. */
static uint64_t find_slot(const hg_names *n, const char *text, uint32_t length, uint32_t scope) {
    uint64_t mask = n->slot_count - 1, slot = hash(text, length, scope) & mask;
    for (; n->slots[slot]; slot = (slot + 1) & mask) {
        const hg_name *other = &n->data[n->slots[slot] - 1];
        if (other->scope == scope && other->token.length == length &&
            memcmp(other->token.text, text, length) == 0)
            break;
    }
    return slot;
}

static bool grow_slots(hg_names *n) {
    uint64_t count = n->slot_count ? n->slot_count * 2 : 64;
    uint32_t *slots = hg_calloc((size_t)count, sizeof *slots);
    if (!slots) return false;
    hg_free(n->slots);
    n->slots = slots;
    n->slot_count = count;
    for (uint64_t i = 0; i < n->count; i++) {
        const hg_name *name = &n->data[i];
        slots[find_slot(n, name->token.text, name->token.length, name->scope)] = (uint32_t)i + 1;
    }
    return true;
}

hg_name *hg_asm_find_in(const hg_names *names, const char *text, uint32_t length, uint32_t scope) {
    uint32_t number = names->slots[find_slot(names, text, length, scope)];
    return number ? &names->data[number - 1] : NULL;
}

hg_name *hg_asm_enter(hg_assembler *a, hg_names *names, const hg_token *token, hg_name_kind kind,
                      uint64_t index) {
    bool room = names->count * 2 < names->slot_count || grow_slots(names);
    uint32_t scope = hg_asm_scope_of(a, token);
    uint64_t slot = room ? find_slot(names, token->text, token->length, scope) : 0;
    if (room && names->slots[slot]) return &names->data[names->slots[slot] - 1];
    hg_name *name = room ? hg_vec_push(names) : NULL;
    if (!name) {
        hg_asm_no_memory(a);
        return NULL;
    }
    *name = (hg_name){.token = *token, .scope = scope, .kind = (uint8_t)kind, .index = index};
    names->slots[slot] = (uint32_t)names->count;
    return name;
}

bool hg_asm_is_unknown(hg_assembler *a, const hg_token *name) {
    uint64_t count = a->wrong.unknown.count;
    if (a->wrong.muted || (a->wrong.errors && a->wrong.names_missing)) return false;
    return hg_asm_enter(a, &a->wrong.unknown, name, HG_NAME_BROKEN, 0) &&
           a->wrong.unknown.count > count;
}

bool hg_asm_identifier(hg_assembler *a, const char *what, hg_token *name) {
    *name = a->token;
    if (name->kind != HG_TOKEN_NAME) return hg_asm_unexpected(a, what);
    hg_asm_next(a);
    if (hg_is_identifier(name->text, name->length)) return true;
    char got[80];
    if (!hg_asm_is_unknown(a, name))
        return false; /* its declaration and its uses are one mistake */
    if (name->length > HG_MAX_IDENT_BYTES)
        hg_asm_error(a, "S05", name, NULL, "name of %u bytes: at most %d are allowed",
                     (unsigned)name->length, HG_MAX_IDENT_BYTES);
    else
        hg_asm_error(a, "S02", name, "registers, predicates and types cannot be names",
                     "expected %s, got %s", what, hg_token_describe(name, got));
    return false;
}

void hg_asm_free_names(hg_names *names) {
    hg_free(names->slots);
    hg_vec_free(names);
}

/* ---- what a name stands for ---- */

/* What a function does not see of the program: variables, and arrays of the lane. */
static bool is_local(const hg_assembler *a, const hg_name *name) {
    if (name->kind == HG_NAME_MEMORY)
        return a->head.arrays.data[name->index].place == HG_PLACE_PRIVATE;
    return name->kind == HG_NAME_REGISTER || name->kind == HG_NAME_PREDICATE;
}

/* Not in its callers, which mostly see that a token is no name. */
HG_NOINLINE hg_name *hg_asm_find_text(hg_assembler *a, const char *text, uint32_t length,
                                      uint32_t scope) {
    if (!a->names.count) return NULL;
    for (;; scope = hg_asm_scope_around(a, scope)) {
        hg_name *name = hg_asm_find_in(&a->names, text, length, scope);
        if (name && name->kind == HG_NAME_BROKEN) a->wrong.doubtful = true;
        if (name && scope < a->functions.scope && is_local(a, name)) name = NULL;
        if (name || !scope) return name;
    }
}

hg_name *hg_asm_find_name(hg_assembler *a, const hg_token *token) {
    if (!a->names.count || token->kind != HG_TOKEN_NAME) return NULL;
    return hg_asm_find_text(a, token->text, token->length, hg_asm_scope_of(a, token));
}

bool hg_asm_is_hidden(hg_assembler *a, const hg_token *token) {
    uint32_t scope = a->functions.scope;
    a->functions.scope = 0;
    const hg_name *name = scope ? hg_asm_find_name(a, token) : NULL;
    a->functions.scope = scope;
    return name && name->scope < scope && is_local(a, name);
}

bool hg_asm_declare(hg_assembler *a, const hg_token *token, hg_name_kind kind, uint64_t index) {
    uint64_t count = a->names.count;
    const hg_name *name = hg_asm_enter(a, &a->names, token, kind, index);
    if (!name || a->names.count > count) return name != NULL;
    if (name->kind == HG_NAME_BROKEN)
        return false; /* which of the two was meant is not known: one mistake */
    hg_asm_error(a, "D02", token, NULL, "name '%.*s' declared twice: first in line %u",
                 (int)token->length, token->text, (unsigned)name->token.line);
    return false;
}

bool hg_asm_declare_broken(hg_assembler *a, const hg_token *token) {
    if (token->length) (void)hg_asm_enter(a, &a->names, token, HG_NAME_BROKEN, 0);
    return false;
}

/* ---- constants ---- */

const hg_constant *hg_asm_find_constant(hg_assembler *a, const hg_token *token) {
    const hg_name *name = hg_asm_find_name(a, token);
    return name && name->kind == HG_NAME_CONSTANT ? &a->values.constants.data[name->index] : NULL;
}

void hg_asm_try_constants(const hg_assembler *a, hg_nearest *nearest) {
    char known[HG_NEAREST_BYTES];
    for (uint64_t i = 0; i < a->names.count && a->wrong.errors < HG_MOST_EXPLAINED; i++) {
        const hg_name *name = &a->names.data[i];
        if (name->kind != HG_NAME_CONSTANT || name->token.length >= sizeof known) continue;
        memcpy(known, name->token.text, name->token.length);
        known[name->token.length] = 0;
        hg_nearest_try(nearest, known);
    }
}

bool hg_asm_unknown_constant(hg_assembler *a, const char *expected) {
    char got[80];
    hg_nearest nearest;
    if (a->token.kind != HG_TOKEN_NAME) return hg_asm_unexpected(a, expected);
    (void)hg_asm_find_name(a, &a->token); /* one that could not be declared is no mistake */
    if (!hg_asm_is_unknown(a, &a->token)) return false;
    hg_nearest_init(&nearest, a->token.text, a->token.length);
    hg_asm_try_constants(a, &nearest);
    hg_asm_error(a, "S02", &a->token, hg_nearest_hint(&nearest), "expected %s, got %s", expected,
                 hg_token_describe(&a->token, got));
    return false;
}

/* ---- types ---- */

bool hg_asm_type(hg_assembler *a, const char *text, uint32_t length, uint32_t scope,
                 hg_type *type) {
    if (hg_type_from_name(text, length, type)) return true;
    const hg_name *name = hg_asm_find_text(a, text, length, scope);
    if (!name || name->kind != HG_NAME_TYPE) return false;
    *type = (hg_type)name->index;
    return true;
}

bool hg_asm_expect_type(hg_assembler *a, const char *expected, uint8_t *type) {
    hg_type found;
    const hg_token *t = &a->token;
    if (t->kind != HG_TOKEN_NAME ||
        !hg_asm_type(a, t->text, t->length, hg_asm_scope_of(a, t), &found))
        return hg_asm_unexpected(a, expected);
    *type = (uint8_t)found;
    hg_asm_next(a);
    return true;
}
