/* Where a program's whole-array instructions part its lanes' code. Must not know: values of a
 * graph. */
#include "graph/sections.h"
#include "isa/verify_internal.h"
#include <stdarg.h>
#include <stdio.h>

hg_status graph_refuse_at(const graph_sections *s, uint32_t inst, const char *format, ...) {
    const hg_program *p = s->program;
    const char *what = hg_op_get((hg_op)p->insts[inst].op)->text;
    char message[240];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    if (p->lines && p->lines[inst])
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%.60s, line %u: %s: %s", hg_program_name(p),
                       (unsigned)p->lines[inst], what, message);
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%.60s, instruction %u: %s: %s", hg_program_name(p),
                   (unsigned)inst + 1, what, message);
}

static bool is_address(const hg_operand_info *info) {
    return info->kind == HG_K_ADDRESS || info->kind == HG_K_ARRAY;
}

uint8_t graph_array_of(const graph_sections *s, uint32_t inst, uint32_t operand) {
    const hg_operand_info *info = &hg_op_get((hg_op)s->program->insts[inst].op)->operands[operand];
    const hg_operand *o = &hg_inst_operands(s->program, inst)[operand];
    bool named = is_address(info) && (o->place == HG_PLACE_BUF_REG || o->place == HG_PLACE_BARE) &&
                 inst <= s->until[o->reg];
    return named ? s->arrays[o->reg] : GRAPH_NO_ARRAY;
}

/* ---- where control goes ---- */

static void nest(graph_sections *s, uint32_t from, uint32_t to) {
    uint32_t first = to > from ? from + 1 : to, end = to > from ? to : from + 1;
    for (uint32_t i = first; i < end; i++) s->nested[i] = 1;
}

static uint32_t first_of(const hg_function *f, uint32_t block) {
    return block == HG_NO_BLOCK ? HG_NO_BLOCK : f->blocks[block].first;
}

/* What a jump may leave out or repeat is nested. */
static void find_nested(graph_sections *s) {
    const hg_function *f = &s->cfg->functions[0];
    for (uint32_t i = 0; i < s->program->inst_count; i++) s->nested[i] = 1;
    for (uint32_t b = 0; b < f->block_count; b++)
        for (uint32_t i = f->blocks[b].first; i < f->blocks[b].last; i++) s->nested[i] = 0;
    for (uint32_t b = 0; b < f->block_count; b++) {
        const hg_block *block = &f->blocks[b];
        for (int k = 0; k < 2; k++) {
            uint32_t to = first_of(f, block->succ[k]);
            if (block->last > block->first && to != HG_NO_BLOCK && to != block->last)
                nest(s, block->last - 1, to);
        }
    }
}

/* ---- which array an address is in ---- */

/* The first instruction of the loop that an instruction is in, of the largest; itself: none. */
static void find_loops(const graph_sections *s, uint32_t *first) {
    const hg_function *f = &s->cfg->functions[0];
    for (uint32_t i = 0; i < s->program->inst_count; i++) first[i] = i;
    for (uint32_t b = 0; b < f->block_count; b++)
        for (int k = 0; k < 2; k++) {
            uint32_t to = first_of(f, f->blocks[b].succ[k]);
            for (uint32_t i = to; to != HG_NO_BLOCK && i < f->blocks[b].last; i++)
                if (to < first[i]) first[i] = to;
        }
}

/* Text that reuses a register behind the last use of an array writes it: from there on, and in a
 * loop from its first instruction on, it is no array. */
