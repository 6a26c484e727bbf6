/* Several arrays of the same length combined element by element, by the one tree of semantics 0.3
 * over the arrays: what reduce_axis makes of them laid one after another.
 * Must not know: whose arrays they are. */
#include "kir/define/define.h"
#include "plan/steps/tree.h"
#include "tile/tile_internal.h"
#include <string.h>

enum {
    PIECE_BYTES = 8192 /* of each accumulator: all of few arrays stay in a first-level cache */
};

typedef struct fold {
    const tile_options *options;
    uint16_t fn;
    hg_type type;   /* of the tree */
    uint64_t size;  /* bytes of its elements */
    tile_fn *widen; /* halves; else NULL */
    tile_fn *narrow;
    uint8_t *scratch; /* an accumulator of PIECE_BYTES each */
} fold;

static hg_status combine(const fold *f, uint64_t n, uint8_t *out, const uint8_t *a,
                         const uint8_t *b) {
    tile_fault fault;
    return tile_map(f->options, f->fn, f->type, n, out, (const uint8_t *const[]){a, b}, 2, &fault);
}

/* The tree for n elements, few enough for the accumulators. The last step writes `out`. acc: where
 * each array's elements are; those of halves are in the scratch already. */
static hg_status fold_piece(const fold *f, const uint8_t **acc, uint32_t arrays, uint64_t n,
                            uint8_t *out) {
    uint32_t lines = arrays < PLAN_ACCUMULATORS ? arrays : PLAN_ACCUMULATORS;
    for (uint32_t r = lines; r < arrays; r++) {
        uint32_t l = r % PLAN_ACCUMULATORS;
        uint8_t *to = f->scratch + (uint64_t)l * PIECE_BYTES;
        HG_TRY(combine(f, n, to, acc[l], acc[r]));
        acc[l] = to;
    }
    for (uint32_t s = PLAN_ACCUMULATORS / 2; s >= 1; s /= 2)
        for (uint32_t l = 0; l < s && l + s < lines; l++) {
            uint8_t *to = s == 1 ? out : f->scratch + (uint64_t)l * PIECE_BYTES;
            HG_TRY(combine(f, n, to, acc[l], acc[l + s]));
            acc[l] = to;
        }
    return HG_OK;
}

static hg_status fold_all(const fold *f, const uint8_t *const *in, uint32_t arrays, uint64_t n,
                          uint64_t own, uint8_t *out, const uint8_t **acc) {
    uint64_t most = PIECE_BYTES / f->size;
    for (uint64_t at = 0, count; at < n; at += count) {
        count = n - at < most ? n - at : most;
        uint8_t *to = out + at * own;
        for (uint32_t r = 0; r < arrays; r++) {
            acc[r] = in[r] + at * own;
            if (!f->widen) continue;
            uint8_t *wide = f->scratch + (uint64_t)r * PIECE_BYTES;
            f->widen(wide, acc[r], NULL, NULL, count);
            acc[r] = wide;
        }
        HG_TRY(fold_piece(f, acc, arrays, count, f->widen ? f->scratch : to));
        if (f->narrow) f->narrow(to, f->scratch, NULL, NULL, count);
    }
    return HG_OK;
}

hg_status tile_fold_arrays(const tile_options *options, hg_op op, hg_type type,
                           const uint8_t *const *in, uint32_t arrays, uint64_t n, uint8_t *out) {
    uint64_t own = hg_type_size_bytes(type);
    if (arrays == 1) {
        if (in[0] != out) memmove(out, in[0], (size_t)(n * own));
        return HG_OK;
    }
    bool half = kir_is_half(type);
    fold f = {.options = options,
              .fn = (uint16_t)op,
              .type = half ? HG_TYPE_F32 : type,
              .size = half ? 4 : own};
    if (half) {
        const tile_handlers *h = tile_handlers_of(options->level);
        f.widen = tile_convert_handler(h, type == HG_TYPE_F16 ? KIR_H2F : KIR_B2F, 1, 4);
        f.narrow = tile_convert_handler(h, type == HG_TYPE_F16 ? KIR_F2H : KIR_F2B, 4, 1);
    }
    _Alignas(64) uint8_t few[2 * PIECE_BYTES];
    const uint8_t *places[16], **acc = places;
    uint32_t accumulators = half || arrays < PLAN_ACCUMULATORS ? arrays : PLAN_ACCUMULATORS;
    f.scratch = few;
    if (accumulators > 2) f.scratch = hg_alloc_aligned((size_t)accumulators * PIECE_BYTES, 64);
    if (arrays > HG_COUNT_OF(places)) acc = hg_alloc(arrays * sizeof *acc);
    hg_status status = f.scratch && acc ? fold_all(&f, in, arrays, n, own, out, acc)
                                        : hg_fail_memory();
    if (f.scratch != few) hg_free_aligned(f.scratch);
    if (acc != places) hg_free((void *)(uintptr_t)acc);
    return status;
}
