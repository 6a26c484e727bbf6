"""Tensors of the library for test scripts: NumPy arrays in and out, operations by their names.
Needs HG_SOURCE_DIR and HG_BUILD_DIR, or stands in the sources of the project."""
import ctypes as C
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("HG_SOURCE_DIR") or os.path.join(HERE, "..", "..")
BUILD = os.environ.get("HG_BUILD_DIR") or os.path.join(SOURCE, "build", "release")
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

try:
    import numpy as np
except ImportError:
    checks.skip("NumPy is not installed (Debian package python3-numpy)")
    sys.exit(checks.finish())

lib = C.CDLL(os.path.join(BUILD, "libhologram.so"))
lib.hg_last_error_text.restype = C.c_char_p
lib.hg_tensor_shape.restype = C.POINTER(C.c_uint64)
lib.hg_tensor_ndim.restype = C.c_uint32
lib.hg_tensor_type.restype = C.c_uint32
lib.hg_element_from_name.restype = C.c_bool

NAMES = {"?": "bool", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64", "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "f2": "f16", "f4": "f32", "f8": "f64", "c8": "complex64", "c16": "complex128"}


def element(name):
    value = C.c_uint32()
    assert lib.hg_element_from_name(name.encode(), C.byref(value)), name
    return value.value


ELEMENTS = {np.dtype(key): element(name) for key, name in NAMES.items()}
TYPES = {value: key for key, value in ELEMENTS.items()}
REAL = [dtype for dtype in ELEMENTS if dtype.kind != "c"]


class Refused(Exception):
    pass


def check(status):
    if status:
        raise Refused(lib.hg_last_error_text().decode(errors="replace"))


class Options(C.Structure):
    _fields_ = [("size", C.c_size_t), ("type", C.c_uint32), ("axes", C.POINTER(C.c_int64)), ("axis_count", C.c_uint32), ("keepdims", C.c_bool), ("flag", C.c_bool),
                ("sizes", C.POINTER(C.c_uint64)), ("size_count", C.c_uint32), ("numbers", C.c_double * 4)]


def options(type=None, axes=None, keepdims=False, flag=False, sizes=None, numbers=()):
    o = Options(size=C.sizeof(Options), type=24 if type is None else ELEMENTS[np.dtype(type)], keepdims=keepdims, flag=flag)
    if axes is not None:
        axes = [axes] if np.isscalar(axes) else list(axes)
        o.axes, o.axis_count = (C.c_int64 * max(len(axes), 1))(*axes), len(axes)
    if sizes is not None:
        o.sizes, o.size_count = (C.c_uint64 * max(len(sizes), 1))(*sizes), len(sizes)
    for i, number in enumerate(numbers):
        o.numbers[i] = number
    return o


class Tensor:
    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        lib.hg_tensor_release(self.handle)

    def take(self):
        """Its handle, which is the caller's now."""
        handle, self.handle = self.handle, C.c_void_p()
        return handle

    def numpy(self):
        shape = lib.hg_tensor_shape(self.handle)
        a = np.empty([shape[i] for i in range(lib.hg_tensor_ndim(self.handle))], TYPES[lib.hg_tensor_type(self.handle)])
        check(lib.hg_tensor_to_host(self.handle, a.ctypes.data_as(C.c_void_p), C.c_uint64(a.size)))
        return a

    def view(self, call, *arguments):
        handle = C.c_void_p()
        check(getattr(lib, call)(self.handle, *arguments, C.byref(handle)))
        return Tensor(handle)


class Executor:
    def __init__(self, backend="cpu"):
        self.handle = C.c_void_p()
        check(lib.hg_ffi_new_executor_with_backend(backend.encode(), C.byref(self.handle)))

    def tensor(self, array):
        handle, shape, array = C.c_void_p(), (C.c_uint64 * max(array.ndim, 1))(*array.shape), np.array(array, order="C")
        check(lib.hg_tensor_from_host(self.handle, ELEMENTS[array.dtype], array.ctypes.data_as(C.c_void_p), C.c_uint64(array.size), shape, array.ndim, C.byref(handle)))
        return Tensor(handle)

    def layout(self, recipe):
        """The tensor of a Layout."""
        tensor = self.tensor(recipe.base)
        for step, *given in recipe.steps:
            if step == "permute":
                tensor = tensor.view("hg_tensor_permute", (C.c_int32 * max(len(given[0]), 1))(*given[0]), C.c_uint32(len(given[0])))
            elif step == "slice":
                tensor = tensor.view("hg_tensor_slice", C.c_int32(given[0]), *(C.c_int64(x) for x in given[1:]))
            else:
                tensor = tensor.view("hg_tensor_broadcast_to", (C.c_uint64 * max(len(given[0]), 1))(*given[0]), C.c_uint32(len(given[0])))
        return tensor

    def call(self, name, inputs, results=1, **given):
        operation, out = C.c_int(), (C.c_void_p * results)()
        check(lib.hg_ops_find(name.encode(), C.byref(operation)))
        handles = (C.c_void_p * max(len(inputs), 1))(*[i.handle.value for i in inputs])
        o = options(**given)
        check(lib.hg_ops_call(self.handle, operation, handles, len(inputs), C.byref(o), out, results))
        return [Tensor(C.c_void_p(handle)) for handle in out]

    def scope(self):
        return Scope(self)


class Layout:
    """An array, and views of it, the same for NumPy (`array`) and for the library."""

    def __init__(self, random, make, shape, plain=False):
        """make(shape): the elements that the views are of; the last one has the shape."""
        order = list(range(len(shape)))
        self.steps, base, cut, repeated = [], list(shape), [None] * len(shape), False
        if not plain:
            for d, n in enumerate(shape):
                kind = random.integers(0, 5)
                if kind == 0:
                    cut[d] = (n - 1, -(2 ** 63), -1) if n else (0, 2 ** 63 - 1, 1)
                elif kind == 1:
                    base[d], cut[d] = n * 2 + 1, (1, 2 ** 63 - 1, 2)
                elif kind == 2 and n and random.integers(0, 3) == 0:
                    base[d], repeated = 1, True
            order = [int(i) for i in random.permutation(len(shape))] if random.integers(0, 2) else order
        self.base = make([base[i] for i in order])
        if order != sorted(order):
            self.steps.append(("permute", [order.index(d) for d in range(len(shape))]))
        self.steps += [("slice", d, *c) for d, c in enumerate(cut) if c]
        if repeated:
            self.steps.append(("broadcast", list(shape)))
        self.array = self.base
        for step, *given in self.steps:
            if step == "permute":
                self.array = self.array.transpose(given[0])
            elif step == "slice":
                stop = None if abs(given[2]) >= 2 ** 63 - 1 else given[2]
                self.array = self.array[(slice(None),) * given[0] + (slice(given[1], stop, given[3]),)]
            else:
                self.array = np.broadcast_to(self.array, given[0])


class Scope:
    def __init__(self, executor):
        self.executor = executor

    def __enter__(self):
        self.handle = C.c_void_p()
        check(lib.hg_scope_begin(self.executor.handle, C.byref(self.handle)))

    def __exit__(self, kind, value, trace):
        check(lib.hg_scope_end(self.handle))
