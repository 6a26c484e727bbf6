#version 450
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) readonly buffer Y { float y[]; };
layout(set = 0, binding = 2) readonly buffer Z { float z[]; };
layout(set = 0, binding = 3) readonly buffer M { float m[]; };
layout(set = 0, binding = 4) writeonly buffer A { float a[]; };
layout(push_constant) uniform P { float eps; uint n; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= n) return;
    precise float px = x[i], py = y[i], pz = z[i], ax = 0, ay = 0, az = 0;
    for (uint j = 0; j < n; j++) {
        precise float dx = x[j] - px, dy = y[j] - py, dz = z[j] - pz;
        precise float d = dx * dx + eps + dy * dy + dz * dz;
        precise float s = m[j] / (sqrt(d) * d);
        ax += dx * s;
        ay += dy * s;
        az += dz * s;
    }
    a[i] = ax;
    a[n + i] = ay;
    a[2 * n + i] = az;
}
