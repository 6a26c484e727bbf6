/* test: timeout=300 */
/* The cache of blobs: what is got is what was put, whatever happens to the files: writers killed in
 * mid-write, flipped bits, a limit that holds almost nothing, folders that cannot be used, files
 * that are something else. */
#include "base/blobcache.h"
#include "base/thread.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char root[256];
static const uint64_t PLENTY = 1 << 30;

static const char *path_of(const char *name) {
    static char path[8][512];
    static int next;
    char *p = path[next++ % 8];
    snprintf(p, sizeof path[0], "%s/%s", root, name);
    return p;
}

static hg_blob_cache *open_cache(const char *name, uint64_t limit) {
    hg_blob_cache *cache = NULL;
    CHECK(hg_blob_cache_open(name ? path_of(name) : NULL, limit, &cache) == HG_OK);
    return cache;
}

/* Key and contents of blob n: the contents follow from the number alone, so that every process can
 * judge what it gets. */
static void key_of(uint64_t n, uint8_t key[32]) {
    hg_blake3 hash;
    hg_blake3_init(&hash);
    hg_blake3_update(&hash, &n, sizeof n);
    hg_blake3_final(&hash, key);
}
static uint64_t size_of(uint64_t n) { return n * 7919 % 20011; }
static uint8_t byte_of(uint64_t n, uint64_t i) {
    return (uint8_t)((n * 2654435761u + i * 40503u + (i >> 8)) >> 3);
}

static bool put(hg_blob_cache *cache, uint64_t n) {
    uint8_t key[32], *data = malloc(size_of(n) + 1);
    bool good = data != NULL;
    key_of(n, key);
    for (uint64_t i = 0; good && i < size_of(n); i++) data[i] = byte_of(n, i);
    if (good) good = hg_blob_cache_put(cache, key, data, size_of(n));
    free(data);
    return good;
}

/* 1: the right blob, 0: a miss, -1: a wrong one. */
static int get(hg_blob_cache *cache, uint64_t n) {
    uint8_t key[32], *data;
    uint64_t size;
    key_of(n, key);
    if (!hg_blob_cache_get(cache, key, &data, &size)) return data || size ? -1 : 0;
    int result = size == size_of(n) ? 1 : -1;
    for (uint64_t i = 0; i < size && result == 1; i++) result = data[i] == byte_of(n, i) ? 1 : -1;
    hg_free(data);
    return result;
}

static void file_of(const char *cache, uint64_t n, char path[600]) {
    uint8_t key[32];
    key_of(n, key);
    int used = snprintf(path, 600, "%s/blobs-1/", path_of(cache));
    for (int i = 0; i < 32; i++) used += snprintf(path + used, 600 - (size_t)used, "%02x", key[i]);
    snprintf(path + used, 600 - (size_t)used, ".blob");
}

typedef struct content {
    uint64_t files, temporary, bytes, readable;
} content;
static content look(const char *cache) {
    content c = {0};
    char folder[600], path[1000];
    snprintf(folder, sizeof folder, "%s/blobs-1", path_of(cache));
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat info;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.' || lstat(path, &info) != 0) continue;
        c.files++;
        c.temporary += strncmp(e->d_name, "tmp-", 4) == 0;
        c.bytes += (uint64_t)info.st_size;
        c.readable += (info.st_mode & 077) != 0;
    }
    if (d) closedir(d);
    return c;
}

/* Only the cache's own folders are made: its last one, and the ".cache" of a home that is there. */
static void test_folders(void) {
    static const struct {
        const char *path, *missing, *made;
    } cases[] = {{"no-home/.cache/hologram", "no-home", NULL},
                 {"no-xdg/deep/hologram", "no-xdg", NULL},
                 {"none/x.cache/hologram", "none", NULL},
                 {"home/.cache/hologram", NULL, "home/.cache"},
                 {"home/.cache//other/", NULL, "home/.cache/other"},
                 {"home/named", NULL, "home/named"},
                 {"home/slashes///", NULL, "home/slashes"}};
    struct stat info;
    umask(0);
    CHECK(mkdir(path_of("home"), 0700) == 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hg_blob_cache *cache = open_cache(cases[i].path, PLENTY);
        CHECK(hg_blob_cache_usable(cache) == !cases[i].missing &&
              put(cache, 1) == !cases[i].missing);
        if (cases[i].missing) CHECK(lstat(path_of(cases[i].missing), &info) != 0);
        if (cases[i].made)
            CHECK(stat(path_of(cases[i].made), &info) == 0 && (info.st_mode & 0777) == 0700);
        hg_blob_cache_close(cache);
    }
}

