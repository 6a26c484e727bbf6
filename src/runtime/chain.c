/* Chains: found when their first step comes again, kept as long as values and memory stay. */
#include "runtime/chain.h"
#include "runtime/execute_internal.h"
#include <string.h>

/* A kernel is compiled for steps that come again; an executable keeps so many. */
enum { COMES_AGAIN = 3, MOST_KERNELS = 64 };
/* Elements of a map that is worth a kernel of its own; and of all maps together that are worth one
 * at once, where it need not be compiled first (2^20 take about a millisecond one by one, the
 * kernel a tenth of that). */
enum { MANY = 4096, WORTH_AT_ONCE = 1 << 20 };

static hg_bound_step *bound_step(const hg_run *run, const plan_step *step) {
    return &run->binding->steps.bound[step - run->binding->executable->plan->steps.data];
}

/* ---- what plan/steps/chain.h is told ---- */

static plan_relation relation(const void *backend, const void *x, const void *y) {
    const hg_range both[2] = {*(const hg_range *)x, *(const hg_range *)y};
    uint8_t pair;
    hg_alias_signature(backend, both, 2, &pair);
    return pair == HG_ALIAS_DISTINCT    ? PLAN_APART
           : pair == HG_ALIAS_IDENTICAL ? PLAN_SAME
                                        : PLAN_OVERLAP;
}

/* The elements of an array that lie one after another; 0: they do not, or there are none. */
static uint64_t elements_without_gaps(const plan_array *a) {
    uint64_t step = hg_type_size_bytes((hg_type)a->type), count = 1;
    for (uint8_t i = a->rank; i-- > 0;) {
        if (a->extents[i] != 1 && a->strides[i] != (int64_t)(step * count)) return 0;
        count *= a->extents[i]; /* the array lies in memory */
    }
    return count;
}

/* False: it has a problem, needs copies, or the driver does it. Of an instruction arguments and
 * memory stay: its expansion is made once. */
static bool describe(hg_run *run, hg_bound_step *s, plan_member *m) {
    const plan_collective *of = s->collective;
    uint64_t aside;
    if (hg_step_call(run->binding, s) != HG_OK || s->problem.found) return false;
    if (of->fuses && (!s->args.fixed || s->by_driver)) return false;
    hg_step_unplace(s);
    if (hg_step_find_memory(run, s, &aside) != HG_OK || s->place.aside_count) return false;
    if (of->fuses && (!s->place.stays || hg_step_expand(run->binding, s) != HG_OK)) return false;
    *m = (plan_member){
        .of = of, .fn = s->call.fn, .type = s->call.type, .count = (uint8_t)s->call.array_count};
    for (uint32_t i = 0; i < s->call.array_count; i++)
        m->arrays[i] = (plan_member_array){
            .memory = &s->place.ranges[i],
            .elements = elements_without_gaps(&s->call.arrays[i]),
            .type = s->call.arrays[i].type,
            .written = s->call.arrays[i].written,
            .once = of->loads ? i == 1
                              : of->packs && of->packs(&s->call, &s->expansion.planned, i)};
    return true;
}

static plan_takes takes_of(const hg_device_caps *caps) {
    return caps->compiler.max_operations ? PLAN_TAKES_SHORT
           : caps->scheduling.does_maps  ? PLAN_TAKES_QUICK
                                         : PLAN_TAKES_ALL;
}

/* Each may be a memory of its own, beside the record, the fault record, locks and shared memory. */
static uint32_t most_arrays(const hg_compiler_caps *caps) {
    enum { OWN = 4 };
    uint32_t most = caps->max_bindings > OWN ? caps->max_bindings - OWN : 1;
    return caps->max_bindings && most < PLAN_CHAIN_ARRAYS ? most : PLAN_CHAIN_ARRAYS;
}

/* A failure here is none: the step that has it is done alone, and has it then. heads: maps may be
 * done by one. */
static void find(hg_run *run, const plan_step *step, bool heads, hg_chain_found *f) {
    const hg_backend *b = run->context->backend;
    plan_group group = {.relation = relation,
                        .owner = b,
                        .takes = takes_of(b->caps),
                        .most_arrays = most_arrays(&b->caps->compiler)};
    hg_bound_step *s = bound_step(run, step);
    hg_error kept = *hg_error_record();
    memset(f, 0, sizeof *f);
    f->stays = true;
    hg_run_guard(run);
    for (const hg_bound_step *last = s + step->followers; s <= last; s++) {
        plan_member member;
        if ((s->collective->fuses && !heads) || !describe(run, s, &member) ||
            !plan_group_add(&group, &member))
            break;
        f->stays = f->stays && s->place.stays && s->args.fixed;
    }
    *hg_error_record() = kept;
    f->chain = group.chain;
    f->head = group.head.of != NULL;
    f->made = group.made;
    f->n = group.elements;
    for (uint8_t i = 0; i < f->chain.arrays; i++) f->arrays[i] = *(const hg_range *)group.arrays[i];
}

