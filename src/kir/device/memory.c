/* Memory of a device form at checked places: widths that the device lacks, places that are not
 * aligned, arenas chosen by number. What cannot be proven aligned looks at the low bits and goes
 * through one function for each width and memory.
 * Must not know: bounds, faults. */
#include "kir/device/device_internal.h"
#include "kir/builder.h"
#include "kir/sugar.h"
#include <stdio.h>

/* ---- places ---- */

device_place device_slot_place(device *d, int16_t slot, bool write) {
    device_touch(d, slot, write);
    if ((uint64_t)slot >= d->out->slots.count)
        return (device_place){.kind = DEVICE_GROUP}; /* d->failed: nothing comes of it */
    return (device_place){.kind = DEVICE_SLOT, .slot = slot};
}

static uint8_t offset_type(const device *d, const device_place *at) {
    return d->i64 && at->kind != DEVICE_GROUP ? HG_TYPE_U64 : HG_TYPE_U32;
}

/* Parameters of a helper function that gets a place and an offset in it. */
uint8_t device_place_types(const device *d, const device_place *at, uint8_t *types) {
    uint8_t n = 0;
    if (at->kind == DEVICE_ADDRESS) n = dwide_types(d, types);
    if (at->kind == DEVICE_ARENA) types[n++] = HG_TYPE_U32;
    types[n++] = offset_type(d, at);
    return n;
}

uint8_t device_place_args(const device_place *at, kir_value **args) {
    if (at->kind == DEVICE_ADDRESS) return dwide_args(at->base, args);
    args[0] = at->arena;
    return at->kind == DEVICE_ARENA;
}

device_place device_place_params(const device *d, kir_builder *b, const device_place *at,
                                 uint8_t *next) {
    device_place own = *at;
    if (at->kind == DEVICE_ADDRESS) own.base = dwide_param(d, b, next);
    if (at->kind == DEVICE_ARENA) own.arena = kir_param(b, (*next)++);
    return own;
}

void device_place_name(const device_place *at, char *name, size_t size, const char *prefix,
                       uint32_t number) {
    static const char *const KINDS[] = {"slot", "group", "address", "arena"};
    if (at->kind == DEVICE_SLOT)
        (void)snprintf(name, size, "%s%u_slot%d", prefix, (unsigned)number, (int)at->slot);
    else
        (void)snprintf(name, size, "%s%u_%s", prefix, (unsigned)number, KINDS[at->kind]);
}

bool device_is_native(const device *d, const device_place *at, uint8_t bytes) {
    const kir_device_target *t = &d->options->target;
    bool group = at->kind == DEVICE_GROUP;
    if (bytes == 1) return group ? t->shared8 : t->memory8;
    if (bytes == 2) return group ? t->shared16 : t->memory16;
    if (bytes == 8) return d->i64 && (group ? t->shared64 : t->memory64);
    return true;
}

/* ---- the operations themselves ---- */

static kir_value *raw(device *d, kir_builder *b, const device_place *at, kir_op op, uint8_t result,
                      kir_value *offset, kir_value *x, kir_value *y) {
    kir_value *args[6];
    uint8_t n = device_place_args(at, args);
    args[n++] = offset;
    if (x) args[n++] = x;
    if (y) args[n++] = y;
    kir_value *v = kir_emit(b, op, result, n, args);
    v->u.mem.slot = at->kind == DEVICE_SLOT      ? at->slot
                    : at->kind == DEVICE_ADDRESS ? KIR_ADDRESS
                                                 : KIR_OPEN;
    v->u.mem.space = at->kind == DEVICE_GROUP  ? KIR_SHARED
                     : at->kind == DEVICE_SLOT ? d->out->slots.data[at->slot].space
                                               : (uint8_t)KIR_BUFFER;
    v->u.mem.bytes = (uint8_t)kir_type_bytes(op == KIR_LOAD ? result : x ? x->type : result);
    v->u.mem.has_index = v->u.mem.unchecked = 1;
    v->u.mem.split = at->kind == DEVICE_ADDRESS && !d->i64;
    return v;
}

