/* Operations: operands that are arrays, numbers of Python, or what becomes an array; one function
 * for each operation of the library. */
#include "native.h"

static const struct {
    uint32_t least, most, results;
} rows[HG_OPS_COUNT] = {
#define OPERATION(id, name, least, most, results, function, about) {least, most, results},
#include <hologram/operations.def>
#undef OPERATION
};

/* ---- numbers ---- */

bool py_is_number(PyObject *object) {
    return PyLong_Check(object) || PyFloat_CheckExact(object) || PyBool_Check(object) ||
           PyComplex_CheckExact(object);
}

char py_kind(hg_element type) {
    if (type == HG_ELEMENT_BOOL) return 'b';
    if (type >= HG_TYPE_COUNT) return 'c';
    hg_type_description about = {.size = sizeof(about)};
    return hg_type_describe((hg_type)type, &about) != HG_OK || !about.is_float ? 'i' : 'f';
}

static hg_element named(const char *name) {
    hg_element type = HG_TYPE_COUNT;
    return hg_element_from_name(name, &type) ? type : HG_TYPE_COUNT;
}

/* The type that a number has beside arrays of a type: its own kind's only where that is the higher
 * one. */
static hg_element number_type(PyObject *number, hg_element arrays) {
    char kind = arrays == HG_TYPE_COUNT ? 0 : py_kind(arrays);
    if (PyBool_Check(number)) return HG_ELEMENT_BOOL;
    if (PyLong_Check(number)) return kind == 0 || kind == 'b' ? (hg_element)HG_TYPE_I64 : arrays;
    if (PyFloat_Check(number)) return kind == 'f' || kind == 'c' ? arrays : (hg_element)HG_TYPE_F64;
    if (kind == 'c') return arrays;
    return named(kind == 'f' && hg_element_size(arrays) < 8 ? "complex64" : "complex128");
}

/* The element that a number is, as bytes; false with an exception. */
bool py_number_bytes(PyObject *number, hg_element type, unsigned char *bytes) {
    uint64_t size = hg_element_size(type);
    char kind = py_kind(type);
    if (kind == 'c') {
        double parts[2] = {PyComplex_RealAsDouble(number), PyComplex_ImagAsDouble(number)};
        if (PyErr_Occurred()) return false;
        for (int i = 0; i < 2; i++)
            if (hg_type_from_f64(size == 8 ? HG_TYPE_F32 : HG_TYPE_F64, parts[i],
                                 bytes + (uint64_t)i * size / 2) != HG_OK)
                return py_failed(hg_last_error()->status), false;
        return true;
    }
    if (kind == 'f') {
        double value = PyFloat_AsDouble(number);
        if (value == -1.0 && PyErr_Occurred()) return false;
        if (hg_type_from_f64((hg_type)type, value, bytes) != HG_OK)
            return py_failed(hg_last_error()->status), false;
        return true;
    }
    if (kind == 'b') {
        int truth = PyObject_IsTrue(number);
        bytes[0] = truth > 0;
        return truth >= 0;
    }
    hg_type_description about = {.size = sizeof(about)};
    if (hg_type_describe((hg_type)type, &about) != HG_OK)
        return py_failed(hg_last_error()->status), false;
    if (size <= 8) {
        uint64_t value;
        bool fits;
        if (about.is_signed) {
            int over;
            long long v = PyLong_AsLongLongAndOverflow(number, &over);
            if (v == -1 && !over && PyErr_Occurred()) return false;
            int shift = (int)(64 - 8 * size);
            fits = !over && (long long)((unsigned long long)v << shift) >> shift == v;
            value = (uint64_t)v;
        } else {
            value = PyLong_AsUnsignedLongLong(number);
            fits = !(value == UINT64_MAX && PyErr_Occurred()) &&
                   (size == 8 || value >> (8 * size) == 0);
            if (!fits) {
                if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_OverflowError)) return false;
                PyErr_Clear();
            }
        }
        if (!fits) {
            PyErr_Format(PyExc_OverflowError, "%R does not fit an element of %s", number,
                         hg_element_name(type));
            return false;
        }
        memcpy(bytes, &value, size); /* little-endian, as every platform that the library knows */
        return true;
    }
    /* of int itself: a subclass may have another */
    PyObject *method = PyObject_GetAttrString((PyObject *)&PyLong_Type, "to_bytes");
    PyObject *args = method ? Py_BuildValue("(OKs)", number, (unsigned long long)size, "little")
                            : NULL;
    PyObject *names = args ? Py_BuildValue("{s:O}", "signed", about.is_signed ? Py_True : Py_False)
                           : NULL;
    PyObject *made = names ? PyObject_Call(method, args, names) : NULL;
    if (made) memcpy(bytes, PyBytes_AsString(made), size);
    Py_XDECREF(method), Py_XDECREF(args), Py_XDECREF(names), Py_XDECREF(made);
    return made != NULL;
}

