struct nbody_record {
    const float *x, *y, *z, *m;
    float *a;
    float eps;
    unsigned n;
};
extern "C" __global__ void nbody(const __grid_constant__ nbody_record r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = r.n;
    if (i >= n) return;
    float px = r.x[i], py = r.y[i], pz = r.z[i], ax = 0, ay = 0, az = 0;
    for (unsigned j = 0; j < n; j++) {
        float dx = r.x[j] - px, dy = r.y[j] - py, dz = r.z[j] - pz;
        float d = dx * dx + r.eps + dy * dy + dz * dz;
        float s = r.m[j] / (__fsqrt_rn(d) * d);
        ax += dx * s;
        ay += dy * s;
        az += dz * s;
    }
    r.a[i] = ax;
    r.a[n + i] = ay;
    r.a[2 * n + i] = az;
}
