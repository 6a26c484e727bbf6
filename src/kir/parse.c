/* Kernel IR text to a module. Heads of functions are read first, so that a call may stand before
 * the function; then everything else in one walk. Regions nest in the module, not on the stack.
 * Must not know: passes, programs. */
#include "isa/program.h"
#include "kir/reader.h"
#include <string.h>

static bool skip_line(kir_reader *r) {
    while (r->token.kind != KIR_TOKEN_LINE && r->token.kind != KIR_TOKEN_END) kir_next(r);
    return kir_accept(r, KIR_TOKEN_LINE);
}

/* ---- heads of functions ---- */

static bool read_var_type(kir_reader *r, uint8_t *type, uint64_t *length) {
    *length = 0;
    if (!kir_read_type(r, false, type)) return false;
    if (!kir_accept(r, '[')) return true;
    return kir_read_number(r, UINT32_MAX, "a length", length) && kir_expect(r, ']', "']'");
}

static bool read_array_param(kir_reader *r, kir_function *f) {
    kir_token name;
    const char *text;
    uint8_t type;
    uint64_t length;
    if (f->array_count == HG_COUNT_OF(f->array_params))
        return kir_error(r, &r->token, "more than %u array parameters",
                         (unsigned)HG_COUNT_OF(f->array_params));
    if (!kir_read_name(r, "a name", &name) || !kir_expect(r, ':', "':'") ||
        !read_var_type(r, &type, &length) || !kir_name_text(r, &name, &text))
        return false;
    kir_var *var = kir_array_param(f, type, (uint32_t)length, text);
    return var ? kir_define_name(r, kir_scope_vars(f), &name, var) : kir_no_memory(r);
}

static bool read_params(kir_reader *r, kir_function *f) {
    if (!kir_expect(r, '(', "'('")) return false;
    while (r->token.kind != ')') {
        if ((f->param_count || f->array_count) && !kir_expect(r, ',', "',' or ')'")) return false;
        if (kir_accept(r, '&')) {
            if (!read_array_param(r, f)) return false;
            continue;
        }
        if (f->array_count) return kir_expected(r, "'&' (arrays stand last)");
        if (f->param_count == HG_COUNT_OF(f->param_types))
            return kir_error(r, &r->token, "more than %u parameters",
                             (unsigned)HG_COUNT_OF(f->param_types));
        if (!kir_read_type(r, false, &f->param_types[f->param_count])) return false;
        f->param_count++;
    }
    kir_next(r);
    return true;
}

/* After the word function. */
static bool read_head(kir_reader *r) {
    kir_token name;
    const char *text;
    if (!kir_expect(r, '@', "'@'") || !kir_read_name(r, "a name", &name) ||
        !kir_name_text(r, &name, &text))
        return false;
    kir_function *f = kir_function_create(r->module, text ? text : "", KIR_VOID);
    if (!f) return kir_no_memory(r);
    if (!kir_define_name(r, KIR_SCOPE_FUNCTIONS, &name, f) || !read_params(r, f)) return false;
    if (!kir_expect(r, '-', "'->'") || !kir_expect(r, '>', "'->'") ||
        !kir_read_type(r, true, &f->result))
        return false;
    f->pure = kir_accept_word(r, "pure");
    f->cold = kir_accept_word(r, "cold");
    f->helper = kir_accept_word(r, "helper");
    if (kir_accept_word(r, "limbs")) {
        kir_op op;
        if (!kir_read_op(r, "an operation", &op)) return false;
        f->limbs_op = (uint8_t)(op + 1);
    }
    return kir_expect(r, '{', "'{'");
}

static bool read_heads(kir_reader *r) {
    kir_next(r);
    do
        if (kir_accept_word(r, "function") && !read_head(r)) return false;
    while (skip_line(r));
    r->at = r->line_start = 0;
    r->line = 1;
    return true;
}

/* ---- declarations ---- */

