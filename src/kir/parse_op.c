/* Operations of kernel IR text. What an operation takes and gives is prim.def's; those that carry
 * more than arguments have a reader here.
 * Must not know: declarations. */
#include "isa/program.h"
#include "kir/reader.h"
#include "kir/step.h"
#include <string.h>

/* A line on its way to an operation. */
typedef struct line {
    kir_token name, place; /* %N, the operation */
    bool has_result, has_type;
    uint8_t type, known; /* of the result; known: what the operation's fields say, KIR_VOID: nothing
                          */
    kir_value fields;    /* of the operation: u, and the facts */
    kir_value *args[KIR_TEXT_MAX_ARGS];
    uint8_t count;
} line;

static bool add_arg(kir_reader *r, line *l) {
    if (l->count == KIR_TEXT_MAX_ARGS)
        return kir_error(r, &r->token, "more than %d arguments", KIR_TEXT_MAX_ARGS);
    return kir_read_value(r, &l->args[l->count]) && ++l->count;
}

/* %1, %2, … as long as there are values. */
static bool read_args(kir_reader *r, line *l) {
    if (r->token.kind != KIR_TOKEN_VALUE) return true;
    do
        if (!add_arg(r, l)) return false;
    while (kir_accept(r, ','));
    return true;
}

/* ---- memory operations ---- */

/* A value, or two halves as %1:%2. */
static bool read_halves(kir_reader *r, line *l) {
    if (!add_arg(r, l)) return false;
    if (!kir_accept(r, ':')) return true;
    l->fields.u.mem.split = 1;
    return add_arg(r, l);
}

/* [%1 + 16], [16], [] after the bracket. */
static bool read_index(kir_reader *r, line *l, uint8_t *has_index, int64_t *disp) {
    *has_index = r->token.kind == KIR_TOKEN_VALUE;
    if (*has_index && !read_halves(r, l)) return false;
    kir_token at = r->token;
    bool minus = kir_accept(r, '-'), plus = !minus && kir_accept(r, '+');
    uint64_t size = 0;
    if (minus || plus || (!*has_index && r->token.kind == KIR_TOKEN_NUMBER))
        if (!kir_read_number(r, UINT64_C(1) << 63, "a displacement", &size)) return false;
    if (!minus && size > INT64_MAX) return kir_error(r, &at, "a displacement is at most 2^63 - 1");
    *disp = minus ? (int64_t)(0 - size) : (int64_t)size;
    return kir_expect(r, ']', "']'");
}

static bool read_field(kir_reader *r, line *l) {
    static const char *const FIELDS[] = {"operand", "bytes", "wide", "split", "class", "atomic"};
    static const kir_words fields = {FIELDS, HG_COUNT_OF(FIELDS)};
    uint8_t which;
    uint64_t n;
    if (kir_accept_word(r, "high")) return kir_read_var(r, &l->fields.u.mem.high);
    if (!kir_read_choice(r, &fields, "operand, bytes, wide, split or high", &which) ||
        !kir_read_number(r, which == 2 ? UINT16_MAX : UINT8_MAX, "a number", &n))
        return false;
    uint8_t *const bytes[] = {
        &l->fields.u.mem.operand, &l->fields.u.mem.bytes,    NULL,
        &l->fields.u.mem.split,   &l->fields.u.mem.class_id, &l->fields.u.mem.atomic};
    if (bytes[which])
        *bytes[which] = (uint8_t)n;
    else
        l->fields.u.mem.bytes_wide = (uint16_t)n;
    return true;
}

enum { NOT_SAID_BYTES = 255, NOT_SAID_WIDE = UINT16_MAX };

