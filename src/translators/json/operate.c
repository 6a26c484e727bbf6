/* Values of a kernel under translation: where they are, and the instructions that make new ones.
 * Must not know: the document, control flow of statements. */
#include "translators/json/lower_internal.h"

#include <string.h>

static const jk_node *node_of(const jk_code *c, uint32_t node) {
    return &c->kernel->nodes.data[node];
}
static jk_value in_reg(hg_type type, uint8_t reg) {
    return (jk_value){
        .kind = JK_V_REG, .type = (uint8_t)type, .reg = reg, .owned = true, .name = JK_NONE};
}
static jk_value constant(hg_type type, uint64_t bits) {
    return (jk_value){.kind = JK_V_CONST, .type = (uint8_t)type, .bits = bits, .name = JK_NONE};
}

void jk_drop_value(jk_code *c, jk_value *v) {
    if (v->owned) jk_release(c, v->reg);
    if (v->owns_other) jk_release(c, v->other);
    *v = (jk_value){.kind = JK_V_NONE, .name = JK_NONE};
}

/* 1 of a type. */
static uint64_t one_of(hg_type type) {
    return type == HG_TYPE_F32   ? 0x3F800000
           : type == HG_TYPE_F64 ? UINT64_C(0x3FF0000000000000)
                                 : 1;
}

/* ---- truths ---- */

static bool has_opposite(const jk_value *v) {
    return !hg_type_is_float((hg_type)v->type) || v->condition == HG_COND_EQ ||
           v->condition == HG_COND_NE;
}

static uint8_t opposite_of(uint8_t condition) {
    static const uint8_t opposite[] = {HG_COND_NE, HG_COND_EQ, HG_COND_GE,
                                       HG_COND_GT, HG_COND_LE, HG_COND_LT};
    return opposite[condition];
}

static void negate(jk_value *v) {
    if (v->kind == JK_V_CONST)
        v->bits = !v->bits;
    else if (has_opposite(v))
        v->condition = opposite_of(v->condition);
    else
        v->negated = !v->negated;
}

/* A constant takes a register. */
static void fix(jk_code *c, jk_value *v) {
    if (v->kind == JK_V_CONST) {
        v->reg = jk_constant_register(c, (hg_type)v->type, v->bits, false, &v->owned);
        v->kind = JK_V_REG;
    }
}

/* left compared with right; takes both over. */
static jk_value compare(jk_code *c, uint8_t condition, hg_type type, jk_value left,
                        jk_value right) {
    fix(c, &left);
    fix(c, &right);
    return (jk_value){.kind = JK_V_COMPARE,
                      .type = (uint8_t)type,
                      .reg = left.reg,
                      .other = right.reg,
                      .owned = left.owned,
                      .owns_other = right.owned,
                      .condition = condition,
                      .name = JK_NONE};
}

/* A truth as a compare or a constant. */
static void as_compare(jk_code *c, jk_value *v) {
    if (v->kind == JK_V_REG) *v = compare(c, HG_COND_NE, HG_TYPE_U8, *v, constant(HG_TYPE_U8, 0));
}

static void set_predicate(jk_code *c, jk_value *v) {
    uint8_t condition = v->condition, a = v->reg, b = v->other;
    hg_type type = (hg_type)v->type;
    jk_drop_value(c, v);
    jk_emit(c, HG_OP_SET, type, 0, a, b)->cond = condition;
}

bool jk_in_predicate(jk_code *c, jk_value *v) {
    if (v->kind == JK_V_CONST) { /* rare: 1 compared with 0 */
        jk_value one = *v;
        *v = compare(c, HG_COND_NE, HG_TYPE_U8, one, constant(HG_TYPE_U8, 0));
    }
    as_compare(c, v);
    bool straight = !v->negated;
    set_predicate(c, v);
    return straight;
}

void jk_branch(jk_code *c, jk_value *v, bool when, uint32_t label) {
    if (v->kind == JK_V_CONST) {
        if ((v->bits != 0) == when) jk_jump(c, label);
        return;
    }
    as_compare(c, v);
    if (!when) negate(v);
    bool negated = v->negated;
    set_predicate(c, v);
    if (!negated) {
        jk_jump_if(c, label);
        return;
    }
    uint32_t over = jk_new_label(c); /* there is no branch on a false predicate */
    jk_jump_if(c, over);
    jk_jump(c, label);
    jk_place_label(c, over);
}

