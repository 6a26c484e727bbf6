"""Tasks of Ray that take a kernel and an executor: columns of a matrix are made where a task runs, and the bits do not depend on how many there are."""
import hologram as hg
import numpy as np
import ray

ROWS, COLUMNS, TASKS = 64, 96, 4


@hg.kernel
def waves(first: hg.u32, y: hg.Out[hg.f32, "rows", "columns"]):
    i, j = hg.grid(2)
    y[i, j] = hg.sin(hg.f32(i) * 0.125) * hg.cos(hg.f32(j + hg.i64(first)) * 0.25)


@ray.remote
def columns(kernel, executor, first, count):
    made = np.zeros((ROWS, count), np.float32)
    kernel(first, made)
    return made, float(hg.sum(hg.asarray(made, device=executor)))


def main():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    executor = hg.Executor("cpu", num_threads=1)
    starts = np.linspace(0, COLUMNS, TASKS + 1).astype(int)
    made = ray.get([columns.remote(waves, executor, int(a), int(b - a)) for a, b in zip(starts, starts[1:])])
    whole = np.concatenate([part for part, _ in made], axis=1)
    alone = np.zeros((ROWS, COLUMNS), np.float32)
    waves(0, alone)
    print(f"{TASKS} tasks, the bits of one: {np.array_equal(whole, alone)}")
    ray.shutdown()


if __name__ == "__main__":
    main()
