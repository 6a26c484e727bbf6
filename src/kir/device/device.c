/* The device form of a kernel: one copying pass over a legalised module. What stops lanes and what
 * ghosts must still do is found first; ids, accesses, faults, the clock and barriers have files of
 * their own.
 * Requires and provides: see kir/device/device.h. */
#include "kir/device/device_internal.h"
#include "kir/access.h"
#include "kir/builder.h"
#include "kir/sugar.h"
#include "kir/passes/passes.h"
#include "kir/analysis/analysis.h"
#include <string.h>

/* ---- what the functions do ---- */

static bool access_stops(const device *d, const kir_value *v) {
    return v->op == KIR_ATOMIC ||
           !(v->u.mem.unchecked || (d->options->proven && !device_is_open(v)));
}

/* The launch was checked: no index leaves its axis. */
static bool is_proven_axis(const device *d, const kir_value *v) {
    return d->options->proven && v->u.fault.axis;
}

static bool note_operation(device *d, device_function *f, const kir_value *v) {
    device_function before = *f;
    switch ((kir_op)v->op) {
    case KIR_LOAD:
    case KIR_STORE:
    case KIR_CHECK:
    case KIR_ATOMIC: f->faults = f->faults || access_stops(d, v); break;
    case KIR_FAULT_IF: f->faults = f->faults || !is_proven_axis(d, v); break;
    case KIR_LOOP: f->faults = f->faults || !v->u.loop.bounded; break;
    case KIR_EXIT:
        f->stops = true;
        d->kernel.can_exit = true;
        break;
    case KIR_BARRIER: f->barrier = true; break;
    case KIR_CALL: {
        const device_function *g = &d->functions[v->u.call.function->id];
        f->stops = f->stops || g->stops;
        f->faults = f->faults || g->faults;
        f->barrier = f->barrier || g->barrier;
        break;
    }
    default: break;
    }
    f->stops = f->stops || f->faults;
    return memcmp(&before, f, sizeof before) != 0;
}

static void note_functions(device *d) {
    for (bool changed = true; changed;) {
        changed = false;
        for (kir_function *f = d->in->functions; f; f = f->next)
            for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
                changed = note_operation(d, &d->functions[f->id], v) || changed;
    }
}

static void note_memory(device *d, bool *shared) {
    for (kir_function *f = d->in->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (v->op == KIR_FAULT_IF && v->u.fault.values > 1) d->kernel.any_name = true;
            if (!kir_is_access(v)) continue;
            if (v->u.mem.space == KIR_SHARED)
                *shared = true;
            else if (device_is_open(v))
                d->kernel.any_open = d->kernel.any_name = true;
        }
}

/* Whether 64-bit values are whole or in halves as the device has them. */
static hg_status check_halves(const device *d) {
    for (const kir_function *f = d->in->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            bool place = kir_is_access(v) && (v->u.mem.has_index || (v->u.mem.space != KIR_SHARED &&
                                                                     v->u.mem.space != KIR_CLASS));
            bool values = v->op == KIR_FAULT_IF && v->u.fault.values;
            bool halves = values ? v->nargs > 1 + v->u.fault.values : place && v->u.mem.split;
            if ((place || values) && halves == d->i64)
                return hg_fail(HG_ERROR_ISA,
                               "kernel IR of '%s' is lowered for a device %s 64-bit integers",
                               d->in->name, halves ? "without" : "with");
        }
    return HG_OK;
}

/* Handles of slots are the host's business. */
static void note_read_inputs(device *d) {
    for (const kir_function *f = d->in->functions; f; f = f->next) {
        uint8_t *marks = kir_side_of(&d->marks, f);
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            bool direct = kir_is_access(v) && !device_is_open(v);
            for (uint8_t i = direct ? kir_access_of(v).handle_args : 0; i < v->nargs; i++)
                marks[v->args[i]->id] |= DEVICE_READ;
        }
    }
}

