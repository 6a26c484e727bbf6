struct saxpy_record {
    const float *x;
    float *y;
    float a;
    unsigned n;
};
extern "C" __global__ void saxpy(const __grid_constant__ saxpy_record r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < r.n) r.y[i] = r.a * r.x[i] + r.y[i];
}
