#include "kir/fault_text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

hg_status kir_fail_launch(kir_launch_fault code, const char *format, ...) {
    char text[sizeof hg_error_record()->message];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    hg_status status = hg_fail(HG_ERROR_EXECUTION_FAILED, "%s", text);
    (void)snprintf(hg_error_record()->code, sizeof hg_error_record()->code, "F%02u",
                   (unsigned)code % 100);
    return status;
}

/* Decimal text of a number and its sign; text has room for 48 bytes. */
static const char *print_wide(hg_u128 magnitude, bool negative, char *text) {
    char *p = text + 47;
    *p = 0;
    do *--p = (char)('0' + (int)(magnitude % 10));
    while ((magnitude /= 10) != 0);
    if (negative) *--p = '-';
    return p;
}

void kir_fault_text_bounds(char *text, size_t size, bool pool, hg_i128 offset, hg_u128 bytes,
                           uint64_t limit) {
    char at[48], length[48];
    const char *what = pool ? "pool" : "buffer";
    hg_u128 distance = offset < 0 ? 0 - (hg_u128)offset : (hg_u128)offset;
    (void)snprintf(text, size, "%s access out of bounds: offset %s + size %s > %s size %llu", what,
                   print_wide(distance, offset < 0, at), print_wide(bytes, false, length), what,
                   (unsigned long long)limit);
}

void kir_fault_text_handle(char *text, size_t size, bool pool, uint64_t handle) {
    (void)snprintf(text, size, "invalid %s handle: %llu", pool ? "pool" : "buffer",
                   (unsigned long long)handle);
}

void kir_fault_text_align(char *text, size_t size, uint64_t offset) {
    (void)snprintf(text, size, "misaligned atomic: offset %llu", (unsigned long long)offset);
}

void kir_fault_text(char *text, size_t size, uint8_t code, const char *message,
                    const uint64_t values[KIR_FAULT_VALUES]) {
    if (!message) message = code == KIR_FAULT_DIVISION ? "division by zero" : "fault";
    int next = 0;
    for (size_t used = 0; size;) {
        const char *gap = next < KIR_FAULT_VALUES ? strchr(message, '{') : NULL;
        size_t length = gap ? (size_t)(gap - message) : strlen(message);
        bool negative = gap && gap[1] == '-' && values[next] >> 63;
        uint64_t value = gap ? values[next++] : 0;
        int n = gap ? snprintf(text + used, size - used, "%.*s%s%llu", (int)length, message,
                               negative ? "-" : "",
                               (unsigned long long)(negative ? 0 - value : value))
                    : snprintf(text + used, size - used, "%s", message);
        if (!gap || n < 0 || (size_t)n >= size - used) return;
        used += (size_t)n;
        message = strchr(gap, '}') + 1;
    }
}

void kir_fault_text_timeout(char *text, size_t size, uint64_t timeout_ms) {
    (void)snprintf(text, size, "timeout after %llu ms", (unsigned long long)timeout_ms);
}