/* After the word var, of the module (f NULL) or a function: names, their type. */
static bool read_vars(kir_reader *r, kir_function *f) {
    kir_reader names = *r; /* read twice: the type stands behind them */
    uint8_t type;
    uint64_t length;
    kir_token name;
    do {
        if (!f && !kir_expect(r, '$', "'$'")) return false;
        if (!kir_read_name(r, "a name", &name)) return false;
    } while (kir_accept(r, ','));
    if (!kir_expect(r, ':', "',' or ':'") || !read_var_type(r, &type, &length)) return false;
    kir_token end = r->token;
    size_t at = r->at, line_start = r->line_start;
    uint32_t line = r->line;
    r->at = names.at;
    r->token = names.token;
    r->line = names.line;
    r->line_start = names.line_start;
    do {
        const char *text;
        if (!f) kir_next(r);
        if (!kir_read_name(r, "a name", &name) || !kir_name_text(r, &name, &text)) return false;
        kir_var *var = kir_var_create(r->module, f, type, (uint32_t)length, text);
        if (!var) return kir_no_memory(r);
        if (!kir_define_name(r, f ? kir_scope_vars(f) : (uint32_t)KIR_SCOPE_VARS, &name, var))
            return false;
    } while (kir_accept(r, ','));
    r->token = end;
    r->at = at;
    r->line = line;
    r->line_start = line_start;
    return true;
}

static bool read_table_data(kir_reader *r, uint8_t type, uint64_t length, hg_text *data) {
    uint8_t bytes[HG_MAX_LITERAL_BYTES];
    for (uint64_t i = 0; i < length; i++) {
        while (kir_accept(r, KIR_TOKEN_LINE)) {}
        if (i && !kir_expect(r, ',', "',' and further elements")) return false;
        while (kir_accept(r, KIR_TOKEN_LINE)) {}
        if (!kir_read_literal(r, type, bytes)) return false;
        hg_text_add(data, (const char *)bytes, (size_t)kir_type_bytes(type));
        if (data->failed) return kir_no_memory(r);
    }
    while (kir_accept(r, KIR_TOKEN_LINE)) {}
    return kir_expect(r, '}', "'}'");
}

static bool read_table(kir_reader *r) {
    kir_token name;
    const char *text;
    uint8_t type;
    uint64_t length;
    if (!kir_read_name(r, "a name", &name) || !kir_name_text(r, &name, &text) ||
        !kir_expect(r, ':', "':'"))
        return false;
    if (!read_var_type(r, &type, &length) || !kir_expect(r, '=', "'='") ||
        !kir_expect(r, '{', "'{'"))
        return false;
    hg_text data = {0};
    bool ok = read_table_data(r, type, length, &data);
    kir_table *t = ok ? kir_table_create(r->module, type, (uint32_t)length,
                                         data.data ? data.data : "", text)
                      : NULL;
    hg_text_free(&data);
    if (!ok) return false;
    return t ? kir_define_name(r, KIR_SCOPE_TABLES, &name, t) : kir_no_memory(r);
}

/* "3:" where 3 are there. */
static bool read_place(kir_reader *r, uint64_t count, uint64_t most) {
    kir_token at = r->token;
    uint64_t n;
    if (!kir_read_number(r, most - 1, "a number", &n)) return false;
    if (n != count)
        return kir_error(r, &at, "expected %llu, got %llu", (unsigned long long)count,
                         (unsigned long long)n);
    return kir_expect(r, ':', "':'");
}

static bool read_input(kir_reader *r) {
    kir_input *input;
    uint8_t type, kind;
    uint64_t n, limb = 0, bytes = 0;
    if (!read_place(r, r->module->inputs.count, KIR_TEXT_MAX_INPUTS) ||
        !kir_read_type(r, false, &type) ||
        !kir_read_choice(r, &kir_input_words, "param, env, shared or field", &kind) ||
        !kir_read_number(r, kind == KIR_INPUT_PARAM ? 255 : UINT32_MAX, "a number", &n))
        return false;
    if (kir_accept_word(r, "limb") &&
        (!kir_read_number(r, 511, "a number", &limb) || !kir_expect_word(r, "of") ||
         !kir_read_number(r, 8, "a size in bytes", &bytes)))
        return false;
    input = hg_vec_push(&r->module->inputs);
    if (!input) return kir_no_memory(r);
    *input = (kir_input){
        .kind = kind, .type = type, .limb = (uint16_t)limb, .limb_bytes = (uint8_t)bytes};
    if (kind == KIR_INPUT_PARAM)
        input->reg = (uint8_t)n;
    else
        input->index = (uint32_t)n;
    input->is_buffer = kir_accept_word(r, "buffer");
    input->is_pool = kir_accept_word(r, "pool");
    if (r->token.kind != KIR_TOKEN_STRING) return true;
    const char *name;
    if (!kir_read_string(r, &name)) return false;
    r->module->inputs.data[r->module->inputs.count - 1].name = name;
    return true;
}

