/* Shared libraries on dlopen; a host without it has none. */
#include "base/library.h"
#include <stdio.h>
#include <string.h>

#if defined(__unix__) || defined(__APPLE__)
#include "base/fp.h"
#include "base/host.h"
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

/* A library that was linked with -ffast-math makes the thread that loads it flush subnormals. */
static void *open_library(const char *name) {
    HG_CALLS_OTHERS;
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

hg_library *hg_library_open(const char *const *names, size_t count, char *reason,
                            size_t reason_size) {
    if (reason && reason_size) reason[0] = 0;
    for (size_t i = 0; i < count; i++) {
        void *handle = open_library(names[i]);
        if (handle) return handle;
        const char *said = dlerror();
        if (i == 0 && reason && reason_size)
            snprintf(reason, reason_size, "%s", said ? said : names[i]);
    }
    return NULL;
}

void hg_library_close(hg_library *library) {
    HG_CALLS_OTHERS;
    if (library) dlclose(library);
}

bool hg_library_function(hg_library *library, const char *name, void *function) {
    void *address = library ? dlsym(library, name) : NULL;
    memcpy(function, &address, sizeof address); /* ISO C has no conversion from object to function
                                                   pointers; POSIX says they are alike */
    return address != NULL;
}

/* A program's own name is as it was started, so the system is asked. */
bool hg_library_own_path(char *path, size_t size) {
    Dl_info info;
    void *code;
    bool (*here)(char *, size_t) = hg_library_own_path;
    memcpy(&code, &here, sizeof code);
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length > 0) path[length] = 0;
    if (dladdr(code, &info) && info.dli_fname && info.dli_fname[0] == '/' &&
        strlen(info.dli_fname) < size) {
        memcpy(path, info.dli_fname, strlen(info.dli_fname) + 1);
        return true;
    }
    return length > 0;
}

void hg_library_mark(const void *function, char *text, size_t size) {
    Dl_info info;
    struct stat file;
    void *code;
    memcpy(&code, function, sizeof code);
    text[0] = 0;
    if (dladdr(code, &info) && info.dli_fname && stat(info.dli_fname, &file) == 0)
        snprintf(text, size, "%lld-%lld", (long long)file.st_size, (long long)file.st_mtime);
}

static bool is_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (f) (void)fclose(f);
    return f != NULL;
}

bool hg_library_beside(const char *name, const char *installed, char *path, size_t size) {
    static const char *const UP[] = {"", "/..", "/../lib"};
    char own[1024], *slash = NULL;
    if (!hg_host_privileged() && hg_library_own_path(own, sizeof own) &&
        (slash = strrchr(own, '/')))
        *slash = 0;
    for (size_t i = 0; slash && i < sizeof UP / sizeof *UP; i++) {
        int length = snprintf(path, size, "%s%s/%s", own, UP[i], name);
        if (length > 0 && (size_t)length < size && is_file(path)) return true;
    }
    snprintf(path, size, "%s/%s", installed, name);
    return is_file(path);
}

#else

hg_library *hg_library_open(const char *const *names, size_t count, char *reason,
                            size_t reason_size) {
    (void)names;
    (void)count;
    if (reason && reason_size)
        snprintf(reason, reason_size, "%s", "this host opens no libraries at run time");
    return NULL;
}

void hg_library_close(hg_library *library) { (void)library; }

bool hg_library_function(hg_library *library, const char *name, void *function) {
    (void)library;
    (void)name;
    memset(function, 0, sizeof(void *));
    return false;
}

bool hg_library_own_path(char *path, size_t size) {
    (void)path, (void)size;
    return false;
}

void hg_library_mark(const void *function, char *text, size_t size) {
    (void)function;
    if (size) text[0] = 0;
}

bool hg_library_beside(const char *name, const char *installed, char *path, size_t size) {
    snprintf(path, size, "%s/%s", installed, name);
    return false;
}

#endif
