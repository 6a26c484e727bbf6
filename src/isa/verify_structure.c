/* Checks of operands one by one, of parameters, names and launch defaults. Whatever made the
 * program (text, binary, builder) passes here before anything follows its indices. Must not know:
 * control flow. */
#include "isa/verify_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- names ---- */

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool only_digits(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!is_digit(text[i])) return false;
    return length > 0;
}

bool hg_is_parameter_name(const char *text, size_t length) {
    hg_type type;
    if (length == 0 || length > HG_MAX_IDENT_BYTES || !is_letter(text[0])) return false;
    for (size_t i = 1; i < length; i++)
        if (!is_letter(text[i]) && !is_digit(text[i])) return false;
    if ((text[0] == 'r' || text[0] == 'p') && only_digits(text + 1, length - 1)) return false;
    return !hg_type_from_name(text, length, &type);
}

bool hg_is_identifier(const char *text, size_t length) {
    bool plain = true;
    if (length == 0 || length > HG_MAX_IDENT_BYTES || is_digit(text[0])) return false;
    for (size_t i = 0; i < length; i++) {
        bool other = text[i] == '.' || text[i] == '$';
        if (!other && !is_letter(text[i]) && !is_digit(text[i])) return false;
        plain &= !other;
    }
    return !plain || hg_is_parameter_name(text, length);
}

bool hg_is_local_label(const char *text, size_t length) {
    return length > 2 && text[0] == '.' && text[1] == 'L' && only_digits(text + 2, length - 2);
}

/* ---- operands ---- */

typedef struct place {
    hg_check *c;
    uint32_t inst;
    int operand;
    const hg_op_info *row;
} place;

static void bad_index(place at, const char *what, uint64_t value, uint64_t limit) {
    hg_check_error(at.c, "N07", at.inst, at.operand, NULL, "invalid %s: %llu (must be < %llu)",
                   what, (unsigned long long)value, (unsigned long long)limit);
}

static void check_address(place at, const hg_operand *o, bool array) {
    bool registers = o->place == HG_PLACE_FLAT || o->place == HG_PLACE_PHI ||
                     o->place == HG_PLACE_BARE;
    bool own = o->place == HG_PLACE_PRIVATE, wants_own = (at.row->flags & HG_F_PRIVATE) != 0,
         named = !at.row->operands[at.operand].access; /* an array is named, and nothing reached */
    if ((o->place > HG_PLACE_BARE && !own) || (o->place == HG_PLACE_BARE && !array) ||
        o->has_index > 1 || (registers && o->has_index) ||
        ((o->place == HG_PLACE_PHI || o->place == HG_PLACE_BARE) && o->disp != 0) ||
        o->disp == INT64_MIN || (o->place != HG_PLACE_PHI && !o->has_index && o->scale)) {
        hg_check_error(at.c, "N03", at.inst, at.operand, NULL, "this address cannot be written");
        return;
    }
    if (wants_own && !own)
        hg_check_error(at.c, "N03", at.inst, at.operand, "use ldg and stg for other places",
                       "'%s' takes an address in private memory only", at.row->text);
    else if (own && !wants_own && !named)
        hg_check_error(at.c, "N03", at.inst, at.operand, "ldp and stp reach it",
                       "'%s' cannot use private memory", at.row->text);
    else if (own && !at.c->program->private_bytes)
        hg_check_error(at.c, "N03", at.inst, at.operand, "write .private BYTES before the code",
                       "the program has no private memory");
    else if ((at.row->flags & HG_F_SHARED) && o->place != HG_PLACE_SHARED)
        hg_check_error(at.c, "N03", at.inst, at.operand, "use ldg and stg for other places",
                       "'%s' takes an address in shared memory only", at.row->text);
    else if ((at.row->flags & HG_F_COLLECTIVE) && o->place == HG_PLACE_SHARED)
        hg_check_error(at.c, "N03", at.inst, at.operand, NULL,
                       "'%s' runs once for all blocks and cannot use shared memory", at.row->text);
    else if ((o->place == HG_PLACE_CLASS || o->place == HG_PLACE_PHI) && o->value >= HG_MAX_CLASSES)
        hg_check_error(at.c, "N07", at.inst, at.operand, NULL,
                       "invalid class index: %llu (must be < %d)", (unsigned long long)o->value,
                       (int)HG_MAX_CLASSES);
    else if (o->place == HG_PLACE_PHI && o->phi[0] >= HG_MAX_CLASS_PAGES)
        hg_check_error(
            at.c, "N07", at.inst, at.operand, NULL,
            "invalid boundary coordinates: page=%u (must be < %d), byte=%u (must be < %d)",
            (unsigned)o->phi[0], (int)HG_MAX_CLASS_PAGES, (unsigned)o->phi[1],
            (int)HG_MAX_PAGE_BYTES);
}