/* Numbers that came last, as tensors without axes: `x * 2` in a loop makes one. Guarded by the GIL.
 */
enum { NUMBERS = 64 };
static struct {
    py_executor *executor; /* borrowed: py_forget_numbers */
    hg_tensor *tensor;
    hg_element type;
    unsigned char bytes[16];
} numbers[NUMBERS];

void py_forget_numbers(const py_executor *executor) {
    for (int i = 0; i < NUMBERS; i++)
        if (numbers[i].tensor && numbers[i].executor == executor) {
            hg_tensor_release(numbers[i].tensor);
            numbers[i].tensor = NULL;
        }
}

/* A tensor of a number, retained for the caller; NULL with an exception. */
static hg_tensor *number_tensor(PyObject *number, hg_element type, py_executor *executor) {
    unsigned char bytes[512] = {0};
    if (type == HG_TYPE_COUNT)
        return (hg_tensor *)PyErr_Format(PyExc_TypeError, "%R is of no type that arrays have",
                                         number);
    if (!py_number_bytes(number, type, bytes)) return NULL;
    uint64_t low, high;
    memcpy(&low, bytes, 8), memcpy(&high, bytes + 8, 8);
    uint64_t hash = (low ^ high << 1 ^ type ^ (uintptr_t)executor >> 4) * 0x9E3779B97F4A7C15u;
    uint32_t at = (uint32_t)(hash >> 58);
    bool kept = hg_element_size(type) <= 16;
    if (kept && numbers[at].tensor && numbers[at].executor == executor &&
        numbers[at].type == type && !memcmp(numbers[at].bytes, bytes, 16))
        return hg_tensor_retain(numbers[at].tensor);
    hg_tensor *tensor;
    hg_status status = hg_tensor_from_host(executor->handle, type, bytes, 1, NULL, 0, &tensor);
    if (status != HG_OK) return (hg_tensor *)py_failed(status);
    if (kept) {
        hg_tensor_release(numbers[at].tensor);
        numbers[at].executor = executor, numbers[at].type = type,
        numbers[at].tensor = hg_tensor_retain(tensor);
        memcpy(numbers[at].bytes, bytes, 16);
    }
    return tensor;
}

hg_tensor *py_number(PyObject *number, hg_element beside, py_executor *executor) {
    return number_tensor(number, number_type(number, beside), executor);
}

/* ---- operands ---- */

typedef struct operand_list {
    const hg_tensor *inputs[ARRAY_OPERANDS];
    hg_tensor *made[ARRAY_OPERANDS]; /* of numbers; released at the end */
    PyObject *held[ARRAY_OPERANDS];  /* arrays made of other objects */
    py_executor *executor;           /* owned */
    uint64_t elements;               /* of operands, and of arrays that receive results */
    uint64_t product;                /* of the operands' numbers of elements */
} operand_list;

static uint64_t times(uint64_t a, uint64_t b) {
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static void operands_free(operand_list *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        hg_tensor_release(list->made[i]);
        Py_XDECREF(list->held[i]);
    }
    Py_XDECREF((PyObject *)list->executor);
}

bool py_is_array(PyObject *object) {
    return Py_TYPE(object) == hooks.array || PyObject_TypeCheck(object, py_array_type);
}