static void test_basics(void) {
    umask(0);
    hg_blob_cache *cache = open_cache(".cache/path", PLENTY);
    struct stat info;
    CHECK(hg_blob_cache_usable(cache));
    CHECK(stat(path_of(".cache"), &info) == 0 && (info.st_mode & 0777) == 0700);
    CHECK(stat(path_of(".cache/path/blobs-1"), &info) == 0 && (info.st_mode & 0777) == 0700);
    CHECK_U64(get(cache, 1), 0);
    for (uint64_t n = 0; n < 50; n++) CHECK(put(cache, n));
    CHECK_U64(look(".cache/path").readable, 0);
    hg_blob_cache *other = open_cache(".cache/path", PLENTY);
    for (uint64_t n = 0; n < 60; n++)
        CHECK_U64(get(other, n), n < 50); /* blob 0 is empty: a hit of no bytes */
    uint8_t key[32];
    key_of(3, key);
    hg_blob_cache_remove(other, key);
    CHECK_U64(get(cache, 3), 0);
    CHECK(put(other, 3) && put(other, 3) && get(cache, 3) == 1);
    hg_blob_cache_stats stats;
    hg_blob_cache_stats_get(other, &stats);
    CHECK(stats.hits == 50 && stats.misses == 10 && stats.stored == 2 && stats.rejected == 0);
    hg_blob_cache_close(other);
    hg_blob_cache_close(cache);
}

/* Every damage is a miss, the file is gone, and the entry can be put again. */
static void test_damage(void) {
    char path[600], elsewhere[600];
    hg_blob_cache *cache = open_cache("damage", PLENTY);
    CHECK(put(cache, 5));
    file_of("damage", 5, path);
    struct stat info;
    CHECK(stat(path, &info) == 0);
    for (off_t at = 0; at < info.st_size; at += at < 100 ? 1 : 997) { /* each byte of the header,
                                                                         some of the blob */
        int file = open(path, O_RDWR);
        uint8_t byte = 0;
        bool flipped = file >= 0 && pread(file, &byte, 1, at) == 1;
        byte ^= (uint8_t)(1 << at % 8);
        flipped = flipped && pwrite(file, &byte, 1, at) == 1;
        close(file);
        CHECK_MESSAGE(flipped && get(cache, 5) == 0, "bit flipped in byte %lld", (long long)at);
        CHECK(access(path, F_OK) != 0 && put(cache, 5));
    }
    for (int cut = 0; cut < 200; cut += 7) {
        CHECK(truncate(path, cut % 2 ? cut : info.st_size - cut - 1) == 0 && get(cache, 5) == 0 &&
              access(path, F_OK) != 0);
        CHECK(put(cache, 5));
    }
    CHECK(truncate(path, info.st_size + 1) == 0 && get(cache, 5) == 0 && put(cache, 5));
    /* a good entry of another key under this name */
    CHECK(put(cache, 6));
    file_of("damage", 6, elsewhere);
    CHECK(rename(elsewhere, path) == 0 && get(cache, 5) == 0 && access(path, F_OK) != 0);
    /* links and other things are not followed, opened or waited for */
    CHECK(put(cache, 6) && symlink(elsewhere, path) == 0 && get(cache, 5) == 0 &&
          lstat(path, &info) != 0 && get(cache, 6) == 1);
    CHECK(mkfifo(path, 0600) == 0 && get(cache, 5) == 0 && lstat(path, &info) != 0);
    CHECK(mkdir(path, 0700) == 0 && get(cache, 5) == 0 && lstat(path, &info) != 0);
    CHECK(put(cache, 5) && get(cache, 5) == 1);
    hg_blob_cache_stats stats;
    hg_blob_cache_stats_get(cache, &stats);
    CHECK(stats.rejected > 100 && stats.misses == stats.rejected);
    hg_blob_cache_close(cache);
}

