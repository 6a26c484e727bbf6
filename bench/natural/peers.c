/* Peers of bench/natural/run: plain loops, as somebody writes them who wants the result. Each works
 * on units begin to end; buffers are in the order of the program's parameters. */
#include "../cpu/peers.h"

#include <math.h>
#include <string.h>

#define WORK(name) void name(const peer_job *restrict j, uint64_t begin, uint64_t end)
#define ARRAY(type, name, i) type *restrict name = j->buffer[i]
typedef unsigned __int128 u128;

WORK(bytes) {
    ARRAY(const uint8_t, x, 0);
    ARRAY(uint32_t, h, 1);
    for (uint64_t i = begin; i < end; i++) h[x[i]]++;
}

WORK(grey) {
    ARRAY(const uint8_t, x, 0);
    ARRAY(uint8_t, y, 1);
    for (uint64_t i = begin; i < end; i++)
        y[i] = (uint8_t)((x[3 * i] * 77u + x[3 * i + 1] * 150u + x[3 * i + 2] * 29u) >> 8);
}

/* 16 options at a time, so that the compiler makes vectors of them. */
WORK(binomial) {
    ARRAY(const float, low, 0);
    ARRAY(const float, strike, 1);
    ARRAY(const float, u, 2);
    ARRAY(const float, up, 3);
    ARRAY(const float, down, 4);
    ARRAY(float, out, 5);
    for (uint64_t i = begin; i + 16 <= end; i += 16) {
        float v[65][16], x[16];
        memcpy(x, low + i, sizeof x);
        for (int k = 0; k < 65; k++)
            for (int l = 0; l < 16; l++) {
                v[k][l] = fmaxf(x[l] - strike[i + l], 0.0f);
                x[l] *= u[i + l];
            }
        for (int left = 64; left > 0; left--)
            for (int k = 0; k < left; k++)
                for (int l = 0; l < 16; l++)
                    v[k][l] = up[i + l] * v[k + 1][l] + down[i + l] * v[k][l];
        memcpy(out + i, v[0], sizeof x);
    }
}

WORK(paths) {
    ARRAY(uint32_t, d, 0);
    const uint64_t n = end;
    (void)begin;
    for (uint64_t k = 0; k < n; k++)
        for (uint64_t r = 0; r < n; r++) {
            const uint32_t a = d[r * n + k];
            for (uint64_t c = 0; c < n; c++) {
                const uint32_t s = a + d[k * n + c];
                if (s < d[r * n + c]) d[r * n + c] = s;
            }
        }
}

WORK(block_scan) {
    ARRAY(const uint32_t, x, 0);
    ARRAY(uint32_t, y, 1);
    for (uint64_t at = begin; at < end; at += 1024) {
        uint32_t s = 0;
        for (uint64_t i = at; i < at + 1024; i++) y[i] = s += x[i];
    }
}

WORK(block_sum) {
    ARRAY(const uint32_t, x, 0);
    ARRAY(uint32_t, y, 1);
    for (uint64_t at = begin; at < end; at += 256) {
        uint32_t s = 0;
        for (uint64_t i = at; i < at + 256; i++) s += x[i];
        y[at / 256] = s;
    }
}

WORK(block_most) {
    ARRAY(const int16_t, x, 0);
    ARRAY(int16_t, y, 1);
    for (uint64_t at = begin; at < end; at += 512) {
        int16_t most = INT16_MIN;
        for (uint64_t i = at; i < at + 512; i++) most = x[i] > most ? x[i] : most;
        for (uint64_t i = at; i < at + 512; i++) y[i] = (int16_t)(most - x[i]);
    }
}

WORK(scan) {
    ARRAY(const uint32_t, x, 0);
    ARRAY(uint32_t, y, 1);
    uint32_t s = 0;
    for (uint64_t i = begin; i < end; i++) y[i] = s += x[i];
}

WORK(scan_floats) {
    ARRAY(const float, x, 0);
    ARRAY(float, y, 1);
    float s = 0;
    for (uint64_t i = begin; i < end; i++) y[i] = s += x[i];
}

typedef struct u256 {
    uint64_t l[4];
} u256;

static inline u256 add(u256 a, u256 b) {
    u128 t = 0;
    for (int i = 0; i < 4; i++) {
        t += (u128)a.l[i] + b.l[i];
        a.l[i] = (uint64_t)t;
        t >>= 64;
    }
    return a;
}

