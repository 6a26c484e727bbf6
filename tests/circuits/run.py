#!/usr/bin/python3
"""Circuits over elements of every type, scaling and fma, against NumPy and Python's integers, on every device found.

    run.py [--long]    --long: every type on every device, not on the CPU alone

Needs HG_SOURCE_DIR and HG_BUILD_DIR. Last line: N passed, N failed, N skipped.
"""
import fractions
import json
import os
import random
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
from checks import check, finish, skip

COMMAND = os.path.join(os.environ["HG_BUILD_DIR"], "hologram")
INTEGERS = [f"{s}{2 ** k}" for k in range(3, 13) for s in "iu"]


def run(*arguments):
    done = subprocess.run([COMMAND, *arguments, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=300)
    return done.returncode, json.loads(done.stdout)


def circuit(text, kind, arrays, backend, *more):
    """The outputs by name, or the message."""
    sets = [f"--set={name}={','.join(map(str, values))}" for name, values in arrays.items()]
    status, answer = run("run", "-e", text, "--type", kind, "--backend", backend, *sets, *more)
    if status:
        return answer["diagnostics"][0]["message"] if answer["diagnostics"] else str(answer)
    return {o["name"]: [number(v) for v in o["values"]] for o in answer["outputs"]}


def number(value):
    """As it is written: a string where JSON has no such number."""
    if not isinstance(value, str):
        return value
    return float(value) if value in ("nan", "inf", "-inf") else int(value)


def wrap(value, kind):
    bits = int(kind[1:])
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind[0] == "i" and value >> (bits - 1) else value


def literal(value):
    return str(value)


def integers(kind, backend):
    random.seed(kind)
    bits = int(kind[1:])
    n = 5
    x = [wrap(random.getrandbits(bits), kind) for _ in range(n)]
    y = [wrap(random.getrandbits(bits), kind) for _ in range(n)]
    z = [wrap(random.getrandbits(bits), kind) for _ in range(n)]
    k = wrap(random.getrandbits(bits), kind)
    text = f"merge@c00[c01,c03] . split@c00[c01,c04] . scale({k})@c00->c05 . fma@c00[c01,c02] . mark@c01 . swap@c00<->c06"
    got = circuit(text, kind, {"c00": x, "c01": y, "c02": z}, backend)
    top = int("80" * (bits // 8), 16)
    want = {"c03": [wrap(a + b, kind) for a, b in zip(x, y)], "c04": [wrap(a - b, kind) for a, b in zip(x, y)],
            "c05": [wrap(a * k, kind) for a in x], "c02": [wrap(a * b + c, kind) for a, b, c in zip(x, y, z)],
            "c01": [wrap(a ^ top, kind) for a in y], "c00": [0] * n, "c06": x}
    check(got == want, f"{backend} {kind}: {got} and not {want}")


def once(exact, kind):
    """A fraction rounded once to f32 or f64, to nearest even, far from its limits."""
    if kind == "f64":
        return float(exact)
    if not exact:
        return 0.0
    exponent = 0
    value = abs(exact)
    while value >= 1 << 24:
        value, exponent = value / 2, exponent + 1
    while value < 1 << 23:
        value, exponent = value * 2, exponent - 1
    return float((-1 if exact < 0 else 1) * fractions.Fraction(round(value)) * fractions.Fraction(2) ** exponent)


def floats(kind, backend):
    random.seed(kind)
    pack = "<f" if kind == "f32" else "<d"
    rounded = lambda v: struct.unpack(pack, struct.pack(pack, v))[0]
    n = 6
    x, y, z = ([rounded(random.uniform(-9, 9)) for _ in range(n)] for _ in range(3))
    exact = lambda v: fractions.Fraction(v)
    k = rounded(1 / 3)
    got = circuit(f"merge@c00[c01,c03] . scale({k!r})@c00->c04 . fma@c00[c01,c02] . scale(-2)@c[0..1]", kind, {"c00": x, "c01": y, "c02": z}, backend)
    want = {"c03": [once(exact(a) + exact(b), kind) for a, b in zip(x, y)], "c04": [once(exact(a) * exact(k), kind) for a in x],
            "c02": [once(exact(a) * exact(b) + exact(c), kind) for a, b, c in zip(x, y, z)], "c00": [-2 * a for a in x], "c01": [-2 * b for b in y]}
    good = isinstance(got, dict) and all([rounded(v) for v in got[name]] == want[name] for name in want)
    check(good, f"{backend} {kind}: {got} and not {want}")


def halves(backend):
    got = circuit("merge@c00[c01,c02] . scale(0.5)@c00 . fma@c01[c01,c03]", "f16", {"c00": [1, 2048, 65504], "c01": [2, 1, 8]}, backend)
    half = lambda values: [struct.unpack("<e", struct.pack("<e", v))[0] for v in values] # texts are the shortest that read back
    good = isinstance(got, dict) and {name: half(values) for name, values in got.items()} == {"c02": [3, 2048, 65504], "c00": [0.5, 1024, 32752], "c03": [4, 1, 64]}
    check(good, f"{backend} f16: {got}")
    got = circuit("scale(3)@c00", "bf16", {"c00": [1, 256]}, backend)
    check(got == {"c00": [3, 770]}, f"{backend} bf16: {got}") # 768: the shortest text that reads back to it


def long_arrays(backend):
    """More elements than a class has, of types with other numbers of them."""
    for kind, n in (("u8", 30000), ("f64", 4000), ("u256", 1000)):
        x = [i % 200 for i in range(n)]
        got = circuit("scale(3)@c00 . merge@c00[c00,c01]", kind, {"c00": x}, backend)
        modulus = 256 if kind == "u8" else None
        want = [(6 * v) % modulus if modulus else 6 * v for v in x]
        check(isinstance(got, dict) and got["c01"] == want, f"{backend} {kind}: {n} elements")


def wrong():
    for text, kind, message in (("scale(0.5)@c00", "i32", "scale(0.5)"), ("scale(300)@c00", "u8", "300"), ("scale()@c00", "f32", "a number"),
                                ("scale@c00", "f32", "'('"), ("scale(2@c00", "f32", "a number"), ("fma@c00", "f32", "fma@c<src>"),
                                ("fma@c[0..3]", "f32", "not supported on ranges"), ("scale(2)@c00[c01,c02]", "f32", "triple"),
                                ("scale(2)@c00<->c01", "f32", "swap syntax"), ("scale(x)@c00", "f32", "scale(x)"),
                                ("merge.exp@c00[c01,c02]", "u32", "for floats"), ("mark@c00", "f33", "no element type")):
        got = circuit(text, kind, {"c00": [1]}, "cpu", "--variants")
        check(isinstance(got, str) and message in got, f"{text} of {kind}: {got}")


def round_trip():
    for text in ("scale(0.5)@c01", "scale(-1e-3)@c01->c02 . fma@c00[c01,c02]", "R+1@(scale(0x1p-4)@c[3..7]~ || fma@c01[c02,c03])"):
        status, answer = run("circuit", "parse", "-e", text)
        check(status == 0 and answer["outputs"][0]["text"] == text, f"{text}: {answer}")
        status, again = run("circuit", "parse", "-e", answer["outputs"][0]["text"])
        check(again["outputs"][0] == answer["outputs"][0], f"{text}: printed and read again")
    status, answer = run("circuit", "canonicalise", "-e", "scale(2)@c01 . mark@c02 . mark@c02 . scale(2)@c01")
    check(status == 0 and answer["outputs"][0]["canonical_ops"] == 2, f"canonical form: {answer}")
    got = circuit("scale(2)@c01 . mark@c02 . mark@c02 . fma@c01[c01,c01] . copy@c03->c03", "i32", {"c01": [3]}, "cpu", "--canonicalise")
    check(got == {"c01": [42], "c02": [0], "c03": [0]}, f"the sound form keeps scale and fma: {got}")


def main():
    _, answer = run("devices")
    backends = sorted({d["backend"] for d in answer["outputs"] if d.get("available") and d.get("backend") not in ("null", None)})
    check("cpu" in backends, f"devices: {backends}")
    wrong()
    round_trip()
    for backend in backends:
        everything = backend == "cpu" or "--long" in sys.argv
        for kind in INTEGERS if everything else ["i8", "u16", "i32", "u64", "i128"]:
            integers(kind, backend)
        floats("f32", backend)
        floats("f64", backend)
        halves(backend)
        if everything:
            long_arrays(backend)
    for backend in ("opencl", "vulkan"):
        if backend not in backends:
            skip(f"{backend}: no device")
    return finish()


sys.exit(main())
