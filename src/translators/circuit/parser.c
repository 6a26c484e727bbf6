/* Text to syntax tree (6.2): the strict union grammar, without recursion. Errors of the grammar end
 * the reading; a number out of range is reported and read on. Must not know: what operations mean,
 * which targets a generator may have. */
#include "translators/circuit/circuit_internal.h"

#include <stdio.h>
#include <string.h>

const char *const hg_generator_names[GENERATOR_COUNT] = {
    "mark", "copy", "swap", "merge", "split", "quote", "evaluate", "scale", "fma"};
const char *const hg_generator_titles[GENERATOR_COUNT] = {
    "Mark", "Copy", "Swap", "Merge", "Split", "Quote", "Evaluate", "Scale", "Fma"};

/* Terms as many as a program may have instructions; terms, parentheses and `||` together (56 bytes
 * each). */
enum {
    MOST_TERMS = HG_MAX_INSTRUCTIONS,
    MOST_ITEMS = 4 * HG_MAX_INSTRUCTIONS,
    SHOWN_BYTES = 40,
    MOST_CONSTANT = 1400
};

typedef struct parser {
    circuit_lexer lexer;
    circuit_token token; /* the next one */
    size_t end;          /* of the one before it */
    hg_circuit *circuit;
    circuit_report *report;
    bool variants;
    HG_VEC(uint32_t) open; /* indices of open groups */
} parser;

/* ---- errors ---- */

void hg_circuit_report(circuit_report *r, const char *code, uint32_t line, uint32_t column,
                       uint32_t length, const char *hint, const char *format, ...) {
    char message[sizeof r->message];
    int used = snprintf(message, sizeof message, "%s", r->prefix ? r->prefix : "");
    va_list args;
    va_start(args, format);
    vsnprintf(message + used, sizeof message - (size_t)used, format, args);
    va_end(args);
    if (!r->errors++) {
        snprintf(r->code, sizeof r->code, "%s", code);
        memcpy(r->message, message, sizeof message);
        r->line = line;
        r->column = column;
    }
    hg_place place = {.line = line, .column = column, .length = length, .instruction = HG_NONE};
    hg_diagnose(r->diagnostics, HG_SEVERITY_ERROR, code, place, hint, "%s", message);
}

hg_status hg_circuit_report_status(const circuit_report *r) {
    if (r->out_of_memory) return hg_fail_memory();
    if (!r->errors) return HG_OK;
    (void)hg_fail(HG_ERROR_ISA, "%s", r->message);
    hg_error *e = hg_error_record();
    memcpy(e->code, r->code, sizeof e->code);
    e->line = r->line;
    e->column = r->column;
    return HG_ERROR_ISA;
}

static bool no_memory(parser *p) {
    p->report->out_of_memory = true;
    return false;
}

/* `'merge'`, cut and with bytes that are not text as numbers. */
static const char *describe(const circuit_token *t, char out[SHOWN_BYTES + 16]) {
    unsigned char first = t->length ? (unsigned char)t->text[0] : 0;
    if (t->kind == CIRCUIT_NOT_UTF8 || (t->length == 1 && (first < 32 || first == 127)))
        snprintf(out, SHOWN_BYTES + 16, "byte 0x%02X", first);
    else
        snprintf(out, SHOWN_BYTES + 16, "'%.*s%s'",
                 t->length > SHOWN_BYTES ? SHOWN_BYTES : (int)t->length, t->text,
                 t->length > SHOWN_BYTES ? "…" : "");
    return out;
}

