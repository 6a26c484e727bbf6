"""Arrays of the Python package before two judges of others: Hypothesis, which looks for slices and shapes where NumPy does something else, and
array-api-strict, which is the Python array API standard without what libraries add.

    run_judges.py [--examples N] [--seed N] [--only NAME]

The judges lie in build/judges (tests/python/requirements.txt, which tools/setup installs); without them "skipped: REASON". Hypothesis prints the
smallest case that fails. Last line: N passed, N failed, N skipped."""
import argparse
import glob
import itertools
import os
import random
import sys
import traceback

from package import SOURCE, check, checks, hg, skip

sys.path += glob.glob(os.path.join(SOURCE, "build", "judges", "lib", "python3*", "site-packages"))
try:
    import array_api_strict as strict
    import hypothesis
    import numpy as np
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as arrays
except ImportError as error:
    skip(f"{error.name} is not installed (tools/setup test)")

options = argparse.ArgumentParser()
options.add_argument("--examples", type=int, default=40)
options.add_argument("--seed", type=int, default=1)
options.add_argument("--only", default="")
given = options.parse_args()

# ---- Hypothesis: NumPy's slices and shapes ----

SHAPES = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
TYPES = st.sampled_from(("bool", "int8", "uint16", "int64", "float32", "complex64"))
properties = []


def prop(*strategies):
    """A property that Hypothesis tries: a function of what it draws."""
    def keep(function):
        settings = hypothesis.settings(max_examples=given.examples, deadline=None, database=None, suppress_health_check=list(hypothesis.HealthCheck))
        properties.append((function.__name__, settings(hypothesis.seed(given.seed)(hypothesis.given(*strategies)(function)))))
        return function
    return keep


def counted(shape, dtype):
    """Elements that are all different, as far as the type allows."""
    return np.arange(int(np.prod(shape, dtype=int))).reshape(shape).astype(dtype)


def equal(made, wanted):
    got, wanted = np.asarray(made), np.asarray(wanted)
    assert got.shape == wanted.shape and got.dtype == wanted.dtype, f"{got.dtype}{got.shape}, expected {wanted.dtype}{wanted.shape}"
    assert got.tobytes() == wanted.tobytes(), f"{got!r}, expected {wanted!r}"


@prop(st.data(), SHAPES, TYPES)
def slices(data, shape, dtype):
    """A view of a view, and a write through it."""
    a = counted(shape, dtype)
    x, b = hg.asarray(a), a
    for _ in range(data.draw(st.integers(1, 2))):
        key = data.draw(arrays.basic_indices(b.shape, allow_newaxis=True, allow_ellipsis=True, max_dims=6))
        x, b = x[key], b[key]
    equal(x, b)
    if np.ndim(b):
        x[...] = 1
        b[...] = 1
        equal(hg.asarray(a), a)


@prop(st.data(), arrays.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5), TYPES)
def places(data, shape, dtype):
    """Arrays of integers as indices, which broadcast."""
    a = counted(shape, dtype)
    key = data.draw(arrays.integer_array_indices(shape, result_shape=arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)))
    x = hg.asarray(a.copy())
    equal(x[tuple(hg.asarray(one) for one in key)], a[key])
    x[key] = 1
    a[key] = 1
    equal(x, a)


@prop(arrays.mutually_broadcastable_shapes(num_shapes=3, max_dims=4, max_side=4, min_side=0))
def broadcasts(drawn):
    a, b, c = (counted(shape, "int32") for shape in drawn.input_shapes)
    x, y, z = map(hg.asarray, (a, b, c))
    assert hg.broadcast_shapes(*drawn.input_shapes) == drawn.result_shape
    for made, wanted in zip(hg.broadcast_arrays(x, y, z), np.broadcast_arrays(a, b, c)):
        equal(made, wanted)
    equal(x + y * z, a + b * c if drawn.result_shape else np.asarray(a + b * c, "int32"))
    equal(hg.where(x > y, y, z), np.where(a > b, b, c))


