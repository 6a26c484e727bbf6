"""Whole-array instructions and examples as C text: the bits and faults of `hologram run`, and what is refused.

Problems are those of tests/tensor: a line is an instruction with its shapes, which its program has as numbers."""
import ctypes
import os
import re
import struct
import sys

import extents

SOURCE = os.environ["HG_SOURCE_DIR"]
sys.path.append(os.path.join(SOURCE, "tests", "tensor"))
from checks import check, skip  # noqa: E402

# One at least of each instruction, in texts of about the same length. What is refused at run time is so in the text.
GROUPS = [
    ["gemm.f32 m=9 n=33 k=40 values=special alpha=2.0 beta=0.5 bias=true activation=relu", "gemm.f32 m=4 n=4 k=4 lda=3", "batched_gemm.f32 batch=2 m=3 n=5 k=7",
     "mixed_precision_gemm.f16 m=9 n=33 k=40"],
    ["softmax.f32 rows=3 n=40", "layer_scale.f32 n=33 rows=2", "all_gather.f32 n=9 devices=0,", "all_gather.f32 n=9 devices=2,", "all_reduce.f32 n=9 operation=sum devices=0,",
     "kv_cache_update.f32 position=5 batch=2 heads=3 head_dim=4", "batch_norm.f32 batch=2 channels=6 spatial=5 eps=1e-5"],
    ["layer_norm.f16 n=100 rows=3 eps=0.0009765625", "group_norm.f32 batch=2 channels=6 groups=3 spatial=5 eps=1e-5"],
    ["rope.f32 batch=2 seq_len=7 heads=3 head_dim=30 halves=true", "sparse_gemm.f32 m=7 n=33 k=40 part=0.3", "tensor_contract.f32 shape_a=7,5 shape_b=9,7 contract_dims=0,1"],
    ["quantized_gemm.i8 m=9 n=33 k=70 a_scale=0.02 b_scale=0.03 c_scale=0.5 a_zero=5 b_zero=3 c_zero=7", "quantized_gemm.u8 m=3 n=5 k=0 a_scale=0.5 b_scale=0.25 c_scale=0.125",
     "conv2d.f32 batch=2 in_channels=4 out_channels=9 height=10 width=11 kernel_h=3 kernel_w=3 stride=2,2 padding=1,1"],
    ["fft.f32 n=16 inverse=false", "fft.f32 n=3 inverse=true batch=2"],
    ["attention.bf16 batch=2 heads=2 seq_len=5 head_dim=8"],
]
LONG = [["gemm.f64 m=65 n=97 k=130 trans_b=true", "gemm.f32 m=70 n=300 k=600"], ["fft.f64 n=97|1000|1024 inverse=true batch=2 real=true"], ["fft.f32 n=360|8192 inverse=false"],
        ["flash_attention.f32 batch=1 heads=2 seq_len=11 kv_len=70 head_dim=8 mask=ends block_size=16"], ["softmax.f32|f64|bf16 rows=3 n=1000"],
        ["conv2d.f64|bf16 batch=1 in_channels=5 out_channels=8 height=8 width=9 kernel_h=3 kernel_w=3 stride=1,1 padding=1,1"]]

