"""Kernels as functions of Python to programs: the syntax tree of a function, statement by statement, into a tree of <hologram/tree.h>.

A kernel is lowered in passes. A variable has one type: what all its assignments meet in. A pass takes what the last one found, and notes what it
finds; the first whose types stay is the program. Expressions of numbers of Python alone are worked out by Python.
Must not know: launches, caches.
"""
import ast
import ctypes

from . import _interface as c
from . import _scalar as T
from ._expressions import Expressions
from ._scalar import Mixed, Scalar, boolean, i32, i64, join, settled, u32, u64
from ._source import ROOM, CompileError, message_at
from ._statements import Statements
from ._values import Array, Const, Frame, NeedResults, Val, Var, dims, is_number, what_is


class Lowering(Expressions, Statements):
    """One pass over a kernel."""

    def __init__(self, kernel, known):
        self.kernel, self.known = kernel, known
        self.diagnostics = c.hg_diagnostics_create(1)
        self.tree = c.hg_tree_create(kernel.name.encode(), self.diagnostics)
        self.arrays, self.scalars, self.routines, self.queue = {}, {}, {}, []
        self.dirty, self.at, self.depth = False, None, 0
        self.frame = self.flag = None

    def close(self):
        c.hg_tree_destroy(self.tree)
        c.hg_diagnostics_destroy(self.diagnostics)

    # ---- messages ----

    def error(self, node, message, hint=None):
        return self.frame.source.error(node, message, hint)

    def place(self, node):
        if self.at is node:
            return
        self.at = node
        line, column, _ = self.frame.source.place(node)
        self.ok(c.hg_tree_place(self.tree, self.file_number() * ROOM + line, column, self.frame.source.segment(node)), node)

    def file_number(self):
        file = self.frame.source.file
        if file not in self.kernel.files:
            self.kernel.files.append(file)
        return self.kernel.files.index(file)

    def ok(self, status, node):
        if status:
            raise self.of_tree(node)

    def made(self, id, node):
        if not id:
            raise self.of_tree(node)
        return id

    def of_tree(self, node):
        """What the tree says is wrong."""
        if c.hg_diagnostics_count(self.diagnostics):
            d = ctypes.cast(c.hg_diagnostics_get(self.diagnostics, 0), ctypes.POINTER(c.hg_diagnostic)).contents
            return self.error(node, d.message.decode(errors="replace"), d.hint and d.hint.decode(errors="replace"))
        return self.error(node, c.hg_last_error_text().decode(errors="replace"))

    # ---- values ----

    def cls(self, v, node):
        """The type of a number: a class, or int, float, bool of a number of Python."""
        if isinstance(v, (Val, Var)):
            return v.cls
        if isinstance(v, Const):
            value = v.value
            if isinstance(value, Scalar):
                return type(value)
            if is_number(value):
                return type(value)
            if isinstance(value, str):
                raise self.error(node, f"{what_is(v)} is no number", "kernels have numbers only")
        hint = f"an element of it: {v.name}[i]" if isinstance(v, Array) else "call it" if isinstance(v, Const) and callable(v.value) else None
        raise self.error(node, f"expected a number, got {what_is(v)}", hint)

    def emit(self, v, cls, node):
        """The expression of a value in a type."""
        if isinstance(v, Const):
            return self.literal(v.value, cls, node)
        self.cls(v, node)  # arrays and tuples have none
        id = self.made(c.hg_tree_read(self.tree, v.id), node) if isinstance(v, Var) else v.id
        if v.cls is cls:
            return id
        if cls is boolean:
            return self.made(c.hg_tree_operate(self.tree, c.HG_TREE_NE, id, self.literal(0, v.cls, node)), node)
        return self.made(c.hg_tree_cast(self.tree, cls.code, id), node)

    def literal(self, value, cls, node):
        if isinstance(value, Scalar):
            value = value.value
        if cls is boolean:
            return self.made(c.hg_tree_truth(self.tree, bool(value)), node)
        if cls.kind != "f" and not cls.holds(value):
            raise self.error(node, f"{value} does not fit {cls.name}, which goes from {cls.range()[0]} to {cls.range()[1]}",
                             f"a wider type beside it, or {cls.name}({value % (1 << cls.bits)}) if it is to wrap")
        whole, value = value, cls.fit(value)
        if isinstance(whole, int) and value in (float("inf"), -float("inf")):
            raise self.error(node, f"an integer of {whole.bit_length()} bits is beyond the largest {cls.name}", "float('inf'), or a smaller number")
        if cls.bits <= 64:
            return self.made(c.hg_tree_bits(self.tree, cls.code, cls.pattern(value)), node)
        return self.made(c.hg_tree_cast(self.tree, cls.code, self.made(c.hg_tree_number(self.tree, str(value).encode()), node)), node)

    def join(self, a, b, node):
        try:
            return join(a, b)
        except Mixed as error:
            raise self.error(node, str(error)) from None

    def settle(self, cls, v, node):
        """The type of a value that is kept."""
        if cls is int and isinstance(v, Const) and not i32.holds(v.value):
            return i64 if i64.holds(v.value) else u64
        return settled(cls)

    def hold(self, v, node, name=None):
        """A value that may be read again."""
        if not isinstance(v, Val):
            return v
        return Var(v.cls, self.made(c.hg_tree_let(self.tree, name and name.encode(), v.id), node), top=v.top)

    def read(self, v, node):
        """Of a variable its value now."""
        return Val(v.cls, self.made(c.hg_tree_read(self.tree, v.id), node), v.top) if isinstance(v, Var) else v

    def several(self, nodes):
        """Values from left to right."""
        values = []
        for i, node in enumerate(nodes):
            v = self.expr(node)
            if isinstance(v, (Val, Var)) and any(self.needs_steps(later) for later in nodes[i + 1:]):
                v = self.hold(self.read(v, node), node)
            values.append(v)
        return [self.read(v, node) for v, node in zip(values, nodes)]

    def needs_steps(self, node):
        """Whether an expression becomes statements: it is worked out before the statement that it is in."""
        if node not in self.frame.steps:
            found = isinstance(node, ast.NamedExpr)
            if isinstance(node, ast.Compare) and len(node.ops) > 1:
                found = any(not isinstance(one, (ast.Name, ast.Constant)) for one in node.comparators[:-1])
            if isinstance(node, ast.BoolOp):
                found = not all(self.surely_bool(one) for one in node.values)
            self.frame.steps[node] = found or any(self.needs_steps(one) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))
        return self.frame.steps[node]

    def surely_bool(self, node):
        if isinstance(node, ast.Compare) or isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return True
        if isinstance(node, ast.BoolOp):
            return all(self.surely_bool(one) for one in node.values)
        if isinstance(node, ast.Constant):
            return isinstance(node.value, bool)
        if isinstance(node, ast.Name):
            v = self.frame.env.get(node.id)
            return isinstance(v, Var) and v.cls is boolean or isinstance(v, Const) and isinstance(v.value, bool)
        return False

    def temporary(self, node, cls, what):
        """A variable of the compiler's own, whose type grows from pass to pass."""
        key = (self.frame.key, what, node.lineno, node.col_offset)
        return self.typed_variable(key, cls, node, None)

    def typed_variable(self, key, cls, node, name):
        old = self.known.types.get(key)
        new = cls if old is None else settled(self.join(old, cls, node))
        if new is not old:
            if old is not None:
                self.dirty = True
            self.known.types[key] = new
        return Var(new, self.made(c.hg_tree_variable(self.tree, name and name.encode(), new.code), node))

    def grow(self, name, cls, node):
        """The variable of that name, which is assigned another value of this type. One whose type grows is another one from here on, so that what
        is made of it grows in this pass too."""
        key = self.frame.key, name
        if settled(self.join(self.known.types[key], cls, node)) is not self.known.types[key]:
            self.frame.env[name] = self.typed_variable(key, cls, node, name)
        return self.frame.env[name]


