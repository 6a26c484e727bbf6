/* Buffers, pools, imports, class memory, the ring: bounds, handles, contents.
 * Semantics 4.1, 4.3, 4.4. */
#include "support/runtime_support.h"
#include "support/sanitized.h"
#include <sys/resource.h>

enum { CLASS_BYTES = 12288, CLASS_MEMORY = 96 * CLASS_BYTES };
#define CLASS_HANDLE(c) ((uint64_t)-96 + (c))

static void test_buffers(hg_backend *b) {
    hg_buffer first, second, third, stale, empty;
    uint64_t size = 0;
    uint8_t in[16], out[16];
    CHECK_OK(hg_backend_allocate_buffer(b, 16, &first));
    CHECK_OK(hg_backend_allocate_buffer(b, 8, &second));
    CHECK_OK(hg_backend_allocate_buffer(b, 1, &third));
    CHECK_U64(first.handle, 1);
    CHECK_U64(second.handle, 2);
    CHECK_U64(third.handle, 3);
    memset(out, 0xAA, sizeof out);
    CHECK_OK(hg_backend_copy_from_buffer(b, first, out, 16));
    for (int i = 0; i < 16; i++) CHECK_U64(out[i], 0);
    for (int i = 0; i < 16; i++) in[i] = (uint8_t)(i + 1);
    CHECK_OK(hg_backend_copy_to_buffer(b, first, in, 5)); /* a prefix */
    CHECK_OK(hg_buffer_write(b, first, 14, in, 2));
    CHECK_OK(hg_backend_copy_from_buffer(b, first, out, 16));
    CHECK(memcmp(out, (uint8_t[16]){1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2}, 16) == 0);
    CHECK_OK(hg_buffer_read(b, first, 3, out, 2));
    CHECK(out[0] == 4 && out[1] == 5);
    CHECK_OK(hg_backend_buffer_size(b, first, &size));
    CHECK_U64(size, 16);
    CHECK_FAILS(hg_backend_copy_to_buffer(b, first, in, 17), HG_ERROR_EXECUTION_FAILED, "",
                "buffer access out of bounds: offset 0 + size 17 > buffer size 16");
    CHECK_U64(hg_last_error()->offset, 0);
    CHECK_U64(hg_last_error()->limit, 16);
    CHECK_FAILS(hg_buffer_read(b, first, 17, out, 0), HG_ERROR_EXECUTION_FAILED, "",
                "buffer access out of bounds: offset 17 + size 0 > buffer size 16");
    CHECK_STATUS(hg_buffer_read(b, first, UINT64_MAX, out, 2), HG_ERROR_EXECUTION_FAILED);
    CHECK_STATUS(hg_buffer_write(b, first, 1, in, UINT64_MAX), HG_ERROR_EXECUTION_FAILED);
    CHECK_OK(hg_buffer_read(b, first, 16, NULL, 0));
    CHECK_STATUS(hg_buffer_read(b, first, 0, NULL, 1), HG_ERROR_INVALID_ARGUMENT);
    /* stale, double, unknown */
    CHECK_OK(hg_backend_free_buffer(b, first));
    CHECK_FAILS(hg_backend_free_buffer(b, first), HG_ERROR_INVALID_BUFFER, "", "BufferHandle(1)");
    CHECK_TEXT(hg_last_error_text(), "Invalid buffer handle: BufferHandle(1)");
    CHECK_STATUS(hg_backend_copy_from_buffer(b, first, out, 1), HG_ERROR_INVALID_BUFFER);
    CHECK_STATUS(hg_backend_copy_to_buffer(b, first, in, 0), HG_ERROR_INVALID_BUFFER);
    CHECK_STATUS(hg_backend_buffer_size(b, first, &size), HG_ERROR_INVALID_BUFFER);
    stale = first;
    CHECK_OK(hg_backend_allocate_buffer(b, 4, &first));
    CHECK(first.handle != stale.handle && first.handle >> 63 == 0);
    CHECK_STATUS(hg_backend_copy_from_buffer(b, stale, out, 1), HG_ERROR_INVALID_BUFFER);
    CHECK_STATUS(hg_backend_free_buffer(b, (hg_buffer){99}), HG_ERROR_INVALID_BUFFER);
    CHECK_STATUS(hg_backend_free_buffer(b, (hg_buffer){0}), HG_ERROR_INVALID_BUFFER);
    CHECK_STATUS(hg_backend_free_buffer(b, (hg_buffer){CLASS_HANDLE(3)}), HG_ERROR_INVALID_BUFFER);
    CHECK_STATUS(hg_backend_buffer_size(b, (hg_buffer){UINT64_MAX >> 1}, &size),
                 HG_ERROR_INVALID_BUFFER);
    /* size 0 */
    CHECK_OK(hg_backend_allocate_buffer(b, 0, &empty));
    CHECK_OK(hg_backend_buffer_size(b, empty, &size));
    CHECK_U64(size, 0);
    CHECK_OK(hg_backend_copy_to_buffer(b, empty, in, 0));
    CHECK_STATUS(hg_backend_copy_to_buffer(b, empty, in, 1), HG_ERROR_EXECUTION_FAILED);
    CHECK_STATUS(hg_backend_allocate_buffer(b, UINT64_MAX, &stale), HG_ERROR_ALLOCATION_FAILED);
    CHECK_STATUS(hg_backend_allocate_buffer(b, (uint64_t)1 << 62, &stale),
                 HG_ERROR_ALLOCATION_FAILED);
    CHECK_OK(hg_backend_free_buffer(b, first));
    CHECK_OK(hg_backend_free_buffer(b, second));
    CHECK_OK(hg_backend_free_buffer(b, third));
    CHECK_OK(hg_backend_free_buffer(b, empty));
}

