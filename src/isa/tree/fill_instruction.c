/* Any instruction as a statement of a tree that callers fill: which row its mnemonic and operands
 * name, their types, and its operands.
 * Must not know: statements with blocks. */
#include "isa/tree/fill.h"

#include <stdio.h>

typedef struct call {
    hg_tree *t;
    hg_assembler *a;
    hg_token at;
    const hg_op_info *row;
    hg_op op;
    uint8_t types[2];
    hg_arg given[HG_MAX_OPERANDS];     /* one an operand of the row */
    bool missing[HG_MAX_OPERANDS];     /* left out */
    uint32_t node[HG_MAX_OPERANDS];    /* of an expression, else HG_TREE_BAD */
    uint32_t item[HG_MAX_TUPLE_ITEMS]; /* nodes of a tuple's items */
    uint32_t item_count, items_emitted;
} call;

/* ---- which row ---- */

static bool is_number(const hg_arg *g) {
    return g->kind == HG_ARG_NUMBER || g->kind == HG_ARG_SIGNED || g->kind == HG_ARG_REAL;
}

static bool is_zeroed(const hg_arg *g) { return g->kind == HG_ARG_REG && !g->reg; }

static bool is_expression(const call *c, const hg_arg *g) {
    return g->kind == HG_ARG_OF_TREE && hg_tree_thing_of(c->t, g->value) == HG_TREE_ID_EXPRESSION;
}

/* Whether the argument can be that operand. */
static bool suits(const call *c, const hg_operand_info *o, const hg_arg *g) {
    hg_tree_thing kind = g->kind == HG_ARG_OF_TREE ? hg_tree_thing_of(c->t, g->value)
                                                   : (hg_tree_thing)0;
    bool writes = (o->access & HG_WRITE) != 0;
    if (is_zeroed(g)) return o->optional != HG_REQUIRED;
    switch ((hg_operand_kind)o->kind) {
    case HG_K_REG:
    case HG_K_PRED: return kind == (writes ? HG_TREE_ID_VARIABLE : HG_TREE_ID_EXPRESSION);
    case HG_K_ADDRESS: return kind == HG_TREE_ID_EXPRESSION || kind == HG_TREE_ID_ARRAY;
    case HG_K_ARRAY: return kind == HG_TREE_ID_ARRAY;
    case HG_K_COUNT: return kind == HG_TREE_ID_EXPRESSION || g->kind == HG_ARG_NUMBER;
    case HG_K_BOOL: return g->kind == HG_ARG_NUMBER && g->value <= 1;
    case HG_K_LITERAL:
    case HG_K_U8:
    case HG_K_I8: return is_number(g);
    case HG_K_OPNAME:
    case HG_K_IDNAME: return g->kind == HG_ARG_NAME && g->bytes;
    case HG_K_TUPLE:
    case HG_K_TUPLES: return g->kind == HG_ARG_TUPLE && (g->bytes || !g->value);
    default: return false;
    }
}

/* Gives each operand of the row its argument; false: they do not suit. */
static bool match(call *c, hg_op op, const hg_arg *arguments, uint32_t count, uint32_t *wrong) {
    const hg_op_info *row = hg_op_get(op);
    uint32_t used = 0;
    for (uint32_t k = 0; k < row->operand_count; k++) {
        const hg_operand_info *o = &row->operands[k];
        static const hg_arg LEFT_OUT = {0};
        if (hg_operand_in_mnemonic(o)) continue;
        *wrong = used;
        const hg_arg *g = used < count ? &arguments[used++] : &LEFT_OUT;
        if (!suits(c, o, g)) return false;
        c->given[k] = *g;
        c->missing[k] = is_zeroed(g);
    }
    *wrong = used;
    return used == count;
}

