/* Operations of the vector form's text. Must not know: declarations, functions. */
#include "isa/program.h"
#include "vector/parse_internal.h"

#include <stdio.h>
#include <string.h>

/* A line on its way to an operation. */
typedef struct line {
    kir_token name, place; /* %N, the operation */
    uint32_t number;
    bool has_result;
    vec_value v; /* its fields */
    vec_value *args[VEC_TEXT_MAX_ARGS];
    vec_var *losing[UINT8_MAX];
} line;

/* ---- values ---- */

static bool is_value(const vec_reader *s) {
    const kir_reader *r = &s->r;
    if (r->token.kind == KIR_TOKEN_VALUE) return true;
    return r->token.kind == '$' && r->at < r->length && r->text[r->at] >= '0' &&
           r->text[r->at] <= '9';
}

/* %3 is each, $3 one. */
static bool read_value_name(vec_reader *s, kir_token *at, bool *each, uint32_t *number) {
    kir_reader *r = &s->r;
    uint64_t n = 0;
    *number = 0;
    *at = r->token;
    *each = r->token.kind == KIR_TOKEN_VALUE;
    if (!is_value(s)) return kir_expected(r, "a value");
    if (!*each) kir_next(r);
    const kir_token digits = r->token;
    bool good = digits.length > 0 && digits.length < 9;
    for (uint32_t i = 0; i < digits.length && good; i++) {
        good = digits.text[i] >= '0' && digits.text[i] <= '9';
        n = n * 10 + (uint64_t)(digits.text[i] - '0');
    }
    if (!good) return kir_error(r, at, "a value is %% or $ and a number");
    *number = (uint32_t)n;
    kir_next(r);
    return true;
}

static bool read_value(vec_reader *s, vec_value **value) {
    kir_token at;
    bool each;
    uint32_t number;
    if (!read_value_name(s, &at, &each, &number)) return false;
    *value = number < s->values.count ? s->values.data[number] : NULL;
    if (*value && (*value)->each == each) return true;
    return kir_error(&s->r, &at, "there is no value '%s%u' before this one", each ? "%" : "$",
                     (unsigned)number);
}

static bool define(vec_reader *s, const line *l, vec_value *v) {
    enum { MOST_NUMBER = 1 << 20 };
    if (l->number >= MOST_NUMBER)
        return kir_error(&s->r, &l->name, "a value's number: %u, at most %d", (unsigned)l->number,
                         MOST_NUMBER - 1);
    while (s->values.count <= l->number) {
        vec_value **slot = hg_vec_push(&s->values);
        if (!slot) return kir_no_memory(&s->r);
        *slot = NULL;
    }
    if (s->values.data[l->number])
        return kir_error(&s->r, &l->name, "a value of number %u is there already",
                         (unsigned)l->number);
    s->values.data[l->number] = v;
    return true;
}

static bool add_arg(vec_reader *s, line *l) {
    if (l->v.nargs == VEC_TEXT_MAX_ARGS)
        return kir_error(&s->r, &s->r.token, "more than %d arguments", VEC_TEXT_MAX_ARGS);
    return read_value(s, &l->args[l->v.nargs]) && ++l->v.nargs;
}

static bool read_args(vec_reader *s, line *l) {
    if (!is_value(s)) return true;
    do
        if (!add_arg(s, l)) return false;
    while (kir_accept(&s->r, ','));
    return true;
}

/* ---- fields ---- */

static bool read_signed(kir_reader *r, const char *what, int64_t *n) {
    uint64_t size;
    bool minus = kir_accept(r, '-');
    if (!kir_read_number(r, minus ? UINT64_C(1) << 63 : INT64_MAX, what, &size)) return false;
    *n = minus ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}

