/* Kernels without a body: the program follows from the name and the parameters (semantics 7.6
 * and 1.4). A name is taken apart at `_` and digits, and whole words count: matmul holds no mul,
 * cosh no cos. Those of whole arrays (whole.c) are looked for first.
 * Must not know: statements, expressions. */
#include "translators/json/named.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    uint8_t op;
} BINARIES[] = {{"add", HG_OP_ADD}, {"sub", HG_OP_SUB}, {"mul", HG_OP_MUL},
                {"div", HG_OP_DIV}, {"min", HG_OP_MIN}, {"max", HG_OP_MAX}},
  UNARIES[] = {{"sigmoid", HG_OP_SIGMOID}, {"tanh", HG_OP_TANH}, {"exp", HG_OP_EXP},
               {"log", HG_OP_LOG},         {"sin", HG_OP_SIN},   {"cos", HG_OP_COS},
               {"abs", HG_OP_ABS},         {"neg", HG_OP_NEG}};

/* HG_OP_NONE: none of the words. */
static hg_op binary_op(const jk_words *w) {
    for (size_t i = 0; i < HG_COUNT_OF(BINARIES); i++)
        if (jk_has_word(w, BINARIES[i].word)) return (hg_op)BINARIES[i].op;
    return HG_OP_NONE;
}
static hg_op unary_op(const jk_words *w) {
    for (size_t i = 0; i < HG_COUNT_OF(UNARIES); i++)
        if (jk_has_word(w, UNARIES[i].word)) return (hg_op)UNARIES[i].op;
    return HG_OP_NONE;
}

/* ---- the templates of semantics 1.4 ---- */

enum { OFFSET = 0, FIRST = 10, SECOND = 11, RESULT = 12, COUNT64 = 13, SHIFT = 250, LANE = 255 };

typedef struct shape { /* of a kernel by its parameters */
    jk_name *array[3];
    uint32_t arrays;
    jk_name *count, *scalar; /* the first integer; the first other scalar */
} shape;

/* Leaves where the lane has no element; r0 = its byte offset. */
static hg_label begin_lane(hg_builder *b, const shape *s, hg_type type) {
    hg_label end = hg_builder_label_named(b, "bounds_exit");
    uint64_t size = hg_type_size_bytes(type);
    uint8_t count = s->count ? s->count->reg : 0;
    if (s->count && s->count->type != HG_TYPE_U64) {
        hg_arg arg[] = {hg_arg_reg(COUNT64), hg_arg_reg(count)};
        hg_builder_add(b, hg_op_get(HG_OP_CVT)->opcode, HG_TYPE_U64, (hg_type)s->count->type, arg,
                       2);
        count = COUNT64;
    }
    if (s->count) {
        hg_arg compare[] = {hg_arg_name("geu"), hg_arg_pred(0), hg_arg_reg(LANE),
                            hg_arg_reg(count)};
        hg_arg branch[] = {hg_arg_pred(0), hg_arg_label(end)};
        hg_builder_add(b, hg_op_get(HG_OP_SET)->opcode, HG_TYPE_U64, HG_TYPE_COUNT, compare, 4);
        hg_builder_add(b, hg_op_get(HG_OP_BRA)->opcode, HG_TYPE_COUNT, HG_TYPE_COUNT, branch, 2);
    }
    hg_arg amount[] = {hg_arg_reg(SHIFT), hg_imm_u64(size == 8   ? 3
                                                     : size == 4 ? 2
                                                     : size == 2 ? 1
                                                                 : 0)};
    hg_builder_add(b, hg_op_get(HG_OP_MOV_IMM)->opcode, HG_TYPE_U32, HG_TYPE_COUNT, amount, 2);
    jk_add_op(b, HG_OP_SHL, HG_TYPE_U64, OFFSET, LANE, SHIFT);
    return end;
}

static void load(hg_builder *b, hg_type type, uint8_t d, jk_name *array, uint8_t offset) {
    hg_arg arg[] = {hg_arg_reg(d), hg_addr_buffer(array->reg, offset)};
    hg_builder_add(b, hg_op_get(HG_OP_LDG)->opcode, type, HG_TYPE_COUNT, arg, 2);
    array->access |= JK_LOADED;
}

