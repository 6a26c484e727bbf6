/* Elementwise works, by loops that a compiler vectorises (c_…) and by vectors (v_…). Units are
 * elements. */
#include "vectors.h"

#define F(i) ((float *)j->buffer[i])
#define K(i) ((float)j->real[i])
#define WORK(name) void name(const peer_job *restrict j, uint64_t begin, uint64_t end)

WORK(c_add) {
    const float *restrict a = F(0), *restrict b = F(1);
    float *restrict c = F(2);
    for (uint64_t i = begin; i < end; i++) c[i] = a[i] + b[i];
}

WORK(c_mul) {
    const float *restrict a = F(0), *restrict b = F(1);
    float *restrict c = F(2);
    for (uint64_t i = begin; i < end; i++) c[i] = a[i] * b[i];
}

WORK(c_relu) {
    const float *restrict a = F(0);
    float *restrict c = F(1);
    for (uint64_t i = begin; i < end; i++) c[i] = a[i] > 0.0f ? a[i] : 0.0f;
}

WORK(c_triad) {
    const float *restrict a = F(0), *restrict b = F(1);
    float *restrict c = F(2), k = K(0);
    for (uint64_t i = begin; i < end; i++) c[i] = a[i] + b[i] * k;
}

/* Four vectors a turn, then one, then elements. */
#define VECTORS(vector, element)                                    \
    uint64_t i = begin;                                             \
    for (; i + 4 * W <= end; i += 4 * W) {                          \
        vector(i) vector(i + W) vector(i + 2 * W) vector(i + 3 * W) \
    }                                                               \
    for (; i + W <= end; i += W) { vector(i) }                      \
    for (; i < end; i++) { element }

WORK(v_add) {
    const float *a = F(0), *b = F(1);
    float *c = F(2);
#define V(i) store(c + (i), load(a + (i)) + load(b + (i)));
    VECTORS(V, c[i] = a[i] + b[i];)
#undef V
}

WORK(v_mul) {
    const float *a = F(0), *b = F(1);
    float *c = F(2);
#define V(i) store(c + (i), load(a + (i)) * load(b + (i)));
    VECTORS(V, c[i] = a[i] * b[i];)
#undef V
}

WORK(v_relu) {
    const float *a = F(0);
    float *c = F(1);
#define V(i)                                                   \
    {                                                          \
        vf x = load(a + (i));                                  \
        store(c + (i), blend(less(splat(0), x), x, splat(0))); \
    }
    VECTORS(V, c[i] = a[i] > 0.0f ? a[i] : 0.0f;)
#undef V
}

WORK(v_triad) {
    const float *a = F(0), *b = F(1);
    float *c = F(2), k = K(0);
#define V(i) store(c + (i), load(a + (i)) + load(b + (i)) * k);
    VECTORS(V, c[i] = a[i] + b[i] * k;)
#undef V
}

/* Results go past the caches: for arrays that do not fit in them. Arrays are aligned. */
#define PAST(name, expression)                           \
    WORK(name) {                                         \
        const float *a = F(0), *b = F(j->number[0]);     \
        float *c = F(j->number[1]), k = K(0);            \
        (void)b, (void)k;                                \
        for (uint64_t i = begin; i + W <= end; i += W) { \
            vf x = load(a + i), zero = splat(0);         \
            (void)zero;                                  \
            store_past(c + i, expression);               \
        }                                                \
        _mm_sfence();                                    \
    }
PAST(v_add_past, x + load(b + i))
PAST(v_mul_past, x *load(b + i))
PAST(v_relu_past, blend(less(zero, x), x, zero))
PAST(v_triad_past, x + load(b + i) * k)

/* Eight operations on each element; a and b are two numbers, or two arrays. */
#define EIGHT(v, a, b) (((((((((v) * (a)) + (b)) * (a)) - (b)) * (a)) + (b)) * (a)) + (b))
#define STEADY(v, a, b) (((((((((v) * (a)) + (b)) * (a)) + (b)) * (a)) + (b)) * (a)) + (b))

WORK(c_chain) {
    const float *restrict x = F(0);
    float *restrict y = F(1), a = K(0), b = K(1);
    for (uint64_t i = begin; i < end; i++) y[i] = EIGHT(x[i], a, b);
}

WORK(v_chain) {
    const float *x = F(0);
    float *y = F(1), a = K(0), b = K(1);
#define V(i) store(y + (i), EIGHT(load(x + (i)), a, b));
    VECTORS(V, y[i] = EIGHT(x[i], a, b);)
#undef V
}

WORK(v_chain_past) {
    const float *x = F(0);
    float *y = F(1), a = K(0), b = K(1);
    for (uint64_t i = begin; i + W <= end; i += W) store_past(y + i, EIGHT(load(x + i), a, b));
    _mm_sfence();
}

WORK(c_chain_arrays) {
    float *restrict x = F(0);
    const float *restrict a = F(1), *restrict b = F(2);
    for (uint64_t i = begin; i < end; i++) x[i] = STEADY(x[i], a[i], b[i]);
}

