#!/usr/bin/python3
"""How the work of the native compiler grows with the accesses of a kernel that may fault: in proportion, for each kind of access.

    tests/growth/run.py                 every kind, small
    tests/growth/run.py --long          four times as large
    tests/growth/run.py --only gather,barrier
    tests/growth/run.py --level v4      code of another CPU level than v3, which this machine must have

Work is the memory that the process asks for (count.c, preloaded): the same in every run and on every machine of a level, and it goes with what LLVM
does. So the level does not depend on the machine, where it has v3. At v4 two kinds grow faster (LLVM 19: strided 1.58, counting 1.26). Of each kind kernels of three sizes are compiled; exponent = log(work ratio) / log(size ratio) of what the larger two take beyond the
smallest. Above EXPONENT it fails: the compiler then does again for each access what it did for those before it.
"""
import math
import os
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("HG_SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("HG_BUILD_DIR", os.path.join(SOURCE, "build/release"))
EXPONENT = 1.25
SIZES = (8, 24, 72)

NEXT = "    mad i, i, 1664525, 1013904223\n"
SUM = "    add s, s, v\n"
INDEX = NEXT + "    rem v, i, 1000\n"
SHARED = ".shared 4096\n.block 64\n"
# kind: directives, what is repeated
KINDS = {
    "gather": ("", INDEX + "    ldg v, [x[v]]\n" + SUM),
    "scatter": ("", INDEX + "    stg [x[v]], s\n" + SUM),
    "row": ("", NEXT + "    ldg v, [x[global]]\n" + SUM),
    "one": ("", NEXT + "    ldg v, [x + {k}*4]\n" + SUM),
    "strided": ("", NEXT + "    mul b, b, 3\n    ldg v, [x + b*8]\n" + SUM),
    "atomic": ("", INDEX + "    atom.add.u32 v, [x[v]], s\n" + SUM),
    "counting": ("", INDEX + "    atom.add.u32 t, [x[v]], s\n" + SUM),
    "division": ("", NEXT + "    add v, i, s\n    div v, 1000000, v\n" + SUM),
    "remainder": ("", NEXT + "    add v, i, s\n    rem v, 1000000, v\n" + SUM),
    "shared load": (SHARED, INDEX + "    lds.u32 v, [shared + v*4]\n" + SUM),
    "shared store": (SHARED, INDEX + "    sts.u32 [shared + v*4], s\n" + SUM),
    "barrier": (SHARED, "    sts.u32 [shared + lane*4], s\n    bar.sync 0\n    lds.u32 v, [shared + 4]\n    bar.sync 0\n" + SUM),
    "private load": (".private 64\n", NEXT + "    rem v, i, 17\n    ldp.u32 v, [private + v*4]\n" + SUM),
    "private store": (".private 64\n", NEXT + "    rem v, i, 17\n    stp.u32 [private + v*4], s\n" + SUM),
    "masked": ("", INDEX + "    bra.lt v, 500, @k{k}\n    ldg v, [x[v]]\nk{k}:\n" + SUM),
    "arithmetic": ("", NEXT + "    xor v, i, s\n" + SUM),
    "call": ("", NEXT + "    call @more\n"),
    "function": ("", NEXT + "    call @more{k}\n"),
}
# kind: functions behind the kernel, and what is repeated there
MORE = ":\n    rem v, i, 1000\n    ldg v, [x[v]]\n" + SUM + "    ret\n"
BEHIND = {"call": ("    exit\nmore" + MORE, ""), "function": ("    exit\n", "more{k}" + MORE)}


def text(kind, count):
    directives, body = KINDS[kind]
    head = (".atlas 1\n.program growth\n.param x buffer u32 inout [m]\n.param y buffer u32 out [n]\n.param m u64\n.param n u64\n" + directives
            + ".lanes n\n.reg i, v, s, t u32\n.reg b u64\n    cvt i, global\n    mov b, global\n    mov s, 0\n")
    once, each = BEHIND.get(kind, ("", ""))

    def repeat(part):
        return "".join(part.replace("{k}", str(k)) for k in range(count))
    return head + repeat(body) + "    stg [y[global]], s\n" + once + repeat(each)


def work(folder, level, kind, count):
    """Bytes, or the reason why there are none."""
    path, counted, profile = (os.path.join(folder, name) for name in ("p.atlas", "count", "profile"))
    with open(path, "w") as f:
        f.write(text(kind, count))
    open(counted, "w").close()
    open(profile, "w").close()
    environment = dict(os.environ, HOLOGRAM_JIT="on", HOLOGRAM_CPU_LEVEL=level, HOLOGRAM_CACHE_DIR="off", HOLOGRAM_NUM_THREADS="1", HOLOGRAM_WORK=counted,
                       LD_PRELOAD=os.path.join(BUILD, "tests/libcount_memory.so"))
    done = subprocess.run([os.path.join(BUILD, "hologram"), "run", path, "--backend", "cpu", "--set", "n=64", "--shape", "x=u32[1024]", "--out",
                           "y=raw:" + os.path.join(folder, "y"), "--profile", profile], env=environment, capture_output=True, timeout=300)
    with open(counted) as f:
        lines = f.read().split("\n")
    with open(profile) as f:
        native = '"native code"' in f.read()
    if not native or len(lines) < 2:
        return "status %d, %s%s" % (done.returncode, "" if native else "no native code: ", done.stderr.decode(errors="replace")[:200])
    return int(lines[0].split()[1])


def has_v3():
    with open("/proc/cpuinfo") as f:
        flags = next((line.split() for line in f if line.startswith("flags")), [])
    return {"avx2", "fma", "bmi2"} <= set(flags)


def main():
    arguments = sys.argv[1:]
    factor = 4 if "--long" in arguments else 1
    level = arguments[arguments.index("--level") + 1] if "--level" in arguments else "v3" if has_v3() else "baseline"
    kinds = arguments[arguments.index("--only") + 1].split(",") if "--only" in arguments else list(KINDS)
    if not os.path.exists(os.path.join(BUILD, "libhologram_jit.so")):
        print("skipped: no libhologram_jit.so")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            took = [work(folder, level, kind, factor * size) for size in SIZES]
            wrong = [t for t in took if isinstance(t, str)]
            if wrong:
                print("%-14s failed: %s" % (kind, wrong[0]))
                failed += 1
                continue
            small, large = (max(1, t - took[0]) for t in took[1:])
            exponent = math.log(large / small) / math.log((SIZES[2] - SIZES[0]) / (SIZES[1] - SIZES[0]))
            print("%-14s %4d: %8.1f MB, %4d: %8.1f MB, exponent %.2f%s"
                  % (kind, factor * SIZES[1], took[1] / 1e6, factor * SIZES[2], took[2] / 1e6, exponent, "" if exponent <= EXPONENT else " failed"))
            failed += exponent > EXPONENT
    print("%d passed, %d failed, 0 skipped" % (len(kinds) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