static bool array_like(PyObject *object) {
    return PyObject_HasAttrString(object, "__array_interface__") ||
           PyObject_HasAttrString(object, "__dlpack__");
}

/* 1: done, 0: an operand is nothing that we know (not strict), -1: an exception. */
static int operands_take(operand_list *list, hg_operation operation, PyObject *const *operands,
                         uint32_t count, bool strict) {
    bool pending = false;
    hg_element common = HG_TYPE_COUNT;
    for (uint32_t i = 0; i < count; i++)
        if (py_is_array(operands[i]) && !list->executor) {
            list->executor = ((py_array *)operands[i])->executor;
            Py_INCREF((PyObject *)list->executor);
        }
    if (!list->executor && !(list->executor = py_executor_of(NULL))) return -1;
    for (uint32_t i = 0; i < count; i++) {
        PyObject *object = operands[i];
        if (!py_is_array(object)) {
            if (py_is_number(object)) {
                pending = true;
                continue;
            }
            if (!strict && !array_like(object)) return 0;
            object = PyObject_CallFunctionObjArgs(hooks.as_array, object,
                                                  (PyObject *)list->executor, NULL);
            if (!object) return -1;
            list->held[i] = object;
            if (!py_is_array(object)) {
                PyErr_Format(PyExc_TypeError,
                             "hologram.%s: operand %u is a %R: expected an array or a number",
                             hg_ops_name(operation), (unsigned)i + 1, Py_TYPE(operands[i]));
                return -1;
            }
        }
        list->inputs[i] = ((py_array *)object)->tensor;
        uint64_t numel = hg_tensor_numel(list->inputs[i]);
        list->elements += numel;
        list->product = times(list->product, numel);
        if (operation == HG_OPS_WHERE && i == 0) continue;
        hg_element type = hg_tensor_type(list->inputs[i]);
        common = common == HG_TYPE_COUNT ? type : hg_element_promote(common, type);
    }
    if (!pending) return 1;
    for (uint32_t i = 0; i < count; i++) {
        if (list->inputs[i]) continue;
        hg_tensor *tensor = py_number(operands[i], common, list->executor);
        if (!tensor) return -1;
        list->inputs[i] = list->made[i] = tensor;
    }
    return 1;
}

/* Whether each element of one operand may meet all of another, beyond what broadcasting says. */
static bool multiplies(hg_operation operation) {
    switch (operation) {
    case HG_OPS_OUTER:
    case HG_OPS_TENSORDOT:
    case HG_OPS_CONV1D:
    case HG_OPS_CONV2D:
    case HG_OPS_ATTENTION:
    case HG_OPS_ATTENTION_SCORES:
    case HG_OPS_EMBEDDING:
    case HG_OPS_TAKE: return true;
    default: return false;
    }
}

/* The most elements that operands and results of a call have: those of its operands, or of a result
 * that may have more. */
static uint64_t elements_of(hg_operation operation, const operand_list *list, uint32_t count,
                            const hg_ops_options *options) {
    uint64_t most = list->product;
    if (!multiplies(operation) && !py_is_small(list->executor, most)) { /* broadcast, if at all */
        uint64_t extents[HG_TENSOR_AXES] = {0};                         /* from the last axis */
        for (uint32_t i = 0; i < count; i++) {
            uint32_t ndim = hg_tensor_ndim(list->inputs[i]);
            const uint64_t *shape = hg_tensor_shape(list->inputs[i]);
            for (uint32_t axis = 0; axis < ndim; axis++)
                if (shape[ndim - 1 - axis] > extents[axis]) extents[axis] = shape[ndim - 1 - axis];
        }
        most = 1;
        for (uint32_t axis = 0; axis < HG_TENSOR_AXES; axis++)
            most = times(most, extents[axis] ? extents[axis] : 1);
    }
    for (uint32_t i = 0; options && i < options->size_count; i++) /* lengths, repetitions, padding
                                                                   */
        most = times(most, options->sizes[i] == UINT64_MAX ? UINT64_MAX : options->sizes[i] + 1);
    return most > list->elements ? most : list->elements;
}

