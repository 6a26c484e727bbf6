/* Batches of commands that come again as they were: recorded once by the driver and launched as a
 * recording. */
#ifndef HG_RUNTIME_RECORDED_H
#define HG_RUNTIME_RECORDED_H

#include "driver/driver.h"

enum {
    HG_RECORD_AFTER = 4
}; /* times that commands come before they are recorded: a recording takes memory of the driver */

/* The recording of commands that come again, once they came often. Zero-initialise. */
typedef struct hg_repeated {
    uint32_t repeats; /* up to the recording */
    hg_driver_recording *recording;
} hg_repeated;

/* The commands are those of the last time: whether they are in repeated->recording. Without a
 * recording they are submitted each time, which always works. */
bool hg_repeated_find(hg_repeated *repeated, const hg_driver *driver, hg_device *device,
                      const hg_driver_command *commands, uint32_t count);
/* The commands are others from now on. No launch of the recording is in flight. */
void hg_repeated_drop(hg_repeated *repeated, const hg_driver *driver);

/* The last batch, byte by byte, and its recording. Zero-initialise. */
typedef struct hg_recorded {
    uint8_t *image;
    size_t size, capacity;
    uint64_t gone; /* hg_driver_gone when the image was made */
    hg_repeated repeated;
    int in_flight; /* atomic */
} hg_recorded;

/* Whether the commands are in recorded->repeated.recording. False: they came too seldom, are no
 * recording's, or the recording's last launch is not known to be over. One caller at a time. */
bool hg_recorded_find(hg_recorded *recorded, const hg_driver *driver, hg_device *device,
                      const hg_driver_command *commands, uint32_t count);
/* The recording was launched; its launch is over, or nothing of its queue is under way. */
void hg_recorded_launched(hg_recorded *recorded);
void hg_recorded_done(hg_recorded *recorded);
void hg_recorded_free(hg_recorded *recorded, const hg_driver *driver);

#endif
