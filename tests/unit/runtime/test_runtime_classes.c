/* The class allocator against its rules, random use against a count, memory inside and outside of
 * classes, the memory of types. */
#include "support/runtime_support.h"
#include <hologram/atlas.h>
#include <hologram/class_memory.h>

enum { CLASS = 12288 };

static uint64_t handle_of(uint32_t cls) { return UINT64_MAX - 95 + cls; }

static hg_class_block take(hg_class_allocator *a, hg_backend *b, uint64_t bytes) {
    hg_class_block block = {.count = 99};
    CHECK_OK(hg_class_allocate(a, b, bytes, &block));
    CHECK_U64(block.bytes, bytes);
    return block;
}

static void test_rules(hg_backend *b) {
    hg_class_allocator *a = NULL;
    hg_class_block blocks[4];
    CHECK_OK(hg_class_allocator_create(&a));
    for (uint32_t i = 0; i < 4; i++) { /* the lowest free one */
        blocks[i] = take(a, b, i ? CLASS : 0);
        CHECK(blocks[i].first == i && blocks[i].count == 1 && blocks[i].offset == 0 &&
              blocks[i].buffer.handle == handle_of(i));
    }
    CHECK_OK(hg_class_free(a, b, blocks[1]));
    CHECK_OK(hg_class_free(a, b, blocks[3]));
    CHECK_OK(hg_class_free(a, b, blocks[0]));
    CHECK_FAILS(hg_class_free(a, b, blocks[0]), HG_ERROR_INVALID_BUFFER, "",
                "BufferHandle(18446744073709551520)");
    CHECK_U64(take(a, b, 1).first, 0); /* freed last, used first */
    CHECK_U64(take(a, b, 1).first, 3);
    CHECK_U64(take(a, b, 1).first, 1);
    CHECK_U64(take(a, b, 1).first, 4);
    CHECK_U64(hg_class_allocator_used(a), 5);
    hg_class_block run = take(a, b, 2 * CLASS + 1); /* consecutive */
    CHECK(run.first == 5 && run.count == 3 && run.buffer.handle == 0 && run.offset == 5 * CLASS);
    hg_class_block half = take(a, b, 48 * CLASS);
    CHECK(half.first == 8 && half.count == 48);
    hg_class_block outside = take(a, b, 48 * CLASS); /* no 48 are left side by side */
    uint64_t size = 0;
    CHECK(outside.count == 0 && outside.offset == 0 && outside.buffer.handle &&
          outside.buffer.handle < handle_of(0));
    CHECK_OK(hg_backend_buffer_size(b, outside.buffer, &size));
    CHECK_U64(size, 48 * CLASS);
    CHECK_OK(hg_class_free(a, b, outside));
    CHECK_STATUS(hg_class_free(a, b, outside), HG_ERROR_INVALID_BUFFER);
    CHECK_OK(hg_class_free(a, b, half));
    outside = take(a, b, 48 * CLASS + 1); /* never more than 48 */
    CHECK_U64(outside.count, 0);
    CHECK_OK(hg_class_free(a, b, outside));
    CHECK_STATUS(hg_class_free(a, b, (hg_class_block){.first = 95, .count = 2}),
                 HG_ERROR_INVALID_BUFFER);
    CHECK_STATUS(hg_class_free(a, b, (hg_class_block){.first = UINT32_MAX, .count = 1}),
                 HG_ERROR_INVALID_BUFFER);
    CHECK_STATUS(hg_class_free(a, b, (hg_class_block){.first = 4, .count = 5}),
                 HG_ERROR_INVALID_BUFFER); /* 8 is free: none of them goes */
    CHECK_U64(hg_class_allocator_used(a), 8);
    for (int i = 0; i < 88; i++) CHECK_U64(take(a, b, 100).count, 1);
    outside = take(a, b, 100); /* all 96 are in use */
    CHECK_U64(outside.count, 0);
    CHECK_OK(hg_class_free(a, b, outside));
    hg_class_allocator_destroy(a);
    hg_class_allocator_destroy(NULL);
    CHECK_U64(hg_class_allocator_used(NULL), 0);
    CHECK_STATUS(hg_class_allocator_create(NULL), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_class_allocate(NULL, b, 1, &run), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_class_free(NULL, b, run), HG_ERROR_INVALID_ARGUMENT);
}

