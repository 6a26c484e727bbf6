/* Loads, stores, checks and atomics of a kernel in device form: which memory, whether the place is
 * within it, then the access. Offset = index + displacement is exact: a displacement that is not
 * negative goes into the limit, another one wraps far outside.
 * Must not know: widths and alignment of device memory. */
#include "kir/device/device_internal.h"
#include "kir/access.h"
#include "kir/builder.h"
#include "kir/sugar.h"

static const uint64_t FIRST_CLASS_HANDLE = UINT64_MAX - (HG_MAX_CLASSES - 1);
enum { FLAT_BITS = 40, CLASS_BYTES = HG_MAX_CLASS_BYTES, HANDLE_INDEX = 0x7FFFFF };

typedef struct access {
    const kir_value *v;
    uint16_t size; /* as written */
    uint8_t zeros;
    bool open;
    device_wide handle, index; /* handle: of a flat address its index and bit 63 */
    kir_value *bad;            /* NULL: needs no check */
    device_place place;
    kir_value *offset;
    kir_value *operands[4];
    uint8_t operand_count;
} access;

static device_wide wide_arg(const device *d, const kir_value *v, uint8_t *next) {
    device_wide x = {rewrite_arg(d->p, v, (*next)++), NULL};
    if (v->u.mem.split) x.h = rewrite_arg(d->p, v, (*next)++);
    return x;
}

/* A product of an index and a scale begins with a clamp of the index, whose limit is outside of
 * every memory: `x < most ? x : most`. */
static const kir_value *clamp_of(const kir_value *v) {
    if (v->op != KIR_SHL && v->op != KIR_MUL) return NULL;
    const kir_value *s = v->args[0];
    if (v->args[1]->op != KIR_CONST || s->op != KIR_SELECT || s->type != HG_TYPE_U64 ||
        s->args[0]->op != KIR_CMP_ULT)
        return NULL;
    const kir_value *x = s->args[1], *most = s->args[2], *less = s->args[0];
    if (most->op != KIR_CONST || less->args[0] != x || less->args[1]->op != KIR_CONST ||
        less->args[1]->u.imm != most->u.imm)
        return NULL;
    uint64_t scale = v->op == KIR_MUL         ? v->args[1]->u.imm
                     : v->args[1]->u.imm < 64 ? UINT64_C(1) << v->args[1]->u.imm
                                              : 0,
             product;
    return hg_mul_u64(most->u.imm, scale, &product) && product >= UINT64_C(1) << 62 ? s : NULL;
}

/* Where the launch was checked no index reaches its clamp: without it compilers see which loads are
 * contiguous. */
static device_wide index_arg(const device *d, const kir_value *v, bool open, uint8_t *next) {
    const kir_value *index = v->args[*next], *clamp = d->options->proven && !open && !v->u.mem.split
                                                          ? clamp_of(index)
                                                          : NULL;
    if (!clamp) return wide_arg(d, v, next);
    ++*next;
    kir_value *args[2] = {rewrite_arg(d->p, clamp, 1), rewrite_arg(d->p, index, 1)};
    return (device_wide){kir_binary(&d->p->b, (kir_op)index->op, args[0], args[1]), NULL};
}

static uint32_t trailing(uint64_t x) { return x ? hg_ctz64(x) : 64; }

static access parse(device *d, const kir_value *v) {
    access a = {.v = v, .size = kir_access_size(v)};
    kir_access at = kir_access_of(v);
    uint8_t next = 0;
    uint32_t zeros = 64;
    a.open = device_is_open(v);
    if (!a.open) {
        next = at.handle_args;
    } else if (at.handle_args) {
        if (v->u.mem.space == KIR_FLAT) zeros = device_zero_bits(d, v->args[0]);
        a.handle = wide_arg(d, v, &next);
    }
    if (v->u.mem.has_index) {
        zeros = device_zero_bits(d, v->args[next]);
        a.index = index_arg(d, v, a.open, &next);
    } else {
        a.index = dwide(d, &d->p->b, 0);
    }
    if (trailing((uint64_t)v->u.mem.disp) < zeros) zeros = trailing((uint64_t)v->u.mem.disp);
    a.zeros = (uint8_t)(zeros > 4 ? 4 : zeros); /* memories begin at multiples of 16 */
    while (next < v->nargs) a.operands[a.operand_count++] = rewrite_arg(d->p, v, next++);
    return a;
}