static bool read_space(kir_reader *r, line *l) {
    uint64_t n;
    if (!kir_read_choice(r, &kir_space_words, "buffer, pool, shared, class or flat",
                         &l->fields.u.mem.space))
        return false;
    if (l->fields.u.mem.space == KIR_CLASS) {
        if (!kir_read_number(r, UINT8_MAX, "a class", &n)) return false;
        l->fields.u.mem.class_id = (uint8_t)n;
    }
    if (l->fields.u.mem.space == KIR_BUFFER && kir_accept(r, '.') &&
        !kir_read_choice(r, &kir_memory_words, "env, scratch, state, characters or uniforms",
                         &l->fields.u.mem.class_id))
        return false;
    l->fields.u.mem.slot = KIR_OPEN;
    if (kir_accept_word(r, "slot")) {
        if (!kir_read_number(r, INT16_MAX, "a slot", &n)) return false;
        l->fields.u.mem.slot = (int16_t)n;
    } else if (kir_accept_word(r, "address")) {
        l->fields.u.mem.slot = KIR_ADDRESS;
    }
    l->fields.u.mem.volatile_access = kir_accept_word(r, "volatile");
    l->fields.u.mem.uniform = kir_accept_word(r, "uniform");
    l->fields.u.mem.unchecked = kir_accept_word(r, "unchecked");
    return true;
}

static bool read_access(kir_reader *r, line *l) {
    kir_op op = (kir_op)l->fields.op;
    if (op == KIR_ATOMIC &&
        (!kir_expect(r, '.', "'.' and what the atomic does") ||
         !kir_read_choice(r, &kir_atomic_words, "what the atomic does", &l->fields.u.mem.atomic)))
        return false;
    l->fields.u.mem.bytes = NOT_SAID_BYTES;
    l->fields.u.mem.bytes_wide = NOT_SAID_WIDE;
    if (!read_space(r, l) || (r->token.kind == KIR_TOKEN_VALUE && !read_halves(r, l))) return false;
    if (!kir_expect(r, '[', "'[' and the place") ||
        !read_index(r, l, &l->fields.u.mem.has_index, &l->fields.u.mem.disp))
        return false;
    uint8_t first = l->count;
    while (kir_accept(r, ','))
        if (!add_arg(r, l)) return false;
    if (kir_accept(r, '{')) {
        do
            if (!read_field(r, l)) return false;
        while (kir_accept(r, ','));
        if (!kir_expect(r, '}', "',' or '}'")) return false;
    }
    uint8_t type = op != KIR_STORE    ? l->type
                   : first < l->count ? l->args[first]->type
                                      : (uint8_t)KIR_VOID;
    if (l->fields.u.mem.bytes == NOT_SAID_BYTES) l->fields.u.mem.bytes = kir_access_bytes(op, type);
    if (l->fields.u.mem.bytes_wide == NOT_SAID_WIDE)
        l->fields.u.mem.bytes_wide = kir_access_wide(r->module, op, type, l->fields.u.mem.bytes);
    return true;
}

/* ---- whole-array steps ---- */

/* A step's operands as they are read; in the order of the arguments they go to the module. */
typedef struct step_reader {
    kir_step_operand operands[HG_MAX_OPERANDS];
    uint32_t count;
    const hg_op_info *row;
    uint8_t last[KIR_STEP_KINDS]; /* number of the last operand of a kind */
} step_reader;

static kir_step_operand *add_operand(kir_reader *r, step_reader *s, const line *l,
                                     kir_step_kind kind) {
    if (s->count == HG_MAX_OPERANDS) {
        kir_error(r, &r->token, "more than %d operands", HG_MAX_OPERANDS);
        return NULL;
    }
    kir_step_operand *o = &s->operands[s->count++];
    *o = (kir_step_operand){.kind = (uint8_t)kind, .first_arg = l->count};
    return o;
}

/* "{operand 3}" where it is not the next one of its kind. */
static bool read_operand_number(kir_reader *r, step_reader *s, const line *l, kir_step_operand *o) {
    kir_token at = r->token;
    uint64_t n = kir_step_next(s->row, (kir_step_kind)o->kind, s->last[o->kind]);
    if (kir_accept(r, '{') &&
        (!kir_expect_word(r, "operand") ||
         !kir_read_number(r, s->row->operand_count, "a number", &n) || !kir_expect(r, '}', "'}'")))
        return false;
    if (n == 0) return kir_error(r, &at, "'%s' has no such operand", s->row->text);
    o->operand = s->last[o->kind] = (uint8_t)n;
    o->arg_count = (uint8_t)(l->count - o->first_arg);
    return true;
}

