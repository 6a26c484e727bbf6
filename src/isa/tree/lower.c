/* Expressions to instructions: one walk over the nodes, operands before their node.
 * Must not know: syntax, statements. */
#include "isa/tree/tree.h"

/* ---- jumps ---- */

static uint32_t next_inst(const hg_assembler *a) { return (uint32_t)a->code.insts.count; }
static uint32_t last_inst(const hg_assembler *a) { return (uint32_t)a->code.insts.count - 1; }

static bool branch(hg_assembler *a, const hg_token *at, hg_register predicate) {
    return hg_asm_emit(a, HG_OP_BRA, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, at) &&
           hg_asm_emit_register(a, predicate, true, HG_READ, at);
}

bool hg_tree_jump(hg_assembler *a, const hg_token *at, hg_register predicate, uint32_t to) {
    return branch(a, at, predicate) && hg_asm_emit_target(a, to, at, NULL);
}

static void chain(hg_assembler *a, uint64_t operand, hg_jumps *jumps) {
    a->code.operands.data[operand].value = jumps->last;
    jumps->last = operand + 1;
}

bool hg_tree_jump_on(hg_assembler *a, const hg_token *at, hg_register predicate, hg_jumps *jumps) {
    uint64_t operand;
    if (!branch(a, at, predicate) || !hg_asm_emit_target(a, 0, at, &operand)) return false;
    chain(a, operand, jumps);
    return true;
}

void hg_tree_bind(hg_assembler *a, hg_jumps *jumps) {
    while (jumps->last) {
        hg_operand *o = &a->code.operands.data[jumps->last - 1];
        jumps->last = o->value;
        o->value = next_inst(a);
        a->code.bound = next_inst(a);
    }
}

bool hg_tree_is_reached(const hg_assembler *a) {
    if (!a->code.insts.count || a->code.bound == a->code.insts.count) return true;
    const hg_inst *in = &a->code.insts.data[last_inst(a)];
    if (in->op == HG_OP_EXIT || in->op == HG_OP_RET) return false;
    return in->op != HG_OP_BRA || a->code.operands.data[in->operands].reg != 255;
}

/* ---- values ---- */

static bool is_fixed(const hg_register *reg) { return reg->virtual_number == HG_UNDEFINED; }

static bool is_same(const hg_register *x, const hg_register *y) {
    return x->virtual_number == y->virtual_number && (!is_fixed(x) || x->number == y->number);
}

/* Where the node's own value goes: to where it is wanted, or to a temporary. */
static bool place_value(hg_assembler *a, hg_tree_node *n, uint8_t type, hg_register *reg) {
    *reg = n->goal.reg;
    if (n->goal.wanted && n->wide == HG_TYPE_OMITTED) return true;
    bool predicate = type == HG_TREE_PREDICATE;
    return hg_asm_temporary(a, predicate ? (uint8_t)HG_TYPE_OMITTED : type, predicate, reg);
}

static bool unary(hg_assembler *a, const hg_token *at, hg_op op, uint8_t type, uint8_t type2,
                  bool predicate, hg_register d, hg_register s) {
    return hg_asm_emit(a, op, type, type2, at) &&
           hg_asm_emit_register(a, d, predicate, HG_WRITE, at) &&
           hg_asm_emit_register(a, s, predicate, HG_READ, at);
}

bool hg_tree_copy(hg_assembler *a, const hg_token *at, uint8_t type, hg_register d,
                  hg_register from) {
    if (type == HG_TREE_PREDICATE)
        return unary(a, at, HG_OP_MOV_P, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, true, d, from);
    return unary(a, at, HG_OP_MOV, type, HG_TYPE_NOT_USED, false, d, from);
}

static bool convert(hg_assembler *a, const hg_token *at, uint8_t to, uint8_t type, hg_register d,
                    hg_register s) {
    return unary(a, at, HG_OP_CVT, to, type, false, d, s);
}

/* A u32 that is meant as u64. */
static bool widen(hg_assembler *a, hg_tree_node *n) {
    if (n->wide == HG_TYPE_OMITTED) return true;
    hg_register narrow = n->reg, d = n->goal.reg;
    if (!n->goal.wanted && !hg_asm_temporary(a, HG_TYPE_U64, false, &d)) return false;
    n->reg = d;
    return convert(a, &n->token, n->wide, n->type, d, narrow);
}

