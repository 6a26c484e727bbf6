#!/usr/bin/python3
"""Kernels that people write, against NumPy: types, grids, shared memory, atomics, statics, closures, what is compiled again, faults, wrong calls.

    tests/python/run_kernels.py [NAME...]

Needs HG_BUILD_DIR, or stands in the sources of the project. Last line: N passed, N failed, N skipped."""
import io
import math
import os
import subprocess
import sys
import tempfile
import threading
import types as python_types
from typing import TypeVar

from package import checks, hg, numpy

np = numpy()
os.environ.setdefault("HOLOGRAM_CACHE_DIR", "off")  # kernels are compiled, not found from the run before

random = np.random.RandomState(1)
LEVEL = 3
STENCIL = (0.25, 0.5, 0.25)
SECRET = np.arange(12, dtype=np.int32).reshape(3, 4)


def same(got, want, what):
    checks.check(got.dtype == want.dtype and got.shape == want.shape and got.tobytes() == want.tobytes(), f"{what}: {got.ravel()[:8]} for {want.ravel()[:8]}")


def refused(kind, words, work, what):
    try:
        work()
    except kind as error:
        checks.check(words in str(error), f"{what}: '{words}' is not in: {error}")
        return str(error)
    except Exception as error:
        checks.check(False, f"{what}: {type(error).__name__}: {error}")
        return ""
    checks.check(False, f"{what}: is not refused")
    return ""


@hg.kernel
def axpy(a: hg.f32, x: hg.In[hg.f32, "n"], y: hg.Inout[hg.f32, "n"]):
    """y = a x + y"""
    i = hg.lane()
    y[i] = a * x[i] + y[i]


def test_axpy():
    x, y = random.randn(1000).astype("f4"), random.randn(1000).astype("f4")
    want = np.float32(2.5) * x + y
    axpy(2.5, x, y)
    same(y, want, "axpy")
    axpy[10](np.float32(1), x=x, y=y)
    want[:10] = x[:10] + want[:10]
    same(y, want, "axpy of ten lanes, by names")
    checks.check(axpy.__doc__ == "y = a x + y" and "axpy" in repr(axpy) and ".program axpy" in axpy.atlas and "__kernel" in axpy.emit("opencl")
                 and "a * x[i] + y[i]" in axpy.explain(), "what a kernel shows")
    checks.check(len(axpy.signatures) == 1 and axpy.signatures[0][1] == "first call", f"signatures {axpy.signatures}")


@hg.kernel
def stencil(x: "hg.In[hg.f32, 'n + 2']", y: "hg.Out[hg.f32, 'n']"):
    i = hg.lane()
    total = 0.0
    for k in range(3):
        total += STENCIL[k] * x[i + k]
    y[i] = total


def test_stencil():
    x, y = random.randn(34).astype("f4"), np.zeros(32, "f4")
    stencil(x, y)
    want = (np.float32(0.25) * x[:-2] + np.float32(0.5) * x[1:-1]) + np.float32(0.25) * x[2:]
    same(y, want, "stencil with string annotations")


@hg.kernel
def transpose(x: hg.In[hg.u8, "h", "w"], y: hg.Out[hg.u8, "w", "h"]):
    c, r = hg.grid(2)
    y[c, r] = x[r][c]


def test_transpose():
    x, y = random.randint(0, 256, (5, 9)).astype("u1"), np.zeros((9, 5), "u1")
    transpose(x, y)
    same(y, np.ascontiguousarray(x.T), "transpose")


@hg.kernel(block=(4, 4), grid=("ceil(w / 4)", "ceil(h / 4)"))
def tiles(x: hg.In[hg.f32, "h", "w"], y: hg.Out[hg.f32, "w", "h"]):
    tile = hg.shared(hg.f32, (4, 5))
    c, r = hg.block(0) * 4 + hg.block_lane(0), hg.block(1) * 4 + hg.block_lane(1)
    h, w = x.shape
    if r < h and c < w:
        tile[hg.block_lane(1), hg.block_lane(0)] = x[r, c]
    hg.barrier()
    r, c = hg.block(1) * 4 + hg.block_lane(0), hg.block(0) * 4 + hg.block_lane(1)
    if r < h and c < w:
        y[c, r] = tile[hg.block_lane(0), hg.block_lane(1)]


def test_tiles():
    x, y = random.randn(6, 9).astype("f4"), np.zeros((9, 6), "f4")
    tiles(x, y)
    same(y, np.ascontiguousarray(x.T), "transpose through shared memory")
    again = np.zeros((9, 6), "f4")
    hg.interpret(tiles)(x, again)
    same(again, y, "the same interpreted")


@hg.kernel(block=32)
def histogram(x: hg.In[hg.u8, "n"], counts: hg.Inout[hg.i32, 8], most: hg.Out[hg.i32, "b"]):
    mine = hg.shared(hg.i32, 8)
    i, k = hg.lane(), hg.block_lane()
    if i < len(x):
        hg.atomic_add(mine, x[i] >> 5, 1)
    hg.barrier()
    if k < 8:
        hg.atomic_add(counts, k, mine[k])
    top = hg.block_max(mine[k % 8])
    before = hg.scan_sum(mine[k % 8], exclusive=True)
    if k == 7:
        most[hg.block()] = top * 1000 + before


