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

static void on_signal(int number, siginfo_t *info, void *context) {
    interrupted = 1;
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
}

/* In front of Python's handler; false where it has none. */
static bool watch_signals(void) {
    struct sigaction now, ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    if (sigaction(SIGINT, NULL, &now) != 0 || now.sa_handler == SIG_DFL ||
        now.sa_handler == SIG_IGN)
        return false;
    before = now;
    interrupted = 0;
    ours.sa_flags |= before.sa_flags & (SA_ONSTACK | SA_RESTART);
    sigemptyset(&ours.sa_mask);
    sigaction(SIGINT, &ours, NULL);
    (void)hg_thread_cancel_word((const int *)&interrupted);
    return true;
}

bool py_is_main_thread(void) { return PyThread_get_thread_ident() == main_thread; }

void py_long_begin(py_long *call, const char *what) {
    call->is_main = py_is_main_thread();
    call->watches = call->is_main && watch_signals();
    if (call->is_main) py_progress_begin(what);
    call->state = PyEval_SaveThread();
}

bool py_long_end(py_long *call) {
    PyEval_RestoreThread(call->state);
    if (call->is_main) py_progress_end();
    if (call->watches) {
        (void)hg_thread_cancel_word(NULL);
        sigaction(SIGINT, &before, NULL);
    }
    py_empty_released();
    return call->watches && interrupted && PyErr_CheckSignals() < 0;
}

/* ---- what is recorded ---- */

static uint64_t scopes; /* that are open, of all threads */
static bool lazy;

/* Elements from which on a call is worth letting other threads of Python go on. */
enum { LONG_WORK = 8192 };

bool py_is_small(const py_executor *executor, uint64_t elements) {
    return executor->cpu && elements < LONG_WORK;
}

bool py_is_short(const py_executor *executor, uint64_t elements) {
    return py_is_small(executor, elements) && !scopes && !lazy;
}

void py_long_lazy(void) { lazy = true; }

PyDoc_STRVAR(begin_scope_doc, "begin_scope(executor) -> the address of an hg_tensor_scope.");
static PyObject *begin_scope(PyObject *module, PyObject *where) {
    (void)module;
    py_executor *executor = py_executor_of(where);
    if (!executor) return NULL;
    hg_tensor_scope *scope;
    hg_status status = hg_scope_begin(executor->handle, &scope);
    Py_DECREF((PyObject *)executor);
    if (status != HG_OK) return py_failed(status);
    scopes++;
    return PyLong_FromVoidPtr(scope);
}

PyDoc_STRVAR(end_scope_doc, "end_scope(address): hg_scope_end, during which other threads go on "
                            "and Ctrl-C ends what runs.");
static PyObject *end_scope(PyObject *module, PyObject *address) {
    (void)module;
    hg_tensor_scope *scope = PyLong_AsVoidPtr(address);
    if (!scope && PyErr_Occurred()) return NULL;
    py_long work;
    hg_status status;
    bool raised = PY_CALL(work, false, status, "recorded operations", hg_scope_end(scope));
    scopes--;
    if (raised) return NULL;
    if (status != HG_OK) return py_failed(status);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(main_doc, "set_main_thread(identity): the thread that handles signals.");
static PyObject *set_main(PyObject *module, PyObject *identity) {
    (void)module;
    main_thread = PyLong_AsUnsignedLong(identity);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

PyMethodDef py_long_functions[] = {{"begin_scope", begin_scope, METH_O, begin_scope_doc},
                                   {"end_scope", end_scope, METH_O, end_scope_doc},
                                   {"set_main_thread", set_main, METH_O, main_doc},
                                   {NULL, NULL, 0, NULL}};
