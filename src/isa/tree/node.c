/* Nodes of expressions: their types are found as they are made, from the table of instructions. A
 * literal, and what has only literals as operands of its type, is open until something beside it
 * says a type.
 * Must not know: syntax, registers' numbers. */
#include "isa/tree/tree.h"

#include <stdio.h>

const char *hg_tree_type_name(uint8_t type) {
    if (type == HG_TREE_PREDICATE) return "predicate";
    if (type == HG_TREE_NO_VALUE) return "no value";
    return type < HG_TYPE_COUNT ? hg_type_name((hg_type)type) : "literal";
}

/* ---- storage ---- */

bool hg_tree_make(hg_assembler *a) {
    if (!a->tree) a->tree = hg_calloc(1, sizeof *a->tree);
    return a->tree || hg_asm_no_memory(a);
}

enum { MOST_PREDICATES = 6 /* of 16 that one expression holds at a time */ };

/* How many predicates are held at a time while the node is worked out. One whose sides need many
 * decides by a jump, which holds none. */
static void count_predicates(const hg_assembler *a, hg_tree_node *n) {
    bool sides = n->kind == HG_TREE_SELECT || n->kind == HG_TREE_AND || n->kind == HG_TREE_OR;
    uint32_t held = 0, together = 0, apart = 0;
    for (uint32_t i = 0; i < n->count; i++) {
        const hg_tree_node *x = hg_tree_at(a, hg_tree_operand(a, n, i));
        if (held + x->predicates > together) together = held + x->predicates;
        if (x->predicates > apart) apart = x->predicates;
        held += x->type == HG_TREE_PREDICATE;
    }
    n->is.branching |= sides && together > MOST_PREDICATES;
    n->predicates = (uint16_t)(n->is.branching ? apart : together);
    if (!n->predicates && n->type == HG_TREE_PREDICATE) n->predicates = 1;
}

static void find_height(const hg_assembler *a, hg_tree_node *n) {
    for (uint32_t i = 0; i < n->count; i++) {
        uint16_t below = hg_tree_at(a, hg_tree_operand(a, n, i))->height;
        if (below >= n->height) n->height = (uint16_t)(below + (below < HG_TREE_TALL));
    }
}

uint32_t hg_tree_add(hg_assembler *a, hg_tree_node node) {
    count_predicates(a, &node);
    find_height(a, &node);
    hg_tree_node *kept = hg_tree_make(a) ? hg_vec_push(&a->tree->nodes) : NULL;
    if (!kept) {
        hg_asm_no_memory(a);
        return HG_TREE_BAD;
    }
    for (uint32_t i = 0; i < node.count; i++)
        node.is.calling |= hg_tree_at(a, hg_tree_operand(a, &node, i))->is.calling;
    *kept = node;
    return (uint32_t)a->tree->nodes.count - 1;
}

hg_tree_node hg_tree_plain(hg_tree_kind kind, uint8_t type, const hg_token *at) {
    return (hg_tree_node){.kind = (uint8_t)kind,
                          .type = type,
                          .wide = HG_TYPE_OMITTED,
                          .types = {HG_TYPE_NOT_USED, HG_TYPE_NOT_USED},
                          .reg = HG_NO_REGISTER,
                          .other.reg = HG_NO_REGISTER,
                          .at.index = HG_NO_REGISTER,
                          .token = *at};
}

void hg_tree_clear(hg_assembler *a) {
    if (!a->tree) return;
    a->tree->nodes.count = 0;
    a->tree->constants.count = 0;
    a->tree->arguments.count = 0;
    a->tree->results.count = 0;
}

void hg_tree_free(hg_assembler *a) {
    if (!a->tree) return;
    hg_vec_free(&a->tree->nodes);
    hg_vec_free(&a->tree->constants);
    hg_vec_free(&a->tree->work);
    hg_vec_free(&a->tree->steps);
    hg_vec_free(&a->tree->arguments);
    hg_vec_free(&a->tree->results);
    hg_vec_free(&a->tree->functions);
    hg_vec_free(&a->tree->values);
    hg_free(a->tree);
    a->tree = NULL;
}

/* From the beginning of one node's text to the end of another's. */
static hg_token reach(const hg_assembler *a, uint32_t x, uint32_t y) {
    hg_token whole = hg_tree_at(a, x)->token;
    hg_asm_extend(&whole, &hg_tree_at(a, y)->token);
    return whole;
}

/* ---- leaves ---- */

uint32_t hg_tree_literal(hg_assembler *a, const hg_constant *value, bool truth) {
    hg_tree_node n = hg_tree_plain(HG_TREE_LITERAL, HG_TYPE_OMITTED, &value->token);
    n.is.truth = truth;
    uint32_t node = hg_tree_add(a, n);
    if (node == HG_TREE_BAD) return node;
    hg_constant *kept = hg_vec_push(&a->tree->constants);
    if (!kept) {
        hg_asm_no_memory(a);
        return HG_TREE_BAD;
    }
    *kept = *value;
    hg_tree_at(a, node)->constant = (uint32_t)a->tree->constants.count - 1;
    return node;
}

/* A number of a type. */
static uint32_t number(hg_assembler *a, const hg_token *at, int64_t value, uint8_t type) {
    hg_constant c = {.kind = HG_CONSTANT_INTEGER, .integer = value, .token = *at};
    uint32_t node = hg_tree_literal(a, &c, false);
    if (node != HG_TREE_BAD) hg_tree_at(a, node)->type = type;
    return node;
}

uint32_t hg_tree_register(hg_assembler *a, const hg_token *at, hg_register reg, bool predicate) {
    uint8_t type = predicate ? (uint8_t)HG_TREE_PREDICATE : reg.type;
    hg_tree_node n = hg_tree_plain(HG_TREE_REGISTER, type, at);
    n.reg = reg;
    return hg_tree_add(a, n);
}

