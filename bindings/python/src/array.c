/* Arrays: what they are, operators, indices that are views, elements. */
#include "native.h"

PyTypeObject *py_array_type;

/* ---- what others need ---- */

PyObject *py_array_new(hg_tensor *tensor, py_executor *executor) {
    static PyTypeObject *type;
    static allocfunc allocate;
    if (type != hooks.array)
        type = hooks.array, allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    py_array *self = (py_array *)allocate(type, 0);
    if (!self) {
        hg_tensor_release(tensor);
        return NULL;
    }
    Py_INCREF((PyObject *)executor);
    self->tensor = tensor, self->executor = executor;
    return (PyObject *)self;
}

PyObject *py_type_of(hg_element type) {
    PyObject *found = type < ELEMENT_CODES ? hooks.types[type] : NULL;
    if (!found)
        PyErr_Format(PyExc_TypeError, "hologram: the element type %s has no dtype",
                     hg_element_name(type));
    return found;
}

bool py_element_of(PyObject *dtype, hg_element *type) {
    *type = HG_TYPE_COUNT;
    if (dtype == Py_None) return true;
    if (PyLong_Check(dtype))
        *type = (hg_element)PyLong_AsUnsignedLong(dtype);
    else {
        PyObject *code = PyObject_GetAttrString(dtype, "code");
        if (!code) return false;
        *type = (hg_element)PyLong_AsUnsignedLong(code);
        Py_DECREF(code);
    }
    return !PyErr_Occurred();
}

PyObject *py_extents(const uint64_t *shape, uint32_t ndim) {
    PyObject *tuple = PyTuple_New((Py_ssize_t)ndim);
    for (uint32_t i = 0; tuple && i < ndim; i++) {
        PyObject *extent = PyLong_FromUnsignedLongLong(shape[i]);
        if (!extent)
            Py_CLEAR(tuple);
        else
            PyTuple_SetItem(tuple, (Py_ssize_t)i, extent);
    }
    return tuple;
}

static hg_tensor *tensor_of(PyObject *self) { return ((py_array *)self)->tensor; }

/* The array of a call that made a tensor, beside self. */
static PyObject *beside(PyObject *self, hg_status status, hg_tensor *const *tensor) {
    return status == HG_OK ? py_array_new(*tensor, ((py_array *)self)->executor)
                           : py_failed(status);
}

static PyObject *array_new(PyTypeObject *type, PyObject *args, PyObject *named) {
    (void)args, (void)named;
    return PyErr_Format(PyExc_TypeError,
                        "%R: arrays are made by hologram.asarray, zeros, arange, load", type);
}

static void array_free(PyObject *object) {
    py_array *self = (py_array *)object;
    PyTypeObject *type = Py_TYPE(object);
    static PyTypeObject *last;
    static freefunc release;
    py_tensor_release(self->tensor);
    Py_XDECREF((PyObject *)self->executor);
    if (last != type) last = type, release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* ---- elements ---- */

/* An element as an object of Python. */
static PyObject *element(hg_element type, const unsigned char *bytes) {
    uint64_t size = hg_element_size(type);
    char kind = py_kind(type);
    if (kind == 'b') return PyBool_FromLong(bytes[0]);
    double value[2] = {0, 0};
    if (kind == 'f') {
        hg_status status = hg_type_to_f64((hg_type)type, bytes, value);
        return status == HG_OK ? PyFloat_FromDouble(value[0]) : py_failed(status);
    }
    if (kind == 'c') {
        for (int i = 0; i < 2; i++) {
            hg_status status = hg_type_to_f64(size == 8 ? HG_TYPE_F32 : HG_TYPE_F64,
                                              bytes + (uint64_t)i * size / 2, &value[i]);
            if (status != HG_OK) return py_failed(status);
        }
        return PyComplex_FromDoubles(value[0], value[1]);
    }
    hg_type_description about = {.size = sizeof(about)};
    hg_status status = hg_type_describe((hg_type)type, &about);
    if (status != HG_OK) return py_failed(status);
    if (size <= 8) {
        uint64_t word = 0;
        memcpy(&word, bytes, size);
        int shift = (int)(64 - 8 * size);
        return about.is_signed ? PyLong_FromLongLong((long long)(word << shift) >> shift)
                               : PyLong_FromUnsignedLongLong(word);
    }
    PyObject *method = PyObject_GetAttrString((PyObject *)&PyLong_Type, "from_bytes");
    PyObject *args = method
                         ? Py_BuildValue("(y#s)", (const char *)bytes, (Py_ssize_t)size, "little")
                         : NULL;
    PyObject *names = args ? Py_BuildValue("{s:O}", "signed", about.is_signed ? Py_True : Py_False)
                           : NULL;
    PyObject *made = names ? PyObject_Call(method, args, names) : NULL;
    Py_XDECREF(method), Py_XDECREF(args), Py_XDECREF(names);
    return made;
}

/* All elements in C order; to be freed by PyMem_Free. NULL with an exception. */
static unsigned char *elements_of(PyObject *self) {
    hg_tensor *tensor = tensor_of(self);
    uint64_t count = hg_tensor_numel(tensor), size = hg_element_size(hg_tensor_type(tensor));
    unsigned char *bytes = PyMem_Malloc((size_t)(count * size + 1));
    if (!bytes) return (unsigned char *)PyErr_NoMemory();
    hg_status status;
    py_long work;
    bool raised = PY_CALL(work, py_is_short(((py_array *)self)->executor, count), status, "reading",
                          hg_tensor_to_host(tensor, bytes, count));
    if (status == HG_OK && !raised) return bytes;
    PyMem_Free(bytes);
    return raised ? NULL : (unsigned char *)py_failed(status);
}

PyDoc_STRVAR(item_doc,
             "item() -> the only element, as a bool, int, float or complex number of Python.");
static PyObject *array_item(PyObject *self, PyObject *none) {
    (void)none;
    hg_tensor *tensor = tensor_of(self);
    if (hg_tensor_numel(tensor) != 1)
        return PyErr_Format(PyExc_ValueError,
                            "an array of %llu elements has no single value: index it, or reduce it "
                            "by any() or all()",
                            (unsigned long long)hg_tensor_numel(tensor));
    unsigned char bytes[512];
    hg_status status;
    py_long work;
    if (PY_CALL(work, py_is_short(((py_array *)self)->executor, 1), status, "reading",
                hg_tensor_to_host(tensor, bytes, 1)))
        return NULL;
    return status == HG_OK ? element(hg_tensor_type(tensor), bytes) : py_failed(status);
}

static PyObject *nested(const uint64_t *shape, uint32_t ndim, hg_element type,
                        const unsigned char **at) {
    if (!ndim) {
        PyObject *one = element(type, *at);
        *at += hg_element_size(type);
        return one;
    }
    PyObject *list = PyList_New((Py_ssize_t)shape[0]);
    for (uint64_t i = 0; list && i < shape[0]; i++) {
        PyObject *inner = nested(shape + 1, ndim - 1, type, at);
        if (!inner)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, inner);
    }
    return list;
}

