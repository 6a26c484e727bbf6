"""Tensors of the library as NumPy's arrays: what the scripts here share. A tensor is made over an array's own memory, with its strides."""
import ctypes as C
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("HG_SOURCE_DIR") or os.path.join(HERE, "..", "..")
BUILD = os.environ.get("HG_BUILD_DIR") or os.path.join(SOURCE, "build", "release")
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import checks  # noqa: E402

lib = C.CDLL(os.path.join(BUILD, "libhologram.so"))
lib.hg_last_error_text.restype = C.c_char_p
lib.hg_ops_name.restype = C.c_char_p
lib.hg_tensor_numel.restype = C.c_uint64
lib.hg_tensor_shape.restype = C.POINTER(C.c_uint64)
lib.hg_tensor_strides.restype = C.POINTER(C.c_int64)

NAMES = {"int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32",
         "uint64": "u64", "float16": "f16", "float32": "f32", "float64": "f64", "bool": "bool"}


class Error(RuntimeError):
    pass


def check(status):
    if status:
        raise Error(lib.hg_last_error_text().decode(errors="replace"))


def element(dtype):
    value = C.c_uint32()
    assert lib.hg_element_from_name(NAMES[np.dtype(dtype).name].encode(), C.byref(value))
    return value.value


TYPES = {element(name): np.dtype(name) for name in NAMES}
NO_TYPE = lib.hg_element_promote(C.c_uint32(1 << 30), C.c_uint32(0))


class Options(C.Structure):
    _fields_ = [("size", C.c_size_t), ("type", C.c_uint32), ("axes", C.POINTER(C.c_int64)), ("axis_count", C.c_uint32),
                ("keepdims", C.c_bool), ("flag", C.c_bool), ("sizes", C.POINTER(C.c_uint64)), ("size_count", C.c_uint32),
                ("numbers", C.c_double * 4)]


def numbers(kind, values):
    return (kind * max(1, len(values)))(*values)


def extents(shape):
    return numbers(C.c_uint64, [int(x) for x in shape])


def options(type=None, axes=None, sizes=None, values=(), flag=False, keepdims=False):
    o = Options(size=C.sizeof(Options), type=NO_TYPE if type is None else element(type), flag=flag, keepdims=keepdims)
    if axes is not None:
        o.axes, o.axis_count = numbers(C.c_int64, axes), len(axes)
    if sizes is not None:
        o.sizes, o.size_count = numbers(C.c_uint64, [int(x) % (1 << 64) for x in sizes]), len(sizes)
    o.numbers[:len(values)] = values
    return o


class Tensor:
    """Owns one. `array`: the memory that it lies in stays."""

    def __init__(self, handle=None, array=None):
        self.handle, self.array = handle or C.c_void_p(), array

    def __del__(self):
        lib.hg_tensor_release(self.handle)

    @property
    def shape(self):
        return tuple(lib.hg_tensor_shape(self.handle)[:lib.hg_tensor_ndim(self.handle)])

    def numpy(self):
        a = np.empty(self.shape, TYPES[lib.hg_tensor_type(self.handle)])
        check(lib.hg_tensor_to_host(self.handle, a.ctypes.data_as(C.c_void_p), C.c_uint64(a.size)))
        return a


class Executor:
    def __init__(self):
        self.handle = C.c_void_p()
        check(lib.hg_executor_create_cpu(C.byref(self.handle)))

    def put(self, array):
        t = Tensor(array=array)
        strides = [s // array.itemsize for s in array.strides]
        check(lib.hg_tensor_wrap_host(self.handle, element(array.dtype), C.c_void_p(array.ctypes.data), extents(array.shape),
                                      numbers(C.c_int64, strides), array.ndim, None, None, C.byref(t.handle)))
        return t

    def call(self, name, *inputs, results=1, **how):
        o, out = C.c_int(), (C.c_void_p * results)()
        check(lib.hg_ops_find(name.encode(), C.byref(o)))
        handles = (C.c_void_p * max(1, len(inputs)))(*[t.handle for t in inputs])
        check(lib.hg_ops_call(self.handle, o, handles, len(inputs), C.byref(options(**how)), out, results))
        made = [Tensor(C.c_void_p(h)) for h in out]
        return made[0] if results == 1 else made

    def scope(self, work):
        """What work() gives, recorded and run as one."""
        scope = C.c_void_p()
        check(lib.hg_scope_begin(self.handle, C.byref(scope)))
        try:
            result = work()
        finally:
            status = lib.hg_scope_end(scope)
        check(status)
        return result


def same(got, want):
    """Type, shape and bits; a NaN is a NaN."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    if got.dtype.kind == "f":
        nan = np.isnan(got)
        return bool(np.array_equal(nan, np.isnan(want)) and got[~nan].tobytes() == want[~nan].tobytes())
    return np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()


def compare(executor, label, work, want):
    """work() gives a tensor or several; the same at once and in a scope, and as NumPy's."""
    want = want if isinstance(want, (list, tuple)) else [want]
    for how, run in (("at once", work), ("in a scope", lambda: executor.scope(work))):
        try:
            made = run()
            got = [t.numpy() for t in (made if isinstance(made, list) else [made])]
        except Error as error:
            checks.check(False, f"{label}, {how}: {str(error)[:300]}")
            continue
        good = len(got) == len(want) and all(same(g, w) for g, w in zip(got, want))
        shown = "" if good else "; ".join(f"{g.dtype} {g.shape} {g.ravel()[:8]} for {w.dtype} {w.shape} {w.ravel()[:8]}"
                                          for g, w in zip(got, want))
        checks.check(good, f"{label}, {how}: {shown}")


def refused(label, work, words):
    try:
        work()
    except Error as error:
        checks.check(words in str(error), f"{label}: '{words}' is not in: {error}")
        return
    checks.check(False, f"{label}: is not refused")


def layouts(random, dtype, shape):
    """The same elements in C order, transposed, with steps, backwards, and, where it has rows, one row repeated."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        a = random.integers(0, 2, shape).astype(dtype)
    elif kind == "f":
        a = (random.standard_normal(shape) * 8).astype(dtype)
    else:
        a = random.integers(-100 if kind == "i" else 0, 100, shape).astype(dtype)
    a = np.asarray(a)
    yield "C order", a
    if a.ndim > 1:
        yield "transposed", np.ascontiguousarray(a.T).T
        yield "repeated", np.broadcast_to(a[:1], a.shape) if a.shape[0] else a
    if a.ndim:
        wide = np.zeros([2 * n + 1 for n in shape], dtype)
        inner = wide[tuple(slice(1, 2 * n + 1, 2) for n in shape)]
        inner[...] = a
        yield "steps", inner
        yield "backwards", a[tuple(slice(None, None, -1) for _ in shape)]
