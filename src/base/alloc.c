/* Memory: the allocator hooks, checked arithmetic, arena and growable array. Must not know:
 * anything but bytes. */
#include "base/base.h"
#include "base/sized.h"

#include <stdlib.h>
#include <string.h>

static void *default_reallocate(void *user, void *memory, size_t bytes) {
    (void)user;
    return realloc(memory, bytes);
}

static void default_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

static hg_allocator allocator = {sizeof(hg_allocator), NULL, default_reallocate, default_release};

hg_status hg_set_allocator(const hg_allocator *given) {
    HG_ENTRY;
    if (!given) {
        allocator = (hg_allocator){sizeof(hg_allocator), NULL, default_reallocate, default_release};
        return HG_OK;
    }
    static const hg_sized rules = HG_SIZED(hg_allocator, release, "set it to sizeof(hg_allocator)");
    hg_allocator own = {0};
    HG_TRY(hg_sized_take(&rules, given, &own));
    if (!own.reallocate || !own.release)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                       "allocator: reallocate and release must both be set");
    allocator = own;
    return HG_OK;
}

/* The host's function. */
static void *reallocate_there(void *memory, size_t bytes) {
    HG_CALLS_OTHERS;
    return allocator.reallocate(allocator.user, memory, bytes);
}

void *hg_realloc(void *memory, size_t size) {
    size_t bytes = size ? size : 1;
    return allocator.reallocate == default_reallocate ? realloc(memory, bytes)
                                                      : reallocate_there(memory, bytes);
}

void *hg_alloc(size_t size) { return hg_realloc(NULL, size); }

/* libc's calloc leaves fresh pages of the system alone, which are zero: they take no memory before
 * somebody writes to them. */
void *hg_calloc(size_t count, size_t size) {
    if (size && count > SIZE_MAX / size) return NULL;
    size_t bytes = count * size;
    if (allocator.reallocate == default_reallocate) return calloc(bytes ? bytes : 1, 1);
    void *memory = hg_alloc(bytes);
    if (memory) memset(memory, 0, bytes);
    return memory;
}

void hg_free(void *memory) {
    if (!memory) return;
    if (allocator.release == default_release) {
        free(memory);
        return;
    }
    HG_CALLS_OTHERS;
    allocator.release(allocator.user, memory);
}

/* The block's own address stands in the word before the aligned address. */
enum { BEFORE = sizeof(void *) };

/* What a block needs beside its bytes; 0: not to be had. */
static size_t aligned_extra(size_t size, size_t *alignment) {
    if (*alignment < sizeof(void *)) *alignment = sizeof(void *);
    if (*alignment & (*alignment - 1)) return 0;
    return size > SIZE_MAX - *alignment - BEFORE ? 0 : *alignment + BEFORE;
}

static unsigned char *first_aligned(unsigned char *block, size_t alignment) {
    uintptr_t first = (uintptr_t)block + BEFORE;
    return block + (size_t)((alignment - first % alignment) % alignment) + BEFORE;
}

static void *note_block(unsigned char *aligned, void *block) {
    memcpy(aligned - BEFORE, &block, sizeof block);
    return aligned;
}

static void *block_of(const void *aligned) {
    void *block;
    memcpy(&block, (const unsigned char *)aligned - BEFORE, sizeof block);
    return block;
}

static void *make_aligned(size_t size, size_t alignment, bool zero) {
    size_t extra = aligned_extra(size, &alignment);
    if (!extra) return NULL;
    unsigned char *block = zero ? hg_calloc(1, size + extra) : hg_alloc(size + extra);
    return block ? note_block(first_aligned(block, alignment), block) : NULL;
}

void *hg_alloc_aligned(size_t size, size_t alignment) {
    return make_aligned(size, alignment, false);
}
void *hg_calloc_aligned(size_t size, size_t alignment) {
    return make_aligned(size, alignment, true);
}

void *hg_realloc_aligned(void *memory, size_t kept, size_t size, size_t alignment) {
    size_t extra = aligned_extra(size, &alignment);
    if (!extra || !memory) return extra ? make_aligned(size, alignment, false) : NULL;
    unsigned char *block = block_of(memory);
    size_t skipped = (size_t)((unsigned char *)memory - block);
    block = hg_realloc(block, size + extra);
    if (!block) return NULL;
    unsigned char *aligned = first_aligned(block, alignment);
    if (aligned != block + skipped) memmove(aligned, block + skipped, kept);
    return note_block(aligned, block);
}

void hg_free_aligned(void *memory) {
    if (memory) hg_free(block_of(memory));
}

/* By halves: the usual checks become a 128-bit multiplication, which wasm32 has only as a call into
 * a library that is not there. */