/* ---- nodes ---- */

/* A predicate that is known: a number compared with itself. */
static bool lower_truth(hg_assembler *a, hg_tree_node *n, bool truth) {
    hg_register zero;
    return hg_asm_temporary(a, HG_TYPE_U32, false, &zero) &&
           hg_asm_emit_number(a, &n->token, zero, HG_TYPE_U32, 0, &n->token, &n->token) &&
           hg_asm_emit(a, HG_OP_SET, HG_TYPE_U32, HG_TYPE_NOT_USED, &n->token) &&
           hg_asm_add_operand(
               a, (hg_operand){.kind = HG_K_COND, .value = truth ? HG_COND_EQ : HG_COND_NE},
               &n->token) &&
           hg_asm_emit_register(a, n->reg, true, HG_WRITE, &n->token) &&
           hg_asm_emit_register(a, zero, false, HG_READ, &n->token) &&
           hg_asm_emit_register(a, zero, false, HG_READ, &n->token);
}

static bool lower_literal(hg_assembler *a, hg_tree_node *n) {
    if (n->is.operand || n->type == HG_TYPE_OMITTED) return true;
    const hg_constant c = a->tree->constants.data[n->constant];
    bool truth;
    hg_token literal;
    if (!place_value(a, n, n->type, &n->reg)) return false;
    if (n->type == HG_TREE_PREDICATE)
        return hg_asm_truth(a, &c, &truth) && lower_truth(a, n, truth);
    if (!hg_asm_constant_token(a, &c, &literal)) return false;
    return hg_asm_emit_literal(a, &n->token, n->reg, n->type, &literal);
}

static bool lower_id(hg_assembler *a, hg_tree_node *n) {
    return place_value(a, n, n->type, &n->reg) &&
           hg_asm_emit(a, HG_OP_RDID, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, &n->token) &&
           hg_asm_emit_register(a, n->reg, false, HG_WRITE, &n->token) &&
           hg_asm_add_operand(a, (hg_operand){.kind = HG_K_IDNAME, .value = n->condition},
                              &n->token);
}

static bool add_address(hg_assembler *a, const hg_tree_node *n) {
    hg_operand o = n->at.address;
    uint64_t place = a->code.operands.count;
    o.kind = HG_K_ADDRESS;
    o.index = n->at.index.number;
    if (o.place == HG_PLACE_BUF_REG) {
        o.reg = n->other.reg.number;
        if (!hg_asm_use(a, &n->other.reg, last_inst(a), place, HG_USE_REG, HG_READ)) return false;
    }
    if (o.has_index && !hg_asm_use(a, &n->at.index, last_inst(a), place, HG_USE_INDEX, HG_READ))
        return false;
    return hg_asm_add_operand(a, o, &n->token) != NULL;
}

/* converts: the load widens, or the store narrows. */
static hg_op access_op(const hg_tree_node *element, bool store, bool converts) {
    switch (element->at.address.place) {
    case HG_PLACE_SHARED:
        if (converts) return store ? HG_OP_STS_NARROW : HG_OP_LDS_WIDE;
        return store ? HG_OP_STS : HG_OP_LDS;
    case HG_PLACE_PRIVATE:
        if (converts) return store ? HG_OP_STP_NARROW : HG_OP_LDP_WIDE;
        return store ? HG_OP_STP : HG_OP_LDP;
    default:
        if (converts) return store ? HG_OP_STG_NARROW : HG_OP_LDG_WIDE;
        return store ? HG_OP_STG : HG_OP_LDG;
    }
}

/* Index registers are u32 or u64. Of a signed one the sign goes on: what is below 0 is past every
 * end then. */
static bool lower_index(hg_assembler *a, hg_tree_node *n) {
    if (!n->count) return true;
    const hg_tree_node *index = hg_tree_at(a, n->argument[0]);
    uint8_t type = index->wide != HG_TYPE_OMITTED ? index->wide : index->type;
    n->at.index = index->reg;
    if (type == HG_TYPE_U32 || type == HG_TYPE_U64) return true;
    return hg_asm_temporary(a, HG_TYPE_U64, false, &n->at.index) &&
           convert(a, &n->token, HG_TYPE_U64, type, n->at.index, index->reg);
}

