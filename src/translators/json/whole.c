/* Kernels without a body whose names say what is done with whole arrays: products of matrices,
 * convolution, softmax, attention as the instruction of that name, pooling and concatenation as
 * programs of their lanes. A parameter with the name of an operand is that operand; an operand that
 * no parameter names is left out where it may be.
 * Must not know: statements, expressions. */
#include "translators/json/named.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_TEMPORARY = 200 }; /* no parameter has a register from here on */
/* Registers of counts, u64; the names of their parameters, and what they are without one: a number,
 * or another count's register and a mark. */
typedef struct size {
    uint8_t reg;
    const char *name;
    int otherwise; /* NEEDED, or a number, or AS + the register of another */
} size;
enum { NEEDED = -1, AS = 1000 };

enum {
    PLANES = FIRST_TEMPORARY,
    HEIGHT,
    WIDTH,
    KERNEL_H,
    KERNEL_W,
    STRIDE_H,
    STRIDE_W,
    POOL_SIZES_END
};
static const size POOL_SIZES[] = {{PLANES, "planes", 1},
                                  {HEIGHT, "height", 1},
                                  {WIDTH, "width", NEEDED},
                                  {KERNEL_H, "kernel_h", 1},
                                  {KERNEL_W, "kernel_w", NEEDED},
                                  {STRIDE_H, "stride_h", AS + KERNEL_H},
                                  {STRIDE_W, "stride_w", AS + KERNEL_W}};
enum { ROWS = FIRST_TEMPORARY, A_COLUMNS, B_COLUMNS, CONCAT_SIZES_END };
static const size CONCAT_SIZES[] = {
    {ROWS, "rows", 1}, {A_COLUMNS, "a_columns", NEEDED}, {B_COLUMNS, "b_columns", NEEDED}};

/* ---- operands by the names of parameters ---- */

enum { MOST_ITEMS = 3 }; /* of the tuples that parameters tell */
typedef struct whole {
    jk_kernel *kernel;
    const jk_words *words;
    hg_op op; /* HG_OP_NONE: pool or concat */
    hg_type type;
    jk_name *given[HG_MAX_OPERANDS][MOST_ITEMS]; /* the parameters of an operand; of a tuple one an
                                                    item */
    bool taken[HG_MAX_PARAMS];
    const size *sizes; /* of pool and concat */
    uint32_t size_count;
    bool vector; /* gemv: b and c have one column */
    bool failed;
} whole;

static const struct {
    const char *words;
    uint8_t op;
} INSTRUCTIONS[] = {{"matmul gemm gemv", HG_OP_GEMM},
                    {"softmax", HG_OP_SOFTMAX},
                    {"conv", HG_OP_CONV2D},
                    {"attention", HG_OP_ATTENTION}};

bool jk_is_whole(const jk_words *w) {
    for (size_t i = 0; i < HG_COUNT_OF(INSTRUCTIONS); i++)
        if (jk_has_word(w, INSTRUCTIONS[i].words)) return true;
    return jk_has_word(w, "concat pool");
}

/* A flag whose words are all in the kernel's name: from_start in causal_from_start_attention. */
static bool has_flag(const whole *w, const char *flag) {
    char word[32];
    for (size_t n; *flag; flag += n + (flag[n] == '_')) {
        n = strcspn(flag, "_");
        snprintf(word, sizeof word, "%.*s", (int)n, flag);
        if (!jk_has_word(w->words, word)) return false;
    }
    return true;
}

static uint32_t params_token(const jk_kernel *k) {
    return hg_json_member(k->document, hg_json_member(k->document, k->root, "kernel"), "params");
}

/* The parameter called name and then suffix; it is taken. */
static jk_name *take(whole *w, const char *name, const char *suffix) {
    char text[64];
    int length = snprintf(text, sizeof text, "%s%s", name, suffix);
    uint32_t at = jk_find_name(w->kernel, text, (size_t)length);
    if (at == JK_NONE || at >= w->kernel->name_table.params) return NULL;
    w->taken[at] = true;
    return &w->kernel->name_table.all[at];
}