static bool same_found(const hg_chain_found *x, const hg_chain_found *y) {
    return x->n == y->n && x->head == y->head && x->made == y->made &&
           plan_chain_equal(&x->chain, &y->chain) &&
           memcmp(x->arrays, y->arrays, x->chain.arrays * sizeof *x->arrays) == 0;
}

/* ---- what does them ---- */

static uint64_t bytes_of(const hg_chain_found *f) {
    const plan_chain *chain = &f->chain;
    bool loaded[PLAN_CHAIN_ARRAYS] = {false}, stored[PLAN_CHAIN_ARRAYS] = {false};
    uint64_t bytes = 0;
    for (uint8_t i = 0; i < chain->count; i++) {
        const plan_link *link = &chain->links[i];
        if (f->head && i == chain->front) stored[chain->output] = true;
        for (uint8_t k = 0; k + 1 < link->arrays; k++) loaded[link->in[k]] |= !stored[link->in[k]];
        stored[link->out] = true;
    }
    for (uint8_t i = 0; i < chain->arrays; i++) {
        bool of_head = f->head && i == chain->output; /* who stores it too */
        bytes += f->arrays[i].size * ((uint64_t)loaded[i] + (stored[i] && !of_head));
    }
    return bytes;
}

/* The steps as a kernel, with its launch. */
static hg_status make_kernel(hg_run *run, hg_bound_chain *c) {
    hg_executable *e = run->binding->executable;
    hg_bound_expansion *joined = &c->joined;
    const hg_backend *b = run->context->backend;
    plan_expansion_clear(&joined->planned);
    joined->planned.tiles = b->caps->scheduling.does_maps ? NULL : &b->tiles; /* a lane an element
                                                                               */
    joined->ranges = c->found.arrays;
    joined->kernels = &e->chains;
    joined->most_kernels = MOST_KERNELS;
    plan_chain_expand(&c->found.chain, c->found.n, &joined->planned);
    if (joined->planned.failed) return hg_fail_memory();
    return hg_expansion_prepare(run->stream, joined, (hg_range){NULL, 0, 0});
}

/* The head's expansion with the maps in it. */
static hg_status make_fused(hg_run *run, const plan_step *step, hg_bound_chain *c) {
    hg_executable *e = run->binding->executable;
    const hg_bound_step *head = bound_step(run, step) + c->found.chain.front;
    hg_bound_expansion *joined = &c->joined;
    hg_range scratch = run->binding->steps.scratch.range;
    plan_expansion_clear(&joined->planned);
    joined->planned.tiles = head->expansion.planned.tiles;
    joined->planned.threads = head->expansion.planned.threads;
    joined->planned.dot4 = head->expansion.planned.dot4;
    joined->planned.rolled = head->expansion.planned.rolled;
    joined->planned.most_rounds = head->expansion.planned.most_rounds;
    joined->planned.fused = &c->found.chain;
    joined->operations = head->expansion.operations;
    joined->tables = head->expansion.tables; /* what they hold is the same with maps and without */
    joined->keeps_tables = head->expansion.keeps_tables;
    joined->ranges = c->ranges;
    joined->kernels = &e->chains;
    joined->most_kernels = MOST_KERNELS;
    memcpy(c->ranges, head->place.ranges, head->call.array_count * sizeof *c->ranges);
    memcpy(c->ranges + PLAN_FUSED, c->found.arrays, c->found.chain.arrays * sizeof *c->ranges);
    head->collective->expand(&head->call, &joined->planned);
    if (joined->planned.failed) return hg_fail_memory();
    /* As much as the head needs alone was planned with the binding. */
    if (joined->planned.scratch > scratch.size || joined->planned.tables > joined->tables.size)
        return hg_fail_memory();
    scratch.size = joined->planned.scratch;
    return hg_expansion_prepare(run->stream, joined, scratch);
}

/* Whether the kernels that do maps have native code, where the device does maps itself: without,
 * the instruction and its maps may have more of it alone. */
static hg_better code_of(const hg_backend *b, const hg_bound_chain *c, bool hurry) {
    hg_better all = HG_BETTER_MADE;
    for (uint32_t i = 0; i < c->joined.action_count && b->caps->scheduling.does_maps; i++) {
        if (!c->joined.planned.actions.data[i].key.chain || !c->joined.actions[i].kernel) continue;
        hg_code_set *code = c->joined.actions[i].kernel->code;
        if (hurry) hg_code_hurry(code);
        hg_better one = hg_code_better(code);
        if (one != HG_BETTER_MADE && all != HG_BETTER_NEVER) all = one;
    }
    return all;
}

/* Its steps are done alone, those in front of it as if it were none. */
static void give_up_head(hg_bound_chain *c) {
    c->headless = true;
    c->state = c->found.chain.front == 0 ? HG_CHAIN_ALONE : HG_CHAIN_OPEN;
}

