#!/usr/bin/python3
"""Runs the code blocks of README.md, docs/guide, docs/reference, docs/howto and examples/tensor as a reader would, each document in a folder of its own;
those of docs/howto and examples in one that looks like the root of the repository. Pictures that the command draws are drawn again. An argument is a part of the names of the documents to run.

    <!-- file: NAME -->   before a block: the block becomes that file (a .c or .cpp file is compiled when a console block asks)
    ```console            lines with `$ ` are commands, run in order by sh; what follows is exactly what they print, both
                          streams together; a line `...` stands for any lines, `N passed` for any number. `hologram` and `cc`, `pkg-config` for an
                          installed copy are on the PATH. A command may end in a status other than 0 only if the next
                          command is `echo $?`.
    <!-- needs: PJRT plugin --> before a console block: it is run with HOLOGRAM_PJRT, where tools/setup has installed a plugin; else counted as skipped.
    <!-- not run: REASON --> before a block: counted as skipped. Blocks of another language (sh, text, no name) are not run.

Last line: N passed, N failed, N skipped; each command and each compiled block is one check.
"""
import os
import re
import shutil
import subprocess
import sys

SOURCE, BUILD = os.environ["HG_SOURCE_DIR"], os.environ["HG_BUILD_DIR"]
WORK = os.path.join(BUILD, "documents")
PLUGIN = os.path.join(SOURCE, "build", "xla", "plugin")
# Pictures, and the options of the command that draws them.
PICTURES = {
    "docs/guide/atlas-table.svg": ["atlas", "table"],
    "docs/guide/atlas-graph.svg": ["atlas", "graph"],
    "docs/guide/encoder.svg": ["explain", "bench/graph/encoder.graph", "--set", "b=1", "--set", "s=128"],
}
passed = failed = skipped = 0


def blocks(text):
    """(line, language, note, body) of every fenced block; the note is the HTML comment right before it."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        start = re.match(r"^```(\w*)\s*$", lines[at])
        if not start:
            at += 1
            continue
        before = at - 1
        while before >= 0 and not lines[before].strip():
            before -= 1
        note = re.match(r"^<!--\s*(.*?)\s*-->$", lines[before]) if before >= 0 else None
        end = lines.index("```", at + 1)
        yield at + 1, start.group(1), note.group(1) if note else "", "\n".join(lines[at + 1:end]) + "\n"
        at = end + 1


def commands(body):
    """(command, expected output) of a console block; a command goes on over lines that end in a backslash."""
    result = []
    lines = body.split("\n")[:-1]
    while lines:
        line = lines.pop(0)
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\") and lines:
                command += "\n" + lines.pop(0)
            result.append([command, ""])
        elif result:
            result[-1][1] += line + "\n"
    return result


def matches(expected, actual):
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"N\ passed", r"\d+\ passed") + r"\n"
                      for line in expected.split("\n")[:-1])
    return re.fullmatch(pattern, actual) is not None


def run_console(where, body, folder, environment):
    global passed, failed
    steps = commands(body)
    status = 0
    for index, (command, expected) in enumerate(steps):
        shell = f"(exit {status})\n{command}"
        run = subprocess.run(["sh", "-c", shell], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace", timeout=120)
        status = run.returncode
        allowed = status == 0 or (index + 1 < len(steps) and steps[index + 1][0] == "echo $?")
        output = run.stdout if run.stdout.endswith("\n") or not run.stdout else run.stdout + "\n"
        if matches(expected, output) and allowed:
            passed += 1
        else:
            failed += 1
            print(f"{where}: $ {command}\n  expected:\n{expected}  got (status {status}):\n{output}")


def run_document(path, environment):
    global passed, failed, skipped
    name = os.path.relpath(path, SOURCE)
    folder = os.path.join(WORK, name.replace(os.sep, "_").replace(".md", ""))
    os.makedirs(folder)
    howto = name.startswith("docs/howto")
    if howto or name.startswith("examples"):
        for entry in os.listdir(SOURCE):
            if entry not in ("build", ".git", "out"):
                os.symlink(os.path.join(SOURCE, entry), os.path.join(folder, entry))
        os.mkdir(os.path.join(folder, "build"))
        os.symlink(BUILD, os.path.join(folder, "build", "release"))
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for line, language, note, body in blocks(text):
        where = f"{name}:{line}"
        if note.startswith("not run:"):
            skipped += 1
            print(f"skipped: {where}: {note}")
        elif note.startswith("needs:") and not os.path.exists(PLUGIN):
            skipped += 1
            print(f"skipped: {where}: there is no PJRT plugin in build/xla (tools/setup test)")
        elif note.startswith("file:"):
            with open(os.path.join(folder, note[5:].strip()), "w", encoding="utf-8") as file:
                file.write(body)
        elif language == "console":
            run_console(where, body, folder, dict(environment, HOLOGRAM_PJRT=PLUGIN) if note.startswith("needs:") else environment)
        elif language in ("c", "cpp", "atlas", "python", "json") and not note and not howto:  # a page of howto shows pieces of sources
            failed += 1
            print(f"{where}: a {language} block that nothing runs: give it `<!-- file: NAME -->` and a console block")
    if howto:
        check_left(name, folder, {note[5:].strip() for _, _, note, _ in blocks(text) if note.startswith("file:")})


def check_left(name, folder, own):
    """Who follows a page in a clone has a clean tree behind it: what commands write stands in build/."""
    global passed, failed
    left = [e for e in os.listdir(folder) if e not in own | {"build"} and not os.path.islink(os.path.join(folder, e))]
    if left:
        failed += 1
        print(f"{name}: its commands leave files in the tree: {', '.join(sorted(left))}")
    else:
        passed += 1


def check_picture(name, options, environment):
    global passed, failed
    drawn = subprocess.run(["hologram", *options, "--svg", "-"], cwd=SOURCE, env=environment, capture_output=True)
    with open(os.path.join(SOURCE, name), "rb") as file:
        if drawn.stdout == file.read():
            passed += 1
            return
    failed += 1
    print(f"{name} is another picture now: hologram {' '.join(options)} --svg {name}\n{drawn.stderr.decode()}")


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    prefix = os.path.join(WORK, "prefix")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    found = [p for p, _, names in os.walk(prefix) if "hologram.pc" in names]
    libraries = os.path.dirname(found[0])
    environment = dict(os.environ, PATH=os.path.join(prefix, "bin") + ":" + os.environ["PATH"], PKG_CONFIG_PATH=found[0],
                       LD_LIBRARY_PATH=libraries, HOLOGRAM_SOURCE=SOURCE, LC_ALL="C.UTF-8", PYTHONPATH=os.path.join(BUILD, "python"),
                       PYTHONDONTWRITEBYTECODE="1")
    os.symlink(sys.executable, os.path.join(prefix, "bin", "python3")) # the one that has NumPy
    documents = [os.path.join(SOURCE, "README.md")]
    for folder in ("docs/guide", "docs/reference", "docs/howto"):
        for path, _, names in sorted(os.walk(os.path.join(SOURCE, folder))):
            documents += [os.path.join(path, name) for name in sorted(names) if name.endswith(".md")]
    documents.append(os.path.join(SOURCE, "examples", "tensor", "README.md"))
    for path in documents:
        if len(sys.argv) == 1 or sys.argv[1] in path:
            run_document(path, environment)
    for name, options in PICTURES.items():
        if len(sys.argv) == 1 or sys.argv[1] in name:
            check_picture(name, options, environment)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


sys.exit(main())
