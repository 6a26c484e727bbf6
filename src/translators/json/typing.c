/* Types of expressions (semantics 7.4, "REC typing"): what literals take, what mixed operands
 * become, conversions.
 * Must not know: the document's fields, instructions. */
#include "translators/json/kernel.h"

#include <string.h>

/* ---- literals ---- */

static hg_json_number number_of(const jk_kernel *k, const jk_node *n) {
    return hg_json_number_of(k->document, n->token);
}

/* Bits of an integer literal, with the signs in front of it; false: it is not below 2^64 or not
 * above -2^63 - 1. */
static bool whole_bits(const jk_kernel *k, const jk_node *n, uint64_t *bits, bool *negative) {
    hg_json_number number = number_of(k, n);
    if (number.kind == HG_JSON_F64) return false;
    *negative = ((number.kind == HG_JSON_I64) != ((n->flags & JK_NEGATIVE) != 0)) && number.u64;
    if (*negative && number.u64 > UINT64_C(1) << 63) return false;
    *bits = *negative ? 0 - number.u64 : number.u64;
    return true;
}

static bool whole_fits(uint64_t bits, bool negative, hg_type type) {
    unsigned width = (unsigned)hg_type_size_bytes(type) * 8;
    if (!hg_type_is_signed(type)) return !negative && (width == 64 || bits >> width == 0);
    uint64_t size = negative ? ~bits : bits;
    return size >> (width - 1) == 0;
}

bool jk_literal_fits(jk_kernel *k, uint32_t node, jk_type type) {
    const jk_node *n = &k->nodes.data[node];
    uint64_t bits;
    bool negative;
    if (type >= HG_TYPE_COUNT) return false;
    if (hg_type_is_float((hg_type)type)) return true;
    return n->type == JK_WHOLE && whole_bits(k, n, &bits, &negative) &&
           whole_fits(bits, negative, (hg_type)type);
}

/* The literal gets a type. */
static void give_type(jk_kernel *k, uint32_t node, hg_type type) {
    jk_node *n = &k->nodes.data[node];
    bool negative = (n->flags & JK_NEGATIVE) != 0, good;
    if (hg_type_is_float(type)) {
        good = hg_json_float(k->document, n->token, type, &n->bits);
        if (negative) n->bits ^= type == HG_TYPE_F64 ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
    } else {
        bool below;
        good = whole_bits(k, n, &n->bits, &below) && whole_fits(n->bits, below, type);
        if (hg_type_size_bytes(type) < 8)
            n->bits &= (UINT64_C(1) << (hg_type_size_bytes(type) * 8)) - 1;
    }
    n->type = (jk_type)type;
    if (!good) {
        uint32_t token = n->token;
        jk_error(k, "S04", token, NULL, "literal %s%s out of range for type %s",
                 negative ? "-" : "", jk_show(k, token).text, hg_type_name(type));
        k->nodes.data[node].type = JK_ERROR;
    }
}

uint32_t jk_settle(jk_kernel *k, uint32_t node) {
    jk_type type = k->nodes.data[node].type;
    if (type == JK_REAL) give_type(k, node, HG_TYPE_F32);
    if (type == JK_WHOLE) {
        bool small = jk_literal_fits(k, node, HG_TYPE_I32);
        give_type(k, node, small ? HG_TYPE_I32 : HG_TYPE_I64);
    }
    return node;
}

/* ---- conversions ---- */

uint32_t jk_as(jk_kernel *k, uint32_t node, jk_type type) {
    jk_type from = k->nodes.data[node].type;
    if (from == type || from == JK_ERROR || type == JK_ERROR) return node;
    if (jk_is_literal(from)) {
        bool real_to_integer = from == JK_REAL && !jk_is_float(type);
        if (type < HG_TYPE_COUNT && !real_to_integer) {
            give_type(k, node, (hg_type)type);
            return node;
        }
        node = jk_settle(k, node);
        if (k->nodes.data[node].type == JK_ERROR) return node;
    }
    return jk_add_node(k, JK_CONVERT, 0, type, k->nodes.data[node].token, node, JK_NONE, JK_NONE);
}

/* ---- two operands ---- */

jk_type jk_common(jk_type a, jk_type b) {
    if (a == b) return a == JK_WHOLE ? HG_TYPE_I32 : a == JK_REAL ? HG_TYPE_F32 : a;
    if (!jk_is_number(a) || !jk_is_number(b)) return JK_ERROR;
    if (jk_is_literal(a) && jk_is_literal(b)) return HG_TYPE_F32;
    if (jk_is_literal(a) || jk_is_literal(b)) {
        jk_type literal = jk_is_literal(a) ? a : b, other = jk_is_literal(a) ? b : a;
        return literal == JK_REAL && jk_is_integer(other) ? HG_TYPE_F32 : other;
    }
    if (jk_is_float(a) != jk_is_float(b)) return jk_is_float(a) ? a : b;
    uint64_t wide_a = hg_type_size_bytes((hg_type)a), wide_b = hg_type_size_bytes((hg_type)b);
    if (wide_a != wide_b) return wide_a > wide_b ? a : b;
    if (a == HG_TYPE_U64 || b == HG_TYPE_U64) return HG_TYPE_U64; /* the index type */
    return hg_type_is_signed((hg_type)a) ? a : b;
}

/* i32 where both fit, as one of them would. */
jk_type jk_common_of_nodes(jk_kernel *k, uint32_t a, uint32_t b) {
    jk_type x = k->nodes.data[a].type, y = k->nodes.data[b].type;
    if (x == JK_WHOLE && y == JK_WHOLE &&
        !(jk_literal_fits(k, a, HG_TYPE_I32) && jk_literal_fits(k, b, HG_TYPE_I32)))
        return HG_TYPE_I64;
    return jk_common(x, y);
}

bool jk_unify(jk_kernel *k, uint32_t *a, uint32_t *b, uint32_t token, const char *what,
              bool bools) {
    jk_type x = k->nodes.data[*a].type, y = k->nodes.data[*b].type;
    if (x == JK_ERROR || y == JK_ERROR) return false;
    jk_type common = jk_common_of_nodes(k, *a, *b);
    bool allowed = jk_is_number(common) || (bools && common != JK_ERROR);
    if (!allowed) {
        bool mixed = x != y;
        jk_error(k, "N06", token,
                 x == JK_BOOL || y == JK_BOOL ? "a bool becomes a number with i32(…) or f32(…)"
                                              : NULL,
                 "%s of %s%s%s", what, jk_type_name(x), mixed ? " and " : "",
                 mixed ? jk_type_name(y) : "");
        return false;
    }
    *a = jk_as(k, *a, common);
    *b = jk_as(k, *b, common);
    return k->nodes.data[*a].type != JK_ERROR && k->nodes.data[*b].type != JK_ERROR;
}

uint32_t jk_condition(jk_kernel *k, uint32_t node) {
    jk_type type = k->nodes.data[node].type;
    if (type == JK_BOOL || type == JK_ERROR) return node;
    if (jk_is_integer(type)) return jk_as(k, jk_settle(k, node), JK_BOOL);
    jk_error(k, "N06", k->nodes.data[node].token, "compare it: x != 0",
             "a condition is a bool or an integer, got %s", jk_type_name(type));
    k->nodes.data[node].type = JK_ERROR;
    return node;
}
