/* Libraries of others are first opened by a program of their own, hologram-try-driver: what ends
 * the process, crashes or hangs while it is opened takes nobody with it. The program lists the
 * devices and opens and closes each; only what it came through is opened here. Its answer is kept:
 * in this process, and on disk for the next ones (trial_key.c says for how long it holds). */
#ifndef HG_DRIVER_TRIAL_H
#define HG_DRIVER_TRIAL_H

#include "driver/driver.h"

enum { HG_TRIAL_DEVICES = 64, HG_TRIAL_VERSION = 1 /* of what the program is asked and answers */ };

typedef struct hg_trial_options {
    const char *helper;    /* the program; "": is looked for, "off": none, libraries are opened
                              directly */
    const char *cache_dir; /* "": answers are kept in this process only */
    uint64_t limit_ms;     /* for all devices of a driver; 0: none */
} hg_trial_options;

typedef enum hg_trial_end {
    HG_TRIAL_CAME_BACK, /* with devices or an error by value: may be opened */
    HG_TRIAL_EXITED,    /* code: exit status */
    HG_TRIAL_KILLED,    /* code: signal */
    HG_TRIAL_LATE,      /* code: the limit in ms */
    HG_TRIAL_NOT_TRIED, /* the program could not be asked: is opened directly */
} hg_trial_end;

typedef struct hg_trial_outcome {
    hg_trial_end end;
    int32_t code;
} hg_trial_outcome;

typedef struct hg_trial {
    hg_trial_outcome listing, devices[HG_TRIAL_DEVICES]; /* beyond the devices of the time: came
                                                            back */
    char note[160];                                      /* listing not tried: why */
} hg_trial;

/* The answer for a driver; without `vendor` it came back. From any thread; others wait. Only
 * HG_ERROR_OUT_OF_MEMORY. */
hg_status hg_trial_ask(const hg_driver *driver, const hg_trial_options *options,
                       hg_trial *trial) HG_NODISCARD;
/* False: may be opened. True: `reason` says how it ended. */
bool hg_trial_failed(const hg_trial_outcome *outcome, char reason[256]);
/* Why the driver's libraries were opened directly in this process; "": they were tried first, or
 * nobody asked for them yet. */
void hg_trial_note(const hg_driver *driver, char note[160]);

#endif
