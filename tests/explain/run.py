#!/usr/bin/python3
"""hologram explain PROGRAM: kinds of accesses and branches of programs written for each, and of every example.

    run.py

Needs HG_SOURCE_DIR and HG_BUILD_DIR. Last line: N passed, N failed, N skipped.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
from checks import check, finish, skip

COMMAND = os.path.join(os.environ["HG_BUILD_DIR"], "hologram")
SOURCE = os.environ["HG_SOURCE_DIR"]
# An installed compiler of this version is found from everywhere.
INSTALLED = any(glob.glob(os.path.join(folder, "libhologram_jit.so")) for folder in ("/usr/lib", "/usr/local/lib", "/usr/lib/*-linux-gnu"))
HEAD = ".atlas 1\n.program p\n.param x buffer u32 inout [n]\n.param n u64\n.param k u32\n.lanes n\n.reg v, w u32\n.reg i u64\n.reg p0_ pred\n"
# (statements, the instruction looked at from the end, key, value)
KINDS = [
    ("ldg v, [x]\nstg [x[global]], v", 1, "access", "uniform"),
    ("ldg v, [x[k]]\nstg [x[global]], v", 1, "access", "uniform"),
    ("ldg v, [x[global]]\nstg [x[global]], v", 1, "access", "contiguous"),
    ("ldg v, [x[global]]\nstg [x[global]], v", 0, "access", "contiguous"),
    ("ldg v, [x[global + 7]]\nstg [x[global]], v", 1, "access", "contiguous"),
    ("mul i, global, 16\nldg v, [x + i]\nstg [x[global]], v", 1, "access", "strided"),
    ("ldg v, [x[global]]\nldg v, [x[v]]\nstg [x[global]], v", 1, "access", "gathered"),
    ("rem i, global, 7\nldg v, [x[i]]\nstg [x[global]], v", 1, "access", "gathered"),
    ("rem i, global, 7\nldg v, [x[i]]\nstg [x[global]], v", 1, "compiled", "gathered"),
    ("rem i, global, 7\nldg v, [x[i]]\nstg [x[global]], v", 0, "compiled_mostly", "contiguous"),
    ("ldg v, [x[global]]\nldg v, [x[v]]\nstg [x[global]], v", 1, "compiled", "gathered"),
    ("mul i, global, 16\nldg v, [x + i]\nstg [x[global]], v", 1, "compiled", "strided"),
    ("ldg v, [x[global]]\nstg [x[global]], v", 0, "masked", False),
    ("mov v, 1\nsetlt.u64 p0_, global, 5\nbra.p0_ @l\nldg v, [x[global]]\nl: stg [x[global]], v", 1, "masked", True),
    ("mov v, 1\nsetlt.u64 p0_, global, 5\nbra.p0_ @l\nmov v, 2\nl: stg [x[global]], v", 1, "compiled", "masked"),
    ("mov v, 1\nsetlt.u64 p0_, global, 5\nbra.p0_ @l\nldg v, [x[global]]\nl: stg [x[global]], v", 2, "compiled", "skipped"),
    ("mov v, 1\nsetlt.u32 p0_, k, 5\nbra.p0_ @l\nmov v, 2\nl: stg [x[global]], v", 2, "branch", "uniform"),
    ("mov v, 1\nsetlt.u64 p0_, global, 5\nbra.p0_ @l\nmov v, 2\nl: stg [x[global]], v", 2, "branch", "divergent"),
]


def explain(path):
    done = subprocess.run([COMMAND, "explain", path, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=120)
    return done.returncode, json.loads(done.stdout)


def alone(folder):
    """A command that finds no compiler says so, at every level."""
    command = shutil.copy(COMMAND, folder)
    source = os.path.join(folder, "alone.atlas")
    with open(source, "w", encoding="utf-8") as f:
        f.write(HEAD + "ldg v, [x[global]]\nstg [x[global]], v\n")
    for which, missing in ((command, True), (COMMAND, False)):
        done = subprocess.run([which, "explain", source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=120)
        said = re.search(r"^here it stays interpreted, there is no compiler: .*libhologram_jit\.so", done.stdout, re.M) is not None
        there = os.path.exists(os.path.join(os.path.dirname(COMMAND), "libhologram_jit.so"))
        check(said == (missing or not there) or (missing and not said and INSTALLED), f"{which}: {done.stdout[:400]!r} {done.stderr}")


def levels(folder):
    """The lanes of a turn are those of the level, of this machine or not."""
    def told(level):
        with tempfile.NamedTemporaryFile("w", suffix=".atlas", dir=folder) as f:
            f.write(HEAD + "ldg v, [x[global]]\nrem w, v, 10\nrem v, w, 7\nstg [x[global]], v\n")
            f.flush()
            done = subprocess.run([COMMAND, "explain", f.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=120,
                                  env={**os.environ, "HOLOGRAM_CPU_LEVEL": level})
        found = re.search(r"^compiled \((\w+)\): (\d+) lanes a turn", done.stdout, re.M)
        check(found is not None, f"{level}: {done.stdout[:300]!r} {done.stderr}")
        return (found.group(1), int(found.group(2))) if found else ("", 0)
    plain = [told(level) for level in ("baseline", "v3", "v4")]
    check([name for name, _ in plain] == ["baseline", "v3", "v4"], f"names of levels: {plain}")
    check(plain[0][1] < plain[1][1] < plain[2][1], f"wider levels have more lanes a turn: {plain}")
    done = subprocess.run([COMMAND, "explain", os.path.join(SOURCE, "examples/programs/axpy.atlas")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=120, env={**os.environ, "HOLOGRAM_CPU_LEVEL": "v9"})
    check(done.returncode != 0 and "'v9' is unknown, expected baseline, v3 or v4" in done.stderr, f"an unknown level: {done}")


# A text, the kind of what it pays for besides work and scalars, the line where it pays most of that.
PAYS = [
    ("ldg v, [x[global]]\nand v, v, 3\nldg w, [x[v]]\nstg [x[global]], w\n", "gathers", 3),
    (".private 64\nldg v, [x[global]]\nmov k, 0\nloop r200, 16\nstp [private + k*4], v\nadd k, k, 1\nendloop\nldp v, [private + 8]\n"
     "stg [x[global]], v\n", "private", 5),
    ("ldg v, [x[global]]\natom.add w, [x[v]], 1\nstg [x[global]], w\n", "atomics", 2),
]


def why_slow(folder):
    """Kinds of costs with their lines, in text and in JSON; none of what is not there."""
    path = os.path.join(folder, "slow.atlas")

    def told(*more):
        return subprocess.run([COMMAND, "explain", path, "--why-slow", *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=120)
    for statements, kind, line in PAYS:
        with open(path, "w") as f:
            f.write(HEAD + statements)
        first = HEAD.count("\n") + line
        done = told("--json")
        items = json.loads(done.stdout)["outputs"]
        dear = [item for item in items if item["kind"] not in ("work", "scalars", "prologue")]
        check(done.returncode == 0 and dear[0]["kind"] == kind and dear[0]["lines"][0]["line"] == first, f"{statements!r}: {dear}")
        shares = sum(item["share"] for item in items if item["kind"] != "prologue")
        check(abs(shares - 1) < 1e-9, f"{statements!r}: shares make {shares}")
        for item in items:
            lines = sum(place["steps"] for place in item["lines"])
            check(lines <= item["steps"] * (1 + 1e-9), f"{statements!r}: lines of {item['kind']} take {lines} of {item['steps']}")
        done = told()
        check(done.returncode == 0 and re.search(rf"\| {kind}: .*\n *\| +\d+ %  line {first}: ", done.stdout), f"{statements!r}: {done.stdout}")
    for ascii_first in range(2):  # lines are cut between characters
        with open(path, "w", encoding="utf-8") as f:
            f.write(HEAD + "ldg v, [x[global]]\nldg w, [x[v]] ;" + " " * ascii_first + "\u00e9" * 100 + "\nstg [x[global]], w\n")
        for options in ([], ["--why-slow"]):
            out = subprocess.run([COMMAND, "explain", path, *options], stdout=subprocess.PIPE, timeout=120).stdout
            check("\u00e9" in out.decode(errors="replace") and "\ufffd" not in out.decode(errors="replace"), f"half a character: {out!r}")
    # A function of two kernels, and more rounds than a number has room for.
    for statements in ("ldg v, [x[global]]\ncall @f\nbar.grid\ncall @f\nexit\nf:\nldg w, [x[v]]\nstg [x[global]], w\nret\n",
                       "ldg v, [x[global]]\n" +
                       "".join(f"loop r{200 + i}, 4294967295\n" for i in range(40)) + "ldg v, [x[v]]\nadd v, v, 1\n" + "endloop\n" * 40 + "stg [x[global]], v\n"):
        with open(path, "w") as f:
            f.write(HEAD + statements)
        done = told("--json")
        items = json.loads(done.stdout)["outputs"] if done.returncode == 0 else []
        check(items and all(sum(place["steps"] for place in item["lines"]) <= item["steps"] * (1 + 1e-9) for item in items), f"{statements!r}: {done}")
        check(all(0 < item["share"] <= 1 for item in items if item["kind"] != "prologue"), f"{statements!r}: {items}")
    with open(path, "w") as f:
        f.write(HEAD + "ldg v, [x[global]]\nmul v, v, v\nstg [x[global]], v\n")
    kinds = [item["kind"] for item in json.loads(told("--json").stdout)["outputs"]]
    check(not {"gathers", "private", "atomics", "masks", "spills", "functions"} & set(kinds), f"a plain kernel pays for {kinds}")
    # Turns of one lane: nothing is one for all lanes, and no lane waits for another.
    with open(path, "w") as f:
        f.write(HEAD.replace(".param n", ".param y buffer u256 inout [n]\n.param n") + ".reg a u256\nldg v, [x[global]]\nldg a, [y[v]]\nmul a, a, a\n"
                "bra.eq v, 0, @past\nmul a, a, a\npast:\nstg [y[global]], a\n")
    items = json.loads(told("--json").stdout)["outputs"]
    if items[0]["lanes"] == 1:
        check(items[0]["kind"] == "work" and "scalars" not in [item["kind"] for item in items], f"a lane alone pays for {items}")
        check("a turn of 1 lane takes" in told().stdout, told().stdout)
        plain = subprocess.run([COMMAND, "explain", path], stdout=subprocess.PIPE, universal_newlines=True, timeout=120).stdout
        check("one lane a turn" in plain and "compiled: " not in plain, plain)
    else:
        skip("no compiler here makes turns of one lane")
    for what, text in (("V09", "'V09' is no file"), (os.path.join(folder, "nowhere.atlas"), "nowhere.atlas' is no file"),
                       (os.path.join(SOURCE, "bench/graph/digits.graph"), "not for array graphs such as")):
        done = subprocess.run([COMMAND, "explain", what, "--why-slow"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=120)
        check(done.returncode == 2 and text in done.stderr, f"{what}: {done.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.atlas")
        for statements, back, key, value in KINDS:
            with open(path, "w") as f:
                f.write(HEAD + statements + "\n")
            status, answer = explain(path)
            items = answer["outputs"]
            flagged = [item for item in items if key in item]
            check(status == 0 and len(flagged) > 0, f"{statements!r}: {answer['diagnostics']}")
            if not flagged:
                continue
            got = flagged[0][key] if key == "branch" else flagged[-1 - back][key]
            check(got == value, f"{statements!r}: {key} is {got}, not {value}")
            check(all(0 <= item["live"] <= 256 for item in items), f"{statements!r}: live registers")
        with open(path, "w") as f:
            f.write(HEAD + "mov v, 1\nadd v, v, 2\nmov w, 5\nstg [x[global]], v\n")
        status, answer = explain(path)
        check(status == 0 and not all(item["kept"] for item in answer["outputs"]), "what is folded away is said to be there")
        for count in 1, 2, 3, 1000:
            with open(path, "w") as f:
                f.write(HEAD + f"ldg v, [x[global]]\nloop w, {count}\nmul v, v, v\nstg [x[global]], v\nendloop\n")
            rounds = [item["rounds"] for item in explain(path)[1]["outputs"] if "rounds" in item]
            check(rounds == [count], f"a loop of {count} rounds: {rounds}")
    levels(folder=tempfile.gettempdir())
    with tempfile.TemporaryDirectory() as folder:
        alone(folder)
        why_slow(folder)
    for path in sorted(glob.glob(os.path.join(SOURCE, "examples", "programs", "*.atlas")) + glob.glob(os.path.join(SOURCE, "tests", "programs", "old", "*.atlas"))):
        status, answer = explain(path)
        check(status == 0 and answer["outputs"], f"{path}: {answer['diagnostics']}")
        done = subprocess.run([COMMAND, "explain", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=120)
        check(done.returncode == 0 and "registers live at most" in done.stdout, f"{path}: {done.stderr}")
    return finish()


sys.exit(main())