static bool read_step_array(kir_reader *r, line *l, step_reader *s) {
    static const char *const ACCESS[] = {"none", "read", "write", "update"};
    static const kir_words access = {ACCESS, HG_COUNT_OF(ACCESS)};
    kir_step_operand *o = add_operand(r, s, l, KIR_STEP_ARRAY);
    uint64_t n;
    if (!o ||
        !kir_read_choice(r, &kir_space_words, "buffer, pool, shared, class or flat", &o->space))
        return false;
    if (o->space == KIR_CLASS) {
        if (!kir_read_number(r, UINT8_MAX, "a class", &n)) return false;
        o->class_id = (uint8_t)n;
    }
    if (!kir_read_choice(r, &access, "read, write or update", &o->access)) return false;
    if (r->token.kind == KIR_TOKEN_VALUE && !add_arg(r, l)) return false;
    return kir_expect(r, '[', "'[' and the place") && read_index(r, l, &o->has_index, &o->disp) &&
           read_operand_number(r, s, l, o);
}

/* "count %1", "tuple (%1, %2)", "number 1" */
static bool read_step_operand(kir_reader *r, line *l, step_reader *s, kir_step_kind kind) {
    kir_step_operand *o = add_operand(r, s, l, kind);
    if (!o) return false;
    if (kind == KIR_STEP_NUMBER && !kir_read_number(r, UINT64_MAX, "a number", &o->value))
        return false;
    if (kind == KIR_STEP_TUPLE) {
        if (!kir_expect(r, '(', "'('") || !read_args(r, l) || !kir_expect(r, ')', "')'"))
            return false;
    } else if (kind != KIR_STEP_NUMBER && !add_arg(r, l)) {
        return false;
    }
    return read_operand_number(r, s, l, o);
}

static bool read_step_names(kir_reader *r, const line *l, step_reader *s) {
    hg_opname name;
    while (r->token.kind == KIR_TOKEN_WORD &&
           hg_opname_from_text(r->token.text, r->token.length, &name)) {
        kir_step_operand *o = add_operand(r, s, l, KIR_STEP_NAME);
        if (!o) return false;
        o->value = name;
        kir_next(r);
        if (!read_operand_number(r, s, l, o)) return false;
    }
    return true;
}

static bool keep_step(kir_reader *r, line *l, const step_reader *s) {
    kir_step *step = hg_arena_alloc(&r->module->arena,
                                    sizeof *step + s->count * sizeof *step->operands);
    if (!step) return kir_no_memory(r);
    for (int names = 0; names <= 1; names++) /* names have no arguments: behind the others, as in
                                                programs */
        for (uint32_t i = 0; i < s->count; i++)
            if ((s->operands[i].kind == KIR_STEP_NAME) == names) {
                step->operands[step->count] = s->operands[i];
                if (names) step->operands[step->count].first_arg = l->count;
                step->count++;
            }
    l->fields.u.step.info = step;
    return true;
}

