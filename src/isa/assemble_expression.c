/* Expressions over constants, wherever a number stands. Integers are exact within 128 bits, reals
 * are f64; a literal that stands alone keeps its text, so that its exact value is rounded once, to
 * the type of the place where it is used.
 * Must not know: instructions, directives. */
#include "isa/text_internal.h"

#include <math.h>
#include <stdio.h>

/* Parentheses, signs, functions and {} inside one another. */
static bool enter(hg_assembler *a) {
    if (a->expression_depth < HG_MAX_EXPRESSION_NESTING) {
        a->expression_depth++;
        return true;
    }
    hg_asm_error(a, "S05", &a->token, NULL, "expression nested deeper than %d",
                 HG_MAX_EXPRESSION_NESTING);
    return false;
}
static bool leave(hg_assembler *a, bool result) {
    a->expression_depth--;
    return result;
}

void hg_asm_extend(hg_token *token, const hg_token *last) {
    bool same_line = last->expansion == token->expansion && last->line == token->line &&
                     last->column >= token->column;
    if (!same_line) return;
    uint32_t reach = last->column - token->column;
    if (!token->marked && last->text == token->text + reach)
        token->length = reach + last->length;
    else
        token->marked = reach + hg_token_width(last);
}

/* ---- values ---- */

static bool fail(hg_assembler *a, const hg_token *at, const char *what) {
    hg_asm_error(a, "S04", at, NULL, "%s", what);
    return false;
}

static bool is_real(const hg_token *literal) {
    hg_number_kind kind = hg_classify_number(literal->text, literal->length);
    return kind == HG_NUMBER_REAL || kind == HG_NUMBER_HEXREAL;
}

bool hg_asm_constant_is_real(const hg_constant *c) {
    hg_token t = c->token;
    if (c->kind != HG_CONSTANT_LITERAL) return c->kind == HG_CONSTANT_REAL;
    while (t.length && (t.text[0] == '-' || t.text[0] == ' ' || t.text[0] == '\t'))
        t.text++, t.length--;
    return is_real(&t) || hg_token_is(&t, "inf") || hg_token_is(&t, "nan");
}

