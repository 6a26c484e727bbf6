/* Programs that are started where the host does not notice: what they get, how they end, and hosts
 * that wait for any child, ignore SIGCHLD, handle it, have closed descriptors or none left.
 * test: labels=slow */
#include "base/process.h"
#include "base/thread.h"
#include "test.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__) && !HG_THREAD_SANITIZER

static char answer[4096];

static hg_process_result shell(const char *script, uint64_t limit_ms, size_t room) {
    char *arguments[] = {(char[]){"sh"}, (char[]){"-c"}, NULL, NULL};
    char text[512];
    snprintf(text, sizeof text, "%s", script);
    arguments[2] = text;
    memset(answer, 0, sizeof answer);
    return hg_process_run("/bin/sh", arguments, limit_ms, answer, room);
}

static void check_run(const char *script, uint64_t limit_ms, hg_process_end end, int code,
                      const char *expected) {
    hg_process_result r = shell(script, limit_ms, sizeof answer - 1);
    CHECK_MESSAGE(r.end == end && r.code == code, "%s: ended %d, %d", script, (int)r.end, r.code);
    if (expected) CHECK_TEXT(answer, expected);
}

enum { LONG = 60000 };

static void check_ends(void) {
    check_run("echo yes >&3", LONG, HG_PROCESS_EXITED, 0, "yes\n");
    check_run("echo no; echo no >&2; echo yes >&3; exit 7", LONG, HG_PROCESS_EXITED, 7, "yes\n");
    check_run("echo a >&3; kill -ABRT $$", LONG, HG_PROCESS_KILLED, SIGABRT, "a\n");
    check_run("kill -SEGV $$", LONG, HG_PROCESS_KILLED, SIGSEGV, "");
    check_run("exec 3>&-; sleep 0.1; exit 3", LONG, HG_PROCESS_EXITED, 3, ""); /* nobody can answer
                                                                                  any more, but it
                                                                                  goes on */
    check_run("echo b >&3; exec sleep 1000", 3000, HG_PROCESS_LATE, 0, "b\n");
    check_run("trap '' TERM INT; while :; do :; done", 300, HG_PROCESS_LATE, 0, NULL);
    check_run("sleep 1 & echo c >&3; exit 0", LONG, HG_PROCESS_EXITED, 0, "c\n"); /* somebody else
                                                                                     could still
                                                                                     answer */
    check_run("cat; readlink /proc/self/fd/0 >&3", LONG, HG_PROCESS_EXITED, 0, "/dev/null\n");
    hg_process_result r = shell("i=0; while [ $i -lt 9999 ]; do echo $i >&3; i=$((i+1)); done",
                                LONG, 10);
    CHECK(r.end == HG_PROCESS_EXITED && r.length == 10 &&
          strcmp(answer, "0\n1\n2\n3\n4\n") == 0); /* the rest is dropped */
    char *none[] = {(char[]){"none"}, NULL};
    r = hg_process_run("/dev/null/none/none", none, LONG, answer, sizeof answer);
    CHECK(r.end == HG_PROCESS_NOT_STARTED && (r.code == ENOENT || r.code == ENOTDIR));
}

/* ---- what the program gets ---- */

static void check_descriptors(void) {
    int open_one = open("/dev/zero", O_RDONLY); /* no O_CLOEXEC */
    check_run(
        "for i in 0 1 2 3 4 5 6 7 8 9; do if [ -e /proc/$$/fd/$i ]; then echo $i >&3; fi; done",
        LONG, HG_PROCESS_EXITED, 0, "0\n1\n2\n3\n");
    close(open_one);
    fflush(NULL);
    int saved[3];
    bool had = fcntl(3, F_GETFD) >= 0;
    for (int i = 0; i < 3; i++) saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 20);
    for (int i = 0; i < 3; i++) close(i);
    hg_process_result r = shell("echo yes; echo yes >&3", LONG, sizeof answer - 1);
    bool closed = fcntl(0, F_GETFD) < 0 && fcntl(1, F_GETFD) < 0 && fcntl(2, F_GETFD) < 0 &&
                  (fcntl(3, F_GETFD) >= 0) == had;
    for (int i = 0; i < 3; i++) {
        dup2(saved[i], i);
        close(saved[i]);
    }
    CHECK(r.end == HG_PROCESS_EXITED && r.code == 0 && closed);
    CHECK_TEXT(answer, "yes\n");
}

static void check_no_descriptors(void) {
    struct rlimit before, few;
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &few);
    hg_process_result r = shell("echo yes >&3", LONG, sizeof answer - 1);
    setrlimit(RLIMIT_NOFILE, &before);
    CHECK(r.end == HG_PROCESS_NOT_STARTED && r.code == EMFILE);
}

