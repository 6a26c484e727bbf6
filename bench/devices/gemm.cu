/* shared: 8192. c = a b, all n x n: a block of 16 x 16 threads makes 128 x 128 elements, 8 x 8 a thread; 8 columns of a and rows of b at a time in shared memory. */
struct gemm_record {
    const float *a, *b;
    float *c;
    unsigned n;
};
extern "C" __global__ void gemm(const __grid_constant__ gemm_record r) {
    extern __shared__ unsigned long long group_memory[];
    float *ta = (float *)group_memory, *tb = ta + 8 * 128; /* by column of a, by row of b */
    unsigned tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, bx = blockIdx.x * 128, by = blockIdx.y * 128, n = r.n;
    float s[8][8] = {};
    for (unsigned k = 0; k < n; k += 8) {
        for (unsigned i = 0; i < 4; i++) {
            unsigned at = t + 256 * i;
            ta[(at & 7) * 128 + (at >> 3)] = r.a[(by + (at >> 3)) * n + k + (at & 7)];
            tb[at] = r.b[(k + (at >> 7)) * n + bx + (at & 127)];
        }
        __syncthreads();
#pragma unroll
        for (unsigned p = 0; p < 8; p++) {
            float x[8], y[8];
#pragma unroll
            for (unsigned i = 0; i < 8; i++) {
                x[i] = ta[p * 128 + ty * 8 + i];
                y[i] = tb[p * 128 + tx + 16 * i];
            }
#pragma unroll
            for (unsigned i = 0; i < 8; i++)
#pragma unroll
                for (unsigned j = 0; j < 8; j++) s[i][j] = __fmaf_rn(x[i], y[j], s[i][j]);
        }
        __syncthreads();
    }
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < 8; j++) r.c[(by + ty * 8 + i) * n + bx + tx + 16 * j] = s[i][j];
}
