"""The wheel: made of the build folder, installed into a virtual environment without a package index, and used there: its demonstration, its command,
an array and a program; it has at most 8 MB, every file is in RECORD with its hash, and the tag is what the machine code needs."""
import base64
import csv
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

SOURCE, BUILD = os.environ["HG_SOURCE_DIR"], os.environ["HG_BUILD_DIR"]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import checks  # noqa: E402
from checks import check  # noqa: E402

if not os.path.exists(os.path.join(BUILD, "python", "hologram", "_native.abi3.so")):
    checks.skip("the extension was not built: no headers of CPython 3.11 or newer (Debian package python3-dev)")
    sys.exit(checks.finish())
if not os.path.exists(os.path.join(BUILD, "hologram")):
    checks.skip("the command is not built")
    sys.exit(checks.finish())

folder = tempfile.mkdtemp()
try:
    made = subprocess.run([sys.executable, "-B", "-c", f"import backend; print(backend.build_wheel({folder!r}, {{'jit': 'off'}}))"],
                          cwd=os.path.join(SOURCE, "bindings", "python"), env={**os.environ, "HOLOGRAM_BUILD_DIR": BUILD}, capture_output=True, text=True)
    check(made.returncode == 0, made.stderr[-2000:])
    wheel = os.path.join(folder, made.stdout.splitlines()[-1]) if made.returncode == 0 else ""
    check(os.path.getsize(wheel) <= 8_000_000, f"{os.path.getsize(wheel):,} bytes")
    with zipfile.ZipFile(wheel) as file:
        check(file.testzip() is None, "the archive is whole")
        names = file.namelist()
        record = next(name for name in names if name.endswith("/RECORD"))
        rows = {row[0]: row for row in csv.reader(io.StringIO(file.read(record).decode()))}
        check(set(rows) == set(names), f"RECORD and the archive differ in {set(rows) ^ set(names)}")
        wrong = [name for name in names if name != record and
                 rows[name][1] != "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(file.read(name)).digest()).rstrip(b"=").decode()]
        check(not wrong, f"hashes of {wrong}")
        check("hologram/py.typed" in names, "py.typed is there")
        metadata = file.read(next(name for name in names if name.endswith("/METADATA"))).decode()
        check("Requires-Python: >=3.11" in metadata, "Requires-Python")
        machine = b"".join(file.read(name) for name in names if name.startswith("hologram/lib/") or name.endswith(".so"))
    newest = max(int(one) for one in [*re.findall(rb"GLIBC_2\.(\d+)\0", machine), *[36] * (b"GLIBC_ABI_DT_RELR\0" in machine)])
    check(f"-cp311-abi3-manylinux_2_{newest}_" in wheel, f"{os.path.basename(wheel)}: the machine code needs glibc 2.{newest}")
    with zipfile.ZipFile(wheel) as file:  # what pip does with it
        place = os.path.join(folder, "site")
        file.extractall(place)
        for info in file.infolist():
            os.chmod(os.path.join(place, info.filename), info.external_attr >> 16)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HOLOGRAM_", "HG_"))}
    environment.update(PYTHONPATH=place, PYTHONDONTWRITEBYTECODE="1", XDG_CACHE_HOME=os.path.join(folder, "cache"))

    def python(*arguments):
        return subprocess.run([sys.executable, "-B", *arguments], env=environment, cwd=folder, capture_output=True, text=True, timeout=120)
    used = python("-c", "import hologram as hg; print(hg.__file__); print((hg.arange(3) * 2).tolist()); "
                        "print(hg.named_kernel('atlas_add_f32').name)")
    check(used.returncode == 0 and used.stdout.splitlines()[0].startswith(place) and "[0, 2, 4]" in used.stdout, used.stdout + used.stderr[-2000:])
    for said in python("-m", "hologram", "devices"), python("-c", "import hologram as hg; print(*hg.devices(), sep='\\n')"):
        check(said.returncode == 0 and "cpu" in said.stdout and "directly" not in said.stdout, f"drivers are tried first: {said}")
    version = python("-m", "hologram", "--version")
    check(version.returncode == 0 and version.stdout.startswith("hologram "), version.stdout + version.stderr)
    demo = python("-m", "hologram", "demo", "picture.png", "--only", "cpu")
    check(demo.returncode == 0 and "equal bits: yes" in demo.stdout, demo.stdout + demo.stderr[-2000:])
    picture = os.path.join(folder, "picture.png")
    check(os.path.exists(picture) and open(picture, "rb").read(8) == b"\x89PNG\r\n\x1a\n", "the picture is a PNG")
finally:
    shutil.rmtree(folder)
sys.exit(checks.finish())
