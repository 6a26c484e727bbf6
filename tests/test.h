/* Tiny check macros shared by every test program. A failure prints one line with a place; the last
 * line is the count. */
#ifndef HG_TESTS_TEST_H
#define HG_TESTS_TEST_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The counts of the program, in tests/support/test.c. */
extern uint64_t test_passed, test_failed, test_skipped;

#define CHECK(condition) CHECK_MESSAGE(condition, "%s", #condition)
#define CHECK_MESSAGE(condition, ...)                           \
    do {                                                        \
        if (condition) {                                        \
            test_passed++;                                      \
        } else {                                                \
            test_failed++;                                      \
            if (test_failed <= 50) {                            \
                fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
                fprintf(stderr, __VA_ARGS__);                   \
                fprintf(stderr, "\n");                          \
            }                                                   \
        }                                                       \
    } while (0)
#define CHECK_U64(actual, expected)                                                          \
    do {                                                                                     \
        uint64_t check_a = (uint64_t)(actual), check_e = (uint64_t)(expected);               \
        CHECK_MESSAGE(check_a == check_e, "%s: expected %" PRIu64 ", got %" PRIu64, #actual, \
                      check_e, check_a);                                                     \
    } while (0)
#define CHECK_TEXT(actual, expected)                                                              \
    do {                                                                                          \
        const char *check_a = (actual), *check_e = (expected);                                    \
        CHECK_MESSAGE(check_a &&strcmp(check_a, check_e) == 0, "%s: expected \"%s\", got \"%s\"", \
                      #actual, check_e, check_a ? check_a : "(null)");                            \
    } while (0)
#define SKIP(reason) (test_skipped++, fprintf(stderr, "skipped: %s\n", reason))

/* The last statement of main: prints the closing line. */
int test_done(void);

#ifdef __cplusplus
}
#endif

#endif
