/* Integers that a target lacks: u8 and u16 live zero-extended in u32, a u64 is two u32 (low, high).
 * A function's u64 result comes back as its low half and the module variable "high".
 * Requires: no wide integers, no F64 where there is no u64. Provides: no integer type outside caps. */
#include "kir/legalise/legalise_internal.h"
#include "kir/access.h"
#include "kir/builder.h"
#include "kir/sugar.h"
#include <string.h>

typedef struct pair {
    kir_value *l, *h;
} pair;
typedef struct int_state {
    kir_var *high;
    uint32_t *halves_of_input;
} int_state;

static bool is_split(const rewrite_pass *p, uint8_t type) {
    return type == HG_TYPE_U64 && !p->caps->i64;
}
static bool is_narrow(const rewrite_pass *p, uint8_t type) {
    return (type == HG_TYPE_U8 && !p->caps->i8) || (type == HG_TYPE_U16 && !p->caps->i16);
}
static uint8_t type(const rewrite_pass *p, uint8_t t) {
    return is_split(p, t) || is_narrow(p, t) ? HG_TYPE_U32 : t;
}

static kir_value *bit(kir_builder *b, kir_value *c) {
    return kir_select(b, c, u32(b, 1), u32(b, 0));
}

static pair arg(const rewrite_pass *p, const kir_value *v, uint8_t i) {
    rewrite_value x = p->values[v->args[i]->id];
    return (pair){x.v[0], x.v[1]};
}
static void set_pair(rewrite_pass *p, const kir_value *v, pair x) {
    p->values[v->id].v[0] = x.l;
    p->values[v->id].v[1] = x.h;
}

static kir_var *high_var(rewrite_pass *p) {
    int_state *s = p->state;
    if (!s->high) s->high = kir_var_create(p->out, NULL, HG_TYPE_U32, 0, "high");
    if (!s->high) p->b.failed = true;
    return s->high;
}
static void return_pair(rewrite_pass *p, kir_builder *b, pair x) {
    kir_set(b, high_var(p), x.h);
    kir_return(b, x.l);
}
static pair call_pair(rewrite_pass *p, kir_builder *b, kir_function *f, uint8_t n,
                      kir_value *const *args) {
    kir_value *l = kir_call(b, f, n, args, NULL);
    return (pair){l, kir_get(b, high_var(p))};
}

/* ---- arithmetic of pairs ---- */

static pair pair_const(kir_builder *b, uint64_t n) {
    kir_value *l = u32(b, n & 0xFFFFFFFF);
    return (pair){l, u32(b, n >> 32)};
}
static pair pair_param(kir_builder *b, uint8_t first) {
    kir_value *l = kir_param(b, first);
    return (pair){l, kir_param(b, (uint8_t)(first + 1))};
}
static pair pair_get(kir_builder *b, kir_var *const *v) {
    kir_value *l = kir_get(b, v[0]);
    return (pair){l, kir_get(b, v[1])};
}
static pair pair_select(kir_builder *b, kir_value *c, pair x, pair y) {
    kir_value *l = kir_select(b, c, x.l, y.l);
    return (pair){l, kir_select(b, c, x.h, y.h)};
}
static pair pair_each(kir_builder *b, kir_op o, pair x, pair y) {
    kir_value *l = kir_binary(b, o, x.l, y.l);
    return (pair){l, kir_binary(b, o, x.h, y.h)};
}
static pair pair_product(kir_builder *b, kir_value *x, kir_value *y) { /* of two u32 */
    kir_value *l = kir_mul(b, x, y);
    return (pair){l, kir_binary(b, KIR_MULHI_U, x, y)};
}
static pair pair_add(kir_builder *b, pair x, pair y) {
    kir_value *l = kir_add(b, x.l, y.l), *carry = bit(b, below(b, l, x.l));
    return (pair){l, kir_add(b, kir_add(b, x.h, y.h), carry)};
}
static pair pair_sub(kir_builder *b, pair x, pair y) {
    kir_value *l = kir_sub(b, x.l, y.l), *borrow = bit(b, below(b, x.l, y.l));
    return (pair){l, kir_sub(b, kir_sub(b, x.h, y.h), borrow)};
}
static pair pair_negate_if(kir_builder *b, kir_value *c, pair x) {
    return pair_select(b, c, pair_sub(b, pair_const(b, 0), x), x);
}
static pair pair_mul(kir_builder *b, pair x, pair y) {
    kir_value *h = kir_binary(b, KIR_MULHI_U, x.l, y.l);
    h = kir_add(b, h, kir_mul(b, x.l, y.h));
    kir_value *l = kir_mul(b, x.l, y.l);
    return (pair){l, kir_add(b, h, kir_mul(b, x.h, y.l))};
}
static kir_value *pair_equal(kir_builder *b, pair x, pair y) {
    pair d = pair_each(b, KIR_XOR, x, y);
    return is_zero(b, kir_binary(b, KIR_OR, d.l, d.h));
}
static kir_value *pair_below(kir_builder *b, pair x, pair y, bool is_signed) {
    kir_value *high = kir_binary(b, is_signed ? KIR_CMP_SLT : KIR_CMP_ULT, x.h, y.h);
    return kir_binary(b, KIR_OR, high,
                      kir_binary(b, KIR_AND, equal(b, x.h, y.h), below(b, x.l, y.l)));
}

