/* Statements of a JSON kernel to nodes (semantics 7.3), and which variables have a value where.
 * A variable belongs to the whole kernel, as in Python. It has one type, that of the first value
 * given to it; the variable of a for loop may begin anew with another one (begins_anew). It may be
 * used where every path from the start gives it a value: after an if, when both branches do (or the
 * other one returns); after a loop, never when only its body does, because the body may not run.
 * Must not know: instructions but for their names. */
#include "translators/json/kernel.h"

#include <string.h>

static jk_node *node_of(jk_kernel *k, uint32_t node) { return &k->nodes.data[node]; }
static bool bad(jk_kernel *k, uint32_t node) { return node_of(k, node)->type == JK_ERROR; }

static jk_block *open_block(jk_kernel *k, uint32_t node) {
    jk_block *b = hg_vec_push(&k->blocks);
    if (!b) {
        k->out_of_memory = true;
        return NULL;
    }
    *b = (jk_block){.node = node, .names = k->log.count, .reachable = k->reachable};
    return b;
}

/* A list of statements; empty after an error. null is allowed where the schema allows it. */
static void push_block(jk_kernel *k, uint32_t token, bool nullable) {
    if (!token || (nullable && hg_json_kind_of(k->document, token) == HG_JSON_NULL)) return;
    if (hg_json_kind_of(k->document, token) == HG_JSON_ARRAY)
        jk_push(k, JK_TASK_BLOCK, token, token + 1);
    else
        jk_error(k, "N03", token, NULL, "expected an array of statements%s, got %s",
                 nullable ? " or null" : "", jk_show(k, token).text);
}

/* ---- let, assign ---- */

static void visit_let(jk_kernel *k, uint32_t token) {
    uint32_t name = jk_string_field(k, token, "name"),
             value = jk_field(k, token, "value", "an expression");
    if (!name || !value) return;
    jk_push(k, JK_TASK_SET, token, name);
    jk_push(k, JK_TASK_EXPRESSION, value, 0);
}

static void visit_assign(jk_kernel *k, uint32_t token) {
    const hg_json_document *d = k->document;
    uint32_t target = jk_field(k, token, "target", "a var or an index"),
             value = jk_field(k, token, "value", "an expression");
    if (!target || !value) return;
    uint32_t type = hg_json_kind_of(d, target) == HG_JSON_OBJECT ? hg_json_member(d, target, "type")
                                                                 : 0;
    if (type && hg_json_string_is(d, type, "var")) {
        uint32_t name = jk_string_field(k, target, "name");
        if (!name || !jk_only_fields(k, target, "type name")) return;
        jk_push(k, JK_TASK_SET, token, name);
        jk_push(k, JK_TASK_EXPRESSION, value, 0);
    } else if (type && hg_json_string_is(d, type, "index")) {
        uint32_t array = jk_field(k, target, "array", "an array"),
                 index = jk_field(k, target, "index", "an expression");
        uint32_t name = array ? jk_array(k, array) : JK_NONE;
        if (name == JK_NONE || !index || !jk_only_fields(k, target, "type array index")) return;
        k->name_table.all[name].access |= JK_STORED;
        jk_push(k, JK_TASK_STORE, token, name);
        jk_push(k, JK_TASK_EXPRESSION, index, 0);
        jk_push(k, JK_TASK_EXPRESSION, value, 0);
    } else {
        jk_error(k, "N03", type ? type : target, NULL,
                 "expected a var or an index as target, got %s",
                 jk_show(k, type ? type : target).text);
    }
}

static bool is_let(const jk_kernel *k, uint32_t token) {
    return hg_json_string_is(k->document, hg_json_member(k->document, token, "type"), "let");
}

