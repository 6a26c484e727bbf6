#ifndef T
#define T float
#endif
__kernel void scan_tree(__global const T *x, __global T *y, uint n) {
    __local T s[2][1024];
    uint l = get_local_id(0), turn = 0;
    T v = x[get_global_id(0)];
    for (uint d = 1; d < 1024; d *= 2, turn ^= 1) {
        s[turn][l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l >= d) v += s[turn][l - d];
    }
    y[get_global_id(0)] = v;
}