static void prepare_fused(hg_run *run, const plan_step *step, hg_bound_chain *c) {
    const plan_chain *chain = &c->found.chain;
    const hg_bound_step *head = bound_step(run, step) + chain->front;
    c->bytes = head->bytes + bytes_of(&c->found) -
               (chain->front ? head->place.ranges[c->found.made].size : 0); /* an input that is made
                                                                               is not loaded */
    if (!chain->count || make_fused(run, step, c) != HG_OK)
        give_up_head(c);
    else
        c->state = code_of(run->context->backend, c, true) == HG_BETTER_MADE ? HG_CHAIN_READY
                                                                             : HG_CHAIN_WAITS;
}

/* Whether maps are worth a kernel: one alone, where the driver's own way is the same for every map,
 * and a kernel's the function's. */
static bool are_worth_one(const hg_run *run, const plan_step *step, const hg_chain_found *f) {
    const hg_device_caps *caps = run->context->backend->caps;
    return f->chain.count > 1 ||
           (f->chain.count == 1 && step->long_map && bound_step(run, step)->by_driver &&
            caps->scheduling.does_maps && caps->compiler.improves && f->n >= MANY);
}

/* What does the steps of c->found. What fails is left to the steps alone. */
static void prepare(hg_run *run, const plan_step *step, hg_bound_chain *c) {
    hg_error kept = *hg_error_record();
    c->state = HG_CHAIN_ALONE;
    c->bytes = bytes_of(&c->found);
    if (c->found.head)
        prepare_fused(run, step, c);
    else if (are_worth_one(run, step, &c->found) && make_kernel(run, c) == HG_OK)
        c->state = HG_CHAIN_READY;
    *hg_error_record() = kept;
}

/* ---- execution ---- */

/* Where the device has native code for whole steps, one kernel for a step with its maps is worth it
 * as native code only. */
static bool has_heads(const hg_backend *b) {
    return !b->caps->scheduling.does_maps || b->caps->compiler.improves;
}

/* Whether native code of the kernels that do maps is there by now. Where there will be none, the
 * head is given up. */
static void wait_for_code(const hg_backend *b, hg_bound_chain *c) {
    hg_better code = code_of(b, c, false);
    if (code == HG_BETTER_MADE) c->state = HG_CHAIN_READY;
    if (code == HG_BETTER_NEVER) give_up_head(c);
}

static bool may_join(const hg_backend *b) { return !b->config.check_races && !b->trace; }

/* Maps on many elements, on a device that has a kernel of them at once, as it is interpreted until
 * there is better code. */
static bool are_many(const hg_run *run, const plan_step *step, hg_bound_step *s) {
    const hg_device_caps *caps = run->context->backend->caps;
    return caps->scheduling.does_maps && caps->compiler.improves != HG_IMPROVES_AT_ONCE &&
           !s->collective->fuses && step->followers && hg_step_call(run->binding, s) == HG_OK &&
           !s->problem.found &&
           s->call.arrays[0].extents[0] >= WORTH_AT_ONCE / (step->followers + 1);
}

hg_status hg_chain_run(hg_run *run, const plan_step *step, uint32_t *done) {
    const hg_backend *b = run->context->backend;
    hg_bound_step *s = bound_step(run, step);
    hg_bound_chain *c = s->chain;
    *done = 0;
    if (!may_join(b) || (c && c->state == HG_CHAIN_ALONE)) return HG_OK;
    if (s->came < UINT8_MAX) s->came++;
    bool again = s->came >= COMES_AGAIN;
    if (!again && !are_many(run, step, s)) return HG_OK;
    if (!c) c = s->chain = hg_calloc(1, sizeof *c);
    if (!c) return HG_OK;
    if (c->state == HG_CHAIN_OPEN || !c->found.stays || s->came == COMES_AGAIN) {
        hg_chain_found found;
        find(run, step, again && !c->headless && has_heads(b), &found);
        if (c->state == HG_CHAIN_OPEN || !same_found(&found, &c->found)) {
            c->found = found;
            prepare(run, step, c);
        }
    }
    if (c->state == HG_CHAIN_WAITS) wait_for_code(b, c);
    if (c->state != HG_CHAIN_READY) return HG_OK;
    run->last_step.bytes = c->bytes;
    run->binding->fault.happened = false;
    run->last_step.plan = step;
    run->last_step.number = run->step;
    *done = c->found.chain.count + c->found.head;
    return hg_expansion_run(run, &c->joined);
}

hg_chain_answer hg_chain_ready(hg_binding *binding, uint32_t step, hg_command_list *list,
                               uint32_t *done) {
    const plan_step *first = &binding->executable->plan->steps.data[step];
    hg_bound_chain *c = binding->steps.bound[step].chain;
    if ((!first->followers && !first->long_map) || !may_join(binding->executable->backend) ||
        (c && c->state == HG_CHAIN_ALONE))
        return HG_CHAIN_NONE;
    if (!c || c->state != HG_CHAIN_READY) return HG_CHAIN_NOT_NOW;
    if (!c->found.stays) return HG_CHAIN_NEVER;
    *done = c->found.chain.count + c->found.head;
    return hg_command_list_add_expansion(list, binding, &c->joined, step) ? HG_CHAIN_ADDED
                                                                          : HG_CHAIN_NEVER;
}