static hg_status find_arrays(graph_sections *s) {
    const hg_program *p = s->program;
    hg_accesses *what = hg_alloc(sizeof *what);
    uint32_t *loops = hg_calloc((size_t)p->inst_count + 1, sizeof *loops);
    hg_status status = what && loops ? HG_OK : hg_fail_memory();
    if (loops) find_loops(s, loops);
    for (uint32_t i = 0; i < p->inst_count && status == HG_OK; i++) {
        hg_inst_accesses(p, i, what);
        for (uint32_t k = 0; k < what->reads; k++)
            if (!what->read[k].is_pred) s->used[what->read[k].reg] = true;
        for (uint32_t k = 0; k < what->writes; k++) {
            uint8_t reg = what->write[k].reg;
            if (what->write[k].is_pred) continue;
            s->used[reg] = true;
            uint32_t last = loops[i] == i ? i : loops[i] - 1; /* it reads before it writes */
            if (loops[i] == 0 && i > 0) s->arrays[reg] = GRAPH_NO_ARRAY;
            if (last < s->until[reg]) s->until[reg] = last;
        }
    }
    hg_free(loops);
    hg_free(what);
    return status;
}

static void begin_arrays(graph_sections *s) {
    for (uint32_t r = 0; r < 256; r++) {
        s->arrays[r] = GRAPH_NO_ARRAY;
        s->until[r] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < s->program->param_count; i++) {
        const hg_param *p = &s->program->params[i];
        s->used[p->reg] = true;
        if (p->kind != HG_PARAM_SCALAR && p->kind != HG_PARAM_POOL) s->arrays[p->reg] = (uint8_t)i;
    }
}

static bool is_memory_elsewhere(const graph_sections *s, uint32_t inst, uint32_t operand) {
    static const uint8_t PLACES[] = {HG_PLACE_BUF, HG_PLACE_POOL, HG_PLACE_POOL_REG};
    const hg_operand_info *info = &hg_op_get((hg_op)s->program->insts[inst].op)->operands[operand];
    const hg_operand *o = &hg_inst_operands(s->program, inst)[operand];
    for (size_t i = 0; i < HG_COUNT_OF(PLACES); i++)
        if (is_address(info) && o->place == PLACES[i]) return true;
    bool named = is_address(info) && (o->place == HG_PLACE_BUF_REG || o->place == HG_PLACE_BARE);
    return named && graph_array_of(s, inst, operand) == GRAPH_NO_ARRAY;
}

/* Where sections share arrays, each address is in one that is known. */
static hg_status check_arrays(const graph_sections *s, uint32_t inst, hg_accesses *what) {
    const hg_op_info *row = hg_op_get((hg_op)s->program->insts[inst].op);
    hg_inst_accesses(s->program, inst, what);
    for (uint32_t i = 0; i < what->reads; i++) {
        const hg_access *a = &what->read[i];
        if (a->is_pred || s->arrays[a->reg] == GRAPH_NO_ARRAY || inst > s->until[a->reg]) continue;
        if (graph_array_of(s, inst, a->operand) == GRAPH_NO_ARRAY ||
            hg_inst_operands(s->program, inst)[a->operand].reg != a->reg)
            return graph_refuse_at(
                s, inst, "%s is used as a number: a graph must know which array an address is in",
                s->program->params[s->arrays[a->reg]].name);
    }
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (is_memory_elsewhere(s, inst, i))
            return graph_refuse_at(s, inst,
                                   "its array is no parameter of the program, or in a register "
                                   "that is written earlier");
    return HG_OK;
}

/* ---- where a program is cut ---- */

static bool is_step(const graph_sections *s, uint32_t inst) {
    return plan_collective_of((hg_op)s->program->insts[inst].op) != NULL;
}

/* Memory, state, or what lanes do together: bar.grid and other barriers alone change nothing. */
static bool has_effect(const graph_sections *s, uint32_t inst) {
    const hg_op_info *row = hg_op_get((hg_op)s->program->insts[inst].op);
    if (row->flags & (HG_F_ATOMIC | HG_F_ATLAS)) return true;
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (is_address(&row->operands[i]) && (row->operands[i].access & HG_WRITE) &&
            !(row->flags & (HG_F_SHARED | HG_F_PRIVATE)))
            return true;
    return false;
}

