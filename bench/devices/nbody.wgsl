struct P { eps: f32, n: u32 }
@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> z: array<f32>;
@group(0) @binding(3) var<storage, read_write> m: array<f32>;
@group(0) @binding(4) var<storage, read_write> a: array<f32>;
@group(0) @binding(5) var<uniform> p: P;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i >= p.n) { return; }
    let px = x[i];
    let py = y[i];
    let pz = z[i];
    var ax = 0.0;
    var ay = 0.0;
    var az = 0.0;
    for (var j = 0u; j < p.n; j++) {
        let dx = x[j] - px;
        let dy = y[j] - py;
        let dz = z[j] - pz;
        let d = dx * dx + p.eps + dy * dy + dz * dz;
        let s = m[j] / (sqrt(d) * d);
        ax += dx * s;
        ay += dy * s;
        az += dz * s;
    }
    a[i] = ax;
    a[p.n + i] = ay;
    a[2u * p.n + i] = az;
}
