/* Kernels on their way to C text: what plain C has not is refused.
 * Must not know: what whole-array instructions do, how the text looks. */
#include "offline/build_internal.h"
#include "emit/emit.h"
#include "kir/pipeline/pipeline.h"
#include "vector/vector.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- what cannot be ---- */

hg_status build_refuse(const build_program *p, uint32_t inst, const char *format, ...) {
    char words[256];
    hg_text source = {0};
    va_list list;
    va_start(list, format);
    (void)vsnprintf(words, sizeof words, format, list);
    va_end(list);
    if (inst) {
        hg_text_addf(&source, "instruction %u (", (unsigned)inst - 1);
        hg_print_named_instruction(&source, p->program, inst - 1);
        hg_text_addf(&source, "): ");
    }
    hg_status status = hg_fail(HG_ERROR_ISA, "%s: %s%s", p->program->name,
                               source.data ? source.data : "", words);
    hg_text_free(&source);
    return status;
}

/* The first instruction of a module that reaches a slot, + 1. */
static uint32_t user_of(const kir_module *m, uint64_t slot) {
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (kir_is_access(v) && v->inst && v->u.mem.slot >= 0 &&
                (uint64_t)v->u.mem.slot == slot)
                return v->inst;
    return 0;
}

static uint32_t user_of_classes(const kir_module *m) {
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (kir_is_access(v) && v->inst && v->u.mem.space == KIR_CLASS) return v->inst;
    return 0;
}

static hg_status check_slots(const build_program *p, const kir_module *m) {
    static const char *const own[KIR_PLAN_MEMORY_COUNT] = {
        [KIR_PLAN_STATE] = "it works on the state of a context, which plain C has not",
        [KIR_PLAN_CHARACTERS] = "it reads the table of characters, which plain C has not",
    };
    for (uint64_t i = 0; i < m->slots.count; i++) {
        const kir_slot *s = &m->slots.data[i];
        if (own[s->plan]) return build_refuse(p, user_of(m, i), "%s", own[s->plan]);
        if (s->constant && s->plan == KIR_PLAN_NONE)
            return build_refuse(p, user_of(m, i),
                                "it names the memory %llu by number: give it a .param",
                                (unsigned long long)s->handle);
    }
    return m->uses_class ? build_refuse(p, user_of_classes(m),
                                        "class memory is a context's, which plain C has not")
                         : HG_OK;
}

static hg_status check_inputs(const build_program *p, const kir_module *m) {
    for (uint64_t i = 0; i < m->inputs.count; i++) {
        const kir_input *input = &m->inputs.data[i];
        bool found = input->kind != KIR_INPUT_PARAM;
        for (uint32_t n = 0; n < p->program->param_count; n++)
            found |= p->program->params[n].reg == input->reg;
        if (!found)
            return build_refuse(p, 0, "register r%u has no value: give it a .param",
                                (unsigned)input->reg);
    }
    return HG_OK;
}

/* ---- kernels ---- */

/* Whether a call of a kernel runs blocks. HG_ERROR_ISA: it has no vector form. */
static hg_status look_at_form(const build_program *p, const kir_module *low, bool step,
                              bool *blocks) {
    vec_kernel *form = NULL;
    hg_status status = vec_form(low, &(vec_options){.lanes = BUILD_LEVEL[0].lanes}, &form);
    *blocks = status == HG_OK && form->blocks;
    if (status == HG_OK) vec_kernel_destroy(form);
    if (*blocks && !step && low->uses_shared && p->plan->keeps_shared)
        return build_refuse(p, 0,
                            "shared memory of blocks lives on over whole-array instructions, which "
                            "the C text has not");
    return status;
}

hg_status build_add_kernel(build_job *job, const build_program *p, kir_module *m, bool step,
                           uint32_t *number) {
    kir_caps caps;
    kir_module *low = NULL;
    if (job->wasm)
        emit_wasm_caps(&caps);
    else
        vec_caps(&caps);
    hg_status status = kir_pipeline_run(&(kir_compilation){.caps = &caps}, KIR_STAGE_KERNEL,
                                        KIR_STAGE_LOW, m, &low);
    build_kernel *k = NULL;
    if (status == HG_OK && !step) status = check_inputs(p, low);
    if (status == HG_OK && !step) status = check_slots(p, low);
    bool blocks = false;
    if (status == HG_OK) status = look_at_form(p, low, step, &blocks);
    if (status == HG_OK && !(k = hg_vec_push(&job->kernels))) status = hg_fail_memory();
    if (status != HG_OK) {
        if (low != m) kir_module_destroy(low);
        return status;
    }
    *k = (build_kernel){
        .low = low, .blocks = blocks, .places = !step && !blocks && vec_asks_for_places(low)};
    snprintf(k->name, sizeof k->name, "hgk%u_%.100s", (unsigned)job->kernels.count - 1,
             step ? m->name : p->program->name);
    for (char *c = k->name; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '_';
    if (step && low != m) {
        low->owned_program = m->owned_program; /* the text shows its instructions */
        m->owned_program = NULL;
        kir_module_destroy(m);
    }
    *number = (uint32_t)job->kernels.count - 1;
    return HG_OK;
}

/* ---- of whole-array instructions ---- */

void build_make_call(const build_job *job, const build_program *p, const plan_step *step,
                     build_step *s) {
    s->expansion.tiles = &job->tiles;
    s->expansion.rolled = true; /* written out, softmax is ten times as much text, for which a
                                   compiler takes as long */
    plan_call_make(p->plan, step, s->words, s->constants, s->operands, s->arrays, 1, &s->call,
                   &s->problem);
}

hg_status build_step_kernel(build_job *job, build_program *p, const plan_kernel_key *key,
                            uint32_t *kernel) {
    for (uint64_t i = 0; i < job->kernels.count; i++)
        if (job->kernels.data[i].key.make &&
            plan_kernel_key_equal(&job->kernels.data[i].key, key)) {
            *kernel = (uint32_t)i;
            return HG_OK;
        }
    kir_module *m = key->make(key);
    if (!m) return hg_error_record()->status;
    hg_status status = build_add_kernel(job, p, m, true, kernel);
    if (status != HG_OK)
        kir_module_destroy(m);
    else
        job->kernels.data[*kernel].key = *key;
    return status;
}
