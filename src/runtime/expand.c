/* Carries out expansions of whole-array steps (plan/steps/steps.h): their kernels, compiled once a
 * backend, and their launches in a run. Nothing of them runs on the host.
 * Must not know: programs, how arrays were named, what a collective does. */
#include "runtime/execute_internal.h"
#include "plan/steps/chain.h"
#include "runtime/step.h"
#include <string.h>

/* Memory that a slot names starts at a multiple of this; what is left over goes into the kernel as
 * a shift. */
enum { SLOT_ALIGN = 256 };

/* ---- kernels ---- */

struct hg_expansion {
    hg_expansion *next;
    plan_kernel_key key;
    plan_chain chain; /* of the key */
    hg_kernel kernel;
};

/* Under the lock: the kernel of a key; NULL: not made yet. */
static hg_expansion *find_locked(hg_expansion *e, const plan_kernel_key *key) {
    while (e && !plan_kernel_key_equal(&e->key, key)) e = e->next;
    return e;
}

static uint32_t count_of(const hg_expansion *e) {
    uint32_t count = 0;
    for (; e; e = e->next) count++;
    return count;
}

/* Made without the lock. Of two threads that make the same one, one was in vain. */
static hg_status make_kernel(hg_backend *b, hg_expansion **list, const plan_kernel_key *key,
                             hg_expansion **expansion) {
    hg_expansion *made = hg_calloc(1, sizeof *made), *other;
    if (!made) return hg_fail_memory();
    made->key = *key;
    if (key->chain) made->chain = *key->chain;
    if (key->chain) made->key.chain = &made->chain;
    kir_module *m = key->make(key);
    hg_status status = m ? hg_kernel_compile(b, m, false, 0, &made->kernel)
                         : hg_error_record()->status;
    if (status == HG_OK) {
        hg_mutex_lock(&b->expansions.lock);
        other = find_locked(*list, key);
        if (!other) {
            made->next = *list;
            *list = made;
        }
        *expansion = other ? other : made;
        hg_mutex_unlock(&b->expansions.lock);
        if (!other) return HG_OK;
    }
    hg_kernel_free(&made->kernel);
    hg_free(made);
    return status;
}

static hg_status find_kernel(hg_stream *stream, const hg_bound_expansion *x,
                             const plan_kernel_key *key, const hg_kernel **kernel) {
    hg_backend *b = stream->context->backend;
    hg_expansion **list = key->chain ? x->kernels : &b->expansions.first; /* others are any step's
                                                                           */
    uint64_t start = hg_clock_ns();
    hg_mutex_lock(&b->expansions.lock);
    hg_expansion *e = find_locked(*list, key);
    bool full = key->chain && x->most_kernels && count_of(*list) >= x->most_kernels;
    hg_mutex_unlock(&b->expansions.lock);
    if (!e && full) return hg_fail_memory(); /* whoever sets a limit can do without */
    if (!e) HG_TRY(make_kernel(b, list, key, &e));
    *kernel = &e->kernel;
    stream->dispatch.compile_ns += hg_clock_ns() - start;
    return HG_OK;
}

void hg_expansions_free(hg_expansion **list) {
    while (*list) {
        hg_expansion *e = *list;
        *list = e->next;
        hg_kernel_free(&e->kernel);
        hg_free(e);
    }
}

/* ---- actions ---- */

static uint64_t shift_of(const hg_range *r) { return r->offset % SLOT_ALIGN; }
static hg_range aligned(hg_range r) {
    uint64_t shift = shift_of(&r);
    return (hg_range){r.arena, r.offset - shift, r.size + shift};
}

static hg_range range_of(const hg_bound_expansion *x, const hg_range *scratch,
                         const plan_part *part) {
    const hg_range *in = part->array == (uint32_t)PLAN_IN_SCRATCH  ? scratch
                         : part->array == (uint32_t)PLAN_IN_TABLES ? &x->tables
                                                                   : &x->ranges[part->array];
    return (hg_range){in->arena, in->offset + part->offset,
                      part->bytes == PLAN_TO_END ? in->size - part->offset : part->bytes};
}

/* What the inputs of the unlegalised module are: nothing for handles, the values, how far each
 * array is shifted, and how many bytes it has. */
static hg_status lay_out_inputs(hg_bound_expansion *x, const hg_kernel *kernel,
                                const plan_action *action, const hg_range *ranges,
                                hg_driver_launch *launch) {
    uint32_t arrays = action->key.arrays, values = action->key.values;
    uint64_t *own = hg_arena_alloc(&x->memory, (kernel->input_count + (size_t)1) * sizeof *own);
    if (!own) return hg_fail_memory();
    for (uint32_t i = 0; i < kernel->input_count; i++) {
        const kir_input *input = &kernel->inputs[i];
        uint64_t value = 0;
        if (input->reg >= 2 * arrays + values)
            value = ranges[input->reg - 2 * arrays - values].size;
        else if (input->reg >= arrays + values)
            value = shift_of(&ranges[input->reg - arrays - values]);
        else if (input->reg >= arrays)
            value = x->planned.values.data[action->first_value + input->reg - arrays];
        own[i] = input->limb_bytes ? value >> (8 * input->limb * input->limb_bytes) : value;
        if (input->limb_bytes == 4) own[i] &= UINT32_MAX;
    }
    launch->inputs = own;
    return HG_OK;
}

