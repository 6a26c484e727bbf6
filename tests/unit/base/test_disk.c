/* Writing at a limit of the file size, in a process whose signals are somebody else's; files
 * without names; names that signals remove. */
#include "base/blobcache.h"
#include "base/disk.h"
#include "test.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64] = "/tmp/hologram-test-disk-XXXXXX";

static const char *in_folder(const char *name) {
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static volatile sig_atomic_t handled;
static void handle(int number) {
    (void)number;
    handled++;
}

static bool is_pending(int number) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, number) == 1;
}

static bool is_blocked(int number) {
    sigset_t now;
    return pthread_sigmask(SIG_SETMASK, NULL, &now) == 0 && sigismember(&now, number) == 1;
}

static void limit_to(rlim_t bytes) {
    struct rlimit limit = {bytes, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* In a child: what is wrong is its exit status. */
static void check_in_child(void (*run)(void)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        run();
        fflush(NULL);
        _exit(test_failed ? 1 : 0);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_MESSAGE(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
}

static void write_at_limit(void) {
    static char bytes[4000];
    int file = open(in_folder("limited"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    limit_to(1000);
    CHECK(hg_write_all(file, bytes, 500) == 0);
    CHECK(hg_write_all(file, bytes, sizeof bytes) == EFBIG); /* the action of SIGXFSZ is to end the
                                                                process */
    CHECK(!is_pending(SIGXFSZ) && !is_blocked(SIGXFSZ));
    CHECK(lseek(file, 0, SEEK_END) == 1000);
    signal(SIGXFSZ, handle);
    CHECK(hg_write_all(file, bytes, 1) == EFBIG && handled == 0);
    sigset_t own, before;
    sigemptyset(&own);
    sigaddset(&own, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &own, &before);
    CHECK(hg_write_all(file, bytes, 1) == EFBIG && !is_pending(SIGXFSZ) && is_blocked(SIGXFSZ));
    raise(SIGXFSZ); /* the host's own */
    CHECK(hg_write_all(file, bytes, 1) == EFBIG && is_pending(SIGXFSZ) && handled == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    CHECK(handled == 1);
    signal(SIGXFSZ, SIG_IGN);
    CHECK(hg_write_all(file, bytes, 1) == EFBIG && !is_pending(SIGXFSZ));
}

static void store_at_limit(void) {
    static uint8_t key[HG_BLOB_KEY_BYTES], blob[5000];
    hg_blob_cache *cache;
    uint8_t *data;
    uint64_t size;
    CHECK(hg_blob_cache_open(in_folder("cache"), 1 << 20, &cache) == HG_OK);
    limit_to(1000);
    CHECK(!hg_blob_cache_put(cache, key, blob, sizeof blob));
    CHECK(!hg_blob_cache_get(cache, key, &data, &size));
    CHECK(hg_blob_cache_put(cache, key, blob, 100));
    CHECK(hg_blob_cache_get(cache, key, &data, &size) && size == 100);
    hg_free(data);
    hg_blob_cache_close(cache);
}

static void check_unnamed(void) {
    struct stat info;
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
        file = hg_file_unnamed(directory, ".", 0600);
    if (file < 0) {
        SKIP("the file system has no files without names");
        close(directory);
        return;
    }
    CHECK(hg_write_all(file, "abc", 3) == 0 && fstat(file, &info) == 0 && info.st_nlink == 0 &&
          (info.st_mode & 0777) == 0600);
    CHECK(hg_file_give_name(file, directory, "named") == 0 &&
          stat(in_folder("named"), &info) == 0 && info.st_size == 3);
    CHECK(hg_file_give_name(file, directory, "named") == EEXIST);
    CHECK(hg_file_give_name(file, directory, "nowhere/named") == ENOENT);
    close(file);
    CHECK(hg_file_unnamed(AT_FDCWD, in_folder("nowhere"), 0600) < 0);
    close(directory);
    unlink(in_folder("named"));
}

static void check_temporaries(void) {
    char names[3][128];
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        snprintf(names[i], sizeof names[i], "%s", in_folder(name));
        close(open(names[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        hg_temporary_note(names[i]);
    }
    CHECK(hg_temporary_forget(names[1]) && !hg_temporary_forget(names[1]));
    hg_temporaries_unlink();
    CHECK(access(names[0], F_OK) != 0 && access(names[1], F_OK) == 0 &&
          access(names[2], F_OK) != 0);
    CHECK(!hg_temporary_forget(names[0])); /* taken: not to be freed */
    unlink(names[1]);
}

static void check_hold(void) {
    hg_held_signals outer, inner;
    handled = 0;
    signal(SIGUSR1, handle);
    hg_signals_hold(&outer);
    hg_signals_hold(&inner);
    raise(SIGUSR1);
    hg_signals_release(&inner);
    CHECK(handled == 0);
    hg_signals_release(&outer);
    CHECK(handled == 1);
    signal(SIGUSR1, SIG_DFL);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    check_in_child(write_at_limit);
    check_in_child(store_at_limit);
    check_unnamed();
    check_temporaries();
    check_hold();
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0);
    return test_done();
}
