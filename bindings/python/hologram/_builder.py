"""hg.Builder: a program written down by operators of Python, statement by statement, where a kernel's function would be made by a program itself.

    b = hg.Builder("axpy", a=hg.f32, x=hg.In[hg.f32, "n"], y=hg.Inout[hg.f32, "n"])
    i = b.lane()
    b["y"][i] = b["a"] * b["x"][i] + b["y"][i]
    axpy = b.build()

What signs mean and which types they give is what kernels have (_expressions.py).
"""
import contextlib
import linecache
import os
import sys

from . import _functions
from . import _interface as c
from . import _scalar as T
from ._compile import Known, Lowering, begin, build
from ._handle import Owner
from ._kernel import Kernel, One, blocks_of, output_of
from ._program import Program
from ._scalar import Scalar, boolean
from ._source import CompileError, message_at
from ._values import Array, Const, Loop, Tup, Val, Var

FOLDER = os.path.dirname(__file__) + os.sep  # as the names of its code have it
LEFT_OUT = ("grid",)  # needs passes over a whole kernel


class Here:
    """The line of the caller: what a node of a syntax tree is for kernels."""

    _attributes = ()  # nothing that ast.copy_location takes

    def __init__(self):
        frame = sys._getframe(1)
        while frame.f_code.co_filename.startswith(FOLDER) or frame.f_code.co_filename == contextlib.__file__:
            frame = frame.f_back
        self.file, self.lineno, self.col_offset = frame.f_code.co_filename, frame.f_lineno, 0
        self.text = linecache.getline(self.file, self.lineno).rstrip()

    def span(self):
        column = len(self.text) - len(self.text.lstrip())
        return self.lineno, column + 1, max(1, len(self.text) - column)


class Lines:
    """The source of a program that is built: places are lines of whoever builds it."""

    def __init__(self):
        self.node = Here()
        self.file, self.latest, self.facts = self.node.file, self.node, {"stored": {}, "direct": set()}  # no names

    def of(self, node):
        """The line of a node: names that functions of kernels make stand in the latest."""
        self.latest = node if isinstance(node, Here) else self.latest
        self.file = self.latest.file
        return self.latest

    def place(self, node):
        return self.of(node).span()

    def segment(self, node):
        return self.of(node).text.strip().encode()

    def error(self, node, message, hint=None):
        here = self.of(node)
        line, column, length = here.span()
        return CompileError(message_at(here.file, line, column, length, message, hint), file=here.file, line=line, column=column, length=length, hint=hint)


class Signature:
    """What the compiler asks of a kernel."""

    def __init__(self, name, parameters, block, grid):
        self.name, self.files, self.types, self.source = name, [], {}, Lines()
        self.block, self.grid = blocks_of(block, grid)
        self.parameters = [One(key, kind if isinstance(kind, T.Parameter) else T.type_of(kind), None) for key, kind in parameters.items()]
        for one, kind in zip(self.parameters, parameters.values()):
            if one.kind is None or isinstance(one.kind, T.Parameter) and T.is_open(one.kind.type):
                raise TypeError(f"{name}: {one.name} is {kind!r}: expected a type, or hg.In[hg.f32, \"n\"]")
        self.output = output_of(self.parameters)
        if self.output is None:
            raise TypeError(f"{name} has no output: a parameter y=hg.Out[hg.f32, \"n\"]")

    def place(self, line):
        return Kernel.place(self, line)


def operators():
    """The operators of a value: name of the method -> how it is made."""
    for sign, name in (("+", "add"), ("-", "sub"), ("*", "mul"), ("/", "truediv"), ("//", "floordiv"), ("%", "mod"), ("**", "pow"), ("&", "and"), ("|", "or"),
                       ("^", "xor"), ("<<", "lshift"), (">>", "rshift")):
        yield f"__{name}__", lambda a, b, sign=sign: a.builder._do(lambda low, here, x, y: low.binary(sign, x, y, here), a, b)
        yield f"__r{name}__", lambda a, b, sign=sign: a.builder._do(lambda low, here, x, y: low.binary(sign, y, x, here), a, b)
    for sign, name in (("<", "lt"), ("<=", "le"), (">", "gt"), (">=", "ge"), ("==", "eq"), ("!=", "ne")):
        yield f"__{name}__", lambda a, b, sign=sign: a.builder._do(lambda low, here, x, y: low.compare(sign, x, y, here), a, b)
    for sign, name in (("-", "neg"), ("+", "pos"), ("~", "invert")):
        yield f"__{name}__", lambda a, sign=sign: a.builder._do(lambda low, here, x: low.unary(sign, x, here), a)


