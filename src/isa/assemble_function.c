/* Functions of the text (language.md 2.8): `fn NAME[T](a TYPE, …) -> TYPE { … }`. A body is a piece
 * of the text, read behind the program, once for each set of types and arrays that it is called
 * with.
 * Must not know: instructions. */
#include "isa/assemble_statement.h"

#include <stdio.h>

/* ---- the head of a function ---- */

static bool too_many(hg_assembler *a, const hg_token *at, const char *what, uint32_t most) {
    hg_asm_error(a, "S05", at, NULL, "more than %u %s of a function", (unsigned)most, what);
    return false;
}

static hg_fn_part *add_part(hg_assembler *a) {
    hg_fn_part *part = hg_vec_push(&a->functions.parts);
    if (!part)
        hg_asm_no_memory(a);
    else
        *part = (hg_fn_part){.type = HG_TYPE_OMITTED};
    return part;
}

static hg_fn_part *parts_of(const hg_assembler *a, const hg_fn *fn) {
    return a->functions.parts.count ? &a->functions.parts.data[fn->first] : NULL;
}

static bool same_name(const hg_token *x, const hg_token *y) {
    return x->length == y->length && memcmp(x->text, y->text, x->length) == 0;
}

/* Two names of a head: its type parameters and its parameters. */
static bool check_new(hg_assembler *a, const hg_fn *fn, const hg_token *name) {
    for (uint32_t i = 0; i < fn->types + fn->parameters; i++) {
        if (!same_name(&parts_of(a, fn)[i].name, name)) continue;
        hg_asm_error(a, "D02", name, NULL, "parameter '%.*s' declared twice", hg_token_shown(name),
                     name->text);
        return false;
    }
    return true;
}

static bool read_type_parameters(hg_assembler *a, hg_fn *fn) {
    if (!hg_asm_accept(a, '[')) return true;
    do {
        hg_token name = a->token;
        if (fn->types == HG_MAX_FUNCTION_TYPES)
            return too_many(a, &name, "type parameters", HG_MAX_FUNCTION_TYPES);
        if (!hg_asm_identifier(a, "the name of a type", &name) || !check_new(a, fn, &name))
            return false;
        hg_fn_part *part = add_part(a);
        if (!part) return false;
        part->name = name;
        fn->types++;
    } while (hg_asm_accept(a, ','));
    return hg_asm_expect(a, ']', "',' or ']'");
}

/* A type, pred, or a type parameter. */
static bool read_part_type(hg_assembler *a, const hg_fn *fn, hg_fn_part *part) {
    for (uint32_t k = 0; k < fn->types && a->token.kind == HG_TOKEN_NAME; k++) {
        if (!same_name(&parts_of(a, fn)[k].name, &a->token)) continue;
        part->parameter = (uint8_t)(k + 1);
        hg_asm_next(a);
        return true;
    }
    part->type = HG_TREE_PREDICATE;
    if (!hg_token_is(&a->token, "pred")) return hg_asm_expect_type(a, "a type", &part->type);
    hg_asm_next(a);
    return true;
}

static bool check_element(hg_assembler *a, const hg_fn_part *part) {
    if (part->type != HG_TREE_PREDICATE) return true;
    hg_asm_error(a, "N06", &part->name, NULL, "an array has no predicates");
    return false;
}

static bool read_parameter(hg_assembler *a, hg_fn *fn) {
    hg_fn_part read = {.type = HG_TYPE_OMITTED};
    if (!hg_asm_register_name(a, &read.name) || !check_new(a, fn, &read.name)) return false;
    if (a->token.kind == ':')
        return hg_asm_unexpected_with(a, "a type",
                                      "the type stands behind the name: fn f(a f32) -> f32 {");
    uint8_t place = hg_token_is(&a->token, "shared")    ? HG_PLACE_SHARED
                    : hg_token_is(&a->token, "private") ? HG_PLACE_PRIVATE
                                                        : HG_PLACE_NONE;
    read.is_array = place != HG_PLACE_NONE;
    if (read.is_array) hg_asm_next(a);
    if (!read_part_type(a, fn, &read)) return false;
    if (read.is_array && (!check_element(a, &read) || !hg_asm_memory_extents(a, &read.array)))
        return false;
    read.array.place = place;
    hg_fn_part *part = add_part(a);
    if (!part) return false;
    *part = read;
    fn->parameters++;
    return true;
}

