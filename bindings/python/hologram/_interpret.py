"""Kernels as plain Python, a lane at a time: the function's own lines, with values that have the kernel's types.

The syntax tree gets calls around what gives a type in a kernel (assignments, ranges, calls, captured tables) and keeps its lines, so that pdb and
coverage see the function. The lanes of a block take turns, in threads, from one barrier to the next.
"""
import ast
import ctypes
import inspect
import threading
import types as python_types

from . import _functions, _launch, _program
from . import _interface as c
from . import _scalar as T
from ._errors import ExecutionError
from ._scalar import Parameter, Scalar, boolean, i32, settled, static

_local = threading.local()


def lane():
    """The lane that runs in this thread; None: none does."""
    return getattr(_local, "lane", None)


class Cells:
    """An array of a kernel: its elements as typed values."""

    def __init__(self, cls, shape, data, name="", space="private", declared=None):
        self.cls, self.extents, self.data, self.name, self.space = cls, tuple(shape), data, name, space
        self.ndim = len(self.extents)
        self.shape = tuple(T.i64(one) if isinstance(how, str) else one for one, how in zip(self.extents, declared or self.extents))

    @classmethod
    def zeros(cls, kind, shape, **more):
        shape = shape if isinstance(shape, tuple) else (shape,)
        return cls(kind, shape, bytearray(max(1, kind.size) * product(shape)), **more)

    size = property(lambda self: product(self.shape))
    dtype = property(lambda self: self.cls)

    def place(self, index):
        index = index if isinstance(index, tuple) else (index,)
        shape = self.extents if self.ndim else (len(self.data) // max(1, self.cls.size),)
        place = 0
        for one, extent in zip(index, shape):
            number = one.__index__()
            if not isinstance(one, Scalar) and number < 0:
                number += extent
            if not 0 <= number < extent:
                raise ExecutionError(f"Execution failed: access out of bounds: index {number} of '{self.name}', which has {extent} elements along this axis",
                                     code="F01", lane=lane().number)
            place = place * extent + number
        return place * max(1, self.cls.size)

    def __getitem__(self, index):
        if self.ndim > 1 and (not isinstance(index, tuple) or len(index) < self.ndim):
            return Row(self, index if isinstance(index, tuple) else (index,))
        place = self.place(index)
        return _functions.from_bytes(self.cls, bytes(self.data[place:place + max(1, self.cls.size)]))

    def __setitem__(self, index, value):
        place, size = self.place(index), max(1, self.cls.size)
        value = self.cls.fit(T.number(value))
        self.data[place:place + size] = self.cls.pattern(value).to_bytes(size, "little")


class Row:
    def __init__(self, cells, index):
        self.cells, self.index = cells, index

    def full(self, index):
        return self.index + (index if isinstance(index, tuple) else (index,))

    def __getitem__(self, index):
        return self.cells[self.full(index)]

    def __setitem__(self, index, value):
        self.cells[self.full(index)] = value


class Table:
    """Captured numbers: an element at a known index is a number, else of the table's type."""

    def __init__(self, name, value):
        from ._values import flatten
        self.name, self.space = name, "data"
        self.shape, self.flat, cls = flatten(value)
        if cls is int and not all(i32.holds(one) for one in self.flat):
            cls = T.i64
        self.cls, self.weak = settled(cls), cls in (int, float, bool)

    def __iter__(self):
        return iter(self.flat if self.weak else map(self.cls, self.flat))

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        if len(index) < len(self.shape):
            return Row(self, index)
        place = 0
        for one, extent in zip(index, self.shape):
            number = one.__index__()
            number += extent if number < 0 and not isinstance(one, Scalar) else 0
            if not 0 <= number < extent:
                raise ExecutionError(f"Execution failed: access out of bounds: index {number} of '{self.name}', which has {extent} elements", code="F01")
            place = place * extent + number
        value = self.flat[place]
        known = not any(isinstance(one, Scalar) for one in index)
        return value if known and self.weak else self.cls(value)


def product(shape):
    count = 1
    for one in shape:
        count *= one
    return count


# ---- the tree ----

def call(name, *arguments):
    return ast.Call(ast.Attribute(ast.Name("__hg", ast.Load()), name, ast.Load()), list(arguments), [])


class Rewriter(ast.NodeTransformer):
    def __init__(self, stored, parameters):
        self.stored, self.parameters = stored, parameters

    def at(self, node, made):
        ast.copy_location(made, node)
        ast.fix_missing_locations(made)
        return made

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and node.id not in self.stored and node.id not in self.parameters:
            return self.at(node, call("captured", ast.Constant(node.id), node))
        return node

    def visit_Assign(self, node):
        value = self.visit(node.value)
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple):
            names = ast.Tuple([ast.Constant(one.id if isinstance(one, ast.Name) else None) for one in node.targets[0].elts], ast.Load())
            value = call("many", names, value)
        else:
            for one in node.targets:
                if isinstance(one, ast.Name):
                    value = call("assign", ast.Constant(one.id), value)
        node.targets = [self.visit(one) for one in node.targets]
        node.value = self.at(node.value, value)
        return node

    def visit_AnnAssign(self, node):
        if node.value is None:
            return self.at(node, ast.Pass())
        value = call("convert", self.visit(node.annotation), self.visit(node.value))
        if isinstance(node.target, ast.Name):
            value = call("assign", ast.Constant(node.target.id), value)
        return self.at(node, ast.Assign([self.visit(node.target)], value))

    def visit_AugAssign(self, node):
        if not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, self.visit(node.value))
        return self.at(node, ast.Assign([node.target], call("assign", ast.Constant(node.target.id), value)))

    def visit_NamedExpr(self, node):
        node.value = self.at(node.value, call("assign", ast.Constant(node.target.id), self.visit(node.value)))
        return node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        return self.at(node, call("power", node.left, node.right)) if isinstance(node.op, ast.Pow) else node

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return self.at(node, call("truth", node)) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node):
        key = ast.Tuple([ast.Constant("if"), ast.Constant(node.lineno), ast.Constant(node.col_offset)], ast.Load())
        return self.at(node, call("meet", key, self.generic_visit(node)))

    def visit_BoolOp(self, node):
        key = ast.Tuple([ast.Constant("or"), ast.Constant(node.lineno), ast.Constant(node.col_offset)], ast.Load())
        return self.at(node, call("meet", key, self.generic_visit(node)))

    def visit_For(self, node):
        line, column = node.lineno, node.col_offset
        node = self.generic_visit(node)
        name = ast.Constant(node.target.id if isinstance(node.target, ast.Name) else None)
        node.iter = self.at(node.iter, call("over", name, ast.Constant(line), ast.Constant(column), node.iter))
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        return self.at(node, ast.Call(ast.Attribute(ast.Name("__hg", ast.Load()), "call", ast.Load()), [node.func, *node.args], node.keywords))


