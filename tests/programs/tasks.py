"""Ten programs as tasks: what each gets, how it is launched in either text, and what NumPy, hashlib and Python say of it.

A task is made with a random generator and whether the sizes are the real ones. `old(run)` and `new(run)` launch its texts and give arrays
by name; `check(arrays)` yields (good, what). run(text, inputs, outputs, scalars, options) gives the arrays that one launch leaves."""
import hashlib
import math

import numpy as np


def ceil_div(a, b):
    return (a + b - 1) // b


def near(name, got, expected, tolerance):
    """Within a tolerance of the largest of the values that are expected."""
    far = float(np.max(np.abs(got.astype(np.float64) - expected)) / np.max(np.abs(expected))) if got.shape == expected.shape else math.inf
    return far <= tolerance, f"{name} is {far:.2g} off, allowed {tolerance:.2g}"


def same(name, got, expected):
    if got.shape != expected.shape:
        return False, f"{name} has shape {got.shape}, expected {expected.shape}"
    wrong = np.argwhere(got != expected)
    first = tuple(int(i) for i in wrong[0]) if len(wrong) else ()
    return not len(wrong), f"{name}{list(first)} is {got[first]}, expected {expected[first]}, {len(wrong)} differ" if len(wrong) else name


class Matmul:
    """Tiles in shared memory, barriers; edges that no tile divides."""

    def __init__(self, random, long):
        m, k, n = (512, 512, 512) if long else (45, 37, 70)
        self.a = random.standard_normal((m, k), np.float32)
        self.b = random.standard_normal((k, n), np.float32)
        self.grid = f"{ceil_div(n, 32)},{ceil_div(m, 32)}"

    def old(self, run):
        return run("matmul", {"a": self.a, "b": self.b}, ["c"], {}, ["--grid", self.grid])

    def new(self, run):
        return run("matmul", {"a": self.a, "b": self.b}, ["c"])

    def check(self, arrays):
        yield near("c", arrays["c"], self.a.astype(np.float64) @ self.b.astype(np.float64), 1e-5)


class Scan:
    """Exclusive prefix sums of u32: three launches, or one with barriers of the grid."""
    OLD = ["scan_blocks", "scan_add"]

    def __init__(self, random, long):
        n = 1 << 20 if long else 5000
        self.x = random.integers(0, 1 << 32, n, np.uint32)

    def old(self, run):
        blocks = ceil_div(len(self.x), 1024)
        inner = run("scan_blocks", {"x": self.x}, ["y", "sums"], {"blocks": blocks})
        outer = run("scan_blocks", {"x": inner["sums"]}, ["y"], {"blocks": 1})
        return run("scan_add", {"y": inner["y"], "before": outer["y"]}, ["y"])

    def new(self, run):
        return run("scan", {"x": self.x}, ["y"])

    def check(self, arrays):
        sums = np.cumsum(self.x, dtype=np.uint32)
        yield same("y", arrays["y"], sums - self.x)


class Bitonic:
    """All lanes meet between the stages."""

    def __init__(self, random, long):
        self.x = random.integers(0, 1 << 32, 65536 if long else 1024, np.uint32)

    def old(self, run):
        return run("bitonic", {"x": self.x}, ["x"])

    new = old

    def check(self, arrays):
        yield same("x", arrays["x"], np.sort(self.x))


def round_constants():
    """The first 32 bits of the fractions of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2)."""
    primes = [p for p in range(2, 312) if all(p % d for d in range(2, math.isqrt(p) + 1))]
    roots = []
    for p in primes:
        wanted = p << 96
        root = round(wanted ** (1 / 3))
        while root ** 3 > wanted:
            root -= 1
        while (root + 1) ** 3 <= wanted:
            root += 1
        roots.append(root & 0xffffffff)
    return np.array(roots, np.uint32)


