/* Arrays out of other objects: buffers, memory that another object owns, DLPack, nested lists,
 * tensors of the library. */
#include "native.h"

static hg_element element_of_format(const char *format, Py_ssize_t bytes) {
    if (!format) format = "B";
    if (*format == '@' || *format == '=' || *format == '<')
        format++; /* little-endian, as the machine */
    bool wide = format[0] && format[1];
    if (format[0] == 'Z' && (format[1] == 'f' || format[1] == 'd') && !format[2]) {
        hg_element type;
        return hg_element_from_name(format[1] == 'f' ? "complex64" : "complex128", &type)
                   ? type
                   : (hg_element)HG_TYPE_COUNT;
    }
    if (wide) return HG_TYPE_COUNT;
    switch (*format) {
    case '?': return HG_ELEMENT_BOOL;
    case 'e': return HG_TYPE_F16;
    case 'f': return HG_TYPE_F32;
    case 'd': return HG_TYPE_F64;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
        return bytes == 1   ? HG_TYPE_I8
               : bytes == 2 ? HG_TYPE_I16
               : bytes == 4 ? HG_TYPE_I32
               : bytes == 8 ? HG_TYPE_I64
                            : HG_TYPE_COUNT;
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
        return bytes == 1   ? HG_TYPE_U8
               : bytes == 2 ? HG_TYPE_U16
               : bytes == 4 ? HG_TYPE_U32
               : bytes == 8 ? HG_TYPE_U64
                            : HG_TYPE_COUNT;
    default: return HG_TYPE_COUNT;
    }
}

/* What is common to those that share memory: strides in bytes become elements. Takes the owner. */
static PyObject *wrap(py_executor *executor, hg_element type, void *data, const Py_ssize_t *shape,
                      const Py_ssize_t *strides, int ndim, py_owner *owner) {
    uint64_t extents[HG_TENSOR_AXES];
    int64_t steps[HG_TENSOR_AXES];
    int64_t bytes = (int64_t)hg_element_size(type);
    for (int i = 0; i < ndim; i++)
        extents[i] = (uint64_t)shape[i], steps[i] = strides ? strides[i] / bytes : 0;
    hg_tensor *tensor;
    hg_status status = hg_tensor_wrap_host(executor->handle, type, data, extents,
                                           strides ? steps : NULL, (uint32_t)ndim,
                                           py_owner_released, owner, &tensor);
    return status == HG_OK ? py_array_new(tensor, executor) : py_failed(status);
}

static bool whole_elements(const Py_buffer *view, hg_element type) {
    Py_ssize_t bytes = (Py_ssize_t)hg_element_size(type);
    if ((uintptr_t)view->buf % (uintptr_t)(bytes > 8 ? 8 : bytes)) return false;
    for (int i = 0; view->suboffsets && i < view->ndim; i++)
        if (view->suboffsets[i] >= 0) return false;
    for (int i = 0; view->strides && i < view->ndim; i++)
        if (view->strides[i] % bytes) return false;
    return true;
}

PyDoc_STRVAR(from_buffer_doc, "from_buffer(object, executor, copy): an array of what has the "
                              "buffer protocol. copy None: shared where the device sees the\n"
                              "memory and it may be written, True: never, False: ValueError where "
                              "it cannot. None: the format is of no element type.");
