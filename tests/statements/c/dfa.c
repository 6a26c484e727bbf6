#include <stdint.h>
void dfa(const uint8_t *text, const uint32_t *at, const uint8_t *table, const uint8_t *accept,
         uint32_t *hits, uint32_t n) {
    for (uint32_t lane = 0; lane < n; lane++) {
        uint32_t s = 0, count = 0;
        for (uint32_t i = at[lane]; i < at[lane + 1]; i++) {
            s = table[s * 256 + text[i]];
            count += accept[s];
        }
        hits[lane] = count;
    }
}
