#!/usr/bin/python3
"""Old sources and containers keep their bytes: texts in the language of version 1.0 assemble to the containers that version 1.0 wrote, and
its containers read and print as they did. sums.txt has the SHA-256 of each container and of its canonical text.

    run.py             checks
    run.py --write     adds files that are not in the lists; never changes a line

texts.txt has, of every text of the project that is written in instructions, the beginnings of the SHA-256 of the text and of the hash of
the program that it means: as long as a text stays as it was, it means what it meant. One that was written anew leaves the list.

Needs HG_SOURCE_DIR and HG_BUILD_DIR. Last line: N passed, N failed, N skipped.
"""
import glob
import hashlib
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
from checks import check, finish

SOURCE = os.environ["HG_SOURCE_DIR"]
COMMAND = os.path.join(os.environ["HG_BUILD_DIR"], "hologram")
SUMS = os.path.join(HERE, "sums.txt")


def run(*arguments):
    done = subprocess.run([COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def look(path, folder):
    """(bytes of the container, canonical text) of a text or a container."""
    full = os.path.join(SOURCE, path)
    out = os.path.join(folder, "out.atlasb")
    status, _, error = run("asm", full, "-o", out)
    if status:
        return None, error
    with open(out, "rb") as f:
        container = f.read()
    status, text, error = run("disasm", out)
    return (container, text) if not status else (None, error)


def read_sums():
    sums = {}
    with open(SUMS) as f:
        for line in f:
            if not line.startswith("#"):
                path, container, text = line.split()
                sums[path] = (container, text)
    return sums


TEXTS = os.path.join(HERE, "texts.txt")
FOLDERS = ("bench", "examples", "src/library", "tests")
STATEMENT = re.compile(r"^\s*(let|if|while|for|loop|break|continue|return|fn)\b(?!:)[^,\n]*$|^\s*[\w.]+(\[[^\n=]*\])?\s*[-+*/%&|^<>]{0,2}=[^=]", re.M)


def old_texts():
    """(path, its bytes, names of its programs) of texts in instructions."""
    for folder in FOLDERS:
        for full in sorted(glob.glob(os.path.join(SOURCE, folder, "**", "*.atlas"), recursive=True)):
            with open(full, "rb") as f:
                data = f.read()
            text = data.decode(errors="replace")
            code = "\n".join(line.split(";")[0] for line in text.split("\n") if not line.strip().startswith("."))
            if not STATEMENT.search(code):
                yield os.path.relpath(full, SOURCE), data, re.findall(r"^\.program (\S+)", text, re.M)


def hash_of(path, program, folder):
    """The beginning of the hash of a program of a text; empty where it does not assemble by itself."""
    status, out, _ = run("asm", os.path.join(SOURCE, path), "--program", program, "-o", os.path.join(folder, "t.atlasb"))
    found = re.search(r"hash ([0-9a-f]{16})", out.decode(errors="replace"))
    return found.group(1) if not status and found else ""


def read_texts():
    with open(TEXTS) as f:
        return [line.split() for line in f if not line.startswith("#")]


def write_texts(folder):
    known = {(t[0], t[1]) for t in read_texts()} if os.path.exists(TEXTS) else set()
    with open(TEXTS, "a") as f:
        if not known:
            f.write("# text, program, SHA-256 of the text, hash of the program: the first 16 digits of each; run.py --write adds\n")
        for path, data, programs in old_texts():
            for program in programs:
                found = hash_of(path, program, folder) if (path, program) not in known else ""
                if found:
                    f.write(f"{path} {program} {digest(data)[:16]} {found}\n")


def check_texts(folder):
    same = 0
    for path, program, text, expected in read_texts():
        full = os.path.join(SOURCE, path)
        if not os.path.exists(full):
            continue
        with open(full, "rb") as f:
            if digest(f.read())[:16] != text:
                continue # written anew since
        same += 1
        check(hash_of(path, program, folder) == expected, f"{path}: program {program} is another one than it was")
    check(same > 40, f"only {same} programs of {TEXTS} have the text that they had")


def digest(data):
    return hashlib.sha256(data).hexdigest()


def main():
    sums = read_sums() if os.path.exists(SUMS) else {}
    with tempfile.TemporaryDirectory() as folder:
        if "--write" in sys.argv:
            lines = []
            for pattern in ("tests/programs/old/*.atlas", "tests/fuzz/seeds/fuzz_text/*.atlas", "tests/fuzz/seeds/fuzz_binary/*.atlasb", "tests/compat/*.atlas"):
                for full in sorted(glob.glob(os.path.join(SOURCE, pattern))):
                    path = os.path.relpath(full, SOURCE)
                    container, text = look(path, folder) if path not in sums else (None, None)
                    if container:
                        lines.append(f"{path} {digest(container)} {digest(text)}\n")
            new = not os.path.exists(SUMS)
            with open(SUMS, "a") as f:
                f.write("# file, SHA-256 of its container, SHA-256 of its canonical text: written by version 1.0 of the language\n" if new else "")
                f.writelines(lines)
            write_texts(folder)
            return 0
        for path, (container, text) in sorted(sums.items()):
            got, canonical = look(path, folder)
            if got is None:
                check(False, f"{path}: {canonical}")
                continue
            check(digest(got) == container, f"{path}: another container than version 1.0 wrote")
            check(digest(canonical) == text, f"{path}: another canonical text than version 1.0 wrote")
            if path.endswith(".atlasb"):
                out = os.path.join(folder, "again.atlasb")
                run("asm", "-g", os.path.join(SOURCE, path), "-o", out) # with the lines that it may have
                with open(os.path.join(SOURCE, path), "rb") as f, open(out, "rb") as g:
                    check(f.read() == g.read(), f"{path}: another container than the one read")
        check_texts(folder)
    check(len(sums) > 20, f"only {len(sums)} files in {SUMS}")
    return finish()


sys.exit(main())
