#pragma OPENCL FP_CONTRACT OFF
__kernel void nbody(__global const float *x, __global const float *y, __global const float *z, __global const float *m, __global float *a,
                    float eps, uint n) {
    uint i = (uint)get_global_id(0);
    if (i >= n) return;
    float px = x[i], py = y[i], pz = z[i], ax = 0, ay = 0, az = 0;
    for (uint j = 0; j < n; j++) {
        float dx = x[j] - px, dy = y[j] - py, dz = z[j] - pz;
        float d = dx * dx + eps + dy * dy + dz * dz;
        float s = m[j] / (sqrt(d) * d);
        ax += dx * s;
        ay += dy * s;
        az += dz * s;
    }
    a[i] = ax;
    a[n + i] = ay;
    a[2 * n + i] = az;
}
