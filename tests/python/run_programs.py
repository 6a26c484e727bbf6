"""Programs, launches, queues, events, graphs, circuits, buffers and configurations of the Python package: against NumPy, called wrongly, from
threads, from asyncio, in forked and spawned processes, and interrupted; and the names that the specification has for them."""
import asyncio
import gc
import glob
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import types
import weakref

from package import BUILD, SOURCE, check, checks, hg, numpy

from hologram import _interface as c

np = numpy()

AXPY = """.atlas 1
.program axpy
.param a f32
.param x buffer f32 in [n]
.param y buffer f32 inout [n]
.param n u64
.lanes n
    y[global] = a * x[global] + y[global]
"""
BEYOND = """.atlas 1
.program beyond
.param x buffer f32 in [n]
.param y buffer f32 inout [n]
.param n u64
.lanes n
    y[global] = x[global + 5]
"""
ENDLESS = """.atlas 1
.program endless
.param x buffer u32 inout [n]
.param n u64
.lanes n
    let k u32 = 1
    while k != 0 {
        k = k * 3 + 1 | 1
    }
    x[global] = k
"""
SOMETIMES = """.atlas 1
.program sometimes
.param x buffer u32 inout [n]
.param n u64
.lanes n
    let k u32 = x[global]
    while (k & 1) != 0 {
        k = k * 3 + 2
    }
    x[global] = k
"""
LAYER = """.graph 1
.name layer
.extent b
.input x f32 [b, 3]
.constant w f32 [3, 2]
.constant bias f32 [2]
h = gemm a=x, b=w, bias=bias
y = parallel_map relu, in=h
.output y
"""


def refused(call, kinds, words, what):
    """The call raises one of these exceptions with all of the words; returns it."""
    try:
        call()
    except kinds as error:
        check(all(word in str(error) for word in words), f"{what}: {type(error).__name__}: {error}")
        return error
    except BaseException as error:  # noqa: B036
        check(False, f"{what}: {type(error).__name__}: {error}, expected {kinds}")
    else:
        check(False, f"{what}: no error")
    return None


def programs():
    axpy = hg.assemble(AXPY)
    x, y = np.arange(8, dtype="f"), np.ones(8, "f")
    axpy(2.0, x, y)
    check(np.array_equal(y, 2 * x + 1), f"axpy over NumPy's arrays: {y}")
    axpy(a=1.0, x=x, y=y)
    check(np.array_equal(y, 3 * x + 1), "by name")
    z = hg.asarray(np.ones(8, "f"))
    axpy(2.0, hg.asarray(x), z)
    check(z.tolist() == (2 * x + 1).tolist(), "over our arrays")
    axpy(2.0, x.tolist(), z)
    check(z.tolist() == (4 * x + 1).tolist(), "a list for what is only read")
    whole = np.ones((8, 2), "f")
    axpy(1.0, whole[:, 0], z)
    check(z.tolist() == (4 * x + 2).tolist(), "what is only read may have strides")
    for n in (0, 1, 1000):
        p, q = np.ones(n, "f"), np.zeros(n, "f")
        axpy(3.0, p, q)
        check((q == 3).all(), f"{n} elements")
    bound = axpy.bind(1.0, x, y)
    bound()
    bound.launch()
    bound.start().wait()
    check(np.array_equal(y, 6 * x + 1), "a bound launch, three times")
    check([(p.name, p.kind, p.direction, p.dims) for p in axpy.params] ==
          [("a", "scalar", None, None), ("x", "buffer", "in", ("n",)), ("y", "buffer", "inout", ("n",)), ("n", "scalar", None, None)], "params")
    again = hg.assemble(axpy.text)
    check(again.hash == axpy.hash and hg.decode(axpy.encode()).hash == axpy.hash and hg.assemble(axpy.structured).hash == axpy.hash, "text, bytes, statements")
    check("kernel" in axpy.emit("opencl") and isinstance(axpy.emit("spirv"), bytes), "emit")
    check("axpy" in repr(axpy) and "<pre>" in axpy._repr_html_(), "repr and HTML")
    few = np.zeros(8, "f")
    axpy.run(4, 1.0, np.ones(8, "f"), few)
    check(few.tolist() == [1, 1, 1, 1, 0, 0, 0, 0], "as many lanes as one says")
    axpy[2](1.0, np.ones(8, "f"), few)
    check(few.tolist() == [2, 2, 1, 1, 0, 0, 0, 0], "program[lanes](…)")
    check(hg.named_kernel("atlas_add_f32").name == "atlas_add_f32", "named_kernel")
    with open(os.path.join(SOURCE, "examples", "json", "axpy.json"), encoding="utf-8") as file:
        check(len(hg.json_kernel(file.read()).params) > 2, "a JSON kernel")


