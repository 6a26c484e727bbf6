#!/usr/bin/python3
"""The CUDA backend without NVRTC: kernels whose PTX the library carries run, all others are an error that says why. The file is made here with the NVRTC of
tests/fake_cuda; the one of the build, which the real NVRTC made, goes through ptxas for several architectures, where both are installed.

    on.sh fake_cuda prebuilt.py HOLOGRAM GEN_PTX
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
from nvidia import find_ptxas

COMMAND, GENERATOR = sys.argv[1:3]
BUILD = os.environ.get("HG_BUILD_DIR", "build/release")
PTXAS = find_ptxas()
counts = [0, 0, 0]
OWN = """.atlas 1
.program own
.param x buffer f32 inout [4]
.lanes 4
.reg a f32
    ldg a, [x[global]]
    mul a, a, 3.0
    stg [x[global]], a
"""
PRODUCT = """.atlas 1
.program product
.param r1 c buffer f32 inout [n * n]
.param r2 a buffer f32 in [n * n]
.param r3 b buffer f32 in [n * n]
.param r5 n u64
    gemm.f32 c=r1, a=r2, b=r3, m=r5, n=r5, k=r5
"""

PACKED = """.atlas 1
.program packed
.param x buffer u16 in [n * 4]
.param y buffer u16 inout [n * 4]
.param n u64
.lanes n
.reg a, b, c, d u16
.reg i u64
    mul i, global, 4
    ldg a, [x[i]]
    ldg b, [x[i + 1]]
    ldg c, [x[i + 2]]
    ldg d, [x[i + 3]]
    add a, a, b
    stg [y[i]], d
    stg [y[i + 1]], c
    stg [y[i + 2]], b
    stg [y[i + 3]], a
