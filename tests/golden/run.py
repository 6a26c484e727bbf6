#!/usr/bin/python3
"""Emitted kernels against the golden set: what a refactor of the emitters, the device form or the legaliser changes shows up here as
a difference of texts, and a commit that changes the set says why.

    tests/golden/run.py [--update]

The set has every emitter of src/emit/emitters.def (`hologram emit --list`) whose text is all ours, for each of the devices that its row names; of a binary one
the words in hexadecimal.

The set holds for every compiler that builds the library: C's open order of arguments decides nothing (tools/evaluation-order).
"""
import difflib
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("HG_SOURCE_DIR", os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ.get("HG_BUILD_DIR", os.path.join(SOURCE, "build/release"))
PROGRAMS = ["axpy", "block_reverse", "center", "collatz", "gcd3"]


def emit(*options):
    return subprocess.run([os.path.join(BUILD, "hologram"), "emit", *options], cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def targets():
    """(suffix of the golden file, binary, options): one for each emitter and device. The device's name is in the suffix where there are several."""
    listed = emit("--list", "--json")
    if listed.returncode != 0:
        sys.exit("hologram emit --list --json: " + listed.stderr.decode())
    for row in json.loads(listed.stdout)["outputs"]:
        if row["foreign"]: # another text with another version of its compiler
            continue
        options = ["--target", row["name"]]
        devices = row["caps"] if row["form"] == "device" else []
        for caps in devices or [None]:
            suffix = ("%s." % caps if len(devices) > 1 else "") + row["suffix"] + (".hex" if row["binary"] else "")
            yield suffix, row["binary"], options + (["--caps", caps] if caps else [])


def hexadecimal(data):
    words = [data[i:i + 4][::-1].hex() for i in range(0, len(data), 4)]
    return "".join(" ".join(words[i:i + 8]) + "\n" for i in range(0, len(words), 8))


def main():
    update = "--update" in sys.argv[1:]
    passed = failed = 0
    known = {"run.py"}
    for suffix, binary, options in targets():
        for program in PROGRAMS:
            name = "%s.%s" % (program, suffix)
            known.add(name)
            path = os.path.join(HERE, name)
            options_of_binary = ["--kernel", "0", "-o", "/dev/stdout"] if binary else []
            command = [*options, *options_of_binary, "examples/programs/%s.atlas" % program]
            made = emit(*command)
            text = hexadecimal(made.stdout) if binary else made.stdout.decode()
            if update and made.returncode == 0:
                with open(path, "w") as f:
                    f.write(text)
            kept = open(path).read() if os.path.exists(path) else ""
            if made.returncode == 0 and text == kept:
                passed += 1
                continue
            failed += 1
            print("%s differs (emit %s):" % (os.path.relpath(path, SOURCE), " ".join(command)))
            print(made.stderr.decode().strip())
            lines = difflib.unified_diff(kept.splitlines(), text.splitlines(), "golden", "made", lineterm="", n=2)
            print("\n".join(list(lines)[:40]))
    for name in sorted(set(os.listdir(HERE)) - known):
        failed += 1
        print("tests/golden/%s: no emitter writes it" % name)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed != 0


sys.exit(main())
