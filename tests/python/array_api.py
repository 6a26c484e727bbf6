"""The public suite of the Python array API standard over the package: array_api.py SUITE [--max-examples N]

SUITE is a checkout of github.com/data-apis/array-api-tests with its folder array-api (a checkout of github.com/data-apis/array-api); the Python that
runs this needs pytest, hypothesis, ndindex, NumPy. Failures are told apart: functions of complex numbers and of linear algebra that the library
refuses by name; arrays of more than 8 axes; those that stand with a reason in array_api_expected.txt; others, and expected ones that pass, make the exit status 1.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "..", "..")
BUILD = os.environ.get("HG_BUILD_DIR") or os.path.join(SOURCE, "build", "release")
REFUSED = "cholesky eigh eigvalsh matrix_norm matrix_rank pinv qr svd svdvals".split()


def expected():
    with open(os.path.join(HERE, "array_api_expected.txt"), encoding="utf-8") as file:
        return {line.strip() for line in file if line.strip() and not line.startswith("#")}


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    suite, more = sys.argv[1], sys.argv[2:]
    environment = {**os.environ, "PYTHONPATH": os.path.abspath(os.path.join(BUILD, "python")), "ARRAY_API_TESTS_MODULE": "hologram",
                   "ARRAY_API_TESTS_VERSION": "2024.12"}
    said = subprocess.run([sys.executable, "-m", "pytest", "array_api_tests", "-q", "-rf", "--tb=short", "--disable-warnings", "-p", "no:cacheprovider", *more],
                          cwd=suite, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = said.stdout.splitlines()
    failed = {re.sub(r" - \S.*$", "", line.removeprefix("FAILED ")) if "] - " not in line else line.removeprefix("FAILED ").rpartition("] - ")[0] + "]"
              for line in lines if line.startswith(("FAILED ", "ERROR "))}
    sections = re.findall(r"^_{3,} (.*?) _{3,}\n(.*?)(?=^_{3,} |^=====)", said.stdout, re.S | re.M)
    said_complex = {name for name, text in sections if "not of complex numbers" in text}
    complex_ones = {one for one in failed if "imag(x_i)" in one or one.rpartition("::")[2] in said_complex}
    said_axes = {name for name, text in sections if "than 8 axes" in text or "at most 8" in text}
    beyond = {one for one in failed if one.rpartition("::")[2] in said_axes}
    refused = {one for one in failed if any(re.search(rf"test_{name}$", one) for name in REFUSED)}
    known = expected()
    others = failed - complex_ones - refused - beyond - known
    passes = {one for one in known if one not in failed}
    print(lines[-1] if lines else said.stdout)
    print(f"functions of complex numbers that are refused: {len(complex_ones)}; of linear algebra: {len(refused)}; more than 8 axes: {len(beyond)}; "
          f"expected: {len(known & failed)}")
    for one in sorted(others):
        print(f"unexpected: {one}")
    for one in sorted(passes):
        print(f"expected to fail, and passes: {one}")
    return 1 if others or passes or not re.search(r"\d+ passed", said.stdout) else 0


if __name__ == "__main__":
    sys.exit(main())
