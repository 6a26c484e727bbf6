#!/usr/bin/python3
"""Writes hologram/__init__.pyi, dist.pyi, fft.pyi and linalg.pyi from the package itself: names, parameters and kinds as they are, types by the rules below.

    stubs.py            prints what would change; exit status 1 when something does
    stubs.py --write    writes them
Needs the built package on the path (PYTHONPATH=build/release/python).
"""
import inspect
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path = [one for one in sys.path if os.path.realpath(one or ".") != os.path.dirname(os.path.realpath(__file__))]  # the built package, not its sources
HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = '''# Written by bindings/python/stubs.py from the package: do not edit.
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeAlias, overload

'''
# What a parameter of a name is.
PARAMETERS = {
    "x": "Array", "x1": "Array", "x2": "Array", "arrays": "Sequence[Array]", "obj": "Any", "a": "_Operand", "indices": "Array", "values": "Array", "table": "Array",
    "query": "Array", "key": "Array", "value": "Array", "mask": "Array | None", "kernel": "Array", "bias": "Array | None", "gamma": "Array | None", "beta": "Array | None",
    "axis": "int | tuple[int, ...] | None", "axes": "Any", "keepdims": "bool", "dtype": "DTypeLike", "device": "DeviceLike", "copy": "bool | None",
    "shape": "int | Sequence[int]", "k": "int", "n": "int | None", "s": "Sequence[int] | None", "norm": "str", "d": "float", "num": "int", "start": "complex", "stop": "complex | None",
    "step": "float", "endpoint": "bool", "fill_value": "_Operand", "seed": "int", "low": "float", "high": "float", "mean": "float", "deviation": "float",
    "descending": "bool", "stable": "bool", "largest": "bool", "side": "str", "sorter": "Array | None", "invert": "bool", "shift": "int | tuple[int, ...]",
    "repeats": "int | Sequence[int] | Array", "repetitions": "int | Sequence[int]", "pad_width": "Sequence[Any]", "constant_value": "complex", "correction": "float",
    "include_initial": "bool", "prepend": "Array | None", "append": "Array | None", "offset": "int", "ord": "Any", "path": "str | os.PathLike[str]", "name": "str | None",
    "array": "Any", "root": "int", "peer": "int", "rank": "int", "extent": "int", "operation": "str", "ranks": "int", "fast": "bool", "whole_outputs": "bool", "local": "Any", "text": "str", "data": "bytes", "eps": "float", "causal": "bool", "scale": "float", "stride": "Any", "padding": "Any", "output_padding": "Any", "dilation": "Any", "groups": "int", "counted": "bool",
    "window": "Any", "picture": "Any", "executor": "DeviceLike", "indexing": "str", "out": "Array | None", "min": "_Operand | None", "max": "_Operand | None", "from_": "Any", "to": "DTypeLike",
    "type": "Any", "kind": "Any", "n_rows": "int", "n_cols": "int | None", "source": "Any", "destination": "Any", "indices_or_sections": "int | Sequence[int]",
    "rtol": "Any", "mode": "str", "full_matrices": "bool", "upper": "bool", "bytes": "int", "count": "int", "size": "int", "program": "Any", "timeout": "float | None",
    "lanes": "int | tuple[int, ...] | None", "grid": "Any", "block": "Any", "timeout_ms": "int", "max_steps": "int", "target": "str", "debug": "bool", "backend": "str",
    "stream": "None", "max_version": "tuple[int, int] | None", "dl_device": "tuple[int, int] | None", "api_version": "str | None", "index": "int", "length": "int",
}
# What a function gives, where that is no array.
RESULTS = {
    "meshgrid": "list[Array]", "broadcast_arrays": "list[Array]", "unstack": "tuple[Array, ...]", "split": "tuple[Array, ...]", "nonzero": "tuple[Array, ...]",
    "unique_all": "UniqueAllResult", "unique_counts": "UniqueCountsResult", "unique_inverse": "UniqueInverseResult", "top_k": "top_k_result", "result_type": "DType",
    "can_cast": "bool", "isdtype": "bool", "finfo": "finfo_object", "iinfo": "iinfo_object", "broadcast_shapes": "tuple[int, ...]", "save": "None", "write_png": "None", "devices": "list[dict[str, Any]]",
    "default_executor": "Executor", "set_default_executor": "Executor | None", "assemble": "Program", "decode": "Program", "json_kernel": "Program", "named_kernel": "Program",
    "open_program": "Program", "scope": "AbstractContextManager[Executor]", "profile": "AbstractContextManager[Executor]", "jit": "Any", "new_executor": "Executor",
    "new_executor_auto": "Executor", "new_executor_with_backend": "Executor", "slogdet": "Any", "__array_namespace_info__": "Any", "kernel": "Any", "interpret": "Any",
}
FIELDS = {"values": "Array", "indices": "Array", "inverse_indices": "Array", "counts": "Array", "dtype": "DType", "bits": "int", "severity": "str", "code": "str | None",
          "message": "str", "hint": "str | None", "line": "int", "column": "int", "length": "int", "name": "str", "kind": "str", "direction": "str | None", "dims": "tuple[str, ...] | None",
          "default": "str | None"}
