#!/usr/bin/python3
"""The command as users and their mistakes meet it: outputs, diagnostics, exit status, files that must not be touched.

    run.py [PART ...]    parts by the names of their functions, for instance examples operations; all of them without

Needs HG_SOURCE_DIR and HG_BUILD_DIR. Last line: N passed, N failed, N skipped.
"""
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile
import xml.etree.ElementTree

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
from checks import check, finish, skip
from nvidia import architectures_of, find_ptxas

SOURCE, BUILD = os.environ["HG_SOURCE_DIR"], os.environ["HG_BUILD_DIR"]
COMMAND = os.path.join(BUILD, "hologram")
PROGRAMS = os.path.join(SOURCE, "examples", "programs")
SMALL = ["axpy.atlas", "block_reverse.atlas", "center.atlas", "collatz.atlas", "gcd3.atlas", "wide.atlas"] # without names, inputs of any size


class Result:
    def __init__(self, process):
        self.status, self.out, self.err = process.returncode, process.stdout, process.stderr

    def __str__(self):
        return f"status {self.status}\n--- out\n{self.out[:2000]}\n--- err\n{self.err[:2000]}"


def run(*arguments, stdin=b"", limit=60, env=None):
    process = subprocess.run([COMMAND, *map(str, arguments)], input=stdin, capture_output=True, timeout=limit, env={**os.environ, **(env or {})})
    result = Result(process)
    result.raw = process.stdout
    result.out, result.err = process.stdout.decode("utf-8", "replace"), process.stderr.decode("utf-8", "replace")
    check(process.returncode >= 0, f"{arguments}: ended by signal {-process.returncode}")
    return result


def expect(result, status, err=None, out=None, what=""):
    good = result.status == status
    if err is not None:
        good = good and re.search(err, result.err) is not None
    if out is not None:
        good = good and result.out == out
    check(good, f"{what}: expected status {status}, err /{err}/, out {out!r}; got {result}")


def program(name):
    return os.path.join(PROGRAMS, name + ".atlas")


def instructions(name):
    """The same program in instructions with registers by number, for tests that change or count them."""
    return os.path.join(SOURCE, "tests", "instructions", name + ".atlas")


def write(name, text):
    with open(name, "wb" if isinstance(text, bytes) else "w") as f:
        f.write(text)
    return name


# ---- the six programs of the assembly reference print what it says

def examples():
    cases = {
        "axpy": (["--set", "alpha=2", "--set", "x=1,2,3", "--set", "y=10,20,30"], "y f32[3] = 12.0 24.0 36.0\n"),
        "collatz": (["--set", "start=1,2,3,6,7,9,27,97,871"], "steps u32[9] = 0 1 7 8 16 19 111 118 178\n"),
        "block_reverse": (["--set", "x=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"], "x i32[16] = 7 6 5 4 3 2 1 0 15 14 13 12 11 10 9 8\n"),
        "gcd3": (["--set", "a=12,17,100,0", "--set", "b=18,5,75,0", "--set", "c=27,34,10,9"], "out u32[4] = 3 1 5 9\n"),
        "center": (["--set", "x=1,2,3,4,10"], "y f32[5] = -3.0 -2.0 -1.0 0.0 6.0\n"),
        "wide": (["--set", "a=3,-5,340282366920938463463374607431768211456", "--set",
                  "b=7,1606938044258990275541962092341162602522202993782792835301376,170141183460469231731687303715884105728"],
                 "q i256[3] = 0 47223664828696452136960 340282366920938463463374607431768211458\nm i256[3] = 21 -47223664828696452136960 -2\n"),
    }
    for level in ("baseline", "v3", "v4", "poor"):
        env = {"HOLOGRAM_PRETEND": "poor"} if level == "poor" else {"HOLOGRAM_CPU_LEVEL": level}
        if run("run", program("axpy"), *cases["axpy"][0], env=env).status == 3:
            continue  # this machine does not have the level
        for name, (arguments, out) in cases.items():
            expect(run("run", program(name), *arguments, env=env), 0, out=out, what=f"{name} at {level}")


# ---- text, binary, text

def formats():
    for name in sorted(name for name in os.listdir(PROGRAMS) if name.endswith(".atlas")):
        path = os.path.join(PROGRAMS, name)
        made = run("asm", path, "-o", "p.atlasb")
        expect(made, 0, what=f"asm {name}")
        with open("p.atlasb", "rb") as file:
            container = file.read()
        said = re.fullmatch(f"p.atlasb: {len(container)} bytes, hash ([0-9a-f]{{64}})\n", made.out)
        check(said, f"asm {name}: {made.out}")
        expect(run("disasm", "p.atlasb", "-o", "again.atlas"), 0)
        again = run("asm", "again.atlas", "-o", "again.atlasb")
        check(said and again.out.endswith(f"hash {said[1]}\n"), f"disasm {name}: another hash: {again.out}")
        with open("again.atlasb", "rb") as file:
            check(file.read() == container, f"disasm {name}: it assembles to other bytes")
        expect(run("asm", path, "-g", "-o", "g.atlasb"), 0, what=f"asm -g {name}")
        text = run("disasm", "p.atlasb")
        expect(text, 0, what=f"disasm {name}")
        again = run("asm", "-", stdin=text.raw)
        if name in SMALL:
            check(again.raw == open("p.atlasb", "rb").read(), f"{name}: text to binary is not the identity")
        else: # canonical text has no names of registers
            check(run("disasm", "-", stdin=again.raw).raw == text.raw, f"{name}: text to binary to text is not the identity")
        expect(run("verify", path, "p.atlasb", "g.atlasb"), 0, what=f"verify {name}")
        expect(run("emit", path, "--target", "kir"), 0, what=f"emit kir {name}")
        expect(run("emit", path, "--target", "c", "-o", "kernel.c"), 0, what=f"emit c {name}")
        for compiler in ("gcc", "clang-14"):
            if shutil.which(compiler):
                built = subprocess.run([compiler, "-std=c17", "-O1", "-Wall", "-Wextra", "-Werror", "-c", "kernel.c", "-o", "kernel.o"], capture_output=True)
                check(built.returncode == 0, f"{compiler} on the C text of {name}: {built.stderr.decode()[:1000]}")
    binary = open("p.atlasb", "rb").read()
    for length in list(range(0, min(len(binary), 200))) + [len(binary) - 1]:
        expect(run("verify", write("cut.atlasb", binary[:length])), 1, r"error\[B0\d\]", what=f"truncated to {length}")
    for at in range(0, len(binary), 7):
        damaged = bytearray(binary)
        damaged[at] ^= 0x55
        expect(run("verify", write("bad.atlasb", bytes(damaged))), 1, r"error\[B0\d\]", what=f"byte {at} changed")


# ---- arrays

SEVERAL = """.atlas 1
.program several
.param x buffer f32 in [n]
.param twice buffer f32 out [n]
.param table buffer u16 out [2, 3]
.param total buffer f64 out []
.param kept buffer i64 inout [n]
.param none buffer u8 out [0]
.param n u64
.lanes n
.reg v f32
.reg i u64
.reg k i64
.reg w u16
.reg d f64
    ldg v, [x[global]]
    add v, v, v
    stg [twice[global]], v
    ldg k, [kept[global]]
    neg k, k
    stg [kept[global]], k
    mov i, global
    bra.ge i, 6, @end
    cvt w, i
    stg [table[i]], w
    bra.gt i, 0, @end
    mov d, 2.5
    stg [total], d
end:
"""


def archives():
    path = write("several.atlas", SEVERAL)
    rng = numpy.random.default_rng(3)
    for n in 1, 1000, 300_000:  # the last in more than one part
        x, kept = rng.standard_normal(n).astype("<f4"), rng.integers(-2**40, 2**40, n)
        numpy.save("x.npy", x)
        numpy.savez("kept.npz", kept=kept, x=x)
        table = numpy.zeros((2, 3), "<u2")
        table.flat[:n] = numpy.arange(min(n, 6))
        expected = {"twice": x + x, "table": table, "total": numpy.array(2.5), "kept": -kept, "none": numpy.zeros(0, "u1")}
        inputs = "run", path, "--in", "kept.npz"
        if n == 1000:  # members appended again: the last of a name counts
            with warnings.catch_warnings(), zipfile.ZipFile("kept.npz", "a") as archive:
                warnings.simplefilter("ignore")
                for name, kept, x in ("kept", kept, None), ("x", kept, -x), ("kept", kept + 1, -x):
                    with archive.open(name + ".npy", "w") as member:
                        numpy.save(member, kept if name == "kept" else x)
            check(numpy.array_equal(numpy.load("kept.npz")["x"], x), "NumPy takes another member")
            expected.update(twice=x + x, kept=-kept)
            expect(run("run", path, "--in", "x=kept.npz", "--in", "kept=kept.npz:kept", "--out", "twice=own.npy", "--out", "outs.npz"), 0, out="", what="members by name")
            check(numpy.array_equal(numpy.load("own.npy"), x + x), "the last member of a name, asked for by it")
            check_archive("outs.npz", {name: value for name, value in expected.items() if name != "twice"})
            numpy.save("x.npy", x)
        # alone; beside a file of its own, onto the file that was read
        expect(run(*inputs, "--out", "outs.npz"), 0, out="", what=f"--out outs.npz, n = {n}")
        check_archive("outs.npz", expected)
        first = open("outs.npz", "rb").read()
        expect(run(*inputs, "--out", "outs.npz"), 0, out="", what="once more")
        check(open("outs.npz", "rb").read() == first, "two runs give two archives")
        check(run(*inputs, "--out", "-").raw == first, "the archive on standard output differs")
        expect(run("run", path, "--in", "x=x.npy", "--in", "kept=outs.npz", "--out", "twice=own.npy", "--out", "outs.npz"), 0, out="", what="an array with a file of its own")
        check(numpy.array_equal(numpy.load("own.npy"), expected["twice"]), "the array with a file of its own differs")
        del expected["twice"]
        check_archive("outs.npz", {**expected, "kept": kept})
    again = run("run", path, "--in", "x=x.npy", "--in", "kept=outs.npz", "--out", "outs.npz", "--json")
    files = [(o["name"], o.get("file")) for o in json.loads(again.out)["outputs"]]
    check(files == [(name, "outs.npz") for name in ("twice", "table", "total", "kept", "none")], f"--json: {files}")
    before = open("outs.npz", "rb").read()
    each = [word for name in ("twice", "table", "total", "kept", "none") for word in ("--out", f"{name}={name}.npy")]
    for arguments, pattern in (
            (("--out", "outs.npz", "--out", "outs.npz"), r"--out FILE.npz is given twice"),
            (("--out", "raw:outs.npz", "--out", "twice=outs.npz"), r"two outputs go to the same file|--out FILE.npz, without a name"),
            (("--out", "twice=t.npz"), r"one array is a .npy"),
            (("--out", "twice=raw:outs.npz", "--out", "outs.npz"), r"two outputs go to the same file outs.npz"),
            (("--out", "twice=same.npy", "--out", "kept=./same.npy"), r"two outputs go to the same file ./same.npy"),
            (("--out", f"twice={os.getcwd()}/same.npy", "--out", "kept=.//same.npy"), r"two outputs go to the same file .//same.npy"),
            (("--out", "outs"), r"--out expects N=FILE, or FILE.npz for all arrays, got 'outs'"),
            ((*each, "--out", "outs.npz"), r"--out outs.npz: no array is left for it"),
            (("--out", "-", "--json"), r"--json and an output on standard output exclude each other")):
        result = run(*inputs, *arguments)
        check(result.status != 0 and re.search(pattern, result.err + result.out), f"{arguments}: {result.status} {result.err}{result.out}")
    check(open("outs.npz", "rb").read() == before, "an error touches the archive")
    add = os.path.join(SOURCE, "examples", "circuits", "butterfly.circuit")
    expect(run("run", add, "--set", "c00=1,2", "--set", "c01=3,5", "--out", "circuit.npz"), 0, out="", what="a circuit's arrays")
    check_archive("circuit.npz", {"c02": numpy.array([4, 7], "<f4"), "c03": numpy.array([-2, -3], "<f4")})


def stamps():
    """--stamp: what made a result, beside it."""
    axpy = program("axpy")
    version = json.loads(run("version", "--json").out)["outputs"][0]
    given = ["run", axpy, "--set", "x=1,2,3", "--set", "y=4,5,6", "--set", "alpha=2"]

    def stamped(*arguments, env=None):
        result = run(*given, *arguments, "--stamp", env={"HOLOGRAM_CPU_LEVEL": "baseline", **(env or {})})
        expect(result, 0, what=f"--stamp {arguments}")
        return result
    told = stamped("--out", "y=stamped.npy", "--hash").out
    stamp = json.load(open("stamped.npy.stamp"))
    check((stamp["hologram"], stamp["bits"], stamp["backend"], stamp["level"], stamp["deterministic"], stamp["exact"], stamp["program"], stamp["file"]) ==
          (version["version"], version["bits"], "cpu", "baseline", False, True, "axpy", axpy), f"stamp: {stamp}")
    check(re.search(rf"^y f32\[3\] blake3 {stamp['blake3']}\nstamp: hologram {re.escape(version['version'])}, bits {version['bits']}, cpu at baseline\n$", told), f"--hash: {told}, {stamp}")
    stamped("--out", "y=raw:stamped.bin", env={"HOLOGRAM_DETERMINISTIC": "true"})
    other = json.load(open("stamped.bin.stamp"))
    check(other["deterministic"] and {**other, "deterministic": False} == stamp, f"another file, deterministic: {other}")
    expect(run(*given[:-2], "--set", "alpha=3", "--out", "y=stamped.npy", "--stamp"), 0)
    check(json.load(open("stamped.npy.stamp"))["blake3"] != stamp["blake3"], "other results have the same hash")
    stamped("--out", "stamped.npz")
    check("blake3" not in json.load(open("stamped.npz.stamp")), "an archive has one hash")
    expect(run(*given, "--out", "y=/dev/null", "--stamp"), 0, what="--stamp of no file")
    check(not os.path.exists("/dev/null.stamp"), "--stamp of no file")
    expect(run(*given, "--out", "y=-", "--stamp"), 2, r"--stamp and an output on standard output exclude each other", what="--stamp on standard output")
    told = stamped("--backend", "cpu+cpu", "--out", "y=shared.npy").out
    check(", cpu+cpu at baseline" in told, f"devices that share lanes: {told}")
    shared = json.load(open("shared.npy.stamp"))
    check(shared["backend"] == "cpu+cpu" and shared["blake3"] == stamp["blake3"], f"devices that share lanes: {shared}")
    failed = run(*given, "--out", "y=nowhere/there.npy", "--stamp")
    check(failed.status != 0 and not os.path.exists("nowhere"), f"--stamp where no file can be: {failed}")


def check_archive(path, expected):
    with zipfile.ZipFile(path) as archive:
        check(archive.testzip() is None, f"{path}: a member is damaged")
    with numpy.load(path) as arrays:
        check(arrays.files == list(expected), f"{path} has {arrays.files}")
        for name, array in expected.items():
            same = arrays[name].dtype == array.dtype and arrays[name].shape == array.shape and arrays[name].tobytes() == array.tobytes()
            check(same, f"{path}: {name} is {arrays[name]}, not {array}")
    if shutil.which("unzip"):
        tested = subprocess.run(["unzip", "-tq", path], capture_output=True)
        check(tested.returncode == 0, f"unzip -t {path}: {tested.stdout}{tested.stderr}")


