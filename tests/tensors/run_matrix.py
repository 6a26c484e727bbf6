#!/usr/bin/python3
"""Products, linear algebra and networks on tensors against NumPy and formulas in f64, at once and in a scope with equal bits.

    tests/tensors/run_matrix.py [--backend B] [--seed N] [--rounds N] [NAME...]

NAME: operations, all unless told. Last line: N passed, N failed, N skipped."""
import argparse
import ctypes as C
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tensors import Executor, Layout, Refused, checks, np  # noqa: E402

FLOATS = ["f4", "f8", "f2"]
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]
UNIT = {"f2": 2.0 ** -11, "f4": 2.0 ** -24, "f8": 2.0 ** -53}
CASES = []


def case(*names):
    def add(function):
        CASES.extend((name, function) for name in names)
        return function
    return add


class Case:
    """What one call is compared with: inputs as Layouts, options, and `want` in f64 or exact. `bound`: how many units of the result's type, of numbers of the size
    `scale`, the result may be away. `more`: further results."""

    def __init__(self, inputs, want, bound=8, scale=1.0, kind=None, more=(), **options):
        self.inputs, self.wants, self.bound, self.scale, self.kind, self.options = inputs, [np.asarray(x) for x in (want, *more)], bound, scale, kind, options


class Making:
    """Random arrays of a type. In rounds one after another, `turn` takes each of a list."""

    def __init__(self, random, round):
        self.random, self.round = random, round

    def turn(self, all):
        return all[self.round % len(all)]

    def elements(self, kind, low=-9, high=10):
        kind = np.dtype(kind)

        def make(shape):
            if kind.kind == "b":
                return self.random.integers(0, 2, shape).astype(kind)
            if kind.kind in "iu":
                return self.random.integers(0 if kind.kind == "u" else low, high, shape).astype(kind)
            return self.random.standard_normal(shape).astype(kind)
        return make

    def array(self, kind, shape, plain=False, make=None):
        return Layout(self.random, make or self.elements(kind), shape, plain)

    def given(self, array):
        return Layout(self.random, lambda shape: array, array.shape, True)

    def kind(self, kinds=FLOATS):
        return kinds[self.random.integers(0, len(kinds))]

    def number(self, low, high):
        return int(self.random.integers(low, high))


def wide(layout):
    a = layout.array
    return a.astype("f8") if a.dtype.kind == "f" else a


def product_case(m, a, b, want, terms=1, **options):
    """Sums of products: away by as many units as there are terms, of the sum of absolute values."""
    if want.dtype.kind == "f":
        return Case([a, b], want, 2 * terms + 8, float(np.abs(wide(a)).max(initial=1) * np.abs(wide(b)).max(initial=1)), np.result_type(a.array, b.array), **options)
    return Case([a, b], want, kind=np.result_type(a.array, b.array), **options)


@case("matmul")
def matmul(m):
    kind = m.kind(FLOATS + INTEGERS)
    rows, inner, columns = m.number(0, 9), m.number(0, 20), m.number(1, 9)
    batch = m.turn([[], [2], [2, 3], [0], [2, 1, 3]])
    other = [[], batch, [1] * len(batch), batch[1:]][m.number(0, 4)]
    a = m.array(kind, [inner] if m.number(0, 6) == 0 else batch + [rows, inner])
    b = m.array(kind, [inner] if m.number(0, 6) == 0 else other + [inner, columns])
    return product_case(m, a, b, np.asarray(np.matmul(wide(a), wide(b))), inner)


@case("bmm", "matvec", "vecdot", "outer", "tensordot", "cross")
def products(m, name):
    kind = m.kind(FLOATS + INTEGERS[:8])
    n = [m.number(0, 6) for _ in range(4)]
    if name == "bmm":
        a, b = m.array(kind, n[:3]), m.array(kind, [n[0], n[2], n[3]])
        return product_case(m, a, b, np.matmul(wide(a), wide(b)), n[2])
    if name == "matvec":
        a, b = m.array(kind, n[:2]), m.array(kind, n[1:2])
        return product_case(m, a, b, np.matmul(wide(a), wide(b)), n[1])
    if name == "outer":
        a, b = m.array(kind, n[:1]), m.array(kind, n[1:2])
        return product_case(m, a, b, np.multiply.outer(wide(a), wide(b)))
    if name == "vecdot":
        axis = m.number(-3, 3)
        a, b = m.array(kind, n[:3]), m.array(kind, [n[0], 1, n[2]] if axis % 3 != 1 else n[:3])
        return product_case(m, a, b, np.sum(wide(a) * wide(b), axis=axis, dtype=wide(a).dtype), 6, axes=axis)
    if name == "cross":
        axis = m.number(0, 3)
        shape = n[:2]
        shape.insert(axis, 3)
        a, b = m.array(kind, shape), m.array(kind, [1 if d != axis and m.number(0, 4) == 0 else x for d, x in enumerate(shape)])
        return product_case(m, a, b, np.cross(wide(a), wide(b), axis=axis), 2, axes=axis)
    if m.number(0, 2):
        count = m.number(0, 3)
        a, b = m.array(kind, n[:3]), m.array(kind, n[3 - count:3] + [n[3]])
        return product_case(m, a, b, np.tensordot(wide(a), wide(b), count), 36, sizes=[count])
    a, b = m.array(kind, n[:3]), m.array(kind, [n[2], n[3], n[0]])
    return product_case(m, a, b, np.tensordot(wide(a), wide(b), ((0, 2), (2, 0))), 36, axes=[0, 2, 2, 0])


