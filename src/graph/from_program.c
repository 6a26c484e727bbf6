/* A graph from a program whose whole-array instructions are done once each: these are its calls,
 * and between them the lanes' code as programs.
 * Must not know: how a program is cut. */
#include "graph/passes.h"
#include "graph/request.h"
#include "graph/sections.h"
#include "graph/shapes.h"
#include "isa/verify_internal.h"
#include <stdio.h>
#include <string.h>

typedef struct filler {
    hg_graph *g;
    const hg_program *p;
    graph_sections s;
    graph_request *r;    /* of the call at work: large */
    graph_request *dims; /* a call of the whole program, which says what its scalars are */
    uint32_t values[HG_MAX_PARAMS];  /* of each array what it is now; GRAPH_NOT_SET: nothing yet */
    uint32_t written[HG_MAX_PARAMS]; /* the last section that wrote it, from 1 */
    graph_value shapes[HG_MAX_PARAMS], declared[HG_MAX_PARAMS];
    graph_extent numbers[256]; /* of each register what it is, where it is the same for all lanes
                                  and known */
    uint32_t *results;         /* of each instruction that writes a register: its value */
    hg_accesses *what;
} filler;

static hg_status refuse_array(const filler *f, uint32_t param, const char *why) {
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%.60s: %s %s", hg_program_name(f->p),
                   f->p->params[param].name, why);
}

/* ---- what registers are ---- */

static graph_extent apply(filler *f, const hg_inst *in, const hg_operand *o) {
    static const struct {
        uint16_t op;
        uint8_t extent_op;
    } SAME[] = {{HG_OP_ADD, HG_EXTENT_OP_ADD}, {HG_OP_SUB, HG_EXTENT_OP_SUB},
                {HG_OP_MUL, HG_EXTENT_OP_MUL}, {HG_OP_DIV, HG_EXTENT_OP_DIV},
                {HG_OP_MIN, HG_EXTENT_OP_MIN}, {HG_OP_MAX, HG_EXTENT_OP_MAX}};
    uint64_t number = 0;
    if (in->op == HG_OP_CVT)
        return in->type == HG_TYPE_U64 && in->type2 == HG_TYPE_U32 ? f->numbers[o[1].reg]
                                                                   : GRAPH_NOT_SET;
    if (in->type != HG_TYPE_U64 && in->type != HG_TYPE_U32) return GRAPH_NOT_SET;
    if (in->op == HG_OP_MOV_IMM) {
        memcpy(&number, hg_literal(f->p, &o[1]), hg_type_size_bytes((hg_type)in->type));
        return graph_number(f->g, number);
    }
    if (in->op == HG_OP_MOV) return f->numbers[o[1].reg];
    if (in->type != HG_TYPE_U64) return GRAPH_NOT_SET; /* it would wrap earlier */
    if (in->op == HG_OP_MAD)
        return graph_combine(
            f->g, HG_EXTENT_OP_ADD,
            graph_combine(f->g, HG_EXTENT_OP_MUL, f->numbers[o[1].reg], f->numbers[o[2].reg]),
            f->numbers[o[3].reg]);
    for (size_t i = 0; i < HG_COUNT_OF(SAME); i++)
        if (in->op == SAME[i].op)
            return graph_combine(f->g, (hg_extent_op_kind)SAME[i].extent_op, f->numbers[o[1].reg],
                                 f->numbers[o[2].reg]);
    return GRAPH_NOT_SET;
}

static hg_status follow(filler *f, uint32_t inst) {
    const hg_inst *in = &f->p->insts[inst];
    graph_extent known = f->s.nested[inst] ? GRAPH_NOT_SET
                                           : apply(f, in, hg_inst_operands(f->p, inst));
    hg_inst_accesses(f->p, inst, f->what);
    for (uint32_t i = 0; i < f->what->writes; i++)
        if (!f->what->write[i].is_pred)
            f->numbers[f->what->write[i].reg] = i == 0 ? known : GRAPH_NOT_SET;
    return f->g->extent_status == HG_ERROR_OUT_OF_MEMORY ? f->g->extent_status : HG_OK;
}

