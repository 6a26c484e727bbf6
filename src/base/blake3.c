/* BLAKE3, hash mode, 32 bytes of output. Written from "BLAKE3: one function, fast everywhere"
 * (O'Connor, Aumasson, Neves, Wilcox-O'Hearn, 2020), section 2. Must not know: what is hashed. */
#include "base/base.h"

#include <string.h>

enum { CHUNK_START = 1, CHUNK_END = 2, PARENT = 4, ROOT = 8 };
enum { BLOCK_BYTES = 64, CHUNK_BLOCKS = 16 };

/* The initial value is that of SHA-256 (paper, table 1). */
static const uint32_t initial[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                                    0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};

/* Row r is the message permutation of table 2 applied r times. */
static const uint8_t schedule[7][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8},
    {3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1},
    {10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6},
    {12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4},
    {9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7},
    {11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13},
};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void mix(uint32_t *v, int a, int b, int c, int d, uint32_t x, uint32_t y) {
    v[a] += v[b] + x;
    v[d] = rotate(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotate(v[b] ^ v[c], 12);
    v[a] += v[b] + y;
    v[d] = rotate(v[d] ^ v[a], 8);
    v[c] += v[d];
    v[b] = rotate(v[b] ^ v[c], 7);
}

/* Only the first half of the compression's output is ever needed: chaining values and 32 bytes of
 * output. */
static void compress(const uint32_t chaining[8], const uint32_t m[16], uint64_t counter,
                     uint32_t length, uint32_t flags, uint32_t out[8]) {
    uint32_t v[16];
    memcpy(v, chaining, 32);
    memcpy(v + 8, initial, 16);
    v[12] = (uint32_t)counter;
    v[13] = (uint32_t)(counter >> 32);
    v[14] = length;
    v[15] = flags;
    for (int r = 0; r < 7; r++) {
        const uint8_t *s = schedule[r];
        mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
        mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
        mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
        mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
        mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
        mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
        mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
        mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    for (int i = 0; i < 8; i++) out[i] = v[i] ^ v[i + 8];
}

static void load_words(const uint8_t *bytes, uint32_t m[16]) {
    for (int i = 0; i < 16; i++, bytes += 4)
        m[i] = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
               (uint32_t)bytes[3] << 24;
}

static uint32_t start_flag(const hg_blake3 *h) {
    return h->blocks_compressed == 0 ? CHUNK_START : 0;
}

void hg_blake3_init(hg_blake3 *h) {
    memset(h, 0, sizeof *h);
    memcpy(h->chaining, initial, sizeof initial);
}

/* Joins two chaining values into their parent's; out may be either input. */
static void join(const uint32_t left[8], const uint32_t right[8], uint32_t flags, uint32_t out[8]) {
    uint32_t m[16];
    memcpy(m, left, 32);
    memcpy(m + 8, right, 32);
    compress(initial, m, 0, BLOCK_BYTES, PARENT | flags, out);
}

/* The chunk is complete and not the last: a subtree is joined for every trailing zero bit of the
 * number of chunks. */
static void finish_chunk(hg_blake3 *h, uint32_t chaining[8]) {
    h->chunk++;
    for (uint64_t chunks = h->chunk; !(chunks & 1); chunks >>= 1)
        join(h->stack[--h->stack_length], chaining, 0, chaining);
    memcpy(h->stack[h->stack_length++], chaining, 32);
    memcpy(h->chaining, initial, sizeof initial);
    h->blocks_compressed = 0;
}

/* Compresses the full block; more input is known to follow, so it is not the last one. */
static void finish_block(hg_blake3 *h, const uint8_t *block) {
    uint32_t m[16];
    load_words(block, m);
    bool last_of_chunk = h->blocks_compressed == CHUNK_BLOCKS - 1;
    compress(h->chaining, m, h->chunk, BLOCK_BYTES, start_flag(h) | (last_of_chunk ? CHUNK_END : 0),
             h->chaining);
    h->blocks_compressed++;
    if (last_of_chunk) {
        uint32_t chaining[8];
        memcpy(chaining, h->chaining, sizeof chaining);
        finish_chunk(h, chaining);
    }
}

void hg_blake3_update(hg_blake3 *h, const void *bytes, size_t length) {
    const uint8_t *from = bytes;
    while (length) {
        if (h->block_length == BLOCK_BYTES) {
            finish_block(h, h->block);
            h->block_length = 0;
        }
        while (!h->block_length && length > BLOCK_BYTES) {
            finish_block(h, from);
            from += BLOCK_BYTES;
            length -= BLOCK_BYTES;
        }
        size_t take = BLOCK_BYTES - h->block_length;
        if (take > length) take = length;
        memcpy(h->block + h->block_length, from, take);
        h->block_length += (uint32_t)take;
        from += take;
        length -= take;
    }
}

void hg_blake3_final(const hg_blake3 *h, uint8_t out[32]) {
    uint8_t block[BLOCK_BYTES] = {0};
    uint32_t m[16], value[8];
    memcpy(block, h->block, h->block_length);
    load_words(block, m);
    uint32_t flags = start_flag(h) | CHUNK_END | (h->stack_length ? 0 : ROOT);
    compress(h->chaining, m, h->chunk, h->block_length, flags, value);
    for (uint32_t i = h->stack_length; i-- > 0;) join(h->stack[i], value, i ? 0 : ROOT, value);
    for (int i = 0; i < 32; i++) out[i] = (uint8_t)(value[i / 4] >> (8 * (i % 4)));
}
