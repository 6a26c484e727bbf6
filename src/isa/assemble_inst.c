/* Instructions (language.md 4): mnemonics with their suffixes, the form among rows that share a mnemonic, operands checked
 * against the row, counted loops. Everything about an instruction comes from the table.
 * Must not know: types of registers, control flow. */
#include "isa/text_internal.h"

#include <stdio.h>

/* ---- mnemonics ---- */

static uint32_t mnemonic_slot(const char *text, size_t length) {
    uint32_t hash = 2166136261u; /* FNV-1a: the keys are our own words */
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return (hash ^ hash >> 15) % HG_MNEMONIC_SLOTS;
}

static hg_op find_op(const hg_assembler *a, const char *text, size_t length, uint32_t *slot) {
    for (*slot = mnemonic_slot(text, length); a->mnemonics[*slot]; *slot = (*slot + 1) % HG_MNEMONIC_SLOTS) {
        hg_op op = (hg_op)(a->mnemonics[*slot] - 1);
        const char *word = hg_op_get(op)->text;
        if (strlen(word) == length && memcmp(word, text, length) == 0) return op;
    }
    return HG_OP_NONE;
}

void hg_asm_init_mnemonics(hg_assembler *a) {
    uint32_t slot;
    for (int op = 0; op < HG_OP_COUNT; op++)
        if (find_op(a, hg_op_get((hg_op)op)->text, strlen(hg_op_get((hg_op)op)->text), &slot) == HG_OP_NONE)
            a->mnemonics[slot] = (uint16_t)(op + 1);
}

enum { MAX_PARTS = 6 };

/* A mnemonic taken apart: words between points, as offsets into its token. */
typedef struct mnemonic {
    hg_token token;
    uint32_t start[MAX_PARTS], end[MAX_PARTS];
    uint32_t parts, suffix; /* number of words; first one behind the name */
    hg_op op;
    hg_condition condition;
    hg_scope scope;
    uint8_t predicate; /* of bra; 255: none */
    uint8_t type, type2;
} mnemonic;

static const char *part(const mnemonic *m, uint32_t i, size_t *length) {
    *length = m->end[i] - m->start[i];
    return m->token.text + m->start[i];
}

static bool split(mnemonic *m) {
    uint32_t at = 0;
    for (;;) {
        if (m->parts == MAX_PARTS) return false;
        m->start[m->parts] = at;
        while (at < m->token.length && m->token.text[at] != '.') at++;
        if (at == m->start[m->parts]) return false;
        m->end[m->parts++] = at;
        if (at == m->token.length) return true;
        at++;
    }
}

/* The longest run of words that names a row; set has its condition glued on. */
static bool find_name(const hg_assembler *a, mnemonic *m) {
    uint32_t slot;
    for (m->suffix = m->parts; m->suffix > 0; m->suffix--) {
        m->op = find_op(a, m->token.text, m->end[m->suffix - 1], &slot);
        if (m->op != HG_OP_NONE && m->op != HG_OP_SET) return true;
    }
    size_t length;
    const char *word = part(m, 0, &length);
    m->op = HG_OP_SET;
    m->suffix = 1;
    return length > 3 && memcmp(word, "set", 3) == 0 && hg_condition_from_text(word + 3, length - 3, &m->condition);
}

static void try_sets(hg_nearest *n) {
    for (int c = 0; c < HG_COND_COUNT; c++) {
        char word[16];
        snprintf(word, sizeof word, "set%s", hg_condition_name((hg_condition)c));
        hg_nearest_try(n, word);
    }
}

static bool unknown_mnemonic(hg_assembler *a, const mnemonic *m) {
    hg_type type;
    size_t length = m->token.length;
    for (uint32_t i = m->parts; i-- > 1 && hg_type_from_name(m->token.text + m->start[i], m->end[i] - m->start[i], &type);)
        length = m->end[i - 1];
    hg_nearest nearest;
    hg_nearest_init(&nearest, m->token.text, length);
    for (int op = 0; op < HG_OP_COUNT && a->errors < HG_MOST_EXPLAINED; op++)
        if (op != HG_OP_SET) hg_nearest_try(&nearest, hg_op_get((hg_op)op)->text);
    if (a->errors < HG_MOST_EXPLAINED) try_sets(&nearest);
    char got[80];
    hg_asm_error(a, "N01", &m->token, hg_nearest_hint(&nearest), "unknown mnemonic %s", hg_token_describe(&m->token, got));
    return false;
}

