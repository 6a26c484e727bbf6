/* Inflate, written from RFC 1951. One lookup table a code, as wide as its longest code word. Must
 * not know: containers. */
#include "base/fork.h"
#include "io/io.h"
#include "io/packed.h"

#include <string.h>

enum {
    LITERALS = 288,
    DISTANCES = 30,
    LENGTH_CODES = 19,
    MOST_BITS = 15,
    END_OF_BLOCK = 256,
    FIRST_LENGTH = 257
};

/* entry[next bits of the stream] = symbol << 4 | length of its code word; 0: no code word. */
typedef struct code {
    uint16_t entry[1 << MOST_BITS];
    uint32_t bits;
} code;

typedef struct inflater {
    const uint8_t *in;
    uint64_t in_left;
    uint8_t *out;
    uint64_t used, room;
    uint64_t buffer; /* bits read ahead, the next one lowest */
    uint32_t held;
    code literal, distance;
} inflater;

/* At least 48 bits, or all that are left. */
static void refill(inflater *s) {
    while (s->held <= 56 && s->in_left) {
        s->buffer |= (uint64_t)*s->in++ << s->held;
        s->held += 8;
        s->in_left--;
    }
}

static bool read_bits(inflater *s, uint32_t n, uint32_t *value) {
    if (s->held < n) refill(s);
    if (s->held < n) return false;
    *value = (uint32_t)(s->buffer & ((UINT64_C(1) << n) - 1));
    s->buffer >>= n;
    s->held -= n;
    return true;
}

static bool read_symbol(inflater *s, const code *c, uint32_t *symbol) {
    if (s->held < MOST_BITS) refill(s);
    uint16_t entry = c->entry[s->buffer & ((1u << c->bits) - 1)];
    uint32_t length = entry & 15u;
    if (!length || length > s->held) return false;
    s->buffer >>= length;
    s->held -= length;
    *symbol = entry >> 4;
    return true;
}

static uint32_t reverse(uint32_t word, uint32_t bits) {
    uint32_t r = 0;
    for (uint32_t i = 0; i < bits; i++) r |= (word >> i & 1u) << (bits - 1 - i);
    return r;
}

/* Canonical code of section 3.2.2. A code must be complete, but for the one or no code words that a
 * distance code may have. */
static bool make_code(code *c, const uint8_t *lengths, uint32_t symbols) {
    uint32_t count[MOST_BITS + 1] = {0}, next[MOST_BITS + 2] = {0}, used = 0;
    for (uint32_t i = 0; i < symbols; i++) count[lengths[i]]++;
    count[0] = 0;
    c->bits = 1;
    int64_t left = 1;
    for (uint32_t bits = 1; bits <= MOST_BITS; bits++) {
        left = left * 2 - count[bits];
        if (left < 0) return false;
        next[bits + 1] = (next[bits] + count[bits]) << 1;
        used += count[bits];
        if (count[bits]) c->bits = bits;
    }
    if (left > 0 && !(used == 0 || (used == 1 && c->bits == 1))) return false;
    memset(c->entry, 0, sizeof(uint16_t) << c->bits);
    for (uint32_t i = 0; i < symbols; i++) {
        uint32_t length = lengths[i];
        if (!length) continue;
        for (uint32_t at = reverse(next[length]++, length); at < 1u << c->bits; at += 1u << length)
            c->entry[at] = (uint16_t)(i << 4 | length);
    }
    return true;
}

static bool make_fixed_codes(inflater *s) {
    uint8_t lengths[LITERALS];
    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    if (!make_code(&s->literal, lengths, LITERALS)) return false;
    memset(lengths, 5, 32); /* 30 and 31 are part of the code but never valid */
    return make_code(&s->distance, lengths, 32);
}

static bool read_code_lengths(inflater *s, uint32_t wanted, uint8_t *lengths) {
    for (uint32_t i = 0; i < wanted;) {
        uint32_t symbol, repeat = 1;
        uint8_t value = 0;
        if (!read_symbol(s, &s->literal, &symbol)) return false;
        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        if (!read_bits(s, symbol == 16 ? 2 : symbol == 17 ? 3 : 7, &repeat)) return false;
        repeat += symbol == 18 ? 11 : 3;
        if (symbol == 16) {
            if (!i) return false;
            value = lengths[i - 1];
        }
        if (repeat > wanted - i) return false;
        memset(lengths + i, value, repeat);
        i += repeat;
    }
    return true;
}