/* By a variable amount modulo 64: within a half, and the move to the other half where bit 5 is set.
 */
static pair pair_shift(kir_builder *b, kir_op o, pair x, kir_value *n) {
    kir_value *s = by(b, KIR_AND, n, 31), *rest = by(b, KIR_XOR, s, 31),
              *far = kir_not(b, is_zero(b, by(b, KIR_AND, n, 32)));
    bool left = o == KIR_SHL;
    /* (y >> 1) >> (31 - s) is y >> (32 - s) also for s = 0 */
    kir_value *cross = left ? kir_binary(b, KIR_LSHR, by(b, KIR_LSHR, x.l, 1), rest)
                            : kir_binary(b, KIR_SHL, by(b, KIR_SHL, x.h, 1), rest);
    kir_value *moved = kir_binary(b, o, left ? x.l : x.h, s);
    kir_value *joined = kir_binary(
        b, KIR_OR, kir_binary(b, left ? KIR_SHL : KIR_LSHR, left ? x.h : x.l, s), cross);
    kir_value *fill = o == KIR_ASHR ? by(b, KIR_ASHR, x.h, 31) : u32(b, 0);
    kir_value *inner = kir_select(b, far, moved, joined), *outer = kir_select(b, far, fill, moved);
    return left ? (pair){outer, inner} : (pair){inner, outer};
}
static pair pair_shift_by(kir_builder *b, kir_op o, pair x, uint32_t n) {
    bool left = o == KIR_SHL;
    kir_value *near = left ? x.l : x.h, *other = left ? x.h : x.l;
    if (n == 0) return x;
    kir_value *fill = o == KIR_ASHR ? by(b, KIR_ASHR, x.h, 31) : u32(b, 0), *inner, *outer;
    if (n >= 32) {
        inner = n == 32 ? near : by(b, o, near, n - 32);
        outer = fill;
    } else {
        kir_value *cross = by(b, left ? KIR_LSHR : KIR_SHL, near, 32 - n);
        inner = kir_binary(b, KIR_OR, by(b, left ? KIR_SHL : KIR_LSHR, other, n), cross);
        outer = by(b, o, near, n);
    }
    return left ? (pair){outer, inner} : (pair){inner, outer};
}
static kir_value *pair_clz(kir_builder *b, pair x) {
    return kir_select(b, is_zero(b, x.h), kir_add(b, kir_unary(b, KIR_CLZ, x.l), u32(b, 32)),
                      kir_unary(b, KIR_CLZ, x.h));
}

static const uint8_t FOUR[] = {HG_TYPE_U32, HG_TYPE_U32, HG_TYPE_U32, HG_TYPE_U32};

