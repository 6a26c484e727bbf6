"""The functions that kernels may call: what each becomes in a program, and what it is for one lane in hg.interpret.

Instructions need no line here: hg.fma, hg.rotl, hg.add_sat … are found in the library's own table. What stands here has another meaning or name in
Python (math.floor, round, int), makes memory (hg.shared), or asks where the lane is (hg.lane).
"""
import builtins
import ctypes
import math
import types as python_types

from . import _interface as c
from . import _scalar as T
from ._errors import check
from ._scalar import Scalar, boolean, f32, i32, i64, settled, u32, u64
from ._values import FAR, Array, Const, Tup, Val, Var, dims


class Intrinsic:
    """A function for kernels. Outside of a kernel it cannot be called."""

    def __init__(self, name, lower, run, doc):
        self.__name__ = self.__qualname__ = name
        self.lower, self.run, self.__doc__ = lower, run, doc

    def __call__(self, *arguments, **keywords):
        from . import _interpret
        if _interpret.lane() is None:
            raise TypeError(f"hg.{self.__name__} is a function for kernels: it is called in a function with @hg.kernel, or by hg.interpret")
        return self.run(*arguments, **keywords)

    def __repr__(self):
        return f"<hg.{self.__name__}, a function for kernels>"


class Entry:
    def __init__(self, lower, run):
        self.lower, self.run = lower, run


TABLE = {}  # a function of Python -> Entry
INTRINSICS = {}  # name -> Intrinsic


def of(*functions):
    """What a kernel makes of functions of Python."""
    def add(cls):
        for one in functions:
            if one is not None:
                TABLE[one] = Entry(cls.lower, cls.run)
        return cls
    return add


def intrinsic(cls):
    """A function of hg, of a class's name, lower and run."""
    one = Intrinsic(cls.__name__, cls.lower, cls.run, cls.__doc__)
    INTRINSICS[cls.__name__] = one
    globals()[cls.__name__] = one
    return one


def find(function):
    """How a call of it is lowered; None: it is no function that kernels know."""
    one = find_entry(function)
    return None if one is None else lambda low, node, called, arguments, keywords: one.lower(Call(low, node, called, arguments, keywords))


def find_entry(function):
    if isinstance(function, Intrinsic):
        return function
    if isinstance(function, builtins.type):
        if function in TABLE:
            return TABLE[function]
        cls = T.type_of(function) if issubclass(function, Scalar) or getattr(function, "__module__", "") == "numpy" else None
        return Entry(lambda call: cast(call, cls), lambda x: cls(x)) if cls else None
    if hasattr(function, "short"):  # hg.f32
        cls = T.type_of(function)
        return Entry(lambda call: cast(call, cls), lambda x: cls(x)) if cls else None
    try:
        found = TABLE.get(function)
    except TypeError:
        return None
    if found is None and isinstance(function, python_types.BuiltinFunctionType):
        return of_arrays(function)
    if found is None and builtins.type(function).__name__ == "ufunc":
        found = by_name(NUMPY.get(function.__name__, function.__name__))
    return found


def by_name(name):
    """The function of Python given itself, or a name: of math where that gives a number of the same type, else of an instruction."""
    if not isinstance(name, str):
        return TABLE[name]
    return TABLE.get(getattr(math, name, None)) if name not in ("floor", "ceil", "trunc") and hasattr(math, name) else instruction(name)


# Functions over arrays, of hg and of NumPy, that have another name here, or the meaning of a function of Python.
NUMPY = {"absolute": abs, "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "arcsinh": "asinh", "arccosh": "acosh",
         "arctanh": "atanh", "power": pow, "maximum": max, "minimum": min}
ARRAYS = {"maximum": max, "minimum": min, "round": "rint", "where": "select", "isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite, "pow": pow,
          "copysign": math.copysign, "abs": abs}


def of_arrays(function):
    """hg.sqrt, hg.maximum, …, which are functions of whole arrays elsewhere, of numbers."""
    import hologram
    name = function.__name__
    if getattr(hologram, name, None) is not function:
        return None
    return by_name(ARRAYS.get(name, name))