uint32_t hg_tree_id(hg_assembler *a, const hg_token *at, hg_idname id) {
    hg_tree_node n = hg_tree_plain(HG_TREE_ID, (uint8_t)hg_idname_type(id), at);
    n.condition = (uint8_t)id;
    return hg_tree_add(a, n);
}

/* ---- types ---- */

static bool is_open(const hg_assembler *a, uint32_t node) {
    return hg_tree_type(a, node) == HG_TYPE_OMITTED;
}

static bool mismatch(hg_assembler *a, uint32_t node, uint8_t type, const char *what) {
    const hg_tree_node *n = hg_tree_at(a, node);
    uint8_t has = hg_tree_type(a, node);
    char got[80], hint[120];
    const char *name = hg_tree_type_name(type), *said = hint;
    if (type == HG_TREE_PREDICATE)
        said = "a comparison gives one: a != 0";
    else if (has == HG_TREE_PREDICATE)
        snprintf(hint, sizeof hint, "%s(p) is 0 or 1", name);
    else if (has == HG_TYPE_OMITTED)
        snprintf(hint, sizeof hint, "an integer may become a float, a real number no integer");
    else
        snprintf(hint, sizeof hint, "convert it: %s(…)", name);
    hg_asm_error(a, "V03", &n->token, said, "type mismatch: %s is %s%s, %s is %s%s",
                 hg_token_describe(&n->token, got),
                 has == HG_TREE_PREDICATE || has == HG_TYPE_OMITTED ? "a " : "",
                 has == HG_TYPE_OMITTED &&
                         hg_asm_constant_is_real(&a->tree->constants.data[n->constant])
                     ? "real number"
                     : hg_tree_type_name(has),
                 what, type == HG_TREE_PREDICATE ? "a " : "", name);
    return false;
}

static bool push_work(hg_assembler *a, uint32_t node) {
    uint32_t *kept = hg_vec_push(&a->tree->work);
    if (!kept) return hg_asm_no_memory(a);
    *kept = node;
    return true;
}

static bool unsupported(hg_assembler *a, const hg_token *at, hg_op op, uint8_t type) {
    char hint[120];
    snprintf(hint, sizeof hint, "'%s' is for %s", hg_op_get(op)->text, hg_op_types_text(op));
    hg_asm_error(a, "N06", at, hint, "unsupported operation: %s for type %s", hg_op_get(op)->id,
                 hg_tree_type_name(type));
    return false;
}

/* Operands of a row that are arguments of its function, in order. */
static const hg_operand_info *argument_of(const hg_op_info *row, uint32_t i) {
    for (uint32_t k = 0; k < row->operand_count; k++) {
        const hg_operand_info *o = &row->operands[k];
        bool result = (o->kind == HG_K_REG || o->kind == HG_K_PRED) && o->access == HG_WRITE;
        if (result || hg_operand_in_mnemonic(o) || hg_operand_is_named(o)) continue;
        if (!i--) return o;
    }
    return NULL;
}

/* An open node and the open ones that it is made of get a type. */
static bool give_type(hg_assembler *a, uint32_t root, uint8_t type, const char *what) {
    a->tree->work.count = 0;
    if (!push_work(a, root)) return false;
    while (a->tree->work.count) {
        uint32_t node = a->tree->work.data[--a->tree->work.count];
        hg_tree_node *n = hg_tree_at(a, node);
        if (n->type != HG_TYPE_OMITTED) continue;
        if (n->kind == HG_TREE_LITERAL) {
            bool real = hg_asm_constant_is_real(&a->tree->constants.data[n->constant]);
            if (type == HG_TREE_PREDICATE ? !n->is.truth : real && !hg_type_is_float((hg_type)type))
                return mismatch(a, node, type, what);
        } else if (type == HG_TREE_PREDICATE) {
            if (n->kind != HG_TREE_SELECT) return mismatch(a, node, type, what);
        } else if (n->kind == HG_TREE_OP) {
            if (!hg_op_allows_type((hg_op)n->op, (hg_type)type))
                return unsupported(a, &n->token, (hg_op)n->op, type);
            n->types[0] = type;
        }
        n->type = type;
        const hg_op_info *row = n->kind == HG_TREE_OP ? hg_op_get((hg_op)n->op) : NULL;
        for (uint32_t i = 0; i < n->count; i++)
            if ((row ? argument_of(row, i)->rule == HG_R_T : i > 0) && is_open(a, n->argument[i]) &&
                !push_work(a, n->argument[i]))
                return false;
    }
    return true;
}

bool hg_tree_fit(hg_assembler *a, uint32_t node, uint8_t type, const char *what) {
    hg_tree_node *n = hg_tree_at(a, node);
    uint8_t has = hg_tree_type(a, node);
    if (has == type) return true;
    if (has == HG_TYPE_OMITTED) return give_type(a, node, type, what);
    if (has != HG_TYPE_U32 || type != HG_TYPE_U64) return mismatch(a, node, type, what);
    n->wide = HG_TYPE_U64;
    return true;
}

