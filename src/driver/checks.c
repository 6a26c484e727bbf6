/* What drivers rely on. Must not know: which driver it is. */
#include "driver/driver.h"

static bool meet(const hg_range *a, const hg_range *b) {
    bool whole = a->size == 0 || b->size == 0;
    return a->arena && a->arena == b->arena &&
           (whole || (a->offset < b->offset + b->size && b->offset < a->offset + a->size));
}

hg_status hg_driver_check_bound_once(const hg_driver_dispatch *x) {
    for (uint32_t i = 1; i < x->slot_count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (meet(&x->slots[i], &x->slots[k]))
                return hg_fail(HG_ERROR_INTERNAL, "bindings %u and %u are the same memory",
                               (unsigned)k, (unsigned)i);
    return HG_OK;
}

hg_status hg_driver_check_recordable(const char *driver, const hg_device_caps *caps,
                                     const hg_driver_command *commands, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        hg_driver_command_kind kind = commands[i].kind;
        bool recordable = kind == HG_CMD_DISPATCH || kind == HG_CMD_COPY || kind == HG_CMD_FILL ||
                          (kind == HG_CMD_STEP && caps->scheduling.records_steps);
        if (!recordable)
            return hg_fail(HG_ERROR_INTERNAL, "%s: command %u of a recording is of kind %d", driver,
                           (unsigned)i, (int)kind);
    }
    return HG_OK;
}

hg_status hg_driver_check_table(uint32_t arenas, uint32_t most) {
    if (arenas <= most) return HG_OK;
    return hg_fail(HG_ERROR_ALLOCATION_FAILED,
                   "the program finds buffers by handles it computes; this device reaches %u "
                   "arenas that way, %u are in use",
                   (unsigned)most, (unsigned)arenas);
}
