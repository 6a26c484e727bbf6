/* Tiles of 16 x 16 in local memory. */
__kernel void matmul(__global const float *a, __global const float *b, __global float *c, uint n) {
    __local float p[16][16], q[16][16];
    uint lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (uint from = 0; from < n; from += 16) {
        p[ly][lx] = a[y * n + from + lx];
        q[ly][lx] = b[(from + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint t = 0; t < 16; t++) sum = fma(p[ly][t], q[t][lx], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}