static bool read_parameters(hg_assembler *a, hg_fn *fn) {
    if (!hg_asm_expect(a, '(', "'('")) return false;
    if (hg_asm_accept(a, ')')) return true;
    do {
        if (fn->parameters == HG_MAX_FUNCTION_PARAMETERS)
            return too_many(a, &a->token, "parameters", HG_MAX_FUNCTION_PARAMETERS);
        if (!read_parameter(a, fn)) return false;
    } while (hg_asm_accept(a, ','));
    return hg_asm_expect(a, ')', "',' or ')'");
}

/* -> TYPE, TYPE */
static bool read_results(hg_assembler *a, hg_fn *fn) {
    if (a->token.kind != '-') return true;
    hg_asm_next(a);
    if (a->token.kind != '>' || !a->token.glued) return hg_asm_unexpected(a, "'->'");
    hg_asm_next(a);
    do {
        hg_fn_part read = {.type = HG_TYPE_OMITTED};
        if (fn->results == HG_MAX_FUNCTION_RESULTS)
            return too_many(a, &a->token, "results", HG_MAX_FUNCTION_RESULTS);
        if (!read_part_type(a, fn, &read)) return false;
        hg_fn_part *part = add_part(a);
        if (!part) return false;
        *part = read;
        fn->results++;
    } while (hg_asm_accept(a, ','));
    return true;
}

/* A call has to tell each type. */
static bool check_types(hg_assembler *a, const hg_fn *fn) {
    const hg_fn_part *parts = parts_of(a, fn);
    for (uint32_t k = 0; k < fn->types; k++) {
        bool told = false;
        for (uint32_t i = 0; i < fn->parameters; i++)
            told = told || parts[fn->types + i].parameter == k + 1;
        if (told) continue;
        hg_asm_error(a, "V05", &parts[k].name, "a type is told by the arguments of a call",
                     "no parameter has the type '%.*s'", hg_token_shown(&parts[k].name),
                     parts[k].name.text);
        return false;
    }
    return true;
}

static bool read_head(hg_assembler *a, hg_fn *fn) {
    fn->first = (uint32_t)a->functions.parts.count;
    return read_type_parameters(a, fn) && read_parameters(a, fn) && read_results(a, fn) &&
           check_types(a, fn);
}

/* ---- text by lines ---- */

/* The lexer is at the beginning of a line, blanks aside. */
static bool begins_with(const hg_lexer *l, const char *word) {
    size_t length = strlen(word), left = l->length - l->at;
    return left > length && memcmp(l->text + l->at, word, length) == 0 &&
           !is_name_byte(l->text[l->at + length]);
}

static void next_line(hg_lexer *l) {
    const char *end = memchr(l->text + l->at, '\n', l->length - l->at);
    l->at = end ? (size_t)(end - l->text) + 1 : l->length;
    l->line++;
    l->line_start = l->statement_start = l->last_end = l->at;
    l->statement_line = l->line;
    l->last = 0;
    l->statement = false;
    l->open = 0;
}

static void skip_blanks(hg_lexer *l) {
    while (l->at < l->length && (l->text[l->at] == ' ' || l->text[l->at] == '\t')) l->at++;
}

/* The last character of the line that is no blank, its comment aside. */
static char last_sign(const hg_lexer *l) {
    char last = 0;
    bool quoted = false;
    for (size_t at = l->at; at < l->length && l->text[at] != '\n'; at++) {
        char c = l->text[at];
        if (c == ';' && !quoted) break;
        if (c == '\\' && quoted && at + 1 < l->length) at++;
        quoted = quoted != (c == '"');
        if (c != ' ' && c != '\t' && c != '\r') last = c;
    }
    return last;
}

/* ---- the body of a function ---- */

/* Behind the line of its '{': to the line that begins with its '}'. Braces are counted as they
 * stand at the ends and beginnings of lines. A line 'fn' that is not deeper than the function's own
 * belongs to the next one. */
