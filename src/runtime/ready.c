/* Launches that the driver makes ready (driver.h: prepare).
 * Must not know: who launches. */
#include "runtime/execute_internal.h"

/* Kernels with loops are made ready when they have native code, which a thread may be making. */
enum { MOST_TRIES = 8, LAUNCHES_BETWEEN = 200 };

void hg_binding_prepare(hg_binding *binding, const hg_driver_command *commands, uint32_t count) {
    const hg_backend *b = binding->executable->backend;
    binding->until_prepared = 0;
    if (!b->driver->prepare || b->caps->asynchronous) return;
    for (uint32_t i = 0; i < count; i++) {
        binding->prepared[i] = b->driver->prepare(b->device, &commands[i]);
        if (binding->prepared[i]) continue;
        while (i > 0) b->driver->prepared_destroy(binding->prepared[--i]);
        if (commands[0].kind == HG_CMD_LAUNCH && binding->steps && ++binding->prepare_tries < MOST_TRIES)
            binding->until_prepared = LAUNCHES_BETWEEN;
        return;
    }
    binding->prepared_count = (uint8_t)count;
}
