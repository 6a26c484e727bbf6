/* The program of one section: its own code, and in front of it what earlier code computes and it
 * reads. What whole-array instructions gave registers it loads. Must not know: values of a graph.
 */
#include "graph/sections.h"
#include "optimize/optimize.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
    const graph_sections *s;
    uint32_t at;                /* the section */
    const graph_section *own;   /* the same */
    const uint32_t *written;    /* of each parameter: the last section that wrote it, from 1 */
    bool stored[HG_MAX_PARAMS]; /* of each parameter: the section's lanes write it */
    const bool *filled;         /* of each parameter: it has contents */
    optimize_edit edit;         /* of a copy of the program */
    hg_accesses *what;          /* of one instruction: large */
    uint8_t access[HG_MAX_PARAMS];
    bool read_scalar[HG_MAX_PARAMS];
    bool taken[256]; /* registers of arrays that the program does not have */
    graph_section_program *to;
} writer;

static bool is_own(const writer *w, uint32_t inst) {
    return inst >= w->own->first && inst < w->own->end;
}

static bool writes_live(const writer *w, uint32_t inst, const hg_live_set *after) {
    hg_inst_accesses(w->s->program, inst, w->what);
    for (uint32_t i = 0; i < w->what->writes; i++) {
        const hg_access *a = &w->what->write[i];
        if (hg_live_has(after, a->reg + (a->is_pred ? (uint32_t)HG_LIVE_PREDICATES : 0)))
            return true;
    }
    return false;
}

/* Later code is not there. Of a whole-array instruction the result is read, not its operands. */
static bool needs(void *user, uint32_t inst, const hg_live_set *after) {
    const writer *w = user;
    if (inst >= w->own->end) return false;
    return is_own(w, inst) ||
           (!w->s->list.data[w->s->section[inst]].step && writes_live(w, inst, after));
}

static const char *register_name(const writer *w, uint32_t inst, hg_register_text *text) {
    *text = hg_check_register(w->s->program, inst, w->what->write[0].is_pred,
                              w->what->write[0].reg);
    return text->text;
}

/* Whether earlier code may be done once more here. A load may where nothing has written its array
 * since, and no lane of this section does: one that is ahead would be read. */
static hg_status check_again(const writer *w, uint32_t inst) {
    const hg_program *p = w->s->program;
    hg_register_text text;
    if (w->s->nested[inst])
        return graph_refuse_at(
            w->s, inst,
            "%s is set in a loop or behind a branch, and read behind whole-array instructions",
            register_name(w, inst, &text));
    if (p->insts[inst].op == HG_OP_RDID || optimize_is_pure(p, inst)) return HG_OK;
    uint8_t array = p->insts[inst].op == HG_OP_LDG ? graph_array_of(w->s, inst, 1) : GRAPH_NO_ARRAY;
    if (array != GRAPH_NO_ARRAY && !w->stored[array] && w->written[array] <= w->s->section[inst])
        return HG_OK;
    return graph_refuse_at(
        w->s, inst,
        "%s is read behind whole-array instructions, and cannot be worked out again there",
        register_name(w, inst, &text));
}

static uint8_t free_register(writer *w) {
    uint32_t r = 0;
    while (r < HG_FIRST_SPECIAL && (w->s->used[r] || w->taken[r])) r++;
    w->taken[r] = true;
    return (uint8_t)r;
}

/* "ldg.type reg, [a new register]": that one is the array's. */
static hg_status load(writer *w, uint8_t type, uint8_t reg, graph_section_array array,
                      hg_inst *made) {
    graph_section_program *to = w->to;
    if ((array.reg = free_register(w)) == HG_FIRST_SPECIAL || to->array_count == HG_MAX_PARAMS)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "%.60s: it leaves no register for what a graph gives it",
                       hg_program_name(w->s->program));
    to->arrays[to->array_count++] = array;
    const hg_operand operands[] = {
        optimize_reg(reg), {.kind = HG_K_ADDRESS, .place = HG_PLACE_BUF_REG, .reg = array.reg}};
    return optimize_make(&w->edit, HG_OP_LDG, type, operands, made) ? HG_OK : hg_fail_memory();
}

/* Type of the register that an instruction writes. */
static uint8_t written_type(const writer *w, uint32_t inst) {
    hg_inst_accesses(w->s->program, inst, w->what);
    return w->what->write[0].want < HG_TYPE_COUNT ? w->what->write[0].want
                                                  : w->s->program->insts[inst].type;
}

/* The result of a whole-array instruction, which a register has, is loaded in its place. */
static hg_status load_result(writer *w, uint32_t inst, hg_inst *made) {
    uint8_t type = written_type(w, inst);
    return load(w, type, w->what->write[0].reg, (graph_section_array){.step = inst}, made);
}