/* One function that chooses the arena's binding; x and y are types of operands (KIR_VOID: none). */
static kir_value *by_arena(device *d, kir_builder *b, const device_place *at, kir_op op,
                           uint8_t atomic, uint8_t result, kir_value *offset, kir_value *x,
                           kir_value *y, bool now) {
    char name[48];
    uint8_t types[6], n = device_place_types(d, at, types), next = 0;
    uint8_t type = op == KIR_LOAD ? result : x->type;
    if (x) types[n++] = x->type;
    if (y) types[n++] = y->type;
    (void)snprintf(name, sizeof name, "arena_%s%u_%s%s", kir_op_name(op), (unsigned)atomic,
                   kir_type_name(type), now ? "_now" : "");
    rewrite_helper f = device_helper(d, name, op == KIR_STORE ? (uint8_t)KIR_VOID : result, n,
                                     types);
    if (f.fresh) {
        kir_builder *fb = &f.b;
        kir_value *arena = kir_param(fb, next++), *where = kir_param(fb, next++),
                  *px = x ? kir_param(fb, next++) : NULL, *py = y ? kir_param(fb, next) : NULL;
        for (uint32_t i = 0; i < d->options->target.max_arenas; i++) {
            device_place one = device_slot_place(d, device_slot(d, KIR_SLOT_ARENA, i),
                                                 op != KIR_LOAD);
            if (op == KIR_ATOMIC) device_touch(d, one.slot, false);
            kir_value *here = kir_if_begin(fb, by(fb, KIR_CMP_EQ, arena, i));
            kir_value *v = raw(d, fb, &one, op, op == KIR_STORE ? (uint8_t)KIR_VOID : result, where,
                               px, py);
            v->u.mem.atomic = atomic;
            v->u.mem.volatile_access = now;
            kir_return(fb, op == KIR_STORE ? NULL : v);
            kir_if_end(fb, here);
        }
        kir_return(fb, op == KIR_STORE ? NULL : kir_const(fb, result, 0));
        device_helper_end(d, &f);
    }
    kir_value *args[4] = {at->arena, offset, x, y};
    return kir_call(b, f.function, n, args, NULL);
}

kir_value *device_raw_load(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                           uint8_t type, bool now) {
    if (at->kind == DEVICE_ARENA)
        return by_arena(d, b, at, KIR_LOAD, 0, type, offset, NULL, NULL, now);
    kir_value *v = raw(d, b, at, KIR_LOAD, type, offset, NULL, NULL);
    v->u.mem.volatile_access = now;
    return v;
}

void device_raw_store(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                      kir_value *value, bool now) {
    if (at->kind == DEVICE_ARENA)
        (void)by_arena(d, b, at, KIR_STORE, 0, KIR_VOID, offset, value, NULL, now);
    else
        raw(d, b, at, KIR_STORE, KIR_VOID, offset, value, NULL)->u.mem.volatile_access = now;
}

kir_value *device_raw_atomic(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                             kir_atomic op, kir_value *x, kir_value *y) {
    if (at->kind == DEVICE_ARENA)
        return by_arena(d, b, at, KIR_ATOMIC, (uint8_t)op, x->type, offset, x, y, false);
    kir_value *v = raw(d, b, at, KIR_ATOMIC, x->type, offset, x, y);
    v->u.mem.atomic = (uint8_t)op;
    return v;
}

/* ---- parts of words ---- */

static uint32_t zeros_of(uint8_t bytes) {
    return bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0;
}
static uint64_t mask_of(uint8_t bytes) {
    return bytes == 4 ? UINT32_MAX : (UINT64_C(1) << 8 * bytes) - 1;
}

static kir_value *word_offset(kir_builder *b, kir_value *offset) {
    return by(b, KIR_AND, offset, ~UINT64_C(3));
}
static kir_value *low32(kir_builder *b, kir_value *offset) {
    return offset->type == HG_TYPE_U64 ? kir_convert(b, KIR_TRUNC, HG_TYPE_U32, offset) : offset;
}
/* Bits in front of the offset's byte in its word. */
static kir_value *bit_offset(kir_builder *b, kir_value *offset) {
    return shift_by(b, KIR_SHL, by(b, KIR_AND, low32(b, offset), 3), 3);
}
static kir_value *is_aligned(kir_builder *b, kir_value *offset, uint8_t bytes) {
    return is_zero(b, by(b, KIR_AND, low32(b, offset), bytes - 1u));
}
static kir_value *byte_at(kir_builder *b, kir_value *offset, uint32_t i) {
    return i ? by(b, KIR_ADD, offset, i) : offset;
}

/* Whether `bytes` at the bit offset run into the next word. */
static kir_value *crosses(kir_builder *b, kir_value *bits, uint8_t bytes) {
    return kir_binary(b, KIR_CMP_ULT, u32(b, 32 - 8u * bytes), bits);
}

