#!/usr/bin/python3
"""tools/abi finds every kind of break: each case changes a small library of its own (tests/abi/tree), and the line that names the break is
expected. A growth that keeps old programs running passes."""
import importlib.machinery
import importlib.util
import os
import re
import shutil
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TREE = os.path.join(ROOT, "tests", "abi", "tree")
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("abi", os.path.join(ROOT, "tools", "abi"))
abi = importlib.util.module_from_spec(importlib.util.spec_from_loader("abi", loader))
loader.exec_module(abi)

HEADER = "include/hologram/small.h"
LAST = r"(    uint64_t max_steps; [^\n]*\n)"
# file of the tree, what is replaced (a regular expression), by what, the breaks expected (their beginnings; none: it passes)
CASES = [
    ("nothing", HEADER, r"\A", "", []),
    ("a function is added", HEADER, r"(HG_API void hg_ring_clear)", r"HG_API void hg_ring_fill(hg_ring *ring);" + "\n" + r"\1", []),
    ("an exported function loses its name", HEADER, r"hg_ring_clear", "hg_ring_empty",
     ["function hg_ring_clear: it is gone", "symbol hg_ring_clear: the library no longer exports it"]),
    ("a parameter changes its type", HEADER, r"hg_ring_create\(uint64_t capacity", "hg_ring_create(uint32_t capacity",
     ["function hg_ring_create: was hg_ring * (uint64_t, hg_status *), is hg_ring * (uint32_t, hg_status *)"]),
    ("a parameter changes its name", HEADER, r"hg_ring_create\(uint64_t capacity", "hg_ring_create(uint64_t bytes", []),
    ("a parameter loses its const", HEADER, r"const hg_ring \*ring", "hg_ring *ring",
     ["function hg_ring_len: was uint64_t (const hg_ring *), is uint64_t (hg_ring *)"]),
    ("a result changes its type", HEADER, r"HG_API uint64_t hg_ring_len", "HG_API int64_t hg_ring_len",
     ["function hg_ring_len: was uint64_t (const hg_ring *), is int64_t (const hg_ring *)"]),
    ("a callback changes its type", HEADER, r"void \(\*call\)\(void \*user\)", "void (*call)(int user)",
     ["field hg_launch.call: was at 48, 8 bytes, function void (void *) *, is at 48, 8 bytes, function void (int) *"]),
    ("an inline function goes", HEADER, r"static inline hg_buffer hg_buffer_none.*\n", "", ["function hg_buffer_none: it is gone"]),
    ("a symbol for older programs goes", "src/runtime/abi_0_1.c", r"HG_API", "", ["symbol hg_launch_default: the library no longer exports it"]),
    ("a header goes", "include/hologram/more.h", None, None, ["header hologram/more.h: it is gone", "constant HG_MORE: it is gone"]),
    ("a status moves", HEADER, r"HG_OK,", "HG_OK, HG_NEW,", ["constant HG_ERROR_ISA: was 1, is 2"]),
    ("a status is added behind the others", HEADER, r"HG_STATUS_COUNT", "HG_NEW, HG_STATUS_COUNT", []),
    ("a status goes", HEADER, r"HG_ERROR_ISA,", "", ["constant HG_ERROR_ISA: it is gone", "constant HG_STATUS_COUNT: was 2, is 1: a list lost members"]),
    ("a type is added, but HG_TYPE_COUNT means no type", HEADER, r"HG_TYPE_COUNT", "HG_TYPE_NEW, HG_TYPE_COUNT",
     ["constant HG_TYPE_COUNT: was 1, is 2"]),
    ("an enum gets another size", HEADER, r"HG_STATUS_COUNT", "HG_STATUS_COUNT, HG_WIDE = (1ll << 40)", ["enum hg_status: was 4 bytes, is 8 bytes"]),
    ("a field is renamed", HEADER, r"uint64_t max_steps;", "uint64_t most_steps;",
     ["field hg_launch.max_steps: it is gone or has another name", "field hg_launch.most_steps: at byte 56, inside the 64 bytes"]),
    ("two fields change places", HEADER, r"uint64_t lanes;\n    uint64_t timeout_ms;\n", "uint64_t timeout_ms;\n    uint64_t lanes;\n",
     ["field hg_launch.lanes: was at 32, 8 bytes, uint64_t, is at 40", "field hg_launch.timeout_ms: was at 40"]),
    ("a field changes its type and not its size", HEADER, r"uint64_t max_steps;", "int64_t max_steps;",
     ["field hg_launch.max_steps: was at 56, 8 bytes, uint64_t, is at 56, 8 bytes, int64_t"]),
    ("a structure shrinks", HEADER, LAST, "",
     ["struct hg_launch: was 64 bytes, is 56 bytes: it became smaller", "field hg_launch.max_steps: it is gone"]),
    ("a structure is hidden", HEADER, r"typedef struct hg_options \{[^}]*\}", "typedef struct hg_options", ["struct hg_options: its fields are gone"]),
    ("a structure with a size grows", HEADER, LAST, r"\1    uint64_t added;" + "\n", []),
    ("it grows and leaves a hole at the end", HEADER, LAST, r"\1    uint32_t added;" + "\n",
     ["struct hg_launch: its last 4 bytes are a hole that nobody sets: name them reserved"]),
    ("it grows and leaves a hole inside", HEADER, LAST, r"\1    uint32_t added;" + "\n    uint64_t more;\n",
     ["field hg_launch.more: bytes 68 to 71 before it are a hole that nobody sets: name them reserved"]),
    ("it grows without a hole", HEADER, LAST, r"\1    uint32_t added;" + "\n    uint32_t reserved;\n    uint64_t more;\n", []),
    ("it grows into its old padding", HEADER, r"(    int whole;\n)", r"\1    int added;" + "\n",
     ["field hg_options.added: at byte 20, inside the 24 bytes of the last release"]),
    ("a structure without a size grows", HEADER, r"(    uint64_t handle;\n)", r"\1    uint64_t added;" + "\n",
     ["struct hg_buffer: was 8 bytes, is 16 bytes: it has no size field and can never change"]),
    ("a structure that grows is returned whole", HEADER, LAST + r"([\s\S]*?)(HG_API void hg_ring_clear)",
     r"\1    uint64_t added;" + "\n" + r"\2HG_API hg_launch hg_launch_whole(void);" + "\n" + r"\3",
     ["struct hg_launch: hg_launch_whole passes it by value, so it cannot grow: give the function a pointer"]),
    ("a macro's value changes", HEADER, r"#define HG_NONE UINT64_MAX", "#define HG_NONE 0", ["macro HG_NONE: was UINT64_MAX, is 0"]),
    ("a macro gets one more parameter", HEADER, r"HG_HANDLE\(cls\)", "HG_HANDLE(cls, page)", ["macro HG_HANDLE: was of 1 arguments"]),
    ("a macro goes", HEADER, r"HG_LAUNCH_INIT", "HG_LAUNCH_FIRST", ["macro HG_LAUNCH_INIT: it is gone"]),
    ("the library gets another SONAME", "CMakeLists.txt", r"VERSION 0\.1\.0", "VERSION 1.0.0", ["soname libhologram.so.0: it is gone"]),
    ("the symbols get another version", "cmake/hologram.map", r"HOLOGRAM_0 \{", "HOLOGRAM_1 {", ["version HOLOGRAM_0: it is gone"]),
]


def breaks_after(path, pattern, replacement, old):
    with tempfile.TemporaryDirectory() as folder:
        tree = shutil.copytree(TREE, os.path.join(folder, "tree"))
        path = os.path.join(tree, path)
        if pattern is None:
            os.remove(path)
        else:
            text, count = re.subn(pattern, replacement, abi.read(path), count=1)
            if not count:
                return [f"nothing in {path} matches {pattern}"]
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return abi.find_breaks(old, abi.find_facts(tree))


def main():
    passed, failed = 0, 0
    old = abi.read_facts(abi.write_facts(abi.find_facts(TREE), "0.1.0")) # through the text, as a release is kept
    for what, path, pattern, replacement, expected in CASES:
        found = breaks_after(path, pattern, replacement, old)
        missing = [line for line in expected if not any(problem.startswith(line) for problem in found)]
        if missing or (found and not expected):
            failed += 1
            print(f"{what}: expected {missing or 'no break'}, found {found}")
        else:
            passed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
