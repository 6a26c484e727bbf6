/* Memory operations of a tile. The path lane by lane defines what happens, faults included; the
 * paths for whole tiles serve accesses to one memory that are all within bounds, and step aside for
 * everything else.
 * Must not know: control flow, kernel IR. */
#include "kir/fault_text.h"
#include "tile/races.h"
#include "base/stream.h"
#include "tile/tile_internal.h"
#include <string.h>

/* ---- lane and block coordinates ---- */

/* Coordinate k of lane g is (g / divisor) % modulus. */
void tile_id_vector(const tile_frame *f, uint8_t *d, uint32_t idname, uint8_t size) {
    const tile_run_state *s = f->state;
    uint64_t divisor = 1, modulus = 0;
    uint32_t shift = idname & KIR_ID_HIGH ? 32 : 0; /* the high half of a 64-bit id */
    hg_idname id = (hg_idname)(idname & ~(uint32_t)KIR_ID_HIGH);
    hg_id_part part = hg_idname_part(id);
    if (part == HG_PART_LANE_IDX || part == HG_PART_BLOCK_IDX) {
        const uint64_t *dims = part == HG_PART_LANE_IDX ? s->dims : s->dims + 3;
        if (part == HG_PART_BLOCK_IDX) divisor = s->block_lanes;
        for (uint32_t i = 0; i < hg_idname_axis(id); i++) divisor *= dims[i];
        modulus = dims[hg_idname_axis(id)];
    }
    uint64_t value = f->lane0, left = 0;
    if (modulus) {
        value = f->lane0 / divisor % modulus;
        left = divisor - f->lane0 % divisor;
    }
    for (uint32_t i = 0; i < f->n; i++) {
        uint64_t shifted = value >> shift;
        memcpy(d + (size_t)i * size, &shifted, size);
        if (!modulus) {
            value++;
        } else if (--left == 0) {
            left = divisor;
            if (++value == modulus) value = 0;
        }
    }
}

/* ---- which memory ---- */

typedef struct place {
    tile_memory memory;
    uint64_t handle;
    bool pool;
} place;

tile_memory tile_resolve(tile_frame *f, uint64_t handle, bool pool, bool flat) {
    const tile_launch *launch = f->state->launch;
    if (flat && handle == 0 && !pool) return launch->class_memory;
    for (uint32_t i = 0; i < HG_COUNT_OF(f->resolved.entries); i++) {
        const tile_resolved *r = &f->resolved.entries[i];
        if (r->used && r->handle == handle && r->pool == pool && r->flat == flat) return r->memory;
    }
    tile_memory memory = {0};
    if (launch->resolve) memory = launch->resolve(launch->resolve_user, handle, pool, flat);
    tile_resolved *r = &f->resolved.entries[f->resolved.next++ % HG_COUNT_OF(f->resolved.entries)];
    *r = (tile_resolved){handle, pool, flat, 1, memory};
    return memory;
}

static uint64_t element64(const tile_frame *f, const tile_operand *o, uint32_t lane) {
    uint64_t value;
    memcpy(&value, f->reg[o->reg] + (o->form == KIR_LANES_EACH ? (size_t)lane * 8 : 0), 8);
    return o->form == KIR_LANES_AFFINE ? value + (uint64_t)o->stride * lane : value;
}

/* The memory that does not depend on the lane. */
static place fixed_place(const tile_frame *f, const tile_access *a) {
    const tile_launch *launch = f->state->launch;
    place p = {.pool = a->where.pool};
    if (a->where.space == KIR_SHARED) {
        p.memory = (tile_memory){
            f->shared.bytes, f->shared.size - (a->unchecked ? 0 : launch->shared_scratch), true};
    } else if (a->where.space == KIR_CLASS) {
        p.memory = launch->class_memory;
        if (p.memory.valid) p.memory.base += a->where.class_id * UINT64_C(12288);
        p.memory.size = 12288;
    } else {
        p.memory = f->own ? f->own->slots[a->where.slot] : launch->slots[a->where.slot];
        p.handle = a->handle_input == TILE_NONE ? a->constant_handle
                                                : launch->inputs[a->handle_input];
    }
    return p;
}