# Programs around instructions: their directives, their code, and the bytes of their arrays.
PROGRAMS = {
    # in place, on elements that overlap, and on the same ones read twice
    "places": (".param x buffer f32 inout [400]", "    parallel_map.f32 x, x, relu, 300\n    parallel_map.f32 [x + 4], [x], neg, 300\n    parallel_map_binary.f32 [x], [x + 8], [x], add, 300\n"),
    # halves, and integers that are wider than a word
    "folds": (".param x buffer f16 in [300]\n.param w buffer u128 in [50]\n.param y buffer f16 out [1]\n.param z buffer u128 out [1]\n.reg s f16\n.reg t u128",
              "    parallel_reduce.f16 s, x, sum, 300\n    stg [y[0]], s\n    parallel_reduce.u128 t, w, max, 50\n    stg [z[0]], t\n"),
    "scratch": (".param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.param n u64\n.scratch t f32 [n, 2]\n.scratch u f32 [100]",
                "    softmax output=u, input=x, n=50, rows=1\n    parallel_map.f32 t, u, neg, n\n    parallel_map_binary.f32 y, t, [t + 200], add, n\n"),
    "shared": (".param x buffer f32 inout [100]", "    gemm c=[x], a=[x + 16], b=[x + 64], m=2, n=2, k=2\n"),
    # a second result where the input is, of rows that are as long as it; rows whose length no other kernel has
    "statistics": (".param x buffer f32 inout [5]\n.param g buffer f32 in [1]\n.param y buffer f32 out [5]\n.param n u64",
                   "    layer_norm output=y, input=x, gamma=g, beta=g, n=n, rows=5, eps=0.5, inverse_deviation=x\n"),
    "levels": (".param x buffer f32 in [18]\n.param y buffer f32 out [18]\n.param n u64", "    softmax output=y, input=x, n=n, rows=1, inner=3\n"),
    "short": (".param x buffer f32 in [10]\n.param y buffer f32 out [10]", "    softmax output=y, input=x, n=11, rows=1\n"),
}
GIVEN = {"scratch": {"n": 50}, "statistics": {"n": 1}, "levels": {"n": 6}}
REFUSED = {
    "pools": (".param x buffer u64 out [1]\n.reg h u64", "    pool.alloc h, 4096\n    stg [x[0]], h\n", "instruction 0 (pool.alloc", "it takes memory while the program runs"),
    "counted": (".param x buffer f32 inout [100]\n.param c buffer u64 in [1]\n.reg n u64", "    parallel_reduce.u64 n, c, sum, 1\n    softmax output=x, input=x, n=n, rows=1\n", "(softmax.f32",
                "'n' is computed by the program"),
    "half_sum": (".param x buffer f16 in [n]\n.param n u64\n.reg s f16\n.param y buffer f16 out [1]", "    parallel_reduce.f16 s, x, sum, n\n    stg [y[0]], s\n", "(parallel_reduce.f16",
                 "of reductions of f16 the count has to be a number"),
    "across": (".param x buffer f32 inout [n]\n.param n u64\n.param m u64", "    parallel_map.f32 [x + 4], [x], neg, m\n", "(parallel_map.f32", "may lie across one that it writes"),
    "classed": ("", "    parallel_map.f32 [class5], [class5], neg, 3\n", "(parallel_map.f32", "is a buffer or a pool"),
}
# Examples with values of their scalars, and why one needs them when its text is made; arrays are bytes of which the last are a result, all of it written.
TENSOR = {"matmul": ({"m": 7, "n": 9, "k": 11}, ""), "edges": ({"h": 20, "w": 30}, ""), "recall": ({"n": 1440}, "'kv_len' is computed"), "spectrogram": ({"columns": 8}, "")}

# Graphs: values of their symbols, elements of their outputs; inputs and constants are those of the text.
TWICE = """.atlas 1
.program twice
.param x buffer f32 in [n]
.param y buffer f32 out [n]
.param n u64
.param by f32
.param from u32
.scratch t f32 [n]
.lanes n
.reg u f32
.reg at u64
    parallel_map.f32 t, x, neg, n
    cvt.u64.u32 at, from
    add at, at, global
    ldg u, [t[at]]
    mul u, u, by
    stg [y[global]], u
"""
GRAPHS = {
    "mlp": (""".extent b
.input x f32 [b, 3]
.constant w1 f32 [3, 4]
.constant b1 f32 [4]
.constant w2 f32 [4, 2]
h1 = gemm a=x, b=w1, bias=b1
h = parallel_map relu, in=h1
z = gemm a=h, b=w2
y = softmax input=z
.output y
""", {"b": 5}, {"y": ("b", 2)}),
    "parts": (""".extent n
.program twice "twice.atlas"
.input x f32 [2, n]
.input cache f32 [4, 1, 1, 8]
.view low = x f32 [n]
.view high = x + n f32 [n]
a f32 [n] = @twice x=low, n=n, by=2.5, from=0
c f32 [n] = parallel_map_binary mul, a=a, b=high
s = parallel_reduce sum, in=c
.view front = c f32 [1, 1, 1, 8]
k = kv_cache_update cache=cache, new_kv=front, position=2
.output a
.output product = c
.output again = c
.output s
.output k
.output given = high
""", {"n": 20}, {"a": ("n", 1), "product": ("n", 1), "again": ("n", 1), "s": 1, "k": 32, "given": ("n", 1)}),
    "faulty": (""".program twice "twice.atlas"
.input x f32 [7]
e = parallel_map exp, in=x
y f32 [7] = @twice x=e, n=7, by=1, from=3
.output y
""", {}, {"y": 7}),
}