/* "parallel_map.f32 relu buffer read %1 [], buffer write %2 [] count %3", "pool_alloc count %1" */
static bool read_step(kir_reader *r, line *l) {
    step_reader s = {.count = 0};
    uint8_t type = HG_TYPE_NOT_USED, kind;
    kir_token name = r->token;
    uint16_t fn;
    if (!kir_expect(r, KIR_TOKEN_WORD, "an instruction")) return false;
    if (!kir_fn_find(name.text, name.length, &fn) || fn >= HG_OP_COUNT)
        return kir_error(r, &name, "there is no instruction '%.*s'",
                         (int)(name.length < 80 ? name.length : 80), name.text);
    s.row = hg_op_get((hg_op)fn);
    bool typed = s.row->type_count != 0; /* of pools: no type */
    if (typed && (!kir_expect(r, '.', "'.' and a type") || !kir_read_hg_type(r, &type)))
        return false;
    l->fields.u.step.op = fn;
    l->fields.u.step.atlas_type = type;
    if (!read_step_names(r, l, &s)) return false;
    bool array = r->token.kind == KIR_TOKEN_WORD &&
                 kir_word_find(&kir_space_words, r->token.text, r->token.length) <
                     kir_space_words.count;
    while (array) {
        if (!read_step_array(r, l, &s)) return false;
        array = kir_accept(r, ',');
    }
    while (r->token.kind == KIR_TOKEN_WORD &&
           (kind = (uint8_t)kir_word_find(&kir_step_words, r->token.text, r->token.length)) <
               kir_step_words.count) {
        kir_next(r);
        if (!read_step_operand(r, l, &s, (kir_step_kind)kind)) return false;
    }
    return keep_step(r, l, &s);
}

/* ---- other fields ---- */

static bool read_const(kir_reader *r, line *l) {
    uint8_t bytes[HG_MAX_LITERAL_BYTES];
    if (!l->has_type)
        return kir_error(r, &l->place, "a constant needs its type: %%N: u32 = const 1");
    if (!kir_read_literal(r, l->type, bytes)) return false;
    uint64_t size = kir_type_bytes(l->type);
    if (size > 8) {
        uint8_t *copy = hg_arena_alloc(&r->module->arena, (size_t)size);
        if (!copy) return kir_no_memory(r);
        memcpy(copy, bytes, (size_t)size);
        l->fields.u.bytes = copy;
        return true;
    }
    for (uint64_t i = 0; i < size; i++) l->fields.u.imm |= (uint64_t)bytes[i] << (8 * i);
    return true;
}

static bool read_id(kir_reader *r, line *l) {
    hg_idname id;
    uint8_t own;
    if (kir_is_device_form(r->module)) {
        if (!kir_read_choice(r, &kir_device_id_words, "an id of the device form", &own))
            return false;
        l->fields.u.imm = own;
        l->known = HG_TYPE_U32;
    } else {
        if (r->token.kind != KIR_TOKEN_WORD ||
            !hg_idname_from_text(r->token.text, r->token.length, &id))
            return kir_expected(r, "an id");
        kir_next(r);
        l->fields.u.imm = (uint64_t)id;
        l->known = (uint8_t)hg_idname_type(id);
    }
    if (kir_accept_word(r, "high")) l->fields.u.imm |= KIR_ID_HIGH;
    return true;
}

static bool read_table(kir_reader *r, line *l) {
    kir_token name;
    if (!kir_read_name(r, "a table", &name)) return false;
    kir_table *t = kir_find_name(r, KIR_SCOPE_TABLES, &name);
    if (!t)
        return kir_error(r, &name, "there is no table '%.*s'",
                         (int)(name.length < 80 ? name.length : 80), name.text);
    l->fields.u.table = t;
    l->known = t->type;
    return true;
}

static bool read_call(kir_reader *r, line *l) {
    kir_token name;
    if (!kir_expect(r, '@', "'@'") || !kir_read_name(r, "a function", &name)) return false;
    kir_function *f = kir_find_name(r, KIR_SCOPE_FUNCTIONS, &name);
    if (!f)
        return kir_error(r, &name, "there is no function '%.*s'",
                         (int)(name.length < 80 ? name.length : 80), name.text);
    l->fields.u.call.function = f;
    l->known = f->result;
    if (!f->array_count) return true;
    l->fields.u.call.arrays = hg_arena_alloc(&r->module->arena, f->array_count * sizeof(kir_var *));
    if (!l->fields.u.call.arrays) return kir_no_memory(r);
    for (uint8_t i = 0; i < f->array_count; i++)
        if (!kir_expect(r, '&', "'&' and an array") ||
            !kir_read_var(r, &l->fields.u.call.arrays[i]))
            return false;
    return true;
}