/* Why an extent is not there: no memory, or nothing tells it. */
static bool no_memory(const filler *f) { return f->g->extent_status == HG_ERROR_OUT_OF_MEMORY; }

/* ---- arrays ---- */

/* What an array is now. Scratch begins as zeros; what a program makes has nothing before. */
static hg_status read_array(filler *f, uint32_t param, uint32_t *value) {
    const hg_param *p = &f->p->params[param];
    if (f->values[param] == GRAPH_NOT_SET && p->kind == HG_PARAM_SCRATCH)
        HG_TRY(graph_append_zeros(f->g, &f->shapes[param], &f->values[param]));
    *value = f->values[param];
    return *value != GRAPH_NOT_SET
               ? HG_OK
               : refuse_array(f, param,
                              "is read before it is written: to a graph it has no contents then");
}

static const char *free_name(const filler *f, uint32_t param) {
    const char *name = f->p->params[param].name;
    bool taken = graph_find_value(f->g, name, strlen(name)) != GRAPH_NOT_SET;
    for (uint32_t i = 0; i < f->r->result_count && !taken; i++)
        taken = f->r->result_names[i] == name;
    return taken ? NULL : name;
}

/* The call makes the array anew. */
static void make_array(filler *f, uint32_t operand, uint32_t param) {
    graph_request *r = f->r;
    const char *name = free_name(f, param);
    f->declared[r->result_count] = f->shapes[param];
    f->declared[r->result_count].source = GRAPH_RESULT;
    f->declared[r->result_count].line = r->line;
    r->result_names[r->result_count] = name;
    r->result_lengths[r->result_count] = name ? strlen(name) : 0;
    r->results[r->result_count++] = (graph_result){(uint8_t)operand, GRAPH_NOT_SET};
}

static void give(filler *f, uint32_t operand, graph_operand_kind kind, uint32_t number) {
    f->r->operands[f->r->operand_count++] = (graph_operand){
        .operand = (uint8_t)operand, .kind = (uint8_t)kind, .number = number};
}

static void begin_call(filler *f, uint32_t inst) {
    memset(f->r, 0, sizeof *f->r);
    f->r->op = HG_OP_NONE;
    f->r->declared = f->declared;
    f->r->line = f->p->lines ? f->p->lines[inst] : 0;
    f->r->inst = inst;
}

/* ---- whole-array instructions ---- */

/* What lies behind the array's `offset`-th element. */
static hg_status view_behind(filler *f, graph_extent offset, uint32_t *value) {
    hg_graph *g = f->g;
    const graph_value of = g->values.data[*value];
    graph_value v = {.source = GRAPH_VIEW,
                     .of = *value,
                     .type = of.type,
                     .rank = 1,
                     .offset = offset,
                     .line = f->r->line};
    v.extents[0] = graph_combine(g, HG_EXTENT_OP_SUB, of.elements, offset);
    if (v.extents[0] == GRAPH_NOT_SET) return hg_error_record()->status;
    return graph_add_value(g, &v, NULL, 0, value);
}

/* Whether the table's shape is one of the value's, as far as sizes stand alone in it. */
static bool fits(filler *f, const graph_shape *s, const graph_value *v) {
    int many = graph_shape_many(s, v->rank);
    for (uint32_t i = 0, axis = 0; i < s->count && many >= 0; i++) {
        const graph_shape_extent *e = &s->extents[i];
        const graph_operand *size = e->kind == GRAPH_SHAPE_SIZE ? graph_given(f->r, e->operand)
                                                                : NULL;
        if (size && size->number != v->extents[axis]) return false;
        axis += e->kind == GRAPH_SHAPE_MANY ? (uint32_t)many : 1;
    }
    return true;
}

