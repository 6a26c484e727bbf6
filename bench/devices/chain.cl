#pragma OPENCL FP_CONTRACT OFF
__kernel void chain(__global const float *x, __global float *y, float a, float b, uint n) {
    size_t i = get_global_id(0);
    if (i >= n) return;
    float v = x[i];
    v = v * a;
    v = v + b;
    v = v * a;
    v = v - b;
    v = v * a;
    v = v + b;
    v = v * a;
    v = v + b;
    y[i] = v;
}
