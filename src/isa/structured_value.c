/* Expressions of statements: values that wait on a stack, and what instructions make of them.
 * Requires: facts. Must not know: control flow. */
#include "isa/structured.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ARGUMENTS = 4, LONG_TEXT = 88 /* a longer expression is cut in two */ };

/* An operand as text: a name, or a value that waits. */
typedef struct side {
    char text[HG_ST_MOST_TEXT];
    uint8_t level, type;
    bool acts, literal, loads, converts, waits;
    uint32_t inst;         /* of what waits */
    uint32_t span;         /* how many values */
    const hg_param *array; /* an index of it, checked */
} side;

typedef struct argument {
    uint32_t variable;
    uint8_t reg, rule;
    bool predicate, address;
} argument;

typedef struct work {
    hg_st *s;
    uint32_t inst;
    const hg_inst *in;
    const hg_op_info *row;
    const hg_operand *operands;
    argument arguments[MOST_ARGUMENTS];
    side sides[MOST_ARGUMENTS];
    uint32_t count;
    hg_st_value made;
    bool too_long;
} work;

typedef enum result {
    MADE,
    FIRST_FLUSH, /* where values wait; else the instruction stays */
    STAYS
} result;

/* ---- text ---- */

static void add(work *w, const char *text) {
    hg_st_value *v = &w->made;
    size_t have = strlen(v->text), more = strlen(text);
    if (have + more + 1 > sizeof v->text) {
        w->too_long = true;
        return;
    }
    memcpy(v->text + have, text, more + 1);
}

/* In parentheses where it binds less tightly than `least`. */
static void add_side(work *w, const side *x, uint8_t least) {
    if (x->level < least) add(w, "(");
    add(w, x->text);
    if (x->level < least) add(w, ")");
}

/* A literal with its type. */
static void add_typed(work *w, const side *x, uint8_t least) {
    if (!x->literal) {
        add_side(w, x, least);
        return;
    }
    add(w, hg_type_name((hg_type)x->type));
    add(w, "(");
    add(w, x->text);
    add(w, ")");
}

static bool says_type(const side *x) { return !x->literal; }

/* ---- operands ---- */

static bool leaf(work *w, const argument *a, side *x) {
    hg_st *s = w->s;
    *x = (side){.level = HG_ST_ATOM};
    if (a->predicate) {
        snprintf(x->text, sizeof x->text, "p%u", (unsigned)a->reg);
        x->type = HG_ST_PREDICATE;
        return true;
    }
    if (hg_st_is_raw(&s->facts, a->variable)) return false;
    const hg_st_variable *v = &s->facts.variables.data[a->variable];
    if (v->array || strlen(v->name) >= sizeof x->text) return false;
    x->type = v->type;
    memcpy(x->text, v->name, strlen(v->name) + 1);
    hg_st_mention(s, a->variable, false);
    return true;
}

static bool is_value_of(const hg_st_value *v, const argument *a) {
    return v->reg == a->reg && (v->type == HG_ST_PREDICATE) == a->predicate;
}

static void take(const hg_st_value *v, side *x) {
    *x = (side){.level = v->level,
                .type = v->type,
                .acts = v->acts,
                .literal = v->literal,
                .loads = v->loads,
                .converts = v->converts,
                .waits = true,
                .inst = v->inst,
                .span = 1};
    memcpy(x->text, v->text, sizeof x->text);
}

/* Indices of an element, from the checks of its axes, which end at the value. False: too long. */
static bool take_indices(const hg_st *s, uint32_t at, side *x) {
    const hg_st_value *last = &s->values[at];
    *x = (side){.level = HG_ST_CHOICE,
                .type = HG_TYPE_U64,
                .acts = true,
                .waits = true,
                .inst = last->inst,
                .span = last->span,
                .array = last->array};
    for (uint32_t i = at + 1 - last->span; i <= at; i++) {
        const hg_st_value *v = &s->values[i];
        size_t have = strlen(x->text), room = sizeof x->text - have;
        const char *comma = have ? ", " : "";
        int length = 0;
        if (v->array && v->text[0])
            length = snprintf(x->text + have, room, "%s%s", comma, v->text);
        else if (!v->array && v->literal)
            length = snprintf(x->text + have, room, "%s%s(%s)", comma,
                              hg_type_name((hg_type)v->type), v->text);
        else if (!v->array)
            length = snprintf(x->text + have, room, "%s%s", comma, v->text);
        if (length < 0 || (size_t)length >= room) return false;
    }
    return last->whole;
}