static hg_token part_token(const mnemonic *m, uint32_t i) {
    hg_token token = m->token;
    token.text += m->start[i];
    token.column += m->start[i];
    token.length = m->end[i] - m->start[i];
    return token;
}

static bool unsupported(hg_assembler *a, const hg_token *at, const mnemonic *m, hg_type type) {
    char name[40];
    if (m->op == HG_OP_SET)
        snprintf(name, sizeof name, "SETcc.%s", hg_condition_name(m->condition));
    else
        snprintf(name, sizeof name, "%s", hg_op_get(m->op)->id);
    hg_asm_error(a, "N06", at, NULL, "unsupported operation: %s for type %s", name, hg_type_name(type));
    return false;
}

/* ltu … geu compare patterns: integers only. */
static bool allows(const mnemonic *m, hg_type type) {
    if (m->op == HG_OP_SET && hg_condition_is_unsigned(m->condition) && hg_type_is_float(type)) return false;
    return hg_op_allows_type(m->op, type);
}

/* Whether a row can be written with that many type suffixes. */
static bool takes_types(hg_op op, uint32_t given) {
    const hg_op_info *info = hg_op_get(op);
    return given == info->type_count || (given == 0 && (info->flags & HG_F_TYPE_OPTIONAL));
}

static bool read_types(hg_assembler *a, mnemonic *m) {
    uint32_t given = m->parts - m->suffix;
    for (hg_op op = m->op; op != HG_OP_NONE; op = hg_op_next_form(op)) /* bound.map has forms with and without */
        if (takes_types(op, given)) {
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
        bool known = hg_type_from_name(at.text, at.length, &type);
        if (!known && (i >= info->type_count || given > info->type_count)) return unknown_mnemonic(a, m);
        if (!known) {
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
        bool allowed = i ? hg_op_allows_types(m->op, (hg_type)types[0], type) : allows(m, type);
        if (!allowed) return unsupported(a, &at, m, type);
        types[i] = (uint8_t)type;
    }
    m->type = types[0];
    m->type2 = types[1];
    if (m->type == HG_TYPE_OMITTED && (info->flags & HG_F_DEFAULT_F32)) m->type = HG_TYPE_F32;
    if (takes_types(m->op, given)) return true;
    hg_asm_error(a, "V05", &m->token, NULL, "type of '%.*s' cannot be inferred here: write %.*s.%s", (int)m->end[m->suffix - 1],
                 m->token.text, (int)m->end[m->suffix - 1], m->token.text, info->type_count == 2 ? "TYPE.TYPE" : "TYPE");
    return false;
}

static bool read_mnemonic(hg_assembler *a, mnemonic *m) {
    m->predicate = 255;
    if (!split(m) || !find_name(a, m)) return unknown_mnemonic(a, m);
    size_t length;
    if (m->op == HG_OP_MEMFENCE) {
        const char *word = m->suffix < m->parts ? part(m, m->suffix, &length) : NULL;
        if (!word || !hg_scope_from_text(word, length, &m->scope)) {
            char got[80];
            hg_asm_error(a, "N01", &m->token, "the scopes are memfence.thread, .block, .device and .system", "unknown mnemonic %s",
                         hg_token_describe(&m->token, got));
            return false;
        }
        m->suffix++;
    }
    if (m->op == HG_OP_BRA && m->suffix < m->parts) {
        hg_token at = part_token(m, m->suffix);
        if (!hg_looks_like_register(at.text, at.length, 'p')) return unknown_mnemonic(a, m);
        if (!hg_asm_register(a, &at, HG_MAX_PREDICATES, &m->predicate)) return false;
        m->suffix++;
    }
    return read_types(a, m);
}

/* ---- the form ---- */

static bool fits(const hg_operand_info *info, const hg_raw_operand *raw) {
    switch ((hg_operand_kind)info->kind) {
    case HG_K_REG: return raw->kind == HG_RAW_REG;
    case HG_K_PRED: return raw->kind == HG_RAW_PRED;
    case HG_K_LABEL: return raw->kind == HG_RAW_TARGET;
    case HG_K_ADDRESS: return raw->kind == HG_RAW_ADDRESS;
    case HG_K_ARRAY: return raw->kind == HG_RAW_ADDRESS || raw->kind == HG_RAW_REG;
    case HG_K_COUNT: return raw->kind == HG_RAW_REG || raw->literal.length;
    case HG_K_LITERAL:
    case HG_K_U8:
    case HG_K_I8: return raw->literal.length != 0;
    case HG_K_POOL: return raw->kind == HG_RAW_POOL;
    case HG_K_OPNAME:
    case HG_K_IDNAME:
    case HG_K_BOOL: return raw->kind == HG_RAW_WORD;
    case HG_K_TUPLE: return raw->kind == HG_RAW_TUPLE;
    case HG_K_TUPLES: return raw->kind == HG_RAW_TUPLES || (raw->kind == HG_RAW_TUPLE && raw->value.item_count == 0);
    default: return false;
    }
}

static const char *kind_text(const hg_operand_info *info) {
    switch ((hg_operand_kind)info->kind) {
    case HG_K_REG: return "a register";
    case HG_K_PRED: return "a predicate";
    case HG_K_LABEL: return "a label (@name)";
    case HG_K_ADDRESS: return "an address ([...])";
    case HG_K_ARRAY: return "an array (a register holding a buffer, or an address)";
    case HG_K_COUNT: return "an unsigned number or a register";
    case HG_K_LITERAL: return "a literal";
    case HG_K_U8:
    case HG_K_I8: return "a number";
    case HG_K_POOL: return "a pool (poolN)";
    case HG_K_OPNAME: return "an operation";
    case HG_K_IDNAME: return "the name of an id (lane_idx_x, ...)";
    case HG_K_BOOL: return "true or false";
    case HG_K_TUPLE: return "a tuple of numbers and registers";
    case HG_K_TUPLES: return "a tuple of tuples";
    default: return "another operand";
    }
}

static const char *raw_text(const hg_raw_operand *raw, char buffer[80]) {
    static const char *const names[] = {"register", "predicate", "label",         "address", "pool",
                                        "literal",  "word",      "named operand", "tuple",   "tuple of tuples"};
    int shown = raw->token.length > 40 ? 40 : (int)raw->token.length;
    snprintf(buffer, 80, "%s '%.*s'%s", names[raw->kind], shown, raw->token.text, raw->token.length > 40 ? "..." : "");
    return buffer;
}

typedef struct operands {
    hg_raw_operand raw[HG_MAX_OPERANDS];
    uint32_t count;
    hg_token extra; /* the first one too many */
} operands;

enum { NOT_GIVEN = 255 };
/* Given operands as those of a row. */
typedef struct match {
    uint8_t given[HG_MAX_OPERANDS]; /* one an operand of the row: number of the given one, or NOT_GIVEN */
    uint32_t matched;               /* given operands before the first that does not suit */
    bool whole;                     /* every given operand suits, and none is missing */
} match;

/* Operands of a row that text writes, by position or by name. */
static uint32_t count_operands(const hg_op_info *info, bool named) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < info->operand_count; i++)
        count += !hg_operand_in_mnemonic(&info->operands[i]) && hg_operand_is_named(&info->operands[i]) == named;
    return count;
}