/* axis d, [before,] index, array, number, extent= */
static bool lower_axis(hg_assembler *a, hg_tree_node *n) {
    const bool first = n->count == 1;
    const uint32_t index = n->argument[n->count - 1];
    n->other.reg = n->reg; /* the array's handle */
    if (!place_value(a, n, n->type, &n->reg) ||
        !hg_asm_emit(a, first ? HG_OP_AXIS_FIRST : HG_OP_AXIS, hg_tree_type(a, index),
                     HG_TYPE_NOT_USED, &n->token) ||
        !hg_asm_emit_register(a, n->reg, false, HG_WRITE, &n->token) ||
        (!first &&
         !hg_asm_emit_register(a, hg_tree_at(a, n->argument[0])->reg, false, HG_READ, &n->token)) ||
        !hg_asm_emit_register(a, hg_tree_at(a, index)->reg, false, HG_READ, &n->token) ||
        !add_address(a, n) ||
        !hg_asm_add_operand(a, (hg_operand){.kind = HG_K_U8, .value = n->condition}, &n->token))
        return false;
    hg_asm_keep_array(a, n->other.reg);
    hg_operand extent = {.kind = HG_K_COUNT, .value = n->at.extent};
    if (!n->at.extent) {
        const hg_inst inst = a->code.insts.data[last_inst(a)];
        const hg_op_info *row = hg_op_get((hg_op)inst.op);
        if (!hg_asm_default_operand(a, &inst, &row->operands[row->operand_count - 1], &extent))
            return false;
    }
    return hg_asm_add_operand(a, extent, &n->token) != NULL;
}

/* A load of which only the fault is wanted. */
static bool lower_check(hg_assembler *a, const hg_tree_node *n) {
    hg_tree_node checked = *n;
    hg_register nothing;
    uint8_t type = n->types[1] != HG_TYPE_NOT_USED ? n->types[1] : n->type;
    checked.at.address.disp = n->at.check;
    return hg_asm_temporary(a, type, false, &nothing) &&
           hg_asm_emit(a, access_op(n, false, false), type, HG_TYPE_NOT_USED, &n->token) &&
           hg_asm_emit_register(a, nothing, false, HG_WRITE, &n->token) && add_address(a, &checked);
}

static bool lower_element(hg_assembler *a, hg_tree_node *n) {
    n->other.reg = n->reg; /* the array's handle */
    if (!lower_index(a, n) || (n->at.checked && !lower_check(a, n))) return false;
    if (n->is.place) return true;
    bool widens = n->types[1] != HG_TYPE_NOT_USED;
    return place_value(a, n, n->type, &n->reg) &&
           hg_asm_emit(a, access_op(n, false, widens), n->type, n->types[1], &n->token) &&
           hg_asm_emit_register(a, n->reg, false, HG_WRITE, &n->token) && add_address(a, n);
}

/* ---- instructions ---- */

/* A number that stands in the instruction. */
static bool number_operand(hg_assembler *a, const hg_tree_node *n, const hg_operand_info *o,
                           hg_operand *operand) {
    hg_token literal;
    hg_constant c = a->tree->constants.data[n->constant];
    if (!hg_asm_constant_token(a, &c, &literal)) return false;
    if (o->kind == HG_K_I8) return hg_asm_signed_byte(a, &literal, &operand->value);
    bool byte = o->kind == HG_K_U8;
    return hg_asm_unsigned_value(a, &literal, byte ? 255 : UINT64_MAX, byte ? "N07" : "S04",
                                 &operand->value);
}

