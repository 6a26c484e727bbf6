/* Wide integers of few limbs as values, one a limb: sums are chains of carries, shifts by constants
 * and conversions say which limbs are which, and limbs that are zero take part in no product. What
 * else there is (quotients, shifts by what is not known, floats) goes through arrays.
 * Requires: called by the pass over wide integers, with limbs of 64 bits. */
#include "kir/access.h"
#include "kir/builder.h"
#include "kir/legalise/wide.h"
#include "kir/sugar.h"
#include <string.h>

enum { LIMB_BITS = 64, LIMB_BYTES = 8 };
/* Operations that a module may become: beyond, compilers take longer than loops over limbs. */
enum { MOST_MADE = 2048 };

static uint32_t limbs_in(uint8_t type) { return kir_type_bits(type) / LIMB_BITS; }

/* About how many an operation on wide integers becomes; another one: 0. */
static uint64_t made_of(const kir_value *v) {
    uint64_t n = is_wide(v->type) ? limbs_in(v->type) : 0;
    for (uint8_t i = 0; i < v->nargs; i++)
        if (is_wide(v->args[i]->type) && limbs_in(v->args[i]->type) > n)
            n = limbs_in(v->args[i]->type);
    return v->op == KIR_MUL ? 4 * n * n : 3 * n;
}

bool wide_suits_values(const kir_module *m) {
    uint64_t made = 0;
    if (m->uses_barrier || m->uses_shared) return false; /* blocks are for vectors */
    for (const kir_var *v = m->vars; v; v = v->next)
        if (is_wide(v->type) && limbs_in(v->type) > REWRITE_MOST_PARTS) return false;
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (is_wide(v->type) && limbs_in(v->type) > REWRITE_MOST_PARTS) return false;
            made += made_of(v);
        }
    return made <= MOST_MADE;
}

bool wide_declare_values(rewrite_pass *p, const kir_var *v, kir_function *owner) {
    for (uint32_t k = 0; k < limbs_in(v->type); k++) {
        p->vars[v->id].v[k] = kir_var_create(p->out, owner, HG_TYPE_U64, 0, v->name);
        if (!p->vars[v->id].v[k] || v->length) p->b.failed = true;
    }
    return true;
}

/* ---- limbs ---- */

static kir_value **limbs_of(const rewrite_pass *p, const kir_value *v) {
    return p->values[v->id].v;
}
static kir_value *word(kir_builder *b, uint64_t x) { return kir_const(b, HG_TYPE_U64, x); }
static bool is_none(const kir_value *x) { return x->op == KIR_CONST && x->u.imm == 0; }
static kir_value *bit(kir_builder *b, kir_value *condition) {
    return kir_select(b, condition, word(b, 1), word(b, 0));
}

/* ---- sums, products ---- */

static kir_value *sum(kir_builder *b, kir_op op, uint32_t n, kir_value **r, kir_value *const *x,
                      kir_value *const *y) {
    kir_value *carry = NULL, *next = NULL;
    for (uint32_t k = 0; k < n; k++) {
        const bool same = !carry && is_none(y[k]);
        r[k] = same ? x[k] : kir_carry(b, op == KIR_SUB, x[k], y[k], carry, &next);
        carry = same ? NULL : next;
    }
    return carry;
}

/* *x += y; what carries over is added to *carry. NULL: zero. */
static void add_to(kir_builder *b, kir_value **x, kir_value *y, kir_value **carry) {
    if (!y) return;
    if (!*x) {
        *x = y;
        return;
    }
    kir_value *s = kir_add(b, *x, y);
    if (carry) {
        kir_value *over = bit(b, kir_binary(b, KIR_CMP_ULT, s, y));
        *carry = *carry ? kir_add(b, *carry, over) : over;
    }
    *x = s;
}

static void product(kir_builder *b, uint32_t n, kir_value **r, kir_value *const *x,
                    kir_value *const *y) {
    for (uint32_t k = 0; k < n; k++) r[k] = NULL;
    for (uint32_t i = 0; i < n; i++) {
        kir_value *above = NULL; /* for the next limb */
        if (is_none(x[i])) continue;
        for (uint32_t k = i; k < n; k++) {
            kir_value *low = above, *high = NULL;
            const bool last = k + 1 == n;
            if (!is_none(y[k - i])) {
                low = kir_mul(b, x[i], y[k - i]);
                if (!last) high = kir_binary(b, KIR_MULHI_U, x[i], y[k - i]);
                add_to(b, &low, above, last ? NULL : &high);
            }
            add_to(b, &r[k], low, last ? NULL : &high);
            above = high;
        }
    }
    for (uint32_t k = 0; k < n; k++)
        if (!r[k]) r[k] = word(b, 0);
}

/* ---- the rest ---- */