PyDoc_STRVAR(tolist_doc,
             "tolist() -> the elements as nested lists; of an array without axes the element.");
static PyObject *array_tolist(PyObject *self, PyObject *none) {
    (void)none;
    hg_tensor *tensor = tensor_of(self);
    unsigned char *bytes = elements_of(self);
    if (!bytes) return NULL;
    const unsigned char *at = bytes;
    PyObject *list = nested(hg_tensor_shape(tensor), hg_tensor_ndim(tensor), hg_tensor_type(tensor),
                            &at);
    PyMem_Free(bytes);
    return list;
}

PyDoc_STRVAR(tobytes_doc, "tobytes() -> the elements in C order as bytes.");
static PyObject *array_tobytes(PyObject *self, PyObject *none) {
    (void)none;
    unsigned char *bytes = elements_of(self);
    if (!bytes) return NULL;
    hg_tensor *tensor = tensor_of(self);
    PyObject *made = PyBytes_FromStringAndSize(
        (const char *)bytes,
        (Py_ssize_t)(hg_tensor_numel(tensor) * hg_element_size(hg_tensor_type(tensor))));
    PyMem_Free(bytes);
    return made;
}

static int array_bool(PyObject *self) {
    PyObject *value = array_item(self, NULL);
    int truth = value ? PyObject_IsTrue(value) : -1;
    Py_XDECREF(value);
    return truth;
}

static PyObject *through(PyObject *self, PyObject *(*convert)(PyObject *)) {
    PyObject *value = array_item(self, NULL), *made = value ? convert(value) : NULL;
    Py_XDECREF(value);
    return made;
}
static PyObject *array_int(PyObject *self) { return through(self, PyNumber_Long); }
static PyObject *array_float(PyObject *self) { return through(self, PyNumber_Float); }
static PyObject *array_index(PyObject *self) {
    char kind = py_kind(hg_tensor_type(tensor_of(self)));
    if (hg_tensor_ndim(tensor_of(self)) || kind != 'i')
        return PyErr_Format(PyExc_TypeError, "only an array of integers without axes is an index");
    return array_item(self, NULL);
}
static PyObject *array_complex(PyObject *self, PyObject *none) {
    PyObject *value = array_item(self, none),
             *made = value ? PyObject_CallFunctionObjArgs((PyObject *)&PyComplex_Type, value, NULL)
                           : NULL;
    Py_XDECREF(value);
    return made;
}

/* ---- operators ---- */

static PyObject *two(hg_operation operation, PyObject *a, PyObject *b) {
    PyObject *operands[2] = {a, b};
    return py_operate(operation, operands, 2, NULL, NULL, NULL, false);
}
static PyObject *one(hg_operation operation, PyObject *a) {
    return py_operate(operation, &a, 1, NULL, NULL, NULL, true);
}
/* a = a operation b in a's memory, whose type must stay. */
static PyObject *in_place(hg_operation operation, PyObject *a, PyObject *b) {
    PyObject *operands[2] = {a, b};
    return py_operate(operation, operands, 2, NULL, a, NULL, false);
}