/* ---- memory that is known beforehand ---- */

static device_wide plus(device *d, kir_builder *b, device_wide x, int64_t n) {
    return n ? dwide_add(d, b, x, dwide(d, b, (uint64_t)n)) : x;
}

static kir_value *limit_of(device *d, kir_builder *b, const kir_value *v, uint64_t reach) {
    switch ((kir_space)v->u.mem.space) {
    case KIR_SHARED: return device_limit(d, b, KIR_FIELD_SHARED_LIMIT, 0, reach);
    case KIR_CLASS: return doffset_const(d, b, reach <= CLASS_BYTES ? CLASS_BYTES - reach + 1 : 0);
    default: return device_limit(d, b, KIR_FIELD_LIMIT, (uint32_t)v->u.mem.slot, reach);
    }
}

static void place_shared(device *d, kir_builder *b, access *a, bool write, device_wide offset) {
    if (d->kernel.group_memory) {
        kir_value *low = dwide_low(d, b, offset);
        a->place = (device_place){.kind = DEVICE_GROUP};
        a->offset = d->layout->shared_reserved ? by(b, KIR_ADD, low, d->layout->shared_reserved)
                                               : low;
        return;
    }
    device_wide block = device_block_number(d, b);
    device_wide start = dwide_mul32(d, b, block, device_field32(d, b, KIR_FIELD_SHARED_BYTES, 0));
    a->place = device_slot_place(d, device_slot(d, KIR_SLOT_SHARED, 0), write);
    a->offset = doffset(d, dwide_add(d, b, start, offset));
}

static void fixed(device *d, kir_builder *b, access *a) {
    const kir_value *v = a->v;
    int64_t disp = v->u.mem.disp;
    device_wide from = disp < 0 ? plus(d, b, a->index, disp) : a->index;
    bool write = v->op == KIR_STORE || v->op == KIR_ATOMIC;
    if (!v->u.mem.unchecked && !d->options->proven) {
        kir_value *good = kir_binary(
            b, KIR_CMP_ULT, from.l,
            limit_of(d, b, v, disp < 0 ? a->size : a->size + (uint64_t)disp));
        if (from.h) good = kir_binary(b, KIR_AND, good, is_zero(b, from.h));
        a->bad = kir_not(b, good);
    }
    if (v->op == KIR_CHECK) return;
    device_wide offset = disp > 0 ? plus(d, b, from, disp) : from;
    if (v->u.mem.space == KIR_SHARED) {
        place_shared(d, b, a, write, offset);
    } else if (v->u.mem.space == KIR_CLASS) {
        a->place = device_slot_place(d, device_slot(d, KIR_SLOT_CLASS, 0), write);
        a->offset = doffset(d, plus(d, b, offset, (int64_t)v->u.mem.class_id * CLASS_BYTES));
    } else {
        a->place = device_slot_place(d, v->u.mem.slot, write);
        a->offset = doffset(d, offset);
    }
    if (v->op == KIR_ATOMIC && a->place.kind == DEVICE_SLOT) device_touch(d, a->place.slot, false);
}

/* ---- memory found through the handle table ---- */

enum { OPEN_GOOD, OPEN_BAD_HANDLE, OPEN_OUTSIDE };
enum { OPEN_BUFFER, OPEN_POOL, OPEN_FLAT };

static void set_wide(kir_builder *b, kir_var *const v[2], device_wide x) {
    kir_set(b, v[0], x.l);
    if (x.h) kir_set(b, v[1], x.h);
}

static kir_value *table_word(device *d, kir_builder *b, kir_value *entry, uint32_t word) {
    device_place table = device_slot_place(d, device_slot(d, KIR_SLOT_TABLE, 0), false);
    return device_raw_load(d, b, &table,
                           doffset_of_u32(d, b, word ? by(b, KIR_ADD, entry, word * 4) : entry),
                           HG_TYPE_U32, false);
}
static device_wide table_wide(device *d, kir_builder *b, kir_value *entry, uint32_t word) {
    kir_value *l = table_word(d, b, entry, word), *h = table_word(d, b, entry, word + 1);
    if (!d->i64) return (device_wide){l, h};
    kir_value *top = shift_by(b, KIR_SHL, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, h), 32);
    return (device_wide){kir_binary(b, KIR_OR, top, kir_convert(b, KIR_ZEXT, HG_TYPE_U64, l)),
                         NULL};
}

