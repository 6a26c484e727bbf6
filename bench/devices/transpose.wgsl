@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> w: u32;
var<workgroup> tile: array<array<f32, 17>, 16>;
@compute @workgroup_size(16, 16)
fn main(@builtin(local_invocation_id) local: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>) {
    let b = group.xy * 16u;
    tile[local.y][local.x] = x[(b.y + local.y) * w + b.x + local.x];
    workgroupBarrier();
    y[(b.x + local.y) * w + b.y + local.x] = tile[local.x][local.y];
}