static bool unexpected_hint(parser *p, const char *expected, const char *hint) {
    char found[SHOWN_BYTES + 16];
    const circuit_token *t = &p->token;
    if (t->kind == CIRCUIT_NOT_UTF8)
        hg_circuit_report(p->report, "S01", t->line, t->column, 1, NULL,
                          "Expected UTF-8 text but found %s at position %zu", describe(t, found),
                          t->at);
    else if (t->kind == CIRCUIT_END)
        hg_circuit_report(p->report, "S02", t->line, t->column, 0, hint,
                          "Unexpected end of input, expected %s", expected);
    else
        hg_circuit_report(p->report, "S02", t->line, t->column, t->length, hint,
                          "Expected %s but found %s at position %zu", expected, describe(t, found),
                          t->at);
    return false;
}
static bool unexpected(parser *p, const char *expected) {
    return unexpected_hint(p, expected, NULL);
}

/* ---- tokens ---- */

static void next(parser *p) {
    p->end = p->token.at + p->token.length;
    p->token = hg_circuit_next(&p->lexer);
}
static bool accept(parser *p, int kind) {
    if (p->token.kind != kind) return false;
    next(p);
    return true;
}
static bool expect(parser *p, int kind, const char *expected) {
    return accept(p, kind) || unexpected(p, expected);
}
static bool is_word(const circuit_token *t, const char *word) {
    return t->kind == CIRCUIT_WORD && t->length == strlen(word) &&
           memcmp(t->text, word, t->length) == 0;
}

/* ---- transforms ---- */

circuit_shift hg_shift_combine(circuit_shift outer, circuit_shift inner) {
    return (circuit_shift){(int8_t)((outer.rotate + inner.rotate) % 4),
                           (int8_t)((outer.triality + inner.triality) % 3),
                           (int8_t)((outer.twist + inner.twist) % 8), outer.mirror ^ inner.mirror};
}

uint8_t hg_shift_apply(circuit_shift s, uint8_t cls) {
    return hg_transform_apply((hg_transform){s.rotate, s.triality, s.twist, s.mirror != 0}, cls);
}

/* The letter R, D or T as a word of its own, else 0. */
static char amount_letter(const circuit_token *t) {
    if (t->kind != CIRCUIT_WORD || t->length != 1) return 0;
    return t->text[0] == 'R' || t->text[0] == 'D' || t->text[0] == 'T' ? t->text[0] : 0;
}

/* `+3`: the sign is read where there is one. The number modulo 24 decides every amount, however
 * long it is. */
static bool parse_amount(parser *p, char letter, bool sign_required, circuit_shift *shift) {
    bool negative = p->token.kind == '-';
    if (!accept(p, '+') && !accept(p, '-') && sign_required) return unexpected(p, "'+' or '-'");
    if (p->token.kind != CIRCUIT_NUMBER) return unexpected(p, "a number");
    int value = 0;
    for (uint32_t i = 0; i < p->token.length; i++)
        value = (value * 10 + (p->token.text[i] - '0')) % 24;
    next(p);
    if (negative) value = -value;
    circuit_shift more = {0};
    *(letter == 'R'   ? &more.rotate
      : letter == 'D' ? &more.triality
                      : &more.twist) = (int8_t)(value % (letter == 'R'   ? 4
                                                         : letter == 'D' ? 3
                                                                         : 8));
    *shift = hg_shift_combine(*shift, more);
    return true;
}

static bool at_transform(const parser *p) {
    return p->token.kind == '~' || amount_letter(&p->token);
}

/* transform "@". Each part once. */
static bool parse_prefix(parser *p, circuit_shift *shift) {
    char seen[4] = {0};
    size_t parts = 0;
    *shift = (circuit_shift){0};
    while (at_transform(p)) {
        char letter = p->token.kind == '~' ? '~' : amount_letter(&p->token);
        if (memchr(seen, letter, parts))
            return unexpected_hint(p, "'@'", "each of R, D, T and ~ may stand once in a transform");
        seen[parts++] = letter;
        next(p);
        if (letter == '~')
            shift->mirror = 1;
        else if (!parse_amount(p, letter, false, shift))
            return false;
    }
    return expect(p, '@', "'@'");
}

