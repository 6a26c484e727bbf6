/* Kernels of executables and of whole-array steps: their code, and what launches must give them.
 * Must not know: programs, plans. */
#include "runtime/backend.h"
#include "runtime/kernel.h"
#include <stdio.h>
#include <string.h>

static hg_status keep_tables(hg_kernel *kernel, const kir_module *m) {
    kernel->input_count = (uint32_t)m->inputs.count;
    kernel->slot_count = (uint32_t)m->slots.count;
    kernel->inputs = hg_calloc(kernel->input_count + 1, sizeof *kernel->inputs);
    kernel->slots = hg_calloc(kernel->slot_count + 1, sizeof *kernel->slots);
    if (!kernel->inputs || !kernel->slots) return hg_fail_memory();
    if (kernel->input_count)
        memcpy(kernel->inputs, m->inputs.data, kernel->input_count * sizeof *kernel->inputs);
    if (kernel->slot_count)
        memcpy(kernel->slots, m->slots.data, kernel->slot_count * sizeof *kernel->slots);
    kernel->has_open = m->has_open;
    kernel->uses_class = m->uses_class;
    snprintf(kernel->name, sizeof kernel->name, "%s", m->name);
    for (kir_function *f = m->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->inst && (!kernel->first_inst || v->inst < kernel->first_inst))
                kernel->first_inst = v->inst;
    return HG_OK;
}

hg_status hg_kernel_compile(hg_backend *b, kir_module *high, bool checked, uint64_t deadline_ns,
                            hg_kernel *kernel) {
    hg_code_options options = {.driver = b->driver,
                               .device = b->device,
                               .caps = b->caps,
                               .compiler = b->code.compiler,
                               .background = b->code.background,
                               .profile = b->profile,
                               .verify = b->config.verify,
                               .by_slots = !checked,
                               .deadline_ns = deadline_ns,
                               .improve_limit_ms = b->config.compile_timeout_ms,
                               .ear = &b->code.ear};
    uint64_t start = hg_profile_start(b->profile);
    hg_status status = hg_code_set_create(&options, high, &kernel->code);
    if (status != HG_OK) {
        kir_module_destroy(high);
        return status;
    }
    HG_TRY(keep_tables(kernel, kernel->code->form.low));
    if (kernel->has_open && !checked)
        return hg_fail(HG_ERROR_INTERNAL, "kernel '%s' reaches memory that has no slot",
                       kernel->name);
    if (b->profile)
        hg_profile_end(b->profile, &(hg_profile_span){.kind = HG_PROFILE_COMPILE,
                                                      .name = "legalise",
                                                      .detail = kernel->name,
                                                      .start_ns = start});
    /* Device forms without bounds checks are for launches that were checked; the high form stays
     * for that. */
    checked = checked && b->caps->compiler.device_form;
    if (checked) HG_TRY(kir_prover_create(high, &kernel->prover));
    kernel->code->facts.prover = kernel->prover;
    bool improves = !checked && hg_code_improves(kernel->code);
    HG_TRY(hg_code_ahead(kernel->code, checked || improves));
    if (improves) hg_code_improve(kernel->code);
    return HG_OK;
}

void hg_kernel_free(hg_kernel *kernel) {
    kir_prover_destroy(kernel->prover);
    hg_code_set_destroy(kernel->code);
    hg_free(kernel->inputs);
    hg_free(kernel->slots);
}
