#!/usr/bin/python3
"""Element-wise operations against NumPy: all pairs of types, layouts that broadcast, NaNs, infinities and signed zeros, at once and in a scope with equal bits.

    tests/tensors/run_element.py [--seed N]

Needs HG_SOURCE_DIR and HG_BUILD_DIR, or stands in the sources of the project. Last line: N passed, N failed, N skipped."""
import argparse
import sys

from tensors import REAL, Executor, Layout, Refused, checks, np

# Operations whose NumPy function has another name.
NUMPY = {"div": "divide", "sub": "subtract", "mul": "multiply", "pow": "power", "neg": "negative", "bitwise_left_shift": "left_shift",
         "bitwise_right_shift": "right_shift", "round": "rint", "atan2": "arctan2", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "abs": "absolute",
         "bitwise_invert": "invert"}
BINARY = ["add", "sub", "mul", "div", "floor_divide", "remainder", "pow", "maximum", "minimum", "atan2", "hypot", "logaddexp", "copysign", "equal",
          "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
          "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"]
UNARY = ["logical_not", "bitwise_invert", "abs", "neg", "positive", "sign", "square", "ceil", "floor", "round", "trunc", "isnan", "isinf", "isfinite",
         "signbit", "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh",
         "tanh", "exp10", "sinpi", "cospi"]
WHOLE = ("ceil", "floor", "round", "trunc")  # of integers the standard keeps the type, NumPy 1.24 does not
CORRECTLY_ROUNDED = {"add", "sub", "mul", "div", "floor_divide", "remainder", "maximum", "minimum", "copysign", "abs", "neg", "positive", "sign", "square",
                     "sqrt", "clip", *WHOLE}
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.5, 3.5]
# What NumPy computes in a wider type, or by a library of other accuracy, is compared within this many units of the result's last place.
UNITS = 8


def numbers(random, operation, second):
    def make(dtype):
        dtype = np.dtype(dtype)

        def of(shape):
            if dtype.kind == "b":
                return random.integers(0, 2, shape).astype(dtype)
            if dtype.kind == "f":
                a = (random.standard_normal(shape) * 3).astype(dtype)
                flat = a.reshape(-1)
                for i in range(0, flat.size, 3):
                    flat[i] = SPECIAL[random.integers(0, len(SPECIAL))]
                return a
            a = random.integers(-20 if dtype.kind == "i" else 0, 20, shape).astype(dtype)
            if second and operation in ("floor_divide", "remainder"):
                a[a == 0] = 7  # integers divided by 0 are a fault
            return np.abs(a) if second and operation == "pow" else a
        return of
    return make


def near(got, want, exact, signs):
    if want.dtype.kind != "f" or exact:
        both = np.isnan(got) & np.isnan(want) if want.dtype.kind == "f" else np.zeros(got.shape, bool)
        equal = got == want
        if want.dtype.kind == "f" and signs:
            equal &= np.signbit(got) == np.signbit(want)
        return bool((both | equal).all())
    with np.errstate(all="ignore"):
        unit = np.maximum(np.spacing(np.abs(want)), np.finfo(want.dtype).tiny)
        return bool(((got == want) | (np.isnan(got) & np.isnan(want)) | (np.abs(got.astype("f8") - want) <= UNITS * unit.astype("f8"))).all())


def of_pi(cosine):
    """sin or cos of pi a from the nearest multiple of 1/2 on, with the type that NumPy's exp2 has."""
    def of(a):
        wide = np.abs(a.astype(np.longdouble))
        rest = np.fmod(wide, 2)
        count = np.rint(2 * rest)
        r = 4 * np.arctan(np.longdouble(1)) * (rest - count / 2)
        turn = count + cosine
        value = np.where(turn % 2 == 1, np.cos(r), np.sin(r)) * np.where(turn % 4 > 1, -1, 1)
        value = np.where(value == 0, 0, value)
        return (value if cosine else np.copysign(1, a.astype(np.longdouble)) * value).astype(np.exp2(a).dtype)
    return of


# What NumPy has no function for.
MISSING = {"exp10": lambda a: np.power(np.longdouble(10), a.astype(np.longdouble)).astype(np.exp2(a).dtype), "sinpi": of_pi(False), "cospi": of_pi(True)}


def expected(operation, arrays):
    """None: NumPy has no such loop."""
    function = MISSING.get(operation) or getattr(np, NUMPY.get(operation, operation))
    try:
        with np.errstate(all="ignore"):
            want = function(*arrays)
    except TypeError:
        return None
    if operation in WHOLE and arrays[0].dtype.kind in "iu":
        return arrays[0]
    return want


def one(cpu, random, operation, types):
    make = numbers(random, operation, False), numbers(random, operation, True)
    make += make[:1]
    shapes = [(3, 4), (4,), (3, 1)] if len(types) > 1 else [(2, 3, 2)]
    layouts = [Layout(random, make[k](t), shapes[k]) for k, t in enumerate(types)]
    want = expected(operation, [layout.array for layout in layouts])
    label = f"{operation} of {' and '.join(str(np.dtype(t)) for t in types)}"
    may_refuse = want is None or operation == "signbit" or np.dtype("?") in [np.dtype(t) for t in types]
    try:
        inputs = [cpu.layout(layout) for layout in layouts]
        got = cpu.call(operation, inputs)[0].numpy()
        with cpu.scope():
            recorded = cpu.call(operation, inputs)
        again = recorded[0].numpy()
    except Refused as error:
        checks.check(may_refuse, f"{label}: {error}")
        return
    if want is None:  # more than NumPy has
        return
    checks.check(got.dtype == want.dtype and got.shape == want.shape, f"{label}: {got.dtype} {got.shape} for {want.dtype} {want.shape}")
    if got.dtype == want.dtype and got.shape == want.shape:
        exact = operation in CORRECTLY_ROUNDED and got.dtype != np.float16
        signs = operation not in ("maximum", "minimum", "clip")  # of zeros with both signs NumPy gives either
        checks.check(near(got, want, exact, signs), f"{label}: {got.ravel()[:6]} for {want.ravel()[:6]} of {[layout.array.ravel()[:6] for layout in layouts]}")
    checks.check(got.tobytes() == again.tobytes(), f"{label}: other bits in a scope")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    random = np.random.default_rng(parser.parse_args().seed)
    cpu = Executor()
    for operation in UNARY:
        for a in REAL:
            one(cpu, random, operation, [a])
    for operation in BINARY:
        for a in REAL:
            for b in REAL:
                one(cpu, random, operation, [a, b])
    for a in REAL:
        one(cpu, random, "clip", [a, a, a])  # the least above the largest too
    return checks.finish()


sys.exit(main())