class Sha256:
    """Rotations and constants; a function that is called twice."""

    def __init__(self, random, long):
        self.messages = random.integers(0, 256, (10000 if long else 100, 64), np.uint8)

    def old(self, run):
        return run("sha256", {"messages": self.messages, "k": round_constants()}, ["digests"])

    def new(self, run):
        digests = run("sha256", {"messages": self.messages.view(np.uint32)}, ["digests"])["digests"]
        return {"digests": digests.view(np.uint8)}

    def check(self, arrays):
        digests = [np.frombuffer(hashlib.sha256(message.tobytes()).digest(), np.uint8) for message in self.messages]
        yield same("digests", arrays["digests"], np.array(digests))


class Convolve:
    """Two extents; the input is larger than the output by an edge."""

    def __init__(self, random, long):
        h, w = (1024, 1024) if long else (37, 53)
        self.x = random.standard_normal((h + 2, w + 2), np.float32)
        self.weights = random.standard_normal((3, 3), np.float32)

    def old(self, run):
        h, w = self.x.shape[0] - 2, self.x.shape[1] - 2
        return run("convolve", {"x": self.x, "weights": self.weights}, ["y"], {"h": h, "w": w},
                   ["--grid", f"{ceil_div(w, 16)},{ceil_div(h, 16)}"])

    def new(self, run):
        return run("convolve", {"x": self.x, "weights": self.weights}, ["y"])

    def check(self, arrays):
        h, w = self.x.shape[0] - 2, self.x.shape[1] - 2
        x = self.x.astype(np.float64)
        yield near("y", arrays["y"], sum(x[i:i + h, j:j + w] * float(self.weights[i, j]) for i in range(3) for j in range(3)), 1e-6)


def words(numbers, bits):
    """Wide numbers as an array file has them: words of 64 bits, the least significant first."""
    return np.array([[number >> shift & (1 << 64) - 1 for shift in range(0, bits, 64)] for number in numbers], np.uint64)


