#include <stdint.h>
static uint64_t product(uint64_t a, uint64_t b, uint64_t m) {
    return (uint64_t)((unsigned __int128)a * b % m);
}
static uint64_t power(uint64_t b, uint64_t e, uint64_t m) {
    uint64_t r = 1;
    for (b %= m; e; e >>= 1, b = product(b, b, m))
        if (e & 1) r = product(r, b, m);
    return r;
}
static int passes(uint64_t v, uint64_t base) {
    int s = __builtin_ctzll(v - 1);
    uint64_t t = power(base, (v - 1) >> s, v);
    if (t == 1 || t == v - 1) return 1;
    while (--s > 0) {
        t = product(t, t, v);
        if (t == v - 1) return 1;
    }
    return 0;
}
void prime(const uint64_t *x, uint8_t *y, uint64_t n) {
    static const uint64_t BASE[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    for (uint64_t lane = 0; lane < n; lane++) {
        y[lane] = 1;
        for (int i = 0; i < 12; i++) y[lane] &= passes(x[lane], BASE[i]);
    }
}