static uint32_t text_operand_count(const hg_op_info *info) { return count_operands(info, false) + count_operands(info, true); }

/* The operand of that name, operand_count: none. */
static uint32_t find_named(const hg_op_info *info, const hg_token *name) {
    uint32_t i = 0;
    while (i < info->operand_count && !(hg_operand_is_named(&info->operands[i]) && hg_token_is(name, info->operands[i].name))) i++;
    return i;
}

/* Those by position come first; those by name behind them in any order. */
static void match_row(const hg_op_info *info, const operands *given, match *m) {
    uint32_t n = 0, i = 0;
    memset(m->given, NOT_GIVEN, sizeof m->given);
    m->whole = true;
    for (; i < info->operand_count && m->whole; i++) {
        if (hg_operand_in_mnemonic(&info->operands[i]) || hg_operand_is_named(&info->operands[i])) continue;
        m->whole = n < given->count && !given->raw[n].name.length && fits(&info->operands[i], &given->raw[n]);
        if (m->whole) m->given[i] = (uint8_t)n++;
    }
    for (; m->whole && n < given->count && given->raw[n].name.length; n++) {
        i = find_named(info, &given->raw[n].name);
        if (i == info->operand_count || m->given[i] != NOT_GIVEN || !fits(&info->operands[i], &given->raw[n])) break;
        m->given[i] = (uint8_t)n;
    }
    m->matched = n;
    m->whole = m->whole && n == given->count && !given->extra.length;
    for (i = 0; i < info->operand_count && m->whole; i++)
        m->whole = m->given[i] != NOT_GIVEN || info->operands[i].optional || hg_operand_in_mnemonic(&info->operands[i]);
}

