"""Programs on the memory of arrays: one backend for each device's name, buffers over host memory, launches."""
import ctypes
import threading

from . import _interface as c
from ._errors import check

_backends, _lock = {}, threading.Lock()


def backend(name="cpu"):
    """The backend of that name, which is opened once: "cpu", "opencl", "opencl/1"."""
    if name not in _backends:
        with _lock:
            if name not in _backends:
                kind, _, device = name.partition("/")
                made = ctypes.c_void_p()
                check(c.hg_backend_create(kind.encode(), int(device or 0), ctypes.byref(made)))
                _backends[name] = made
    return _backends[name]


class Buffer:
    """Host memory as a buffer of a backend: itself where the device can, else a copy that comes back."""

    def __init__(self, where, address, size, written):
        self.where, self.address, self.size, self.written, self.copied = where, address, size, written, False
        self.buffer = c.hg_buffer()
        if c.hg_buffer_import(where, address, size, ctypes.byref(self.buffer)):
            self.copied = True
            check(c.hg_backend_allocate_buffer(where, size, ctypes.byref(self.buffer)))
            check(c.hg_backend_copy_to_buffer(where, self.buffer, address, size))

    def finish(self):
        if self.copied and self.written:
            check(c.hg_backend_copy_from_buffer(self.where, self.buffer, self.address, self.size))

    def free(self):
        if self.buffer:
            c.hg_backend_free_buffer(self.where, self.buffer)
            self.buffer = None


def run(program, arrays, scalars, launch=None, device="cpu"):
    """Runs a program once. arrays: name -> (address, bytes, written); scalars: (name, type, number)."""
    where = backend(device)
    params, buffers = c.hg_params_create(), []
    try:
        for name, (address, size, written) in arrays.items():
            buffers.append(Buffer(where, address, size, written))
            check(c.hg_params_set_buffer(params, name, buffers[-1].buffer))
        for name, cls, number in scalars:
            size = max(1, cls.size)
            check(c.hg_params_set_scalar(params, name, cls.code, cls.pattern(number).to_bytes(size, "little")))
        check(c.hg_backend_execute_program_with_params(where, program, launch, params))
    finally:
        c.hg_params_destroy(params)
        for one in buffers:
            one.finish()
            one.free()


# ---- memory of objects with the buffer protocol ----

class _Buffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int),
                ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p),
                ("internal", ctypes.c_void_p)]


_get, _release = ctypes.pythonapi.PyObject_GetBuffer, ctypes.pythonapi.PyBuffer_Release
_get.argtypes, _release.argtypes, _release.restype = [ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int], [ctypes.POINTER(_Buffer)], None


def address_of(view):
    """The address of what a memoryview shows; it is valid as long as the view."""
    one = _Buffer()
    _get(view, ctypes.byref(one), 0)
    address = one.buf
    _release(ctypes.byref(one))
    return address or 0
