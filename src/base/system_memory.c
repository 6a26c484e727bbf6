/* How much memory this process may have: what the machine has, and what its control groups leave it
 * (Documentation/admin-guide/cgroup-v1 and cgroup-v2 of Linux). Must not know: who asks. */
#include "base/budget.h"
#include <string.h>

#if defined(__linux__)
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_BYTES = 1024, LINE_BYTES = 4096 };

/* Lines of a file, without their ends; what is longer than the buffer comes in pieces. */
typedef struct lines {
    int file;
    size_t first, end; /* of what was read and not yet given */
    char data[LINE_BYTES + 1];
} lines;

static bool open_lines(lines *l, const char *root, const char *path) {
    char whole[PATH_BYTES];
    int length = snprintf(whole, sizeof whole, "%s%s", root, path);
    l->first = l->end = 0;
    l->file = length > 0 && (size_t)length < sizeof whole ? open(whole, O_RDONLY | O_CLOEXEC) : -1;
    return l->file >= 0;
}

static char *next_line(lines *l) {
    for (;;) {
        char *start = l->data + l->first, *stop = memchr(start, '\n', l->end - l->first);
        if (stop || (l->first == 0 && l->end == LINE_BYTES)) {
            l->first = stop ? (size_t)(stop - l->data) + 1 : l->end;
            if (!stop) stop = l->data + l->end;
            *stop = '\0';
            return start;
        }
        memmove(l->data, start, l->end - l->first);
        l->end -= l->first;
        l->first = 0;
        ssize_t got = read(l->file, l->data + l->end, LINE_BYTES - l->end);
        if (got > 0) {
            l->end += (size_t)got;
            continue;
        }
        if (l->end == 0) return NULL;
        l->data[l->end] = '\0'; /* the last line has no end */
        l->first = l->end;
        return l->data;
    }
}

static void close_lines(lines *l) { close(l->file); }

/* The number at the start of a file; UINT64_MAX for none ("max" too). */
static uint64_t number_in(const char *root, const char *path) {
    lines l;
    uint64_t value = UINT64_MAX;
    if (!open_lines(&l, root, path)) return value;
    const char *line = next_line(&l);
    if (line && *line >= '0' && *line <= '9') value = strtoull(line, NULL, 10);
    close_lines(&l);
    return value;
}

static uint64_t machine_memory(const char *root) {
    lines l;
    uint64_t bytes = UINT64_MAX;
    if (open_lines(&l, root, "/proc/meminfo")) {
        for (const char *line; bytes == UINT64_MAX && (line = next_line(&l));)
            if (strncmp(line, "MemTotal:", 9) == 0) bytes = strtoull(line + 9, NULL, 10) * 1024;
        close_lines(&l);
    }
    long pages = *root ? 0 : sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (bytes == UINT64_MAX && pages > 0 && size > 0) bytes = (uint64_t)pages * (uint64_t)size;
    return bytes;
}

/* ---- control groups ---- */

static bool has_word(const char *list, size_t length, const char *word) {
    size_t size = strlen(word);
    for (const char *at = list, *end = list + length; at < end; at++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t bytes = (size_t)((comma ? comma : end) - at);
        if (bytes == size && memcmp(at, word, size) == 0) return true;
        at += bytes;
    }
    return false;
}

/* The path of this process in the hierarchy of version 2, or in that of version 1 which counts
 * memory. */
static bool find_group(const char *root, bool two, char path[PATH_BYTES]) {
    lines l;
    bool found = false;
    if (!open_lines(&l, root, "/proc/self/cgroup")) return false;
    for (const char *line; !found && (line = next_line(&l));) {
        const char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
        if (!group) continue;
        size_t length = (size_t)(group - ++list);
        found = two ? length == 0 : has_word(list, length, "memory");
        if (found) snprintf(path, PATH_BYTES, "%s", group + 1);
    }
    close_lines(&l);
    return found;
}

/* Cuts the next word off a line. */
static char *word_of(char **line) {
    char *word = *line, *end = strchr(word, ' ');
    if (end) *end++ = '\0';
    *line = end ? end : word + strlen(word);
    return word;
}

/* Where the hierarchy is mounted, and which of its groups is mounted there. A line: `36 35 0:29
 * ROOT PLACE OPTIONS … - TYPE SOURCE OPTIONS`. */
static bool find_mount(const char *root, bool two, char place[PATH_BYTES], char top[PATH_BYTES]) {
    lines l;
    bool found = false;
    if (!open_lines(&l, root, "/proc/self/mountinfo")) return false;
    for (char *line; !found && (line = next_line(&l));) {
        char *kind = strstr(line, " - ");
        if (!kind) continue;
        *kind = '\0';
        kind += 3;
        const char *type = word_of(&kind);
        (void)word_of(&kind);
        found = two ? strcmp(type, "cgroup2") == 0
                    : strcmp(type, "cgroup") == 0 && has_word(kind, strlen(kind), "memory");
        if (!found) continue;
        for (int i = 0; i < 3; i++) (void)word_of(&line);
        snprintf(top, PATH_BYTES, "%s", word_of(&line));
        snprintf(place, PATH_BYTES, "%s", word_of(&line));
    }
    close_lines(&l);
    return found;
}

/* The part of a path below `top`; "" where the process is not below it. */
static const char *below(const char *path, const char *top) {
    size_t length = strlen(top);
    if (strncmp(path, "/..", 3) == 0 || strcmp(path, "/") == 0) return "";
    if (strcmp(top, "/") == 0) return path;
    return strncmp(path, top, length) == 0 && (path[length] == '/' || !path[length]) ? path + length
                                                                                     : "";
}

/* The least limit of the group and those above it. */
static uint64_t group_limit(const char *root, bool two) {
    char group[PATH_BYTES], place[PATH_BYTES], top[PATH_BYTES], path[3 * PATH_BYTES],
        file[3 * PATH_BYTES + 32];
    uint64_t least = UINT64_MAX;
    if (!find_group(root, two, group) || !find_mount(root, two, place, top)) return least;
    size_t shortest = strlen(place);
    snprintf(path, sizeof path, "%s%s", place, below(group, top));
    for (;;) {
        snprintf(file, sizeof file, "%s/%s", path, two ? "memory.max" : "memory.limit_in_bytes");
        uint64_t limit = number_in(root, file);
        if (limit < least) least = limit;
        char *slash = strrchr(path, '/');
        if (!slash || (size_t)(slash - path) < shortest) return least;
        *slash = '\0';
    }
}

uint64_t hg_system_memory(const char *root) {
    uint64_t bytes = machine_memory(root), one = group_limit(root, false),
             two = group_limit(root, true);
    if (one < bytes) bytes = one;
    if (two < bytes) bytes = two;
    return bytes == UINT64_MAX ? 0 : bytes;
}
#else
#if !defined(__wasm__)
#include <unistd.h>
#endif

uint64_t hg_system_memory(const char *root) {
    (void)root;
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0) return (uint64_t)pages * (uint64_t)size;
#endif
    return 0;
}
#endif
