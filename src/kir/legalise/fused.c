/* F32 fused multiply-adds by sums and products of F32, where a target has neither them nor F64.
 *
 * x y + c is p + e + c, where p = fl(x y) and e = x y - p, and p + c is s + t exactly (Knuth, TAOCP
 * 2, 4.2.2); the result is s + r, rounded, with r = fl(t + e). That is right unless r is where the
 * rounding of s + r changes though t + e is not: s is no smaller than p / 2 unless t is 0, so
 * |t + e| <= 1.5 ulp(s), and such an r is a multiple of ulp(s) / 4: it ends in 21 zeros at least.
 * e comes of integers: x y and p as whole numbers of the last place of x y differ by at most 2^23,
 * so that their lowest 32 bits tell it. (Boldo and Melquiond, "Emulation of a FMA and correctly
 * rounded sums", 2008, round t + e to odd instead, which takes 14 operations more.)
 *
 * What is not in the range of this, or near such an r, is worked out in integers: those of several
 * multiply-adds that do not need each other one after the other in one loop, since compilers for
 * vectors without jumps do both branches of an IF, and write functions out where they are called.
 * A multiply-add that is alone is integer code.
 * Must not know: targets by name. */
#include "kir/legalise/fused.h"
#include "kir/builder.h"
#include "kir/legalise/soft.h"
#include "kir/sugar.h"
#include <string.h>

enum { MOST_MEMBERS = 64 };

/* ---- what goes together ---- */

struct fused_batch {
    uint32_t first, count;          /* of members */
    uint32_t first_set, kept_count; /* of sets */
};

/* The one that grows. */
typedef struct growing {
    fused_state *s;
    fused_batch batch;
    uint32_t kept; /* sets in front of the last member */
    const kir_region *region;
} growing;

static void close(growing *g) {
    fused_state *s = g->s;
    if (g->batch.count < 2) {
        s->members.count = g->batch.first;
        s->sets.count = g->batch.first_set;
    } else {
        fused_batch *made = hg_vec_push(&s->batches);
        g->batch.kept_count = g->kept;
        s->sets.count = g->batch.first_set + g->kept;
        s->failed = s->failed || !made;
        if (made) *made = g->batch;
        for (uint32_t i = 0; i < g->batch.count; i++)
            s->of[s->members.data[g->batch.first + i]->id] = (uint32_t)s->batches.count;
        for (uint32_t i = 0; i < g->kept; i++)
            s->of[s->sets.data[g->batch.first_set + i]->id] = (uint32_t)s->batches.count;
    }
    g->batch = (fused_batch){(uint32_t)s->members.count, 0, (uint32_t)s->sets.count, 0};
    g->kept = 0;
}

static bool is_member(const growing *g, const kir_value *v) {
    for (uint64_t i = g->batch.first; i < g->s->members.count; i++)
        if (g->s->members.data[i] == v) return true;
    return false;
}

static bool needs_member(const growing *g, const kir_value *v) {
    for (uint8_t i = 0; i < v->nargs; i++)
        if (v->args[i]->op == KIR_FFMA && is_member(g, v->args[i])) return true;
    return false;
}

static bool is_set_later(const growing *g, const kir_value *v) {
    const fused_state *s = g->s;
    if (v->op == KIR_CALL) return s->sets.count > g->batch.first_set; /* it may read any */
    if (v->op != KIR_VAR_GET && v->op != KIR_VAR_SET) return false;
    for (uint64_t i = g->batch.first_set; i < s->sets.count; i++)
        if (s->sets.data[i]->u.var == v->u.var) return true;
    return false;
}

static void add(growing *g, const kir_value *v) {
    const kir_value **at = hg_vec_push(&g->s->members);
    if (!at) {
        g->s->failed = true;
        return;
    }
    *at = v;
    g->batch.count++;
    g->kept = (uint32_t)g->s->sets.count - g->batch.first_set;
    if (g->batch.count == MOST_MEMBERS) close(g);
}

/* A variable may be set later as long as nobody looks. */
static void set_later(growing *g, const kir_value *v) {
    const kir_value **at = hg_vec_push(&g->s->sets);
    g->s->failed = g->s->failed || !at;
    if (at) *at = v;
}

static void visit(growing *g, const kir_value *v) {
    bool needs = needs_member(g, v), fma = v->op == KIR_FFMA && v->type == HG_TYPE_F32;
    if (v->parent != g->region || v->body[0] || kir_is_jump(v) || is_set_later(g, v) ||
        (needs && v->op != KIR_VAR_SET))
        close(g);
    g->region = v->parent;
    if (fma)
        add(g, v);
    else if (needs && v->op == KIR_VAR_SET && g->batch.count)
        set_later(g, v);
}

