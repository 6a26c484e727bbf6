#pragma OPENCL FP_CONTRACT OFF
__kernel void mandelbrot(__global uint *out, float step, uint w, uint n) {
    uint i = (uint)get_global_id(0);
    if (i >= n) return;
    float cx = (float)(i % w) * step - 2.0f, cy = (float)(i / w) * step - 1.5f, x = 0, y = 0;
    uint k = 0;
    do {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f) break;
        float xy = x * y;
        x = xx - yy + cx;
        y = xy + xy + cy;
    } while (++k < 256);
    out[i] = k;
}