class Call:
    """A call in a kernel, with checks of its arguments."""

    def __init__(self, low, node, function, arguments, keywords):
        self.low, self.node, self.arguments, self.keywords = low, node, arguments, keywords
        self.name = getattr(function, "__name__", str(function))

    def error(self, message, hint=None):
        return self.low.error(self.node, message, hint)

    def take(self, *names, optional=()):
        """The arguments by name; a missing optional one is None."""
        known = [*names, *optional]
        if len(self.arguments) > len(known):
            raise self.error(f"{self.name} takes {len(known)} argument{'s' * (len(known) != 1)}, got {len(self.arguments)}",
                             f"{self.name}({', '.join(known)})")
        found = dict(zip(known, self.arguments))
        for name, v in self.keywords.items():
            if name not in known or name in found:
                raise self.error(f"{self.name} has no argument {name}", f"{self.name}({', '.join(known)})")
            found[name] = v
        for name in names:
            if name not in found:
                raise self.error(f"{self.name} needs an argument {name}", f"{self.name}({', '.join(known)})")
        values = [found.get(name) for name in known]
        return values if len(values) != 1 else values[0]

    def known(self, v, what, kind=int):
        """The value of an argument that must be known when the kernel is compiled."""
        if v is None:
            return None
        value = v.value if isinstance(v, Const) else None
        if not isinstance(value, kind):
            raise self.error(f"{what} of {self.name} is known when the kernel is compiled", "a number, a captured constant or an hg.static parameter")
        return value


# ---- instructions, found in the library's table ----

_rows = {}


def rows():
    """mnemonic with _ for . -> (mnemonic, types of the operands that are read, whether it takes floats alone), of instructions from registers to one.
    A type is None where it is the instruction's own."""
    if not _rows:
        floats = sum(1 << c.hg_type["HG_TYPE_" + name] for name in ("F16", "BF16", "F32", "F64"))
        taken = {c.HG_OPERAND_REG, c.HG_OPERAND_PRED, c.HG_OPERAND_COUNT}
        own = {c.HG_OPERAND_TYPE_U32: T.u32, c.HG_OPERAND_TYPE_U32_U64: T.u32, c.HG_OPERAND_TYPE_INDEX: T.u32, c.HG_OPERAND_TYPE_U64: u64,
               c.HG_OPERAND_TYPE_U8: T.u8, c.HG_OPERAND_TYPE_F64: T.f64}
        op, operand = (one(size=ctypes.sizeof(one)) for one in (c.hg_op_description, c.hg_operand_description))
        for i in range(c.hg_op_count()):
            check(c.hg_op_describe(i, ctypes.byref(op)))
            mnemonic = op.mnemonic.decode()
            good = not op.flags & c.HG_OP_FLAG_COLLECTIVE and 2 <= op.operand_count <= 4 and not mnemonic.startswith(("mov", "reduce", "cvt", "sel"))
            classes = []
            for k in range(op.operand_count if good else 0):
                check(c.hg_op_operand(i, k, ctypes.byref(operand)))
                classes.append(boolean if operand.kind == c.HG_OPERAND_PRED else own.get(operand.type))
                good = good and operand.kind in taken and not operand.named and operand.writes == (k == 0)
            if good:
                _rows.setdefault(mnemonic.replace(".", "_"), (mnemonic, classes[1:], op.types != 0 and not op.types & ~floats))
    return _rows


def instruction(name):
    """The intrinsic of an instruction of the table; None: there is none."""
    if name in INTRINSICS:
        return INTRINSICS[name]
    row = rows().get(name)
    if row is None:
        return None
    mnemonic, classes, floats = row
    count = len(classes)

    def lower(call):
        if call.keywords or len(call.arguments) != count:
            raise call.error(f"{name} takes {count} argument{'s' * (count != 1)}, got {len(call.arguments) + len(call.keywords)}")
        return call.low.instruction(mnemonic, call.arguments, call.node, floats, classes)
    one = Intrinsic(name, lower, lambda *values: evaluate(mnemonic, values, floats, classes), f"The instruction {mnemonic}.")
    if mnemonic.startswith(("breduce", "block.", "shuffle")):
        from . import _interpret
        one.run = lambda *values: _interpret.in_block(mnemonic, *values)
    INTRINSICS[name] = one
    return one


_programs = {}


