"""The library's side of measurements with tensors: operations that C repeats, without Python between them (side.c). The environment says the
configuration of executors, which is read when one is made; HOLOGRAM_JIT is `on` unless it is set. Needs the build (HG_BUILD_DIR, else build/release)."""
import ctypes as C
import os
import subprocess
import sys

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(SOURCE, "tests", "tensors"))
os.environ.setdefault("HOLOGRAM_JIT", "on")
import tensors  # noqa: E402

MOST_INPUTS = 3
VIEWS = {"reshape": -1, "permute": -2}
D, HEADS, INNER = 384, 12, 1536  # of the encoder layer


class Step(C.Structure):
    _fields_ = [("operation", C.c_int32), ("inputs", C.c_uint32 * MOST_INPUTS), ("input_count", C.c_uint32), ("options", C.POINTER(tensors.Options))]


class Work(C.Structure):
    _fields_ = [("executor", C.c_void_p), ("given", C.POINTER(C.c_void_p)), ("given_count", C.c_uint32), ("steps", C.POINTER(Step)),
                ("step_count", C.c_uint32), ("in_scope", C.c_bool), ("own_clock", C.c_bool)]


def build():
    targets = ["bench_tensors", *(["hologram_jit"] if os.path.exists(os.path.join(tensors.BUILD, "libhologram_jit.so")) else [])]
    subprocess.run(["ninja", "-C", tensors.BUILD, *targets], stdout=subprocess.DEVNULL, check=True)


def library():
    return C.CDLL(os.path.join(tensors.BUILD, "bench", "tensors", "libbench_tensors.so"))


class Ours:
    """Steps (operation or view, numbers of its inputs, options): the inputs are of the arrays, then of the steps' results. own_clock: seconds are
    processor time of the calling thread, which is all of the work where the executor has one thread."""

    def __init__(self, side, executor, arrays, steps, in_scope, own_clock=False):
        self.side, self.inputs, self.options = side, [executor.tensor(a) for a in arrays], []
        handles = (C.c_void_p * len(arrays))(*[t.handle.value for t in self.inputs])
        list_ = (Step * len(steps))()
        for step, (name, inputs, options) in zip(list_, steps):
            operation = C.c_int(VIEWS.get(name, 0))
            if name not in VIEWS:
                tensors.check(tensors.lib.hg_ops_find(name.encode(), C.byref(operation)))
            self.options.append(tensors.options(**options))
            step.operation, step.input_count = operation.value, len(inputs)
            step.inputs[:len(inputs)], step.options = inputs, C.pointer(self.options[-1])
        self.executor = executor
        self.work = Work(executor.handle, handles, len(arrays), list_, len(steps), in_scope, own_clock)
        self.result = None

    def seconds(self, times):
        seconds, handle = C.c_double(), C.c_void_p()
        tensors.check(self.side.side_repeat(C.byref(self.work), C.c_uint64(times), C.byref(seconds), C.byref(handle)))
        self.result = tensors.Tensor(handle)
        return seconds.value

    def numpy(self):
        return self.result.numpy()


class Executor(tensors.Executor):
    """As the environment configures it."""

    def __init__(self, side):  # pylint: disable=super-init-not-called
        self.handle = C.c_void_p()
        tensors.check(side.side_executor(C.byref(self.handle)))


class Steps(list):
    """Steps of operations whose inputs are numbers of tensors; each call gives the number of its result."""

    def __init__(self, given):
        super().__init__()
        self.given = given

    def __call__(self, name, *inputs, **options):
        self.append((name, list(inputs), options))
        return self.given + len(self) - 1


def encoder_weights(random):
    floats = lambda scale, *shape: (scale * random.uniform(-1, 1, shape)).astype("f4")  # noqa: E731
    weights = {name: floats(0.05, D, D) for name in ("wq", "wk", "wv", "wo")}
    weights.update({"w1": floats(0.05, D, INNER), "w2": floats(0.05, INNER, D), "b1": floats(0.5, INNER)})
    weights.update({name: floats(0.5, D) for name in ("bq", "bk", "bv", "bo", "b2", "g1", "h1", "g2", "h2")})
    return weights


def encoder_steps(batch, places, names):
    """An encoder layer of x [batch, places, D] and weights by their names, in the order of `names`, of which x is one."""
    step, at = Steps(len(names)), {name: i for i, name in enumerate(names)}
    rows, heads, turned = [batch * places, D], [batch, places, HEADS, D // HEADS], [0, 2, 1, 3]
    x = step("reshape", at["x"], sizes=rows)
    q, k, v = (step("permute", step("reshape", step("fused_linear", x, at["w" + n], at["b" + n]), sizes=heads), sizes=turned) for n in "qkv")
    seen = step("reshape", step("permute", step("attention", q, k, v), sizes=turned), sizes=rows)
    first = step("layer_norm", step("add", step("fused_linear", seen, at["wo"], at["bo"]), x), at["g1"], at["h1"])
    inner = step("gelu", step("fused_linear", first, at["w1"], at["b1"]))
    step("layer_norm", step("add", step("fused_linear", inner, at["w2"], at["b2"]), first), at["g2"], at["h2"])
    return step


def digits(rows):
    """Arrays and steps of the digits' network: images [rows, 64] and its weights."""
    folder = os.path.join(SOURCE, "examples", "digits")
    weights = [tensors.np.load(os.path.join(folder, "weights", f"{name}.npy")) for name in ("w1", "b1", "w2", "b2")]
    images = tensors.np.load(os.path.join(folder, "data", "images.npy")).reshape(-1, 64)[:rows].astype("f4") / 16
    return [images, *weights], [("fused_linear", [0, 1, 2], {}), ("relu", [5], {}), ("fused_linear", [6, 3, 4], {})]