# Numbers of their symbols with which one function is called; hologram run refuses some.
CALLS = {"mlp": [{"b": 5}, {"b": 0}, {"b": 1}, {"b": 97}], "parts": [{"n": 20}, {"n": 8}, {"n": 7}, {"n": 1009}]}


class Texts:
    """What run.py lends: its functions for commands, files, texts and calls."""

    def __init__(self, module):
        self.run, self.write, self.levels, self.call, self.command = module.run, module.write, module.levels, module.call, module.COMMAND
        self.compilers, self.flags, self.loaded = module.COMPILERS, module.FLAGS, 0

    def library(self, name, compiler, *flags):
        self.loaded += 1  # a library of the same name would be the one that is loaded
        path = os.path.abspath(f"{name}-{self.loaded}.so")
        status, out, err = self.run(compiler, *self.flags, *flags, "-o", path, name + ".c", "-lm")
        check(status == 0 and out + err == "", f"{compiler} {name}.c: {err[:1500]}")
        return ctypes.CDLL(path) if status == 0 else None


    def compare(self, *given):
        compare(self, *given)

    def ran(self, *given):
        return ran(self, *given)

    def starve(self, library, function, arrays, scalars):
        """With a byte of workspace less than it asks for."""
        size, _ = work_of(library, function)
        if size and size(None, *scalars):
            code, fault, _ = call_with_work(self, library, function, [a[0] for a in arrays.values()], scalars, scalars, missing=1)
            check(code == -1 and b"work has fewer bytes" in fault.message, f"{function}, too little work: {code} {fault.message}")


def work_of(library, function):
    """Memory of the size that the function asks for, with bytes behind that nobody may touch."""
    if not hasattr(library, function + "_work_bytes"):
        return None, 0
    size = library[function + "_work_bytes"]
    size.restype = ctypes.c_size_t
    return size, bytearray(b"\xa5" * 8)


def call_with_work(texts, library, function, arrays, scalars, work_scalars, is_graph=False, first=None, missing=0, symbols=()):
    values = [bytearray(a) or bytearray(1) for a in arrays]
    arguments = []
    for value, given in zip(values, arrays):
        there = given or not is_graph  # a graph takes NULL for nothing
        arguments += [ctypes.byref((ctypes.c_char * len(value)).from_buffer(value)) if there else None, ctypes.c_size_t(len(given))]
    size, guard = work_of(library, function)
    work = None
    if size:
        count = size(*([] if is_graph else [None]), *work_scalars) - missing
        work = bytearray(b"\x5a" * count) + guard
        scalars = [*scalars, ctypes.byref((ctypes.c_char * len(work)).from_buffer(work)), ctypes.c_size_t(count)]
    code, fault = texts.call(library, function, first, *symbols, *arguments, *scalars)
    check(not work or work[-8:] == guard, f"{function}: bytes behind the workspace were written")
    return code, fault, [bytes(v[:len(a)]) for v, a in zip(values, arrays)]


def ran(texts, path, arrays, scalars=None):
    """`hologram run`: the message of its fault, or the arrays."""
    command = [texts.command, "run", path, "--backend", "cpu"]
    for name, (value, is_in, is_out) in arrays.items():
        with open(name + ".bin", "wb") as file:
            file.write(value)
        command += (["--in", f"{name}=raw:{name}.bin"] if is_in else []) + (["--out", f"{name}=raw:{name}.out"] if is_out else [])
    command += [word for name, value in (scalars or {}).items() for word in ("--set", f"{name}={value}")]
    status, _, err = texts.run(*command, env={"HOLOGRAM_DETERMINISTIC": "true", "HOLOGRAM_JIT": "off"})
    if status:
        return err, None
    results = {}
    for name, (_, _, is_out) in arrays.items():
        if is_out:
            with open(name + ".out", "rb") as file:
                results[name] = file.read()
    return "", results


