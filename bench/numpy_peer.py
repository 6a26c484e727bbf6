"""NumPy side of the race: reads 'add|axpy N cpu|wall' lines, prints the best seconds of that clock of one np.add(a, b, out=c) of N f32 elements;
axpy: of c = 2 a + b as np.multiply(a, 2, out=c) and np.add(c, b, out=c)."""
import sys
import time

import numpy

two = numpy.float32(2)
for line in sys.stdin:
    work, n = line.split()[0], int(line.split()[1])
    clock = time.thread_time if line.split()[2] == "cpu" else time.perf_counter
    a = numpy.arange(n, dtype=numpy.float32)
    b = numpy.arange(n, dtype=numpy.float32)
    c = numpy.empty(n, dtype=numpy.float32)
    inner = max(1, 2_000_000 // n)
    best = 1e9
    for _ in range(9):
        start = clock()
        for _ in range(inner):
            if work == "axpy":
                numpy.multiply(a, two, out=c)
                numpy.add(c, b, out=c)
            else:
                numpy.add(a, b, out=c)
        best = min(best, (clock() - start) / inner)
    print(f"{best:.12f}", flush=True)
