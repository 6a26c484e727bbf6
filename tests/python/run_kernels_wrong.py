#!/usr/bin/python3
"""Wrong kernels and what is said of them: wrong_kernels.txt has each with its message, which names line and column and says what to write instead.

    tests/python/run_kernels_wrong.py [--update]

--update writes the messages anew and prints what changed. Needs HG_BUILD_DIR, or stands in the sources of the project.
Last line: N passed, N failed, N skipped."""
import difflib
import linecache
import math
import os
import re
import sys
from typing import TypeVar

from package import HERE, checks, hg

os.environ.setdefault("HOLOGRAM_CACHE_DIR", "off")  # kernels are compiled, not found from the run before
PATH = os.path.join(HERE, "wrong_kernels.txt")
HEAD = "def k(x: In[f32, 'n'], i8s: In[i8, 'n'], u64s: In[u64, 'n'], m: In[f32, 'h', 'w'], a: f32, y: Out[f32, 'n'], z: Inout[i32, 'n']):\n"
SCOPE = {"hg": hg, "math": math, "TABLE": (1, 2, 3), "WORDS": ("a", "b"), "NAME": "n", "OBJECT": object(), "BIG": [0.5] * 20000, "RAGGED": ((1, 2), (3,)), "OPEN": TypeVar("OPEN"),
         **{name: getattr(hg, name) for name in ("In", "Out", "Inout", "f16", "f32", "f64", "i8", "i32", "i64", "u8", "u32", "u64")}}


def cases():
    """(text of the kernel, message) of the file."""
    with open(PATH, encoding="utf-8") as file:
        parts = file.read().split("\n====\n")
    for part in parts:
        text, _, message = part.partition("\n----\n")
        yield text, message.strip("\n")


def message_of(text):
    """What is said of it; "" where nothing is."""
    whole = text if "def k(" in text else HEAD + "".join(f"    {line}\n" for line in text.split("\n"))
    whole = whole if whole.endswith("\n") else whole + "\n"
    linecache.cache["kernel.py"] = (len(whole), None, whole.splitlines(True), "kernel.py")
    scope = dict(SCOPE)
    try:
        exec(compile(whole, "kernel.py", "exec"), scope)
        hg.kernel(scope["k"]).compile()
    except Exception as error:
        if not isinstance(error, hg.Error):
            return f"{type(error).__name__}: {error}"
        return re.sub(r"(/\S*/)?(\w+\.py):", r"\2:", str(error))
    return ""


def main():
    found = [(text, want, message_of(text)) for text, want in cases()]
    if "--update" in sys.argv[1:]:
        before = open(PATH, encoding="utf-8").read().splitlines()
        after = "\n====\n".join(f"{text}\n----\n{got}" for text, _, got in found) + "\n"
        with open(PATH, "w", encoding="utf-8") as file:
            file.write(after)
        print("\n".join(difflib.unified_diff(before, after.splitlines(), lineterm="", n=4)))
    for text, want, got in found:
        if "--update" not in sys.argv[1:]:
            checks.check(got == want, f"of\n{text}\nis said\n{got}\nexpected\n{want}")
        checks.check(got == "" or re.match(r"\w+\.py:\d+:\d+: error: .+\n *\d+ \| .*\n +\| +\^", got), f"place and caret: {got}")
        checks.check(got, f"nothing is said of\n{text}")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