/* The shape that the call's sizes are; false: they do not tell it. */
static bool shape_of_sizes(filler *f, const graph_shape *s, graph_value *v) {
    for (uint32_t i = 0; i < s->count; i++) {
        const graph_shape_extent *e = &s->extents[i];
        bool is_size = e->kind == GRAPH_SHAPE_SIZE || e->kind == GRAPH_SHAPE_MANY;
        const graph_operand *size = is_size ? graph_given(f->r, e->operand) : NULL;
        if (!size) return false;
        v->extents[i] = size->number;
    }
    v->rank = (uint8_t)s->count;
    return true;
}

/* To an instruction of a program an array is memory; to a call of a graph its shape is what the
 * call's sizes are. */
static hg_status shape_array(filler *f, uint32_t operand, uint32_t *value) {
    const graph_value v = f->g->values.data[*value];
    graph_value view = {
        .source = GRAPH_VIEW, .of = *value, .type = v.type, .rank = v.rank, .line = f->r->line};
    graph_shape s;
    if (!graph_shape_of(f->r, operand, &s) || fits(f, &s, &v)) return HG_OK;
    if (!shape_of_sizes(f, &s, &view)) {
        if (s.count != v.rank) return HG_OK;
        view.rank = 1;
        view.extents[0] = v.elements;
    }
    view.offset = graph_number(f->g, 0);
    return view.offset == GRAPH_NOT_SET ? hg_error_record()->status
                                        : graph_add_value(f->g, &view, NULL, 0, value);
}

static graph_extent elements_of(filler *f, const graph_value *v) {
    graph_extent product = graph_number(f->g, 1);
    for (uint32_t d = 0; d < v->rank; d++)
        product = graph_combine(f->g, HG_EXTENT_OP_MUL, product, v->extents[d]);
    return product;
}

/* The same of the array that the call makes, where that is all of it. */
static void shape_result(filler *f, uint32_t operand) {
    graph_value *v = &f->declared[f->r->result_count - 1], sized = *v;
    graph_shape s;
    if (!graph_shape_of(f->r, operand, &s) || fits(f, &s, v) || !shape_of_sizes(f, &s, &sized))
        return;
    graph_extent elements = elements_of(f, v);
    if (elements != GRAPH_NOT_SET && elements == elements_of(f, &sized)) *v = sized;
}

/* What a call made in another shape as the program's array. */
static hg_status shape_again(filler *f, uint32_t param, uint32_t *value) {
    const graph_value *made = &f->g->values.data[*value];
    graph_value v = f->shapes[param];
    if (made->rank == v.rank && memcmp(made->extents, v.extents, sizeof *v.extents * v.rank) == 0)
        return HG_OK;
    v.source = GRAPH_VIEW;
    v.of = *value;
    v.line = f->r->line;
    v.offset = graph_number(f->g, 0);
    return v.offset == GRAPH_NOT_SET ? hg_error_record()->status
                                     : graph_add_value(f->g, &v, NULL, 0, value);
}

/* Elements in front of those that an address names; GRAPH_NOT_SET: no extent says how many. */
static graph_extent offset_of(filler *f, const hg_operand *o, uint64_t size) {
    hg_graph *g = f->g;
    uint64_t scale = hg_operand_scale(o);
    if (o->kind != HG_K_ADDRESS || (!o->has_index && o->disp == 0)) return graph_number(g, 0);
    if (o->disp < 0 || (uint64_t)o->disp % size != 0 || (o->has_index && scale % size != 0))
        return GRAPH_NOT_SET;
    graph_extent disp = graph_number(g, (uint64_t)o->disp / size);
    if (!o->has_index) return disp;
    return graph_combine(
        g, HG_EXTENT_OP_ADD,
        graph_combine(g, HG_EXTENT_OP_MUL, f->numbers[o->index], graph_number(g, scale / size)),
        disp);
}