/* "buffer 0", "class 3", "flat open %4", then "row", then "[$2 + 8]". */
static bool read_place(vec_reader *s, line *l) {
    kir_reader *r = &s->r;
    uint64_t n;
    if (!kir_read_choice(r, &kir_space_words, "buffer, pool, shared, class or flat",
                         &l->v.u.mem.space))
        return false;
    l->v.u.mem.pool = l->v.u.mem.space == KIR_POOL;
    if (l->v.u.mem.space == KIR_CLASS) {
        if (!kir_read_number(r, UINT8_MAX, "a class", &n)) return false;
        l->v.u.mem.class_id = (uint8_t)n;
    }
    l->v.u.mem.open = kir_accept_word(r, "open");
    if (l->v.u.mem.open) {
        if (!add_arg(s, l)) return false;
    } else if (l->v.u.mem.space == KIR_BUFFER || l->v.u.mem.space == KIR_POOL) {
        if (!kir_read_number(r, UINT32_MAX, "a slot", &n)) return false;
        l->v.u.mem.slot = (uint32_t)n;
    }
    if (!kir_read_choice(r, &vec_reach_words, "one, row, stride or each", &l->v.u.mem.reach))
        return false;
    if (l->v.u.mem.reach == VEC_REACH_STRIDE && !read_signed(r, "a distance", &l->v.u.mem.stride))
        return false;
    if (!kir_expect(r, '[', "'['")) return false;
    l->v.u.mem.has_index = is_value(s);
    if (l->v.u.mem.has_index && !add_arg(s, l)) return false;
    if ((!l->v.u.mem.has_index || kir_accept(r, '+')) &&
        !read_signed(r, "a distance", &l->v.u.mem.disp))
        return false;
    if (!kir_expect(r, ']', "']'")) return false;
    while (kir_accept(r, ','))
        if (!add_arg(s, l)) return false;
    return true;
}

static bool read_brace(vec_reader *s, line *l, bool *has_bytes, bool *has_size, bool *has_values) {
    static const char *const FIELDS[] = {"bytes",   "size",   "operand", "end",
                                         "answers", "values", "stretch", "streams"};
    static const kir_words fields = {FIELDS, HG_COUNT_OF(FIELDS)};
    static const uint64_t most[] = {8,         UINT16_MAX, UINT8_MAX,        UINT64_MAX,
                                    UINT8_MAX, 8,          VEC_MOST_STRETCH, UINT32_MAX};
    kir_reader *r = &s->r;
    bool place = vec_op_has((vec_op)l->v.op, VEC_F_PLACE);
    uint8_t which;
    uint64_t n;
    for (size_t i = 0; i < VEC_MEM_FLAGS && place; i++)
        if (kir_accept_word(r, vec_mem_flag_words.words[i])) return *vec_mem_flag(&l->v, i) = true;
    if (!kir_read_choice(r, &fields, "a field of the operation", &which) ||
        !kir_read_number(r, most[which], "a number", &n))
        return false;
    if (!place) {
        if (which == 5) l->v.u.fault.values = (uint8_t)n;
        if (which == 2) l->v.u.fault.operand = (uint8_t)n;
        *has_values |= which == 5;
        return true;
    }
    if (which == 0) l->v.u.mem.bytes = (uint8_t)n;
    if (which == 1) l->v.u.mem.size = (uint16_t)n;
    if (which == 2) l->v.u.mem.operand = (uint8_t)n;
    if (which == 3) l->v.u.mem.end = n;
    if (which == 4) l->v.u.mem.may.answers = (uint8_t)n;
    if (which == 6) l->v.u.mem.may.stretch = (uint8_t)n;
    if (which == 7) l->v.u.mem.may.streams = (uint32_t)n;
    *has_bytes |= which == 0;
    *has_size |= which == 1;
    return true;
}

static bool read_braces(vec_reader *s, line *l) {
    kir_reader *r = &s->r;
    bool bytes = false, size = false, values = false;
    if (kir_accept(r, '{')) {
        do
            if (!read_brace(s, l, &bytes, &size, &values)) return false;
        while (kir_accept(r, ','));
        if (!kir_expect(r, '}', "',' or '}'")) return false;
    }
    if (l->v.op == VEC_FAULT_IF) {
        if (!values) l->v.u.fault.values = l->v.nargs ? (uint8_t)(l->v.nargs - 1) : 0;
        return true;
    }
    l->v.args = l->args;
    if (!bytes) l->v.u.mem.bytes = vec_text_bytes(&l->v);
    if (!size) l->v.u.mem.size = l->v.u.mem.bytes;
    if (l->v.u.mem.reach == VEC_REACH_ROW) l->v.u.mem.stride = l->v.u.mem.bytes;
    return true;
}

