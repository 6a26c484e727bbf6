/* Which code of a kernel a launch in device form runs: FLAT or a group a block, the size of a
 * group, what the code may take for granted.
 * Must not know: how code is made. */
#include "runtime/dispatch_internal.h"
#include <string.h>

/* The blocks that have lanes: the box of the grid around them. False: lanes at its end do not
 * start. */
static bool trim(hg_submission *d, const hg_driver_launch *l) {
    uint64_t blocks = (l->lanes - 1) / d->block_lanes + 1, row = l->grid[0] ? l->grid[0] : 1, plane,
             all = d->block_lanes;
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
        if (block[i] > caps->scheduling.max_group[i]) return false;
    return lanes <= caps->scheduling.max_block_lanes;
}

static uint64_t group_bytes(const hg_code_set *v, const hg_driver_launch *l, bool slot) {
    return v->facts.needs_blocks ? KIR_SHARED_RESERVED + (slot ? 0 : l->shared_bytes) : 0;
}

/* Whether all memory of a launch is near enough to the start of its arena. */
static bool within_bindings(const hg_submission *d, const hg_driver_launch *l) {
    uint64_t most = d->set->caps->compiler.bound_bytes;
    for (uint32_t i = 0; i < l->slot_count; i++)
        if (l->slots[i].arena &&
            (l->slots[i].size > most || l->slots[i].offset > most - l->slots[i].size))
            return false;
    return l->shared_memory.size <= most && l->shared_memory.offset <= most - l->shared_memory.size;
}

/* Invocations beyond the lanes cost a device that runs them one after another as much as the
 * others: a launch that fills at most a quarter of a long group gets short ones (lavapipe, 256
 * lanes: 2 us less). More sizes would mean more code. */
enum { LONG_GROUP = 1024 };
static uint32_t flat_group(const hg_device_caps *caps, uint64_t lanes) {
    uint32_t group = caps->hints.flat_group ? caps->hints.flat_group : 64;
    return group >= LONG_GROUP && lanes <= group / 4 ? group / 4 : group;
}

enum { SMALL_BLOCK = 32 }; /* blocks of fewer lanes would leave much of a group's hardware idle */

static void choose(hg_submission *d, const hg_driver_launch *l, bool proven, hg_code_key *key,
                   uint32_t group[3]) {
    const hg_device_caps *caps = d->set->caps;
    bool fits = fits_group(caps, l->block, d->block_lanes), blocks = d->set->facts.needs_blocks;
    blocks |= d->set->facts.wants_blocks && fits && d->block_lanes >= SMALL_BLOCK;
    bool whole = trim(d, l);
    memset(key, 0, sizeof *key);
    key->form = blocks ? KIR_FORM_BLOCK : KIR_FORM_FLAT;
    key->small = l->lanes < (UINT64_C(1) << 32) - (UINT64_C(1) << 24);
    key->proven = proven;
    key->bound = d->set->facts.bindable && within_bindings(d, l);
    bool by_bindings = !caps->compiler.target.addressed || key->bound;
    if (caps->compiler.by_aliases && by_bindings && !caps->compiler.target.bind_arenas)
        key->distinct = hg_alias_distinct(d->set, l);
    group[0] = flat_group(caps, l->lanes);
    group[1] = group[2] = 1;
    if (blocks) {
        key->whole_blocks = whole;
        key->shared_is_slot = l->shared_memory.arena ||
                              group_bytes(d->set, l, false) > caps->memory.max_shared_bytes;
        if (caps->scheduling.serial_groups && d->set->facts.needs_blocks &&
            !(fits && d->set->facts.plain_barriers && proven && whole)) {
            key->alone = 1;
            key->fold = (uint32_t)d->block_lanes;
            group[0] = 1;
        } else if (fits) {
            memcpy(group, l->block, 3 * sizeof *group);
        } else { /* invocations in a row, each for `fold` lanes */
            uint32_t most = caps->scheduling.max_group[0] < caps->scheduling.max_block_lanes
                                ? caps->scheduling.max_group[0]
                                : caps->scheduling.max_block_lanes;
            key->fold = hg_ceil_div(d->block_lanes, most);
            if (key->fold < 2) key->fold = 2;
            group[0] = hg_ceil_div(d->block_lanes, key->fold);
        }
    }
    key->at_origin = hg_window_never_cuts(d, l->lanes, blocks ? 0 : group[0]);
    if (!caps->compiler.static_groups && !(d->set->facts.needs_blocks && fits))
        return; /* the code may depend on the block's size */
    memcpy(key->group, group, sizeof key->group);
    key->group_memory = group_bytes(d->set, l, key->shared_is_slot);
}