static void never_hits(hg_blob_cache *cache, const char *what) {
    CHECK_MESSAGE(!hg_blob_cache_usable(cache) && !put(cache, 9) && get(cache, 9) == 0, "%s", what);
    hg_blob_cache_close(cache);
}

static void test_unusable(void) {
    hg_blob_cache_close(NULL);
    never_hits(NULL, "no cache");
    never_hits(open_cache(NULL, PLENTY), "no folder");
    hg_blob_cache *cache = NULL;
    CHECK(hg_blob_cache_open("", PLENTY, &cache) == HG_OK);
    never_hits(cache, "empty name");
    never_hits(open_cache("limit0", 0), "limit 0");
    CHECK(close(open(path_of("file"), O_CREAT | O_WRONLY, 0600)) == 0);
    never_hits(open_cache("file/x", PLENTY), "below a file");
    CHECK(hg_blob_cache_open("/proc/self/x", PLENTY, &cache) == HG_OK);
    never_hits(cache, "a folder that cannot be made");
    /* another user may write there, or the folder is a link to elsewhere */
    CHECK(mkdir(path_of("open"), 0700) == 0 && mkdir(path_of("open/blobs-1"), 0700) == 0 &&
          chmod(path_of("open/blobs-1"), 0777) == 0);
    never_hits(open_cache("open", PLENTY), "a folder that all may write");
    CHECK(mkdir(path_of("link"), 0700) == 0 && mkdir(path_of("target"), 0700) == 0);
    CHECK(symlink(path_of("target"), path_of("link/blobs-1")) == 0);
    never_hits(open_cache("link", PLENTY), "a link in place of the folder");
    /* the folder goes away under an open cache */
    cache = open_cache("gone", PLENTY);
    CHECK(put(cache, 9) && rename(path_of("gone/blobs-1"), path_of("gone/x")) == 0);
    CHECK(get(cache, 9) == 1); /* still the same folder */
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", path_of("gone"));
    CHECK(system(command) == 0 && get(cache, 9) == 0 && !put(cache, 9));
    hg_blob_cache_close(cache);
    if (geteuid() == 0) return; /* root may write everywhere */
    CHECK(mkdir(path_of("closed"), 0500) == 0);
    never_hits(open_cache("closed", PLENTY), "not writable");
}

static void test_limit(void) {
    enum { LIMIT = 100000 };
    uint64_t stored = 0;
    hg_blob_cache *cache = open_cache("limit", LIMIT);
    uint8_t key[32], *large = calloc(1, LIMIT + 1);
    memset(key, 1, sizeof key);
    CHECK(large && !hg_blob_cache_put(cache, key, large, LIMIT) &&
          !hg_blob_cache_put(cache, key, large, UINT64_MAX));
    for (uint64_t n = 100; n < 300; n++) {
        stored += put(cache, n);
        CHECK_U64(get(cache, n), 1);
        CHECK(look("limit").bytes <= LIMIT);
    }
    CHECK_U64(stored, 200);
    CHECK(get(cache, 299) == 1 && get(cache, 298) == 1 && get(cache, 100) == 0);
    /* one that is as large as may be takes the place of all */
    CHECK(hg_blob_cache_put(cache, key, large, LIMIT - 88) && look("limit").files == 1);
    free(large);
    hg_blob_cache_close(cache);
    /* what is used stays */
    cache = open_cache("recent", LIMIT);
    CHECK(put(cache, 1000));
    for (uint64_t n = 2000; n < 2100; n++) CHECK(put(cache, n) && get(cache, 1000) == 1);
    hg_blob_cache_close(cache);
    /* the limit of one that opens it later holds; files that are not the cache's stay */
    CHECK(close(open(path_of("recent/blobs-1/notes.txt"), O_CREAT | O_WRONLY, 0600)) == 0);
    cache = open_cache("recent", 40000);
    CHECK(put(cache, 3001) && look("recent").bytes <= 40000 && get(cache, 1000) == 1 &&
          get(cache, 3001) == 1);
    CHECK(access(path_of("recent/blobs-1/notes.txt"), F_OK) == 0);
    hg_blob_cache_close(cache);
}