/* Among the rows of a mnemonic the one that suits: all operands, else the longest beginning. */
static hg_op choose_form(hg_op op, uint32_t types, const operands *given, match *best) {
    hg_op chosen = op; /* takes so many types */
    match_row(hg_op_get(op), given, best);
    while (!best->whole && (op = hg_op_next_form(op)) != HG_OP_NONE) {
        match m;
        if (!takes_types(op, types)) continue;
        match_row(hg_op_get(op), given, &m);
        if (!m.whole && m.matched <= best->matched) continue;
        chosen = op;
        *best = m;
    }
    return chosen;
}

static const hg_operand_info *nth_operand(const hg_op_info *info, uint32_t n) {
    for (uint32_t i = 0;; i++)
        if (!hg_operand_in_mnemonic(&info->operands[i]) && n-- == 0) return &info->operands[i];
}

/* A given operand name= that the row does not have, has already, or has with another kind of value. */
static void wrong_named(hg_assembler *a, const hg_op_info *info, const hg_raw_operand *raw, const match *m) {
    uint32_t i = find_named(info, &raw->name);
    int shown = raw->name.length > 40 ? 40 : (int)raw->name.length;
    char got[80];
    if (i == info->operand_count) {
        hg_nearest nearest;
        hg_nearest_init(&nearest, raw->name.text, raw->name.length);
        for (uint32_t k = 0; k < info->operand_count; k++)
            if (hg_operand_is_named(&info->operands[k]) && m->given[k] == NOT_GIVEN) hg_nearest_try(&nearest, info->operands[k].name);
        hg_asm_error(a, "N03", &raw->name, hg_nearest_hint(&nearest), "'%s' has no operand '%.*s='", info->text, shown, raw->name.text);
    } else if (m->given[i] != NOT_GIVEN) {
        hg_asm_error(a, "N05", &raw->name, NULL, "operand '%s=' of '%s' is given twice", info->operands[i].name, info->text);
    } else {
        hg_asm_error(a, "N03", &raw->token, NULL, "operand '%s' of '%s': expected %s, got %s", info->operands[i].name, info->text,
                     kind_text(&info->operands[i]), raw_text(raw, got));
    }
}

static void missing_named(hg_assembler *a, const mnemonic *name, const hg_op_info *info, const match *m) {
    char list[200] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < info->operand_count; i++) {
        const hg_operand_info *o = &info->operands[i];
        if (!hg_operand_is_named(o) || o->optional || m->given[i] != NOT_GIVEN) continue;
        bool room = length + strlen(o->name) + 8 < sizeof list;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s%s", length ? ", " : "", room ? o->name : "...",
                                   room ? "=" : "");
        if (!room) break;
    }
    hg_asm_error(a, "N05", &name->token, NULL, "'%s' without %s", info->text, list);
}

/* Messages of mnemonics with several forms, and of those without names, count: which form was meant is not known. */
static bool wrong_operands(hg_assembler *a, const mnemonic *name, hg_op op, const operands *given, const match *m) {
    const hg_op_info *info = hg_op_get(op);
    uint32_t wanted = text_operand_count(info), by_position = count_operands(info, false);
    bool by_name = wanted > by_position && m->matched >= by_position && hg_op_next_form(name->op) == HG_OP_NONE;
    char got[80];
    const hg_raw_operand *raw = m->matched < given->count ? &given->raw[m->matched] : NULL;
    if (by_name && raw && raw->name.length) {
        wrong_named(a, info, raw, m);
    } else if (by_name && raw) {
        hg_asm_error(a, "N03", &raw->token, NULL, "operand %u of '%s': expected NAME=VALUE, got %s", (unsigned)m->matched + 1, info->text,
                     raw_text(raw, got));
    } else if (by_name && !given->extra.length) {
        missing_named(a, name, info, m);
    } else if (raw && m->matched < wanted) {
        const hg_operand_info *expected = nth_operand(info, m->matched);
        if (raw->name.length)
            snprintf(got, sizeof got, "'%.*s='", raw->name.length > 40 ? 40 : (int)raw->name.length, raw->name.text);
        else
            raw_text(raw, got);
        hg_asm_error(a, "N03", &raw->token, NULL, "operand %u of '%s': expected %s%s%s, got %s", (unsigned)m->matched + 1, info->text,
                     hg_operand_is_named(expected) ? expected->name : "", hg_operand_is_named(expected) ? "=" : "", kind_text(expected),
                     got);
    } else {
        bool fewer = given->count < wanted;
        const hg_token *at = fewer                                               ? &name->token
                             : given->count > wanted && wanted < HG_MAX_OPERANDS ? &given->raw[wanted].token
                                                                                 : &given->extra;
        hg_asm_error(a, "N04", at, NULL, "'%s' takes %u operand%s, got %s%u", info->text, (unsigned)wanted, wanted == 1 ? "" : "s",
                     given->extra.length ? "more than " : "", (unsigned)given->count);
    }
    return false;
}