static bool read_fault(vec_reader *s, line *l) {
    kir_reader *r = &s->r;
    const kir_token at = r->token;
    if (at.kind != KIR_TOKEN_WORD || at.length != 3 || at.text[0] != 'F' || at.text[1] < '0' ||
        at.text[1] > '9' || at.text[2] < '0' || at.text[2] > '9')
        return kir_expected(r, "a fault: F01");
    l->v.u.fault.code = (uint8_t)((at.text[1] - '0') * 10 + at.text[2] - '0');
    kir_next(r);
    return r->token.kind != KIR_TOKEN_STRING || kir_read_string(r, &l->v.u.fault.message);
}

static bool read_table(vec_reader *s, line *l) {
    kir_reader *r = &s->r;
    const kir_token at = r->token;
    for (const kir_table *t = r->module->tables; t; t = t->next) {
        char name[16];
        snprintf(name, sizeof name, "t%u", (unsigned)t->id);
        l->v.u.table = t;
        if (kir_accept_word(r, name)) return true;
    }
    return kir_error(r, &at, "expected a table: t and its number");
}

static bool read_call(vec_reader *s, line *l) {
    vec_function *to;
    if (!vec_read_function_name(s, &to)) return false;
    l->v.u.call.to = to;
    l->v.u.call.arrays = hg_arena_alloc(&s->k->arena, (HG_COUNT_OF(to->array_params) + 1) *
                                                          sizeof *l->v.u.call.arrays);
    if (!l->v.u.call.arrays) return kir_no_memory(&s->r);
    for (size_t i = 0; vec_is_var(s) && !is_value(s); i++) {
        if (i == HG_COUNT_OF(to->array_params))
            return kir_error(&s->r, &s->r.token, "too many arrays");
        if (!vec_read_var(s, &l->v.u.call.arrays[i])) return false;
    }
    return true;
}

static bool read_id(vec_reader *s, line *l) {
    kir_reader *r = &s->r;
    hg_idname id;
    if (r->token.kind != KIR_TOKEN_WORD ||
        !hg_idname_from_text(r->token.text, r->token.length, &id))
        return kir_expected(r, "an id");
    l->v.u.imm = id;
    kir_next(r);
    return true;
}

static bool read_ramp(vec_reader *s, line *l) {
    int64_t n = 0;
    if (!kir_expect_word(&s->r, "by") || !read_signed(&s->r, "a distance", &n)) return false;
    l->v.u.imm = (uint64_t)n;
    return true;
}

static bool read_fields(vec_reader *s, line *l) {
    kir_reader *r = &s->r;
    switch ((vec_op)l->v.op) {
    case VEC_CONST:
    case VEC_INPUT:
    case VEC_PARAM:
    case VEC_FENCE:
    case VEC_BARRIER:
    case VEC_FUEL: return kir_read_number(r, UINT64_MAX, "a number", &l->v.u.imm);
    case VEC_ID:
    case VEC_COORDINATE: return read_id(s, l);
    case VEC_SLIDE:
    case VEC_PICK:
    case VEC_RAMP: return read_ramp(s, l);
    case VEC_GET:
    case VEC_SET:
    case VEC_ARRAY_GET:
    case VEC_ARRAY_SET:
        if (!vec_read_var(s, &l->v.u.var)) return false;
        return l->v.op != VEC_SET || kir_expect(r, ',', "','");
    case VEC_TABLE_GET: return read_table(s, l);
    case VEC_CALL: return read_call(s, l);
    case VEC_ATOMIC:
        if (!kir_expect(r, '.', "'.' and what the atomic does") ||
            !kir_read_choice(r, &kir_atomic_words, "what the atomic does", &l->v.u.mem.atomic))
            return false;
        return read_place(s, l);
    case VEC_LOAD:
    case VEC_STORE:
    case VEC_CHECK:
    case VEC_SIZE:
    case VEC_FITS: return read_place(s, l);
    case VEC_FAULT_IF: return read_fault(s, l);
    case VEC_LEAVE:
        l->v.leave.exits = kir_accept_word(r, "exit");
        l->v.leave.ends = l->v.leave.exits || kir_accept_word(r, "end");
        return true;
    default: return true;
    }
}

/* ---- a line ---- */

