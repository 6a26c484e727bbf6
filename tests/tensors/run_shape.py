#!/usr/bin/python3
"""Operations on shapes, by indices, and that make tensors, against NumPy: over types, layouts, empty arrays and 8 axes, at once and in a scope with equal bits.

    tests/tensors/run_shape.py [GROUP...]

Needs HG_SOURCE_DIR and HG_BUILD_DIR, or stands in the sources of the project. Last line: N passed, N failed, N skipped."""
import ctypes as C
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import checks  # noqa: E402

try:
    import numpy as np
except ImportError:
    checks.skip("NumPy is not installed (Debian package python3-numpy)")
    sys.exit(checks.finish())
from arrays import Executor, Tensor, check, compare, element, extents, layouts, lib, numbers, refused  # noqa: E402

ex = Executor()
random = np.random.default_rng(32)
SHAPES = [(3, 4), (5,), (2, 3, 4), (0, 3), (2, 1, 3, 1, 2, 1, 1, 2)]
turn = 0


def arrays(dtypes=("float32", "int64", "bool", "uint16"), shapes=SHAPES, least=0):
    """A layout of each shape and type, another each time."""
    global turn
    for dtype in dtypes:
        for shape in shapes:
            if len(shape) < least:
                continue
            made = list(layouts(random, dtype, shape))
            turn += 1
            name, a = made[turn % len(made)]
            yield f"{dtype} {shape} {name}", a


def concat():
    for label, a in arrays():
        for axis in {0, a.ndim - 1}:
            b = a[tuple(slice(0, 1) if d == axis else slice(None) for d in range(a.ndim))]
            compare(ex, f"concat {label} {axis}", lambda: ex.call("concat", *[ex.put(x) for x in (a, b, a)], axes=[axis]),
                    np.concatenate([a, b, a], axis))
    some = [np.arange(i, dtype="float32") + i for i in range(11)]
    compare(ex, "concat of 11", lambda: ex.call("concat", *map(ex.put, some)), np.concatenate(some))
    mixed = [np.arange(3).astype(t) for t in ("int8", "uint8", "float32", "bool", "int32")]
    compare(ex, "concat of types", lambda: ex.call("concat", *map(ex.put, mixed)), np.concatenate(mixed))
    one = np.arange(4)
    compare(ex, "concat of one", lambda: ex.call("concat", ex.put(one)), one)
    compare(ex, "concat of one type", lambda: ex.call("concat", ex.put(one[:0]), ex.put(one.astype("float32"))), np.arange(4.0))
    large = Tensor(ex.put(np.ones(1, "int8")).view("hg_tensor_broadcast_to", extents([2 ** 62]), C.c_uint32(1)).take())
    refused("concat of 2^64", lambda: ex.call("concat", *[large] * 4), "too many elements together")
    refused("concat of shapes", lambda: ex.call("concat", ex.put(np.zeros((2, 3))), ex.put(np.zeros((2, 4)))),
            "Tensor shape mismatch: concat: f64 [2, 3] and f64 [2, 4] (input 1) along axis 0")
    refused("concat of axes", lambda: ex.call("concat", ex.put(one), axes=[1]), "Invalid dimension: 1 of 1")
    refused("concat of a scalar", lambda: ex.call("concat", ex.put(np.array(1.0))), "Invalid dimension: 0 of 0")


def stack():
    for label, a in arrays():
        if a.ndim == 8:
            refused("stack of 8 axes", lambda: ex.call("stack", ex.put(a)), "8 axes already")
            continue
        for axis in {0, -1}:
            compare(ex, f"stack {label} {axis}", lambda: ex.call("stack", ex.put(a), ex.put(a[::-1]), axes=[axis]),
                    np.stack([a, a[::-1]], axis))
    scalars = [np.array(x, "float32") for x in range(5)]
    compare(ex, "stack of scalars", lambda: ex.call("stack", *map(ex.put, scalars)), np.stack(scalars))