/* The operations of maps and reductions take the types of the instructions they are named after. */
static void check_opname(place at, const hg_inst *in, const hg_operand_info *info,
                         const hg_operand *o) {
    hg_opname name = (hg_opname)o->value;
    bool allowed = o->value < HG_OPNAME_COUNT && hg_opname_fits(name, (hg_type_rule)info->rule);
    if (!allowed) {
        hg_check_error(at.c, "N03", at.inst, at.operand, NULL, "'%s' is no operation of '%s'",
                       o->value < HG_OPNAME_COUNT ? hg_opname_name(name) : "?", at.row->text);
        return;
    }
    if (in->type < HG_TYPE_COUNT && !hg_opname_allows_type(name, (hg_type)in->type))
        hg_check_error(at.c, "N06", at.inst, at.operand, NULL,
                       "unsupported operation: %s %s for type %s", at.row->id, hg_opname_name(name),
                       hg_type_name((hg_type)in->type));
}

static bool are_items(const hg_program *p, uint64_t first, uint64_t count) {
    return first <= p->item_count && count <= p->item_count - first;
}

static void check_tuple(place at, const hg_operand_info *info, const hg_operand *o) {
    const hg_program *p = at.c->program;
    bool there = are_items(p, o->value, o->item_count);
    uint64_t longest = o->item_count;
    for (uint64_t i = 0; there && i < o->item_count; i++) {
        const hg_tuple_item *item = &hg_tuple(p, o)[i];
        there = item->is_tuple == (info->kind == HG_K_TUPLES) && item->is_reg <= !item->is_tuple;
        if (!there || !item->is_tuple) continue;
        there = are_items(p, item->value, item->item_count);
        if (item->item_count > longest) longest = item->item_count;
        for (uint32_t k = 0; there && k < item->item_count; k++)
            there = !hg_tuple_inside(p, item)[k].is_tuple &&
                    hg_tuple_inside(p, item)[k].is_reg <= 1;
    }
    if (!there)
        hg_check_error(at.c, "N03", at.inst, at.operand, NULL,
                       "operand '%s' of '%s' is not a tuple of that form", info->name,
                       at.row->text);
    else if (longest > HG_MAX_TUPLE_ITEMS)
        hg_check_error(at.c, "S05", at.inst, at.operand, NULL, "more than %d items in a tuple",
                       (int)HG_MAX_TUPLE_ITEMS);
}

static uint64_t literal_size(const hg_inst *in, const hg_operand_info *info) {
    hg_type type = hg_literal_type(in, info);
    return type < HG_TYPE_COUNT ? hg_type_size_bytes(type) : 0;
}

