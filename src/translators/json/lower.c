/* A tape of typed nodes to a program: statements, branches, variables (semantics 7.5).
 * Requires: a tape without errors. Provides: a program whose lines and columns point into the document.
 *
 * A condition becomes branches, not a value: `a and b` of an if jumps away after a. Where a truth
 * is wanted as a value, both sides are evaluated and AND, OR or SEL puts them together, unless the
 * side that might not be needed can fault: then branches too.
 * Must not know: the document. */
#include "translators/json/lower_internal.h"

#include <string.h>

typedef struct targets { /* of a node with JK_JUMPS */
    uint32_t yes, no;
} targets;

typedef struct lowering {
    jk_code code;
    targets *to;   /* one a node; of marks, JK_ELSE and JK_FOR: their own labels */
    bool *changes; /* names given values in a loop */
    uint32_t at;
    uint32_t *dying, *next_dying; /* of a node, a local that is not needed behind it; of a name, the
                                     next one; JK_NONE: no more */
} lowering;

static jk_node *node_of(lowering *l, uint32_t node) { return &l->code.kernel->nodes.data[node]; }

/* ---- which truths jump ---- */

static void jumps(lowering *l, uint32_t node, uint32_t yes, uint32_t no, bool falls) {
    jk_node *n = node_of(l, node);
    n->flags |= JK_JUMPS;
    if (falls) n->flags |= JK_FALLS;
    l->to[node] = (targets){yes, no};
}

/* The truth that decides for a statement: if it holds, what follows goes on. */
static void decides(lowering *l, uint32_t condition) {
    uint32_t yes = jk_new_label(&l->code), no = jk_new_label(&l->code);
    jumps(l, condition, yes, no, true);
}

static void mark_logic(lowering *l, uint32_t node) {
    jk_node *n = node_of(l, node);
    if (!(n->flags & JK_JUMPS)) {
        if (!(node_of(l, n->b)->flags & JK_MAY_FAULT)) return;
        n->flags |= JK_LAZY;
        decides(l, node);
    }
    targets to = l->to[node];
    bool falls = (n->flags & JK_FALLS) != 0;
    uint32_t right = jk_new_label(&l->code); /* the right side begins */
    jumps(l, n->b, to.yes, to.no, falls);
    if (n->kind == JK_AND)
        jumps(l, n->a, right, to.no, true);
    else
        jumps(l, n->a, to.yes, right, false);
}

/* Parents stand behind their operands: from the end. */
static void mark_jumps(lowering *l) {
    for (uint64_t i = l->code.kernel->nodes.count; i-- > 0;) {
        uint32_t node = (uint32_t)i;
        jk_node *n = node_of(l, node);
        switch ((jk_node_kind)n->kind) {
        case JK_IF:
        case JK_TEST: decides(l, n->a); break;
        case JK_AND:
        case JK_OR: mark_logic(l, node); break;
        case JK_NOT:
            if (n->flags & JK_JUMPS)
                jumps(l, n->a, l->to[node].no, l->to[node].yes, !(n->flags & JK_FALLS));
            break;
        case JK_CHOOSE:
            if (!((node_of(l, n->b)->flags | node_of(l, n->c)->flags) & JK_MAY_FAULT)) break;
            n->flags |= JK_LAZY;
            decides(l, n->a);
            l->to[n->b].yes = jk_new_label(&l->code); /* the mark's own: behind the second side */
            if (node_of(l, n->c)->kind == JK_CHOOSE && node_of(l, n->c)->type == n->type)
                l->to[n->c].yes = n->b + 1; /* else if: writes what this one writes */
            break;
        default: break;
        }
    }
}

/* The jump of a truth whose last operand has just been evaluated. */
static void take_jump(lowering *l, uint32_t node) {
    jk_node *n = node_of(l, node);
    while (n->kind == JK_AND || n->kind == JK_OR || n->kind == JK_NOT) {
        node = n->kind == JK_NOT ? n->a : n->b;
        n = node_of(l, node);
    }
    bool falls = (n->flags & JK_FALLS) != 0;
    l->code.token = n->token;
    jk_branch(&l->code, &l->code.values[node], !falls, falls ? l->to[node].no : l->to[node].yes);
}

/* ---- variables ---- */