/* The next array that has no operand's name. */
static jk_name *take_array(whole *w) {
    for (uint32_t i = 0; i < w->kernel->name_table.params; i++)
        if (!w->taken[i] && w->kernel->name_table.all[i].kind == JK_ARRAY) {
            w->taken[i] = true;
            return &w->kernel->name_table.all[i];
        }
    return NULL;
}

/* "the operands are c, a, …", those that a parameter can be. */
static const char *hint(const whole *w, char text[400]) {
    int at = snprintf(text, 400, "parameters are called");
    const hg_op_info *row = hg_op_get(w->op);
    for (uint32_t i = 0; w->op != HG_OP_NONE && i < row->operand_count && at < 360; i++) {
        const hg_operand_info *o = &row->operands[i];
        const char *const suffix = o->kind != HG_K_TUPLE ? "" : o->items == 2 ? "_h" : "_0";
        if (o->kind != HG_K_ARRAY && o->kind != HG_K_COUNT && o->kind != HG_K_TUPLE) continue;
        at += snprintf(text + at, (size_t)(400 - at), o->optional ? " [%s%s]" : " %s%s", o->name,
                       suffix);
    }
    for (uint32_t i = 0; w->op == HG_OP_NONE && i < w->size_count && at < 360; i++)
        at += snprintf(text + at, (size_t)(400 - at),
                       w->sizes[i].otherwise == NEEDED ? " %s" : " [%s]", w->sizes[i].name);
    return text;
}

static void missing(whole *w, const char *what, const char *name) {
    char text[400];
    if (!w->failed)
        jk_error(w->kernel, "N05", params_token(w->kernel), hint(w, text), "%s is missing: '%s'",
                 what, name);
    w->failed = true;
}

static void expect(whole *w, const jk_name *n, bool right, const char *what) {
    if (right || w->failed) return;
    jk_error(w->kernel, "N06", n->token, NULL, "expected %s, got %s%s", what,
             n->kind == JK_ARRAY ? "an array of " : "", jk_type_name(n->type));
    w->failed = true;
}

/* name_h and name_w of two; else name_0, name_1, …, or one name for all of two. */
static void take_tuple(whole *w, const hg_operand_info *o, jk_name *items[MOST_ITEMS]) {
    static const char *const suffixes[MOST_ITEMS] = {"_0", "_1", "_2"};
    uint32_t count = 0;
    if (o->items == 2) items[0] = take(w, o->name, "_h"), items[1] = take(w, o->name, "_w");
    if (!items[0] && !items[1])
        for (uint32_t i = 0; i < o->items; i++) items[i] = take(w, o->name, suffixes[i]);
    for (uint32_t i = 0; i < o->items; i++) count += items[i] != NULL;
    if (!count && o->items == 2) items[0] = items[1] = take(w, o->name, "");
    for (uint32_t i = 0; i < o->items; i++)
        if (items[i])
            expect(w, items[i], items[i]->kind == JK_SCALAR && jk_is_integer(items[i]->type),
                   "an integer");
    if (count && count < o->items)
        missing(w, o->items == 2 ? "the other half of a pair" : "a number of a tuple", o->name);
}

static void take_operand(whole *w, uint32_t index) {
    const hg_operand_info *o = &hg_op_get(w->op)->operands[index];
    jk_name **given = w->given[index];
    if (o->kind == HG_K_TUPLE) {
        take_tuple(w, o, given);
        return;
    }
    jk_name *n = *given = take(w, o->name, "");
    if (!n) return;
    switch (o->kind) {
    case HG_K_ARRAY: expect(w, n, n->kind == JK_ARRAY, "a device array"); break;
    case HG_K_COUNT:
        expect(w, n, n->kind == JK_SCALAR && jk_is_integer(n->type), "an integer");
        break;
    case HG_K_BOOL:
        expect(w, n, false, "a word in the kernel's name, as in causal_attention");
        break;
    case HG_K_OPNAME: expect(w, n, false, "a word in the kernel's name, as in gemm_relu"); break;
    default:
        expect(w, n, false, "a number of the program, not of a launch"); /* alpha, beta, scale:
                                                                            write assembly */
    }
}

