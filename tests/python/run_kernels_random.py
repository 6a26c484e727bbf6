#!/usr/bin/python3
"""Random kernels against the same text as plain Python: functions of i64 and f64, whose operators Python has with the same results.

    tests/python/run_kernels_random.py [--seed N] [--count N] [--device NAME] [--print]

Needs HG_BUILD_DIR, or stands in the sources of the project. Last line: N passed, N failed, N skipped."""
import argparse
import array
import linecache
import math
import os
import random
import re
import sys

from package import checks, hg

os.environ.setdefault("HOLOGRAM_CACHE_DIR", "off")  # kernels are compiled, not found from the run before
LANES = 7
CONSTANTS = (3, -7, 11)
WEIGHTS = (0.5, -1.25, 2.0, 0.75)


LEAVES = ("a", "b", "k", "i", "C[0]", "C[-1]", "C[i % 3]", "x[i]", "x[-1]", "len(x)")
INTEGERS = ("({I} + {I})", "({I} - {I})", "({I} * {I})", "({I} // {N})", "({I} % {N})", "({I} & {I})", "({I} | {I})", "({I} ^ {I})", "(({I} % 1009) << ({I} % 5))",
            "({I} >> abs({I} % 70))", "-{I}", "~{I}", "abs({I})", "min({I}, {I})", "max({I}, {I}, 2)", "({I} if {Q} else {I})", "int({R} % 50.0)",
            "round({R} % 40.0)", "math.floor({R} % 30.0)", "(({I} % 7) ** 3)", "helper({I} % 1009, {I} % 1009)", "({I} and {I})", "({I} or {I})",
            "divmod({I}, {N})[1]", "x[abs({I}) % len(x)]", "int({Q})")
REAL_LEAVES = ("f", "g", "z[i]", "z[0]", "W[0] * f", "W[i % 4] * f", "f * 0.375")
REALS = ("({R} + {R})", "({R} - {R})", "({R} * {R})", "({R} / (abs({R}) + 1.0))", "({R} // (abs({R}) + 0.5))", "({R} % (abs({R}) + 0.25))", "({R} % -(abs({R}) + 0.25))",
         "-{R}", "abs({R})", "math.sqrt(abs({R}))", "({R} if {Q} else {R})", "({R} + {I} % 1009)", "mix({R}, {R}, 0.5)", "mix({R}, {R}, 0.1)", "mix({R}, f, g)",
         "math.fabs({R})", "math.copysign({R}, {R})")
CONDITIONS = ("{I} < {I}", "{I} <= {I}", "{I} > {I}", "{I} == {I}", "{I} != {I}", "{R} > {R}", "({Q} and {Q})", "({Q} or {Q})", "not ({Q})", "{I} < {I} <= {I}",
              "0 <= k < {I} != 5", "bool({I})", "({Q}) != ({Q})")


