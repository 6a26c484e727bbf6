/* Launches by native code: turns of lanes in place of the interpreter's tiles. Faults, time and
 * threads are those of all launches.
 * Must not know: how the code was made. */
#include "base/thread_pool.h"
#include "kir/fault_text.h"
#include "tile/tile_internal.h"

#include <hologram/vector.h>
#include <stddef.h>
#include <string.h>

_Static_assert(sizeof(hgv_memory) == sizeof(tile_memory) &&
                   offsetof(hgv_memory, size) == offsetof(tile_memory, size) &&
                   offsetof(hgv_memory, valid) == offsetof(tile_memory, valid),
               "one layout");

bool tile_kernel_expect(tile_kernel *kernel, const tile_native *native) {
    if (!tile_takes_native(kernel) || kernel->native.taken) return false;
    kernel->native.code = *native;
    kernel->native.taken = true;
    return true;
}

void tile_kernel_arrive(tile_kernel *kernel,
                        void (*run)(struct hgv_launch *launch, uint64_t begin, uint64_t end)) {
    kernel->native.code.run = run;
    hg_atomic_store(&kernel->native.now, &kernel->native.code, HG_RELEASE);
}

bool tile_kernel_attach(tile_kernel *kernel, const tile_native *native) {
    if (!tile_kernel_expect(kernel, native)) return false;
    tile_kernel_arrive(kernel, native->run);
    return true;
}

/* ---- launches ---- */

/* Threads share pieces of few lanes where each may take long; what a thread has got it runs in few
 * calls: between two it looks whether it has to stop. Without loops and wide integers that is often
 * enough after so many lanes and operations. */
enum { MANY = 4096, FEW_TURNS = 4, LEAST = 16, MOST = 1 << 16, MOST_WORK = 1 << 21 };
static uint32_t lanes_at_once(const tile_kernel *kernel) {
    if (kernel->has_loop || kernel->block_mode || kernel->frame.array_bytes) return MANY;
    uint32_t lanes = MOST_WORK / (kernel->code.count + 1) / MANY * MANY;
    return lanes < MANY ? MANY : lanes < MOST ? lanes : MOST;
}

/* Loops of the library's kernels do not look at the time, since they end by themselves: a call has
 * so many lanes that it takes a few milliseconds, by what the launch says of its work. */
static uint32_t lanes_in_time(const tile_run_state *state, uint32_t lanes, uint32_t turn) {
    enum { CALL_WORK_LOG = 24 };
    const uint64_t of_lane = tile_work_of_lane(state),
                   most = of_lane ? (UINT64_C(1) << CALL_WORK_LOG) / of_lane : lanes;
    if (most >= lanes) return lanes;
    return most < turn ? turn : (uint32_t)(most / turn * turn);
}

/* ---- turns of many lanes, or of one ---- */

/* Where lanes part, it depends on the data which are faster. A trial times some pieces of each; the
 * faster one, by its best piece, then has the lanes of a few trials, and of more where the next one
 * says the same: the first one meets cold memory. */
enum { PIECES = 4, FIRST_REST = 4, LONGER = 4, MOST_REST = 256 };

bool tile_kernel_attach_alone(tile_kernel *kernel, const tile_native *native) {
    tile_alone *a = &kernel->native.alone;
    if (!kernel->native.taken || kernel->native.code.blocks || kernel->block_mode || a->now)
        return false;
    a->code = *native;
    hg_atomic_store(&a->now, &a->code, HG_RELEASE);
    return true;
}

static bool is_trial(const tile_kernel *kernel) {
    const tile_alone *a = &kernel->native.alone;
    return hg_atomic_load(&a->now, HG_ACQUIRE) && !hg_atomic_load(&a->rest, HG_RELAXED);
}

/* Short, but with all pieces in one launch if it has turns enough. */
static uint32_t lanes_of_trial(const tile_run_state *state, const tile_native *native) {
    const uint64_t turns = state->launch->lanes / native->lanes;
    return turns < 2 * PIECES * FEW_TURNS ? native->lanes : FEW_TURNS * native->lanes;
}

