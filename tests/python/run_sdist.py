"""The source distribution: made of the sources, built and installed by pip in a virtual environment of its own without a package index, and used there.
It compiles the whole library: some minutes. Last line: N passed, N failed, N skipped."""
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

SOURCE = os.environ["HG_SOURCE_DIR"]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import checks  # noqa: E402
from checks import check  # noqa: E402

folder = tempfile.mkdtemp()
environment = {name: value for name, value in os.environ.items() if not name.startswith(("HOLOGRAM_", "HG_", "PYTHON"))}
environment.update(PYTHONDONTWRITEBYTECODE="1", XDG_CACHE_HOME=os.path.join(folder, "cache"))


def run(*command, **named):
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, **named)


try:
    made = subprocess.run([sys.executable, "-B", "-c", f"import backend; print(backend.build_sdist({folder!r}))"],
                          cwd=os.path.join(SOURCE, "bindings", "python"), env=environment, capture_output=True, text=True)
    check(made.returncode == 0, made.stderr[-2000:])
    archive = os.path.join(folder, made.stdout.splitlines()[-1])
    with tarfile.open(archive) as file:
        names = file.getnames()
    root = os.path.basename(archive)[:-len(".tar.gz")]
    check(all(name.startswith(root + "/") for name in names), "all files are in one folder")
    check({f"{root}/PKG-INFO", f"{root}/pyproject.toml", f"{root}/CMakeLists.txt"} <= set(names), "metadata and the build's files")
    venv = os.path.join(folder, "venv")
    if run("/usr/bin/python3", "-m", "venv", venv).returncode:
        checks.skip("there is no python3-venv")
        sys.exit(checks.finish())
    python = os.path.join(venv, "bin", "python")
    installed = run(python, "-m", "pip", "install", "--disable-pip-version-check", "--no-index", "--no-deps", archive, timeout=2400)
    check(installed.returncode == 0, (installed.stdout + installed.stderr)[-3000:])
    used = run(python, "-c", "import hologram as hg; print(hg.__file__, (hg.arange(3) * 2).tolist(), hg.named_kernel('atlas_add_f32').name)")
    check(used.returncode == 0 and venv in used.stdout and "[0, 2, 4] atlas_add_f32" in used.stdout, used.stdout + used.stderr[-2000:])
    demo = run(python, "-m", "hologram", "demo", "picture.png", "--only", "cpu", timeout=120)
    check(demo.returncode == 0 and "equal bits: yes" in demo.stdout, demo.stdout + demo.stderr[-2000:])
finally:
    shutil.rmtree(folder)
sys.exit(checks.finish())
