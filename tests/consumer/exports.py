#!/usr/bin/python3
"""exports.py LIBRARY ARCHIVE INCLUDE SOURCE: the library exports the functions that the headers mark HG_API, those that only programs compiled
with older headers call (src/runtime/abi_*.c in the tree SOURCE), and nothing else; and whatever an
earlier release exported. The global names of the archive are the same: every other one of a program is its own."""
import glob
import os
import re
import subprocess
import sys

library, archive, include, source = sys.argv[1:]
symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
exported = {line.split()[-1].split("@")[0] for line in symbols.splitlines()} - {"HOLOGRAM_0"}
declared = set()
headers = [os.path.join(path, name) for path, _, names in os.walk(include) for name in names]
for path in headers + glob.glob(os.path.join(source, "src/runtime/abi_*.c")):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    for found in re.finditer(r"\bHG_API\b(?!\s*__attribute__|\s*\n)[^;{(]*?\b(hg_\w+)\s*\(", text):
        declared.add(found.group(1))
released = set()
for path in glob.glob(os.path.join(source, "cmake/abi/*.txt")):
    with open(path, encoding="utf-8") as file:
        released.update(re.findall(r"^symbol (\w+)$", file.read(), re.M))
wrong = [f"exported, but not marked HG_API in a public header: {name}" for name in sorted(exported - declared)]
wrong += [f"marked HG_API, but not exported: {name}" for name in sorted(declared - exported)]
wrong += [f"a release exported it, this library does not: {name}" for name in sorted(released - exported)]
if not released:
    wrong.append("no release in cmake/abi")
soname = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
if "[libhologram.so.0]" not in soname:
    wrong.append("no SONAME libhologram.so.0")
symbols = subprocess.run(["nm", "-g", "--defined-only", archive], capture_output=True, text=True, check=True).stdout
archived = {line.split()[2] for line in symbols.splitlines() if len(line.split()) == 3}
wrong += [f"a global name of the archive, not exported by the library: {name}" for name in sorted(archived - exported)[:20]]
wrong += [f"exported by the library, no global name of the archive: {name}" for name in sorted(exported - archived)[:20]]
if not exported:
    wrong.append("nothing is exported")
for line in wrong:
    print(line)
sys.exit(1 if wrong else 0)
