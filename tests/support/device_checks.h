/* Texts of a language of the C family, checked and run: every primitive with edge values against
 * kir_eval.h, the meaning of prim.def written a second time; groups, atomics, functions and the
 * record against what plain C does. */
#ifndef HG_TESTS_DEVICE_CHECKS_H
#define HG_TESTS_DEVICE_CHECKS_H

#include "support/device_support.h"

typedef struct device_checks_options {
    const c_dialect *dialect;
    bool addressed, f64, atomic64; /* what the language has */
    uint32_t large_record;  /* so many more fields make a record too large for a parameter; 0: it
                               never is */
    device_fixture *device; /* that texts run on; NULL: they are only checked */
    void (*check_text)(const char *text, const char *name); /* NULL: they are only run */
} device_checks_options;

void device_checks(const device_checks_options *options);

#endif
