/* Expressions of a JSON kernel to nodes (semantics 7.4).
 * Must not know: instructions but for their names. */
#include "translators/json/kernel.h"

#include <stdio.h>
#include <string.h>

static uint32_t wrong(jk_kernel *k, uint32_t token) {
    return jk_add_node(k, JK_LITERAL, 0, JK_ERROR, token, JK_NONE, JK_NONE, JK_NONE);
}

static jk_node *node_of(jk_kernel *k, uint32_t node) { return &k->nodes.data[node]; }
static bool bad(jk_kernel *k, uint32_t node) { return node_of(k, node)->type == JK_ERROR; }

/* ---- names ---- */

/* A name that is not there; later uses of it are no further mistakes. */
static void unknown_name(jk_kernel *k, uint32_t token) {
    const char *known[64];
    uint32_t count = 0;
    char hint[1024];
    for (uint32_t i = 0; i < k->name_table.count && count < HG_COUNT_OF(known); i++)
        if (k->name_table.all[i].text && k->name_table.all[i].length <= 32 &&
            k->name_table.all[i].type != JK_ERROR) {
            char *copy = hg_arena_text(&k->arena, k->name_table.all[i].text,
                                       k->name_table.all[i].length);
            if (copy) known[count++] = copy;
        }
    jk_words_hint(k, token, known, count, hint, sizeof hint);
    if (strncmp(hint, "one of:", 7) == 0)
        snprintf(hint, sizeof hint, "a parameter, or a variable that let has declared");
    jk_error(k, "D03", token, hint, "there is no variable %s", jk_show(k, token).text);
    uint32_t name = jk_add_name(k, token, JK_LOCAL, JK_ERROR);
    if (name != JK_NONE) k->name_table.all[name].assigned = true;
}

/* The name a string token holds; JK_NONE: unknown (not said). */
static uint32_t lookup(jk_kernel *k, uint32_t token) {
    size_t length;
    const char *text = hg_json_decode(k->document, token, &k->arena, &length);
    if (!text) {
        k->out_of_memory = true;
        return JK_NONE;
    }
    return jk_find_name(k, text, length);
}

uint32_t jk_assign_name(jk_kernel *k, uint32_t token, jk_type type) {
    uint32_t name = lookup(k, token);
    if (k->out_of_memory) return JK_NONE;
    if (name == JK_NONE) name = jk_add_name(k, token, JK_LOCAL, type);
    if (name == JK_NONE) return JK_NONE;
    jk_name *n = &k->name_table.all[name];
    if (n->kind == JK_ARRAY) {
        jk_error(k, "N06", token, "an array is given values element by element", "%s is an array",
                 jk_show(k, token).text);
        return JK_NONE;
    }
    if (n->type == JK_ERROR) n->type = type;
    if (type != JK_ERROR && n->type != type) {
        jk_error(k, "V03", token, "a name keeps one type; use another name, or a conversion",
                 "variable %s changes its type from %s to %s", jk_show(k, token).text,
                 jk_type_name(n->type), jk_type_name(type));
        return JK_NONE;
    }
    if (!n->assigned) {
        uint32_t *entry = hg_vec_push(&k->log);
        if (!entry) {
            k->out_of_memory = true;
            return JK_NONE;
        }
        *entry = name;
        n->assigned = true;
    }
    return name;
}

static uint32_t read_name(jk_kernel *k, uint32_t token, uint32_t string) {
    uint32_t name = lookup(k, string);
    if (name == JK_NONE) {
        if (!k->out_of_memory) unknown_name(k, string);
        return wrong(k, token);
    }
    jk_name *n = &k->name_table.all[name];
    if (n->kind == JK_ARRAY) {
        if (n->type != JK_ERROR)
            jk_error(k, "N06", string, "only its elements are values: use index", "%s is an array",
                     jk_show(k, string).text);
        return wrong(k, token);
    }
    if (!n->assigned && k->reachable && n->type != JK_ERROR) {
        jk_error(k, "V01", string, "give it a value before the if or the loop",
                 "variable %s has no value on every path to here", jk_show(k, string).text);
        n->assigned = true;
        return wrong(k, token);
    }
    if (n->type == JK_ERROR) return wrong(k, token);
    return jk_add_node(k, JK_READ, 0, n->type, token, name, JK_NONE, JK_NONE);
}

uint32_t jk_array(jk_kernel *k, uint32_t token) {
    const hg_json_document *d = k->document;
    uint32_t string = token;
    if (hg_json_kind_of(d, token) == HG_JSON_OBJECT) {
        uint32_t type = hg_json_member(d, token, "type");
        string = type && hg_json_string_is(d, type, "var") ? jk_string_field(k, token, "name")
                                                           : token;
        if (!string || (string != token && !jk_only_fields(k, token, "type name"))) return JK_NONE;
    }
    if (!hg_json_is_string(d, string)) {
        jk_error(k, "N03", token, "{\"type\":\"var\",\"name\":…} of an array",
                 "expected an array, got %s", jk_show(k, token).text);
        return JK_NONE;
    }
    uint32_t name = lookup(k, string);
    if (name == JK_NONE) {
        if (!k->out_of_memory) unknown_name(k, string);
        return JK_NONE;
    }
    const jk_name *n = &k->name_table.all[name];
    if (n->kind == JK_ARRAY) return n->type == JK_ERROR ? JK_NONE : name;
    if (n->type == JK_POINTER)
        jk_error(k, "N06", string, "declare it as a device_array",
                 "%s is a device_ptr: its elements have no type", jk_show(k, string).text);
    else if (n->type != JK_ERROR)
        jk_error(k, "N06", string, NULL, "%s is %s, not an array", jk_show(k, string).text,
                 jk_type_name(n->type));
    return JK_NONE;
}