def test_histogram():
    x, counts, most = random.randint(0, 256, 100).astype("u1"), np.zeros(8, "i4"), np.zeros(4, "i4")
    histogram[128](x, counts, most)
    same(counts, np.bincount(x >> 5, minlength=8).astype("i4"), "histogram")
    parts = [np.bincount(x[k:k + 32] >> 5, minlength=8) for k in range(0, 100, 32)]
    same(most, np.array([p.max() * 1000 + p[:7].sum() for p in parts], "i4"), "block reduction and scan")
    counts2, most2 = np.zeros(8, "i4"), np.zeros(4, "i4")
    hg.interpret(histogram)[128](x, counts2, most2)
    same(counts2, counts, "histogram interpreted")
    same(most2, most, "block reduction interpreted")


def median_of(window):
    for a in range(1, 9):
        v = window[a]
        b = a
        while b > 0 and window[b - 1] > v:
            window[b] = window[b - 1]
            b -= 1
        window[b] = v


@hg.kernel
def median(x: hg.In[hg.i16, "h", "w"], y: hg.Out[hg.i16, "h", "w"]):
    r, c = hg.grid(2)
    h, w = x.shape
    window = hg.private(hg.i16, 9)
    k = 0
    for dr in range(-1, 2):
        for dc in range(-1, 2):
            window[k] = x[min(max(r + dr, 0), h - 1), min(max(c + dc, 0), w - 1)]
            k += 1
    for a in range(1, 9):
        v = window[a]
        b = a
        while b > 0 and window[b - 1] > v:
            window[b] = window[b - 1]
            b -= 1
        window[b] = v
    y[r, c] = window[4]


def test_median():
    x, y = random.randint(-99, 99, (6, 7)).astype("i2"), np.zeros((6, 7), "i2")
    median(x, y)
    p = np.pad(x, 1, mode="edge")
    same(y, np.sort(np.stack([p[i:i + 6, j:j + 7] for i in range(3) for j in range(3)]), axis=0)[4], "median of private arrays")


def mix(a, b, t=0.5):
    return a + (b - a) * t


def low_high(a, b):
    if a > b:
        return b, a
    return a, b


@hg.kernel
def helpers(x: hg.In[hg.f64, "n"], y: hg.Inout[hg.f64, "n"], z: hg.Out[hg.f64, "n"]):
    i = hg.lane()
    low, high = low_high(x[i], y[i])
    y[i] = mix(low, high) if i % 2 else mix(low, high, t=0.25)
    z[i] = high - low


def test_helpers():
    x, y, z = random.randn(20), random.randn(20), np.zeros(20)
    low, high, odd = np.minimum(x, y), np.maximum(x, y), np.arange(20) % 2
    want = low + (high - low) * np.where(odd, 0.5, 0.25)
    helpers(x, y, z)
    same(y, want, "helpers with defaults and keywords")
    same(z, high - low, "two results")


@hg.kernel
def statics(x: hg.In[hg.f32, "n"], y: hg.Out[hg.f32, "n"], power: hg.static, double: hg.static = False):
    i = hg.lane()
    v = 1
    for _ in hg.static_range(power):
        v = v * x[i]
    if double:
        v = v * 2
    y[i] = v


def test_statics():
    x, y = random.randn(9).astype("f4"), np.zeros(9, "f4")
    statics(x, y, power=3)
    same(y, x * x * x, "power 3")
    statics(x, y, 2, double=True)
    same(y, x * x * np.float32(2), "power 2, double")
    statics(x, y, power=3)
    checks.check([why for _, why in statics.signatures] == ["first call", "other static values"], f"signatures {statics.signatures}")
    refused(TypeError, "needs the static value of power", lambda: statics(x, y), "a missing static value")


def scaled(factor):
    @hg.kernel
    def scale(x: hg.In[hg.f32, "n"], y: hg.Out[hg.f32, "n"]):
        y[hg.lane()] = x[hg.lane()] * factor + LEVEL

    def change(value):
        nonlocal factor
        factor = value
    return scale, change


def test_closures():
    global LEVEL
    x, y = random.randn(9).astype("f4"), np.zeros(9, "f4")
    scale, change = scaled(2.0)
    scale(x, y)
    same(y, x * np.float32(2) + np.float32(3), "a captured factor")
    change(5.0)
    scale(x, y)
    same(y, x * np.float32(5) + np.float32(3), "a changed closure")
    LEVEL = 4
    scale(x, y)
    same(y, x * np.float32(5) + np.float32(4), "a changed global")
    LEVEL = 3
    checks.check([why for _, why in scale.signatures] == ["first call", "factor has changed", "LEVEL has changed"], f"signatures {scale.signatures}")


