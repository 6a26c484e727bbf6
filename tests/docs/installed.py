#!/usr/bin/python3
"""Installs into an empty folder and follows every link of the documents there: the file is installed, and has the heading that the link names. The examples are
there, and the installed command runs one. Links to the web are not followed.

Last line: N passed, N failed, N skipped; each document is one check.
"""
import os
import re
import shutil
import subprocess
import sys

SOURCE, BUILD = os.environ["HG_SOURCE_DIR"], os.environ["HG_BUILD_DIR"]
PREFIX = os.path.join(BUILD, "installed")
LINK = re.compile(r"\]\(([^)\s]+)\)|\b(?:src|href)=\"([^\"]+)\"")
counts = {"passed": 0, "failed": 0}


def check(problems):
    counts["failed" if problems else "passed"] += 1
    for problem in problems:
        print(problem)


def text_of(path):
    """A document without what stands as code in it."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M)
    return re.sub(r"`[^`\n]*`", lambda code: re.sub(r"[\[\]()]", "", code.group()), text)


def anchors(path):
    """What a link may name behind # in a document: its headings as hosts of repositories write them, the second of a name with -1."""
    names = set()
    for heading in re.findall(r"^#+ +(.*?)\s*$", text_of(path), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = base = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = 0
        while name in names:
            number += 1
            name = f"{base}-{number}"
        names.add(name)
    return names


def broken_links(path, root):
    for found in LINK.finditer(text_of(path)):
        link = found[1] or found[2]
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if not os.path.exists(target):
            yield f"{os.path.relpath(path, root)}: {link} leads to nothing that is installed"
        elif anchor and target.endswith(".md") and anchor not in anchors(target):
            yield f"{os.path.relpath(path, root)}: {link}: there is no such heading"


def documents(root):
    for path, folders, names in os.walk(root):
        folders.sort()
        yield from (os.path.join(path, name) for name in sorted(names) if name.endswith(".md"))


def main():
    shutil.rmtree(PREFIX, ignore_errors=True)
    subprocess.run(["cmake", "--install", BUILD, "--prefix", PREFIX], check=True, stdout=subprocess.DEVNULL)
    root = next(path for path, _, names in os.walk(PREFIX) if "README.md" in names)
    found = list(documents(root))
    for path in found:
        check(list(broken_links(path, root)))
    there = {os.path.relpath(path, root) for path in found}
    wanted = {os.path.relpath(path, SOURCE) for folder in ("docs", "examples") for path in documents(os.path.join(SOURCE, folder))}
    wanted |= {"README.md", "CHANGELOG.md", "SECURITY.md", "THIRD-PARTY.md"}
    check([f"{name} is not installed" for name in sorted(wanted - there)])
    run = subprocess.run([os.path.join(PREFIX, "bin", "hologram"), "run", os.path.join(root, "examples/programs/axpy.atlas"), "--set", "alpha=2",
                          "--set", "x=1,2,3", "--set", "y=10,20,30"], capture_output=True, text=True)
    check([] if run.stdout == "y f32[3] = 12.0 24.0 36.0\n" else ["the installed example axpy.atlas printed: " + run.stdout + run.stderr])
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return 1 if counts["failed"] else 0


sys.exit(main())