static void check_operand(place at, const hg_inst *in, const hg_operand_info *info,
                          const hg_operand *o) {
    const hg_program *p = at.c->program;
    bool address = info->kind == HG_K_ADDRESS || info->kind == HG_K_ARRAY;
    if (o->kind != info->kind && !(address && (o->kind == HG_K_ADDRESS || o->kind == HG_K_ARRAY))) {
        hg_check_error(at.c, "N03", at.inst, at.operand, NULL,
                       "operand '%s' of '%s' is of another kind", info->name, at.row->text);
        return;
    }
    if (hg_operand_is_missing(o) && info->optional == HG_OR_NONE) return;
    switch ((hg_operand_kind)info->kind) {
    case HG_K_PRED:
        if (o->reg >= HG_MAX_PREDICATES && !(info->optional && o->reg == 255))
            bad_index(at, "predicate index", o->reg, HG_MAX_PREDICATES);
        break;
    case HG_K_LABEL:
        if (o->value > p->inst_count)
            hg_check_error(at.c, "L02", at.inst, at.operand, NULL,
                           "label '%s' points to invalid instruction index %llu (max: %llu)",
                           hg_check_label(p, (uint32_t)o->value).text, (unsigned long long)o->value,
                           (unsigned long long)p->inst_count);
        break;
    case HG_K_ADDRESS:
    case HG_K_ARRAY: check_address(at, o, info->kind == HG_K_ARRAY); break;
    case HG_K_LITERAL:
        if (o->value > p->literal_bytes || p->literal_bytes - o->value < literal_size(in, info))
            hg_check_error(at.c, "N03", at.inst, at.operand, NULL, "literal without a value");
        break;
    case HG_K_U8:
        if (o->value > 255) bad_index(at, info->name, o->value, 256);
        break;
    case HG_K_I8:
        if ((int64_t)o->value < INT8_MIN || (int64_t)o->value > INT8_MAX)
            hg_check_error(at.c, "N07", at.inst, at.operand, NULL,
                           "%lld is out of range: -128 to 127", (long long)(int64_t)o->value);
        break;
    case HG_K_COND:
        if (o->value >= HG_COND_COUNT)
            bad_index(at, "condition", o->value, HG_COND_COUNT);
        else if (hg_condition_is_unsigned((hg_condition)o->value) && in->type < HG_TYPE_COUNT &&
                 hg_type_is_float((hg_type)in->type))
            hg_check_error(at.c, "N06", at.inst, HG_NO_OPERAND, NULL,
                           "unsupported operation: SETcc.%s for type %s",
                           hg_condition_name((hg_condition)o->value),
                           hg_type_name((hg_type)in->type));
        break;
    case HG_K_SCOPE:
        if (o->value >= HG_SCOPE_COUNT) bad_index(at, "scope", o->value, HG_SCOPE_COUNT);
        break;
    case HG_K_IDNAME:
        if (o->value >= HG_ID_COUNT) bad_index(at, "id", o->value, HG_ID_COUNT);
        break;
    case HG_K_OPNAME: check_opname(at, in, info, o); break;
    case HG_K_TUPLE:
    case HG_K_TUPLES: check_tuple(at, info, o); break;
    case HG_K_BOOL:
        if (o->value > 1) bad_index(at, info->name, o->value, 2);
        break;
    default: break;
    }
}

static void report_type(hg_check *c, uint32_t i) {
    const hg_inst *in = &c->program->insts[i];
    const hg_op_info *row = hg_op_get((hg_op)in->op);
    char hint[120];
    snprintf(hint, sizeof hint, "'%s' is for %s", row->text, hg_op_types_text((hg_op)in->op));
    hg_check_error(c, "N06", i, HG_NO_OPERAND, hint, "unsupported operation: %s for type %s",
                   row->id, hg_type_name((hg_type)in->type));
}

static void check_types_written(hg_check *c, uint32_t i, bool required) {
    const hg_inst *in = &c->program->insts[i];
    const hg_op_info *row = hg_op_get((hg_op)in->op);
    if (row->type_count == 0) return;
    if (in->type == HG_TYPE_OMITTED && ((row->flags & HG_F_TYPE_OPTIONAL) != 0 && !required))
        return;
    if (in->type == HG_TYPE_OMITTED)
        hg_check_error(c, "V05", i, HG_NO_OPERAND, NULL,
                       "type of '%s' cannot be inferred here: write %s.TYPE", row->text, row->text);
    else if (!hg_op_allows_type((hg_op)in->op, (hg_type)in->type))
        report_type(c, i);
    else if (row->type_count == 2 && in->type2 >= HG_TYPE_COUNT)
        hg_check_error(c, "N06", i, HG_NO_OPERAND, NULL,
                       "unsupported operation: %s without a source type", row->id);
    else if (row->type_count == 2 &&
             !hg_op_allows_types((hg_op)in->op, (hg_type)in->type, (hg_type)in->type2))
        hg_check_error(c, "N06", i, HG_NO_OPERAND, hg_op_second_text((hg_op)in->op),
                       "unsupported operation: %s from %s to %s", row->id,
                       hg_type_name((hg_type)in->type2), hg_type_name((hg_type)in->type));
}

