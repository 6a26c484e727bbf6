/* The text of the vector form to the form. Heads of functions are read first, so that a call may
 * stand before the function; then everything else in one walk. Regions nest in the form, not on the
 * stack.
 * Must not know: passes. */
#include "vector/parse_internal.h"

#include <string.h>

enum { MOST_LANES = 256 };

static bool no_memory(vec_reader *s) { return kir_no_memory(&s->r); }

static bool skip_line(kir_reader *r) {
    while (r->token.kind != KIR_TOKEN_LINE && r->token.kind != KIR_TOKEN_END) kir_next(r);
    return kir_accept(r, KIR_TOKEN_LINE);
}

/* ---- variables ---- */

static bool put_var(vec_reader *s, vec_var_list *list, vec_var *v, const kir_token *at) {
    while (list->count <= v->id) {
        vec_var **slot = hg_vec_push(list);
        if (!slot) return no_memory(s);
        *slot = NULL;
    }
    if (list->data[v->id])
        return kir_error(&s->r, at, "a variable of number %u is there already", (unsigned)v->id);
    list->data[v->id] = v;
    return true;
}

static vec_value *turns_here(const vec_reader *s) {
    const vec_region *region = s->region;
    while (region && region->owner && region->owner->op != VEC_TURNS)
        region = region->owner->parent;
    return region ? region->owner : NULL;
}

/* After the word var: "v3: kept each u32[4] "name"". */
static bool read_var(vec_reader *s) {
    kir_reader *r = &s->r;
    const kir_token at = r->token;
    vec_var *v = hg_arena_alloc(&s->k->arena, sizeof *v);
    char letter;
    uint64_t length = 0;
    if (!v) return no_memory(s);
    if (!vec_read_var_name(s, &v->shared, &letter, &v->id) || !kir_expect(r, ':', "':'"))
        return false;
    if (v->shared != (s->f == NULL))
        return kir_error(
            r, &at, v->shared ? "a shared variable in a function" : "a variable of no function");
    v->mask = letter == 'm';
    v->by_reference = kir_accept_word(r, "reference");
    v->kept = kir_accept_word(r, "kept");
    v->each = kir_is_word(r, "each");
    if (!kir_accept_word(r, "each") && !kir_expect_word(r, "one")) return false;
    if (!kir_read_type(r, false, &v->type)) return false;
    if (kir_accept(r, '[') &&
        (!kir_read_number(r, UINT32_MAX, "a length", &length) || !kir_expect(r, ']', "']'")))
        return false;
    v->length = (uint32_t)length;
    if (r->token.kind == KIR_TOKEN_STRING && !kir_read_string(r, &v->name)) return false;
    if (vec_var_letter(v) != letter)
        return kir_error(r, &at, "a name of another kind of variable: '%c' expected",
                         vec_var_letter(v));
    if (kir_type_bytes(v->type) > 8) return kir_error(r, &at, "a variable of more than 64 bits");
    if (!v->kept && !v->shared && s->k->blocks && s->f == s->k->functions) v->turns = turns_here(s);
    return put_var(s, v->shared ? &s->shared : &s->vars, v, &at);
}

/* In the order of their numbers, which leave none out. */
static bool link_vars(vec_reader *s, vec_var_list *list, vec_var **first, vec_var **last,
                      uint32_t *count) {
    for (uint64_t i = 0; i < list->count; i++) {
        if (!list->data[i])
            return kir_error(&s->r, &s->r.token, "there is no variable of number %u", (unsigned)i);
        *(*last ? &(*last)->next : first) = list->data[i];
        *last = list->data[i];
    }
    *count = (uint32_t)list->count;
    return true;
}

/* ---- heads of functions ---- */

static bool read_param(kir_reader *r, uint8_t *type, bool *each) {
    *each = kir_is_word(r, "each");
    return (kir_accept_word(r, "each") || kir_expect_word(r, "one")) &&
           kir_read_type(r, false, type);
}

static bool read_params(kir_reader *r, vec_function *f) {
    if (!kir_expect(r, '(', "'('")) return false;
    while (r->token.kind != ')') {
        if (f->param_count && !kir_expect(r, ',', "',' or ')'")) return false;
        if (f->param_count == HG_COUNT_OF(f->param_types))
            return kir_error(r, &r->token, "more than %u parameters",
                             (unsigned)HG_COUNT_OF(f->param_types));
        if (!read_param(r, &f->param_types[f->param_count], &f->param_each[f->param_count]))
            return false;
        f->param_count++;
    }
    kir_next(r);
    return true;
}

