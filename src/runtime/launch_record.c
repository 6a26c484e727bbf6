/* The launch record of a kernel in device form: the fields of its layout and the memory of its
 * slots, from a launch.
 * Must not know: how a launch is cut into windows. */
#include "runtime/dispatch_internal.h"
#include <string.h>

static hg_range kind_range(const hg_submission *d, const hg_driver_launch *l, kir_slot_kind kind) {
    switch (kind) {
    case KIR_SLOT_CLASS: return l->class_memory;
    case KIR_SLOT_FAULT: return hg_fault_record_range(d);
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

/* ---- memory as bindings ---- */

/* What a binding covers of an arena. */
typedef struct part {
    const hg_driver_arena *arena; /* NULL: slots without memory */
    uint64_t begin, end;
} part;

/* An array of no bytes may begin where its arena ends: it has no memory. */
static part part_of(const hg_range *range) {
    uint64_t end = range->offset + range->size;
    if (!range->size) return (part){NULL, 0, 1};
    return (part){range->arena, range->offset & ~(uint64_t)(KIR_PART_BYTES - 1),
                  end > UINT64_MAX - 3 ? UINT64_MAX : (end + 3) & ~UINT64_C(3)};
}

static void join(part *p, const part *more) {
    if (more->begin < p->begin) p->begin = more->begin;
    if (more->end > p->end) p->end = more->end;
}

void hg_launch_record_bindings(const hg_submission *d, hg_range *bindings) {
    const hg_code *code = d->code;
    bool parts = d->set->caps->compiler.target.bind_parts;
    for (uint32_t i = 0; i < code->layout.binding_count; i++) bindings[i] = (hg_range){NULL, 0, 0};
    for (uint32_t i = 0; i < code->slot_count && code->layout.bindings.count; i++) {
        hg_range *binding = &bindings[kir_device_binding(&code->layout, i)];
        part own = part_of(&d->slots[i]);
        if (!own.arena) continue;
        if (binding->arena)
            join(&own, &(part){binding->arena, binding->offset, binding->offset + binding->size});
        *binding = parts ? (hg_range){d->slots[i].arena, own.begin, own.end - own.begin}
                         : (hg_range){d->slots[i].arena, 0, 0};
    }
}

void hg_launch_record_slots(hg_submission *d) {
    for (uint32_t i = 0; i < d->code->slot_count; i++) d->slots[i] = slot_range(d, i);
    hg_launch_record_bindings(d, d->slots + d->code->slot_count);
}

/* The parts of a launch's memory that share no byte, numbered in the order in which they come. */
enum { MOST_PARTS = KIR_AT_START - 1 };
typedef struct known_parts {
    part parts[MOST_PARTS];
    uint8_t *users[MOST_PARTS]; /* numbers to be written; their parts, where they begin */
    uint8_t user_parts[MOST_PARTS];
    hg_range ranges[MOST_PARTS]; /* of users */
    uint32_t count, user_count;
    bool whole; /* all of an arena is one */
} known_parts;

static bool meets(const known_parts *k, const part *a, const part *b) {
    return a->arena == b->arena &&
           (k->whole || !a->arena || (a->begin < b->end && b->begin < a->end));
}

static void merge(known_parts *k, uint32_t low, uint32_t high) {
    join(&k->parts[low], &k->parts[high]);
    k->count--;
    memmove(&k->parts[high], &k->parts[high + 1], (k->count - high) * sizeof *k->parts);
    for (uint32_t u = 0; u < k->user_count; u++) {
        if (k->user_parts[u] == high) k->user_parts[u] = (uint8_t)low;
        if (k->user_parts[u] > high) k->user_parts[u]--;
    }
}

/* Part i takes in those that it meets. Its number then. */
static uint32_t settle(known_parts *k, uint32_t i) {
    for (uint32_t other = 0; other < k->count;) {
        if (other == i || !meets(k, &k->parts[i], &k->parts[other])) {
            other++;
            continue;
        }
        uint32_t low = other < i ? other : i;
        merge(k, low, other < i ? i : other);
        i = low;
        other = 0;
    }
    return i;
}

/* number: becomes that of the range's part; NULL: nobody asks. */
static void add_part(known_parts *k, const hg_range *range, uint8_t *number) {
    if (k->count == MOST_PARTS || k->user_count == MOST_PARTS) return;
    k->parts[k->count] = part_of(range);
    uint32_t found = settle(k, k->count++);
    if (!number) return;
    k->users[k->user_count] = number;
    k->user_parts[k->user_count] = (uint8_t)found;
    k->ranges[k->user_count++] = *range;
}

/* What is not bound whole begins elsewhere in each range of lanes. */
static void write_numbers(const known_parts *k, const hg_device_caps *caps) {
    for (uint32_t u = 0; u < k->user_count; u++) {
        const part *p = &k->parts[k->user_parts[u]];
        const hg_range *range = &k->ranges[u];
        bool at_start = caps->compiler.target.bind_parts && p->arena && p->begin == range->offset &&
                        hg_range_binds(&caps->memory, range->offset, range->size);
        *k->users[u] = (uint8_t)(k->user_parts[u] | (at_start ? KIR_AT_START : 0));
    }
}

static bool is_asked(const hg_submission *d, const hg_code_key *key, int kind) {
    switch (kind) {
    case KIR_SLOT_TABLE: return d->set->memory.has_open;
    case KIR_SLOT_CLASS: return d->set->memory.uses_class;
    case KIR_SLOT_SHARED: return key->shared_is_slot;
    default: return true;
    }
}

static void find_parts(known_parts *k, const hg_submission *d, const hg_driver_launch *l,
                       hg_code_key *key) {
    uint32_t most = d->set->caps->compiler.target.max_arenas;
    for (uint32_t i = 0; i < d->queue->arena_count && i < most && d->set->memory.has_open; i++)
        add_part(k, &(hg_range){d->queue->arenas[i].arena, 0, UINT64_MAX - KIR_PART_BYTES}, NULL);
    key->open_arenas = (uint8_t)k->count;
    for (uint32_t i = 0; i < l->slot_count && i < KIR_BOUND_SLOTS; i++)
        add_part(k, &l->slots[i], &key->slot_arenas[i]);
    for (int kind = KIR_SLOT_MEMORY + 1; kind < KIR_SLOT_ARENA; kind++) {
        hg_range range = kind_range(d, l, (kir_slot_kind)kind);
        if (is_asked(d, key, kind)) add_part(k, &range, &key->kind_arenas[kind]);
    }
}

static bool find_whole(known_parts *k, const hg_submission *d, const hg_driver_launch *l,
                       hg_code_key *key) {
    *k = (known_parts){.count = 0, .whole = true};
    find_parts(k, d, l, key);
    return k->count <= d->set->caps->compiler.max_bindings;
}

/* Parts of arenas where the device binds so many, else whole arenas; a fault record that the host
 * sees is an arena of its own, which a launch may have to do without. */
hg_status hg_launch_record_arenas(hg_submission *d, const hg_driver_launch *l, hg_code_key *key) {
    const hg_compiler_caps *caps = &d->set->caps->compiler;
    known_parts known = {.count = 0, .whole = !caps->target.bind_parts};
    find_parts(&known, d, l, key);
    if (caps->max_bindings && known.count > caps->max_bindings && !find_whole(&known, d, l, key) &&
        hg_fault_record_is_seen(d)) {
        HG_TRY(hg_fault_record_make_copied(d->queue));
        d->fault.copied = true;
        if (!find_whole(&known, d, l, key)) {
            d->fault.copied = false;
            (void)find_whole(&known, d, l, key);
        }
    }
    write_numbers(&known, d->set->caps);
    return HG_OK;
}

/* ---- fields ---- */

static uint64_t base_of(const hg_submission *d, uint32_t slot) {
    const hg_range *range = &d->slots[slot];
    const kir_device_layout *layout = &d->code->layout;
    if (!range->arena) return 0;
    bool addressed = d->set->caps->compiler.target.addressed && d->set->driver->arena_address &&
                     !d->code->key.bound;
    uint64_t from = layout->bindings.count
                        ? d->slots[d->code->slot_count + kir_device_binding(layout, slot)].offset
                        : 0;
    return addressed ? d->set->driver->arena_address(range->arena) + range->offset
                     : range->offset - from;
}

static uint64_t limit(uint64_t size, const hg_code_field *f) {
    uint64_t reach = f->field.reach, value = size >= reach ? size - reach + 1 : 0;
    if (size >= reach && value == 0) value = UINT64_MAX;
    return f->bytes == 4 && !f->paired && value > UINT32_MAX ? UINT32_MAX : value;
}

/* A lane's look at the clock comes after KIR_POLL_ROUNDS rounds: no device takes less for them than
 * LOOK_NS. */
static uint64_t fuel(const hg_submission *d) {
    enum { LOOK_NS = 200 };
    uint32_t own = d->set->caps->scheduling.look_ns, each = own ? own : LOOK_NS;
    uint64_t ns;
    if (!d->launch->timeout_ms || !hg_mul_u64(d->launch->timeout_ms, 1000000, &ns) ||
        ns / each >= UINT32_MAX)
        return UINT32_MAX;
    return ns / each + 1;
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
    case KIR_FIELD_BASE: return base_of(d, index);
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
    case KIR_FIELD_FUEL: return fuel(d);
    case KIR_FIELD_ARENAS: return d->queue->arena_count;
    case KIR_FIELD_ZERO: break;
    }
    return 0;
}

static bool of_window(const hg_submission *d, uint8_t kind) {
    if (kind == KIR_FIELD_BASE) return d->window.ranges.count != 0;
    return kind == KIR_FIELD_COUNT || kind == KIR_FIELD_FIRST || kind == KIR_FIELD_DIGIT ||
           kind == KIR_FIELD_BOX;
}

void hg_launch_record_fill(hg_submission *d, bool window, uint64_t count) {
    for (uint32_t i = 0; i < d->code->field_count; i++) {
        const hg_code_field *f = &d->code->fields[i];
        if (of_window(d, f->field.kind) != window) continue;
        uint64_t value = field_value(d, f, count);
        if (f->field.high) value >>= 32;
        memcpy((uint8_t *)d->record.words + f->offset, &value, f->bytes);
    }
}
