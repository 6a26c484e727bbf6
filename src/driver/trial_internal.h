/* What trial.c and trial_key.c share. */
#ifndef HG_DRIVER_TRIAL_INTERNAL_H
#define HG_DRIVER_TRIAL_INTERNAL_H

#include "driver/trial.h"

enum { HG_TRIAL_PATH = 4096 };

/* Everything that an answer depends on and that can be known before anything is opened. False: some
 * of it cannot be known, and the answer holds in this process only. */
bool hg_trial_key(const hg_driver *driver, const char *helper, uint64_t limit_ms, uint8_t key[32]);
/* Whether the files that an answer names (lines "file SIZE SECONDS NANOSECONDS INODE PATH") are as
 * they were. */
bool hg_trial_same_files(const char *lines, size_t length);
/* The time that answers are dated with: seconds since the machine started, of which the key names
 * the start. */
uint64_t hg_trial_seconds(void);

#endif
