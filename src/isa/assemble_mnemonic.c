/* Mnemonics (language.md 4): words between points, the row that they name, its types, condition,
 * scope and predicate.
 * Must not know: operands. */
#include "base/thread.h"
#include "isa/assemble_inst.h"

#include <stdio.h>

/* ---- mnemonics ---- */

static uint32_t mnemonic_slot(const char *text, size_t length) {
    uint32_t hash = 2166136261u; /* FNV-1a: the keys are our own words */
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return (hash ^ hash >> 15) % HG_MNEMONIC_SLOTS;
}

static hg_op find_in(const uint16_t *slots, const char *text, size_t length, uint32_t *slot) {
    for (*slot = mnemonic_slot(text, length); slots[*slot];
         *slot = (*slot + 1) % HG_MNEMONIC_SLOTS) {
        hg_op op = (hg_op)(slots[*slot] - 1);
        const char *word = hg_op_get(op)->text;
        if (strlen(word) == length && memcmp(word, text, length) == 0) return op;
    }
    return HG_OP_NONE;
}

static hg_op find_op(const hg_assembler *a, const char *text, size_t length, uint32_t *slot) {
    return find_in(a->mnemonics, text, length, slot);
}

hg_op hg_asm_find_op(const hg_assembler *a, const char *text) {
    uint32_t slot;
    return find_op(a, text, strlen(text), &slot);
}

/* The table of every assembler, made once. */
static uint16_t all_mnemonics[HG_MNEMONIC_SLOTS];

static void make_mnemonics(void) {
    uint32_t slot;
    for (int op = 0; op < HG_OP_COUNT; op++) {
        const char *text = hg_op_get((hg_op)op)->text;
        if (find_in(all_mnemonics, text, strlen(text), &slot) == HG_OP_NONE)
            all_mnemonics[slot] = (uint16_t)(op + 1);
    }
}

void hg_asm_init_mnemonics(hg_assembler *a) {
    static hg_once_flag once = HG_ONCE_INIT;
    hg_once(&once, make_mnemonics);
    memcpy(a->mnemonics, all_mnemonics, sizeof a->mnemonics);
}

static const char *part(const hg_mnemonic *m, uint32_t i, size_t *length) {
    *length = m->end[i] - m->start[i];
    return m->token.text + m->start[i];
}

static bool split(hg_mnemonic *m) {
    uint32_t at = 0;
    for (;;) {
        if (m->parts == HG_MAX_PARTS) return false;
        m->start[m->parts] = at;
        while (at < m->token.length && m->token.text[at] != '.') at++;
        if (at == m->start[m->parts]) return false;
        m->end[m->parts++] = at;
        if (at == m->token.length) return true;
        at++;
    }
}

/* The longest run of words that names a row; set has its condition glued on. */
static bool find_name(const hg_assembler *a, hg_mnemonic *m) {
    uint32_t slot;
    for (m->suffix = m->parts; m->suffix > 0; m->suffix--) {
        m->op = find_op(a, m->token.text, m->end[m->suffix - 1], &slot);
        if (m->op != HG_OP_NONE && m->op != HG_OP_SET) return true;
    }
    size_t length;
    const char *word = part(m, 0, &length);
    m->op = HG_OP_SET;
    m->suffix = 1;
    return length > 3 && memcmp(word, "set", 3) == 0 &&
           hg_condition_from_text(word + 3, length - 3, &m->condition);
}

static void try_sets(hg_nearest *n) {
    for (int c = 0; c < HG_COND_COUNT; c++) {
        char word[16];
        snprintf(word, sizeof word, "set%s", hg_condition_name((hg_condition)c));
        hg_nearest_try(n, word);
    }
}

/* What another language means by it; the words before the first `length` bytes' types. NULL:
 * nothing is known. */
static const char *foreign_hint(hg_assembler *a, const hg_mnemonic *m, size_t length,
                                char hint[HG_FOREIGN_BYTES]) {
    size_t first = 0;
    hg_type type;
    while (first < m->token.length && m->token.text[first] != '.') first++;
    if (hg_asm_count_hint(a, &m->token, hint)) return hint;
    const hg_name *name = hg_asm_find_name(a, &m->token);
    if (name && name->kind == HG_NAME_FUNCTION)
        return "a function is called with its arguments in parentheses: f(a, b)";
    const char *word = hg_foreign_hint(HG_FOREIGN_STATEMENT, m->token.text, first);
    if (!word) word = hg_foreign_hint(HG_FOREIGN_OPERAND, m->token.text, m->token.length);
    if (word) return word;
    if (hg_type_from_name(m->token.text, m->token.length, &type))
        return "let v f32 = 0 declares a variable, .reg v f32 a register without a value";
    hg_op op = hg_op_from_specification(m->token.text, length);
    if (op == HG_OP_NONE) return NULL;
    snprintf(hint, HG_FOREIGN_BYTES, "in text it is '%s'", hg_op_get(op)->text);
    return hint;
}