static bool read_derived(kir_reader *r, line *l) {
    kir_token name = r->token;
    if (!kir_expect(r, KIR_TOKEN_WORD, "a function")) return false;
    if (!kir_fn_find(name.text, name.length, &l->fields.u.derived.fn))
        return kir_error(r, &name, "there is no function '%.*s'",
                         (int)(name.length < 80 ? name.length : 80), name.text);
    if (!kir_expect(r, '.', "'.' and a type") ||
        !kir_read_hg_type(r, &l->fields.u.derived.atlas_type))
        return false;
    l->known = kir_type_of((hg_type)l->fields.u.derived.atlas_type);
    return true;
}

static bool read_block(kir_reader *r, line *l) {
    kir_token name = r->token;
    if (!kir_expect(r, KIR_TOKEN_WORD, "an operation of a block")) return false;
    if (!kir_fn_find(name.text, name.length, &l->fields.u.block.op) ||
        l->fields.u.block.op >= HG_OP_COUNT ||
        !(hg_op_get((hg_op)l->fields.u.block.op)->flags & HG_F_BLOCK))
        return kir_error(r, &name, "'%.*s' is no operation of a block",
                         (int)(name.length < 80 ? name.length : 80), name.text);
    if (!kir_expect(r, '.', "'.' and a type") ||
        !kir_read_hg_type(r, &l->fields.u.block.atlas_type))
        return false;
    l->fields.u.block.exclusive = kir_accept_word(r, "exclusive");
    l->fields.u.block.whole = kir_accept_word(r, "whole");
    l->known = kir_type_of((hg_type)l->fields.u.block.atlas_type);
    return true;
}

/* F01, F02, … */
static bool read_fault_code(kir_reader *r, line *l) {
    const kir_token t = r->token;
    if (t.kind != KIR_TOKEN_WORD || t.length != 3 || t.text[0] != 'F' || t.text[1] < '0' ||
        t.text[1] > '9' || t.text[2] < '0' || t.text[2] > '9')
        return kir_expected(r, "a fault: F01 to F07");
    l->fields.u.fault.code = (uint8_t)((t.text[1] - '0') * 10 + t.text[2] - '0');
    kir_next(r);
    l->fields.u.fault.axis = kir_accept_word(r, "axis");
    return true;
}

static bool read_fault_fields(kir_reader *r, line *l) {
    uint64_t n;
    bool halves = l->count > 1 && l->args[1]->type == HG_TYPE_U32;
    l->fields.u.fault.values = (uint8_t)(l->count ? (l->count - 1) / (halves ? 2 : 1) : 0);
    if (r->token.kind == KIR_TOKEN_STRING && !kir_read_string(r, &l->fields.u.fault.message))
        return false;
    if (!kir_accept(r, '{')) return true;
    if (!kir_expect_word(r, "operand") || !kir_read_number(r, UINT8_MAX, "a number", &n))
        return false;
    l->fields.u.fault.operand = (uint8_t)n;
    return kir_expect(r, '}', "'}'");
}

static bool read_scope(kir_reader *r, line *l) {
    hg_scope scope;
    if (r->token.kind != KIR_TOKEN_WORD ||
        !hg_scope_from_text(r->token.text, r->token.length, &scope))
        return kir_expected(r, "a scope");
    l->fields.u.imm = (uint64_t)scope;
    kir_next(r);
    return true;
}

static bool read_trace(kir_reader *r, line *l) {
    uint8_t *const fields[] = {&l->fields.u.trace.what, &l->fields.u.trace.number,
                               &l->fields.u.trace.part, &l->fields.u.trace.atlas_type};
    for (size_t i = 0; i < HG_COUNT_OF(fields); i++) {
        uint64_t n;
        if (!kir_read_number(r, UINT8_MAX, "a number", &n)) return false;
        *fields[i] = (uint8_t)n;
    }
    return r->token.kind != '$' || kir_read_var(r, &l->fields.u.trace.own);
}

