#include <stdint.h>
void crc32(const uint8_t *text, uint32_t *sums, uint64_t n, uint64_t size) {
    for (uint64_t lane = 0; lane < n; lane++) {
        uint32_t crc = 0xffffffff;
        for (uint64_t i = 0; i < size; i++) {
            crc ^= text[lane * size + i];
            for (int k = 0; k < 8; k++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
        }
        sums[lane] = ~crc;
    }
}