/* ---- the copying ---- */

static kir_value *in_launch(device *d, kir_builder *b) {
    device_wide lanes = d->small ? dwide_of_u32(d, b, device_field32(d, b, KIR_FIELD_LANES, 0))
                                 : device_field64(d, b, KIR_FIELD_LANES, 0);
    return dwide_below(d, b, device_lane(d, b), lanes);
}

/* Lanes that the dispatch has too many of. */
static void stop_surplus(device *d, kir_builder *b) {
    const kir_device_options *o = d->options;
    bool rest = o->fold > 1 && !o->alone; /* the last invocation of a block has fewer lanes */
    kir_value *inside = NULL;
    if (!d->block) {
        inside = kir_binary(b, KIR_CMP_ULT, device_order(d, b),
                            device_field32(d, b, KIR_FIELD_COUNT, 0));
    } else {
        if (!o->whole_blocks) inside = in_launch(d, b);
        kir_value *own = rest ? kir_binary(b, KIR_CMP_ULT, device_linear(d, b),
                                           device_block_lanes(d, b))
                              : NULL;
        inside = inside && own ? kir_binary(b, KIR_AND, inside, own) : inside ? inside : own;
    }
    if (!inside) return;
    kir_value *surplus = kir_if_begin(b, kir_not(b, inside));
    device_stop_lane(d, b);
    kir_if_end(b, surplus);
}

/* Lanes that do not exist (target.pads_groups) end before they read anything. Where a compiler must
 * see that all lanes of a group reach its barriers they stay. */
static void leave_padding(device *d, kir_builder *b) {
    const kir_device_options *o = d->options;
    if (!d->block || o->fold > 1 || !o->target.pads_groups || o->target.shown_uniform) return;
    kir_value *inside = kir_binary(b, KIR_CMP_ULT, device_linear(d, b), device_block_lanes(d, b)),
              *padding = kir_if_begin(b, kir_not(b, inside));
    kir_emit(b, KIR_EXIT, KIR_VOID, 0, NULL)->u.imm = 1;
    kir_if_end(b, padding);
}

/* FLAT forms look at COUNT first. No launch has fuel 0. */
static void leave_idle(device *d, kir_builder *b) {
    if (!d->block || !d->options->may_idle) return;
    kir_value *idle = kir_if_begin(b, is_zero(b, device_field32(d, b, KIR_FIELD_FUEL, 0)));
    kir_emit(b, KIR_EXIT, KIR_VOID, 0, NULL)->u.imm = 1;
    kir_if_end(b, idle);
}

static void begin_function(rewrite_pass *p) {
    device *d = p->state;
    d->p = p;
    d->out = p->out;
    d->at.function = p->function;
    d->at.loops = 0;
    d->at.tail = false;
    d->at.maybe_stopped = p->function != d->in->functions;
    if (p->function == d->in->functions) {
        p->out->inputs.count = 0; /* fields of the record take their place */
        for (uint64_t i = 0; i < p->out->slots.count; i++) {
            kir_slot *slot = &p->out->slots.data[i];
            slot->base = -1;
            slot->read = slot->written = false;
            slot->distinct = !d->kernel.any_open && i < 64 && (d->options->distinct >> i & 1);
        }
        leave_idle(d, &p->b);
        leave_padding(d, &p->b);
        device_begin_group(d, &p->b);
        stop_surplus(d, &p->b);
    }
    device_prepare_ids(d, &p->b, p->function);
}

