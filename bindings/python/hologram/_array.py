"""The array type: what operators, indices and elements need beyond the extension."""
import sys
import threading

from . import _errors, _executor, _native, types

_OPERATIONS = _native.operations


class Array(_native.Array):
    """An array of the Python array API standard 2024.12, with NumPy's habits where that is silent. Slices are views; several names for
    the same memory see each other's writes. Made by asarray, zeros, arange, load, …; shape, dtype and device never change. strides
    count elements."""

    __slots__ = ()
    __array_ufunc__ = None  # operators with NumPy's arrays are ours

    @property
    def device(self):
        """Where the array lies: an Executor."""
        return self.executor

    def __array_namespace__(self, *, api_version=None):
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"array API standard {api_version!r}: there is 2024.12 and what was before")
        import hologram
        return hologram

    def to_device(self, device, /, *, stream=None):
        """The array on another device; itself where it lies there."""
        if stream is not None:
            raise ValueError("stream: expected None")
        return self.to(_executor.executor_of(device))

    def __dlpack_device__(self):
        return (2, 0) if self.executor.backend == "cuda" else (1, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            if tuple(dl_device) != (1, 0):
                raise BufferError(f"dl_device: the array lies on {self.__dlpack_device__()}, not on {dl_device}")
            if copy is False:
                raise BufferError("copy=False: the array lies on another device")
        array = self.copy() if copy else self
        return array.dlpack_capsule(max_version is not None and max_version[0] >= 1)

    def __array__(self, dtype=None, copy=None):
        import numpy
        if self.dtype.kind in "iu" and self.itemsize > 8:
            made = numpy.array(self.tolist(), dtype=object)
        elif self.dtype is types.bfloat16:
            import ml_dtypes
            made = numpy.frombuffer(self.tobytes(), dtype=ml_dtypes.bfloat16).reshape(self.shape)
        else:
            made = numpy.asarray(memoryview(self))
        return made.astype(dtype) if dtype is not None and made.dtype != dtype else made.copy() if copy else made

    def numpy(self):
        """The array as NumPy's: the same memory on the CPU, else a copy."""
        return self.__array__()

    def astype(self, dtype, /, *, copy=True):
        """The elements as another type."""
        dtype = types.resolve(dtype)
        return self if dtype is self.dtype and not copy else _OPERATIONS["cast"](self, type=dtype)

    def numel(self):
        """Number of elements."""
        return self.size

    def matmul(self, other):
        """self @ other."""
        return self @ other

    def to_vec(self):
        """The elements in C order as a list."""
        return self.reshape((-1,)).tolist() if self.size else []

    def copy(self):
        """A new array with the same elements."""
        return _OPERATIONS["cast"](self, type=self.dtype)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memory):
        return self.copy()

    def __reduce__(self):
        return _unpickle, (self.tobytes(), self.dtype, self.shape)

    def __contains__(self, value):
        return bool(_OPERATIONS["any"](self == value))

    def __iter__(self):
        if not self.ndim:
            raise TypeError("iteration over an array without axes")
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        text = f"Array({_text(self, 'Array(')}, dtype={self.dtype}"
        return text + ")" if self.executor.backend == "cpu" else f"{text}, device={self.executor.backend!r})"

    def __str__(self):
        return _text(self, "")

    def __format__(self, form):
        return format(self.item(), form) if form and self.size == 1 else format(str(self), form)

    def _repr_html_(self):
        return _html(self)


def _method(name):
    def method(self, /, *, axis=None, **named):
        import hologram
        return getattr(hologram, name)(self, axis=axis, **named)
    method.__name__ = name
    method.__doc__ = f"hologram.{name} of the array."
    return method


for _name in ("sum", "prod", "mean", "var", "std", "max", "min", "all", "any", "argmax", "argmin"):
    setattr(Array, _name, _method(_name))


def _unpickle(data, dtype, shape):
    return from_bytes(data, dtype, shape)