/* ---- values in registers ---- */

/* 1 or 0 of a type. Uses the truth up. */
static jk_value as_number(jk_code *c, hg_type type, jk_value *truth) {
    jk_value one = constant(type, one_of(type)), zero = constant(type, 0);
    bool straight = jk_in_predicate(c, truth);
    fix(c, &one);
    fix(c, &zero);
    uint8_t reg = jk_take_register(c);
    jk_emit(c, HG_OP_SEL, type, reg, straight ? one.reg : zero.reg, straight ? zero.reg : one.reg);
    jk_drop_value(c, &one);
    jk_drop_value(c, &zero);
    return in_reg(type, reg);
}

uint8_t jk_in_register(jk_code *c, jk_value *v) {
    if (v->kind == JK_V_COMPARE) *v = as_number(c, HG_TYPE_U8, v);
    fix(c, v);
    return v->reg;
}

void jk_move_into(jk_code *c, uint8_t reg, jk_value *v) {
    if (v->kind == JK_V_CONST) {
        jk_emit(c, HG_OP_MOV_IMM, (hg_type)v->type, reg, 0, 0)->bits = v->bits;
        return;
    }
    uint8_t from = jk_in_register(c, v);
    jk_inst *last = c->fresh && c->insts.count ? &c->insts.data[c->insts.count - 1] : NULL;
    bool made_last = last && v->owned && c->users[from] == 1 && last->d == from &&
                     last->op != HG_OP_STG && last->op != HG_OP_STS && last->op != HG_OP_STP &&
                     last->op != HG_OP_SET && last->op != HG_OP_BRA && last->op != HG_OP_EXIT &&
                     last->op != HG_OP_PARALLEL_MAP && last->op != HG_OP_PARALLEL_MAP_BINARY &&
                     last->op != HG_OP_PARALLEL_REDUCE_MEM;
    if (made_last)
        last->d = reg;
    else if (from != reg)
        jk_emit(c, HG_OP_MOV, (hg_type)v->type, reg, from, 0);
    jk_drop_value(c, v);
}

/* An instruction over one or two values, which it uses up. b may be NULL. */
static jk_value apply(jk_code *c, hg_op op, hg_type type, hg_type type2, jk_value *a, jk_value *b) {
    uint8_t x = jk_in_register(c, a), y = b ? jk_in_register(c, b) : 0;
    jk_drop_value(c, a);
    if (b) jk_drop_value(c, b);
    jk_value result = in_reg(type, jk_take_register(c));
    jk_emit(c, op, type, result.reg, x, y)->type2 = (uint8_t)type2;
    return result;
}

static jk_value binary(jk_code *c, hg_op op, hg_type type, jk_value a, jk_value b) {
    return apply(c, op, type, HG_TYPE_COUNT, &a, &b);
}

static jk_value shift(jk_code *c, hg_op op, hg_type type, jk_value a, uint32_t amount) {
    jk_value by = constant(HG_TYPE_U32, amount);
    by.reg = jk_constant_register(c, HG_TYPE_U32, amount, true, &by.owned);
    by.kind = JK_V_REG;
    return binary(c, op, type, a, by);
}

/* Another holder of the same value. */
static jk_value share(jk_code *c, jk_value *v) {
    jk_in_register(c, v);
    if (v->owned) c->users[v->reg]++;
    return *v;
}

/* ---- conversions ---- */

jk_value jk_convert(jk_code *c, jk_value v, jk_type from, jk_type to) {
    hg_type source = jk_held(from), target = jk_held(to);
    if (to == JK_BOOL && from != JK_BOOL) {
        if (v.kind == JK_V_CONST) {
            uint64_t sign = source == HG_TYPE_F32   ? UINT64_C(1) << 31
                            : source == HG_TYPE_F64 ? UINT64_C(1) << 63
                                                    : 0;
            return constant(HG_TYPE_U8, (v.bits & ~sign) != 0);
        }
        return compare(c, HG_COND_NE, source, v, constant(source, 0));
    }
    if (from == JK_BOOL && to != JK_BOOL) {
        if (v.kind == JK_V_CONST) return constant(target, v.bits ? one_of(target) : 0);
        if (v.kind == JK_V_COMPARE) return as_number(c, target, &v);
    }
    if (source == target) return v;
    return apply(c, HG_OP_CVT, target, source, &v, NULL);
}

