/* Text to program (assembly.md 2): lines, labels, errors, and the finished program. Directives, operands and instructions are in
 * assemble_*.c. One mistake gives one error: after it the statement is skipped.
 * Must not know: the binary container, types of registers (hg_infer_types does). */
#include "isa/text_internal.h"

#include <stdio.h>

/* ---- errors ---- */

static bool is_before(uint32_t line, uint32_t column, uint32_t other_line, uint32_t other_column) {
    return line < other_line || (line == other_line && column < other_column);
}

void hg_asm_error(hg_assembler *a, const char *code, const hg_token *at, const char *hint, const char *format, ...) {
    char message[sizeof a->first.message] = "one of very many errors";
    if (a->errors < HG_MOST_EXPLAINED || a->finishing) {
        va_list args;
        va_start(args, format);
        vsnprintf(message, sizeof message, format, args);
        va_end(args);
    }
    if (!a->errors || is_before(at->line, at->column, a->first.line, a->first.column)) {
        a->first.line = at->line;
        a->first.column = at->column;
        snprintf(a->first.code, sizeof a->first.code, "%s", code);
        memcpy(a->first.message, message, sizeof message);
    }
    a->errors++;
    hg_place place = {.line = at->line, .column = at->column, .length = at->length, .instruction = HG_NONE};
    hg_diagnose(a->diagnostics, HG_SEVERITY_ERROR, code, place, hint, "%s", message);
}

bool hg_asm_unexpected(hg_assembler *a, const char *expected) {
    char got[80];
    if (a->token.kind == HG_TOKEN_BAD)
        hg_asm_error(a, a->lexer.code, &a->token, a->lexer.hint, "%s", a->lexer.message);
    else
        hg_asm_error(a, "S02", &a->token, NULL, "expected %s, got %s", expected, hg_token_describe(&a->token, got));
    return false;
}

bool hg_asm_no_memory(hg_assembler *a) {
    a->out_of_memory = a->stop = true;
    return false;
}

/* ---- tokens ---- */

void hg_asm_next(hg_assembler *a) { a->token = hg_lexer_next(&a->lexer); }

bool hg_asm_accept(hg_assembler *a, int kind) {
    if (a->token.kind != kind) return false;
    hg_asm_next(a);
    return true;
}

bool hg_asm_expect(hg_assembler *a, int kind, const char *expected) { return hg_asm_accept(a, kind) || hg_asm_unexpected(a, expected); }

static bool at_end(const hg_assembler *a) { return a->token.kind == HG_TOKEN_END_OF_LINE || a->token.kind == HG_TOKEN_END_OF_FILE; }

bool hg_asm_expect_end(hg_assembler *a) { return at_end(a) || hg_asm_unexpected(a, "end of line"); }

bool hg_asm_identifier(hg_assembler *a, const char *what, hg_token *name) {
    *name = a->token;
    if (name->kind != HG_TOKEN_NAME) return hg_asm_unexpected(a, what);
    hg_asm_next(a);
    if (hg_is_identifier(name->text, name->length)) return true;
    char got[80];
    if (name->length > HG_MAX_IDENT_BYTES)
        hg_asm_error(a, "S05", name, NULL, "name of %u bytes: at most %d are allowed", (unsigned)name->length, HG_MAX_IDENT_BYTES);
    else
        hg_asm_error(a, "S02", name, "registers, predicates and types cannot be names", "expected %s, got %s", what,
                     hg_token_describe(name, got));
    return false;
}

/* ---- labels ---- */

static uint64_t rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

static void sip_round(uint64_t v[4]) {
    v[0] += v[1], v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0], v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2], v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

/* SipHash-1-3 (Aumasson & Bernstein, "SipHash: a fast short-input PRF", 2012) with a fixed key: colliding names cannot be made
 * by algebra, so a hostile file cannot make the look-ups slow. */
