/* Who touched each byte last: a hash table from address to the last writer and readers, cleared of
 * meaning by a new phase. Two lanes race when they touch one byte, one of them writing, without a
 * barrier between them (lanes of one block, later phase) and not both through atomics. Launches are
 * checked on one thread, in lane order.
 * Must not know: kernel IR, how code runs. */
#include "kir/fault_text.h"
#include "tile/races.h"
#include <stdio.h>
#include <string.h>

typedef struct touch {
    uint64_t lane, phase; /* global lane + 1; 0: nobody */
    uint32_t inst;        /* source instruction + 1 */
    bool atomic;
} touch;

typedef struct shadow {
    uint64_t key; /* address, or 0 */
    touch writer;
    touch readers[3]; /* the last, the last of another lane, the last of another block: whoever
                         writes now differs from one of them in what its own reads may hide */
} shadow;

struct tile_races {
    shadow *table;
    uint64_t capacity, count;
    hg_budget *budget;    /* the table is charged to it */
    uint64_t missing;     /* bytes that could not be had */
    tile_fault unwritten; /* the first read of shared memory that nobody wrote */
};

struct tile_races *tile_races_create(hg_budget *budget) {
    struct tile_races *races = hg_calloc(1, sizeof *races);
    if (races) races->budget = budget;
    return races;
}

hg_status tile_races_status(const struct tile_races *races) {
    if (!races || !races->missing) return HG_OK;
    return races->budget ? hg_budget_refuse(races->budget, races->missing) : hg_fail_memory();
}

