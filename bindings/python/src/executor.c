/* Executors: created by their backend's name, destroyed with the last object that needs them. */
#include "native.h"

#include <stdio.h>

PyTypeObject *py_executor_type;

/* With what the environment says; "auto" is its backend, or the first that there is. */
static hg_status create(const char *backend, hg_executor **executor) {
    hg_config config;
    hg_backend_type type;
    hg_status status = hg_backend_type_from_name(backend, &type);
    if (status == HG_OK) status = hg_config_from_env(&config);
    if (status != HG_OK) return status;
    if (type != HG_BACKEND_AUTO)
        snprintf(config.backend, sizeof config.backend, "%s", hg_backend_type_name(type));
    return hg_executor_create_from_config(&config, executor);
}

/* Takes the executor. */
static PyObject *owner_of(PyTypeObject *type, hg_executor *executor) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    py_executor *self = (py_executor *)allocate(type, 0);
    if (!self) {
        hg_executor_destroy(executor);
        return NULL;
    }
    self->handle = executor;
    self->cpu = hg_executor_backend_type(executor) == HG_BACKEND_CPU;
    return (PyObject *)self;
}

static PyObject *executor_new(PyTypeObject *type, PyObject *args, PyObject *named) {
    static char *names[] = {"backend", NULL};
    const char *backend = "auto";
    if (!PyArg_ParseTupleAndKeywords(args, named, "|s:Executor", names, &backend)) return NULL;
    hg_executor *executor = NULL;
    hg_status status;
    Py_BEGIN_ALLOW_THREADS status = create(backend, &executor);
    Py_END_ALLOW_THREADS return status == HG_OK ? owner_of(type, executor) : py_failed(status);
}

PyDoc_STRVAR(executor_of_doc, "_of(executor): takes an hg_executor by its address.");
static PyObject *executor_of(PyObject *type, PyObject *address) {
    hg_executor *executor = PyLong_AsVoidPtr(address);
    if (!executor && PyErr_Occurred()) return NULL;
    return owner_of((PyTypeObject *)type, executor);
}

static void executor_free(PyObject *object) {
    py_executor *self = (py_executor *)object;
    PyTypeObject *type = Py_TYPE(object);
    py_forget_numbers(self);
    Py_BEGIN_ALLOW_THREADS hg_executor_destroy(self->handle);
    Py_END_ALLOW_THREADS py_empty_released();
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyObject *executor_handle(PyObject *self, void *none) {
    (void)none;
    return PyLong_FromVoidPtr(((py_executor *)self)->handle);
}

static PyObject *executor_backend(PyObject *self, void *none) {
    (void)none;
    return PyUnicode_FromString(
        hg_backend_name(hg_executor_backend(((py_executor *)self)->handle)));
}

py_executor *py_executor_of(PyObject *executor) {
    PyObject *found;
    if (executor && executor != Py_None) {
        found = executor;
        Py_INCREF(found);
    } else {
        if (!hooks.default_executor)
            return (py_executor *)PyErr_Format(PyExc_RuntimeError,
                                               "hologram._native: there is no default executor");
        found = PyObject_CallNoArgs(hooks.default_executor);
    }
    if (found && !PyObject_TypeCheck(found, py_executor_type)) {
        PyErr_Format(PyExc_TypeError, "expected a hologram.Executor, not %R", Py_TYPE(found));
        Py_CLEAR(found);
    }
    return (py_executor *)found;
}

static PyMethodDef methods[] = {{"_of", executor_of, METH_O | METH_CLASS, executor_of_doc},
                                {NULL, NULL, 0, NULL}};
static PyGetSetDef properties[] = {
    {"handle", executor_handle, NULL, "Address of the hg_executor, for hologram._interface.", NULL},
    {"backend", executor_backend, NULL, "Name of its backend: \"cpu\", \"cuda\", ….", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, (void *)executor_new},
                              {Py_tp_dealloc, (void *)executor_free},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, properties},
                              {0, NULL}};
PyType_Spec py_executor_spec = {"hologram._native.Executor", (int)sizeof(py_executor), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
