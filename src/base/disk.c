/* Files without names are Linux's O_TMPFILE; they get one through /proc/self/fd, for which no
 * rights are needed. */
#include <stddef.h>

#if !defined(__wasm__) /* it has no files, and none of the signals of disk.h */

#include "base/disk.h"
#include "base/base.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- writing ---- */

static int write_span(int file, const char *from, uint64_t length) {
    while (length) {
        ssize_t put = write(file, from, length < (1u << 30) ? (size_t)length : (size_t)1 << 30);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return errno;
        if (put == 0) return EIO;
        from += put;
        length -= (uint64_t)put;
    }
    return 0;
}

int hg_write_all(int file, const void *data, uint64_t length) {
    sigset_t limit, before, pending;
    const struct timespec now = {0, 0};
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    if (pthread_sigmask(SIG_BLOCK, &limit, &before) != 0) return write_span(file, data, length);
    bool was_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
    int error = write_span(file, data, length);
#if !defined(__APPLE__)
    if (error == EFBIG && !was_pending)
        while (sigtimedwait(&limit, NULL, &now) < 0 && errno == EINTR) {}
#endif
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* ---- signals ---- */

void hg_signals_hold(hg_held_signals *held) {
    sigset_t all;
    sigfillset(&all);
    held->held = pthread_sigmask(SIG_SETMASK, &all, &held->before) == 0;
}

void hg_signals_release(const hg_held_signals *held) {
    if (held->held) pthread_sigmask(SIG_SETMASK, &held->before, NULL);
}

/* ---- folders ---- */

/* The length of the folder that a path lies in, without the slashes between: 2 of "/a/b", 1 of
 * "/a", 0 of "a". */
static size_t length_above(const char *path, size_t length) {
    while (length > 1 && path[length - 1] == '/') length--; /* "folder/" is "folder" */
    while (length && path[length - 1] != '/') length--;
    while (length > 1 && path[length - 1] == '/') length--;
    return length;
}

void hg_folder_make(const char *path, size_t length) {
    static const char HOME_FOLDER[] = "/.cache";
    const size_t own = sizeof HOME_FOLDER - 1, above = length_above(path, length);
    char *folder = hg_alloc(length + 1);
    if (!folder) return;
    memcpy(folder, path, length);
    if (above >= own && memcmp(path + above - own, HOME_FOLDER, own) == 0) {
        folder[above] = 0;
        (void)mkdir(folder, 0700);
        folder[above] = path[above];
    }
    folder[length] = 0;
    (void)mkdir(folder, 0700);
    hg_free(folder);
}

/* ---- files without names ---- */

#if defined(O_TMPFILE)

static void own_path(int file, char path[32]) { snprintf(path, 32, "/proc/self/fd/%d", file); }

int hg_file_unnamed(int folder, const char *path, unsigned mode) {
    char own[32];
    int file = openat(folder, path, O_TMPFILE | O_WRONLY | O_CLOEXEC, (mode_t)mode);
    if (file < 0) return -1;
    own_path(file, own);
    if (access(own, F_OK) == 0) return file;
    close(file); /* it would never get a name */
    errno = EOPNOTSUPP;
    return -1;
}

int hg_file_give_name(int file, int folder, const char *path) {
    char own[32];
    own_path(file, own);
    return linkat(AT_FDCWD, own, folder, path, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

#else

int hg_file_unnamed(int folder, const char *path, unsigned mode) {
    (void)folder, (void)path, (void)mode;
    errno = EOPNOTSUPP;
    return -1;
}

int hg_file_give_name(int file, int folder, const char *path) {
    (void)file, (void)folder, (void)path;
    return EOPNOTSUPP;
}

#endif

/* ---- names for a moment ---- */

enum { MOST_NAMES = 256 }; /* more are not noted */
static _Atomic(const char *) names[MOST_NAMES];

void hg_temporary_note(const char *path) {
    for (int i = 0; i < MOST_NAMES; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&names[i], &none, path)) return;
    }
}

bool hg_temporary_forget(const char *path) {
    for (int i = 0; i < MOST_NAMES; i++) {
        const char *own = path;
        if (atomic_load(&names[i]) == path && atomic_compare_exchange_strong(&names[i], &own, NULL))
            return true;
    }
    return false;
}

void hg_temporaries_unlink(void) {
    for (int i = 0; i < MOST_NAMES; i++) {
        const char *path = atomic_exchange(&names[i], NULL);
        if (path) unlink(path);
    }
}

#endif
