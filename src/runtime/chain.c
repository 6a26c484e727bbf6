/* Chains: found when their first step comes, kept as long as values and memory stay. */
#include "runtime/chain.h"
#include "runtime/execute_internal.h"
#include <string.h>

/* A kernel is compiled for steps that come again; an executable keeps so many. */
enum { COMES_AGAIN = 3, MOST_KERNELS = 16 };

/* ---- which steps ---- */

/* The number of an array: of the same one that is there, or a new one. False: it shares memory with another one. */
static bool number_array(const hg_backend *b, hg_chain_found *f, uint32_t *count, const hg_range *range, uint8_t *number) {
    for (uint32_t i = 0; i < *count; i++) {
        uint8_t relation;
        const hg_range pair[2] = {f->arrays[i], *range};
        hg_alias_signature(b, pair, 2, &relation);
        *number = (uint8_t)i;
        if (relation == HG_ALIAS_IDENTICAL) return true;
        if (relation != HG_ALIAS_DISTINCT) return false;
    }
    if (*count == PLAN_CHAIN_ARRAYS || *count >= b->caps->max_slots) return false;
    f->arrays[*count] = *range;
    *number = (uint8_t)(*count)++;
    return true;
}

/* Whether a step is the next one of those found. */
static bool add_step(hg_run *run, hg_bound_step *s, hg_chain_found *f, bool first) {
    uint64_t aside;
    uint32_t count = f->chain.arrays;
    uint8_t numbers[HG_MAX_OPERANDS];
    if (hg_step_call(run->binding, s) != HG_OK || s->problem.found || !plan_chain_takes(&s->call)) return false;
    if (first) f->n = s->call.arrays[0].extents[0];
    if (first) f->native = s->native;
    if (f->n == 0 || s->call.arrays[0].extents[0] != f->n || (!f->head && (s->native != f->native || s->scratch))) return false;
    s->placed = false;
    if (hg_step_find_memory(run, s, &aside) != HG_OK || s->aside_count) return false;
    hg_chain_found before = *f;
    bool fits = true;
    for (uint32_t i = 0; i < s->call.array_count && fits; i++)
        fits = number_array(run->context->backend, f, &count, &s->ranges[i], &numbers[i]);
    if (!fits || !plan_chain_add(&f->chain, &s->call, numbers)) {
        *f = before;
        return false;
    }
    f->stays = f->stays && s->stays && s->fixed;
    return true;
}

/* ---- steps whose library program does the maps behind it ---- */

/* The elements of an array that lie one after another; 0: they do not, or there are none. */
static uint64_t elements_without_gaps(const plan_array *a) {
    uint64_t step = hg_type_size_bytes((hg_type)a->type), count = 1;
    for (uint8_t i = a->rank; i-- > 0;) {
        if (a->extents[i] != 1 && a->strides[i] != (int64_t)(step * count)) return 0;
        count *= a->extents[i]; /* the array lies in memory */
    }
    return count;
}

/* Its arguments and memory stay: its expansion is made once. */
static bool add_head(hg_run *run, hg_bound_step *s, hg_chain_found *f) {
    uint64_t aside;
    if (!s->fixed || hg_step_call(run->binding, s) != HG_OK || s->problem.found || s->native) return false;
    s->placed = false;
    if (hg_step_find_memory(run, s, &aside) != HG_OK || s->aside_count || !s->stays) return false;
    f->head = true;
    f->n = elements_without_gaps(&s->call.arrays[0]);
    f->arrays[0] = s->ranges[0];
    f->chain.arrays = 1;
    f->chain.types[0] = s->call.arrays[0].type;
    return f->n != 0;
}

/* Whether the maps write nothing that the head reads: other lanes may still be about to. */
static bool leaves_inputs(const hg_backend *b, const hg_bound_step *head, const hg_chain_found *f) {
    for (uint8_t k = 0; k < f->chain.count; k++)
        for (uint32_t i = 1; i < head->call.array_count && f->chain.links[k].out; i++) {
            uint8_t relation;
            const hg_range pair[2] = {f->arrays[f->chain.links[k].out], head->ranges[i]};
            hg_alias_signature(b, pair, 2, &relation);
            if (relation != HG_ALIAS_DISTINCT) return false;
        }
    return true;
}

