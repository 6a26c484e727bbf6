"""What a kernel's expressions are while it is compiled: values of the tree, variables, constants, tuples, arrays; and what stays refused.
"""
import ast
import operator

from . import _interface as c
from . import _scalar as T
from ._scalar import Scalar, boolean, join

PRED = c.HG_TREE_PREDICATE
BY_CODE = {cls.code: cls for cls in T.TYPES.values()}
BY_CODE[PRED] = boolean
SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|",
         ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
OPERATORS = {"+": c.HG_TREE_ADD, "-": c.HG_TREE_SUB, "*": c.HG_TREE_MUL, "/": c.HG_TREE_DIV, "//": c.HG_TREE_FLOOR_DIV, "%": c.HG_TREE_FLOOR_MOD,
             "&": c.HG_TREE_BIT_AND, "|": c.HG_TREE_BIT_OR, "^": c.HG_TREE_BIT_XOR, "<<": c.HG_TREE_SHL, ">>": c.HG_TREE_SHR, "==": c.HG_TREE_EQ,
             "!=": c.HG_TREE_NE, "<": c.HG_TREE_LT, "<=": c.HG_TREE_LE, ">": c.HG_TREE_GT, ">=": c.HG_TREE_GE}
PYTHON = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod, "**": operator.pow,
          "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift, "==": operator.eq, "!=": operator.ne,
          "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
# What a kernel cannot have: what it is called, what to write instead.
REFUSED = {
    "FunctionDef": ("a function inside of a kernel", "define it outside: a kernel may call plain functions"),
    "AsyncFunctionDef": ("an async function", "a kernel is a plain function"),
    "ClassDef": ("a class inside of a kernel", "use variables and arrays"),
    "Delete": ("del", "leave it out: variables live as long as they are needed"),
    "AsyncFor": ("async for", "for i in range(…)"),
    "With": ("with", "write the statements alone"),
    "AsyncWith": ("async with", "write the statements alone"),
    "Match": ("match", "if … elif … else"),
    "Raise": ("raise", "write a code of the error into an array"),
    "Try": ("try", "test before: nothing is raised in a kernel"),
    "TryStar": ("try", "test before: nothing is raised in a kernel"),
    "Assert": ("assert", "write a code of the error into an array"),
    "Import": ("import inside of a kernel", "import at the top of the file"),
    "ImportFrom": ("import inside of a kernel", "import at the top of the file"),
    "Global": ("global", "pass an array: a kernel changes arrays only"),
    "Nonlocal": ("nonlocal", "pass an array: a kernel changes arrays only"),
    "Lambda": ("a lambda", "define a function outside with def"),
    "Dict": ("a dict", "use an array, or variables"),
    "Set": ("a set", "use an array, or variables"),
    "ListComp": ("a list comprehension", "a loop that fills hg.private(type, length)"),
    "SetComp": ("a set comprehension", "a loop"),
    "DictComp": ("a dict comprehension", "a loop"),
    "GeneratorExp": ("a generator expression", "a loop"),
    "Await": ("await", "a kernel is a plain function"),
    "Yield": ("yield", "write into an array"),
    "YieldFrom": ("yield from", "write into an array"),
    "JoinedStr": ("an f-string", "kernels have numbers only"),
    "FormattedValue": ("an f-string", "kernels have numbers only"),
    "Starred": ("a starred expression", "write each value"),
    "List": ("a list", "a tuple, or hg.private(type, length) for an array of the lane's own"),
    "Slice": ("a slice", "a loop over the indices"),
    "MatMult": ("the operator @", "loops over the indices, or an array function"),
    "Is": ("is", "=="), "IsNot": ("is not", "!="),
    "In": ("in", "comparisons joined by or"), "NotIn": ("not in", "comparisons joined by and"),
}


class Val:
    """A value of a kernel: an expression of the tree, which is used once. top: it is from 0 to that; None: nothing is known."""
    __slots__ = ("cls", "id", "top")

    def __init__(self, cls, id, top=None):
        self.cls, self.id, self.top = cls, id, top


class Var:
    """A variable of the tree. top: as of a value, at every time."""
    __slots__ = ("cls", "id", "loop", "top")

    def __init__(self, cls, id, loop=False, top=None):
        self.cls, self.id, self.loop, self.top = cls, id, loop, top


class Const:
    """What is known when the kernel is compiled: a number, a function, a type, a module."""
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Tup:
    __slots__ = ("items",)

    def __init__(self, items):
        self.items = items


class Array:
    """space: param, shared, private, data. shape: of each axis a number or the text of an expression; None: any."""
    __slots__ = ("name", "cls", "shape", "space", "direction", "values", "id")

    def __init__(self, name, cls, shape, space, direction="inout", values=None):
        self.name, self.cls, self.shape, self.space, self.direction, self.values, self.id = name, cls, shape, space, direction, values, 0


class NeedResults(Exception):
    """A function whose results' types are not known yet."""

    def __init__(self, key):
        self.key = key


