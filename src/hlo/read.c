/* StableHLO's text as operations: the pretty form of the operations that have one, and the generic
 * form of all. One permissive reader for both: what stands in front of the types is operands,
 * attributes, words and regions in any order, so that an operation needs no grammar of its own. */
#include "hlo/lexer.h"
#include "hlo/operations.h"
#include "base/decimal.h"
#include <stdio.h>
#include <string.h>

/* A name in scope: a value of the innermost region that has it. */
typedef struct known_name {
    mlir_word word;
    uint32_t value, count; /* the first result, and how many */
    uint32_t shadowed;     /* entry + 1 of the same slot before it */
} known_name;

typedef struct reader {
    mlir_lexer l;
    mlir_module *m;
    hg_diagnostics *d;
    bool failed;
    uint32_t depth, brackets; /* regions and brackets, brackets of attributes */
    HG_VEC(known_name) names;
    uint32_t slots[4096]; /* entry + 1 */
    HG_VEC(int64_t) items;
    HG_VEC(uint32_t) list;
    HG_VEC(mlir_type) types;
} reader;

/* ---- small things ---- */

static void *make(reader *r, size_t bytes) {
    void *memory = hg_arena_alloc(&r->m->arena, bytes);
    if (!memory && !r->failed) HG_IGNORE(hg_fail_memory()); /* mlir_read returns it */
    r->failed |= !memory;
    return memory;
}

/* A copy that stays; NULL for none. */
static void *keep(reader *r, const void *data, size_t bytes) {
    void *copy = bytes ? make(r, bytes) : NULL;
    if (copy) memcpy(copy, data, bytes);
    return copy;
}

static void no_memory(reader *r) {
    if (!r->failed) HG_IGNORE(hg_fail_memory()); /* mlir_read returns it */
    r->failed = true;
}

#define mistake(r, at, ...)                                                          \
    do {                                                                             \
        if (!(r)->failed) HG_IGNORE(mlir_mistake((r)->d, "S02", (at), __VA_ARGS__)); \
        (r)->failed = true;                                                          \
    } while (0)

static void expected(reader *r, const char *what) {
    const mlir_word *t = &r->l.token;
    if (r->l.kind == MLIR_END)
        mistake(r, t, "expected %s, got the end of the text", what);
    else if (r->l.kind == MLIR_BAD && t->length > 1)
        mistake(r, t, "expected %s, got a string or name without an end", what);
    else
        mistake(r, t, "expected %s, got '%.*s'", what, t->length > 60 ? 60 : (int)t->length,
                t->text);
}

static void next(reader *r) {
    if (!r->failed) mlir_next(&r->l);
    if (r->failed) r->l.kind = MLIR_END;
}
static bool at_word(const reader *r, const char *text) {
    return r->l.kind == MLIR_WORD && mlir_is(&r->l.token, text);
}
static bool take(reader *r, int kind) {
    if (r->failed || r->l.kind != kind) return false;
    next(r);
    return true;
}
static bool take_word(reader *r, const char *text) {
    if (!at_word(r, text)) return false;
    next(r);
    return true;
}
static void need(reader *r, int kind, const char *what) {
    if (!r->failed && !take(r, kind)) expected(r, what);
}
static mlir_word need_token(reader *r, int kind, const char *what) {
    mlir_word token = r->l.token;
    need(r, kind, what);
    return token;
}

/* What stands in brackets of any kind, also inside one another. */
static void skip_balanced(reader *r) {
    uint32_t open = 0;
    do {
        if (r->l.kind == '(' || r->l.kind == '[' || r->l.kind == '{' || r->l.kind == '<') open++;
        if (r->l.kind == ')' || r->l.kind == ']' || r->l.kind == '}' || r->l.kind == '>') open--;
        if (r->l.kind == MLIR_END && !r->failed) expected(r, "a closing bracket");
        next(r);
    } while (open && !r->failed);
}

/* A value that nobody reads, up to the comma or bracket behind it. */
static void skip_value(reader *r) {
    while (!r->failed && r->l.kind != ',' && r->l.kind != '}' && r->l.kind != ')' &&
           r->l.kind != '>' && r->l.kind != ']' && r->l.kind != MLIR_END) {
        if (r->l.kind == '(' || r->l.kind == '[' || r->l.kind == '{' || r->l.kind == '<')
            skip_balanced(r);
        else
            next(r);
    }
}

static void skip_location(reader *r) {
    if (at_word(r, "loc")) {
        next(r);
        skip_balanced(r);
    }
}

/* ---- types ---- */

static const struct element {
    const char *name;
    uint8_t type;
    bool truth;
} ELEMENTS[] = {
    {"f32", HG_TYPE_F32, false},   {"f64", HG_TYPE_F64, false},  {"f16", HG_TYPE_F16, false},
    {"bf16", HG_TYPE_BF16, false}, {"i1", HG_TYPE_U8, true},     {"i8", HG_TYPE_I8, false},
    {"i16", HG_TYPE_I16, false},   {"i32", HG_TYPE_I32, false},  {"i64", HG_TYPE_I64, false},
    {"ui8", HG_TYPE_U8, false},    {"ui16", HG_TYPE_U16, false}, {"ui32", HG_TYPE_U32, false},
    {"ui64", HG_TYPE_U64, false},  {"index", HG_TYPE_I64, false}};