typedef struct sought {
    kir_value *kind, *bytes, *low, *high, *is_flat, *is_class, *entry;
    device_wide offset;
} sought;

/* The entry fits: its memory, and whether the offset is within. */
static void found(device *d, kir_builder *b, const sought *s) {
    device_wide base = table_wide(d, b, s->entry, KIR_ENTRY_BASE),
                size = table_wide(d, b, s->entry, KIR_ENTRY_SIZE);
    kir_value *number = by(b, KIR_SUB, s->low, (uint32_t)FIRST_CLASS_HANDLE),
              *start = by(b, KIR_MUL, number, CLASS_BYTES);
    base = dwide_add(d, b, base, dwide_of_u32(d, b, kir_select(b, s->is_class, start, u32(b, 0))));
    size = dwide_select(b, s->is_class, dwide(d, b, CLASS_BYTES), size);
    set_wide(b, d->vars.open_base, base);
    set_wide(b, d->vars.open_size, size);
    if (!d->options->target.addressed)
        kir_set(b, d->vars.open_arena, table_word(d, b, s->entry, KIR_ENTRY_ARENA));
    device_wide end = dwide_add(d, b, s->offset, dwide_of_u32(d, b, s->bytes));
    kir_value *outside = kir_binary(b, KIR_OR, dwide_below(d, b, end, s->offset),
                                    dwide_below(d, b, size, end));
    kir_set(b, d->vars.open_state, kir_select(b, outside, u32(b, OPEN_OUTSIDE), u32(b, OPEN_GOOD)));
}

static void search(device *d, kir_builder *b, sought *s) {
    kir_set(b, d->vars.open_state, u32(b, OPEN_BAD_HANDLE));
    set_wide(b, d->vars.open_size, dwide(d, b, 0));
    s->is_flat = by(b, KIR_CMP_EQ, s->kind, OPEN_FLAT);
    kir_value *flat_pool = kir_binary(b, KIR_AND, s->is_flat,
                                      kir_binary(b, KIR_CMP_SLT, s->high, u32(b, 0)));
    kir_value *is_pool = kir_binary(b, KIR_OR, by(b, KIR_CMP_EQ, s->kind, OPEN_POOL), flat_pool);
    kir_value *top = kir_binary(
        b, KIR_AND, by(b, KIR_CMP_EQ, s->high, UINT32_MAX),
        kir_not(b, by(b, KIR_CMP_ULT, s->low, (uint32_t)FIRST_CLASS_HANDLE)));
    s->is_class = kir_binary(b, KIR_AND, by(b, KIR_CMP_EQ, s->kind, OPEN_BUFFER), top);
    kir_value *number = kir_select(b, s->is_class, u32(b, 0), by(b, KIR_AND, s->low, HANDLE_INDEX));
    kir_value *buffers = device_field32(d, b, KIR_FIELD_TABLE, 0),
              *pools = device_field32(d, b, KIR_FIELD_TABLE, 1);
    kir_value *there = kir_if_begin(
        b, kir_binary(b, KIR_CMP_ULT, number, kir_select(b, is_pool, pools, buffers)));
    number = kir_add(b, number, kir_select(b, is_pool, buffers, u32(b, 0)));
    s->entry = by(b, KIR_MUL, number, KIR_ENTRY_WORDS * 4);
    /* The program's handle, or the host's, which memory may hold. */
    kir_value *state = table_word(d, b, s->entry, KIR_ENTRY_VALID),
              *high = table_word(d, b, s->entry, KIR_ENTRY_HANDLE_HIGH);
    kir_value *of_host = kir_binary(b, KIR_OR, high, by(b, KIR_AND, state, ~UINT32_C(1)));
    kir_value *same = kir_binary(
        b, KIR_AND, kir_binary(b, KIR_CMP_EQ, table_word(d, b, s->entry, KIR_ENTRY_HANDLE), s->low),
        kir_binary(b, KIR_OR, kir_binary(b, KIR_CMP_EQ, high, s->high),
                   kir_binary(b, KIR_CMP_EQ, of_host, s->high)));
    same = kir_binary(b, KIR_OR, same, kir_binary(b, KIR_OR, s->is_flat, s->is_class));
    kir_value *valid = kir_not(b, is_zero(b, state));
    kir_value *fits = kir_if_begin(b, kir_binary(b, KIR_AND, same, valid));
    found(d, b, s);
    kir_if_end(b, fits);
    kir_if_end(b, there);
}