WORK(v_chain_arrays) {
    float *x = F(0);
    const float *a = F(1), *b = F(2);
#define V(i)                                         \
    {                                                \
        vf p = load(a + (i)), q = load(b + (i));     \
        store(x + (i), STEADY(load(x + (i)), p, q)); \
    }
    VECTORS(V, x[i] = STEADY(x[i], a[i], b[i]);)
#undef V
}

/* Five points: row `unit` of a picture with an edge of one element on all sides; number[0] is its
 * width inside. */
#define FIVE(load, p) \
    (load(p) * c + (((load((p)-pitch) + load((p) + pitch)) + load((p)-1)) + load((p) + 1)) * d)
WORK(c_stencil) {
    uint64_t w = j->number[0], pitch = w + 2;
    float c = K(0), d = K(1);
    for (uint64_t r = begin; r < end; r++) {
        const float *restrict x = F(0) + (r + 1) * pitch + 1;
        float *restrict y = F(1) + r * w;
#define AT(p) (*(p))
        for (uint64_t i = 0; i < w; i++) y[i] = FIVE(AT, x + i);
    }
}

WORK(v_stencil) {
    uint64_t w = j->number[0], pitch = w + 2;
    float c = K(0), d = K(1);
    for (uint64_t r = begin; r < end; r++) {
        const float *x = F(0) + (r + 1) * pitch + 1;
        float *y = F(1) + r * w;
        uint64_t i = 0;
        for (; i + 2 * W <= w; i += 2 * W) {
            store(y + i, FIVE(load, x + i));
            store(y + i + W, FIVE(load, x + i + W));
        }
        for (; i < w; i++) y[i] = FIVE(AT, x + i);
    }
}

/* Counts of the low bytes. */
WORK(c_histogram) {
    const uint32_t *x = j->buffer[0];
    uint32_t *y = j->buffer[1], h[256] = {0};
    for (uint64_t i = begin; i < end; i++) h[x[i] & 255]++;
    for (int k = 0; k < 256; k++) __atomic_fetch_add(&y[k], h[k], __ATOMIC_RELAXED);
}

/* Lane l counts in copy l: equal numbers in a row do not wait for each other. */
WORK(v_histogram) {
    const uint32_t *x = j->buffer[0];
    uint32_t *y = j->buffer[1], h[8][256] = {{0}};
    uint64_t i = begin;
    for (; i + 8 <= end; i += 8) {
        h[0][x[i] & 255]++, h[1][x[i + 1] & 255]++, h[2][x[i + 2] & 255]++, h[3][x[i + 3] & 255]++;
        h[4][x[i + 4] & 255]++, h[5][x[i + 5] & 255]++, h[6][x[i + 6] & 255]++,
            h[7][x[i + 7] & 255]++;
    }
    for (; i < end; i++) h[0][x[i] & 255]++;
    for (int k = 0; k < 256; k++)
        __atomic_fetch_add(
            &y[k], h[0][k] + h[1][k] + h[2][k] + h[3][k] + h[4][k] + h[5][k] + h[6][k] + h[7][k],
            __ATOMIC_RELAXED);
}

/* Exclusive sums of all. One thread. */
WORK(c_scan_words) {
    const uint32_t *x = j->buffer[0];
    uint32_t *y = j->buffer[1], sum = 0;
    for (uint64_t i = begin; i < end; i++) y[i] = sum, sum += x[i];
}

WORK(c_scan_floats) {
    const float *x = F(0);
    float *y = F(1), sum = 0;
    for (uint64_t i = begin; i < end; i++) {
        if (i % 1024 == 0) sum = 0;
        y[i] = sum += x[i];
    }
}

WORK(c_scan_blocks) {
    const uint32_t *x = j->buffer[0];
    uint32_t *y = j->buffer[1], sum = 0;
    for (uint64_t i = begin; i < end; i++) {
        if (i % 1024 == 0) sum = 0;
        y[i] = sum += x[i];
    }
}

/* Inclusive sums within blocks of 1,024, by the tree that lanes with barriers make: ten steps, each
 * over the whole block. Units are blocks. */
#define TREE(type, vector, load, store)                                              \
    for (uint64_t block = begin; block < end; block++) {                             \
        type room[2][1024] __attribute__((aligned(64)));                             \
        const type *in = (const type *)j->buffer[0] + block * 1024;                  \
        for (unsigned turn = 0, d = 1; d < 1024; d *= 2, turn ^= 1) {                \
            type *out = d == 512 ? (type *)j->buffer[1] + block * 1024 : room[turn]; \
            unsigned i = d;                                                          \
            memcpy(out, in, d * sizeof *in);                                         \
            for (; i + 2 * W <= 1024; i += 2 * W) {                                  \
                vector p = load(in + i) + load(in + i - d),                          \
                       q = load(in + i + W) + load(in + i + W - d);                  \
                store(out + i, p);                                                   \
                store(out + i + W, q);                                               \
            }                                                                        \
            for (; i < 1024; i++) out[i] = in[i] + in[i - d];                        \
            in = out;                                                                \
        }                                                                            \
    }
WORK(v_scan_words){TREE(uint32_t, vu, load_words, store_words)} WORK(v_scan_floats) {
    TREE(float, vf, load, store)
}
