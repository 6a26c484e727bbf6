/* Loaded before a program (LD_PRELOAD): the n-th of the calls below that it makes fails, n from the
 * variable FAIL_CALL. FAIL_COUNT names a file that gets the number of calls at the end. FAIL_ALLOC
 * is the same for allocations: that one fails and all after it. NO_UNNAMED: no file without a name
 * can be made. Not unlink and close, which undo things. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_ulong calls, allocations;
static unsigned long failing_call, failing_alloc;
static int no_unnamed;

static unsigned long number(const char *name) {
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void) {
    failing_call = number("FAIL_CALL");
    no_unnamed = getenv("NO_UNNAMED") != NULL;
    atomic_store(&calls, 0);
    atomic_store(&allocations, 0);
    failing_alloc = number("FAIL_ALLOC");
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("FAIL_COUNT");
    char text[64];
    failing_call = failing_alloc = 0;
    if (!path) return;
    int length = snprintf(text, sizeof text, "%lu %lu\n", atomic_load(&calls),
                          atomic_load(&allocations));
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (write(file, text, (size_t)length) < 0) abort();
}

static int fails(int error) {
    if (atomic_fetch_add(&calls, 1) + 1 != failing_call) return 0;
    errno = error;
    return 1;
}

#define NEXT(name)                 \
    static __typeof__(name) *next; \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, #name)

#define CALL(result, name, parameters, arguments, error) \
    result name parameters {                             \
        NEXT(name);                                      \
        if (fails(error)) return (result)-1;             \
        return next arguments;                           \
    }

static mode_t mode_of(int flags, va_list list) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

static int refuses(int flags) {
    if (!no_unnamed || (flags & O_TMPFILE) != O_TMPFILE) return 0;
    errno = EOPNOTSUPP;
    return 1;
}

int open(const char *path, int flags, ...) {
    NEXT(open);
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    return refuses(flags) || fails(EMFILE) ? -1 : next(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    NEXT(openat);
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    return refuses(flags) || fails(EMFILE) ? -1 : next(folder, path, flags, mode);
}

CALL(ssize_t, read, (int file, void *to, size_t size), (file, to, size), EIO)
CALL(ssize_t, write, (int file, const void *from, size_t size), (file, from, size), ENOSPC)
CALL(int, fsync, (int file), (file), EIO)
CALL(int, rename, (const char *from, const char *to), (from, to), EACCES)
CALL(int, renameat, (int f, const char *from, int t, const char *to), (f, from, t, to), EACCES)
CALL(int, link, (const char *from, const char *to), (from, to), EMLINK)
CALL(int, linkat, (int f, const char *from, int t, const char *to, int flags),
     (f, from, t, to, flags), ENOSPC)
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), EACCES)
CALL(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode), EACCES)
CALL(int, stat, (const char *path, struct stat *info), (path, info), EIO)
CALL(int, lstat, (const char *path, struct stat *info), (path, info), EIO)
CALL(int, fstat, (int file, struct stat *info), (file, info), EIO)
CALL(int, access, (const char *path, int mode), (path, mode), EIO)
CALL(int, fchmod, (int file, mode_t mode), (file, mode), EPERM)
CALL(int, futimens, (int file, const struct timespec times[2]), (file, times), EPERM)
CALL(off_t, lseek, (int file, off_t to, int whence), (file, to, whence), EIO)

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *user) {
    NEXT(pthread_create);
    return fails(EAGAIN) ? EAGAIN : next(thread, attributes, run, user);
}

/* ---- memory ---- */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

static int lacks(void) {
    unsigned long now = atomic_fetch_add(&allocations, 1) + 1;
    if (!failing_alloc || now < failing_alloc) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return lacks() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return lacks() ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return lacks() ? NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) {
    return lacks() ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void **to, size_t alignment, size_t size) {
    *to = lacks() ? NULL : __libc_memalign(alignment, size);
    return *to ? 0 : ENOMEM;
}
