/* Addresses (language.md 2.1): a place, then a sum of at most one register, with a scale, and of
 * constants.
 * Must not know: the table of instructions. */
#include "isa/text_internal.h"

#include <stdio.h>

static bool out_of_range(hg_assembler *a, const hg_token *at, const char *what, uint64_t value,
                         uint32_t limit) {
    hg_asm_error(a, "N07", at, NULL, "invalid %s: %llu (must be < %u)", what,
                 (unsigned long long)value, (unsigned)limit);
    return false;
}

/* ---- places ---- */

/* phi(class, page, byte), behind the word. */
static bool read_phi(hg_assembler *a, hg_operand *o) {
    uint64_t values[3];
    hg_token numbers[3];
    o->place = HG_PLACE_PHI;
    for (int i = 0; i < 3; i++) {
        if (!hg_asm_expect(a, i ? ',' : '(', i ? "','" : "'('")) return false;
        if (!hg_asm_integer(a, "a number", &values[i], &numbers[i])) return false;
    }
    if (values[0] >= HG_MAX_CLASSES)
        return out_of_range(a, &numbers[0], "class index", values[0], HG_MAX_CLASSES);
    bool page = values[1] >= HG_MAX_CLASS_PAGES;
    if (page || values[2] >= HG_MAX_PAGE_BYTES) {
        hg_asm_error(
            a, "N07", &numbers[page ? 1 : 2], NULL,
            "invalid boundary coordinates: page=%llu (must be < %d), byte=%llu (must be < %d)",
            (unsigned long long)values[1], (int)HG_MAX_CLASS_PAGES, (unsigned long long)values[2],
            (int)HG_MAX_PAGE_BYTES);
        return false;
    }
    o->value = values[0];
    o->phi[0] = (uint8_t)values[1];
    o->phi[1] = (uint8_t)values[2];
    return hg_asm_expect(a, ')', "')'");
}

static bool read_class(hg_assembler *a, const hg_token *name, hg_operand *o) {
    o->place = HG_PLACE_CLASS;
    if (!hg_asm_number(a, name, 5, &o->value)) return false;
    return o->value < HG_MAX_CLASSES ||
           out_of_range(a, name, "class index", o->value, HG_MAX_CLASSES);
}

/* buf(r1) or pool(x), behind the word. */
static bool read_handle(hg_assembler *a, uint8_t place, hg_raw_operand *raw) {
    raw->value.place = place;
    if (!hg_asm_expect(a, '(', "'('")) return false;
    raw->element = place == HG_PLACE_BUF_REG ? hg_asm_element_type(a, &a->token)
                                             : (uint8_t)HG_TYPE_OMITTED;
    return hg_asm_read_register(a, "a register", &raw->reg) && hg_asm_expect(a, ')', "')'");
}

/* The name of a parameter or register, or a register: a handle with an offset, else a flat address;
 * parameters that are arrays are handles always. */
static bool read_named_place(hg_assembler *a, hg_raw_operand *raw) {
    const hg_memory_array *memory = hg_asm_find_array(a, &a->token);
    if (memory) {
        raw->value.place = memory->place;
        raw->value.disp = (int64_t)memory->offset;
        raw->element = memory->type;
        hg_asm_next(a);
        return true;
    }
    const hg_named *name = hg_asm_find_named(a, &a->token);
    bool array = name && name->param < a->head.params.count &&
                 a->head.params.data[name->param].kind != HG_PARAM_SCALAR;
    raw->value.place = HG_PLACE_FLAT;
    if (array) {
        const hg_param *p = &a->head.params.data[name->param];
        raw->value.place = p->kind == HG_PARAM_POOL ? HG_PLACE_POOL_REG : HG_PLACE_BUF_REG;
        raw->element = hg_asm_element_type(a, &a->token);
    }
    return hg_asm_read_register(a, "a place in memory", &raw->reg);
}