static void finish_set(jk_kernel *k, uint32_t token, uint32_t name_token) {
    uint32_t value = jk_pop(k);
    size_t length;
    const char *text = hg_json_decode(k->document, name_token, &k->arena, &length);
    uint32_t known = text ? jk_find_name(k, text, length) : JK_NONE;
    bool scalar = known != JK_NONE && k->name_table.all[known].kind != JK_ARRAY &&
                  k->name_table.all[known].type != JK_ERROR;
    jk_type type = node_of(k, value)->type;
    if (!is_let(k, token)) {
        if (known == JK_NONE) {
            jk_error(k, "D03", name_token, "declare it with let", "there is no variable %s",
                     jk_show(k, name_token).text);
            type = JK_ERROR;
        } else if (scalar && type != JK_ERROR) {
            jk_type wanted = k->name_table.all[known].type;
            if ((wanted == JK_POINTER) != (type == JK_POINTER)) {
                jk_error(k, "N06", node_of(k, value)->token, NULL,
                         "a device_ptr and %s do not become each other",
                         jk_type_name(type == JK_POINTER ? wanted : type));
                return;
            }
            if (type == JK_WHOLE && !jk_literal_fits(k, value, wanted)) value = jk_settle(k, value);
            value = jk_as(k, value, wanted);
        }
    } else if (scalar && jk_is_literal(type) &&
               jk_literal_fits(k, value, k->name_table.all[known].type)) {
        value = jk_as(k, value, k->name_table.all[known].type);
    } else {
        value = jk_settle(k, value);
    }
    if (bad(k, value)) type = JK_ERROR;
    uint32_t name = jk_assign_name(k, name_token,
                                   type == JK_ERROR ? type : node_of(k, value)->type);
    if (name != JK_NONE && type != JK_ERROR)
        jk_add_node(k, JK_SET, 0, k->name_table.all[name].type, token, name, value, JK_NONE);
}

static void finish_store(jk_kernel *k, uint32_t token, uint32_t array) {
    uint32_t index = jk_pop(k), value = jk_pop(k);
    jk_type type = node_of(k, value)->type, element = k->name_table.all[array].type;
    index = jk_index(k, index);
    if (index == JK_NONE || type == JK_ERROR) return;
    if (type == JK_POINTER) {
        jk_error(k, "N06", node_of(k, value)->token, "u64(…) gives its bits",
                 "a device_ptr is no element of an array");
        return;
    }
    if (type == JK_WHOLE && !jk_literal_fits(k, value, element)) value = jk_settle(k, value);
    value = jk_as(k, value, element);
    if (bad(k, value)) return;
    jk_add_node(k, JK_STORE, 0, element, token, array, index, value);
}

/* ---- if ---- */

static void visit_if(jk_kernel *k, uint32_t token) {
    uint32_t condition = jk_field(k, token, "condition", "an expression"),
             then = jk_field(k, token, "then_body", "an array of statements");
    if (!condition || !then) return;
    jk_push(k, JK_TASK_IF, token, then);
    jk_push(k, JK_TASK_EXPRESSION, condition, 0);
}

static void begin_if(jk_kernel *k, uint32_t token, uint32_t then) {
    uint32_t condition = jk_condition(k, jk_pop(k));
    if (!open_block(k, jk_add_node(k, JK_IF, 0, JK_ERROR, token, condition, JK_NONE, JK_NONE)))
        return;
    jk_push(k, JK_TASK_END_IF, token, 0);
    uint32_t other = hg_json_member(k->document, token, "else_body");
    push_block(k, other, true);
    jk_push(k, JK_TASK_ELSE, token, 0);
    push_block(k, then, false);
}

/* What the first branch gave values to has none in the second. */
static void begin_else(jk_kernel *k, uint32_t token) {
    jk_block *b = &k->blocks.data[k->blocks.count - 1];
    uint32_t n = jk_add_node(k, JK_ELSE, 0, JK_ERROR, token, b->node, JK_NONE, JK_NONE);
    node_of(k, b->node)->b = n;
    for (uint64_t i = b->names; i < k->log.count; i++)
        k->name_table.all[k->log.data[i]].assigned = false;
    b->then_names = k->log.count;
    b->then_ends = !k->reachable;
    k->reachable = b->reachable;
}

