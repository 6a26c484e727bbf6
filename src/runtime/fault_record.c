/* The fault records of a queue's dispatches: made, put in their first state, read after each
 * window. Each launch under way that can fault has one. Where host and device see one memory at the
 * same time they lie there, and the host can make lanes stop; elsewhere they are copied in and out.
 * Must not know: windows, how a fault is reported. */
#include "kir/fault_text.h"
#include "runtime/dispatch_internal.h"
#include <stdio.h>
#include <string.h>

static const uint32_t CLEAN[KIR_FAULT_WORDS] = {[KIR_FAULT_BEST] = UINT32_MAX};

volatile uint32_t *hg_fault_record_words(const hg_dispatch_queue *queue, uint8_t number) {
    return queue->fault_words + number * (HG_FAULT_STRIDE / sizeof *queue->fault_words);
}

void hg_fault_record_clean(hg_dispatch_queue *queue, uint8_t number) {
    volatile uint32_t *words = hg_fault_record_words(queue, number);
    for (int i = 0; i < KIR_FAULT_WORDS; i++) hg_atomic_store(&words[i], CLEAN[i], HG_RELAXED);
    hg_atomic_fence(HG_SEQ_CST);
    queue->faults[number].dirty = false;
}

uint8_t hg_fault_record_find(const hg_dispatch_queue *queue) {
    uint8_t number = 0;
    while (number < HG_FAULT_RECORDS && queue->faults[number].taken) number++;
    return number;
}

void *hg_fault_record_clean_words(void) { return (void *)(uintptr_t)CLEAN; }

enum { BYTES = HG_FAULT_RECORDS * HG_FAULT_STRIDE };

hg_status hg_fault_record_make_copied(hg_dispatch_queue *queue) {
    return queue->fault_memory.range.arena
               ? HG_OK
               : hg_piece_alloc(queue->device->memory, BYTES, &queue->fault_memory);
}

hg_status hg_fault_record_make(hg_dispatch_queue *queue) {
    const hg_driver *d = queue->device->driver;
    if (queue->fault_ready) return HG_OK;
    if (d->arena_alloc_visible && d->arena_map) {
        hg_error kept = *hg_error_record(); /* without such memory records are copied */
        if (d->arena_alloc_visible(queue->device->device, BYTES, &queue->visible) == HG_OK) {
            queue->fault_words = d->arena_map(queue->visible);
            if (!queue->fault_words) d->arena_free(queue->device->device, queue->visible);
            if (!queue->fault_words) queue->visible = NULL;
        }
        *hg_error_record() = kept;
    }
    if (!queue->fault_words) HG_TRY(hg_fault_record_make_copied(queue));
    for (uint8_t i = 0; i < HG_FAULT_RECORDS; i++) {
        queue->faults[i].dirty = true;
        if (queue->fault_words) hg_fault_record_clean(queue, i);
    }
    queue->fault_ready = true;
    return HG_OK;
}

void hg_fault_record_free(hg_dispatch_queue *queue) {
    const hg_dispatch_device *device = queue->device;
    if (queue->visible) {
        if (device->driver->arena_unmap) device->driver->arena_unmap(queue->visible);
        hg_driver_note_gone();
        device->driver->arena_free(device->device, queue->visible);
    }
    hg_piece_free(device->memory, &queue->fault_memory);
}

hg_range hg_fault_record_range(const hg_submission *d) {
    const hg_dispatch_queue *queue = d->queue;
    hg_range all = hg_fault_record_is_seen(d) ? (hg_range){queue->visible, 0, 0}
                                              : queue->fault_memory.range;
    return (hg_range){all.arena, all.offset + d->fault.number * (uint64_t)HG_FAULT_STRIDE,
                      sizeof CLEAN};
}

static bool before(const hg_driver_fault *a, const hg_driver_fault *b) {
    if (!b->happened) return true;
    return a->phase != b->phase ? a->phase < b->phase : a->lane < b->lane;
}

/* Instead of any other fault: lanes whose loops were cut short may have made it, or missed one
 * before it. */
static void cut_short(hg_submission *d) {
    memset(&d->fault.found, 0, sizeof d->fault.found);
    d->fault.found.happened = true;
    d->fault.found.code = KIR_FAULT_ROUNDS;
    snprintf(d->fault.found.message, sizeof d->fault.found.message,
             "the device cannot run more than %u rounds of loops%s in a lane",
             (unsigned)d->set->caps->compiler.target.max_rounds,
             d->set->facts.needs_blocks ? " around barriers or shared memory" : "");
}

bool hg_fault_record_read(hg_submission *d, bool *left) {
    hg_dispatch_queue *queue = d->queue;
    hg_fault_record *record = &queue->faults[d->fault.number];
    const volatile uint32_t *seen = hg_fault_record_is_seen(d)
                                        ? hg_fault_record_words(queue, d->fault.number)
                                        : NULL;
    uint32_t words[KIR_FAULT_WORDS];
    *left = false;
    if (d->code->layout.fault_slot < 0) return false;
    if (seen && !hg_atomic_load(&seen[KIR_FAULT_HAPPENED], HG_ACQUIRE) &&
        !hg_atomic_load(&seen[KIR_FAULT_CANCEL], HG_RELAXED) &&
        !hg_atomic_load(&seen[KIR_FAULT_LEFT], HG_RELAXED))
        return false;
    for (int i = 0; i < KIR_FAULT_WORDS; i++)
        words[i] = seen ? hg_atomic_load(&seen[i], HG_RELAXED) : record->copy[i];
    *left = words[KIR_FAULT_LEFT] != 0;
    if (!words[KIR_FAULT_HAPPENED] && !words[KIR_FAULT_CANCEL] && !*left) return false;
    record->dirty = true;
    hg_driver_fault found;
    memset(&found, 0, sizeof found);
    if (words[KIR_FAULT_HAPPENED]) hg_fault_decode(words, d->code, d->launch, &found);
    if (found.happened && before(&found, &d->fault.found)) d->fault.found = found;
    if (words[KIR_FAULT_CANCEL] == KIR_CANCEL_ROUNDS) cut_short(d);
    return words[KIR_FAULT_CANCEL] != 0;
}
