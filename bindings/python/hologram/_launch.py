"""Calls of kernels: arguments to memory, extents and scalars, and the launch."""
import ctypes
import inspect

from . import _errors, _executor, _native, _program, types
from . import _interface as c
from ._errors import check
from ._scalar import Parameter, Scalar, boolean, is_open, static, type_of, u8, u64
from ._values import FAR

FORMATS = {"f32": "f", "f64": "d", "f16": "e", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "il", "u32": "IL", "i64": "lq", "u64": "LQ", "bool": "?", "bf16": "E"}


class Memory:
    """The memory of an argument. view: kept as long as the launch needs it. given: the argument."""
    __slots__ = ("address", "size", "shape", "view", "given")

    def __init__(self, address, size, shape, view, given):
        self.address, self.size, self.shape, self.view, self.given = address, size, shape, view, given


def memory_of(kernel, p, given):
    cls, name = p.kind.type, p.name
    where = f"{kernel.name}: {name}"
    if isinstance(given, _native.Array):
        if given.dtype.short != cls.name and not (cls.name == "bool" and given.dtype.short == "u8"):
            raise TypeError(f"{where} is of {given.dtype}: expected {cls.name}; convert it, as with x.astype")
        if not given.is_contiguous:
            raise ValueError(f"{where} does not lie in row order: make a copy that does, as x.contiguous()")
        address = _native.address_of(given) if given.size and given.executor.backend == "cpu" else 0
        return Memory(address, given.nbytes, given.shape, given, given)
    try:
        view = memoryview(given)
    except TypeError:
        raise TypeError(f"{where} is a {type(given).__name__}: expected an array of {cls.name} with the buffer protocol, as NumPy's") from None
    except (ValueError, BufferError) as error:
        if not hasattr(given, "__array_interface__"):
            raise TypeError(f"{where}: {error}") from None
        view = memoryview(given.view(f"u{given.itemsize}"))  # bfloat16 of ml_dtypes
        if type_of(given.dtype) is not cls:
            raise TypeError(f"{where} is of {given.dtype}: expected {cls.name}") from None
    else:
        letter = view.format.lstrip("@=<|")
        good = letter in FORMATS.get(cls.name, "") and letter and view.itemsize == cls.size or cls.bits > 64 and view.itemsize in (1, cls.size)
        if not good:
            got = getattr(getattr(given, "dtype", None), "name", None) or f"the format {view.format!r}"
            raise TypeError(f"{where} is of {got}: expected {cls.name}; convert it, as with x.astype")
    if not view.c_contiguous:
        raise ValueError(f"{where} does not lie in row order: make a copy that does, as numpy.ascontiguousarray")
    if view.readonly and p.kind.direction != "In":
        raise ValueError(f"{where} is read-only, and the kernel writes it")
    return Memory(_native.address_of(view), view.nbytes, view.shape, view, given)


def open_types(kernel, given):
    """Type variable of the signature -> type, as the arrays say."""
    found = {}
    for p in kernel.parameters:
        if not isinstance(p.kind, Parameter) or not is_open(p.kind.type):
            continue
        if p.name not in given:
            raise TypeError(f"{kernel.name} needs the array {p.name}")
        value, variable = given[p.name], p.kind.type
        dtype = getattr(value, "dtype", None)
        try:
            dtype = dtype or types.by_code(_native.buffer_of(value)[1])
        except TypeError:
            pass
        cls = dtype and type_of(dtype)
        if not cls:
            raise TypeError(f"{kernel.name}: {p.name} is {'of ' + str(dtype) if dtype else 'a ' + type(value).__name__}: expected an array")
        before = found.setdefault(variable, (cls, p.name))
        if before[0] is not cls:
            raise TypeError(f"{kernel.name}: {variable.__name__} is {before[0].name} by {before[1]} and {cls.name} by {p.name}")
    return {variable: cls for variable, (cls, _) in found.items()}


