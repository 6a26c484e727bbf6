/* What devices that bind arenas rely on. Must not know: which driver it is. */
#include "driver/driver.h"

hg_status hg_driver_check_bound_once(const hg_driver_dispatch *x) {
    for (uint32_t i = 1; i < x->slot_count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (x->slots[i].arena && x->slots[i].arena == x->slots[k].arena)
                return hg_fail(HG_ERROR_INTERNAL, "bindings %u and %u are the same memory",
                               (unsigned)k, (unsigned)i);
    return HG_OK;
}
