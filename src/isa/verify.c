/* The verifier: everything that can be known before running is an error here (assembly.md 4 and 6, semantics 0.3).
 * Requires: any program. Provides: hg_cfg of a program that passed. */
#include "isa/verify_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- reports ---- */

hg_status hg_check_begin(hg_check *c, const hg_program *program, hg_diagnostics *d) {
    *c = (hg_check){.program = program, .diagnostics = d};
    c->marked = hg_calloc((size_t)program->inst_count + 1, 1);
    return c->marked ? HG_OK : hg_fail_memory();
}

void *hg_check_alloc(hg_check *c, uint64_t count, size_t size) {
    uint64_t bytes;
    void *memory = hg_mul_u64(count, size, &bytes) && bytes <= SIZE_MAX / 2 ? hg_arena_alloc(&c->scratch, (size_t)bytes + 1) : NULL;
    if (!memory) c->out_of_memory = true;
    return memory;
}

static hg_place place_of(const hg_program *p, int64_t inst, int operand) {
    hg_place place = {.instruction = HG_NONE};
    if (inst < 0 || inst >= (int64_t)p->inst_count) return place;
    place.instruction = (uint64_t)inst;
    if (p->lines) {
        place.line = p->lines[inst];
        place.column = p->columns[inst];
    }
    if (operand < 0) return place;
    place.operand = hg_operand_number((hg_op)p->insts[inst].op, (uint32_t)operand);
    if (!p->operand_spans) return place;
    const hg_span *span = &p->operand_spans[p->insts[inst].operands + (uint32_t)operand];
    if (span->line) {
        place.line = span->line;
        place.column = span->column;
        place.length = span->length;
    }
    return place;
}

static bool stands_before(hg_place a, const hg_error *b) {
    if (a.line != b->line) return a.line < b->line;
    if (a.column != b->column) return a.column < b->column;
    return a.instruction < b->instruction;
}

