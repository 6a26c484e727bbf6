/* See ../test.h. */
#include "test.h"

uint64_t test_passed, test_failed, test_skipped;

int test_done(void) {
    printf("%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped\n", test_passed, test_failed, test_skipped);
    return test_failed ? 1 : 0;
}