/* ---- functions ---- */

typedef enum function_kind {
    F_LANE,
    F_IDENTITY,
    F_REAL,
    F_NUMBER,
    F_BLOCK,
    F_SHUFFLE,
    F_INTEGER,
    F_COUNT,
    F_TURN,
    F_CONVERT,
    F_ATOMIC,
    F_RESERVED
} function_kind;
typedef struct function {
    const char *name;
    uint8_t kind, arity, op; /* hg_op; jk_type of a conversion; the register of F_LANE */
} function;
static const function FUNCTIONS[] = {
    {"get_global_id", F_LANE, 0, 255},
    {"get_local_id", F_LANE, 0, 252},
    {"get_group_id", F_LANE, 0, 253},
    {"get_local_size", F_LANE, 0, 254},
    {"get_global_size", F_IDENTITY, 0, HG_ID_LANE_COUNT},
    {"exp", F_REAL, 1, HG_OP_EXP},
    {"expf", F_REAL, 1, HG_OP_EXP},
    {"log", F_REAL, 1, HG_OP_LOG},
    {"logf", F_REAL, 1, HG_OP_LOG},
    {"log2", F_REAL, 1, HG_OP_LOG2},
    {"log10", F_REAL, 1, HG_OP_LOG10},
    {"sqrt", F_REAL, 1, HG_OP_SQRT},
    {"sqrtf", F_REAL, 1, HG_OP_SQRT},
    {"sin", F_REAL, 1, HG_OP_SIN},
    {"sinf", F_REAL, 1, HG_OP_SIN},
    {"cos", F_REAL, 1, HG_OP_COS},
    {"cosf", F_REAL, 1, HG_OP_COS},
    {"tan", F_REAL, 1, HG_OP_TAN},
    {"tanh", F_REAL, 1, HG_OP_TANH},
    {"sigmoid", F_REAL, 1, HG_OP_SIGMOID},
    {"gelu", F_REAL, 1, HG_OP_GELU},
    {"swish", F_REAL, 1, HG_OP_SWISH},
    {"rsqrt", F_REAL, 1, HG_OP_RSQRT},
    {"rcp", F_REAL, 1, HG_OP_RCP},
    {"exp2", F_REAL, 1, HG_OP_EXP2},
    {"exp10", F_REAL, 1, HG_OP_EXP10},
    {"sinpi", F_REAL, 1, HG_OP_SINPI},
    {"cospi", F_REAL, 1, HG_OP_COSPI},
    {"expm1", F_REAL, 1, HG_OP_EXPM1},
    {"log1p", F_REAL, 1, HG_OP_LOG1P},
    {"cbrt", F_REAL, 1, HG_OP_CBRT},
    {"erf", F_REAL, 1, HG_OP_ERF},
    {"erfc", F_REAL, 1, HG_OP_ERFC},
    {"asin", F_REAL, 1, HG_OP_ASIN},
    {"acos", F_REAL, 1, HG_OP_ACOS},
    {"atan", F_REAL, 1, HG_OP_ATAN},
    {"sinh", F_REAL, 1, HG_OP_SINH},
    {"cosh", F_REAL, 1, HG_OP_COSH},
    {"atan2", F_REAL, 2, HG_OP_ATAN2},
    {"hypot", F_REAL, 2, HG_OP_HYPOT},
    {"rint", F_NUMBER, 1, HG_OP_RINT},
    {"pow", F_REAL, 2, HG_OP_POW},
    {"lerp", F_REAL, 3, HG_OP_LERP},
    {"abs", F_NUMBER, 1, HG_OP_ABS},
    {"sign", F_NUMBER, 1, HG_OP_SIGN},
    {"floor", F_NUMBER, 1, HG_OP_FLOOR},
    {"ceil", F_NUMBER, 1, HG_OP_CEIL},
    {"round", F_NUMBER, 1, HG_OP_ROUND},
    {"trunc", F_NUMBER, 1, HG_OP_TRUNC},
    {"min", F_NUMBER, 2, HG_OP_MIN},
    {"max", F_NUMBER, 2, HG_OP_MAX},
    {"clamp", F_NUMBER, 3, HG_OP_CLAMP},
    {"fma", F_NUMBER, 3, HG_OP_FMA},
    {"block_sum", F_BLOCK, 1, HG_OP_BREDUCE_ADD},
    {"scan_sum", F_BLOCK, 1, HG_OP_BSCAN_ADD},
    {"block_product", F_BLOCK, 1, HG_OP_BREDUCE_MUL},
    {"scan_product", F_BLOCK, 1, HG_OP_BSCAN_MUL},
    {"block_min", F_BLOCK, 1, HG_OP_BREDUCE_MIN},
    {"scan_min", F_BLOCK, 1, HG_OP_BSCAN_MIN},
    {"block_max", F_BLOCK, 1, HG_OP_BREDUCE_MAX},
    {"scan_max", F_BLOCK, 1, HG_OP_BSCAN_MAX},
    {"block_and", F_BLOCK, 1, HG_OP_BREDUCE_AND},
    {"scan_and", F_BLOCK, 1, HG_OP_BSCAN_AND},
    {"block_or", F_BLOCK, 1, HG_OP_BREDUCE_OR},
    {"scan_or", F_BLOCK, 1, HG_OP_BSCAN_OR},
    {"block_xor", F_BLOCK, 1, HG_OP_BREDUCE_XOR},
    {"scan_xor", F_BLOCK, 1, HG_OP_BSCAN_XOR},
    {"shuffle", F_SHUFFLE, 2, HG_OP_SHUFFLE},
    {"mulhi", F_INTEGER, 2, HG_OP_MULHI},
    {"add_sat", F_INTEGER, 2, HG_OP_ADDS},
    {"sub_sat", F_INTEGER, 2, HG_OP_SUBS},
    {"brev", F_INTEGER, 1, HG_OP_BREV},
    {"bswap", F_INTEGER, 1, HG_OP_BSWAP},
    {"popc", F_COUNT, 1, HG_OP_POPC},
    {"clz", F_COUNT, 1, HG_OP_CLZ},
    {"ctz", F_COUNT, 1, HG_OP_CTZ},
    {"rotl", F_TURN, 2, HG_OP_ROTL},
    {"rotr", F_TURN, 2, HG_OP_ROTR},
    {"float", F_CONVERT, 1, HG_TYPE_F32},
    {"int", F_CONVERT, 1, HG_TYPE_I32},
    {"parallel_scan", F_RESERVED, 0, 0},
    {"parallel_gather", F_RESERVED, 0, 0},
    {"parallel_scatter", F_RESERVED, 0, 0},
};
static const struct {
    const char *name;
    uint8_t op;
} ATOMICS[] = {{"add", HG_OP_ATOM_ADD},  {"min", HG_OP_ATOM_MIN}, {"max", HG_OP_ATOM_MAX},
               {"and", HG_OP_ATOM_AND},  {"or", HG_OP_ATOM_OR},   {"xor", HG_OP_ATOM_XOR},
               {"exch", HG_OP_ATOM_EXCH}};