def evaluate(mnemonic, values, floats=False, classes=()):
    """An instruction of typed values, by a program of one lane."""
    cls, classes = None, list(classes) or [None] * len(values)
    for v, own in zip(values, classes):
        kind = T.kind_of(v)
        if own:
            continue
        if kind is None:
            raise TypeError(f"{mnemonic} of {builtins.type(v).__name__}: expected numbers")
        cls = kind if cls is None else T.join(cls, kind)
    cls = settled(cls or i32)
    if floats and cls.kind != "f" or cls is boolean:
        cls = f32 if floats else i32
    classes = [own or cls for own in classes]
    return run_one(mnemonic, classes, [one(v) for one, v in zip(classes, values)])


def run_one(mnemonic, classes, values):
    key = (mnemonic, *classes)
    if key not in _programs:
        tree = c.hg_tree_create(b"one", None)
        names = [f"x{k}" for k in range(len(classes))]
        scalars = [c.hg_tree_param_scalar(tree, name.encode(), cls.code) for name, cls in zip(names, classes)]
        ids = [c.hg_tree_read(tree, one) for one in scalars]
        value = c.hg_tree_apply(tree, mnemonic.encode(), (ctypes.c_uint64 * len(ids))(*ids), len(ids))
        code = c.hg_tree_value_type(tree, value)
        result = boolean if code == c.HG_TREE_PREDICATE else next((cls for cls in T.TYPES.values() if cls.code == code), None)
        if not result:
            status = c.hg_tree_build(tree, ctypes.byref(ctypes.c_void_p()))
            c.hg_tree_destroy(tree)
            check(status)
        kept = T.u8 if result is boolean else result
        if result is boolean:
            value = c.hg_tree_cast(tree, kept.code, value)
        array = c.hg_tree_param_buffer(tree, b"y", kept.code, c.HG_PARAM_OUT, (c.hg_dim * 1)(c.hg_dim(1, None)), 1)
        zero = (ctypes.c_uint64 * 1)(c.hg_tree_integer(tree, 0))
        check(c.hg_tree_store_element(tree, c.hg_tree_element_of(tree, array, zero, 1), value))
        program = ctypes.c_void_p()
        status = c.hg_tree_build(tree, ctypes.byref(program))
        c.hg_tree_destroy(tree)
        check(status)
        _programs[key] = (program, names, result, kept)
    program, names, result, kept = _programs[key]
    from ._program import run_once
    memory = ctypes.create_string_buffer(kept.size)
    run_once(program, {"y": (ctypes.addressof(memory), kept.size)}, [(name, cls, v.value) for name, cls, v in zip(names, classes, values)])
    return from_bytes(result, memory.raw)


def from_bytes(cls, data):
    """The value with these bytes."""
    bits = int.from_bytes(data, "little")
    if cls is boolean:
        return boolean(bits)
    if cls.kind != "f":
        return cls(bits)
    import struct
    made = cls(0)
    made.value = struct.unpack("<f", bytes(2) + data)[0] if cls.name == "bf16" else struct.unpack("<" + cls.format, data)[0]
    return made


# ---- conversions ----

def cast(call, cls):
    v = call.take("x")
    kind = call.low.cls(v, call.node)
    if isinstance(v, Const):
        return Const(cls(v.value) if cls is not boolean else bool(v.value))
    if cls is kind:
        return v
    return Val(cls, call.low.emit(v, cls, call.node))


def whole(cls):
    """The type of int(x) of a float."""
    return i64 if cls.bits == 64 else i32


def to_int(low, v, node):
    cls = low.cls(v, node)
    if isinstance(v, Const):
        return Const(run_int(v.value))
    if cls.kind in "iu":
        return v
    return Val(i32 if cls is boolean else whole(cls), low.emit(v, i32 if cls is boolean else whole(cls), node))


def run_int(x):
    if not isinstance(x, Scalar):
        return int(x) if not isinstance(x, bool) else i32(x)
    return x if x.kind in "iu" else i32(x) if x.kind == "b" else whole(builtins.type(x))(x)


@of(int)
class _int:
    lower = staticmethod(lambda call: to_int(call.low, call.take("x"), call.node))
    run = staticmethod(run_int)