#define TWO(name, ID)                                                                  \
    static PyObject *name(PyObject *a, PyObject *b) { return two(HG_OPS_##ID, a, b); } \
    static PyObject *name##_in(PyObject *a, PyObject *b) { return in_place(HG_OPS_##ID, a, b); }
TWO(array_add, ADD)
TWO(array_sub, SUB)
TWO(array_mul, MUL)
TWO(array_div, DIV)
TWO(array_floor_divide, FLOOR_DIVIDE)
TWO(array_remainder, REMAINDER)
TWO(array_and, BITWISE_AND)
TWO(array_or, BITWISE_OR)
TWO(array_xor, BITWISE_XOR)
TWO(array_left, BITWISE_LEFT_SHIFT)
TWO(array_right, BITWISE_RIGHT_SHIFT)
TWO(array_matmul, MATMUL)
static PyObject *array_pow(PyObject *a, PyObject *b, PyObject *modulo) {
    if (modulo != Py_None) return PyErr_Format(PyExc_TypeError, "pow of arrays takes no modulus");
    return two(HG_OPS_POW, a, b);
}
static PyObject *array_pow_in(PyObject *a, PyObject *b, PyObject *modulo) {
    if (modulo != Py_None) return PyErr_Format(PyExc_TypeError, "pow of arrays takes no modulus");
    return in_place(HG_OPS_POW, a, b);
}
static PyObject *array_neg(PyObject *a) { return one(HG_OPS_NEG, a); }
static PyObject *array_pos(PyObject *a) { return one(HG_OPS_POSITIVE, a); }
static PyObject *array_abs(PyObject *a) { return one(HG_OPS_ABS, a); }
static PyObject *array_invert(PyObject *a) { return one(HG_OPS_BITWISE_INVERT, a); }
static PyObject *array_compare(PyObject *a, PyObject *b, int how) {
    static const hg_operation operations[] = {
        [Py_LT] = HG_OPS_LESS,      [Py_LE] = HG_OPS_LESS_EQUAL, [Py_EQ] = HG_OPS_EQUAL,
        [Py_NE] = HG_OPS_NOT_EQUAL, [Py_GT] = HG_OPS_GREATER,    [Py_GE] = HG_OPS_GREATER_EQUAL};
    return two(operations[how], a, b);
}

/* ---- indices ---- */

static Py_ssize_t array_length(PyObject *self) {
    if (!hg_tensor_ndim(tensor_of(self))) {
        PyErr_SetString(PyExc_TypeError, "an array without axes has no length");
        return -1;
    }
    return (Py_ssize_t)hg_tensor_shape(tensor_of(self))[0];
}

static bool is_basic(PyObject *key) {
    return PyLong_CheckExact(key) || PySlice_Check(key) || key == Py_None || key == Py_Ellipsis ||
           (!PyBool_Check(key) && !py_is_array(key) && PyIndex_Check(key) &&
            !PyObject_HasAttrString(key, "shape"));
}

static bool slice_part(PyObject *slice, const char *name, int64_t otherwise, int64_t *value) {
    PyObject *part = PyObject_GetAttrString(slice, name);
    *value = otherwise;
    if (part && part != Py_None) {
        PyObject *index = PyNumber_Index(part);
        int over = 0;
        *value = index ? PyLong_AsLongLongAndOverflow(index, &over) : 0;
        if (over) *value = over > 0 ? INT64_MAX : INT64_MIN;
        Py_XDECREF(index);
    }
    Py_XDECREF(part);
    return !PyErr_Occurred();
}

/* A view by integers, slices, None and an ellipsis. 1: *view is a tensor of the caller's, 0: the
 * key is of another kind, -1: an exception. */
static int basic_view(PyObject *self, PyObject *key, hg_tensor **view) {
    hg_tensor *tensor = tensor_of(self);
    PyObject *single[1] = {key}, *parts[2 * HG_TENSOR_AXES + 2];
    Py_ssize_t count = 1;
    if (PyTuple_Check(key)) {
        count = PyTuple_Size(key);
        if (count > 2 * HG_TENSOR_AXES + 2) {
            PyErr_Format(PyExc_IndexError, "%zd indices for an array of %u axes", count,
                         (unsigned)hg_tensor_ndim(tensor));
            return -1;
        }
        for (Py_ssize_t i = 0; i < count; i++) parts[i] = PyTuple_GetItem(key, i);
    } else
        parts[0] = single[0];
    uint32_t ndim = hg_tensor_ndim(tensor), used = 0;
    bool ellipsis = false;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!is_basic(parts[i])) return 0;
        if (parts[i] == Py_Ellipsis) {
            if (ellipsis) {
                PyErr_SetString(PyExc_IndexError, "an index can have only one ellipsis ('...')");
                return -1;
            }
            ellipsis = true;
        } else if (parts[i] != Py_None)
            used++;
    }
    if (used > ndim) {
        PyErr_Format(PyExc_IndexError, "too many indices: %u for an array of %u axes",
                     (unsigned)used, (unsigned)ndim);
        return -1;
    }
    hg_tensor *now = hg_tensor_retain(tensor);
    int32_t axis = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *part = parts[i];
        hg_tensor *next = NULL;
        hg_status status = HG_OK;
        if (part == Py_Ellipsis) {
            axis += (int32_t)(ndim - used);
            continue;
        }
        if (part == Py_None)
            status = hg_tensor_unsqueeze(now, axis++, &next);
        else if (PySlice_Check(part)) {
            int64_t step, start, stop;
            if (!slice_part(part, "step", 1, &step)) goto failed;
            if (step == 0) {
                PyErr_SetString(PyExc_ValueError, "slice step cannot be zero");
                goto failed;
            }
            if (!slice_part(part, "start", step > 0 ? 0 : INT64_MAX, &start) ||
                !slice_part(part, "stop", step > 0 ? INT64_MAX : INT64_MIN, &stop))
                goto failed;
            int32_t at = axis++;
            if (step == 1 && start == 0 && stop == INT64_MAX) continue;
            status = hg_tensor_slice(now, at, start, stop, step, &next);
        } else {
            PyObject *number = PyNumber_Index(part);
            int64_t index = number ? PyLong_AsLongLong(number) : -1;
            Py_XDECREF(number);
            if (index == -1 && PyErr_Occurred()) goto failed;
            int64_t extent = (int64_t)hg_tensor_shape(now)[axis];
            if (index < -extent || index >= extent) {
                PyErr_Format(PyExc_IndexError,
                             "index %lld is out of bounds for axis %d with size %lld",
                             (long long)index, (int)axis, (long long)extent);
                goto failed;
            }
            status = hg_tensor_select(now, axis, index, &next);
        }
        if (status != HG_OK) {
            py_failed(status);
            goto failed;
        }
        hg_tensor_release(now);
        now = next;
    }
    *view = now;
    return 1;