/* Arrays without an operand's name are, in their order, the inputs that no name tells, and the last
 * one the output. */
static void take_arrays(whole *w) {
    const hg_op_info *row = hg_op_get(w->op);
    for (int write = 0; write < 2; write++)
        for (uint32_t i = 0; i < row->operand_count; i++) {
            const hg_operand_info *o = &row->operands[i];
            if (o->kind == HG_K_ARRAY && !o->optional && ((o->access & HG_WRITE) != 0) == write &&
                !w->given[i][0]) {
                w->given[i][0] = take_array(w);
                if (!w->given[i][0]) missing(w, "a device array", o->name);
            }
        }
}

/* Sizes that the name of the kernel or another size tells. */
static void take_sizes(whole *w) {
    const hg_op_info *row = hg_op_get(w->op);
    for (uint32_t i = 0; i < row->operand_count; i++) {
        const hg_operand_info *o = &row->operands[i];
        if (o->kind != HG_K_COUNT || w->given[i][0] || o->optional) continue;
        if (w->vector && strcmp(o->name, "n") == 0) continue;
        if (w->vector && strcmp(o->name, "k") == 0) { /* gemv of m rows and n columns */
            for (uint32_t n = 0; n < row->operand_count; n++)
                if (strcmp(row->operands[n].name, "n") == 0)
                    w->given[i][0] = w->given[n][0], w->given[n][0] = NULL;
        }
        if (!w->given[i][0]) missing(w, "an integer parameter", o->name);
    }
}

static void nothing_is_left(whole *w, const char *operation) {
    for (uint32_t i = 0; i < w->kernel->name_table.params && !w->failed; i++) {
        const jk_name *n = &w->kernel->name_table.all[i];
        if (w->taken[i]) continue;
        char text[400];
        jk_error(w->kernel, "N05", n->token, hint(w, text), "%s has no operand of this name",
                 operation);
        w->failed = true;
    }
}

/* The operand that a parameter is; NULL: none of the instruction. */
static const hg_operand_info *operand_of(const whole *w, const jk_name *n) {
    const hg_op_info *row = hg_op_get(w->op);
    for (uint32_t i = 0; w->op != HG_OP_NONE && i < row->operand_count; i++)
        if (w->given[i][0] == n) return &row->operands[i];
    return NULL;
}

/* All arrays have one type, but for those that have one of their own. */
static void check_types(whole *w, bool floats) {
    for (uint32_t i = 0; i < w->kernel->name_table.params; i++) {
        const jk_name *n = &w->kernel->name_table.all[i];
        if (n->kind != JK_ARRAY) continue;
        const hg_operand_info *o = operand_of(w, n);
        if (o && o->rule != HG_R_T) {
            hg_type own = hg_element_type(HG_TYPE_F32, HG_TYPE_COUNT, o);
            if (own == HG_TYPE_COUNT) own = has_flag(w, "wide") ? HG_TYPE_I64 : HG_TYPE_U32;
            expect(w, n, n->type == own, hg_type_name(own));
            continue;
        }
        bool fits = n->type < HG_TYPE_COUNT && (!floats || hg_type_is_float((hg_type)n->type));
        expect(w, n, fits, floats ? "an array of f32 or f64" : "an array of numbers");
        expect(w, n, n->type == w->type, hg_type_name(w->type));
    }
}

/* That of the first array without a type of its own. */
static void find_type(whole *w) {
    w->type = HG_TYPE_F32;
    for (uint32_t i = w->kernel->name_table.params; i--;) {
        const jk_name *n = &w->kernel->name_table.all[i];
        const hg_operand_info *o = operand_of(w, n);
        if (n->kind == JK_ARRAY && (!o || o->rule == HG_R_T)) w->type = jk_held(n->type);
    }
}

/* ---- the instruction ---- */

static void move(hg_builder *b, uint8_t d, uint8_t s) {
    jk_add_op(b, HG_OP_MOV, HG_TYPE_U64, d, s, s);
}