static void test_pools(hg_backend *b) {
    hg_pool pool, other;
    hg_buffer buffer;
    uint64_t size = 0;
    char out[8] = "";
    CHECK_OK(hg_backend_allocate_pool(b, 8, &pool));
    CHECK_OK(hg_backend_allocate_pool(b, 8, &other));
    CHECK_U64(pool.handle, 1); /* numbered apart from buffers */
    CHECK_U64(other.handle, 2);
    CHECK_OK(hg_backend_copy_to_pool(b, pool, 3, "abc", 3));
    CHECK_OK(hg_backend_copy_from_pool(b, pool, 0, out, 8));
    CHECK(memcmp(out, "\0\0\0abc\0\0", 8) == 0);
    CHECK_OK(hg_backend_pool_store(b, pool, 0, "xyz", 3));
    CHECK_OK(hg_backend_pool_load(b, pool, 1, out, 4));
    CHECK(memcmp(out, "yzab", 4) == 0);
    CHECK_OK(hg_backend_pool_size(b, pool, &size));
    CHECK_U64(size, 8);
    CHECK_FAILS(hg_backend_copy_to_pool(b, pool, 6, "abc", 3), HG_ERROR_EXECUTION_FAILED, "",
                "pool access out of bounds: offset 6 + size 3 > pool size 8");
    CHECK_STATUS(hg_backend_copy_from_pool(b, pool, UINT64_MAX, out, 8), HG_ERROR_EXECUTION_FAILED);
    CHECK_OK(hg_backend_free_pool(b, pool));
    CHECK_FAILS(hg_backend_free_pool(b, pool), HG_ERROR_INVALID_BUFFER, "",
                "invalid pool handle: 1");
    CHECK_TEXT(hg_last_error_text(), "invalid pool handle: 1");
    CHECK_STATUS(hg_backend_copy_to_pool(b, pool, 0, "a", 1), HG_ERROR_INVALID_BUFFER);
    CHECK_STATUS(hg_backend_pool_size(b, (hg_pool){0}, &size), HG_ERROR_INVALID_BUFFER); /* no class
                                                                                            memory
                                                                                            among
                                                                                            pools */
    CHECK_STATUS(hg_backend_pool_size(b, (hg_pool){CLASS_HANDLE(0)}, &size),
                 HG_ERROR_INVALID_BUFFER);
    CHECK_OK(hg_backend_allocate_buffer(b, 8, &buffer));
    CHECK_STATUS(hg_backend_copy_to_pool(b, (hg_pool){buffer.handle}, 0, "a", 1),
                 HG_ERROR_INVALID_BUFFER);
    CHECK_OK(hg_backend_free_buffer(b, buffer));
    CHECK_OK(hg_backend_free_pool(b, other));
}

