/* Works with loops and branches of each element, scalar (c_…) and by vectors (v_…), the same
 * operations in the same order: equal bits. */
#include "vectors.h"
#include <math.h>

#define F(i) ((float *)j->buffer[i])
#define K(i) ((float)j->real[i])
#define WORK(name) void name(const peer_job *restrict j, uint64_t begin, uint64_t end)

/* ---- Mandelbrot: units are rows of a picture number[0] wide, a step of real[0] apart ---- */

WORK(c_mandelbrot) {
    uint64_t w = j->number[0];
    float step = K(0);
    for (uint64_t r = begin; r < end; r++)
        for (uint64_t i = 0; i < w; i++) {
            float cx = (float)(uint32_t)i * step - 2.0f, cy = (float)(uint32_t)r * step - 1.5f,
                  x = 0, y = 0;
            uint32_t n = 0;
            do {
                float xx = x * x, yy = y * y, xy;
                if (xx + yy > 4.0f) break;
                xy = x * y;
                x = xx - yy + cx;
                y = xy + xy + cy;
            } while (++n < 256);
            ((uint32_t *)j->buffer[0])[r * w + i] = n;
        }
}

WORK(v_mandelbrot) {
    uint64_t w = j->number[0];
    float step = K(0);
    vf four = splat(4.0f);
    for (uint64_t r = begin; r < end; r++) {
        vf cy = splat((float)(uint32_t)r * step - 1.5f);
        for (uint64_t i = 0; i < w; i += 2 * W) {
            vf cx0 = floats_of(IOTA + (int32_t)i) * step - 2.0f,
               cx1 = floats_of(IOTA + (int32_t)(i + W)) * step - 2.0f;
            vf x0 = {0}, y0 = {0}, x1 = {0}, y1 = {0};
            vi n0 = {0}, n1 = {0};
            mask m0 = all_lanes(), m1 = all_lanes();
            for (int k = 0; k < 256; k++) {
                vf a0 = x0 * x0, b0 = y0 * y0, a1 = x1 * x1, b1 = y1 * y1, t0 = x0 * y0,
                   t1 = x1 * y1;
                m0 &= no_more(a0 + b0, four);
                m1 &= no_more(a1 + b1, four);
                if (!any(m0 | m1)) break;
                x0 = a0 - b0 + cx0;
                x1 = a1 - b1 + cx1;
                y0 = t0 + t0 + cy;
                y1 = t1 + t1 + cy;
                n0 = count_one(n0, m0);
                n1 = count_one(n1, m1);
            }
            store_words((uint32_t *)j->buffer[0] + r * w + i, (vu)n0);
            store_words((uint32_t *)j->buffer[0] + r * w + i + W, (vu)n1);
        }
    }
}

/* ---- n bodies: x, y, z, mass, accelerations one behind the other; number[0] of them ---- */

WORK(c_nbody) {
    uint64_t n = j->number[0];
    const float *restrict x = F(0), *restrict y = F(1), *restrict z = F(2), *restrict m = F(3);
    float *restrict a = F(4), eps = K(0);
    for (uint64_t i = begin; i < end; i++) {
        float ax = 0, ay = 0, az = 0;
        for (uint64_t k = 0; k < n; k++) {
            float dx = x[k] - x[i], dy = y[k] - y[i], dz = z[k] - z[i];
            float d = dx * dx + eps + dy * dy + dz * dz, s = m[k] / (sqrtf(d) * d);
            ax += dx * s, ay += dy * s, az += dz * s;
        }
        a[i] = ax, a[n + i] = ay, a[2 * n + i] = az;
    }
}

WORK(v_nbody) {
    uint64_t n = j->number[0];
    const float *x = F(0), *y = F(1), *z = F(2), *m = F(3);
    float *a = F(4), eps = K(0);
    for (uint64_t i = begin; i < end; i += 2 * W) {
        vf px[2], py[2], pz[2], ax[2] = {{0}}, ay[2] = {{0}}, az[2] = {{0}};
        for (int q = 0; q < 2; q++)
            px[q] = load(x + i + q * W), py[q] = load(y + i + q * W), pz[q] = load(z + i + q * W);
        for (uint64_t k = 0; k < n; k++) {
            vf xk = splat(x[k]), yk = splat(y[k]), zk = splat(z[k]), mk = splat(m[k]);
            for (int q = 0; q < 2; q++) {
                vf dx = xk - px[q], dy = yk - py[q], dz = zk - pz[q];
                vf d = dx * dx + eps + dy * dy + dz * dz, s = mk / (root(d) * d);
                ax[q] += dx * s, ay[q] += dy * s, az[q] += dz * s;
            }
        }
        for (int q = 0; q < 2; q++) {
            store(a + i + q * W, ax[q]);
            store(a + n + i + q * W, ay[q]);
            store(a + 2 * n + i + q * W, az[q]);
        }
    }
}