static void check_signals_of_program(void) {
    sigset_t some, before;
    sigemptyset(&some);
    sigaddset(&some, SIGTERM);
    sigprocmask(SIG_BLOCK, &some, &before);
    signal(SIGHUP, SIG_IGN);
    check_run("grep '^SigBlk' /proc/$$/status | tr -d '\\n\\t' >&3", LONG, HG_PROCESS_EXITED, 0,
              "SigBlk:0000000000000000");
    check_run("kill -HUP $$; exit 1", LONG, HG_PROCESS_KILLED, SIGHUP, "");
    signal(SIGHUP, SIG_DFL);
    sigset_t now;
    sigprocmask(SIG_SETMASK, NULL, &now);
    CHECK(sigismember(&now, SIGTERM) && !sigismember(&now, SIGINT));
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- what the host sees: nothing ---- */

static volatile sig_atomic_t children_ended;
static void child_ended(int number) {
    (void)number;
    children_ended++;
}

static void *wait_for_any(void *user) {
    uint64_t *seen = user;
    while (hg_atomic_load(&seen[1], HG_RELAXED) == 0) {
        int status;
        if (waitpid(-1, &status, WNOHANG) > 0) hg_atomic_fetch_add(&seen[0], 1, HG_RELAXED);
    }
    return NULL;
}

static void check_hosts(void) {
    struct sigaction handler = {.sa_handler = child_ended}, before;
    sigaction(SIGCHLD, &handler, &before);
    check_run("echo yes >&3; exit 5", LONG, HG_PROCESS_EXITED, 5, "yes\n");
    check_run("exec sleep 1000", 200, HG_PROCESS_LATE, 0, NULL);
    CHECK_U64(children_ended, 0);
    CHECK(waitpid(-1, NULL, 0) < 0 && errno == ECHILD); /* nothing to wait for */

    uint64_t seen[2] = {0, 0}; /* children that a waiting loop got; stop */
    pthread_t waiter;
    pthread_create(&waiter, NULL, wait_for_any, seen);
    for (int i = 0; i < 20; i++) check_run("exit 6", LONG, HG_PROCESS_EXITED, 6, NULL);
    hg_atomic_store(&seen[1], 1, HG_RELAXED);
    pthread_join(waiter, NULL);
    CHECK_U64(seen[0], 0);

    handler.sa_handler = SIG_IGN;
    sigaction(SIGCHLD, &handler, NULL);
    check_run("echo ignored >&3; exit 8", LONG, HG_PROCESS_EXITED, 8, "ignored\n");
    handler.sa_handler = child_ended;
    handler.sa_flags = SA_NOCLDWAIT;
    sigaction(SIGCHLD, &handler, NULL);
    check_run("kill -BUS $$", LONG, HG_PROCESS_KILLED, SIGBUS, NULL);
    CHECK_U64(children_ended, 0);
    sigaction(SIGCHLD, &before, NULL);

    pid_t own = fork(); /* a child of the host's own is the host's */
    if (own == 0) _exit(9);
    check_run("exit 0", LONG, HG_PROCESS_EXITED, 0, NULL);
    int status;
    CHECK(waitpid(-1, &status, 0) == own && WEXITSTATUS(status) == 9);
}

static volatile sig_atomic_t alarms;
static void alarmed(int number) {
    (void)number;
    alarms++;
}

/* The host's handlers run while it waits. */
static void check_handlers(void) {
    struct sigaction handler = {.sa_handler = alarmed}, before;
    sigaction(SIGALRM, &handler, &before);
    alarm(1);
    hg_process_result r = shell("sleep 30 & echo $! >&3; wait", 4000, sizeof answer - 1);
    CHECK(r.end == HG_PROCESS_LATE && alarms == 1);
    sigaction(SIGALRM, &before, NULL);
    pid_t sleeper = (pid_t)strtol(answer, NULL, 10);
    int tries = 0;
    while (sleeper > 1 && kill(sleeper, 0) == 0 && tries++ < 500) usleep(10000);
    CHECK(sleeper > 1 && tries < 500); /* killed with its session */
}

static void *run_some(void *user) {
    for (int i = 0; i < 10; i++) {
        char *arguments[] = {(char[]){"sh"}, (char[]){"-c"}, (char[]){"echo $0 >&3; exit 4"}, user,
                             NULL};
        char text[16] = "";
        hg_process_result r = hg_process_run("/bin/sh", arguments, LONG, text, sizeof text - 1);
        if (r.end != HG_PROCESS_EXITED || r.code != 4 || text[0] != *(char *)user) return user;
    }
    return NULL;
}

static void check_threads(void) {
    pthread_t threads[4];
    char names[4][2] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run_some, names[i]);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        CHECK(failed == NULL);
    }
}

int main(void) {
    check_ends();
    check_descriptors();
    check_no_descriptors();
    check_signals_of_program();
    check_hosts();
    check_handlers();
    check_threads();
    return test_done();
}

#else

int main(void) {
    SKIP("programs are started on Linux only, and not under ThreadSanitizer");
    return test_done();
}

#endif
