/* Blobs on disk: one file an entry, written under another name, synced and renamed; checked by its
 * checksum when read. Processes need no lock among them: a rename replaces a whole file, a reader
 * keeps the file it has opened, and an entry that another process removed is a miss. The only locks
 * are those of writers on their own temporary files: one that can be locked belongs to a dead
 * writer; and those that callers ask for, to make a thing one after another.
 * Must not know: what the blobs are. */
#include "base/blobcache.h"
#include "base/thread.h"

#include <string.h>

#if defined(__wasm__)

struct hg_blob_cache {
    int unused;
};

hg_status hg_blob_cache_open(const char *dir, uint64_t limit, hg_blob_cache **cache) {
    (void)dir, (void)limit;
    *cache = hg_calloc(1, sizeof **cache);
    return *cache ? HG_OK : hg_fail_memory();
}

void hg_blob_cache_close(hg_blob_cache *cache) { hg_free(cache); }

bool hg_blob_cache_usable(const hg_blob_cache *cache) {
    (void)cache;
    return false;
}

bool hg_blob_cache_get(hg_blob_cache *cache, const uint8_t key[HG_BLOB_KEY_BYTES], uint8_t **data,
                       uint64_t *size) {
    (void)cache, (void)key;
    *data = NULL;
    *size = 0;
    return false;
}

bool hg_blob_cache_put(hg_blob_cache *cache, const uint8_t key[HG_BLOB_KEY_BYTES], const void *data,
                       uint64_t size) {
    (void)cache, (void)key, (void)data, (void)size;
    return false;
}

void hg_blob_cache_remove(hg_blob_cache *cache, const uint8_t key[HG_BLOB_KEY_BYTES]) {
    (void)cache, (void)key;
}

int hg_blob_cache_claim(const hg_blob_cache *cache, const uint8_t key[HG_BLOB_KEY_BYTES],
                        uint32_t wait_ms) {
    (void)cache, (void)key, (void)wait_ms;
    return -1;
}

void hg_blob_cache_release(int claim) { (void)claim; }

void hg_blob_cache_stats_get(hg_blob_cache *cache, hg_blob_cache_stats *stats) {
    (void)cache;
    memset(stats, 0, sizeof *stats);
}

#else

#include "base/disk.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The folder's name changes with the format, so that versions of the library do not remove each
 * other's files. */
#define FOLDER "blobs-1"
static const uint8_t MAGIC[8] = {'H', 'G', 'B', 'L', 'O', 'B', '\r', '\n'};
enum {
    VERSION = 1,
    HEADER_BYTES = 88,
    HASHED_BYTES = 56,
    NAME_BYTES = 2 * HG_BLOB_KEY_BYTES + 5 /* ".blob" */
};

struct hg_blob_cache {
    int folder; /* -1: never hits */
    uint64_t limit;
    hg_mutex lock; /* of what follows */
    bool scanned;
    uint64_t total, since; /* bytes at the last scan and stored here since; bytes stored here since
                            */
    hg_blob_cache_stats stats;
};

/* ---- names ---- */

static void entry_name(const uint8_t key[HG_BLOB_KEY_BYTES], char name[NAME_BYTES + 1]) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < HG_BLOB_KEY_BYTES; i++) {
        name[2 * i] = digits[key[i] >> 4];
        name[2 * i + 1] = digits[key[i] & 15];
    }
    memcpy(name + 2 * HG_BLOB_KEY_BYTES, ".blob", 6);
}

static bool is_entry(const char *name) {
    return strspn(name, "0123456789abcdef") == 2 * HG_BLOB_KEY_BYTES &&
           strcmp(name + 2 * HG_BLOB_KEY_BYTES, ".blob") == 0;
}

static bool is_temporary(const char *name) {
    size_t length = strlen(name);
    return length > 8 && memcmp(name, "tmp-", 4) == 0 && memcmp(name + length - 4, ".new", 4) == 0;
}

/* ---- the folder ---- */

/* A folder in which another user could place files is not used: what lies there is run. */
static int open_folder(const char *dir) {
    hg_folder_make(dir, strlen(dir)); /* what matters is whether it opens */
    int parent = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0) return -1;
    mkdirat(parent, FOLDER, 0700);
    int folder = openat(parent, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(parent);
    struct stat info;
    if (folder >= 0 &&
        (fstat(folder, &info) != 0 || info.st_uid != geteuid() || info.st_mode & 022)) {
        close(folder);
        return -1;
    }
    return folder;
}

