/* Which passes of the legaliser a module needs for a target, and the first one, which replaces
 * derived operations.
 * Must not know: targets by name. */
#include "kir/legalise/fused.h"
#include "kir/builder.h"
#include "kir/define/define.h"
#include "kir/legalise/legalise.h"

/* DERIVED becomes the primitive that a target has for it, else its definition: in place when that
 * is a few operations (or a wide integer's, whose primitives are calls themselves), else a call. */
static bool lower_derived(rewrite_pass *p, const kir_value *v) {
    if (legal_block(p, v)) {
        *(bool *)p->state = true;
        return true;
    }
    if (v->op != KIR_DERIVED) return false;
    uint16_t fn = v->u.derived.fn;
    hg_type type = (hg_type)v->u.derived.atlas_type;
    if (p->caps->derived[fn][type]) return false;
    if (fn == HG_OP_POWM && hg_type_size_bytes(type) > 8)
        return false; /* a function of limbs, which the next pass makes */
    *(bool *)p->state = true;
    kir_value *args[3];
    for (uint8_t i = 0; i < v->nargs && i < 3; i++) args[i] = rewrite_arg(p, v, i);
    if (fn == HG_OP_DOT4 && p->caps->dot4) {
        rewrite_set(
            p, v,
            kir_emit(&p->b, type == HG_TYPE_I32 ? KIR_DOT4_S : KIR_DOT4_U, HG_TYPE_U32, 3, args));
        return true;
    }
    if (kir_define_is_small(fn, type))
        rewrite_set(p, v, kir_define(&p->b, fn, type, args));
    else
        rewrite_set(p, v,
                    kir_call(&p->b, kir_definition_function(p->out, fn, type, p->caps), v->nargs,
                             args, NULL));
    return true;
}

static const rewrite_rules DERIVED_RULES = {.lower = lower_derived};

/* What a module uses, by walking it once. */
typedef struct uses {
    bool wide, half, mad32, mad64, fma32, fma64, product32, product64, f64, f32, i8, i16, i64;
} uses;

static void note_type(uses *u, uint8_t type) {
    if (type > HG_TYPE_U64 && type <= HG_TYPE_U4096) u->wide = true;
    if (type == HG_TYPE_U8) u->i8 = true;
    if (type == HG_TYPE_U16) u->i16 = true;
    if (type == HG_TYPE_U64) u->i64 = true;
    if (type == HG_TYPE_F64) u->f64 = true;
    if (type == HG_TYPE_F32) u->f32 = true;
}

static uses find_uses(const kir_module *m) {
    uses u = {0};
    for (const kir_var *v = m->vars; v; v = v->next) note_type(&u, v->type);
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            note_type(&u, v->type);
            if (v->op == KIR_H2F || v->op == KIR_F2H || v->op == KIR_B2F || v->op == KIR_F2B)
                u.half = true;
            if (v->op == KIR_FFMA) *(v->type == HG_TYPE_F64 ? &u.fma64 : &u.fma32) = true;
            if (v->op == KIR_FMAD) *(v->type == HG_TYPE_F64 ? &u.mad64 : &u.mad32) = true;
            if (v->op == KIR_FMULERR)
                *(v->type == HG_TYPE_F64 ? &u.product64 : &u.product32) = true;
        }
    return u;
}

/* Whether a table names an operation of these passes. */
static bool any_inexact(const kir_caps *caps, bool half) {
    for (int op = 0; op < KIR_OP_COUNT; op++) {
        bool is_half = op == KIR_H2F || op == KIR_F2H || op == KIR_B2F || op == KIR_F2B;
        if (is_half == half && (caps->inexact[op][0] || caps->inexact[op][1])) return true;
    }
    return false;
}

/* A program that says `.flag relaxed` takes what the target's own f32 and f64 arithmetic gives:
 * subnormals that are flushed, division and root that are a little off. Types, conversions,
 * comparisons and fused operations stay as they are. */
static void relax(kir_caps *c) {
    static const kir_op OWN[] = {KIR_FADD, KIR_FSUB, KIR_FMUL, KIR_FDIV, KIR_FSQRT};
    c->subnormals = true;
    for (size_t i = 0; i < HG_COUNT_OF(OWN); i++)
        c->inexact[OWN[i]][0] = c->inexact[OWN[i]][1] = false;
}

