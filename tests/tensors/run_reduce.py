#!/usr/bin/python3
"""Reductions, cumulative operations, sorting and sets of tensors against NumPy: types, layouts, axes, empty arrays, at once and in a scope, with equal bits.

    tests/tensors/run_reduce.py [--backend B[:DEVICE]] [--cases N] [--seed S] [OPERATION...]

Last line: N passed, N failed, N skipped."""
import argparse
import sys
import warnings

import tensors
from tensors import checks, np

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]
ALL = ["?"] + INTEGERS + FLOATS


class Random:
    def __init__(self, seed):
        self.r = np.random.default_rng(seed)

    def shape(self, rank=None, most=400):
        if rank is None:
            rank = int(self.r.choice([0, 1, 1, 2, 2, 3, 4, 8]))
        if rank == 1 and self.r.integers(0, 4) == 0:
            return [int(self.r.integers(1, 20000))]
        shape = [int(self.r.choice([1, 2, 3, 5, 7, 17])) for _ in range(rank)]
        while np.prod(shape, dtype="i8") > most:
            shape[int(self.r.integers(0, rank))] = int(self.r.integers(1, 4))
        if rank and self.r.integers(0, 8) == 0:
            shape[int(self.r.integers(0, rank))] = int(self.r.choice([0, 4096, 4097, 9000])) if np.prod(shape, dtype="i8") < 20 else 0
        return shape

    def elements(self, kind, special=True, low=None):
        def make(shape):
            dtype = np.dtype(kind)
            if dtype.kind == "b":
                return self.r.integers(0, 2, shape).astype(bool) | (self.r.integers(0, 3) == 0)
            if dtype.kind in "iu":
                edge = np.iinfo(dtype)
                few = self.r.integers(0, 2)
                return self.r.integers(max(edge.min, -5) if few else edge.min, min(edge.max, 5) if few else edge.max, shape, dtype=dtype, endpoint=True)
            a = self.r.standard_normal(shape) if self.r.integers(0, 2) else self.r.integers(-3, 4, shape)
            a = np.asarray(a).astype(dtype)
            if special and self.r.integers(0, 4) == 0:
                which = self.r.random(shape) < 0.05
                a = np.where(which, np.array([np.nan, np.inf, -np.inf, -0.0], dtype)[self.r.integers(0, 4, shape)], a)
            return a
        return make

    def layout(self, kind, shape=None, special=True):
        return tensors.Layout(self.r, self.elements(kind, special), self.shape() if shape is None else shape, plain=self.r.integers(0, 3) == 0)

    def axes(self, rank):
        """None: all."""
        if self.r.integers(0, 3) == 0:
            return None
        count = int(self.r.integers(0 if rank < 2 else 1, rank + 1))
        return [int(a) - (rank if self.r.integers(0, 2) else 0) for a in self.r.permutation(rank)[:count]]


def close(got, want, error):
    """Equal where they are no numbers, within error else."""
    with np.errstate(all="ignore"):
        same = (got == want) | ((got != got) & (want != want))
        near = np.abs(got.astype("f8") - want.astype("f8")) <= error
        return bool(np.all(same | (near & np.isfinite(got) & np.isfinite(want))))


def unit(kind):
    return {2: 2.0 ** -10, 4: 2.0 ** -23, 8: 2.0 ** -52}[np.dtype(kind).itemsize]


class Case:
    """Inputs as layouts, what the operation is told, and what it gives: a list of arrays, each with the error that it may have."""

    def __init__(self, inputs, want, given=None, error=None):
        self.inputs, self.want, self.given, self.error = inputs, want, given or {}, error or [0] * len(want)


def tuple_of(axes):
    return None if axes is None else tuple(axes)