def solve(kernel, memories):
    """The extents that the shapes of the arrays say: name -> (value, array that said it)."""
    import ast
    found, later = {}, []
    for p in kernel.parameters:
        memory = memories.get(p.name)
        if memory is None or not p.kind.shape:
            continue
        if len(memory.shape) != len(p.kind.shape):
            raise ValueError(f"{kernel.name}: {p.name} has {len(memory.shape)} axes, shape {tuple(memory.shape)}: expected {len(p.kind.shape)}, {shape_text(p)}")
        for axis, (extent, have) in enumerate(zip(p.kind.shape, memory.shape)):
            if isinstance(extent, str) and extent.isidentifier():
                before = found.setdefault(extent, (have, p.name, axis))
                if before[0] != have:
                    raise ValueError(f"{kernel.name}: {extent} is {before[0]} by {before[1]} (axis {before[2]}) and {have} by {p.name} (axis {axis})")
            else:
                later.append((p, axis, extent, have))
    for p, axis, extent, have in later:
        if isinstance(extent, int):
            want = extent
        else:
            tree = ast.parse(extent, mode="eval")
            names = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)} - {"ceil", "min", "max"}
            unknown = names - set(found)
            if len(unknown) == 1 and isinstance(tree.body, ast.BinOp) and isinstance(tree.body.left, ast.Name) and isinstance(tree.body.right, ast.Constant):
                value, by = tree.body.left.id, tree.body.right.value
                solved = {ast.Add: have - by, ast.Sub: have + by, ast.Mult: have // by if by and have % by == 0 else None}.get(type(tree.body.op))
                if value in unknown and solved is not None and solved >= 0:
                    found[value] = (solved, p.name, axis)
                    continue
            if unknown:
                raise ValueError(f"{kernel.name}: the extent {sorted(unknown)[0]} cannot be found from the shapes of the arrays")
            want = evaluate(tree.body, {name: found[name][0] for name in names})
        if want != have:
            raise ValueError(f"{kernel.name}: {p.name} has {have} elements along axis {axis}, expected {extent}{'' if isinstance(extent, int) else f' = {want}'}")
    for name, (value, array, axis) in found.items():
        if value > FAR:
            raise ValueError(f"{kernel.name}: {name} is {value} by {array} (axis {axis}): extents up to 2^56 are expected")
    return {name: value for name, (value, _, _) in found.items()}


def evaluate(node, values):
    """An extent that is an expression."""
    import ast
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.BinOp):
        a, b = evaluate(node.left, values), evaluate(node.right, values)
        return {ast.Add: lambda: a + b, ast.Sub: lambda: a - b, ast.Mult: lambda: a * b, ast.Div: lambda: a // b, ast.FloorDiv: lambda: a // b}[type(node.op)]()
    if node.func.id == "ceil":
        return -(-evaluate(node.args[0].left, values) // evaluate(node.args[0].right, values))
    return {"min": min, "max": max}[node.func.id](evaluate(one, values) for one in node.args)


def shape_text(p):
    return "[" + ", ".join(map(str, p.kind.shape)) + "]"


def scalar_of(kernel, p, given):
    """The number of a scalar argument."""
    cls = p.kind
    value = given.value if isinstance(given, Scalar) else given
    if not isinstance(value, (bool, int, float)):
        if getattr(getattr(value, "dtype", None), "kind", None) == "f":
            value = float(value)
        elif hasattr(value, "__index__"):
            value = value.__index__()
        elif hasattr(value, "__float__") and not isinstance(value, str):
            value = float(value)
        else:
            raise TypeError(f"{kernel.name}: {p.name} is a {type(value).__name__}: expected a number, {cls.name}")
    if cls.kind in "iu":
        if isinstance(value, float):
            if not value.is_integer():
                raise TypeError(f"{kernel.name}: {p.name} is {value}: expected an integer, {cls.name}")
            value = int(value)
        if not cls.holds(value):
            raise OverflowError(f"{kernel.name}: {p.name} is {value}: {cls.name} goes from {cls.range()[0]} to {cls.range()[1]}")
    return cls.fit(value)


def prepare(kernel, lanes, arguments, keywords):
    """(compiled, memories, scalars, lanes): what a launch needs."""
    given = _program.by_name(kernel.name, [p.name for p in kernel.parameters], arguments, keywords)
    memories, numbers, statics = {}, {}, {}
    for p in kernel.parameters:
        if p.kind is static:
            if p.name in given:
                statics[p.name] = given[p.name]
            elif p.default is not inspect.Parameter.empty:
                statics[p.name] = p.default
        elif isinstance(p.kind, Parameter):
            if p.name not in given:
                raise TypeError(f"{kernel.name} needs the array {p.name}")
            memories[p.name] = memory_of(kernel, p, given[p.name])
        elif p.name in given:
            numbers[p.name] = scalar_of(kernel, p, given[p.name])
    extents = solve(kernel, memories)
    for p in kernel.parameters:
        if isinstance(p.kind, type):
            if p.name in extents:
                if numbers.setdefault(p.name, extents[p.name]) != extents[p.name]:
                    raise ValueError(f"{kernel.name}: {p.name} is {numbers[p.name]}, and {extents[p.name]} by the shapes of the arrays")
            elif p.name not in numbers:
                if p.default is None:
                    raise TypeError(f"{kernel.name} needs the number {p.name}")
                numbers[p.name] = scalar_of(kernel, p, p.default)
    compiled = kernel.compile(**statics)
    classes = {p.name: p.kind for p in kernel.parameters if isinstance(p.kind, type)}
    scalars = [(name, u8 if classes[name] is boolean else classes[name], int(value) if classes[name] is boolean else value) for name, value in numbers.items()]
    scalars += [(name, u64, value) for name, value in extents.items() if name not in numbers]
    if compiled.axes:
        shape = first_shape(kernel, memories) if lanes is None else lanes
        if len(shape) != compiled.axes:
            raise ValueError(f"{kernel.name} has a grid of {compiled.axes} axes, and is launched over {tuple(shape)}")
        scalars += [(f"lanes_{axis}", u64, extent) for axis, extent in enumerate(shape)]
    return compiled, memories, scalars


def first_shape(kernel, memories):
    return memories[kernel.output.name].shape


def launch_of(kernel, lanes, memories):
    """The structure of a launch; None: as the program says."""
    if lanes is None and (kernel.grid or kernel.output.kind.shape):
        return None
    count = 1
    for one in (first_shape(kernel, memories) if lanes is None else lanes):
        count *= one
    if count >= 1 << 64:
        raise ValueError(f"{kernel.name}: {count} lanes, fewer than 2^64 are expected")
    made = c.hg_launch(size=ctypes.sizeof(c.hg_launch))
    if not kernel.block:
        c.hg_launch_set_linear(ctypes.byref(made), count)
        return made
    block = [*kernel.block, 1, 1][:3]
    made.block[:] = block
    size = block[0] * block[1] * block[2]
    blocks = -(-count // size)
    if blocks >= 1 << 32:
        raise ValueError(f"{kernel.name}: {blocks} blocks, fewer than 2^32 are expected")
    made.grid[:] = [blocks, 1, 1]
    made.lanes = count
    return made


def bound(kernel, lanes, arguments, keywords, keep=False):
    """A launch of the kernel for these arguments; None: it ran, with copies, on a device that does not see the host's memory."""
    kernel = kernel.for_arguments(arguments, keywords)
    compiled, memories, scalars = prepare(kernel, lanes, arguments, keywords)
    arrays = [m.given for m in memories.values() if isinstance(m.given, _native.Array)]
    executor = arrays[0].executor if arrays else _executor.executor_of(kernel.device)
    values = _program._Bound(executor)
    values.back = None if keep else []
    try:
        for p in kernel.parameters:
            if p.name in memories:
                memory = memories[p.name]
                if executor.backend == "cpu":
                    values.import_memory(p.name, memory.address, memory.size)
                    values.keeps.append(memory.view)
                else:
                    values.array(p.name, memory.given, p.kind.direction != "In")
        for name, cls, number in scalars:
            values.pattern(name, cls, number)
        launch = launch_of(kernel, lanes, memories)
        made = ctypes.c_void_p()
        check(c.hg_binding_create(compiled.program.executable(executor), launch and ctypes.byref(launch), values.params, ctypes.byref(made)))
        again = executor.backend == "cpu" and not compiled.copies and all(
            p.name in memories or _program.keyed(value) for p, value in zip(kernel.parameters, arguments))
        ready = _program.Launch._of(made.value, (compiled, executor, *(() if again and not keep else values.keeps)), again)
        if not values.back:
            return ready
        try:
            ready.launch()
        except _errors.Error as error:
            raise at_line(kernel, error) from None
        finally:
            values.copy_back()
        return None
    finally:
        values.free()


def at_line(kernel, error):
    """A fault with the line of Python where it happened."""
    if not error.line:
        return error
    from ._source import message_at
    file, line = kernel.place(error.line)
    where = f", in lane {error.lane}" if error.lane is not None else ""
    text = message_at(file, line, error.column or 1, error.length or 1, f"{error.text}{where}", kind="fault")
    made = type(error)(text, **{name: value for name, value in vars(error).items() if name not in ("text", "line")}, line=line)
    made.file = file
    return made