static void end_if(jk_kernel *k, uint32_t token) {
    jk_block b = k->blocks.data[--k->blocks.count];
    uint32_t *log = k->log.data,
             n = jk_add_node(k, JK_END_IF, 0, JK_ERROR, token, b.node, JK_NONE, JK_NONE);
    if (node_of(k, b.node)->b != JK_NONE) node_of(k, node_of(k, b.node)->b)->b = n;
    bool else_ends = !k->reachable;
    uint64_t kept = b.names;
    if (b.then_ends) { /* only the second branch goes on */
        for (uint64_t i = b.then_names; i < k->log.count; i++) log[kept++] = log[i];
    } else if (else_ends) {
        for (uint64_t i = b.then_names; i < k->log.count; i++)
            k->name_table.all[log[i]].assigned = false;
        for (kept = b.names; kept < b.then_names; kept++)
            k->name_table.all[log[kept]].assigned = true;
    } else {
        for (uint64_t i = b.names; i < b.then_names; i++)
            if (k->name_table.all[log[i]].assigned) log[kept++] = log[i];
        for (uint64_t i = b.then_names; i < k->log.count; i++)
            k->name_table.all[log[i]].assigned = false;
        for (uint64_t i = b.names; i < kept; i++) k->name_table.all[log[i]].assigned = true;
    }
    k->log.count = kept;
    k->reachable = b.reachable && !(b.then_ends && else_ends);
}

/* ---- loops ---- */

static void visit_for(jk_kernel *k, uint32_t token) {
    uint32_t var = jk_string_field(k, token, "var"),
             start = jk_field(k, token, "start", "an expression"),
             stop = jk_field(k, token, "stop", "an expression"),
             step = jk_field(k, token, "step", "an expression"),
             body = jk_field(k, token, "body", "an array of statements");
    if (!var || !start || !stop || !step || !body) return;
    jk_push(k, JK_TASK_FOR, token, body);
    jk_push(k, JK_TASK_EXPRESSION, step, 0);
    jk_push(k, JK_TASK_EXPRESSION, stop, 0);
    jk_push(k, JK_TASK_EXPRESSION, start, 0);
}

/* The step as the variable's type; *up: 1, 2 (down), 0 where only the run knows. False after an
 * error. */
static bool read_step(jk_kernel *k, uint32_t *step, jk_type type, uint8_t *up) {
    jk_node *n = node_of(k, *step);
    if (n->type != JK_WHOLE) {
        *step = jk_as(k, *step, type);
        *up = hg_type_is_signed((hg_type)type) ? 0 : 1;
        return !bad(k, *step);
    }
    hg_json_number number = hg_json_number_of(k->document, n->token);
    bool negative = (number.kind == HG_JSON_I64) != ((n->flags & JK_NEGATIVE) != 0);
    if (number.kind != HG_JSON_F64 && number.u64 == 0) {
        jk_error(k, "N03", n->token, NULL, "the step of a for loop cannot be 0");
        return false;
    }
    *up = negative ? 2 : 1;
    if (negative && !hg_type_is_signed((hg_type)type) && number.kind != HG_JSON_F64) { /* adding 2^w
                                                                                          - s takes
                                                                                          s away */
        uint64_t top = UINT64_MAX >> (64 - 8 * hg_type_size_bytes((hg_type)type)),
                 size = number.u64 < top ? number.u64 : top;
        n->bits = (0 - size) & top; /* of a larger step there is no second round either */
        n->type = type;
        return true;
    }
    *step = jk_as(k, *step, type);
    return !bad(k, *step);
}

/* Whether the body of every open loop gives the name its value in front of this place, and does not
 * read it before. */
static bool given_in_loops(const jk_kernel *k, uint32_t name) {
    bool given = false;
    uint32_t depth = 0; /* of ifs, and of loops that have ended: what is given there may not be
                           given */
    uint64_t open = 0;
    while (open < k->blocks.count && k->nodes.data[k->blocks.data[open].node].kind == JK_IF) open++;
    for (uint64_t i = open < k->blocks.count ? k->blocks.data[open].node : k->nodes.count;
         i < k->nodes.count; i++) {
        const jk_node *n = &k->nodes.data[i];
        while (open < k->blocks.count && k->blocks.data[open].node < i) open++;
        bool is_open = open < k->blocks.count && k->blocks.data[open].node == i;
        if (is_open && n->kind != JK_IF) {
            if (n->kind == JK_FOR && n->a == name) return false; /* its end counts on */
            given = false;
            depth = 0;
            continue;
        }
        if (n->kind == JK_READ && n->a == name && !given) return false;
        if ((n->kind == JK_SET || n->kind == JK_FOR) && n->a == name && depth == 0) given = true;
        if (n->kind == JK_IF || n->kind == JK_FOR || n->kind == JK_WHILE) depth++;
        if (n->kind == JK_END_IF || n->kind == JK_END_FOR || n->kind == JK_END_WHILE) depth--;
    }
    return given;
}

