/* The answer for a driver: of this process, kept on disk, or asked for. Must not know: any driver
 * by name. */
#include "base/blobcache.h"
#include "base/host.h"
#include "base/library.h"
#include "base/process.h"
#include "base/thread.h"
#include "driver/trial_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(__wasm__)

#include "base/disk.h"
#include <unistd.h>

#define PROGRAM "hologram-try-driver"
#ifndef HG_LIBEXEC_DIR
#define HG_LIBEXEC_DIR "/usr/local/libexec/hologram"
#endif

enum {
    ANSWER_BYTES = 64 << 10,
    FAILURE_S = 300, /* how long a failure is believed: what was wrong may be mended by what no key
                        sees */
    KEPT_BYTES = 4 << 20,
    MOST_DRIVERS = 8
};
static const uint64_t NO_LIMIT_MS = UINT64_C(1000000000000);

/* ---- what this process knows ---- */

typedef struct memo {
    const hg_driver *driver;
    bool final; /* its libraries are opened here from now on */
    uint8_t key[HG_BLOB_KEY_BYTES];
    uint64_t second; /* that the answer is of */
    hg_trial trial;
} memo;

static hg_mutex lock = HG_MUTEX_INIT; /* of what follows */
static memo memos[MOST_DRIVERS];
static uint32_t memo_count;

/* The thread that held it does not exist in a child. */
static void after_fork(void) { hg_mutex_init(&lock); }
static void watch_forks(void) { HG_IGNORE(pthread_atfork(NULL, NULL, after_fork)); }

static memo *memo_of(const hg_driver *driver) {
    for (uint32_t i = 0; i < memo_count; i++)
        if (memos[i].driver == driver) return &memos[i];
    if (memo_count == MOST_DRIVERS) return NULL;
    memos[memo_count].driver = driver;
    return &memos[memo_count++];
}

/* ---- the program ---- */

static void not_tried(hg_trial *trial, const char *format, const char *text, int code) {
    memset(trial, 0, sizeof *trial);
    trial->listing.end = HG_TRIAL_NOT_TRIED;
    snprintf(trial->note, sizeof trial->note, format, text, code);
}

/* In libexec/hologram below the folder of this code or one of the two above it:
 * build/release/hologram, /usr/lib/libhologram.so, /usr/lib/x86_64-linux-gnu/libhologram.so. Else
 * where this build is installed to; in a privileged program only there. */
static bool find_program(char path[HG_TRIAL_PATH]) {
    static const char *const UP[] = {"", "/..", "/../.."};
    char own[HG_TRIAL_PATH - 64];
    char *slash = NULL;
    if (!hg_host_privileged() && hg_library_own_path(own, sizeof own) &&
        (slash = strrchr(own, '/')))
        *slash = 0;
    for (size_t i = 0; slash && i < HG_COUNT_OF(UP); i++) {
        snprintf(path, HG_TRIAL_PATH, "%s%s/libexec/hologram/" PROGRAM, own, UP[i]);
        if (access(path, X_OK) == 0) return true;
    }
    snprintf(path, HG_TRIAL_PATH, "%s", HG_LIBEXEC_DIR "/" PROGRAM);
    return access(path, X_OK) == 0;
}

static bool choose_program(const hg_trial_options *options, char path[HG_TRIAL_PATH],
                           hg_trial *trial) {
    if (strcmp(options->helper, "off") == 0) {
        not_tried(trial, "%s", "HOLOGRAM_DRIVER_HELPER is off", 0);
        return false;
    }
    if (*options->helper) {
        snprintf(path, HG_TRIAL_PATH, "%s", options->helper);
        if (access(path, X_OK) == 0) return true;
        not_tried(trial, "the helper program %.100s cannot be run", options->helper, 0);
        return false;
    }
    if (find_program(path)) return true;
    not_tried(trial, "%s", "the helper program libexec/hologram/" PROGRAM " is missing", 0);
    return false;
}

/* ---- asking ---- */

/* The program's answer: "hologram-try-driver 1", "devices N", for each device "opening I" and
 * "opened I", "file …" for each library that was loaded, "done". It ends where the library ended
 * it. */
typedef struct answer {
    bool right, listed, done; /* it is the program; it has listed the devices; it came to its end */
    uint32_t devices, open;   /* open: the device it was opening, or `devices` */
} answer;

static answer read_answer(const char *text) {
    answer a = {0};
    char first[48];
    int length = snprintf(first, sizeof first, PROGRAM " %d\n", (int)HG_TRIAL_VERSION);
    if (strncmp(text, first, (size_t)length) != 0) return a;
    a.right = true;
    for (const char *line = text; (line = strchr(line, '\n')) != NULL;) {
        unsigned number;
        line++;
        if (sscanf(line, "devices %u\n", &number) == 1) {
            a.listed = true;
            a.devices = a.open = number < HG_TRIAL_DEVICES ? number : HG_TRIAL_DEVICES;
        } else if (sscanf(line, "opening %u\n", &number) == 1 && number < a.devices) {
            a.open = number;
        } else if (sscanf(line, "opened %u\n", &number) == 1) {
            a.open = a.devices;
        } else if (strncmp(line, "done\n", 5) == 0) {
            a.done = true;
        }
    }
    return a;
}