def from_bytes(data, dtype, shape, executor=None):
    """An array of the elements of bytes, in C order, copied."""
    import ctypes
    dtype = types.resolve(dtype)
    count = 1
    for extent in shape:
        count *= extent
    if len(data) != count * dtype.itemsize:
        raise ValueError(f"{len(data)} bytes for {count} elements of {dtype.itemsize} bytes")
    memory = (ctypes.c_char * max(len(data), 1)).from_buffer_copy(bytes(data) or b"\0")
    return _native.from_memory(ctypes.addressof(memory), dtype, tuple(shape), None, memory, executor).copy()


# ---- text ----

_EDGE, _MOST, _LINE = 3, 1000, 88


def _element_text(value):
    if isinstance(value, complex):
        return f"{_element_text(value.real)}{'' if str(value.imag).startswith('-') else '+'}{_element_text(value.imag)}j"
    if not isinstance(value, float):
        return repr(value)
    return f"{value:.0f}." if value.is_integer() and abs(value) < 1e16 else f"{value:.8g}"


def _text(array, before):
    """The elements as nested lists, aligned, the middle of long axes left out."""
    if not array.ndim:
        return _element_text(array.item())
    if not array.size:
        return "[]" if array.ndim == 1 else f"[], shape={array.shape}"
    long = array.size > _MOST
    words = []

    def rows(part):
        if not part.ndim:
            words.append(_element_text(part.item()))
            return len(words) - 1
        n = part.shape[0]
        if long and n > 2 * _EDGE:
            return [*(rows(part[i]) for i in range(_EDGE)), None, *(rows(part[i]) for i in range(n - _EDGE, n))]
        if part.ndim == 1:
            first = len(words)
            words.extend(map(_element_text, part.tolist()))
            return list(range(first, len(words)))
        return [rows(part[i]) for i in range(n)]

    tree = rows(array)
    width = max(map(len, words))

    def lines(node, indent):
        if isinstance(node[0], list) or node[0] is None:
            gap = ",\n" + "\n" * (depth(node) - 2) + " " * (indent + 1)
            return "[" + gap.join("..." if one is None else lines(one, indent + 1) for one in node) + "]"
        out, line = [], ""
        for i, one in enumerate(node):
            word = ("..." if one is None else words[one].rjust(width)) + (", " if i + 1 < len(node) else "")
            if line and indent + 1 + len(line) + len(word.rstrip()) > _LINE:
                out.append(line.rstrip())
                line = ""
            line += word
        return "[" + ("\n" + " " * (indent + 1)).join([*out, line]) + "]"

    def depth(node):
        return 1 + depth(next(one for one in node if one is not None)) if isinstance(node, list) else 0

    return lines(tree, len(before))


def _html(array):
    import html
    return f"<pre>{html.escape(repr(array))}</pre>"


# ---- objects that become arrays ----

def convert(obj, dtype, executor, copy):
    """An array of an array, NumPy's array, what has the buffer protocol or __dlpack__, a number or nested lists."""
    dtype = types.resolve(dtype)
    if isinstance(obj, _native.Array):
        if executor is not None and obj.executor is not executor:
            if copy is False:
                raise ValueError("copy=False: the array lies on another device")
            obj, copy = obj.to(executor), False if copy is None else copy
        if dtype is not None and dtype is not obj.dtype:
            if copy is False:
                raise ValueError(f"copy=False: an array of {obj.dtype} is no array of {dtype}")
            return obj.astype(dtype)
        return obj.copy() if copy else obj
    made = None
    if type(obj) not in (list, tuple, range, int, float, bool, complex):
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(obj, (numpy.ndarray, numpy.generic)):
            made = _from_numpy(obj, numpy, executor, copy)
        elif hasattr(obj, "__dlpack__"):
            made = from_dlpack(obj, device=executor, copy=copy)
        else:
            try:
                made = _native.from_buffer(obj, executor, copy)
            except TypeError:
                made = None
            if made is None and hasattr(obj, "__array__"):
                return convert(obj.__array__(), dtype, executor, copy)
    if made is None:
        if copy is False:
            raise ValueError(f"copy=False: the elements of {type(obj).__name__} are no array's")
        return _native.from_sequence(obj, dtype, executor)
    if dtype is None or dtype is made.dtype:
        return made
    if copy is False:
        raise ValueError(f"copy=False: an array of {made.dtype} is no array of {dtype}")
    return made.astype(dtype)