bool hg_tree_emit_operand(hg_assembler *a, uint32_t node, const hg_operand_info *o) {
    const hg_tree_node *argument = hg_tree_at(a, node);
    const hg_token *at = &argument->token;
    hg_operand operand = {.kind = o->kind};
    switch ((hg_operand_kind)o->kind) {
    case HG_K_ADDRESS: return add_address(a, argument);
    case HG_K_REG:
    case HG_K_PRED:
        return hg_asm_emit_register(a, argument->reg, o->kind == HG_K_PRED, HG_READ, at);
    case HG_K_COUNT:
        if (argument->is.operand) break;
        operand.is_reg = 1;
        operand.reg = argument->reg.number;
        return hg_asm_use(a, &argument->reg, last_inst(a), a->code.operands.count, HG_USE_REG,
                          HG_READ) &&
               hg_asm_add_operand(a, operand, at);
    default: break;
    }
    return number_operand(a, argument, o, &operand) && hg_asm_add_operand(a, operand, at);
}

static bool emit_rest(hg_assembler *a, const hg_tree_node *n, const hg_operand_info *o) {
    hg_operand operand = {.kind = o->kind};
    if (o->kind == HG_K_COND) operand.value = n->condition;
    if (o->kind == HG_K_BOOL && n->is_set) {
        operand.value = 1;
    } else if (hg_operand_is_named(o)) {
        const hg_inst inst = a->code.insts.data[last_inst(a)];
        if (!hg_asm_default_operand(a, &inst, o, &operand)) return false;
    }
    return hg_asm_add_operand(a, operand, &n->token) != NULL;
}

static bool lower_op(hg_assembler *a, hg_tree_node *n) {
    const hg_op_info *row = hg_op_get((hg_op)n->op);
    uint32_t results = 0, arguments = 0;
    hg_register *result[2] = {&n->reg, &n->other.reg};
    if (!place_value(a, n, n->type, &n->reg)) return false;
    for (uint32_t k = 0; k < row->operand_count; k++) {
        const hg_operand_info *o = &row->operands[k];
        if ((o->kind != HG_K_REG && o->kind != HG_K_PRED) || o->access != HG_WRITE) continue;
        bool made = !results++ || n->other.wanted;
        if (!made && !hg_asm_temporary(a, HG_TYPE_OMITTED, o->kind == HG_K_PRED, &n->other.reg))
            return false;
    }
    if (!hg_asm_emit(a, (hg_op)n->op, n->types[0], n->types[1], &n->token)) return false;
    results = 0;
    for (uint32_t k = 0; k < row->operand_count; k++) {
        const hg_operand_info *o = &row->operands[k];
        bool is_register = o->kind == HG_K_REG || o->kind == HG_K_PRED;
        bool good;
        if (is_register && o->access == HG_WRITE)
            good = hg_asm_emit_register(a, *result[results++], o->kind == HG_K_PRED, HG_WRITE,
                                        &n->token);
        else if (hg_operand_in_mnemonic(o) || hg_operand_is_named(o))
            good = emit_rest(a, n, o);
        else
            good = hg_tree_emit_operand(a, n->argument[arguments++], o);
        if (!good) return false;
    }
    return true;
}

/* ---- calls ---- */

/* The function may be called by what follows too: its results are kept elsewhere at once. */
static bool take_results(hg_assembler *a, hg_tree_node *n, const hg_tree_function *f) {
    for (uint32_t i = 0; i < f->results && !n->call.unused; i++) {
        const hg_tree_value from = a->tree->values.data[f->values + f->parameters + i];
        const hg_tree_target to = a->tree->results.data[n->call.results + i];
        if (!i && !place_value(a, n, n->type, &n->reg)) return false;
        if (i && !to.wanted) continue;
        if (!hg_tree_copy(a, &n->token, from.type, i ? to.reg : n->reg, from.reg)) return false;
    }
    return true;
}

static bool lower_call(hg_assembler *a, hg_tree_node *n) {
    const hg_tree_function f = a->tree->functions.data[n->call.function];
    for (uint32_t i = 0; i < f.parameters; i++) {
        const hg_tree_node *argument = hg_tree_at(a, hg_tree_operand(a, n, i));
        const hg_tree_value to = a->tree->values.data[f.values + i];
        if (!is_same(&to.reg, &argument->reg) &&
            !hg_tree_copy(a, &argument->token, to.type, to.reg, argument->reg))
            return false;
    }
    hg_jumps *calls = &a->tree->functions.data[n->call.function].calls;
    bool known = f.entry != HG_UNDEFINED;
    uint64_t operand;
    if (!hg_asm_emit(a, HG_OP_CALL, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, &n->token) ||
        !hg_asm_emit_target(a, known ? f.entry : 0, &n->token, &operand))
        return false;
    if (!known) chain(a, operand, calls);
    return take_results(a, n, &f);
}