/* What literals without a type are: predicates, i32, i64 where one does not fit, or f32. */
static bool default_type(hg_assembler *a, uint32_t root, uint8_t *type) {
    a->tree->work.count = 0;
    if (!push_work(a, root)) return false;
    while (a->tree->work.count) {
        const hg_tree_node *n = hg_tree_at(a, a->tree->work.data[--a->tree->work.count]);
        for (uint32_t i = n->count; i-- > 0;)
            if (is_open(a, n->argument[i]) && !push_work(a, n->argument[i])) return false;
        if (n->kind != HG_TREE_LITERAL || n->is.operand) continue;
        const hg_constant *c = &a->tree->constants.data[n->constant];
        hg_token literal;
        uint8_t one = HG_TREE_PREDICATE;
        if (!n->is.truth && hg_asm_constant_is_real(c)) {
            one = HG_TYPE_F32;
        } else if (!n->is.truth) {
            if (!hg_asm_constant_token(a, c, &literal)) return false;
            if (is_letter(literal.text[0])) {
                hg_asm_error(a, "V05", &n->token, "write it: let a u32 = bits(0x1), or u32(…)",
                             "the type of a bit pattern is not known here");
                return false;
            }
            if (!hg_asm_default_type(a, &literal, &one)) return false;
        }
        bool wider = *type == HG_TYPE_OMITTED || *type == HG_TREE_PREDICATE ||
                     (*type == HG_TYPE_I32 && one != HG_TREE_PREDICATE) || one == HG_TYPE_F32;
        if (wider) *type = one;
    }
    return true;
}

/* Of several, which get one type. */
bool hg_tree_settle_all(hg_assembler *a, const uint32_t *nodes, uint32_t count) {
    uint8_t type = HG_TYPE_OMITTED;
    for (uint32_t i = 0; i < count; i++)
        if (is_open(a, nodes[i]) && !default_type(a, nodes[i], &type)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (is_open(a, nodes[i]) && !give_type(a, nodes[i], type, "it")) return false;
    return true;
}

bool hg_tree_settle(hg_assembler *a, uint32_t node) { return hg_tree_settle_all(a, &node, 1); }

static bool is_index(uint8_t type) { return type == HG_TYPE_U32 || type == HG_TYPE_U64; }

bool hg_tree_join(hg_assembler *a, const hg_token *op, const uint32_t *nodes, uint32_t count,
                  uint8_t *type) {
    uint8_t found = HG_TYPE_OMITTED;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t one = hg_tree_type(a, nodes[i]);
        if (one == HG_TYPE_OMITTED || one == found) continue;
        if (found == HG_TYPE_OMITTED) {
            found = one;
        } else if (is_index(found) && is_index(one)) {
            found = HG_TYPE_U64;
        } else {
            char got[80], hint[160];
            const char *x = hg_tree_type_name(found), *y = hg_tree_type_name(one);
            bool predicate = found == HG_TREE_PREDICATE || one == HG_TREE_PREDICATE;
            snprintf(hint, sizeof hint,
                     predicate ? "a condition is no number: u32(p) is 0 or 1"
                               : "convert one of them: %s(…) or %s(…)",
                     x, y);
            hg_asm_error(a, "V05", op, hint, "operands of %s are %s and %s",
                         hg_token_describe(op, got), x, y);
            return false;
        }
    }
    *type = found;
    for (uint32_t i = 0; i < count && found != HG_TYPE_OMITTED; i++)
        if (!hg_tree_fit(a, nodes[i], found, "the other operand")) return false;
    return true;
}

bool hg_tree_known(const hg_assembler *a, uint32_t node, hg_constant *value) {
    const hg_tree_node *n = hg_tree_at(a, node);
    if (n->kind != HG_TREE_LITERAL) return false;
    *value = a->tree->constants.data[n->constant];
    return true;
}

bool hg_tree_is_number(const hg_assembler *a, uint32_t node) {
    const hg_tree_node *n = hg_tree_at(a, node);
    return n->kind == HG_TREE_LITERAL && n->type == HG_TYPE_OMITTED;
}

/* ---- instructions ---- */

static bool may_act(const hg_assembler *a, const hg_tree_node *n) {
    uint32_t flags = hg_op_get((hg_op)n->op)->flags;
    bool divides = n->op == HG_OP_DIV || n->op == HG_OP_REM;
    hg_constant by;
    if (divides && n->type < HG_TYPE_COUNT && hg_type_is_float((hg_type)n->type)) return false;
    if (divides && hg_tree_known(a, n->argument[1], &by)) {
        if (by.kind != HG_CONSTANT_LITERAL) return by.integer == 0;
        char first = by.token.length ? by.token.text[0] : '0';
        return first < '1' || first > '9'; /* 0x1 may be zero as far as is known here */
    }
    return (flags & (HG_F_MAY_FAULT | HG_F_BARRIER | HG_F_STATE | HG_F_ATOMIC | HG_F_POOL)) != 0;
}

uint8_t hg_tree_operand_type(const uint8_t types[2], const hg_operand_info *o) {
    if (o->kind == HG_K_PRED) return HG_TREE_PREDICATE;
    switch ((hg_type_rule)o->rule) {
    case HG_R_T: return types[0];
    case HG_R_T2: return types[1];
    case HG_R_WIDE: return (uint8_t)hg_wide_type(types[0]);
    case HG_R_I8: return HG_TYPE_I8;
    case HG_R_U32: return HG_TYPE_U32;
    case HG_R_U64: return HG_TYPE_U64;
    case HG_R_U8: return HG_TYPE_U8;
    case HG_R_F32: return HG_TYPE_F32;
    case HG_R_F64: return HG_TYPE_F64;
    default: return HG_TYPE_OMITTED;
    }
}

static const hg_tree_function *function_of(const hg_assembler *a, const hg_tree_node *call) {
    return &a->tree->functions.data[call->call.function];
}

