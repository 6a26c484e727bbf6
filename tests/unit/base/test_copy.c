/* Copies of all lengths around those of the loop of vectors, from and to every offset in a line,
 * byte by byte, and nothing beside them. */
#include "base/copy.h"
#include "test.h"

enum { MOST = HG_COPY_MOST + 300, EDGE = 128 };

static uint8_t from[MOST + 2 * EDGE], to[MOST + 2 * EDGE];

static bool copies(size_t bytes, size_t from_offset, size_t to_offset) {
    memset(to, 0xA5, sizeof to);
    hg_copy_bytes(to + EDGE + to_offset, from + from_offset, bytes);
    for (size_t i = 0; i < sizeof to; i++) {
        bool inside = i >= EDGE + to_offset && i < EDGE + to_offset + bytes;
        if (to[i] != (inside ? from[i - EDGE - to_offset + from_offset] : 0xA5)) return false;
    }
    return true;
}

int main(void) {
    for (size_t i = 0; i < sizeof from; i++) from[i] = (uint8_t)(i * 2654435761u >> 13);
    for (size_t bytes = 0; bytes < 300; bytes++) CHECK(copies(bytes, bytes % 61, bytes % 67));
    for (size_t around = HG_COPY_FEWEST; around <= HG_COPY_MOST; around *= 2)
        for (size_t bytes = around - 130; bytes <= around + 130; bytes++)
            CHECK(copies(bytes, bytes % 61, bytes % 67));
    for (size_t offset = 0; offset < 64; offset++) CHECK(copies(4096, offset, 63 - offset));
    return test_done();
}