failed:
    hg_tensor_release(now);
    return -1;
}

static PyObject *array_subscript(PyObject *self, PyObject *key) {
    hg_tensor *view;
    int basic = basic_view(self, key, &view);
    if (basic < 0) return NULL;
    if (basic) return py_array_new(view, ((py_array *)self)->executor);
    return PyObject_CallFunctionObjArgs(hooks.index, self, key, NULL);
}

static PyObject *array_sequence_item(PyObject *self, Py_ssize_t index) {
    if (!hg_tensor_ndim(tensor_of(self)))
        return PyErr_Format(PyExc_TypeError, "iteration over an array without axes");
    if (index < 0 || (uint64_t)index >= hg_tensor_shape(tensor_of(self))[0])
        return PyErr_Format(PyExc_IndexError, "array index out of range");
    hg_tensor *view;
    return beside(self, hg_tensor_select(tensor_of(self), 0, index, &view), &view);
}

/* Writes a value, cast and broadcast, into a view. */
static int write_into(PyObject *self, hg_tensor *view, PyObject *value) {
    py_executor *executor = ((py_array *)self)->executor;
    hg_tensor *from = NULL, *wide = NULL;
    PyObject *held = NULL;
    int result = -1;
    hg_element type = hg_tensor_type(view);
    if (py_is_number(value)) {
        from = py_number(value, type, executor);
        if (!from) return -1;
    } else {
        if (!py_is_array(value)) {
            held = PyObject_CallFunctionObjArgs(hooks.as_array, value, (PyObject *)executor, NULL);
            if (!held) return -1;
            if (!py_is_array(held)) {
                PyErr_Format(PyExc_TypeError,
                             "elements of an array: expected an array or a number, not %R",
                             Py_TYPE(value));
                goto done;
            }
            value = held;
        }
        from = hg_tensor_retain(tensor_of(value));
    }
    if (py_kind(hg_tensor_type(from)) == 'c' && py_kind(type) != 'c') {
        PyErr_Format(PyExc_TypeError, "complex numbers do not fit an array of %s",
                     hg_element_name(type));
        goto done;
    }
    hg_status status = hg_tensor_broadcast_to(from, hg_tensor_shape(view), hg_tensor_ndim(view),
                                              &wide);
    if (status == HG_OK) {
        hg_ops_options options = hg_ops_defaults();
        options.type = type;
        const hg_tensor *inputs[1] = {wide};
        hg_tensor *targets[1] = {view};
        Py_BEGIN_ALLOW_THREADS status = hg_ops_call_into(executor->handle, HG_OPS_CAST, inputs, 1,
                                                         &options, targets, 1);
        Py_END_ALLOW_THREADS
    }
    if (status != HG_OK)
        py_failed(status);
    else
        result = 0;
done:
    hg_tensor_release(wide), hg_tensor_release(from);
    Py_XDECREF(held);
    return result;
}

static int array_assign(PyObject *self, PyObject *key, PyObject *value) {
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "elements of an array cannot be deleted");
        return -1;
    }
    hg_tensor *view;
    int basic = basic_view(self, key, &view);
    if (basic < 0) return -1;
    if (basic) {
        int result = write_into(self, view, value);
        hg_tensor_release(view);
        return result;
    }
    PyObject *none = PyObject_CallFunctionObjArgs(hooks.assign, self, key, value, NULL);
    Py_XDECREF(none);
    return none ? 0 : -1;
}

/* ---- views ---- */

static int sizes_of(PyObject *const *args, Py_ssize_t count, int64_t *values, const char *what) {
    if (count == 1) return py_integers(args[0], values, HG_TENSOR_AXES, what);
    PyObject *tuple = PyTuple_New(count);
    if (!tuple) return -1;
    for (Py_ssize_t i = 0; i < count; i++) PyTuple_SetItem(tuple, i, Py_NewRef(args[i]));
    int n = py_integers(tuple, values, HG_TENSOR_AXES, what);
    Py_DECREF(tuple);
    return n;
}

/* Whether a call that copies the elements only where they do not lie in C order is over at once. */
static bool copies_shortly(PyObject *self) {
    const hg_tensor *tensor = tensor_of(self);
    return hg_tensor_is_contiguous(tensor) ||
           py_is_short(((py_array *)self)->executor, hg_tensor_numel(tensor));
}

PyDoc_STRVAR(reshape_doc, "reshape(shape): the elements in C order in another shape, one extent of "
                          "which may be -1; a view where strides allow it.");