static void set_element(reader *r, const mlir_word *at, mlir_type *type) {
    for (size_t i = 0; i < HG_COUNT_OF(ELEMENTS); i++)
        if (mlir_is(at, ELEMENTS[i].name)) {
            type->element = ELEMENTS[i].type;
            type->truth = ELEMENTS[i].truth;
            return;
        }
    mistake(r, at,
            "elements of type '%.*s' are not read: expected f16, bf16, f32, f64, i1, i8 to i64, "
            "ui8 to ui64 or complex of f32 or f64",
            at->length > 40 ? 40 : (int)at->length, at->text);
}

/* "2x3xf32": the lexer's tokens 2, x3xf32 are one word here. */
static void read_shape(reader *r, mlir_type *type) {
    mlir_lexer *l = &r->l;
    const char *at = l->token.text;
    mlir_word word = l->token;
    while (at < l->end && *at >= '0' && *at <= '9' && !r->failed) {
        uint64_t extent;
        size_t digits = hg_read_digits(at, (size_t)(l->end - at), &extent);
        if (!digits || extent >> 40 || type->rank == MLIR_MAX_RANK) {
            word.length = (uint32_t)digits;
            mistake(r, &word,
                    digits && !(extent >> 40)
                        ? "expected at most %d extents, got more"
                        : "expected an extent below 2^40 (and %d at most), got more",
                    MLIR_MAX_RANK);
            return;
        }
        at += digits;
        if (at >= l->end || *at != 'x') {
            mistake(r, &word, "expected 'x' behind an extent");
            return;
        }
        at++;
        type->dims[type->rank++] = extent;
    }
    if (at < l->end && (*at == '?' || *at == '*')) {
        mistake(r, &word,
                "a tensor without a fixed shape is not read: expected numbers as extents");
        return;
    }
    l->column += (uint32_t)(at - l->token.text) - (uint32_t)(l->at - l->token.text);
    l->at = at;
    next(r);
}

static void read_tensor(reader *r, mlir_type *type) {
    uint64_t count;
    mlir_word start = r->l.token;
    *type = (mlir_type){.rank = 0};
    if (!at_word(r, "tensor")) {
        expected(r, "a type tensor<…>");
        return;
    }
    next(r);
    if (r->l.kind != '<') expected(r, "'<'");
    if (r->failed) return;
    next(r);
    read_shape(r, type);
    type->complex = take_word(r, "complex");
    if (type->complex) need(r, '<', "'<'");
    mlir_word element = need_token(r, MLIR_WORD, "the type of elements");
    if (r->failed) return;
    set_element(r, &element, type);
    if (type->complex && type->element != HG_TYPE_F32 && type->element != HG_TYPE_F64)
        mistake(r, &element, "expected complex of f32 or f64");
    if (type->complex) need(r, '>', "'>'");
    if (take(r, ',')) skip_value(r); /* an encoding */
    need(r, '>', "'>'");
    if (!r->failed && !mlir_elements(type, &count))
        mistake(r, &start, "expected a tensor of at most 2^40 elements");
}

/* "T, T" or "(T, T)", appended to r->types. */
static void read_types(reader *r) {
    bool group = take(r, '(');
    if (group && take(r, ')')) return;
    do {
        mlir_type type, *to;
        read_tensor(r, &type);
        if (r->failed) return;
        if (!(to = hg_vec_push(&r->types))) {
            no_memory(r);
            return;
        }
        *to = type;
        if (group && r->l.kind == '{') skip_balanced(r); /* attributes of a result */
        skip_location(r);
    } while (take(r, ','));
    if (group) need(r, ')', "')'");
}

/* ---- names ---- */

static uint32_t slot_of(const mlir_word *w) {
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < w->length; i++) h = (h ^ (uint8_t)w->text[i]) * 16777619u;
    return h % 4096;
}

static uint32_t add_values(reader *r, uint32_t count) {
    uint32_t first = (uint32_t)r->m->values.count;
    for (uint32_t i = 0; i < count && !r->failed; i++)
        if (!hg_vec_push(&r->m->values)) no_memory(r);
    return first;
}

static void declare(reader *r, const mlir_word *word, uint32_t value, uint32_t count) {
    known_name *n = r->failed ? NULL : hg_vec_push(&r->names);
    if (!n) {
        no_memory(r);
        return;
    }
    uint32_t *slot = &r->slots[slot_of(word)];
    *n = (known_name){*word, value, count, *slot};
    *slot = (uint32_t)r->names.count;
}

static void leave_scope(reader *r, uint64_t names) {
    while (r->names.count > names) {
        known_name *n = &r->names.data[--r->names.count];
        r->slots[slot_of(&n->word)] = n->shadowed;
    }
}

