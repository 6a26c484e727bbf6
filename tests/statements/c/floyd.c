#include <stdint.h>
void floyd(float *d, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++) {
                float way = d[i * n + k] + d[k * n + j];
                if (way < d[i * n + j]) d[i * n + j] = way;
            }
}
