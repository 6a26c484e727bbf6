/* Budgets, sizes as text, and how much memory the system says there is, read from trees of /proc
 * and /sys of the test's own. */
#include "base/budget.h"
#include "base/thread.h"
#include "test.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_budget(void) {
    hg_budget b = {.limit = 100};
    CHECK(hg_budget_charge(&b, 60) == HG_OK && hg_budget_charge(&b, 40) == HG_OK &&
          hg_budget_used(&b) == 100);
    CHECK(hg_budget_charge(&b, 0) == HG_OK);
    CHECK(hg_budget_charge(&b, 1) == HG_ERROR_ALLOCATION_FAILED);
    CHECK_TEXT(hg_last_error()->message,
               "1 bytes asked for, 100 are in use, the limit is 100 (max_memory)");
    hg_budget_release(&b, 60);
    CHECK(hg_budget_fits(&b, 60) && !hg_budget_fits(&b, 61) && !hg_budget_fits(&b, UINT64_MAX));
    CHECK(!hg_budget_take(&b, UINT64_MAX) && hg_budget_take(&b, 60) && hg_budget_used(&b) == 100);
    hg_budget_idle(&b, 70); /* 30 of 100 charged are somebody's */
    CHECK(hg_budget_charge(&b, 75) == HG_ERROR_ALLOCATION_FAILED);
    CHECK_TEXT(hg_last_error()->message,
               "75 bytes asked for, 30 are in use, the limit is 100 (max_memory)");
    CHECK(hg_budget_charge(&b, 70) == HG_ERROR_ALLOCATION_FAILED);
    CHECK_TEXT(hg_last_error()->message, "70 bytes asked for, 30 are in use, the limit is 100 "
                                         "(max_memory); the rest is free in pieces, none "
                                         "of them large enough");
    hg_budget_busy(&b, 70);
    CHECK(hg_budget_charge(&b, 70) == HG_ERROR_ALLOCATION_FAILED);
    CHECK_TEXT(hg_last_error()->message,
               "70 bytes asked for, 100 are in use, the limit is 100 (max_memory)");
    hg_budget_idle(NULL, 1);
    hg_budget_busy(NULL, 1);
    hg_budget none = {.limit = UINT64_MAX};
    CHECK(hg_budget_take(&none, UINT64_MAX) && !hg_budget_take(&none, 1));
    CHECK(hg_budget_charge(NULL, UINT64_MAX) == HG_OK && hg_budget_fits(NULL, UINT64_MAX) &&
          hg_budget_used(NULL) == 0);
    hg_budget_release(NULL, 5);
    hg_budget host;
    hg_budget_of_host(&host, 7);
    CHECK_U64(host.limit, 7);
    hg_budget_of_host(&host, 0);
    uint64_t all = hg_system_memory("");
    CHECK_U64(host.limit, all ? all - all / 4 : UINT64_MAX);
}

/* Threads take and release; the sum never passes the limit. */
enum { THREADS = 4, ROUNDS = 20000 };
static hg_budget shared = {.limit = 10};
static void *take_and_release(void *user) {
    uint64_t *over = user;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t bytes = 1 + (uint64_t)i % 7;
        if (!hg_budget_take(&shared, bytes)) continue;
        *over += hg_budget_used(&shared) > shared.limit;
        hg_budget_release(&shared, bytes);
    }
    return NULL;
}

static void test_threads(void) {
    hg_thread threads[THREADS];
    uint64_t over[THREADS] = {0};
    int started = 0;
    for (;
         started < THREADS && hg_thread_start(&threads[started], take_and_release, &over[started]);
         started++) {}
    for (int i = 0; i < started; i++) {
        hg_thread_join(threads[i]);
        CHECK_U64(over[i], 0);
    }
    CHECK_U64(hg_budget_used(&shared), 0);
}

static void test_sizes(void) {
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},
                {"1048576", 1048576},
                {"1K", 1024},
                {"512M", 512u << 20},
                {"12G", UINT64_C(12) << 30},
                {"16777215T", UINT64_C(16777215) << 40},
                {"18446744073709551615", UINT64_MAX}};
    static const char *const bad[] = {"",
                                      "M",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1k",
                                      "1.5G",
                                      "1MB",
                                      "0x10",
                                      "18446744073709551616",
                                      "16777216T"};
    uint64_t bytes;
    for (size_t i = 0; i < HG_COUNT_OF(good); i++)
        CHECK_MESSAGE(hg_parse_size(good[i].text, &bytes) && bytes == good[i].bytes, "%s",
                      good[i].text);
    for (size_t i = 0; i < HG_COUNT_OF(bad); i++)
        CHECK_MESSAGE(!hg_parse_size(bad[i], &bytes), "'%s' was taken", bad[i]);
}

/* ---- the system's memory ---- */

static char root[64] = "/tmp/hologram-test-budget-XXXXXX";

/* A file in the tree, and the folders that it needs. */
static void put(const char *path, const char *text) {
    char whole[512];
    int length = snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *at = whole + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        (void)mkdir(whole, 0777);
        *at = '/';
    }
    FILE *file = length > 0 ? fopen(whole, "w") : NULL;
    CHECK_MESSAGE(file && fputs(text, file) >= 0, "%s", whole);
    if (file) fclose(file);
}