static void set_name(lowering *l, uint32_t name, uint32_t value) {
    jk_code *c = &l->code;
    jk_name *n = &c->kernel->names[name];
    jk_value v = c->values[value];
    c->values[value] = (jk_value){.kind = JK_V_NONE, .name = JK_NONE};
    bool once = n->sets == 1 && n->kind == JK_LOCAL;
    if (v.kind == JK_V_COMPARE) jk_in_register(c, &v);
    bool lasts = v.kind == JK_V_REG && !v.owned &&
                 (v.name == JK_NONE ? v.reg >= JK_FIRST_IDENTITY
                                    : c->kernel->names[v.name].sets == 1);
    if (!n->has_reg && once && lasts) {
        n->reg = v.reg; /* another name of the same register */
        c->users[v.reg]++;
    } else if (!n->has_reg && v.kind == JK_V_REG && v.owned && (once || c->users[v.reg] == 1)) {
        n->reg = v.reg;
    } else {
        if (!n->has_reg) n->reg = jk_take_register(c);
        jk_move_into(c, n->reg, &v);
    }
    n->has_reg = true;
}

/* Notes what the nodes from `node` to its end give values to. */
static void find_changes(lowering *l, uint32_t node) {
    memset(l->changes, 0, l->code.kernel->name_count);
    for (uint32_t i = node; i < node_of(l, node)->end; i++) {
        const jk_node *n = node_of(l, i);
        if (n->kind == JK_SET || n->kind == JK_FOR) l->changes[n->a] = true;
    }
}

/* Variables that nothing behind this node needs give their registers back. */
static void bury(lowering *l, uint32_t node) {
    for (uint32_t name = l->dying[node]; name != JK_NONE; name = l->next_dying[name]) {
        const jk_name *n = &l->code.kernel->names[name];
        if (n->has_reg) jk_release(&l->code, n->reg);
    }
}

/* ---- loops ---- */

/* A bound that the body may change is copied: bounds are evaluated once. */
static jk_value keep_bound(lowering *l, uint32_t node) {
    jk_code *c = &l->code;
    jk_value v = c->values[node];
    c->values[node] = (jk_value){.kind = JK_V_NONE, .name = JK_NONE};
    jk_in_register(c, &v);
    if (v.owned || v.name == JK_NONE || !l->changes[v.name]) return v;
    jk_value copy = {.kind = JK_V_REG,
                     .type = v.type,
                     .reg = jk_take_register(c),
                     .owned = true,
                     .name = JK_NONE};
    jk_move_into(c, copy.reg, &v);
    return copy;
}

static hg_type unsigned_of(hg_type type) {
    return hg_type_is_signed(type) ? (hg_type)(HG_TYPE_U8 + (type - HG_TYPE_I8)) : type;
}

/* A constant for one instruction; `kept` says whether to release it behind that. */
typedef struct brief {
    uint8_t reg;
    bool kept;
} brief;

static brief brief_constant(jk_code *c, hg_type type, uint64_t bits) {
    brief b;
    b.reg = jk_constant_register(c, type, bits, false, &b.kept);
    return b;
}

static void end_brief(jk_code *c, brief b) {
    if (b.kept) jk_release(c, b.reg);
}

/* reg = op reg, constant */
static void change_by(jk_code *c, hg_op op, hg_type type, uint8_t reg, uint64_t bits) {
    brief by = brief_constant(c, type, bits);
    jk_emit(c, op, type, reg, reg, by.reg);
    end_brief(c, by);
}

/* A literal step's size, as a number. */
static uint64_t size_of_step(const jk_node *step, const jk_node *loop) {
    uint64_t bits = step->bits, size = hg_type_size_bytes(jk_held(loop->type));
    if (loop->op != 2) return bits;
    return size < 8 ? (0 - bits) & ((UINT64_C(1) << (8 * size)) - 1) : 0 - bits;
}

/* The step's size in a register of the unsigned type; a step whose sign only the run knows also
 * puts the bounds in order. */
