/* SHA-256 of messages of 64 bytes, W of them side by side. Units are messages. */
#include "vectors.h"

static const uint32_t FRACTIONS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
static const uint32_t START[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

#define RIGHT(x, n) ((x) >> (n) | (x) << (32 - (n)))
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
