#!/usr/bin/python3
"""Complex tensors against NumPy: element-wise formulas worked out in real numbers, reductions, products, moves, Fourier transforms of any length; at once, in a
scope and into views with equal bits; every other operation refused by name.

    tests/tensors/run_complex.py [--backend B] [--seed N] [--rounds N] [GROUP...]

Last line: N passed, N failed, N skipped."""
import argparse
import ctypes as C
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tensors import ELEMENTS, Executor, Layout, Refused, Tensor, check, checks, lib, np, options  # noqa: E402

lib.hg_ops_name.restype = C.c_char_p
lib.hg_tensor_strides.restype = C.POINTER(C.c_int64)
COMPLEX = ["c8", "c16"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.5, 1e30]
UNIT = {"f4": 2.0 ** -24, "f8": 2.0 ** -53}
GROUPS = []


def group(function):
    GROUPS.append(function)
    return function


class Making:
    def __init__(self, executor, random, turn):
        self.executor, self.random, self.turn = executor, random, turn

    def elements(self, kind, special=False):
        kind = np.dtype(kind)

        def make(shape):
            if kind.kind in "bi":
                return self.random.integers(0 if kind.kind == "b" else -9, 2 if kind.kind == "b" else 9, shape).astype(kind)
            a = self.random.standard_normal(shape) + (1j * self.random.standard_normal(shape) if kind.kind == "c" else 0)
            a = np.asarray(a).astype(kind)
            if special:
                parts = a.reshape(-1).view(a.real.dtype)
                for i in range(0, parts.size, 3):
                    parts[i] = SPECIAL[self.random.integers(0, len(SPECIAL))]
            return a
        return make

    def array(self, kind, shape, special=False, plain=False):
        return Layout(self.random, self.elements(kind, special), shape, plain)

    def kind(self):
        return COMPLEX[self.random.integers(0, 2)]


def bits(a):
    return np.ascontiguousarray(a).tobytes()


def target(m, like):
    """A tensor of that type and shape over every second element, backwards."""
    shape = [2 * n + 1 for n in like.shape]
    t = m.executor.tensor(np.zeros(shape, like.dtype))
    for d in range(like.ndim):
        t = t.view("hg_tensor_slice", C.c_int32(d), C.c_int64(-2), C.c_int64(-2 ** 63), C.c_int64(-2))
    return t


def into(m, name, inputs, like, **given):
    operation, t = C.c_int(), target(m, like)
    check(lib.hg_ops_find(name.encode(), C.byref(operation)))
    handles = (C.c_void_p * max(len(inputs), 1))(*[i.handle.value for i in inputs])
    check(lib.hg_ops_call_into(m.executor.handle, operation, handles, len(inputs), C.byref(options(**given)), (C.c_void_p * 1)(t.handle.value), 1))
    return t.numpy()


def compare(m, label, name, layouts, want, bound=0.0, views=False, **given):
    """bound: how far a part may be away, in units of the parts' type times the largest result; 0: not at all, NaNs where NaNs are."""
    label = f"{name} of {', '.join(f'{x.array.dtype}{list(x.array.shape)}' for x in layouts)} {label}"
    try:
        inputs = [m.executor.layout(x) for x in layouts]
        got = m.executor.call(name, inputs, **given)[0].numpy()
        with m.executor.scope():
            recorded = m.executor.call(name, inputs, **given)
        again = recorded[0].numpy()
        written = got if views else into(m, name, inputs, got, **given)
    except Refused as error:
        checks.check(False, f"{label}: {error}")
        return
    want = np.asarray(want)
    fits = got.dtype == want.dtype and got.shape == want.shape
    checks.check(fits, f"{label}: {got.dtype} {got.shape} for {want.dtype} {want.shape}")
    if not fits:
        return
    checks.check(bits(got) == bits(again), f"{label}: other bits in a scope")
    checks.check(bits(got) == bits(written), f"{label}: other bits in a view that is given")
    parts, wanted = (np.ascontiguousarray(x).reshape(-1) for x in (got, want))
    if want.dtype.kind == "c":
        parts, wanted = parts.view(parts.real.dtype), wanted.view(wanted.real.dtype)
    if want.dtype.kind not in "cf":
        good = np.array_equal(parts, wanted)
    elif bound:
        size = np.abs(want).max(initial=1)
        good = bool((np.abs(parts - wanted) <= bound * 2 * UNIT[np.dtype(parts.dtype).str[1:]] * size).all())
    else:
        good = bool(((parts == wanted) & (np.signbit(parts) == np.signbit(wanted)) | np.isnan(parts) & np.isnan(wanted)).all())
    checks.check(good, f"{label}: {got.ravel()[:6]} for {want.ravel()[:6]} of {[x.array.ravel()[:6] for x in layouts]}")


