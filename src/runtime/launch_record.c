/* The launch record of a kernel in device form: the fields of its layout and the memory of its slots, from a launch.
 * Must not know: how a launch is cut into windows. */
#include "runtime/dispatch_internal.h"
#include <string.h>

/* A lane's look at the clock comes after KIR_POLL_ROUNDS rounds; none takes less than this. */
enum { LOOK_NS = 200 };

static hg_range slot_range(const hg_submission *d, uint32_t index) {
    const hg_dispatch_queue *queue = d->queue;
    const hg_driver_launch *l = d->launch;
    const kir_slot *slot = &d->code->slots[index];
    switch ((kir_slot_kind)slot->kind) {
    case KIR_SLOT_MEMORY: break;
    case KIR_SLOT_CLASS: return l->class_memory;
    case KIR_SLOT_FAULT: return hg_fault_record_range(queue);
    case KIR_SLOT_TABLE: return queue->table_memory.range;
    case KIR_SLOT_LOCKS: return queue->device->locks.range;
    case KIR_SLOT_SHARED: return l->shared_memory.arena ? l->shared_memory : d->shared.range;
    case KIR_SLOT_ARENA: return slot->handle < queue->arena_count ? queue->arenas[slot->handle] : (hg_range){NULL, 0, 0};
    }
    return index < l->slot_count ? l->slots[index] : (hg_range){NULL, 0, 0};
}

void hg_launch_record_slots(hg_submission *d) {
    for (uint32_t i = 0; i < d->code->slot_count; i++) d->slots[i] = slot_range(d, i);
}

static uint64_t base_of(const hg_submission *d, const hg_range *range) {
    if (!range->arena) return 0;
    bool addressed = d->set->caps->target.addressed && d->set->driver->arena_address && !d->code->key.bound;
    return addressed ? d->set->driver->arena_address(range->arena) + range->offset : range->offset;
}

static uint64_t limit(uint64_t size, const hg_code_field *f) {
    uint64_t reach = f->field.reach, value = size >= reach ? size - reach + 1 : 0;
    if (size >= reach && value == 0) value = UINT64_MAX;
    return f->bytes == 4 && !f->paired && value > UINT32_MAX ? UINT32_MAX : value;
}

static uint64_t fuel(const hg_submission *d, const hg_driver_launch *l) {
    uint64_t looks, rounds = d->set->caps->max_rounds / KIR_POLL_ROUNDS;
    if (rounds) return rounds > 4 ? rounds - 3 : 1; /* the loops around loops that look at the clock are counted too */
    if (!l->timeout_ms || !hg_mul_u64(l->timeout_ms, 1000000 / LOOK_NS, &looks) || looks > UINT32_MAX) return UINT32_MAX;
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
    case KIR_FIELD_SHARED_LIMIT: return limit(l->shared_bytes, f);
    case KIR_FIELD_SHARED_BYTES: return l->shared_bytes;
    case KIR_FIELD_SIZE: return d->slots[index].size;
    case KIR_FIELD_COUNT: return count;
    case KIR_FIELD_FIRST: return d->first;
    case KIR_FIELD_LANES: return l->lanes;
    case KIR_FIELD_BLOCK_DIM: return l->block[index];
    case KIR_FIELD_GRID_DIM: return l->grid[index];
    case KIR_FIELD_DIGIT: return hg_launch_digit(d, d->first, index);
    case KIR_FIELD_BOX: return d->box[index];
    case KIR_FIELD_TABLE: return d->queue->table_counts[index];
    case KIR_FIELD_FUEL: return fuel(d, l);
    case KIR_FIELD_ARENAS: return d->queue->arena_count;
    case KIR_FIELD_ZERO: break;
    }
    return 0;
}

static bool of_window(uint8_t kind) {
    return kind == KIR_FIELD_COUNT || kind == KIR_FIELD_FIRST || kind == KIR_FIELD_DIGIT || kind == KIR_FIELD_BOX;
}

void hg_launch_record_fill(hg_submission *d, bool window, uint64_t count) {
    for (uint32_t i = 0; i < d->code->field_count; i++) {
        const hg_code_field *f = &d->code->fields[i];
        if (of_window(f->field.kind) != window) continue;
        uint64_t value = field_value(d, f, count);
        if (f->field.high) value >>= 32;
        memcpy((uint8_t *)d->record + f->offset, &value, f->bytes);
    }
}
