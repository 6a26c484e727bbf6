/* Copies of small memory that a kernel only combines numbers into: each thread of a launch has its
 * own, eight of them where they are small, so that neighbouring lanes do not wait for each other.
 * They begin with what changes nothing and go into the memory at the launch's end, however it ends.
 * Must not know: how instructions run. */
#include "kir/analysis/analysis.h"
#include "tile/tile_internal.h"
#include <string.h>

enum {
    MOST_BYTES = 64 << 10, /* of one copy, */
    MOST_SPREAD = 4 << 10, /* of one among eight: all of them stay in a first-level cache */
    LEAST_LANES = 4096,    /* that make up for filling and merging */
    MOST_SLOTS = 8,
    LINE = 64
};

struct tile_owns {
    const tile_launch *launch;
    uint32_t count, slot_count, workers;
    uint64_t bytes; /* of a worker's memory */
    struct {
        tile_combined what;
        uint64_t offset, size, spread; /* in a worker's memory; of a copy; from copy to copy */
    } own[MOST_SLOTS];
    tile_own *of[]; /* by worker */
};

static bool meet(const tile_memory *a, const tile_memory *b) {
    return b->valid && b->base && a->base < b->base + b->size && b->base < a->base + a->size;
}

/* Whether only this slot reaches the memory. */
static bool is_alone(const tile_launch *l, uint32_t slot, uint32_t count) {
    const tile_memory *m = &l->slots[slot];
    if (meet(m, &l->class_memory)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (i != slot && meet(m, &l->slots[i])) return false;
    return true;
}

static bool wanted(const tile_launch *l, const tile_combined *c, uint32_t slot_count) {
    const tile_memory *m = &l->slots[c->slot];
    return m->valid && m->base && m->size >= c->bytes && m->size <= MOST_BYTES &&
           l->lanes / 2 >= m->size / c->bytes && is_alone(l, c->slot, slot_count);
}

tile_owns *tile_owns_begin(const tile_kernel *k, const tile_launch *l, uint32_t workers) {
    if (!k->combined.count || l->lanes < LEAST_LANES || k->options.check_races ||
        k->options.debugger)
        return NULL;
    tile_owns *o = hg_calloc(1, sizeof *o + workers * sizeof *o->of);
    if (!o) return NULL; /* then they go into the memory at once */
    o->launch = l;
    o->slot_count = k->memory_count;
    o->workers = workers;
    for (uint32_t i = 0; i < k->combined.count && o->count < MOST_SLOTS; i++) {
        if (!wanted(l, &k->combined.slots[i], k->memory_count)) continue;
        uint64_t size = l->slots[k->combined.slots[i].slot].size,
                 lines = (size + LINE - 1) / LINE * LINE;
        bool many = size <= MOST_SPREAD; /* a line more: addresses that are a page apart look the
                                            same to the processor */
        o->own[o->count].what = k->combined.slots[i];
        o->own[o->count].offset = o->bytes;
        o->own[o->count].size = size;
        o->own[o->count].spread = many ? lines + LINE : 0;
        o->bytes += many ? TILE_COPIES * (lines + LINE) : lines;
        o->count++;
    }
    if (o->count) return o;
    hg_free(o);
    return NULL;
}

/* What changes nothing. */
static uint64_t neutral(const tile_combined *c) {
    uint64_t all = c->bytes == 4 ? UINT32_MAX : UINT64_MAX;
    switch ((kir_atomic)c->atomic) {
    case KIR_ATOMIC_UMIN:
    case KIR_ATOMIC_AND: return all;
    case KIR_ATOMIC_SMIN: return all >> 1;
    case KIR_ATOMIC_SMAX: return (all >> 1) + 1;
    default: return 0;
    }
}

static void fill(uint8_t *to, uint64_t bytes, const tile_combined *c) {
    uint64_t value = neutral(c);
    for (uint64_t i = 0; i + c->bytes <= bytes; i += c->bytes) memcpy(to + i, &value, c->bytes);
}

tile_own *tile_owns_of(tile_owns *o, uint32_t worker) {
    if (worker >= o->workers) return NULL;
    if (o->of[worker]) return o->of[worker];
    uint64_t head = (sizeof(tile_own) + o->slot_count * (sizeof(tile_memory) + sizeof(int64_t)) +
                     LINE - 1) /
                    LINE * LINE;
    tile_own *own = hg_alloc_aligned((size_t)(head + o->bytes), LINE);
    if (!own) return NULL;
    tile_memory *slots = (tile_memory *)(own + 1);
    int64_t *spread = (int64_t *)(slots + o->slot_count);
    uint8_t *copies = (uint8_t *)own + head;
    memcpy(slots, o->launch->slots, o->slot_count * sizeof *slots);
    for (uint32_t i = 0; i < o->slot_count; i++) spread[i] = -1;
    for (uint32_t i = 0; i < o->count; i++) {
        const tile_combined *c = &o->own[i].what;
        slots[c->slot].base = copies + o->own[i].offset;
        spread[c->slot] = (int64_t)o->own[i].spread;
        fill(slots[c->slot].base,
             o->own[i].spread ? o->own[i].spread * TILE_COPIES : o->own[i].size, c);
    }
    *own = (tile_own){slots, spread};
    return o->of[worker] = own;
}

static void merge(const tile_memory *to, const tile_combined *c, const uint8_t *copies,
                  uint64_t spread) {
    const uint64_t nothing = neutral(c);
    for (uint64_t at = 0; at + c->bytes <= to->size; at += c->bytes) {
        uint64_t all = nothing;
        for (uint32_t i = 0; i < (spread ? TILE_COPIES : 1u); i++) {
            uint64_t one = 0;
            memcpy(&one, copies + i * spread + at, c->bytes);
            tile_combine(c->atomic, c->bytes, &all, one);
        }
        if (all != nothing) tile_atomic(c->atomic, c->bytes, to->base + at, all, 0);
    }
}

void tile_owns_end(tile_owns *o) {
    if (!o) return;
    for (uint32_t w = 0; w < o->workers; w++) {
        for (uint32_t i = 0; o->of[w] && i < o->count; i++) {
            const tile_combined *c = &o->own[i].what;
            merge(&o->launch->slots[c->slot], c, o->of[w]->slots[c->slot].base, o->own[i].spread);
        }
        hg_free_aligned(o->of[w]);
    }
    hg_free(o);
}

hg_status tile_owns_find(tile_kernel *k, const kir_module *m) {
    if (!m->slots.count) return HG_OK;
    kir_combined *found = hg_calloc((size_t)m->slots.count, sizeof *found);
    k->combined.slots = hg_arena_alloc(&k->arena, m->slots.count * sizeof *k->combined.slots);
    if (found && k->combined.slots) {
        kir_find_combined(m, found);
        for (uint32_t i = 0; i < k->memory_count; i++)
            if (found[i].bytes)
                k->combined.slots[k->combined.count++] = (tile_combined){i, found[i].atomic,
                                                                         found[i].bytes};
    }
    bool good = found && k->combined.slots;
    hg_free(found);
    return good ? HG_OK : hg_fail_memory();
}