class Maker:
    """The lines of one function. Integers stay small: each assignment ends in % 1009 or the like. small: for devices whose compilers are slow."""

    def __init__(self, seed, small=False):
        self.random, self.small = random.Random(seed), small
        self.lines, self.indent, self.loops, self.budget, self.fresh = [], 1, 0, 4 if small else 14, 0

    def put(self, line):
        self.lines.append("    " * self.indent + line)

    def one(self, *options):
        return self.random.choice(options)

    def fill(self, templates, depth):
        """A template; I, R, Q in braces are an integer, a float, a condition, N what is not 0."""
        makers = {"I": self.integer, "R": self.real, "Q": self.condition, "N": self.nonzero}
        return re.sub(r"\{(.)\}", lambda found: makers[found[1]](depth + 1), self.one(*templates))

    def integer(self, depth=0):
        depth += self.small
        leaf = depth > 2 or self.random.random() < 0.3
        return str(self.random.randint(-9, 9)) if leaf and self.random.random() < 0.2 else self.fill(LEAVES if leaf else INTEGERS, depth)

    def nonzero(self, depth):
        return self.fill(("3", "-4", "7", "16") + (("(abs({I}) + 1)", "({I} | 1)") if depth < 4 else ()), depth)

    def real(self, depth=0):
        depth += self.small
        return self.fill(REAL_LEAVES if depth > 2 or self.random.random() < 0.35 else REALS, depth)

    def condition(self, depth=0):
        return self.fill(CONDITIONS[:6] if depth > 2 or self.random.random() < 0.4 else CONDITIONS, depth)

    def block(self, depth):
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth)

    def inside(self, depth):
        self.indent += 1
        self.block(depth + 1)
        self.indent -= 1

    def statement(self, depth):
        self.budget -= 1
        r = self.random.random() if depth < 3 and self.budget > 0 else 0
        if r < 0.45:
            self.assign()
        elif r < 0.62:
            self.put(f"if {self.condition()}:")
            self.inside(depth)
            if self.random.random() < 0.4:
                self.put(f"elif {self.condition()}:")
                self.inside(depth)
            if self.random.random() < 0.5:
                self.put("else:")
                self.inside(depth)
        elif r < 0.82:
            self.loop(depth)
        elif self.loops and r < 0.92:
            self.put(f"if {self.condition()}:")
            self.put("    " + self.one("break", "continue"))
        else:
            self.assign()

    def loop(self, depth):
        self.fresh += 1
        name = self.one(f"j{self.fresh}", "k")
        if self.random.random() < 0.7:
            bounds = self.one("5", "1, 6", "6, -2, -2", f"{self.integer(3)} % 6", f"-3, {self.integer(3)} % 7, 2", f"{self.integer(3)} % 5, -4, -3")
            self.put(self.one(f"for {name} in range({bounds}):", f"for {name} in reversed(range({bounds})):"))
        else:
            name = f"j{self.fresh}"
            self.put(f"{name} = {self.one('0', 'a % 4')}")
            self.put(f"while {name} < {self.one('4', 'b % 9')} and {self.condition(2)}:")
            self.put(f"    {name} += 1")
        self.loops += 1
        self.indent += 1
        self.put(f"a = (a + {name}) % 1009")
        self.indent -= 1
        self.inside(depth)
        self.loops -= 1
        if self.random.random() < 0.3:
            self.put("else:")
            self.inside(depth)

    def assign(self):
        v = self.one("a", "b")
        self.put(self.one(f"{v} = ({self.integer()}) % 1009", f"{v} = ({self.integer()}) % 997", f"{v} += ({self.integer()}) % 11", f"a, b = b, ({self.integer()}) % 1013",
                          f"{self.one('f', 'g')} = ({self.real()}) % 64.0", f"f, g = g, ({self.real()}) % 50.0", f"y[i] += ({self.integer()}) % 100",
                          f"w[i] = ({self.real()}) % 8.0", f"k = ({self.integer()}) % 101", f"y[i] = ({self.integer()}) % 3001"))

    def text(self):
        self.put("i = lane()")
        self.put("a = x[i]")
        self.put("b = k = i")
        self.put("f = z[i]")
        self.put("g = f * 2")
        self.put("y[i] = 0")
        self.put("w[i] = f")
        self.block(0)
        self.block(0)
        self.put("y[i] = y[i] + a * 3 + b * 5 + k")
        self.put("w[i] = w[i] + f + g")
        return "def made(x: In[i64, 'n'], z: In[f64, 'n'], y: Inout[i64, 'n'], w: Inout[f64, 'n']):\n" + "\n".join(self.lines) + "\n"


def helper(p, q):
    for step in range(3):
        if p > q:
            return (p - q) % 101 + step
        p = p + 2
    return q % 50


def mix(p, q, t):
    return p + (q - p) * t


def plain(function, arrays):
    for number in range(LANES):
        scope["lane"] = lambda: number
        function(*arrays)


scope = {"math": math, "helper": helper, "mix": mix, "C": CONSTANTS, "W": WEIGHTS, "i64": hg.i64, "f64": hg.f64, "In": hg.In, "Inout": hg.Inout}


def case(seed, device, show):
    text = Maker(seed, device != "cpu").text()
    if show:
        print(text)
    name = f"<kernel {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), scope)
    function, r = scope["made"], random.Random(seed)
    arrays = [array.array("q", (r.randint(-50, 50) for _ in range(LANES))), array.array("d", (r.randint(-80, 80) / 8 for _ in range(LANES))),
              array.array("q", bytes(8 * LANES)), array.array("d", bytes(8 * LANES))]
    want = [array.array(a.typecode, a) for a in arrays]
    plain(function, want)
    repeat = f"tests/python/run_kernels_random.py --seed {seed} --count 1 --print"
    scope["lane"] = hg.lane
    again = [array.array(a.typecode, a) for a in arrays]
    try:
        made = hg.kernel(function, device=device)
        made(*arrays)
        hg.interpret(made)(*again)
    except hg.Error as error:
        checks.check(False, f"{repeat}: {str(error)[:500]}")
        return
    good = all(a.tobytes() == b.tobytes() for a, b in zip(arrays, want))
    checks.check(good, f"{repeat}: {[a.tolist() for a in arrays[2:]]} for {[a.tolist() for a in want[2:]]}")
    same = all(a.tobytes() == b.tobytes() for a, b in zip(again, want))
    checks.check(same, f"{repeat}: interpreted {[a.tolist() for a in again[2:]]} for {[a.tolist() for a in want[2:]]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--print", action="store_true")
    given = parser.parse_args()
    for seed in range(given.seed, given.seed + given.count):
        case(seed, given.device, given.print)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