class Scope:
    """What the rewritten lines of one function call: types of its names are those of the kernel's."""

    def __init__(self, run, key, shift):
        self.run, self.key, self.shift = run, key, shift

    def typed(self, name, value):
        cls = self.run.known.types.get((self.key, name))
        return value if cls is None or not T.kind_of(value) else value if type(value) is cls else convert(cls, value)

    assign = typed

    def many(self, names, values):
        return tuple(self.typed(name, value) if name else value for name, value in zip(names, list(values)))

    def convert(self, kind, value):
        return convert(T.type_of(kind), value)

    def meet(self, key, value):
        return self.typed_key((self.key, key[0], key[1], key[2]), value)

    def typed_key(self, key, value):
        cls = self.run.known.types.get(key)
        return value if cls is None or not T.kind_of(value) else convert(cls, value)

    def captured(self, name, value):
        if isinstance(value, (list, tuple)) or T.is_array(value):
            if isinstance(value, tuple) and not all(isinstance(one, (bool, int, float, Scalar, list, tuple)) for one in value):
                return value
            return Table(name, value)
        if T.is_typed(value):
            return convert(T.type_of(value.dtype), value.item())
        return self.run.kernel.types[value] if T.is_open(value) else value

    def truth(self, value):
        return boolean(value)

    def power(self, a, b):
        return _functions.power(a, b)

    def over(self, name, line, column, values):
        types = self.run.known.types
        cls = types.get((self.key, name)) or types.get((self.key, "for", line, column))
        return values if cls is None else map(cls, values)

    def call(self, function, *arguments, **keywords):
        if function is range:
            return range(*(one.__index__() for one in arguments))
        if function is reversed:
            return reversed(*arguments)
        found = _functions.find_entry(function)
        if found is not None:
            return found.run(*arguments, **keywords)
        if isinstance(function, python_types.FunctionType):
            return self.run.call_function(function, arguments, keywords)
        return function(*arguments, **keywords)


def convert(cls, value):
    return value if type(value) is cls else cls(value)


class Block:
    """Shared memory and turns of the lanes of a block."""

    def __init__(self, count):
        self.arrays, self.count, self.values, self.results = {}, count, {}, {}


class Meeting:
    """Where the lanes of a launch meet: those that have come this time, and how often they met."""

    def __init__(self, count):
        self.count, self.came, self.times, self.blocks, self.votes = count, 0, 0, [], []


