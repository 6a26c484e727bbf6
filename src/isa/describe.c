/* What a program takes and how it is launched, as structures of the public interface. What they
 * point to is made once and belongs to the program.
 * Must not know: text and binary syntax, beyond the printers of extents and literals. */
#include "base/compat.h"
#include "base/sized.h"
#include "isa/program.h"
#include <hologram/dim.h>
#include <string.h>

static const hg_sized PARAM = HG_SIZED(hg_param_description, reg,
                                       "set it to sizeof(hg_param_description)");
static const hg_sized PROGRAM = HG_SIZED(hg_program_description, relaxed,
                                         "set it to sizeof(hg_program_description)");
static const hg_sized LABEL = HG_SIZED(hg_label_description, called,
                                       "set it to sizeof(hg_label_description)");

/* ---- texts ---- */

/* Moves the text to the arena and empties it; NULL when out of memory. */
static const char *keep(hg_arena *arena, hg_text *text) {
    const char *kept = text->data && !text->failed ? hg_arena_text(arena, text->data, text->length)
                                                   : NULL;
    if (!kept) arena->failed = true;
    hg_text_free(text);
    *text = (hg_text){0};
    return kept;
}

static void keep_extents(hg_program_texts *t, const hg_program *p, const hg_extent *extents,
                         uint32_t count, const char **to) {
    hg_text text = {0};
    for (uint32_t i = 0; i < count; i++) {
        hg_print_extent(&text, p, &extents[i]);
        to[i] = keep(&t->arena, &text);
    }
}

static void keep_param(hg_program_texts *t, const hg_program *p, uint32_t i) {
    const hg_param *param = &p->params[i];
    hg_text text = {0};
    if (param->kind == HG_PARAM_BUFFER && param->rank != HG_NO_DIMS)
        keep_extents(t, p, param->dims, param->rank, t->dims[i]);
    if (!param->has_default) return;
    hg_print_literal(&text, (hg_type)param->type, param->default_bytes);
    t->defaults[i] = keep(&t->arena, &text);
}

static void mark_called(hg_program_texts *t, const hg_program *p) {
    for (uint32_t i = 0; i < p->inst_count; i++) {
        if (p->insts[i].op != HG_OP_CALL) continue;
        uint64_t target = hg_inst_operands(p, i)->value;
        for (uint32_t k = hg_program_first_label(p, target);
             k < p->label_count && p->labels[k].index == target; k++)
            t->called[k] = true;
    }
}

static void free_texts(hg_program_texts *t) {
    hg_arena_free(&t->arena);
    hg_free(t);
}

static hg_program_texts *make_texts(const hg_program *p) {
    hg_program_texts *t = hg_calloc(1, sizeof *t);
    if (!t) return NULL;
    t->dims = hg_arena_alloc(&t->arena, ((size_t)p->param_count + 1) * sizeof *t->dims);
    t->defaults = hg_arena_alloc(&t->arena, ((size_t)p->param_count + 1) * sizeof *t->defaults);
    t->called = hg_arena_alloc(&t->arena, (size_t)p->label_count + 1);
    for (uint32_t i = 0; i < p->param_count && !t->arena.failed; i++) keep_param(t, p, i);
    if (t->called) mark_called(t, p);
    keep_extents(t, p, p->lanes, p->lanes_count, t->lanes);
    keep_extents(t, p, p->grid, p->grid_count, t->grid);
    if (!t->arena.failed) return t;
    free_texts(t);
    return NULL;
}

/* The texts of the program, made by whoever asks first; of two at a time one is kept. */
static hg_status find_texts(const hg_program *program, const hg_program_texts **texts) {
    hg_program *p = (hg_program *)(uintptr_t)program; /* nothing that a program means changes */
    hg_program_texts *there = hg_atomic_load(&p->texts, HG_ACQUIRE);
    if (!there) {
        hg_program_texts *made = make_texts(p);
        if (!made) return hg_fail_memory();
        if (hg_atomic_compare_exchange(&p->texts, &there, made, HG_SEQ_CST))
            there = made;
        else
            free_texts(made);
    }
    *texts = there;
    return HG_OK;
}