/* ---- memory ---- */

static uint32_t log2_size(hg_type type) {
    uint64_t size = hg_type_size_bytes(type);
    return size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : 0;
}

/* The byte offset of an element, and the place it goes into; the offset is used up when the
 * instruction stands. */
typedef struct address {
    bool has_index;
    uint8_t handle, memory, scale;
    uint64_t disp;
    jk_value offset;
} address;

static void set_address(jk_inst *in, const address *at) {
    in->a = at->handle;
    in->memory = at->memory;
    in->has_index = at->has_index;
    in->scale = at->scale;
    in->b = at->has_index ? at->offset.reg : 0;
    in->bits = at->disp;
}

/* An element of a private array. Private memory is checked at its end only: an array that ends
 * before it is checked by a load that nothing needs, which counts from such a place that the first
 * index beyond the array is the first one beyond the memory. */
static address private_address(jk_code *c, const jk_name *n, jk_value index) {
    hg_type type = jk_held(n->type);
    uint64_t size = hg_type_size_bytes(type),
             last = c->kernel->launch.private_bytes - n->elements * size;
    address at = {
        .memory = JK_PRIVATE, .disp = n->offset, .offset = {.kind = JK_V_NONE, .name = JK_NONE}};
    if (index.kind == JK_V_CONST && index.bits < n->elements) {
        at.disp += index.bits * size;
        return at;
    }
    at.has_index = true;
    at.scale = (uint8_t)size;
    at.offset = index;
    jk_in_register(c, &at.offset);
    if (n->offset != last) {
        address check = at;
        check.disp = last;
        uint8_t unused = jk_take_register(c);
        set_address(jk_emit(c, HG_OP_LDP, type, unused, 0, 0), &check);
        jk_release(c, unused);
    }
    return at;
}

static address address_of(jk_code *c, uint32_t array, jk_value index) {
    const jk_name *n = &c->kernel->names[array];
    if (n->memory == JK_PRIVATE) return private_address(c, n, index);
    hg_type type = jk_held(n->type);
    uint32_t by = log2_size(type);
    address at = {.handle = n->reg,
                  .memory = n->memory,
                  .disp = n->offset,
                  .offset = {.kind = JK_V_NONE, .name = JK_NONE}};
    if (index.kind == JK_V_CONST && index.bits < UINT64_C(1) << 59) {
        at.disp += index.bits << by;
        return at;
    }
    at.has_index = true;
    at.offset = by ? shift(c, HG_OP_SHL, HG_TYPE_U64, index, by) : index;
    jk_in_register(c, &at.offset);
    return at;
}

static const hg_op LOADS[] = {
    [JK_BUFFER] = HG_OP_LDG, [JK_SHARED] = HG_OP_LDS, [JK_PRIVATE] = HG_OP_LDP};
static const hg_op STORES[] = {
    [JK_BUFFER] = HG_OP_STG, [JK_SHARED] = HG_OP_STS, [JK_PRIVATE] = HG_OP_STP};

static jk_value load(jk_code *c, const jk_node *n, jk_value index) {
    address at = address_of(c, n->a, index);
    hg_type type = jk_held(n->type);
    address place = at;
    jk_drop_value(c, &at.offset);
    jk_value v = in_reg(type, jk_take_register(c));
    set_address(jk_emit(c, LOADS[place.memory], type, v.reg, 0, 0), &place);
    if (n->type == JK_BOOL) return compare(c, HG_COND_NE, HG_TYPE_U8, v, constant(HG_TYPE_U8, 0));
    return v;
}

static jk_value atomic(jk_code *c, const jk_node *n, jk_value index, jk_value value) {
    address at = address_of(c, n->a, index);
    uint8_t source = jk_in_register(c, &value);
    uint8_t reg = jk_take_register(c);
    jk_inst *in = jk_emit(c, (hg_op)n->op, jk_held(n->type), reg, 0, 0);
    set_address(in, &at);
    in->c = source;
    jk_drop_value(c, &at.offset);
    jk_drop_value(c, &value);
    return in_reg(jk_held(n->type), reg);
}

