#!/usr/bin/python3
"""hologram explain and hologram lang print the documents; docs/reference/diagnostics.md has a section for every code that the sources can give, whose
example provokes exactly that code (tests/docs runs the examples).

Needs HG_SOURCE_DIR and HG_BUILD_DIR. Last line: N passed, N failed, N skipped.
"""
import glob
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
from checks import check, finish

SOURCE, BUILD = os.environ["HG_SOURCE_DIR"], os.environ["HG_BUILD_DIR"]
COMMAND = os.path.join(BUILD, "hologram")
REFERENCE = os.path.join(SOURCE, "docs", "reference")


def run(*arguments):
    process = subprocess.run([COMMAND, *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=60, cwd=os.path.join(SOURCE, "tests"))
    return process.returncode, process.stdout.decode(), process.stderr.decode()


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def sections(text):
    """(level, title, text with its heading) of every heading outside of code."""
    lines, found, code = text.split("\n"), [], False
    for at, line in enumerate(lines):
        if line.startswith("```"):
            code = not code
        heading = None if code else re.match(r"(#+) (.*)", line)
        if heading:
            found.append((len(heading.group(1)), heading.group(2), at))
    for i, (level, title, at) in enumerate(found):
        end = next((later for deeper, _, later in found[i + 1:] if deeper <= level), len(lines))
        yield level, title, "\n".join(lines[at:end])


def printed(text):
    """Without the comments that tests read, one blank line where they leave two, none at the end."""
    text = "\n".join(line for line in text.split("\n") if not line.startswith("<!--"))
    return re.sub(r"\n\n\n+", "\n\n", text).strip("\n") + "\n"


def codes_of_sources():
    found = set()
    for folder in "src", "cli":
        for path in glob.glob(os.path.join(SOURCE, folder, "**", "*.[ch]"), recursive=True):
            if not path.endswith(os.path.join("tensor", "io.c")): # types of other files have such names: F32
                found |= set(re.findall(r'"([A-Z]\d\d)"', read(path)))
    faults = re.findall(r"(?:KIR|TILE)_FAULT_\w+ = (\d+)\b", read(os.path.join(SOURCE, "src", "kir", "kir.h")) + read(os.path.join(SOURCE, "src", "kir", "fault_text.h")) + read(os.path.join(SOURCE, "src", "tile", "tile.h")))
    return {code for code in found if code[0] in "SNLDVBPFXG"} | {f"F{int(number):02}" for number in faults if 0 < int(number) < 100}


def codes():
    page = read(os.path.join(REFERENCE, "diagnostics.md"))
    pages = {title[:3]: text for level, title, text in sections(page) if level == 3}
    for code in sorted(codes_of_sources() ^ set(pages)):
        check(False, f"{code}: " + ("docs/reference/diagnostics.md has no section" if code not in pages else "nothing in the sources gives it"))
    listed = read(os.path.join(REFERENCE, "language.md"))
    listed = "".join(row for row in listed.split("\n") if re.match(r"\| [A-Z]\d\d", row))
    for code, text in pages.items():
        check(code in listed or re.search(rf"{code[0]}\d\d … {code[0]}\d\d", listed), f"{code} is not in the table of docs/reference/language.md")
        elsewhere = re.search(r"^No short example provokes it: .*?`([\w/.]+)`", text, re.M)
        if elsewhere:
            check(os.path.exists(os.path.join(SOURCE, elsewhere.group(1))), f"{code}: there is no {elsewhere.group(1)}")
        else:
            said = set(re.findall(r"(?:error|warning|fault).([A-Z]\d\d)[\].]", "\n".join(re.findall(r"^```console\n(.*?)^```", text, re.S | re.M))))
            check(said == {code}, f"{code}: its example provokes {sorted(said) or 'nothing'}")
        status, out, err = run("explain", code)
        check((status, out, err) == (0, printed(text), ""), f"explain {code}: {out}{err}")
    status, out, _ = run("explain", "v09")
    check(status == 0 and out.startswith("### V09 "), f"a code in small letters: {out}")
    status, out, _ = run("explain", "V09", "--json")
    check(status == 0 and json.loads(out)["outputs"] == [{"name": "V09", "text": printed(pages["V09"])}], f"explain --json: {out}")
    for word in "V99", "Q01", "popcnt":
        status, _, err = run("explain", word)
        check(status == 2 and f"'{word}' is no code, no instruction and no file" in err, f"explain {word}: {err}")
    check(run("explain")[0] == 2 and run("explain", "V01", "V02")[0] == 2, "explain without and with two words")


def instructions():
    forms = re.findall(r"^\| `([0-9A-F]{3})` \| `([^`]*)` \|", read(os.path.join(REFERENCE, "isa.md")), re.M)
    check(len(forms) > 100, f"{len(forms)} forms in isa.md")
    words = {}
    for _, form in forms:
        words.setdefault(re.match(r"[a-z0-9_]+(?:\.[a-z0-9_]+)*", form.replace("COND", "")).group(), []).append(form.replace("\\|", "|"))
    for word, expected in words.items():
        status, out, err = run("explain", word)
        lines = out.split("\n")
        check(status == 0 and all(form in lines for form in expected), f"explain {word}: {out}{err}; expected {expected}")
    for word, form in ("add.f32", "add[.T] d, a, b"), ("setltu.u64", "setCOND[.T] p, a, b"), ("memfence.block", "memfence.SCOPE"), ("DIV", "div[.T] d, a, b"), ("cvt.f32.u8", "cvt.DST.SRC d, s"):
        status, out, _ = run("explain", word)
        check(status == 0 and out.split("\n")[0] == form, f"explain {word}: {out}")
    status, out, _ = run("explain", "div")
    check(re.search(r"\n    dst = a / b; .*\n    types: all; result: exact; opcode 013\n", out), f"explain div: {out}")


def language():
    text = read(os.path.join(REFERENCE, "language.md"))
    check(run("lang") == (0, printed(text), ""), "lang does not print the page")
    parts = [(level, title, body) for level, title, body in sections(text) if level > 1]
    contents = "".join("  " * (level - 2) + title + "\n" for level, title, _ in parts)
    check(run("lang", "--contents") == (0, contents, ""), "lang --contents")
    for level, title, body in parts:
        number = re.match(r"(\d+(?:\.\d+)*)\.? ", title)
        if number:
            check(run("lang", number.group(1)) == (0, printed(body), ""), f"lang {number.group(1)}")
    check(run("lang", "address")[1] == run("lang", "2.1")[1], "lang address")
    status, out, _ = run("lang", "ADDRESSES")
    check(status == 0 and re.match(r"#+ .*addresses", out, re.I), f"lang by a word: {out[:200]}")
    status, out, err = run("lang", "memfence")
    check(status == 2 and err.rstrip().endswith("it stands in 4.6"), f"lang by a word of the text: {err}")
    check(run("lang", "no such thing")[0] == 2 and run("lang", "1", "2")[0] == 2, "lang with what is no section")


def main():
    codes()
    instructions()
    language()
    return finish()


sys.exit(main())