/* %x or %x#1, the token is there. MLIR_NONE after a mistake. */
static uint32_t read_use(reader *r) {
    mlir_word word = r->l.token;
    const known_name *found = NULL;
    uint64_t which = 0;
    for (uint32_t i = r->slots[slot_of(&word)]; i && !found; i = r->names.data[i - 1].shadowed) {
        const known_name *n = &r->names.data[i - 1];
        if (n->word.length == word.length && !memcmp(n->word.text, word.text, word.length))
            found = n;
    }
    next(r);
    if (take(r, '#')) {
        mlir_word number = need_token(r, MLIR_NUMBER, "the number of a result");
        if (!hg_read_digits(number.text, number.length, &which)) which = UINT64_MAX;
    }
    if (!found)
        mistake(r, &word, "'%%%.*s' is not a value that is known here",
                word.length > 60 ? 60 : (int)word.length, word.text);
    else if (which >= found->count)
        mistake(r, &word, "'%%%.*s' has %u results, the one asked for is beyond them",
                word.length > 60 ? 60 : (int)word.length, word.text, (unsigned)found->count);
    if (r->failed) return 0;
    uint32_t value = found->value + (uint32_t)which;
    r->m->values.data[value].uses++;
    return value;
}

/* ---- attributes ---- */

static void add_item(reader *r, int64_t value) {
    int64_t *item = r->failed ? NULL : hg_vec_push(&r->items);
    if (item)
        *item = value;
    else
        no_memory(r);
}

static int64_t integer(const mlir_word *w) {
    bool minus = w->length && *w->text == '-';
    uint64_t value = 0;
    hg_read_digits(w->text + minus, w->length - minus, &value);
    if (value > INT64_MAX) value = INT64_MAX;
    return minus ? -(int64_t)value : (int64_t)value;
}

/* Integers, true and false, and in lists of dimensions b f i o as -1 to -4; what else stands there
 * is skipped. Up to the bracket that closes. */
static void read_items(reader *r, int close) {
    uint32_t open = 1;
    while (open && !r->failed) {
        static const char LETTERS[] = "bfio";
        const mlir_word *t = &r->l.token;
        const char *letter = t->length == 1 ? strchr(LETTERS, *t->text) : NULL;
        if (r->l.kind == MLIR_END) expected(r, "a closing bracket");
        if (r->l.kind == '[') open++;
        if (r->l.kind == ']' || r->l.kind == '>') open--;
        if (r->l.kind == MLIR_NUMBER) add_item(r, integer(t));
        if (r->l.kind == MLIR_WORD && letter) add_item(r, -1 - (int64_t)(letter - LETTERS));
        if (at_word(r, "true") || at_word(r, "false")) add_item(r, *t->text == 't');
        if (!open && r->l.kind != close) expected(r, close == ']' ? "']'" : "'>'");
        bool skip = r->l.kind == '#' || r->l.kind == '{' || r->l.kind == '(';
        if (r->l.kind == '#') {
            next(r);
            while (r->l.kind == MLIR_WORD) next(r);
        }
        if (skip && (r->l.kind == '<' || r->l.kind == '{' || r->l.kind == '('))
            skip_balanced(r);
        else if (!skip)
            next(r);
    }
}

static void read_attributes(reader *r, mlir_op *op, int close);
static void read_dense(reader *r, mlir_op *op);

/* Fills in the value; r->items has the integers. */
static void read_attribute_value(reader *r, mlir_op *op, mlir_attribute *a) {
    a->word = r->l.token;
    a->list = r->l.kind == '[' || r->l.kind == MLIR_WORD;
    if (take(r, '[')) {
        read_items(r, ']');
    } else if (r->l.kind == '{') {
        next(r);
        read_attributes(r, op, '}');
    } else if (take(r, '#')) {
        need(r, MLIR_WORD, "the name of an attribute");
        if (take(r, '<')) {
            a->word = r->l.token; /* #stablehlo<comparison_direction LT>: the last word */
            read_attributes(r, op, '>');
            a->word = op->word_count ? op->word[op->word_count - 1] : a->word;
        }
    } else if (r->l.kind == MLIR_NUMBER) {
        add_item(r, integer(&r->l.token));
        next(r);
    } else if (take_word(r, "array") || take_word(r, "dense")) {
        need(r, '<', "'<'");
        if (r->l.kind == MLIR_WORD && *r->l.token.text == 'i') next(r);
        take(r, ':');
        read_items(r, '>');
    } else if (at_word(r, "true") || at_word(r, "false")) {
        add_item(r, *a->word.text == 't');
        a->list = false;
        next(r);
    } else if (r->l.kind == MLIR_WORD || r->l.kind == MLIR_STRING || r->l.kind == MLIR_SYMBOL) {
        next(r);
        if (r->l.kind == '<') skip_balanced(r);
    } else {
        expected(r, "the value of an attribute");
    }
    if (r->brackets && take(r, ':')) skip_value(r); /* its type */
}

static void add_attribute(mlir_op *op, mlir_attribute *a) {
    mlir_attribute **to = op->last_attribute ? &op->last_attribute->next : &op->attributes;
    *to = op->last_attribute = a;
}