static void lower_call(device *d, const kir_value *v) {
    kir_builder *b = &d->p->b;
    const kir_function *callee = v->u.call.function;
    const device_function *f = &d->functions[callee->id];
    device_stop how = device_stop_here(d);
    kir_value *args[255];
    for (uint8_t i = 0; i < v->nargs; i++) args[i] = rewrite_arg(d->p, v, i);
    kir_var *result = NULL;
    if (!callee->pure && !f->ghosts) {
        if (v->type != KIR_VOID && how == DEVICE_FALL && d->at.maybe_stopped) {
            result = kir_var_create(d->out, b->function, v->type, 0, NULL);
            kir_set(b, result, kir_const(b, v->type, 0));
        }
        device_mask(d, b);
    }
    kir_value *x = rewrite_copy_with(d->p, v, v->type, v->nargs, args);
    if (result) kir_set(b, result, x);
    device_close_ifs(d, b);
    rewrite_set(d->p, v, result ? kir_get(b, result) : x);
    if (d->ghosts && f->barrier) device_follow_block(d, b);
    if (!f->stops) return;
    if (how == DEVICE_FALL) {
        d->at.maybe_stopped = true;
        return;
    }
    kir_value *left = kir_if_begin(b, kir_get(b, device_stopped(d)));
    device_stop_lane(d, b);
    kir_if_end(b, left);
}

static void lower_fault_if(device *d, const kir_value *v) {
    kir_builder *b = &d->p->b;
    if (is_proven_axis(d, v)) return;
    device_wide values[KIR_FAULT_VALUES] = {dwide(d, b, 0), {NULL, NULL}};
    uint32_t site = device_site(d, v, v->u.fault.code, v->u.fault.operand, 0);
    for (uint8_t i = 0, next = 1; i < v->u.fault.values; i++) {
        values[i] = (device_wide){rewrite_arg(d->p, v, next++), NULL};
        if (!d->i64) values[i].h = rewrite_arg(d->p, v, next++);
    }
    device_guard(d, b, rewrite_arg(d->p, v, 0), site, values[0], values[1]);
    device_close_ifs(d, b);
}

static bool lower(rewrite_pass *p, const kir_value *v) {
    device *d = p->state;
    switch ((kir_op)v->op) {
    case KIR_INPUT: return device_lower_input(d, v);
    case KIR_CONST:
    case KIR_FADD:
    case KIR_FSUB:
    case KIR_FMUL:
    case KIR_FDIV:
    case KIR_FSQRT:
    case KIR_FFMA:
    case KIR_FMAD:
    case KIR_FFLOOR:
    case KIR_FTRUNC:
    case KIR_FRINT: return device_hide(d, v);
    case KIR_ID: device_lower_id(d, v); return true;
    case KIR_LOAD:
    case KIR_STORE:
    case KIR_CHECK:
    case KIR_ATOMIC: device_lower_access(d, v); return true;
    case KIR_FAULT_IF: lower_fault_if(d, v); return true;
    case KIR_EXIT:
        if (d->ghosts && device_has(d, v, DEVICE_KEPT))
            kir_emit(&p->b, KIR_EXIT, KIR_VOID, 0, NULL)->u.imm = 1; /* all lanes of the group */
        else
            device_stop_lane(d, &p->b);
        return true;
    case KIR_CALL: lower_call(d, v); return true;
    case KIR_BARRIER: device_lower_barrier(d, v); return true;
    default: return false;
    }
}

/* A loop that ghosts leave is not entered by them either. */
static void before(rewrite_pass *p, const kir_value *v) {
    device *d = p->state;
    if (v->op != KIR_LOOP) return;
    bool kept = d->ghosts && device_has(d, v, DEVICE_KEPT);
    device_loop *loop = hg_vec_push(&d->at.open_loops);
    if (!loop) {
        d->failed = true;
        return;
    }
    *loop = (device_loop){0};
    if (device_stop_here(d) == DEVICE_FALL && d->at.maybe_stopped && !kept)
        loop->wrap = kir_if_begin(&p->b, device_is_live(d, &p->b));
    if (!kept && !v->u.loop.bounded) device_poll_begin(d, &p->b, v, loop);
}

