/* A tape of typed nodes to a program, through the statement tree (isa/tree): each node is an
 * expression or a statement of it (semantics 7.5). What the tree does not know is said here: a bool
 * is a predicate in expressions and a u8, 0 or 1, in variables and arrays; the variable of a for
 * loop is one of the kernel's, set in each round; elements are checked by their bytes, those of
 * private arrays by their index.
 * Requires: a tape without errors. Provides: a program whose lines and columns point into the
 * document.
 * Must not know: the document, registers. */
#include "isa/tree/fill.h"
#include "translators/json/kernel.h"

#include <stdio.h>
#include <string.h>

typedef struct lowering {
    jk_kernel *kernel;
    hg_tree *t;
    hg_expression *values; /* one a node */
    uint64_t *names;       /* one a name: an hg_variable, of an array an hg_elements */
    bool dead;             /* nothing gets to the statement that comes next */
    uint32_t inside;       /* so many blocks around it are left out as a whole */
} lowering;

static const jk_node *node_of(const lowering *l, uint32_t node) {
    return &l->kernel->nodes.data[node];
}
static const jk_name *name_of(const lowering *l, uint32_t name) {
    return &l->kernel->name_table.all[name];
}

/* What is made from now on stands at the token. */
static void at(lowering *l, uint32_t token) {
    hg_place place = jk_place(l->kernel, token);
    (void)hg_tree_place(l->t, place.line, place.column, NULL);
}

/* ---- values ---- */

static hg_expression literal(lowering *l, const jk_node *n) {
    if (n->type == JK_BOOL) return hg_tree_truth(l->t, n->bits != 0);
    hg_type type = jk_held(n->type);
    if (hg_type_is_float(type)) return hg_tree_bits(l->t, type, n->bits);
    unsigned above = 64 - 8 * (unsigned)hg_type_size_bytes(type);
    hg_expression x = hg_type_is_signed(type)
                          ? hg_tree_integer(l->t, (int64_t)(n->bits << above) >> above)
                          : hg_tree_unsigned(l->t, n->bits);
    return hg_tree_cast(l->t, type, x);
}

/* The value of a node, for the one that it is an operand of. */
static hg_expression take(lowering *l, uint32_t node) {
    const jk_node *n = node_of(l, node);
    return n->kind == JK_LITERAL ? literal(l, n) : l->values[node];
}

static hg_expression is_not_zero(lowering *l, hg_expression x) {
    return hg_tree_operate(l->t, HG_TREE_NE, x, hg_tree_integer(l->t, 0));
}

/* A value of that type as variables and arrays hold it. */
static hg_expression held(lowering *l, jk_type type, hg_expression x) {
    return type == JK_BOOL ? hg_tree_cast(l->t, HG_TYPE_U8, x) : x;
}

static hg_expression convert(lowering *l, uint32_t node, jk_type to) {
    const jk_node *n = node_of(l, node);
    if (to == n->type) return take(l, node);
    if (to == JK_BOOL && n->kind == JK_LITERAL) {
        uint64_t sign = n->type == HG_TYPE_F32   ? UINT64_C(1) << 31
                        : n->type == HG_TYPE_F64 ? UINT64_C(1) << 63
                                                 : 0;
        return hg_tree_truth(l->t, (n->bits & ~sign) != 0);
    }
    hg_expression x = take(l, node);
    return to == JK_BOOL ? is_not_zero(l, x) : hg_tree_cast(l->t, jk_held(to), x);
}

/* Of a bool any byte but 0 is true. */
static hg_expression read_held(lowering *l, jk_type type, hg_expression x) {
    return type == JK_BOOL ? is_not_zero(l, x) : x;
}

static hg_expression lane_id(lowering *l, const jk_node *n) {
    const char *name = n->kind == JK_LANE ? hg_specials[n->op - HG_FIRST_SPECIAL].text
                                          : hg_idname_name((hg_idname)n->op);
    return hg_tree_lane_id(l->t, name);
}