def _from_numpy(obj, numpy, executor, copy):
    array = numpy.asarray(obj)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype == object:
        return None if array.ndim == 0 and not isinstance(array.item(), (int, float, complex)) else _native.from_sequence(array.tolist(), None, executor)
    if array.dtype.kind in "biufc" or array.dtype.name == "bfloat16":
        try:
            dtype = types.resolve(array.dtype.name)
        except TypeError:
            raise TypeError(f"NumPy's {array.dtype} is no type of elements here") from None
        if dtype is types.bfloat16:
            bits = numpy.ascontiguousarray(array).view(numpy.uint16)
            made = _native.from_memory(bits.__array_interface__["data"][0], dtype, array.shape, None, bits, executor)
            return made.copy() if copy or bits.base is not array else made
        return _native.from_buffer(array, executor, copy)
    raise TypeError(f"NumPy's {array.dtype} is no type of elements here")


def from_dlpack(x, /, *, device=None, copy=None):
    """An array of what has __dlpack__: the same memory where the device sees it, else a copy."""
    executor = None if device is None else _executor.executor_of(device)
    for lazy, real in (("is_conj", "resolve_conj"), ("is_neg", "resolve_neg")):  # PyTorch's bits: capsules do not have the second
        if getattr(x, lazy, bool)():
            if copy is False:
                raise ValueError(f"copy=False: the tensor's elements are not what its memory has ({lazy}())")
            x = getattr(x, real)()
    try:
        capsule = x.__dlpack__(max_version=(1, 1), **({} if copy is None else {"copy": copy}))
    except TypeError:  # of before DLPack 1.0
        capsule = x.__dlpack__()
    return _native.from_dlpack(capsule, executor)


# ---- indices that are arrays ----

def _as_index(part):
    if isinstance(part, (list, tuple, range)) or hasattr(part, "__array_interface__") or hasattr(part, "__dlpack__"):
        made = convert(part, None, None, None)
        return made.astype(types.int64) if not made.size and isinstance(part, (list, tuple, range)) else made
    return part


def _prepare(array, key):
    """A view of the array, and for it a tuple of slices and arrays of integers, one for each axis. Masks become integers."""
    import hologram
    parts = [_as_index(part) if not isinstance(part, (_native.Array, slice)) and part is not None and part is not Ellipsis else part
             for part in (key if isinstance(key, tuple) else (key,))]
    for i, part in enumerate(parts):
        if isinstance(part, bool):
            parts[i] = convert(part, None, array.executor, None)
        elif not isinstance(part, (_native.Array, slice, int)) and part is not None and part is not Ellipsis:
            if hasattr(part, "__index__"):
                parts[i] = part.__index__()
            else:
                raise IndexError(f"an index is an integer, a slice, None, ..., or an array of integers or bool, not {part!r}")
        elif isinstance(part, _native.Array) and part.dtype.kind not in "biu":
            raise IndexError(f"an index is an array of integers or bool, not of {part.dtype}")
    used = sum(part.ndim if isinstance(part, _native.Array) and part.dtype.kind == "b" else 1
               for part in parts if part is not None and part is not Ellipsis)
    if used > array.ndim:
        raise IndexError(f"too many indices: {used} for an array of {array.ndim} axes")
    if sum(part is Ellipsis for part in parts) > 1:
        raise IndexError("an index can have only one ellipsis ('...')")
    at = next((i for i, part in enumerate(parts) if part is Ellipsis), None)
    rest = [slice(None)] * (array.ndim - used)
    parts = [*parts, *rest] if at is None else [*parts[:at], *rest, *parts[at + 1:]]
    view, places, axis = array, [], 0
    for part in parts:
        if part is None:
            view, part = view.unsqueeze(axis), slice(None)
        elif isinstance(part, _native.Array) and part.dtype.kind == "b":
            if not all(mask in (extent, 0) for mask, extent in zip(part.shape, view.shape[axis:axis + part.ndim])):
                raise IndexError(f"a mask of shape {part.shape} for axes of {view.shape[axis:axis + part.ndim]}")
            if not part.ndim:
                view, part = view.unsqueeze(axis), hologram.nonzero(part.reshape((1,)))[0]
                places.append(part)
            else:
                places.extend(hologram.nonzero(part))
            axis = len(places)
            continue
        places.append(part)
        axis += 1
    basic = tuple(part if isinstance(part, slice) else slice(None) for part in places)
    view = view[basic] if any(part != slice(None) for part in basic) else view
    return view, [part if isinstance(part, (_native.Array, int)) else None for part in places]