static bool is_open(const tile_access *a) {
    return a->where.space == KIR_FLAT ||
           ((a->where.space == KIR_BUFFER || a->where.space == KIR_POOL) && a->where.slot < 0);
}

/* The memory of one lane; a flat address also gives the index. */
static place open_place(tile_frame *f, const tile_access *a, uint32_t lane, uint64_t *index) {
    uint64_t handle = element64(f, &a->handle, lane);
    place p = {.pool = a->where.space == KIR_POOL, .handle = handle};
    if (a->where.space == KIR_FLAT) {
        *index = handle & UINT64_C(0xffffffffff);
        p.handle = handle >> 40 & 0x7fffff;
        p.pool = handle >> 63 != 0;
    }
    p.memory = tile_resolve(f, p.handle, p.pool, a->where.space == KIR_FLAT);
    return p;
}

/* ---- lane by lane ---- */

static void handle_fault(tile_frame *f, const tile_access *a, uint32_t lane, const place *p) {
    tile_fault *fault = tile_fault_lane(f, lane);
    if (!fault) return;
    fault->code = KIR_FAULT_HANDLE;
    fault->operand = a->fault.operand;
    fault->inst = a->fault.inst ? a->fault.inst - 1 : 0;
    kir_fault_text_handle(fault->message, sizeof fault->message, p->pool, p->handle);
}

static void bounds_fault(tile_frame *f, const tile_access *a, uint32_t lane, const place *p,
                         hg_i128 offset) {
    tile_fault *fault = tile_fault_lane(f, lane);
    if (!fault) return;
    fault->operand = a->fault.operand;
    fault->inst = a->fault.inst ? a->fault.inst - 1 : 0;
    tile_fault_bounds(fault, p->pool, offset, a->fault.size, p->memory.size);
}

static void align_fault(tile_frame *f, const tile_access *a, uint32_t lane, uint64_t offset) {
    tile_fault *fault = tile_fault_lane(f, lane);
    if (!fault) return;
    fault->code = KIR_FAULT_ALIGN;
    fault->operand = a->fault.operand;
    fault->inst = a->fault.inst ? a->fault.inst - 1 : 0;
    fault->offset = offset;
    kir_fault_text_align(fault->message, sizeof fault->message, offset);
}

static uint64_t lane_operand(const tile_frame *f, const tile_operand *o, uint8_t size,
                             uint32_t lane) {
    uint64_t value = 0;
    memcpy(&value, f->reg[o->reg] + (o->form == KIR_LANES_EACH ? (size_t)lane * size : 0), size);
    return value;
}

/* A store of a library program that writes what is there. Its groups of lanes overlap at the end of
 * an array, so that all of them are whole: several lanes then store the same element. For the race
 * checker only the first of these stores is one. */
static bool keeps_bytes(const tile_frame *f, const tile_access *a, uint32_t lane,
                        const uint8_t *address) {
    if (!f->kernel->races.library || a->op != KIR_STORE || a->where.space == KIR_SHARED || !address)
        return false;
    uint64_t value = lane_operand(f, &a->value, a->value_size, lane);
    return memcmp(address, &value, a->bytes) == 0;
}

/* NULL after a fault. */
static uint8_t *lane_address(tile_frame *f, const tile_access *a, uint32_t lane, bool *faulted) {
    uint64_t index = 0;
    place p = is_open(a) ? open_place(f, a, lane, &index) : fixed_place(f, a);
    *faulted = true;
    if (!p.memory.valid) {
        handle_fault(f, a, lane, &p);
        return NULL;
    }
    if (a->has_index) index = element64(f, &a->index, lane);
    if (a->has_index && a->scale > 1)
        index = (index < UINT64_MAX / a->scale ? index : UINT64_MAX / a->scale) * a->scale;
    hg_i128 offset = (hg_i128)index + a->disp;
    if (!a->unchecked && (offset < 0 || offset + a->fault.size > (hg_i128)p.memory.size)) {
        bounds_fault(f, a, lane, &p, offset);
        return NULL;
    }
    if (a->op == KIR_ATOMIC && (uint64_t)offset % a->bytes) {
        align_fault(f, a, lane, (uint64_t)offset);
        return NULL;
    }
    *faulted = false;
    uint8_t *address = p.memory.base ? p.memory.base + (uint64_t)offset : NULL;
    if (f->state->races && !keeps_bytes(f, a, lane, address))
        *faulted = tile_races_note(f, a, lane, &p.memory, p.pool, p.handle, (uint64_t)offset);
    return address;
}

