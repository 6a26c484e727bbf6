/* Groups of a device form: shared memory that begins as zeros, and barriers that all lanes of a group reach, stopped ones too.
 * Must not know: accesses, the clock. */
#include "kir/device_internal.h"

hg_status device_find_kept(device *d) {
    (void)d;
    return hg_fail(HG_ERROR_ISA, "stopped lanes at barriers are not possible yet");
}

void device_tell_group(device *d, kir_builder *b) { (void)d, (void)b; }
void device_enter_kept(device *d, kir_builder *b, const kir_value *v) { (void)d, (void)b, (void)v; }
void device_begin_group(device *d, kir_builder *b) { (void)d, (void)b; }

void device_lower_barrier(device *d, const kir_value *v) {
    (void)v;
    kir_emit(&d->p->b, KIR_BARRIER, KIR_VOID, 0, NULL)->u.imm = v->u.imm;
}