def pad():
    for label, a in arrays(("float32", "int8", "bool", "float16", "uint64")):
        for some in ([(1, 2)] * a.ndim, [(0, 0)] * a.ndim, [(2, 0)] + [(0, 0)] * (a.ndim - 1)):
            if a.ndim == 8 and some[-1] == (1, 2):
                some[2:] = [(0, 1)] * 6
            compare(ex, f"pad {label} {some}", lambda: ex.call("pad", ex.put(a), sizes=np.ravel(some), values=[1]),
                    np.pad(a, some, constant_values=1))
    for label, a in arrays(("float32", "uint8", "bool", "int64")):
        some = [(turn * (d + 1) % 7, (turn + d) % 4) if d < 3 else (0, 0) for d in range(a.ndim)]
        for mode, name in enumerate(("edge", "reflect", "wrap"), 1):
            sizes = [*np.ravel(some), mode]
            if any(n == 0 and sum(s) for n, s in zip(a.shape, some)):
                refused(f"pad {name}", lambda: ex.call("pad", ex.put(a), sizes=sizes), "without elements")
                continue
            want = a
            for d, (n, (before, after)) in enumerate(zip(a.shape, some)):
                if not before and not after:
                    continue  # NumPy 1.24 wraps pads above the extent wrongly: written out
                i, period = np.arange(-before, n + after), max(2 * n - 2, 1)
                i = np.clip(i, 0, n - 1) if name == "edge" else i % n if name == "wrap" else np.where(i % period < n, i % period, period - i % period)
                want = np.take(want, i, d)
            if name != "wrap":
                assert np.array_equal(want, np.pad(a, some, name))
            compare(ex, f"pad {name} {label} {some}", lambda: ex.call("pad", ex.put(a), sizes=sizes), want)
    a = np.arange(256).reshape([2] * 8)
    for mode, name in enumerate(("edge", "reflect", "wrap"), 1):
        compare(ex, f"pad {name} all 8 axes", lambda: ex.call("pad", ex.put(a), sizes=[1] * 16 + [mode]), np.pad(a, 1, name))
    refused("pad", lambda: ex.call("pad", ex.put(np.zeros(3)), sizes=[1, 1, 4]), "none of hg_pad_mode")
    refused("pad", lambda: ex.call("pad", ex.put(np.zeros(3)), sizes=[1]), "pad: options.sizes has 1 numbers, 2 expected")
    refused("pad", lambda: ex.call("pad", ex.put(np.zeros(3)), sizes=[-1, 1]), "out of range")


def roll():
    for label, a in arrays():
        compare(ex, f"roll {label}", lambda: ex.call("roll", ex.put(a), sizes=[3]), np.roll(a, 3))
        for axis, by in ((0, -1), (-1, 7)):
            compare(ex, f"roll {label} {axis}", lambda: ex.call("roll", ex.put(a), axes=[axis], sizes=[by]), np.roll(a, by, axis))
        if a.ndim > 1:
            compare(ex, f"roll {label} (0, 1, 0)", lambda: ex.call("roll", ex.put(a), axes=[0, 1, 0], sizes=[1, -2, 3]),
                    np.roll(a, (1, -2, 3), (0, 1, 0)))


def repeat():
    for label, a in arrays():
        compare(ex, f"repeat {label}", lambda: ex.call("repeat", ex.put(a), sizes=[2]), np.repeat(a, 2))
        for axis, times in ((0, 3), (-1, 1), (0, 0)):
            compare(ex, f"repeat {label} {axis} {times}", lambda: ex.call("repeat", ex.put(a), axes=[axis], sizes=[times]),
                    np.repeat(a, times, axis))
        for axis in (None, 0, -1):
            n, axes = (a.size, {}) if axis is None else (a.shape[axis], {"axes": [axis]})
            times = random.integers(0, 4, n).astype(("int64", "uint8", "int32")[n % 3])
            compare(ex, f"repeat {label} {axis} {times}", lambda: ex.call("repeat", ex.put(a), ex.put(times), **axes), np.repeat(a, times, axis))
            compare(ex, f"repeat {label} {axis} 3", lambda: ex.call("repeat", ex.put(a), ex.put(np.array([3])), **axes), np.repeat(a, [3], axis))
    for wrong, why in (([1, 2], "one each"), ([-1, 1, 1], "below 0"), ([1.0, 1.0, 1.0], "integers")):
        refused("repeat", lambda: ex.call("repeat", ex.put(np.zeros(3)), ex.put(np.array(wrong))), why)


def tile():
    for label, a in arrays():
        for times in ([2], [3, 1, 2] if a.ndim < 8 else [1] * 7 + [2], [2] + [1] * (a.ndim - 1), [0]):
            compare(ex, f"tile {label} {times}", lambda: ex.call("tile", ex.put(a), sizes=times), np.tile(a, times))