static bool read_codes(inflater *s) {
    static const uint8_t order[LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[LITERALS + 32] = {0};
    uint32_t literals, distances, codes, n;
    if (!read_bits(s, 5, &literals) || !read_bits(s, 5, &distances) || !read_bits(s, 4, &codes))
        return false;
    literals += 257;
    distances += 1;
    if (literals > 286 || distances > DISTANCES) return false;
    for (uint32_t i = 0; i < codes + 4; i++) {
        if (!read_bits(s, 3, &n)) return false;
        lengths[order[i]] = (uint8_t)n;
    }
    if (!make_code(&s->literal, lengths, LENGTH_CODES))
        return false; /* borrowed for the code lengths */
    memset(lengths, 0, sizeof lengths);
    if (!read_code_lengths(s, literals + distances, lengths) || !lengths[END_OF_BLOCK])
        return false;
    return make_code(&s->literal, lengths, literals) &&
           make_code(&s->distance, lengths + literals, distances);
}

static bool copy_match(inflater *s, uint32_t symbol) {
    static const uint16_t length_base[29] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                             15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                             67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                            2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t distance_base[DISTANCES] = {
        1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
        193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    static const uint8_t distance_bits[DISTANCES] = {0, 0, 0,  0,  1,  1,  2,  2,  3,  3,
                                                     4, 4, 5,  5,  6,  6,  7,  7,  8,  8,
                                                     9, 9, 10, 10, 11, 11, 12, 12, 13, 13};
    uint32_t extra, which;
    if (symbol - FIRST_LENGTH >= 29 || !read_bits(s, length_bits[symbol - FIRST_LENGTH], &extra))
        return false;
    uint64_t length = length_base[symbol - FIRST_LENGTH] + (uint64_t)extra;
    if (!read_symbol(s, &s->distance, &which) || which >= DISTANCES ||
        !read_bits(s, distance_bits[which], &extra))
        return false;
    uint64_t distance = distance_base[which] + (uint64_t)extra;
    if (distance > s->used || length > s->room - s->used) return false;
    uint8_t *to = s->out + s->used;
    const uint8_t *from = to - distance;
    for (uint64_t i = 0; i < length; i++) to[i] = from[i]; /* may overlap: then it repeats */
    s->used += length;
    return true;
}

static bool inflate_block(inflater *s) {
    for (;;) {
        uint32_t symbol;
        if (!read_symbol(s, &s->literal, &symbol)) return false;
        if (symbol == END_OF_BLOCK) return true;
        if (symbol > END_OF_BLOCK) {
            if (!copy_match(s, symbol)) return false;
            continue;
        }
        if (s->used == s->room) return false;
        s->out[s->used++] = (uint8_t)symbol;
    }
}

static bool copy_stored(inflater *s) {
    uint32_t length, check, unused;
    if (!read_bits(s, s->held % 8, &unused) || !read_bits(s, 16, &length) ||
        !read_bits(s, 16, &check))
        return false;
    if (length != (check ^ 0xFFFF) || length > s->room - s->used) return false;
    for (; length && s->held; length--) { /* what was read ahead */
        s->out[s->used++] = (uint8_t)s->buffer;
        s->buffer >>= 8;
        s->held -= 8;
    }
    if (length > s->in_left) return false;
    memcpy(s->out + s->used, s->in, length);
    s->in += length;
    s->in_left -= length;
    s->used += length;
    return true;
}

static void start(inflater *s, const uint8_t *in, uint64_t in_length, uint8_t *out, uint64_t room) {
    s->in = in;
    s->in_left = in_length;
    s->out = out;
    s->used = 0;
    s->room = room;
    s->buffer = 0;
    s->held = 0;
}

static bool inflate_all(inflater *s) {
    uint32_t last = 0, kind;
    while (!last) {
        if (!read_bits(s, 1, &last) || !read_bits(s, 2, &kind)) return false;
        bool done = kind == 0   ? copy_stored(s)
                    : kind == 1 ? make_fixed_codes(s) && inflate_block(s)
                    : kind == 2 ? read_codes(s) && inflate_block(s)
                                : false;
        if (!done) return false;
    }
    return s->used == s->room;
}

bool hg_inflate(const uint8_t *in, uint64_t in_length, uint8_t *out, uint64_t out_length,
                bool *memory_failed) {
    inflater *s = hg_alloc(sizeof *s); /* 128 KiB of tables: too much for a stack */
    *memory_failed = !s;
    if (!s) return false;
    start(s, in, in_length, out, out_length);
    bool done = inflate_all(s);
    hg_free(s);
    return done;
}

static hg_mutex texts = HG_MUTEX_INIT;
static void keep_over_forks(void) {
    static hg_fork_lock lock = {.mutex = &texts};
    hg_fork_add(&lock, HG_FORK_TEXT);
}

const char *hg_unpacked(hg_packed *packed) {
    static hg_once_flag once = HG_ONCE_INIT;
    static inflater s; /* not allocated: nobody who asks has to expect a failure */
    hg_once(&once, keep_over_forks);
    hg_mutex_lock(&texts);
    if (!packed->done) {
        start(&s, packed->data, packed->data_length, (uint8_t *)packed->text, packed->length);
        packed->done = inflate_all(&s);
    }
    hg_mutex_unlock(&texts);
    return packed->text;
}