def kept():
    """Launches are kept by address, and no array lives longer for it."""
    axpy = hg.assemble(AXPY)
    for _ in range(40):
        x, y = np.full(16, 2, "f"), np.zeros(16, "f")
        axpy(1.0, x, y)
        check((y == 2).all(), "an array that lies where another lay")
    gone = weakref.ref(y)
    del x, y
    gc.collect()
    check(gone() is None, "the array is freed")
    swapped = np.zeros(32, "f")
    axpy(1.0, np.ones(16, "f"), swapped[:16])
    axpy(1.0, np.ones(16, "f"), swapped[16:])
    check((swapped == 1).all(), "two halves of one array")


def wrong():
    axpy = hg.assemble(AXPY)
    x, y = np.ones(8, "f"), np.ones(8, "f")
    refused(lambda: axpy(2.0, x, y[::2]), ValueError, ("y", "C order"), "strides of what is written")
    refused(lambda: axpy(2.0, x.astype("d"), y), TypeError, ("x", "float32", "float64"), "a wrong type")
    refused(lambda: axpy(2.0, x, np.ones(9, "f")), ValueError, ("n is 8", "9 in y"), "extents that differ")
    refused(lambda: axpy(2.0, x, [1.0] * 8), TypeError, ("y", "list"), "a list for what is written")
    refused(lambda: axpy(2.0, x), hg.ProgramError, ("y",), "an argument is missing")
    refused(lambda: axpy(2.0, x, y, 8, 9), TypeError, ("5", "4"), "too many arguments")
    refused(lambda: axpy(2.0, x, z=y), TypeError, ("z",), "an unknown name")
    refused(lambda: axpy(2.0, x, y, x=y), TypeError, ("x", "twice"), "a name twice")
    refused(lambda: axpy("a", x, y), TypeError, (), "a text as number")
    refused(lambda: axpy(2.0, x, y, -1), (OverflowError, ValueError), ("n",), "a negative count")
    locked = np.ones(8, "f")
    locked.flags.writeable = False
    axpy(0.0, locked, y)
    refused(lambda: axpy(2.0, x, locked), ValueError, ("y", "read-only"), "what is read-only")
    refused(lambda: axpy.bind(2.0, x, y).launch(1), TypeError, (), "a bound launch with arguments")
    error = refused(lambda: hg.assemble(".atlas 1\n.program q\n    foo r1, r2\n", name="q.atlas"), hg.ProgramError, ("q.atlas:3:5", "N01", "foo", "hint", "^"), "a text")
    check(error is not None and error.code == "N01" and error.place == (3, 5) and error.hint and error.diagnostics[0].code == "N01", "the error's fields")
    error = refused(lambda: hg.assemble(BEYOND)(x, y), hg.ExecutionError, ("axis 0", "'x'"), "an index beyond")
    check(error is not None and error.code == "F01" and error.lane == 3 and error.place == (7, 19), f"where: {error.__dict__ if error else None}")
    refused(lambda: hg.json_kernel("{"), hg.ProgramError, (), "bad JSON")
    refused(lambda: hg.decode(b"nonsense"), hg.ProgramError, (), "bad bytes")
    refused(lambda: hg.named_kernel("no_such"), hg.ArgumentError, ("no_such",), "an unknown kernel")
    refused(lambda: axpy.emit("cobol"), hg.ArgumentError, ("cobol",), "an unknown target")
    refused(lambda: axpy.emit("opencl", colour=1), TypeError, ("colour",), "an unknown option")
    refused(lambda: hg.assemble(AXPY, defines={"q": 1}), hg.ProgramError, ("q",), "a constant that is not there")
    refused(lambda: hg.assemble(".include \"x.atlas\"\n" + AXPY), hg.ProgramError, (), "an include without a resolver")
    refused(lambda: hg.Graph(".graph 2"), hg.ProgramError, ("S02",), "a graph's text")
    refused(lambda: hg.Graph(LAYER)(x=np.zeros((2, 3)), w=x, bias=x, y=x), TypeError, ("x", "float32", "float64"), "a graph's array of another type")
    refused(lambda: hg.Graph(LAYER)(x=np.zeros((2, 3), "f")), hg.ArgumentError, ("w",), "a graph without an array")
    refused(lambda: hg.Circuit("merge@c99"), hg.ProgramError, (), "a circuit's text")
    refused(lambda: hg.Buffer(4).copy_from([1, 2]), hg.ArgumentError, ("Invalid buffer size", "2", "4"), "a buffer of another size")
    for name in ("metal", "cuda", "webgpu"):
        try:
            hg.new_executor_with_backend(name)
        except hg.BackendUnavailable as unavailable:
            check(str(unavailable).startswith("Backend not available: "), str(unavailable))
        else:
            check(True, f"{name} is here")


