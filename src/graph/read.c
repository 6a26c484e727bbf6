/* The text of array graphs: docs/reference/graph.md. One statement a line; a line that ends in a
 * comma goes on.
 * Must not know: devices, files. */
#include "graph/strides.h"
#include "graph/request.h"
#include "isa/text_internal.h"
#include <stdio.h>
#include <string.h>

typedef struct reader {
    hg_graph *g;
    hg_lexer lexer;
    hg_token token;
    const hg_graph_read_options *options;
    hg_diagnostics *d;
    graph_request request;
    /* names whose declaration could not be read: what uses them is no mistake of its own */
    HG_VEC(hg_token) broken;
    graph_extent over, under; /* of the last quotient */
    bool is_quotient; /* what was read last is that one and nothing else: ceil rounds it up */
    uint64_t errors;
    bool failed;  /* this statement */
    bool stopped; /* nothing more is read */
    bool no_memory;
    bool only_one; /* nothing is read behind the first mistake */
    bool no_lines; /* the text is an extent: messages name no line */
} reader;

/* ---- mistakes ---- */

static hg_place place_of(const hg_token *t) {
    return (hg_place){t->line, t->column, hg_token_width(t), HG_NONE, 0};
}

static void mistake(reader *r, const char *code, const hg_token *at, const char *hint,
                    const char *format, ...) HG_PRINTF(5, 6);
static void mistake(reader *r, const char *code, const hg_token *at, const char *hint,
                    const char *format, ...) {
    char message[400];
    va_list list;
    if (r->failed) return;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    r->failed = true;
    r->stopped |= r->only_one;
    if (r->errors++ == 0) { /* the caller returns it */
        if (r->no_lines)
            HG_IGNORE(hg_fail(HG_ERROR_ISA, "%s", message));
        else
            HG_IGNORE(hg_fail(HG_ERROR_ISA, "line %u: %s", (unsigned)at->line, message));
    }
    hg_diagnose(r->d, HG_SEVERITY_ERROR, code, place_of(at), hint, "%s", message);
}

/* What building says of it. */
static void refuse(reader *r, const hg_token *at, hg_status status) {
    if (status == HG_OK) return;
    char message[sizeof hg_error_record()->message];
    snprintf(message, sizeof message, "%s", hg_error_record()->message);
    r->no_memory |= status == HG_ERROR_OUT_OF_MEMORY;
    r->stopped |= r->no_memory;
    if (r->no_memory) r->failed = true;
    if (r->no_memory) return;
    mistake(r, "G01", at, NULL, "%.390s", message);
}

static void expected(reader *r, const char *what) {
    char buffer[80];
    if (r->token.kind == HG_TOKEN_BAD)
        mistake(r, r->lexer.code, &r->token, r->lexer.hint, "%s", r->lexer.message);
    else
        mistake(r, "S02", &r->token, NULL, "expected %s, got %s", what,
                hg_token_describe(&r->token, buffer));
}

/* ---- tokens ---- */

static void next(reader *r) { r->token = hg_lexer_next(&r->lexer); }

static bool take(reader *r, int kind) {
    if (r->token.kind != kind) return false;
    next(r);
    return true;
}

static void need(reader *r, int kind, const char *what) {
    if (!r->failed && !take(r, kind)) expected(r, what);
}

static bool at_end(const reader *r) {
    return r->token.kind == HG_TOKEN_END_OF_LINE || r->token.kind == HG_TOKEN_END_OF_FILE;
}

static hg_token name(reader *r, const char *what) {
    hg_token token = r->token;
    if (!r->failed && !take(r, HG_TOKEN_NAME)) expected(r, what);
    return token;
}

/* ---- extents ---- */

/* How deep parentheses are is the caller's; more than HG_MAX_EXPRESSION_NESTING are a mistake. */
static graph_extent sum(reader *r, uint32_t depth);

