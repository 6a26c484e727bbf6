struct mandelbrot_record {
    unsigned *out;
    float step;
    unsigned w, n;
};
extern "C" __global__ void mandelbrot(const __grid_constant__ mandelbrot_record r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= r.n) return;
    float cx = (float)(i % r.w) * r.step - 2.0f, cy = (float)(i / r.w) * r.step - 1.5f, x = 0, y = 0;
    unsigned k = 0;
    do {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f) break;
        float xy = x * y;
        x = xx - yy + cx;
        y = xy + xy + cy;
    } while (++k < 256);
    r.out[i] = k;
}