bool hg_tree_result(const hg_assembler *a, uint32_t node, uint32_t i, uint8_t *type) {
    const hg_tree_node *n = hg_tree_at(a, node);
    const hg_op_info *row = n->kind == HG_TREE_OP ? hg_op_get((hg_op)n->op) : NULL;
    *type = hg_tree_type(a, node);
    if (!i) return true;
    if (n->kind == HG_TREE_CALL) {
        const hg_tree_function *f = function_of(a, n);
        if (i >= f->results) return false;
        *type = a->tree->values.data[f->values + f->parameters + i].type;
        return true;
    }
    for (uint32_t k = 0; row && k < row->operand_count; k++) {
        const hg_operand_info *o = &row->operands[k];
        if ((o->kind != HG_K_REG && o->kind != HG_K_PRED) || o->access != HG_WRITE || i--) continue;
        *type = hg_tree_operand_type(n->types, o);
        return true;
    }
    return false;
}

void hg_tree_give(hg_assembler *a, uint32_t node, uint32_t i, hg_register reg) {
    hg_tree_node *n = hg_tree_at(a, node);
    if (n->kind == HG_TREE_CALL) {
        a->tree->results.data[n->call.results + i] = (hg_tree_target){reg, true};
        return;
    }
    n->other.reg = reg;
    n->other.wanted = true;
}

/* An operation whose types are known, or whose type of its arguments is open. */
static uint32_t finish(hg_assembler *a, hg_tree_node n) {
    const hg_op_info *row = hg_op_get((hg_op)n.op);
    n.type = HG_TYPE_OMITTED;
    for (uint32_t k = 0; k < row->operand_count && n.type == HG_TYPE_OMITTED; k++) {
        const hg_operand_info *o = &row->operands[k];
        if ((o->kind != HG_K_REG && o->kind != HG_K_PRED) || o->access != HG_WRITE) continue;
        n.type = hg_tree_operand_type(n.types, o);
        break;
    }
    n.is.acting = may_act(a, &n);
    for (uint32_t i = 0; i < n.count; i++) n.is.acting |= hg_tree_at(a, n.argument[i])->is.acting;
    return hg_tree_add(a, n);
}

/* Arguments of one type T, the result too, or a predicate. */
static uint32_t operate(hg_assembler *a, hg_op op, uint8_t condition, const hg_token *sign,
                        const uint32_t *arguments, uint32_t count) {
    hg_tree_node n = hg_tree_plain(HG_TREE_OP, HG_TYPE_OMITTED, sign);
    uint8_t type = HG_TYPE_OMITTED;
    for (uint32_t i = 0; i < count; i++)
        if (hg_tree_type(a, arguments[i]) == HG_TREE_PREDICATE) type = HG_TREE_PREDICATE;
    if (type != HG_TREE_PREDICATE && !hg_tree_join(a, sign, arguments, count, &type))
        return HG_TREE_BAD;
    if (type == HG_TYPE_OMITTED && op == HG_OP_SET) {
        if (!hg_tree_settle_all(a, arguments, count)) return HG_TREE_BAD;
        type = hg_tree_type(a, arguments[0]);
    }
    char got[80];
    if (type == HG_TREE_PREDICATE) {
        hg_asm_error(a, "V03", sign,
                     op == HG_OP_SET ? "a && b, a || b and !a combine conditions; xor.p(a, b)"
                                     : "a && b, a || b and !a combine conditions; u32(p) is 0 or 1",
                     "%s takes numbers, not predicates", hg_token_describe(sign, got));
        return HG_TREE_BAD;
    }
    if (type != HG_TYPE_OMITTED && !hg_op_allows_type(op, (hg_type)type)) {
        unsupported(a, sign, op, type);
        return HG_TREE_BAD;
    }
    n.op = (uint16_t)op;
    n.condition = condition;
    n.types[0] = type;
    n.count = count;
    for (uint32_t i = 0; i < count; i++) n.argument[i] = arguments[i];
    n.token = count > 1 ? reach(a, arguments[0], arguments[count - 1]) : *sign;
    if (count == 1) hg_asm_extend(&n.token, &hg_tree_at(a, arguments[0])->token);
    return finish(a, n);
}

uint32_t hg_tree_sign(hg_assembler *a, const hg_token *op, uint32_t x) {
    if (x == HG_TREE_BAD) return x;
    if (hg_tree_is_number(a, x)) {
        hg_constant c = a->tree->constants.data[hg_tree_at(a, x)->constant];
        if (!hg_asm_apply_sign(a, op, &c)) return HG_TREE_BAD;
        return hg_tree_literal(a, &c, op->kind == '!');
    }
    if (op->kind != '!') return operate(a, op->kind == '-' ? HG_OP_NEG : HG_OP_NOT, 0, op, &x, 1);
    if (!hg_tree_fit(a, x, HG_TREE_PREDICATE, "what '!' takes")) return HG_TREE_BAD;
    hg_tree_node n = hg_tree_plain(HG_TREE_OP, HG_TREE_PREDICATE, op);
    n.op = HG_OP_NOT_P;
    n.count = 1;
    n.argument[0] = x;
    hg_asm_extend(&n.token, &hg_tree_at(a, x)->token);
    return finish(a, n);
}

static hg_op operation_of(int sign, uint8_t *condition) {
    switch (sign) {
    case '+': return HG_OP_ADD;
    case '-': return HG_OP_SUB;
    case '*': return HG_OP_MUL;
    case '/': return HG_OP_DIV;
    case '%': return HG_OP_REM;
    case '&': return HG_OP_AND;
    case '|': return HG_OP_OR;
    case '^': return HG_OP_XOR;
    case HG_TOKEN_SHIFT_LEFT: return HG_OP_SHL;
    case HG_TOKEN_SHIFT_RIGHT: return HG_OP_SHR;
    case HG_TOKEN_EQUAL: *condition = HG_COND_EQ; return HG_OP_SET;
    case HG_TOKEN_NOT_EQUAL: *condition = HG_COND_NE; return HG_OP_SET;
    case '<': *condition = HG_COND_LT; return HG_OP_SET;
    case '>': *condition = HG_COND_GT; return HG_OP_SET;
    case HG_TOKEN_LESS_EQUAL: *condition = HG_COND_LE; return HG_OP_SET;
    default: *condition = HG_COND_GE; return HG_OP_SET;
    }
}

