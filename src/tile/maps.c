/* Several maps over the same elements in one pass: pieces that fit the first-level cache go through
 * all handlers before the next one. */
#include "base/stream.h"
#include "base/thread_pool.h"
#include "tile/element.h"
#include "tile/fp.h"

enum {
    CACHE_BYTES = 16384 /* of all arrays of a piece */,
    CHUNK = 16384 /* elements a thread takes at once */,
    PARALLEL = 131072 /* elements, times steps, worth waking threads for */
};

/* ---- arrays ---- */

typedef struct array {
    const uint8_t *at;
    uint64_t size; /* of an element */
    bool written;
} array;

/* The arrays of all steps, each once. */
static uint32_t find_arrays(const tile_maps_run *run, array arrays[static TILE_MOST_MAPS * 3]) {
    uint32_t count = 0;
    for (uint32_t s = 0; s < run->count; s++)
        for (uint8_t i = 0; i <= run->steps[s].nin; i++) {
            const tile_map_step *step = &run->steps[s];
            const uint8_t *at = i < step->nin ? step->in[i] : step->out;
            uint32_t k = 0;
            while (k < count && arrays[k].at != at) k++;
            if (k == count) arrays[count++] = (array){at, run->size[s], false};
            arrays[k].written |= i == step->nin;
        }
    return count;
}

static uint64_t bytes_of_element(const array *arrays, uint32_t count) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) bytes += arrays[i].size;
    return bytes;
}

/* Beyond the caches a single map stores past them where it does not change an array in place; in
 * one pass what is written is read first. */
static bool saves_traffic(const tile_maps_run *run, const array *arrays, uint32_t count,
                          uint64_t n) {
    uint64_t one_pass = 0, single = 0;
    for (uint32_t i = 0; i < count; i++) one_pass += arrays[i].size * (arrays[i].written ? 2 : 1);
    for (uint32_t s = 0; s < run->count; s++) {
        const tile_map_step *step = &run->steps[s];
        bool twice = step->nin > 1 && step->in[1] == step->in[0];
        single += run->size[s] * (twice ? 2u : 1u + step->nin);
        if (!hg_stream_wanted(n * run->size[s])) return true;
    }
    return one_pass < single;
}

/* ---- the pass ---- */

static void run_range(void *user, uint64_t begin, uint64_t end, uint32_t worker) {
    const tile_maps_run *run = user;
    (void)worker;
    fp_enter(run->poor);
    for (uint64_t i = begin, since = 0; i < end; i += run->piece, since += run->piece) {
        if (since >= CHUNK && hg_limit_look(run->limit)) break;
        since = since < CHUNK ? since : 0;
        uint64_t n = end - i < run->piece ? end - i : run->piece;
        for (uint32_t s = 0; s < run->count; s++) {
            const tile_map_step *step = &run->steps[s];
            uint64_t at = i * run->size[s];
            run->run[s](step->out + at, step->in[0] + at, step->nin > 1 ? step->in[1] + at : NULL,
                        NULL, n);
        }
    }
    fp_leave(run->poor);
}

hg_status tile_maps_open(const tile_options *options, const tile_map_step *steps, uint32_t count,
                         uint64_t n, tile_maps_run *run, bool *direct) {
    array arrays[TILE_MOST_MAPS * 3];
    *run = (tile_maps_run){
        .steps = steps, .count = count, .poor = options->poor, .limit = options->limit};
    *direct = false;
    if (count > TILE_MOST_MAPS) return HG_OK;
    for (uint32_t s = 0; s < count; s++) {
        tile_element e;
        HG_TRY(tile_element_open(options, steps[s].fn, (hg_type)steps[s].type, &e));
        run->run[s] = e.run;
        run->size[s] = e.size;
        bool fits = e.run && e.nin == steps[s].nin && (uintptr_t)steps[s].out % e.size == 0;
        for (uint8_t i = 0; i < steps[s].nin; i++)
            fits = fits && (uintptr_t)steps[s].in[i] % e.size == 0;
        tile_element_close(&e);
        if (!fits) return HG_OK;
    }
    uint32_t array_count = find_arrays(run, arrays);
    run->piece = CACHE_BYTES / bytes_of_element(arrays, array_count) & ~UINT64_C(63);
    *direct = run->piece != 0 && saves_traffic(run, arrays, array_count, n);
    return HG_OK;
}

hg_status tile_maps(const tile_options *options, const tile_map_step *steps, uint32_t count,
                    uint64_t n, tile_fault *fault) {
    tile_maps_run run;
    bool direct;
    fault->happened = false;
    HG_TRY(tile_maps_open(options, steps, count, n, &run, &direct));
    for (uint32_t s = 0; s < count && !direct; s++) {
        HG_TRY(tile_map(options, steps[s].fn, (hg_type)steps[s].type, n, steps[s].out, steps[s].in,
                        steps[s].nin, fault));
        if (fault->happened || hg_limit_is_reached(options->limit)) return HG_OK;
    }
    if (!direct || n == 0) return HG_OK;
    if (n > CHUNK && n * count >= PARALLEL && options->max_threads != 1)
        hg_thread_pool_run(hg_thread_pool_global(), n, CHUNK, run_range, &run);
    else
        run_range(&run, 0, n, 0);
    return HG_OK;
}
