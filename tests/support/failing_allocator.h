/* An allocator for tests that fails when it is told to. */
#ifndef HG_TESTS_FAILING_ALLOCATOR_H
#define HG_TESTS_FAILING_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An allocator that counts live blocks and fails from the n-th allocation on, or only there. */
typedef struct failing_allocator {
    uint64_t live, allocations, fail_at; /* fail_at 0: never */
    bool only_once;
} failing_allocator;

/* The next `count` succeed, those after them fail. UINT64_MAX: none fails. */
void allow_allocations(failing_allocator *a, uint64_t count);
void *failing_reallocate(void *user, void *memory, size_t size);
void failing_release(void *user, void *memory);

#endif
