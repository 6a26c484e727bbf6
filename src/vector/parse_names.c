/* Names in the vector form's text: functions and variables. Must not know: operations,
 * declarations. */
#include "vector/parse_internal.h"

#include <string.h>

enum { MOST_ID = 1 << 20 };

/* "f3", "t0": the letter and a number, as one word. */
bool vec_read_numbered(kir_reader *r, char letter, const char *what, uint32_t *n) {
    const kir_token at = r->token;
    uint64_t number = 0;
    *n = 0;
    if (at.kind != KIR_TOKEN_WORD || at.length < 2 || at.length > 9 || at.text[0] != letter)
        return kir_expected(r, what);
    for (uint32_t i = 1; i < at.length; i++) {
        if (at.text[i] < '0' || at.text[i] > '9') return kir_expected(r, what);
        number = number * 10 + (uint64_t)(at.text[i] - '0');
    }
    *n = (uint32_t)number;
    kir_next(r);
    return true;
}

static const char LETTERS[] = "mavs"; /* a mask, an array, an element for each lane, one value */

/* $v3 is shared, v3 the function's. */
bool vec_read_var_name(vec_reader *s, bool *shared, char *letter, uint32_t *id) {
    kir_reader *r = &s->r;
    const kir_token at = r->token;
    *id = 0;
    *shared = kir_accept(r, '$');
    *letter = r->token.kind == KIR_TOKEN_WORD && r->token.length ? r->token.text[0] : 0;
    if (!*letter || !strchr(LETTERS, *letter)) return kir_expected(r, "a variable");
    if (!vec_read_numbered(r, *letter, "a variable", id)) return false;
    return *id < MOST_ID ||
           kir_error(r, &at, "a variable's number: %u, at most %d", (unsigned)*id, MOST_ID - 1);
}

char vec_var_letter(const vec_var *v) {
    return v->mask ? 'm' : v->length ? 'a' : v->each ? 'v' : 's';
}

bool vec_is_var(const vec_reader *s) {
    const kir_reader *r = &s->r;
    if (r->token.kind == '$') return true;
    return r->token.kind == KIR_TOKEN_WORD && r->token.length > 1 &&
           strchr(LETTERS, r->token.text[0]) && r->token.text[1] >= '0' && r->token.text[1] <= '9';
}

bool vec_read_var(vec_reader *s, vec_var **var) {
    const kir_token at = s->r.token;
    bool shared;
    char letter;
    uint32_t id;
    if (!vec_read_var_name(s, &shared, &letter, &id)) return false;
    const vec_var_list *list = shared ? &s->shared : &s->vars;
    *var = id < list->count ? list->data[id] : NULL;
    if (*var && vec_var_letter(*var) == letter) return true;
    return kir_error(&s->r, &at, "there is no variable '%s%c%u'", shared ? "$" : "", letter,
                     (unsigned)id);
}

bool vec_read_function_name(vec_reader *s, vec_function **f) {
    const kir_token at = s->r.token;
    uint32_t id;
    if (!vec_read_numbered(&s->r, 'f', "a function: f and its number", &id)) return false;
    *f = id < s->by_id.count ? s->by_id.data[id] : NULL;
    return *f || kir_error(&s->r, &at, "there is no function f%u", (unsigned)id);
}
