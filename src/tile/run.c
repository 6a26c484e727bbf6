/* A launch: blocks or tiles shared out to threads, frames, the floating-point environment, the
 * first fault. A kernel without barriers and shared memory is cut freely into tiles over global
 * lane ids: blocks are only a numbering then. A kernel with them runs a whole block as one tile, in
 * lockstep: a barrier is then the point where a fault stops the block.
 * Must not know: kernel IR, how instructions run. */
#include "base/fork.h"
#include "base/thread_pool.h"
#include "kir/fault_text.h"
#include "tile/fp.h"
#include "tile/races.h"
#include "base/stream.h"
#include "tile/tile_internal.h"
#include <string.h>

/* ---- inputs ---- */

/* Few kernels need it; inlined, its calls would make every launch save registers. */
HG_NOINLINE static uint64_t launch_id(const tile_run_state *s, uint64_t id) {
    if (id == (HG_ID_LANE_COUNT | KIR_ID_HIGH)) return s->launch->lanes >> 32;
    if (id & KIR_ID_HIGH) return 0;
    uint32_t axis = hg_idname_axis((hg_idname)id);
    switch (hg_idname_part((hg_idname)id)) {
    case HG_PART_BLOCK_DIM: return s->dims[axis];
    case HG_PART_GRID_DIM: return s->dims[axis + 3];
    case HG_PART_LANE_COUNT: return s->launch->lanes;
    default: return 0;
    }
}

/* What stays the same for the whole launch. */
void tile_run_fill(tile_frame *f, const tile_run_state *s) {
    const tile_kernel *k = f->kernel;
    for (uint32_t i = 0; i < k->frame.launch_cell_count; i++) {
        const tile_register *reg = &k->frame.registers[k->frame.launch_cells[i]];
        if (reg->kind == TILE_REGISTER_INPUT) {
            memcpy(f->reg[k->frame.launch_cells[i]], &s->launch->inputs[reg->imm], 8);
        } else {
            uint64_t value = launch_id(s, reg->imm);
            memcpy(f->reg[k->frame.launch_cells[i]], &value, 8);
        }
    }
}

/* The tile is one block. */
HG_NOINLINE static uint64_t block_coordinate(const tile_frame *f, const tile_run_state *s,
                                             uint64_t id) {
    uint64_t block = f->lane0 / s->block_lanes;
    uint32_t axis = hg_idname_axis((hg_idname)id);
    for (uint32_t a = 0; a < axis; a++) block /= s->dims[a + 3];
    return block % s->dims[axis + 3];
}

/* What changes with the tile. */
void tile_run_fill_tile(tile_frame *f, const tile_run_state *s) {
    const tile_kernel *k = f->kernel;
    for (uint32_t i = 0; i < k->frame.tile_cell_count; i++) {
        const tile_register *reg = &k->frame.registers[k->frame.tile_cells[i]];
        uint64_t value = reg->imm == HG_ID_GLOBAL_LANE_ID ? f->lane0
                                                          : block_coordinate(f, s, reg->imm);
        memcpy(f->reg[k->frame.tile_cells[i]], &value, 8);
    }
}

/* ---- tiles and blocks ---- */

/* Of all launches: faults are rare, and a launch without one sets nothing up. */
static hg_mutex merge_lock = HG_MUTEX_INIT;
static hg_fork_lock merge_forks = {.mutex = &merge_lock};
static void watch_forks(void) { hg_fork_add(&merge_forks, HG_FORK_TILE); }

void tile_run_watch_forks(void) {
    static hg_once_flag once = HG_ONCE_INIT;
    hg_once(&once, watch_forks);
}

static void merge_fault(tile_run_state *s, const tile_fault *fault) {
    if (!fault->happened) return;
    hg_mutex_lock(&merge_lock);
    if (tile_faults_before(fault->phase, fault->lane, s->fault)) *s->fault = *fault;
    hg_mutex_unlock(&merge_lock);
}

/* native NULL: by the interpreter. */
static void run_tile(tile_frame *f, tile_run_state *s, const tile_native *native, uint64_t lane0,
                     uint32_t n) {
    f->lane0 = lane0;
    f->n = n;
    f->phase = 0;
    f->faults.in_block = false;
    if (f->kernel->frame.tile_cell_count) tile_run_fill_tile(f, s);
    if (f->shared.size && s->launch->shared_memory)
        f->shared.bytes = s->launch->shared_memory + lane0 / s->block_lanes * f->shared.size;
    else if (f->shared.size && !native)
        memset(f->shared.bytes, 0, (size_t)f->shared.size);
    if (native)
        tile_run_native(f, native);
    else
        tile_execute(f);
}

/* Lanes of the tile that begins at lane0, by native code where it has come and where a turn, or a
 * block, may begin. */
