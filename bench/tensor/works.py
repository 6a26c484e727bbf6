"""The works of bench/tensor/run. Both the library's process and the peers' read this table and make the same arrays of it.

A work says what is calculated: `kind`, sizes, the type of elements, how many operations it is (`operations`, or `moved` bytes), which peers calculate the same
and the ratio (peer's time over ours) that is to be reached against each."""
import numpy as np

F32, F64 = "f32", "f64"
DTYPES = {"f32": np.float32, "f64": np.float64, "bf16": np.uint16, "f16": np.float16, "i8": np.int8, "u8": np.uint8, "i32": np.int32, "u32": np.uint32}


def bf16_of(x):
    """Bits of the nearest bfloat16, ties to even."""
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def f32_of_bf16(x):
    return (x.astype(np.uint32) << 16).view(np.float32)


def random(shape, kind=F32, seed=1, scale=1.0):
    rng = np.random.default_rng([seed, *shape])
    if kind in ("i8", "u8", "i32", "u32"):
        low, high = {"i8": (-127, 128), "u8": (0, 256), "i32": (-1000, 1000), "u32": (0, 1000)}[kind]
        return rng.integers(low, high, shape).astype(DTYPES[kind])
    x = rng.standard_normal(shape, np.float32 if kind != F64 else np.float64) * scale
    return bf16_of(x) if kind == "bf16" else x.astype(DTYPES[kind])


class Work:
    """name, kind and numbers (also attributes); peers: {peer's name: goal or None}; peak: goal against the FMA peak, by least times."""

    def __init__(self, group, name, kind, peers, peak=None, copied=False, near=1e-4, vendor=(), **numbers):
        self.group, self.name, self.kind, self.peers, self.peak, self.copied, self.near, self.numbers = group, name, kind, peers, peak, copied, near, numbers
        self.vendor = dict(vendor)  # goals of the default path where it has its own
        self.type = "f32"  # unless the numbers say another
        self.__dict__.update(numbers)


# ---- what a kind is: arrays, the library's text, operations ----

def text(arrays, roles, instruction, types=None):
    """A program of one instruction whose sizes are constants."""
    lines = [".atlas 1", ".program p", *([".flag relaxed"] if "bf16" in (types or {}).values() else [])]  # so that oneDNN's products stand beside oneDNN
    for name, a in arrays.items():
        kind = (types or {}).get(name) or {v: k for k, v in DTYPES.items() if k != "bf16"}[a.dtype.type]
        lines.append(f".param {name} buffer {kind} {roles.get(name, 'in')} [{a.size}]")
    return "\n".join([*lines, ".lanes 1", instruction, ""])


class Gemm:
    @staticmethod
    def make(w):
        t, out = w.type, {"i8": "i32"}.get(w.type, w.type)
        return {"c": np.zeros((w.batch, w.m, w.n), DTYPES[out]), "a": random((w.batch, w.m, w.k), t, 1), "b": random((w.batch, w.k, w.n), t, 2)}

    @staticmethod
    def text(w, arrays):
        types = {name: "bf16" for name in "cab"} if w.type == "bf16" else {}
        sizes = f"m={w.m}, n={w.n}, k={w.k}"
        if w.type == "i8":
            line = f"quantized_gemm.i8 c=c, a=a, b=b, a_scale=1.0, b_scale=1.0, c_scale=1.0, {sizes}, sums=true"
        elif w.batch > 1:
            line = f"batched_gemm.{w.type} c=c, a=a, b=b, batch={w.batch}, {sizes}"
        else:
            line = f"gemm.{w.type} c=c, a=a, b=b, {sizes}"
        return text(arrays, {"c": "inout"}, line, types)

    @staticmethod
    def operations(w):
        return 2.0 * w.batch * w.m * w.n * w.k

    result = "c"