class Modexp:
    """Wide integers."""

    def __init__(self, random, long):
        def number(bits):
            return int.from_bytes(random.bytes(bits // 8), "little")
        count, bits = (64, 32) if long else (6, 8)
        self.x = [number(2048) for _ in range(count)]
        self.m = [number(2048) | 1 << 2047 for _ in range(count - 2)] + [number(1024) | 1, 1]
        self.e = [number(bits) for _ in range(count - 1)] + [0]

    def old(self, run):
        return run("modexp", {"x": words(self.x, 2048), "e": np.array(self.e, np.uint32), "m": words(self.m, 2048)}, ["y"])

    new = old

    def check(self, arrays):
        yield same("y", arrays["y"], words([pow(*numbers) for numbers in zip(self.x, self.e, self.m)], 2048))


class BlackScholes:
    """Functions of floats."""

    RATE, VOLATILITY = 0.03, 0.25

    def __init__(self, random, long):
        n = 1 << 20 if long else 1000
        self.spot = random.uniform(10, 200, n).astype(np.float32)
        self.strike = random.uniform(10, 200, n).astype(np.float32)
        self.years = random.uniform(0.1, 5, n).astype(np.float32)

    def old(self, run):
        return run("black_scholes", {"spot": self.spot, "strike": self.strike, "years": self.years}, ["call", "put"],
                   {"rate": self.RATE, "volatility": self.VOLATILITY})

    new = old

    def check(self, arrays):
        spot, strike, years = (x.astype(np.float64) for x in (self.spot, self.strike, self.years))
        deviation = self.VOLATILITY * np.sqrt(years)
        d1 = (np.log(spot / strike) + (self.RATE + self.VOLATILITY ** 2 / 2) * years) / deviation
        normal = [np.array([0.5 * math.erfc(-d / math.sqrt(2)) for d in x]) for x in (d1, d1 - deviation)]
        strike = strike * np.exp(-self.RATE * years)
        yield near("call", arrays["call"], spot * normal[0] - strike * normal[1], 2e-6)
        yield near("put", arrays["put"], strike * (1 - normal[1]) - spot * (1 - normal[0]), 2e-6)


class KMeans:
    """Atomics; a second part that needs all of the first."""

    def __init__(self, random, long):
        self.k, n = (16, 100000) if long else (5, 3000)
        self.points = random.standard_normal((n, 4), np.float32)
        self.centres = self.points[:self.k].copy()

    def old(self, run):
        return run("kmeans", {"points": self.points, "centres": self.centres}, ["labels", "moved", "counts"])

    new = old

    def check(self, arrays):
        apart = self.points[:, None, :] - self.centres[None, :, :]
        squares = apart * apart
        labels = np.argmin(squares[:, :, 0] + squares[:, :, 1] + squares[:, :, 2] + squares[:, :, 3], 1).astype(np.uint32)
        fixed = np.trunc(self.points * np.float32(1 << 20)).astype(np.int64)
        counts = np.bincount(labels, minlength=self.k)
        moved = [fixed[labels == c].sum(0) / (float(counts[c]) * (1 << 20)) for c in range(self.k)]
        yield same("labels", arrays["labels"], labels)
        yield same("counts", arrays["counts"], counts.astype(np.uint32))
        yield same("moved", arrays["moved"], np.array(moved).astype(np.float32))


class Mlp:
    """Layers of 784, 256 and 10 numbers, and a softmax."""
    OLD = ["dense", "softmax"]

    def __init__(self, random, long):
        n, sizes = (64, (784, 256, 10)) if long else (11, (50, 16, 7))
        self.sizes = sizes
        self.x = random.standard_normal((n, sizes[0]), np.float32)
        self.w = [(random.standard_normal(shape, np.float32) / np.float32(math.sqrt(shape[0]))) for shape in zip(sizes, sizes[1:])]
        self.b = [random.standard_normal(size, np.float32) for size in sizes[1:]]

    def old(self, run):
        hidden = run("dense", {"x": self.x, "w": self.w[0], "b": self.b[0]}, ["y"], {"least": 0})["y"]
        logits = run("dense", {"x": hidden, "w": self.w[1], "b": self.b[1]}, ["y"], {"least": "-inf"})["y"]
        return run("softmax", {"x": logits}, ["y"])

    def new(self, run):
        names = () if self.sizes == (784, 256, 10) else zip(("INPUTS", "HIDDEN", "CLASSES"), self.sizes)
        sizes = [word for name, size in names for word in ("--define", f"{name}={size}")]
        return run("mlp", {"x": self.x, "w1": self.w[0], "b1": self.b[0], "w2": self.w[1], "b2": self.b[1]}, ["y"], {}, sizes)

    def check(self, arrays):
        x = np.maximum(self.x.astype(np.float64) @ self.w[0] + self.b[0], 0) @ self.w[1].astype(np.float64) + self.b[1]
        x = np.exp(x - x.max(1, keepdims=True))
        yield near("y", arrays["y"], x / x.sum(1, keepdims=True), 1e-5)


class Fir:
    """A stream: run.stream(text, input, scalars, pool) gives what comes out."""

    def __init__(self, random, long):
        self.x = random.standard_normal((1 << 21) + 5 if long else 2005, np.float32)
        self.taps = random.standard_normal(16, np.float32)
        self.pool = 1 << 20 if long else 4096

    def old(self, run):
        return {"y": run.stream("fir", self.x, {"taps": ",".join(repr(float(t)) for t in self.taps)}, self.pool)}

    new = old

    def check(self, arrays):
        yield near("y", arrays["y"], np.convolve(self.x.astype(np.float64), self.taps)[:len(self.x)], 1e-6)


TASKS = {"matmul": Matmul, "scan": Scan, "bitonic": Bitonic, "sha256": Sha256, "convolve": Convolve, "modexp": Modexp,
         "black_scholes": BlackScholes, "kmeans": KMeans, "mlp": Mlp, "fir": Fir}
