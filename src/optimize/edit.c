/* A copy of a program that a pass changes, and the program that comes out of it. What stands by
 * instruction numbers (labels, names, the entry, lines) moves with the instructions. */
#include "optimize/optimize.h"

#include <stdlib.h>
#include <string.h>

/* ---- the copy ---- */

/* Written and read back: the copy has what is stored, so no spans of the source text. */
static hg_status copy_program(const hg_program *program, hg_program **copy) {
    uint8_t *bytes = NULL;
    size_t length = 0;
    HG_TRY(hg_program_encode(program, HG_PROGRAM_DEBUG, &bytes, &length));
    hg_status status = hg_program_decode(bytes, length, NULL, copy);
    hg_string_free((char *)bytes);
    return status;
}

static void find_leaders(optimize_edit *e) {
    uint32_t n = e->program->inst_count;
    memset(e->leader, 1, n);
    for (uint32_t f = 0; f < e->cfg->function_count; f++)
        for (uint32_t b = 0; b < e->cfg->functions[f].block_count; b++) {
            const hg_block *block = &e->cfg->functions[f].blocks[b];
            for (uint32_t i = block->first; i < block->last; i++) e->leader[i] = i == block->first;
        }
}

hg_status optimize_open(const hg_program *program, const hg_cfg *cfg, optimize_edit *e) {
    *e = (optimize_edit){.cfg = cfg};
    HG_TRY(copy_program(program, &e->program));
    size_t n = (size_t)e->program->inst_count + 1;
    e->operand_capacity = e->program->operand_count;
    e->literal_capacity = e->program->literal_bytes;
    e->gone = hg_calloc(n, 1);
    e->leader = hg_calloc(n, 1);
    e->reached = hg_calloc(n, 1);
    e->after = hg_calloc(n, sizeof *e->after);
    if (!e->gone || !e->leader || !e->reached || !e->after) {
        optimize_close(e);
        return hg_fail_memory();
    }
    find_leaders(e);
    return HG_OK;
}

void optimize_close(optimize_edit *e) {
    hg_program_release(e->program);
    hg_free(e->gone);
    hg_free(e->leader);
    hg_free(e->reached);
    hg_free(e->after);
    hg_vec_free(&e->written);
}

hg_status optimize_live(optimize_edit *e, hg_live_needs *needs) {
    return hg_live_after(e->cfg, needs, e, e->after, e->reached);
}

/* ---- changes ---- */

static bool grow(hg_program *p, void **data, uint64_t used, uint64_t wanted, size_t size,
                 uint64_t *capacity) {
    if (wanted <= *capacity) return true;
    uint64_t room = wanted > 2 * *capacity ? wanted : 2 * *capacity;
    void *more = hg_arena_alloc(&p->arena, (size_t)room * size);
    if (!more) return false;
    if (used) memcpy(more, *data, (size_t)used * size);
    *data = more;
    *capacity = room;
    return true;
}

bool optimize_make(optimize_edit *e, hg_op op, uint8_t type, const hg_operand *operands,
                   hg_inst *made) {
    hg_program *p = e->program;
    uint32_t count = hg_op_get(op)->operand_count;
    uint64_t capacity = e->operand_capacity;
    void *data = p->operands;
    if (!grow(p, &data, p->operand_count, (uint64_t)p->operand_count + count, sizeof *operands,
              &capacity))
        return false;
    p->operands = data;
    e->operand_capacity = (uint32_t)capacity;
    *made = (hg_inst){
        .op = (uint16_t)op, .type = type, .type2 = HG_TYPE_NOT_USED, .operands = p->operand_count};
    if (count) memcpy(&p->operands[p->operand_count], operands, count * sizeof *operands);
    p->operand_count += count;
    return true;
}

bool optimize_replace(optimize_edit *e, uint32_t inst, hg_op op, uint8_t type,
                      const hg_operand *operands) {
    e->changes++;
    return optimize_make(e, op, type, operands, &e->program->insts[inst]);
}

bool optimize_to_mov(optimize_edit *e, uint32_t inst, uint8_t type, uint8_t d, uint8_t s) {
    const hg_operand operands[] = {optimize_reg(d), optimize_reg(s)};
    return optimize_replace(e, inst, HG_OP_MOV, type, operands);
}

bool optimize_literal(optimize_edit *e, uint8_t type, const uint8_t *bytes, hg_operand *made) {
    hg_program *p = e->program;
    uint64_t size = hg_type_size_bytes((hg_type)type);
    void *data = p->literals;
    if (!grow(p, &data, p->literal_bytes, p->literal_bytes + size, 1, &e->literal_capacity))
        return false;
    p->literals = data;
    memmove(&p->literals[p->literal_bytes], bytes, (size_t)size);
    *made = (hg_operand){.kind = HG_K_LITERAL, .value = p->literal_bytes};
    p->literal_bytes += size;
    return true;
}

bool optimize_to_literal(optimize_edit *e, uint32_t inst, uint8_t type, uint8_t d,
                         const uint8_t *bytes) {
    hg_operand operands[2] = {optimize_reg(d)};
    return optimize_literal(e, type, bytes, &operands[1]) &&
           optimize_replace(e, inst, HG_OP_MOV_IMM, type, operands);
}

void optimize_remove(optimize_edit *e, uint32_t inst) {
    e->changes += !e->gone[inst];
    e->gone[inst] = 1;
}

/* ---- the program that comes out ---- */

typedef struct finish {
    optimize_edit *e;
    hg_program *p;
    uint32_t *place; /* of each old instruction, and of the end: the new one that stands there */
    const optimize_inst *list;
    uint32_t count;
} finish;

