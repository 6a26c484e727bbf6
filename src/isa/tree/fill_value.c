/* Values of a tree that callers fill: literals, variables, ids, elements, operators, functions of
 * the table.
 * Must not know: statements. */
#include "isa/tree/fill.h"

#include <math.h>
#include <stdio.h>

/* ---- literals ---- */

uint32_t hg_tree_value_type(const hg_tree *t, hg_expression x) {
    HG_ENTRY;
    uint32_t node = t ? hg_tree_find_node(t, x) : HG_TREE_BAD;
    uint8_t type = node == HG_TREE_BAD ? (uint8_t)HG_TYPE_OMITTED : hg_tree_type(t->a, node);
    return type == HG_TREE_PREDICATE || type < HG_TYPE_COUNT ? type : (uint32_t)HG_TYPE_COUNT;
}

static hg_expression constant(hg_tree *t, hg_constant c, const char *text, bool truth) {
    char *kept = hg_arena_text(&t->a->texts, text, strlen(text));
    if (!kept) {
        (void)hg_asm_no_memory(t->a);
        return 0;
    }
    c.token = t->at;
    if (c.kind == HG_CONSTANT_LITERAL || !c.token.text) {
        c.token.text = kept;
        c.token.length = (uint32_t)strlen(kept);
        c.token.marked = hg_token_width(&t->at);
    }
    return hg_tree_made(t, hg_tree_literal(t->a, &c, truth), kept);
}

hg_expression hg_tree_integer(hg_tree *t, int64_t value) {
    HG_ENTRY;
    uint64_t errors;
    char text[32];
    if (!hg_tree_begin(t, &errors)) return 0;
    snprintf(text, sizeof text, "%lld", (long long)value);
    return constant(t, (hg_constant){.kind = HG_CONSTANT_INTEGER, .integer = value}, text, false);
}

hg_expression hg_tree_unsigned(hg_tree *t, uint64_t value) {
    HG_ENTRY;
    uint64_t errors;
    char text[32];
    if (!hg_tree_begin(t, &errors)) return 0;
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return constant(t, (hg_constant){.kind = HG_CONSTANT_INTEGER, .integer = (hg_i128)value}, text,
                    false);
}

hg_expression hg_tree_real(hg_tree *t, double value) {
    HG_ENTRY;
    uint64_t errors;
    char text[40];
    if (!hg_tree_begin(t, &errors)) return 0;
    snprintf(text, sizeof text, isnan(value) ? "nan" : "%.17g", value);
    return constant(t, (hg_constant){.kind = HG_CONSTANT_REAL, .real = value}, text, false);
}

hg_expression hg_tree_number(hg_tree *t, const char *text) {
    HG_ENTRY;
    uint64_t errors;
    if (!hg_tree_begin(t, &errors)) return 0;
    size_t length = text ? strlen(text) : 0, sign = length && text[0] == '-';
    bool word = length == sign + 3 &&
                (!memcmp(text + sign, "inf", 3) || !memcmp(text + sign, "nan", 3));
    if (length > UINT16_MAX || length == sign ||
        (!word && hg_classify_number(text + sign, length - sign) == HG_NUMBER_BAD)) {
        hg_token at = hg_tree_here(t, "number");
        hg_asm_error(t->a, "S03", &at, NULL, "malformed number '%.40s'", text ? text : "");
        return 0;
    }
    return constant(t, (hg_constant){.kind = HG_CONSTANT_LITERAL}, text, false);
}

hg_expression hg_tree_bits(hg_tree *t, hg_type type, uint64_t bits) {
    HG_ENTRY;
    uint64_t errors;
    char text[32];
    if (!hg_tree_begin(t, &errors) || !hg_tree_check_type(t, (uint32_t)type, false)) return 0;
    uint64_t size = hg_type_size_bytes(type);
    if (size > 8 || (size < 8 && bits >> (size * 8))) {
        hg_token at = hg_tree_here(t, "bits");
        hg_asm_error(t->a, "S04", &at, NULL, "bits 0x%llx out of range for type %s",
                     (unsigned long long)bits, hg_type_name(type));
        return 0;
    }
    snprintf(text, sizeof text, "bits(0x%llx)", (unsigned long long)bits);
    hg_expression x = constant(t, (hg_constant){.kind = HG_CONSTANT_LITERAL}, text, false);
    if (x) hg_tree_at(t->a, hg_tree_find_node(t, x))->type = (uint8_t)type;
    return x;
}

hg_expression hg_tree_truth(hg_tree *t, int value) {
    HG_ENTRY;
    uint64_t errors;
    if (!hg_tree_begin(t, &errors)) return 0;
    hg_constant c = {.kind = HG_CONSTANT_INTEGER, .integer = value != 0};
    return constant(t, c, value ? "true" : "false", true);
}

/* ---- values ---- */