static void test_class_memory(hg_backend *b) {
    hg_buffer all = {0}, five = {CLASS_HANDLE(5)}, last = {CLASS_HANDLE(95)};
    static uint8_t page[CLASS_BYTES], out[CLASS_BYTES], memory[CLASS_MEMORY];
    uint64_t size = 0;
    memset(memory, 1, sizeof memory);
    CHECK_OK(hg_backend_copy_from_buffer(b, all, memory, sizeof memory));
    for (size_t i = 0; i < sizeof memory; i++)
        if (memory[i]) {
            CHECK_MESSAGE(false, "class memory byte %zu is %u before it is written", i, memory[i]);
            break;
        }
    CHECK_OK(hg_backend_buffer_size(b, all, &size));
    CHECK_U64(size, CLASS_MEMORY);
    CHECK_OK(hg_backend_buffer_size(b, five, &size));
    CHECK_U64(size, CLASS_BYTES);
    for (int i = 0; i < CLASS_BYTES; i++) page[i] = (uint8_t)(i * 7 + 1);
    CHECK_OK(hg_backend_copy_to_buffer(b, five, page, CLASS_BYTES));
    CHECK_OK(hg_backend_copy_from_buffer(b, five, out, CLASS_BYTES));
    CHECK(memcmp(page, out, CLASS_BYTES) == 0);
    CHECK_FAILS(hg_backend_copy_to_buffer(b, five, page, 4), HG_ERROR_EXECUTION_FAILED, "",
                "a class is copied whole: expected 12288 bytes, got 4");
    CHECK_STATUS(hg_backend_copy_from_buffer(b, five, out, CLASS_BYTES + 1),
                 HG_ERROR_EXECUTION_FAILED);
    CHECK_OK(hg_buffer_read(b, all, 5 * CLASS_BYTES + 10, out, 20)); /* the same bytes by the other
                                                                        handle */
    CHECK(memcmp(page + 10, out, 20) == 0);
    CHECK_OK(hg_buffer_read(b, five, 10, out, 20));
    CHECK(memcmp(page + 10, out, 20) == 0);
    CHECK_STATUS(hg_buffer_read(b, five, CLASS_BYTES, out, 1), HG_ERROR_EXECUTION_FAILED);
    CHECK_OK(hg_buffer_write(b, last, CLASS_BYTES - 1, page, 1));
    CHECK_OK(hg_buffer_read(b, all, CLASS_MEMORY - 1, out, 1));
    CHECK_U64(out[0], page[0]);
    CHECK_STATUS(hg_buffer_read(b, all, CLASS_MEMORY, out, 1), HG_ERROR_EXECUTION_FAILED);
    CHECK_OK(hg_backend_copy_to_buffer(b, all, page, 3)); /* handle 0 takes any prefix */
    CHECK_STATUS(hg_buffer_read(b, (hg_buffer){CLASS_HANDLE(0) - 1}, 0, out, 1),
                 HG_ERROR_INVALID_BUFFER);
}