/* Behind KEY: the "=", its value, and further ones behind x and ->. */
static void read_attribute(reader *r, mlir_op *op, const mlir_word *key) {
    static const char *const IGNORED[] = {"mhlo.", "sdy.", "jax.", "tf.", "xla."};
    need(r, '=', "'='");
    if (mlir_is(key, "value") && at_word(r, "dense")) { /* the generic form of a constant */
        read_dense(r, op);
        return;
    }
    for (size_t i = 0; i < HG_COUNT_OF(IGNORED); i++)
        if (key->length > strlen(IGNORED[i]) &&
            !memcmp(key->text, IGNORED[i], strlen(IGNORED[i]))) {
            skip_value(r);
            return;
        }
    if (mlir_is(key, "backend_config") || mlir_is(key, "operand_layouts") ||
        mlir_is(key, "result_layouts") || mlir_is(key, "composite_attributes")) {
        skip_value(r);
        return;
    }
    do {
        mlir_attribute *a = make(r, sizeof *a);
        if (!a) return;
        uint64_t before = r->items.count;
        a->key = *key;
        add_attribute(op, a);
        read_attribute_value(r, op, a);
        if (r->failed) return;
        a->count = (uint32_t)(r->items.count - before);
        a->items = keep(r, r->items.data ? r->items.data + before : NULL,
                        a->count * sizeof *a->items);
        r->items.count = before;
    } while (take_word(r, "x") || take(r, MLIR_ARROW));
}

static void add_word(reader *r, mlir_op *op) {
    if (op->word_count == HG_COUNT_OF(op->word)) /* the last ones count */
        memmove(op->word, op->word + 1, --op->word_count * sizeof *op->word);
    op->word[op->word_count++] = r->l.token;
    const mlir_row *row = mlir_row_named(&r->l.token);
    if (row) op->applies = row;
    next(r);
}

/* KEY = VALUE, KEY, … up to the bracket that closes. */
static void read_attributes(reader *r, mlir_op *op, int close) {
    if (++r->depth > MLIR_MAX_DEPTH)
        mistake(r, &r->l.token, "more than %d brackets inside one another", MLIR_MAX_DEPTH);
    r->brackets++;
    while (!r->failed && !take(r, close)) {
        mlir_word key = r->l.token;
        if (r->l.kind == ',' || r->l.kind == '(') {
            if (r->l.kind == '(')
                skip_balanced(r);
            else
                next(r);
            continue;
        }
        if (r->l.kind != MLIR_WORD && r->l.kind != MLIR_STRING) {
            expected(r, "the name of an attribute");
            return;
        }
        mlir_lexer before = r->l;
        next(r);
        if (r->l.kind == '=') {
            read_attribute(r, op, &key);
        } else {
            r->l = before;
            add_word(r, op);
        }
    }
    r->brackets--;
    r->depth--;
}

/* ---- constants ---- */

/* DIGITS, DIGITS.DIGITS, with e+DIGITS behind it. */
static bool is_decimal(const char *text, size_t length) {
    size_t at = 0, start;
    while (at < length && is_digit(text[at])) at++;
    if (at < length && text[at] == '.') at++;
    while (at < length && is_digit(text[at])) at++;
    if (at == length) return true;
    if (text[at] != 'e' && text[at] != 'E') return false;
    at++;
    if (at < length && (text[at] == '-' || text[at] == '+')) at++;
    start = at;
    while (at < length && is_digit(text[at])) at++;
    return at == length && at > start;
}

/* A number of the text as an element of the type. */
static void put_number(reader *r, const mlir_word *w, const mlir_type *type, bool is_float,
                       uint8_t *to) {
    bool minus = w->length && *w->text == '-',
         hex = w->length > 2u + minus && w->text[1 + minus] == 'x';
    const char *text = w->text + minus;
    size_t length = w->length - minus, bytes = hg_type_size_bytes((hg_type)type->element);
    uint64_t bits = 0, most = type->truth ? 1 : UINT64_MAX >> (64 - 8 * bytes);
    int shown = w->length > 40 ? 40 : (int)w->length;
    bool fits = true;
    if (hex) {
        for (size_t i = 2; i < length; i++) {
            fits &= bits >> 60 == 0;
            bits = bits << 4 | (uint64_t)hex_digit(text[i]);
        }
    } else if (is_float && !is_decimal(text, length)) {
        mistake(r, w, "expected a number, got '%.*s'", shown, w->text);
    } else if (is_float) {
        const hg_float_format *format = hg_float_format_of((hg_type)type->element);
        size_t digits = 0;
        while (digits < length && is_digit(text[digits])) digits++;
        if (!hg_float_from_text(text, length, digits == length ? HG_NUMBER_DECIMAL : HG_NUMBER_REAL,
                                format, &bits))
            bits = format->infinity;
        if (minus) bits |= UINT64_C(1) << (bytes * 8 - 1);
    } else if (hg_read_digits(text, length, &bits) != length) {
        mistake(r, w, "expected an integer, got '%.*s'", shown, w->text);
    }
    fits &= bits <= (minus && !is_float && !type->truth ? most / 2 + 1 : most);
    if (!fits) mistake(r, w, "'%.*s' does not fit the type of the elements", shown, w->text);
    if (minus && !is_float && !type->truth) bits = 0 - bits; /* of i1 -1 is true */
    for (size_t i = 0; i < bytes; i++) to[i] = (uint8_t)(bits >> 8 * i);
}