/* The left operand has a type of its own, the amount is a u32. */
static uint32_t shift(hg_assembler *a, hg_op op, const hg_token *sign, uint32_t x, uint32_t y) {
    uint8_t type = hg_tree_type(a, x);
    if (hg_tree_type(a, y) != HG_TYPE_OMITTED && hg_tree_type(a, y) != HG_TYPE_U32) {
        hg_asm_error(a, "V03", &hg_tree_at(a, y)->token, "convert it: u32(…)",
                     "type mismatch: the amount of a shift is u32, not %s",
                     hg_tree_type_name(hg_tree_type(a, y)));
        return HG_TREE_BAD;
    }
    if (!hg_tree_fit(a, y, HG_TYPE_U32, "the amount of a shift")) return HG_TREE_BAD;
    bool good = type != HG_TREE_PREDICATE &&
                (type == HG_TYPE_OMITTED || hg_op_allows_type(op, (hg_type)type));
    if (!good) {
        unsupported(a, sign, op, type);
        return HG_TREE_BAD;
    }
    hg_tree_node n = hg_tree_plain(HG_TREE_OP, HG_TYPE_OMITTED, sign);
    n.op = (uint16_t)op;
    n.types[0] = type;
    n.count = 2;
    n.argument[0] = x;
    n.argument[1] = y;
    n.token = reach(a, x, y);
    return finish(a, n);
}

/* Two numbers are one. */
static uint32_t combine(hg_assembler *a, const hg_token *op, uint32_t x, uint32_t y, bool truth) {
    hg_constant left = a->tree->constants.data[hg_tree_at(a, x)->constant],
                right = a->tree->constants.data[hg_tree_at(a, y)->constant];
    hg_token whole = reach(a, x, y);
    if (!hg_asm_combine(a, &left, op, &right)) return HG_TREE_BAD;
    left.token = whole;
    return hg_tree_literal(a, &left, truth);
}

uint32_t hg_tree_binary(hg_assembler *a, const hg_token *op, uint32_t x, uint32_t y) {
    if (x == HG_TREE_BAD || y == HG_TREE_BAD) return HG_TREE_BAD;
    uint8_t condition = 0;
    hg_op operation = operation_of(op->kind, &condition);
    if (hg_tree_is_number(a, x) && hg_tree_is_number(a, y))
        return combine(a, op, x, y, operation == HG_OP_SET);
    if (operation == HG_OP_SHL || operation == HG_OP_SHR) return shift(a, operation, op, x, y);
    uint32_t both[2] = {x, y};
    return operate(a, operation, condition, op, both, 2);
}

/* The value of a divisor that is known and above 0; else 0. */
static bool positive_number(hg_assembler *a, uint32_t node, hg_i128 *number) {
    const hg_tree_node *n = hg_tree_at(a, node);
    uint8_t bytes[HG_MAX_LITERAL_BYTES] = {0};
    hg_constant c;
    hg_token literal;
    *number = 0;
    if (!hg_tree_known(a, node, &c) || hg_type_size_bytes((hg_type)n->type) > 8) return true;
    if (!hg_asm_constant_token(a, &c, &literal) ||
        !hg_asm_literal_bytes(a, &literal, (hg_type)n->type, bytes))
        return false;
    uint64_t value = 0, size = hg_type_size_bytes((hg_type)n->type);
    for (uint64_t i = size; i-- > 0;) value = value << 8 | bytes[i];
    if (!(value >> (size * 8 - 1))) *number = value;
    return true;
}

/* By a power of two: the bits above, or below. */
static uint32_t floor_by_bits(hg_assembler *a, const hg_token *sign, uint32_t x, hg_i128 by,
                              bool rest) {
    uint8_t type = hg_tree_type(a, x);
    int amount = 0;
    while (((hg_i128)1 << amount) < by) amount++;
    uint32_t y = rest ? number(a, sign, (int64_t)by - 1, type)
                      : number(a, sign, amount, HG_TYPE_U32);
    if (y == HG_TREE_BAD) return y;
    if (!rest) return shift(a, HG_OP_SHR, sign, x, y);
    uint32_t both[2] = {x, y};
    return operate(a, HG_OP_AND, 0, sign, both, 2);
}

uint32_t hg_tree_floor(hg_assembler *a, const hg_token *op, uint32_t x, uint32_t y, bool rest) {
    if (x == HG_TREE_BAD || y == HG_TREE_BAD) return HG_TREE_BAD;
    uint32_t both[2] = {x, y};
    uint8_t type;
    hg_i128 by = 0;
    if (!hg_tree_join(a, op, both, 2, &type)) return HG_TREE_BAD;
    if (type == HG_TYPE_OMITTED && !hg_tree_settle_all(a, both, 2)) return HG_TREE_BAD;
    type = hg_tree_type(a, x);
    bool number = type != HG_TREE_PREDICATE, floats = number && hg_type_is_float((hg_type)type);
    bool signs = floats || (number && hg_type_is_signed((hg_type)type));
    if (!signs || (floats && !rest)) {
        uint32_t node = operate(a, rest ? HG_OP_REM : HG_OP_DIV, 0, op, both, 2);
        return node == HG_TREE_BAD || !floats ? node : operate(a, HG_OP_FLOOR, 0, op, &node, 1);
    }
    if (!floats && !positive_number(a, y, &by)) return HG_TREE_BAD;
    if (!floats && by && !(by & (by - 1))) return floor_by_bits(a, op, x, by, rest);
    hg_tree_node n = hg_tree_plain(HG_TREE_FLOOR, type, op);
    n.op = rest ? HG_OP_REM : HG_OP_DIV;
    n.count = 2;
    n.argument[0] = x;
    n.argument[1] = y;
    n.is.positive = by != 0;
    n.is.acting = may_act(a, &n) || hg_tree_at(a, x)->is.acting || hg_tree_at(a, y)->is.acting;
    n.token = reach(a, x, y);
    return hg_tree_add(a, n);
}