static void store(hg_builder *b, hg_type type, jk_name *array, uint8_t s) {
    hg_arg arg[] = {hg_addr_buffer(array->reg, OFFSET), hg_arg_reg(s)};
    hg_builder_add(b, hg_op_get(HG_OP_STG)->opcode, type, HG_TYPE_COUNT, arg, 2);
    array->access |= JK_STORED;
}

static void end_lane(hg_builder *b, hg_label end) {
    hg_builder_place(b, end);
    hg_builder_add(b, hg_op_get(HG_OP_EXIT)->opcode, HG_TYPE_COUNT, HG_TYPE_COUNT, NULL, 0);
}

/* out = a op b, or op a; second: an array, or a scalar's register. */
static void element_wise(hg_builder *b, const shape *s, hg_op op, bool two) {
    hg_type type = jk_held(s->array[0]->type);
    bool scalar = two && s->arrays == 2;
    hg_label end = begin_lane(b, s, type);
    load(b, type, FIRST, s->array[0], OFFSET);
    if (two && !scalar) load(b, type, SECOND, s->array[1], OFFSET);
    jk_add_op(b, op, type, RESULT, FIRST, scalar ? s->scalar->reg : SECOND);
    store(b, type, s->array[s->arrays - 1], RESULT);
    end_lane(b, end);
}

static void copy(hg_builder *b, const shape *s) {
    hg_type type = jk_held(s->array[0]->type);
    hg_label end = begin_lane(b, s, type);
    load(b, type, FIRST, s->array[0], OFFSET);
    store(b, type, s->array[1], FIRST);
    end_lane(b, end);
}

/* relu: max(x, 0). */
static void rectify(hg_builder *b, const shape *s) {
    hg_type type = jk_held(s->array[0]->type);
    hg_label end = begin_lane(b, s, type);
    load(b, type, FIRST, s->array[0], OFFSET);
    uint8_t zero[8] = {0};
    hg_arg arg[] = {hg_arg_reg(SECOND), hg_imm_bits(zero)};
    hg_builder_add(b, hg_op_get(HG_OP_MOV_IMM)->opcode, type, HG_TYPE_COUNT, arg, 2);
    jk_add_op(b, HG_OP_MAX, type, RESULT, FIRST, SECOND);
    store(b, type, s->array[1], RESULT);
    end_lane(b, end);
}

/* out[i] = data[indices[i]]: the arrays in this order. */
static void gather(hg_builder *b, const shape *s) {
    hg_type type = jk_held(s->array[0]->type), index = jk_held(s->array[1]->type);
    uint64_t size = hg_type_size_bytes(type);
    hg_label end = begin_lane(b, s, index);
    load(b, index, FIRST, s->array[1], OFFSET);
    if (index != HG_TYPE_U64) {
        hg_arg arg[] = {hg_arg_reg(SECOND), hg_arg_reg(FIRST)};
        hg_builder_add(b, hg_op_get(HG_OP_CVT)->opcode, HG_TYPE_U64, index, arg, 2);
    }
    hg_arg amount[] = {hg_arg_reg(SHIFT), hg_imm_u64(size == 8   ? 3
                                                     : size == 4 ? 2
                                                     : size == 2 ? 1
                                                                 : 0)};
    hg_builder_add(b, hg_op_get(HG_OP_MOV_IMM)->opcode, HG_TYPE_U32, HG_TYPE_COUNT, amount, 2);
    jk_add_op(b, HG_OP_SHL, HG_TYPE_U64, SECOND, index == HG_TYPE_U64 ? FIRST : SECOND, SHIFT);
    load(b, type, RESULT, s->array[0], SECOND);
    jk_add_op(b, HG_OP_SHL, HG_TYPE_U64, OFFSET, LANE, SHIFT);
    store(b, type, s->array[2], RESULT);
    end_lane(b, end);
}

