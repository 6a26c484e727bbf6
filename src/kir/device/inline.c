/* Functions that hold barriers, or long loops, written in place of their calls: what lives across a
 * barrier can then be kept for each lane of an invocation that runs several (fold.c), and what
 * lives in a loop from one dispatch to the next (resume.c).
 * Requires: a legalised module. Provides: a copy whose kernel calls no such function. */
#include "kir/analysis/analysis.h"
#include "kir/device/device_internal.h"
#include "kir/passes/passes.h"
#include "kir/rewrite.h"

bool device_has_long_loop(const kir_function *f) {
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        uint64_t rounds = v->op != KIR_LOOP || v->u.loop.once ? 1
                          : v->u.loop.most                    ? v->u.loop.most
                                                              : v->u.loop.rounds;
        if (!rounds || rounds > DEVICE_FEW_ROUNDS) return true;
    }
    return false;
}

/* wanted: by id of a function. */
static void find_wanted(const kir_module *m, bool long_loops, bool *wanted) {
    for (kir_function *f = m->functions; f; f = f->next)
        wanted[f->id] = long_loops && device_has_long_loop(f);
    for (bool changed = true; changed;) {
        changed = false;
        for (kir_function *f = m->functions; f; f = f->next)
            for (const kir_value *v = kir_walk(NULL, f->body); v && !wanted[f->id];
                 v = kir_walk(v, f->body))
                if (v->op == KIR_BARRIER || (v->op == KIR_CALL && wanted[v->u.call.function->id]))
                    wanted[f->id] = changed = true;
    }
}

hg_status device_inline(const kir_module *in, bool long_loops, kir_module **out) {
    HG_TRY(kir_copy(in, out));
    kir_module *m = *out;
    kir_find_rounds(m);
    bool *wanted = hg_calloc((size_t)m->function_count + 1, sizeof *wanted);
    uint64_t calls = 0;
    if (wanted) find_wanted(m, long_loops, wanted);
    hg_status status = wanted ? kir_inline_calls(m, wanted, DEVICE_MOST_INLINED, &calls)
                              : hg_fail_memory();
    hg_free(wanted);
    if (status == HG_OK && calls == DEVICE_MOST_INLINED)
        status = hg_fail(HG_ERROR_ISA,
                         "more than %d calls of functions with barriers or long loops",
                         (int)DEVICE_MOST_INLINED);
    if (status == HG_OK) status = kir_verify(m);
    if (status == HG_OK) return HG_OK;
    kir_module_destroy(m);
    *out = NULL;
    return status;
}