static void end_trial(tile_alone *a, uint32_t lanes) {
    const uint32_t many = hg_atomic_load(&a->least[0], HG_RELAXED),
                   one = hg_atomic_load(&a->least[1], HG_RELAXED);
    const bool faster = !many || one < many, /* !many: none of its pieces is over */
        same = faster == hg_atomic_load(&a->chosen, HG_RELAXED);
    uint32_t trials = hg_atomic_load(&a->trials, HG_RELAXED) * LONGER;
    if (!same || !trials) trials = FIRST_REST;
    if (trials > MOST_REST) trials = MOST_REST;
    hg_atomic_store(&a->trials, trials, HG_RELAXED);
    hg_atomic_store(&a->chosen, faster, HG_RELAXED);
    for (int i = 0; i < 2; i++) hg_atomic_store(&a->least[i], 0, HG_RELAXED);
    hg_atomic_store(&a->tried, 0, HG_RELAXED);
    hg_atomic_store(&a->rest, lanes * 2 * PIECES * trials, HG_RELAXED);
}

/* Threads that time at once lose a time of the other: the next trial is as good. */
static void run_trial(tile_alone *a, uint32_t number, const tile_native *native, hgv_launch *launch,
                      uint64_t begin, uint32_t lanes) {
    uint32_t *least = &a->least[number % 2];
    const uint64_t start = hg_clock_ns();
    (number % 2 ? &a->code : native)->run(launch, begin, begin + lanes);
    uint64_t each = (hg_clock_ns() - start) * 1024 / lanes + 1;
    if (each > UINT32_MAX) each = UINT32_MAX;
    const uint32_t known = hg_atomic_load(least, HG_RELAXED);
    if (!known || each < known) hg_atomic_store(least, (uint32_t)each, HG_RELAXED);
    if (number + 1 == 2 * PIECES) end_trial(a, lanes);
}

static void run_either(const tile_kernel *kernel, const tile_native *native, hgv_launch *launch,
                       uint64_t begin, uint32_t lanes) {
    tile_alone *a = &((tile_kernel *)(uintptr_t)kernel)->native.alone;
    if (!hg_atomic_load(&a->now, HG_ACQUIRE)) {
        native->run(launch, begin, begin + lanes);
        return;
    }
    const uint32_t rest = hg_atomic_load(&a->rest, HG_RELAXED);
    const uint32_t number = rest ? 2 * PIECES : hg_atomic_fetch_add(&a->tried, 1, HG_RELAXED);
    if (number < 2 * PIECES) { /* what comes until its last pieces are over is as between trials */
        run_trial(a, number, native, launch, begin, lanes);
        return;
    }
    if (rest) hg_atomic_store(&a->rest, rest > lanes ? rest - lanes : 0, HG_RELAXED);
    if (hg_atomic_load(&a->chosen, HG_RELAXED)) native = &a->code;
    native->run(launch, begin, begin + lanes);
}

/* ---- lanes of a call ---- */

static uint32_t lanes_for_call(const tile_run_state *state, const tile_native *native, bool piece) {
    const uint32_t few = state->kernel->block_mode ? MANY / 8
                         : native->lanes > LEAST   ? FEW_TURNS * native->lanes
                                                   : FEW_TURNS * LEAST;
    uint32_t lanes = !piece                    ? lanes_at_once(state->kernel)
                     : state->kernel->has_loop ? few
                                               : MANY,
             block = (uint32_t)state->block_lanes;
    if (!native->blocks && !state->kernel->block_mode) return lanes;
    return lanes < block ? block : lanes / block * block;
}

uint32_t tile_native_lanes(const tile_run_state *state, const tile_native *native, bool piece) {
    const bool blocks = native->blocks || state->kernel->block_mode;
    return lanes_in_time(state,
                         is_trial(state->kernel) ? lanes_of_trial(state, native)
                                                 : lanes_for_call(state, native, piece),
                         blocks ? (uint32_t)state->block_lanes : native->lanes);
}

enum { MOST_OF_BLOCK = 1 << 16 };
bool tile_native_fits(const tile_run_state *state, const tile_native *native) {
    /* A turn goes to one thread. Few lanes whose time is spent in handlers go in tiles of fewer. */
    if (tile_is_heavy(state->kernel) && !state->kernel->block_mode &&
        state->launch->lanes / native->lanes <
            2 * (uint64_t)hg_thread_pool_count(hg_thread_pool_global()))
        return false;
    return !native->blocks ||
           (state->dims[0] >= native->lanes / 2 && state->block_lanes <= MOST_OF_BLOCK);
}

/* Of an access, in the words of accesses; of anything else its own message. */
static void describe(tile_fault *fault, const hgv_site *site, const uint64_t *values) {
    if (site->message || !site->size) {
        kir_fault_text(fault->message, sizeof fault->message, site->code, site->message, values);
        return;
    }
    switch (site->code) {
    case KIR_FAULT_BOUNDS: {
        hg_i128 offset = (hg_i128)((hg_u128)values[1] << 64 | values[0]);
        tile_fault_bounds(fault, site->pool, offset, site->size, site->limit);
        break;
    }
    case KIR_FAULT_HANDLE:
        kir_fault_text_handle(fault->message, sizeof fault->message, site->pool, site->handle);
        break;
    default:
        fault->offset = values[0];
        kir_fault_text_align(fault->message, sizeof fault->message, values[0]);
    }
}