static PyObject *from_buffer(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *object, *where, *copy;
    if (!PyArg_ParseTuple(args, "OOO", &object, &where, &copy)) return NULL;
    py_executor *executor = py_executor_of(where);
    py_owner *owner = executor ? py_owner_of(NULL) : NULL;
    PyObject *result = NULL;
    if (!owner) {
        Py_XDECREF((PyObject *)executor);
        return NULL;
    }
    Py_buffer *view = py_owner_view(owner);
    bool readonly = false, must = copy == Py_False, must_not = copy == Py_True;
    if (must_not || PyObject_GetBuffer(object, view, PyBUF_FULL) < 0) {
        PyErr_Clear();
        readonly = true;
        if (PyObject_GetBuffer(object, view, PyBUF_FULL_RO) < 0) goto release;
    }
    hg_element type = element_of_format(view->format, view->itemsize);
    if (type == HG_TYPE_COUNT || (Py_ssize_t)hg_element_size(type) != view->itemsize) {
        result = Py_NewRef(Py_None);
        goto release;
    }
    if (view->ndim > HG_TENSOR_AXES) {
        PyErr_Format(PyExc_ValueError, "an array has at most %d axes, not %d", HG_TENSOR_AXES,
                     view->ndim);
        goto release;
    }
    if (!readonly && executor->cpu && whole_elements(view, type)) {
        result = wrap(executor, type, view->buf, view->shape, view->strides, view->ndim, owner);
        Py_DECREF((PyObject *)executor);
        return result;
    }
    if (must) {
        PyErr_Format(PyExc_ValueError, "copy=False: %s",
                     !executor->cpu ? "the device does not see the host's memory"
                     : readonly     ? "the memory is read-only"
                                    : "elements do not lie at multiples of their size");
        goto release;
    }
    void *bytes = PyMem_Malloc((size_t)view->len + 1);
    if (!bytes) {
        PyErr_NoMemory();
        goto release;
    }
    if (PyBuffer_ToContiguous(bytes, view, view->len, 'C') == 0) {
        uint64_t shape[HG_TENSOR_AXES];
        for (int i = 0; i < view->ndim; i++) shape[i] = (uint64_t)view->shape[i];
        hg_tensor *tensor;
        hg_status status;
        uint64_t count = (uint64_t)(view->len / view->itemsize);
        uint32_t ndim = (uint32_t)view->ndim;
        Py_BEGIN_ALLOW_THREADS status = hg_tensor_from_host(executor->handle, type, bytes, count,
                                                            shape, ndim, &tensor);
        Py_END_ALLOW_THREADS result = status == HG_OK ? py_array_new(tensor, executor)
                                                      : py_failed(status);
    }
    PyMem_Free(bytes);
release:
    py_owner_free(owner);
    Py_DECREF((PyObject *)executor);
    return result;
}

PyDoc_STRVAR(buffer_of_doc, "buffer_of(object) -> (address, code, shape, whether in C order, "
                            "whether read-only), or None: of the buffer protocol.");
static PyObject *buffer_of(PyObject *module, PyObject *object) {
    (void)module;
    Py_buffer view;
    if (!PyObject_CheckBuffer(object)) Py_RETURN_NONE;
    if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) < 0) {
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    hg_element type = element_of_format(view.format, view.itemsize);
    uint64_t shape[HG_TENSOR_AXES];
    PyObject *made = NULL;
    if (type == HG_TYPE_COUNT || view.ndim > HG_TENSOR_AXES)
        made = Py_NewRef(Py_None);
    else {
        for (int i = 0; i < view.ndim; i++)
            shape[i] = view.shape ? (uint64_t)view.shape[i] : (uint64_t)(view.len / view.itemsize);
        PyObject *extents = py_extents(shape, (uint32_t)view.ndim);
        if (extents)
            made = Py_BuildValue("(KINOO)", (unsigned long long)(uintptr_t)view.buf, (unsigned)type,
                                 extents, PyBuffer_IsContiguous(&view, 'C') ? Py_True : Py_False,
                                 view.readonly ? Py_True : Py_False);
    }
    PyBuffer_Release(&view);
    return made;
}

PyDoc_STRVAR(address_doc,
             "address_of(object) -> where the elements lie: of an array on the CPU, or of what has "
             "the buffer protocol and lies in C order.");
static PyObject *address_of(PyObject *module, PyObject *object) {
    (void)module;
    if (py_is_array(object)) {
        void *managed;
        py_array *array = (py_array *)object;
        hg_status status;
        py_long work;
        if (PY_CALL(work, py_is_short(array->executor, 0), status, "reading",
                    hg_tensor_to_dlpack(array->tensor, false, &managed)))
            return NULL;
        if (status != HG_OK) return py_failed(status);
        hg_dlpack_managed *shared = managed;
        PyObject *address = PyLong_FromVoidPtr((char *)shared->tensor.data +
                                               shared->tensor.byte_offset);
        if (shared->deleter) shared->deleter(shared);
        return address;
    }
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) < 0) return NULL;
    PyObject *address = PyLong_FromVoidPtr(view.buf);
    PyBuffer_Release(&view);
    return address;
}