static hg_expression instruction(lowering *l, const jk_node *n, uint32_t count) {
    const uint32_t operands[] = {n->a, n->b, n->c};
    hg_expression arguments[3];
    for (uint32_t i = 0; i < count; i++) arguments[i] = take(l, operands[i]);
    hg_expression x = hg_tree_apply(l->t, hg_op_get((hg_op)n->op)->text, arguments, count);
    if (n->kind == JK_UNARY && n->bits) hg_tree_scan_before(l->t, x);
    return x;
}

static hg_expression compare(lowering *l, const jk_node *n) {
    jk_type type = node_of(l, n->a)->type;
    hg_expression a = held(l, type, take(l, n->a)), b = held(l, type, take(l, n->b));
    return hg_tree_operate(l->t, (hg_tree_operator)(HG_TREE_EQ + n->op), a, b);
}

/* ---- elements ---- */

/* The element of an array at an index, a u64. Offsets wrap (semantics 7.5); an index of a private
 * array does not. */
static hg_expression element(lowering *l, uint32_t array, uint32_t index) {
    const jk_name *n = name_of(l, array);
    const jk_node *i = node_of(l, index);
    bool known = i->kind == JK_LITERAL &&
                 i->bits < (n->memory == JK_PRIVATE ? n->elements : UINT64_C(1) << 59);
    uint64_t by = n->memory == JK_PRIVATE ? 0 : hg_ctz64(hg_type_size_bytes(jk_held(n->type)));
    hg_expression offset = known ? hg_tree_unsigned(l->t, i->bits << by) : take(l, index);
    if (!known && by)
        offset = hg_tree_operate(l->t, HG_TREE_SHL, offset, hg_tree_unsigned(l->t, by));
    return hg_tree_element_of(l->t, l->names[array], &offset, 1);
}

static hg_expression atomic(lowering *l, const jk_node *n) {
    const hg_expression arguments[] = {element(l, n->a, n->b), take(l, n->c)};
    return hg_tree_apply(l->t, hg_op_get((hg_op)n->op)->text, arguments, 2);
}

/* Private memory is checked at its end only: an array that ends before it is checked by a load that
 * nothing needs, which counts from such a place that the first index beyond the array is the first
 * one beyond the memory. */
static hg_elements declare_private(lowering *l, const jk_name *n, const char *name) {
    hg_type type = jk_held(n->type);
    uint64_t last = l->kernel->launch.private_bytes - n->elements * hg_type_size_bytes(type);
    return hg_tree_private_at(l->t, name, type, n->offset, last);
}

/* ---- names ---- */

static uint64_t declare_parameter(lowering *l, const jk_name *n, const char *name) {
    if (n->kind != JK_ARRAY) return hg_tree_param_scalar(l->t, name, jk_held(n->type));
    hg_elements array = hg_tree_param_buffer(l->t, name, jk_held(n->type), jk_direction(n), n->dims,
                                             n->rank);
    hg_tree_count_bytes(l->t, array);
    return array;
}

static void declare(lowering *l, uint32_t number) {
    const jk_name *n = name_of(l, number);
    const char *name = hg_arena_text(&l->kernel->arena, n->text, n->length);
    if (!name) return;
    at(l, n->token);
    if (number < l->kernel->name_table.params)
        l->names[number] = declare_parameter(l, n, name);
    else if (n->kind == JK_LOCAL)
        l->names[number] = hg_tree_variable(l->t, hg_is_shown_name(name, n->length) ? name : NULL,
                                            jk_held(n->type));
    else if (n->memory == JK_SHARED)
        l->names[number] = hg_tree_shared_at(l->t, name, jk_held(n->type), n->offset);
    else
        l->names[number] = declare_private(l, n, name);
}

static void assign(lowering *l, uint32_t name, hg_expression value) {
    (void)hg_tree_assign(l->t, l->names[name], held(l, name_of(l, name)->type, value));
}

/* ---- loops ---- */

/* A literal step's size, as a number. */
static uint64_t size_of_step(const jk_node *step, const jk_node *loop) {
    uint64_t bits = step->bits, size = hg_type_size_bytes(jk_held(loop->type));
    if (loop->op != 2) return bits;
    return size < 8 ? (0 - bits) & ((UINT64_C(1) << (8 * size)) - 1) : 0 - bits;
}