def triangles():
    for label, a in arrays(least=2):
        for k in (0, -1, 2, 100, -100):
            for name in ("tril", "triu"):
                compare(ex, f"{name} {label} {k}", lambda: ex.call(name, ex.put(a), values=[k]), getattr(np, name)(a, k))
    refused("tril of one axis", lambda: ex.call("tril", ex.put(np.zeros(3))), "two axes expected")


def take():
    for label, a in arrays():
        for index in ("int64", "int8", "uint32"):
            if not a.size:
                continue
            low = -1 if index[0] == "i" else 0
            flat = random.integers(low * min(a.size, 100), min(a.size, 100), (2,)).astype(index)
            compare(ex, f"take {label} {index}", lambda: ex.call("take", ex.put(a), ex.put(flat)), np.take(a, flat))
            for axis in {0, a.ndim - 1}:
                n = a.shape[axis]
                which = random.integers(low * n, n, () if a.ndim == 8 else (3, 2)).astype(index)[..., ::-1] if a.ndim < 8 else \
                    np.array(n - 1, index)
                compare(ex, f"take {label} {index} {axis}", lambda: ex.call("take", ex.put(a), ex.put(which), axes=[axis]),
                        np.take(a, which, axis))
    x, i = np.arange(256).reshape([2] * 8), np.array([[3, -1, 200], [0, -256, 255]])
    compare(ex, "take of 8 axes as one", lambda: ex.call("take", ex.put(x), ex.put(i)), np.take(x, i))
    x, i = np.arange(4.0), np.array([0, 4])
    for shape, axis in (((5, 16), 0), ((3, 4, 17), 1), ((7, 300), 0), ((2, 3, 5, 8), 1), ((3, 15), 0)):  # rows of 16 and more: the instruction gather
        for dtype in ("float32", "bool", "complex64", "uint16"):
            for label, a in layouts(random, dtype, shape):
                for index in ("int64", "int8", "uint32", "uint64"):
                    n = shape[axis]
                    which = random.integers(-n if index[0] == "i" else 0, n, (2, 9)[: 1 + (index == "int8")]).astype(index)
                    compare(ex, f"take rows {label} {index} {axis}", lambda: ex.call("take", ex.put(a), ex.put(which), axes=[axis]), np.take(a, which.astype("int64"), axis))
    rows = np.arange(80, dtype="float32").reshape(5, 16)
    for dtype, outside in (("int64", -6), ("int64", 5), ("uint32", 5), ("int8", 127), ("uint64", 2 ** 64 - 1)):
        which = np.array([0, outside], dtype)
        refused(f"take rows outside, {dtype}", lambda: ex.call("take", ex.put(rows), ex.put(which), axes=[0]).numpy(), "out of bounds" if dtype == "uint64" else "below n expected")
    refused("take outside", lambda: ex.call("take", ex.put(x), ex.put(i)).numpy(), "buffer access out of bounds")
    refused("take by floats", lambda: ex.call("take", ex.put(x), ex.put(x)), "indices are integers")


def along_axis():
    for label, a in arrays():
        for axis in {0, -1}:
            n = a.shape[axis]
            shape = [5 if d == axis % a.ndim else m for d, m in enumerate(a.shape)]
            if not n or a.ndim == 8:
                continue
            which = random.integers(-n, n, shape)
            compare(ex, f"take_along_axis {label} {axis}",
                    lambda: ex.call("take_along_axis", ex.put(a), ex.put(which), axes=[axis]), np.take_along_axis(a, which, axis))
            order = np.argsort(a, axis, "stable").astype("int32")
            compare(ex, f"take_along_axis {label} {axis} sorts",
                    lambda: ex.call("take_along_axis", ex.put(a), ex.put(order), axes=[axis]), np.sort(a, axis))
    x = np.arange(12.0).reshape(3, 4)
    row = np.array([[3, 0]])
    compare(ex, "take_along_axis of one row", lambda: ex.call("take_along_axis", ex.put(x), ex.put(row)), np.take_along_axis(x, row, 1))
    refused("take_along_axis outside", lambda: ex.call("take_along_axis", ex.put(x), ex.put(row + 1)).numpy(), "buffer access out of bounds")


