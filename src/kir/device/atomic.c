/* Atomics of 64 bits where the device has none: under one of the lock words, chosen by where the
 * memory lies, so that all names of one place share a lock. Must not know: bounds, faults. */
#include "kir/device/device_internal.h"
#include "kir/builder.h"
#include "kir/sugar.h"

static kir_value *each(kir_builder *b, kir_op op, kir_value *x, kir_value *y) {
    return x ? kir_binary(b, op, x, y) : NULL;
}
static device_wide both(kir_builder *b, kir_op op, device_wide x, device_wide y) {
    kir_value *l = each(b, op, x.l, y.l);
    return (device_wide){l, each(b, op, x.h, y.h)};
}
static kir_value *signed_below(kir_builder *b, device_wide x, device_wide y) {
    if (!x.h) return kir_binary(b, KIR_CMP_SLT, x.l, y.l);
    kir_value *same = kir_binary(b, KIR_AND, kir_binary(b, KIR_CMP_EQ, x.h, y.h),
                                 kir_binary(b, KIR_CMP_ULT, x.l, y.l));
    return kir_binary(b, KIR_OR, kir_binary(b, KIR_CMP_SLT, x.h, y.h), same);
}

static device_wide changed(const device *d, kir_builder *b, kir_atomic op, device_wide old,
                           device_wide x, device_wide y) {
    switch (op) {
    case KIR_ATOMIC_ADD: return dwide_add(d, b, old, x);
    case KIR_ATOMIC_UMIN: return dwide_select(b, dwide_below(d, b, x, old), x, old);
    case KIR_ATOMIC_SMIN: return dwide_select(b, signed_below(b, x, old), x, old);
    case KIR_ATOMIC_UMAX: return dwide_select(b, dwide_below(d, b, old, x), x, old);
    case KIR_ATOMIC_SMAX: return dwide_select(b, signed_below(b, old, x), x, old);
    case KIR_ATOMIC_AND: return both(b, KIR_AND, old, x);
    case KIR_ATOMIC_OR: return both(b, KIR_OR, old, x);
    case KIR_ATOMIC_XOR: return both(b, KIR_XOR, old, x);
    case KIR_ATOMIC_EXCH: return x;
    default: return dwide_select(b, dwide_equal(d, b, old, x), y, old);
    }
}

/* Byte offset of the lock of a place: from the low bits of its address, or of its offset in its
 * arena. */
static kir_value *lock_offset(device *d, kir_builder *b, const device_place *at,
                              kir_value *offset) {
    device_wide o = {offset, NULL};
    kir_value *low = offset->type == HG_TYPE_U64 ? dwide_low(d, b, o) : offset, *base = NULL;
    if (at->kind == DEVICE_ADDRESS) base = dwide_low(d, b, at->base);
    if (at->kind == DEVICE_SLOT && d->out->slots.data[at->slot].base >= 0) {
        uint32_t input = (uint32_t)d->out->slots.data[at->slot].base;
        base = kir_emit(b, KIR_INPUT, d->out->inputs.data[input].type, 0, NULL);
        base->u.imm = input;
        if (base->type == HG_TYPE_U64) base = kir_convert(b, KIR_TRUNC, HG_TYPE_U32, base);
    }
    if (base) low = kir_add(b, low, base);
    return doffset_of_u32(
        d, b,
        shift_by(b, KIR_SHL, by(b, KIR_AND, shift_by(b, KIR_LSHR, low, 3), KIR_LOCK_WORDS - 1), 2));
}

static device_wide read_both(device *d, kir_builder *b, const device_place *at, kir_value *offset) {
    kir_value *l = device_raw_load(d, b, at, offset, HG_TYPE_U32, true);
    kir_value *h = device_raw_load(d, b, at, by(b, KIR_ADD, offset, 4), HG_TYPE_U32, true);
    if (!d->i64) return (device_wide){l, h};
    kir_value *top = shift_by(b, KIR_SHL, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, h), 32);
    return (device_wide){kir_binary(b, KIR_OR, top, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, l)),
                         NULL};
}

static void write_both(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                       device_wide x) {
    device_raw_store(d, b, at, offset, dwide_low(d, b, x), true);
    kir_value *next = by(b, KIR_ADD, offset, 4);
    device_raw_store(d, b, at, next, dwide_high(d, b, x), true);
}