/* Numbers that are arrays to the graph are loaded ahead of all. */
static hg_status load_elements(writer *w) {
    const hg_program *p = w->s->program;
    uint64_t count = w->edit.written.count, first = 0;
    while (first < count && w->edit.written.data[first].from < p->entry) first++;
    for (uint32_t i = 0; i < p->param_count; i++) {
        if (!graph_is_element(&p->params[i]) || !w->read_scalar[i]) continue;
        if (w->s->nested[p->entry])
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "%.60s begins with a loop: a graph has no place to load %s",
                           hg_program_name(p), p->params[i].name);
        optimize_inst *to = hg_vec_push(&w->edit.written);
        if (!to) return hg_fail_memory();
        optimize_inst one = {.from = p->entry};
        HG_TRY(load(w, p->params[i].type, p->params[i].reg,
                    (graph_section_array){.param = (uint8_t)i, .step = GRAPH_NOT_SET}, &one.inst));
        memmove(&w->edit.written.data[first + 1], &w->edit.written.data[first],
                (size_t)(w->edit.written.count - 1 - first) * sizeof one);
        w->edit.written.data[first] = one;
    }
    return HG_OK;
}

static void note_accesses(writer *w, uint32_t inst) {
    const hg_program *p = w->s->program;
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    for (uint32_t i = 0; i < row->operand_count; i++) {
        uint8_t array = graph_array_of(w->s, inst, i);
        if (array == GRAPH_NO_ARRAY) continue;
        bool changed = (row->flags & HG_F_ATOMIC) && (row->operands[i].access & HG_WRITE);
        w->access[array] |= (uint8_t)((row->operands[i].access & (HG_READ | HG_WRITE)) |
                                      (changed ? HG_READ : 0));
    }
    hg_inst_accesses(p, inst, w->what);
    for (uint32_t i = 0; i < w->what->reads; i++)
        for (uint32_t k = 0; k < p->param_count && !w->what->read[i].is_pred; k++)
            if (p->params[k].kind == HG_PARAM_SCALAR && p->params[k].reg == w->what->read[i].reg)
                w->read_scalar[k] = true;
}

static void note_stores(writer *w) {
    for (uint32_t i = w->own->first; i < w->own->end; i++) {
        const hg_op_info *row = hg_op_get((hg_op)w->s->program->insts[i].op);
        for (uint32_t k = 0; k < row->operand_count; k++) {
            uint8_t array = graph_array_of(w->s, i, k);
            if (array != GRAPH_NO_ARRAY && (row->operands[k].access & HG_WRITE))
                w->stored[array] = true;
        }
    }
}

static hg_status keep(writer *w, uint32_t inst) {
    bool step = w->s->list.data[w->s->section[inst]].step, own = is_own(w, inst);
    hg_inst in = w->edit.program->insts[inst];
    if (inst >= w->own->end ||
        (!own && (!w->edit.reached[inst] || !writes_live(w, inst, &w->edit.after[inst]))))
        return HG_OK;
    if (step)
        HG_TRY(load_result(w, inst, &in));
    else if (!own)
        HG_TRY(check_again(w, inst));
    if (!step) note_accesses(w, inst);
    optimize_inst *to = hg_vec_push(&w->edit.written);
    if (!to) return hg_fail_memory();
    *to = (optimize_inst){in, inst};
    return HG_OK;
}

/* ---- parameters ---- */

static bool names(const hg_program *p, const hg_extent *extents, uint32_t count, uint32_t param) {
    for (uint32_t i = 0; i < count; i++)
        if (hg_extent_names(p, &extents[i], (uint16_t)param)) return true;
    return false;
}

static bool keeps_scalar(const writer *w, uint32_t param) {
    const hg_program *p = w->s->program;
    bool kept = w->read_scalar[param] || names(p, p->lanes, p->lanes_count, param) ||
                names(p, p->grid, p->grid_count, param);
    for (uint32_t i = 0; i < p->param_count && !kept; i++)
        kept = w->access[i] && p->params[i].rank != HG_NO_DIMS &&
               names(p, p->params[i].dims, p->params[i].rank, param);
    return kept;
}

static void renumber(hg_extent *extents, uint32_t count, const uint16_t *numbers) {
    for (uint32_t i = 0; i < count; i++)
        if (extents[i].kind == HG_EXTENT_PARAM) extents[i].param = numbers[extents[i].param];
}

/* What is written and has contents keeps those. */
static uint8_t direction(const writer *w, uint32_t param) {
    if (!(w->access[param] & HG_WRITE)) return HG_DIR_IN;
    return w->filled[param] ? HG_DIR_INOUT : HG_DIR_OUT;
}

/* A program without whole-array instructions does what its parameters say. */
static void note_directions(writer *w) {
    for (uint32_t i = 0; i < w->s->program->param_count; i++) {
        const hg_param *p = &w->s->program->params[i];
        if (p->kind == HG_PARAM_BUFFER) w->access[i] = p->dir;
        if (p->kind == HG_PARAM_SCRATCH) w->access[i] = HG_READ | HG_WRITE;
        if (p->kind == HG_PARAM_DATA) w->access[i] = HG_READ;
    }
}

