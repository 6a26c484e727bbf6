"""Values of one type, and what kernels say of their parameters.

    f32(0.1), i64(3)          a value of one type, with the arithmetic that kernels have
    In[f32, "n"]              an array that is read; Out, Inout; extents are numbers, names or texts such as "n + 2"
    static                    a parameter whose value is compiled into the kernel
"""
import math
import struct
from types import ModuleType

from . import _interface as _c


class Scalar:
    """A value of one type. Integers wrap at it, floats round to it; a number of Python beside one takes its type."""

    __slots__ = ("value",)
    name = kind = format = None
    code = bits = size = 0

    def __init__(self, value=0):
        if isinstance(value, Scalar):
            value = value.value
        elif not isinstance(value, (bool, int, float)):
            value = value.item() if hasattr(value, "item") else float(value)
        self.value = self.fit(value)

    @classmethod
    def fit(cls, value):
        """A number of Python as this type has it: wrapped, or rounded once; of a float for an integer type the nearest toward zero."""
        if cls.kind == "b":
            return bool(value)
        if cls.kind == "f":
            return round_float(cls, value)
        if isinstance(value, float):
            low, high = cls.range()
            return 0 if value != value else low if value <= low else high if value >= high else int(value)
        value = int(value) & ((1 << cls.bits) - 1)
        return value - (1 << cls.bits) if cls.kind == "i" and value >> (cls.bits - 1) else value

    @classmethod
    def range(cls):
        """The smallest and the largest integer."""
        return (-(1 << (cls.bits - 1)), (1 << (cls.bits - 1)) - 1) if cls.kind == "i" else (0, (1 << cls.bits) - 1)

    @classmethod
    def holds(cls, value):
        low, high = cls.range()
        return low <= value <= high

    @classmethod
    def pattern(cls, value):
        """The bits of a fitting value, as an unsigned number."""
        if cls.kind == "f":
            data = struct.pack("<f", value)[2:] if cls.name == "bf16" else struct.pack("<" + cls.format, value)
            return int.from_bytes(data, "little")
        return int(value) & ((1 << cls.bits) - 1)

    def __repr__(self):
        return f"{self.name}({self.value!r})"

    def __format__(self, how):
        return format(self.value, how)

    def __bool__(self):
        return bool(self.value)

    def __int__(self):
        return int(self.value)

    __trunc__ = __int__

    def __index__(self):
        if self.kind == "f":
            raise TypeError(f"an index is an integer, not {self.name}")
        return int(self.value)

    def __float__(self):
        return float(self.value)

    def __hash__(self):
        return hash(self.value)

    def item(self):
        return self.value

    # ---- operators ----

    def __add__(self, other):
        return operate("+", self, other)

    def __radd__(self, other):
        return operate("+", other, self)

    def __sub__(self, other):
        return operate("-", self, other)

    def __rsub__(self, other):
        return operate("-", other, self)

    def __mul__(self, other):
        return operate("*", self, other)

    def __rmul__(self, other):
        return operate("*", other, self)

    def __truediv__(self, other):
        return operate("/", self, other)

    def __rtruediv__(self, other):
        return operate("/", other, self)

    def __floordiv__(self, other):
        return operate("//", self, other)

    def __rfloordiv__(self, other):
        return operate("//", other, self)

    def __mod__(self, other):
        return operate("%", self, other)

    def __rmod__(self, other):
        return operate("%", other, self)

    def __and__(self, other):
        return operate("&", self, other)

    def __rand__(self, other):
        return operate("&", other, self)

    def __or__(self, other):
        return operate("|", self, other)

    def __ror__(self, other):
        return operate("|", other, self)

    def __xor__(self, other):
        return operate("^", self, other)

    def __rxor__(self, other):
        return operate("^", other, self)

    def __lshift__(self, other):
        return operate("<<", self, other)

    def __rlshift__(self, other):
        return operate("<<", other, self)

    def __rshift__(self, other):
        return operate(">>", self, other)

    def __rrshift__(self, other):
        return operate(">>", other, self)

    def __neg__(self):
        return type(self)(-self.value)

    def __pos__(self):
        return self

    def __abs__(self):
        return type(self)(abs(self.value))

    def __invert__(self):
        return type(self)(~self.value)

    def __eq__(self, other):
        return compare(self, other, lambda a, b: a == b)

    def __ne__(self, other):
        return compare(self, other, lambda a, b: a != b)

    def __lt__(self, other):
        return compare(self, other, lambda a, b: a < b)

    def __le__(self, other):
        return compare(self, other, lambda a, b: a <= b)

    def __gt__(self, other):
        return compare(self, other, lambda a, b: a > b)

    def __ge__(self, other):
        return compare(self, other, lambda a, b: a >= b)