/* ---- division toward minus infinity ---- */

bool hg_tree_compare(hg_assembler *a, const hg_token *at, hg_condition c, uint8_t type,
                     hg_register x, hg_register y, hg_register *p) {
    return hg_asm_temporary(a, HG_TYPE_OMITTED, true, p) &&
           hg_asm_emit(a, HG_OP_SET, type, HG_TYPE_NOT_USED, at) &&
           hg_asm_add_operand(a, (hg_operand){.kind = HG_K_COND, .value = c}, at) &&
           hg_asm_emit_register(a, *p, true, HG_WRITE, at) &&
           hg_asm_emit_register(a, x, false, HG_READ, at) &&
           hg_asm_emit_register(a, y, false, HG_READ, at);
}

/* p = x op y, of predicates. */
static bool combine(hg_assembler *a, const hg_token *at, hg_op op, hg_register x, hg_register y,
                    hg_register *p) {
    return hg_asm_temporary(a, HG_TYPE_OMITTED, true, p) &&
           hg_asm_emit(a, op, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, at) &&
           hg_asm_emit_register(a, *p, true, HG_WRITE, at) &&
           hg_asm_emit_register(a, x, true, HG_READ, at) &&
           hg_asm_emit_register(a, y, true, HG_READ, at);
}

static bool binary(hg_assembler *a, const hg_token *at, hg_op op, uint8_t type, hg_register x,
                   hg_register y, hg_register *d) {
    return hg_asm_temporary(a, type, false, d) && hg_asm_emit_binary(a, at, op, type, *d, x, y);
}

/* Whether the rest is not 0 and has another sign than the divisor. */
static bool differs(hg_assembler *a, const hg_tree_node *n, hg_register rest, hg_register divisor,
                    hg_register zero, hg_register *p) {
    const hg_token *at = &n->token;
    hg_register signs, below, other, some;
    if (n->is.positive) return hg_tree_compare(a, at, HG_COND_LT, n->type, rest, zero, p);
    bool good;
    if (hg_type_is_float((hg_type)n->type))
        good = hg_tree_compare(a, at, HG_COND_LT, n->type, rest, zero, &below) &&
               hg_tree_compare(a, at, HG_COND_LT, n->type, divisor, zero, &other) &&
               combine(a, at, HG_OP_XOR_P, below, other, &signs);
    else
        good = binary(a, at, HG_OP_XOR, n->type, rest, divisor, &below) &&
               hg_tree_compare(a, at, HG_COND_LT, n->type, below, zero, &signs);
    return good && hg_tree_compare(a, at, HG_COND_NE, n->type, rest, zero, &some) &&
           combine(a, at, HG_OP_AND_P, signs, some, p);
}

/* q = x / y toward zero; one less where the rest is not 0 and has another sign than y. */
static bool lower_floor(hg_assembler *a, hg_tree_node *n) {
    const hg_token *at = &n->token;
    const hg_register x = hg_tree_at(a, n->argument[0])->reg,
                      y = hg_tree_at(a, n->argument[1])->reg;
    hg_register quotient, whole, rest, zero, one, p, less, more;
    bool good;
    if (n->op == HG_OP_REM) {
        good = binary(a, at, HG_OP_REM, n->type, x, y, &rest);
        more = rest;
    } else {
        good = binary(a, at, HG_OP_DIV, n->type, x, y, &quotient) &&
               binary(a, at, HG_OP_MUL, n->type, quotient, y, &whole) &&
               binary(a, at, HG_OP_SUB, n->type, x, whole, &rest);
        more = quotient;
    }
    good = good && hg_asm_temporary(a, n->type, false, &zero) &&
           hg_asm_emit_number(a, at, zero, n->type, 0, at, at) && differs(a, n, rest, y, zero, &p);
    if (!good) return false;
    if (n->op == HG_OP_REM)
        good = binary(a, at, HG_OP_ADD, n->type, rest, y, &less);
    else
        good = hg_asm_temporary(a, n->type, false, &one) &&
               hg_asm_emit_number(a, at, one, n->type, 1, at, at) &&
               binary(a, at, HG_OP_SUB, n->type, quotient, one, &less);
    return good && place_value(a, n, n->type, &n->reg) &&
           hg_asm_emit(a, HG_OP_SEL, n->type, HG_TYPE_NOT_USED, at) &&
           hg_asm_emit_register(a, n->reg, false, HG_WRITE, at) &&
           hg_asm_emit_register(a, p, true, HG_READ, at) &&
           hg_asm_emit_register(a, less, false, HG_READ, at) &&
           hg_asm_emit_register(a, more, false, HG_READ, at);
}