class Conv:
    @staticmethod
    def sizes(w):
        return (w.height + 2 * w.pad - w.kernel) // w.stride + 1, (w.width + 2 * w.pad - w.kernel) // w.stride + 1

    @staticmethod
    def make(w):
        h, v = Conv.sizes(w)
        return {"y": np.zeros((w.batch, w.out, h, v), np.float32), "x": random((w.batch, w.into, w.height, w.width)),
                "w": random((w.out, w.into // w.groups, w.kernel, w.kernel), seed=2, scale=0.1)}

    @staticmethod
    def text(w, arrays):
        return text(arrays, {"y": "out"}, f"conv2d.f32 output=y, input=x, kernel=w, batch={w.batch}, in_channels={w.into}, out_channels={w.out}, height={w.height}, "
                    f"width={w.width}, kernel_h={w.kernel}, kernel_w={w.kernel}, stride=({w.stride}, {w.stride}), padding=({w.pad}, {w.pad})" + (f", groups={w.groups}" if w.groups > 1 else ""))

    @staticmethod
    def operations(w):
        h, v = Conv.sizes(w)
        return 2.0 * w.batch * w.out * h * v * w.into / w.groups * w.kernel * w.kernel

    result = "y"


class Attention:
    @staticmethod
    def make(w):
        shape = (1, w.heads, w.length, w.head)
        return {"y": np.zeros(shape, np.float32), "q": random(shape, seed=1), "k": random(shape, seed=2), "v": random(shape, seed=3)}

    @staticmethod
    def text(w, arrays):
        return text(arrays, {"y": "out"}, f"attention.f32 output=y, query=q, key=k, value=v, batch=1, heads={w.heads}, seq_len={w.length}, head_dim={w.head}" + (", causal=true" if w.causal else ""))

    @staticmethod
    def operations(w):
        return (2.0 if w.causal else 4.0) * w.heads * w.length * w.length * w.head

    result = "y"


class Rows:
    """softmax and layer norm of rows."""

    @staticmethod
    def make(w):
        arrays = {"y": np.zeros((w.rows, w.n), np.float32), "x": random((w.rows, w.n))}
        if w.kind == "layer_norm":
            arrays.update(gamma=random((w.n,), seed=2), beta=random((w.n,), seed=3))
        return arrays

    @staticmethod
    def text(w, arrays):
        line = f"layer_norm.f32 output=y, input=x, gamma=gamma, beta=beta, n={w.n}, eps=0.00001, rows={w.rows}" if w.kind == "layer_norm" else f"softmax.f32 output=y, input=x, n={w.n}, rows={w.rows}"
        return text(arrays, {"y": "out"}, line)

    result = "y"


class GroupNorm:
    @staticmethod
    def make(w):
        return {"y": np.zeros((w.batch, w.channels, w.spatial), np.float32), "x": random((w.batch, w.channels, w.spatial)),
                "gamma": random((w.channels,), seed=2), "beta": random((w.channels,), seed=3)}

    @staticmethod
    def text(w, arrays):
        return text(arrays, {"y": "out"}, f"group_norm.f32 output=y, input=x, gamma=gamma, beta=beta, batch={w.batch}, channels={w.channels}, groups={w.groups}, spatial={w.spatial}, eps=0.00001")

    result = "y"


class Rope:
    @staticmethod
    def make(w):
        half = w.head // 2
        return {"y": np.zeros((w.batch, w.length, w.heads, w.head), np.float32), "x": random((w.batch, w.length, w.heads, w.head)),
                "freqs": (10000.0 ** (-np.arange(half) / half)).astype(np.float32)}

    @staticmethod
    def text(w, arrays):
        return text(arrays, {"y": "out"}, f"rope.f32 output=y, input=x, freqs=freqs, batch={w.batch}, seq_len={w.length}, heads={w.heads}, head_dim={w.head}")

    result = "y"


class Map:
    @staticmethod
    def make(w):
        return {"y": np.zeros(w.n, np.float32), "x": random((w.n,))}

    @staticmethod
    def text(w, arrays):
        if w.kind == "gelu":
            return f".atlas 1\n.program p\n.param y buffer f32 out [{w.n}]\n.param x buffer f32 in [{w.n}]\n.lanes {w.n}\n.reg v f32\nldg v, [x[global]]\ngelu v, v\nstg [y[global]], v\n"
        return text(arrays, {"y": "out"}, f"parallel_map.f32 y, x, {w.kind}, {w.n}")

    result = "y"


class Fft:
    @staticmethod
    def make(w):
        shape = (w.batch, w.n, 2)
        return {"y": np.zeros(shape, DTYPES[w.type]), "x": random(shape, w.type)}

    @staticmethod
    def text(w, arrays):
        return text(arrays, {"y": "out"}, f"fft.{w.type} output=y, input=x, n={w.n}, inverse=false" + (f", batch={w.batch}" if w.batch > 1 else ""))

    @staticmethod
    def operations(w):
        return 5.0 * w.batch * w.n * np.log2(w.n)

    result = "y"


class Sparse:
    @staticmethod
    def make(w):
        rng = np.random.default_rng(7)
        at = rng.random((w.m, w.k)) < w.part
        indices = np.nonzero(at)[1].astype(np.uint32)
        return {"c": np.zeros((w.m, w.n), np.float32), "values": random((indices.size,), seed=1), "indices": indices,
                "ptr": np.concatenate([[0], np.cumsum(at.sum(1))]).astype(np.uint32), "b": random((w.k, w.n), seed=2)}

    @staticmethod
    def text(w, arrays):
        return text(arrays, {"c": "out"}, f"sparse_gemm.f32 c=c, a_values=values, a_indices=indices, a_ptr=ptr, b=b, m={w.m}, n={w.n}, k={w.k}")

    @staticmethod
    def operations(w):
        return 2.0 * w.m * w.k * w.part * w.n

    result = "c"


KINDS = {"gemm": Gemm, "conv2d": Conv, "attention": Attention, "softmax": Rows, "layer_norm": Rows, "group_norm": GroupNorm, "rope": Rope, "gelu": Map,
         "relu": Map, "fft": Fft, "sparse": Sparse}


# ---- the table ----

def table():
    works = []

    def add(*args, **more):
        works.append(Work(*args, **more))

    for kind, bits in ((F32, ""), (F64, "")):
        for n in (16, 32, 64, 128, 256, 512, 1024, 2048):
            alone = 0.9 if n >= 256 else None
            add("gemm", f"GEMM {kind} {n}", "gemm", {"openblas": alone, "onednn": None} if kind == F32 else {"openblas": alone}, peak=0.85 if n == 1024 else None,
                vendor={"openblas": 0.97, "onednn": 1.0, "peak": 0.88 if n == 1024 else None}, type=kind, batch=1, m=n, n=n, k=n)
    for m, n, k in ((1, 4096, 1024), (4, 4096, 1024), (4096, 4, 1024), (1024, 1024, 16), (64, 64, 16384), (2000, 37, 1999)):
        add("skinny", f"GEMM f32 {m} x {n} x {k}", "gemm", {"openblas": 0.9, "onednn": None}, vendor={"openblas": 0.97, "onednn": 1.0}, type=F32, batch=1, m=m, n=n, k=k)
    for batch, n in ((512, 8), (512, 16), (256, 32), (128, 64), (32, 128)):
        add("batched", f"GEMM f32 {batch} of {n}", "gemm", {"openblas": None, "onednn": None, "torch": None}, vendor={"openblas": 0.97, "onednn": 1.0}, type=F32, batch=batch,
            m=n, n=n, k=n)
    for kind in ("bf16", "i8"):
        for n in (128, 256, 512, 1024):
            add(kind, f"GEMM {kind} {n}", "gemm", {"onednn": None}, vendor={"onednn": 1.0}, near=2e-2 if kind == "bf16" else 0.0, type=kind, batch=1, m=n, n=n, k=n)
    for into, out, size, kernel, stride in ((3, 64, 224, 7, 2), (64, 64, 56, 1, 1), (64, 64, 56, 3, 1), (64, 256, 56, 1, 1), (256, 128, 56, 1, 2), (128, 128, 28, 3, 1),
                                            (256, 256, 14, 3, 1), (1024, 256, 14, 1, 1), (512, 512, 7, 3, 1), (512, 2048, 7, 1, 1)):
        add("conv", f"conv {kernel} x {kernel} / {stride} of {into} x {size} x {size} to {out}", "conv2d", {"torch": 1.0, "onednn": None}, batch=1, into=into, out=out, height=size, width=size,
            kernel=kernel, stride=stride, pad=kernel // 2, groups=1)
    for length in (128, 512, 2048, 8192):
        for head in (64, 128):
            for causal in (False, True):
                heads = 8 if length <= 512 else 2 if length <= 2048 else 1
                if length == 8192 and head == 128:
                    continue
                add("attention", f"attention {heads} of {length} x {head}{' causal' if causal else ''}", "attention", {"torch": 1.2}, near=1e-3, heads=heads,
                    length=length, head=head, causal=causal)
    for rows, n in ((64, 128), (512, 512), (1024, 1000), (4096, 4096)):
        add("softmax", f"softmax {rows} x {n}", "softmax", {"torch": 1.0, "onednn": 1.0}, copied=rows * n > 4 << 20, rows=rows, n=n)
        add("norm", f"layer norm {rows} x {n}", "layer_norm", {"torch": 1.0, "onednn": 1.0}, copied=rows * n > 4 << 20, near=1e-3, rows=rows, n=n)
    for batch, channels, groups, spatial in ((1, 64, 32, 3136), (8, 256, 32, 1024), (16, 256, 32, 4096)):
        add("norm", f"group norm {batch} x {channels} / {groups} x {spatial}", "group_norm", {"torch": 1.0}, copied=batch * channels * spatial > 4 << 20, near=1e-3, batch=batch,
            channels=channels, groups=groups, spatial=spatial)
    for length, heads, head in ((128, 8, 64), (2048, 16, 128)):
        add("rope", f"rope {length} x {heads} x {head}", "rope", {"torch": 1.0}, copied=length > 1024, near=1e-3, batch=1, length=length, heads=heads, head=head)
    for n in (4096, 1 << 18, 1 << 24):
        add("gelu", f"gelu {n}", "gelu", {"torch": 1.0, "onednn": 1.0}, copied=n > 1 << 20, n=n)
    for kind in (F32, F64):
        for n in (16, 64, 256, 1024, 4096, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1009, 65537, 1000, 44100):
            add("fft", f"FFT {kind} {n}", "fft", {"fftw": 0.7, "scipy": 2.0}, type=kind, n=n, batch=1)
        for batch, n in ((4096, 16), (1024, 256), (64, 4096)):
            add("fft", f"FFT {kind} {batch} of {n}", "fft", {"fftw": 0.7, "scipy": 2.0}, type=kind, n=n, batch=batch)
    for part in (0.01, 0.05, 0.2):
        for n in (1, 32, 256):
            add("sparse", f"sparse {part * 100:g} % of 2048 x 2048 x {n}", "sparse", {"scipy": 1.0}, m=2048, k=2048, n=n, part=part)
    return works


WORKS = {w.name: w for w in table()}
GROUPS = list(dict.fromkeys(w.group for w in WORKS.values()))
