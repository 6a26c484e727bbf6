"""What `python -m hologram demo` shows: one program on every device that there is, its bits compared, a picture of it, and an array
computation with the same bits eager and recorded."""
import argparse
import hashlib
import os
import sys
import time

import hologram as hg

MANDELBROT = """
.atlas 1
.program mandelbrot
.param picture buffer u8 out [h, w, 3]
.param w u64
.param h u64
.param rounds u32 = 256
.lanes [j < h, i < w]
    let cr f64 = -0.743643887 + (f64(i) / f64(w) - 0.5) * 0.012
    let ci f64 = 0.131825904 + (f64(j) / f64(h) - 0.5) * 0.0075
    let re f64 = 0
    let im f64 = 0
    let k u32 = 0
    while k < rounds && re * re + im * im < 64.0 {
        let next = re * re - im * im + cr
        im = 2.0 * re * im + ci
        re = next
        k = k + 1
    }
    let t f32 = 0.0
    if k < rounds {
        t = f32(k) + 1.0 - log2(log2(f32(re * re + im * im)) * 0.5)
    }
    picture[j, i, 0] = u8(127.0 + 127.0 * sin(t * 0.11 + 4.0) * min(t, 1.0) - 127.0 * (1.0 - min(t, 1.0)))
    picture[j, i, 1] = u8(127.0 + 127.0 * sin(t * 0.13 + 4.6) * min(t, 1.0) - 127.0 * (1.0 - min(t, 1.0)))
    picture[j, i, 2] = u8(127.0 + 127.0 * sin(t * 0.17 + 5.4) * min(t, 1.0) - 127.0 * (1.0 - min(t, 1.0)))
"""


def executors(backends):
    """(what it is, a function that makes the executor)."""
    if "cpu" in backends:
        yield "cpu, baseline instructions", lambda: hg.Executor("cpu", cpu_level="baseline")
    for backend in backends:
        yield backend, lambda backend=backend: hg.Executor(backend)


def main(arguments):
    options = argparse.ArgumentParser(prog="python -m hologram demo", description="One program on every device, its bits and its picture.")
    options.add_argument("picture", nargs="?", default="hologram-demo.png", help="the PNG to write")
    options.add_argument("--only", action="append", help="a backend; may be given more than once")
    given = options.parse_args(arguments)
    path = given.picture
    program = hg.assemble(MANDELBROT, name="mandelbrot.atlas")
    print(f"{program!r}\n")
    print(f"{'device':<28}{'pixels':>12}{'ms':>9}   sha256 of the picture")
    hashes, picture = set(), None
    for name, make in executors(given.only or ("cpu", "opencl", "vulkan", "cuda")):
        try:
            executor = make()
            made = hg.empty((270, 480, 3), dtype=hg.uint8, device=executor)
            launch = program.bind(picture=made)
            launch()
            begin = time.perf_counter()
            launch()
            took = time.perf_counter() - begin
            digest = hashlib.sha256(made.tobytes()).hexdigest()
        except hg.Error as error:
            print(f"{name:<28}   {str(error).splitlines()[0][:80]}")
            continue
        hashes.add(digest)
        picture = made
        print(f"{name:<28}{'480 x 270':>12}{took * 1e3:>9.1f}   {digest[:32]}")
    hg.write_png(path, picture)
    print(f"\nequal bits: {'yes' if len(hashes) == 1 else 'NO'}; the picture is {os.path.abspath(path)}")

    x = hg.rand((512, 512), seed=1, dtype=hg.float32)

    def network(x):
        return hg.softmax(hg.gelu(x @ x.T / 512) @ x, axis=-1).sum(axis=0)
    eager = network(x)
    with hg.scope():
        recorded = network(x)
    print(f"arrays: softmax(gelu(x x^T) x) of 512 x 512: {eager[:3]!s} …, eager and recorded equal: "
          f"{eager.tobytes() == recorded.tobytes()}")
    return 0 if len(hashes) == 1 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
