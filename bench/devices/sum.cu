/* shared: 512. One block of 128 threads adds 4,096 elements. Launched again over the partial sums until one is left. */
struct sum_record {
    const float *x;
    float *y;
    unsigned n;
};
extern "C" __global__ void sum(const __grid_constant__ sum_record r) {
    extern __shared__ unsigned long long group_memory[];
    float *part = (float *)group_memory;
    unsigned l = threadIdx.x, first = blockIdx.x * 4096, end = first + 4096 < r.n ? first + 4096 : r.n;
    float s = 0;
    for (unsigned i = first + l; i < end; i += 128) s += r.x[i];
    part[l] = s;
    for (unsigned h = 64; h > 0; h >>= 1) {
        __syncthreads();
        if (l < h) part[l] += part[l + h];
    }
    if (l == 0) r.y[blockIdx.x] = part[0];
}
