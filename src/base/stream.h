/* Stores past the caches, for results far larger than them: a line that is written whole need not
 * be read first. Such stores are not ordered with others: hg_stream_end before anybody else may
 * look.
 * Must not know: what is stored. */
#ifndef HG_BASE_STREAM_H
#define HG_BASE_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum {
    HG_STREAM_FROM = 32 << 20 /* bytes of a result: less may stay in a third-level cache until it is
                                 read */
};

#if defined(__x86_64__)
static inline bool hg_stream_wanted(uint64_t bytes) { return bytes >= HG_STREAM_FROM; }
static inline void hg_stream(void *to_, const void *from_, size_t bytes) {
    uint8_t *to = to_;
    const uint8_t *from = from_;
    size_t head = (64 - (uintptr_t)to % 64) % 64;
    if (head > bytes) head = bytes;
    memcpy(to, from, head);
    to += head;
    from += head;
    bytes -= head;
    for (; bytes >= 64; bytes -= 64, to += 64, from += 64)
        for (int i = 0; i < 4; i++)
            _mm_stream_si128((__m128i *)(void *)to + i,
                             _mm_loadu_si128((const __m128i *)(const void *)from + i));
    memcpy(to, from, bytes);
}
static inline void hg_stream_end(void) { _mm_sfence(); }
#else
static inline bool hg_stream_wanted(uint64_t bytes) {
    (void)bytes;
    return false;
}
static inline void hg_stream(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
static inline void hg_stream_end(void) {}
#endif

#endif
