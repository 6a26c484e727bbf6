#!/usr/bin/python3
"""Many processes share one cache of compiled kernels: 64 at once on an empty one, some killed while they write, then every file with
flipped bits or cut short. Whatever happens to the cache, results are right and bad entries are built again. So they are when PoCL's own
cache cannot make its entries: it refuses to build then, as it does when two processes make one entry at the same moment.

    on.sh DEVICE cache.py HOLOGRAM BACKEND
"""
import os
import random
import shutil
import subprocess
import sys
import time

PROGRAM = "examples/programs/axpy.atlas"
ARGUMENTS = ["--set", "alpha=2", "--set", "x=1,2,3,4", "--set", "y=10,20,30,40"]
WRITERS, KILLED, AT_ONCE = 64, 16, 8


def main():
    command, backend = sys.argv[1:3]
    folder = os.environ["HOLOGRAM_CACHE_DIR"]
    environment = dict(os.environ, HOLOGRAM_BACKEND=backend)
    passed = failed = 0

    def start():
        return subprocess.Popen([command, "run", PROGRAM] + ARGUMENTS, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def check(process, expected):
        nonlocal passed, failed
        out, err = process.communicate(timeout=120)
        if process.returncode == 0 and out == expected:
            passed += 1
        else:
            failed += 1
            print("status %d, printed %r, said %r" % (process.returncode, out, err.decode()[-300:]), file=sys.stderr)

    def entries():
        return [os.path.join(where, name) for where, _, names in os.walk(folder) for name in names]

    plain = subprocess.run([command, "run", "--backend", "cpu", PROGRAM] + ARGUMENTS, stdout=subprocess.PIPE)
    expected = plain.stdout
    if plain.returncode != 0 or not expected:
        print("the program does not run on the CPU", file=sys.stderr)
        failed += 1
    random.seed(3)
    # writers on an empty cache, at most AT_ONCE running: the machine is small
    running, victims = [], []
    for i in range(WRITERS):
        process = start()
        if i % (WRITERS // KILLED) == 1:
            victims.append((process, time.time() + random.uniform(0.01, 0.4)))
        else:
            running.append(process)
        for victim, when in victims[:]:
            if time.time() >= when:
                victim.kill()
                victim.communicate()
                victims.remove((victim, when))
        while len(running) + len(victims) >= AT_ONCE:
            if running:
                check(running.pop(0), expected)
            else:
                victim, _ = victims.pop(0)
                victim.kill()
                victim.communicate()
    for process in running:
        check(process, expected)
    for victim, _ in victims:
        victim.kill()
        victim.communicate()
    full = entries()
    if full:
        passed += 1
    else:
        failed += 1
        print("nothing was cached", file=sys.stderr)
    # damage: one bit in each file, then files cut short, then emptied
    for damage in ("bit", "cut", "empty"):
        for path in entries():
            with open(path, "r+b") as f:
                data = bytearray(f.read())
                if damage == "bit" and data:
                    at = random.randrange(len(data) * 8)
                    data[at // 8] ^= 1 << at % 8
                    f.seek(0)
                    f.write(data)
                else:
                    f.truncate(len(data) // 2 if damage == "cut" else 0)
        for _ in range(2):
            check(start(), expected)
    # files where the driver's own cache wants its folders
    own = environment["POCL_CACHE_DIR"] = os.path.join(os.environ["POCL_CACHE_DIR"], "own")
    os.mkdir(own)
    for path in entries():
        os.remove(path)
    check(start(), expected)
    for path in entries():
        os.remove(path)
    for path in [os.path.join(own, first, second) for first in os.listdir(own) if os.path.isdir(os.path.join(own, first))
                 for second in os.listdir(os.path.join(own, first))]:
        shutil.rmtree(path)
        open(path, "w").close()
    check(start(), expected)
    # without a folder that can be written
    environment["HOLOGRAM_CACHE_DIR"] = "/proc/no/such/place"
    check(start(), expected)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed != 0


sys.exit(main())