static kir_function *mulhi(rewrite_pass *p) {
    rewrite_helper f = rewrite_helper_begin(p, "mulhi_u64", HG_TYPE_U32, 4, FOUR);
    if (!f.fresh) return f.function;
    kir_builder *b = &f.b;
    f.function->pure = false; /* sets the variable "high" */
    kir_value *x0 = kir_param(b, 0), *x1 = kir_param(b, 1), *y0 = kir_param(b, 2),
              *y1 = kir_param(b, 3), *none = u32(b, 0);
    pair a = {kir_binary(b, KIR_MULHI_U, x0, y0), none}, c = pair_product(b, x0, y1);
    pair d = pair_product(b, x1, y0), e = pair_product(b, x1, y1);
    pair middle = pair_add(b, a, c); /* no overflow: (2^32-1)² + 2^32 - 1 < 2^64 */
    pair low = pair_add(b, (pair){middle.l, none}, (pair){d.l, none});
    pair high = pair_add(b, e, (pair){middle.h, none});
    high = pair_add(b, high, (pair){d.h, none});
    return_pair(p, b, pair_add(b, high, (pair){low.h, none}));
    rewrite_helper_end(p, &f);
    return f.function;
}

/* Quotient or remainder; by zero 0. Two u32 are divided at once, else bit by bit from the highest
 * of the dividend. */
static kir_function *divide(rewrite_pass *p, bool rest) {
    rewrite_helper f = rewrite_helper_begin(p, rest ? "urem_u64" : "udiv_u64", HG_TYPE_U32, 4,
                                            FOUR);
    if (!f.fresh) return f.function;
    kir_builder *b = &f.b;
    f.function->pure = false;
    pair x = pair_param(b, 0), y = pair_param(b, 2);
    kir_var *v[5];
    for (int i = 0; i < 5; i++) v[i] = kir_var_create(p->out, f.function, HG_TYPE_U32, 0, NULL);
    kir_set(b, v[0], kir_binary(b, rest ? KIR_UREM : KIR_UDIV, x.l, y.l));
    kir_set(b, v[1], u32(b, 0));
    kir_value *large = kir_if_begin(b, kir_not(b, is_zero(b, kir_binary(b, KIR_OR, x.h, y.h))));
    for (int i = 0; i < 4; i++)
        kir_set(b, v[i], u32(b, 0)); /* result of the loop: quotient v0 v1, remainder v2 v3 */
    kir_set(b, v[4], kir_sub(b, u32(b, 64), pair_clz(b, x)));
    kir_value *loop = kir_loop_begin(b, true);
    kir_value *n = kir_get(b, v[4]), *done = kir_if_begin(b, is_zero(b, n));
    kir_break(b);
    kir_if_end(b, done);
    n = kir_sub(b, n, u32(b, 1));
    kir_set(b, v[4], n);
    pair r = pair_get(b, v + 2), q = pair_get(b, v);
    kir_value *out = by(b, KIR_LSHR, r.h, 31),
              *in = by(b, KIR_AND, pair_shift(b, KIR_LSHR, x, n).l, 1);
    r = pair_shift_by(b, KIR_SHL, r, 1);
    r.l = kir_binary(b, KIR_OR, r.l, in);
    kir_value *fits = kir_binary(b, KIR_OR, kir_not(b, is_zero(b, out)),
                                 kir_not(b, pair_below(b, r, y, false)));
    r = pair_select(b, fits, pair_sub(b, r, y), r);
    q = pair_shift_by(b, KIR_SHL, q, 1);
    kir_set(b, v[0], kir_binary(b, KIR_OR, q.l, bit(b, fits)));
    kir_set(b, v[1], q.h);
    kir_set(b, v[2], r.l);
    kir_set(b, v[3], r.h);
    kir_loop_end(b, loop);
    kir_value *valid = kir_not(b, is_zero(b, kir_binary(b, KIR_OR, y.l, y.h)));
    pair result = pair_get(b, rest ? v + 2 : v);
    result = pair_select(b, valid, result, pair_const(b, 0));
    kir_set(b, v[0], result.l);
    kir_set(b, v[1], result.h);
    kir_if_end(b, large);
    return_pair(p, b, pair_get(b, v));
    rewrite_helper_end(p, &f);
    return f.function;
}