/* atomic_OP or atomic_OP_TYPE; *type JK_ERROR: not named. */
static bool find_atomic(const char *name, size_t length, uint8_t *op, jk_type *type) {
    if (length < 9 || memcmp(name, "atomic_", 7) != 0) return false;
    name += 7;
    length -= 7;
    for (size_t i = 0; i < HG_COUNT_OF(ATOMICS); i++) {
        size_t n = strlen(ATOMICS[i].name);
        if (length < n || memcmp(name, ATOMICS[i].name, n) != 0) continue;
        *op = ATOMICS[i].op;
        *type = JK_ERROR;
        if (length == n) return true;
        return name[n] == '_' && jk_scalar_from_name(name + n + 1, length - n - 1, type);
    }
    return false;
}

enum { EXCLUSIVE = 0x80 }; /* in the arity of a function, which has three arguments at most */

static bool find_function(const char *name, size_t length, function *f, jk_type *atomic_type) {
    for (size_t i = 0; i < HG_COUNT_OF(FUNCTIONS); i++)
        if (strlen(FUNCTIONS[i].name) == length && memcmp(FUNCTIONS[i].name, name, length) == 0) {
            *f = FUNCTIONS[i];
            return true;
        }
    jk_type type;
    hg_idname id;
    if (jk_scalar_from_name(name, length, &type)) {
        *f = (function){NULL, F_CONVERT, 1, type};
        return true;
    }
    if (hg_idname_from_text(name, length, &id)) {
        *f = (function){NULL, F_IDENTITY, 0, (uint8_t)id};
        return true;
    }
    static const char before[] = "_before"; /* scan_sum_before: of the lanes before this one */
    size_t own = length - (sizeof before - 1);
    if (length > sizeof before + 4 && memcmp(name, "scan_", 5) == 0 &&
        memcmp(name + own, before, sizeof before - 1) == 0) {
        f->kind = F_RESERVED;
        if (!find_function(name, own, f, atomic_type) || f->kind != F_BLOCK) return false;
        f->arity = 1 | EXCLUSIVE;
        return true;
    }
    *f = (function){NULL, F_ATOMIC, 3, 0};
    return find_atomic(name, length, &f->op, atomic_type);
}

static void unknown_function(jk_kernel *k, uint32_t token) {
    const char *names[HG_COUNT_OF(FUNCTIONS) + 8] = {"f64", "f32", "i32",        "u32",
                                                     "u64", "i64", "atomic_add", "atomic_min"};
    char hint[512];
    size_t count = 8;
    for (size_t i = 0; i < HG_COUNT_OF(FUNCTIONS); i++)
        if (FUNCTIONS[i].kind != F_RESERVED) names[count++] = FUNCTIONS[i].name;
    jk_error(k, "N01", token, jk_words_hint(k, token, names, count, hint, sizeof hint),
             "unknown function %s", jk_show(k, token).text);
}

/* Float totals would depend on the order of lanes (semantics 2.15). */
static void float_atomic(jk_kernel *k, uint32_t token, const char *name, size_t length,
                         const char *suffix) {
    jk_error(k, "N06", token, NULL,
             "%.*s%s is not supported: its result would depend on lane order; use parallel_reduce",
             (int)length, name, suffix);
}

