"""The process of the peers: says nothing on its own, answers lines of JSON. One work at a time, any of its peers.

    {"prepare": WORK, "peer": NAME}   -> {} or {"missing": REASON}
    {"time": RUNS, "peer": NAME}      -> {"seconds": SECONDS A RUN}
    {"save": FILE, "peer": NAME}      -> {}: what it calculated, as .npy
"""
import ctypes
import json
import os
import sys
import time

import numpy as np

import works
from works import KINDS, WORKS

FOLDER, THREADS = sys.argv[1], int(sys.argv[2])


class Missing(Exception):
    """Why a peer cannot run here."""


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def aligned(array):
    room = np.empty(array.nbytes + 4096, np.uint8)
    skip = -room.ctypes.data % 4096
    copy = room[skip:skip + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def opened(name, what, package):
    path = os.path.join(FOLDER, f"{name}.so")
    if not os.path.exists(path):
        raise Missing(f"{what} is not installed (Debian package {package})")
    return ctypes.CDLL(path)


class Side:
    """seconds(runs) of function(), and the result."""

    def __init__(self, result, function=None):
        self.result, self.function = result, function

    def seconds(self, runs):
        function = self.function
        start = time.perf_counter()
        for _ in range(runs):
            function()
        return (time.perf_counter() - start) / runs

    def output(self):
        return self.result

    def close(self):
        pass


# ---- OpenBLAS ----

class Product(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in "abc"] + [(name, ctypes.c_int64) for name in ("batch", "m", "n", "k", "trans_a", "trans_b")]


class OpenBlas(Side):
    def __init__(self, work, arrays):
        if work.kind != "gemm" or work.type not in ("f32", "f64"):
            raise Missing("OpenBLAS has no such product")
        super().__init__(arrays["c"])
        library = opened("peer_openblas", "OpenBLAS", "libopenblas-pthread-dev")
        library.blas_threads(THREADS)
        self.arrays, self.call = arrays, library.blas_sgemm if work.type == "f32" else library.blas_dgemm
        self.call.restype = ctypes.c_double
        self.product = Product(arrays["a"].ctypes.data, arrays["b"].ctypes.data, arrays["c"].ctypes.data, work.batch, work.m, work.n, work.k, 0, 0)

    def seconds(self, runs):
        return self.call(ctypes.byref(self.product), runs)


# ---- oneDNN ----

class OneDnn(Side):
    TYPES = {"f16": 1, "bf16": 2, "f32": 3, "i32": 4, "i8": 5, "u8": 6}

    def __init__(self, work, arrays):
        super().__init__(arrays[KINDS[work.kind].result])
        self.library = opened("peer_onednn", "oneDNN", "libdnnl-dev")
        self.arrays, i, a = arrays, ctypes.c_int64, {name: pointer(x) for name, x in arrays.items()}
        make = lambda name, *args: getattr(self.library, name)(*args)  # noqa: E731
        for name in ("dnn_matmul", "dnn_conv", "dnn_softmax", "dnn_layer_norm", "dnn_gelu"):
            getattr(self.library, name).restype = ctypes.c_void_p
        self.library.dnn_time.restype = ctypes.c_double
        if work.kind == "gemm":
            t = self.TYPES.get(work.type)
            if t is None:
                raise Missing(f"oneDNN has no {work.type}")
            self.made = make("dnn_matmul", a["a"], a["b"], a["c"], t, t, 4 if work.type == "i8" else t, i(work.batch), i(work.m), i(work.n), i(work.k), 0, 0)
        elif work.kind == "conv2d":
            self.made = make("dnn_conv", a["x"], a["w"], a["y"], i(work.batch), i(work.into), i(work.out), i(work.height), i(work.width), i(work.kernel), i(work.stride),
                             i(work.pad), i(work.groups))
        elif work.kind == "softmax":
            self.made = make("dnn_softmax", a["x"], a["y"], i(work.rows), i(work.n))
        elif work.kind == "layer_norm":
            self.made = make("dnn_layer_norm", a["x"], a["y"], a["gamma"], a["beta"], i(work.rows), i(work.n), ctypes.c_float(1e-5))
        elif work.kind == "gelu":
            self.made = make("dnn_gelu", a["x"], a["y"], i(work.n))
        else:
            raise Missing(f"oneDNN has no {work.kind}")
        if not self.made:
            raise Missing("oneDNN does not support it on this CPU")

    def seconds(self, runs):
        seconds = self.library.dnn_time(ctypes.c_void_p(self.made), runs)
        if seconds < 0:
            raise Missing("oneDNN failed")
        return seconds

    def close(self):
        self.library.dnn_close(ctypes.c_void_p(self.made))


# ---- PyTorch ----

def torch_side(work, arrays):
    try:
        import torch  # pylint: disable=import-outside-toplevel
        import torch.nn.functional as F  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise Missing("PyTorch is not installed (Debian package python3-torch)") from None
    torch.set_num_threads(THREADS)
    torch.set_grad_enabled(False)
    t = {name: torch.from_numpy(x) for name, x in arrays.items() if x.dtype != np.uint32 and x.dtype != np.uint16}
    made = []

    def keep(function):
        def call():
            made[:] = [function()]
        side = Side(None, call)
        side.output = lambda: made[0].numpy()
        return side

    if work.kind == "gemm":
        return Side(arrays["c"], (lambda: torch.bmm(t["a"], t["b"], out=t["c"])) if work.batch > 1 else (lambda: torch.mm(t["a"][0], t["b"][0], out=t["c"][0])))
    if work.kind == "conv2d":
        return keep(lambda: F.conv2d(t["x"], t["w"], None, work.stride, work.pad, 1, work.groups))
    if work.kind == "attention":
        mask = torch.full((work.length, work.length), float("-inf")).triu(1) if work.causal else None
        scale = work.head ** -0.5

        def attention():
            s = torch.matmul(t["q"], t["k"].transpose(-2, -1)).mul_(scale)
            if mask is not None:
                s += mask
            return torch.matmul(torch.softmax(s, -1), t["v"])

        own = getattr(F, "_scaled_dot_product_attention", None)
        if own is None:
            return keep(attention)
        q, k, v = (t[name] for name in "qkv")
        if mask is not None:
            mask = mask[None, None]
        return keep(lambda: own(q, k, v, mask, 0.0, False, False)[0])
    if work.kind == "softmax":
        return keep(lambda: torch.softmax(t["x"], 1))
    if work.kind == "layer_norm":
        return keep(lambda: F.layer_norm(t["x"], (work.n,), t["gamma"], t["beta"], 1e-5))
    if work.kind == "group_norm":
        return keep(lambda: F.group_norm(t["x"], work.groups, t["gamma"], t["beta"], 1e-5))
    if work.kind == "gelu":
        return keep(lambda: F.gelu(t["x"]))
    if work.kind == "relu":
        return keep(lambda: F.relu(t["x"]))
    if work.kind == "rope":
        angle = torch.arange(work.length, dtype=torch.float32)[:, None] * t["freqs"]
        table = torch.polar(torch.ones_like(angle), angle)[:, None, :]  # made once, as models do
        x = torch.view_as_complex(t["x"].reshape(work.batch, work.length, work.heads, work.head // 2, 2))
        return keep(lambda: torch.view_as_real(x * table).flatten(3))
    raise Missing(f"PyTorch has no {work.kind}")


# ---- SciPy ----

def scipy_side(work, arrays):
    try:
        import scipy.fft  # pylint: disable=import-outside-toplevel
        import scipy.sparse  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise Missing("SciPy is not installed (Debian package python3-scipy)") from None
    side = Side(None)
    if work.kind == "fft":
        kind = np.complex64 if work.type == "f32" else np.complex128
        x = arrays["x"].view(kind)[..., 0]

        def call():
            side.result = scipy.fft.fft(x, axis=1, workers=THREADS)
        side.output = lambda: side.result.view(arrays["x"].dtype).reshape(arrays["x"].shape)
    elif work.kind == "sparse":
        a = scipy.sparse.csr_matrix((arrays["values"], arrays["indices"].astype(np.int32), arrays["ptr"].astype(np.int32)), (work.m, work.k))
        b = arrays["b"]

        def call():
            side.result = a @ b
    else:
        raise Missing(f"SciPy has no {work.kind}")
    side.function = call
    return side


PEERS = {"openblas": OpenBlas, "onednn": OneDnn, "torch": torch_side, "scipy": scipy_side}


def main():
    sides, current, arrays = {}, None, None
    for line in sys.stdin:
        order = json.loads(line)
        answer = {}
        try:
            if "prepare" in order:
                if order["prepare"] != current:
                    for side in sides.values():
                        side.close()
                    sides, current, arrays = {}, order["prepare"], None
                    arrays = KINDS[WORKS[current].kind].make(WORKS[current])
                sides[order["peer"]] = PEERS[order["peer"]](WORKS[current], {name: aligned(x) for name, x in arrays.items()})
            elif "time" in order:
                answer["seconds"] = sides[order["peer"]].seconds(order["time"])
            else:
                np.save(order["save"], sides[order["peer"]].output())
        except Missing as reason:
            answer["missing"] = str(reason)
        except RuntimeError as reason:  # PyTorch's errors
            answer["missing"] = str(reason).splitlines()[0]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
