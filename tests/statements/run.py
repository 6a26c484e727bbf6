#!/usr/bin/python3
"""Ten kernels in instructions, in statements and in C: the same bits, and how many lines each takes.

    tests/statements/run.py [--backend B[:DEVICE]] [--lines] [KERNEL...]

instructions/ and statements/ have the texts, c/ what a C programmer would write, compiled by cc without contraction: the oracle. --lines prints a table of lines
that say something; tables of numbers do not count. bench/statements/run races the two texts.
Needs HG_SOURCE_DIR and HG_BUILD_DIR, or stands in the sources of the project. Last line: N passed, N failed, N skipped."""
import argparse
import ctypes
import glob
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("HG_SOURCE_DIR") or os.path.join(HERE, "..", "..")
BUILD = os.environ.get("HG_BUILD_DIR") or os.path.join(SOURCE, "build", "release")
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

try:
    import numpy as np
except ImportError:
    checks.skip("NumPy is not installed (Debian package python3-numpy)")
    sys.exit(checks.finish())

FORMS = ("instructions", "statements")


class Work:
    """A kernel's arrays and scalars, in the order in which C takes them; `out` are the names of those that it fills or changes, with their shapes. wide: elements
    are integers that NumPy does not have, so that files are bytes without a head."""

    def __init__(self, arguments, out, wide=False):
        self.arguments, self.out, self.wide = arguments, out, wide

    def save(self, array, path):
        """How the command is told of the file."""
        if not self.wide:
            np.save(path + ".npy", array)
            return path + ".npy"
        array.tofile(path)
        return "raw:" + path

    def load(self, path):
        return open(path, "rb").read() if self.wide else np.load(path + ".npy").tobytes()


