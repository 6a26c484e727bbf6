struct fifty_record {
    const float *x;
    float *y;
    unsigned n;
};
extern "C" __global__ void fifty(const __grid_constant__ fifty_record r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= r.n) return;
    float v = r.x[i], s = 1.0f;
#pragma unroll
    for (int k = 0; k < 20; k++) s = __fmaf_rn(s, v, 0.03125f * (k + 1));
    float q = __fsqrt_rn(s * s + 1.0f);
    s = s / q;
    r.y[i] = fabsf(s);
}