"""


def check(good, what):
    counts[0 if good else 1] += 1
    if not good:
        print("failed:", what, file=sys.stderr)


def run(ptx, *arguments):
    environment = dict(os.environ, HOLOGRAM_NVRTC="/nowhere/libnvrtc.so", HOLOGRAM_PTX=ptx, HOLOGRAM_BACKEND="cuda", HOLOGRAM_CACHE_DIR="off")
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)


def expect(done, out, what):
    check(done.returncode == 0 and out in done.stdout, "%s: status %d, printed %r, said %r" % (what, done.returncode, done.stdout[-300:], done.stderr[-400:]))


def refuses(done, words, what):
    check(done.returncode == 3 and all(word in done.stderr + done.stdout for word in words),
          "%s: status %d, printed %r, said %r" % (what, done.returncode, done.stdout[-300:], done.stderr[-400:]))


def run_without_nvrtc(folder):
    ptx = os.path.join(folder, "hologram.ptx")
    made = subprocess.run([GENERATOR, ptx, "atlas_add_f32", "gemm.f32 c=r1, a=r2, b=r3, m=256", "sigmoid"], capture_output=True, text=True)
    check(made.returncode == 0 and "kernels compiled" in made.stdout, "gen_ptx: %s%s" % (made.stdout, made.stderr))
    again = subprocess.run([GENERATOR, ptx, "atlas_add_f32", "gemm.f32 c=r1, a=r2, b=r3, m=256", "sigmoid"], capture_output=True, text=True)
    check(again.returncode == 0 and " 0 kernels compiled" in again.stdout, "what has not changed is not compiled again: %s" % again.stdout)
    own, product = os.path.join(folder, "own.atlas"), os.path.join(folder, "product.atlas")
    for path, text in ((own, OWN), (product, PRODUCT)):
        with open(path, "w") as f:
            f.write(text)
    add = ["run", "--kernel", "atlas_add_f32", "--set", "a=1,2,3", "--set", "b=10,20,30", "--set", "c=0,0,0"]
    expect(run(ptx, *add), "11.0 22.0 33.0", "a named kernel")
    n = 256
    done = run(ptx, "run", product, "--set", "n=%d" % n, "--in", "a=%s" % os.path.join(folder, "a.npy"), "--in", "b=%s" % os.path.join(folder, "b.npy")) \
        if write_arrays(folder, n) else None
    if done:
        expect(done, "0.0 1.0 2.0 3.0", "a product of matrices")
    refuses(run(ptx, "run", own, "--set", "x=1,2,3,4"), ("the library carries no code of the kernel 'own", "NVRTC, which compiles kernels, is not found"), "a program of one's own")
    listed = run(ptx, "devices").stdout
    check("library programs alone run without it" in listed, "hologram devices: %r" % listed)
    for name, content in (("missing", None), ("empty", b""), ("noise", bytes(range(256)) * 40), ("head", b"hologram PTX 1 of NVRTC 13.0\n"),
                          ("cut", open(ptx, "rb").read()[:300])):
        path = os.path.join(folder, name)
        if content is not None:
            with open(path, "wb") as f:
                f.write(content)
        refuses(run(path, *add), ("NVRTC, which compiles kernels, is not found",), "a file that is " + name)
    damaged = bytearray(open(ptx, "rb").read())
    for at in range(0, len(damaged), 1000):
        damaged[at] ^= 0x55
    path = os.path.join(folder, "damaged")
    with open(path, "wb") as f:
        f.write(damaged)
    done = run(path, *add)
    check(done.returncode in (0, 3), "a damaged file: status %d, said %r" % (done.returncode, done.stderr[-300:]))


def write_arrays(folder, n):
    try:
        import numpy
    except ImportError:
        counts[2] += 1
        print("skipped: NumPy is not installed (Debian package python3-numpy)")
        return False
    numpy.save(os.path.join(folder, "a.npy"), numpy.eye(n, dtype=numpy.float32).ravel())
    numpy.save(os.path.join(folder, "b.npy"), (numpy.arange(n * n) % 97).astype(numpy.float32))
    return True


def pieces(path):
    """(name, PTX) of each kernel of the file."""
    with open(path, "rb") as f:
        head = f.readline()
        while True:
            line = f.readline().decode()
            if not line:
                return
            key, size, name = line.split()
            yield name, f.read(int(size)).decode()


def assemble_the_builds(folder):
    path = os.path.join(BUILD, "hologram.ptx")
    if not os.path.exists(path) or not PTXAS:
        counts[2] += 1
        print("skipped: %s or ptxas is not there" % path)
        return
    found = list(pieces(path))
    if not found:
        counts[2] += 1
        print("skipped: the build had no NVRTC")
        return
    names = subprocess.run([COMMAND, "kernels"], capture_output=True, text=True).stdout
    for name in re.findall(r"\batlas_[a-z0-9_]+", names):
        check(any(piece.startswith(name) for piece, _ in found), "no PTX of " + name)
    check_joined(folder, found)
    for i, (name, text) in enumerate(found):
        check(re.search(r"^\.version 8\.0$", text, re.M) is not None and ".target sm_75" in text, name + " is not for CUDA 12 and sm_75")
        source = os.path.join(folder, "kernel.ptx")
        with open(source, "w") as f:
            f.write(text.rstrip("\0"))
        architecture = (75, 80, 90)[i % 3] # a third of them each
        done = subprocess.run([PTXAS, "-arch=sm_%d" % architecture, source, "-o", os.path.join(folder, "kernel.cubin")], capture_output=True, text=True)
        check(done.returncode == 0, "%s for sm_%d: %s" % (name, architecture, done.stderr[-300:]))


def widths(text):
    """Loads and stores of the text, by how many numbers each has."""
    return [int(n or 1) for n in re.findall(r"\b(?:ld|st)\.global(?:\.v(\d))?\.", text)]


def check_joined(folder, found):
    """Accesses of a lane that lie side by side are one: of maps, and of a program's own."""
    for name in ("map_add_f32", "map_add_f16", "map_add_i32"):
        texts = [text for piece, text in found if piece.startswith(name)]
        check(texts and all(max(widths(text)) > 1 for text in texts), "accesses of %s are not joined: %s" % (name, [widths(text) for text in texts]))
    path = os.path.join(folder, "packed.atlas")
    with open(path, "w") as f:
        f.write(PACKED)
    done = subprocess.run([COMMAND, "emit", "--target", "ptx", "--proven", path], capture_output=True, text=True, env={k: v for k, v in os.environ.items() if k != "HOLOGRAM_NVRTC" and k != "LD_LIBRARY_PATH"})
    check(done.returncode == 0 and widths(done.stdout) and len(widths(done.stdout)) <= 4, "four neighbouring halves are not joined: %s %s" % (widths(done.stdout), done.stderr[-200:]))


def main():
    with tempfile.TemporaryDirectory() as folder:
        run_without_nvrtc(folder)
        assemble_the_builds(folder)
    print("%d passed, %d failed, %d skipped" % tuple(counts))
    return 1 if counts[1] else 0


sys.exit(main())