static bool find_body(hg_assembler *a, const hg_token *word, hg_piece *body) {
    uint32_t depth = 0;
    hg_lexer *l = &a->lexer;
    *body = hg_asm_here(a);
    if (word->expansion == a->source.expansion && l->at < l->length) {
        for (; l->at < l->length; next_line(l)) {
            const hg_lexer line = *l;
            skip_blanks(l);
            bool closes = l->at < l->length && l->text[l->at] == '}';
            if (begins_with(l, "fn") && l->at - l->line_start < word->column) {
                *l = line;
                break;
            }
            if (closes && !depth) {
                body->end = l->at;
                hg_asm_next(a); /* the } */
                hg_asm_next(a);
                return true;
            }
            depth -= closes;
            depth += last_sign(l) == '{';
        }
    }
    hg_asm_error(a, "L04", word, "'}' ends it", "'fn' without '}'");
    a->token.kind = HG_TOKEN_END_OF_LINE;
    return false;
}

/* What is wrong with the head has been said: behind the function. */
static void skip_function(hg_assembler *a, const hg_token *word) {
    hg_piece body;
    bool brace = false;
    for (; !hg_asm_at_end(a) && !a->wrong.stop; hg_asm_next(a)) brace = a->token.kind == '{';
    hg_lexer next = a->lexer;
    if (!brace && hg_lexer_next(&next).kind == '{') { /* as other languages have it */
        brace = true;
        next_line(&a->lexer);
    }
    if (!brace || a->wrong.stop) return;
    a->wrong.muted++;
    (void)find_body(a, word, &body);
    a->wrong.muted--;
    a->token.kind = HG_TOKEN_END_OF_LINE;
}

static bool read_brace(hg_assembler *a, const hg_fn *fn) {
    if (a->token.kind != '{')
        return hg_asm_unexpected_with(a, fn->results ? "',' or '{'" : "'->' or '{'",
                                      "fn f(a f32, b f32) -> f32 { begins a function");
    hg_asm_next(a);
    return hg_asm_at_end(a) ||
           hg_asm_unexpected_with(a, "end of line", "a body begins in the next line");
}

/* Behind the name. */
static bool read_function(hg_assembler *a, const hg_token *word, hg_fn *fn) {
    if (!read_head(a, fn) || !read_brace(a, fn)) {
        skip_function(a, word);
        return false;
    }
    if (!find_body(a, word, &fn->body)) return false;
    fn->body.expansion = word->expansion;
    return hg_asm_expect_end(a);
}

static bool add_function(hg_assembler *a, hg_fn *fn) {
    if (!hg_asm_declare(a, &fn->name, HG_NAME_FUNCTION, a->functions.all.count)) return false;
    hg_fn *kept = hg_vec_push(&a->functions.all);
    if (!kept) return hg_asm_no_memory(a);
    *kept = *fn;
    return true;
}

/* Only in sources and files that they include. */
static bool is_outside(const hg_assembler *a) {
    bool outside = !a->source.braces.count;
    for (uint64_t i = 0; i < a->source.frames.count; i++)
        outside = outside && a->source.frames.data[i].kind == HG_FRAME_FILE;
    return outside;
}

/* Whether a call in front of it has been looked for it. */
static bool is_known(hg_assembler *a, const hg_token *name) {
    const hg_name *known = hg_asm_find_name(a, name);
    return known && known->token.text == name->text &&
           (known->kind == HG_NAME_FUNCTION || known->kind == HG_NAME_BROKEN);
}

bool hg_asm_read_function(hg_assembler *a, const hg_token *word) {
    hg_fn fn = {.types = 0};
    if (!is_outside(a)) {
        hg_asm_error(a, "S02", word, "a function stands in front of the program or behind it",
                     "'fn' inside a block, a macro, a repetition or a function");
        if (hg_asm_register_name(a, &fn.name)) (void)hg_asm_declare_broken(a, &fn.name);
        skip_function(a, word);
        return false;
    }
    bool known = is_known(a, &a->token);
    a->wrong.muted += known;
    bool good = hg_asm_register_name(a, &fn.name);
    if (!good)
        skip_function(a, word);
    else if (read_function(a, word, &fn))
        good = known || add_function(a, &fn);
    else
        good = hg_asm_declare_broken(a, &fn.name);
    a->wrong.muted -= known;
    return good || known;
}

/* ---- functions that are still to come ---- */

static void read_nothing(hg_assembler *a) { (void)a; }