static uint8_t order_bounds(lowering *l, const jk_node *n, const jk_loop *loop, uint8_t *low,
                            uint8_t *high) {
    jk_code *c = &l->code;
    hg_type type = jk_held(n->type), counted = unsigned_of(type);
    uint8_t size = jk_take_register(c), start = *low, stop = *high;
    const jk_node *step = node_of(l, (uint32_t)n->bits);
    if (n->op == 2) *low = stop, *high = start;
    if (step->kind == JK_LITERAL) {
        jk_emit(c, HG_OP_MOV_IMM, counted, size, 0, 0)->bits = size_of_step(step, n);
        return size;
    }
    if (n->op) { /* unsigned */
        jk_emit(c, HG_OP_MOV, type, size, loop->step.reg, 0);
        return size;
    }
    uint8_t minus = jk_take_register(c);
    brief zero = brief_constant(c, type, 0);
    *low = jk_take_register(c), *high = jk_take_register(c);
    jk_emit(c, HG_OP_NEG, type, minus, loop->step.reg, 0);
    jk_emit(c, HG_OP_SET, type, 0, loop->step.reg, zero.reg)->cond = HG_COND_LT;
    jk_emit(c, HG_OP_SEL, type, *low, stop, start);
    jk_emit(c, HG_OP_SEL, type, *high, start, stop);
    jk_emit(c, HG_OP_SEL, type, minus, minus, loop->step.reg);
    jk_emit(c, HG_OP_CVT, counted, size, minus, 0)->type2 = (uint8_t)type;
    end_brief(c, zero);
    jk_release(c, minus);
    return size;
}

/* How often the body runs, of the unsigned type: 0, or (distance - 1) / size + 1 with all numbers
 * exact. A size of 0 is a fault: division by zero. The variable holds its start. */
static jk_value count_rounds(lowering *l, const jk_node *n, const jk_loop *loop) {
    jk_code *c = &l->code;
    hg_type type = jk_held(n->type), counted = unsigned_of(type);
    uint8_t low = c->kernel->names[n->a].reg, high = loop->stop.reg, own = low, stop = high;
    uint8_t size = order_bounds(l, n, loop, &low, &high), left = jk_take_register(c),
            distance = jk_take_register(c);
    jk_emit(c, HG_OP_SUB, type, distance, high, low);
    jk_emit(c, type == counted ? HG_OP_MOV : HG_OP_CVT, counted, left, distance, 0)->type2 =
        (uint8_t)(type == counted ? HG_TYPE_COUNT : type);
    change_by(c, HG_OP_SUB, counted, left, 1);
    jk_emit(c, HG_OP_DIV, counted, left, left, size);
    change_by(c, HG_OP_ADD, counted, left, 1);
    brief zero = brief_constant(c, counted, 0);
    jk_emit(c, HG_OP_SET, type, 0, low, high)->cond = HG_COND_GE;
    jk_emit(c, HG_OP_SEL, counted, left, zero.reg, left);
    end_brief(c, zero);
    if (low != own && low != stop) jk_release(c, low), jk_release(c, high);
    jk_release(c, distance);
    jk_release(c, size);
    return (jk_value){
        .kind = JK_V_REG, .type = (uint8_t)counted, .reg = left, .owned = true, .name = JK_NONE};
}

/* Whether the body gives the variable a value, or something behind the loop reads it: it is then
 * set in each round, from a register of the loop's own, and keeps what the last one left. */
static bool is_kept(lowering *l, uint32_t node) {
    const jk_node *n = node_of(l, node);
    if (jk_needed_behind(l->code.kernel, node)) return true;
    for (uint32_t i = node + 1; i < n->end; i++) {
        const jk_node *inner = node_of(l, i);
        if ((inner->kind == JK_SET || inner->kind == JK_FOR) && inner->a == n->a) return true;
    }
    return false;
}

/* A step of 1 or -1 never passes the end: variable and bound are compared. Of others the rounds are
 * counted, so that no value wraps. */
static bool is_simple(lowering *l, const jk_node *n) {
    const jk_node *step = node_of(l, (uint32_t)n->bits);
    return step->kind == JK_LITERAL && size_of_step(step, n) == 1;
}

/* Goes on with the loop: jumps to its top. */
static void test_bound(lowering *l, const jk_node *n, jk_loop *loop) {
    jk_code *c = &l->code;
    jk_value past = {.kind = JK_V_COMPARE,
                     .type = (uint8_t)jk_held(n->type),
                     .reg = c->kernel->names[n->a].reg,
                     .other = loop->stop.reg,
                     .name = JK_NONE,
                     .condition = n->op == 2 ? HG_COND_LE : HG_COND_GE};
    if (loop->left.kind == JK_V_NONE) {
        jk_branch(c, &past, false, loop->top);
        return;
    }
    brief zero = brief_constant(c, (hg_type)loop->left.type, 0);
    past.type = loop->left.type, past.reg = loop->left.reg, past.other = zero.reg,
    past.condition = HG_COND_EQ;
    jk_branch(c, &past, false, loop->top);
    end_brief(c, zero);
}