def compare(texts, library, function, what, arrays, expected, scalars=(), work_scalars=(), is_graph=False, symbols=()):
    message, results = expected
    for level in texts.levels(library, function.split("_")[0]):
        library[function.split("_")[0] + "_use_level"](level.encode())
        code, fault, after = call_with_work(texts, library, function, [a[0] for a in arrays.values()], scalars, work_scalars, is_graph, symbols=symbols)
        words = fault.message.decode()
        if message:
            check(code > 0 and words and words in message, f"{what}, {level}: {code} '{words}', hologram run: {message[:300]}")
            continue
        check(code == 0, f"{what}, {level}: {code} {words}")
        for name, value in zip(arrays, after):
            check(not arrays[name][2] or value == results[name], f"{what}, {level}: other bits of {name} than hologram run")


def compiled_levels(long):
    """Options: baseline alone takes a third of the time."""
    return ("-O1",) if long else ("-O0", "-DSET_BASELINE")


def problems(texts, groups, long):
    try:
        import layers  # noqa: F401
        import products
        import transforms
        from operation import Problem, lines_of
    except ImportError:
        skip("NumPy is not installed (Debian package python3-numpy): no whole-array instructions")
        return
    operations = {**products.OPERATIONS, **layers.OPERATIONS, **transforms.OPERATIONS}
    for turn, group in enumerate(groups):
        cases = []
        for line in (one for words in group for one in lines_of(words)):
            problem = Problem(line, line)
            operation = operations[problem.name]()
            values = operation.arrays(problem, operation.operands(problem))
            text = operation.text(problem, values).replace(".program p\n", f".program case{len(cases)}\n")
            arrays = {name: (value.tobytes(), True, name in operation.out or name in operation.inout) for name, value in values.items()}
            cases.append((line, arrays, texts.write(f"case{len(cases)}.atlas", text)))
        status, out, err = texts.run(texts.command, "build", *[path for _, _, path in cases], "-o", "set")
        check(status == 0, f"build {group}: {out}{err}")
        expected = [ran(texts, path, arrays) for _, arrays, path in cases]
        for compiler in texts.compilers if long else [texts.compilers[turn % len(texts.compilers)]]:
            library = texts.library("set", compiler, *compiled_levels(long)) if status == 0 else None
            for number, (line, arrays, _) in enumerate(cases if library else []):
                compare(texts, library, f"set_case{number}", f"{line}, {compiler}", arrays, expected[number])


def array_of(rng, kind, elements):
    if kind == "f32":
        return struct.pack(f"<{elements}f", *(rng.uniform(-2, 2) for _ in range(elements)))
    if kind == "f16":
        return struct.pack(f"<{elements}e", *(rng.uniform(-2, 2) for _ in range(elements)))
    return rng.randbytes(elements * (16 if kind == "u128" else 8))


def programs(texts, rng, long):
    """Arrays in place and across each other, halves, the workspace, faults."""
    for name, (directives, code) in PROGRAMS.items():
        texts.write(name + ".atlas", f".atlas 1\n.program {name}\n{directives}\n.lanes 1\n{code}")
    texts.write("nothing.atlas", ".atlas 1\n.program nothing\n.param x buffer f32 inout [9]\n.param n u64\n.lanes n\n    parallel_map.f32 x, x, neg, 9\n")
    status, out, err = texts.run(texts.command, "build", *[name + ".atlas" for name in (*PROGRAMS, "nothing")], "-o", "set")
    check(status == 0, f"build: {out}{err}")
    library = texts.library("set", texts.compilers[0], *compiled_levels(long)) if status == 0 else None
    for name, (directives, _) in PROGRAMS.items() if library else ():
        arrays = {}
        for word, kind, role, count in re.findall(r"\.param (\w+) buffer (\w+) (\w+) \[(\w+)\]", directives):
            arrays[word] = (array_of(rng, kind, 50 if count == "n" else int(count)), role != "out", role != "in")
        given = GIVEN.get(name, {})
        scalars = [ctypes.c_uint64(v) for v in given.values()]
        compare(texts, library, "set_" + name, name, arrays, ran(texts, name + ".atlas", arrays, given), scalars, scalars)
    if library:
        for n in (0, 1):
            arrays = {"x": (array_of(rng, "f32", 9), True, True)}
            compare(texts, library, "set_nothing", f"{n} lanes", arrays, ran(texts, "nothing.atlas", arrays, {"n": n}), [ctypes.c_uint64(n)])
        size = library["set_scratch_work_bytes"]
        size.restype = ctypes.c_size_t
        check(size(None, ctypes.c_uint64(50)) < 4096 and size(None, ctypes.c_uint64(2**63)) == 2**64 - 1, "set_scratch_work_bytes")
        work = bytearray(8)
        code, fault = texts.call(library, "set_scratch", None, bytearray(200), bytearray(200), ctypes.c_uint64(50), work)
        check(code == -1 and b"work has fewer bytes" in fault.message, f"too little work: {code} {fault.message}")
    for name, (directives, code, *words) in REFUSED.items():
        texts.write(name + ".atlas", f".atlas 1\n.program {name}\n{directives}\n.lanes 1\n{code}")
        status, out, err = texts.run(texts.command, "build", name + ".atlas", "-o", name)
        check(status == 1 and all(word in err for word in words) and not os.path.exists(name + ".c"), f"{name}: {status} {out}{err}")


