"""Types of elements, arrays of them, and what a rounding can cost."""
import numpy as np

TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16, "i8": np.int8, "u8": np.uint8, "i32": np.int32, "u32": np.uint32, "i64": np.int64}
UNIT = {"f32": 2.0 ** -24, "f64": 2.0 ** -53, "f16": 2.0 ** -11, "bf16": 2.0 ** -8}  # half the distance of neighbours at 1
LEAST = {"f32": 2.0 ** -149, "f64": 2.0 ** -1074, "f16": 2.0 ** -24, "bf16": 2.0 ** -133}
NORMAL = {"f32": 2.0 ** -126, "f64": 2.0 ** -1022, "f16": 2.0 ** -14, "bf16": 2.0 ** -126}  # the least normal number
FAR = {"f32": 108, "f64": 750, "f16": 18, "bf16": 97}  # e^-FAR is below what there is
MOST = {"f32": float(np.finfo(np.float32).max), "f64": float(np.finfo(np.float64).max), "f16": 65504.0, "bf16": (2 - 2.0 ** -7) * 2.0 ** 127}


def calculated(kind):
    """The type in which elements of a type are calculated with."""
    return "f64" if kind == "f64" else "f32"


def wide(kind):
    """Where the reference calculates: at least 11 bits more."""
    return np.longdouble if kind == "f64" else np.float64


def stored(x, kind):
    """Elements of a type, rounded to nearest."""
    if kind != "bf16":
        return np.ascontiguousarray(x).astype(TYPES[kind])
    x = np.ascontiguousarray(x).astype(np.float32)
    bits = x.view(np.uint32)
    return np.where(np.isnan(x), 0x7FC0, (bits + (0x7FFF + ((bits >> 16) & 1)).astype(np.uint32)) >> 16).astype(np.uint16)


def loaded(x, kind, to=None):
    """Values of stored elements, in the type of the reference."""
    if kind == "bf16":
        x = (x.astype(np.uint32) << 16).view(np.float32)
    return x.astype(to or (wide(kind) if kind in UNIT else np.int64))


def rounding(value, kind):
    """What storing a value as a type can change."""
    return UNIT[kind] * np.abs(value) + LEAST[kind]


ACTIVATIONS = ("identity", "relu", "gelu", "swish", "sigmoid", "tanh", "abs", "neg")


def erf(x):
    try:
        from scipy.special import erf as function  # pylint: disable=import-outside-toplevel
        return function(x.astype(np.float64)).astype(x.dtype)
    except ImportError:
        from math import erf as one  # pylint: disable=import-outside-toplevel
        return np.vectorize(one, otypes=[np.float64])(x.astype(np.float64)).astype(x.dtype)


def activated(x, bound, name, kind):
    """A function of values that are known within a bound, and what the result is known within: no activation is steeper than 1.13."""
    with np.errstate(over="ignore", invalid="ignore"):
        y = {"identity": lambda: x, "relu": lambda: np.fmax(x, 0), "gelu": lambda: x / 2 * (1 + erf(x / np.sqrt(x.dtype.type(2)))),
             "swish": lambda: x / (1 + np.exp(-x)), "sigmoid": lambda: 1 / (1 + np.exp(-x)), "tanh": lambda: np.tanh(x), "abs": lambda: np.abs(x), "neg": lambda: -x}[name]()
    ulps = 0 if name in ("identity", "relu", "abs", "neg") else 8
    if name == "gelu" and kind == "f64":
        ulps += 2 * 2.0 ** 11  # erf of the reference is of f64 itself: within one ULP of 1, times x
    bound = np.where(np.isnan(bound), 0, bound)
    return y, 1.13 * bound + ulps * UNIT[calculated(kind)] * np.abs(y) + (ulps > 0) * UNIT[calculated(kind)] * np.abs(x) * (kind == "f64")