def hostile():
    """Memory that would move, numbers that do not fit, handles of another kind."""
    import array
    program = hg.assemble(AXPY)
    x, y = array.array("f", [1] * 4), bytearray(np.zeros(4, "f4"))
    with memoryview(y).cast("f") as view:
        launch = program.bind(2.0, x, view)
    refused(lambda: x.extend([1] * 10**6), BufferError, ("export",), "growing an array that a launch uses")
    refused(lambda: y.extend(bytes(10**6)), BufferError, ("export",), "growing a bytearray that a launch uses")
    launch()
    del launch
    check(np.frombuffer(y, "f4").tolist() == [2, 2, 2, 2], "the launch wrote where the memory is")
    made, other = np.zeros(4, "f4"), []
    for i in range(20):
        made[:] = 0
        program(np.float32(i), x, made)
        if made[0] != i:
            other.append(i)
    check(not other, f"scalars of NumPy: {other}")
    for lanes in (-1, 2**64 + 1, 1.5):
        refused(lambda lanes=lanes: program(2.0, x, made, lanes=lanes), TypeError, ("lanes", str(lanes)), f"{lanes} lanes")
    refused(lambda: program.bind(2.0, x, made, grid=2**32 + 1), TypeError, ("grid", str(2**32 + 1)), "a grid beyond 32 bits")
    refused(lambda: program.bind(2.0, x, made, grid=(1, 1, 1, 1)), TypeError, ("3 axes",), "a grid of four axes")
    refused(lambda: program.bind(2.0, x, made, timeout_ms=-1), TypeError, ("timeout_ms",), "a time-out below 0")
    queue = hg.Queue()
    check("cpu" in repr(queue) and "never" in repr(hg.Event.__new__(hg.Event)), "repr of a queue, and of what was never made")
    for wrong in (program, hg.zeros(3), queue):
        refused(lambda wrong=wrong: queue.submit(wrong), TypeError, ("submit", type(wrong).__name__), f"submitting {wrong!r}")
        refused(lambda wrong=wrong: queue.submit(after=[wrong]), TypeError, ("submit", "event"), f"waiting for {wrong!r}")