def examples(texts, rng, long):
    """Every program of examples/ has C text, those with whole-array instructions once their extents are numbers; so have the named kernels."""
    folder = os.path.join(SOURCE, "examples")
    for name, (values, words) in TENSOR.items():
        path = os.path.join(folder, "tensor", name + ".atlas")
        status, _, err = texts.run(texts.command, "build", path, "-o", name)
        check(status == bool(words) and words in err, f"{name} without --set: {status} {err}")
        settings = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
        status, out, err = texts.run(texts.command, "build", path, "-o", "set", *settings)
        check(status == 0, f"{name}: {out}{err}")
        if status or (name in ("recall", "spectrogram") and not long):
            continue
        library = texts.library("set", texts.compilers[-1], *compiled_levels(long))
        shapes = {"matmul": {"a": ("f32", 77), "b": ("f32", 99), "c": ("f32", 63)}, "edges": {"photo": ("u8", 75), "edges": ("u8", 75)},
                  "recall": {"digits": ("u8", 11520), "picture": ("u8", 11520)}, "spectrogram": {"sound": ("u8", 1024), "picture": ("u8", 256)}}[name]
        arrays = {key: (array_of(rng, kind, count), key != list(shapes)[-1], key == list(shapes)[-1]) for key, (kind, count) in shapes.items()}
        scalars = {**values, "n": 4096} if name == "spectrogram" else values
        given = [ctypes.c_uint64(4096)] if name == "spectrogram" else []
        if library:
            compare(texts, library, "set_" + name, name, arrays, ran(texts, path, arrays, scalars), given, given)
    for part, names in (("programs", None), (os.path.join("digits", "programs"), None)):
        for file in sorted(os.listdir(os.path.join(folder, part))):
            if file.endswith(".atlas"):
                status, out, err = texts.run(texts.command, "build", os.path.join(folder, part, file), "-o", "example")
                check(status == 0, f"{part}/{file}: {out}{err}")
    with open(os.path.join(SOURCE, "src", "library", "kernels.def"), encoding="utf-8") as file:
        kernels = [line.split('"')[1] for line in file if line.startswith("KERNEL(")]
    for kernel in kernels:
        status, out, err = texts.run(texts.command, "build", os.path.join(SOURCE, "src", "library", "kernels.atlas"), "--program", kernel, "-o", kernel)
        check(status == 0, f"{kernel}: {out}{err}")
    check(len(kernels) >= 20, "kernels.def is read")


def graph_arrays(rng, text, symbols, outputs):
    """Those of a graph, in the order of its function: what is given, then outputs."""
    arrays = {}
    for name, extents in re.findall(r"^\.(?:input|constant) (\w+) f32 \[(.*)\]$", text, re.M):
        count = 1
        for extent in extents.split(","):
            count *= symbols[extent.strip()] if extent.strip() in symbols else int(extent)
        arrays[name] = (array_of(rng, "f32", count), True, False)
    return {**arrays, **{name: (array_of(rng, "f32", count), False, True) for name, count in outputs.items()}}


def of_symbols(outputs, symbols):
    """Elements of outputs, which are numbers or a symbol times a number."""
    return {name: count if isinstance(count, int) else symbols[count[0]] * count[1] for name, count in outputs.items()}