static PyObject *array_reshape(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    int64_t shape[HG_TENSOR_AXES];
    int n = sizes_of(args, count, shape, "shape");
    if (n < 0) return NULL;
    for (int i = 0; i < n; i++)
        if (shape[i] < -1)
            return PyErr_Format(PyExc_ValueError, "shape: an extent is %lld", (long long)shape[i]);
    hg_tensor *made = NULL;
    hg_status status;
    py_long work;
    if (PY_CALL(work, copies_shortly(self), status, "copying",
                hg_tensor_reshape(tensor_of(self), (const uint64_t *)shape, (uint32_t)n, &made))) {
        hg_tensor_release(made);
        return NULL;
    }
    return beside(self, status, &made);
}

PyDoc_STRVAR(broadcast_doc,
             "broadcast_to(shape): a view with axes in front and extents of 1 repeated.");
static PyObject *array_broadcast(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    int64_t shape[HG_TENSOR_AXES];
    int n = sizes_of(args, count, shape, "shape");
    if (n < 0) return NULL;
    for (int i = 0; i < n; i++)
        if (shape[i] < 0)
            return PyErr_Format(PyExc_ValueError, "shape: an extent is %lld", (long long)shape[i]);
    hg_tensor *made;
    return beside(
        self, hg_tensor_broadcast_to(tensor_of(self), (const uint64_t *)shape, (uint32_t)n, &made),
        &made);
}

/* An axis for the library, which refuses what is none: beyond 32 bits is none either. */
static int32_t axis_of(int64_t value) {
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

PyDoc_STRVAR(permute_doc, "permute(axes): a view whose axis i is axis axes[i].");
static PyObject *array_permute(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    int64_t axes[HG_TENSOR_AXES];
    int32_t order[HG_TENSOR_AXES];
    int n = sizes_of(args, count, axes, "axes");
    if (n < 0) return NULL;
    for (int i = 0; i < n; i++) order[i] = axis_of(axes[i]);
    hg_tensor *made;
    return beside(self, hg_tensor_permute(tensor_of(self), order, (uint32_t)n, &made), &made);
}

PyDoc_STRVAR(flip_doc, "flip(axes): a view with these axes backwards; without axes all.");
static PyObject *array_flip(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    int64_t axes[HG_TENSOR_AXES];
    int32_t dims[HG_TENSOR_AXES];
    int n = count ? sizes_of(args, count, axes, "axes") : 0;
    if (n < 0) return NULL;
    for (int i = 0; i < n; i++) dims[i] = axis_of(axes[i]);
    hg_tensor *made;
    return beside(self, hg_tensor_flip(tensor_of(self), dims, (uint32_t)n, &made), &made);
}

static PyObject *with_integers(PyObject *self, PyObject *const *args, Py_ssize_t count, int wanted,
                               int64_t *values, const char *text) {
    if (count != wanted) return PyErr_Format(PyExc_TypeError, "expected %s", text);
    for (int i = 0; i < wanted; i++)
        if (py_integers(args[i], &values[i], 1, text) != 1)
            return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "expected %s", text);
    return self;
}

PyDoc_STRVAR(
    select_doc,
    "select(axis, index): a view without that axis, at an index; both may count from the end.");
static PyObject *array_select(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    int64_t v[2];
    hg_tensor *made;
    if (!with_integers(self, args, count, 2, v, "select(axis, index)")) return NULL;
    return beside(self, hg_tensor_select(tensor_of(self), axis_of(v[0]), v[1], &made), &made);
}
PyDoc_STRVAR(narrow_doc, "narrow(axis, start, length): a view of length elements of an axis.");
static PyObject *array_narrow(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    int64_t v[3];
    hg_tensor *made;
    if (!with_integers(self, args, count, 3, v, "narrow(axis, start, length)")) return NULL;
    return beside(
        self,
        hg_tensor_narrow(tensor_of(self), axis_of(v[0]), (uint64_t)v[1], (uint64_t)v[2], &made),
        &made);
}
PyDoc_STRVAR(unsqueeze_doc, "unsqueeze(axis): a view with an axis of 1 there.");
static PyObject *array_unsqueeze(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    int64_t v[1];
    hg_tensor *made;
    if (!with_integers(self, args, count, 1, v, "unsqueeze(axis)")) return NULL;
    int64_t ndim = (int64_t)hg_tensor_ndim(tensor_of(self));
    if (v[0] < 0) v[0] += ndim + 1;
    return beside(self, hg_tensor_unsqueeze(tensor_of(self), axis_of(v[0]), &made), &made);
}
PyDoc_STRVAR(squeeze_doc, "squeeze(axis): a view without that axis, whose extent is 1.");
static PyObject *array_squeeze(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    int64_t v[1];
    hg_tensor *made;
    if (!with_integers(self, args, count, 1, v, "squeeze(axis)")) return NULL;
    return beside(self, hg_tensor_squeeze(tensor_of(self), axis_of(v[0]), &made), &made);
}
PyDoc_STRVAR(move_doc, "move_axis(source, destination): a view with one axis at another place.");
static PyObject *array_move(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    int64_t v[2];
    hg_tensor *made;
    if (!with_integers(self, args, count, 2, v, "move_axis(source, destination)")) return NULL;
    return beside(self, hg_tensor_move_axis(tensor_of(self), axis_of(v[0]), axis_of(v[1]), &made),
                  &made);
}
PyDoc_STRVAR(transpose_doc, "transpose(): a view with the last two axes swapped.");
static PyObject *array_transpose(PyObject *self, PyObject *none) {
    (void)none;
    hg_tensor *made;
    return beside(self, hg_tensor_transpose(tensor_of(self), &made), &made);
}
PyDoc_STRVAR(contiguous_doc,
             "contiguous(): the array itself where its elements lie in C order, else a copy.");