def sums(name):
    def make(r):
        kind = r.r.choice(ALL)
        x = r.layout(kind, special=name == "sum")
        axes, keep = r.axes(x.array.ndim), bool(r.r.integers(0, 2))
        function = np.sum if name == "sum" else np.prod
        if np.dtype(kind).kind != "f":
            wide = {"u": "u8"}.get(np.dtype(kind).kind, "i8")
            return Case([x], [function(x.array, axis=tuple_of(axes), keepdims=keep, dtype=wide)], {"axes": axes, "keepdims": keep})
        want = function(x.array.astype("f8"), axis=tuple_of(axes), keepdims=keep)
        size = np.sum(np.abs(x.array.astype("f8")), axis=tuple_of(axes), keepdims=keep) if name == "sum" else np.abs(want)
        steps = 100 if name == "sum" else 2 * x.array.size + 4
        error = size * (2.0 ** -24 if kind == "f2" else unit(kind)) * steps + np.abs(want) * unit(kind) + (0 if name == "sum" else float(np.finfo(kind).tiny))
        return Case([x], [np.asarray(want).astype(kind)], {"axes": axes, "keepdims": keep}, [error])
    return make


def typed_sum(r):
    kind, given = r.r.choice(ALL), r.r.choice(["i4", "i8", "u1", "f4", "f8"])
    x = r.layout(kind, special=False)
    while np.dtype(kind).kind == "f" and np.dtype(given).kind in "iu":
        given = r.r.choice(["f4", "f8"])
    want = np.sum(x.array, dtype=given)
    size = np.sum(np.abs(x.array.astype("f8"))) * 100
    return Case([x], [np.asarray(want)], {"type": given}, [size * unit(given) if np.dtype(given).kind == "f" else 0])


def statistics(name):
    def make(r):
        kind = r.r.choice(ALL)
        x = r.layout(kind, special=name == "mean" and r.r.integers(0, 2))
        axes, keep, correction = r.axes(x.array.ndim), bool(r.r.integers(0, 2)), float(r.r.choice([0, 0, 1, 0.5]))
        exact = x.array.astype(np.longdouble)  # whose sums along an axis NumPy makes one after another
        given = kind if np.dtype(kind).kind == "f" else "f8"
        scale = np.max(np.abs(exact[np.isfinite(exact)]), initial=1)
        if name == "mean":
            want, told = np.mean(exact, axis=tuple_of(axes), keepdims=keep), {}
            error = scale * unit(given) * 100 + scale * (2.0 ** -10 if kind == "f2" else 0)
        else:
            want = np.var(exact, axis=tuple_of(axes), keepdims=keep, ddof=correction)
            told = {"numbers": [correction]}
            error = np.abs(want) * (unit(given) * 100 + (2.0 ** -10 if kind == "f2" else 0)) + scale * scale * unit("f4" if kind == "f2" else given) ** 2 * 100
            if name == "std":
                error = np.sqrt(want) * (unit(given) * 100 + (2.0 ** -10 if kind == "f2" else 0)) + scale * unit("f4" if kind == "f2" else given) * 100
                want = np.sqrt(want)
        return Case([x], [np.asarray(want).astype(given)], {"axes": axes, "keepdims": keep, **told}, [error])
    return make


def exact(name, axis_of=None):
    def make(r):
        kind = r.r.choice(ALL)
        x = r.layout(kind)
        axes, keep = (r.axes if axis_of is None else axis_of)(x.array.ndim), bool(r.r.integers(0, 2))
        try:
            want = getattr(np, name)(x.array, axis=axes if axis_of else tuple_of(axes), keepdims=keep)
        except ValueError:
            want = "there is no element to choose from"
        if name in ("argmax", "argmin") and not isinstance(want, str):
            want = np.asarray(want).astype("i8")
        return Case([x], want if isinstance(want, str) else [np.asarray(want)], {"axes": axes, "keepdims": keep})
    return make


def logsumexp(r):
    kind = r.r.choice(ALL)
    x = r.layout(kind)
    axes, keep = r.axes(x.array.ndim), bool(r.r.integers(0, 2))
    given = kind if np.dtype(kind).kind == "f" else "f8"
    wide = x.array.astype(np.longdouble)  # as above
    want = np.logaddexp.reduce(wide, axis=tuple_of(axes), keepdims=keep)
    if axes is None:
        want = np.logaddexp.reduce(wide.reshape(-1)).reshape([1] * (x.array.ndim if keep else 0))
    return Case([x], [np.asarray(want).astype(given)], {"axes": axes, "keepdims": keep}, [(np.abs(want) + 10) * unit(given) * 50])


