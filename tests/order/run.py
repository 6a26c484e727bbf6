#!/usr/bin/python3
"""tools/evaluation-order on small made-up sources: it finds each thing that it is there to find, and nothing in sources that are right.

    tests/order/run.py        ends with "N passed, N failed, N skipped"
"""
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADER = """
typedef struct kir_builder {
    int held;
} kir_builder;
typedef struct helper {
    kir_builder b;
    int n;
} helper;
typedef struct real {
    kir_builder *b;
} real;
typedef struct pair {
    int l, h;
} pair;
int zero(kir_builder *b);
int plain(kir_builder *b, int x, int y);
int of_helper(helper *x);
int reads_helper(const helper *x);
int of_real(const real *k);
void hold(kir_builder *b, int x);
int sum_held(kir_builder *b, int y);
#define sum(b, x, y) (hold(b, x), sum_held(b, y))
#define twice(b, x, y) \\
    sum(b, x, y)
#define open(b, x, y) plain(b, x, y)
"""
FOUND = "src/kir/made.c:2: "

# Name of the case, second line of the source, a part of what is printed or None where nothing is wrong.
CASES = [
    ("one argument writes", "int f(kir_builder *b) { return plain(b, zero(b), 1); }", None),
    ("two arguments write", "int f(kir_builder *b) { return plain(b, zero(b), zero(b)); }", FOUND + "2 arguments of plain"),
    ("deep in the arguments", "int f(kir_builder *b, int c) { return plain(b, c ? 1 + (int)zero(b) : 2, plain(b, zero(b), 1)); }", FOUND + "2 arguments of plain"),
    ("named steps", "int f(kir_builder *b) { int x = zero(b), y = zero(b); return plain(b, x, y); }", None),
    ("an ordered macro", "int f(kir_builder *b) { return sum(b, zero(b), sum(b, zero(b), zero(b))); }", None),
    ("a macro over an ordered one", "int f(kir_builder *b) { return twice(b, zero(b), zero(b)); }", None),
    ("a macro that is not ordered", "int f(kir_builder *b) { return open(b, zero(b), zero(b)); }", FOUND + "2 arguments of open"),
    ("an ordered macro writes", "int f(kir_builder *b) { return plain(b, sum(b, 1, 2), zero(b)); }", FOUND + "2 arguments of plain"),
    ("an initialiser", "void f(kir_builder *b) { pair p = {zero(b), zero(b)}; (void)p; }", FOUND + "2 parts of an initialiser"),
    ("a compound literal", "pair f(kir_builder *b) { return (pair){zero(b), zero(b)}; }", FOUND + "2 parts of an initialiser"),
    ("initialisers in one another", "void f(kir_builder *b) { pair p[] = {{zero(b), 1}, {2, zero(b)}}; (void)p; }", FOUND + "2 parts of an initialiser"),
    ("blocks are none", "void f(kir_builder *b) { if (zero(b)) { zero(b), zero(b); } else { zero(b); } }", None),
    ("a structure that holds a builder", "int f(kir_builder *b, helper *x) { return plain(b, of_helper(x), of_helper(x)); }", FOUND),
    ("reading it", "int f(kir_builder *b, helper *x) { return plain(b, reads_helper(x), reads_helper(x)); }", None),
    ("const, but it points to a builder", "int f(kir_builder *b, const real *k) { return plain(b, of_real(k), of_real(k)); }", FOUND),
    ("a function of the file", "static int own(kir_builder *b) { return zero(b); } int f(kir_builder *b) { return plain(b, own(b), own(b)); }", FOUND),
    ("a member of that name", "int f(kir_builder *b, pair p) { return plain(b, p.zero(b), p.zero(b)); }", None),
    ("text and comments", 'int f(kir_builder *b) { return plain(b, zero(b), "zero(b)" /* zero(b) */ != 0); }', None),
]


def main():
    passed = failed = 0
    for name, line, expected in CASES:
        with tempfile.TemporaryDirectory() as top:
            os.makedirs(f"{top}/tools")
            os.makedirs(f"{top}/src/kir")
            shutil.copy(f"{SOURCE}/tools/evaluation-order", f"{top}/tools/evaluation-order")
            with open(f"{top}/src/kir/made.h", "w", encoding="utf-8") as file:
                file.write(HEADER)
            with open(f"{top}/src/kir/made.c", "w", encoding="utf-8") as file:
                file.write('#include "kir/made.h"\n' + line + "\n")
            run = subprocess.run([sys.executable, f"{top}/tools/evaluation-order"], capture_output=True, text=True)
            text = run.stdout + run.stderr
            if (run.returncode == 0 and " 0 problems" in text) if expected is None else (run.returncode == 1 and expected in text):
                passed += 1
            else:
                failed += 1
                print(f"{name}: expected {expected or 'nothing wrong'}, got exit status {run.returncode}\n{text}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


sys.exit(main())