/* ---- loads of at most a word, as u32 ---- */

static kir_value *aligned_small(device *d, kir_builder *b, const device_place *at,
                                kir_value *offset, uint8_t bytes) {
    if (bytes == 4) return device_raw_load(d, b, at, offset, HG_TYPE_U32, false);
    if (device_is_native(d, at, bytes))
        return kir_convert(b, KIR_ZEXT, HG_TYPE_U32,
                           device_raw_load(d, b, at, offset, hg_uint_of_bytes(bytes), false));
    kir_value *word = device_raw_load(d, b, at, word_offset(b, offset), HG_TYPE_U32, false);
    return by(b, KIR_AND, kir_binary(b, KIR_LSHR, word, bit_offset(b, offset)), mask_of(bytes));
}

static kir_value *gather_bytes(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                               uint8_t bytes) {
    kir_value *sum = NULL;
    for (uint32_t i = 0; i < bytes; i++) {
        kir_value *one = kir_convert(
            b, KIR_ZEXT, HG_TYPE_U32,
            device_raw_load(d, b, at, byte_at(b, offset, i), HG_TYPE_U8, false));
        if (i) one = shift_by(b, KIR_SHL, one, 8 * i);
        sum = sum ? kir_binary(b, KIR_OR, sum, one) : one;
    }
    return sum;
}

static kir_value *gather_words(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                               uint8_t bytes) {
    kir_value *first = word_offset(b, offset), *bits = bit_offset(b, offset);
    kir_var *r = kir_var_create(d->out, b->function, HG_TYPE_U32, 0, NULL);
    kir_set(b, r,
            kir_binary(b, KIR_LSHR, device_raw_load(d, b, at, first, HG_TYPE_U32, false), bits));
    kir_value *more = kir_if_begin(b, crosses(b, bits, bytes));
    kir_value *next = device_raw_load(d, b, at, by(b, KIR_ADD, first, 4), HG_TYPE_U32, false);
    kir_set(b, r,
            kir_binary(b, KIR_OR, kir_get(b, r),
                       kir_binary(b, KIR_SHL, next, kir_sub(b, u32(b, 32), bits))));
    kir_if_end(b, more);
    return by(b, KIR_AND, kir_get(b, r), mask_of(bytes));
}

static kir_value *call_any_load(device *d, kir_builder *b, const device_place *at,
                                kir_value *offset, uint8_t bytes) {
    char name[48];
    uint8_t types[6], n = device_place_types(d, at, types), next = 0;
    device_place_name(at, name, sizeof name, "load_any", bytes);
    rewrite_helper f = device_helper(d, name, HG_TYPE_U32, n, types);
    if (f.fresh) {
        f.function->cold = true;
        device_place own = device_place_params(d, &f.b, at, &next);
        kir_value *where = kir_param(&f.b, next);
        kir_return(&f.b, device_is_native(d, at, 1) ? gather_bytes(d, &f.b, &own, where, bytes)
                                                    : gather_words(d, &f.b, &own, where, bytes));
        device_helper_end(d, &f);
    }
    kir_value *args[6];
    args[device_place_args(at, args)] = offset;
    return kir_call(b, f.function, n, args, NULL);
}

static kir_value *load_small(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                             uint32_t zeros, uint8_t bytes) {
    if (zeros >= zeros_of(bytes)) return aligned_small(d, b, at, offset, bytes);
    kir_var *r = kir_var_create(d->out, b->function, HG_TYPE_U32, 0, NULL);
    kir_value *branch = kir_if_begin(b, is_aligned(b, offset, bytes));
    kir_set(b, r, aligned_small(d, b, at, offset, bytes));
    kir_if_else(b, branch);
    kir_set(b, r, call_any_load(d, b, at, offset, bytes));
    kir_if_end(b, branch);
    return kir_get(b, r);
}

/* ---- loads of a u64 ---- */

static kir_value *two_words(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                            uint32_t zeros) {
    kir_value *l = kir_convert(b, KIR_ZEXT, HG_TYPE_U64, load_small(d, b, at, offset, zeros, 4));
    kir_value *h = kir_convert(b, KIR_ZEXT, HG_TYPE_U64,
                               load_small(d, b, at, byte_at(b, offset, 4), zeros, 4));
    return kir_binary(b, KIR_OR, l, shift_by(b, KIR_SHL, h, 32));
}

