"""One side of bench/graph/peers in a process of its own: SIDE WORK THREADS. It answers lines of its input with a line each.

    time N    launches N times after one that is not timed: the seconds of each
    save FILE keeps the result of the last launch as .npy

Every side is made with the same numbers, calculates in f32, keeps its input where it is, and may prepare weights as constants."""
import ctypes
import os
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("HG_BUILD_DIR") or os.path.join(HERE, "..", "..", "build", "release")
sys.path.insert(0, os.path.join(HERE, "..", "tensors"))
EPS = 1e-5
WORKS = {f"encoder {batch}x{places}": (batch, places) for batch in (1, 32) for places in (16, 128, 512)}
WORKS.update({"digits 1": (1,), "digits 1797": (1797,), "norm 512x768": None})  # extents: of sentences and their words, of images
import side  # noqa: E402  # pylint: disable=wrong-import-position
from side import D, HEADS  # noqa: E402  # pylint: disable=wrong-import-position


def kind(work):
    return work.split()[0]


def arrays(work):
    """Inputs, and what is constant."""
    random = np.random.default_rng(7)
    floats = lambda scale, *shape: (scale * random.uniform(-1, 1, shape)).astype(np.float32)  # noqa: E731
    if kind(work) == "norm":
        return {name: floats(1, 512, 768) for name in "xr"}, {name: floats(1, 768) for name in ("bias", "g", "h")}
    if kind(work) == "digits":
        images, *weights = side.digits(*WORKS[work])[0]
        return {"x": images}, dict(zip(("w1", "b1", "w2", "b2"), weights))
    weights = side.encoder_weights(random)
    return {"x": floats(1, *WORKS[work], D)}, weights


# ---- ours: the graph's text, constants among the buffers that are bound ----

def ours(work, inputs, weights, _threads, device=b"cpu"):
    library = ctypes.CDLL(os.path.join(BUILD, "libhologram.so"))
    library.hg_last_error_text.restype = ctypes.c_char_p
    library.hg_params_create.restype = ctypes.c_void_p

    def call(name, *args):
        if getattr(library, name)(*args):
            sys.exit(f"{name}: {library.hg_last_error_text().decode()}")

    def made(name, *args):
        result = ctypes.c_void_p()
        call(name, *args, ctypes.byref(result))
        return result

    long = ctypes.c_uint64
    backend = made("hg_backend_create", device, 0)
    params = ctypes.c_void_p(library.hg_params_create())
    shape = {"norm": (512, 768), "digits": (*(WORKS[work] or ()), 10)}.get(kind(work)) or (*WORKS[work], D)
    result, handles = np.empty(shape, np.float32), {}
    for name, array in {**inputs, **weights, "out": result}.items():
        handles[name] = long()
        call("hg_backend_allocate_buffer", backend, long(array.nbytes), ctypes.byref(handles[name]))
        call("hg_buffer_write", backend, handles[name], long(0), ctypes.c_void_p(array.ctypes.data), long(array.nbytes))
        call("hg_params_set_buffer", params, name.encode(), handles[name])
    for name, extent in zip("bs", WORKS[work] or ()):
        call("hg_params_set_scalar", params, name.encode(), 17, ctypes.byref(long(extent)))  # HG_TYPE_U64
    with open(os.path.join(HERE, kind(work) + ".graph"), "rb") as file:
        text = file.read()
    executable = made("hg_graph_compile", backend, made("hg_graph_read_text", text, long(len(text)), None, None), None)
    binding, launch = made("hg_graph_bind", executable, params), library.hg_graph_binding_launch

    def run():
        if launch(binding):
            sys.exit(library.hg_last_error_text().decode())

    def output():
        call("hg_buffer_read", backend, handles["out"], long(0), ctypes.c_void_p(result.ctypes.data), long(result.nbytes))
        return result
    return run, output, ""


# ---- on a PJRT plugin, XLA for the CPU where HOLOGRAM_PJRT names no other: ours, and JAX's own jit ----

PLUGIN = os.environ.get("HOLOGRAM_PJRT") or os.path.join(HERE, "..", "..", "build", "xla", "plugin")


def plugin(work, inputs, weights, threads):
    if not os.path.exists(PLUGIN):
        raise FileNotFoundError(f"no PJRT plugin {PLUGIN} (tools/setup test)")
    os.environ["HOLOGRAM_PJRT"] = PLUGIN
    return ours(work, inputs, weights, threads, b"tpu")


def jax_plugin(work, inputs, weights, threads):
    os.environ.update(PJRT_NAMES_AND_LIBRARY_PATHS=f"plugin:{PLUGIN}", JAX_PLATFORMS="plugin")
    return jax(work, inputs, weights, threads)


