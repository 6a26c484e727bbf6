/* Macros, repetitions and conditions (language.md 2.6). A body is a piece of the text that is read
 * again for each use and each round.
 * Must not know: instructions. */
#include "isa/text_internal.h"

/* ---- finding ends ---- */

static bool is_end(const hg_token *t) { return hg_token_is(t, ".end"); }
static bool is_end_or_branch(const hg_token *t) {
    return is_end(t) || hg_token_is(t, ".elif") || hg_token_is(t, ".else");
}

/* To the .end of the block that is open, or where `branches` to its .elif or .else. That word is
 * *found then, and has been read. */
static bool skip_block(hg_assembler *a, bool branches, hg_token *found) {
    if (!hg_asm_skip_to(a, branches ? is_end_or_branch : is_end)) return false;
    *found = hg_lexer_next(&a->lexer);
    found->expansion = a->source.expansion;
    return true;
}

/* The text of that word ended behind it. */
static bool is_over(const hg_assembler *a, const hg_token *word) {
    return a->token.kind == HG_TOKEN_END_OF_FILE || word->expansion != a->source.expansion;
}

/* Behind the first line of a block, whose end of line has been read: its body, and the text goes on
 * behind its .end. */
static bool read_body(hg_assembler *a, const hg_token *word, hg_piece *body) {
    hg_token end;
    *body = hg_asm_here(a);
    if (is_over(a, word) || !skip_block(a, false, &end)) {
        hg_asm_error(a, "L04", word, NULL, "'%.*s' without '.end'", (int)word->length, word->text);
        a->token.kind = HG_TOKEN_END_OF_LINE;
        return false;
    }
    body->end = (size_t)(end.text - a->lexer.text);
    hg_lexer behind = a->lexer;
    hg_token after = hg_lexer_next(&behind);
    if (after.kind == HG_TOKEN_END_OF_LINE || after.kind == HG_TOKEN_END_OF_FILE) return true;
    after.expansion = a->source.expansion;
    a->token = after;
    a->lexer = behind;
    return hg_asm_unexpected(a, "end of line");
}

/* ---- conditions ---- */

static bool read_condition(hg_assembler *a, bool *holds) {
    hg_constant value;
    return hg_asm_expression(a, "a condition", &value) && hg_asm_expect_end(a) &&
           hg_asm_truth(a, &value, holds);
}

/* No branch was taken yet: on to the first whose condition holds. */
static bool find_branch(hg_assembler *a, const hg_token *word) {
    for (;;) {
        hg_token at;
        if (is_over(a, word) || !skip_block(a, true, &at)) {
            hg_asm_error(a, "L04", word, NULL, "'.if' without '.end'");
            a->token.kind = HG_TOKEN_END_OF_LINE;
            return false;
        }
        bool otherwise = hg_token_is(&at, ".else"), holds = otherwise;
        hg_asm_next(a);
        if (hg_token_is(&at, ".end")) return hg_asm_expect_end(a);
        if (otherwise ? !hg_asm_expect_end(a) : !read_condition(a, &holds))
            holds = true; /* its .end is no mistake */
        if (!holds) continue;
        hg_block *block = hg_vec_push(&a->source.blocks);
        if (!block) return hg_asm_no_memory(a);
        *block = (hg_block){*word, otherwise};
        return true;
    }
}

bool hg_asm_read_if(hg_assembler *a, const hg_token *word) {
    bool holds = true;
    hg_token token = *word;
    bool good = read_condition(a, &holds);
    while (!good && !hg_asm_at_end(a)) hg_asm_next(a);
    if (good && !holds) return find_branch(a, &token);
    hg_block *block = hg_vec_push(&a->source.blocks);
    if (!block) return hg_asm_no_memory(a);
    *block = (hg_block){token, false};
    return good;
}

/* An .if is open in the text that is read. The word behind .elif, already read, may be an argument:
 * not its text counts. */
static bool in_block(const hg_assembler *a) {
    uint64_t text = a->source.frames.count - 1;
    while (a->source.frames.data[text].kind == HG_FRAME_ARGUMENT) text--;
    return a->source.blocks.count > a->source.frames.data[text].blocks;
}

/* A branch was taken: the others are not. */
bool hg_asm_read_else(hg_assembler *a, const hg_token *word) {
    hg_token at = *word;
    if (!in_block(a) || a->source.blocks.data[a->source.blocks.count - 1].last) {
        hg_asm_error(a, "L03", word, NULL, "'%.*s' without '.if'", (int)word->length, word->text);
        return false;
    }
    bool last = hg_token_is(word, ".else");
    hg_token begin = a->source.blocks.data[--a->source.blocks.count].token;
    while (!hg_asm_at_end(a)) hg_asm_next(a);
    for (;;) {
        if (is_over(a, &begin) || !skip_block(a, true, &at)) {
            hg_asm_error(a, "L04", &begin, NULL, "'.if' without '.end'");
            a->token.kind = HG_TOKEN_END_OF_LINE;
            return false;
        }
        if (hg_token_is(&at, ".end")) break;
        if (last)
            hg_asm_error(a, "L03", &at, NULL, "'%.*s' behind '.else'", (int)at.length, at.text);
        last = last || hg_token_is(&at, ".else");
    }
    hg_asm_next(a);
    return hg_asm_expect_end(a);
}