static bool read_place(hg_assembler *a, hg_raw_operand *raw) {
    hg_operand *o = &raw->value;
    hg_token name = a->token;
    bool buf = hg_token_is_numbered(&name, "buf"), pool = hg_token_is_numbered(&name, "pool");
    if (name.kind != HG_TOKEN_NAME)
        return hg_asm_unexpected(a, "a parameter, bufN, buf(rN), poolN, pool(rN), shared, private, "
                                    "classN, phi(class, page, byte) or a register");
    bool handle = hg_token_is(&name, "buf") || hg_token_is(&name, "pool"),
         own = hg_token_is(&name, "private");
    bool word = buf || pool || hg_token_is_numbered(&name, "class") ||
                hg_token_is(&name, "shared") || hg_token_is(&name, "phi");
    if (handle) word = hg_asm_followed_by(a, '(') || !hg_asm_find_named(a, &name);
    if (own) word = !hg_asm_find_named(a, &name);
    if (!word) return read_named_place(a, raw);
    hg_asm_next(a);
    if (buf || pool) {
        o->place = buf ? HG_PLACE_BUF : HG_PLACE_POOL;
        return hg_asm_number(a, &name, buf ? 3 : 4, &o->value);
    }
    if (hg_token_is(&name, "phi")) return read_phi(a, o);
    if (handle)
        return read_handle(a, hg_token_is(&name, "buf") ? HG_PLACE_BUF_REG : HG_PLACE_POOL_REG,
                           raw);
    if (!own && !hg_token_is(&name, "shared")) return read_class(a, &name, o);
    o->place = own ? HG_PLACE_PRIVATE : HG_PLACE_SHARED;
    return true;
}

/* ---- sums ---- */

typedef struct sum {
    bool has_index;
    hg_register index;
    uint64_t scale; /* of the index, at most MOST_SCALE + 1 */
    hg_i128 constant;
    hg_token at; /* the last term */
} sum;
enum { MOST_SCALE = 65535 };

/* One product of constants. */
static bool read_constant(hg_assembler *a, const char *expected, sum *s, hg_i128 *number,
                          bool *times) {
    hg_constant value;
    uint64_t plain;
    if (!hg_asm_term(a, expected, &value, times)) return false;
    s->at = value.token;
    if (value.kind == HG_CONSTANT_LITERAL &&
        hg_classify_number(value.token.text, value.token.length) == HG_NUMBER_BAD)
        return hg_asm_number(a, &value.token, 0, &plain);
    if (!hg_asm_constant_integer(a, &value, number)) return false;
    if (*number <= INT64_MAX && *number >= -INT64_MAX) return true;
    hg_asm_error(a, "S05", &s->at, NULL, "displacement of 2^63 bytes or more");
    return false;
}

static bool read_index(hg_assembler *a, bool negative, hg_i128 scale, sum *s) {
    hg_token at = a->token;
    if (s->has_index || negative) {
        char got[80];
        hg_asm_error(a, "S02", &at,
                     s->has_index ? "an address has one index register: add them before"
                                  : "subtract it before",
                     "expected a number of bytes, got %s", hg_token_describe(&at, got));
        return false;
    }
    s->has_index = true;
    s->scale = scale < 0 || scale > MOST_SCALE ? MOST_SCALE + 1 : (uint64_t)scale;
    return hg_asm_read_register(a, "a register or a number of bytes", &s->index);
}

/* 12, K*2, i, i*4 or 4*i. */
static bool read_term(hg_assembler *a, bool negative, sum *s) {
    hg_i128 value = 1;
    bool times = false;
    if (a->token.kind != HG_TOKEN_NAME || hg_asm_starts_expression(a)) {
        if (!read_constant(a,
                           negative || s->has_index ? "a number of bytes"
                                                    : "a register or a number of bytes",
                           s, &value, &times))
            return false;
        if (times) return read_index(a, negative, value, s);
        s->constant += negative ? -value : value;
        return true;
    }
    s->at = a->token;
    if (!read_index(a, negative, 1, s)) return false;
    if (hg_asm_accept(a, '*') && !read_constant(a, "a scale", s, &value, NULL)) return false;
    s->scale = value < 0 || value > MOST_SCALE ? MOST_SCALE + 1 : (uint64_t)value;
    return true;
}