def scatter():
    for label, a in arrays(("float32", "int64", "uint16", "float16")):
        for axis in {0, -1}:
            n = a.shape[axis]
            shape = [5 if d == axis % a.ndim else m for d, m in enumerate(a.shape)]
            if not a.size or a.ndim == 8:
                continue
            which = random.integers(-n, n, shape)
            values = (random.standard_normal(shape) * 9).astype(a.dtype)
            want, added = a.copy(), a.copy()
            for i in range(5):
                at = tuple(slice(i, i + 1) if d == axis % a.ndim else slice(None) for d in range(a.ndim))
                np.put_along_axis(want, which[at], values[at], axis)
                np.put_along_axis(added, which[at], np.take_along_axis(added, which[at], axis) + values[at], axis)
            for name, w in (("put_along_axis", want), ("scatter_add", added)):
                compare(ex, f"{name} {label} {axis}",
                        lambda: ex.call(name, ex.put(a), ex.put(which), ex.put(values[...]), axes=[axis]), w)
    x, i = np.zeros((3, 2)), np.array([[1], [1], [0]])
    compare(ex, "scatter_add of one number", lambda: ex.call("scatter_add", ex.put(x), ex.put(i), ex.put(np.array(2, "int8")), axes=[0]),
            np.array([[2.0, 2], [4, 4], [0, 0]]))
    compare(ex, "scatter_add of nothing", lambda: ex.call("scatter_add", ex.put(x), ex.put(i[:0]), ex.put(x[:0]), axes=[0]), x)
    refused("put_along_axis outside", lambda: ex.call("put_along_axis", ex.put(x), ex.put(i + 2), ex.put(x), axes=[0]).numpy(), "is outside of axis 0")
    refused("put_along_axis into nothing", lambda: ex.call("put_along_axis", ex.put(x[:0]), ex.put(i * 0), ex.put(x), axes=[0]), "has no place")
    refused("put_along_axis of axes", lambda: ex.call("put_along_axis", ex.put(x), ex.put(np.array([1])), ex.put(x)), "as many axes as a")
    refused("put_along_axis of types", lambda: ex.call("put_along_axis", ex.put(i), ex.put(i), ex.put(x[:, :1])), "does not fit")


def made(function, *arguments, count=None):
    """What a public call gives: a tensor, or a list of count."""
    out = (C.c_void_p * (count or 1))()
    check(getattr(lib, function)(*arguments, out))
    tensors = [Tensor(C.c_void_p(h)) for h in out]
    return tensors[0] if count is None else tensors


def views():
    for label, a in arrays():
        t = ex.put(a)
        compare(ex, f"flip {label}", lambda: made("hg_tensor_flip", t.handle, None, 0), np.flip(a))
        compare(ex, f"flip {label} -1", lambda: made("hg_tensor_flip", t.handle, numbers(C.c_int32, [-1]), 1), np.flip(a, -1))
        compare(ex, f"move_axis {label}", lambda: made("hg_tensor_move_axis", t.handle, 0, -1), np.moveaxis(a, 0, -1))
        compare(ex, f"move_axis {label} back", lambda: made("hg_tensor_move_axis", t.handle, -1, 0), np.moveaxis(a, -1, 0))
        n = a.shape[0]
        compare(ex, f"split {label}", lambda: made("hg_tensor_split", t.handle, 0, extents([1, n - 1, 0] if n else [0, 0, 0]), 3, count=3),
                np.split(a, [min(n, 1), n]))
        compare(ex, f"split {label} equally", lambda: made("hg_tensor_split", t.handle, -1, None, a.shape[-1], count=a.shape[-1]),
                np.split(a, a.shape[-1], -1))
        if a.size:
            handles = [t, ex.put(a[:1]), ex.put(a[..., -1:])]
            array = (C.c_void_p * 3)(*[h.handle for h in handles])
            compare(ex, f"broadcast_arrays {label}", lambda: made("hg_tensor_broadcast_arrays", array, 3, count=3),
                    np.broadcast_arrays(a, a[:1], a[..., -1:]))
    lines = [np.arange(n, dtype="float32")[::-1] for n in (2, 3, 1, 4)]
    tensors = [ex.put(x) for x in lines]
    for count in range(1, 5):
        array = (C.c_void_p * count)(*[t.handle for t in tensors[:count]])
        for xy, indexing in ((False, "ij"), (True, "xy")):
            compare(ex, f"meshgrid of {count} {indexing}", lambda: made("hg_tensor_meshgrid", array, count, C.c_bool(xy), count=count),
                    np.meshgrid(*lines[:count], indexing=indexing))
    twice = (C.c_void_p * 2)(tensors[0].handle, tensors[0].handle)
    compare(ex, "meshgrid of one twice", lambda: made("hg_tensor_meshgrid", twice, 2, C.c_bool(False), count=2),
            np.meshgrid(lines[0], lines[0], indexing="ij"))
    refused("split", lambda: made("hg_tensor_split", tensors[1].handle, 0, None, 2, count=2), "f32 [3] is not 2 equal parts along axis 0")
    refused("split", lambda: made("hg_tensor_split", tensors[1].handle, 0, extents([1, 1]), 2, count=2), "parts of these sizes")
    refused("flip", lambda: made("hg_tensor_flip", tensors[1].handle, numbers(C.c_int32, [0, -1]), 2), "stands twice")


