kernel void negate(global const float *x, global float *y, uint n) {
    size_t i = get_global_id(0);
    if (i < n) y[i] = -x[i];
}