def _make():
    formats = {"f16": "e", "f32": "f", "f64": "d", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q"}
    made = {}
    for constant, code in _c.hg_type.items():
        name = constant.removeprefix("HG_TYPE_").lower()
        if name == "count":
            continue
        bits = int(name.lstrip("bfiu"))
        made[name] = type(name, (Scalar,), {"__slots__": (), "__module__": __name__, "name": name, "code": code, "bits": bits, "size": bits // 8,
                                            "kind": "f" if name[0] == "b" else name[0], "format": formats.get(name)})
    return made


TYPES = _make()
globals().update(TYPES)
boolean = type("boolean", (Scalar,), {"__slots__": (), "__module__": __name__, "name": "bool", "code": _c.HG_TREE_PREDICATE, "bits": 1, "size": 1, "kind": "b",
                                      "format": "?"})
LONG = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", **{f"{word}int{bits}": f"{word or 'i'}{bits}" for word in ("", "u")
                                                                                    for bits in (8, 16, 32, 64)}}
i32, i64, u32, u64, f32, f64, u8 = (TYPES[name] for name in ("i32", "i64", "u32", "u64", "f32", "f64", "u8"))


def type_of(what):
    """The type that an annotation or a dtype means; None: none."""
    if isinstance(what, type):
        if issubclass(what, Scalar) and what.code + what.bits:
            return what
        what = {bool: "bool", int: "i64", float: "f32"}.get(what, what)
    name = what if isinstance(what, str) else getattr(what, "short", None) or getattr(what, "name", None) or getattr(what, "__name__", "")
    name = LONG.get(name, name)
    return boolean if name in ("bool", "bool_", "boolean") else TYPES.get(name) if isinstance(name, str) else None


def round_float(cls, value):
    try:
        value = float(value)
        if cls.bits == 64:
            return value
        if cls.name == "bf16":
            exact = value
            bits = int.from_bytes(struct.pack("<d", value), "little")
            if math.isfinite(value):  # to nearest even, of what f32 has no bits of too
                f = struct.unpack("<I", struct.pack("<f", 0.0))[0]
                try:
                    f = struct.unpack("<I", struct.pack("<f", value))[0]
                except OverflowError:
                    return math.copysign(math.inf, value)
                low = f & 0xFFFF
                near = struct.unpack("<f", struct.pack("<I", f))[0]
                up = low > 0x8000 or low == 0x8000 and (abs(exact) > abs(near) or abs(exact) == abs(near) and f >> 16 & 1)
                return struct.unpack("<f", struct.pack("<I", ((f >> 16) + up) << 16))[0]
            return value if bits else 0.0
        return struct.unpack(cls.format, struct.pack(cls.format, value))[0]
    except OverflowError:
        return math.inf if value > 0 else -math.inf


class Mixed(TypeError):
    """Two types that have no common one."""


def join(a, b):
    """The type that values of two types meet in; a and b are types, or int, float, bool for numbers of Python, which adapt."""
    if a is b:
        return a
    weak_a, weak_b = a in (int, float, bool), b in (int, float, bool)
    if weak_a and weak_b:
        return float if float in (a, b) else int
    if weak_a:
        a, b, weak_b = b, a, True
    if weak_b:
        if a.kind == "b":
            return a if b is bool else i32 if b is int else f32
        return f32 if b is float and a.kind != "f" else a
    if a.kind == "b" or b.kind == "b":
        return b if a.kind == "b" else a
    if a.kind == "f" or b.kind == "f":
        if a.kind != b.kind:
            return a if a.kind == "f" else b
        return f32 if a.bits == b.bits else a if a.bits > b.bits else b
    if a.kind == b.kind:
        return a if a.bits > b.bits else b
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    if signed.bits > unsigned.bits:
        return signed
    wider = TYPES.get("i" + str(2 * unsigned.bits))
    if wider is None or unsigned.bits >= 64:
        raise Mixed(f"{a.name} and {b.name} have no common type: write {signed.name}(…) or {unsigned.name}(…) around one of them")
    return wider


def settled(a):
    """The type of a number of Python that nothing gives another one."""
    return {int: i32, float: f32, bool: boolean}.get(a, a)


def kind_of(value):
    """The type of a value for join: of a number of Python int, float or bool."""
    return type(value) if isinstance(value, (Scalar, bool, int, float)) else None


def pair(a, b, division=False):
    """The common type of two values; None: one is no number."""
    first, second = kind_of(a), kind_of(b)
    if first is None or second is None:
        return None
    common = join(first, second)
    if common is boolean and not division:
        return boolean
    return f32 if division and settled(common).kind != "f" else settled(common)


def number(value):
    return value.value if isinstance(value, Scalar) else value