/* 'fn' is the next token of a->lexer. */
static void read_ahead(hg_assembler *a) {
    hg_fn fn = {.types = 0};
    hg_token word;
    a->wrong.doubtful = false;
    hg_asm_next(a);
    word = a->token;
    hg_asm_next(a);
    a->lexer.statement = true;
    bool named = a->token.kind == HG_TOKEN_NAME &&
                 hg_is_parameter_name(a->token.text, a->token.length) &&
                 !hg_asm_find_name(a, &a->token);
    if (!named || !hg_asm_register_name(a, &fn.name)) return;
    if (!read_function(a, &word, &fn) || !add_function(a, &fn))
        (void)hg_asm_declare_broken(a, &fn.name);
}

/* All functions behind this place of the text that stand in no block of it: by lines, as most have
 * none. */
static void look_ahead(hg_assembler *a) {
    uint32_t depth = 0;
    while (a->lexer.at < a->lexer.length && !a->wrong.stop) {
        hg_lexer *l = &a->lexer;
        skip_blanks(l);
        size_t end = l->at;
        while (end < l->length && is_name_byte(l->text[end])) end++;
        if (!depth && begins_with(l, ".program")) return;
        depth += hg_opens_block(l->text + l->at, end - l->at);
        depth -= depth && begins_with(l, ".end");
        bool found = !depth && begins_with(l, "fn") &&
                     (l->text[end] == ' ' || l->text[end] == '\t');
        if (found) read_ahead(a);
        if (!found || l->at != l->line_start) next_line(l);
    }
}

/* In the text of a frame, whose names of functions are those of the whole program. */
static void look_in(hg_assembler *a, hg_frame *frame, const hg_lexer *lexer) {
    uint32_t scope = a->source.expansions.data[frame->expansion].scope;
    frame->looked = true;
    a->lexer = *lexer;
    a->source.expansion = frame->expansion;
    hg_asm_set_scope(a, 0);
    if (a->lexer.at != a->lexer.line_start) next_line(&a->lexer);
    look_ahead(a);
    hg_asm_set_scope(a, scope);
}

/* In the text that is read, and in those that include it; each is looked at once. */
static void look_everywhere(hg_assembler *a) {
    const hg_lexer lexer = a->lexer;
    const hg_token token = a->token;
    const uint32_t expansion = a->source.expansion, parameters = a->source.parameters;
    const bool doubtful = a->wrong.doubtful;
    void (*resume)(hg_assembler *) = a->source.resume;
    a->source.resume = read_nothing;
    a->source.parameters = 0;
    for (uint64_t i = 0; i < a->source.frames.count; i++) {
        hg_frame *frame = &a->source.frames.data[i];
        bool last = i + 1 == a->source.frames.count;
        if (frame->kind != HG_FRAME_FILE) break;
        if (!frame->looked) look_in(a, frame, last ? &lexer : &frame->lexer);
    }
    a->lexer = lexer;
    a->token = token;
    a->source.expansion = expansion;
    a->source.parameters = parameters;
    a->source.resume = resume;
    a->wrong.doubtful = doubtful;
}

bool hg_asm_find_function(hg_assembler *a, const hg_token *token, uint32_t *number) {
    const hg_name *name = hg_asm_find_name(a, token);
    if (!name) {
        look_everywhere(a);
        name = hg_asm_find_name(a, token);
    }
    bool found = name && name->kind == HG_NAME_FUNCTION;
    if (found) *number = (uint32_t)name->index;
    return found;
}

/* ---- calls ---- */

bool hg_asm_takes_array(const hg_assembler *a, uint32_t number, uint32_t i) {
    const hg_fn *fn = &a->functions.all.data[number];
    return i < fn->parameters && parts_of(a, fn)[fn->types + i].is_array;
}

/* "shared f32[16, 17]" */
static void describe_array(hg_text *text, const hg_memory_array *array, const hg_token *type) {
    hg_text_addf(text, "%s %.*s[", array->place == HG_PLACE_SHARED ? "shared" : "private",
                 hg_token_shown(type), type->text);
    for (uint32_t i = 0; i < array->rank; i++)
        hg_text_addf(text, "%s%llu", i ? ", " : "", (unsigned long long)array->extents[i]);
    hg_text_addf(text, "]");
}