/* ---- sides ---- */

/* bra where the predicate is false. */
static bool jump_where_false(hg_assembler *a, const hg_token *at, hg_register predicate,
                             hg_jumps *jumps) {
    if (!hg_tree_jump(a, at, predicate, next_inst(a) + 2) ||
        !hg_tree_jump_on(a, at, HG_NO_PREDICATE, jumps))
        return false;
    a->code.bound = next_inst(a);
    return true;
}

/* The value of a side, where the whole one is to be. */
static bool give_side(hg_assembler *a, hg_tree_node *n, uint32_t side) {
    const hg_register from = hg_tree_at(a, side)->reg;
    return is_same(&from, &n->reg) ||
           hg_tree_copy(a, &hg_tree_at(a, side)->token, n->type, n->reg, from);
}

/* Behind the first side of && and ||: its value decides, or the other side does. The value has a
 * place of its own, as the other side may read what stands in the one that is wanted. */
static bool mark_logic(hg_assembler *a, hg_tree_node *n) {
    if (!hg_asm_temporary(a, HG_TYPE_OMITTED, true, &n->reg) || !give_side(a, n, n->argument[0]))
        return false;
    return n->kind == HG_TREE_OR ? hg_tree_jump_on(a, &n->token, n->reg, &n->jumps)
                                 : jump_where_false(a, &n->token, n->reg, &n->jumps);
}

static bool mark_select(hg_assembler *a, hg_tree_node *n, bool second) {
    if (!second) {
        if (!place_value(a, n, n->type, &n->reg)) return false;
        for (uint32_t i = 1; i < 3; i++) {
            hg_tree_node *side = hg_tree_at(a, n->argument[i]);
            side->goal.reg = n->reg;
            side->goal.wanted = side->kind != HG_TREE_REGISTER;
        }
        return jump_where_false(a, &n->token, hg_tree_at(a, n->argument[0])->reg, &n->jumps);
    }
    hg_jumps behind = {0};
    if (!give_side(a, n, n->argument[1]) ||
        !hg_tree_jump_on(a, &n->token, HG_NO_PREDICATE, &behind))
        return false;
    hg_tree_bind(a, &n->jumps);
    n->jumps = behind;
    return true;
}

/* In front of operand `i` of a node of which only the sides that are asked for are worked out. */
static bool begin_side(hg_assembler *a, hg_tree_node *n, uint32_t i) {
    return n->kind == HG_TREE_SELECT ? mark_select(a, n, i == 2) : mark_logic(a, n);
}

static bool lower_sides(hg_assembler *a, hg_tree_node *n) {
    if (n->is.branching) {
        if (!give_side(a, n, n->argument[n->count - 1])) return false;
        hg_tree_bind(a, &n->jumps);
        return true;
    }
    hg_op op = n->kind == HG_TREE_AND ? HG_OP_AND_P : HG_OP_OR_P;
    bool predicate = n->type == HG_TREE_PREDICATE;
    if (n->kind == HG_TREE_SELECT) op = predicate ? HG_OP_SEL_P : HG_OP_SEL;
    uint8_t type = predicate ? (uint8_t)HG_TYPE_NOT_USED : n->type;
    if (!place_value(a, n, n->type, &n->reg) ||
        !hg_asm_emit(a, op, type, HG_TYPE_NOT_USED, &n->token) ||
        !hg_asm_emit_register(a, n->reg, predicate, HG_WRITE, &n->token))
        return false;
    for (uint32_t i = 0; i < n->count; i++) {
        const hg_tree_node *side = hg_tree_at(a, n->argument[i]);
        bool condition = predicate || (n->kind == HG_TREE_SELECT && !i);
        if (!hg_asm_emit_register(a, side->reg, condition, HG_READ, &side->token)) return false;
    }
    return true;
}