/* Whether a for loop may take a name for a variable of another type: nothing that can run after
 * this reads the old one. What the body of an open loop reads in front of this place is read again
 * in its next round, unless the body gives it its value. */
static bool begins_anew(const jk_kernel *k, uint32_t name) {
    if (k->name_table.all[name].kind != JK_LOCAL) return false;
    uint64_t from = 0;
    for (uint64_t i = 0; i < k->blocks.count; i++)
        if (k->nodes.data[k->blocks.data[i].node].kind != JK_IF) from = k->blocks.data[i].names;
    for (uint64_t i = k->log.count; i > from; i--)
        if (k->log.data[i - 1] == name) return true;
    return !k->name_table.all[name].assigned || from == 0 || given_in_loops(k, name);
}

static void begin_for(jk_kernel *k, uint32_t token, uint32_t body) {
    uint32_t step = jk_pop(k), stop = jk_pop(k), start = jk_pop(k),
             var = hg_json_member(k->document, token, "var");
    const char *what[] = {"start", "stop", "step"};
    uint32_t given[] = {start, stop, step};
    bool good = !bad(k, start) && !bad(k, stop) && !bad(k, step);
    for (int i = 0; i < 3 && good; i++)
        if (!jk_is_integer(node_of(k, given[i])->type)) {
            jk_error(k, "N06", node_of(k, given[i])->token,
                     jk_is_float(node_of(k, given[i])->type) ? "convert it: i32(…)" : NULL,
                     "the %s of a for loop is an integer, got %s", what[i],
                     jk_type_name(node_of(k, given[i])->type));
            good = false;
        }
    uint8_t up = 1;
    jk_type type = JK_ERROR;
    if (good) {
        jk_type own = node_of(k, step)->type;
        bool literals = node_of(k, start)->type == JK_WHOLE && node_of(k, stop)->type == JK_WHOLE &&
                        own == JK_WHOLE;
        size_t length;
        const char *text = hg_json_decode(k->document, var, &k->arena, &length);
        uint32_t known = text ? jk_find_name(k, text, length) : JK_NONE;
        if (literals && known != JK_NONE && k->name_table.all[known].kind != JK_ARRAY &&
            jk_is_integer(k->name_table.all[known].type)) {
            start = jk_as(k, start, k->name_table.all[known].type);
            good = !bad(k, start);
        }
        good = good && jk_unify(k, &start, &stop, token, "for", false);
        if (good && own != JK_WHOLE) { /* a step of a wider type widens all */
            jk_type common = jk_common(node_of(k, start)->type, own);
            start = jk_as(k, start, common);
            stop = jk_as(k, stop, common);
        }
        type = node_of(k, start)->type;
        good = good && read_step(k, &step, type, &up);
        if (good && known != JK_NONE && k->name_table.all[known].type != type &&
            begins_anew(k, known))
            good = jk_add_name(k, var, JK_LOCAL, type) != JK_NONE;
    }
    uint32_t name = jk_assign_name(k, var, good ? type : JK_ERROR);
    uint32_t n = jk_add_node(k, good && name != JK_NONE ? JK_FOR : JK_SKIP, up, type, token, name,
                             start, stop);
    node_of(k, n)->bits = step;
    if (!open_block(k, n)) return;
    jk_push(k, JK_TASK_END_FOR, token, 0);
    push_block(k, body, false);
}

static void end_loop(jk_kernel *k, uint32_t token, jk_node_kind kind) {
    jk_block b = k->blocks.data[--k->blocks.count];
    uint32_t n = jk_add_node(k, kind, 0, JK_ERROR, token, b.node, JK_NONE, JK_NONE);
    node_of(k, b.node)->end = n;
    for (uint64_t i = b.names; i < k->log.count; i++)
        k->name_table.all[k->log.data[i]].assigned = false;
    k->log.count = b.names;
    k->reachable = b.reachable;
}

