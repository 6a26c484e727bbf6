"""Parts of an array on Dask's workers: a kernel, a program and an executor go along with each task, and the integers come out the same however many workers there are."""
import sys

import dask
import hologram as hg
import numpy as np

ROWS, PARTS = 1_000_000, 8

TABLE = hg.assemble("""
.atlas 1
.program count
.param x buffer u32 in [n]
.param bins buffer u64 inout [16]
.param n u64
.lanes n
    let before = atom.add(bins[u64(x[global] >> 28)], 1)
""")


@hg.kernel
def scramble(seed: hg.u32, x: hg.Inout[hg.u32, "n"]):
    i = hg.lane()
    v = (x[i] ^ seed) * hg.u32(2654435761)
    x[i] = v ^ (v >> 15)


@dask.delayed
def part(kernel, program, executor, values):
    """What a worker does: the kernel runs where kernels run, the program on the executor of this process with the same settings."""
    bins = np.zeros(16, np.uint64)
    kernel(7, values)
    executor.execute(program, values, bins)
    return bins


def main(workers):
    executor = hg.Executor("cpu", num_threads=1)
    values = np.arange(ROWS, dtype=np.uint32)
    parts = [part(scramble, TABLE, executor, one) for one in np.array_split(values, PARTS)]
    bins = sum(dask.compute(*parts, scheduler="processes", num_workers=workers))
    print(f"{bins.sum()} values, from {bins.min()} to {bins.max()} in a bin")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
