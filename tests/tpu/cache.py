#!/usr/bin/python3
"""Executables of modules are kept on disk: a second process takes them, and damaged ones are made again. One serves all places of a
cache: a step of a decoder at another place finds it.

    on.sh DEVICE cache.py HOLOGRAM BACKEND
"""
import os
import random
import struct
import subprocess
import sys
import tempfile

GRAPH = ".graph 1\n.input x f32 [4]\n.input w f32 [4, 2]\nh = parallel_map exp, in=x\n.view r = h f32 [1, 4]\ny = gemm a=r, b=w\n.output y\n"
STEP = """.graph 1
.extent p
.input cache f32 [8, 1, 2, 4]
.input values f32 [8, 1, 2, 4]
.input x f32 [1, 1, 2, 4]
.input table f32 [8, 8]
.input freqs f32 [2]
.input lengths u32 [1]
.view place = table + p * 8 f32 [1, 1, 2, 4]
.view turns = table + p * 8 strides (1, 1, 4, 1) f32 [1, 1, 2, 4]
with = parallel_map_binary add, a=x, b=place
more = parallel_map_binary add, a=with, b=turns
turned = rope input=more, freqs=freqs, position=p
keys = kv_cache_update cache=cache, new_kv=turned, position=p
all = kv_cache_update cache=values, new_kv=with, position=p
.view q = turned permuted (0, 2, 1, 3)
.view k = keys permuted (1, 2, 0, 3)
.view v = all permuted (1, 2, 0, 3)
y = attention query=q, key=k, value=v, lengths=lengths
.output y
.output keys
.output all
"""


def step(command, folder, place, *options):
    """Outputs of a step at a place."""
    path = os.path.join(folder, "step.graph")
    with open(path, "w", encoding="utf-8") as file:
        file.write(STEP)
    some = random.Random(7)
    sets = {"freqs": [1, 0.1], "lengths": [place + 1], "p": [place]}
    sets.update({name: [some.uniform(-1, 1) for _ in range(size)] for name, size in (("cache", 64), ("values", 64), ("x", 8), ("table", 64))})
    arguments = [f"--set={name}={','.join(map(str, values))}" for name, values in sets.items()]
    outputs = {name: os.path.join(folder, name) for name in ("y", "keys", "all")}
    arguments += [f"--out={name}=raw:{file}" for name, file in outputs.items()]
    run = subprocess.run([command, "run", path, *arguments, *options], capture_output=True, text=True, timeout=300,
                         env=dict(os.environ, HOLOGRAM_CACHE_DIR=os.path.join(folder, "cache")))
    if run.returncode:
        return [run.stderr]
    found = []
    for file in outputs.values():
        with open(file, "rb") as data:
            found += struct.iter_unpack("<f", data.read())
    return [x for (x,) in found]


def same_code(command, backend, folder):
    files = []
    for place in (0, 3, 7):
        expected, found = step(command, folder, place), step(command, folder, place, "--backend", backend)
        if len(found) != 136 or any(abs(x - y) > 1e-5 for x, y in zip(expected, found)):
            return f"at {place}: {found}, {expected} expected"
        files.append(sum(len(names) for _, _, names in os.walk(os.path.join(folder, "cache"))))
    return None if files == files[:1] * 3 else f"files of executables at three places: {files}"


def main():
    command, backend = sys.argv[1:3]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        graph, cache = os.path.join(folder, "g.graph"), os.path.join(folder, "cache")
        with open(graph, "w", encoding="utf-8") as file:
            file.write(GRAPH)
        outputs, sizes = [], []
        for _ in range(3):
            run = subprocess.run([command, "run", graph, "--backend", backend, "--set", "x=0,1,2,3", "--set", "w=1,0,0,1,1,0,0,1"], capture_output=True,
                                 env=dict(os.environ, HOLOGRAM_CACHE_DIR=cache), timeout=300)
            outputs.append((run.returncode, run.stdout))
            files = [os.path.join(where, name) for where, _, names in os.walk(cache) for name in names]
            sizes.append(sum(os.path.getsize(name) for name in files))
            for name in files if len(outputs) == 2 else []:  # what the third one finds
                with open(name, "r+b") as file:
                    file.write(b"damaged")
        problem = same_code(command, backend, folder)
        for ok, what in ((not problem, problem), (outputs[0][0] == 0, outputs[0]), (outputs[1:] == outputs[:1] * 2, outputs), (sizes[0] > 1000, sizes), (sizes[1] == sizes[0], sizes)):
            passed, failed = passed + bool(ok), failed + (not ok)
            if not ok:
                print(what, file=sys.stderr)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
