#version 450
/* As gemm.cl. */
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) writeonly buffer C { float c[]; };
layout(push_constant) uniform P { uint n; };
shared float ta[16][64 + 1];
shared float tb[16][64];
void main() {
    uint lx = gl_LocalInvocationID.x, ly = gl_LocalInvocationID.y, bx = gl_WorkGroupID.x * 64, by = gl_WorkGroupID.y * 64, lane = ly * 16 + lx;
    float sum[4][4];
    for (uint i = 0; i < 4; i++)
        for (uint j = 0; j < 4; j++) sum[i][j] = 0.0;
    for (uint k = 0; k < n; k += 16) {
        for (uint i = lane; i < 1024; i += 256) {
            ta[i % 16][i / 16] = a[(by + i / 16) * n + k + i % 16];
            tb[i / 64][i % 64] = b[(k + i / 64) * n + bx + i % 64];
        }
        barrier();
        for (uint p = 0; p < 16; p++) {
            float x[4], y[4];
            for (uint i = 0; i < 4; i++) {
                x[i] = ta[p][i * 16 + ly];
                y[i] = tb[p][i * 16 + lx];
            }
            for (uint i = 0; i < 4; i++)
                for (uint j = 0; j < 4; j++) sum[i][j] += x[i] * y[j];
        }
        barrier();
    }
    for (uint i = 0; i < 4; i++)
        for (uint j = 0; j < 4; j++) c[(by + i * 16 + ly) * n + bx + j * 16 + lx] = sum[i][j];
}
