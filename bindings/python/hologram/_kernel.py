"""@hg.kernel: functions of Python as programs for every device.

    @hg.kernel
    def axpy(a: hg.f32, x: hg.In[hg.f32, "n"], y: hg.Inout[hg.f32, "n"]):
        i = hg.lane()
        y[i] = a * x[i] + y[i]

    axpy(2.0, x, y)          over the extent of the first output
    axpy[100](2.0, x, y)     over 100 lanes
"""
import ast
import contextlib
import inspect
import linecache
import sys
import threading

from . import _functions, _kept, _native, _program
from . import _interface as c
from ._compile import CompileError, compile_kernel
from ._errors import Error
from ._launch import at_line, bound, open_types
from ._scalar import In, Inout, Out, Parameter, is_open, static, type_of
from ._source import ROOM, Source, lines_of, parameters_of

__all__ = ["In", "Inout", "Kernel", "Out", "interpret", "kernel", "static", "static_range"]
static_range = _functions.static_range
class One:
    """A parameter. kind: a Parameter (an array), a class of _scalar, or static. default: of a scalar."""
    __slots__ = ("name", "kind", "default")

    def __init__(self, name, kind, default):
        self.name, self.kind, self.default = name, kind, default


def blocks_of(block, grid):
    """(lanes of a block, blocks in each direction) as a decorator or a Builder gets them, as tuples."""
    return (block,) if isinstance(block, int) else tuple(block or ()), (grid,) if isinstance(grid, (int, str)) else tuple(grid or ())


def output_of(parameters):
    """The array whose extents are the number of lanes: the first Out, else the first Inout; None: there is none."""
    arrays = [p for p in parameters if isinstance(p.kind, Parameter) and p.kind.direction != "In"]
    return next((p for p in arrays if p.kind.direction == "Out"), arrays[0] if arrays else None)


class Compiled:
    """A program, and what it was compiled from. known: what the compiler found, None where the program comes from the disk."""

    def __init__(self, program, axes, known, depends, statics):
        self.program, self.axes, self.known, self.depends, self.statics = program, axes, known, depends, statics
        self.copies = any(copied is not None for *_, copied in depends)

    def stale(self):
        """Which captured name has another value now; None: none has."""
        for kind, holder, name, value, copied in self.depends:
            if kind == "global":
                now = holder.get(name)
            elif kind == "cell":
                now = holder.cell_contents
            else:
                now = getattr(holder, name, None)
            if now is not value or copied is not None and _kept.frozen(now) != copied:
                return name
        return None