hg_expression hg_tree_read(hg_tree *t, hg_variable variable) {
    HG_ENTRY;
    uint64_t errors;
    const hg_tree_variable_info *v = hg_tree_begin(t, &errors) ? hg_tree_find_variable(t, variable)
                                                               : NULL;
    if (!v) return 0;
    hg_token at = hg_tree_here(t, "variable");
    uint32_t name = v->reg.virtual_number == HG_UNDEFINED
                        ? HG_UNDEFINED
                        : t->a->registers.virtuals.data[v->reg.virtual_number].name;
    if (!t->at.text && name != HG_UNDEFINED) {
        at.text = t->a->registers.named.data[name].token.text;
        at.length = t->a->registers.named.data[name].token.length;
    }
    uint32_t node = hg_tree_register(t->a, &at, v->reg, v->predicate);
    hg_expression x = hg_tree_made(t, node, "");
    if (x) hg_tree_at(t->a, node)->token = at;
    return x;
}

hg_expression hg_tree_lane_id(hg_tree *t, const char *name) {
    HG_ENTRY;
    uint64_t errors;
    hg_idname id;
    if (!hg_tree_begin(t, &errors)) return 0;
    hg_token at = hg_tree_here(t, "id");
    for (uint32_t i = 0; name && i < HG_SPECIAL_COUNT; i++)
        if (strcmp(hg_specials[i].text, name) == 0) {
            uint8_t type = (uint8_t)hg_idname_type((hg_idname)hg_specials[i].id);
            hg_register reg = {HG_UNDEFINED, hg_specials[i].reg, type};
            return hg_tree_made(t, hg_tree_register(t->a, &at, reg, false), hg_specials[i].text);
        }
    if (name && hg_idname_from_text(name, strlen(name), &id))
        return hg_tree_made(t, hg_tree_id(t->a, &at, id), hg_idname_name(id));
    hg_asm_error(t->a, "N03", &at, "global, lane_idx_x, …", "'%.40s' is no id of a lane",
                 name ? name : "");
    return 0;
}

hg_expression hg_tree_element_of(hg_tree *t, hg_elements array, const hg_expression *indices,
                                 uint32_t count) {
    HG_ENTRY;
    uint64_t errors;
    uint32_t nodes[HG_MAX_EXTENTS];
    bool good = true;
    if (!hg_tree_begin(t, &errors)) return 0;
    const hg_tree_array *info = hg_tree_find_array(t, array);
    hg_token at = hg_tree_here(t, "element");
    if (count > HG_MAX_EXTENTS || !count || !indices) {
        hg_asm_error(t->a, "N04", &at, NULL, "an element has 1 to %d indices, not %u",
                     HG_MAX_EXTENTS, (unsigned)(indices ? count : 0));
        return 0;
    }
    for (uint32_t i = 0; i < count; i++)
        good &= (nodes[i] = hg_tree_take(t, indices[i])) != HG_TREE_BAD;
    if (!info || !good) return 0;
    return hg_tree_made(t, hg_tree_element(t->a, &at, info, nodes, count), "element");
}

static const struct {
    int kind;
    const char *text;
} SIGNS[] = {[HG_TREE_ADD] = {'+', "+"},
             [HG_TREE_SUB] = {'-', "-"},
             [HG_TREE_MUL] = {'*', "*"},
             [HG_TREE_DIV] = {'/', "/"},
             [HG_TREE_REM] = {'%', "%"},
             [HG_TREE_FLOOR_DIV] = {'/', "//"},
             [HG_TREE_FLOOR_MOD] = {'%', "%%"},
             [HG_TREE_BIT_AND] = {'&', "&"},
             [HG_TREE_BIT_OR] = {'|', "|"},
             [HG_TREE_BIT_XOR] = {'^', "^"},
             [HG_TREE_SHL] = {HG_TOKEN_SHIFT_LEFT, "<<"},
             [HG_TREE_SHR] = {HG_TOKEN_SHIFT_RIGHT, ">>"},
             [HG_TREE_EQ] = {HG_TOKEN_EQUAL, "=="},
             [HG_TREE_NE] = {HG_TOKEN_NOT_EQUAL, "!="},
             [HG_TREE_LT] = {'<', "<"},
             [HG_TREE_LE] = {HG_TOKEN_LESS_EQUAL, "<="},
             [HG_TREE_GT] = {'>', ">"},
             [HG_TREE_GE] = {HG_TOKEN_GREATER_EQUAL, ">="},
             [HG_TREE_NEG] = {'-', "-"},
             [HG_TREE_BIT_NOT] = {'~', "~"},
             [HG_TREE_NOT] = {'!', "!"}};

/* The token of an operator of so many operands. */
bool hg_tree_operator_token(hg_tree *t, hg_tree_operator op, int operands, hg_token *sign) {
    int has = (unsigned)op <= HG_TREE_GE ? 2 : (unsigned)op <= HG_TREE_NOT ? 1 : 0;
    *sign = hg_tree_here(t, "operator");
    if (has != operands) {
        hg_asm_error(t->a, "N03", sign, NULL, "%d is no operator of %s", (int)op,
                     operands == 2 ? "two operands" : "one operand");
        return false;
    }
    sign->kind = SIGNS[op].kind;
    sign->text = SIGNS[op].text;
    sign->length = (uint32_t)strlen(sign->text);
    sign->marked = hg_token_width(&t->at);
    return true;
}