PyDoc_STRVAR(from_memory_doc, "from_memory(address, dtype, shape, strides, owner, executor): an "
                              "array that shares memory of owner, which it keeps. strides in\n"
                              "bytes, whole elements; None: C order.");
static PyObject *from_memory(PyObject *module, PyObject *args) {
    (void)module;
    unsigned long long address;
    PyObject *dtype, *shape, *strides, *owner, *where;
    if (!PyArg_ParseTuple(args, "KOOOOO", &address, &dtype, &shape, &strides, &owner, &where))
        return NULL;
    int64_t extents[HG_TENSOR_AXES], steps[HG_TENSOR_AXES];
    Py_ssize_t shape_of[HG_TENSOR_AXES], strides_of[HG_TENSOR_AXES];
    hg_element type;
    int n = py_integers(shape, extents, HG_TENSOR_AXES, "shape");
    if (n < 0 || !py_element_of(dtype, &type)) return NULL;
    if (strides != Py_None && py_integers(strides, steps, HG_TENSOR_AXES, "strides") != n)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "strides: expected %d", n);
    for (int i = 0; i < n; i++) {
        shape_of[i] = (Py_ssize_t)extents[i];
        strides_of[i] = strides != Py_None ? (Py_ssize_t)steps[i] : 0;
    }
    py_executor *executor = py_executor_of(where);
    if (!executor) return NULL;
    py_owner *held = py_owner_of(owner);
    PyObject *result = held ? wrap(executor, type, (void *)(uintptr_t)address, shape_of,
                                   strides != Py_None ? strides_of : NULL, n, held)
                            : NULL;
    Py_DECREF((PyObject *)executor);
    return result;
}

PyDoc_STRVAR(from_dlpack_doc,
             "from_dlpack(capsule, executor): an array of a capsule of DLPack, which is used up.");
static PyObject *from_dlpack(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *capsule, *where;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &where)) return NULL;
    bool versioned = PyCapsule_IsValid(capsule, "dltensor_versioned");
    if (!versioned && !PyCapsule_IsValid(capsule, "dltensor"))
        return PyErr_Format(PyExc_ValueError,
                            "expected a capsule \"dltensor_versioned\" or \"dltensor\" that is not "
                            "used yet, not %R",
                            capsule);
    void *managed = PyCapsule_GetPointer(capsule, versioned ? "dltensor_versioned" : "dltensor");
    py_executor *executor = py_executor_of(where);
    if (!executor) return NULL;
    py_owner *owner = py_owner_of(NULL);
    PyObject *result = NULL;
    if (owner) {
        hg_tensor *tensor;
        hg_status status;
        void *ours = py_owner_managed(owner, managed, versioned);
        PyCapsule_SetName(capsule, versioned ? "used_dltensor_versioned" : "used_dltensor");
        Py_BEGIN_ALLOW_THREADS status = hg_tensor_from_dlpack(executor->handle, ours, versioned,
                                                              &tensor);
        Py_END_ALLOW_THREADS if (status == HG_OK) result = py_array_new(tensor, executor);
        else {
            PyCapsule_SetName(capsule, versioned ? "dltensor_versioned" : "dltensor");
            py_owner_forget(owner);
            py_failed(status);
        }
    }
    py_empty_released(); /* what was copied */
    Py_DECREF((PyObject *)executor);
    return result;
}

PyDoc_STRVAR(from_handle_doc, "from_handle(address, executor): an array of an hg_tensor, one "
                              "reference of which becomes the array's.");