static void shift(rewrite_pass *p, const kir_value *v, uint64_t by) {
    kir_builder *b = &p->b;
    const uint32_t n = limbs_in(v->type), whole = (uint32_t)(by % (n * LIMB_BITS)) / LIMB_BITS,
                   part = (uint32_t)(by % LIMB_BITS);
    const bool left = v->op == KIR_SHL;
    kir_value **x = limbs_of(p, v->args[0]), **r = limbs_of(p, v), *fill = word(b, 0);
    if (v->op == KIR_ASHR) fill = kir_binary(b, KIR_ASHR, x[n - 1], u32(b, LIMB_BITS - 1));
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t near = left ? k - whole : k + whole, far = left ? near - 1 : near + 1;
        kir_value *a = near < n ? x[near] : fill, *c = far < n ? x[far] : fill;
        r[k] = a;
        if (part == 0 || a == c) continue; /* both are the fill */
        r[k] = is_none(a) ? a : kir_binary(b, left ? KIR_SHL : KIR_LSHR, a, u32(b, part));
        if (is_none(c)) continue;
        c = kir_binary(b, left ? KIR_LSHR : KIR_SHL, c, u32(b, LIMB_BITS - part));
        r[k] = is_none(r[k]) ? c : kir_binary(b, KIR_OR, r[k], c);
    }
}

static void compare(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    const uint32_t n = limbs_in(v->args[0]->type);
    kir_value *x[REWRITE_MOST_PARTS], *y[REWRITE_MOST_PARTS], *unused[REWRITE_MOST_PARTS];
    for (uint32_t k = 0; k < n; k++) {
        x[k] = limbs_of(p, v->args[0])[k];
        y[k] = limbs_of(p, v->args[1])[k];
    }
    if (v->op == KIR_CMP_EQ) {
        kir_value *differ = kir_binary(b, KIR_XOR, x[0], y[0]);
        for (uint32_t k = 1; k < n; k++)
            differ = kir_binary(b, KIR_OR, differ, kir_binary(b, KIR_XOR, x[k], y[k]));
        rewrite_set(p, v, kir_binary(b, KIR_CMP_EQ, differ, word(b, 0)));
        return;
    }
    if (v->op == KIR_CMP_SLT) { /* as unsigned ones, 2^(width - 1) more */
        x[n - 1] = kir_binary(b, KIR_XOR, x[n - 1], word(b, UINT64_C(1) << 63));
        y[n - 1] = kir_binary(b, KIR_XOR, y[n - 1], word(b, UINT64_C(1) << 63));
    }
    kir_value *less = sum(b, KIR_SUB, n, unused, x, y);
    rewrite_set(p, v, less ? less : kir_const(b, KIR_BOOL, 0));
}

static void extend(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    const kir_value *from = v->args[0];
    kir_value **r = limbs_of(p, v), *x = rewrite_arg(p, v, 0);
    const uint32_t kept = is_wide(from->type) ? limbs_in(from->type) : 1;
    for (uint32_t k = 0; k < kept; k++) r[k] = limbs_of(p, from)[k];
    if (kir_type_bits(from->type) < LIMB_BITS) r[0] = kir_convert(b, (kir_op)v->op, HG_TYPE_U64, x);
    kir_value *fill = word(b, 0);
    if (v->op == KIR_SEXT) fill = kir_binary(b, KIR_ASHR, r[kept - 1], u32(b, LIMB_BITS - 1));
    for (uint32_t k = kept; k < limbs_in(v->type); k++) r[k] = fill;
}

static void truncate_to(rewrite_pass *p, const kir_value *v) {
    kir_value **r = limbs_of(p, v);
    const uint32_t bits = kir_type_bits(v->type);
    for (uint32_t k = 0; k < (bits + LIMB_BITS - 1) / LIMB_BITS; k++)
        r[k] = limbs_of(p, v->args[0])[k];
    if (bits < LIMB_BITS) r[0] = kir_convert(&p->b, KIR_TRUNC, v->type, r[0]);
}

/* The access is checked as a whole, then goes limb by limb, unchecked. */
static void memory(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    const kir_access of = kir_access_of(v);
    const bool store = v->op == KIR_STORE;
    const kir_value *whole = store ? v->args[of.value] : v;
    kir_value *args[4] = {0};
    for (uint8_t i = 0; i < of.value; i++) args[i] = rewrite_arg(p, v, i);
    if (!v->u.mem.unchecked) {
        kir_value *check = kir_emit(b, KIR_CHECK, KIR_VOID, of.value, args);
        check->u.mem = v->u.mem;
        check->u.mem.bytes_wide = (uint16_t)kir_type_bytes(whole->type);
    }
    for (uint32_t k = 0; k < limbs_in(whole->type); k++) {
        if (store) args[of.value] = limbs_of(p, whole)[k];
        kir_value *access = kir_emit(b, (kir_op)v->op, store ? KIR_VOID : HG_TYPE_U64,
                                     (uint8_t)(of.value + store), args);
        access->u.mem = v->u.mem;
        access->u.mem.disp += (int64_t)k * LIMB_BYTES;
        access->u.mem.bytes = LIMB_BYTES;
        access->u.mem.bytes_wide = LIMB_BYTES;
        access->u.mem.unchecked = 1;
        if (!store) limbs_of(p, v)[k] = access;
    }
}

