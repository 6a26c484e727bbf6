#version 450
layout(local_size_x = 128) in;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform P { uint n; };
shared float part[128];
void main() {
    uint l = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * 4096, end = min(first + 4096, n);
    float s = 0;
    for (uint i = first + l; i < end; i += 128) s += x[i];
    part[l] = s;
    for (uint h = 64; h > 0; h >>= 1) {
        barrier();
        if (l < h) part[l] += part[l + h];
    }
    if (l == 0) y[gl_WorkGroupID.x] = part[0];
}
