/* Statements (language.md 2.7): which lines they are, declarations, assignments, and blocks in
 * braces.
 * Must not know: instructions. */
#include "isa/assemble_statement.h"

#include <stdio.h>

/* ---- which lines are statements ---- */

/* The text behind the next token, over ends of arguments. */
typedef struct cursor {
    const hg_assembler *a;
    const hg_lexer *lexer;
    size_t at;
    uint64_t frame;
} cursor;

/* 0: the end. */
static char look(cursor *c) {
    while (c->at == c->lexer->length && c->frame &&
           c->a->source.frames.data[c->frame].kind == HG_FRAME_ARGUMENT) {
        c->lexer = &c->a->source.frames.data[--c->frame].lexer;
        c->at = c->lexer->at;
    }
    return c->at < c->lexer->length ? c->lexer->text[c->at] : 0;
}

static char look_behind_blanks(cursor *c, bool lines) {
    char found;
    while ((found = look(c)) == ' ' || found == '\t' || (lines && (found == '\n' || found == '\r')))
        c->at++;
    return found;
}

enum { MOST_INDEX_LINES = 16 /* so that every byte is looked at so often at most */ };

/* To behind the bracket that closes the one at the cursor. */
static bool skip_brackets(cursor *c, char open, char close) {
    uint32_t depth = 0, lines = 0;
    bool comment = false;
    for (char found; (found = look(c)) != 0 && lines < MOST_INDEX_LINES; c->at++) {
        lines += found == '\n';
        comment = (comment || found == ';') && found != '\n';
        if (comment) continue;
        depth += found == open;
        depth -= depth && found == close;
        if (depth) continue;
        c->at++;
        return true;
    }
    return false;
}

static bool skip_name(cursor *c) {
    if (!is_name_start(look(c))) return false;
    for (char found; is_name_byte(found = look(c)) || found == '{';) {
        if (found != '{')
            c->at++;
        else if (!skip_brackets(c, '{', '}'))
            return false;
    }
    return true;
}

/* = or an operator with =. */
static bool is_assignment_sign(cursor *c) {
    char first = look(c);
    if (first == '<' || first == '>') {
        c->at++;
        if (look(c) != first) return false;
        c->at++;
    } else if (first && strchr("+-*/%&|^", first)) {
        c->at++;
    }
    if (look(c) != '=') return false;
    c->at++;
    return look(c) != '=';
}

/* Whether = stands behind the first name, its indices, or a list of names. */
static bool is_assignment(hg_assembler *a) {
    cursor c = {a, &a->lexer, a->lexer.at, a->source.frames.count - 1};
    if (a->token.text[0] == '.') return false;
    bool element = false;
    while (look_behind_blanks(&c, false) == '[' && skip_brackets(&c, '[', ']')) element = true;
    if (element) return look(&c) && is_assignment_sign(&c);
    while (look_behind_blanks(&c, false) == ',') {
        c.at++;
        look_behind_blanks(&c, true);
        if (!skip_name(&c)) return false;
    }
    return is_assignment_sign(&c);
}

static const char *const WORDS[] = {"let",   "if",       "while",  "for", "loop",
                                    "break", "continue", "return", "fn"};
enum { LET, IF, WHILE, FOR, LOOP, BREAK, CONTINUE, RETURN, FN, NO_WORD };

static uint32_t word_of(const hg_token *t) {
    for (uint32_t i = 0; i < HG_COUNT_OF(WORDS); i++)
        if (hg_token_is(t, WORDS[i])) return i;
    return NO_WORD;
}

static bool is_call(hg_assembler *a) {
    uint32_t number;
    if (a->token.text[0] == '.' || !hg_asm_followed_by(a, '(')) return false;
    if (hg_asm_find_function(a, &a->token, &number)) return true;
    const hg_name *name = hg_asm_find_name(a, &a->token);
    return name && name->kind == HG_NAME_BROKEN; /* it may be that of a function */
}

bool hg_asm_is_statement(hg_assembler *a) {
    if (a->token.kind == '}') return true;
    if (a->token.kind != HG_TOKEN_NAME) return false;
    uint32_t word = word_of(&a->token);
    if (word == NO_WORD) return is_assignment(a) || is_call(a);
    if (hg_asm_followed_by(a, ':')) return false;
    return word != LOOP || hg_asm_followed_by(a, '{') || is_assignment(a);
}

/* ---- values ---- */

/* = EXPRESSION, to the end of the line. */
static bool read_value(hg_assembler *a, uint32_t *root) {
    return hg_asm_formula(a, root) && hg_asm_expect_end(a);
}