static void test_imports(hg_backend *b) {
    uint8_t memory[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {0};
    hg_buffer buffer, none;
    CHECK_OK(hg_buffer_import(b, memory, sizeof memory, &buffer));
    CHECK_OK(hg_backend_copy_from_buffer(b, buffer, out, 8));
    CHECK(memcmp(memory, out, 8) == 0);
    CHECK_OK(hg_buffer_write(b, buffer, 2, "\x99", 1));
    CHECK_U64(memory[2], 0x99);
    CHECK_STATUS(hg_buffer_write(b, buffer, 8, "a", 1), HG_ERROR_EXECUTION_FAILED);
    CHECK_STATUS(hg_buffer_import(b, NULL, 1, &none), HG_ERROR_INVALID_ARGUMENT);
    CHECK_OK(hg_buffer_import(b, NULL, 0, &none));
    CHECK_STATUS(hg_buffer_read(b, none, 0, out, 1), HG_ERROR_EXECUTION_FAILED);
    CHECK_OK(hg_backend_free_buffer(b, none));
    CHECK_OK(hg_backend_free_buffer(b, buffer));
    CHECK_U64(memory[0], 1); /* not freed, not cleared */
}

static void test_limit(const char *name) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    hg_buffer buffer;
    hg_pool pool;
    snprintf(config.backend, sizeof config.backend, "%s", name);
    config.max_buffer_size = 100;
    set_pretend(&config, "");
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    if (!b) return;
    CHECK_OK(hg_backend_allocate_buffer(b, 100, &buffer));
    CHECK_FAILS(hg_backend_allocate_buffer(b, 101, &buffer), HG_ERROR_ALLOCATION_FAILED, "",
                "101 bytes asked for, the configured limit is 100");
    CHECK_STATUS(hg_backend_allocate_pool(b, 101, &pool), HG_ERROR_ALLOCATION_FAILED);
    hg_backend_destroy(b); /* frees what is left */
}

/* Buffers, pools and class memory count together; what is freed counts no more; imported memory
 * never did. */
static void test_budget(const char *name) {
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    hg_buffer first, second, none, imported;
    hg_pool pool;
    uint8_t own[4096] = {0};
    snprintf(config.backend, sizeof config.backend, "%s", name);
    config.max_memory = 8 << 20;
    set_pretend(&config, "");
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    if (!b) return;
    CHECK_STATUS(hg_backend_allocate_buffer(b, UINT64_MAX - 5, &none), HG_ERROR_ALLOCATION_FAILED);
    CHECK_STATUS(hg_backend_allocate_buffer(b, 8 << 20, &none),
                 HG_ERROR_ALLOCATION_FAILED); /* its
                                                 records
                                                 count
                                                 too
                                               */
    CHECK(strstr(hg_last_error()->message, "8388608 bytes asked for, ") &&
          strstr(hg_last_error()->message, "the limit is 8388608 (max_memory)"));
    for (int i = 0; i < 100; i++) {
        CHECK_OK(hg_backend_allocate_buffer(b, 4 << 20, &first));
        CHECK_OK(hg_backend_allocate_pool(b, 3 << 20, &pool));
        CHECK_STATUS(hg_backend_allocate_buffer(b, 1 << 20, &none), HG_ERROR_ALLOCATION_FAILED);
        if (hg_buffer_import(b, own, sizeof own, &imported) == HG_OK)
            CHECK_OK(hg_backend_free_buffer(b, imported));
        CHECK_OK(hg_backend_free_pool(b, pool));
        CHECK_OK(hg_backend_allocate_buffer(b, 2 << 20, &second));
        CHECK_OK(hg_backend_free_buffer(b, first));
        CHECK_OK(hg_backend_free_buffer(b, second));
    }
    hg_backend_destroy(b);
}

/* A buffer that nobody writes to takes addresses, not memory. */
static void test_untouched(void) {
#if defined(__linux__) && !SANITIZED
    hg_config config = hg_config_default();
    hg_backend *b = NULL;
    hg_buffer buffer;
    uint8_t byte = 1;
    struct rusage before, after;
    snprintf(config.backend, sizeof config.backend, "%s", "cpu");
    config.max_memory = UINT64_MAX;
    CHECK_OK(hg_backend_create_with_config(&config, &b));
    if (!b) return;
    getrusage(RUSAGE_SELF, &before);
    if (hg_backend_allocate_buffer(b, UINT64_C(4) << 30, &buffer) != HG_OK) {
        SKIP("the system does not give 4 GB of addresses");
    } else {
        CHECK_OK(hg_buffer_read(b, buffer, (UINT64_C(4) << 30) - 1, &byte, 1));
        CHECK_U64(byte, 0);
        getrusage(RUSAGE_SELF, &after);
        CHECK_MESSAGE(after.ru_maxrss - before.ru_maxrss < 64 << 10, "%ld KiB were touched",
                      after.ru_maxrss - before.ru_maxrss);
    }
    hg_backend_destroy(b);
#endif
}

