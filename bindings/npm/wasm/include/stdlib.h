/* What the core uses of stdlib.h (bindings/npm/wasm/libc.c). */
#ifndef SHIM_STDLIB_H
#define SHIM_STDLIB_H
#include <stddef.h>
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *memory, size_t size);
void free(void *memory);
void qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));
char *getenv(const char *name); /* there is no environment: NULL */
#endif
