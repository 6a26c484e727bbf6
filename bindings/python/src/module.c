/* The module: types, operations, hooks, the record of the last error. */
#include "native.h"

#include <dlfcn.h>

py_hooks hooks;

/* Keeps a new reference in the place of what was there. */
static void keep(PyObject **place, PyObject *object) {
    PyObject *before = *place;
    Py_INCREF(object);
    *place = object;
    Py_XDECREF(before);
}

PyObject *py_failed(hg_status status) {
    if (!hooks.failed) return PyErr_Format(PyExc_RuntimeError, "%s", hg_last_error_text());
    PyObject *result = PyObject_CallFunction(hooks.failed, "i", (int)status);
    if (result) {
        Py_DECREF(result);
        PyErr_SetString(PyExc_SystemError, "an error was not raised");
    }
    return NULL;
}

PyTypeObject *py_add_type(PyObject *module, PyType_Spec *spec) {
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (!type) return NULL;
    const char *name = strrchr(spec->name, '.') + 1;
    if (PyModule_AddObjectRef(module, name, type) < 0) {
        Py_DECREF(type);
        return NULL;
    }
    return (PyTypeObject *)type;
}

static PyObject *number_or_none(uint64_t value) {
    if (value == HG_NONE) Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(value);
}

PyDoc_STRVAR(last_error_doc, "last_error() -> dict: what the library said last on this thread.");
static PyObject *last_error(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    const char *text = hg_last_error_text();
    const hg_error *e = hg_last_error();
    PyObject *dict = Py_BuildValue(
        "{s:i,s:s,s:N,s:N,s:I,s:I,s:I}", "status", (int)e->status, "status_name",
        hg_status_name(e->status), "text",
        PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"), "message",
        PyUnicode_DecodeUTF8(e->message, (Py_ssize_t)strlen(e->message), "replace"), "line",
        e->line, "column", e->column, "length", e->length);
    if (!dict) return NULL;
    char code[5] = {0};
    memcpy(code, e->code, sizeof(e->code));
    PyObject *value = PyUnicode_FromString(code);
    if (!value || PyDict_SetItemString(dict, "code", value) < 0) goto failed;
    Py_DECREF(value);
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {{"step", e->step},  {"phase", e->phase},     {"instruction", e->instruction},
                  {"lane", e->lane},  {"operand", e->operand}, {"offset", e->offset},
                  {"limit", e->limit}};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        value = number_or_none(fields[i].value);
        if (!value || PyDict_SetItemString(dict, fields[i].name, value) < 0) goto failed;
        Py_DECREF(value);
    }
    return dict;
failed:
    Py_XDECREF(value);
    Py_DECREF(dict);
    return NULL;
}

PyDoc_STRVAR(elements_doc, "elements() -> list of (code, name, bytes, kind): the types of "
                           "elements; kind is b, i, u, f or c.");
