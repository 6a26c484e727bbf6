"""Executors: a device, its memory and how it was configured."""
import ctypes
import threading

from . import _native
from ._errors import check

_default = None
_lock = threading.Lock()


class Executor(_native.Executor):
    """A device with its memory. backend: "auto" (the first device, in the end the CPU), "cpu", "cuda", "opencl", "vulkan", "metal",
    "webgpu". BackendUnavailable with the reason where there is none. Arrays keep theirs."""

    __slots__ = ("__weakref__",)

    def __repr__(self):
        return f"Executor(backend={self.backend!r})"

    def __eq__(self, other):
        return isinstance(other, Executor) and self.handle == other.handle

    def __hash__(self):
        return hash(self.handle)

    def memory(self):
        """Bytes of its buffers: used, peak, kept, kept_count, reused."""
        from . import _interface as c
        info = c.hg_executor_memory_info(size=ctypes.sizeof(c.hg_executor_memory_info))
        check(c.hg_executor_memory(self.handle, ctypes.byref(info)))
        return {name: getattr(info, name) for name in ("used", "peak", "kept", "kept_count", "reused")}

    def trim(self, bytes=0):
        """Frees kept buffers until no more than that many bytes are kept."""
        from . import _interface as c
        check(c.hg_executor_trim(self.handle, bytes))


def default_executor():
    """Where arrays lie unless told: the device that HOLOGRAM_BACKEND names, else the first that there is."""
    global _default
    if _default is None:
        with _lock:
            if _default is None:
                _default = Executor()
    return _default


def set_default_executor(executor):
    """Where arrays lie from now on; an Executor or the name of a backend. Returns what it was before, or None."""
    global _default
    before, _default = _default, executor_of(executor)
    _native.forget_launches()
    return before


_by_name = {}


def executor_of(device):
    """An Executor of None (the default), of itself, or of a backend's name, one for each name."""
    if device is None:
        return default_executor()
    if isinstance(device, _native.Executor):
        return device
    if isinstance(device, str):
        if _default is not None and device == _default.backend:
            return _default
        with _lock:
            if device not in _by_name:
                _by_name[device] = Executor(backend=device)
            return _by_name[device]
    raise TypeError(f"device: expected None, an Executor or the name of a backend, not {device!r}")


def devices():
    """All devices of this machine, as dicts; of a backend without one the entry has available False and the reason."""
    from . import _interface as c
    count = ctypes.c_size_t()
    check(c.hg_devices_list(None, ctypes.sizeof(c.hg_device_info), 0, ctypes.byref(count)))
    rows = (c.hg_device_info * max(count.value, 1))()
    check(c.hg_devices_list(rows, ctypes.sizeof(c.hg_device_info), count.value, ctypes.byref(count)))
    text = ("backend", "name", "reason", "capabilities", "driver")
    return [{name: (value.decode(errors="replace") if name in text else value)
             for name, *_ in c.hg_device_info._fields_ if name not in ("size", "reserved")
             for value in [getattr(row, name)]} for row in rows[:count.value]]
