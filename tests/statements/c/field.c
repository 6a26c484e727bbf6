#include <stdint.h>
typedef unsigned __int128 u128;
/* h = 19 a + h, without what goes beyond 256 bits, which is given back. */
static uint64_t fold(uint64_t h[4], const uint64_t a[4]) {
    u128 carry = 0;
    for (int i = 0; i < 4; i++) {
        carry += (u128)a[i] * 38 + h[i];
        h[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return (uint64_t)carry;
}
void field(const uint64_t *a, const uint64_t *b, uint64_t *c, uint64_t n) {
    static const uint64_t P[4] = {0xffffffffffffffed, ~0ull, ~0ull, 0x7fffffffffffffff};
    for (uint64_t lane = 0; lane < n; lane++, a += 4, b += 4, c += 4) {
        uint64_t t[8] = {0};
        for (int i = 0; i < 4; i++) {
            u128 carry = 0;
            for (int j = 0; j < 4; j++) {
                carry += (u128)a[i] * b[j] + t[i + j];
                t[i + j] = (uint64_t)carry;
                carry >>= 64;
            }
            t[i + 4] = (uint64_t)carry;
        }
        uint64_t over = fold(t, t + 4);
        while (over) over = fold(t, (uint64_t[4]){over});
        for (int again = 0; again < 2; again++) {
            uint64_t less[4];
            u128 borrow = 0;
            for (int i = 0; i < 4; i++) {
                u128 d = (u128)t[i] - P[i] - borrow;
                less[i] = (uint64_t)d;
                borrow = d >> 64 ? 1 : 0;
            }
            for (int i = 0; i < 4 && !borrow; i++) t[i] = less[i];
        }
        for (int i = 0; i < 4; i++) c[i] = t[i];
    }
}
