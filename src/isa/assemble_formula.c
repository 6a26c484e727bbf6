/* Expressions of statements (language.md 2.7) as nodes of the tree: operators by how tightly they
 * bind, on a stack of its own, so that nothing is as deep as the text.
 * Must not know: instructions, blocks. */
#include "isa/assemble_statement.h"

#include <stdio.h>

/* What is begun and waits for what stands behind it. */
enum { SIGN, BINARY, LOGIC, PARENTHESIS, CALL, INDEX, CONDITION, OTHERWISE };
typedef struct pending {
    uint8_t kind;
    int level; /* how tightly it binds; 0: it ends at a sign of its own */
    hg_token token;
    uint32_t base; /* values before its own */
    hg_mnemonic function;
    uint32_t called;     /* a function of the text; HG_UNDEFINED: none */
    uint8_t type;        /* a conversion; HG_TYPE_OMITTED: none */
    hg_tree_array array; /* whose indices are read */
} pending;

typedef struct formula {
    hg_assembler *a;
    HG_VEC(pending) pending;
    HG_VEC(uint32_t) values;
    uint32_t depth;
    bool statement; /* it is one: a call whose function may have no result */
} formula;

enum { SIGN_LEVEL = 10, CONDITION_LEVEL = -1 };

static bool push_value(formula *f, uint32_t node) {
    uint32_t *value = node == HG_TREE_BAD ? NULL : hg_vec_push(&f->values);
    if (!value) return node == HG_TREE_BAD ? false : hg_asm_no_memory(f->a);
    *value = node;
    return true;
}
static uint32_t pop_value(formula *f) { return f->values.data[--f->values.count]; }
static const uint32_t *arguments_of(const formula *f, uint32_t base) {
    return base < f->values.count ? &f->values.data[base] : NULL;
}
static pending *top(formula *f) {
    return f->pending.count ? &f->pending.data[f->pending.count - 1] : NULL;
}

static bool is_deep(const pending *p) { return p->kind != BINARY && p->kind != LOGIC; }

static pending *push(formula *f, int kind, int level, const hg_token *at) {
    pending one = {.kind = (uint8_t)kind,
                   .level = level,
                   .token = *at,
                   .base = (uint32_t)f->values.count,
                   .called = HG_UNDEFINED,
                   .type = HG_TYPE_OMITTED};
    if (is_deep(&one) && ++f->depth > HG_MAX_EXPRESSION_NESTING) {
        hg_asm_error(f->a, "S05", at, NULL, "expression nested deeper than %d",
                     HG_MAX_EXPRESSION_NESTING);
        return NULL;
    }
    pending *kept = hg_vec_push(&f->pending);
    if (!kept) {
        hg_asm_no_memory(f->a);
        return NULL;
    }
    *kept = one;
    return kept;
}

/* The innermost one is complete. */
static bool apply(formula *f) {
    const pending p = f->pending.data[--f->pending.count];
    f->depth -= is_deep(&p);
    uint32_t y = pop_value(f);
    if (p.kind == SIGN) return push_value(f, hg_tree_sign(f->a, &p.token, y));
    uint32_t x = pop_value(f);
    if (p.kind == BINARY) return push_value(f, hg_tree_binary(f->a, &p.token, x, y));
    if (p.kind == LOGIC) return push_value(f, hg_tree_logic(f->a, &p.token, x, y));
    uint32_t condition = pop_value(f);
    return push_value(f, hg_tree_select(f->a, &p.token, condition, x, y));
}

/* Those that bind at least as tightly as `level`. */
static bool apply_down_to(formula *f, int level) {
    while (f->pending.count && top(f)->level && top(f)->level >= level && top(f)->kind != CONDITION)
        if (!apply(f)) return false;
    return true;
}

/* Everything up to what ends at a sign of its own. */
static bool apply_all(formula *f) { return apply_down_to(f, CONDITION_LEVEL); }

/* ---- operands ---- */

