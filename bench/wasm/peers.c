/* Peers of bench/wasm/works.mjs: the works in C for wasm32, as loops (c_…) and by vectors of 16
 * bytes (v_…), with the same operations in the same order: equal bits. Without a C library. */
#include "../sha256.h"

#define EXPORT(name) __attribute__((export_name(#name))) void name
#define W 4

typedef float vf __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(16)));
typedef uint32_t vu __attribute__((vector_size(16)));
typedef float vf_any __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint32_t vu_any __attribute__((vector_size(16), aligned(4), may_alias));

static inline vf load(const float *at) { return *(const vf_any *)at; }
static inline void store(float *at, vf x) { *(vf_any *)at = x; }
static inline vf splat(float x) { return (vf){x, x, x, x}; }
static inline vf root(vf x) {
    return (vf){__builtin_sqrtf(x[0]), __builtin_sqrtf(x[1]), __builtin_sqrtf(x[2]),
                __builtin_sqrtf(x[3])};
}

/* ---- eight operations on each element ---- */

#define EIGHT(x, a, b) ((((((x)*a + b) * a - b) * a + b) * a) + b)

EXPORT(c_chain)(const float *restrict x, float *restrict y, float a, float b, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) y[i] = EIGHT(x[i], a, b);
}

EXPORT(v_chain)(const float *x, float *y, float a, float b, uint32_t n) {
    for (uint32_t i = 0; i < n; i += W) store(y + i, EIGHT(load(x + i), a, b));
}

/* ---- Mandelbrot ---- */

EXPORT(c_mandelbrot)(uint32_t *y, float step, uint32_t w) {
    for (uint32_t r = 0; r < w; r++)
        for (uint32_t i = 0; i < w; i++) {
            float cx = (float)i * step - 2.0f, cy = (float)r * step - 1.5f, zx = 0, zy = 0;
            uint32_t n = 0;
            do {
                float xx = zx * zx, yy = zy * zy, xy;
                if (xx + yy > 4.0f) break;
                xy = zx * zy;
                zx = xx - yy + cx;
                zy = xy + xy + cy;
            } while (++n < 256);
            y[r * w + i] = n;
        }
}

EXPORT(v_mandelbrot)(uint32_t *y, float step, uint32_t w) {
    const vi iota = {0, 1, 2, 3};
    for (uint32_t r = 0; r < w; r++) {
        vf cy = splat((float)r * step - 1.5f);
        for (uint32_t i = 0; i < w; i += 2 * W) {
            vf cx[2], zx[2] = {{0}}, zy[2] = {{0}};
            vi n[2] = {{0}}, run[2] = {~(vi){0}, ~(vi){0}};
            for (int q = 0; q < 2; q++)
                cx[q] = __builtin_convertvector(iota + (int32_t)(i + q * W), vf) * step - 2.0f;
            for (int k = 0; k < 256; k++) {
                vf xx[2], yy[2], xy[2];
                for (int q = 0; q < 2; q++) {
                    xx[q] = zx[q] * zx[q], yy[q] = zy[q] * zy[q], xy[q] = zx[q] * zy[q];
                    run[q] &= ~(xx[q] + yy[q] > 4.0f);
                }
                vi any = run[0] | run[1];
                if (!__builtin_wasm_any_true_v128(
                        (__attribute__((vector_size(16))) signed char)any))
                    break;
                for (int q = 0; q < 2; q++) {
                    zx[q] = xx[q] - yy[q] + cx[q];
                    zy[q] = xy[q] + xy[q] + cy;
                    n[q] -= run[q];
                }
            }
            for (int q = 0; q < 2; q++) *(vu_any *)(y + r * w + i + q * W) = (vu)n[q];
        }
    }
}

/* ---- n bodies ---- */

