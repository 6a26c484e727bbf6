"""The stubs of the package are what bindings/python/stubs.py writes of it now; mypy, strictly, takes them and a program that uses them, and refuses
one that uses them wrongly, where mypy is installed."""
import os
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["HG_SOURCE_DIR"], os.environ["HG_BUILD_DIR"]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import checks  # noqa: E402
from checks import check  # noqa: E402

if not os.path.exists(os.path.join(BUILD, "python", "hologram", "_native.abi3.so")):
    checks.skip("the extension was not built: no headers of CPython 3.11 or newer (Debian package python3-dev)")
    sys.exit(checks.finish())
environment = {**os.environ, "PYTHONPATH": os.path.join(BUILD, "python")}
said = subprocess.run([sys.executable, "-B", os.path.join(SOURCE, "bindings", "python", "stubs.py")], env=environment, capture_output=True, text=True)
check(said.returncode == 0, said.stdout + said.stderr)

USE = """
import hologram as hg

x = hg.asarray([1, 2, 3], dtype=hg.float32)
y: hg.Array = hg.sin(x) + 2 * x[::-1]
n: tuple[int, ...] = hg.sum(y, axis=0, keepdims=True).shape
with hg.scope():
    w = hg.softmax(y @ y.T, axis=-1)
u: hg.Array = hg.unique_all(x).values
p = hg.assemble("")
p(x, n=3)
try:
    p.bind(x)()
except hg.ProgramError as error:
    print(error.code, error.place)
f = hg.fft.fft(x, n=8)


async def g() -> None:
    await p.bind(x).start()
"""
WRONG = {"n: str = hg.ones(3).shape": "tuple", "hg.softmax(hg.ones(3), axes=1)": "axes", "hg.ones(3).shap": "shap", "hg.sum(hg.ones(3), keepdims=3)": "keepdims"}
if subprocess.run([sys.executable, "-m", "mypy", "--version"], capture_output=True).returncode:
    checks.skip("mypy is not installed")
else:
    with tempfile.TemporaryDirectory() as folder:
        def mypy(text):
            path = os.path.join(folder, "use.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder, path],
                                  env={**os.environ, "MYPYPATH": os.path.join(BUILD, "python")}, capture_output=True, text=True)
        said = mypy(USE)
        check(said.returncode == 0, said.stdout[-2000:])
        for line, word in WRONG.items():
            said = mypy("import hologram as hg\n" + line + "\n")
            check(said.returncode == 1 and word in said.stdout, f"{line}: {said.stdout[-500:]}")
sys.exit(checks.finish())