/* d = an integer parameter, as u64 */
static void widen(hg_builder *b, uint8_t d, const jk_name *n) {
    hg_arg arg[] = {hg_arg_reg(d), hg_arg_reg(n->reg)};
    if (n->type == HG_TYPE_U64)
        move(b, d, n->reg);
    else
        hg_builder_add(b, hg_op_get(HG_OP_CVT)->opcode, HG_TYPE_U64, (hg_type)n->type, arg, 2);
}

/* The register of a count, which is u32 or u64: other integers are converted. */
static uint8_t count_register(hg_builder *b, const jk_name *n, uint8_t *next) {
    if (n->type == HG_TYPE_U64 || n->type == HG_TYPE_U32) return n->reg;
    widen(b, *next, n);
    return (*next)++;
}

static const char *activation_of(const jk_words *w) {
    for (uint32_t i = 0; i < w->count; i++) {
        hg_opname name;
        if (hg_opname_from_text(w->word[i], strlen(w->word[i]), &name) &&
            hg_opname_fits(name, HG_R_MAP))
            return hg_opname_name(name);
    }
    return NULL;
}

static void add_instruction(hg_builder *b, const void *what) {
    const whole *w = what;
    const hg_op_info *row = hg_op_get(w->op);
    hg_arg arg[HG_MAX_OPERANDS], items[HG_MAX_OPERANDS][MOST_ITEMS];
    uint8_t next = FIRST_TEMPORARY;
    for (uint32_t i = 0; i < row->operand_count; i++) {
        const hg_operand_info *o = &row->operands[i];
        jk_name *const *given = w->given[i];
        arg[i] = hg_left_out();
        switch (o->kind) {
        case HG_K_ARRAY:
            if (!*given) break;
            arg[i] = hg_array((*given)->reg);
            (*given)->access |= o->access & HG_WRITE ? JK_STORED : JK_LOADED;
            break;
        case HG_K_COUNT:
            if (*given)
                arg[i] = hg_count_reg(count_register(b, *given, &next));
            else if (!o->optional)
                arg[i] = hg_count(1); /* gemv */
            break;
        case HG_K_TUPLE:
            for (uint32_t k = 0; k < o->items; k++) /* strides are 1 and paddings 0 where nothing is
                                                       said */
                items[i][k] = given[k] ? hg_count_reg(count_register(b, given[k], &next))
                                       : hg_count(strcmp(o->name, "stride") == 0);
            if (*given || !o->optional) arg[i] = hg_tuple_of(items[i], o->items);
            break;
        case HG_K_BOOL:
            if (has_flag(w, o->name)) arg[i] = hg_flag(true);
            break;
        case HG_K_OPNAME:
            if (activation_of(w->words)) arg[i] = hg_arg_name(activation_of(w->words));
            break;
        default: break;
        }
    }
    hg_builder_add(b, row->opcode, w->type, HG_TYPE_COUNT, arg, row->operand_count);
    hg_builder_add(b, hg_op_get(HG_OP_EXIT)->opcode, HG_TYPE_COUNT, HG_TYPE_COUNT, NULL, 0);
}

static hg_status lower_instruction(whole *w, hg_program **program) {
    const hg_op_info *row = hg_op_get(w->op);
    for (uint32_t i = 0; i < row->operand_count; i++) take_operand(w, i);
    take_arrays(w);
    find_type(w);
    take_sizes(w);
    nothing_is_left(w, row->text);
    check_types(w, true);
    return w->failed ? jk_status(w->kernel) : jk_make_named(w->kernel, add_instruction, w, program);
}

/* ---- pool and concat: each lane an element of the output ---- */

enum { LANE_REGISTER = 255 };
typedef struct lanes {
    whole *whole;
    uint32_t input_count;
    jk_name *given[8], *input[2], *output;
    bool mean;
} lanes;

