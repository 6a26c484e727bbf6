#!/usr/bin/python3
"""Executables of modules are kept on disk: a second process takes them, and damaged ones are made again.

    on.sh DEVICE cache.py HOLOGRAM BACKEND
"""
import os
import subprocess
import sys
import tempfile

GRAPH = ".graph 1\n.input x f32 [4]\n.input w f32 [4, 2]\nh = parallel_map exp, in=x\n.view r = h f32 [1, 4]\ny = gemm a=r, b=w\n.output y\n"


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
        for ok, what in ((outputs[0][0] == 0, outputs[0]), (outputs[1:] == outputs[:1] * 2, outputs), (sizes[0] > 1000, sizes), (sizes[1] == sizes[0], sizes)):
            passed, failed = passed + bool(ok), failed + (not ok)
            if not ok:
                print(what, file=sys.stderr)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