/* A failure here is none: the step that has it is done alone, and has it then. */
static void find(hg_run *run, const plan_step *step, hg_chain_found *f) {
    hg_bound_step *steps = &run->binding->steps[step - run->binding->executable->plan->steps.data];
    hg_error kept = *hg_error_record();
    bool head = steps[0].collective->fuses;
    memset(f, 0, sizeof *f);
    f->stays = true;
    hg_run_guard(run);
    if (head && !add_head(run, &steps[0], f)) {
        memset(f, 0, sizeof *f);
        return;
    }
    for (uint32_t i = head; i <= step->followers && i < PLAN_MOST_LINKS; i++)
        if (!add_step(run, &steps[i], f, i == 0)) break;
    if (head && !leaves_inputs(run->context->backend, &steps[0], f)) f->chain.count = 0;
    *hg_error_record() = kept;
}

static bool same_found(const hg_chain_found *x, const hg_chain_found *y) {
    return x->n == y->n && x->native == y->native && x->head == y->head && plan_chain_equal(&x->chain, &y->chain) &&
           memcmp(x->arrays, y->arrays, x->chain.arrays * sizeof *x->arrays) == 0;
}

/* ---- what does them ---- */

static uint64_t bytes_of(const hg_chain_found *f) {
    bool loaded[PLAN_CHAIN_ARRAYS] = {false}, stored[PLAN_CHAIN_ARRAYS] = {false};
    uint64_t bytes = 0;
    for (uint8_t i = 0; i < f->chain.count; i++) {
        const plan_link *link = &f->chain.links[i];
        for (uint8_t k = 0; k + 1 < link->arrays; k++) loaded[link->in[k]] |= !stored[link->in[k]];
        stored[link->out] = true;
    }
    for (uint8_t i = 0; i < f->chain.arrays; i++) bytes += f->arrays[i].size * ((uint64_t)loaded[i] + stored[i]);
    return bytes;
}

static void make_commands(const hg_run *run, const plan_step *step, hg_bound_chain *c) {
    const hg_bound_step *steps = &run->binding->steps[step - run->binding->executable->plan->steps.data];
    uint8_t count = c->found.chain.count;
    memset(c->steps, 0, sizeof c->steps);
    for (uint8_t i = 0; i < count; i++)
        c->steps[i] = (hg_driver_step){.call = &steps[i].call,
                                       .ranges = steps[i].ranges,
                                       .max_threads = run->context->backend->config.num_threads,
                                       .next = i + 1 < count ? &c->steps[i + 1] : NULL};
}

/* The steps as a kernel, with its launch. */
static hg_status make_kernel(hg_run *run, hg_bound_chain *c) {
    hg_executable *e = run->binding->executable;
    hg_bound_step *joined = &c->joined;
    plan_expansion_clear(&joined->expansion);
    joined->ranges = c->found.arrays;
    joined->kernels = &e->chains;
    joined->most_kernels = MOST_KERNELS;
    plan_chain_expand(&c->found.chain, c->found.n, &joined->expansion);
    if (joined->expansion.failed) return hg_fail_memory();
    return hg_expansion_prepare(run->stream, joined, (hg_range){NULL, 0, 0});
}

/* The head's expansion with the maps in it. */
static hg_status make_fused(hg_run *run, const plan_step *step, hg_bound_chain *c) {
    hg_executable *e = run->binding->executable;
    const hg_bound_step *head = &run->binding->steps[step - e->plan->steps.data];
    hg_bound_step *joined = &c->joined;
    hg_range scratch = run->binding->step_scratch.range;
    plan_expansion_clear(&joined->expansion);
    joined->expansion.tiles = head->expansion.tiles;
    joined->expansion.dot4 = head->expansion.dot4;
    joined->expansion.fused = &c->found.chain;
    joined->ranges = c->ranges;
    joined->kernels = &e->chains;
    joined->most_kernels = MOST_KERNELS;
    memcpy(c->ranges, head->ranges, head->call.array_count * sizeof *c->ranges);
    memcpy(c->ranges + PLAN_FUSED, c->found.arrays, c->found.chain.arrays * sizeof *c->ranges);
    head->collective->expand(&head->call, &joined->expansion);
    if (joined->expansion.failed) return hg_fail_memory();
    if (joined->expansion.scratch > scratch.size)
        return hg_fail_memory(); /* as much as the head needs alone was planned with the binding */
    scratch.size = joined->expansion.scratch;
    return hg_expansion_prepare(run->stream, joined, scratch);
}

