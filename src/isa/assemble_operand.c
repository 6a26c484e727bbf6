/* Operands (language.md 2 and 2.1): syntax only; which kinds an instruction takes is decided later, by its row.
 * Must not know: the table of instructions. */
#include "isa/text_internal.h"

#include <stdio.h>

/* ---- numbers and registers ---- */

bool hg_asm_register(hg_assembler *a, const hg_token *name, uint32_t limit, uint8_t *number) {
    uint32_t value = 0;
    for (uint32_t i = 1; i < name->length && value < 100000; i++) value = value * 10 + (uint32_t)(name->text[i] - '0');
    char got[80];
    if (name->text[1] == '0' && name->length > 2) {
        hg_asm_error(a, "S02", name, "registers and predicates have no leading zeros", "expected a register number, got %s",
                     hg_token_describe(name, got));
        return false;
    }
    if (value >= limit) {
        hg_asm_error(a, "N07", name, NULL, "%s is out of range: %c0 to %c%u", hg_token_describe(name, got), name->text[0], name->text[0],
                     (unsigned)limit - 1);
        return false;
    }
    *number = (uint8_t)value;
    return true;
}

/* The next token as a general register. */
static bool read_register(hg_assembler *a, uint8_t *reg) {
    hg_token name = a->token;
    if (name.kind != HG_TOKEN_NAME || !hg_looks_like_register(name.text, name.length, 'r')) return hg_asm_unexpected(a, "a register");
    hg_asm_next(a);
    return hg_asm_register(a, &name, HG_MAX_REGISTERS, reg);
}

static bool has_prefix(const hg_token *token, const char *prefix) {
    size_t length = strlen(prefix);
    return token->kind == HG_TOKEN_NAME && token->length >= length && memcmp(token->text, prefix, length) == 0;
}

/* buf42, pool3, class21: a word that goes on with a digit. */
static bool is_numbered(const hg_token *token, const char *prefix) {
    size_t length = strlen(prefix);
    return has_prefix(token, prefix) && token->length > length && is_digit(token->text[length]);
}

/* ---- literals ---- */

bool hg_asm_literal(hg_assembler *a, hg_token *literal) {
    hg_constant value;
    return hg_asm_expression(a, "a literal", &value) && hg_asm_constant_token(a, &value, literal);
}

static bool read_literal(hg_assembler *a, hg_raw_operand *raw) {
    raw->kind = HG_RAW_LITERAL;
    if (!hg_asm_literal(a, &raw->literal)) return false;
    raw->token = raw->literal;
    return true;
}

bool hg_asm_literal_bytes(hg_assembler *a, const hg_token *literal, hg_type type, uint8_t *bytes) {
    char message[160];
    const char *hint, *code = hg_parse_literal(literal->text, literal->length, type, bytes, message, &hint);
    if (code) hg_asm_error(a, code, literal, hint, "%s", message);
    return !code;
}

/* ---- addresses ---- */

static bool out_of_range(hg_assembler *a, const hg_token *at, const char *what, uint64_t value, uint32_t limit) {
    hg_asm_error(a, "N07", at, NULL, "invalid %s: %llu (must be < %u)", what, (unsigned long long)value, (unsigned)limit);
    return false;
}

/* phi(class, page, byte), behind the word. */
static bool read_phi(hg_assembler *a, hg_operand *o) {
    uint64_t values[3];
    hg_token numbers[3];
    o->place = HG_PLACE_PHI;
    for (int i = 0; i < 3; i++) {
        if (!hg_asm_expect(a, i ? ',' : '(', i ? "','" : "'('")) return false;
        if (!hg_asm_integer(a, "a number", &values[i], &numbers[i])) return false;
    }
    if (values[0] >= HG_MAX_CLASSES) return out_of_range(a, &numbers[0], "class index", values[0], HG_MAX_CLASSES);
    bool page = values[1] >= HG_MAX_CLASS_PAGES;
    if (page || values[2] >= HG_MAX_PAGE_BYTES) {
        hg_asm_error(a, "N07", &numbers[page ? 1 : 2], NULL,
                     "invalid boundary coordinates: page=%llu (must be < %d), byte=%llu (must be < %d)", (unsigned long long)values[1],
                     (int)HG_MAX_CLASS_PAGES, (unsigned long long)values[2], (int)HG_MAX_PAGE_BYTES);
        return false;
    }
    o->value = values[0];
    o->phi[0] = (uint8_t)values[1];
    o->phi[1] = (uint8_t)values[2];
    return hg_asm_expect(a, ')', "')'");
}