/* Whether limbs have places that one displacement more reaches. */
static bool is_plain(const kir_value *v) {
    return v->u.mem.space != KIR_FLAT && v->u.mem.disp < INT64_MAX - 512;
}

/* By the operations on arrays. */
static bool through_arrays(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    rewrite_value *made = &p->values[v->id];
    for (uint8_t i = 0; i < v->nargs; i++) {
        const kir_value *arg = v->args[i];
        rewrite_value *at = &p->values[arg->id];
        if (!is_wide(arg->type) || at->array) continue;
        at->array = wide_take_array(p, arg->type);
        for (uint32_t k = 0; k < limbs_in(arg->type) && at->array; k++)
            kir_array_set(b, at->array, u32(b, k), at->v[k]);
    }
    const bool lowered = !p->b.failed && wide_lower_arrays(p, v);
    for (uint32_t k = 0; is_wide(v->type) && made->array && k < limbs_in(v->type); k++)
        made->v[k] = kir_array_get(b, made->array, u32(b, k));
    if (is_wide(v->type) && made->array) wide_give_array(p, v->type, made->array);
    made->array = NULL;
    for (uint8_t i = 0; i < v->nargs; i++) {
        rewrite_value *at = &p->values[v->args[i]->id];
        if (at->array) wide_give_array(p, v->args[i]->type, at->array);
        at->array = NULL;
    }
    return lowered || p->b.failed;
}

static bool is_wide_at_all(const kir_value *v) {
    bool any = is_wide(v->type) || ((v->op == KIR_VAR_SET) && is_wide(v->u.var->type));
    for (uint8_t i = 0; i < v->nargs; i++) any = any || is_wide(v->args[i]->type);
    return any;
}

bool wide_lower_values(rewrite_pass *p, const kir_value *v) {
    kir_builder *b = &p->b;
    if (!is_wide_at_all(v)) return false;
    const uint32_t n = is_wide(v->type) ? limbs_in(v->type) : 0;
    kir_value **r = limbs_of(p, v), **x = v->nargs ? limbs_of(p, v->args[0]) : NULL,
              **y = v->nargs > 1 ? limbs_of(p, v->args[1]) : NULL;
    switch ((kir_op)v->op) {
    case KIR_CONST:
        for (uint32_t k = 0; k < n; k++) {
            uint64_t limb;
            memcpy(&limb, v->u.bytes + (size_t)k * LIMB_BYTES, sizeof limb);
            r[k] = word(b, limb);
        }
        return true;
    case KIR_INPUT:
        for (uint32_t k = 0; k < n && !b->failed; k++) r[k] = wide_input(p, v, k);
        return true;
    case KIR_LOAD:
    case KIR_STORE:
        if (!is_plain(v)) return through_arrays(p, v);
        memory(p, v);
        return true;
    case KIR_VAR_GET:
        for (uint32_t k = 0; k < n; k++) r[k] = kir_get(b, p->vars[v->u.var->id].v[k]);
        return true;
    case KIR_VAR_SET:
        for (uint32_t k = 0; k < limbs_in(v->args[0]->type); k++)
            kir_set(b, p->vars[v->u.var->id].v[k], x[k]);
        return true;
    case KIR_SELECT: {
        kir_value **z = limbs_of(p, v->args[2]), *condition = rewrite_arg(p, v, 0);
        for (uint32_t k = 0; k < n; k++) r[k] = kir_select(b, condition, y[k], z[k]);
        return true;
    }
    case KIR_ADD:
    case KIR_SUB: (void)sum(b, (kir_op)v->op, n, r, x, y); return true;
    case KIR_MUL: product(b, n, r, x, y); return true;
    case KIR_AND:
    case KIR_OR:
    case KIR_XOR:
        for (uint32_t k = 0; k < n; k++) r[k] = kir_binary(b, (kir_op)v->op, x[k], y[k]);
        return true;
    case KIR_SHL:
    case KIR_LSHR:
    case KIR_ASHR:
        if (v->args[1]->op != KIR_CONST) return through_arrays(p, v);
        shift(p, v, v->args[1]->u.imm);
        return true;
    case KIR_CMP_EQ:
    case KIR_CMP_ULT:
    case KIR_CMP_SLT: compare(p, v); return true;
    case KIR_ZEXT:
    case KIR_SEXT: extend(p, v); return true;
    case KIR_TRUNC: truncate_to(p, v); return true;
    default: return through_arrays(p, v);
    }
}
