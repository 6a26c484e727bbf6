__kernel void transpose(__global const float *x, __global float *y, uint w) {
    __local float tile[16][17];
    uint lx = get_local_id(0), ly = get_local_id(1), bx = get_group_id(0) * 16, by = get_group_id(1) * 16;
    tile[ly][lx] = x[(by + ly) * w + bx + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[(bx + ly) * w + by + lx] = tile[lx][ly];
}