static kir_function *signed_divide(rewrite_pass *p, bool rest) {
    rewrite_helper f = rewrite_helper_begin(p, rest ? "srem_u64" : "sdiv_u64", HG_TYPE_U32, 4,
                                            FOUR);
    if (!f.fresh) return f.function;
    kir_builder *b = &f.b;
    f.function->pure = false;
    pair x = pair_param(b, 0), y = pair_param(b, 2);
    kir_value *nx = kir_binary(b, KIR_CMP_SLT, x.h, u32(b, 0)),
              *ny = kir_binary(b, KIR_CMP_SLT, y.h, u32(b, 0));
    x = pair_negate_if(b, nx, x);
    y = pair_negate_if(b, ny, y);
    pair r = call_pair(p, b, divide(p, rest), 4, (kir_value *[]){x.l, x.h, y.l, y.h});
    return_pair(p, b, pair_negate_if(b, rest ? nx : kir_binary(b, KIR_XOR, nx, ny), r));
    rewrite_helper_end(p, &f);
    return f.function;
}

/* An operation whose first argument is a pair. */
static bool lower_pair(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    pair x = arg(p, v, 0), y = v->nargs > 1 ? arg(p, v, 1) : x;
    kir_value *four[] = {x.l, x.h, y.l, y.h};
    kir_op o = (kir_op)v->op;
    switch (o) {
    case KIR_ADD: set_pair(p, v, pair_add(b, x, y)); return true;
    case KIR_SUB: set_pair(p, v, pair_sub(b, x, y)); return true;
    case KIR_MUL: set_pair(p, v, pair_mul(b, x, y)); return true;
    case KIR_AND:
    case KIR_OR:
    case KIR_XOR: set_pair(p, v, pair_each(b, o, x, y)); return true;
    case KIR_MULHI_U: set_pair(p, v, call_pair(p, b, mulhi(p), 4, four)); return true;
    case KIR_UDIV:
    case KIR_UREM: set_pair(p, v, call_pair(p, b, divide(p, o == KIR_UREM), 4, four)); return true;
    case KIR_SDIV:
    case KIR_SREM:
        set_pair(p, v, call_pair(p, b, signed_divide(p, o == KIR_SREM), 4, four));
        return true;
    case KIR_SHL:
    case KIR_LSHR:
    case KIR_ASHR:
        if (v->args[1]->op == KIR_CONST)
            set_pair(p, v, pair_shift_by(b, o, x, (uint32_t)v->args[1]->u.imm & 63));
        else
            set_pair(p, v, pair_shift(b, o, x, y.l));
        return true;
    case KIR_CLZ: {
        kir_value *zeros = pair_clz(b, x);
        set_pair(p, v, (pair){zeros, u32(b, 0)});
        return true;
    }
    case KIR_CMP_EQ: rewrite_set(p, v, pair_equal(b, x, y)); return true;
    case KIR_CMP_ULT:
    case KIR_CMP_SLT: rewrite_set(p, v, pair_below(b, x, y, o == KIR_CMP_SLT)); return true;
    case KIR_TRUNC:
        rewrite_set(p, v,
                    is_narrow(p, v->type) ? by(b, KIR_AND, x.l, (1u << kir_type_bits(v->type)) - 1)
                    : v->type == HG_TYPE_U32 ? x.l
                                             : kir_convert(b, KIR_TRUNC, v->type, x.l));
        return true;
    default: return false;
    }
}

/* ---- u8 and u16 in u32 ---- */

static kir_value *mask(kir_builder *b, uint8_t t, kir_value *x) {
    return by(b, KIR_AND, x, (1u << kir_type_bits(t)) - 1);
}
static kir_value *extend(kir_builder *b, uint8_t t, kir_value *x) {
    uint32_t up = 32 - kir_type_bits(t);
    return by(b, KIR_ASHR, by(b, KIR_SHL, x, up), up);
}