static bool read_index_of(kir_reader *r, line *l, uint64_t most) {
    if (!kir_read_number(r, most, "a number", &l->fields.u.imm)) return false;
    if (l->fields.op == KIR_INPUT && l->fields.u.imm < r->module->inputs.count)
        l->known = r->module->inputs.data[l->fields.u.imm].type;
    if (l->fields.op == KIR_PARAM && l->fields.u.imm < r->function->param_count)
        l->known = r->function->param_types[l->fields.u.imm];
    return true;
}

static bool read_named_var(kir_reader *r, line *l) {
    if (!kir_read_var(r, &l->fields.u.var)) return false;
    l->known = l->fields.u.var->type;
    return true;
}

/* What stands between the operation's name and its arguments. */
static bool read_detail(kir_reader *r, line *l) {
    switch ((kir_op)l->fields.op) {
    case KIR_CONST: return read_const(r, l);
    case KIR_INPUT:
    case KIR_PARAM:
    case KIR_BARRIER: return read_index_of(r, l, UINT32_MAX);
    case KIR_ID: return read_id(r, l);
    case KIR_FENCE: return read_scope(r, l);
    case KIR_TRACE: return read_trace(r, l);
    case KIR_VAR_GET:
    case KIR_VAR_SET:
    case KIR_ARRAY_GET:
    case KIR_ARRAY_SET: return read_named_var(r, l);
    case KIR_TABLE_GET: return read_table(r, l);
    case KIR_CALL: return read_call(r, l);
    case KIR_FAULT_IF: return read_fault_code(r, l);
    case KIR_DERIVED: return read_derived(r, l);
    case KIR_BLOCK: return read_block(r, l);
    case KIR_LOOP:
        l->fields.u.loop.bounded = kir_accept_word(r, "bounded");
        l->fields.u.loop.once = kir_accept_word(r, "once");
        l->fields.u.loop.rolled = kir_accept_word(r, "rolled");
        l->fields.u.loop.written_out = kir_accept_word(r, "written_out");
        return true;
    default: return true;
    }
}

/* ---- a line ---- */

/* After '|': " affine 4 0..1023". */
static bool read_facts(kir_reader *r, line *l) {
    uint64_t n;
    l->fields.umax = UINT64_MAX;
    if (!kir_accept(r, '|')) return true;
    if (r->token.kind == KIR_TOKEN_WORD &&
        !kir_read_choice(r, &kir_uniformity_words, "affine, row, block or uniform",
                         &l->fields.uniformity))
        return false;
    if (l->fields.uniformity == KIR_AFFINE) {
        bool minus = kir_accept(r, '-');
        if (!kir_read_number(r, (uint64_t)INT64_MAX + minus, "a distance", &n)) return false;
        l->fields.stride = minus ? (int64_t)(0 - n) : (int64_t)n;
    }
    if (r->token.kind != KIR_TOKEN_NUMBER) return true;
    return kir_read_number(r, UINT64_MAX, "a number", &l->fields.umin) &&
           kir_expect(r, '.', "'..'") && kir_expect(r, '.', "'..'") &&
           kir_read_number(r, UINT64_MAX, "a number", &l->fields.umax);
}

static bool read_result(kir_reader *r, line *l) {
    l->type = l->known = KIR_VOID;
    l->name = r->token;
    l->has_result = kir_accept(r, KIR_TOKEN_VALUE);
    if (!l->has_result) return true;
    l->has_type = kir_accept(r, ':');
    return (!l->has_type || kir_read_type(r, false, &l->type)) &&
           kir_expect(r, '=', l->has_type ? "'='" : "':' or '='");
}

