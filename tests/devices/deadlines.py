#!/usr/bin/python3
"""Launches that would take for ever end when their time is over, on a device that never ran them before: lanes without end, loops without
end and with 2^40 rounds, atomics of many lanes on one word, blocks that meet at barriers.

    [on.sh DEVICE] deadlines.py HOLOGRAM BACKEND

A launch may take its timeout, one window and what the driver's compiler is announced to have taken (the profile says). SLACK is for
a machine that does other things too; without deadlines these launches take more than it.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

TIMEOUT, WINDOW, SLACK = 0.3, 0.25, 3.0
OPENING = 10.0  # a device that is opened for the first time compiles the kernels of its probe
HEAD = ".atlas 1\n.program p\n.param r1 x buffer u32 inout [4]\n    mov_imm.u32 r12, 1\n    mov_imm.u64 r13, 1\n"
LANES = "1099511627775"
FAMILIES = {
    "lanes without end": ("    atom.add.u32 r11, [buf(r1)], r12\n", ["--lanes", LANES]),
    "one endless loop": ("again:\n    bra @again\n", []),
    "a loop of 2^40 rounds": ("    mov_imm.u64 r3, 0\n    mov_imm.u64 r4, 1099511627776\nagain:\n    add.u64 r3, r3, r13\n"
                              "    stg.u32 [buf(r1)], r12\n    setltu.u64 p1, r3, r4\n    bra.p1 @again\n", []),
    "atomics on one word": ("again:\n    atom.add.u32 r11, [buf(r1)], r12\n    bra @again\n", ["--lanes", "1000000"]),
    "blocks with barriers": ("    mov_imm.u32 r3, 0\n    mov_imm.u32 r4, 8\nagain:\n    atom.add.u32 r11, [buf(r1)], r12\n    bar.sync 0\n"
                             "    add.u32 r3, r3, r12\n    setltu.u32 p1, r3, r4\n    bra.p1 @again\n", ["--block", "64", "--lanes", LANES]),
    "an endless loop of barriers": ("again:\n    atom.add.u32 r11, [buf(r1)], r12\n    bar.sync 0\n    bra @again\n",
                                    ["--block", "64", "--lanes", "100000"]),
    "lanes that begin late": ("    mov_imm.u64 r4, 4194304\n    setltu.u64 p1, r255, r4\n    bra.p1 @end\nagain:\n    bra @again\nend:\n    exit\n",
                              ["--lanes", LANES]),
}


def heavy():
    """Straight code on which LLVM works for many seconds."""
    lines = []
    for i in range(6000):
        lines.append("    mov_imm.u32 r13, %d\n    mul.u32 r12, r12, r13\n    mov_imm.u32 r14, %d\n    shr.u32 r13, r12, r14\n"
                     "    xor.u32 r12, r12, r13\n" % (i * 2654435761 % 2**32 | 1, i % 31 + 1))
    return "".join(lines) + "    atom.add.u32 r11, [buf(r1)], r12\n"


def compiles_of(profile):
    with open(profile) as f:
        events = json.load(f)["traceEvents"]
    return [e for e in events if e.get("cat") == "compile" and e["name"].startswith("driver")]


def compiled(profile):
    return sum(e["dur"] for e in compiles_of(profile)) / 1e6


def main():
    command, backend = sys.argv[1:3]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        program, profile = os.path.join(folder, "p.atlas"), os.path.join(folder, "p.json")
        for name, (body, options) in FAMILIES.items():
            with open(program, "w") as f:
                f.write(HEAD + body)
            start = time.monotonic()
            run = subprocess.run([command, "run", program, "--backend", backend, "--set", "x=0,0,0,0", "--timeout", "300",
                                  "--profile", profile] + options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            compiles = compiled(profile)
            took = time.monotonic() - start - compiles
            # a device that counts rounds of loops around barriers ends there on a machine that is fast enough
            counted = name.endswith("loop of barriers") and "fault[F12]" in run.stdout and "rounds of loops around barriers" in run.stdout
            good = run.returncode == 1 and ("fault[F08]" in run.stdout or counted) and took <= TIMEOUT + WINDOW + SLACK
            passed += good
            failed += not good
            if not good or os.environ.get("HG_TEST_SHOW"):
                print("%-28s %6.2f s, compiled %6.2f s, status %d: %s" %
                      (name, took, compiles, run.returncode, run.stdout.strip().split("\n")[0]))
        # of a launch of one window too the driver compiles before its time begins
        if backend in ("opencl", "vulkan"):
            with open(program, "w") as f:
                f.write(HEAD + "    atom.add.u32 r11, [buf(r1)], r12\n")
            run = subprocess.run([command, "run", program, "--backend", backend, "--set", "x=0,0,0,0", "--profile", profile],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            first = [e for e in compiles_of(profile) if "first dispatch" in e["name"] and e["args"].get("detail") == "p"]
            good = run.returncode == 0 and len(first) == 1
            passed += good
            failed += not good
            if not good:
                print("one window: status %d, compiled %d times: %s" % (run.returncode, len(first), run.stdout.strip().split("\n")[0]))
        # a compiler that takes too long is left alone; one that is quick enough does no harm
        with open(program, "w") as f:
            f.write(HEAD + heavy())
        for attempt in range(2):
            start = time.monotonic()
            run = subprocess.run([command, "run", program, "--backend", backend, "--set", "x=0,0,0,0", "--compile-timeout", "500"],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            took = time.monotonic() - start
            late = run.returncode == 1 and "fault[F13]" in run.stdout and "the driver's compiler has worked on 'p' for " in run.stdout
            good = (run.returncode == 0 or late) and took <= 0.5 + OPENING + SLACK
            passed += good
            failed += not good
            if not good or os.environ.get("HG_TEST_SHOW"):
                print("%-28s %6.2f s, status %d: %s" % ("a slow compiler", took, run.returncode, run.stdout.strip().split("\n")[0]))
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed != 0


sys.exit(main())