static bool unknown_mnemonic(hg_assembler *a, const hg_mnemonic *m) {
    hg_type type;
    size_t length = m->token.length;
    for (uint32_t i = m->parts;
         i-- > 1 && hg_asm_type(a, m->token.text + m->start[i], m->end[i] - m->start[i],
                                hg_asm_scope_of(a, &m->token), &type);)
        length = m->end[i - 1];
    char got[80], hint[HG_FOREIGN_BYTES];
    (void)hg_asm_find_name(a, &m->token); /* a macro that could not be declared is no mistake */
    if (a->wrong.errors && a->wrong.names_missing) return false;
    const char *said = foreign_hint(a, m, length, hint);
    if (said) {
        hg_asm_error(a, "N01", &m->token, said, "unknown mnemonic %s",
                     hg_token_describe(&m->token, got));
        return false;
    }
    hg_nearest nearest;
    hg_nearest_init(&nearest, m->token.text, length);
    for (int op = 0; op < HG_OP_COUNT && a->wrong.errors < HG_MOST_EXPLAINED; op++)
        if (op != HG_OP_SET) hg_nearest_try(&nearest, hg_op_get((hg_op)op)->text);
    if (a->wrong.errors < HG_MOST_EXPLAINED) try_sets(&nearest);
    hg_asm_error(a, "N01", &m->token, hg_nearest_hint(&nearest), "unknown mnemonic %s",
                 hg_token_describe(&m->token, got));
    return false;
}

static hg_token part_token(const hg_mnemonic *m, uint32_t i) {
    hg_token token = m->token;
    token.text += m->start[i];
    token.column += m->start[i];
    token.length = m->end[i] - m->start[i];
    return token;
}

static bool unsupported(hg_assembler *a, const hg_token *at, const hg_mnemonic *m, hg_type type) {
    char name[40], hint[120];
    if (m->op == HG_OP_SET) {
        snprintf(name, sizeof name, "SETcc.%s", hg_condition_name(m->condition));
        snprintf(hint, sizeof hint, "'set%s' is for integers", hg_condition_name(m->condition));
    } else {
        snprintf(name, sizeof name, "%s", hg_op_get(m->op)->id);
        snprintf(hint, sizeof hint, "'%s' is for %s", hg_op_get(m->op)->text,
                 hg_op_types_text(m->op));
    }
    hg_asm_error(a, "N06", at, hint, "unsupported operation: %s for type %s", name,
                 hg_type_name(type));
    return false;
}

/* ltu … geu compare patterns: integers only. */
bool hg_asm_allows_type(const hg_mnemonic *m, hg_type type) {
    if (m->op == HG_OP_SET && hg_condition_is_unsigned(m->condition) && hg_type_is_float(type))
        return false;
    return hg_op_allows_type(m->op, type);
}

/* Whether a row can be written with that many type suffixes. */
bool hg_asm_takes_types(hg_op op, uint32_t given) {
    const hg_op_info *info = hg_op_get(op);
    return given == info->type_count || (given == 0 && (info->flags & HG_F_TYPE_OPTIONAL));
}

bool hg_asm_no_type(hg_assembler *a, const hg_mnemonic *m) {
    int length = (int)m->end[m->suffix - 1];
    hg_asm_error(a, "V05", &m->token, NULL, "type of '%.*s' cannot be inferred here: write %.*s.%s",
                 length, m->token.text, length, m->token.text,
                 hg_op_get(m->op)->type_count == 2 ? "TYPE.TYPE" : "TYPE");
    return false;
}