/* "0x0A0B…": bytes in order; of i1 one or eight elements a byte. */
static void put_bytes(reader *r, const mlir_word *w, const mlir_type *type, uint64_t count,
                      mlir_constant *c) {
    uint64_t size = hg_type_size_bytes((hg_type)type->element) << type->complex;
    uint64_t given = w->length > 2 ? (w->length - 2) / 2 : 0;
    bool packed = type->truth && given != count && given == (count + 7) / 8;
    bool good = w->length >= 2 && w->length % 2 == 0 && w->text[0] == '0' && w->text[1] == 'x';
    c->splat = !packed && given == size && count != 1;
    if (!good || !(packed || c->splat || (given == count * size && count))) {
        mistake(r, w, "expected \"0x…\" with %llu bytes, got %llu",
                (unsigned long long)(count * size), (unsigned long long)given);
        return;
    }
    if (!(c->bytes = make(r, (size_t)(packed ? count : given)))) return;
    for (uint64_t i = 0; i < given && !r->failed; i++) {
        int high = hex_digit(w->text[2 + 2 * i]), low = hex_digit(w->text[3 + 2 * i]);
        uint8_t byte = (uint8_t)(high * 16 + low);
        if (high < 0 || low < 0) mistake(r, w, "expected hexadecimal digits");
        if (!packed) c->bytes[i] = type->truth ? byte != 0 : byte;
        for (uint64_t k = 8 * i; packed && k < 8 * i + 8 && k < count; k++)
            c->bytes[k] = byte >> (k % 8) & 1;
    }
}

/* dense<…> : TYPE. Elements are read before their type is known: their words are kept. */
static void read_dense(reader *r, mlir_op *op) {
    HG_VEC(mlir_word) words = {0};
    mlir_word start = r->l.token, *word;
    bool is_string = false, nested = false;
    uint32_t open = 1;
    if (!take_word(r, "dense")) expected(r, "dense<…>");
    need(r, '<', "'<'");
    while (open && !r->failed) {
        int kind = r->l.kind;
        bool truth = at_word(r, "true") || at_word(r, "false");
        bool element = kind == MLIR_NUMBER || kind == MLIR_STRING || truth;
        is_string |= kind == MLIR_STRING;
        nested |= kind == '[';
        if (kind == '[' || kind == '(') open++;
        if (kind == ']' || kind == ')' || kind == '>') open--;
        word = element ? hg_vec_push(&words) : NULL;
        if (word) *word = r->l.token;
        if (element && !word) no_memory(r);
        if (!element && kind != '[' && kind != '(' && kind != ']' && kind != ')' && kind != '>' &&
            kind != ',')
            expected(r, "elements of dense<…>");
        next(r);
    }
    if (r->l.kind == '{' && !r->failed) skip_balanced(r);
    need(r, ':', "':'");
    mlir_type type;
    uint64_t count = 0;
    read_tensor(r, &type);
    uint64_t parts = UINT64_C(1) << type.complex;
    uint8_t size = (uint8_t)hg_type_size_bytes((hg_type)type.element);
    bool is_float = type.element == HG_TYPE_F16 || type.element == HG_TYPE_BF16 ||
                    type.element == HG_TYPE_F32 || type.element == HG_TYPE_F64;
    if (!r->failed) mlir_elements(&type, &count);
    op->types = keep(r, &type, sizeof type);
    op->constant.splat = !nested && count != 1;
    if (r->failed || (!words.count && !count)) {
        op->constant.splat = false;
    } else if (is_string) {
        put_bytes(r, &words.data[0], &type, count, &op->constant);
    } else if (words.count != (op->constant.splat ? 1 : count) * parts) {
        char buffer[240];
        mistake(r, &start, "%s is %llu elements, dense<…> has %llu numbers",
                mlir_type_text(&type, buffer), (unsigned long long)count,
                (unsigned long long)words.count);
    } else if ((op->constant.bytes = make(r, (size_t)words.count * size))) {
        for (uint64_t i = 0; i < words.count && !r->failed; i++) {
            const mlir_word *w = &words.data[i];
            if (type.truth && (mlir_is(w, "true") || mlir_is(w, "false")))
                op->constant.bytes[i * size] = *w->text == 't';
            else
                put_number(r, w, &type, is_float, op->constant.bytes + i * size);
        }
    }
    hg_vec_free(&words);
}

/* ---- operations ---- */

static void read_region(reader *r, mlir_region *region);

static mlir_region *add_region(reader *r, mlir_op *op) {
    mlir_region *region = make(r, sizeof *region),
                **to = op->last_region ? &op->last_region->next : &op->regions;
    if (region) *to = op->last_region = region;
    return region;
}

/* "%a: T, %b: T)" of a region, a function or a block, up to the bracket. */
static void read_arguments(reader *r) {
    while (!r->failed && !take(r, ')')) {
        mlir_word word = need_token(r, MLIR_VALUE, "an argument %NAME: TYPE");
        need(r, ':', "':'");
        mlir_type type;
        read_tensor(r, &type);
        if (r->l.kind == '{') skip_balanced(r);
        skip_location(r);
        uint32_t value = add_values(r, 1), *to = r->failed ? NULL : hg_vec_push(&r->list);
        if (!to) {
            no_memory(r);
            return;
        }
        *to = value;
        r->m->values.data[value].type = type;
        r->m->values.data[value].typed = true;
        declare(r, &word, value, 1);
        if (r->l.kind != ')') need(r, ',', "',' or ')'");
    }
}

static void take_list(reader *r, uint64_t from, uint32_t **list, uint32_t *count) {
    *count = (uint32_t)(r->list.count - from);
    *list = keep(r, r->list.data ? r->list.data + from : NULL, *count * sizeof **list);
    r->list.count = from;
}