@prop(SHAPES, SHAPES)
def unequal_shapes(first, second):
    """Shapes that do not broadcast are refused, and no others."""
    try:
        wanted = np.broadcast_shapes(first, second)
    except ValueError:
        wanted = None
    try:
        made = (hg.zeros(first, dtype="int8") + hg.zeros(second, dtype="int8")).shape
    except ValueError:
        made = None
    assert made == wanted, f"{made}, expected {wanted}"


@prop(st.data(), SHAPES, TYPES)
def moves(data, shape, dtype):
    """Axes in another order, then another shape of as many elements."""
    a = counted(shape, dtype)
    order = data.draw(st.permutations(range(len(shape))))
    x, b = hg.permute_dims(hg.asarray(a), tuple(order)), np.transpose(a, order)
    equal(x, b)
    equal(x.reshape((-1,) if a.size else (0,)), b.reshape(-1))
    equal(hg.flip(x), np.flip(b).copy())
    if b.ndim:
        axis = data.draw(st.integers(-b.ndim, b.ndim - 1))
        shift = data.draw(st.integers(-7, 7))
        equal(hg.roll(x, shift, axis=axis), np.roll(b, shift, axis))
        equal(hg.concat([x, x], axis=axis), np.concatenate([b, b], axis))


# ---- array-api-strict ----

INTEGERS, FLOATS = ("int8", "int32", "int64", "uint8", "uint64"), ("float32", "float64")
KINDS = {"bool": ("bool",), "integer": INTEGERS, "float": FLOATS, "real": INTEGERS + FLOATS, "all": ("bool",) + INTEGERS + FLOATS,
         "numeric": INTEGERS + FLOATS + ("complex64",)}
ONE = {"numeric": "negative positive square abs", "real": "sign ceil floor trunc round isfinite isinf isnan", "integer": "bitwise_invert", "bool": "logical_not",
       "float": "acos asin atan atanh cos cosh exp expm1 log1p sin sinh sqrt tan tanh signbit reciprocal acosh asinh log log2 log10"}
TWO = {"numeric": "add subtract multiply", "real": "maximum minimum less less_equal greater greater_equal", "all": "equal not_equal",
       "float": "divide atan2 hypot copysign logaddexp nextafter", "bool": "logical_and logical_or logical_xor bitwise_or",
       "integer": "bitwise_and bitwise_xor bitwise_left_shift bitwise_right_shift", "divided": "floor_divide remainder"}
OVER = {"numeric": "sum prod", "real": "max min", "float": "mean std var", "all": "all any count_nonzero"}
RNG = random.Random(given.seed)


def example(dtype, shape, low=1):
    """Numbers within the domains of most functions."""
    size = int(np.prod(shape, dtype=int))
    if dtype == "bool":
        values = [RNG.random() < 0.5 for _ in range(size)]
    elif dtype[:3] in ("int", "uin"):
        values = [RNG.choice((low, 2, 3, 5)) if dtype[0] == "u" else RNG.choice((low, -2, 3, 5)) for _ in range(size)]
    else:
        values = [RNG.choice((low and 0.25, 0.5, -0.375, 0.75, 0.9)) for _ in range(size)]
    return np.array(values).reshape(shape).astype(dtype)


def near(made, wanted):
    """Shape and type are the standard's; elements equal, of floats near."""
    got, wanted = np.asarray(made), np.asarray(wanted)
    assert got.shape == wanted.shape and got.dtype == wanted.dtype, f"{got.dtype}{got.shape}, expected {wanted.dtype}{wanted.shape}"
    if got.dtype.kind in "fc":
        assert np.allclose(got, wanted, rtol=8 * np.finfo(got.dtype).eps, atol=4 * np.finfo(got.dtype).eps, equal_nan=True), f"{got!r}, expected {wanted!r}"
    else:
        assert np.array_equal(got, wanted), f"{got!r}, expected {wanted!r}"


def convert(value, namespace):
    if isinstance(value, np.ndarray):
        return namespace.asarray(value.copy())
    if isinstance(value, list):
        return [convert(one, namespace) for one in value]
    return getattr(namespace, value[1:]) if isinstance(value, str) and value[0] == ":" else value  # ":int32" is a type


def find(namespace, name):
    for part in name.split("."):
        namespace = getattr(namespace, part)
    return namespace


