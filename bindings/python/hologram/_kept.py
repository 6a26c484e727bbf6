"""What the program of a kernel depends on, and programs that are kept on disk by it for the next process, among the library's compiled kernels
(HOLOGRAM_CACHE_DIR).

A key has the sources of the kernel and of the functions that it reaches, what they capture, types, static values, and this version of the package.
Must not know: how kernels are compiled, launches.
"""
import ast
import ctypes
import os
import struct
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType

from . import _executor, _native
from . import _interface as c
from . import _scalar as T
from ._errors import Error, check
from ._source import CompileError, parameters_of
from ._values import nodes

FIXED = ("hologram", "math", "numpy", "builtins")  # modules that do not change while a process lives
TRANSLATE = "compile", "expressions", "functions", "interface", "kernel", "kept", "scalar", "source", "statements", "values"  # what makes programs
DEEPEST = 8


class Dependences:
    """Everything that the function of a kernel names.

    parts: what for people -> its contents. rows: (kind, holder, name, value, contents where they can change), of what may have another value later.
    certain: whether parts say everything; an object that they cannot show makes it False."""

    def __init__(self, kernel, statics):
        self.kernel, self.words = kernel, set()
        while True:
            self.parts, self.rows, self.seen, self.certain, words = {}, {}, set(), True, len(self.words)
            self.function(kernel.function, kernel.source)
            given = tuple((name, self.contents(value)) for name, value in sorted(statics.items()))
            if len(self.words) == words or not self.looked:
                break
        shapes = tuple((p.name, str(p.kind) if isinstance(p.kind, T.Parameter) else getattr(p.kind, "name", "static")) for p in kernel.parameters)
        self.parts["types and static values"] = shapes, given, kernel.block, kernel.grid

    looked = False  # into fields of objects, which words name

    def function(self, function, source=None):
        if function.__code__ in self.seen:
            return
        self.seen.add(function.__code__)
        try:
            source = source or self.kernel.source_of(function)
        except CompileError:
            self.certain = False
            return
        self.parts[f"the source of {function.__name__}"] = source.file, source.first, source.text
        if "names" not in source.facts:
            source.facts["names"], source.facts["words"] = names_of(source.node)
        self.words |= source.facts["words"]
        code = function.__code__
        cells = dict(zip(code.co_freevars, function.__closure__ or ()))
        for name in source.facts["names"]:
            if name in cells:
                try:
                    self.add("cell", cells[name], name, cells[name].cell_contents)
                except ValueError:
                    self.certain = False  # it has no value yet
            elif name in function.__globals__:
                self.add("global", function.__globals__, name, function.__globals__[name])
            else:  # of Python itself, until a global has the name
                self.rows["global", id(function.__globals__), name] = "global", function.__globals__, name, None, None
        if function is not self.kernel.function:  # which an editor's or a notebook's reloading may change in place
            for name in ("__code__", "__defaults__", "__kwdefaults__"):
                self.rows["attribute", id(function), name] = "attribute", function, name, getattr(function, name), None
        for name, value in (("defaults", function.__defaults__), ("defaults by name", function.__kwdefaults__)):
            if value and function is not self.kernel.function:
                self.parts[f"{name} of {function.__name__}"] = self.contents(tuple(value.items()) if isinstance(value, dict) else value)

    def add(self, kind, holder, name, value, depth=0):
        row = kind, id(holder), name
        if row not in self.rows:
            self.rows[row] = kind, holder, name, value, frozen(value)
            place, number = name, 1
            while place in self.parts:
                place, number = f"{name} ({number})", number + 1
            self.parts[place] = None
            self.parts[place] = self.contents(value, depth + 1)

    def contents(self, value, depth=0):
        """What a value is, as something whose repr says all of it."""
        kind = type(value)
        if depth > DEEPEST:
            self.certain = False
            return None
        if value is None or value is ...:
            return kind.__name__, value
        if isinstance(value, T.Scalar):
            return value.name, value.pattern(value.value)
        for plain in (int, float, str, bytes):
            if isinstance(value, plain):
                return kind.__qualname__, struct.pack("<d", value) if plain is float else plain(value)
        if isinstance(value, (tuple, list)):
            return kind.__qualname__, getattr(kind, "_fields", ()), tuple(self.contents(one, depth + 1) for one in value)
        if T.is_array(value) or T.is_typed(value):
            raw = value.tobytes() if getattr(value, "nbytes", 1 << 30) <= 65536 and hasattr(value, "tobytes") else None
            self.certain &= raw is not None
            return "array", str(value.dtype), tuple(value.shape), raw
        if hasattr(kind, "short") and hasattr(kind, "itemsize"):
            return "type", value.short
        if T.is_open(value):
            return "type variable", value.__name__
        if isinstance(value, FunctionType):
            self.function(value)
            return "function", value.__module__, value.__qualname__
        if isinstance(value, ModuleType) and value.__name__ in FIXED:
            return "module", value.__name__
        if isinstance(value, type):
            return ("type", value.__module__, value.__qualname__) if fixed(value) else self.object(value, value, depth)
        if isinstance(value, BuiltinFunctionType) or fixed(kind):
            return "function", getattr(value, "__module__", None), getattr(value, "__name__", None) or repr(value)
        return self.object(value, kind, depth)

    def object(self, value, kind, depth):
        """A module, class or object of the user's: the fields of it that a function may mean."""
        self.looked = True
        for name in sorted(self.words):
            try:
                found = getattr(value, name)
            except Exception:
                continue
            if not (callable(found) and hasattr(found, "__self__")):
                self.add("attribute", value, name, found, depth)
        return "object", kind.__module__, kind.__qualname__


