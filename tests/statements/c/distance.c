#include <stdint.h>
enum { L = 12 };
static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }
void distance(const uint8_t *a, const uint8_t *b, uint32_t *distances, uint64_t n) {
    for (uint64_t lane = 0; lane < n; lane++) {
        uint8_t row[L + 1];
        for (uint32_t j = 0; j <= L; j++) row[j] = (uint8_t)j;
        for (uint32_t i = 0; i < L; i++) {
            uint32_t before = row[0];
            row[0] = (uint8_t)(i + 1);
            for (uint32_t j = 0; j < L; j++) {
                uint32_t change = a[lane * L + i] == b[lane * L + j] ? before : before + 1;
                before = row[j + 1];
                row[j + 1] = (uint8_t)least(change, least(before, row[j]) + 1);
            }
        }
        distances[lane] = row[L];
    }
}