/* The vector of semantics 4.4. */
static void test_ring(void) {
    hg_ring *ring = NULL;
    char out[8] = "";
    CHECK_OK(hg_ring_create(4, &ring));
    if (!ring) return;
    CHECK_U64(hg_ring_capacity(ring), 4);
    CHECK_U64(hg_ring_len(ring), 0);
    CHECK_OK(hg_ring_write(ring, "ab", 2));
    CHECK_U64(hg_ring_len(ring), 2);
    CHECK_OK(hg_ring_write(ring, "cde", 3));
    CHECK_U64(hg_ring_len(ring), 4);
    CHECK_OK(hg_ring_read(ring, 0, out, 4));
    CHECK(memcmp(out, "bcde", 4) == 0);
    CHECK_OK(hg_ring_read(ring, 0, out, 2));
    CHECK(memcmp(out, "bc", 2) == 0);
    CHECK_OK(hg_ring_write(ring, "123456", 6));
    CHECK_OK(hg_ring_read(ring, 0, out, 4));
    CHECK(memcmp(out, "3456", 4) == 0);
    CHECK_OK(hg_ring_read(ring, 4, out, 0));
    CHECK_STATUS(hg_ring_read(ring, 5, out, 0), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_ring_read(ring, 1, out, 4), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_ring_read(ring, UINT64_MAX, out, 2), HG_ERROR_INVALID_ARGUMENT);
    hg_ring_destroy(ring);
    ring = NULL;
    CHECK_OK(hg_ring_create(0, &ring));
    if (!ring) return;
    CHECK_OK(hg_ring_write(ring, "abc", 3));
    CHECK_U64(hg_ring_len(ring), 0);
    CHECK_OK(hg_ring_read(ring, 0, out, 0));
    hg_ring_destroy(ring);
    hg_ring_destroy(NULL);
}

/* Random writes and reads against a plain array that keeps everything. */
static void test_ring_model(void) {
    enum { CAPACITY = 37, STEPS = 2000 };
    static uint8_t history[STEPS * 80];
    uint64_t written = 0, state = 12345;
    hg_ring *ring = NULL;
    CHECK_OK(hg_ring_create(CAPACITY, &ring));
    for (int i = 0; ring && i < STEPS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t length = (state >> 33) % 80, kept;
        for (uint64_t k = 0; k < length; k++) history[written + k] = (uint8_t)(state >> (k % 40));
        CHECK_OK(hg_ring_write(ring, history + written, length));
        written += length;
        kept = written < CAPACITY ? written : CAPACITY;
        CHECK_U64(hg_ring_len(ring), kept);
        uint64_t at = kept ? (state >> 20) % kept : 0;
        uint8_t out[CAPACITY];
        CHECK_OK(hg_ring_read(ring, at, out, kept - at));
        CHECK(memcmp(out, history + written - kept + at, (size_t)(kept - at)) == 0);
    }
    hg_ring_destroy(ring);
}

int main(void) {
    static const char *const names[] = {"null", "cpu"};
    for (size_t i = 0; i < 2; i++) {
        hg_backend *b = open_backend(names[i]);
        CHECK_TEXT(hg_backend_name(b), names[i]);
        test_buffers(b);
        test_pools(b);
        test_class_memory(b);
        test_imports(b);
        hg_backend_destroy(b);
        test_limit(names[i]);
        test_budget(names[i]);
    }
    hg_backend_destroy(NULL);
    test_ring();
    test_ring_model();
    test_untouched();
    return test_done();
}
