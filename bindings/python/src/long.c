/* Calls that may take long: other threads of Python go on, and Ctrl-C ends what is waited for.
 *
 * A handler of our own stands in front of Python's for the time of the call: it sets the word that
 * ends launches of this thread, and calls Python's, which remembers the signal. When the call has
 * come back, Python's own handlers run, and raise. */
#include "native.h"

#include <signal.h>

static volatile int interrupted;
static struct sigaction before;
static unsigned long main_thread;

void py_set_main_thread(unsigned long identity) { main_thread = identity; }

static void on_signal(int number, siginfo_t *info, void *context) {
    interrupted = 1;
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
}

void py_long_begin(py_long *call) {
    struct sigaction now, ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    /* Ours is there already where memory's owner, freed during a call, makes a call itself. */
    call->watches = PyThread_get_thread_ident() == main_thread &&
                    sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler != SIG_DFL &&
                    now.sa_handler != SIG_IGN && now.sa_sigaction != on_signal;
    if (call->watches) {
        before = now;
        interrupted = 0;
        ours.sa_flags |= before.sa_flags & (SA_ONSTACK | SA_RESTART);
        sigemptyset(&ours.sa_mask);
        sigaction(SIGINT, &ours, NULL);
        (void)hg_thread_cancel_word((const int *)&interrupted);
    }
    call->state = PyEval_SaveThread();
}

bool py_long_end(py_long *call) {
    PyEval_RestoreThread(call->state);
    if (!call->watches) return false;
    (void)hg_thread_cancel_word(NULL);
    sigaction(SIGINT, &before, NULL);
    return interrupted && PyErr_CheckSignals() < 0;
}