static bool read_slot_kind(kir_reader *r, kir_slot *s) {
    if (r->token.kind != KIR_TOKEN_WORD) return kir_expected(r, "what the slot is");
    uint32_t space = kir_word_find(&kir_space_words, r->token.text, r->token.length);
    if (space != KIR_BUFFER && space != KIR_POOL) {
        if (!kir_read_choice(r, &kir_slot_words, "buffer, pool or what the slot is for", &s->kind))
            return false;
        space = r->token.kind == KIR_TOKEN_WORD
                    ? kir_word_find(&kir_space_words, r->token.text, r->token.length)
                    : kir_space_words.count;
    }
    if (space < kir_space_words.count) {
        s->space = (uint8_t)space;
        kir_next(r);
    }
    return !kir_accept(r, '.') ||
           kir_read_choice(r, &kir_memory_words, "memory of the plan", &s->plan);
}

static bool read_slot(kir_reader *r) {
    kir_slot s = {0};
    uint64_t n;
    if (!read_place(r, r->module->slots.count, KIR_TEXT_MAX_SLOTS) || !read_slot_kind(r, &s))
        return false;
    s.constant = kir_is_word(r, "handle");
    if ((kir_accept_word(r, "handle") || kir_accept_word(r, "number")) &&
        !kir_read_number(r, UINT64_MAX, "a number", &s.handle))
        return false;
    if (kir_accept_word(r, "input")) {
        if (!kir_read_number(r, UINT32_MAX, "an input", &n)) return false;
        s.input = (uint32_t)n;
    }
    s.read = kir_accept_word(r, "read");
    s.written = kir_accept_word(r, "written");
    s.distinct = kir_accept_word(r, "distinct");
    if (kir_accept_word(r, "base")) {
        bool none = kir_accept_word(r, "none");
        if (!none && !kir_read_number(r, INT32_MAX, "an input or none", &n)) return false;
        s.base = none ? -1 : (int32_t)n;
    }
    kir_slot *slot = hg_vec_push(&r->module->slots);
    if (!slot) return kir_no_memory(r);
    *slot = s;
    return true;
}

static bool read_module(kir_reader *r) {
    kir_module *m = r->module;
    struct {
        const char *word;
        bool *flag;
    } const flags[] = {{"relaxed", &m->relaxed},    {"barrier", &m->uses_barrier},
                       {"shared", &m->uses_shared}, {"class", &m->uses_class},
                       {"step", &m->has_step},      {"open", &m->has_open}};
    kir_token name;
    while (kir_accept(r, KIR_TOKEN_LINE)) {}
    if (!kir_expect_word(r, "module") || !kir_read_name(r, "a name", &name) ||
        !kir_name_text(r, &name, &m->name))
        return false;
    if (!m->name) m->name = "";
    for (size_t i = 0; i < HG_COUNT_OF(flags); i++)
        if (kir_accept_word(r, flags[i].word)) *flags[i].flag = true;
    if (!kir_accept_word(r, "is")) return kir_expect_line(r);
    do {
        uint8_t fact;
        if (!kir_read_choice(r, &kir_fact_words,
                             "simple, slots, legal, uniformity, device or hoisted", &fact))
            return false;
        m->facts |= 1u << fact;
    } while (kir_accept(r, ','));
    return kir_expect_line(r);
}

/* ---- bodies ---- */

static bool read_source(kir_reader *r) {
    uint64_t n;
    if (kir_accept_word(r, "none")) {
        r->b.inst = 0;
        return true;
    }
    if (!kir_read_number(r, UINT32_MAX - 1, "the number of an instruction, or none", &n))
        return false;
    r->b.inst = (uint32_t)n + 1;
    return true;
}

/* After '}'. *open: the function goes on. */
static bool close_region(kir_reader *r, bool *open) {
    kir_region *region = r->b.region;
    kir_value *owner = region->owner;
    if (!owner) {
        *open = false;
        return true;
    }
    if (kir_is_word(r, "else")) {
        if (owner->op != KIR_IF || region != owner->body[0])
            return kir_expected(r, "the end of the line");
        kir_next(r);
        kir_if_else(&r->b, owner);
        return kir_expect(r, '{', "'{'");
    }
    r->depth--;
    if (owner->op == KIR_IF)
        kir_if_end(&r->b, owner);
    else
        kir_loop_end(&r->b, owner);
    return true;
}

