#!/usr/bin/python3
"""`hologram build`: the C text compiles without a warning by gcc and clang, needs nothing else, and gives the bits and faults of `hologram run`.

    run.py            a slice
    run.py --long     every program of examples/programs that has C text, by both compilers

Needs HG_SOURCE_DIR and HG_BUILD_DIR. Last line: N passed, N failed, N skipped.
"""
import ctypes
import hashlib
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
import arrays  # noqa: E402
from checks import check, finish, skip  # noqa: E402

SOURCE, BUILD = os.environ["HG_SOURCE_DIR"], os.environ["HG_BUILD_DIR"]
COMMAND = os.path.join(BUILD, "hologram")
FLAGS = ["-std=gnu17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
COMPILERS = [c for c in ("gcc", "clang", "clang-14") if shutil.which(c)][:2]


class Fault(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("instruction", ctypes.c_uint32), ("operand", ctypes.c_uint32), ("lane", ctypes.c_uint64),
                ("message", ctypes.c_char * 160)]


class Launch(ctypes.Structure):
    _fields_ = [("lanes", ctypes.c_uint64), ("begin", ctypes.c_uint64), ("end", ctypes.c_uint64), ("grid", ctypes.c_uint32 * 3),
                ("block", ctypes.c_uint32 * 3), ("stop", ctypes.POINTER(ctypes.c_int))]


def run(*command, env=None):
    process = subprocess.run(command, capture_output=True, timeout=300, stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})
    return process.returncode, process.stdout.decode(), process.stderr.decode()


def example(name):
    return os.path.join(SOURCE, "examples", "programs", name + ".atlas")


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return name


def built(*programs, name):
    status, out, err = run(COMMAND, "build", *programs, "-o", name)
    check(status == 0 and out == "" and err == "", f"build {programs}: {status} {out}{err}")
    return status == 0


def compiled(name, compiler, *flags):
    library = os.path.abspath(f"{name}-{compiler}{''.join(flags)}.so")
    status, out, err = run(compiler, *FLAGS, *flags, "-o", library, name + ".c", "-lm")
    check(status == 0 and out + err == "", f"{compiler} {flags} {name}.c: {err[:2000]}")
    return ctypes.CDLL(library) if status == 0 else None


def levels(library, name):
    return [level for level in ("baseline", "neon", "v3", "v4") if library[name + "_use_level"](level.encode()) == 0]


def f32(*values):
    return bytearray(struct.pack(f"<{len(values)}f", *values))


def arguments(values):
    """bytearrays are buffers, numbers come with their C type."""
    result = []
    for value in values:
        if isinstance(value, bytearray):
            result += [ctypes.byref((ctypes.c_char * len(value)).from_buffer(value)), ctypes.c_size_t(len(value))] if value else [None, ctypes.c_size_t(0)]
        else:
            result.append(value)
    return result


def call(library, function, launch, *values):
    fault = Fault()
    code = library[function](ctypes.byref(launch) if launch else None, *arguments(values), ctypes.byref(fault))
    return code, fault


U64, F32 = ctypes.c_uint64, ctypes.c_float


def hologram(program, arrays, scalars):
    """The arrays after `hologram run`."""
    command = [COMMAND, "run", program, "--backend", "cpu"]
    for key, (value, is_in, is_out) in arrays.items():
        with open(key + ".bin", "wb") as file:
            file.write(value)
        if is_in:
            command += ["--in", f"{key}=raw:{key}.bin"]
        if is_out:
            command += ["--out", f"{key}=raw:{key}.out"]
    for key, value in scalars.items():
        command += ["--set", f"{key}={value}"]
    status, out, err = run(*command)
    check(status == 0, f"{command}: {err}")
    result = {}
    for key, (_, _, is_out) in arrays.items():
        if is_out and status == 0:
            with open(key + ".out", "rb") as file:
                result[key] = file.read()
    return result


def numbers(rng, n):
    return f32(*(rng.choice((rng.uniform(-4, 4), rng.uniform(0, 1e-38), float("inf"), -0.0, rng.uniform(-1e30, 1e30))) for _ in range(n)))


