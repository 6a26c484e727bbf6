/* Element-wise whole-array steps: the handlers straight on the arrays, shared out to threads when
 * there is enough of them. */
#include "base/thread_pool.h"
#include "tile/element.h"
#include "tile/fp.h"
#include "base/stream.h"
#include <string.h>

enum {
    CHUNK = 16384 /* elements a thread takes at once: within a second-level cache */,
    PIECE = 65536 /* elements between looks at the time: a slow function takes 50 ns for each */,
    PARALLEL = 65536 /* elements worth waking threads for */,
    STREAM_BYTES = 4096 /* computed in the first-level cache, then sent on */
};

typedef struct map_run {
    const tile_element *e;
    uint8_t *out;
    const uint8_t *const *in;
    bool poor, stream;
    hg_limit *limit;
} map_run;

static void run_handler(const map_run *run, uint8_t *out, uint64_t begin, uint64_t n) {
    const tile_element *e = run->e;
    const uint8_t *in[3] = {0};
    for (uint8_t i = 0; i < e->nin; i++) in[i] = run->in[i] + begin * e->size;
    e->run(out, in[0], in[1], in[2], n);
}

static void run_streaming(const map_run *run, uint64_t begin, uint64_t end) {
    _Alignas(64) uint8_t block[STREAM_BYTES];
    const uint64_t size = run->e->size, most = STREAM_BYTES / size;
    for (uint64_t i = begin; i < end; i += most) {
        uint64_t n = end - i < most ? end - i : most;
        run_handler(run, block, i, n);
        hg_stream(run->out + i * size, block, (size_t)(n * size));
    }
    hg_stream_end();
}

static void run_range(void *user, uint64_t begin, uint64_t end, uint32_t worker) {
    const map_run *run = user;
    (void)worker;
    fp_enter(run->poor);
    for (uint64_t i = begin, n; i < end && !hg_limit_look(run->limit); i += n) {
        n = end - i < PIECE ? end - i : PIECE;
        if (run->stream)
            run_streaming(run, i, i + n);
        else
            run_handler(run, run->out + i * run->e->size, i, n);
    }
    fp_leave(run->poor);
}

bool tile_map_is_one_call(const tile_options *options, uint64_t n, uint64_t size) {
    return n && (n < PARALLEL || options->max_threads == 1) && !hg_stream_wanted(n * size);
}

static bool aligned(const void *p, uint64_t size) { return (uintptr_t)p % size == 0; }

hg_status tile_map(const tile_options *options, uint16_t fn, hg_type type, uint64_t n, uint8_t *out,
                   const uint8_t *const *in, uint8_t nin, tile_fault *fault) {
    tile_element e;
    fault->happened = false;
    HG_TRY(tile_element_open(options, fn, type, &e));
    bool direct = e.run != NULL && aligned(out, e.size);
    for (uint8_t i = 0; i < e.nin; i++) direct = direct && aligned(in[i], e.size);
    hg_status status = HG_OK;
    if (nin != e.nin) {
        status = hg_fail(HG_ERROR_INTERNAL, "map of %u arrays by an operation on %u", (unsigned)nin,
                         (unsigned)e.nin);
    } else if (direct) {
        map_run run = {&e, out, in, options->poor, hg_stream_wanted(n * e.size), options->limit};
        for (uint8_t i = 0; i < nin; i++) run.stream = run.stream && in[i] != out;
        if (n >= PARALLEL && options->max_threads != 1)
            hg_thread_pool_run(hg_thread_pool_global(), n, CHUNK, run_range, &run);
        else if (n)
            run_range(&run, 0, n, 0);
    } else {
        if (e.run) status = tile_element_compile(options, fn, type, &e);
        if (status == HG_OK)
            status = tile_element_run(&e, n, out, in, options->max_threads, options->limit, fault);
    }
    tile_element_close(&e);
    return status;
}
