#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform P { uint w; };
shared float tile[16][17];
void main() {
    uint lx = gl_LocalInvocationID.x, ly = gl_LocalInvocationID.y, bx = gl_WorkGroupID.x * 16, by = gl_WorkGroupID.y * 16;
    tile[ly][lx] = x[(by + ly) * w + bx + lx];
    barrier();
    y[(bx + ly) * w + by + lx] = tile[lx][ly];
}