void fused_begin(rewrite_pass *p) {
    fused_state *s = p->state;
    growing g = {.s = s};
    fused_end(s);
    if (!fused_by_sums(p)) return;
    s->of = hg_calloc((size_t)p->function->value_count + 1, sizeof *s->of);
    if (!s->of) {
        p->b.failed = true;
        return;
    }
    for (const kir_value *v = kir_walk(NULL, p->function->body); v && !s->failed;
         v = kir_walk(v, p->function->body))
        visit(&g, v);
    if (!s->failed) close(&g);
    p->b.failed = p->b.failed || s->failed;
}

void fused_end(fused_state *s) {
    hg_vec_free(&s->members);
    hg_vec_free(&s->sets);
    hg_vec_free(&s->batches);
    hg_free(s->of);
    memset(s, 0, sizeof *s);
}

/* ---- what they become ---- */

enum {
    SIGNED_EXPONENT = -0x00800000, /* the bits of the sign and of the exponent */
    FRACTION = 0x007FFFFF,
    MAGNITUDE = 0x7FFFFFFF,
    HARD = -1 /* bits that are no result: a NaN that is not the one of every other operation */
};
#define exponent_of_2(n) ((uint32_t)((n) + 127) << 23)

static kir_value *mask(kir_builder *b, kir_value *x, int32_t bits) {
    return by(b, KIR_AND, x, (uint32_t)bits);
}
static kir_value *bits_of(kir_builder *b, kir_value *x) {
    return kir_convert(b, KIR_BITCAST, HG_TYPE_U32, x);
}
static kir_value *real_of(kir_builder *b, kir_value *x) {
    return kir_convert(b, KIR_BITCAST, HG_TYPE_F32, x);
}
static kir_value *significand(kir_builder *b, kir_value *x) {
    return by(b, KIR_OR, mask(b, x, FRACTION), FRACTION + 1);
}
#define either(b, x, y) kir_binary(b, KIR_OR, x, y)
#define both(b, x, y) kir_binary(b, KIR_AND, x, y)

/* 0 < |x| < 2^n */
static kir_value *is_small(kir_builder *b, kir_value *x, int n) {
    kir_value *above = by(b, KIR_SUB, mask(b, x, MAGNITUDE), 1);
    return by(b, KIR_CMP_ULT, above, exponent_of_2(n) - 1);
}

/* Factors are 0 or from 2^-40 on, so that e is a whole number of 2^-126, and c, where subnormal
 * numbers are lost, is 0 or from 2^-98 on: t is such a number too. What is too large, infinite or
 * no number makes the result so. Two zeros have a sign that s + r has not: c = -0 is left out. */
static kir_function *bits_by_sums(rewrite_pass *p) {
    const uint8_t types[] = {HG_TYPE_F32, HG_TYPE_F32, HG_TYPE_F32};
    rewrite_helper h = rewrite_helper_begin(p, "fma_by_sums_f32", HG_TYPE_U32, 3, types);
    if (!h.fresh) return h.function;
    kir_builder *b = &h.b;
    kir_value *c = kir_param(b, 2), *product = kir_mul(b, kir_param(b, 0), kir_param(b, 1));
    kir_value *x = bits_of(b, kir_param(b, 0)), *y = bits_of(b, kir_param(b, 1)),
              *z = bits_of(b, c), *w = bits_of(b, product);
    /* e: exponents with signs add up as they do */
    kir_value *exponents = kir_add(b, mask(b, x, SIGNED_EXPONENT), mask(b, y, SIGNED_EXPONENT)),
              *carried = kir_sub(b, mask(b, w, SIGNED_EXPONENT), exponents),
              *below_2 = by(b, KIR_CMP_EQ, carried, 0u - exponent_of_2(0));
    kir_value *whole = kir_mul(b, significand(b, x), significand(b, y)),
              *rounded = kir_select(b, below_2, shift_by(b, KIR_SHL, w, 23),
                                    shift_by(b, KIR_SHL, w, 24)),
              *lost = kir_sub(b, whole, rounded);
    kir_value *unit = real_of(b, by(b, KIR_SUB, exponents, exponent_of_2(46))),
              *scaled = kir_mul(b, kir_convert(b, KIR_S2F, HG_TYPE_F32, lost), unit),
              *e = kir_select(b, is_zero(b, mask(b, w, MAGNITUDE)), kir_f32(b, 0), scaled);
    kir_value *s = kir_add(b, product, c), *of_c = kir_sub(b, s, product),
              *off_product = kir_sub(b, product, kir_sub(b, s, of_c)),
              *t = kir_add(b, off_product, kir_sub(b, c, of_c));
    kir_value *r = kir_add(b, t, e), *result = bits_of(b, kir_add(b, s, r));
    kir_value *at_edge = is_zero(b, mask(b, bits_of(b, r), 0x1FFFFF)),
              *inexact = both(b, kir_not(b, is_zero(b, mask(b, bits_of(b, t), MAGNITUDE))),
                              kir_not(b, is_zero(b, lost)));
    kir_value *hard = either(b, is_small(b, x, -40), is_small(b, y, -40));
    hard = either(b, hard, by(b, KIR_CMP_EQ, z, 0x80000000));
    if (!p->caps->subnormals) hard = either(b, hard, is_small(b, z, -98));
    hard = either(b, hard, both(b, at_edge, inexact));
    hard = either(b, hard, below(b, u32(b, exponent_of_2(126)), mask(b, result, MAGNITUDE)));
    kir_return(b, kir_select(b, hard, u32(b, (uint32_t)HARD), result));
    rewrite_helper_end(p, &h);
    return h.function;
}