/* The test stands at the end: one branch each time round. */
static void begin_for(lowering *l, uint32_t node) {
    jk_code *c = &l->code;
    jk_node *n = node_of(l, node);
    jk_loop loop = {.top = jk_new_label(c)};
    hg_type type = jk_held(n->type);
    loop.done = jk_new_label(c);
    find_changes(l, node);
    loop.stop = keep_bound(l, n->c);
    loop.step = keep_bound(l, (uint32_t)n->bits);
    set_name(l, n->a, n->b);
    uint8_t var = c->kernel->names[n->a].reg;
    bool kept = is_kept(l, node);
    if (kept || !is_simple(l, n)) loop.left = count_rounds(l, n, &loop);
    if (kept) {
        loop.own = (jk_value){.kind = JK_V_REG,
                              .type = (uint8_t)type,
                              .reg = jk_take_register(c),
                              .owned = true,
                              .name = JK_NONE};
        jk_emit(c, HG_OP_MOV, type, loop.own.reg, var, 0);
    }
    bool reachable = c->reachable;
    jk_jump(c, loop.done);
    c->reachable = reachable;
    jk_place_top(c, loop.top);
    if (loop.own.kind != JK_V_NONE) jk_emit(c, HG_OP_MOV, type, var, loop.own.reg, 0);
    jk_loop *place = hg_vec_push(&c->loops);
    if (place)
        *place = loop;
    else
        c->kernel->out_of_memory = true;
}

static void end_for(lowering *l, uint32_t node) {
    jk_code *c = &l->code;
    jk_node *n = node_of(l, node_of(l, node)->a);
    if (!c->loops.count) return;
    jk_loop *loop = &c->loops.data[c->loops.count - 1];
    uint8_t counter = loop->own.kind != JK_V_NONE ? loop->own.reg : c->kernel->names[n->a].reg;
    c->token = n->token;
    jk_emit(c, HG_OP_ADD, jk_held(n->type), counter, counter, loop->step.reg);
    if (loop->left.kind != JK_V_NONE)
        change_by(c, HG_OP_SUB, (hg_type)loop->left.type, loop->left.reg, 1);
    jk_place_label(c, loop->done);
    test_bound(l, n, loop);
    jk_drop_value(c, &loop->stop);
    jk_drop_value(c, &loop->step);
    if (loop->left.kind != JK_V_NONE) jk_drop_value(c, &loop->left);
    if (loop->own.kind != JK_V_NONE) jk_drop_value(c, &loop->own);
    c->loops.count--;
}

static void begin_while(lowering *l, uint32_t node) {
    jk_code *c = &l->code;
    jk_loop *loop = hg_vec_push(&c->loops);
    uint32_t top = jk_new_label(c);
    if (!loop) {
        c->kernel->out_of_memory = true;
        return;
    }
    *loop = (jk_loop){.top = top};
    find_changes(l, node);
    jk_place_top(c, top);
}

static void end_while(lowering *l) {
    jk_code *c = &l->code;
    if (!c->loops.count) return;
    jk_loop loop = c->loops.data[--c->loops.count];
    jk_jump(c, loop.top);
    jk_place_label(c, loop.done);
}

/* ---- if ---- */

static void begin_if(lowering *l, uint32_t node) {
    uint32_t condition = node_of(l, node)->a;
    take_jump(l, condition);
    jk_place_label(&l->code, l->to[condition].yes);
}

static void begin_else(lowering *l, uint32_t node) {
    jk_node *n = node_of(l, node);
    bool empty = n->b == node + 1;
    l->to[node].yes = jk_new_label(&l->code);
    if (!empty) jk_jump(&l->code, l->to[node].yes);
    jk_place_label(&l->code, l->to[node_of(l, n->a)->a].no);
}

static void end_if(lowering *l, uint32_t node) {
    uint32_t other = node_of(l, node_of(l, node)->a)->b;
    jk_place_label(&l->code, l->to[other].yes);
}

/* ---- expressions that branch ---- */

static void begin_right(lowering *l, const jk_node *n) {
    const jk_node *logic = node_of(l, n->a);
    if (!(logic->flags & JK_JUMPS)) return;
    take_jump(l, logic->a);
    jk_place_label(&l->code, logic->kind == JK_AND ? l->to[logic->a].yes : l->to[logic->a].no);
}

