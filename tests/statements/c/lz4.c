#include <stdint.h>
static uint32_t length(uint32_t count, const uint8_t *src, uint32_t *ip) {
    uint32_t more = count == 15 ? 255 : 0;
    while (more == 255) {
        more = src[(*ip)++];
        count += more;
    }
    return count;
}
void lz4(const uint8_t *src, const uint32_t *at, uint8_t *dst, uint32_t *size, uint32_t nb) {
    for (uint32_t lane = 0; lane < nb; lane++) {
        uint32_t base = lane << 16, op = base, ip = at[lane];
        for (;;) {
            uint32_t token = src[ip++];
            uint32_t count = length(token >> 4, src, &ip);
            for (uint32_t i = 0; i < count; i++) dst[op++] = src[ip++];
            if (ip >= at[lane + 1]) break;
            uint32_t from = op - (src[ip] | (uint32_t)src[ip + 1] << 8);
            ip += 2;
            count = length(token & 15, src, &ip) + 4;
            for (uint32_t i = 0; i < count; i++) dst[op++] = dst[from++];
        }
        size[lane] = op - base;
    }
}