static PyObject *from_handle(PyObject *module, PyObject *args) {
    (void)module;
    unsigned long long address;
    PyObject *where;
    if (!PyArg_ParseTuple(args, "KO", &address, &where)) return NULL;
    py_executor *executor = py_executor_of(where);
    if (!executor) return NULL;
    PyObject *result = py_array_new((hg_tensor *)(uintptr_t)address, executor);
    Py_DECREF((PyObject *)executor);
    return result;
}

PyDoc_STRVAR(empty_doc, "empty(shape, dtype, executor, zeroed): a new array.");
static PyObject *empty(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *shape, *dtype, *where;
    int zeroed;
    if (!PyArg_ParseTuple(args, "OOOp", &shape, &dtype, &where, &zeroed)) return NULL;
    int64_t extents[HG_TENSOR_AXES];
    hg_element type;
    int n = py_integers(shape, extents, HG_TENSOR_AXES, "shape");
    if (n < 0 || !py_element_of(dtype, &type)) return NULL;
    for (int i = 0; i < n; i++)
        if (extents[i] < 0)
            return PyErr_Format(PyExc_ValueError, "shape: an extent is %lld",
                                (long long)extents[i]);
    py_executor *executor = py_executor_of(where);
    if (!executor) return NULL;
    hg_tensor *tensor;
    hg_status status;
    Py_BEGIN_ALLOW_THREADS status = (zeroed ? hg_tensor_zeros : hg_tensor_empty)(
        executor->handle, type, (const uint64_t *)extents, (uint32_t)n, &tensor);
    Py_END_ALLOW_THREADS PyObject *result = status == HG_OK ? py_array_new(tensor, executor)
                                                            : py_failed(status);
    Py_DECREF((PyObject *)executor);
    return result;
}

/* ---- nested lists ---- */

typedef struct nest {
    int64_t shape[HG_TENSOR_AXES];
    int ndim;
    int kind; /* 0 nothing, 1 bool, 2 integer, 3 float, 4 complex: the highest */
    hg_element type;
    uint64_t count;
    unsigned char *at; /* second pass */
} nest;

static bool is_list(PyObject *object) {
    return PyList_Check(object) || PyTuple_Check(object) || PyRange_Check(object);
}

/* The shape by the first elements; then all are visited. NULL beside an exception where lengths
 * differ. */
static bool visit(nest *n, PyObject *object, int depth) {
    if (!is_list(object)) {
        if (depth != n->ndim)
            return PyErr_Format(PyExc_ValueError,
                                "lists of different depth: %R where a list of %lld is expected",
                                object, (long long)n->shape[depth]),
                   false;
        PyObject *number = object, *held = NULL;
        if (!py_is_number(object)) { /* a NumPy scalar, an array without axes, a Fraction, … */
            if (PyUnicode_Check(object) || PyBytes_Check(object))
                return PyErr_Format(
                           PyExc_TypeError,
                           "%R is no element of an array: expected numbers or lists of numbers",
                           object),
                       false;
            PyObject *item = PyObject_HasAttrString(object, "item")
                                 ? PyObject_CallMethod(object, "item", NULL)
                             : PyIndex_Check(object) ? PyNumber_Index(object)
                                                     : PyNumber_Float(object);
            if (!item) {
                if (PyErr_ExceptionMatches(PyExc_TypeError))
                    PyErr_Format(
                        PyExc_TypeError,
                        "%R is no element of an array: expected numbers or lists of numbers",
                        object);
                return false;
            }
            number = held = item;
        }
        bool done = true;
        if (n->at) {
            PyObject *whole = NULL;
            if (PyFloat_Check(number) && py_kind(n->type) == 'i')
                number = whole = PyNumber_Long(number); /* dtype asked for: truncated */
            done = number && py_number_bytes(number, n->type, n->at);
            Py_XDECREF(whole);
            n->at += hg_element_size(n->type);
        } else {
            int kind = PyBool_Check(number)      ? 1
                       : PyLong_Check(number)    ? 2
                       : PyFloat_Check(number)   ? 3
                       : PyComplex_Check(number) ? 4
                                                 : 0;
            if (!kind)
                PyErr_Format(PyExc_TypeError,
                             "%R is no element of an array: expected numbers or lists of numbers",
                             object),
                    done = false;
            if (kind > n->kind) n->kind = kind;
        }
        Py_XDECREF(held);
        return done;
    }
    Py_ssize_t length = PySequence_Size(object);
    if (length < 0) return false;
    if (depth >= n->ndim || length != n->shape[depth])
        return PyErr_Format(PyExc_ValueError,
                            "lists of different lengths: %zd beside %lld at depth %d", length,
                            depth < n->ndim ? (long long)n->shape[depth] : 0LL, depth),
               false;
    for (Py_ssize_t i = 0; i < length; i++) {
        PyObject *item = PySequence_GetItem(object, i);
        bool done = item && visit(n, item, depth + 1);
        Py_XDECREF(item);
        if (!done) return false;
    }
    return true;
}