static void clear(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s/*", root);
    CHECK(system(command) == 0);
}

#define MOUNT_1 \
    "41 31 0:35 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
#define MOUNT_2 "41 31 0:38 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n"
#define OTHER_MOUNTS                                                                              \
    "23 1 0:20 / / rw - overlay overlay rw,lowerdir=/a:/b\n36 31 0:30 / /sys/fs/cgroup/cpu rw - " \
    "cgroup cgroup rw,cpu\n"

static void test_system(void) {
#if defined(__linux__)
    CHECK(mkdtemp(root) != NULL);
    CHECK_U64(hg_system_memory(root), 0); /* nothing is there */
    put("/proc/meminfo", "MemFree:         1 kB\nMemTotal:        8388608 kB\nBuffers: 5 kB\n");
    CHECK_U64(hg_system_memory(root), UINT64_C(8) << 30);
    /* version 1: the least of the group and its parents; what says nothing is no limit */
    put("/proc/self/cgroup", "9:name=systemd:/x\n5:cpu,cpuacct:/x\n4:memory:/one/two\n0::/\n");
    put("/proc/self/mountinfo", OTHER_MOUNTS MOUNT_1);
    CHECK_U64(hg_system_memory(root), UINT64_C(8) << 30);
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/one/memory.limit_in_bytes", "1610612736\n");
    put("/sys/fs/cgroup/memory/one/two/memory.limit_in_bytes", "9223372036854771712\n");
    CHECK_U64(hg_system_memory(root), 1610612736);
    put("/sys/fs/cgroup/memory/one/two/memory.limit_in_bytes", "1073741824\n");
    CHECK_U64(hg_system_memory(root), 1073741824);
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000\n");
    CHECK_U64(hg_system_memory(root), 1000000);
    /* a container sees its group as the root of the mount */
    clear();
    put("/proc/meminfo", "MemTotal: 8388608 kB");
    put("/proc/self/cgroup", "4:memory:/docker/abc/inner\n");
    put("/proc/self/mountinfo",
        "41 31 0:35 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "5000000\n");
    put("/sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "4000000\n");
    CHECK_U64(hg_system_memory(root), 4000000);
    put("/proc/self/cgroup", "4:memory:/docker/abcd\n"); /* another one, out of sight */
    CHECK_U64(hg_system_memory(root), 5000000);
    /* version 2, "max" is no limit; and both at once */
    clear();
    put("/proc/meminfo", "MemTotal: 8388608 kB\n");
    put("/proc/self/cgroup", "0::/user.slice/app.scope\n");
    put("/proc/self/mountinfo", OTHER_MOUNTS MOUNT_2);
    put("/sys/fs/cgroup/user.slice/app.scope/memory.max", "max\n");
    CHECK_U64(hg_system_memory(root), UINT64_C(8) << 30);
    put("/sys/fs/cgroup/user.slice/memory.max", "2147483648\n");
    CHECK_U64(hg_system_memory(root), 2147483648);
    put("/proc/self/cgroup", "4:memory:/\n0::/user.slice/app.scope\n");
    put("/proc/self/mountinfo", OTHER_MOUNTS MOUNT_2 MOUNT_1);
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000\n");
    CHECK_U64(hg_system_memory(root), 3000000);
    put("/proc/self/cgroup", "0::/../outside\n");
    put("/sys/fs/cgroup/memory.max", "77777777\n");
    CHECK_U64(hg_system_memory(root), 77777777);
    /* files that are no such files */
    char line[9000];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    put("/proc/self/mountinfo", line);
    put("/proc/self/cgroup", "::\n:\n4:memory\n\n");
    put("/proc/meminfo", "MemTotal:\n");
    (void)hg_system_memory(root);
    clear();
    CHECK(rmdir(root) == 0);
#else
    SKIP("control groups are Linux's");
#endif
}

/* Bytes that stay when a block moves to another size. */
static void test_aligned(void) {
    for (size_t alignment = 8; alignment <= 4096; alignment *= 8) {
        unsigned char *block = hg_calloc_aligned(100, alignment);
        for (size_t i = 0; i < 100; i++) CHECK(block[i] == 0);
        for (size_t i = 0; i < 100; i++) block[i] = (unsigned char)i;
        for (size_t size = 100; size < (size_t)8 << 20; size *= 7) {
            block = hg_realloc_aligned(block, 100, size, alignment);
            CHECK(block && (uintptr_t)block % alignment == 0);
            bool same = true;
            for (size_t i = 0; i < 100; i++) same = same && block[i] == i;
            CHECK(same);
        }
        hg_free_aligned(block);
    }
    void *fresh = hg_realloc_aligned(NULL, 0, 10, 64);
    CHECK(fresh && !hg_realloc_aligned(fresh, 0, SIZE_MAX - 8, 64) &&
          !hg_calloc_aligned(SIZE_MAX, 64) && !hg_calloc_aligned(8, 24));
    hg_free_aligned(fresh);
}

int main(void) {
    test_budget();
    test_threads();
    test_sizes();
    test_system();
    test_aligned();
    return test_done();
}