static bool too_many(hg_assembler *a, const hg_token *at, uint32_t given) {
    hg_asm_error(a, "N04", at, NULL, "%u names for a value that has no so many results",
                 (unsigned)given);
    return false;
}

/* ---- let ---- */

enum { MOST_NAMES = HG_MAX_FUNCTION_RESULTS };

typedef struct names {
    hg_token name[MOST_NAMES];
    uint32_t count;
    uint8_t type; /* that is written; HG_TYPE_OMITTED: none */
} names;

static bool read_names(hg_assembler *a, names *n) {
    do {
        hg_token name;
        if (!hg_asm_register_name(a, &name)) return false;
        if (n->count == MOST_NAMES) return too_many(a, &name, n->count + 1);
        n->name[n->count++] = name;
    } while (hg_asm_accept(a, ','));
    if (a->token.kind == ':')
        return hg_asm_unexpected_with(a, "'=' or a type",
                                      "the type stands behind the name: let a "
                                      "f32 = …");
    if (a->token.kind == '=') return true;
    bool predicate;
    if (!hg_asm_register_type(a, &n->type, &predicate)) return false;
    if (predicate) n->type = HG_TREE_PREDICATE;
    return true;
}

static bool declare(hg_assembler *a, const hg_token *name, uint8_t type, hg_register *reg) {
    bool predicate = type == HG_TREE_PREDICATE;
    *reg = HG_NO_REGISTER;
    return hg_asm_declare_register(a, name, predicate ? (uint8_t)HG_TYPE_OMITTED : type, predicate,
                                   false, reg);
}

static bool read_let(hg_assembler *a, names *n) {
    uint32_t root;
    n->type = HG_TYPE_OMITTED;
    if (!read_names(a, n) || !hg_asm_expect(a, '=', "'='") || !read_value(a, &root)) return false;
    if (n->type != HG_TYPE_OMITTED ? !hg_tree_fit(a, root, n->type, "the name")
                                   : !hg_tree_settle(a, root))
        return false;
    hg_register reg;
    for (uint32_t i = n->count; i-- > 0;) {
        uint8_t type;
        if (!hg_tree_result(a, root, i, &type)) return too_many(a, &n->name[0], n->count);
        if (!declare(a, &n->name[i], type, &reg)) return false;
        if (i) hg_tree_give(a, root, i, reg);
    }
    return hg_tree_lower(a, root, &reg, true);
}

static bool let_statement(hg_assembler *a) {
    names n = {.count = 0};
    if (read_let(a, &n)) return true;
    for (uint32_t i = 0; i < n.count; i++)
        if (!hg_asm_find_name(a, &n.name[i])) (void)hg_asm_declare_broken(a, &n.name[i]);
    return false;
}

/* ---- assignments ---- */

typedef struct target {
    hg_token token;
    bool is_element;
    uint32_t element; /* node */
    hg_register reg;
    uint8_t type;
} target;

static bool wrong_target(hg_assembler *a, const hg_token *name, uint8_t kind) {
    char got[80], hint[HG_FOREIGN_BYTES];
    hg_token_describe(name, got);
    if (kind == HG_WORD_NONE && !hg_asm_find_name(a, name)) {
        snprintf(hint, sizeof hint, "a new variable is declared: let %.*s = …",
                 hg_token_shown(name), name->text);
        bool hidden = hg_asm_is_hidden(a, name);
        if (hg_asm_is_unknown(a, name))
            hg_asm_error(a, "S02", name, hidden ? "a function has its own, and arguments" : hint,
                         hidden ? "%s is the program's, which a function does not see"
                                : "%s is no variable",
                         got);
    } else {
        hg_asm_error(a, "N03", name, NULL, "%s is not assigned: it is no variable", got);
    }
    return false;
}

/* The indices of an element, to behind the bracket; no array has more than the first ones. */
static bool read_indices(hg_assembler *a, uint32_t *indices, uint32_t *count, hg_token *end) {
    *count = 0;
    do {
        uint32_t index;
        if (!hg_asm_formula(a, &index)) return false;
        if (*count < HG_MAX_EXTENTS) indices[*count] = index;
        ++*count;
    } while (hg_asm_accept(a, ','));
    *end = a->token;
    if (!hg_asm_expect(a, ']', "an operator, ',' or ']'")) return false;
    return a->token.kind != '[' ||
           hg_asm_unexpected_with(a, "'=' or an operator with '='", HG_ASM_INDICES);
}

