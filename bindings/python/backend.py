"""Builds wheels and source distributions of the package (PEP 517) with CMake and Ninja, and nothing else: no package is needed to build.

A wheel has the library, the command and the extension for the stable ABI of CPython 3.11, and runs without a compiler. What compiles kernels
to native code is a wheel of its own, hologram_jit (LLVM is larger than all else). A source distribution has the project's sources.

HOLOGRAM_BUILD_DIR  the build folder; its configuration stays as it is. Else build/wheel of the sources
"""
import base64
import gzip
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SOURCES = ("CMakeLists.txt", "CMakePresets.json", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "THIRD-PARTY.md", "bench", "bindings", "cli",
           "cmake", "docs", "examples", "include", "libexec", "src", "tools")
EPOCH = (1980, 1, 1, 0, 0, 0)  # files of equal contents make equal wheels


def _version():
    with open(os.path.join(ROOT, "include", "hologram", "version.h"), encoding="utf-8") as file:
        return ".".join(re.findall(r"#define HG_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", file.read()))


def _project():
    import tomllib
    with open(os.path.join(HERE, "pyproject.toml"), "rb") as file:
        return tomllib.load(file)["project"]


def _build():
    """Builds what a wheel is made of; returns the build folder."""
    folder = os.environ.get("HOLOGRAM_BUILD_DIR")
    if "t" in sys.abiflags:
        raise SystemExit("no wheel for a free-threaded build of Python: the extension is made for the stable ABI, which such builds do not have. "
                         "Use a build with the global interpreter lock (python3.11 or newer, not python3.13t)")
    if not folder:
        folder = os.path.join(ROOT, "build", "wheel")
        flags = ["-DCMAKE_C_FLAGS=-ffunction-sections -fdata-sections"] + [f"-DCMAKE_{kind}_LINKER_FLAGS=-Wl,--gc-sections"
                                                                          for kind in ("EXE", "SHARED", "MODULE")]
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DHG_TESTS=OFF",
                        "-DHG_PACK_RELOCATIONS=OFF",  # older systems' loaders do not know packed ones
                        f"-DPython3_EXECUTABLE={sys.executable}", *flags], check=True, stdout=sys.stderr)
    targets = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"], check=True, capture_output=True, text=True).stdout
    if "hologram_native:" not in targets and "_native.abi3.so:" not in targets:
        raise SystemExit("no wheel: CMake found no headers of CPython 3.11 or newer (Debian package python3-dev)")
    wanted = ["libhologram.so", "hologram_python", "hologram_command", "hologram_try_driver"]
    wanted += ["libhologram_jit.so"] if "libhologram_jit.so:" in targets else []
    subprocess.run(["ninja", "-C", folder, *wanted], check=True, stdout=sys.stderr)
    return folder


def _stripped(path):
    """The bytes of a file of machine code without its symbols for debuggers."""
    import shutil
    import tempfile
    if not shutil.which("strip"):
        with open(path, "rb") as file:
            return file.read()
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "file")
        subprocess.run(["strip", "--strip-unneeded", "-o", copy, path], check=True)
        with open(copy, "rb") as file:
            return file.read()


def _tag(data):
    """manylinux_X_Y of the newest symbol of glibc that machine code needs."""
    needs = [tuple(map(int, one.split(b"."))) for one in re.findall(rb"GLIBC_(2\.\d+)\0", data)]
    newest = max([(2, 17), *needs, *[(2, 36)] * (b"GLIBC_ABI_DT_RELR\0" in data)])
    return f"manylinux_{newest[0]}_{newest[1]}_{os.uname().machine}"


def _metadata(name, requires=()):
    project = _project()
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {_version()}", f"Requires-Python: {project['requires-python']}",
             "License: MIT OR Apache-2.0"]
    if name == "hologram":
        lines += [f"Summary: {project['description']}", f"Keywords: {','.join(project['keywords'])}"]
        lines += [f"Classifier: {one}" for one in project["classifiers"]]
        for extra, packages in project["optional-dependencies"].items():
            lines += [f"Provides-Extra: {extra}", *(f"Requires-Dist: {one}; extra == '{extra}'" for one in packages)]
        with open(os.path.join(HERE, project["readme"]), encoding="utf-8") as file:
            return "\n".join([*lines, "Description-Content-Type: text/markdown", "", file.read()])
    lines += ["Summary: Native code for the programs of hologram, by LLVM", *(f"Requires-Dist: {one}" for one in requires), "", ""]
    return "\n".join(lines)