static void fence(kir_builder *b) {
    kir_emit(b, KIR_FENCE, KIR_VOID, 0, NULL)->u.imm = HG_SCOPE_DEVICE;
}

/* Devices that leave loops by themselves (target.max_rounds) try so often in a round: whoever has
 * the lock may wait for a processor meanwhile. */
enum { TRIES = 32 };

/* 0: the lane has the lock now. */
static kir_value *try_lock(device *d, kir_builder *b, const device_place *locks, kir_value *lock) {
    kir_value *open = u32(b, 0), *closed = u32(b, 1),
              *taken = device_raw_atomic(d, b, locks, lock, KIR_ATOMIC_CAS, open, closed);
    if (!d->options->target.max_rounds) return taken;
    kir_var *state = kir_var_create(d->out, b->function, HG_TYPE_U32, 0, NULL);
    kir_set(b, state, taken);
    for (int i = 1; i < TRIES; i++) {
        kir_value *again = kir_if_begin(b, kir_binary(b, KIR_CMP_ULT, open, kir_get(b, state)));
        kir_set(b, state, device_raw_atomic(d, b, locks, lock, KIR_ATOMIC_CAS, open, closed));
        kir_if_end(b, again);
    }
    return kir_get(b, state);
}

static void write_locked(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                         kir_atomic op, device_wide x, device_wide y) {
    device_place locks = device_slot_place(d, device_slot(d, KIR_SLOT_LOCKS, 0), true);
    kir_var *low = kir_var_create(d->out, b->function, x.l->type, 0, NULL);
    kir_value *lock = lock_offset(d, b, at, offset), *loop = kir_loop_begin(b, true);
    kir_value *taken = try_lock(d, b, &locks, lock), *mine = kir_if_begin(b, is_zero(b, taken));
    fence(b);
    device_wide old = read_both(d, b, at, offset);
    kir_set(b, low, old.l);
    if (old.h) kir_set(b, d->vars.atomic_high, old.h);
    write_both(d, b, at, offset, changed(d, b, op, old, x, y));
    fence(b);
    (void)device_raw_atomic(d, b, &locks, lock, KIR_ATOMIC_EXCH, u32(b, 0), NULL);
    kir_if_end(b, mine);
    device_leave_lock(b, taken);
    kir_loop_end(b, loop);
    kir_return(b, kir_get(b, low));
}

device_wide device_atomic64(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                            kir_atomic op, device_wide x, device_wide y) {
    const kir_device_target *t = &d->options->target;
    if (d->i64 && (at->kind == DEVICE_GROUP ? t->shared_atomic64 : t->atomic64))
        return (device_wide){device_raw_atomic(d, b, at, offset, op, x.l, y.l), NULL};
    if (!d->i64 && !d->vars.atomic_high)
        d->vars.atomic_high = kir_var_create(d->out, NULL, HG_TYPE_U32, 0, "atomic_high");
    if (!d->i64 && !d->vars.atomic_high) d->failed = true;
    char name[48];
    uint8_t types[10], n = device_place_types(d, at, types), next = 0;
    bool two = op == KIR_ATOMIC_CAS;
    for (int i = 0; i < (two ? 2 : 1); i++) n = (uint8_t)(n + dwide_types(d, types + n));
    device_place_name(at, name, sizeof name, "atomic64_", (uint32_t)op);
    rewrite_helper f = device_helper(d, name, d->i64 ? HG_TYPE_U64 : HG_TYPE_U32, n, types);
    if (f.fresh) {
        f.function->cold = true;
        device_place own = device_place_params(d, &f.b, at, &next);
        kir_value *where = kir_param(&f.b, next++);
        device_wide px = dwide_param(d, &f.b, &next), py = {NULL, NULL};
        if (two) py = dwide_param(d, &f.b, &next);
        write_locked(d, &f.b, &own, where, op, px, py);
        device_helper_end(d, &f);
    }
    kir_value *args[10];
    uint8_t k = device_place_args(at, args);
    args[k++] = offset;
    k = (uint8_t)(k + dwide_args(x, args + k));
    if (two) (void)dwide_args(y, args + k);
    kir_value *l = kir_call(b, f.function, n, args, NULL);
    return (device_wide){l, d->i64 ? NULL : kir_get(b, d->vars.atomic_high)};
}