static void store(jk_code *c, const jk_node *n, jk_value index, jk_value value) {
    uint8_t source = jk_in_register(c, &value);
    address at = address_of(c, n->a, index);
    jk_inst *in = jk_emit(c, STORES[at.memory], jk_held(n->type), 0, 0, 0);
    set_address(in, &at);
    in->c = source;
    jk_drop_value(c, &at.offset);
    jk_drop_value(c, &value);
}

/* ---- division that rounds down ---- */

/* q = a / b toward zero; one less where the rest is not 0 and has another sign than b. */
static jk_value floor_div(jk_code *c, hg_type type, jk_value a, jk_value b) {
    if (hg_type_is_float(type)) {
        jk_value q = binary(c, HG_OP_DIV, type, a, b);
        return apply(c, HG_OP_FLOOR, type, HG_TYPE_COUNT, &q, NULL);
    }
    uint64_t top = UINT64_C(1) << (hg_type_size_bytes(type) * 8 - 1);
    bool positive = b.kind == JK_V_CONST && b.bits && !(b.bits & top);
    if (positive && (b.bits & (b.bits - 1)) == 0) {
        uint32_t amount = hg_ctz64(b.bits);
        return amount ? shift(c, HG_OP_SHR, type, a, amount) : a;
    }
    jk_value dividend = share(c, &a), divisor = share(c, &b);
    jk_value q = binary(c, HG_OP_DIV, type, dividend, divisor);
    jk_value whole = share(c, &q), again = share(c, &b);
    whole = binary(c, HG_OP_MUL, type, whole, again);
    jk_value rest = binary(c, HG_OP_SUB, type, a, whole), zero = constant(type, 0);
    if (!positive) { /* the rest where signs differ, else 0 */
        jk_value left = share(c, &rest);
        jk_value signs = binary(c, HG_OP_XOR, type, left, b),
                 truth = compare(c, HG_COND_LT, type, signs, zero);
        set_predicate(c, &truth);
        fix(c, &zero);
        uint8_t from = rest.reg;
        jk_drop_value(c, &rest);
        rest = in_reg(type, jk_take_register(c));
        jk_emit(c, HG_OP_SEL, type, rest.reg, from, zero.reg);
        jk_drop_value(c, &zero);
    } else {
        jk_drop_value(c, &b);
    }
    jk_value less = binary(c, HG_OP_SUB, type, share(c, &q), constant(type, 1));
    jk_value adjust = compare(c, positive ? HG_COND_LT : HG_COND_NE, type, rest, constant(type, 0));
    set_predicate(c, &adjust);
    uint8_t low = less.reg, high = q.reg;
    jk_drop_value(c, &less);
    jk_drop_value(c, &q);
    jk_value result = in_reg(type, jk_take_register(c));
    jk_emit(c, HG_OP_SEL, type, result.reg, low, high);
    return result;
}

/* ---- nodes ---- */

static jk_value *value_of(jk_code *c, uint32_t node) { return &c->values[node]; }

/* The value moves to its parent. */
static jk_value take(jk_code *c, uint32_t node) {
    jk_value v = c->values[node];
    c->values[node] = (jk_value){.kind = JK_V_NONE, .name = JK_NONE};
    return v;
}

static jk_value read_name(jk_code *c, uint32_t name) {
    const jk_name *n = &c->kernel->names[name];
    jk_value v = {.kind = JK_V_REG, .type = (uint8_t)jk_held(n->type), .reg = n->reg, .name = name};
    if (n->type == JK_BOOL && n->kind == JK_SCALAR) /* a parameter may hold any byte */
        return compare(c, HG_COND_NE, HG_TYPE_U8, v, constant(HG_TYPE_U8, 0));
    return v;
}

/* Both sides are there. */
static jk_value select(jk_code *c, const jk_node *n) {
    jk_value condition = take(c, n->a), then = take(c, n->b), other = take(c, n->c);
    if (condition.kind == JK_V_CONST) {
        jk_drop_value(c, condition.bits ? &other : &then);
        return condition.bits ? then : other;
    }
    hg_type type = jk_held(n->type);
    /* a truth as a side needs p0 for itself: first the sides */
    uint8_t a = jk_in_register(c, &then), b = jk_in_register(c, &other);
    bool straight = jk_in_predicate(c, &condition);
    jk_drop_value(c, &then);
    jk_drop_value(c, &other);
    jk_value v = in_reg(type, jk_take_register(c));
    jk_emit(c, HG_OP_SEL, type, v.reg, straight ? a : b, straight ? b : a);
    return v;
}