static void enter(rewrite_pass *p, const kir_value *v) {
    device *d = p->state;
    if (d->ghosts && device_has(d, v, DEVICE_KEPT)) {
        d->at.maybe_stopped = d->at.maybe_stopped || d->functions[d->at.function->id].stops;
        device_enter_kept(d, &p->b, v);
        return;
    }
    d->at.loops++;
    if (!v->u.loop.bounded && !d->failed)
        device_poll_round(d, &p->b, &d->at.open_loops.data[d->at.open_loops.count - 1]);
}

static void after_loop(device *d, const kir_value *v) {
    kir_builder *b = &d->p->b;
    if (d->failed || !d->at.open_loops.count) return;
    device_loop loop = d->at.open_loops.data[--d->at.open_loops.count];
    if (loop.outer) device_poll_end(d, b, &loop);
    if (loop.wrap) kir_if_end(b, loop.wrap);
    if (d->ghosts && device_has(d, v, DEVICE_KEPT)) {
        d->at.maybe_stopped = d->at.maybe_stopped || d->functions[d->at.function->id].stops;
        return;
    }
    d->at.loops--;
    if (!d->ghosts || device_stop_here(d) != DEVICE_BREAK || !d->at.maybe_stopped) return;
    kir_value *left = kir_if_begin(b, kir_get(b, device_stopped(d))); /* the loop around is left too
                                                                       */
    kir_break(b);
    kir_if_end(b, left);
}

static void after(rewrite_pass *p, const kir_value *v) {
    device *d = p->state;
    if (v->op == KIR_LOOP) after_loop(d, v);
    if (v != d->at.last_kept) return;
    d->at.tail = true;
    if (!d->at.maybe_stopped || !v->next) return;
    kir_value *left = kir_if_begin(&p->b, kir_get(&p->b, device_stopped(d)));
    kir_exit(&p->b);
    kir_if_end(&p->b, left);
    d->at.maybe_stopped = false;
}

/* ---- results that a compiler has nothing to compute with ---- */

static bool is_in_loop(const kir_value *v) {
    const kir_region *r = v->parent;
    while (r->owner && r->owner->op != KIR_LOOP) r = r->owner->parent;
    return r->owner != NULL;
}

/* What is stored last goes to memory as it is; what is read behind a store a compiler may take from
 * the value that was stored. */
static void note_bare(device *d) {
    const kir_function *f = d->in->functions;
    uint8_t *marks = kir_side_of(&d->marks, f);
    const kir_value *last_read = NULL;
    if (!d->options->hide_results || d->options->fold > 1) return;
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
        if (v->op == KIR_LOAD || v->op == KIR_ATOMIC || v->op == KIR_CALL) last_read = v;
    bool reads = last_read != NULL;
    for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
        bool last = v->op == KIR_STORE && !reads && !is_in_loop(v);
        if (kir_type_is_float(v->type)) marks[v->id] |= DEVICE_BARE;
        for (uint8_t i = 0; i < v->nargs; i++)
            if (!last || i + 1 < v->nargs) marks[v->args[i]->id] &= (uint8_t)~DEVICE_BARE;
        if (v == last_read) reads = false;
    }
}

static const rewrite_rules DEVICE_RULES = {.lower = lower,
                                           .begin_function = begin_function,
                                           .before = before,
                                           .enter = enter,
                                           .after = after};

/* ---- ---- */

static bool has_words_only(const kir_device_target *t) {
    return !t->addressed && !t->memory8 && !t->memory16 && !t->memory64 && !t->shared8 &&
           !t->shared16 && !t->shared64 && !t->atomic64 && !t->shared_atomic64;
}