/* Terms with a sign before each; `first`: before the first one it may be left out. */
static bool read_sum(hg_assembler *a, bool first, sum *s) {
    for (;; first = false) {
        bool negative = a->token.kind == '-';
        if (negative || a->token.kind == '+')
            hg_asm_next(a);
        else if (!first)
            return true;
        if (!read_term(a, negative, s)) return false;
    }
}

/* The sum, of elements of so many bytes, goes into the address. */
static bool add_sum(hg_assembler *a, const sum *s, uint64_t bytes, hg_raw_operand *raw) {
    hg_operand *o = &raw->value;
    hg_i128 disp = (hg_i128)o->disp + s->constant * (hg_i128)bytes;
    if (disp > INT64_MAX || disp < -INT64_MAX) {
        hg_asm_error(a, "S05", &s->at, NULL, "displacement of 2^63 bytes or more");
        return false;
    }
    o->disp = (int64_t)disp;
    if (!s->has_index) return true;
    if (s->scale * bytes == 0 || s->scale * bytes > MOST_SCALE) {
        hg_asm_error(a, "N07", &s->at, NULL, "an index has a scale of 1 to %d bytes", MOST_SCALE);
        return false;
    }
    if (o->has_index) {
        hg_asm_error(a, "S02", &s->at, "an address has one index register: add them before",
                     "a second index register");
        return false;
    }
    o->has_index = 1;
    o->scale = (uint16_t)(s->scale * bytes == 1 ? 0 : s->scale * bytes);
    raw->index = s->index;
    if (o->place == HG_PLACE_FLAT) o->place = HG_PLACE_BUF_REG; /* [r1 + r0]: r1 is a handle */
    return true;
}

/* [index] behind an array's name: in elements. */
static bool read_element(hg_assembler *a, const hg_token *name, hg_raw_operand *raw) {
    sum s = {0};
    char got[80];
    if (raw->element == HG_TYPE_OMITTED) {
        hg_asm_error(a, "N03", &a->token, "write the offset in bytes: [x + i*4]",
                     "%s has no elements: only buffers have a type", hg_token_describe(name, got));
        return false;
    }
    hg_asm_next(a);
    if (!read_sum(a, true, &s)) return false;
    if (a->token.kind == ',')
        return hg_asm_unexpected_with(
            a, "'+', '-' or ']'",
            "an array has one index: mad at, row, columns, column in front, then [x[at]]");
    return hg_asm_expect(a, ']', "'+', '-' or ']'") &&
           add_sum(a, &s, hg_type_size_bytes((hg_type)raw->element), raw);
}

bool hg_asm_address(hg_assembler *a, hg_raw_operand *raw) {
    sum s = {0};
    raw->kind = HG_RAW_ADDRESS;
    raw->value.kind = HG_K_ADDRESS;
    raw->element = HG_TYPE_OMITTED;
    hg_asm_next(a);
    hg_token name = a->token;
    if (!read_place(a, raw)) return false;
    if (a->token.kind == '[' && !read_element(a, &name, raw)) return false;
    if (raw->value.place != HG_PLACE_PHI && (!read_sum(a, false, &s) || !add_sum(a, &s, 1, raw)))
        return false;
    if (a->token.kind != ']')
        return hg_asm_unexpected(a, raw->value.place == HG_PLACE_PHI ? "']'" : "'+', '-' or ']'");
    hg_asm_extend(&raw->token, &a->token);
    hg_asm_next(a);
    raw->value.reg = raw->reg.number;
    raw->value.index = raw->index.number;
    return true;
}
