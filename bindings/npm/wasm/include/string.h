/* What the library uses of string.h, for wasm32 without a C library (bindings/npm/wasm/libc.c). */
#ifndef SHIM_STRING_H
#define SHIM_STRING_H
#include <stddef.h>
void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *in, int byte, size_t n);
size_t strlen(const char *text);
size_t strnlen(const char *text, size_t n);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strcpy(char *to, const char *from);
char *strncpy(char *to, const char *from, size_t n);
char *strcat(char *to, const char *from);
char *strchr(const char *text, int c);
char *strrchr(const char *text, int c);
size_t strcspn(const char *text, const char *any);
size_t strspn(const char *text, const char *all);
char *strstr(const char *text, const char *what);
/* -ffreestanding takes these for any functions; as builtins small copies become loads and stores.
 */
#define memcpy __builtin_memcpy
#define memmove __builtin_memmove
#define memset __builtin_memset
#define memcmp __builtin_memcmp
#define strlen __builtin_strlen
#endif