/* The step of a loop. A literal that is more than the signed type of its width holds is one of the
 * variable's own type, upwards; downwards there is none: 0. */
static hg_expression step_of(lowering *l, const jk_node *n) {
    const jk_node *step = node_of(l, (uint32_t)n->bits);
    if (step->kind != JK_LITERAL)
        return hg_tree_read(l->t, hg_tree_let(l->t, NULL, take(l, (uint32_t)n->bits)));
    hg_type type = jk_held(n->type);
    uint64_t size = size_of_step(step, n), half = UINT64_C(1) << (8 * hg_type_size_bytes(type) - 1);
    if (n->op == 2) return size > half ? 0 : hg_tree_integer(l->t, (int64_t)(0 - size));
    return size < half ? hg_tree_unsigned(l->t, size)
                       : hg_tree_cast(l->t, type, hg_tree_unsigned(l->t, size));
}

/* How often the body runs: 0 where start <= stop, else (start - stop - 1) / size + 1. */
static hg_expression count_down(lowering *l, hg_variable start, hg_variable stop, uint64_t size) {
    hg_tree *t = l->t;
    hg_expression none = hg_tree_operate(t, HG_TREE_LE, hg_tree_read(t, start),
                                         hg_tree_read(t, stop)),
                  way = hg_tree_operate(t, HG_TREE_SUB, hg_tree_read(t, start),
                                        hg_tree_read(t, stop));
    way = hg_tree_operate(t, HG_TREE_SUB, way, hg_tree_integer(t, 1));
    way = hg_tree_operate(t, HG_TREE_DIV, way, hg_tree_unsigned(t, size));
    way = hg_tree_operate(t, HG_TREE_ADD, way, hg_tree_integer(t, 1));
    return hg_tree_choose(t, none, hg_tree_integer(t, 0), way);
}

/* The variable is set in each round, whatever the body makes of it; without a round it is `start`.
 * All three are worked out before that. */
static void begin_for(lowering *l, const jk_node *n) {
    hg_tree *t = l->t;
    hg_variable start = hg_tree_let(t, NULL, take(l, n->b)),
                stop = hg_tree_let(t, NULL, take(l, n->c));
    hg_expression step = step_of(l, n), value;
    (void)hg_tree_assign(t, l->names[n->a], hg_tree_read(t, start));
    if (step) {
        value = hg_tree_read(
            t, hg_tree_begin_for(t, NULL, hg_tree_read(t, start), hg_tree_read(t, stop), step, 0));
    } else {
        uint64_t size = size_of_step(node_of(l, (uint32_t)n->bits), n);
        hg_expression rounds = count_down(l, start, stop, size);
        hg_variable round = hg_tree_begin_for(t, NULL, hg_tree_integer(t, 0), rounds, 0, 0);
        value = hg_tree_operate(t, HG_TREE_MUL, hg_tree_read(t, round), hg_tree_unsigned(t, size));
        value = hg_tree_operate(t, HG_TREE_SUB, hg_tree_read(t, start), value);
    }
    (void)hg_tree_assign(t, l->names[n->a], value);
}

/* ---- whole arrays ---- */

static hg_arg count_of(lowering *l, uint64_t node) {
    const jk_node *count = node_of(l, (uint32_t)node);
    return count->kind == JK_LITERAL ? hg_count(count->bits) : hg_arg_of(take(l, (uint32_t)node));
}

static void whole_array(lowering *l, const jk_node *n, hg_op op, const hg_arg *arguments,
                        uint32_t count) {
    char mnemonic[64];
    snprintf(mnemonic, sizeof mnemonic, "%s.%s", hg_op_get(op)->text,
             hg_type_name(jk_held(n->type)));
    (void)hg_tree_instruction(l->t, mnemonic, arguments, count);
}

static void lower_scan(lowering *l, const jk_node *n) {
    const hg_arg arguments[] = {hg_arg_of(l->names[n->a]),
                                hg_arg_of(l->names[n->b]),
                                count_of(l, n->bits),
                                hg_arg_name(hg_opname_name((hg_opname)n->op)),
                                hg_count(1),
                                hg_count(1),
                                hg_flag(n->flags & JK_EXCLUSIVE),
                                hg_flag(n->flags & JK_REVERSE)};
    whole_array(l, n, HG_OP_SCAN, arguments, HG_COUNT_OF(arguments));
}

