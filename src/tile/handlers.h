/* The generated handlers: one loop over n lanes for every primitive, native type and mix of vector and scalar operands, and for
 * the definitions that are native to the tile interpreter. Written by tools/gen_tiles, compiled once a CPU level.
 * Must not know: kernels, masks, memory. */
#ifndef HG_TILE_HANDLERS_H
#define HG_TILE_HANDLERS_H

#include "kir/kir.h"
#include "tile/wide.h"

/* d[i] = f(a[i], b[i], c[i]) for i < n. A scalar operand points at one element. d may be one of the operands, when of the same
 * element size; no other overlap. Bools and masks are bytes of 0 or 1. */
typedef void tile_fn(void *d, const void *a, const void *b, const void *c, uint64_t n);

/* A function of several dozen operations in two loops, so that a compiler writes its vectors once: `turns` on whole turns, without
 * the rare branches that `rare` says there are (not 0: a lane needs one), and `lanes` on any, one after another. */
typedef struct tile_function {
    uint32_t (*turns)(void *d, const void *a, const void *b, const void *c, uint64_t n);
    tile_fn *lanes;
    bool rare;
    uint8_t sizes[3], size; /* bytes of an element of each operand, and of the result */
    uint8_t turn; /* its lanes: whole vectors of the level, of at most TILE_TURN_BYTES; a power of two */
} tile_function;
enum { TILE_TURN_BYTES = 128 };
/* As a tile_fn. */
void tile_function_run(void *d, const void *a, const void *b, const void *c, uint64_t n, const tile_function *f);

/* u8 (and bool) u16 u32 u64 f32 f64 */
enum { TILE_KIND_COUNT = KIR_KIND_COUNT, TILE_VARIANT_COUNT = 8 };

typedef struct tile_derived {
    uint16_t fn;
    uint8_t type, variant;
    tile_fn *run;
} tile_derived;

/* acc[i] = f(acc[i], x[r * TILE_FOLD + i]) for i < TILE_FOLD, row after row: the inside of a reduction. */
typedef void tile_fold_fn(void *acc, const void *x, uint64_t rows);
enum { TILE_FOLD = 128 };
typedef struct tile_fold {
    uint16_t fn;
    uint8_t type;
    tile_fold_fn *run;
} tile_fold; /* HG_OP_ADD MUL MIN MAX */

typedef struct tile_handlers {
    const char *name;
    /* Places in `run`. [operation][kind of its first value argument][variant]; bit i of the variant: argument i is a scalar.
     * SELECT: kind of the branches, u8 … u64. */
    uint16_t op[KIR_OP_COUNT][TILE_KIND_COUNT][TILE_VARIANT_COUNT];
    uint16_t convert[KIR_OP_COUNT][TILE_KIND_COUNT][TILE_KIND_COUNT]; /* [operation][from][to] */
    tile_fn *const *run;                                              /* at 0 NULL: no such handler */
    tile_wide_fn *wide[KIR_OP_COUNT];                                 /* on arrays of limbs; NULL: no such handler */
    const tile_derived *derived;
    uint32_t derived_count;
    const tile_fold *folds;
    uint32_t fold_count;
} tile_handlers;

static inline tile_fn *tile_op_handler(const tile_handlers *h, kir_op op, int kind, unsigned variant) {
    return h->run[h->op[op][kind][variant]];
}
static inline tile_fn *tile_convert_handler(const tile_handlers *h, kir_op op, int from, int to) {
    return h->run[h->convert[op][from][to]];
}

extern const tile_handlers tile_handlers_baseline;
#if defined(__x86_64__)
extern const tile_handlers tile_handlers_v3, tile_handlers_v4;
#endif

#endif
