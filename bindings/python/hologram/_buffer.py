"""Buffers, and the names that the specification of the library has for its Python package."""
import ctypes
from types import SimpleNamespace

from . import _executor, _native, types
from . import _interface as c
from ._array import Array, convert
from ._errors import ArgumentError, check


class Buffer:
    """Elements of device memory without a shape. size: their number; copy_from writes, to_vec reads; array() is the same memory as an Array
    of one axis, which programs take."""

    __slots__ = ("_array",)

    def __init__(self, size, dtype="float32", executor=None):
        self._array = _native.empty((size,), types.resolve(dtype), _executor.executor_of(executor), True)

    size = property(lambda self: self._array.size, doc="Number of elements.")
    dtype = property(lambda self: self._array.dtype, doc="Type of the elements.")
    executor = property(lambda self: self._array.executor, doc="Where it lies.")

    def copy_from(self, data):
        """Writes exactly size elements: a list, an array of NumPy's, bytes-like memory."""
        given = convert(data, self.dtype if isinstance(data, (list, tuple, range)) else None, None, None)
        if given.size != self.size:
            raise ArgumentError(f"Invalid buffer size: {given.size} elements for a buffer of {self.size}")
        if given.dtype is not self.dtype:
            raise TypeError(f"copy_from: elements of {given.dtype} for a buffer of {self.dtype}")
        self._array[...] = given.reshape((self.size,)).to(self.executor)

    def to_vec(self):
        """The elements as a list."""
        return self._array.tolist()

    def array(self):
        """The same memory as an Array."""
        return self._array

    def __len__(self):
        return self.size

    def __repr__(self):
        return f"Buffer(size={self.size}, dtype={self.dtype}, executor={self.executor!r})"


def new_executor():
    """An executor of the CPU."""
    return _executor.Executor("cpu")


def new_executor_auto():
    """An executor of the first device that there is, in the end the CPU."""
    return _executor.Executor("auto")


def new_executor_with_backend(backend):
    """An executor of a backend by its name; BackendUnavailable with the reason."""
    return _executor.Executor(backend)


Tensor = Array
_op = _native.operations
ops = SimpleNamespace(**{f"vector_{name}": _op[name] for name in ("add", "sub", "mul", "div", "abs", "neg", "sqrt", "exp", "log", "sin", "cos", "tanh",
                                                                 "sigmoid", "relu")},
                      vector_min=_op["minimum"], vector_max=_op["maximum"], **_op)


class Config:
    """What hg_config says: defaults, then hologram.toml or the user's file, .env and the environment, as `hologram config` prints them.
    Config() reads them; attributes may be changed; Executor.from_config(config) uses them."""

    def __init__(self, path=None, *, files=True):
        config = c.hg_config()
        check(c.hg_config_init(ctypes.byref(config), ctypes.sizeof(config)))
        if files:
            check(c.hg_config_read_files(None if path is None else str(path).encode(), ctypes.byref(config)))
        else:
            check(c.hg_config_read_env(ctypes.byref(config)))
        object.__setattr__(self, "_config", config)

    @staticmethod
    def _names():
        return [name for name, *_ in c.hg_config._fields_ if name != "size" and not name.startswith("reserved")]

    def __getattr__(self, name):
        if name not in self._names():
            raise AttributeError(f"there is no setting {name!r}: there are {', '.join(self._names())}")
        value = getattr(self._config, name)
        return value.decode() if isinstance(value, bytes) else list(value) if hasattr(value, "_length_") else value

    def __setattr__(self, name, value):
        if name not in self._names():
            raise AttributeError(f"there is no setting {name!r}: there are {', '.join(self._names())}")
        _executor.set_field(self._config, name, value)

    def __dir__(self):
        return self._names()

    def __repr__(self):
        return "Config(" + ", ".join(f"{name}={getattr(self, name)!r}" for name in self._names()) + ")"

    @staticmethod
    def items(path=None):
        """Every setting with its value and where that came from: (variable, key, value, origin, what it does)."""
        found = []

        def each(user, item):
            one = ctypes.cast(item, ctypes.POINTER(c.hg_config_item)).contents
            found.append(tuple((getattr(one, name) or b"").decode(errors="replace") for name in ("variable", "key", "value", "origin", "what")))
        check(c.hg_config_list(None if path is None else str(path).encode(), c.hg_config_listener(each), None))
        return found
