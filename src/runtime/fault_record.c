/* The fault record of a queue's dispatches: made, put in its first state, read after each window. Where host and device see one memory at
 * the same time it lies there, and the host can make lanes stop; elsewhere it is copied in and out.
 * Must not know: windows, how a fault is reported. */
#include "runtime/dispatch_internal.h"
#include <string.h>

static const uint32_t CLEAN[KIR_FAULT_WORDS] = {[KIR_FAULT_BEST] = UINT32_MAX};

void hg_fault_record_clean(hg_dispatch_queue *queue) {
    for (int i = 0; i < KIR_FAULT_WORDS; i++) hg_atomic_store(&queue->fault_words[i], CLEAN[i], HG_RELAXED);
    hg_atomic_fence(HG_SEQ_CST);
    queue->fault_dirty = false;
}

void *hg_fault_record_clean_words(void) { return (void *)(uintptr_t)CLEAN; }

hg_status hg_fault_record_make(hg_dispatch_queue *queue) {
    const hg_driver *d = queue->device->driver;
    if (queue->fault_ready) return HG_OK;
    if (d->arena_alloc_visible && d->arena_map && d->arena_alloc_visible(queue->device->device, sizeof CLEAN, &queue->visible) == HG_OK) {
        queue->fault_words = d->arena_map(queue->visible);
        if (!queue->fault_words) d->arena_free(queue->device->device, queue->visible);
        if (!queue->fault_words) queue->visible = NULL;
    }
    if (queue->fault_words)
        hg_fault_record_clean(queue);
    else
        HG_TRY(hg_piece_alloc(queue->device->memory, sizeof CLEAN, &queue->fault_memory));
    queue->fault_dirty = !queue->fault_words;
    queue->fault_ready = true;
    return HG_OK;
}

void hg_fault_record_free(hg_dispatch_queue *queue) {
    const hg_dispatch_device *device = queue->device;
    if (queue->visible) {
        if (device->driver->arena_unmap) device->driver->arena_unmap(queue->visible);
        device->driver->arena_free(device->device, queue->visible);
    }
    hg_piece_free(device->memory, &queue->fault_memory);
}

hg_range hg_fault_record_range(const hg_dispatch_queue *queue) {
    return queue->fault_words ? (hg_range){queue->visible, 0, sizeof CLEAN} : queue->fault_memory.range;
}

static bool before(const hg_driver_fault *a, const hg_driver_fault *b) {
    if (!b->happened) return true;
    return a->phase != b->phase ? a->phase < b->phase : a->lane < b->lane;
}

bool hg_fault_record_read(hg_submission *d) {
    hg_dispatch_queue *queue = d->queue;
    uint32_t words[KIR_FAULT_WORDS];
    if (d->code->layout.fault_slot < 0) return false;
    if (queue->fault_words && !hg_atomic_load(&queue->fault_words[KIR_FAULT_HAPPENED], HG_ACQUIRE) &&
        !hg_atomic_load(&queue->fault_words[KIR_FAULT_CANCEL], HG_RELAXED))
        return false;
    for (int i = 0; i < KIR_FAULT_WORDS; i++)
        words[i] = queue->fault_words ? hg_atomic_load(&queue->fault_words[i], HG_RELAXED) : queue->fault_copy[i];
    if (!words[KIR_FAULT_HAPPENED] && !words[KIR_FAULT_CANCEL]) return false;
    queue->fault_dirty = true;
    hg_driver_fault found;
    memset(&found, 0, sizeof found);
    if (words[KIR_FAULT_HAPPENED]) hg_fault_decode(words, d->code, d->launch, &found);
    if (found.happened && before(&found, &d->fault)) d->fault = found;
    return words[KIR_FAULT_CANCEL] != 0;
}