static hg_trial_outcome outcome_of(hg_process_result result, uint64_t limit_ms) {
    switch (result.end) {
    case HG_PROCESS_KILLED: return (hg_trial_outcome){HG_TRIAL_KILLED, result.code};
    case HG_PROCESS_LATE:
        return (hg_trial_outcome){HG_TRIAL_LATE,
                                  (int32_t)(limit_ms < INT32_MAX ? limit_ms : INT32_MAX)};
    case HG_PROCESS_EXITED: return (hg_trial_outcome){HG_TRIAL_EXITED, result.code};
    case HG_PROCESS_NOT_STARTED: break;
    }
    return (hg_trial_outcome){HG_TRIAL_NOT_TRIED, result.code};
}

/* Asks until the program comes to its end, each time from behind the device that it did not come
 * back from. `text` holds the last answer. */
static void ask(const hg_driver *driver, const char *program, uint64_t limit_ms, char *text,
                hg_trial *trial) {
    char version[16], first[16],
        *arguments[] = {(char[]){PROGRAM}, version, (char[]){""}, first, NULL};
    char name[32];
    uint64_t begin = hg_clock_ns();
    memset(trial, 0, sizeof *trial);
    if (!limit_ms || limit_ms > NO_LIMIT_MS) limit_ms = NO_LIMIT_MS;
    snprintf(name, sizeof name, "%s", driver->name);
    arguments[2] = name;
    snprintf(version, sizeof version, "%d", (int)HG_TRIAL_VERSION);
    for (uint32_t from = 0;;) {
        uint64_t spent = (hg_clock_ns() - begin) / 1000000;
        snprintf(first, sizeof first, "%u", (unsigned)from);
        hg_process_result result = hg_process_run(
            program, arguments, spent < limit_ms ? limit_ms - spent : 1, text, ANSWER_BYTES - 1);
        text[result.length] = 0;
        answer a = read_answer(text);
        hg_trial_outcome outcome = outcome_of(result, limit_ms);
        if (outcome.end == HG_TRIAL_NOT_TRIED) {
            not_tried(trial, "the helper program does not start (%.90s, error %d)", program,
                      result.code);
            return;
        }
        if (!a.right && outcome.end != HG_TRIAL_LATE) {
            not_tried(trial, "%.100s is not the helper program of this version", program, 0);
            return;
        }
        if (a.done) return;
        if (a.open >= a.devices) { /* not while it opened a device */
            trial->listing = outcome;
            return;
        }
        trial->devices[a.open] = outcome;
        from = a.open + 1;
        for (uint32_t i = from; outcome.end == HG_TRIAL_LATE && i < a.devices; i++)
            trial->devices[i] = outcome; /* no time left */
        if (outcome.end == HG_TRIAL_LATE) return;
    }
}

/* ---- keeping ---- */

static hg_blob_cache *open_cache(const char *dir) {
    hg_blob_cache *cache = NULL;
    hg_text path = {0};
    if (!*dir) return NULL;
    hg_folder_make(dir, strlen(dir));
    hg_text_addf(&path, "%s/drivers", dir); /* apart from compiled kernels: those may need all the
                                               room there is */
    if (!path.failed)
        HG_IGNORE(hg_blob_cache_open(path.data, KEPT_BYTES, &cache)); /* without it nothing is kept
                                                                       */
    hg_text_free(&path);
    return cache;
}

static bool has_failed(const hg_trial *trial) {
    bool failed = trial->listing.end != HG_TRIAL_CAME_BACK;
    for (uint32_t i = 0; i < HG_TRIAL_DEVICES; i++)
        failed = failed || trial->devices[i].end != HG_TRIAL_CAME_BACK;
    return failed;
}

/* Whether an answer of that second still holds, as far as time decides it. */
static bool is_recent(const hg_trial *trial, uint64_t second) {
    uint64_t now = hg_trial_seconds();
    return !has_failed(trial) || (now >= second && now - second < FAILURE_S);
}

/* A kept answer: the trial, its second, and the program's text, of which the libraries count. */
static bool get_kept(hg_blob_cache *cache, const uint8_t key[32], hg_trial *trial,
                     uint64_t *second) {
    uint8_t *data;
    uint64_t size;
    if (!hg_blob_cache_get(cache, key, &data, &size)) return false;
    bool good = size >= sizeof *trial + sizeof *second;
    if (good) {
        memcpy(trial, data, sizeof *trial);
        memcpy(second, data + sizeof *trial, sizeof *second);
        size_t head = sizeof *trial + sizeof *second;
        good = is_recent(trial, *second) &&
               hg_trial_same_files((const char *)data + head, (size_t)size - head);
    }
    hg_free(data);
    return good;
}

