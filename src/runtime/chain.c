/* Chains: found when their first step comes, kept as long as values and memory stay. */
#include "runtime/chain.h"
#include "runtime/execute_internal.h"
#include <string.h>

/* A kernel is compiled for steps that come again; an executable keeps so many. */
enum { COMES_AGAIN = 3, MOST_KERNELS = 16 };
/* Elements of a map that is worth a kernel of its own. */
enum { MANY = 4096 };

/* ---- which steps ---- */

/* The number of an array: of the same one that is there, or a new one. False: it shares memory with
 * another one. */
static bool number_array(const hg_backend *b, hg_chain_found *f, uint32_t *count,
                         const hg_range *range, uint8_t *number) {
    for (uint32_t i = 0; i < *count; i++) {
        uint8_t relation;
        const hg_range pair[2] = {f->arrays[i], *range};
        hg_alias_signature(b, pair, 2, &relation);
        *number = (uint8_t)i;
        if (relation == HG_ALIAS_IDENTICAL) return true;
        if (relation != HG_ALIAS_DISTINCT) return false;
    }
    if (*count == PLAN_CHAIN_ARRAYS || *count >= b->caps->compiler.max_slots) return false;
    f->arrays[*count] = *range;
    *number = (uint8_t)(*count)++;
    return true;
}

/* Whether a step is the next one of those found. */
static bool add_step(hg_run *run, hg_bound_step *s, hg_chain_found *f, bool first) {
    uint64_t aside;
    uint32_t count = f->chain.arrays;
    uint8_t numbers[HG_MAX_OPERANDS];
    if (hg_step_call(run->binding, s) != HG_OK || s->problem.found || !plan_chain_takes(&s->call))
        return false;
    if (first) f->n = s->call.arrays[0].extents[0];
    if (first) f->by_driver = s->by_driver;
    if (f->n == 0 || s->call.arrays[0].extents[0] != f->n ||
        (!f->head && (s->by_driver != f->by_driver || s->scratch)))
        return false;
    hg_step_unplace(s);
    if (hg_step_find_memory(run, s, &aside) != HG_OK || s->place.aside_count) return false;
    hg_chain_found before = *f;
    bool fits = true;
    for (uint32_t i = 0; i < s->call.array_count && fits; i++)
        fits = number_array(run->context->backend, f, &count, &s->place.ranges[i], &numbers[i]);
    if (!fits || !plan_chain_add(&f->chain, &s->call, numbers)) {
        *f = before;
        return false;
    }
    f->stays = f->stays && s->place.stays && s->args.fixed;
    return true;
}

/* ---- steps whose library program does the maps around it ---- */

/* The elements of an array that lie one after another; 0: they do not, or there are none. */
static uint64_t elements_without_gaps(const plan_array *a) {
    uint64_t step = hg_type_size_bytes((hg_type)a->type), count = 1;
    for (uint8_t i = a->rank; i-- > 0;) {
        if (a->extents[i] != 1 && a->strides[i] != (int64_t)(step * count)) return 0;
        count *= a->extents[i]; /* the array lies in memory */
    }
    return count;
}

/* Whether a map writes nothing that the head reads, since other lanes may still be about to. It may
 * write an array whose element its lane alone reads: the input where the head loads each element
 * once, or where an output may be the same as it; and the output, which the head writes anyway. */
static bool leaves_inputs(const hg_backend *b, const hg_bound_step *head, const hg_chain_found *f,
                          uint8_t link) {
    uint8_t out = f->chain.links[link].out;
    bool in_front = link < f->chain.front,
         alone = in_front || head->collective->overlap == PLAN_OVERLAP_SAME;
    if (out == f->chain.output) return true;
    for (uint32_t i = 1; i < head->call.array_count; i++) {
        uint8_t relation;
        const hg_range pair[2] = {f->arrays[out], head->place.ranges[i]};
        hg_alias_signature(b, pair, 2, &relation);
        if (relation != HG_ALIAS_DISTINCT && !(i == f->made && out == f->chain.input && alone))
            return false;
    }
    return true;
}

/* Whether the maps so far make this array of the head, of which the head's kernels load each
 * element once. */
static bool makes(const hg_backend *b, const hg_bound_step *s, const hg_chain_found *f,
                  uint32_t array) {
    bool made = false;
    if (elements_without_gaps(&s->call.arrays[array]) != f->n) return false;
    for (uint8_t i = 0; i < f->chain.count && !made; i++) {
        uint8_t relation;
        const hg_range pair[2] = {f->arrays[f->chain.links[i].out], s->place.ranges[array]};
        hg_alias_signature(b, pair, 2, &relation);
        made = relation == HG_ALIAS_IDENTICAL;
    }
    return made &&
           (s->collective->loads || s->collective->packs(&s->call, &s->expansion.planned, array));
}

