/* Printing into memory only: there are no files (bindings/npm/wasm/libc.c). Of floating-point
 * conversions %f and %g; others give -1. */
#ifndef SHIM_STDIO_H
#define SHIM_STDIO_H
#include <stdarg.h>
#include <stddef.h>
int vsnprintf(char *text, size_t room, const char *format, va_list arguments);
int snprintf(char *text, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#endif