static graph_extent made(reader *r, const hg_token *at, graph_extent e) {
    if (e == GRAPH_NOT_SET) refuse(r, at, hg_error_record()->status);
    return e;
}

static graph_extent combine(reader *r, hg_extent_op_kind op, const hg_token *at, graph_extent left,
                            graph_extent right) {
    return r->failed ? GRAPH_NOT_SET : made(r, at, graph_combine(r->g, op, left, right));
}

static graph_extent ceil_of(reader *r, const hg_token *word, uint32_t depth) {
    sum(r, depth + 1);
    if (!r->failed && !r->is_quotient)
        mistake(r, "S02", word, "write ceil(a / b); a sum needs parentheses: ceil((a + 1) / b)",
                "ceil is of one division");
    need(r, ')', "')'");
    r->is_quotient = false;
    return combine(r, HG_EXTENT_OP_CEIL_DIV, word, r->over, r->under);
}

static graph_extent function(reader *r, const hg_token *word, uint32_t depth) {
    graph_extent left, right;
    need(r, '(', "'('");
    if (hg_token_is(word, "ceil")) return ceil_of(r, word, depth);
    left = sum(r, depth + 1);
    need(r, ',', "','");
    right = sum(r, depth + 1);
    need(r, ')', "')'");
    r->is_quotient = false;
    return combine(r, hg_token_is(word, "min") ? HG_EXTENT_OP_MIN : HG_EXTENT_OP_MAX, word, left,
                   right);
}

static graph_extent number_of(reader *r) {
    uint64_t value;
    hg_token token = r->token;
    const char *code = hg_parse_uint(token.text, token.length, &value);
    next(r);
    if (!code && value <= INT64_MAX) return made(r, &token, graph_number(r->g, value));
    mistake(r, code ? code : "S03", &token, NULL, "'%.*s' is no whole number from 0 to 2^63 - 1",
            hg_token_shown(&token), token.text);
    return GRAPH_NOT_SET;
}

static graph_extent primary(reader *r, uint32_t depth) {
    hg_token token = r->token;
    if (r->failed) return GRAPH_NOT_SET;
    if (depth > HG_MAX_EXPRESSION_NESTING) {
        mistake(r, "S05", &token, NULL, "more than %d parentheses inside one another",
                HG_MAX_EXPRESSION_NESTING);
        return GRAPH_NOT_SET;
    }
    if (token.kind == HG_TOKEN_NUMBER) return number_of(r);
    if (take(r, '(')) {
        graph_extent e = sum(r, depth + 1);
        need(r, ')', "')'");
        return e;
    }
    if (token.kind != HG_TOKEN_NAME) {
        expected(r, "an extent: a number, or a name of .extent");
        return GRAPH_NOT_SET;
    }
    next(r);
    if (r->token.kind == '(' &&
        (hg_token_is(&token, "ceil") || hg_token_is(&token, "min") || hg_token_is(&token, "max")))
        return function(r, &token, depth);
    uint32_t symbol = graph_find_symbol(r->g, token.text, token.length);
    if (symbol != GRAPH_NOT_SET) return made(r, &token, graph_symbol(r->g, symbol));
    mistake(r, "G01", &token, NULL, "'%.*s' is no extent: write .extent %.*s above",
            hg_token_shown(&token), token.text, hg_token_shown(&token), token.text);
    return GRAPH_NOT_SET;
}

static graph_extent product(reader *r, uint32_t depth) {
    graph_extent left = primary(r, depth);
    while (!r->failed && (r->token.kind == '*' || r->token.kind == '/')) {
        hg_token op = r->token;
        next(r);
        graph_extent right = primary(r, depth);
        r->is_quotient = op.kind == '/';
        r->over = left;
        r->under = right;
        left = combine(r, r->is_quotient ? HG_EXTENT_OP_DIV : HG_EXTENT_OP_MUL, &op, left, right);
    }
    return left;
}