static bool choose(call *c, const hg_mnemonic *m, const hg_arg *arguments, uint32_t count) {
    uint32_t types = m->parts - m->suffix, wrong = 0, first_wrong = UINT32_MAX;
    if (hg_op_get(m->op)->flags & HG_F_CONTROL) {
        hg_asm_error(c->a, "N03", &c->at,
                     "blocks, break, continue and return are calls of the tree",
                     "'%s' is no instruction of a statement tree", hg_op_get(m->op)->text);
        return false;
    }
    for (hg_op op = m->op; op != HG_OP_NONE; op = hg_op_next_form(op)) {
        if (types > hg_op_get(op)->type_count) continue;
        c->op = op;
        c->row = hg_op_get(op);
        if (match(c, op, arguments, count, &wrong)) return true;
        if (first_wrong == UINT32_MAX || wrong > first_wrong) first_wrong = wrong;
    }
    hg_asm_error(c->a, first_wrong >= count ? "N04" : "N03", &c->at, NULL,
                 first_wrong >= count ? "'%s' with %u operands: others are expected"
                                      : "'%s' with %u operands: operand %u is of another kind",
                 hg_op_get(m->op)->text, (unsigned)count, (unsigned)first_wrong + 1);
    return false;
}

/* ---- types ---- */

/* Expressions are taken, in order, those in tuples too. */
static bool take_items(call *c, const hg_arg *items, uint64_t count, bool inside) {
    bool good = count <= HG_MAX_TUPLE_ITEMS;
    for (uint64_t i = 0; good && i < count; i++) {
        const hg_arg *g = &items[i];
        if (inside && g->kind == HG_ARG_TUPLE) {
            good = (g->bytes || !g->value) && take_items(c, g->bytes, g->value, false);
            continue;
        }
        good = (!inside && g->kind == HG_ARG_NUMBER) || (!inside && is_expression(c, g));
        if (!good || g->kind == HG_ARG_NUMBER) continue;
        if (c->item_count == HG_MAX_TUPLE_ITEMS) good = false;
        if (good) {
            uint32_t node = hg_tree_take(c->t, g->value);
            if (node == HG_TREE_BAD || !hg_tree_settle(c->a, node)) return false;
            c->item[c->item_count++] = node;
        }
    }
    if (!good)
        hg_asm_error(c->a, "N03", &c->at, "hg_count, or an expression",
                     "a tuple of '%s' has other items, or too many", c->row->text);
    return good;
}

static bool take_all(call *c) {
    bool good = true;
    for (uint32_t k = 0; k < c->row->operand_count && good; k++) {
        const hg_operand_info *o = &c->row->operands[k];
        const hg_arg *g = &c->given[k];
        c->node[k] = HG_TREE_BAD;
        if (c->missing[k] || hg_operand_in_mnemonic(o)) continue;
        if (o->kind == HG_K_TUPLE || o->kind == HG_K_TUPLES)
            good = take_items(c, g->bytes, g->value, o->kind == HG_K_TUPLES);
        if (!is_expression(c, g)) continue;
        c->node[k] = hg_tree_take(c->t, g->value);
        good = c->node[k] != HG_TREE_BAD;
        bool place = good && o->kind == HG_K_ADDRESS;
        if (!place) continue;
        hg_tree_node *n = hg_tree_at(c->a, c->node[k]);
        n->is.place = true;
        if (n->kind == HG_TREE_ELEMENT) continue;
        hg_asm_error(c->a, "N03", &n->token, "hg_tree_element_of",
                     "operand '%s' of '%s' is an element", o->name, c->row->text);
        good = false;
    }
    return good;
}

/* The type that an operand has already, where it has the rule; HG_TYPE_OMITTED: none. */
static uint8_t told(call *c, uint32_t k, hg_type_rule rule) {
    const hg_operand_info *o = &c->row->operands[k];
    if (o->rule != rule || c->missing[k]) return HG_TYPE_OMITTED;
    if (c->node[k] != HG_TREE_BAD && o->kind == HG_K_REG) return hg_tree_type(c->a, c->node[k]);
    if (c->node[k] != HG_TREE_BAD && o->kind == HG_K_ADDRESS)
        return hg_tree_at(c->a, c->node[k])->type;
    if (c->given[k].kind != HG_ARG_OF_TREE) return HG_TYPE_OMITTED;
    if (hg_tree_thing_of(c->t, c->given[k].value) == HG_TREE_ID_VARIABLE) {
        const hg_tree_variable_info *v = hg_tree_find_variable(c->t, c->given[k].value);
        return v && !v->predicate ? v->reg.type : (uint8_t)HG_TYPE_OMITTED;
    }
    const hg_tree_array *array = hg_tree_find_array(c->t, c->given[k].value);
    return array ? array->type : (uint8_t)HG_TYPE_OMITTED;
}