static bool parse_postfix(parser *p, circuit_shift *shift) {
    while (accept(p, '^')) {
        char letter = amount_letter(&p->token);
        if (letter)
            next(p);
        else if (p->token.kind == CIRCUIT_WORD)
            return unexpected(p, "R, D, T, '+' or '-'");
        if (!parse_amount(p, letter ? letter : 'T', true, shift)) return false;
    }
    if (accept(p, '~')) shift->mirror ^= 1;
    return true;
}

/* ---- targets ---- */

/* A number of one or two digits up to `most`. */
static bool parse_index(parser *p, const char *what, const char *range_text, uint32_t most,
                        uint8_t *index) {
    const circuit_token t = p->token;
    if (t.kind != CIRCUIT_NUMBER) return unexpected(p, what);
    uint32_t value = 0;
    for (uint32_t i = 0; i < t.length && value <= most; i++)
        value = value * 10 + (uint32_t)(t.text[i] - '0');
    if (value > most) {
        hg_circuit_report(p->report, "N07", t.line, t.column, t.length, NULL,
                          "%s %.*s%s out of range [0..%u]", range_text,
                          t.length > SHOWN_BYTES ? SHOWN_BYTES : (int)t.length, t.text,
                          t.length > SHOWN_BYTES ? "…" : "", (unsigned)most);
        value = 0;
    } else if (t.length > 2) {
        return unexpected_hint(p, what, "at most two digits");
    }
    *index = (uint8_t)value;
    next(p);
    return true;
}

static bool parse_class_index(parser *p, uint8_t *cls) {
    return parse_index(p, "a class index", "Class index", HG_MAX_CLASSES - 1, cls);
}

/* The part of a sigil behind its `c`. */
static bool parse_sigil_rest(parser *p, circuit_sigil *sigil) {
    uint8_t page = 0;
    sigil->page = -1;
    if (!parse_class_index(p, &sigil->cls) || !parse_postfix(p, &sigil->postfix)) return false;
    if (!accept(p, '@')) return true;
    if (!parse_index(p, "a page", "Page", HG_MAX_CLASS_PAGES - 1, &page)) return false;
    sigil->page = (int8_t)page;
    return true;
}

static bool parse_c(parser *p) {
    if (!is_word(&p->token, "c")) return unexpected(p, "a class (c00 … c95)");
    next(p);
    return true;
}

static bool parse_sigil(parser *p, circuit_sigil *sigil) {
    return parse_c(p) && parse_sigil_rest(p, sigil);
}

static bool parse_range(parser *p, circuit_item *item) {
    circuit_token start = p->token;
    uint64_t errors = p->report->errors;
    if (!parse_class_index(p, &item->sigils[0].cls) || !expect(p, CIRCUIT_DOTS, "'..'") ||
        !parse_class_index(p, &item->sigils[1].cls))
        return false;
    unsigned from = item->sigils[0].cls, to = item->sigils[1].cls;
    if (p->report->errors == errors && from >= to)
        hg_circuit_report(p->report, "N07", start.line, start.column, (uint32_t)(p->end - start.at),
                          NULL, "Invalid range [%u..%u]: Start %u must be less than end %u", from,
                          to, from, to);
    if (!expect(p, ']', "']'") || !parse_postfix(p, &item->sigils[0].postfix)) return false;
    item->sigils[1].postfix = item->sigils[0].postfix;
    item->sigils[0].page = item->sigils[1].page = -1;
    item->target = TARGET_RANGE;
    return true;
}

static bool parse_target(parser *p, circuit_item *item) {
    if (!parse_c(p)) return false;
    if (accept(p, '[')) return parse_range(p, item);
    item->target = TARGET_SINGLE;
    if (!parse_sigil_rest(p, &item->sigils[0])) return false;
    if (p->token.kind == CIRCUIT_ARROW || p->token.kind == CIRCUIT_EXCHANGE) {
        item->target = p->token.kind == CIRCUIT_ARROW ? TARGET_COPY : TARGET_SWAP;
        next(p);
        return parse_sigil(p, &item->sigils[1]);
    }
    if (!accept(p, '[')) return true;
    item->target = TARGET_TRIPLE;
    return parse_sigil(p, &item->sigils[1]) && expect(p, ',', "','") &&
           parse_sigil(p, &item->sigils[2]) && expect(p, ']', "']'");
}

