/* Names of variables, functions, tables and values while kernel IR text is read. Must not know:
 * operations. */
#include "kir/reader.h"
#include <string.h>

/* ---- what they look like ---- */

bool kir_read_name(kir_reader *r, const char *what, kir_token *name) {
    kir_token first = r->token;
    if (first.kind == KIR_TOKEN_STRING) { /* with its quotes */
        first.text--;
        first.length += 2;
    } else if (first.kind != KIR_TOKEN_WORD && first.kind != '#') {
        return kir_expected(r, what);
    }
    *name = first;
    kir_next(r);
    bool number = first.kind == '#';
    if (!number && r->token.kind != '.') return true;
    const char *end = first.text + first.length;
    if (!number && r->token.text != end) return true;
    if (!number) {
        end++;
        kir_next(r);
    }
    if (r->token.kind != KIR_TOKEN_NUMBER || r->token.text != end)
        return kir_expected(r, "a number right behind it");
    name->length = (uint32_t)(r->token.text + r->token.length - first.text);
    kir_next(r);
    return true;
}

bool kir_name_text(kir_reader *r, const kir_token *name, const char **text) {
    *text = NULL;
    if (name->text[0] == '#') return true;
    uint32_t n = name->length;
    if (name->text[0] != '"') {
        const char *dot = memchr(name->text, '.', n);
        *text = hg_arena_text(&r->module->arena, name->text, dot ? (size_t)(dot - name->text) : n);
        return *text || kir_no_memory(r);
    }
    while (name->text[n - 1] != '"') n--; /* .2 behind it */
    kir_token before = r->token;
    r->token = *name;
    r->token.kind = KIR_TOKEN_STRING;
    r->token.text++;
    r->token.length = n - 2;
    size_t at = r->at, line_start = r->line_start;
    uint32_t line = r->line;
    bool ok = kir_read_string(r, text);
    r->at = at; /* the string was read again */
    r->line_start = line_start;
    r->line = line;
    r->token = before;
    return ok;
}

/* ---- what they stand for ---- */

static uint32_t hash_of(uint32_t scope, const kir_token *name) {
    uint32_t h = 2166136261u ^ scope * 0x9E3779B1u;
    for (uint32_t i = 0; i < name->length; i++) h = (h ^ (unsigned char)name->text[i]) * 16777619u;
    return h ^ h >> 15;
}

void *kir_find_name(const kir_reader *r, uint32_t scope, const kir_token *name) {
    if (!r->head_count) return NULL;
    for (uint32_t i = r->heads[hash_of(scope, name) % r->head_count]; i;
         i = r->symbols.data[i - 1].next) {
        const kir_symbol *s = &r->symbols.data[i - 1];
        if (s->scope == scope && s->length == name->length &&
            memcmp(s->text, name->text, s->length) == 0)
            return s->thing;
    }
    return NULL;
}

static void enter(kir_reader *r, uint32_t i) {
    kir_symbol *s = &r->symbols.data[i];
    kir_token name = {.text = s->text, .length = s->length};
    uint32_t *head = &r->heads[hash_of(s->scope, &name) % r->head_count];
    s->next = *head;
    *head = i + 1;
}

static bool grow(kir_reader *r) {
    uint32_t count = r->head_count ? 4 * r->head_count : 256;
    uint32_t *heads = hg_calloc(count, sizeof *heads);
    if (!heads) return kir_no_memory(r);
    hg_free(r->heads);
    r->heads = heads;
    r->head_count = count;
    for (uint32_t i = 0; i < r->symbols.count; i++) enter(r, i);
    return true;
}

bool kir_define_name(kir_reader *r, uint32_t scope, const kir_token *name, void *thing) {
    if (kir_find_name(r, scope, name))
        return kir_error(r, name, "'%.*s' is there already",
                         (int)(name->length < 80 ? name->length : 80), name->text);
    if (r->symbols.count >= UINT32_MAX - 1) return kir_error(r, name, "too many names");
    if (r->symbols.count >= r->head_count && !grow(r)) return false;
    kir_symbol *s = hg_vec_push(&r->symbols);
    if (!s) return kir_no_memory(r);
    *s = (kir_symbol){.text = name->text, .length = name->length, .scope = scope, .thing = thing};
    enter(r, (uint32_t)r->symbols.count - 1);
    return true;
}

static bool unknown(kir_reader *r, const char *what, const kir_token *name) {
    return kir_error(r, name, "there is no %s '%.*s'", what,
                     (int)(name->length < 80 ? name->length : 80), name->text);
}

bool kir_read_var(kir_reader *r, kir_var **var) {
    kir_token name;
    bool module = kir_accept(r, '$');
    if (!kir_read_name(r, "a variable", &name)) return false;
    *var = kir_find_name(r, module ? (uint32_t)KIR_SCOPE_VARS : kir_scope_vars(r->function), &name);
    return *var ||
           unknown(r, module ? "variable of the module" : "variable of the function", &name);
}

bool kir_read_value(kir_reader *r, kir_value **value) {
    kir_token name = r->token;
    if (name.kind != KIR_TOKEN_VALUE) return kir_expected(r, "a value");
    *value = kir_find_name(r, kir_scope_values(r->function), &name);
    if (!*value) return unknown(r, "value before this one named", &name);
    kir_next(r);
    return true;
}