EXPORT(c_nbody)
(const float *restrict x, const float *restrict y, const float *restrict z, const float *restrict m,
 float *restrict a, float eps, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        float ax = 0, ay = 0, az = 0;
        for (uint32_t k = 0; k < n; k++) {
            float dx = x[k] - x[i], dy = y[k] - y[i], dz = z[k] - z[i];
            float d = dx * dx + eps + dy * dy + dz * dz, s = m[k] / (__builtin_sqrtf(d) * d);
            ax += dx * s, ay += dy * s, az += dz * s;
        }
        a[i] = ax, a[n + i] = ay, a[2 * n + i] = az;
    }
}

EXPORT(v_nbody)
(const float *x, const float *y, const float *z, const float *m, float *a, float eps, uint32_t n) {
    for (uint32_t i = 0; i < n; i += 2 * W) {
        vf px[2], py[2], pz[2], ax[2] = {{0}}, ay[2] = {{0}}, az[2] = {{0}};
        for (int q = 0; q < 2; q++)
            px[q] = load(x + i + q * W), py[q] = load(y + i + q * W), pz[q] = load(z + i + q * W);
        for (uint32_t k = 0; k < n; k++)
            for (int q = 0; q < 2; q++) {
                vf dx = splat(x[k]) - px[q], dy = splat(y[k]) - py[q], dz = splat(z[k]) - pz[q];
                vf d = dx * dx + eps + dy * dy + dz * dz, s = splat(m[k]) / (root(d) * d);
                ax[q] += dx * s, ay[q] += dy * s, az[q] += dz * s;
            }
        for (int q = 0; q < 2; q++) {
            store(a + i + q * W, ax[q]);
            store(a + n + i + q * W, ay[q]);
            store(a + 2 * n + i + q * W, az[q]);
        }
    }
}

/* ---- transpose, in tiles of 16 x 16 ---- */

EXPORT(c_transpose)(const float *restrict x, float *restrict y, uint32_t w) {
    for (uint32_t r = 0; r < w; r += 16)
        for (uint32_t c = 0; c < w; c += 16)
            for (uint32_t i = c; i < c + 16; i++)
                for (uint32_t k = r; k < r + 16; k++) y[i * w + k] = x[k * w + i];
}

#define PAIR(x, y, a, b, c, d) __builtin_shufflevector(x, y, a, b, c, d)

EXPORT(v_transpose)(const float *x, float *y, uint32_t w) {
    for (uint32_t r = 0; r < w; r += 16)
        for (uint32_t c = 0; c < w; c += 16)
            for (uint32_t i = c; i < c + 16; i += W)
                for (uint32_t k = r; k < r + 16; k += W) {
                    vf p = load(x + k * w + i), q = load(x + (k + 1) * w + i),
                       s = load(x + (k + 2) * w + i), t = load(x + (k + 3) * w + i);
                    vf pq = PAIR(p, q, 0, 4, 1, 5), st = PAIR(s, t, 0, 4, 1, 5);
                    vf qp = PAIR(p, q, 2, 6, 3, 7), ts = PAIR(s, t, 2, 6, 3, 7);
                    store(y + i * w + k, PAIR(pq, st, 0, 1, 4, 5));
                    store(y + (i + 1) * w + k, PAIR(pq, st, 2, 3, 6, 7));
                    store(y + (i + 2) * w + k, PAIR(qp, ts, 0, 1, 4, 5));
                    store(y + (i + 3) * w + k, PAIR(qp, ts, 2, 3, 6, 7));
                }
}

/* ---- c = a b, sums in the order of k ---- */

EXPORT(c_matmul)(const float *restrict a, const float *restrict b, float *restrict c, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < n; k++) c[i * n + k] = 0;
        for (uint32_t t = 0; t < n; t++)
            for (uint32_t k = 0; k < n; k++) c[i * n + k] += a[i * n + t] * b[t * n + k];
    }
}