static bool takes_named(hg_op op) {
    for (; op != HG_OP_NONE; op = hg_op_next_form(op))
        for (uint32_t i = 0; i < hg_op_get(op)->operand_count; i++)
            if (hg_op_get(op)->operands[i].access & HG_NAMED) return true;
    return false;
}

/* The value behind name=. */
static bool read_named(hg_assembler *a, hg_raw_operand *raw) {
    hg_token name = raw->token;
    hg_asm_next(a); /* the = */
    if (!hg_asm_operand(a, raw)) return false;
    raw->name = name;
    return raw->kind != HG_RAW_NAMED || hg_asm_unexpected(a, "',' or end of line");
}

static bool read_operands(hg_assembler *a, hg_op op, operands *given) {
    given->count = 0;
    given->extra = (hg_token){0};
    if (a->token.kind == HG_TOKEN_END_OF_LINE || a->token.kind == HG_TOKEN_END_OF_FILE) return true;
    do {
        hg_raw_operand spare;
        bool room = given->count < HG_MAX_OPERANDS;
        hg_raw_operand *raw = room ? &given->raw[given->count] : &spare;
        if (!hg_asm_operand(a, raw)) return false;
        if (raw->kind == HG_RAW_NAMED && takes_named(op)) {
            if (!read_named(a, raw)) return false;
        } else if (raw->kind == HG_RAW_NAMED) {
            hg_asm_error(a, "N03", &raw->token, NULL, "named operand '%.*s=': this instruction takes its operands by position",
                         raw->token.length > 40 ? 40 : (int)raw->token.length, raw->token.text);
            return false;
        }
        if (room)
            given->count++;
        else if (!given->extra.length)
            given->extra = spare.token;
    } while (hg_asm_accept(a, ','));
    return a->token.kind == HG_TOKEN_END_OF_LINE || a->token.kind == HG_TOKEN_END_OF_FILE || hg_asm_unexpected(a, "',' or end of line");
}

/* ---- values of operands ---- */

/* An unsigned number at most `most`; `code` says which kind of mistake a larger one is. */
static bool unsigned_value(hg_assembler *a, const hg_token *at, uint64_t most, const char *code, uint64_t *value) {
    hg_number_kind kind = hg_classify_number(at->text, at->length);
    if (at->text[0] != '-' && kind != HG_NUMBER_BAD && kind != HG_NUMBER_DECIMAL && kind != HG_NUMBER_HEX && kind != HG_NUMBER_BINARY) {
        hg_asm_error(a, "N03", at, NULL, "expected an unsigned integer, got a real number");
        return false;
    }
    if (is_letter(at->text[0])) {
        hg_asm_error(a, "N03", at, NULL, "expected an unsigned integer, got '%.*s'", (int)at->length > 40 ? 40 : (int)at->length, at->text);
        return false;
    }
    if (at->text[0] != '-' && kind == HG_NUMBER_BAD) return hg_asm_number(a, at, 0, value);
    if (at->text[0] != '-' && !hg_parse_uint(at->text, at->length, value) && *value <= most) return true;
    hg_asm_error(a, code, at, NULL, "%.*s is out of range: 0 to %llu", (int)at->length > 40 ? 40 : (int)at->length, at->text,
                 (unsigned long long)most);
    return false;
}

static bool signed_byte(hg_assembler *a, const hg_token *at, uint64_t *value) {
    uint8_t byte[512];
    char message[160];
    const char *hint;
    if (hg_parse_literal(at->text, at->length, HG_TYPE_I8, byte, message, &hint)) {
        hg_asm_error(a, "N07", at, NULL, "%.*s is out of range: -128 to 127", (int)at->length > 40 ? 40 : (int)at->length, at->text);
        return false;
    }
    *value = (uint64_t)(int64_t)(int8_t)byte[0];
    return true;
}

static bool add_literal(hg_assembler *a, const void *bytes, hg_type type, uint64_t *offset) {
    *offset = a->literals.length;
    hg_text_add(&a->literals, bytes, (size_t)hg_type_size_bytes(type));
    return !a->literals.failed || hg_asm_no_memory(a);
}