/* Which of the head's arrays the maps in front make; where there are none, which they could make.
 * 0: none of them. */
static uint32_t find_made(const hg_backend *b, const hg_bound_step *s, const hg_chain_found *f) {
    uint32_t i = s->collective->loads, end = s->collective->loads   ? 2
                                             : s->collective->packs ? s->call.array_count
                                                                    : 0;
    if (f->chain.count == 0) return i;
    for (i = 1; i < end; i++)
        if (makes(b, s, f, i)) return i;
    return 0;
}

/* The numbers of the head's arrays. */
static bool number_head(const hg_run *run, const hg_bound_step *s, hg_chain_found *f) {
    const hg_backend *b = run->context->backend;
    uint32_t count = f->chain.arrays;
    uint8_t input = PLAN_NO_ARRAY, output;
    f->made = find_made(b, s, f);
    if (f->chain.count && !f->made) return false;
    if (f->made && !number_array(b, f, &count, &s->place.ranges[f->made], &input)) return false;
    return number_array(b, f, &count, &s->place.ranges[0], &output) &&
           plan_chain_add_head(&f->chain, &s->call, input, output);
}

/* Whether map `i` is too much for the instruction's own lanes, on this device. */
static bool is_long(const hg_backend *b, const hg_bound_step *head, const plan_chain *chain,
                    uint8_t i) {
    const plan_link *link = &chain->links[i];
    if (b->caps->compiler.max_operations)
        return plan_is_long(link->fn); /* a compiler that refuses long kernels */
    return b->caps->scheduling.joins_steps &&
           !plan_map_goes_with(head->collective, i < chain->front, link->fn, (hg_type)link->type);
}

/* Its arguments and memory stay: its expansion is made once. */
static bool add_head(hg_run *run, hg_bound_step *s, hg_chain_found *f) {
    uint64_t aside;
    hg_chain_found before = *f;
    if (!s->args.fixed || hg_step_call(run->binding, s) != HG_OK || s->problem.found ||
        s->by_driver)
        return false;
    hg_step_unplace(s);
    if (hg_step_find_memory(run, s, &aside) != HG_OK || s->place.aside_count || !s->place.stays)
        return false;
    if (hg_step_expand(run->binding, s) != HG_OK) return false;
    uint64_t n = elements_without_gaps(&s->call.arrays[0]);
    bool fits = n != 0 && number_head(run, s, f) && plan_chain_has_types(&f->chain);
    const hg_backend *b = run->context->backend;
    for (uint8_t i = 0; fits && i < f->chain.front; i++)
        fits = leaves_inputs(b, s, f, i) && !is_long(b, s, &f->chain, i);
    if (!fits) {
        *f = before;
        return false;
    }
    f->head = true;
    f->by_driver = false;
    f->n = n;
    return true;
}

static bool add_behind(hg_run *run, const hg_bound_step *head, hg_bound_step *s,
                       hg_chain_found *f) {
    hg_chain_found before = *f;
    if (!add_step(run, s, f, false)) return false;
    const hg_backend *b = run->context->backend;
    uint8_t last = (uint8_t)(f->chain.count - 1);
    if (plan_chain_has_types(&f->chain) && leaves_inputs(b, head, f, last) &&
        !is_long(b, head, &f->chain, last))
        return true;
    *f = before;
    return false;
}

static bool is_head(const hg_bound_step *s) { return s->collective->fuses; }

/* A failure here is none: the step that has it is done alone, and has it then. heads: maps may be
 * done by one. */
static void find(hg_run *run, const plan_step *step, bool heads, hg_chain_found *f) {
    hg_bound_step *steps = &run->binding->steps[step - run->binding->executable->plan->steps.data];
    const hg_bound_step *head = NULL;
    hg_error kept = *hg_error_record();
    memset(f, 0, sizeof *f);
    f->stays = true;
    hg_run_guard(run);
    for (uint32_t i = 0; i <= step->followers; i++) {
        bool fits, is_new_head = is_head(&steps[i]);
        if (is_new_head)
            fits = !head && heads && add_head(run, &steps[i], f);
        else
            fits = head ? add_behind(run, head, &steps[i], f) : add_step(run, &steps[i], f, i == 0);
        if (!fits) break;
        if (is_new_head) head = &steps[i];
    }
    *hg_error_record() = kept;
}