@hg.kernel
def table(i: hg.In[hg.i32, "n"], y: hg.Out[hg.i32, "n"]):
    k = i[hg.lane()]
    y[hg.lane()] = SECRET[k // 4, k % 4] * 10 + SECRET[2, -1]


def test_table():
    i, y = random.randint(0, 12, 30).astype("i4"), np.zeros(30, "i4")
    table(i, y)
    same(y, i * 10 + 11, "a captured array of NumPy")
    SECRET[2, 3] = 50
    table(i, y)
    same(y, np.where(i == 11, 50, i).astype("i4") * 10 + 50, "a captured array that has changed")
    SECRET[2, 3] = 11


def halved(v, more=0.0):
    return v / 2 + more


PAIR = (np.array([1, 2], "i4"), [3, 4])


@hg.kernel
def reloaded(x: hg.In[hg.f32, "n"], y: hg.Out[hg.f32, "n"]):
    y[hg.lane()] = abs(halved(x[hg.lane()])) + PAIR[0][1] * PAIR[1][0]


def test_in_place():
    """What a kernel depends on is another thing behind the same name: a function that an editor has loaded again, elements within a tuple, a global before a builtin."""
    x, y = np.arange(-4, 4, dtype="f4"), np.zeros(8, "f4")

    def twice(v, more=0.0):
        return v * 2 + more

    def three(v):
        return v * 0 + 3
    code = halved.__code__
    reloaded(x, y)
    for change, want, what in ((lambda: None, abs(x / 2) + 6, "as it stands"), (lambda: PAIR[0].__setitem__(1, 5), abs(x / 2) + 15, "an array in a tuple"),
                               (lambda: PAIR[1].__setitem__(0, 2), abs(x / 2) + 10, "a list in a tuple"),
                               (lambda: setattr(halved, "__defaults__", (8.0,)), abs(x / 2 + 8) + 10, "defaults of a helper"),
                               (lambda: setattr(halved, "__code__", twice.__code__), abs(x * 2 + 8) + 10, "the code of a helper"),
                               (lambda: globals().__setitem__("abs", three), x * 0 + 13, "a global before a builtin"),
                               (lambda: globals().__delitem__("abs"), abs(x * 2 + 8) + 10, "the builtin again")):
        change()
        for _ in range(2):
            reloaded(x, y)
            same(y, want, what)
    halved.__code__, halved.__defaults__, PAIR[0][1], PAIR[1][0] = code, (0.0,), 2, 3
    axpy(1.0, x, y)
    checks.check(len(reloaded.history) == 7, f"compiled as often as something has changed: {reloaded.signatures}")


@hg.kernel
def types(a: hg.In[hg.u8, "n"], b: hg.In[hg.i8, "n"], h: hg.In[hg.f16, "n"], wraps: hg.Out[hg.u8, "n"], sums: hg.Out[hg.i32, "n"], halves: hg.Out[hg.f16, "n"],
          quotients: hg.Out[hg.f32, "n"], truths: hg.Out[hg.bool, "n"]):
    i = hg.lane()
    wraps[i] = a[i] * 3 + a[i]
    sums[i] = a[i] + b[i]
    halves[i] = h[i] * h[i] + 0.1
    quotients[i] = b[i] / (a[i] | 1)
    truths[i] = a[i] > 100 or b[i] < 0 and not h[i] > 0


def test_types():
    a, b, h = random.randint(0, 256, 50).astype("u1"), random.randint(-128, 128, 50).astype("i1"), random.randn(50).astype("f2")
    outs = [np.zeros(50, t) for t in ("u1", "i4", "f2", "f4", "?")]
    types(a, b, h, *outs)
    with np.errstate(all="ignore"):
        want = [a * np.uint8(3) + a, a.astype("i4") + b, h * h + np.float16(0.1), b.astype("f4") / (a | 1).astype("f4"), (a > 100) | (b < 0) & ~(h > 0)]
    for got, expected, what in zip(outs, want, ("u8 wraps", "u8 + i8 is i16", "f16 rounds", "/ is f32", "bool")):
        same(got, expected, what)
    again = [np.zeros_like(one) for one in outs]
    hg.interpret(types)(a, b, h, *again)
    for got, expected in zip(again, outs):
        same(got, expected, "the same interpreted")


@hg.kernel
def functions(x: hg.In[hg.f64, "n"], y: hg.Out[hg.f64, 12, "n"]):
    i = hg.lane()
    v = x[i]
    y[0, i] = math.sqrt(abs(v)) + math.pi
    y[1, i] = np.sqrt(v * v) + np.maximum(v, 0.5)
    y[2, i] = hg.sqrt(v * v) + hg.maximum(v, -1)
    y[3, i] = math.floor(v) + math.ceil(v) * 10 + round(v) * 100 + int(v) * 1000
    y[4, i] = hg.fma(v, v, 1.0)
    y[5, i] = min(v, 0.25, -v) + max(v, 1)
    y[6, i] = math.copysign(2.0, v) + math.fmod(v, 0.75)
    y[7, i] = 1.0 if math.isnan(v / v) else 2.0 + math.isinf(1.0 / (v - v))
    y[8, i] = hg.bits(hg.f64, hg.bits(hg.u64, v) ^ (1 << 63))
    y[9, i] = hg.popc(hg.u32(i)) + hg.clz(hg.u32(i + 1)) + hg.rotl(hg.u8(i), 3)
    y[10, i] = v ** 2 + (i + 2) ** 3 + divmod(i, 4)[0]
    y[11, i] = hg.select(v > 0, v, -1) + len(x) + x.size + y.shape[0]


def test_functions():
    x, y = random.randn(16) * 3, np.zeros((12, 16))
    functions[16](x, y)
    i = np.arange(16)
    bits = np.array([bin(k).count("1") for k in range(16)])
    clz = np.array([32 - int(k + 1).bit_length() for k in range(16)])
    rotl = (i << 3 | i >> 5) & 255
    want = [np.sqrt(abs(x)) + np.pi, abs(x) + np.maximum(x, 0.5), abs(x) + np.maximum(x, -1), np.floor(x) + np.ceil(x) * 10 + np.rint(x) * 100 + np.trunc(x) * 1000,
            None, np.minimum(np.minimum(x, 0.25), -x) + np.maximum(x, 1), np.copysign(2.0, x) + np.fmod(x, 0.75), np.full(16, 3.0), -x,
            (bits + clz + rotl).astype("f8"), x * x + ((i + 2) ** 3 + i // 4), np.where(x > 0, x, -1) + 16 + 16 + 12]
    want[10] = x * x + (i + 2) ** 3 + i // 4
    for k, expected in enumerate(want):
        if expected is not None:
            same(y[k], expected, f"functions, row {k}")
    checks.check(np.abs(y[4] - (x * x + 1)).max() < 1e-14, "fma")
    again = np.zeros((12, 16))
    hg.interpret(functions)[16](x, again)
    same(again, y, "functions interpreted")


@hg.kernel
def once(x: hg.In[hg.i64, "n"], calls: hg.Inout[hg.i32, 1], y: hg.Out[hg.i64, "n"]):
    i = hg.lane()
    y[i] = 0
    if 0 < hg.atomic_add(calls, 0, 1) + x[i] < 40:
        y[i] = 1
    if i >= 0 or x[i + 1000] > 0:
        y[i] += 2
    y[i] += 4 if i == 0 else x[i - 1] * 0 + 8
    if i > 0 and x[i - 1] >= -99 and (k := x[i]) > -99:
        y[i] += 16 * (k == x[i])


def test_once():
    x, calls, y = np.full(6, 10), np.zeros(1, "i4"), np.zeros(6, "i8")
    once(x, calls, y)
    same(calls, np.array([6], "i4"), "the middle of a chain is worked out once")
    same(y, np.array([7, 27, 27, 27, 27, 27]), "what stays unevaluated")


def test_fault():
    x, y = np.zeros(4, "f4"), np.zeros(4, "f4")

    @hg.kernel
    def beyond(x: hg.In[hg.f32, "n"], y: hg.Out[hg.f32, "n"]):
        i = hg.lane()
        y[i] = x[i + 1]
    text = refused(hg.ExecutionError, "index 4 is outside of axis 0 of 'x'", lambda: beyond(x, y), "a fault")
    checks.check("run_kernels.py:" in text and "y[i] = x[i + 1]" in text and "^" in text and "lane 3" in text, f"a fault shows its line: {text}")
    refused(hg.ExecutionError, "out of bounds", lambda: hg.interpret(beyond)(x, y), "a fault, interpreted")

    @hg.kernel
    def divides(x: hg.In[hg.i32, "n"], y: hg.Out[hg.i32, "n"]):
        y[hg.lane()] = 7 // x[hg.lane()]
    text = refused(hg.ExecutionError, "division by zero", lambda: divides(np.array([1, 0], "i4"), np.zeros(2, "i4")), "a division by zero")
    checks.check("7 // x[hg.lane()]" in text and "lane 1" in text, f"a division by zero shows its line: {text}")


def test_debug():
    @hg.kernel
    def scale(x: hg.In[hg.f32, "n"], y: hg.Out[hg.f32, "n"]):
        i = hg.lane()
        v = x[i] * 0.1
        y[i] = v + 1
    x, y, want, kept = np.arange(4, dtype="f4"), np.zeros(4, "f4"), np.zeros(4, "f4"), (sys.stdin, sys.stdout)
    scale(x, want)
    sys.stdin, sys.stdout = io.StringIO("next\nnext\np v, i\ncontinue\n"), io.StringIO()
    try:
        scale.debug(lane=2)(x, y)
        said = sys.stdout.getvalue()
    finally:
        sys.stdin, sys.stdout = kept
    checks.check("-> v = x[i] * 0.1" in said and "-> y[i] = v + 1" in said and "(f32(0.2000000" in said and "i64(2))" in said, f"steps of a lane: {said}")
    same(y, want, "a lane that was stepped through, and the others")


def test_calls():
    x, y = np.zeros(8, "f4"), np.zeros(8, "f4")
    frozen = np.zeros(8, "f4")
    frozen.flags.writeable = False
    for kind, words, work in (
            (ValueError, "n is 8 by x (axis 0) and 7 by y (axis 0)", lambda: axpy(1, x, y[:7])),
            (TypeError, "x is of float64: expected f32", lambda: axpy(1, np.zeros(8), y)),
            (TypeError, "y is a list", lambda: axpy(1, x, [1.0])),
            (ValueError, "y does not lie in row order", lambda: axpy(1, x[::2], y[::2])),
            (ValueError, "y is read-only", lambda: axpy(1, x, frozen)),
            (ValueError, "x has 2 axes", lambda: axpy(1, x.reshape(2, 4), y)),
            (TypeError, "needs the array y", lambda: axpy(1, x)),
            (TypeError, "needs the number a", lambda: axpy(x=x, y=y)),
            (TypeError, "takes 3 arguments", lambda: axpy(1, x, y, 2)),
            (TypeError, "has no parameter z", lambda: axpy(1, x, y, z=1)),
            (TypeError, "got x twice", lambda: axpy(1, x, x=x)),
            (TypeError, "a is a str", lambda: axpy("1", x, y)),
            (TypeError, "the number of lanes is an integer", lambda: axpy["n"](1, x, y)),
            (TypeError, "is a function for kernels", lambda: hg.lane())):
        if "row order" in words:
            work = lambda: axpy(1, x, np.zeros(16, "f4")[::2])  # noqa: E731
        refused(kind, words, work, words)
    for value, words in ((300, "goes from 0 to 255"), (1.5, "expected an integer")):
        @hg.kernel
        def fill(v: hg.u8, y: hg.Out[hg.u8, "n"]):
            y[hg.lane()] = v
        refused((OverflowError, TypeError), words, lambda value=value: fill(value, np.zeros(3, "u1")), words)


def test_again():
    """A launch that is kept for equal arguments has the numbers that it is called with."""
    x, y = np.ones(4, "f4"), np.zeros(4, "f4")
    numbers = np.zeros((), "f4")
    wrong = []
    for i in range(40):
        y[:] = 0
        axpy(np.float32(i), x, y)  # a scalar of NumPy: each may lie where the one before has lain
        if y[0] != i:
            wrong.append(i)
    checks.check(not wrong, f"scalars of NumPy: {wrong}")

    @hg.kernel
    def add(n: hg.i32, y: hg.Inout[hg.i32, "n_y"]):
        y[hg.lane()] += n
    made, numbers = np.zeros(3, "i4"), np.zeros((), "i4")
    for i in range(4):
        numbers[...] = i
        add(numbers, made)
    given = hg.zeros((), dtype="int32")
    for i in range(4):
        given[...] = i
        add(given, made)
    same(made, np.full(3, 12, "i4"), "arrays without axes whose number changes")
    for two in (np.array(2, "f8"), hg.asarray(2.0), np.float64(2)):
        y[:] = 0
        axpy(two, x, y)
        same(y, 2 * x, f"a = {two!r}")
    refused(TypeError, "the number of lanes is an integer", lambda: axpy[-1](1, x, y), "lanes of -1, after none")
    refused(TypeError, "the number of lanes is an integer", lambda: axpy[2**64 + 1](1, x, y), "more lanes than 64 bits")
    refused(ValueError, "lanes, fewer than", lambda: axpy[2**40, 2**40](1, x, y), "more lanes than 64 bits, by axes")


def test_cycles():
    """A kernel that nobody has any more is freed, though it is a name of the module whose names it reads."""
    import gc
    import linecache
    import types
    import weakref
    text = "import hologram as hg\nK = 3\n@hg.kernel\ndef k(x: hg.Inout[hg.f32, 'n']):\n    i = hg.lane()\n    x[i] = x[i] + K\n"
    linecache.cache["<cycles>"] = (len(text), None, text.splitlines(True), "<cycles>")
    module, x = types.ModuleType("cycles"), np.zeros(3, "f4")
    exec(compile(text, "<cycles>", "exec"), module.__dict__)
    for _ in range(3):
        module.k(x)
    module.bound = module.k.bind(x)
    kept = weakref.ref(module.k)
    same(x, np.full(3, 9, "f4"), "a kernel of a module that was made")
    del module
    gc.collect()
    checks.check(kept() is None, "a kernel is left behind")


@hg.kernel
def rotate(x: hg.Inout[hg.u32, "n"], k: hg.u32):
    i = hg.lane()
    for _ in range(k):
        v = x[(i + 1) % x.shape[0]]
        hg.grid_barrier()
        x[i] = v
        hg.grid_barrier()


@hg.kernel
def largest(x: hg.In[hg.i32, "n"], top: hg.Inout[hg.i32, 1]):
    v, old = x[hg.lane()], top[0]
    while old < v:
        hg.fence("device")
        before = hg.atomic_cas(top, 0, old, v)
        old = v if before == old else before


@hg.kernel
def least(label: hg.Inout[hg.u32, "n"], link: hg.In[hg.u32, "n"], rounds: hg.Out[hg.u32, 1], all_zero: hg.Out[hg.u32, "n"]):
    i, k, changed = hg.lane(), hg.u32(0), True
    while hg.grid_any(changed):
        other = label[link[i]]
        changed = other < label[i]
        hg.grid_barrier()
        if changed:
            label[i] = other
        k += 1
    if i == 0:
        rounds[0] = k
    all_zero[i] = 2 if hg.grid_all(label[i] == 0) and not hg.grid_all(i > 0) else 1


def test_meeting():
    x = random.randint(0, 1000, 300).astype("i4")
    for how in (lambda one: one, hg.interpret):
        y = np.arange(70, dtype="u4")
        how(rotate)(y, 3)
        same(y, np.roll(np.arange(70, dtype="u4"), -3), "lanes of a launch that meet")
        ring, rounds, end = np.arange(70, dtype="u4"), np.zeros(1, "u4"), np.zeros(70, "u4")
        label = ring[::-1].copy()
        how(least)[70](label, np.roll(ring, 1), rounds, end)
        checks.check(not label.any() and rounds[0] == 70 and (end == 2).all(), f"votes of a launch: {label}, {rounds}, {end}")
        top = np.zeros(1, "i4")
        how(largest)[300](x, top)
        same(top, x.max(keepdims=True), "compare and swap")


@hg.kernel(device=hg.Executor("cpu", jit="on"))
def beside(x: hg.In[hg.f32, "h + 2", "w + 1"], y: hg.Out[hg.f32, "h", "w"], off: hg.i32):
    j, i = hg.grid(2)
    y[j, i] = x[j, i] + x[j + off, i] * 2.0 - x[j + 1, i + 1]


def test_rows():
    """Rows of whole turns are asked once for many, others turn by turn: both know their neighbours, and where an index is outside."""
    for h, w in ((1, 1), (3, 15), (5, 16), (2, 17), (9, 32), (4, 40), (3, 48), (2, 256), (1, 1040), (37, 64)):
        x, y = random.random((h + 2, w + 1)).astype("f4"), np.zeros((h, w), "f4")
        beside(x, y, 2)
        same(y, x[:h, :w] + x[2:, :w] * np.float32(2) - x[1:-1, 1:], f"{h} rows of {w}")
        try:
            beside(x, y, 3)
            checks.check(False, f"{h} rows of {w}: no fault")
        except hg.ExecutionError as error:
            checks.check(error.lane == (h - 1) * w and f"index {h + 2} is outside of axis 0 of 'x'" in str(error), f"{h} rows of {w}: {error.lane} {error}")
        try:
            beside(x, y, -1)
            checks.check(False, f"{h} rows of {w}: no fault below 0")
        except hg.ExecutionError as error:
            checks.check(error.lane == 0 and "index -1 is outside of axis 0 of 'x'" in str(error), f"{h} rows of {w}: {error.lane} {error}")


@hg.kernel
def transposed(x: hg.In[hg.f32, "h", "w"], y: hg.Out[hg.f32, "h", "w"]):
    j, i = hg.grid(2)
    y[j, i] = x[j, i]


@hg.kernel
def guards(x: hg.In[hg.i32, "n"], y: hg.Out[hg.i32, "n"]):
    i, n, found = hg.lane(), x.shape[0], 0
    v = hg.i64(x[i])
    if i - 3 < 0:
        found += 1
    if i < n - 2:
        found += 2
    if i * 2 + 1 >= n:
        found += 4
    if v < n:
        found += 8
    if i // 2 <= i % 3 + 1:
        found += 16
    for j in range(n - 1, -4, -1):
        if j < i:
            found += 32
    for j in range(v, 2):
        if j < i:
            found += 4096
    for j in (1, -1):
        w = i + j
        if w < i:
            found += 1 << 20
    y[i] = found


def test_guards():
    x, y = random.randint(-9, 9, 12).astype("i4"), np.zeros(12, "i4")
    guards(x, y)
    want = [(i < 3) + 2 * (i < 10) + 4 * (2 * i + 1 >= 12) + 8 * (x[i] < 12) + 16 * (i // 2 <= i % 3 + 1) + 32 * sum(j < i for j in range(11, -4, -1))
            + 4096 * sum(j < i for j in range(x[i], 2)) + (1 << 20) for i in range(12)]
    same(y, np.array(want, "i4"), "comparisons of coordinates")
    checks.check("u64(i * 2 + 1) >= u64(n" in guards.explain() and "if i - 3 < 0" in guards.explain(), f"comparisons without a sign: {guards.explain()}")
    far = np.zeros((1 << 57, 0), "f4")
    refused(ValueError, "extents up to 2^56", lambda: transposed(far, far), "an extent beyond all memory")


Any, Real = TypeVar("Any"), TypeVar("Real", hg.f32, hg.f64)


def clamped(window, low, high):
    for k in range(3):
        window[k] = min(max(window[k], low), high)


@hg.kernel
def open_types(x: hg.In[Real, "n"], a: Real, y: hg.Inout[Real, "n"], count: hg.Inout[Any, 1], one: Any = 1):
    i = hg.lane()
    window = hg.private(Real, 3)
    total: Real = 0
    for k in range(3):
        window[k] = x[(i + k) % x.shape[0]] * a
    clamped(window, Real(-2), 2)
    for k in range(3):
        total += window[k]
    y[i] = total
    if i == 0:
        count[0] += one


def test_open_types():
    for real, number in (("f4", "i4"), ("f8", "u1"), ("f4", "u1"), ("f8", "i4")):
        x, count = random.randn(9).astype(real), np.full(1, 4, number)
        y, z = np.zeros(9, real), np.zeros(9, real)
        open_types[9](x, 1.7, y, count)
        window = [np.clip(np.roll(x, -k) * np.dtype(real).type(1.7), -2, 2) for k in range(3)]
        same(y, (window[0] + window[1]) + window[2], f"open types {real}")
        same(count, np.full(1, 5, number), f"open types {number}")
        hg.interpret(open_types)[9](x, 1.7, z, count)
        same(z, y, f"open types {real}, interpreted, a private array passed to a function")
    checks.check([why for _, why in open_types.signatures] == ["first call"] + 3 * ["other types"] and "window f64" not in open_types.listing(Real=hg.f32, Any=hg.i8)
                 and ".f64" in open_types.listing(Real=hg.f64, Any=hg.i8), f"signatures {open_types.signatures}")
    refused(TypeError, "Real is i32: expected f32 or f64", lambda: open_types(count, 1, count, count), "a type that is not allowed")
    refused(TypeError, "Real is f32 by x and f64 by y", lambda: open_types(x.astype("f4"), 1, y.astype("f8"), count), "two types for one")
    refused(TypeError, "x is a list", lambda: open_types([1.0], 1, y, count), "a list for an open type")
    refused(TypeError, "needs the type Real", lambda: open_types.atlas, "a text of open types")


def test_builder():
    b = hg.Builder("axpy", a=hg.f32, x=hg.In[hg.f32, "n"], y=hg.Inout[hg.f32, "n"])
    i = b.lane()
    b["y"][i] = b["a"] * b["x"][i] + abs(b["y"][i]) - 0.5
    program, x, y = b.build(), random.randn(9).astype("f4"), random.randn(9).astype("f4")
    want = (np.float32(2) * x + np.abs(y)) - np.float32(0.5)
    program(2.0, x, y)
    same(y, want, "axpy by a builder")
    refused(TypeError, "is built", b.build, "a builder that is done")
    b = hg.Builder("collatz", x=hg.In[hg.u32, "n"], y=hg.Out[hg.u32, "n"], sums=hg.Out[hg.i64, "n"], odd=hg.Out[hg.bool, "n"])
    i = b.lane()
    v, steps, total = b.variable(hg.u32, b["x"][i]), b.variable(hg.u32), b.variable(hg.i64, 7)
    b["odd"][i] = (v % 2 == 1) & (v != 3)
    with b.forever():
        with b.when(v <= 1):
            b.leave()
        b.choose(v % 2 == 0, lambda: v.set(v // 2), lambda: v.set(3 * v + 1))
        steps += 1
    with b.loop(b["x"].shape[0], 0, -2) as k:
        total += -(k * i) // 3
    b["y"][i], b["sums"][i] = steps, total
    x, y, sums, odd = np.arange(1, 9, dtype="u4"), np.zeros(8, "u4"), np.zeros(8, "i8"), np.zeros(8, "?")
    b.build()(x, y, sums, odd)
    same(y, np.array([0, 1, 7, 2, 5, 8, 16, 3], "u4"), "loops by a builder")
    same(sums, np.array([7 + sum(-(k * i) // 3 for k in range(8, 0, -2)) for i in range(8)], "i8"), "a loop down by a builder")
    same(odd, (x % 2 == 1) & (x != 3), "conditions by a builder")
    b = hg.Builder("histogram", block=32, x=hg.In[hg.u8, "n"], counts=hg.Inout[hg.i32, 8], total=hg.Out[hg.i32, "b"])
    mine, i, k = b.shared(hg.i32, 8), b.lane(), b.block_lane()
    inside = i < b["x"].shape[0]
    with b.when(inside):
        b.atomic_add(mine, b["x"][i] >> 5, 1)
    b.barrier()
    with b.when(k < 8):
        b.atomic_add(b["counts"], k, mine[k])
    many = b.block_sum(b.select(inside, 1, 0))
    with b.when(k == 0):
        b["total"][b.block()] = many
    x, counts, total = random.randint(0, 256, 100).astype("u1"), np.zeros(8, "i4"), np.zeros(4, "i4")
    b.build().bind(x, counts, total, grid=4, block=32).launch()
    same(counts, np.bincount(x >> 5, minlength=8).astype("i4"), "a histogram by a builder")
    same(total, np.array([32, 32, 32, 4], "i4"), "a sum over blocks by a builder")
    b, other = (hg.Builder("wrong", x=hg.In[hg.f32, "n"], y=hg.Out[hg.f32, "n"]) for _ in range(2))
    for kind, words, work in ((hg.ProgramError, "bits are of integers", lambda: b.lane() & 1.5), (TypeError, "not known while", lambda: bool(b.lane() > 1)),
                              (AttributeError, "no frobnicate", lambda: b.frobnicate(1)), (hg.ProgramError, "takes 1 integers", lambda: b["y"][0.5]),
                              (hg.ProgramError, "another builder", lambda: b.lane() + other.lane()), (KeyError, "no parameter z", lambda: b["z"]),
                              (hg.ProgramError, "In array", lambda: b["x"].__setitem__(0, 1.0)), (hg.ProgramError, "expected a number", lambda: b.lane() + b["x"]),
                              (hg.ProgramError, "step that is a number", lambda: b.loop(0, 9, b.lane()).__enter__()), (TypeError, "no output", lambda: hg.Builder("n")),
                              (TypeError, "expected a type", lambda: hg.Builder("n", x=3)), (hg.ProgramError, "number", lambda: b.lane() + "text"),
                              (TypeError, "is no type", lambda: b.variable("f31")), (hg.ProgramError, "fma takes 3", lambda: b.fma(1.0, 2.0))):
        said = refused(kind, words, work, words)
        checks.check(kind is not hg.ProgramError or "run_kernels.py:" in said and "^" in said, f"the place of: {said}")


KEPT = '''
import hologram as hg
import numpy as np

LEVEL = 3
TABLE = np.arange(4, dtype="f4")
UNUSED = 1


class Settings:
    scale = 2.0


def helper(v, more=1):
    return v * Settings.scale + LEVEL + more


@hg.kernel
def f(x: hg.In[hg.f32, "n"], y: hg.Out[hg.f32, "n"], power: hg.static = 2):
    # UNUSED is no name of it
    i = hg.lane()
    y[i] = helper(x[i]) ** power + TABLE[i % 4]


x, y = np.arange(6, dtype="f4"), np.zeros(6, "f4")
f(x, y)
want = (x * np.float32(Settings.scale) + np.float32(LEVEL) + np.float32(helper.__defaults__[0])) ** 2 + TABLE[np.arange(6) % 4]
'''
KEPT_RUN = '''
import sys
sys.path.insert(0, sys.argv[1])
from hologram import _compile
passes, begin = [], _compile.begin
_compile.begin = lambda *both: (passes.append(1), begin(*both))
import kept
print(kept.f.signatures[0][1], len(passes) > 0, (kept.y == kept.want).all())
'''


RACE_RUN = '''
import os, sys, time
sys.path.insert(0, sys.argv[1])
import numpy as np
import kept
open(os.path.join(sys.argv[1], "ready" + sys.argv[2]), "w").close()
while not all(os.path.exists(os.path.join(sys.argv[1], f"ready{k}")) for k in "01"):
    time.sleep(0.001)
right = True
for power in range(3, 27):
    y = np.zeros(2, "f4")
    kept.f(kept.x[:2], y, power)
    right = right and y[0] == np.float32(4) ** power
print(right)
'''


def kept(folder, text, name="kept"):
    """A module of that text at the same place as the one before."""
    with open(os.path.join(folder, "kept.py"), "w") as file:
        file.write(text)
    module = python_types.ModuleType(name)
    try:
        exec(compile(text, file.name, "exec"), module.__dict__)
    finally:
        for thread in threading.enumerate():
            if thread.name == "hologram kept kernels":
                thread.join()
    checks.check((module.y == module.want).all(), f"a kernel that may be kept: {module.y} for {module.want}")
    return module


def test_kept():
    if os.environ.get("HOLOGRAM_CACHE_DIR", "off") == "off":  # again, with a folder
        with tempfile.TemporaryDirectory() as folder:
            said = subprocess.run([sys.executable, "-B", __file__, "kept"], env={**os.environ, "HOLOGRAM_CACHE_DIR": folder}, capture_output=True, text=True)
            checks.check(said.returncode == 0, f"kept kernels: {said.stdout}{said.stderr}")
        return
    folder = os.environ["HOLOGRAM_CACHE_DIR"]
    kept(folder, KEPT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    commands = [([sys.executable, "-B", "-c", KEPT_RUN, folder], where) for where in (folder, os.path.join(folder, "kept.py", "none"))]
    children = [subprocess.Popen(one, env={**environment, "HOLOGRAM_CACHE_DIR": where}, stdout=subprocess.PIPE, text=True) for one, where in commands]
    said = [one.communicate()[0].strip() for one in children]
    checks.check(said == ["from the disk False True", "first call True True"], f"a second process, and one without a folder: {said}")
    together = [subprocess.Popen([sys.executable, "-B", "-c", RACE_RUN, folder, k], env=environment, stdout=subprocess.PIPE, text=True) for k in "01"]
    said = [one.communicate()[0].strip() for one in together]
    checks.check(said == ["True", "True"], f"two processes that keep the same kernels at once: {said}")
    module, y = kept(folder, KEPT), np.zeros(2, "f4")
    for power in range(3, 27):
        module.f(module.x[:2], y, power)
        checks.check(module.f.signatures[-1][1].endswith("from the disk") and y[0] == np.float32(4) ** power, f"kept by two at once: {module.f.signatures[-1]}, {y}")
    text = KEPT
    for before, after, why in (("", "", "from the disk"), ("LEVEL = 3", "LEVEL = 4", "LEVEL has changed since it was kept"),
                               ("scale = 2.0", "scale = 2.5", "scale has changed since it was kept"),
                               ("arange(4, dtype", "arange(1, 5, dtype", "TABLE has changed since it was kept"),
                               ("+ LEVEL + more", "+ more + LEVEL", "the source of helper has changed since it was kept"),
                               ("more=1", "more=2", "the source of helper has changed since it was kept"),
                               ("i = hg.lane()", "i = hg.lane() + 0", "the source of f has changed since it was kept"), ("UNUSED = 1", "UNUSED = 2", "from the disk")):
        text = text.replace(before, after)
        module = kept(folder, text)
        checks.check(module.f.signatures[0][1] == why, f"{after or 'the same'}: {module.f.signatures[0][1]}, not {why}")
    first, again = kept(folder, KEPT), kept(folder, KEPT.replace("@hg.kernel", "@hg.kernel(cache=False)"))
    checks.check(first.f.explain(power=2).split(chr(10), 1)[1] == again.f.explain(power=2).split(chr(10), 1)[1] and again.f.signatures[0][1] == "first call",
                 "the program from the disk is another one")
    z = np.zeros(6, "f4")
    hg.interpret(first.f)(first.x, z)
    same(z, first.y, "a kernel from the disk interpreted")
    from hologram import _kept
    found = _kept.Dependences(first.f, {"power": 2})
    key, executor = _kept.key_of(first.f, found.parts), _kept._executor.executor_of("cpu")
    good = _kept.get(key)
    for bad in (b"", b"garbage", b"1", good[:len(good) // 2], good.replace(b".py", b".pz"), good[:-1], b"0" * 5000 + good, b"0\n\n" + bytes(200)):
        _kept.put(executor, key, bad)
        kept(folder, KEPT)
    for name in os.listdir(os.path.join(folder, "blobs-1")):
        os.truncate(os.path.join(folder, "blobs-1", name), 40)
    module = kept(folder, KEPT)
    checks.check(module.f.signatures[0][1] == "first call", f"a file that was cut off: {module.f.signatures[0][1]}")
    said = [refused(hg.ExecutionError, "TABLE[i]", lambda: kept(folder, KEPT.replace("TABLE[i % 4]", "TABLE[i]")), "a fault") for _ in range(2)]
    checks.check(said[0] == said[1] and "in lane" in said[0], f"the fault of a kernel from the disk: {said}")


def test_namespace():
    checks.check(not hasattr(hg, "no_such_thing") and hg.kernel is not None and float(hg.f32(0.1)) == float(np.float32(0.1)) and hg.u8(250) + hg.u8(10) == 4,
                 "hg's names")


def main():
    wanted = sys.argv[1:]
    for name, test in list(globals().items()):
        if name.startswith("test_") and (not wanted or name[5:] in wanted):
            try:
                test()
            except Exception as error:
                import traceback
                checks.check(False, f"{name}: {''.join(traceback.format_exception(error)[-3:])}")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