static hg_status prepare(device *d) {
    bool shared = false;
    if (d->options->target.whole_atomics && !has_words_only(&d->options->target))
        return hg_fail(HG_ERROR_INTERNAL,
                       "'%s': memory that is atomic as a whole is bound and read in words",
                       d->in->name);
    d->functions = hg_calloc((size_t)d->in->function_count + 1, sizeof *d->functions);
    if (!d->functions) return hg_fail_memory();
    HG_TRY(check_halves(d));
    if (d->options->resumes && (d->block || d->options->target.bind_arenas))
        return hg_fail(HG_ERROR_INTERNAL,
                       "'%s': lanes go on in another dispatch where they are numbered and memory "
                       "is bound by itself",
                       d->in->name);
    if (d->options->target.bind_arenas && d->in->slots.count > KIR_BOUND_SLOTS)
        return hg_fail(HG_ERROR_ISA, "'%s' names %llu memories; at most %d where arenas are bound",
                       d->in->name, (unsigned long long)d->in->slots.count, (int)KIR_BOUND_SLOTS);
    kir_bound_loops(d->in);
    note_functions(d);
    note_memory(d, &shared);
    d->kernel.group_memory = shared && !d->options->shared_is_slot;
    bool barrier = d->functions[d->in->functions->id].barrier;
    if (!d->block && (barrier || d->kernel.group_memory))
        return hg_fail(HG_ERROR_ISA, "a kernel with a barrier or shared memory needs groups");
    const device_function *kernel = &d->functions[d->in->functions->id];
    /* Folded lanes meet behind the zeroing of shared memory too: the barrier there must stand in
     * the kernel itself (device_fold), and without ghosts the kernel's body may become a function
     * that is called for each lane. */
    d->ghosts = d->options->fold > 1 ? barrier || d->kernel.group_memory
                                     : barrier && (kernel->stops || !d->options->whole_blocks);
    if (barrier)
        kir_find_uniformity((kir_module *)(uintptr_t)d->in, true); /* facts about its values, not a
                                                                      change */
    HG_TRY(kir_find_zero_bits(d->in, &d->zeros));
    HG_TRY(kir_side_create(d->in, &d->marks));
    note_read_inputs(d);
    note_bare(d);
    if (d->ghosts) HG_TRY(device_find_kept(d));
    d->kernel.fills = d->kernel.group_memory && !device_writes_shared_first(d);
    if (!d->ghosts) return HG_OK;
    d->kernel.tell_faults = kernel->faults;
    d->kernel.tell_alive = d->kernel.has_kept_loop && d->kernel.can_exit;
    return HG_OK;
}

/* Arenas are bound in the order in which slots come to them. */
static hg_status bind_arenas(device *d, const kir_module *m) {
    enum { NONE = 255 };
    uint8_t numbers[256];
    memset(numbers, NONE, sizeof numbers);
    for (uint64_t i = 0; i < m->slots.count; i++) {
        uint8_t *number = &numbers[device_slot_arena(d, i) & ~KIR_AT_START],
                *binding = hg_vec_push(&d->layout->bindings);
        if (!binding) return hg_fail_memory();
        if (*number == NONE) *number = (uint8_t)d->layout->binding_count++;
        *binding = *number;
    }
    return HG_OK;
}

/* Which memory atomic operations reach, and in which slot accesses must really happen: what a plain
 * one read a compiler may keep. Of group memory only what stood before a barrier is read behind it.
 */
static hg_status find_atomics(device *d, const kir_module *m) {
    kir_device_layout *layout = d->layout;
    for (uint32_t i = kir_device_binding_count(layout, m); i > 0; i--) {
        bool *atomic = hg_vec_push(&layout->atomic_bindings);
        if (!atomic) return hg_fail_memory();
        *atomic = false;
    }
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body)) {
            if (!kir_is_access(v)) continue;
            bool atomic = v->op == KIR_ATOMIC;
            if (v->u.mem.slot >= 0)
                layout->atomic_bindings.data[kir_device_binding(layout, (uint64_t)v->u.mem.slot)] |=
                    atomic || v->u.mem.volatile_access;
            else
                layout->atomic_group |= atomic && v->u.mem.space == KIR_SHARED;
        }
    return HG_OK;
}