def nested():
    """A call that memory's owner makes while it is freed during another call: Ctrl-C is Python's again afterwards."""
    code = """
import ctypes, signal
import numpy as np
import hologram as hg
class Owner(np.ndarray):
    def __del__(self):
        if self.base is None:
            hg.ones(20000) + 1
class Now(ctypes.Structure):
    _fields_ = [("call", ctypes.c_void_p), ("rest", ctypes.c_char * 200)]
def handler():
    now = Now()
    ctypes.CDLL(None).sigaction(signal.SIGINT, None, ctypes.byref(now))
    return now.call
before = handler()
with hg.scope():
    x = hg.asarray(Owner(20000))
    y = x + 1
    del x
assert handler() == before, "another handler"
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted")
"""
    said = subprocess.run([sys.executable, "-B", "-c", code], env={**os.environ, "PYTHONPATH": os.path.join(BUILD, "python")}, capture_output=True, text=True)
    check(said.returncode == 0 and said.stdout.strip() == "interrupted", said.stdout + said.stderr + str(said.returncode))


def events():
    axpy = hg.assemble(AXPY)
    x, y = np.ones(64, "f"), np.zeros(64, "f")
    bound = axpy.bind(1.0, x, y)

    async def many():
        for _ in range(20):
            await bound.start()
        await asyncio.gather(*(one_of(axpy) for _ in range(10)))

    async def one_of(program):
        q = np.zeros(64, "f")
        await program.bind(2.0, x, q).start()
        check((q == 2).all(), "awaited beside others")
    asyncio.run(many())
    check((y == 20).all(), f"twenty awaited launches: {y[0]}")
    queue = hg.Queue()
    first = queue.submit(bound, bound)
    second = queue.submit(bound, after=(first,))
    second.wait()
    queue.synchronize()
    check((y == 23).all() and first.done and second.done, "a queue")
    heard = threading.Event()
    bound.start().on_done(lambda error: heard.set() if error is None else None)
    check(heard.wait(10), "on_done")
    endless = hg.assemble(ENDLESS).bind(np.zeros(4, "u4"))
    event = endless.start()
    refused(lambda: event.wait(0.02), hg.Timeout, (), "wait with a limit")
    check(not event.done, "it goes on")
    event.cancel()
    refused(event.wait, hg.ExecutionError, ("cancelled",), "a cancelled launch")

    async def cancelled():
        task = asyncio.ensure_future(waits(endless))
        await asyncio.sleep(0.02)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return True
        return False

    async def waits(launch):
        await launch.start()
    check(asyncio.run(cancelled()), "a cancelled task cancels its launch")
    refused(lambda: hg.assemble(ENDLESS).bind(np.zeros(4, "u4"), timeout_ms=20).launch(), hg.ExecutionError, ("20",), "a time limit")


def interrupted():
    endless, a = hg.assemble(ENDLESS), np.zeros(4, "u4")
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        endless(a)
        check(False, "an endless program ended")
    except KeyboardInterrupt:
        check(True, "Ctrl-C ends a launch")
    a += 1
    check((a == 1).all(), "arrays are valid afterwards")
    x = hg.rand((2500, 2500), dtype="float32")
    (x[:2, :2] @ x[:2, :2]).item  # the executor is there
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        for _ in range(200):
            x @ x
        check(False, "two hundred products ended within 0.2 seconds")
    except KeyboardInterrupt:
        check(True, "Ctrl-C ends an operation on arrays")
    check((x[:1] * 0).sum().item() == 0, "arrays are valid afterwards")


def suddenly():
    """A launch that was quick until its memory has something else: others go on meanwhile, and Ctrl-C ends it."""
    a = np.zeros(4, "u4")
    launch = hg.assemble(SOMETIMES).bind(a)
    for _ in range(5):
        launch()
    a[:] = 1
    counted = [0]

    def other():
        time.sleep(0.15)
        for _ in range(4):
            counted[0] += 1
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=other)
    thread.start()
    try:
        launch()
        check(False, "an endless program ended")
    except KeyboardInterrupt:
        check(counted[0] == 4, f"another thread went on: {counted[0]}")
    thread.join()
    a[:] = 0
    launch()
    check((a == 0).all(), "and it runs again")


