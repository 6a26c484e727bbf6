__kernel void matmul_loops(__global const float *a, __global const float *b, __global float *c, uint n) {
    uint x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (uint t = 0; t < n; t++) sum = fma(a[y * n + t], b[t * n + x], sum);
    c[y * n + x] = sum;
}
