#!/usr/bin/python3
"""Emitted kernels against the golden set: what a refactor of the emitters, the device form or the legaliser changes shows up here as
a difference of texts, and a commit that changes the set says why.

    tests/golden/run.py                    compares
    tests/golden/run.py --update           writes the set anew and prints what changed in every text
    tests/golden/run.py --against BUILD    compares with what another build emits: of the last commit, of another compiler

The set has every emitter of src/emit/emitters.def (`hologram emit --list`) whose text is all ours, for each of the devices that its row names; of a binary one
the words in hexadecimal. Texts that people read are kept in this folder: of the small programs every language, of the others the short forms and CUDA C. Of the
rest hashes.txt keeps the SHA-256. A text that was right is left in the build folder (BUILD/golden): where its hash is another one at a later run, the two are
compared. Where that folder is new, build the last commit elsewhere and take --against.

The set holds for every compiler that builds the library: C's open order of arguments decides nothing (tools/evaluation-order).
"""
import difflib
import hashlib
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("HG_SOURCE_DIR", os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ.get("HG_BUILD_DIR", os.path.join(SOURCE, "build/release"))
SEEN = os.path.join(BUILD, "golden")
HASHES = os.path.join(HERE, "hashes.txt")
PROGRAMS = ["axpy", "block_reverse", "center", "collatz", "gcd3"]
SMALL = ["axpy", "block_reverse"] # kept as texts in every language, but for those of words in hexadecimal
READ_OF_ALL = ["kir", "vec", "cu"] # the short forms, and one language; test_emit_gpu.c compiles the CUDA C
LINES = 40 # of a difference that are printed


def emit(build, *options):
    return subprocess.run([os.path.join(build, "hologram"), "emit", *options], cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def targets():
    """(suffix of the golden file, binary, options): one for each emitter and device. The device's name is in the suffix where there are several."""
    listed = emit(BUILD, "--list", "--json")
    if listed.returncode != 0:
        sys.exit("hologram emit --list --json: " + listed.stderr.decode())
    for row in json.loads(listed.stdout)["outputs"]:
        if row["foreign"] or row["form"] == "graph": # another text with another version of its compiler; texts with shapes
            continue
        options = ["--target", row["name"]]
        devices = row["caps"] if row["form"] == "device" else []
        for caps in devices or [None]:
            suffix = ("%s." % caps if len(devices) > 1 else "") + row["suffix"] + (".hex" if row["binary"] else "")
            one = ["--kernel", "0"] if row["binary"] and row["form"] == "device" else [] # a module holds one
            yield suffix, row["binary"], options + (["--caps", caps] if caps else []) + one


def kernels():
    """(name, binary, options of hologram emit) of every text of the set."""
    for suffix, binary, options in targets():
        for program in PROGRAMS:
            of_binary = ["-o", "/dev/stdout"] if binary else []
            yield "%s.%s" % (program, suffix), binary, [*options, *of_binary, "examples/programs/%s.atlas" % program]


def is_read(name, binary):
    program, suffix = name.split(".", 1)
    return suffix in READ_OF_ALL or (program in SMALL and not binary and suffix != "wat") # that is 1,000 lines of instructions


def hexadecimal(data):
    words = [data[i:i + 4][::-1].hex() for i in range(0, len(data), 4)]
    return "".join(" ".join(words[i:i + 8]) + "\n" for i in range(0, len(words), 8))


def made_by(build, binary, options):
    """(text, or None when the command failed; its messages)"""
    made = emit(build, *options)
    text = hexadecimal(made.stdout) if binary else made.stdout.decode()
    return text if made.returncode == 0 else None, made.stderr.decode().strip()


def hash_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def read(path):
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read_hashes():
    return dict(reversed(line.split()) for line in (read(HASHES) or "").split("\n") if line)


def print_difference(before, after, lines):
    difference = list(difflib.unified_diff(before.splitlines(), after.splitlines(), "golden", "made", lineterm="", n=2))
    print("\n".join(difference[:lines]))
    if len(difference) > lines:
        print("and %d more lines" % (len(difference) - lines))


def seen_before(name, kept):
    """The text with that hash, from the last run in which it was right; None: there is none."""
    text = read(os.path.join(SEEN, name))
    return text if text is not None and hash_of(text) == kept else None


def print_change(name, kept, text, lines):
    """What changed in a text of the set. kept: the text, or its hash; None: it is new."""
    before = kept if kept is None or "\n" in kept else seen_before(name, kept)
    if before is not None:
        print_difference(before, text, lines)
    elif kept is not None:
        print("its hash is another one, and %s has no text with the old one: build the last commit elsewhere and take --against" % SEEN)


def compare(update):
    hashes, kept_hashes, known = {}, read_hashes(), {"run.py", "hashes.txt", "__pycache__"}
    passed = failed = 0
    for name, binary, options in kernels():
        text, messages = made_by(BUILD, binary, options)
        path = os.path.join(HERE, name)
        as_text = is_read(name, binary)
        if as_text:
            known.add(name)
        kept = read(path) if as_text else kept_hashes.get(name)
        if text is not None:
            hashes.update({} if as_text else {name: hash_of(text)})
            if kept == (text if as_text else hash_of(text)):
                passed += 1
                write(os.path.join(SEEN, name), text)
                continue
        print("%s %s (hologram emit %s):" % (name, "differs" if kept else "is new", " ".join(options)))
        if text is None:
            failed += 1
            print(messages)
            continue
        print_change(name, kept, text, sys.maxsize if update else LINES)
        passed, failed = passed + update, failed + (not update)
        if update:
            write(os.path.join(SEEN, name), text)
            if as_text:
                write(path, text)
    if update:
        write(HASHES, "".join("%s  %s\n" % (hashes[name], name) for name in sorted(hashes)))
    lost = set(os.listdir(HERE)) - known
    if not update:
        lost |= set(kept_hashes) - set(hashes)
    for name in sorted(lost):
        failed += 1
        print("tests/golden/%s: no emitter writes it, or only its hash is kept" % name)
    return passed, failed


def compare_with(other):
    passed = failed = 0
    for name, binary, options in kernels():
        before, why = made_by(other, binary, options)
        text, messages = made_by(BUILD, binary, options)
        if text is not None and text == before:
            passed += 1
            continue
        failed += 1
        print("%s differs (hologram emit %s):" % (name, " ".join(options)))
        if text is None or before is None:
            print(messages or why)
        else:
            print_difference(before, text, sys.maxsize)
    return passed, failed


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--against"] and len(arguments) == 2:
        passed, failed = compare_with(os.path.abspath(arguments[1]))
    elif arguments in ([], ["--update"]):
        passed, failed = compare(bool(arguments))
    else:
        sys.exit(__doc__)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed != 0


sys.exit(main())