def terminal():
    """What takes long says so on a terminal, and nowhere else; in the end nothing of it is left."""
    import pty
    code = f"import numpy as np, hologram as hg\nlaunch = hg.assemble({ENDLESS!r}).bind(np.zeros(1, 'u4'), timeout_ms=1800)\n" \
           "try:\n    launch()\nexcept hg.ExecutionError:\n    print('over', flush=True)\n"
    command, environment = [sys.executable, "-B", "-c", code], {**os.environ, "PYTHONPATH": os.path.join(BUILD, "python"), "TERM": "xterm"}
    ours, theirs = pty.openpty()
    on_terminal = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=theirs)
    elsewhere = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(theirs)
    said = on_terminal.communicate(timeout=60)[0], *elsewhere.communicate(timeout=60)
    shown = b""
    try:
        while (more := os.read(ours, 1000)):
            shown += more
    except OSError:
        pass  # nobody has the other end any more
    os.close(ours)
    check(said == (b"over\n", b"over\n", b""), f"without a terminal nothing is written: {said}")
    check(shown.startswith(b"\r\x1b[Khologram: a launch, 1 s") and shown.endswith(b"\r\x1b[K"), f"on a terminal: {shown!r}")


def manners():
    """What notebooks show, and a Python that cannot load the extension."""
    executor = hg.Executor("cpu")
    check("<table>" in hg.devices()._repr_html_() and "<td>cpu</td>" in executor._repr_html_() and "bytes" in executor._repr_html_(), executor._repr_html_())
    strange = hg.devices()
    strange[0]["name"] = "<b>&"
    check("<td>&lt;b&gt;&amp;</td>" in strange._repr_html_(), "names are escaped")
    said = subprocess.run([sys.executable, "-B", "-c", "import sys; sys.abiflags = 't'; import hologram"], env={**os.environ, "PYTHONPATH": os.path.join(BUILD, "python")},
                          capture_output=True, text=True)
    check(said.returncode == 1 and "ImportError: hologram: this Python is a free-threaded build" in said.stderr, said.stderr)


def child(queue):
    axpy, y = hg.assemble(AXPY), np.zeros(16, "f")
    axpy(2.0, np.ones(16, "f"), y)
    queue.put((float(y.sum()), (hg.ones((4, 4)) @ hg.ones((4, 4))).tolist()[0][0]))


def processes():
    hg.ones(3).sum()
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        process = context.Process(target=child, args=(queue,))
        process.start()
        try:
            made = queue.get(timeout=60)
        except Exception as error:
            made = error
        process.join(10)
        check(made == (32.0, 4.0) and process.exitcode == 0, f"{method}: {made}, exit {process.exitcode}")


def threads():
    axpy, wrong_in = hg.assemble(AXPY), []

    def work(number):
        for i in range(50):
            y = np.zeros(100 + number, "f")
            axpy(float(number), np.ones(100 + number, "f"), y)
            if not (y == number).all():
                wrong_in.append(number)
    all_threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for one in all_threads:
        one.start()
    for one in all_threads:
        one.join()
    check(not wrong_in, f"threads {wrong_in}")