uint32_t hg_tree_logic(hg_assembler *a, const hg_token *op, uint32_t x, uint32_t y) {
    if (x == HG_TREE_BAD || y == HG_TREE_BAD) return HG_TREE_BAD;
    if (hg_tree_is_number(a, x) && hg_tree_is_number(a, y)) return combine(a, op, x, y, true);
    const char *what = op->kind == HG_TOKEN_AND ? "what '&&' takes" : "what '||' takes";
    if (!hg_tree_fit(a, x, HG_TREE_PREDICATE, what) || !hg_tree_fit(a, y, HG_TREE_PREDICATE, what))
        return HG_TREE_BAD;
    hg_tree_node n = hg_tree_plain(op->kind == HG_TOKEN_AND ? HG_TREE_AND : HG_TREE_OR,
                                   HG_TREE_PREDICATE, op);
    n.count = 2;
    n.argument[0] = x;
    n.argument[1] = y;
    n.is.branching = hg_tree_at(a, y)->is.acting;
    n.is.acting = n.is.branching || hg_tree_at(a, x)->is.acting;
    n.token = reach(a, x, y);
    return hg_tree_add(a, n);
}

/* The side that a known condition takes; the other one is worked out by nothing. */
static uint32_t choose(hg_assembler *a, uint32_t condition, uint32_t x, uint32_t y) {
    hg_constant c = a->tree->constants.data[hg_tree_at(a, condition)->constant];
    bool truth;
    if (!hg_asm_truth(a, &c, &truth)) return HG_TREE_BAD;
    return truth ? x : y;
}

uint32_t hg_tree_select(hg_assembler *a, const hg_token *colon, uint32_t condition, uint32_t x,
                        uint32_t y) {
    if (condition == HG_TREE_BAD || x == HG_TREE_BAD || y == HG_TREE_BAD) return HG_TREE_BAD;
    if (hg_tree_is_number(a, condition) && hg_tree_at(a, condition)->is.truth)
        return choose(a, condition, x, y);
    uint32_t sides[2] = {x, y};
    uint8_t type;
    if (!hg_tree_fit(a, condition, HG_TREE_PREDICATE, "what stands before '?'") ||
        !hg_tree_join(a, colon, sides, 2, &type))
        return HG_TREE_BAD;
    hg_tree_node n = hg_tree_plain(HG_TREE_SELECT, type, &hg_tree_at(a, condition)->token);
    n.count = 3;
    n.argument[0] = condition;
    n.argument[1] = x;
    n.argument[2] = y;
    n.is.branching = hg_tree_at(a, x)->is.acting || hg_tree_at(a, y)->is.acting;
    n.is.acting = n.is.branching || hg_tree_at(a, condition)->is.acting;
    n.token = reach(a, condition, y);
    return hg_tree_add(a, n);
}

/* ---- conversions ---- */

uint32_t hg_tree_convert(hg_assembler *a, const hg_token *at, uint8_t type, uint32_t x) {
    if (x == HG_TREE_BAD) return x;
    if (is_open(a, x)) {
        hg_constant c;
        bool real = hg_tree_known(a, x, &c) && hg_asm_constant_is_real(&c);
        bool direct = !real || hg_type_is_float((hg_type)type);
        if (direct ? !hg_tree_fit(a, x, type, "it") : !hg_tree_settle(a, x)) return HG_TREE_BAD;
    }
    uint8_t from = hg_tree_type(a, x);
    hg_tree_node *loaded = hg_tree_at(a, x);
    if (from == type) {
        loaded->token = *at;
        return x;
    }
    if (loaded->kind == HG_TREE_ELEMENT && loaded->types[1] == HG_TYPE_NOT_USED &&
        from < HG_TYPE_COUNT && hg_op_allows_types(HG_OP_LDG_WIDE, (hg_type)type, (hg_type)from)) {
        loaded->types[0] = loaded->type = type; /* the load converts */
        loaded->types[1] = from;
        loaded->token = *at;
        return x;
    }
    hg_tree_node n = hg_tree_plain(HG_TREE_OP, type, at);
    n.types[0] = type;
    n.count = 1;
    n.argument[0] = x;
    n.op = HG_OP_CVT;
    n.types[1] = from;
    if (from == HG_TREE_PREDICATE) {
        n.op = HG_OP_SEL;
        n.types[1] = HG_TYPE_NOT_USED;
        n.count = 3;
        n.argument[1] = number(a, at, 1, type);
        n.argument[2] = number(a, at, 0, type);
        if (n.argument[1] == HG_TREE_BAD || n.argument[2] == HG_TREE_BAD) return HG_TREE_BAD;
    }
    return finish(a, n);
}

/* ---- functions ---- */

static uint32_t argument_count(const hg_op_info *row) {
    uint32_t count = 0;
    while (argument_of(row, count)) count++;
    return count;
}

static bool suits(const hg_assembler *a, const hg_operand_info *o, uint32_t node) {
    const hg_tree_node *n = hg_tree_at(a, node);
    uint8_t type = hg_tree_type(a, node);
    bool predicate = type == HG_TREE_PREDICATE;
    switch ((hg_operand_kind)o->kind) {
    case HG_K_REG:
    case HG_K_COUNT: return !predicate;
    case HG_K_PRED: return predicate || n->is.truth;
    case HG_K_ADDRESS: return n->kind == HG_TREE_ELEMENT;
    case HG_K_LITERAL:
    case HG_K_U8:
    case HG_K_I8: return n->kind == HG_TREE_LITERAL;
    default: return false;
    }
}