def operate(sign, a, b):
    try:
        cls = pair(a, b, sign == "/")
    except Mixed as error:
        raise TypeError(str(error)) from None
    if cls is None:
        return NotImplemented
    if cls is boolean and sign not in "&|^":
        cls = i32
    x, y = cls.fit(number(a)), cls.fit(number(b))
    if cls.kind == "f":
        if sign in ("//", "%"):
            return floor_divide(cls(x), cls(y)) if sign == "//" else modulo(cls(x), cls(y))
        return cls(FLOATS[sign](x, y)) if sign in FLOATS else NotImplemented
    if sign in ("//", "%") and y == 0:
        from ._errors import ExecutionError
        raise ExecutionError("Execution failed: division by zero", code="F02")
    if sign in ("<<", ">>") and (y < 0 or y >= cls.bits):
        return cls(-1 if sign == ">>" and x < 0 else 0)
    return cls(INTEGERS[sign](x, y))


def divide(x, y):
    """x / y of floats, as IEEE 754 has it."""
    if y:
        return x / y
    return math.nan if x != x or y != y or x == 0 else math.copysign(math.inf, x) * math.copysign(1.0, y)


FLOATS = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "/": divide}
INTEGERS = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "//": lambda x, y: x // y, "%": lambda x, y: x % y,
            "&": lambda x, y: x & y, "|": lambda x, y: x | y, "^": lambda x, y: x ^ y, "<<": lambda x, y: x << y, ">>": lambda x, y: x >> y}


def compare(a, b, how):
    try:
        cls = pair(a, b)
    except Mixed as error:
        raise TypeError(str(error)) from None
    return NotImplemented if cls is None else boolean(how(cls.fit(number(a)), cls.fit(number(b))))


# The quotient and the remainder of floats, as Python's floats have them. These two are functions of kernels too.

def floor_divide(x, y):
    rest = hg_fmod(x, y)
    quotient = (x - rest) / y
    if rest != 0 and (y < 0) != (rest < 0):
        quotient = quotient - 1
    floor = hg_floor(quotient)
    if quotient - floor > 0.5:
        floor = floor + 1
    return floor if quotient != 0 else 0 * (x / y)


def modulo(x, y):
    rest = hg_fmod(x, y)
    if rest != 0 and (y < 0) != (rest < 0):
        rest = rest + y
    return rest if rest != 0 else -(rest * rest) if y < 0 else rest * rest


def hg_fmod(x, y):
    a, b = x.value, y.value
    if a != a or b != b or math.isinf(a) or b == 0:
        return type(x)(math.nan)
    return type(x)(math.fmod(a, b))


def hg_floor(x):
    return x if not math.isfinite(x.value) else type(x)(math.copysign(float(math.floor(x.value)), x.value))


# ---- what kernels say of their parameters ----

def is_open(kind):
    """Whether it is a type variable of Python: TypeVar("T"), or T of `def f[T]`."""
    return type(kind).__name__ == "TypeVar"


class Parameter:
    """An array parameter: its direction, type (or type variable) and extents."""

    def __init__(self, direction, type, shape):
        self.direction, self.type, self.shape = direction, type, shape

    def __repr__(self):
        return f"{self.direction}[{', '.join([self.type.__name__ if is_open(self.type) else self.type.name, *map(repr, self.shape)])}]"


def _parameter(direction):
    def __class_getitem__(cls, what):
        kind, *shape = what if isinstance(what, tuple) else (what,)
        found = kind if is_open(kind) else type_of(kind)
        if found is None:
            raise TypeError(f"{direction}[{kind!r}, …]: expected an element type, as in {direction}[f32, \"n\"]")
        for extent in shape:
            if isinstance(extent, bool) or not isinstance(extent, (int, str)) or isinstance(extent, int) and extent < 0:
                raise TypeError(f"{direction}[{found.__name__}, {extent!r}]: an extent is a number, a name (\"n\") or an expression (\"n + 2\")")
        return Parameter(direction, found, tuple(shape))
    return type(direction, (), {"__class_getitem__": classmethod(__class_getitem__), "__module__": __name__,
                                "__doc__": f"{direction}[type, extents…]: an array of a kernel."})


In, Out, Inout = _parameter("In"), _parameter("Out"), _parameter("Inout")


class Static:
    """A parameter whose value is part of the kernel: each value compiles it anew."""

    def __repr__(self):
        return "hologram.static"

    def __reduce__(self):
        return "static"


static = Static()


def is_array(value):
    """Whether it is an array of numbers, of NumPy or the like."""
    return not isinstance(value, ModuleType) and isinstance(getattr(value, "shape", None), tuple) and hasattr(value, "dtype") and len(value.shape) > 0


def is_typed(value):
    """Whether it is a number with a type of NumPy or the like."""
    return not isinstance(value, ModuleType) and getattr(value, "shape", None) == () and hasattr(value, "dtype") and hasattr(value, "item")