static void visit_while(jk_kernel *k, uint32_t token) {
    uint32_t condition = jk_field(k, token, "condition", "an expression"),
             body = jk_field(k, token, "body", "an array of statements");
    if (!condition || !body ||
        !open_block(k, jk_add_node(k, JK_WHILE, 0, JK_ERROR, token, JK_NONE, JK_NONE, JK_NONE)))
        return;
    jk_push(k, JK_TASK_TEST, token, body);
    jk_push(k, JK_TASK_EXPRESSION, condition, 0);
}

static void test_while(jk_kernel *k, uint32_t token, uint32_t body) {
    uint32_t condition = jk_condition(k, jk_pop(k)),
             loop = k->blocks.data[k->blocks.count - 1].node;
    jk_add_node(k, JK_TEST, 0, JK_ERROR, token, condition, loop, JK_NONE);
    jk_push(k, JK_TASK_END_WHILE, token, 0);
    push_block(k, body, false);
}

/* ---- return ---- */

/* The value of a kernel goes nowhere: it is checked, and evaluated only for the atomics in it. */
static void visit_return(jk_kernel *k, uint32_t token) {
    uint32_t value = hg_json_member(k->document, token, "value");
    bool none = !value || hg_json_kind_of(k->document, value) == HG_JSON_NULL;
    jk_push(k, JK_TASK_RETURN, token,
            none ? JK_NONE
                 : jk_add_node(k, JK_SKIP, 0, JK_ERROR, token, JK_NONE, JK_NONE, JK_NONE));
    if (!none) jk_push(k, JK_TASK_EXPRESSION, value, 0);
}

static void finish_return(jk_kernel *k, uint32_t token, uint32_t skip) {
    uint32_t value = skip != JK_NONE ? jk_settle(k, jk_pop(k)) : JK_NONE;
    bool seen = false; /* by others */
    for (uint32_t i = value != JK_NONE ? node_of(k, value)->first : 1;
         value != JK_NONE && i <= value; i++)
        seen |= node_of(k, i)->kind == JK_ATOMIC;
    if (seen) jk_add_node(k, JK_DROP, 0, JK_ERROR, token, value, JK_NONE, JK_NONE);
    uint32_t n = jk_add_node(k, JK_RETURN, 0, JK_ERROR, token, JK_NONE, JK_NONE, JK_NONE);
    if (skip != JK_NONE && !seen) node_of(k, skip)->a = n;
    k->reachable = false;
}

/* ---- whole arrays ---- */

typedef enum collective_kind {
    C_UNARY,
    C_BINARY,
    C_REDUCE,
    C_SCAN,
    C_GATHER,
    C_SCATTER
} collective_kind;

/* What a parallel_ statement has beside input, output and count. */
static const struct {
    uint8_t node;
    const char *inputs[2]; /* NULL: it has no second one */
    bool indices;          /* the second one; size: elements of the array that they point into */
} COLLECTIVES[] = {[C_UNARY] = {JK_MAP, {"input", NULL}, false},
                   [C_BINARY] = {JK_MAP_BINARY, {"input_a", "input_b"}, false},
                   [C_REDUCE] = {JK_REDUCE, {"input", NULL}, false},
                   [C_SCAN] = {JK_SCAN, {"input", NULL}, false},
                   [C_GATHER] = {JK_GATHER, {"input", "indices"}, true},
                   [C_SCATTER] = {JK_SCATTER, {"input", "indices"}, true}};

static bool allows(collective_kind kind, hg_opname op) {
    return kind == C_UNARY     ? hg_opname_is_map(op)
           : kind == C_BINARY  ? hg_opname_is_binary(op)
           : kind == C_SCATTER ? op == HG_OPNAME_SUM
                               : hg_opname_is_reduce(op);
}

/* The operation of a parallel_ statement, in any case of letters. False after an error. */
static bool read_operation(jk_kernel *k, uint32_t token, collective_kind kind, uint8_t *operation) {
    uint32_t name = jk_string_field(k, token, "operation");
    if (!name) return false;
    char lower[32], hint[256];
    size_t length;
    const char *text = hg_json_decode(k->document, name, &k->arena, &length),
               *names[HG_OPNAME_COUNT];
    for (size_t i = 0; text && i < length && i < sizeof lower; i++)
        lower[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]);
    hg_opname op;
    if (text && length <= sizeof lower && hg_opname_from_text(lower, length, &op) &&
        allows(kind, op)) {
        *operation = (uint8_t)op;
        return true;
    }
    size_t count = 0;
    for (int i = 0; i < HG_OPNAME_COUNT; i++)
        if (allows(kind, (hg_opname)i)) names[count++] = hg_opname_name((hg_opname)i);
    jk_error(k, "N01", name, jk_words_hint(k, name, names, count, hint, sizeof hint),
             "unknown operation %s", jk_show(k, name).text);
    return false;
}