def arrays():
    rng = numpy.random.default_rng(1)
    x, y = rng.standard_normal(1000).astype("<f4"), rng.standard_normal(1000).astype("<f4")
    numpy.save("x.npy", x)
    numpy.save("y.npy", y)
    expect(run("run", program("axpy"), "--set", "alpha=0.5", "--in", "x=x.npy", "--in", "y=y.npy", "--out", "y=z.npy"), 0, out="", what="npy")
    expected = (numpy.float64(0.5) * x.astype(numpy.float64) + y.astype(numpy.float64)).astype("<f4")  # exact products, one rounding
    check(numpy.load("z.npy").tobytes() == expected.tobytes(), "axpy differs from NumPy")
    numpy.savez("a.npz", x=x, other=y)
    expect(run("run", program("axpy"), "--set", "alpha=0.5", "--in", "x=a.npz", "--in", "y=a.npz:other", "--out", "y=z2.npy"), 0, what="npz")
    check(numpy.load("z2.npy").tobytes() == expected.tobytes(), "axpy from npz differs")
    x.tofile("x.raw")
    raw = run("run", program("axpy"), "--set", "alpha=0.5", "--in", "x=raw:x.raw", "--in", "y=raw:-", "--out", "y=raw:-", stdin=y.tobytes())
    check(raw.raw == expected.tobytes(), "raw and - differ")
    os.rename("x.raw", "y.raw")
    expect(run("run", program("axpy"), "--set", "alpha=0.5", "--in", "x=y.raw", "--in", "y=y.npy"), 2, r"error\[P06\]: y.raw: neither a .npy nor a .npz file; bytes without a header are raw:y.raw", what="raw bytes without raw:")
    axpy_half = ["run", program("axpy"), "--set", "alpha=0.5"]
    for name in "x.dat", "x.raw", "x.npz":  # the bytes decide
        shutil.copy("x.npy", name)
        npy = run(*axpy_half, "--in", "x=" + name, "--in", "y=-", "--out", "y=-", stdin=open("y.npy", "rb").read())
        check(npy.raw == open("z.npy", "rb").read(), f"{name}, a .npy from standard input and to standard output: {npy.err}")
    os.remove("x.npz")
    shutil.copy("a.npz", "a.dat")
    piped = run(*axpy_half, "--in", "x=-", "--in", "y=/dev/stdin", stdin=open("a.npz", "rb").read())
    check(piped.status == 2, "standard input is read once")
    expect(run(*axpy_half, "--in", "x=a.dat", "--in", "y=a.npz:other", "--out", "y=z3"), 0, out="", what="a .npz by its bytes")
    check(open("z3", "rb").read() == open("z.npy", "rb").read(), "--out writes .npy whatever the name")
    piped = run(*axpy_half, "--in", "y=y.npy", "--in", "x=/dev/stdin", "--out", "y=raw:z4", stdin=open("a.npz", "rb").read())
    check(piped.status == 0 and open("z4", "rb").read() == expected.tobytes(), f"a .npz through a pipe, raw to a file: {piped.err}")
    # all arrays of a .npz by their names
    numpy.savez("all.npz", x=x, y=y, alpha=numpy.float32(0.5))
    numpy.savez_compressed("packed.npz", x=x, y=y, alpha=numpy.float32(0.5))
    for source in "all.npz", "packed.npz", "-", "/dev/stdin":
        whole = run("run", program("axpy"), "--in", source, "--out", "y=-", stdin=open("packed.npz", "rb").read())
        check(whole.raw == open("z.npy", "rb").read(), f"--in {source}: {whole.err}")
    expect(run("run", program("axpy"), "--in", "all.npz", "--set", "alpha=0.5", "--in", "x=y.npy", "--out", "y=z5.npy"), 0, what="what has an option of its own is not taken from the file")
    check(numpy.array_equal(numpy.load("z5.npy"), (numpy.float64(0.5) * y.astype(numpy.float64) + y).astype("<f4")), "--in x= wins over --in all.npz")
    expect(run("run", program("axpy"), "--set", "alpha=1", "--in", "a.npz"), 2, r"error\[P01\]: unknown parameter: a.npz has an array 'other', which is no parameter of 'axpy' \(it has x, y, alpha, n\)", what="a member that is no parameter")
    numpy.savez("row.npz", x=x, y=y, alpha=numpy.ones(1, "<f4"))
    expect(run("run", program("axpy"), "--in", "row.npz"), 2, r"error\[P04\]: row.npz: 'alpha' has 1 dimensions, the parameter is a scalar", what="an array for a scalar")
    expect(run("run", program("axpy"), "--in", "x.npy"), 2, r"error\[P06\]: x.npy: a .npy file, which is one array: give --in NAME=x.npy", what="--in without a name of a .npy")
    expect(run("run", program("axpy"), "--in", "all.npz", "--out", "y.npy"), 2, r"--out expects N=FILE, or FILE.npz for all arrays, got 'y.npy'", what="--out without a name")
    expect(run("run", program("axpy"), "--in", "all.npz", "--json", "--out", "y=raw:-"), 2, what="--json with raw bytes on standard output")
    numpy.save("wrong.npy", x.astype("<f8"))
    before = open("z.npy", "rb").read()
    axpy = ["run", program("axpy"), "--set", "alpha=1", "--in", "y=y.npy", "--out", "y=z.npy"]
    expect(run(*axpy, "--in", "x=wrong.npy"), 2, r"error\[P03\].*", what="wrong dtype")
    numpy.save("short.npy", x[:10])
    expect(run(*axpy, "--in", "x=short.npy"), 2, r"error\[P05\]", what="extents disagree")
    numpy.save("flat.npy", x.reshape(10, 100))
    expect(run(*axpy, "--in", "x=flat.npy"), 2, r"error\[P04\]", what="wrong rank")
    expect(run(*axpy, "--in", "x=missing.npy"), 2, r"error\[P06\]", what="missing file")
    expect(run(*axpy, "--in", "x=" + write("cut.npy", open("x.npy", "rb").read()[:100])), 2, r"error\[P0\d\]", what="truncated npy")
    check(open("z.npy", "rb").read() == before, "a failed run touched its output file")
    expect(run(*axpy[:-1], "y=/dev/null/none/z.npy", "--in", "x=x.npy"), 1, r"error\[X02\]", what="output folder missing")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            process = subprocess.run([COMMAND, *axpy[:-1], "y=-", "--in", "x=x.npy"], stdout=full, stderr=subprocess.PIPE)
            check(process.returncode == 1 and b"X02" in process.stderr, f"full disk: {process.returncode} {process.stderr}")
    good = ["run", program("axpy"), "--set", "alpha=1", "--in", "x=short.npy", "--shape"]
    expect(run(*good, "x=f32[10]"), 0, what="a shape that the file has")
    for shape, status, err in (("x=f32[11]", 2, r"P04"), ("x=f32[]", 2, r"P04"), ("x=f64[10]", 2, r"P03"), ("x=f32[10", 2, r"expects TYPE"), ("x=f32[10,]", 2, r"expects TYPE"),
                               ("x=f32[1]x", 2, r"expects TYPE"), ("y=f32[11]", 2, r"P05"), ("y=f32[2,5]", 2, r"P04"), (f"y=f32[{2**62}]", 2, r"P04"), ("alpha=f32[1]", 2, r"no array")):
        expect(run(*good, shape), status, err, what=f"--shape {shape}")
    free = write("free.atlas", ".atlas 1\n.program free\n.param r1 x buffer u8 in\n.param r2 y buffer u16 out\n exit\n")
    expect(run("run", free, "--in", "x=raw:-", "--shape", "x=u8[2,3]", "--shape", "y=u16[3]", stdin=b"abcdef"), 0, out="y u16[3] = 0 0 0\n", what="shapes without dims")
    expect(run("run", free, "--in", "x=raw:-", "--shape", "x=u8[2,4]", "--shape", "y=u16[3]", stdin=b"abcdef"), 2, r"P04", what="a shape that raw data does not have")
    for extents in "18446744073709551616", "0,18446744073709551617", "2,", ",2", "2,,3", "-1", "+2", "2 ", "0x2", "1,2,3,4,5,6,7,8,9":
        expect(run("run", free, "--set", "x=1", "--shape", f"y=u16[{extents}]"), 2, r"--shape y expects TYPE\[D,…\] with at most 8 numbers, got ", what=f"--shape of {extents}")
    expect(run("run", free, "--set", "x=1"), 2, r"P07", what="unknown shape")
    shaped = write("shaped.atlas", ".atlas 1\n.program shaped\n.param r1 a buffer f32 inout [n, 2]\n.param r2 b buffer f32 inout []\n.param r3 c buffer u8 inout [2]\n"
                   ".param r5 go u8\n.param r4 n u64\n.lanes n * n\n mov_imm.f32 r10, 0.0\n div.f32 r10, r10, r10\n stg.f32 [buf(r2)], r10\n")
    literals = ["run", shaped, "--set", "b=7", "--set", "c=true,0", "--set", "go=false"]
    for backend in [d["backend"] for d in json.loads(run("devices", "--json").out)["outputs"] if d["available"] and d["exact"]]:  # which NaN 0/0 gives is the device's, and not printed
        expect(run(*literals, "--set", "a=1,2,3,4,5,6", "--backend", backend), 0, out="a f32[3, 2] = 1.0 2.0 3.0 4.0 5.0 6.0\nb f32[] = nan\nc u8[2] = 1 0\n", what="literals in any shape")
    expect(run(*literals, "--set", "a=1,2,3"), 2, r"P05.*3 elements are no multiple of 2", what="literals that fill no row")
    expect(run("run", shaped, "--set", "a=1,2", "--set", "b=1,2", "--set", "c=1,0", "--set", "go=1"), 2, r"P04.*1 elements, the data 2", what="two literals for one element")
    expect(run("run", shaped, "--set", "go=maybe"), 2, r"malformed number 'maybe'", what="a word that is no bool")
    square = write("square.atlas", ".atlas 1\n.program square\n.param r1 n u64\n.lanes n * n\n exit\n")
    expect(run("run", square, "--set", "n=4294967296"), 2, r"P08.*at least 18446744073709551615 lanes", what="2^64 lanes")
    if os.path.exists("/dev/full"):
        pair = write("pair.atlas", ".atlas 1\n.program pair\n.param r1 x buffer u32 out [2]\n.param r2 y buffer u32 out [2]\n    exit\n")
        with open("/dev/full", "wb") as full:
            process = subprocess.run([COMMAND, "run", pair, "--out", "x=untouched.npy"], stdout=full, stderr=subprocess.PIPE)
        check(process.returncode == 1 and b"X02" in process.stderr and not os.path.exists("untouched.npy"), f"a file was written although standard output failed: {process.stderr}")
    check(not [f for f in os.listdir(".") if ".tmp" in f or f.startswith(".")], f"temporary files left: {os.listdir('.')}")


# ---- mistakes in programs, bindings and launches

HEAD = ".atlas 1\n.program p\n.param r1 x buffer i32 inout [n]\n.param r4 n u64\n.lanes n\n    mov_imm.u32 r250, 2\n    shl.u64 r0, r255, r250\n    ldg.i32 r10, [r1 + r0]\n"


def mistakes():
    zero = write("zero.atlas", HEAD + "    mov_imm.i32 r11, 0\n    div.i32 r12, r10, r11\n    stg.i32 [r1 + r0], r12\n")
    expect(run("run", zero, "--set", "x=1,2"), 1, r"zero.atlas:10:5: fault\[F02\]: Execution failed: division by zero\n   in instruction 4 \(div.i32 r12, r10, r11\), lane 0", what="division by zero")
    far = write("far.atlas", HEAD + "    stg.i32 [r1 + r0 + 4], r10\n")
    expect(run("run", far, "--set", "x=1,2,3"), 1, r"fault\[F01\]: Execution failed: buffer access out of bounds: offset 12 \+ size 4 > buffer size 12", what="out of bounds")
    twice = write("twice_declared.atlas", ".atlas 1\n.program p\n.param r1 x buffer of f32\n.param r1 x buffer f32 in [n]\n.param r1 a f32\n.param r4 n u64\n    exit\n")
    expect(run("verify", twice), 1, r"twice_declared.atlas:3:20: error\[S02\]: expected an element type, got 'of'", out="", what="a parameter whose name a broken one has")
    spin = write("spin.atlas", ".atlas 1\n.program spin\nagain:\n    bra @again\n")
    expect(run("run", spin, "--timeout", 100), 1, r"fault\[F08\]: Execution failed: timeout after 100 ms", what="timeout")
    expect(run("run", spin, "--max-steps", 10), 1, r"fault\[F07\]: Execution failed: step limit exceeded", what="step limit")
    expect(run("run", spin, env={"HOLOGRAM_TIMEOUT_MS": "50"}), 1, r"timeout after 50 ms", what="timeout from the environment")
    tree = ".atlas 1\n.program tree\n.param r1 x buffer u32 inout []\n    mov_imm.u32 r10, 1\n    call @level0\n    stg.u32 [buf(r1) + 0], r10\n    exit\n"
    tree += "".join(f"level{i}:\n    add.u32 r10, r10, r10\n" + (f"    call @level{i + 1}\n" * 2 if i < 96 else "") + "    ret\n" for i in range(97))
    write("tree.atlas", tree)
    expect(run("run", "tree.atlas", "--timeout", 200), 1, r"timeout after 200 ms", what="2^97 calls without a loop")
    expect(run("run", "tree.atlas", "--max-steps", 1000), 1, r"fault\[F07\]", what="2^97 calls and a step limit")
    no_pool = write("nopool.atlas", ".atlas 1\n.program nopool\n.param r2 y buffer u32 out []\n    mov_imm.u64 r10, 0x8000000000000000\n    ldg.u32 r11, [r10]\n    stg.u32 [buf(r2) + 0], r11\n")
    expect(run("run", no_pool), 1, r"fault\[F03\]: Execution failed: invalid pool handle: 0", what="a flat address of pool 0, which does not exist")
    empty = write("empty.atlas", ".atlas 1\n.program empty\n    exit\n")
    expect(run("run", empty, "--lanes", 0), 0, out="", what="zero lanes")
    expect(run("run", empty, "--lanes", 2**40), 2, r"error\[P08\]", what="2^40 lanes")
    expect(run("run", empty, "--grid", "65536,65536,65536"), 2, r"error\[P08\]", what="too large a grid")
    axpy = program("axpy")
    expect(run("run", axpy, "--set", "x=1", "--set", "y=1"), 2, r"error\[P02\]", what="scalar missing")
    expect(run("run", axpy, "--set", "alpha=1", "--set", "y=1"), 2, r"error\[P02\]", what="array missing")
    expect(run("run", axpy, "--set", "beta=1"), 2, r"error\[P01\]: unknown parameter: 'beta' is no parameter of 'axpy' \(it has x, y, alpha, n\)", what="unknown parameter")
    share = write("share.atlas", ".atlas 1\n.program share\n.param r1 x buffer u32 inout [1]\n.scratch r2 tmp u32 [2]\n    exit\n")
    expect(run("run", share, "--set", "x=1"), 0, out="x u32[1] = 1\n", what="scratch is not printed")
    for option, value in (("--set", "1,2"), ("--in", "x.npy"), ("--out", "x.npy"), ("--shape", "u32[2]")):
        expect(run("run", share, "--set", "x=1", option, "tmp=" + value), 2, r"it is scratch, memory of the launch that nobody sets", what=f"scratch with {option}")
    grid = write("grid.atlas", ".atlas 1\n.program grid\n.param r1 y buffer u64 out [n + 1]\n.param r4 n u64\n.data r2 k u64 10, 20\n.block 2\n.grid ceil(n / 4)\n"
                 "    rdid r6, lane_count\n    ldg.u64 r7, [buf(r2) + 8]\n    add.u64 r6, r6, r7\n    stg.u64 [buf(r1)], r6\n    exit\n")
    for options, first in ((), 24), (("--block", 8), 36), (("--grid", 3), 26), (("--lanes", 7), 27):
        expect(run("run", grid, "--set", "n=5", *options), 0, out=f"y u64[6] = {first} 0 0 0 0 0\n", what=f".grid with {options}")
    expect(run("run", grid, "--set", "n=0xffffffffffffffff"), 2, r"error\[P09\]: \.?.*the extent n \+ 1 is 2\^64 or more", what="an extent beyond 2^64")
    expect(run("run", grid, "--set", "n=5", "--set", "k=1"), 2, r"it is a table of the program that nobody sets", what="setting a table")
    expect(run("diff", grid, "--backend", "cpu", "--against", "cpu", "--set", "n=5"), 0, what="a grid and a table compared")
    numpy.save("taps.npy", numpy.array([[1, 2], [3, 5]], "<u4"))
    taps = write("taps.atlas", '.atlas 1\n.program taps\n.param r1 y buffer u32 out []\n.data r2 k u32 "taps.npy"\n    ldg.u32 r7, [buf(r2) + 12]\n    stg.u32 [buf(r1)], r7\n    exit\n')
    expect(run("run", taps), 0, out="y u32[] = 5\n", what="a table from a .npy file")
    halo = write("halo.atlas", ".atlas 1\n.program halo\n.param r1 x buffer u8 in [h + 2, w * 2]\n.param r2 y buffer u8 out [h, w]\n.param r4 h u64\n.param r5 w u32\n.lanes h * 2 - 1\n    exit\n")
    expect(run("run", halo, "--shape", "x=u8[3,4]", "--set", "x=1,2,3,4,5,6,7,8,9,10,11,12"), 0, out="y u8[1, 2] = 0 0\n", what="extents solved for their parameters")
    expect(run("run", halo, "--shape", "x=u8[3,3]", "--set", "x=1,2,3,4,5,6,7,8,9"), 2, r"error\[P05\].*dimension 2 is 3, which w \* 2 is for no 'w'", what="an extent that no value gives")
    expect(run("run", halo, "--shape", "x=u8[3,4]", "--set", "x=1,2,3,4,5,6,7,8,9,10,11,12", "--set", "h=5"), 2, r"error\[P05\].*its first extent is 3, expected 7, the value of h \+ 2", what="an extent that disagrees")
    expect(run("run", halo, "--shape", "x=u8[2,4]", "--set", "x=1,2,3,4,5,6,7,8"), 2, r"error\[P09\]: \.lanes: the extent h \* 2 - 1 is below 0", what="lanes below 0")
    for option, value in (("--define", "N=1"), ("--program", "p"), ("--kernel", "k")):
        expect(run("run", "-e", "mark@c01", "--set", "c01=1", option, value), 2, f"{option} is not for circuits", what=f"{option} beside a circuit")
    expect(run("run", axpy, "--set", "alpha=abc"), 2, r"alpha", what="malformed value")
    expect(run("run", axpy, "--set", "alpha"), 2, r"NAME=VALUE", what="pair without =")
    bare = run("run", axpy)
    expect(bare, 2, r"array 'x'", what="nothing bound: arrays")
    check("f32 'alpha'" in bare.err and bare.err.count("error[P02]") == 2, f"nothing bound: {bare.err}")
    for word in ("hip", "rocm", "oneapi", "levelzero", "sycl"):
        expect(run("run", empty, "--backend", word), 3, r"error\[X03\].*no backend here", what=f"a known word: {word}")
    for word in ("cuda", "opencl", "vulkan"):
        check(len(re.findall("backend not available", run("run", empty, "--backend", word, "--device", 900).err, re.I)) <= 1, f"{word}: said twice")
    for value, status in (("TRUE", 0), ("False", 0), ("On", 0), ("oFF", 0), ("YES", 0), ("truely", 2)):
        check((run("run", empty, env={"HOLOGRAM_VERIFY": value}).status == 0) == (status == 0), f"HOLOGRAM_VERIFY={value}")
    for name, text in (("BarSync", "bar.sync"), ("BAR_SYNC", "bar.sync"), ("MovImm", "mov_imm"), ("BatchedGEMM", "batched_gemm"), ("SETcc", "set")):
        expect(run("explain", name), 0, out=run("explain", text).out, what=f"explain {name}")
    expect(run("run", axpy, "--lanse", 3), 2, r"unknown option '--lanse'", what="unknown option")
    expect(run("run", "nothere.atlas"), 2, r"error\[P06\]", what="missing program")
    expect(run("run", empty, "--backend", "abacus"), 3, r"error\[X03\].*Invalid backend type: abacus", what="unknown backend")
    expect(run("frobnicate"), 2, r"unknown command", what="unknown command")
    expect(run(), 2, r"usage", what="no command")
    # the specification's own example: one add on registers nobody set
    expect(run("verify", write("add.atlas", ".atlas 1\n.program add\n    add.f32 r0, r1, r2\n")), 1, r"error\[V01\]: uninitialized register: r1", what="uninitialised")
    long = write("long.atlas", b".atlas 1\n.program long\n; " + b"x" * 10_000_000 + b"\n    exit\n")
    expect(run("verify", long), 1, r"error\[S05\]", what="a line of 10 MB")
    expect(run("verify", write("garbage.atlas", os.urandom(4096))), 1, r"error\[S0\d\]", what="random bytes")
    expect(run("verify", write("null.atlas", b"")), 1, r"error\[", what="empty file")
    # what is missing is named: the array before the extent that it tells
    twice = write("twice.atlas", ".atlas 1\n.program twice\n.param r1 x buffer u32 in [n]\n.param r2 y buffer u32 inout [m]\n.param r4 n u64\n.param r5 m u64\n.lanes n\n    exit\n")
    expect(run("run", twice), 2, r"error\[P02\]: parameter not bound: array 'x' \(give --in x=FILE or --set x=1,2,3\)", what="nothing bound")
    expect(run("run", twice, "--set", "n=3", "--set", "m=3"), 2, r"array 'x'", what="an array that is missing")
    expect(run("run", twice, "--set", "x=1,2"), 2, r"parameter not bound: u64 'm' \(give --set m=VALUE, or the array 'y' with --in or --set\)", what="an extent that is missing")
    # --block alone: the lanes of the program in blocks, else one block
    ids = write("ids.atlas", ".atlas 1\n.program ids\n.param r1 x buffer u32 out [8]\n    mov_imm.u32 r20, 2\n    shl.u64 r0, r255, r20\n    mov_imm.u32 r21, 1\n    stg.u32 [r1 + r0], r21\n")
    expect(run("run", ids, "--block", "4"), 0, out="x u32[8] = 1 1 1 1 0 0 0 0\n", what="one block")
    expect(run("run", ids, "--block", "2,2,2"), 0, out="x u32[8] = 1 1 1 1 1 1 1 1\n", what="one block of three extents")
    expect(run("run", ids, "--block", "4", "--lanes", "3"), 0, out="x u32[8] = 1 1 1 0 0 0 0 0\n", what="--lanes in blocks")
    expect(run("run", ids), 0, out="x u32[8] = 1 0 0 0 0 0 0 0\n", what="one lane")
    expect(run("run", ids, "--block", "4294967295,4294967295,4294967295"), 2, r"error\[P08\]: launch too large", what="a block beyond all lanes")
    for block in ("0", "4,0", "1,1,0"):
        expect(run("run", ids, "--block", block), 2, r"--block: no extent can be 0, got '" + block, what="a block without lanes")
    expect(run("verify", write("taps3.atlas", '.atlas 1\n.program taps3\n.data r2 k u32 [4] "taps.npy"\n    exit\n')), 1, r"error\[D03\]: the extents of the array in the file are \[2, 2\], the table's \[4\]", what="a table of other extents than its file")


# ---- standard input is read once

def one_input():
    axpy = program("axpy")
    npy = io.BytesIO()
    numpy.save(npy, numpy.ones(3, "<f4"))
    text = open(axpy, "rb").read()
    launch = ("--set", "alpha=2")
    expect(run("run", axpy, *launch, "--in", "x=-", stdin=npy.getvalue()), 0, out="y f32[3] = 2.0 2.0 2.0\n", what="one array")
    expect(run("run", axpy, *launch, "--in", "x=-", "--in", "y=-", stdin=npy.getvalue()), 2, r"--in y: standard input has array 'x' already", what="two arrays")
    for path in "-", "raw:-":
        expect(run("run", "-", *launch, "--in", "x=" + path, stdin=text), 2, r"--in x: standard input has the program already", what="program and array")
        expect(run("debug", axpy, *launch, "--in", "x=" + path, stdin=npy.getvalue()), 2, r"--in x: standard input has the commands already", what="commands and array")
    expect(run("run", "-", "--in", "-", stdin=text), 2, r"--in -: standard input has the program already", what="program and arrays")
    open("one.npy", "wb").write(npy.getvalue())
    expect(run("run", axpy, *launch, "--in", "one.npy"), 2, r"one\.npy: a \.npy file, which is one array: give --in NAME=one\.npy", what="an array without a name")


# ---- fmt