bool fused_by_sums(const rewrite_pass *p) {
    const kir_caps *c = p->caps;
    return !c->fma32 && !c->f64 && !p->in->relaxed && !c->inexact[KIR_FADD][0] &&
           !c->inexact[KIR_FSUB][0] && !c->inexact[KIR_FMUL][0] && !c->inexact[KIR_S2F][0];
}

/* What is hard of a batch, one after the other. */
static void write_hard(rewrite_pass *p, const kir_value *const *members, uint32_t count,
                       kir_var *const *results) {
    kir_builder *b = &p->b;
    kir_value *loop = kir_loop_begin(b, true), *chosen = u32(b, count), *args[3], *bits[3];
    loop->u.loop.most = count + 1;
    for (uint8_t k = 0; k < 3; k++) args[k] = rewrite_arg(p, members[0], k);
    for (uint32_t i = 0; i < count; i++) {
        kir_value *hard = by(b, KIR_CMP_EQ, kir_get(b, results[i]), (uint32_t)HARD);
        chosen = kir_select(b, hard, u32(b, i), chosen);
        for (uint8_t k = 0; k < 3 && i; k++) {
            kir_value *arg = rewrite_arg(p, members[i], k);
            if (arg != args[k]) args[k] = kir_select(b, hard, arg, args[k]);
        }
    }
    kir_value *none = kir_if_begin(b, by(b, KIR_CMP_EQ, chosen, count));
    kir_break(b);
    kir_if_end(b, none);
    for (uint8_t k = 0; k < 3; k++) bits[k] = bits_of(b, args[k]);
    kir_value *exact = kir_call(b, soft_arithmetic(p, KIR_FFMA, HG_TYPE_F32), 3, bits, NULL);
    for (uint32_t i = 0; i < count; i++) {
        kir_value *is_it = by(b, KIR_CMP_EQ, chosen, i);
        kir_set(b, results[i], kir_select(b, is_it, exact, kir_get(b, results[i])));
    }
    kir_loop_end(b, loop);
}

static void write_batch(rewrite_pass *p, const fused_batch *batch) {
    const fused_state *s = p->state;
    const kir_value *const *members = s->members.data + batch->first;
    kir_builder *b = &p->b;
    kir_var *results[MOST_MEMBERS];
    kir_function *by_sums = bits_by_sums(p);
    for (uint32_t i = 0; i < batch->count; i++) {
        kir_value *args[3];
        results[i] = kir_var_create(p->out, b->function, HG_TYPE_U32, 0, "fused");
        if (!results[i]) {
            b->failed = true;
            return;
        }
        for (uint8_t k = 0; k < 3; k++) args[k] = rewrite_arg(p, members[i], k);
        kir_set(b, results[i], kir_call(b, by_sums, 3, args, NULL));
    }
    write_hard(p, members, batch->count, results);
    for (uint32_t i = 0; i < batch->count; i++)
        rewrite_set(p, members[i], real_of(b, kir_get(b, results[i])));
    for (uint32_t i = 0; i < batch->kept_count; i++) {
        const kir_value *set = s->sets.data[batch->first_set + i];
        kir_value *value = rewrite_arg(p, set, 0);
        rewrite_set(p, set, rewrite_copy_with(p, set, set->type, 1, &value));
    }
}

bool fused_lower(rewrite_pass *p, const kir_value *v) {
    const fused_state *s = p->state;
    uint32_t number = s->of ? s->of[v->id] : 0;
    if (!number) return false;
    const fused_batch *batch = &s->batches.data[number - 1];
    if (v == s->members.data[batch->first + batch->count - 1]) write_batch(p, batch);
    return true; /* the others with the last one */
}
