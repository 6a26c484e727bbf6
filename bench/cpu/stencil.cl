#pragma OPENCL FP_CONTRACT OFF
__kernel void stencil(__global const float *x, __global float *y, float c, float d, uint w) {
    uint i = get_global_id(0), pitch = w + 2;
    if (i >= w) return;
    x += (get_global_id(1) + 1) * pitch + 1 + i;
    y[get_global_id(1) * w + i] = x[0] * c + (((x[-(int)pitch] + x[pitch]) + x[-1]) + x[1]) * d;
}