static void lower_indexed(lowering *l, const jk_node *n) {
    hg_op op = n->kind == JK_GATHER        ? HG_OP_GATHER
               : (n->flags & JK_ADDS) != 0 ? HG_OP_SCATTER_ADD
                                           : HG_OP_SCATTER;
    hg_arg count = count_of(l, n->bits), size = count_of(l, n->bits >> 32);
    const hg_arg arguments[] = {hg_arg_of(l->names[n->a]),
                                hg_arg_of(l->names[n->b]),
                                hg_arg_of(l->names[n->c]),
                                size,
                                count,
                                hg_count(1),
                                hg_count(1),
                                hg_flag(n->flags & JK_WIDE)};
    whole_array(l, n, op, arguments, HG_COUNT_OF(arguments));
}

static void lower_collective(lowering *l, const jk_node *n) {
    static const uint16_t ops[] = {HG_OP_PARALLEL_MAP, HG_OP_PARALLEL_MAP_BINARY,
                                   HG_OP_PARALLEL_REDUCE_MEM};
    hg_arg arguments[5] = {hg_arg_of(l->names[n->a]), hg_arg_of(l->names[n->b])};
    uint32_t used = 2;
    if (n->c != JK_NONE) arguments[used++] = hg_arg_of(l->names[n->c]);
    arguments[used++] = hg_arg_name(hg_opname_name((hg_opname)n->op));
    arguments[used++] = count_of(l, n->bits);
    whole_array(l, n, (hg_op)ops[n->kind - JK_MAP], arguments, used);
}

/* ---- the tape ---- */

static hg_expression lower_expression(lowering *l, const jk_node *n) {
    hg_tree *t = l->t;
    switch ((jk_node_kind)n->kind) {
    case JK_READ: return read_held(l, n->type, hg_tree_read(t, l->names[n->a]));
    case JK_LANE:
    case JK_IDENTITY: return lane_id(l, n);
    case JK_OTHERWISE: return convert(l, n->b, n->type);
    case JK_CONVERT: return convert(l, n->a, n->type);
    case JK_BINARY: return instruction(l, n, 2);
    case JK_FLOOR_DIV: return hg_tree_operate(t, HG_TREE_FLOOR_DIV, take(l, n->a), take(l, n->b));
    case JK_TERNARY: return instruction(l, n, 3);
    case JK_UNARY: return instruction(l, n, 1);
    case JK_COMPARE: return compare(l, n);
    case JK_NOT: return hg_tree_unary(t, HG_TREE_NOT, take(l, n->a));
    case JK_AND: return hg_tree_both(t, take(l, n->a), take(l, n->b));
    case JK_OR: return hg_tree_either(t, take(l, n->a), take(l, n->b));
    case JK_CHOOSE: return hg_tree_choose(t, take(l, n->a), take(l, n->b), take(l, n->c));
    case JK_LOAD: return read_held(l, n->type, element(l, n->a, n->b));
    case JK_ATOMIC: return atomic(l, n);
    default: return 0;
    }
}

static void lower_statement(lowering *l, uint32_t node) {
    const jk_node *n = node_of(l, node);
    hg_tree *t = l->t;
    switch ((jk_node_kind)n->kind) {
    case JK_SET: assign(l, n->a, take(l, n->b)); break;
    case JK_STORE:
        (void)hg_tree_store_element(t, element(l, n->a, n->b), held(l, n->type, take(l, n->c)));
        break;
    case JK_DROP: (void)hg_tree_evaluate(t, take(l, n->a)); break;
    case JK_IF: (void)hg_tree_begin_if(t, take(l, n->a)); break;
    case JK_ELSE:
        if (n->b != node + 1) (void)hg_tree_begin_else(t);
        break;
    case JK_FOR: begin_for(l, n); break;
    case JK_TEST: (void)hg_tree_begin_while(t, take(l, n->a)); break;
    case JK_END_IF:
    case JK_END_FOR:
    case JK_END_WHILE: (void)hg_tree_end(t); break;
    case JK_RETURN: (void)hg_tree_return(t, NULL, 0); break;
    case JK_BARRIER:
        (void)(n->op == HG_OP_BAR_SYNC ? hg_tree_barrier(t)
                                       : hg_tree_instruction(t, "bar.grid", NULL, 0));
        break;
    case JK_MAP:
    case JK_MAP_BINARY:
    case JK_REDUCE: lower_collective(l, n); break;
    case JK_SCAN: lower_scan(l, n); break;
    case JK_GATHER:
    case JK_SCATTER: lower_indexed(l, n); break;
    default: return;
    }
    l->dead = !hg_tree_is_reached(t->a);
}

