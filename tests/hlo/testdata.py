#!/usr/bin/python3
"""StableHLO's own test data, which is not part of this project, read and run: a table of operations, files right, wrong and refused with the reason.

    STABLEHLO=DIR tests/hlo/testdata.py [WORD]

DIR is a checkout of github.com/openxla/stablehlo. Its files check themselves by calls that no text has (check.expect_…): here their two operands become
results of @main, which are compared. WORD: only files whose name has it. A file is right where all its results are within the bound that its check
names: expect_eq the same, expect_close 1e-5 of f32 (f16 4e-3, bf16 4e-2, f64 1e-12), expect_almost_eq 1e-3, or what it says."""
import collections
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from package import checks, hg, numpy

np = numpy()
BOUNDS = {"bf16": 4e-2, "f16": 4e-3, "f64": 1e-12}
TYPE = r"tensor<(?:[^<>]|<[^<>]*>)*>"


class Unknown(Exception):
    """A file without checks of the known forms."""


def checked(text):
    """The text of a module whose @main returns pairs (result, expected), the kind of each check and its type."""
    pairs = []

    def call(match):
        kind, left, right, types = match.groups()
        pairs.append((kind, left, right, re.findall(TYPE, types)[0]))
        return ""

    def constant(match):
        kind, left, elements, dtype = match.groups()
        name = f"%wanted{len(pairs)}"
        pairs.append((kind, left, name, dtype))
        return f"{name} = stablehlo.constant {elements} : {dtype}"

    start = re.search(r"func\.func (?:public |private )?@(\w+)\(\)[^\n]*\{\n", text)
    if not start:
        raise Unknown("a test without arguments that checks its results")
    end = text.index("\n  }" if text.startswith("module") or "\nmodule" in text else "\n}", start.end())
    body = text[start.end():end]
    body = re.sub(r"stablehlo\.custom_call @check\.expect_(\w+)\((%[\w#]+), (%[\w#]+)\)[^\n]*?: \((.*)\) -> \(\)", call, body)
    body = re.sub(rf"check\.expect_(\w+?)_const (%[\w#]+), (dense<[^:]*>)[^:\n]* : ({TYPE})", constant, body)
    body = re.sub(rf"check\.expect_(\w+) (%[\w#]+), (%[\w#]+)[^\n]*? : ({TYPE}.*)", call, body)
    if not pairs:
        raise Unknown("a test without arguments that checks its results")
    body = re.sub(r"\n *(?:func\.)?return\b[^\n]*", "", body)
    names, types = [], []
    for number, (_, left, right, dtype) in enumerate(pairs):
        wide = dtype.replace("bf16", "f32")
        for side, name in enumerate((left, right)):
            if "bf16" in dtype:
                body += f"\n    %wide{number}_{side} = stablehlo.convert {name} : ({dtype}) -> {wide}"
                name = f"%wide{number}_{side}"
            names.append(name)
            types.append(wide)
    body += f"\n    return {', '.join(names)} : {', '.join(types)}"
    head = f"func.func public @main() -> ({', '.join(types)}) {{\n"
    return text[:start.start()] + head + body + text[end:], pairs


def is_right(kind, dtype, got, want):
    got, want = np.asarray(got), np.asarray(want)
    if want.dtype.kind != "f":
        return np.array_equal(got, want)
    bound = 0 if kind == "eq" else next((value for name, value in BOUNDS.items() if name in dtype), 1e-5)
    if kind.startswith("almost"):
        bound = max(bound, 1e-3)
    with np.errstate(all="ignore"):
        near = (got == want) | (np.isnan(got) & np.isnan(want)) | (np.abs(got - want) <= bound * (1 + np.abs(want)))
    return bool(np.all(near))


def tests_of(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^ *//(?! -----)[^\n]*\n", "", file.read(), flags=re.M)
    parts = [part for part in text.split("// -----") if "func.func" in part]
    return [part.strip("\n") for part in parts] or [text]


def main():
    folder = os.environ.get("STABLEHLO")
    if not folder or not os.path.isdir(os.path.join(folder, "stablehlo", "testdata")):
        checks.skip("STABLEHLO names no checkout of github.com/openxla/stablehlo")
        return checks.finish()
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    table, reasons, wrong = collections.defaultdict(collections.Counter), collections.Counter(), []
    files = [path for part in ("testdata", "tests/interpret") for path in sorted(glob.glob(os.path.join(folder, "stablehlo", part, "*.mlir")))]
    for path in files:
        name = os.path.basename(path)[:-5]
        if word not in name:
            continue
        for text in tests_of(path):
            operation = re.sub(r"_(b?float|u?int|complex|bool|dtype|shape|lax|inshape|kwargs|op|inf|nan|nonzero|\d).*", "", name)
            try:
                text, pairs = checked(text)
                module = hg.from_stablehlo(text, name=name)
                results = module()
                results = results if isinstance(results, tuple) else (results,)
                good = all(is_right(kind, dtype, results[2 * k], results[2 * k + 1]) for k, (kind, _, _, dtype) in enumerate(pairs))
                table[operation]["right" if good else "wrong"] += 1
                checks.check(good, f"{name}: a result differs")
                if not good:
                    wrong.append(name)
            except (Unknown, hg.ProgramError) as error:
                table[operation]["refused"] += 1
                reason = re.sub(r"^.*?error\[\w+\]: |^.*?line \d+, column \d+: ", "", str(error).splitlines()[0] if str(error) else "")
                reasons[re.sub(r"%\w+|'[^']{0,60}'|\d+", "…", reason)[:140]] += 1
            except hg.Error as error:
                table[operation]["failed"] += 1
                checks.check(False, f"{name}: {str(error)[:200]}")
    print(f"{'file':40} {'right':>6} {'wrong':>6} {'refused':>8} {'failed':>7}")
    for operation, counts in sorted(table.items()):
        print(f"{operation[:40]:40} {counts['right']:6} {counts['wrong']:6} {counts['refused']:8} {counts['failed']:7}")
    total = sum(table.values(), collections.Counter())
    print(f"{'all':40} {total['right']:6} {total['wrong']:6} {total['refused']:8} {total['failed']:7}\n\nrefused:")
    for reason, count in reasons.most_common():
        print(f"{count:6}  {reason}")
    return checks.finish()


sys.exit(main())