/* From now on the dispatch runs v, which it owns; after a failure the code that it had, and v is
 * released. */
static hg_status take_code(hg_submission *d, hg_code *v) {
    uint64_t *record = hg_calloc(v->layout.record_bytes / 8 + 1, 8);
    hg_range *slots = hg_calloc(v->slot_count + (size_t)v->layout.binding_count + 1, sizeof *slots);
    if (!record || !slots) {
        hg_free(record);
        hg_free(slots);
        hg_code_release(d->set, v);
        return hg_fail_memory();
    }
    hg_code_release(d->set, d->code);
    hg_free(d->record.words);
    hg_free(d->slots);
    d->code = v;
    d->record.words = record;
    d->slots = slots;
    return HG_OK;
}

void hg_dispatch_stop_asking(hg_submission *d) {
    hg_error kept = *hg_error_record();
    if (d->asked.code) hg_code_release(d->set, d->asked.code);
    d->asked.code = NULL;
    hg_code_prepare_end(d->asked.preparing);
    d->asked.preparing = NULL;
    *hg_error_record() = kept;
}

/* Another launch may have asked for other code, and ended before that was there. */
static hg_status ask(hg_submission *d, const hg_code_key *key, const uint32_t group[3],
                     uint64_t memory) {
    if (d->asked.code && memcmp(&d->asked.code->key, key, sizeof *key) == 0) return HG_OK;
    hg_dispatch_stop_asking(d);
    d->asked.since_ns = hg_clock_ns();
    return hg_code_ask(d->set, key, group, memory, &d->asked.code);
}

static hg_status use_asked(hg_submission *d, bool *waits) {
    hg_code *v = d->asked.code;
    hg_code_state state = hg_code_look(v);
    *waits = state == HG_CODE_PENDING;
    if (*waits) return HG_OK;
    d->time.compile_ns = hg_clock_ns() - d->asked.since_ns;
    if (state == HG_CODE_FAILED) {
        hg_dispatch_stop_asking(d);
        return hg_error_record()->status;
    }
    d->asked.code = NULL;
    return take_code(d, v);
}

hg_status hg_dispatch_choose(hg_submission *d, const hg_driver_launch *l, bool proven,
                             bool *waits) {
    hg_code_key key;
    uint32_t group[3];
    d->block_lanes = 1;
    for (int i = 0; i < 3; i++) d->block_lanes *= l->block[i] ? l->block[i] : 1;
    choose(d, l, proven, &key, group);
    if (d->set->caps->compiler.target.bind_arenas) { /* code depends on where everything lies */
        HG_TRY(hg_launch_memory_make(d, l, true, key.shared_is_slot));
        HG_TRY(hg_launch_record_arenas(d, l, &key));
    }
    uint64_t memory = group_bytes(d->set, l, key.shared_is_slot);
    if (!d->code || memcmp(&d->code->key, &key, sizeof key) != 0) {
        HG_TRY(ask(d, &key, group, memory));
        HG_TRY(use_asked(d, waits));
        if (*waits) return HG_OK;
    }
    memcpy(d->command.group, group, sizeof group);
    d->command.kernel = d->code->kernel;
    d->command.group_memory = d->code->layout.uses_group_memory ? memory : 0;
    d->command.record = d->record.words;
    d->command.record_bytes = d->code->layout.record_bytes;
    bool arenas = d->code->layout.bindings.count != 0;
    d->command.slots = arenas ? d->slots + d->code->slot_count : d->slots;
    d->command.slot_count = arenas ? d->code->layout.binding_count : d->code->slot_count;
    return HG_OK;
}
