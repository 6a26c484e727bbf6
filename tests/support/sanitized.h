/* Whether the program is built with AddressSanitizer or ThreadSanitizer: long tests run a smaller
 * part there. */
#ifndef HG_TESTS_SANITIZED_H
#define HG_TESTS_SANITIZED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* How many rounds a test makes: a part under a sanitizer, all of them there with HG_SLICE=long
 * (asan_long of make test-all). */
static inline uint64_t rounds_here(uint64_t all, uint64_t part) {
    const char *slice = getenv("HG_SLICE");
    return SANITIZED && !(slice && strcmp(slice, "long") == 0) ? part : all;
}

#endif
