/* Hints for what other languages write: their words (foreign.def), assignments, and names of the
 * specification.
 * Must not know: what the assembler has read so far. */
#include "isa/assemble_inst.h"

#include <stdio.h>
#include <string.h>

/* ---- words ---- */

typedef struct foreign_word {
    uint8_t place;
    const char *word, *hint;
} foreign_word;

static const foreign_word WORDS[] = {
#define HG_FOREIGN(place, word, hint) {HG_FOREIGN_##place, word, hint},
#include "isa/foreign.def"
#undef HG_FOREIGN
};

static char small(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool same_word(const char *word, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!word[i] || word[i] != small(text[i])) return false;
    return !word[length];
}

const char *hg_foreign_hint(hg_foreign_place place, const char *text, size_t length) {
    for (size_t i = 0; i < HG_COUNT_OF(WORDS); i++)
        if (WORDS[i].place == place && same_word(WORDS[i].word, text, length)) return WORDS[i].hint;
    return NULL;
}

/* ---- signs ---- */

/* Whether the sign stands there and the token is in it. */
static bool covers(const char *sign, const hg_token *t, const char *text, size_t size) {
    size_t length = strlen(sign), at = (size_t)(t->text - text);
    for (size_t back = 0; back < length && back <= at && back < t->column; back++)
        if (length <= size - (at - back) && memcmp(t->text - back, sign, length) == 0) return true;
    return false;
}

const char *hg_foreign_behind(const hg_token *t, const char *expected, const char *text,
                              size_t size) {
    if (t->kind == HG_TOKEN_NAME)
        for (size_t i = 0; i < HG_COUNT_OF(WORDS); i++)
            if (WORDS[i].place == HG_FOREIGN_BEHIND && same_word(WORDS[i].word, t->text, t->length))
                return WORDS[i].hint;
    if (t->text < text || t->text >= text + size) return NULL; /* of an argument, or the end */
    for (size_t i = 0; i < HG_COUNT_OF(WORDS); i++)
        if (WORDS[i].place == HG_FOREIGN_SIGN && covers(WORDS[i].word, t, text, size))
            return WORDS[i].hint;
    bool compared = t->kind == '=' && strncmp(expected, "an operator", 11) == 0;
    return compared ? "x == y compares, and a statement with '=' assigns" : NULL;
}

const char *hg_foreign_sign(hg_foreign_place place, int kind) {
    bool operand = place == HG_FOREIGN_OPERAND;
    switch (kind) {
    case '/': return operand ? NULL : "a comment begins with ';'";
    case '{':
    case '}':
        return "a block in braces begins behind if, else, while, for or loop, at the end of the "
               "line";
    case '%':
        return "registers are r0 to r255, or names that .reg declares, without a sign in front";
    case '*': return operand ? "loads and stores read memory: d = x[i], or ldg d, [x[i]]" : NULL;
    case '&':
        return operand ? "an address stands in the load or store itself: ldg d, [x[i]]" : NULL;
    case '@':
        return operand ? NULL
                       : "a label is NAME: and a jump to it bra @NAME; a branch with a predicate "
                         "is bra.p0 @NAME";
    case '[': return operand ? NULL : "a store is x[i] = v, or stg [x[i]], v";
    case '(':
        return operand
                   ? NULL
                   : "the operation comes first, then its result, then its operands: add d, a, b";
    default: return NULL;
    }
}

/* ---- names of the specification ---- */

/* Letters and digits of both are the same: BarSync, BAR_SYNC and bar.sync are one name. */
static bool same_letters(const char *name, const char *text, size_t length) {
    size_t i = 0;
    for (;; name++, i++) {
        while (*name == '.' || *name == '_') name++;
        while (i < length && (text[i] == '.' || text[i] == '_')) i++;
        if (!*name || i == length) return !*name && i == length;
        if (small(*name) != small(text[i])) return false;
    }
}

hg_op hg_op_from_specification(const char *text, size_t length) {
    if (same_letters("setcc", text, length)) return HG_OP_SET; /* cc: one of its conditions */
    for (int op = 0; op < HG_OP_COUNT; op++)
        if (same_letters(hg_op_get((hg_op)op)->text, text, length) ||
            same_letters(hg_op_get((hg_op)op)->id, text, length))
            return (hg_op)op;
    return HG_OP_NONE;
}

/* ---- brackets, and ++ ---- */

bool hg_asm_bracket_hint(const hg_assembler *a, const hg_token *name, char hint[HG_FOREIGN_BYTES]) {
    const char *text = a->token.text, *end = a->lexer.text + a->lexer.length;
    int length = 0, depth = 0;
    do {
        char c = text + length < end ? text[length] : 0;
        if (!c || c == '\n' || c == ';' || length == HG_MOST_SHOWN_BYTES) return false;
        depth += c == '[' || c == '(';
        depth -= c == ']' || c == ')';
        length++;
    } while (depth > 0);
    snprintf(hint, HG_FOREIGN_BYTES, "an address has brackets of its own: [%.*s%.*s]",
             hg_token_shown(name), name->text, length, text);
    return true;
}

bool hg_asm_count_hint(const hg_assembler *a, const hg_token *first, char hint[HG_FOREIGN_BYTES]) {
    const char *text = a->token.text, *end = a->lexer.text + a->lexer.length;
    int length = 0, depth = 0;
    if (text < a->lexer.text || text >= end) return false;
    while (text + length < end && (text[length] == '[' || depth > 0)) {
        if (text[length] == '\n' || length == HG_MOST_SHOWN_BYTES) return false;
        depth += (text[length] == '[') - (text[length] == ']');
        length++;
    }
    const char *sign = text + length;
    if (end - sign < 2 || (*sign != '+' && *sign != '-') || sign[1] != *sign) return false;
    snprintf(hint, HG_FOREIGN_BYTES, "%.*s%.*s %c= 1", hg_token_shown(first), first->text, length,
             text, *sign);
    return true;
}
