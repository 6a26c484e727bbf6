/* What the tests of the runtime share: backends, programs from text, buffers with data, a counting
 * allocator. */
#ifndef HG_TESTS_RUNTIME_SUPPORT_H
#define HG_TESTS_RUNTIME_SUPPORT_H

#include "support/failing_allocator.h"
#include "support/program_text.h"
#include "test.h"
#include <hologram/hologram.h>
#include <stdlib.h>

#define CHECK_OK(call)                                                          \
    do {                                                                        \
        hg_status check_s = (call);                                             \
        CHECK_MESSAGE(check_s == HG_OK, "%s: %s", #call, hg_last_error_text()); \
    } while (0)
#define CHECK_STATUS(call, expected)                                                \
    do {                                                                            \
        hg_status check_s = (call);                                                 \
        CHECK_MESSAGE(check_s == (expected), "%s: expected %s, got %s (%s)", #call, \
                      hg_status_name(expected), hg_status_name(check_s),            \
                      check_s == HG_OK ? "" : hg_last_error_text());                \
    } while (0)
/* The call fails with this code and this message. */
#define CHECK_FAILS(call, expected, diagnostic, text)  \
    do {                                               \
        CHECK_STATUS(call, expected);                  \
        CHECK_TEXT(hg_last_error()->code, diagnostic); \
        CHECK_TEXT(hg_last_error()->message, text);    \
    } while (0)
hg_backend *open_backend(const char *name);
/* Opens a backend and asks until it is open, which no host has to wait for. */
hg_status open_in_steps(const hg_config *config, hg_backend **backend);
/* What a test wants a device to pretend, and what HOLOGRAM_PRETEND wants of all devices. */
void set_pretend(hg_config *config, const char *words);
hg_buffer make_buffer(hg_backend *b, const void *data, uint64_t size);
/* How often the text stands in the trace of the backend's profile. */
uint64_t count_in_trace(hg_backend *b, const char *text);
/* A program text with the two lines every program needs. */
#define PROGRAM(body) ".atlas 1\n.program p\n" body
#define AXPY                                                                                     \
    PROGRAM(                                                                                     \
        ".param r1 x buffer f32 in [n]\n.param r2 y buffer f32 inout [n]\n.param r5 alpha f32\n" \
        ".param r4 n u64\n.lanes n\n mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n"             \
        " ldg.f32 r10, [r1 + r0]\n ldg.f32 r11, [r2 + r0]\n fma.f32 r12, r5, r10, r11\n"         \
        " stg.f32 [r2 + r0], r12\n")

#endif
