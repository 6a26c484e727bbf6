/* Faults of a device form: sites, the one function that records a fault, and how lanes stop.
 * The record keeps the first fault in the order (phase, lane); its words are written under a lock
 * that nobody waits for while holding another. Must not know: what is accessed. */
#include "kir/device/device_internal.h"
#include "kir/builder.h"
#include "kir/sugar.h"
#include <string.h>

uint32_t device_site(device *d, const kir_value *v, uint8_t code, uint8_t operand, uint16_t bytes) {
    kir_fault_site *site = hg_vec_push(&d->layout->sites);
    if (!site) {
        d->failed = true;
        return 0;
    }
    bool memory = v->op != KIR_FAULT_IF;
    *site = (kir_fault_site){.code = code,
                             .operand = operand,
                             .bytes = bytes,
                             .inst = v->inst ? v->inst - 1 : UINT32_MAX,
                             .slot = KIR_OPEN};
    if (memory) {
        site->space = v->u.mem.space;
        site->disp = v->u.mem.disp;
        site->slot = v->u.mem.slot;
    } else if (v->u.fault.message) {
        site->message = hg_arena_text(&d->out->arena, v->u.fault.message,
                                      strlen(v->u.fault.message));
        if (!site->message) d->failed = true;
    }
    return (uint32_t)d->layout->sites.count - 1;
}

/* ---- the record ---- */

static kir_value *word_at(device *d, kir_builder *b, kir_fault_word word) {
    return doffset_const(d, b, (uint64_t)word * 4);
}

kir_value *device_read_word(device *d, kir_builder *b, kir_fault_word word) {
    device_place at = device_slot_place(d, device_slot(d, KIR_SLOT_FAULT, 0), false);
    return device_raw_load(d, b, &at, word_at(d, b, word), HG_TYPE_U32, true);
}
void device_write_word(device *d, kir_builder *b, kir_fault_word word, kir_value *x) {
    device_place at = device_slot_place(d, device_slot(d, KIR_SLOT_FAULT, 0), true);
    device_raw_store(d, b, &at, word_at(d, b, word), x, true);
}
static kir_value *change_word(device *d, kir_builder *b, kir_fault_word word, kir_atomic op,
                              kir_value *x, kir_value *y) {
    device_place at = device_slot_place(d, device_slot(d, KIR_SLOT_FAULT, 0), true);
    return device_raw_atomic(d, b, &at, word_at(d, b, word), op, x, y);
}
static void write_wide(device *d, kir_builder *b, kir_fault_word word, device_wide x) {
    device_write_word(d, b, word, dwide_low(d, b, x));
    device_write_word(d, b, (kir_fault_word)(word + 1), dwide_high(d, b, x));
}
static void fence(kir_builder *b) {
    kir_emit(b, KIR_FENCE, KIR_VOID, 0, NULL)->u.imm = HG_SCOPE_DEVICE;
}

/* Returns early where a smaller lane of this dispatch has faulted in the first phase already. */
static void reject(device *d, kir_builder *b, kir_value *phase) {
    kir_value *order = device_order(d, b), *first = NULL;
    if (!order) return;
    if (phase) first = kir_if_begin(b, is_zero(b, phase));
    kir_value *best = change_word(d, b, KIR_FAULT_BEST, KIR_ATOMIC_UMIN, order, NULL);
    kir_value *late = kir_if_begin(b, kir_binary(b, KIR_CMP_ULT, best, order));
    kir_return(b, NULL);
    kir_if_end(b, late);
    if (first) kir_if_end(b, first);
}

/* Whether a lane comes before the one recorded. A small launch has lanes of 32 bits alone. */
static kir_value *is_lower(device *d, kir_builder *b, device_wide lane) {
    kir_value *low = device_read_word(d, b, KIR_FAULT_LANE);
    if (d->small) return kir_binary(b, KIR_CMP_ULT, dwide_low(d, b, lane), low);
    kir_value *high = device_read_word(d, b, KIR_FAULT_LANE_HIGH);
    if (!d->i64) return dwide_below(d, b, lane, (device_wide){low, high});
    kir_value *top = shift_by(b, KIR_SHL, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, high), 32);
    return dwide_below(
        d, b, lane,
        (device_wide){kir_binary(b, KIR_OR, top, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, low)),
                      NULL});
}

/* Whether this fault comes before the one recorded. */
static kir_value *comes_first(device *d, kir_builder *b, device_wide lane, kir_value *phase) {
    kir_value *happened = device_read_word(d, b, KIR_FAULT_HAPPENED), *less = is_lower(d, b, lane);
    if (phase) {
        kir_value *at = device_read_word(d, b, KIR_FAULT_PHASE);
        less = kir_binary(b, KIR_OR, kir_binary(b, KIR_CMP_ULT, phase, at),
                          kir_binary(b, KIR_AND, kir_binary(b, KIR_CMP_EQ, phase, at), less));
    }
    return kir_binary(b, KIR_OR, is_zero(b, happened), less);
}