PyObject *py_operate(hg_operation operation, PyObject *const *operands, uint32_t count,
                     const hg_ops_options *options, PyObject *out, PyObject *executor_given,
                     bool strict) {
    if (count < rows[operation].least || count > rows[operation].most || count > ARRAY_OPERANDS)
        return PyErr_Format(PyExc_TypeError, "hologram.%s: %u operands given, %u to %u expected",
                            hg_ops_name(operation), (unsigned)count,
                            (unsigned)rows[operation].least, (unsigned)rows[operation].most);
    operand_list list;
    for (uint32_t i = 0; i < count; i++)
        list.inputs[i] = NULL, list.made[i] = NULL, list.held[i] = NULL;
    list.elements = 0, list.product = 1;
    list.executor = executor_given ? py_executor_of(executor_given) : NULL;
    if (executor_given && !list.executor) return NULL;
    uint32_t results = rows[operation].results;
    hg_tensor *made[8] = {0}, *targets[8] = {0};
    PyObject *value = NULL;
    int taken = operands_take(&list, operation, operands, count, strict);
    if (taken <= 0) {
        if (taken == 0) value = Py_NewRef(Py_NotImplemented);
        goto done;
    }
    if (out) {
        for (uint32_t i = 0; i < results; i++) {
            PyObject *one = results == 1 ? out
                            : PyTuple_Check(out) && PyTuple_Size(out) == (Py_ssize_t)results
                                ? PyTuple_GetItem(out, i)
                                : NULL;
            if (!one || !py_is_array(one)) {
                PyErr_Format(PyExc_TypeError, "hologram.%s: out: expected %s, not %R",
                             hg_ops_name(operation),
                             results == 1 ? "an array" : "a tuple of arrays", Py_TYPE(out));
                goto done;
            }
            targets[i] = ((py_array *)one)->tensor;
            list.elements += hg_tensor_numel(targets[i]);
        }
    }
    hg_status status;
    py_long work;
    hg_executor *executor = list.executor->handle;
    const char *name = hg_ops_name(operation);
    uint64_t elements = elements_of(operation, &list, count, options);
    bool raised = out ? PY_CALL(work, py_is_short(list.executor, elements), status, name,
                                hg_ops_call_into(executor, operation, list.inputs, count, options,
                                                 targets, results))
                      : PY_CALL(work, py_is_small(list.executor, elements), status, name,
                                hg_ops_call(executor, operation, list.inputs, count, options, made,
                                            results));
    if (raised) {
        for (uint32_t i = 0; i < results; i++) hg_tensor_release(made[i]);
        goto done;
    }
    if (status != HG_OK) {
        py_failed(status);
        goto done;
    }
    if (out)
        value = Py_NewRef(out);
    else if (results == 1)
        value = py_array_new(made[0], list.executor);
    else {
        value = PyTuple_New((Py_ssize_t)results);
        for (uint32_t i = 0; i < results; i++) {
            PyObject *one = value ? py_array_new(made[i], list.executor)
                                  : (hg_tensor_release(made[i]), NULL);
            if (!one)
                Py_CLEAR(value);
            else
                PyTuple_SetItem(value, (Py_ssize_t)i, one);
        }
    }
done:
    operands_free(&list, count);
    py_empty_released();
    return value;
}

/* ---- one function for each ---- */

static PyMethodDef methods[HG_OPS_COUNT];
enum { OUT, TYPE, AXES, KEEPDIMS, FLAG, SIZES, NUMBERS_OF, EXECUTOR, KEYWORDS };
static PyObject *names[KEYWORDS]; /* of the keywords below */
static const char *const keyword_texts[KEYWORDS] = {"out",  "type",  "axes",    "keepdims",
                                                    "flag", "sizes", "numbers", "executor"};