static jk_value ternary(jk_code *c, const jk_node *n, hg_type type) {
    jk_value a = take(c, n->a), b = take(c, n->b), d = take(c, n->c);
    uint8_t x = jk_in_register(c, &a), y = jk_in_register(c, &b), z = jk_in_register(c, &d);
    jk_drop_value(c, &a);
    jk_drop_value(c, &b);
    jk_drop_value(c, &d);
    jk_value result = in_reg(type, jk_take_register(c));
    jk_emit(c, (hg_op)n->op, type, result.reg, x, y)->c = z;
    return result;
}

void jk_operate(jk_code *c, uint32_t node) {
    const jk_node *n = node_of(c, node);
    hg_type type = n->type < HG_TYPE_COUNT || n->type == JK_BOOL || n->type == JK_POINTER
                       ? jk_held(n->type)
                       : HG_TYPE_COUNT;
    jk_value *out = value_of(c, node);
    switch ((jk_node_kind)n->kind) {
    case JK_LITERAL: *out = constant(type, n->bits); break;
    case JK_READ: *out = read_name(c, n->a); break;
    case JK_LANE:
        *out = (jk_value){.kind = JK_V_REG, .type = (uint8_t)type, .reg = n->op, .name = JK_NONE};
        break;
    case JK_IDENTITY:
        *out = in_reg(type, jk_take_register(c));
        jk_emit(c, HG_OP_RDID, HG_TYPE_COUNT, out->reg, 0, 0)->cond = n->op;
        break;
    case JK_CONVERT: *out = jk_convert(c, take(c, n->a), node_of(c, n->a)->type, n->type); break;
    case JK_BINARY:
    case JK_SHIFT_BY: {
        jk_value a = take(c, n->a), b = take(c, n->b);
        *out = binary(c, (hg_op)n->op, type, a, b);
        break;
    }
    case JK_FLOOR_DIV: {
        jk_value a = take(c, n->a), b = take(c, n->b);
        *out = floor_div(c, type, a, b);
        break;
    }
    case JK_TERNARY: *out = ternary(c, n, type); break;
    case JK_UNARY: {
        jk_value a = take(c, n->a);
        *out = apply(c, (hg_op)n->op, type, HG_TYPE_COUNT, &a, NULL);
        if (c->fresh) c->insts.data[c->insts.count - 1].bits = n->bits;
        break;
    }
    case JK_COUNT: { /* the type of the instruction is its operand's */
        jk_value a = take(c, n->a);
        *out = apply(c, (hg_op)n->op, jk_held(node_of(c, n->a)->type), HG_TYPE_COUNT, &a, NULL);
        out->type = HG_TYPE_U32;
        break;
    }
    case JK_COMPARE: {
        jk_value a = take(c, n->a), b = take(c, n->b);
        jk_in_register(c, &a);
        jk_in_register(c, &b);
        *out = compare(c, n->op, jk_held(node_of(c, n->a)->type), a, b);
        break;
    }
    case JK_NOT: {
        jk_value v = take(c, n->a);
        if (v.kind == JK_V_REG) as_compare(c, &v);
        negate(&v);
        *out = v;
        break;
    }
    case JK_AND:
    case JK_OR: {
        jk_value a = take(c, n->a), b = take(c, n->b);
        *out = binary(c, n->kind == JK_AND ? HG_OP_AND : HG_OP_OR, HG_TYPE_U8, a, b);
        break;
    }
    case JK_CHOOSE: *out = select(c, n); break;
    case JK_LOAD: *out = load(c, n, take(c, n->b)); break;
    case JK_ATOMIC: {
        jk_value index = take(c, n->b), value = take(c, n->c);
        *out = atomic(c, n, index, value);
        break;
    }
    case JK_STORE: {
        jk_value index = take(c, n->b), value = take(c, n->c);
        store(c, n, index, value);
        break;
    }
    default: break;
    }
}