/* What the passes over a module may leave. Without 64-bit integers an f64 has no bits to work on,
 * and what flushes f32 is not trusted with f64 or half either. */
static kir_caps usable(const kir_module *m, const kir_caps *target) {
    kir_caps c = *target;
    c.half = c.half && c.subnormals;
    c.fma32 = c.fma32 && !c.inexact[KIR_FFMA][0];
    c.fma64 = c.fma64 && !c.inexact[KIR_FFMA][1];
    c.mad = c.mad && c.fma32 && c.fma64;
    c.f64 = c.f64 && c.i64 && c.subnormals;
    if (m->relaxed) relax(&c);
    return c;
}

/* Whether there is a definition of each, and as many arguments as it takes: the one rule that
 * kir_verify, below the definitions, cannot know. */
static hg_status check_derived(const kir_module *m) {
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (v->op != KIR_DERIVED) continue;
            uint16_t fn = v->u.derived.fn;
            hg_type type = (hg_type)v->u.derived.atlas_type;
            if (!kir_define_exists(fn, type) || kir_define_args(fn) != v->nargs)
                return hg_fail(HG_ERROR_ISA,
                               "kernel IR of '%s': there is no function %s of %s with %u arguments",
                               f->name, kir_fn_name(fn), hg_type_name(type), (unsigned)v->nargs);
        }
    return HG_OK;
}

hg_status kir_legalise_derived(const kir_module *in, const kir_caps *target, kir_module **out) {
    kir_caps caps = usable(in, target);
    bool any = false;
    HG_TRY(check_derived(in));
    HG_TRY(rewrite_run(in, &caps, &DERIVED_RULES, &any, out));
    if (!any) (*out)->facts = in->facts & (KIR_FACT_SIMPLE | KIR_FACT_HOISTED); /* a copy */
    return HG_OK;
}

hg_status kir_legalise_wide(const kir_module *in, const kir_caps *target, kir_module **out) {
    kir_caps caps = usable(in, target);
    return find_uses(in).wide ? legal_wide(in, &caps, out) : HG_OK;
}

/* The passes below look at a module only where the target lacks something. */

hg_status kir_legalise_half(const kir_module *in, const kir_caps *target, kir_module **out) {
    kir_caps caps = usable(in, target);
    bool halves = !caps.half || any_inexact(&caps, true);
    bool product32 = legal_product_error(&caps, HG_TYPE_F32),
         product64 = legal_product_error(&caps, HG_TYPE_F64);
    bool mad32 = legal_mad(&caps, HG_TYPE_F32), mad64 = legal_mad(&caps, HG_TYPE_F64);
    if (!halves && caps.fma32 && caps.fma64 && product32 && product64 && mad32 && mad64)
        return HG_OK;
    uses u = find_uses(in);
    bool needed = (u.half && halves) || (u.fma32 && !caps.fma32) || (u.fma64 && !caps.fma64) ||
                  (u.mad32 && !mad32) || (u.mad64 && !mad64) || (u.product32 && !product32) ||
                  (u.product64 && !product64);
    return needed ? rewrite_run(in, &caps, &legal_half_rules, NULL, out) : HG_OK;
}

hg_status kir_legalise_float(const kir_module *in, const kir_caps *target, kir_module **out) {
    kir_caps caps = usable(in, target);
    bool inexact = any_inexact(&caps, false), plain = caps.subnormals && caps.i64;
    if (!inexact && plain && caps.f64) return HG_OK;
    uses u = find_uses(in);
    bool needed = (u.f64 && !caps.f64) || (u.f32 && !plain) || ((u.f32 || u.f64) && inexact) ||
                  (u.fma32 && !caps.fma32);
    fused_state fused = {0};
    hg_status status = needed ? rewrite_run(in, &caps, &legal_float_rules, &fused, out) : HG_OK;
    fused_end(&fused);
    return status;
}

hg_status kir_legalise_int(const kir_module *in, const kir_caps *target, kir_module **out) {
    kir_caps caps = usable(in, target);
    if (caps.i8 && caps.i16 && caps.i64) return HG_OK;
    uses u = find_uses(in);
    return (u.i8 && !caps.i8) || (u.i16 && !caps.i16) || (u.i64 && !caps.i64)
               ? legal_int(in, &caps, out)
               : HG_OK;
}