static hg_token type_token(uint8_t type) {
    const char *name = hg_tree_type_name(type);
    return (hg_token){.text = name, .length = (uint32_t)strlen(name)};
}

static bool suits(const hg_fn_part *part, const hg_memory_array *array) {
    const hg_memory_array *wanted = &part->array;
    return array && array->place == wanted->place && array->rank == wanted->rank &&
           memcmp(array->extents, wanted->extents, wanted->rank * sizeof *wanted->extents) == 0 &&
           (part->parameter || array->type == part->type);
}

/* type: of the parameter's elements, in words. */
static bool wrong_array(hg_assembler *a, const hg_fn_part *part, const hg_token *type,
                        const hg_tree_node *n, const hg_memory_array *array) {
    hg_text wanted = {0}, got = {0};
    char token[80];
    describe_array(&wanted, &part->array, type);
    const hg_token own = type_token(array ? array->type : (uint8_t)HG_TYPE_OMITTED);
    if (array)
        describe_array(&got, array, &own);
    else
        hg_text_addf(&got, n->kind == HG_TREE_ARRAY ? "an array of the launch" : "a value");
    if (wanted.failed || got.failed)
        hg_asm_no_memory(a);
    else
        hg_asm_error(a, "V03", &n->token, array ? NULL : "an array is given by its name alone",
                     "type mismatch: %s is %s, the parameter is %s",
                     hg_token_describe(&n->token, token), got.data, wanted.data);
    hg_text_free(&wanted);
    hg_text_free(&got);
    return false;
}

/* Arrays are of their parameters' memory, type and extents. */
static bool check_arrays(hg_assembler *a, const hg_fn *fn, const uint32_t *arguments) {
    for (uint32_t i = 0; i < fn->parameters; i++) {
        const hg_fn_part *part = &parts_of(a, fn)[fn->types + i];
        const hg_tree_node *n = hg_tree_at(a, arguments[i]);
        bool known = n->kind == HG_TREE_ARRAY && n->constant != HG_UNDEFINED;
        const hg_memory_array *array = known ? &a->head.arrays.data[n->constant] : NULL;
        hg_token type = part->parameter ? parts_of(a, fn)[part->parameter - 1].name
                                        : type_token(part->type);
        if (part->is_array && !suits(part, array)) return wrong_array(a, part, &type, n, array);
    }
    return true;
}

/* One type parameter, from the arguments that have it: arrays say it, values become it. */
static bool find_type(hg_assembler *a, const hg_fn *fn, uint32_t k, const hg_token *at,
                      const uint32_t *arguments, uint8_t *type) {
    uint32_t nodes[HG_MAX_FUNCTION_PARAMETERS], count = 0;
    *type = HG_TYPE_OMITTED;
    for (uint32_t i = 0; i < fn->parameters; i++) {
        const hg_fn_part *part = &parts_of(a, fn)[fn->types + i];
        if (part->parameter != k + 1) continue;
        if (!part->is_array) {
            nodes[count++] = arguments[i];
            continue;
        }
        uint8_t found = a->head.arrays.data[hg_tree_at(a, arguments[i])->constant].type;
        if (*type != HG_TYPE_OMITTED && *type != found) {
            hg_asm_error(a, "V05", &hg_tree_at(a, arguments[i])->token, NULL, "'%.*s' is %s and %s",
                         hg_token_shown(&parts_of(a, fn)[k].name), parts_of(a, fn)[k].name.text,
                         hg_type_name((hg_type)*type), hg_type_name((hg_type)found));
            return false;
        }
        *type = found;
    }
    if (*type != HG_TYPE_OMITTED) return true;
    if (!hg_tree_join(a, at, nodes, count, type)) return false;
    if (*type == HG_TYPE_OMITTED && !hg_tree_settle_all(a, nodes, count)) return false;
    *type = hg_tree_type(a, nodes[0]);
    return true;
}

static bool find_types(hg_assembler *a, const hg_fn *fn, const hg_token *at,
                       const uint32_t *arguments, uint8_t *types) {
    for (uint32_t k = 0; k < fn->types; k++) {
        if (!find_type(a, fn, k, at, arguments, &types[k])) return false;
        if (types[k] < HG_TYPE_COUNT) continue;
        const hg_token *name = &parts_of(a, fn)[k].name;
        hg_asm_error(a, "V03", at, NULL, "'%.*s' is a type of numbers, the argument is a predicate",
                     hg_token_shown(name), name->text);
        return false;
    }
    return true;
}