static graph_extent sum(reader *r, uint32_t depth) {
    r->is_quotient = false;
    graph_extent left = product(r, depth);
    while (!r->failed && (r->token.kind == '+' || r->token.kind == '-')) {
        hg_token op = r->token;
        next(r);
        graph_extent right = product(r, depth);
        left = combine(r, op.kind == '+' ? HG_EXTENT_OP_ADD : HG_EXTENT_OP_SUB, &op, left, right);
        r->is_quotient = false;
    }
    return left;
}

/* ---- values ---- */

/* "f32 [b, 384]" */
static void shape(reader *r, graph_value *v) {
    hg_type type = HG_TYPE_COUNT;
    hg_token word = name(r, "a type");
    if (!r->failed && !hg_type_from_name(word.text, word.length, &type))
        mistake(r, "S02", &word, NULL, "expected a type, got '%.*s'", hg_token_shown(&word),
                word.text);
    v->type = (uint8_t)type;
    need(r, '[', "'[' and the extents");
    while (!r->failed && r->token.kind != ']') {
        if (v->rank == PLAN_MAX_RANK) {
            mistake(r, "S05", &r->token, NULL, "more than %d extents", PLAN_MAX_RANK);
            return;
        }
        v->extents[v->rank++] = sum(r, 0);
        if (!take(r, ',')) break;
    }
    need(r, ']', "']'");
}

static uint32_t items(reader *r, graph_extent *to, uint32_t most);

/* "split 0 at (3, 5)" behind a shape: where ranks have the value. */
static void split(reader *r, graph_place *place) {
    uint64_t axis = 0;
    hg_token at = r->token;
    next(r);
    graph_extent e = r->failed ? GRAPH_NOT_SET : primary(r, 0);
    if (!r->failed && (!graph_is_number(r->g, e, &axis) || axis >= PLAN_MAX_RANK))
        mistake(r, "G01", &at, NULL, "split takes the number of an axis");
    place->kind = GRAPH_SPLIT;
    place->axis = (uint8_t)axis;
    if (r->failed || !hg_token_is(&r->token, "at")) return;
    next(r);
    graph_extent *cuts = hg_alloc(HG_MAX_GRAPH_RANKS * sizeof *cuts);
    if (!cuts) refuse(r, &at, hg_fail_memory());
    uint32_t count = cuts ? items(r, cuts, HG_MAX_GRAPH_RANKS) : 0;
    place->first_cut = (uint32_t)r->g->items.count;
    place->cut_count = count;
    for (uint32_t i = 0; i < count && !r->failed; i++) {
        graph_extent *to = hg_vec_push(&r->g->items);
        if (to) *to = cuts[i];
        if (!to) refuse(r, &at, hg_fail_memory());
    }
    hg_free(cuts);
}

static void partial(reader *r, graph_place *place) {
    hg_opname operation;
    next(r);
    hg_token word = name(r, "the operation of partial");
    if (r->failed) return;
    if (!hg_opname_from_text(word.text, word.length, &operation) ||
        !hg_opname_is_reduce(operation)) {
        mistake(r, "G01", &word, NULL, "'%.*s' is no operation of reductions",
                hg_token_shown(&word), word.text);
        return;
    }
    place->kind = GRAPH_PARTIAL;
    place->operation = (uint8_t)operation;
}

static void place(reader *r, graph_value *v) {
    hg_token at = r->token;
    if (r->failed) return;
    if (hg_token_is(&at, "split"))
        split(r, &v->place);
    else if (hg_token_is(&at, "partial"))
        partial(r, &v->place);
    if (!r->failed) refuse(r, &at, graph_check_place(r->g, v));
}

static uint32_t value_named(reader *r, const hg_token *token) {
    uint32_t value = graph_find_value(r->g, token->text, token->length);
    for (uint64_t i = 0; i < r->broken.count && value == GRAPH_NOT_SET; i++)
        r->failed |= r->broken.data[i].length == token->length &&
                     memcmp(r->broken.data[i].text, token->text, token->length) == 0;
    if (value == GRAPH_NOT_SET && !r->failed)
        mistake(r, "G01", token, NULL, "there is no value '%.*s' above", hg_token_shown(token),
                token->text);
    return value;
}

