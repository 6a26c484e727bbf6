/* Alias signatures: how the memories of a kernel's slots lie to each other in one launch. A driver that promises its compiler `restrict`
 * keeps one code for each signature and promises it for distinct slots only; identical ranges are what in-place programs have. */
#include "runtime/runtime.h"

/* Imported memory can overlap without sharing an arena, so the host's addresses decide where there are any. */
static hg_alias relation(const hg_backend *b, const hg_range *x, const hg_range *y) {
    if (!x->arena || !y->arena || x->size == 0 || y->size == 0) return HG_ALIAS_DISTINCT;
    uint64_t from = x->offset, to = y->offset;
    if (b->caps->host_memory) {
        from += (uintptr_t)b->driver->arena_map(x->arena);
        to += (uintptr_t)b->driver->arena_map(y->arena);
    } else if (x->arena != y->arena) {
        return HG_ALIAS_DISTINCT;
    }
    if (from == to && x->size == y->size) return HG_ALIAS_IDENTICAL;
    bool apart = from < to ? to - from >= x->size : from - to >= y->size;
    return apart ? HG_ALIAS_DISTINCT : HG_ALIAS_OVERLAPPING;
}

void hg_alias_signature(const hg_backend *b, const hg_range *slots, uint32_t count, uint8_t *pairs) {
    for (uint32_t j = 1; j < count; j++)
        for (uint32_t i = 0; i < j; i++) pairs[hg_alias_pair(i, j)] = (uint8_t)relation(b, &slots[i], &slots[j]);
}
