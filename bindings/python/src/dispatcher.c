/* What is called with arrays: it finds the launch that was bound for the same memory, shapes and
 * numbers, or has one bound.
 *
 * A key is made of addresses, and not of objects: a launch on the CPU uses memory only while it
 * runs, and while it runs the caller's arguments hold that memory. So no array lives longer because
 * a launch is kept. */
#include "native.h"

PyTypeObject *py_dispatcher_type;

enum { KEPT = 16, KEY_BYTES = 1024, KEY_VIEWS = 24 /* more do not fit the bytes */ };

typedef struct kept_launch {
    uint64_t hash, used;
    size_t length;
    unsigned char *key; /* NULL: there is none */
    PyObject *launch;
} kept_launch;

/* What a program was made of beside its arguments, and must still be: holder[name] of a dict, the
 * contents of a cell, or an attribute; None where a dict has no such name. */
typedef enum watch_kind { WATCH_DICT, WATCH_CELL, WATCH_ATTRIBUTE } watch_kind;
typedef struct watch {
    watch_kind kind;
    PyObject *holder, *name, *value;
} watch;

typedef struct py_dispatcher {
    PyObject_HEAD kept_launch kept[KEPT];
    uint64_t uses, forgotten; /* how often what is kept was let go of */
    watch *watches;
    Py_ssize_t watch_count;
} py_dispatcher;

static uint64_t generation;

void py_forget_launches(void) { generation++; }

/* ---- keys ---- */

typedef struct key {
    size_t length;
    bool whole; /* it says all that a launch depends on */
    int view_count;
    Py_buffer views[KEY_VIEWS]; /* of arguments: their memory stays until the launch is over */
    unsigned char bytes[KEY_BYTES];
} key;

static void add(key *k, const void *bytes, size_t length) {
    if (!k->whole || k->length + length > KEY_BYTES) {
        k->whole = false;
        return;
    }
    memcpy(k->bytes + k->length, bytes, length);
    k->length += length;
}

static void add_word(key *k, uint64_t word) { add(k, &word, sizeof(word)); }

static void add_integer(key *k, PyObject *number) {
    int over;
    long long value = PyLong_AsLongLongAndOverflow(number, &over);
    if (over) k->whole = false;
    add_word(k, (uint64_t)value);
}

static void add_argument(key *k, PyObject *argument) {
    if (py_is_array(argument)) {
        const hg_tensor *tensor = ((py_array *)argument)->tensor;
        hg_buffer buffer;
        uint64_t offset;
        uint32_t ndim = hg_tensor_ndim(tensor);
        if (hg_tensor_buffer(tensor, &buffer, &offset) != HG_OK) {
            k->whole = false; /* whoever binds says why */
            return;
        }
        uint64_t words[] = {'A',
                            (uintptr_t)((py_array *)argument)->executor,
                            buffer.handle,
                            offset,
                            hg_tensor_type(tensor),
                            ndim};
        add(k, words, sizeof(words));
        add(k, hg_tensor_shape(tensor), ndim * sizeof(uint64_t));
        add(k, hg_tensor_strides(tensor), ndim * sizeof(uint64_t));
    } else if (PyFloat_CheckExact(argument)) {
        double value = PyFloat_AsDouble(argument);
        add_word(k, 'f');
        add(k, &value, sizeof(value));
    } else if (PyBool_Check(argument)) {
        add_word(k, argument == Py_True ? 'T' : 'F');
    } else if (PyLong_CheckExact(argument)) {
        add_word(k, 'i');
        add_integer(k, argument);
    } else if (argument == Py_None) {
        add_word(k, 'N');
    } else if (PyObject_CheckBuffer(argument)) {
        Py_buffer *view = &k->views[k->view_count];
        if (k->view_count == KEY_VIEWS || PyObject_GetBuffer(argument, view, PyBUF_FULL_RO) < 0) {
            PyErr_Clear();
            k->whole = false;
            return;
        }
        k->view_count++;
        uint64_t format = 0;
        const char *text = view->format ? view->format : "B";
        size_t length = strlen(text);
        if (length > sizeof(format) || view->suboffsets)
            k->whole = false;
        else
            memcpy(&format, text, length);
        uint64_t words[] = {'B' + ((uint64_t)view->readonly << 8), (uintptr_t)view->buf,
                            (uint64_t)view->itemsize, format, (uint64_t)view->ndim};
        add(k, words, sizeof(words));
        if (view->shape)
            add(k, view->shape, (size_t)view->ndim * sizeof(Py_ssize_t));
        else
            add_word(k, (uint64_t)view->len);
        if (view->strides) add(k, view->strides, (size_t)view->ndim * sizeof(Py_ssize_t));
        /* It may be a number, as a scalar of NumPy, which is bound by its value. */
        if (!view->ndim) add(k, view->buf, (size_t)view->itemsize);
    } else
        k->whole = false;
}