def judge(name, *args, **named):
    """The same call of both; results may be tuples and lists."""
    what = f"{name}({', '.join([*map(repr, args), *(f'{key}={value!r}' for key, value in named.items())])})"
    with np.errstate(all="ignore"):
        wanted = find(strict, name)(*(convert(one, strict) for one in args), **{key: convert(one, strict) for key, one in named.items()})
    try:
        made = find(hg, name)(*(convert(one, hg) for one in args), **{key: convert(one, hg) for key, one in named.items()})
        many = isinstance(wanted, (tuple, list))
        assert not many or len(made) == len(wanted), f"{len(made)} results, expected {len(wanted)}"
        for one, other in zip(made, wanted) if many else ((made, wanted),):
            near(one, other._array if hasattr(other, "_array") else other)
        if many and hasattr(wanted, "_fields"):
            assert made._fields == wanted._fields, f"fields {made._fields}"
    except Exception as error:  # noqa: B902
        check(False, f"{what}: {type(error).__name__}: {error}")
    else:
        check(True, what)


def types_of(kind):
    return itertools.islice(itertools.cycle(KINDS[kind]), RNG.randrange(7), None)


def elements():
    for table, count in ((ONE, 1), (TWO, 2)):
        for kind, names in table.items():
            types = types_of("real" if kind == "divided" else kind)
            for name in names.split():
                for _ in range(1 if given.examples < 100 else 7):
                    dtype = next(types)
                    args = [example(dtype, shape) for shape in ((3, 1, 4), (2, 4))[:count]]
                    if name == "acosh":
                        args[0] += 1
                    if name in ("log", "log2", "log10", "sqrt") or "shift" in name:
                        args[-1] = np.abs(args[-1])
                    judge(name, *args)
    judge("pow", np.abs(example("float64", (3, 2))), example("float64", (2,)))
    judge("clip", example("int32", (5,)), 0, 3)
    judge("where", example("bool", (3, 1)), example("int8", (4,)), example("int16", (3, 4)))
    judge("astype", example("float32", (4,)), ":int16")
    for one, other in (("int8", "uint8"), ("int64", "int8"), ("float32", "float64"), ("complex64", "float64")):
        judge("add", example(one, (3,)), example(other, (3,)))
    for part in ("real", "imag", "conj"):
        judge(part, example("float32", (3, 2)) + np.complex64(2j))


def reductions():
    for kind, names in OVER.items():
        types = types_of(kind)
        for name in names.split():
            for axis in (None, 0, (0, -1)):
                judge(name, example(next(types), (3, 2, 4)), axis=axis, keepdims=axis == 0)
    judge("sum", example("int8", (5,)), dtype=":float64")
    judge("var", example("float64", (5, 3)), axis=1, correction=1.0)
    for name in ("argmax", "argmin"):
        judge(name, example("int64", (4, 5)), axis=1)
    for name in ("cumulative_sum", "cumulative_prod"):
        judge(name, example("int32", (4, 3)), axis=0, include_initial=True)


