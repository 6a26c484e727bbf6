"""Expressions of kernels. Part of Lowering (_compile.py).
"""
import ast
import builtins
import ctypes
import inspect
import operator
import types as python_types

from . import _interface as c
from . import _scalar as T
from ._scalar import Scalar, boolean, f32, i32, i64, settled, u32, u64
from ._values import (BY_CODE, FAR, OPERATORS, PYTHON, REFUSED, SIGNS, Array, Const, NeedResults, Tup, Val, Var, dims, flatten, is_number,
                      top_of, top_of_binary, what_is)


class Expressions:
    """expr(node) is the value of an expression, truth(node) a condition."""

    def expr(self, node):
        method = getattr(self, "expr_" + type(node).__name__, None)
        if not method:
            raise self.refused(node)
        return method(node)

    def refused(self, node):
        what, hint = REFUSED.get(type(node).__name__, (type(node).__name__, None))
        return self.error(node, f"{what} cannot be compiled", hint)

    def expr_Constant(self, node):
        if isinstance(node.value, (complex, bytes)):
            raise self.error(node, f"{node.value!r} is no number of a kernel", "two variables: the real and the imaginary part" if isinstance(node.value, complex) else None)
        return Const(node.value)

    def expr_Tuple(self, node):
        return Tup(self.several(node.elts))

    def expr_Name(self, node):
        name = node.id
        if name in self.frame.env:
            v = self.frame.env[name]
            if isinstance(v, Var):
                self.place(node)
                return self.read(v, node)
            return v
        if name in self.frame.stored:
            raise self.error(node, f"{name} has no value here", f"assign it before: {name} = 0")
        return self.captured(node, name)

    def captured(self, node, name):
        function = self.frame.source.function
        code = function.__code__
        if name in code.co_freevars:
            cell = function.__closure__[code.co_freevars.index(name)]
            try:
                value = cell.cell_contents
            except ValueError:
                raise self.error(node, f"{name} has no value yet", "define it before the kernel is called") from None
        elif name in function.__globals__:
            value = function.__globals__[name]
        elif hasattr(builtins, name):
            return Const(getattr(builtins, name))
        else:
            symbols = {s for a in self.arrays.values() for s in (a.shape or ()) if isinstance(s, str)}
            if name in symbols:
                array, axis = next((a, k) for a in self.arrays.values() for k, s in enumerate(a.shape or ()) if s == name)
                raise self.error(node, f"{name} is an extent of {array.name}, and no name of Python's", f"write {array.name}.shape[{axis}]")
            raise self.error(node, f"there is no {name}", f"assign it before, or add a parameter: {name}: hg.f32")
        return self.wrap(value, node, name)

    def wrap(self, value, node, name):
        """A captured object as a value."""
        if isinstance(value, (list, tuple)) or T.is_array(value):
            return self.table(value, node, name)
        if T.is_typed(value):
            cls = T.type_of(value.dtype)
            if cls is None:
                raise self.error(node, f"{name} is of type {value.dtype}, which kernels do not have", "one of f16 f32 f64 i8 … u64")
            return Const(bool(value) if cls is boolean else cls(value.item()))
        return Const(self.open_type(value, node) if T.is_open(value) else value)

    def open_type(self, variable, node):
        """The type that a type variable of the signature has in this program."""
        if variable not in self.kernel.types:
            raise self.error(node, f"no array of {self.kernel.name} has the type {variable.__name__}", f'x: hg.In[{variable.__name__}, "n"]')
        return self.kernel.types[variable]

    def table(self, value, node, name):
        """A tuple, list or array of numbers, which becomes part of the program where it is indexed."""
        if isinstance(value, tuple) and not all(is_number(one) or isinstance(one, (Scalar, list, tuple)) for one in value):
            return Tup([self.wrap(one, node, name) for one in value])
        shape, flat, cls = flatten(value)
        if cls is None:
            raise self.error(node, f"{name} is captured from outside, and its elements are no numbers of one shape", "numbers, or pass it as a parameter")
        if len(flat) * (cls.size if cls not in (int, float, bool) else 8) > 65536:
            raise self.error(node, f"{name} is captured from outside and has {len(flat)} elements: a table of a kernel has at most 65536 bytes",
                             f"pass it as a parameter: {name}: hg.In[{settled(cls).name}, {len(flat)}]")
        if cls is int and not all(i32.holds(one) for one in flat):
            cls = i64
        cls = settled(cls)
        key = f"{name}_{len(self.arrays)}" if name in self.arrays and self.arrays[name].values != flat else name
        if key not in self.arrays:
            self.arrays[key] = Array(key, cls, shape, "data", "in", flat)
        return self.arrays[key]

    def expr_Attribute(self, node):
        base = self.expr(node.value)
        if isinstance(base, Array):
            if node.attr == "shape":
                if base.shape is None:
                    raise self.error(node, f"{base.name} is declared without extents", f'declare them: hg.In[{base.cls.name}, "n"]')
                return Tup([(base, axis) for axis in range(len(base.shape))])
            if node.attr == "ndim":
                return Const(len(base.shape or ()))
            if node.attr == "size":
                v = Const(1)
                for axis in range(len(base.shape or ())):
                    v = self.binary("*", v, self.extent(base, axis, node), node)
                return v
            if node.attr == "dtype":
                return Const(base.cls)
            raise self.error(node, f"an array of a kernel has no .{node.attr}", "it has .shape, .ndim, .size and .dtype")
        if isinstance(base, Const) and not isinstance(base.value, (Scalar, bool, int, float, str)):
            try:
                value = getattr(base.value, node.attr)
            except AttributeError:
                raise self.error(node, f"{what_is(base)} has no {node.attr}") from None
            return self.wrap(value, node, node.attr)
        raise self.error(node, f"{what_is(base)} has no .{node.attr} in a kernel")

    def extent(self, array, axis, node):
        """An extent as a number: i64, so that differences of indices may be below 0."""
        one = array.shape[axis]
        if isinstance(one, int):
            return Const(one)
        return self.formula(ast.parse(one, mode="eval").body, node)

    def formula(self, part, node):
        """An extent that is an expression over symbols."""
        if isinstance(part, ast.Name):
            id = self.made(c.hg_tree_read(self.tree, self.scalars[part.id][0]), node)
            return Val(i64, self.made(c.hg_tree_cast(self.tree, i64.code, id), node), FAR)
        if isinstance(part, ast.Constant):
            return Const(part.value)
        if isinstance(part, ast.BinOp):
            sign = {"/": "//"}.get(SIGNS[type(part.op)], SIGNS[type(part.op)])
            return self.binary(sign, self.formula(part.left, node), self.formula(part.right, node), node)
        name = part.func.id
        if name == "ceil":
            a, b = part.args[0].left, part.args[0].right
            return self.unary("-", self.binary("//", self.unary("-", self.formula(a, node), node), self.formula(b, node), node), node)
        return self.instruction(name, [self.formula(one, node) for one in part.args], node)

    def expr_Subscript(self, node):
        base, indices = node.value, [node.slice]
        while isinstance(base, ast.Subscript):  # x[i][j]
            base, indices = base.value, [base.slice] + indices
        found = self.expr(base)
        while isinstance(found, Tup):
            found, indices = self.item(found, indices[0], node), indices[1:]
            if not indices:
                return found
        if not isinstance(found, Array):
            raise self.refuse_index(found, node)
        known = self.known_item(found, indices)
        if known is not None:
            return Const(known)
        element = self.element(found, indices, node)
        if found.cls is boolean:
            self.place(node)
            zero = self.made(c.hg_tree_bits(self.tree, T.u8.code, 0), node)
            return Val(boolean, self.made(c.hg_tree_operate(self.tree, c.HG_TREE_NE, element, zero), node))
        return Val(found.cls, element)

    def refuse_index(self, found, node):
        return self.error(node, f"{what_is(found)} cannot be indexed", "arrays and tuples can")

    def item(self, found, index, node):
        where = self.expr(index)
        if not (isinstance(where, Const) and isinstance(where.value, int)):
            raise self.error(index, "an index of a tuple is a number that is known when the kernel is compiled", "hg.private(type, length) is an array")
        if not -len(found.items) <= where.value < len(found.items):
            raise self.error(index, f"index {where.value} of a tuple of {len(found.items)}")
        return self.item_value(found.items[where.value], node)

    def item_value(self, one, node):
        return self.extent(*one, node) if isinstance(one, tuple) else self.read(one, node)

    def known_item(self, array, indices):
        """An element of a captured table at known indices."""
        if array.values is None:
            return None
        parts = [part for one in indices for part in (one.elts if isinstance(one, ast.Tuple) else [one])]
        numbers = []
        for part in parts:
            if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub) and isinstance(part.operand, ast.Constant):
                numbers.append(-part.operand.value)
            elif isinstance(part, ast.Constant):
                numbers.append(part.value)
            elif isinstance(part, ast.Name) and isinstance(self.frame.env.get(part.id), Const):
                numbers.append(self.frame.env[part.id].value)
            else:
                return None
        if len(numbers) != len(array.shape) or not all(isinstance(n, int) and -e <= n < e for n, e in zip(numbers, array.shape)):
            return None
        place = 0
        for n, e in zip(numbers, array.shape):
            place = place * e + n % e
        value = array.values[place]
        return value if is_number(value) and array.cls in (i32, f32) else array.cls(value)

    def element(self, array, indices, node):
        """The expression of an element; it is read or assigned."""
        parts = [part for one in indices for part in (one.elts if isinstance(one, ast.Tuple) else [one])]
        for part in parts:
            if isinstance(part, ast.Slice):
                raise self.refused_slice(part, array, node)
        rank = len(array.shape) if array.shape is not None else 1
        if len(parts) != rank:
            shape = ", ".join("ijklmnop"[:rank])
            raise self.error(node, f"{array.name} has {rank} {'axis' if rank == 1 else 'axes'}, got {len(parts)} {'index' if len(parts) == 1 else 'indices'}",
                             f"write {array.name}[{shape}]")
        values = self.several(parts)
        ids = []
        for axis, (v, part) in enumerate(zip(values, parts)):
            cls = self.cls(v, part)
            if cls is float or cls not in (int, bool) and cls.kind == "f":
                raise self.error(part, f"an index is an integer, not {'a float' if cls is float else cls.name}", "int(…) around it")
            if cls is bool or cls is boolean:
                raise self.error(part, "an index is an integer, not a condition", "int(…) around it, or an if")
            if isinstance(v, Const):
                number = int(v.value)
                extent = array.shape[axis] if array.shape is not None else None
                if isinstance(extent, int) and not -extent <= number < extent:
                    raise self.error(part, f"index {number} of an axis of {extent}", f"0 to {extent - 1}, or -1 to -{extent} from the end")
                if number < 0:
                    if extent is None:
                        raise self.error(part, f"index {number} counts from the end, and {array.name} is declared without extents")
                    v = self.binary("+", self.extent(array, axis, part), Const(number), part)
            self.place(part)
            ids.append(self.emit(v, self.settle(self.cls(v, part), v, part), part))
        self.place(node)
        return self.made(c.hg_tree_element_of(self.tree, self.array_id(array, node), (ctypes.c_uint64 * len(ids))(*ids), len(ids)), node)

    def refused_slice(self, part, array, node):
        return self.error(part, "a slice cannot be compiled", f"a loop: for k in range(…): … {array.name}[k]")

    def array_id(self, array, node):
        if not array.id:
            self.declare_array(array, node)
        return array.id

    def declare_array(self, array, node):
        name, code = array.name.encode(), T.u8.code if array.cls is boolean else array.cls.code
        if array.space == "data":
            data = b"".join(array.cls.pattern(array.cls.fit(T.number(one))).to_bytes(array.cls.size, "little") for one in array.values)
            array.id = c.hg_tree_data(self.tree, name, code, dims(array.shape), len(array.shape), data)
        else:
            extents = (ctypes.c_uint64 * len(array.shape))(*array.shape)
            array.id = (c.hg_tree_shared if array.space == "shared" else c.hg_tree_private)(self.tree, name, code, extents, len(array.shape))
        self.made(array.id, node)

    def expr_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            v = self.truth(node.operand)
            if isinstance(v, Const):
                return Const(not v.value)
            self.place(node)
            return Val(boolean, self.made(c.hg_tree_unary(self.tree, c.HG_TREE_NOT, v.id), node))
        v = self.expr(node.operand)
        return self.unary({ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)], v, node)

    def unary(self, sign, v, node):
        cls = self.cls(v, node)
        if isinstance(v, Const):
            try:
                return Const({"-": operator.neg, "+": operator.pos, "~": operator.invert}[sign](v.value))
            except TypeError:
                raise self.error(node, f"{sign} of {what_is(v)}") from None
        if cls is boolean:
            if sign == "~":
                raise self.error(node, "~ of a condition", "not")
            cls = i32
        if sign == "~" and cls.kind == "f":
            raise self.error(node, f"~ of {cls.name}: bits are of integers", "int(…) around it")
        id = self.emit(v, cls, node)
        if sign == "+":
            return Val(cls, id)
        self.place(node)
        return Val(cls, self.made(c.hg_tree_unary(self.tree, c.HG_TREE_NEG if sign == "-" else c.HG_TREE_BIT_NOT, id), node))

    def expr_BinOp(self, node):
        sign = SIGNS.get(type(node.op))
        if not sign:
            what, hint = REFUSED[type(node.op).__name__]
            raise self.error(node, f"{what} cannot be compiled", hint)
        a, b = self.several([node.left, node.right])
        return self.binary(sign, a, b, node)

    def binary(self, sign, a, b, node):
        ca, cb = self.cls(a, node), self.cls(b, node)
        if isinstance(a, Const) and isinstance(b, Const):
            try:
                return Const(PYTHON[sign](a.value, b.value))
            except ZeroDivisionError:
                raise self.error(node, "division by zero") from None
            except (TypeError, ValueError, OverflowError) as error:
                raise self.error(node, str(error)) from None
        if sign == "**":
            return self.power(a, b, ca, cb, node)
        cls = settled(self.join(ca, cb, node))
        if cls is boolean:
            if sign in "&|^":
                return self.logic(sign, a, b, node)
            cls = i32
        if sign == "/" and cls.kind != "f":
            cls = f32
        if sign in "&|^<<>>" and cls.kind == "f":
            raise self.error(node, f"{sign} of {cls.name}: bits are of integers", "int(…) around the float")
        if sign in ("//", "%") and cls.kind == "f":
            return self.call_function(T.floor_divide if sign == "//" else T.modulo, [Val(cls, self.emit(a, cls, node)), Val(cls, self.emit(b, cls, node))], {}, node)
        if sign in ("<<", ">>"):
            return self.shift(sign, a, b, cls, node)
        if sign in ("//", "%") and isinstance(b, Const) and b.value == 0:
            raise self.error(node, "division by zero")
        x, y = self.emit(a, cls, node), self.emit(b, cls, node)
        self.place(node)
        return Val(cls, self.made(c.hg_tree_operate(self.tree, OPERATORS[sign], x, y), node), top_of_binary(sign, a, b) if cls is i64 else None)

    def logic(self, sign, a, b, node):
        x, y = self.emit(a, boolean, node), self.emit(b, boolean, node)
        self.place(node)
        if sign == "^":
            return self.apply("xor.p", [x, y], node)
        return Val(boolean, self.made((c.hg_tree_both if sign == "&" else c.hg_tree_either)(self.tree, x, y), node))

    def shift(self, sign, a, b, cls, node):
        """As Python shifts: by the width or more leaves nothing."""
        op = OPERATORS[sign]
        if isinstance(b, Const):
            if b.value < 0:
                raise self.error(node, f"a shift by {b.value}", "the other shift")
            x = self.emit(a, cls, node)
            self.place(node)
            if b.value >= cls.bits:
                if sign == "<<" or cls.kind == "u":
                    return Val(cls, self.made(c.hg_tree_operate(self.tree, c.HG_TREE_BIT_AND, x, self.literal(0, cls, node)), node))
                return Val(cls, self.made(c.hg_tree_operate(self.tree, op, x, self.literal(cls.bits - 1, u32, node)), node))
            return Val(cls, self.made(c.hg_tree_operate(self.tree, op, x, self.literal(b.value, u32, node)), node))
        self.place(node)
        x = self.hold(Val(cls, self.emit(a, cls, node)), node)
        amount = self.hold(Val(u32, self.emit(b, u32, node)), node) if b.cls.bits <= 32 else self.hold(
            self.instruction("min", [Val(u64, self.emit(b, u64, node)), Const(cls.bits)], node), node)
        amount = amount if amount.cls is u32 else self.hold(Val(u32, self.emit(amount, u32, node)), node)
        shifted = self.made(c.hg_tree_operate(self.tree, op, self.emit(x, cls, node), self.emit(amount, u32, node)), node)
        inside = self.made(c.hg_tree_operate(self.tree, c.HG_TREE_LT, self.emit(amount, u32, node), self.literal(cls.bits, u32, node)), node)
        if sign == "<<" or cls.kind == "u":
            outside = self.literal(0, cls, node)
        else:
            outside = self.made(c.hg_tree_operate(self.tree, op, self.emit(x, cls, node), self.literal(cls.bits - 1, u32, node)), node)
        return Val(cls, self.made(c.hg_tree_choose(self.tree, inside, shifted, outside), node))

    def power(self, a, b, ca, cb, node):
        cls = settled(self.join(ca, cb, node))
        if isinstance(b, Const) and is_number(b.value) and float(b.value).is_integer() and (cls.kind != "f" and cb is int or b.value in (1, 2)):
            if b.value < 0:
                raise self.error(node, "an integer to a negative power is a float", "float(…) around the base")
            if b.value == 0:
                return Const(1)
            base, result, left = self.hold(Val(cls, self.emit(a, cls, node)), node), None, int(b.value)
            while True:  # by squaring
                if left & 1:
                    result = base if result is None else self.hold(self.binary("*", self.read(result, node), self.read(base, node), node), node)
                left >>= 1
                if not left:
                    return self.read(result, node)
                base = self.hold(self.binary("*", self.read(base, node), self.read(base, node), node), node)
        if cls.kind != "f":
            raise self.error(node, "an integer to a power that is not known when the kernel is compiled", "float(…) around the base, or a loop of products")
        return self.instruction("pow", [a, b], node)

    def expr_Compare(self, node):
        for op in node.ops:
            if type(op) not in SIGNS:
                what, hint = REFUSED[type(op).__name__]
                raise self.error(node, f"{what} cannot be compiled", hint)
        nodes = [node.left, *node.comparators]
        if len(node.ops) > 1 and self.needs_steps(node):
            return self.chain(node, nodes)
        if len(node.ops) == 1:
            return self.compare(SIGNS[type(node.ops[0])], *self.several(nodes), node)
        result = None
        for op, left, right in zip(node.ops, nodes, nodes[1:]):
            one = self.compare(SIGNS[type(op)], self.expr(left), self.expr(right), node)
            result = one if result is None else self.both(result, one, node, c.HG_TREE_BIT_AND)
        return result

    def chain(self, node, nodes):
        """a < f(x) < b, each worked out once and only where Python would."""
        left = self.hold(self.expr(nodes[0]), nodes[0])
        result = self.temporary(node, boolean, "chain")
        for k, op in enumerate(node.ops):
            right = self.hold(self.expr(nodes[k + 1]), nodes[k + 1])
            one = self.compare(SIGNS[type(op)], self.read(left, node), self.read(right, node), node)
            self.place(node)
            self.ok(c.hg_tree_assign(self.tree, result.id, self.emit(one, boolean, node)), node)
            left = right
            if k + 1 < len(node.ops):
                self.ok(c.hg_tree_begin_if(self.tree, self.emit(result, boolean, node)), node)
        for _ in node.ops[1:]:
            self.ok(c.hg_tree_end(self.tree), node)
        return self.read(result, node)

    def compare(self, sign, a, b, node):
        if isinstance(a, Const) and isinstance(b, Const):
            try:
                return Const(bool(PYTHON[sign](a.value, b.value)))
            except TypeError as error:
                raise self.error(node, str(error)) from None
        ca, cb = self.cls(a, node), self.cls(b, node)
        cls = settled(self.join(ca, cb, node))
        if cls is boolean and sign not in ("==", "!="):
            cls = i32
        for v, kind, other in ((a, ca, cb), (b, cb, ca)):  # a number that the other's type does not hold decides alone
            if isinstance(v, Const) and kind is int and cls.kind in "iu" and not cls.holds(v.value):
                raise self.error(node, f"{v.value} is no {cls.name}, which goes from {cls.range()[0]} to {cls.range()[1]}: the comparison is always the same")
        if cls is i64 and sign in ("<", "<=", ">", ">=") and top_of(a) is not None and top_of(b) is not None:
            cls = u64  # the same, and what guards of lanes look like in programs
        x, y = self.emit(a, cls, node), self.emit(b, cls, node)
        self.place(node)
        if cls is boolean:
            differ = self.apply("xor.p", [x, y], node)
            return differ if sign == "!=" else Val(boolean, self.made(c.hg_tree_unary(self.tree, c.HG_TREE_NOT, differ.id), node))
        return Val(boolean, self.made(c.hg_tree_operate(self.tree, OPERATORS[sign], x, y), node))

    def both(self, a, b, node, op):
        """a and b, a or b of conditions that are no statements."""
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Const) and (x is a or isinstance(y, Const)):
                return y if bool(x.value) == (op == c.HG_TREE_BIT_AND) else Const(bool(x.value))
        x, y = self.emit(a, boolean, node), self.emit(b, boolean, node)
        self.place(node)
        return Val(boolean, self.made((c.hg_tree_both if op == c.HG_TREE_BIT_AND else c.hg_tree_either)(self.tree, x, y), node))

    def truth(self, node):
        """A condition: a value of the type bool, or a constant."""
        if isinstance(node, ast.BoolOp):
            return self.bool_op(node)
        v = self.expr(node)
        if isinstance(v, Const):
            if isinstance(v.value, Scalar) or v.value is None or isinstance(v.value, (bool, int, float, str)):
                return Const(bool(v.value))
            raise self.error(node, f"{what_is(v)} is no condition", "call it" if callable(v.value) else None)
        if isinstance(v, Array):
            raise self.error(node, f"the array {v.name} is no condition", f"an element of it: {v.name}[i]")
        self.cls(v, node)
        self.place(node)
        return Val(boolean, self.emit(v, boolean, node))

    def bool_op(self, node):
        op = c.HG_TREE_BIT_AND if isinstance(node.op, ast.And) else c.HG_TREE_BIT_OR
        result = self.truth(node.values[0])
        for k, later in enumerate(node.values[1:]):
            if isinstance(result, Const):
                if bool(result.value) != (op == c.HG_TREE_BIT_AND):
                    return Const(bool(result.value))
                result = self.truth(later)
            elif self.needs_steps(later):
                self.begin_named(later)
                held = self.temporary(later, boolean, "and")
                self.ok(c.hg_tree_assign(self.tree, held.id, result.id), node)
                asked = self.emit(held, boolean, node)
                if op == c.HG_TREE_BIT_OR:
                    asked = self.made(c.hg_tree_unary(self.tree, c.HG_TREE_NOT, asked), node)
                self.ok(c.hg_tree_begin_if(self.tree, asked), node)
                self.ok(c.hg_tree_assign(self.tree, held.id, self.emit(self.truth(later), boolean, later)), node)
                self.ok(c.hg_tree_end(self.tree), node)
                result = self.read(held, node)
            else:
                result = self.both(result, self.truth(later), node, op)
        return result

    def begin_named(self, node):
        """Variables that a := within a side gives a value, which may stay unevaluated, have one before."""
        for one in ast.walk(node):
            if isinstance(one, ast.NamedExpr) and one.target.id not in self.frame.env:
                key = (self.frame.key, one.target.id)
                if key not in self.known.types:
                    self.dirty = True
                    continue
                v = self.typed_variable(key, self.known.types[key], one, one.target.id)
                self.ok(c.hg_tree_assign(self.tree, v.id, self.literal(0, v.cls, one)), one)
                self.frame.env[one.target.id] = v

    def expr_BoolOp(self, node):
        if all(self.surely_bool(one) for one in node.values):
            return self.bool_op(node)
        # of numbers the value of the side that decides
        first = self.expr(node.values[0])
        result = None
        for k, later in enumerate(node.values[1:], 1):
            if isinstance(first, Const):
                if bool(first.value) == isinstance(node.op, ast.And):
                    first = self.expr(later)
                    continue
                return first
            held = self.hold(first, node)
            rest = ast.copy_location(ast.BoolOp(node.op, node.values[k:]), later) if k + 1 < len(node.values) else later
            asked = self.emit(self.read(held, node), boolean, node)
            if isinstance(node.op, ast.Or):
                asked = self.made(c.hg_tree_unary(self.tree, c.HG_TREE_NOT, asked), node)
            return self.chosen(node, "or", asked, lambda: self.expr(rest), lambda: self.read(held, node))
        return first

    def chosen(self, node, what, asked, one, other):
        """if asked: one(), else: other(), as statements; a value of the type that both meet in."""
        key = (self.frame.key, what, node.lineno, node.col_offset)
        old = self.known.types.get(key, i32)
        result = Var(old, self.made(c.hg_tree_variable(self.tree, None, old.code), node))
        found = None
        self.ok(c.hg_tree_begin_if(self.tree, asked), node)
        for k, make in enumerate((one, other)):
            v = make()
            cls = self.cls(v, node)
            found = cls if found is None else self.join(found, cls, node)
            self.ok(c.hg_tree_assign(self.tree, result.id, self.emit(v, old, node)), node)
            self.ok(c.hg_tree_begin_else(self.tree) if k == 0 else c.hg_tree_end(self.tree), node)
        self.known.types[key] = settled(found)
        self.dirty |= settled(found) is not old
        return self.read(result, node)

    def expr_IfExp(self, node):
        asked = self.truth(node.test)
        if isinstance(asked, Const):
            return self.expr(node.body if asked.value else node.orelse)
        if self.needs_steps(node.body) or self.needs_steps(node.orelse):
            return self.chosen(node, "if", asked.id, lambda: self.expr(node.body), lambda: self.expr(node.orelse))
        a, b = self.expr(node.body), self.expr(node.orelse)
        cls = self.join(self.cls(a, node.body), self.cls(b, node.orelse), node)
        cls = self.settle(cls, a if self.cls(a, node) is int else b, node)
        self.known.types[self.frame.key, "if", node.lineno, node.col_offset] = cls
        x, y = self.emit(a, cls, node.body), self.emit(b, cls, node.orelse)
        self.place(node)
        if cls is boolean:
            held = self.hold(asked, node)
            flip = self.made(c.hg_tree_unary(self.tree, c.HG_TREE_NOT, self.emit(held, boolean, node)), node)
            left = self.made(c.hg_tree_both(self.tree, self.emit(held, boolean, node), x), node)
            return Val(boolean, self.made(c.hg_tree_either(self.tree, left, self.made(c.hg_tree_both(self.tree, flip, y), node)), node))
        return Val(cls, self.made(c.hg_tree_choose(self.tree, asked.id, x, y), node))

    def expr_NamedExpr(self, node):
        self.assign_name(node.target, self.expr(node.value), node)
        return self.expr(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))

    # ---- calls ----

    def expr_Call(self, node):
        called = self.expr(node.func)
        if not isinstance(called, Const) or not callable(called.value):
            raise self.error(node, f"{what_is(called)} cannot be called")
        function = called.value
        if any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords):
            raise self.error(node, "a starred argument cannot be compiled", "write each argument")
        from . import _functions
        handler = _functions.find(function)
        if handler is None and not isinstance(function, python_types.FunctionType):
            name = getattr(function, "__name__", repr(function))
            hint = {"print": "write into an array", "sum": "a loop, or hg.block_sum", "enumerate": "for i in range(len(x))", "zip": "for i in range(len(x))",
                    "len": None, "range": "for i in range(…)", "list": "hg.private(type, length)", "dict": "an array", "sorted": "a loop",
                    "map": "a loop", "any": "comparisons joined by or", "all": "comparisons joined by and", "input": "a parameter", "open": "a parameter",
                    "str": "numbers only"}.get(name, "a function of math or hg, or a plain function of Python")
            raise self.error(node, f"{name} cannot be called in a kernel", hint)
        arguments = self.several([*node.args, *(one.value for one in node.keywords)])
        keywords = {one.arg: v for one, v in zip(node.keywords, arguments[len(node.args):])}
        self.place(node)
        if handler:
            return handler(self, node, function, arguments[:len(node.args)], keywords)
        return self.call_function(function, arguments[:len(node.args)], keywords, node)

    def instruction(self, mnemonic, values, node, floats=False, classes=()):
        """An instruction of the table; its operands have one type, where classes does not say another one."""
        cls, classes = None, list(classes) or [None] * len(values)
        for v, own in zip(values, classes):
            one = self.cls(v, node)
            if own is None:
                cls = one if cls is None else self.join(cls, one, node)
        if len(values) == 1 and isinstance(values[0], Const):
            cls = self.settle(cls, values[0], node)
        cls = settled(cls)
        if cls is not None and floats and cls.kind != "f":
            cls = f32
        if cls is boolean:
            cls = i32
        ids = [self.emit(v, own or cls, node) for v, own in zip(values, classes)]
        return self.apply(mnemonic, ids, node)

    def apply(self, mnemonic, ids, node):
        self.place(node)
        id = self.made(c.hg_tree_apply(self.tree, mnemonic.encode(), (ctypes.c_uint64 * len(ids))(*ids), len(ids)), node)
        return Val(BY_CODE[c.hg_tree_value_type(self.tree, id)], id)

    def call_function(self, function, arguments, keywords, node):
        """A plain function of Python as a function of the program, once for each set of types."""
        try:
            bound = inspect.signature(function).bind(*arguments, **keywords)
        except TypeError as error:
            raise self.error(node, f"{function.__name__}: {error}") from None
        bound.apply_defaults()
        given, key = [], []
        for name, v in bound.arguments.items():
            if not isinstance(v, (Val, Const, Array, Tup)):
                v = self.wrap(v, node, name)
            if isinstance(v, Const) and isinstance(v.value, Scalar):  # hg.f32(5) is a value of its type, as for hg.interpret
                v = Val(type(v.value), self.literal(v.value, type(v.value), node))
            if isinstance(v, Tup):
                raise self.error(node, f"the argument {name} of {function.__name__} is a tuple", "pass its items one by one")
            key.append((name, v.cls) if isinstance(v, Val) else (name, v.name, v.space) if isinstance(v, Array) else (name, type(v.value), T.number(v.value)))
            given.append((name, v))
        try:
            key = (function.__code__, tuple(key))
            hash(key)
        except TypeError:
            raise self.error(node, f"an argument of {function.__name__} is an object that a kernel cannot take") from None
        if any(one.key == key or one.source.function.__code__ is function.__code__ for one in self.frame.chain()):
            raise self.error(node, f"{function.__name__} calls itself", "a loop, with hg.private(type, length) as a stack")
        if key not in self.known.results:
            raise NeedResults((key, function, tuple(given), self.frame, node))
        results = self.known.results[key]
        if key not in self.routines:
            values = [(name, v) for name, v in given if isinstance(v, Val)]
            codes = [v.cls.code for _, v in values] + [cls.code for cls in results or ()]
            routine = c.hg_tree_declare_function(self.tree, f"{function.__name__}_{len(self.routines)}".encode(), (ctypes.c_uint32 * len(codes))(*codes), len(values), len(results or ()))
            self.routines[key] = self.made(routine, node)
            self.queue.append((key, function, given, self.frame))
        ids = [v.id for _, v in given if isinstance(v, Val)]
        self.place(node)
        id = self.made(c.hg_tree_call_routine(self.tree, self.routines[key], (ctypes.c_uint64 * len(ids))(*ids), len(ids)), node)
        if not results:
            self.ok(c.hg_tree_evaluate(self.tree, id), node)
            return Const(None)
        if len(results) == 1:
            return Val(results[0], id)
        variables = [Var(cls, self.made(c.hg_tree_variable(self.tree, None, cls.code), node)) for cls in results]
        self.ok(c.hg_tree_assign_results(self.tree, (ctypes.c_uint64 * len(variables))(*[v.id for v in variables]), len(variables), id), node)
        return Tup(variables)
