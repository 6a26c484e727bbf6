"""The examples in Python, each run as a user does, with what it must print; pictures are PNGs of the right size."""
import glob
import importlib.util
import os
import struct
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

WANTED = {
    "axpy.py": ["[ 1.  3.  5.  7.  9. 11. 13. 15.]"],
    "mandelbrot.py": ["15269 of 72000 points are in the set after 200 rounds"],
    "heat.py": ["in the middle 1.056 degrees, at a quarter 19.764"],
    "kmeans.py": ["1288 of 1797 images are in a cluster of mostly their digit"],
    "black_scholes.py": ["mean call 19.242661, mean put 16.500997", "within 1e-12"],
    "life.py": [".................#......\n..................#.....\n................###....."],
    "digits.py": ["1787 of 1797 digits right, 440 of 449 unseen ones"],
    "stream.py": ["0.516 before, 0.018 after"],
    "debugging.py": ["debugging.py:", "x[i + 1]", "lane 7", "race", "equal"],
    "dask_parts.py": ["1000000 values, from 62499 to 62501 in a bin"],
    "ray_tasks.py": ["4 tasks, the bits of one: True"],
}
NEEDS = {"dask_parts.py": "dask", "ray_tasks.py": "ray"}
TASKS = glob.glob(os.path.join(SOURCE, "build", "tasks", "lib", "python3*", "site-packages"))  # tests/python/tasks.txt, which tools/setup installs
sys.path += TASKS
PICTURES = {"mandelbrot.py": (300, 240), "heat.py": (160, 120)}

here = os.path.join(SOURCE, "examples", "python")
names = {name for name in os.listdir(here) if name.endswith(".py")}
check(names == set(WANTED), f"examples without a test, or the other way round: {names ^ set(WANTED)}")
with tempfile.TemporaryDirectory() as folder:
    environment = {**os.environ, "PYTHONPATH": os.path.join(BUILD, "python"), "XDG_CACHE_HOME": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    for name, wanted in WANTED.items():
        if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
            checks.skip(f"{name}: {NEEDS[name]} is not installed")
            continue
        environment["PYTHONPATH"] = os.pathsep.join([os.path.join(BUILD, "python"), *(TASKS if name in NEEDS else [])])
        picture = [os.path.join(folder, name + ".png")] if name in PICTURES else []
        said = subprocess.run([sys.executable, os.path.join(here, name), *picture], env=environment, cwd=folder, capture_output=True, text=True, timeout=200)
        check(said.returncode == 0 and all(text in said.stdout for text in wanted), f"{name}: exit {said.returncode}\n{said.stdout}{said.stderr[-2000:]}")
        if picture and said.returncode == 0:
            with open(picture[0], "rb") as file:
                head = file.read(24)
            check(head[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", head[16:]) == PICTURES[name], f"{name}: the picture")
sys.exit(checks.finish())