def packed(random, blocks):
    """LZ4 blocks of random literals and matches, each by its offset."""
    text, at = bytearray(), [0]
    for _ in range(blocks):
        made = 0
        for _ in range(random.integers(1, 30)):
            literals, match = int(random.integers(1, 40)), int(random.integers(0, 300))
            text.append(min(literals, 15) << 4 | min(match, 15))
            if literals >= 15:
                text.append(literals - 15)
            text += random.bytes(literals)
            made += literals
            text += int(random.integers(1, made + 1)).to_bytes(2, "little")
            if match >= 15:
                text += bytes([255] * ((match - 15) // 255) + [(match - 15) % 255])
            made += match + 4
        text += bytes([0x50]) + random.bytes(5)
        at.append(len(text))
    return np.frombuffer(bytes(text), "u1"), np.array(at, "u4")


def works(random, n):
    """n: how much of each."""
    numbers = lambda high, shape, kind: random.integers(0, high, shape, dtype=kind)  # noqa: E731
    bounds = np.concatenate([[0], np.cumsum(random.integers(0, 40, n))]).astype("u4")
    table, accept = numbers(7, (7, 256), "u1"), np.array([0, 1, 0, 0, 1, 0, 0], "u1")
    field = numbers(1 << 64, (2, n, 4), "u8")
    blocks, starts = packed(random, max(n // 16, 2))
    places = max(int(n ** 0.5), 4)
    ways = random.random((places, places), "f4")
    primes = np.concatenate([np.array([41, 3215031751, (1 << 61) - 1, (1 << 64) - 59, 3825123056546413051], "u8"), numbers(1 << 62, n, "u8") * 2 + 41])
    return {
        "crc32": Work({"text": numbers(256, (n, 64), "u1"), "sums": None, "n": n, "size": 64}, {"sums": ("u4", n)}),
        "dfa": Work({"text": numbers(256, int(bounds[-1]), "u1"), "at": bounds, "table": table, "accept": accept, "hits": None, "n": np.uint32(n)},
                    {"hits": ("u4", n)}),
        "distance": Work({"a": numbers(3, (n, 12), "u1"), "b": numbers(3, (n, 12), "u1"), "distances": None, "n": n}, {"distances": ("u4", n)}),
        "field": Work({"a": field[0], "b": field[1], "c": None, "n": n}, {"c": ("u8", (n, 4))}, wide=True),
        "floyd": Work({"d": ways, "n": np.uint32(places)}, {"d": ("f4", (places, places))}),
        "lu": Work({"m": random.standard_normal((n, 8, 8), "f4"), "pivots": None, "n": n}, {"m": ("f4", (n, 8, 8)), "pivots": ("u4", (n, 8))}),
        "lz4": Work({"src": blocks, "at": starts, "dst": None, "size": None, "nb": np.uint32(len(starts) - 1)},
                    {"dst": ("u1", (len(starts) - 1, 65536)), "size": ("u4", len(starts) - 1)}),
        "philox": Work({"hits": None, "n": n, "rounds": np.uint32(100)}, {"hits": ("u4", n)}),
        "prime": Work({"x": primes, "y": None, "n": len(primes)}, {"y": ("u1", len(primes))}),
        "sha3": Work({"messages": numbers(1 << 64, (n, 16), "u8"), "digests": None, "n": n}, {"digests": ("u8", (n, 4))}),
    }


def compiled(folder):
    """The functions of c/ as a library; None: there is no compiler."""
    path = os.path.join(folder, "oracle.so")
    try:
        subprocess.run(["cc", "-O2", "-ffp-contract=off", "-w", "-shared", "-fPIC", "-o", path, *sorted(glob.glob(os.path.join(HERE, "c", "*.c"))), "-lm"],
                       check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ctypes.CDLL(path)


def by_c(library, name, work):
    """What C makes of it, name -> bytes."""
    made, given = {}, []
    for key, value in work.arguments.items():
        if key in work.out:
            kind, shape = work.out[key]
            made[key] = np.zeros(shape, kind) if value is None else value.copy()
            value = made[key]
        if isinstance(value, np.ndarray):
            given.append(value.ctypes.data_as(ctypes.c_void_p))
        else:
            given.append(ctypes.c_uint32(int(value)) if isinstance(value, np.uint32) else ctypes.c_uint64(value))
    getattr(library, name)(*given)
    return {key: array.tobytes() for key, array in made.items()}


def options_of(name, work, folder):
    """How the command is told what a kernel gets."""
    options = []
    for key, value in work.arguments.items():
        if isinstance(value, np.ndarray):
            options += ["--in", f"{key}={work.save(value, os.path.join(folder, name + '-' + key))}"]
        elif value is not None:
            options += ["--set", f"{key}={value}"]
    return options


def by_text(form, name, work, folder, where):
    places = {key: os.path.join(folder, f"{name}-{key}-{form}") for key in work.out}
    text = os.path.join(HERE, form, name + ".atlas")
    outputs = [word for key, path in places.items()
               for word in ("--out", f"{key}=raw:{path}" if work.wide else f"{key}={path}.npy")]
    done = subprocess.run([os.path.join(BUILD, "hologram"), "run", text, *where, *options_of(name, work, folder), *outputs], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode:
        return done.stderr.decode(errors="replace")[:600]
    return {key: work.load(path) for key, path in places.items()}


def lines_of(path):
    """Lines that say something, without tables of numbers."""
    count, table = 0, False
    for line in open(path, encoding="utf-8"):
        line = line.strip()
        if line.startswith((".data", "static const")):
            table = True
        if table:
            table = line.endswith(",") or line.endswith("{")
        elif line and not line.startswith((";", "/*")):
            count += 1
    return count


def table_of_lines():
    print("| kernel | instructions | statements | C | statements / C |\n|---|---|---|---|---|")
    total = [0, 0, 0]
    for path in sorted(glob.glob(os.path.join(HERE, "c", "*.c"))):
        name = os.path.basename(path)[:-2]
        row = [lines_of(os.path.join(HERE, form, name + ".atlas")) for form in FORMS] + [lines_of(path)]
        total = [a + b for a, b in zip(total, row)]
        print(f"| {name} | {row[0]} | {row[1]} | {row[2]} | {row[1] / row[2]:.2f} |")
    print(f"| together | {total[0]} | {total[1]} | {total[2]} | {total[1] / total[2]:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--backend", default="cpu", metavar="B[:DEVICE]")
    parser.add_argument("--lines", action="store_true", help="only the table")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    options = parser.parse_args()
    if options.lines:
        table_of_lines()
        return 0
    backend, _, device = options.backend.partition(":")
    where = ["--backend", backend, "--device", device or "0"]
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(folder)
        if not library:
            checks.skip("there is no C compiler (cc)")
        for name, work in works(np.random.default_rng(options.seed), 100).items():
            if options.kernels and name not in options.kernels:
                continue
            repeat = f"(tests/statements/run.py --backend {options.backend} --seed {options.seed} {name})"
            made = [by_text(form, name, work, folder, where) for form in FORMS]
            for form, result in zip(FORMS, made):
                checks.check(isinstance(result, dict), f"{form}/{name}.atlas: {result} {repeat}")
            if not all(isinstance(result, dict) for result in made):
                continue
            checks.check(made[0] == made[1], f"{name}: instructions and statements differ {repeat}")
            if library:
                checks.check(by_c(library, name, work) == made[1], f"{name}: statements and C differ {repeat}")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
