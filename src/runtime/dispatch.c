/* One launch of a kernel in device form: choice of the variant, the record, windows, and what the fault record says after each.
 * Must not know: programs, plans, handles. */
#include "runtime/dispatch.h"
#include "kir/fault_text.h"
#include <stdio.h>
#include <string.h>

/* A dispatch should take TARGET; windows grow and shrink towards it. Below these a launch is one dispatch: operations of all lanes
 * (some seconds even on two CPU cores), lanes of kernels with loops. */
#define TARGET_PS UINT64_C(200000000000)
#define ONE_DISPATCH_PS UINT64_C(500000000000)
#define ONE_DISPATCH_WORK (UINT64_C(1) << 33)
#define FIRST_WINDOW (UINT64_C(1) << 16)
#define LARGEST_WINDOW (UINT64_C(1) << 30)
/* A lane's look at the clock comes after KIR_POLL_ROUNDS rounds; none takes less than this. */
enum { LOOK_NS = 200 };
/* Drivers may compile only when a kernel first runs. That must not count as the launch's time: the first deadline of a variant is later by
 * this, by ten times what making the variant took, and by four times the timeout (the compiler may have found its text on disk). */
#define FIRST_RUN_NS UINT64_C(2000000000)

/* ---- the room ---- */

static const uint32_t CLEAN[KIR_FAULT_WORDS] = {[KIR_FAULT_BEST] = UINT32_MAX};