/* After the word turn, block or function, as far as its arrays. */
static bool read_head(vec_reader *s) {
    kir_reader *r = &s->r;
    const kir_token at = r->token;
    uint32_t id;
    vec_function *f = hg_arena_alloc(&s->k->arena, sizeof *f), **slot = hg_vec_push(&s->by_id);
    if (!f || !slot) return no_memory(s);
    *slot = f;
    f->id = s->k->function_count++;
    f->limbs_op = KIR_OP_COUNT;
    f->result = KIR_VOID;
    if (!vec_read_numbered(r, 'f', "f and the function's number", &id) ||
        !kir_read_string(r, &f->name))
        return false;
    if (id != f->id)
        return kir_error(r, &at, "expected f%u, got f%u", (unsigned)f->id, (unsigned)id);
    if (!read_params(r, f)) return false;
    if (kir_accept(r, '-') &&
        (!kir_expect(r, '>', "'->'") || !read_param(r, &f->result, &f->result_each)))
        return false;
    f->masked = kir_accept_word(r, "masked");
    f->can_end = kir_accept_word(r, "ends");
    if (kir_accept_word(r, "limbs")) {
        kir_op op;
        if (!kir_read_op(r, "an operation", &op)) return false;
        f->limbs_op = (uint8_t)op;
    }
    *(s->k->last_function ? &s->k->last_function->next : &s->k->functions) = f;
    s->k->last_function = f;
    return true;
}

static bool is_head(const vec_reader *s) {
    const kir_reader *r = &s->r;
    return kir_is_word(r, "turn") || kir_is_word(r, "block") || kir_is_word(r, "function");
}

static bool read_heads(vec_reader *s) {
    const kir_reader begin = s->r;
    do {
        while (kir_accept(&s->r, KIR_TOKEN_LINE)) {}
        if (!is_head(s)) continue;
        if (s->k->functions && !kir_is_word(&s->r, "function"))
            return kir_expected(&s->r, "function: the kernel is the first");
        if (!s->k->functions && kir_is_word(&s->r, "function"))
            return kir_expected(&s->r, "turn or block, the kernel, first");
        s->k->blocks = s->k->blocks || kir_is_word(&s->r, "block");
        kir_next(&s->r);
        if (!read_head(s)) return false;
    } while (skip_line(&s->r));
    if (!s->k->functions) return kir_expected(&s->r, "a function");
    s->r.token = begin.token;
    s->r.at = begin.at;
    s->r.line = begin.line;
    s->r.line_start = begin.line_start;
    return true;
}

/* ---- bodies ---- */

static bool read_source(vec_reader *s) {
    uint64_t n;
    s->inst = 0;
    if (kir_accept_word(&s->r, "none")) return true;
    if (!kir_read_number(&s->r, UINT32_MAX - 1, "the number of an instruction, or none", &n))
        return false;
    s->inst = (uint32_t)n + 1;
    return true;
}

/* After '}'. *open: the function goes on. */
static bool close_region(vec_reader *s, bool *open) {
    kir_reader *r = &s->r;
    vec_value *owner = s->region->owner;
    *open = owner != NULL;
    if (!owner) return true;
    if (kir_is_word(r, "else")) {
        if (owner->op != VEC_IF || s->region != owner->body[0])
            return kir_expected(r, "the end of the line");
        kir_next(r);
        s->region = owner->body[1];
        return kir_expect(r, '{', "'{'");
    }
    s->depth--;
    s->region = owner->parent;
    return true;
}

static bool read_body_line(vec_reader *s, bool *open) {
    kir_reader *r = &s->r;
    if (kir_accept(r, '}')) return close_region(s, open);
    if (kir_accept_word(r, "var")) return read_var(s);
    if (kir_accept_word(r, "inst")) return read_source(s);
    return vec_read_operation(s);
}

/* Arrays stand in the head, and are declared behind it. */
static bool find_arrays(vec_reader *s, kir_reader behind) {
    kir_reader *r = &s->r;
    const kir_reader after = *r;
    bool good = true;
    r->token = behind.token;
    r->at = behind.at;
    r->line = behind.line;
    r->line_start = behind.line_start;
    do {
        vec_var *v = NULL;
        const kir_token at = r->token;
        if (s->f->array_count == HG_COUNT_OF(s->f->array_params))
            good = kir_error(r, &at, "more than %u arrays",
                             (unsigned)HG_COUNT_OF(s->f->array_params));
        else if ((good = vec_read_var(s, &v)) && (!v->length || !v->by_reference || v->shared))
            good = kir_error(r, &at, "an array parameter is an array by reference");
        if (good) s->f->array_params[s->f->array_count++] = v;
    } while (good && kir_accept(r, ','));
    r->token = after.token;
    r->at = after.at;
    r->line = after.line;
    r->line_start = after.line_start;
    return good;
}

