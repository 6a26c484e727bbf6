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

/* ---- owners of memory that arrays share (release.c) ---- */

typedef struct py_owner py_owner;
/* Keeps an object until the memory is not needed any more; NULL: what is put into it behind. NULL
 * with an exception. */
py_owner *py_owner_of(PyObject *object);
/* A view that is released with it; nothing yet. */
Py_buffer *py_owner_view(py_owner *owner);
/* A tensor of DLPack that stands for another library's: that is released with the owner. */
void *py_owner_managed(py_owner *owner, void *managed, bool versioned);
/* Frees it, but leaves the other library's tensor as it is. */
void py_owner_forget(py_owner *owner);
/* Lets go of what it keeps. Runs code of Python. */
void py_owner_free(py_owner *owner);
/* The same soon: any thread, anywhere. An hg_tensor_freed. */
void py_owner_released(void *owner);
/* Frees those: what may run code of Python calls it, after calls of the library. */
void py_empty_released(void);
/* hg_tensor_release and that. */
void py_tensor_release(hg_tensor *tensor);

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
    bool steady;     /* launches do the same work whatever memory has */
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
    bool is_main; /* it is the thread that handles signals */
    bool watches; /* signals */
} py_long;
/* Whether this is the thread that handles signals. */
bool py_is_main_thread(void);
/* Lets other threads go on, and Ctrl-C end what this one waits for. what: to who looks at a
 * terminal, where it takes long. */
void py_long_begin(py_long *call, const char *what);
/* The end of it. True: a signal's handler raised an exception; what the call said is of no matter.
 */
bool py_long_end(py_long *call);
/* Whether so many elements are few, and in memory of the host: work on them is over at once. */
bool py_is_small(const py_executor *executor, uint64_t elements);
/* The same of a call that needs the elements: nothing is recorded that would have to run first. */
bool py_is_short(const py_executor *executor, uint64_t elements);
/* status = call, with other threads kept out where it is short, else as a long call, for which
 * `work` is. True: an exception, as py_long_end. */
#define PY_CALL(work, is_short, status, what, call) \
    ((is_short) ? ((status) = (call), false)        \
                : (py_long_begin(&(work), what), (status) = (call), py_long_end(&(work))))
/* Arrays of lazy() are there: what is read may have to be made first. */
void py_long_lazy(void);
/* begin_scope, end_scope, set_main_thread. */
extern PyMethodDef py_long_functions[];

/* ---- what runs now, for a terminal (progress.c) ---- */

/* The thread that handles signals, and only that one, begins or ends something that may take long.
 * what: static. */
void py_progress_begin(const char *what);
void py_progress_end(void);

/* ---- errors ---- */

/* Raises what the library said last on this thread; returns NULL. */
PyObject *py_failed(hg_status status);

/* Makes a type of the module. */
PyTypeObject *py_add_type(PyObject *module, PyType_Spec *spec);
/* from_sequence, from_buffer, from_memory, from_dlpack, from_handle, empty. */
extern PyMethodDef py_makers[];
extern PyType_Spec py_executor_spec, py_array_spec, py_launch_spec, py_dispatcher_spec;

#endif