static bool is_function(hg_op op) {
    const hg_op_info *row = hg_op_get(op);
    bool whole = (row->flags & HG_F_COLLECTIVE) && !hg_op_asks_all((uint16_t)op);
    if (whole || (row->flags & (HG_F_CONTROL | HG_F_RUN))) return false;
    for (uint32_t k = 0; k < row->operand_count; k++) {
        const hg_operand_info *o = &row->operands[k];
        if ((o->kind == HG_K_REG || o->kind == HG_K_PRED) && o->access == HG_WRITE) return true;
    }
    return false;
}

static bool wrong_call(hg_assembler *a, const hg_mnemonic *m, hg_op op, const uint32_t *arguments,
                       uint32_t count) {
    const hg_op_info *row = hg_op_get(op);
    uint32_t wanted = argument_count(row);
    if (!is_function(op)) {
        hg_asm_error(a, "N03", &m->token, NULL, "'%s' is an instruction without a result here",
                     row->text);
    } else if (count != wanted) {
        hg_asm_error(a, "N04", &m->token, NULL, "'%s' takes %u operand%s, got %u", row->text,
                     (unsigned)wanted, wanted == 1 ? "" : "s", (unsigned)count);
    } else {
        uint32_t i = 0;
        while (i + 1 < count && suits(a, argument_of(row, i), arguments[i])) i++;
        uint8_t kind = argument_of(row, i)->kind;
        char got[80];
        hg_asm_error(a, "N03", &hg_tree_at(a, arguments[i])->token, NULL,
                     "operand %u of '%s': expected %s, got %s", (unsigned)i + 1, row->text,
                     kind == HG_K_ADDRESS                     ? "an element of an array (x[i])"
                     : kind == HG_K_PRED                      ? "a condition"
                     : kind == HG_K_REG || kind == HG_K_COUNT ? "a number"
                                                              : "a number that is known here",
                     hg_token_describe(&hg_tree_at(a, arguments[i])->token, got));
    }
    return false;
}

static hg_op choose_form(const hg_assembler *a, const hg_mnemonic *m, const uint32_t *arguments,
                         uint32_t count) {
    uint32_t types = m->parts - m->suffix;
    for (hg_op op = m->op; op != HG_OP_NONE; op = hg_op_next_form(op)) {
        const hg_op_info *row = hg_op_get(op);
        if (types ? row->type_count < types
                  : op != m->op && row->type_count && !m->lacks_type &&
                        !(row->flags & HG_F_TYPE_OPTIONAL))
            continue;
        if (!is_function(op) || argument_count(row) != count) continue;
        uint32_t i = 0;
        while (i < count && suits(a, argument_of(row, i), arguments[i])) i++;
        if (i == count) return op;
    }
    return HG_OP_NONE;
}

/* The type of all arguments that have the rule; what is given by a suffix stays. */
static bool common_type(hg_assembler *a, const hg_tree_node *n, hg_type_rule rule,
                        const hg_token *name, uint8_t *type) {
    const hg_op_info *row = hg_op_get((hg_op)n->op);
    uint32_t nodes[HG_TREE_MOST_ARGUMENTS] = {0}, count = 0;
    for (uint32_t i = 0; i < n->count; i++)
        if (argument_of(row, i)->rule == rule && argument_of(row, i)->kind != HG_K_COUNT)
            nodes[count++] = n->argument[i];
    if (*type != HG_TYPE_OMITTED) {
        for (uint32_t i = 0; i < count; i++)
            if (!hg_tree_fit(a, nodes[i], *type, "the instruction")) return false;
        return true;
    }
    if (!hg_tree_join(a, name, nodes, count, type)) return false;
    const hg_operand_info *first = &row->operands[0];
    bool stays_open = rule == HG_R_T && count && first->rule == HG_R_T && row->type_count == 1;
    for (uint32_t i = 0; i < n->count; i++)
        stays_open = stays_open && argument_of(row, i)->rule != HG_R_WIDE;
    if (*type != HG_TYPE_OMITTED || stays_open || !count) return true;
    if (!hg_tree_settle_all(a, nodes, count)) return false;
    *type = hg_tree_type(a, nodes[0]);
    return true;
}

static bool is_count_type(uint8_t type, hg_type_rule rule) {
    if (type >= HG_TYPE_COUNT || hg_type_is_float((hg_type)type)) return false;
    if (rule == HG_R_INTEGER) return true;
    if (is_index(type)) return true;
    return rule == HG_R_INDEX && (type == HG_TYPE_U8 || type == HG_TYPE_U16);
}

bool hg_tree_fit_operand(hg_assembler *a, const uint8_t types[2], const hg_operand_info *o,
                         uint32_t node) {
    hg_type_rule rule = (hg_type_rule)o->rule;
    hg_tree_node *x = hg_tree_at(a, node);
    if (o->kind == HG_K_PRED) return hg_tree_fit(a, node, HG_TREE_PREDICATE, "the operand");
    if (o->kind == HG_K_ADDRESS) return x->is.place = true;
    bool given = x->kind == HG_TREE_LITERAL && is_open(a, node);
    if (o->kind != HG_K_REG && given) return x->is.operand = true;
    uint8_t type = hg_tree_operand_type(types, o);
    bool own = rule == HG_R_T || rule == HG_R_T2;
    if (own && (type == HG_TYPE_OMITTED || o->kind != HG_K_REG)) return true;
    if (type != HG_TYPE_OMITTED) return hg_tree_fit(a, node, type, "the operand");
    if (!hg_tree_settle(a, node)) return false;
    if (rule == HG_R_ANY || is_count_type(hg_tree_type(a, node), rule)) return true;
    hg_asm_error(a, "V03", &x->token, "convert it: u32(…)",
                 "type mismatch: the operand is an index, not %s",
                 hg_tree_type_name(hg_tree_type(a, node)));
    return false;
}

