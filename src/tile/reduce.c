/* Reductions by the one tree of semantics 0.3: chunks of 4,096 elements, 128 accumulators in each,
 * halving, and the chunk results again as an array until one is left. Missing elements are skipped.
 * f16 and bf16 run the tree in f32 and round once. The order of operations does not depend on
 * threads or CPU level. */
#include "base/thread_pool.h"
#include "plan/steps/tree.h"
#include "tile/element.h"
#include "tile/fp.h"
#include "kir/define/define.h"
#include <string.h>

enum {
    CHUNK = PLAN_CHUNK,
    ACCUMULATORS = PLAN_ACCUMULATORS,
    PARALLEL_CHUNKS = 16,
    LOOK_CHUNKS = 16 /* between looks at the time */
};
_Static_assert((int)TILE_FOLD == (int)PLAN_ACCUMULATORS,
               "handlers fold as many accumulators as the tree has");

typedef struct reduction {
    const tile_element *e;
    tile_fold_fn *fold; /* NULL: row by row through e */
    const uint8_t *in;
    uint8_t *out;     /* a result a chunk */
    uint64_t n, size; /* of an element of the tree */
    tile_fn *widen;   /* f16, bf16 input */
    bool poor;
    uint32_t max_threads;
    hg_limit *limit;
    _Atomic int failed;
} reduction;

/* acc[i] = acc[i] op x[i]. */
static bool combine(reduction *r, uint8_t *acc, const uint8_t *x, uint64_t n) {
    tile_fault fault;
    return n == 0 || tile_element_run(r->e, n, acc, (const uint8_t *const[]){acc, x}, 1, NULL,
                                      &fault) == HG_OK;
}

static bool reduce_chunk(reduction *r, const uint8_t *x, uint64_t n, uint8_t *acc,
                         uint8_t *result) {
    uint64_t first = n < ACCUMULATORS ? n : ACCUMULATORS;
    bool ok = true;
    memcpy(acc, x, (size_t)(first * r->size));
    uint64_t at = ACCUMULATORS;
    if (r->fold && n >= 2 * ACCUMULATORS) {
        uint64_t rows = n / ACCUMULATORS - 1;
        r->fold(acc, x + at * r->size, rows);
        at += rows * ACCUMULATORS;
    }
    for (uint64_t i = at; i < n && ok && (r->e->run || !hg_limit_look(r->limit)); i += ACCUMULATORS)
        ok = combine(r, acc, x + i * r->size, n - i < ACCUMULATORS ? n - i : ACCUMULATORS);
    for (uint64_t s = ACCUMULATORS / 2; s >= 1 && ok; s /= 2)
        if (first > s) ok = combine(r, acc, acc + s * r->size, first - s < s ? first - s : s);
    memcpy(result, acc, (size_t)r->size);
    return ok;
}

/* Elements [begin, end) of the input, whole chunks but for the last. */
static void reduce_range(void *user, uint64_t begin, uint64_t end, uint32_t worker) {
    reduction *r = user;
    (void)worker;
    uint64_t elements = r->widen ? ACCUMULATORS + CHUNK : ACCUMULATORS, bytes = elements * r->size;
    uint8_t *acc = hg_alloc_aligned((size_t)bytes, 64),
            *wide = acc ? acc + ACCUMULATORS * r->size : NULL;
    bool ok = acc != NULL;
    fp_enter(r->poor);
    for (uint64_t i = begin; i < end && ok; i += CHUNK) {
        if (i / CHUNK % LOOK_CHUNKS == 0 && hg_limit_look(r->limit)) break;
        uint64_t n = end - i < CHUNK ? end - i : CHUNK;
        const uint8_t *x = r->in + i * (r->widen ? 2 : r->size);
        if (r->widen) {
            r->widen(wide, x, NULL, NULL, n);
            x = wide;
        } else if (r->e->run && (uintptr_t)x % r->size) {
            ok = false; /* handlers want aligned elements; the caller copies */
            break;
        }
        ok = reduce_chunk(r, x, n, acc, r->out + i / CHUNK * r->size);
    }
    fp_leave(r->poor);
    hg_free_aligned(acc);
    if (!ok) atomic_store(&r->failed, 1);
}