static void fault_of_lane(hgv_launch *launch, const hgv_site *site, uint64_t lane,
                          const uint64_t *values) {
    tile_frame *f = launch->user;
    launch->faulted = true;
    f->phase = launch->phase;
    tile_fault *fault = tile_fault_lane(f, (uint32_t)(lane - f->lane0));
    if (!fault) return;
    fault->code = site->code;
    fault->operand = site->operand;
    fault->inst = site->inst;
    describe(fault, site, values);
}

static bool go_on(hgv_launch *launch) {
    tile_frame *f = launch->user;
    if (f && tile_out_of_time(f)) return false;
    launch->fuel = f ? f->fuel : TILE_FUEL;
    return true;
}

static hgv_memory resolve(hgv_launch *launch, uint64_t handle, bool pool, bool flat) {
    tile_memory m = tile_resolve(launch->user, handle, pool, flat);
    return (hgv_memory){m.base, m.size, m.valid};
}

static bool go_on_wide(void *launch) { return go_on(launch); }

/* By the interpreter's handlers. */
static void wide(hgv_launch *launch, uint32_t op, uint64_t *d, const uint64_t *a, const uint64_t *b,
                 const uint64_t *c, uint32_t limbs, uint32_t lanes, uint64_t run) {
    enum { MOST_LANES = 64 };
    const tile_handlers *handlers = launch->wide_table;
    uint64_t carry[MOST_LANES];
    uint8_t active[MOST_LANES];
    for (uint32_t i = 0; i < lanes; i++) active[i] = run >> i & 1;
    bool all = run == UINT64_MAX >> (MOST_LANES - lanes);
    handlers->wide[op](&(tile_wide){.d = d,
                                    .a = a,
                                    .b = b,
                                    .c = c,
                                    .carry = carry,
                                    .active = all ? NULL : active,
                                    .width = lanes,
                                    .n = lanes,
                                    .limbs = limbs,
                                    .fuel = &launch->fuel,
                                    .go_on = go_on_wide,
                                    .user = launch});
    launch->fuel -= (int64_t)lanes * limbs;
}

/* In the frame, for the next block too. */
static void *memory(hgv_launch *launch, uint64_t bytes) {
    tile_frame *f = launch->user;
    if (bytes > f->kept.capacity) {
        hg_free_aligned(f->kept.bytes);
        f->kept.bytes = bytes <= SIZE_MAX ? hg_alloc_aligned((size_t)bytes, 64) : NULL;
        f->kept.capacity = f->kept.bytes ? bytes : 0;
    }
    if (!f->kept.bytes) {
        launch->stopped = true;
        atomic_store_explicit(&f->state->stop, 3, memory_order_relaxed);
    }
    return f->kept.bytes;
}

void tile_native_launch(const tile_run_state *state, tile_frame *f, hgv_launch *to) {
    const tile_launch *l = state->launch;
    const tile_own *own = f ? f->own : NULL;
    *to = (hgv_launch){
        .inputs = l->inputs,
        .slots = (const hgv_memory *)(const void *)(own ? own->slots : l->slots),
        .class_memory = {l->class_memory.base, l->class_memory.size, l->class_memory.valid},
        .spread = own ? own->spread : NULL,
        .lanes = l->lanes,
        .fault = fault_of_lane,
        .resolve = resolve,
        .go_on = go_on,
        .fuel = f ? f->fuel : TILE_FUEL,
        .user = f,
        .wide = wide,
        .wide_table = state->kernel->handlers,
        .memory = memory};
    if (f) {
        to->shared = (hgv_memory){f->shared.bytes, f->shared.size, true};
        to->shared_step = l->shared_memory ? f->shared.size : 0;
        to->shared_visible = f->shared.size - l->shared_scratch;
    }
    for (int i = 0; i < 3; i++) {
        to->block[i] = (uint32_t)state->dims[i];
        to->grid[i] = (uint32_t)state->dims[i + 3];
    }
}

void tile_run_native(tile_frame *f, const tile_native *native) {
    hgv_launch launch;
    tile_native_launch(f->state, f, &launch);
    run_either(f->kernel, native, &launch, f->lane0, f->n);
    f->fuel = launch.fuel;
}
