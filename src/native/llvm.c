/* LLVM, by libhologram_jit.so: where it is, whether it can be used, who is in it. It lies beside
 * the library, or where the system's loader finds it. It is never closed: compiles that were left
 * alone may be at work in it.
 * Must not know: kernels, caches. */
#include "native/compilers.h"

#if NATIVE_ELF_X86_64

#include "base/fork.h"
#include "base/host.h"
#include "base/library.h"
#include "native/elf.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "libhologram_jit.so"
#ifndef HG_LIB_DIR
#define HG_LIB_DIR "/usr/local/lib"
#endif

static struct {
    hg_mutex lock; /* of all below */
    hg_cond changed;
    hg_fork_lock forks;
    bool opening, tried, broken;
    const hg_jit_table *table;
    char reason[256];
    uint32_t inside; /* threads */
} module = {.lock = HG_MUTEX_INIT};

/* A child does not have the threads that were inside: whatever they held is held for ever. */
static void forked(void *user) {
    (void)user;
    bool left = module.table && module.table->at_work && module.table->at_work();
    if (module.inside || module.opening || left) module.broken = true;
    module.inside = 0;
    module.opening = false;
}

static void set_up(void) {
    hg_cond_init(&module.changed);
    module.forks = (hg_fork_lock){.mutex = &module.lock, .cond = &module.changed, .child = forked};
    hg_fork_add(&module.forks, HG_FORK_IMPROVE);
}

static void lock(void) {
    static hg_once_flag once = HG_ONCE_INIT;
    hg_once(&once, set_up);
    hg_mutex_lock(&module.lock);
}

/* ---- where it is ---- */

enum { PATH_BYTES = 1024 };

/* False: nowhere that is known; the system's loader may know more. */
static bool find_file(char path[PATH_BYTES], struct stat *info) {
    return hg_library_beside(FILE_NAME, HG_LIB_DIR, path, PATH_BYTES) && stat(path, info) == 0;
}

static bool possible(void) {
    lock();
    bool maybe = !module.tried || module.table;
    hg_mutex_unlock(&module.lock);
    return maybe;
}

static bool there(void) {
    char path[PATH_BYTES];
    struct stat info;
    lock();
    bool tried = module.tried, open = module.table != NULL;
    hg_mutex_unlock(&module.lock);
    return tried ? open : find_file(path, &info);
}

/* ---- opening ---- */

/* Where it was looked for: a program that is linked statically has no library beside which it could
 * lie. */
static void say_missing(bool found, const char *said, char reason[256]) {
    char own[PATH_BYTES] = "", *slash = NULL;
    if (hg_library_own_path(own, sizeof own) && (slash = strrchr(own, '/'))) *slash = 0;
    if (found)
        snprintf(reason, 256,
                 "%.150s; it is built where the packages that `tools/setup build` installs are "
                 "there (llvm-19-dev)",
                 said);
    else
        snprintf(reason, 256,
                 "no " FILE_NAME
                 " (built where llvm-19-dev is) in %.50s, in %.50s, nor where the loader looks",
                 own[0] ? own : "the program's folder", HG_LIB_DIR);
}

static const hg_jit_table *open_module(char reason[256]) {
    char path[PATH_BYTES], said[200];
    struct stat info;
    const char *name = find_file(path, &info) ? path : FILE_NAME;
    hg_library *library = hg_library_open(&name, 1, said, sizeof said);
    hg_jit_entry entry;
    if (!library) {
        say_missing(name == path, said, reason);
        return NULL;
    }
    const hg_jit_table *table = hg_library_function(library, HG_JIT_ENTRY, &entry)
                                    ? entry(HG_JIT_VERSION)
                                    : NULL;
    if (table && table->version == HG_JIT_VERSION) return table;
    snprintf(reason, 256,
             "%.150s is of another version than this library: install the one that belongs to it",
             name);
    return NULL;
}

/* NULL with the reason, and what to install. */
static const hg_jit_table *open_once(char reason[256]) {
    char why[256] = "";
    lock();
    while (module.opening) hg_cond_wait(&module.changed, &module.lock);
    if (!module.tried && !module.broken) {
        module.opening = true;
        hg_mutex_unlock(&module.lock);
        const hg_jit_table *table = open_module(why);
        lock();
        module.opening = false;
        module.tried = true;
        module.table = table;
        memcpy(module.reason, why, sizeof why);
        hg_cond_broadcast(&module.changed);
    }
    const hg_jit_table *table = module.broken ? NULL : module.table;
    snprintf(reason, 256, "%s",
             module.broken ? "the compiler was at work when this process was forked"
                           : module.reason);
    hg_mutex_unlock(&module.lock);
    return table;
}

static bool identity(hg_text *out) {
    char path[PATH_BYTES], reason[256];
    struct stat info;
    if (find_file(path, &info)) {
        hg_text_addf(out, "file of %lld bytes, %lld.%09ld, %lld.%09ld", (long long)info.st_size,
                     (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
                     (long long)info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
        return true;
    }
    const hg_jit_table *table = open_once(reason);
    if (table) hg_text_addf(out, "%s", table->compiler);
    return table != NULL;
}

static bool enter(void) {
    lock();
    bool open = !module.broken;
    module.inside += open;
    hg_mutex_unlock(&module.lock);
    return open;
}

static void leave(void) {
    lock();
    module.inside--;
    hg_mutex_unlock(&module.lock);
}

/* ---- the compiler ---- */

/* Native vectors and turns of a level (docs/performance.md, native code). */
static void level_of(tile_level level, native_level *how) {
    static const native_level LEVELS[TILE_LEVEL_COUNT] = {
        [TILE_LEVEL_BASELINE] = {.options = {.bytes = 16, .cpu = "x86-64"},
                                 .lanes = 8,
                                 .registers = 16},
        [TILE_LEVEL_V3] = {.options = {.bytes = 32, .cpu = "x86-64-v3"},
                           .lanes = 16,
                           .registers = 16},
        [TILE_LEVEL_V4] = {
            .options = {.bytes = 64, .cpu = "x86-64-v4"}, .lanes = 32, .registers = 32}};
    *how = LEVELS[level];
    how->options.dot4 = level == TILE_LEVEL_V4 && hg_cpu_supports("avx512vnni");
    how->options.vbmi = level == TILE_LEVEL_V4 && hg_cpu_supports("avx512vbmi");
}

static void caps_of(kir_caps *caps) { caps->limb_values = true; }

static const char *open_compiler(char reason[256]) {
    const hg_jit_table *table = open_once(reason);
    return table ? table->compiler : NULL;
}

/* Only once it is open. */
static hg_status compile(vec_kernel *kernel, const hg_jit_options *options,
                         const hg_patience *patience, hg_jit_object *object, char reason[256]) {
    return module.table->compile(kernel, options, patience, object, reason);
}

static void release(uint8_t *bytes) { module.table->release(bytes); }

const native_compiler native_llvm = {.name = "LLVM",
                                     .level = level_of,
                                     .caps = caps_of,
                                     .possible = possible,
                                     .there = there,
                                     .open = open_compiler,
                                     .identity = identity,
                                     .enter = enter,
                                     .leave = leave,
                                     .compile = compile,
                                     .release = release,
                                     .loader = &native_elf};

#endif
