"""Where NVIDIA's assembler is: a toolkit's, or the one of tools/setup (tests/requirements.txt)."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def find_ptxas():
    """The path, or None."""
    wheels = os.environ.get("HOLOGRAM_NVIDIA") or os.path.join(ROOT, "build/python/nvidia")
    places = [os.path.join(os.environ.get("CUDA_PATH") or "/usr/local/cuda", "bin/ptxas"), os.path.join(wheels, "cuda_nvcc/bin/ptxas")]
    return next((place for place in places if os.access(place, os.X_OK)), None)


def architectures_of(ptxas):
    """What it makes code for, of the old, a middle and a new one, and the newest, as it says itself: ["sm_75", ...]."""
    text = subprocess.run([ptxas, "--help"], capture_output=True, text=True).stdout
    known = sorted({int(n) for n in re.findall(r"'sm_(\d+)'", text)})
    return ["sm_%d" % n for n in known if n in (75, 80, 90)] + ["sm_%d" % n for n in known[-1:] if n not in (75, 80, 90)]
