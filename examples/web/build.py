#!/usr/bin/python3
"""Puts the page together: a folder that any server of files serves.

    examples/web/build.py --command HOLOGRAM TARBALL FOLDER

HOLOGRAM is the command, whose results are hashed (native.json); TARBALL is the npm package, which is unpacked in the folder.
"""
import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.dirname(HERE)
OWN = (".html", ".css", ".svg", ".js")
TAKEN = {"examples/axpy.atlas": "programs/axpy.atlas", "examples/median3x3.json": "json/median3x3.json",
         **{f"examples/digits/{name}.atlas": f"digits/programs/{name}.atlas" for name in ("normalize", "layer")},
         **{f"examples/digits/{name}.npy": f"digits/weights/{name}.npy" for name in ("w1", "b1", "w2", "b2")}}


def hashed():
    """The files whose hashes the page compares: the first ten of samples.js."""
    with open(os.path.join(HERE, "samples.js"), encoding="utf-8") as file:
        text = file.read()
    count = int(re.search(r"HASHED = SAMPLES\.slice\(0, (\d+)\)", text).group(1))
    return re.findall(r"file: '(\S+)'", text)[:count]


def digest(command, program):
    """SHA-256 of the bytes that a program writes to y."""
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "y.bin")
        subprocess.run([command, "run", program, "--backend", "cpu", "--out", f"y=raw:{result}"], check=True, stdout=subprocess.DEVNULL)
        with open(result, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()


def native(command):
    version = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    return {"library": version.splitlines()[0], "machine": f"{platform.system()} {platform.machine()}",
            "hashes": {name: digest(command, os.path.join(HERE, name)) for name in hashed()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", required=True)
    parser.add_argument("tarball")
    parser.add_argument("folder")
    given = parser.parse_args()
    shutil.rmtree(given.folder, ignore_errors=True)
    os.makedirs(given.folder)
    for name in os.listdir(HERE):
        if name.endswith(OWN):
            shutil.copy(os.path.join(HERE, name), given.folder)
    shutil.copytree(os.path.join(HERE, "programs"), os.path.join(given.folder, "programs"))
    for name, source in TAKEN.items():
        os.makedirs(os.path.dirname(os.path.join(given.folder, name)), exist_ok=True)
        shutil.copy(os.path.join(EXAMPLES, source), os.path.join(given.folder, name))
    with tarfile.open(given.tarball) as archive:
        for member in archive:
            member.mtime = int(time.time())  # else a browser takes one of an older package for the same
            archive.extract(member, given.folder)
    with open(os.path.join(given.folder, "native.json"), "w", encoding="utf-8") as file:
        json.dump(native(given.command), file, indent=1)
    print(f"{given.folder}: the page, with hashes of {len(hashed())} programs", file=sys.stderr)


if __name__ == "__main__":
    main()