static kir_value *load_double(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                              uint32_t zeros) {
    if (!device_is_native(d, at, 8) || zeros == 2) return two_words(d, b, at, offset, zeros);
    if (zeros >= 3) return device_raw_load(d, b, at, offset, HG_TYPE_U64, false);
    kir_var *r = kir_var_create(d->out, b->function, HG_TYPE_U64, 0, NULL);
    kir_value *branch = kir_if_begin(b, is_aligned(b, offset, 8));
    kir_set(b, r, device_raw_load(d, b, at, offset, HG_TYPE_U64, false));
    kir_if_else(b, branch);
    kir_set(b, r, two_words(d, b, at, offset, zeros));
    kir_if_end(b, branch);
    return kir_get(b, r);
}

kir_value *device_load(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                       uint32_t zeros, uint8_t type, uint8_t bytes) {
    bool direct = zeros >= zeros_of(bytes) && device_is_native(d, at, bytes);
    if (direct && kir_type_bytes(type) == bytes && at->kind != DEVICE_ARENA)
        return device_raw_load(d, b, at, offset, type, false);
    kir_value *x = bytes == 8 ? load_double(d, b, at, offset, zeros)
                              : load_small(d, b, at, offset, zeros, bytes);
    if (x->type == type) return x;
    if (kir_type_is_float(type)) return kir_convert(b, KIR_BITCAST, type, x);
    return kir_convert(b, kir_type_bytes(type) > kir_type_bytes(x->type) ? KIR_ZEXT : KIR_TRUNC,
                       type, x);
}

/* ---- stores ---- */

/* A round that fails is one in which another lane stored to the word. Without races at most three
 * others do, as often as this one, so that all stores of a lane together have at most so many
 * rounds each. */
enum { MOST_MERGES = 4 };

/* word at offset = (word & ~mask) | bits, at once: neighbours may be written by other lanes. */
static void merge(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                  kir_value *mask, kir_value *bits) {
    char name[48];
    uint8_t types[6], n = device_place_types(d, at, types), next = 0;
    types[n++] = HG_TYPE_U32;
    types[n++] = HG_TYPE_U32;
    device_place_name(at, name, sizeof name, "merge", 4);
    rewrite_helper f = device_helper(d, name, KIR_VOID, n, types);
    if (f.fresh) {
        kir_builder *fb = &f.b;
        device_place own = device_place_params(d, fb, at, &next);
        kir_value *where = kir_param(fb, next),
                  *keep = by(fb, KIR_XOR, kir_param(fb, (uint8_t)(next + 1)), UINT32_MAX),
                  *set = kir_param(fb, (uint8_t)(next + 2));
        if (at->kind == DEVICE_SLOT) device_touch(d, at->slot, false);
        kir_value *loop = kir_loop_begin(fb, true);
        if (loop) loop->u.loop.most = MOST_MERGES;
        kir_value *old = device_raw_load(d, fb, &own, where, HG_TYPE_U32, true);
        kir_value *seen = device_raw_atomic(
            d, fb, &own, where, KIR_ATOMIC_CAS, old,
            kir_binary(fb, KIR_OR, kir_binary(fb, KIR_AND, old, keep), set));
        kir_value *done = kir_if_begin(fb, kir_binary(fb, KIR_CMP_EQ, seen, old));
        kir_break(fb);
        kir_if_end(fb, done);
        kir_loop_end(fb, loop);
        device_helper_end(d, &f);
    }
    kir_value *args[6];
    uint8_t k = device_place_args(at, args);
    args[k++] = offset;
    args[k++] = mask;
    args[k] = bits;
    kir_call(b, f.function, n, args, NULL);
}

static void aligned_store(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                          kir_value *value, uint8_t bytes) {
    if (bytes == 4) {
        device_raw_store(d, b, at, offset, value, false);
    } else if (device_is_native(d, at, bytes)) {
        device_raw_store(d, b, at, offset,
                         kir_convert(b, KIR_TRUNC, hg_uint_of_bytes(bytes), value), false);
    } else {
        kir_value *bits = bit_offset(b, offset), *low = by(b, KIR_AND, value, mask_of(bytes)),
                  *word = word_offset(b, offset);
        kir_value *mask = kir_binary(b, KIR_SHL, u32(b, mask_of(bytes)), bits);
        merge(d, b, at, word, mask, kir_binary(b, KIR_SHL, low, bits));
    }
}

static void scatter_bytes(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                          kir_value *value, uint8_t bytes) {
    for (uint32_t i = 0; i < bytes; i++) {
        kir_value *place = byte_at(b, offset, i),
                  *moved = i ? shift_by(b, KIR_LSHR, value, 8 * i) : value;
        device_raw_store(d, b, at, place, kir_convert(b, KIR_TRUNC, HG_TYPE_U8, moved), false);
    }
}