/* ---- rays from the origin and number[0] spheres: nearest distance and which ---- */

WORK(c_spheres) {
    const float *dx = F(0), *dy = F(1), *dz = F(2), *s = F(3);
    float *near = F(4);
    uint32_t *which = j->buffer[5];
    uint64_t n = j->number[0];
    for (uint64_t i = begin; i < end; i++) {
        float best = 1e30f;
        uint32_t hit = UINT32_MAX;
        for (uint64_t k = 0; k < n; k++) {
            float b = dx[i] * s[4 * k] + dy[i] * s[4 * k + 1] + dz[i] * s[4 * k + 2],
                  disc = b * b - s[4 * k + 3];
            if (disc > 0.0f) {
                float t = b - sqrtf(disc);
                if (t > 0.001f && t < best) best = t, hit = (uint32_t)k;
            }
        }
        near[i] = best, which[i] = hit;
    }
}

WORK(v_spheres) {
    const float *dx = F(0), *dy = F(1), *dz = F(2), *s = F(3);
    uint64_t n = j->number[0];
    for (uint64_t i = begin; i < end; i += W) {
        vf x = load(dx + i), y = load(dy + i), z = load(dz + i), best = splat(1e30f),
           zero = splat(0), least = splat(0.001f);
        vu hit = ~(vu){0};
        for (uint64_t k = 0; k < n; k++) {
            vf b = x * s[4 * k] + y * s[4 * k + 1] + z * s[4 * k + 2], disc = b * b - s[4 * k + 3];
            mask in = less(zero, disc);
            if (!any(in)) continue;
            vf t = b - root(disc);
            in &= less(least, t) & less(t, best);
            best = blend(in, t, best);
            hit = blend_words(in, (vu){0} + (uint32_t)k, hit);
        }
        store(F(4) + i, best);
        store_words((uint32_t *)j->buffer[5] + i, hit);
    }
}

/* ---- where a text of bytes has a word of number[0] bytes: 1 and 0 ---- */

WORK(c_search) {
    const uint8_t *text = j->buffer[0], *word = j->buffer[1];
    uint8_t *found = j->buffer[2];
    uint64_t n = j->number[0];
    for (uint64_t i = begin; i < end; i++) {
        uint64_t k = 0;
        while (k < n && text[i + k] == word[k]) k++;
        found[i] = k == n;
    }
}

WORK(v_search) {
    typedef uint8_t vb __attribute__((vector_size(32)));
    typedef uint8_t vb_any __attribute__((vector_size(32), aligned(1), may_alias));
    const uint8_t *text = j->buffer[0], *word = j->buffer[1];
    uint8_t *found = j->buffer[2];
    for (uint64_t i = begin; i < end; i += 32) {
        vb same = (vb)(*(const vb_any *)(text + i) == word[0]);
        for (uint64_t k = 1; k < j->number[0] && !_mm256_testz_si256((__m256i)same, (__m256i)same);
             k++)
            same &= (vb)(*(const vb_any *)(text + i + k) == word[k]);
        *(vb_any *)(found + i) = same & 1;
    }
}

/* ---- transpose of number[0] squared: units are bands of 16 rows of x ---- */

WORK(c_transpose) {
    uint64_t w = j->number[0];
    const float *restrict x = F(0);
    float *restrict y = F(1);
    for (uint64_t r = begin * 16; r < end * 16; r += 16)
        for (uint64_t c = 0; c < w; c += 16)
            for (uint64_t i = c; i < c + 16; i++)
                for (uint64_t k = r; k < r + 16; k++) y[i * w + k] = x[k * w + i];
}

