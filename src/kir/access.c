/* Making memory operations.
 * Must not know: provenance, targets. */
#include "kir/access.h"

kir_value *kir_access_make(kir_builder *b, kir_op op, uint8_t type, const kir_place *at,
                           uint8_t count, kir_value *const *values) {
    kir_value *args[4];
    uint8_t n = 0;
    uint64_t bytes = kir_type_bytes(type);
    if (at->handle) args[n++] = at->handle;
    if (at->index) args[n++] = at->index;
    for (uint8_t i = 0; i < count; i++) args[n++] = values[i];
    kir_value *v = kir_emit(b, op, op == KIR_LOAD || op == KIR_ATOMIC ? type : (uint8_t)KIR_VOID, n,
                            args);
    v->u.mem.space = at->space;
    v->u.mem.class_id = at->class_id;
    v->u.mem.operand = at->operand;
    v->u.mem.unchecked = at->unchecked;
    v->u.mem.has_index = at->index != NULL;
    v->u.mem.disp = at->disp;
    v->u.mem.bytes = (uint8_t)(bytes <= 8 ? bytes : 0);
    v->u.mem.bytes_wide = (uint16_t)bytes;
    v->u.mem.slot = KIR_OPEN;
    return v;
}