/* a1 b1 a2 b2 … becomes a1 a2 … b1 b2 … */
static void split_pairs(reader *r, uint32_t *list, uint32_t count) {
    uint32_t half = count / 2, *old = count ? keep(r, list, count * sizeof *list) : NULL;
    for (uint32_t i = 0; old && i < half; i++) {
        list[i] = old[2 * i];
        list[half + i] = old[2 * i + 1];
    }
}

/* reducer(%a: T, %b: T) (…) { … }: pairs (accumulator, element); the generic form has all
 * accumulators first. */
static void read_reducer(reader *r, mlir_op *op) {
    mlir_region *region = add_region(r, op);
    uint64_t from = r->list.count, names = r->names.count;
    while (take(r, '(')) read_arguments(r);
    if (!region || r->failed) return;
    take_list(r, from, &region->args, &region->arg_count);
    split_pairs(r, region->args, region->arg_count);
    need(r, '{', "'{'");
    read_region(r, region);
    leave_scope(r, names);
}

static void start_region(reader *r, mlir_op *op) {
    mlir_region *region = add_region(r, op);
    need(r, '{', "'{'");
    if (region) read_region(r, region);
}

/* [0:4, 0:6:2]: three items an axis. */
static void read_slice(reader *r, mlir_op *op) {
    mlir_attribute *a = make(r, sizeof *a);
    uint64_t before = r->items.count;
    while (!r->failed && !take(r, ']')) {
        for (int i = 0; i < 3; i++) {
            if (i == 2 && r->l.kind != ':') {
                add_item(r, 1);
                break;
            }
            if (i) need(r, ':', "':'");
            mlir_word number = need_token(r, MLIR_NUMBER, "a number");
            add_item(r, integer(&number));
        }
        if (r->l.kind != ']') need(r, ',', "',' or ']'");
    }
    if (!a || r->failed) return;
    a->key = (mlir_word){.text = "slice", .length = 5};
    a->count = (uint32_t)(r->items.count - before);
    a->items = keep(r, r->items.data ? r->items.data + before : NULL, a->count * sizeof *a->items);
    add_attribute(op, a);
    r->items.count = before;
}

/* What begins with a word in front of the types. */
static void read_word(reader *r, mlir_op *op) {
    mlir_word word = r->l.token;
    mlir_lexer before = r->l;
    next(r);
    if (mlir_is(&word, "init")) {
        need(r, ':', "':'");
    } else if (mlir_is(&word, "attributes")) {
    } else if (mlir_is(&word, "dense")) {
        r->l = before;
        read_dense(r, op);
    } else if (r->l.kind == '=') {
        read_attribute(r, op, &word);
    } else {
        r->l = before;
        add_word(r, op);
    }
}

/* %iterArg = %x of a while, %x of others. */
static void read_operand(reader *r, uint64_t *bound) {
    mlir_word word = r->l.token;
    mlir_lexer before = r->l;
    next(r);
    if (r->l.kind == '=') {
        next(r);
        if (r->l.kind != MLIR_VALUE) {
            expected(r, "a value");
            return;
        }
        uint32_t value = add_values(r, 1);
        declare(r, &word, value, 1);
        ++*bound;
    } else {
        r->l = before;
    }
    if (r->failed) return;
    uint32_t value = read_use(r), *to = r->failed ? NULL : hg_vec_push(&r->list);
    if (to) *to = value;
    if (!to) no_memory(r);
}

/* Up to the types: operands, attributes, words, regions. */
static void read_parts(reader *r, mlir_op *op, uint64_t *bound) {
    while (!r->failed && r->l.kind != ':') {
        switch (r->l.kind) {
        case ')':
        case ',':
        case '>':
        case '<': next(r); break;
        case '(':
            next(r);
            while (r->l.kind == '{' && !r->failed) {
                start_region(r, op);
                take(r, ',');
            }
            break;
        case '[':
            next(r);
            read_slice(r, op);
            break;
        case '{':
            next(r);
            read_attributes(r, op, '}');
            break;
        case MLIR_VALUE: read_operand(r, bound); break;
        case MLIR_SYMBOL:
            op->symbol = r->l.token;
            next(r);
            break;
        case MLIR_STRING: add_word(r, op); break;
        case MLIR_WORD: read_word(r, op); break;
        default: expected(r, "an operand, an attribute or ':'");
        }
        if (op->types && !op->generic) return; /* a constant: its type is behind dense<…> */
    }
}

static bool is_return(const mlir_word *name) {
    return mlir_is(name, "return") || mlir_is(name, "stablehlo.return") ||
           mlir_is(name, "func.return");
}

/* Operands against the types that stand for them: one for each, or one for all the last ones. */
static void check_operands(reader *r, const mlir_op *op, uint64_t from, uint64_t count, bool each) {
    char given[240], wanted[240];
    const mlir_word *name = &op->name;
    int length = name->length > 60 ? 60 : (int)name->length;
    if (r->failed) return;
    if (each && count != op->operand_count)
        mistake(r, name, "%.*s: %u operands, %llu types of them", length, name->text,
                (unsigned)op->operand_count, (unsigned long long)count);
    for (uint32_t i = 0; i < op->operand_count && count && !r->failed; i++) {
        const mlir_type *here = &r->types.data[from + (i < count ? i : count - 1)],
                        *is = &r->m->values.data[op->operands[i]].type;
        if (!mlir_same_type(is, here))
            mistake(r, name, "%.*s: operand %u is %s, the text says %s", length, name->text,
                    (unsigned)i, mlir_type_text(is, given), mlir_type_text(here, wanted));
    }
}