/* out[0] = sum of the input, by the fixed tree. */
static void reduce(hg_builder *b, const shape *s) {
    hg_type type = jk_held(s->array[0]->type);
    uint8_t count = s->count->reg;
    if (s->count->type != HG_TYPE_U64 && s->count->type != HG_TYPE_U32) {
        hg_arg arg[] = {hg_arg_reg(COUNT64), hg_arg_reg(count)};
        hg_builder_add(b, hg_op_get(HG_OP_CVT)->opcode, HG_TYPE_U64, (hg_type)s->count->type, arg,
                       2);
        count = COUNT64;
    }
    hg_arg arg[] = {hg_addr_buffer_start(s->array[1]->reg), hg_array(s->array[0]->reg),
                    hg_arg_name("sum"), hg_count_reg(count)};
    hg_builder_add(b, hg_op_get(HG_OP_PARALLEL_REDUCE_MEM)->opcode, type, HG_TYPE_COUNT, arg, 4);
    hg_builder_add(b, hg_op_get(HG_OP_EXIT)->opcode, HG_TYPE_COUNT, HG_TYPE_COUNT, NULL, 0);
    s->array[0]->access |= JK_LOADED;
    s->array[1]->access |= JK_STORED;
}

/* ---- which one ---- */

typedef enum form {
    BY_NOTHING,
    BY_GATHER,
    BY_COPY,
    BY_RELU,
    BY_SUM,
    BY_BINARY,
    BY_SCALAR,
    BY_UNARY
} form;

static uint32_t name_token(const jk_kernel *k) {
    return hg_json_member(k->document, hg_json_member(k->document, k->root, "kernel"), "name");
}

/* The order of the table of 7.6. */
static form choose(jk_kernel *k, const jk_words *w, const shape *s, hg_op *op) {
    hg_op two = binary_op(w), one = unary_op(w);
    *op = two;
    if (jk_has_word(w, "gather")) return BY_GATHER;
    if (jk_has_word(w, "reshape flatten squeeze unsqueeze slice transpose")) return BY_COPY;
    if (s->arrays == 3 && two != HG_OP_NONE) return BY_BINARY;
    if (jk_has_word(w, "relu")) return BY_RELU;
    if (jk_has_word(w, "sum dot")) return BY_SUM;
    if (s->arrays == 2 && jk_has_word(w, "scalar") && two != HG_OP_NONE) return BY_SCALAR;
    if (one != HG_OP_NONE && (s->arrays == 2 || two == HG_OP_NONE)) {
        *op = one;
        return BY_UNARY;
    }
    if (two != HG_OP_NONE) return BY_BINARY;
    jk_error(k, "N01", name_token(k), "give the kernel a body",
             "ERROR: Unknown complex operation: %.*s",
             (int)strlen(jk_show(k, name_token(k)).text) - 2, jk_show(k, name_token(k)).text + 1);
    return BY_NOTHING;
}

/* What the template needs of the parameters. False after an error. */
static bool fits(jk_kernel *k, form f, const shape *s, hg_op op) {
    static const uint32_t arrays[] = {0, 3, 2, 2, 2, 3, 2, 2};
    static const char *const what[] = {"",
                                       "data, indices, output",
                                       "input, output",
                                       "input, output",
                                       "input, output",
                                       "two inputs, output",
                                       "input, output",
                                       "input, output"};
    uint32_t params = hg_json_member(k->document, hg_json_member(k->document, k->root, "kernel"),
                                     "params");
    if (s->arrays != arrays[f]) {
        jk_error(k, "N04", params, what[f],
                 "a kernel of this name without a body has %u device arrays, not %u",
                 (unsigned)arrays[f], (unsigned)s->arrays);
        return false;
    }
    if (f == BY_SUM && !s->count) {
        jk_error(k, "N05", params,
                 "for example {\"name\":\"n\",\"type\":{\"kind\":\"scalar\",\"type\":\"u64\"}}",
                 "an integer parameter is missing: the number of elements");
        return false;
    }
    const jk_name *same[3] = {s->array[0], s->array[1], s->arrays == 3 ? s->array[2] : s->array[1]};
    if (f == BY_SCALAR) same[2] = s->scalar;
    if (!same[2]) {
        jk_error(k, "N05", params, NULL, "a scalar parameter is missing: the second operand");
        return false;
    }
    if (f == BY_GATHER) {
        same[1] = same[0];
        if (!jk_is_integer(s->array[1]->type)) {
            jk_error(k, "N06", s->array[1]->token, NULL, "indices are integers, got %s",
                     jk_type_name(s->array[1]->type));
            return false;
        }
    }
    for (int i = 1; i < 3; i++)
        if (same[i]->type != same[0]->type) {
            jk_error(k, "N06", same[i]->token, NULL, "expected %s, got %s",
                     jk_type_name(same[0]->type), jk_type_name(same[i]->type));
            return false;
        }
    bool number = same[0]->type != JK_BOOL || f == BY_COPY || f == BY_GATHER;
    if (!number || ((f == BY_UNARY || f == BY_BINARY || f == BY_SCALAR) &&
                    !hg_op_allows_type(op, (hg_type)same[0]->type))) {
        jk_error(k, "N06", same[0]->token, NULL, "%s of %s",
                 f == BY_RELU  ? "relu"
                 : f == BY_SUM ? "sum"
                               : hg_op_get(op)->text,
                 jk_type_name(same[0]->type));
        return false;
    }
    return true;
}