bool hg_asm_read_end(hg_assembler *a, const hg_token *word) {
    if (!in_block(a)) {
        hg_asm_error(a, "L03", word, NULL, "'.end' without '.if', '.rept', '.for' or '.macro'");
        return false;
    }
    a->source.blocks.count--;
    return hg_asm_expect_end(a);
}

/* ---- repetitions ---- */

/* The loop has the scope of the variable, each round one of its own in it. */
static bool begin_rounds(hg_assembler *a, const hg_token *word, const hg_token *variable,
                         hg_i128 from, hg_i128 step, uint64_t rounds) {
    hg_piece body;
    if (!read_body(a, word, &body)) return false;
    if (!rounds) return true;
    if (rounds > HG_MAX_EXPANSIONS) {
        hg_asm_error(a, "S05", word, NULL, "more than %d rounds", HG_MAX_EXPANSIONS);
        return false;
    }
    uint32_t loop = hg_asm_expansion(a, HG_EXPANSION_LOOP, word, word);
    if (!loop) return false;
    hg_frame frame = {.kind = HG_FRAME_ROUNDS,
                      .expansion = loop,
                      .loop = loop,
                      .body = body,
                      .rounds = rounds,
                      .constant = HG_NO_VARIABLE,
                      .step = step};
    frame.parameters = a->source.expansions.data[loop].parameters;
    if (variable) {
        hg_token name = *variable;
        name.expansion = loop;
        frame.constant = a->values.constants.count;
        hg_constant *value = hg_vec_push(&a->values.constants);
        if (!value) return hg_asm_no_memory(a);
        *value = (hg_constant){
            .kind = HG_CONSTANT_INTEGER, .integer = from - step, .token = *variable};
        if (!hg_asm_declare(a, &name, HG_NAME_CONSTANT, frame.constant)) return false;
    }
    body.end = body.at; /* the rounds follow an empty one */
    return hg_asm_push(a, frame, &body, word);
}

bool hg_asm_read_rept(hg_assembler *a, const hg_token *word) {
    hg_token token = *word, at;
    uint64_t rounds = 0;
    bool good = hg_asm_integer(a, "a number of rounds", &rounds, &at) && hg_asm_expect_end(a);
    while (!good && !hg_asm_at_end(a)) hg_asm_next(a);
    return begin_rounds(a, &token, NULL, 0, 0, good ? rounds : 0) && good;
}

static bool read_number(hg_assembler *a, const char *expected, hg_i128 *number) {
    hg_constant value;
    if (!hg_asm_expression(a, expected, &value) || !hg_asm_constant_integer(a, &value, number))
        return false;
    if (*number >> 63 == 0 || *number >> 63 == -1) return true;
    hg_asm_error(a, "S04", &value.token, NULL,
                 "a bound or step of .for has at most 63 bits and a sign");
    return false;
}

static bool read_for(hg_assembler *a, hg_token *variable, hg_i128 number[3]) {
    if (!hg_asm_identifier(a, "the name of a variable", variable) || !hg_asm_expect(a, ',', "','"))
        return false;
    if (!read_number(a, "the first value", &number[0]) || !hg_asm_expect(a, ',', "','"))
        return false;
    if (!read_number(a, "the bound", &number[1])) return false;
    number[2] = 1;
    hg_token at = a->token;
    if (hg_asm_accept(a, ',')) {
        at = a->token;
        if (!read_number(a, "the step", &number[2])) return false;
    }
    if (!hg_asm_expect_end(a)) return false;
    if (number[2]) return true;
    hg_asm_error(a, "S04", &at, NULL, "the step of .for is not 0");
    return false;
}

bool hg_asm_read_for(hg_assembler *a, const hg_token *word) {
    hg_token token = *word, variable;
    hg_i128 number[3] = {0, 0, 1};
    bool good = read_for(a, &variable, number);
    while (!good && !hg_asm_at_end(a)) hg_asm_next(a);
    hg_i128 way = number[2] > 0 ? number[1] - number[0] : number[0] - number[1],
            step = number[2] > 0 ? number[2] : -number[2];
    uint64_t rounds = good && way > 0 ? (uint64_t)((way + step - 1) / step) : 0;
    return begin_rounds(a, &token, good ? &variable : NULL, number[0], number[2], rounds) && good;
}

/* ---- macros ---- */

static bool read_parameters(hg_assembler *a, hg_macro *macro) {
    macro->first = a->source.macro_parameters.count;
    while (!hg_asm_at_end(a)) {
        hg_token name;
        if (macro->count && !hg_asm_expect(a, ',', "',' or end of line")) return false;
        if (!hg_asm_identifier(a, "the name of a parameter", &name)) return false;
        if (macro->count == HG_MAX_MACRO_PARAMETERS) {
            hg_asm_error(a, "S05", &name, NULL, "more than %d parameters of a macro",
                         HG_MAX_MACRO_PARAMETERS);
            return false;
        }
        for (uint32_t i = 0; i < macro->count; i++) {
            const hg_token *other = &a->source.macro_parameters.data[macro->first + i];
            if (other->length != name.length || memcmp(other->text, name.text, name.length) != 0)
                continue;
            hg_asm_error(a, "D02", &name, NULL, "parameter '%.*s' declared twice", (int)name.length,
                         name.text);
            return false;
        }
        hg_token *kept = hg_vec_push(&a->source.macro_parameters);
        if (!kept) return hg_asm_no_memory(a);
        *kept = name;
        macro->count++;
    }
    return true;
}

