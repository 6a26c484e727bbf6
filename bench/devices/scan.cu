/* shared: 1024. Exclusive prefix sums of blocks of 1,024, four elements for each of 256 threads. Pass 0: of x, with the sum of each block;
 * pass 1: of those sums, in one block; pass 2 adds them. */
struct scan_record {
    unsigned *x, *y, *sums;
    unsigned n, pass;
};
extern "C" __global__ void scan(const __grid_constant__ scan_record r) {
    extern __shared__ unsigned long long group_memory[];
    unsigned *part = (unsigned *)group_memory;
    unsigned l = threadIdx.x, first = blockIdx.x * 1024 + 4 * l, v[4], before = 0;
    if (r.pass == 2) {
        unsigned add = r.sums[blockIdx.x];
        for (unsigned i = 0; i < 4; i++)
            if (first + i < r.n) r.y[first + i] += add;
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
        v[i] = before;
        before += first + i < r.n ? r.x[first + i] : 0;
    }
    part[l] = before;
    __syncthreads();
    for (unsigned h = 1; h < 256; h <<= 1) {
        unsigned other = l >= h ? part[l - h] : 0;
        __syncthreads();
        part[l] += other;
        __syncthreads();
    }
    before = l ? part[l - 1] : 0;
    for (unsigned i = 0; i < 4; i++)
        if (first + i < r.n) r.y[first + i] = before + v[i];
    if (r.pass == 0 && l == 255) r.sums[blockIdx.x] = part[255];
}
