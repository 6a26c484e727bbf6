"""What scripts share that give NumPy's arrays to operations as they lie in memory: a tensor is made over an array's own, with its strides."""
import ctypes as C

import tensors
from tensors import NAMES as KINDS, Refused as Error, TYPES, check, checks, lib, np

lib.hg_ops_name.restype = C.c_char_p
lib.hg_tensor_numel.restype = C.c_uint64
lib.hg_tensor_strides.restype = C.POINTER(C.c_int64)

NAMES = {np.dtype(kind).name: name for kind, name in KINDS.items()}


def element(dtype):
    return tensors.ELEMENTS[np.dtype(dtype)]


def numbers(kind, values):
    return (kind * max(1, len(values)))(*values)


def extents(shape):
    return numbers(C.c_uint64, [int(x) for x in shape])


class Tensor(tensors.Tensor):
    """`array`: the memory that it lies in stays."""

    def __init__(self, handle=None, array=None):
        super().__init__(handle or C.c_void_p())
        self.array = array

    @property
    def shape(self):
        return tuple(lib.hg_tensor_shape(self.handle)[:lib.hg_tensor_ndim(self.handle)])


class Executor(tensors.Executor):
    def put(self, array):
        t = Tensor(array=array)
        strides = [s // array.itemsize for s in array.strides]
        check(lib.hg_tensor_wrap_host(self.handle, element(array.dtype), C.c_void_p(array.ctypes.data), extents(array.shape),
                                      numbers(C.c_int64, strides), array.ndim, None, None, C.byref(t.handle)))
        return t

    def call(self, name, *inputs, results=1, values=(), sizes=None, **how):
        sizes = sizes if sizes is None else [int(x) % (1 << 64) for x in sizes]
        made = [Tensor(t.take()) for t in super().call(name, inputs, results, numbers=values, sizes=sizes, **how)]
        return made[0] if results == 1 else made

    def scope(self, work):
        """What work() gives, recorded and run as one."""
        with super().scope():
            return work()


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
    elif kind == "c":
        a = (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)
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