# ---- a whole kernel ----

class Known:
    """What passes have found: types of variables, types of functions' results, axes of hg.grid, whether all lanes meet."""

    def __init__(self):
        self.types, self.results, self.axes, self.meets = {}, {}, None, False


def symbols_of(extent):
    """Names in an extent."""
    if isinstance(extent, int):
        return []
    return [one.id for one in ast.walk(ast.parse(extent, mode="eval")) if isinstance(one, ast.Name) and one.id not in ("ceil", "min", "max")]


def begin(low, kernel):
    """Declares parameters and the launch."""
    node = kernel.source.node
    low.frame = Frame(kernel.source, "")
    low.place(node)
    symbols = []
    for p in kernel.parameters:
        if isinstance(p.kind, T.Parameter):
            symbols += [name for extent in p.kind.shape for name in symbols_of(extent)]
    scalars = {p.name: p.kind for p in kernel.parameters if isinstance(p.kind, type)}
    for name in symbols:
        if name in scalars and scalars[name] not in (u32, u64):
            raise low.error(node, f"the extent {name} is also a parameter, of type {scalars[name].name}", f"{name}: hg.u64, or leave the parameter out")
    for p in kernel.parameters:
        name = p.name.encode()
        if isinstance(p.kind, T.Parameter):
            array = Array(p.name, p.kind.type, p.kind.shape or None, "param", p.kind.direction.lower())
            direction = {"in": c.HG_PARAM_IN, "out": c.HG_PARAM_OUT, "inout": c.HG_PARAM_INOUT}[array.direction]
            code = T.u8.code if array.cls is boolean else array.cls.code
            array.id = low.made(c.hg_tree_param_buffer(low.tree, name, code, direction, dims(p.kind.shape), len(p.kind.shape) or c.HG_NO_DIMS), node)
            low.arrays[p.name] = array
        elif isinstance(p.kind, type):
            kept = T.u8 if p.kind is boolean else p.kind
            low.scalars[p.name] = (low.made(c.hg_tree_param_scalar(low.tree, name, kept.code), node), p.kind)
    axes = [f"lanes_{axis}" for axis in range(low.known.axes or 0)]
    for name in dict.fromkeys([*symbols, *axes]):
        if name not in low.scalars:
            low.scalars[name] = (low.made(c.hg_tree_param_scalar(low.tree, name.encode(), u64.code), node), u64)
    lanes = axes or kernel.output.kind.shape
    if kernel.block:
        low.ok(c.hg_tree_block(low.tree, *(list(kernel.block) + [1, 1])[:3]), node)
    if kernel.grid:
        low.ok(c.hg_tree_grid(low.tree, dims(kernel.grid), len(kernel.grid)), node)
    elif lanes:
        low.ok(c.hg_tree_lanes(low.tree, dims(lanes), len(lanes)), node)