# ---- ours: the same as operations on tensors, recorded anew in each launch ----

def recorded(work, inputs, weights, _threads):
    given = {**inputs, **weights}
    if kind(work) == "norm":
        step = side.Steps(5)
        step("layer_norm", step("add", step("gelu", step("add", 0, 2)), 1), 3, 4)
    else:
        step = side.digits(1)[1] if kind(work) == "digits" else side.encoder_steps(*WORKS[work], list(given))
    library = side.library()
    ours_ = side.Ours(library, side.Executor(library), list(given.values()), step, True)

    def run():
        ours_.result = None  # the next one has its memory, and the same binding
        return ours_.seconds(1)
    return run, ours_.numpy, ""


def deterministic(work, inputs, weights, threads):
    os.environ["HOLOGRAM_DETERMINISTIC"] = "1"
    return recorded(work, inputs, weights, threads)


# ---- ONNX: one model for two peers ----

def model(work, inputs, weights):
    """The work as operators of ONNX, with known shapes."""
    from onnx import TensorProto, helper, numpy_helper
    shape = list(inputs["x"].shape)
    nodes, constants = [], dict(weights)

    def add(operator, *operands, out=None, **attributes):
        out = out or f"v{len(nodes)}"
        nodes.append(helper.make_node(operator, operands, [out], **attributes))
        return out

    def linear(x, w, b):
        return add("Add", add("MatMul", x, w), b)

    def norm(x, g, h, out=None):
        return add("LayerNormalization", x, g, h, out=out, axis=-1, epsilon=EPS)
    if kind(work) == "digits":
        add("Add", add("MatMul", add("Relu", linear("x", "w1", "b1")), "w2"), "b2", out="out")
    elif kind(work) == "norm":
        norm(add("Add", add("Gelu", add("Add", "x", "bias")), "r"), "g", "h", "out")
    else:
        batch, places, _ = shape
        constants.update({"split": np.array([batch, places, HEADS, D // HEADS]), "whole": np.array(shape), "scale": np.float32((D // HEADS) ** -0.5)})
        q, k, v = (add("Transpose", add("Reshape", linear("x", "w" + n, "b" + n), "split"), perm=[0, 2, 3, 1] if n == "k" else [0, 2, 1, 3]) for n in "qkv")
        heads = add("MatMul", add("Softmax", add("Mul", add("MatMul", q, k), "scale"), axis=-1), v)
        o = linear(add("Reshape", add("Transpose", heads, perm=[0, 2, 1, 3]), "whole"), "wo", "bo")
        n1 = norm(add("Add", "x", o), "g1", "h1")
        norm(add("Add", n1, linear(add("Gelu", linear(n1, "w1", "b1")), "w2", "b2")), "g2", "h2", "out")
    shapes = {"out": [shape[0], 10] if kind(work) == "digits" else shape}
    f32 = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shapes.get(name, shape)) for name in [*inputs, "out"]]
    graph = helper.make_graph(nodes, "work", f32[:-1], f32[-1:], [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    made.ir_version = 10
    return made.SerializeToString()


def onnxruntime(work, inputs, weights, threads):
    import onnxruntime as runtime
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    session = runtime.InferenceSession(model(work, inputs, weights), options, providers=["CPUExecutionProvider"])
    binding, result = session.io_binding(), runtime.OrtValue.ortvalue_from_numpy(np.empty((len(inputs["x"]), 10), "f4") if kind(work) == "digits" else np.empty_like(inputs["x"]))
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, runtime.OrtValue.ortvalue_from_numpy(array))
    binding.bind_ortvalue_output("out", result)
    return lambda: session.run_with_iobinding(binding), result.numpy, runtime.__version__


def openvino(work, inputs, weights, threads):
    import openvino as vino
    core = vino.Core()
    hints = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    request = core.compile_model(core.read_model(model(work, inputs, weights)), "CPU", hints).create_infer_request()
    for name, array in inputs.items():
        request.set_tensor(name, vino.Tensor(array, shared_memory=True))

    def run(_kept=inputs):  # the request does not keep the memory of its inputs
        request.infer(share_outputs=True)
    return run, lambda: request.get_output_tensor().data, vino.__version__.split("-", maxsplit=1)[0]


# ---- PyTorch ----

def eager(work, inputs, weights, threads, compiled=False):
    import torch
    from torch.nn import functional as F
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    torch.set_float32_matmul_precision("highest")

    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name, w in weights.items():  # matrices as torch.nn.Linear keeps them
                self.register_parameter(name, torch.nn.Parameter(torch.from_numpy(w.T.copy()), requires_grad=False))

    class Norm(Module):
        def forward(self, x, r):
            return F.layer_norm(F.gelu(x + self.bias) + r, (768,), self.g, self.h, EPS)

    class Digits(Module):
        def forward(self, x):
            return F.linear(F.relu(F.linear(x, self.w1, self.b1)), self.w2, self.b2)

    class Encoder(Module):
        def forward(self, x):
            batch, places, _ = x.shape
            q, k, v = (F.linear(x, w, b).view(batch, places, HEADS, D // HEADS).transpose(1, 2)
                       for w, b in ((self.wq, self.bq), (self.wk, self.bk), (self.wv, self.bv)))
            heads = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, places, D)
            n1 = F.layer_norm(x + F.linear(heads, self.wo, self.bo), (D,), self.g1, self.h1, EPS)
            return F.layer_norm(n1 + F.linear(F.gelu(F.linear(n1, self.w1, self.b1)), self.w2, self.b2), (D,), self.g2, self.h2, EPS)
    module, x, kept = {"norm": Norm, "digits": Digits, "encoder": Encoder}[kind(work)]().eval(), [torch.from_numpy(a) for a in inputs.values()], [None]
    if compiled:
        import torch._inductor.config
        torch._inductor.config.freezing = True  # weights are constants
        module = torch.compile(module)

    def run():
        kept[0] = module(*x)
    return run, lambda: kept[0].numpy(), torch.__version__


def compiled(work, inputs, weights, threads):
    return eager(work, inputs, weights, threads, True)


# ---- JAX ----

def jax(work, inputs, weights, _threads):
    import jax as peer  # as many threads as there are cores that the process may use
    from jax import nn, numpy as jnp

    def norm(x, g, h):
        d = x - x.mean(-1, keepdims=True)
        return d * peer.lax.rsqrt((d * d).mean(-1, keepdims=True) + EPS) * g + h

    def maps(w, x, r):
        return norm(nn.gelu(x + w["bias"], approximate=False) + r, w["g"], w["h"])

    def network(w, x):
        return nn.relu(x @ w["w1"] + w["b1"]) @ w["w2"] + w["b2"]

    def encoder(w, x):
        batch, places, _ = x.shape
        q, k, v = ((x @ w["w" + n] + w["b" + n]).reshape(batch, places, HEADS, D // HEADS).transpose(0, 2, 1, 3) for n in "qkv")
        heads = nn.softmax(q @ k.transpose(0, 1, 3, 2) * (D // HEADS) ** -0.5, -1) @ v
        n1 = norm(x + heads.transpose(0, 2, 1, 3).reshape(batch, places, D) @ w["wo"] + w["bo"], w["g1"], w["h1"])
        return norm(n1 + nn.gelu(n1 @ w["w1"] + w["b1"], approximate=False) @ w["w2"] + w["b2"], w["g2"], w["h2"])
    function, kept = peer.jit({"norm": maps, "digits": network, "encoder": encoder}[kind(work)]), [None]
    w, x = {n: jnp.asarray(a) for n, a in weights.items()}, [jnp.asarray(a) for a in inputs.values()]

    def run():
        kept[0] = function(w, *x).block_until_ready()
    return run, lambda: np.asarray(kept[0]), peer.__version__


SIDES = {"ours": ours, "ours again": ours, "tensors": recorded, "deterministic": deterministic, "OpenVINO": openvino, "ONNX Runtime": onnxruntime, "PyTorch": eager, "torch.compile": compiled, "JAX": jax,
         "plugin": plugin, "plugin again": plugin, "JAX on the plugin": jax_plugin}

OURS = [name for name, function in SIDES.items() if function in (ours, recorded, deterministic, plugin)]


def main():
    name, work, threads = sys.argv[1:]
    try:
        run, output, version = SIDES[name](work, *arrays(work), int(threads))
        end = time.perf_counter() + 3  # native code of hot kernels is compiled meanwhile
        run()
        while time.perf_counter() < end:
            run()
    except Exception as reason:  # pylint: disable=broad-exception-caught
        print("missing", " ".join(f"{type(reason).__name__}: {reason}".split())[:160], flush=True)
        return
    print("ready", version, flush=True)
    for line in sys.stdin:
        order, what = line.rstrip("\n").split(" ", 1)
        if order == "save":
            np.save(what, output())
            print("saved", flush=True)
            continue
        run()
        times = []
        for _ in range(int(what)):
            start = time.perf_counter()
            own = run()  # seconds where C measured them
            times.append(own if isinstance(own, float) else time.perf_counter() - start)
        print(*times, flush=True)


if __name__ == "__main__":
    main()