class Kernel(_native.Dispatcher):
    """A function as a program. Called with arrays (of NumPy, of Hologram, or of anything with the buffer protocol) and scalars it is compiled, once for
    each set of static values, and run; it returns when it is done. An array is used in place; one that lies otherwise than in row order is refused.

    signatures: what was compiled so far, and why. Thread-safe.
    """

    def __new__(cls, *_, **__):
        return super().__new__(cls)

    def __init__(self, function, block=None, grid=None, device="cpu", cache=True, of=None, types=None):
        if not callable(function) or not hasattr(function, "__code__"):
            raise TypeError(f"@hg.kernel is for functions written with def, not {function!r}")
        self.function, self.name, self.device, self.cache = function, function.__name__, device, cache
        self.__name__, self.__doc__, self.__wrapped__ = function.__name__, function.__doc__, function
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__
        self.source = of.source if of else Source(function)
        self.block, self.grid = blocks_of(block, grid)
        self.of, self.types = of, types or {}  # of: the kernel whose open types these are
        self.compiled, self.special, self._parameters = {}, {}, None
        self.files, self.lock, self.history, self.sources = (of.files, of.lock, of.history, of.sources) if of else ([], threading.RLock(), [], {})

    def __reduce_ex__(self, protocol):
        """As functions are: by name, where it is found by it. cloudpickle takes functions of the main module and of notebooks apart, so that other
        machines need not have them: there with the text of the definition."""
        apart = "cloudpickle" in sys._getframe(1).f_globals.get("__name__", "")
        if has_name(self) and not (apart and self.__module__ == "__main__"):
            return self.__qualname__
        if self.of:
            raise TypeError(f"{self.name} with types that are chosen is not pickled: the kernel itself is")
        return _again, (self.function, self.block, self.grid, self.device, self.cache, [told(self.function, self.source.text), *called_by(self.function)])

    # ---- the signature ----

    @property
    def parameters(self):
        if self._parameters is None:
            self._parameters = [self.closed(p) for p in self.of.parameters] if self.of else [
                self.parameter(p) for p in inspect.signature(self.function).parameters.values()]
            if output_of(self._parameters) is None:
                raise self.source.error(self.source.node, f"{self.name} has no output", 'a parameter y: hg.Out[hg.f32, "n"]')
            for p in self._parameters:
                if is_open(p.kind) and p.kind not in self.open:
                    name, self._parameters = p.kind.__name__, None
                    raise self.source.error(self.source.node, f"no array of {self.name} has the type {name}", f'x: hg.In[{name}, "n"]')
        return self._parameters

    def parameter(self, p):
        node = next(one for one in parameters_of(self.source.node) if one.arg == p.name)
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise self.source.error(node, f"*{p.name}: a kernel has a fixed number of parameters", "a parameter for each array")
        if p.annotation is p.empty:
            raise self.source.error(node, f"the parameter {p.name} has no type", f'{p.name}: hg.f32, or {p.name}: hg.In[hg.f32, "n"]')
        kind = p.annotation
        if isinstance(kind, str):
            names = {**self.function.__globals__, **{name: cell.cell_contents for name, cell in
                                                     zip(self.function.__code__.co_freevars, self.function.__closure__ or ()) if filled(cell)}}
            try:
                kind = eval(kind, names)
            except Exception as error:
                raise self.source.error(node.annotation, f"the type of {p.name} cannot be read: {type(error).__name__}: {error}",
                                        "hg.f32, hg.In[hg.f32, \"n\"], hg.static") from None
        default = None if p.default is p.empty else p.default
        if kind is static:
            return One(p.name, static, p.default)
        if isinstance(kind, Parameter):
            for extent in kind.shape:
                self.check_extent(extent, node)
            return One(p.name, kind, None)
        cls = kind if is_open(kind) else type_of(kind)
        if cls is None:
            raise self.source.error(node.annotation or node, f"{getattr(kind, '__name__', kind)} is no type of a parameter",
                                    f'{p.name}: hg.f32, {p.name}: hg.In[hg.f32, "n"] or {p.name}: hg.static')
        return One(p.name, cls, default)

    # ---- types that the signature leaves open ----

    @property
    def open(self):
        """Type variables of the signature, of a kernel whose types are not chosen yet."""
        return list(dict.fromkeys(p.kind.type for p in self.parameters if isinstance(p.kind, Parameter) and is_open(p.kind.type)))

    def closed(self, p):
        """A parameter with the types of this kernel."""
        if isinstance(p.kind, Parameter) and is_open(p.kind.type):
            return One(p.name, Parameter(p.kind.direction, self.types[p.kind.type], p.kind.shape), p.default)
        return One(p.name, self.types[p.kind] if is_open(p.kind) else p.kind, p.default)

    def of_types(self, types):
        """The kernel for these types: type variable -> type."""
        for variable, cls in types.items():
            wanted = [type_of(one) for one in variable.__constraints__]
            if wanted and cls not in wanted:
                raise TypeError(f"{self.name}: {variable.__name__} is {cls.name}: expected {' or '.join(one.name for one in wanted)}")
        with self.lock:
            key = tuple(types.values())
            if key not in self.special:
                self.special[key] = Kernel(self.function, self.block, self.grid, self.device, self.cache, self, types)
            return self.special[key]

    def for_arguments(self, arguments, keywords):
        """This kernel, or the one for the types of the arguments where the signature leaves types open."""
        if not self.open:
            return self
        return self.of_types(open_types(self, _program.by_name(self.name, [p.name for p in self.parameters], arguments, keywords)))

    def check_extent(self, extent, node):
        if isinstance(extent, int):
            return
        try:
            tree = ast.parse(extent, mode="eval")
        except SyntaxError:
            tree = None
        good = (ast.Expression, ast.BinOp, ast.Name, ast.Load, ast.Constant, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Call)
        if tree is None or any(not isinstance(one, good) or isinstance(one, ast.Call) and getattr(one.func, "id", "") not in ("ceil", "min", "max")
                               for one in ast.walk(tree)):
            raise self.source.error(node, f"the extent {extent!r} cannot be read", 'a name ("n"), or + - * / ceil(a / b) min max of names and numbers')

    @property
    def output(self):
        """The array whose extents are the number of lanes."""
        return output_of(self.parameters)

    # ---- compiling ----

    def source_of(self, function):
        code = function.__code__
        if code not in self.sources:
            self.sources[code] = Source(function)
        return self.sources[code]

    def place(self, line):
        number = line // ROOM
        return (self.files[number] if number < len(self.files) else self.source.file), line % ROOM

    def compile(self, **statics):
        """The program for these static values, and types by the names of type variables, from the cache where nothing has changed."""
        parameters = self.parameters
        if self.open:
            types = {variable: type_of(statics.pop(variable.__name__, None)) for variable in self.open}
            missing = [variable.__name__ for variable, cls in types.items() if cls is None]
            if missing:
                raise TypeError(f"{self.name} needs the type {missing[0]}: {missing[0]}=hg.f32")
            return self.of_types(types).compile(**statics)
        try:
            key = tuple(sorted((name, type(value).__name__, value) for name, value in statics.items()))
            hash(key)
        except TypeError:
            raise TypeError(f"{self.name}: a static value is a number, a text, a type or a function") from None
        with self.lock:
            old = self.compiled.get(key)
            changed = old.stale() if old else None
            if old and changed is None:
                return old
            missing = [p.name for p in parameters if p.kind is static and p.name not in statics]
            if missing:
                raise TypeError(f"{self.name} needs the static value of {missing[0]}")
            made = self.compiled[key] = self.make(statics, f"{changed} has changed" if changed else "other static values" if len(self.compiled) else
                                                  "other types" if self.history else None)
            kinds, called = {"global": 0, "cell": 1}, self.of or self
            called._watch([(kinds.get(kind, 2), holder, "cell_contents" if kind == "cell" else name, value)
                          for kernel in (called, *called.special.values()) for one in kernel.compiled.values() for kind, holder, name, value, _ in one.depends
                          if getattr(holder, "__name__", None) not in ("hologram", "math")])
            return made

    def make(self, statics, why):
        """A Compiled: from the disk, or compiled."""
        found = _kept.Dependences(self, statics)
        depends = list(found.rows.values())
        kept = _kept.find(self, found) if self.cache else None
        if kept:
            self.history.append((self.signature_text(statics), f"{why}: from the disk" if why else "from the disk"))
            return Compiled(_program.Program._of(kept), _kept.axes_of(kept), None, depends, statics)
        program, known = self.translate(statics)
        program = _program.Program._of(program)
        if self.cache:
            before = _kept.changed(self, found)
            why = why or before and f"{before} has changed since it was kept"
            _kept.keep(self, found, program)
        self.history.append((self.signature_text(statics), why or "first call"))
        return Compiled(program, known.axes, known, depends, statics)

    def translate(self, statics):
        """(hg_program, what was found) by the compiler."""
        try:
            return compile_kernel(self, statics)
        except CompileError as error:
            raise error.with_traceback(None) from None

    def learned(self, compiled):
        """What the compiler found, also of a program from the disk."""
        with self.lock:
            if compiled.known is None:
                program, compiled.known = self.translate(compiled.statics)
                c.hg_program_release(program)
            return compiled.known

    def signature_text(self, statics):
        return f"{self.name}({', '.join(f'{p.name}={statics[p.name]!r}' if p.kind is static else f'{p.name}: {p.kind.name if isinstance(p.kind, type) else p.kind}' for p in self.parameters)})"

    @property
    def signatures(self):
        """(signature, why it was compiled, or "from the disk"), in the order in which they were needed."""
        return list(self.history)

    # ---- calls ----

    def _bind_arguments(self, arguments, lanes):
        """What Dispatcher calls where no launch is kept for these arguments."""
        return bound(self, self.lanes_of(lanes), arguments, {})

    def _launch_named(self, lanes, arguments, keywords):
        made = bound(self, self.lanes_of(lanes), arguments, keywords)
        if made is not None:
            try:
                made.launch()
            except Exception as error:
                raise self._explain_failure(error) from None

    def _explain_failure(self, error):
        """A fault with the line of Python where it happened."""
        return at_line(self, error) if isinstance(error, Error) else error

    def lanes_of(self, lanes):
        if lanes is None:
            return None
        lanes = tuple(lanes) if isinstance(lanes, tuple) else (lanes,)
        for one in lanes:
            if not hasattr(one, "__index__") or not 0 <= int(one) < 1 << 64:
                raise TypeError(f"{self.name}[{one!r}]: the number of lanes is an integer below 2^64, or a tuple of them")
        return tuple(int(one) for one in lanes)

    def __call__(self, *arguments, **keywords):
        if keywords:
            self._launch_named(None, arguments, keywords)
        else:
            self.run(None, *arguments)

    def bind(self, *arguments, lanes=None, **keywords):
        """A launch with these arguments, checked once, to be called again and again. It keeps the arrays."""
        made = bound(self, self.lanes_of(lanes), arguments, keywords, keep=True)
        if made is None:
            raise TypeError(f"{self.name}: bind needs arrays that lie on the device: hg.asarray(x, device=…)")
        return made

    # ---- what it became ----

    @property
    def atlas(self):
        """The program as text, for `hologram run`; a kernel with static parameters: kernel.listing(k=3)."""
        return self.listing()

    def listing(self, **statics):
        """The program as text."""
        return self.compile(**statics).program.text

    def explain(self, **statics):
        """What was compiled, why, and the program as statements."""
        text = self.compile(**statics).program.structured
        lines = [f"{signature}: {why}" for signature, why in self.history]
        return "\n".join([*lines, "", text])

    def emit(self, target, **statics):
        """The program in the language of a device: "opencl", "cuda", "c", "kir"; bytes of a binary target."""
        return self.compile(**statics).program.emit(target)

    def debug(self, lane=0, lanes=None):
        """A call that steps through the lines of one lane with pdb; the other lanes run before and behind it: axpy.debug(lane=3)(2.0, x, y)."""
        from ._interpret import Interpreted
        return Interpreted(self, lanes, lane)

    def __repr__(self):
        return f"<kernel {self.name}({', '.join(p.name for p in self.parameters)})>"


