/* Plain C peers. The compiler may use all of this CPU. */
#include "bench.h"

#if defined(__x86_64__)
#define WIDE __attribute__((target_clones("default,avx2,avx512f"), optimize("O3")))
#else
#define WIDE
#endif

WIDE void peer_chain(float *restrict x, const float *restrict a, const float *restrict b, size_t n,
                     int rounds) {
    for (int r = 0; r < rounds; r++)
        for (size_t i = 0; i < n; i++) x[i] = x[i] * a[i] + b[i];
}

WIDE void peer_add(float *restrict c, const float *restrict a, const float *restrict b, size_t n) {
    for (size_t i = 0; i < n; i++) c[i] = a[i] + b[i];
}

WIDE double peer_read(const float *x, size_t n) {
    float s[64] = {0};
    size_t i = 0;
    for (; i + 64 <= n; i += 64)
        for (int k = 0; k < 64; k++) s[k] += x[i + (size_t)k];
    double total = 0;
    for (int k = 0; k < 64; k++) total += (double)s[k];
    for (; i < n; i++) total += (double)x[i];
    return total;
}
