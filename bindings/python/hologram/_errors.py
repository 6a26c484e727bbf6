"""Exceptions: one family, made from what the library said last on this thread."""
from . import _native


class Error(Exception):
    """A call failed. `text` is the whole message; fields that do not apply are None.

    status: name of the library's status, "HG_ERROR_ISA". code: of a diagnostic or fault, "F01". line, column, length: the place in the
    program's text. hint: what to write instead. instruction, lane, operand, step, phase: where a program failed. offset, limit: bytes of
    an access out of bounds, and of the memory.
    """

    status = code = hint = line = column = length = instruction = lane = operand = step = phase = offset = limit = None

    def __init__(self, text, **fields):
        super().__init__(text)
        self.text = text
        for name, value in fields.items():
            setattr(self, name, value)

    @property
    def place(self):
        """(line, column) in the program's text, or None."""
        return (self.line, self.column) if self.line else None


class ArgumentError(Error, ValueError):
    """What was given is not what the call takes."""


class AxisError(ArgumentError, IndexError):
    """An array has no such axis."""


class BufferError(Error, ValueError):
    """There is no such buffer any more."""


class BackendUnavailable(Error, RuntimeError):
    """The device or its driver is not there, or cannot do that."""


class ProgramError(Error, ValueError):
    """A program, or the way it is called, is wrong: `diagnostics` has all messages with their places."""

    diagnostics = ()


class ExecutionError(Error, RuntimeError):
    """A program failed while it ran: code, instruction, lane, offset say where."""


class MemoryExhausted(Error, MemoryError):
    """There is not enough memory."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class WouldBlock(Error, RuntimeError):
    """The call would have to wait where nobody may wait."""


class Timeout(Error, TimeoutError):
    """It is not done yet."""


class InternalError(Error, RuntimeError):
    """A defect of the library: please report it."""


_CLASSES = {
    "HG_ERROR_ALLOCATION_FAILED": MemoryExhausted,
    "HG_ERROR_INVALID_BUFFER": BufferError,
    "HG_ERROR_EXECUTION_FAILED": ExecutionError,
    "HG_ERROR_BACKEND_UNAVAILABLE": BackendUnavailable,
    "HG_ERROR_ISA": ProgramError,
    "HG_ERROR_INVALID_ARGUMENT": ArgumentError,
    "HG_ERROR_OUT_OF_MEMORY": MemoryExhausted,
    "HG_ERROR_IO": FileError,
    "HG_ERROR_WOULD_BLOCK": WouldBlock,
    "HG_ERROR_INTERNAL": InternalError,
    "HG_ERROR_TIMEOUT": Timeout,
}


def last(status, **more):
    """The exception for a status other than 0, with what the library said last on this thread."""
    said = _native.last_error()
    kind = _CLASSES.get(said["status_name"], Error)
    if kind is ArgumentError and said["message"].startswith("Invalid dimension"):
        kind = AxisError
    fields = {name: said[name] for name in ("instruction", "lane", "operand", "step", "phase", "offset", "limit")}
    fields.update(status=said["status_name"], code=said["code"] or None, line=said["line"] or None, column=said["column"] or None,
                  length=said["length"] or None, **more)
    return kind(said["text"].replace("hg_tensor_to copies it", "x.to_device(device) copies it"), **fields)


def failed(status):
    """Raises last(status)."""
    raise last(status)


def check(status):
    """Nothing for 0; else the exception."""
    if status:
        raise last(status)