static bool read_body_line(kir_reader *r, bool *open) {
    if (kir_accept(r, '}')) return close_region(r, open);
    if (kir_accept_word(r, "var")) return read_vars(r, r->function);
    if (kir_accept_word(r, "inst")) return read_source(r);
    return kir_read_operation(r);
}

/* After the word function: its head was read before. */
static bool read_function(kir_reader *r) {
    r->function = r->function ? r->function->next : r->module->functions;
    kir_builder_init(&r->b, r->module, r->function);
    r->depth = 0;
    while (r->token.kind != '{') kir_next(r);
    kir_next(r);
    for (bool open = true; open;) {
        if (!kir_expect_line(r)) return false;
        while (kir_accept(r, KIR_TOKEN_LINE)) {}
        if (r->token.kind == KIR_TOKEN_END) return kir_expected(r, "'}'");
        if (!read_body_line(r, &open)) return false;
        if (r->b.failed) return kir_no_memory(r);
    }
    return true;
}

/* Input, slot or table: *found. */
static bool read_declaration(kir_reader *r, bool *found) {
    *found = true;
    if (kir_accept_word(r, "input")) return read_input(r);
    if (kir_accept_word(r, "slot")) return read_slot(r);
    if (kir_accept_word(r, "table")) return read_table(r);
    *found = false;
    return true;
}

static bool read_statement(kir_reader *r) {
    bool found;
    if (!read_declaration(r, &found)) return false;
    if (found) return true;
    if (kir_accept_word(r, "var")) return read_vars(r, NULL);
    if (kir_accept_word(r, "function")) return read_function(r);
    return kir_expected(r, "input, slot, table, var or function");
}

static bool read_all(kir_reader *r) {
    if (!read_heads(r)) return false;
    kir_next(r);
    if (!read_module(r)) return false;
    for (;;) {
        while (kir_accept(r, KIR_TOKEN_LINE)) {}
        if (r->token.kind == KIR_TOKEN_END) break;
        if (!read_statement(r) || !kir_expect_line(r)) return false;
    }
    return r->module->functions || kir_expected(r, "a function");
}

bool kir_read_head(kir_reader *r) {
    bool found = true;
    kir_next(r);
    if (!read_module(r)) return false;
    while (found) {
        while (kir_accept(r, KIR_TOKEN_LINE)) {}
        if (!read_declaration(r, &found) || (found && !kir_expect_line(r))) return false;
    }
    return true;
}

void kir_reader_free(kir_reader *r) {
    hg_vec_free(&r->symbols);
    hg_free(r->heads);
    r->heads = NULL;
}

/* What the operations themselves say; the device form has none of these flags but those that its
 * text says. */
static void note_uses(kir_module *m) {
    for (kir_function *f = m->functions; f; f = f->next) {
        kir_number(f);
        for (const kir_value *v = kir_walk(NULL, f->body); v && !kir_is_device_form(m);
             v = kir_walk(v, f->body)) {
            m->uses_barrier |= v->op == KIR_BARRIER;
            m->has_step |= v->op == KIR_STEP;
            m->uses_shared |= v->op == KIR_BLOCK;
            if (!kir_is_access(v)) continue;
            m->uses_shared |= v->u.mem.space == KIR_SHARED;
            m->uses_class |= v->u.mem.space == KIR_CLASS;
        }
    }
}

hg_status kir_parse(const char *text, size_t length, hg_diagnostics *diagnostics,
                    kir_module **module) {
    kir_reader r;
    *module = NULL;
    kir_reader_init(&r, text, length, diagnostics);
    r.module = kir_module_create("");
    if (!r.module) return hg_fail_memory();
    bool ok = length <= UINT32_MAX ? read_all(&r)
                                   : kir_error(&r, &r.token, "a text of more than 4 GiB");
    kir_reader_free(&r);
    if (!ok) {
        kir_module_destroy(r.module);
        return r.no_memory ? HG_ERROR_OUT_OF_MEMORY : HG_ERROR_ISA;
    }
    note_uses(r.module);
    *module = r.module;
    return HG_OK;
}