static void add_lanes(key *k, PyObject *lanes) {
    if (lanes == Py_None)
        add_word(k, 'N');
    else if (PyLong_CheckExact(lanes)) {
        add_word(k, 'i');
        add_integer(k, lanes);
    } else if (PyTuple_CheckExact(lanes)) {
        add_word(k, 't' + ((uint64_t)PyTuple_Size(lanes) << 8));
        for (Py_ssize_t i = 0; i < PyTuple_Size(lanes); i++) {
            PyObject *one = PyTuple_GetItem(lanes, i);
            if (PyLong_CheckExact(one))
                add_integer(k, one);
            else
                k->whole = false;
        }
    } else
        k->whole = false;
}

static uint64_t hash_of(const key *k) {
    uint64_t hash = k->length;
    for (size_t i = 0; i + 8 <= k->length; i += 8) {
        uint64_t word;
        memcpy(&word, k->bytes + i, 8);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* ---- what is watched ---- */

static bool watches_hold(const py_dispatcher *self) {
    const watch *watches = self->watches;
    for (Py_ssize_t i = 0; i < self->watch_count; i++) {
        const watch *w = &watches[i];
        if (w->kind == WATCH_DICT) {
            PyObject *now = PyDict_GetItemWithError(w->holder, w->name);
            if (!now) PyErr_Clear(), now = Py_None;
            if (now != w->value) return false;
            continue;
        }
        /* An attribute may run code of Python, which may have others watched. */
        PyObject *holder = Py_NewRef(w->holder), *name = Py_NewRef(w->name), *value = w->value;
        PyObject *now = PyObject_GetAttr(holder, name);
        bool same = now == value && self->watches == watches;
        if (!now) PyErr_Clear();
        Py_XDECREF(now), Py_DECREF(name), Py_DECREF(holder);
        if (!same || self->watches != watches) return false;
    }
    return true;
}

static void watches_free(py_dispatcher *self) {
    watch *watches = self->watches;
    Py_ssize_t count = self->watch_count;
    self->watches = NULL, self->watch_count = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_DECREF(watches[i].holder);
        Py_DECREF(watches[i].name);
        Py_DECREF(watches[i].value);
    }
    PyMem_Free(watches);
}

static PyObject *dispatcher_forget(PyObject *object, PyObject *none);

PyDoc_STRVAR(watch_doc,
             "_watch(list of (kind, holder, name, value)): launches are kept for as long "
             "as holder[name] (kind 0), the contents of the\n"
             "cell (1) or the attribute (2) is that value. What was kept is let go of.");
static PyObject *dispatcher_watch(PyObject *object, PyObject *list) {
    py_dispatcher *self = (py_dispatcher *)object;
    Py_XDECREF(dispatcher_forget(object, NULL));
    watches_free(self);
    Py_ssize_t count = PySequence_Size(list);
    if (count < 0) return NULL;
    self->watches = PyMem_Calloc((size_t)count + 1, sizeof(watch));
    if (!self->watches) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++) {
        watch w;
        int kind;
        PyObject *row = PySequence_GetItem(list, i);
        bool good = row && PyArg_ParseTuple(row, "iOOO", &kind, &w.holder, &w.name, &w.value);
        if (good) {
            w.kind = (watch_kind)kind;
            Py_INCREF(w.holder);
            Py_INCREF(w.name);
            Py_INCREF(w.value);
            self->watches[self->watch_count++] = w;
        }
        Py_XDECREF(row);
        if (!good) return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- calls ---- */

/* A launch that failed: who knows its program's source says it in its words. */
static PyObject *run_launch(py_dispatcher *self, PyObject *launch) {
    PyObject *none = py_launch_run((py_launch *)launch);
    if (none || !PyErr_ExceptionMatches(PyExc_RuntimeError)) return none;
    PyObject *type, *value, *trace, *better = NULL;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value && PyObject_HasAttrString((PyObject *)self, "_explain_failure"))
        better = PyObject_CallMethod((PyObject *)self, "_explain_failure", "O", value);
    PyErr_Clear();
    if (better && PyExceptionInstance_Check(better)) {
        PyErr_SetObject((PyObject *)Py_TYPE(better), better);
        Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(trace);
    } else
        PyErr_Restore(type, value, trace);
    Py_XDECREF(better);
    return NULL;
}

static PyObject *run_for(py_dispatcher *self, const key *k, PyObject *lanes, PyObject *const *args,
                         Py_ssize_t count) {
    uint64_t hash = k->whole ? hash_of(k) : 0;
    for (int i = 0; k->whole && i < KEPT; i++) {
        kept_launch *one = &self->kept[i];
        if (one->hash != hash || !one->key || one->length != k->length ||
            memcmp(one->key, k->bytes, k->length))
            continue;
        one->used = ++self->uses;
        PyObject *launch = Py_NewRef(one->launch);
        PyObject *none = run_launch(self, launch);
        Py_DECREF(launch);
        return none;
    }
    uint64_t forgotten = self->forgotten;
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple && i < count; i++) PyTuple_SetItem(tuple, i, Py_NewRef(args[i]));
    PyObject *launch = tuple ? PyObject_CallMethod((PyObject *)self, "_bind_arguments", "OO", tuple,
                                                   lanes)
                             : NULL;
    Py_XDECREF(tuple);
    if (!launch || launch == Py_None) return launch; /* None: it has run */
    if (!PyObject_TypeCheck(launch, py_launch_type)) {
        PyErr_Format(PyExc_TypeError, "_bind_arguments: expected a Launch, not %R",
                     Py_TYPE(launch));
        Py_DECREF(launch);
        return NULL;
    }
    PyObject *none = run_launch(self, launch);
    /* Not where another thread, or this call, has compiled: it may be a launch of what was before.
     */
    if (none && k->whole && ((py_launch *)launch)->again && forgotten == self->forgotten) {
        kept_launch *place = &self->kept[0];
        for (int i = 1; i < KEPT; i++)
            if (self->kept[i].used < place->used) place = &self->kept[i];
        unsigned char *bytes = PyMem_Malloc(k->length);
        if (bytes) {
            PyObject *before = place->launch;
            memcpy(bytes, k->bytes, k->length);
            PyMem_Free(place->key);
            *place = (kept_launch){hash, ++self->uses, k->length, bytes, Py_NewRef(launch)};
            Py_XDECREF(before);
        }
    }
    Py_DECREF(launch);
    return none;
}

