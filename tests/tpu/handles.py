#!/usr/bin/python3
"""Accesses whose memory only a value of run time names, on a PJRT plugin: random programs in which each lane loads, stores and operates at handles that it
chooses from buffers of several arenas, a pool, class memory and flat addresses, have the CPU's bits, or its fault.

    on.sh DEVICE handles.py HOLOGRAM BACKEND [SEED [COUNT]]
"""
import os
import random
import subprocess
import sys
import tempfile

ARRAYS = {"a": 256, "b": 320, "big": 1 << 18, "odd": 203, "y": 128}  # bytes: the large one has an arena of its own
OUT = ("a", "b", "big", "odd", "y")
LANES = 16
HEAD = "".join(f".param {name} buffer u8 inout [{size}]\n" for name, size in ARRAYS.items())


def choose(some, faults):
    """A handle in h: of the arrays, by the lane's number, one after another over what was there before; or none."""
    lines = [f"    mov h, {some.choice(list(ARRAYS))}"]
    for name in some.sample(list(ARRAYS), some.randrange(1, 5)):
        lines += [f"    and t, lane, {some.randrange(1, 16)}", f"    seteq.u32 q, t, {some.randrange(0, 4)}", f"    sel.u64 h, q, {name}, h"]
    if some.randrange(8) == 0:  # the memory of a class, lane by lane
        lines += [f"    and t, lane, {some.randrange(1, 8)}", "    seteq.u32 q, t, 1", f"    mov f, {2**64 - 96 + some.randrange(96)}", "    sel.u64 h, q, f, h"]
    if faults and some.randrange(2):
        lines += [f"    seteq.u32 q, lane, {some.randrange(LANES)}", f"    mov f, {some.choice((77, 1 << 40, 2**63, 5000000))}", "    sel.u64 h, q, f, h"]
    return lines


def step(some, faults):
    wide, kind = some.choice((1, 2, 4, 8)), some.choice(("load", "store", "flat", "pool", "atomic", "old"))
    wide = max(wide, 4) if kind in ("atomic", "old") else wide
    t, reg = f"u{8 * wide}", {1: "v1", 2: "v2", 4: "v4", 8: "v8"}[wide]
    lines = choose(some, faults)
    at = some.randrange(0, 3) * (wide if kind in ("atomic", "old") else 1)
    lines += ["    cvt.u64.u32 o, lane", f"    mul.u64 o, o, {8}", f"    add.u64 o, o, {at}"]
    if faults and some.randrange(2):
        lines += [f"    seteq.u32 q, lane, {some.randrange(LANES)}", f"    mov f, {some.choice((198, 255, 1 << 18, 2**64 - 3))}", "    sel.u64 o, q, f, o"]
    if kind == "load":
        lines += [f"    ldg.{t} {reg}, [h + o]"]
    elif kind == "store":
        lines += [f"    stg.{t} [h + o], {reg}"]
    elif kind == "flat":
        lines += ["    and.u64 h, h, 8388607", "    shl.u64 h, h, 40", "    and.u64 o, o, 1048575", "    add.u64 h, h, o"]
        lines += [some.choice((f"    ldg.{t} {reg}, [h]", f"    stg.{t} [h], {reg}", f"    ldg.{t} {reg}, [h + {some.randrange(8)}]"))]
    elif kind == "pool":
        lines += ["    mov h, pool", "    mov f, 77" if faults and some.randrange(3) == 0 else "    mov f, pool", "    seteq.u32 q, lane, 5", "    sel.u64 h, q, f, h"]
        lines += [some.choice((f"    ldg.{t} {reg}, [pool(h) + o]", f"    stg.{t} [pool(h) + o], {reg}", f"    pool.load.{t} {reg}, h, o"))]
    elif kind == "atomic":  # nobody reads what was there
        lines += [f"    atom.{some.choice(('add', 'max', 'and', 'xor', 'min', 'or'))}.{t} old{wide}, [h + o], {reg}", f"    mov old{wide}, 0"]
    else:
        lines += [f"    atom.{some.choice(('add', 'exch', 'xor'))}.{t} {reg}, [h + o], {reg}"]
    return lines


def program(seed):
    some = random.Random(seed)
    faults = seed % 3 == 0
    lines = [".atlas 1", ".program p", HEAD.rstrip(), ".param pool pool 512", f".lanes {LANES}", ".reg h, o, f, v8, old8 u64", ".reg t, v4, old4 u32",
             ".reg v2 u16", ".reg v1 u8", ".reg q pred", "    cvt.u64.u32 v8, lane", f"    mul.u64 v8, v8, {some.randrange(1 << 60) | 1}",
             "    cvt.u32.u64 v4, v8", "    cvt.u16.u64 v2, v8", "    cvt.u8.u64 v1, v8", "    mov old8, 0", "    mov old4, 0"]
    for _ in range(some.randrange(1, 5)):
        lines += step(some, faults)
    lines += ["    cvt.u64.u32 o, lane", "    mul.u64 o, o, 8", "    cvt.u64.u32 f, v4", "    xor.u64 v8, v8, f", "    cvt.u64.u16 f, v2", "    xor.u64 v8, v8, f",
              "    cvt.u64.u8 f, v1", "    xor.u64 v8, v8, f", "    stg.u64 [y + o], v8", "    exit"]
    return "\n".join(lines) + "\n"


def run(folder, command, options):
    arguments = [command, "run", os.path.join(folder, "p.atlas"), *options]
    for name in ARRAYS:
        arguments += ["--in", f"{name}=raw:{os.path.join(folder, name + '.in')}"]
    for name in OUT:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            os.remove(path)
        arguments += ["--out", f"{name}=raw:{path}"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300)
    found = {}
    for name in OUT if done.returncode == 0 else ():
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return done.returncode, done.stderr, found


def main():
    command, backend = sys.argv[1:3]
    first, count = int(sys.argv[3]) if len(sys.argv) > 3 else 1, int(sys.argv[4]) if len(sys.argv) > 4 else 12
    passed = failed = faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            some = random.Random(-seed)
            for name, size in ARRAYS.items():
                with open(os.path.join(folder, name + ".in"), "wb") as file:
                    file.write(some.randbytes(size))
            with open(os.path.join(folder, "p.atlas"), "w", encoding="utf-8") as file:
                file.write(program(seed))
            expected = run(folder, command, [])
            found = run(folder, command, ["--backend", backend])
            good = expected == found and (expected[0] == 0 or "fault" in expected[1] or "F0" in expected[1])
            passed, failed, faults = passed + good, failed + (not good), faults + (expected[0] != 0)
            if not good:
                differ = [name for name in expected[2] if expected[2][name] != found[2].get(name)]
                print(f"seed {seed}: {found[:2]}, expected {expected[:2]}; {differ} differ\n{program(seed)}", file=sys.stderr)
    print(f"{faults} of {count} programs fault", file=sys.stderr)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