static bool unknown_name(hg_assembler *a, const hg_token *name) {
    char got[80], hint[HG_FOREIGN_BYTES];
    if (!hg_asm_is_unknown(a, name)) return false;
    if (hg_asm_is_hidden(a, name)) {
        hg_asm_error(a, "S02", name, "give it as an argument",
                     "%s is the program's, which a function does not see",
                     hg_token_describe(name, got));
        return false;
    }
    const char *said = hg_asm_register_hint(a, name, hint);
    hg_type type;
    if (hg_type_from_name(name->text, name->length, &type)) {
        snprintf(hint, sizeof hint, "%s(x) converts", hg_type_name(type));
        said = hint;
    }
    if (said && strncmp(said, "declare it", 10) == 0) {
        snprintf(hint, sizeof hint, "declare it: let %.*s = …", hg_token_shown(name), name->text);
        said = hint;
    }
    hg_asm_error(a, "S02", name, said, "%s is no variable, parameter or constant",
                 hg_token_describe(name, got));
    return false;
}

static bool read_constant(formula *f, bool truth) {
    hg_constant value;
    return hg_asm_primary(f->a, "a value", &value) &&
           push_value(f, hg_tree_literal(f->a, &value, truth));
}

/* r7: its type is not known here. */
static bool by_number(formula *f, const hg_token *name) {
    hg_assembler *a = f->a;
    uint8_t number;
    if (hg_looks_like_register(name->text, name->length, 'p')) {
        hg_asm_next(a);
        return hg_asm_register(a, name, HG_MAX_PREDICATES, &number) &&
               push_value(f, hg_tree_register(a, name,
                                              (hg_register){HG_UNDEFINED, number, HG_TYPE_OMITTED},
                                              true));
    }
    hg_asm_error(a, "V05", name, "give it a name: .reg NAME TYPE, or let NAME = …",
                 "'%.*s' has no type of its own: an expression takes names", (int)name->length,
                 name->text);
    return false;
}

static hg_tree_array memory_array(const hg_memory_array *memory) {
    hg_tree_array array = {
        .name = memory->token,
        .handle = HG_NO_REGISTER,
        .address = {.kind = HG_K_ADDRESS, .place = memory->place, .disp = (int64_t)memory->offset},
        .type = memory->type,
        .has_extents = true,
        .rank = memory->rank,
        .known = (uint8_t)((1u << memory->rank) - 1)};
    memcpy(array.extents, memory->extents, sizeof array.extents);
    return array;
}

bool hg_asm_array_place(hg_assembler *a, const hg_token *name, hg_tree_array *array) {
    const hg_memory_array *memory = hg_asm_find_array(a, name);
    if (memory) {
        *array = memory_array(memory);
        return true;
    }
    const hg_named *named = hg_asm_find_named(a, name);
    uint8_t type = hg_asm_element_type(a, name);
    if (!named || type == HG_TYPE_OMITTED) return false;
    *array = (hg_tree_array){.name = *name,
                             .handle = {named->first, named->number, HG_TYPE_U64},
                             .address = {.kind = HG_K_ADDRESS, .place = HG_PLACE_BUF_REG},
                             .type = type,
                             .declared = true};
    const hg_param *p = &a->head.params.data[named->param];
    array->has_extents = p->rank <= HG_MAX_EXTENTS;
    array->rank = array->has_extents ? p->rank : 0;
    for (uint32_t i = 0; i < array->rank; i++) {
        if (p->dims[i].kind != HG_EXTENT_NUMBER) continue;
        array->known |= (uint8_t)(1u << i);
        array->extents[i] = p->dims[i].value;
    }
    return true;
}

/* Behind the name of an array: its index is read next. */
static bool open_index(formula *f, const hg_token *name, const hg_tree_array *array) {
    hg_assembler *a = f->a;
    char got[80];
    if (a->token.kind != '[') {
        hg_asm_error(a, "N03", name, "an element is x[i], that of the lane x[global]",
                     "%s is an array, not a value", hg_token_describe(name, got));
        return false;
    }
    hg_asm_next(a);
    pending *p = push(f, INDEX, 0, name);
    if (!p) return false;
    p->array = *array;
    return true;
}

