#include <math.h>
#include <stdint.h>
enum { N = 8 };
void lu(float *all, uint32_t *pivots, uint64_t n) {
    for (uint64_t lane = 0; lane < n; lane++) {
        float *m = all + lane * N * N;
        for (uint32_t k = 0; k < N; k++) {
            uint32_t best = k;
            for (uint32_t i = k + 1; i < N; i++)
                if (fabsf(m[i * N + k]) > fabsf(m[best * N + k])) best = i;
            pivots[lane * N + k] = best;
            for (uint32_t j = 0; j < N; j++) {
                float t = m[k * N + j];
                m[k * N + j] = m[best * N + j];
                m[best * N + j] = t;
            }
            for (uint32_t i = k + 1; i < N; i++) {
                float f = m[i * N + k] / m[k * N + k];
                m[i * N + k] = f;
                for (uint32_t j = k + 1; j < N; j++) m[i * N + j] -= f * m[k * N + j];
            }
        }
    }
}
