/* The launch record of a kernel in device form: the fields of its layout and the memory of its
 * slots, from a launch.
 * Must not know: how a launch is cut into windows. */
#include "runtime/dispatch_internal.h"
#include <string.h>

/* A lane's look at the clock comes after KIR_POLL_ROUNDS rounds; none takes less than this. */
enum { LOOK_NS = 200 };

static hg_range kind_range(const hg_submission *d, const hg_driver_launch *l, kir_slot_kind kind) {
    switch (kind) {
    case KIR_SLOT_CLASS: return l->class_memory;
    case KIR_SLOT_FAULT: return hg_fault_record_range(d->queue, d->fault.number);
    case KIR_SLOT_TABLE: return d->queue->table_memory.range;
    case KIR_SLOT_LOCKS: return d->queue->device->locks.range;
    case KIR_SLOT_SHARED:
        return l->shared_memory.arena && !hg_window_leaves(d) ? l->shared_memory : d->shared.range;
    case KIR_SLOT_MEMORY:
    case KIR_SLOT_ARENA: break;
    }
    return (hg_range){NULL, 0, 0};
}

static hg_range slot_range(const hg_submission *d, uint32_t index) {
    const hg_dispatch_queue *queue = d->queue;
    const kir_slot *slot = &d->code->slots[index];
    if (slot->kind == KIR_SLOT_MEMORY && index < d->launch->slot_count)
        return d->launch->slots[index];
    if (slot->kind == KIR_SLOT_ARENA && slot->handle < queue->arena_count)
        return queue->arenas[slot->handle];
    return kind_range(d, d->launch, (kir_slot_kind)slot->kind);
}

void hg_launch_record_slots(hg_submission *d) {
    const hg_code *code = d->code;
    for (uint32_t i = 0; i < code->slot_count; i++) d->slots[i] = slot_range(d, i);
    for (uint32_t i = 0; i < code->slot_count && code->layout.bindings.count; i++)
        d->slots[code->slot_count + kir_device_binding(&code->layout, i)] = (hg_range){
            d->slots[i].arena, 0, 0};
}

/* ---- arenas as bindings ---- */

enum { MOST_KNOWN = 255 };
typedef struct known_arenas {
    const hg_driver_arena *arenas[MOST_KNOWN];
    uint32_t count;
} known_arenas;

/* The number of an arena; a new one gets the next. NULL counts as one. */
static uint8_t number_of(known_arenas *known, const hg_driver_arena *arena) {
    uint32_t i = 0;
    while (i < known->count && known->arenas[i] != arena) i++;
    if (i == known->count && known->count < MOST_KNOWN) known->arenas[known->count++] = arena;
    return (uint8_t)i;
}

void hg_launch_record_arenas(const hg_submission *d, const hg_driver_launch *l, hg_code_key *key) {
    known_arenas known = {.count = 0};
    uint32_t most = d->set->caps->compiler.target.max_arenas;
    for (uint32_t i = 0; i < d->queue->arena_count && i < most && d->set->memory.has_open; i++)
        (void)number_of(&known, d->queue->arenas[i].arena);
    key->open_arenas = (uint8_t)known.count;
    for (uint32_t i = 0; i < l->slot_count && i < KIR_BOUND_SLOTS; i++)
        key->slot_arenas[i] = number_of(&known, l->slots[i].arena);
    for (int kind = KIR_SLOT_MEMORY + 1; kind < KIR_SLOT_ARENA; kind++) {
        bool asked = kind == KIR_SLOT_TABLE    ? d->set->memory.has_open
                     : kind == KIR_SLOT_CLASS  ? d->set->memory.uses_class
                     : kind == KIR_SLOT_SHARED ? key->shared_is_slot
                                               : true;
        if (asked)
            key->kind_arenas[kind] = number_of(&known, kind_range(d, l, (kir_slot_kind)kind).arena);
    }
}

static uint64_t base_of(const hg_submission *d, const hg_range *range) {
    if (!range->arena) return 0;
    bool addressed = d->set->caps->compiler.target.addressed && d->set->driver->arena_address &&
                     !d->code->key.bound;
    return addressed ? d->set->driver->arena_address(range->arena) + range->offset : range->offset;
}

static uint64_t limit(uint64_t size, const hg_code_field *f) {
    uint64_t reach = f->field.reach, value = size >= reach ? size - reach + 1 : 0;
    if (size >= reach && value == 0) value = UINT64_MAX;
    return f->bytes == 4 && !f->paired && value > UINT32_MAX ? UINT32_MAX : value;
}

static uint64_t fuel(const hg_driver_launch *l) {
    uint64_t looks;
    if (!l->timeout_ms || !hg_mul_u64(l->timeout_ms, 1000000 / LOOK_NS, &looks) ||
        looks > UINT32_MAX)
        return UINT32_MAX;
    return looks;
}

uint64_t hg_launch_digit(const hg_submission *d, uint64_t lane, uint32_t index) {
    const hg_driver_launch *l = d->launch;
    uint64_t block = lane / d->block_lanes, rest = lane % d->block_lanes;
    const uint32_t *dims = index < 3 ? l->block : l->grid;
    uint64_t value = index < 3 ? rest : block;
    for (uint32_t i = 0; i < index % 3; i++) value /= dims[i] ? dims[i] : 1;
    return dims[index % 3] ? value % dims[index % 3] : 0;
}

static uint64_t field_value(const hg_submission *d, const hg_code_field *f, uint64_t count) {
    const hg_driver_launch *l = d->launch;
    uint32_t index = f->field.index;
    switch ((kir_field_kind)f->field.kind) {
    case KIR_FIELD_INPUT: return l->inputs[index];
    case KIR_FIELD_BASE: return base_of(d, &d->slots[index]);
    case KIR_FIELD_LIMIT: return d->slots[index].arena ? limit(d->slots[index].size, f) : 0;
    case KIR_FIELD_SHARED_LIMIT: return limit(l->shared_bytes - l->shared_scratch, f);
    case KIR_FIELD_SHARED_BYTES: return l->shared_bytes;
    case KIR_FIELD_SIZE: return d->slots[index].size;
    case KIR_FIELD_COUNT: return count;
    case KIR_FIELD_FIRST: return d->left.first;
    case KIR_FIELD_LANES: return l->lanes;
    case KIR_FIELD_BLOCK_DIM: return l->block[index];
    case KIR_FIELD_GRID_DIM: return l->grid[index];
    case KIR_FIELD_DIGIT: return hg_launch_digit(d, d->left.first, index);
    case KIR_FIELD_BOX: return d->left.box[index];
    case KIR_FIELD_TABLE: return d->queue->table_counts[index];
    case KIR_FIELD_FUEL: return fuel(l);
    case KIR_FIELD_ARENAS: return d->queue->arena_count;
    case KIR_FIELD_ZERO: break;
    }
    return 0;
}

static bool of_window(uint8_t kind) {
    return kind == KIR_FIELD_COUNT || kind == KIR_FIELD_FIRST || kind == KIR_FIELD_DIGIT ||
           kind == KIR_FIELD_BOX;
}

void hg_launch_record_fill(hg_submission *d, bool window, uint64_t count) {
    for (uint32_t i = 0; i < d->code->field_count; i++) {
        const hg_code_field *f = &d->code->fields[i];
        if (of_window(f->field.kind) != window) continue;
        uint64_t value = field_value(d, f, count);
        if (f->field.high) value >>= 32;
        memcpy((uint8_t *)d->record.words + f->offset, &value, f->bytes);
    }
}
