/* One group of 128 work items adds 4,096 elements. Launched again over the partial sums until one is left. */
__kernel void sum(__global const float *x, __global float *y, uint n) {
    __local float part[128];
    uint l = get_local_id(0), first = get_group_id(0) * 4096, end = min(first + 4096u, n);
    float s = 0;
    for (uint i = first + l; i < end; i += 128) s += x[i];
    part[l] = s;
    for (uint h = 64; h > 0; h >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < h) part[l] += part[l + h];
    }
    if (l == 0) y[get_group_id(0)] = part[0];
}