static bool lower_narrow(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    kir_op o = (kir_op)v->op;
    uint8_t t = v->args[0]->type;
    uint32_t bits = kir_type_bits(t);
    kir_value *x = rewrite_arg(p, v, 0), *y = v->nargs > 1 ? rewrite_arg(p, v, 1) : NULL, *n;
    switch (o) {
    case KIR_ADD:
    case KIR_SUB:
    case KIR_MUL: rewrite_set(p, v, mask(b, t, kir_binary(b, o, x, y))); return true;
    case KIR_MULHI_U: rewrite_set(p, v, by(b, KIR_LSHR, kir_mul(b, x, y), bits)); return true;
    case KIR_SDIV:
    case KIR_SREM:
        rewrite_set(p, v, mask(b, t, kir_binary(b, o, extend(b, t, x), extend(b, t, y))));
        return true;
    case KIR_SHL:
    case KIR_LSHR:
    case KIR_ASHR:
        n = by(b, KIR_AND, y, bits - 1);
        rewrite_set(p, v,
                    o == KIR_LSHR
                        ? kir_binary(b, o, x, n)
                        : mask(b, t, kir_binary(b, o, o == KIR_ASHR ? extend(b, t, x) : x, n)));
        return true;
    case KIR_CLZ:
        rewrite_set(p, v, kir_sub(b, kir_unary(b, KIR_CLZ, x), u32(b, 32 - bits)));
        return true;
    case KIR_CMP_SLT:
        rewrite_set(p, v, kir_binary(b, o, extend(b, t, x), extend(b, t, y)));
        return true;
    case KIR_S2F: rewrite_set(p, v, kir_convert(b, o, v->type, extend(b, t, x))); return true;
    default: return false; /* the others are the same on zero-extended values */
    }
}

/* A conversion whose result is narrow or a pair. */
static bool lower_conversion(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    uint8_t from = v->args[0]->type, to = v->type;
    kir_value *x = rewrite_arg(p, v, 0);
    if (!is_split(p, to) && !is_narrow(p, to) && !is_narrow(p, from)) return false;
    uint32_t bits = kir_type_bits(to);
    switch ((kir_op)v->op) {
    case KIR_ZEXT:
    case KIR_SEXT:
        if (v->op == KIR_SEXT && is_narrow(p, from))
            x = extend(b, from, x);
        else if (type(p, from) != HG_TYPE_U32)
            x = kir_convert(b, (kir_op)v->op, HG_TYPE_U32, x);
        if (is_split(p, to))
            set_pair(p, v, (pair){x, v->op == KIR_SEXT ? by(b, KIR_ASHR, x, 31) : u32(b, 0)});
        else if (is_narrow(p, to))
            rewrite_set(p, v, mask(b, to, x));
        else
            rewrite_set(p, v,
                        to == HG_TYPE_U32
                            ? x
                            : kir_convert(b, to == HG_TYPE_U64 ? (kir_op)v->op : KIR_TRUNC, to, x));
        return true;
    case KIR_TRUNC:
        if (from == HG_TYPE_U64) x = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, x);
        rewrite_set(p, v, is_narrow(p, to) ? mask(b, to, x) : kir_convert(b, KIR_TRUNC, to, x));
        return true;
    case KIR_F2U: {
        kir_value *r = kir_convert(b, KIR_F2U, HG_TYPE_U32, x),
                  *most = u32(b, (UINT64_C(1) << bits) - 1);
        rewrite_set(p, v, kir_select(b, below(b, most, r), most, r));
        return true;
    }
    case KIR_F2S: {
        kir_value *r = kir_convert(b, KIR_F2S, HG_TYPE_U32, x),
                  *most = u32(b, (1u << (bits - 1)) - 1), *least = u32(b, 0 - (1u << (bits - 1)));
        r = kir_select(b, kir_binary(b, KIR_CMP_SLT, most, r), most, r);
        r = kir_select(b, kir_binary(b, KIR_CMP_SLT, r, least), least, r);
        rewrite_set(p, v, mask(b, to, r));
        return true;
    }
    default: return false;
    }
}

/* ---- memory ---- */