/* d = a * b of twice the width: the type follows from that of a and b. */
static void find_twice(hg_tree_node *n) {
    for (int t = 0; t < HG_TYPE_COUNT && n->types[0] == HG_TYPE_OMITTED; t++)
        if (hg_op_allows_types((hg_op)n->op, (hg_type)t, (hg_type)n->types[1]))
            n->types[0] = (uint8_t)t;
}

static bool find_types(hg_assembler *a, const hg_mnemonic *m, hg_tree_node *n) {
    const hg_op_info *row = hg_op_get((hg_op)n->op);
    if (row->type_count > 1) {
        n->types[1] = m->type2 < HG_TYPE_COUNT ? m->type2 : (uint8_t)HG_TYPE_OMITTED;
        if (!common_type(a, n, HG_R_T2, &m->token, &n->types[1])) return false;
    }
    if (row->type_count > 0) {
        n->types[0] = m->type < HG_TYPE_COUNT ? m->type : (uint8_t)HG_TYPE_OMITTED;
        if (!common_type(a, n, HG_R_T, &m->token, &n->types[0])) return false;
        if (row->types == HG_T_TWICE && n->types[1] < HG_TYPE_COUNT) find_twice(n);
    }
    for (uint32_t i = 0; i < n->count; i++)
        if (!hg_tree_fit_operand(a, n->types, argument_of(row, i), n->argument[i])) return false;
    bool open = row->type_count && n->types[0] == HG_TYPE_OMITTED;
    if (open && (row->type_count > 1 || !n->count || !is_open(a, n->argument[0])))
        return hg_asm_no_type(a, m);
    bool predicate = n->types[0] == HG_TREE_PREDICATE;
    bool allowed = open || !row->type_count ||
                   (!predicate &&
                    (row->type_count > 1 ? hg_op_allows_types((hg_op)n->op, (hg_type)n->types[0],
                                                              (hg_type)n->types[1])
                                         : hg_op_allows_type((hg_op)n->op, (hg_type)n->types[0])));
    return allowed || unsupported(a, &m->token, (hg_op)n->op, n->types[0]);
}

uint32_t hg_tree_call(hg_assembler *a, const hg_mnemonic *m, const hg_token *at,
                      const uint32_t *arguments, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (arguments[i] == HG_TREE_BAD) return HG_TREE_BAD;
    hg_tree_node n = hg_tree_plain(HG_TREE_OP, HG_TYPE_OMITTED, at);
    hg_op op = choose_form(a, m, arguments, count);
    if (op == HG_OP_NONE) {
        wrong_call(a, m, m->op, arguments, count);
        return HG_TREE_BAD;
    }
    n.op = (uint16_t)op;
    n.condition = (uint8_t)m->condition;
    n.count = count;
    for (uint32_t i = 0; i < count; i++) n.argument[i] = arguments[i];
    return find_types(a, m, &n) ? finish(a, n) : HG_TREE_BAD;
}

/* ---- functions of the program ---- */

/* Room for what the call has of each argument and each result. */
static bool add_lists(hg_assembler *a, const uint32_t *arguments, uint32_t count,
                      uint32_t results) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *kept = hg_vec_push(&a->tree->arguments);
        if (!kept) return hg_asm_no_memory(a);
        *kept = arguments[i];
    }
    for (uint32_t i = 0; i < results; i++) {
        hg_tree_target *kept = hg_vec_push(&a->tree->results);
        if (!kept) return hg_asm_no_memory(a);
        *kept = (hg_tree_target){.wanted = false};
    }
    return true;
}

/* Arguments behind which nothing is called any more are worked out in their parameters. */
static void go_straight(hg_assembler *a, const uint32_t *arguments, uint32_t count,
                        const hg_tree_value *parameters) {
    for (uint32_t i = count; i-- > 0;) {
        hg_tree_node *n = hg_tree_at(a, arguments[i]);
        n->goal.reg = parameters[i].reg;
        n->goal.wanted = n->kind != HG_TREE_REGISTER;
        if (n->is.calling) return;
    }
}

uint32_t hg_tree_call_function(hg_assembler *a, const hg_token *at, uint32_t function,
                               const uint32_t *arguments, uint32_t count) {
    const hg_tree_function f = a->tree->functions.data[function];
    const hg_tree_value *values = f.parameters + f.results ? &a->tree->values.data[f.values] : NULL;
    uint8_t type = f.results ? values[f.parameters].type : (uint8_t)HG_TREE_NO_VALUE;
    for (uint32_t i = 0; i < count; i++)
        if (arguments[i] == HG_TREE_BAD ||
            !hg_tree_fit(a, arguments[i], values[i].type, "the parameter"))
            return HG_TREE_BAD;
    hg_tree_node n = hg_tree_plain(HG_TREE_CALL, type, at);
    n.count = count;
    n.call.function = function;
    n.call.list = (uint32_t)a->tree->arguments.count;
    n.call.results = (uint32_t)a->tree->results.count;
    n.is.acting = n.is.calling = true;
    go_straight(a, arguments, count, values);
    return add_lists(a, arguments, count, f.results) ? hg_tree_add(a, n) : HG_TREE_BAD;
}

uint32_t hg_tree_array_argument(hg_assembler *a, const hg_token *at, uint32_t number) {
    hg_tree_node n = hg_tree_plain(HG_TREE_ARRAY, HG_TREE_NO_VALUE, at);
    n.constant = number;
    return hg_tree_add(a, n);
}