def norm(r):
    kind = r.r.choice(ALL)
    x = r.layout(kind, special=False)
    axes, keep = r.axes(x.array.ndim), bool(r.r.integers(0, 2))
    order = float(r.r.choice([2, 2, 1, 0, np.inf, -np.inf, 3, 0.5]))
    given = kind if np.dtype(kind).kind == "f" else "f8"
    a = np.abs(x.array.astype("f8"))
    told = {"axes": axes, "keepdims": keep, "flag": True, "numbers": [order]}
    how = {"axis": tuple_of(axes), "keepdims": keep}
    if order == -np.inf or order == np.inf:
        try:
            want = np.min(a, **how) if order < 0 else np.max(a, initial=0, **how)
        except ValueError:
            return Case([x], "there is no element to choose from", told)
    elif order == 0:
        want = np.sum(a != 0, **how)
    else:
        want = np.sum(a ** order, **how) ** (1 / order)
    want = np.asarray(want, "f8")
    with np.errstate(over="ignore"):
        big = want.astype(given)
    error = np.where(want < np.finfo(given).max / 2, np.abs(want) * unit(given) * 200, 0)
    return Case([x], [big], told, [error])


def one_axis(r):
    def axis(rank):
        return None if not rank or r.r.integers(0, 3) == 0 else int(r.r.integers(-rank, rank))
    return axis


def place(name):
    return lambda r: exact(name, one_axis(r))(r)


def cumulative(name):
    def make(r):
        kind = r.r.choice(ALL)
        x = r.layout(kind, r.shape(int(r.r.choice([1, 1, 2, 3, 8]))), special=False)
        rank = x.array.ndim
        axis = None if rank == 1 and r.r.integers(0, 2) else int(r.r.integers(-rank, rank))
        first, real = bool(r.r.integers(0, 2)), np.dtype(kind).kind == "f"
        given = kind if real else {"u": "u8"}.get(np.dtype(kind).kind, "i8")
        function, of = (np.cumsum, np.add) if name == "cumulative_sum" else (np.cumprod, np.multiply)
        along = 0 if axis is None else axis
        want = function(x.array.astype("f8") if real else x.array, axis=along, dtype="f8" if real else given)
        size = np.cumsum(np.abs(x.array.astype("f8")), axis=along) * 300 if name == "cumulative_sum" else np.abs(want) * (2 * x.array.shape[along] + 4)
        if first:
            shape = [1 if d == along % rank else n for d, n in enumerate(x.array.shape)]
            want = np.concatenate([np.full(shape, of.identity, want.dtype), want], axis=along)
            size = np.concatenate([np.zeros(shape), size], axis=along)
        error = size * (2.0 ** -24 if kind == "f2" else unit(given)) + np.abs(want) * unit(given) + float(np.finfo(given).tiny) if real else 0
        return Case([x], [want.astype(given)], {"axes": axis, "flag": first}, [error])
    return make


def diff(r):
    x = r.layout(r.r.choice(ALL), r.shape(int(r.r.choice([1, 2, 3, 8]))))
    axis, times = int(r.r.integers(-x.array.ndim, x.array.ndim)), int(r.r.integers(0, 4))
    return Case([x], [np.diff(x.array, times, axis)], {"axes": axis, "sizes": [times]})


def falling(x, axis):
    """The permutation of a stable sort from above: numbers of a stable sort of the reversed axis, reversed."""
    n = x.shape[axis]
    return n - 1 - np.flip(np.argsort(np.flip(x, axis), axis, "stable"), axis)