/* A bare true or false; left out: false. */
static bool read_flag(jk_kernel *k, uint32_t token, const char *key, bool *flag) {
    uint32_t value = hg_json_member(k->document, token, key);
    hg_json_kind kind = value ? hg_json_kind_of(k->document, value) : HG_JSON_FALSE;
    *flag = kind == HG_JSON_TRUE;
    if (kind == HG_JSON_TRUE || kind == HG_JSON_FALSE) return true;
    jk_error(k, "N03", value, NULL, "expected true or false, got %s", jk_show(k, value).text);
    return false;
}

/* What else the kind has, for its node. */
static bool read_way(jk_kernel *k, uint32_t token, collective_kind kind, uint8_t *operation,
                     uint8_t *flags) {
    bool exclusive = false, reverse = false;
    *flags = 0;
    *operation = 0;
    if (kind == C_GATHER) return true;
    if (kind == C_SCATTER && !hg_json_member(k->document, token, "operation")) return true;
    if (!read_operation(k, token, kind, operation)) return false;
    if (kind == C_SCATTER) *flags = JK_ADDS;
    if (kind != C_SCAN) return true;
    if (!read_flag(k, token, "exclusive", &exclusive) || !read_flag(k, token, "reverse", &reverse))
        return false;
    *flags = (uint8_t)((exclusive ? JK_EXCLUSIVE : 0) | (reverse ? JK_REVERSE : 0));
    return true;
}

/* The arrays have one type, that of indices aside. */
static bool check_types(jk_kernel *k, collective_kind kind, const uint32_t *array,
                        const uint32_t *field, uint8_t operation) {
    jk_type type = k->name_table.all[array[0]].type;
    bool indices = COLLECTIVES[kind].indices;
    for (int i = 1; i < 3 && array[i] != JK_NONE; i++) {
        jk_type other = k->name_table.all[array[i]].type;
        if (indices && i == 2) {
            if (other == HG_TYPE_U32 || other == HG_TYPE_I64) continue;
            jk_error(k, "N06", field[i], NULL, "indices are u32 or i64, got %s",
                     jk_type_name(other));
            return false;
        }
        if (other == type) continue;
        jk_error(k, "N06", field[i], NULL,
                 "the arrays of one operation have one type, got %s and %s", jk_type_name(type),
                 jk_type_name(other));
        return false;
    }
    if (type == JK_BOOL) {
        jk_error(k, "N06", field[0], NULL, "an operation over an array of bool");
        return false;
    }
    if (indices || hg_opname_allows_type((hg_opname)operation, (hg_type)type)) return true;
    jk_error(k, "N06", field[0], NULL, "%s of %s", hg_opname_name((hg_opname)operation),
             jk_type_name(type));
    return false;
}