class Lane:
    def __init__(self, number, count, geometry, extents, block):
        self.number, self.count, self.extents, self.of = number, count, extents, block
        self.block_dim, self.grid_dim, self.block_idx, self.lane_idx = geometry
        self.made, self.turn, self.back = 0, None, None

    def shared(self, cls, shape):
        key, self.made = self.made, self.made + 1
        return self.of.arrays.setdefault(key, Cells.zeros(cls, shape, name="shared", space="shared"))

    def meet(self):
        """Gives the turn away, until all lanes of the block have come."""
        if self.turn is None:
            raise TypeError("the lanes of a block meet here: say how many there are, @hg.kernel(block=64)")
        self.back.release()
        self.turn.acquire()

    def meet_all(self):
        """The same of all lanes of the launch."""
        meeting, times = self.meeting, self.meeting.times
        meeting.came += 1
        if meeting.came == meeting.count:
            meeting.came, meeting.times = 0, times + 1
            for block in meeting.blocks:
                for cells in block.arrays.values():
                    cells.data[:] = bytes(len(cells.data))
        while meeting.times == times:
            self.meet()


def in_block(mnemonic, value, other=None):
    """An instruction over the lanes of the block: all values are gathered, and the library works them out."""
    me = lane()
    cls = boolean if mnemonic in ("block.any", "block.all") else settled(T.kind_of(value))
    index = me.number - me.of.first
    me.of.values[index] = convert(cls, value)
    me.meet()
    if mnemonic in ("block.any", "block.all"):
        result = T.boolean((any if mnemonic == "block.any" else all)(me.of.values.values()))
    elif mnemonic == "shuffle":
        result = me.of.values.get(int(other), cls(0))
    else:
        if mnemonic not in me.of.results:
            me.of.results[mnemonic] = over_block(mnemonic, cls, [me.of.values[k] for k in sorted(me.of.values)], bool(other))
        result = me.of.results[mnemonic][sorted(me.of.values).index(index)]
    me.meet()
    me.of.values.clear()
    me.of.results.clear()
    me.meet()
    return result


def in_launch(mnemonic, condition):
    """A vote of all lanes of the launch; those that come first read it before the next one is over."""
    me = lane()
    votes = me.meeting.votes
    votes.append(bool(convert(boolean, condition)))
    if len(votes) == me.meeting.count:
        me.meeting.votes = []
    me.meet_all()
    return boolean((any if mnemonic == "grid.any" else all)(votes))


def over_block(mnemonic, cls, values, exclusive):
    n = len(values)
    name = {"breduce": "block_", "bscan": "scan_"}[mnemonic.split(".")[0]]
    text = (f".atlas 1\n.program one\n.param x buffer {cls.name} in [{n}]\n.param y buffer {cls.name} out [{n}]\n.block {n}\n.lanes {n}\n"
            f"    let v = x[global]\n    {mnemonic} v, v{', exclusive=true' if exclusive and name == 'scan_' else ''}\n    y[global] = v\n").encode()
    program, out = ctypes.c_void_p(), ctypes.create_string_buffer(n * cls.size)
    from ._errors import check
    from ._program import run_once
    check(c.hg_program_assemble(text, len(text), None, ctypes.byref(program)))
    data = ctypes.create_string_buffer(b"".join(cls.pattern(v.value).to_bytes(cls.size, "little") for v in values))
    try:
        run_once(program, {"x": (ctypes.addressof(data), n * cls.size), "y": (ctypes.addressof(out), n * cls.size)}, [])
    finally:
        c.hg_program_release(program)
    return [_functions.from_bytes(cls, out.raw[k * cls.size:(k + 1) * cls.size]) for k in range(n)]