typedef struct fault_args {
    kir_value *site, *phase;
    device_wide index, name, lane;
} fault_args;

static void write_record(device *d, kir_builder *b, const fault_args *a) {
    device_write_word(d, b, KIR_FAULT_SITE, a->site);
    if (a->phase) device_write_word(d, b, KIR_FAULT_PHASE, a->phase);
    if (d->small) {
        device_write_word(d, b, KIR_FAULT_LANE, dwide_low(d, b, a->lane));
        device_write_word(d, b, KIR_FAULT_LANE_HIGH, u32(b, 0));
    } else {
        write_wide(d, b, KIR_FAULT_LANE, a->lane);
    }
    write_wide(d, b, KIR_FAULT_INDEX, a->index);
    if (a->name.l) write_wide(d, b, KIR_FAULT_NAME, a->name);
    if (d->kernel.any_open) {
        device_open_vars(d);
        write_wide(d, b, KIR_FAULT_LIMIT, dwide_get(b, d->vars.open_size));
        kir_value *valid = kir_binary(b, KIR_CMP_EQ, kir_get(b, d->vars.open_state), u32(b, 1));
        device_write_word(d, b, KIR_FAULT_VALID, kir_select(b, valid, u32(b, 0), u32(b, 1)));
    }
    device_write_word(d, b, KIR_FAULT_HAPPENED, u32(b, 1));
}

static kir_function *record_function(device *d) {
    uint8_t types[16] = {HG_TYPE_U32}, n = 1, next = 1;
    n = (uint8_t)(n + dwide_types(d, types + n));
    if (d->kernel.any_name) n = (uint8_t)(n + dwide_types(d, types + n));
    if (d->ghosts) types[n++] = HG_TYPE_U32;
    rewrite_helper f = device_helper(d, "record_fault", KIR_VOID, n, types);
    d->vars.recorder = f.function;
    if (!f.fresh) return f.function;
    f.function->cold = true;
    kir_builder *b = &f.b;
    fault_args a = {.site = kir_param(b, 0)};
    a.index = dwide_param(d, b, &next);
    if (d->kernel.any_name) a.name = dwide_param(d, b, &next);
    if (d->ghosts) a.phase = kir_param(b, next);
    reject(d, b, a.phase);
    a.lane = device_lane(d, b);
    kir_value *again = kir_loop_begin(b, true);
    kir_value *open = u32(b, 0), *closed = u32(b, 1),
              *taken = change_word(d, b, KIR_FAULT_LOCK, KIR_ATOMIC_CAS, open, closed);
    kir_value *mine = kir_if_begin(b, is_zero(b, taken));
    fence(b);
    kir_value *first = kir_if_begin(b, comes_first(d, b, a.lane, a.phase));
    write_record(d, b, &a);
    kir_if_end(b, first);
    fence(b);
    (void)change_word(d, b, KIR_FAULT_LOCK, KIR_ATOMIC_EXCH, u32(b, 0), NULL);
    kir_if_end(b, mine);
    device_leave_lock(b, taken);
    kir_loop_end(b, again);
    device_helper_end(d, &f);
    return f.function;
}

static void keep(device *d, kir_builder *b, kir_var **vars, device_wide x, const char *low,
                 const char *high) {
    kir_set(b, device_own_var(d, &vars[0], d->i64 ? HG_TYPE_U64 : HG_TYPE_U32, low), x.l);
    if (!d->i64) kir_set(b, device_own_var(d, &vars[1], HG_TYPE_U32, high), x.h);
}

/* Without ghosts the lane leaves at once, so one call at the end of the kernel serves all sites:
 * device compilers that inline everything had a copy of the record's code at each. */
static void record_later(device *d, kir_builder *b, uint32_t site, device_wide index,
                         device_wide name) {
    if (!d->vars.recorder) (void)record_function(d);
    kir_var *late_site = device_own_var(d, &d->vars.late_site, HG_TYPE_U32, "fault_site");
    kir_set(b, late_site, u32(b, site + 1));
    keep(d, b, d->vars.late_index, index, "fault_index", "fault_index_high");
    if (d->kernel.any_name)
        keep(d, b, d->vars.late_name, name.l ? name : dwide(d, b, 0), "fault_name",
             "fault_name_high");
}

