/* See failing_allocator.h. */
#include "support/failing_allocator.h"
#include <stdlib.h>

void allow_allocations(failing_allocator *a, uint64_t count) {
    a->allocations = 0;
    a->fail_at = count + 1; /* 0: never */
}

void *failing_reallocate(void *user, void *memory, size_t size) {
    failing_allocator *a = user;
    uint64_t number = __atomic_add_fetch(&a->allocations, 1, __ATOMIC_RELAXED);
    if (a->fail_at && (a->only_once ? number == a->fail_at : number >= a->fail_at)) return NULL;
    void *result = realloc(memory, size ? size : 1);
    if (!memory && result) __atomic_add_fetch(&a->live, 1, __ATOMIC_RELAXED);
    return result;
}

void failing_release(void *user, void *memory) {
    failing_allocator *a = user;
    if (memory) __atomic_sub_fetch(&a->live, 1, __ATOMIC_RELAXED);
    free(memory);
}