/* The values that wait for the instruction are the top of the stack, in the order of its operands.
 */
static result gather(work *w) {
    hg_st *s = w->s;
    uint32_t tops[MOST_ARGUMENTS], count = 0, first = s->value_count;
    while (first && s->facts.use[s->values[first - 1].inst] == w->inst) {
        if (count == MOST_ARGUMENTS) return FIRST_FLUSH;
        tops[count++] = first - 1;
        first -= s->values[first - 1].span;
    }
    for (uint32_t i = 0; i < first; i++)
        if (s->facts.use[s->values[i].inst] == w->inst) return FIRST_FLUSH;
    for (uint32_t i = 0; i < w->count; i++) {
        const argument *a = &w->arguments[i];
        if (count && is_value_of(&s->values[tops[count - 1]], a)) {
            uint32_t at = tops[--count];
            if (!s->values[at].array)
                take(&s->values[at], &w->sides[i]);
            else if (!a->address || !take_indices(s, at, &w->sides[i]))
                return FIRST_FLUSH;
            continue;
        }
        for (uint32_t k = 0; k < count; k++)
            if (is_value_of(&s->values[tops[k]], a)) return FIRST_FLUSH;
        if (!leaf(w, a, &w->sides[i])) return FIRST_FLUSH;
    }
    return count ? FIRST_FLUSH : MADE;
}

static void add_argument(work *w, uint32_t operand) {
    const hg_operand_info *info = &w->row->operands[operand];
    const hg_operand *o = &w->operands[operand];
    argument *a = &w->arguments[w->count++];
    *a = (argument){.reg = o->reg, .rule = info->rule, .predicate = info->kind == HG_K_PRED};
    hg_inst_accesses(w->s->facts.program, w->inst, &w->s->facts.what);
    const hg_accesses *what = &w->s->facts.what;
    bool address = info->kind == HG_K_ADDRESS;
    a->variable = HG_ST_NONE;
    a->address = address;
    if (address) a->reg = o->index;
    for (uint32_t k = 0; k < what->reads; k++)
        if (what->read[k].operand == operand &&
            (!address || what->read[k].want == HG_WANT_U32_U64) && !a->predicate)
            a->variable = hg_st_read(&w->s->facts, w->inst, k);
}

/* ---- elements ---- */

/* The array whose handle is the base of an address; else NULL. */
static const hg_param *base_of(hg_st *s, uint32_t inst, uint32_t operand) {
    hg_accesses *what = &s->facts.what;
    hg_inst_accesses(s->facts.program, inst, what);
    for (uint32_t k = 0; k < what->reads; k++) {
        uint32_t v = hg_st_read(&s->facts, inst, k);
        if (what->read[k].operand == operand && what->read[k].want == HG_TYPE_U64 &&
            v != HG_ST_NONE)
            return s->facts.variables.data[v].array;
    }
    return NULL;
}

/* Whether the element is known to be inside of extents that are known. */
static bool is_inside(const hg_param *p, int64_t element) {
    uint64_t all = 1;
    for (uint8_t i = 0; i < p->rank; i++)
        if (p->dims[i].kind != HG_EXTENT_NUMBER || !hg_mul_u64(all, p->dims[i].value, &all))
            return false;
    return element >= 0 && (uint64_t)element < all;
}

static bool has_extents(const hg_param *p) { return p->rank <= HG_MAX_EXTENTS; }

/* x[i] of an array whose elements have that type; an index is an argument, which of an array with
 * extents the checks of its axes have given. */
static const hg_param *element_of(const work *w, uint32_t operand, uint8_t type,
                                  const side *index) {
    const hg_operand *o = &w->operands[operand];
    const hg_param *p = o->place == HG_PLACE_BUF_REG ? base_of(w->s, w->inst, operand) : NULL;
    if (!p || p->type != type) return NULL;
    uint64_t bytes = hg_type_size_bytes((hg_type)type);
    if (o->has_index) {
        bool checked = !has_extents(p) || (index && index->array == p);
        return checked && o->disp == 0 && hg_operand_scale(o) == bytes ? p : NULL;
    }
    if (o->disp % (int64_t)bytes) return NULL;
    return !has_extents(p) || is_inside(p, o->disp / (int64_t)bytes) ? p : NULL;
}