def ordered(name):
    def make(r):
        x = r.layout(r.r.choice(ALL), r.shape(int(r.r.choice([1, 1, 2, 3, 8]))))
        axis, flag = int(r.r.integers(-x.array.ndim, x.array.ndim)), bool(r.r.integers(0, 2))
        down = flag != (name == "top_k")
        places = falling(x.array, axis) if down else np.argsort(x.array, axis, "stable")
        values = np.take_along_axis(x.array, places, axis)
        told = {"axes": axis, "flag": flag}
        if name != "top_k":
            return Case([x], [values if name == "sort" else places], told)
        k = int(r.r.integers(0, x.array.shape[axis] + 1))
        return Case([x], [np.take(a, range(k), axis) for a in (values, places)], {**told, "sizes": [k]})
    return make


def pair(r):
    """Two kinds with a common type that holds both exactly enough for NumPy to do the same."""
    kind = r.r.choice(ALL)
    return kind, kind if r.r.integers(0, 2) else r.r.choice(ALL)


def searchsorted(r):
    one, two = pair(r)
    x = tensors.Layout(r.r, lambda shape: np.sort(r.elements(one)(shape)), [int(r.r.choice([0, 1, 5, 100, 1000]))], plain=True)
    v = r.layout(two)
    right, common = bool(r.r.integers(0, 2)), np.result_type(np.dtype(one), np.dtype(two))
    want = np.searchsorted(x.array.astype(common), v.array.astype(common), "right" if right else "left")
    return Case([x, v], [np.asarray(want)], {"flag": right})


def isin(r):
    one, two = pair(r)
    x, y = r.layout(one), r.layout(two)
    common = np.result_type(np.dtype(one), np.dtype(two))
    return Case([x, y], [np.asarray(np.isin(x.array.astype(common), y.array.astype(common)))])


def nonzero(r):
    x = r.layout(r.r.choice(ALL), r.shape(int(r.r.choice([1, 2, 3, 8]))))
    return Case([x], [np.array(np.nonzero(x.array), "i8").reshape(x.array.ndim, -1)])


def unique(name):
    def make(r):
        x = r.layout(r.r.choice(ALL))
        values, first, inverse, counts = np.unique(x.array, True, True, True, equal_nan=False)
        inverse = inverse.reshape(x.array.shape)
        return Case([x], {"all": [values, first, inverse, counts], "counts": [values, counts], "inverse": [values, inverse], "values": [values]}[name])
    return make


OPERATIONS = {
    "sum": sums("sum"), "prod": sums("prod"), "sum typed": typed_sum, "mean": statistics("mean"), "var": statistics("var"), "std": statistics("std"), "max": exact("max"),
    "min": exact("min"), "all": exact("all"), "any": exact("any"), "count_nonzero": lambda r: exact("count_nonzero")(r), "argmax": place("argmax"), "argmin": place("argmin"),
    "logsumexp": logsumexp, "vector_norm": norm, "cumulative_sum": cumulative("cumulative_sum"), "cumulative_prod": cumulative("cumulative_prod"), "diff": diff,
    "sort": ordered("sort"), "argsort": ordered("argsort"), "top_k": ordered("top_k"), "searchsorted": searchsorted, "isin": isin, "nonzero": nonzero,
    **{f"unique_{name}": unique(name) for name in ("all", "counts", "inverse", "values")}}


def run(executor, name, case):
    inputs = [executor.layout(layout) for layout in case.inputs]
    results = 1 if isinstance(case.want, str) else len(case.want)
    return [t.numpy() for t in executor.call(name, inputs, results, **case.given)]


def run_in_scope(executor, name, case):
    inputs = [executor.layout(layout) for layout in case.inputs]
    with executor.scope():
        made = executor.call(name, inputs, len(case.want), **case.given)
    return [t.numpy() for t in made]


