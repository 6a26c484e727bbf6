"""Types of elements: float32, int8, bool, …; short names f32, i8 are the same objects."""
from . import _native

_KINDS = {"b": "bool", "i": "signed integer", "u": "unsigned integer", "f": "real floating", "c": "complex floating"}
_LONG = {"i": "int", "u": "uint", "f": "float", "bf": "bfloat"}


class DType:
    """A type of elements. name: "float32"; short: the library's name, "f32"; itemsize: bytes; kind: one of b, i, u, f, c; code: the number
    that the library has for it. Equal to its names, and to NumPy's type of that name."""

    __slots__ = ("name", "short", "itemsize", "kind", "code")

    def __init__(self, name, short, itemsize, kind, code):
        for field, value in zip(self.__slots__, (name, short, itemsize, kind, code)):
            object.__setattr__(self, field, value)

    def __setattr__(self, name, value):
        raise AttributeError("types of elements do not change")

    def __call__(self, value=0):
        """A value of this type, with the arithmetic of kernels: integers wrap, floats round. In a kernel a conversion."""
        from ._scalar import type_of
        cls = type_of(self)
        if cls is None:
            raise TypeError(f"there are no values of {self.name}")
        return cls(value)

    def __repr__(self):
        return f"hologram.{self.name}"

    def __str__(self):
        return self.name

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        if isinstance(other, DType):
            return self is other
        if isinstance(other, str):
            return other in (self.name, self.short)
        return getattr(other, "name", None) == self.name and hasattr(other, "itemsize")

    def __reduce__(self):
        return resolve, (self.name,)


def _long_name(short):
    letters = short.rstrip("0123456789")
    return _LONG[letters] + short[len(letters):] if letters in _LONG else short


ALL = tuple(DType(_long_name(short), short, size, kind, code) for code, short, size, kind in _native.elements())
_BY_CODE = {one.code: one for one in ALL}
_BY_NAME = {name: one for one in ALL for name in (one.name, one.short)}
_PYTHON = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
globals().update(_BY_NAME)
__all__ = sorted(_BY_NAME)


def resolve(dtype):
    """The DType of a DType, a name, a type of Python (bool, int, float, complex) or of NumPy; None of None."""
    if dtype is None or isinstance(dtype, DType):
        return dtype
    name = dtype if isinstance(dtype, str) else _PYTHON.get(dtype) or getattr(dtype, "name", None) or getattr(dtype, "__name__", None)
    found = _BY_NAME.get(name)
    if found is None:
        raise TypeError(f"{dtype!r} is no type of elements; there are {', '.join(one.name for one in ALL[:14])}, …")
    return found


def by_code(code):
    """The DType that has a number of the library."""
    return _BY_CODE[code]


def result(a, b):
    """The common type of two; TypeError where there is none."""
    code = _native.promote(a.code, b.code)
    if code is None:
        raise TypeError(f"{a} and {b} have no common type")
    return _BY_CODE[code]