void tile_races_destroy(struct tile_races *races) {
    if (!races) return;
    hg_free(races->table);
    hg_budget_release(races->budget, races->capacity * sizeof *races->table);
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
        if (!hg_budget_take(r->budget, capacity * sizeof(shadow))) return NULL;
        shadow *table = hg_calloc((size_t)capacity, sizeof *table);
        if (!table) {
            hg_budget_release(r->budget, capacity * sizeof *table);
            return NULL;
        }
        for (uint64_t i = 0; i < r->capacity; i++)
            if (r->table[i].key) *find(table, capacity, r->table[i].key) = r->table[i];
        hg_free(r->table);
        hg_budget_release(r->budget, r->capacity * sizeof *table);
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

static uint64_t block_of(const tile_frame *f, uint64_t lane) {
    return lane / f->state->block_lanes;
}

/* Whether an earlier access and one of this lane now are a race. */
static bool clashes(const tile_frame *f, const touch *earlier, uint64_t now, bool atomic) {
    if (!earlier->lane || earlier->lane - 1 == now || (atomic && earlier->atomic)) return false;
    return block_of(f, earlier->lane - 1) != block_of(f, now) || earlier->phase >= f->phase;
}

static void add_reader(const tile_frame *f, shadow *s, const touch *now) {
    touch *last = &s->readers[0];
    bool same = last->lane == now->lane, plain = same && last->phase == now->phase && !last->atomic;
    if (!same && last->lane) {
        if (block_of(f, last->lane - 1) != block_of(f, now->lane - 1)) s->readers[2] = *last;
        s->readers[1] = *last;
    }
    if (!plain) *last = *now;
}

/* ---- what is said ---- */

/* The name of the parameter that leads to the memory. */
static void name_memory(const tile_frame *f, const tile_access *a, const tile_memory *memory,
                        bool pool, uint64_t handle, char *text, size_t size) {
    const tile_kernel *k = f->kernel;
    const char *name = a->where.space != KIR_SHARED && a->where.space != KIR_CLASS &&
                               a->where.slot >= 0
                           ? k->races.names[a->where.slot]
                           : NULL;
    for (uint32_t i = 0; i < k->races.name_count && !name && a->where.space != KIR_SHARED &&
                         a->where.space != KIR_CLASS;
         i++)
        if (k->races.names[i] && f->state->launch->slots[i].base == memory->base)
            name = k->races.names[i];
    if (a->where.space == KIR_SHARED)
        (void)snprintf(text, size, "shared memory");
    else if (a->where.space == KIR_CLASS)
        (void)snprintf(text, size, "class memory");
    else if (name)
        (void)snprintf(text, size, "'%.60s'", name);
    else
        (void)snprintf(text, size, "%s %llu", pool ? "pool" : "buffer", (unsigned long long)handle);
}

static const char *deed(bool writes, bool atomic) {
    return atomic ? "updates it atomically" : writes ? "writes it" : "reads it";
}

static void report(tile_frame *f, const tile_access *a, uint32_t lane, const touch *other,
                   bool other_writes, const char *name, uint64_t offset) {
    tile_fault *fault = tile_fault_lane(f, lane);
    if (!fault) return;
    fault->code = KIR_FAULT_RACE;
    fault->operand = a->fault.operand;
    fault->inst = a->fault.inst ? a->fault.inst - 1 : 0;
    fault->other_inst = other->inst ? other->inst - 1 : 0;
    fault->offset = offset;
    tile_fault_message(fault, "race on %s, byte %llu: lane %llu %s, lane %llu %s", name,
                       (unsigned long long)offset, (unsigned long long)(other->lane - 1),
                       deed(other_writes, other->atomic), (unsigned long long)(f->lane0 + lane),
                       deed(a->op != KIR_LOAD, a->op == KIR_ATOMIC));
}

/* A lane reads shared memory that no lane of its block wrote. It is zero, by definition: the launch
 * goes on, and a race is worth more. */
static void note_unwritten(tile_frame *f, const tile_access *a, uint32_t lane, uint64_t offset) {
    tile_fault *fault = &f->state->races->unwritten;
    uint64_t id = f->lane0 + lane;
    if (f->state->launch->shared_memory || !tile_faults_before(f->phase, id, fault))
        return; /* an earlier kernel may have written it */
    *fault = (tile_fault){.happened = true,
                          .code = KIR_FAULT_UNWRITTEN,
                          .operand = a->fault.operand,
                          .inst = a->fault.inst ? a->fault.inst - 1 : 0,
                          .phase = f->phase,
                          .lane = id,
                          .offset = offset};
    tile_fault_message(
        fault, "lane %llu reads byte %llu of shared memory, which no lane of its block has written",
        (unsigned long long)id, (unsigned long long)offset);
}

void tile_races_end(const struct tile_races *races, tile_fault *fault) {
    if (!fault->happened && races->unwritten.happened) *fault = races->unwritten;
}

bool tile_races_note(tile_frame *f, const tile_access *a, uint32_t lane, const tile_memory *memory,
                     bool pool, uint64_t handle, uint64_t offset) {
    if (a->op == KIR_CHECK || (a->where.space == KIR_SHARED && a->unchecked &&
                               offset >= f->shared.size - f->state->launch->shared_scratch))
        return false; /* the second: operations of the block have barriers of their own */
    bool atomic = a->op == KIR_ATOMIC, writes = a->op != KIR_LOAD;
    touch now = {f->lane0 + lane + 1, f->phase, a->fault.inst, atomic};
    uint64_t block = a->where.space == KIR_SHARED ? block_of(f, now.lane - 1) + 1 : 0;
    for (uint8_t i = 0; i < a->bytes; i++) {
        shadow *s = entry(f->state->races,
                          (uint64_t)(uintptr_t)memory->base + offset + i + (block << 48));
        if (!s) { /* what follows could not be judged */
            f->state->races->missing = f->state->races->capacity * 2 * sizeof *s;
            atomic_store_explicit(&f->state->stop, 3, memory_order_relaxed);
            return false;
        }
        const touch *other = clashes(f, &s->writer, now.lane - 1, atomic) ? &s->writer : NULL;
        for (int k = 0; k < 3 && writes && !other; k++)
            if (clashes(f, &s->readers[k], now.lane - 1, atomic)) other = &s->readers[k];
        if (other) {
            char name[80];
            name_memory(f, a, memory, pool, handle, name, sizeof name);
            report(f, a, lane, other, other == &s->writer, name, offset + i);
            return true;
        }
        if (!writes && block && !s->writer.lane) note_unwritten(f, a, lane, offset + i);
        if (writes) s->writer = now;
        if (!writes || atomic) add_reader(f, s, &now);
    }
    return false;
}
