#include <stdint.h>
void philox(uint32_t *hits, uint64_t n, uint32_t rounds) {
    for (uint64_t lane = 0; lane < n; lane++) {
        uint32_t count = 0;
        for (uint32_t k = 0; k < rounds; k++) {
            uint32_t a = k, b = 0, c = (uint32_t)lane, d = 0;
            uint32_t key0 = 0xa4093822, key1 = 0x299f31d0;
            for (int r = 0; r < 10; r++) {
                uint64_t p = (uint64_t)a * 0xd2511f53, q = (uint64_t)c * 0xcd9e8d57;
                a = (uint32_t)(q >> 32) ^ b ^ key0;
                b = (uint32_t)q;
                c = (uint32_t)(p >> 32) ^ d ^ key1;
                d = (uint32_t)p;
                key0 += 0x9e3779b9;
                key1 += 0xbb67ae85;
            }
            float x = (float)(a >> 8) * 0x1p-24f, y = (float)(b >> 8) * 0x1p-24f;
            count += x * x + y * y < 1;
        }
        hits[lane] = count;
    }
}