/* index: of what has one. */
static void add_element(work *w, const hg_param *p, uint32_t operand, const side *index) {
    const hg_operand *o = &w->operands[operand];
    char number[32];
    add(w, p->name);
    add(w, "[");
    if (o->has_index) {
        add_typed(w, index, HG_ST_CHOICE);
    } else {
        snprintf(number, sizeof number, "%lld",
                 (long long)(o->disp / (int64_t)hg_type_size_bytes((hg_type)p->type)));
        add(w, number);
    }
    add(w, "]");
}

/* ---- operators ---- */

typedef struct sign {
    uint16_t op;
    uint8_t level;
    const char *text;
} sign;
static const sign SIGNS[] = {{HG_OP_ADD, HG_ST_SUM, " + "},     {HG_OP_SUB, HG_ST_SUM, " - "},
                             {HG_OP_MUL, HG_ST_PRODUCT, " * "}, {HG_OP_DIV, HG_ST_PRODUCT, " / "},
                             {HG_OP_REM, HG_ST_PRODUCT, " % "}, {HG_OP_AND, HG_ST_BIT_AND, " & "},
                             {HG_OP_OR, HG_ST_BIT_OR, " | "},   {HG_OP_XOR, HG_ST_BIT_XOR, " ^ "},
                             {HG_OP_SHL, HG_ST_SHIFT, " << "},  {HG_OP_SHR, HG_ST_SHIFT, " >> "},
                             {HG_OP_AND_P, HG_ST_AND, " && "},  {HG_OP_OR_P, HG_ST_OR, " || "}};
static const char *const COMPARED[] = {
    [HG_COND_EQ] = " == ", [HG_COND_NE] = " != ", [HG_COND_LT] = " < ",
    [HG_COND_LE] = " <= ", [HG_COND_GT] = " > ",  [HG_COND_GE] = " >= "};

static const sign *sign_of(uint16_t op) {
    for (uint32_t i = 0; i < HG_COUNT_OF(SIGNS); i++)
        if (SIGNS[i].op == op) return &SIGNS[i];
    return NULL;
}

static result binary(work *w, const char *text, uint8_t level, bool shift) {
    const side *x = &w->sides[0], *y = &w->sides[1];
    bool both = x->literal && y->literal;
    uint8_t left = level == HG_ST_COMPARISON ? level + 1 : level;
    if (both || (shift && x->literal))
        add_typed(w, x, left);
    else
        add_side(w, x, left);
    w->made.middle = (uint16_t)strlen(w->made.text);
    add(w, text);
    w->made.right = (uint16_t)strlen(w->made.text);
    add_side(w, y, level + 1);
    w->made.level = level;
    return MADE;
}

static result unary(work *w, const char *text) {
    add(w, text);
    add_typed(w, &w->sides[0], HG_ST_ATOM);
    w->made.level = HG_ST_SIGN;
    return MADE;
}

static result choice(work *w) {
    const side *x = w->sides;
    bool both = x[1].literal && x[2].literal;
    add_side(w, &x[0], HG_ST_OR);
    add(w, " ? ");
    if (both)
        add_typed(w, &x[1], HG_ST_OR);
    else
        add_side(w, &x[1], HG_ST_OR);
    add(w, " : ");
    add_side(w, &x[2], HG_ST_OR);
    w->made.level = HG_ST_CHOICE;
    return MADE;
}

static result conversion(work *w) {
    const side *x = &w->sides[0];
    if (x->loads && hg_op_allows_types(HG_OP_LDG_WIDE, (hg_type)w->in->type, (hg_type)x->type))
        return FIRST_FLUSH;
    add(w, hg_type_name((hg_type)w->in->type));
    add(w, "(");
    add_typed(w, x, HG_ST_CHOICE);
    add(w, ")");
    w->made.converts = true;
    return MADE;
}

/* ---- functions ---- */