static kir_value *access(rewrite_pass *p, const kir_value *v, kir_op o, uint8_t t, uint8_t n,
                         kir_value *const *args, uint8_t size, int64_t more) {
    kir_value *a = kir_emit(&p->b, o, t, n, args);
    if (p->b.failed) return a;
    a->u.mem = v->u.mem;
    a->u.mem.split = 1;
    a->u.mem.bytes = size;
    a->u.mem.disp += more;
    return a;
}

static bool lower_fault(rewrite_pass *p, const kir_value *v) {
    if (p->caps->i64 || !v->u.fault.values) return false;
    kir_value *args[1 + 2 * KIR_FAULT_VALUES] = {rewrite_arg(p, v, 0)};
    uint8_t n = 1;
    for (uint8_t i = 1; i < v->nargs; i++) {
        pair x = arg(p, v, i);
        args[n++] = x.l;
        args[n++] = x.h;
    }
    rewrite_set(p, v, rewrite_copy_with(p, v, KIR_VOID, n, args));
    return true;
}

static bool lower_memory(rewrite_pass *p, const kir_value *v) {
    if (p->caps->i64 || v->u.mem.split) return false; /* halves are there already */
    kir_builder *b = &p->b;
    uint8_t places = kir_access_of(v).value, n = 0;
    kir_value *args[12];
    for (uint8_t i = 0; i < places; i++) {
        pair x = arg(p, v, i);
        args[n++] = x.l;
        args[n++] = x.h;
    }
    uint8_t t = v->op == KIR_STORE ? v->args[places]->type : v->type;
    if (v->op == KIR_ATOMIC) {
        for (uint8_t i = places; i < v->nargs; i++) {
            pair x = arg(p, v, i);
            args[n++] = x.l;
            if (is_split(p, t)) args[n++] = x.h;
        }
        kir_value *a = access(p, v, KIR_ATOMIC, HG_TYPE_U32, n, args, v->u.mem.bytes, 0);
        a->u.mem.high = NULL;
        rewrite_set(p, v, a);
        if (is_split(p, t)) {
            a->u.mem.high = high_var(p);
            p->values[v->id].v[1] = kir_get(b, high_var(p));
        }
        return true;
    }
    if (v->op == KIR_CHECK) {
        access(p, v, KIR_CHECK, KIR_VOID, n, args, v->u.mem.bytes, 0);
        return true;
    }
    bool store = v->op == KIR_STORE, two = is_split(p, t);
    pair x = store ? arg(p, v, places) : (pair){NULL, NULL};
    if (!two) {
        if (store) args[n++] = x.l;
        kir_value *a = access(p, v, (kir_op)v->op, store ? KIR_VOID : type(p, t), n, args,
                              v->u.mem.bytes, 0);
        if (!store) rewrite_set(p, v, a);
        return true;
    }
    if (!v->u.mem.unchecked) access(p, v, KIR_CHECK, KIR_VOID, n, args, 8, 0);
    for (int half = 0; half < 2; half++) {
        args[n] = half ? x.h : x.l;
        kir_value *a = access(p, v, (kir_op)v->op, store ? KIR_VOID : HG_TYPE_U32,
                              (uint8_t)(store ? n + 1 : n), args, 4, 4 * half);
        if (!p->b.failed) {
            a->u.mem.unchecked = 1;
            a->u.mem.bytes_wide = 4;
        }
        if (!store) p->values[v->id].v[half] = a;
    }
    return true;
}

/* ---- leaves, variables, calls ---- */

static void input(rewrite_pass *p, const kir_value *v) {
    int_state *s = p->state;
    const kir_input *from = &p->in->inputs.data[v->u.imm];
    uint32_t *first = &s->halves_of_input[v->u.imm];
    for (uint16_t i = 0; i < 2 && *first == 0; i++) {
        kir_input *in = hg_vec_push(&p->out->inputs);
        if (!in) {
            p->b.failed = true;
            return;
        }
        *in = *from;
        in->name = p->out->inputs.data[v->u.imm].name; /* the copy's own */
        in->type = HG_TYPE_U32;
        in->limb_bytes = 4;
        in->limb = (uint16_t)(from->limb_bytes == 8 ? 2 * from->limb + i : i);
        if (i) *first = (uint32_t)p->out->inputs.count - 1;
    }
    for (uint32_t i = 0; i < 2; i++) {
        kir_value *x = kir_emit(&p->b, KIR_INPUT, HG_TYPE_U32, 0, NULL);
        x->u.imm = *first - 1 + i;
        p->values[v->id].v[i] = x;
    }
}