def filled(cell):
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def kernel(function=None, *, block=None, grid=None, device="cpu", cache=True):
    """Makes a kernel of a function.

    block: lanes of a block, a number or up to three; kernels with shared memory and barriers say it. grid: blocks in each direction, numbers or
    expressions over extents ("ceil(n / 256)"), in place of lanes. device: where it runs: "cpu", "opencl", "vulkan", …
    cache: whether its programs are kept on disk for the next process, where the library keeps compiled kernels (HOLOGRAM_CACHE_DIR).
    """
    if function is None:
        return lambda one: Kernel(one, block, grid, device, cache)
    return Kernel(function, block, grid, device, cache)


def has_name(one):
    """Whether it is found by its name where it says that it is."""
    found = sys.modules.get(one.__module__)
    for part in one.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is one


def told(function, text):
    return function, function.__code__.co_filename, function.__code__.co_firstlineno, text


def called_by(function):
    """What is told of the functions that it calls, and that they call, of those that cloudpickle takes along: of the main module, and without a name."""
    seen, left, found = {function}, [function], []
    while left:
        one = left.pop()
        cells = [cell.cell_contents for cell in one.__closure__ or () if filled(cell)]
        for called in [one.__globals__.get(name) for name in one.__code__.co_names] + cells:
            if inspect.isfunction(called) and called not in seen and (called.__module__ == "__main__" or not has_name(called)):
                seen.add(called)
                left.append(called)
                with contextlib.suppress(OSError):  # it has no text
                    found.append(told(called, "".join(lines_of(called)[0])))
    return found


def _again(function, block, grid, device, cache, texts):
    """A kernel from a pickle. texts: (function, file, line, text) of its definition and of those that it calls: where the file is not here, or another one,
    the text stands for it."""
    for one, file, first, text in texts:
        own = text.splitlines(True)
        linecache.checkcache(file)
        if linecache.getlines(file, one.__globals__)[first - 1:first - 1 + len(own)] != own:
            file, lines = f"<{file}, line {first}>", ["\n"] * (first - 1) + own
            linecache.cache[file] = sum(map(len, lines)), None, lines, file
        if one.__code__.co_filename != file:  # cloudpickle leaves it out
            one.__code__ = one.__code__.replace(co_filename=file)
    return Kernel(function, block, grid, device, cache)


def interpret(kernel, lanes=None):
    """The kernel as plain Python, a lane at a time, with the kernel's own results: for pdb, coverage and doubt."""
    from ._interpret import Interpreted
    return Interpreted(kernel, lanes, None)


def lookup(name):
    """The function for kernels that hologram has by that name: lane, fma, …; None: none."""
    return _functions.INTRINSICS.get(name) or _functions.instruction(name)
