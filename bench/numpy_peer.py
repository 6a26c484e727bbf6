"""NumPy side of the race: reads 'add N cpu|wall' lines, prints the best seconds of that clock of one np.add(a, b, out=c) of N f32 elements."""
import sys
import time

import numpy

for line in sys.stdin:
    n = int(line.split()[1])
    clock = time.thread_time if line.split()[2] == "cpu" else time.perf_counter
    a = numpy.arange(n, dtype=numpy.float32)
    b = numpy.arange(n, dtype=numpy.float32)
    c = numpy.empty(n, dtype=numpy.float32)
    inner = max(1, 2_000_000 // n)
    best = 1e9
    for _ in range(9):
        start = clock()
        for _ in range(inner):
            numpy.add(a, b, out=c)
        best = min(best, (clock() - start) / inner)
    print(f"{best:.12f}", flush=True)