static PyObject *elements(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    PyObject *list = PyList_New(0);
    for (hg_element code = 0; list && code < ELEMENT_CODES; code++) {
        uint64_t bytes = hg_element_size(code);
        if (!bytes) continue;
        char kind = code == HG_ELEMENT_BOOL ? 'b' : 'c';
        hg_type_description about = {.size = sizeof(about)};
        if (code < HG_TYPE_COUNT && hg_type_describe((hg_type)code, &about) == HG_OK)
            kind = about.is_float ? 'f' : about.is_signed ? 'i' : 'u';
        PyObject *row = Py_BuildValue("(IsKC)", (unsigned)code, hg_element_name(code),
                                      (unsigned long long)bytes, (int)kind);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

PyDoc_STRVAR(promote_doc, "promote(a, b) -> the code of the common type of two codes, or None.");
static PyObject *promote(PyObject *module, PyObject *args) {
    (void)module;
    unsigned a, b;
    if (!PyArg_ParseTuple(args, "II", &a, &b)) return NULL;
    hg_element type = hg_element_promote(a, b);
    if (type == HG_TYPE_COUNT) Py_RETURN_NONE;
    return PyLong_FromUnsignedLong(type);
}

PyDoc_STRVAR(set_hooks_doc, "set_hooks(failed=, as_array=, index=, assign=, default_executor=, "
                            "types=, array=): called once by the package.");
static PyObject *set_hooks(PyObject *module, PyObject *args, PyObject *named) {
    (void)module;
    static char *names[] = {"failed",           "as_array", "index", "assign",
                            "default_executor", "types",    "array", NULL};
    PyObject *given[7] = {0};
    if (!PyArg_ParseTupleAndKeywords(args, named, "|$OOOOOOO", names, &given[0], &given[1],
                                     &given[2], &given[3], &given[4], &given[5], &given[6]))
        return NULL;
    PyObject **places[] = {&hooks.failed, &hooks.as_array, &hooks.index, &hooks.assign,
                           &hooks.default_executor};
    for (int i = 0; i < 5; i++)
        if (given[i]) keep(places[i], given[i]);
    if (given[5]) {
        PyObject *key, *value;
        Py_ssize_t at = 0;
        if (!PyDict_Check(given[5]))
            return PyErr_Format(PyExc_TypeError, "types: expected a dict of codes and dtypes");
        while (PyDict_Next(given[5], &at, &key, &value)) {
            unsigned long code = PyLong_AsUnsignedLong(key);
            if (PyErr_Occurred()) return NULL;
            if (code >= ELEMENT_CODES)
                return PyErr_Format(PyExc_ValueError, "types: no element type has the number %lu",
                                    code);
            keep(&hooks.types[code], value);
        }
    }
    if (given[6]) {
        if (!PyType_Check(given[6]) || !PyType_IsSubtype((PyTypeObject *)given[6], py_array_type))
            return PyErr_Format(PyExc_TypeError, "array: expected a subclass of native.Array");
        keep((PyObject **)&hooks.array, given[6]);
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(forget_doc, "forget_launches(): the default executor is another from now on.");
static PyObject *forget(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    py_forget_launches();
    Py_RETURN_NONE;
}

PyDoc_STRVAR(library_doc, "library() -> the path of the library that the extension has loaded.");
static PyObject *library(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    Dl_info info;
    if (!dladdr((void *)hg_last_error_text, &info))
        return PyErr_Format(PyExc_ImportError, "hologram: the library is not found in the process");
    return PyUnicode_DecodeFSDefault(info.dli_fname);
}

static PyMethodDef functions[] = {{"library", library, METH_NOARGS, library_doc},
                                  {"forget_launches", forget, METH_NOARGS, forget_doc},
                                  {"last_error", last_error, METH_NOARGS, last_error_doc},
                                  {"elements", elements, METH_NOARGS, elements_doc},
                                  {"promote", promote, METH_VARARGS, promote_doc},
                                  {"set_hooks", (PyCFunction)(void (*)(void))set_hooks,
                                   METH_VARARGS | METH_KEYWORDS, set_hooks_doc},
                                  {NULL, NULL, 0, NULL}};

static int run(PyObject *module) {
    static bool made;
    if (made) {
        PyErr_SetString(PyExc_ImportError, "hologram: one interpreter of a process may import it");
        return -1;
    }
    py_executor_type = py_add_type(module, &py_executor_spec);
    py_array_type = py_executor_type ? py_add_type(module, &py_array_spec) : NULL;
    py_launch_type = py_array_type ? py_add_type(module, &py_launch_spec) : NULL;
    py_dispatcher_type = py_launch_type ? py_add_type(module, &py_dispatcher_spec) : NULL;
    if (!py_dispatcher_type || py_add_operations(module) < 0 ||
        PyModule_AddFunctions(module, py_makers) < 0 ||
        PyModule_AddFunctions(module, py_long_functions) < 0)
        return -1;
    hooks.array = py_array_type;
    Py_INCREF((PyObject *)hooks.array);
    made = true;
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)run}, {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "hologram._native",
                                        "Arrays, operators and launches of Hologram.",
                                        0,
                                        functions,
                                        slots,
                                        NULL,
                                        NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }
