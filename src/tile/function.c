/* A function of handlers.h on n lanes: whole turns, and lanes that are left. */
#include "tile/handlers.h"
#include <string.h>

enum {
    BLOCK = 256, /* lanes that are done again where one of them needs a rare branch */
    FEW = 4      /* fewer are sooner done one by one than as a turn */
};

/* d where f is exact at once; where a lane needs a rare branch, all of them again. A result may lie
 * where an operand does, so that what may be done again goes to a block first. */
static void turns(char *d, const char *const *in, uint64_t n, const tile_function *f) {
    _Alignas(64) char block[BLOCK * 8];
    if (!f->rare) {
        f->turns(d, in[0], in[1], in[2], n);
    } else if (f->turns(block, in[0], in[1], in[2], n)) {
        f->lanes(d, in[0], in[1], in[2], n);
    } else {
        memcpy(d, block, n * f->size);
    }
}

static void advance(const char **in, const tile_function *f, uint64_t n) {
    for (int i = 0; i < 3; i++)
        if (f->sizes[i]) in[i] += n * f->sizes[i];
}

/* Fewer than a turn: the operands, over and over. */
static void part_of_turn(char *d, const char *const *in, uint64_t n, const tile_function *f) {
    _Alignas(64) char block[TILE_TURN_BYTES], filled[3][sizeof block];
    const char *from[3] = {0};
    for (int i = 0; i < 3; i++) {
        const uint64_t whole = (uint64_t)f->turn * f->sizes[i];
        if (!whole) continue;
        uint64_t at = n * f->sizes[i];
        memcpy(filled[i], in[i], at);
        for (uint64_t more; at < whole; at += more) {
            more = at < whole - at ? at : whole - at;
            memcpy(filled[i] + at, filled[i], more);
        }
        from[i] = filled[i];
    }
    if (f->turns(block, from[0], from[1], from[2], f->turn))
        f->lanes(d, in[0], in[1], in[2], n);
    else
        memcpy(d, block, n * f->size);
}

static void run(char *d, const char **in, uint64_t n, const tile_function *f) {
    const uint64_t turn = f->turn, left = n & (turn - 1);
    _Alignas(64) char last[TILE_TURN_BYTES];
    if (n < turn) {
        part_of_turn(d, in, n, f);
        return;
    }
    /* Lanes that are left are the end of one more turn, before its operands may be overwritten. */
    if (left) {
        const char *from[3] = {in[0], in[1], in[2]};
        advance(from, f, n - turn);
        if (f->turns(last, from[0], from[1], from[2], turn))
            f->lanes(last, from[0], from[1], from[2], turn);
    }
    for (uint64_t at = 0, m; at < n - left; at += m) {
        m = n - left - at < BLOCK ? n - left - at : BLOCK;
        turns(d, in, m, f);
        d += m * f->size;
        advance(in, f, m);
    }
    memcpy(d, last + (turn - left) * f->size, left * f->size);
}

void tile_function_run(void *d, const void *a, const void *b, const void *c, uint64_t n,
                       const tile_function *f) {
    if (n < FEW)
        f->lanes(d, a, b, c, n);
    else
        run(d, (const char *[]){a, b, c}, n, f);
}