static hg_status take_array(filler *f, uint32_t inst, uint32_t operand) {
    const hg_operand_info *info = &hg_op_get((hg_op)f->p->insts[inst].op)->operands[operand];
    const hg_operand *o = &hg_inst_operands(f->p, inst)[operand];
    uint8_t param = graph_array_of(&f->s, inst, operand);
    uint32_t value = GRAPH_NOT_SET;
    uint64_t none;
    if (info->kind == HG_K_REG) { /* the result of a reduction: a value of one element */
        f->declared[f->r->result_count] = (graph_value){.type = HG_TYPE_COUNT};
        f->r->results[f->r->result_count++] = (graph_result){(uint8_t)operand, GRAPH_NOT_SET};
        return HG_OK;
    }
    if (param == GRAPH_NO_ARRAY)
        return graph_refuse_at(&f->s, inst, "%s is no parameter, scratch or data of the program",
                               info->name);
    graph_extent offset = offset_of(f, o, graph_type_bytes(&f->shapes[param]));
    if (offset == GRAPH_NOT_SET)
        return graph_refuse_at(&f->s, inst, "no size tells where in %s %s begins",
                               f->p->params[param].name, info->name);
    bool front = graph_is_number(f->g, offset, &none) && none == 0;
    if ((info->access & HG_WRITE) && !front)
        return graph_refuse_at(
            &f->s, inst,
            "it writes behind the first element of %s: a graph's values are made as a whole",
            f->p->params[param].name);
    if ((info->access & HG_READ) && !((info->access & HG_WRITE) && graph_leaves_contents(f->r))) {
        HG_TRY(read_array(f, param, &value));
        if (!front) HG_TRY(view_behind(f, offset, &value));
        HG_TRY(shape_array(f, operand, &value));
        give(f, operand, GRAPH_ARRAY, value);
    }
    if (info->access & HG_WRITE) {
        make_array(f, operand, param);
        shape_result(f, operand);
    }
    return HG_OK;
}

static hg_status take_item(filler *f, uint32_t inst, const hg_tuple_item *item, uint32_t *count) {
    graph_extent e = item->is_reg ? f->numbers[item->reg] : graph_number(f->g, item->value);
    if (e == GRAPH_NOT_SET && no_memory(f)) return f->g->extent_status;
    if (e == GRAPH_NOT_SET)
        return graph_refuse_at(&f->s, inst, "no size tells what register r%u is",
                               (unsigned)item->reg);
    graph_extent *to = hg_vec_push(&f->g->items);
    if (!to) return hg_fail_memory();
    *to = e;
    ++*count;
    return HG_OK;
}

static hg_status take_tuple(filler *f, uint32_t inst, uint32_t operand, const hg_operand *o,
                            graph_operand_kind kind) {
    uint32_t first = (uint32_t)f->g->items.count, count = 0;
    const hg_tuple_item *items = hg_tuple(f->p, o);
    for (uint64_t i = 0; i < o->item_count; i++) {
        uint32_t inside;
        const hg_tuple_item *own = hg_tuple_counts(f->p, &items[i], &inside);
        if (kind == GRAPH_TUPLES)
            HG_TRY(take_item(f, inst, &(hg_tuple_item){.value = inside}, &count));
        for (uint32_t k = 0; k < inside; k++) HG_TRY(take_item(f, inst, &own[k], &count));
    }
    give(f, operand, kind, count);
    f->r->operands[f->r->operand_count - 1].first = first;
    return HG_OK;
}

static hg_status take_literal(filler *f, uint32_t inst, uint32_t operand, const hg_operand *o) {
    const hg_operand_info *info = &hg_op_get((hg_op)f->p->insts[inst].op)->operands[operand];
    uint64_t size = hg_type_size_bytes(hg_literal_type(&f->p->insts[inst], info));
    uint8_t *bytes = hg_arena_alloc(&f->g->arena, (size_t)size + 8); /* read as eight bytes too */
    if (!bytes) return hg_fail_memory();
    memcpy(bytes, hg_literal(f->p, o), (size_t)size);
    give(f, operand, GRAPH_LITERAL, 0);
    f->r->operands[f->r->operand_count - 1].bytes = bytes;
    return HG_OK;
}

