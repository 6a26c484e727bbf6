struct collatz_record {
    const unsigned long long *start;
    unsigned *steps;
    unsigned n;
};
extern "C" __global__ void collatz(const __grid_constant__ collatz_record r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= r.n) return;
    unsigned long long x = r.start[i];
    unsigned steps = 0;
    while (x > 1) {
        steps++;
        if (x & 1)
            x = x * 3 + 1;
        else
            x >>= 1;
    }
    r.steps[i] = steps;
}
