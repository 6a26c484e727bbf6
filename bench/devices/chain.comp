#version 450
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform P { float a; float b; uint n; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= n) return;
    precise float v = x[i];
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