int py_integers(PyObject *object, int64_t *values, int most, const char *what) {
    if (PyIndex_Check(object)) {
        PyObject *index = PyNumber_Index(object);
        values[0] = index ? PyLong_AsLongLong(index) : -1;
        Py_XDECREF(index);
        return PyErr_Occurred() ? -1 : 1;
    }
    if (!PyTuple_Check(object) && !PyList_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s: expected an integer or a tuple of integers, not %R",
                     what, Py_TYPE(object));
        return -1;
    }
    Py_ssize_t count = PySequence_Size(object);
    if (count > most) {
        PyErr_Format(PyExc_ValueError, "%s: %zd given, at most %d expected", what, count, most);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(object, i), *index = item ? PyNumber_Index(item) : NULL;
        values[i] = index ? PyLong_AsLongLong(index) : -1;
        Py_XDECREF(item), Py_XDECREF(index);
        if (PyErr_Occurred()) return -1;
    }
    return (int)count;
}

static bool truth(PyObject *object, bool *value) {
    int found = PyObject_IsTrue(object);
    *value = found > 0;
    return found >= 0;
}

static PyObject *call(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
    hg_operation operation = (hg_operation)PyLong_AsLong(self);
    if (!keywords) return py_operate(operation, args, (uint32_t)count, NULL, NULL, NULL, true);
    PyObject *given[KEYWORDS] = {0};
    for (Py_ssize_t i = 0; i < PyTuple_Size(keywords); i++) {
        PyObject *name = PyTuple_GetItem(keywords, i);
        int at = 0;
        while (at < KEYWORDS && name != names[at] && PyUnicode_Compare(name, names[at])) at++;
        if (at == KEYWORDS)
            return PyErr_Format(PyExc_TypeError, "hologram.%s: no argument is named %R",
                                hg_ops_name(operation), name);
        given[at] = args[count + i] == Py_None ? NULL : args[count + i];
    }
    hg_ops_options options = hg_ops_defaults();
    int64_t axes[2 * HG_TENSOR_AXES], sizes[64];
    if (given[TYPE] && !py_element_of(given[TYPE], &options.type)) return NULL;
    if (given[AXES]) {
        int n = py_integers(given[AXES], axes, 2 * HG_TENSOR_AXES, "axes");
        if (n < 0) return NULL;
        options.axes = axes, options.axis_count = (uint32_t)n;
    }
    if (given[SIZES]) {
        int n = py_integers(given[SIZES], sizes, 64, "sizes");
        if (n < 0) return NULL;
        options.sizes = (const uint64_t *)sizes, options.size_count = (uint32_t)n;
    }
    if (given[KEEPDIMS] && !truth(given[KEEPDIMS], &options.keepdims)) return NULL;
    if (given[FLAG] && !truth(given[FLAG], &options.flag)) return NULL;
    if (given[NUMBERS_OF]) {
        PyObject *list = given[NUMBERS_OF];
        if (!PyTuple_Check(list) || PyTuple_Size(list) > HG_OPS_NUMBERS)
            return PyErr_Format(PyExc_TypeError, "numbers: expected a tuple of at most %d",
                                HG_OPS_NUMBERS);
        for (Py_ssize_t i = 0; i < PyTuple_Size(list); i++)
            options.numbers[i] = PyFloat_AsDouble(PyTuple_GetItem(list, i));
        if (PyErr_Occurred()) return NULL;
    }
    return py_operate(operation, args, (uint32_t)count, &options, given[OUT], given[EXECUTOR],
                      true);
}

int py_add_operations(PyObject *module) {
    for (int i = 0; i < KEYWORDS; i++)
        if (!(names[i] = PyUnicode_InternFromString(keyword_texts[i]))) return -1;
    PyObject *operations = PyDict_New();
    for (int i = 0; operations && i < HG_OPS_COUNT; i++) {
        methods[i] = (PyMethodDef){hg_ops_name((hg_operation)i), (PyCFunction)(void (*)(void))call,
                                   METH_FASTCALL | METH_KEYWORDS, hg_ops_about((hg_operation)i)};
        PyObject *number = PyLong_FromLong(i),
                 *function = number ? PyCFunction_NewEx(&methods[i], number, NULL) : NULL;
        Py_XDECREF(number);
        if (!function || PyDict_SetItemString(operations, methods[i].ml_name, function) < 0)
            Py_CLEAR(operations);
        Py_XDECREF(function);
    }
    if (!operations) return -1;
    int added = PyModule_AddObjectRef(module, "operations", operations);
    Py_DECREF(operations);
    return added;
}