def one(executor, name, case, what):
    operation = name.split()[0]
    try:
        got = run(executor, operation, case)
    except tensors.Refused as refused:
        checks.check(isinstance(case.want, str) and case.want in str(refused), f"{what}: {refused}")
        return
    if isinstance(case.want, str):
        checks.check(False, f"{what}: '{case.want}' expected")
        return
    for i, (g, w, e) in enumerate(zip(got, case.want, case.error)):
        fits = g.dtype == w.dtype and g.shape == w.shape
        checks.check(fits and close(g, w, e), f"{what}: result {i}: {g.dtype} {g.shape} {g.ravel()[:4]}, expected {w.dtype} {w.shape} {w.ravel()[:4]}")
    try:
        again = run_in_scope(executor, operation, case)
    except tensors.Refused as refused:
        checks.check(False, f"{what}: in a scope: {refused}")
        return
    checks.check(all(a.tobytes() == g.tobytes() for a, g in zip(again, got)), f"{what}: other bits in a scope: {again[0].ravel()[:4]} and {got[0].ravel()[:4]}")


def numbers(executor):
    """Of semantics 8.4."""
    total = executor.call("sum", [executor.tensor(np.arange(1, 1001, dtype="f4"))])[0].numpy()
    checks.check(total == 500500, f"the sum of 1 to 1000 is {total}")
    for count in (2, 5000):  # integers are halves first, however many there are
        x = np.zeros(count, "i4")
        x[:2] = 4097, -4096
        total = executor.call("sum", [executor.tensor(x)], type="f2")[0].numpy()
        checks.check(total == 0, f"the sum of f16 of 4097 and -4096 among {count} is {total}")
    for kind in FLOATS:  # an array as the instruction takes it, rows and columns: the same tree
        x = np.random.default_rng(1).random((20000, 3)).astype(kind)
        t = executor.tensor(x)
        columns = executor.call("sum", [t], axes=[0])[0].numpy()
        alone = [executor.call("sum", [executor.tensor(x[:, i])])[0].numpy() for i in range(3)]
        rows = executor.call("sum", [executor.tensor(x.T)], axes=[1])[0].numpy()
        checks.check(columns.tobytes() == rows.tobytes() == np.array(alone).tobytes(), f"sums of columns of {kind} are {columns}, {rows} and {alone}")


def many_lines(executor, kinds, shapes, names):
    """Where lines are many a block takes several of them, behind each other or beside each other: the bits of a few lines, and NumPy's."""
    random = np.random.default_rng(1)
    for kind, (rows, n) in [(kind, shape) for kind in kinds for shape in shapes]:
        x = random.standard_normal((rows, n)).astype(kind)
        x[random.random(x.shape) < 1e-3] = np.nan
        x[5] = 0
        for name in names:
            all_lines, last, beside = (executor.call(name, [executor.tensor(a)], axes=[axis])[0].numpy() for a, axis in ((x, 1), (x[-9:], 1), (x.T, 0)))
            what = f"{name} of {kind} [{rows}, {n}] over 1"
            checks.check(all_lines[-9:].tobytes() == last.tobytes(), f"{what}: {all_lines[-9:]}, of its last lines {last}")
            checks.check(close(beside, all_lines, 0), f"{what}: other bits where lines are beside each other, {np.flatnonzero(beside != all_lines)[:5]}")
            if name != "sum":
                want = getattr(np, name)(x, axis=1)
                checks.check(close(all_lines, want, 0), f"{what} differs from NumPy's in lines {np.flatnonzero(all_lines != want)[:5]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--cases", type=int, default=22, help="of each operation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("operations", nargs="*")
    args = parser.parse_args()
    executor = tensors.Executor(args.backend)
    numbers(executor)
    few = args.backend != "cpu"  # compilers of devices take seconds for each
    many_lines(executor, ["f4"] if few else ["f4", "f2"], ((1030, 70), (1040, 300), (520, 4100))[:1 if few else 3], [n for n in ("sum", "max", "any", "argmax") if n in (args.operations or OPERATIONS)])
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    for name in args.operations or OPERATIONS:
        for seed in range(args.seed, args.seed + args.cases):
            case = OPERATIONS[name](Random(seed))
            shapes = ", ".join(f"{c.array.dtype} {list(c.array.shape)} {c.steps}" for c in case.inputs)
            one(executor, name, case, f"run_reduce.py --backend {args.backend} --cases 1 --seed {seed} '{name}': {shapes} {case.given}")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