class Value:
    """A number of a program that is built. Conditions are joined by & and |, chosen between by builder.select."""

    __slots__ = ("builder", "of")
    __hash__ = None

    def __init__(self, builder, of):
        self.builder, self.of = builder, of

    def __bool__(self):
        raise TypeError("what a value is, is not known while a program is built: with builder.when(…), or builder.select(condition, a, b)")

    def __abs__(self):
        return self.builder.abs(self)

    def __repr__(self):
        return f"<{self.of.cls.name} of a program that is built>"


for _name, _method in operators():
    setattr(Value, _name, _method)


class Variable(Value):
    """A number that is assigned again: variable.set(v), or +=, -=, *= of it."""

    __slots__ = ()

    def set(self, value):
        """Assigns it a value, which is converted to its type."""
        def assign(low, here, v):
            low.place(here)
            low.ok(c.hg_tree_assign(low.tree, self.of.id, low.converted(v, self.of.cls, here).id), here)
        self.builder._do(assign, value)
        return self

    def __iadd__(self, other):
        return self.set(self + other)

    def __isub__(self, other):
        return self.set(self - other)

    def __imul__(self, other):
        return self.set(self * other)


class Elements:
    """An array of a program that is built: x[i], x[i, j], x[i] = v; shape has its extents."""

    def __init__(self, builder, of):
        self.builder, self.of = builder, of

    @property
    def shape(self):
        return tuple(self.builder._do(lambda low, here, axis=axis: low.extent(self.of, axis, here)) for axis in range(len(self.of.shape or ())))

    def _element(self, low, here, indices):
        cls = [low.cls(v, here) for v in indices]
        if len(indices) != (1 if self.of.shape is None else len(self.of.shape)) or any(one is float or one not in (int, bool) and one.kind == "f" for one in cls):
            raise low.error(here, f"{self.of.name} takes {1 if self.of.shape is None else len(self.of.shape)} integers as indices")
        ids = [low.emit(v, low.settle(one, v, here), here) for one, v in zip(cls, indices)]
        low.place(here)
        return low.made(c.hg_tree_element_of(low.tree, low.array_id(self.of, here), (c._ctypes.c_uint64 * len(ids))(*ids), len(ids)), here)

    def __getitem__(self, index):
        def read(low, here, *indices):
            element = self._element(low, here, indices)
            return Val(boolean, low.emit(Val(T.u8, element), boolean, here)) if self.of.cls is boolean else Val(self.of.cls, element)
        return self.builder._do(read, *(index if isinstance(index, tuple) else (index,)))

    def __setitem__(self, index, value):
        def store(low, here, v, *indices):
            low.check_writable(self.of, here)
            kept = T.u8 if self.of.cls is boolean else self.of.cls
            v = low.converted(Val(boolean, low.emit(v, boolean, here)) if self.of.cls is boolean else v, kept, here)
            low.ok(c.hg_tree_store_element(low.tree, self._element(low, here, indices), v.id), here)
        self.builder._do(store, value, *(index if isinstance(index, tuple) else (index,)))