def lane_programs(rng):
    """One kernel: all levels, the launch that the program asks for, parts, and other flags of the compiler."""
    n = 1003
    x, y = numbers(rng, n), numbers(rng, n)
    expected = hologram(example("axpy"), {"x": (x, True, False), "y": (y, True, True)}, {"alpha": 0.3, "n": n})["y"]
    built(example("axpy"), name="axpy")
    cases = [(compiler, ("-O2",)) for compiler in COMPILERS] + [("gcc", ("-O3", "-march=native", "-ffp-contract=fast"))]
    for compiler, flags in cases:
        library = compiled("axpy", compiler, *flags)
        if not library:
            continue
        check(library.axpy_check() == 0, f"{compiler} {flags}: axpy_check")
        for level in levels(library, "axpy"):
            library.axpy_use_level(level.encode())
            for parts in (1, 3):
                out = bytearray(y)
                for i in range(parts):
                    launch = Launch(n, n * i // parts, n * (i + 1) // parts) if parts > 1 else None
                    code, fault = call(library, "axpy", launch, x, out, F32(0.3), U64(n))
                    check(code == 0, f"axpy: {code} {fault.message}")
                check(bytes(out) == expected, f"axpy, {compiler} {flags}, {level}, {parts} parts: other bits than hologram run")
            short = bytearray(y[:4 * 500 + 1])
            code, fault = call(library, "axpy", None, x, short, F32(1), U64(n))
            check((code, fault.code, fault.lane, fault.instruction) == (1, 1, 500, 3), f"axpy, short: {code} lane {fault.lane} instruction {fault.instruction}")
            check(fault.message == b"buffer access out of bounds: offset 2000 + size 4 > buffer size 2001", f"axpy, short: {fault.message}")
            code, fault = call(library, "axpy", None, x, bytearray(), F32(1), U64(n))
            check((code, fault.lane) == (3, 0), f"axpy, no y: {code} {fault.message}")
        check(library.axpy_use_level(b"v9") == 1, "axpy_use_level of no level")
        code, fault = call(library, "axpy", Launch(n, 5, 4), x, bytearray(y), F32(1), U64(n))
        check(code == -1 and b"begin" in fault.message, f"begin behind end: {code} {fault.message}")


MODES = r"""#include "axpy.h"
#include <immintrin.h>
#include <stdio.h>
#include <string.h>

/* The function in each mode of the calling thread: to nearest, down, up, to zero; FTZ and DAZ; all traps on; and flags set before. */
int main(void) {
    enum { N = 19, FLUSH = 0x8040, ROUNDING = 0x6000, MASKS = 0x1F80, CHOICES = 4 * 2 * 2 * 2 };
    static const unsigned rounding[] = {0, 0x2000, 0x4000, 0x6000};
    static float x[N], want[N], y[N];
    for (int m = 0; m < CHOICES; m++) {
        const unsigned mode = rounding[m & 3] | (m & 4 ? FLUSH : 0) | (m & 8 ? 0 : MASKS) | (m & 16 ? 0x11 : 0);
        for (int i = 0; i < N; i++) x[i] = (float)(i % 3 - 1) * (i % 2 ? 3e-39f : 1.1f), y[i] = i % 4 ? 1e-40f : 0.7f;
        x[5] = x[6] = __builtin_inff();
        y[5] = -x[5];
        _mm_setcsr(mode);
        const int problem = axpy_check(), fault = axpy(NULL, x, sizeof x, y, sizeof y, 0.3f, N, NULL);
        const unsigned after = _mm_getcsr();
        _mm_setcsr(0x1F80);
        if (problem || fault || after != mode) return printf("mode %04x: %d %d, left as %04x\n", mode, problem, fault, after), 1;
        if (m == 0) memcpy(want, y, sizeof y);
        if (memcmp(want, y, sizeof y) != 0) return printf("mode %04x: other bits\n", mode), 1;
    }
    return printf("%d modes\n", (int)CHOICES), 0;
}
"""


def check_modes():
    """Results do not depend on the mode of the calling thread, which finds it as it was."""
    if os.uname().machine != "x86_64":
        return
    write("modes.c", MODES)
    for compiler in COMPILERS:
        for flags in ("-O0", "-O3"):
            status, out, err = run(compiler, flags, "-o", "modes", "modes.c", "axpy.c", "-lm")
            check(status == 0, f"{compiler} {flags}: {err[:300]}")
            if status == 0:
                status, out, err = run("./modes")
                check(status == 0, f"modes, {compiler} {flags}: {out} {err[:300]}")


def contraction():
    """What a compiler does that cannot be switched off is found."""
    if "clang" in COMPILERS and "fma" in open("/proc/cpuinfo", encoding="utf-8").read():
        library = compiled("axpy", "clang", "-O2", "-ffp-contract=fast")
        check(library and library.axpy_check() == 1, "clang -ffp-contract=fast is not found")
    status, _, err = run("gcc", *FLAGS, "-ffast-math", "-o", "fast.so", "axpy.c")
    check(status != 0 and "promise every bit" in err, f"-ffast-math: {err[:300]}")
    check_modes()


STEPS = """.atlas 1
.program steps
.param r1 x buffer f32 inout [n]
.param r2 sum buffer f32 out [1]
.param r4 n u64
.lanes n
    parallel_map.f32 r1, r1, relu, r4
    parallel_reduce.f32 r10, r1, sum, r4
    setne.u64 p0, r255, 0
    bra.p0 @done
    stg.f32 [buf(r2)], r10
done:
    exit
"""


def several_kernels(rng, long):
    """Maps and reductions, kernels one after another, values that live between them, in a file with several programs."""
    programs = [write("steps.atlas", STEPS), example("center"), example("kmeans"), example("block_reverse")]
    built(*programs, name="set")
    for compiler in COMPILERS if long else COMPILERS[-1:]:
        library = compiled("set", compiler, "-O1")
        for n in (1, 127, 4096, 4097, 40961, 300000) if library else ():
            x = f32(*(rng.uniform(-1, 1) for _ in range(n)))
            y = bytearray(len(x))
            expected = hologram(example("center"), {"x": (x, True, False), "y": (y, False, True)}, {"n": n})["y"]
            for level in levels(library, "set"):
                library.set_use_level(level.encode())
                code, fault = call(library, "set_center", None, x, y, U64(n))
                check(code == 0 and bytes(y) == expected, f"center of {n}, {compiler}, {level}: {code} {fault.message}")
            out, total = bytearray(x), bytearray(4)
            expected = hologram("steps.atlas", {"x": (x, True, True), "sum": (total, False, True)}, {"n": n})
            code, fault = call(library, "set_steps", None, out, total, U64(n))
            check(code == 0 and bytes(out) == expected["x"] and bytes(total) == expected["sum"], f"steps of {n}, {compiler}: {code} {fault.message}")
        if library:
            x = bytearray(struct.pack("<2000i", *range(2000)))
            expected = hologram(example("block_reverse"), {"x": (x, True, True)}, {"n": 2000})["x"]
            for level in levels(library, "set"):
                library.set_use_level(level.encode())
                for parts in 1, 2:
                    out = bytearray(x)
                    for begin in range(0, 2000, 2000 // parts):
                        code, fault = call(library, "set_block_reverse", Launch(2000, begin, begin + 2000 // parts), out, U64(2000))
                        check(code == 0, f"block_reverse: {code} {fault.message}")
                    check(bytes(out) == expected, f"block_reverse, {compiler}, {level}, {parts} parts")
            code, fault = call(library, "set_block_reverse", Launch(2000, 4, 2000), bytearray(x), U64(2000))
            check(code == -1 and b"blocks" in fault.message, f"a part that is no block: {code} {fault.message}")
            code, fault = call(library, "set_center", None, bytearray(4), bytearray(40), U64(10))
            check((code, fault.lane) == (1, 2**64 - 1), f"center of too little: {code} {fault.lane} {fault.message}")
            code, fault = call(library, "set_center", Launch(10, 0, 5), bytearray(40), bytearray(40), U64(10))
            check(code == -1 and b"several kernels" in fault.message, f"a part of center: {code} {fault.message}")


PLACES = """.atlas 1
.program places
.param y buffer u32 inout [n]
.param n u64
.lanes n
.reg a, b, c u32
.reg at u64
    mov a, lane_idx_x
    mad a, lane_idx_y, 100, a
    mad a, block_idx_x, 10000, a
    mad a, block_idx_y, 1000000, a
    mov at, global
    stg [y[at]], a
"""


def places():
    """Where lanes are in their blocks: whole blocks with long rows have a text of their own; short rows, and parts that are not of blocks, another."""
    if not built(write("places.atlas", PLACES), name="places"):
        return
    library = compiled("places", COMPILERS[0], "-O1")
    for level in levels(library, "places") if library else []:
        check(library["places_use_level"](level.encode()) == 0, level)
        for bx, by, bz in ((64, 2, 1), (16, 1, 2), (20, 3, 1), (4, 4, 1), (1, 5, 1)):
            block, lanes = bx * by * bz, 6 * bx * by * bz
            expected = [n % bx + n // bx % by * 100 + n // block % 3 * 10000 + n // block // 3 * 1000000 for n in range(lanes)]
            for begin, end in ((0, lanes), (block, 3 * block), (1, lanes - 1), (block, lanes - 3)):
                out, launch = bytearray(4 * lanes), Launch(lanes, begin, end, (3, 2, 1), (bx, by, bz))
                code, _ = call(library, "places", launch, out, U64(lanes))
                got = list(struct.unpack(f"<{lanes}I", out))
                check(code == 0 and got == [0] * begin + expected[begin:end] + [0] * (lanes - end), f"places {level} {bx} {by} {bz} {begin} {end}: {code}")


def library_and_example():
    """--library, and the application of examples/embed on a file."""
    status, out, err = run(COMMAND, "build", example("collatz"), "-o", "collatz", "--library", env={"CC": "gcc -O1 -w"})
    check(status == 0 and os.path.exists("collatz.so") and os.path.exists("collatz.h") and not os.path.exists("collatz.c"), f"--library: {out}{err}")
    library = ctypes.CDLL(os.path.abspath("collatz.so"))
    start, steps = bytearray(struct.pack("<3Q", 1, 27, 97)), bytearray(12)
    code, fault = call(library, "collatz", None, start, steps, U64(3))
    check(code == 0 and struct.unpack("<3I", steps) == (0, 111, 118), f"collatz: {code} {fault.message} {struct.unpack('<3I', steps)}")
    status, _, err = run(COMMAND, "build", example("collatz"), "-o", "none", "--library", env={"CC": "false"})
    check(status == 1 and "X05" in err and "'false'" in err and not os.path.exists("none.so") and not os.path.exists("none.h"), f"no compiler: {err}")
    shutil.copytree(os.path.join(SOURCE, "examples"), "examples")
    status, _, err = run("make", "-C", "examples/embed", f"HOLOGRAM={COMMAND}", "CFLAGS=-O1 -Werror")
    check(status == 0, f"examples/embed: {err}")
    data = os.path.join(SOURCE, "examples", "digits", "data", "images.npy")
    with open(data, "rb") as file:
        whole = file.read()
    digests = [hashlib.sha256(whole[at:at + 64].ljust(64, b"\0")).hexdigest() for at in range(0, len(whole), 64)]
    for threads in "1", "3":
        status, out, err = run("examples/embed/digests", data, threads)
        check(status == 0 and out.split() == digests, f"digests, {threads} threads: {err}")


FAULT_HEAD = """.param x buffer u32 in [n]
.param y buffer u32 inout [n]
.param n u64
.lanes n
.reg a, v u32
.reg c, e u64
.reg d, g u8
.reg i i128
    ldg a, [x[global]]
    mov v, a
    cvt.u64.u32 c, a
    cvt.u8.u32 d, a
"""
# Directives and instructions; the last lane but one has 200 in all registers, the others 1.
FAULTS = [("", "ldg v, [x + c*4]"), ("", "stg [y + c*4 - 4], v"), ("", "ldg v, [x - 2]"), ("", "atom.add.u32 v, [y + c*4], a"),
          (".private 64", "ldp.u32 v, [private + a*4]"), (".private 64", "stp.u32 [private + a*4 + 4], v"), (".private 64", "ldp.u32 v, [private + 64]"),
          (".private 1024", "ldp.u32 v, [private + a*4 + 1]"), (".shared 64", "lds.u32 v, [shared + a*4]"), (".shared 64", "sts.u32 [shared + a*4], v"),
          ("", "sub a, a, 200\n    div v, v, a"), ("", "mult.inverse a, a, 64"), ("", "mirror g, d"), ("", "nbr.count a, d"), ("", "nbr.get g, d, 9"),
          ("", "bound.map c, d, v, v"), ("", "bound.map c, 5, v, 3"), ("", "unity.test p0, d"), ("", "orbit.representative a, a, 96")]


def faults():
    """Code, words, lane, operand and instruction of a fault are those of `hologram run`; and a turn whose lanes have all faulted ends."""
    n, files, expected = 150, [], []
    values = [1] * n
    values[-2] = 200
    x = struct.pack(f"<{n}I", *values)
    with open("x.bin", "wb") as file:
        file.write(x)
    for number, (directive, body) in enumerate(FAULTS):
        shared = ".block 50\n" if "shared" in directive else ""
        text = f".atlas 1\n.program case_{number}\n{directive}\n{shared}{FAULT_HEAD}    {body}\n    stg [y[global]], v\n"
        files.append(write(f"case_{number}.atlas", text))
        _, out, _ = run(COMMAND, "run", files[-1], "--in", "x=raw:x.bin", "--set", f"n={n}", "--json", env={"HOLOGRAM_JIT": "off"})
        expected.append((json.loads(out)["diagnostics"] or [{"code": None, "message": out}])[0])
        check(str(expected[-1]["code"]).startswith("F"), f"{body}: no fault: {expected[-1]}")
    write("spin.atlas", ".atlas 1\n.program spin\n.param w buffer u8 in\n.param y buffer u32 inout [n]\n.param n u64\n.param m u64\n.lanes n\n"
          ".reg k u64\n.reg b u8\n.reg a u32\n    mov a, 0\n    mov k, 0\nagain:\n    ldg.u8 b, [w + global]\n    add k, k, 1\n    add a, a, 3\n"
          "    bra.ltu k, m, @again\n    stg [y[global]], a\n")
    if not built(*files, "spin.atlas", name="faulty"):
        return
    library = compiled("faulty", COMPILERS[0], "-O1")
    for level in levels(library, "faulty") if library else []:
        library.faulty_use_level(level.encode())
        for number, (_, body) in enumerate(FAULTS):
            code, fault = call(library, f"faulty_case_{number}", None, bytearray(x), bytearray(4 * n), U64(n))
            found = {"code": f"F{code:02}", "message": "Execution failed: " + fault.message.decode(), "lane": fault.lane, "operand": fault.operand,
                     "instruction": fault.instruction}
            good = all(expected[number][key] == value for key, value in found.items())
            check(good, f"{body}, {level}: {found}, expected {expected[number]}")
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os._exit(call(library, "faulty_spin", None, bytearray(0), bytearray(4 * 257), U64(257), U64(2**60))[0])
        check(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3, f"{level}: a loop whose lanes have all faulted goes on")


def names():
    """Parameters under names that C, a header or another parameter has already."""
    taken = ["int", "NULL", "uint64_t", "y", "y_bytes", "y_bytes_", "launch", "main", "NAN", "INT_MAX", "fault", "errno",
             "memcpy", "HUGE_VALF", "_Bool", "constexpr", "bitand"]
    lines = [f".param {name} buffer u32 out [n]" for name in taken]
    stores = [f"    stg.u32 [{name}[global]], {i}" for i, name in enumerate(taken)]
    write("names.atlas", "\n".join([".atlas 1", ".program names", *lines, ".param n u64", ".lanes n", *stores, ""]))
    if built("names.atlas", name="names"):
        library = compiled("names", COMPILERS[0], "-O1")
        arrays = [bytearray(12) for _ in taken]
        code, fault = call(library, "names", None, *arrays, U64(3))
        found = [struct.unpack("<3I", a) for a in arrays]
        check(code == 0 and found == [(i,) * 3 for i in range(len(taken))], f"names: {code} {fault.message} {found}")
        status, _, err = run("g++", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", "-include", "names.h", "/dev/null")
        check(status == 0, f"names.h in C++: {err[:2000]}")
    write("while.atlas", ".atlas 1\n.program while\n    exit\n")
    status, out, err = run(COMMAND, "build", "while.atlas", "-o", "while")
    check(status == 2 and "'while' is no name for a function in C" in out + err and not os.path.exists("while.c"), f"while: {status} {out}{err}")
    if built("while.atlas", name="set"):
        compiled("set", COMPILERS[0])
    for name in ("exp", "log10f", "select", "div"):
        write(name + ".atlas", f".atlas 1\n.program {name}\n    exit\n")
        status, out, err = run(COMMAND, "build", name + ".atlas", "-o", name)
        check(status == 2 and f"'{name}' is no name for a function in C" in out + err, f"{name}: {status} {out}{err}")
    if built("exp.atlas", "while.atlas", name="k0"):
        compiled("k0", COMPILERS[0])


def many():
    """More parameters than a word has bits: memory by its number, which the program computes, is none of the pools."""
    lines = [f".param a{i} buffer u64 inout [1]" for i in range(1, 70)]
    code = ["ldg z, [a1[0]]", "add h, a64, z", "mov v, 7", "stg [buf(h) + 0], v"]
    write("many.atlas", "\n".join([".atlas 1", ".program many", ".param a0 pool 64", *lines, ".lanes 1", ".reg h, z, v u64", *("    " + c for c in code), ""]))
    if built("many.atlas", name="many"):
        library = compiled("many", COMPILERS[0], "-O1")
        values = [bytearray(64), *(bytearray(8) for _ in lines)]
        code, fault = call(library, "many", None, *values)
        check(code == 0 and [i for i, v in enumerate(values) if v[0]] == [64], f"many: {code} {fault.message}")


def mistakes():
    def expect(what, wanted, *arguments):
        status, out, err = run(COMMAND, "build", *arguments)
        check(status == wanted and what in out + err, f"build {arguments}: {status} {out}{err}")

    axpy = example("axpy")
    expect("expects at least one PROGRAM", 2, "-o", "x")
    expect("expects -o NAME", 2, axpy)
    expect("'1st' is no name in C", 2, axpy, "-o", "1st")
    expect("'axpy.c' is no name in C", 2, axpy, "-o", "axpy.c")
    expect("what begins with hgd, hgk, hgs and hgv is the C text's own", 2, axpy, "-o", "hgv")
    expect("two programs called 'axpy'", 2, axpy, axpy, "-o", "twice")
    expect("X02", 1, axpy, "-o", "/nowhere/axpy")
    expect("X02", 1, axpy, "-o", "/proc/axpy")
    expect("P06", 2, "nothing.atlas", "-o", "x")
    write("check.atlas", ".atlas 1\n.program check\n    exit\n")
    expect("x_check is another function", 2, "check.atlas", "-o", "x")
    write("classes.atlas", ".atlas 1\n.program classes\n    ldg.f32 r1, [class5]\n    stg.f32 [class5 + 4], r1\n    exit\n")
    expect("classes: instruction 0 (ldg.f32 r1, [class5 + 0]): class memory is a context's", 1, "classes.atlas", "-o", "x")
    write("handle.atlas", ".atlas 1\n.program handle\n    ldg.f32 r1, [buf7]\n    stg.f32 [buf7], r1\n    exit\n")
    expect("names the memory 7 by number", 1, "handle.atlas", "-o", "x")
    for name in "x", "1st", "twice":
        check(not os.path.exists(name + ".c") and not os.path.exists(name + ".h"), f"{name}.c was written")
    status, out, _ = run(COMMAND, "build", axpy, "-o", "told", "--json")
    check(status == 0 and '"told.c"' in out and '"told.h"' in out, f"--json: {out}")


KEYWORDS = """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await
co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do double dynamic_cast
else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator
or or_eq private protected public register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast
struct switch template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void
volatile wchar_t while xor xor_eq _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local
__kernel __global __local __constant __global__ __shared__ __device__ kernel device thread threadgroup constant half float4 uint main
import module final override""".split()
# names that the texts of `hologram build` have themselves had trouble with, and their neighbours
OWN = """built BUILT built_at built_end built_ Built BUILT_H builtin x_built launch fault run level block env asked asked_block work
work_bytes spans shape bytes lanes memories inputs slots arrays to n m0 m1 c0 l0 end is memcpy printf NULL hgv_memory hgs hgd_words hgk v_x v_n x_bytes n_ INT64_C
words words_end words_run words_launch words_check words_fault words_x words_ wordsx WORDS WORDS_H WORDS_X""".split()


def header_words():
    """Macros without arguments of the headers that the texts include."""
    text = "".join(f"#include <{name}>\n" for name in ("stdlib.h", "stdio.h", "string.h", "math.h", "stdint.h", "stddef.h", "stdbool.h"))
    write("headers.c", text)
    status, out, _ = run("gcc", "-std=gnu17", "-dM", "-E", "headers.c")
    return re.findall(r"^#define ([A-Za-z]\w*) ", out, re.M) if status == 0 else []


def parameter_program(words):
    """All words as parameters: arrays, numbers, wide numbers, tables; every one is used."""
    kinds = (".param {0} buffer u32 in [n_lanes]", ".param {0} u32", ".param {0} u128", ".data {0} u32 [2] 5, 7", ".scratch {0} u32 [n_lanes]",
             ".param {0} u64")
    uses = ("    ldg.u32 v, [{0}[global]]\n", "    add.u32 v, {0}, {0}\n", "    add.u128 w, {0}, {0}\n", "    ldg.u32 v, [{0}[1]]\n",
            "    stg.u32 [{0}[global]], v\n", "    add.u64 i, {0}, {0}\n")
    lines, code = [".atlas 1", ".program words", ".param y_out buffer u32 out [n_lanes]", ".param n_lanes u64", ".lanes n_lanes"], ""
    for number, word in enumerate(words):
        lines.append(kinds[number % len(kinds)].format(word))
        code += uses[number % len(uses)].format(word)
    lines += [".reg v u32", ".reg w u128", ".reg i u64", "    mov v, 1"]
    return "\n".join(lines) + "\n" + code + "    stg.u32 [y_out[global]], v\n"


def accepted(words):
    """Those that a program's text takes as names of parameters: registers, types and the like are none."""
    good = []
    for word in words:
        write("one.atlas", f".atlas 1\n.program one\n.param {word} u32\n.reg v u32\n    add.u32 v, {word}, 1\n")
        if run(COMMAND, "verify", "one.atlas")[0] == 0:
            good.append(word)
    return good


def parameter_words(long):
    """Whatever a parameter is called, the text compiles, and its header as C++ too."""
    built(example("axpy"), name="words")
    with open("words.c", encoding="utf-8") as c, open("words.h", encoding="utf-8") as h:
        functions = c.read().split("/* ==== functions ==== */")[1]
        text = set(re.findall(r"\b[A-Za-z_]\w*", re.sub(r'"[^"]*"|/\*.*?\*/', "", functions + h.read(), flags=re.S)))
    words = sorted({w for w in (set(KEYWORDS) | set(OWN) | text | set(header_words())) if re.fullmatch(r"[A-Za-z_]\w{0,60}", w)})
    words = [w for w in words if w not in ("y_out", "n_lanes", "v", "w", "i", "shared", "private")] # the program's own; places of memory
    most = 120
    for turn in range(4 if long else 1): # each word as another kind of parameter
        random.Random(turn).shuffle(words)
        for start in range(0, len(words) if long else 2 * most, most):
            some = words[start:start + most]
            write("words.atlas", parameter_program(some))
            status, _, err = run(COMMAND, "build", "words.atlas", "-o", "words")
            if status: # a word that is no name of a parameter in a text either
                some = accepted(some)
                write("words.atlas", parameter_program(some))
                if not built("words.atlas", name="words"):
                    continue
            for compiler in COMPILERS:
                status, out, err = run(compiler, "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "words.c")
                check(status == 0 and out + err == "", f"{compiler}, parameters {some}: {err[:1500]}")
            write("words.cpp", '#include "words.h"\n')
            status, _, err = run("g++", "-std=c++20", "-fsyntax-only", "words.cpp")
            check(status == 0, f"C++, parameters {some}: {err[:1500]}")
    return len(words) if long else 2 * most


def everything():
    """All examples that have C text, by both compilers, without a warning."""
    for path in sorted(os.listdir(os.path.join(SOURCE, "examples", "programs"))):
        name, kind = os.path.splitext(path)
        if kind != ".atlas":
            continue
        status, _, err = run(COMMAND, "build", example(name), "-o", name)
        if status:
            skip(err.split("\n")[0])
            continue
        for compiler in COMPILERS:
            library = compiled(name, compiler, "-O3")
            check(library and library[name + "_check"]() == 0, f"{name}, {compiler}")


def main():
    rng, long = random.Random(12), "--long" in sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        names()
        many()
        print(f"{parameter_words(long)} words as names of parameters")
        mistakes()
        lane_programs(rng)
        contraction()
        faults()
        several_kernels(rng, long)
        places()
        library_and_example()
        arrays.whole_arrays(sys.modules[__name__], rng, long)
        if long:
            everything()
        os.chdir("/")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