/* PARAM of the new function: u64 parameters before this one take two places. */
static void parameter(rewrite_pass *p, const kir_value *v) {
    uint8_t place = 0;
    for (uint64_t i = 0; i < v->u.imm; i++)
        place = (uint8_t)(place + (is_split(p, p->function->param_types[i]) ? 2 : 1));
    rewrite_set(p, v, kir_param(&p->b, place));
    if (is_split(p, v->type)) p->values[v->id].v[1] = kir_param(&p->b, (uint8_t)(place + 1));
}

static void call(rewrite_pass *p, const kir_value *v) {
    kir_value *args[32];
    uint8_t n = 0;
    for (uint8_t i = 0; i < v->nargs; i++) {
        pair x = arg(p, v, i);
        args[n++] = x.l;
        if (is_split(p, v->args[i]->type)) args[n++] = x.h;
    }
    rewrite_set(p, v, rewrite_copy_with(p, v, type(p, v->type), n, args));
    if (is_split(p, v->type)) p->values[v->id].v[1] = kir_get(&p->b, high_var(p));
}

/* Elements of arrays and tables of u64 are two of u32. */
static void elements(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    kir_value *i = by(b, KIR_SHL, rewrite_arg(p, v, 0), 1), *next = kir_add(b, i, u32(b, 1));
    if (v->op == KIR_ARRAY_SET) {
        pair x = arg(p, v, 1);
        kir_array_set(b, p->vars[v->u.var->id].v[0], i, x.l);
        kir_array_set(b, p->vars[v->u.var->id].v[0], next, x.h);
    } else if (v->op == KIR_ARRAY_GET) {
        kir_var *a = p->vars[v->u.var->id].v[0];
        kir_value *l = kir_array_get(b, a, i);
        set_pair(p, v, (pair){l, kir_array_get(b, a, next)});
    } else {
        kir_table *t = p->tables[v->u.table->id];
        kir_value *l = kir_table_get(b, t, i);
        set_pair(p, v, (pair){l, kir_table_get(b, t, next)});
    }
}

static bool lower_split_result(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    switch ((kir_op)v->op) {
    case KIR_CONST: set_pair(p, v, pair_const(b, v->u.imm)); return true;
    case KIR_INPUT: input(p, v); return true;
    case KIR_ID:
        for (int i = 0; i < 2; i++) {
            kir_value *x = kir_emit(b, KIR_ID, HG_TYPE_U32, 0, NULL);
            x->u.imm = v->u.imm | (i ? KIR_ID_HIGH : 0);
            p->values[v->id].v[i] = x;
        }
        return true;
    case KIR_SELECT:
        set_pair(p, v, pair_select(b, rewrite_arg(p, v, 0), arg(p, v, 1), arg(p, v, 2)));
        return true;
    case KIR_VAR_GET: {
        rewrite_var x = p->vars[v->u.var->id];
        kir_value *l = kir_get(b, x.v[0]);
        set_pair(p, v, (pair){l, kir_get(b, x.v[1])});
        return true;
    }
    case KIR_ARRAY_GET:
    case KIR_TABLE_GET: elements(p, v); return true;
    default: return false;
    }
}

