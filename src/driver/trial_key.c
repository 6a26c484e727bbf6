/* For how long an answer of hologram-try-driver holds. Its key: the driver and the program, the
 * files that name drivers' libraries and those libraries (path, inode, size, time), the folders in
 * which the system looks for libraries, other libraries' variables, user, limits, namespaces, what
 * is mounted where drivers look, and the start of the machine. An answer also lists all libraries
 * that were loaded: it holds while they are the same. Must not know: what is asked and answered. */
#include "base/host.h"
#include "driver/trial_internal.h"

#include <string.h>

#if defined(__linux__)

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Things in any order: the sum of their hashes. */
typedef struct key_sum {
    uint64_t words[4];
} key_sum;

static void add_text(key_sum *sum, const char *what, const char *text) {
    uint64_t words[4];
    hg_blake3 hash;
    hg_blake3_init(&hash);
    hg_blake3_update(&hash, what, strlen(what) + 1);
    hg_blake3_update(&hash, text, strlen(text));
    hg_blake3_final(&hash, (uint8_t *)words);
    for (int i = 0; i < 4; i++) sum->words[i] += words[i];
}

/* What a file is known by; false and "-": there is none. */
static bool file_text(const char *path, char text[96], struct stat *info) {
    if (stat(path, info) != 0) {
        memcpy(text, "-", 2);
        return false;
    }
    snprintf(text, 96, "%llu %lld %ld %llu", (unsigned long long)info->st_size,
             (long long)info->st_mtim.tv_sec, info->st_mtim.tv_nsec,
             (unsigned long long)info->st_ino);
    return true;
}

static bool add_file(key_sum *sum, const char *path, struct stat *info) {
    char text[96], all[2 * HG_TRIAL_PATH + 128];
    bool there = file_text(path, text, info);
    snprintf(all, sizeof all, "%s %s", text, path);
    add_text(sum, "file", all);
    return there;
}

/* ---- files that name libraries ---- */

/* The library that an .icd (its first line) or a .json ("library_path": "…") names, with a folder
 * in its name: others are found in the folders of the system, which have lines of their own in the
 * key. */
static void add_named_library(key_sum *sum, const char *path) {
    char text[4096], library[2 * HG_TRIAL_PATH];
    struct stat info;
    const char *end = strrchr(path, '.'), *from = text;
    if (!end || (strcmp(end, ".icd") != 0 && strcmp(end, ".json") != 0)) return;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0) close(file);
    if (length < 0) return;
    text[length] = 0;
    if (end[1] == 'j') {
        if (!(from = strstr(text, "\"library_path\"")) || !(from = strchr(from + 14, '"'))) return;
        from++;
    }
    size_t size = strcspn(from, end[1] == 'j' ? "\"" : "\r\n");
    if (!memchr(from, '/', size)) return;
    const char *slash = strrchr(path, '/');
    int folder = from[0] == '/' || !slash ? 0 : (int)(slash - path + 1); /* else beside the file */
    snprintf(library, sizeof library, "%.*s%.*s", folder, path, (int)size, from);
    add_file(sum, library, &info);
}

static void add_place(key_sum *sum, const char *path) {
    struct stat info;
    char item_path[HG_TRIAL_PATH];
    if (!*path || !add_file(sum, path, &info)) return;
    if (!S_ISDIR(info.st_mode)) {
        add_named_library(sum, path);
        return;
    }
    DIR *folder = opendir(path);
    if (!folder) return;
    for (struct dirent *item; (item = readdir(folder));) {
        if (item->d_name[0] == '.' ||
            snprintf(item_path, sizeof item_path, "%s/%s", path, item->d_name) >= HG_TRIAL_PATH)
            continue;
        if (add_file(sum, item_path, &info) && S_ISREG(info.st_mode))
            add_named_library(sum, item_path);
    }
    closedir(folder);
}

/* Hands each path of a list that : divides, with `more` behind it, to `each`. */
static void each_path(const char *list, const char *more, void (*each)(key_sum *, const char *),
                      key_sum *sum) {
    char path[HG_TRIAL_PATH];
    while (list) {
        size_t length = strcspn(list, ":");
        if (length &&
            snprintf(path, sizeof path, "%.*s%s", (int)length, list, more) < HG_TRIAL_PATH)
            each(sum, path);
        list = list[length] ? list + length + 1 : NULL;
    }
}

static void add_places(key_sum *sum, const hg_vendor *vendor) {
    for (uint32_t i = 0; i < vendor->place_count; i++) {
        char name[64];
        const char *place = vendor->places[i];
        size_t length = strcspn(place, "/");
        if (place[0] != '$')
            add_place(sum, place);
        else if (snprintf(name, sizeof name, "%.*s", (int)length - 1, place + 1) < (int)sizeof name)
            each_path(hg_host_variable(name), place + length, add_place, sum);
    }
}

/* ---- where the system looks for libraries ---- */

static void add_plain_file(key_sum *sum, const char *path) {
    struct stat info;
    add_file(sum, path, &info);
}

static void add_libraries(key_sum *sum, const hg_vendor *vendor) {
    char name[HG_TRIAL_PATH];
    const char *folders = hg_host_variable("LD_LIBRARY_PATH");
    add_plain_file(sum, "/etc/ld.so.cache");
    add_plain_file(sum, "/etc/ld.so.preload");
    each_path(folders, "", add_plain_file, sum); /* a new library in it changes the folder's time */
    for (uint32_t i = 0; i < vendor->library_count; i++) {
        add_text(sum, "library", vendor->libraries[i]);
        snprintf(name, sizeof name, "/%s", vendor->libraries[i]);
        each_path(folders, name, add_plain_file, sum);
    }
}

