/* The record of this thread's last failure. Must not know: who reports. */
#include "base/base.h"
#include "base/thread.h"

#include <stdio.h>
#include <string.h>

#define EMPTY_ERROR                                                                          \
    {                                                                                        \
        .size = sizeof(hg_error), .step = HG_NONE, .phase = HG_NONE, .instruction = HG_NONE, \
        .lane = HG_NONE, .operand = HG_NONE, .offset = HG_NONE, .limit = HG_NONE             \
    }

static HG_THREAD_LOCAL hg_error last_errors HG_EACH_THREAD = HG_FIRST(EMPTY_ERROR);
#define last_error HG_OWN(last_errors)
static HG_THREAD_LOCAL char last_text[sizeof(last_error.message) + 64];

/* Length of `text` cut to fewer than `room` bytes without splitting a UTF-8 sequence; `length` is
 * what it would need. */
static size_t cut_length(const char *text, size_t length, size_t room) {
    if (length < room) return length;
    size_t cut = room - 1;
    while (cut && ((unsigned char)text[cut] & 0xC0) == 0x80)
        cut--; /* text[cut] begins what does not fit whole */
    return cut;
}

static void record(hg_status status) {
    last_error = (hg_error)EMPTY_ERROR;
    last_error.status = status;
}

hg_status hg_fail(hg_status status, const char *format, ...) {
    char message[sizeof(last_error.message) + 4]; /* apart: an argument may be the present message
                                                   */
    va_list args;
    va_start(args, format);
    int length = vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (length < 0) {
        message[0] = 0;
        length = 0;
    }
    size_t stored = (size_t)length < sizeof message ? (size_t)length : sizeof message - 1;
    record(status);
    size_t kept = cut_length(message, stored, sizeof last_error.message);
    memcpy(last_error.message, message, kept);
    last_error.message[kept] = 0;
    return status;
}

hg_status hg_null_argument(const char *what) {
    return hg_fail(HG_ERROR_INVALID_ARGUMENT, "%s is NULL", what);
}

hg_status hg_fail_memory(void) {
    static const char message[] = "no memory left for the library's own data";
    record(HG_ERROR_OUT_OF_MEMORY);
    memcpy(last_error.message, message, sizeof message);
    return HG_ERROR_OUT_OF_MEMORY;
}

hg_error *hg_error_record(void) { return &last_error; }

const hg_error *hg_last_error(void) { return &last_error; }

const char *hg_last_error_text(void) {
    /* A pool's handle has the status of a buffer's, and a text of its own (semantics 8.6). */
    if (last_error.status == HG_ERROR_INVALID_BUFFER &&
        strncmp(last_error.message, HG_INVALID_POOL, sizeof HG_INVALID_POOL - 1) == 0)
        return last_error.message;
    switch (last_error.status) {
#define HG_STATUS(id, exit_status, text)                                 \
    case HG_##id:                                                        \
        snprintf(last_text, sizeof last_text, text, last_error.message); \
        break;
#include <hologram/status.def>
#undef HG_STATUS
    default: memcpy(last_text, last_error.message, sizeof last_error.message);
    }
    return last_text;
}

const char *hg_status_name(hg_status status) {
    switch (status) {
#define HG_STATUS(id, exit_status, text) \
    case HG_##id:                        \
        return "HG_" #id;
#include <hologram/status.def>
#undef HG_STATUS
    default: return "?";
    }
}