/* Blocks never overlap, and everything comes back. */
static void test_random(hg_backend *b) {
    hg_class_allocator *a = NULL;
    hg_class_block live[32] = {{{0}, 0, 0, 0, 0}};
    uint8_t owner[96] = {0};
    uint32_t state = 3, used = 0, wrong = 0;
    CHECK_OK(hg_class_allocator_create(&a));
    for (int i = 0; i < 20000; i++) {
        state = state * 1664525u + 1013904223u;
        hg_class_block *at = &live[state >> 27];
        if (at->buffer.handle || at->count) {
            CHECK_OK(hg_class_free(a, b, *at));
            for (uint32_t c = 0; c < at->count; c++) wrong += owner[at->first + c]-- != 1;
            used -= at->count;
            *at = (hg_class_block){{0}, 0, 0, 0, 0};
        } else {
            *at = take(a, b, (uint64_t)(state >> 8) % (8 * CLASS));
            for (uint32_t c = 0; c < at->count; c++) wrong += owner[at->first + c]++ != 0;
            used += at->count;
        }
        wrong += hg_class_allocator_used(a) != used;
    }
    CHECK_U64(wrong, 0);
    for (size_t i = 0; i < sizeof live / sizeof *live; i++)
        if (live[i].buffer.handle || live[i].count) CHECK_OK(hg_class_free(a, b, live[i]));
    CHECK_U64(hg_class_allocator_used(a), 0);
    hg_class_allocator_destroy(a);
}

/* A rectangle of a class is that class's buffer: what is written there, class memory as a whole
 * has. */
static void test_boundary(hg_backend *b) {
    static uint8_t bytes[CLASS], all[96 * CLASS];
    hg_buffer buffer = {0};
    CHECK_OK(hg_allocate_boundary(b, 21, 48, 256, &buffer));
    CHECK_U64(buffer.handle, handle_of(21));
    memset(bytes, 7, sizeof bytes);
    CHECK_OK(hg_backend_copy_to_buffer(b, buffer, bytes, sizeof bytes));
    CHECK_OK(hg_buffer_read(b, (hg_buffer){0}, 0, all, sizeof all));
    CHECK(all[21 * CLASS] == 7 && all[22 * CLASS - 1] == 7 && all[21 * CLASS - 1] == 0 &&
          all[22 * CLASS] == 0);
    CHECK_OK(hg_allocate_boundary(b, 0, 0, 0, &buffer));
    CHECK_FAILS(hg_allocate_boundary(b, 96, 1, 1, &buffer), HG_ERROR_ISA, "F04",
                "invalid class index: 96 (must be < 96)");
    CHECK_FAILS(hg_allocate_boundary(b, 3, 49, 10, &buffer), HG_ERROR_ISA, "F04",
                "invalid boundary coordinates: page=48 (must be < 48), byte=9 (must be < 256)");
    CHECK_FAILS(hg_allocate_boundary(b, 3, 48, 257, &buffer), HG_ERROR_ISA, "F04",
                "invalid boundary coordinates: page=47 (must be < 48), byte=256 (must be < 256)");
    CHECK_STATUS(hg_allocate_boundary(NULL, 3, 1, 1, &buffer), HG_ERROR_INVALID_ARGUMENT);
    CHECK_OK(hg_allocate_class_free(b, 100, &buffer));
    CHECK(buffer.handle && buffer.handle < handle_of(0));
    CHECK_OK(hg_backend_free_buffer(b, buffer));
}

static void test_type_memory(hg_backend *b) {
    static const uint64_t bytes[] = {221184, 442368, 1769472, 7077888, 28311552};
    hg_pool pools[HG_TYPE_COUNT] = {{0}};
    for (int t = 0; t < HG_TYPE_COUNT; t++) {
        uint64_t size = 0, width = hg_type_size_bytes((hg_type)t), step = 0;
        if (width > 16) continue;
        for (uint64_t w = width; w > 1; w /= 2) step++;
        CHECK_OK(hg_backend_type_memory(b, (hg_type)t, &pools[t]));
        CHECK_OK(hg_backend_pool_size(b, pools[t], &size));
        CHECK_U64(size, bytes[step]);
        for (int o = 0; o < t; o++)
            if (hg_type_size_bytes((hg_type)o) <= 16)
                CHECK((pools[o].handle == pools[t].handle) ==
                      (hg_type_size_bytes((hg_type)o) == width));
    }
    hg_pool again = {0};
    CHECK_OK(hg_backend_free_pool(b, pools[HG_TYPE_U8])); /* somebody else's mistake */
    CHECK_OK(hg_backend_type_memory(b, HG_TYPE_I8, &again));
    CHECK(again.handle && again.handle != pools[HG_TYPE_U8].handle);
    CHECK_STATUS(hg_backend_type_memory(b, HG_TYPE_COUNT, &again), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_backend_type_memory(NULL, HG_TYPE_I8, &again), HG_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hg_backend_type_memory(b, HG_TYPE_I8, NULL), HG_ERROR_INVALID_ARGUMENT);
}

int main(void) {
    hg_backend *b = NULL;
    CHECK_OK(hg_backend_create("cpu", 0, &b));
    if (b) {
        test_rules(b);
        test_random(b);
        test_boundary(b);
        test_type_memory(b);
    }
    hg_backend_destroy(b);
    return test_done();
}