@of(float)
class _float:
    @staticmethod
    def lower(call):
        v = call.take("x")
        cls = call.low.cls(v, call.node)
        if isinstance(v, Const):
            return Const(float(v.value)) if not isinstance(v.value, Scalar) else Const(v.value if v.value.kind == "f" else f32(v.value))
        return v if cls.kind == "f" else Val(f32, call.low.emit(v, f32, call.node))

    run = staticmethod(lambda x: float(x) if not isinstance(x, Scalar) else x if x.kind == "f" else f32(x))


@of(bool)
class _bool:
    lower = staticmethod(lambda call: cast(call, boolean))
    run = staticmethod(lambda x: boolean(x) if isinstance(x, Scalar) else bool(x))


def rounding(mnemonic, python):
    """math.floor and its like give integers."""
    def lower(call):
        v = call.take("x", optional=("ndigits",))[0]
        if len(call.arguments) + len(call.keywords) > 1:
            raise call.error(f"{call.name} takes 1 argument, got 2", "multiply before, divide behind")
        cls = call.low.cls(v, call.node)
        if isinstance(v, Const) and not isinstance(v.value, Scalar):
            return Const(python(v.value))
        if not isinstance(v, Const) and cls.kind != "f":
            return to_int(call.low, v, call.node)
        return to_int(call.low, call.low.instruction(mnemonic, [v], call.node), call.node)
    return Entry(lower, lambda x: python(x) if not isinstance(x, Scalar) else run_int(evaluate(mnemonic, (x,)) if x.kind == "f" else x))


TABLE[math.floor], TABLE[math.ceil] = rounding("floor", math.floor), rounding("ceil", math.ceil)
TABLE[math.trunc], TABLE[round] = rounding("trunc", math.trunc), rounding("rint", round)


# ---- functions of Python and math ----

def by_instruction(function, mnemonic, count, floats=True):
    """A function of Python that is an instruction of that name."""
    def lower(call):
        if call.keywords or len(call.arguments) != count:
            raise call.error(f"{call.name} takes {count} argument{'s' * (count != 1)}, got {len(call.arguments) + len(call.keywords)}")
        if all(isinstance(v, Const) and isinstance(v.value, (bool, int, float)) for v in call.arguments):
            try:
                return Const(function(*(v.value for v in call.arguments)))
            except (ValueError, OverflowError) as error:
                raise call.error(f"{call.name}: {error}") from None
        return call.low.instruction(mnemonic, call.arguments, call.node, floats)
    TABLE[function] = Entry(lower, lambda *values: evaluate(mnemonic, values, floats) if any(isinstance(v, Scalar) for v in values) else function(*values))


for _name in "sqrt exp exp2 expm1 log2 log10 log1p cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc".split():
    if hasattr(math, _name):
        by_instruction(getattr(math, _name), _name, 1)
for _name in "atan2 hypot pow".split():
    by_instruction(getattr(math, _name), _name, 2)
by_instruction(math.log, "log", 1)
by_instruction(math.fabs, "abs", 1)
by_instruction(math.fmod, "rem", 2)
by_instruction(abs, "abs", 1, False)


def extreme(name, python):
    def lower(call):
        values = call.arguments
        if len(values) == 1 and isinstance(values[0], Tup):
            values = [call.low.item_value(one, call.node) for one in values[0].items]
        if call.keywords or len(values) < 2:
            raise call.error(f"{name} takes two numbers or more", f"{name}(a, b)")
        if all(isinstance(v, Const) and isinstance(v.value, (bool, int, float)) for v in values):
            return Const(python(v.value for v in values))
        result = values[0]
        for v in values[1:]:
            result = call.low.instruction(name, [result, v], call.node)
        return result

    def run(*values):
        values = values[0] if len(values) == 1 else values
        if not any(isinstance(v, Scalar) for v in values):
            return python(values)
        result = values[0]
        for v in values[1:]:
            result = evaluate(name, (result, v))
        return result
    TABLE[python] = Entry(lower, run)


extreme("min", min)
extreme("max", max)


@of(pow)
class _pow:
    @staticmethod
    def lower(call):
        a, b = call.take("base", "exp")
        return call.low.binary("**", a, b, call.node)

    run = staticmethod(lambda a, b: power(a, b))