/* Whether the node is left out: nothing gets there, and it neither ends a block that is there nor
 * begins the other branch of one. */
static bool is_left_out(lowering *l, const jk_node *n) {
    if (!l->dead) return false;
    bool opens = n->kind == JK_IF || n->kind == JK_FOR || n->kind == JK_WHILE,
         ends = n->kind == JK_END_IF || n->kind == JK_END_FOR || n->kind == JK_END_WHILE;
    if (!l->inside && (ends || n->kind == JK_ELSE)) return false;
    if (opens) l->inside++;
    if (ends) l->inside--;
    return true;
}

static void lower_all(lowering *l) {
    jk_kernel *k = l->kernel;
    for (uint32_t i = 0; i < k->name_table.count; i++) declare(l, i);
    for (uint32_t i = 0; i < k->nodes.count && !l->t->a->wrong.errors; i++) {
        const jk_node *n = node_of(l, i);
        if (is_left_out(l, n)) continue;
        if (n->kind == JK_SKIP) {
            if (n->a != JK_NONE && n->a > i) i = n->a - 1;
            continue;
        }
        at(l, n->token);
        if (n->kind < JK_SET)
            l->values[i] = lower_expression(l, n);
        else
            lower_statement(l, i);
    }
    at(l, k->root);
}

/* ---- the program ---- */

/* The token that stands where the tree has found a mistake. */
static uint32_t token_at(jk_kernel *k, uint32_t line, uint32_t column) {
    for (uint64_t i = 0; i < k->nodes.count; i++) {
        hg_place place = jk_place(k, k->nodes.data[i].token);
        if (place.line == line && place.column == column) return k->nodes.data[i].token;
    }
    return k->root;
}

/* What only the whole program shows: it is too much. */
static hg_status report(jk_kernel *k, const hg_assembler *a) {
    uint32_t token = token_at(k, a->wrong.first.line, a->wrong.first.column);
    if (a->wrong.finishing)
        jk_error(k, "S05", token, "fewer variables at a time, or a shorter expression",
                 "no register is left: r0 to r%d hold variables, intermediate values and constants",
                 HG_FIRST_SPECIAL - 1);
    else
        jk_error(k, a->wrong.first.code, token, NULL, "%s", a->wrong.first.message);
    return jk_status(k);
}

static hg_status build(lowering *l, hg_program **program) {
    jk_kernel *k = l->kernel;
    jk_declare_launch(k, l->t->head);
    l->t->a->source.any_nesting = true;
    lower_all(l);
    if (k->out_of_memory || k->arena.failed) return hg_fail_memory();
    hg_status status = hg_tree_build_to(l->t, k->diagnostics, program);
    return status == HG_ERROR_ISA && l->t->a->wrong.errors ? report(k, l->t->a) : status;
}

hg_status jk_lower(jk_kernel *k, hg_program **program) {
    lowering l = {.kernel = k,
                  .t = hg_tree_create(k->name, NULL),
                  .values = hg_calloc((size_t)k->nodes.count, sizeof *l.values),
                  .names = hg_calloc((size_t)k->name_table.count + 1, sizeof *l.names)};
    hg_status status = l.t && l.values && l.names ? build(&l, program) : hg_fail_memory();
    hg_tree_destroy(l.t);
    hg_free(l.values);
    hg_free(l.names);
    return status;
}
