@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> n: u32;
var<workgroup> part: array<f32, 128>;
@compute @workgroup_size(128)
fn main(@builtin(local_invocation_id) local: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>) {
    let l = local.x;
    let first = group.x * 4096u;
    let end = min(first + 4096u, n);
    var s = 0.0;
    for (var i = first + l; i < end; i += 128u) { s += x[i]; }
    part[l] = s;
    for (var h = 64u; h > 0u; h >>= 1u) {
        workgroupBarrier();
        if (l < h) { part[l] += part[l + h]; }
    }
    if (l == 0u) { y[group.x] = part[0]; }
}