/* Two rows of four vectors at a time in registers. */
EXPORT(v_matmul)(const float *a, const float *b, float *c, uint32_t n) {
    for (uint32_t k = 0; k < n; k += 4 * W)
        for (uint32_t i = 0; i < n; i += 2) {
            vf s[2][4] = {{{0}}};
            for (uint32_t t = 0; t < n; t++)
                for (int r = 0; r < 2; r++)
                    for (int q = 0; q < 4; q++)
                        s[r][q] += splat(a[(i + r) * n + t]) * load(b + t * n + k + q * W);
            for (int r = 0; r < 2; r++)
                for (int q = 0; q < 4; q++) store(c + (i + r) * n + k + q * W, s[r][q]);
        }
}

/* ---- SHA-256 of messages of 64 bytes ---- */

#define SWAPPED(x) ((x) >> 24 | ((x) >> 8 & 0xff00u) | ((x) << 8 & 0xff0000u) | (x) << 24)
#define COMPRESS(word, hash, w)                                                            \
    {                                                                                      \
        word s[8];                                                                         \
        for (int i = 0; i < 8; i++) s[i] = hash[i];                                        \
        for (int i = 0; i < 64; i++) {                                                     \
            if (i >= 16) {                                                                 \
                word p = w[(i + 1) & 15], q = w[(i + 14) & 15];                            \
                w[i & 15] += (RIGHT(p, 7) ^ RIGHT(p, 18) ^ p >> 3) + w[(i + 9) & 15] +     \
                             (RIGHT(q, 17) ^ RIGHT(q, 19) ^ q >> 10);                      \
            }                                                                              \
            word e = s[4], a = s[0];                                                       \
            word t = s[7] + (RIGHT(e, 6) ^ RIGHT(e, 11) ^ RIGHT(e, 25)) +                  \
                     (((s[5] ^ s[6]) & e) ^ s[6]) + FRACTIONS[i] + w[i & 15];              \
            word u = (RIGHT(a, 2) ^ RIGHT(a, 13) ^ RIGHT(a, 22)) +                         \
                     ((a & s[1]) | ((a | s[1]) & s[2]));                                   \
            s[7] = s[6], s[6] = s[5], s[5] = e, s[4] = s[3] + t, s[3] = s[2], s[2] = s[1], \
            s[1] = a, s[0] = t + u;                                                        \
        }                                                                                  \
        for (int i = 0; i < 8; i++) hash[i] += s[i];                                       \
    }
#define DIGEST(word)                                 \
    COMPRESS(word, hash, w)                          \
    for (int i = 0; i < 16; i++) w[i] = w[i] ^ w[i]; \
    w[0] |= 0x80000000u, w[15] |= 512;               \
    COMPRESS(word, hash, w)

EXPORT(c_sha256)(const uint32_t *messages, uint32_t *digests, uint32_t n) {
    for (uint32_t at = 0; at < n; at++) {
        uint32_t hash[8], w[16];
        for (int i = 0; i < 8; i++) hash[i] = START[i];
        for (int i = 0; i < 16; i++) w[i] = SWAPPED(messages[at * 16 + (uint32_t)i]);
        DIGEST(uint32_t)
        for (int i = 0; i < 8; i++) digests[at * 8 + (uint32_t)i] = SWAPPED(hash[i]);
    }
}

EXPORT(v_sha256)(const uint32_t *messages, uint32_t *digests, uint32_t n) {
    for (uint32_t at = 0; at < n; at += W) {
        vu hash[8], w[16];
        for (int i = 0; i < 8; i++) hash[i] = (vu){0} + START[i];
        for (int i = 0; i < 16; i++) {
            const uint32_t *m = messages + at * 16 + i;
            w[i] = SWAPPED(((vu){m[0], m[16], m[32], m[48]}));
        }
        DIGEST(vu)
        for (int i = 0; i < 8; i++) {
            const vu x = SWAPPED(hash[i]);
            for (int l = 0; l < W; l++) digests[(at + (uint32_t)l) * 8 + (uint32_t)i] = x[l];
        }
    }
}