enum { MOST_BROKEN = 256 }; /* each name that is not there is compared with them */

static void note_broken(reader *r, const hg_token *words, uint32_t count) {
    for (uint32_t i = 0; i < count && r->failed; i++) {
        bool kept = words[i].kind == HG_TOKEN_NAME && r->broken.count < MOST_BROKEN;
        hg_token *to = kept ? hg_vec_push(&r->broken) : NULL; /* without memory there is one message
                                                                 more */
        if (to) *to = words[i];
    }
}

static const char *string(reader *r, const char *what) {
    hg_token token = r->token;
    if (r->failed) return NULL;
    if (token.kind != HG_TOKEN_STRING || token.length < 2) {
        expected(r, what);
        return NULL;
    }
    next(r);
    const char *text = hg_arena_text(&r->g->arena, token.text + 1, token.length - 2);
    if (!text) refuse(r, &token, hg_fail_memory());
    return text;
}

/* A file is named from the folder of the text: never by an absolute name, never above it. */
static const char *file(reader *r) {
    hg_token token = r->token;
    const char *text = string(r, "a file name in quotation marks");
    if (!text) return NULL;
    bool above = text[0] == '/' || text[0] == '\\' || strchr(text, '\\') ||
                 (text[0] && text[1] == ':');
    for (const char *p = text; *p && !above;
         p = strchr(p, '/') ? strchr(p, '/') + 1 : p + strlen(p))
        above = p[0] == '.' && p[1] == '.' && (p[2] == '/' || p[2] == 0);
    if (above || !*text)
        mistake(r, "G01", &token, NULL,
                "file \"%.100s\": a name below the folder of the text is expected, no absolute one "
                "and no '..'",
                text);
    return r->failed ? NULL : text;
}

/* "(1, 0)": extents; how many. */
static uint32_t items(reader *r, graph_extent *to, uint32_t most) {
    uint32_t count = 0;
    need(r, '(', "'('");
    while (!r->failed && r->token.kind != ')') {
        if (count == most) {
            mistake(r, "S05", &r->token, NULL, "more than %u extents", (unsigned)most);
            return count;
        }
        to[count++] = sum(r, 0);
        if (!take(r, ',')) break;
    }
    need(r, ')', "')'");
    return count;
}

static void view_shape(reader *r, graph_value *v) {
    hg_token at = r->token;
    uint8_t type = v->type;
    shape(r, v);
    if (!r->failed && v->type != type)
        mistake(r, "G01", &at, NULL, "a view has the type of its value: %s, not %s",
                hg_type_name((hg_type)type), hg_type_name((hg_type)v->type));
}

/* "permuted (1, 0)": the shape follows. */
static void permuted(reader *r, graph_value *v) {
    graph_extent order[PLAN_MAX_RANK];
    hg_token at = r->token;
    uint32_t count = items(r, order, PLAN_MAX_RANK);
    if (!r->failed) refuse(r, &at, graph_permute(r->g, v->of, order, count, v));
}

static void broadcast(reader *r, graph_value *v) {
    hg_token at = r->token;
    view_shape(r, v);
    if (!r->failed) refuse(r, &at, graph_broadcast(r->g, v->of, v));
}

/* "strides (8, 1) f32 [4, 4]" */
static void strided(reader *r, graph_value *v) {
    hg_token at = r->token;
    uint32_t count = items(r, v->strides, PLAN_MAX_RANK);
    view_shape(r, v);
    if (!r->failed && count != v->rank)
        mistake(r, "G01", &at, NULL, "%u strides, but %u extents", (unsigned)count,
                (unsigned)v->rank);
    if (!r->failed) refuse(r, &at, graph_set_strides(r->g, v));
}