kir_function *device_wrap_kernel(kir_module *m) {
    kir_function *kernel = m->functions, *body = kir_function_create(m, "lane", KIR_VOID);
    if (!body) return NULL;
    kir_region *region = body->body;
    body->body = kernel->body;
    kernel->body = region;
    for (kir_var *v = m->vars; v; v = v->next)
        if (v->function == kernel) v->function = body;
    for (kir_value *v = kir_walk(NULL, body->body); v; v = kir_walk(v, body->body))
        if (v->op == KIR_EXIT) v->op = KIR_RETURN;
    return body;
}

kir_function *device_record_late(device *d, kir_module *m) {
    kir_function *kernel = m->functions,
                 *body = d->vars.late_site && !d->failed ? device_wrap_kernel(m) : NULL;
    if (d->vars.late_site && !body) d->failed = true;
    if (!body) return NULL;
    kir_builder b;
    kir_builder_init(&b, m, kernel);
    (void)kir_call(&b, body, 0, NULL, NULL);
    kir_value *site = kir_get(&b, d->vars.late_site);
    kir_value *happened = kir_if_begin(&b, kir_not(&b, is_zero(&b, site)));
    kir_value *args[16] = {kir_sub(&b, site, u32(&b, 1))};
    uint8_t n = 1;
    n = (uint8_t)(n + dwide_args(dwide_get(&b, d->vars.late_index), args + n));
    if (d->kernel.any_name)
        n = (uint8_t)(n + dwide_args(dwide_get(&b, d->vars.late_name), args + n));
    kir_call(&b, d->vars.recorder, n, args, NULL);
    kir_if_end(&b, happened);
    d->failed = d->failed || b.failed;
    return body;
}

static void record(device *d, kir_builder *b, uint32_t site, device_wide index, device_wide name) {
    if (!d->ghosts) {
        record_later(d, b, site, index, name);
        return;
    }
    kir_value *args[16] = {u32(b, site)};
    uint8_t n = 1;
    n = (uint8_t)(n + dwide_args(index, args + n));
    if (d->kernel.any_name) n = (uint8_t)(n + dwide_args(name.l ? name : dwide(d, b, 0), args + n));
    if (d->ghosts) args[n++] = kir_get(b, device_phase(d));
    kir_call(b, record_function(d), n, args, NULL);
    device_tell_group(d, b);
}

/* ---- stopping ---- */

device_stop device_stop_here(const device *d) {
    bool kernel = d->at.function == d->in->functions;
    if (!d->ghosts || d->at.tail) return kernel ? DEVICE_EXIT : DEVICE_RETURN;
    if (!kernel && !d->functions[d->at.function->id].ghosts) return DEVICE_RETURN;
    return d->at.loops ? DEVICE_BREAK : DEVICE_FALL;
}

static void return_nothing(kir_builder *b) {
    uint8_t type = b->function ? b->function->result : (uint8_t)KIR_VOID;
    kir_return(b, type == KIR_VOID ? NULL : kir_const(b, type, 0));
}

void device_stop_lane(device *d, kir_builder *b) {
    device_stop how = device_stop_here(d);
    d->at.maybe_stopped = d->at.maybe_stopped || how == DEVICE_BREAK || how == DEVICE_FALL;
    if (how == DEVICE_EXIT) {
        kir_exit(b);
        return;
    }
    kir_var *stopped = device_stopped(d);
    kir_set(b, stopped, kir_const(b, KIR_BOOL, 1));
    if (how == DEVICE_RETURN) return_nothing(b);
    if (how == DEVICE_BREAK) kir_break(b);
}

void device_guard(device *d, kir_builder *b, kir_value *bad, uint32_t site, device_wide index,
                  device_wide name) {
    bool fall = device_stop_here(d) == DEVICE_FALL, ask = fall && d->at.maybe_stopped;
    kir_value *branch = kir_if_begin(b, bad), *live = NULL;
    if (ask) live = kir_if_begin(b, device_is_live(d, b));
    record(d, b, site, index, name);
    d->at.stops_pending = fall;
    bool before = d->at.maybe_stopped;
    device_stop_lane(d, b);
    if (fall) d->at.maybe_stopped = before; /* in the good case; device_close_ifs sets it */
    if (live) kir_if_end(b, live);
    if (!fall) {
        kir_if_end(b, branch);
        return;
    }
    kir_if_else(b, branch);
    d->at.ifs[d->at.open_ifs++] = branch;
}

void device_mask(device *d, kir_builder *b) {
    if (device_stop_here(d) == DEVICE_FALL && d->at.maybe_stopped)
        d->at.ifs[d->at.open_ifs++] = kir_if_begin(b, device_is_live(d, b));
}

void device_close_ifs(device *d, kir_builder *b) {
    while (d->at.open_ifs) kir_if_end(b, d->at.ifs[--d->at.open_ifs]);
    if (d->at.stops_pending) d->at.maybe_stopped = true;
    d->at.stops_pending = false;
}
