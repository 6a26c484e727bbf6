/* Products and quotients of GMP: number[0] words each. Units are numbers. */
#include "peers.h"
#include <gmp.h>
#include <string.h>

enum { WORDS = 64 };

void c_wide_mul(const peer_job *j, uint64_t begin, uint64_t end) {
    uint64_t words = j->number[0];
    for (uint64_t i = begin; i < end; i++) {
        mp_limb_t whole[2 * WORDS];
        mpn_mul_n(whole, (const mp_limb_t *)j->buffer[0] + i * words,
                  (const mp_limb_t *)j->buffer[1] + i * words, (mp_size_t)words);
        memcpy((mp_limb_t *)j->buffer[2] + i * words, whole, words * 8);
    }
}

void c_wide_div(const peer_job *j, uint64_t begin, uint64_t end) {
    uint64_t words = j->number[0];
    for (uint64_t i = begin; i < end; i++) {
        const mp_limb_t *b = (const mp_limb_t *)j->buffer[1] + i * words;
        mp_limb_t rest[WORDS], *out = (mp_limb_t *)j->buffer[2] + i * words;
        mp_size_t used = (mp_size_t)words;
        while (used > 1 && b[used - 1] == 0) used--;
        memset(out, 0, words * 8);
        mpn_tdiv_qr(out, rest, 0, (const mp_limb_t *)j->buffer[0] + i * words, (mp_size_t)words, b,
                    used);
    }
}
