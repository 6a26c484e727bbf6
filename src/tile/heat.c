/* When native code of a kernel is worth having: how much the interpreter has done for it, and who
 * is told.
 * Must not know: native code, instructions. */
#include "tile/tile_internal.h"

/* Of the work that TILE_FUEL and instructions count: 0.05 to 0.2 ms of the interpreter's, as long
 * as it takes to look whether there is code already, and 7 to 20 ms, as long as a compiler takes.
 */
static const int64_t WARM = INT64_C(1) << 19, HOT = INT64_C(1) << 26;

typedef struct tile_heat {
    tile_watch watch;
    int64_t work; /* atomic, as what follows: whether it was told */
    int warm, hot;
} tile_heat;

bool tile_kernel_watch(tile_kernel *kernel, const tile_watch *watch) {
    if (!tile_takes_native(kernel)) return false;
    tile_heat *heat = hg_arena_alloc(&kernel->arena, sizeof *heat);
    if (!heat) return false;
    heat->watch = *watch;
    kernel->native.heat = heat;
    return true;
}

static bool is_first(int *told) {
    return !hg_atomic_load(told, HG_RELAXED) && !hg_atomic_exchange(told, 1, HG_RELAXED);
}

/* Without a lock, and cheap once all is told. */
void tile_heat_told(const tile_kernel *kernel, uint64_t work) {
    tile_heat *heat = kernel->native.heat;
    if (hg_atomic_load(&heat->hot, HG_RELAXED)) return;
    int64_t all = hg_atomic_add_fetch(&heat->work, work < (uint64_t)HOT ? (int64_t)work : HOT,
                                      HG_RELAXED);
    if (hg_worker_number()) return; /* the thread that calls the library asks */
    if (all >= WARM && is_first(&heat->warm)) heat->watch.ask(heat->watch.user, false);
    if (all >= HOT && is_first(&heat->hot)) heat->watch.ask(heat->watch.user, true);
}