void hg_check_error(hg_check *c, const char *code, int64_t inst, int operand, const char *hint, const char *format, ...) {
    if (inst >= 0 && inst < (int64_t)c->program->inst_count && c->marked[inst]++) {
        c->marked[inst] = 1;
        return;
    }
    char message[sizeof c->first.message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    hg_place place = place_of(c->program, inst, operand);
    code = c->code ? c->code : code;
    hg_diagnose(c->diagnostics, HG_SEVERITY_ERROR, code, place, hint, "%s", message);
    c->errors++;
    if (c->has_first && !stands_before(place, &c->first)) return;
    c->has_first = true;
    c->first.line = place.line;
    c->first.column = place.column;
    c->first.instruction = place.instruction;
    c->first.operand = place.operand ? place.operand : HG_NONE;
    snprintf(c->first.code, sizeof c->first.code, "%s", code);
    memcpy(c->first.message, message, sizeof message);
}

void hg_check_warning(hg_check *c, const char *code, int64_t inst, const char *hint, const char *format, ...) {
    char message[256];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    hg_diagnose(c->diagnostics, HG_SEVERITY_WARNING, code, place_of(c->program, inst, HG_NO_OPERAND), hint, "%s", message);
}

hg_status hg_check_end(hg_check *c) {
    hg_free(c->marked);
    hg_arena_free(&c->scratch);
    if (c->out_of_memory) return hg_fail_memory();
    if (!c->errors) return HG_OK;
    hg_status status = hg_fail(HG_ERROR_ISA, "%s", c->first.message);
    hg_error *e = hg_error_record();
    memcpy(e->code, c->first.code, sizeof e->code);
    e->instruction = c->first.instruction;
    e->operand = c->first.operand;
    e->line = c->first.line;
    e->column = c->first.column;
    return status;
}

hg_where hg_check_where(const hg_program *p, uint32_t inst) {
    hg_where where;
    if (p->lines && inst < p->inst_count && p->lines[inst])
        snprintf(where.text, sizeof where.text, "line %u", (unsigned)p->lines[inst]);
    else
        snprintf(where.text, sizeof where.text, "instruction %u", (unsigned)inst);
    return where;
}

hg_label_text hg_check_label(const hg_program *p, uint32_t index) {
    hg_label_text label;
    uint32_t low = 0, high = p->label_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->labels[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < p->label_count && p->labels[low].index == index)
        snprintf(label.text, sizeof label.text, "%s", p->labels[low].name);
    else
        snprintf(label.text, sizeof label.text, ".L%u", (unsigned)index);
    return label;
}

/* ---- signature, limits, warnings ---- */

void hg_start_types(hg_cfg *cfg, const hg_program *p, const hg_signature *signature) {
    memset(cfg->param_types, HG_TYPE_OMITTED, sizeof cfg->param_types);
    if (signature) memcpy(cfg->param_types, signature->types, sizeof cfg->param_types);
    for (uint32_t i = 0; i < p->param_count; i++)
        cfg->param_types[p->params[i].reg] = p->params[i].kind == HG_PARAM_SCALAR ? p->params[i].type : (uint8_t)HG_TYPE_U64;
    for (int r = 252; r < 256; r++) cfg->special_given[r - 252] = cfg->param_types[r] != HG_TYPE_OMITTED;
    for (int r = 252; r < 256; r++)
        if (cfg->param_types[r] == HG_TYPE_OMITTED) cfg->param_types[r] = r == 255 ? HG_TYPE_U64 : HG_TYPE_U32;
}

static bool names_shared(const hg_program *p, uint32_t inst) {
    const hg_op_info *row = hg_op_get((hg_op)p->insts[inst].op);
    const hg_operand *o = hg_inst_operands(p, inst);
    for (uint32_t i = 0; i < row->operand_count; i++)
        if ((row->operands[i].kind == HG_K_ADDRESS || row->operands[i].kind == HG_K_ARRAY) && o[i].place == HG_PLACE_SHARED) return true;
    return false;
}

/* What reachable code uses, one warning a stretch of code that nothing reaches, and the limits that depend on both. */
static void check_code_as_a_whole(hg_check *c, hg_cfg *cfg) {
    const hg_program *p = c->program;
    uint8_t *reached = hg_check_alloc(c, p->inst_count, 1);
    if (!reached) return;
    for (uint32_t f = 0; f < cfg->function_count; f++)
        for (uint32_t b = 0; b < cfg->functions[f].block_count; b++) {
            const hg_block *block = &cfg->functions[f].blocks[b];
            if (block->last > block->first) memset(reached + block->first, 1, block->last - block->first);
        }
    for (uint32_t i = 0; i < p->inst_count; i++) {
        if (!reached[i]) {
            if (i == 0 || reached[i - 1]) hg_check_warning(c, "V13", i, NULL, "code not reachable");
            continue;
        }
        uint16_t flags = hg_op_get((hg_op)p->insts[i].op)->flags;
        if (flags & HG_F_BARRIER) cfg->uses_barrier = true;
        if (flags & HG_F_COLLECTIVE) cfg->has_collective = true;
        if (!cfg->uses_shared && names_shared(p, i)) cfg->uses_shared = true;
    }
    if (p->shared) cfg->uses_shared = true;
    uint64_t lanes = (uint64_t)p->block[0] * p->block[1];
    bool large = p->block[2] && (lanes > HG_MAX_BLOCK_LANES || lanes * p->block[2] > HG_MAX_BLOCK_LANES);
    if (large && (cfg->uses_barrier || cfg->uses_shared))
        hg_check_error(c, "S05", HG_NO_INSTRUCTION, HG_NO_OPERAND, NULL,
                       "block of %u x %u x %u lanes: a block that uses %s has at most %d lanes", (unsigned)p->block[0],
                       (unsigned)p->block[1], (unsigned)p->block[2], cfg->uses_barrier ? "a barrier" : "shared memory",
                       (int)HG_MAX_BLOCK_LANES);
    if (p->shared > HG_MAX_SHARED_BYTES_COMMON && p->shared <= HG_MAX_SHARED_BYTES)
        hg_check_warning(c, "V14", HG_NO_INSTRUCTION, NULL, "%llu bytes of shared memory: every device has %d, not all have more",
                         (unsigned long long)p->shared, (int)HG_MAX_SHARED_BYTES_COMMON);
}

/* ---- the whole ---- */

static void run_checks(hg_check *c, hg_cfg *cfg) {
    hg_check_structure(c, true);
    if (c->errors || c->out_of_memory) return;
    if (!hg_cfg_build(c, cfg)) return;
    check_code_as_a_whole(c, cfg);
    if (c->out_of_memory) return;
    hg_check_types(c, cfg);
    if (c->out_of_memory) return;
    hg_check_params(c, cfg);
    if (!c->out_of_memory) hg_check_uniform(c, cfg);
}

void hg_cfg_destroy(hg_cfg *cfg) {
    if (!cfg) return;
    hg_arena_free(&cfg->arena);
    hg_free(cfg);
}

hg_status hg_verify(const hg_program *program, const hg_signature *signature, hg_diagnostics *d, hg_cfg **out) {
    if (out) *out = NULL;
    hg_cfg *cfg = hg_calloc(1, sizeof *cfg);
    if (!cfg) return hg_fail_memory();
    cfg->program = program;
    hg_start_types(cfg, program, signature);
    hg_check check;
    hg_status status = hg_check_begin(&check, program, d);
    if (status == HG_OK) {
        run_checks(&check, cfg);
        status = hg_check_end(&check);
    }
    if (status != HG_OK || !out)
        hg_cfg_destroy(cfg);
    else
        *out = cfg;
    return status;
}

hg_status hg_program_verify(const hg_program *program, hg_diagnostics *diagnostics) {
    if (!program) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "program is NULL");
    return hg_verify(program, NULL, diagnostics, NULL);
}
