#!/usr/bin/python3
"""Emitted kernels against the golden set: what a refactor of the emitters, the device form or the legaliser changes shows up here as
a difference of texts, and a commit that changes the set says why.

    tests/golden/run.py [--update]

The order of independent operations follows the compiler that built the library (C leaves the order of arguments open), so the set holds
for builds with gcc, which is what the continuous run uses.
"""
import difflib
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("HG_SOURCE_DIR", os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ.get("HG_BUILD_DIR", os.path.join(SOURCE, "build/release"))
PROGRAMS = ["axpy", "block_reverse", "center", "collatz", "gcd3"]
TARGETS = {
    "c": ["--target", "c"],
    "cl": ["--target", "opencl", "--caps", "pocl"],
    "lavapipe.spvasm": ["--target", "spirv-asm", "--caps", "lavapipe"],
    "swiftshader.spvasm": ["--target", "spirv-asm", "--caps", "swiftshader"],
}


def main():
    update = "--update" in sys.argv[1:]
    passed = failed = 0
    for program in PROGRAMS:
        for suffix, options in TARGETS.items():
            path = os.path.join(HERE, "%s.%s" % (program, suffix))
            command = [os.path.join(BUILD, "hologram"), "emit"] + options + ["examples/programs/%s.atlas" % program]
            made = subprocess.run(command, cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
            if update and made.returncode == 0:
                with open(path, "w") as f:
                    f.write(made.stdout)
            kept = open(path).read() if os.path.exists(path) else ""
            if made.returncode == 0 and made.stdout == kept:
                passed += 1
                continue
            failed += 1
            print("%s differs (%s):" % (os.path.relpath(path, SOURCE), " ".join(command[1:])))
            print(made.stderr.strip())
            lines = difflib.unified_diff(kept.splitlines(), made.stdout.splitlines(), "golden", "made", lineterm="", n=2)
            print("\n".join(list(lines)[:40]))
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed != 0


sys.exit(main())