hg_status hg_blob_cache_open(const char *dir, uint64_t limit, hg_blob_cache **cache) {
    *cache = hg_calloc(1, sizeof **cache);
    if (!*cache) return hg_fail_memory();
    hg_mutex_init(&(*cache)->lock);
    (*cache)->limit = limit;
    (*cache)->folder = dir && *dir && limit ? open_folder(dir) : -1;
    return HG_OK;
}

void hg_blob_cache_close(hg_blob_cache *cache) {
    if (!cache) return;
    if (cache->folder >= 0) close(cache->folder);
    hg_mutex_destroy(&cache->lock);
    hg_free(cache);
}

bool hg_blob_cache_usable(const hg_blob_cache *cache) { return cache && cache->folder >= 0; }

static void count(hg_blob_cache *cache, uint64_t *number) {
    hg_mutex_lock(&cache->lock);
    ++*number;
    hg_mutex_unlock(&cache->lock);
}

/* By this clock and not by the system's coarser one, so that two uses a moment apart keep their
 * order. */
static void touch(int file) {
    struct timespec now[2];
    if (clock_gettime(CLOCK_REALTIME, &now[0]) != 0) return;
    now[1] = now[0];
    (void)futimens(file, now);
}

/* ---- headers: magic, version, zero, key, length, checksum of all before it and of the blob ----
 */

static void put_number(uint8_t *to, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) to[i] = (uint8_t)(value >> (8 * i));
}

static void make_header(uint8_t header[HEADER_BYTES], const uint8_t key[HG_BLOB_KEY_BYTES],
                        const void *data, uint64_t size) {
    hg_blake3 hash;
    memset(header, 0, HEADER_BYTES);
    memcpy(header, MAGIC, sizeof MAGIC);
    put_number(header + 8, VERSION, 4);
    memcpy(header + 16, key, HG_BLOB_KEY_BYTES);
    put_number(header + 48, size, 8);
    hg_blake3_init(&hash);
    hg_blake3_update(&hash, header, HASHED_BYTES);
    hg_blake3_update(&hash, data, (size_t)size);
    hg_blake3_final(&hash, header + HASHED_BYTES);
}

/* ---- reading ---- */

static bool read_whole(int file, uint8_t *to, uint64_t bytes) {
    while (bytes) {
        ssize_t got = read(file, to, bytes < 1u << 30 ? (size_t)bytes : (size_t)1 << 30);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        bytes -= (uint64_t)got;
    }
    return true;
}

typedef enum outcome { GOOD, ABSENT, BAD } outcome;

static outcome read_entry(int file, const uint8_t key[HG_BLOB_KEY_BYTES], uint8_t **data,
                          uint64_t *size) {
    uint8_t header[HEADER_BYTES], expected[HEADER_BYTES];
    struct stat info;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < HEADER_BYTES)
        return BAD;
    uint64_t bytes = (uint64_t)info.st_size - HEADER_BYTES;
    if (bytes >= SIZE_MAX || !(*data = hg_alloc((size_t)bytes))) return ABSENT;
    outcome result = BAD;
    if (read_whole(file, header, HEADER_BYTES) && read_whole(file, *data, bytes)) {
        make_header(expected, key, *data, bytes);
        if (memcmp(header, expected, HEADER_BYTES) == 0) result = GOOD;
    }
    if (result == GOOD) {
        *size = bytes;
    } else {
        hg_free(*data);
        *data = NULL;
    }
    return result;
}

static void remove_name(const hg_blob_cache *cache, const char *name) {
    if (unlinkat(cache->folder, name, 0) != 0 && (errno == EISDIR || errno == EPERM))
        unlinkat(cache->folder, name, AT_REMOVEDIR);
}