def ramps():
    d = C.c_double
    for dtype in ("float32", "float64", "float16", "int32", "int8", "uint64"):
        for start, stop, step in ((0, 10, 1), (1, 2, 0.1), (0, 100, 3), (5, 5, 1), (2, 0, 1), (-1, 1, 1e-2), (7, -3, -2)):
            if np.dtype(dtype).kind != "f" and (step != int(step) or (np.dtype(dtype).kind == "u" and stop < 0)):
                continue
            compare(ex, f"arange {dtype} {start} {stop} {step}",
                    lambda: made("hg_tensor_arange", ex.handle, element(dtype), d(start), d(stop), d(step)),
                    np.arange(start, stop, step, dtype))
        for start, stop, count in ((0, 1, 11), (0, 1, 1), (0, 1, 0), (-3, 9.7, 1000), (2, 2, 5), (1, 0, 7), (0, 0.3, 4)):
            if dtype != "uint64" or start >= 0:
                compare(ex, f"linspace {dtype} {start} {stop} {count}",
                        lambda: made("hg_tensor_linspace", ex.handle, element(dtype), d(start), d(stop), C.c_uint64(count)),
                        np.linspace(start, stop, count, dtype=dtype))
        compare(ex, f"linspace {dtype} without its end", lambda: ex.call("linspace", type=dtype, values=[0, 5], sizes=[10], flag=True),
                np.linspace(0, 5, 10, False, dtype=dtype))
        for rows, columns, k in ((3, 3, 0), (2, 4, 1), (4, 2, -2), (0, 3, 0), (3, 2, 9)):
            compare(ex, f"eye {dtype} {rows} {columns} {k}",
                    lambda: made("hg_tensor_eye", ex.handle, element(dtype), C.c_uint64(rows), C.c_uint64(columns), C.c_int64(k)),
                    np.eye(rows, columns, k, dtype))
    compare(ex, "eye of bool", lambda: made("hg_tensor_eye", ex.handle, element("bool"), C.c_uint64(2), C.c_uint64(2), C.c_int64(0)),
            np.eye(2, dtype=bool))
    refused("arange", lambda: made("hg_tensor_arange", ex.handle, element("float32"), d(0), d(1), d(0)), "has no end")


def philox(counter, key):
    """Ten rounds of Philox4x32 on rows of four words (Salmon et al., SC 2011): written from the paper."""
    c, k = [counter[:, i].astype("uint64") for i in range(4)], [np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32)]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ k[0], b & low, (a >> np.uint64(32)) ^ c[3] ^ k[1], a & low]
        k = [(k[0] + np.uint64(0x9E3779B9)) & low, (k[1] + np.uint64(0xBB67AE85)) & low]
    return np.stack(c, 1)


def words(seed, count):
    """The first `count` words of the stream of a seed."""
    n = (count + 3) // 4
    counter = np.zeros((n, 4), "uint64")
    counter[:, 0] = np.arange(n)
    return philox(counter, seed).ravel()[:count]