/* ---- operations ---- */

static const char VARIANTS_OFF[] =
    "variants such as merge.mul are an extension that the option variants turns on";

static bool parse_variant(parser *p, circuit_item *item) {
    if (p->token.kind == '.' && !p->variants) return unexpected_hint(p, "'@'", VARIANTS_OFF);
    if (!accept(p, '.')) return true;
    bool merge = item->generator == GENERATOR_MERGE;
    uint32_t first = merge ? HG_MERGE_ADD : HG_SPLIT_SUB,
             last = merge ? HG_MERGE_GELU : HG_SPLIT_DIV;
    for (uint32_t v = first; v <= last; v++)
        if (is_word(&p->token, hg_circuit_variant_name(v))) {
            item->variant = (uint8_t)v;
            next(p);
            return true;
        }
    if (p->token.kind != CIRCUIT_WORD) return unexpected(p, "a variant");
    hg_circuit_report(
        p->report, "N01", p->token.line, p->token.column, p->token.length,
        merge ? "variants are add, mul, min, max, abs, exp, log, sqrt, sigmoid, tanh and gelu"
              : "variants are sub and div",
        "Invalid variant name: %.*s",
        p->token.length > SHOWN_BYTES ? SHOWN_BYTES : (int)p->token.length, p->token.text);
    return false;
}

/* `(0.5)` behind scale. The text between the parentheses is a literal of the element type, which is
 * known when it is compiled. */