static bool find_types(call *c, const hg_mnemonic *m) {
    static const hg_type_rule RULES[] = {HG_R_T, HG_R_T2};
    const uint8_t suffix[2] = {m->type, m->type2};
    c->types[0] = c->types[1] = HG_TYPE_NOT_USED;
    for (uint32_t i = 0; i < 2 && i < c->row->type_count; i++) {
        c->types[i] = suffix[i] < HG_TYPE_COUNT ? suffix[i] : (uint8_t)HG_TYPE_OMITTED;
        for (uint32_t k = 0; k < c->row->operand_count && c->types[i] >= HG_TYPE_COUNT; k++)
            c->types[i] = told(c, k, RULES[i]);
        if (c->types[i] >= HG_TYPE_COUNT) return hg_asm_no_type(c->a, m);
    }
    bool allowed = !c->row->type_count ||
                   (c->row->type_count > 1
                        ? hg_op_allows_types(c->op, (hg_type)c->types[0], (hg_type)c->types[1])
                        : hg_op_allows_type(c->op, (hg_type)c->types[0]));
    if (!allowed)
        hg_asm_error(c->a, "N06", &c->at, NULL, "unsupported operation: %s for type %s", c->row->id,
                     hg_type_name((hg_type)c->types[0]));
    return allowed;
}

/* Values get the types of their operands; variables must have them. */
static bool fit_all(call *c) {
    for (uint32_t k = 0; k < c->row->operand_count; k++) {
        const hg_operand_info *o = &c->row->operands[k];
        if (c->missing[k] || hg_operand_in_mnemonic(o)) continue;
        if (c->node[k] != HG_TREE_BAD && !hg_tree_fit_operand(c->a, c->types, o, c->node[k]))
            return false;
        if (o->kind == HG_K_ADDRESS && c->node[k] == HG_TREE_BAD &&
            !hg_tree_find_array(c->t, c->given[k].value))
            return false;
        if ((o->kind != HG_K_REG && o->kind != HG_K_PRED) || !(o->access & HG_WRITE)) continue;
        const hg_tree_variable_info *v = hg_tree_find_variable(c->t, c->given[k].value);
        if (!v) return false;
        uint8_t type = hg_tree_operand_type(c->types, o),
                has = v->predicate ? (uint8_t)HG_TREE_PREDICATE : v->reg.type;
        if (type == has && !v->fixed) continue;
        hg_asm_error(
            c->a, "V03", &c->at, NULL, "type mismatch: the variable is %s, the result is %s",
            v->fixed ? "that of a 'for'" : hg_tree_type_name(has), hg_tree_type_name(type));
        return false;
    }
    return true;
}

static bool lower_all(call *c) {
    for (uint32_t k = 0; k < c->row->operand_count; k++)
        if (c->node[k] != HG_TREE_BAD && !hg_tree_lower(c->a, c->node[k], NULL, false))
            return false;
    for (uint32_t i = 0; i < c->item_count; i++)
        if (!hg_tree_lower(c->a, c->item[i], NULL, false)) return false;
    return true;
}

/* ---- operands ---- */

static uint32_t last_inst(const hg_assembler *a) { return (uint32_t)a->code.insts.count - 1; }

static bool use(call *c, const hg_register *reg, uint64_t place, uint8_t field) {
    return hg_asm_use(c->a, reg, last_inst(c->a), place, field, HG_READ);
}

static bool emit_address(call *c, uint32_t k, hg_operand *o) {
    const hg_tree_array *array = hg_tree_find_array(c->t, c->given[k].value);
    if (!array) return false;
    bool whole = c->row->operands[k].kind == HG_K_ARRAY;
    uint64_t place = c->a->code.operands.count;
    *o = array->address;
    if (whole && o->place == HG_PLACE_BUF_REG) {
        o->kind = HG_K_ARRAY;
        o->place = HG_PLACE_BARE;
    }
    o->reg = array->handle.number;
    return use(c, &array->handle, place, HG_USE_REG) && hg_asm_add_operand(c->a, *o, &c->at);
}