/* What the use of a function is called: NAME.f32.tile, of its types and its arrays. */
static bool name_use(hg_assembler *a, const hg_fn *fn, const uint32_t *chosen, hg_token *name) {
    hg_text text = {0};
    hg_text_add(&text, fn->name.text, fn->name.length);
    for (uint32_t k = 0; k < fn->types; k++)
        hg_text_addf(&text, ".%s", hg_type_name((hg_type)*chosen++));
    for (uint32_t i = 0; i < fn->parameters; i++) {
        if (!parts_of(a, fn)[fn->types + i].is_array) continue;
        const hg_token *array = &a->head.arrays.data[*chosen].token;
        hg_text_addf(&text, ".%.*s", (int)array->length, array->text);
        if (hg_asm_scope_of(a, array)) hg_text_addf(&text, ".%u", (unsigned)*chosen);
        chosen++;
    }
    char *kept = text.failed ? NULL : hg_arena_text(&a->texts, text.data, text.length);
    *name = fn->name;
    name->text = kept;
    name->length = (uint32_t)text.length;
    name->expansion = 0;
    hg_text_free(&text);
    return kept || hg_asm_no_memory(a);
}

static uint32_t choose(const hg_assembler *a, const hg_fn *fn, const uint32_t *arguments,
                       const uint8_t *types, uint32_t *chosen) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < fn->types; k++) chosen[count++] = types[k];
    for (uint32_t i = 0; i < fn->parameters; i++)
        if (parts_of(a, fn)[fn->types + i].is_array)
            chosen[count++] = hg_tree_at(a, arguments[i])->constant;
    return count;
}

static bool add_use(hg_assembler *a, uint32_t number, const hg_token *name, const hg_token *at,
                    const uint32_t *chosen, uint32_t count) {
    const hg_fn *fn = &a->functions.all.data[number];
    hg_fn_use use = {
        .fn = number, .name = *name, .at = *at, .chosen = (uint32_t)a->functions.chosen.count};
    uint8_t values[HG_MAX_FUNCTION_PARAMETERS + HG_MAX_FUNCTION_RESULTS];
    uint32_t parameters = 0;
    for (uint32_t i = 0, n = 0; i < fn->parameters + fn->results; i++) {
        const hg_fn_part *part = &parts_of(a, fn)[fn->types + i];
        if (part->is_array) continue;
        values[n++] = part->parameter ? (uint8_t)chosen[part->parameter - 1] : part->type;
        parameters += i < fn->parameters;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *kept = hg_vec_push(&a->functions.chosen);
        if (!kept) return hg_asm_no_memory(a);
        *kept = chosen[i];
    }
    use.function = hg_tree_function_new(a, values, parameters, fn->results);
    hg_fn_use *kept = use.function == HG_TREE_BAD ? NULL : hg_vec_push(&a->functions.uses);
    if (!kept) return hg_asm_no_memory(a);
    *kept = use;
    return true;
}

/* The use of the function with these types and arrays. HG_UNDEFINED: out of memory. */
static uint32_t find_use(hg_assembler *a, uint32_t number, const hg_token *at,
                         const uint32_t *chosen, uint32_t count) {
    hg_token name;
    uint64_t next = a->functions.uses.count, known = a->functions.names.count;
    if (!name_use(a, &a->functions.all.data[number], chosen, &name)) return HG_UNDEFINED;
    const hg_name *use = hg_asm_enter(a, &a->functions.names, &name, HG_NAME_FUNCTION, next);
    if (!use) return HG_UNDEFINED;
    if (a->functions.names.count == known) return (uint32_t)use->index;
    return add_use(a, number, &name, at, chosen, count) ? (uint32_t)next : HG_UNDEFINED;
}