static uint64_t hash_name(const char *text, uint32_t length) {
    uint64_t v[4] = {UINT64_C(0x736f6d6570736575), UINT64_C(0x646f72616e646f6d), UINT64_C(0x6c7967656e657261),
                     UINT64_C(0x7465646279746573)};
    for (uint32_t at = 0; at <= length; at += 8) { /* the last word holds the rest and the length */
        uint64_t word = 0;
        bool last = length - at < 8;
        for (uint32_t i = 0; i < (last ? length - at : 8); i++) word |= (uint64_t)(unsigned char)text[at + i] << (i * 8);
        if (last) word |= (uint64_t)length << 56;
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xFF;
    for (int i = 0; i < 3; i++) sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint64_t find_slot(const hg_assembler *a, const hg_token *name) {
    uint64_t mask = a->label_slot_count - 1, slot = hash_name(name->text, name->length) & mask;
    for (; a->label_slots[slot]; slot = (slot + 1) & mask) {
        const hg_token *other = &a->labels.data[a->label_slots[slot] - 1].token;
        if (other->length == name->length && memcmp(other->text, name->text, name->length) == 0) break;
    }
    return slot;
}

static bool grow_slots(hg_assembler *a) {
    uint64_t count = a->label_slot_count ? a->label_slot_count * 2 : 64;
    uint32_t *slots = hg_calloc((size_t)count, sizeof *slots);
    if (!slots) return hg_asm_no_memory(a);
    hg_free(a->label_slots);
    a->label_slots = slots;
    a->label_slot_count = count;
    for (uint64_t i = 0; i < a->labels.count; i++) a->label_slots[find_slot(a, &a->labels.data[i].token)] = (uint32_t)i + 1;
    return true;
}

uint32_t hg_asm_label(hg_assembler *a, const hg_token *name) {
    if (a->labels.count * 2 >= a->label_slot_count && !grow_slots(a)) return HG_UNDEFINED;
    uint64_t slot = find_slot(a, name);
    if (a->label_slots[slot]) return a->label_slots[slot] - 1;
    hg_label *label = hg_vec_push(&a->labels);
    if (!label) {
        hg_asm_no_memory(a);
        return HG_UNDEFINED;
    }
    label->token = *name;
    label->index = HG_UNDEFINED;
    a->label_slots[slot] = (uint32_t)a->labels.count;
    return (uint32_t)a->labels.count - 1;
}

static bool define_label(hg_assembler *a, const hg_token *name) {
    char got[80];
    if (!hg_is_identifier(name->text, name->length)) {
        if (name->length > HG_MAX_IDENT_BYTES)
            hg_asm_error(a, "S05", name, NULL, "name of %u bytes: at most %d are allowed", (unsigned)name->length, HG_MAX_IDENT_BYTES);
        else
            hg_asm_error(a, "S02", name, "registers, predicates and types cannot be names", "expected a label, got %s",
                         hg_token_describe(name, got));
        return true; /* what follows can be read */
    }
    uint32_t number = hg_asm_label(a, name);
    if (number == HG_UNDEFINED) return false;
    hg_label *label = &a->labels.data[number];
    if (label->index != HG_UNDEFINED) {
        hg_asm_error(a, "L01", name, NULL, "duplicate label '%.*s' at instruction %llu", (int)name->length, name->text,
                     (unsigned long long)a->insts.count);
        return true;
    }
    if (a->defined_labels == HG_MAX_LABELS) {
        hg_asm_error(a, "S05", name, NULL, "more than %d labels", HG_MAX_LABELS);
        a->stop = true;
        return false;
    }
    a->defined_labels++;
    label->index = (uint32_t)a->insts.count;
    return true;
}

static void report_undefined(hg_assembler *a, hg_label *label, const hg_token *at, const char *where, unsigned long long inst) {
    if (label->reported) return;
    label->reported = true;
    if (inst == HG_NONE)
        hg_asm_error(a, "L02", at, NULL, "label not found: %.*s", (int)label->token.length, label->token.text);
    else
        hg_asm_error(a, "L02", at, NULL, "undefined label '%.*s' referenced in %s %llu", (int)label->token.length, label->token.text, where,
                     inst);
}

static void resolve_labels(hg_assembler *a) {
    for (uint64_t i = 0; i < a->fixups.count; i++) {
        const hg_fixup *f = &a->fixups.data[i];
        hg_label *label = &a->labels.data[f->label];
        if (label->index == HG_UNDEFINED) report_undefined(a, label, &f->token, "instruction", f->inst);
        a->operands.data[f->operand].value = label->index;
    }
    if (!a->entry.length) return;
    uint32_t number = hg_asm_label(a, &a->entry);
    if (number == HG_UNDEFINED) return;
    hg_label *label = &a->labels.data[number];
    if (label->index == HG_UNDEFINED) report_undefined(a, label, &a->entry, "", HG_NONE);
    a->program->entry = label->index;
}

/* ---- statements ---- */

static void read_version(hg_assembler *a) {
    if (!hg_token_is(&a->token, ".atlas")) {
        hg_asm_unexpected(a, "'.atlas 1'");
        return;
    }
    hg_asm_next(a);
    uint64_t version;
    hg_token number = a->token;
    if (!hg_asm_expect(a, HG_TOKEN_NUMBER, "a version number") || !hg_asm_number(a, &number, 0, &version)) return;
    if (version != 1) {
        hg_asm_error(a, "S06", &number, "this library reads version 1", "version %llu is not supported", (unsigned long long)version);
        a->stop = true;
        return;
    }
    hg_asm_expect_end(a);
}

static void read_statement(hg_assembler *a) {
    hg_token first = a->token;
    if (first.kind != HG_TOKEN_NAME) {
        hg_asm_unexpected(a, "an instruction, a label or a directive");
        return;
    }
    hg_asm_next(a);
    if (a->token.kind == ':') {
        a->statements = true;
        hg_asm_next(a);
        if (!define_label(a, &first) || at_end(a)) return;
        first = a->token;
        if (first.kind != HG_TOKEN_NAME) {
            hg_asm_unexpected(a, "an instruction");
            return;
        }
        hg_asm_next(a);
        if (a->token.kind == ':') {
            hg_asm_error(a, "S02", &a->token, NULL, "a line has one label");
            return;
        }
    } else if (first.text[0] == '.') {
        hg_asm_directive(a, &first);
        return;
    }
    a->statements = true;
    hg_asm_instruction(a, &first);
}

/* To the next line, without a word. */
static void skip_statement(hg_assembler *a) {
    while (!at_end(a)) hg_asm_next(a);
    if (a->token.kind == HG_TOKEN_END_OF_LINE) hg_asm_next(a);
}

static void read_file(hg_assembler *a) {
    hg_asm_next(a);
    while (a->token.kind == HG_TOKEN_END_OF_LINE) hg_asm_next(a);
    bool versioned = hg_token_is(&a->token, ".atlas");
    read_version(a);
    a->unversioned = !versioned;
    if (versioned || a->token.kind != HG_TOKEN_NAME) skip_statement(a);
    while (a->token.kind != HG_TOKEN_END_OF_FILE && !a->stop) {
        if (!at_end(a)) read_statement(a);
        skip_statement(a);
    }
    if (a->stop) return;
    a->finishing = true;
    hg_asm_finish_directives(a);
    for (uint64_t i = 0; !a->loops_unsure && i < a->loops.count; i++)
        hg_asm_error(a, "L04", &a->loops.data[i].token, NULL, "'loop' without 'endloop'");
    resolve_labels(a);
}

/* ---- the finished program ---- */

static bool label_before(const hg_label_name *x, const hg_label_name *y) {
    return x->index != y->index ? x->index < y->index : strcmp(x->name, y->name) < 0;
}

static void sift_down(hg_label_name *labels, uint64_t root, uint64_t count) {
    for (;;) {
        uint64_t child = root * 2 + 1;
        if (child >= count) return;
        if (child + 1 < count && label_before(&labels[child], &labels[child + 1])) child++;
        if (!label_before(&labels[root], &labels[child])) return;
        hg_label_name swap = labels[root];
        labels[root] = labels[child];
        labels[child] = swap;
        root = child;
    }
}

/* Heap sort: in place, n log n on every input. */
static void sort_labels(hg_label_name *labels, uint64_t count) {
    for (uint64_t i = count / 2; i-- > 0;) sift_down(labels, i, count);
    for (uint64_t end = count; end-- > 1;) {
        hg_label_name swap = labels[0];
        labels[0] = labels[end];
        labels[end] = swap;
        sift_down(labels, 0, end);
    }
}

static bool is_stored(const hg_label *label) {
    return label->index != HG_UNDEFINED && !hg_is_local_label(label->token.text, label->token.length);
}

static bool store_labels(hg_assembler *a) {
    hg_program *p = a->program;
    uint64_t count = 0, bytes = 0;
    for (uint64_t i = 0; i < a->labels.count; i++)
        if (is_stored(&a->labels.data[i])) count++, bytes += a->labels.data[i].token.length + 1;
    if (!count) return true;
    char *names = hg_arena_alloc(&p->arena, (size_t)bytes);
    p->labels = hg_arena_alloc(&p->arena, (size_t)count * sizeof *p->labels);
    if (!names || !p->labels) return hg_asm_no_memory(a);
    for (uint64_t i = 0; i < a->labels.count; i++) {
        const hg_label *label = &a->labels.data[i];
        if (!is_stored(label)) continue;
        memcpy(names, label->token.text, label->token.length); /* the arena is zeroed: a NUL follows */
        p->labels[p->label_count++] = (hg_label_name){label->index, names};
        names += label->token.length + 1;
    }
    sort_labels(p->labels, count);
    return true;
}

/* Copies an array into the program's arena. An empty one gets an address too: pointers into it are formed. */
static bool keep(hg_assembler *a, void *into, const void *from, uint64_t count, size_t size) {
    void *copy = hg_arena_alloc(&a->program->arena, (size_t)(count ? count : 1) * size);
    if (!copy) return hg_asm_no_memory(a);
    if (count) memcpy(copy, from, (size_t)count * size);
    memcpy(into, &copy, sizeof copy);
    return true;
}
#define KEEP(field, vec) keep(a, &a->program->field, (vec).data, (vec).count, sizeof *(vec).data)

static bool store_program(hg_assembler *a) {
    hg_program *p = a->program;
    p->inst_count = (uint32_t)a->insts.count;
    p->operand_count = (uint32_t)a->operands.count;
    p->param_count = (uint32_t)a->params.count;
    p->meta_count = (uint32_t)a->meta.count;
    p->literal_bytes = a->literals.length;
    if (a->literals.failed) return hg_asm_no_memory(a);
    return KEEP(insts, a->insts) && KEEP(operands, a->operands) && KEEP(params, a->params) && KEEP(meta, a->meta) &&
           KEEP(lines, a->lines) && KEEP(columns, a->columns) && KEEP(operand_spans, a->spans) &&
           keep(a, &p->literals, a->literals.data, a->literals.length, 1) && store_labels(a);
}

static void free_assembler(hg_assembler *a) {
    hg_vec_free(&a->params);
    hg_vec_free(&a->extents);
    hg_vec_free(&a->meta);
    hg_vec_free(&a->insts);
    hg_vec_free(&a->operands);
    hg_vec_free(&a->lines);
    hg_vec_free(&a->columns);
    hg_vec_free(&a->spans);
    hg_vec_free(&a->labels);
    hg_vec_free(&a->fixups);
    hg_vec_free(&a->loops);
    hg_text_free(&a->literals);
    hg_free(a->label_slots);
    hg_program_release(a->program);
    hg_free(a);
}

static hg_status first_error(const hg_assembler *a) {
    hg_status status = hg_fail(HG_ERROR_ISA, "%s", a->first.message);
    hg_error *record = hg_error_record();
    memcpy(record->code, a->first.code, sizeof record->code);
    record->line = a->first.line;
    record->column = a->first.column;
    return status;
}

static hg_status assemble(hg_assembler *a, const char *text, size_t length) {
    if (length > HG_MAX_SOURCE_BYTES) {
        hg_token start = {.line = 1, .column = 1, .length = 1};
        hg_asm_error(a, "S05", &start, NULL, "source of %llu bytes: at most %d are allowed", (unsigned long long)length,
                     HG_MAX_SOURCE_BYTES);
    } else {
        hg_lexer_init(&a->lexer, text, length);
        hg_asm_init_mnemonics(a);
        read_file(a);
    }
    if (a->out_of_memory) return hg_fail_memory();
    if (a->errors) return first_error(a);
    if (!store_program(a)) return hg_fail_memory();
    HG_TRY(hg_infer_types(a->program, a->diagnostics));
    return hg_program_rehash(a->program);
}

hg_status hg_program_assemble(const char *text, size_t length, hg_diagnostics *diagnostics, hg_program **program) {
    if (!program || (!text && length)) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "assemble: %s is NULL", program ? "text" : "program");
    *program = NULL;
    hg_assembler *a = hg_calloc(1, sizeof *a);
    if (!a) return hg_fail_memory();
    a->program = hg_calloc(1, sizeof *a->program);
    if (!a->program) {
        hg_free(a);
        return hg_fail_memory();
    }
    a->program->references = 1;
    a->diagnostics = diagnostics;
    hg_status status = assemble(a, text ? text : "", length);
    if (status == HG_OK) {
        *program = a->program;
        a->program = NULL;
    }
    free_assembler(a);
    return status;
}