static hg_idname id_of(hg_id_part part, uint32_t axis) {
    int id = 0;
    while (hg_idname_part((hg_idname)id) != part || hg_idname_axis((hg_idname)id) != axis) id++;
    return (hg_idname)id;
}

/* global_x: block · size + lane in a direction. */
static bool global_id(formula *f, const hg_token *name, uint32_t axis) {
    hg_assembler *a = f->a;
    const hg_token times = {.kind = '*',
                            .text = "*",
                            .length = 1,
                            .line = name->line,
                            .column = name->column,
                            .expansion = name->expansion};
    hg_token plus = times;
    plus.kind = '+';
    uint32_t block = hg_tree_id(a, name, id_of(HG_PART_BLOCK_IDX, axis)),
             size = hg_tree_id(a, name, id_of(HG_PART_BLOCK_DIM, axis));
    uint32_t before = hg_tree_binary(a, &times, block, size),
             lane = hg_tree_id(a, name, id_of(HG_PART_LANE_IDX, axis));
    return push_value(f, hg_tree_binary(a, &plus, before, lane));
}

/* The name of an array stands alone where a function takes one. */
static bool is_reference(formula *f) {
    int kind = f->a->token.kind;
    const pending *p = top(f);
    return (kind == ',' || kind == ')') && p && p->kind == CALL && p->called != HG_UNDEFINED &&
           hg_asm_takes_array(f->a, p->called, (uint32_t)f->values.count - p->base);
}

static bool read_reference(formula *f, const hg_token *name) {
    const hg_memory_array *array = hg_asm_find_array(f->a, name);
    uint32_t number = array ? (uint32_t)(array - f->a->head.arrays.data) : HG_UNDEFINED;
    return push_value(f, hg_tree_array_argument(f->a, name, number));
}

static bool read_name(formula *f) {
    hg_assembler *a = f->a;
    hg_token name = a->token;
    hg_register reg;
    hg_tree_array array;
    uint8_t kind;
    hg_asm_next(a);
    if (hg_asm_array_place(a, &name, &array))
        return is_reference(f) ? read_reference(f, &name) : open_index(f, &name, &array);
    if (!hg_asm_word_register(a, &name, &kind, &reg)) return false;
    switch (kind) {
    case HG_WORD_PREDICATE: return push_value(f, hg_tree_register(a, &name, reg, true));
    case HG_WORD_ID: return push_value(f, hg_tree_id(a, &name, (hg_idname)reg.number));
    case HG_WORD_REGISTER: return push_value(f, hg_tree_register(a, &name, reg, false));
    case HG_WORD_ARRAY:
        hg_asm_error(a, "N03", &name, "an element of it has indices: a[0]",
                     "'%.*s' is an array of registers, not a value", hg_token_shown(&name),
                     name.text);
        return false;
    default: break;
    }
    for (uint32_t axis = 0; axis < 3; axis++) {
        static const char *const WORDS[] = {"global_x", "global_y", "global_z"};
        if (hg_token_is(&name, WORDS[axis])) return global_id(f, &name, axis);
    }
    return unknown_name(a, &name);
}

/* A type, or an instruction, as a function; the name is the next token. */
static bool open_call(formula *f) {
    hg_assembler *a = f->a;
    hg_token name = a->token;
    hg_type type;
    uint32_t called = HG_UNDEFINED;
    bool known = hg_asm_find_function(a, &name, &called);
    const char *foreign = hg_foreign_hint(HG_FOREIGN_OPERAND, name.text, name.length);
    char got[80];
    if (foreign && !known) {
        hg_asm_error(a, "S02", &name, foreign, "%s is no function", hg_token_describe(&name, got));
        return false;
    }
    hg_asm_next(a);
    pending *p = push(f, CALL, 0, &name);
    if (!p) return false;
    if (known) {
        p->called = called;
    } else if (hg_asm_type(a, name.text, name.length, hg_asm_scope_of(a, &name), &type)) {
        p->type = (uint8_t)type;
    } else {
        p->function = (hg_mnemonic){.token = name, .op = HG_OP_NONE};
        hg_mnemonic function = p->function;
        if (!hg_asm_read_mnemonic(a, &function)) return false;
        top(f)->function = function;
    }
    hg_asm_next(a); /* the ( */
    return true;
}