static hg_status lay_out_slots(const hg_backend *b, hg_bound_expansion *x, const hg_kernel *kernel,
                               const hg_range *ranges, hg_driver_launch *launch) {
    uint32_t count = kernel->slot_count;
    hg_range *slots = hg_arena_alloc(&x->memory, (count + (size_t)1) * sizeof *slots);
    uint8_t *aliases = hg_arena_alloc(&x->memory, (size_t)hg_alias_pair(0, count) + 1);
    if (!slots || !aliases) return hg_fail_memory();
    for (uint32_t i = 0; i < count; i++) slots[i] = aligned(ranges[kernel->slots[i].input]);
    hg_alias_signature(b, slots, count, aliases);
    launch->slots = slots;
    launch->aliases = aliases;
    launch->slot_count = count;
    return HG_OK;
}

static hg_status prepare_launch(hg_stream *stream, hg_bound_expansion *x, const hg_range *scratch,
                                const plan_action *action, hg_step_action *to) {
    const hg_backend *b = stream->context->backend;
    plan_kernel_key key = action->key;
    hg_range ranges[UINT8_MAX + 1];
    for (uint32_t i = 0; i < key.arrays; i++) {
        ranges[i] = range_of(x, scratch, &x->planned.parts.data[action->first_part + i]);
        if (shift_of(&ranges[i])) key.shifted |= UINT32_C(1) << i;
    }
    HG_TRY(find_kernel(stream, x, &key, &to->kernel));
    memcpy(to->launch.grid, action->grid, sizeof to->launch.grid);
    memcpy(to->launch.block, action->block, sizeof to->launch.block);
    to->launch.kernel = to->kernel->code->kernel;
    to->launch.lanes = action->lanes;
    to->launch.shared_bytes = action->shared_bytes;
    to->launch.work = action->work;
    to->launch.operations = x->operations; /* loops of the library's programs do not look at the
                                              time */
    to->launch.max_threads = b->config.num_threads;
    HG_TRY(lay_out_inputs(x, to->kernel, action, ranges, &to->launch));
    return lay_out_slots(b, x, to->kernel, ranges, &to->launch);
}

hg_status hg_expansion_prepare(hg_stream *stream, hg_bound_expansion *x, hg_range scratch) {
    const plan_expansion *planned = &x->planned;
    hg_arena_free(&x->memory);
    x->memory = (hg_arena){0};
    x->action_count = 0;
    x->actions = hg_arena_alloc(&x->memory,
                                ((size_t)planned->actions.count + 1) * sizeof *x->actions);
    if (!x->actions) return hg_fail_memory();
    for (uint64_t i = 0; i < planned->actions.count; i++) {
        const plan_action *action = &planned->actions.data[i];
        hg_step_action *to = &x->actions[i];
        const plan_part *parts = &planned->parts.data[action->first_part];
        to->once = action->once;
        if (action->kind == PLAN_LAUNCH) HG_TRY(prepare_launch(stream, x, &scratch, action, to));
        if (action->kind == PLAN_WRITE)
            to->command = (hg_driver_command){.kind = HG_CMD_COPY_IN,
                                              .to = range_of(x, &scratch, parts),
                                              .host = planned->bytes.data + action->first_byte};
        if (action->kind == PLAN_COPY)
            to->command = (hg_driver_command){.kind = HG_CMD_COPY,
                                              .to = range_of(x, &scratch, parts),
                                              .from = range_of(x, &scratch, parts + 1)};
    }
    x->action_count = (uint32_t)planned->actions.count;
    return HG_OK;
}

/* A write's bytes may be others before the device reads them: the step may run again with other
 * values. */
static hg_status add_command(hg_run *run, const hg_driver_command *given) {
    hg_driver_command command = *given;
    if (command.kind == HG_CMD_COPY_IN && !hg_run_is_immediate(run)) {
        command.host = hg_run_alloc(run, (size_t)command.to.size);
        if (!command.host) return hg_fail_memory();
        memcpy(command.host, given->host, (size_t)command.to.size);
    }
    return hg_run_add(run, &command);
}

/* Of a run whose commands are not done yet nobody knows whether it comes so far: its end does. */
static hg_status tables_added(hg_run *run, hg_bound_expansion *x) {
    if (hg_run_is_immediate(run)) {
        hg_atomic_store(&x->tables_made, !run->binding->fault.happened, HG_RELEASE);
        return HG_OK;
    }
    hg_bound_expansion **made = hg_vec_push(&run->fills.made);
    if (!made) return hg_fail_memory();
    *made = x;
    return HG_OK;
}

hg_status hg_expansion_run(hg_run *run, hg_bound_expansion *x) {
    bool made = hg_atomic_load(&x->tables_made, HG_ACQUIRE);
    for (uint32_t i = 0; i < x->action_count && !run->binding->fault.happened; i++) {
        hg_step_action *action = &x->actions[i];
        if (action->once && made) continue;
        if (action->kernel) hg_run_limit_launch(run, &action->launch);
        HG_TRY(action->kernel ? hg_run_launch(run, action->kernel, &action->launch)
                              : add_command(run, &action->command));
    }
    return x->keeps_tables && !made ? tables_added(run, x) : HG_OK;
}
