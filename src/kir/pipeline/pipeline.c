/* Runs the table of pipeline.def. */
#include "kir/fault_text.h"
#include "kir/pipeline/pipeline.h"
#include "base/thread.h"
#include "kir/analysis/analysis.h"
#include "kir/legalise/legalise.h"
#include "kir/passes/passes.h"
#include <stdio.h>
#include <string.h>

/* ---- the passes as functions of one shape ---- */

static hg_status run_build(const kir_compilation *c, kir_module *m, kir_module **made) {
    (void)m;
    return kir_build(c->program, &c->build, made);
}
#define KIR_MODULE_PASS(id, name, needs, gives, drops, what)                                  \
    static hg_status run_##name(const kir_compilation *c, kir_module *m, kir_module **made) { \
        (void)c;                                                                              \
        (void)made;                                                                           \
        return kir_##name(m);                                                                 \
    }
#include "kir/pipeline/pipeline.def"
static hg_status run_provenance(const kir_compilation *c, kir_module *m, kir_module **made) {
    (void)made;
    HG_TRY(kir_find_blocks(m));
    return kir_provenance(m, c->max_slots ? c->max_slots : UINT32_MAX);
}
static hg_status run_inline(const kir_compilation *c, kir_module *m, kir_module **made) {
    return c->caps->inlines ? kir_inline(m, made) : HG_OK;
}
static hg_status run_derived(const kir_compilation *c, kir_module *m, kir_module **made) {
    return kir_legalise_derived(m, c->caps, made);
}
static hg_status run_unroll(const kir_compilation *c, kir_module *m, kir_module **made) {
    (void)made;
    return kir_unroll(m, c->caps->long_code);
}
static hg_status run_wide(const kir_compilation *c, kir_module *m, kir_module **made) {
    return kir_legalise_wide(m, c->caps, made);
}
static hg_status run_half(const kir_compilation *c, kir_module *m, kir_module **made) {
    return kir_legalise_half(m, c->caps, made);
}
static hg_status run_float(const kir_compilation *c, kir_module *m, kir_module **made) {
    return kir_legalise_float(m, c->caps, made);
}
static hg_status run_int(const kir_compilation *c, kir_module *m, kir_module **made) {
    return kir_legalise_int(m, c->caps, made);
}
static hg_status run_uniformity(const kir_compilation *c, kir_module *m, kir_module **made) {
    (void)c;
    (void)made;
    kir_find_uniformity(m, m->uses_barrier || m->uses_shared);
    return HG_OK;
}
static hg_status run_device(const kir_compilation *c, kir_module *m, kir_module **made) {
    return kir_device(m, c->device, made, c->layout);
}

/* ---- the table ---- */

enum {
    NONE = KIR_FACT_NONE,
    SIMPLE = KIR_FACT_SIMPLE,
    SLOTS = KIR_FACT_SLOTS,
    LEGAL = KIR_FACT_LEGAL,
    UNIFORMITY = KIR_FACT_UNIFORMITY,
    DEVICE = KIR_FACT_DEVICE,
    HOISTED = KIR_FACT_HOISTED
};

static const kir_pass PASSES[] = {
#define KIR_PASS(id, name, needs, gives, drops, what) \
    [KIR_PASS_##id] = {#name, what, needs, gives, drops, false, run_##name},
#define KIR_MODULE_PASS(id, name, needs, gives, drops, what) \
    [KIR_PASS_##id] = {#name, what, needs, gives, drops, true, run_##name},
#include "kir/pipeline/pipeline.def"
};

typedef struct order {
    uint8_t stage, pass;
} order;
static const order ORDER[] = {
#define KIR_ORDER(stage, id) {KIR_STAGE_##stage, KIR_PASS_##id},
#include "kir/pipeline/pipeline.def"
};

const char *kir_stage_name(kir_stage stage) {
    static const char *const names[] = {"program", "kernel", "legal", "low", "device"};
    return stage < KIR_STAGE_COUNT ? names[stage] : "?";
}

const kir_pass *kir_pass_get(kir_pass_id id) { return &PASSES[id]; }

kir_pass_id kir_pass_find(const char *name) {
    for (int i = 0; i < KIR_PASS_COUNT; i++)
        if (strcmp(PASSES[i].name, name) == 0) return (kir_pass_id)i;
    return KIR_PASS_COUNT;
}

bool kir_order_get(uint32_t index, kir_stage *stage, kir_pass_id *pass) {
    if (index >= HG_COUNT_OF(ORDER)) return false;
    *stage = (kir_stage)ORDER[index].stage;
    *pass = (kir_pass_id)ORDER[index].pass;
    return true;
}

/* ---- running it ---- */

static hg_status check(const kir_compilation *c, const kir_pass *pass, const kir_module *m) {
#ifdef NDEBUG
    if (!c->verify) return HG_OK;
#endif
    (void)c;
    hg_status status = kir_verify(m);
    if (status != HG_ERROR_INTERNAL) return status; /* or out of memory */
    char text[512];                                 /* hg_fail writes where the message stands */
    snprintf(text, sizeof text, "%s", hg_error_record()->message);
    return hg_fail(HG_ERROR_INTERNAL, "after pass '%s': %s", pass->name, text);
}

static hg_status late(void) {
    return kir_fail_launch(KIR_FAULT_TIMEOUT, "timeout while the program is lowered");
}

hg_status kir_pass_run(const kir_compilation *c, kir_stage stage, kir_pass_id id, kir_module **m,
                       bool *owned) {
    const kir_pass *pass = &PASSES[id];
    kir_module *in = *m, *made = NULL;
    uint32_t facts = in ? in->facts : 0;
    if (pass->gives && !(pass->gives & ~facts)) return HG_OK;
    if (pass->needs & ~facts)
        return hg_fail(HG_ERROR_INTERNAL,
                       "pass '%s' of kernel IR needs what no pass before it gave (%x of %x)",
                       pass->name, (unsigned)facts, (unsigned)pass->needs);
    if (c->deadline_ns && hg_clock_ns() >= c->deadline_ns) return late();
    if (hg_patience_stopped(c->patience) || hg_patience_late(c->patience)) return late();
    uint64_t start = c->watch ? hg_clock_ns() : 0;
    HG_TRY(pass->run(c, in, &made));
    if (made) {
        if (in && *owned) kir_module_destroy(in);
        *m = made;
        *owned = true;
    }
    uint32_t kept = made             ? (facts & ~pass->drops) | made->facts
                    : pass->in_place ? facts & ~pass->drops
                                     : (*m)->facts;
    (*m)->facts = kept | pass->gives;
    HG_TRY(check(c, pass, *m));
    if (c->watch) c->watch->after(c->watch->user, stage, pass, *m, hg_clock_ns() - start);
    return HG_OK;
}

hg_status kir_pipeline_run(const kir_compilation *c, kir_stage first, kir_stage last,
                           kir_module *in, kir_module **out) {
    kir_module *m = in;
    bool owned = false;
    *out = NULL;
    for (size_t i = 0; i < HG_COUNT_OF(ORDER); i++) {
        if (ORDER[i].stage < first || ORDER[i].stage > last) continue;
        hg_status status = kir_pass_run(c, (kir_stage)ORDER[i].stage, (kir_pass_id)ORDER[i].pass,
                                        &m, &owned);
        if (status == HG_OK) continue;
        if (owned) kir_module_destroy(m);
        return status;
    }
    *out = m;
    return HG_OK;
}
