/* The memory of the module. All that is linked into it, LLVM and the C++ library too, gets its
 * memory here (--wrap, cmake/jit.cmake): where there is none, or where something in it would end
 * the process, the compile at work ends instead (jit_give_up), and nobody in LLVM meets a failed
 * allocation. Outside of compiles, while the module is opened or at the process's end, what fails
 * comes from a reserve.
 * Must not know: what is compiled. */
#include "jit/jit_internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Opening the module takes 162 kB (what LLVM's options and the C++ library register). */
enum { RESERVE_BYTES = 1 << 20, HEAD = 64 };

static struct {
    _Alignas(HEAD) uint8_t bytes[RESERVE_BYTES]; /* never touched where memory does not fail */
    atomic_size_t used;
} reserve;

static bool is_reserve(const void *p) {
    uintptr_t at = (uintptr_t)p, start = (uintptr_t)reserve.bytes;
    return at >= start && at - start < RESERVE_BYTES;
}

/* Its size stands in front of what it gives; it is zero, and never given twice. */
static void *from_reserve(size_t size) {
    if (size > RESERVE_BYTES / 2) return NULL;
    size_t bytes = HEAD + (size + HEAD - 1) / HEAD * HEAD,
           at = atomic_fetch_add(&reserve.used, bytes);
    if (at > RESERVE_BYTES - bytes) return NULL;
    memcpy(reserve.bytes + at, &size, sizeof size);
    return reserve.bytes + at + HEAD;
}

static void *given(void *p, size_t size) {
    if (p || size == 0) return p;
    jit_give_up("out of memory");
    return from_reserve(size);
}

#define REAL(type, name, ...)       \
    type __real_##name __VA_ARGS__; \
    type __wrap_##name __VA_ARGS__; \
    type __wrap_##name __VA_ARGS__

REAL(void *, malloc, (size_t size)) { return given(__real_malloc(size), size); }

REAL(void *, calloc, (size_t count, size_t size)) {
    void *p = __real_calloc(count, size);
    return p || (size && count > SIZE_MAX / size) ? p : given(p, count * size);
}

REAL(void *, realloc, (void *old, size_t size)) {
    if (!is_reserve(old)) return given(__real_realloc(old, size), size);
    size_t before;
    memcpy(&before, (uint8_t *)old - HEAD, sizeof before);
    void *p = given(__real_malloc(size), size);
    if (p) memcpy(p, old, before < size ? before : size);
    return p;
}

REAL(void, free, (void *p)) {
    if (!is_reserve(p)) __real_free(p);
}

REAL(void *, aligned_alloc, (size_t align, size_t size)) {
    void *p = __real_aligned_alloc(align, size);
    return p || align > HEAD ? p : given(p, size);
}

REAL(int, posix_memalign, (void **p, size_t align, size_t size)) {
    int failed = __real_posix_memalign(p, align, size);
    if (failed != ENOMEM || align > HEAD) return failed;
    *p = given(NULL, size);
    return *p || size == 0 ? 0 : ENOMEM;
}

REAL(char *, strdup, (const char *text)) {
    size_t size = strlen(text) + 1;
    char *p = __wrap_malloc(size);
    return p ? memcpy(p, text, size) : NULL;
}

/* ---- what would end the process ---- */

REAL(_Noreturn void, abort, (void)) {
    jit_give_up("it would end the process");
    __real_abort();
}

REAL(_Noreturn void, exit, (int status)) {
    jit_give_up("it would end the process");
    __real_exit(status);
}

/* What LLVM and the C++ library want done at the process's end is not done: a compile that was left
 * alone may be at work then, and uses what would be taken down. The module is never closed, so that
 * nothing else would come of it. */
int __wrap___cxa_atexit(void (*destroy)(void *), void *object, void *library);
int __wrap___cxa_atexit(void (*destroy)(void *), void *object, void *library) {
    (void)destroy, (void)object, (void)library;
    return 0;
}