/* The type of the result where the text does not say. */
static bool find_type(kir_reader *r, line *l) {
    uint8_t rule = kir_op_get((kir_op)l->fields.op)->result;
    const char *name = kir_op_name((kir_op)l->fields.op);
    if (!l->has_result) {
        if (rule == KIR_RESULT_NONE || l->fields.op == KIR_CALL || l->fields.op == KIR_STEP)
            return true;
        return kir_error(r, &l->place, "'%s' gives a value: %%N: TYPE = %s", name, name);
    }
    if (rule == KIR_RESULT_NONE) return kir_error(r, &l->place, "'%s' gives no value", name);
    if (l->has_type) return true;
    if (rule == KIR_RESULT_BOOL) l->type = KIR_BOOL;
    if (rule == KIR_RESULT_SAME && l->count) l->type = l->args[0]->type;
    if (rule == KIR_RESULT_GIVEN)
        l->type = kir_op_get((kir_op)l->fields.op)->class == KIR_CLASS_ANY && l->count > 1
                      ? l->args[1]->type
                      : l->known;
    return l->type != KIR_VOID ||
           kir_error(r, &l->name, "'%s' needs the type of its result: %%N: TYPE = %s", name, name);
}

bool kir_read_op(kir_reader *r, const char *what, kir_op *op) {
    for (uint32_t i = 0; i < KIR_OP_COUNT; i++) {
        if (!kir_accept_word(r, kir_op_name((kir_op)i))) continue;
        *op = (kir_op)i;
        return true;
    }
    return kir_expected(r, what);
}

static bool find_operation(kir_reader *r, line *l) {
    kir_op op = KIR_OP_COUNT;
    l->place = r->token;
    if (!kir_read_op(r, l->has_result ? "an operation" : "an operation, var, inst or '}'", &op))
        return false;
    l->fields.op = (uint8_t)op;
    return true;
}

/* '{' of an IF or LOOP. */
static bool open_region(kir_reader *r, kir_value *v) {
    if (++r->depth > KIR_TEXT_MAX_DEPTH)
        return kir_error(r, &r->token, "regions nested deeper than %d", KIR_TEXT_MAX_DEPTH);
    for (int i = 0; i < (v->op == KIR_IF ? 2 : 1); i++) {
        v->body[i] = hg_arena_alloc(&r->module->arena, sizeof *v->body[i]);
        if (!v->body[i]) return kir_no_memory(r);
        v->body[i]->owner = v;
    }
    r->b.region = v->body[0];
    return kir_expect(r, '{', "'{'");
}

static bool emit(kir_reader *r, const line *l) {
    kir_value *v = kir_emit(&r->b, (kir_op)l->fields.op, l->type, l->count, l->args);
    if (r->b.failed) return kir_no_memory(r);
    v->u = l->fields.u;
    v->uniformity = l->fields.uniformity;
    v->stride = l->fields.stride;
    v->umin = l->fields.umin;
    v->umax = l->fields.umax;
    if (l->has_result && !kir_define_name(r, kir_scope_values(r->function), &l->name, v))
        return false;
    return (v->op != KIR_IF && v->op != KIR_LOOP) || open_region(r, v);
}

bool kir_read_operation(kir_reader *r) {
    line l;
    memset(&l.fields, 0, sizeof l.fields);
    l.count = 0;
    l.has_type = false;
    if (!read_result(r, &l) || !find_operation(r, &l)) return false;
    kir_op op = (kir_op)l.fields.op;
    if (kir_op_has(op, KIR_F_ACCESS)) {
        if (!read_access(r, &l)) return false;
    } else if (op == KIR_STEP) {
        if (!read_step(r, &l)) return false;
    } else if (!read_detail(r, &l) || !read_args(r, &l) ||
               (op == KIR_FAULT_IF && !read_fault_fields(r, &l))) {
        return false;
    }
    uint8_t wanted = kir_op_get(op)->args;
    if (r->token.kind == KIR_TOKEN_VALUE) return kir_expected(r, "','");
    if (wanted != KIR_ARGS_ANY && wanted != l.count)
        return kir_error(r, &l.place, "'%s' takes %u arguments, got %u", kir_op_name(op),
                         (unsigned)wanted, (unsigned)l.count);
    return read_facts(r, &l) && find_type(r, &l) && emit(r, &l);
}