def layouts():
    loose = write("loose.atlas", ".atlas 1\n.program   loose\nexit\n")
    neat = ".atlas 1\n.program loose\n    exit\n"
    expect(run("fmt", loose), 0, out=neat, what="fmt")
    known = json.loads(run("fmt", loose, "--json").out)["outputs"]
    check(known == [{"file": "loose.atlas", "changed": True, "text": neat}], f"fmt --json: {known}")
    part = write("part.inc", ".const N = 4\n")
    known = run("fmt", "--check", loose, part, "--json")
    check(known.status == 1 and json.loads(known.out)["outputs"] == [{"file": "loose.atlas", "changed": True}, {"file": "part.inc", "changed": False}], f"fmt --check --json: {known}")
    for name, text in (("page.md", "# Title\n"), ("Makefile", "all:\n\techo $$X 'a'\n"), ("kernel.json", '{"version": "1.0"}\n'), ("x.circuit", "(mark@c01)\n"), ("x.c", "/* x */\n")):
        write(name, text)
        result = run("fmt", "-w", name)
        check(result.status == 2 and "is no text of a program" in result.err and open(name).read() == text, f"fmt -w of {name}: {result}")
    module = write("module.mlir", "module { func.func @main() { return } }\n")
    refused = run("fmt", "-w", module)
    check(refused.status == 2 and "is a StableHLO module" in refused.err and open(module).read().startswith("module { func"), f"fmt -w of a module: {refused}")
    with open("functions.atlas", "w") as f:
        f.write(".atlas 1\n.program f\n.param y buffer f32 out [n]\n.param n u64\nfn f(a f32,\nb f32) -> f32 {\n; within\n if a < b {\nreturn a +\n b\n}\nreturn b\n  }\n  ; behind\ny[0] = f(1, 2)\n")
    laid_out = (".atlas 1\n.program f\n.param y buffer f32 out [n]\n.param n u64\nfn f(a f32,\n    b f32) -> f32 {\n; within\n    if a < b {\n        return a +\n            b\n    }\n"
                "    return b\n}\n    ; behind\n    y[0] = f(1, 2)\n")
    expect(run("fmt", "functions.atlas"), 0, out=laid_out, what="layout of a function")
    expect(run("fmt", "nothere.atlas"), 2, r"^nothere\.atlas: error\[P06\]", what="fmt of no file")
    folder = os.path.dirname(program("axpy"))
    examples = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".atlas")]
    expect(run("fmt", "--check", *examples), 0, out="", what="layout of the examples")


# ---- --json

def machine_readable():
    good = run("run", program("axpy"), "--set", "alpha=2", "--set", "x=1,2,nan", "--set", "y=10,20,30", "--json")
    document = json.loads(good.out)
    check(good.status == 0 and good.err == "", f"--json: {good}")
    check(document["hologram"] == 1 and document["command"] == "run" and document["status"] == "ok" and document["exit"] == 0, f"--json header: {document}")
    check(document["outputs"] == [{"name": "y", "type": "f32", "shape": [3], "values": [12.0, 24.0, "nan"]}], f"--json outputs: {document['outputs']}")
    bad = run("run", program("axpy"), "--set", "alpha=2", "--json")
    document = json.loads(bad.out)
    check(bad.status == 2 and bad.err == "" and document["diagnostics"][0]["code"] == "P02", f"--json error: {bad}")
    wrong = write("wrong.atlas", open(program("axpy")).read().replace("fma(alpha, x[global], ", "fma(alpha, global, "))
    document = json.loads(run("verify", wrong, "--json").out)["diagnostics"][0]
    check((document["code"], document["line"], document["column"], document["length"]) == ("V05", 8, 17, 3), f"--json place: {document}")
    for where in "-", "-:shard=0", "raw:-:shard=0":
        check(run("run", program("axpy"), "--out", f"y={where}", "--json").status == 2, f"--json with an output on standard output: {where}")
    listed = json.loads(run("devices", "--json").out)["outputs"]
    check([d for d in listed if d["backend"] == "cpu" and d["available"] and d["class"] == "exact" and not d["software"]], f"devices --json: {listed}")
    check(all(d["capabilities"] if d["available"] else d["reason"] for d in listed), f"a device without capabilities or reason: {listed}")
    check(sum(d["automatic"] for d in listed) == 1 and not [d for d in listed if d["automatic"] and d["software"]], f"what auto means: {listed}")
    for command in ("ops", "devices", "version"):
        document = json.loads(run(command, "--json").out)
        check(document["status"] == "ok" and document["outputs"], f"{command} --json")
        expect(run(command), 0, what=command)
    wide = json.loads(run("run", program("wide"), "--set", "a=9007199254740993", "--set", "b=1", "--json").out)
    check([o["values"] for o in wide["outputs"]] == [["0"], ["9007199254740993"]], f"wide integers are strings: {wide['outputs']}")
    several = run("verify", program("axpy"), "no-such-file", wrong, write("many.atlas", ".atlas 1\n.program t\n" + " frob\n" * 5), "--max-errors", "2", "--json")
    document = json.loads(several.out)
    check(several.status == document["exit"] == 2 and several.err == "", f"verify of several files is one object: {several}")
    codes = [(d["code"], os.path.basename(d["file"])) for d in document["diagnostics"] if d["severity"] == "error"]
    check(codes == [("P06", "no-such-file"), ("V05", "wrong.atlas"), ("N01", "many.atlas"), ("N01", "many.atlas")], f"verify of several files: {codes}")


# ---- devices: choosing, listing, what is native

def devices():
    axpy = [program("axpy"), "--set", "alpha=2", "--set", "x=1,2,3", "--set", "y=10,20,30"]
    expect(run("run", *axpy, "--backend", "AUTO"), 0, out="y f32[3] = 12.0 24.0 36.0\n", what="auto")
    expect(run("run", *axpy, "--backend", "cpu", "--device", 1), 3, r"error\[X03\].*cpu has one device, number 0; asked for 1", what="device out of range")
    expect(run("run", *axpy, "--backend", "cpu", "--device", "x"), 2, r"--device expects a number", what="device that is no number")
    expect(run("run", *axpy, "--device", 0, env={"HOLOGRAM_BACKEND": "cpu", "HOLOGRAM_DEVICE_ID": "5"}), 0, what="the option stands above the environment")
    expect(run("run", *axpy, env={"HOLOGRAM_BACKEND": "cpu", "HOLOGRAM_DEVICE_ID": "5"}), 3, r"asked for 5", what="device from the environment")
    expect(run("run", *axpy, env={"HOLOGRAM_BACKEND": "abacus"}), 3, r"Invalid backend type: abacus \(expected one of: auto .*cpu.*null", what="backend from the environment")
    for old, env, words in ((True, {}, ["--native", "off"]), (True, {}, ["--native=on"]), (True, {"HOLOGRAM_NATIVE": "off"}, []), (False, {"HOLOGRAM_VENDOR": "off"}, []), (False, {}, ["--vendor", "off"])):
        result = run("run", *axpy, *words, env=env)
        check(result.status == 0 and result.err.count("is called") == old and result.out == "y f32[3] = 12.0 24.0 36.0\n", f"the old name of vendor {env} {words}: {result}")
    expect(run("run", *axpy, "--native", "perhaps"), 2, r"--vendor is auto, on or off, got 'perhaps'", what="old name, wrong word")
    expect(run("run", *axpy, env={"HOLOGRAM_PRETEND": "rich"}), 2, r"HOLOGRAM_PRETEND 'rich' is unknown, expected some of: poor", what="what nobody pretends")
    expect(run("run", *axpy, env={"HOLOGRAM_CACHE_BYTES": "much"}), 2, r"Environment variable error: HOLOGRAM_CACHE_BYTES='much'", what="malformed size")
    expect(run("stream", program("gcd3"), "--device", "9", "--backend", "null", stdin=b""), 2, r"more than one in array", what="stream: options are taken")
    expect(run("devices"), 0, what="devices", out=None)
    # a vendor's library that is broken, or a list of drivers that names nothing, is a reason and no crash
    os.makedirs("broken/empty", exist_ok=True)
    for name in ("libOpenCL.so.1", "libOpenCL.so", "libvulkan.so.1", "libvulkan.so"):
        write("broken/" + name, "this is no library")
    write("broken/bad.icd", "/dev/null/none/libvendor.so\n")
    write("broken/bad.json", '{"file_format_version":"1.0.0","ICD":{"library_path":"/dev/null/none/libvendor.so","api_version":"1.3.0"}}')
    for what, env in (("no library", {"LD_LIBRARY_PATH": os.path.abspath("broken")}),
                      ("no driver", {"OCL_ICD_VENDORS": os.path.abspath("broken/empty"), "VK_DRIVER_FILES": os.path.abspath("broken/none.json"), "VK_ICD_FILENAMES": os.path.abspath("broken/none.json")}),
                      ("bad driver", {"OCL_ICD_VENDORS": os.path.abspath("broken"), "VK_DRIVER_FILES": os.path.abspath("broken/bad.json"), "VK_ICD_FILENAMES": os.path.abspath("broken/bad.json")})):
        result = run("devices", "--json", env=env)
        listed = json.loads(result.out)["outputs"] if result.status == 0 else []
        check([d for d in listed if d["backend"] == "cpu" and d["available"]] and all(d["available"] or len(d["reason"]) > 20 for d in listed), f"{what}: {result}")
        for d in listed:
            if d["backend"] in ("opencl", "vulkan"):
                check(not d["available"], f"{what}: {d}")
                expect(run("run", *axpy, "--backend", d["backend"], env=env), 3, r"error\[X03\]: Backend not available: " + d["backend"] + ": ", what=f"{d['backend']} with {what}")
        expect(run("run", *axpy, env=env), 0, out="y f32[3] = 12.0 24.0 36.0\n", what=f"auto with {what}")


# backend, row of src/driver/devices.def, the version that the row is for, environment
SWIFTSHADER = os.environ.get("HG_TEST_SWIFTSHADER", "/usr/lib/chromium/vk_swiftshader_icd.json")
DRIVERS = (("cpu", "cpu", "tile", {}), ("opencl", "pocl", "OpenCL 3.0 PoCL 3.1", {}), ("vulkan", "lavapipe", "llvmpipe Mesa 22.3", {}),
           ("vulkan", "swiftshader", "SwiftShader", {"VK_DRIVER_FILES": SWIFTSHADER, "VK_ICD_FILENAMES": SWIFTSHADER}))


def check_table(table, everything, what):
    """Each instruction has a row, and in it each type that the instruction has once: native or lowered."""
    check(table.keys() == everything.keys(), f"{what}: {len(table)} rows of {len(everything)}")
    for key, row in table.items():
        types = sorted(everything[key]["native"] + everything[key]["lowered"])
        check(sorted(row["native"] + row["lowered"]) == types, f"{what}: {key} is native on {row['native']} and lowered on {row['lowered']}, expected {types}")


def check_rounding(backend, table, env):
    """Operations that drivers get wrong on one CPU and right on another: whether this device's are its own or lowered, they are right."""
    rng = numpy.random.default_rng(8)
    for kind, dtype, bits in (("f32", "<f4", 2), ("f64", "<f8", 3)):
        values = rng.standard_normal(4096) * numpy.exp2(rng.integers(-3, 70, 4096))
        values[:12] = (0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.99999994, 2147483648.5, -36718423.703125, 4503599627370495.5, -9007199254740993.0)
        numpy.save("numbers.npy", values.astype(dtype))
        for operation, expected in (("trunc", numpy.trunc), ("floor", numpy.floor), ("ceil", numpy.ceil), ("sqrt", lambda x: numpy.sqrt(numpy.abs(x)))):
            text = f".atlas 1\n.program p\n.param r1 x buffer {kind} inout [n]\n.param r4 n u64\n.lanes n\n    mov_imm.u32 r250, {bits}\n    shl.u64 r0, r255, r250\n    ldg.{kind} r10, [r1 + r0]\n"
            text += (f"    abs.{kind} r10, r10\n" if operation == "sqrt" else "") + f"    {operation}.{kind} r10, r10\n    stg.{kind} [r1 + r0], r10\n"
            result = run("run", write("rounding.atlas", text), "--backend", backend, "--in", "x=numbers.npy", "--out", "x=rounded.npy", env=env)
            expect(result, 0, what=f"{operation}.{kind} on {backend}")
            right = result.status == 0 and numpy.load("rounded.npy").tobytes() == expected(values.astype(dtype)).tobytes()
            how = "its own" if kind in table[operation.upper()]["native"] else "lowered"
            check(right, f"{operation}.{kind} on {backend}, {how}: wrong results")


def operations():
    def table(*arguments, env=None):
        result = run("ops", "--json", *arguments, env=env)
        return {o["id"]: o for o in json.loads(result.out)["outputs"]} if result.status == 0 else {}

    everything, poor = table("--backend", "cpu"), table("--caps", "swiftshader")
    check(len(everything) > 80 and everything.keys() == poor.keys(), f"ops: {len(everything)} and {len(poor)} rows")
    check(all(o["native"] or o["lowered"] or o["types"] == "-" for o in [*everything.values(), *poor.values()]), "ops: an empty row")
    check({key: everything[key]["types"] for key in ("ADD", "POWM", "MULW", "DOT4", "DOT2")} == {"ADD": "all", "POWM": "unsigned integers", "MULW": "integers of 16 bits and more", "DOT4": "i32 u32", "DOT2": "f16 bf16"}, "ops: types")
    check(everything["ADD"]["native"] == ["i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"] and everything["ADD"]["lowered"] == ["i128+"], f"add on the CPU: {everything.get('ADD')}")
    check(poor["ADD"]["native"] == ["i32"] and "f32" in poor["ADD"]["lowered"] and poor["MOV"]["native"] == ["i32", "f32"], f"add on SwiftShader: {poor.get('ADD')}")
    check(poor["ATOM_ADD"]["native"] == ["i32"] and poor["ATOM_ADD"]["lowered"] == ["i64"] and poor["BAR_SYNC"]["how"] == "native", f"atomics: {poor.get('ATOM_ADD')}")
    check(table("--caps", "lavapipe")["FMA"]["lowered"] == ["i128+", "f16", "bf16", "f32", "f64"], "fma on lavapipe")
    for row in ("cpu", "pocl", "lavapipe", "swiftshader", "webgpu", "wgpu", "cuda", "hip", "metal"):
        check_table(table("--caps", row), everything, f"the row {row} of src/driver/devices.def")
    # A driver's promises are those of its version, and so are the integers of its row. Which floating-point operations are exact depends on
    # the CPU too: a device's table comes from its probe, and what must hold is that results are right.
    for backend, row, name, env in DRIVERS:
        found = [d for d in json.loads(run("devices", "--json", env=env).out)["outputs"] if d["backend"] == backend and d["available"]]
        if not found:
            skip(f"no device of {name} on {backend}")
            continue
        here = table("--backend", backend, env=env)
        check_table(here, everything, f"ops of {found[0]['name']}")
        check_rounding(backend, here, env)
        if name not in found[0]["name"] + found[0]["driver"]:
            skip(f"the first device of {backend} is {found[0]['name']}, not {name}")
            continue
        named = table("--caps", row)
        integers = [f"{key}: {here[key]['native']} there, {named[key]['native']} in the row" for key in named
                    if [c for c in here[key]["native"] if c[0] == "i"] != [c for c in named[key]["native"] if c[0] == "i"]]
        check(not integers, f"src/driver/devices.def: the row {row} is not what {found[0]['name']} is now (then hologram ops --page > docs/reference/devices.md): {integers[:3]}")
    expect(run("ops", "--caps", "cray"), 2, r"--caps expects one of cpu, pocl, lavapipe, swiftshader, webgpu, wgpu, cuda, hip, metal, got 'cray'", what="unknown capabilities")
    expect(run("ops", "--caps", "pocl", "--backend", "cpu"), 2, r"exclude each other", what="capabilities and a device")
    page = open(os.path.join(SOURCE, "docs", "reference", "devices.md"), "rb").read()
    text = page.decode()
    check(re.search(r"found on an? \S.* of family \d+, model \d+ .*under \w+", text), "docs/reference/devices.md does not name the machine that its rows were found on")
    rows = re.findall(r'^HG_CAPSET\("(\w+)', open(os.path.join(SOURCE, "src", "driver", "devices.def"), encoding="utf-8").read(), re.M)
    tables = re.findall(r"^## .* \(`--caps (\w+)`\)$", text, re.M)
    check(sorted(rows) == sorted(tables), f"docs/reference/devices.md: a table for each row of src/driver/devices.def: {rows}, {tables}")
    cells = [line.split(" |")[1:-1] for line in text.split("\n") if line.startswith("| `")]
    check(cells and all(len(line) == 9 and all(cell in ("", " ●", " ○", " ") for cell in line) for line in cells), "docs/reference/devices.md: a cell that is neither ● nor ○ nor empty")
    made = page.split(b"\n<!-- what hologram ops --page writes ends here -->")[0]
    check(run("ops", "--page").raw == made, "docs/reference/devices.md is stale: hologram ops --page > docs/reference/devices.md")


# ---- emit for devices, without one

def emission():
    for name in SMALL + ["convolve.atlas", "sha256.atlas"]:
        path = os.path.join(PROGRAMS, name)
        for options in ((), ("--pretend", "poor"), ("--descriptors", "--large"), ("--caps", "swiftshader", "--proven")):
            what = f"{name} {' '.join(options)}"
            expect(run("emit", path, "--target", "opencl", *options, "-o", "kernel.cl"), 0, out="", what=f"emit opencl {what}")
            check("__kernel void" in open("kernel.cl").read(), f"no kernel: {what}")
            if shutil.which("clang-14"):
                built = subprocess.run(["clang-14", "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-target", "spir64-unknown-unknown", "-Wall", "-Wextra", "-Werror",
                                        "-fsyntax-only", "kernel.cl"], capture_output=True)
                check(built.returncode == 0, f"OpenCL text of {what}: {built.stderr.decode()[:1000]}")
            expect(run("emit", path, "--target", "spirv-asm", *options, "-o", "kernel.spvasm"), 0, out="", what=f"emit spirv-asm {what}")
            if run("emit", path, "--target", "spirv", *options, "--kernel", 0, "--output", "kernel.spv").status == 0 and shutil.which("spirv-val"):
                built = subprocess.run(["spirv-val", "--target-env", "vulkan1.2", "kernel.spv"], capture_output=True)
                check(built.returncode == 0, f"SPIR-V of {what}: {built.stdout.decode()[:1000]}{built.stderr.decode()[:500]}")
            else:
                check(not shutil.which("spirv-val"), f"emit spirv {what}")
    for target, kernel in (("cuda", "__global__ void"), ("hip", "__global__ void"), ("msl", "kernel void")):
        for options in ((), ("--pretend", "poor"), ("--large",), ("--proven", "--whole-blocks", "--at-origin")):
            check(kernel in run("emit", program("axpy"), "--target", target, *options).out, f"emit {target} {' '.join(options)}")
    expect(run("emit", program("axpy"), "--target", "cuda", "--descriptors"), 2, r"--descriptors\): target cuda finds memory by addresses alone", what="CUDA without addresses")
    axpy = program("axpy")
    for calls in (16, 17):  # a function of wide integers that is called more often is one for the device's compiler too
        path = f"sums{calls}.atlas"
        with open(path, "w") as file:
            file.write(".atlas 1\n.program sums\n.param r1 x buffer u256 inout [4]\n    ldg.u256 r5, [buf(r1)]\n" + calls * "    add.u256 r5, r5, r5\n" + "    stg.u256 [buf(r1)], r5\n")
        kept = run("emit", path, "--target", "opencl", "--caps", "pocl").out.count("__attribute__((noinline))")
        check(kept == (1 if calls > 16 else 0), f"{calls} calls of add.u256: {kept} functions are kept")
    poor = run("emit", axpy, "--target", "opencl", "--pretend", "poor").out
    check(poor and all("_arena + " in line for line in poor.split("\n") if "ulong" in line), "a device without 64-bit integers is given some beside its pointers")
    expect(run("emit", axpy, "--target", "opencl", "--kernel", 3), 2, r"--kernel 3: the program has 1 kernels", what="kernel out of range")
    two = write("two.atlas", HEAD + "    stg.i32 [r1 + r0], r10\n    parallel_reduce.i32 r11, r1, sum, r4\n    stg.i32 [r1 + r0], r11\n")
    expect(run("emit", two, "--target", "spirv", "-o", "x.spv"), 2, r"choose it with --kernel 0 … 2", what="several kernels")
    both = run("emit", two, "--target", "opencl")
    check(re.findall(r"__kernel void (\w+)", both.out) == ["p_0_kernel", "p_1_kernel", "reduce_add_i32_kernel"], f"the kernels of a program with a whole-array step: {both.out[:300]}")
    check(run("emit", two, "--target", "opencl", "--kernel", "1").out.count("__kernel void p_1") == 1, "one kernel of several")
    targets = [row["name"] for row in json.loads(run("emit", "--list", "--json").out)["outputs"]]
    check({"kir", "c", "opencl", "spirv", "spirv-asm"} <= set(targets), f"emit --list --json: {targets}")
    check([line.split()[0] for line in run("emit", "--list").out.strip().split("\n")] == targets, "emit --list")
    expect(run("emit", "--list", axpy), 2, r"--list expects no argument", what="a list of targets with a file")
    expect(run("emit", axpy, "--target", "cobol"), 2, rf"--target expects {', '.join(targets[:-1])} or {targets[-1]}, got 'cobol'", what="unknown target")
    expect(run("emit", axpy, "--target", "opencl", "--form", "round"), 2, r"--form expects flat or block", what="unknown form")
    expect(run("emit", axpy, "--target", "c", "--group", "8"), 2, r"not for --target c", what="a group for C")
    expect(run("emit", axpy, "--target", "opencl", "--group", "0"), 2, r"no extent can be 0", what="an empty group")
    expect(run("emit", axpy, "--target", "c", "--pretend", "poor"), 2, r"not for --target c", what="C for a poor device")
    expect(run("emit", axpy, "--target", "kir", "--caps", "swiftshader"), 0, what="lowered kernel IR")
    expect(run("emit", axpy, "--target", "kir", "--form", "flat"), 0, what="kernel IR in device form")
    shown = run("emit", axpy, "--target", "opencl", "--print-after", "all", "--time-passes", "--verify-passes")
    passes = re.findall(r"^; axpy, after pass '(\w+)' of stage (\w+)$", shown.err, re.M)
    check(passes[:2] == [("build", "program"), ("simplify", "program")] and passes[-2:] == [("device", "device"), ("simplify", "device")],
          "every pass printed, in order")
    check(len(re.findall(r"^(program|kernel|legal|low|device) +\w+ +\d+ +\d+\.\d$", shown.err, re.M)) == len(passes), "a time for each pass")
    check(shown.out == run("emit", axpy, "--target", "opencl").out, "the target's text is the same with the passes printed")
    expect(run("emit", axpy, "--target", "kir", "--print-after", "magic"), 2, r"--print-after expects one of build, simplify, .*, got 'magic'",
           what="an unknown pass")
    expect(run("run", axpy, "--set", "alpha=2", "--set", "x=1,2,3", "--set", "y=10,20,30", env={"HOLOGRAM_VERIFY": "1"}), 0,
           out="y f32[3] = 12.0 24.0 36.0\n", what="passes verified")