static bool read_class(hg_assembler *a, const hg_token *name, hg_operand *o) {
    o->place = HG_PLACE_CLASS;
    if (!hg_asm_number(a, name, 5, &o->value)) return false;
    return o->value < HG_MAX_CLASSES || out_of_range(a, name, "class index", o->value, HG_MAX_CLASSES);
}

/* buf(r1) or pool(r1), behind the word. */
static bool read_handle_register(hg_assembler *a, uint8_t place, hg_operand *o) {
    o->place = place;
    return hg_asm_expect(a, '(', "'('") && read_register(a, &o->reg) && hg_asm_expect(a, ')', "')'");
}

static bool read_place(hg_assembler *a, hg_operand *o) {
    hg_token name = a->token;
    bool reg = name.kind == HG_TOKEN_NAME && hg_looks_like_register(name.text, name.length, 'r');
    bool buf = is_numbered(&name, "buf"), pool = is_numbered(&name, "pool"), class_memory = is_numbered(&name, "class");
    bool word = hg_token_is(&name, "buf") || hg_token_is(&name, "pool") || hg_token_is(&name, "shared") || hg_token_is(&name, "phi");
    if (!reg && !buf && !pool && !class_memory && !word)
        return hg_asm_unexpected(a, "bufN, buf(rN), poolN, pool(rN), shared, classN, phi(class, page, byte) or a register");
    hg_asm_next(a);
    if (reg) {
        o->place = HG_PLACE_FLAT;
        return hg_asm_register(a, &name, HG_MAX_REGISTERS, &o->reg);
    }
    if (class_memory) return read_class(a, &name, o);
    if (buf || pool) {
        o->place = buf ? HG_PLACE_BUF : HG_PLACE_POOL;
        return hg_asm_number(a, &name, buf ? 3 : 4, &o->value);
    }
    if (hg_token_is(&name, "phi")) return read_phi(a, o);
    if (!hg_token_is(&name, "shared")) return read_handle_register(a, hg_token_is(&name, "buf") ? HG_PLACE_BUF_REG : HG_PLACE_POOL_REG, o);
    o->place = HG_PLACE_SHARED;
    return true;
}

/* One product of a displacement. */
static bool read_bytes(hg_assembler *a, bool negative, const char *expected, hg_operand *o) {
    hg_constant value;
    hg_i128 bytes;
    uint64_t plain;
    if (!hg_asm_term(a, expected, &value)) return false;
    if (value.kind == HG_CONSTANT_LITERAL && hg_classify_number(value.token.text, value.token.length) == HG_NUMBER_BAD)
        return hg_asm_number(a, &value.token, 0, &plain);
    if (!hg_asm_constant_integer(a, &value, &bytes)) return false;
    hg_i128 sum = 0;
    bool over = hg_add_overflows((hg_i128)o->disp, negative ? -bytes : bytes, &sum);
    if (over || bytes > INT64_MAX || bytes < -INT64_MAX || sum > INT64_MAX || sum < -INT64_MAX) {
        hg_asm_error(a, "S05", &value.token, NULL, "displacement of 2^63 bytes or more");
        return false;
    }
    o->disp = (int64_t)sum;
    return true;
}

static bool read_displacement(hg_assembler *a, bool negative, hg_operand *o) {
    const char *expected = negative || o->has_index ? "a number of bytes" : "a register or a number of bytes";
    if (!read_bytes(a, negative, expected, o)) return false;
    while (a->token.kind == '+' || a->token.kind == '-') {
        negative = a->token.kind == '-';
        hg_asm_next(a);
        if (!read_bytes(a, negative, "a number of bytes", o)) return false;
    }
    return true;
}