@case("gemm")
def gemm(m):
    kind = m.kind()
    n = [m.number(0, 12) for _ in range(3)]
    a, b, c = m.array(kind, [n[0], n[1]]), m.array(kind, [n[1], n[2]]), m.array(kind, [n[0], n[2]])
    want = 0.5 * (wide(a) @ wide(b))
    if m.number(0, 2):
        return Case([a, b], want, 2 * n[1] + 8, 9, kind, numbers=[0.5])
    return Case([a, b, c], want - 2 * wide(c), 2 * n[1] + 8, 9, kind, numbers=[0.5, -2])


@case("fused_linear")
def fused_linear(m):
    kind = m.kind()
    n = [m.number(0, 9) for _ in range(4)]
    x, w, b = m.array(kind, n[:3] if m.number(0, 3) else n[2:3]), m.array(kind, n[2:]), m.array(kind, n[3:])
    return Case([x, w, b], wide(x) @ wide(w) + wide(b), 2 * n[2] + 8, 9, kind)


@case("trace", "diagonal", "matrix_transpose")
def diagonals(m, name):
    kind = m.kind(FLOATS + INTEGERS)
    a, by = m.array(kind, [m.number(0, 4), m.number(0, 7), m.number(0, 7)]), m.number(-4, 5)
    if name == "matrix_transpose":
        return Case([a], a.array.swapaxes(-1, -2), kind=kind)
    if name == "diagonal":
        return Case([a], np.diagonal(a.array, by, -2, -1), kind=kind, numbers=[by])
    kind = kind if kind[0] == "f" else "u8" if kind[0] == "u" else "i8"
    return Case([a], np.trace(wide(a), by, -2, -1, kind if kind[0] != "f" else "f8"), 16, 8, kind, numbers=[by])


@case("matrix_norm")
def matrix_norm(m):
    kind, shape = m.kind(FLOATS + ["i2", "i4"]), [m.number(0, 3), m.number(1, 9), m.number(1, 200)]
    order, keep = m.turn([0, 1, -1, np.inf, -np.inf]), bool(m.number(0, 2))
    a = m.array(kind, shape)
    if kind[0] == "f" and a.array.size and m.number(0, 8) == 0:
        base = a.base
        base[(0,) * base.ndim] = np.nan
    want = np.linalg.norm(a.array.astype("f8"), order or "fro", (-2, -1), keep)
    return Case([a], want, 300, np.abs(np.nan_to_num(want)).max(initial=1), {"i2": "f4", "i4": "f8"}.get(kind, kind), numbers=[order], keepdims=keep)


def regular(m, kind, batch, n):
    return Layout(m.random, lambda shape: (m.random.standard_normal(shape) + 4 * np.eye(n)).astype(kind), batch + [n, n], True)


@case("det", "solve", "inv", "matrix_power")
def equations(m, name):
    kind, batch, n = m.kind(["f4", "f8"]), [[], [2], [2, 3], [0]][m.number(0, 4)], m.number(0, 9)
    a = regular(m, kind, batch, n)
    if m.number(0, 2) and batch == []:
        order = [int(x) for x in m.random.permutation(n)]   # rows must be exchanged
        a = m.given(a.array[order])
    double = a.array.astype("f8")
    if name == "det":
        want = np.linalg.det(double)
        return Case([a], want, 200, np.abs(want).max(initial=1), kind)
    if name == "inv":
        return Case([a], np.linalg.inv(double), 800, 4, kind)
    if name == "matrix_power":
        power = m.turn([0, 1, 2, 3, 5, -1, -2, 7])
        want = np.linalg.matrix_power(double, power)
        return Case([a], want, 800, np.abs(want).max(initial=1), kind, numbers=[power])
    if m.number(0, 3) == 0:
        b = m.array(kind, [n])
        return Case([a, b], np.linalg.solve(double, np.broadcast_to(wide(b)[:, None], batch + [n, 1]))[..., 0], 800, 4, kind)
    b = m.array(kind, [[], batch][m.number(0, 2)] + [n, m.number(0, 5)])
    return Case([a, b], np.linalg.solve(double, np.broadcast_to(wide(b), batch + list(b.array.shape[-2:]))), 800, 4, kind)


def soft(x, axis, log):
    if not x.size:
        return x
    shifted = x - x.max(axis, keepdims=True)
    total = np.exp(shifted).sum(axis, keepdims=True)
    return shifted - np.log(total) if log else np.exp(shifted) / total


@case("softmax", "log_softmax")
def softmax(m, name):
    kind, shape = m.kind(FLOATS + ["i1", "i4"]), [m.number(0, 5), m.number(0, 5), m.number(0, 300)]
    axis = m.number(-3, 3)
    x = m.array(kind, shape)
    return Case([x], soft(wide(x).astype("f8"), axis, name == "log_softmax"), 64, 1 if name == "softmax" else 8, {"i1": "f2", "i4": "f8"}.get(kind, kind), axes=axis)