static void view(reader *r, const hg_token *word, graph_value *v) {
    static const struct {
        const char *word;
        void (*read)(reader *r, graph_value *v);
    } FORMS[] = {{"permuted", permuted}, {"broadcast", broadcast}, {"strides", strided}};
    v->of = GRAPH_NOT_SET;
    need(r, '=', "'='");
    hg_token of = name(r, "the value that it is a view of");
    if (!r->failed) v->of = value_named(r, &of);
    v->offset = graph_number(r->g, 0);
    if (!r->failed && take(r, '+')) v->offset = sum(r, 0);
    if (!r->failed && v->offset == GRAPH_NOT_SET) refuse(r, word, hg_error_record()->status);
    if (r->failed) return;
    v->type = r->g->values.data[v->of].type;
    hg_token form = r->token;
    for (size_t i = 0; i < HG_COUNT_OF(FORMS); i++)
        if (hg_token_is(&form, FORMS[i].word)) {
            next(r);
            FORMS[i].read(r, v);
            return;
        }
    view_shape(r, v);
    if (!r->failed) refuse(r, &of, graph_check_view(r->g, v->of));
}

static void declare(reader *r, graph_source source) {
    hg_token word = name(r, "the name of a value");
    graph_value v = {.source = (uint8_t)source, .line = word.line};
    uint32_t number;
    if (source == GRAPH_VIEW)
        view(r, &word, &v);
    else
        shape(r, &v);
    place(r, &v);
    if (source == GRAPH_CONSTANT && !r->failed && r->token.kind == HG_TOKEN_STRING)
        v.file = file(r);
    if (!r->failed) refuse(r, &word, graph_add_value(r->g, &v, word.text, word.length, &number));
    note_broken(r, &word, 1);
}

/* ---- calls ---- */

static bool add_item(reader *r, graph_extent e) {
    graph_extent *to = r->failed ? NULL : hg_vec_push(&r->g->items);
    if (to) *to = e;
    if (!to && !r->failed) refuse(r, &r->token, hg_fail_memory());
    return to != NULL;
}

/* (1, 2), or of tuples ((1, 2), (0, 1)). */
static void tuple(reader *r, graph_operand *o, bool nested) {
    uint32_t count = 0;
    hg_token at = r->token;
    if (!nested) o->first = (uint32_t)r->g->items.count;
    need(r, '(', "'('");
    while (!r->failed && r->token.kind != ')') {
        if (o->number >= HG_MAX_TUPLE_ITEMS) {
            mistake(r, "S05", &at, NULL, "more than %d items of a tuple", HG_MAX_TUPLE_ITEMS);
            return;
        }
        if (o->kind == GRAPH_TUPLES && !nested) {
            uint32_t length_at = (uint32_t)r->g->items.count, before = o->number;
            if (!add_item(r, 0)) return;
            o->number++;
            tuple(r, o, true);
            if (!r->failed)
                r->g->items.data[length_at] = made(r, &at,
                                                   graph_number(r->g, o->number - before - 1));
        } else {
            graph_extent e = sum(r, 0);
            if (!add_item(r, e)) return;
            o->number++;
        }
        count++;
        if (!take(r, ',')) break;
    }
    need(r, ')', "')'");
}

static void literal(reader *r, graph_operand *o) {
    hg_token first = r->token;
    if (first.kind == '-' || first.kind == '+') next(r);
    hg_token last = r->token;
    if (!take(r, HG_TOKEN_NUMBER) && !take(r, HG_TOKEN_NAME)) {
        expected(r, "a number");
        return;
    }
    o->bytes = (const uint8_t *)first.text;
    o->number = (uint32_t)(last.text + last.length - first.text);
}

