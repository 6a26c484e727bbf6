// As gemm.cl.
@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> n: u32;
var<workgroup> ta: array<array<f32, 65>, 16>;
var<workgroup> tb: array<array<f32, 64>, 16>;
@compute @workgroup_size(16, 16)
fn main(@builtin(local_invocation_id) local: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>) {
    let lx = local.x;
    let ly = local.y;
    let bx = group.x * 64u;
    let by = group.y * 64u;
    let lane = ly * 16u + lx;
    var sum: array<array<f32, 4>, 4>;
    for (var k = 0u; k < n; k += 16u) {
        for (var i = lane; i < 1024u; i += 256u) {
            ta[i % 16u][i / 16u] = a[(by + i / 16u) * n + k + i % 16u];
            tb[i / 64u][i % 64u] = b[(k + i / 64u) * n + bx + i % 64u];
        }
        workgroupBarrier();
        for (var p = 0u; p < 16u; p++) {
            var x: array<f32, 4>;
            var y: array<f32, 4>;
            for (var i = 0u; i < 4u; i++) {
                x[i] = ta[p][i * 16u + ly];
                y[i] = tb[p][i * 16u + lx];
            }
            for (var i = 0u; i < 4u; i++) {
                for (var j = 0u; j < 4u; j++) { sum[i][j] += x[i] * y[j]; }
            }
        }
        workgroupBarrier();
    }
    for (var i = 0u; i < 4u; i++) {
        for (var j = 0u; j < 4u; j++) { c[(by + i * 16u + ly) * n + bx + j * 16u + lx] = sum[i][j]; }
    }
}