/* Array, index and value of atomic_…(array, index, value). False after an error. */
static bool begin_atomic(jk_kernel *k, uint32_t token, uint32_t function_token, uint32_t first,
                         jk_type type, const char *name, size_t length) {
    if (jk_is_float(type)) {
        float_atomic(k, function_token, name, length, "");
        return false;
    }
    uint32_t array = jk_array(k, first);
    if (array == JK_NONE) return false;
    if (k->name_table.all[array].memory == JK_PRIVATE) {
        jk_error(k, "N06", first, "no other lane sees it: assign the element",
                 "%.*s on the private array '%.*s'", (int)length, name,
                 (int)k->name_table.all[array].length, k->name_table.all[array].text);
        return false;
    }
    jk_type element = k->name_table.all[array].type;
    char suffix[16];
    snprintf(suffix, sizeof suffix, "_%s", jk_type_name(element));
    if (jk_is_float(element) && type == JK_ERROR) {
        float_atomic(k, function_token, name, length, suffix);
        return false;
    }
    if (type != JK_ERROR && type != element) {
        jk_error(k, "N06", first, NULL, "%.*s expects an array of %s, got one of %s", (int)length,
                 name, jk_type_name(type), jk_type_name(element));
        return false;
    }
    if (element >= HG_TYPE_COUNT || !hg_op_allows_type(HG_OP_ATOM_ADD, (hg_type)element)) {
        jk_error(k, "N06", first, "atomics have i32, u32, i64 and u64", "%.*s on an array of %s",
                 (int)length, name, jk_type_name(element));
        return false;
    }
    k->name_table.all[array].access |= JK_LOADED | JK_STORED;
    uint32_t index = hg_json_next(k->document, first), value = hg_json_next(k->document, index);
    jk_push(k, JK_TASK_ATOMIC, token, array);
    jk_push(k, JK_TASK_EXPRESSION, value, 0);
    jk_push(k, JK_TASK_EXPRESSION, index, 0);
    return true;
}

static void visit_call(jk_kernel *k, uint32_t token) {
    uint32_t name = jk_string_field(k, token, "function"),
             args = name ? jk_field(k, token, "args", "an array") : 0;
    function f;
    jk_type atomic = JK_ERROR;
    size_t length;
    if (!args) goto failed;
    const char *text = hg_json_decode(k->document, name, &k->arena, &length);
    if (!text) {
        k->out_of_memory = true;
        goto failed;
    }
    if (!find_function(text, length, &f, &atomic)) {
        unknown_function(k, name);
        goto failed;
    }
    if (f.kind == F_RESERVED) {
        jk_error(k, "N01", name, NULL, "%s is a reserved name: this version has no such function",
                 jk_show(k, name).text);
        goto failed;
    }
    if (hg_json_kind_of(k->document, args) != HG_JSON_ARRAY) {
        jk_error(k, "N03", args, NULL, "expected an array of expressions, got %s",
                 jk_show(k, args).text);
        goto failed;
    }
    uint32_t count = hg_json_length(k->document, args);
    uint32_t extra = (uint32_t)f.kind | (uint32_t)f.op << 8 | (uint32_t)f.arity << 16;
    f.arity &= EXCLUSIVE - 1;
    if (count != f.arity) {
        jk_error(k, "N04", args, f.kind == F_ATOMIC ? "array, index, value" : NULL,
                 "%s takes %u argument%s, got %u", jk_show(k, name).text, f.arity,
                 f.arity == 1 ? "" : "s", (unsigned)count);
        goto failed;
    }
    if (f.kind == F_ATOMIC) {
        if (!begin_atomic(k, token, name, args + 1, atomic, text, length)) goto failed;
        return;
    }
    jk_push(k, JK_TASK_CALL, token, extra);
    uint32_t arg[3] = {args + 1};
    for (int i = 1; i < f.arity; i++) arg[i] = hg_json_next(k->document, arg[i - 1]);
    for (int i = f.arity; i-- > 0;) jk_push(k, JK_TASK_EXPRESSION, arg[i], 0);
    return;
failed:
    jk_push_value(k, wrong(k, token));
}

/* i32(x), f32(x), bool(x), … */
static uint32_t convert(jk_kernel *k, uint32_t token, uint32_t value, jk_type type) {
    jk_type from = node_of(k, value)->type;
    if (bad(k, value)) return value;
    if (from == JK_POINTER && type != HG_TYPE_U64 && type != HG_TYPE_I64) {
        jk_error(k, "N06", token, "u64(…) gives its bits", "a device_ptr does not become %s",
                 jk_type_name(type));
        return wrong(k, token);
    }
    if (from == JK_WHOLE && !jk_literal_fits(k, value, type)) value = jk_settle(k, value);
    return jk_as(k, value, type);
}

/* The arguments as one type that all of them take. False after an error. */
static bool unify_all(jk_kernel *k, uint32_t *arg, uint32_t count, uint32_t token,
                      const char *name) {
    if (count == 1) {
        if (jk_is_number(node_of(k, arg[0])->type)) return true;
        jk_error(k, "N06", token, NULL, "%s of %s", name, jk_type_name(node_of(k, arg[0])->type));
        return false;
    }
    uint32_t typed = 0; /* literals take the type of one that has a type */
    while (typed + 1 < count && jk_is_literal(node_of(k, arg[typed])->type)) typed++;
    for (int round = 0; round < (count > 2 ? 2 : 1); round++) /* what comes later may widen what
                                                                 came first */
        for (uint32_t i = 0; i < count; i++) {
            uint32_t *left = i < typed ? &arg[i] : &arg[typed],
                     *right = i < typed ? &arg[typed] : &arg[i];
            if (i != typed && !jk_unify(k, left, right, token, name, false)) return false;
        }
    return true;
}

/* A value that the lanes of a block make together: all of them come here, so it is evaluated
 * wherever the program comes by. */