/* [ + reg ] [ ± bytes ] */
static bool read_offsets(hg_assembler *a, hg_operand *o) {
    if (o->place == HG_PLACE_PHI) return true;
    bool negative = a->token.kind == '-';
    if (!negative && a->token.kind != '+') return true;
    hg_asm_next(a);
    if (!negative && a->token.kind == HG_TOKEN_NAME && !hg_asm_starts_expression(a)) {
        if (!read_register(a, &o->index)) return false;
        o->has_index = 1;
        if (o->place == HG_PLACE_FLAT) o->place = HG_PLACE_BUF_REG; /* [r1 + r0]: r1 is a handle */
        negative = a->token.kind == '-';
        if (!negative && a->token.kind != '+') return true;
        hg_asm_next(a);
    }
    return read_displacement(a, negative, o);
}

static bool read_address(hg_assembler *a, hg_raw_operand *raw) {
    raw->kind = HG_RAW_ADDRESS;
    raw->value.kind = HG_K_ADDRESS;
    hg_asm_next(a);
    if (!read_place(a, &raw->value) || !read_offsets(a, &raw->value)) return false;
    if (a->token.kind != ']') return hg_asm_unexpected(a, raw->value.place == HG_PLACE_PHI || raw->value.disp ? "']'" : "'+', '-' or ']'");
    hg_asm_extend(&raw->token, &a->token);
    hg_asm_next(a);
    return true;
}

/* ---- tuples ---- */

/* Whether the next parenthesis begins an expression that goes on behind its end: (A + 1) * 2. */
static bool is_expression(const hg_assembler *a) {
    const hg_lexer *l = &a->lexer;
    size_t at = l->at;
    for (int depth = 1; at < l->length && l->text[at] != '\n' && l->text[at] != ';' && depth; at++)
        depth += (l->text[at] == '(') - (l->text[at] == ')');
    while (at < l->length && (l->text[at] == ' ' || l->text[at] == '\t')) at++;
    return at < l->length && l->text[at] != 0 && strchr("+-*/%&|^<>=!", l->text[at]) != NULL;
}

/* A register, or a constant. */
static bool read_count(hg_assembler *a, hg_tuple_item *item, hg_constant *value) {
    hg_token token = a->token;
    bool number = token.kind != '-' && (token.kind != '(' || is_expression(a)); /* a tuple has no third level */
    if (number && hg_asm_starts_expression(a)) return hg_asm_expression(a, "a number", value);
    if (token.kind != HG_TOKEN_NAME || !hg_looks_like_register(token.text, token.length, 'r'))
        return hg_asm_unexpected(a, "an unsigned number or a register");
    item->is_reg = 1;
    return read_register(a, &item->reg);
}

static bool to_count(hg_assembler *a, hg_tuple_item *item, const hg_constant *value) {
    return item->is_reg || hg_asm_constant_unsigned(a, value, &item->value);
}

/* Room for one more item, behind a comma where there is one before. */
static bool next_item(hg_assembler *a, uint32_t count) {
    if (count && !hg_asm_expect(a, ',', "',' or ')'")) return false;
    if (count < HG_MAX_TUPLE_ITEMS) return true;
    hg_asm_error(a, "S05", &a->token, NULL, "more than %d items in a tuple", HG_MAX_TUPLE_ITEMS);
    return false;
}

bool hg_asm_keep_items(hg_assembler *a, const hg_tuple_item *items, uint32_t count, uint64_t *first) {
    *first = a->items.count;
    for (uint32_t i = 0; i < count; i++) {
        hg_tuple_item *kept = hg_vec_push(&a->items);
        if (!kept) return hg_asm_no_memory(a);
        *kept = items[i];
    }
    return true;
}

/* A tuple of counts, in another one. */
static bool read_inner_tuple(hg_assembler *a, hg_tuple_item *tuple) {
    hg_tuple_item items[HG_MAX_TUPLE_ITEMS];
    tuple->is_tuple = 1;
    if (!hg_asm_expect(a, '(', "'('")) return false;
    for (; a->token.kind != ')'; tuple->item_count++) {
        hg_constant value;
        if (!next_item(a, tuple->item_count)) return false;
        items[tuple->item_count] = (hg_tuple_item){0};
        if (!read_count(a, &items[tuple->item_count], &value)) return false;
        if (!to_count(a, &items[tuple->item_count], &value)) return false;
    }
    hg_asm_next(a);
    return hg_asm_keep_items(a, items, tuple->item_count, &tuple->value);
}