static void add_name(work *w) {
    add(w, w->row->text);
    if (w->in->op == HG_OP_SET) add(w, hg_condition_name((hg_condition)w->operands[0].value));
    uint8_t types[2] = {w->in->type, w->in->type2};
    bool told = (w->row->flags & HG_F_TYPE_OPTIONAL) && w->row->type_count == 1;
    bool found = false;
    for (uint32_t i = 0; i < w->count && told; i++)
        if (w->arguments[i].rule == HG_R_T && says_type(&w->sides[i])) found = true;
    for (uint32_t i = 0; i < w->row->type_count && !(told && found); i++) {
        add(w, ".");
        add(w, hg_type_name((hg_type)types[i]));
    }
}

static bool is_result(const hg_operand_info *o) {
    return (o->kind == HG_K_REG || o->kind == HG_K_PRED) && o->access == HG_WRITE;
}

/* An operand is a number, an element or an argument. */
static result add_operand(work *w, uint32_t k, uint32_t *next) {
    const hg_operand_info *info = &w->row->operands[k];
    const hg_operand *o = &w->operands[k];
    char number[32];
    if (info->kind == HG_K_U8 || info->kind == HG_K_I8 ||
        (info->kind == HG_K_COUNT && !o->is_reg)) {
        snprintf(number, sizeof number, info->kind == HG_K_I8 ? "%lld" : "%llu",
                 (long long)o->value);
        add(w, number);
    } else if (info->kind == HG_K_ADDRESS) {
        uint8_t type = (uint8_t)hg_element_type(w->in->type, w->in->type2, info);
        const hg_param *p = element_of(w, k, type, &w->sides[*next]);
        if (!p) return FIRST_FLUSH;
        add_element(w, p, k, &w->sides[*next]);
        *next += o->has_index;
    } else {
        const side *x = &w->sides[(*next)++];
        bool open = info->kind == HG_K_COUNT || info->rule == HG_R_U32_U64 ||
                    info->rule == HG_R_INDEX || info->rule == HG_R_INTEGER ||
                    info->rule == HG_R_ANY;
        if (open)
            add_typed(w, x, HG_ST_CHOICE);
        else
            add_side(w, x, HG_ST_CHOICE);
    }
    return MADE;
}

static result function(work *w) {
    uint32_t next = 0;
    if (!w->s->facts.form[w->in->op]) return STAYS;
    add_name(w);
    add(w, "(");
    const char *between = "";
    for (uint32_t k = 0; k < w->row->operand_count; k++) {
        const hg_operand_info *info = &w->row->operands[k];
        if (is_result(info) || info->kind == HG_K_COND || hg_operand_is_named(info)) continue;
        add(w, between);
        result r = add_operand(w, k, &next);
        if (r != MADE) return r;
        between = ", ";
    }
    add(w, ")");
    return MADE;
}

/* As a sign between two sides: of unsigned types `ltu` is `lt`. */
static bool has_sign(const work *w, uint8_t *c) {
    *c = (uint8_t)w->operands[0].value;
    if (!hg_condition_is_unsigned((hg_condition)*c)) return true;
    *c = (uint8_t)hg_condition_plain((hg_condition)*c);
    return hg_type_is_unsigned((hg_type)w->in->type);
}

static result comparison(work *w) {
    uint8_t c, type = w->in->type;
    if (!has_sign(w, &c)) return function(w);
    w->made.sign = c;
    w->made.turns = c == HG_COND_EQ || c == HG_COND_NE || !hg_type_is_float((hg_type)type);
    return binary(w, COMPARED[c], HG_ST_COMPARISON, false);
}

/* Its operands in the order in which an expression works them out. */
static result find_arguments(work *w) {
    w->count = 0;
    for (uint32_t k = 0; k < w->row->operand_count; k++) {
        const hg_operand_info *info = &w->row->operands[k];
        const hg_operand *o = &w->operands[k];
        if (is_result(info) || info->kind == HG_K_COND) continue;
        if (hg_operand_is_named(info)) {
            if (!hg_operand_is_left_out(w->s->facts.program, w->in, info, o)) return STAYS;
            continue;
        }
        bool has = (info->kind == HG_K_ADDRESS && o->has_index) || info->kind == HG_K_REG ||
                   (info->kind == HG_K_PRED && o->reg != 255) ||
                   (info->kind == HG_K_COUNT && o->is_reg);
        if (!has) continue;
        if (w->count == MOST_ARGUMENTS) return STAYS;
        add_argument(w, k);
    }
    return MADE;
}

/* ---- instructions ---- */

static bool is_small(uint8_t type) {
    return type < HG_TYPE_COUNT && hg_type_size_bytes((hg_type)type) <= 8;
}