static bool lower_node(hg_assembler *a, uint32_t node) {
    hg_tree_node *n = hg_tree_at(a, node);
    switch ((hg_tree_kind)n->kind) {
    case HG_TREE_ARRAY:
    case HG_TREE_REGISTER: return true;
    case HG_TREE_CALL: return lower_call(a, n);
    case HG_TREE_LITERAL: return lower_literal(a, n);
    case HG_TREE_ID: return lower_id(a, n);
    case HG_TREE_AXIS: return lower_axis(a, n);
    case HG_TREE_ELEMENT: return lower_element(a, n);
    case HG_TREE_OP: return lower_op(a, n);
    case HG_TREE_FLOOR: return lower_floor(a, n);
    default: return lower_sides(a, n);
    }
}

/* Whether operand i, a number, is put into its register behind the other operands. */
static bool comes_last(const hg_assembler *a, const hg_tree_node *n, uint32_t i) {
    if (n->kind != HG_TREE_OP || hg_tree_at(a, n->argument[i])->kind != HG_TREE_LITERAL)
        return false;
    for (uint32_t k = i + 1; k < n->count; k++)
        if (hg_tree_at(a, n->argument[k])->height == HG_TREE_TALL) return true;
    return false;
}

static bool lower_last(hg_assembler *a, const hg_tree_node *n) {
    for (uint32_t i = 0; i < n->count; i++) {
        if (!comes_last(a, n, i)) continue;
        hg_tree_node *number = hg_tree_at(a, n->argument[i]);
        if (!lower_literal(a, number) || !widen(a, number)) return false;
    }
    return true;
}

static bool begin_node(hg_assembler *a, uint32_t node) {
    hg_tree_step *step = hg_vec_push(&a->tree->steps);
    if (!step) return hg_asm_no_memory(a);
    *step = (hg_tree_step){node, 0};
    return true;
}

static bool lower_all(hg_assembler *a, uint32_t root) {
    a->tree->steps.count = 0;
    if (!begin_node(a, root)) return false;
    while (a->tree->steps.count) {
        hg_tree_step *step = &a->tree->steps.data[a->tree->steps.count - 1];
        hg_tree_node *n = hg_tree_at(a, step->node);
        uint32_t i = step->argument++;
        if (i < n->count) {
            if (n->is.branching && i && !begin_side(a, n, i)) return false;
            if (comes_last(a, n, i)) continue;
            if (!begin_node(a, hg_tree_operand(a, n, i))) return false;
            continue;
        }
        a->tree->steps.count--;
        if (!lower_last(a, n) || !lower_node(a, step->node) || !widen(a, n)) return false;
    }
    return true;
}

bool hg_tree_lower(hg_assembler *a, uint32_t root, const hg_register *want, bool fresh) {
    hg_tree_node *n = hg_tree_at(a, root);
    /* What branches may write a variable that its other side still reads. */
    bool direct = want && n->kind != HG_TREE_REGISTER && !n->is.place &&
                  (fresh || !n->is.branching || n->kind == HG_TREE_SELECT);
    if (direct) n->goal.reg = *want;
    n->goal.wanted = direct;
    if (!lower_all(a, root)) return false;
    if (!want || is_same(want, &n->reg)) return true;
    hg_register from = n->reg;
    n->reg = *want;
    return hg_tree_copy(a, &n->token, hg_tree_type(a, root), *want, from);
}

/* ---- stores ---- */