static PyObject *array_contiguous(PyObject *self, PyObject *none) {
    (void)none;
    hg_tensor *made = NULL;
    hg_status status;
    py_long work;
    if (PY_CALL(work, copies_shortly(self), status, "copying",
                hg_tensor_contiguous(tensor_of(self), &made))) {
        hg_tensor_release(made);
        return NULL;
    }
    return beside(self, status, &made);
}
PyDoc_STRVAR(lazy_doc,
             "lazy(): the same array, whose operations are recorded until an element is read.");
static PyObject *array_lazy(PyObject *self, PyObject *none) {
    (void)none;
    hg_tensor *made;
    py_long_lazy();
    return beside(self, hg_tensor_lazy(tensor_of(self), &made), &made);
}
PyDoc_STRVAR(to_doc, "to(executor): the array there; itself where it is there already.");
static PyObject *array_to(PyObject *self, PyObject *given) {
    py_executor *executor = py_executor_of(given);
    if (!executor) return NULL;
    hg_tensor *made = NULL;
    hg_status status;
    py_long work;
    PyObject *result = NULL;
    if (PY_CALL(work, false, status, "copying",
                hg_tensor_to(tensor_of(self), executor->handle, &made)))
        hg_tensor_release(made);
    else
        result = status == HG_OK ? py_array_new(made, executor) : py_failed(status);
    Py_DECREF((PyObject *)executor);
    return result;
}

/* ---- properties ---- */

static PyObject *array_dtype(PyObject *self, void *none) {
    (void)none;
    PyObject *type = py_type_of(hg_tensor_type(tensor_of(self)));
    return type ? Py_NewRef(type) : NULL;
}
static PyObject *array_shape(PyObject *self, void *none) {
    (void)none;
    return py_extents(hg_tensor_shape(tensor_of(self)), hg_tensor_ndim(tensor_of(self)));
}
static PyObject *array_strides(PyObject *self, void *none) {
    (void)none;
    uint32_t ndim = hg_tensor_ndim(tensor_of(self));
    PyObject *tuple = PyTuple_New((Py_ssize_t)ndim);
    for (uint32_t i = 0; tuple && i < ndim; i++) {
        PyObject *stride = PyLong_FromLongLong(hg_tensor_strides(tensor_of(self))[i]);
        if (!stride)
            Py_CLEAR(tuple);
        else
            PyTuple_SetItem(tuple, (Py_ssize_t)i, stride);
    }
    return tuple;
}
static PyObject *array_ndim(PyObject *self, void *none) {
    (void)none;
    return PyLong_FromUnsignedLong(hg_tensor_ndim(tensor_of(self)));
}
static PyObject *array_size(PyObject *self, void *none) {
    (void)none;
    return PyLong_FromUnsignedLongLong(hg_tensor_numel(tensor_of(self)));
}
static PyObject *array_itemsize(PyObject *self, void *none) {
    (void)none;
    return PyLong_FromUnsignedLongLong(hg_element_size(hg_tensor_type(tensor_of(self))));
}
static PyObject *array_nbytes(PyObject *self, void *none) {
    (void)none;
    return PyLong_FromUnsignedLongLong(hg_tensor_numel(tensor_of(self)) *
                                       hg_element_size(hg_tensor_type(tensor_of(self))));
}
static PyObject *array_is_contiguous(PyObject *self, void *none) {
    (void)none;
    return PyBool_FromLong(hg_tensor_is_contiguous(tensor_of(self)));
}
static PyObject *array_executor(PyObject *self, void *none) {
    (void)none;
    return Py_NewRef((PyObject *)((py_array *)self)->executor);
}
static PyObject *array_handle(PyObject *self, void *none) {
    (void)none;
    return PyLong_FromVoidPtr(tensor_of(self));
}
static PyObject *array_reversed(PyObject *self, void *none) {
    (void)none;
    int32_t order[HG_TENSOR_AXES], ndim = (int32_t)hg_tensor_ndim(tensor_of(self));
    for (int32_t i = 0; i < ndim; i++) order[i] = ndim - 1 - i;
    hg_tensor *made;
    return beside(self, hg_tensor_permute(tensor_of(self), order, (uint32_t)ndim, &made), &made);
}
static PyObject *array_matrix_transposed(PyObject *self, void *none) {
    (void)none;
    int32_t order[HG_TENSOR_AXES], ndim = (int32_t)hg_tensor_ndim(tensor_of(self));
    if (ndim < 2)
        return PyErr_Format(PyExc_ValueError,
                            "mT: an array of at least two axes is expected, not of %d", (int)ndim);
    for (int32_t i = 0; i < ndim; i++) order[i] = i;
    order[ndim - 1] = ndim - 2, order[ndim - 2] = ndim - 1;
    hg_tensor *made;
    return beside(self, hg_tensor_permute(tensor_of(self), order, (uint32_t)ndim, &made), &made);
}