static inline void turn_8x8(const float *from, uint64_t pitch, float *to) {
    __m256 r[8], a[8];
    for (int k = 0; k < 8; k++) r[k] = _mm256_loadu_ps(from + (uint64_t)k * pitch);
    for (int k = 0; k < 8; k += 2)
        a[k] = _mm256_unpacklo_ps(r[k], r[k + 1]), a[k + 1] = _mm256_unpackhi_ps(r[k], r[k + 1]);
    for (int k = 0; k < 8; k += 4) {
        r[k] = _mm256_shuffle_ps(a[k], a[k + 2], 0x44),
        r[k + 1] = _mm256_shuffle_ps(a[k], a[k + 2], 0xee);
        r[k + 2] = _mm256_shuffle_ps(a[k + 1], a[k + 3], 0x44),
              r[k + 3] = _mm256_shuffle_ps(a[k + 1], a[k + 3], 0xee);
    }
    for (int k = 0; k < 4; k++) {
        _mm256_store_ps(to + k * 16, _mm256_permute2f128_ps(r[k], r[k + 4], 0x20));
        _mm256_store_ps(to + (k + 4) * 16, _mm256_permute2f128_ps(r[k], r[k + 4], 0x31));
    }
}

/* Nets of 8 x 8 into a tile; each line of the result is written whole. */
WORK(v_transpose) {
    uint64_t w = j->number[0];
    for (uint64_t r = begin * 16; r < end * 16; r += 16)
        for (uint64_t c = 0; c < w; c += 16) {
            float tile[256] __attribute__((aligned(64)));
            for (unsigned i = 0; i < 16; i += 8)
                for (unsigned k = 0; k < 16; k += 8)
                    turn_8x8(F(0) + (r + k) * w + c + i, w, tile + i * 16 + k);
            for (unsigned i = 0; i < 16; i++)
                for (unsigned k = 0; k < 16; k += W)
                    store(F(1) + (c + i) * w + r + k, load(tile + i * 16 + k));
        }
}

/* ---- c = a b, squares of number[0]; sums in the order of k by fused steps: equal bits ---- */

WORK(c_matmul) { /* units are rows */
    uint64_t n = j->number[0];
    const float *restrict a = F(0), *restrict b = F(1);
    float *restrict c = F(2);
    for (uint64_t i = begin; i < end; i++)
        for (uint64_t k = 0; k < n; k++) {
            float s = 0;
            for (uint64_t t = 0; t < n; t++) s = fmaf(a[i * n + t], b[t * n + k], s);
            c[i * n + k] = s;
        }
}

/* The same loops, the columns by vectors. */
WORK(v_matmul_loops) {
    uint64_t n = j->number[0];
    const float *a = F(0), *b = F(1);
    for (uint64_t i = begin; i < end; i++)
        for (uint64_t k = 0; k < n; k += 4 * W) {
            vf s[4] = {{0}};
            for (uint64_t t = 0; t < n; t++)
                for (int q = 0; q < 4; q++)
                    s[q] = fused(splat(a[i * n + t]), load(b + t * n + k + q * W), s[q]);
            for (int q = 0; q < 4; q++) store(F(2) + i * n + k + q * W, s[q]);
        }
}

/* Units are panels of two vectors of columns, which are copied together first; six rows at a time
 * in registers. */
WORK(v_matmul) {
    uint64_t n = j->number[0];
    const float *a = F(0), *b = F(1);
    static __thread float panel[2048 * 2 * W] __attribute__((aligned(64)));
    for (uint64_t k = begin * 2 * W; k < end * 2 * W; k += 2 * W) {
        for (uint64_t t = 0; t < n; t++)
            for (int q = 0; q < 2; q++)
                store(panel + (t * 2 + (unsigned)q) * W, load(b + t * n + k + q * W));
        for (uint64_t i = 0; i < n; i += 6) {
            uint64_t rows = n - i < 6 ? n - i : 6;
            vf s[6][2] = {{{0}}};
            if (rows == 6)
                for (uint64_t t = 0; t < n; t++) {
                    vf p = load(panel + t * 2 * W), q = load(panel + t * 2 * W + W);
                    for (int r = 0; r < 6; r++) {
                        vf x = splat(a[(i + (unsigned)r) * n + t]);
                        s[r][0] = fused(x, p, s[r][0]), s[r][1] = fused(x, q, s[r][1]);
                    }
                }
            else
                for (uint64_t r = 0; r < rows; r++)
                    for (uint64_t t = 0; t < n; t++)
                        for (int q = 0; q < 2; q++)
                            s[r][q] = fused(splat(a[(i + r) * n + t]),
                                            load(panel + (t * 2 + (unsigned)q) * W), s[r][q]);
            for (uint64_t r = 0; r < rows; r++)
                for (int q = 0; q < 2; q++) store(F(2) + (i + r) * n + k + q * W, s[r][q]);
        }
    }
}
