"""Hologram: programs and arrays that have the same results on every device."""
import sys as _sys

if "t" in _sys.abiflags:
    raise ImportError("hologram: this Python is a free-threaded build, which cannot load the extension: it is made for the stable ABI, which only builds "
                      "with the global interpreter lock have. Use such a build (python3.11 or newer, not python3.13t).")

from ._array import Array
from ._errors import (ArgumentError, AxisError, BackendUnavailable, BufferError, Error, ExecutionError, FileError, InternalError,
                      MemoryExhausted, ProgramError, Timeout, WouldBlock)
from ._executor import Executor, default_executor, devices, set_default_executor
from . import dist, fft, linalg
from ._namespace import *
from .types import *
from ._program import (Diagnostic, Event, Launch, Param, Program, Queue, assemble, decode, json_kernel, named_kernel,
                       open_program)
from ._scope import jit, profile, scope
from ._builder import Builder
from ._buffer import Buffer, Config, Tensor, new_executor, new_executor_auto, new_executor_with_backend, ops
from ._graph import Circuit, Graph
from ._stablehlo import Module, from_jax, from_stablehlo
from ._kernel import In, Inout, Kernel, Out, interpret, kernel, static, static_range


def __getattr__(name):
    """Functions of kernels (hg.lane, hg.fma, …) are found when they are first asked for."""
    if not name.startswith("_"):
        from ._kernel import lookup
        found = lookup(name)
        if found is not None:
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