/* ---- memory for others ---- */

static const char *format_of(hg_element type) {
    static const struct {
        hg_element type;
        const char *format;
    } formats[] = {{HG_ELEMENT_BOOL, "?"}, {HG_TYPE_I8, "b"},  {HG_TYPE_U8, "B"},
                   {HG_TYPE_I16, "h"},     {HG_TYPE_U16, "H"}, {HG_TYPE_I32, "i"},
                   {HG_TYPE_U32, "I"},     {HG_TYPE_I64, "q"}, {HG_TYPE_U64, "Q"},
                   {HG_TYPE_F16, "e"},     {HG_TYPE_F32, "f"}, {HG_TYPE_F64, "d"}};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].type == type) return formats[i].format;
    if (py_kind(type) == 'c') return hg_element_size(type) == 8 ? "Zf" : "Zd";
    return NULL;
}

typedef struct exported {
    hg_dlpack_managed *managed;
    Py_ssize_t shape[HG_TENSOR_AXES], strides[HG_TENSOR_AXES];
} exported;

static void exported_free(exported *e) {
    if (e->managed && e->managed->deleter) e->managed->deleter(e->managed);
    PyMem_Free(e);
}

static int array_get_buffer(PyObject *self, Py_buffer *view, int flags) {
    py_array *array = (py_array *)self;
    hg_element type = hg_tensor_type(array->tensor);
    const char *format = format_of(type);
    view->obj = NULL;
    if (!format) {
        PyErr_Format(PyExc_BufferError,
                     "elements of %s have no form in a buffer: use tolist() or astype()",
                     hg_element_name(type));
        return -1;
    }
    if ((flags & PyBUF_WRITABLE) && !array->executor->cpu) {
        PyErr_SetString(PyExc_BufferError,
                        "the array lies on a device: others get a copy that they cannot write");
        return -1;
    }
    exported *e = PyMem_Malloc(sizeof(*e));
    if (!e) return PyErr_NoMemory(), -1;
    void *managed = NULL;
    hg_status status;
    Py_BEGIN_ALLOW_THREADS status = hg_tensor_to_dlpack(array->tensor, false, &managed);
    Py_END_ALLOW_THREADS e->managed = managed;
    if (status != HG_OK) {
        PyMem_Free(e);
        py_failed(status);
        return -1;
    }
    const hg_dlpack_tensor *t = &e->managed->tensor;
    Py_ssize_t bytes = (Py_ssize_t)hg_element_size(type), dense = bytes;
    bool contiguous = true, fortran = true;
    view->len = bytes;
    for (int i = t->ndim - 1; i >= 0; i--) {
        e->shape[i] = (Py_ssize_t)t->shape[i];
        e->strides[i] = t->strides ? (Py_ssize_t)t->strides[i] * bytes : dense;
        contiguous = contiguous && (e->shape[i] <= 1 || e->strides[i] == dense);
        dense *= e->shape[i];
        view->len *= e->shape[i];
    }
    dense = bytes;
    for (int i = 0; i < t->ndim; i++) {
        fortran = fortran && (e->shape[i] <= 1 || e->strides[i] == dense);
        dense *= e->shape[i];
    }
    if (view->len == 0) contiguous = fortran = true;
    bool wants_c = (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS ||
                   (flags & PyBUF_STRIDES) != PyBUF_STRIDES;
    if ((wants_c && !contiguous) ||
        ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !fortran) ||
        ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !contiguous && !fortran)) {
        exported_free(e);
        PyErr_SetString(PyExc_BufferError,
                        "the elements do not lie as the caller wants them: use contiguous()");
        return -1;
    }
    view->buf = (char *)t->data + t->byte_offset;
    view->itemsize = bytes;
    view->readonly = !array->executor->cpu;
    view->ndim = t->ndim;
    view->format = flags & PyBUF_FORMAT ? (char *)format : NULL;
    view->shape = flags & PyBUF_ND ? e->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? e->strides : NULL;
    view->suboffsets = NULL;
    view->internal = e;
    view->obj = Py_NewRef(self);
    return 0;
}

static void array_release_buffer(PyObject *self, Py_buffer *view) {
    (void)self;
    exported_free(view->internal);
}

static void capsule_free(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        hg_dlpack_versioned *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (managed->deleter) managed->deleter(managed);
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        hg_dlpack_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
        if (managed->deleter) managed->deleter(managed);
    }
}

PyDoc_STRVAR(
    capsule_doc,
    "dlpack_capsule(versioned): the elements for another library, shared where it can see them.");
static PyObject *array_capsule(PyObject *self, PyObject *versioned) {
    int truth = PyObject_IsTrue(versioned);
    if (truth < 0) return NULL;
    void *managed;
    hg_status status;
    Py_BEGIN_ALLOW_THREADS status = hg_tensor_to_dlpack(tensor_of(self), truth, &managed);
    Py_END_ALLOW_THREADS if (status != HG_OK) return py_failed(status);
    return PyCapsule_New(managed, truth ? "dltensor_versioned" : "dltensor", capsule_free);
}