def fixed(kind):
    return kind.__module__.split(".")[0] in FIXED


def frozen(value):
    """What changes when a captured array or list, or one within a tuple, changes; None of what does not change."""
    if isinstance(value, list):
        return repr(value)
    if isinstance(value, tuple):
        parts = tuple(map(frozen, value))
        return parts if any(one is not None for one in parts) else None
    if T.is_array(value) and getattr(value, "nbytes", 1 << 30) <= 65536 and hasattr(value, "tobytes"):
        return bytes(value.tobytes())
    return None


def names_of(node):
    """(names that the body of a function reads and the function does not own, names of attributes in it)"""
    read, own, words = {}, {one.arg for one in parameters_of(node)}, set()
    for one in nodes(reversed(node.body)):
        if isinstance(one, ast.Attribute):
            words.add(one.attr)
        elif isinstance(one, ast.Name):
            if isinstance(one.ctx, ast.Load):
                read[one.id] = True
            else:
                own.add(one.id)
    return [name for name in read if name not in own], words


# ---- on disk ----

_this = None


def this():
    """This compiler, library and Python: files of another size or time are another one."""
    global _this
    if _this is None:
        folder = os.path.dirname(os.path.abspath(__file__))
        files = [os.path.join(folder, f"_{name}.py") for name in TRANSLATE] + [_native.library()]
        stats = [os.stat(one) for one in files]
        _this = c.VERSION, sys.hexversion, sys.byteorder, tuple((one.st_size, one.st_mtime_ns) for one in stats)
    return _this


def key_of(kernel, parts):
    return repr(("kernel", kernel.name, this(), tuple(parts.items()))).encode()


def identity_of(kernel, parts):
    """The key of what was kept last of a kernel: where it stands, and its types."""
    return repr(("last", kernel.source.file, kernel.function.__qualname__, parts["types and static values"])).encode()


def get(key):
    backend = c.hg_executor_backend(_executor.executor_of("cpu").handle)
    data, size = ctypes.c_void_p(), ctypes.c_size_t()
    check(c.hg_backend_cache_get(backend, key, len(key), ctypes.byref(data), ctypes.byref(size)))
    if not data.value:
        return None
    try:
        return ctypes.string_at(data.value, size.value)
    finally:
        c.hg_string_free(data)


def put(executor, key, data):
    c.hg_backend_cache_put(c.hg_executor_backend(executor.handle), key, len(key), data, len(data))


def find(kernel, found):
    """The hg_program that was kept for these dependences; None: nothing, or not what this process can use."""
    data = get(key_of(kernel, found.parts)) if found.certain else None
    try:
        head, _, code = (data or b"").partition(b"\n\n")
        files = head.decode().split("\n")
    except ValueError:
        return None
    known = kernel.files
    if files[:len(known)] != known[:len(files)]:  # numbers of files are places in it
        return None
    program = ctypes.c_void_p()
    if c.hg_program_decode(code, len(code), None, ctypes.byref(program)):
        return None
    known.extend(files[len(known):])
    return program


def axes_of(program):
    """The axes of hg.grid in a program, each of which has a parameter; None: there is no grid."""
    names = {c.hg_program_param_name(program, i) for i in range(c.hg_program_param_count(program))}
    return sum(f"lanes_{axis}".encode() in names for axis in range(8)) or None


def keep(kernel, found, program):
    """Keeps a program for the next process: a little later and by a thread, so that the first launch does not wait for it."""
    if not found.certain or any("\n" in file for file in kernel.files):
        return
    import threading
    executor, files = _executor.executor_of("cpu"), list(kernel.files)
    key, last, parts = key_of(kernel, found.parts), identity_of(kernel, found.parts), found.parts  # nothing that keeps the kernel

    def work():
        try:
            code = program.encode(debug=True)
        except Error:
            return
        put(executor, key, "\n".join(files).encode() + b"\n\n" + code)
        put(executor, last, summary(parts))
    later = threading.Timer(0.02, work)
    later.name = "hologram kept kernels"
    try:
        later.start()
    except RuntimeError:  # the process ends: no thread begins any more
        work()


def summary(parts):
    """Names of parts with a hash of each, to say what has changed."""
    import hashlib
    rows = [(hashlib.blake2b(repr(value).encode(), digest_size=16).hexdigest(), name) for name, value in [("the package", this()), *parts.items()]]
    return "\n".join(f"{digest} {name}" for digest, name in rows).encode()


def changed(kernel, found):
    """Which part differs from what was kept last of this kernel; None: nothing was kept, or none differs."""
    last = get(identity_of(kernel, found.parts)) if found.certain else None
    if not last:
        return None
    old = {name: digest for digest, _, name in (line.partition(" ") for line in last.decode(errors="replace").split("\n"))}
    new = {name: digest for digest, _, name in (line.partition(" ") for line in summary(found.parts).decode().split("\n"))}
    return next((name for name in (*new, *old) if old.get(name) != new.get(name)), None)
