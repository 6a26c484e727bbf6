/* SHA-256 of messages of 64 bytes, W of them side by side. Units are messages. */
#include "../sha256.h"
#include "vectors.h"

#define COMPRESS(word)                                                                             \
    word s[8];                                                                                     \
    memcpy(s, hash, sizeof s);                                                                     \
    for (int i = 0; i < 64; i++) {                                                                 \
        if (i >= 16) {                                                                             \
            word p = w[(i + 1) & 15], q = w[(i + 14) & 15];                                        \
            w[i & 15] += (RIGHT(p, 7) ^ RIGHT(p, 18) ^ p >> 3) + w[(i + 9) & 15] +                 \
                         (RIGHT(q, 17) ^ RIGHT(q, 19) ^ q >> 10);                                  \
        }                                                                                          \
        word e = s[4], a = s[0];                                                                   \
        word t = s[7] + (RIGHT(e, 6) ^ RIGHT(e, 11) ^ RIGHT(e, 25)) +                              \
                 (((s[5] ^ s[6]) & e) ^ s[6]) + FRACTIONS[i] + w[i & 15];                          \
        word u = (RIGHT(a, 2) ^ RIGHT(a, 13) ^ RIGHT(a, 22)) + ((a & s[1]) | ((a | s[1]) & s[2])); \
        s[7] = s[6], s[6] = s[5], s[5] = e, s[4] = s[3] + t, s[3] = s[2], s[2] = s[1], s[1] = a,   \
        s[0] = t + u;                                                                              \
    }                                                                                              \
    for (int i = 0; i < 8; i++) hash[i] += s[i];

static inline void compress_vectors(vu *hash, vu *w) { COMPRESS(vu) }

static inline void compress_words(uint32_t *hash, uint32_t *w) { COMPRESS(uint32_t) }

static inline vu turned(vu x) {
    return x >> 24 | (x >> 8 & 0xff00u) | (x << 8 & 0xff0000u) | x << 24;
}

void v_sha256(const peer_job *j, uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; at += W) {
        const uint32_t *m = (const uint32_t *)j->buffer[0] + at * 16;
        uint32_t *to = (uint32_t *)j->buffer[1] + at * 8;
        vu hash[8], w[16];
        for (int i = 0; i < 8; i++) hash[i] = (vu){0} + START[i];
        for (int i = 0; i < 16; i++) {
            for (int l = 0; l < W; l++) w[i][l] = m[l * 16 + i];
            w[i] = turned(w[i]);
        }
        compress_vectors(hash, w);
        memset(w, 0, sizeof w);
        w[0] = (vu){0} + 0x80000000u;
        w[15] = (vu){0} + 512u;
        compress_vectors(hash, w);
        for (int i = 0; i < 8; i++) {
            vu x = turned(hash[i]);
            for (int l = 0; l < W; l++) to[l * 8 + i] = x[l];
        }
    }
}

void c_sha256(const peer_job *j, uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; at++) {
        const uint32_t *m = (const uint32_t *)j->buffer[0] + at * 16;
        uint32_t hash[8], w[16];
        memcpy(hash, START, sizeof hash);
        for (int i = 0; i < 16; i++) w[i] = __builtin_bswap32(m[i]);
        compress_words(hash, w);
        memset(w, 0, sizeof w);
        w[0] = 0x80000000u, w[15] = 512;
        compress_words(hash, w);
        for (int i = 0; i < 8; i++)
            ((uint32_t *)j->buffer[1])[at * 8 + (unsigned)i] = __builtin_bswap32(hash[i]);
    }
}