/* mov_imm without type: i32 if it fits, else i64; real literals f32. */
static bool default_type(hg_assembler *a, const hg_token *literal, uint8_t *type) {
    uint8_t bytes[512];
    char message[160];
    const char *hint;
    uint32_t at = literal->text[0] == '-';
    while (at < literal->length && (literal->text[at] == ' ' || literal->text[at] == '\t')) at++;
    if (literal->text[at] == 'b') {
        hg_asm_error(a, "V05", literal, NULL, "type of 'mov_imm' cannot be inferred here: write mov_imm.TYPE");
        return false;
    }
    hg_number_kind kind = hg_classify_number(literal->text + at, literal->length - at);
    bool real = is_letter(literal->text[at]) || kind == HG_NUMBER_REAL || kind == HG_NUMBER_HEXREAL; /* inf and nan too */
    bool narrow = !hg_parse_literal(literal->text, literal->length, HG_TYPE_I32, bytes, message, &hint);
    *type = real ? HG_TYPE_F32 : narrow ? HG_TYPE_I32 : HG_TYPE_I64;
    return true;
}

static bool literal_value(hg_assembler *a, hg_inst *inst, const hg_operand_info *info, const hg_token *at, uint64_t *value) {
    uint8_t bytes[512];
    if (inst->type == HG_TYPE_OMITTED && !default_type(a, at, &inst->type)) return false;
    hg_type type = hg_literal_type(inst, info);
    return hg_asm_literal_bytes(a, at, type, bytes) && add_literal(a, bytes, type, value);
}

static bool opname_value(hg_assembler *a, const hg_inst *inst, hg_type_rule names, const hg_token *at, uint64_t *value) {
    hg_opname name;
    const hg_op_info *info = hg_op_get((hg_op)inst->op);
    char got[80];
    if (!hg_opname_from_text(at->text, at->length, &name) || !hg_opname_fits(name, names)) {
        hg_nearest nearest;
        hg_nearest_init(&nearest, at->text, at->length);
        for (int i = 0; i < HG_OPNAME_COUNT; i++)
            if (hg_opname_fits((hg_opname)i, names)) hg_nearest_try(&nearest, hg_opname_name((hg_opname)i));
        hg_asm_error(a, "N03", at, hg_nearest_hint(&nearest), "%s is no operation of '%s'", hg_token_describe(at, got), info->text);
        return false;
    }
    *value = name;
    if (hg_opname_allows_type(name, (hg_type)inst->type)) return true;
    hg_asm_error(a, "N06", at, NULL, "unsupported operation: %s %s for type %s", info->id, hg_opname_name(name),
                 hg_type_name((hg_type)inst->type));
    return false;
}

static bool idname_value(hg_assembler *a, const hg_token *at, uint64_t *value) {
    hg_idname name;
    char got[80];
    if (hg_idname_from_text(at->text, at->length, &name)) {
        *value = name;
        return true;
    }
    hg_nearest nearest;
    hg_nearest_init(&nearest, at->text, at->length);
    for (int i = 0; i < HG_ID_COUNT; i++) hg_nearest_try(&nearest, hg_idname_name((hg_idname)i));
    hg_asm_error(a, "N03", at, hg_nearest_hint(&nearest), "%s is no id", hg_token_describe(at, got));
    return false;
}

static bool bool_value(hg_assembler *a, const hg_token *at, uint64_t *value) {
    char got[80];
    *value = hg_token_is(at, "true");
    if (*value || hg_token_is(at, "false")) return true;
    hg_asm_error(a, "N03", at, NULL, "expected true or false, got %s", hg_token_describe(at, got));
    return false;
}