def _write(directory, name, tag, files, metadata, scripts=()):
    """A wheel of files {path: (bytes, executable)}; returns its name."""
    info = f"{name}-{_version()}.dist-info"
    files[f"{info}/METADATA"] = (metadata.encode(), False)
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: hologram\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), False)
    for license in ("LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY.md"):
        with open(os.path.join(ROOT, license), "rb") as file:
            files[f"{info}/licenses/{license}"] = (file.read(), False)
    if scripts:
        files[f"{info}/entry_points.txt"] = (("[console_scripts]\n" + "".join(f"{one}\n" for one in scripts)).encode(), False)
    record = io.StringIO()
    file_name = f"{name}-{_version()}-{tag}.whl"
    path = os.path.join(directory, file_name)
    with zipfile.ZipFile(path + ".new", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        def add(place, data, executable):
            entry = zipfile.ZipInfo(place, EPOCH)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100755 if executable else 0o100644) << 16
            out.writestr(entry, data)
        for place, (data, executable) in sorted(files.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.write(f"{place},sha256={digest},{len(data)}\n")
            add(place, data, executable)
        record.write(f"{info}/RECORD,,\n")
        add(f"{info}/RECORD", record.getvalue().encode(), False)
    os.replace(path + ".new", path)
    return file_name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The wheel of the package, and beside it hologram_jit where LLVM is there, unless config_settings has {"jit": "off"}. Returns the name
    of the first."""
    folder = _build()
    package = os.path.join(folder, "python", "hologram")
    files = {}
    for path, folders, names in os.walk(package, followlinks=True):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        for name in sorted(names):
            if not name.endswith((".py", ".pyi", ".typed", ".atlas")):
                continue
            with open(os.path.join(path, name), "rb") as file:
                files["hologram/" + os.path.relpath(os.path.join(path, name), package)] = (file.read(), False)
    for other in ("hologram_torch",):
        place = os.path.join(HERE, other + ".py")
        if os.path.exists(place):
            with open(place, "rb") as file:
                files[other + ".py"] = (file.read(), False)
    major = _version().split(".")[0]
    machine = {"hologram/_native.abi3.so": os.path.join(package, "_native.abi3.so"),
               f"hologram/lib/libhologram.so.{major}": os.path.realpath(os.path.join(folder, "libhologram.so")),
               "hologram/lib/hologram": os.path.join(folder, "hologram"),
               "hologram/lib/libexec/hologram/hologram-try-driver": os.path.join(folder, "libexec", "hologram", "hologram-try-driver")}
    code = {place: _stripped(path) for place, path in machine.items()}
    files.update((place, (data, True)) for place, data in code.items())
    tag = f"cp311-abi3-{_tag(b''.join(code.values()))}"
    os.makedirs(wheel_directory, exist_ok=True)
    made = _write(wheel_directory, "hologram", tag, files, _metadata("hologram"), [f"{name} = {place}" for name, place in _project()["scripts"].items()])
    jit = os.path.join(folder, "libhologram_jit.so")
    if os.path.exists(jit) and (config_settings or {}).get("jit") != "off":
        data = _stripped(jit)
        _write(wheel_directory, "hologram_jit", f"py3-none-{_tag(data)}", {"hologram/lib/libhologram_jit.so": (data, True)},
               _metadata("hologram_jit", [f"hologram=={_version()}"]))
    return made


def build_sdist(sdist_directory, config_settings=None):
    """The sources of the project, from which pip builds the wheel."""
    name = f"hologram-{_version()}"
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--", *SOURCES], capture_output=True)
    if listed.returncode == 0 and listed.stdout:
        paths = [one.decode() for one in listed.stdout.split(b"\0") if one]
    else:  # a source distribution itself
        paths = [os.path.relpath(os.path.join(folder, file), ROOT) for source in SOURCES
                 for folder, _, names in ([(ROOT, [], [source])] if os.path.isfile(os.path.join(ROOT, source)) else os.walk(os.path.join(ROOT, source)))
                 for file in names if "__pycache__" not in folder]
    os.makedirs(sdist_directory, exist_ok=True)
    with open(os.path.join(sdist_directory, name + ".tar.gz"), "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as out:
        def add(place, data, mode=0o644):
            entry = tarfile.TarInfo(f"{name}/{place}")
            entry.size, entry.mode = len(data), mode
            out.addfile(entry, io.BytesIO(data))
        add("PKG-INFO", _metadata("hologram").encode())
        with open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8") as file:
            text = file.read()
        add("pyproject.toml", text.replace('backend-path = ["."]', 'backend-path = ["bindings/python"]').encode())
        for path in sorted(paths):
            with open(os.path.join(ROOT, path), "rb") as file:
                add(path, file.read(), 0o755 if os.access(os.path.join(ROOT, path), os.X_OK) else 0o644)
    return name + ".tar.gz"


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "dist")
    print(os.path.join(target, build_wheel(target)))
    print(os.path.join(target, build_sdist(target)))