static bool element_target(hg_assembler *a, target *t, const hg_tree_array *array) {
    uint32_t indices[HG_MAX_EXTENTS], count;
    hg_token end;
    if (a->token.kind != '[') {
        char got[80];
        hg_asm_error(a, "N03", &t->token, "an element is x[i], that of the lane x[global]",
                     "%s is an array: only its elements are assigned",
                     hg_token_describe(&t->token, got));
        return false;
    }
    hg_asm_next(a);
    if (!read_indices(a, indices, &count, &end)) return false;
    hg_asm_extend(&t->token, &end);
    t->is_element = true;
    t->type = array->type;
    t->element = hg_tree_element(a, &t->token, array, indices, count);
    return t->element != HG_TREE_BAD;
}

/* The next token is its name. */
static bool read_target(hg_assembler *a, target *t) {
    hg_tree_array array;
    uint8_t kind;
    *t = (target){.token = a->token};
    const hg_token name = a->token;
    if (!hg_asm_expect(a, HG_TOKEN_NAME, "a variable")) return false;
    if (hg_asm_array_place(a, &name, &array)) return element_target(a, t, &array);
    if (hg_looks_like_register(name.text, name.length, 'p')) {
        t->type = HG_TREE_PREDICATE;
        t->reg = HG_NO_REGISTER;
        return hg_asm_register(a, &name, HG_MAX_PREDICATES, &t->reg.number);
    }
    if (hg_looks_like_register(name.text, name.length, 'r')) {
        hg_asm_error(a, "V05", &name, "give it a name: .reg NAME TYPE, or let NAME = …",
                     "'%.*s' has no type of its own", (int)name.length, name.text);
        return false;
    }
    if (!hg_asm_check_fixed(a, &name) || !hg_asm_word_register(a, &name, &kind, &t->reg))
        return false;
    t->type = kind == HG_WORD_PREDICATE ? (uint8_t)HG_TREE_PREDICATE : t->reg.type;
    bool variable = kind == HG_WORD_PREDICATE ||
                    (kind == HG_WORD_REGISTER && hg_asm_find_named(a, &name));
    return variable || wrong_target(a, &name, kind);
}

/* The operator in front of =. */
static bool read_assignment_sign(hg_assembler *a, hg_token *op) {
    op->kind = 0;
    if (a->token.kind != '=') {
        *op = a->token;
        hg_asm_next(a);
    }
    return hg_asm_expect(a, '=', "'=' or an operator with '='");
}

static bool store(hg_assembler *a, const target *t, uint32_t value, bool read) {
    return hg_tree_fit(a, value, t->type, "the element") &&
           hg_tree_store(a, t->element, value, read, &t->token);
}

static bool assign_one(hg_assembler *a, const target *t) {
    hg_token op;
    uint32_t value, old = HG_TREE_BAD;
    if (!read_assignment_sign(a, &op)) return false;
    if (op.kind)
        old = t->is_element ? t->element
                            : hg_tree_register(a, &t->token, t->reg, t->type == HG_TREE_PREDICATE);
    if (!read_value(a, &value)) return false;
    if (op.kind) {
        value = hg_tree_binary(a, &op, old, value);
        if (value == HG_TREE_BAD) return false;
    }
    if (t->is_element) return store(a, t, value, op.kind != 0);
    return hg_tree_fit(a, value, t->type, "the variable") &&
           hg_tree_lower(a, value, &t->reg, false);
}

/* Result number i goes to the variable. */
static bool place_result(hg_assembler *a, const target *t, uint32_t value, uint32_t i) {
    uint8_t type;
    if (!hg_tree_result(a, value, i, &type)) return too_many(a, &t->token, i + 1);
    if (type != t->type) {
        hg_asm_error(a, "V03", &t->token, NULL, "type mismatch: '%.*s' is %s, the result is %s",
                     hg_token_shown(&t->token), t->token.text, hg_tree_type_name(t->type),
                     hg_tree_type_name(type));
        return false;
    }
    hg_tree_give(a, value, i, t->reg);
    return true;
}

static bool assign_several(hg_assembler *a, const target t[MOST_NAMES], uint32_t count) {
    uint32_t value;
    if (!hg_asm_expect(a, '=', "'='") || !read_value(a, &value)) return false;
    for (uint32_t i = 1; i < count; i++)
        if (!place_result(a, &t[i], value, i)) return false;
    return hg_tree_fit(a, value, t[0].type, "the variable") &&
           hg_tree_lower(a, value, &t[0].reg, false);
}

static bool assignment(hg_assembler *a) {
    target t[MOST_NAMES];
    uint32_t count = 0;
    if (!read_target(a, &t[count++])) return false;
    if (a->token.kind != ',') return assign_one(a, &t[0]);
    while (hg_asm_accept(a, ',')) {
        if (count == MOST_NAMES) return too_many(a, &a->token, count + 1);
        if (!read_target(a, &t[count++])) return false;
    }
    return assign_several(a, t, count);
}