/* The parameter that an address names, where the program declares extents of it; else NULL. */
static const hg_param *declared_array(const hg_program *p, const hg_operand *array) {
    for (uint32_t i = 0; array->place == HG_PLACE_BUF_REG && i < p->param_count; i++)
        if (p->params[i].reg == array->reg && p->params[i].kind != HG_PARAM_SCALAR &&
            p->params[i].kind != HG_PARAM_POOL && p->params[i].rank <= HG_MAX_EXTENTS)
            return &p->params[i];
    return NULL;
}

/* axis d, [before,] index, array, axis, extent= */
static void check_axis(hg_check *c, uint32_t i, const hg_operand *o) {
    int at = c->program->insts[i].op == HG_OP_AXIS_FIRST ? 2 : 3;
    const hg_operand *array = &o[at], *axis = &o[at + 1];
    const hg_param *declared = declared_array(c->program, array);
    bool buffer = array->place == HG_PLACE_BUF_REG, given = !hg_operand_is_missing(&o[at + 2]);
    uint64_t axes = declared && !given ? declared->rank : HG_MAX_EXTENTS;
    if (array->has_index || (buffer && array->disp) ||
        (!buffer && array->place != HG_PLACE_SHARED && array->place != HG_PLACE_PRIVATE))
        hg_check_error(c, "N03", i, at, NULL,
                       "'axis' takes an array: [x], [shared + N] or [private + N]");
    else if (!given && !declared)
        hg_check_error(c, "N05", i, at, "extent=N says what no declaration does",
                       "the array of 'axis' is not declared with extents");
    else if (axis->value >= axes && axis->value != HG_ALL_AXES)
        bad_index((place){c, i, at + 1, hg_op_get((hg_op)c->program->insts[i].op)}, "axis",
                  axis->value, axes);
}

static void check_instruction(hg_check *c, uint32_t i, bool types) {
    const hg_program *p = c->program;
    const hg_inst *in = &p->insts[i];
    if (in->op >= HG_OP_COUNT) {
        hg_check_error(c, "N01", i, HG_NO_OPERAND, NULL, "unknown instruction number %u",
                       (unsigned)in->op);
        return;
    }
    const hg_op_info *row = hg_op_get((hg_op)in->op);
    if (in->operands > p->operand_count || p->operand_count - in->operands < row->operand_count) {
        hg_check_error(c, "N04", i, HG_NO_OPERAND, NULL, "'%s' without its operands", row->text);
        return;
    }
    check_types_written(c, i, types);
    const hg_operand *o = hg_inst_operands(p, i);
    for (uint32_t k = 0; k < row->operand_count; k++)
        check_operand((place){c, i, (int)k, row}, in, &row->operands[k], &o[k]);
    hg_check_atlas(c, i);
    if (in->op == HG_OP_AXIS || in->op == HG_OP_AXIS_FIRST) check_axis(c, i, o);
    if (row->flags & HG_F_RUN && o[1].reg + o[2].value > HG_MAX_REGISTERS)
        hg_check_error(c, "N07", i, 2, NULL, "registers r%u to r%llu: the last register is r255",
                       (unsigned)o[1].reg, (unsigned long long)(o[1].reg + o[2].value - 1));
}

/* ---- parameters, launch defaults, metadata ---- */

#define WHOLE(c, code, ...) \
    hg_check_error(c, code, HG_NO_INSTRUCTION, HG_NO_OPERAND, NULL, __VA_ARGS__)

static bool is_extent_param(const hg_program *p, uint16_t param) {
    if (param >= p->param_count) return false;
    const hg_param *s = &p->params[param];
    return s->kind == HG_PARAM_SCALAR && (s->type == HG_TYPE_U32 || s->type == HG_TYPE_U64);
}

