"""Programs, what they are bound to, launches, queues and events."""
import ctypes
import math
import threading
from collections import namedtuple

from . import _executor, _native, types
from . import _interface as c
from ._errors import ProgramError, check, last
from ._handle import Owner

Param = namedtuple("Param", "name kind dtype direction dims default")
Param.__doc__ = """What a program asks its caller for. kind: "scalar", "buffer" or "pool"; direction: "in", "out", "inout" of a buffer; dims: extents as
text, None: any shape; default: text of a scalar that may be left out."""
_DIRECTIONS = {0: None, 1: "in", 2: "out", 3: "inout"}


def _text(pointer):
    """The text of a char *, freed."""
    value = ctypes.string_at(pointer).decode(errors="replace") if pointer else ""
    c.hg_string_free(pointer)
    return value


Diagnostic = namedtuple("Diagnostic", "severity code message hint line column length")
_SEVERITIES = ("error", "warning", "note", "fault")


class _Diagnostics:
    """The list that a call fills; raises a ProgramError that has it."""

    def __init__(self):
        self.handle = c.hg_diagnostics_create(0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        c.hg_diagnostics_destroy(self.handle)

    def all(self):
        rows = (c.hg_diagnostics_get(self.handle, i).contents for i in range(c.hg_diagnostics_count(self.handle)))
        return tuple(Diagnostic(_SEVERITIES[d.severity], d.code.decode(), d.message.decode(errors="replace"),
                                d.hint.decode(errors="replace") if d.hint else None, d.line, d.column, d.length) for d in rows)

    def check(self, status, name, text):
        if not status:
            return
        error = last(status)
        found = self.all()
        if not found:
            raise error
        raw = text.encode()
        printed = _text(c.hg_diagnostics_print(self.handle, name.encode(), raw, len(raw))).rstrip()
        raise ProgramError(printed, diagnostics=found, hint=next((d.hint for d in found if d.hint), None), code=found[0].code,
                           status=error.status, line=found[0].line or None, column=found[0].column or None, length=found[0].length or None)


class _Runnable(Owner):
    """A program or a graph: compiled once for each executor, when it is first asked for there. `_executables` is a dict, `_lock` for it."""

    __slots__ = ()

    def _executable(self, executor):
        """The address of what `_compile` makes of it for an Executor."""
        with self._lock:
            found = self._executables.get(executor.handle)
            if found is None:
                made = ctypes.c_void_p()
                check(self._compile(c.hg_executor_backend(executor.handle), ctypes.byref(made)))
                found = self._executables[executor.handle] = (made.value, executor)
            return found[0]

    def _destroy(self, handle):
        for executable, _ in self._executables.values():
            self._destroy_executable(executable)
        self._executables.clear()
        self._release(handle)

    def _printed(self, call):
        text = ctypes.c_void_p()
        check(call(self.handle, ctypes.byref(text), None))
        return _text(text)


class Program(_Runnable, _native.Dispatcher):
    """A verified program. Made by hologram.assemble (its text), open_program (a file), json_kernel, circuit; called with arrays by the names
    or in the order of its parameters it runs and waits."""

    __slots__ = ("_handle", "_params", "_executables", "_lock", "__weakref__")
    _makers = "assemble, open_program, json_kernel, named_kernel, decode and Builder.build"

    @classmethod
    def _of(cls, handle):
        made = super()._of(handle)
        made._params, made._executables, made._lock = None, {}, threading.Lock()
        return made

    def _compile(self, backend, made):
        return c.hg_executable_create(backend, self.handle, made)

    def _destroy_executable(self, executable):
        c.hg_executable_destroy(executable)

    def _release(self, handle):
        c.hg_program_release(handle)

    def __reduce_ex__(self, protocol):
        return decode, (self.encode(debug=True),)

    name = property(lambda self: c.hg_program_name(self.handle).decode(), doc="Its name.")
    hash = property(lambda self: ctypes.string_at(c.hg_program_hash(self.handle), 32).hex(),
                    doc="BLAKE3 of code, parameters and launch defaults, as hexadecimal digits.")

    def __len__(self):
        return c.hg_program_len(self.handle)

    @property
    def params(self):
        """Its parameters, in their order."""
        if self._params is None:
            found = []
            for i in range(c.hg_program_param_count(self.handle)):
                p = c.hg_param_description(size=ctypes.sizeof(c.hg_param_description))
                check(c.hg_program_param(self.handle, i, ctypes.byref(p)))
                kind = {c.HG_PARAM_SCALAR: "scalar", c.HG_PARAM_BUFFER: "buffer"}.get(p.kind, "pool")
                dims = None if kind != "buffer" or p.rank > 8 else tuple(p.dims[d].decode() for d in range(p.rank))
                found.append(Param(p.name.decode(), kind, None if kind == "pool" else types.by_code(p.type), _DIRECTIONS[p.dir], dims,
                                   p.default_text.decode() if p.default_text else None))
            self._params = tuple(found)
        return self._params

    def __repr__(self):
        return f"<Program {self.name}({', '.join(_signature(p) for p in self.params)}), {len(self)} instructions>"

    @property
    def text(self):
        """Its canonical text."""
        return self._printed(c.hg_program_print)

    @property
    def structured(self):
        """Its text as statements, where it is of that form."""
        return self._printed(c.hg_program_print_structured)

    def _repr_html_(self):
        import html
        return f"<details open><summary><code>{html.escape(repr(self)[1:-1])}</code></summary><pre>{html.escape(self.structured)}</pre></details>"

    def encode(self, debug=False):
        """The bytes of an .atlasb file."""
        data, length = ctypes.c_void_p(), ctypes.c_size_t()
        check(c.hg_program_encode(self.handle, 1 if debug else 0, ctypes.byref(data), ctypes.byref(length)))
        made = ctypes.string_at(data, length.value)
        c.hg_string_free(data)
        return made

    def emit(self, target, **options):
        """What a target makes of it: "opencl", "spirv", "c", "kir", "vector", …; text, or bytes of a binary target. Options are the fields
        of hg_emit_options: caps="poor", debug=True."""
        chosen = c.hg_emit_options(size=ctypes.sizeof(c.hg_emit_options))
        for name, value in options.items():
            _executor.set_field(chosen, name, value, "option")
        out, length = ctypes.c_void_p(), ctypes.c_size_t()
        check(c.hg_program_emit(self.handle, target.encode(), ctypes.byref(chosen), ctypes.byref(out), ctypes.byref(length)))
        made = ctypes.string_at(out, length.value)
        c.hg_string_free(out)
        index = 0
        while (about := c.hg_emit_target_get(index)):
            if about.contents.name == target.encode() and about.contents.binary:
                return made
            index += 1
        return made.decode()

    def executable(self, executor=None):
        """The address of its hg_executable on an executor, made once and kept."""
        return self._executable(_executor.executor_of(executor))

    def bind(self, *args, lanes=None, grid=None, block=None, timeout_ms=0, max_steps=0, executor=None, **named):
        """A launch with these arrays and numbers, checked once: call it again and again. lanes, or grid and block: how many lanes run, else
        what the program says. Arrays of NumPy and what has the buffer protocol are used in place on the CPU; their memory stays while
        the launch lives."""
        return self._bind(self._named(args, named), lanes, grid, block, timeout_ms, max_steps, executor, True)

    def _named(self, args, named):
        return by_name(self.name, [p.name for p in self.params], args, named)

    def _bind(self, values, lanes=None, grid=None, block=None, timeout_ms=0, max_steps=0, executor=None, keep=False):
        arrays = [value for value in values.values() if isinstance(value, _native.Array)]
        executor = arrays[0].executor if arrays and executor is None else _executor.executor_of(executor)
        executable = self.executable(executor)
        bound = _Bound(executor)
        try:
            for param in self.params:
                if param.name in values:
                    bound.set(param, values[param.name])
            bound.extents(self.params, values)
            launch = None
            if lanes is not None or grid is not None or timeout_ms or max_steps or block is not None:
                launch = _launch(lanes, grid, block)
                launch.timeout_ms, launch.max_steps = _count(timeout_ms, 64, "timeout_ms"), _count(max_steps, 64, "max_steps")
            made = ctypes.c_void_p()
            check(c.hg_binding_create(executable, None if launch is None else ctypes.byref(launch), bound.params, ctypes.byref(made)))
            again = not keep and not bound.copied and executor.backend == "cpu"
            return Launch._of(made.value, (self if keep else None, executor, *(() if again else bound.keeps)), again)
        finally:
            bound.free()

    def _bind_arguments(self, args, lanes):
        """What Dispatcher calls where it has no launch for these arguments."""
        values = self._named(args, {})
        grid = lanes if isinstance(lanes, tuple) else None
        return self._bind(values, None if grid else lanes, grid)

    def _launch_named(self, lanes, args, named):
        """The same for arguments by name."""
        grid = lanes if isinstance(lanes, tuple) else None
        self._bind(self._named(args, named), None if grid else lanes, grid).launch()

    def __call__(self, *args, lanes=None, **named):
        """Runs it with arrays and numbers by position or name, and waits. lanes: how many run, else what the program says."""
        if named:
            self._launch_named(lanes, args, named)
        else:
            self.run(lanes, *args)


def _signature(p):
    if p.kind == "scalar":
        return f"{p.name}: {p.dtype.short}" + (f" = {p.default}" if p.default is not None else "")
    if p.kind == "pool":
        return f"{p.name}: pool"
    return f"{p.name}: {p.direction} {p.dtype.short}" + (f"[{', '.join(p.dims)}]" if p.dims is not None else "[]")


def by_name(what, names, args, named):
    """Name of a parameter -> argument, of a call of a program or kernel of that name."""
    if len(args) > len(names):
        raise TypeError(f"{what} takes {len(names)} argument{'s' * (len(names) != 1)} ({', '.join(names)}), got {len(args)}")
    values = dict(zip(names, args))
    for name, value in named.items():
        if name not in names:
            raise TypeError(f"{what} has no parameter {name}: it has {', '.join(names)}")
        if name in values:
            raise TypeError(f"{what} got {name} twice")
        values[name] = value
    return values


def keyed(value):
    """Whether Dispatcher knows a number by its value: what is kept for it has that value. It knows those of Python, and buffers without axes,
    as scalars of NumPy are."""
    return type(value) in (int, float, bool) or getattr(value, "shape", None) == () and not isinstance(value, _native.Array)


def _count(value, bits, what):
    """A number of lanes, blocks, steps or milliseconds; an error where it does not fit."""
    number = value.__index__() if hasattr(value, "__index__") else None
    if number is None or not 0 <= number < 1 << bits:
        raise TypeError(f"{what}: an integer from 0 to below 2^{bits} is expected, not {value!r}")
    return number


def _launch(lanes, grid, block):
    launch = c.hg_launch(size=ctypes.sizeof(c.hg_launch))
    for axis in range(3):
        launch.grid[axis] = launch.block[axis] = 1
    if lanes is not None:
        if grid is not None or block is not None:
            raise TypeError("lanes and grid or block: one of both says how many lanes run")
        c.hg_launch_set_linear(ctypes.byref(launch), _count(lanes, 64, "lanes"))
        return launch
    if grid is None and block is None:
        launch.extents = c.HG_EXTENTS_PROGRAM
        for axis in range(3):
            launch.grid[axis] = launch.block[axis] = 0
        return launch
    for name, field, given in (("grid", launch.grid, grid), ("block", launch.block, block)):
        given = () if given is None else tuple(given) if isinstance(given, (tuple, list)) else (given,)
        if len(given) > 3:
            raise TypeError(f"{name}: at most 3 axes are expected, not {len(given)}")
        for axis, value in enumerate(given):
            field[axis] = _count(value, 32, name)
    return launch


class _Bound:
    """Values of a program's parameters, and the imported buffers that are freed when the binding has them."""

    def __init__(self, executor):
        self.executor, self.keeps, self.imported = executor, [], []
        self.backend = c.hg_executor_backend(executor.handle)
        self.params, self.copied, self.back = c.hg_params_create(), False, None
        self.shapes = {}

    def set(self, param, value):
        if param.kind == "scalar":
            self.scalar(param.name, param.dtype, value)
        elif param.kind == "buffer":
            self.buffer(param, value)
        else:
            raise TypeError(f"{param.name}: pools are the launch's own")

    def scalar(self, name, dtype, value):
        self.copied = self.copied or not keyed(value)
        data = _native.from_sequence(value, dtype, self.executor).tobytes() if dtype.itemsize > 8 or not isinstance(value, (int, float)) \
            else _scalar_bytes(name, dtype, value)
        check(c.hg_params_set_scalar(self.params, name.encode(), dtype.code, data))

    def pattern(self, name, cls, number):
        """A scalar of a class of _scalar."""
        check(c.hg_params_set_scalar(self.params, name.encode(), cls.code, cls.pattern(number).to_bytes(max(1, cls.size), "little")))

    def buffer(self, param, value):
        self.shapes[param.name] = self.array(param.name, value, param.direction != "in", param.dtype)

    def array(self, name, value, writes, dtype=None):
        """A parameter that is an array of a type, of any where dtype is None; its shape. What has the buffer protocol is used in place where
        the device sees the host's memory."""
        from ._array import convert
        on_cpu = self.executor.backend == "cpu"
        found = None if isinstance(value, _native.Array) or not on_cpu else _native.buffer_of(value)
        if found is not None:
            address, code, shape, in_order, read_only = found
            given = types.by_code(code)
            self.check(name, dtype, given)
            if in_order and not (writes and read_only):
                self.keeps.append(memoryview(value))  # its memory stays where it is
                self.import_memory(name, address, math.prod(shape) * given.itemsize)
                return shape
            if writes:
                raise ValueError(f"{name}: the program writes it, but {'it is read-only' if read_only else 'its elements do not lie in C order'}")
        if not isinstance(value, _native.Array):
            if writes and not on_cpu and self.back is not None and (host := _native.buffer_of(value)) is not None:
                if host[4]:
                    raise ValueError(f"{name}: the program writes it, but it is read-only")
                made = convert(value, None, self.executor, True)
                self.check(name, dtype, made.dtype)
                self.back.append((made, value))
                self.keeps.append(made)
                self.place(name, made)
                return made.shape
            if writes:
                raise TypeError(f"{name}: the program writes it, so it must be an array, not {type(value).__name__}" if on_cpu else
                                f"{name}: the program writes it on {self.executor.backend}: give an array that lies there")
            value, self.copied = convert(value, dtype if isinstance(value, (list, tuple, range)) else None, self.executor, None), True
        self.check(name, dtype, value.dtype)
        if not value.is_contiguous:
            if writes:
                raise ValueError(f"{name}: the program writes it, so its elements must lie in C order: strides are {value.strides} "
                                 f"for shape {value.shape}")
            value, self.copied = value.contiguous(), True
        self.keeps.append(value)
        self.place(name, value)
        return value.shape

    def copy_back(self):
        """What was written on the device, into memory of the host that was given for it."""
        from ._array import convert
        for made, value in self.back or ():
            convert(value, None, _executor.executor_of("cpu"), False)[...] = made.to(_executor.executor_of("cpu"))

    @staticmethod
    def check(name, wanted, given):
        if wanted is not None and (types.uint8 if given is types.bool else given) is not wanted:
            raise TypeError(f"{name}: an array of {wanted} is expected, not of {given}: astype() converts")

    def import_memory(self, name, address, size):
        buffer = c.hg_buffer()
        if size:
            check(c.hg_buffer_import(self.backend, address, size, ctypes.byref(buffer)))
        else:
            check(c.hg_backend_allocate_buffer(self.backend, 0, ctypes.byref(buffer)))
        self.imported.append(buffer)
        check(c.hg_params_set_buffer(self.params, name.encode(), buffer))

    def place(self, name, array):
        if self.executor.backend == "cpu" or not array.size:
            self.import_memory(name, _native.address_of(array) if array.size else None, array.nbytes)
            return
        buffer, offset = c.hg_buffer(), ctypes.c_uint64()
        check(c.hg_tensor_buffer(array.handle, ctypes.byref(buffer), ctypes.byref(offset)))
        if offset.value:
            raise ValueError(f"{name}: a view that begins at byte {offset.value} of its memory: copy() makes an array of its own")
        check(c.hg_params_set_buffer(self.params, name.encode(), buffer))

    def extents(self, params, values):
        """Scalars that name an extent, from the shapes of arrays."""
        scalars = {p.name: p for p in params if p.kind == "scalar"}
        found = {}
        for p in params:
            if p.kind != "buffer" or p.name not in self.shapes or not p.dims:
                continue
            shape = self.shapes[p.name]
            if len(shape) != len(p.dims):
                continue
            for dim, extent in zip(p.dims, shape):
                if dim in scalars and dim not in values:
                    if found.setdefault(dim, (extent, p.name))[0] != extent:
                        raise ValueError(f"{dim} is {found[dim][0]} in {found[dim][1]}, but {extent} in {p.name}")
        for name, (extent, _) in found.items():
            self.scalar(name, scalars[name].dtype, extent)

    def free(self):
        for buffer in self.imported:
            c.hg_backend_free_buffer(self.backend, buffer)
        c.hg_params_destroy(self.params)


def run_once(program, arrays, scalars):
    """Runs an hg_program once on the CPU. arrays: name -> (address, bytes) of memory of the host; scalars: (name, class of _scalar, number)."""
    bound = _Bound(_executor.executor_of("cpu"))
    try:
        for name, (address, size) in arrays.items():
            bound.import_memory(name, address, size)
        for name, cls, number in scalars:
            bound.pattern(name, cls, number)
        check(c.hg_backend_execute_program_with_params(bound.backend, program, None, bound.params))
    finally:
        bound.free()


def _scalar_bytes(name, dtype, value):
    import struct
    form = {"float64": "<d", "float32": "<f", "float16": "<e"}.get(dtype.name)
    try:
        if form:
            return struct.pack(form, value)
        if dtype.kind in "iu":
            if isinstance(value, float):
                raise TypeError(f"{name}: an integer of {dtype} is expected, not {value!r}")
            return int(value).to_bytes(dtype.itemsize, "little", signed=dtype.kind == "i")
    except OverflowError:
        raise OverflowError(f"{name}: {value} does not fit {dtype}") from None
    return _native.from_sequence(value, dtype, None).tobytes()


class Launch(_native.Launch):
    """A program bound to its arrays. Calling it runs it and waits; start returns an Event at once."""

    __slots__ = ()

    def start(self):
        """Starts it and returns an Event, which can be awaited."""
        event = ctypes.c_void_p()
        check(c.hg_binding_start(self.handle, None, ctypes.byref(event)))
        return Event._of(event.value, self)


_waiting, _waiting_lock, _next = {}, threading.Lock(), 0


def _done(user, status, error):
    """Called by a thread of the library."""
    with _waiting_lock:
        call = _waiting.pop(user, None)
    if call is not None:
        call(status, ctypes.cast(error, ctypes.POINTER(c.hg_error)).contents.message.decode(errors="replace") if error else None)


class Event(Owner):
    """A point in the work of a device. wait() waits; `await event` does in any asyncio loop; done says whether it is over. Launch.start and
    Queue.submit make it."""

    __slots__ = ("_handle", "_keeps", "__weakref__")
    _makers = "Launch.start and Queue.submit"
    _listener = None

    def _destroy(self, handle):
        c.hg_event_destroy(handle)

    def __repr__(self):
        if getattr(self, "_handle", None) is None:
            return "<Event, never made>"
        done = ctypes.c_bool()
        status = c.hg_event_query(self._handle, ctypes.byref(done))
        return f"<Event, {'running' if not done.value else 'failed' if status else 'done'}>"

    @property
    def done(self):
        """Whether the work is over; raises what it failed with."""
        done = ctypes.c_bool()
        status = c.hg_event_query(self.handle, ctypes.byref(done))
        if done.value:
            check(status)
        return done.value

    def wait(self, timeout=None):
        """Waits for so many seconds at most; Timeout where the work goes on. Raises what the work failed with."""
        import time
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = 50 if end is None else max(0, min(50, int((end - time.monotonic()) * 1000)))
            status = c.hg_event_wait_for(self.handle, left)
            if status != c.HG_ERROR_TIMEOUT or (end is not None and time.monotonic() >= end):
                check(status)
                return

    def cancel(self):
        """Ends the work early: lanes stop, and the event fails with `cancelled`."""
        c.hg_event_cancel(self.handle)

    def on_done(self, call):
        """Has call(error) called once by a thread of the library when the work is over; error is None or an exception's text."""
        global _next
        if not callable(call):
            raise TypeError(f"on_done: a function of the error is expected, not {call!r}")
        if Event._listener is None:
            Event._listener = c.hg_event_listener(_done)
        with _waiting_lock:
            _next += 1
            number = _next
            _waiting[number] = lambda status, message: call(None if not status else message or "failed")
        status = c.hg_event_on_done(self.handle, Event._listener, number)
        if status:
            with _waiting_lock:
                _waiting.pop(number, None)
            check(status)

    def __await__(self):
        import asyncio
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def finished(error):
            def settle():
                if not future.done():
                    future.set_result(None)
            try:
                loop.call_soon_threadsafe(settle)
            except RuntimeError:
                pass  # the loop is closed: nobody waits any more

        self.on_done(finished)
        try:
            yield from future.__await__()
        except asyncio.CancelledError:
            self.cancel()
            raise
        self.wait(0)


class Queue(Owner):
    """An ordered stream of work that runs beside the caller. submit() appends launches and returns an Event; synchronize() waits for all."""

    __slots__ = ("_handle", "_executor", "__weakref__")

    def __init__(self, executor=None):
        self._executor, made = _executor.executor_of(executor), ctypes.c_void_p()
        check(c.hg_queue_create(c.hg_executor_backend(self._executor.handle), None, ctypes.byref(made)))
        self._handle = made.value

    def _destroy(self, handle):
        c.hg_queue_destroy(handle)

    def __repr__(self):
        return f"<Queue of {getattr(self, '_executor', None)}>"

    executor = property(lambda self: self._executor, doc="Where its work runs.")

    def submit(self, *launches, after=()):
        """Appends launches, which start when the events of `after` are done. Returns an Event of their end."""
        after = tuple(after)
        for given, kind, what in ((launches, _native.Launch, "a launch that bind() made"), (after, Event, "an event")):
            for one in given:
                if not isinstance(one, kind):
                    raise TypeError(f"submit: {what} is expected, not {type(one).__name__}")
        commands = (c.hg_command * max(len(launches), 1))()
        for command, launch in zip(commands, launches):
            command.size, command.kind, command.binding = ctypes.sizeof(c.hg_command), c.HG_COMMAND_LAUNCH, launch.handle
        waits = (ctypes.c_void_p * max(len(after), 1))(*(event.handle for event in after))
        signal = ctypes.c_void_p()
        check(c.hg_queue_submit(self.handle, commands, len(launches), waits, len(after), ctypes.byref(signal)))
        return Event._of(signal.value, (self, launches))

    def synchronize(self):
        """Waits for everything submitted so far; raises the first error since the last call."""
        check(c.hg_queue_synchronize(self.handle))


# ---- making programs ----

def assemble(text, *, defines=None, program=None, name="program.atlas", resolve=None):
    """A program of its text. defines: values of `.const` names; program: which of several; resolve(file) -> bytes or text: files that
    `.include` and `.data` name. ProgramError with all messages and their places."""
    options = c.hg_assemble_options(size=ctypes.sizeof(c.hg_assemble_options))
    words = [f"{key}={value}".encode() for key, value in (defines or {}).items()]
    held = (ctypes.c_char_p * max(len(words), 1))(*words)
    options.defines, options.define_count = ctypes.addressof(held), len(words)
    options.program = None if program is None else program.encode()
    options.source_name = name.encode()
    keeps, trouble = [], []
    if resolve is not None:
        def find(user, source, file, out):
            try:
                found = resolve(file.decode())
            except Exception as error:
                trouble.append(error)
                return c.HG_ERROR_IO
            data = found.encode() if isinstance(found, str) else bytes(found)
            memory = ctypes.create_string_buffer(data, len(data) + 1)
            keeps.append((memory, file))
            source = ctypes.cast(out, ctypes.POINTER(c.hg_source)).contents
            source.name, source.bytes, source.length = file, ctypes.addressof(memory), len(data)
            return c.HG_OK
        finder = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)(find)
        keeps.append(finder)
        options.resolve = ctypes.cast(finder, ctypes.c_void_p)
    raw, made = text.encode(), ctypes.c_void_p()
    with _Diagnostics() as said:
        status = c.hg_program_assemble_with(raw, len(raw), ctypes.byref(options), said.handle, ctypes.byref(made))
        if trouble:
            raise trouble[0]
        said.check(status, name, text)
    return Program._of(made.value)


