"""Functions on arrays: the Python array API standard 2024.12, and beyond it what the library's operations offer. Where a name is the
standard's, so are arguments and meaning."""
import builtins
import math
from collections import namedtuple

from . import _array, _executor, _native, types
from ._array import convert, from_dlpack
from ._errors import ArgumentError, AxisError

__array_api_version__ = "2024.12"
e, inf, nan, pi, newaxis = math.e, math.inf, math.nan, math.pi, None
_op = _native.operations


def _executor_of(device):
    return None if device is None else _executor.executor_of(device)


def _array_of(x):
    return x if isinstance(x, _native.Array) else convert(x, None, None, None)


def _axis(axis, ndim, function):
    """An axis from 0 on; an IndexError beyond."""
    axis = axis.__index__()
    if not -ndim <= axis < ndim:
        raise AxisError(f"hologram.{function}: axis {axis} of an array of {ndim} axes")
    return axis % ndim


def _axes(axis, ndim, function):
    if axis is None:
        return tuple(range(ndim))
    axes = tuple(_axis(one, ndim, function) for one in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(set(axes)) < len(axes):
        raise ValueError(f"hologram.{function}: an axis twice in {axis}")
    return axes


def _named(name, function):
    """The function under the name of its operation, and with its words."""
    function.__name__ = name
    function.__doc__ = f"{name}: {_op[name].__doc__}."
    return function


# ---- making ----

def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """An array of an array, a number, nested lists, NumPy's array, what has the buffer protocol or __dlpack__. copy None: the same memory
    where it can be shared (the CPU shares the host's), True: never, False: ValueError where it cannot."""
    return convert(obj, dtype, _executor_of(device), copy)


def array(obj, /, dtype=None, *, copy=True, device=None):
    """asarray, as NumPy calls it: a copy unless told."""
    return convert(obj, dtype, _executor_of(device), copy or None)


def _shape(shape):
    shape = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    return tuple(extent.__index__() for extent in shape)


def empty(shape, *, dtype=None, device=None):
    """A new array whose elements may have any value."""
    return _native.empty(_shape(shape), types.resolve(dtype) or types.float64, _executor_of(device), False)


def zeros(shape, *, dtype=None, device=None):
    """A new array of zeros."""
    return _native.empty(_shape(shape), types.resolve(dtype) or types.float64, _executor_of(device), True)


def full(shape, fill_value, *, dtype=None, device=None):
    """A new array of one value."""
    if dtype is None:
        dtype = fill_value.dtype if isinstance(fill_value, _native.Array) else type(fill_value)
    made = _native.empty(_shape(shape), types.resolve(dtype), _executor_of(device), False)
    made[...] = fill_value
    return made


def ones(shape, *, dtype=None, device=None):
    """A new array of ones."""
    return full(shape, 1, dtype=types.float64 if dtype is None else dtype, device=device)


def empty_like(x, /, *, dtype=None, device=None):
    """empty of an array's shape, type and device."""
    return empty(x.shape, dtype=dtype or x.dtype, device=device or x.device)


def zeros_like(x, /, *, dtype=None, device=None):
    """zeros of an array's shape, type and device."""
    return zeros(x.shape, dtype=dtype or x.dtype, device=device or x.device)


def ones_like(x, /, *, dtype=None, device=None):
    """ones of an array's shape, type and device."""
    return full(x.shape, 1, dtype=dtype or x.dtype, device=device or x.device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """full of an array's shape, type and device."""
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device or x.device)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """start, start + step, … before stop; of one number 0 to before it."""
    start, stop = (0, start) if stop is None else (start, stop)
    if step == 0:
        raise ValueError("arange: step is 0")
    dtype = types.resolve(dtype) or (types.int64 if builtins.all(isinstance(one, int) for one in (start, stop, step)) else types.float64)
    count = builtins.max(0, math.ceil((stop - start) / step)) if not isinstance(start, int) or not isinstance(stop, int) or not isinstance(step, int) \
        else len(range(start, stop, step))
    if dtype.kind in "iu" and builtins.max(builtins.abs(start), builtins.abs(stop)) >= 2**53:
        if isinstance(start, int) and isinstance(step, int) and count > 2**16 and dtype.itemsize == 8:
            asarray([start, start + (count - 1) * step], dtype=dtype)  # or what does not fit
            numbers = _op["arange"](sizes=(count,), numbers=(0.0, 1.0), type=dtype, executor=_executor_of(device))
            return numbers * (step % 2**64 if dtype.kind == "u" else step) + start
        return asarray([int(start + i * step) for i in range(count)], dtype=dtype, device=device)
    return _op["arange"](sizes=(count,), numbers=(float(start), float(step)), type=dtype, executor=_executor_of(device))


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """num numbers from start to stop in equal steps."""
    dtype = types.resolve(dtype) or (types.complex128 if isinstance(start, complex) or isinstance(stop, complex) else types.float64)
    if num < 0:
        raise ValueError(f"linspace: num is {num}")
    if dtype.kind == "c":
        steps = linspace(0, 1, num, device=device, endpoint=endpoint)
        return (complex(start) + (complex(stop) - complex(start)) * steps.astype(types.complex128)).astype(dtype)
    return _op["linspace"](sizes=(num,), numbers=(float(start), float(stop)), flag=not endpoint, type=dtype, executor=_executor_of(device))


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """1 on a diagonal, else 0."""
    columns = n_rows if n_cols is None else n_cols
    k = builtins.max(-n_rows, builtins.min(k, columns))  # beyond there is nothing
    return _op["eye"](sizes=(n_rows, columns), numbers=(float(k),), type=types.resolve(dtype) or types.float64,
                      executor=_executor_of(device))


def meshgrid(*arrays, indexing="xy"):
    """Of arrays of one axis, views with an axis for each of them."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing {indexing!r}: expected 'xy' or 'ij'")
    n = len(arrays)
    shape = [x.size for x in arrays]
    places = list(range(n))
    if indexing == "xy" and n > 1:
        places[:2] = 1, 0
        shape[:2] = shape[1], shape[0]
    return [x.reshape(tuple(x.size if at == places[i] else 1 for at in range(n))).broadcast_to(tuple(shape)).copy()
            for i, x in enumerate(arrays)]


def tril(x, /, *, k=0):
    """Elements of the last two axes up to a diagonal, else 0."""
    return _op["tril"](x, numbers=(float(k),))


def triu(x, /, *, k=0):
    """Elements of the last two axes from a diagonal on, else 0."""
    return _op["triu"](x, numbers=(float(k),))


# ---- types ----

def astype(x, dtype, /, *, copy=True, device=None):
    """The elements as another type."""
    x = x.astype(dtype, copy=copy)
    return x if device is None else x.to_device(device)


def _dtype_of(x):
    return x.dtype if isinstance(x, _native.Array) else types.resolve(x)


def result_type(*arrays_and_dtypes):
    """The common type of arrays, types and numbers of Python."""
    known = [_dtype_of(x) for x in arrays_and_dtypes if type(x) not in (bool, int, float, complex)]
    if not known:
        raise ValueError("result_type: no array or type")
    common = known[0]
    for one in known[1:]:
        common = types.result(common, one)
    for x in arrays_and_dtypes:
        if type(x) in (bool, int, float, complex):
            kind = {bool: "b", int: "i", float: "f", complex: "c"}[type(x)]
            order = "biufc"
            if order.index(kind) > order.index(common.kind) and not (kind == "i" and common.kind == "u"):
                common = {"i": types.int64, "f": types.float64}.get(kind) or (
                    types.complex64 if common.kind == "f" and common.itemsize < 8 else types.complex128)
    return common


def can_cast(from_, to, /):
    """Whether the common type of both is the second."""
    from_, to = _dtype_of(from_), types.resolve(to)
    try:
        return types.result(from_, to) is to
    except TypeError:
        return False


_KINDS = {"bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f", "complex floating": "c",
          "numeric": "iufc"}


def isdtype(dtype, kind):
    """Whether a type is one, of a kind ("bool", "integral", "real floating", …), or of one of a tuple of those."""
    dtype = types.resolve(dtype)
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return dtype.kind in _KINDS[kind]
    if isinstance(kind, str):
        raise ValueError(f"isdtype: kind {kind!r}: expected one of {', '.join(_KINDS)}")
    return dtype is types.resolve(kind)


finfo_object = namedtuple("finfo_object", "bits eps max min smallest_normal dtype")
iinfo_object = namedtuple("iinfo_object", "bits max min dtype")
_FLOATS = {"float16": (10, 15), "bfloat16": (7, 127), "float32": (23, 127), "float64": (52, 1023)}


def finfo(type, /):
    """Bits, eps, max, min and smallest_normal of a floating type; of a complex one of its parts."""
    dtype = _dtype_of(type)
    part = {"complex64": types.float32, "complex128": types.float64}.get(dtype.name, dtype)
    if part.name not in _FLOATS:
        raise TypeError(f"finfo: {dtype} is no floating type")
    digits, exponent = _FLOATS[part.name]
    largest = math.ldexp(2.0 - 2.0**-digits, exponent)
    return finfo_object(8 * part.itemsize, 2.0**-digits, largest, -largest, 2.0**(1 - exponent), part)


def iinfo(type, /):
    """Bits, max and min of an integer type."""
    dtype = _dtype_of(type)
    if dtype.kind not in "iu":
        raise TypeError(f"iinfo: {dtype} is no integer type")
    bits = 8 * dtype.itemsize
    return iinfo_object(bits, 2**(bits - 1) - 1, -2**(bits - 1), dtype) if dtype.kind == "i" else iinfo_object(bits, 2**bits - 1, 0, dtype)


# ---- element-wise: the extension's functions under the standard's names ----

_STANDARD = {"acos": "acos", "acosh": "acosh", "asin": "asin", "asinh": "asinh", "atan": "atan", "atan2": "atan2", "atanh": "atanh",
             "divide": "div", "subtract": "sub", "multiply": "mul", "negative": "neg"}
for _name in ("abs add angle atan2 bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor cbrt ceil conj "
              "copysign cos cosh cospi equal erf erfc exp exp10 exp2 expm1 floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less "
              "less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor maximum minimum not_equal positive "
              "pow real reciprocal remainder round rsqrt sign signbit sin sinh sinpi sqrt square tan tanh trunc where "
              "sigmoid relu gelu gelu_tanh silu softplus bmm matvec fused_linear mse cross_entropy binary_cross_entropy").split():
    _STANDARD.setdefault(_name, _name)
for _name, _operation in _STANDARD.items():
    if _operation in _op:
        globals()[_name] = _op[_operation]


def clip(x, /, min=None, max=None):
    """x, not below min and not above max."""
    if min is None and max is None:
        return x.copy()
    dtype = x.dtype
    bounds = [bound if bound is None or not isinstance(bound, _native.Array) else bound.astype(dtype, copy=False) for bound in (min, max)]
    if bounds[0] is None:
        return minimum(x, bounds[1])
    return maximum(x, bounds[0]) if bounds[1] is None else minimum(maximum(x, bounds[0]), bounds[1])


def _device_of(*operands):
    """That of the first array of ours; None: there is none."""
    return next((x.device for x in operands if isinstance(x, _native.Array)), None)


def nextafter(x1, x2, /):
    """The next number from x1 towards x2."""
    dtype = result_type(x1, x2)
    integers = {"float16": types.int16, "float32": types.int32, "float64": types.int64}.get(dtype.name)
    if integers is None:
        raise TypeError(f"nextafter: expected real floating arrays, not {dtype}")
    device = _device_of(x1, x2)
    x1, x2 = broadcast_arrays(*(asarray(x, dtype=dtype, device=None if isinstance(x, _native.Array) else device) for x in (x1, x2)))
    bits, one = _reinterpret(x1, integers), full((), 1, dtype=integers, device=device)
    step = where(equal(greater(x2, x1), greater_equal(x1, 0)), one, -one)
    smallest = copysign(_reinterpret(one, dtype), x2)
    moved = where(equal(x1, 0), smallest, _reinterpret(bits + step, dtype))
    return where(equal(x1, x2), x2, where(logical_or(isnan(x1), isnan(x2)), nan, moved))


def _reinterpret(x, dtype):
    """The bits of a contiguous array as another type of the same size."""
    return _array.from_bytes(x.tobytes(), dtype, x.shape, x.executor)


# ---- reductions ----

def _reduce(name):
    operation = _op[name]

    def reduce(x, /, *, axis=None, dtype=None, keepdims=False):
        x = _array_of(x)
        if dtype is not None:
            dtype = types.resolve(dtype)
        return operation(x, axes=_axes(axis, x.ndim, name), keepdims=keepdims, type=dtype)
    return _named(name, reduce)


sum, prod = _reduce("sum"), _reduce("prod")


def _reduce_plain(name):
    operation = _op[name]

    def reduce(x, /, *, axis=None, keepdims=False):
        x = _array_of(x)
        return operation(x, axes=_axes(axis, x.ndim, name), keepdims=keepdims)
    return _named(name, reduce)


mean, max, min, all, any, logsumexp = (_reduce_plain(_name) for _name in ("mean", "max", "min", "all", "any", "logsumexp"))


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """How many elements over axes are not 0."""
    return _op["count_nonzero"](x, axes=_axes(axis, x.ndim, "count_nonzero"), keepdims=keepdims)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """Mean square of what the mean leaves, over the number less correction."""
    return _op["var"](x, axes=_axes(axis, x.ndim, "var"), keepdims=keepdims, numbers=(float(correction),))


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """Square root of var."""
    return _op["std"](x, axes=_axes(axis, x.ndim, "std"), keepdims=keepdims, numbers=(float(correction),))


def _arg(name):
    operation = _op[name]

    def arg(x, /, *, axis=None, keepdims=False):
        if axis is not None:
            return operation(x, axes=_axis(axis, x.ndim, name), keepdims=keepdims)
        found = operation(x)
        return found.reshape((1,) * x.ndim) if keepdims else found
    return _named(name, arg)


argmax, argmin = _arg("argmax"), _arg("argmin")


def _cumulative(name):
    operation = _op[name]

    def cumulative(x, /, *, axis=None, dtype=None, include_initial=False):
        if axis is None:
            if x.ndim != 1:
                raise ValueError(f"{name}: axis is needed for an array of {x.ndim} axes")
            axis = 0
        return operation(x, axes=_axis(axis, x.ndim, name), flag=include_initial, type=types.resolve(dtype))
    return _named(name, cumulative)


cumulative_sum, cumulative_prod = _cumulative("cumulative_sum"), _cumulative("cumulative_prod")


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Each element of an axis less the one before, n times."""
    axis = _axis(axis, x.ndim, "diff")
    parts = [part for part in (prepend, x, append) if part is not None]
    return _op["diff"](concat(parts, axis=axis) if len(parts) > 1 else x, axes=axis, sizes=(n,))


# ---- searching, sorting, sets ----

def sort(x, /, *, axis=-1, descending=False, stable=True):
    """An axis in rising order, equal elements as they were."""
    return _op["sort"](x, axes=_axis(axis, x.ndim, "sort"), flag=descending)


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """Where the elements of sort were in their axis."""
    return _op["argsort"](x, axes=_axis(axis, x.ndim, "argsort"), flag=descending)


top_k_result = namedtuple("top_k_result", "values indices")


def top_k(x, k, /, *, axis=-1, largest=True):
    """The k largest of an axis and where they were."""
    return top_k_result(*_op["top_k"](x, axes=_axis(axis, x.ndim, "top_k"), sizes=(k,), flag=not largest))


def nonzero(x, /):
    """Indices of the elements that are not 0: an array for each axis."""
    if not x.ndim:
        raise ValueError("nonzero: an array without axes")
    found = _op["nonzero"](x)
    return tuple(found[i] for i in range(x.ndim))


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """Where elements of x2 would stand in x1, which is sorted."""
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side {side!r}: expected 'left' or 'right'")
    return _op["searchsorted"](x1 if sorter is None else take(x1, sorter), x2, flag=side == "right")


def isin(x1, x2, /, *, invert=False):
    """Whether an element of x1 is one of x2."""
    found = _op["isin"](x1, x2)
    return _op["logical_not"](found) if invert else found


UniqueAllResult = namedtuple("UniqueAllResult", "values indices inverse_indices counts")
UniqueCountsResult = namedtuple("UniqueCountsResult", "values counts")
UniqueInverseResult = namedtuple("UniqueInverseResult", "values inverse_indices")


def unique_all(x, /):
    """Different elements, where each is first, of each element which it is, how many there are."""
    values, indices, inverse, counts = _op["unique_all"](x)
    return UniqueAllResult(values, indices, inverse.reshape(x.shape), counts)


def unique_counts(x, /):
    """Different elements, and how many there are of each."""
    return UniqueCountsResult(*_op["unique_counts"](x))


def unique_inverse(x, /):
    """Different elements, and of each element which it is."""
    values, inverse = _op["unique_inverse"](x)
    return UniqueInverseResult(values, inverse.reshape(x.shape))


def unique_values(x, /):
    """Different elements in rising order."""
    return _op["unique_values"](x)


# ---- shapes ----

def reshape(x, /, shape, *, copy=None):
    """The elements in another shape, one extent of which may be -1."""
    made = x.reshape(_shape(shape))
    if copy is False and made.size and not _shares(made, x):
        raise ValueError("reshape: copy=False: the elements do not lie so")
    return made.copy() if copy else made


def _shares(a, b):
    return a.is_contiguous and b.is_contiguous or a.strides == b.strides or not b.is_contiguous and not a.is_contiguous


def permute_dims(x, /, axes):
    """A view whose axis i is axis axes[i]."""
    return x.permute(tuple(_axis(one, x.ndim, "permute_dims") for one in axes))


def matrix_transpose(x, /):
    """A view with the last two axes swapped."""
    return x.mT


def moveaxis(x, source, destination, /):
    """A view with axes at other places."""
    source, destination = _axes(source, x.ndim, "moveaxis"), _axes(destination, x.ndim, "moveaxis")
    if len(source) != len(destination):
        raise ValueError(f"moveaxis: {len(source)} axes to {len(destination)} places")
    order = [axis for axis in range(x.ndim) if axis not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return x.permute(tuple(order))


def expand_dims(x, /, axis):
    """A view with axes of 1."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = x.ndim + len(axes)
    for one in sorted(_axes(tuple(axes), ndim, "expand_dims")):
        x = x.unsqueeze(one)
    return x


def squeeze(x, /, axis):
    """A view without axes whose extent is 1."""
    for one in sorted(_axes(axis, x.ndim, "squeeze"), reverse=True):
        if x.shape[one] != 1:
            raise ValueError(f"squeeze: axis {one} has extent {x.shape[one]}, not 1")
        x = x.squeeze(one)
    return x


def flip(x, /, *, axis=None):
    """A view with axes backwards."""
    axes = _axes(axis, x.ndim, "flip")
    return x.flip(axes) if axes else x.copy()


def broadcast_to(x, /, shape):
    """A view with axes in front and extents of 1 repeated."""
    return x.broadcast_to(_shape(shape))


def broadcast_shapes(*shapes):
    """The shape that all shapes broadcast to."""
    out = []
    for i in range(builtins.max((len(shape) for shape in shapes), default=0)):
        extents = {shape[-1 - i] for shape in shapes if len(shape) > i} - {1}
        if len(extents) > 1:
            raise ValueError(f"shapes {', '.join(map(str, shapes))} do not broadcast")
        out.insert(0, extents.pop() if extents else 1)
    return tuple(out)


def broadcast_arrays(*arrays):
    """A view of each with the shape that all broadcast to."""
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return [x.broadcast_to(shape) for x in arrays]


def concat(arrays, /, *, axis=0):
    """Arrays behind each other along an axis; None: all elements in C order."""
    arrays = [_array_of(x) for x in arrays]
    if not arrays:
        raise ValueError("concat: no array")
    if axis is None:
        arrays, axis = [x.reshape((-1,)) if x.size else x.reshape((0,)) for x in arrays], 0
    axis = _axis(axis, arrays[0].ndim, "concat")
    while len(arrays) > 128:
        arrays = [concat(arrays[i:i + 128], axis=axis) for i in range(0, len(arrays), 128)]
    return _op["concat"](*arrays, axes=axis)


def stack(arrays, /, *, axis=0):
    """Arrays behind each other along a new axis."""
    arrays = [_array_of(x) for x in arrays]
    if not arrays:
        raise ValueError("stack: no array")
    axis = _axis(axis, arrays[0].ndim + 1, "stack")
    if builtins.any(x.shape != arrays[0].shape for x in arrays):
        raise ValueError(f"stack: shapes {', '.join(str(x.shape) for x in arrays)} are not equal")
    return concat([x.unsqueeze(axis) for x in arrays], axis=axis)


def unstack(x, /, *, axis=0):
    """Views of an axis, one for each index."""
    axis = _axis(axis, x.ndim, "unstack")
    return tuple(x.select(axis, i) for i in range(x.shape[axis]))


def split(x, indices_or_sections, /, *, axis=0):
    """Views behind each other along an axis: equal ones, or from index to index."""
    axis = _axis(axis, x.ndim, "split")
    extent = x.shape[axis]
    if isinstance(indices_or_sections, int):
        if indices_or_sections < 1 or extent % indices_or_sections:
            raise ValueError(f"split: {indices_or_sections} equal parts of an extent of {extent}")
        places = list(range(0, extent + 1, extent // indices_or_sections)) if extent else [0] * (indices_or_sections + 1)
    else:
        places = [0, *indices_or_sections, extent]
    return tuple(x[(slice(None),) * axis + (slice(a, b),)] for a, b in zip(places, places[1:]))


def pad(x, pad_width, /, *, constant_value=0):
    """Elements of a value in front of and behind axes: a pair for each axis, or one for all."""
    pairs = [tuple(pad_width)] * x.ndim if not hasattr(pad_width[0], "__len__") else [tuple(pair) for pair in pad_width]
    return _op["pad"](x, sizes=tuple(one for pair in pairs for one in pair), numbers=(float(constant_value),))


def roll(x, /, shift, *, axis=None):
    """Elements moved along axes, those beyond the end to the front."""
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,)
    if axis is None:
        return _op["roll"](x, sizes=tuple(shifts))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(_axis(one, x.ndim, "roll") for one in axes)
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    return _op["roll"](x, sizes=tuple(shifts), axes=axes)


def repeat(x, repeats, /, *, axis=None):
    """Each element so many times; an array has a number for each index of the axis."""
    if axis is None:
        x, axis = x.reshape((-1,)) if x.size else x.reshape((0,)), 0
    axis = _axis(axis, x.ndim, "repeat")
    if isinstance(repeats, _native.Array) and repeats.size != 1 or isinstance(repeats, (tuple, list)):
        counts = repeats.tolist() if isinstance(repeats, _native.Array) else list(repeats)
        if len(counts) != x.shape[axis]:
            raise ValueError(f"repeat: {len(counts)} numbers for an extent of {x.shape[axis]}")
        places = [i for i, count in enumerate(counts) for _ in range(count)]
        return take(x, asarray(places, dtype=types.int64, device=x.device), axis=axis)
    return _op["repeat"](x, sizes=(int(repeats),), axes=axis)


def tile(x, repetitions, /):
    """The whole array so many times along axes."""
    repetitions = tuple(repetitions) if hasattr(repetitions, "__len__") else (repetitions,)
    return _op["tile"](x, sizes=repetitions)


def take(x, indices, /, *, axis=None):
    """Elements of an axis at indices, which may count from the end."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: axis is needed for an array of {x.ndim} axes")
        axis = 0
    axis = _axis(axis, x.ndim, "take")
    return x[(slice(None),) * axis + (_array_of(indices),)]


def take_along_axis(x, indices, /, *, axis=-1):
    """Along an axis the element at the index at the same place."""
    axis = _axis(axis, x.ndim, "take_along_axis")
    indices = where(indices < 0, indices + x.shape[axis], indices)
    shape = broadcast_shapes(x.shape[:axis] + (1,) + x.shape[axis + 1:], indices.shape[:axis] + (1,) + indices.shape[axis + 1:])
    x = x.broadcast_to(shape[:axis] + (x.shape[axis],) + shape[axis + 1:])
    indices = indices.broadcast_to(shape[:axis] + (indices.shape[axis],) + shape[axis + 1:])
    return _op["take_along_axis"](x, indices, axes=axis)


def scatter_add(x, indices, values, /, *, axis=-1):
    """x with values added where the indices along an axis say, one after another in their order."""
    return _op["scatter_add"](x, indices, values, axes=_axis(axis, x.ndim, "scatter_add"))


# ---- products ----

def matmul(x1, x2, /, *, out=None):
    """Matrix product over the last two axes; others broadcast."""
    return _op["matmul"](x1, x2, out=out)


def tensordot(x1, x2, /, *, axes=2):
    """The sum of products over pairs of axes."""
    if isinstance(axes, int):
        return _op["tensordot"](x1, x2, sizes=(axes,))
    first, second = (tuple(one) if hasattr(one, "__len__") else (one,) for one in axes)
    if len(first) != len(second):
        raise ValueError(f"tensordot: {len(first)} axes beside {len(second)}")
    if not first:
        return _op["tensordot"](x1, x2, sizes=(0,))
    return _op["tensordot"](x1, x2, axes=tuple(_axis(a, x1.ndim, "tensordot") for a in first) +
                            tuple(_axis(b, x2.ndim, "tensordot") for b in second))


def vecdot(x1, x2, /, *, axis=-1):
    """The sum of products along an axis."""
    ndim = builtins.min(x1.ndim, x2.ndim)
    if not -ndim <= axis < 0:
        raise AxisError(f"hologram.vecdot: axis {axis}: expected -{ndim} to -1")
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: {x1.shape[axis]} elements beside {x2.shape[axis]} along axis {axis}")
    return _op["vecdot"](x1, x2, axes=axis)


# ---- networks, randomness, files ----

def softmax(x, /, *, axis=-1):
    """e^(x - m) / sum of e^(x - m) along an axis, m its largest."""
    return _op["softmax"](x, axes=_axis(axis, x.ndim, "softmax"))


def log_softmax(x, /, *, axis=-1):
    """The logarithm of softmax, without overflow."""
    return _op["log_softmax"](x, axes=_axis(axis, x.ndim, "log_softmax"))


def layer_norm(x, gamma=None, beta=None, /, *, eps=1e-5):
    """gamma (x - mean) / sqrt(variance + eps) + beta over the axes of gamma, the last ones."""
    return _op["layer_norm"](*[one for one in (x, gamma, beta) if one is not None], numbers=(eps,))


def rms_norm(x, gamma=None, /, *, eps=1e-5):
    """gamma x / sqrt(mean of x x + eps)."""
    return _op["rms_norm"](*[one for one in (x, gamma) if one is not None], numbers=(eps,))


def attention(query, key, value, mask=None, /, *, causal=False, scale=0.0):
    """softmax(scale query key^T + mask) value of [batch, heads, length, head_dim]."""
    return _op["attention"](*[one for one in (query, key, value, mask) if one is not None], flag=causal, numbers=(scale,))


def _each(value, count):
    each = tuple(value) if hasattr(value, "__len__") else (value,) * count
    if len(each) != count:
        raise ValueError(f"{each}: {count} expected, one for each axis")
    return each


def _convolved(name, axes, x, kernel, bias, stride, padding, dilation, groups, more=()):
    return _op[name](*[one for one in (x, kernel, bias) if one is not None],
                     sizes=(*_each(stride, axes), *_each(padding, axes), *_each(dilation, axes), groups, *more))


def conv1d(x, kernel, bias=None, /, *, stride=1, padding=0, dilation=1, groups=1):
    """Rows [batch, channels, w] correlated with a kernel [out, channels / groups, w]."""
    return _convolved("conv1d", 1, x, kernel, bias, stride, padding, dilation, groups)


def conv2d(x, kernel, bias=None, /, *, stride=1, padding=0, dilation=1, groups=1):
    """Images [batch, channels, h, w] correlated with a kernel [out, channels / groups, h, w]."""
    return _convolved("conv2d", 2, x, kernel, bias, stride, padding, dilation, groups)


def conv3d(x, kernel, bias=None, /, *, stride=1, padding=0, dilation=1, groups=1):
    """Volumes [batch, channels, d, h, w] correlated with a kernel [out, channels / groups, d, h, w]."""
    return _convolved("conv3d", 3, x, kernel, bias, stride, padding, dilation, groups)


def conv_transpose(x, kernel, bias=None, /, *, stride=1, padding=0, output_padding=0, dilation=1, groups=1):
    """The transpose of conv1d to conv3d: what [batch, channels, size...] adds by a kernel [channels, out / groups, window...]."""
    axes = x.ndim - 2
    given = zip(x.shape[2:], kernel.shape[2:], *(_each(one, axes) for one in (stride, padding, output_padding, dilation)))
    more = [(size - 1) * s + (window - 1) * d + 1 - 2 * p + behind for size, window, s, p, behind, d in given]
    if builtins.any(one < 1 for one in more):
        raise ValueError(f"conv_transpose: the padding leaves a result of {more}")
    return _convolved("conv_transpose", axes, x, kernel, bias, stride, padding, dilation, groups, more)


def _pooled(name, axes, x, window, stride, padding, more=(), **options):
    return _op[name](x, sizes=(*_each(window, axes), *_each(window if stride is None else stride, axes), *_each(padding, axes), *more), **options)


def _windows(x, window, stride, padding, dilation, ceil_mode, whole=False):
    """Of pools of all axes behind the second: window, stride, padding in front and behind, dilation, and, with ceil_mode, how many windows: the last
    one may end behind the padding, but begins in front of what lies behind the axis. whole: the padding reaches the end of the last window."""
    axes = builtins.max(x.ndim - 2, 0)
    window, stride, padding, dilation = (_each(one, axes) for one in (window, window if stride is None else stride, padding, dilation))
    behind, outs = list(padding), []
    for i, size in enumerate(x.shape[2:]):
        reach, step = (window[i] - 1) * dilation[i] + 1, stride[i]
        rest = size + 2 * padding[i] - reach
        if rest < 0 or builtins.min(step, window[i], dilation[i]) < 1:
            return (*window, *stride, *padding, *padding, *dilation)  # the operation says what is wrong
        out = rest // step + 1
        if ceil_mode and rest % step and out * step < size + padding[i]:
            out += 1
        outs.append(out)
        behind[i] = builtins.max(padding[i], (out - 1) * step + reach - size - padding[i]) if whole else padding[i]
    return (*window, *stride, *padding, *behind, *dilation, *(outs if ceil_mode or whole else ()))


def max_pool(x, /, window, *, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest of each window of [batch, channels, size...]. ceil_mode: a last window that only begins inside counts too. return_indices: and, as
    int64, where in its plane of size... it is."""
    sizes = _windows(x, window, stride, padding, dilation, ceil_mode)
    return _op["max_pool_places" if return_indices else "max_pool"](x, sizes=sizes)


def avg_pool(x, /, window, *, stride=None, padding=0, counted=False, ceil_mode=False, divisor=None):
    """The mean of each window of [batch, channels, size...]; counted: places of the padding count as zeros; divisor: the sum by that number instead.
    ceil_mode as max_pool."""
    if divisor is None:
        return _op["avg_pool"](x, sizes=_windows(x, window, stride, padding, 1, ceil_mode), flag=counted)
    if divisor == 0:
        raise ArgumentError("avg_pool: divisor is 0, another number expected")
    made = _op["avg_pool"](x, sizes=_windows(x, window, stride, padding, 1, ceil_mode, True), flag=True)
    return made * (math.prod(_each(window, x.ndim - 2)) / divisor)


def max_pool2d(x, /, window, *, stride=None, padding=0):
    """The largest of each window of the last two axes."""
    return _pooled("max_pool2d", 2, x, window, stride, padding)


def avg_pool2d(x, /, window, *, stride=None, padding=0):
    """The mean of each window of the last two axes."""
    return _pooled("avg_pool2d", 2, x, window, stride, padding)


def quantize(x, scale, zero_point=None, /, *, dtype=None):
    """x / scale to the nearest integer, ties to even, plus the zero point, saturated to its type, or to dtype, or to uint8."""
    if isinstance(zero_point, int):
        zero_point = full((), zero_point, dtype=types.uint8 if dtype is None else dtype, device=_device_of(x))
    return _op["quantize"](*[one for one in (x, scale, zero_point) if one is not None], type=types.resolve(dtype))


def dequantize(x, scale, zero_point=None, /):
    """(x - zero_point) * scale, of scale's type."""
    return _op["dequantize"](*[one for one in (x, scale, zero_point) if one is not None])


def dynamic_quantize(x, /):
    """x as uint8, the scale and the zero point, for the range of all elements and 0."""
    return _op["dynamic_quantize"](x)


def matmul_integer(x1, x2, x1_zero=None, x2_zero=None, /):
    """The product of matrices of int8 or uint8 as int32; zero points are taken from them first: one, or one of each row of x1, column of x2."""
    if x1_zero is None and x2_zero is not None:
        x1_zero = full((), 0, dtype=x1.dtype, device=_device_of(x1, x2, x2_zero))
    return _op["matmul_integer"](*[one for one in (x1, x2, x1_zero, x2_zero) if one is not None])


def quantized_matmul(x1, x1_scale, x1_zero, x2, x2_scale, x2_zero, scale, zero, /):
    """What both stand for, (x - zero) * scale, multiplied, and quantized with the last scale and zero point, to its type."""
    return _op["quantized_matmul"](x1, x1_scale, x1_zero, x2, x2_scale, x2_zero, scale, zero)


def embedding(table, indices, /):
    """Rows of a table by their numbers."""
    return _op["embedding"](table, indices)


def rand(shape, *, seed=0, dtype=None, device=None):
    """Uniform in [0, 1): the same numbers for a seed on every device and in every shape."""
    return _op["rand"](sizes=(seed, *_shape(shape)), type=types.resolve(dtype) or types.float64, executor=_executor_of(device))


def randint(low, high, shape, *, seed=0, dtype=None, device=None):
    """Integers from low to below high."""
    return _op["randint"](sizes=(seed, *_shape(shape)), numbers=(float(low), float(high)), type=types.resolve(dtype) or types.int64,
                          executor=_executor_of(device))


def normal(shape, *, mean=0.0, deviation=1.0, seed=0, dtype=None, device=None):
    """Numbers of the normal distribution."""
    return _op["normal"](sizes=(seed, *_shape(shape)), numbers=(float(mean), float(deviation)), type=types.resolve(dtype) or types.float64,
                         executor=_executor_of(device))


def load(path, name=None, *, device=None):
    """An array of a .npy, .npz or safetensors file."""
    import ctypes
    import os

    from . import _errors, _interface
    executor = _executor.executor_of(device)
    tensor = ctypes.c_void_p()
    _errors.check(_interface.hg_tensor_load(executor.handle, os.fsencode(path), None if name is None else name.encode(), ctypes.byref(tensor)))
    return _native.from_handle(tensor.value, executor)


def save(path, array=None, /, **arrays):
    """Writes a file, whole or not at all: .npy of one array, .npz or .safetensors of named ones."""
    import ctypes
    import os

    from . import _errors, _interface
    if (array is None) == (not arrays):
        raise TypeError("save: expected one array, or named ones")
    items = [(name, _array_of(one)) for name, one in ([(None, array)] if array is not None else arrays.items())]
    tensors = (ctypes.c_void_p * len(items))(*(one.handle for _, one in items))
    names = None if array is not None else (ctypes.c_char_p * len(items))(*(name.encode() for name, _ in items))
    _errors.check(_interface.hg_tensor_save(os.fsencode(path), tensors, names, len(items)))


def write_png(path, picture):
    """Writes an array of u8 [height, width, 3], of this package or NumPy's, as a picture."""
    import struct
    import zlib
    if len(picture.shape) != 3 or picture.shape[2] != 3 or picture.dtype.name != "uint8":
        raise ArgumentError(f"write_png: an array of uint8 [height, width, 3] is expected, not of {picture.dtype} {tuple(picture.shape)}")
    height, width, _ = picture.shape
    data = picture.tobytes()
    rows = b"".join(b"\0" + data[3 * width * y:3 * width * (y + 1)] for y in range(height))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) +
                   chunk(b"IEND", b""))


# ---- inspection ----

class _Info:
    """What __array_namespace_info__ returns."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self):
        return _executor.default_executor()

    def devices(self):
        return [_executor.default_executor(), *(one for one in _executor._by_name.values() if one is not _executor._default)]

    def default_dtypes(self, *, device=None):
        return {"real floating": types.float64, "complex floating": getattr(types, "complex128", None), "integral": types.int64,
                "indexing": types.int64}

    def dtypes(self, *, device=None, kind=None):
        names = [name for name in ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128").split()
                 if name in types._BY_NAME]
        return {name: types._BY_NAME[name] for name in names if kind is None or isdtype(types._BY_NAME[name], kind)}


def __array_namespace_info__():
    """Capabilities, devices and types, as the standard says."""
    return _Info()


__all__ = [name for name in globals() if not name.startswith("_") and name not in ("builtins", "math", "namedtuple", "types", "convert", "ArgumentError", "AxisError")]
__all__ += ["__array_api_version__", "__array_namespace_info__"]
