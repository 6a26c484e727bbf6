"""Executors: a device, its memory and how it was configured."""
import ctypes
import operator
import os
import threading

from . import _interface as c
from . import _native
from ._errors import check

_default = None
_lock = threading.Lock()


def set_field(config, name, value, what="setting"):
    """Sets a field of a structure of settings or options by its name."""
    fields = {field: kind for field, kind in config._fields_ if field != "size" and not field.startswith("reserved")}
    if name not in fields:
        raise TypeError(f"no {what} is called {name!r}: there are {', '.join(sorted(fields))}")
    if fields[name] is ctypes.c_char_p and not isinstance(value, (str, bytes, os.PathLike, type(None))):
        raise TypeError(f"{name}: a text is expected, not {value!r}")  # ctypes takes an integer as the address of one
    if isinstance(value, (tuple, list)):
        for i, one in enumerate(value):
            getattr(config, name)[i] = one
    elif isinstance(value, (str, os.PathLike)):
        text = os.fsencode(value)
        if hasattr(fields[name], "_length_") and len(text) >= fields[name]._length_:
            raise ValueError(f"{name}: {value!r} is longer than {fields[name]._length_ - 1} bytes")
        setattr(config, name, text)
    else:
        setattr(config, name, value)
        if isinstance(value, int) and getattr(config, name) != value:  # ctypes takes what fits
            raise OverflowError(f"{name}: {value} does not fit the {what}")


class Executor(_native.Executor):
    """A device with its memory. backend: "auto" (the first device, in the end the CPU), "cpu", "cuda", "opencl", "vulkan", "metal",
    "webgpu". BackendUnavailable with the reason where there is none. Settings are the fields of hg_config: Executor("cpu", num_threads=2,
    deterministic=True, cpu_level="baseline", timeout_ms=1000). Arrays keep their executor."""

    __slots__ = ("_settings", "__weakref__")

    def __new__(cls, backend="auto", **settings):
        if not settings:
            made = super().__new__(cls, backend=backend)
            made._settings = {"backend": backend}
            return made
        config = c.hg_config()
        check(c.hg_config_init(ctypes.byref(config), ctypes.sizeof(config)))
        check(c.hg_config_read_env(ctypes.byref(config)))
        for name, value in {"backend": backend, **settings}.items():
            set_field(config, name, value)
        return cls._configured(config)

    @classmethod
    def _configured(cls, config):
        made = ctypes.c_void_p()
        check(c.hg_executor_create_from_config(ctypes.byref(config), ctypes.byref(made)))
        made = cls._of(made.value)
        made._settings = {name: tuple(value) if hasattr(value, "_length_") else value for name, *_ in config._fields_
                          if name != "size" and not name.startswith("reserved") for value in [getattr(config, name)]}
        return made

    def __reduce_ex__(self, protocol):
        """What it was made with: where it is read there is one executor for the same settings."""
        return _again, (self._settings,)

    @classmethod
    def from_config(cls, config):
        """With a hologram.Config: its backend, device and limits, its grid and block, its pool, its log."""
        return cls._configured(config._config)

    def __repr__(self):
        return f"Executor(backend={self.backend!r})"

    def _repr_html_(self):
        row = c.hg_device_info()
        check(c.hg_backend_describe(c.hg_executor_backend(self.handle), ctypes.byref(row), ctypes.sizeof(row)))
        memory = self.memory()
        return Devices([_device(row)])._repr_html_() + f"<p>{memory['used']:,} bytes of buffers in use, at most {memory['peak']:,}</p>"

    def __eq__(self, other):
        return isinstance(other, Executor) and self.handle == other.handle

    def __hash__(self):
        return hash(self.handle)

    def memory(self):
        """Bytes of its buffers: used, peak, kept, kept_count, reused."""
        info = c.hg_executor_memory_info(size=ctypes.sizeof(c.hg_executor_memory_info))
        check(c.hg_executor_memory(self.handle, ctypes.byref(info)))
        return {name: getattr(info, name) for name in ("used", "peak", "kept", "kept_count", "reused")}

    def allocate(self, count, dtype="float32"):
        """A Buffer of so many elements, zeroed."""
        from ._buffer import Buffer
        return Buffer(count, dtype, self)

    def execute(self, program, *args, **named):
        """Runs a program here with arrays and numbers, and waits."""
        program.bind(*args, executor=self, **named).launch()

    def write_profile(self, path):
        """What was recorded so far, as a Chrome trace, and as a table in path.txt. The executor is made with profiling=True."""
        check(c.hg_executor_write_profile(self.handle, os.fsencode(path)))

    def trim(self, bytes=0):
        """Frees kept buffers until no more than that many bytes are kept."""
        bytes = operator.index(bytes)
        if bytes < 0:
            raise ValueError(f"trim: {bytes} bytes")
        check(c.hg_executor_trim(self.handle, min(bytes, 2**64 - 1)))


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
    before = _default
    _restore(executor_of(executor))
    return before


def _restore(executor):
    """Makes an executor, or None, the default one again."""
    global _default
    _default = executor
    _native.forget_launches()


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


def _again(settings):
    """The executor of this process for the settings of another one's."""
    if len(settings) == 1:
        return executor_of(settings["backend"])
    key = tuple(sorted(settings.items()))
    with _lock:
        if key not in _by_name:
            _by_name[key] = Executor(**settings)
        return _by_name[key]


class Devices(list):
    """What devices() found: a list of dicts, which a notebook shows as a table."""

    __slots__ = ()

    def _repr_html_(self):
        import html
        rows = ((one["backend"], one["name"], "yes" if one["available"] else one["reason"], one["driver"], "equal bits" if one["exact"] else "") for one in self)
        head = ("backend", "device", "available", "driver", "results")
        return "<table><tr>" + "".join(f"<th>{name}</th>" for name in head) + "</tr>" + "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows) + "</table>"


def _device(row):
    """An hg_device_info as a dict."""
    text = ("backend", "name", "reason", "capabilities", "driver")
    return {name: (value.decode(errors="replace") if name in text else value)
            for name, *_ in c.hg_device_info._fields_ if name not in ("size", "reserved")
            for value in [getattr(row, name)]}


def devices():
    """All devices of this machine, as dicts; of a backend without one the entry has available False and the reason."""
    count = ctypes.c_size_t()
    check(c.hg_devices_list(None, ctypes.sizeof(c.hg_device_info), 0, ctypes.byref(count)))
    rows = (c.hg_device_info * max(count.value, 1))()
    check(c.hg_devices_list(rows, ctypes.sizeof(c.hg_device_info), count.value, ctypes.byref(count)))
    return Devices(_device(row) for row in rows[:count.value])
