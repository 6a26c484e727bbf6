struct chain_record {
    const float *x;
    float *y;
    float a, b;
    unsigned n;
};
extern "C" __global__ void chain(const __grid_constant__ chain_record r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= r.n) return;
    float v = r.x[i];
    v = v * r.a;
    v = v + r.b;
    v = v * r.a;
    v = v - r.b;
    v = v * r.a;
    v = v + r.b;
    v = v * r.a;
    v = v + r.b;
    r.y[i] = v;
}