/* The caller holds the arguments, and the key their memory, until the call is over. */
static PyObject *dispatch(py_dispatcher *self, PyObject *lanes, PyObject *const *args,
                          Py_ssize_t count) {
    key k;
    k.length = 0, k.view_count = 0, k.whole = watches_hold(self);
    add_word(&k, generation);
    add_lanes(&k, lanes);
    for (Py_ssize_t i = 0; i < count && k.whole; i++) add_argument(&k, args[i]);
    PyObject *none = run_for(self, &k, lanes, args, count);
    for (int i = 0; i < k.view_count; i++) PyBuffer_Release(&k.views[i]);
    return none;
}

PyDoc_STRVAR(run_doc, "run(lanes, *arguments): runs it for these arguments and waits; lanes None: "
                      "what the program says.");
static PyObject *dispatcher_run(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    if (count < 1) return PyErr_Format(PyExc_TypeError, "run: expected lanes and arguments");
    return dispatch((py_dispatcher *)self, args[0], args + 1, count - 1);
}

static PyObject *configured_call(PyObject *pair, PyObject *const *args, Py_ssize_t count,
                                 PyObject *keywords) {
    PyObject *self = PyTuple_GetItem(pair, 0), *lanes = PyTuple_GetItem(pair, 1);
    if (!keywords) return dispatch((py_dispatcher *)self, lanes, args, count);
    PyObject *tuple = PyTuple_New(count), *named = PyDict_New();
    for (Py_ssize_t i = 0; tuple && i < count; i++) PyTuple_SetItem(tuple, i, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; named && i < PyTuple_Size(keywords); i++)
        if (PyDict_SetItem(named, PyTuple_GetItem(keywords, i), args[count + i]) < 0)
            Py_CLEAR(named);
    PyObject *none = tuple && named
                         ? PyObject_CallMethod(self, "_launch_named", "OOO", lanes, tuple, named)
                         : NULL;
    Py_XDECREF(tuple);
    Py_XDECREF(named);
    return none;
}
static PyMethodDef configured = {"launch", (PyCFunction)(void (*)(void))configured_call,
                                 METH_FASTCALL | METH_KEYWORDS,
                                 "launch(*arguments): runs that many lanes."};