static inline u256 mul(u256 a, u256 b) {
    u256 r = {{0}};
    for (int i = 0; i < 4; i++) {
        uint64_t carry = 0;
        for (int k = 0; k < 4 - i; k++) {
            const u128 t = (u128)a.l[i] * b.l[k] + r.l[i + k] + carry;
            r.l[i + k] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
    }
    return r;
}

WORK(wide_sum) {
    ARRAY(const u256, x, 0);
    ARRAY(u256, y, 1);
    for (uint64_t i = begin; i < end; i++) {
        u256 a = x[i], b = y[i];
        for (int k = 0; k < 16; k++) {
            b = add(b, a);
            for (int l = 0; l < 4; l++) b.l[l] ^= a.l[l];
        }
        y[i] = b;
    }
}

WORK(wide_product) {
    ARRAY(const u256, x, 0);
    ARRAY(u256, y, 1);
    for (uint64_t i = begin; i < end; i++) {
        u256 a = x[i], b = y[i];
        for (int k = 0; k < 16; k++) b = add(mul(b, b), a);
        y[i] = b;
    }
}

/* Rounds of Collatz: how long a lane takes is its own. */
WORK(collatz) {
    ARRAY(const uint64_t, x, 0);
    ARRAY(uint32_t, y, 1);
    for (uint64_t i = begin; i < end; i++) {
        uint64_t v = x[i];
        uint32_t count = 0;
        for (; v != 1; count++) v = v & 1 ? 3 * v + 1 : v >> 1;
        y[i] = count;
    }
}

WORK(gcd) {
    ARRAY(const uint32_t, x, 0);
    ARRAY(uint32_t, y, 1);
    for (uint64_t i = begin; i < end; i++) {
        uint32_t a = x[i], b = (a * 40503u) >> 7;
        while (b) {
            const uint32_t r = a % b;
            a = b;
            b = r;
        }
        y[i] = a;
    }
}

/* Light by the list of lights of each tile of 16 x 16. */
WORK(lights) {
    ARRAY(const float, z, 0);
    ARRAY(const float, nx, 1);
    ARRAY(const float, ny, 2);
    ARRAY(const float, nz, 3);
    ARRAY(const float, light, 4);
    ARRAY(const uint32_t, count, 5);
    ARRAY(const uint32_t, list, 6);
    ARRAY(float, out, 7);
    const uint64_t w = j->number[0], n = j->number[1];
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t x = i % w, y = i / w, tile = y / 16 * (w / 16) + x / 16;
        float r = 0, g = 0, e = 0;
        for (uint32_t k = 0; k < count[tile]; k++) {
            const float *l = light + 8 * list[32 * tile + k];
            const float dx = l[0] - (float)x, dy = l[1] - (float)y, dz = l[2] - z[i];
            const float d2 = dx * dx + dy * dy + dz * dz;
            const float dot = nx[i] * dx + ny[i] * dy + nz[i] * dz;
            if (d2 >= l[3] || dot <= 0) continue;
            const float v = dot / sqrtf(d2) * (1 - d2 / l[3]);
            r += l[4] * v;
            g += l[5] * v;
            e += l[6] * v;
        }
        out[i] = r;
        out[n + i] = g;
        out[2 * n + i] = e;
    }
}

WORK(to_bytes) {
    ARRAY(const float, x, 0);
    ARRAY(uint8_t, y, 1);
    for (uint64_t i = begin; i < end; i++) {
        float v = x[i] * 12.5f + 128.0f;
        v = v < 0 ? 0 : v > 255 ? 255 : v;
        y[i] = (uint8_t)v;
    }
}

WORK(table) {
    ARRAY(const float, t, 0);
    ARRAY(const float, x, 1);
    ARRAY(float, y, 2);
    const uint64_t m = j->number[1];
    for (uint64_t i = begin; i < end; i++) {
        const float f = x[i] * (float)(m - 1);
        const uint32_t k = (uint32_t)f;
        y[i] = t[k] + (f - (float)k) * (t[k + 1] - t[k]);
    }
}

WORK(largest_of_nine) {
    ARRAY(const float, x, 0);
    ARRAY(float, y, 1);
    for (uint64_t i = begin; i < end; i++) {
        float m = x[i];
        for (int k = 1; k < 9; k++) m = x[i + k] > m ? x[i + k] : m;
        y[i] = m;
    }
}

/* Images with a border of one pixel; units are rows. */
WORK(blur) {
    ARRAY(const uint8_t, x, 0);
    ARRAY(uint8_t, y, 1);
    const uint64_t w = j->number[1];
    for (uint64_t r = begin; r < end; r++)
        for (uint64_t c = 0; c < w; c++) {
            uint32_t s = 0;
            for (uint64_t a = 0; a < 3; a++)
                for (uint64_t b = 0; b < 3; b++) s += x[(r + a) * (w + 2) + c + b];
            y[r * w + c] = (uint8_t)(s / 9);
        }
}

WORK(sobel) {
    ARRAY(const uint8_t, x, 0);
    ARRAY(int16_t, y, 1);
    const uint64_t w = j->number[1];
    for (uint64_t r = begin; r < end; r++)
        for (uint64_t c = 0; c < w; c++) {
            const uint8_t *a = x + r * (w + 2) + c, *b = a + w + 2, *d = b + w + 2;
            const int gx = a[2] + 2 * b[2] + d[2] - a[0] - 2 * b[0] - d[0],
                      gy = d[0] + 2 * d[1] + d[2] - a[0] - 2 * a[1] - a[2];
            y[r * w + c] = (int16_t)((gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy));
        }
}

/* Of the inner points of a cube. */
WORK(seven_points) {
    ARRAY(const float, x, 0);
    ARRAY(float, y, 1);
    const uint64_t n = j->number[0], nn = n * n;
    for (uint64_t a = 1; a < n - 1; a++)
        for (uint64_t b = 1; b < n - 1; b++)
            for (uint64_t c = 1; c < n - 1; c++) {
                const uint64_t i = (a * n + b) * n + c;
                const float s = x[i - 1] + x[i + 1] + x[i - n] + x[i + n] + x[i - nn] + x[i + nn];
                y[i] = 0.5f * x[i] + 0.08f * s;
            }
    (void)begin;
    (void)end;
}