/* Little-endian bytes of an integer. */
static hg_u128 load_integer(const uint8_t bytes[16]) {
    hg_u128 value = 0;
    for (int i = 15; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

/* A literal becomes a number: what it is combined with asks for its value. */
static bool to_number(hg_assembler *a, hg_constant *c) {
    if (c->kind != HG_CONSTANT_LITERAL) return true;
    uint8_t bytes[HG_MAX_LITERAL_BYTES];
    char message[160];
    const char *hint;
    hg_token *t = &c->token;
    bool negative = t->text[0] == '-';
    hg_token magnitude = *t;
    while (magnitude.length &&
           (magnitude.text[0] == '-' || magnitude.text[0] == ' ' || magnitude.text[0] == '\t'))
        magnitude.text++, magnitude.length--;
    if (is_letter(magnitude.text[0]))
        return fail(a, t, "inf, nan and bits(…) stand alone: nothing is computed with them");
    bool real = is_real(&magnitude);
    const char *code = hg_parse_literal(magnitude.text, magnitude.length,
                                        real ? HG_TYPE_F64 : HG_TYPE_U128, bytes, message, &hint);
    if (code && code[2] == '3') {
        hg_asm_error(a, code, t, hint, "%s", message);
        return false;
    }
    if (real) {
        if (code)
            return fail(a, t,
                        "a real number in an expression is an f64: this one is out of its range");
        uint64_t bits = 0;
        for (int i = 7; i >= 0; i--) bits = bits << 8 | bytes[i];
        memcpy(&c->real, &bits, sizeof c->real);
        if (negative) c->real = -c->real;
        c->kind = HG_CONSTANT_REAL;
        return true;
    }
    hg_u128 value = code ? 0 : load_integer(bytes);
    if (code || value >> 127) return fail(a, t, "an integer in an expression has at most 127 bits");
    c->integer = negative ? -(hg_i128)value : (hg_i128)value;
    c->kind = HG_CONSTANT_INTEGER;
    return true;
}

static bool make_integer(hg_constant *c, hg_i128 value) {
    c->kind = HG_CONSTANT_INTEGER;
    c->integer = value;
    c->is_quotient = false;
    return true;
}

static bool make_real(hg_assembler *a, hg_constant *c, double value, const hg_token *at) {
    if (!isfinite(value))
        return fail(a, at, "the value of the expression is out of the range of f64");
    c->kind = HG_CONSTANT_REAL;
    c->real = value;
    c->is_quotient = false;
    return true;
}

static double real_of(const hg_constant *c) {
    return c->kind == HG_CONSTANT_REAL ? c->real : (double)c->integer;
}
static bool is_true(const hg_constant *c) {
    return c->kind == HG_CONSTANT_REAL ? c->real != 0 : c->integer != 0;
}

/* ---- operations ---- */

static const char BEYOND[] = "the value of the expression is beyond 127 bits and a sign";

static bool divide(hg_assembler *a, hg_constant *x, hg_i128 by, const hg_token *at) {
    if (by == 0) return fail(a, at, "division by zero");
    if (by == -1 && hg_sub_overflows((hg_i128)0, x->integer, &x->under)) return fail(a, at, BEYOND);
    x->over = x->integer;
    x->under = by;
    make_integer(x, by == -1 ? -x->integer : x->integer / by);
    x->is_quotient = true;
    return true;
}

static bool shift(hg_assembler *a, hg_constant *x, int op, hg_i128 by, const hg_token *at) {
    if (by < 0 || by > 127) return fail(a, at, "an amount of a shift is 0 to 127");
    if (op == HG_TOKEN_SHIFT_RIGHT) return make_integer(x, x->integer >> (int)by);
    hg_i128 shifted = (hg_i128)((hg_u128)x->integer << (int)by);
    return shifted >> (int)by == x->integer ? make_integer(x, shifted) : fail(a, at, BEYOND);
}

static bool combine_integers(hg_assembler *a, hg_constant *x, int op, hg_i128 y,
                             const hg_token *at) {
    hg_i128 result;
    switch (op) {
    case '+':
        return hg_add_overflows(x->integer, y, &result) ? fail(a, at, BEYOND)
                                                        : make_integer(x, result);
    case '-':
        return hg_sub_overflows(x->integer, y, &result) ? fail(a, at, BEYOND)
                                                        : make_integer(x, result);
    case '*':
        return hg_mul_overflows(x->integer, y, &result) ? fail(a, at, BEYOND)
                                                        : make_integer(x, result);
    case '/': return divide(a, x, y, at);
    case '%':
        if (y == 0) return fail(a, at, "division by zero");
        return make_integer(x, y == -1 ? 0 : x->integer % y);
    case HG_TOKEN_SHIFT_LEFT:
    case HG_TOKEN_SHIFT_RIGHT: return shift(a, x, op, y, at);
    case '&': return make_integer(x, x->integer & y);
    case '|': return make_integer(x, x->integer | y);
    case '^': return make_integer(x, x->integer ^ y);
    case HG_TOKEN_EQUAL: return make_integer(x, x->integer == y);
    case HG_TOKEN_NOT_EQUAL: return make_integer(x, x->integer != y);
    case '<': return make_integer(x, x->integer < y);
    case '>': return make_integer(x, x->integer > y);
    case HG_TOKEN_LESS_EQUAL: return make_integer(x, x->integer <= y);
    default: return make_integer(x, x->integer >= y);
    }
}

static bool combine_reals(hg_assembler *a, hg_constant *x, int op, double left, double y,
                          const hg_token *at) {
    switch (op) {
    case '+': return make_real(a, x, left + y, at);
    case '-': return make_real(a, x, left - y, at);
    case '*': return make_real(a, x, left * y, at);
    case '/': return y == 0 ? fail(a, at, "division by zero") : make_real(a, x, left / y, at);
    case HG_TOKEN_EQUAL: return make_integer(x, left == y);
    case HG_TOKEN_NOT_EQUAL: return make_integer(x, left != y);
    case '<': return make_integer(x, left < y);
    case '>': return make_integer(x, left > y);
    case HG_TOKEN_LESS_EQUAL: return make_integer(x, left <= y);
    case HG_TOKEN_GREATER_EQUAL: return make_integer(x, left >= y);
    default: return fail(a, at, "%, shifts, &, | and ^ take integers");
    }
}

bool hg_asm_combine(hg_assembler *a, hg_constant *x, const hg_token *op, hg_constant *y) {
    if (!to_number(a, x) || !to_number(a, y)) return false;
    if (op->kind == HG_TOKEN_AND || op->kind == HG_TOKEN_OR)
        return make_integer(x, op->kind == HG_TOKEN_AND ? is_true(x) && is_true(y)
                                                        : is_true(x) || is_true(y));
    if (x->kind == HG_CONSTANT_INTEGER && y->kind == HG_CONSTANT_INTEGER)
        return combine_integers(a, x, op->kind, y->integer, op);
    return combine_reals(a, x, op->kind, real_of(x), real_of(y), op);
}

/* ---- operands ---- */

static bool is_function(const hg_token *name) {
    return hg_token_is(name, "ceil") || hg_token_is(name, "min") || hg_token_is(name, "max") ||
           hg_token_is(name, "defined");
}

bool hg_asm_starts_expression(hg_assembler *a) {
    const hg_token *t = &a->token;
    if (t->kind == HG_TOKEN_NUMBER || t->kind == '(' || t->kind == '-' || t->kind == '~' ||
        t->kind == '!')
        return true;
    if (t->kind != HG_TOKEN_NAME) return false;
    if (hg_token_is(t, "inf") || hg_token_is(t, "nan") || hg_token_is(t, "bits")) return true;
    return hg_asm_find_constant(a, t) ? !hg_asm_followed_by(a, '=')
                                      : is_function(t) && hg_asm_followed_by(a, '(');
}

static bool read_unary(hg_assembler *a, const char *expected, hg_constant *c);

/* bits(0x…), behind the word: one token as long as it is. */
static bool read_pattern(hg_assembler *a, hg_token *literal) {
    if (!hg_asm_expect(a, '(', "'('")) return false;
    if (a->token.kind != HG_TOKEN_NUMBER) return hg_asm_unexpected(a, "a hexadecimal number");
    hg_asm_next(a);
    if (a->token.kind != ')') return hg_asm_unexpected(a, "')'");
    hg_asm_extend(literal, &a->token);
    hg_asm_next(a);
    return true;
}

bool hg_asm_apply_ceil(hg_assembler *a, const hg_token *name, hg_constant *c) {
    if (!to_number(a, c)) return false;
    if (c->kind == HG_CONSTANT_REAL) {
        double up = ceil(c->real);
        if (up < -0x1p126 || up > 0x1p126) return fail(a, name, BEYOND);
        return make_integer(c, (hg_i128)up);
    }
    if (!c->is_quotient) return fail(a, name, "ceil takes a quotient: ceil(a / b)");
    bool more = c->over % c->under != 0 && (c->over < 0) == (c->under < 0);
    return make_integer(c, c->integer + more);
}

bool hg_asm_apply_extreme(hg_assembler *a, bool largest, hg_constant *c, hg_constant *other) {
    if (!to_number(a, c) || !to_number(a, other)) return false;
    bool integers = c->kind == HG_CONSTANT_INTEGER && other->kind == HG_CONSTANT_INTEGER;
    bool less = integers ? c->integer < other->integer : real_of(c) < real_of(other);
    bool same = integers ? c->integer == other->integer : real_of(c) == real_of(other);
    if (less == largest && !same) *c = *other;
    c->is_quotient = false;
    return true;
}

static bool read_extreme(hg_assembler *a, bool largest, hg_constant *c) {
    if (!hg_asm_expression(a, "a number", c) || !to_number(a, c)) return false;
    while (hg_asm_accept(a, ',')) {
        hg_constant other;
        if (!hg_asm_expression(a, "a number", &other) ||
            !hg_asm_apply_extreme(a, largest, c, &other))
            return false;
    }
    return true;
}

/* ceil( … ), min( … ), max( … ), defined(NAME), behind the parenthesis. */
static bool read_function(hg_assembler *a, const hg_token *name, hg_constant *c) {
    if (hg_token_is(name, "ceil"))
        return hg_asm_expression(a, "a quotient", c) && hg_asm_apply_ceil(a, name, c);
    if (hg_token_is(name, "min") || hg_token_is(name, "max"))
        return read_extreme(a, hg_token_is(name, "max"), c);
    hg_token asked = a->token;
    if (!hg_asm_expect(a, HG_TOKEN_NAME, "a name")) return false;
    return make_integer(c, hg_asm_find_name(a, &asked) != NULL);
}

static bool read_call(hg_assembler *a, hg_constant *c) {
    hg_token name = a->token;
    hg_asm_next(a);
    *c = (hg_constant){.token = name};
    if (!hg_asm_expect(a, '(', "'('")) return false;
    if (!enter(a)) return false;
    if (!leave(a, read_function(a, &name, c))) return false;
    c->token = name;
    if (a->token.kind != ')') return hg_asm_unexpected(a, "')'");
    hg_asm_extend(&c->token, &a->token);
    hg_asm_next(a);
    return true;
}

static bool read_parentheses(hg_assembler *a, hg_constant *c) {
    hg_token open = a->token;
    hg_asm_next(a);
    if (!enter(a) || !leave(a, hg_asm_expression(a, "a number", c))) return false;
    if (a->token.kind != ')') return hg_asm_unexpected(a, "')'");
    if (c->kind != HG_CONSTANT_LITERAL) {
        c->token = open;
        hg_asm_extend(&c->token, &a->token);
    }
    hg_asm_next(a);
    return true;
}

/* A literal or the name of a constant. */
static bool read_atom(hg_assembler *a, const char *expected, hg_constant *c) {
    hg_token token = a->token;
    const hg_constant *named = hg_asm_find_constant(a, &token);
    if (named) {
        *c = *named;
        c->token = token;
        if (c->kind == HG_CONSTANT_LITERAL) {
            c->token.text = named->token.text;
            c->token.length = named->token.length;
            c->token.marked = hg_token_width(&token);
        }
        hg_asm_next(a);
        return true;
    }
    bool word = hg_token_is(&token, "inf") || hg_token_is(&token, "nan"),
         pattern = hg_token_is(&token, "bits");
    if (token.kind == HG_TOKEN_NAME && is_function(&token)) return read_call(a, c);
    if (token.kind != HG_TOKEN_NUMBER && !word && !pattern)
        return hg_asm_unknown_constant(a, expected);
    *c = (hg_constant){.kind = HG_CONSTANT_LITERAL, .token = token};
    hg_asm_next(a);
    return pattern ? read_pattern(a, &c->token) : true;
}

/* A literal with a sign is a literal too: -5 where both stand side by side, else of a text made for
 * it. */
static bool negate_literal(hg_assembler *a, const hg_token *sign, hg_constant *c) {
    hg_token *t = &c->token, whole = *sign;
    hg_asm_extend(&whole, t);
    bool side_by_side = !whole.marked && !t->marked;
    for (uint32_t i = 1; side_by_side && i < t->column - sign->column; i++)
        side_by_side = sign->text[i] == ' ' || sign->text[i] == '\t';
    if (side_by_side) {
        *t = whole;
        return true;
    }
    char *text = hg_arena_alloc(&a->texts, (size_t)t->length + 2);
    if (!text) return hg_asm_no_memory(a);
    text[0] = '-';
    memcpy(text + 1, t->text, t->length);
    whole.marked = hg_token_width(&whole);
    whole.text = text;
    whole.length = t->length + 1;
    *t = whole;
    return true;
}

static bool negate(hg_assembler *a, const hg_token *sign, hg_constant *c) {
    hg_token whole = *sign;
    char first = c->token.text[0];
    if (c->kind == HG_CONSTANT_LITERAL && (is_digit(first) || first == '.' || first == 'i'))
        return negate_literal(a, sign, c);
    hg_asm_extend(&whole, &c->token);
    if (!to_number(a, c)) return false;
    c->token = whole;
    if (c->kind == HG_CONSTANT_REAL) return make_real(a, c, -c->real, sign);
    hg_i128 negative;
    return hg_sub_overflows((hg_i128)0, c->integer, &negative) ? fail(a, sign, BEYOND)
                                                               : make_integer(c, negative);
}

bool hg_asm_apply_sign(hg_assembler *a, const hg_token *sign, hg_constant *c) {
    if (sign->kind == '-') return negate(a, sign, c);
    if (!to_number(a, c)) return false;
    hg_token whole = *sign;
    hg_asm_extend(&whole, &c->token);
    c->token = whole;
    if (sign->kind == '!') return make_integer(c, !is_true(c));
    if (c->kind == HG_CONSTANT_REAL) return fail(a, sign, "~ takes an integer");
    return make_integer(c, ~c->integer);
}

static bool read_signed(hg_assembler *a, const char *expected, hg_constant *c) {
    hg_token sign = a->token;
    hg_asm_next(a);
    return enter(a) && leave(a, read_unary(a, expected, c)) && hg_asm_apply_sign(a, &sign, c);
}

static bool read_unary(hg_assembler *a, const char *expected, hg_constant *c) {
    switch (a->token.kind) {
    case '-':
    case '~':
    case '!': return read_signed(a, expected, c);
    case '(': return read_parentheses(a, c);
    default: return read_atom(a, expected, c);
    }
}

/* ---- operators ---- */

int hg_asm_binding(int kind) {
    switch (kind) {
    case HG_TOKEN_OR: return 1;
    case HG_TOKEN_AND: return 2;
    case HG_TOKEN_EQUAL:
    case HG_TOKEN_NOT_EQUAL:
    case '<':
    case '>':
    case HG_TOKEN_LESS_EQUAL:
    case HG_TOKEN_GREATER_EQUAL: return 3;
    case '|': return 4;
    case '^': return 5;
    case '&': return 6;
    case HG_TOKEN_SHIFT_LEFT:
    case HG_TOKEN_SHIFT_RIGHT: return 7;
    case '+':
    case '-': return 8;
    case '*':
    case '/':
    case '%': return 9;
    default: return 0;
    }
}
enum { BIND_TERM = 9 };

/* Goes on behind an operand with operators that bind at least as tightly as `least`; recursion is
 * as deep as there are levels. times, where it is given: true where a `*` was read and what stands
 * behind it is a name of something else, a register perhaps. */
static bool read_rest(hg_assembler *a, hg_constant *c, int least, bool *times) {
    for (;;) {
        hg_token op = a->token;
        int level = hg_asm_binding(op.kind);
        if (level < least || !level) return true;
        hg_constant right;
        hg_asm_next(a);
        if (times && op.kind == '*' && a->token.kind == HG_TOKEN_NAME &&
            !hg_asm_starts_expression(a))
            return *times = true;
        if (!read_unary(a, "a number", &right) || !read_rest(a, &right, level + 1, NULL))
            return false;
        hg_token whole = c->token;
        if (c->kind == HG_CONSTANT_LITERAL && whole.marked)
            whole.length = 0; /* the text is not what stands there */
        if (!hg_asm_combine(a, c, &op, &right)) return false;
        hg_asm_extend(&whole, &right.token);
        c->token = whole;
    }
}

bool hg_asm_expression(hg_assembler *a, const char *expected, hg_constant *value) {
    return read_unary(a, expected, value) && read_rest(a, value, 1, NULL);
}
bool hg_asm_term(hg_assembler *a, const char *expected, hg_constant *value, bool *times) {
    return read_unary(a, expected, value) && read_rest(a, value, BIND_TERM, times);
}
bool hg_asm_primary(hg_assembler *a, const char *expected, hg_constant *value) {
    return a->token.kind == '(' ? read_parentheses(a, value) : read_atom(a, expected, value);
}

/* ---- what they are used as ---- */

bool hg_asm_constant_integer(hg_assembler *a, const hg_constant *value, hg_i128 *number) {
    hg_constant c = *value;
    if (!to_number(a, &c)) return false;
    *number = c.integer;
    return c.kind == HG_CONSTANT_INTEGER ||
           fail(a, &value->token, "expected an integer, got a real number");
}

bool hg_asm_truth(hg_assembler *a, const hg_constant *value, bool *truth) {
    hg_constant c = *value;
    if (!to_number(a, &c)) return false;
    *truth = is_true(&c);
    return true;
}

bool hg_asm_constant_unsigned(hg_assembler *a, const hg_constant *value, uint64_t *number) {
    if (value->kind == HG_CONSTANT_LITERAL && value->token.text[0] != '-')
        return hg_asm_number(a, &value->token, 0, number);
    if (value->kind == HG_CONSTANT_LITERAL)
        return fail(a, &value->token, "the number is out of range: it must not be negative");
    if (value->kind == HG_CONSTANT_REAL)
        return fail(a, &value->token, "expected an unsigned integer, got a real number");
    if (value->integer < 0 || value->integer >> 64)
        return fail(a, &value->token, "the number is out of range: it must be 0 to 2^64 - 1");
    *number = (uint64_t)value->integer;
    return true;
}

bool hg_asm_integer(hg_assembler *a, const char *expected, uint64_t *number, hg_token *token) {
    hg_constant c;
    *token = a->token;
    if (!hg_asm_expression(a, expected, &c)) return false;
    *token = c.token;
    return hg_asm_constant_unsigned(a, &c, number);
}

/* Decimal, sign first; the end of the buffer is returned. */
static int print_integer(char buffer[48], hg_i128 value) {
    char digits[48];
    int count = 0, length = 0;
    hg_u128 rest = value < 0 ? -(hg_u128)value : (hg_u128)value;
    do digits[count++] = (char)('0' + (int)(rest % 10));
    while (rest /= 10);
    if (value < 0) buffer[length++] = '-';
    while (count) buffer[length++] = digits[--count];
    return length;
}

/* Exact, in hexadecimal. (printf's %a is not everywhere.) */
static int print_real(char *buffer, size_t room, double value) {
    uint64_t bits;
    char digits[16] = {0};
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7FF), count = 13;
    for (int i = 0; i < count; i++) digits[i] = "0123456789abcdef"[bits >> (48 - 4 * i) & 15];
    while (count > 0 && digits[count - 1] == '0') digits[--count] = 0;
    const char *sign = bits >> 63 ? "-" : "";
    if (exponent == 0x7FF) return snprintf(buffer, room, "%s%s", sign, count ? "nan" : "inf");
    int power = exponent ? exponent - 1023 : count ? -1022 : 0;
    return snprintf(buffer, room, "%s0x%d%s%sp%d", sign, exponent != 0, count ? "." : "", digits,
                    power);
}

bool hg_asm_constant_token(hg_assembler *a, const hg_constant *value, hg_token *literal) {
    *literal = value->token;
    if (value->kind == HG_CONSTANT_LITERAL) return true;
    char text[48];
    int length = value->kind == HG_CONSTANT_INTEGER ? print_integer(text, value->integer)
                                                    : print_real(text, sizeof text, value->real);
    literal->marked = hg_token_width(&value->token);
    literal->kind = HG_TOKEN_NUMBER;
    literal->length = (uint32_t)length;
    literal->text = hg_arena_text(&a->texts, text, (size_t)length);
    return literal->text || hg_asm_no_memory(a);
}