static bool lower(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    switch ((kir_op)v->op) {
    case KIR_LOAD:
    case KIR_STORE:
    case KIR_CHECK:
    case KIR_ATOMIC: return lower_memory(p, v);
    case KIR_FAULT_IF: return lower_fault(p, v);
    case KIR_CALL: call(p, v); return true;
    case KIR_PARAM: parameter(p, v); return true;
    case KIR_RETURN:
        if (v->nargs == 0 || !is_split(p, v->args[0]->type)) return false;
        p->b.function->pure = false;
        return_pair(p, b, arg(p, v, 0));
        return true;
    case KIR_VAR_SET:
        if (!is_split(p, v->args[0]->type)) return false;
        kir_set(b, p->vars[v->u.var->id].v[0], arg(p, v, 0).l);
        kir_set(b, p->vars[v->u.var->id].v[1], arg(p, v, 0).h);
        return true;
    case KIR_ARRAY_SET:
        if (!is_split(p, v->args[1]->type)) return false;
        elements(p, v);
        return true;
    default: break;
    }
    if (is_split(p, v->type) && lower_split_result(p, v)) return true;
    if (v->nargs == 0) return false;
    if (is_split(p, v->args[0]->type)) return lower_pair(p, v);
    if (is_narrow(p, v->args[0]->type) && lower_narrow(p, v)) return true;
    return lower_conversion(p, v);
}

/* ---- declarations ---- */

static bool declare_var(rewrite_pass *p, const kir_var *v, kir_function *owner) {
    if (!is_split(p, v->type)) return false;
    rewrite_var *to = &p->vars[v->id];
    if (v->by_reference)
        to->v[0] = kir_array_param(owner, HG_TYPE_U32, 2 * v->length, v->name);
    else
        to->v[0] = kir_var_create(p->out, owner, HG_TYPE_U32, 2 * v->length, v->name);
    if (!v->length) to->v[1] = kir_var_create(p->out, owner, HG_TYPE_U32, 0, v->name);
    if (!to->v[0] || (!v->length && !to->v[1])) p->b.failed = true;
    return true;
}

static void declare_params(rewrite_pass *p, const kir_function *from, kir_function *to) {
    for (uint8_t i = 0; i < from->param_count; i++) {
        for (int half = 0; half < (is_split(p, from->param_types[i]) ? 2 : 1); half++) {
            if (to->param_count == HG_COUNT_OF(to->param_types))
                p->b.failed = true;
            else
                to->param_types[to->param_count++] = type(p, from->param_types[i]);
        }
    }
}

static kir_table *declare_table(rewrite_pass *p, const kir_table *t) {
    if (is_split(p, t->type))
        return kir_table_create(p->out, HG_TYPE_U32, 2 * t->length, t->data, t->name);
    if (!is_narrow(p, t->type)) return NULL;
    uint32_t *wide = hg_alloc((t->length + 1u) * sizeof *wide);
    const uint8_t *bytes = t->data;
    for (uint32_t i = 0; i < t->length && wide; i++)
        wide[i] = t->type == HG_TYPE_U8 ? bytes[i]
                                        : (uint32_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
    kir_table *copy = wide ? kir_table_create(p->out, HG_TYPE_U32, t->length, wide, t->name) : NULL;
    if (!copy) p->b.failed = true;
    hg_free(wide);
    return copy;
}

static const rewrite_rules INT_RULES = {.type = type,
                                        .lower = lower,
                                        .declare_var = declare_var,
                                        .declare_params = declare_params,
                                        .declare_table = declare_table};

/* What sets "high", itself or through a call, is no longer pure. */
static void forget_purity(kir_module *m) {
    for (bool changed = true; changed;) {
        changed = false;
        for (kir_function *f = m->functions; f; f = f->next)
            for (const kir_value *v = f->pure ? kir_walk(NULL, f->body) : NULL; v && f->pure;
                 v = kir_walk(v, f->body))
                if ((v->op == KIR_VAR_SET && !v->u.var->function) ||
                    (v->op == KIR_CALL && !v->u.call.function->pure)) {
                    f->pure = false;
                    changed = true;
                }
    }
}

hg_status legal_int(const kir_module *in, const kir_caps *caps, kir_module **out) {
    int_state s = {0};
    *out = NULL;
    s.halves_of_input = hg_calloc((size_t)in->inputs.count + 1, sizeof *s.halves_of_input);
    if (!s.halves_of_input) return hg_fail_memory();
    hg_status status = rewrite_run(in, caps, &INT_RULES, &s, out);
    hg_free(s.halves_of_input);
    if (status == HG_OK) forget_purity(*out);
    return status;
}
