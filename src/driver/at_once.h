/* Queues and events of drivers whose work is over when queue_submit returns. Such a driver's table
 * has these functions, and a queue_submit that calls hg_at_once_submit.
 * Must not know: devices, commands. */
#ifndef HG_DRIVER_AT_ONCE_H
#define HG_DRIVER_AT_ONCE_H

#include "base/thread.h"
#include "driver/driver.h"

struct hg_driver_queue {
    hg_device *device;
};
struct hg_driver_event {
    int done;
    hg_status status;
};

hg_status hg_at_once_queue_create(hg_device *device, hg_driver_queue **queue) HG_NODISCARD;
void hg_at_once_queue_destroy(hg_driver_queue *queue);
hg_status hg_at_once_event_create(hg_device *device, hg_driver_event **event) HG_NODISCARD;
void hg_at_once_event_destroy(hg_driver_event *event);
hg_status hg_at_once_event_query(hg_driver_event *event, bool *done) HG_NODISCARD;
hg_status hg_at_once_event_wait(hg_driver_event *event) HG_NODISCARD;

/* Runs the commands until one fails; none where what it waits for has failed. In the header, since
 * small launches feel a call. */
static inline hg_status
hg_at_once_submit(hg_driver_queue *queue, const hg_driver_command *commands, uint32_t count,
                  hg_driver_event *const *waits, uint32_t wait_count, hg_driver_event *signal,
                  hg_status (*run)(hg_device *device, const hg_driver_command *command)) {
    hg_status status = HG_OK;
    for (uint32_t i = 0; i < wait_count && status == HG_OK; i++) status = waits[i]->status;
    for (uint32_t i = 0; i < count && status == HG_OK; i++)
        status = run(queue->device, &commands[i]);
    if (signal) {
        signal->status = status;
        hg_atomic_store(&signal->done, 1, HG_RELEASE);
    }
    return status;
}

#endif
