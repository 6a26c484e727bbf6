#!/usr/bin/python3
"""Builds the npm package: hologram.wasm, hologram-core.wasm, the modules, and the tarball that `npm install` takes.

    bindings/npm/build.py [--native BUILD] [--build DIR] [--quick] [FOLDER]

BUILD is a native build folder, for the tile handlers that it generated (build/release, `ninja tiles/handlers.c`); DIR is where the WebAssembly is built
(build/npm); the tarball hologram-VERSION.tgz comes into FOLDER (dist). Needs clang, lld, CMake and Ninja; npm is not needed. Equal
files make equal tarballs. wasm-opt (binaryen) makes the files a sixteenth smaller, in half a minute of a processor: --quick goes without.
"""
import argparse
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MODULES = ("hologram.wasm", "hologram-core.wasm")
FEATURES = ("simd", "threads", "bulk-memory", "mutable-globals", "sign-ext", "nontrapping-float-to-int")


def version():
    with open(os.path.join(ROOT, "include", "hologram", "version.h"), encoding="utf-8") as file:
        return ".".join(re.findall(r"#define HG_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", file.read()))


def run(*command, **more):
    subprocess.run(command, check=True, stdout=sys.stderr, **more)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True).stdout


def replace(path, data):
    """Writes a file where it says something else: what is the same is not built again."""
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() == data:
                return
    with open(path, "wb") as file:
        file.write(data)


def build(native, folder):
    """The modules of WebAssembly and interface.js in the folder."""
    if not os.path.exists(os.path.join(native, "tiles", "handlers.c")):
        raise SystemExit(f"{native}/tiles/handlers.c is missing: ninja -C {native} tiles/handlers.c")
    os.makedirs(folder, exist_ok=True)
    interface = os.path.join(folder, "interface.json")
    replace(interface, output(sys.executable, "-B", os.path.join(ROOT, "tools", "interface")))
    replace(os.path.join(folder, "interface.js"), output(sys.executable, "-B", os.path.join(HERE, "generate.py"), "js", interface))
    run("cmake", "--fresh", "-G", "Ninja", # flags of the toolchain are kept from its first run otherwise
        "-S", os.path.join(HERE, "wasm"), "-B", folder,
        "-DCMAKE_TOOLCHAIN_FILE=" + os.path.join(ROOT, "cmake", "toolchains", "wasm32.cmake"),
        "-DHG_TILES_DIR=" + os.path.join(native, "tiles"), "-DHG_INTERFACE=" + interface,
        *(f"-DCMAKE_C_COMPILER_LAUNCHER={name}" for name in [os.environ.get("CMAKE_C_COMPILER_LAUNCHER")] if name))
    run("ninja", "-C", folder)


def smaller(folder, name):
    """What wasm-opt makes of a module of the folder."""
    source, made = os.path.join(folder, name), os.path.join(folder, name + ".small")
    if not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(source):
        run("wasm-opt", "-Oz", *(f"--enable-{one}" for one in FEATURES), source, "-o", made + ".new")
        os.replace(made + ".new", made)  # what was cut off is not taken for made
    return made


def unshared(name, wasm):
    """The module with a memory that is not shared, which every host has; threads.js turns the bit again."""
    declared = b"\3env\6memory\2"
    at = wasm.index(declared) + len(declared)
    if wasm[at] != 3:
        raise SystemExit(f"{name}: the flags of its memory are {wasm[at]}, expected 3, shared and with a maximum")
    return wasm[:at] + b"\1" + wasm[at + 1:]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def contents(folder, small):
    """name in the package -> bytes"""
    files = {}
    for source, names in ((os.path.join(HERE, "src"), os.listdir(os.path.join(HERE, "src"))), (HERE, ["README.md", "hologram.d.ts"]),
                          (ROOT, ["LICENSE-APACHE", "LICENSE-MIT"]), (folder, ["interface.js"])):
        for name in names:
            with open(os.path.join(source, name), "rb") as file:
                files[name] = file.read()
    with open(os.path.join(HERE, "package.json"), encoding="utf-8") as file:
        package = json.load(file)
    package["version"] = version()
    for name in MODULES:
        files[name] = unshared(name, read(smaller(folder, name) if small else os.path.join(folder, name)))
    files["package.json"] = (json.dumps(package, indent=2) + "\n").encode()
    return files


def tarball(files):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo("package/" + name)
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), mtime=0)


def measure(wasm):
    return {"bytes": len(wasm), "gzip": len(gzip.compress(wasm, 9))}


def check_budget(folder):
    """Fails where a module is above wasm/budget.txt before wasm-opt."""
    budget = re.findall(r"^(\S+) +(bytes|gzip) +(\d+)$", read(os.path.join(HERE, "wasm", "budget.txt")).decode(), re.M)
    found = {name: measure(read(os.path.join(folder, name))) for name in MODULES}
    for name, what, most in budget:
        if found[name][what] > int(most):
            raise SystemExit(f"{name}: {what} {found[name][what]:,}, above {int(most):,} of bindings/npm/wasm/budget.txt: make it smaller, or "
                             "raise the budget on purpose")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--native", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "npm"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("folder", nargs="?", default=os.path.join(ROOT, "dist"))
    given = parser.parse_args()
    native, folder = os.path.abspath(given.native), os.path.abspath(given.build)
    build(native, folder)
    small = not given.quick and shutil.which("wasm-opt") is not None
    check_budget(folder)
    files = contents(folder, small)
    said = ", ".join("{} {bytes:,}, by gzip {gzip:,}".format(name, **measure(files[name])) for name in MODULES)
    os.makedirs(given.folder, exist_ok=True)
    path = os.path.join(given.folder, f"hologram-{version()}.tgz")
    replace(path, tarball(files))
    print(f"{path}: {os.path.getsize(path):,} bytes; {said}{'' if small else ', without wasm-opt'}")


if __name__ == "__main__":
    main()