static void visit_collective(jk_kernel *k, uint32_t token, collective_kind kind) {
    const char *const *inputs = COLLECTIVES[kind].inputs;
    bool indices = COLLECTIVES[kind].indices;
    uint32_t array[3] = {JK_NONE, JK_NONE, JK_NONE}, field[3];
    uint8_t operation, flags;
    field[0] = jk_field(k, token, "output", "an array");
    field[1] = jk_field(k, token, inputs[0], "an array");
    field[2] = inputs[1] ? jk_field(k, token, inputs[1], "an array") : 0;
    uint32_t count = jk_field(k, token, "count", "an integer"),
             size = indices ? jk_field(k, token, "size", "an integer") : JK_NONE;
    bool good = read_way(k, token, kind, &operation, &flags) && count && size;
    for (int i = 0; i < (inputs[1] ? 3 : 2); i++) {
        array[i] = field[i] ? jk_array(k, field[i]) : JK_NONE;
        good = good && array[i] != JK_NONE;
    }
    if (!good) return;
    for (int i = 0; i < 3; i++)
        if (array[i] != JK_NONE && k->name_table.all[array[i]].memory != JK_BUFFER) {
            jk_error(k, "N06", field[i], "a device_array parameter",
                     "an operation of all lanes over memory of a %s",
                     k->name_table.all[array[i]].memory == JK_PRIVATE ? "lane" : "block");
            return;
        }
    if (!check_types(k, kind, array, field, operation)) return;
    if (indices && k->name_table.all[array[2]].type == HG_TYPE_I64) flags |= JK_WIDE;
    k->name_table.all[array[0]].access |= JK_STORED;
    if (kind == C_SCATTER)
        k->name_table.all[array[0]].access |= JK_LOADED; /* other elements stay */
    for (int i = 1; i < 3; i++)
        if (array[i] != JK_NONE) k->name_table.all[array[i]].access |= JK_LOADED;
    uint32_t n = jk_add_node(k, JK_SKIP, operation, k->name_table.all[array[0]].type, token,
                             array[0], array[1], array[2]);
    node_of(k, n)->a = n; /* skips nothing: the arrays wait here until the counts are there */
    jk_push(k, JK_TASK_COLLECTIVE, token, n);
    node_of(k, n)->b = array[1];
    node_of(k, n)->flags = flags;
    node_of(k, n)->bits = (uint64_t)kind << 32 | array[0];
    if (indices) jk_push(k, JK_TASK_COUNT, size, 0);
    jk_push(k, JK_TASK_COUNT, count, 0);
}

/* A bare number is accepted. */
static void visit_count(jk_kernel *k, uint32_t count) {
    if (hg_json_kind_of(k->document, count) == HG_JSON_INTEGER)
        jk_push_value(k, jk_add_node(k, JK_LITERAL, 0, JK_WHOLE, count, JK_NONE, JK_NONE, JK_NONE));
    else
        jk_push(k, JK_TASK_EXPRESSION, count, 0);
}

/* The value of a count; JK_NONE after an error. */
static uint32_t pop_count(jk_kernel *k) {
    uint32_t count = jk_pop(k);
    if (bad(k, count)) return JK_NONE;
    if (!jk_is_integer(node_of(k, count)->type)) {
        jk_error(k, "N06", node_of(k, count)->token, NULL, "a count is an integer, got %s",
                 jk_type_name(node_of(k, count)->type));
        return JK_NONE;
    }
    if (node_of(k, count)->type != HG_TYPE_U32) count = jk_as(k, count, HG_TYPE_U64);
    return bad(k, count) ? JK_NONE : count;
}

static void finish_collective(jk_kernel *k, uint32_t token, uint32_t held) {
    jk_node arrays = *node_of(k, held);
    collective_kind kind = (collective_kind)(arrays.bits >> 32);
    uint32_t size = COLLECTIVES[kind].indices ? pop_count(k) : 0, count = pop_count(k);
    if (count == JK_NONE || size == JK_NONE) return;
    uint32_t n = jk_add_node(k, (jk_node_kind)COLLECTIVES[kind].node, arrays.op, arrays.type, token,
                             (uint32_t)arrays.bits, arrays.b, arrays.c);
    node_of(k, n)->flags = arrays.flags;
    node_of(k, n)->bits = count | (uint64_t)size << 32;
}

/* ---- barriers ---- */

static void visit_barrier(jk_kernel *k, uint32_t token) {
    static const char *const scopes[] = {"block", "grid"};
    uint32_t scope = hg_json_member(k->document, token, "scope");
    int which = scope ? jk_word(k, scope, scopes, HG_COUNT_OF(scopes)) : 0;
    char hint[64];
    if (which < 0)
        jk_error(k, "N01", scope,
                 jk_words_hint(k, scope, scopes, HG_COUNT_OF(scopes), hint, sizeof hint),
                 "unknown scope %s", jk_show(k, scope).text);
    else
        jk_add_node(k, JK_BARRIER, which ? HG_OP_BAR_GRID : HG_OP_BAR_SYNC, JK_ERROR, token,
                    JK_NONE, JK_NONE, JK_NONE);
}

/* ---- dispatch ---- */