def decode(data):
    """A program of the bytes of an .atlasb file."""
    made = ctypes.c_void_p()
    data = bytes(data)
    with _Diagnostics() as said:
        said.check(c.hg_program_decode(data, len(data), said.handle, ctypes.byref(made)), "program.atlasb", "")
    return Program._of(made.value)


def json_kernel(text, kernel=None):
    """A program of a JSON kernel's document: its text, or an object of Python that json.dumps takes."""
    if not isinstance(text, str):
        import json
        text = json.dumps(text)
    made, raw = ctypes.c_void_p(), text.encode()
    with _Diagnostics() as said:
        said.check(c.hg_json_to_isa_translate_named(raw, len(raw), None if kernel is None else kernel.encode(), said.handle,
                                                    ctypes.byref(made)), "kernel.json", text)
    return Program._of(made.value)


def named_kernel(name):
    """A program of the library: "atlas_add_f32", …"""
    made = ctypes.c_void_p()
    check(c.hg_kernel_by_name(name.encode(), ctypes.byref(made)))
    return Program._of(made.value)


def open_program(path, **options):
    """A program of a file: .atlas (files that it includes lie beside it), .atlasb or .json."""
    import os
    path = os.fspath(path)
    if path.endswith(".atlas"):
        folder = os.path.dirname(path)

        def resolve(name):
            with open(os.path.join(folder, name), "rb") as file:
                return file.read()
        with open(path, encoding="utf-8") as file:
            return assemble(file.read(), name=path, resolve=resolve, **options)
    with open(path, "rb") as file:
        data = file.read()
    return json_kernel(data.decode(), **options) if path.endswith(".json") else decode(data)