static uint32_t of_block(jk_kernel *k, uint32_t token, uint8_t op, const uint32_t *arg,
                         bool exclusive) {
    uint32_t value = jk_settle(k, arg[0]), lane = arg[1];
    jk_type type = node_of(k, value)->type;
    if (type == JK_ERROR) return value;
    if (type >= HG_TYPE_COUNT || !hg_op_allows_type((hg_op)op, (hg_type)type)) {
        jk_error(k, "N06", token, type == JK_BOOL ? "a bool becomes a number with i32(…)" : NULL,
                 "%s of %s", hg_op_get((hg_op)op)->text, jk_type_name(type));
        return wrong(k, token);
    }
    if (op == HG_OP_SHUFFLE) {
        if (!jk_is_integer(node_of(k, lane)->type)) {
            jk_error(k, "N06", node_of(k, lane)->token, NULL,
                     "the number of a lane is an integer, got %s",
                     jk_type_name(node_of(k, lane)->type));
            return wrong(k, token);
        }
        if (node_of(k, lane)->type != HG_TYPE_U32) lane = jk_as(k, lane, HG_TYPE_U64);
        if (bad(k, lane)) return wrong(k, token);
    }
    uint32_t n = jk_add_node(k, op == HG_OP_SHUFFLE ? JK_BINARY : JK_UNARY, op, type, token, value,
                             lane, JK_NONE);
    node_of(k, n)->flags |= JK_MAY_FAULT;
    node_of(k, n)->bits = exclusive;
    return n;
}

static uint32_t finish_call(jk_kernel *k, uint32_t token, uint32_t extra) {
    uint32_t kind = extra & 255, op = extra >> 8 & 255, count = extra >> 16 & (EXCLUSIVE - 1),
             arg[3] = {JK_NONE, JK_NONE, JK_NONE};
    if (kind == F_LANE)
        return jk_add_node(k, JK_LANE, (uint8_t)op, op == 255 ? HG_TYPE_U64 : HG_TYPE_U32, token,
                           JK_NONE, JK_NONE, JK_NONE);
    if (kind == F_IDENTITY)
        return jk_add_node(k, JK_IDENTITY, (uint8_t)op, (jk_type)hg_idname_type((hg_idname)op),
                           token, JK_NONE, JK_NONE, JK_NONE);
    bool integers = true;
    for (uint32_t i = count; i-- > 0;) arg[i] = jk_pop(k);
    for (uint32_t i = 0; i < count; i++) {
        if (bad(k, arg[i])) return wrong(k, token);
        integers = integers && jk_is_integer(node_of(k, arg[i])->type);
    }
    if (kind == F_CONVERT) return convert(k, token, arg[0], (jk_type)op);
    if (kind == F_REAL && integers) /* functions of real numbers take integers as f32, not as each
                                       other's type first: signs stay */
        for (uint32_t i = 0; i < count; i++) arg[i] = jk_as(k, arg[i], HG_TYPE_F32);
    const char *name = hg_op_get((hg_op)op)->text;
    if (kind >= F_INTEGER && !integers) {
        jk_error(
            k, "N06", token, "it has operands of integer types", "%s of %s", name,
            jk_type_name(
                node_of(k, arg[jk_is_integer(node_of(k, arg[0])->type) ? count - 1 : 0])->type));
        return wrong(k, token);
    }
    if (kind == F_BLOCK || kind == F_SHUFFLE)
        return of_block(k, token, (uint8_t)op, arg, (extra >> 16 & EXCLUSIVE) != 0);
    if (kind == F_TURN) {
        arg[0] = jk_settle(k, arg[0]);
        arg[1] = jk_as(k, arg[1], HG_TYPE_U32);
        if (bad(k, arg[0]) || bad(k, arg[1])) return wrong(k, token);
        return jk_add_node(k, JK_BINARY, (uint8_t)op, node_of(k, arg[0])->type, token, arg[0],
                           arg[1], JK_NONE);
    }
    if (!unify_all(k, arg, count, token, name)) return wrong(k, token);
    arg[0] = jk_settle(k, arg[0]);
    jk_type type = node_of(k, arg[0])->type;
    if (type == JK_ERROR) return arg[0];
    if (op == HG_OP_ABS && !hg_type_is_signed((hg_type)type)) return arg[0];
    if (kind == F_COUNT) type = HG_TYPE_U32;
    return jk_add_node(k,
                       count == 1   ? JK_UNARY
                       : count == 2 ? JK_BINARY
                                    : JK_TERNARY,
                       (uint8_t)op, type, token, arg[0], arg[1], arg[2]);
}

static uint32_t finish_atomic(jk_kernel *k, uint32_t token, uint32_t array) {
    uint32_t value = jk_pop(k), index = jk_pop(k);
    uint8_t op = HG_OP_ATOM_ADD;
    jk_type named;
    size_t length;
    uint32_t name = hg_json_member(k->document, token, "function");
    const char *text = hg_json_decode(k->document, name, &k->arena, &length);
    if (text) find_atomic(text, length, &op, &named);
    jk_type type = k->name_table.all[array].type;
    if (bad(k, value) || bad(k, index)) return wrong(k, token);
    if (!jk_is_integer(node_of(k, index)->type) || !jk_is_number(node_of(k, value)->type)) {
        bool at_index = !jk_is_integer(node_of(k, index)->type);
        uint32_t node = at_index ? index : value;
        jk_error(k, "N06", node_of(k, node)->token, NULL, "%s is %s, got %s",
                 at_index ? "an index" : "the value of an atomic",
                 at_index ? "an integer" : "a number", jk_type_name(node_of(k, node)->type));
        return wrong(k, token);
    }
    index = jk_as(k, index, HG_TYPE_U64);
    value = jk_as(k, value, type);
    if (bad(k, index) || bad(k, value)) return wrong(k, token);
    uint32_t n = jk_add_node(k, JK_ATOMIC, op, type, token, array, index, value);
    node_of(k, n)->flags |= JK_MAY_FAULT;
    return n;
}