def power(a, b):
    """a ** b of typed values, as kernels have it."""
    if not isinstance(a, Scalar) and not isinstance(b, Scalar):
        return a ** b
    cls = settled(T.join(T.kind_of(a), T.kind_of(b)))
    if not isinstance(b, Scalar) and float(b).is_integer() and (cls.kind != "f" and isinstance(b, int) or b in (1, 2)):
        base, result, left = cls(a), None, int(b)
        if left == 0:
            return 1
        while True:
            if left & 1:
                result = base if result is None else result * base
            left >>= 1
            if not left:
                return result
            base = base * base
    return evaluate("pow", (a, b))


@of(divmod)
class _divmod:
    @staticmethod
    def lower(call):
        low, (a, b) = call.low, call.take("a", "b")
        a, b = low.hold(a, call.node), low.hold(b, call.node)
        both = [low.hold(low.binary(sign, low.read(a, call.node), low.read(b, call.node), call.node), call.node) for sign in ("//", "%")]
        return Tup(both)

    run = staticmethod(lambda a, b: (a // b, a % b))


@of(len)
class _len:
    @staticmethod
    def lower(call):
        v = call.take("x")
        if isinstance(v, Tup):
            return Const(len(v.items))
        if not isinstance(v, Array) or not v.shape:
            raise call.error("len is of an array with extents, or of a tuple", 'hg.In[f32, "n"] has them')
        return call.low.extent(v, 0, call.node)

    run = staticmethod(lambda x: x.shape[0] if hasattr(x, "shape") else len(x))


def test_of(function, test, python):
    """isnan, isinf, isfinite."""
    def lower(call):
        low, v = call.low, call.take("x")
        cls = low.cls(v, call.node)
        if isinstance(v, Const):
            return Const(python(float(v.value)))
        if cls.kind != "f":
            return Const(test == "<")
        held = low.hold(v, call.node)
        a = low.read(held, call.node)
        if test == "!=":
            return low.compare("!=", a, low.read(held, call.node), call.node)
        return low.compare(test, low.instruction("abs", [a], call.node), Const(math.inf), call.node)
    TABLE[function] = Entry(lower, lambda x: boolean(python(float(x))) if isinstance(x, Scalar) else python(float(x)))


test_of(math.isnan, "!=", math.isnan)
test_of(math.isinf, "==", math.isinf)
test_of(math.isfinite, "<", math.isfinite)


def with_sign(x, y):
    size = abs(x)
    return -size if y < 0 or y == 0 and 1 / y < 0 else size


def radians(x):
    return x * 0.017453292519943295


def degrees(x):
    return x * 57.29577951308232


def by_function(function, mine, count):
    """A function that is written as one of kernels."""
    def lower(call):
        if call.keywords or len(call.arguments) != count:
            raise call.error(f"{call.name} takes {count} argument{'s' * (count != 1)}, got {len(call.arguments) + len(call.keywords)}")
        return call.low.call_function(mine, call.arguments, {}, call.node)
    TABLE[function] = Entry(lower, lambda *values: mine(*values) if any(isinstance(v, Scalar) for v in values) else function(*values))


by_function(math.copysign, with_sign, 2)
by_function(math.radians, radians, 1)
by_function(math.degrees, degrees, 1)
TABLE[T.hg_fmod] = Entry(lambda call: call.low.instruction("rem", call.arguments, call.node), T.hg_fmod)
TABLE[T.hg_floor] = Entry(lambda call: call.low.instruction("floor", call.arguments, call.node), T.hg_floor)


# ---- where the lane is ----

def id_value(call, name):
    low = call.low
    id = low.made(c.hg_tree_lane_id(low.tree, name.encode()), call.node)
    return Val(i64, low.made(c.hg_tree_cast(low.tree, i64.code, id), call.node), FAR if name in ("global", "lane_count") else (1 << 32) - 1)


def coordinate(name, field, doc):
    def lower(call):
        axis = call.known(call.take(optional=("axis",)), "the axis") or 0
        if axis not in (0, 1, 2):
            raise call.error(f"axis {axis}: a launch has the axes 0, 1 and 2")
        return id_value(call, f"{field}_{'xyz'[axis]}")

    def run(axis=0):
        from . import _interpret
        return i64(getattr(_interpret.lane(), field)[axis])
    one = Intrinsic(name, lower, run, doc)
    INTRINSICS[name] = globals()[name] = one


coordinate("block", "block_idx", "The number of the lane's block along an axis, an i64.")
coordinate("block_lane", "lane_idx", "The number of the lane in its block along an axis, an i64.")
coordinate("block_size", "block_dim", "Lanes of a block along an axis, an i64.")
coordinate("blocks", "grid_dim", "Blocks of the launch along an axis, an i64.")


@intrinsic
class lane:
    """The number of the lane, from 0, an i64."""

    @staticmethod
    def lower(call):
        call.take()
        return id_value(call, "global")

    @staticmethod
    def run():
        from . import _interpret
        return i64(_interpret.lane().number)


@intrinsic
class lanes:
    """How many lanes the launch has, an i64."""

    @staticmethod
    def lower(call):
        call.take()
        return id_value(call, "lane_count")

    @staticmethod
    def run():
        from . import _interpret
        return i64(_interpret.lane().count)


@intrinsic
class grid:
    """The coordinates of the lane along that many axes, a tuple of i64: i, j = hg.grid(2). The extents are those of kernel[h, w], or of the first output."""

    @staticmethod
    def lower(call):
        low = call.low
        axes = call.known(call.take("axes"), "the number of axes")
        if not 1 <= axes <= 8:
            raise call.error(f"a grid of {axes} axes: 1 to 8")
        if axes == 1:
            return id_value(call, "global")
        if low.known.axes not in (None, axes):
            raise call.error(f"a grid of {axes} axes, and one of {low.known.axes} elsewhere in the kernel")
        if low.known.axes is None:
            low.known.axes, low.dirty = axes, True
            return Tup([Const(0)] * axes)
        extents = [f"lanes_{axis}" for axis in range(axes)]
        rest = c.hg_tree_lane_id(low.tree, b"global")
        found = []
        for name in reversed(extents[1:]):
            held = low.hold(Val(u64, low.made(rest, call.node)), call.node)
            parts = []
            for op in (c.HG_TREE_REM, c.HG_TREE_DIV):
                by = low.made(c.hg_tree_read(low.tree, low.scalars[name][0]), call.node)
                parts.append(low.made(c.hg_tree_operate(low.tree, op, low.emit(held, u64, call.node), by), call.node))
            found.append(low.hold(Val(i64, low.made(c.hg_tree_cast(low.tree, i64.code, parts[0]), call.node), FAR), call.node))
            rest = parts[1]
        found.append(low.hold(Val(i64, low.made(c.hg_tree_cast(low.tree, i64.code, rest), call.node), FAR), call.node))
        return Tup(found[::-1])

    @staticmethod
    def run(axes):
        from . import _interpret
        one = _interpret.lane()
        if axes == 1:
            return i64(one.number)
        rest, found = one.number, []
        for extent in reversed(one.extents[1:]):
            found.append(i64(rest % extent))
            rest //= extent
        return (i64(rest), *found[::-1])


# ---- memory and the block ----

def array_of(call, space):
    low = call.low
    kind, shape = call.take("type", "shape")
    cls = T.type_of(kind.value) if isinstance(kind, Const) else None
    if cls is None:
        raise call.error(f"hg.{space} needs a type", f"hg.{space}(hg.f32, 64)")
    items = shape.items if isinstance(shape, Tup) else [shape]
    extents = [call.known(one, "each extent") for one in items]
    if not extents or any(one <= 0 for one in extents):
        raise call.error(f"an extent of hg.{space} is above 0")
    if low.frame.caller is not None or low.frame.loops:
        raise call.error(f"hg.{space} stands in the kernel itself, outside of loops", "make the array there and pass it to the function")
    name = getattr(low, "hint_name", None) or space
    while name in low.arrays:
        name += "_"
    made = Array(name, cls, tuple(extents), space)
    low.arrays[name] = made
    low.declare_array(made, call.node)
    return made


@intrinsic
class shared:
    """An array that the lanes of a block share, zeros when the block begins: hg.shared(hg.f32, (16, 17))."""
    lower = staticmethod(lambda call: array_of(call, "shared"))

    @staticmethod
    def run(type, shape):
        from . import _interpret
        return _interpret.lane().shared(T.type_of(type), shape)


@intrinsic
class private:
    """An array of the lane's own, zeros when it starts: hg.private(hg.i32, 9)."""
    lower = staticmethod(lambda call: array_of(call, "private"))

    @staticmethod
    def run(type, shape):
        from . import _interpret
        return _interpret.Cells.zeros(T.type_of(type), shape)


@intrinsic
class barrier:
    """The lanes of the block meet; what each stored, all see."""

    @staticmethod
    def lower(call):
        call.take()
        call.low.ok(c.hg_tree_barrier(call.low.tree), call.node)
        return Const(None)

    @staticmethod
    def run():
        from . import _interpret
        _interpret.lane().meet()


@intrinsic
class grid_barrier:
    """The lanes of the launch meet; what each stored, all see. Shared memory is zero again."""

    @staticmethod
    def lower(call):
        call.take()
        call.low.known.meets = True
        call.low.ok(c.hg_tree_instruction(call.low.tree, b"bar.grid", None, 0), call.node)
        return Const(None)

    @staticmethod
    def run():
        from . import _interpret
        _interpret.lane().meet_all()


def flag_of(low, node):
    """What votes of the launch are counted in: one u32 of the launch's own for all of them."""
    if low.flag is None:
        name = "grid_flag"
        while name in low.arrays or name in low.scalars:
            name += "_"
        low.flag = low.made(c.hg_tree_scratch(low.tree, name.encode(), u32.code, dims([1]), 1), node)
    return low.flag


def grid_wide(name, mnemonic, which):
    """Votes of the lanes of the launch."""
    def lower(call):
        low, asked = call.low, call.take("condition")
        low.known.meets = True
        zero = low.emit(Const(0), u64, call.node)
        flag = low.made(c.hg_tree_element_of(low.tree, flag_of(low, call.node), (ctypes.c_uint64 * 1)(zero), 1), call.node)
        return low.apply(mnemonic, [low.emit(asked, boolean, call.node), flag], call.node)

    def run(condition):
        from . import _interpret
        return _interpret.in_launch(mnemonic, condition)
    one = Intrinsic(name, lower, run, f"{name}(condition): a grid_barrier, and whether the condition is true in {which} of the launch.")
    INTRINSICS[name] = globals()[name] = one


grid_wide("grid_any", "grid.any", "a lane")
grid_wide("grid_all", "grid.all", "all lanes")


@intrinsic
class fence:
    """What the lane stored before is seen by the lanes of its block, or with "device" of the launch, before what it stores behind: for
    hand-overs through atomic operations."""

    @staticmethod
    def lower(call):
        scope = call.known(call.take(optional=("scope",)), "the scope", str) or "block"
        if scope not in ("block", "device"):
            raise call.error(f"fence of {scope!r}: there are 'block' and 'device'", 'hg.fence("device")')
        call.low.ok(c.hg_tree_instruction(call.low.tree, f"memfence.{scope}".encode(), None, 0), call.node)
        return Const(None)

    run = staticmethod(lambda scope="block": None)


@intrinsic
class select:
    """a where the condition holds, else b; both are worked out."""

    @staticmethod
    def lower(call):
        low, (asked, a, b) = call.low, call.take("condition", "a", "b")
        if isinstance(asked, Const):
            return a if asked.value else b
        cls = settled(low.join(low.cls(a, call.node), low.cls(b, call.node), call.node))
        asked = low.emit(asked, boolean, call.node)
        a, b = low.emit(a, cls, call.node), low.emit(b, cls, call.node)
        return Val(cls, low.made(c.hg_tree_choose(low.tree, asked, a, b), call.node))

    @staticmethod
    def run(condition, a, b):
        cls = settled(T.join(T.kind_of(a), T.kind_of(b)))
        return cls(a if condition else b)


@intrinsic
class bits:
    """The bit pattern of a value as a value of another type of the same width: hg.bits(hg.u32, x)."""

    @staticmethod
    def lower(call):
        low, (kind, x) = call.low, call.take("type", "x")
        cls = T.type_of(kind.value) if isinstance(kind, Const) else None
        if cls is None:
            raise call.error("hg.bits needs a type", "hg.bits(hg.u32, x)")
        own = settled(low.cls(x, call.node))
        if own.bits != cls.bits or own.kind == "b":
            raise call.error(f"hg.bits of {own.name} as {cls.name}: the widths differ", f"hg.u{own.bits}")
        if (own.kind == "f") == (cls.kind == "f"):
            return Val(cls, low.emit(x if not isinstance(x, Const) else Const(own(x.value)), cls, call.node))
        return low.apply(f"bits.{cls.name}", [low.emit(x, own, call.node)], call.node)

    @staticmethod
    def run(type, x):
        cls, own = T.type_of(type), settled(T.kind_of(x))
        return from_bytes(cls, own.pattern(own.fit(T.number(x))).to_bytes(own.size, "little"))


class static_range:
    """A range whose rounds are written out when the kernel is compiled: for k in hg.static_range(3)."""

    def __new__(cls, *numbers):
        return range(*numbers)


def atomic(name, mnemonic, operands=("value",)):
    def lower(call):
        low, (array, index, *values) = call.low, call.take("array", "index", *operands)
        if not isinstance(array, Array):
            raise call.error(f"{name} needs an array", f"hg.{name}(counts, i, {', '.join('01'[-len(operands):])})")
        low.check_writable(array, call.node)
        if array.cls.name not in ("i32", "u32", "i64", "u64"):
            raise call.error(f"{name} on elements of {array.cls.name}: i32, u32, i64 and u64 have it",
                             "sums of floats in a fixed order: hg.block_sum" if array.cls.kind == "f" else "an array of i32")
        parts = index.items if isinstance(index, Tup) else [index]
        names = []
        for k, v in enumerate(parts):  # as an element: through names
            import ast
            low.frame.env[f"[a{k}]"] = low.hold(v, call.node)
            names.append(ast.copy_location(ast.Name(f"[a{k}]", ast.Load()), call.node))
        values = [low.converted(value, array.cls, call.node).id for value in values]
        if array.space == "private":
            raise call.error(f"{name} on a private array: no other lane sees it", f"{array.name}[i] += 1")
        element = low.element(array, names, call.node)
        return low.apply(mnemonic, [element, *values], call.node)

    def run(array, index, *values):
        old = array[index]
        cls = builtins.type(old)
        value = cls(values[-1])
        array[index] = {"cas": lambda: value if old == cls(values[0]) else old, "add": lambda: old + value, "exch": lambda: value, "and": lambda: old & value, "or": lambda: old | value, "xor": lambda: old ^ value,
                        "min": lambda: min(old, value), "max": lambda: max(old, value)}[mnemonic[5:]]()
        return old
    one = Intrinsic(name, lower, run, f"{name}(array, index, {', '.join(operands)}): one step that no other lane divides; the old element.")
    INTRINSICS[name] = globals()[name] = one


for _name in ("add", "min", "max", "and", "or", "xor", "exch"):
    atomic("atomic_" + _name, "atom." + _name)
atomic("atomic_cas", "atom.cas", ("expected", "desired"))


def block_wide(name, mnemonic, scan):
    """Reductions and scans over the lanes of a block."""
    def lower(call):
        low = call.low
        if not scan:
            return low.instruction(mnemonic, [call.take("x")], call.node)
        x, exclusive = call.take("x", optional=("exclusive",))
        cls = settled(low.cls(x, call.node))
        value = low.emit(x, cls, call.node)
        if not call.known(exclusive, "exclusive", (bool, int)):
            return low.apply(mnemonic, [value], call.node)
        result = Var(cls, low.made(c.hg_tree_variable(low.tree, None, cls.code), call.node))
        arguments = (c.hg_arg * 3)(c.hg_arg(kind=c.HG_ARG_OF_TREE, value=result.id), c.hg_arg(kind=c.HG_ARG_OF_TREE, value=value), c.hg_arg(kind=c.HG_ARG_NUMBER, value=1))
        low.ok(c.hg_tree_instruction(low.tree, mnemonic.encode(), arguments, 3), call.node)
        return low.read(result, call.node)

    def run(x, exclusive=False):
        from . import _interpret
        return _interpret.in_block(mnemonic, x, exclusive)
    one = Intrinsic(name, lower, run, f"The instruction {mnemonic} over the lanes of the block.")
    INTRINSICS[name] = globals()[name] = one


for _word, _op in (("sum", "add"), ("product", "mul"), ("min", "min"), ("max", "max"), ("and", "and"), ("or", "or"), ("xor", "xor")):
    block_wide("block_" + _word, "breduce." + _op, False)
    block_wide("scan_" + _word, "bscan." + _op, True)