static hg_status finish(device *d, kir_module *m) {
    HG_TRY(device_lay_out(d));
    if (d->options->target.bind_arenas) HG_TRY(bind_arenas(d, m));
    HG_TRY(find_atomics(d, m));
    bool hides = d->options->hide_zeros || d->options->hide_results;
    for (kir_function *f = m->functions; f && hides; f = f->next)
        f->pure = false; /* they may read the record */
    m->uses_shared = d->kernel.group_memory;
    m->facts = KIR_FACT_DEVICE;
    d->layout->uses_group_memory = d->kernel.group_memory || d->layout->shared_reserved;
    HG_TRY(kir_verify(m));
    return d->options->target.shown_uniform ? device_show_uniform(m) : HG_OK;
}

/* A function that holds a barrier. */
static bool calls_barrier(const kir_module *m) {
    for (const kir_function *f = m->functions->next; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_BARRIER) return true;
    return false;
}

static bool calls_long_loop(const kir_module *m) {
    kir_find_rounds(m);
    for (const kir_function *f = m->functions->next; f; f = f->next)
        if (device_has_long_loop(f)) return true;
    return false;
}

/* Nobody to wait for. */
static void drop_barriers(kir_module *m) {
    for (kir_function *f = m->functions; f; f = f->next)
        for (kir_value *v = kir_walk(NULL, f->body), *next; v; v = next) {
            next = kir_walk(v, f->body);
            if (v->op == KIR_BARRIER) kir_remove(v);
        }
}

static hg_status make(device *d, kir_module **m) {
    HG_TRY(prepare(d));
    HG_TRY(rewrite_run(d->in, NULL, &DEVICE_RULES, d, m));
    kir_function *lane = device_record_late(d, *m);
    if (d->failed) return hg_fail_memory();
    if (d->block && d->options->fold > 1) {
        HG_TRY(kir_simplify(*m)); /* less lives across barriers */
        HG_TRY(device_fold(d));
    }
    if (d->options->alone) drop_barriers(*m);
    device_resume(d, *m, lane);
    device_watch_rounds(d, *m);
    if (d->failed) return hg_fail_memory();
    return finish(d, *m);
}

bool kir_device_is_flat(const kir_module *m) {
    for (const kir_function *f = m->functions; f; f = f->next)
        for (const kir_value *v = kir_walk(NULL, f->body); v; v = kir_walk(v, f->body))
            if (v->op == KIR_ID && v->u.imm == KIR_ID_THREAD) return true;
    return false;
}

hg_status kir_device(const kir_module *in, const kir_device_options *options, kir_module **out,
                     kir_device_layout *layout) {
    *out = NULL;
    memset(layout, 0, sizeof *layout);
    layout->fault_slot = layout->table_slot = layout->locks_slot = layout->class_slot =
        layout->shared_slot = layout->first_arena_slot = -1;
    device d = {.in = in,
                .options = options,
                .layout = layout,
                .i64 = options->target.i64,
                .small = options->small,
                .block = options->form == KIR_FORM_BLOCK};
    kir_module *m = NULL, *inlined = NULL;
    hg_status status = HG_OK;
    if (d.block && options->fold > 1 && calls_barrier(in)) {
        status = device_inline(in, false, &inlined);
        d.in = inlined;
    } else if (options->resumes && calls_long_loop(in)) {
        status = device_inline(in, true, &inlined);
        d.in = inlined;
    }
    if (status == HG_OK) status = make(&d, &m);
    hg_vec_free(&d.at.open_loops);
    hg_free(d.functions);
    kir_side_free(&d.zeros);
    kir_side_free(&d.marks);
    kir_module_destroy(inlined);
    if (status != HG_OK) {
        kir_module_destroy(m);
        kir_device_layout_free(layout);
        return status;
    }
    *out = m;
    return HG_OK;
}

void kir_device_layout_free(kir_device_layout *layout) {
    hg_vec_free(&layout->fields);
    hg_vec_free(&layout->sites);
    hg_vec_free(&layout->bindings);
    hg_vec_free(&layout->atomic_bindings);
}