bool hg_tree_store(hg_assembler *a, uint32_t element, uint32_t value, bool read,
                   const hg_token *at) {
    hg_tree_node *n = hg_tree_at(a, element);
    const hg_tree_node *v = hg_tree_at(a, value);
    bool narrows = v->kind == HG_TREE_OP && v->op == HG_OP_CVT && v->wide == HG_TYPE_OMITTED &&
                   hg_op_allows_types(HG_OP_STG_NARROW, (hg_type)v->types[0], (hg_type)v->types[1]);
    uint8_t from = HG_TYPE_NOT_USED;
    if (narrows) {
        from = v->types[1];
        value = v->argument[0];
    }
    if (!hg_tree_lower(a, value, NULL, false)) return false;
    n->is.place = true;
    if (!read && !hg_tree_lower(a, element, NULL, false)) return false;
    return hg_asm_emit(a, access_op(n, true, narrows), n->type, from, at) && add_address(a, n) &&
           hg_asm_emit_register(a, hg_tree_at(a, value)->reg, false, HG_READ,
                                &hg_tree_at(a, value)->token);
}

/* ---- conditions ---- */

static bool jumps_by(hg_assembler *a, hg_jump_form form, bool good) {
    a->code.condition = (hg_last_jump){.end = next_inst(a), .form = (uint8_t)form};
    return good;
}

static bool jump_unless_part(hg_assembler *a, uint32_t condition, hg_jumps *jumps) {
    hg_tree_node *n = hg_tree_at(a, condition);
    bool same = n->op == HG_OP_SET && n->kind == HG_TREE_OP &&
                (n->condition == HG_COND_EQ || n->condition == HG_COND_NE);
    bool ordered = n->op == HG_OP_SET && n->kind == HG_TREE_OP && n->types[0] < HG_TYPE_COUNT &&
                   !hg_type_is_float((hg_type)n->types[0]); /* no NaN makes both false */
    if (same || ordered) {
        n->condition = (uint8_t)hg_condition_opposite((hg_condition)n->condition);
        bool good = hg_tree_lower(a, condition, NULL, false) &&
                    hg_tree_jump_on(a, &n->token, n->reg, jumps);
        return jumps_by(a, HG_JUMP_TURNED, good);
    }
    if (n->kind == HG_TREE_OP && n->op == HG_OP_NOT_P) {
        uint32_t inner = n->argument[0];
        bool good = hg_tree_lower(a, inner, NULL, false) &&
                    hg_tree_jump_on(a, &n->token, hg_tree_at(a, inner)->reg, jumps);
        return jumps_by(a, HG_JUMP_OVER, good);
    }
    bool good = hg_tree_lower(a, condition, NULL, false) &&
                jump_where_false(a, &n->token, n->reg, jumps);
    return jumps_by(a, HG_JUMP_PAIR, good);
}

/* The part of x && y, or of x || y, that is worked out first; those behind it wait. */
static bool first_part(hg_assembler *a, hg_tree_kind kind, uint32_t *node) {
    for (;;) {
        const hg_tree_node *n = hg_tree_at(a, *node);
        if (n->kind != kind || !n->is.branching) return true;
        uint32_t *behind = hg_vec_push(&a->tree->work);
        if (!behind) return hg_asm_no_memory(a);
        *behind = n->argument[1];
        *node = n->argument[0];
    }
}

/* The sides of && and || that may stay unevaluated jump by themselves, each where it decides. */
bool hg_tree_jump_unless(hg_assembler *a, uint32_t condition, hg_jumps *jumps) {
    hg_jumps holds = {0};
    uint32_t node = condition;
    bool one = true;
    a->tree->work.count = 0;
    if (!first_part(a, HG_TREE_OR, &node)) return false;
    for (; a->tree->work.count; one = false) {
        hg_tree_node *n = hg_tree_at(a, node);
        if (!hg_tree_lower(a, node, NULL, false) || !hg_tree_jump_on(a, &n->token, n->reg, &holds))
            return false;
        node = a->tree->work.data[--a->tree->work.count];
        if (!first_part(a, HG_TREE_OR, &node)) return false;
    }
    if (!first_part(a, HG_TREE_AND, &node)) return false;
    for (; a->tree->work.count; one = false) {
        if (!jump_unless_part(a, node, jumps)) return false;
        node = a->tree->work.data[--a->tree->work.count];
        if (!first_part(a, HG_TREE_AND, &node)) return false;
    }
    if (!jump_unless_part(a, node, jumps)) return false;
    hg_tree_bind(a, &holds);
    if (!one) a->code.condition.end = 0; /* it is not one jump */
    return true;
}