PyDoc_STRVAR(from_sequence_doc, "from_sequence(object, dtype, executor): an array of a number or "
                                "nested lists; dtype None: bool, i64, f64 or complex128.");
static PyObject *from_sequence(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *object, *dtype, *where;
    if (!PyArg_ParseTuple(args, "OOO", &object, &dtype, &where)) return NULL;
    nest n = {.count = 1};
    if (!py_element_of(dtype, &n.type)) return NULL;
    PyObject *first = Py_NewRef(object);
    while (is_list(first)) {
        if (n.ndim == HG_TENSOR_AXES) {
            Py_DECREF(first);
            return PyErr_Format(PyExc_ValueError,
                                "lists are nested deeper than the %d axes that an array has",
                                HG_TENSOR_AXES);
        }
        Py_ssize_t length = PySequence_Size(first);
        if (length < 0) {
            Py_DECREF(first);
            return NULL;
        }
        n.shape[n.ndim++] = length;
        n.count *= (uint64_t)length;
        if (!length) break;
        PyObject *next = PySequence_GetItem(first, 0);
        Py_DECREF(first);
        if (!next) return NULL;
        first = next;
    }
    Py_DECREF(first);
    if (!visit(&n, object, 0)) return NULL;
    if (n.type == HG_TYPE_COUNT) {
        n.type = n.kind == 1   ? (hg_element)HG_ELEMENT_BOOL
                 : n.kind == 2 ? (hg_element)HG_TYPE_I64
                               : (hg_element)HG_TYPE_F64;
        if (n.kind == 4 && !hg_element_from_name("complex128", &n.type))
            return PyErr_Format(PyExc_TypeError, "complex numbers are not supported");
    }
    unsigned char *bytes = PyMem_Malloc((size_t)(n.count * hg_element_size(n.type)) + 1);
    if (!bytes) return PyErr_NoMemory();
    n.at = bytes;
    PyObject *result = NULL;
    py_executor *executor = NULL;
    if (visit(&n, object, 0) && (executor = py_executor_of(where))) {
        hg_tensor *tensor;
        hg_status status;
        Py_BEGIN_ALLOW_THREADS status = hg_tensor_from_host(executor->handle, n.type, bytes,
                                                            n.count, (const uint64_t *)n.shape,
                                                            (uint32_t)n.ndim, &tensor);
        Py_END_ALLOW_THREADS result = status == HG_OK ? py_array_new(tensor, executor)
                                                      : py_failed(status);
        Py_DECREF((PyObject *)executor);
    }
    PyMem_Free(bytes);
    return result;
}

PyMethodDef py_makers[] = {{"address_of", address_of, METH_O, address_doc},
                           {"buffer_of", buffer_of, METH_O, buffer_of_doc},
                           {"from_buffer", from_buffer, METH_VARARGS, from_buffer_doc},
                           {"from_memory", from_memory, METH_VARARGS, from_memory_doc},
                           {"from_dlpack", from_dlpack, METH_VARARGS, from_dlpack_doc},
                           {"from_handle", from_handle, METH_VARARGS, from_handle_doc},
                           {"from_sequence", from_sequence, METH_VARARGS, from_sequence_doc},
                           {"empty", empty, METH_VARARGS, empty_doc},
                           {NULL, NULL, 0, NULL}};
