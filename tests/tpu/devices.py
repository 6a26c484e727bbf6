#!/usr/bin/python3
"""Several devices of a plugin: each runs what it is given, with code that one of them compiled, and the sharding pass goes over them.

    on.sh DEVICE devices.py HOLOGRAM BACKEND
"""
import os
import subprocess
import sys
import tempfile

COUNT = 4
LANES = """.atlas 1
.program p
.param a buffer u32 in [8]
.param y buffer u32 out [8]
.lanes 8
.reg x u32
    ldg x, [a[global]]
    add x, x, 5
    stg [y[global]], x
"""
# Rows of x are split between ranks; what follows wants columns, so that ranks exchange parts.
SHARED = """.graph 1
.input x u32 [8, 6] split 0
.input w u32 [8, 6]
y = parallel_map_binary.u32 mul, a=x, b=w
.view lines = y u32 [8, 6, 1]
sums = reduce_axis.u32 sum, input=lines
.view columns = y u32 [1, 8, 6]
totals = reduce_axis.u32 sum, input=columns
.output y
.output sums
.output totals
"""


def main():
    command, backend = sys.argv[1:3]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={COUNT}"
        several = dict(os.environ, XLA_FLAGS=flags, HOLOGRAM_CACHE_DIR=os.path.join(folder, "cache"))

        def run(*arguments):
            done = subprocess.run([command, *arguments], capture_output=True, text=True, timeout=300, env=several)
            return done.stdout if done.returncode == 0 else done.stderr

        def check(good, what):
            nonlocal passed, failed
            passed, failed = passed + bool(good), failed + (not good)
            if not good:
                print(what, file=sys.stderr)

        paths = {}
        for name, text in (("p.atlas", LANES), ("g.graph", SHARED)):
            paths[name] = os.path.join(folder, name)
            with open(paths[name], "w", encoding="utf-8") as file:
                file.write(text)
        found = [line.split()[1] for line in run("devices").splitlines() if line.startswith(backend + " ")]
        if found == ["0"]:
            print("skipped: the plugin has one device, whatever XLA_FLAGS says\n0 passed, 0 failed, 1 skipped")
            return 0
        check(found == [str(i) for i in range(COUNT)], f"devices {found}")
        for device in range(COUNT):
            text = run("run", paths["p.atlas"], "--backend", backend, "--device", str(device), "--set", "a=1,2,3,4,5,6,7,8")
            check(text == "y u32[8] = 6 7 8 9 10 11 12 13\n", f"device {device}: {text}")
        sets = ["--set", "x=" + ",".join(map(str, range(48))), "--set", "w=" + ",".join(str(3 * i * i) for i in range(48))]
        expected = run("run", paths["g.graph"], *sets, "--hash")
        check("y" in expected, expected)
        for count in (2, COUNT):
            text = run("run", paths["g.graph"], *sets, "--hash", "--backend", backend, "--ranks", str(count))
            check(text == expected, f"{count} ranks:\n{text}\n{expected} expected")
        text = run("run", paths["p.atlas"], "--backend", backend, "--device", str(COUNT), "--set", "a=1,2,3,4,5,6,7,8")
        check(f"tpu has {COUNT} devices" in text, text)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