static void put_kept(hg_blob_cache *cache, const uint8_t key[32], const hg_trial *trial,
                     uint64_t second, const char *text) {
    hg_text all = {0};
    hg_text_add(&all, (const char *)trial, sizeof *trial);
    hg_text_add(&all, (const char *)&second, sizeof second);
    hg_text_add(&all, text, strlen(text));
    if (!all.failed)
        (void)hg_blob_cache_put(cache, key, all.data, all.length); /* what is not kept is asked
                                                                      again */
    hg_text_free(&all);
}

static hg_status look_up_or_ask(memo *m, const char *program, const hg_trial_options *options,
                                bool keep) {
    char *text = hg_alloc(ANSWER_BYTES);
    if (!text) return hg_fail_memory();
    hg_blob_cache *cache = keep ? open_cache(options->cache_dir) : NULL;
    if (!get_kept(cache, m->key, &m->trial, &m->second)) {
        text[0] = 0;
        ask(m->driver, program, options->limit_ms, text, &m->trial);
        m->second = hg_trial_seconds();
        if (m->trial.listing.end != HG_TRIAL_NOT_TRIED)
            put_kept(cache, m->key, &m->trial, m->second, text);
    }
    hg_blob_cache_close(cache);
    hg_free(text);
    m->final = m->trial.listing.end == HG_TRIAL_CAME_BACK ||
               m->trial.listing.end == HG_TRIAL_NOT_TRIED;
    return HG_OK;
}

static hg_status answer_for(memo *m, const hg_trial_options *options) {
    char program[HG_TRIAL_PATH];
    uint8_t key[HG_BLOB_KEY_BYTES];
    if (m->final) return HG_OK;
    if (!choose_program(options, program, &m->trial)) {
        m->final = true;
        return HG_OK;
    }
    bool keep = hg_trial_key(m->driver, program, options->limit_ms, key);
    bool known = m->second && memcmp(m->key, key, sizeof key) == 0 &&
                 is_recent(&m->trial, m->second);
    if (known) return HG_OK;
    memcpy(m->key, key, sizeof key);
    m->second = 0;
    return look_up_or_ask(m, program, options, keep);
}

hg_status hg_trial_ask(const hg_driver *driver, const hg_trial_options *options, hg_trial *trial) {
    static hg_once_flag once = HG_ONCE_INIT;
    hg_status status = HG_OK;
    memset(trial, 0, sizeof *trial);
    if (!driver->vendor) return HG_OK;
    hg_once(&once, watch_forks);
    hg_mutex_lock(&lock);
    memo *m = memo_of(driver);
    if (m) status = answer_for(m, options);
    if (m && status == HG_OK) *trial = m->trial;
    hg_mutex_unlock(&lock);
    return status;
}

void hg_trial_note(const hg_driver *driver, char note[160]) {
    note[0] = 0;
    hg_mutex_lock(&lock);
    for (uint32_t i = 0; i < memo_count; i++)
        if (memos[i].driver == driver && memos[i].trial.listing.end == HG_TRIAL_NOT_TRIED)
            memcpy(note, memos[i].trial.note, 160);
    hg_mutex_unlock(&lock);
}

#else

hg_status hg_trial_ask(const hg_driver *driver, const hg_trial_options *options, hg_trial *trial) {
    (void)driver, (void)options;
    memset(trial, 0, sizeof *trial);
    return HG_OK;
}

void hg_trial_note(const hg_driver *driver, char note[160]) {
    (void)driver;
    note[0] = 0;
}

#endif

/* ---- words ---- */

static const char *signal_word(int32_t signal) {
    switch (signal) { /* of Linux on the machines we know */
    case 4: return ", illegal instruction";
    case 5: return ", trap";
    case 6: return ", abort";
    case 7: return ", bus error";
    case 8: return ", arithmetic error";
    case 9: return ", killed";
    case 11: return ", segmentation fault";
    case 14: return ", alarm";
    case 24: return ", limit of CPU time";
    case 25: return ", limit of file size";
    case 31: return ", system call that is not allowed";
    }
    return "";
}

bool hg_trial_failed(const hg_trial_outcome *outcome, char reason[256]) {
    int32_t code = outcome->code;
    switch (outcome->end) {
    case HG_TRIAL_KILLED:
        snprintf(reason, 256, "crashed while opening (signal %d%s)", (int)code, signal_word(code));
        return true;
    case HG_TRIAL_EXITED:
        snprintf(reason, 256, "ended the process while opening (exit status %d)", (int)code);
        return true;
    case HG_TRIAL_LATE:
        snprintf(reason, 256, "did not answer within %g s", (double)code / 1000);
        return true;
    case HG_TRIAL_CAME_BACK:
    case HG_TRIAL_NOT_TRIED: break;
    }
    return false;
}