static bool same_found(const hg_chain_found *x, const hg_chain_found *y) {
    return x->n == y->n && x->by_driver == y->by_driver && x->head == y->head &&
           x->made == y->made && plan_chain_equal(&x->chain, &y->chain) &&
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

static void make_commands(const hg_run *run, const plan_step *step, hg_bound_chain *c) {
    const hg_bound_step *steps =
        &run->binding->steps[step - run->binding->executable->plan->steps.data];
    uint8_t count = c->found.chain.count;
    memset(c->steps, 0, sizeof c->steps);
    for (uint8_t i = 0; i < count; i++)
        c->steps[i] = (hg_driver_step){.call = &steps[i].call,
                                       .ranges = steps[i].place.ranges,
                                       .max_threads = run->context->backend->config.num_threads,
                                       .next = i + 1 < count ? &c->steps[i + 1] : NULL};
}

/* The steps as a kernel, with its launch. */
static hg_status make_kernel(hg_run *run, hg_bound_chain *c) {
    hg_executable *e = run->binding->executable;
    hg_bound_expansion *joined = &c->joined;
    const hg_backend *b = run->context->backend;
    plan_expansion_clear(&joined->planned);
    joined->planned.tiles = b->caps->scheduling.joins_steps ? NULL : &b->tiles; /* there one kernel
                                                                                   is native code of
                                                                                   the steps: a lane
                                                                                   an element */
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
    const hg_bound_step *head =
        &run->binding->steps[step - e->plan->steps.data + c->found.chain.front];
    hg_bound_expansion *joined = &c->joined;
    hg_range scratch = run->binding->step_scratch.range;
    plan_expansion_clear(&joined->planned);
    joined->planned.tiles = head->expansion.planned.tiles;
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

/* Whether the kernels that do maps have native code, where the device does steps itself: without,
 * the instruction and its maps may have more of it alone. */
static hg_better code_of(const hg_backend *b, const hg_bound_chain *c, bool hurry) {
    hg_better all = HG_BETTER_MADE;
    for (uint32_t i = 0; i < c->joined.action_count && b->caps->scheduling.joins_steps; i++) {
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

/* False: the head is given up. */
static bool prepare_fused(hg_run *run, const plan_step *step, hg_bound_chain *c) {
    hg_error kept = *hg_error_record();
    const plan_chain *chain = &c->found.chain;
    const hg_bound_step *head =
        &run->binding->steps[step - run->binding->executable->plan->steps.data + chain->front];
    c->bytes = head->bytes + bytes_of(&c->found) -
               (chain->front ? head->place.ranges[c->found.made].size : 0); /* an input that is made
                                                                               is not loaded */
    bool made = chain->count && make_fused(run, step, c) == HG_OK;
    *hg_error_record() = kept;
    if (made)
        c->state = code_of(run->context->backend, c, true) == HG_BETTER_MADE ? HG_CHAIN_READY
                                                                             : HG_CHAIN_WAITS;
    else
        give_up_head(c);
    return made;
}

/* Whether a map alone is: the driver's own way is the same for every map, and a kernel's the
 * function's. */
static bool is_worth_one(const hg_device_caps *caps, const plan_step *step,
                         const hg_chain_found *f) {
    return f->chain.count == 1 && step->long_map && f->by_driver && caps->scheduling.joins_steps &&
           caps->compiler.improves && f->n >= MANY;
}

/* False: not for now. What fails is left to the steps alone. */
static bool prepare(hg_run *run, const plan_step *step, hg_bound_chain *c) {
    const hg_device_caps *caps = run->context->backend->caps;
    hg_chain_found *f = &c->found;
    if (f->head) return prepare_fused(run, step, c);
    bool again = c->met >= COMES_AGAIN,
         kernel = !f->by_driver || (caps->compiler.improves && again),
         one = is_worth_one(caps, step, f);
    if ((f->chain.count < 2 && !one) || (f->by_driver && !caps->scheduling.joins_steps)) {
        if (again || !step->followers)
            c->state = HG_CHAIN_ALONE; /* else an instruction behind it may still do it */
        return false;
    }
    if ((!f->by_driver || one) && !again) return false;
    c->bytes = bytes_of(f);
    if (kernel) {
        hg_error kept = *hg_error_record();
        kernel = make_kernel(run, c) == HG_OK;
        *hg_error_record() = kept;
        if (!kernel && (!f->by_driver || one)) {
            c->state = HG_CHAIN_ALONE;
            return false;
        }
    }
    make_commands(run, step, c);
    if (kernel && f->by_driver) c->steps[0].joined = &c->joined.actions[0].launch;
    if (again || !caps->compiler.improves)
        c->state = HG_CHAIN_READY; /* else there will be a kernel */
    return true;
}

/* ---- execution ---- */

static hg_bound_chain *chain_of(hg_bound_step *s) {
    if (!s->chain) s->chain = hg_calloc(1, sizeof *s->chain);
    return s->chain;
}

/* Where the device has native code for whole steps, one kernel for a step with its maps is worth it
 * as native code only. */
static bool has_heads(const hg_backend *b) {
    return !b->caps->scheduling.joins_steps || b->caps->compiler.improves;
}

/* Whether native code of the kernels that do maps is there by now. Where there will be none, the
 * head is given up. */
static bool waits_no_longer(const hg_backend *b, hg_bound_chain *c) {
    hg_better code = code_of(b, c, false);
    if (code == HG_BETTER_MADE) c->state = HG_CHAIN_READY;
    if (code == HG_BETTER_NEVER) give_up_head(c);
    return code == HG_BETTER_MADE;
}

static bool may_join(const hg_backend *b) { return !b->config.check_races && !b->trace; }

hg_status hg_chain_run(hg_run *run, const plan_step *step, uint32_t *done) {
    const hg_backend *b = run->context->backend;
    hg_bound_step *s = &run->binding->steps[step - run->binding->executable->plan->steps.data];
    hg_bound_chain *c = may_join(b) ? chain_of(s) : NULL;
    *done = 0;
    if (!c || c->state == HG_CHAIN_ALONE) return HG_OK;
    if (c->met < UINT8_MAX) c->met++;
    bool head = is_head(s), again = c->met >= COMES_AGAIN;
    if ((!b->caps->scheduling.joins_steps || head) && !again) return HG_OK;
    if (head && !has_heads(b)) return HG_OK;
    if (c->state == HG_CHAIN_OPEN || !c->found.stays) {
        hg_chain_found found;
        find(run, step, again && !c->headless && has_heads(b), &found);
        if (c->state == HG_CHAIN_OPEN || !same_found(&found, &c->found)) {
            c->state = HG_CHAIN_OPEN;
            c->found = found;
            if (head && !found.head)
                return HG_OK; /* native, or its arguments are wrong: alone this time */
            if (!prepare(run, step, c)) return HG_OK;
        }
    }
    if (c->state == HG_CHAIN_WAITS && !waits_no_longer(b, c)) return HG_OK;
    hg_driver_command command = {
        .kind = HG_CMD_STEP, .step = c->steps, .fault = &run->binding->fault};
    run->step_bytes = c->bytes;
    run->binding->fault.happened = false;
    run->driver_step = step;
    run->driver_step_number = run->step;
    *done = c->found.chain.count + c->found.head;
    if (!c->found.by_driver) return hg_expansion_run(run, &c->joined);
    c->steps[0].limit = hg_run_limit(run);
    if (c->steps[0].joined) hg_run_limit_launch(run, &c->joined.actions[0].launch);
    return hg_run_add(run, &command);
}

/* A chain that could not be found so often is none. */
enum { NOT_FOUND_SO_OFTEN = 8 };

hg_chain_answer hg_chain_ready(hg_binding *binding, uint32_t step, hg_command_list *list,
                               uint32_t *done) {
    const plan_step *first = &binding->executable->plan->steps.data[step];
    hg_bound_chain *c = binding->steps[step].chain;
    if ((!first->followers && !first->long_map) || !may_join(binding->executable->backend))
        return HG_CHAIN_NONE;
    if (!c || c->state == HG_CHAIN_WAITS) return HG_CHAIN_NOT_NOW;
    if (c->state == HG_CHAIN_OPEN)
        return c->met < NOT_FOUND_SO_OFTEN ? HG_CHAIN_NOT_NOW : HG_CHAIN_NONE;
    if (c->state == HG_CHAIN_ALONE) return HG_CHAIN_NONE;
    if (!c->found.stays) return HG_CHAIN_NEVER;
    hg_driver_command command = {.kind = HG_CMD_STEP, .step = c->steps, .fault = &binding->fault};
    *done = c->found.chain.count + c->found.head;
    bool added = c->found.by_driver
                     ? hg_command_list_add(list, &command, step)
                     : hg_command_list_add_expansion(list, binding, &c->joined, step);
    return added ? HG_CHAIN_ADDED : HG_CHAIN_NEVER;
}