bool hg_asm_read_macro(hg_assembler *a, const hg_token *word) {
    hg_token token = *word;
    hg_macro macro = {.count = 0};
    bool good = hg_asm_identifier(a, "the name of a macro", &macro.name) &&
                read_parameters(a, &macro);
    while (!good && !hg_asm_at_end(a)) hg_asm_next(a);
    a->source.parameters = a->source.frames.data[a->source.frames.count - 1].parameters;
    if (!read_body(a, &token, &macro.body) || !good) return hg_asm_declare_broken(a, &macro.name);
    macro.body.expansion = token.expansion;
    macro.scope = hg_asm_scope_of(a, &macro.name);
    if (!hg_asm_declare(a, &macro.name, HG_NAME_MACRO, a->source.macros.count)) return false;
    hg_macro *kept = hg_vec_push(&a->source.macros);
    if (!kept) return hg_asm_no_memory(a);
    *kept = macro;
    return true;
}

bool hg_asm_is_macro(hg_assembler *a) {
    if (!a->source.macros.count || a->token.kind != HG_TOKEN_NAME) return false;
    const hg_name *name = hg_asm_find_name(a, &a->token);
    return name && name->kind == HG_NAME_MACRO && !hg_asm_followed_by(a, ':');
}

static bool add_argument(hg_assembler *a, const hg_piece *start, const hg_token *from,
                         const hg_token *last) {
    hg_piece *kept = hg_vec_push(&a->source.arguments);
    if (!kept) return hg_asm_no_memory(a);
    *kept = *start;
    kept->at = (size_t)(from->text - start->text);
    kept->end = last->kind ? (size_t)(last->text - start->text) + last->length : kept->at;
    kept->line = from->line;
    kept->line_start = kept->at - (from->column - 1);
    return true;
}

/* Arguments as they are written, separated by commas outside of brackets; they are read where their
 * parameters stand. */
static bool read_arguments(hg_assembler *a, uint32_t *count) {
    uint32_t depth = 0;
    hg_token from = {0}, last = {0};
    for (*count = 0;;) {
        hg_piece here = hg_asm_here(a);
        hg_token t = hg_lexer_next(&a->lexer);
        t.expansion = a->source.expansion;
        a->token = t;
        bool end = t.kind == HG_TOKEN_END_OF_LINE || t.kind == HG_TOKEN_END_OF_FILE;
        if (end && !*count && !last.kind) break;
        if (t.kind == HG_TOKEN_BAD) return hg_asm_unexpected(a, "an argument");
        if (end || (t.kind == ',' && !depth)) {
            if (!last.kind) return hg_asm_unexpected(a, "an argument");
            if (!add_argument(a, &here, &from, &last)) return false;
            ++*count;
            last.kind = 0;
            if (end) break;
            continue;
        }
        if (t.kind == '(' || t.kind == '[' || t.kind == '{') depth++;
        if ((t.kind == ')' || t.kind == ']' || t.kind == '}') && depth) depth--;
        if (!last.kind) from = t;
        last = t;
    }
    a->token.kind = HG_TOKEN_END_OF_LINE;
    return true;
}

bool hg_asm_use_macro(hg_assembler *a) {
    hg_token name = a->token;
    uint64_t number = hg_asm_find_name(a, &name)->index, first = a->source.arguments.count;
    uint32_t count;
    hg_asm_leave_arguments(a);
    if (!read_arguments(a, &count)) {
        a->source.arguments.count = first;
        return false;
    }
    const hg_macro *macro = &a->source.macros.data[number];
    if (count != macro->count) {
        a->source.arguments.count = first;
        hg_asm_error(a, "N04", &name, NULL, "macro '%.*s' takes %u argument%s, got %u",
                     (int)name.length, name.text, (unsigned)macro->count,
                     macro->count == 1 ? "" : "s", (unsigned)count);
        return false;
    }
    uint32_t use = hg_asm_expansion(a, HG_EXPANSION_MACRO, &name, &name);
    if (!use) return false;
    hg_text_expansion *e = &a->source.expansions.data[use];
    a->source.scopes.data[e->scope] = macro->scope;
    e->file = a->source.expansions.data[macro->body.expansion].file;
    e->round = number << 32 | first; /* where its arguments are while it is read */
    hg_frame frame = {.kind = HG_FRAME_MACRO,
                      .expansion = use,
                      .parameters = macro->count ? use : 0,
                      .arguments = first};
    e->parameters = frame.parameters;
    hg_piece body = macro->body;
    return hg_asm_push(a, frame, &body, &name);
}