/* ---- operators ---- */

static const char *const OPERATORS[] = {
    "add", "sub", "mul", "div", "floor_div", "mod",    "lt",      "le",  "gt", "ge",
    "eq",  "ne",  "and", "or",  "bit_and",   "bit_or", "bit_xor", "shl", "shr"};
enum {
    OP_FLOOR_DIV = 4,
    OP_MOD = 5,
    OP_LT = 6,
    OP_EQ = 10,
    OP_AND = 12,
    OP_OR = 13,
    OP_BITS = 14,
    OP_SHL = 17
};

static void visit_binary(jk_kernel *k, uint32_t token) {
    uint32_t name = jk_string_field(k, token, "op"),
             left = jk_field(k, token, "left", "an expression"),
             right = jk_field(k, token, "right", "an expression");
    int op = name ? jk_word(k, name, OPERATORS, HG_COUNT_OF(OPERATORS)) : -1;
    char hint[256];
    if (name && op < 0) {
        bool unknown = hg_json_string_is(k->document, name, "unknown");
        jk_error(k, "N01", name,
                 jk_words_hint(k, name, OPERATORS, HG_COUNT_OF(OPERATORS), hint, sizeof hint),
                 "%s %s",
                 unknown ? "the producer has no name for this operator:" : "unknown operator",
                 jk_show(k, name).text);
    }
    if (op < 0 || !left || !right) {
        jk_push_value(k, wrong(k, token));
        return;
    }
    bool logic = op == OP_AND || op == OP_OR;
    jk_push(k, logic ? JK_TASK_LOGIC : JK_TASK_BINARY, token, (uint32_t)op);
    jk_push(k, JK_TASK_EXPRESSION, right, 0);
    if (logic) jk_push(k, JK_TASK_RIGHT, token, 0);
    jk_push(k, JK_TASK_EXPRESSION, left, 0);
}

/* A literal other than 0: nothing is divided by zero. */
static bool divides_safely(jk_kernel *k, uint32_t node) {
    const jk_node *n = node_of(k, node);
    return n->kind == JK_LITERAL && n->bits != 0;
}

/* Operations on the bits of integers; the amount of a shift is a u32. */
static uint32_t finish_bits(jk_kernel *k, uint32_t token, uint32_t op, uint32_t a, uint32_t b) {
    static const uint8_t ops[] = {HG_OP_AND, HG_OP_OR, HG_OP_XOR, HG_OP_SHL, HG_OP_SHR};
    if (bad(k, a) || bad(k, b)) return wrong(k, token);
    for (int i = 0; i < 2; i++)
        if (!jk_is_integer(node_of(k, i ? b : a)->type)) {
            bool truth = node_of(k, i ? b : a)->type == JK_BOOL;
            jk_error(k, "N06", token, truth ? "the logical operators are and, or and not" : NULL,
                     "%s of %s", OPERATORS[op], jk_type_name(node_of(k, i ? b : a)->type));
            return wrong(k, token);
        }
    if (op >= OP_SHL) {
        a = jk_settle(k, a);
        b = jk_as(k, b, HG_TYPE_U32);
        if (bad(k, a) || bad(k, b)) return wrong(k, token);
    } else if (!jk_unify(k, &a, &b, token, OPERATORS[op], false)) {
        return wrong(k, token);
    }
    return jk_add_node(k, JK_BINARY, ops[op - OP_BITS], node_of(k, a)->type, token, a, b, JK_NONE);
}

static uint32_t finish_binary(jk_kernel *k, uint32_t token, uint32_t op) {
    static const uint8_t ops[] = {HG_OP_ADD, HG_OP_SUB, HG_OP_MUL, HG_OP_DIV, HG_OP_DIV, HG_OP_REM};
    static const uint8_t conditions[] = {HG_COND_LT, HG_COND_LE, HG_COND_GT,
                                         HG_COND_GE, HG_COND_EQ, HG_COND_NE};
    uint32_t b = jk_pop(k), a = jk_pop(k);
    if (op >= OP_BITS) return finish_bits(k, token, op, a, b);
    bool same = op >= OP_EQ && node_of(k, a)->type == JK_POINTER &&
                node_of(k, b)->type == JK_POINTER;
    if (!same && !jk_unify(k, &a, &b, token, OPERATORS[op], op >= OP_EQ)) return wrong(k, token);
    jk_type type = node_of(k, a)->type;
    if (op >= OP_LT)
        return jk_add_node(k, JK_COMPARE, conditions[op - OP_LT], JK_BOOL, token, a, b, JK_NONE);
    bool integer = jk_is_integer(type);
    bool floors = op == OP_FLOOR_DIV && (!integer || hg_type_is_signed((hg_type)type));
    uint32_t n = jk_add_node(k, floors ? JK_FLOOR_DIV : JK_BINARY, ops[op], type, token, a, b,
                             JK_NONE);
    if (integer && op >= 3 && !divides_safely(k, b)) node_of(k, n)->flags |= JK_MAY_FAULT;
    return n;
}

/* Left is there, right begins. */
static void mark_right(jk_kernel *k, uint32_t token) {
    uint32_t left = jk_condition(k, jk_pop(k));
    jk_push_value(k, left);
    jk_push_value(k, jk_add_node(k, JK_RIGHT, 0, JK_ERROR, token, JK_NONE, left, JK_NONE));
}

