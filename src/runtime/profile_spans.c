/* The spans that the plan machine and queues record in a profile. Only called while one records.
 * Must not know: how profiles are kept or written. */
#include "runtime/execute_internal.h"
#include "runtime/step.h"
#include <stdio.h>
#include <string.h>

enum { NO_WAIT_NS = 1000 };

static uint32_t line_of(const hg_program *p, uint32_t inst) {
    return p->lines && inst < p->inst_count ? p->lines[inst] : 0;
}

static const char *label_of(const hg_binding *binding, uint32_t inst) {
    return binding->origins && inst < binding->executable->program->inst_count
               ? binding->origins[inst].text
               : NULL;
}

void hg_span_wait(const hg_backend *b, const char *what, uint64_t start) {
    if (hg_clock_ns() - start < NO_WAIT_NS) return;
    hg_profile_end(b->profile,
                   &(hg_profile_span){.kind = HG_PROFILE_WAIT, .name = what, .start_ns = start});
}

/* Every buffer a kernel reads once plus every buffer it writes once. */
static uint64_t kernel_bytes(const hg_binding *binding, uint32_t index) {
    const hg_kernel *kernel = &binding->executable->kernels[index];
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < kernel->slot_count; i++)
        bytes += binding->kernels[index].slots[i].size *
                 ((uint64_t)kernel->slots[i].read + kernel->slots[i].written);
    return bytes;
}

static void kernel_span(const hg_binding *binding, uint32_t index, uint64_t start,
                        hg_profile_span *span) {
    const hg_executable *e = binding->executable;
    const hg_kernel *kernel = &e->kernels[index];
    *span = (hg_profile_span){
        .kind = HG_PROFILE_KERNEL,
        .name = kernel->name,
        .start_ns = start,
        .bytes = kernel_bytes(binding, index),
        .lanes = e->plan->kernels.data[index].single_lane ? 1 : binding->launch.lanes,
        .line = kernel->first_inst ? line_of(e->program, kernel->first_inst - 1) : 0};
}

void hg_span_kernel(hg_run *run, uint32_t index, uint64_t start) {
    kernel_span(run->binding, index, start, &run->span);
    if (!hg_run_is_immediate(run)) return;
    hg_profile_end(run->context->backend->profile, &run->span);
    run->span.start_ns = 0;
}

/* Who did a step that is no map or reduction: a vendor's library, or the last library program of
 * its expansion. */
static void step_detail(const hg_run *run, const plan_step *step, char text[96]) {
    const hg_executable *e = run->binding->executable;
    const hg_bound_step *s = &run->binding->steps.bound[step - e->plan->steps.data];
    text[0] = 0;
    if (!s->collective || s->state == HG_STEP_UNKNOWN) return;
    if (s->by_driver) {
        char who[64] = "";
        if (e->backend->driver->step_describe)
            e->backend->driver->step_describe(e->backend->device, &s->call, who);
        if (who[0]) snprintf(text, 96, ", vendor: %s", who);
        return;
    }
    for (uint64_t i = s->expansion.planned.actions.count; i-- > 0;) {
        const plan_action *a = &s->expansion.planned.actions.data[i];
        if (a->kind != PLAN_LAUNCH || !plan_key_is_library(&a->key)) continue;
        const library_program *p = library_get((library_id)a->key.program);
        snprintf(text, 96, ", expansion: %s %s", p->name, p->program);
        return;
    }
}

void hg_span_step(const hg_run *run, const plan_step *step, uint32_t count, uint64_t start) {
    char name[64], detail[384], who[96];
    const hg_op_info *op = hg_op_get((hg_op)step->op);
    hg_opname opname = kir_step_name(step->info);
    bool typed = op->type_count != 0, named = opname < HG_OPNAME_COUNT;
    snprintf(name, sizeof name, "%s%s%s", op->text, typed ? "." : "",
             typed ? hg_type_name((hg_type)step->atlas_type) : "");
    int used = snprintf(detail, sizeof detail, "instruction %u%s%s", (unsigned)step->inst,
                        named ? ", " : "", named ? hg_opname_name(opname) : "");
    if (count > 1 && used > 0 && used < (int)sizeof detail)
        snprintf(detail + used, sizeof detail - (size_t)used, ", and %u behind it",
                 (unsigned)count - 1);
    step_detail(run, step, who);
    if (used > 0 && used < (int)sizeof detail)
        snprintf(detail + strlen(detail), sizeof detail - strlen(detail), "%s", who);
    const char *label = label_of(run->binding, step->inst);
    snprintf(detail + strlen(detail), sizeof detail - strlen(detail), "%s%s", label ? ", " : "",
             label ? label : "");
    hg_profile_end(
        run->context->backend->profile,
        &(hg_profile_span){.kind = HG_PROFILE_STEP,
                           .name = name,
                           .detail = detail,
                           .start_ns = start,
                           .bytes = run->last_step.bytes,
                           .line = line_of(run->binding->executable->program, step->inst)});
}

void hg_span_program(const hg_binding *binding, uint64_t start) {
    const hg_executable *e = binding->executable;
    hg_profile *profile = e->backend->profile;
    if (binding->way.submitted != HG_WAY_PLAN) { /* its one kernel took as long */
        hg_profile_span span;
        kernel_span(binding, 0, start, &span);
        hg_profile_end(profile, &span);
    }
    hg_profile_end(profile, &(hg_profile_span){.kind = HG_PROFILE_PROGRAM,
                                               .name = e->program->name,
                                               .detail = label_of(binding, 0),
                                               .start_ns = start,
                                               .lanes = binding->launch.lanes});
}