# ---- stream

COUNT = """.atlas 1
.program count
.param r1 x buffer u32 in [n]
.param r2 y buffer u32 out [n]
.param r3 total buffer u64 inout []
.param r4 n u64
.lanes n
    mov_imm.u32 r250, 2
    shl.u64 r0, r255, r250
    ldg.u32 r10, [r1 + r0]
    not.u32 r11, r10
    stg.u32 [r2 + r0], r11
    cvt.u64.u32 r12, r10
    atom.add.u64 r13, [buf(r3) + 0], r12
"""


def streaming():
    count = write("count.atlas", COUNT)
    data = numpy.random.default_rng(2).integers(0, 2**32, 300_000, dtype="<u4")
    for pool in (36864, 4096, 200):
        result = run("stream", count, "--pool", pool, stdin=data.tobytes())
        check(result.status == 0 and result.raw == (~data).tobytes(), f"stream through {pool} bytes: {result.status} {result.err}")
        check(result.err == f"total u64[] = {int(data.astype(numpy.uint64).sum())}\n", f"state of the stream: {result.err!r}")
    expect(run("stream", count, "--set", "total=5", stdin=b""), 0, r"total u64\[\] = 5", what="state from --set, empty input")
    expect(run("stream", count, "--set", "total=5", "--quiet", stdin=b""), 0, r"^$", what="--quiet")
    cut = run("stream", count, stdin=data.tobytes()[:-1])
    check(cut.status == 2 and "input ends inside a row: 3 bytes of 4" in cut.err and cut.raw == (~data[:-1]).tobytes(), f"input ends inside a row: {cut.err}")
    expect(run("stream", count, "--pool", 100, stdin=b""), 2, r"one row needs 192 bytes, --pool has 100", what="pool too small")
    expect(run("stream", program("gcd3"), stdin=b""), 2, r"more than one in array", what="two inputs")
    default = run("stream", write("default.atlas", COUNT.replace(".param r4 n u64", ".param r4 n u64 = 3")), stdin=data[:5].tobytes())
    check(default.status == 0 and default.raw == (~data[:5]).tobytes(), f"rows of a chunk are no default: {default.err}")
    expect(run("stream", count, "--set", "n=3", stdin=b""), 2, r"cannot be set", what="rows of a chunk")
    expect(run("stream", count, "--set", "total=5,", stdin=b""), 2, r"expected 1 values", what="a comma too many")
    process = subprocess.Popen([COMMAND, "stream", count], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    try:
        process.stdin.write(data.tobytes())
        process.stdin.close()
    except BrokenPipeError:
        pass
    err = process.stderr.read()
    check(process.wait() == 1 and b"error" not in err, f"closed reader: status {process.returncode}, {err}")
    summary = run("stream", count, "--json", stdin=data[:4].tobytes())
    document = json.loads(summary.err)
    check(document["status"] == "ok" and document["outputs"][0]["name"] == "total" and summary.raw == (~data[:4]).tobytes(), f"stream --json: {summary.err}")


# ---- times of launches: no figure is asserted

def benches():
    once = write("once.atlas", ".atlas 1\n.program once\n.param r1 x buffer u32 inout [n]\n.param r2 y buffer u32 out [n]\n.param r4 n u64\n.lanes n\n    mov_imm.u32 r20, 2\n    shl.u64 r0, r255, r20\n"
                 "    ldg.u32 r10, [r1 + r0]\n    mov_imm.u32 r11, 6\n    sub.u32 r12, r11, r10\n    div.u32 r13, r11, r12\n    stg.u32 [r1 + r0], r11\n    stg.u32 [r2 + r0], r13\n")
    bench = ["bench", once, "--set", "x=5,4,3", "--backend"]
    known = run(*bench, "cpu,cpu:0", "--repeat", "4", "--json")  # a launch after one that changed x divides by zero: it was restored
    check(known.status == 0 and known.err == "", f"bench: {known}")
    rows = json.loads(known.out)["outputs"]
    check([(r["device"], r["launches"], r["lanes"], r["bytes"]) for r in rows] == [("cpu 0", 4, 3, 36)] * 2, f"rows of bench: {rows}")
    for r in rows:
        check(0 < r["fastest_ms"] <= r["low_ms"] <= r["median_ms"] <= r["high_ms"] <= r["slowest_ms"] and r["first_ms"] > 0, f"order of times: {r}")
        check(abs(r["gb_per_s"] * r["median_ms"] / (36e-6) - 1) < 1e-6 and abs(r["lanes_per_s"] * r["median_ms"] / 3000 - 1) < 1e-6, f"rates: {r}")
    check(rows[0]["times_first"] == 1 and abs(rows[1]["times_first"] * rows[1]["median_ms"] / rows[0]["median_ms"] - 1) < 1e-6, f"ratios: {rows}")
    text = run(*bench, "cpu", "--seconds", "0", "--warm-up", "0")
    check(text.status == 0 and re.search(r"^once: 3 lanes, 36 bytes of arrays\ndevice +first ms .*\ncpu 0 .* 5 +1\.00x\n$", text.out), f"bench as text: {text}")
    some = run(*bench, "cpu,cuda,cpu", "--repeat", "1", "--json")
    document = json.loads(some.out)
    check(some.status == 3 and len(document["outputs"]) == 2 and document["diagnostics"][0]["code"] == "X03", f"a device that is not there: {some}")
    for more, err in ((("--repeat", "0"), "at least 1"), (("--repeat", "2", "--seconds", "1"), "exclude each other"), (("--seconds", "-1"), "expects a number up to 86400"), (("--warm-up", "x"), "expects a number")):
        expect(run(*bench, "cpu", *more), 2, err, what=f"bench {more}")
    for names in "cpu,", ",cpu", "cpu,,cpu", "":
        expect(run(*bench, names), 2, "--backend expects names with commas between, got '" + names + "'", what=f"bench {names}")
    expect(run("bench", once, "--set", "x=6", "--backend", "cpu"), 1, r"fault\[F02\]", what="a program with a fault")
    expect(run("bench", program("axpy"), "--backend", "cpu", "--repeat", "1"), 0, what="inputs are made up")
    suite = json.loads(run("bench", "--suite", "specification", "--json").out)["outputs"]
    here = {r["topic"]: r for r in suite if not re.match("CUDA|Metal|WebGPU|> 9|> 85", r["claim"]) and r["topic"] not in ("CUDA", "Metal", "WebGPU")}
    check(len(suite) == 28 and all(r["verdict"] in ("met", "not met", "not run") and r["measured"] for r in suite), f"rows of the specification: {suite}")
    check(sorted(here) == sorted(["CPU (SIMD)", "CPU (interpreted)", "Memory Bandwidth, CPU", "Instruction Throughput", "Pool Load/Store", "Memory Amplification", "Throughput", "Parallel Scaling"]), f"rows of the CPU: {sorted(here)}")
    check(all(r["value"] > 0 for name, r in here.items() if name != "Parallel Scaling"), f"measured: {here}")
    check(here["Memory Amplification"]["verdict"] == "met" and here["Memory Amplification"]["value"] == 2844.44, f"the pool's results: {here['Memory Amplification']}")
    check(all(r["verdict"] == "not run" and "value" not in r for r in suite if "Metal" in r["claim"]), "Metal is not here")
    expect(run("bench", "--suite", "seeds"), 2, "--suite expects specification, got 'seeds'", what="another suite")
    expect(run("bench", once, "--suite", "specification"), 2, "--suite measures programs of its own, got", what="a suite and a program")


# ---- sizes of tiles: measured, written, read, shown, removed; no figure is asserted

def tunes():
    path = os.path.join(os.getcwd(), "tuned", "tiles.txt")
    tune = lambda *more: run("tune", "--backend", "cpu", "--only", "gemm.panel", *more, env={"HOLOGRAM_TILES": path, "HOLOGRAM_NUM_THREADS": "2"})
    shown = lambda: json.loads(tune("--list", "--json").out)["outputs"]
    check(f"{path}: there is none\n" in tune("--list").out and [r["name"] for r in shown()] == ["gemm.panel_rows"], f"tune --list: {tune('--list')}")
    preset = shown()[0]["preset"]
    text = tune()
    check(text.status == 0 and re.search(rf"^gemm\.panel_rows +{preset} -> +(\d+) .* {preset}: 1\.00 .*\nwritten to {re.escape(path)}\n$", text.out, re.M), f"tune: {text}")
    check(shown()[0]["size"] == int(re.search(r"-> +(\d+)", text.out).group(1)) and tune("--list").out.startswith(path + "\n"), f"what was written is read: {shown()}")
    with open(path) as file:
        good = file.read()
    write(path, re.sub(r"gemm\.panel_rows \d+", "gemm.panel_rows 48", good))
    check(shown()[0]["size"] == 48, "a size of the file counts")
    known = json.loads(tune("--json").out)["outputs"]
    check(known[0]["before"] == 48 and known[0]["tries"][0] == {"size": 48, "relative_time": 1} and len(known[0]["tries"]) == 4, f"tune --json: {known}")
    for bad, why in (("nothing", "its first line is not"), (good.replace("level", "levels"), "it is of another device or version"), (good + "gemm.rows 99\n", "line 'gemm.rows 99' is no size")):
        write(path, bad)
        check(why in tune("--list").out and shown()[0]["size"] == preset, f"a bad file: {tune('--list')}")
    expect(tune("--reset"), 0, "^$", path + " is gone\n", "tune --reset")
    check(not os.path.exists(path) and tune("--reset").status == 0, "the file is gone")
    expect(run("tune", "--only", "gem.", "--backend", "cpu"), 2, "--only: no size has a name that begins with 'gem.'", what="tune --only")
    expect(tune("--list", "--reset"), 2, "exclude each other", what="tune --list --reset")
    expect(tune("x"), 2, "expects no argument, got 'x'", what="tune x")
    for off in {"HOLOGRAM_TILES": "off"}, {"HOLOGRAM_CACHE_DIR": "off"}:
        off = run("tune", "--backend", "cpu", "--only", "gemm.panel", env=off)
        check(off.status == 0 and off.out.endswith("not written: no file is kept\n"), f"tune without a file: {off}")


# ---- the environment's settings

def settings():
    known = run("config", "--json", env={"HOLOGRAM_TIMEOUT_MS": "17", "HOLOGRAM_DEVICE_ID": ""})
    rows = {row["name"]: row for row in json.loads(known.out)["outputs"]}
    table = dict(re.findall(r'^HG_ENV\((\w+), +"([^"]*)"', open(os.path.join(SOURCE, "src", "runtime", "env.def")).read(), re.M))
    check(known.status == 0 and set(rows) == set(table), f"config has a row for each variable: {sorted(rows)}")
    check((rows["HOLOGRAM_TIMEOUT_MS"]["value"], rows["HOLOGRAM_TIMEOUT_MS"]["from"]) == ("17", "environment"), f"a variable that is set: {rows['HOLOGRAM_TIMEOUT_MS']}")
    check((rows["HOLOGRAM_DEVICE_ID"]["value"], rows["HOLOGRAM_DEVICE_ID"]["from"]) == ("0", "default"), f"set to nothing is unset: {rows['HOLOGRAM_DEVICE_ID']}")
    check("HOLOGRAM_TIMEOUT_MS         environment     17 " in run("config", env={"HOLOGRAM_TIMEOUT_MS": "17"}).out, "config as text")
    expect(run("config", env={"HOLOGRAM_TIMEOUT_MS": "soon"}), 2, r"Environment variable error", what="config with a malformed variable")


# ---- a build folder that came with a copy of another tree is refused with what to do

def copied_tree():
    os.makedirs("copy/build/release")
    with open("copy/build/release/CMakeCache.txt", "w") as f:
        f.write("CMAKE_HOME_DIRECTORY:INTERNAL=/nowhere/else\n")
    built = subprocess.run(["sh", os.path.join(SOURCE, "tools", "build"), "build/release"], cwd="copy", capture_output=True, text=True)
    check(built.returncode == 1 and built.stderr == "build/release was made for /nowhere/else and cannot be used here: remove it (rm -r build/release) and run this again\n", f"a copied build folder: {built}")


# ---- the numbers that the specification computed itself

def vectors():
    def values(name, body, *arguments):
        result = run("run", write(name + ".atlas", f".atlas 1\n.program {name}\n{body}"), *arguments)
        return result.out.split(" = ")[-1].split() if result.status == 0 else [str(result)]

    for to, source, given, expected in (
            ("i32", "f32", "3.9", "3"), ("i32", "f32", "-3.9", "-3"), ("i32", "f32", "1e20", "2147483647"), ("i32", "f32", "nan", "0"), ("u8", "f32", "-1.0", "0"),
            ("u8", "f32", "300.0", "255"), ("u32", "i32", "-1", "4294967295"), ("i32", "i64", "0x100000002", "2"), ("i16", "i8", "-1", "-1"), ("i8", "u8", "255", "-1"),
            ("f32", "f64", "0.1", 0x3DCCCCCD), ("bf16", "f32", "1.0", 0x3F80), ("f16", "f32", "1.0", 0x3C00), ("f16", "f32", "65520.0", 0x7C00), ("f16", "f32", "65519.0", 0x7BFF),
            ("bf16", "u32", "16842753", 0x4B81), ("f16", "f64", "0x1.0020000001p0", 0x3C01)):
        seen = to if to[0] != "f" and to != "bf16" else "u32" if to == "f32" else "u16"  # floats by their bits
        body = f".param r1 y buffer {seen} out []\n mov_imm.{source} r2, {given}\n cvt.{to}.{source} r3, r2\n stg.{to} [buf(r1) + 0], r3\n"
        got = values("cvt", body)
        check(got == [str(expected)], f"cvt.{to}.{source} {given}: {got}, expected {expected}")
    loop = ".param r1 y buffer u32 out []\n mov_imm.u32 r2, 0\n mov_imm.u32 r3, 2\n loop r4, {}\n add.u32 r2, r2, r3\n endloop\n stg.u32 [buf(r1) + 0], r2\n"
    check(values("five", loop.format(5)) == ["10"] and values("none", loop.format(0)) == ["0"], "counted loops")
    primitive = ".param r1 y buffer u32 out [2]\n mov_imm.u32 r2, 0\n mov_imm.u32 r3, 2\n mov_imm.u32 r4, 4\nl:\n add.u32 r2, r2, r3\n loop r4, @l\n stg.u32 [buf(r1) + 0], r2\n stg.u32 [buf(r1) + 4], r4\n"
    check(values("primitive", primitive) == ["10", "0"], "the loop primitive runs its body once more than the count")
    for at, place in (((42, 10, 200), 518_856), ((95, 47, 255), 1_179_647), ((0, 0, 0), 0), ((1, 0, 0), 12_288), ((3, 5, 7), 38_151)):
        body = f".param r1 y buffer u8 out [2]\n mov_imm.u8 r2, 77\n stg.u8 [phi{at}], r2\n ldg.u8 r3, [buf0 + {place}]\n ldg.u8 r4, [class{at[0]} + {at[1] * 256 + at[2]}]\n"
        got = values("phi", body + " stg.u8 [buf(r1) + 0], r3\n stg.u8 [buf(r1) + 1], r4\n")
        check(got == ["77", "77"], f"phi{at} is byte {place} of class memory: {got}")
    total = ".param r1 x buffer f32 in [n]\n.param r2 y buffer f32 out []\n.param r4 n u64\n parallel_reduce.f32 r3, r1, sum, r4\n stg.f32 [buf(r2) + 0], r3\n"
    check(values("total", total, "--set", "x=" + ",".join(map(str, range(1, 1001)))) == ["500500.0"], "the sum of 1 to 1000")
    pair = ".param r1 a buffer f32 in [n]\n.param r2 b buffer f32 in [n]\n.param r3 c buffer f32 out [n]\n.param r4 n u64\n parallel_map_binary.f32 r3, r1, r2, add, r4\n"
    both = ["--set", "a=" + ",".join(map(str, range(256))), "--set", "b=" + ",".join(str(2 * i) for i in range(256)), "--out", "c=c256.npy"]
    expect(run("run", write("pair.atlas", ".atlas 1\n.program pair\n" + pair), *both), 0, what="256 sums")
    check(numpy.array_equal(numpy.load("c256.npy"), numpy.arange(256) * numpy.float32(3)), "256 sums")
    for name, given, expected in (("sigmoid", "0.0", 0.5), ("tanh", "1.0", 0.7615942), ("gelu", "1.0", 0.84134475)):
        got = values(name, f".param r1 y buffer f32 out []\n mov_imm.f32 r2, {given}\n {name}.f32 r3, r2\n stg.f32 [buf(r1) + 0], r3\n")
        check(abs(float(got[0]) - expected) < 1e-7, f"{name}({given}) = {got}, expected {expected}")


# ---- time

def endless():
    """Programs that could take for ever: a loop whose body takes long looks at the clock often enough; lowering is no slower for deep nesting."""
    long = write("body.atlas", ".atlas 1\n.program t\n mov_imm.u32 r1, 1\nl:\n" + " mul.u32 r1, r1, r1\n" * 200_000 + " bra @l\n")
    expect(run("run", long, "--timeout", "300", limit=20), 1, r"fault\[F08\]", what="a long body")
    depth, head = 30_000, HEAD.replace("i32", "u32") + " mov_imm.u32 r3, 1\n mov_imm.u32 r6, 0\n"
    nest = "".join(f"l{i}:\n add.u32 r10, r10, r3\n" for i in range(depth))
    nest += "".join(f" setltu.u32 p0, r10, r6\n bra.p0 @l{i}\n" for i in reversed(range(depth))) + " stg.u32 [r1 + r0], r10\n"
    expect(run("run", write("nest.atlas", head + nest), "--set", "x=0,5,9", limit=30), 0, out="x u32[3] = 30000 30005 30009\n", what="loops 30,000 deep")
    steps = ".atlas 1\n.program steps\n.param r1 x buffer u32 inout [n]\n.param r4 n u64\n.lanes n\n mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n"
    steps += " parallel_reduce.u32 r10, r1, max, r4\n ldg.u32 r11, [r1 + r0]\n add.u32 r11, r11, r10\n stg.u32 [r1 + r0], r11\n" * 30_000
    x = [1, 0]
    for _ in range(30_000):
        x = [(value + max(x)) % 2**32 for value in x]
    expect(run("run", write("steps.atlas", steps), "--set", "x=1,0", limit=120), 0, out=f"x u32[2] = {x[0]} {x[1]}\n", what="30,000 whole-array steps")


# ---- races

def races():
    racy = write("racy.atlas", ".atlas 1\n.program racy\n.param r1 x buffer u32 inout []\n.lanes 8\n    rdid r10, lane_idx_x\n    stg.u32 [buf(r1) + 0], r10\n")
    expect(run("run", racy, "--check-races"), 1, r"racy\.atlas:6:5: fault\[F09\]: .*race on 'x', byte 0: lane 0 writes it, lane 1 writes it \(instructions at 6:5 and 6:5\)",
           what="a race is found")
    expect(run("run", racy), 0, what="a race is no fault without the check")
    head = ".atlas 1\n.program kind\n.param r1 x buffer u32 inout [n]\n.param r2 out buffer u32 out [n]\n.param r4 n u64\n.lanes n\n.block 8\n.shared 64\n"
    head += " mov_imm.u32 r250, 2\n shl.u64 r0, r255, r250\n mov_imm.u64 r251, 0\n mov_imm.u32 r9, 1\n"  # 12 lines
    kinds = (
        ("a store and a load", " stg.u32 [r1 + r0], r9\n ldg.u32 r10, [r1 + r251]\n stg.u32 [r2 + r0], r10\n",
         r"race on 'x', byte 0: lane 0 writes it, lane 1 reads it \(instructions at 13:2 and 14:2\)"),
        ("a load and a store", " ldg.u32 r10, [buf(r1) + 0]\n stg.u32 [r2 + r0], r10\n stg.u32 [r1 + r0], r9\n",
         r"race on 'x', byte 0: lane [1-7] reads it, lane 0 writes it \(instructions at 13:2 and 15:2\)"),
        ("two stores", " stg.u32 [r1 + r0], r9\n setgtu.u64 p0, r255, r251\n bra.p0 @end\n stg.u32 [buf(r1) + 28], r9\nend:\n exit\n",
         r"race on 'x', byte 28: lane 7 writes it, lane 0 writes it \(instructions at 13:2 and 16:2\)"),
        ("an atomic and a store", " atom.add.u32 r10, [buf(r1) + 4], r9\n stg.u32 [r1 + r0], r9\n",
         r"race on 'x', byte 4: lane [0-7] updates it atomically, lane [0-7] writes it \(instructions at 13:2 and 14:2\)"),
        ("a load and an atomic", " ldg.u32 r10, [r1 + r0]\n atom.add.u32 r11, [buf(r1) + 4], r9\n stg.u32 [r2 + r0], r10\n",
         r"race on 'x', byte 4: lane 1 reads it, lane 0 updates it atomically \(instructions at 13:2 and 14:2\)"),
        ("shared memory without a barrier", " shl.u32 r5, r252, r250\n sts.u32 [shared + r5], r9\n lds.u32 r10, [shared + 4]\n stg.u32 [r2 + r0], r10\n",
         r"race on shared memory, byte 4: lane 1 writes it, lane 0 reads it \(instructions at 14:2 and 15:2\)"),
        ("shared memory read before the barrier and written before it",
         " shl.u32 r5, r252, r250\n lds.u32 r10, [shared + 4]\n sts.u32 [shared + r5], r9\n bar.sync 0\n stg.u32 [r2 + r0], r10\n",
         r"race on shared memory, byte 4: lane \d reads it, lane 1 writes it \(instructions at 14:2 and 15:2\)"),
    )
    for what, body, text in kinds:
        expect(run("run", write("kind.atlas", head + body), "--check-races", "--set", "n=8"), 1, r"fault\[F09\]: .*" + text, what=what)
    for what, body in (
        ("atomics alone", " atom.add.u32 r10, [buf(r1) + 4], r9\n"),
        ("loads alone", " ldg.u32 r10, [buf(r1) + 0]\n stg.u32 [r2 + r0], r10\n"),
        ("shared memory that is written first", " shl.u32 r5, r252, r250\n sts.u32 [shared + r5], r9\n bar.sync 0\n lds.u32 r10, [shared + 4]\n stg.u32 [r2 + r0], r10\n"),
        ("shared memory that atomics count in", " atom.add.u32 r10, [shared + 4], r9\n bar.sync 0\n lds.u32 r10, [shared + 4]\n stg.u32 [r2 + r0], r10\n"),
    ):
        expect(run("run", write("kind.atlas", head + body), "--check-races", "--set", "n=8"), 0, what=what)
    unwritten = write("kind.atlas", head + " shl.u32 r5, r252, r250\n lds.u32 r10, [shared + r5]\n bar.sync 0\n sts.u32 [shared + r5], r9\n stg.u32 [r2 + r0], r10\n")
    expect(run("run", unwritten, "--check-races", "--set", "n=8"), 1,
           r"kind\.atlas:14:2: fault\[F10\]: .*lane 0 reads byte 0 of shared memory, which no lane of its block has written", what="shared memory read before it is written")
    expect(run("run", unwritten, "--set", "n=8"), 0, what="shared memory begins as zeros")
    expect(run("run", program("block_reverse"), "--check-races", "--set", "x=0,1,2,3,4,5,6,7"), 0, what="no race across a barrier")


# ---- diff: mutants of programs stand for devices that compute something else

MAPS = """.atlas 1
.program maps
.param r1 x buffer f32 in [n]
.param r2 y buffer f32 out [n]
.param r3 z buffer f32 out [n]
.param r4 n u64
.lanes n
    mov_imm.u32 r20, 0
    mov_imm.u32 r21, 1
    mov_imm.u32 r22, 3
again:
    parallel_map.f32 r2, r1, abs, r4
    parallel_map.f32 r3, r2, sqrt, r4
    add.u32 r20, r20, r21
    setltu.u32 p0, r20, r22
    bra.p0 @again
    mov_imm.u32 r250, 2
    shl.u64 r0, r255, r250
    ldg.f32 r5, [r3 + r0]
    add.f32 r5, r5, r5
    stg.f32 [r3 + r0], r5
"""
FLOW = """.atlas 1
.program flow
.param r1 x buffer i32 inout [n]
.param r4 n u64
.lanes n
    mov_imm.u32 r250, 2
    shl.u64 r0, r255, r250
    mov_imm.i32 r9, 0
    ldg.i32 r10, [r1 + r0]
    setlt.i32 p0, r10, r9
    bra.p0 @neg
    add.i32 r10, r10, r10
    bra @end
neg:
    sub.i32 r10, r9, r10
end:
    stg.i32 [r1 + r0], r10
"""
TOTAL = """.atlas 1
.program total
.param r1 x buffer u32 in [n]
.param r2 sum buffer u64 inout []
.param r4 n u64
.lanes n
    mov_imm.u32 r250, 2
    shl.u64 r0, r255, r250
    ldg.u32 r10, [r1 + r0]
    cvt.u64.u32 r12, r10
    atom.add.u64 r13, [buf(r2) + 0], r12
"""
CLASS = """.atlas 1
.program cls
.param r6 pad pool 64
.lanes 4
    mov_imm.u32 r250, 2
    shl.u64 r0, r255, r250
    cvt.u32.u64 r2, r255
    stg.u32 [class3 + r0], r2
    mul.u32 r3, r2, r2
    stg.u32 [pool(r6) + r0], r3
"""


def mutated(text, old, new):
    check(old in text, f"the mutant '{new}' changes nothing")
    return text.replace(old, new, 1)


def compare(text, old, new, *arguments, status=1, against="cpu,poor"):
    """The one object that diff prints for a program and its mutant."""
    a, b = write("a.atlas", text), write("b.atlas", mutated(text, old, new))
    result = run("diff", a, "--backend", "cpu", "--against", against, "--against-program", b, "--json", *arguments)
    document = json.loads(result.out)
    check(result.status == status and result.err == "" and document["exit"] == status and len(document["outputs"]) == 1, f"diff of {old!r} and {new!r}: {result}")
    return document["outputs"][0] if document["outputs"] else {}


def operand(found, register):
    rows = [o for o in found.get("operands", []) if o["register"] == register]
    return [(o["backend_value"] or "").split(" ")[0] for o in rows], [(o["against_value"] or "").split(" ")[0] for o in rows]


def rerun(found, what):
    """The reduced command finds a difference of the same kind; its files are small."""
    words = shlex.split(found["command"])
    check(words[:2] == ["hologram", "diff"], f"{what}: {words}")
    again = run(*words[1:], "--json", "--no-reduce")
    document = json.loads(again.out)
    check(again.status == 1 and document["outputs"][0]["kind"] == found["kind"], f"{what}: the reproduction differs in another way: {again}")
    text = open(words[2]).read()
    return sum(line.startswith("    ") for line in text.split("\n")), document["outputs"][0]


def differences():
    examples = SMALL
    for name in examples:
        for side in ("cpu", "cpu,poor", "cpu,baseline", "cpu,expand"):
            expect(run("diff", os.path.join(PROGRAMS, name), "--backend", "cpu", "--against", side), 0, err="^$", what=f"diff {name} cpu {side}")
    equal = json.loads(run("diff", program("axpy"), "--against", "cpu", "--json").out)["outputs"][0]
    check(equal["kind"] == "equal" and equal["lanes"] == 1024 and equal["compared"] == 2048 and equal["fault"] is None, f"equal: {equal}")
    seeds = [run("diff", program("axpy"), "--backend", "cpu", "--against-program", program("axpy"), "--seed", s, "--json").status for s in range(3)]
    check(seeds == [0, 0, 0], f"seeds: {seeds}")

    axpy = open(instructions("axpy")).read()
    found = compare(axpy, "fma.f32 r12", "fms.f32 r12")
    line = 1 + next(i for i, text in enumerate(axpy.split("\n")) if "fma.f32" in text)
    check((found["kind"], found["array"], found["element"], found["instruction"], found["lane"], found["line"]) == ("values", "y", 0, 6, 0, line), f"fma: {found}")
    left, right = operand(found, "r10")
    check(left == right and len(left) == 1 and operand(found, "r12")[0] != operand(found, "r12")[1], f"operands of fma: {found}")
    size, _ = rerun(found, "fma")
    check(size <= 6, f"reduced to {size} instructions")
    check(numpy.load("axpy.diff/x.npy").size == 1, "reduced to one lane")

    found = compare(open(instructions("collatz")).read(), "mad.u64 r10, r10, r12, r11", "mad.u64 r10, r10, r12, r12", "--set", "start=1,2,4,8,3,7", "--timeout", "500", "--to", "loop")
    check((found["kind"], found["lane"], found["execution"], found["instruction"]) == ("fault", 4, 1, 16), f"a loop that does not end: {found}")
    check(operand(found, "r10") == (["10", "3"], ["12", "3"]), f"operands of mad: {found}")
    rerun(found, "a loop that does not end")
    found = compare(open(instructions("collatz")).read(), "shr.u64 r10, r10, r14", "shr.u64 r10, r10, r20", "--set", "start=1,2,4,8", "--timeout", "500", "--no-reduce")
    check((found["lane"], found["execution"], operand(found, "r10")) == (2, 2, (["1", "2"], ["0", "2"])), f"the second time round a loop: {found}")

    found = compare(open(instructions("gcd3")).read(), "rem.u32 r23, r20, r21", "rem.u32 r23, r21, r20", "--set", "a=12,0", "--set", "b=18,5", "--set", "c=27,34")
    check((found["kind"], found["instruction"]) == ("fault", 14) and "F02" in found["against_fault"] and found["backend_fault"] is None, f"a fault on one side: {found}")
    rerun(found, "a fault on one side")
    found = compare(open(instructions("center")).read(), "sum, r4", "max, r4", "--set", "x=1,2,3,4,10")
    check((found["instruction"], found["step"], operand(found, "r10")) == (0, 0, (["20.0"], ["10.0"])), f"a reduction: {found}")
    found = compare(MAPS, "sqrt, r4", "exp, r4")
    check((found["array"], found["step"], found["instruction"], found["lane"]) == ("z", 1, 4, None), f"the second whole-array instruction: {found}")
    rerun(found, "a map")
    found = compare(MAPS, "add.f32 r5, r5, r5", "mul.f32 r5, r5, r5", "--set", "x=9,16,25")
    check((found["step"], found["lane"], operand(found, "r5")) == (6, 0, (["6.0", "3.0", "3.0"], ["9.0", "3.0", "3.0"])), f"after all whole-array instructions: {found}")
    found = compare(FLOW, "bra.p0 @neg", "bra @neg", "--set", "x=-1,2,3")
    check(found["lane"] == 1 and found["instruction"] == 6, f"control flow: {found}")
    found = compare(open(instructions("wide")).read(), "mul.i256 r12, r10, r11", "mul.i256 r12, r10, r10", "--set", "a=3,-5", "--set", "b=3,7")
    check((found["lane"], operand(found, "r12")) == (1, (["-35"], ["25"])), f"wide integers: {found}")
    found = compare(open(instructions("block_reverse")).read(), "sub.u32 r7, r7, r252", "sub.u32 r7, r7, r6")
    check((found["lane"], found["instruction"]) == (0, 8), f"shared memory and a barrier: {found}")
    found = compare(TOTAL, "cvt.u64.u32 r12, r10", "mov_imm.u64 r12, 5", "--set", "x=5,5,6")
    check((found["array"], found["lane"], found["instruction"], found["ordered"]) == ("sum", 2, 3, False), f"atomics: {found}")
    found = compare(TOTAL, "atom.add", "atom.max", "--set", "x=5,5,6")
    check(found["ordered"] is True and found["instruction"] == 4, f"an atomic's old value: {found}")
    found = compare(CLASS, "mul.u32 r3", "add.u32 r3")
    check((found["array"], found["element"], found["lane"], found["instruction"]) == ("pad", 4, 1, 4), f"pools: {found}")
    found = compare(CLASS, "stg.u32 [class3 + r0], r2", "stg.u32 [class4 + r0], r2")
    check(found["array"] == "class memory" and found["differing"] > 0 and "store" in found["note"], f"class memory: {found}")
    state = ".atlas 1\n.program state\n mov_imm.f64 r6, 1.0\n mov_imm.u32 r8, 7\n res.accum r5, r6, 3\n mul.f64 r7, r5, r6\n phase.write r8, 5\n"
    found = compare(state, "mul.f64 r7", "sub.f64 r7", status=0)
    check(found["kind"] == "equal", f"a result that nothing keeps: {found}")
    found = compare(state, "r6, 1.0", "r6, 2.0", "--no-reduce")
    check((found["array"], found["element"], found["backend_value"], found["instruction"], found["execution"]) == ("resonance", 3, "1.0 0x3ff0000000000000", 0, 1),
          f"resonance: {found}")
    found = compare(state, "r8, 7", "r8, 8", "--no-reduce")
    check((found["array"], found["element"], found["backend_value"], found["instruction"]) == ("phase", 5, "7 0x00000007", 1), f"phase: {found}")
    kept = ".param r1 o buffer f64 out [1]\n mov_imm.f64 r6, 1.0\n res.accum r5, r6, 3\n mul.f64 r7, r5, r6\n stg.f64 [buf(r1)], r7\n"
    found = compare(".atlas 1\n.program kept\n" + kept, "mul.f64 r7", "sub.f64 r7", "--no-reduce")
    check(found["instruction"] == 2 and operand(found, "r5") == (["1.0"], ["1.0"]), f"every run begins with resonance 0: {found}")
    nan = ".atlas 1\n.program nan\n.param r1 y buffer f32 out [2]\n.param r2 a f32\n mov_imm.f32 r3, inf\n sub.f32 r4, r3, r3\n stg.f32 [buf(r1) + 0], r4\n stg.f32 [buf(r1) + 4], r2\n"
    equal = compare(nan, "sub.f32 r4, r3, r3", "mov_imm.f32 r4, bits(0x7fc12345)", "--set", "a=1", status=0)
    check(equal["kind"] == "equal", f"two NaNs are equal: {equal}")

    far = HEAD + "    ldg.i32 r10, [r1 + r0 + 4]\n    stg.i32 [r1 + r0], r10\n"
    both = compare(far, "r0 + 4]", "r0 + 4] ; the same", status=0)
    check(both["kind"] == "equal" and "F01" in both["fault"], f"the same fault on both sides: {both}")
    found = compare(far, "r0 + 4]", "r0 + 8]", "--set", "x=1,2,3,4", "--no-reduce")
    check((found["kind"], found["lane"], found["instruction"], found["command"]) == ("fault", 2, 3, None), f"different faults: {found}")
    text = run("diff", write("a.atlas", axpy), "--backend", "cpu", "--against", "cpu", "--against-program", write("b.atlas", mutated(axpy, "fma.f32", "fms.f32")))
    check(text.status == 1 and re.search(r"a\.atlas:\d+: fma\.f32 r12, r5, r10, r11\n", text.out) is not None and "<- differs" in text.out and "reduced to axpy.diff:" in text.out, f"as text: {text}")

    full = compare(".atlas 1\n.program full\n.param r1 y buffer u32 out []\n" + "".join(f" mov_imm.u32 r{i}, {i}\n" for i in range(2, 252)) + " stg.u32 [buf(r1) + 0], r9\n", "r9, 9", "r9, 8")
    check("no registers" in full["note"] and full["array"] == "y", f"no free registers: {full}")

    for backend in sorted({d["backend"] for d in json.loads(run("devices", "--json").out)["outputs"] if d["available"]} - {"cpu", "null"}):
        for name in examples:
            expect(run("diff", os.path.join(PROGRAMS, name), "--backend", backend, "--quiet", limit=300), 0, err="^$", what=f"diff {name} {backend} cpu")
        bits = HEAD.replace("i32", "f32") + "    mov_imm.f32 r11, bits(0x7fc12345)\n    setlt.f32 p0, r10, r10\n    sel.f32 r12, p0, r10, r11\n    stg.f32 [r1 + r0], r12\n    mov_imm.f64 r13, nan\n    stg.f64 [r1 + r0], r13\n"
        expect(run("diff", write("bits.atlas", bits.replace("buffer f32", "buffer u64").replace(", 2\n", ", 3\n")), "--backend", backend, limit=300), 0, what=f"a NaN's bits on {backend}")
        result = run("diff", program("axpy"), "--backend", "null", "--against", backend, "--json", "--no-reduce", limit=300)
        found = json.loads(result.out)["outputs"][0]  # a device that computes nothing
        check(result.status == 1 and all(o["cpu_value"] == o["against_value"] for o in found["operands"]) and found["operands"], f"cpu judges null and {backend}: {found}")
        found = compare(axpy, "fma.f32 r12", "fms.f32 r12", "--no-reduce", against=backend)
        check((found["instruction"], found["lane"]) == (6, 0), f"fma on {backend}: {found}")

    if os.path.exists(SWIFTSHADER):  # its lanes run in step: a lock must be given back before the loop's exit
        step = {"VK_DRIVER_FILES": SWIFTSHADER, "VK_ICD_FILENAMES": SWIFTSHADER}
        count = write("count.atlas", TOTAL.replace("inout []", "out []"))
        expect(run("run", count, "--backend", "vulkan", "--set", "x=" + ",".join(map(str, range(100))), env=step), 0, out="sum u64[] = 4950\n", what="64-bit atomics of lanes in step")
        every = write("every.atlas", HEAD + "    ldg.i32 r11, [r1 + r0 + 40000]\n    stg.i32 [r1 + r0], r11\n")
        expect(run("diff", every, "--backend", "vulkan", env=step), 0, what="faults of lanes in step")

    expect(run("diff", program("axpy"), "--against-program", program("center")), 2, r"different parameters", what="another program")
    expect(run("diff", program("axpy"), "--backend", "abacus"), 3, r"X03", what="unknown backend")
    expect(run("diff", program("axpy"), "--backend", "cpu,fast"), 2, r"'fast' is unknown", what="unknown word")
    expect(run("diff"), 2, r"expects one PROGRAM", what="no program")
    expect(run("diff", program("axpy"), "--against-program", write("b.atlas", mutated(axpy, "fma.f32", "fms.f32")), "--to", "/dev/null/none/folder"), 1, r"X02", what="a folder that cannot be made")


# ---- profiles

def spans(document):
    return [e for e in document["traceEvents"] if e["ph"] == "X"]


def check_trace(path, what):
    """Valid JSON; every span's thread and process have a name; spans of a thread nest."""
    document = json.load(open(path))
    named = {(e["name"], e["pid"], e.get("tid")) for e in document["traceEvents"] if e["ph"] == "M"}
    open_spans = {}
    nested = True
    for e in sorted(spans(document), key=lambda e: (e["ts"], -e["dur"])):
        if ("process_name", e["pid"], None) not in named or ("thread_name", e["pid"], e["tid"]) not in named:
            check(False, f"{what}: {e} has no process or thread")
        stack = open_spans.setdefault((e["pid"], e["tid"]), [])
        while stack and stack[-1] <= e["ts"] + 1e-9:
            stack.pop()
        nested = nested and (not stack or e["ts"] + e["dur"] <= stack[-1] + 2e-3)  # times are cut to nanoseconds
        stack.append(e["ts"] + e["dur"])
    check(nested, f"{what}: spans of one thread overlap without nesting")
    return document


def inside(document, inner, outer):
    """Every span of category `inner` lies in one of `outer`."""
    frames = [(e["pid"], e["tid"], e["ts"], e["ts"] + e["dur"]) for e in spans(document) if e["cat"] == outer]
    return all(any(f[0] == e["pid"] and f[1] == e["tid"] and f[2] <= e["ts"] + 2e-3 and e["ts"] + e["dur"] <= f[3] + 2e-3 for f in frames)
               for e in spans(document) if e["cat"] == inner)


def profiles():
    for backend in ("cpu", "null"):
        expect(run("run", program("center"), "--set", "x=1,2,3,4,10", "--backend", backend, "--profile", "t.json", "--quiet"), 0, err="^$", what="--profile")
        document = check_trace("t.json", backend)
        found = {(e["cat"], e["name"]): e for e in spans(document)}
        check({("program", "center"), ("step", "parallel_reduce.f32"), ("copy in", "buffer"), ("copy out", "buffer"), ("compile", "center"), ("compile", "verify"),
               ("compile", "lower"), ("compile", "legalise"), ("compile", "driver")} <= set(found), f"what a profile has: {sorted(found)}")
        kernels = [e for e in spans(document) if e["cat"] == "kernel"]
        check(len(kernels) == 1 and kernels[0]["args"]["bytes"] == 2 * 20 and kernels[0]["args"]["lanes"] == 5, f"kernel: {kernels}")
        line = 1 + next(i for i, text in enumerate(open(program("center"))) if "parallel_reduce" in text and not text.startswith(";"))
        step = found["step", "parallel_reduce.f32"]["args"]
        check(step["line"] == line and step["bytes"] == 24 and "sum" in step["detail"], f"step: {step}, expected line {line}")
        check(found["copy in", "buffer"]["args"]["bytes"] == found["copy out", "buffer"]["args"]["bytes"] == 20, "bytes of copies")
        check(inside(document, "kernel", "program") and inside(document, "step", "program"), "kernels and steps lie in their program")
        names = [e["args"]["name"] for e in document["traceEvents"] if e["name"] == "process_name"]
        check(len(names) == 1 and names[0].startswith(backend + " 0"), f"device: {names}")
        table = open("t.json.txt").read()
        check(re.search(r"^step +parallel_reduce\.f32 +1 +\d+\.\d{6} +\d+\.\d{6} +24 +\d+\.\d{3}$", table, re.M) is not None, f"table: {table}")
    zero = write("zero.atlas", HEAD + "    mov_imm.i32 r11, 0\n    div.i32 r12, r10, r11\n    stg.i32 [r1 + r0], r12\n")
    expect(run("run", zero, "--set", "x=1,2", "--profile", "fault.json"), 1, r"fault\[F02\]", what="profile of a fault")
    check(any(e["cat"] == "kernel" for e in spans(check_trace("fault.json", "fault"))), "a launch that faults is recorded")
    expect(run("run", program("axpy"), "--set", "alpha=1", "--set", "x=1", "--set", "y=1", "--profile", "/dev/null/none/t.json"), 1, r"error\[X02\].*/dev/null/none/t.json", out="",
           what="profile that cannot be written")
    expect(run("run", program("axpy"), "--set", "alpha=1", "--set", "x=1", "--set", "y=1", "--profile", "-"), 2, r"profile", what="profile on standard output")
    environment = {"HOLOGRAM_PROFILE_FILE": "e.json"}
    expect(run("run", program("axpy"), "--set", "alpha=1", "--set", "x=1", "--set", "y=1", env=environment), 0, out="y f32[1] = 2.0\n", what="profile by environment")
    check(len(spans(check_trace("e.json", "environment"))) > 5, "profile by environment")
    data = numpy.arange(3000, dtype="<u4")
    result = run("stream", write("count.atlas", COUNT), "--pool", 4096, "--profile", "s.json", stdin=data.tobytes())
    document = check_trace("s.json", "stream")
    check(result.raw == (~data).tobytes() and sum(e["cat"] == "program" for e in spans(document)) == sum(e["cat"] == "kernel" for e in spans(document)) > 3, "profile of a stream")
    check(not [f for f in os.listdir(".") if ".tmp" in f or f.startswith(".")], f"temporary files left: {os.listdir('.')}")


def answers(*arguments):
    result = run("atlas", *arguments, "--json")
    document = json.loads(result.out) if result.out else {}
    check(document.get("command") == "atlas" and document.get("exit") == result.status and not result.err, f"atlas {arguments}: {result}")
    return document.get("outputs", [])


def algebra():
    """`hologram atlas` against labels made here from the bits of bytes."""
    def label(byte):  # e1 e2 e3 d45 e6 e7
        bit = [byte >> k & 1 for k in range(8)]
        return bit[1], bit[2], bit[3], bit[4] - bit[5], bit[6], bit[7]

    def number(l):
        return 24 * (2 * l[5] + l[4]) + 8 * (l[3] % 3) + 4 * l[2] + 2 * l[1] + l[0]

    labels = {number(label(b)): label(b) for b in range(256)}
    table = answers("table")
    check([c["class"] for c in table] == list(range(96)) == sorted(labels), "96 classes")
    for c in table:
        l, cls = labels[c["class"]], c["class"]
        near = [d for d, m in labels.items() if l[5] == m[5] and sum(abs(x - y) for x, y in zip(l, m)) == 1]
        inside = [b for b in range(256) if number(label(b)) == cls]
        inverse = [x for x in range(96) if x * cls % 96 == 1]
        check(c["neighbours"] == sorted(near) and c["degree"] == len(near) and c["bytes"] == inside and c["byte"] == inside[0]
              and c["label"] == dict(zip(("e1", "e2", "e3", "d45", "e6", "e7"), l)) and c["mirror"] == number((*l[:5], 1 - l[5]))
              and c["circuit_mirror"] == number((*l[:3], -l[3], *l[4:])) and [c["inverse"]] == (inverse or [None]) and c["unit"] == bool(inverse)
              and c["unity"] == (not any(l[:5])) and c["orbit"] == 8 * (cls // 24) + cls % 8, f"atlas table: {c}")
    check(answers("class", *range(256)) == [table[number(label(b))] for b in range(256)], "atlas class of every byte")
    check(answers("class", *(f"c{i}" for i in range(96)), "0xfF", "0x00") == table + [table[79], table[0]], "atlas class of every class")
    check([(c["class"], c["neighbours"]) for c in answers("graph")] == [(c["class"], c["neighbours"]) for c in table], "atlas graph")
    dot = run("atlas", "graph", "--dot")
    edges = [tuple(map(int, e)) for e in re.findall(r"^  (\d+) -- (\d+);$", dot.out, re.M)]
    check(dot.status == 0 and len(set(edges)) == len(edges) == 256 and all(b in table[a]["neighbours"] and a < b for a, b in edges)
          and dot.out.startswith("graph atlas {") and dot.out.endswith("}\n"), f"atlas graph --dot: {dot}")
    check(len(run("atlas", "table").out.split("\n")) == 98 and len(run("atlas", "graph").out.split("\n")) == 97, "atlas table and graph as text")
    expect(run("atlas", "class", "0x2A"), 0, out="class 21\n  coordinates  scope 0, modality 2, context 5\n  label        e1=1 e2=0 e3=1 d45=-1 e6=0 e7=0\n"
           "  bytes        2A 2B, canonical 2A\n  mirror       69\n  neighbours   5 17 20 23 45\n  orbit        5\n  unit         no\n", what="atlas class")
    for coordinate, size, orbit, first in ((1000, 2304, 8, 24), (18431, 18432, 31, 79), (95, 96, 31, 79), (2**64 - 1, 301989888, 0, 0)):
        found = answers("orbit", coordinate)[0]
        check((int(found["coordinate"]), found["torus_size"], found["orbit"], found["representative"]) == (coordinate, size, orbit, first)
              and found["residues"] == [first, first + 8, first + 16] and found["coordinates"] == size // 32, f"atlas orbit: {found}")
    check(answers("orbit", 1000, 96)[0]["orbit"] == 0 and "outside" in run("atlas", "orbit", "1000", "96").out, "a coordinate outside its torus")
    tori = answers("torus")
    check(len(tori) == 24 and all(t["elements"] == t["page_mod"] * t["res_mod"] and t["total"] == 96 * t["elements"] for t in tori), "atlas torus")
    check(answers("torus", "f32") == [{"type": "f32", "page_mod": 96, "res_mod": 192, "elements": 18432, "total": 1769472, "units": 6144}], "atlas torus f32")
    expect(run("atlas", "invert", "5", "96"), 0, out="77\n", what="atlas invert")
    for modulus in (97, 18432, 2**64 - 59):
        found = answers("invert", 12347, modulus)[0]
        check(int(found["inverse"]) == pow(12347, -1, modulus), f"atlas invert: {found}")
    expect(run("atlas", "character", "1", "1A"), 0, out="1\n", what="the trivial character")
    expect(run("atlas", "character", "2", "1A"), 0, out="196883\n", what="the smallest faithful character")
    degrees = [int(answers("character", i, "1A")[0]["value"]) for i in (1, 2, 3, 4, 5, 194)]
    check(degrees == [1, 196883, 21296876, 842609326, 18538750076, 258823477531055064045234375], f"degrees: {degrees}")
    row = answers("character", 17)
    order = sum(int(e["class_size"]) for e in row)
    check(len(row) == 194 and order == 2**46 * 3**20 * 5**9 * 7**6 * 11**2 * 13**3 * 17 * 19 * 23 * 29 * 31 * 41 * 47 * 59 * 71, "the order of the Monster")
    check(abs(sum(int(e["class_size"]) * (e["real"]**2 + e["imaginary"]**2) for e in row) / order - 1) < 1e-9, "the norm of a character")
    for e in row:
        n = e["conductor"]
        value = sum(k * numpy.exp(2j * numpy.pi * i / n) for i, k in enumerate(e["coefficients"])) if n > 1 else int(e["value"])
        check(abs(value - complex(e["real"], e["imaginary"])) <= 1e-12 * max(1, abs(value)), f"atlas character: {e}")
    text = run("atlas", "character", "17", "23B").out
    check(text.startswith("z + z^2 + z^3 + z^4 + z^6 + z^8 + z^9 + z^12 + z^13 + z^16 + z^18, z = e^(2πi/23), about -0.5 + 2.3979157616563"), f"irrational: {text}")
    check(run("atlas", "character", "2").out.split("\n")[1] == "2A    4371", "a row of the character table")
    for name in ("table", "graph"):  # the drawings of the guide are what the command draws today
        with open(os.path.join(SOURCE, "docs", "guide", f"atlas-{name}.svg"), "rb") as file:
            check(run("atlas", name, "--svg", "-").raw == file.read(), f"docs/guide/atlas-{name}.svg is old: hologram atlas {name} --svg docs/guide/atlas-{name}.svg")
        check(answers(name, "--svg", f"{name}.svg") == [{"file": f"{name}.svg"}] and xml.etree.ElementTree.parse(f"{name}.svg").getroot().tag.endswith("svg"), "SVG is XML")
    for status, pattern, *arguments in (
            (2, r"expects a question; usage: hologram atlas class", ), (2, r"unknown question 'clas'", "clas"), (2, r"expects: hologram atlas class BYTE", "class"),
            (2, r"class expects a byte, .* or a class, c0 to c95; got 'c96'", "class", "c96"), (2, r"got '256'", "class", "256"), (2, r"got '0x100'", "class", "0x100"),
            (2, r"got 'c0x5'", "class", "c0x5"), (2, r"got ''", "class", ""), (2, r"got '0x'", "class", "0x"), (2, r"got '1:'", "class", "1:"), (2, r"got '0x1g'", "class", "0x1g"),
            (2, r"torus expects a type such as f32, got 'f33'", "torus", "f33"), (2, r"expects: hologram atlas torus \[TYPE\]", "torus", "f32", "f64"),
            (2, r"orbit expects a coordinate from 0 to 18446744073709551615, got '18446744073709551616'", "orbit", str(2**64)),
            (1, r"error\[F05\]: unknown torus size: 97\n", "orbit", "5", "97"), (1, r"error\[F05\]: no multiplicative inverse: 2 mod 96\n", "invert", "2", "96"),
            (1, r"no multiplicative inverse: 5 mod 0", "invert", "5", "0"), (2, r"expects: hologram atlas invert UNIT MODULUS", "invert", "5"),
            (2, r"character expects a character from 1 to 194, got '0'", "character", "0", "1A"), (2, r"got '195'", "character", "195"),
            (2, r"conjugacy class of the Monster such as 1A or 39B, got '1Z'", "character", "1", "1Z"), (2, r"class takes no --svg", "class", "c1", "--svg", "x.svg"),
            (2, r"table takes no --dot", "table", "--dot"), (2, r"--dot goes alone", "graph", "--dot", "--svg", "x.svg"), (2, r"unknown option '--dots'", "graph", "--dots"),
            (2, r"got .c96.", "class", "c1", "c96"), (1, r"error\[X02\]: cannot write /dev/null/none/x.svg", "table", "--svg", "/dev/null/none/x.svg")):
        expect(run("atlas", *arguments), status, pattern, out="", what=f"atlas {arguments}")
    check(json.loads(run("atlas", "graph", "--svg", "-", "--json").out)["exit"] == 2, "--json with a drawing on standard output")
    check(json.loads(run("atlas", "invert", "2", "96", "--json").out)["diagnostics"][0]["code"] == "F05", "--json of what has no answer")


# ---- circuits

def circuits():
    text = "copy@c05->c06 . mark@c21 . copy@c05->c06 . mark@c21"
    for arguments, out in (
            (("parse", "-e", "~ R1@ ( mark@c5|merge@c[0 .. 9]^-1 ) // x"), "R+1 ~@(mark@c05 || merge@c[0..9]^-1)\n"),
            (("canonicalise", "-e", text), "copy@c05->c06\n4 operations to 1, reduced by 75 %\n"),
            (("canonicalise", "-e", text, "--rules", "gates"), "mark@c00\n4 operations to 1, reduced by 75 %\n"),
            (("canonicalise", "-e", text, "--rules=off"), text + "\n4 operations to 4, reduced by 0 %\n"),
            (("words", "-e", "copy@c05 . evaluate@c40"), "phase[h\u2082=1]\nevaluate\ncopy[d=0]\n"),
            (("bytes", "-e", "mark@c42^+3~@17 || mark@c21"), "0x5A c37 page 17 address 4442\n0x2A c21\n"),
            (("compile", "-e", "merge.mul@c00[c01,c02] . swap@c03<->c02", "--variants"),
             "Merge src_class=c00 dst_class=c02 context_class=c01 variant=mul\nSwap class_a=c03 class_b=c02\nin: c00 c01 c03\nout: c02 c03\n2 operations to 2, reduced by 0 %\n")):
        expect(run("circuit", *arguments), 0, out=out, what=f"circuit {arguments}")
    for status, pattern, *arguments in (
            (1, r"<expression>:1:7: error\[N07\]: Class index 96 out of range \[0..95\]\n    1 \| mark@c96\n      \|       \^~\n", "parse", "-e", "mark@c96"),
            (1, r"error\[N04\]: Copy requires explicit destination: use copy@c<src>->c<dst>", "compile", "-e", "copy@c05"),
            (1, r"error\[S02\]: Parse error: Unexpected end of input, expected '@'", "canonicalise", "-e", "mark"),
            (1, r"error\[S02\]: Expected '@' but found '.' at position 5", "parse", "-e", "merge.mul@c00[c01,c02]"),
            (2, r"words takes no --rules", "words", "-e", "mark@c00", "--rules", "gates"), (2, r"--rules expects off, sound or gates, got 'all'", "compile", "-e", "mark@c00", "--rules", "all"),
            (2, r"expects one FILE, - or -e EXPR", "parse"), (2, r"expects one FILE, - or -e EXPR", "parse", "x", "-e", "y"), (2, r"expects parse, canonicalise", "frob"),
            (2, r"expects parse, canonicalise", ), (2, r"error\[P06\]", "words", "no-such-file")):
        expect(run("circuit", *arguments), status, pattern, out="", what=f"circuit {arguments}")
    tree = json.loads(run("circuit", "parse", "-", "--json", stdin=b"T+1@(mark@c00 . copy@c01->c02@3)").out)["outputs"][0]["tree"]
    check(tree["transform"]["T"] == 1 and tree["parallel"][0][0]["parallel"][0][1]["classes"][1] == {"class": 2, "transform": None, "page": 3}, f"tree {tree}")
    compiled = json.loads(run("circuit", "compile", "-e", "~@mark@c[0..9]", "--json").out)["outputs"][0]
    check(compiled["calls"] == [{"call": "MarkRange", "start_class": 0, "end_class": 7}, {"call": "MarkRange", "start_class": 16, "end_class": 17}]
          and [c["class"] for c in compiled["classes"]] == [*range(8), 16, 17], f"calls {compiled}")
    words = json.loads(run("circuit", "words", "-e", "R+1@mark@c00", "--json").out)["outputs"][0]["words"]
    check(words == ["\u2192\u03c1[1]", "mark", "\u2190\u03c1[1]"], f"words {words}")
    add = write("add.circuit", "// c02 = c00 + c01\nmerge@c00[c01,c02]\n")
    listing = run("disasm", add)
    expect(listing, 0, what="disasm of a circuit")
    check(listing.out.count("\n") == 3 + 10 and '.meta circuit "merge@c00[c01,c02]"' in listing.out, f"listing {listing}")
    expect(run("disasm", "-", stdin=open(add, "rb").read()), 0, out=listing.out, what="a circuit on standard input")
    expect(run("verify", add), 0, out="add.circuit: ok, 10 instructions\n", what="verify of a circuit")
    expect(run("asm", add, "-o", "add.atlasb"), 0, what="asm of a circuit")
    expect(run("disasm", "add.atlasb"), 0, out=listing.out, what="a circuit as a container")
    expect(run("emit", add, "--target", "kir"), 0, what="emit of a circuit")
    expect(run("diff", add, "--backend", "cpu", "--against", "cpu"), 2, r"'add.circuit' is a circuit", what="diff of a circuit")
    expect(run("diff", program("axpy"), "--backend", "cpu", "--against", "cpu", "--against-program", add), 2, r"'add.circuit' is a circuit", what="diff against a circuit")
    expect(run("verify", write("bad.circuit", "mark@c00 .\n mark@c99")), 1, r"bad.circuit:2:8: error\[N07\]: Parse error: Class index 99", what="verify of a bad circuit")


# ---- JSON kernels

def kernels():
    def example(name):
        return os.path.join(SOURCE, "examples", "json", name + ".json")

    def kernel(name, params, body):
        return {"version": "1.0", "kernel": {"name": name, "params": params, "body": body}}

    def array(name, kind="f32"):
        return {"name": name, "type": {"kind": "device_array", "element_type": {"kind": "scalar", "type": kind}}}

    var = {"type": "var", "name": "i"}
    lane = {"type": "let", "name": "i", "value": {"type": "call", "function": "get_global_id", "args": []}}
    copy = {"type": "assign", "target": {"type": "index", "array": {"type": "var", "name": "y"}, "index": var},
            "value": {"type": "index", "array": {"type": "var", "name": "x"}, "index": var}}
    axpy = ["--set", "x=1,2,3", "--set", "y=10,20,30", "--set", "alpha=2", "--set", "n=3", "--lanes", "64"]
    expect(run("run", example("axpy"), *axpy), 0, out="y f32[3] = 12.0 24.0 36.0\n", what="axpy.json")
    expect(run("run", example("saturate"), "--set", "src=-1,0.25,3,nan", "--set", "n=4", "--lanes", "4", "--shape", "dst=f32[4]"), 0,
           out="dst f32[4] = 0.0 0.25 1.0 nan\n", what="saturate.json")
    expect(run("run", example("matvec_rows"), "--set", "m=1,2,3,4,5,6", "--set", "v=1,0,-1", "--set", "rows=2", "--set", "cols=3", "--lanes", "2",
               "--shape", "out=f32[2]"), 0, out="out f32[2] = -2.0 -2.0\n", what="matvec_rows.json")
    image = numpy.random.default_rng(3).integers(0, 256, (23, 31)).astype(numpy.uint8)
    numpy.save("image.npy", image)
    windows = numpy.lib.stride_tricks.sliding_window_view(numpy.pad(image, 1, mode="edge"), (3, 3))
    for backend in sorted({d["backend"] for d in json.loads(run("devices", "--json").out)["outputs"] if d["available"]} - {"null"}):
        expect(run("run", example("median3x3"), "--in", "image=image.npy", "--out", "out=median.npy", "--backend", backend), 0, what=f"median3x3.json on {backend}")
        check((numpy.load("median.npy") == numpy.median(windows, axis=(2, 3))).all(), f"median3x3.json on {backend} differs from NumPy")
    expect(run("run", example("median3x3"), "--set", "h=2", "--set", "w=3", "--set", "image=9,1,5,7,3,8"), 0, out="out u8[2, 3] = 7 5 5 7 7 5\n", what="median3x3.json")
    expect(run("run", "-", *axpy, stdin=b"\n " + open(example("axpy"), "rb").read()), 0, out="y f32[3] = 12.0 24.0 36.0\n", what="a kernel on standard input")
    expect(run("verify", example("axpy")), 0, out=f"{example('axpy')}: ok, 14 instructions\n", what="verify of a kernel")
    listing = run("disasm", example("axpy"))
    expect(listing, 0, what="disasm of a kernel")
    check(".param r1 y buffer f32 inout\n" in listing.out and "    mul.f32 r0, r2, r0\n" in listing.out, f"listing {listing}")
    expect(run("asm", example("axpy"), "-g", "-o", "axpy.atlasb"), 0, what="asm of a kernel")
    expect(run("disasm", "axpy.atlasb"), 0, out=listing.out, what="a kernel as a container")
    expect(run("emit", example("axpy"), "--target", "kir"), 0, what="emit of a kernel")

    # arrays of private memory have names: those of a kernel, and what notes of a program say
    rows = [{"name": name, "element_type": {"kind": "scalar", "type": "f32"}, "length": 4} for name in ("near", "far")]
    store = {"type": "assign", "target": {"type": "index", "array": {"type": "var", "name": "near"}, "index": var}, "value": {"type": "literal", "value": 1}}
    two = write("two.json", json.dumps({"version": "1.0", "kernel": dict(kernel("k", [array("y")], [lane, store, copy])["kernel"], private=rows)}).replace('"x"', '"near"'))
    expect(run("run", two, "--shape", "y=f32[4]", "--lanes", "4"), 0, out="y f32[4] = 1.0 1.0 1.0 1.0\n", what="two private arrays")
    expect(run("run", two, "--shape", "y=f32[5]", "--lanes", "5"), 1, r"two.json:1:\d+: fault\[F01\]: .*private access out of bounds: index 4 of 'near', which has 4 elements\n.*, lane 4 ",
           what="the index that the first of two private arrays does not have")
    text = ".atlas 1\n.program p\n.param r1 y buffer u32 inout [n]\n.param r4 n u64\n.lanes n\n.private 40\n%s    ldp.u32 r10, [private + r255*4 + 8]\n    stg.u32 [r1 + r255*4], r10\n"
    for note, words in (("", r"offset 8 \* 4 \+ 8 \+ size 4 > private size 40"), ('.meta private.win "u32[8] at 8"\n', "index 8 of 'win', which has 8 elements"),
                        ('.meta private.win "u32[9] at 8"\n', "offset 8 "), ('.meta private.win "u32[8] at 4"\n', "offset 8 "), ('.meta private.win "u32 and more"\n', "offset 8 ")):
        expect(run("run", write("own.atlas", text % note), "--set", "y=" + ",".join("123456789")), 1, "private access out of bounds: " + words, what=f"a private fault with the note '{note}'")

    # several kernels in a file, and one that is not there
    several = write("several.json", json.dumps([kernel("first", [array("x"), array("y")], [lane, copy]), kernel("neg", [array("x"), array("y")], [])]))
    expect(run("run", several, "--kernel", "first", "--set", "x=5,6", "--shape", "y=f32[2]", "--lanes", "2"), 0, out="y f32[2] = 5.0 6.0\n", what="--kernel")
    expect(run("run", several, "--kernel=neg", "--set", "x=5,6", "--shape", "y=f32[2]", "--lanes", "2"), 0, out="y f32[2] = -5.0 -6.0\n", what="--kernel=")
    expect(run("verify", several), 1, r"several.json:1:1: error\[N04\]: 2 kernels: choose one by its name\n(.*\n)*   hint: kernels here: 'first' 'neg'\n", what="no --kernel")
    expect(run("verify", several, "--kernel", "second"), 1, r"error\[D03\]: there is no kernel 'second'\n(.*\n)*   hint: kernels here: 'first' 'neg'\n", what="wrong --kernel")
    expect(run("run", program("axpy"), "--kernel", "axpy"), 2, r"--kernel chooses a kernel of a .json file", what="--kernel of a text")

    # faults and errors point into the document
    pretty = write("pretty.json", json.dumps(kernel("k", [array("x"), array("y")], [lane, copy]), indent=2))
    lines = open(pretty).read().split("\n")
    expect(run("run", pretty, "--set", "x=1,2", "--shape", "y=f32[9]", "--lanes", "9"), 1,
           r"pretty.json:%d:18: fault\[F01\]: .*offset 8 \+ size 4 > buffer size 8\n   in instruction 3 \(ldg.f32 r0, \[x \(r0\) \+ r3\]\), lane 2"
           % (max(i for i, line in enumerate(lines) if '"value": {' in line) + 1), what="fault in a kernel")
    wrong = write("wrong.json", open(pretty).read().replace('"get_global_id"', '"get_global_ip"'))
    expect(run("verify", wrong), 1, r"wrong.json:(\d+):23: error\[N01\]: kernel.body\[0\].value.function: unknown function 'get_global_ip'\n.*\n.*\^~+\n"
           r"   hint: did you mean 'get_global_id'\?\nwrong.json: 1 error\n$", what="error in a kernel")
    expect(run("verify", "-", stdin=b'{"version":"1.0",\n "kernel":[1,]}'), 1, r"<stdin>:2:14: error\[S02\]: expected a value, got '\]'\n", what="no JSON")


# ---- PTX

def ptx():
    made = run("emit", program("axpy"), "--target", "ptx")
    without = dict(os.environ, HOLOGRAM_NVRTC="/nowhere/libnvrtc.so")
    expect(run("emit", program("axpy"), "--target", "ptx", env=without), 3, r"NVRTC, which compiles kernels, is not found \(.*/nowhere/libnvrtc.so.*\): install", what="PTX without NVRTC")
    expect(run("emit", program("axpy"), "--target", "ptx", "--descriptors"), 2, r"target ptx finds memory by addresses alone", what="PTX without addresses")
    if "NVRTC, which compiles kernels, is not found" in made.err:
        skip("no NVRTC: PTX is not made")
        return
    ptxas = find_ptxas()
    architectures = architectures_of(ptxas) if ptxas else []
    if not ptxas:
        skip("no ptxas: PTX is not assembled")
    for name in sorted(os.listdir(PROGRAMS)):
        for options in (("--proven",),):
            if not name.endswith(".atlas"):
                continue
            text = run("emit", os.path.join(PROGRAMS, name), "--target", "ptx", "--kernel", "0", *options, "-o", "kernel.ptx", limit=300)
            expect(text, 0, out="", what=f"PTX of {name} {options}")
            text = open("kernel.ptx").read()
            check(text.startswith("/* Written by hologram through NVRTC ") and re.search(r"\n\.target sm_75\b", text) and ".visible .entry" in text and "fma.rn.ftz" not in text, f"PTX of {name}")
            for architecture in architectures:
                built = subprocess.run([ptxas, "-arch=" + architecture, "-o", "/dev/null", "kernel.ptx"], capture_output=True, text=True)
                check(built.returncode == 0, f"ptxas of {name} for {architecture}: {built.stderr[:500]}")


    dots = write("dots.atlas", ".atlas 1\n.program dots\n.param a buffer u32 in [n]\n.param c buffer u32 inout [n]\n.param d buffer i32 inout [n]\n.param n u64\n.lanes n\n.reg x, y u32\n.reg p, q i32\n"
                 "    ldg x, [a[global]]\n    ldg y, [c[global]]\n    dot4 y, x, x, y\n    stg [c[global]], y\n    ldg p, [a[global]]\n    ldg q, [d[global]]\n    dot4 q, p, p, q\n    stg [d[global]], q\n")
    text = run("emit", dots, "--target", "ptx", "--proven").out
    check("dp4a.u32.s32 " in text and "dp4a.s32.s32 " in text, f"products of four bytes as PTX: {text[-1500:]}")


# ---- named kernels

def named_kernels():
    names = [line.split()[0] for line in run("kernels").out.strip().split("\n")]
    check(len(names) == 21 and "atlas_add_f32" in names and "atlas_memcpy" in names, f"hologram kernels: {names}")
    check([row["name"] for row in json.loads(run("kernels", "--json").out)["outputs"]] == names, "hologram kernels --json")
    add = ["--kernel", "atlas_add_f32", "--set", "a=1,2", "--set", "b=3,4"]
    expect(run("run", *add), 0, out="c f32[2] = 4.0 6.0\n", what="run --kernel")
    expect(run("run", "--kernel", "atlas_fill_f32", "--set", "value=2", "--set", "n=3"), 0, out="c f32[3] = 2.0 2.0 2.0\n", what="a kernel without inputs")
    expect(run("run", *add[:4]), 2, r"atlas_add_f32: error\[P0\d\]: .*'b'", what="a kernel without its second array")
    expect(run("run", "--kernel", "atlas_add_f23"), 2, r"no kernel is called 'atlas_add_f23'; did you mean 'atlas_add_f32'\?", what="a kernel that is none")
    expect(run("run", *add, "--program", "x"), 2, "--program is for texts of .atlas", what="--kernel with --program")
    expect(run("run", "--kernel", "atlas_div_i32", "--set", "a=1,2", "--set", "b=1,0"), 1, r"fault\[F02\]: .*division by zero\n.*lane 1 ", what="a kernel's fault")
    expect(run("emit", "--kernel", "atlas_exp_f32", "--target", "hip"), 0, what="emit --kernel")
    expect(run("disasm", "--kernel", "atlas_mad_f32"), 0, what="disasm --kernel")
    for command in ("debug", "stream", "bench", "opt", "verify"):
        check("panic" not in run(command, "--kernel", "atlas_add_f32").err, f"{command} --kernel")
    done = run("kernels", "-o", "texts", "--target", "cuda,msl,opencl")
    expect(done, 0, out="21 kernels: texts/*.cu\n21 kernels: texts/*.metal\n21 kernels: texts/*.cl\n", what="kernels -o")
    check(sorted(os.listdir("texts")) == sorted(f"{n}.{s}" for n in names for s in ("cu", "metal", "cl")), "files of kernels -o")
    expect(run("kernels", "-o", "texts", "--target", "cuda,,msl"), 2, "--target expects names .* got ''", what="kernels --target with an empty name")
    expect(run("kernels", "--target", "cuda"), 2, "--target needs -o DIR", what="kernels --target without -o")
    expect(run("kernels", "-o", "no/such/folder"), 1, "cannot make the folder 'no/such/folder'", what="kernels -o into nowhere")
    expect(run("kernels", "x"), 2, "no kernel is called 'x'", what="kernels with a name that there is not")
    expect(run("kernels", "atlas_add_f32", "x"), 2, "expects one NAME alone, got 'x'", what="kernels with two names")
    one = run("kernels", "atlas_add_f32")
    expect(one, 0, what="one kernel")
    check(one.out == run("disasm", "--kernel", "atlas_add_f32").out and ".program atlas_add_f32" in one.out, f"one kernel: {one.out}")


# ---- circuits that run

def circuit_runs():
    def example(name):
        return os.path.join(SOURCE, "examples", "circuits", name + ".circuit")
    add = write("add.circuit", "merge@c00[c01,c02]\n")
    expect(run("run", add, "--set", "c00=1,2,3", "--set", "c01=10,20,30"), 0, out="c02 f32[3] = 11.0 22.0 33.0\n", what="the example of the language")
    expect(run("run", "-", "--set", "c0=1,2,3", "--set", "c1=10", stdin=b"// a sum\nmerge@c0[c1,c2]"), 0, out="c02 f32[3] = 11.0 2.0 3.0\n", what="standard input, short names, a short array")
    expect(run("run", "-e", "swap@c00<->c01", "--set", "c00=1,2,3"), 0, out="c00 f32[3] = 0.0 0.0 0.0\nc01 f32[3] = 1.0 2.0 3.0\n", what="-e, a class without input")
    expect(run("run", "-e", "mark@c01 . mark@c01", "--canonicalise", "--set", "c01=5"), 0, out="c01 f32[1] = 5.0\n", what="operations that cancel")
    expect(run("run", "-e", "merge.mul@c00[c01,c02]", "--variants", "--set", "c00=2", "--set", "c01=3"), 0, out="c02 f32[1] = 6.0\n", what="variants")
    expect(run("run", "-e", "quote@c01", "--lanes", 2), 0, out="", what="nothing is written")
    expect(run("run", "-e", "mark@c01", "--lanes", 0), 0, out="c01 f32[0] =\n", what="no elements")
    expect(run("run", "-e", "merge@c[0..1]", "--lanes", 2), 0, out="c00 f32[2] = 0.0 0.0\nc01 f32[2] = 0.0 0.0\n", what="lanes without input")
    rng = numpy.random.default_rng(3)
    for n in (3072, 10_000, 1_000_000):
        a, b = rng.standard_normal(n).astype("<f4"), rng.standard_normal(n // 2).astype("<f4")
        numpy.save("a.npy", a)
        numpy.save("b.npy", b)
        expect(run("run", example("butterfly"), "--in", "c00=a.npy", "--in", "c01=b.npy", "--out", "c02=c.npy", "--out", "c03=d.npy"), 0, out="", what=f"butterfly of {n}")
        b = numpy.append(b, numpy.zeros(n - n // 2, "<f4"))
        check((numpy.load("c.npy") == a + b).all() and (numpy.load("d.npy") == a - b).all(), f"butterfly of {n}")
    rows = rng.integers(-9, 9, (4, 2, 3)).astype("<f4")
    for i in range(4):
        numpy.save(f"h{i}.npy", rows[i])
    expect(run("run", example("hadamard"), *[a for i in range(4) for a in ("--in", f"c0{i}=h{i}.npy", "--out", f"c0{i}=h{i}.npy")]), 0, what="hadamard")
    h = numpy.array([[1, 1], [1, -1]])
    check((numpy.stack([numpy.load(f"h{i}.npy") for i in range(4)]) == numpy.einsum("ij,jkl->ikl", numpy.kron(h, h), rows)).all(), "hadamard: shapes and values")
    for backend in ("opencl", "vulkan"):
        result = run("run", add, "--in", "c00=a.npy", "--in", "c01=b.npy", "--out", "c02=c.npy", "--lanes", 1_000_000, "--backend", backend)
        if result.status == 3:
            continue  # no such device here
        expect(result, 0, what=f"1 M elements on {backend}")
        check((numpy.load("c.npy") == a + b).all(), f"1 M elements on {backend}")
    # mistakes, and files that must not be touched
    numpy.save("f64.npy", numpy.ones(3))
    numpy.save("square.npy", numpy.ones((2, 2), "<f4"))
    write("c.npy", "before")
    for status, pattern, arguments in (
            (2, r"add.circuit: error\[P01\]: unknown parameter: 'c07' is no class of the circuit \(it names c00, c01, c02\)", ("--set", "c7=1")),
            (2, r"error\[P01\]: unknown parameter: 'x' is no class", ("--set", "x=1")),
            (2, r"error\[P03\]: f64.npy: dtype is '<f8', expected '<f4' for f32", ("--in", "c00=f64.npy")),
            (2, r"error\[P04\]: array 'c01': its shape is not that of 'c00'", ("--in", "c00=square.npy", "--set", "c01=1,2,3")),
            (2, r"error\[P04\]: class c00: its input has 3 elements, the run 2", ("--set", "c00=1,2,3", "--lanes", "2")),
            (2, r"error\[P04\]: class c00: its input has 3 elements, the run 0", ("--set", "c00=1,2,3", "--lanes", "0")),
            (2, r"error\[P04\]: array 'c02': its shape has 4 elements, the run 3", ("--set", "c00=1,2,3", "--shape", "c02=f32[2,2]")),
            (2, r"error\[P06\]", ("--in", "c00=nothere.npy")),
            (2, r"error\[P07\]: the number of elements is unknown", ()),
            (2, r"--out c01: the parameter is an input", ("--set", "c00=1", "--out", "c01=c.npy")),
            (2, r"--grid is not for circuits", ("--set", "c00=1", "--grid", "1")),
            (3, r"error\[X03\].*abacus", ("--set", "c00=1", "--backend", "abacus"))):
        expect(run("run", add, *arguments, *(() if "--out" in arguments else ("--out", "c02=c.npy"))), status, pattern, out="", what=f"run add.circuit {arguments}")
    check(open("c.npy").read() == "before", "an output file was touched after a failure")
    expect(run("run", write("bad.circuit", "merge@c00 . c01")), 1, r"bad.circuit:1:\d+: error", what="a bad circuit")
    expect(run("run", program("axpy"), "--canonicalise"), 2, r"--canonicalise is for circuits", what="an option of circuits")
    expect(run("run", add, "-e", "mark@c00"), 2, r"expects one PROGRAM or -e CIRCUIT", what="two circuits")
    document = json.loads(run("run", add, "--set", "c00=1,2", "--json").out)
    check(document["outputs"] == [{"name": "c02", "type": "f32", "shape": [2], "values": [1.0, 2.0]}], f"--json: {document}")


def optimisation():
    """opt: text and container, statistics, names of passes."""
    path = write("opt.atlas", ".atlas 1\n.program p\n.param r1 x buffer u32 inout [4]\n    mov_imm.u32 r5, 7\n    mov.u32 r6, r5\n    stg.u32 [buf(r1)], r5\n")
    short = ".atlas 1\n.program p\n.param r1 x buffer u32 inout [4]\n    mov_imm.u32 r5, 7\n    stg.u32 [buf(r1) + 0], r5\n"
    text = run("opt", path)
    expect(text, 0, what="opt")
    again = write("again.atlas", text.out)
    check(text.out == run("disasm", write("short.atlas", short)).out and run("opt", again).out == text.out, f"opt: {text.out}")
    expect(run("opt", path, "-o", "opt.atlasb", "-g"), 0, out="", what="opt to a container")
    check(run("disasm", "opt.atlasb").out == text.out, "opt to a container: another program")
    expect(run("opt", path, "-o", "opt.txt"), 0, out="", what="opt to a text")
    check(open("opt.txt").read() == text.out, "opt to a text: another text")
    expect(run("opt", path, "--passes", "peephole"), 0, out=run("disasm", path).out, what="opt with one pass")
    expect(run("opt", path, "--passes", "dead,peephole", "--stats"), 0, r"dead +[12] .*\n2 instructions, before 3; whole-array 0, before 0; rounds", out=text.out, what="opt --stats")
    counted = json.loads(run("opt", path, "--json").out)["outputs"][0]
    check(counted["instructions_before"] == 3 and counted["instructions_after"] == 2 and counted["text"] == text.out
          and {p["name"]: p["changes"] for p in counted["passes"]}["dead"] == 1, f"opt --json: {counted}")
    check("text" not in json.loads(run("opt", path, "--json", "-o", "opt.txt").out)["outputs"][0], "opt --json -o: the text twice")
    names = [line.split()[0] for line in run("opt", "--list").out.splitlines()]
    check("dead" in names and names == [one["name"] for one in json.loads(run("opt", "--list", "--json").out)["outputs"]], f"opt --list: {names}")
    for arguments, pattern in ((["--passes", "peep"], r"--passes: 'peep' is no pass of the optimiser: expected .*dead.* or all"), (["--passes", "dead,"], r"'' is no pass"),
                               (["--rounds", "0"], r"--rounds expects 1 or more, got 0"), (["--list"], r"--list expects no argument")):
        expect(run("opt", path, *arguments), 2, pattern, what=f"opt {arguments}")
    expect(run("opt", write("open.atlas", ".atlas 1\n.program p\n    add.u32 r3, r1, r2\n")), 1, r"V01", what="opt of a program that does not verify")


GRAPH = """.graph 1
.name net
.extent n
.input x f32 [n, 6]
.constant w f32 [6, 4]
.constant g f32 [4] "g.npy"
.program twice "twice.atlas"
h = gemm a=x, b=w
r = parallel_map relu, in=h
t f32 [n, 4] = @twice n=n * 4, x=r
y = layer_norm input=t, gamma=g, beta=g, eps=0.00001
.output y
"""
TWICE = """.atlas 1
.program twice
.param x buffer f32 in [n]
.param y buffer f32 out [n]
.param n u64
.lanes n
.reg u f32
    ldg u, [x[global]]
    add u, u, u
    stg [y[global]], u
"""


def graphs():
    """Array graphs: run against NumPy, bench, diff, explain, emit."""
    net = write("net.graph", GRAPH)
    write("twice.atlas", TWICE)
    random = numpy.random.default_rng(1)
    x, w, g = (random.standard_normal(shape).astype(numpy.float32) for shape in ((5, 6), (6, 4), (4,)))
    numpy.save("x.npy", x)
    numpy.save("g.npy", g)
    numpy.savez("w.npz", w=w, more=x)
    numpy.savez_compressed("packed.npz", w=w)
    t = 2 * numpy.maximum(x.astype(float) @ w, 0)
    y = (t - t.mean(1, keepdims=True)) / numpy.sqrt(t.var(1, keepdims=True) + 1e-5) * g + g
    for weights in ("w.npz", "packed.npz"):
        expect(run("run", net, "--in", "x=x.npy", "--weights", weights, "--out", "y=y.npy"), 0, what=f"run net.graph with {weights}")
        check(numpy.abs(numpy.load("y.npy") - y).max() < 1e-5, f"run net.graph with {weights}: {numpy.load('y.npy')}, expected {y}")
    # stored members of a .npz take no memory beside the buffers; compressed ones do
    big = write("big.graph", ".graph 1\n.input x f32 [4]\n.constant c f32 [1000000] \"big.npz:c\"\n.view p = c + 5 f32 [4]\ny = parallel_map_binary add, a=x, b=p\n.output y\n")
    for save, status in ((numpy.savez, 0), (numpy.savez_compressed, 1)):
        save("big.npz", c=numpy.arange(1000000, dtype=numpy.float32))
        expect(run("run", big, "--set", "x=1,2,3,4", "--max-memory", "6M"), status, None if not status else r"error\[X01\]",
               out="y f32[4] = 6.0 8.0 10.0 12.0\n" if not status else "", what=f"a constant of 4 MB in 6 MB, {save.__name__}")
    numpy.savez("big.npz", c=numpy.arange(1000000, dtype=numpy.float32))
    data = bytearray(open("big.npz", "rb").read())
    data[2000000] ^= 1
    write("big.npz", bytes(data))
    expect(run("run", big, "--set", "x=1,2,3,4"), 2, r"the member's checksum is wrong", out="", what="a mapped member with another byte")
    write("big.npz", bytes(data[:3000000]))
    expect(run("run", big, "--set", "x=1,2,3,4"), 2, r"not a readable .npz file", out="", what="a .npz that ends early")
    expect(run("run", net, "--in", "x=x.npy", "--weights", "w.npz", "--profile", "graph.json"), 0, what="run net.graph --profile")
    details = {event["args"].get("detail", "") for event in json.load(open("graph.json"))["traceEvents"] if event["ph"] == "X" and event["cat"] in ("step", "program")}
    check(all(any(call in detail for detail in details) for call in ("gemm that makes h, line 8", "twice that makes t, line 10", "layer_norm that makes y, line 11")),
          f"calls in a profile of a graph: {details}")
    numpy.save("big.npy", numpy.zeros((100000, 6), numpy.float32))
    expect(run("run", net, "--in", "x=big.npy", "--weights", "w.npz", "--max-memory", "8M"), 1,
           r"the workspace of net: \d+ bytes asked for, .*\(max_memory\); most is needed at twice that makes t, line 10: \d+ bytes", what="a workspace beyond --max-memory")
    expect(run("verify", net), 0, out="net.graph: ok, 4 calls, 7 values\n", what="verify net.graph")
    document = json.loads(run("bench", net, "--set", "n=8", "--repeat", "3", "--json").out)["outputs"][0]
    check(document["launches"] == 3 and document["bytes"] == 4 * (8 * 6 + 6 * 4 + 4 + 8 * 4) and document["median_ms"] > 0, f"bench net.graph: {document}")
    expect(run("bench", net, "--set", "n=8", "--repeat", "3", "--passes", "none", "--weights", "w.npz"), 0, what="bench net.graph without passes")
    expect(run("diff", net, "--set", "n=8", "--passes"), 0, out="with all passes and with none: 1 outputs are equal bit for bit\n", what="diff net.graph --passes")
    expect(run("diff", net, "--set", "n=8", "--against", "cpu,expand"), 0, out="cpu 0 and cpu 0,expand: 1 outputs are equal bit for bit\n", what="diff net.graph")
    write("other.graph", GRAPH.replace("relu", "abs"))
    found = json.loads(run("diff", net, "--set", "n=8", "--against-program", "other.graph", "--json").out)
    check(found["exit"] == 1 and found["outputs"][0]["call"] == "parallel_map that makes r, line 9" and found["outputs"][0]["place"].startswith("r[")
          and found["outputs"][0]["elements"] == 32 and 0 < found["outputs"][0]["differing"] < 32, f"diff with another graph: {found}")
    expect(run("diff", net, "--set", "n=8", "--against-program", "other.graph"), 1, what="diff with another graph as text")
    write("state.atlas", ".atlas 1\n.program state\n.param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.param n u64\n.lanes n\n.reg a, b f32\n"
          "    ldg a, [x[global]]\n    ldg b, [class3 + 0]\n    stg [y[global]], b\n    stg [class3 + 0], a\n")
    write("state.graph", ".graph 1\n.program st \"state.atlas\"\n.input x f32 [1]\nq = @st x=x\n.output q\n")
    expect(run("diff", "state.graph", "--passes", "--set", "x=5"), 0, what="diff --passes of a graph that keeps class memory")
    expect(run("run", write("empty.graph", ".graph 1\n")), 0, out="", what="a graph without anything")
    wide = [write(f"{op}.graph", f".graph 1\n.input x i4096 [2, 3]\ny = parallel_map_binary {op}, a=x, b=x\n.output y\n") for op in ("add", "sub")]
    found = run("diff", wide[0], "--against-program", wide[1])
    check(found.status == 1 and re.search(r"\n  y\[0, 0\]: \d+.* on cpu 0 \(A\), 0 0x0+.* on cpu 0 \(B\); 6 of 6 elements differ\n", found.out), f"diff of 512 bytes: {found}")
    told = json.loads(run("plan", net, "--ranks", "3", "--set", "n=8", "--place", "x=split 0", "--rank", "2", "--json").out)["outputs"][0]
    check(told["ranks"] == 3 and told["wire_bytes"] == 480 and sum(c["ranks"] for c in told["costs"]) == 3
          and ".input x f32 [2, " in told["rank_graph"], f"plan net.graph --json: {told}")
    told = run("plan", net, "--ranks", "2", "--set", "n=8", "--link", "1K", "--rate", "10")
    expect(told, 0, what="plan net.graph")
    check(re.search(r"^net on 2 ranks: 0 bytes between ranks\n2 ranks, the first 0: \d+ bytes of memory", told.out)
          and "on the wire    0 s" in told.out and "calculating    " in told.out, f"plan net.graph: {told}")
    # an array of 2^61 bytes: on 4 ranks 6 times that go between them, on 5 ranks 8 times, which is 2^64
    write("large.graph", ".graph 1\n.input x f32 [4294967296, 134217728] partial sum\n.output y = x\n")
    told = run("plan", "large.graph", "--ranks", "4", "--fast")
    check(f": {2 * 3 * 2**61 + 4 * 3 * 32} bytes between ranks\n" in told.out, f"plan large.graph: {told}")
    told = run("plan", "large.graph", "--ranks", "5", "--fast")
    check(told.status == 2 and not told.out and "all_reduce: 2^64 bytes or more cannot be counted" in told.err, f"plan large.graph on 5 ranks: {told}")
    for error, *words in (("extents without a number", net), ("no such value", net, "--set", "n=8", "--place", "q=whole"),
                          ("expected whole, split AXIS", net, "--set", "n=8", "--place", "x=here"), ("'5000'", net, "--ranks", "5000"),
                          ("from 1 rank on", net, "--ranks", "0"), ("from 1 rank on", net, "--ranks", "2", "--rank", "2"),
                          ("x is split at 2 places", net, "--set", "n=8", "--ranks", "2", "--place", "x=split 0 at (1, 2)"),
                          ("plan is for array graphs", "state.atlas"), ("no such extent", net, "--set", "z=8")):
        told = run("plan", *words)
        check(told.status != 0 and error in told.err and not told.out, f"plan {words}: expected {error}, got {told}")
    for output, statement in (("f32 out [b, 12]", "softmax output=y, input=x, n=12, rows=b"), ("f32 out [b, 12]", "layer_norm output=y, input=x, gamma=g, beta=g, n=12, eps=0.1, rows=b"),
                              ("f32 out [b]", "reduce_axis output=y, input=x, n=12, outer=b"), ("f32 out [b, 12]", "scan output=y, input=x, n=12, outer=b"),
                              ("i64 out [b]", "arg_max output=y, input=x, n=12, outer=b"), ("f32 out [c]", "log_softmax output=y, input=x, n=12, rows=b\n    parallel_map y, y, neg, c")):
        write("rows.atlas", f".atlas 1\n.program rows\n.param x buffer f32 in [b, 12]\n.param g buffer f32 in [12]\n.param y buffer {output}\n.param b u64\n.param c u64\n    {statement}\n")
        given = ["--shape", "x=f32[3,12]", "--set", "x=" + ",".join(str(i * 7 % 11) for i in range(36)), "--set", "g=" + ",".join(map(str, range(12))), "--set", "c=36"]
        program_said, graph_said = run("run", "rows.atlas", *given), run("run", "rows.atlas", "--as-graph", *given)
        check(program_said.status == 0 and graph_said.status == 0 and graph_said.out == program_said.out, f"{statement}: {program_said}, as a graph {graph_said}")
        planned = run("plan", "rows.atlas", "--as-graph", "--ranks", "3", "--set", "b=3", "--set", "c=36", "--place", "x=split 0")
        check("[c]" in output or planned.out.startswith("rows on 3 ranks: 0 bytes between ranks\n"), f"{statement} on three ranks: {planned}")
    write("long.graph", ".graph 1\n.input x f32 [1000000001] split 0\ny = parallel_reduce sum, in=x\n.output y\n")
    process = subprocess.Popen([COMMAND, "plan", "long.graph", "--ranks", "4", "--rank", "3"], stdout=subprocess.DEVNULL)
    _, process.returncode, used = os.wait4(process.pid, 0)
    check(process.returncode == 0 and used.ru_maxrss < 600000, f"plan long.graph: status {process.returncode}, {used.ru_maxrss} KiB resident")
    told = run("explain", net, "--set", "n=8", "--print-after", "maps")
    expect(told, 0, r"^; net, after pass maps\n", what="explain net.graph")
    check("memory: 512 bytes between calls (" in told.out and "calls: 4, 4 after the passes" in told.out, f"explain net.graph: {told}")
    told = json.loads(run("explain", net, "--set", "n=8", "--passes", "none", "--json").out)["outputs"][0]
    check(told["workspace_bytes"] == told["unshared_bytes"] >= told["least_bytes"] > 0 and told["launches"] >= 4, f"explain net.graph --json: {told}")
    expect(run("explain", net, "--svg", "net.svg"), 0, what="explain --svg")
    drawing = xml.etree.ElementTree.parse("net.svg").getroot()
    texts = [e.text for e in drawing.iter("{http://www.w3.org/2000/svg}text")]
    check(any(t.startswith("h f32 [n, 4] = gemm") for t in texts) and "launch 1" in texts, f"explain --svg: {texts}")
    for target in ("c", "kir", "opencl"):
        text = run("emit", net, "--target", target)
        expect(text, 0, what=f"emit net.graph --target {target}")
        check(text.out.count("net, launch ") == 3 and "twice that makes t" in text.out, f"emit net.graph --target {target}: {text.out[:400]}")
    check(run("emit", net, "--target", "kir", "--launch", "2").out.count("net, launch ") == 1, "emit of one launch")
    expect(run("emit", net, "--target", "spirv", "--launch", "2", "-o", "net.spv"), 0, out="", what="emit of one launch to a binary")
    # a program as the graph that it is
    write("pools.atlas", ".atlas 1\n.program pools\n.param q pool 64\n pool.free q\n")
    write("steps.atlas", ".atlas 1\n.program steps\n.param x buffer f32 in [n]\n.param y buffer f32 out [n]\n.param scale f32\n.param n u64\n.scratch a f32 [n]\n.lanes n\n"
          ".reg sum, count, v f32\n    parallel_map.f32 a, x, abs, n\n    parallel_reduce.f32 sum, a, sum, n\n    cvt.f32.u64 count, n\n    div sum, sum, count\n"
          "    ldg v, [x[global]]\n    sub v, v, sum\n    mul v, v, scale\n    stg [y[global]], v\n")
    for extra in ([], ["--passes", "none"]):
        expect(run("run", "steps.atlas", "--as-graph", "--set", "x=1,2,3,6", "--set", "scale=2", *extra), 0, out="y f32[4] = -4.0 -2.0 0.0 6.0\n", what=f"run --as-graph {extra}")
    expect(run("diff", "steps.atlas", "--as-graph", "--set", "n=100", "--passes"), 0, what="diff --as-graph --passes")
    check("a f32 [n] = parallel_map.f32 in=x, op=abs, count=n" in run("explain", "steps.atlas", "--as-graph", "--passes", "none").out, "explain --as-graph")
    expect(run("emit", "steps.atlas", "--as-graph", "--target", "opencl", "--launch", "1"), 0, what="emit --as-graph")
    expect(run("build", "steps.atlas", "--as-graph", "--set", "n=8", "-o", "steps"), 0, what="build --as-graph")
    check("steps(" in open("steps.h").read(), "build --as-graph: no function")
    expect(run("bench", "steps.atlas", "--as-graph", "--set", "n=8", "--repeat", "3"), 0, what="bench --as-graph")
    for status, pattern, *arguments in (
            (2, r"--target spirv: the graph is \d launches: give --launch N", "emit", net, "--target", "spirv", "-o", "a.spv"),
            (2, r"--launch: the graph has \d, got 9", "emit", net, "--target", "kir", "--launch", "9"),
            (2, r"--launch expects 1 or more, got 0", "emit", net, "--target", "kir", "--launch", "0"),
            (2, r"--launch is for array graphs", "emit", program("axpy"), "--target", "kir", "--launch", "1"),
            (2, r"--as-graph is for array graphs", "explain", "V09", "--as-graph"),
            (1, r"pools: q is a pool, which a graph has none of", "run", "pools.atlas", "--as-graph"),
            (2, r"--lanes is for programs", "run", program("axpy"), "--as-graph", "--lanes", "3"),
            (2, r"--print-after expects one of none, copies, .*all for a graph, got 'x'", "explain", net, "--print-after", "x"),
            (2, r"--set m: the graph has no such extent", "explain", net, "--set", "m=3"),
            (2, r"--svg is for array graphs", "explain", "V09", "--svg", "x.svg"),
            (2, r"the pass 'maps' of graphs cannot come behind 'join'", "explain", net, "--passes", "join,maps"),
            (2, r"there is no pass 'map' of graphs", "emit", net, "--target", "kir", "--passes", "map"),
            (2, r"--lanes is for programs, 'net.graph' is an array graph", "bench", net, "--lanes", "3"),
            (2, r"--weights is for array graphs", "bench", program("axpy"), "--weights", "w.npz"),
            (2, r"--passes is for array graphs", "diff", program("axpy"), "--passes"),
            (2, r"--to is for programs, 'net.graph' is an array graph", "diff", net, "--to", "x"),
            (2, r"--passes compares runs of one graph on one device: it goes without --against", "diff", net, "--passes", "--against", "cpu"),
            (2, r"'.*axpy.atlas' is no array graph", "diff", net, "--against-program", program("axpy")),
            (2, r"array 'x': its second extent is 4, expected 6", "diff", net, "--shape", "x=f32[3,4]"),
            (2, r"'net.graph' is an array graph: run, verify, describe, explain, plan, emit, bench, diff and build", "asm", net)):
        expect(run(*arguments), status, pattern, out="", what=f"{arguments}")


# ---- describe: programs and graphs of every front end (documents against their schemas: tests/binding)

DESCRIBED = """.atlas 1
.program whole
.meta author "somebody"
.param x buffer f32 in [n, ceil(n / 4) + 1]
.param y buffer i8 out []
.param z buffer f64 inout
.param n u64
.param alpha f32 = -0.5
.param p pool 4096
.scratch s f32 [n]
.shared 64
.private 16
.block 8, 2, 1
.grid ceil(n / 16), 2
.entry main
helper:
    ret
main:
    call @helper
"""
DESCRIPTION = """program whole: 2 instructions
x                buffer f32 in [n, ceil(n / 4) + 1]
y                buffer i8 out []
z                buffer f64 inout
n                scalar u64
alpha            scalar f32 = -0.5
p                pool of 4096 bytes
.grid ceil(n / 16), 2
.block 8, 2, 1
.shared 64 bytes
.private 16 bytes
.entry main: instruction 1
.meta author: somebody
"""


def describes():
    text = write("whole.atlas", DESCRIBED)
    expect(run("describe", text), 0, out=DESCRIPTION, what="describe")
    expect(run("asm", text, "-o", "whole.atlasb"), 0, what="asm")
    expect(run("describe", "whole.atlasb"), 0, out=DESCRIPTION, what="describe of a container")
    document = json.loads(run("describe", text, "--json").out)
    said = document["outputs"][0]
    check(document["version"] == 1 and document["command"] == "describe" and said["kind"] == "program", f"describe --json: {document}")
    check(said["launch"] == {"lanes": [], "grid": ["ceil(n / 16)", "2"], "block": [8, 2, 1], "shared_bytes": 64, "private_bytes": 16}, f"{said['launch']}")
    check(said["entry"] == {"instruction": 1, "label": "main"} and said["meta"] == {"author": "somebody"}, f"{said}")
    check(said["labels"] == [{"name": "helper", "instruction": 0, "called": True}, {"name": "main", "instruction": 1, "called": False}], f"{said['labels']}")
    check([p["name"] for p in said["parameters"]] == ["x", "y", "z", "n", "alpha", "p"], f"{said['parameters']}")
    check([p.get("shape", 0) for p in said["parameters"]] == [["n", "ceil(n / 4) + 1"], [], None, 0, 0, 0], f"{said['parameters']}")
    check(said["parameters"][4]["default"] == "-0.5" and said["parameters"][5]["bytes"] == 4096, f"{said['parameters']}")
    expect(run("describe", "--kernel", "atlas_add_f32"), 0, what="describe of a named kernel")
    graph = write("d.graph", """.graph 1
.name net
.extent n
.input x f32 [n, 4]
.constant w f32 [4, 2] "w.npy"
.constant b f32 [2]
y = gemm a=x, b=w, bias=b
.output y
""")
    expect(run("describe", graph), 0, what="describe of a graph", out="""graph net: 1 call
n                extent
x                input f32 [n, 4]
w                constant f32 [4, 2] of w.npy
b                constant f32 [2]
y                output f32 [n, 2]
""")
    said = json.loads(run("describe", graph, "--json").out)["outputs"][0]
    check(said == {"kind": "graph", "name": "net", "calls": 1, "symbols": ["n"], "inputs": [{"name": "x", "type": "f32", "shape": ["n", "4"]}],
                   "constants": [{"name": "w", "type": "f32", "shape": ["4", "2"], "file": "w.npy"}, {"name": "b", "type": "f32", "shape": ["2"], "file": None}],
                   "outputs": [{"name": "y", "type": "f32", "shape": ["n", "2"]}]}, f"describe d.graph --json: {said}")
    for status, pattern, *arguments in ((2, r"expects one PROGRAM, got 0", "describe"), (2, r"expects one PROGRAM, got 2", "describe", text, text),
                                        (2, r"nowhere.atlas", "describe", "nowhere.atlas"), (2, r"unknown option '--lanes'", "describe", text, "--lanes", "3"),
                                        (1, r"bad.atlas:3:\d+: error\[V", "describe", write("bad.atlas", ".atlas 1\n.program p\nadd.f32 r1, r2, r3\n"))):
        expect(run(*arguments), status, pattern, out="", what=f"{arguments}")


def main():
    folder = tempfile.mkdtemp(prefix="hologram-command-")
    os.chdir(folder)
    try:
        parts = (examples, formats, arrays, archives, stamps, mistakes, one_input, layouts, machine_readable, devices, operations, emission, optimisation, streaming, benches, tunes, settings, copied_tree, vectors, endless, races, profiles, differences, algebra, kernels, named_kernels, ptx, circuits, circuit_runs, graphs, describes)
        wanted = sys.argv[1:]
        check(all(name in [part.__name__ for part in parts] for name in wanted), f"no such part among {wanted}")
        for part in parts:
            if not wanted or part.__name__ in wanted:
                part()
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