static void lane_effect(tile_frame *f, const tile_access *a, uint32_t lane, uint8_t *address) {
    uint64_t value = 0;
    if (a->op == KIR_CHECK) return;
    if (a->op == KIR_STORE) {
        value = lane_operand(f, &a->value, a->value_size, lane);
        memcpy(address, &value, a->bytes);
        return;
    }
    if (a->op == KIR_LOAD) {
        memcpy(&value, address, a->bytes);
    } else {
        uint64_t x = lane_operand(f, &a->value, a->value_size, lane);
        uint64_t y = a->atomic == KIR_ATOMIC_CAS ? lane_operand(f, &a->second, a->value_size, lane)
                                                 : 0;
        value = tile_atomic(a->atomic, a->bytes, address, x, y);
    }
    if (a->op == KIR_ATOMIC && a->high != TILE_NONE) {
        uint32_t low = (uint32_t)value, high = (uint32_t)(value >> 32);
        memcpy(f->reg[a->result] + (size_t)lane * 4, &low, 4);
        memcpy(f->reg[a->high] + (size_t)lane * 4, &high, 4);
        return;
    }
    if (a->one)
        memcpy(f->reg[a->result], &value, 8);
    else
        memcpy(f->reg[a->result] + (size_t)lane * a->value_size, &value, a->value_size);
}

static void run_lanes(tile_frame *f, const tile_insn *insn) {
    const tile_access *a = insn->u.access;
    tile_mask *mask = &f->mask[insn->mask];
    const uint8_t *active = tile_mask_bytes(f, mask);
    bool any = false;
    memset(f->bad, 0, f->n);
    for (uint32_t i = 0; i < f->n; i++) {
        if (!active[i]) continue;
        bool faulted;
        uint8_t *address = lane_address(f, a, i, &faulted);
        f->bad[i] = faulted;
        any = any || faulted;
        if (!faulted) lane_effect(f, a, i, address);
    }
    if (any) tile_mask_remove(f, mask, f->bad);
}

/* ---- whole tiles ---- */

/* The lanes from the first that is active to the last one. What is done for them costs nothing for
 * the lanes before and behind. */
typedef struct lane_span {
    uint32_t first, count;
    const uint8_t *active; /* of `first` on; NULL: all of them are */
} lane_span;

static lane_span span_of(const tile_frame *f, const tile_mask *mask) {
    if (mask->count == f->n) return (lane_span){0, f->n, NULL};
    uint32_t first = tile_mask_first(f, mask), count = tile_mask_last(f, mask) - first + 1;
    return (lane_span){first, count, mask->count == count ? NULL : mask->bytes + first};
}

/* base may lie outside of the memory: only base + index * scale does not. */
static void gather(uint8_t *d, uintptr_t base, const uint64_t *index, uint64_t scale,
                   const lane_span *lanes, uint8_t bytes) {
    const uint8_t *active = lanes->active;
    uint32_t n = lanes->count;
    if (active) {
        TILE_BY_SIZE(bytes, for (uint32_t i = 0; i < n; i++) if (active[i])
                                memcpy(d + (size_t)i * sizeof(element),
                                       (const void *)(base + (uintptr_t)(index[i] * scale)),
                                       sizeof(element));)
    } else if (scale == 1) {
        TILE_BY_SIZE(bytes, for (uint32_t i = 0; i < n; i++) memcpy(
                                d + (size_t)i * sizeof(element),
                                (const void *)(base + (uintptr_t)index[i]), sizeof(element));)
    } else if (scale == bytes) {
        TILE_BY_SIZE(bytes, for (uint32_t i = 0; i < n; i++)
                                memcpy(d + (size_t)i * sizeof(element),
                                       (const void *)(base + (uintptr_t)index[i] * sizeof(element)),
                                       sizeof(element));)
    } else {
        TILE_BY_SIZE(bytes, for (uint32_t i = 0; i < n; i++)
                                memcpy(d + (size_t)i * sizeof(element),
                                       (const void *)(base + (uintptr_t)(index[i] * scale)),
                                       sizeof(element));)
    }
}