static result literal(work *w) {
    if (!is_small(w->in->type)) return STAYS;
    hg_text text = {0};
    hg_print_literal(&text, (hg_type)w->in->type, hg_literal(w->s->facts.program, &w->operands[1]));
    if (text.data) add(w, text.data);
    w->s->out_of_memory |= text.failed;
    w->made.literal = true;
    w->made.level = w->made.text[0] == '-' ? HG_ST_SIGN : HG_ST_ATOM;
    hg_text_free(&text);
    return MADE;
}

static result id(work *w) {
    const char *name = hg_idname_name((hg_idname)w->operands[1].value);
    for (uint32_t i = 0; i < w->s->facts.program->param_count; i++)
        if (strcmp(w->s->facts.program->params[i].name, name) == 0) return STAYS;
    add(w, name);
    return MADE;
}

static result load(work *w, bool widens) {
    uint8_t type = widens ? w->in->type2 : w->in->type;
    const hg_param *p = element_of(w, 1, type, &w->sides[0]);
    if (!p) return FIRST_FLUSH;
    if (widens) add(w, hg_type_name((hg_type)w->in->type));
    if (widens) add(w, "(");
    add_element(w, p, 1, &w->sides[0]);
    if (widens) add(w, ")");
    w->made.loads = !widens;
    return MADE;
}

static bool is_own(const work *w) {
    const argument *a = &w->arguments[0];
    return a->predicate ? a->reg == w->made.reg : a->variable == w->made.variable;
}

static result operation(work *w) {
    uint16_t op = w->in->op;
    const sign *found = sign_of(op);
    bool logic = op == HG_OP_AND_P || op == HG_OP_OR_P;
    bool sides_act = w->sides[1].acts || (w->count > 2 && w->sides[2].acts);
    if (found && !(logic && sides_act))
        return binary(w, found->text, found->level, op == HG_OP_SHL || op == HG_OP_SHR);
    switch (op) {
    case HG_OP_NEG: return unary(w, "-");
    case HG_OP_NOT: return unary(w, "~");
    case HG_OP_NOT_P: w->made.is_not = true; return unary(w, "!");
    case HG_OP_SET: return comparison(w);
    case HG_OP_SEL:
    case HG_OP_SEL_P: return sides_act ? function(w) : choice(w);
    case HG_OP_CVT: return w->in->type != w->in->type2 ? conversion(w) : function(w);
    case HG_OP_MOV_IMM: return literal(w);
    case HG_OP_RDID: return id(w);
    case HG_OP_LDG: return load(w, false);
    case HG_OP_LDG_WIDE: return load(w, true);
    case HG_OP_MOV:
    case HG_OP_MOV_P:
        if (w->sides[0].waits) return FIRST_FLUSH;
        if (is_own(w)) return STAYS; /* a statement of it would be no instruction */
        add_side(w, &w->sides[0], HG_ST_CHOICE);
        return MADE;
    default: return function(w);
    }
}

/* y[i] = v: the value first. */
static result store(work *w, bool narrows) {
    uint8_t from = narrows ? w->in->type2 : w->in->type;
    w->count = 0;
    add_argument(w, 1);
    if (w->operands[0].has_index) add_argument(w, 0);
    result r = gather(w);
    if (r != MADE) return r;
    const side *v = &w->sides[0];
    const hg_param *p = element_of(w, 0, w->in->type, &w->sides[1]);
    if (!p) return FIRST_FLUSH;
    /* What the assembler would write as one instruction. */
    const hg_inst *of = &w->s->facts.program->insts[v->inst];
    bool one = v->waits &&
               (narrows ? v->loads && hg_op_allows_types(HG_OP_LDG_WIDE, (hg_type)w->in->type,
                                                         (hg_type)from)
                        : v->converts && hg_op_allows_types(HG_OP_STG_NARROW, (hg_type)of->type,
                                                            (hg_type)of->type2));
    if (one) return FIRST_FLUSH;
    add_element(w, p, 0, &w->sides[1]);
    add(w, " = ");
    if (narrows) {
        add(w, hg_type_name((hg_type)w->in->type));
        add(w, "(");
        add_typed(w, v, HG_ST_CHOICE);
        add(w, ")");
    } else {
        add_side(w, v, HG_ST_CHOICE);
    }
    return MADE;
}