/* An operand is expected; *done: it is there, and an operator may follow. */
static bool read_operand(formula *f, bool *done) {
    hg_assembler *a = f->a;
    hg_token t = a->token;
    *done = false;
    switch (t.kind) {
    case '-':
    case '~':
    case '!': hg_asm_next(a); return push(f, SIGN, SIGN_LEVEL, &t) != NULL;
    case '(': hg_asm_next(a); return push(f, PARENTHESIS, 0, &t) != NULL;
    case HG_TOKEN_NUMBER: *done = true; return read_constant(f, false);
    case HG_TOKEN_NAME: break;
    default:
        return hg_asm_unexpected_with(a, "a value", hg_foreign_sign(HG_FOREIGN_OPERAND, t.kind));
    }
    *done = true;
    bool called = hg_asm_followed_by(a, '(');
    if (hg_asm_find_constant(a, &t) || hg_token_is(&t, "inf") || hg_token_is(&t, "nan") ||
        (called && (hg_token_is(&t, "bits") || hg_token_is(&t, "defined"))))
        return read_constant(f, hg_token_is(&t, "defined"));
    if (called) {
        *done = false;
        return open_call(f);
    }
    if (hg_looks_like_register(t.text, t.length, 'r') ||
        hg_looks_like_register(t.text, t.length, 'p'))
        return by_number(f, &t);
    if (!read_name(f)) return false;
    *done = !(f->pending.count && top(f)->kind == INDEX && top(f)->base == f->values.count);
    return true;
}

/* ---- ends ---- */

static bool unclosed(formula *f, const char *expected) {
    char hint[80];
    const pending *p = top(f);
    snprintf(hint, sizeof hint, "it is open since %u:%u", (unsigned)p->token.line,
             (unsigned)p->token.column);
    return hg_asm_unexpected_with(f->a, expected, hint);
}

static bool is_constant_function(const hg_token *name) {
    return hg_token_is(name, "ceil") || hg_token_is(name, "min") || hg_token_is(name, "max");
}

/* min, max and ceil of constants are a constant. */
static bool fold(formula *f, const pending *p, uint32_t count, bool *folded) {
    hg_assembler *a = f->a;
    hg_constant value, other;
    uint32_t first = count ? f->values.data[p->base] : 0;
    *folded = false;
    if (!is_constant_function(&p->token) || !count) return true;
    for (uint32_t i = 0; i < count; i++)
        if (!hg_tree_known(a, f->values.data[p->base + i], &value) ||
            hg_tree_at(a, f->values.data[p->base + i])->type != HG_TYPE_OMITTED)
            return true;
    *folded = true;
    hg_tree_known(a, first, &value);
    if (hg_token_is(&p->token, "ceil")) {
        if (count > 1) {
            *folded = false;
            return true;
        }
        if (!hg_asm_apply_ceil(a, &p->token, &value)) return false;
    }
    for (uint32_t i = 1; i < count; i++) {
        hg_tree_known(a, f->values.data[p->base + i], &other);
        if (!hg_asm_apply_extreme(a, hg_token_is(&p->token, "max"), &value, &other)) return false;
    }
    f->values.count = p->base;
    return push_value(f, hg_tree_literal(a, &value, false));
}

