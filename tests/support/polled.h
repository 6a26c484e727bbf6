/* Devices that work only while they are polled or asked (HOLOGRAM_PRETEND=polled=SEED,
 * no-wait=SEED). A program has them when it is linked with polled.c. */
#ifndef HG_TESTS_POLLED_H
#define HG_TESTS_POLLED_H

#include <stdint.h>

/* How often callers of such devices broke the driver contract (driver/driver.h) in this process
 * since this was last asked, and the first time in words. */
uint64_t polled_misuses(char first[160]);

#endif