# ---- element-wise, in real numbers ----

def pair(real, imaginary):
    made = np.empty(np.broadcast(real, imaginary).shape, np.result_type(real, np.complex64))
    made.real, made.imag = real, imaginary
    return made


def quotient(a, b):
    """Smith's method as numpy/core/src/umath/loops.c.src has it."""
    first = np.abs(b.real) >= np.abs(b.imag)
    ratio = np.where(first, b.imag / b.real, b.real / b.imag)
    scale = 1 / np.where(first, b.real + b.imag * ratio, b.imag + b.real * ratio)
    real = np.where(first, a.real + a.imag * ratio, a.real * ratio + a.imag) * scale
    imaginary = np.where(first, a.imag - a.real * ratio, a.imag * ratio - a.real) * scale
    zero = (b.real == 0) & (b.imag == 0)
    return pair(np.where(zero, a.real / np.abs(b.real), real), np.where(zero, a.imag / np.abs(b.real), imaginary))


def reciprocal(a):
    first = np.abs(a.imag) <= np.abs(a.real)
    ratio = np.where(first, a.imag / a.real, a.real / a.imag)
    below = np.where(first, a.real + a.imag * ratio, a.real * ratio + a.imag)
    one = np.ones_like(ratio)
    return pair(np.where(first, one, ratio) / below, np.where(first, -ratio, -one) / below)


BINARY = {
    "add": lambda a, b: pair(a.real + b.real, a.imag + b.imag),
    "sub": lambda a, b: pair(a.real - b.real, a.imag - b.imag),
    "mul": lambda a, b: pair(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real),
    "div": quotient,
    "equal": lambda a, b: (a.real == b.real) & (a.imag == b.imag),
    "not_equal": lambda a, b: (a.real != b.real) | (a.imag != b.imag)}