def _flat_places(view, places):
    """Of integer arrays for some axes of a view: the shape of the result, the view with these axes first as one, and numbers along it;
    `front` is where the axes of the indices stand in the result."""
    import hologram
    axes = [i for i, part in enumerate(places) if part is not None]
    arrays = hologram.broadcast_arrays(*(convert(places[i], None, view.executor, None) for i in axes))
    flat = None
    for axis, index in zip(axes, arrays):
        extent = view.shape[axis]
        index = index.astype(types.int64) if index.dtype is not types.int64 else index
        if index.size and (bool(_OPERATIONS["any"](index < -extent)) or bool(_OPERATIONS["any"](index >= extent))):
            wrong = [one for one in index.reshape((-1,)).tolist() if not -extent <= one < extent][0]
            raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {extent}")
        index = _OPERATIONS["where"](index < 0, index + extent, index)
        flat = index if flat is None else flat * extent + index
    others = [i for i in range(view.ndim) if i not in axes]
    front = axes[0] if axes == list(range(axes[0], axes[-1] + 1)) else 0
    return flat, axes, others, front


def index(array, key):
    """array[key] where a part of the key is an array."""
    view, places = _prepare(array, key)
    if all(part is None for part in places):
        return view.copy()
    flat, axes, others, front = _flat_places(view, places)
    rows = 1
    for axis in axes:
        rows *= view.shape[axis]
    rest = tuple(view.shape[axis] for axis in others)
    table = view.permute(tuple(axes + others)).reshape((rows, *rest))
    taken = _OPERATIONS["take"](table, flat.reshape((-1,)), axes=0).reshape((*flat.shape, *rest))
    order = list(range(flat.ndim, flat.ndim + front)) + list(range(flat.ndim)) + list(range(flat.ndim + front, taken.ndim))
    return taken if order == list(range(taken.ndim)) else taken.permute(tuple(order)).copy()


def assign(array, key, value):
    """array[key] = value where a part of the key is an array."""
    import hologram
    if isinstance(key, _native.Array) and key.dtype.kind == "b" and key.shape == array.shape and isinstance(value, (bool, int, float, complex)):
        array[...] = _OPERATIONS["where"](key, convert(value, array.dtype, array.executor, None), array)
        return
    view, places = _prepare(array, key)
    if all(part is None for part in places):
        view[...] = value
        return
    flat, axes, others, front = _flat_places(view, places)
    rest = tuple(view.shape[axis] for axis in others)
    shape = (*rest[:front], *flat.shape, *rest[front:])
    exact = array.dtype if type(value) in (bool, int, float, complex) else None  # a number fits, as it has to beside other keys
    value = convert(value, exact, array.executor, None).astype(array.dtype, copy=False).broadcast_to(shape)
    order = list(range(front, front + flat.ndim)) + list(range(front)) + list(range(front + flat.ndim, len(shape)))
    count = 1
    for extent in rest:
        count *= extent
    value = value.permute(tuple(order)).reshape((flat.size, count))
    rows = 1
    for axis in axes:
        rows *= view.shape[axis]
    moved = view.permute(tuple(axes + others))
    table = moved.reshape((rows, count))
    places = flat.reshape((-1, 1)).broadcast_to((flat.size, count))
    moved[...] = _OPERATIONS["put_along_axis"](table, places, value, axes=0).reshape(moved.shape)


_native.set_main_thread(threading.main_thread().ident)
_native.set_hooks(failed=_errors.failed, as_array=lambda obj, executor: convert(obj, None, executor, None), index=index, assign=assign,
                  default_executor=_executor.default_executor, types={one.code: one for one in types.ALL}, array=Array)
