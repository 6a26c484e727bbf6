#!/usr/bin/python3
"""Sends readings through `hologram stream` and a 36 KB pool, checks every result against NumPy, prints rate and memory.

    stream.py HOLOGRAM FOLDER MEGABYTES     FOLDER takes the temporary files
"""
import os
import subprocess
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
POOL = 36864


def readings(count):
    """A slow wave with noise and rare spikes, the same every time."""
    random = np.random.default_rng(1)
    x = np.sin(np.arange(count, dtype=np.float32) * np.float32(1e-3)) + np.float32(2)
    x += random.standard_normal(count, dtype=np.float32) * np.float32(0.25)
    x[::9973] += np.float32(7)
    return x


def peak_memory(process):
    """Watches VmHWM, the most memory the process ever held, until it ends; kB."""
    peak = 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                for line in status:
                    if line.startswith("VmHWM:"):
                        peak = max(peak, int(line.split()[1]))
        except OSError:
            pass
        time.sleep(0.002)
    return peak


def main():
    command, folder, megabytes = sys.argv[1], sys.argv[2], float(sys.argv[3])
    x = readings(int(megabytes * 1e6 / 4))
    source, result = os.path.join(folder, "readings.f32"), os.path.join(folder, "calibrated.f32")
    x.tofile(source)
    with open(source, "rb") as given, open(result, "wb") as taken:
        start = time.perf_counter()
        process = subprocess.Popen([command, "stream", os.path.join(HERE, "programs", "stream.atlas"), "--pool", str(POOL)],
                                   stdin=given, stdout=taken, stderr=subprocess.PIPE, text=True)
        peak = peak_memory(process)
        seconds = time.perf_counter() - start
    said = process.stderr.read().strip()
    y = np.fromfile(result, dtype=np.float32)
    for path in (source, result):
        os.remove(path)
    if process.returncode != 0:
        print(f"hologram stream ended with status {process.returncode}: {said}")
        return 1
    # 0.5 x is exact in f32, so NumPy's two roundings are the one rounding of fma: the bits must agree.
    expected = x * np.float32(0.5) - np.float32(1)
    outside = int(((expected < -1) | (expected > 1)).sum())
    if y.shape != expected.shape or not np.array_equal(y.view(np.uint32), expected.view(np.uint32)):
        print(f"{len(y)} results, {len(expected)} expected; the first that differs: {np.flatnonzero(y != expected[:len(y)])[:1]}")
        return 1
    if said != f"outside u64[1] = {outside}":
        print(f"expected 'outside u64[1] = {outside}', got '{said}'")
        return 1
    print(f"{x.nbytes / 1e6:.0f} MB in, {y.nbytes / 1e6:.0f} MB out through a pool of {POOL:,} bytes: {x.nbytes / 1e6 / seconds:.0f} MB/s, "
          f"peak memory of the whole process {peak / 1024:.1f} MiB")
    print(f"all {len(y):,} results are NumPy's, bit for bit; {outside:,} readings outside [-1, 1]")
    return 0


sys.exit(main())
