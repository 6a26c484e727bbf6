#!/usr/bin/python3
"""Random kernels on integers of 128 to 512 bits, in native code and on the interpreter: what Python's integers make of them.

    tests/wide/run.py [--seed N] [--count N] [--level L]...

Without --level: the machine's best level and the baseline. Needs HG_BUILD_DIR, or stands in the sources of the project. Last line: N passed, N failed,
N skipped."""
import argparse
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("HG_BUILD_DIR") or os.path.join(HERE, "..", "..", "build", "release")
sys.path.insert(0, os.path.join(HERE, "..", "support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

LANES, NARROW, TWO = 37, ("u8", "u16", "u32", "u64", "i8", "i32", "i64"), {
    "add": lambda x, y, bits: x + y, "sub": lambda x, y, bits: x - y, "mul": lambda x, y, bits: x * y, "and": lambda x, y, bits: x & y,
    "or": lambda x, y, bits: x | y, "xor": lambda x, y, bits: x ^ y, "min": lambda x, y, bits: min(x, y), "mulhi": lambda x, y, bits: x * y >> bits}


def number(chance, bits):
    kind = chance.randrange(5)
    if kind == 0:
        return chance.choice([0, 1, 2, (1 << bits) - 1, 1 << bits - 1, (1 << bits - 1) - 1, (1 << 64) - 1, 1 << 64])
    if kind == 1:
        return chance.getrandbits(chance.randrange(1, bits + 1))
    if kind == 2:
        return (1 << bits) - 1 - chance.getrandbits(chance.randrange(1, bits + 1))
    if kind == 3:
        return sum(chance.choice([0, 1, (1 << 64) - 1, chance.getrandbits(64)]) << at for at in range(0, bits, 64))
    return chance.getrandbits(bits)


class Program:
    """Lines of text, and beside each what it does to a lane's registers."""

    def __init__(self, chance):
        self.chance, self.bits, self.signed = chance, chance.choice([128, 256, 512]), chance.random() < 0.5
        self.type, self.lines, self.steps = f"{'iu'[not self.signed]}{self.bits}", [], []
        for _ in range(chance.randrange(3, 14)):
            getattr(self, chance.choice(["two"] * 5 + ["shift", "invert", "constant", "branch", "divide", "loop", "convert"]))(*chance.choices("abcd", k=3))

    def read(self, x, bits=None, signed=None):
        bits, signed = bits or self.bits, self.signed if signed is None else signed
        x &= (1 << bits) - 1
        return x - (1 << bits) if signed and x >> bits - 1 else x

    def add(self, line, step):
        self.lines.append(line)
        self.steps.append(step)

    def two(self, d, x, y):
        name = self.chance.choice(list(TWO))
        self.add(f"{name} {d}, {x}, {y}", lambda r: r.update({d: TWO[name](r[x], r[y], self.bits)}))

    def shift(self, d, x, _):
        by = self.chance.choice(["k", 0, 1, 63, 64, 65, 127, self.bits - 1, self.chance.randrange(self.bits)])
        left = self.chance.random() < 0.5
        count = lambda r: r["k"] if by == "k" else by  # noqa: E731
        self.add(f"{'shl' if left else 'shr'} {d}, {x}, {by}", lambda r: r.update({d: r[x] << count(r) if left else r[x] >> count(r)}))

    def invert(self, d, x, _):
        self.add(f"not {d}, {x}", lambda r: r.update({d: ~r[x]}))

    def constant(self, d, _, __):
        value = self.read(number(self.chance, self.bits) & self.chance.choice([(1 << self.bits) - 1, (1 << 63) - 1]))
        self.add(f"mov {d}, {value}", lambda r: r.update({d: value}))

    def branch(self, d, x, y):
        name, place = self.chance.choice(["eq", "lt" if self.signed else "ltu"]), f"past{len(self.lines)}"
        self.add(f"bra.{name} {x}, {y}, @{place}\n    add {d}, {d}, {x}\n{place}:",
                 lambda r: (r[x] == r[y] if name == "eq" else r[x] < r[y]) or r.update({d: r[d] + r[x]}))

    def divide(self, d, x, y):
        rest = self.chance.random() < 0.5

        def step(r):
            by = self.read(r[y] | 1)
            quotient = abs(r[x]) // abs(by) * (1 if (r[x] < 0) == (by < 0) else -1)
            r[d] = r[x] - quotient * by if rest else quotient
        self.add(f"mov e, 1\n    or e, e, {y}\n    {'rem' if rest else 'div'} {d}, {x}, e", step)

    def loop(self, d, x, y):
        rounds, place = self.chance.randrange(1, 4), f"again{len(self.lines)}"

        def step(r):
            for _ in range(rounds):
                r[d] = self.read(r[d] + r[x])
                r[d] = self.read(r[d] ^ r[y])
        self.add(f"mov i, 0\n{place}:\n    add {d}, {d}, {x}\n    xor {d}, {d}, {y}\n    add i, i, 1\n    bra.ltu i, {rounds}, @{place}", step)

    def convert(self, d, x, _):
        name = self.chance.choice(NARROW)
        self.add(f"cvt as_{name}, {x}\n    cvt {d}, as_{name}", lambda r: r.update({d: self.read(r[x], int(name[1:]), name[0] == "i")}))

    def text(self):
        params = "".join(f".param {name} buffer {kind} {way} [n]\n" for name, kind, way in
                         (("x", self.type, "in"), ("y", self.type, "in"), ("by", "u32", "in"), ("out", self.type, "out")))
        registers = "".join(f".reg as_{name} {name}\n" for name in NARROW)
        return (f".atlas 1\n.program wide\n{params}.param n u64\n.lanes n\n.reg a, b, c, d, e {self.type}\n.reg k, i u32\n{registers}"
                "    ldg a, [x[global]]\n    ldg b, [y[global]]\n    ldg k, [by[global]]\n    mov c, a\n    mov d, b\n    "
                + "\n    ".join(self.lines) + "\n    add a, a, b\n    xor a, a, c\n    sub a, a, d\n    stg [out[global]], a\n")

    def of_lane(self, x, y, k):
        r = {"a": self.read(x), "b": self.read(y), "c": self.read(x), "d": self.read(y), "k": k}
        for step in self.steps:
            step(r)
            for name in "abcd":
                r[name] = self.read(r[name])
        return ((r["a"] + r["b"] ^ r["c"]) - r["d"]) & (1 << self.bits) - 1


def check_program(seed, levels, folder):
    chance = random.Random(seed)
    program = Program(chance)
    x = [number(chance, program.bits) & (1 << program.bits) - 1 for _ in range(LANES)]
    y = [chance.choice([number(chance, program.bits) & (1 << program.bits) - 1, same]) for same in x]
    by = [chance.choice([0, 1, 63, 64, 65, program.bits - 1, chance.randrange(program.bits)]) for _ in range(LANES)]
    size, paths = program.bits // 8, {name: os.path.join(folder, name) for name in ("wide.atlas", "x", "y", "by", "out")}
    with open(paths["wide.atlas"], "w", encoding="utf-8") as file:
        file.write(program.text())
    for name, numbers, each in (("x", x, size), ("y", y, size), ("by", by, 4)):
        with open(paths[name], "wb") as file:
            file.write(b"".join(one.to_bytes(each, "little") for one in numbers))
    wanted = b"".join(program.of_lane(*lane).to_bytes(size, "little") for lane in zip(x, y, by))
    inputs = [word for name in ("x", "y", "by") for word in ("--in", f"{name}=raw:{paths[name]}")]
    for jit, level in [("off", "")] + [("on", one) for one in levels]:
        environment = {**os.environ, "HOLOGRAM_JIT": jit, "HOLOGRAM_CPU_LEVEL": level, "HOLOGRAM_CACHE_DIR": "off"}
        done = subprocess.run([os.path.join(BUILD, "hologram"), "run", paths["wide.atlas"], "--backend", "cpu", *inputs, "--set", f"n={LANES}",
                               "--out", f"out=raw:{paths['out']}"], env=environment, capture_output=True, text=True, check=False)
        made = b""
        if done.returncode == 0:
            with open(paths["out"], "rb") as file:
                made = file.read()
        checks.check(made == wanted, f"HOLOGRAM_JIT={jit} HOLOGRAM_CPU_LEVEL={level} tests/wide/run.py --seed {seed} --count 1: "
                                     f"{done.stderr[:300]}\n{program.text()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=16)
    parser.add_argument("--level", action="append")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.count):
            check_program(seed, options.level or ["", "baseline"], folder)
    return checks.finish()


sys.exit(main())
