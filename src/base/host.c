/* The processor in 64 bits, a hash of what CPUID says, and other libraries' settings. Must not
 * know: who asks. */
#include "base/host.h"
#include "base/base.h"
#include "base/compat.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif
#if !defined(__wasm__)
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#if defined(__x86_64__)
#include <cpuid.h>

/* Leaves 0 (vendor), 1 (model, features) and 7 (features). Not EBX of leaf 1: it names the core
 * that answers. */
static void hash_processor(hg_blake3 *h) {
    uint32_t a = 0, b = 0, c = 0, d = 0, words[11] = {0};
    if (__get_cpuid(0, &a, &b, &c, &d)) memcpy(words, (uint32_t[]){a, b, c, d}, 16);
    if (__get_cpuid(1, &a, &b, &c, &d)) memcpy(words + 4, (uint32_t[]){a, c, d}, 12);
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) memcpy(words + 7, (uint32_t[]){b, c, d}, 12);
    words[10] = (hg_cpu_supports("avx") ? 1u : 0) |
                (hg_cpu_supports("avx512f") ? 2u : 0); /* what
                                                          the
                                                          system
                                                          saves
                                                          of a
                                                          thread
                                                          decides
                                                          too */
    hg_blake3_update(h, words, sizeof words);
}
#else
static void hash_processor(hg_blake3 *h) { (void)h; }
#endif

void hg_host_text(const char *const *variables, size_t count, char text[HG_HOST_TEXT]) {
    uint8_t hash[32];
    hg_blake3 h;
    hg_blake3_init(&h);
    hash_processor(&h);
    for (size_t i = 0; i < count; i++) {
        const char *value = hg_host_variable(variables[i]);
        hg_blake3_update(&h, value ? "=" : "-", 1);
        if (value) hg_blake3_update(&h, value, strlen(value) + 1);
    }
    hg_blake3_final(&h, hash);
    for (size_t i = 0; i < 8; i++) snprintf(text + 2 * i, 3, "%02x", hash[i]);
}

#if defined(__wasm__)

const char *hg_host_variable(const char *name) {
    (void)name;
    return NULL;
}

void hg_host_variables(const char *const *prefixes, size_t count,
                       void (*each)(void *user, const char *text), void *user) {
    (void)prefixes, (void)count, (void)each, (void)user;
}

const char *hg_host_read(const char *path, char *bytes, size_t size, size_t *length) {
    (void)path, (void)bytes, (void)size;
    *length = 0;
    return "";
}

const char *hg_host_append(const char *path, const char *text, size_t length) {
    (void)path, (void)text, (void)length;
    return "there are no files";
}

#else

extern char **environ;

const char *hg_host_variable(const char *name) {
    const char *value = getenv(name);
    return hg_host_privileged() ? NULL : value;
}

void hg_host_variables(const char *const *prefixes, size_t count,
                       void (*each)(void *user, const char *text), void *user) {
    for (char **text = environ; text && *text; text++) {
        size_t i = 0;
        while (i < count && strncmp(*text, prefixes[i], strlen(prefixes[i])) != 0) i++;
        if (i < count) each(user, *text);
    }
}

static const char *read_open(int file, char *bytes, size_t size, size_t *length) {
    struct stat about;
    if (fstat(file, &about) != 0) return strerror(errno);
    if (!S_ISREG(about.st_mode)) return "not a regular file";
    while (*length < size) {
        ssize_t got = read(file, bytes + *length, size - *length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return strerror(errno);
        if (got == 0) break;
        *length += (size_t)got;
    }
    return NULL;
}

const char *hg_host_read(const char *path, char *bytes, size_t size, size_t *length) {
    *length = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe does not wait for a writer
                                                               */
    if (file < 0) return errno == ENOENT || errno == ENOTDIR ? "" : strerror(errno);
    const char *why = read_open(file, bytes, size, length);
    close(file);
    return why;
}

const char *hg_host_append(const char *path, const char *text, size_t length) {
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file < 0) return strerror(errno);
    ssize_t written = write(file, text, length); /* at once, so that lines of threads do not mix */
    const char *why = written < 0                 ? strerror(errno)
                      : (size_t)written == length ? NULL
                                                  : "only a part was written";
    close(file);
    return why;
}

#endif

bool hg_host_privileged(void) {
#if defined(__linux__)
    return getauxval(AT_SECURE) != 0;
#else
    return false;
#endif
}