class Interpreted:
    """A kernel that is run by Python. debug: the lane in which pdb stops, or None."""

    def __init__(self, kernel, lanes, debug):
        self.kernel, self.lanes, self.debug, self.functions = kernel, lanes, debug, {}

    def __getitem__(self, lanes):
        return Interpreted(self.kernel, lanes if isinstance(lanes, tuple) else (lanes,), self.debug)

    def function(self, function, key, names):
        """The rewritten function, for a set of types."""
        if (function, key) not in self.functions:
            from ._values import names_stored
            from ._source import Source
            source = Source(function)
            node = source.node
            node.decorator_list, node.returns = [], None
            for one in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
                one.annotation = None
            node.args.defaults, node.args.kw_defaults = [], [None] * len(node.args.kwonlyargs)
            rewriter = Rewriter(names_stored(node), set(names))
            node.body = [rewriter.visit(one) for one in node.body]
            ast.increment_lineno(node, source.first)
            ast.fix_missing_locations(node)
            scope = dict(function.__globals__)
            scope.update(zip(function.__code__.co_freevars, (cell.cell_contents for cell in function.__closure__ or ())))
            scope["__hg"] = Scope(self, key, source.first)
            exec(compile(ast.Module([node], []), source.file, "exec"), scope)
            self.functions[function, key] = scope[node.name]
        return self.functions[function, key]

    def call_function(self, function, arguments, keywords):
        bound = inspect.signature(function).bind(*arguments, **keywords)
        bound.apply_defaults()
        key = []
        for name, v in bound.arguments.items():
            key.append((name, type(v)) if isinstance(v, Scalar) else (name, v.name, v.space) if isinstance(v, (Cells, Table)) else (name, type(v), v))
        full = (function.__code__, tuple(key))
        scope = Scope(self, full, 0)
        given = {name: scope.typed(name, v) for name, v in bound.arguments.items()}
        result = self.function(function, full, given)(**given)
        results = self.known.results.get(full)
        if not results:
            return None
        return tuple(convert(cls, one) for cls, one in zip(results, result)) if len(results) > 1 else convert(results[0], result)

    def __call__(self, *arguments, **keywords):
        kernel = self.kernel.for_arguments(arguments, keywords)
        if kernel is not self.kernel:
            return Interpreted(kernel, self.lanes, self.debug)(*arguments, **keywords)
        lanes = self.lanes if self.lanes is None or isinstance(self.lanes, tuple) else (self.lanes,)
        compiled, memories, scalars = _launch.prepare(kernel, lanes, arguments, keywords)
        self.known, self.functions = kernel.learned(compiled), {}
        numbers = {name: value for name, _, value in scalars}
        given = _program.by_name(kernel.name, [p.name for p in kernel.parameters], arguments, keywords)
        values = {}
        for p in kernel.parameters:
            if isinstance(p.kind, Parameter):
                m = memories[p.name]
                raw = (ctypes.c_char * m.size).from_address(m.address) if m.size else bytearray()
                values[p.name] = Cells(p.kind.type, m.shape, memoryview(raw).cast("B"), p.name, "param", p.kind.shape)
            elif p.kind is static:
                values[p.name] = given.get(p.name, p.default)
            else:
                values[p.name] = convert(p.kind, numbers[p.name])
        self.launch(lanes, memories, values)

    def launch(self, lanes, memories, values):
        kernel = self.kernel
        shape = lanes or _launch.first_shape(kernel, memories)
        count = product(shape)
        block = [*kernel.block, 1, 1][:3] if kernel.block else [min(max(count, 1), 256), 1, 1]
        size = product(block)
        grid = [-(-count // size), 1, 1]
        if kernel.grid and lanes is None:
            extents = _launch.solve(kernel, memories)
            grid = [one if isinstance(one, int) else _launch.evaluate(ast.parse(one, mode="eval").body, extents) for one in kernel.grid]
            grid = [*grid, 1, 1][:3]
            count = product(grid) * size
        scope = Scope(self, "", 0)
        names = {p.name for p in kernel.parameters}
        function = self.function(kernel.function, "", names)

        def run(one):
            _local.lane = one
            try:
                given = {name: scope.typed(name, value) for name, value in values.items()}
                if self.debug == one.number:
                    import pdb
                    pdb.Pdb(skip=["hologram.*", "threading"]).runcall(function, **given)
                else:
                    function(**given)
            finally:
                _local.lane = None
        everyone, meeting = [], Meeting(count)
        for b in range(product(grid)):
            of = Block(size)
            of.first = b * size
            meeting.blocks.append(of)
            where = (b % grid[0], b // grid[0] % grid[1], b // (grid[0] * grid[1]))
            made = [Lane(of.first + k, count, (block, grid, where, (k % block[0], k // block[0] % block[1], k // (block[0] * block[1]))), shape, of)
                    for k in range(min(size, count - of.first))]
            for one in made:
                one.meeting = meeting
            if self.known.meets:
                everyone += made
            elif kernel.block:
                self.take_turns(made, run)
            else:
                for one in made:
                    run(one)
        self.take_turns(everyone, run)

    def take_turns(self, lanes, run):
        """The lanes of a block, each in a thread, one after another from barrier to barrier."""
        failed, left = [], list(lanes)

        def body(one):
            one.turn.acquire()
            try:
                if not failed:
                    run(one)
            except BaseException as error:
                failed.append(error)
            one.ended = True
            one.back.release()
        threads = []
        for one in lanes:
            one.turn, one.back, one.ended = threading.Semaphore(0), threading.Semaphore(0), False
            threads.append(threading.Thread(target=body, args=(one,), daemon=True))
            threads[-1].start()
        while left and not failed:
            for one in left:
                one.turn.release()
                one.back.acquire()
            left = [one for one in left if not one.ended]
        if failed:
            raise failed[0]
