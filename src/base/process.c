/* The process between and the program behind it (process.h). What runs in the process between calls
 * only what a signal handler may call: it has the memory of this process, in which other threads
 * hold locks. */
#include "base/process.h"
#include "base/compat.h"

#if defined(__linux__) && !HG_THREAD_SANITIZER

#include "base/thread.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum {
    STACK_BYTES = 256 << 10, /* of the process between; sanitizers make frames large */
    NAP_MS = 20,     /* how late the end of a program is seen whose answer somebody else still could
                        write */
    BURIAL_MS = 1000 /* how long a killed program is waited for: one that hangs in the kernel does
                        not end */
};

typedef struct request {
    const char *path;
    char *const *arguments;
    uint64_t limit_ms;
    char *answer;
    size_t room;
    posix_spawnattr_t attributes;
    hg_process_result result;
} request;

/* ---- in the process between ---- */

/* Descriptors 0 to 2 and 3, the writing end; the reading end, or -1 with errno. The table of
 * descriptors is this process's own. */
static int arrange_descriptors(void) {
    int ends[2], nothing;
#if defined(SYS_close_range)
    syscall(SYS_close_range, HG_PROCESS_ANSWER, ~0u, 0); /* where the system is too old they stay,
                                                            unless they close on exec */
#endif
    if ((nothing = open("/dev/null", O_RDWR)) >= 0) {
        for (int i = 0; i < HG_PROCESS_ANSWER; i++) dup2(nothing, i);
        if (nothing >= HG_PROCESS_ANSWER) close(nothing);
    }
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    int reading = fcntl(ends[0], F_DUPFD_CLOEXEC, HG_PROCESS_ANSWER + 1),
        writing = fcntl(ends[1], F_DUPFD_CLOEXEC, HG_PROCESS_ANSWER + 1);
    if (reading < 0 || writing < 0) return -1;
    close(ends[0]);
    close(ends[1]);
    if (dup2(writing, HG_PROCESS_ANSWER) < 0) return -1;
    close(writing);
    return reading;
}

static uint64_t ms_until(uint64_t deadline) {
    uint64_t now = hg_clock_ns();
    return now < deadline ? (deadline - now) / 1000000 + 1 : 0;
}

/* Takes what there is to read within the time. False: no more will come. */
static bool read_answer(request *r, int from, int timeout_ms) {
    char rest[256];
    struct pollfd ready = {.fd = from, .events = POLLIN};
    int count = poll(&ready, 1, timeout_ms);
    if (count == 0 || (count < 0 && errno == EINTR)) return true;
    size_t left = r->room - r->result.length;
    ssize_t got = left ? read(from, r->answer + r->result.length, left)
                       : read(from, rest, sizeof rest);
    if (got < 0) return errno == EINTR;
    if (left) r->result.length += (size_t)got;
    return got > 0;
}

static bool is_ready(int from) {
    struct pollfd ready = {.fd = from, .events = POLLIN};
    return poll(&ready, 1, 0) > 0;
}

/* False: it has not ended yet. */
static bool has_ended(request *r, pid_t program) {
    int status;
    pid_t got = waitpid(program, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) return false;
    if (got < 0) {
        r->result.end = HG_PROCESS_NOT_STARTED;
        r->result.code = errno;
    } else if (WIFSIGNALED(status)) {
        r->result.end = HG_PROCESS_KILLED;
        r->result.code = WTERMSIG(status);
    } else {
        r->result.end = HG_PROCESS_EXITED;
        r->result.code = WEXITSTATUS(status);
    }
    return true;
}

static void nap(void) {
    struct timespec ms = {0, 1000000};
    nanosleep(&ms, NULL);
}

static void supervise(request *r, pid_t program, int from) {
    uint64_t deadline = hg_clock_ns() + r->limit_ms * 1000000;
    bool more = true;
    for (uint64_t left; (left = ms_until(deadline)) > 0;) {
        if (more)
            more = read_answer(r, from, left < NAP_MS ? (int)left : NAP_MS);
        else
            nap();
        if (!has_ended(r, program)) continue;
        while (more && is_ready(from)) more = read_answer(r, from, 0); /* what it wrote last */
        if (r->result.end == HG_PROCESS_KILLED) kill(-program, SIGKILL);
        return;
    }
    kill(-program, SIGKILL);
    kill(program, SIGKILL);
    for (int i = 0; i < BURIAL_MS && waitpid(program, NULL, WNOHANG) == 0; i++) nap();
    r->result.end = HG_PROCESS_LATE;
    r->result.code = 0;
}

static int between(void *user) {
    request *r = user;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    pid_t program;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigaction(SIGCHLD, &usual, NULL); /* this process's own: were it ignored, the program could not
                                         be waited for */
    int from = arrange_descriptors();
    if (from < 0) {
        r->result.code = errno;
        return 0;
    }
    int failed = posix_spawn(&program, r->path, NULL, &r->attributes, r->arguments, environ);
    close(HG_PROCESS_ANSWER);
    if (failed)
        r->result.code = failed;
    else
        supervise(r, program, from);
    return 0;
}

/* ---- in this process ---- */

/* The thread stands still until the process between ends, as in posix_spawn, so that nobody else
 * uses its thread-local data. */
static void run_between(request *r) {
    sigset_t all, before;
    int flags = CLONE_VM | CLONE_VFORK; /* and no signal at its end */
    char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) {
        r->result.code = errno;
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the process between has the host's handlers too
                                                  */
    pid_t process = clone(between, stack + STACK_BYTES, flags, r);
    if (process < 0) r->result.code = errno;
    while (process > 0 && waitpid(process, NULL, (int)__WCLONE) < 0 && errno == EINTR) {}
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stack, STACK_BYTES);
}

static void *run_request(void *user) {
    run_between(user);
    return NULL;
}

static int set_attributes(posix_spawnattr_t *attributes) {
    sigset_t none, all;
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
#if defined(POSIX_SPAWN_SETSID)
    flags |= POSIX_SPAWN_SETSID;
#else
    flags |= POSIX_SPAWN_SETPGROUP;
#endif
    sigemptyset(&none);
    sigfillset(&all);
    int failed = posix_spawnattr_init(attributes);
    if (failed) return failed;
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setflags(attributes, flags);
    return 0;
}

hg_process_result hg_process_run(const char *path, char *const *arguments, uint64_t limit_ms,
                                 char *answer, size_t room) {
    request r = {
        .path = path, .arguments = arguments, .limit_ms = limit_ms, .answer = answer, .room = room};
    hg_thread thread;
    r.result.code = set_attributes(&r.attributes);
    if (r.result.code) return r.result;
    if (hg_thread_start(&thread, run_request, &r)) /* a thread of its own, so that this one can run
                                                      the host's handlers */
        hg_thread_join(thread);
    else
        run_between(&r);
    posix_spawnattr_destroy(&r.attributes);
    return r.result;
}

#else

hg_process_result hg_process_run(const char *path, char *const *arguments, uint64_t limit_ms,
                                 char *answer, size_t room) {
    (void)path, (void)arguments, (void)limit_ms, (void)answer, (void)room;
    return (hg_process_result){.end = HG_PROCESS_NOT_STARTED, .code = 0};
}

#endif