/* ": (T, T) -> T" or ": T, T": types of the results. */
static void read_signature(reader *r, mlir_op *op, uint32_t *count) {
    bool is_while = mlir_is(&op->name, "stablehlo.while");
    bool all = is_while || mlir_is(&op->name, "stablehlo.optimization_barrier");
    uint64_t from = r->types.count, first = from;
    need(r, ':', "':'");
    read_types(r);
    if (take(r, MLIR_ARROW)) {
        first = r->types.count;
        read_types(r);
        check_operands(r, op, from, first - from, true);
    } else if (r->types.count > from) {
        uint64_t given = r->types.count - from;
        bool told = is_while && given != op->operand_count;    /* read_while_regions says so */
        if (!told && !mlir_is(&op->name, "stablehlo.complex")) /* whose type is the result's alone
                                                                */
            check_operands(r, op, from, given, all || is_return(&op->name));
        if (!all) first = r->types.count - 1;
    }
    if (r->failed) return;
    *count = (uint32_t)(r->types.count - first);
    op->types = keep(r, r->types.data ? r->types.data + first : NULL, *count * sizeof *op->types);
    r->types.count = from;
}

/* cond { … } do { … } behind the types of a while. */
static void read_while_regions(reader *r, mlir_op *op, uint64_t bound, uint32_t types) {
    uint32_t args = op->operand_count;
    if (bound != args) mistake(r, &op->name, "expected %%NAME = %%VALUE for each operand");
    if (types != args)
        mistake(r, &op->name, "%u operands have names, %u have types", (unsigned)args,
                (unsigned)types);
    uint32_t *values = make(r, (args + 1) * sizeof *values);
    for (uint32_t i = 0; values && i < args && !r->failed; i++) {
        values[i] = r->names.data[r->names.count - args + i].value;
        r->m->values.data[values[i]].type = op->types[i];
        r->m->values.data[values[i]].typed = true;
    }
    for (int i = 0; i < 2 && !r->failed; i++) {
        if (!take_word(r, i ? "do" : "cond")) expected(r, i ? "do" : "cond");
        start_region(r, op);
    }
    for (mlir_region *region = op->regions; region && !r->failed; region = region->next) {
        region->args = values;
        region->arg_count = args;
    }
}

static void read_name(reader *r, mlir_op *op) {
    op->name = r->l.token;
    if (r->l.kind != MLIR_WORD && r->l.kind != MLIR_STRING) {
        expected(r, "an operation");
        return;
    }
    op->generic = r->l.kind == MLIR_STRING;
    op->row = mlir_row_named(&op->name);
    next(r);
}

/* "%a, %b:2 = " in front of an operation: names with how many results each has. */
static void read_results(reader *r, uint64_t from) {
    while (r->l.kind == MLIR_VALUE && !r->failed) {
        known_name *n = hg_vec_push(&r->names); /* not yet in its slot */
        uint64_t count = 1;
        if (!n) {
            no_memory(r);
            return;
        }
        n->word = r->l.token;
        next(r);
        if (take(r, ':')) {
            mlir_word number = need_token(r, MLIR_NUMBER, "the number of results");
            if (!hg_read_digits(number.text, number.length, &count) || count > 65536) count = 0;
            if (!count) mistake(r, &number, "expected a number of results from 1 to 65536");
        }
        r->names.data[r->names.count - 1].count = (uint32_t)count;
        take(r, ',');
    }
    if (r->names.count > from) need(r, '=', "'='");
}

static mlir_op *read_operation(reader *r) {
    mlir_op *op = make(r, sizeof *op);
    HG_VEC(known_name) results = {0};
    uint64_t from = r->names.count, list = r->list.count, bound = 0, declared = 0;
    uint32_t count = 0;
    if (!op) return NULL;
    read_results(r, from);
    for (uint64_t i = from; i < r->names.count && !r->failed; i++) {
        known_name *n = hg_vec_push(&results);
        if (!n) {
            no_memory(r);
            break;
        }
        *n = r->names.data[i];
        declared += n->count;
    }
    r->names.count = from;
    read_name(r, op);
    bool ends = is_return(&op->name);
    if (ends && (r->l.kind == '}' || r->l.kind == MLIR_END)) goto done;
    read_parts(r, op, &bound);
    if (r->failed) goto done;
    take_list(r, list, &op->operands, &op->operand_count);
    if (mlir_is(&op->name, "stablehlo.reduce") && !op->generic)
        split_pairs(r, op->operands, op->operand_count);
    const mlir_type *dense = op->types;
    if (dense && !op->generic)
        count = 1;
    else
        read_signature(r, op, &count);
    if (!r->failed && dense && (count != 1 || !mlir_same_type(dense, op->types)))
        mistake(r, &op->name, "dense<…> has another type than the result");
    skip_location(r);
    if (ends || r->failed) goto done;
    if (bound || at_word(r, "cond")) read_while_regions(r, op, bound, count);
    leave_scope(r, from);
    if (take_word(r, "reducer")) read_reducer(r, op);
    skip_location(r);
    if (!r->failed && declared && declared != count)
        mistake(r, &op->name, "%u results have types, %llu have names", (unsigned)count,
                (unsigned long long)declared);
    op->result_count = count;
    op->results = add_values(r, count);
    for (uint32_t i = 0; i < count && !r->failed; i++) {
        r->m->values.data[op->results + i].type = op->types[i];
        r->m->values.data[op->results + i].typed = true;
    }
    uint32_t at = op->results;
    for (uint64_t i = 0; i < results.count && !r->failed; i++) {
        declare(r, &results.data[i].word, at, results.data[i].count);
        at += results.data[i].count;
    }
done:
    hg_vec_free(&results);
    return op;
}