static bool parse_constant(parser *p, circuit_item *item) {
    const circuit_token open = p->token;
    if (open.kind != '(') return unexpected_hint(p, "'('", "write scale(0.5)@c01");
    const char *start = open.text + 1, *end = p->lexer.text + p->lexer.length, *at = start;
    while (at < end &&
           ((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
            (*at >= 'A' && *at <= 'Z') || strchr("+-._", *at)) &&
           *at)
        at++;
    size_t length = (size_t)(at - start);
    if (!length || length > MOST_CONSTANT || at == end || *at != ')') {
        next(p);
        return unexpected_hint(p, "a number and ')'", "write scale(0.5)@c01");
    }
    item->constant = hg_circuit_keep_constant(p->circuit, start, length);
    if (item->constant == UINT32_MAX) return no_memory(p);
    p->lexer.at = (size_t)(at + 1 - p->lexer.text);
    p->token.length = (uint32_t)(length + 2);
    next(p);
    return true;
}

static bool parse_generator(parser *p, circuit_item *item) {
    if (p->token.kind != CIRCUIT_WORD) return unexpected(p, "an operation or '('");
    uint32_t g = 0;
    while (g < GENERATOR_COUNT && !is_word(&p->token, hg_generator_names[g])) g++;
    if (g == GENERATOR_COUNT) {
        char shown[SHOWN_BYTES + 1];
        snprintf(shown, sizeof shown, "%.*s", (int)p->token.length, p->token.text);
        hg_circuit_report(
            p->report, "N01", p->token.line, p->token.column, p->token.length,
            "generators are mark, copy, swap, merge, split, scale, fma, quote and evaluate",
            "Invalid generator name: %s", shown);
        return false;
    }
    item->generator = (uint8_t)g;
    item->variant = g == GENERATOR_SPLIT ? HG_SPLIT_SUB : HG_MERGE_ADD;
    next(p);
    if ((g == GENERATOR_MERGE || g == GENERATOR_SPLIT) && !parse_variant(p, item)) return false;
    if (g == GENERATOR_SCALE && !parse_constant(p, item)) return false;
    return expect(p, '@', "'@'");
}

/* ---- terms ---- */

static bool add_item(parser *p, const circuit_item *item) {
    circuit_items *items = &p->circuit->items;
    bool many_terms = item->kind == ITEM_TERM && p->circuit->original_ops >= MOST_TERMS;
    if (many_terms || items->count >= MOST_ITEMS) {
        hg_circuit_report(p->report, "S05", item->line, item->column, item->length, NULL,
                          "Circuit too long: at most %d %s are allowed",
                          many_terms ? (int)MOST_TERMS : (int)MOST_ITEMS,
                          many_terms ? "operations" : "operations, parentheses and branches");
        return false;
    }
    circuit_item *slot = hg_vec_push(items);
    if (!slot) return no_memory(p);
    *slot = *item;
    if (item->kind == ITEM_TERM) p->circuit->original_ops++;
    return true;
}

static bool open_group(parser *p, circuit_item *item) {
    item->kind = ITEM_OPEN;
    uint32_t *slot = hg_vec_push(&p->open);
    if (!slot) return no_memory(p);
    *slot = (uint32_t)p->circuit->items.count;
    next(p);
    return add_item(p, item);
}

static bool close_group(parser *p) {
    circuit_item item = {
        .kind = ITEM_CLOSE, .line = p->token.line, .column = p->token.column, .length = 1};
    item.match = p->open.data[--p->open.count];
    p->circuit->items.data[item.match].match = (uint32_t)p->circuit->items.count;
    next(p);
    return add_item(p, &item);
}

/* A term up to its `(` or to its end. *opened: a term has to follow. */
static bool parse_term(parser *p, bool *opened) {
    circuit_item item = {
        .line = p->token.line, .column = p->token.column, .length = p->token.length};
    size_t start = p->token.at;
    *opened = false;
    if (at_transform(p) && !parse_prefix(p, &item.prefix)) return false;
    if (p->token.kind == '(') {
        *opened = true;
        return open_group(p, &item);
    }
    item.line = p->token.line, item.column = p->token.column, start = p->token.at;
    if (!parse_generator(p, &item) || !parse_target(p, &item)) return false;
    item.length = (uint32_t)(p->end - start);
    return add_item(p, &item);
}

/* What stands between terms. *more: a term has to follow. */
static bool parse_between(parser *p, bool *more) {
    *more = true;
    if (accept(p, '.')) return true;
    if (p->token.kind == CIRCUIT_PARALLEL) {
        circuit_item item = {.kind = ITEM_BRANCH,
                             .line = p->token.line,
                             .column = p->token.column,
                             .length = p->token.length};
        next(p);
        return add_item(p, &item);
    }
    *more = false;
    if (p->token.kind == ')' && p->open.count) return close_group(p);
    if (p->token.kind == CIRCUIT_END && !p->open.count) return true;
    return unexpected(p, p->open.count ? "'.', '||' or ')'" : "'.', '||' or end of input");
}

static void parse_phrase(parser *p) {
    bool term = true;
    if (at_transform(p) && !parse_prefix(p, &p->circuit->phrase)) return;
    while (!p->report->out_of_memory) {
        bool good = term ? parse_term(p, &term) : parse_between(p, &term);
        if (!good || (!term && p->token.kind == CIRCUIT_END && !p->open.count)) return;
    }
}

void hg_circuit_parse_text(hg_circuit *circuit, const char *text, size_t length,
                           const hg_circuit_options *options, circuit_report *report) {
    if (length > HG_MAX_SOURCE_BYTES) {
        hg_circuit_report(report, "S05", 0, 0, 0, NULL,
                          "Circuit of %zu bytes: at most %d are allowed", length,
                          HG_MAX_SOURCE_BYTES);
        return;
    }
    parser p = {.circuit = circuit, .report = report, .variants = options && options->variants};
    hg_circuit_lexer_init(&p.lexer, text, length);
    next(&p);
    parse_phrase(&p);
    hg_vec_free(&p.open);
}
