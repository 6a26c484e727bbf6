/* Text to program (language.md 2): lines and the finished program. Tokens, labels, directives,
 * operands and instructions are in assemble_*.c. One mistake gives one error: after it the
 * statement is skipped.
 * Must not know: the binary container, types of registers (hg_infer_types does). */
#include "base/sized.h"
#include "isa/assemble_statement.h"

/* ---- statements ---- */

static void read_version(hg_assembler *a) {
    if (!hg_token_is(&a->token, ".atlas")) {
        hg_asm_unexpected(a, "'.atlas 1'");
        return;
    }
    hg_asm_next(a);
    uint64_t version;
    hg_token number = a->token;
    if (!hg_asm_expect(a, HG_TOKEN_NUMBER, "a version number") ||
        !hg_asm_number(a, &number, 0, &version))
        return;
    if (version != 1) {
        hg_asm_error(a, "S06", &number, "this library reads version 1",
                     "version %llu is not supported", (unsigned long long)version);
        a->wrong.stop = true;
        return;
    }
    hg_asm_expect_end(a);
}

static void read_statement(hg_assembler *a) {
    hg_token first = a->token;
    a->wrong.doubtful = false;
    if (first.kind != HG_TOKEN_NAME && first.kind != '}') {
        hg_asm_unexpected_with(a, "an instruction, a label or a directive",
                               hg_foreign_sign(HG_FOREIGN_STATEMENT, first.kind));
        return;
    }
    if (hg_asm_is_macro(a)) {
        hg_asm_use_macro(a);
        return;
    }
    if (hg_asm_is_statement(a)) {
        hg_asm_statement(a);
        return;
    }
    if (hg_token_is(&first, ".macro"))
        a->source.parameters = 0; /* its own parameters are names, whatever they are called */
    hg_asm_next(a);
    if (a->token.kind == ':') {
        hg_asm_begin_code(a);
        hg_asm_next(a);
        if (!hg_asm_define_label(a, &first) || hg_asm_at_end(a)) return;
        first = a->token;
        if (first.kind != HG_TOKEN_NAME) {
            hg_asm_unexpected(a, "an instruction");
            return;
        }
        if (hg_asm_is_macro(a)) {
            hg_asm_use_macro(a);
            return;
        }
        if (hg_asm_is_statement(a)) {
            hg_asm_statement(a);
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
    hg_asm_begin_code(a);
    if (!hg_asm_instruction(a, &first)) hg_asm_skip_wrong_line(a, &first);
}

/* To the next line, without a word. */
static void skip_statement(hg_assembler *a) {
    while (!hg_asm_at_end(a)) hg_asm_next(a);
    if (a->token.kind == HG_TOKEN_END_OF_LINE) hg_asm_next(a);
}

/* The program, or a function: what it has begun ends in it. */
static void read_lines(hg_assembler *a) {
    while (a->token.kind != HG_TOKEN_END_OF_FILE && !a->wrong.stop) {
        if (!hg_asm_at_end(a)) read_statement(a);
        skip_statement(a);
    }
    if (a->wrong.stop) return;
    hg_asm_close_braces(a, 0);
    for (uint64_t i = 0; i < a->source.blocks.count; i++)
        hg_asm_error(a, "L04", &a->source.blocks.data[i].token, NULL, "'.if' without '.end'");
    a->source.blocks.count = 0;
    for (uint64_t i = 0; !a->code.loops_unsure && i < a->code.loops.count; i++)
        hg_asm_error(a, "L04", &a->code.loops.data[i].token, NULL, "'loop' without 'endloop'");
    a->code.loops.count = 0;
}

static void read_file(hg_assembler *a) {
    hg_asm_next(a);
    while (a->token.kind == HG_TOKEN_END_OF_LINE) hg_asm_next(a);
    bool versioned = hg_token_is(&a->token, ".atlas");
    read_version(a);
    a->head.unversioned = !versioned;
    if (versioned || a->token.kind != HG_TOKEN_NAME) skip_statement(a);
    do { read_lines(a); } while (hg_asm_next_function(a));
    if (a->wrong.stop) return;
    a->wrong.finishing = true;
    a->wrong.doubtful = false;
    hg_asm_finish_directives(a);
    hg_asm_check_defines(a);
    hg_asm_resolve_labels(a);
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

static bool is_stored(const hg_name *label) {
    return label->index != HG_UNDEFINED && !label->scope &&
           !hg_is_local_label(label->token.text, label->token.length);
}

static bool store_labels(hg_assembler *a) {
    hg_program *p = a->program;
    uint64_t count = 0, bytes = 0;
    for (uint64_t i = 0; i < a->code.labels.count; i++)
        if (is_stored(&a->code.labels.data[i]))
            count++, bytes += a->code.labels.data[i].token.length + 1;
    if (!count) return true;
    char *names = hg_arena_alloc(&p->arena, (size_t)bytes);
    p->labels = hg_arena_alloc(&p->arena, (size_t)count * sizeof *p->labels);
    if (!names || !p->labels) return hg_asm_no_memory(a);
    for (uint64_t i = 0; i < a->code.labels.count; i++) {
        const hg_name *label = &a->code.labels.data[i];
        if (!is_stored(label)) continue;
        memcpy(names, label->token.text, label->token.length); /* the arena is zeroed: a NUL follows
                                                                */
        p->labels[p->label_count++] = (hg_label_name){(uint32_t)label->index, names};
        names += label->token.length + 1;
    }
    sort_labels(p->labels, count);
    return true;
}

/* Copies an array into the program's arena. An empty one gets an address too: pointers into it are
 * formed. */
static bool keep(hg_assembler *a, void *into, const void *from, uint64_t count, size_t size) {
    void *copy = hg_arena_alloc(&a->program->arena, (size_t)(count ? count : 1) * size);
    if (!copy) return hg_asm_no_memory(a);
    if (count) memcpy(copy, from, (size_t)count * size);
    memcpy(into, &copy, sizeof copy);
    return true;
}
#define KEEP(field, vec) keep(a, &a->program->field, (vec).data, (vec).count, sizeof *(vec).data)

enum { MOST_KEPT_TEXT = 1048576 /* bytes of included files that later messages can show */ };

/* What was expanded, for messages that are still to come. */
static bool store_origins(hg_assembler *a) {
    hg_program *p = a->program;
    if (a->source.expansions.count == 1) return true;
    size_t kept = 0, files = (size_t)a->source.files.count,
           count = (size_t)a->source.expansions.count;
    p->origins.expansions = hg_arena_alloc(&p->arena, count * sizeof *p->origins.expansions);
    p->origins.files = hg_arena_alloc(&p->arena, files * sizeof *p->origins.files);
    if (!p->origins.expansions || !p->origins.files) return hg_asm_no_memory(a);
    for (size_t i = 1; i < files; i++) {
        const hg_text_file *from = &a->source.files.data[i];
        hg_text_file *to = &p->origins.files[i];
        to->name = hg_arena_text(&p->arena, from->name, strlen(from->name));
        if (!to->name) return hg_asm_no_memory(a);
        if (from->length > MOST_KEPT_TEXT - kept) continue;
        kept += from->length;
        to->length = from->length;
        to->text = hg_arena_text(&p->arena, from->text, from->length);
        if (!to->text) return hg_asm_no_memory(a);
    }
    const char *last = NULL, *copy = NULL; /* the rounds of a loop have one name */
    for (size_t i = 1; i < count; i++) {
        hg_text_expansion *e = &p->origins.expansions[i];
        *e = a->source.expansions.data[i];
        if (e->name != last) copy = hg_arena_text(&p->arena, e->name, e->name_length);
        if (!copy) return hg_asm_no_memory(a);
        last = e->name;
        e->name = copy;
    }
    p->origins.count = (uint32_t)count;
    while (a->kept.places.count && a->kept.places.count < a->code.insts.count)
        if (!hg_vec_push(&a->kept.places)) return hg_asm_no_memory(a);
    return !a->kept.places.count || keep(a, &p->places, a->kept.places.data, a->kept.places.count,
                                         sizeof *a->kept.places.data);
}

bool hg_asm_store_program(hg_assembler *a) {
    hg_program *p = a->program;
    p->inst_count = (uint32_t)a->code.insts.count;
    p->operand_count = (uint32_t)a->code.operands.count;
    p->param_count = (uint32_t)a->head.params.count;
    p->meta_count = (uint32_t)a->head.meta.count;
    p->literal_bytes = a->code.literals.length;
    p->item_count = a->code.items.count;
    p->skipped_count = (uint32_t)a->kept.skipped.count;
    p->word_count = (uint32_t)a->kept.words.count;
    if (a->code.literals.failed) return hg_asm_no_memory(a);
    return KEEP(insts, a->code.insts) && KEEP(operands, a->code.operands) &&
           KEEP(items, a->code.items) && KEEP(params, a->head.params) && KEEP(meta, a->head.meta) &&
           KEEP(lines, a->code.lines) && KEEP(columns, a->code.columns) &&
           (!a->code.has_lengths || KEEP(lengths, a->code.lengths)) &&
           KEEP(operand_spans, a->code.spans) && KEEP(skipped, a->kept.skipped) &&
           KEEP(words, a->kept.words) &&
           keep(a, &p->literals, a->code.literals.data, a->code.literals.length, 1) &&
           store_labels(a) && hg_asm_store_given_names(a) && store_origins(a);
}

hg_assembler *hg_asm_create(hg_diagnostics *diagnostics) {
    hg_assembler *a = hg_calloc(1, sizeof *a);
    if (!a) return NULL;
    a->wrong.diagnostics = diagnostics;
    a->program = hg_calloc(1, sizeof *a->program);
    if (!a->program) {
        hg_free(a);
        return NULL;
    }
    a->program->references = 1;
    return a;
}

void hg_asm_destroy(hg_assembler *a) {
    if (!a) return;
    hg_vec_free(&a->head.params);
    hg_vec_free(&a->head.extents);
    hg_vec_free(&a->head.meta);
    hg_vec_free(&a->head.arrays);
    hg_vec_free(&a->lanes.ops);
    hg_vec_free(&a->code.insts);
    hg_vec_free(&a->code.operands);
    hg_vec_free(&a->code.items);
    hg_vec_free(&a->code.lines);
    hg_vec_free(&a->code.lengths);
    hg_vec_free(&a->code.columns);
    hg_vec_free(&a->code.spans);
    hg_asm_free_names(&a->code.labels);
    hg_asm_free_names(&a->names);
    hg_tree_free(a);
    hg_vec_free(&a->functions.all);
    hg_vec_free(&a->functions.parts);
    hg_vec_free(&a->functions.uses);
    hg_vec_free(&a->functions.chosen);
    hg_asm_free_names(&a->functions.names);
    hg_asm_free_names(&a->wrong.unknown);
    hg_said_free(&a->wrong.said);
    hg_vec_free(&a->source.expansions);
    hg_vec_free(&a->source.scopes);
    hg_vec_free(&a->source.braces);
    hg_vec_free(&a->source.frames);
    hg_vec_free(&a->source.files);
    hg_vec_free(&a->source.macros);
    hg_vec_free(&a->source.macro_parameters);
    hg_vec_free(&a->source.arguments);
    hg_vec_free(&a->source.blocks);
    hg_vec_free(&a->kept.places);
    hg_vec_free(&a->kept.skipped);
    hg_vec_free(&a->kept.words);
    hg_text_free(&a->wanted.others);
    hg_asm_close_sources(a);
    hg_vec_free(&a->values.constants);
    hg_vec_free(&a->values.defines);
    hg_arena_free(&a->texts);
    hg_vec_free(&a->code.fixups);
    hg_vec_free(&a->code.loops);
    hg_vec_free(&a->registers.named);
    hg_vec_free(&a->registers.virtuals);
    hg_vec_free(&a->registers.uses);
    hg_vec_free(&a->registers.param_registers);
    hg_vec_free(&a->registers.given_names);
    hg_text_free(&a->code.literals);
    hg_text_free(&a->head.table);
    hg_program_release(a->program);
    hg_free(a);
}

hg_status hg_asm_first_error(const hg_assembler *a) {
    hg_status status = hg_fail(HG_ERROR_ISA, "%s", a->wrong.first.message);
    hg_error *record = hg_error_record();
    memcpy(record->code, a->wrong.first.code, sizeof record->code);
    record->line = a->wrong.first.line;
    record->column = a->wrong.first.column;
    return status;
}

static hg_status assemble(hg_assembler *a, const char *text, size_t length,
                          const hg_assemble_options *options) {
    a->options = options;
    bool fits = length <= HG_MAX_SOURCE_BYTES; /* else nothing of it is looked at */
    if (!hg_asm_open_source(a, text, fits ? length : 0)) return hg_fail_memory();
    if (!fits) {
        hg_token start = {.line = 1, .column = 1, .length = 1};
        hg_asm_error(a, "S05", &start, NULL, "source of %llu bytes: at most %d are allowed",
                     (unsigned long long)length, HG_MAX_SOURCE_BYTES);
    } else {
        hg_asm_init_mnemonics(a);
        if (hg_asm_add_defines(a, options->defines, options->define_count)) read_file(a);
    }
    if (a->out_of_memory) return hg_fail_memory();
    uint32_t unused = hg_asm_unused_lanes(a);
    if (!a->wrong.errors && unused != a->lanes.unused) {
        a->lanes.unused = unused;
        return HG_OK; /* the text is read again, without them */
    }
    bool allocated = !a->wrong.errors && hg_asm_allocate(a);
    if (a->out_of_memory) return hg_fail_memory();
    if (!allocated) return hg_asm_first_error(a);
    if (!hg_asm_store_program(a)) return hg_fail_memory();
    HG_TRY(hg_infer_types(a->program, a->wrong.diagnostics));
    return hg_program_rehash(a->program);
}

static const hg_sized RULES = HG_SIZED(hg_assemble_options, define_count,
                                       "set it to sizeof(hg_assemble_options)");

hg_status hg_program_assemble_with(const char *text, size_t length,
                                   const hg_assemble_options *options, hg_diagnostics *diagnostics,
                                   hg_program **program) {
    HG_ENTRY;
    hg_assemble_options own = {.size = sizeof own};
    if (!program || (!text && length))
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "assemble: %s is NULL",
                       program ? "text" : "program");
    *program = NULL;
    if (options) HG_TRY(hg_sized_take(&RULES, options, &own));
    if (own.define_count && !own.defines) return hg_null_argument("hg_assemble_options.defines");
    uint32_t unused = 0;
    for (;;) {
        hg_assembler *a = hg_asm_create(diagnostics);
        if (!a) return hg_fail_memory();
        a->lanes.unused = unused;
        hg_status status = assemble(a, text ? text : "", length, &own);
        bool again = status == HG_OK && a->lanes.unused != unused;
        unused = a->lanes.unused;
        if (status == HG_OK && !again) {
            *program = a->program;
            a->program = NULL;
        }
        hg_asm_destroy(a);
        if (!again) return status;
    }
}

hg_status hg_program_assemble(const char *text, size_t length, hg_diagnostics *diagnostics,
                              hg_program **program) {
    HG_ENTRY;
    return hg_program_assemble_with(text, length, NULL, diagnostics, program);
}