static hg_status take_operand(filler *f, uint32_t inst, uint32_t operand) {
    const hg_operand_info *info = &hg_op_get((hg_op)f->p->insts[inst].op)->operands[operand];
    const hg_operand *o = &hg_inst_operands(f->p, inst)[operand];
    if (hg_operand_is_missing(o) || hg_operand_is_empty(info, o)) return HG_OK;
    graph_operand_kind kind = graph_operand_kind_of(f->r, operand);
    bool reg = info->kind == HG_K_REG || (info->kind == HG_K_COUNT && o->is_reg);
    graph_extent e;
    switch (kind) {
    case GRAPH_ARRAY: return take_array(f, inst, operand);
    case GRAPH_LITERAL: return take_literal(f, inst, operand, o);
    case GRAPH_TUPLE:
    case GRAPH_TUPLES: return take_tuple(f, inst, operand, o, kind);
    case GRAPH_NAME:
    case GRAPH_FLAG: give(f, operand, kind, (uint32_t)o->value); return HG_OK;
    default: break;
    }
    e = reg ? f->numbers[o->reg] : graph_number(f->g, o->value);
    if (e == GRAPH_NOT_SET && no_memory(f)) return f->g->extent_status;
    if (e == GRAPH_NOT_SET)
        return graph_refuse_at(&f->s, inst,
                               "%s is not known before the program runs: it is no size, and no sum "
                               "or product of sizes",
                               info->name ? info->name : "an operand");
    give(f, operand, GRAPH_COUNT, e);
    return HG_OK;
}

/* What the call made is what its arrays are from now on. */
static hg_status note_results(filler *f, uint32_t section, uint32_t inst) {
    for (uint32_t i = 0; i < f->r->result_count; i++) {
        const graph_result *made = &f->r->results[i];
        uint8_t param = graph_array_of(&f->s, inst, made->operand);
        if (param == GRAPH_NO_ARRAY) {
            f->results[inst] = made->value;
            continue;
        }
        f->values[param] = made->value;
        f->written[param] = section + 1;
        HG_TRY(shape_again(f, param, &f->values[param]));
    }
    return HG_OK;
}

static hg_status add_step(filler *f, uint32_t section) {
    uint32_t inst = f->s.list.data[section].first;
    const hg_op_info *row = hg_op_get((hg_op)f->p->insts[inst].op);
    begin_call(f, inst);
    f->r->op = (uint16_t)graph_op_named(row->text, strlen(row->text)); /* of a reduction into a
                                                                          register the one into
                                                                          memory */
    f->r->type = f->p->insts[inst].type < HG_TYPE_COUNT ? f->p->insts[inst].type : HG_TYPE_COUNT;
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (graph_operand_kind_of(f->r, i) != GRAPH_ARRAY)
            HG_TRY(take_operand(f, inst, i)); /* sizes first: arrays are shaped by them */
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (graph_operand_kind_of(f->r, i) == GRAPH_ARRAY) HG_TRY(take_operand(f, inst, i));
    if (graph_add_call(f->g, f->r) != HG_OK) {
        char message[sizeof hg_error_record()->message];
        if (hg_error_record()->status != HG_ERROR_INVALID_ARGUMENT)
            return hg_error_record()->status;
        snprintf(message, sizeof message, "%s", hg_error_record()->message);
        return graph_refuse_at(&f->s, inst, "%s", message);
    }
    HG_TRY(follow(f, inst));
    return note_results(f, section, inst);
}

/* ---- lanes ---- */

static void give_scalars(filler *f, const graph_section_program *made) {
    for (uint32_t i = 0; i < made->program->param_count; i++) {
        const hg_param *p = &made->program->params[i];
        if (p->kind != HG_PARAM_SCALAR) continue;
        const graph_operand *known = graph_given(f->dims, made->scalars[i]);
        if (known) give(f, i, GRAPH_COUNT, known->number);
    }
}

