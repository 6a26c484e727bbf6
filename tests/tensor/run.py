#!/usr/bin/python3
"""Runs the problems of tests/tensor/*.problems and compares with NumPy and SciPy, and those with PyTorch where it is installed.

    tests/tensor/run.py [--all] [--only NAME[,NAME]]... [--way WAY]... [--backend B] [--part N] [--list] ["LINE" …]

A line is a problem: `gemm.f32 m=17 n=3 k=129 trans_a=true beta=0.5`; what stands behind # is a comment, and m=1|2 k=3|4 are four problems. Lines given as arguments are run in place of the files'.
Results lie within the bound that the operation's class states, NaN where NaN is expected; and all WAYS give the same bits: one thread and two, interpreted and
native code, with bytes behind arrays that nothing may touch; but for vendor steps and what comes without a word of them, which have the bound alone. Problems in a block that begins with `# long` are for --all. NAME is a file's or an instruction's.
Needs HG_BUILD_DIR or build/release, with the program tensor_batch. Last line: N passed, N failed, N skipped."""
import argparse
import ctypes.util
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("HG_SOURCE_DIR") or os.path.join(HERE, "..", "..")
BUILD = os.environ.get("HG_BUILD_DIR") or os.path.join(SOURCE, "build", "release")
sys.path[:0] = [HERE, os.path.join(SOURCE, "tests", "support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402

try:
    import numpy as np
except ImportError:
    checks.skip("NumPy is not installed (Debian package python3-numpy)")
    sys.exit(checks.finish())
import layers  # noqa: E402
import orders  # noqa: E402
import products  # noqa: E402
import transforms  # noqa: E402
from numbers_of import MOST, UNIT, loaded, stored  # noqa: E402
from operation import Problem, lines_of  # noqa: E402

OPERATIONS = {**products.OPERATIONS, **layers.OPERATIONS, **orders.OPERATIONS, **transforms.OPERATIONS}
# Settings, and how many bytes that nothing may touch lie behind each array.
WAYS = {"two threads": ({"HOLOGRAM_NUM_THREADS": "2"}, 0), "one thread": ({"HOLOGRAM_NUM_THREADS": "1"}, 4096),
        "interpreted": ({"HOLOGRAM_NUM_THREADS": "2", "HOLOGRAM_JIT": "off"}, 4096), "native code": ({"HOLOGRAM_NUM_THREADS": "1", "HOLOGRAM_JIT": "on"}, 64),
        "carried code": ({"HOLOGRAM_NUM_THREADS": "2", "HOLOGRAM_PRETEND": "no-compiler"}, 64)}
WAYS = {way: ({**settings, "HOLOGRAM_DETERMINISTIC": "true"}, guard) for way, (settings, guard) in WAYS.items()}
# Through a vendor's library where it can do the operation, whatever was measured: within the bound, with bits of its own.
LOOSE = {"vendor steps": ({"HOLOGRAM_VENDOR": "on", "HOLOGRAM_NUM_THREADS": "2"}, 4096), "vendor steps, one thread": ({"HOLOGRAM_VENDOR": "on", "HOLOGRAM_NUM_THREADS": "1"}, 64)}
WAYS.update(LOOSE)
# What users get who say nothing: within the bound, with a vendor's library or without.
LOOSE["as it comes"] = WAYS["as it comes"] = ({"HOLOGRAM_NUM_THREADS": "2"}, 64)
SMALL_PRODUCTS = 4096 * 2.0 ** -126  # of bf16, below the least normal number: oneDNN takes them for zeros where it is asked for
# With a look at every byte that is touched: no program of the library has a race.
RACES = "looked at for races"
WAYS[RACES] = ({"HOLOGRAM_DETERMINISTIC": "true"}, 64)
MOST_LOOKED_AT = 3000  # elements of all arrays, and multiplications: each access costs a look-up for every byte


def is_looked_at(case):
    work = 1
    for name in ("batch", "m", "n", "k", "heads", "seq_len", "kv_len", "head_dim", "in_channels", "out_channels", "kernel_h", "kernel_w"):
        work *= max(case.o.get(name) or 1, 1)
    return case.p.refused is None and sum(array.size for array in case.arrays.values()) <= MOST_LOOKED_AT and work <= MOST_LOOKED_AT


def problems_of(path, everything):
    """Lines of a file; `# long` begins a part that only --all runs, an empty line ends it."""
    long = False
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            long = line.strip() == "# long" or long and bool(line.strip())
            words = line.split("#")[0].strip()
            if words and (everything or not long):
                for one in lines_of(words):
                    yield Problem(one, f"{os.path.relpath(path, SOURCE)}:{number}")


def one_nan(x, kind):
    """The same elements with one NaN for all: which of them an operation gives is nobody's promise."""
    if kind not in UNIT:
        return x
    return np.where(np.isnan(loaded(x, kind)), stored(np.full(1, np.nan), kind), x)


class Case:
    """A problem with its arrays, and what it must give."""

    def __init__(self, problem):
        self.p, self.op = problem, OPERATIONS[problem.name]()
        self.o = self.op.operands(problem)
        self.arrays = self.op.arrays(problem, self.o)
        self.text = self.op.text(problem, self.arrays)
        self.back = [name for name in self.arrays if name in self.op.out or name in self.op.inout]
        self.first = None
        self.command = f"tests/tensor/run.py '{problem.line}'"

    def record(self):
        text = self.text.encode()
        parts = [struct.pack("<I", len(text)), text, struct.pack("<I", len(self.arrays))]
        for name, array in self.arrays.items():
            data = array.tobytes()
            parts += [struct.pack("<B", len(name)), name.encode(), struct.pack("<BQ", name in self.back, len(data)), data]
        return b"".join(parts)

    def take(self, data, at):
        (size,) = struct.unpack_from("<I", data, at)
        message, at = data[at + 4:at + 4 + size].decode(), at + 4 + size
        results = {}
        for name in self.back:
            results[name] = np.frombuffer(data, self.arrays[name].dtype, self.arrays[name].size, at)
            at += self.arrays[name].nbytes
        return message or ("" if data[at] else "bytes behind an array were written"), results, at + 1

    def compare(self, way, message, results):
        p = self.p
        if p.refused is not None:
            good = p.refused in message if message else False
            same = all(results[name].tobytes() == self.arrays[name].tobytes() for name in self.back)
            checks.check(good and same, f"{p.where}: {way}: expected an error with '{p.refused}' and nothing written, got {message or 'none'!r}\n    {self.command}")
            return
        if message:
            checks.check(False, f"{p.where}: {way}: {' '.join(message.split())[:300]}\n    {self.command}")
            return
        kinds = self.op.types(p)
        bits = {name: one_nan(x, kinds.get(name, p.type)).tobytes() for name, x in results.items()}
        if self.first is None or way in LOOSE:
            self.first = self.first or (way, bits)
            found = self.wrong(results, way, way in LOOSE and self.skips_padding())
            checks.check(not found, f"{p.where}: {way}: {found}\n    {self.command}")
        else:
            differs = [name for name in bits if bits[name] != self.first[1][name]]
            checks.check(not differs, f"{p.where}: other bits of {', '.join(differs)} by {way} than by {self.first[0]}\n    {self.command}")

    def skips_padding(self):
        """A vendor's library leaves zeros of the padding out: a weight that is no number makes no NaN there."""
        return self.p.name == "conv2d" and any(self.o["padding"]) and not np.isfinite(loaded(self.arrays["kernel"], self.p.type)).all()

    def flushed(self, way):
        """What products that a vendor's library takes for zeros can make."""
        return SMALL_PRODUCTS if way.startswith("vendor steps") and self.p.type == "bf16" else 0

    def wrong(self, results, way, less_nan=False):
        """What of the results is not within its bound; empty: nothing. less_nan: what should be NaN may be a number."""
        kinds = self.op.types(self.p)
        for name, (value, bound) in self.op.expected(self.p, self.o).items():
            kind = kinds.get(name, self.p.type)
            got = loaded(results[name], kind)
            value = np.asarray(value).reshape(got.shape)
            bound = np.where(np.isfinite(bound) & np.isfinite(value), bound + self.flushed(way), 0)
            with np.errstate(invalid="ignore"):
                good = (np.abs(got - value) <= bound) | (np.isnan(got) & np.isnan(value)) | (got == value)
                good |= less_nan & np.isnan(value)
                if kind in UNIT:  # at the end of the type's range either side of it may be right
                    good |= np.isinf(got) & (np.sign(got) == np.sign(value)) & (np.abs(value) + bound >= MOST[kind])
            if not good.all():
                at = int(np.argmin(good))
                room = np.broadcast_to(bound, got.shape)[at]
                return f"{name}[{at}] is {got[at]!r}, expected {value[at]!r} within {room:.3g}; {int((~good).sum())} of {good.size} are wrong"
        together = getattr(self.op, "together", None)
        return together({name: loaded(results[name], kinds.get(name, self.p.type)) for name in results}) if together else ""


def run_way(way, cases, backend):
    """All cases in one process; what it says of each."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("in", "out")]
        with open(paths[0], "wb") as file:
            for case in cases:
                file.write(case.record())
        settings, guard = WAYS[way]
        races = ["races"] if way == RACES else []
        done = subprocess.run([os.path.join(BUILD, "tests", "tensor_batch"), *paths, str(guard), *races], env={**os.environ, "HOLOGRAM_BACKEND": backend, **settings},
                              stderr=subprocess.PIPE, text=True, check=False)
        with open(paths[1], "rb") as file:
            data = file.read()
    at = 0
    for case in cases:
        try:
            message, results, at = case.take(data, at)
        except (struct.error, ValueError):
            checks.check(False, f"{case.p.where}: {way}: the process ended with status {done.returncode}: {done.stderr[-300:]}\n    {case.command}")
            return
        case.compare(way, message, results)


def with_torch(cases):
    """The references against PyTorch's, in f64."""
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError:
        checks.skip("the references against PyTorch: it is not installed (Debian package python3-torch)")
        return
    for case in cases:
        if case.p.refused is not None or case.p.type == "f64" or case.p.values != "normal" or not hasattr(case.op, "torch"):
            continue
        theirs = case.op.torch(case.o, torch)
        if theirs is not None:
            ours, _ = next(iter(case.op.expected(case.p, case.o).values()))
            away = np.max(np.abs(ours.reshape(-1) - theirs.numpy().reshape(-1)), initial=0)
            checks.check(away <= 1e-9 * max(1, np.max(np.abs(ours), initial=0)), f"{case.p.where}: the reference differs from PyTorch's by {away:.3g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("lines", nargs="*", metavar="LINE")
    parser.add_argument("--all", action="store_true", help="long problems too")
    parser.add_argument("--only", action="append", metavar="NAME")
    parser.add_argument("--way", action="append", choices=list(WAYS))
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--part", type=int, default=1, metavar="N", help="every N-th problem of each file")
    options = parser.parse_args()
    only = {name for names in options.only or [] for name in names.split(",")}
    found = [Problem(one, "argument") for line in options.lines for one in lines_of(line)]
    for leaf in sorted(os.listdir(HERE)) if not found else ():
        if leaf.endswith(".problems"):
            own = [p for p in problems_of(os.path.join(HERE, leaf), options.all) if not only or p.name in only or leaf[:-9] in only]
            found += own[::options.part]
    if options.list:
        print("\n".join(f"{p.where}: {p.line}" for p in found))
        return 0
    np.seterr(invalid="ignore")  # problems with NaN and infinities
    cases = [Case(p) for p in found]
    checks.check(bool(cases), "there are no problems")
    for way in options.way or WAYS:
        if way.startswith("vendor steps") and not ctypes.util.find_library("dnnl"):
            checks.skip(f"{way}: oneDNN is not installed (Debian package libdnnl2)")
        else:
            some = cases if way != RACES else [case for case in cases if is_looked_at(case)]
            some = some[::1 if way not in (RACES, "native code") or options.all or found[0].where == "argument" else 3]
            print(f"{way}: {len(some)} of {len(cases)} problems")
            run_way(way, some, options.backend)
    with_torch(cases)
    return checks.finish()


sys.exit(main())