static uint32_t finish_logic(jk_kernel *k, uint32_t token, uint32_t op) {
    uint32_t b = jk_condition(k, jk_pop(k)), mark = jk_pop(k), a = jk_pop(k);
    if (bad(k, a) || bad(k, b)) return wrong(k, token);
    uint32_t n = jk_add_node(k, op == OP_AND ? JK_AND : JK_OR, 0, JK_BOOL, token, a, b, mark);
    node_of(k, mark)->a = n;
    return n;
}

static const char *const UNARIES[] = {"pos", "neg", "not", "inv"};

static void visit_unary(jk_kernel *k, uint32_t token) {
    uint32_t name = jk_string_field(k, token, "op"),
             operand = jk_field(k, token, "operand", "an expression");
    int op = name ? jk_word(k, name, UNARIES, HG_COUNT_OF(UNARIES)) : -1;
    char hint[128];
    if (name && op < 0)
        jk_error(k, "N01", name,
                 jk_words_hint(k, name, UNARIES, HG_COUNT_OF(UNARIES), hint, sizeof hint),
                 "unknown operator %s", jk_show(k, name).text);
    if (op < 0 || !operand) {
        jk_push_value(k, wrong(k, token));
        return;
    }
    jk_push(k, JK_TASK_UNARY, token, (uint32_t)op);
    jk_push(k, JK_TASK_EXPRESSION, operand, 0);
}

static uint32_t finish_unary(jk_kernel *k, uint32_t token, uint32_t op) {
    uint32_t a = jk_pop(k);
    jk_type type = node_of(k, a)->type;
    if (type == JK_ERROR) return a;
    if (op == 2) {
        a = jk_condition(k, a);
        return bad(k, a) ? a : jk_add_node(k, JK_NOT, 0, JK_BOOL, token, a, JK_NONE, JK_NONE);
    }
    bool allowed = op == 3 ? jk_is_integer(type) : jk_is_number(type);
    if (!allowed) {
        jk_error(k, "N06", token, op == 3 && type == JK_BOOL ? "the logical operator is not" : NULL,
                 "%s of %s", UNARIES[op], jk_type_name(type));
        return wrong(k, token);
    }
    if (op == 0) return a;
    if (op == 1 && jk_is_literal(type)) {
        node_of(k, a)->flags ^= JK_NEGATIVE;
        return a;
    }
    a = jk_settle(k, a);
    if (bad(k, a)) return a;
    return jk_add_node(k, JK_UNARY, op == 1 ? HG_OP_NEG : HG_OP_NOT, node_of(k, a)->type, token, a,
                       JK_NONE, JK_NONE);
}

/* ---- elements ---- */

static void visit_index(jk_kernel *k, uint32_t token) {
    uint32_t array = jk_field(k, token, "array", "an array"),
             index = jk_field(k, token, "index", "an expression");
    uint32_t name = array ? jk_array(k, array) : JK_NONE;
    if (name == JK_NONE || !index) {
        jk_push_value(k, wrong(k, token));
        return;
    }
    k->name_table.all[name].access |= JK_LOADED;
    jk_push(k, JK_TASK_LOAD, token, name);
    jk_push(k, JK_TASK_EXPRESSION, index, 0);
}

uint32_t jk_index(jk_kernel *k, uint32_t node) {
    jk_type type = node_of(k, node)->type;
    if (type == JK_ERROR) return JK_NONE;
    if (!jk_is_integer(type)) {
        jk_error(k, "N06", node_of(k, node)->token, jk_is_float(type) ? "convert it: u64(…)" : NULL,
                 "an index is an integer, got %s", jk_type_name(type));
        return JK_NONE;
    }
    node = jk_as(k, node, HG_TYPE_U64);
    if (bad(k, node)) return JK_NONE;
    return node;
}

static uint32_t finish_load(jk_kernel *k, uint32_t token, uint32_t array) {
    uint32_t index = jk_index(k, jk_pop(k));
    if (index == JK_NONE) return wrong(k, token);
    uint32_t n = jk_add_node(k, JK_LOAD, 0, k->name_table.all[array].type, token, array, index,
                             JK_NONE);
    node_of(k, n)->flags |= JK_MAY_FAULT;
    return n;
}

/* ---- if_expr ---- */

static void visit_choose(jk_kernel *k, uint32_t token) {
    uint32_t condition = jk_field(k, token, "condition", "an expression"),
             then = jk_field(k, token, "then", "an expression"),
             other = jk_field(k, token, "else", "an expression");
    if (!condition || !then || !other) {
        jk_push_value(k, wrong(k, token));
        return;
    }
    jk_push(k, JK_TASK_CHOOSE, token, 0);
    jk_push(k, JK_TASK_EXPRESSION, other, 0);
    jk_push(k, JK_TASK_OTHERWISE, token, 0);
    jk_push(k, JK_TASK_EXPRESSION, then, 0);
    jk_push(k, JK_TASK_THEN, token, 0);
    jk_push(k, JK_TASK_EXPRESSION, condition, 0);
}