static void operand_value(reader *r, graph_operand *o) {
    hg_token at = r->token;
    switch ((graph_operand_kind)o->kind) {
    case GRAPH_ARRAY:
        at = name(r, "the name of a value");
        o->number = r->failed ? 0 : value_named(r, &at);
        break;
    case GRAPH_COUNT: o->number = sum(r, 0); break;
    case GRAPH_LITERAL: literal(r, o); break;
    case GRAPH_FLAG:
        at = name(r, "true or false");
        o->number = hg_token_is(&at, "true");
        if (!r->failed && !o->number && !hg_token_is(&at, "false"))
            mistake(r, "S02", &at, NULL, "expected true or false");
        break;
    case GRAPH_NAME:
        at = name(r, "the name of an operation");
        if (!r->failed)
            refuse(r, &at,
                   graph_read_word(&r->request, o->operand, at.text, at.length, &o->number));
        break;
    default: tuple(r, o, false); break;
    }
}

/* op=relu may be written relu where it comes first. */
static bool is_bare_operation(const reader *r) {
    if (r->request.program || r->token.kind != HG_TOKEN_NAME || r->request.operand_count)
        return false;
    const hg_op_info *row = hg_op_get((hg_op)r->request.op);
    hg_token word = r->token;
    hg_opname found;
    if (graph_operand_named(&r->request, word.text, word.length) != GRAPH_NOT_SET ||
        !hg_opname_from_text(word.text, word.length, &found))
        return false;
    for (uint32_t i = 0; i < row->operand_count; i++)
        if (row->operands[i].kind == HG_K_OPNAME) return true;
    return false;
}

static void add_operand(reader *r) {
    graph_request *q = &r->request;
    hg_token word = r->token;
    uint32_t operand = GRAPH_NOT_SET;
    if (is_bare_operation(r)) {
        const hg_op_info *row = hg_op_get((hg_op)q->op);
        for (operand = 0; row->operands[operand].kind != HG_K_OPNAME;) operand++;
    } else {
        word = name(r, "the name of an operand");
        if (!r->failed) operand = graph_operand_named(q, word.text, word.length);
        if (!r->failed && operand == GRAPH_NOT_SET)
            mistake(r, "G01", &word, NULL, "%s has no operand '%.*s'", graph_callee_name(q),
                    hg_token_shown(&word), word.text);
        need(r, '=', "'='");
    }
    if (r->failed) return;
    for (uint32_t i = 0; i < q->operand_count; i++)
        if (q->operands[i].operand == operand) {
            mistake(r, "G01", &word, NULL, "'%.*s' is given twice", hg_token_shown(&word),
                    word.text);
            return;
        }
    graph_operand *o = &q->operands[q->operand_count++];
    *o = (graph_operand){.operand = (uint8_t)operand,
                         .kind = (uint8_t)graph_operand_kind_of(q, operand)};
    operand_value(r, o);
}

static void callee(reader *r) {
    graph_request *q = &r->request;
    if (take(r, '@')) {
        hg_token word = name(r, "the name of a program");
        uint32_t program = r->failed ? GRAPH_NOT_SET
                                     : graph_find_program(r->g, word.text, word.length);
        if (!r->failed && program == GRAPH_NOT_SET)
            mistake(r, "G01", &word, NULL, "there is no .program '%.*s' above",
                    hg_token_shown(&word), word.text);
        if (!r->failed) q->program = r->g->programs.data[program].program;
        q->op = HG_OP_NONE;
        return;
    }
    hg_token word = name(r, "an instruction, or @ and the name of a program");
    if (!r->failed) refuse(r, &word, graph_find_callee(q, word.text, word.length));
}