static bool read_types(hg_assembler *a, hg_mnemonic *m) {
    uint32_t given = m->parts - m->suffix;
    for (hg_op op = m->op; op != HG_OP_NONE; op = hg_op_next_form(op)) /* bound.map has forms with
                                                                          and without */
        if (hg_asm_takes_types(op, given)) {
            m->op = op;
            break;
        }
    const hg_op_info *info = hg_op_get(m->op);
    uint8_t types[2] = {info->type_count > 0 ? HG_TYPE_OMITTED : HG_TYPE_NOT_USED,
                        info->type_count > 1 ? HG_TYPE_OMITTED : HG_TYPE_NOT_USED};
    for (uint32_t i = 0; i < given; i++) {
        hg_token at = part_token(m, m->suffix + i);
        hg_type type;
        char got[80];
        bool known = hg_asm_type(a, at.text, at.length, hg_asm_scope_of(a, &at), &type);
        if (!known && (i >= info->type_count || given > info->type_count))
            return unknown_mnemonic(a, m);
        if (!known) {
            if (a->wrong.errors && a->wrong.names_missing)
                return false; /* it may be of the file that could not be read */
            hg_asm_error(a, "N06", &at, NULL, "%s is no type", hg_token_describe(&at, got));
            return false;
        }
        if (i >= info->type_count) {
            hg_asm_error(a, "N06", &at, NULL, "'%s' takes %s", info->text,
                         info->type_count == 0   ? "no type"
                         : info->type_count == 1 ? "one type"
                                                 : "two types");
            return false;
        }
        bool allowed = i ? hg_op_allows_types(m->op, (hg_type)types[0], type)
                         : hg_asm_allows_type(m, type);
        if (!allowed) return unsupported(a, &at, m, type);
        types[i] = (uint8_t)type;
    }
    m->type = types[0];
    m->type2 = types[1];
    if (m->type == HG_TYPE_OMITTED && (info->flags & HG_F_DEFAULT_F32) &&
        !(info->flags & HG_F_COLLECTIVE))
        m->type = HG_TYPE_F32;
    m->lacks_type = !hg_asm_takes_types(m->op, given);
    return true;
}

/* Behind `bra.`: a predicate, or the condition of a comparison. */
static bool read_branch(hg_assembler *a, hg_mnemonic *m) {
    hg_token at = part_token(m, m->suffix);
    const hg_named *name = m->suffix + 1 == m->parts ? hg_asm_find_named(a, &at) : NULL;
    if (!(name && name->predicate) && hg_condition_from_text(at.text, at.length, &m->condition)) {
        m->op = HG_OP_SET;
        m->compares = true;
    } else if (hg_looks_like_register(at.text, at.length, 'p')) {
        if (!hg_asm_register(a, &at, HG_MAX_PREDICATES, &m->predicate.number)) return false;
    } else {
        uint8_t kind;
        if (!name || !name->predicate) return unknown_mnemonic(a, m);
        if (!hg_asm_word_register(a, &at, &kind, &m->predicate)) return false;
        if (kind != HG_WORD_PREDICATE) return unknown_mnemonic(a, m);
    }
    m->suffix++;
    return true;
}

/* `bra.` before '!', and the predicate. */
static bool read_negated(hg_assembler *a, hg_mnemonic *m) {
    hg_asm_next(a);
    hg_token at = a->token;
    m->parts = m->suffix = 1;
    m->end[0] = 3;
    m->op = HG_OP_BRA;
    m->type = m->type2 = HG_TYPE_NOT_USED;
    m->negated = true;
    if (!hg_asm_expect(a, HG_TOKEN_NAME, "a predicate")) return false;
    if (hg_looks_like_register(at.text, at.length, 'p'))
        return hg_asm_register(a, &at, HG_MAX_PREDICATES, &m->predicate.number);
    uint8_t kind;
    if (!hg_asm_word_register(a, &at, &kind, &m->predicate)) return false;
    if (kind == HG_WORD_PREDICATE) return true;
    char got[80];
    hg_asm_error(a, "S02", &at, NULL, "expected a predicate, got %s", hg_token_describe(&at, got));
    return false;
}

bool hg_asm_read_mnemonic(hg_assembler *a, hg_mnemonic *m) {
    m->predicate = HG_NO_PREDICATE;
    if (hg_token_is(&m->token, "bra.") && a->token.kind == '!') return read_negated(a, m);
    if (!split(m) || !find_name(a, m)) return unknown_mnemonic(a, m);
    size_t length;
    if (m->op == HG_OP_MEMFENCE) {
        const char *word = m->suffix < m->parts ? part(m, m->suffix, &length) : NULL;
        if (!word || !hg_scope_from_text(word, length, &m->scope)) {
            char got[80];
            hg_asm_error(a, "N01", &m->token,
                         "the scopes are memfence.thread, .block, .device and .system",
                         "unknown mnemonic %s", hg_token_describe(&m->token, got));
            return false;
        }
        m->suffix++;
    }
    if (m->op == HG_OP_BRA && m->suffix < m->parts && !read_branch(a, m)) return false;
    return read_types(a, m);
}