/* open_place(kind, handle, offset, bytes): how it went; the memory is left in open_base, open_size,
 * open_arena. */
static kir_function *open_function(device *d) {
    uint8_t types[8] = {HG_TYPE_U32}, n = 1, next = 1;
    n = (uint8_t)(n + dwide_types(d, types + n));
    n = (uint8_t)(n + dwide_types(d, types + n));
    types[n++] = HG_TYPE_U32;
    rewrite_helper f = device_helper(d, "open_place", HG_TYPE_U32, n, types);
    if (!f.fresh) return f.function;
    kir_builder *b = &f.b;
    sought s = {.kind = kir_param(b, 0)};
    device_wide handle = dwide_param(d, b, &next);
    s.offset = dwide_param(d, b, &next);
    s.bytes = kir_param(b, next);
    s.low = dwide_low(d, b, handle);
    s.high = dwide_high(d, b, handle);
    search(d, b, &s);
    kir_return(b, kir_get(b, d->vars.open_state));
    device_helper_end(d, &f);
    return f.function;
}

/* index + disp, or all ones where that leaves 64 bits: outside of everything. */
static device_wide exact(device *d, kir_builder *b, device_wide index, int64_t disp) {
    if (disp == 0) return index;
    device_wide sum = plus(d, b, index, disp);
    kir_value *lost = disp > 0 ? dwide_below(d, b, sum, index)
                               : dwide_below(d, b, index, dwide(d, b, 0 - (uint64_t)disp));
    return dwide_select(b, lost, dwide(d, b, UINT64_MAX), sum);
}

static void split_flat(device *d, kir_builder *b, access *a) {
    device_wide f = a->handle;
    if (d->i64) {
        if (!a->v->u.mem.has_index)
            a->index.l = by(b, KIR_AND, f.l, (UINT64_C(1) << FLAT_BITS) - 1);
        kir_value *top = by(b, KIR_AND, f.l, UINT64_C(1) << 63);
        a->handle.l = kir_binary(
            b, KIR_OR, by(b, KIR_AND, shift_by(b, KIR_LSHR, f.l, FLAT_BITS), HANDLE_INDEX), top);
        return;
    }
    if (!a->v->u.mem.has_index)
        a->index = (device_wide){f.l, by(b, KIR_AND, f.h, (1u << (FLAT_BITS - 32)) - 1)};
    a->handle.l = by(b, KIR_AND, shift_by(b, KIR_LSHR, f.h, FLAT_BITS - 32), HANDLE_INDEX);
    a->handle.h = by(b, KIR_AND, f.h, 0x80000000);
}

static void open(device *d, kir_builder *b, access *a) {
    const kir_value *v = a->v;
    device_open_vars(d);
    if (v->u.mem.space == KIR_FLAT) split_flat(d, b, a);
    device_wide offset = exact(d, b, a->index, v->u.mem.disp);
    kir_value *args[8] = {u32(b, v->u.mem.space == KIR_FLAT   ? OPEN_FLAT
                                 : v->u.mem.space == KIR_POOL ? OPEN_POOL
                                                              : OPEN_BUFFER)};
    uint8_t n = 1;
    n = (uint8_t)(n + dwide_args(a->handle, args + n));
    n = (uint8_t)(n + dwide_args(offset, args + n));
    args[n++] = u32(b, a->size);
    kir_value *state = kir_call(b, open_function(d), n, args, NULL);
    if (!v->u.mem.unchecked) a->bad = kir_not(b, is_zero(b, state));
    if (v->op == KIR_CHECK) return;
    device_wide base = dwide_get(b, d->vars.open_base);
    if (d->options->target.addressed) {
        a->place = (device_place){.kind = DEVICE_ADDRESS, .base = base};
        a->offset = doffset(d, offset);
    } else {
        a->place = (device_place){.kind = DEVICE_ARENA, .arena = kir_get(b, d->vars.open_arena)};
        a->offset = kir_add(b, doffset(d, base), doffset(d, offset));
    }
}

