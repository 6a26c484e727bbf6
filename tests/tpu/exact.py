#!/usr/bin/python3
"""Graphs and whole-array instructions on a PJRT plugin have the CPU's bits where its compiler would do something else: quotients of quotients, squares of roots, zeros
with signs, NaNs and empty windows of pools, factors that are no numbers, the order of subnormals, their products where the
configuration says deterministic; and leave what lies beside arrays.

    on.sh DEVICE exact.py HOLOGRAM BACKEND
"""
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

LETTERS = {"f32": "f", "f64": "d", "i32": "i", "i64": "q", "u32": "I", "u8": "B"}
ROOTS = """.graph 1
.extent n
.input a T [n]
.input b T [n]
.input c T [n]
ab = parallel_map_binary.T div, a=a, b=b
cb = parallel_map_binary.T div, a=c, b=b
quotient = parallel_map_binary.T div, a=ab, b=c
divisor = parallel_map_binary.T div, a=a, b=ab
both = parallel_map_binary.T div, a=ab, b=cb
over = parallel_map.T reciprocal, in=b
again = parallel_map.T reciprocal, in=over
root = parallel_map.T sqrt, in=b
square = parallel_map_binary.T mul, a=root, b=root
.output quotient
.output divisor
.output both
.output again
.output square
"""
# Of whole arrays: each in a program and in a graph.
PROGRAM = """.atlas 1
.program p
.param i buffer i32 in [4]
.param x buffer T in [8]
.param integers buffer i32 out [4]
.param pool buffer T out [7]
.param least buffer T out [1]
.param most buffer T out [1]
.param sorted buffer T out [8]
.param places buffer u32 out [8]
    max_pool.i32 output=integers, input=i, planes=1, size=(4), window=(2), stride=(3), padding=(4)
    max_pool.T output=pool, input=x, planes=1, size=(8), window=(2)
    reduce_axis.T output=least, input=x, n=8, operation=min
    reduce_axis.T output=most, input=x, n=8, operation=max
    sort.T output=sorted, input=x, n=8, indices=places
    exit
"""
GRAPH = """.graph 1
.input i i32 [1, 4]
.input x T [1, 8, 1]
.view line = x T [1, 8]
integers = max_pool.i32 input=i, planes=1, size=(4), window=(2), stride=(3), padding=(4)
pool = max_pool.T input=line, planes=1, size=(8), window=(2)
least = reduce_axis.T min, input=x
most = reduce_axis.T max, input=x
.output integers
.output pool
.output least
.output most
"""
FACTORS = """.atlas 1
.program p
.param a buffer T in [4]
.param products buffer T out [4]
.param norms buffer T out [4]
    gemm.T c=products, a=a, b=a, m=2, n=2, k=2, alpha=FACTOR
    rms_norm.T output=norms, input=a, gamma=a, n=2, rows=2, eps=FACTOR
    exit
"""
ORDER = """.atlas 1
.program p
.param x buffer T in [8]
.param least buffer T out [1]
.param most buffer T out [1]
.param sorted buffer T out [8]
.param places buffer u32 out [8]
    reduce_axis.T output=least, input=x, n=8, operation=min
    reduce_axis.T output=most, input=x, n=8, operation=max
    sort.T output=sorted, input=x, n=8, indices=places
    exit
"""
BESIDE = """.atlas 1
.program p
.param x buffer u8 inout [256]
    gemm.T c=[x + 32], a=[x], b=[x + 16], m=3, n=2, k=2, ldc=16
    kv_cache_update.T cache=[x + 160], new_kv=[x], position=5, batch=1, heads=1, seq_len=2, head_dim=2
    exit
"""
SMALL = """.atlas 1
.program p
.param a buffer T in [4]
.param y buffer T out [4]
    parallel_map_binary.T y, a, a, mul, 4
    exit
"""
WHOLE = {"integers": "i32", "pool": "T", "least": "T", "most": "T"}


def numbers(data, kind):
    """Elements as they are compared: all NaNs are one, zeros have their sign."""
    values = struct.unpack(f"<{len(data) // struct.calcsize(LETTERS[kind])}{LETTERS[kind]}", data)
    return [("nan",) if x != x else (x, math.copysign(1, x)) for x in values]


def run(folder, command, text, kind, sets, outputs, options):
    path = os.path.join(folder, "p.graph" if text.startswith(".graph") else "p.atlas")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("T", kind))
    arguments = [command, "run", path, *options]
    for name, values in sets.items():
        arguments += ["--set", f"{name}={','.join(map(repr, values))}"]
    for name in outputs:
        arguments += ["--out", f"{name}=raw:{os.path.join(folder, name)}"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300)
    if done.returncode:
        return done.stderr
    found = {}
    for name, of in outputs.items():
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = numbers(file.read(), of.replace("T", kind))
    return found


def cases():
    some = random.Random(1)
    three = {name: [some.uniform(0.5, 4) for _ in range(64)] for name in "abc"}
    for kind in ("f32", "f64"):
        yield "quotients and roots", ROOTS, kind, three, dict.fromkeys(("quotient", "divisor", "both", "again", "square"), "T"), []
    for kind, x in (
        ("f32", [0.0, -0.0, -0.0, 0.0, -0.0, -0.0, 0.0, 0.0]),
        ("f32", [-0.0, 0.0, math.nan, 1.0, 2.0, -math.inf, -math.inf, math.nan]),
        ("f64", [-0.0, -3.0, 0.0, 0.0, -1.0, -math.inf, -0.0, -2.0]),
        ("f64", [math.nan] * 8),
    ):
        arrays = {"i": [-5, -6, -7, -8], "x": x}
        yield "whole arrays in a graph", GRAPH, kind, arrays, WHOLE, []
        yield "whole arrays in a program", PROGRAM, kind, arrays, {**WHOLE, "sorted": "T", "places": "u32"}, []
    for kind, factor in (("f32", "inf"), ("f32", "nan"), ("f64", "-inf")):
        yield f"a factor of {factor}", FACTORS.replace("FACTOR", factor), kind, {"a": [1.0, -2.0, 3.0, 4.0]}, {"products": "T", "norms": "T"}, []
    subnormals = {"x": [0.0, 2e-40, -1e-40, 1e-40, -2e-40, 3e-40, -0.0, -1e-40]}
    yield "the order of subnormals", ORDER, "f32", subnormals, {"least": "T", "most": "T", "sorted": "T", "places": "u32"}, []
    halves = [0x80, 0x3F] * 8 + [0x80, 0x3F, 0, 0, 0, 0, 0x80, 0x3F] * 2 + [0xFF, 0x7F] * 112  # ones, a matrix, what is a NaN or somebody's number
    yield "what lies beside arrays of halves", BESIDE, "bf16", {"x": halves}, {"x": "u8"}, []
    small = {"a": [1e-20, 1e-19, -3e-20, 2.0]}
    yield "subnormal products, deterministic", SMALL, "f32", small, {"y": "T"}, ["--deterministic"]


def main():
    command, backend = sys.argv[1:3]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for what, text, kind, sets, outputs, options in cases():
            expected = run(folder, command, text, kind, sets, outputs, options)
            found = run(folder, command, text, kind, sets, outputs, [*options, "--backend", backend])
            good = isinstance(expected, dict) and found == expected
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(f"{what}, {kind}, {sets}:", file=sys.stderr)
                print(f"{found}\n{expected} expected"[:2000], file=sys.stderr)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