class Builder(Owner):
    """A program that is written down by operators of Python. Its parameters are named arguments: types and hg.In, hg.Out, hg.Inout, as of kernels;
    it runs over the extents of its first output, or over blocks of `block` lanes, `grid` of them. builder["x"] is a parameter; every function of
    kernels is a method: builder.lane(), builder.fma(a, b, c), builder.shared(hg.f32, 64). A ProgramError shows the line that is wrong."""

    def __init__(self, name, *, block=None, grid=None, **parameters):
        self._signature, self._built = Signature(name, parameters, block, grid), False
        self._lowering = Lowering(self._signature, Known())
        self._handle = self._lowering.tree
        begin(self._low, self._signature)

    def _destroy(self, handle):
        self._lowering.close()

    def __repr__(self):
        if getattr(self, "_signature", None) is None:
            return "<Builder, never made>"
        return f"<Builder of {self._signature.name}({', '.join(p.name for p in self._signature.parameters)}){', built' if self._built else ''}>"

    @property
    def _low(self):
        """What writes statements down."""
        if self.handle and self._built:
            raise TypeError(f"{self._signature.name} is built: a new Builder makes another program")
        return self._lowering

    def _do(self, make, *operands):
        """What make(low, here, operands…) gives, as a value that may be read again."""
        low, here = self._low, Here()
        return self._wrap(make(low, here, *(self._value(one, here) for one in operands)), here)

    def _value(self, one, here):
        if isinstance(one, (Value, Elements)):
            if one.builder is not self:
                raise self._low.error(here, "a value of another builder")
            return self._low.read(one.of, here) if isinstance(one, Value) else one.of
        if isinstance(one, tuple):
            return Tup([self._value(item, here) for item in one])
        return Const(one.item() if T.is_typed(one) and not isinstance(one, Scalar) and T.type_of(one.dtype) is None else one)

    def _wrap(self, made, here):
        if isinstance(made, Array):
            return Elements(self, made)
        if isinstance(made, Tup):
            return tuple(self._wrap(self._low.item_value(one, here), here) for one in made.items)
        if isinstance(made, (Val, Var)):
            return Value(self, self._low.hold(made, here))
        return made.value if isinstance(made, Const) else made

    def __getitem__(self, name):
        """A parameter."""
        if name in self._low.arrays:
            return Elements(self, self._low.arrays[name])
        if name not in self._low.scalars:
            raise KeyError(f"{self._signature.name} has no parameter {name}")
        id, cls = self._low.scalars[name]
        return Value(self, Var(T.u8 if cls is boolean else cls, id))

    def __getattr__(self, name):
        one = None if name.startswith("_") or name in LEFT_OUT else _functions.INTRINSICS.get(name) or _functions.instruction(name)
        if one is None:
            raise AttributeError(f"Builder has no {name}: functions of kernels, when, choose, loop, forever, leave, variable, build")

        def call(*arguments, **keywords):
            def lower(low, here, *values):
                given = dict(zip(keywords, values[len(arguments):]))
                return one.lower(_functions.Call(low, here, one, list(values[:len(arguments)]), given))
            return self._do(lower, *arguments, *keywords.values())
        return call

    def variable(self, kind, initial=0):
        """A Variable of a type, with that value."""
        cls = T.type_of(kind)
        if cls is None:
            raise TypeError(f"variable: {kind!r} is no type")
        return Variable(self, self._do_variable(cls)).set(initial)

    def _do_variable(self, cls):
        return Var(cls, self._low.made(c.hg_tree_variable(self._low.tree, None, cls.code), Here()))

    @contextlib.contextmanager
    def _body(self, begin_it, *operands):
        made = self._do(begin_it, *operands)
        self._low.frame.loops.append(Loop())
        try:
            yield made
        finally:
            self._low.frame.loops.pop()
        here = Here()
        self._low.ok(c.hg_tree_end(self._low.tree), here)

    def when(self, condition):
        """with builder.when(x > 0): what runs where that holds."""
        def start(low, here, v):
            low.place(here)
            low.ok(c.hg_tree_begin_if(low.tree, low.emit(v, boolean, here)), here)
        return self._body(start, condition)

    def choose(self, condition, yes, no):
        """yes() where the condition holds, else no(), as statements: functions that write down what runs."""
        with self.when(condition):
            yes()
            self._low.ok(c.hg_tree_begin_else(self._low.tree), Here())
            no()

    def loop(self, first, last, step=1):
        """with builder.loop(0, n) as k: k goes from first to below last, or down with a step below 0."""
        def start(low, here, *values):
            cls = None
            for v in values[:2]:
                one = low.cls(v, here)
                cls = one if cls is None else low.join(cls, one, here)
            cls = T.settled(cls)
            if cls.kind not in "iu" or not isinstance(values[2], Const) or not isinstance(values[2].value, int) or values[2].value == 0:
                raise low.error(here, "a loop goes over integers, with a step that is a number other than 0")
            signed = cls if cls.kind == "i" else T.TYPES["i" + str(cls.bits)]
            low.place(here)
            return Var(cls, low.made(c.hg_tree_begin_for(low.tree, b"k", low.emit(values[0], cls, here), low.emit(values[1], cls, here),
                                                         low.literal(values[2].value, signed, here), 0), here), True)
        return self._body(start, first, last, step)

    def forever(self):
        """with builder.forever(): what runs until builder.leave() does."""
        return self._body(lambda low, here: low.ok(c.hg_tree_begin_loop(low.tree), here))

    def leave(self):
        """Ends the innermost loop."""
        self._do(lambda low, here: low.ok(c.hg_tree_break(low.tree), here))

    def build(self):
        """The Program; the builder is done then."""
        low, self._built = self._low, True
        return Program._of(build(low, self._signature))
