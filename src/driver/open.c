/* Opening a device through its driver, or through what tests put in front of it.
 * Must not know: which driver it is. */
#include "base/deep.h"
#include "driver/driver.h"
#include <stdio.h>

hg_driver_opener *hg_driver_open_polled;

typedef struct opening {
    const hg_driver *driver;
    uint32_t index;
    const hg_driver_options *options;
    hg_device **device;
} opening;

static hg_status open_here(void *user) {
    const opening *o = user;
    if (o->options->host) return o->driver->device_adopt(o->options, o->device);
    return o->driver->device_open(o->index, o->options, o->device);
}

/* What others wrote has a stack of its own; threads that it starts get the mode of that thread. */
hg_status hg_driver_open_own(const hg_driver *driver, uint32_t index,
                             const hg_driver_options *options, hg_device **device) {
    opening o = {driver, index, options, device};
    char what[64];
    if (!driver->vendor) return open_here(&o);
    snprintf(what, sizeof what, "opening %s", driver->name);
    return hg_call_deep(open_here, &o, what);
}

hg_status hg_driver_open(const hg_driver *driver, uint32_t index, const hg_driver_options *options,
                         const hg_driver **table, hg_device **device) {
    *table = driver;
    if (!hg_pretends(options->pretend, "no-wait") && !hg_pretends(options->pretend, "polled"))
        return hg_driver_open_own(driver, index, options, device);
    if (hg_driver_open_polled) return hg_driver_open_polled(driver, index, options, table, device);
    return hg_fail(HG_ERROR_INVALID_ARGUMENT,
                   "HOLOGRAM_PRETEND '%s': polled and no-wait are for tests: this program is not "
                   "linked with tests/support/polled.c",
                   options->pretend);
}