static bool acts(uint32_t flags) {
    return (flags & (HG_F_MAY_FAULT | HG_F_BARRIER | HG_F_STATE | HG_F_ATOMIC | HG_F_POOL |
                     HG_F_BLOCK)) != 0;
}

static result compute(work *w) {
    hg_inst_accesses(w->s->facts.program, w->inst, &w->s->facts.what);
    if (w->s->facts.what.writes != 1) return STAYS;
    const hg_access d = w->s->facts.what.write[0];
    uint32_t variable = d.is_pred ? HG_ST_NONE
                                  : hg_st_written(&w->s->facts, w->inst, &w->s->facts.what, 0);
    w->made.variable = variable;
    w->made.reg = d.reg;
    w->made.type = d.is_pred ? HG_ST_PREDICATE : d.want;
    w->made.acts = acts(w->row->flags);
    if (!d.is_pred && hg_st_is_raw(&w->s->facts, variable)) return STAYS;
    result r = find_arguments(w);
    if (r == MADE) r = gather(w);
    if (r == MADE) r = operation(w);
    for (uint32_t i = 0; i < w->count; i++) w->made.acts |= w->sides[i].acts;
    return r;
}

static result make(work *w) {
    w->made = (hg_st_value){.inst = w->inst, .level = HG_ST_ATOM, .span = 1};
    w->too_long = false;
    memset(w->sides, 0, sizeof w->sides);
    result r;
    if (w->in->op == HG_OP_STG || w->in->op == HG_OP_STG_NARROW)
        r = store(w, w->in->op == HG_OP_STG_NARROW);
    else
        r = compute(w);
    bool waits = false;
    for (uint32_t i = 0; i < w->count; i++) waits |= w->sides[i].waits && !w->sides[i].literal;
    if (r == MADE && (w->too_long || (waits && strlen(w->made.text) > LONG_TEXT)))
        return FIRST_FLUSH;
    return r;
}

/* ---- statements ---- */

/* t = t + a as t += a. */
static bool write_compound(hg_st *s, const hg_st_value *v, const char *name) {
    size_t length = strlen(name);
    bool compound = v->right && v->middle == length && strncmp(v->text, name, length) == 0 &&
                    v->level >= HG_ST_BIT_OR;
    if (!compound) return false;
    const char *right = v->text + v->right;
    int operator_length = v->right - v->middle - 2; /* blanks aside */
    size_t inner = strlen(right);
    bool wrapped = right[0] == '(' && right[inner - 1] == ')';
    int depth = 0;
    for (size_t i = 0; wrapped && i + 1 < inner; i++) {
        depth += right[i] == '(' ? 1 : right[i] == ')' ? -1 : 0;
        wrapped = depth > 0;
    }
    hg_st_line(s, "%s %.*s= %.*s\n", name, operator_length, v->text + v->middle + 1,
               (int)(wrapped ? inner - 2 : inner), wrapped ? right + 1 : right);
    return true;
}

static void assign(hg_st *s, const hg_st_value *v) {
    s->found.statements++;
    if (v->type == HG_ST_PREDICATE) {
        hg_st_line(s, "p%u = %s\n", (unsigned)v->reg, v->text);
        return;
    }
    hg_st_variable *variable = &s->facts.variables.data[v->variable];
    bool first = !variable->seen;
    hg_st_mention(s, v->variable, true);
    if (variable->let && first && v->literal)
        hg_st_line(s, "let %s %s = %s\n", variable->name, hg_type_name((hg_type)v->type), v->text);
    else if (variable->let && first)
        hg_st_line(s, "let %s = %s\n", variable->name, v->text);
    else if (!write_compound(s, v, variable->name))
        hg_st_line(s, "%s = %s\n", variable->name, v->text);
}

typedef struct plain_names {
    hg_st *s;
    uint32_t inst;
    const hg_accesses *what;
} plain_names;

/* Registers in tuples are read once, whichever tuple they stand in. */
static bool is_in_tuple(const hg_st *s, uint32_t inst, uint32_t operand) {
    uint8_t kind = hg_op_get((hg_op)s->facts.program->insts[inst].op)->operands[operand].kind;
    return kind == HG_K_TUPLE || kind == HG_K_TUPLES;
}

