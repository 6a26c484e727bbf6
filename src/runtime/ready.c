/* Launches that the driver makes ready (driver.h: prepare).
 * Must not know: who launches. */
#include "runtime/execute_internal.h"

/* Kernels with loops are made ready when they have native code, which a thread may be making. */
enum { MOST_TRIES = 8, LAUNCHES_BETWEEN = 200 };

void hg_binding_prepare(hg_binding *binding, const hg_driver_command *commands, uint32_t count) {
    const hg_backend *b = binding->executable->backend;
    binding->ready.launches_left = 0;
    if (!b->driver->prepare || b->caps->asynchronous) return;
    for (uint32_t i = 0; i < count; i++) {
        binding->ready.commands[i] = b->driver->prepare(b->device, &commands[i]);
        if (binding->ready.commands[i]) continue;
        while (i > 0) b->driver->prepared_destroy(binding->ready.commands[--i]);
        if (commands[0].kind == HG_CMD_LAUNCH && binding->steps && ++binding->ready.tries < MOST_TRIES)
            binding->ready.launches_left = LAUNCHES_BETWEEN;
        return;
    }
    binding->ready.count = (uint8_t)count;
    if (count) binding->way = HG_WAY_READY;
}
