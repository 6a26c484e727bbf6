__kernel void histogram(__global const uint *x, volatile __global uint *y, uint n) {
    size_t i = get_global_id(0);
    if (i < n) atomic_inc(&y[x[i] & 255]);
}
