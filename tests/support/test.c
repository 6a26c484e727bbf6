/* See ../test.h. */
#include "polled.h"
#include "test.h"

uint64_t test_passed, test_failed, test_skipped;

/* What a device that pretends to be polled saw of the driver contract. */
static void check_misuses(void) {
    char first[160];
    uint64_t count = polled_misuses(first);
    if (count)
        CHECK_MESSAGE(false, "the driver contract was broken %" PRIu64 " times; first: %s", count,
                      first);
}

int test_done(void) {
    check_misuses();
    printf("%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped\n", test_passed,
           test_failed, test_skipped);
    return test_failed ? 1 : 0;
}
