#!/usr/bin/python3
"""tools/circles on small made-up libraries: it finds each thing that it is there to find, and nothing in a library that is right.

    tests/circles/run.py        ends with "N passed, N failed, N skipped"
"""
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEAF = "int leaf(void) { return 1; }\n"
MIDDLE = "int leaf(void), middle(void);\nint middle(void) { return leaf(); }\n"
BACK = "int middle(void), leaf(void);\nint leaf(void) { return middle(); }\n"
ALLOW = "/* circle: leaf.c middle.c: one recursion */\n"

# Name of the case, sources by path, exit status, a part of what is printed.
CASES = [
    ("no circle", {"src/low/leaf.c": LEAF, "src/low/middle.c": MIDDLE}, 0, "2 files, 1 arrows"),
    ("a circle of two files", {"src/low/leaf.c": BACK, "src/low/middle.c": MIDDLE}, 1, "circle: src/low/leaf.c src/low/middle.c"),
    ("an allowed circle", {"src/low/leaf.c": ALLOW + BACK, "src/low/middle.c": MIDDLE}, 0, "2 files, 2 arrows"),
    ("an allowance without a circle", {"src/low/leaf.c": ALLOW + LEAF, "src/low/middle.c": MIDDLE}, 1, "src/low/leaf.c: the comment allows a circle"),
    ("an allowance that names a file outside the circle",
     {"src/low/leaf.c": ALLOW.replace("middle.c:", "middle.c outside.c:") + BACK, "src/low/middle.c": MIDDLE, "src/low/outside.c": "int outside;\n"},
     1, "but src/low/outside.c is in none"),
    ("an allowance without a reason is none", {"src/low/leaf.c": "/* circle: leaf.c middle.c: */\n" + BACK, "src/low/middle.c": MIDDLE}, 1, "circle:"),
    ("a third file that joins an allowed circle",
     {"src/low/leaf.c": ALLOW + BACK.replace("{", "{ extern int third(void); third();"), "src/low/middle.c": MIDDLE,
      "src/low/third.c": "int middle(void), third(void);\nint third(void) { return middle(); }\n"}, 1, "circle: src/low/leaf.c src/low/middle.c src/low/third.c"),
    ("a call to a later room", {"src/low/middle.c": MIDDLE, "src/low/high/leaf.c": LEAF}, 1, "src/low/middle.c of src/low calls leaf of the later src/low/high"),
    ("a call to an earlier room", {"src/low/leaf.c": LEAF, "src/low/high/middle.c": MIDDLE}, 0, "2 files, 1 arrows"),
    ("the command calls the library", {"src/low/leaf.c": LEAF, "cli/main.c": MIDDLE}, 0, "2 files, 1 arrows"),
]


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def build(top, sources):
    """A source tree with tools/circles in it and the objects of a build."""
    write(f"{top}/CMakeLists.txt", "set(HG_ROOMS low low/high)\n")
    write(f"{top}/src/backends/backends.def", "")
    os.makedirs(f"{top}/tools")
    shutil.copy(f"{SOURCE}/tools/circles", f"{top}/tools/circles")
    for path, text in sources.items():
        write(f"{top}/{path}", text)
        made = f"{top}/build/CMakeFiles/hg_low.dir/{path}.o"
        os.makedirs(os.path.dirname(made), exist_ok=True)
        subprocess.run(["cc", "-c", "-o", made, f"{top}/{path}"], check=True)


def circles(top):
    run = subprocess.run([sys.executable, f"{top}/tools/circles", "--build", "build"], capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def main():
    passed = failed = 0

    def expect(name, found, status, part):
        nonlocal passed, failed
        right = found[0] == status and part in found[1]
        passed, failed = passed + right, failed + (not right)
        if not right:
            print(f"{name}: expected exit status {status} and '{part}', got {found[0]} and:\n{found[1]}")

    for name, sources, status, part in CASES:
        with tempfile.TemporaryDirectory() as top:
            build(top, sources)
            expect(name, circles(top), status, part)
    with tempfile.TemporaryDirectory() as top:
        build(top, {"src/low/leaf.c": LEAF})
        write(f"{top}/src/low/new.c", "int new;\n")
        expect("a source without an object", circles(top), 77, "skipped: circles: src/low/new.c has no object")
        os.remove(f"{top}/src/low/new.c")
        later = os.path.getmtime(f"{top}/build/CMakeFiles/hg_low.dir/src/low/leaf.c.o") + 10
        os.utime(f"{top}/src/low/leaf.c", (later, later))
        expect("a source that is newer than its object", circles(top), 77, "skipped: circles: src/low/leaf.c is newer")
        shutil.rmtree(f"{top}/build")
        expect("no build", circles(top), 77, "skipped: circles: build holds no objects")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
