#version 450
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) writeonly buffer Y { uint iterations[]; };
layout(push_constant) uniform P { float step; uint w; uint n; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= n) return;
    precise float cx = float(i % w) * step - 2.0, cy = float(i / w) * step - 1.5, x = 0, y = 0;
    uint k = 0;
    do {
        precise float xx = x * x, yy = y * y, s = xx + yy;
        if (s > 4.0) break;
        precise float xy = x * y;
        x = xx - yy + cx;
        y = xy + xy + cy;
    } while (++k < 256);
    iterations[i] = k;
}