/* An operand that has the right kind, in its final form. */
static bool convert(hg_assembler *a, hg_inst *inst, const hg_operand_info *info, const hg_raw_operand *raw, hg_operand *o) {
    const hg_token *at = raw->literal.length ? &raw->literal : &raw->token;
    *o = raw->value;
    o->kind = info->kind;
    switch ((hg_operand_kind)info->kind) {
    case HG_K_ADDRESS:
        if (!(hg_op_get((hg_op)inst->op)->flags & HG_F_SHARED) || o->place == HG_PLACE_SHARED) return true;
        hg_asm_error(a, "N03", at, NULL, "'%s' takes shared memory only: write [shared + ...]", hg_op_get((hg_op)inst->op)->text);
        return false;
    case HG_K_ARRAY:
        if (raw->kind == HG_RAW_REG)
            o->place = HG_PLACE_BARE;
        else
            o->kind = HG_K_ADDRESS;
        return true;
    case HG_K_COUNT: o->is_reg = raw->kind == HG_RAW_REG; return o->is_reg || unsigned_value(a, at, UINT64_MAX, "S04", &o->value);
    case HG_K_U8: return unsigned_value(a, at, 255, "N07", &o->value);
    case HG_K_I8: return signed_byte(a, at, &o->value);
    case HG_K_LITERAL: return literal_value(a, inst, info, at, &o->value);
    case HG_K_OPNAME: return opname_value(a, inst, (hg_type_rule)info->rule, at, &o->value);
    case HG_K_IDNAME: return idname_value(a, at, &o->value);
    case HG_K_BOOL: return bool_value(a, at, &o->value);
    case HG_K_TUPLE: return !raw->literal.length || hg_asm_number(a, at, 0, &(uint64_t){0});
    case HG_K_LABEL: {
        hg_fixup *fixup = hg_vec_push(&a->fixups);
        if (!fixup) return hg_asm_no_memory(a);
        *fixup = (hg_fixup){a->operands.count - 1, (uint32_t)a->insts.count - 1, raw->label, *at};
        return true;
    }
    default: return true;
    }
}

/* An operand that is left out. */
static bool default_operand(hg_assembler *a, const hg_inst *inst, const hg_operand_info *info, hg_operand *o) {
    hg_type type = hg_literal_type(inst, info);
    hg_default d;
    hg_default_operand(info, type, &d);
    *o = d.operand;
    if (info->kind == HG_K_LITERAL) return add_literal(a, d.literal, type, &o->value);
    if (info->kind != HG_K_TUPLE && info->kind != HG_K_TUPLES) return true;
    return hg_asm_keep_items(a, d.items, (uint32_t)o->item_count, &o->value);
}

static void implicit_operand(const mnemonic *m, const hg_operand_info *info, hg_operand *o) {
    *o = (hg_operand){.kind = info->kind};
    if (info->kind == HG_K_COND) o->value = m->condition;
    if (info->kind == HG_K_SCOPE) o->value = m->scope;
    if (info->kind == HG_K_PRED) o->reg = m->predicate;
}

/* ---- emitting ---- */

bool hg_asm_emit(hg_assembler *a, hg_op op, uint8_t type, uint8_t type2, const hg_token *at) {
    if (a->insts.count == HG_MAX_INSTRUCTIONS) {
        hg_asm_error(a, "S05", at, NULL, "more than %d instructions", HG_MAX_INSTRUCTIONS);
        a->stop = true;
        return false;
    }
    hg_inst *inst = hg_vec_push(&a->insts);
    uint32_t *line = hg_vec_push(&a->lines), *column = hg_vec_push(&a->columns);
    if (!inst || !line || !column) return hg_asm_no_memory(a);
    *inst = (hg_inst){(uint16_t)op, type, type2, (uint32_t)a->operands.count};
    *line = at->line;
    *column = at->column;
    return true;
}

static hg_operand *add_operand(hg_assembler *a, hg_operand operand, const hg_token *at) {
    hg_operand *o = hg_vec_push(&a->operands);
    hg_span *span = hg_vec_push(&a->spans);
    if (!o || !span) {
        hg_asm_no_memory(a);
        return NULL;
    }
    *o = operand;
    *span = (hg_span){at->line, at->column, hg_token_width(at)};
    return o;
}

static bool check_register_run(hg_assembler *a, const hg_inst *inst, const operands *given) {
    if (hg_op_get((hg_op)inst->op)->operands[2].kind != HG_K_U8) return true;
    const hg_operand *o = &a->operands.data[inst->operands];
    if (o[1].reg + o[2].value <= HG_MAX_REGISTERS) return true;
    hg_asm_error(a, "N07", &given->raw[2].token, NULL, "%llu registers from r%u on reach past r255", (unsigned long long)o[2].value,
                 o[1].reg);
    return false;
}

static bool emit_operands(hg_assembler *a, const mnemonic *name, const operands *given, const match *m) {
    hg_inst *inst = &a->insts.data[a->insts.count - 1];
    const hg_op_info *info = hg_op_get((hg_op)inst->op);
    for (uint32_t i = 0; i < info->operand_count; i++) {
        const hg_operand_info *wanted = &info->operands[i];
        const hg_raw_operand *raw = m->given[i] == NOT_GIVEN ? NULL : &given->raw[m->given[i]];
        hg_operand *o = add_operand(a, (hg_operand){0}, raw ? &raw->token : &name->token);
        if (!o) return false;
        if (raw ? !convert(a, inst, wanted, raw, o) : hg_operand_is_named(wanted) && !default_operand(a, inst, wanted, o)) return false;
        if (!raw && hg_operand_in_mnemonic(wanted)) implicit_operand(name, wanted, o);
    }
    return !(info->flags & HG_F_RUN) || check_register_run(a, inst, given);
}