/* The first side is converted at its own mark: what stands behind it belongs to the second side. */
static uint32_t finish_choose(jk_kernel *k, uint32_t token) {
    uint32_t c = jk_pop(k), otherwise = jk_pop(k), mark = jk_pop(k), a = jk_pop(k),
             b = node_of(k, otherwise)->b;
    jk_type x = node_of(k, b)->type, y = node_of(k, c)->type;
    if (bad(k, a) || x == JK_ERROR || y == JK_ERROR) return wrong(k, token);
    jk_type common = jk_common_of_nodes(k, b, c);
    if (common == JK_ERROR) {
        jk_error(k, "N06", token, "convert one of them: f32(…), i32(…)",
                 "the sides of if_expr are %s and %s", jk_type_name(x), jk_type_name(y));
        return wrong(k, token);
    }
    if (jk_is_literal(x)) {
        b = jk_as(k, b, common);
        if (bad(k, b)) return wrong(k, token);
        node_of(k, otherwise)->b = b;
    }
    c = jk_as(k, c, common);
    if (bad(k, c)) return wrong(k, token);
    node_of(k, otherwise)->type = common;
    uint32_t n = jk_add_node(k, JK_CHOOSE, 0, common, token, a, otherwise, c);
    node_of(k, mark)->a = node_of(k, otherwise)->a = n;
    return n;
}

/* ---- dispatch ---- */

static uint32_t read_literal(jk_kernel *k, uint32_t token) {
    uint32_t value = jk_field(k, token, "value", "a number or a boolean");
    if (!value) return wrong(k, token);
    hg_json_kind kind = hg_json_kind_of(k->document, value);
    switch (kind) {
    case HG_JSON_TRUE:
    case HG_JSON_FALSE: {
        uint32_t n = jk_add_node(k, JK_LITERAL, 0, JK_BOOL, value, JK_NONE, JK_NONE, JK_NONE);
        node_of(k, n)->bits = kind == HG_JSON_TRUE;
        return n;
    }
    case HG_JSON_INTEGER:
    case HG_JSON_REAL:
        return jk_add_node(k, JK_LITERAL, 0, kind == HG_JSON_REAL ? JK_REAL : JK_WHOLE, value,
                           JK_NONE, JK_NONE, JK_NONE);
    default:
        jk_error(k, "N03", value, NULL, "expected a number or a boolean, got %s",
                 jk_show(k, value).text);
        return wrong(k, token);
    }
}

static void visit(jk_kernel *k, uint32_t token) {
    static const char *const kinds[] = {"var",  "literal",  "binary_op", "index",
                                        "call", "unary_op", "if_expr"};
    char hint[256];
    if (hg_json_kind_of(k->document, token) != HG_JSON_OBJECT) {
        jk_error(k, "N03", token,
                 hg_json_is_number(k->document, token)
                     ? "a literal is {\"type\":\"literal\",\"value\":…}"
                     : NULL,
                 "expected an expression, got %s", jk_show(k, token).text);
        jk_push_value(k, wrong(k, token));
        return;
    }
    uint32_t type = jk_string_field(k, token, "type"), name;
    static const char *const fields[] = {
        "type name",          "type value",      "type op left right",      "type array index",
        "type function args", "type op operand", "type condition then else"};
    int kind = type ? jk_word(k, type, kinds, HG_COUNT_OF(kinds)) : -1;
    if (kind >= 0 && !jk_only_fields(k, token, fields[kind])) {
        jk_push_value(k, wrong(k, token));
        return;
    }
    switch (kind) {
    case 0:
        name = jk_string_field(k, token, "name");
        jk_push_value(k, name ? read_name(k, token, name) : wrong(k, token));
        return;
    case 1: jk_push_value(k, read_literal(k, token)); return;
    case 2: visit_binary(k, token); return;
    case 3: visit_index(k, token); return;
    case 4: visit_call(k, token); return;
    case 5: visit_unary(k, token); return;
    case 6: visit_choose(k, token); return;
    default:
        if (type)
            jk_error(k, "N01", type,
                     jk_words_hint(k, type, kinds, HG_COUNT_OF(kinds), hint, sizeof hint),
                     "unknown expression %s", jk_show(k, type).text);
        jk_push_value(k, wrong(k, token));
    }
}

void jk_do_expression(jk_kernel *k, jk_task t) {
    switch (t.kind) {
    case JK_TASK_EXPRESSION: visit(k, t.token); break;
    case JK_TASK_BINARY: jk_push_value(k, finish_binary(k, t.token, t.extra)); break;
    case JK_TASK_LOGIC: jk_push_value(k, finish_logic(k, t.token, t.extra)); break;
    case JK_TASK_RIGHT: mark_right(k, t.token); break;
    case JK_TASK_UNARY: jk_push_value(k, finish_unary(k, t.token, t.extra)); break;
    case JK_TASK_LOAD: jk_push_value(k, finish_load(k, t.token, t.extra)); break;
    case JK_TASK_CALL: jk_push_value(k, finish_call(k, t.token, t.extra)); break;
    case JK_TASK_ATOMIC: jk_push_value(k, finish_atomic(k, t.token, t.extra)); break;
    case JK_TASK_THEN: {
        uint32_t condition = jk_condition(k, jk_pop(k));
        jk_push_value(k, condition);
        jk_push_value(k,
                      jk_add_node(k, JK_THEN, 0, JK_ERROR, t.token, JK_NONE, condition, JK_NONE));
        break;
    }
    case JK_TASK_OTHERWISE: {
        uint32_t then = jk_pop(k);
        jk_push_value(k,
                      jk_add_node(k, JK_OTHERWISE, 0, JK_ERROR, t.token, JK_NONE, then, JK_NONE));
        break;
    }
    case JK_TASK_CHOOSE: jk_push_value(k, finish_choose(k, t.token)); break;
    default: break;
    }
}