static void end_logic(lowering *l, uint32_t node) {
    jk_code *c = &l->code;
    jk_node *n = node_of(l, node);
    if (!(n->flags & JK_JUMPS)) {
        jk_operate(c, node);
        return;
    }
    if (!(n->flags & JK_LAZY)) return; /* whoever wants to know jumps */
    uint32_t end = jk_new_label(c);
    take_jump(l, node);
    jk_value truth = {.kind = JK_V_CONST, .type = HG_TYPE_U8, .bits = 1, .name = JK_NONE};
    uint8_t reg = jk_take_register(c);
    jk_place_label(c, l->to[node].yes);
    jk_move_into(c, reg, &truth);
    jk_jump(c, end);
    jk_place_label(c, l->to[node].no);
    truth.bits = 0;
    jk_move_into(c, reg, &truth);
    jk_place_label(c, end);
    c->values[node] = (jk_value){
        .kind = JK_V_REG, .type = HG_TYPE_U8, .reg = reg, .owned = true, .name = JK_NONE};
}

static void begin_then(lowering *l, const jk_node *n) {
    const jk_node *choose = node_of(l, n->a);
    if (!(choose->flags & JK_LAZY)) return;
    take_jump(l, choose->a);
    jk_place_label(&l->code, l->to[choose->a].yes);
}

/* The first side goes into the register of the result: that of the if_expr whose second side this
 * one is, its own, or a new one. */
static jk_value place_result(lowering *l, const jk_node *n, jk_value v) {
    jk_code *c = &l->code;
    uint32_t outer = node_of(l, n->a)->flags & JK_JUMPS ? 0 : l->to[n->a].yes;
    if (v.kind == JK_V_COMPARE) jk_in_register(c, &v);
    bool own = !outer && v.kind == JK_V_REG && v.owned && c->users[v.reg] == 1;
    uint8_t reg = own ? v.reg : outer ? c->values[outer - 1].reg : jk_take_register(c);
    if (!own) jk_move_into(c, reg, &v);
    return (jk_value){.kind = JK_V_REG,
                      .type = (uint8_t)jk_held(n->type),
                      .reg = reg,
                      .owned = !outer,
                      .name = JK_NONE};
}

static void begin_otherwise(lowering *l, uint32_t node) {
    jk_code *c = &l->code;
    const jk_node *n = node_of(l, node), *choose = node_of(l, n->a);
    jk_value v = c->values[n->b];
    c->values[n->b] = (jk_value){.kind = JK_V_NONE, .name = JK_NONE};
    v = jk_convert(c, v, node_of(l, n->b)->type, n->type);
    if (choose->flags & JK_LAZY) {
        v = place_result(l, n, v);
        jk_jump(c, l->to[node].yes);
        jk_place_label(c, l->to[choose->a].no);
    }
    c->values[node] = v;
}

static void end_choose(lowering *l, uint32_t node) {
    jk_code *c = &l->code;
    const jk_node *n = node_of(l, node);
    if (!(n->flags & JK_LAZY)) {
        jk_operate(c, node);
        return;
    }
    jk_value result = c->values[n->b], other = c->values[n->c];
    c->values[n->b] = c->values[n->c] = (jk_value){.kind = JK_V_NONE, .name = JK_NONE};
    jk_move_into(c, result.reg, &other);
    jk_place_label(c, l->to[n->b].yes);
    c->values[node] = result;
}

/* ---- whole arrays ---- */

static void lower_collective(lowering *l, const jk_node *n) {
    static const uint8_t ops[] = {HG_OP_PARALLEL_MAP, HG_OP_PARALLEL_MAP_BINARY,
                                  HG_OP_PARALLEL_REDUCE_MEM};
    jk_code *c = &l->code;
    jk_value count = c->values[(uint32_t)n->bits];
    c->values[(uint32_t)n->bits] = (jk_value){.kind = JK_V_NONE, .name = JK_NONE};
    uint8_t reg = count.kind == JK_V_CONST ? 0 : jk_in_register(c, &count);
    jk_inst *in = jk_emit(c, (hg_op)ops[n->kind - JK_MAP], jk_held(n->type), reg,
                          c->kernel->names[n->a].reg, c->kernel->names[n->b].reg);
    if (n->c != JK_NONE) in->c = c->kernel->names[n->c].reg;
    in->cond = n->op;
    in->counted = count.kind != JK_V_CONST;
    in->bits = count.bits;
    jk_drop_value(c, &count);
}

/* ---- the tape ---- */