def graphs():
    graph = hg.Graph(LAYER)
    x, w, bias = np.arange(6, dtype="f").reshape(2, 3), np.array([[1, 0], [0, 1], [1, 1]], "f"), np.array([-1, -20], "f")
    y = np.zeros((2, 2), "f")
    graph(x=x, w=w, bias=bias, y=y)
    check(np.array_equal(y, np.maximum(x @ w + bias, 0)), f"a graph: {y}")
    bound = graph.bind(x=hg.asarray(x), w=hg.asarray(w), bias=bias.tolist(), y=y)
    y[:] = 0
    bound()
    check(np.array_equal(y, np.maximum(x @ w + bias, 0)) and bound.memory()["launches"] >= 1, "bound")
    check(hg.Graph(graph.text).text == graph.text, "its text")
    shared, compiled, compile_graph = hg.Graph(LAYER), [], c.hg_graph_compile
    c.hg_graph_compile = lambda *args: (compiled.append(args), time.sleep(0.02), compile_graph(*args))[-1]
    together = [threading.Thread(target=shared.bind, kwargs={"x": x, "w": w, "bias": bias, "y": np.zeros((2, 2), "f")}) for _ in range(3)]
    for step in (threading.Thread.start, threading.Thread.join):
        for one in together:
            step(one)
    c.hg_graph_compile = compile_graph
    check(len(compiled) == 1, f"threads that bind one graph compile it {len(compiled)} times")
    pairs = hg.Graph(".graph 1\n.extent b\n.input x f32 [b * 2]\ny = parallel_map relu, in=x\n.output y\n")  # no shape is the extent's
    z = np.array([-1, 2, -3, 4], "f")
    for extent in (2, np.int64(2)):
        got = np.ones(4, "f")
        pairs(x=z, y=got, b=extent)
        check(np.array_equal(got, np.maximum(z, 0)), f"an extent that is said: {got}")
    refused(lambda: pairs(x=z, y=got), hg.ArgumentError, ("b", "not set"), "an extent that nothing says")
    refused(lambda: pairs(x=z, y=got, b=3), hg.ArgumentError, ("x", "b * 2", "24"), "an extent that does not fit")
    refused(lambda: pairs(x=z, y=got, b=-1), TypeError, ("b", "-1"), "an extent below 0")
    refused(lambda: graph(x=x, w=w, bias=bias, y=y, b=3), ValueError, ("b", "2", "3"), "an extent that the shapes say otherwise")
    refused(lambda: pairs(x=z, y=got, b=2, q=3), hg.ArgumentError, ("q",), "an extent that is not there")
    with open(os.path.join(SOURCE, "examples", "circuits", "hadamard.circuit"), encoding="utf-8") as file:
        circuit = hg.Circuit(file.read())
    arrays = {i: np.arange(5, dtype="f") + i for i in range(4)}
    made = circuit(arrays, range(4))
    matrix = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]], "f")
    check(all(np.array_equal(made[i].numpy(), (matrix @ np.stack([arrays[k] for k in range(4)]))[i]) for i in range(4)), "a circuit: Walsh-Hadamard of four arrays")


def names():
    """What the specification calls them."""
    check(hg.new_executor().backend == "cpu" and isinstance(hg.new_executor_auto(), hg.Executor), "new_executor, new_executor_auto")
    check(hg.new_executor_with_backend("cpu").backend == hg.Executor(backend="cpu").backend == "cpu", "new_executor_with_backend, Executor(backend=…)")
    executor = hg.Executor(backend="auto")
    buffer = executor.allocate(4)
    buffer.copy_from([1, 2, 3, 4])
    check(buffer.size == 4 and buffer.to_vec() == [1, 2, 3, 4], "Buffer: size, copy_from, to_vec")
    a, b = hg.asarray([1.0, 2.0]), hg.asarray([3.0, 4.0])
    check(hg.ops.vector_add(a, b).tolist() == [4, 6] and hg.ops.vector_mul(a, b).tolist() == [3, 8], "ops.vector_add, ops.vector_mul")
    tensor = hg.asarray(np.arange(6, dtype="f").reshape(2, 3))
    check(isinstance(tensor, hg.Tensor) and tensor.shape == (2, 3) and tensor.strides == (3, 1) and tensor.ndim == 2 and tensor.numel() == 6, "Tensor")
    check(tensor.select(0, 1).to_vec() == [3, 4, 5] and tensor.narrow(1, 1, 2).to_vec() == [1, 2, 4, 5] and tensor.transpose().shape == (3, 2) and
          tensor.matmul(tensor.transpose()).to_vec() == [5, 14, 14, 50], "select, narrow, transpose, matmul")
    executor.execute(hg.assemble(AXPY), 2.0, np.ones(3, "f"), np.ones(3, "f"))
    config = hg.Config(files=False)
    config.timeout_ms, config.backend = 5000, "cpu"
    check(hg.Executor.from_config(config).backend == "cpu" and any(row[0] == "HOLOGRAM_TIMEOUT_MS" for row in hg.Config.items()), "Config")
    refused(lambda: setattr(config, "nonsense", 1), (AttributeError, TypeError), ("nonsense",), "an unknown setting")
    check(any(row["backend"] == "cpu" and row["available"] for row in hg.devices()), "devices")