/* y = …, y f32 [n] = …, y, z = … */
static void call(reader *r) {
    graph_request *q = &r->request;
    graph_value declared[16] = {0};
    hg_token first = r->token, words[16];
    uint32_t count = 0;
    q->type = HG_TYPE_COUNT;
    q->program = NULL;
    q->operand_count = q->result_count = 0;
    q->line = first.line;
    q->declared = declared;
    do {
        if (count == HG_COUNT_OF(words)) {
            mistake(r, "S05", &r->token, NULL, "more than %d values of a call",
                    (int)HG_COUNT_OF(words));
            return;
        }
        words[count] = name(r, "the name of a value, or a directive");
        declared[count] = (graph_value){
            .type = HG_TYPE_COUNT, .source = GRAPH_RESULT, .line = words[count].line};
        if (!r->failed && r->token.kind == HG_TOKEN_NAME) {
            shape(r, &declared[count]);
            place(r, &declared[count]);
        }
        q->results[count].value = GRAPH_NOT_SET;
        q->result_names[count] = words[count].text;
        q->result_lengths[count] = words[count].length;
        count++;
    } while (!r->failed && take(r, ','));
    need(r, '=', "'='");
    if (!r->failed) callee(r);
    while (!r->failed && !at_end(r)) {
        add_operand(r);
        if (!take(r, ',')) break;
    }
    if (!r->failed && !at_end(r)) expected(r, "',' or the end of the line");
    if (!r->failed) refuse(r, &first, graph_match_results(q, count));
    if (!r->failed) refuse(r, &first, graph_add_call(r->g, q));
    note_broken(r, words, count);
}

/* ---- directives ---- */

static void extents(reader *r) {
    do {
        hg_token word = name(r, "the name of an extent");
        if (!r->failed) refuse(r, &word, graph_add_symbol(r->g, word.text, word.length));
    } while (!r->failed && take(r, ','));
}

static void program(reader *r) {
    hg_token word = name(r, "a name for the program");
    const char *path = r->failed ? NULL : file(r);
    hg_program *made = NULL;
    if (r->failed) return;
    if (graph_find_program(r->g, word.text, word.length) != GRAPH_NOT_SET) {
        mistake(r, "G01", &word, NULL, "there is a program '%.*s' already", hg_token_shown(&word),
                word.text);
        return;
    }
    if (!r->options || !r->options->program) {
        mistake(r, "G01", &word, NULL, "programs cannot be read here");
        return;
    }
    hg_status status = r->options->program(r->options->user, path, r->d, &made);
    if (status == HG_OK) status = hg_program_verify(made, NULL);
    if (status != HG_OK) {
        hg_program_release(made);
        refuse(r, &word, status);
        return;
    }
    refuse(r, &word, graph_add_program(r->g, made, word.text, word.length, path));
}

static void output(reader *r) {
    hg_token word = name(r, "the name of a value"), as = word;
    if (!r->failed && take(r, '=')) { /* .output name = value */
        as = word;
        word = name(r, "the name of a value");
    }
    uint32_t value = r->failed ? GRAPH_NOT_SET : value_named(r, &word);
    if (!r->failed) refuse(r, &word, graph_add_output(r->g, value, as.text, as.length));
}

static void graph_name(reader *r) {
    hg_token word = name(r, "a name");
    const char *kept = r->failed ? NULL : hg_arena_text(&r->g->arena, word.text, word.length);
    if (!r->failed && !kept) refuse(r, &word, hg_fail_memory());
    if (kept) r->g->name = kept;
}

static void statement(reader *r) {
    hg_token word = r->token;
    r->failed = false;
    if (word.kind != HG_TOKEN_NAME || word.text[0] != '.') {
        call(r);
        return;
    }
    next(r);
    if (hg_token_is(&word, ".extent"))
        extents(r);
    else if (hg_token_is(&word, ".name"))
        graph_name(r);
    else if (hg_token_is(&word, ".input"))
        declare(r, GRAPH_INPUT);
    else if (hg_token_is(&word, ".constant"))
        declare(r, GRAPH_CONSTANT);
    else if (hg_token_is(&word, ".view"))
        declare(r, GRAPH_VIEW);
    else if (hg_token_is(&word, ".program"))
        program(r);
    else if (hg_token_is(&word, ".output"))
        output(r);
    else
        mistake(r, "S02", &word,
                "directives are .extent, .input, .constant, .view, .program, .output, .name",
                "there is no directive '%.*s'", hg_token_shown(&word), word.text);
}