static tile_fold_fn *find_fold(const tile_handlers *h, hg_op op, hg_type type) {
    for (uint32_t i = 0; i < h->fold_count; i++)
        if (h->folds[i].fn == op && h->folds[i].type == type) return h->folds[i].run;
    return NULL;
}

/* One level of the tree after another; the results of a level are the input of the next. */
static hg_status reduce_levels(reduction *r, uint8_t *result) {
    uint8_t *previous = NULL;
    hg_status status = HG_OK;
    do {
        uint64_t chunks = (r->n - 1) / CHUNK + 1, bytes;
        if (!hg_mul_u64(chunks, r->size, &bytes) || bytes > SIZE_MAX / 2 ||
            !(r->out = hg_alloc_aligned((size_t)bytes, 64))) {
            status = hg_fail_memory();
            break;
        }
        if (chunks >= PARALLEL_CHUNKS && r->max_threads != 1)
            hg_thread_pool_run(hg_thread_pool_global(), r->n, CHUNK, reduce_range, r);
        else
            reduce_range(r, 0, r->n, 0);
        hg_free_aligned(previous);
        previous = r->out;
        r->in = r->out;
        r->n = chunks;
        r->widen = NULL;
        if (atomic_load(&r->failed)) status = hg_fail_memory();
    } while (status == HG_OK && r->n > 1 && !hg_limit_is_reached(r->limit));
    if (status == HG_OK) memcpy(result, previous, (size_t)r->size);
    hg_free_aligned(previous);
    return status;
}

hg_status tile_reduce(const tile_options *options, hg_op op, hg_type type, uint64_t n,
                      const uint8_t *in, uint8_t *result) {
    if (op != HG_OP_ADD && op != HG_OP_MUL && op != HG_OP_MIN && op != HG_OP_MAX)
        return hg_fail(HG_ERROR_INTERNAL, "no reduction by %s", hg_op_get(op)->text);
    uint64_t size = hg_type_size_bytes(type);
    if (n <= 1) {
        if (n)
            memcpy(result, in, (size_t)size);
        else
            kir_identity(op, type, result);
        return HG_OK;
    }
    bool half = kir_is_half(type);
    const tile_handlers *h = tile_handlers_of(options->level);
    uint8_t *copy = NULL, wide[8] = {0};
    uint64_t bytes, natural = size < 8 ? size : 8;
    if (!hg_mul_u64(n, size, &bytes) || bytes > SIZE_MAX / 2) return hg_fail_memory();
    if ((uintptr_t)in % natural) { /* rare: an array at an odd offset */
        copy = hg_alloc_aligned((size_t)bytes, 64);
        if (!copy) return hg_fail_memory();
        memcpy(copy, in, (size_t)bytes);
        in = copy;
    }
    tile_element e;
    hg_status status = tile_element_open(options, (uint16_t)op, half ? HG_TYPE_F32 : type, &e);
    if (status == HG_OK) {
        reduction r = {.e = &e,
                       .in = in,
                       .n = n,
                       .size = half ? 4 : size,
                       .poor = options->poor,
                       .max_threads = options->max_threads,
                       .limit = options->limit};
        if (e.run) r.fold = find_fold(h, op, half ? HG_TYPE_F32 : type);
        if (half) r.widen = tile_convert_handler(h, type == HG_TYPE_F16 ? KIR_H2F : KIR_B2F, 1, 4);
        status = reduce_levels(&r, half ? wide : result);
        if (status == HG_OK && half) {
            fp_enter(options->poor);
            tile_convert_handler(h, type == HG_TYPE_F16 ? KIR_F2H : KIR_F2B, 4, 1)(result, wide,
                                                                                   NULL, NULL, 1);
            fp_leave(options->poor);
        }
        tile_element_close(&e);
    }
    hg_free_aligned(copy);
    return status;
}