static void op3(hg_builder *b, hg_op op, uint8_t d, uint8_t x, uint8_t y) {
    jk_add_op(b, op, HG_TYPE_U64, d, x, y);
}
static void number(hg_builder *b, uint8_t d, uint64_t value) {
    hg_arg arg[] = {hg_arg_reg(d), hg_imm_u64(value)};
    hg_builder_add(b, hg_op_get(HG_OP_MOV_IMM)->opcode, HG_TYPE_U64, HG_TYPE_COUNT, arg, 2);
}
static void jump(hg_builder *b, const char *condition, uint8_t x, uint8_t y, hg_label to) {
    hg_arg compare[] = {hg_arg_name(condition), hg_arg_pred(0), hg_arg_reg(x), hg_arg_reg(y)};
    hg_arg branch[] = {hg_arg_pred(0), hg_arg_label(to)};
    hg_builder_add(b, hg_op_get(HG_OP_SET)->opcode, HG_TYPE_U64, HG_TYPE_COUNT, compare, 4);
    hg_builder_add(b, hg_op_get(HG_OP_BRA)->opcode, HG_TYPE_COUNT, HG_TYPE_COUNT, branch, 2);
}
static hg_arg element(const lanes *l, const jk_name *array, uint8_t index) {
    return hg_addr_scale(hg_addr_index(hg_addr_buffer_start(array->reg), index),
                         (uint16_t)hg_type_size_bytes(l->whole->type));
}
static void load(hg_builder *b, const lanes *l, uint8_t d, const jk_name *array, uint8_t index) {
    hg_arg arg[] = {hg_arg_reg(d), element(l, array, index)};
    hg_builder_add(b, hg_op_get(HG_OP_LDG)->opcode, l->whole->type, HG_TYPE_COUNT, arg, 2);
}
static void store(hg_builder *b, const lanes *l, const jk_name *array, uint8_t index, uint8_t s) {
    hg_arg arg[] = {element(l, array, index), hg_arg_reg(s)};
    hg_builder_add(b, hg_op_get(HG_OP_STG)->opcode, l->whole->type, HG_TYPE_COUNT, arg, 2);
}

static void add_sizes(hg_builder *b, const lanes *l) {
    for (uint32_t i = 0; i < l->whole->size_count; i++) {
        const size *s = &l->whole->sizes[i];
        if (l->given[i]) {
            widen(b, s->reg, l->given[i]);
        } else if (s->otherwise >= AS) {
            move(b, s->reg, (uint8_t)(s->otherwise - AS));
        } else {
            number(b, s->reg, (uint64_t)s->otherwise);
        }
    }
}

static void end_lanes(hg_builder *b, hg_label end) {
    hg_builder_place(b, end);
    hg_builder_add(b, hg_op_get(HG_OP_EXIT)->opcode, HG_TYPE_COUNT, HG_TYPE_COUNT, NULL, 0);
}

static void add_concat(hg_builder *b, const void *what) {
    const lanes *l = what;
    enum { COLUMNS = CONCAT_SIZES_END, COUNT, ROW, COLUMN, INDEX, VALUE };
    hg_label end = hg_builder_label_named(b, "bounds_exit"),
             second = hg_builder_label_named(b, "second"),
             done = hg_builder_label_named(b, "write");
    add_sizes(b, l);
    op3(b, HG_OP_ADD, COLUMNS, A_COLUMNS, B_COLUMNS);
    op3(b, HG_OP_MUL, COUNT, ROWS, COLUMNS);
    jump(b, "geu", LANE_REGISTER, COUNT, end);
    op3(b, HG_OP_DIV, ROW, LANE_REGISTER, COLUMNS);
    op3(b, HG_OP_REM, COLUMN, LANE_REGISTER, COLUMNS);
    jump(b, "geu", COLUMN, A_COLUMNS, second);
    op3(b, HG_OP_MUL, INDEX, ROW, A_COLUMNS);
    op3(b, HG_OP_ADD, INDEX, INDEX, COLUMN);
    load(b, l, VALUE, l->input[0], INDEX);
    hg_arg always[] = {hg_arg_make(HG_ARG_NO_PRED, 0, 0), hg_arg_label(done)};
    hg_builder_add(b, hg_op_get(HG_OP_BRA)->opcode, HG_TYPE_COUNT, HG_TYPE_COUNT, always, 2);
    hg_builder_place(b, second);
    op3(b, HG_OP_SUB, COLUMN, COLUMN, A_COLUMNS);
    op3(b, HG_OP_MUL, INDEX, ROW, B_COLUMNS);
    op3(b, HG_OP_ADD, INDEX, INDEX, COLUMN);
    load(b, l, VALUE, l->input[1], INDEX);
    hg_builder_place(b, done);
    store(b, l, l->output, LANE_REGISTER, VALUE);
    end_lanes(b, end);
}

