/* The first fault in the order (phase, lane, instruction), and the clock. A lane has one fault at
 * most, so that lanes decide.
 * Must not know: code. */
#include "kir/fault_text.h"
#include "tile/tile_internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool tile_faults_before(uint64_t phase, uint64_t lane, const tile_fault *than) {
    if (!than->happened || kir_fault_is_launch(than->code)) return true;
    return phase != than->phase ? phase < than->phase : lane < than->lane;
}

tile_fault *tile_fault_lane(tile_frame *frame, uint32_t lane) {
    uint64_t id = frame->lane0 + lane;
    frame->faults.in_block = true;
    if (!tile_faults_before(frame->phase, id, &frame->faults.best)) return NULL;
    memset(&frame->faults.best, 0, sizeof frame->faults.best);
    frame->faults.best.happened = true;
    frame->faults.best.phase = frame->phase;
    frame->faults.best.lane = id;
    if (frame->phase == 0) { /* only lanes above can lose: theirs are not worth running */
        uint64_t best = atomic_load_explicit(&frame->state->best_lane, memory_order_relaxed);
        while (id < best && !atomic_compare_exchange_weak_explicit(&frame->state->best_lane, &best,
                                                                   id, memory_order_relaxed,
                                                                   memory_order_relaxed)) {}
    }
    return &frame->faults.best;
}

void tile_fault_message(tile_fault *fault, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(fault->message, sizeof fault->message, format, args);
    va_end(args);
}

void tile_fault_bounds(tile_fault *fault, bool pool, hg_i128 offset, uint64_t size,
                       uint64_t limit) {
    fault->code = KIR_FAULT_BOUNDS;
    fault->offset = (uint64_t)offset;
    fault->limit = limit;
    kir_fault_text_bounds(fault->message, sizeof fault->message, pool, offset, size, limit);
}

void tile_fault_of_limit(const hg_limit *limit, tile_fault *fault) {
    memset(fault, 0, sizeof *fault);
    fault->happened = true;
    fault->code = hg_atomic_load(&limit->reached, HG_RELAXED) == HG_LIMIT_TIME
                      ? KIR_FAULT_TIMEOUT
                      : KIR_FAULT_CANCELLED;
    if (fault->code == KIR_FAULT_TIMEOUT)
        kir_fault_text_timeout(fault->message, sizeof fault->message, limit->timeout_ms);
    else
        tile_fault_message(fault, "cancelled");
}

bool tile_out_of_time(tile_frame *frame) {
    tile_run_state *state = frame->state;
    const tile_launch *launch = state->launch;
    int stop = atomic_load_explicit(&state->stop, memory_order_relaxed);
    frame->fuel = stop ? -1 : TILE_FUEL; /* no loop and no call goes on from now on */
    if (stop) return true;
    tile_heat_add(frame->kernel, (uint64_t)TILE_FUEL * frame->kernel->code.count);
    if (launch->cancel && hg_atomic_load(launch->cancel, HG_RELAXED))
        stop = 2;
    else if (launch->deadline_ns && hg_clock_ns() >= launch->deadline_ns)
        stop = 1;
    if (!stop) return false;
    atomic_store_explicit(&state->stop, stop, memory_order_relaxed);
    frame->fuel = -1;
    return true;
}