/* ---- counted loops (language.md 4.1) ---- */

static bool emit_counter(hg_assembler *a, const hg_token *at, const operands *given, uint32_t count) {
    uint64_t offset;
    uint8_t bytes[4];
    for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)((count - 1) >> (i * 8));
    return hg_asm_emit(a, HG_OP_MOV_IMM, HG_TYPE_U32, HG_TYPE_NOT_USED, at) && add_literal(a, bytes, HG_TYPE_U32, &offset) &&
           add_operand(a, (hg_operand){.kind = HG_K_REG, .reg = given->raw[0].value.reg}, &given->raw[0].token) &&
           add_operand(a, (hg_operand){.kind = HG_K_LITERAL, .value = offset}, &given->raw[1].token);
}

static bool emit_skip(hg_assembler *a, const hg_token *at) {
    return hg_asm_emit(a, HG_OP_BRA, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, at) &&
           add_operand(a, (hg_operand){.kind = HG_K_PRED, .reg = 255}, at) && add_operand(a, (hg_operand){.kind = HG_K_LABEL}, at);
}

static bool open_loop(hg_assembler *a, const hg_token *at, const operands *given) {
    uint64_t count = 1;
    if (!unsigned_value(a, &given->raw[1].literal, UINT32_MAX, "S04", &count)) count = 1; /* its endloop is no mistake */
    if (a->loops.count == HG_MAX_LOOP_NESTING) {
        if (!a->loops_too_deep) hg_asm_error(a, "S05", at, NULL, "counted loops nested deeper than %d", HG_MAX_LOOP_NESTING);
        a->loops_too_deep++;
        return true;
    }
    if (!(count ? emit_counter(a, at, given, (uint32_t)count) : emit_skip(a, at))) return false;
    hg_counted_loop *loop = hg_vec_push(&a->loops);
    if (!loop) return hg_asm_no_memory(a);
    *loop = (hg_counted_loop){*at, given->raw[0].value.reg, count == 0, (uint32_t)a->insts.count, a->operands.count - 1};
    return true;
}

static bool close_loop(hg_assembler *a, const hg_token *at) {
    if (!hg_asm_expect_end(a)) return true; /* closed all the same */
    if (a->loops_too_deep) {
        a->loops_too_deep--;
        return true;
    }
    if (!a->loops.count) {
        if (!a->loops_unsure) hg_asm_error(a, "L03", at, NULL, "'endloop' without 'loop'");
        return true;
    }
    hg_counted_loop loop = a->loops.data[--a->loops.count];
    if (loop.never) {
        a->operands.data[loop.operand].value = a->insts.count;
        return true;
    }
    return hg_asm_emit(a, HG_OP_LOOP, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, at) &&
           add_operand(a, (hg_operand){.kind = HG_K_REG, .reg = loop.counter}, at) &&
           add_operand(a, (hg_operand){.kind = HG_K_LABEL, .value = loop.body}, at);
}

/* ---- the statement ---- */

static bool read_instruction(hg_assembler *a, mnemonic *m) {
    operands given;
    match found;
    if (!read_mnemonic(a, m) || !read_operands(a, m->op, &given)) return false;
    bool counted = m->op == HG_OP_LOOP && given.count == 2 && given.raw[0].kind == HG_RAW_REG && given.raw[1].literal.length;
    if (counted) return open_loop(a, &m->token, &given);
    hg_op op = choose_form(m->op, m->parts - m->suffix, &given, &found);
    if (!found.whole) return wrong_operands(a, m, op, &given, &found);
    return hg_asm_emit(a, op, m->type, m->type2, &m->token) && emit_operands(a, m, &given, &found);
}

bool hg_asm_instruction(hg_assembler *a, const hg_token *name) {
    mnemonic m = {.token = *name, .op = HG_OP_NONE};
    if (hg_token_is(name, "endloop")) return close_loop(a, name);
    uint64_t before = a->insts.count;
    if (read_instruction(a, &m)) return true;
    if (m.op == HG_OP_LOOP) a->loops_unsure = true;
    /* A place-holder keeps the numbers of later instructions right. */
    if (!a->stop && a->insts.count == before) return hg_asm_emit(a, HG_OP_EXIT, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, name) && false;
    return false;
}
