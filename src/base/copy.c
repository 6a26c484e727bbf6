/* Copies of a few KiB (copy.h). */
#include "base/copy.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

enum { ROUND = 128 };

HG_FOR_AVX static inline void copy_round(uint8_t *to, const uint8_t *from) {
    __m256i v[ROUND / 32];
    for (size_t i = 0; i < ROUND / 32; i++)
        v[i] = _mm256_loadu_si256((const __m256i *)(const void *)(from + 32 * i));
    for (size_t i = 0; i < ROUND / 32; i++)
        _mm256_storeu_si256((__m256i *)(void *)(to + 32 * i), v[i]);
}

HG_FOR_AVX static void copy_rounds(uint8_t *to, const uint8_t *from, size_t bytes) {
    size_t last = bytes - ROUND;
    for (size_t i = 0; i < last; i += ROUND) copy_round(to + i, from + i);
    copy_round(to + last, from + last); /* its first bytes may be there already */
}

void hg_copy_by_vectors(void *to, const void *from, size_t bytes) {
    static uint8_t known; /* atomic; 0: not asked yet, then 1 for no, 2 for yes */
    uint8_t answer = hg_atomic_load(&known, HG_RELAXED);
    if (!answer) {
        answer = hg_cpu_supports("avx") ? 2 : 1;
        hg_atomic_store(&known, answer, HG_RELAXED);
    }
    if (answer == 2)
        copy_rounds(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

#endif
