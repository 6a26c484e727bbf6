/* Operands (language.md 2 and 2.1): syntax only; which kinds an instruction takes is decided later,
 * by its row.
 * Must not know: the table of instructions. */
#include "isa/assemble_inst.h"

#include <stdio.h>

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
static bool read_count(hg_assembler *a, hg_tuple_item *item, hg_register *reg, hg_constant *value) {
    hg_token token = a->token;
    *reg = HG_NO_REGISTER;
    bool number = token.kind != '-' && (token.kind != '(' || is_expression(a)); /* a tuple has no
                                                                                   third level */
    if (number && hg_asm_starts_expression(a)) return hg_asm_expression(a, "a number", value);
    item->is_reg = 1;
    if (!hg_asm_read_register(a, "an unsigned number or a register", reg)) return false;
    item->reg = reg->number;
    return true;
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

/* hg_asm_keep_items, with registers that may be virtual. */
static bool keep_items(hg_assembler *a, const hg_tuple_item *items, const hg_register *regs,
                       uint32_t count, uint64_t *first) {
    if (!hg_asm_keep_items(a, items, count, first)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (items[i].is_reg &&
            !hg_asm_use(a, &regs[i], HG_UNDEFINED, *first + i, HG_USE_ITEM, HG_READ))
            return false;
    return true;
}

/* A tuple of counts, in another one. */
static bool read_inner_tuple(hg_assembler *a, hg_tuple_item *tuple) {
    hg_tuple_item items[HG_MAX_TUPLE_ITEMS];
    hg_register regs[HG_MAX_TUPLE_ITEMS];
    tuple->is_tuple = 1;
    if (!hg_asm_expect(a, '(', "'('")) return false;
    for (; a->token.kind != ')'; tuple->item_count++) {
        hg_constant value;
        if (!next_item(a, tuple->item_count)) return false;
        items[tuple->item_count] = (hg_tuple_item){0};
        if (!read_count(a, &items[tuple->item_count], &regs[tuple->item_count], &value))
            return false;
        if (!to_count(a, &items[tuple->item_count], &value)) return false;
    }
    hg_asm_next(a);
    return keep_items(a, items, regs, tuple->item_count, &tuple->value);
}

/* A constant alone in parentheses is a tuple of one count, and may be meant as a number. */
static bool read_single(hg_assembler *a, hg_raw_operand *raw, hg_tuple_item *item,
                        const hg_constant *value) {
    if (!hg_asm_constant_token(a, value, &raw->literal)) return false;
    (void)hg_parse_uint(raw->literal.text, raw->literal.length, &item->value); /* whether it is a
                                                                                  count is asked
                                                                                  where one is
                                                                                  wanted */
    return true;
}

/* Items are kept when all of them are read: those of the tuples inside come before. */
static bool read_tuple(hg_assembler *a, hg_raw_operand *raw) {
    hg_tuple_item items[HG_MAX_TUPLE_ITEMS];
    hg_register regs[HG_MAX_TUPLE_ITEMS];
    uint32_t count = 0;
    hg_asm_next(a);
    bool nested = a->token.kind == '(' && !is_expression(a);
    raw->kind = nested ? HG_RAW_TUPLES : HG_RAW_TUPLE;
    raw->value.kind = nested ? HG_K_TUPLES : HG_K_TUPLE;
    for (; a->token.kind != ')'; count++) {
        hg_constant value;
        if (!next_item(a, count)) return false;
        items[count] = (hg_tuple_item){0};
        regs[count] = HG_NO_REGISTER;
        if (nested ? !read_inner_tuple(a, &items[count])
                   : !read_count(a, &items[count], &regs[count], &value))
            return false;
        if (nested || items[count].is_reg) continue;
        bool single = !count && a->token.kind == ')';
        if (single ? !read_single(a, raw, &items[count], &value)
                   : !to_count(a, &items[count], &value))
            return false;
    }
    hg_asm_extend(&raw->token, &a->token);
    hg_asm_next(a);
    raw->value.item_count = count;
    return keep_items(a, items, regs, count, &raw->value.value);
}

/* ---- operands ---- */

static bool read_target(hg_assembler *a, hg_raw_operand *raw) {
    hg_token name;
    hg_asm_next(a);
    raw->kind = HG_RAW_TARGET;
    if (a->token.kind == HG_TOKEN_NAME && !a->token.glued)
        return hg_asm_unexpected(a, "a label directly behind '@'");
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
        return hg_asm_register(a, &name, HG_MAX_REGISTERS, &raw->reg.number);
    }
    if (hg_looks_like_register(name.text, name.length, 'p')) {
        raw->kind = HG_RAW_PRED;
        return hg_asm_register(a, &name, HG_MAX_PREDICATES, &raw->reg.number);
    }
    if (hg_token_is_numbered(&name, "pool")) {
        raw->kind = HG_RAW_POOL;
        raw->value.kind = HG_K_POOL;
        return hg_asm_number(a, &name, 4, &raw->value.value);
    }
    raw->kind = a->token.kind == '=' ? HG_RAW_NAMED : HG_RAW_WORD;
    if (raw->kind == HG_RAW_NAMED) return true;
    raw->element = hg_asm_element_type(a, &name);
    return hg_asm_word_register(a, &name, &raw->word, &raw->reg);
}

bool hg_asm_operand(hg_assembler *a, bool named, hg_raw_operand *raw) {
    *raw = (hg_raw_operand){.token = a->token,
                            .reg = HG_NO_REGISTER,
                            .index = HG_NO_REGISTER,
                            .element = HG_TYPE_OMITTED};
    switch (a->token.kind) {
    case HG_TOKEN_NAME: return read_word(a, raw);
    case '@': return read_target(a, raw);
    case '[': return hg_asm_address(a, raw);
    case '(': return !named || is_expression(a) ? read_literal(a, raw) : read_tuple(a, raw);
    case '-':
    case '~':
    case '!':
    case HG_TOKEN_NUMBER: return read_literal(a, raw);
    default:
        return hg_asm_unexpected_with(a, "an operand",
                                      hg_foreign_sign(HG_FOREIGN_OPERAND, a->token.kind));
    }
}
