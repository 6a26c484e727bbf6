/* shared: 1088 */
struct transpose_record {
    const float *x;
    float *y;
    unsigned w;
};
extern "C" __global__ void transpose(const __grid_constant__ transpose_record r) {
    extern __shared__ unsigned long long group_memory[];
    float(*tile)[17] = (float(*)[17])group_memory;
    unsigned lx = threadIdx.x, ly = threadIdx.y, bx = blockIdx.x * 16, by = blockIdx.y * 16;
    tile[ly][lx] = r.x[(by + ly) * r.w + bx + lx];
    __syncthreads();
    r.y[(bx + ly) * r.w + by + lx] = tile[lx][ly];
}