def enter(low, frame, values):
    """Names of a function at its beginning; what it assigns to is a variable of its own."""
    low.frame = frame
    for name, v in values:
        if isinstance(v, Var) and name in frame.stored:
            own = low.typed_variable((frame.key, name), v.cls, frame.source.node, name)
            low.ok(c.hg_tree_assign(low.tree, own.id, low.emit(v, own.cls, frame.source.node)), frame.source.node)
            v = own
        elif isinstance(v, Const) and is_number(v.value) and name in frame.stored:
            own = low.typed_variable((frame.key, name), low.settle(type(v.value), v, frame.source.node), frame.source.node, name)
            low.ok(c.hg_tree_assign(low.tree, own.id, low.emit(v, own.cls, frame.source.node)), frame.source.node)
            v = own
        frame.env[name] = v


def lower_main(low, kernel, statics):
    begin(low, kernel)
    values = []
    for p in kernel.parameters:
        if p.kind is T.static:
            values.append((p.name, low.wrap(statics[p.name], kernel.source.node, p.name)))
        elif isinstance(p.kind, type):
            id, cls = low.scalars[p.name]
            v = Var(T.u8 if cls is boolean else cls, id)
            if cls is boolean:
                v = low.hold(Val(boolean, low.emit(v, boolean, kernel.source.node)), kernel.source.node)
            values.append((p.name, v))
        else:
            values.append((p.name, low.arrays[p.name]))
    enter(low, low.frame, values)
    low.block(kernel.source.node.body)
    while low.queue:
        key, function, given, caller = low.queue.pop(0)
        lower_function(low, key, function, given, caller, low.routines[key], low.known.results[key])