static uint32_t next_tile(const tile_frame *f, uint64_t lane0, uint32_t each,
                          const tile_native **native) {
    const tile_native *code = tile_native_of(f->kernel);
    uint32_t lanes = each < f->width ? each : f->width;
    *native = NULL;
    if (code && !hg_thread_has_code((uintptr_t)code->run)) code = NULL;
    if (code && !f->kernel->block_mode && !tile_native_fits(f->state, code)) return lanes;
    uint64_t into = code && code->blocks ? lane0 % f->state->block_lanes : 0;
    if (code && (f->kernel->block_mode || (code->blocks ? into == 0 : lane0 % code->lanes == 0)))
        *native = code;
    if (*native) return tile_native_lanes(f->state, code, false);
    if (f->kernel->block_mode) return each;
    return into && f->state->block_lanes - into < lanes ? (uint32_t)(f->state->block_lanes - into)
                                                        : lanes;
}

/* Fuel that native code of so many lanes takes where the launch says how much work they are: its
 * loops need not count. */
static int64_t work_of(const tile_run_state *s, uint32_t n) {
    enum { OF_FUEL = 256 }; /* operations */
    const uint64_t of_lane = tile_work_of_lane(s), most = UINT64_C(1) << 40;
    return (int64_t)(of_lane < most ? n * of_lane / OF_FUEL : most);
}

/* Tiles [begin, end) of `each` lanes in one frame. False: out of memory. */
static bool run_range(tile_run_state *s, uint64_t begin, uint64_t end, uint32_t each,
                      uint32_t width, uint32_t worker) {
    tile_frame *f = tile_frame_take(s->kernel, width);
    if (!f) return false;
    f->state = s;
    if (s->owns) f->own = tile_owns_of(s->owns, worker);
    f->faults.best.happened = false;
    f->fuel = TILE_FUEL;
    for (size_t i = 0; i < HG_COUNT_OF(f->resolved.entries); i++) f->resolved.entries[i].used = 0;
    bool ok = tile_frame_shared(f, s->kernel->block_mode ? s->launch->shared_bytes : 0);
    tile_run_fill(f, s);
    fp_enter(s->kernel->options.poor);
    uint64_t lane0 = begin * each, left = s->launch->lanes - lane0;
    if (end - begin <= left / each) left = (end - begin) * each;
    for (uint32_t n; ok && left; lane0 += n, left -= n) {
        const tile_native *native;
        if (lane0 > atomic_load_explicit(&s->best_lane, memory_order_relaxed))
            break; /* could only lose */
        n = next_tile(f, lane0, each, &native);
        if (n > left) n = (uint32_t)left;
        run_tile(f, s, native, lane0, n);
        f->fuel -= (int64_t)n + s->kernel->code.count + (native ? work_of(s, n) : 0);
        if (f->fuel < 0 ? tile_out_of_time(f)
                        : atomic_load_explicit(&s->stop, memory_order_relaxed) != 0)
            break;
    }
    fp_leave(s->kernel->options.poor);
    if (f->fuel >= 0)
        tile_heat_add(s->kernel, (uint64_t)(TILE_FUEL - f->fuel) * s->kernel->code.count);
    if (hg_stream_wanted(s->launch->lanes * 8))
        hg_stream_end(); /* an access has 8 bytes at the most */
    merge_fault(s, &f->faults.best);
    f->own = NULL;
    tile_frame_give(f);
    return ok;
}

typedef struct shared_run {
    tile_run_state *state;
    uint32_t each, width;
} shared_run;

static void run_worker(void *user, uint64_t begin, uint64_t end, uint32_t worker) {
    shared_run *run = user;
    if (atomic_load_explicit(&run->state->stop, memory_order_relaxed)) return;
    if (!run_range(run->state, begin, end, run->each, run->width, worker))
        atomic_store(&run->state->stop, 3);
}

static void finish(tile_run_state *s, tile_fault *fault) {
    int stop = atomic_load(&s->stop);
    if (fault->happened || stop == 0 || stop == 3) return;
    const hg_limit limit = {.timeout_ms = s->launch->timeout_ms,
                            .reached = stop == 1 ? HG_LIMIT_TIME : HG_LIMIT_CANCELLED};
    tile_fault_of_limit(&limit, fault);
}

bool tile_run_is_large(const tile_kernel *k, uint64_t lanes, uint64_t work) {
    enum { LARGE = 1 << 20 };
    if (work && tile_native_of(k)) return work >= LARGE;
    uint64_t each = (uint64_t)k->code.count + k->code.function_work;
    return !hg_mul_u64(lanes, each * (k->has_loop ? 16 : 1), &work) || work >= 200000;
}

/* Native code takes from a tenth of the interpreter's time to all of it, so launches that may be
 * too short for threads are timed: the first few go on one, and so do others until one is long. */
enum { TIMED_LAUNCHES = 3, SHARED_NS = 10000, SURELY = 16 };