static bool prepare_fused(hg_run *run, const plan_step *step, hg_bound_chain *c) {
    hg_error kept = *hg_error_record();
    if (c->found.chain.count == 0) {
        c->alone = true;
        return false;
    }
    c->bytes = run->binding->steps[step - run->binding->executable->plan->steps.data].bytes + bytes_of(&c->found);
    c->alone = make_fused(run, step, c) != HG_OK;
    c->ready = !c->alone;
    *hg_error_record() = kept;
    return c->ready;
}

/* False: not for now. What fails is left to the steps alone. */
static bool prepare(hg_run *run, const plan_step *step, hg_bound_chain *c) {
    const hg_device_caps *caps = run->context->backend->caps;
    hg_chain_found *f = &c->found;
    if (f->head) return prepare_fused(run, step, c);
    bool again = c->met >= COMES_AGAIN, kernel = !f->native || (caps->improves && again);
    if (f->chain.count < 2 || (f->native && !caps->joins_steps)) {
        c->alone = true;
        return false;
    }
    if (!f->native && !again) return false;
    c->bytes = bytes_of(f);
    if (kernel) {
        hg_error kept = *hg_error_record();
        if (make_kernel(run, c) != HG_OK) {
            *hg_error_record() = kept;
            kernel = false;
            c->alone = !f->native;
        }
    }
    make_commands(run, step, c);
    if (kernel && f->native) c->steps[0].joined = &c->joined.actions[0].launch;
    c->ready = !c->alone && (again || !caps->improves); /* else there will be a kernel */
    return !c->alone;
}

/* ---- execution ---- */

static hg_bound_chain *chain_of(hg_bound_step *s) {
    if (!s->chain) s->chain = hg_calloc(1, sizeof *s->chain);
    return s->chain;
}

static bool may_join(const hg_backend *b) { return !b->config.check_races && !b->trace; }

hg_status hg_chain_run(hg_run *run, const plan_step *step, uint32_t *done) {
    const hg_backend *b = run->context->backend;
    hg_bound_step *s = &run->binding->steps[step - run->binding->executable->plan->steps.data];
    hg_bound_chain *c = may_join(b) ? chain_of(s) : NULL;
    *done = 0;
    if (!c || c->alone) return HG_OK;
    if (c->met < UINT8_MAX) c->met++;
    bool head = s->collective && s->collective->fuses;
    if ((!b->caps->joins_steps || head) && c->met < COMES_AGAIN) return HG_OK;
    if (!c->ready || !c->found.stays) {
        hg_chain_found found;
        find(run, step, &found);
        if (!c->ready || !same_found(&found, &c->found)) {
            c->ready = false;
            c->found = found;
            if (head && !found.head) return HG_OK; /* native, or its arguments are wrong: alone this time */
            if (!prepare(run, step, c)) return HG_OK;
        }
    }
    hg_driver_command command = {.kind = HG_CMD_STEP, .step = c->steps, .fault = &run->binding->fault};
    run->step_bytes = c->bytes;
    run->binding->fault.happened = false;
    run->native = step;
    run->native_step = run->step;
    *done = c->found.chain.count + c->found.head;
    return c->found.native ? hg_run_add(run, &command) : hg_expansion_run(run, &c->joined);
}

bool hg_chain_only(const hg_binding *binding, hg_driver_command *command) {
    const hg_plan *plan = binding->executable->plan;
    const hg_bound_chain *c = plan->steps.count ? binding->steps[0].chain : NULL;
    if (!hg_steps_only(binding) || !c || !c->ready || c->alone || !c->found.native || !c->found.stays ||
        c->found.chain.count != plan->steps.count)
        return false;
    *command = (hg_driver_command){.kind = HG_CMD_STEP, .step = c->steps, .fault = (hg_driver_fault *)(uintptr_t)&binding->fault};
    return true;
}