static bool close_function(formula *f, const pending *p, const hg_token *whole, uint32_t count) {
    hg_assembler *a = f->a;
    uint32_t node = hg_asm_call_function(a, p->called, &p->token, whole, arguments_of(f, p->base),
                                         count);
    f->values.count = p->base;
    if (!push_value(f, node)) return false;
    bool alone = f->statement && !f->pending.count;
    if (alone || hg_tree_type(a, node) != HG_TREE_NO_VALUE) return true;
    hg_asm_error(a, "N03", &p->token, NULL, "'%.*s' has no result", hg_token_shown(&p->token),
                 p->token.text);
    return false;
}

/* grid.any(p) and grid.all(p): their flag is the program's own. */
static bool add_flag(formula *f, const pending *p) {
    hg_assembler *a = f->a;
    const hg_constant zero = {.kind = HG_CONSTANT_INTEGER, .token = p->token};
    hg_tree_array array;
    hg_token name;
    if (!hg_asm_grid_flag(a, &p->token, &name) || !hg_asm_array_place(a, &name, &array))
        return false;
    uint32_t first = hg_tree_literal(a, &zero, false);
    return push_value(f, hg_tree_element(a, &p->token, &array, &first, 1));
}

static bool close_call(formula *f, const hg_token *end) {
    hg_assembler *a = f->a;
    const pending p = f->pending.data[--f->pending.count];
    uint32_t count = (uint32_t)f->values.count - p.base;
    hg_token whole = p.token;
    bool folded = false;
    f->depth--;
    hg_asm_extend(&whole, end);
    if (p.type != HG_TYPE_OMITTED) {
        if (count == 1) return push_value(f, hg_tree_convert(a, &whole, p.type, pop_value(f)));
        hg_asm_error(a, "N04", &p.token, NULL, "a conversion takes 1 operand, got %u",
                     (unsigned)count);
        return false;
    }
    if (p.called != HG_UNDEFINED) return close_function(f, &p, &whole, count);
    if (hg_op_asks_all((uint16_t)p.function.op) && count == 1) {
        if (!add_flag(f, &p)) return false;
        count++;
    }
    if (!fold(f, &p, count, &folded) || folded) return folded;
    if (count > HG_TREE_MOST_ARGUMENTS) {
        hg_asm_error(a, "N04", &p.token, NULL, "'%.*s' takes fewer operands than %u",
                     hg_token_shown(&p.token), p.token.text, (unsigned)count);
        return false;
    }
    uint32_t node = hg_tree_call(a, &p.function, &whole, arguments_of(f, p.base), count);
    f->values.count = p.base;
    return push_value(f, node);
}

static bool close_index(formula *f, const hg_token *end) {
    const pending p = f->pending.data[--f->pending.count];
    hg_token whole = p.token;
    f->depth--;
    hg_asm_extend(&whole, end);
    uint32_t count = (uint32_t)f->values.count - p.base,
             node = hg_tree_element(f->a, &whole, &p.array, &f->values.data[p.base], count);
    f->values.count = p.base;
    return push_value(f, node);
}

/* A comma or a closing bracket. *goes_on: an operand follows. */
static bool read_end(formula *f, bool *goes_on) {
    hg_assembler *a = f->a;
    hg_token end = a->token;
    *goes_on = false;
    if (!apply_all(f)) return false;
    const pending *p = top(f);
    if (end.kind == ',') {
        if (p->kind != CALL && p->kind != INDEX) return unclosed(f, "an operator or ')'");
        *goes_on = true;
    } else if (p->kind == INDEX) {
        if (end.kind != ']') return unclosed(f, "an operator or ']'");
        if (!close_index(f, &end)) return false;
    } else if (end.kind != ')' || p->kind == CONDITION) {
        return unclosed(f, p->kind == CONDITION ? "an operator or ':'" : "an operator or ')'");
    } else if (p->kind == CALL) {
        if (!close_call(f, &end)) return false;
    } else {
        f->pending.count--;
        f->depth--;
    }
    hg_asm_next(a);
    return true;
}

/* ---- operators ---- */

static bool open_condition(formula *f) {
    hg_assembler *a = f->a;
    hg_token at = a->token;
    if (!apply_down_to(f, 1)) return false;
    if (!push(f, CONDITION, CONDITION_LEVEL, &at)) return false;
    hg_asm_next(a);
    return true;
}

