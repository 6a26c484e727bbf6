#!/usr/bin/python3
"""The command on a device that nobody can wait for (HOLOGRAM_PRETEND=no-wait=SEED: it opens, compiles and copies only while somebody asks)
gives what it gives where it can be waited for: programs with arrays, pools, class memory and faults, graphs, streams, comparisons, times; sizes of tiles are measured.

    no_wait.py HOLOGRAM BACKEND      HOLOGRAM absolute
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.getcwd()
AXPY = os.path.join(ROOT, "examples/programs/axpy.atlas")
HEAD = ".atlas 1\n.program %s\n.param r1 x buffer u32 inout [16]\n%s.lanes 16\n mul.u64 r3, r255, 4\n ldg.u32 r5, [r1 + r3]\n"
TAIL = " bar.grid\n ldg.u32 r6, [%s]\n add.u32 r6, r6, 7\n stg.u32 [r1 + r3], r6\n"
TEXTS = {"pools.atlas": HEAD % ("pools", ".param r2 p pool 64\n") + " stg.u32 [pool(r2) + r3], r5\n" + TAIL % "pool(r2) + r3",
         "classes.atlas": HEAD % ("classes", "") + " stg.u32 [class3 + r3], r5\n" + TAIL % "class3 + r3",
         "phases.atlas": HEAD % ("phases", "") + " phase.get r5\n stg.u32 [r1 + r3], r5\n",
         "faults.atlas": HEAD % ("faults", "") + " stg.u32 [r1 + r3 + 8], r5\n",
         "net.graph": ".graph 1\n.name net\n.input a f32 [4, 3]\n.input b f32 [3, 2]\ny = gemm a=a, b=b\n.output y\n",
         "not.atlas": ".atlas 1\n.program not\n.param r1 x buffer u32 in [n]\n.param r2 y buffer u32 out [n]\n.param r4 n u64\n.lanes n\n"
                      " mul.u64 r0, r255, 4\n ldg.u32 r10, [r1 + r0]\n not.u32 r11, r10\n stg.u32 [r2 + r0], r11\n"}


def main():
    command, backend = sys.argv[1:3]
    passed = failed = 0
    os.chdir(tempfile.mkdtemp(prefix="hologram-no-wait-"))
    for name, text in TEXTS.items():
        with open(name, "w") as f:
            f.write(text)
    with open("rows", "wb") as f:
        f.write(bytes(range(256)) * 100)
    x16 = ["--set", "x=" + ",".join(map(str, range(16)))]
    commands = [["run", AXPY, "--set", "alpha=2", "--set", "x=1,2,3,4", "--set", "y=10,20,30,40"],
                ["run", "pools.atlas"] + x16, ["run", "classes.atlas"] + x16, ["run", "phases.atlas"] + x16, ["run", "faults.atlas"] + x16,
                ["run", "net.graph", "--set", "a=1,2,3,4,5,6,7,8,9,10,11,12", "--set", "b=1,2,3,4,5,6"],
                ["diff", AXPY], ["diff", "pools.atlas"], ["diff", "classes.atlas"], ["diff", "net.graph"],
                ["bench", AXPY, "--lanes", "100", "--repeat", "5"], ["bench", "net.graph", "--repeat", "5"],
                ["stream", "not.atlas"],
                ["ops"], ["devices"]]

    def run(arguments, pretend):
        side = [] if arguments[0] == "devices" else ["--backend", backend]
        environment = dict(os.environ, HOLOGRAM_PRETEND=pretend, HOLOGRAM_BACKEND=backend, HOLOGRAM_TILES=os.path.join(os.getcwd(), "tiles.txt"))
        with open("rows", "rb") as rows:
            done = subprocess.run([command] + arguments + side, stdin=rows if arguments[0] == "stream" else subprocess.DEVNULL, capture_output=True,
                                  env=environment, timeout=300)
        out = re.sub(rb"[0-9.e+-]+x?( |$)", b"# ", done.stdout, flags=re.M) if arguments[0] == "bench" else done.stdout # times
        if arguments[0] == "devices": # what nobody can wait for has other capabilities: queues that go on by themselves, no memory of the host's
            out = re.sub(rb" *(asynchronous|host-memory|import)\b", b"", out)
        said = re.sub(rb"hologram [a-z]+: waiting for the driver's compiler .*\n", b"", done.stderr) # where it takes long
        return done.returncode, re.sub(rb" +", b" ", out), said

    for arguments in commands:
        expected = run(arguments, "")
        for seed in 1, 2:
            found = run(arguments, "no-wait=%d" % seed)
            if found == expected and b"would have to wait" not in found[2] and (found[0] == 0 or arguments[1] == "faults.atlas"):
                passed += 1
            else:
                failed += 1
                print("HOLOGRAM_PRETEND=no-wait=%d hologram %s: expected %r, got %r" % (seed, " ".join(arguments), expected, found), file=sys.stderr)
    # what is measured is another number each time
    status, out, err = run(["tune", "--only", "norm.lanes"], "no-wait=1")
    if status == 0 and re.fullmatch(rb"size old -> new .*\nnorm\.lanes \d+ -> \d+ .* 16: .*\nwritten to .*/tiles\.txt\n", out) and not err:
        passed += 1
    else:
        failed += 1
        print("tune: status %d, %r, %r" % (status, out, err), file=sys.stderr)
    # who looks at phases waits for them
    status, _, err = run(["diff", "phases.atlas"], "no-wait=1")
    if status == 1 and b"a look at phases and resonances would have to wait" in err:
        passed += 1
    else:
        failed += 1
        print("diff of a program with phases: status %d, %r" % (status, err), file=sys.stderr)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