static hg_status give_arrays(filler *f, const graph_section_program *made) {
    for (uint32_t i = 0; i < made->array_count; i++) {
        const graph_section_array *a = &made->arrays[i];
        uint32_t value = a->step == GRAPH_NOT_SET ? GRAPH_NOT_SET : f->results[a->step];
        uint8_t dir = made->program->params[a->number].dir;
        if (a->step == GRAPH_NOT_SET && dir != HG_DIR_OUT) HG_TRY(read_array(f, a->param, &value));
        if (value != GRAPH_NOT_SET) give(f, a->number, GRAPH_ARRAY, value);
        if (dir != HG_DIR_IN) make_array(f, a->number, a->param);
    }
    return HG_OK;
}

static hg_status call_section(filler *f, uint32_t section, const graph_section_program *made) {
    begin_call(f, f->s.list.data[section].first);
    f->r->program = made->program;
    give_scalars(f, made);
    HG_TRY(give_arrays(f, made));
    HG_TRY(graph_add_call(f->g, f->r));
    for (uint32_t i = 0; i < f->r->result_count; i++)
        for (uint32_t k = 0; k < made->array_count; k++)
            if (made->arrays[k].number == f->r->results[i].operand) {
                f->values[made->arrays[k].param] = f->r->results[i].value;
                f->written[made->arrays[k].param] = section + 1;
            }
    return HG_OK;
}

static hg_status add_lanes(filler *f, uint32_t section) {
    const graph_section *at = &f->s.list.data[section];
    bool filled[HG_MAX_PARAMS];
    graph_section_program *made;
    for (uint32_t i = at->first; i < at->end; i++) HG_TRY(follow(f, i));
    if (!at->effects) return HG_OK;
    if (!f->p->lanes_count && !f->p->grid_count)
        return graph_refuse_at(
            &f->s, at->first,
            "the program does not say how many lanes it has: write .lanes or .grid");
    for (uint32_t i = 0; i < f->p->param_count; i++) filled[i] = f->values[i] != GRAPH_NOT_SET;
    if (!(made = hg_alloc(sizeof *made))) return hg_fail_memory();
    hg_status status = graph_write_section(&f->s, section, f->written, filled, made);
    if (status == HG_OK) {
        status = graph_keep_program(f->g, made->program);
        hg_program_release(made->program);
    }
    if (status == HG_OK) status = call_section(f, section, made);
    hg_free(made);
    return status;
}

/* ---- the whole ---- */

static hg_status add_sizes(filler *f) {
    for (uint32_t r = 0; r < 256; r++) f->numbers[r] = GRAPH_NOT_SET;
    f->dims->program = (hg_program *)(uintptr_t)f->p;
    for (uint32_t i = 0; i < f->p->param_count; i++) {
        const hg_param *p = &f->p->params[i];
        if (p->kind != HG_PARAM_SCALAR || graph_operand_kind_of(f->dims, i) != GRAPH_COUNT)
            continue;
        HG_TRY(graph_add_symbol(f->g, p->name, strlen(p->name)));
        graph_extent e = graph_symbol(f->g, (uint32_t)f->g->symbols.count - 1);
        if (e == GRAPH_NOT_SET) return hg_error_record()->status;
        f->dims->operands[f->dims->operand_count++] = (graph_operand){
            .operand = (uint8_t)i, .kind = GRAPH_COUNT, .number = e};
        f->numbers[p->reg] = e;
    }
    return HG_OK;
}

static hg_status add_data(filler *f, const hg_param *p, graph_value *v) {
    uint8_t *bytes = hg_arena_alloc(&f->g->arena, (size_t)p->data_bytes + 1);
    if (!bytes) return hg_fail_memory();
    if (p->data_bytes) memcpy(bytes, p->data, (size_t)p->data_bytes);
    v->source = GRAPH_CONSTANT;
    v->bytes = bytes;
    return HG_OK;
}