/* An expression has no operation of numbers alone: text has the number in its place. */
static const char *bad_expression(const hg_program *p, const hg_extent *e) {
    hg_extent_tree tree;
    if (!hg_extent_tree_make(p, e, &tree) || hg_extent_is_leaf(&tree.ops[tree.root]))
        return "is no expression";
    for (uint32_t i = 0; i <= tree.root; i++) {
        const hg_extent_op *op = &tree.ops[i];
        if (op->kind == HG_EXTENT_OP_PARAM && !is_extent_param(p, op->param))
            return "is no scalar parameter of type u32 or u64";
        if (!hg_extent_is_leaf(op) && tree.ops[tree.left[i]].kind == HG_EXTENT_OP_NUMBER &&
            tree.ops[tree.right[i]].kind == HG_EXTENT_OP_NUMBER)
            return "has an operation of two numbers";
    }
    return NULL;
}

/* NULL, or what is wrong with an extent. */
static const char *bad_extent(const hg_program *p, const hg_extent *e) {
    switch (e->kind) {
    case HG_EXTENT_NUMBER: return NULL;
    case HG_EXTENT_PARAM:
        return is_extent_param(p, e->param) ? NULL : "is no scalar parameter of type u32 or u64";
    case HG_EXTENT_EXPRESSION: return bad_expression(p, e);
    default: return "is no extent";
    }
}

/* A table has as many elements as its extents say. */
static void check_data(hg_check *c, const hg_param *a) {
    uint64_t bytes = hg_type_size_bytes((hg_type)a->type);
    bool numbers = true, fits = true;
    for (uint32_t k = 0; k < a->rank; k++) {
        numbers = numbers && a->dims[k].kind == HG_EXTENT_NUMBER;
        fits = fits && hg_mul_u64(bytes, a->dims[k].value, &bytes);
    }
    if (!numbers)
        WHOLE(c, "D03", "an extent of '%s' is no number: it is a table", a->name);
    else if (!fits || bytes != a->data_bytes || (bytes && !a->data))
        WHOLE(c, "N03", "the table '%s' has %llu bytes, which its extents do not say", a->name,
              (unsigned long long)a->data_bytes);
}

static void check_tables(hg_check *c, const hg_program *p) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < p->param_count; i++)
        if (p->params[i].kind == HG_PARAM_DATA && all <= HG_MAX_DATA_BYTES)
            all = p->params[i].data_bytes > HG_MAX_DATA_BYTES ? UINT64_MAX
                                                              : all + p->params[i].data_bytes;
    if (all > HG_MAX_DATA_BYTES)
        WHOLE(c, "S05", "more than %d bytes of tables", (int)HG_MAX_DATA_BYTES);
}

bool hg_is_shown_name(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~') return false;
    return length && length <= HG_MAX_IDENT_BYTES;
}

static void check_register_names(hg_check *c, const hg_program *p) {
    for (uint32_t i = 0; i < p->register_name_count; i++) {
        const hg_register_name *r = &p->register_names[i];
        if (r->first >= r->end || r->end > p->inst_count || r->predicate > 1 ||
            (r->predicate && r->number >= HG_MAX_PREDICATES) ||
            !hg_is_shown_name(r->name, strlen(r->name))) {
            WHOLE(c, "N03", "name %u of a register is out of range", (unsigned)i);
            return;
        }
    }
}

static void check_param(hg_check *c, const hg_program *p, uint32_t i) {
    const hg_param *a = &p->params[i];
    if (!a->name || !hg_is_parameter_name(a->name, strlen(a->name))) {
        WHOLE(c, "N03", "'%s' cannot be a parameter's name", a->name ? a->name : "");
        return;
    }
    for (uint32_t k = 0; k < i; k++) {
        if (p->params[k].reg == a->reg)
            hg_check_error(c, "D02", HG_NO_INSTRUCTION, HG_NO_OPERAND, NULL,
                           "register r%u is declared twice: '%s' and '%s'", (unsigned)a->reg,
                           p->params[k].name, a->name);
        if (p->params[k].name && strcmp(p->params[k].name, a->name) == 0)
            WHOLE(c, "D02", "parameter '%s' is declared twice", a->name);
    }
    bool buffer = a->kind == HG_PARAM_BUFFER,
         needs_dims = a->kind == HG_PARAM_SCRATCH || a->kind == HG_PARAM_DATA;
    bool dims = needs_dims || (buffer && a->rank != 255);
    if (a->kind > HG_PARAM_DATA || (needs_dims && a->rank == 255) ||
        (a->kind != HG_PARAM_POOL && a->type >= HG_TYPE_COUNT) ||
        (buffer ? a->dir < HG_DIR_IN || a->dir > HG_DIR_INOUT : a->dir != HG_DIR_NONE) ||
        (a->kind == HG_PARAM_SCALAR && a->has_default && !a->default_bytes))
        WHOLE(c, "N03", "parameter '%s' is incomplete", a->name);
    if (dims && a->rank > HG_MAX_EXTENTS) {
        WHOLE(c, "S05", "parameter '%s' has more than 8 extents", a->name);
        return;
    }
    for (uint32_t k = 0; dims && k < a->rank; k++) {
        const char *wrong = bad_extent(p, &a->dims[k]);
        if (wrong) WHOLE(c, "D03", "an extent of '%s' %s", a->name, wrong);
    }
    if (a->kind == HG_PARAM_DATA && a->type < HG_TYPE_COUNT) check_data(c, a);
}