static bool find_operation(vec_reader *s, line *l) {
    kir_reader *r = &s->r;
    l->place = r->token;
    for (int i = 0; i < VEC_OP_COUNT; i++) {
        if (i == VEC_PRIM || !kir_accept_word(r, VEC_OPS[i].text)) continue;
        l->v.op = (uint8_t)i;
        return true;
    }
    for (int i = 0; i < KIR_OP_COUNT; i++) {
        if (!kir_op_has((kir_op)i, KIR_F_VALUE) || !kir_accept_word(r, kir_op_name((kir_op)i)))
            continue;
        l->v.op = VEC_PRIM;
        l->v.prim = (uint8_t)i;
        return true;
    }
    return kir_expected(r, l->has_result ? "an operation" : "an operation, var, inst or '}'");
}

static bool read_result(vec_reader *s, line *l) {
    l->v.type = KIR_VOID;
    l->has_result = is_value(s);
    if (!l->has_result) return true;
    return read_value_name(s, &l->name, &l->v.each, &l->number) && kir_expect(&s->r, ':', "':'") &&
           kir_read_type(&s->r, false, &l->v.type) && kir_expect(&s->r, '=', "'='");
}

static bool read_losing(vec_reader *s, line *l) {
    if (!kir_accept_word(&s->r, "losing")) return true;
    do {
        if (l->v.loses.count == UINT8_MAX) return kir_error(&s->r, &s->r.token, "too many masks");
        if (!vec_read_var(s, &l->losing[l->v.loses.count])) return false;
        l->v.loses.count++;
    } while (kir_accept(&s->r, ','));
    return true;
}

static bool open_region(vec_reader *s, vec_value *v) {
    kir_reader *r = &s->r;
    if (++s->depth > VEC_TEXT_MAX_DEPTH)
        return kir_error(r, &r->token, "regions nested deeper than %d", VEC_TEXT_MAX_DEPTH);
    for (int i = 0; i < (v->op == VEC_IF ? 2 : 1); i++) {
        if (!(v->body[i] = hg_arena_alloc(&s->k->arena, sizeof *v->body[i])))
            return kir_no_memory(r);
        v->body[i]->owner = v;
    }
    s->region = v->body[0];
    return kir_expect(r, '{', "'{'");
}

static bool put(vec_reader *s, line *l) {
    vec_value *v = hg_arena_alloc(&s->k->arena, sizeof *v);
    if (!v) return kir_no_memory(&s->r);
    *v = l->v;
    v->args = hg_arena_alloc(&s->k->arena, (v->nargs + 1u) * sizeof *v->args);
    v->loses.vars = hg_arena_alloc(&s->k->arena, (v->loses.count + 1u) * sizeof *v->loses.vars);
    if (!v->args || !v->loses.vars) return kir_no_memory(&s->r);
    memcpy(v->args, l->args, v->nargs * sizeof *v->args);
    memcpy(v->loses.vars, l->losing, v->loses.count * sizeof *v->loses.vars);
    v->inst = s->inst;
    v->parent = s->region;
    v->prev = s->region->last;
    *(v->prev ? &v->prev->next : &s->region->first) = v;
    s->region->last = v;
    if (l->has_result && !define(s, l, v)) return false;
    bool owner = v->op == VEC_IF || v->op == VEC_LOOP || v->op == VEC_TURNS || v->op == VEC_WHOLE;
    return !owner || open_region(s, v);
}

bool vec_read_operation(vec_reader *s) {
    kir_reader *r = &s->r;
    line l;
    memset(&l.v, 0, sizeof l.v);
    if (!read_result(s, &l) || !find_operation(s, &l) || !read_fields(s, &l)) return false;
    bool place = vec_op_has((vec_op)l.v.op, VEC_F_PLACE);
    if (!place && !read_args(s, &l)) return false;
    if ((place || l.v.op == VEC_FAULT_IF) && !read_braces(s, &l)) return false;
    if (kir_accept_word(r, "where") && !read_value(s, &l.v.mask)) return false;
    if (!read_losing(s, &l)) return false;
    l.v.settled = kir_accept_word(r, "settled");
    l.v.tested = kir_accept_word(r, "tested");
    if (l.v.op == VEC_TURNS) l.v.u.heads = kir_accept_word(r, "heads");
    return put(s, &l);
}
