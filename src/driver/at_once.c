/* Queues and events of drivers whose work is over when queue_submit returns. */
#include "driver/at_once.h"

hg_status hg_at_once_queue_create(hg_device *device, hg_driver_queue **queue) {
    *queue = hg_calloc(1, sizeof **queue);
    if (!*queue) return hg_fail_memory();
    (*queue)->device = device;
    return HG_OK;
}

void hg_at_once_queue_destroy(hg_driver_queue *queue) { hg_free(queue); }

hg_status hg_at_once_event_create(hg_device *device, hg_driver_event **event) {
    (void)device;
    *event = hg_calloc(1, sizeof **event);
    return *event ? HG_OK : hg_fail_memory();
}

void hg_at_once_event_destroy(hg_driver_event *event) { hg_free(event); }

hg_status hg_at_once_event_query(hg_driver_event *event, bool *done) {
    *done = hg_atomic_load(&event->done, HG_ACQUIRE) != 0;
    return *done ? event->status : HG_OK;
}

hg_status hg_at_once_event_wait(hg_driver_event *event) {
    bool done;
    return hg_at_once_event_query(event, &done);
}