uint32_t hg_asm_call_function(hg_assembler *a, uint32_t number, const hg_token *name,
                              const hg_token *at, const uint32_t *arguments, uint32_t count) {
    const hg_fn *fn = &a->functions.all.data[number];
    uint8_t types[HG_MAX_FUNCTION_TYPES];
    uint32_t chosen[HG_MAX_FUNCTION_TYPES + HG_MAX_FUNCTION_PARAMETERS],
        values[HG_MAX_FUNCTION_PARAMETERS], n = 0;
    if (count != fn->parameters) {
        hg_asm_error(a, "N04", name, NULL, "'%.*s' takes %u argument%s, got %u",
                     hg_token_shown(name), name->text, (unsigned)fn->parameters,
                     fn->parameters == 1 ? "" : "s", (unsigned)count);
        return HG_TREE_BAD;
    }
    if (!check_arrays(a, fn, arguments) || !find_types(a, fn, name, arguments, types))
        return HG_TREE_BAD;
    for (uint32_t i = 0; i < count; i++)
        if (!parts_of(a, fn)[fn->types + i].is_array) values[n++] = arguments[i];
    uint32_t use = find_use(a, number, name, chosen, choose(a, fn, arguments, types, chosen));
    if (use == HG_UNDEFINED) return HG_TREE_BAD;
    return hg_tree_call_function(a, at, a->functions.uses.data[use].function, values, n);
}

/* ---- reading bodies ---- */

/* The function has a label, where the text has none of that name. */
static bool add_label(hg_assembler *a, const hg_token *name) {
    if (!hg_is_identifier(name->text, name->length)) return true;
    uint32_t number = hg_asm_label(a, name);
    if (number == HG_UNDEFINED) return false;
    return a->code.labels.data[number].index != HG_UNDEFINED || hg_asm_define_label(a, name);
}

static bool declare_value(hg_assembler *a, const hg_token *name, const hg_tree_value *value) {
    bool predicate = value->type == HG_TREE_PREDICATE;
    hg_register reg = value->reg;
    return hg_asm_declare_register(a, name, predicate ? (uint8_t)HG_TYPE_OMITTED : value->type,
                                   predicate, false, &reg);
}

/* Its types, arrays and parameters, by their names. */
static bool declare_all(hg_assembler *a, const hg_fn *fn, const hg_fn_use *use,
                        uint32_t expansion) {
    uint32_t value = a->tree->functions.data[use->function].values, chosen = use->chosen;
    for (uint32_t i = 0; i < fn->types + fn->parameters; i++) {
        const hg_fn_part *part = &parts_of(a, fn)[i];
        hg_token name = part->name;
        name.expansion = expansion;
        bool is_value = i >= fn->types && !part->is_array;
        hg_name_kind kind = part->is_array ? HG_NAME_MEMORY : HG_NAME_TYPE;
        if (is_value ? !declare_value(a, &name, &a->tree->values.data[value++])
                     : !hg_asm_declare(a, &name, kind, a->functions.chosen.data[chosen++]))
            return false;
    }
    return true;
}

static bool open_function(hg_assembler *a, const hg_fn_use *use) {
    const hg_fn *fn = &a->functions.all.data[use->fn];
    hg_piece body = fn->body;
    uint32_t expansion = hg_asm_expansion(a, HG_EXPANSION_FUNCTION, &use->at, &use->name);
    if (!expansion) return false;
    hg_text_expansion *e = &a->source.expansions.data[expansion];
    a->source.scopes.data[e->scope] = 0;
    a->functions.scope = e->scope;
    e->file = a->source.expansions.data[body.expansion].file;
    e->parameters = 0;
    a->functions.errors = a->wrong.errors;
    return hg_tree_open_function(a, use->function, &a->token) && add_label(a, &use->name) &&
           declare_all(a, fn, use, expansion) &&
           hg_asm_push(a, (hg_frame){.kind = HG_FRAME_FUNCTION, .expansion = expansion}, &body,
                       &use->at);
}

bool hg_asm_next_function(hg_assembler *a) {
    if (a->wrong.stop) return false;
    if (a->functions.scope) {
        hg_token name =
            a->functions.all.data[a->functions.uses.data[a->functions.read - 1].fn].name;
        bool doubtful = a->wrong.errors > a->functions.errors;
        a->wrong.muted += doubtful;
        (void)hg_tree_close_function(a, &name);
        a->wrong.muted -= doubtful;
    }
    a->functions.scope = 0;
    if (a->wrong.stop || a->functions.read == a->functions.uses.count) return false;
    const hg_fn_use use = a->functions.uses.data[a->functions.read++];
    return open_function(a, &use);
}
