#!/usr/bin/python3
"""Printed modules of WebAssembly through tools that are not ours: valid, and text and bytes say the same.

    tests/wasm/run.py          a slice of the conformance suite's kernels, and the examples
    tests/wasm/run.py --all    all kernels of the suite

The texts come from `cts --texts wat FOLDER` and `hologram emit --target wat`; wat2wasm (Debian's wabt) makes bytes of them, which Node validates. Of the
examples the sections of these bytes are compared with those that `hologram emit --target wasm` writes. That the modules calculate what they should, the
compiled cases of slice_wasm say.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("HG_SOURCE_DIR", os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ.get("HG_BUILD_DIR", os.path.join(SOURCE, "build/release"))
SLICE = "7/200"
EXAMPLES = ["axpy", "block_reverse", "collatz", "scan", "sha256"]
# Elements side by side of lanes that are farther from each other than an instruction's offset reaches.
FAR = ".atlas 1\n.program far\n.param x buffer f32 in [n]\n.param y buffer f32 out [m]\n.param n u64\n.param m u64\n.lanes m\n    .reg at u64\n" \
    "    let stride u64 = 800000000\n    mul.u64 at, global, stride\n" + "".join("    .reg v%d f32\n" % i for i in range(8)) + \
    "".join("    ldg.f32 v%d, [x + at + %d]\n" % (i, 4 * i) for i in range(8)) + "    y[global] = %s\n" % " + ".join("v%d" % i for i in range(8))
# One that must be refused, or this test sees nothing: i32.add of an i64.
WRONG = bytes([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 10, 9, 1, 7, 0, 65, 1, 66, 1, 106, 11])
VALIDATE = """
const fs = require('fs');
for (const file of fs.readFileSync(0, 'utf8').split('\\n').filter(Boolean))
  if (!WebAssembly.validate(fs.readFileSync(file))) console.log(file);
"""


def skip(reason):
    print("skipped: " + reason)
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)


def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def sections(data):
    """{id: bytes}, without custom ones."""
    found, at = {}, 8
    while at < len(data):
        kind = data[at]
        size, at = number(data, at + 1)
        if kind:
            found[kind] = data[at:at + size]
        at += size
    return found


def emit(target, program):
    done = subprocess.run([os.path.join(BUILD, "hologram"), "emit", "--target", target, "-o", "/dev/stdout", program], cwd=SOURCE, capture_output=True)
    if done.returncode != 0:
        raise SystemExit("%s --target %s: %s" % (program, target, done.stderr.decode()))
    return done.stdout


def invalid(files):
    done = subprocess.run(["node", "-e", VALIDATE], input="\n".join(files), capture_output=True, text=True, check=True)
    return done.stdout.split()


def assemble(text):
    """The file of the bytes, or what wat2wasm said."""
    made = text[:-len(".wat")] + ".wasm"
    done = subprocess.run(["wat2wasm", "--enable-threads", text, "-o", made], capture_output=True, text=True)
    return (made, None) if done.returncode == 0 else (None, "%s: %s" % (text, done.stderr[:400]))


def main():
    for tool in ["node", "wat2wasm"]:
        if not shutil.which(tool):
            skip(tool + " is not installed (Debian: nodejs, wabt)")
    failed, files = [], []
    with tempfile.TemporaryDirectory() as folder:
        part = [] if "--all" in sys.argv else ["--part", SLICE]
        made = subprocess.run([os.path.join(BUILD, "tests/cts"), "--texts", "wat", folder, "--quick", *part], cwd=SOURCE, capture_output=True, text=True,
                              timeout=1200)
        if made.returncode != 0:
            failed.append("cts --texts wat: " + made.stderr[:400] + made.stdout[-200:])
        for text in sorted(glob.glob(os.path.join(folder, "*.wat"))):
            made, said = assemble(text)
            if said:
                failed.append(said)
            else:
                files.append(made)
        far = os.path.join(folder, "far.atlas")
        with open(far, "w", encoding="utf-8") as file:
            file.write(FAR)
        for program in ["examples/programs/%s.atlas" % name for name in EXAMPLES] + [far]:
            name = os.path.basename(program)
            text = os.path.join(folder, name + ".wat")
            with open(text, "wb") as file:
                file.write(emit("wat", program))
            made, said = assemble(text)
            mine = emit("wasm", program)
            own = os.path.join(folder, name + ".own.wasm")
            with open(own, "wb") as file:
                file.write(mine)
            files.append(own)
            if said:
                failed.append(said)
                continue
            with open(made, "rb") as file:
                other = sections(file.read())
            failed += ["%s: section %d of text and bytes differ" % (name, kind) for kind, data in sections(mine).items() if other.get(kind) != data]
        wrong = os.path.join(folder, "wrong.wasm")
        with open(wrong, "wb") as file:
            file.write(WRONG)
        refused = invalid(files + [wrong])
        failed += ["not valid: " + file for file in refused if file != wrong]
        if wrong not in refused:
            failed.append("Node does not refuse a wrong module")
    for line in failed[:20]:
        print(line)
    print("%d passed, %d failed, 0 skipped" % (max(len(files) + 1 - len(failed), 0), len(failed)))
    sys.exit(1 if failed or len(files) < 10 else 0)


if __name__ == "__main__":
    main()
