"""Statements of kernels. Part of Lowering (_compile.py).
"""
import ast
import ctypes

from . import _interface as c
from . import _scalar as T
from ._scalar import Scalar, boolean, i32, i64, settled
from ._source import CompileError
from ._values import REFUSED, SIGNS, Array, Const, Loop, Tup, Val, Var, is_number, top_of, what_is


class Statements:
    """block(statements) lowers them one after another."""

    def block(self, statements):
        """True where the end is reached."""
        for statement in statements:
            method = getattr(self, "do_" + type(statement).__name__, None)
            if not method:
                raise self.refused(statement)
            if method(statement) is False:
                return False
        return True

    def do_Pass(self, node):
        pass

    def do_Expr(self, node):
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, (str, type(...))):
            return
        v = self.expr(node.value)
        if isinstance(v, Val):
            self.ok(c.hg_tree_evaluate(self.tree, v.id), node)

    def do_Return(self, node):
        if self.frame.results is None and self.frame.caller is None:
            if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
                raise self.error(node, "a kernel returns nothing", "write into an array: a parameter of hg.Out[…]")
            self.place(node)
            self.ok(c.hg_tree_return(self.tree, None, 0), node)
            return False
        v = Const(None) if node.value is None else self.expr(node.value)
        if isinstance(v, Tup):
            v = [self.item_value(one, node) for one in v.items]
        else:
            v = [] if isinstance(v, Const) and v.value is None else [v]
        if len(v) > 8:
            raise self.error(node, f"a function returns {len(v)} values: 8 at most")
        found = [self.settle(self.cls(one, node), one, node) for one in v]
        old = self.frame.results
        if isinstance(old, list):  # only their types are wanted
            if old and len(old[0]) != len(found):
                raise self.error(node, f"{self.frame.source.function.__name__} returns {len(found)} values here and {len(old[0])} elsewhere")
            old.append([self.join(a, b, node) for a, b in zip(old[0], found)] if old else found)
            old[0] = old[-1]
            self.place(node)
            for one, cls in zip(v, found):
                self.ok(c.hg_tree_evaluate(self.tree, self.emit(one, cls, node)), node)
            self.ok(c.hg_tree_return(self.tree, None, 0), node)
            return False
        self.grow_results(found, node)
        ids = [self.emit(one, cls, node) for one, cls in zip(v, old)]
        self.place(node)
        self.ok(c.hg_tree_return(self.tree, (ctypes.c_uint64 * max(1, len(ids)))(*ids), len(ids)), node)
        return False

    def grow_results(self, found, node):
        key, old = self.frame.key, self.frame.results
        new = tuple(self.join(a, b, node) for a, b in zip(old, found))
        if new != tuple(old):
            self.known.results[key], self.dirty = new, True

    def do_Assign(self, node):
        if len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, (ast.Tuple, ast.List)):
                return self.assign_tuple(target, node.value, node)
            self.hint_name = target.id if isinstance(target, ast.Name) else None
            v = self.expr(node.value)
            return self.assign(target, v, node)
        v = self.hold(self.expr(node.value), node)
        for target in node.targets:
            self.assign(target, self.read(v, node) if isinstance(v, Var) else v, node)

    def do_AnnAssign(self, node):
        cls = self.annotation(node.annotation)
        if node.value is None:
            return
        v = self.expr(node.value)
        if cls is not None and not isinstance(v, (Array, Tup)):
            v = self.converted(v, cls, node)
        self.assign(node.target, v, node)

    def annotation(self, node):
        try:
            v = self.expr(node)
        except CompileError:
            raise self.error(node, "the type of a variable is a type of hg", "x: hg.f32 = …") from None
        cls = T.type_of(v.value) if isinstance(v, Const) else None
        if cls is None:
            raise self.error(node, "the type of a variable is a type of hg", "x: hg.f32 = …")
        return cls

    def assign_tuple(self, target, value, node):
        parts = target.elts
        if isinstance(value, (ast.Tuple, ast.List)):
            if len(value.elts) != len(parts):
                raise self.error(node, f"{len(parts)} variables for {len(value.elts)} values")
            items = []
            for part in value.elts:
                v = self.expr(part)
                items.append(self.hold(v, part))
        else:
            v = self.expr(value)
            if isinstance(v, Array) and v.space == "data" and len(v.shape) == 1:
                v = Tup([Const(one) for one in v.values])
            if not isinstance(v, Tup):
                raise self.error(node, f"{what_is(v)} cannot be taken apart into {len(parts)} variables")
            if len(v.items) != len(parts):
                raise self.error(node, f"{len(parts)} variables for {len(v.items)} values")
            items = v.items
        for part, one in zip(parts, items):
            if isinstance(part, (ast.Tuple, ast.List)):
                raise self.error(part, "a tuple within a tuple cannot be assigned", "two assignments")
            self.assign(part, self.item_value(one, node), node)

    def assign(self, target, v, node):
        if isinstance(target, ast.Name):
            return self.assign_name(target, v, node)
        if isinstance(target, ast.Subscript):
            return self.assign_element(target, v, node)
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(v, Tup):
            for part, one in zip(target.elts, v.items):
                self.assign(part, self.item_value(one, node), node)
            return None
        if isinstance(target, ast.Attribute):
            raise self.error(target, "an attribute cannot be assigned", "a variable, or an element of an array")
        raise self.refused(target)

    def assign_name(self, target, v, node):
        name, frame = target.id, self.frame
        old = frame.env.get(name)
        if isinstance(v, (Array, Tup)) or isinstance(v, Const) and not (is_number(v.value) or isinstance(v.value, Scalar)):
            if isinstance(v, Const) and (v.value is None or isinstance(v.value, str)):
                raise self.error(node, f"{name} = {what_is(v)}: a variable of a kernel is a number")
            if isinstance(old, Var) or frame.stored.get(name, 0) > 1 or frame.loops:
                raise self.error(node, f"{name} = {what_is(v)}: such a name is assigned once, and outside of loops")
            if isinstance(v, Tup):
                v = Tup([one if isinstance(one, tuple) else self.hold(one, node) for one in v.items])
            frame.env[name] = v
            return
        if isinstance(old, Array) or isinstance(old, Var) and old.loop:
            raise self.error(target, f"{name} is {'an array' if isinstance(old, Array) else 'the variable of the loop'}, and is not assigned",
                             f"{name}[i] = … for an element, or another name")
        cls = self.cls(v, node)
        key = (frame.key, name)
        self.place(target)
        if not isinstance(old, Var):
            old = self.typed_variable(key, self.settle(cls, v, node), target, name)
            frame.env[name] = old
            if old.cls is i64 and frame.stored.get(name) == 1 and not any(loop.unrolled for loop in frame.loops):
                old.top = top_of(v)  # no other value is assigned to it
        else:
            beyond = cls is int and isinstance(v, Const) and not old.cls.holds(v.value) and old.cls.kind in "iu"
            old = self.grow(name, self.settle(cls, v, node) if beyond else cls, node)
        if self.dirty and isinstance(v, Const) and old.cls.kind in "iu" and (isinstance(v.value, float) or not old.cls.holds(T.number(v.value))):
            v = Const(0)
        id = self.emit(v, old.cls, node)
        self.place(node)
        self.ok(c.hg_tree_assign(self.tree, old.id, id), node)

    def converted(self, v, cls, node):
        """A value that is assigned to something of that type."""
        have = self.cls(v, node)
        if cls.kind != "f" and (have is float or have not in (int, bool) and have.kind == "f") and cls is not boolean:
            raise self.error(node, f"a float is assigned to {cls.name}", f"say how it is rounded: int(…), round(…), or hg.{cls.name}(…) for its nearest toward zero")
        return Val(cls, self.emit(v, cls, node))

    def subscript(self, target):
        base, indices = target.value, [target.slice]
        while isinstance(base, ast.Subscript):
            base, indices = base.value, [base.slice] + indices
        array = self.expr(base)
        if not isinstance(array, Array):
            raise self.refuse_index(array, target)
        return array, indices

    def check_writable(self, array, target):
        if array.direction == "in":
            raise self.error(target, f"{array.name} is {'a table captured from outside' if array.space == 'data' else 'an In array'} and is not written",
                             None if array.space == "data" else f"declare it hg.Inout[{array.cls.name}, …] or hg.Out[{array.cls.name}, …]")

    def assign_element(self, target, v, node):
        array, indices = self.subscript(target)
        self.check_writable(array, target)
        if any(self.needs_steps(one) for one in indices):
            v = self.hold(v, node)
        v = self.read(v, node)
        if array.cls is boolean:
            value = self.made(c.hg_tree_cast(self.tree, T.u8.code, self.emit(v, boolean, node)), node)
        else:
            value = self.converted(v, array.cls, getattr(node, "value", node)).id
        element = self.element(array, indices, target)
        self.place(node)
        self.ok(c.hg_tree_store_element(self.tree, element, value), node)

    def do_AugAssign(self, node):
        sign = SIGNS.get(type(node.op))
        if not sign:
            what, hint = REFUSED[type(node.op).__name__]
            raise self.error(node, f"{what} cannot be compiled", hint)
        target = node.target
        if isinstance(target, ast.Name):
            if target.id not in self.frame.env:
                raise self.error(target, f"{target.id} has no value here", f"assign it before: {target.id} = 0")
            a, b = self.several([ast.copy_location(ast.Name(target.id, ast.Load()), target), node.value])
            return self.assign_name(target, self.binary(sign, a, b, node), node)
        if not isinstance(target, ast.Subscript):
            raise self.error(target, "an attribute cannot be assigned", "a variable, or an element of an array")
        array, indices = self.subscript(target)
        self.check_writable(array, target)
        parts, held = [part for one in indices for part in (one.elts if isinstance(one, ast.Tuple) else [one])], []
        for k, part in enumerate(parts):  # each is worked out once
            if isinstance(part, (ast.Constant, ast.Name, ast.UnaryOp, ast.Slice)):
                held.append(part)
                continue
            v = self.hold(self.expr(part), part)
            name = f"[{k}]"
            self.frame.env[name] = v
            held.append(ast.copy_location(ast.Name(name, ast.Load()), part))
        load = Val(array.cls, self.element(array, held, target))
        if array.cls is boolean:
            load = Val(boolean, self.emit(Val(T.u8, load.id), boolean, node))
        if self.needs_steps(node.value):
            load = self.hold(load, node)
        b = self.expr(node.value)
        v = self.binary(sign, self.read(load, node), b, node)
        if array.cls is boolean:
            value = self.made(c.hg_tree_cast(self.tree, T.u8.code, self.emit(v, boolean, node)), node)
        else:
            value = self.converted(v, array.cls, node.value).id
        element = self.element(array, held, target)
        self.place(node)
        self.ok(c.hg_tree_store_element(self.tree, element, value), node)

    def do_If(self, node):
        asked = self.truth(node.test)
        if isinstance(asked, Const):
            return self.block(node.body if asked.value else node.orelse)
        self.place(node.test)
        self.ok(c.hg_tree_begin_if(self.tree, asked.id), node)
        before = dict(self.frame.env)
        ends = self.block(node.body)
        after = self.branch_env(before)
        other = True
        if node.orelse:
            self.ok(c.hg_tree_begin_else(self.tree), node)
            other = self.block(node.orelse)
            self.branch_env(before, after)
        self.ok(c.hg_tree_end(self.tree), node)
        return False if not ends and not other and node.orelse else None

    def branch_env(self, before, more=()):
        """Variables that a branch made stay known: that every path gives them a value is checked later."""
        return None

    def broke(self, node):
        """A variable that says whether a loop with else has ended by break."""
        if not node.orelse or not any(isinstance(one, ast.Break) for part in node.body for one in ast.walk(part)):
            return None
        flag = self.temporary(node, boolean, "broke")
        self.ok(c.hg_tree_assign(self.tree, flag.id, self.literal(False, boolean, node)), node)
        return flag

    def loop_else(self, node, flag):
        if not node.orelse:
            return
        if flag is None:
            self.block(node.orelse)
            return
        asked = self.made(c.hg_tree_unary(self.tree, c.HG_TREE_NOT, self.emit(flag, boolean, node)), node)
        self.ok(c.hg_tree_begin_if(self.tree, asked), node)
        self.block(node.orelse)
        self.ok(c.hg_tree_end(self.tree), node)

    def do_While(self, node):
        flag = self.broke(node)
        self.place(node.test)
        if self.needs_steps(node.test):
            self.ok(c.hg_tree_begin_loop(self.tree), node)
            asked = self.truth(node.test)
            stop = self.made(c.hg_tree_unary(self.tree, c.HG_TREE_NOT, self.emit(asked, boolean, node)), node)
            self.ok(c.hg_tree_begin_if(self.tree, stop), node)
            self.ok(c.hg_tree_break(self.tree), node)
            self.ok(c.hg_tree_end(self.tree), node)
        else:
            asked = self.truth(node.test)
            if isinstance(asked, Const):
                if not asked.value:
                    self.loop_else(node, None)
                    return
                self.ok(c.hg_tree_begin_loop(self.tree), node)
            else:
                self.ok(c.hg_tree_begin_while(self.tree, asked.id), node)
        self.body(node, flag)

    def body(self, node, flag):
        self.frame.loops.append(Loop(flag))
        self.block(node.body)
        self.frame.loops.pop()
        self.place(node)
        self.ok(c.hg_tree_end(self.tree), node)
        self.loop_else(node, flag)

    def do_Break(self, node):
        if self.frame.loops[-1].unrolled:
            raise self.error(node, "break in a loop over a tuple, which is written out", "an if around what follows, or a loop over range(…)")
        if self.frame.loops[-1].broke:
            self.ok(c.hg_tree_assign(self.tree, self.frame.loops[-1].broke.id, self.literal(True, boolean, node)), node)
        self.ok(c.hg_tree_break(self.tree), node)
        return False

    def do_Continue(self, node):
        if self.frame.loops[-1].unrolled:
            raise self.error(node, "continue in a loop over a tuple, which is written out", "an if around what follows, or a loop over range(…)")
        self.ok(c.hg_tree_continue(self.tree), node)
        return False

    def do_For(self, node):
        call, backwards = node.iter, 0
        if self.is_call(call, reversed) and len(call.args) == 1:
            call, backwards = call.args[0], 1
        if not self.is_call(call, range):
            return self.unroll(node)
        if not isinstance(node.target, ast.Name):
            raise self.error(node.target, "the variable of a loop over range(…) is a name", "for i in range(…)")
        if call.keywords or not 1 <= len(call.args) <= 3:
            raise self.error(call, "range takes 1 to 3 numbers", "range(stop), range(start, stop), range(start, stop, step)")
        values = self.several(call.args)
        start, stop = (Const(0), values[0]) if len(values) == 1 else values[:2]
        step = values[2] if len(values) == 3 else None
        cls = None
        for v, part in zip(values[:2], call.args):
            one = self.cls(v, part)
            if one is float or one not in (int, bool) and one.kind == "f":
                raise self.error(part, "range takes integers, not a float", "int(…) around it")
            one = one if one is not boolean else i32
            cls = one if cls is None else self.join(cls, one, part)
        if cls is int and any(isinstance(v, Const) and not i32.holds(v.value) for v in values):
            cls = i64
        if step is not None:
            one = self.cls(step, call.args[2])
            if one is float or one not in (int, bool) and one.kind == "f":
                raise self.error(call.args[2], "range takes integers, not a float", "int(…) around it")
            if isinstance(step, Const) and step.value == 0:
                raise self.error(call.args[2], "the step of range is not 0")
            if one not in (int, bool) and cls is not int and one is not boolean and settled(cls).kind == "i":
                cls = self.join(cls, one, call)
            elif one not in (int, bool) and cls is int:
                cls = one if one.kind == "i" else i64
        cls = settled(cls)
        self.known.types[self.frame.key, "for", node.lineno, node.col_offset] = cls
        signed = cls if cls.kind == "i" else T.TYPES["i" + str(cls.bits)]
        flag = self.broke(node)
        self.place(call)
        first, last = self.emit(start, cls, call), self.emit(stop, cls, call)
        by = 0 if step is None else self.emit(step, signed, call)
        name, frame = node.target.id, self.frame
        if name not in frame.direct:
            old = frame.env.get(name)
            if isinstance(old, Array):
                raise self.error(node.target, f"{name} is an array, and is not assigned", "another name")
            if not isinstance(old, Var):
                frame.env[name] = self.typed_variable((frame.key, name), cls, node.target, name)
            else:
                self.grow(name, cls, node.target)
        self.place(node.target)
        variable = self.made(c.hg_tree_begin_for(self.tree, name.encode(), first, last, by, backwards), node)
        if name in frame.direct:
            up = top_of(start) is not None and (step is None or isinstance(step, Const) and step.value > 0)
            frame.env[name] = Var(cls, variable, True, top_of(stop) if up and cls is i64 else None)
        else:
            held = frame.env[name]
            value = self.emit(Var(cls, variable), held.cls, node)
            self.ok(c.hg_tree_assign(self.tree, held.id, value), node)
        self.body(node, flag)
        if name in frame.direct:
            del frame.env[name]

    def is_call(self, node, function):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in self.frame.env):
            return False
        found = self.expr(node.func)
        return isinstance(found, Const) and found.value is function

    def unroll(self, node):
        """A loop over a tuple, or a table: its body once for each item."""
        from . import _functions
        if isinstance(node.iter, ast.Call):
            called = self.expr(node.iter.func)
            if isinstance(called, Const) and called.value is _functions.static_range:
                numbers = [self.expr(one) for one in node.iter.args]
                if not all(isinstance(v, Const) and isinstance(v.value, int) for v in numbers):
                    raise self.error(node.iter, "static_range takes numbers that are known when the kernel is compiled", "range(…)")
                items = [Const(i) for i in range(*(v.value for v in numbers))]
                return self.unrolled(node, items)
            raise self.error(node.iter, "a loop goes over range(…), a tuple or hg.static_range(…)", "for i in range(len(x)): … x[i]")
        v = self.expr(node.iter)
        if isinstance(v, Array) and v.space == "data" and len(v.shape) == 1:
            v = Tup([Const(one if v.cls in (i32, f32) else v.cls(one)) for one in v.values])
        if isinstance(v, Array):
            raise self.error(node.iter, "a loop goes over range(…), a tuple or hg.static_range(…)", f"for i in range(len({v.name})): … {v.name}[i]")
        if not isinstance(v, Tup):
            raise self.error(node.iter, f"a loop goes over range(…), not {what_is(v)}", "for i in range(…)")
        return self.unrolled(node, [one if isinstance(one, tuple) else self.hold(one, node) for one in v.items])

    def unrolled(self, node, items):
        if len(items) > 256:
            raise self.error(node.iter, f"a loop over {len(items)} items is written out: 256 at most", "range(…)")
        frame = self.frame
        frame.loops.append(Loop(None, True))
        for one in items:
            v = self.item_value(one, node)
            if isinstance(node.target, ast.Name) and frame.stored.get(node.target.id, 0) == 1:
                frame.env[node.target.id] = self.hold(v, node)
            elif isinstance(node.target, ast.Name):
                frame.env.pop(node.target.id, None) if not isinstance(frame.env.get(node.target.id), Var) else None
                self.assign_name(node.target, v, node)
            else:
                if not isinstance(v, Tup) or len(v.items) != len(node.target.elts):
                    raise self.error(node.target, f"{what_is(v)} cannot be taken apart here")
                for part, inner in zip(node.target.elts, v.items):
                    frame.env[part.id] = self.hold(self.item_value(inner, node), node)
            self.block(node.body)
        frame.loops.pop()
        self.block(node.orelse)
