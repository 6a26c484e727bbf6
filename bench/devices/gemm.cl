/* c = a b, all n x n, as libraries tune it for a CPU: a block of 8 x 8 lanes makes 64 x 128 elements, 8 rows of a vector of 16 each lane in registers; 16 columns of a
 * and rows of b at a time in local memory. */
__kernel __attribute__((reqd_work_group_size(8, 8, 1))) void gemm(__global const float *a, __global const float *b, __global float *c, uint n) {
    __local float ta[16 * 64];
    __local float16 tb[16 * 8];
    uint lx = get_local_id(0), ly = get_local_id(1), bx = get_group_id(0) * 128 + lx * 16, by = get_group_id(1) * 64, lane = ly * 8 + lx;
    float16 s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    for (uint k = 0; k < n; k += 16) {
        float16 row = vload16(0, a + (by + lane) * n + k);
        float part[16];
        vstore16(row, 0, part);
        for (uint i = 0; i < 16; i++) ta[i * 64 + lane] = part[i];
        for (uint i = ly; i < 16; i += 8) tb[i * 8 + lx] = vload16(0, b + (k + i) * n + bx);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint p = 0; p < 16; p++) {
            float16 y = tb[p * 8 + lx];
            __local const float *x = ta + p * 64 + ly * 8;
            s0 = fma((float16)(x[0]), y, s0), s1 = fma((float16)(x[1]), y, s1), s2 = fma((float16)(x[2]), y, s2), s3 = fma((float16)(x[3]), y, s3);
            s4 = fma((float16)(x[4]), y, s4), s5 = fma((float16)(x[5]), y, s5), s6 = fma((float16)(x[6]), y, s6), s7 = fma((float16)(x[7]), y, s7);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    __global float *at = c + (by + ly * 8) * n + bx;
    vstore16(s0, 0, at), vstore16(s1, 0, at + n), vstore16(s2, 0, at + 2 * n), vstore16(s3, 0, at + 3 * n);
    vstore16(s4, 0, at + 4 * n), vstore16(s5, 0, at + 5 * n), vstore16(s6, 0, at + 6 * n), vstore16(s7, 0, at + 7 * n);
}