static void version(reader *r) {
    hg_token word = r->token;
    bool right = hg_token_is(&word, ".graph");
    if (right) next(r);
    if (!right || r->token.kind != HG_TOKEN_NUMBER || r->token.length != 1 ||
        r->token.text[0] != '1') {
        mistake(r, "S02", &r->token, NULL, "a graph begins with the line .graph 1");
        r->stopped = true;
        return;
    }
    next(r);
    if (!at_end(r)) expected(r, "the end of the line");
    while (!at_end(r)) next(r);
}

static void check_length(reader *r, size_t length) {
    if (length <= HG_MAX_SOURCE_BYTES) return;
    mistake(r, "S05", &r->token, NULL, "a text of %zu bytes: at most %d are allowed", length,
            HG_MAX_SOURCE_BYTES);
    r->stopped = true;
}

hg_status graph_read(hg_graph *g, const char *text, size_t length,
                     const hg_graph_read_options *options, bool whole, hg_diagnostics *d) {
    reader *r = hg_calloc(1, sizeof *r);
    if (!r) return hg_fail_memory();
    r->g = g;
    r->options = options;
    r->d = d;
    r->only_one = !whole;
    hg_lexer_init(&r->lexer, text, length);
    next(r);
    check_length(r, length);
    while (r->token.kind == HG_TOKEN_END_OF_LINE) next(r);
    if (whole && !r->stopped) version(r);
    while (!r->stopped && r->token.kind != HG_TOKEN_END_OF_FILE) {
        if (take(r, HG_TOKEN_END_OF_LINE)) continue;
        statement(r);
        if (!r->failed && !at_end(r)) expected(r, "the end of the line");
        while (!at_end(r)) next(r);
    }
    hg_vec_free(&r->broken);
    bool failed = r->errors != 0, no_memory = r->no_memory;
    hg_error first = *hg_error_record();
    hg_free(r);
    if (no_memory) return hg_fail_memory();
    *hg_error_record() = first;
    return failed ? HG_ERROR_ISA : HG_OK;
}

/* What an extent or a placement by itself was read as; the reader is freed. */
static hg_status end_part(reader *r, const char *what, const char *text) {
    bool failed = r->failed, no_memory = r->no_memory;
    hg_free(r);
    if (!failed) return HG_OK;
    if (no_memory) return hg_fail_memory();
    char message[sizeof hg_error_record()->message];
    snprintf(message, sizeof message, "%s", hg_error_record()->message);
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s \"%.100s\": %.300s", what, text, message);
}

hg_status graph_read_place(hg_graph *g, uint32_t value, const char *text) {
    reader *r = hg_calloc(1, sizeof *r);
    if (!r) return hg_fail_memory();
    graph_value v = g->values.data[value];
    v.place = (graph_place){.kind = GRAPH_WHOLE};
    r->g = g;
    r->no_lines = true;
    hg_lexer_init(&r->lexer, text, strlen(text));
    next(r);
    bool empty = r->token.kind == HG_TOKEN_END_OF_FILE;
    if (hg_token_is(&r->token, "whole"))
        next(r);
    else
        place(r, &v);
    if (!r->failed && (empty || r->token.kind != HG_TOKEN_END_OF_FILE))
        expected(r, "whole, split AXIS, split AXIS at (PLACE, ...) or partial OPERATION");
    if (!r->failed) g->values.data[value].place = v.place;
    return end_part(r, "placement", text);
}

hg_status graph_read_extent(hg_graph *g, const char *text, graph_extent *e) {
    reader *r = hg_calloc(1, sizeof *r);
    if (!r) return hg_fail_memory();
    r->g = g;
    r->no_lines = true;
    hg_lexer_init(&r->lexer, text, strlen(text));
    next(r);
    *e = sum(r, 0);
    if (!r->failed && r->token.kind != HG_TOKEN_END_OF_FILE) expected(r, "the end of the extent");
    r->failed |= *e == GRAPH_NOT_SET;
    return end_part(r, "extent", text);
}
