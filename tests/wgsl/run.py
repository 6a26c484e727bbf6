#!/usr/bin/python3
"""Printed WGSL through Tint, the compiler of Dawn and Chromium: accepted, without a warning.

    tests/wgsl/run.py          a slice of the conformance suite's kernels, and the examples
    tests/wgsl/run.py --all    all kernels of the suite in types of at most 64 bits

The texts come from `cts --texts wgsl FOLDER` and `hologram emit --target wgsl`, for both devices of the target's row. Dawn for Node is in build/tint
(package-lock.json beside this file, tools/setup). That naga takes the texts, and that they calculate what they should, the tests of the
WebGPU backend say.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("HG_SOURCE_DIR", os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ.get("HG_BUILD_DIR", os.path.join(SOURCE, "build/release"))
PACKAGE = os.path.join(SOURCE, "build/tint/node_modules/webgpu")
SLICE = "7/40"

# Texts that Tint must speak of, or this test sees nothing.
WRONG = {
    "warning": "@compute @workgroup_size(1)\nfn main() { loop { break; let a = 1u; } }\n",
    "uniformity": "var<workgroup> a: u32;\n@compute @workgroup_size(8)\nfn main(@builtin(local_invocation_index) i: u32) {\n"
                  "    if (i < 4u) { workgroupBarrier(); }\n    a = i;\n}\n",
}


def skip(reason):
    print("skipped: " + reason)
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)


def write_texts(folder, everything):
    part = [] if everything else ["--part", SLICE]
    made = subprocess.run([os.path.join(BUILD, "tests/cts"), "--texts", "wgsl", folder, "--quick", "--widest", "64", *part],
                          cwd=SOURCE, capture_output=True, text=True)
    refused = [line for line in made.stderr.splitlines() if "no WGSL" in line]
    for program in sorted(glob.glob(os.path.join(SOURCE, "examples/programs/*.atlas"))):
        for caps in ("webgpu", "wgpu"):
            name = "%s.%s.wgsl" % (os.path.basename(program)[:-len(".atlas")], caps)
            text = subprocess.run([os.path.join(BUILD, "hologram"), "emit", "--target", "wgsl", "--caps", caps, "--kernel", "0", program],
                                  cwd=SOURCE, capture_output=True, text=True)
            if text.returncode == 0:
                with open(os.path.join(folder, name), "w") as file:
                    file.write(text.stdout)
            else:
                refused.append(name + ": " + text.stderr.strip())
    return refused


def accept(folder):
    """(accepted, what Tint said)"""
    done = subprocess.run(["node", os.path.join(HERE, "accept.mjs"), PACKAGE, folder], capture_output=True, text=True, timeout=900)
    counts = re.search(r"^(\d+) accepted, (\d+) refused$", done.stdout, re.M)
    if not counts:
        return 0, [done.stdout + done.stderr]
    return int(counts[1]), [line for line in done.stdout.splitlines()[:-1]]


def main():
    if sys.argv[1:] not in ([], ["--all"]):
        sys.exit(__doc__)
    if not shutil.which("node"):
        skip("there is no node")
    if not os.path.exists(PACKAGE):
        skip("npm's package webgpu is not in build/tint: tools/setup")
    with tempfile.TemporaryDirectory() as folder:
        failures = write_texts(folder, bool(sys.argv[1:]))
        passed, said = accept(folder)
        failures += said
    with tempfile.TemporaryDirectory() as folder:
        for name, text in WRONG.items():
            with open(os.path.join(folder, name + ".wgsl"), "w") as file:
                file.write(text)
        _, said = accept(folder)
        for name in WRONG:
            if any(line.startswith(name + ".wgsl:") for line in said):
                passed += 1
            else:
                failures.append("%s.wgsl: Tint says nothing of a wrong text" % name)
    print("\n".join(failures[:40]))
    print("%d passed, %d failed, 0 skipped" % (passed, len(failures)))
    return bool(failures) or passed < 20


sys.exit(main())
