/* Launches with their parameters: what runs again and again. */
#include "native.h"

#include <time.h>

PyTypeObject *py_launch_type;

static PyObject *launch_new(PyTypeObject *type, PyObject *args, PyObject *named) {
    (void)args, (void)named;
    return PyErr_Format(PyExc_TypeError, "%R: made by Program.bind and Kernel.bind", type);
}

PyDoc_STRVAR(launch_of_doc,
             "_of(binding, keeps, again=False): takes an hg_binding by its address.");
static PyObject *launch_of(PyObject *cls, PyObject *args) {
    PyTypeObject *type = (PyTypeObject *)cls;
    unsigned long long binding;
    PyObject *keeps;
    int again = 0;
    if (!PyArg_ParseTuple(args, "KO!|p:_of", &binding, &PyTuple_Type, &keeps, &again)) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    py_launch *self = (py_launch *)allocate(type, 0);
    if (!self) return NULL;
    self->binding = (hg_binding *)(uintptr_t)binding;
    self->steady = hg_binding_is_steady(self->binding);
    self->keeps = Py_NewRef(keeps);
    self->again = again;
    return (PyObject *)self;
}

static int launch_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT((PyObject *)Py_TYPE(self));
    Py_VISIT(((py_launch *)self)->keeps);
    return 0;
}

static void launch_free(PyObject *object) {
    py_launch *self = (py_launch *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    hg_binding_destroy(self->binding);
    Py_XDECREF(self->keeps);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

enum { LOOK_MS = 50, QUICK_NS = 50 * 1000, SLOW_NS = 1000 * 1000 };

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

/* A launch that may take long: other threads go on, and a signal's handler is called within
 * LOOK_MS. */
static hg_status patient(py_launch *self, bool *raised) {
    hg_event *event;
    hg_status status = hg_binding_start(self->binding, NULL, &event);
    if (status != HG_OK) return status;
    bool says = py_is_main_thread();
    if (says) py_progress_begin("a launch");
    for (;;) {
        Py_BEGIN_ALLOW_THREADS status = hg_event_wait_for(event, LOOK_MS);
        Py_END_ALLOW_THREADS if (status != HG_ERROR_TIMEOUT) break;
        if (PyErr_CheckSignals() < 0) {
            *raised = true;
            hg_event_cancel(event);
            Py_BEGIN_ALLOW_THREADS status = hg_event_wait(event);
            Py_END_ALLOW_THREADS break;
        }
    }
    if (says) py_progress_end();
    hg_event_destroy(event);
    py_empty_released();
    return status;
}

/* One that was quick, and takes long where memory has something else now: others may go on, and
 * Ctrl-C ends it. */
static hg_status perhaps_quick(py_launch *self, bool *raised) {
    hg_status status;
    py_long work;
    *raised = PY_CALL(work, self->steady, status, "a launch", hg_binding_launch(self->binding));
    return status;
}

PyDoc_STRVAR(launch_doc, "launch(): runs it and waits.");
static PyObject *launch(PyObject *self, PyObject *none) {
    (void)none;
    return py_launch_run((py_launch *)self);
}

PyObject *py_launch_run(py_launch *self) {
    bool raised = false;
    int64_t began = now_ns();
    hg_status status = self->quick ? perhaps_quick(self, &raised) : patient(self, &raised);
    int64_t took = now_ns() - began;
    if (took > SLOW_NS)
        self->quick = false;
    else if (took < QUICK_NS)
        self->quick = true;
    if (raised) return NULL;
    if (status != HG_OK) return py_failed(status);
    Py_RETURN_NONE;
}

static PyObject *launch_call(PyObject *self, PyObject *args, PyObject *named) {
    if (PyTuple_Size(args) || (named && PyDict_Size(named)))
        return PyErr_Format(PyExc_TypeError, "a bound launch takes no arguments");
    return launch(self, NULL);
}

static PyObject *launch_handle(PyObject *self, void *none) {
    (void)none;
    return PyLong_FromVoidPtr(((py_launch *)self)->binding);
}

static PyMethodDef methods[] = {{"launch", launch, METH_NOARGS, launch_doc},
                                {"_of", launch_of, METH_VARARGS | METH_CLASS, launch_of_doc},
                                {NULL, NULL, 0, NULL}};
static PyGetSetDef properties[] = {
    {"handle", launch_handle, NULL, "Address of the hg_binding, for hologram._interface.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, (void *)launch_new},
                              {Py_tp_dealloc, (void *)launch_free},
                              {Py_tp_call, (void *)launch_call},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, properties},
                              {Py_tp_traverse, (void *)launch_traverse},
                              {0, NULL}};
PyType_Spec py_launch_spec = {"hologram._native.Launch", (int)sizeof(py_launch), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