def normal(x, axes, eps):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


@case("layer_norm", "layer_norm_statistics", "rms_norm")
def norms(m, name):
    statistics = name == "layer_norm_statistics"  # of halves they are f32
    kind, shape, axes, given = m.kind(["f4", "f8"] if statistics else FLOATS), [m.number(statistics, 4), m.number(1, 5), m.number(2, 300)], m.number(1, 3), m.number(0, 2 if name == "rms_norm" else 3)
    x = m.array(kind, shape)
    if given == 0:
        axes = 1
    rest = [m.array(kind, shape[3 - axes:]) for _ in range(given)]
    last = tuple(range(-axes, 0))
    double = wide(x)
    if not double.size:
        want = double
    elif name != "rms_norm":
        want = normal(double, last, 1e-5)
    else:
        want = double / np.sqrt((double * double).mean(last, keepdims=True) + 1e-5)
    for i, factor in enumerate(rest):
        want = want * wide(factor) if i == 0 else want + wide(factor)
    more = [double.mean(last, keepdims=True), 1 / np.sqrt(double.var(last, keepdims=True) + 1e-5)] if statistics else []
    return Case([x] + rest, want, 64, max([8, *(float(abs(values).max()) for values in more)]), kind, more=more)


@case("batch_norm", "group_norm")
def channel_norms(m, name):
    kind, groups = m.kind(), m.number(1, 3)
    channels = groups * m.number(1, 4)
    shape = [m.number(0, 3), channels, m.number(1, 6), m.number(1, 6)][:m.number(2, 5)]
    if name == "group_norm" and len(shape) == 2:
        shape.append(4)
    x, gamma, beta = m.array(kind, shape), m.array(kind, [channels]), m.array(kind, [channels])
    over = (1, channels) + (1,) * (len(shape) - 2)
    double = wide(x)
    if name == "batch_norm":
        mean = m.array(kind, [channels])
        variance = m.array(kind, [channels], make=lambda s: (m.random.random(s) + 0.5).astype(kind))
        want = (double - wide(mean).reshape(over)) / np.sqrt(wide(variance).reshape(over) + 1e-3) * wide(gamma).reshape(over) + wide(beta).reshape(over)
        return Case([x, gamma, beta, mean, variance], want, 64, 8, kind, numbers=[1e-3])
    split = double.reshape([shape[0], groups, channels // groups] + shape[2:])
    want = normal(split, tuple(range(2, split.ndim)), 1e-3).reshape(shape) if double.size else double
    return Case([x, gamma, beta], want * wide(gamma).reshape(over) + wide(beta).reshape(over), 64, 16, kind, numbers=[1e-3], sizes=[groups])


def correlate(x, w, stride, padding, dilation, groups):
    """Of [batch, channels, size...], by its definition."""
    axes = range(len(stride))
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in padding])
    out = [(x.shape[2 + i] - (w.shape[2 + i] - 1) * dilation[i] - 1) // stride[i] + 1 for i in axes]
    y = np.zeros([x.shape[0], w.shape[0]] + out)
    per_in, per_out = w.shape[1], w.shape[0] // groups
    for o in range(w.shape[0]):
        part = x[:, o // per_out * per_in:(o // per_out + 1) * per_in]
        for at in np.ndindex(*w.shape[2:]):
            piece = part[(slice(None), slice(None), *(slice(at[i] * dilation[i], at[i] * dilation[i] + (out[i] - 1) * stride[i] + 1, stride[i]) for i in axes))]
            y[:, o] += np.einsum("bc...,c->b...", piece, w[(o, slice(None), *at)])
    return y


def spread(x, w, stride, padding, dilation, groups, out):
    """conv_transpose by its definition: what each element of x adds."""
    axes = range(len(stride))
    whole = [max((x.shape[2 + i] - 1) * stride[i] + (w.shape[2 + i] - 1) * dilation[i] + 1, out[i] + padding[i]) for i in axes]
    y = np.zeros([x.shape[0], w.shape[1] * groups] + whole)
    per_in, per_out = x.shape[1] // groups, w.shape[1]
    for g in range(groups):
        for at in np.ndindex(*w.shape[2:]):
            place = tuple(slice(at[i] * dilation[i], at[i] * dilation[i] + (x.shape[2 + i] - 1) * stride[i] + 1, stride[i]) for i in axes)
            added = np.einsum("bc...,co->bo...", x[:, g * per_in:(g + 1) * per_in], w[(slice(g * per_in, (g + 1) * per_in), slice(None), *at)])
            y[(slice(None), slice(g * per_out, (g + 1) * per_out), *place)] += added
    return y[(slice(None), slice(None), *(slice(padding[i], padding[i] + out[i]) for i in axes))]


@case("conv2d", "conv1d", "conv3d", "conv_transpose")
def convolutions(m, name):
    axes = m.number(1, 4) if name == "conv_transpose" else int(name[4])
    kind, groups = m.kind(), m.number(1, 3)
    inside, outside = groups * m.number(1, 3), groups * m.number(1, 3)
    size, stride, padding, dilation = ([m.number(*r) for _ in range(axes)] for r in ((1, 4), (1, 4), (0, 3), (1, 3)))
    long = [0, 9, 9, 7][axes]
    if name != "conv_transpose":
        x, w = m.array(kind, [m.number(0, 3), inside] + [long] * axes), m.array(kind, [outside, inside // groups] + size)
        want, more = correlate(wide(x), wide(w), stride, padding, dilation, groups), []
    else:
        x, w = m.array(kind, [m.number(0, 3), inside] + [m.number(1, 5) for _ in range(axes)]), m.array(kind, [inside, outside // groups] + size)
        out = [(x.array.shape[2 + i] - 1) * stride[i] + (size[i] - 1) * dilation[i] + 1 - 2 * padding[i] for i in range(axes)]
        more = [max(o, 1) + m.number(0, 3) for o in out] if min(out) < 1 or m.number(0, 2) else []
        want = spread(wide(x), wide(w), stride, padding, dilation, groups, more or out)
    inputs = [x, w]
    if m.number(0, 2):
        inputs.append(m.array(kind, [outside]))
        want = want + wide(inputs[2]).reshape(1, outside, *[1] * axes)
    return Case(inputs, want, 64, 9, kind, sizes=stride + padding + dilation + [groups] + more)


def windows(x, size, stride, before, after, dilation, out, largest, counted):
    """Of the last axes; with where the largest of a plane is."""
    axes, plane = range(len(size)), np.arange(int(np.prod(x.shape[-len(size):]))).reshape(x.shape[-len(size):])
    y = np.zeros(x.shape[:-len(size)] + tuple(out))
    places = np.zeros(y.shape, np.int64)
    for o in np.ndindex(*out):
        at = [[o[i] * stride[i] - before[i] + k * dilation[i] for k in range(size[i])] for i in axes]
        inside = [[a for a in at[i] if 0 <= a < x.shape[i - len(size)]] for i in axes]
        count = np.prod([len([a for a in at[i] if a < x.shape[i - len(size)] + after[i]]) for i in axes]) if counted else np.prod([len(i) for i in inside])
        part = x[(..., *np.ix_(*inside))].reshape(*x.shape[:-len(size)], int(np.prod([len(i) for i in inside])))
        if not largest:
            y[(..., *o)] = part.sum(-1) / max(count, 1)
        elif part.shape[-1] == 0:
            y[(..., *o)], places[(..., *o)] = -np.inf, -1
        elif part.size:
            y[(..., *o)] = part.max(-1)
            places[(..., *o)] = plane[np.ix_(*inside)].ravel()[part.argmax(-1)]
    return y, places


@case("max_pool", "max_pool_places", "avg_pool", "max_pool2d", "avg_pool2d", "max_pool1d", "avg_pool1d")
def pools(m, name):
    kind, counted, largest = m.kind(), bool(m.number(0, 2)), name.startswith("max")
    axes = int(name[-2]) if name[-1] == "d" else m.number(1, 4)
    size, stride = [m.number(1, 5) for _ in range(axes)], [m.number(1, 4) for _ in range(axes)]
    before = [m.number(0, s // 2 + 1) for s in size]
    x = m.array(kind, [m.number(0, 3), m.number(1, 3)] + [9, 8, 6][:axes])
    if largest and x.array.size and m.number(0, 3) == 0:
        x.base[(0,) * x.base.ndim] = np.nan
    after, dilation, more = before, [1] * axes, []
    if name[-1] != "d":
        after, dilation = [m.number(0, s // 2 + 1) for s in size], [m.number(1, 3) for _ in range(axes)]
    rest = [x.array.shape[2 + i] + before[i] + after[i] - (size[i] - 1) * dilation[i] - 1 for i in range(axes)]
    out = [r // stride[i] + 1 for i, r in enumerate(rest)]
    if name[-1] != "d" and (min(rest) < 0 or m.number(0, 2)):
        out = more = [max(o, 1) + (o * stride[i] < x.array.shape[2 + i] + before[i]) for i, o in enumerate(out)]
    want, places = windows(wide(x), size, stride, before, after, dilation, out, largest, counted)
    options = {"flag": counted, "sizes": size + stride + before + (after + dilation + more if name[-1] != "d" else [])}
    return Case([x], want, 64, 4, kind, more=[places] if name == "max_pool_places" else [], **options)


@case("rope")
def rope(m):
    kind, (b, h, s, d), side = m.kind(), [m.number(1, 3), m.number(1, 4), m.number(1, 6), 2 * m.number(1, 5)], bool(m.number(0, 2))
    pairs = m.number(0, d // 2 + 1) or d // 2
    x, cos, sin = m.array(kind, [b, h, s, d]), *(m.array(kind, [[s, pairs], [b, s, pairs], [1, s, pairs]][m.number(0, 3)]) for _ in range(2))
    want, (c, n) = wide(x).copy(), (t[:, None] if t.ndim == 3 else t for t in (wide(cos), wide(sin)))
    one, other = (slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)) if side else (slice(0, pairs), slice(pairs, 2 * pairs))
    first, second = wide(x)[..., one], wide(x)[..., other]
    want[..., one], want[..., other] = first * c - second * n, first * n + second * c
    return Case([x, cos, sin], want, 8, 16, kind, flag=side)


@case("attention", "attention_scores")
def attention(m, name):
    kind, rank = m.kind(), m.number(2, 5)
    batch, kv, s, t, d, e = m.number(1, 3), m.number(1, 3), m.number(1, 6), m.number(1, 7), [4, 8, 16][m.number(0, 3)], [4, 8, 5][m.number(0, 3)]
    heads = kv * m.number(1, 3)
    lead = {2: ([], []), 3: ([batch], [batch]), 4: ([batch, heads], [batch, kv])}[rank]
    q, k, v = m.array(kind, lead[0] + [s, d]), m.array(kind, lead[1] + [t, d]), m.array(kind, lead[1] + [t, e])
    query, key, value = wide(q), wide(k), wide(v)
    if rank == 4:
        key, value = key.repeat(heads // kv, 1), value.repeat(heads // kv, 1)
    scale, causal, start, masked, softcap = [0, 0.25][m.number(0, 2)], bool(m.number(0, 2)), m.number(0, 2), m.turn([0, 1, 2]), [0, 0, 1.5][m.number(0, 3)]
    products = query @ key.swapaxes(-1, -2) * (scale or d ** -0.5)
    scores = softcap * np.tanh(products / softcap) if softcap else products
    inputs, keys = [q, k, v], np.full([batch if rank > 2 else 1] + [1] * (rank - 1 if rank > 2 else 2), t)
    if masked:
        shape = list(scores.shape) if m.number(0, 2) else [s, t]
        shape = [1 if m.number(0, 4) == 0 else n for n in shape]
        inputs.append(m.array(kind, shape) if masked == 1 else m.array("?", shape))
        mask = inputs[3].array
        scores = scores + (np.where(mask, 0, -np.inf) if masked == 2 else mask.astype("f8"))
    if m.number(0, 3) == 0:
        integer = m.kind(INTEGERS[:8])
        inputs.append(m.array(integer, [keys.shape[0]] if rank > 2 or m.number(0, 2) else [], make=lambda shape: m.random.integers(0, t + 2, shape).astype(integer)))
        keys = np.minimum(inputs[-1].array.astype("i8"), t).reshape(keys.shape)
    seen = np.arange(t) < keys
    if causal:
        seen = seen & (np.arange(t) <= np.arange(s)[:, None] + (0 if start else keys - s))
    scores = np.where(seen.reshape(seen.shape[-rank:]), scores, -np.inf)
    top = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = weights.sum(-1, keepdims=True)
    weights = weights / np.where(total == 0, 1, total)
    options = {"flag": causal, "numbers": [scale, softcap], "sizes": [start if causal else 0]}
    if name == "attention":
        return Case(inputs, weights @ value, 64, 8, kind, **options)
    are = m.number(0, 3)
    return Case(inputs, weights @ value, 64, 8, kind, more=[[weights, scores, products][are]], **{**options, "sizes": options["sizes"] + [are]})


@case("embedding")
def embedding(m):
    kind, index = m.kind(FLOATS + INTEGERS), m.kind(INTEGERS[:8])
    shape = [m.number(1, 9)] + [m.number(0, 5) for _ in range(m.number(0, 3))]
    table = m.array(kind, shape)
    rows = m.array(index, [m.number(0, 5) for _ in range(m.number(0, 3))], make=lambda s: m.random.integers(-shape[0] if index[0] == "i" else 0, shape[0], s).astype(index))
    return Case([table, rows], table.array[rows.array.astype("i8")], 0, kind=kind)


@case("mse", "cross_entropy", "binary_cross_entropy")
def losses(m, name):
    kind, shape = m.kind(), [m.number(1, 30), m.number(1, 30)]
    p = m.array(kind, shape, make=lambda s: (m.random.random(s) * 0.9 + 0.05).astype(kind))
    t = m.array(kind, shape, make=lambda s: m.random.integers(0, 2, s).astype(kind) if m.number(0, 2) else m.random.random(s).astype(kind))
    a, b = wide(p), wide(t)
    want = {"mse": lambda: ((a - b) ** 2).mean(), "cross_entropy": lambda: -(b * np.log(a)).mean(),
            "binary_cross_entropy": lambda: -(b * np.log(a) + (1 - b) * np.log1p(-a)).mean()}[name]()
    return Case([p, t], want, 64, 1, kind)


# ---- comparing ----

def quantized(m):
    """Two matrices of bytes with zero points, as inputs and as a product of integers."""
    a, b = (np.dtype(m.turn(kinds)) for kinds in (["i1", "u1", "i1", "u1"], ["i1", "i1", "u1", "u1", "u1"]))
    rows, inner, columns = (m.number(0, 9) if m.round % 3 == 2 else m.number(1, 40) for _ in range(3))
    batches = m.turn([((), ()), ((2,), (2,)), ((3,), ()), ((), (2,)), ((2, 1), (3,)), ((2, 3), (2, 3)), ((1,), (4,))])
    of_rows, of_columns = m.turn([(), (rows,), (rows, 1), (1,)]), m.turn([(), (columns,), (1, columns)])
    byte = lambda kind: m.elements(kind, -128, 128 if kind.kind == "i" else 256)  # noqa: E731
    parts = [m.array(a, (*batches[0], rows, inner), make=byte(a)), m.array(b, (*batches[1], inner, columns), make=byte(b)),
             m.array(a, of_rows, make=byte(a)), m.array(b, of_columns, make=byte(b))]
    line = lambda x, axis: x.reshape(()) if x.size == 1 else x.reshape(-1, 1) if axis == 0 else x.reshape(1, -1)  # noqa: E731
    x, y, x_zero, y_zero = (layout.array.astype("i4") for layout in parts)
    return parts, (x - line(x_zero, 0)) @ (y - line(y_zero, 1)), (x @ y, (x - line(x_zero, 0)) @ y), line


@case("matmul_integer")
def matmul_integer(m):
    parts, sums, others, _ = quantized(m)
    count = m.turn([4, 2, 3])
    return Case(parts[:count], sums if count == 4 else others[count - 2])


@case("quantized_matmul")
def quantized_matmul(m):
    """Each step rounded in f32."""
    (a, b, a_zero, b_zero), sums, _, line = quantized(m)
    to = np.dtype(m.turn(["u1", "i1", "i1"]))
    positive = lambda kind: lambda shape: np.asarray(m.random.random(shape) * 0.02 + 0.001).astype(kind)  # noqa: E731
    scales = [m.array(m.turn(["f4", "f2", "f8"]), x.array.shape, make=positive("f4")) for x in (a_zero, b_zero)]
    shape = m.turn([(), sums.shape[-1:], (sums.shape[-2], 1), sums.shape[-2:]])
    scale, zero = m.array("f4", shape, make=positive("f4")), m.array(to, m.turn([(), shape]), make=m.elements(to))
    x, y, z = (layout.array.astype("f4") for layout in (*scales, scale))
    rounded = np.rint(sums.astype("f4") * (line(x, 0) * line(y, 1) / z)) + zero.array.astype("f4")
    return Case([a, scales[0], a_zero, b, scales[1], b_zero, scale, zero], np.clip(rounded, np.iinfo(to).min, np.iinfo(to).max), kind=to)


@case("quantize", "dequantize", "dynamic_quantize")
def bytes_of_numbers(m, name):
    """Elements with a scale and a zero point of each of an axis, or of all; numbers that are none, and such that saturate."""
    kind, to = m.kind(), np.dtype(m.turn(["u1", "i1", "i2", "u2", "i4"]))
    shape = m.turn([(3, 5, 2), (7,), (), (2, 1, 6), (0, 4)])
    wide = np.dtype("f8" if kind == "f8" else "f4")
    if name == "dynamic_quantize":
        shape = shape if 0 not in shape else (33,)
        x = m.array(kind, shape, make=lambda s: (m.turn([1, 0, -1, 300]) * m.random.random(s) + m.turn([0, -0.5])).astype(kind))
        v = x.array.astype(wide)
        most, least = max(wide.type(0), v.max()), min(wide.type(0), v.min())
        scale = (wide.type(1) if most == least else most - least) / wide.type(255)
        zero = np.clip(np.rint(-least / scale), 0, 255)
        return Case([x], np.clip(np.rint(v / scale) + zero, 0, 255).astype("u1"), kind=wide, more=(scale, zero.astype("u1")))
    part = m.turn([(), shape[-1:], shape])
    scale = m.array(kind, part, make=lambda s: m.random.choice([0.25, 0.5, 2, 0.3], s).astype(kind))
    zero = m.array(to, m.turn([part, ()]), make=m.elements(to, -5, 6))
    with_zero = m.turn([True, True, False])
    if name == "dequantize":
        q = m.array(to, shape, make=m.elements(to, -100, 101))
        left = q.array.astype(wide) - (zero.array.astype(wide) if with_zero else 0)
        return Case([q, scale, *[zero][:with_zero]], left * scale.array.astype(wide), kind=np.dtype(kind), bound=1, scale=110)
    x = m.array(kind, shape, make=lambda s: np.where(m.random.random(s) < 0.1, m.random.choice([np.inf, -np.inf, 6e4], s), m.random.integers(-400, 400, s) / 8).astype(kind))  # ties too
    to = to if with_zero else np.dtype("u1")
    whole = np.rint(x.array.astype(wide) / scale.array.astype(wide)) + (zero.array.astype(wide) if with_zero else 0)
    return Case([x, scale, *[zero][:with_zero]], np.clip(whole, np.iinfo(to).min, np.iinfo(to).max).astype("f8"), kind=to)


def compare(c, got, want, what):
    kind = want.dtype if want.dtype.kind in "iu" else np.dtype(c.kind)
    if got.dtype != kind or got.shape != want.shape:
        checks.check(False, f"{what}: {got.dtype} {got.shape}, {kind} {want.shape} expected")
        return
    if kind.kind != "f":
        checks.check(np.array_equal(got, want.astype(kind)), f"{what}: {got.ravel()[:5]}, {want.ravel()[:5]} expected")
        return
    unit = UNIT[kind.str[1:]]
    with np.errstate(all="ignore"):
        away = np.abs(got.astype("f8") - want) <= (c.bound * max(c.scale, 1.0) + 2 * np.abs(want)) * unit
    good = away | (np.isnan(got) & np.isnan(want)) | (got == want)
    at = np.argmin(good) if good.size else 0
    checks.check(bool(good.all()), f"{what}: {got.ravel()[at] if good.size else ''}, {want.ravel()[at] if good.size else ''} expected")


def run(executor, name, function, seed):
    m = Making(np.random.default_rng([seed, CASES.index((name, function))]), seed)
    what = f"{name}: tests/tensors/run_matrix.py --seed {seed} {name}"
    c = function(m, name) if function.__code__.co_argcount == 2 else function(m)
    try:
        inputs = [executor.layout(i) for i in c.inputs]
        got = [x.numpy() for x in executor.call(name, inputs, len(c.wants), **c.options)]
        with executor.scope():
            recorded = executor.call(name, inputs, len(c.wants), **c.options)
        for i, want in enumerate(c.wants):
            compare(c, got[i], want, what)
        checks.check(all(x.numpy().tobytes() == y.tobytes() for x, y in zip(recorded, got)), f"{what}: other bits in a scope")
    except Refused as error:
        checks.check(False, f"{what}: {error}")


# ---- stated values ----

def stated(e):
    f = lambda x: e.tensor(np.array(x, "f4"))  # noqa: E731
    close = lambda got, want, name: checks.check(np.allclose(got.numpy(), want, rtol=0, atol=6e-7), f"{name}: {got.numpy()}")  # noqa: E731
    close(e.call("softmax", [f([1, 2, 3])])[0], [0.0900306, 0.2447285, 0.6652410], "softmax(1, 2, 3)")
    product = e.call("matmul", [f([[1, 2], [3, 4]]), f([[5, 6], [7, 8]])])[0]
    checks.check(product.numpy().tolist() == [[19, 22], [43, 50]], "matmul of 2 x 2")
    product = e.call("gemm", [f([[1, 2], [3, 4]]), f([[5, 6], [7, 8]])])[0]
    checks.check(product.numpy().tolist() == [[19, 22], [43, 50]], "gemm of 2 x 2")
    some = [view.view("hg_tensor_slice", C.c_int32(0), C.c_int64(1), C.c_int64(3), C.c_int64(1)) for view in (f(np.zeros((3, 0))), f(np.ones((3, 2))))]
    product = e.call("gemm", [some[0], f(np.zeros((0, 2))), some[1]])[0]
    checks.check((product.numpy() == 1).all(), "gemm of a view without elements")
    for softcap in (1e300, 1e-300):    # neither is a number of f32
        close(e.call("attention", [f([[0, 0]]), f([[1, 0], [0, 1]]), f([[1], [0]])], numbers=[0, softcap])[0], 0.5, f"attention, softcap {softcap}")
    for head, value in ((0, 1), (2, 0)):
        made = e.call("attention_scores", [f(np.zeros((1, head))), f(np.zeros((2, head))), f(np.ones((2, value)))], 2, numbers=[1])
        checks.check(made[0].numpy().tolist() == [[1] * value] and made[1].numpy().tolist() == [[0.5, 0.5]], f"attention_scores of {head} and {value} dimensions")
    close(e.call("gelu", [f([1])])[0], [0.8413447], "gelu(1)")
    close(e.call("layer_norm", [f([1, 2, 3, 4]), f([1] * 4), f([0] * 4)], numbers=[1e-5])[0], [-1.341635, -0.447212, 0.447212, 1.341635], "layer_norm")
    big = e.call("matmul", [e.tensor(np.ones((1000, 500), "f4")), e.tensor(np.ones((500, 1000), "f4"))])[0].numpy()
    checks.check(big.shape == (1000, 1000) and (big == 500).all(), "Result shape: [1000, 1000]")
    checks.check(e.call("det", [f([[1, 2], [2, 4]])])[0].numpy() == 0, "det of a singular matrix")
    checks.check(e.call("det", [f([[0, 1], [1, 0]])])[0].numpy() == -1, "det of an exchange")
    tiny = f([[1e-20, 1], [1, 1]])    # only with rows exchanged there is an answer
    close(e.call("solve", [tiny, f([1, 2])])[0], [1, 1], "solve with a small pivot")
    close(e.call("inv", [tiny])[0], [[-1, 1], [1, 0]], "inv with a small pivot")


def refused(e):
    f = lambda *shape: e.tensor(np.zeros(shape, "f4"))  # noqa: E731
    index = e.tensor(np.array([0, 4], "i4"))
    for name, inputs, given, text in [
            ("matmul", [f(2, 3), f(4, 5)], {}, "Tensor shape mismatch: matmul: f32 [2, 3] and f32 [4, 5]"),
            ("matmul", [f(2, 2, 3), f(3, 3, 5)], {}, "Tensor shape mismatch: matmul: f32 [2, 2, 3] and f32 [3, 3, 5]"),
            ("matmul", [f(), f(3)], {}, "a number has no rows"),
            ("bmm", [f(2, 3, 4), f(1, 4, 5)], {}, "batches differ"),
            ("fused_linear", [f(2, 3), f(3, 4), f(3)], {}, "[in, out]"),
            ("softmax", [f(2)], {"axes": 1}, "Invalid dimension: 1 of 1"),
            ("solve", [f(2, 3), f(2)], {}, "square"),
            ("det", [e.tensor(np.zeros((2, 2), "f2"))], {}, "cast first"),
            ("matrix_norm", [f(2, 2)], {"numbers": [2]}, "singular values"),
            ("matrix_power", [f(2, 2)], {"numbers": [0.5]}, "whole number"),
            ("cross", [f(2), f(2)], {}, "3 elements along the axis"),
            ("tensordot", [f(2, 3), f(2, 4)], {"sizes": [1]}, "summed extents differ"),
            ("conv2d", [f(1, 3, 4, 4), f(2, 2, 3, 3)], {}, "in_channels / groups"),
            ("conv2d", [f(1, 2, 2, 2), f(2, 2, 3, 3)], {}, "larger than the padded input"),
            ("conv2d", [f(1, 1, 4, 4), f(1, 1, 3, 3)], {"sizes": [1, 1, 0, 2 ** 62]}, f"padding of {2 ** 62} along axis 1 of the window, where the input has 4"),
            ("conv2d", [f(1, 1, 4, 4), f(1, 1, 3, 3)], {"sizes": [1, 10 ** 9, 0, 6 * 10 ** 8]}, "padding: 600000000 and 600000000 around 4 columns"),
            ("conv3d", [f(1, 1, 4, 4, 4), f(1, 1, 3, 3, 3)], {"sizes": [1, 0, 1]}, "stride of 0 along axis 1"),
            ("conv_transpose", [f(1, 1, 4), f(1, 1, 3)], {"sizes": [1, 0, 2 ** 40]}, f"dilation of {2 ** 40} along axis 0"),
            ("max_pool", [f(1, 1, 4)], {"sizes": [0]}, "window of 0 along axis 0"),
            ("max_pool2d", [f(4, 4)], {"sizes": [2, 2, 2, 2, 2, 2]}, "half the window"),
            ("group_norm", [f(1, 3, 2), f(3), f(3)], {"sizes": [2]}, "does not divide"),
            ("layer_norm", [f(2, 3), f(2)], {}, "last axes of the first"),
            ("rope", [f(1, 1, 2, 4), f(2, 3), f(2, 3)], {}, "two tables of"),
            ("attention", [f(2, 3), f(4, 2), f(4, 2)], {}, "kv_heads"),
            ("attention", [f(2, 3), f(4, 3), f(4, 2), index], {}, "as many lengths as batches"),
            ("attention", [f(2, 3), f(4, 3), f(4, 2), f(2, 4), f(2, 4)], {}, "a mask of numbers or truths and lengths"),
            ("attention", [f(2, 3), f(4, 3), f(4, 2)], {"sizes": [1]}, "flag is false"),
            ("attention", [f(2, 3), f(4, 3), f(4, 2)], {"numbers": [0, -1]}, "softcap"),
            ("embedding", [f(4, 2), f(2)], {}, "integers of at most 64 bits"),
            ("embedding", [f(4, 2), index], {}, "out of bounds"),
            ("matmul_integer", [index, index], {}, "bytes, i8 or u8"),
            ("matmul_integer", [e.tensor(np.zeros((2, 3), "i1")), e.tensor(np.zeros((3, 2), "i1")), e.tensor(np.zeros(3, "i1"))], {}, "one of each row"),
            ("matmul_integer", [e.tensor(np.zeros((2, 3), "i1")), e.tensor(np.zeros((3, 2), "i1")), e.tensor(np.zeros(2, "u1"))], {}, "another type"),
            ("quantized_matmul", [e.tensor(np.zeros((2, 2), "u1")), f(), e.tensor(np.zeros((), "u1"))] * 2 + [f(0), e.tensor(np.zeros((), "u1"))], {},
             "does not broadcast"),
            ("quantize", [f(2), index], {}, "a scale of floats"),
            ("quantize", [f(2), f(2)], {"type": "i8"}, "at most 32 bits"),
            ("dequantize", [f(2), f(2)], {}, "integers of at most 32 bits"),
            ("dynamic_quantize", [f(0)], {"results": 3}, "no element"),
            ("mse", [f(2), f(3)], {}, "one shape expected")]:
        try:
            e.call(name, inputs, **given)
            checks.check(False, f"{name}: not refused: {text}")
        except Refused as error:
            checks.check(text in str(error), f"{name}: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    executor = Executor(given.backend)
    np.seterr(all="ignore")
    for name, function in CASES:
        if given.names and name not in given.names:
            continue
        for seed in [given.seed] if given.seed is not None else range(given.rounds):
            run(executor, name, function, seed)
    if not given.names:
        stated(executor)
        refused(executor)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
