"""The works of bench/cpu/run: for each its arrays, the library's program, its peers, and what is to be reached against them."""
import ctypes
import hashlib
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

from sides import BUILD, InC, Missing, OpenCL, Ours, Python, SOURCE, library

M = 1 << 20


def text_of(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


class Race:
    """One work: ours, peers with the ratio (peer's time over ours) that is to be reached, and how results are compared.

    results: names of arrays that must be equal, bit by bit, or with `near` within that part of the largest. operations: of floats, where arithmetic is
    what bounds the work."""
    kind = "f32"

    def __init__(self, place, name, ours, results=(), near=0.0, nanoseconds=None, operations=0):
        self.place, self.name, self.ours, self.results, self.near, self.operations = place, name, ours, results, near, operations
        self.peers, self.missing, self.nanoseconds = [], [], nanoseconds

    def peer(self, make, goal=None, check=True, near=None):
        try:
            self.peers.append((make(), goal, check, self.near if near is None else near))
        except (Missing, AttributeError) as reason:
            self.missing.append(str(reason))

    def in_c(self, label, name, units, part, goal=None, numbers=(), reals=(), file="peers_kernels", threads=None, arrays=None, check=True, near=None):
        """The function of every compiler that is there."""
        if file == "peers_sleef" and not self.place.peers.get(file):
            self.missing.append(f"{label}: SLEEF is not installed (Debian package libsleef-dev)")
        for compiler, functions in self.place.peers.get(file, {}).items():
            self.peer(lambda: InC(self.place.side, label, compiler, functions, name, self.ours.arrays if arrays is None else arrays,
                                  units, part, self.place.threads if threads is None else threads, numbers, reals), goal, check, near)

    def opencl(self, folder, name, scalars, groups, group, goal=None, near=None):
        self.peer(lambda: OpenCL(self.place.side, folder, name, self.ours.arrays, scalars, groups, group), goal, near=near)

    def python(self, label, function, goal=None, check=True, near=None):
        self.peer(lambda: Python(label, self.ours.arrays, function), goal, check, near)


def floats(n, low=-1.0, high=1.0, seed=1, dtype=np.float32):
    return np.random.default_rng(seed).uniform(low, high, n).astype(dtype)


def words(n, seed=1):
    return np.random.default_rng(seed).integers(0, 1 << 32, n, np.uint32)


def lane_text(params, code, lanes="n", extra=""):
    return f".atlas 1\n.program p\n{params}.param n u64\n.lanes {lanes}\n{extra}{code}"


# ---- launches ----

ADD_256 = (".atlas 1\n.program add\n.param x buffer f32 in [256]\n.param y buffer f32 in [256]\n.param z buffer f32 out [256]\n.block 256\n.lanes 256\n"
           ".reg v, w f32\nldg v, [x[global]]\nldg w, [y[global]]\nadd v, v, w\nstg [z[global]], v\n")


def small(place, call):
    arrays = {"x": floats(256), "y": floats(256, seed=2), "z": np.zeros(256, np.float32)}
    what = "bound 256-element f32 add" if call == "launch" else "execute_with_params, 256 elements"
    race = Race(place, what, Ours(place.side, ADD_256, arrays, call=call), ["z"], nanoseconds=(42, 25) if call == "launch" else (120, None))
    race.python("NumPy", lambda a, add=np.add, x=None: add(a["x"], a["y"], out=a["z"]), 6.0 if call == "launch" else None)
    race.in_c("vectors, a call", "v_add", 256, 256, file="peers_arrays", threads=1)
    yield race


def bound(place):
    yield from small(place, "launch")


def execute(place):
    yield from small(place, "execute")


# ---- arrays ----

def elementwise(place):
    codes = {"add": "ldg v, [x[global]]\nldg w, [y[global]]\nadd v, v, w\nstg [z[global]], v\n",
             "mul": "ldg v, [x[global]]\nldg w, [y[global]]\nmul v, v, w\nstg [z[global]], v\n",
             "relu": "ldg v, [x[global]]\nmax v, v, 0.0\nstg [z[global]], v\n",
             "triad": "ldg v, [x[global]]\nldg w, [y[global]]\nmul w, w, k\nadd v, v, w\nstg [z[global]], v\n"}
    numpy = {"add": lambda a: np.add(a["x"], a["y"], out=a["z"]), "mul": lambda a: np.multiply(a["x"], a["y"], out=a["z"]),
             "relu": lambda a: np.maximum(a["x"], np.float32(0), out=a["z"])}
    sizes = [4096, 16384, 65536, 262144, 16 * M]
    for what, code in codes.items():
        for n in sizes if what != "triad" else sizes[-1:]:
            arrays = {"x": floats(n), "y": floats(n, seed=2), "z": np.zeros(n, np.float32)}
            params = ".param x buffer f32 in [n]\n.param y buffer f32 in [n]\n.param z buffer f32 out [n]\n"
            numbers, last = {"n": ("u64", n)}, (1, 2)
            if what == "relu":
                del arrays["y"]
                params, last = params.replace(".param y buffer f32 in [n]\n", ""), (0, 1)
            if what == "triad":
                params += ".param k f32\n"
                numbers["k"] = ("f32", 0.75)
            code_of = ".reg v, w f32\n" + code
            race = Race(place, f"{what} {n if n < M else f'{n // M} M'}".replace("262144", "256 K").replace("65536", "64 K").replace(
                "16384", "16 K").replace("4096", "4 K"), Ours(place.side, lane_text(params, code_of), arrays, numbers), ["z"])
            part = max(4096, n // 16)
            race.in_c("C loop", f"c_{what}", n, part, 1.0 if n < M else None, reals=[0.75], file="peers_arrays")
            race.in_c("vectors", f"v_{what}", n, part, reals=[0.75], file="peers_arrays")
            if n > M:
                race.in_c("vectors, past the caches", f"v_{what}_past", n, part, 0.9 if what == "triad" else None, numbers=last, reals=[0.75],
                          file="peers_arrays")
            if what in numpy:
                race.python("NumPy", numpy[what], 1.0 if n < M else 1.2)
            yield race


def chain(place):
    def numpy(a):
        v = a["y"]
        np.multiply(a["x"], A, out=v)
        for step, by in ((np.add, B), (np.multiply, A), (np.subtract, B), (np.multiply, A), (np.add, B), (np.multiply, A), (np.add, B)):
            step(v, by, out=v)

    def numpy_arrays(a):
        v = a["x"]
        for _ in range(4):
            np.multiply(v, a["a"], out=v)
            np.add(v, a["b"], out=v)

    A, B = np.float32(0.75), np.float32(0.5)
    for n in (M, 16 * M):
        size = f"{n // M} M"
        arrays = {"x": floats(n), "y": np.zeros(n, np.float32)}
        numbers = {"a": ("f32", 0.75), "b": ("f32", 0.5), "n": ("u64", n)}
        for form in ("lane program", "JSON"):
            ours = (Ours(place.side, text_of("bench/devices/chain.atlas"), arrays, numbers) if form == "lane program" else
                    Ours(place.side, text_of("bench/cpu/chain.json"), arrays, numbers, lanes=n, json=True))
            race = Race(place, f"8 operations, {form}, {size}", ours, ["y"])
            race.in_c("C loop", "c_chain", n, n // 16, 1.0, reals=[0.75, 0.5], file="peers_arrays")
            race.in_c("vectors", "v_chain_past" if n > M else "v_chain", n, n // 16, reals=[0.75, 0.5], file="peers_arrays")
            race.python("NumPy", numpy, 4.0)
            if form == "lane program":
                race.opencl("bench/devices", "chain", [0.75, 0.5, n], (n // 256, 1), (256, 1))
            yield race
        maps = (".atlas 1\n.program maps\n.param x buffer f32 inout [n]\n.param a buffer f32 in [n]\n.param b buffer f32 in [n]\n.param n u64\n" +
                "parallel_map_binary.f32 x, x, a, mul, n\nparallel_map_binary.f32 x, x, b, add, n\n" * 4)
        arrays = {"x": floats(n), "a": floats(n, 0.25, 0.75, 2), "b": floats(n, 0.5, 1, 3)}
        race = Race(place, f"8 operations, eight maps in place, {size}", Ours(place.side, maps, arrays, {"n": ("u64", n)}), ["x"])
        race.in_c("C loop", "c_chain_arrays", n, n // 16, 1.0, file="peers_arrays")
        race.in_c("vectors", "v_chain_arrays", n, n // 16, file="peers_arrays")
        race.python("NumPy", numpy_arrays, 4.0)
        yield race


def functions(place):
    ranges = {"exp": (-80, 80), "log": (1e-3, 1e3), "sin": (-100, 100), "cos": (-100, 100), "tan": (-100, 100), "tanh": (-4, 4), "pow": (0.1, 10),
              "sigmoid": (-20, 20)}
    for what, (low, high) in ranges.items():
        for kind, dtype in (("f32", np.float32), ("f64", np.float64)):
            for n in (16384, M):
                arrays = {"x": floats(n, low, high, dtype=dtype), "e": floats(n, -3, 3, 2, dtype), "y": np.zeros(n, dtype)}
                code = (f".reg v, w {kind}\nldg v, [x[global]]\n" + ("ldg w, [e[global]]\npow v, v, w\n" if what == "pow" else f"{what} v, v\n") +
                        "stg [y[global]], v\n")
                params = f".param x buffer {kind} in [n]\n.param e buffer {kind} in [n]\n.param y buffer {kind} out [n]\n"
                ours = Ours(place.side, lane_text(params, code), arrays, {"n": ("u64", n)})
                race = Race(place, f"{what} {kind} {'16 K' if n < M else '1 M'}", ours, ["y"], 1e-6 if kind == "f32" else 1e-14)
                race.in_c("SLEEF", f"v_{what}_{kind}", n, n // 16, 0.6, file="peers_sleef")
                if n == M:
                    race.in_c("scalar libm", f"c_{what}_{kind}", n, n // 16, file="peers_sleef")
                yield race


# ---- kernels ----

def mandelbrot(place):
    side, step = 1024, float(np.float32(3.0 / 1024))
    arrays = {"y": np.zeros(side * side, np.uint32)}
    race = Race(place, "Mandelbrot 1024², 256 rounds", Ours(place.side, text_of("bench/devices/mandelbrot.atlas"), arrays, {
        "step": ("f32", step), "w": ("u32", side), "n": ("u64", side * side)}), ["y"])
    race.in_c("vectors", "v_mandelbrot", side, 16, 1.0, [side], [step])
    race.in_c("scalar C", "c_mandelbrot", side, 16, 8.0, [side], [step])
    race.opencl("bench/devices", "mandelbrot", [step, side, side * side], (side * side // 256, 1), (256, 1), 1.0)
    yield race


def nbody(place):
    n = 4096
    arrays = {name: floats(n, 0, 1, seed) for seed, name in enumerate("xyzm")}
    arrays["a"] = np.zeros(3 * n, np.float32)
    race = Race(place, "n-body 4096", Ours(place.side, text_of("bench/devices/nbody.atlas"), arrays, {"eps": ("f32", 0.01), "n": ("u64", n)}), ["a"],
                operations=20 * n * n)
    race.in_c("vectors", "v_nbody", n, 256, 1.0, [n], [0.01])
    race.in_c("C loop", "c_nbody", n, 256, None, [n], [0.01])
    race.opencl("bench/devices", "nbody", [0.01, n], (n // 256, 1), (256, 1), 1.0)
    yield race


def options(n):
    return {"spot": floats(n, 10, 200), "strike": floats(n, 10, 200, 2), "years": floats(n, 0.1, 5, 3), "call": np.zeros(n, np.float32),
            "put": np.zeros(n, np.float32)}


def black_scholes(place):
    n = M
    race = Race(place, "Black–Scholes 1 M", Ours(place.side, text_of("examples/programs/black_scholes.atlas"), options(n), {
        "rate": ("f32", 0.03), "volatility": ("f32", 0.25), "n": ("u64", n)}), ["call", "put"], 1e-6)
    race.in_c("vectors with SLEEF", "v_black_scholes", n, n // 16, 1.0, reals=[0.03, 0.25], file="peers_sleef")
    race.in_c("scalar C", "c_black_scholes", n, n // 16, reals=[0.03, 0.25], file="peers_sleef")
    race.opencl("bench/cpu", "black_scholes", [0.03, 0.25, n], (n // 256, 1), (256, 1), 1.0, near=1e-5)
    yield race


def stencil(place):
    w = 2048
    arrays = {"x": floats((w + 2) * (w + 2)), "y": np.zeros(w * w, np.float32)}
    numbers = {"c": ("f32", 0.5), "d": ("f32", 0.125), "h": ("u64", w), "w": ("u64", w)}
    race = Race(place, "5-point stencil 2048²", Ours(place.side, text_of("bench/cpu/stencil.atlas"), arrays, numbers), ["y"])
    race.in_c("vectors", "v_stencil", w, 128, 1.0, [w], [0.5, 0.125], file="peers_arrays")
    race.in_c("C loop", "c_stencil", w, 128, None, [w], [0.5, 0.125], file="peers_arrays")
    race.opencl("bench/cpu", "stencil", [0.5, 0.125, w], (w // 256, w), (256, 1), 1.0)
    yield race


def sha256(place):
    n = 65536
    arrays = {"messages": words(n * 16), "digests": np.zeros(n * 8, np.uint32)}
    race = Race(place, "SHA-256, 65,536 messages", Ours(place.side, text_of("examples/programs/sha256.atlas"), arrays, {"n": ("u64", n)}), ["digests"])
    race.in_c("vectors", "v_sha256", n, n // 16, 1.0, file="peers_sha256")
    race.in_c("scalar C", "c_sha256", n, n // 16, file="peers_sha256")
    race.opencl("bench/cpu", "sha256", [n], (n // 256, 1), (256, 1), 1.0)
    yield race


def transpose(place):
    w = 2048
    arrays = {"x": floats(w * w), "y": np.zeros(w * w, np.float32)}
    text = text_of("bench/devices/transpose.atlas").replace(".block 16,16", f".block 16,16\n.grid {w // 16},{w // 16}")
    race = Race(place, "transpose 2048², shared memory", Ours(place.side, text, arrays, {"w": ("u32", w)}), ["y"])
    race.in_c("vectors", "v_transpose", w // 16, 8, 1.0, [w])
    race.in_c("C loop in blocks", "c_transpose", w // 16, 8, None, [w])
    race.opencl("bench/devices", "transpose", [w], (w // 16, w // 16), (16, 16), 1.0)
    yield race


def squares(n):
    return {"a": floats(n * n), "b": floats(n * n, seed=2), "c": np.zeros(n * n, np.float32)}


def matmul_tiles(place):
    n = 512
    numbers = {name: ("u64", n) for name in "mnk"}
    race = Race(place, "matrix product 512, shared memory", Ours(place.side, text_of("examples/programs/matmul.atlas"), squares(n), numbers), ["c"],
                operations=2 * n ** 3)
    race.in_c("vectors", "v_matmul", n // 2 // place.lanes, 1, 1.0, [n])
    race.opencl("bench/cpu", "matmul", [n], (n // 16, n // 16), (16, 16), 1.0)
    yield race


def matmul(place):
    n = 512
    race = Race(place, "matrix product 512, naive loops", Ours(place.side, text_of("bench/cpu/matmul_loops.atlas"), squares(n), {"n": ("u64", n)}),
                ["c"], operations=2 * n ** 3)
    race.in_c("the same loops", "c_matmul", n, 16, 1.0, [n])
    race.in_c("vectors", "v_matmul_loops", n, 16, None, [n])
    race.opencl("bench/cpu", "matmul_loops", [n], (n // 256, n), (256, 1))
    yield race


def scan(place):
    n = M
    for kind, dtype in (("f32", np.float32), ("u32", np.uint32)):
        arrays = {"x": words(n).astype(dtype) if kind == "u32" else (words(n) & 7).astype(dtype), "y": np.zeros(n, dtype)}
        race = Race(place, f"scan of blocks by barriers, 1 M {kind}", Ours(place.side, text_of("bench/cpu/scan_tree.atlas").replace(
            ".type T = f32", f".type T = {kind}"), arrays, {"n": ("u64", n)}), ["y"])
        race.in_c("vectors", "v_scan_floats" if kind == "f32" else "v_scan_words", n // 1024, 32, 1.0, file="peers_arrays")
        race.in_c("serial C", "c_scan_floats" if kind == "f32" else "c_scan_blocks", n, n // 16, 0.5 if kind == "f32" else 0.3, file="peers_arrays")
        if kind == "f32":
            race.opencl("bench/cpu", "scan_tree", [n], (n // 1024, 1), (1024, 1), 1.0)
        yield race


def histogram(place):
    n = 4 * M
    for what, x in (("random", words(n)), ("all one bin", np.full(n, 7, np.uint32))):
        arrays = {"x": x, "y": np.zeros(256, np.uint32)}
        race = Race(place, f"histogram 4 M, {what}", Ours(place.side, text_of("bench/devices/histogram.atlas"), arrays, {"n": ("u64", n)}), ["y"])
        race.in_c("vectors", "v_histogram", n, n // 16, 0.95, file="peers_arrays")
        race.in_c("C loop", "c_histogram", n, n // 16, 0.95, file="peers_arrays")
        race.opencl("bench/devices", "histogram", [n], (n // 256, 1), (256, 1), 1.0)
        if what == "random":
            race.python("NumPy bincount", lambda a: np.copyto(a["y"], np.bincount(a["x"] & 255, minlength=256), casting="unsafe"), 1.0)
        yield race


def spheres(place):
    n, count = 1 << 18, 64
    random = np.random.default_rng(5)
    rays = random.standard_normal((3, n))
    rays = (rays / np.sqrt((rays * rays).sum(0))).astype(np.float32)
    centres = random.standard_normal((count, 3)) * 6
    table = np.concatenate([centres, ((centres * centres).sum(1) - random.uniform(0.5, 1.5, count))[:, None]], 1).astype(np.float32)
    arrays = {"x": rays[0].copy(), "y": rays[1].copy(), "z": rays[2].copy(), "s": table.reshape(-1), "near": np.zeros(n, np.float32),
              "which": np.zeros(n, np.uint32)}
    race = Race(place, "rays and 64 spheres, 256 K", Ours(place.side, text_of("bench/cpu/spheres.atlas"), arrays, {"n": ("u64", n), "count": ("u32", count)}),
                ["near", "which"], operations=12 * n * count)
    race.in_c("scalar C", "c_spheres", n, n // 16, 4.0, [count])
    race.in_c("vectors", "v_spheres", n, n // 16, None, [count])
    yield race


def search(place):
    n = 4 * M
    letters = np.random.default_rng(6).integers(97, 99, n + 64).astype(np.uint8)
    arrays = {"text": letters, "word": letters[1000:1008].copy(), "found": np.zeros(n, np.uint8)}
    race = Race(place, "string search 4 M", Ours(place.side, text_of("bench/cpu/search.atlas"), arrays, {"n": ("u64", 8), "lanes_of": ("u64", n)}), ["found"])
    race.in_c("scalar C", "c_search", n, n // 16, 4.0, [8])
    race.in_c("vectors", "v_search", n, n // 16, None, [8])
    yield race


# ---- the ten programs at their real sizes ----

def example(place, name, arrays, results, near=0.0, numbers=None, operations=0):
    return Race(place, f"{name}.atlas", Ours(place.side, text_of(f"examples/programs/{name}.atlas"), arrays, numbers), results, near, operations=operations)


def programs(place):
    def sort_of(a):
        a["x"].sort()

    def hashes(a):
        messages = a["messages"].tobytes()
        for at in range(0, len(messages), 64):
            hashlib.sha256(messages[at:at + 64]).digest()

    n = 512
    race = example(place, "matmul", squares(n), ["c"], 1e-5, {name: ("u64", n) for name in "mnk"}, 2 * n ** 3)
    race.python("NumPy", lambda a: np.matmul(a["a"].reshape(n, n), a["b"].reshape(n, n), out=a["c"].reshape(n, n)), 1.0)
    yield race

    def cumsum(a):
        np.cumsum(a["x"], out=a["y"])
        np.subtract(a["y"], a["x"], out=a["y"])

    race = example(place, "scan", {"x": words(M), "y": np.zeros(M, np.uint32)}, ["y"], numbers={"n": ("u64", M)})
    race.in_c("serial C", "c_scan_words", M, M, 0.9, file="peers_arrays", threads=1)
    race.python("NumPy", cumsum, 1.0)
    yield race
    race = example(place, "bitonic", {"x": words(65536)}, ["x"], numbers={"n": ("u64", 65536)})
    race.in_c("std::sort", "c_sort", 65536, 65536, 2.0, file="peers_sort", threads=1, arrays={"from": words(65536), "to": words(65536)}, check=False)
    race.python("NumPy", sort_of, None)
    yield race
    race = example(place, "sha256", {"messages": words(160000), "digests": np.zeros(80000, np.uint32)}, ["digests"], numbers={"n": ("u64", 10000)})
    race.python("hashlib", hashes, 1.0, check=False)
    yield race

    h = 1024
    image, weights = floats((h + 2) * (h + 2)), floats(9, seed=2)
    race = example(place, "convolve", {"x": image, "weights": weights, "y": np.zeros(h * h, np.float32)}, ["y"], 1e-5,
                   {"h": ("u64", h), "w": ("u64", h)}, 18 * h * h)

    def convolve(a):
        from scipy.ndimage import correlate  # pylint: disable=import-outside-toplevel
        np.copyto(a["y"].reshape(h, h), correlate(a["x"].reshape(h + 2, h + 2), a["weights"].reshape(3, 3), mode="constant")[1:-1, 1:-1])

    race.python("SciPy", convolve, 1.0)
    yield race
    yield from programs_2(place)


def programs_2(place):
    random = np.random.default_rng(3)
    count = 64
    numbers = {"x": random.integers(0, 1 << 63, count * 32, np.uint64), "e": words(count), "m": random.integers(0, 1 << 63, count * 32, np.uint64) | 1,
               "y": np.zeros(count * 32, np.uint64)}
    wide = {name: [int.from_bytes(numbers[name][i * 32:i * 32 + 32].tobytes(), "little") for i in range(count)] for name in "xm"}

    def powers(a):
        for i in range(count):
            a["y"][i * 32:i * 32 + 32] = np.frombuffer(pow(wide["x"][i], int(numbers["e"][i]), wide["m"][i]).to_bytes(256, "little"), np.uint64)

    race = example(place, "modexp", numbers, ["y"], numbers={"n": ("u64", count)})
    race.python("Python's pow", powers, 1.0)
    yield race

    def prices(a):
        from scipy.special import ndtr  # pylint: disable=import-outside-toplevel
        deviation = np.float32(0.25) * np.sqrt(a["years"])
        d = (np.log(a["spot"] / a["strike"]) + np.float32(0.03 + 0.25 ** 2 / 2) * a["years"]) / deviation
        strike = a["strike"] * np.exp(np.float32(-0.03) * a["years"])
        a["call"][...] = a["spot"] * ndtr(d) - strike * ndtr(d - deviation)
        a["put"][...] = a["call"] - a["spot"] + strike

    race = example(place, "black_scholes", options(M), ["call", "put"], 1e-5, {"rate": ("f32", 0.03), "volatility": ("f32", 0.25), "n": ("u64", M)})
    race.python("SciPy", prices, 1.0)
    yield race

    n, k = 100000, 16
    points = random.standard_normal((n, 4), np.float32)
    arrays = {"points": points.reshape(-1), "centres": points[:k].reshape(-1).copy(), "labels": np.zeros(n, np.uint32), "moved": np.zeros(k * 4, np.float32),
              "counts": np.zeros(k, np.uint32)}

    def kmeans(a):
        p, c = a["points"].reshape(n, 4), a["centres"].reshape(k, 4)
        labels = np.argmin((c * c).sum(1) - 2 * (p @ c.T), 1)
        a["labels"][...] = labels
        a["counts"][...] = np.bincount(labels, minlength=k)
        for d in range(4):
            a["moved"][d::4] = np.bincount(labels, p[:, d], k) / a["counts"]

    race = example(place, "kmeans", arrays, ["moved"], 1e-3, {"n": ("u64", n), "k": ("u32", k)})
    race.python("NumPy", kmeans, 1.0)
    yield race

    sizes, n = (784, 256, 10), 64
    arrays = {"x": floats(n * 784), "w1": floats(784 * 256, -0.05, 0.05, 2), "b1": floats(256, seed=3), "w2": floats(2560, -0.1, 0.1, 4), "b2": floats(10, seed=5),
              "y": np.zeros(n * 10, np.float32)}

    def mlp(a):
        hidden = np.maximum(a["x"].reshape(n, 784) @ a["w1"].reshape(sizes[:2]) + a["b1"], 0)
        x = hidden @ a["w2"].reshape(sizes[1:]) + a["b2"]
        x = np.exp(x - x.max(1, keepdims=True))
        a["y"][...] = (x / x.sum(1, keepdims=True)).reshape(-1)

    race = example(place, "mlp", arrays, ["y"], 1e-5, {"n": ("u64", n)}, 2 * n * (784 * 256 + 2560))
    race.python("NumPy", mlp, 1.0)
    yield race

    n = 131072
    arrays = {"x": floats(n), "y": np.zeros(n, np.float32), "before": np.zeros(15, np.float32), "taps": floats(16, seed=2)}

    def fir(a):
        from scipy.signal import lfilter  # pylint: disable=import-outside-toplevel
        a["y"][...] = lfilter(a["taps"], np.float32(1), a["x"])

    race = example(place, "fir", arrays, ["y"], 1e-5, {"n": ("u64", n)}, 32 * n)
    race.python("SciPy lfilter", fir, 1.0)
    race.python("NumPy convolve", lambda a: np.copyto(a["y"], np.convolve(a["x"], a["taps"])[:n]), 1.0)
    yield race


# ---- wide integers ----

def wide(place):
    if not place.peers.get("peers_gmp"):
        raise Missing("GMP is not installed (Debian package libgmp-dev)")
    for bits in (256, 1024, 4096):
        n, size = (1 << 22) // bits, bits // 64
        for what in ("mul", "div"):
            random = np.random.default_rng(bits)
            x, y = (random.integers(0, 1 << 64, n * size, np.uint64) for _ in range(2))
            if what == "div":  # half as long
                y = y.reshape(n, size)
                y[:, size // 2:] = 0
                y[:, size // 2 - 1] |= np.uint64(1 << 40)
                y = y.reshape(-1)
            arrays = {"x": x, "y": y, "z": np.zeros(n * size, np.uint64)}
            kind = f"u{bits}"
            code = f".reg v, w {kind}\nldg v, [x[global]]\nldg w, [y[global]]\n{what} v, v, w\nstg [z[global]], v\n"
            params = f".param x buffer {kind} in [n]\n.param y buffer {kind} in [n]\n.param z buffer {kind} out [n]\n"
            race = Race(place, f"{what} of {bits} bits" + (", divisor half as long" if what == "div" else ""),
                        Ours(place.side, lane_text(params, code), arrays, {"n": ("u64", n)}), ["z"])
            race.in_c("GMP", f"c_wide_{what}", n, n // 16, 0.5, [size], file="peers_gmp")
            yield race


# ---- what is not a race of arrays: rows of their own ----

def row(name, peer, ours, theirs, goal):
    """Of two lists of seconds, taken in turns."""
    each = sorted(t / o for o, t in zip(ours, theirs))
    middle = len(ours) // 2
    ratio, least = sorted(theirs)[middle] / sorted(ours)[middle], min(theirs) / min(ours)
    return {"work": name, "peer": peer, "ours": [sorted(ours)[middle], min(ours)], "theirs": [sorted(theirs)[middle], min(theirs)],
            "ratio": [ratio, each[0], each[-1], least], "goal": goal, "good": [ratio >= goal, least >= goal]}


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def launches(place, rounds):
    """A million launches of a thread's own work, from one thread and from two."""
    works = [Ours(place.side, ADD_256, {"x": floats(256), "y": floats(256), "z": np.zeros(256, np.float32)}) for _ in range(2)]
    pair = (ctypes.c_void_p * 2)(*(w.work for w in works))
    before, times = 0, {1: [], 2: []}
    for turn in range(min(rounds, 7)):
        for threads, kept in times.items():
            kept.append(place.side.cpu_threads(pair, 500000, threads))
        before = before or resident()
    yield row("1,000,000 launches, two threads", "one thread", times[2], times[1], 1.8)
    grown = (resident() - before) >> 10
    yield {"work": "1,000,000 launches", "peer": "memory afterwards", "missing": f"{grown} KB more than after the first round"}


def digits(place, rounds):
    """The demo as it is, beside itself on the tile interpreter."""
    command = os.path.join(BUILD, "examples", "digits")
    if subprocess.run(["ninja", "-C", BUILD, "digits"], stdout=subprocess.DEVNULL, check=False).returncode != 0:
        raise Missing("the target `digits` is not built (libpng)")
    times = {"on": [], "off": []}
    for _ in range(min(rounds, 3)):
        for tier, kept in times.items():
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([command, os.path.join(SOURCE, "examples", "digits"), f"{folder}/a.png", f"{folder}/a.u8"], stdout=subprocess.PIPE,
                                      text=True, check=True, env={**os.environ, "HOLOGRAM_JIT": tier, "HOLOGRAM_NUM_THREADS": str(place.threads)})
            kept.append(float(re.search(r"time per image: ([0-9.]+) us", done.stdout).group(1)) * 1e-6)
    yield row("digits, an image of all", "the same, HOLOGRAM_JIT=off", times["on"], times["off"], 10.0)


def jit(place, rounds):
    """From a text to the end of its first launch, less the same with HOLOGRAM_JIT=off: a fresh process, one that has compiled, one with the kernel kept."""
    if not os.path.exists(os.path.join(BUILD, "libhologram_jit.so")):
        raise Missing("libhologram_jit.so is not built")
    script = ("import sys; sys.path.insert(0, sys.argv[1]); import works; "
              "print(*works.jit_times(sys.argv[2], [int(w) for w in sys.argv[3:]]))")
    found = {"fresh process": [], "once open": [], "kept, fresh process": []}
    for turn in range(min(rounds, 5)):
        with tempfile.TemporaryDirectory() as folder:
            def ask(tier, *numbers, cache=folder):
                done = subprocess.run([sys.executable, "-c", script, os.path.join(SOURCE, "bench", "cpu"), place.path, *map(str, numbers)], stdout=subprocess.PIPE,
                                      text=True, check=True, env={**os.environ, "HOLOGRAM_JIT": tier, "HOLOGRAM_CACHE_DIR": cache})
                return [float(word) for word in done.stdout.split()]
            base = ask("off", 3 * turn + 1, 3 * turn + 2)
            first, second = ask("on", 3 * turn + 1, 3 * turn + 2)
            kept = ask("on", 3 * turn + 1)[0]
            for name, seconds in zip(found, (first - base[0], second - base[1], kept - base[0])):
                found[name].append(seconds)
    for (name, seconds), goal in zip(found.items(), (15, 6, 2)):
        seconds.sort()
        good = [seconds[len(seconds) // 2] * 1e3 <= goal, seconds[0] * 1e3 <= goal]
        yield {"work": f"JIT of 50 instructions, {name}", "peer": f"≤ {goal} ms", "ours": [seconds[len(seconds) // 2], seconds[0]], "good": good}


def jit_times(path, numbers):
    """Of kernels of 50 instructions that differ by a number, one after the other in this process."""
    side = library(path, 1)
    arrays = {"x": floats(256), "y": floats(256, seed=2), "z": np.zeros(256, np.float32)}
    for number in numbers:
        code = ".reg v, w f32\nldg v, [x[global]]\nldg w, [y[global]]\n" + "".join(
            f"{('mul', 'add', 'sub', 'max')[i % 4]} v, v, {('w', number + i + 0.5)[i % 2]}\n" for i in range(46)) + "stg [z[global]], v\n"
        ours = Ours.__new__(Ours)
        text = lane_text(".param x buffer f32 in [n]\n.param y buffer f32 in [n]\n.param z buffer f32 out [n]\n", code)
        ours.prepare(side, text, arrays, {"n": ("u64", 256)})
        yield ours.first()


OTHERS = {function.__name__: function for function in (launches, digits, jit)}
WORKS = {function.__name__: function for function in (
    bound, execute, elementwise, chain, functions, mandelbrot, nbody, black_scholes, stencil, sha256, transpose, matmul_tiles, scan, histogram,
    spheres, search, matmul, programs, wide)}
