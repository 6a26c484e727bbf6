/* Who touched each byte last: a hash table from address to the last writer and reader, cleared of meaning by a new phase.
 * Two lanes race when they touch one byte, one of them writing, without a barrier between them (lanes of one block, later phase)
 * and not both through atomics. Launches are checked on one thread, in lane order.
 * Must not know: kernel IR, how code runs. */
#include "tile/races.h"
#include <string.h>

typedef struct shadow {
    uint64_t key;            /* address, or 0 */
    uint64_t writer, reader; /* global lane + 1; 0: nobody */
    uint64_t write_phase, read_phase;
    bool write_atomic, read_atomic;
} shadow;

struct tile_races {
    shadow *table;
    uint64_t capacity, count;
};

struct tile_races *tile_races_create(void) {
    return hg_calloc(1, sizeof(struct tile_races));
}

void tile_races_destroy(struct tile_races *races) {
    if (!races) return;
    hg_free(races->table);
    hg_free(races);
}

static shadow *find(shadow *table, uint64_t capacity, uint64_t key) {
    uint64_t i = key * UINT64_C(0x9E3779B97F4A7C15) >> 20 & (capacity - 1);
    while (table[i].key && table[i].key != key) i = (i + 1) & (capacity - 1);
    return &table[i];
}

/* NULL: out of memory. */
static shadow *entry(struct tile_races *r, uint64_t key) {
    if (r->count * 2 >= r->capacity) {
        uint64_t capacity = r->capacity ? r->capacity * 2 : 4096;
        shadow *table = hg_calloc((size_t)capacity, sizeof *table);
        if (!table) return NULL;
        for (uint64_t i = 0; i < r->capacity; i++)
            if (r->table[i].key) *find(table, capacity, r->table[i].key) = r->table[i];
        hg_free(r->table);
        r->table = table;
        r->capacity = capacity;
    }
    shadow *s = find(r->table, r->capacity, key);
    if (!s->key) {
        s->key = key;
        r->count++;
    }
    return s;
}

/* Whether an earlier access by `lane + 1` in `phase` is ordered before one of this lane now. */
static bool ordered(const tile_frame *f, uint64_t lane_plus_1, uint64_t phase, uint64_t now) {
    if (!lane_plus_1 || lane_plus_1 - 1 == now) return true;
    bool same_block = (lane_plus_1 - 1) / f->state->block_lanes == now / f->state->block_lanes;
    return same_block && phase < f->phase;
}

static void report(tile_frame *f, const tile_access *a, uint32_t lane, uint64_t other, uint64_t offset) {
    uint64_t now = f->lane0 + lane;
    tile_fault *fault = tile_fault_lane(f, lane);
    if (!fault) return;
    fault->code = 0;
    fault->operand = a->operand;
    fault->inst = a->inst ? a->inst - 1 : 0;
    fault->offset = offset;
    tile_fault_message(fault, "race: lanes %llu and %llu touch byte %llu", (unsigned long long)(other < now ? other : now),
                       (unsigned long long)(other < now ? now : other), (unsigned long long)offset);
}

bool tile_races_note(tile_frame *f, const tile_access *a, uint32_t lane, const tile_memory *memory, bool shared, uint64_t handle,
                     uint64_t offset) {
    (void)handle;
    if (a->op == KIR_CHECK) return false;
    uint64_t now = f->lane0 + lane;
    bool atomic = a->op == KIR_ATOMIC, writes = a->op != KIR_LOAD;
    uint64_t block = shared ? now / f->state->block_lanes + 1 : 0;
    for (uint8_t i = 0; i < a->bytes; i++) {
        uint64_t key = (uint64_t)(uintptr_t)memory->base + offset + i + (block << 48);
        shadow *s = entry(f->state->races, key);
        if (!s) return false;
        bool clash = !(atomic && s->write_atomic) && !ordered(f, s->writer, s->write_phase, now);
        uint64_t other = s->writer;
        if (!clash && writes) {
            clash = !(atomic && s->read_atomic) && !ordered(f, s->reader, s->read_phase, now);
            other = s->reader;
        }
        if (clash) {
            report(f, a, lane, other - 1, offset + i);
            return true;
        }
        if (writes) {
            s->writer = now + 1;
            s->write_phase = f->phase;
            s->write_atomic = atomic;
        }
        if (!writes || atomic) {
            s->reader = now + 1;
            s->read_phase = f->phase;
            s->read_atomic = atomic;
        }
    }
    return false;
}