/* The instructions that are left, where no pass wrote a list of its own. */
static bool list_kept(optimize_edit *e) {
    for (uint32_t i = 0; i < e->program->inst_count && !e->rewritten; i++) {
        if (e->gone[i]) continue;
        optimize_inst *one = hg_vec_push(&e->written);
        if (!one) return false;
        *one = (optimize_inst){e->program->insts[i], i};
    }
    return true;
}

static void find_places(finish *f) {
    uint32_t at = 0;
    for (uint32_t i = 0; i <= f->p->inst_count; i++) {
        while (at < f->count && f->list[at].from < i) at++;
        f->place[i] = at;
    }
}

static void move_targets(finish *f) {
    for (uint32_t i = 0; i < f->count; i++) {
        const hg_op_info *row = hg_op_get((hg_op)f->list[i].inst.op);
        for (uint32_t k = 0; k < row->operand_count; k++) {
            hg_operand *o = &f->p->operands[f->list[i].inst.operands + k];
            if (row->operands[k].kind != HG_K_LABEL) continue;
            o->value = o->value >= OPTIMIZE_HERE ? o->value - OPTIMIZE_HERE : f->place[o->value];
        }
    }
}

static int compare_labels(const void *p, const void *q) {
    const hg_label_name *a = p, *b = q;
    if (a->index != b->index) return a->index < b->index ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void move_names(finish *f) {
    hg_program *p = f->p;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->label_count; i++) p->labels[i].index = f->place[p->labels[i].index];
    if (p->label_count) qsort(p->labels, p->label_count, sizeof *p->labels, compare_labels);
    for (uint32_t i = 0; i < p->register_name_count; i++) {
        hg_register_name name = p->register_names[i];
        name.first = f->place[name.first];
        name.end = f->place[name.end];
        if (name.first < name.end) p->register_names[kept++] = name;
    }
    p->register_name_count = kept;
    if (kept) qsort(p->register_names, kept, sizeof *p->register_names, hg_compare_register_names);
}

/* Each instruction gets operands of its own in their order: what a program needs is told by all of
 * them. */
static bool move_operands(finish *f, hg_inst *insts) {
    hg_program *p = f->p;
    uint64_t count = 0;
    for (uint32_t i = 0; i < f->count; i++) count += hg_op_get((hg_op)insts[i].op)->operand_count;
    hg_operand *operands = hg_arena_alloc(&p->arena, ((size_t)count + 1) * sizeof *operands);
    if (!operands) return false;
    count = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t own = hg_op_get((hg_op)insts[i].op)->operand_count;
        if (own) memcpy(&operands[count], &p->operands[insts[i].operands], own * sizeof *operands);
        insts[i].operands = (uint32_t)count;
        count += own;
    }
    p->operands = operands;
    p->operand_count = (uint32_t)count;
    return true;
}

static bool move_code(finish *f) {
    hg_program *p = f->p;
    size_t words = ((size_t)f->count + 1) * sizeof(uint32_t);
    hg_inst *insts = hg_arena_alloc(&p->arena, ((size_t)f->count + 1) * sizeof *insts);
    uint32_t *lines = p->lines ? hg_arena_alloc(&p->arena, words) : NULL,
             *columns = p->columns ? hg_arena_alloc(&p->arena, words) : NULL;
    if (!insts || (p->lines && !lines) || (p->columns && !columns)) return false;
    for (uint32_t i = 0; i < f->count; i++) {
        insts[i] = f->list[i].inst;
        if (lines) lines[i] = p->lines[f->list[i].from];
        if (columns) columns[i] = p->columns[f->list[i].from];
    }
    if (!move_operands(f, insts)) return false;
    p->entry = f->place[p->entry];
    p->insts = insts;
    p->lines = lines;
    p->columns = columns;
    p->inst_count = f->count;
    return true;
}

static bool tell_sources(const finish *f, const hg_program *before, hg_program *made) {
    made->sources = hg_arena_alloc(&made->arena, ((size_t)f->count + 1) * sizeof *made->sources);
    for (uint32_t i = 0; made->sources && i < f->count; i++)
        made->sources[i] = before->sources ? before->sources[f->list[i].from] : f->list[i].from;
    return made->sources != NULL;
}

hg_status optimize_finish(optimize_edit *e, const hg_program *before, hg_program **made) {
    finish f = {.e = e, .p = e->program};
    *made = NULL;
    if (!list_kept(e)) return hg_fail_memory();
    f.list = e->written.data;
    f.count = (uint32_t)e->written.count;
    f.place = hg_calloc((size_t)f.p->inst_count + 1, sizeof *f.place);
    if (!f.place) return hg_fail_memory();
    find_places(&f);
    move_targets(&f);
    move_names(&f);
    hg_status status = move_code(&f) ? copy_program(f.p, made) : hg_fail_memory();
    if (status == HG_OK && !tell_sources(&f, before, *made)) {
        hg_program_release(*made);
        *made = NULL;
        status = hg_fail_memory();
    }
    hg_free(f.place);
    return status;
}

void optimize_count_owners(const optimize_edit *e, uint8_t *owners) {
    const hg_cfg *cfg = e->cfg;
    for (uint32_t f = 0; f < cfg->function_count; f++)
        for (uint32_t b = 0; b < cfg->functions[f].block_count; b++)
            for (uint32_t i = cfg->functions[f].blocks[b].first;
                 i < cfg->functions[f].blocks[b].last; i++)
                if (owners[i] < 2) owners[i]++;
}
