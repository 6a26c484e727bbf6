/* What lanes know about other lanes that have stopped: whether this one has stopped, the barriers
 * passed, and the words that the group shares in front of its memory (ghost.c says what they mean).
 * Must not know: why a lane stops. */
#include "kir/device/device_internal.h"
#include "kir/builder.h"
#include "kir/sugar.h"

kir_var *device_stopped(device *d) {
    return device_own_var(d, &d->vars.stopped, KIR_BOOL, "stopped");
}

kir_value *device_is_live(device *d, kir_builder *b) {
    return kir_not(b, kir_get(b, device_stopped(d)));
}

const device_place DEVICE_GROUP_MEMORY = {.kind = DEVICE_GROUP};

kir_var *device_phase(device *d) { return device_own_var(d, &d->vars.phase, HG_TYPE_U32, "phase"); }

kir_var *device_sync(device *d) { return device_own_var(d, &d->vars.sync, HG_TYPE_U32, "sync"); }

void device_tell_group(device *d, kir_builder *b) {
    if (!d->ghosts || !d->kernel.tell_faults || d->at.tail) return;
    kir_value *word = u32(b, DEVICE_FAULT_WORD), *sync = kir_get(b, device_sync(d));
    device_raw_store(d, b, &DEVICE_GROUP_MEMORY, word, kir_add(b, sync, u32(b, 1)), true);
}