bool hg_blob_cache_get(hg_blob_cache *cache, const uint8_t key[HG_BLOB_KEY_BYTES], uint8_t **data,
                       uint64_t *size) {
    char name[NAME_BYTES + 1];
    *data = NULL;
    *size = 0;
    if (!hg_blob_cache_usable(cache)) return false;
    entry_name(key, name);
    /* Without waiting: a pipe of that name must not stop us. */
    int file = openat(cache->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    outcome result = file >= 0 ? read_entry(file, key, data, size) : errno == ELOOP ? BAD : ABSENT;
    if (result == GOOD) touch(file);
    if (file >= 0) close(file);
    if (result == BAD) {
        remove_name(cache, name);
        count(cache, &cache->stats.rejected);
    }
    count(cache, result == GOOD ? &cache->stats.hits : &cache->stats.misses);
    return result == GOOD;
}

void hg_blob_cache_remove(hg_blob_cache *cache, const uint8_t key[HG_BLOB_KEY_BYTES]) {
    char name[NAME_BYTES + 1];
    if (!hg_blob_cache_usable(cache)) return;
    entry_name(key, name);
    remove_name(cache, name);
}

/* ---- making room ---- */

typedef struct entry {
    char name[NAME_BYTES + 1];
    uint64_t bytes;
    struct timespec used;
} entry;
typedef HG_VEC(entry) entries;

static int older(const void *a, const void *b) {
    const struct timespec *x = &((const entry *)a)->used, *y = &((const entry *)b)->used;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    if (x->tv_nsec != y->tv_nsec) return x->tv_nsec < y->tv_nsec ? -1 : 1;
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

/* Removes what a killed writer left. A writer that has not locked its file yet loses it: its rename
 * fails and nothing is stored. */
static bool sweep(const hg_blob_cache *cache, const char *name) {
    int file = openat(cache->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool dead = file < 0 ? errno == ELOOP : flock(file, LOCK_EX | LOCK_NB) == 0;
    if (dead) remove_name(cache, name);
    if (file >= 0) close(file);
    return dead;
}

/* All entries and the bytes of all files. False: the folder cannot be read or memory is short. */
static bool scan(const hg_blob_cache *cache, entries *list, uint64_t *total) {
    int again = openat(cache->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* a position of its
                                                                                   own */
    DIR *folder = again >= 0 ? fdopendir(again) : NULL;
    if (!folder) {
        if (again >= 0) close(again);
        return false;
    }
    bool good = true;
    *total = 0;
    for (struct dirent *item; good && (item = readdir(folder));) {
        struct stat info;
        bool temporary = is_temporary(item->d_name);
        if (!temporary && !is_entry(item->d_name))
            continue; /* not ours: neither counted nor removed */
        if (temporary && sweep(cache, item->d_name)) continue;
        if (fstatat(cache->folder, item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
        uint64_t bytes = info.st_size > 0 ? (uint64_t)info.st_size : 0;
        *total += bytes;
        if (temporary) continue;
        entry *e = hg_vec_push(list);
        if (!e) {
            good = false;
            break;
        }
        memcpy(e->name, item->d_name, sizeof e->name);
        e->bytes = bytes;
        e->used = info.st_mtim;
    }
    closedir(folder);
    return good;
}

/* Makes room for `bytes`, down to seven eighths of the limit so that not every entry to come pays
 * for a scan. Under the lock. What other processes store is seen at scans only: one comes at the
 * first entry and then after every 64th part of the limit. */
static bool make_room(hg_blob_cache *cache, uint64_t bytes) {
    if (bytes > cache->limit) return false;
    if (cache->scanned && bytes <= cache->limit - cache->total && cache->since <= cache->limit / 64)
        return true;
    entries list = {0};
    uint64_t total;
    bool good = scan(cache, &list, &total);
    if (good && total > cache->limit - bytes) {
        uint64_t goal = cache->limit - cache->limit / 8;
        goal = goal > bytes ? goal - bytes : 0;
        if (list.count) qsort(list.data, (size_t)list.count, sizeof *list.data, older);
        for (uint64_t i = 0; i < list.count && total > goal; i++) {
            if (unlinkat(cache->folder, list.data[i].name, 0) != 0 && errno != ENOENT) continue;
            total -= list.data[i].bytes;
        }
    }
    hg_vec_free(&list);
    if (!good || total > cache->limit - bytes) return false;
    cache->scanned = true;
    cache->total = total;
    cache->since = 0;
    return true;
}

/* ---- writing ---- */

static void temporary_name(char name[80]) {
    static _Atomic uint32_t serial;
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(name, 80, "tmp-%ld-%lx%09lx-%x.new", (long)getpid(), (unsigned long)now.tv_sec,
             (unsigned long)now.tv_nsec, (unsigned)serial++);
}

/* A file without a name (name ""), or where there is no such thing with one. */
static int create_temporary(const hg_blob_cache *cache, char name[80]) {
    name[0] = 0;
    int file = hg_file_unnamed(cache->folder, ".", 0600);
    for (int i = 0; i < 16 && file < 0; i++) {
        temporary_name(name);
        file = openat(cache->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      0600);
        if (file < 0 && errno != EEXIST) break;
    }
    return file;
}

/* The file takes the entry's name, or that of its temporary name where another process stored the
 * entry before. */
static bool put_in_place(const hg_blob_cache *cache, int file, char temporary[80],
                         const char *name) {
    if (!temporary[0]) {
        int error = hg_file_give_name(file, cache->folder, name);
        for (int i = 0; i < 16 && error == EEXIST; i++) {
            temporary_name(temporary);
            error = hg_file_give_name(file, cache->folder, temporary);
        }
        if (error) temporary[0] = 0; /* it has no name */
        if (error || !temporary[0]) return !error;
    }
    return renameat(cache->folder, temporary, cache->folder, name) == 0;
}

static bool store(const hg_blob_cache *cache, const uint8_t key[HG_BLOB_KEY_BYTES],
                  const void *data, uint64_t size) {
    uint8_t header[HEADER_BYTES];
    char temporary[80], name[NAME_BYTES + 1];
    hg_held_signals held;
    int file = create_temporary(cache, temporary);
    if (file < 0) return false;
    bool good = flock(file, LOCK_EX | LOCK_NB) == 0;
    make_header(header, key, data, size);
    entry_name(key, name);
    good = good && hg_write_all(file, header, HEADER_BYTES) == 0 &&
           hg_write_all(file, data, size) == 0 && fsync(file) == 0;
    if (good) touch(file);
    hg_signals_hold(&held); /* for the moment in which there may be another name */
    good = good && put_in_place(cache, file, temporary, name);
    if (!good && temporary[0]) unlinkat(cache->folder, temporary, 0);
    hg_signals_release(&held);
    close(file); /* only now: until it has its name nobody may take it for a dead writer's */
    return good;
}

bool hg_blob_cache_put(hg_blob_cache *cache, const uint8_t key[HG_BLOB_KEY_BYTES], const void *data,
                       uint64_t size) {
    uint64_t bytes;
    if (!hg_blob_cache_usable(cache) || !hg_add_u64(size, HEADER_BYTES, &bytes) || size >= SIZE_MAX)
        return false;
    hg_mutex_lock(&cache->lock);
    bool room = make_room(cache, bytes);
    if (room) { /* reserved before the writing, which others need not wait for */
        cache->total += bytes;
        cache->since += bytes;
    }
    hg_mutex_unlock(&cache->lock);
    if (!room) return false;
    if (!store(cache, key, data, size)) return false;
    count(cache, &cache->stats.stored);
    return true;
}

enum { CLAIM_POLL_NS = 2000000 };

int hg_blob_cache_claim(const hg_blob_cache *cache, const uint8_t key[HG_BLOB_KEY_BYTES],
                        uint32_t wait_ms) {
    if (!hg_blob_cache_usable(cache)) return -1;
    char name[sizeof "claim-00"];
    snprintf(name, sizeof name, "claim-%02x", key[0]);
    int file = openat(cache->folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    for (uint64_t end = hg_clock_ns() + wait_ms * UINT64_C(1000000);
         flock(file, LOCK_EX | LOCK_NB) != 0 && hg_clock_ns() < end;)
        nanosleep(&(struct timespec){.tv_nsec = CLAIM_POLL_NS}, NULL);
    return file;
}

void hg_blob_cache_release(int claim) {
    if (claim >= 0) close(claim);
}

void hg_blob_cache_stats_get(hg_blob_cache *cache, hg_blob_cache_stats *stats) {
    memset(stats, 0, sizeof *stats);
    if (!cache) return;
    hg_mutex_lock(&cache->lock);
    *stats = cache->stats;
    hg_mutex_unlock(&cache->lock);
}

#endif
