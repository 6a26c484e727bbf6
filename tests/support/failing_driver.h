/* A backend whose n-th call of the driver fails: submissions, memory, events, queues, code. One
 * backend at a time. */
#ifndef HG_TESTS_FAILING_DRIVER_H
#define HG_TESTS_FAILING_DRIVER_H

#include "runtime/backend.h"

typedef enum failing_calls {
    FAIL_SUBMIT = 1,
    FAIL_MEMORY = 2,
    FAIL_EVENT = 4,
    FAIL_QUEUE = 8,
    FAIL_CODE = 16,
    FAIL_ALL = 31
} failing_calls;

/* From now on calls of these kinds are counted from 0. What was made before keeps the driver it
 * has. */
void failing_driver_install(hg_backend *b, int kinds);
void failing_driver_remove(hg_backend *b);
/* The n-th call from now on fails; 0: none. */
void failing_driver_at(uint64_t n);
/* Calls since failing_driver_at. */
uint64_t failing_driver_calls(void);
extern const char FAILING_DRIVER_TEXT[]; /* the message of a failed call */

#endif