def open_graph(texts, rng, name, path, text, calls, outputs, compiler, long):
    """One function for all extents."""
    status, out, err = texts.run(texts.command, "build", path, "-o", "set")
    check(status == 0, f"{name} without numbers: {out}{err}")
    library = texts.library("set", compiler, *compiled_levels(long)) if status == 0 else None
    for symbols in calls if library else []:
        arrays, given = graph_arrays(rng, text, symbols, of_symbols(outputs, symbols)), [ctypes.c_uint64(value) for value in symbols.values()]
        expected = ran(texts, path, arrays, symbols)
        values = [value[0] for value in arrays.values()]
        if expected[0]:
            code, fault, _ = call_with_work(texts, library, "set", values, [], given, True, None, symbols=given)
            check(code == -1 and fault.message, f"{name} {symbols}, refused by hologram run: {code} {fault.message}")
            continue
        compare(texts, library, "set", f"{name} {symbols}, {compiler}", arrays, expected, [], given, True, given)
        code, fault, _ = call_with_work(texts, library, "set", [values[0][:-1], *values[1:]], [], given, True, None, symbols=given)
        check(not values[0] or (code == -1 and b"the input x is f32 [" in fault.message), f"{name} {symbols}, too small: {code} {fault.message}")
    if library:
        size = library["set_work_bytes"]
        size.restype = ctypes.c_size_t
        check(size(*[ctypes.c_uint64(2**62)] * len(calls[0])) == 2**64 - 1, f"{name}: the workspace of extents of 2^62")


def graphs(texts, rng, long):
    """Graphs are one function; of a fault the call of the graph is told."""
    texts.write("twice.atlas", TWICE)
    for turn, (name, (text, symbols, outputs)) in enumerate(GRAPHS.items()):
        path = texts.write(name + ".graph", f".graph 1\n.name {name}\n{text}")
        compiler = texts.compilers[turn % len(texts.compilers)]
        if name in CALLS:
            open_graph(texts, rng, name, path, text, CALLS[name], outputs, compiler, long)
        settings = [word for key, value in symbols.items() for word in ("--set", f"{key}={value}")]
        status, out, err = texts.run(texts.command, "build", path, "-o", "set", *settings)
        check(status == 0, f"{name}: {out}{err}")
        library = texts.library("set", compiler, *compiled_levels(long)) if status == 0 else None
        if not library:
            continue
        arrays = graph_arrays(rng, text, symbols, of_symbols(outputs, symbols))
        compare(texts, library, "set", name, arrays, ran(texts, path, arrays, symbols), is_graph=True)
        small = [value[0][:-1] if at == 0 else value[0] for at, value in enumerate(arrays.values())]
        code, fault, _ = call_with_work(texts, library, "set", small, [], [], True)
        check(code == -1 and b"the input x is f32 [" in fault.message, f"{name}, too small: {code} {fault.message}")
        code, fault, _ = call_with_work(texts, library, "set", [value[0] for value in arrays.values()], [], [], True, ctypes.c_int(1))
        check(code == -2 and fault.message == b"stopped by the caller", f"{name}, stopped: {code} {fault.message}")
        if name == "faulty":
            code, fault, _ = call_with_work(texts, library, "set", [value[0] for value in arrays.values()], [], [], True)
            check(code == 1 and fault.instruction == 6 and b"twice that makes y, line 6: " in fault.message, f"{name}: {code} {fault.instruction} {fault.message}")


def whole_arrays(module, rng, long):
    texts = Texts(module)
    programs(texts, rng, long)
    graphs(texts, rng, long)
    examples(texts, rng, long)
    problems(texts, GROUPS + (LONG if long else []), long)
    if not long:
        for turn in range(2):
            extents.open_rows(texts, extents.ROWS[turn::2], texts.compilers[turn % len(texts.compilers)], ("-O0", "-DSET_BASELINE"), 100 * turn)
        return
    rows, sanitized = extents.ROWS + extents.LONG, ("-O0", "-DSET_BASELINE", "-fsanitize=undefined", "-fno-sanitize-recover=all")
    for at in range(0, len(rows), 5):
        extents.open_rows(texts, rows[at:at + 5], texts.compilers[0], sanitized, 100 * at)
        extents.open_rows(texts, rows[at:at + 5], texts.compilers[-1], ("-O1",), 100 * at)
