/* Wide integers of a tile: arrays of 64-bit limbs, limb 0 of all lanes, then limb 1 of all lanes.
 * Included by the generated handlers, so that it is compiled once a CPU level. Additions go row by
 * row, over all lanes at once; products and quotients lane by lane, with the 128-bit products of
 * the machine.
 * Must not know: kernels, masks but as bytes. */
#ifndef HG_TILE_WIDE_H
#define HG_TILE_WIDE_H

#include "base/compat.h"
#include <string.h>

enum { TILE_WIDE_LIMBS = 64 };

typedef struct tile_wide {
    uint64_t *d;
    const uint64_t *a, *b, *c; /* c: the modulus of a ^ b mod c */
    uint64_t *carry;           /* a row of numbers to work with */
    const uint8_t *active;     /* a byte a lane; NULL: all */
    uint64_t width, n;         /* lanes from row to row, and of each row */
    uint32_t limbs;
    int64_t *fuel; /* what a lane costs, where that is more than limbs · limbs, goes off it; below
                      0: */
    bool (*go_on)(void *user); /* is asked, which fills it; false: nobody needs the rest of the
                                  lanes any more */
    void *user;
} tile_wide;
typedef void tile_wide_fn(const tile_wide *w);

#endif