/* ---- blocks ---- */

static const char *const FORMS[] = {[IF] = "if a < b { …, then } or } else {",
                                    [WHILE] = "while a < b { …, then }",
                                    [FOR] = "for i in 0 .. n { …, then }",
                                    [LOOP] = "loop { …, then }"};

/* { at the end of the line. */
static bool read_brace(hg_assembler *a, uint32_t word) {
    if (a->token.kind != '{') return hg_asm_unexpected_with(a, "an operator or '{'", FORMS[word]);
    hg_asm_next(a);
    return hg_asm_at_end(a) ||
           hg_asm_unexpected_with(a, "end of line", "a block begins in the next line");
}

static bool read_condition(hg_assembler *a, uint32_t word, uint32_t *condition) {
    return hg_asm_formula(a, condition) && read_brace(a, word);
}

static bool read_for(hg_assembler *a, const hg_token *at) {
    hg_token variable;
    uint32_t from, to, step = HG_TREE_BAD;
    uint8_t type;
    if (a->token.kind != HG_TOKEN_NAME)
        return hg_asm_unexpected_with(a, "the name of a variable", FORMS[FOR]);
    if (!hg_asm_register_name(a, &variable)) return false;
    if (!hg_token_is(&a->token, "in")) return hg_asm_unexpected_with(a, "'in'", FORMS[FOR]);
    hg_asm_next(a);
    bool reversed = hg_token_is(&a->token, "reversed") && !hg_asm_find_name(a, &a->token);
    if (reversed) hg_asm_next(a);
    if (!hg_asm_formula(a, &from)) return false;
    if (!hg_asm_accept(a, HG_TOKEN_RANGE))
        return hg_asm_unexpected_with(a, "an operator or '..'", FORMS[FOR]);
    if (!hg_asm_formula(a, &to)) return false;
    if (hg_token_is(&a->token, "step")) {
        hg_asm_next(a);
        if (!hg_asm_formula(a, &step)) return false;
    }
    if (!read_brace(a, FOR) || !hg_tree_open_for(a, at, from, to, step, reversed, &type))
        return false;
    hg_brace *brace = &a->source.braces.data[a->source.braces.count - 1];
    hg_register reg = brace->variable;
    return hg_asm_declare_register(a, &variable, type, false, true, &reg);
}

static bool open_block(hg_assembler *a, uint32_t word, const hg_token *at) {
    uint32_t condition;
    switch (word) {
    case IF: return read_condition(a, IF, &condition) && hg_tree_open_if(a, at, condition);
    case WHILE: return read_condition(a, WHILE, &condition) && hg_tree_open_while(a, at, condition);
    case FOR: return read_for(a, at);
    default: return read_brace(a, LOOP) && hg_tree_open_loop(a, at);
    }
}

void hg_asm_skip_wrong_line(hg_assembler *a, const hg_token *first) {
    bool brace = hg_asm_at_end(a) && a->token.column > 1 && a->token.text[-1] == '{';
    for (; !hg_asm_at_end(a) && !a->wrong.stop; hg_asm_next(a)) brace = a->token.kind == '{';
    if (brace && !a->wrong.stop) (void)hg_tree_open_bad(a, first);
}

/* Behind a mistake in its first line a block is a block all the same, where it has a brace. */
static bool open_or_skip(hg_assembler *a, uint32_t word, const hg_token *at) {
    uint64_t open = a->source.braces.count;
    if (open_block(a, word, at)) return true;
    if (a->source.braces.count == open) hg_asm_skip_wrong_line(a, at);
    return false;
}

static bool else_branch(hg_assembler *a, hg_brace *brace, const hg_token *at) {
    uint32_t condition;
    if (brace->kind != HG_BRACE_IF && brace->kind != HG_BRACE_BAD) {
        hg_asm_error(a, "L03", at, NULL, "'else' behind '%.*s'",
                     brace->kind == HG_BRACE_ELSE ? 4 : hg_token_shown(&brace->token),
                     brace->kind == HG_BRACE_ELSE ? "else" : brace->token.text);
        return false;
    }
    hg_asm_next(a);
    bool bad = brace->kind == HG_BRACE_BAD;
    if (!hg_token_is(&a->token, "if"))
        return read_brace(a, IF) && (bad || hg_tree_else(a, brace, at));
    hg_asm_next(a);
    if (!bad && !hg_tree_else_if(a, brace, at)) return false;
    return read_condition(a, IF, &condition) &&
           (bad || hg_tree_else_condition(a, brace, condition));
}

