/* Waiting for a driver's work, in whatever way the driver has.
 * Must not know: which driver it is. */
#include "driver/driver.h"

bool hg_driver_can_wait(const hg_driver *driver) {
    return driver->event_wait || driver->device_poll;
}

hg_status hg_driver_would_block(const hg_driver *driver, const char *what) {
    return hg_fail(HG_ERROR_WOULD_BLOCK,
                   "%s would have to wait, which %s cannot: use a queue and ask its event", what,
                   driver->name);
}

hg_status hg_driver_wait(const hg_driver *driver, hg_device *device, hg_driver_event *event) {
    bool done = false;
    if (driver->event_wait) return driver->event_wait(event);
    if (!driver->device_poll) return hg_driver_would_block(driver, "the call");
    for (;;) {
        HG_TRY(driver->event_query(event, &done));
        if (done) return HG_OK;
        driver->device_poll(device);
    }
}

hg_status hg_driver_run(const hg_driver *driver, hg_device *device, const hg_device_caps *caps,
                        hg_driver_queue *queue, const hg_driver_command *command) {
    hg_driver_event *event = NULL;
    if (caps->scheduling.asynchronous) HG_TRY(driver->event_create(device, &event));
    hg_status status = driver->queue_submit(queue, command, 1, NULL, 0, event);
    if (status == HG_OK && event) status = hg_driver_wait(driver, device, event);
    if (event) driver->event_destroy(event);
    return status;
}
