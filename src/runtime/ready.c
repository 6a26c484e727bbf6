/* Launches that the driver makes ready (driver.h: prepare).
 * Must not know: who launches. */
#include "runtime/execute_internal.h"

void hg_binding_prepare(hg_binding *binding, const hg_driver_command *command) {
    const hg_backend *b = binding->executable->backend;
    binding->until_prepared = 0;
    if (b->driver->prepare && !b->caps->asynchronous) binding->prepared = b->driver->prepare(b->device, command);
}
