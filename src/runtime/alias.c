/* Alias signatures: how the memories of a kernel's slots lie to each other in one launch, and which
 * slots compilers may therefore be told to be distinct. */
#include "runtime/memory.h"

/* ---- how two ranges lie to each other ---- */

/* Imported memory can overlap without sharing an arena, so the host's addresses decide where there
 * are any. (One memory that the host itself has at two addresses counts as two: hg_buffer_import.)
 */
static hg_alias relation(const hg_driver *driver, const hg_device_caps *caps, const hg_range *x,
                         const hg_range *y) {
    if (!x->arena || !y->arena || x->size == 0 || y->size == 0) return HG_ALIAS_DISTINCT;
    uint64_t from = x->offset, to = y->offset;
    if (x->arena != y->arena) {
        uint64_t x_host = (uintptr_t)hg_arena_host(driver, caps, x->arena),
                 y_host = (uintptr_t)hg_arena_host(driver, caps, y->arena);
        if (!x_host || !y_host)
            return caps->memory.can_import && !driver->arena_host ? HG_ALIAS_OVERLAPPING
                                                                  : HG_ALIAS_DISTINCT;
        from += x_host;
        to += y_host;
    }
    if (from == to && x->size == y->size) return HG_ALIAS_IDENTICAL;
    bool apart = from < to ? to - from >= x->size : from - to >= y->size;
    return apart ? HG_ALIAS_DISTINCT : HG_ALIAS_OVERLAPPING;
}

void hg_alias_signature(const hg_backend *b, const hg_range *slots, uint32_t count,
                        uint8_t *pairs) {
    for (uint32_t j = 1; j < count; j++)
        for (uint32_t i = 0; i < j; i++)
            pairs[hg_alias_pair(i, j)] = (uint8_t)relation(b->driver, b->caps, &slots[i],
                                                           &slots[j]);
}

/* ---- distinct slots ---- */

/* A kernel of more slots gets code for launches where all are distinct and code for all others: few
 * programs bind many buffers in more than one way, and each way would be compiled. */
enum { FEW_SLOTS = 8 };

/* Of slots beyond the first 64 nothing is known. */
static bool has(uint64_t set, uint32_t slot) { return slot >= 64 || (set >> slot & 1); }
static uint64_t bit(uint32_t slot) { return slot < 64 ? UINT64_C(1) << slot : 0; }

/* Slots i < j may be told apart from each other: they are, or nobody would see the difference. */
static bool are_apart(const hg_code_set *set, const hg_driver_launch *l, uint32_t i, uint32_t j) {
    bool used = has(set->memory.read_slots | set->memory.written_slots, i) &&
                has(set->memory.read_slots | set->memory.written_slots, j);
    bool written = has(set->memory.written_slots, i) || has(set->memory.written_slots, j);
    return !used || !written ||
           (l->aliases && l->aliases[hg_alias_pair(i, j)] == HG_ALIAS_DISTINCT);
}

/* The memory that a device form adds is no program's: fault record, handle table, locks and shared
 * memory are never another slot's. Only class memory can be named by a handle too, and open
 * accesses go wherever handles lead. */
static bool is_apart_from_class(const hg_code_set *set, const hg_driver_launch *l, uint32_t i) {
    if (!set->memory.uses_class || !(set->memory.writes_class || has(set->memory.written_slots, i)))
        return true;
    return relation(set->driver, set->caps, &l->slots[i], &l->class_memory) == HG_ALIAS_DISTINCT;
}

uint64_t hg_alias_distinct(const hg_code_set *set, const hg_driver_launch *l) {
    uint64_t all = 0, distinct;
    if (set->memory.has_open) return 0;
    for (uint32_t i = 0; i < l->slot_count; i++) all |= bit(i);
    distinct = all;
    for (uint32_t j = 0; j < l->slot_count; j++) {
        if (!is_apart_from_class(set, l, j)) distinct &= ~bit(j);
        for (uint32_t i = 0; i < j; i++)
            if (!are_apart(set, l, i, j)) distinct &= ~(bit(i) | bit(j));
    }
    return distinct == all || l->slot_count <= FEW_SLOTS ? distinct : 0;
}