UNARY = {
    "neg": lambda a: pair(-a.real, -a.imag), "positive": lambda a: a, "conj": lambda a: pair(a.real, -a.imag), "reciprocal": reciprocal,
    "square": lambda a: pair(a.real * a.real - a.imag * a.imag, a.real * a.imag + a.imag * a.real),
    "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "logical_not": np.logical_not}


@group
def elements(m):
    shapes = [[(3, 4), (4,)], [(5,), ()], [(2, 1, 3), (2, 4, 3)], [(4,), (4,)]][m.turn % 4]
    for a, b in [("c8", "c8"), ("c16", "c16"), ("c8", "c16"), ("f4", "c8"), ("c8", "f8"), ("i4", "c8"), ("c16", "?")]:
        layouts = [m.array(a, shapes[0], True), m.array(b, shapes[1], True, m.turn % 2 == 0)]
        kind = np.result_type(a, b)
        for name, function in BINARY.items():
            compare(m, "", name, layouts, function(*(x.array.astype(kind) for x in layouts)))
        compare(m, "", "logical_and", layouts, np.logical_and(*(x.array for x in layouts)))
    for kind in COMPLEX:
        x = m.array(kind, shapes[0], True)
        for name, function in UNARY.items():
            compare(m, "", name, [x], function(x.array))
        x = m.array(kind, shapes[0])
        compare(m, "", "abs", [x], np.abs(x.array), 4)
        compare(m, "", "angle", [x], np.angle(x.array), 4)
        for condition in ("?", kind):
            c, y, z = m.array(condition, (3, 1)), m.array("f4", (4,)), m.array(kind, (3, 4))
            compare(m, "", "where", [c, y, z], np.where(c.array, y.array, z.array))
        real, imaginary = m.array("f4" if kind == "c8" else "f8", (3, 4)), m.array("f4", (4,))
        compare(m, "", "complex", [real, imaginary], pair(*np.broadcast_arrays(real.array, imaginary.array)).astype(kind))


@group
def large(m):
    """What native code does."""
    layouts = [m.array(m.kind(), (10007,), True, m.turn % 2 == 0) for _ in range(2)]
    kind = np.result_type(*(x.array for x in layouts))
    for name in ("add", "mul", "div"):
        compare(m, "", name, layouts, BINARY[name](*(x.array.astype(kind) for x in layouts)))


@group
def products(m):
    kind, n = m.kind(), [int(x) for x in m.random.integers(0, 7, 4)]
    for left, right in [((n[0], n[1]), (n[1], n[2])), ((2, n[0], n[1]), (n[1], n[2])), ((2, 1, 3, n[1]), (3, n[1], 2)), ((n[1],), (n[1], 3)), ((3, n[1]), (n[1],)),
                        ((4,), (4,))]:
        a, b = m.array(kind, left), m.array([kind, "f4"][m.turn % 2], right)
        compare(m, "", "matmul", [a, b], np.matmul(a.array, b.array), 4 * (n[1] + 8))
    a, b = m.array(kind, (n[0], 3)), m.array(kind, (3,))
    compare(m, "", "vecdot", [a, b], np.sum(a.array.conj() * b.array, -1), 64)
    a, b = m.array(kind, (n[0],)), m.array(kind, (n[1],))
    compare(m, "", "outer", [a, b], np.outer(a.array, b.array), 4)
    a, b = m.array(kind, (2, 3, n[0])), m.array(kind, (n[0], 3, 2))
    compare(m, "", "tensordot", [a, b], np.tensordot(a.array, b.array, ((0, 1), (2, 1))), 64, axes=[0, 1, 2, 1])


@group
def reductions(m):
    for shape, axes in [((3, 4, 5), None), ((3, 4, 5), [1]), ((3, 4, 5), [0, 2]), ((0, 3), [0]), ((7,), [0]), ((), None), ((1, 2, 1, 3, 2, 1, 2, 2), [1, 6])]:
        x, keep = m.array(m.kind(), shape), bool(m.random.integers(0, 2))
        how = dict(axis=None if axes is None else tuple(axes), keepdims=keep)
        for name, function, bound in [("sum", np.sum, 64), ("prod", np.prod, 64), ("mean", np.mean, 64), ("any", np.any, 0), ("all", np.all, 0)]:
            if name != "mean" or x.array.size:
                compare(m, f"{axes}", name, [x], function(x.array, **how), bound, axes=axes, keepdims=keep)
        compare(m, f"{axes}", "count_nonzero", [x], np.asarray(np.count_nonzero(x.array, **how)).astype("i8"), axes=axes, keepdims=keep)
    x = m.array(m.kind(), (3, 5))
    compare(m, "", "cumulative_sum", [x], np.cumsum(x.array, 1), 32, axes=1)
    compare(m, "", "diff", [x], np.diff(x.array, axis=0), axes=0)
    compare(m, "", "trace", [x], np.trace(x.array), 16)
    compare(m, "", "vector_norm", [x], np.sqrt(np.sum(np.abs(x.array) ** 2, 0)).astype(x.array.real.dtype), 16, axes=0)
    compare(m, "", "matrix_norm", [x], np.linalg.norm(x.array, 1), 16, numbers=[1])
    y = m.array("f4", (3,))
    compare(m, "as complex", "sum", [y], np.sum(y.array, dtype="c16"), 16, type="c16")


@group
def moves(m):
    kind, shape = m.kind(), [(3, 4), (2, 3, 4), (5,), (0, 3), (2, 1, 3, 1, 2, 1, 1, 2)][m.turn % 5]
    last = len(shape) - 1
    for axis in {0, last}:
        x, y = m.array(kind, shape), m.array(["f4", kind, "c16"][m.turn % 3], shape)
        a, b = x.array, y.array
        compare(m, f"{axis}", "concat", [x, y, x], np.concatenate([a, b, a], axis), axes=axis)
        if last < 7:
            compare(m, f"{axis}", "stack", [x, y], np.stack([a, b], axis), axes=axis)
        compare(m, f"{axis}", "roll", [x], np.roll(a, 2, axis), axes=axis, sizes=[2])
        compare(m, f"{axis}", "repeat", [x], np.repeat(a, 2, axis), axes=axis, sizes=[2])
        if a.shape[axis]:
            index = m.random.integers(-a.shape[axis], a.shape[axis], 3)
            compare(m, f"{axis}", "take", [x, given(m, index)], np.take(a, index, axis), axes=axis)
            if a.size:
                index = m.random.integers(0, a.shape[axis], a.shape)
                compare(m, f"{axis}", "take_along_axis", [x, given(m, index)], np.take_along_axis(a, index, axis), axes=axis)
                put, added = a.copy(), a.copy()
                np.put_along_axis(put, index, a, axis)
                np.add.at(added, tuple(index if d == axis else np.arange(n).reshape([-1 if e == d else 1 for e in range(a.ndim)]) for d, n in enumerate(a.shape)), a)
                compare(m, f"{axis}", "put_along_axis", [x, given(m, index), x], put, axes=axis)
                compare(m, f"{axis}", "scatter_add", [x, given(m, index), x], added, 16, axes=axis)
    x = m.array(kind, shape)
    compare(m, "", "pad", [x], np.pad(x.array, [(1, 2)] * len(shape), constant_values=3), sizes=[1, 2] * len(shape), numbers=[3])
    compare(m, "", "tile", [x], np.tile(x.array, [2] * len(shape)), sizes=[2] * len(shape))
    if last:
        compare(m, "", "tril", [x], np.tril(x.array))
        compare(m, "", "triu", [x], np.triu(x.array, 1), numbers=[1])
    compare(m, "", "real", [x], x.array.real, views=True)
    compare(m, "", "imag", [x], x.array.imag, views=True)
    compare(m, "", "cast", [x], x.array.astype("c16"), type="c16")
    compare(m, "", "cast", [x], x.array.astype("c8"), type="c8")
    y = m.array(["f4", "i8", "?"][m.turn % 3], shape)
    compare(m, "", "cast", [y], y.array.astype(kind), type=kind)
    compare(m, "", "cast", [x], x.array.astype("?"), type="?")


def given(m, array):
    return Layout(m.random, lambda shape: array, array.shape, True)


@group
def transforms(m):
    """NumPy transforms in f64."""
    kind = m.kind()
    real = "f4" if kind == "c8" else "f8"
    for n in [1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 16, 17, 30, 64, 97, 100, 127, 144, 243, 1009][m.turn % 5::5]:
        shape, axis = [2, 3], int(m.random.integers(-2, 2))
        shape[axis] = n
        norm = int(m.random.integers(0, 3))
        length = [None, n + 3, max(n - 2, 1)][m.random.integers(0, 3)]
        how = dict(axes=axis, numbers=[norm], sizes=None if length is None else [length])
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
            x = m.array(real if name in ("rfft", "ihfft") else kind, shape)
            if name in ("irfft", "hfft") and (length or 2 * (n - 1)) < 1:
                continue
            want = getattr(np.fft, name)(x.array, length, axis, ["backward", "ortho", "forward"][norm])
            compare(m, f"{length} {norm}", name, [x], want.astype(kind if want.dtype.kind == "c" else real), 64, **how)
    shape, axes = [(4, 3, 5), (2, 6), (7,)][m.turn % 3], [None, [0], [-1, 0]][m.turn % 3 if m.turn % 3 < 2 else 0]
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        x, norm = m.array(real if name == "rfftn" else kind, shape), int(m.random.integers(0, 3))
        want = getattr(np.fft, name)(x.array, None, axes, ["backward", "ortho", "forward"][norm])
        compare(m, f"{axes} {norm}", name, [x], want.astype(kind if want.dtype.kind == "c" else real), 64, axes=axes, numbers=[norm])
    x = m.array(kind, (5, 4))
    compare(m, "", "fftn", [x], np.fft.fftn(x.array, (3, 6)).astype(kind), 64, sizes=[3, 6])
    for axes in (None, [0], [1, 0]):
        compare(m, f"{axes}", "fftshift", [x], np.fft.fftshift(x.array, axes), axes=axes)
        compare(m, f"{axes}", "ifftshift", [x], np.fft.ifftshift(x.array, axes), axes=axes)
    y = m.array("i4", (6,))
    compare(m, "", "fft", [y], np.fft.fft(y.array), 64)
    for n in (1, 4, 9):
        compare(m, f"{n}", "fftfreq", [], np.fft.fftfreq(n, 0.1), sizes=[n], numbers=[0.1])
        compare(m, f"{n}", "rfftfreq", [], np.fft.rfftfreq(n), sizes=[n])


@group
def making(m):
    e = m.executor
    for kind in COMPLEX:
        full, eye, one, value, text = (C.c_void_p() for _ in range(3)), None, None, (C.c_double * 2)(), C.c_char_p()
        made = [Tensor(h) for h in full]
        shape = (C.c_uint64 * 2)(2, 3)
        check(lib.hg_tensor_full(e.handle, ELEMENTS[np.dtype(kind)], C.c_double(2.5), shape, 2, C.byref(made[0].handle)))
        check(lib.hg_tensor_eye(e.handle, ELEMENTS[np.dtype(kind)], C.c_uint64(2), C.c_uint64(3), C.c_int64(1), C.byref(made[1].handle)))
        check(lib.hg_tensor_zeros(e.handle, ELEMENTS[np.dtype(kind)], shape, 2, C.byref(made[2].handle)))
        for t, want in zip(made, (np.full((2, 3), 2.5, kind), np.eye(2, 3, 1, kind), np.zeros((2, 3), kind))):
            checks.check(np.array_equal(t.numpy(), want) and t.numpy().dtype == want.dtype, f"{kind}: {t.numpy()} for {want}")
        a = np.array([[1 + 2j, -0.5 - 0.25j], [3, -1j]], kind)
        t = e.tensor(a)
        check(lib.hg_tensor_print(t.handle, C.byref(text)))
        name = np.dtype(kind).name
        checks.check(text.value.decode() == f"{name} [2, 2] = [[1+2i, -0.5-0.25i],\n [3+0i, -0-1i]]", f"print: {text.value.decode()}")
        lib.hg_string_free(text)
        part = t.view("hg_tensor_select", C.c_int32(0), C.c_int64(0)).view("hg_tensor_select", C.c_int32(0), C.c_int64(1))
        check(lib.hg_tensor_item_complex(part.handle, value))
        checks.check(list(value) == [-0.5, -0.25], f"item: {list(value)}")
        number = C.c_double()
        checks.check(lib.hg_tensor_item(part.handle, C.byref(number)) != 0 and "no single number" in lib.hg_last_error_text().decode(), "item is refused")
        # views: writes through one are seen by the others
        pairs = t.view("hg_tensor_transpose").view("hg_tensor_view_as_real")
        checks.check(np.array_equal(pairs.numpy(), np.stack([a.T.real, a.T.imag], -1)), "as pairs")
        checks.check(np.array_equal(pairs.view("hg_tensor_view_as_complex").numpy(), a.T), "and back")
        imaginary = e.call("imag", [t])[0]
        checks.check([lib.hg_tensor_strides(imaginary.handle)[d] for d in range(2)] == [4, 2], "imag is a view")
        zero = np.zeros((2, 2), a.real.dtype)
        check(lib.hg_tensor_copy_from_host(imaginary.handle, zero.ctypes.data_as(C.c_void_p), C.c_uint64(4)))
        checks.check(np.array_equal(t.numpy(), a.real), "a write through imag")
        odd = e.tensor(np.zeros((3, 5), a.real.dtype)).view("hg_tensor_slice", C.c_int32(1), C.c_int64(1), C.c_int64(3), C.c_int64(1))
        try:
            odd.view("hg_tensor_view_as_complex")
            checks.check(False, "pairs at odd places are not refused")
        except Refused as error:
            checks.check("pairs expected" in str(error), f"{error}")


@group
def overlaps(m):
    """In place, and into a view of an input: as if inputs were read first."""
    for name in ("mul", "add", "div"):
        a = m.elements(m.kind())((6,))
        t = m.executor.tensor(a)
        shifted = [t.view("hg_tensor_slice", C.c_int32(0), C.c_int64(i), C.c_int64(i + 4), C.c_int64(1)) for i in range(2)]
        operation = C.c_int()
        check(lib.hg_ops_find(name.encode(), C.byref(operation)))
        want = m.executor.call(name, shifted)[0].numpy()
        check(lib.hg_ops_call_into(m.executor.handle, operation, (C.c_void_p * 2)(*[s.handle.value for s in shifted]), 2, C.byref(options()),
                                   (C.c_void_p * 1)(shifted[1].handle.value), 1))
        checks.check(bits(t.numpy()) == bits(np.concatenate([a[:1], want, a[5:]])), f"{name} into a view of its input")
        want = m.executor.call(name, [t, t])[0].numpy()
        check(lib.hg_ops_call_into(m.executor.handle, operation, (C.c_void_p * 2)(t.handle.value, t.handle.value), 2, C.byref(options()),
                                   (C.c_void_p * 1)(t.handle.value), 1))
        checks.check(bits(t.numpy()) == bits(want), f"{name} in place")


TAKEN = ({*BINARY, *UNARY} | set("abs angle where cast logical_and logical_or logical_xor real imag sum prod mean cumulative_sum diff any all count_nonzero nonzero "
         "vector_norm matrix_norm trace diagonal matrix_transpose matmul bmm matvec vecdot tensordot outer concat stack pad roll repeat tile tril triu take "
         "take_along_axis put_along_axis scatter_add fft ifft irfft fftn ifftn irfftn hfft fftshift ifftshift".split()))


@group
def refusals(m):
    x, count = m.executor.tensor(np.ones((2, 2), "c8")), 0
    for i in range(10000):
        name = lib.hg_ops_name(i)
        if name is None:
            break
        name = name.decode()
        if name in TAKEN or m.turn:
            continue
        for inputs in range(1, 6):
            try:
                m.executor.call(name, [x] * inputs)
                checks.check(False, f"{name} of complex64 is not refused")
            except Refused as error:
                if "inputs," in str(error):
                    continue
                if "results are asked for" not in str(error):
                    checks.check(f"{name}: complex64 [2, 2]" in str(error) and "it is not of complex numbers" in str(error), f"{name}: {error}")
                    count += 1
                break
    checks.check(m.turn > 0 or count > 60, f"{count} operations are refused")
    for name, how, words in [("arange", {"type": "c8", "sizes": [3], "numbers": [0, 1]}, "arange: it is not of complex64"),
                             ("linspace", {"type": "c16", "sizes": [3], "numbers": [0, 1]}, "linspace: it is not of complex128"),
                             ("rand", {"type": "c8", "sizes": [0, 3]}, "rand: it is not of complex64"),
                             ("fft", {"sizes": [0]}, "no elements"), ("fft", {"numbers": [3]}, "the norm"), ("fft", {"axes": 2}, "Invalid dimension: 2 of 2"),
                             ("fftn", {"axes": [0, 0]}, "twice"), ("fftn", {"axes": [0], "sizes": [2, 2]}, "do not fit"), ("cast", {"type": "f4"}, "real, imag, abs"),
                             ("sum", {"type": "f4"}, "no complex type")]:
        try:
            m.executor.call(name, [] if words.split(":")[0] == name else [x], **how)
            checks.check(False, f"{name} {how} is not refused")
        except Refused as error:
            checks.check(words in str(error), f"{name}: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--seed", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("groups", nargs="*")
    how = parser.parse_args()
    executor = Executor(how.backend)
    np.seterr(all="ignore")
    for turn in range(how.rounds):
        for function in GROUPS:
            if not how.groups or function.__name__ in how.groups:
                function(Making(executor, np.random.default_rng([how.seed, turn]), turn))
    return checks.finish()


sys.exit(main())