/* ---- the access ---- */

static void guard(device *d, kir_builder *b, const access *a, kir_value *bad, uint8_t code) {
    uint32_t site = device_site(d, a->v, code, a->v->u.mem.operand, a->size);
    device_wide none = {NULL, NULL};
    device_guard(d, b, bad, site, a->index, a->open ? a->handle : none);
}

static void store(device *d, kir_builder *b, const access *a) {
    device_mask(d, b);
    device_store(d, b, &a->place, a->offset, a->zeros, a->operands[0], a->v->u.mem.bytes);
}

/* The old value; of a split 64-bit one the low half, the high half goes where the program wants it.
 */
static kir_value *atomic(device *d, kir_builder *b, const access *a) {
    const kir_value *v = a->v;
    uint8_t bytes = v->u.mem.bytes;
    device_mask(d, b);
    if (a->zeros < trailing(bytes)) {
        kir_value *low = a->offset->type == HG_TYPE_U64
                             ? kir_convert(b, KIR_TRUNC, HG_TYPE_U32, a->offset)
                             : a->offset;
        guard(d, b, a, kir_not(b, is_zero(b, by(b, KIR_AND, low, bytes - 1u))), KIR_FAULT_ALIGN);
    }
    kir_atomic op = (kir_atomic)v->u.mem.atomic;
    if (bytes == 4)
        return device_raw_atomic(d, b, &a->place, a->offset, op, a->operands[0],
                                 a->operand_count > 1 ? a->operands[1] : NULL);
    bool pairs = v->u.mem.split;
    device_wide x = {a->operands[0], pairs ? a->operands[1] : NULL},
                y = {a->operands[pairs ? 2 : 1], pairs ? a->operands[3] : NULL};
    device_wide old = device_atomic64(d, b, &a->place, a->offset, op, x, y);
    if (v->u.mem.high && old.h) kir_set(b, d->p->vars[v->u.mem.high->id].v[0], old.h);
    return old.l;
}

/* What an operation of the block made of all its lanes, and decides whether they reach a barrier:
 * ghosts read it too. */
static bool is_of_all(const device *d, const kir_value *v) {
    return v->op == KIR_LOAD && v->u.mem.space == KIR_SHARED && v->u.mem.unchecked &&
           device_has(d, v, DEVICE_NEEDED);
}

void device_lower_access(device *d, const kir_value *v) {
    kir_builder *b = &d->p->b;
    access a = parse(d, v);
    if (v->op == KIR_CHECK && (v->u.mem.unchecked || (d->options->proven && !a.open))) return;
    if (a.open)
        open(d, b, &a);
    else
        fixed(d, b, &a);
    kir_var *result = NULL;
    bool fall = device_stop_here(d) == DEVICE_FALL && !is_of_all(d, v);
    if (v->type != KIR_VOID && fall && (a.bad || d->at.maybe_stopped || v->op == KIR_ATOMIC)) {
        result = kir_var_create(d->out, b->function, v->type, 0, NULL);
        kir_set(b, result, kir_const(b, v->type, 0));
    }
    if (a.bad)
        guard(d, b, &a, a.bad, KIR_FAULT_BOUNDS);
    else if (v->op == KIR_LOAD && !is_of_all(d, v))
        device_mask(d, b);
    kir_value *x = NULL;
    if (v->op == KIR_LOAD)
        x = device_load(d, b, &a.place, a.offset, a.zeros, v->type, v->u.mem.bytes);
    if (is_of_all(d, v) && x->op == KIR_LOAD && a.place.kind == DEVICE_GROUP) x->u.mem.uniform = 1;
    if (v->op == KIR_STORE) store(d, b, &a);
    if (v->op == KIR_ATOMIC) x = atomic(d, b, &a);
    if (result) kir_set(b, result, x);
    device_close_ifs(d, b);
    if (v->type != KIR_VOID) rewrite_set(d->p, v, result ? kir_get(b, result) : x);
}