/* The text of a number, for literals. */
static bool number_text(call *c, const hg_arg *g, hg_token *literal) {
    hg_constant value = {.kind = g->kind == HG_ARG_REAL ? HG_CONSTANT_REAL : HG_CONSTANT_INTEGER,
                         .integer = g->kind == HG_ARG_SIGNED ? (hg_i128)(int64_t)g->value
                                                             : (hg_i128)g->value,
                         .real = g->real,
                         .token = c->at};
    return hg_asm_constant_token(c->a, &value, literal);
}

static bool emit_number(call *c, uint32_t k, hg_operand *o) {
    const hg_operand_info *info = &c->row->operands[k];
    hg_inst inst = c->a->code.insts.data[last_inst(c->a)];
    uint8_t bytes[HG_MAX_LITERAL_BYTES];
    hg_token literal;
    hg_type type = hg_literal_type(&inst, info);
    if (!number_text(c, &c->given[k], &literal)) return false;
    if (info->kind == HG_K_U8) return hg_asm_unsigned_value(c->a, &literal, 255, "N07", &o->value);
    if (info->kind == HG_K_I8) return hg_asm_signed_byte(c->a, &literal, &o->value);
    return hg_asm_literal_bytes(c->a, &literal, type, bytes) &&
           hg_asm_keep_literal(c->a, bytes, type, &o->value);
}

static bool emit_name(call *c, uint32_t k, hg_operand *o) {
    const hg_operand_info *info = &c->row->operands[k];
    const char *name = c->given[k].bytes;
    hg_opname operation;
    hg_idname id;
    bool known = info->kind == HG_K_OPNAME ? hg_opname_from_text(name, strlen(name), &operation)
                                           : hg_idname_from_text(name, strlen(name), &id);
    if (known) o->value = info->kind == HG_K_OPNAME ? (uint64_t)operation : (uint64_t)id;
    bool fits = known && (info->kind != HG_K_OPNAME ||
                          (hg_opname_fits(operation, (hg_type_rule)info->rule) &&
                           hg_opname_allows_type(operation, (hg_type)c->types[0])));
    if (!fits)
        hg_asm_error(c->a, "N03", &c->at, NULL, "'%.40s' is no operation of '%s' here", name,
                     c->row->text);
    return fits;
}

/* Counts one after the other; *first: where. */
static bool keep_counts(call *c, const hg_arg *items, uint64_t count, uint64_t *first) {
    *first = c->a->code.items.count;
    for (uint64_t i = 0; i < count; i++) {
        bool number = items[i].kind == HG_ARG_NUMBER;
        uint32_t node = number ? HG_TREE_BAD : c->item[c->items_emitted++];
        hg_register reg = number ? HG_NO_REGISTER : hg_tree_at(c->a, node)->reg;
        hg_tuple_item item = {.is_reg = !number,
                              .reg = number ? 0 : reg.number,
                              .value = number ? items[i].value : 0};
        uint64_t place;
        if (!hg_asm_keep_items(c->a, &item, 1, &place) || !use(c, &reg, place, HG_USE_ITEM))
            return false;
    }
    return true;
}

static bool emit_tuple(call *c, uint32_t k, hg_operand *o) {
    const hg_operand_info *info = &c->row->operands[k];
    const hg_arg *g = &c->given[k], *items = g->bytes;
    o->item_count = g->value;
    if (hg_operand_is_empty(info, o)) o->place = HG_PLACE_NONE;
    bool outer = info->kind == HG_K_TUPLES, good = true;
    for (uint64_t i = 0;
         info->items && !hg_operand_is_missing(o) && good && i < (outer ? g->value : 1); i++)
        good = (outer ? items[i].value : g->value) == info->items;
    if (!good) {
        hg_asm_error(c->a, "N04", &c->at, NULL, "operand '%s' of '%s': expected %u numbers%s",
                     info->name, c->row->text, (unsigned)info->items,
                     outer ? " in each tuple" : "");
        return false;
    }
    if (!outer) return keep_counts(c, items, g->value, &o->value);
    o->value = c->a->code.items.count;
    for (uint64_t i = 0; i < g->value; i++)
        if (!hg_vec_push(&c->a->code.items)) return hg_asm_no_memory(c->a);
    for (uint64_t i = 0; i < g->value; i++) {
        uint64_t inside;
        if (!keep_counts(c, items[i].bytes, items[i].value, &inside)) return false;
        c->a->code.items.data[o->value + i] = (hg_tuple_item){
            .is_tuple = 1, .item_count = (uint32_t)items[i].value, .value = inside};
    }
    return true;
}