static bool is_shared(const tile_kernel *k, const tile_launch *launch, bool *is_timed) {
    *is_timed = false;
    if (!tile_run_is_large(k, launch->lanes, launch->work)) return false;
    if (launch->work || !tile_native_of(k) ||
        tile_run_is_large(k, launch->lanes / SURELY, launch->work))
        return true;
    *is_timed = hg_atomic_load(&k->native.timed, HG_ACQUIRE) < TIMED_LAUNCHES ||
                launch->lanes * hg_atomic_load(&k->native.lanes_ns, HG_RELAXED) <
                    SHARED_NS * UINT64_C(1024);
    return !*is_timed;
}

static void note_time(const tile_kernel *kernel, uint64_t lanes, uint64_t ns) {
    tile_kernel *k = (tile_kernel *)(uintptr_t)kernel;
    uint64_t each = ns / (lanes / 1024 + 1) + 1;
    uint32_t known = hg_atomic_load(&k->native.timed, HG_RELAXED);
    if (known >= TIMED_LAUNCHES && ns < SHARED_NS) return;
    if (known >= TIMED_LAUNCHES) known = 0; /* its loops are longer than they were, or it waited */
    if (known && hg_atomic_load(&k->native.lanes_ns, HG_RELAXED) < each)
        each = hg_atomic_load(&k->native.lanes_ns, HG_RELAXED);
    hg_atomic_store(&k->native.lanes_ns, each < UINT32_MAX ? (uint32_t)each : UINT32_MAX,
                    HG_RELAXED);
    hg_atomic_store(&k->native.timed, known + 1, HG_RELEASE);
}

/* Tiles or blocks of `each` lanes that a thread takes at once: some for each thread even where
 * there are few, for each may have long loops. */
static uint64_t chunk_of(uint64_t count, uint32_t each) {
    uint64_t most = TILE_FUEL / each / 4,
             share = count / (4 * (uint64_t)hg_thread_pool_count(hg_thread_pool_global()));
    return share < most ? share : most;
}

void tile_run_begin(tile_run_state *s, const tile_kernel *kernel, const tile_launch *launch) {
    *s = (tile_run_state){
        .kernel = kernel, .launch = launch, .block_lanes = 1, .best_lane = UINT64_MAX};
    for (int i = 0; i < 3; i++) {
        s->dims[i] = launch->block[i] ? launch->block[i] : 1;
        s->dims[i + 3] = launch->grid[i] ? launch->grid[i] : 1;
        s->block_lanes *= s->dims[i];
    }
}

hg_status tile_run(const tile_kernel *kernel, const tile_launch *launch, tile_fault *fault) {
    tile_run_state s;
    fault->happened = false;
    if (launch->lanes == 0) return HG_OK;
    tile_run_begin(&s, kernel, launch);
    s.fault = fault;
    uint32_t width = launch->lanes == 1 ? 1 : kernel->width;
    uint32_t each = tile_is_heavy(kernel) && width > TILE_HEAVY_LANES ? TILE_HEAVY_LANES : width;
    const tile_native *native = tile_native_of(kernel);
    if (native && tile_native_fits(&s, native)) each = tile_native_lanes(&s, native, true);
    if (kernel->block_mode) {
        uint64_t lanes = s.block_lanes < launch->lanes ? s.block_lanes : launch->lanes;
        if (lanes > UINT32_MAX / 2)
            return hg_fail(
                HG_ERROR_ISA,
                "a block with barriers or shared memory has at most 1024 lanes, got %llu",
                (unsigned long long)lanes);
        each = (uint32_t)lanes;
        width = lanes == 1 ? 1 : (each + 7) / 8 * 8;
    }
    uint64_t count = (launch->lanes - 1) / each + 1;
    if (kernel->options.check_races && !(s.races = tile_races_create(kernel->options.budget)))
        return hg_fail_memory();
    bool is_timed = false, ok = true,
         alone = count == 1 || launch->max_threads == 1 || s.races ||
                 !is_shared(kernel, launch, &is_timed);
    uint64_t start = is_timed ? hg_clock_ns() : 0;
    if (kernel->combined.count)
        s.owns = tile_owns_begin(kernel, launch,
                                 alone ? 1 : hg_thread_pool_count(hg_thread_pool_global()));
    if (alone) {
        ok = run_range(&s, 0, count, each, width, 0);
        if (is_timed) note_time(kernel, launch->lanes, hg_clock_ns() - start);
    } else {
        shared_run run = {&s, each, width};
        hg_thread_pool_run(hg_thread_pool_global(), count, chunk_of(count, each), run_worker, &run);
    }
    tile_owns_end(s.owns);
    ok = ok && atomic_load(&s.stop) != 3;
    hg_status status = s.races ? tile_races_status(s.races) : HG_OK;
    finish(&s, fault);
    if (s.races) tile_races_end(s.races, fault);
    tile_races_destroy(s.races);
    return ok ? status : hg_fail_memory();
}
