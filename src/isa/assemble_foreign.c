/* Hints for what other languages write: their words (foreign.def), assignments, and names of the
 * specification.
 * Must not know: what the assembler has read so far. */
#include "isa/assemble_inst.h"

#include <stdio.h>

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

const char *hg_foreign_sign(hg_foreign_place place, int kind) {
    bool operand = place == HG_FOREIGN_OPERAND;
    switch (kind) {
    case '/': return operand ? NULL : "a comment begins with ';'";
    case '{':
    case '}':
        return "there are no braces: labels and branches (bra.ge a, b, @else), loop … endloop, .if "
               "… .end";
    case '%':
        return "registers are r0 to r255, or names that .reg declares, without a sign in front";
    case '*': return operand ? "loads and stores read memory: ldg d, [x[i]]" : NULL;
    case '&':
        return operand ? "an address stands in the load or store itself: ldg d, [x[i]]" : NULL;
    case '@':
        return operand ? NULL
                       : "a label is NAME: and a jump to it bra @NAME; a branch with a predicate "
                         "is bra.p0 @NAME";
    case '[': return operand ? NULL : "a store is stg [x[i]], v";
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

/* ---- assignments ---- */

enum { MOST_TOKENS = 24, HINT_BYTES = HG_FOREIGN_BYTES };

typedef struct line_tokens {
    hg_token t[MOST_TOKENS];
    uint32_t count;
} line_tokens;

/* The rest of the line; false: it is too long for a hint, or has what is no token. */
static bool read_line(const hg_assembler *a, line_tokens *line) {
    hg_lexer lexer = a->lexer;
    line->count = 0;
    for (hg_token t = a->token;; t = hg_lexer_next(&lexer)) {
        if (t.kind == HG_TOKEN_END_OF_LINE || t.kind == HG_TOKEN_END_OF_FILE) return true;
        if (t.kind == HG_TOKEN_BAD || line->count == MOST_TOKENS) return false;
        line->t[line->count++] = t;
    }
}

static const char *operation_of(int kind) {
    switch (kind) {
    case '+': return "add";
    case '-': return "sub";
    case '*': return "mul";
    case '/': return "div";
    case '%': return "rem";
    case '&': return "and";
    case '|': return "or";
    case '^': return "xor";
    case HG_TOKEN_SHIFT_LEFT: return "shl";
    case HG_TOKEN_SHIFT_RIGHT: return "shr";
    default: return NULL;
    }
}

static bool is_value(const hg_token *t) {
    return t->kind == HG_TOKEN_NAME || t->kind == HG_TOKEN_NUMBER;
}

/* Position behind the bracket that closes the one at `at`; 0: it stays open. */
static uint32_t closing(const line_tokens *line, uint32_t at) {
    uint32_t depth = 0;
    for (; at < line->count; at++) {
        int kind = line->t[at].kind;
        depth += kind == '[' || kind == '(';
        depth -= kind == ']' || kind == ')';
        if (!depth) return at + 1;
    }
    return 0;
}

/* The text from one token to before another, which stand in one line of one text. */
typedef struct words {
    const char *text;
    int length;
} words;
static words between(const line_tokens *line, uint32_t from, uint32_t to) {
    if (from >= to) return (words){"", 0};
    const char *end = line->t[to - 1].text + line->t[to - 1].length;
    ptrdiff_t length = end - line->t[from].text;
    return length > 0 && length < 80 ? (words){line->t[from].text, (int)length} : (words){"…", 3};
}

/* d = what stands from `at` on. False: in a form that is no one instruction. */
static bool write_value(const line_tokens *line, uint32_t at, words d, char hint[HINT_BYTES]) {
    const hg_token *t = &line->t[at];
    uint32_t left = line->count - at;
    const char *operation = left == 3 ? operation_of(t[1].kind) : NULL;
    if (left == 1 && is_value(&t[0])) {
        snprintf(hint, HINT_BYTES, "mov %.*s, %.*s", d.length, d.text, (int)t[0].length, t[0].text);
    } else if (left == 2 && t[0].kind == '-' && is_value(&t[1])) {
        snprintf(hint, HINT_BYTES, "neg %.*s, %.*s", d.length, d.text, (int)t[1].length, t[1].text);
    } else if (operation && is_value(&t[0]) && is_value(&t[2])) {
        snprintf(hint, HINT_BYTES, "%s %.*s, %.*s, %.*s", operation, d.length, d.text,
                 (int)t[0].length, t[0].text, (int)t[2].length, t[2].text);
    } else if (left > 2 && t[0].kind == HG_TOKEN_NAME && t[1].kind == '[' &&
               closing(line, at + 1) == line->count) {
        words whole = between(line, at, line->count);
        snprintf(hint, HINT_BYTES, "ldg %.*s, [%.*s]", d.length, d.text, whole.length, whole.text);
    } else if (left > 3 && t[0].kind == HG_TOKEN_NAME && t[1].kind == '(' &&
               closing(line, at + 1) == line->count) {
        words inside = between(line, at + 2, line->count - 1);
        snprintf(hint, HINT_BYTES, "%.*s %.*s, %.*s", (int)t[0].length, t[0].text, d.length, d.text,
                 inside.length, inside.text);
    } else {
        return false;
    }
    return true;
}

bool hg_asm_bracket_hint(const hg_assembler *a, const hg_token *name, char hint[HG_FOREIGN_BYTES]) {
    line_tokens line;
    if (!read_line(a, &line)) return false;
    uint32_t end = closing(&line, 0);
    words place = between(&line, 0, end);
    if (!end) return false;
    snprintf(hint, HG_FOREIGN_BYTES, "an address has brackets of its own: [%.*s%.*s]",
             hg_token_shown(name), name->text, place.length, place.text);
    return true;
}

bool hg_asm_assignment_hint(const hg_assembler *a, const hg_token *first,
                            char hint[HG_FOREIGN_BYTES]) {
    static const char GENERAL[] =
        "the operation comes first, then its result, then its operands: add d, a, b";
    line_tokens line;
    char one[HINT_BYTES];
    if (first->length > HG_MOST_SHOWN_BYTES || !read_line(a, &line) || !line.count) return false;
    words d = {first->text, (int)first->length};
    uint32_t equals = line.t[0].kind == '[' ? closing(&line, 0) : 0;
    const char *operation = line.count > equals ? operation_of(line.t[equals].kind) : NULL;
    bool changed = operation && equals + 1 < line.count && line.t[equals + 1].kind == '=' &&
                   line.t[equals + 1].glued;
    bool counted = operation && equals + 2 == line.count &&
                   line.t[equals].kind == line.t[equals + 1].kind &&
                   (line.t[equals].kind == '+' || line.t[equals].kind == '-');
    if (!changed && !counted && !(equals < line.count && line.t[equals].kind == '=')) return false;
    if (line.t[0].kind == '[') {
        words place = between(&line, 0, equals);
        words value = between(&line, equals + 1, line.count);
        bool plain = !changed && equals + 2 == line.count && is_value(&line.t[equals + 1]);
        snprintf(hint, HG_FOREIGN_BYTES, "a store: stg [%.*s%.*s], %.*s", d.length, d.text,
                 place.length, place.text, plain ? value.length : 1, plain ? value.text : "v");
        return true;
    }
    bool said = false;
    if (counted || (changed && line.count == 3 && is_value(&line.t[2]))) {
        words by = counted ? (words){"1", 1} : between(&line, 2, 3);
        snprintf(one, sizeof one, "%s %.*s, %.*s, %.*s", operation, d.length, d.text, d.length,
                 d.text, by.length, by.text);
        said = true;
    } else if (!changed) {
        said = write_value(&line, 1, d, one);
    }
    snprintf(hint, HG_FOREIGN_BYTES, said ? "%s%s" : "%.0s%s", said ? one : "",
             said ? ": the operation comes first, then its result" : GENERAL);
    return true;
}