static void add_pool(hg_builder *b, const void *what) {
    const lanes *l = what;
    enum {
        OUT_H = POOL_SIZES_END,
        OUT_W,
        COUNT,
        ROW,
        COLUMN,
        BASE,
        ROUND,
        INDEX,
        LAST,
        ONE,
        ELEMENTS,
        VALUE,
        RESULT
    };
    hg_type type = l->whole->type;
    hg_label end = hg_builder_label_named(b, "bounds_exit"),
             next_row = hg_builder_label_named(b, "next_row");
    hg_label next = hg_builder_label_named(b, "next_element");
    add_sizes(b, l);
    jump(b, "ltu", HEIGHT, KERNEL_H, end);
    jump(b, "ltu", WIDTH, KERNEL_W, end);
    number(b, ONE, 1);
    op3(b, HG_OP_SUB, OUT_H, HEIGHT, KERNEL_H);
    op3(b, HG_OP_DIV, OUT_H, OUT_H, STRIDE_H);
    op3(b, HG_OP_ADD, OUT_H, OUT_H, ONE);
    op3(b, HG_OP_SUB, OUT_W, WIDTH, KERNEL_W);
    op3(b, HG_OP_DIV, OUT_W, OUT_W, STRIDE_W);
    op3(b, HG_OP_ADD, OUT_W, OUT_W, ONE);
    op3(b, HG_OP_MUL, COUNT, PLANES, OUT_H);
    op3(b, HG_OP_MUL, COUNT, COUNT, OUT_W);
    jump(b, "geu", LANE_REGISTER, COUNT, end);
    /* the first element of the window: ((plane height + row stride_h) width + column stride_w */
    op3(b, HG_OP_REM, COLUMN, LANE_REGISTER, OUT_W);
    op3(b, HG_OP_DIV, BASE, LANE_REGISTER, OUT_W);
    op3(b, HG_OP_REM, ROW, BASE, OUT_H);
    op3(b, HG_OP_DIV, BASE, BASE, OUT_H);
    op3(b, HG_OP_MUL, BASE, BASE, HEIGHT);
    op3(b, HG_OP_MUL, ROW, ROW, STRIDE_H);
    op3(b, HG_OP_ADD, BASE, BASE, ROW);
    op3(b, HG_OP_MUL, BASE, BASE, WIDTH);
    op3(b, HG_OP_MUL, COLUMN, COLUMN, STRIDE_W);
    op3(b, HG_OP_ADD, BASE, BASE, COLUMN);
    op3(b, HG_OP_MUL, ELEMENTS, KERNEL_H, KERNEL_W);
    if (l->mean) {
        hg_arg zero[] = {hg_arg_reg(RESULT), hg_imm_f64(0)};
        hg_builder_add(b, hg_op_get(HG_OP_MOV_IMM)->opcode, type, HG_TYPE_COUNT, zero, 2);
    } else {
        load(b, l, RESULT, l->input[0], BASE);
    }
    number(b, ROUND, 0);
    jump(b, "eq", ELEMENTS, ROUND, end);
    hg_builder_place(b, next_row);
    op3(b, HG_OP_ADD, LAST, BASE, KERNEL_W);
    move(b, INDEX, BASE);
    hg_builder_place(b, next);
    load(b, l, VALUE, l->input[0], INDEX);
    jk_add_op(b, l->mean ? HG_OP_ADD : HG_OP_MAX, type, RESULT, RESULT, VALUE);
    op3(b, HG_OP_ADD, INDEX, INDEX, ONE);
    jump(b, "ltu", INDEX, LAST, next);
    op3(b, HG_OP_ADD, BASE, BASE, WIDTH);
    op3(b, HG_OP_ADD, ROUND, ROUND, ONE);
    jump(b, "ltu", ROUND, KERNEL_H, next_row);
    if (l->mean) {
        hg_arg convert[] = {hg_arg_reg(VALUE), hg_arg_reg(ELEMENTS)};
        hg_builder_add(b, hg_op_get(HG_OP_CVT)->opcode, type, HG_TYPE_U64, convert, 2);
        jk_add_op(b, HG_OP_DIV, type, RESULT, RESULT, VALUE);
    }
    store(b, l, l->output, LANE_REGISTER, RESULT);
    end_lanes(b, end);
}