/* A constant alone in parentheses is a tuple of one count, and may be meant as a number. */
static bool read_single(hg_assembler *a, hg_raw_operand *raw, hg_tuple_item *item, const hg_constant *value) {
    if (!hg_asm_constant_token(a, value, &raw->literal)) return false;
    (void)hg_parse_uint(raw->literal.text, raw->literal.length, &item->value); /* whether it is a count is asked where one is wanted */
    return true;
}

/* Items are kept when all of them are read: those of the tuples inside come before. */
static bool read_tuple(hg_assembler *a, hg_raw_operand *raw) {
    hg_tuple_item items[HG_MAX_TUPLE_ITEMS];
    uint32_t count = 0;
    hg_asm_next(a);
    bool nested = a->token.kind == '(' && !is_expression(a);
    raw->kind = nested ? HG_RAW_TUPLES : HG_RAW_TUPLE;
    raw->value.kind = nested ? HG_K_TUPLES : HG_K_TUPLE;
    for (; a->token.kind != ')'; count++) {
        hg_constant value;
        if (!next_item(a, count)) return false;
        items[count] = (hg_tuple_item){0};
        if (nested ? !read_inner_tuple(a, &items[count]) : !read_count(a, &items[count], &value)) return false;
        if (nested || items[count].is_reg) continue;
        bool single = !count && a->token.kind == ')';
        if (single ? !read_single(a, raw, &items[count], &value) : !to_count(a, &items[count], &value)) return false;
    }
    hg_asm_extend(&raw->token, &a->token);
    hg_asm_next(a);
    raw->value.item_count = count;
    return hg_asm_keep_items(a, items, count, &raw->value.value);
}

/* ---- operands ---- */

static bool read_target(hg_assembler *a, hg_raw_operand *raw) {
    hg_token sign = a->token, name;
    hg_asm_next(a);
    raw->kind = HG_RAW_TARGET;
    if (a->token.kind == HG_TOKEN_NAME && a->token.text != sign.text + 1) return hg_asm_unexpected(a, "a label directly behind '@'");
    if (!hg_asm_identifier(a, "a label", &name)) return false;
    hg_asm_extend(&raw->token, &name);
    raw->label = hg_asm_label(a, &name);
    return raw->label != HG_UNDEFINED;
}

static bool read_word(hg_assembler *a, hg_raw_operand *raw) {
    hg_token name = a->token;
    if (hg_asm_starts_expression(a)) return read_literal(a, raw);
    hg_asm_next(a);
    if (hg_looks_like_register(name.text, name.length, 'r')) {
        raw->kind = HG_RAW_REG;
        raw->value.kind = HG_K_REG;
        return hg_asm_register(a, &name, HG_MAX_REGISTERS, &raw->value.reg);
    }
    if (hg_looks_like_register(name.text, name.length, 'p')) {
        raw->kind = HG_RAW_PRED;
        raw->value.kind = HG_K_PRED;
        return hg_asm_register(a, &name, HG_MAX_PREDICATES, &raw->value.reg);
    }
    if (is_numbered(&name, "pool")) {
        raw->kind = HG_RAW_POOL;
        raw->value.kind = HG_K_POOL;
        return hg_asm_number(a, &name, 4, &raw->value.value);
    }
    raw->kind = a->token.kind == '=' ? HG_RAW_NAMED : HG_RAW_WORD;
    return true;
}

bool hg_asm_operand(hg_assembler *a, hg_raw_operand *raw) {
    *raw = (hg_raw_operand){.token = a->token};
    switch (a->token.kind) {
    case HG_TOKEN_NAME: return read_word(a, raw);
    case '@': return read_target(a, raw);
    case '[': return read_address(a, raw);
    case '(': return is_expression(a) ? read_literal(a, raw) : read_tuple(a, raw);
    case '-':
    case '~':
    case '!':
    case HG_TOKEN_NUMBER: return read_literal(a, raw);
    default: return hg_asm_unexpected(a, "an operand");
    }
}