static const char *const STATEMENTS[] = {"let",
                                         "assign",
                                         "if",
                                         "for",
                                         "while",
                                         "return",
                                         "parallel_map_unary",
                                         "parallel_map_binary",
                                         "parallel_reduce",
                                         "call",
                                         "barrier",
                                         "parallel_scan",
                                         "parallel_gather",
                                         "parallel_scatter"};
static const char *const FIELDS[] = {"type name value",
                                     "type target value",
                                     "type condition then_body else_body",
                                     "type var start stop step body",
                                     "type condition body",
                                     "type value",
                                     "type input output operation count",
                                     "type input_a input_b output operation count",
                                     "type input output operation count",
                                     "type function args",
                                     "type scope",
                                     "type input output operation count exclusive reverse",
                                     "type input indices output count size",
                                     "type input indices output count size operation"};

static void visit(jk_kernel *k, uint32_t token) {
    char hint[256];
    if (hg_json_kind_of(k->document, token) != HG_JSON_OBJECT) {
        jk_error(k, "N03", token, NULL, "expected a statement, got %s", jk_show(k, token).text);
        return;
    }
    uint32_t type = jk_string_field(k, token, "type");
    if (!type) return;
    int kind = jk_word(k, type, STATEMENTS, HG_COUNT_OF(STATEMENTS));
    if (kind >= 0 && kind != 9 && !jk_only_fields(k, token, FIELDS[kind]))
        return; /* a call is an expression, which looks itself */
    switch (kind) {
    case 0: visit_let(k, token); return;
    case 1: visit_assign(k, token); return;
    case 2: visit_if(k, token); return;
    case 3: visit_for(k, token); return;
    case 4: visit_while(k, token); return;
    case 5: visit_return(k, token); return;
    case 6: visit_collective(k, token, C_UNARY); return;
    case 7: visit_collective(k, token, C_BINARY); return;
    case 8: visit_collective(k, token, C_REDUCE); return;
    case 9:
        jk_push(k, JK_TASK_DROP, token, 0);
        jk_push(k, JK_TASK_EXPRESSION, token, 0);
        return;
    case 10: visit_barrier(k, token); return;
    case 11: visit_collective(k, token, C_SCAN); return;
    case 12: visit_collective(k, token, C_GATHER); return;
    case 13: visit_collective(k, token, C_SCATTER); return;
    default: break;
    }
    jk_error(k, "N01", type,
             jk_words_hint(k, type, STATEMENTS, HG_COUNT_OF(STATEMENTS), hint, sizeof hint),
             "unknown statement %s", jk_show(k, type).text);
}

void jk_do_statement(jk_kernel *k, jk_task t) {
    switch (t.kind) {
    case JK_TASK_BLOCK:
        if (t.extra >= hg_json_next(k->document, t.token)) return;
        jk_push(k, JK_TASK_BLOCK, t.token, hg_json_next(k->document, t.extra));
        visit(k, t.extra);
        return;
    case JK_TASK_SET: finish_set(k, t.token, t.extra); return;
    case JK_TASK_STORE: finish_store(k, t.token, t.extra); return;
    case JK_TASK_DROP: {
        uint32_t value = jk_settle(k, jk_pop(k));
        if (!bad(k, value)) jk_add_node(k, JK_DROP, 0, JK_ERROR, t.token, value, JK_NONE, JK_NONE);
        return;
    }
    case JK_TASK_IF: begin_if(k, t.token, t.extra); return;
    case JK_TASK_ELSE: begin_else(k, t.token); return;
    case JK_TASK_END_IF: end_if(k, t.token); return;
    case JK_TASK_FOR: begin_for(k, t.token, t.extra); return;
    case JK_TASK_END_FOR: end_loop(k, t.token, JK_END_FOR); return;
    case JK_TASK_TEST: test_while(k, t.token, t.extra); return;
    case JK_TASK_END_WHILE: end_loop(k, t.token, JK_END_WHILE); return;
    case JK_TASK_RETURN: finish_return(k, t.token, t.extra); return;
    case JK_TASK_COLLECTIVE: finish_collective(k, t.token, t.extra); return;
    case JK_TASK_COUNT: visit_count(k, t.token); return;
    default: return;
    }
}