static bool emit_operand(call *c, const hg_mnemonic *m, uint32_t k) {
    const hg_operand_info *info = &c->row->operands[k];
    const hg_arg *g = &c->given[k];
    hg_operand o = {.kind = info->kind, .value = g->value};
    hg_inst inst = c->a->code.insts.data[last_inst(c->a)];
    bool good = true;
    if (hg_operand_in_mnemonic(info)) {
        o.value = info->kind == HG_K_COND    ? (uint64_t)m->condition
                  : info->kind == HG_K_SCOPE ? (uint64_t)m->scope
                                             : 0;
        return hg_asm_add_operand(c->a, o, &c->at) != NULL;
    }
    if (c->missing[k])
        return hg_asm_default_operand(c->a, &inst, info, &o) &&
               hg_asm_add_operand(c->a, o, &c->at) != NULL;
    if (c->node[k] != HG_TREE_BAD) return hg_tree_emit_operand(c->a, c->node[k], info);
    switch ((hg_operand_kind)info->kind) {
    case HG_K_REG:
    case HG_K_PRED: {
        const hg_tree_variable_info *v = hg_tree_find_variable(c->t, g->value);
        return hg_asm_emit_register(c->a, v->reg, info->kind == HG_K_PRED, HG_WRITE, &c->at);
    }
    case HG_K_ADDRESS:
    case HG_K_ARRAY: return emit_address(c, k, &o);
    case HG_K_LITERAL:
    case HG_K_U8:
    case HG_K_I8: good = emit_number(c, k, &o); break;
    case HG_K_OPNAME:
    case HG_K_IDNAME: good = emit_name(c, k, &o); break;
    case HG_K_TUPLE:
    case HG_K_TUPLES: good = emit_tuple(c, k, &o); break;
    default: break;
    }
    return good && hg_asm_add_operand(c->a, o, &c->at) != NULL;
}

static bool emit(call *c, const hg_mnemonic *m) {
    if (!hg_asm_emit(c->a, c->op, c->types[0], c->types[1], &c->at)) return false;
    for (uint32_t k = 0; k < c->row->operand_count; k++)
        if (!emit_operand(c, m, k)) return false;
    return true;
}

hg_status hg_tree_instruction(hg_tree *t, const char *mnemonic, const hg_arg *arguments,
                              uint32_t count) {
    HG_ENTRY;
    uint64_t errors = t ? t->a->wrong.errors : 0;
    if (!hg_tree_ready(t)) return hg_tree_status(t, errors);
    call c = {.t = t, .a = t->a, .at = hg_tree_here(t, "instruction")};
    hg_mnemonic m = {.token = c.at, .op = HG_OP_NONE};
    if (!mnemonic || (count && !arguments)) {
        hg_asm_error(t->a, "N03", &c.at, NULL,
                     "an instruction has a mnemonic and operands, not NULL");
        return hg_tree_status(t, errors);
    }
    m.token.text = hg_arena_text(&t->a->texts, mnemonic, strlen(mnemonic));
    m.token.length = (uint32_t)strlen(mnemonic);
    if (!m.token.text) return hg_asm_no_memory(t->a), hg_fail_memory();
    bool good = hg_asm_read_mnemonic(t->a, &m) && choose(&c, &m, arguments, count) &&
                take_all(&c) && find_types(&c, &m) && fit_all(&c) && lower_all(&c) && emit(&c, &m);
    (void)good;
    hg_tree_over(t);
    return hg_tree_status(t, errors);
}

hg_status hg_tree_barrier(hg_tree *t) {
    HG_ENTRY;
    const hg_arg barrier = hg_arg_number(0);
    return hg_tree_instruction(t, "bar.sync", &barrier, 1);
}