hg_expression hg_tree_unary(hg_tree *t, hg_tree_operator op, hg_expression x) {
    HG_ENTRY;
    uint64_t errors;
    hg_token sign;
    if (!hg_tree_begin(t, &errors)) return 0;
    uint32_t node = hg_tree_take(t, x);
    if (!hg_tree_operator_token(t, op, 1, &sign)) return 0;
    return hg_tree_made(t, hg_tree_sign(t->a, &sign, node), sign.text);
}

uint32_t hg_tree_operate_nodes(hg_tree *t, hg_tree_operator op, const hg_token *sign, uint32_t x,
                               uint32_t y) {
    if (op == HG_TREE_FLOOR_DIV || op == HG_TREE_FLOOR_MOD)
        return hg_tree_floor(t->a, sign, x, y, op == HG_TREE_FLOOR_MOD);
    return hg_tree_binary(t->a, sign, x, y);
}

hg_expression hg_tree_operate(hg_tree *t, hg_tree_operator op, hg_expression x, hg_expression y) {
    HG_ENTRY;
    uint64_t errors;
    hg_token sign;
    if (!hg_tree_begin(t, &errors)) return 0;
    uint32_t left = hg_tree_take(t, x), right = hg_tree_take(t, y);
    if (!hg_tree_operator_token(t, op, 2, &sign)) return 0;
    return hg_tree_made(t, hg_tree_operate_nodes(t, op, &sign, left, right), sign.text);
}

static hg_expression logic(hg_tree *t, int kind, const char *text, hg_expression x,
                           hg_expression y) {
    uint64_t errors;
    if (!hg_tree_begin(t, &errors)) return 0;
    uint32_t left = hg_tree_take(t, x), right = hg_tree_take(t, y);
    hg_token sign = hg_tree_here(t, text);
    sign.kind = kind;
    return hg_tree_made(t, hg_tree_logic(t->a, &sign, left, right), text);
}

hg_expression hg_tree_both(hg_tree *t, hg_expression x, hg_expression y) {
    HG_ENTRY;
    return logic(t, HG_TOKEN_AND, "&&", x, y);
}

hg_expression hg_tree_either(hg_tree *t, hg_expression x, hg_expression y) {
    HG_ENTRY;
    return logic(t, HG_TOKEN_OR, "||", x, y);
}

hg_expression hg_tree_choose(hg_tree *t, hg_expression condition, hg_expression x,
                             hg_expression y) {
    HG_ENTRY;
    uint64_t errors;
    if (!hg_tree_begin(t, &errors)) return 0;
    uint32_t asked = hg_tree_take(t, condition), then = hg_tree_take(t, x),
             other = hg_tree_take(t, y);
    hg_token colon = hg_tree_here(t, ":");
    return hg_tree_made(t, hg_tree_select(t->a, &colon, asked, then, other), "? :");
}

hg_expression hg_tree_cast(hg_tree *t, hg_type type, hg_expression x) {
    HG_ENTRY;
    uint64_t errors;
    if (!hg_tree_begin(t, &errors)) return 0;
    uint32_t node = hg_tree_take(t, x);
    if (!hg_tree_check_type(t, (uint32_t)type, false) || node == HG_TREE_BAD) return 0;
    hg_token at = hg_tree_at(t->a, node)->token;
    return hg_tree_made(t, hg_tree_convert(t->a, &at, (uint8_t)type, node), hg_type_name(type));
}

hg_expression hg_tree_apply(hg_tree *t, const char *mnemonic, const hg_expression *arguments,
                            uint32_t count) {
    HG_ENTRY;
    uint64_t errors;
    uint32_t nodes[HG_TREE_MOST_ARGUMENTS];
    if (!hg_tree_begin(t, &errors)) return 0;
    hg_mnemonic m = {.token = hg_tree_here(t, ""), .op = HG_OP_NONE};
    if (!mnemonic || count > HG_TREE_MOST_ARGUMENTS || (count && !arguments)) {
        hg_asm_error(t->a, "N04", &m.token, NULL,
                     "a function has a mnemonic and at most %d arguments, not %u",
                     HG_TREE_MOST_ARGUMENTS, (unsigned)count);
        return 0;
    }
    bool good = true;
    for (uint32_t i = 0; i < count; i++)
        good &= (nodes[i] = hg_tree_take(t, arguments[i])) != HG_TREE_BAD;
    m.token.marked = hg_token_width(&m.token);
    m.token.text = hg_arena_text(&t->a->texts, mnemonic, strlen(mnemonic));
    m.token.length = (uint32_t)strlen(mnemonic);
    if (!m.token.text) return hg_asm_no_memory(t->a);
    if (!good || !hg_asm_read_mnemonic(t->a, &m)) return 0;
    return hg_tree_made(t, hg_tree_call(t->a, &m, &m.token, nodes, count), m.token.text);
}

void hg_tree_scan_before(hg_tree *t, hg_expression scan) {
    uint32_t node = t ? hg_tree_find_node(t, scan) : HG_TREE_BAD;
    if (node != HG_TREE_BAD) hg_tree_at(t->a, node)->is_set = true;
}