static shape shape_of(jk_kernel *k) {
    shape s = {.arrays = 0};
    for (uint32_t i = 0; i < k->name_table.params; i++) {
        jk_name *n = &k->name_table.all[i];
        if (n->kind == JK_ARRAY) {
            if (s.arrays < 3) s.array[s.arrays] = n;
            s.arrays++;
        } else if (n->reg == 4) {
            s.count = n;
        } else if (!s.scalar && n->type != JK_POINTER) {
            s.scalar = n;
        }
    }
    return s;
}

typedef struct lane_program {
    form form;
    hg_op op;
    shape shape;
} lane_program;

static void build(hg_builder *b, const void *what) {
    const lane_program *p = what;
    const shape *s = &p->shape;
    switch (p->form) {
    case BY_GATHER: gather(b, s); break;
    case BY_COPY: copy(b, s); break;
    case BY_RELU: rectify(b, s); break;
    case BY_SUM: reduce(b, s); break;
    case BY_BINARY:
    case BY_SCALAR: element_wise(b, s, p->op, true); break;
    case BY_UNARY: element_wise(b, s, p->op, false); break;
    case BY_NOTHING: break;
    }
}

hg_status jk_lower_by_name(jk_kernel *k, hg_program **program) {
    jk_words w = {.count = 0};
    size_t length;
    const char *name = hg_json_decode(k->document, name_token(k), &k->arena, &length);
    if (!name) return hg_fail_memory();
    jk_split_words(&w, name, length);
    if (jk_is_whole(&w)) return jk_lower_whole(k, &w, program);
    lane_program p = {.shape = shape_of(k)};
    p.form = choose(k, &w, &p.shape, &p.op);
    if (p.form == BY_NOTHING || !fits(k, p.form, &p.shape, p.op)) return jk_status(k);
    return jk_make_named(k, build, &p, program);
}

/* ---- one operation by its name ---- */

hg_status jk_write_operation(const char *operation, hg_type type, char name[JK_WORD_BYTES],
                             hg_text *document) {
    jk_words w = {.count = 0};
    jk_split_words(&w, operation, strlen(operation));
    bool two = binary_op(&w) != HG_OP_NONE,
         one = unary_op(&w) != HG_OP_NONE || jk_has_word(&w, "relu");
    if (w.count != 1 || strlen(operation) != strlen(w.word[0]) || (!one && !two)) {
        hg_status status = hg_fail(HG_ERROR_ISA, "ERROR: Unknown complex operation: %.200s",
                                   operation);
        memcpy(hg_error_record()->code, "N01", 4);
        return status;
    }
    static const char scalar[] = "{\"kind\":\"scalar\",\"type\":\"%s\"}";
    char element[64];
    memcpy(name, w.word[0], sizeof w.word[0]);
    snprintf(element, sizeof element, scalar, type < HG_TYPE_COUNT ? hg_type_name(type) : "");
    hg_text_addf(document,
                 "{\"version\":\"1.0\",\"kernel\":{\"name\":\"%s\",\"body\":[],\"params\":[",
                 w.word[0]);
    for (int i = two ? 0 : 1; i < 3; i++)
        hg_text_addf(document,
                     "{\"name\":\"%s\",\"type\":{\"kind\":\"device_array\",\"element_type\":%s}},",
                     i == 2 ? "out"
                     : !two ? "x"
                     : i    ? "b"
                            : "a",
                     element);
    hg_text_addf(document, "{\"name\":\"n\",\"type\":{\"kind\":\"scalar\",\"type\":\"u64\"}}]}}");
    return document->failed ? hg_fail_memory() : HG_OK;
}