static void lower_node(lowering *l, uint32_t node) {
    jk_code *c = &l->code;
    const jk_node *n = node_of(l, node);
    c->token = n->token;
    switch ((jk_node_kind)n->kind) {
    case JK_AND:
    case JK_OR: end_logic(l, node); break;
    case JK_NOT:
        if (!(n->flags & JK_JUMPS)) jk_operate(c, node);
        break;
    case JK_CHOOSE: end_choose(l, node); break;
    case JK_RIGHT: begin_right(l, n); break;
    case JK_THEN: begin_then(l, n); break;
    case JK_OTHERWISE: begin_otherwise(l, node); break;
    case JK_SET: set_name(l, n->a, n->b); break;
    case JK_DROP: jk_drop_value(c, &c->values[n->a]); break;
    case JK_IF: begin_if(l, node); break;
    case JK_ELSE: begin_else(l, node); break;
    case JK_END_IF: end_if(l, node); break;
    case JK_FOR: begin_for(l, node); break;
    case JK_END_FOR: end_for(l, node); break;
    case JK_WHILE: begin_while(l, node); break;
    case JK_TEST:
        take_jump(l, n->a);
        jk_place_label(c, l->to[n->a].yes);
        if (c->loops.count) c->loops.data[c->loops.count - 1].done = l->to[n->a].no;
        break;
    case JK_END_WHILE: end_while(l); break;
    case JK_RETURN:
        jk_emit(c, HG_OP_EXIT, HG_TYPE_COUNT, 0, 0, 0);
        c->reachable = false;
        break;
    case JK_BARRIER: jk_emit(c, (hg_op)n->op, HG_TYPE_COUNT, 0, 0, 0); break;
    case JK_MAP:
    case JK_MAP_BINARY:
    case JK_REDUCE: lower_collective(l, n); break;
    case JK_SKIP:
        if (n->a != JK_NONE && n->a > l->at) l->at = n->a - 1;
        break;
    default: jk_operate(c, node); break;
    }
}

/* Lists the locals by the nodes that they die at. */
static void list_dying(lowering *l, jk_kernel *k) {
    jk_find_lifetimes(k);
    for (uint64_t i = 0; i < k->nodes.count; i++) l->dying[i] = JK_NONE;
    for (uint32_t i = k->param_count; i < k->name_count && !k->out_of_memory; i++) {
        if (k->names[i].kind != JK_LOCAL || k->names[i].last == JK_NONE) continue;
        l->next_dying[i] = l->dying[k->names[i].last];
        l->dying[k->names[i].last] = i;
    }
}

static void begin(lowering *l, jk_kernel *k) {
    jk_code *c = &l->code;
    c->kernel = k;
    c->reachable = true;
    for (uint32_t i = 0; i < k->param_count; i++) { c->users[k->names[i].reg] = 1; }
    c->values = hg_calloc((size_t)k->nodes.count, sizeof *c->values);
    l->to = hg_calloc((size_t)k->nodes.count, sizeof *l->to);
    l->changes = hg_calloc((size_t)k->name_count + 1, sizeof *l->changes);
    l->dying = hg_alloc((size_t)k->nodes.count * sizeof *l->dying);
    l->next_dying = hg_alloc(((size_t)k->name_count + 1) * sizeof *l->next_dying);
    if (!c->values || !l->to || !l->changes || !l->dying || !l->next_dying)
        k->out_of_memory = true;
    else
        list_dying(l, k);
}

hg_status jk_lower(jk_kernel *k, hg_program **program) {
    lowering *l = hg_calloc(1, sizeof *l);
    if (!l) return hg_fail_memory();
    begin(l, k);
    if (!k->out_of_memory) mark_jumps(l);
    for (l->at = 0; l->at < k->nodes.count && !k->out_of_memory && !l->code.exhausted; l->at++) {
        lower_node(l, l->at);
        bury(l, l->at);
    }
    if (!k->out_of_memory) {
        l->code.token = k->root;
        jk_emit(&l->code, HG_OP_EXIT, HG_TYPE_COUNT, 0, 0, 0);
    }
    hg_status status = jk_status(k);
    if (status == HG_OK) status = jk_assemble(&l->code, program);
    hg_vec_free(&l->code.insts);
    hg_vec_free(&l->code.labels);
    hg_vec_free(&l->code.loops);
    hg_free(l->code.values);
    hg_free(l->to);
    hg_free(l->changes);
    hg_free(l->dying);
    hg_free(l->next_dying);
    hg_free(l);
    return status;
}