/* Arrays by the names input, or a and b, and output; others in their order. */
static void take_lane_arrays(lanes *l) {
    static const char *const names[] = {"a", "b"};
    whole *w = l->whole;
    for (uint32_t i = 0; i < l->input_count; i++)
        l->input[i] = take(w, l->input_count == 1 ? "input" : names[i], "");
    l->output = take(w, "output", "");
    for (uint32_t i = 0; i < l->input_count; i++)
        if (!l->input[i]) l->input[i] = take_array(w);
    if (!l->output) l->output = take_array(w);
    for (uint32_t i = 0; i < l->input_count; i++) {
        if (!l->input[i])
            missing(w, "a device array", l->input_count == 1 ? "input" : names[i]);
        else
            l->input[i]->access |= JK_LOADED;
    }
    if (!l->output)
        missing(w, "a device array", "output");
    else
        l->output->access |= JK_STORED;
}

static hg_status lower_lanes(whole *w, bool pool, hg_program **program) {
    lanes l = {
        .whole = w, .input_count = pool ? 1 : 2, .mean = jk_has_word(w->words, "avg average mean")};
    w->sizes = pool ? POOL_SIZES : CONCAT_SIZES;
    w->size_count = pool ? HG_COUNT_OF(POOL_SIZES) : HG_COUNT_OF(CONCAT_SIZES);
    for (uint32_t i = 0; i < w->size_count; i++) {
        l.given[i] = take(w, w->sizes[i].name, "");
        if (l.given[i])
            expect(w, l.given[i], l.given[i]->kind == JK_SCALAR && jk_is_integer(l.given[i]->type),
                   "an integer");
        else if (w->sizes[i].otherwise == NEEDED)
            missing(w, "an integer parameter", w->sizes[i].name);
    }
    take_lane_arrays(&l);
    nothing_is_left(w, pool ? "pool" : "concat");
    check_types(w, pool && l.mean);
    return w->failed ? jk_status(w->kernel)
                     : jk_make_named(w->kernel, pool ? add_pool : add_concat, &l, program);
}

/* ---- which one ---- */

hg_status jk_lower_whole(jk_kernel *k, const jk_words *words, hg_program **program) {
    whole w = {.kernel = k, .words = words, .op = HG_OP_NONE, .vector = jk_has_word(words, "gemv")};
    for (uint32_t i = 0; i < k->name_table.params; i++)
        if (k->name_table.all[i].reg >= FIRST_TEMPORARY) {
            jk_error(k, "S05", k->name_table.all[i].token, NULL,
                     "a kernel of this name without a body has at most %d parameters",
                     FIRST_TEMPORARY - 5);
            return jk_status(k);
        }
    for (size_t i = 0; i < HG_COUNT_OF(INSTRUCTIONS) && w.op == HG_OP_NONE; i++)
        if (jk_has_word(words, INSTRUCTIONS[i].words)) w.op = (hg_op)INSTRUCTIONS[i].op;
    if (w.op == HG_OP_NONE) find_type(&w);
    if (w.op == HG_OP_NONE) return lower_lanes(&w, jk_has_word(words, "pool"), program);
    return lower_instruction(&w, program);
}
