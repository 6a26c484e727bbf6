/* What takes long says so: a line on the terminal while it runs, which vanishes at its end. Nothing
 * is written where standard error is no terminal.
 *
 * A thread of our own writes it: the one that calls waits inside of the library. It sleeps where
 * nothing runs, so that a call costs two locks that nobody else wants; the first call starts it. */
#include "native.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 200, FIRST_MS = 1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER;
static const char *running; /* NULL: nothing */
static struct timespec since;
static bool shown, sleeps, has_thread;
static int terminal = -1; /* whether there is one; -1: unknown */

static void write_out(const char *text) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0) terminal = 0; /* it is gone */
}

static void show(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ms = (now.tv_sec - since.tv_sec) * (int64_t)1000 +
                 (now.tv_nsec - since.tv_nsec) / 1000000;
    if (ms < FIRST_MS) return;
    char line[200];
    snprintf(line, sizeof(line), "\r\033[Khologram: %s, %lld s ", running, (long long)(ms / 1000));
    write_out(line);
    shown = true;
}

static void *watch(void *none) {
    (void)none;
    const struct timespec pause = {0, LOOK_MS * 1000000L};
    pthread_mutex_lock(&lock);
    for (;;) {
        sleeps = true;
        while (!running) pthread_cond_wait(&begun, &lock);
        sleeps = false;
        pthread_mutex_unlock(&lock);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&lock);
        if (running) show();
    }
    return NULL;
}

static void forked(void) { /* the child has one thread, and not that one */
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    begun = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    running = NULL, has_thread = sleeps = shown = false;
}

static bool start(void) {
    static bool registered;
    pthread_attr_t detached;
    pthread_t thread;
    sigset_t all, before;
    if (!registered) registered = pthread_atfork(NULL, NULL, forked) == 0;
    if (!registered || pthread_attr_init(&detached)) return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for others */
    bool done = !pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED) &&
                !pthread_create(&thread, &detached, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
    return done;
}

void py_progress_begin(const char *what) {
    if (terminal < 0) {
        const char *kind = getenv("TERM");
        terminal = isatty(STDERR_FILENO) && kind && strcmp(kind, "dumb");
    }
    if (!terminal) return;
    pthread_mutex_lock(&lock);
    if (!has_thread) has_thread = start();
    running = what;
    clock_gettime(CLOCK_MONOTONIC, &since);
    if (sleeps) pthread_cond_signal(&begun);
    pthread_mutex_unlock(&lock);
}

void py_progress_end(void) {
    if (!has_thread) return;
    pthread_mutex_lock(&lock);
    if (shown) write_out("\r\033[K");
    running = NULL, shown = false;
    pthread_mutex_unlock(&lock);
}