/* Behind '{', up to the '}'. Its scope ends with it. */
static void read_region(reader *r, mlir_region *region) {
    uint64_t names = r->names.count, from = r->list.count;
    mlir_op **last = &region->first;
    if (++r->depth > MLIR_MAX_DEPTH)
        mistake(r, &r->l.token, "more than %d regions inside one another", MLIR_MAX_DEPTH);
    if (take(r, '^')) {
        need(r, MLIR_WORD, "the name of a block");
        if (take(r, '(')) read_arguments(r);
        take_list(r, from, &region->args, &region->arg_count);
        need(r, ':', "':'");
    }
    while (!r->failed && !take(r, '}')) {
        mlir_op *op = read_operation(r);
        if (!op || r->failed) break;
        *last = op;
        last = &op->next;
        if (is_return(&op->name) && r->l.kind != '}') expected(r, "'}' behind a return");
    }
    leave_scope(r, r->failed ? 0 : names);
    r->depth--;
}

/* ---- functions and the module ---- */

/* func.func public @main(…) -> (…) attributes {…} { … } */
static void read_function(reader *r, mlir_function ***last) {
    mlir_function *f = make(r, sizeof *f);
    if (!f) return;
    f->start = r->l.token.text;
    while (r->l.kind == MLIR_WORD && !r->failed) next(r); /* func.func public */
    f->name = need_token(r, MLIR_SYMBOL, "@NAME of a function");
    for (mlir_function *other = r->m->functions; other && !r->failed; other = other->next)
        if (other->name.length == f->name.length &&
            !memcmp(other->name.text, f->name.text, f->name.length))
            mistake(r, &f->name, "a second function @%.*s",
                    f->name.length > 60 ? 60 : (int)f->name.length, f->name.text);
    need(r, '(', "'('");
    read_arguments(r);
    take_list(r, 0, &f->body.args, &f->body.arg_count);
    if (take(r, MLIR_ARROW)) read_types(r);
    f->result_count = (uint32_t)r->types.count;
    f->types = keep(r, r->types.data, f->result_count * sizeof *f->types);
    r->types.count = 0;
    if (take_word(r, "attributes") && !r->failed) skip_balanced(r);
    need(r, '{', "'{'");
    uint64_t args = f->body.arg_count;
    uint32_t *kept = f->body.args;
    if (!r->failed) read_region(r, &f->body);
    if (!f->body.arg_count) f->body.args = kept, f->body.arg_count = (uint32_t)args;
    skip_location(r);
    leave_scope(r, 0);
    **last = f;
    *last = &f->next;
}

static void read_module(reader *r) {
    mlir_function **last = &r->m->functions;
    uint32_t functions = 0;
    bool bracket = false;
    r->m->name = (mlir_word){.text = "stablehlo", .length = 9};
    while (!r->failed && r->l.kind != MLIR_END) {
        if (r->l.kind == '#') { /* #loc = …, an alias that nobody reads */
            uint32_t line = r->l.line;
            while (!r->failed && r->l.kind != MLIR_END && r->l.token.line <= line) next(r);
        } else if (take_word(r, "module")) {
            if (r->l.kind == MLIR_SYMBOL) {
                r->m->name = r->l.token;
                next(r);
            }
            if (take_word(r, "attributes") && !r->failed) skip_balanced(r);
            need(r, '{', "'{'");
            bracket = true;
        } else if (bracket && take(r, '}')) {
            bracket = false;
            skip_location(r);
        } else if (at_word(r, "func.func")) {
            if (++functions > MLIR_MAX_FUNCTIONS)
                mistake(r, &r->l.token, "more than %d functions", MLIR_MAX_FUNCTIONS);
            else
                read_function(r, &last);
        } else {
            expected(r, "module, func.func or the end of the module");
        }
    }
    if (!r->failed && bracket) expected(r, "'}'");
}

hg_status mlir_read(const char *text, size_t length, mlir_module *module, hg_diagnostics *d) {
    *module = (mlir_module){.text = text, .length = length};
    reader *r = hg_calloc(1, sizeof *r);
    if (!r) return hg_fail_memory();
    r->m = module;
    r->d = d;
    mlir_lexer_start(&r->l, text, length);
    read_module(r);
    bool failed = r->failed;
    hg_vec_free(&r->names);
    hg_vec_free(&r->items);
    hg_vec_free(&r->list);
    hg_vec_free(&r->types);
    hg_free(r);
    return failed ? hg_error_record()->status : HG_OK;
}