/* ---- the public calls ---- */

static hg_status find_param(const hg_program *p, size_t number, uint32_t *index) {
    size_t count = 0;
    for (uint32_t i = 0; i < p->param_count; i++) {
        if (!hg_param_is_settable(&p->params[i])) continue;
        *index = i;
        if (count++ == number) return HG_OK;
    }
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "there is no parameter %zu of program '%s': there are %zu, from 0", number,
                   p->name, count);
}

hg_status hg_program_param(const hg_program *program, size_t i, hg_param_description *description) {
    HG_ENTRY;
    const hg_program_texts *texts;
    uint32_t index = 0;
    if (!program || !description) return hg_null_argument(program ? "description" : "program");
    HG_TRY(hg_sized_check(&PARAM, description->size));
    HG_TRY(find_param(program, i, &index));
    HG_TRY(find_texts(program, &texts));
    const hg_param *p = &program->params[index];
    bool is_buffer = p->kind == HG_PARAM_BUFFER;
    hg_param_description own = {.size = sizeof own,
                                .name = p->name,
                                .default_text = texts->defaults[index],
                                .default_value = p->has_default ? p->default_bytes : NULL,
                                .pool_bytes = p->kind == HG_PARAM_POOL ? p->pool_bytes : 0,
                                .kind = (hg_param_kind)p->kind,
                                .type = p->kind == HG_PARAM_POOL ? HG_TYPE_COUNT : (hg_type)p->type,
                                .dir = is_buffer ? p->dir : 0,
                                .rank = is_buffer ? p->rank : 0,
                                .reg = p->reg};
    memcpy(own.dims, texts->dims[index], sizeof own.dims);
    hg_sized_give(&PARAM, &own, description, description->size);
    return HG_OK;
}

hg_status hg_program_describe(const hg_program *program, hg_program_description *description) {
    HG_ENTRY;
    const hg_program_texts *texts;
    if (!program || !description) return hg_null_argument(program ? "description" : "program");
    HG_TRY(hg_sized_check(&PROGRAM, description->size));
    HG_TRY(find_texts(program, &texts));
    hg_program_description own = {
        .size = sizeof own,
        .name = program->name,
        .entry_label = hg_program_label_at(program, program->entry),
        .entry = program->entry,
        .instructions = program->inst_count,
        .shared_bytes = program->shared,
        .private_bytes = program->private_bytes,
        .labels = program->label_count,
        .metas = program->meta_count,
        .lanes_count = program->lanes_count,
        .grid_count = program->grid_count,
        .block = {program->block[0], program->block[1], program->block[2]},
        .relaxed = program->flags & 1};
    for (uint32_t i = 0; i < program->param_count; i++)
        own.params += hg_param_is_settable(&program->params[i]);
    memcpy(own.lanes, texts->lanes, sizeof own.lanes);
    memcpy(own.grid, texts->grid, sizeof own.grid);
    hg_sized_give(&PROGRAM, &own, description, description->size);
    return HG_OK;
}

hg_status hg_program_label(const hg_program *program, size_t i, hg_label_description *description) {
    HG_ENTRY;
    const hg_program_texts *texts;
    if (!program || !description) return hg_null_argument(program ? "description" : "program");
    HG_TRY(hg_sized_check(&LABEL, description->size));
    if (i >= program->label_count)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "there is no label %zu of program '%s': there are %u, from 0", i,
                       program->name, (unsigned)program->label_count);
    HG_TRY(find_texts(program, &texts));
    const hg_label_name *label = &program->labels[i];
    hg_label_description own = {.size = sizeof own,
                                .name = label->name,
                                .instruction = label->index,
                                .entry = label->index == program->entry,
                                .called = texts->called[i]};
    hg_sized_give(&LABEL, &own, description, description->size);
    return HG_OK;
}

const char *hg_program_meta_key(const hg_program *program, size_t i) {
    HG_ENTRY;
    return program && i < program->meta_count ? program->meta[i].key : NULL;
}