bool hg_mul_u64(uint64_t a, uint64_t b, uint64_t *product) {
    uint64_t a_high = a >> 32, b_high = b >> 32, a_low = a & UINT32_MAX, b_low = b & UINT32_MAX;
    uint64_t cross = a_high ? a_high * b_low : a_low * b_high;
    *product = a * b;
    if ((a_high && b_high) || cross >> 32) return false;
    return *product >= a_low * b_low;
}

bool hg_add_u64(uint64_t a, uint64_t b, uint64_t *sum) {
    *sum = a + b;
    return *sum >= a;
}

/* ---- arena ---- */

enum { ARENA_ALIGN = 16, ARENA_FIRST = 4096, ARENA_LARGEST = 1 << 20 };

struct hg_arena_chunk {
    struct hg_arena_chunk *next; /* older */
    unsigned char *bytes;        /* the first aligned byte behind this header */
    size_t capacity;
};

static struct hg_arena_chunk *arena_chunk_create(size_t capacity) {
    size_t extra = sizeof(struct hg_arena_chunk) + ARENA_ALIGN;
    if (capacity > SIZE_MAX - extra) return NULL;
    struct hg_arena_chunk *chunk = hg_alloc(capacity + extra);
    if (!chunk) return NULL;
    unsigned char *bytes = (unsigned char *)(chunk + 1);
    chunk->bytes = bytes + (ARENA_ALIGN - (uintptr_t)bytes % ARENA_ALIGN) % ARENA_ALIGN;
    chunk->capacity = capacity;
    chunk->next = NULL;
    return chunk;
}

/* A chunk for one large piece, put behind the current chunk, whose free rest stays in use. */
static void *arena_alloc_large(hg_arena *arena, size_t size) {
    struct hg_arena_chunk *chunk = arena_chunk_create(size);
    if (!chunk) {
        arena->failed = true;
        return NULL;
    }
    if (arena->chunk) {
        chunk->next = arena->chunk->next;
        arena->chunk->next = chunk;
    } else {
        arena->chunk = chunk;
        arena->used = arena->capacity = size;
    }
    memset(chunk->bytes, 0, size);
    return chunk->bytes;
}

void *hg_arena_alloc(hg_arena *arena, size_t size) {
    if (size > SIZE_MAX - ARENA_ALIGN) {
        arena->failed = true;
        return NULL;
    }
    size = size ? (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1) : ARENA_ALIGN;
    if (arena->capacity - arena->used < size) {
        size_t capacity = arena->capacity < ARENA_FIRST ? ARENA_FIRST : arena->capacity;
        if (arena->chunk && capacity < ARENA_LARGEST) capacity *= 2;
        if (capacity > ARENA_LARGEST) capacity = ARENA_LARGEST;
        if (size > capacity / 4) return arena_alloc_large(arena, size);
        struct hg_arena_chunk *chunk = arena_chunk_create(capacity);
        if (!chunk) {
            arena->failed = true;
            return NULL;
        }
        chunk->next = arena->chunk;
        arena->chunk = chunk;
        arena->used = 0;
        arena->capacity = capacity;
    }
    void *memory = arena->chunk->bytes + arena->used;
    arena->used += size;
    memset(memory, 0, size);
    return memory;
}

char *hg_arena_text(hg_arena *arena, const char *text, size_t length) {
    if (length == SIZE_MAX) {
        arena->failed = true;
        return NULL;
    }
    char *copy = hg_arena_alloc(arena, length + 1);
    if (copy && length) memcpy(copy, text, length);
    return copy;
}

void hg_arena_free(hg_arena *arena) {
    for (struct hg_arena_chunk *chunk = arena->chunk; chunk;) {
        struct hg_arena_chunk *next = chunk->next;
        hg_free(chunk);
        chunk = next;
    }
    *arena = (hg_arena){0};
}

/* ---- growable array ---- */

bool hg_vec_grow(void **data, uint64_t *count, uint64_t *capacity, size_t element) {
    if (*count == *capacity) {
        uint64_t wanted = *capacity < 8 ? 8 : *capacity * 2;
        if (wanted > SIZE_MAX / 2 / element) return false;
        void *grown = hg_realloc(*data, (size_t)wanted * element);
        if (!grown) return false;
        *data = grown;
        *capacity = wanted;
    }
    memset((unsigned char *)*data + (size_t)*count * element, 0, element);
    ++*count;
    return true;
}

void *hg_vec_last(void **data, uint64_t *count, uint64_t *capacity, size_t element) {
    if (!hg_vec_grow(data, count, capacity, element)) return NULL;
    return (unsigned char *)*data + (size_t)(*count - 1) * element;
}