static hg_status add_arrays(filler *f) {
    for (uint32_t i = 0; i < f->p->param_count; i++) {
        const hg_param *p = &f->p->params[i];
        graph_value *v = &f->shapes[i];
        f->values[i] = GRAPH_NOT_SET;
        if (p->kind == HG_PARAM_SCALAR && !graph_is_element(p)) continue;
        if (p->kind == HG_PARAM_POOL)
            return refuse_array(f, i, "is a pool, which a graph has none of");
        bool element = graph_is_element(p);
        if (!element && p->rank == HG_NO_DIMS)
            return refuse_array(f, i, "has no extents: write them behind its type, as in [n]");
        *v = (graph_value){.source = GRAPH_INPUT, .type = p->type, .rank = element ? 0 : p->rank};
        for (uint8_t d = 0; d < v->rank; d++)
            if ((v->extents[d] = graph_translate(f->g, f->dims, &p->dims[d])) == GRAPH_NOT_SET)
                return no_memory(f) ? f->g->extent_status
                                    : refuse_array(f, i, "has an extent that no size tells");
        if (p->kind == HG_PARAM_DATA) HG_TRY(add_data(f, p, v));
        bool given = element || p->kind == HG_PARAM_DATA ||
                     (p->kind == HG_PARAM_BUFFER && p->dir != HG_DIR_OUT);
        if (given) HG_TRY(graph_add_value(f->g, v, p->name, strlen(p->name), &f->values[i]));
    }
    return HG_OK;
}

/* What the program writes; of what it reads too, x_out is what x is behind it. */
static hg_status add_outputs(filler *f) {
    for (uint32_t i = 0; i < f->p->param_count; i++) {
        const hg_param *p = &f->p->params[i];
        char name[HG_MAX_IDENT_BYTES + 8];
        if (p->kind != HG_PARAM_BUFFER || p->dir == HG_DIR_IN ||
            (p->dir == HG_DIR_INOUT && !f->written[i]))
            continue;
        if (f->values[i] == GRAPH_NOT_SET) return refuse_array(f, i, "is never written");
        snprintf(name, sizeof name, "%s%s", p->name, p->dir == HG_DIR_INOUT ? "_out" : "");
        HG_TRY(graph_add_output(f->g, f->values[i], name, strlen(name)));
    }
    return HG_OK;
}

static hg_status fill(filler *f) {
    HG_TRY(hg_verify(f->p, NULL, NULL, &f->s.cfg)); /* extents and operands name what is there */
    HG_TRY(add_sizes(f));
    HG_TRY(add_arrays(f));
    HG_TRY(graph_find_sections(f->p, &f->s));
    for (uint32_t i = 0; i < f->s.list.count; i++)
        HG_TRY(f->s.list.data[i].step ? add_step(f, i) : add_lanes(f, i));
    return add_outputs(f);
}

hg_status hg_graph_from_program(const hg_program *program, hg_graph **graph) {
    HG_ENTRY;
    if (!program || !graph) return hg_null_argument(program ? "graph" : "program");
    filler *f = hg_calloc(1, sizeof *f);
    if (!f) return hg_fail_memory();
    f->p = program;
    f->g = hg_graph_create(hg_program_name(program));
    f->r = hg_calloc(1, sizeof *f->r);
    f->dims = hg_calloc(1, sizeof *f->dims);
    f->results = hg_calloc((size_t)program->inst_count + 1, sizeof *f->results);
    f->what = hg_alloc(sizeof *f->what);
    hg_status status = f->g && f->r && f->dims && f->results && f->what ? fill(f)
                                                                        : hg_fail_memory();
    graph_free_sections(&f->s);
    hg_free(f->r);
    hg_free(f->dims);
    hg_free(f->results);
    hg_free(f->what);
    if (status == HG_ERROR_INVALID_ARGUMENT) memcpy(hg_error_record()->code, "G01", 4);
    if (status == HG_OK)
        *graph = f->g;
    else
        hg_graph_release(f->g);
    hg_free(f);
    return status;
}