/* ---- the process and the machine ---- */

static void add_variable(void *user, const char *text) { add_text(user, "variable", text); }

/* What decides which drivers are found, loaded and chosen, and what they do at first. */
static void add_variables(key_sum *sum) {
    static const char *const PREFIXES[] = {
        "OCL_",       "OPENCL_",  "CL_",       "POCL_",       "VK_",   "MESA_",  "LP_",
        "GALLIUM_",   "LIBGL_",   "DRI_",      "RADV_",       "ANV_",  "INTEL_", "NEO",
        "ZE_",        "SYCL_",    "CUDA",      "NV",          "__NV",  "__GL",   "AMD_",
        "GPU_",       "HSA_",     "ROC",       "HIP_",        "LLVM_", "LD_",    "GLIBC_",
        "XDG_CONFIG", "XDG_DATA", "XDG_CACHE", "XDG_RUNTIME", "HOME=", "TMP",    "DISPLAY=",
        "WAYLAND_",   "ASAN_",    "LSAN_",     "UBSAN_",      "TSAN_", "MALLOC_"};
    hg_host_variables(PREFIXES, HG_COUNT_OF(PREFIXES), add_variable, sum);
}

static void add_limits(key_sum *sum) {
    static const int LIMITS[] = {RLIMIT_AS,    RLIMIT_DATA,    RLIMIT_STACK, RLIMIT_NOFILE,
                                 RLIMIT_NPROC, RLIMIT_MEMLOCK, RLIMIT_CPU,   RLIMIT_FSIZE};
    char text[64];
    for (size_t i = 0; i < HG_COUNT_OF(LIMITS); i++) {
        struct rlimit limit = {0};
        getrlimit((unsigned)LIMITS[i], &limit);
        snprintf(text, sizeof text, "%d %llu %llu", LIMITS[i], (unsigned long long)limit.rlim_cur,
                 (unsigned long long)limit.rlim_max);
        add_text(sum, "limit", text);
    }
}

static bool add_link(key_sum *sum, const char *path) {
    char text[256];
    ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0) return false;
    text[length] = 0;
    add_text(sum, path, text);
    return true;
}

static bool add_boot(key_sum *sum) {
    char text[64];
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0) close(file);
    if (length <= 0) return false;
    text[length] = 0;
    add_text(sum, "boot", text);
    return true;
}

/* A driver may need what is mounted: PoCL ends the process where /sys is not. */
static void add_mounts(key_sum *sum) {
    static const char *const PATHS[] = {"/",        "/sys",     "/sys/devices", "/dev",
                                        "/dev/dri", "/dev/shm", "/tmp",         "/proc"};
    char text[96];
    for (size_t i = 0; i < HG_COUNT_OF(PATHS); i++) {
        struct stat info = {0};
        int missing = stat(PATHS[i], &info);
        snprintf(text, sizeof text, "%d %llu %llu", missing, (unsigned long long)info.st_dev,
                 (unsigned long long)info.st_ino);
        add_text(sum, PATHS[i], text);
    }
}

static void add_user(key_sum *sum) {
    char text[128];
    snprintf(text, sizeof text, "%u %u %u %u %d", (unsigned)getuid(), (unsigned)geteuid(),
             (unsigned)getgid(), (unsigned)getegid(), prctl(PR_GET_SECCOMP));
    add_text(sum, "user", text);
}

bool hg_trial_key(const hg_driver *driver, const char *helper, uint64_t limit_ms, uint8_t key[32]) {
    key_sum sum = {{0}};
    char text[96];
    snprintf(text, sizeof text, "%s %d %zu %llu", driver->name, (int)HG_TRIAL_VERSION,
             sizeof(hg_trial), (unsigned long long)limit_ms);
    add_text(&sum, "trial", text);
    add_plain_file(&sum, helper);
    add_places(&sum, driver->vendor);
    add_libraries(&sum, driver->vendor);
    add_variables(&sum);
    add_limits(&sum);
    add_mounts(&sum);
    add_user(&sum);
    bool known = add_boot(&sum);
    known = add_link(&sum, "/proc/self/ns/mnt") && known;
    known = add_link(&sum, "/proc/self/ns/user") && known;
    memcpy(key, sum.words, 32);
    return known;
}

/* ---- the libraries of an answer ---- */

bool hg_trial_same_files(const char *lines, size_t length) {
    char line[HG_TRIAL_PATH + 128], now[96];
    for (const char *end = lines + length; lines < end;) {
        const char *newline = memchr(lines, '\n', (size_t)(end - lines));
        size_t size = newline ? (size_t)(newline - lines) : (size_t)(end - lines);
        struct stat info;
        if (size >= sizeof line) return false;
        memcpy(line, lines, size);
        line[size] = 0;
        lines += size + 1;
        if (strncmp(line, "file ", 5) != 0) continue;
        const char *path = strchr(line, '/');
        if (!path || !file_text(path, now, &info)) return false;
        if (strlen(now) != (size_t)(path - line) - 6 || memcmp(line + 5, now, strlen(now)) != 0)
            return false;
    }
    return true;
}

uint64_t hg_trial_seconds(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec;
}

#else

bool hg_trial_key(const hg_driver *driver, const char *helper, uint64_t limit_ms, uint8_t key[32]) {
    (void)driver, (void)helper, (void)limit_ms;
    memset(key, 0, 32);
    return false;
}

bool hg_trial_same_files(const char *lines, size_t length) {
    (void)lines, (void)length;
    return false;
}

uint64_t hg_trial_seconds(void) { return 0; }

#endif