METHODS = {
    "item": "Any", "tolist": "Any", "tobytes": "bytes", "numel": "int", "to_vec": "list[Any]", "numpy": "Any", "transpose": "Array", "copy": "Array", "astype": "Array", "contiguous": "Array",
    "lazy": "Array", "to": "Array", "to_device": "Array", "matmul": "Array", "reshape": "Array", "broadcast_to": "Array", "permute": "Array", "flip": "Array", "select": "Array",
    "narrow": "Array", "unsqueeze": "Array", "squeeze": "Array", "move_axis": "Array", "dlpack_capsule": "Any",
}
PROPERTIES = {"dtype": "DType", "shape": "tuple[int, ...]", "strides": "tuple[int, ...]", "ndim": "int", "size": "int", "itemsize": "int", "nbytes": "int", "is_contiguous": "bool",
              "executor": "Executor", "device": "Executor", "handle": "int", "T": "Array", "mT": "Array", "backend": "str", "name": "str", "hash": "str", "params": "tuple[Param, ...]",
              "text": "str", "structured": "str", "done": "bool", "place": "tuple[int, int] | None", "program": "Program", "original": "str", "canonical": "str"}


def parameters(function, own=False):
    """The parameter list of a function as a stub writes it; of what says nothing of itself: operands, and where the result goes."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ("self, " if own else "") + ("*arguments: Any" if own else "*operands: _Operand, out: Array | None = ...")
    words, star, slash = [], False, False
    for p in signature.parameters.values():
        if p.kind is p.POSITIONAL_ONLY:
            slash = True
        elif slash:
            words.append("/")
            slash = False
        if p.kind is p.KEYWORD_ONLY and not star:
            words.append("*")
        star = star or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        kind = PARAMETERS.get(p.name, "Any")
        if p.kind is p.VAR_POSITIONAL:
            words.append(f"*{p.name}: {'Array' if p.name == 'arrays' else 'Any'}")
        elif p.kind is p.VAR_KEYWORD:
            words.append(f"**{p.name}: Any")
        elif p.name == "self":
            words.append("self")
        else:
            if p.default is None and "None" not in kind and kind not in ("Any", "DTypeLike", "DeviceLike"):
                kind += " | None"
            words.append(f"{p.name}: {kind}" + ("" if p.default is p.empty else " = ..."))
    return ", ".join(words + (["/"] if slash else []))


def function(name, value, indent="", own=False, result=None):
    return f"{indent}def {name}({parameters(value, own)}) -> {result or RESULTS.get(name, 'Array')}: ...\n"


def klass(name, value, base=""):
    """A class with its public methods and properties."""
    lines, seen = [f"\nclass {name}{base}:\n"], set()
    if "__init__" in vars(value):
        lines.append(function("__init__", value.__init__, "    ", True, "None"))
    elif name == "Executor":
        lines.append("    def __init__(self, backend: str = ..., **settings: Any) -> None: ...\n")
    for owner in value.__mro__[:-1]:
        if owner.__module__ == "builtins" and owner.__name__ not in ("Array", "Executor", "Launch", "Dispatcher"):
            continue
        for key, item in vars(owner).items():
            if key.startswith("_") or key in seen:
                continue
            seen.add(key)
            if isinstance(item, (classmethod, staticmethod)):
                kind = "classmethod" if isinstance(item, classmethod) else "staticmethod"
                text = parameters(getattr(value, key))
                lines.append(f"    @{kind}\n    def {key}({'cls, ' if kind == 'classmethod' else ''}{text}) -> Any: ...\n")
            elif isinstance(item, property) or inspect.isgetsetdescriptor(item) or inspect.ismemberdescriptor(item):
                lines.append(f"    @property\n    def {key}(self) -> {PROPERTIES.get(key, 'Any')}: ...\n")
            elif callable(item):
                result = METHODS.get(key, "Any") if name != "Array" else METHODS.get(key, "Array")
                lines.append(function(key, item, "    ", True, result))
    if name == "Builder":
        lines += ["    def __getitem__(self, name: str) -> Any: ...\n", "    def __getattr__(self, name: str) -> Any: ...  # functions of kernels\n"]
    if name == "Array":
        for operator in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
            lines += [f"    def __{way}{operator}__(self, other: Any) -> Array: ...\n" for way in ("", "r", "i")]
        lines += [f"    def __{one}__(self, other: Any) -> Array: ...  # type: ignore[override]\n" for one in ("eq", "ne")]
        lines += [f"    def __{one}__(self, other: Any) -> Array: ...\n" for one in ("lt", "le", "gt", "ge")]
        lines += [f"    def __{one}__(self) -> {kind}: ...\n" for one, kind in (("neg", "Array"), ("pos", "Array"), ("abs", "Array"), ("invert", "Array"), ("len", "int"), ("bool", "bool"),
                                                                               ("int", "int"), ("float", "float"), ("complex", "complex"), ("index", "int"), ("iter", "Iterator[Array]"))]
        lines += ["    def __getitem__(self, key: Any) -> Array: ...\n", "    def __setitem__(self, key: Any, value: Any) -> None: ...\n",
                  "    def __array_namespace__(self, *, api_version: str | None = ...) -> Any: ...\n", "    def __dlpack__(self, **named: Any) -> Any: ...\n",
                  "    def __dlpack_device__(self) -> tuple[int, int]: ...\n", "    def __array__(self, dtype: Any = ..., copy: bool | None = ...) -> Any: ...\n"]
    if name == "Program":
        lines += ["    def __call__(self, *args: Any, lanes: int | tuple[int, ...] | None = ..., **named: Any) -> None: ...\n", "    def __getitem__(self, lanes: int | tuple[int, ...]) -> Callable[..., None]: ...\n",
                  "    def __len__(self) -> int: ...\n"]
    if name in ("Launch", "Graph", "Circuit"):
        lines.append(f"    def __call__(self, *args: Any, **named: Any) -> {'dict[int, Array]' if name == 'Circuit' else 'None'}: ...\n")
    if name == "Event":
        lines.append("    def __await__(self) -> Generator[Any, None, None]: ...\n")
    return lines if len(lines) > 1 else [lines[0].rstrip("\n") + " ...\n"]


def package():
    import hologram as hg
    from hologram import _errors, _kernel, types
    lines = [HEAD.replace("from collections", "import os\nfrom collections", 1), "from . import dist as dist, fft as fft, linalg as linalg\n\n", "__array_api_version__: str\n",
             "e: float\ninf: float\nnan: float\npi: float\nnewaxis: None\n", "\nclass DType:\n    name: str\n    short: str\n    itemsize: int\n    kind: str\n    code: int\n\n"]
    lines += [f"{one.name}: DType\n" + (f"{one.short}: DType\n" if one.short != one.name else "") for one in types.ALL]
    lines += ["\nDTypeLike: TypeAlias = DType | str | type | Any | None\nDeviceLike: TypeAlias = Executor | str | None\n_Operand: TypeAlias = Array | complex | Any\n"]
    kernels = _kernel.__all__
    names = [name for name in dir(hg) if not name.startswith("_") and name not in kernels] + ["__array_namespace_info__"]
    for name in sorted(names):
        value = getattr(hg, name)
        if inspect.ismodule(value) or isinstance(value, (types.DType, float)) or name in ("newaxis", "Tensor"):
            continue
        if isinstance(value, type) and issubclass(value, _errors.Error):
            bases = ", ".join(base.__name__ if base is not Exception else "Exception" for base in value.__bases__)
            lines.append(f"\nclass {name}({bases.replace('BufferError', 'Error')}): ...\n" if value is not _errors.Error else
                         "\nclass Error(Exception):\n    text: str\n    status: str | None\n    code: str | None\n    hint: str | None\n    line: int | None\n    column: int | None\n    length: int | None\n"
                         "    instruction: int | None\n    lane: int | None\n    operand: int | None\n    step: int | None\n    phase: int | None\n    offset: int | None\n    limit: int | None\n"
                         "    @property\n    def place(self) -> tuple[int, int] | None: ...\n")
        elif isinstance(value, type) and hasattr(value, "_fields"):
            lines.append(f"\nclass {name}(NamedTuple):\n" + "".join(f"    {field}: {FIELDS.get(field, 'Any')}\n" for field in value._fields))
        elif isinstance(value, type):
            lines += klass(name, value)
        elif callable(value):
            lines.append(function(name, value))
        else:
            lines.append(f"{name}: Any\n")
    lines.append("Tensor = Array\n")
    lines += [f"{name}: Any\n" for name in sorted(kernels)]
    lines.append("def __getattr__(name: str) -> Any: ...  # functions of kernels: lane, grid, shared, fma, …\n")
    return re.sub(r"(?<![\w.])bool\b(?! *[:(])|(?<=> )bool(?=:)", "builtins.bool", "".join(lines)).replace("import os\n", "import builtins\nimport os\n", 1)


def module(name):
    import importlib
    found = importlib.import_module(f"hologram.{name}")
    lines = [HEAD.split("from collections", 1)[0], "from collections.abc import Sequence\nfrom typing import Any\n\nfrom . import Array as Array, DeviceLike, DTypeLike\n\n"]
    return "".join(lines + [function(one, getattr(found, one)) for one in sorted(found.__all__)])


RANKS = {"rank": "int", "size": "int", "executor": "Executor", "is_launched": "bool", "part": "tuple[int, int]", "init": "None", "finish": "None", "barrier": "None",
         "send": "None", "run": "list[Any]", "gather": "Array | None", "run_graph": "dict[str, Any]", "shard": "Sharded"}


def ranks():
    """hologram.dist."""
    from hologram import dist
    lines = [HEAD.split("from collections", 1)[0], "from typing import Any\n\nfrom . import Array as Array, DeviceLike, DType, Executor\n\n"]
    lines += [function(name, getattr(dist, name), result=RANKS.get(name)) for name in sorted(dist.__all__) if name not in ("Sharded", "Together")]
    lines += klass("Sharded", dist.Sharded)
    for operator in "add sub mul truediv floordiv mod pow and or xor lshift rshift".split():
        lines += [f"    def __{way}{operator}__(self, other: Any) -> Sharded: ...\n" for way in ("", "r")]
    lines += [f"    def __{one}__(self, other: Any) -> Sharded: ...  # type: ignore[override]\n" for one in ("eq", "ne")]
    lines += [f"    def __{one}__(self, other: Any) -> Sharded: ...\n" for one in ("lt", "le", "gt", "ge", "matmul")]
    lines += [f"    def __{one}__(self) -> Sharded: ...\n" for one in ("neg", "abs")]
    lines += klass("Together", dist.Together) + ["    def __len__(self) -> int: ...\n"]
    return "".join(lines)


def main():
    stale = 0
    for name, text in (("__init__", package()), ("fft", module("fft")), ("linalg", module("linalg")), ("dist", ranks())):
        path = os.path.join(HERE, "hologram", name + ".pyi")
        before = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
        if before == text:
            continue
        if "--write" in sys.argv:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        else:
            print(f"{path} is stale: run bindings/python/stubs.py --write")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