/* A writer that is killed leaves a temporary file at most; the next process that stores removes it,
 * but not one that is being written. */
static void test_stale(void) {
    hg_blob_cache *cache = open_cache("stale", PLENTY);
    CHECK(close(open(path_of("stale/blobs-1/tmp-1-2-3.new"), O_CREAT | O_WRONLY, 0600)) == 0);
    CHECK(symlink("/dev/null/none", path_of("stale/blobs-1/tmp-1-2-4.new")) == 0);
    CHECK(look("stale").temporary == 2 && put(cache, 1));
    CHECK_U64(look("stale").temporary, 0);
    hg_blob_cache_close(cache);
}

static void wait_ms(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* A child that puts and gets without end; never gets anything wrong, or it says so by its exit
 * status. */
static void churn(const char *name, uint64_t seed, uint64_t rounds, uint64_t limit) {
    hg_blob_cache *cache = open_cache(name, limit);
    for (uint64_t i = 0; i < rounds; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t n = (seed >> 33) % 64;
        if (i % 3) (void)put(cache, n);
        if (get(cache, n) < 0 || get(cache, (n + 1) % 64) < 0) _exit(3);
    }
    hg_blob_cache_close(cache);
    _exit(0);
}

static void test_many_writers(uint64_t limit, const char *name) {
    pid_t children[64];
    for (int i = 0; i < 64; i++) {
        children[i] = fork();
        if (children[i] == 0) churn(name, (uint64_t)i + 1, 12, limit);
    }
    for (int i = 0; i < 64; i++) {
        int status = 0;
        CHECK(children[i] > 0 && waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
    content c = look(name);
    CHECK_U64(c.temporary, 0);
    CHECK(c.bytes <= 2 * limit);
    hg_blob_cache *cache = open_cache(name, limit);
    uint64_t hits = 0;
    for (uint64_t n = 0; n < 64; n++) {
        int found = get(cache, n);
        CHECK(found >= 0);
        hits += found == 1;
    }
    CHECK(hits > 0);
    if (limit == PLENTY) CHECK(hits > 40);
    hg_blob_cache_stats stats;
    hg_blob_cache_stats_get(cache, &stats);
    CHECK_U64(stats.rejected, 0); /* no writer left half an entry */
    hg_blob_cache_close(cache);
}

/* One cache object, many threads. */
typedef struct worker {
    hg_blob_cache *cache;
    uint64_t seed, wrong;
} worker;

static void *work(void *user) {
    worker *w = user;
    for (uint64_t i = 0; i < 60; i++) {
        w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t n = (w->seed >> 33) % 16;
        if (i % 4 == 0) (void)put(w->cache, n);
        w->wrong += get(w->cache, n) < 0;
    }
    return NULL;
}

static void test_threads(void) {
    enum { COUNT = 8 };
    hg_thread threads[COUNT];
    worker workers[COUNT];
    bool started[COUNT];
    hg_blob_cache *cache = open_cache("threads", 100000);
    for (int i = 0; i < COUNT; i++) {
        workers[i] = (worker){cache, (uint64_t)i, 0};
        started[i] = hg_thread_start(&threads[i], work, &workers[i]);
        CHECK(started[i]);
    }
    for (int i = 0; i < COUNT; i++)
        if (started[i]) hg_thread_join(threads[i]);
    for (int i = 0; i < COUNT; i++) CHECK_U64(workers[i].wrong, 0);
    hg_blob_cache_stats stats;
    hg_blob_cache_stats_get(cache, &stats);
    CHECK(stats.hits + stats.misses == COUNT * 60 && stats.stored > COUNT && stats.rejected == 0);
    CHECK(look("threads").bytes <= 2 * 100000 && look("threads").temporary == 0);
    hg_blob_cache_close(cache);
}

static void test_kills(void) {
    uint64_t left = 0;
    for (int round = 0; round < 40; round++) {
        pid_t child = fork();
        if (child == 0) churn("kill", (uint64_t)round, UINT64_MAX, PLENTY);
        wait_ms(5 + round % 7);
        int status = 0;
        CHECK(child > 0 && kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child &&
              WIFSIGNALED(status));
        left += look("kill").temporary;
        if (round % 8) continue;
        hg_blob_cache *cache = open_cache("kill", PLENTY);
        for (uint64_t n = 0; n < 64; n++) CHECK(get(cache, n) >= 0);
        hg_blob_cache_stats stats;
        hg_blob_cache_stats_get(cache, &stats);
        CHECK_U64(stats.rejected, 0);
        CHECK(put(cache, 70));
        CHECK_U64(look("kill").temporary, 0);
        hg_blob_cache_close(cache);
    }
    if (left) return; /* files without names are gone with their writer: one is left by hand */
    char path[600];
    snprintf(path, sizeof path, "%s/blobs-1/tmp-1-1-1.new", path_of("kill"));
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    CHECK_U64(look("kill").temporary, 1);
    hg_blob_cache *cache = open_cache("kill", PLENTY);
    CHECK(put(cache, 71));
    CHECK_U64(look("kill").temporary, 0);
    hg_blob_cache_close(cache);
}

/* Who comes second waits, for as long as it said at the most; a killed holder holds nothing. */
static void test_claims(void) {
    enum { SHORT_MS = 30, LONG_MS = 60000 };
    hg_blob_cache *cache = open_cache("claims", PLENTY);
    uint8_t key[32];
    key_of(1, key);
    int claim = hg_blob_cache_claim(cache, key, LONG_MS);
    CHECK(claim >= 0);
    uint64_t start = hg_clock_ns();
    int second = hg_blob_cache_claim(cache, key, SHORT_MS);
    CHECK(hg_clock_ns() - start >= SHORT_MS * UINT64_C(1000000));
    hg_blob_cache_release(second);
    hg_blob_cache_release(claim);
    int ready[2], status;
    CHECK(pipe(ready) == 0);
    pid_t child = fork();
    if (child == 0) {
        (void)hg_blob_cache_claim(cache, key, LONG_MS);
        ssize_t written = write(ready[1], "", 1);
        for (;;) wait_ms(written < 0 ? 1 : LONG_MS);
    }
    char byte;
    CHECK(child > 0 && read(ready[0], &byte, 1) == 1);
    second = hg_blob_cache_claim(cache, key, SHORT_MS); /* the child has it */
    hg_blob_cache_release(second);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
    start = hg_clock_ns();
    claim = hg_blob_cache_claim(cache, key, LONG_MS);
    CHECK(hg_clock_ns() - start < LONG_MS * UINT64_C(1000000));
    hg_blob_cache_release(claim);
    close(ready[0]), close(ready[1]);
    hg_blob_cache_close(cache);
    cache = open_cache("claims", 0);
    CHECK(hg_blob_cache_claim(cache, key, LONG_MS) == -1);
    hg_blob_cache_release(-1);
    hg_blob_cache_close(cache);
}

int main(void) {
    char command[400];
    snprintf(root, sizeof root, "%s/hg-blobs-XXXXXX", HG_BUILD_DIR);
    if (!mkdtemp(root)) return 1;
    test_folders();
    test_basics();
    test_damage();
    test_unusable();
    test_limit();
    test_stale();
    test_many_writers(PLENTY, "many");
    test_many_writers(200000, "few");
    test_kills();
    test_claims();
    test_threads();
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    CHECK(system(command) == 0);
    return test_done();
}