PyDoc_STRVAR(lanes_doc,
             "with_lanes(lanes) -> a function that takes the arguments and runs that many lanes.");
static PyObject *dispatcher_lanes(PyObject *self, PyObject *lanes) {
    PyObject *pair = PyTuple_New(2);
    if (!pair) return NULL;
    PyTuple_SetItem(pair, 0, Py_NewRef(self));
    PyTuple_SetItem(pair, 1, Py_NewRef(lanes));
    PyObject *function = PyCFunction_NewEx(&configured, pair, NULL);
    Py_DECREF(pair);
    return function;
}

static PyObject *dispatcher_forget(PyObject *object, PyObject *none) {
    (void)none;
    py_dispatcher *self = (py_dispatcher *)object;
    self->forgotten++;
    for (int i = 0; i < KEPT; i++) {
        PyObject *launch = self->kept[i].launch;
        PyMem_Free(self->kept[i].key);
        self->kept[i] = (kept_launch){0};
        Py_XDECREF(launch);
    }
    Py_RETURN_NONE;
}

static PyObject *dispatcher_new(PyTypeObject *type, PyObject *args, PyObject *named) {
    (void)args, (void)named;
    return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

static int dispatcher_traverse(PyObject *object, visitproc visit, void *arg) {
    py_dispatcher *self = (py_dispatcher *)object;
    Py_VISIT((PyObject *)Py_TYPE(object));
    for (int i = 0; i < KEPT; i++) Py_VISIT(self->kept[i].launch);
    for (Py_ssize_t i = 0; i < self->watch_count; i++) {
        Py_VISIT(self->watches[i].holder);
        Py_VISIT(self->watches[i].name);
        Py_VISIT(self->watches[i].value);
    }
    return 0;
}

static int dispatcher_clear(PyObject *self) {
    Py_XDECREF(dispatcher_forget(self, NULL));
    watches_free((py_dispatcher *)self);
    return 0;
}

static void dispatcher_free(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    (void)dispatcher_clear(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"run", (PyCFunction)(void (*)(void))dispatcher_run, METH_FASTCALL, run_doc},
    {"with_lanes", dispatcher_lanes, METH_O, lanes_doc},
    {"_watch", dispatcher_watch, METH_O, watch_doc},
    {"forget", dispatcher_forget, METH_NOARGS, "forget(): lets go of the launches that are kept."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, (void *)dispatcher_new},
                              {Py_tp_dealloc, (void *)dispatcher_free},
                              {Py_tp_traverse, (void *)dispatcher_traverse},
                              {Py_tp_clear, (void *)dispatcher_clear},
                              {Py_tp_methods, methods},
                              {Py_mp_subscript, (void *)dispatcher_lanes},
                              {0, NULL}};
PyType_Spec py_dispatcher_spec = {"hologram._native.Dispatcher", (int)sizeof(py_dispatcher), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                  slots};
