/* Readable tests of backends in C. Header only; failures go to standard error through
 * hg_test_report and are counted, nothing ends the process.
 *
 *     BACKEND_TEST(relu, "cpu", {
 *         setup; execute; verify
 *     })
 *     int main(void) { RUN_BACKEND_TEST(relu); return hg_test_failures() != 0; }
 */
#ifndef HOLOGRAM_TESTING_H
#define HOLOGRAM_TESTING_H

#include <hologram/builder.h>
#include <hologram/executor.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/** Failures so far in this source file. */
static int hg_test_failed_count;
static inline int hg_test_failures(void) { return hg_test_failed_count; }
/** Counts a failure and prints its line. */
static inline void hg_test_report(const char *file, int line, const char *text) {
    hg_test_failed_count++;
    fprintf(stderr, "%s:%d: %s\n", file, line, text);
}

/** Largest difference that the comparisons accept. */
#define HG_TEST_TOLERANCE 1e-5

/** The difference is within the tolerance; equal infinities and two NaNs count as equal. */
static inline bool hg_test_close(double actual, double expected) {
    if (isnan(expected) || isinf(expected))
        return isnan(expected) ? isnan(actual) : actual == expected;
    return fabs(actual - expected) < HG_TEST_TOLERANCE;
}

/** The call succeeds. */
#define ASSERT_OK(call)                                                                \
    do {                                                                               \
        if ((call) != HG_OK) hg_test_report(__FILE__, __LINE__, hg_last_error_text()); \
    } while (0)

static inline void hg_test_compare(const char *file, int line, const char *what, hg_type type,
                                   const void *actual, const void *expected, uint64_t count) {
    uint64_t size = hg_type_size_bytes(type);
    for (uint64_t i = 0; i < count; i++) {
        double a = 0, e = 0;
        char text[160];
        if (hg_type_to_f64(type, (const char *)actual + i * size, &a) != HG_OK ||
            hg_type_to_f64(type, (const char *)expected + i * size, &e) != HG_OK) {
            hg_test_report(file, line, hg_last_error_text());
            return;
        }
        if (hg_test_close(a, e)) continue;
        snprintf(text, sizeof text, "%s mismatch at index %llu: expected %.9g, got %.9g", what,
                 (unsigned long long)i, e, a);
        hg_test_report(file, line, text);
        return;
    }
}

static inline void hg_test_buffer(const char *file, int line, hg_backend *backend, hg_buffer buffer,
                                  const float *expected, uint64_t count) {
    float *actual = (float *)malloc(count ? (size_t)count * sizeof *actual : 1);
    if (!actual ||
        hg_backend_copy_from_buffer(backend, buffer, actual, count * sizeof *actual) != HG_OK)
        hg_test_report(file, line, actual ? hg_last_error_text() : "out of memory");
    else
        hg_test_compare(file, line, "Buffer", HG_TYPE_F32, actual, expected, count);
    free(actual);
}

static inline void hg_test_typed_buffer(const char *file, int line, hg_backend *backend,
                                        hg_typed_buffer buffer, hg_type type, const void *expected,
                                        uint64_t count) {
    void *actual = malloc(count ? (size_t)(count * hg_type_size_bytes(type)) : 1);
    if (!actual || hg_copy_typed_from(backend, buffer, type, actual, count) != HG_OK)
        hg_test_report(file, line, actual ? hg_last_error_text() : "out of memory");
    else
        hg_test_compare(file, line, "Typed buffer", type, actual, expected, count);
    free(actual);
}

/** The first count f32 elements of a buffer: `Buffer mismatch at index {}: expected {}, got {}`. */
#define ASSERT_BUFFER_EQ(backend, buffer, expected, count) \
    hg_test_buffer(__FILE__, __LINE__, (backend), (buffer), (expected), (count))
/** All elements of a typed buffer; expected points to its C type: `Typed buffer mismatch at index
 * {}: expected {}, got {}`. */
#define ASSERT_TYPED_BUFFER_EQ(backend, buffer, expected, count)                        \
    hg_test_typed_buffer(__FILE__, __LINE__, (backend), (buffer), hg_type_of(expected), \
                         (expected), (count))

static inline void hg_test_run(const char *file, int line, hg_backend *backend,
                               hg_builder *builder) {
    hg_program *program = NULL;
    hg_launch launch = hg_launch_linear(256);
    if (!builder || hg_builder_build(builder, NULL, &program) != HG_OK ||
        hg_backend_execute_program(backend, program, &launch) != HG_OK)
        hg_test_report(file, line, builder ? hg_last_error_text() : "out of memory");
    hg_program_release(program);
    hg_builder_destroy(builder);
}

/** Builds a program of the instructions given, calls of hg_build_… on `builder`, and runs it on 256
 * lanes. */
#define TEST_PROGRAM(backend, ...)                               \
    do {                                                         \
        hg_builder *builder = hg_builder_create("test_program"); \
        __VA_ARGS__;                                             \
        hg_test_run(__FILE__, __LINE__, (backend), builder);     \
    } while (0)

/** A test on a fresh backend of that name, which the body finds as `backend`. */
#define BACKEND_TEST(name, backend_name, ...)                          \
    static void name(void) {                                           \
        hg_backend *backend = NULL;                                    \
        if (hg_backend_create((backend_name), 0, &backend) != HG_OK) { \
            hg_test_report(__FILE__, __LINE__, hg_last_error_text());  \
            return;                                                    \
        }                                                              \
        __VA_ARGS__                                                    \
        hg_backend_destroy(backend);                                   \
    }
#define RUN_BACKEND_TEST(name) name()

/** The same with its three parts named. What a part declares, the parts behind it see.
 *
 *     BACKEND_TEST_PARTS(relu, "cpu", SETUP(…;), EXECUTE(…;), VERIFY(…;)) */
#define BACKEND_TEST_PARTS(name, backend_name, setup, execute, verify) \
    BACKEND_TEST(name, backend_name, setup execute verify)
#define SETUP(...) __VA_ARGS__
#define EXECUTE(...) __VA_ARGS__
#define VERIFY(...) __VA_ARGS__

#endif