static void scatter_words(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                          kir_value *value, uint8_t bytes) {
    kir_value *first = word_offset(b, offset), *bits = bit_offset(b, offset),
              *mask = u32(b, mask_of(bytes)), *low = kir_binary(b, KIR_AND, value, mask);
    kir_value *here = kir_binary(b, KIR_SHL, mask, bits);
    merge(d, b, at, first, here, kir_binary(b, KIR_SHL, low, bits));
    kir_value *more = kir_if_begin(b, crosses(b, bits, bytes)),
              *back = kir_sub(b, u32(b, 32), bits);
    kir_value *second = by(b, KIR_ADD, first, 4), *there = kir_binary(b, KIR_LSHR, mask, back);
    merge(d, b, at, second, there, kir_binary(b, KIR_LSHR, low, back));
    kir_if_end(b, more);
}

static void call_any_store(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                           kir_value *value, uint8_t bytes) {
    char name[48];
    uint8_t types[6], n = device_place_types(d, at, types), next = 0;
    types[n++] = HG_TYPE_U32;
    device_place_name(at, name, sizeof name, "store_any", bytes);
    rewrite_helper f = device_helper(d, name, KIR_VOID, n, types);
    if (f.fresh) {
        f.function->cold = true;
        device_place own = device_place_params(d, &f.b, at, &next);
        kir_value *where = kir_param(&f.b, next), *x = kir_param(&f.b, (uint8_t)(next + 1));
        if (device_is_native(d, at, 1))
            scatter_bytes(d, &f.b, &own, where, x, bytes);
        else
            scatter_words(d, &f.b, &own, where, x, bytes);
        device_helper_end(d, &f);
    }
    kir_value *args[6];
    uint8_t k = device_place_args(at, args);
    args[k++] = offset;
    args[k] = value;
    kir_call(b, f.function, n, args, NULL);
}

static void store_small(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                        uint32_t zeros, kir_value *value, uint8_t bytes) {
    if (zeros >= zeros_of(bytes)) {
        aligned_store(d, b, at, offset, value, bytes);
        return;
    }
    kir_value *branch = kir_if_begin(b, is_aligned(b, offset, bytes));
    aligned_store(d, b, at, offset, value, bytes);
    kir_if_else(b, branch);
    call_any_store(d, b, at, offset, value, bytes);
    kir_if_end(b, branch);
}

static void store_words(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                        uint32_t zeros, kir_value *value) {
    store_small(d, b, at, offset, zeros, kir_convert(b, KIR_TRUNC, HG_TYPE_U32, value), 4);
    kir_value *next = byte_at(b, offset, 4), *high = shift_by(b, KIR_LSHR, value, 32);
    store_small(d, b, at, next, zeros, kir_convert(b, KIR_TRUNC, HG_TYPE_U32, high), 4);
}

static void store_double(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                         uint32_t zeros, kir_value *value) {
    if (!device_is_native(d, at, 8) || zeros == 2) {
        store_words(d, b, at, offset, zeros, value);
        return;
    }
    kir_value *branch = kir_if_begin(b, is_aligned(b, offset, 8));
    device_raw_store(d, b, at, offset, value, false);
    kir_if_else(b, branch);
    store_words(d, b, at, offset, zeros, value);
    kir_if_end(b, branch);
}

void device_store(device *d, kir_builder *b, const device_place *at, kir_value *offset,
                  uint32_t zeros, kir_value *value, uint8_t bytes) {
    bool direct = zeros >= zeros_of(bytes) && device_is_native(d, at, bytes);
    if (direct && kir_type_bytes(value->type) == bytes && at->kind != DEVICE_ARENA) {
        device_raw_store(d, b, at, offset, value, false);
        return;
    }
    if (kir_type_is_float(value->type))
        value = kir_convert(b, KIR_BITCAST, bytes == 8 ? HG_TYPE_U64 : HG_TYPE_U32, value);
    if (bytes == 8) {
        if (direct)
            device_raw_store(d, b, at, offset, value, false);
        else
            store_double(d, b, at, offset, zeros, value);
        return;
    }
    if (kir_type_bytes(value->type) < 4) value = kir_convert(b, KIR_ZEXT, HG_TYPE_U32, value);
    store_small(d, b, at, offset, zeros, value, bytes);
}