static void gather_strided(uint8_t *d, const uint8_t *base, int64_t stride, const lane_span *lanes,
                           uint8_t bytes) {
    const uint8_t *active = lanes->active;
    TILE_BY_SIZE(bytes, for (uint32_t i = 0; i < lanes->count; i++) if (!active || active[i])
                            memcpy(d + (size_t)i * sizeof(element), base + (int64_t)i * stride,
                                   sizeof(element));)
}

static void scatter(const uint8_t *v, uintptr_t base, const uint64_t *index, uint64_t scale,
                    const lane_span *lanes, uint8_t bytes) {
    const uint8_t *active = lanes->active;
    TILE_BY_SIZE(bytes, for (uint32_t i = 0; i < lanes->count; i++) if (!active || active[i])
                            memcpy((void *)(base + (uintptr_t)(index[i] * scale)),
                                   v + (size_t)i * sizeof(element), sizeof(element));)
}

static void scatter_strided(const uint8_t *v, uint8_t *base, int64_t stride, const lane_span *lanes,
                            uint8_t bytes) {
    const uint8_t *active = lanes->active;
    TILE_BY_SIZE(bytes, for (uint32_t i = 0; i < lanes->count; i++) if (!active || active[i])
                            memcpy(base + (int64_t)i * stride, v + (size_t)i * sizeof(element),
                                   sizeof(element));)
}

/* Whether all active lanes name the same memory; then which, and their offsets within it (flat
 * addresses: in f->scratch). */
static bool one_place(tile_frame *f, const tile_access *a, const tile_mask *mask, place *p,
                      const uint64_t **index) {
    uint64_t ignored = 0;
    if (!is_open(a)) {
        *p = fixed_place(f, a);
        return true;
    }
    uint32_t first = tile_mask_first(f, mask);
    if (a->handle.form == KIR_LANES_EACH) {
        const uint64_t *handle = (const uint64_t *)(void *)f->reg[a->handle.reg];
        const uint8_t *active = tile_mask_bytes(f, mask);
        uint64_t differ = 0,
                 same = a->where.space == KIR_FLAT ? ~UINT64_C(0xffffffffff) : UINT64_MAX;
        for (uint32_t i = 0; i < f->n; i++)
            differ |= (handle[i] ^ handle[first]) & (0 - (uint64_t)active[i]) & same;
        if (differ) return false;
        if (a->where.space == KIR_FLAT) {
            uint64_t *offsets = (uint64_t *)(void *)f->scratch;
            for (uint32_t i = 0; i < f->n; i++) offsets[i] = handle[i] & UINT64_C(0xffffffffff);
            *index = offsets;
        }
    } else if (a->where.space == KIR_FLAT) {
        return false;
    }
    *p = open_place(f, a, first, &ignored);
    return true;
}

/* Where an affine access begins whose first and last lane are within bounds; false: look at each
 * lane. */
static bool affine_base(const tile_frame *f, const tile_access *a, const place *p,
                        const lane_span *lanes, uint8_t **base) {
    hg_i128 stride = (hg_i128)a->index.stride * a->scale,
            room = (hg_i128)p->memory.size - a->fault.size;
    hg_i128 first = (hg_i128)element64(f, &a->index, 0) * a->scale + a->disp +
                    stride * lanes->first;
    hg_i128 last = first + stride * (lanes->count - 1);
    if (first < 0 || last < 0 || first > room || last > room) return false;
    *base = p->memory.base + (uint64_t)first;
    return true;
}