def profiles():
    import json
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        with hg.profile(path, backend="cpu"):
            (hg.ones((16, 16)) @ hg.ones((16, 16))).sum().item()
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        check(bool(trace) and os.path.exists(path + ".txt"), "a profile is a Chrome trace and a table")


@hg.kernel
def tripled(x: hg.In[hg.f32, "n"], y: hg.Out[hg.f32, "n"]):
    i = hg.lane()
    y[i] = 3.0 * x[i]


def pickles():
    """Programs, graphs, circuits, executors and kernels in a pickle: of another process they compute what they do here."""
    import importlib.util
    import pickle
    import tempfile
    factor = 5.0

    def times(v):
        return factor * v

    @hg.kernel(block=64)
    def inner(x: hg.In[hg.f32, "n"], y: hg.Out[hg.f32, "n"]):
        i = hg.lane()
        y[i] = times(x[i])

    program, graph = hg.assemble(AXPY), hg.Graph(".graph 1\n.extent b\n.input x f32 [b, 2]\ny = parallel_map neg, in=x\n.output y\n")
    executor = hg.Executor("cpu", num_threads=2, deterministic=True)
    again = pickle.loads(pickle.dumps((program, graph, executor, tripled, hg.Circuit("copy@c05->c06"))))
    check(again[0].hash == program.hash and again[0].text == program.text and again[1].text == graph.text, "a pickled program, a graph")
    check(again[3] is tripled and again[4].original == "copy@c05->c06", "a pickled kernel of a module is that kernel")
    check(again[2] == pickle.loads(pickle.dumps(executor)) and again[2].memory()["used"] == 0, "one executor for the same settings")
    config = hg.Config(files=False)
    config.num_threads, config.grid = 3, (2, 1, 1)
    check(dict(pickle.loads(pickle.dumps(hg.Executor.from_config(config)))._settings)["grid"] == (2, 1, 1), "an executor of a Config")
    check(pickle.loads(pickle.dumps(hg.Executor("cpu"))) == pickle.loads(pickle.dumps(hg.Executor("cpu"))), "one executor for the same backend")
    for label, one in {"launch": program.bind(2.0, np.ones(3, "f"), np.ones(3, "f")), "queue": hg.Queue()}.items():
        try:
            pickle.dumps(one)
            check(False, f"a pickled {label}")
        except TypeError as error:
            check("pickle" in str(error), f"a pickled {label}: {error}")
    check(pickle.loads(pickle.dumps(hg.static)) is hg.static, "a type of parameters is that type")
    x, y = np.arange(4, dtype="f"), np.zeros(4, "f")
    remade, arguments = inner.__reduce_ex__(4)  # what cloudpickle takes, whose copies of functions have no files
    told = {one.__name__: place for one, *place in arguments[-1]}
    check(sorted(told) == ["inner", "times"], f"a kernel goes with the text of {sorted(told)}")

    def copied(one):
        cells = tuple(types.CellType(copied(cell.cell_contents)) if isinstance(cell.cell_contents, types.FunctionType) else cell for cell in one.__closure__)
        made = types.FunctionType(one.__code__.replace(co_filename="<dynamic>"), one.__globals__, one.__name__, None, cells)
        made.__annotations__ = one.__annotations__
        return made
    for file in (__file__, "/nowhere/tasks.py"):
        function = copied(arguments[0])
        called = next(cell.cell_contents for cell in function.__closure__ if callable(cell.cell_contents))
        other = remade(function, *arguments[1:-1], [(one, file, *told[one.__name__][1:]) for one in (function, called)])
        other(x, y)
        check(np.array_equal(y, 5 * x) and other.block == (64, ), f"a kernel that is made again of {file}")
    sys.path += glob.glob(os.path.join(SOURCE, "build", "tasks", "lib", "python3*", "site-packages"))  # tests/python/tasks.txt
    if importlib.util.find_spec("cloudpickle") is None:
        checks.skip("cloudpickle is not installed (tools/setup test)")
    else:
        import cloudpickle
        main, other = pickle.loads(cloudpickle.dumps((tripled, inner)))
        main(x, y)
        check(main is not tripled and np.array_equal(y, 3 * x), "a kernel of the main module in cloudpickle")
        other(x, y)
        check(np.array_equal(y, 5 * x), "a kernel of a function in cloudpickle")
        code = f"import pickle, numpy as np; x, y = np.arange(4, dtype='f'), np.zeros(4, 'f'); pickle.loads({cloudpickle.dumps(inner)!r})(x, y); print(y.tolist())"
        said = subprocess.run([sys.executable, "-B", "-c", code], cwd="/", capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join((os.path.join(BUILD, "python"), *sys.path))})
        check(said.stdout.strip() == str((5 * x).tolist()), f"and in another process: {said.stdout}{said.stderr}")
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "tasks.py"), "w", encoding="utf-8") as file:
            file.write("import hologram as hg\n\n\n@hg.kernel\ndef halved(x: hg.In[hg.f32, 'n'], y: hg.Out[hg.f32, 'n']):\n    i = hg.lane()\n    y[i] = x[i] / 2.0\n")
        spec = importlib.util.spec_from_file_location("tasks", os.path.join(folder, "tasks.py"))
        tasks = sys.modules["tasks"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tasks)
        remade, arguments = hg.kernel(block=32)(tasks.halved.function).__reduce_ex__(4)
        remade(*arguments)(x, y)
        with open(os.path.join(folder, "tasks.py"), "r+", encoding="utf-8") as file:
            changed = file.read().replace("2.0", "0.125")
            file.seek(0)
            file.write(changed)
        remade(*arguments)(x, y)
        check(np.array_equal(y, x / 2), f"a kernel whose file was changed after its lines were read: {y}")
        with open(os.path.join(folder, "tasks.py"), "w", encoding="utf-8") as file:
            file.write(changed.replace("0.125", "2.0"))
        path = os.path.join(folder, "data")
        with open(path, "wb") as file:
            pickle.dump((program, graph, executor, tasks.halved), file)
        code = f"""import pickle, numpy as np
program, graph, executor, halved = pickle.load(open({path!r}, "rb"))
x, y, z = np.arange(6, dtype="f"), np.zeros(6, "f"), np.zeros((3, 2), "f")
halved(x, y)
executor.execute(program, 2.0, x, y)
graph(x=y.reshape(3, 2), y=z, executor=executor)
print(z.ravel().tolist(), executor._settings["num_threads"], executor._settings["deterministic"])"""
        said = subprocess.run([sys.executable, "-B", "-c", code], cwd=folder, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join((os.path.join(BUILD, "python"), folder))})
        check(said.stdout.strip() == f"{[-2.5 * i for i in range(6)]} 2 True", f"in another process: {said.stdout}{said.stderr}")
        del sys.modules["tasks"]


def imports():
    """`import hologram` opens no device and takes little."""
    code = ("import time, sys; t = time.perf_counter(); import hologram; "
            "print(time.perf_counter() - t, 'numpy' in sys.modules, hologram._executor._default)")
    said = subprocess.run([sys.executable, "-B", "-c", code], env={**os.environ, "PYTHONPATH": os.path.join(BUILD, "python")}, capture_output=True, text=True)
    check(said.returncode == 0 and said.stdout.split()[1:] == ["False", "None"], said.stdout + said.stderr)


if __name__ == "__main__":
    programs()
    kept()
    wrong()
    hostile()
    nested()
    events()
    interrupted()
    suddenly()
    terminal()
    manners()
    threads()
    graphs()
    names()
    profiles()
    pickles()
    imports()
    processes()
    sys.exit(checks.finish())