static void clean_words(hg_dispatch_room *room) {
    for (int i = 0; i < KIR_FAULT_WORDS; i++) __atomic_store_n(&room->fault_words[i], CLEAN[i], __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static hg_status make_fault_record(hg_dispatch_room *room) {
    const hg_driver *d = room->hall->driver;
    if (room->fault_ready) return HG_OK;
    if (d->arena_alloc_visible && d->arena_map && d->arena_alloc_visible(room->hall->device, sizeof CLEAN, &room->visible) == HG_OK) {
        room->fault_words = d->arena_map(room->visible);
        if (!room->fault_words) d->arena_free(room->hall->device, room->visible);
        if (!room->fault_words) room->visible = NULL;
    }
    if (room->fault_words)
        clean_words(room);
    else
        HG_TRY(hg_piece_alloc(room->hall->memory, sizeof CLEAN, &room->fault_memory));
    room->fault_dirty = !room->fault_words;
    room->fault_ready = true;
    return HG_OK;
}

static hg_range fault_range(const hg_dispatch_room *room) {
    return room->fault_words ? (hg_range){room->visible, 0, sizeof CLEAN} : room->fault_memory.range;
}

void hg_dispatch_room_close(hg_dispatch_room *room) {
    const hg_dispatch_hall *hall = room->hall;
    if (!hall || !hall->driver) return;
    if (room->visible) {
        if (hall->driver->arena_unmap) hall->driver->arena_unmap(room->visible);
        hall->driver->arena_free(hall->device, room->visible);
    }
    hg_piece_free(hall->memory, &room->fault_memory);
    hg_piece_free(hall->memory, &room->table_memory);
    hg_free(room->table);
    hg_free(room->arenas);
}

void hg_dispatch_hall_open(hg_dispatch_hall *hall, const hg_driver *driver, hg_device *device, hg_suballocator *memory) {
    hall->driver = driver;
    hall->device = device;
    hall->memory = memory;
    hg_mutex_init(&hall->lock);
    hg_watchdog_init(&hall->watchdog);
}

void hg_dispatch_hall_close(hg_dispatch_hall *hall) {
    if (!hall->driver) return;
    hg_watchdog_destroy(&hall->watchdog);
    hg_piece_free(hall->memory, &hall->locks);
    hg_mutex_destroy(&hall->lock);
}

static hg_status make_locks(hg_dispatch_hall *hall) {
    hg_mutex_lock(&hall->lock);
    hg_status status = hall->locks.range.arena ? HG_OK : hg_piece_alloc(hall->memory, KIR_LOCK_WORDS * 4, &hall->locks);
    hg_mutex_unlock(&hall->lock);
    return status;
}

/* ---- which variant ---- */

static uint32_t ceil_div(uint64_t a, uint64_t b) { return (uint32_t)((a + b - 1) / b); }

/* The blocks that have lanes: the box of the grid around them. False: lanes at its end do not start. */
static bool trim(hg_submission *d, const hg_driver_launch *l) {
    uint64_t blocks = (l->lanes - 1) / d->block_lanes + 1, row = l->grid[0] ? l->grid[0] : 1, plane, all = d->block_lanes;
    if (!hg_mul_u64(row, l->grid[1] ? l->grid[1] : 1, &plane)) plane = UINT64_MAX;
    uint64_t planes = (blocks - 1) / plane + 1, rows = (blocks - 1) / row + 1;
    d->extent[0] = (uint32_t)(rows == 1 ? blocks : row);
    d->extent[1] = (uint32_t)(planes == 1 ? rows : plane / row);
    d->extent[2] = (uint32_t)planes;
    for (int i = 0; i < 3; i++)
        if (!hg_mul_u64(all, d->extent[i], &all)) return false;
    return all == l->lanes;
}

static bool fits_group(const hg_device_caps *caps, const uint32_t block[3], uint64_t lanes) {
    for (int i = 0; i < 3; i++)
        if (block[i] > caps->max_group[i]) return false;
    return lanes <= caps->max_block_lanes;
}

static uint64_t group_bytes(const hg_variants *v, const hg_driver_launch *l, bool slot) {
    return v->needs_blocks ? KIR_SHARED_RESERVED + (slot ? 0 : l->shared_bytes) : 0;
}

enum { SMALL_BLOCK = 32 }; /* blocks of fewer lanes would leave much of a group's hardware idle */

/* Whether all memory of a launch is near enough to the start of its arena. */
static bool within_bindings(const hg_submission *d, const hg_driver_launch *l) {
    uint64_t most = d->variants->caps->bound_bytes;
    for (uint32_t i = 0; i < l->slot_count; i++)
        if (l->slots[i].arena && (l->slots[i].size > most || l->slots[i].offset > most - l->slots[i].size)) return false;
    return l->shared_memory.size <= most && l->shared_memory.offset <= most - l->shared_memory.size;
}

static void choose(hg_submission *d, const hg_driver_launch *l, bool proven, hg_variant_key *key, uint32_t group[3]) {
    const hg_device_caps *caps = d->variants->caps;
    bool fits = fits_group(caps, l->block, d->block_lanes), blocks = d->variants->needs_blocks;
    blocks |= d->variants->wants_blocks && fits && d->block_lanes >= SMALL_BLOCK;
    bool whole = trim(d, l);
    memset(key, 0, sizeof *key);
    key->form = blocks ? KIR_FORM_BLOCK : KIR_FORM_FLAT;
    key->small = l->lanes < (UINT64_C(1) << 32) - (UINT64_C(1) << 24);
    key->proven = proven;
    key->bound = d->variants->bindable && within_bindings(d, l);
    group[0] = caps->flat_group ? caps->flat_group : 64;
    group[1] = group[2] = 1;
    if (blocks) {
        key->whole_blocks = whole;
        key->shared_is_slot = l->shared_memory.arena || group_bytes(d->variants, l, false) > caps->max_shared_bytes;
        if (caps->serial_groups && d->variants->needs_blocks && !(fits && d->variants->plain_barriers && proven && whole)) {
            key->alone = 1;
            key->fold = (uint32_t)d->block_lanes;
            group[0] = 1;
        } else if (fits) {
            memcpy(group, l->block, 3 * sizeof *group);
        } else { /* invocations in a row, each for `fold` lanes */
            uint32_t most = caps->max_group[0] < caps->max_block_lanes ? caps->max_group[0] : caps->max_block_lanes;
            key->fold = ceil_div(d->block_lanes, most);
            if (key->fold < 2) key->fold = 2;
            group[0] = ceil_div(d->block_lanes, key->fold);
        }
    }
    if (!caps->static_groups && !(d->variants->needs_blocks && fits)) return; /* the code may depend on the block's size */
    memcpy(key->group, group, sizeof key->group);
    key->group_memory = group_bytes(d->variants, l, key->shared_is_slot);
}

/* Group memory that the device cannot have, for all blocks at once. */
static hg_status make_shared(hg_submission *d, const hg_driver_launch *l) {
    uint64_t bytes, blocks = (l->lanes - 1) / d->block_lanes + 1;
    if (d->variant->layout.shared_slot < 0 || l->shared_memory.arena) return HG_OK;
    if (!hg_mul_u64(blocks, l->shared_bytes, &bytes))
        return hg_fail(HG_ERROR_OUT_OF_MEMORY, "shared memory needs %llu bytes for each of %llu blocks",
                       (unsigned long long)l->shared_bytes, (unsigned long long)blocks);
    if (d->shared.range.arena && d->shared.range.size >= bytes) return HG_OK;
    hg_piece_free(d->room->hall->memory, &d->shared);
    return hg_piece_alloc(d->room->hall->memory, bytes, &d->shared);
}

static hg_status prepare(hg_submission *d, const hg_driver_launch *l, bool proven) {
    hg_variant_key key;
    uint32_t group[3];
    d->block_lanes = 1;
    for (int i = 0; i < 3; i++) d->block_lanes *= l->block[i] ? l->block[i] : 1;
    choose(d, l, proven, &key, group);
    uint64_t memory = group_bytes(d->variants, l, key.shared_is_slot);
    if (!d->variant || memcmp(&d->variant->key, &key, sizeof key) != 0) {
        hg_variant *v = NULL;
        uint64_t start = hg_clock_ns();
        HG_TRY(hg_variant_get(d->variants, &key, group, memory, &v));
        hg_variant_release(d->variants, d->variant);
        d->variant = v;
        d->compile_ns = hg_clock_ns() - start;
        hg_free(d->record);
        hg_free(d->slots);
        d->record = hg_calloc(v->layout.record_bytes / 8 + 1, 8);
        d->slots = hg_calloc(v->slot_count + (size_t)1, sizeof *d->slots);
        if (!d->record || !d->slots) return hg_fail_memory();
    }
    memcpy(d->command.group, group, sizeof group);
    d->command.kernel = d->variant->code;
    d->command.group_memory = d->variant->layout.uses_group_memory ? memory : 0;
    d->command.record = d->record;
    d->command.record_bytes = d->variant->layout.record_bytes;
    d->command.slots = d->slots;
    d->command.slot_count = d->variant->slot_count;
    return HG_OK;
}

void hg_dispatch_free(hg_submission *d) {
    if (d->variants) hg_variant_release(d->variants, d->variant);
    if (d->hall) hg_piece_free(d->hall->memory, &d->shared);
    hg_free(d->record);
    hg_free(d->slots);
    memset(d, 0, sizeof *d);
}

/* ---- the record ---- */

static hg_range slot_range(const hg_submission *d, uint32_t index) {
    const hg_dispatch_room *room = d->room;
    const hg_driver_launch *l = d->launch;
    const kir_slot *slot = &d->variant->slots[index];
    switch ((kir_slot_kind)slot->kind) {
    case KIR_SLOT_MEMORY: break;
    case KIR_SLOT_CLASS: return l->class_memory;
    case KIR_SLOT_FAULT: return fault_range(room);
    case KIR_SLOT_TABLE: return room->table_memory.range;
    case KIR_SLOT_LOCKS: return room->hall->locks.range;
    case KIR_SLOT_SHARED: return l->shared_memory.arena ? l->shared_memory : d->shared.range;
    case KIR_SLOT_ARENA: return slot->handle < room->arena_count ? room->arenas[slot->handle] : (hg_range){NULL, 0, 0};
    }
    return index < l->slot_count ? l->slots[index] : (hg_range){NULL, 0, 0};
}

static uint64_t base_of(const hg_submission *d, const hg_range *range) {
    if (!range->arena) return 0;
    bool addressed = d->variants->caps->target.addressed && d->variants->driver->arena_address && !d->variant->key.bound;
    return addressed ? d->variants->driver->arena_address(range->arena) + range->offset : range->offset;
}

static uint64_t limit(uint64_t size, const hg_variant_field *f) {
    uint64_t reach = f->field.reach, value = size >= reach ? size - reach + 1 : 0;
    if (size >= reach && value == 0) value = UINT64_MAX;
    return f->bytes == 4 && !f->paired && value > UINT32_MAX ? UINT32_MAX : value;
}

static uint64_t fuel(const hg_submission *d, const hg_driver_launch *l) {
    uint64_t looks, rounds = d->variants->caps->max_rounds / KIR_POLL_ROUNDS;
    if (rounds) return rounds > 4 ? rounds - 3 : 1; /* the loops around loops that look at the clock are counted too */
    if (!l->timeout_ms || !hg_mul_u64(l->timeout_ms, 1000000 / LOOK_NS, &looks) || looks > UINT32_MAX) return UINT32_MAX;
    return looks;
}

/* Coordinates of the first lane of a FLAT window: 0 … 2 lane_idx, 3 … 5 block_idx. */
static uint64_t digit(const hg_submission *d, uint64_t lane, uint32_t index) {
    const hg_driver_launch *l = d->launch;
    uint64_t block = lane / d->block_lanes, rest = lane % d->block_lanes;
    const uint32_t *dims = index < 3 ? l->block : l->grid;
    uint64_t value = index < 3 ? rest : block;
    for (uint32_t i = 0; i < index % 3; i++) value /= dims[i] ? dims[i] : 1;
    return dims[index % 3] ? value % dims[index % 3] : 0;
}

static uint64_t field_value(const hg_submission *d, const hg_variant_field *f, uint64_t count) {
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
    case KIR_FIELD_DIGIT: return digit(d, d->first, index);
    case KIR_FIELD_BOX: return d->box[index];
    case KIR_FIELD_TABLE: return d->room->table_counts[index];
    case KIR_FIELD_FUEL: return fuel(d, l);
    case KIR_FIELD_ARENAS: return d->room->arena_count;
    case KIR_FIELD_ZERO: break;
    }
    return 0;
}

static bool of_window(uint8_t kind) {
    return kind == KIR_FIELD_COUNT || kind == KIR_FIELD_FIRST || kind == KIR_FIELD_DIGIT || kind == KIR_FIELD_BOX;
}

/* The fields of a window, or all the others. */
static void fill_fields(hg_submission *d, bool window, uint64_t count) {
    for (uint32_t i = 0; i < d->variant->field_count; i++) {
        const hg_variant_field *f = &d->variant->fields[i];
        if (of_window(f->field.kind) != window) continue;
        uint64_t value = field_value(d, f, count);
        if (f->field.high) value >>= 32;
        memcpy((uint8_t *)d->record + f->offset, &value, f->bytes);
    }
}

static hg_status check_arenas(const hg_submission *d) {
    uint32_t most = d->variants->caps->target.max_arenas;
    if (d->variants->caps->target.addressed || d->variant->layout.table_slot < 0 || d->room->arena_count <= most) return HG_OK;
    return hg_fail(HG_ERROR_ALLOCATION_FAILED,
                   "the program finds buffers by handles it computes; this device reaches %u arenas that way, %u are in use",
                   (unsigned)most, (unsigned)d->room->arena_count);
}

/* ---- windows ---- */

/* Lanes that the first dispatch may have. */
static uint64_t first_window(const hg_submission *d) {
    const hg_variants *v = d->variants;
    uint64_t lanes = d->launch->lanes, ps = __atomic_load_n(&v->lane_ps, __ATOMIC_RELAXED), all;
    if (ps) return hg_mul_u64(lanes, ps, &all) && all <= ONE_DISPATCH_PS ? LARGEST_WINDOW : TARGET_PS / ps + 1;
    if (!v->unbounded)
        return hg_mul_u64(lanes, v->work + 1, &all) && all <= ONE_DISPATCH_WORK ? LARGEST_WINDOW : ONE_DISPATCH_WORK / (v->work + 1) + 1;
    return FIRST_WINDOW;
}

static void measure(hg_submission *d) {
    uint64_t ns = hg_clock_ns() - d->started_ns, lanes = d->window_lanes, ps = (ns * 1000 + lanes - 1) / lanes;
    uint64_t next = TARGET_PS / (ps ? ps : 1), least = lanes / 4 + 1, most = lanes < LARGEST_WINDOW / 16 ? lanes * 16 : LARGEST_WINDOW;
    d->window = next < least ? least : next > most ? most : next;
    if (d->window > LARGEST_WINDOW) d->window = LARGEST_WINDOW;
    __atomic_store_n(&d->variants->lane_ps, ps ? ps : 1, __ATOMIC_RELAXED);
}

static bool has_field(const hg_variant *v, uint8_t kind, uint32_t index) {
    for (uint32_t i = 0; i < v->field_count; i++)
        if (v->fields[i].field.kind == kind && v->fields[i].field.index == index) return true;
    return false;
}

/* Lanes [first, first + count) as groups in two dimensions. */
static uint64_t cut_flat(hg_submission *d) {
    const hg_device_caps *caps = d->variants->caps;
    uint64_t count = d->end - d->first, group = d->command.group[0];
    uint64_t most = (uint64_t)caps->max_groups[0] * (caps->max_groups[1] ? caps->max_groups[1] : 1);
    if (most > LARGEST_WINDOW / group) most = LARGEST_WINDOW / group;
    if (count > d->window) count = (d->window + group - 1) / group * group;
    if (count > most * group) count = most * group;
    if (count > d->end - d->first) count = d->end - d->first;
    for (uint32_t i = 0; i < 6; i++) {
        uint64_t room = has_field(d->variant, KIR_FIELD_DIGIT, i) ? UINT32_MAX - digit(d, d->first, i) : UINT64_MAX;
        if (count > room) count = room;
    }
    uint64_t groups = (count + group - 1) / group, x = groups < caps->max_groups[0] ? groups : caps->max_groups[0];
    d->command.groups[0] = (uint32_t)x;
    d->command.groups[1] = ceil_div(groups, x);
    d->command.groups[2] = 1;
    return count;
}

static uint32_t least(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t min = a < b ? a : b;
    return (uint32_t)(min < c ? min : c);
}

/* The next box of blocks, in the order of lanes: whole planes, or whole rows of one plane, or a part of one row. */
static uint64_t cut_box(hg_submission *d) {
    const hg_device_caps *caps = d->variants->caps;
    const uint32_t *extent = d->extent;
    uint32_t *groups = d->command.groups;
    uint64_t budget = d->window / d->block_lanes, row = extent[0], plane = row * extent[1];
    if (!budget) budget = 1;
    bool rows = row <= caps->max_groups[0] && row <= budget && d->box[0] == 0;
    bool planes = rows && extent[1] <= caps->max_groups[1] && plane <= budget && d->box[1] == 0;
    groups[0] = rows ? extent[0] : least(extent[0] - d->box[0], caps->max_groups[0], budget);
    groups[1] = planes ? extent[1] : rows ? least(extent[1] - d->box[1], caps->max_groups[1], budget / row) : 1;
    groups[2] = planes ? least(extent[2] - d->box[2], caps->max_groups[2], budget / plane) : 1;
    return (uint64_t)groups[0] * groups[1] * groups[2] * d->block_lanes;
}

/* Behind the box that was dispatched. */
static void step_box(hg_submission *d) {
    const uint32_t *groups = d->command.groups;
    bool carry = d->box[0] + (uint64_t)groups[0] >= d->extent[0];
    d->box[0] = carry ? 0 : d->box[0] + groups[0];
    if (!carry) return;
    carry = d->box[1] + (uint64_t)groups[1] >= d->extent[1];
    d->box[1] = carry ? 0 : d->box[1] + groups[1];
    if (!carry) return;
    d->blocks_left = d->box[2] + (uint64_t)groups[2] < d->extent[2];
    d->box[2] += groups[2];
}

/* ---- the launch ---- */

static bool is_flat(const hg_submission *d) { return d->variant->key.form == KIR_FORM_FLAT; }

static void rewind_windows(hg_submission *d) {
    d->first = 0;
    d->end = d->launch->lanes;
    memset(d->box, 0, sizeof d->box);
    d->blocks_left = true;
    d->window = first_window(d);
    d->fault.happened = false;
}

static uint64_t later(uint64_t deadline, uint64_t ns, uint64_t timeout_ms) {
    uint64_t more;
    return hg_mul_u64(timeout_ms, 4000000, &more) && hg_add_u64(more, ns, &more) && hg_add_u64(more, deadline, &more) ? more : UINT64_MAX;
}

hg_status hg_dispatch_begin(hg_submission *d, hg_variants *variants, hg_dispatch_room *room, const hg_driver_launch *launch, bool proven,
                            bool unchanged) {
    static uint64_t rooms;
    if (!room->number) room->number = __atomic_add_fetch(&rooms, 1, __ATOMIC_RELAXED);
    unchanged = unchanged && d->prepared && d->room_number == room->number;
    d->compile_ns = 0;
    d->launch = launch;
    d->room = room;
    d->room_number = room->number;
    d->hall = room->hall;
    d->variants = variants;
    if (!unchanged) {
        d->prepared = d->one_window = false;
        HG_TRY(prepare(d, launch, proven));
        room->compile_ns += d->compile_ns;
        HG_TRY(make_fault_record(room));
        HG_TRY(make_shared(d, launch));
        if (d->variant->layout.locks_slot >= 0) HG_TRY(make_locks(room->hall));
        HG_TRY(check_arenas(d));
        for (uint32_t i = 0; i < d->variant->slot_count; i++) d->slots[i] = slot_range(d, i);
        fill_fields(d, false, 0);
        d->prepared = true;
    }
    rewind_windows(d);
    d->deadline_ns = launch->deadline_ns ? launch->deadline_ns + d->compile_ns : 0;
    if (d->deadline_ns && !__atomic_load_n(&d->variant->ran, __ATOMIC_RELAXED))
        d->deadline_ns = later(d->deadline_ns, FIRST_RUN_NS + 10 * d->variant->compile_ns, launch->timeout_ms);
    if (d->deadline_ns && room->fault_words && d->variant->layout.fault_slot >= 0) {
        d->watch.deadline_ns = d->deadline_ns;
        d->watch.word = &room->fault_words[KIR_FAULT_CANCEL];
        hg_watchdog_add(&room->hall->watchdog, &d->watch);
    }
    return HG_OK;
}

/* The next window's groups and fields; the launch's only one is still there from the last time. */
static void cut(hg_submission *d) {
    if (d->one_window) return;
    d->window_lanes = is_flat(d) ? cut_flat(d) : cut_box(d);
    fill_fields(d, true, d->window_lanes);
    if (is_flat(d))
        d->one_window = d->window_lanes == d->end;
    else
        d->one_window = memcmp(d->command.groups, d->extent, sizeof d->extent) == 0;
}

hg_status hg_dispatch_submit(hg_submission *d, hg_driver_queue *queue, const hg_driver_command *more, uint32_t more_count,
                             hg_driver_event *signal) {
    hg_driver_command commands[8];
    hg_dispatch_room *room = d->room;
    uint32_t count = 0;
    bool faults = d->variant->layout.fault_slot >= 0;
    cut(d);
    if (faults && room->fault_dirty && !room->fault_words)
        commands[count++] = (hg_driver_command){.kind = HG_CMD_COPY_IN, .to = room->fault_memory.range, .host = (void *)(uintptr_t)CLEAN};
    if (d->shared.range.arena && d->first == 0 && !(d->box[0] | d->box[1] | d->box[2]))
        commands[count++] = (hg_driver_command){.kind = HG_CMD_FILL, .to = d->shared.range};
    commands[count++] = (hg_driver_command){.kind = HG_CMD_DISPATCH, .dispatch = &d->command};
    if (faults && !room->fault_words)
        commands[count++] = (hg_driver_command){.kind = HG_CMD_COPY_OUT, .from = room->fault_memory.range, .host = room->fault_copy};
    for (uint32_t i = 0; i < more_count && count < HG_COUNT_OF(commands); i++) commands[count++] = more[i];
    if (!d->one_window || !__atomic_load_n(&d->variant->ran, __ATOMIC_RELAXED)) d->started_ns = hg_clock_ns();
    room->fault_dirty = false;
    d->recorded_ns = hg_profile_start(d->variants->profile);
    return d->variants->driver->queue_submit(queue, commands, count, NULL, 0, signal);
}

static bool before(const hg_driver_fault *a, const hg_driver_fault *b) {
    if (!b->happened) return true;
    return a->phase != b->phase ? a->phase < b->phase : a->lane < b->lane;
}

/* Keeps the least fault. True: the lanes were told to stop. */
static bool read_faults(hg_submission *d) {
    hg_dispatch_room *room = d->room;
    uint32_t words[KIR_FAULT_WORDS];
    if (d->variant->layout.fault_slot < 0) return false;
    if (room->fault_words && !__atomic_load_n(&room->fault_words[KIR_FAULT_HAPPENED], __ATOMIC_ACQUIRE) &&
        !__atomic_load_n(&room->fault_words[KIR_FAULT_CANCEL], __ATOMIC_RELAXED))
        return false;
    for (int i = 0; i < KIR_FAULT_WORDS; i++)
        words[i] = room->fault_words ? __atomic_load_n(&room->fault_words[i], __ATOMIC_RELAXED) : room->fault_copy[i];
    if (!words[KIR_FAULT_HAPPENED] && !words[KIR_FAULT_CANCEL]) return false;
    room->fault_dirty = true;
    hg_driver_fault found;
    memset(&found, 0, sizeof found);
    if (words[KIR_FAULT_HAPPENED]) hg_fault_decode(words, d->variants, &d->variant->layout, d->launch, &found);
    if (found.happened && before(&found, &d->fault)) d->fault = found;
    return words[KIR_FAULT_CANCEL] != 0;
}

static void time_out(hg_submission *d) {
    if (d->fault.happened) return;
    memset(&d->fault, 0, sizeof d->fault);
    d->fault.happened = true;
    d->fault.code = HG_FAULT_TIMEOUT;
    uint32_t rounds = d->variants->caps->max_rounds;
    if (rounds && !(d->deadline_ns && hg_clock_ns() >= d->deadline_ns))
        snprintf(d->fault.message, sizeof d->fault.message, "the device cannot run more than %u rounds of loops in a lane",
                 (unsigned)rounds);
    else
        kir_fault_text_timeout(d->fault.message, sizeof d->fault.message, d->launch->timeout_ms);
}

static void finish(hg_submission *d) {
    hg_dispatch_room *room = d->room;
    hg_watchdog_remove(&room->hall->watchdog, &d->watch);
    if (!room->fault_words || d->variant->layout.fault_slot < 0) return;
    if (__atomic_load_n(&room->fault_words[KIR_FAULT_CANCEL], __ATOMIC_RELAXED)) room->fault_dirty = true;
    if (!room->fault_dirty) return;
    clean_words(room);
    room->fault_dirty = false;
}

void hg_dispatch_abandon(hg_submission *d) {
    d->room->fault_dirty = true;
    d->prepared = false;
    finish(d);
}

bool hg_dispatch_needs_wait(const hg_submission *d) {
    if (d->variant->layout.fault_slot >= 0 || d->shared.range.arena) return true;
    if (!__atomic_load_n(&d->variant->ran, __ATOMIC_RELAXED)) return true; /* how long its compiler takes */
    return first_window(d) < d->launch->lanes || d->launch->lanes > LARGEST_WINDOW;
}

/* The next window's place; false: that was the last. */
static bool step_window(hg_submission *d) {
    if (!is_flat(d)) {
        step_box(d);
        return d->blocks_left;
    }
    d->first += d->window_lanes;
    return d->first < d->end;
}

static void record(const hg_submission *d) {
    const uint32_t *groups = d->command.groups, *group = d->command.group;
    char detail[128];
    snprintf(detail, sizeof detail, "%s, %u x %u x %u groups of %u x %u x %u", is_flat(d) ? "flat" : "blocks", (unsigned)groups[0],
             (unsigned)groups[1], (unsigned)groups[2], (unsigned)group[0], (unsigned)group[1], (unsigned)group[2]);
    hg_profile_end(d->variants->profile, &(hg_profile_span){.kind = HG_PROFILE_DISPATCH,
                                                            .name = d->variants->module->name,
                                                            .detail = detail,
                                                            .start_ns = d->recorded_ns,
                                                            .lanes = d->window_lanes});
}

bool hg_dispatch_done(hg_submission *d, hg_driver_fault *fault) {
    if (d->recorded_ns) record(d);
    d->recorded_ns = 0;
    bool stopped = read_faults(d), left = false;
    if (!__atomic_load_n(&d->variant->ran, __ATOMIC_RELAXED)) {
        d->room->compile_ns += hg_clock_ns() - d->started_ns;
        __atomic_store_n(&d->variant->ran, 1, __ATOMIC_RELAXED);
    }
    if (!d->one_window) {
        measure(d);
        left = step_window(d);
    }
    /* Windows run in the order of lanes: with a fault before any barrier the others can only lose. */
    if (d->fault.happened && d->fault.phase == 0) left = false;
    if (stopped || (left && d->deadline_ns && hg_clock_ns() >= d->deadline_ns)) {
        time_out(d);
        left = false;
    }
    if (!left) {
        finish(d);
        if (d->fault.happened) *fault = d->fault;
    } else if (d->room->fault_words && d->room->fault_dirty) {
        clean_words(d->room);
        d->room->fault_dirty = false;
    }
    return left;
}