/* An array that the program does not have, of one element. */
static hg_status write_element(writer *w, graph_section_array *a, hg_param *to) {
    char name[32];
    bool result = a->step != GRAPH_NOT_SET;
    int length = snprintf(name, sizeof name, "result_%u", result ? (unsigned)a->step : 0);
    const char *own = result ? name : w->s->program->params[a->param].name;
    *to = (hg_param){.reg = a->reg, .kind = HG_PARAM_BUFFER, .dir = HG_DIR_IN};
    to->type = result ? written_type(w, a->step) : w->s->program->params[a->param].type;
    to->name = hg_arena_text(&w->edit.program->arena, own, result ? (size_t)length : strlen(own));
    return to->name ? HG_OK : hg_fail_memory();
}

/* Extents name parameters by their numbers. */
static void renumber_all(hg_program *p, const uint16_t *numbers) {
    for (uint32_t i = 0; i < p->param_count; i++)
        if (p->params[i].rank != HG_NO_DIMS)
            renumber(p->params[i].dims, p->params[i].rank, numbers);
    renumber(p->lanes, p->lanes_count, numbers);
    renumber(p->grid, p->grid_count, numbers);
    for (uint32_t i = 0; i < p->extent_op_count; i++)
        if (p->extent_ops[i].kind == HG_EXTENT_OP_PARAM)
            p->extent_ops[i].param = numbers[p->extent_ops[i].param];
}

/* Of one parameter; false: the section does not need it. */
static bool needs_param(const writer *w, uint32_t param) {
    const hg_param *p = &w->s->program->params[param];
    return p->kind == HG_PARAM_SCALAR ? !graph_is_element(p) && keeps_scalar(w, param)
                                      : w->access[param] != 0;
}

/* The parameters that the section needs, in their order, behind what it loads first. */
static hg_status write_params(writer *w) {
    hg_program *p = w->edit.program;
    graph_section_program *to = w->to;
    uint32_t count = 0;
    uint16_t numbers[HG_MAX_PARAMS] = {0};
    hg_param *params = hg_arena_alloc(&p->arena,
                                      (p->param_count + to->array_count + 1) * sizeof *params);
    if (!params) return hg_fail_memory();
    for (uint32_t i = 0; i < to->array_count; i++) {
        HG_TRY(write_element(w, &to->arrays[i], &params[count]));
        to->arrays[i].number = (uint8_t)count++;
    }
    for (uint32_t i = 0; i < p->param_count; i++) {
        if (!needs_param(w, i)) continue;
        if (count == HG_MAX_PARAMS || to->array_count == HG_MAX_PARAMS)
            return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                           "%.60s: a section has more than %d parameters", hg_program_name(p),
                           HG_MAX_PARAMS);
        numbers[i] = (uint16_t)count;
        params[count] = p->params[i];
        to->scalars[count] = (uint8_t)i;
        if (params[count].kind == HG_PARAM_BUFFER || params[count].kind == HG_PARAM_SCRATCH) {
            params[count].kind = HG_PARAM_BUFFER;
            params[count].dir = direction(w, i);
            to->arrays[to->array_count++] = (graph_section_array){
                .param = (uint8_t)i, .step = GRAPH_NOT_SET, .number = (uint8_t)count};
        }
        count++;
    }
    p->params = params;
    p->param_count = count;
    renumber_all(p, numbers);
    return HG_OK;
}

/* "enc", or "enc_2" of one that has several sections. */
static hg_status write_name(writer *w) {
    char name[HG_MAX_IDENT_BYTES + 1];
    const char *own = hg_program_name(w->s->program);
    if (w->s->list.count < 2) return HG_OK;
    int length = snprintf(name, sizeof name, "%.230s_%u", own && *own ? own : "section",
                          (unsigned)w->at + 1);
    w->edit.program->name = hg_arena_text(&w->edit.program->arena, name, (size_t)length);
    return w->edit.program->name ? HG_OK : hg_fail_memory();
}

static hg_status write_section(writer *w) {
    hg_program *made = NULL;
    HG_TRY(hg_live_after(w->s->cfg, needs, w, w->edit.after, w->edit.reached));
    w->edit.rewritten = true;
    note_stores(w);
    for (uint32_t i = 0; i < w->s->program->inst_count; i++) HG_TRY(keep(w, i));
    HG_TRY(load_elements(w));
    if (!graph_has_steps(w->s)) note_directions(w);
    HG_TRY(write_params(w));
    HG_TRY(write_name(w));
    HG_TRY(optimize_finish(&w->edit, w->s->program, &made));
    made->sources = NULL; /* it is a program of its own */
    w->to->program = made;
    return HG_OK;
}

hg_status graph_write_section(const graph_sections *s, uint32_t section, const uint32_t *written,
                              const bool *filled, graph_section_program *to) {
    writer *w = hg_calloc(1, sizeof *w);
    if (!w) return hg_fail_memory();
    *w = (writer){.s = s,
                  .at = section,
                  .own = &s->list.data[section],
                  .written = written,
                  .filled = filled,
                  .to = to};
    memset(to, 0, sizeof *to);
    w->what = hg_alloc(sizeof *w->what);
    hg_status status = w->what ? optimize_open(s->program, s->cfg, &w->edit) : hg_fail_memory();
    if (status == HG_OK) {
        status = write_section(w);
        optimize_close(&w->edit);
    }
    hg_free(w->what);
    hg_free(w);
    return status;
}