static bool open_otherwise(formula *f) {
    hg_assembler *a = f->a;
    top(f)->kind = OTHERWISE;
    top(f)->token = a->token;
    hg_asm_next(a);
    return true;
}

static bool is_comparison(int level) { return level == 3; }

static bool open_binary(formula *f, int level) {
    hg_assembler *a = f->a;
    hg_token op = a->token;
    bool logic = op.kind == HG_TOKEN_AND || op.kind == HG_TOKEN_OR;
    if (!apply_down_to(f, level + 1)) return false;
    if (is_comparison(level) && f->pending.count && top(f)->kind == BINARY &&
        top(f)->level == level) {
        char got[80];
        hg_asm_error(a, "S02", &op, "write a < b && b < c", "comparisons do not chain: %s",
                     hg_token_describe(&op, got));
        return false;
    }
    if (!apply_down_to(f, level)) return false;
    if (!push(f, logic ? LOGIC : BINARY, level, &op)) return false;
    hg_asm_next(a);
    return true;
}

/* Behind an operand. *operand: one follows; *over: the expression is at its end. */
static bool read_operator(formula *f, bool *operand, bool *over) {
    hg_assembler *a = f->a;
    int kind = a->token.kind, level = hg_asm_binding(kind);
    *over = false;
    *operand = true;
    if (f->statement && !f->pending.count) {
        *over = true;
        return hg_asm_at_end(a) ||
               hg_asm_unexpected_with(a, "end of line",
                                      "a call alone is a statement; what becomes of its result is "
                                      "said in front: let v = f(x)");
    }
    if (level) return open_binary(f, level);
    if (kind == '?') return open_condition(f);
    if (kind == '[') return hg_asm_unexpected_with(a, "an operator", HG_ASM_INDICES);
    bool inside = false;
    for (uint64_t i = 0; i < f->pending.count && !inside; i++)
        inside = f->pending.data[i].level == 0 || f->pending.data[i].kind == CONDITION;
    if (kind == ':') {
        if (!apply_all(f)) return false;
        if (f->pending.count && top(f)->kind == CONDITION) return open_otherwise(f);
    }
    if (!inside) {
        *over = true;
        return apply_all(f);
    }
    if (kind == ',' || kind == ')' || kind == ']') return read_end(f, operand);
    if (!apply_all(f)) return false;
    return unclosed(f, top(f)->kind == INDEX       ? "an operator or ']'"
                       : top(f)->kind == CONDITION ? "an operator or ':'"
                                                   : "an operator or ')'");
}

static bool read(formula *f) {
    for (bool operand = true, over = false; !over;) {
        hg_assembler *a = f->a;
        bool done;
        bool empty = operand && a->token.kind == ')' && f->pending.count && top(f)->kind == CALL &&
                     top(f)->base == f->values.count;
        if (empty) {
            hg_token end = a->token;
            if (!close_call(f, &end)) return false;
            hg_asm_next(a);
            operand = false;
        } else if (operand) {
            if (!read_operand(f, &done)) return false;
            operand = !done;
        } else if (!read_operator(f, &operand, &over)) {
            return false;
        }
    }
    return true;
}

static bool read_whole(formula *f, uint32_t *root) {
    bool good = read(f);
    *root = good ? f->values.data[0] : HG_TREE_BAD;
    hg_vec_free(&f->pending);
    hg_vec_free(&f->values);
    return good;
}

bool hg_asm_formula(hg_assembler *a, uint32_t *root) {
    formula f = {.a = a};
    return read_whole(&f, root);
}

bool hg_asm_call_statement(hg_assembler *a) {
    formula f = {.a = a, .statement = true};
    uint32_t root;
    if (!read_whole(&f, &root)) return false;
    hg_tree_at(a, root)->call.unused = true;
    return hg_tree_lower(a, root, NULL, false);
}
