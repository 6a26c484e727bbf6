/* Reports of the verifier: at most one error an instruction, the error that stands first for
 * hg_last_error, places as the text shows them.
 * Must not know: what is checked. */
#include "isa/verify_internal.h"

#include <stdio.h>
#include <string.h>

hg_status hg_check_begin(hg_check *c, const hg_program *program, hg_diagnostics *d) {
    *c = (hg_check){.program = program, .diagnostics = d};
    c->marked = hg_calloc((size_t)program->inst_count + 1, 1);
    return c->marked ? HG_OK : hg_fail_memory();
}

void *hg_check_alloc(hg_check *c, uint64_t count, size_t size) {
    uint64_t bytes;
    void *memory = hg_mul_u64(count, size, &bytes) && bytes <= SIZE_MAX / 2
                       ? hg_arena_alloc(&c->scratch, (size_t)bytes + 1)
                       : NULL;
    if (!memory) c->out_of_memory = true;
    return memory;
}

/* An argument stands in the text of the use: the message still says in which macro it is used. */
static bool same_file(const hg_program *p, uint32_t expansion) {
    return expansion < p->origins.count && p->origins.expansions[expansion].file == 0;
}

/* A place, and the expansion that it was read in. */
static hg_place place_of(const hg_program *p, int64_t inst, int operand, uint32_t *expansion) {
    hg_place place = {.instruction = HG_NONE};
    const hg_span *span = inst == HG_AT_SHARED  ? &p->shared_span
                          : inst == HG_AT_BLOCK ? &p->block_span
                                                : NULL;
    *expansion = 0;
    if (inst >= 0 && inst < (int64_t)p->inst_count) {
        place.instruction = (uint64_t)inst;
        if (p->lines) {
            place.line = p->lines[inst];
            place.column = p->columns[inst];
        }
        if (p->places && p->places[inst].line) {
            place.line = p->places[inst].line;
            place.column = p->places[inst].column;
            *expansion = p->places[inst].expansion;
        }
        if (operand >= 0)
            place.operand = hg_operand_number((hg_op)p->insts[inst].op, (uint32_t)operand);
        if (operand >= 0 && p->operand_spans)
            span = &p->operand_spans[p->insts[inst].operands + (uint32_t)operand];
    }
    if (span && span->line) {
        place.line = span->line;
        place.column = span->column;
        place.length = span->length;
        if (span->expansion || !same_file(p, *expansion)) *expansion = span->expansion;
    }
    return place;
}

static void diagnose(const hg_check *c, hg_severity severity, const char *code, hg_place place,
                     uint32_t expansion, const char *hint, const char *message, hg_error *first) {
    hg_origin origin;
    hg_text words = {0};
    hg_find_origin(&c->program->origins, expansion, place.line, place.column, &words, &origin);
    hg_diagnose_from(c->diagnostics, severity, code, place, &origin, hint, "%s", message);
    hg_text_free(&words);
    if (!first) return;
    first->line = origin.line;
    first->column = origin.column;
}

/* Lines that are read several times have their mistakes several times. */
static bool is_new(hg_check *c, uint32_t expansion, hg_place place, hg_severity severity) {
    const hg_origins *o = &c->program->origins;
    if (!expansion || expansion >= o->count || !place.line) return true;
    return hg_said_new(&c->said, &o->expansions[expansion], place.line, place.column, severity);
}

static bool stands_before(hg_place a, const hg_error *b) {
    if (a.line != b->line) return a.line < b->line;
    if (a.column != b->column) return a.column < b->column;
    return a.instruction < b->instruction;
}

void hg_check_error(hg_check *c, const char *code, int64_t inst, int operand, const char *hint,
                    const char *format, ...) {
    if (inst >= 0 && inst < (int64_t)c->program->inst_count && c->marked[inst]++) {
        c->marked[inst] = 1;
        return;
    }
    uint32_t expansion;
    hg_error outer = {0};
    hg_place place = place_of(c->program, inst, operand, &expansion);
    code = c->code ? c->code : code;
    if (!is_new(c, expansion, place, HG_SEVERITY_ERROR)) return;
    char message[sizeof c->first.message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    diagnose(c, HG_SEVERITY_ERROR, code, place, expansion, hint, message, &outer);
    place.line = outer.line;
    place.column = outer.column;
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

void hg_check_warning(hg_check *c, const char *code, int64_t inst, const char *hint,
                      const char *format, ...) {
    char message[256];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    uint32_t expansion;
    hg_place place = place_of(c->program, inst, HG_NO_OPERAND, &expansion);
    if (!is_new(c, expansion, place, HG_SEVERITY_WARNING)) return;
    diagnose(c, HG_SEVERITY_WARNING, code, place, expansion, hint, message, NULL);
}

hg_status hg_check_end(hg_check *c) {
    hg_free(c->marked);
    hg_said_free(&c->said);
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

hg_register_text hg_check_register(const hg_program *p, uint32_t inst, bool predicate,
                                   uint8_t number) {
    hg_register_text text;
    const char *name = hg_program_register_name(p, inst, predicate, number);
    if (name)
        snprintf(text.text, sizeof text.text, "%s (%c%u)", name, predicate ? 'p' : 'r',
                 (unsigned)number);
    else
        snprintf(text.text, sizeof text.text, "%c%u", predicate ? 'p' : 'r', (unsigned)number);
    return text;
}