static hg_status add(graph_sections *s, uint32_t first, uint32_t end, bool step) {
    if (first == end) return HG_OK;
    graph_section *to = hg_vec_push(&s->list);
    if (!to) return hg_fail_memory();
    *to = (graph_section){.first = first, .end = end, .step = step};
    for (uint32_t i = first; i < end; i++) {
        s->section[i] = (uint32_t)s->list.count - 1;
        to->effects |= !step && has_effect(s, i);
    }
    return HG_OK;
}

static hg_status cut(graph_sections *s) {
    uint32_t begin = 0;
    for (uint32_t i = 0; i < s->program->inst_count; i++) {
        if (hg_op_get((hg_op)s->program->insts[i].op)->flags & HG_F_POOL)
            return graph_refuse_at(s, i, "a graph has no pools");
        if (!is_step(s, i)) continue;
        if (s->nested[i])
            return graph_refuse_at(s, i,
                                   "it is in a loop, in a function, behind a branch, or never "
                                   "reached: a graph's calls are done once each");
        HG_TRY(add(s, begin, i, false));
        HG_TRY(add(s, i, i + 1, true));
        begin = i + 1;
    }
    return add(s, begin, s->program->inst_count, false);
}

/* Lanes that stop ahead of the end would run what comes later. */
static hg_status check_stops(const graph_sections *s) {
    const hg_function *f = &s->cfg->functions[0];
    for (uint32_t b = 0; b < f->block_count; b++) {
        const hg_block *block = &f->blocks[b];
        if (block->exit != HG_EXIT_STOP && block->exit != HG_EXIT_RET) continue;
        if (block->last > block->first && s->section[block->last - 1] + 1 < s->list.count)
            return graph_refuse_at(s, block->last - 1,
                                   "lanes stop here, ahead of whole-array instructions");
    }
    return HG_OK;
}

/* Memory that a block or a lane has for itself is a section's own: with others it would have to be
 * kept. */
static hg_status check_own_memory(const graph_sections *s) {
    static const uint32_t FLAGS[] = {HG_F_SHARED, HG_F_PRIVATE};
    static const char *const NAMES[] = {"shared", "private"};
    for (size_t k = 0; k < HG_COUNT_OF(FLAGS); k++) {
        uint32_t seen = UINT32_MAX;
        for (uint32_t i = 0; i < s->program->inst_count; i++) {
            if (!(hg_op_get((hg_op)s->program->insts[i].op)->flags & FLAGS[k])) continue;
            if (seen != UINT32_MAX && seen != s->section[i])
                return graph_refuse_at(s, i,
                                       "%s memory is used on both sides of a whole-array "
                                       "instruction: a graph does not keep it",
                                       NAMES[k]);
            seen = s->section[i];
        }
    }
    return HG_OK;
}

hg_status graph_find_sections(const hg_program *program, graph_sections *s) {
    s->program = program;
    size_t n = (size_t)program->inst_count + 1;
    s->nested = hg_calloc(n, sizeof *s->nested);
    s->section = hg_calloc(n, sizeof *s->section);
    hg_accesses *what = hg_alloc(sizeof *what);
    hg_status status = s->nested && s->section && what ? HG_OK : hg_fail_memory();
    if (status == HG_OK) {
        begin_arrays(s);
        find_nested(s);
        status = find_arrays(s);
    }
    if (status == HG_OK) status = cut(s);
    for (uint32_t i = 0; i < program->inst_count && status == HG_OK && graph_has_steps(s); i++)
        status = check_arrays(s, i, what);
    hg_free(what);
    if (status != HG_OK || !graph_has_steps(s)) return status;
    if (s->cfg->function_count > 1)
        return hg_fail(
            HG_ERROR_INVALID_ARGUMENT,
            "%.60s: it calls functions beside whole-array instructions, which a graph cannot part",
            hg_program_name(program));
    HG_TRY(check_stops(s));
    return check_own_memory(s);
}

void graph_free_sections(graph_sections *s) {
    hg_cfg_destroy(s->cfg);
    hg_free(s->nested);
    hg_free(s->section);
    hg_vec_free(&s->list);
}