static PyMethodDef methods[] = {
    {"item", array_item, METH_NOARGS, item_doc},
    {"tolist", array_tolist, METH_NOARGS, tolist_doc},
    {"tobytes", array_tobytes, METH_NOARGS, tobytes_doc},
    {"__complex__", array_complex, METH_NOARGS, "complex(self)"},
    {"reshape", (PyCFunction)(void (*)(void))array_reshape, METH_FASTCALL, reshape_doc},
    {"broadcast_to", (PyCFunction)(void (*)(void))array_broadcast, METH_FASTCALL, broadcast_doc},
    {"permute", (PyCFunction)(void (*)(void))array_permute, METH_FASTCALL, permute_doc},
    {"flip", (PyCFunction)(void (*)(void))array_flip, METH_FASTCALL, flip_doc},
    {"select", (PyCFunction)(void (*)(void))array_select, METH_FASTCALL, select_doc},
    {"narrow", (PyCFunction)(void (*)(void))array_narrow, METH_FASTCALL, narrow_doc},
    {"unsqueeze", (PyCFunction)(void (*)(void))array_unsqueeze, METH_FASTCALL, unsqueeze_doc},
    {"squeeze", (PyCFunction)(void (*)(void))array_squeeze, METH_FASTCALL, squeeze_doc},
    {"move_axis", (PyCFunction)(void (*)(void))array_move, METH_FASTCALL, move_doc},
    {"transpose", array_transpose, METH_NOARGS, transpose_doc},
    {"contiguous", array_contiguous, METH_NOARGS, contiguous_doc},
    {"lazy", array_lazy, METH_NOARGS, lazy_doc},
    {"to", array_to, METH_O, to_doc},
    {"dlpack_capsule", array_capsule, METH_O, capsule_doc},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef properties[] = {
    {"dtype", array_dtype, NULL, "Type of the elements.", NULL},
    {"shape", array_shape, NULL, "Extents of the axes.", NULL},
    {"strides", array_strides, NULL, "Elements from one index of an axis to the next.", NULL},
    {"ndim", array_ndim, NULL, "Number of axes.", NULL},
    {"size", array_size, NULL, "Number of elements.", NULL},
    {"itemsize", array_itemsize, NULL, "Bytes of an element.", NULL},
    {"nbytes", array_nbytes, NULL, "Bytes of all elements.", NULL},
    {"is_contiguous", array_is_contiguous, NULL, "Whether the elements lie in C order.", NULL},
    {"executor", array_executor, NULL, "Where the array lies.", NULL},
    {"handle", array_handle, NULL, "Address of the hg_tensor, for hologram._interface.", NULL},
    {"T", array_reversed, NULL, "A view with the axes in reverse order.", NULL},
    {"mT", array_matrix_transposed, NULL, "A view with the last two axes swapped.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, (void *)array_new},
                              {Py_tp_dealloc, (void *)array_free},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, properties},
                              {Py_tp_richcompare, (void *)array_compare},
                              {Py_mp_length, (void *)array_length},
                              {Py_mp_subscript, (void *)array_subscript},
                              {Py_mp_ass_subscript, (void *)array_assign},
                              {Py_sq_length, (void *)array_length},
                              {Py_sq_item, (void *)array_sequence_item},
                              {Py_bf_getbuffer, (void *)array_get_buffer},
                              {Py_bf_releasebuffer, (void *)array_release_buffer},
                              {Py_nb_bool, (void *)array_bool},
                              {Py_nb_int, (void *)array_int},
                              {Py_nb_float, (void *)array_float},
                              {Py_nb_index, (void *)array_index},
                              {Py_nb_negative, (void *)array_neg},
                              {Py_nb_positive, (void *)array_pos},
                              {Py_nb_absolute, (void *)array_abs},
                              {Py_nb_invert, (void *)array_invert},
                              {Py_nb_add, (void *)array_add},
                              {Py_nb_subtract, (void *)array_sub},
                              {Py_nb_multiply, (void *)array_mul},
                              {Py_nb_true_divide, (void *)array_div},
                              {Py_nb_floor_divide, (void *)array_floor_divide},
                              {Py_nb_remainder, (void *)array_remainder},
                              {Py_nb_power, (void *)array_pow},
                              {Py_nb_matrix_multiply, (void *)array_matmul},
                              {Py_nb_and, (void *)array_and},
                              {Py_nb_or, (void *)array_or},
                              {Py_nb_xor, (void *)array_xor},
                              {Py_nb_lshift, (void *)array_left},
                              {Py_nb_rshift, (void *)array_right},
                              {Py_nb_inplace_add, (void *)array_add_in},
                              {Py_nb_inplace_subtract, (void *)array_sub_in},
                              {Py_nb_inplace_multiply, (void *)array_mul_in},
                              {Py_nb_inplace_true_divide, (void *)array_div_in},
                              {Py_nb_inplace_floor_divide, (void *)array_floor_divide_in},
                              {Py_nb_inplace_remainder, (void *)array_remainder_in},
                              {Py_nb_inplace_power, (void *)array_pow_in},
                              {Py_nb_inplace_matrix_multiply, (void *)array_matmul_in},
                              {Py_nb_inplace_and, (void *)array_and_in},
                              {Py_nb_inplace_or, (void *)array_or_in},
                              {Py_nb_inplace_xor, (void *)array_xor_in},
                              {Py_nb_inplace_lshift, (void *)array_left_in},
                              {Py_nb_inplace_rshift, (void *)array_right_in},
                              {0, NULL}};
PyType_Spec py_array_spec = {"hologram._native.Array", (int)sizeof(py_array), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