/* Its head was read before. */
static bool read_function(vec_reader *s) {
    kir_reader *r = &s->r, arrays = *r;
    bool has_arrays = false;
    s->f = s->f ? s->f->next : s->k->functions;
    s->vars.count = s->values.count = 0;
    s->inst = s->depth = 0;
    s->region = s->f->body = hg_arena_alloc(&s->k->arena, sizeof *s->region);
    if (!s->region) return no_memory(s);
    while (r->token.kind != '{' && r->token.kind != KIR_TOKEN_LINE &&
           r->token.kind != KIR_TOKEN_END) {
        if (!kir_accept_word(r, "arrays")) {
            kir_next(r);
            continue;
        }
        arrays = *r;
        has_arrays = true;
    }
    if (!kir_expect(r, '{', "'{'")) return false;
    for (bool open = true; open;) {
        if (!kir_expect_line(r)) return false;
        while (kir_accept(r, KIR_TOKEN_LINE)) {}
        if (r->token.kind == KIR_TOKEN_END) return kir_expected(r, "'}'");
        if (!read_body_line(s, &open)) return false;
    }
    if (has_arrays && !find_arrays(s, arrays)) return false;
    return link_vars(s, &s->vars, &s->f->vars, &s->f->last_var, &s->f->var_count);
}

/* ---- facts ---- */

static bool read_pressure(vec_reader *s) {
    uint64_t bytes, inst = 0;
    if (!kir_read_number(&s->r, UINT32_MAX, "bytes", &bytes)) return false;
    if (kir_accept_word(&s->r, "inst")) {
        if (!kir_read_number(&s->r, UINT32_MAX - 1, "the number of an instruction", &inst))
            return false;
        inst++;
    }
    s->k->pressure = (vec_pressure){(uint32_t)bytes, (uint32_t)inst};
    return true;
}

/* ---- the whole ---- */

static bool read_lanes(vec_reader *s) {
    kir_reader *r = &s->r;
    uint64_t lanes;
    const kir_token at = r->token;
    if (!kir_expect_word(r, "lanes") || !kir_read_number(r, MOST_LANES, "lanes", &lanes))
        return false;
    if (!lanes || (lanes & (lanes - 1)))
        return kir_error(r, &at, "lanes: %llu, a power of two expected", (unsigned long long)lanes);
    s->k->lanes = (uint32_t)lanes;
    s->k->can_end = kir_accept_word(r, "ends");
    return kir_expect_line(r);
}

static bool read_statement(vec_reader *s) {
    kir_reader *r = &s->r;
    if (kir_accept_word(r, "var"))
        return s->f ? kir_expected(r, "shared variables before functions") : read_var(s);
    if (is_head(s)) return read_function(s);
    if (kir_accept_word(r, "pressure")) return read_pressure(s);
    return kir_expected(r, "var, turn, block, function or pressure");
}

static bool read_all(vec_reader *s) {
    kir_reader *r = &s->r;
    if (!kir_read_head(r) || !read_lanes(s) || !read_heads(s)) return false;
    for (;;) {
        while (kir_accept(r, KIR_TOKEN_LINE)) {}
        if (r->token.kind == KIR_TOKEN_END) break;
        if (!read_statement(s) || !kir_expect_line(r)) return false;
    }
    if (!s->f || s->f->next) return kir_expected(r, "the bodies of all functions");
    return link_vars(s, &s->shared, &s->k->shared, &s->k->last_shared, &s->k->shared_count);
}

hg_status vec_parse(const char *text, size_t length, hg_diagnostics *diagnostics,
                    kir_module **module, vec_kernel **kernel) {
    vec_reader s = {.k = hg_calloc(1, sizeof *s.k)};
    *module = NULL;
    *kernel = NULL;
    kir_reader_init(&s.r, text, length, diagnostics);
    s.r.what = "vector form";
    s.r.module = kir_module_create("");
    bool ok = s.k && s.r.module;
    if (!ok) (void)no_memory(&s);
    if (ok) {
        s.k->module = s.r.module;
        ok = length <= UINT32_MAX ? read_all(&s)
                                  : kir_error(&s.r, &s.r.token, "a text of more than 4 GiB");
    }
    kir_reader_free(&s.r);
    hg_vec_free(&s.vars);
    hg_vec_free(&s.shared);
    hg_vec_free(&s.values);
    hg_vec_free(&s.by_id);
    if (!ok) {
        vec_kernel_destroy(s.k);
        kir_module_destroy(s.r.module);
        return s.r.no_memory ? HG_ERROR_OUT_OF_MEMORY : HG_ERROR_ISA;
    }
    for (vec_function *f = s.k->functions; f; f = f->next) vec_count_uses(f);
    *module = s.r.module;
    *kernel = s.k;
    return HG_OK;
}