def random_numbers():
    known = [([0] * 4, 0, [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]),  # kat_vectors of Random123
             ([0xffffffff] * 4, 0xffffffffffffffff, [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]),
             ([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], 0x299f31d0a4093822, [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1])]
    for counter, key, want in known:
        checks.check(philox(np.array([counter]), key)[0].tolist() == want, f"the oracle's Philox of {counter}, {key}")
    first = ex.call("rand", type="float32", sizes=[0, 4]).numpy()
    checks.check(first.tolist() == [(w >> 8) * 2.0 ** -24 for w in known[0][2]], "rand is Random123's first block")
    for seed in (0, 7, 0x299f31d0a4093822, (1 << 64) - 1):
        for shape in ((13,), (3, 5), (2, 2, 3), (), (0, 4), (1000,)):
            n = int(np.prod(shape))
            word = words(seed, 2 * n).astype("uint64")
            wide = word[0::2] << np.uint64(32) | word[1::2]
            u = {"float32": ((word[:n] >> np.uint64(8)) * 2.0 ** -24).astype("float32"),
                 "float64": (wide >> np.uint64(11)) * 2.0 ** -53,
                 "float16": ((word[:n] >> np.uint64(21)) * 2.0 ** -11).astype("float16")}
            for dtype, want in u.items():
                compare(ex, f"rand {dtype} {seed} {shape}",
                        lambda: made("hg_tensor_rand", ex.handle, element(dtype), C.c_uint64(seed), extents(shape), len(shape)),
                        want.reshape(shape))
            for dtype, low, high in (("int32", -5, 6), ("uint8", 0, 256), ("int64", -(1 << 53), 1 << 53), ("uint64", 10, 11)):
                want = np.array([low + (int(w) * (high - low) >> 64) for w in wide], dtype).reshape(shape)
                compare(ex, f"randint {dtype} {seed} {shape}",
                        lambda: made("hg_tensor_randint", ex.handle, element(dtype), C.c_int64(low), C.c_int64(high), C.c_uint64(seed),
                                     extents(shape), len(shape)), want)
    for dtype, tolerance in (("float32", 2e-6), ("float64", 1e-14), ("float16", 2e-3)):
        n, w = 2000, words(5, 8000)
        if dtype == "float64":
            wide = (w[0::2] << np.uint64(32) | w[1::2]) >> np.uint64(11)
            u, v = (wide[0::2] + 1.0) * 2.0 ** -53, wide[1::2] * 2.0 ** -53
        else:
            u, v = ((w[0::2] >> np.uint64(8)) + 1.0) * 2.0 ** -24, (w[1::2] >> np.uint64(8)) * 2.0 ** -24
        r = np.sqrt(-2 * np.log(u))
        want = (10 + 2 * np.stack([r * np.cos(2 * np.pi * v), r * np.sin(2 * np.pi * v)], 1).ravel())[:n]
        run = lambda: made("hg_tensor_normal", ex.handle, element(dtype), C.c_double(10), C.c_double(2), C.c_uint64(5), extents((n,)), 1)  # noqa: E731
        got, scoped = run().numpy(), ex.scope(run).numpy()
        checks.check(np.allclose(got, want, rtol=0, atol=40 * tolerance), f"normal {dtype}: {got[:4]} for {want[:4]}")
        checks.check(got.tobytes() == scoped.tobytes(), f"normal {dtype} in a scope")
    got = made("hg_tensor_normal", ex.handle, element("float64"), C.c_double(0), C.c_double(1), C.c_uint64(1), extents((100000,)), 1).numpy()
    checks.check(abs(got.mean()) < 0.015 and abs(got.std() - 1) < 0.01 and abs((got ** 4).mean() - 3) < 0.1,
                 f"normal has mean {got.mean()}, deviation {got.std()}, fourth moment {(got ** 4).mean()}")
    refused("rand of integers", lambda: ex.call("rand", type="int32", sizes=[0, 4]), "one of f16, bf16, f32, f64 expected")
    refused("randint", lambda: ex.call("randint", type="uint8", values=[0, 257], sizes=[0, 4]), "randint: 0 to below 257 as u8")
    refused("randint", lambda: ex.call("randint", type="int32", values=[3, 3], sizes=[0, 4]), "the first below the second")
    refused("normal of integers", lambda: ex.call("normal", type="int32", sizes=[0, 4]), "a type of floats expected")


GROUPS = {f.__name__: f for f in (concat, stack, pad, roll, repeat, tile, triangles, take, along_axis, scatter, views, ramps, random_numbers)}
for name in sys.argv[1:] or GROUPS:
    GROUPS[name]()
sys.exit(checks.finish())