def lower_function(low, key, function, given, caller, routine, results):
    source = low.kernel.source_of(function)
    frame = Frame(source, key, caller)
    frame.results = results
    low.frame = frame
    low.place(source.node)
    taken = [(name, v) for name, v in given if isinstance(v, Val)]
    ids = (ctypes.c_uint64 * max(1, len(taken)))()
    low.ok(c.hg_tree_begin_function(low.tree, routine, ids), source.node)
    numbers = iter(ids)
    enter(low, frame, [(name, Var(v.cls, next(numbers)) if isinstance(v, Val) else v) for name, v in given])
    ends = low.block(source.node.body)
    low.place(source.node)
    if ends and results:
        last = source.node.body[-1]
        if not isinstance(last, (ast.Return, ast.If, ast.While, ast.For)):
            raise low.error(last, f"{function.__name__} ends here without a value, and returns one elsewhere", "return a value on every path")
    low.ok(c.hg_tree_end(low.tree), source.node)


def until_types_stay(kernel, known, lower, source, node, what):
    """What lower(low) makes in the first pass that changes no type. Functions whose results' types it asks for are looked at in between."""
    for _ in range(64):
        low, need = Lowering(kernel, known), None
        try:
            made = lower(low)
            if not low.dirty:
                return made
        except NeedResults as one:
            need = one
        except CompileError:
            if not low.dirty:
                raise
        finally:
            low.close()
        if need:
            infer(kernel, known, need)
    raise source.error(node, f"the types of {what} cannot be found")


def infer(kernel, known, need):
    """The types of a function's results."""
    key, function, given, caller, node = need.key

    def lower(low):
        begin(low, kernel)
        low.frame = caller
        codes = [v.cls.code for _, v in given if isinstance(v, Val)]
        routine = c.hg_tree_declare_function(low.tree, function.__name__.encode(), (ctypes.c_uint32 * max(1, len(codes)))(*codes), len(codes), 0)
        low.made(routine, node)
        fresh = [(name, (low.arrays.get(v.name) if v.space == "param" else Array(v.name, v.cls, v.shape, v.space, v.direction, v.values))
                  if isinstance(v, Array) else v) for name, v in given]
        results = []
        lower_function(low, key, function, fresh, caller, routine, results)
        return tuple(settled(cls) for cls in results[0]) if results else ()
    known.results[key] = until_types_stay(kernel, known, lower, caller.source, node, function.__name__)


def compile_kernel(kernel, statics):
    """(program, what was found): the caller releases the program."""
    known = Known()

    def lower(low):
        lower_main(low, kernel, statics)
        return None if low.dirty else build(low, kernel)
    return until_types_stay(kernel, known, lower, kernel.source, kernel.source.node, "the variables of this kernel"), known


def build(low, kernel):
    program = ctypes.c_void_p()
    status = c.hg_tree_build(low.tree, ctypes.byref(program))
    if not status:
        status = c.hg_program_verify(program, low.diagnostics)
    if status:
        c.hg_program_release(program)
        raise from_diagnostic(low, kernel)
    return program


def from_diagnostic(low, kernel):
    if not c.hg_diagnostics_count(low.diagnostics):
        return CompileError(c.hg_last_error_text().decode(errors="replace"))
    d = ctypes.cast(c.hg_diagnostics_get(low.diagnostics, 0), ctypes.POINTER(c.hg_diagnostic)).contents
    message, hint = d.message.decode(errors="replace"), d.hint and d.hint.decode(errors="replace")
    if message.startswith("uninitialized register: "):
        message = f"{message.split()[2]} may have no value here"
    file, line = kernel.place(d.line)
    return CompileError(message_at(file, line, d.column, max(1, d.length), message, hint), code=d.code.decode(), file=file, line=line, column=d.column,
                        length=d.length, hint=hint)