/* What an operand of an instruction is called; NULL: its number. */
static const char *plain_name(void *user, uint32_t operand, int kind, uint8_t number) {
    plain_names *n = user;
    hg_st *s = n->s;
    if (kind == HG_PRINT_PREDICATE) return NULL;
    const hg_accesses *what = n->what;
    uint32_t v = HG_ST_NONE;
    for (uint32_t k = 0; k < what->reads && v == HG_ST_NONE; k++) {
        const hg_access *r = &what->read[k];
        bool same = !r->is_pred && r->reg == number &&
                    (kind != HG_PRINT_INDEX || r->want == HG_WANT_U32_U64) &&
                    (r->operand == operand || kind == HG_PRINT_REGISTER);
        if (same && (r->operand == operand || is_in_tuple(s, n->inst, operand)))
            v = hg_st_read(&s->facts, n->inst, k);
    }
    for (uint32_t k = 0; k < what->writes && v == HG_ST_NONE; k++)
        if (!what->write[k].is_pred && what->write[k].operand == operand)
            v = hg_st_written(&s->facts, n->inst, what, k);
    if (hg_st_is_raw(&s->facts, v)) return NULL;
    const hg_st_variable *variable = &s->facts.variables.data[v];
    if (variable->array) {
        const hg_operand *o = &hg_inst_operands(s->facts.program, n->inst)[operand];
        bool base = kind == HG_PRINT_BASE && o->place != HG_PLACE_POOL_REG &&
                    o->place != HG_PLACE_FLAT;
        return base ? variable->name : NULL;
    }
    hg_st_mention(s, v, false);
    return variable->name;
}

static void write_plain(hg_st *s, uint32_t inst) {
    hg_text text = {0};
    hg_accesses what;
    hg_inst_accesses(s->facts.program, inst, &what);
    plain_names names = {s, inst, &what};
    hg_print_instruction_to(&(hg_printer){&text, plain_name, &names}, s->facts.program, inst);
    s->out_of_memory |= text.failed;
    hg_st_line(s, "%s\n", text.data ? text.data : "");
    s->found.instructions++;
    hg_text_free(&text);
}

void hg_st_flush_below(hg_st *s, uint32_t kept) {
    if (s->value_count <= kept) return;
    uint32_t gone = s->value_count - kept;
    for (uint32_t i = 0; i < gone; i++)
        if (s->values[i].array)
            write_plain(s, s->values[i].inst);
        else
            assign(s, &s->values[i]);
    memmove(s->values, s->values + gone, kept * sizeof *s->values);
    s->value_count = kept;
}

void hg_st_flush(hg_st *s) { hg_st_flush_below(s, 0); }

void hg_st_plain(hg_st *s, uint32_t inst) {
    hg_st_flush(s);
    write_plain(s, inst);
}

/* The check of an axis of an array whose indices a text writes; it and its index wait. */
static bool keep_axis(work *w) {
    hg_st *s = w->s;
    const hg_op_info *row = w->row;
    bool first = w->in->op == HG_OP_AXIS_FIRST;
    uint32_t index = first ? 1 : 2, array = index + 1, last = row->operand_count - 1;
    if (s->facts.use[w->inst] == HG_ST_NONE || s->value_count + 1 >= HG_ST_MOST_VALUES ||
        !hg_operand_is_left_out(s->facts.program, w->in, &row->operands[last], &w->operands[last]))
        return false;
    const hg_param *p = base_of(s, w->inst, array);
    uint64_t axis = w->operands[array + 1].value;
    bool all = axis == HG_ALL_AXES;
    if (!p || !has_extents(p) || (all ? p->rank == 1 || !first : axis >= p->rank) ||
        (!all && first != !axis))
        return false;
    w->made = (hg_st_value){.inst = w->inst, .level = HG_ST_CHOICE, .type = HG_TYPE_U64};
    w->made.reg = w->operands[0].reg;
    hg_inst_accesses(s->facts.program, w->inst, &s->facts.what);
    w->made.variable = hg_st_written(&s->facts, w->inst, &s->facts.what, 0);
    w->count = 0;
    add_argument(w, index);
    uint32_t below = s->value_count, waiting = 0;
    bool waits = below && s->facts.use[s->values[below - 1].inst] == w->inst &&
                 !s->values[below - 1].array &&
                 is_value_of(&s->values[below - 1], &w->arguments[0]);
    below -= waits;
    const hg_st_value *before = !first && below ? &s->values[below - 1] : NULL;
    if (!first && (!before || before->array != p || before->axes != axis || before->whole ||
                   s->facts.use[before->inst] != w->inst))
        return false;
    for (uint32_t i = 0; i < s->value_count; i++)
        waiting += s->facts.use[s->values[i].inst] == w->inst;
    if (waiting != (uint32_t)waits + !first || hg_st_is_raw(&s->facts, w->made.variable))
        return false;
    if (!waits && !leaf(w, &w->arguments[0], &w->sides[0])) return false;
    if (!waits) memcpy(w->made.text, w->sides[0].text, sizeof w->made.text);
    w->made.array = p;
    w->made.axes = (uint8_t)(axis + 1);
    w->made.whole = all || axis + 1 == p->rank;
    w->made.span = (uint8_t)(1 + waits + (first ? 0 : before->span));
    s->values[s->value_count++] = w->made;
    return true;
}

