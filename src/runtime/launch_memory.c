/* Memory that device forms need beside the program's: the fault record, locks, shared memory of all
 * blocks. Made when first needed.
 * Must not know: code, records. */
#include "runtime/dispatch_internal.h"

static hg_status make_locks(hg_dispatch_device *device) {
    hg_mutex_lock(&device->lock);
    hg_status status = device->locks.range.arena
                           ? HG_OK
                           : hg_piece_alloc(device->memory, KIR_LOCK_WORDS * 4, &device->locks);
    hg_mutex_unlock(&device->lock);
    return status;
}

/* Group memory that the device cannot have, for all blocks at once. */
static hg_status make_shared(hg_submission *d, const hg_driver_launch *l) {
    uint64_t bytes, blocks = (l->lanes - 1) / d->block_lanes + 1;
    if (hg_window_leaves(d)) {
        bytes = hg_window_resumes(d, l->lanes) * d->code->layout.resume_bytes;
        if (d->shared.range.arena && d->shared.range.size >= bytes) return HG_OK;
        hg_piece_free(d->queue->device->memory, &d->shared);
        return hg_piece_alloc(d->queue->device->memory, bytes, &d->shared);
    }
    if (l->shared_memory.arena) return HG_OK;
    if (!hg_mul_u64(blocks, l->shared_bytes, &bytes))
        return hg_fail(HG_ERROR_OUT_OF_MEMORY,
                       "shared memory needs %llu bytes for each of %llu blocks",
                       (unsigned long long)l->shared_bytes, (unsigned long long)blocks);
    if (d->shared.range.arena && d->shared.range.size >= bytes) return HG_OK;
    hg_piece_free(d->queue->device->memory, &d->shared);
    return hg_piece_alloc(d->queue->device->memory, bytes, &d->shared);
}

hg_status hg_launch_memory_make(hg_submission *d, const hg_driver_launch *l, bool locks,
                                bool shared) {
    HG_TRY(hg_fault_record_make(d->queue));
    if (shared) HG_TRY(make_shared(d, l));
    return locks ? make_locks(d->queue->device) : HG_OK;
}
