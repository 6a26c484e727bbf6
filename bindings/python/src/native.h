/* The part of the Python package that is called often: arrays, their operators, launches. CPython's
 * stable ABI of 3.11. What is called seldom goes through the generated module _interface. */
#ifndef HOLOGRAM_PYTHON_NATIVE_H
#define HOLOGRAM_PYTHON_NATIVE_H

#pragma GCC diagnostic ignored "-Wpedantic" /* slots of CPython's types are functions as void * */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <hologram/dlpack.h>
#include <hologram/hologram.h>
#include <hologram/ops.h>

#include <stdbool.h>
#include <string.h>

enum { ELEMENT_CODES = 128, ARRAY_OPERANDS = 256 };

/* What Python's part of the package gives the C part when it is imported: borrowed for the life of
 * the process. */
typedef struct py_hooks {
    PyObject *failed;         /* failed(status) raises what the library said last */
    PyObject *as_array;       /* as_array(object, executor): an array of NumPy's, a list, … */
    PyObject *index, *assign; /* index(array, key), assign(array, key, value): keys that are arrays
                               */
    PyObject *default_executor;     /* default_executor() */
    PyObject *types[ELEMENT_CODES]; /* dtype objects by hg_element; NULL: there is none */
    PyTypeObject *array;            /* the class of results: Array, a subclass of native.Array */
} py_hooks;
extern py_hooks hooks;

/* ---- executors ---- */

typedef struct py_executor {
    PyObject_HEAD hg_executor *handle;
    bool cpu; /* memory of the host, launches without a driver */
} py_executor;
extern PyTypeObject *py_executor_type;
/* executor, or NULL or None: the default one. A new reference; NULL with an exception. */
py_executor *py_executor_of(PyObject *executor);

/* Numbers that are kept as tensors of an executor: it ends. */
void py_forget_numbers(const py_executor *executor);

/* ---- arrays ---- */

typedef struct py_array {
    PyObject_HEAD hg_tensor *tensor; /* never NULL once made */
    py_executor *executor;           /* owned: it outlives the tensor's elements */
} py_array;
extern PyTypeObject *py_array_type;
bool py_is_array(PyObject *object);
/* Takes the tensor; executor is retained. NULL with an exception, the tensor released. */
PyObject *py_array_new(hg_tensor *tensor, py_executor *executor);
/* dtype object or NULL with an exception, borrowed. */
PyObject *py_type_of(hg_element type);
/* The element type of a dtype object; false with an exception. None: HG_TYPE_COUNT. */
bool py_element_of(PyObject *dtype, hg_element *type);
/* A Python number: bool, int, float, complex of Python itself, no NumPy scalar. */
bool py_is_number(PyObject *object);
/* Shape as a tuple. */
PyObject *py_extents(const uint64_t *shape, uint32_t ndim);
/* Axes or extents from a tuple, list or integer; -1 with an exception, else their number. */
int py_integers(PyObject *object, int64_t *values, int most, const char *what);

/* ---- operations ---- */

/* One operation of operands that are arrays, numbers, or what as_array takes; out: NULL or an array
 * that receives the result; executor: NULL or where it runs, that of the first array unless told.
 * A new reference; NULL with an exception; Py_NotImplemented (borrowed as new) where strict is
 * false and an operand is nothing that we know. */
PyObject *py_operate(hg_operation operation, PyObject *const *operands, uint32_t count,
                     const hg_ops_options *options, PyObject *out, PyObject *executor, bool strict);
/* A number of Python as a tensor without axes; type HG_TYPE_COUNT: of its own kind, beside arrays
 * of that type else. Retained for the caller; NULL with an exception. */
hg_tensor *py_number(PyObject *number, hg_element beside, py_executor *executor);
/* The element that a number is in a type: hg_element_size bytes; false with an exception. */
bool py_number_bytes(PyObject *number, hg_element type, unsigned char *bytes);
/* b, i, f or c: what kind of numbers a type has. */
char py_kind(hg_element type);
/* Adds one function per operation to a module. */
int py_add_operations(PyObject *module);

/* ---- launches ---- */

extern PyTypeObject *py_launch_type, *py_dispatcher_type;
typedef struct py_launch {
    PyObject_HEAD hg_binding *binding;
    PyObject *keeps; /* executor, arrays and buffers that it uses */
    bool quick; /* the last launch was over before others would have noticed: the next is not waited
                   for patiently */
    bool again; /* equal arguments may take it again: it uses their memory, no copies */
} py_launch;
/* Runs it and waits. None as a new reference, or NULL with an exception. */
PyObject *py_launch_run(py_launch *launch);
/* Bound launches that were made with other default executors are of no use any more. */
void py_forget_launches(void);

/* ---- calls that may take long (long.c) ---- */

typedef struct py_long {
    PyThreadState *state;
    bool watches; /* signals */
} py_long;
void py_set_main_thread(unsigned long identity);
/* Lets other threads go on, and Ctrl-C end what this one waits for. */
void py_long_begin(py_long *call);
/* The end of it. True: a signal's handler raised an exception; what the call said is of no matter.
 */
bool py_long_end(py_long *call);

/* ---- errors ---- */

/* Raises what the library said last on this thread; returns NULL. */
PyObject *py_failed(hg_status status);

/* Makes a type of the module. */
PyTypeObject *py_add_type(PyObject *module, PyType_Spec *spec);
/* from_sequence, from_buffer, from_memory, from_dlpack, from_handle, empty. */
extern PyMethodDef py_makers[];
extern PyType_Spec py_executor_spec, py_array_spec, py_launch_spec, py_dispatcher_spec;

#endif