static void keep(hg_st *s, work *w) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < w->count; i++) used += w->sides[i].waits ? w->sides[i].span : 0;
    s->value_count -= used;
    /* Where registers keep their numbers (structured_webs.c) a predicate is written where it was.
     */
    bool numbered = s->facts.cfg->function_count > 1 && w->made.type == HG_ST_PREDICATE;
    bool waits = s->facts.use[w->inst] != HG_ST_NONE && w->in->op != HG_OP_MOV &&
                 w->in->op != HG_OP_MOV_P && !numbered;
    if (waits || s->facts.for_of[w->inst]) {
        if (s->value_count == HG_ST_MOST_VALUES) hg_st_flush(s);
        s->values[s->value_count++] = w->made;
        return;
    }
    hg_st_flush(s);
    if (w->in->op == HG_OP_STG || w->in->op == HG_OP_STG_NARROW) {
        s->found.statements++;
        hg_st_line(s, "%s\n", w->made.text);
    } else {
        assign(s, &w->made);
    }
}

void hg_st_instruction(hg_st *s, uint32_t inst) {
    const hg_inst *in = &s->facts.program->insts[inst];
    work w = {.s = s,
              .inst = inst,
              .in = in,
              .row = hg_op_get((hg_op)in->op),
              .operands = hg_inst_operands(s->facts.program, inst)};
    bool axis = in->op == HG_OP_AXIS || in->op == HG_OP_AXIS_FIRST;
    if (axis && keep_axis(&w)) return;
    if (axis) hg_st_flush(s);
    if (axis && keep_axis(&w)) return;
    result r = make(&w);
    if (r == FIRST_FLUSH && s->value_count) {
        hg_st_flush(s);
        r = make(&w);
    }
    if (r == MADE)
        keep(s, &w);
    else
        hg_st_plain(s, inst);
}

/* ---- conditions ---- */

hg_st_value *hg_st_condition(hg_st *s, uint32_t branch) {
    if (!s->value_count || s->facts.use[s->values[s->value_count - 1].inst] != branch) {
        hg_st_flush(s);
        return NULL;
    }
    hg_st_value *v = &s->values[s->value_count - 1];
    const hg_inst *in = &s->facts.program->insts[v->inst];
    if (in->op != HG_OP_SET || v->right) return v;
    hg_st_flush(s); /* a comparison as a function: a condition would be its opposite */
    return NULL;
}

void hg_st_condition_text(hg_st *s, uint32_t branch, bool opposite, char out[HG_ST_MOST_TEXT + 8]) {
    hg_st_value *v = hg_st_condition(s, branch);
    if (!v) {
        snprintf(out, HG_ST_MOST_TEXT + 8, opposite ? "!p%u" : "p%u",
                 (unsigned)hg_inst_operands(s->facts.program, branch)[0].reg);
        return;
    }
    s->value_count--;
    if (!opposite)
        snprintf(out, HG_ST_MOST_TEXT + 8, "%s", v->text);
    else if (!v->turns)
        snprintf(out, HG_ST_MOST_TEXT + 8, v->level == HG_ST_ATOM ? "!%s" : "!(%s)", v->text);
    else
        snprintf(out, HG_ST_MOST_TEXT + 8, "%.*s%s%s", (int)v->middle, v->text,
                 COMPARED[hg_condition_opposite((hg_condition)v->sign)], v->text + v->right);
}