/* The frame whose text is read, arguments aside. */
static const hg_frame *text_frame(const hg_assembler *a) {
    uint64_t text = a->source.frames.count - 1;
    while (a->source.frames.data[text].kind == HG_FRAME_ARGUMENT) text--;
    return &a->source.frames.data[text];
}

static bool close_block(hg_assembler *a) {
    hg_token at = a->token;
    hg_asm_next(a);
    if (a->source.braces.count <= text_frame(a)->braces) {
        hg_asm_error(a, "L03", &at, NULL, "'}' without '{'");
        return false;
    }
    hg_brace *brace = &a->source.braces.data[a->source.braces.count - 1];
    hg_token word = a->token;
    if (!hg_token_is(&word, "else")) {
        bool bad = brace->kind == HG_BRACE_BAD; /* what stands behind it is no new mistake */
        bool ended = bad || hg_asm_expect_end(a), closed = hg_tree_close(a, &at);
        if (!hg_asm_at_end(a)) hg_asm_skip_wrong_line(a, &at);
        return ended && closed;
    }
    if (else_branch(a, brace, &word)) return true;
    brace = &a->source.braces.data[a->source.braces.count - 1];
    brace->kind = HG_BRACE_BAD; /* its end is looked for */
    return false;
}

/* ---- statements ---- */

static bool leave(hg_assembler *a, uint32_t word, const hg_token *at) {
    if (!hg_asm_at_end(a)) return hg_asm_unexpected(a, "end of line");
    return hg_tree_leave(a, at, word == CONTINUE);
}

/* Behind the word: the results of a function; else the lane ends. */
static bool read_return(hg_assembler *a, const hg_token *at) {
    uint32_t values[MOST_NAMES], count = 0;
    if (!a->functions.scope && !hg_asm_at_end(a))
        return hg_asm_unexpected_with(a, "end of line",
                                      "outside a function return ends the lane; a result is "
                                      "stored: y[global] = v");
    while (!hg_asm_at_end(a)) {
        if (count && !hg_asm_expect(a, ',', "an operator, ',' or end of line")) return false;
        if (count == MOST_NAMES) {
            hg_asm_error(a, "S05", at, NULL, "more than %d results of a function", MOST_NAMES);
            return false;
        }
        if (!hg_asm_formula(a, &values[count])) return false;
        count++;
    }
    return hg_tree_return_from(a, at, values, count);
}

static bool read_statement(hg_assembler *a) {
    const hg_token first = a->token;
    if (first.kind == '}') return close_block(a);
    uint32_t word = word_of(&first);
    if (word == NO_WORD && !is_assignment(a)) return hg_asm_call_statement(a);
    if (word == NO_WORD || is_assignment(a)) return assignment(a);
    hg_asm_next(a);
    switch (word) {
    case LET: return let_statement(a);
    case BREAK:
    case CONTINUE: return leave(a, word, &first);
    case RETURN: return read_return(a, &first);
    case FN: return hg_asm_read_function(a, &first);
    default: return open_or_skip(a, word, &first);
    }
}

/* A mistake that is found where another line begins is one of the line before. */
static void give_line_back(hg_assembler *a, const hg_token *first) {
    const hg_token *t = &a->token;
    hg_lexer *l = &a->lexer;
    bool here = t->expansion == first->expansion && t->line > first->line && t->text >= l->text &&
                t->text < l->text + l->length && t->kind != HG_TOKEN_END_OF_LINE &&
                t->kind != HG_TOKEN_END_OF_FILE;
    if (!here) return;
    size_t at = (size_t)(t->text - l->text);
    for (size_t i = l->line_start; i < at; i++)
        if (l->text[i] != ' ' && l->text[i] != '\t') return;
    l->at = l->statement_start = at;
    l->last = 0;
    l->last_end = at;
    a->token.kind = HG_TOKEN_END_OF_LINE;
}

bool hg_asm_statement(hg_assembler *a) {
    const hg_token first = a->token;
    if (!hg_token_is(&first, "fn") || is_assignment(a)) hg_asm_begin_code(a);
    uint64_t before = a->code.insts.count;
    hg_asm_set_statement(a, true);
    a->code.of_expressions = true;
    bool good = read_statement(a);
    a->code.of_expressions = false;
    hg_tree_clear(a);
    if (!good) give_line_back(a, &first);
    hg_asm_set_statement(a, false);
    /* A place-holder keeps the numbers of later instructions right. */
    if (!good && !a->wrong.stop && a->code.insts.count == before)
        (void)hg_asm_emit(a, HG_OP_EXIT, HG_TYPE_NOT_USED, HG_TYPE_NOT_USED, &first);
    return good;
}