/* Whether the offsets of all active lanes are within bounds. index is that of the first lane. */
static bool all_within(const tile_access *a, const place *p, const uint64_t *index,
                       const lane_span *lanes) {
    hg_i128 high = (hg_i128)p->memory.size - a->fault.size - a->disp,
            low = a->disp < 0 ? -(hg_i128)a->disp : 0;
    if (high < low) return false;
    if (high > UINT64_MAX) high = UINT64_MAX;
    uint64_t from = (uint64_t)low, to = (uint64_t)high;
    if (a->has_index && a->scale > 1) {
        from = from / a->scale + (from % a->scale != 0);
        to /= a->scale;
    }
    if (to < from) return false;
    uint64_t span = to - from;
    uint32_t bad = 0;
    if (lanes->active)
        for (uint32_t i = 0; i < lanes->count; i++)
            bad |= (uint32_t)(index[i] - from > span) & lanes->active[i];
    else
        for (uint32_t i = 0; i < lanes->count; i++) bad |= index[i] - from > span;
    return bad == 0;
}

static int kind_of_bytes(uint8_t bytes) {
    return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

/* Where loaded elements go: the result, or scratch when they still have to grow. */
static uint8_t *load_target(const tile_frame *f, const tile_access *a) {
    return a->value_size == a->bytes ? f->reg[a->result] : f->scratch;
}

static void finish_load(const tile_frame *f, const tile_access *a) {
    if (a->value_size == a->bytes) return;
    tile_convert_handler(f->kernel->handlers, KIR_ZEXT, kind_of_bytes(a->bytes),
                         kind_of_bytes(a->value_size))(f->reg[a->result], f->scratch, NULL, NULL,
                                                       f->n);
}

/* The elements to store as a vector of `bytes` each. scratch is free: flat stores go lane by lane
 * when they need it. */
static const uint8_t *store_source(const tile_frame *f, const tile_access *a) {
    const uint8_t *value = f->reg[a->value.reg];
    if (a->value.form != KIR_LANES_EACH) {
        TILE_BY_SIZE(a->bytes, element one; memcpy(&one, value, sizeof one);
                     for (uint32_t i = 0; i < f->n; i++)
                         memcpy(f->scratch + i * sizeof one, &one, sizeof one);)
        return f->scratch;
    }
    if (a->value_size == a->bytes) return value;
    tile_convert_handler(f->kernel->handlers, KIR_TRUNC, kind_of_bytes(a->value_size),
                         kind_of_bytes(a->bytes))(f->scratch, value, NULL, NULL, f->n);
    return f->scratch;
}

/* A store of elements side by side. Results of one pass over a large array need no place in the
 * caches. from may lie in the user's memory too. */
static void store_all(const tile_frame *f, const tile_access *a, uint8_t *to, const uint8_t *from,
                      uint32_t n) {
    size_t bytes = (size_t)n * a->bytes;
    bool once = a->may.once && hg_stream_wanted(f->state->launch->lanes * a->bytes);
    bool apart = (uintptr_t)from + bytes <= (uintptr_t)to ||
                 (uintptr_t)to + bytes <= (uintptr_t)from;
    if (once && apart)
        hg_stream(to, from, bytes);
    else
        memmove(to, from, bytes);
}

/* The beginning of the next tile's elements while this one is at work: the hardware stops at every
 * page, and starts anew by itself where a tile is many pages. A map of 64 MiB gains 15 % from all
 * of the 4 KiB of a tile, an addition of 16 M f32 5 % from 512 bytes of each operand. */
enum { AHEAD_ALL = 4096, AHEAD = 512 };
static void ask_ahead(uintptr_t from, size_t bytes) {
    if (bytes > AHEAD_ALL) bytes = AHEAD;
    for (size_t i = 0; i < bytes; i += 64) hg_prefetch((const void *)(from + i));
}

/* Atomics of a tile whose old values nobody asks for, at base: they may be combined. Nobody else
 * has the thread's own copies, or the shared memory of a block. */
static tile_updates updates_of(const tile_frame *f, const tile_access *a, uintptr_t base,
                               const lane_span *lanes) {
    bool uniform = a->value.form != KIR_LANES_EACH,
         own = f->own && a->where.slot >= 0 && f->own->spread[a->where.slot] >= 0;
    return (tile_updates){.op = a->atomic,
                          .bytes = a->bytes,
                          .own = own || a->where.space == KIR_SHARED,
                          .uniform = uniform,
                          .n = lanes->count,
                          .active = lanes->active,
                          .value = f->reg[a->value.reg] +
                                   (uniform ? 0 : (size_t)lanes->first * a->bytes),
                          .base = (uint8_t *)base,
                          .spread = own ? (uint64_t)f->own->spread[a->where.slot] : 0};
}

static bool update_affine(const tile_frame *f, const tile_access *a, const place *p, uint8_t *base,
                          int64_t stride, const lane_span *lanes) {
    if ((uint64_t)(base - p->memory.base) % a->bytes || (uint64_t)stride % a->bytes) return false;
    tile_updates u = updates_of(f, a, (uintptr_t)base, lanes);
    u.stride = stride;
    tile_updates_run(&u);
    return true;
}

static bool update_vector(const tile_frame *f, const tile_access *a, uintptr_t base,
                          const uint64_t *index, uint64_t scale, const lane_span *lanes) {
    uint64_t bits = 0;
    if (scale % a->bytes)
        for (uint32_t i = 0; i < lanes->count; i++)
            bits |= lanes->active && !lanes->active[i] ? 0 : index[i] * scale + (uint64_t)a->disp;
    else
        bits = (uint64_t)a->disp;
    if (bits % a->bytes) return false;
    tile_updates u = updates_of(f, a, base, lanes);
    u.index = index;
    u.scale = scale;
    tile_updates_run(&u);
    return true;
}

static bool move_affine(tile_frame *f, const tile_access *a, const place *p,
                        const lane_span *lanes) {
    uint8_t *base;
    if (!affine_base(f, a, p, lanes, &base)) return false;
    if (a->op == KIR_ATOMIC)
        return update_affine(f, a, p, base, (int64_t)((uint64_t)a->index.stride * a->scale), lanes);
    /* Within the memory, or of a single lane. */
    int64_t stride = (int64_t)((uint64_t)a->index.stride * a->scale);
    bool contiguous = stride == a->bytes && !lanes->active;
    size_t before = (size_t)lanes->first * a->bytes;
    if (a->may.direct && contiguous && lanes->count == f->n && (uintptr_t)base % a->bytes == 0) {
        f->reg[a->result] = base;
        if (hg_stream_wanted(f->state->launch->lanes * a->bytes))
            ask_ahead((uintptr_t)base + (size_t)f->n * a->bytes, (size_t)f->n * a->bytes);
    } else if (a->op == KIR_LOAD) {
        uint8_t *d = load_target(f, a) + before;
        if (contiguous)
            memcpy(d, base, (size_t)lanes->count * a->bytes);
        else
            gather_strided(d, base, stride, lanes, a->bytes);
        finish_load(f, a);
    } else if (a->op == KIR_STORE) {
        const uint8_t *v = store_source(f, a) + before;
        if (contiguous)
            store_all(f, a, base, v, lanes->count);
        else
            scatter_strided(v, base, stride, lanes, a->bytes);
    }
    return true;
}

static bool move_vector(tile_frame *f, const tile_access *a, const place *p, const uint64_t *index,
                        const lane_span *lanes) {
    bool scratch_is_index = (const uint8_t *)index == f->scratch;
    index += lanes->first;
    if (!a->unchecked && !all_within(a, p, index, lanes)) return false;
    uintptr_t base = (uintptr_t)p->memory.base + (uintptr_t)a->disp;
    uint64_t scale = a->has_index ? a->scale : 1; /* a flat address counts bytes */
    size_t before = (size_t)lanes->first * a->bytes;
    if (a->op == KIR_ATOMIC) return update_vector(f, a, base, index, scale, lanes);
    if (a->op == KIR_LOAD) {
        if (scratch_is_index && a->value_size != a->bytes) return false;
        gather(load_target(f, a) + before, base, index, scale, lanes, a->bytes);
        finish_load(f, a);
    } else if (a->op == KIR_STORE) {
        if (scratch_is_index && (a->value.form != KIR_LANES_EACH || a->value_size != a->bytes))
            return false;
        scatter(store_source(f, a) + before, base, index, scale, lanes, a->bytes);
    }
    return true;
}

/* False: out of bounds. */
static bool scalar_address(const tile_frame *f, const tile_access *a, const place *p,
                           uint8_t **address) {
    uint64_t index = a->has_index ? element64(f, &a->index, 0) : 0;
    hg_i128 offset = (hg_i128)index * (a->has_index ? a->scale : 1) + a->disp;
    if (!a->unchecked && (offset < 0 || offset + a->fault.size > (hg_i128)p->memory.size))
        return false;
    *address = p->memory.base + (uint64_t)offset;
    return true;
}

/* One address for all lanes: one load serves them, the last lane's store is the one that stays. */
static bool move_scalar(tile_frame *f, const tile_access *a, const place *p,
                        const lane_span *lanes) {
    uint8_t *address;
    if (!scalar_address(f, a, p, &address)) return false;
    if (a->op == KIR_ATOMIC) {
        tile_updates u = updates_of(f, a, (uintptr_t)address, lanes);
        if ((uint64_t)(address - p->memory.base) % a->bytes) return false;
        tile_updates_run_one(&u);
        return true;
    }
    if (a->op == KIR_LOAD) {
        uint64_t value = 0;
        memcpy(&value, address, a->bytes);
        if (a->one) {
            memcpy(f->reg[a->result], &value, 8);
        } else {
            TILE_BY_SIZE(a->value_size, element one = (element)value;
                         for (uint32_t i = 0; i < f->n; i++)
                             memcpy(f->reg[a->result] + i * sizeof one, &one, sizeof one);)
        }
    } else if (a->op == KIR_STORE) {
        uint64_t value = lane_operand(f, &a->value, a->value_size, lanes->first + lanes->count - 1);
        memcpy(address, &value, a->bytes);
    }
    return true;
}

static bool run_tile(tile_frame *f, const tile_access *a, const tile_mask *mask) {
    place p;
    const uint64_t *index = NULL;
    if ((a->op == KIR_ATOMIC && !a->may.combines) || f->state->races ||
        !one_place(f, a, mask, &p, &index))
        return false;
    if (!p.memory.valid || !p.memory.base) return false;
    lane_span lanes = span_of(f, mask);
    if (a->has_index && a->index.form == KIR_LANES_EACH)
        index = (const uint64_t *)(void *)f->reg[a->index.reg];
    if (index) return move_vector(f, a, &p, index, &lanes);
    if (a->has_index && a->index.form == KIR_LANES_AFFINE) return move_affine(f, a, &p, &lanes);
    return move_scalar(f, a, &p, &lanes);
}

uint8_t *tile_access_known(const tile_frame *f, const tile_access *a, int64_t *stride) {
    const lane_span all = {0, f->n, NULL};
    bool vector = a->has_index && a->index.form == KIR_LANES_EACH,
         affine = a->has_index && a->index.form == KIR_LANES_AFFINE;
    uint8_t *address;
    if (is_open(a) || a->where.slot < 0 || vector) return NULL;
    place p = fixed_place(f, a);
    if (!p.memory.valid || !p.memory.base) return NULL;
    if (affine ? !affine_base(f, a, &p, &all, &address) : !scalar_address(f, a, &p, &address))
        return NULL;
    *stride = affine ? (int64_t)((uint64_t)a->index.stride * a->scale) : 0;
    return address;
}

void tile_access_run(tile_frame *f, const tile_insn *insn) {
    const tile_mask *mask = &f->mask[insn->mask];
    const tile_access *a = insn->u.access;
    if (a->may.direct) f->reg[a->result] = f->reg[a->result + 1];
    if (!mask->count) return;
    if (!run_tile(f, a, mask)) run_lanes(f, insn);
}