def manipulations():
    x, y = counted((3, 1, 4), "int32"), counted((3, 1, 4), "float64") + 100
    for name, args, named in (
            ("expand_dims", (x,), {"axis": -2}), ("squeeze", (x,), {"axis": 1}), ("flip", (x,), {"axis": (0, 2)}), ("permute_dims", (x, (2, 0, 1)), {}),
            ("moveaxis", (x, 0, -1), {}), ("reshape", (x, (6, -1)), {}), ("roll", (x, 5), {}), ("roll", (x, (1, -1)), {"axis": (0, 2)}), ("repeat", (x, 2), {"axis": 0}),
            ("repeat", (np.arange(3), np.array([2, 0, 1])), {}), ("tile", (x, (2, 1, 2)), {}), ("stack", ([x, x],), {"axis": 1}), ("concat", ([x, x],), {"axis": None}),
            ("unstack", (x,), {"axis": 2}), ("broadcast_to", (x, (2, 3, 5, 4)), {}), ("broadcast_arrays", (x, y[:, :, :1]), {}), ("tril", (x[:, 0],), {"k": 1}), ("triu", (x[:, 0],), {"k": -1}),
            ("take", (x, np.array([2, 0])), {"axis": 2}), ("take_along_axis", (x, np.array([[[3, 0]]])), {"axis": -1}), ("meshgrid", (np.arange(3), np.arange(2)), {"indexing": "ij"}),
            ("sort", (example("int8", (4, 5)),), {"axis": 0, "descending": True}), ("argsort", (np.array([5, 1, 4, 2]),), {}), ("diff", (x,), {"axis": -1}),
            ("searchsorted", (np.arange(9), np.array([3, -1, 99])), {"side": "right"}), ("isin", (np.arange(5), np.array([1, 7])), {}), ("nonzero", (example("int8", (4, 3), 0),), {}),
            ("unique_values", (np.array([1, 1, 2, 9]),), {}), ("unique_all", (np.array([3, 1, 3, 2]),), {}), ("unique_counts", (np.array([3, 3, 5]),), {}), ("unique_inverse", (np.array([3, 1, 3]),), {}),
            ("matmul", (example("float64", (2, 3, 4)), example("float64", (4, 5))), {}), ("matmul", (example("int64", (3,)), example("int64", (3, 2))), {}), ("matrix_transpose", (y,), {}),
            ("tensordot", (x, x), {"axes": ((0,), (0,))}), ("vecdot", (y, y), {}), ("linalg.outer", (np.arange(3), np.arange(4)), {}), ("linalg.trace", (y[:, 0],), {"offset": 1}),
            ("linalg.diagonal", (y[:, 0],), {}), ("linalg.cross", (example("float64", (2, 3)), example("float64", (2, 3))), {}), ("linalg.vector_norm", (example("float64", (3, 4)),), {"axis": 1}),
            ("linalg.det", (np.eye(3) + example("float64", (3, 3)) / 4,), {}), ("linalg.inv", (np.eye(3) * 2,), {}), ("linalg.solve", (np.eye(3) * 2, np.arange(3.0)), {}),
            ("fft.fft", (example("float64", (8,)) + 0j,), {}), ("fft.rfft", (example("float64", (2, 8)),), {}), ("fft.fftfreq", (5,), {"d": 0.5}),
            ("arange", (2, 9, 3), {}), ("linspace", (0, 1, 7), {}), ("eye", (3, 4), {"k": 1}), ("full", ((2, 2), 5), {"dtype": ":uint8"}), ("zeros_like", (x,), {}),
            ("ones", (3,), {"dtype": ":float32"})):
        judge(name, *args, **named)
    for one, other in itertools.product(KINDS["numeric"], KINDS["numeric"]):
        try:
            wanted = str(strict.result_type(getattr(strict, one), getattr(strict, other))).split(".")[-1]
        except TypeError:  # of two kinds, or uint64 and a signed type: the standard leaves it open
            continue
        check(hg.result_type(getattr(hg, one), getattr(hg, other)) == wanted, f"result_type({one}, {other}): {wanted} expected")
    for name in KINDS["all"]:
        for kind in ("bool", "signed integer", "unsigned integer", "integral", "real floating", "numeric"):
            check(hg.isdtype(getattr(hg, name), kind) == strict.isdtype(getattr(strict, name), kind), f"isdtype({name}, {kind!r})")
    for name in FLOATS:
        for field in ("bits", "eps", "max", "min", "smallest_normal"):
            check(getattr(hg.finfo(getattr(hg, name)), field) == getattr(strict.finfo(getattr(strict, name)), field), f"finfo({name}).{field}")


def main():
    print(f"{given.examples} examples a property from seed {given.seed}; Hypothesis {hypothesis.__version__}, array-api-strict {strict.__version__}, NumPy {np.__version__}")
    for name, tried in properties:
        if given.only in name:
            try:
                tried()
            except BaseException as error:  # noqa: B036
                check(False, f"{name}: run_judges.py --only {name} --seed {given.seed}: {''.join(traceback.format_exception_only(error))[-600:]}")
            else:
                check(True, name)
    for part in (elements, reductions, manipulations):
        if given.only in part.__name__:
            part()
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