class Loop:
    def __init__(self, broke=None, unrolled=False):
        self.broke, self.unrolled = broke, unrolled


class Frame:
    """A function that is being lowered: the kernel, or a function that it calls with arguments of these types."""

    def __init__(self, source, key, caller=None):
        self.source, self.key, self.caller = source, key, caller
        self.env, self.loops, self.results = {}, [], None
        self.steps = {}  # expression -> whether it becomes statements
        if "stored" not in source.facts:
            source.facts.update(stored=names_stored(source.node), direct=direct_loops(source.node))
        self.stored, self.direct = source.facts["stored"], source.facts["direct"]

    def chain(self):
        frame = self
        while frame:
            yield frame
            frame = frame.caller


def nodes(parts):
    """All nodes of syntax trees that say something: ast.walk without operators and contexts, which are half of them."""
    left = list(parts)
    while left:
        node = left.pop()
        yield node
        for field in node._fields:
            value = getattr(node, field, None)
            if value.__class__ is list:
                left += [one for one in value if isinstance(one, ast.AST)]
            elif isinstance(value, ast.AST) and value._fields:
                left.append(value)


def names_stored(node):
    """name -> how often it is assigned, in the body of a function."""
    found = {}
    for one in nodes([node]):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            found[one.id] = found.get(one.id, 0) + 1
    return found


def direct_loops(node):
    """Names of loops that only their loops read and write: the tree's own variable serves."""
    loops, wrong = {}, set()

    def walk(one, inside):
        if isinstance(one, ast.For) and isinstance(one.target, ast.Name):
            name = one.target.id
            loops[name] = loops.get(name, 0) + 1
            if name in inside:
                wrong.add(name)
            walk(one.iter, inside)
            for part in one.body:
                walk(part, inside | {name})
            for part in one.orelse:
                walk(part, inside - {name})
            return
        if isinstance(one, ast.Name) and (isinstance(one.ctx, ast.Store) or one.id not in inside):
            wrong.add(one.id)
        for field in one._fields:
            value = getattr(one, field, None)
            for part in value if value.__class__ is list else (value,):
                if isinstance(part, ast.AST) and part._fields:
                    walk(part, inside)
    for statement in node.body:
        walk(statement, frozenset())
    return set(loops) - wrong


FAR = 1 << 56  # the largest extent, and coordinate: a launch of more lanes does not end
MOST = (1 << 63) - 1  # the largest i64


def top_of(v):
    """The largest that an integer can be which is never below 0; None: nothing is known of it."""
    if isinstance(v, Const):
        value = v.value.value if isinstance(v.value, Scalar) else v.value
        return value if isinstance(value, int) and 0 <= value <= MOST else None
    if not isinstance(v, (Val, Var)):
        return None
    return v.top if v.top is not None else v.cls.range()[1] if v.cls.kind == "u" and v.cls.bits < 64 else None


def top_of_binary(sign, a, b):
    """The same of a sign between two."""
    x, y = top_of(a), top_of(b)
    if x is None or y is None:
        return None
    if sign in "+*":
        top = x + y if sign == "+" else x * y
        return top if top <= MOST else None
    if sign in ("//", "%") and isinstance(b, Const) and y > 0:
        return x // y if sign == "//" else min(x, y - 1)
    return None


def is_number(value):
    return isinstance(value, (bool, int, float)) and not isinstance(value, Scalar)


def what_is(v):
    """How a message calls a value."""
    if isinstance(v, (Val, Var)):
        return v.cls.name
    if isinstance(v, Array):
        return f"the array {v.name}"
    if isinstance(v, Tup):
        return f"a tuple of {len(v.items)}"
    value = v.value
    if isinstance(value, Scalar):
        return repr(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value) if len(repr(value)) < 40 else type(value).__name__
    if callable(value):
        return f"the function {getattr(value, '__name__', value)}"
    return f"an object of {type(value).__name__}"


def flatten(value):
    """(shape, elements in row order, type or None) of an array or of nested sequences."""
    if T.is_array(value):
        cls = T.type_of(value.dtype)
        flat = value.reshape(-1).tolist() if cls else []
        return tuple(value.shape), flat, cls
    shape, level = [], value
    while isinstance(level, (list, tuple)):
        shape.append(len(level))
        level = level[0] if level else None
    flat = value
    for extent in shape[1:]:
        if not all(isinstance(one, (list, tuple)) and len(one) == extent for one in flat):
            return (), [], None
        flat = [item for one in flat for item in one]
    cls = None
    for one in flat:
        kind = T.kind_of(one.item() if T.is_typed(one) else one)
        if kind is None:
            return (), [], None
        cls = kind if cls is None else join(cls, kind)
    return tuple(shape), [one.item() if T.is_typed(one) else one for one in flat], cls


def dims(shape):
    """Extents for a declaration."""
    made = (c.hg_dim * max(1, len(shape)))()
    for one, extent in zip(made, shape):
        if isinstance(extent, int):
            one.value = extent
        else:
            one.param = extent.encode()
    return made