static void check_launch(hg_check *c, const hg_program *p) {
    if (p->lanes_count > HG_MAX_EXTENTS || p->grid_count > 3) {
        WHOLE(c, "S05",
              p->grid_count > 3 ? "more than 3 extents in .grid" : "more than 8 extents in .lanes");
        return;
    }
    for (uint32_t k = 0; k < p->lanes_count; k++) {
        const char *wrong = bad_extent(p, &p->lanes[k]);
        hg_extent_tree tree;
        bool expression = !wrong && p->lanes[k].kind == HG_EXTENT_EXPRESSION &&
                          hg_extent_tree_make(p, &p->lanes[k], &tree);
        if (wrong)
            WHOLE(c, "D03", "an extent of .lanes %s", wrong);
        else if (expression && (p->lanes_count > 1 || hg_extent_is_product(&tree)))
            WHOLE(c, "N03",
                  "an extent of .lanes is an expression among several, or a product of extents");
    }
    for (uint32_t k = 0; k < p->grid_count; k++) {
        const char *wrong = bad_extent(p, &p->grid[k]);
        if (wrong) WHOLE(c, "D03", "an extent of .grid %s", wrong);
    }
    if (p->grid_count && p->lanes_count)
        WHOLE(c, "D03", ".grid and .lanes both say how many lanes there are");
}

static void check_program(hg_check *c) {
    const hg_program *p = c->program;
    if (p->inst_count > HG_MAX_INSTRUCTIONS) WHOLE(c, "S05", "more than 1048576 instructions");
    if (p->entry > p->inst_count) WHOLE(c, "L02", "the entry is behind the last instruction");
    if (p->param_count > HG_MAX_PARAMS) {
        WHOLE(c, "S05", "more than 252 parameters");
        return;
    }
    for (uint32_t i = 0; i < p->param_count; i++) check_param(c, p, i);
    check_tables(c, p);
    if (p->private_bytes > HG_MAX_PRIVATE_BYTES)
        WHOLE(c, "S05", "%llu bytes of private memory: a lane has at most %d",
              (unsigned long long)p->private_bytes, (int)HG_MAX_PRIVATE_BYTES);
    if (p->shared > HG_MAX_SHARED_BYTES)
        hg_check_error(c, "S05", HG_AT_SHARED, HG_NO_OPERAND, NULL,
                       "%llu bytes of shared memory: a block has at most %d",
                       (unsigned long long)p->shared, (int)HG_MAX_SHARED_BYTES);
    if ((p->block[0] == 0) != (p->block[1] == 0) || (p->block[0] == 0) != (p->block[2] == 0))
        WHOLE(c, "N03", "a block extent is 0");
    check_launch(c, p);
    check_register_names(c, p);
}

void hg_check_structure(hg_check *c, bool types) {
    check_program(c);
    for (uint32_t i = 0; i < c->program->inst_count; i++) check_instruction(c, i, types);
}

hg_status hg_program_check_structure(const hg_program *program, hg_diagnostics *d) {
    hg_check check;
    HG_TRY(hg_check_begin(&check, program, d));
    hg_check_structure(&check, false);
    return hg_check_end(&check);
}
