"""Hologram: programs and arrays that have the same results on every device."""
from ._array import Array
from ._errors import (ArgumentError, AxisError, BackendUnavailable, BufferError, Error, ExecutionError, FileError, InternalError,
                      MemoryExhausted, ProgramError, Timeout, WouldBlock)
from ._executor import Executor, default_executor, devices, set_default_executor
from . import linalg
from ._namespace import *
from .types import *
from ._program import (Diagnostic, Event, Launch, Param, Program, Queue, assemble, decode, json_kernel, named_kernel,
                       open_program)
from ._scope import jit, profile, scope
